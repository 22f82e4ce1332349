/*
 * The journal's file: JSON lines, appended and flushed to the disk one by one. Owns the open file
 * and its lock.
 * Invariant: the file is a header line and then whole lines, each of which was written before what
 * it speaks of was done. What a crash left of a last line is cut off at opening; a journal that was
 * cut anywhere means what its whole lines mean.
 */
#include "agent/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"

#define JOURNAL_FORMAT 1
#define JOURNAL_MAX (64 * 1024 * 1024) /* bytes; a block of 24 disks takes some 20 KiB */
#define JOURNAL_LINE_MAX (1024 * 1024)
#define JOURNAL_PREFIX "journal-"
#define JOURNAL_SUFFIX ".jsonl"

struct journal {
	char *path;
	int fd;
	off_t size;
	uint64_t next;
};

/* What a journal's lines say, while they are read. */
struct replay {
	const char *path;
	struct job_key key;
	struct journal_entry *v;
	size_t n, cap;
	pid_t worker;
	uint64_t worker_ticks;
	size_t good; /* bytes of whole, valid lines */
};

static const char *const phase_names[PHASE_COUNT] = {"build", "cache", "workload", "teardown"};

static void entry_clear(struct journal_entry *entry)
{
	free(entry->what);
	strv_free(&entry->argv);
	free(entry->undo.op);
	strv_free(&entry->undo.args);
	strv_free(&entry->notes);
}

void journal_entries_free(struct journal_entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		entry_clear(&v[i]);
	free(v);
}

static int write_line(struct journal *j, json_t *line, struct err *e)
{
	struct buf text = {0};
	ssize_t n = 0;
	int status = 0;

	json_line(line, &text);
	buf_addc(&text, '\n');
	json_decref(line);
	for (size_t done = 0; done < text.len && n >= 0; done += n > 0 ? (size_t)n : 0) {
		n = pwrite(j->fd, text.data + done, text.len - done, j->size + (off_t)done);
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (n < 0 || fdatasync(j->fd)) {
		status = err_sys(e, "cannot write the journal %s, so nothing more is done to this host",
			j->path);
		if (ftruncate(j->fd, j->size))
			err_prefix(e, "the journal's last line could not be taken back");
	} else {
		j->size += (off_t)text.len;
	}
	buf_free(&text);
	return status;
}

static json_t *strv_json(const struct strv *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_text(s->v[i]));
	return list;
}

static void strv_from_json(const json_t *list, struct strv *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
		if (json_is_string(item))
			strv_add(ret, json_string_value(item));
}

static json_t *header_json(const struct job_key *key)
{
	json_t *o = json_object();

	json_object_set_new(o, "journal", json_integer(JOURNAL_FORMAT));
	json_object_set_new(o, "run", json_integer((json_int_t)key->run));
	json_object_set_new(o, "job", json_integer((json_int_t)key->job));
	json_object_set_new(o, "attempt", json_integer(key->attempt));
	return o;
}

static json_t *event(const char *kind, uint64_t number)
{
	json_t *o = json_object();

	json_object_set_new(o, kind, json_integer((json_int_t)number));
	return o;
}

static int phase_parse(const char *name)
{
	for (int i = 0; i < PHASE_COUNT; i++)
		if (str_equal(name, phase_names[i]))
			return i;
	return -1;
}

static int apply_header(struct replay *r, const json_t *o)
{
	int64_t attempt = json_get_int(o, "attempt", 0);

	if (json_get_int(o, "journal", 0) != JOURNAL_FORMAT || attempt < 1 || attempt > UINT32_MAX)
		return -1;
	r->key.run = (uint64_t)json_get_int(o, "run", 0);
	r->key.job = (uint64_t)json_get_int(o, "job", 0);
	r->key.attempt = (uint32_t)attempt;
	return 0;
}

static int apply_begin(struct replay *r, const json_t *o, uint64_t number)
{
	int phase = phase_parse(json_get_str(o, "phase", ""));
	struct journal_entry *entry;

	if (number != r->n + 1 || phase < 0)
		return -1;
	r->v = xgrow(r->v, r->n, &r->cap, sizeof(*r->v));
	entry = &r->v[r->n++];
	*entry = (struct journal_entry){.number = number, .phase = (enum step_phase)phase};
	entry->unit.block = (uint32_t)json_get_int(o, "block", 0);
	entry->unit.layout = (uint32_t)json_get_int(o, "layout", 0);
	entry->what = xstrdup(json_get_str(o, "what", ""));
	entry->undo.op = xstrdup(json_get_str(o, "undo", ""));
	strv_from_json(json_object_get(o, "argv"), &entry->argv);
	strv_from_json(json_object_get(o, "args"), &entry->undo.args);
	return 0;
}

