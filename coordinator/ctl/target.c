/*
 * This user's files. Owns everything under CONFIG.
 * Invariant: a key is never written readable by others, and never used when it is.
 */
#include "coordinator/ctl/target.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/tls.h"
#include "proto/conn.h"

#define PEM_MAX (64 * 1024)
#define ROOT_LOCAL_DIR "/var/lib/arraymark-local"

static int user_dir(const char *variable, const char *below_home, char **ret, struct err *e)
{
	const char *dir = getenv(variable), *home = getenv("HOME");
	struct passwd *pw;

	if (dir && dir[0] == '/') {
		*ret = xasprintf("%s/arraymark", dir);
		return 0;
	}
	if (!home || home[0] != '/') {
		pw = getpwuid(getuid());
		home = pw ? pw->pw_dir : NULL;
	}
	if (!home || home[0] != '/')
		return err_set(
			e, ERR_NOTFOUND, "no home folder for this user: set HOME or %s", variable);
	*ret = xasprintf("%s/%s/arraymark", home, below_home);
	return 0;
}

int target_config_dir(char **ret, struct err *e)
{
	return user_dir("XDG_CONFIG_HOME", ".config", ret, e);
}

int target_local_dir(char **ret, struct err *e)
{
	const char *xdg = getenv("XDG_DATA_HOME");
	char *data;

	if (geteuid() == 0 && (!xdg || xdg[0] != '/')) {
		*ret = xstrdup(ROOT_LOCAL_DIR);
		return 0;
	}
	if (user_dir("XDG_DATA_HOME", ".local/share", &data, e))
		return -1;
	*ret = xasprintf("%s/local", data);
	free(data);
	return 0;
}

