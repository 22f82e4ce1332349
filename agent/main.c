/* arraymark-agent: the verbs' table, their options and help. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/commands.h"
#include "agent/link/link.h"
#include "agent/monitor.h"
#include "agent/volume/folder.h"
#include "agent/volume/labels.h"
#include "agent/workload/workload.h"
#include "common/base/help.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/verbs.h"

int command_error(const struct err *e)
{
	fprintf(stderr, "arraymark-agent: %s\n", e->text);
	if (e->code == ERR_USAGE)
		return EXIT_USAGE;
	return e->code == ERR_DENIED || e->code == ERR_CONN ? EXIT_DENIED : EXIT_FAILED;
}

static int command_run(const struct agent_options *opt, const struct args *a)
{
	struct err e;

	(void)a;
	if (monitor_run(opt, &e) == 0)
		return EXIT_DONE;
	log_error("agent", "%s", e.text);
	return e.code == ERR_NOTFOUND || e.code == ERR_DENIED ? EXIT_DENIED : EXIT_FAILED;
}

/* What our own children are started with; nobody else has a use for it. */
static int descriptor(const struct args *a)
{
	const char *text = args_get(a, "fd");
	int64_t fd;
	struct err e;

	if (!text || units_parse_int(text, 3, 1023, &fd, &e))
		return -1;
	return (int)fd;
}

static int command_link(const struct agent_options *opt, const struct args *a)
{
	int fd = descriptor(a);

	(void)opt;
	if (fd < 0)
		return EXIT_USAGE;
	_exit(link_main(fd)); /* nothing of OpenSSL's is worth tearing down */
}

static int command_worker(const struct agent_options *opt, const struct args *a)
{
	int fd = descriptor(a);

	(void)opt;
	return fd < 0 ? EXIT_USAGE : worker_main(fd);
}

static const struct option_spec common_options[] = {
	{"config", 0, "FILE", "the policy; default " AGENT_CONFIG},
	{"state", 0, "DIR", "default " AGENT_STATE},
	{"name", 0, "NAME", "in the paths of mount points, for several agents on one machine"},
	{"help", 'h', NULL, "help, of a verb after its name"},
	{"version", 0, NULL, "the version"},
	{0},
};
static const struct option_spec join_options[] = {
	{"token-file", 0, "FILE", "read the token from it; - is standard input"},
	{0},
};
static const struct option_spec stop_options[] = {
	{"undo", 0, NULL, "let jobs run here again"},
	{0},
};
static const struct option_spec volumes_options[] = {
	{"json", 0, NULL, "one JSON document"},
	{0},
};
static const struct option_spec child_options[] = {{"fd", 0, "N", NULL}, {0}};

static const struct verb {
	const char *name, *args, *summary, *text, *examples; /* summary NULL: not for people */
	const struct option_spec *options;
	int n_args;
	int (*run)(const struct agent_options *opt, const struct args *a);
} verbs[] = {
	{"join", "HOST:PORT", "enrol this host with a one-time token",
		"The token is read from a prompt, or from stdin when that is no terminal. It says what "
		"the host is called. The key is made here and never leaves this host.\n",
		"arraymark-agent join bench.example.org:7420\n", join_options, 1, command_join},
	{"run", "", "serve until SIGTERM",
		"In the foreground. SIGTERM ends the job and takes its volume down first, a second one "
		"hurries; SIGHUP reads the policy and the host again.\n",
		"arraymark-agent run\n", NULL, 0, command_run},
	{"policy check", "", "read the policy and say what it allows", "",
		"arraymark-agent policy check\n", NULL, 0, command_policy_check},
	{"policy init", "", "write a policy that allows nothing yet",
		"This host's disks are in it as comments. A file that is there is not replaced.\n",
		"arraymark-agent policy init\n", NULL, 0, command_policy_init},
	{"approve", "SHA256", "accept a plan, for policies with `plans: approved`",
		"The sum is that of the whole plan; a refusal prints it.\n",
		NULL, NULL, 1, command_approve},
	{"stop", "", "end what runs here, take it down, let nothing more run",
		"The owner's last word, with or without a coordinator, and also when no agent runs.\n",
		"arraymark-agent stop\narraymark-agent stop --undo\n", stop_options, 0, command_stop},
	{"volumes", "", "what is built here now", "", "arraymark-agent volumes\n", volumes_options, 0,
		command_volumes},
	{"link", "", NULL, NULL, NULL, child_options, 0, command_link},
	{"worker", "", NULL, NULL, NULL, child_options, 0, command_worker},
};