static struct journal_entry *entry_of(struct replay *r, const json_t *o, const char *kind)
{
	int64_t number = json_get_int(o, kind, 0);

	return number >= 1 && (uint64_t)number <= r->n ? &r->v[number - 1] : NULL;
}

static int apply_event(struct replay *r, const json_t *o)
{
	struct journal_entry *entry;

	if (json_object_get(o, "begin"))
		return apply_begin(r, o, (uint64_t)json_get_int(o, "begin", 0));
	if (json_object_get(o, "worker")) {
		r->worker = (pid_t)json_get_int(o, "worker", 0);
		r->worker_ticks = (uint64_t)json_get_int(o, "ticks", 0);
		return 0;
	}
	if ((entry = entry_of(r, o, "note"))) {
		strv_addf(&entry->notes, "%s=%s", json_get_str(o, "key", ""),
			json_get_str(o, "value", ""));
		return 0;
	}
	if ((entry = entry_of(r, o, "finish"))) {
		entry->finished = 1;
		entry->ok = json_get_bool(o, "ok", 0);
		return 0;
	}
	if ((entry = entry_of(r, o, "undone"))) {
		entry->undone = 1;
		return 0;
	}
	return -1;
}

static int apply_line(struct replay *r, const char *line, size_t len)
{
	json_t *o = NULL;
	struct err ignored;
	int status = -1;

	if (json_parse(r->path, line, len, JOURNAL_LINE_MAX, &o, &ignored))
		return -1;
	if (json_is_object(o))
		status = r->good == 0 ? apply_header(r, o) : apply_event(r, o);
	json_decref(o);
	return status;
}

/* Applies all whole lines. A last one that is torn or makes no sense was never relied on; one in
 * the middle that makes no sense means that somebody else wrote here. */
static int replay_text(struct replay *r, const struct buf *text, struct err *e)
{
	size_t line = 1;

	while (r->good < text->len) {
		const char *at = text->data + r->good;
		const char *end = memchr(at, '\n', text->len - r->good);

		if (!end)
			return 0;
		if (apply_line(r, at, (size_t)(end - at))) {
			if (end + 1 == text->data + text->len)
				return 0;
			return err_set(e, ERR_INPUT,
				"%s:%zu: this is not a line of a journal: look at what the steps before it "
				"made, take that down by hand, and move the file away", r->path, line);
		}
		r->good = (size_t)(end + 1 - text->data);
		line++;
	}
	return 0;
}

static void replay_clear(struct replay *r)
{
	journal_entries_free(r->v, r->n);
	r->v = NULL;
	r->n = 0;
}

static int replay_fd(int fd, struct replay *r, struct err *e)
{
	struct buf text = {0};
	int status = fs_read_fd(fd, r->path, JOURNAL_MAX, &text, e);

	if (!status)
		status = replay_text(r, &text, e);
	buf_free(&text);
	if (status)
		replay_clear(r);
	return status;
}

static int sync_folder(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = fd < 0 || fsync(fd) ? err_sys(e, "cannot flush the folder %s", dir) : 0;

	if (fd >= 0)
		close(fd);
	return status;
}

/* The file is locked and read: cuts off what is torn, starts a new one with its header. */
static int prepare(struct journal *j, const char *dir, const struct job_key *key, struct err *e)
{
	struct replay r = {.path = j->path};
	int status = -1;

	if (replay_fd(j->fd, &r, e))
		return -1;
	j->size = (off_t)r.good;
	j->next = r.n + 1;
	if (r.good && !job_key_equal(&r.key, key))
		err_set(e, ERR_WRONG_STATE, "%s is the journal of another job: move it away", j->path);
	else if (ftruncate(j->fd, j->size))
		err_sys(e, "cannot cut a torn line off the journal %s", j->path);
	else if (r.good || (!write_line(j, header_json(key), e) && !sync_folder(dir, e)))
		status = 0;
	replay_clear(&r);
	return status;
}

int journal_open(const char *dir, const struct job_key *key, struct journal **ret, struct err *e)
{
	struct journal *j = xcalloc(1, sizeof(*j));

	j->path = xasprintf("%s/" JOURNAL_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu32 JOURNAL_SUFFIX,
		dir, key->run, key->job, key->attempt);
	j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->fd < 0)
		err_sys(e, "cannot open the journal %s", j->path);
	else if (flock(j->fd, LOCK_EX | LOCK_NB))
		err_set(e, ERR_BUSY, "another process of this agent still works with the journal %s",
			j->path);
	else if (!prepare(j, dir, key, e)) {
		*ret = j;
		return 0;
	}
	journal_close(j);
	return -1;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	free(j);
}

int journal_begin(struct journal *j, struct journal_entry *entry, uint64_t *ret_number,
	struct err *e)
{
	json_t *o = event("begin", j->next);