int target_normalise(const char *host_port, char **ret, struct err *e)
{
	char host[256], port[8];

	if (conn_split_host_port(host_port, host, port, e))
		return -1;
	for (char *s = host; *s; s++) {
		*s = (char)tolower((unsigned char)*s);
		if (!isalnum((unsigned char)*s) && !strchr(".-_:%", *s))
			return err_set(e, ERR_INPUT, "'%s' is no host name", host_port);
	}
	*ret = xasprintf(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}

/* CONFIG/coordinators/HOST:PORT/file */
static int identity_path(const char *normal, const char *file, char **ret, struct err *e)
{
	char *config;

	if (target_config_dir(&config, e))
		return -1;
	*ret = xasprintf("%s/coordinators/%s/%s", config, normal, file);
	free(config);
	return 0;
}

static int identity_read(const char *normal, const char *file, char **ret, struct err *e)
{
	struct buf text = {0};
	char *path;
	int r;

	if (identity_path(normal, file, &path, e))
		return -1;
	r = fs_read_file(path, PEM_MAX, &text, e);
	if (!r)
		*ret = buf_take(&text);
	buf_free(&text);
	free(path);
	return r;
}

/* Keys that others can read are no secret: refused, as ssh does. */
static int check_private(const char *normal, struct err *e)
{
	struct stat st;
	char *path;
	int r = 0;

	if (identity_path(normal, "key.pem", &path, e))
		return -1;
	if (!stat(path, &st) && (st.st_mode & 077))
		r = err_set(e, ERR_DENIED,
			"%s can be read by others: run `chmod 600 %s`, and log in "
			"anew if that matters",
			path, path);
	free(path);
	return r;
}

static int load_identity(struct target *t, struct err *e)
{
	if (check_private(t->name, e))
		return -1;
	if (!identity_read(t->name, "key.pem", &t->key, e) &&
		!identity_read(t->name, "cert.pem", &t->cert, e) &&
		!identity_read(t->name, "ca.pem", &t->ca, e))
		return 0;
	if (e->code == ERR_NOTFOUND)
		return err_set(e, ERR_DENIED,
			"no identity for %s: log in with `arraymark login %s`", t->name, t->name);
	return -1;
}

static int private_socket(char **ret, struct err *e)
{
	char *dir;

	if (target_local_dir(&dir, e))
		return -1;
	*ret = xasprintf("%s/coordinator/control.sock", dir);
	free(dir);
	return 0;
}

static int private_was_used(void)
{
	struct err e;
	char *dir, *path;
	int r;

	if (target_local_dir(&dir, &e))
		return 0;
	path = xasprintf("%s/coordinator/store.db", dir);
	r = access(path, F_OK) == 0;
	free(path);
	free(dir);
	return r;
}

/* HOST:PORT of the last login; NULL without an error when there was none. */
static int last_login(char **ret, struct err *e)
{
	struct buf text = {0};
	char *config, *path;
	int r;

	if (target_config_dir(&config, e))
		return -1;
	path = xasprintf("%s/coordinator", config);
	r = fs_read_file(path, 1024, &text, e);
	if (!r) {
		*ret = xstrndup(buf_str(&text), strcspn(buf_str(&text), "\r\n"));
	} else if (e->code == ERR_NOTFOUND) {
		*ret = NULL;
		r = 0;
	}
	buf_free(&text);
	free(path);
	free(config);
	return r;
}

static int choose(const char *option, char **ret, int *ret_guess, struct err *e)
{
	const char *variable = getenv("ARRAYMARK_COORDINATOR");

	if (option && *option)
		*ret = xstrdup(option);
	else if (variable && *variable)
		*ret = xstrdup(variable);
	else if (last_login(ret, e))
		return -1;
	if (!*ret && private_was_used()) {
		*ret = xstrdup("local");
		*ret_guess = 1;
	}
	if (!*ret)
		return err_set(e, ERR_DENIED,
			"no coordinator known: `arraymark login HOST:PORT` first, or "
			"try a plan on this machine alone with `arraymark local PLAN`");
	return 0;
}

int target_resolve(const char *option, struct target *ret, struct err *e)
{
	struct target t = {0};
	char *name = NULL;

	if (choose(option, &name, &t.is_guess, e))
		return -1;
	if (!strcmp(name, "local")) {
		t.is_private = 1;
		t.name = xstrdup(name);
		if (private_socket(&t.socket, e))
			goto fail;
	} else if (strchr(name, '/')) {
		t.name = xstrdup(name);
		t.socket = xstrdup(name);
	} else if (target_normalise(name, &t.name, e)) {
		e->code = ERR_USAGE;
		goto fail;
	} else if (load_identity(&t, e)) {
		goto fail;
	}
	free(name);
	*ret = t;
	return 0;
fail:
	free(name);
	target_clear(&t);
	return -1;
}

static void free_secret(char *s)
{
	if (s)
		explicit_bzero(s, strlen(s));
	free(s);
}

void target_clear(struct target *t)
{
	free(t->name);
	free(t->socket);
	free(t->cert);
	free_secret(t->key);
	free(t->ca);
	memset(t, 0, sizeof(*t));
}

static int write_in(
	const char *normal, const char *file, const char *text, mode_t mode, struct err *e)
{
	char *path, *dir;
	int r;

	if (identity_path(normal, file, &path, e))
		return -1;
	dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	r = fs_mkdir_p(dir, 0700, e) || fs_write_file(path, text, strlen(text), mode, e) ? -1 : 0;
	free(dir);
	free(path);
	return r;
}

int target_key_prepare(const char *host_port, char **ret_key_pem, struct err *e)
{
	struct buf key = {0};
	char *normal;
	int r = -1;

	if (target_normalise(host_port, &normal, e))
		return -1;
	if (!identity_read(normal, "new.pem", ret_key_pem, e)) {
		free(normal);
		return 0;
	}
	if (e->code == ERR_NOTFOUND && !tls_key_new(&key, e) &&
		!write_in(normal, "new.pem", buf_str(&key), 0600, e)) {
		*ret_key_pem = buf_take(&key);
		r = 0;
	}
	buf_free(&key);
	free(normal);
	return r;
}

void target_key_forget(const char *host_port)
{
	char *normal, *path;
	struct err e;

	if (target_normalise(host_port, &normal, &e))
		return;
	if (!identity_path(normal, "new.pem", &path, &e)) {
		unlink(path);
		free(path);
	}
	free(normal);
}

static int remember(const char *normal, struct err *e)
{
	char *config, *path, *line;
	int r;

	if (target_config_dir(&config, e))
		return -1;
	path = xasprintf("%s/coordinator", config);
	line = xasprintf("%s\n", normal);
	r = fs_write_file(path, line, strlen(line), 0600, e);
	free(line);
	free(path);
	free(config);
	return r;
}

int target_login_keep(
	const char *host_port, const char *key, const char *cert, const char *ca, struct err *e)
{
	char *normal;
	int r = -1;

	if (target_normalise(host_port, &normal, e))
		return -1;
	if (!write_in(normal, "ca.pem", ca, 0644, e) &&
		!write_in(normal, "cert.pem", cert, 0644, e) &&
		!write_in(normal, "key.pem", key, 0600, e) && !remember(normal, e)) {
		target_key_forget(normal);
		r = 0;
	}
	free(normal);
	return r;
}

int target_open_socket(const char *path, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(a.sun_path))
		return err_set(e, ERR_INPUT, "%s: too long for the name of a socket", path);
	memcpy(a.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "socket");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	if (errno == ENOENT || errno == ECONNREFUSED)
		err_set(e, ERR_CONN, "no coordinator runs at %s", path);
	else
		err_sys(e, "%s", path);
	close(fd);
	return -1;
}
