/* arraymark-coordinator: the verb table. Exit status: 0 done, 1 the work failed, 2 usage. */
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/state.h"
#include "coordinator/verbs.h"

static int verb_run(const struct options *o, struct err *e)
{
	if (o->args.n)
		return err_set(e, ERR_USAGE, "run takes no '%s'", o->args.v[0]);
	return coordinator_run(o, e);
}

static const struct {
	const char *name;
	int (*run)(const struct options *o, struct err *e);
} verbs[] = {
	{"init", verb_init},
	{"run", verb_run},
	{"token", verb_token},
	{"backup", verb_backup},
	{"restore", verb_restore},
	{"check", verb_check},
};

static int show_help(const struct options *o, struct err *e)
{
	struct buf out = {0};
	int r = options_help(o->args.n ? o->args.v[0] : NULL, &out, e);

	fputs(buf_str(&out), stdout);
	buf_free(&out);
	return r;
}

static int run_verb(const struct options *o, struct err *e)
{
	if (!strcmp(o->verb, "help"))
		return show_help(o, e);
	if (!strcmp(o->verb, "version")) {
		puts("arraymark-coordinator " ARRAYMARK_VERSION);
		return 0;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		struct err why;

		if (strcmp(verbs[i].name, o->verb))
			continue;
		if (!verbs[i].run(o, e))
			return state_give(o->state, e);
		(void)state_give(o->state, &why); /* the verb's own error says more */
		return -1;
	}
	return err_set(e, ERR_USAGE, "'%s' is not a verb", o->verb); /* options_load knows them */
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct err e;
	int r;

	log_set_program("coordinator");
	r = options_load(argc, argv, &o, &e) || run_verb(&o, &e);
	if (r)
		fprintf(stderr, "arraymark-coordinator: %s\n", e.text);
	if (r && e.code == ERR_USAGE)
		fputs("Try `arraymark-coordinator --help`.\n", stderr);
	options_clear(&o);
	if (fflush(stdout))
		return 1;
	return !r ? 0 : e.code == ERR_USAGE ? 2 : 1;
}
