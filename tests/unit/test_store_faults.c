/*
 * store under faults: SIGKILL after any acknowledgement, full disks, failing writes, damage, lost
 * records; backup, restore, check.
 */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/unit/store_kit.h"

static int setup(void **state)
{
	struct kit *k = xcalloc(1, sizeof(*k));

	kit_new(k, "/tmp");
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	kit_free(*state);
	free(*state);
	return 0;
}

static void assert_ack(struct kit_answer a, uint64_t last)
{
	if (a.failed || a.append.what != APPEND_ACK)
		fail_msg("%s%s", a.err.text, a.append.text);
	assert_int_equal(a.append.last, last);
}

static size_t check(struct kit *k, struct strv *findings)
{
	struct err e;

	if (store_check(k->path, findings, &e) == 0)
		return 0;
	if (e.code != ERR_FAILED)
		fail_msg("%s", e.text);
	return findings->n;
}

static void assert_clean(struct kit *k)
{
	struct strv findings = {0};

	if (check(k, &findings) != 0)
		fail_msg("%s", findings.v[0]);
	strv_free(&findings);
}

/* SQL from outside, on a closed store. */
static int64_t sql(struct kit *k, const char *text)
{
	sqlite3 *db;
	sqlite3_stmt *s = NULL;
	int64_t v = 0;

	assert_int_equal(sqlite3_open(k->path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	if (sqlite3_step(s) == SQLITE_ROW)
		v = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return v;
}

#define UNIT_RECORDS 10

/* The records of a small attempt; record i (from 1). */
static struct record nth_record(uint64_t i)
{
	static char *argv[] = {"true", NULL};

	switch (i) {
	case 1:
		return rec_start();
	case 2:
		return rec_unit_start(1, 0);
	case 3:
		return rec_step(1, 0, argv, 1);
	case 4:
		return rec_volume(1, 0);
	case 5:
		return rec_trial_start(1, 1, 0, 0);
	case 8:
		return rec_trial_end(1, 1, 0, 0, 2);
	case 9:
		return rec_unit_end(1, 0, 1);
	case UNIT_RECORDS:
		return rec_attempt_end(ATTEMPT_FAILED);
	default:
		return rec_sample(1, (int)i);
	}
}

/* Runs in a child: one operation after the other, a byte for each acknowledgement. */
static void serve_and_tell(struct kit *k, int fd)
{
	struct job_key key;
	int dirty;

	kit_open(k);
	key = kit_job(k);
	dirty = write(fd, "r", 1) != 1;
	for (uint64_t i = 1; i <= UNIT_RECORDS; i++) {
		struct record r = nth_record(i);
		struct kit_answer a = kit_append(k, "knew", &key, i, &r, 1);

		dirty |= a.failed || a.append.what != APPEND_ACK || write(fd, "a", 1) != 1;
	}
	_exit(dirty);
}

static void kill_after(struct kit *k, int acks)
{
	int fds[2], status;
	pid_t child;
	char byte;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(fds[0]);
		serve_and_tell(k, fds[1]);
	}
	close(fds[1]);
	for (int i = 0; i < acks; i++)
		assert_int_equal(read(fds[0], &byte, 1), 1);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(fds[0]);
}

/* Sends from `next` on as an agent does that has not heard more than the acks before. */
static void finish_attempt(struct kit *k, uint64_t next)
{
	struct job_key key = {1, 1, 1};

	for (uint64_t i = next; i <= UNIT_RECORDS; i++) {
		struct record r = nth_record(i);
		struct kit_answer a = kit_append(k, "knew", &key, i, &r, 1);

		assert_int_equal(a.append.what, APPEND_ACK);
		assert_true(a.append.last >= i);
	}
}

static void kill_loses_nothing_acknowledged(void **state)
{
	(void)state;
	for (int acks = 1; acks <= UNIT_RECORDS + 1; acks++) {
		struct kit k;
		uint64_t known = (uint64_t)acks - 1;

		kit_new(&k, "/tmp");
		kit_close(&k);
		kill_after(&k, acks);
		assert_true(sql(&k, "SELECT last FROM attempts") >= (int64_t)known);
		kit_open(&k);
		finish_attempt(&k, known + 1);
		kit_close(&k);
		assert_clean(&k);
		assert_int_equal(
			sql(&k, "SELECT sum(last - first + 1) FROM batches"), UNIT_RECORDS);
		assert_int_equal(sql(&k, "SELECT count(*) FROM steps"), 1);
		assert_int_equal(sql(&k, "SELECT count(*) FROM trials WHERE state = 1"), 1);
		assert_int_equal(sql(&k, "SELECT count(*) FROM units WHERE state = 1"), 1);
		assert_int_equal(sql(&k, "SELECT state FROM attempts"), ATTEMPT_FAILED);
		kit_free(&k);
	}
}

static void close_commits_what_is_queued(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct kit_answer a[UNIT_RECORDS] = {0};

	for (uint64_t i = 1; i <= UNIT_RECORDS; i++) {
		struct record r = nth_record(i);

		kit_send(k, "knew", &key, i, &r, 1, NULL, &a[i - 1]);
	}
	kit_close(k);
	assert_int_equal(sql(k, "SELECT last FROM attempts"), UNIT_RECORDS);
	kit_open(k);
	kit_close(k);
	assert_clean(k);
}

static void tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* Runs the loop until the store is stalled (or not). */
static void wait_stalled(struct kit *k, int want)
{
	struct timeval often = {0, 5000}, limit = {KIT_DEADLINE_S, 0};
	struct event *t = event_new(k->base, -1, EV_PERSIST, tick, NULL);
	struct event *late = evtimer_new(k->base, kit_too_late, NULL);

	event_add(t, &often);
	evtimer_add(late, &limit);
	while (store_is_stalled(k->store) != want)
		event_base_loop(k->base, EVLOOP_ONCE);
	event_free(t);
	event_free(late);
}

/* 100 KB of samples that do not compress into each other's pages. */
static void send_big(struct kit *k, const struct job_key *key, uint64_t n, struct kit_answer *a)
{
	struct record v[64];
	char *hist = xmalloc(2000);

	memset(hist, 'h', 2000);
	for (int i = 0; i < 64; i++) {
		v[i] = rec_sample(1, i);
		v[i].u.sample.hist = hist;
		v[i].u.sample.hist_len = 2000;
	}
	kit_send(k, "knew", key, n * 64 + 1, v, 64, NULL, a);
	free(hist);
}

#define MANY 64

/* Sends until the store stalls; returns how many batches were acknowledged, sent to *ret_sent. */
static uint64_t fill(
	struct kit *k, const struct job_key *key, struct kit_answer *a, uint64_t *ret_sent)
{
	uint64_t n = 0;
	struct err why;

	while (n < MANY) {
		send_big(k, key, n, &a[n]);
		n++;
		while (!a[n - 1].done && !store_is_stalled(k->store)) {
			struct timeval soon = {0, 2000};

			event_base_loopexit(k->base, &soon);
			event_base_dispatch(k->base);
		}
		if (store_is_stalled(k->store))
			break;
	}
	assert_true(store_trouble(k->store, &why));
	assert_non_null(strstr(why.text, "store"));
	*ret_sent = n;
	return n - 1;
}

static void limit_files(rlim_t bytes)
{
	struct rlimit r = {bytes, RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* A file that may not grow gives EFBIG: an I/O error for the store. */
static void failing_writes_stall_and_go_on(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct kit_answer a[MANY] = {0};
	uint64_t sent, acked;

	signal(SIGXFSZ, SIG_IGN);
	limit_files(1024 * 1024);
	acked = fill(k, &key, a, &sent);
	for (int i = 0; i < 3; i++, sent++)
		send_big(k, &key, sent, &a[sent]);
	assert_false(a[acked].done);
	limit_files(RLIM_INFINITY);
	kit_wait(k, &a[sent - 1].done, 1);
	wait_stalled(k, 0);
	for (uint64_t i = 0; i < sent; i++)
		assert_ack(a[i], (i + 1) * 64);
	kit_close(k);
	assert_clean(k);
	assert_int_equal(sql(k, "SELECT last FROM attempts"), (int64_t)sent * 64);
}

static void closing_stalled_acknowledges_nothing(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct kit_answer a[MANY] = {0};
	uint64_t sent, acked;

	signal(SIGXFSZ, SIG_IGN);
	limit_files(1024 * 1024);
	acked = fill(k, &key, a, &sent);
	kit_close(k);
	limit_files(RLIM_INFINITY);
	assert_false(a[acked].done);
	assert_int_equal(sql(k, "SELECT last FROM attempts"), (int64_t)acked * 64);
	assert_clean(k);
	kit_open(k);
}

/* Mounts a small tmpfs in a mount namespace of its own; 0, or -1 where that is not allowed. */
static int small_disk(const char *path, const char *size)
{
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return -1;
	return mount("tmpfs", path, "tmpfs", 0, size);
}

static void full_disk_in_child(const char *folder)
{
	struct job_key key;
	struct kit_answer a[MANY] = {0};
	uint64_t sent, acked;
	struct kit k;

	kit_new(&k, folder);
	key = kit_job(&k);
	acked = fill(&k, &key, a, &sent);
	assert_false(a[acked].done);
	assert_int_equal(mount("tmpfs", folder, NULL, MS_REMOUNT, "size=64m"), 0);
	kit_wait(&k, &a[sent - 1].done, 1);
	wait_stalled(&k, 0);
	for (uint64_t i = 0; i < sent; i++)
		assert_ack(a[i], (i + 1) * 64);
	kit_close(&k);
	assert_clean(&k);
	kit_free(&k);
}

static void full_disk_stalls_and_goes_on(void **state)
{
	char folder[] = "/tmp/am-full-XXXXXX";
	int status, denied = 77;
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(folder));
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (small_disk(folder, "size=2m") != 0)
			_exit(denied);
		full_disk_in_child(folder);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	rmdir(folder);
	if (WIFEXITED(status) && WEXITSTATUS(status) == denied)
		skip(); /* needs root: a tmpfs in a mount namespace */
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void whole_attempt(struct kit *k)
{
	struct job_key key = kit_job(k);
	struct record v[UNIT_RECORDS];

	for (uint64_t i = 1; i <= UNIT_RECORDS; i++)
		v[i - 1] = nth_record(i);
	assert_ack(kit_append(k, "knew", &key, 1, v, UNIT_RECORDS), UNIT_RECORDS);
}

static void check_finds_what_is_missing(void **state)
{
	static const struct {
		const char *damage, *finding;
	} table[] = {
		{"DELETE FROM batches", "10 records were acknowledged, the batches hold 0"},
		{"UPDATE trials SET samples = 3", "cut 3 samples, 2 are stored"},
		{"UPDATE trials SET samples = 1", "cut 1 samples, 2 are stored"},
		{"UPDATE batches SET payload = zeroblob(9)", "batch from record 1"},
		{"DELETE FROM plans", "refers to a row of plans"},
		{"UPDATE attempts SET last = 11", "11 records were acknowledged"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct strv findings = {0};
		struct kit k;

		kit_new(&k, "/tmp");
		whole_attempt(&k);
		kit_close(&k);
		assert_clean(&k);
		sql(&k, table[i].damage);
		assert_true(check(&k, &findings) >= 1);
		assert_has(findings.v[0], table[i].finding);
		strv_free(&findings);
		kit_free(&k);
	}
}

static void check_finds_damaged_pages(void **state)
{
	struct kit *k = *state;
	struct strv findings = {0};
	char junk[8192];
	struct stat st;
	struct err e;
	int fd;

	whole_attempt(k);
	kit_close(k);
	fd = open(k->path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	memset(junk, 0xa5, sizeof(junk));
	for (off_t at = 2 * 8192; at + 8192 <= st.st_size; at += 8192)
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	assert_int_equal(store_check(k->path, &findings, &e), -1);
	strv_free(&findings);
}

static void lost_ranges_are_notes(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record head[] = {rec_start(), rec_trial_start(1, 1, 0, 0), rec_sample(1, 0)};
	struct record end = rec_trial_end(1, 1, 0, 0, 5);
	struct strv findings = {0};
	struct err e;

	assert_ack(kit_append(k, "knew", &key, 1, head, 3), 3);
	assert_ack(kit_append_lost(k, "knew", &key, 4, 7), 7);
	assert_ack(kit_append(k, "knew", &key, 8, &end, 1), 8);
	kit_close(k);
	assert_ok(store_check(k->path, &findings, &e), e);
	assert_int_equal(findings.n, 1);
	assert_has(findings.v[0], "note: run 1, host 'knew', attempt 1: records 4 to 7 were lost");
	strv_free(&findings);
}

static void newer_store_is_refused(void **state)
{
	struct kit *k = *state;
	struct store *s;
	struct err e;

	kit_close(k);
	sql(k, "PRAGMA user_version = 99");
	k->base = event_base_new();
	assert_int_equal(store_open(k->path, k->base, &s, &e), -1);
	assert_has(e.text, "schema 99");
	sql(k, "PRAGMA application_id = 7");
	assert_int_equal(store_open(k->path, k->base, &s, &e), -1);
	assert_has(e.text, "no store of arraymark");
	event_base_free(k->base);
}

static void take_backup(struct kit *k, char *path, size_t len)
{
	struct err e;

	snprintf(path, len, "%s/backup.db", k->dir);
	assert_ok(store_backup(k->path, path, &e), e);
	assert_int_equal(store_backup(k->path, path, &e), -1);
	assert_int_equal(e.code, ERR_EXISTS);
}

static void backup_comes_back_with_a_new_epoch(void **state)
{
	struct kit *k = *state;
	struct kit_answer a = {0};
	struct job_key key = {1, 1, 1};
	struct record r = nth_record(UNIT_RECORDS);
	char backup[160], old[33];
	struct err e;

	whole_attempt(k);
	store_token_create(k->store, "aa", "t1", "agent", "knew", INT64_MAX, kit_done, &a);
	kit_wait(k, &a.done, 1);
	take_backup(k, backup, sizeof(backup));
	snprintf(old, sizeof(old), "%s", store_epoch(k->store));
	assert_int_equal(store_restore(backup, k->path, &e), -1);
	assert_int_equal(e.code, ERR_EXISTS);
	kit_close(k);
	assert_int_equal(unlink(k->path), 0);
	assert_ok(store_restore(backup, k->path, &e), e);
	kit_open(k);
	assert_string_not_equal(store_epoch(k->store), old);
	memset(&a, 0, sizeof(a));
	kit_send(k, "knew", &key, UNIT_RECORDS, &r, 1, old, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.append.what, APPEND_REFUSE);
	assert_int_equal(a.append.expected, 0);
	memset(&a, 0, sizeof(a));
	store_token_take(k->store, "aa", "key", kit_token_done, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.err.code, ERR_DENIED);
	kit_close(k);
	assert_clean(k);
	assert_int_equal(sql(k, "SELECT last FROM attempts"), UNIT_RECORDS);
}

/* Copies while batches keep coming: each is whole. */
static void backup_is_whole_under_writes(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct kit_answer a[MANY] = {0};
	struct kit copy = {0};
	struct err e;

	for (uint64_t i = 0; i < MANY; i++) {
		send_big(k, &key, i, &a[i]);
		if (i % 10 != 9)
			continue;
		snprintf(copy.path, sizeof(copy.path), "%s/b%d", k->dir, (int)i);
		assert_ok(store_backup(k->path, copy.path, &e), e);
		assert_clean(&copy);
	}
	kit_wait(k, &a[MANY - 1].done, 1);
	assert_ack(a[MANY - 1], MANY * 64);
}

static void damaged_backup_is_refused(void **state)
{
	struct kit *k = *state;
	struct kit copy = {0};
	char target[160];
	struct err e;

	whole_attempt(k);
	take_backup(k, copy.path, sizeof(copy.path));
	sql(&copy, "DELETE FROM batches");
	snprintf(target, sizeof(target), "%s/restored.db", k->dir);
	assert_int_equal(store_restore(copy.path, target, &e), -1);
	assert_has(e.text, "not restored");
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(store_restore("/nowhere/backup.db", target, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kill_loses_nothing_acknowledged),
		T(close_commits_what_is_queued),
		T(failing_writes_stall_and_go_on),
		T(closing_stalled_acknowledges_nothing),
		cmocka_unit_test(full_disk_stalls_and_goes_on),
		cmocka_unit_test(check_finds_what_is_missing),
		T(check_finds_damaged_pages),
		T(lost_ranges_are_notes),
		T(newer_store_is_refused),
		T(backup_comes_back_with_a_new_epoch),
		T(backup_is_whole_under_writes),
		T(damaged_backup_is_refused),
	};

	return cmocka_run_group_tests_name("store_faults", tests, NULL, NULL);
}