/* Also of those that are not for people, which are never suggested: they stand last. */
static const struct verb *verb_find(char *const *words, int n, int *ret_words, struct err *e)
{
	const char *names[ARRAY_LEN(verbs) + 1] = {0};
	int at;

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		*ret_words = 1;
		if (!verbs[i].summary && !strcmp(verbs[i].name, words[0]))
			return &verbs[i];
		names[i] = verbs[i].summary ? verbs[i].name : NULL;
	}
	at = verb_place(names, words, n, " (see `arraymark-agent --help`)", ret_words, e);
	return at < 0 ? NULL : &verbs[at];
}

static void help_program(struct buf *out)
{
	buf_adds(out, "usage: arraymark-agent VERB [options] …\n\n");
	help_text("Builds storage volumes and times workloads on them, within the policy of this "
		  "host's owner.\n", out);
	buf_adds(out, "\nverbs (`arraymark-agent help VERB` tells more):\n");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		char *left = xasprintf("%s %s", verbs[i].name, verbs[i].args);

		if (verbs[i].summary)
			help_row(left, verbs[i].summary, out);
		free(left);
	}
	buf_adds(out, "\noptions of every verb:\n");
	help_options(common_options, out);
	buf_addc(out, '\n');
	help_text("Status: 0 done, 1 failed, 2 usage, 3 not enrolled, not allowed or no connection.\n",
		out);
}

static int show_help(const struct verb *v)
{
	struct help h = {.program = "arraymark-agent", .common = common_options};
	struct buf out = {0};
	int failed;

	if (v) {
		h.verb = v->name;
		h.args = v->args;
		h.summary = v->summary;
		h.text = v->text;
		h.examples = v->examples;
		h.options = v->options;
		help_verb(&h, &out);
	} else {
		help_program(&out);
	}
	failed = fputs(buf_str(&out), stdout) < 0 || fflush(stdout);
	buf_free(&out);
	return failed ? EXIT_FAILED : EXIT_DONE;
}

/* There is no help of what is not for people; -1: e. */
static int show_verb(const struct verb *v, struct err *e)
{
	if (!v->summary)
		return err_set(e, ERR_USAGE, "'%s' is no verb (see `arraymark-agent --help`)", v->name);
	return show_help(v);
}

static int check_count(const struct verb *v, const struct args *a, struct err *e)
{
	if (a->n < v->n_args)
		return err_set(e, ERR_USAGE, "%s wants more arguments: arraymark-agent %s %s", v->name,
			v->name, v->args);
	if (a->n > v->n_args)
		return err_set(e, ERR_USAGE, "'%s' is one argument too many for %s", a->v[v->n_args],
			v->name);
	return 0;
}

static int run_verb(const struct verb *v, const struct args *a)
{
	struct agent_options opt = {.config = args_get(a, "config"), .state = args_get(a, "state"),
		.name = args_get(a, "name")};

	opt.config = opt.config ? opt.config : AGENT_CONFIG;
	opt.state = opt.state ? opt.state : AGENT_STATE;
	if (getenv("ARRAYMARK_DEBUG"))
		log_set_level(LOG_LEVEL_DEBUG);
	return v->run(&opt, a);
}

/* Returns the exit status; -1: e. */
static int command_line(int argc, char **argv, struct args *a, struct err *e)
{
	const struct verb *v = NULL;
	int words, helps;

	if (args_parse(argc, argv, common_options, NULL, 1, a, e))
		return -1;
	if (args_get(a, "version")) {
		puts("arraymark-agent " ARRAYMARK_VERSION);
		return EXIT_DONE;
	}
	helps = a->n && !strcmp(a->v[0], "help");
	if (a->n == helps && (helps || args_get(a, "help")))
		return show_help(NULL);
	if (a->n == 0)
		return err_set(e, ERR_USAGE, "a verb is missing (see `arraymark-agent --help`)");
	v = verb_find(a->v + helps, a->n - helps, &words, e);
	if (!v)
		return -1;
	if (helps)
		return show_verb(v, e);
	words--; /* the last word of the verb takes the program's place */
	if (args_parse(argc - (int)(a->v - argv) - words, a->v + words, common_options, v->options, 0, a,
		    e))
		return -1;
	if (args_get(a, "help"))
		return show_verb(v, e);
	return check_count(v, a, e) ? -1 : run_verb(v, a);
}

int main(int argc, char **argv)
{
	struct args a = {0};
	struct err e;
	int status;

	if (argc > 1 && !strcmp(argv[1], "clear-labels"))
		return labels_main(argc - 1, argv + 1); /* has options of its own */
	if (argc > 1 && !strcmp(argv[1], "label-guids"))
		return label_guids_main(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "give-folder") || !strcmp(argv[1], "empty-folder")))
		return folder_main(argc - 1, argv + 1);
	status = command_line(argc, argv, &a, &e);
	if (status < 0)
		status = command_error(&e);
	args_clear(&a);
	return status;
}
