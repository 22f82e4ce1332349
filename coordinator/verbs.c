/*
 * init, token, backup, restore, check. Owns nothing between calls. Whatever writes holds the lock of
 * the state folder, so that a daemon can't start meanwhile.
 */
#include "coordinator/verbs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/enrol.h"
#include "coordinator/local.h"
#include "coordinator/pki.h"
#include "coordinator/state.h"
#include "coordinator/store/store.h"

#define ADMIN_NAME "admin"

static int lock(const struct options *o, int *ret_fd, struct err *e)
{
	char *path = options_path(o, "lock");
	int r = fs_lock(path, ret_fd, e);

	if (r && e->code == ERR_BUSY)
		err_set(e, ERR_BUSY, "%s is in use by a running daemon", o->state);
	else if (r && e->code == ERR_NOTFOUND)
		(void)state_missing(o->state, o->state, e);
	free(path);
	return r;
}

/* ---- tokens without a daemon ---- */

struct waiting {
	struct event_base *base;
	int done;
	struct err error;
};

static void on_token(void *arg, const struct err *e)
{
	struct waiting *w = arg;

	w->done = 1;
	if (e)
		err_copy(&w->error, e);
	event_base_loopbreak(w->base);
}

static int put_token(const char *path, const struct new_token *t, struct err *e)
{
	struct waiting w = {.base = event_base_new()};
	struct store *store;
	int r = -1;

	if (!w.base)
		return err_set(e, ERR_IO, "event_base_new failed");
	if (!store_open(path, w.base, &store, e)) {
		store_token_create(store, t->sha256, t->id, tls_role_name(t->role), t->name,
			t->expires_wall_ns, on_token, &w);
		event_base_dispatch(w.base);
		store_close(store);
		r = 0;
		if (!w.done)
			r = err_set(e, ERR_IO, "%s: the token was not stored", path);
		else if (w.error.code)
			r = err_set(e, w.error.code, "%s", w.error.text);
	}
	event_base_free(w.base);
	return r;
}

static int make_token(const struct options *o, const char *role, const char *name, char **ret,
	struct err *e)
{
	char *path = options_path(o, "store.db");
	struct new_token t;
	struct pki p;
	int r = -1;

	if (!pki_load(o, &p, e)) {
		if (!enrol_token_new(p.fingerprint, role, name, (uint64_t)o->ttl_s, &t, e) &&
			!put_token(path, &t, e)) {
			*ret = xstrdup(t.text);
			r = 0;
		}
		pki_clear(&p);
	}
	free(path);
	return r;
}

/* ---- init ---- */

/* The folders above are for others, too: an agent's accounts pass them. */
static int make_folder(const char *state, struct err *e)
{
	char *above = xstrdup(state), *slash = strrchr(above, '/');
	int r = 0;

	if (slash && slash != above) {
		*slash = '\0';
		r = fs_mkdir_p(above, 0755, e);
	}
	free(above);
	return r ? -1 : fs_mkdir_p(state, 0700, e);
}

static int make_store(const struct options *o, const char *path, struct err *e)
{
	if (!access(path, F_OK))
		return err_set(e, ERR_EXISTS, "%s is there already: this state folder is in use; choose "
			"another --state, or move it away", path);
	return pki_create(o, e) || store_create(path, e) ? -1 : 0;
}

int verb_init(const struct options *o, struct err *e)
{
	char *path = options_path(o, "store.db"), *token = NULL;
	int fd = -1, r = -1;

	if (o->args.n) {
		err_set(e, ERR_USAGE, "init takes no '%s'", o->args.v[0]);
	} else if (!make_folder(o->state, e) && !lock(o, &fd, e) && !make_store(o, path, e) &&
		!make_token(o, "admin", ADMIN_NAME, &token, e)) {
		fprintf(stderr,
			"Made the certificate authority and the store in %s.\n"
			"Start the daemon with `arraymark-coordinator run%s%s`, or its service, then log in on any "
			"host with\n`arraymark login HOST:PORT` and this token (good for one use, for %s):\n",
			o->state, strcmp(o->state, OPTIONS_STATE) ? " --state " : "",
			strcmp(o->state, OPTIONS_STATE) ? o->state : "", o->ttl_s ? "as long as you said" : "a day");
		printf("%s\n", token);
		r = 0;
	}
	if (fd >= 0)
		close(fd);
	free(token);
	free(path);
	return r;
}

/* ---- token ---- */

