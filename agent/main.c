/* arraymark-agent: the verbs' table and the options that all of them take. */
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
#include "common/base/log.h"
#include "common/base/units.h"

int command_error(const struct err *e)
{
	fprintf(stderr, "arraymark-agent: %s\n", e->text);
	if (e->code == ERR_USAGE)
		return EXIT_USAGE;
	return e->code == ERR_DENIED || e->code == ERR_CONN ? EXIT_DENIED : EXIT_FAILED;
}

static int command_run(const struct agent_options *opt, int argc, char **argv)
{
	struct err e;

	(void)argv;
	if (argc) {
		err_set(&e, ERR_USAGE, "usage: arraymark-agent run");
		return command_error(&e);
	}
	if (monitor_run(opt, &e) == 0)
		return EXIT_DONE;
	log_error("agent", "%s", e.text);
	return e.code == ERR_NOTFOUND || e.code == ERR_DENIED ? EXIT_DENIED : EXIT_FAILED;
}

/* What our own children are started with; nobody else has a use for it. */
static int descriptor(int argc, char **argv)
{
	int64_t fd;
	struct err e;

	if (argc != 2 || strcmp(argv[0], "--fd") || units_parse_int(argv[1], 3, 1023, &fd, &e))
		return -1;
	return (int)fd;
}

static int command_link(const struct agent_options *opt, int argc, char **argv)
{
	int fd = descriptor(argc, argv);

	(void)opt;
	if (fd < 0)
		return EXIT_USAGE;
	_exit(link_main(fd)); /* nothing of OpenSSL's is worth tearing down */
}

static int command_worker(const struct agent_options *opt, int argc, char **argv)
{
	int fd = descriptor(argc, argv);

	(void)opt;
	return fd < 0 ? EXIT_USAGE : worker_main(fd);
}

static const struct verb {
	const char *name, *usage, *text;
	int (*run)(const struct agent_options *opt, int argc, char **argv);
} verbs[] = {
	{"join", "HOST:PORT [--token-file FILE|-]", "enrol this host with a one-time token",
		command_join},
	{"run", "", "serve in the foreground", command_run},
	{"policy", "check|init", "check the policy, or write one that allows nothing yet",
		command_policy},
	{"approve", "SHA256", "accept a plan (for policies with 'plans: approved')", command_approve},
	{"stop", "[--undo]", "end what runs here, take it down, let nothing more run",
		command_stop},
	{"volumes", "", "what is built here", command_volumes},
	{"link", NULL, NULL, command_link},
	{"worker", NULL, NULL, command_worker},
};

static void usage(FILE *to)
{
	fputs("usage: arraymark-agent [--config FILE] [--state DIR] [--name NAME] VERB …\n", to);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (verbs[i].usage)
			fprintf(to, "  %-8s %-32s %s\n", verbs[i].name, verbs[i].usage,
				verbs[i].text);
	fputs("Policy: " AGENT_CONFIG ", state: " AGENT_STATE ", unless told otherwise.\n", to);
}

static const char **option_of(struct agent_options *opt, const char *word)
{
	if (!strcmp(word, "--config"))
		return &opt->config;
	if (!strcmp(word, "--state"))
		return &opt->state;
	return !strcmp(word, "--name") ? &opt->name : NULL;
}

/* Takes the common options out of argv, wherever they stand; returns the new argc, -1: a value is
 * missing. */
static int take_options(struct agent_options *opt, int argc, char **argv)
{
	int kept = 0;

	for (int i = 0; i < argc; i++) {
		const char **value = option_of(opt, argv[i]);

		if (!value) {
			argv[kept++] = argv[i];
			continue;
		}
		if (++i == argc) {
			fprintf(stderr, "arraymark-agent: %s wants a value\n", argv[i - 1]);
			return -1;
		}
		*value = argv[i];
	}
	argv[kept] = NULL;
	return kept;
}

int main(int argc, char **argv)
{
	struct agent_options opt = {.config = AGENT_CONFIG, .state = AGENT_STATE};

	if (argc > 1 && !strcmp(argv[1], "clear-labels"))
		return labels_main(argc - 1, argv + 1); /* has options of its own */
	if (argc > 1 && (!strcmp(argv[1], "give-folder") || !strcmp(argv[1], "empty-folder")))
		return folder_main(argc - 1, argv + 1);
	argc = take_options(&opt, argc - 1, argv + 1);
	argv++;
	if (argc < 0)
		return EXIT_USAGE;
	if (argc > 0 && (!strcmp(argv[0], "-h") || !strcmp(argv[0], "--help"))) {
		usage(stdout);
		return EXIT_DONE;
	}
	if (argc > 0 && !strcmp(argv[0], "--version")) {
		puts("arraymark-agent " ARRAYMARK_VERSION);
		return EXIT_DONE;
	}
	if (getenv("ARRAYMARK_DEBUG"))
		log_set_level(LOG_LEVEL_DEBUG);
	for (size_t i = 0; argc > 0 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(argv[0], verbs[i].name))
			return verbs[i].run(&opt, argc - 1, argv + 1);
	usage(stderr);
	return EXIT_USAGE;
}
