/*
 * The journal's file: JSON lines, appended and flushed to the disk one by one. Owns the open file
 * and its lock.
 * Invariant: the file is a header line and then whole lines, each of which was written before what
 * it speaks of was done. What a crash left of a last line is cut off at opening; a journal that was
 * cut anywhere means what its whole lines mean. A shorter one takes its place only whole and flushed.
 */
#include "agent/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define JOURNAL_FORMAT 1
#define JOURNAL_MAX (64 * 1024 * 1024) /* bytes; a block of 24 disks takes some 20 KiB */
#define JOURNAL_LINE_MAX (1024 * 1024)
#define FRESH_SUFFIX ".new" /* a shorter journal that is not whole yet */

struct journal {
	char *path;
	int fd;
	off_t size;
	uint64_t next;
	int unflushed; /* lines are not flushed one by one: nothing relies on them yet */
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
	if (n < 0 || (!j->unflushed && fdatasync(j->fd))) {
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

/* The file of that name, not one that a shorter journal took the place of since it was opened. */
static int is_in_place(const struct journal *j)
{
	struct stat open_one, named;

	return fstat(j->fd, &open_one) == 0 && stat(j->path, &named) == 0 &&
	       open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

int journal_open(const char *dir, const struct job_key *key, struct journal **ret, struct err *e)
{
	struct journal *j = xcalloc(1, sizeof(*j));

	j->path = xasprintf("%s/" JOURNAL_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu32 JOURNAL_SUFFIX,
		dir, key->run, key->job, key->attempt);
	j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->fd < 0)
		err_sys(e, "cannot open the journal %s", j->path);
	else if (flock(j->fd, LOCK_EX | LOCK_NB) || !is_in_place(j))
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

/* ---- shortening ---- */

static int is_pending(const struct journal_entry *entry)
{
	return *entry->undo.op && !entry->undone;
}

/* What is pending may be told by the notes of other steps on its layout how to be undone. */
static int is_needed(const struct replay *r, const struct journal_entry *entry)
{
	if (is_pending(entry))
		return 1;
	for (size_t i = 0; i < r->n && entry->notes.n; i++)
		if (is_pending(&r->v[i]) && r->v[i].unit.layout == entry->unit.layout)
			return 1;
	return 0;
}

static int write_entry(struct journal *to, struct journal_entry *entry, struct err *e)
{
	int status = journal_begin(to, entry, &entry->number, e);

	for (size_t i = 0; i < entry->notes.n && !status; i++) {
		char *key = xstrdup(entry->notes.v[i]), *value = strchr(key, '=');

		*value++ = '\0';
		status = journal_note(to, entry->number, key, value, e);
		free(key);
	}
	if (!status && entry->finished)
		status = journal_finish(to, entry->number, entry->ok, e);
	if (!status && entry->undone)
		status = journal_undone(to, entry->number, e);
	return status;
}

/* What is needed, flushed and locked, in a file that no name of a journal points to. */
static int write_fresh(struct journal *to, struct replay *r, struct err *e)
{
	to->fd = open(to->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to->fd < 0)
		return err_sys(e, "cannot make %s", to->path);
	if (flock(to->fd, LOCK_EX | LOCK_NB))
		return err_sys(e, "cannot lock %s", to->path);
	if (write_line(to, header_json(&r->key), e) ||
		(r->worker && journal_worker(to, r->worker, r->worker_ticks, e)))
		return -1;
	for (size_t i = 0; i < r->n; i++)
		if (is_needed(r, &r->v[i]) && write_entry(to, &r->v[i], e))
			return -1;
	to->unflushed = 0;
	return fsync(to->fd) ? err_sys(e, "cannot flush %s", to->path) : 0;
}

/* From here on j is the shorter file. Not durable before the folder is: a crash before that could
 * bring the longer one back, without what is written from now on. */
static int take_its_place(struct journal *j, struct journal *fresh, struct err *e)
{
	char *dir;
	int status;

	if (rename(fresh->path, j->path))
		return err_sys(e, "cannot rename %s", fresh->path);
	close(j->fd);
	j->fd = fresh->fd;
	j->size = fresh->size;
	j->next = fresh->next;
	fresh->fd = -1;
	dir = xstrndup(j->path, (size_t)(strrchr(j->path, '/') - j->path));
	status = sync_folder(dir, e);
	free(dir);
	return status;
}

static int shorten(struct journal *j, struct replay *r, struct err *e)
{
	struct journal fresh = {.path = xasprintf("%s" FRESH_SUFFIX, j->path),
		.fd = -1, .next = 1, .unflushed = 1};
	int status = 0;

	if (write_fresh(&fresh, r, e)) {
		log_warning("journal", "stays long: %s", e->text);
		(void)unlink(fresh.path);
	} else {
		status = take_its_place(j, &fresh, e);
	}
	if (fresh.fd >= 0)
		close(fresh.fd);
	free(fresh.path);
	return status;
}

int journal_shorten(struct journal *j, size_t least, struct err *e)
{
	struct replay r = {.path = j->path};
	size_t spare = 0;
	int status = 0;

	if (lseek(j->fd, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot read the journal %s", j->path);
	if (replay_fd(j->fd, &r, e))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		spare += !is_needed(&r, &r.v[i]);
	if (spare && spare >= least)
		status = shorten(j, &r, e);
	replay_clear(&r);
	return status;
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

int journal_remove(const char *path, struct err *e)
{
	struct journal_entry *v;
	struct job_key key;
	uint64_t ticks;
	pid_t worker;
	size_t n, left = 0, first = 0;
	char *fresh;

	if (journal_read(path, &key, &v, &n, &worker, &ticks, e))
		return -1;
	for (size_t i = n; i-- > 0;) {
		if (!is_pending(&v[i]))
			continue;
		left++;
		first = i;
	}
	if (left)
		err_set(e, ERR_WRONG_STATE, "%s: %zu step%s not undone, the first of them: %s", path,
			left, left == 1 ? " is" : "s are", v[first].what);
	journal_entries_free(v, n);
	if (left)
		return -1;
	fresh = xasprintf("%s" FRESH_SUFFIX, path);
	(void)unlink(fresh);
	free(fresh);
	return unlink(path) && errno != ENOENT ? err_sys(e, "cannot remove the journal %s", path) : 0;
}