	json_object_set_new(o, "block", json_integer(entry->unit.block));
	json_object_set_new(o, "layout", json_integer(entry->unit.layout));
	json_object_set_new(o, "phase", json_string(phase_names[entry->phase]));
	json_object_set_new(o, "what", json_text(entry->what ? entry->what : ""));
	json_object_set_new(o, "argv", strv_json(&entry->argv));
	if (entry->undo.op && *entry->undo.op) {
		json_object_set_new(o, "undo", json_text(entry->undo.op));
		json_object_set_new(o, "args", strv_json(&entry->undo.args));
	}
	if (write_line(j, o, e))
		return -1;
	entry->number = j->next++;
	*ret_number = entry->number;
	return 0;
}

int journal_note(struct journal *j, uint64_t number, const char *key, const char *value,
	struct err *e)
{
	json_t *o = event("note", number);

	json_object_set_new(o, "key", json_text(key));
	json_object_set_new(o, "value", json_text(value));
	return write_line(j, o, e);
}

int journal_finish(struct journal *j, uint64_t number, int ok, struct err *e)
{
	json_t *o = event("finish", number);

	json_object_set_new(o, "ok", json_boolean(ok));
	return write_line(j, o, e);
}

int journal_undone(struct journal *j, uint64_t number, struct err *e)
{
	return write_line(j, event("undone", number), e);
}

int journal_worker(struct journal *j, pid_t pid, uint64_t start_ticks, struct err *e)
{
	json_t *o = event("worker", (uint64_t)pid);

	json_object_set_new(o, "ticks", json_integer((json_int_t)start_ticks));
	return write_line(j, o, e);
}

int journal_read(const char *path, struct job_key *ret_key, struct journal_entry **ret,
	size_t *ret_n, pid_t *ret_worker, uint64_t *ret_worker_ticks, struct err *e)
{
	struct replay r = {.path = path};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int status;

	if (fd < 0)
		return err_sys(e, "cannot open the journal %s", path);
	status = replay_fd(fd, &r, e);
	close(fd);
	if (status)
		return -1;
	*ret_key = r.key;
	*ret = r.v;
	*ret_n = r.n;
	*ret_worker = r.worker;
	*ret_worker_ticks = r.worker_ticks;
	return 0;
}

struct listed {
	char *path;
	struct job_key key;
};

static int compare_listed(const void *a, const void *b)
{
	const struct job_key *x = &((const struct listed *)a)->key;
	const struct job_key *y = &((const struct listed *)b)->key;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

/* Numbers only and nothing after them: other files in the folder are not ours to read. */
static int name_parse(const char *name, struct job_key *ret)
{
	char again[128];

	if (sscanf(name, JOURNAL_PREFIX "%" SCNu64 "-%" SCNu64 "-%" SCNu32 JOURNAL_SUFFIX, &ret->run,
		    &ret->job, &ret->attempt) != 3)
		return -1;
	snprintf(again, sizeof(again),
		JOURNAL_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu32 JOURNAL_SUFFIX, ret->run, ret->job,
		ret->attempt);
	return strcmp(name, again) == 0 ? 0 : -1;
}

int journal_list(const char *dir, struct strv *ret, struct err *e)
{
	struct listed *v = NULL;
	size_t n = 0, cap = 0;
	struct job_key key;
	struct dirent *d;
	DIR *folder = opendir(dir);

	if (!folder)
		return err_sys(e, "cannot read the state folder %s", dir);
	while ((d = readdir(folder))) {
		if (name_parse(d->d_name, &key))
			continue;
		v = xgrow(v, n, &cap, sizeof(*v));
		v[n++] = (struct listed){xasprintf("%s/%s", dir, d->d_name), key};
	}
	closedir(folder);
	if (n)
		qsort(v, n, sizeof(*v), compare_listed);
	for (size_t i = 0; i < n; i++) {
		strv_add(ret, v[i].path);
		free(v[i].path);
	}
	free(v);
	return 0;
}

int journal_remove(const char *path, struct err *e)
{
	struct journal_entry *v;
	struct job_key key;
	uint64_t ticks;
	pid_t worker;
	size_t n, left = 0, first = 0;

	if (journal_read(path, &key, &v, &n, &worker, &ticks, e))
		return -1;
	for (size_t i = n; i-- > 0;) {
		if (!*v[i].undo.op || v[i].undone)
			continue;
		left++;
		first = i;
	}
	if (left)
		err_set(e, ERR_WRONG_STATE, "%s: %zu steps are not undone, the first of them: %s", path,
			left, v[first].what);
	journal_entries_free(v, n);
	if (left)
		return -1;
	return unlink(path) && errno != ENOENT ? err_sys(e, "cannot remove the journal %s", path) : 0;
}
