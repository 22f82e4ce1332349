/* Command line and configuration file of the coordinator. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/options.h"

static const struct {
	const char *name, *args, *file; /* words after the program's name; file NULL: none */
	const char *error;              /* NULL: fine, and then: */
	const char *state, *listen;
	unsigned heartbeat_ms, connections;
	const char *role, *arg;
} rows[] = {
	{"defaults", "run", "", NULL, "/var/lib/arraymark/coordinator", "[::]:7420", 10000, 12000, NULL,
		NULL},
	{"file", "run", "state: /srv/am\nlisten: 10.0.0.1:99\nheartbeat: 2s\nconnections: 5\n", NULL,
		"/srv/am", "10.0.0.1:99", 2000, 5, NULL, NULL},
	{"the command line wins", "run --state /a --heartbeat 500ms", "state: /b\nheartbeat: 2s\n", NULL,
		"/a", "[::]:7420", 500, 12000, NULL, NULL},
	{"options after the verb's words", "token knew --role viewer --state=/a", "", NULL, "/a",
		"[::]:7420", 10000, 12000, "viewer", "knew"},
	{"an option of another verb", "token knew --listen x:1", NULL, "unknown option '--listen'", NULL, NULL,
		0, 0, NULL, NULL},
	{"no such verb", "tokn knew", NULL, "did you mean 'token'?", NULL, NULL, 0, 0, NULL, NULL},
	{"help of a verb", "token --help --role viewer", NULL, NULL, NULL, NULL, 0, 0, NULL, NULL},
	{"no verb", "--state /a", NULL, "a verb is missing", NULL, NULL, 0, 0, NULL, NULL},
	{"not an option", "run --frobnicate", NULL, "--frobnicate", NULL, NULL, 0, 0, NULL, NULL},
	{"heartbeat out of range", "run --heartbeat 1ms", NULL, "--heartbeat: '1ms' is not between", NULL,
		NULL, 0, 0, NULL, NULL},
	{"connections no number", "run --connections many", NULL, "--connections: ", NULL, NULL, 0, 0,
		NULL, NULL},
	{"log level", "run --log-level loud", NULL, "'loud' is not a level", NULL, NULL, 0, 0, NULL,
		NULL},
	{"unknown key", "run", "stete: /a\n", "did you mean 'state'?", NULL, NULL, 0, 0, NULL, NULL},
	{"a key that is for the command line", "run", "role: admin\n", "unknown key", NULL, NULL, 0, 0,
		NULL, NULL},
	{"list for a value", "run", "listen: [a, b]\n", ":1:9: listen: one value", NULL, NULL, 0, 0, NULL,
		NULL},
	{"no map", "run", "- a\n", "a map of keys", NULL, NULL, 0, 0, NULL, NULL},
};

static void check(size_t i, const struct options *o)
{
	if (strcmp(o->state, rows[i].state) || strcmp(o->listen, rows[i].listen) ||
		o->heartbeat_ms != rows[i].heartbeat_ms || o->connections != rows[i].connections ||
		!str_equal(o->role, rows[i].role) ||
		!str_equal(o->args.n ? o->args.v[0] : NULL, rows[i].arg))
		fail_msg("%s: state %s listen %s heartbeat %u connections %u", rows[i].name, o->state,
			o->listen, o->heartbeat_ms, o->connections);
}

static void test_rows(void **state)
{
	char path[] = "/tmp/test_options.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	log_set_level(LOG_LEVEL_ERROR);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *file = rows[i].file ? rows[i].file : "";
		struct strv argv = {0};
		struct options o;
		struct err e;
		char *words = xstrdup(rows[i].args), *save = NULL;

		assert_int_equal(fs_write_file(path, file, strlen(file), 0600, &e), 0);
		strv_add(&argv, "arraymark-coordinator");
		for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
			strv_add(&argv, w);
		strv_addf(&argv, "--config=%s", path);
		if (options_load((int)argv.n, argv.v, &o, &e)) {
			if (!rows[i].error || !strstr(e.text, rows[i].error))
				fail_msg("%s: %s", rows[i].name, e.text);
		} else {
			if (rows[i].error)
				fail_msg("%s: was taken", rows[i].name);
			if (rows[i].state)
				check(i, &o);
			options_clear(&o);
		}
		strv_free(&argv);
		free(words);
	}
	unlink(path);
}

static void test_relative_state(void **state)
{
	char *argv[] = {(char *)"x", (char *)"run", (char *)"--state", (char *)"some/where", NULL};
	struct options o;
	struct err e;
	char *path;

	(void)state;
	assert_int_equal(options_load(4, argv, &o, &e), 0);
	assert_int_equal(o.state[0], '/');
	assert_true(str_ends(o.state, "/some/where"));
	path = options_path(&o, "store.db");
	assert_true(str_ends(path, "/some/where/store.db"));
	free(path);
	options_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_relative_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