static void print_token(void *arg, const char *text)
{
	json_t *o;
	struct err e;

	(void)arg;
	if (json_parse("answer", text, strlen(text), 64 * 1024, &o, &e))
		return;
	printf("%s\n", json_get_str(o, "token", ""));
	json_decref(o);
}

int verb_token(const struct options *o, struct err *e)
{
	const char *role = o->role ? o->role : "agent";
	const char *name = o->args.n ? o->args.v[0] : NULL;
	struct msg_call call = {.verb = CALL_TOKEN_CREATE, .role = (char *)role,
		.target = (char *)name, .ttl_s = (uint64_t)o->ttl_s};
	enum tls_role known;
	char *token;
	int fd, r;

	if (!name || o->args.n > 1)
		return err_set(e, ERR_USAGE, "token needs one name: a host, or a user with --role");
	if (tls_role_parse(role, &known, e)) {
		e->code = ERR_USAGE;
		return -1;
	}
	if (!local_connect(o, &fd, e)) {
		r = local_call(fd, &call, print_token, NULL, e);
		close(fd);
		return r;
	}
	if (e->code != ERR_CONN || lock(o, &fd, e))
		return -1;
	r = make_token(o, role, name, &token, e);
	if (!r) {
		printf("%s\n", token);
		free(token);
	}
	close(fd);
	return r;
}

/* ---- backup, restore ---- */

static char *absolute(const char *path)
{
	char here[PATH_MAX];

	if (*path == '/' || !getcwd(here, sizeof(here)))
		return xstrdup(path);
	return xasprintf("%s/%s", here, path);
}

/* Not by the daemon, which as a service may not write there, or sees another /tmp. */
int verb_backup(const struct options *o, struct err *e)
{
	char *store, *to;
	int r;

	if (o->args.n != 1)
		return err_set(e, ERR_USAGE, "backup needs one file to write to");
	store = options_path(o, "store.db");
	to = absolute(o->args.v[0]);
	r = store_backup(store, to, e);
	if (!r)
		printf("%s\n", to);
	free(store);
	free(to);
	return r;
}

int verb_restore(const struct options *o, struct err *e)
{
	char *store;
	int fd, r;

	if (o->args.n != 1)
		return err_set(e, ERR_USAGE, "restore needs one file: a backup");
	if (make_folder(o->state, e) || lock(o, &fd, e))
		return -1;
	store = options_path(o, "store.db");
	r = store_restore(o->args.v[0], store, e);
	if (!r)
		fprintf(stderr, "%s is the store now. Agents send what they still have to it.\n",
			o->args.v[0]);
	free(store);
	close(fd);
	return r;
}

/* ---- check ---- */

/* What an agent reported as lost is told, but no fault of the store. */
static size_t print_one(const char *finding)
{
	printf("%s\n", finding);
	return !str_starts(finding, "note: ");
}

static void print_finding(void *arg, const char *text)
{
	size_t *n = arg;
	const char *finding;
	json_t *o;
	struct err e;

	if (json_parse("answer", text, strlen(text), 1024 * 1024, &o, &e))
		return;
	finding = json_get_str(o, "finding", NULL);
	if (finding)
		*n += print_one(finding);
	json_decref(o);
}

static int check_files(const struct options *o, size_t *ret_n, struct err *e)
{
	char *store = options_path(o, "store.db");
	struct strv findings = {0};
	int r = store_check(store, &findings, e);

	*ret_n = 0;
	for (size_t i = 0; i < findings.n; i++)
		*ret_n += print_one(findings.v[i]);
	r = r && !*ret_n ? -1 : 0;
	strv_free(&findings);
	free(store);
	return r;
}

int verb_check(const struct options *o, struct err *e)
{
	struct msg_call call = {.verb = CALL_CHECK};
	size_t n = 0;
	int fd, r;

	if (o->args.n)
		return err_set(e, ERR_USAGE, "check takes no '%s'", o->args.v[0]);
	if (!local_connect(o, &fd, e)) {
		r = local_call(fd, &call, print_finding, &n, e);
		close(fd);
	} else {
		r = e->code == ERR_CONN ? check_files(o, &n, e) : -1;
	}
	if (r)
		return -1;
	if (n)
		return err_set(e, ERR_FAILED, "%zu %s in the store of %s; restore a backup or report this",
			n, n == 1 ? "finding" : "findings", o->state);
	fprintf(stderr, "the store of %s is in order\n", o->state);
	return 0;
}
