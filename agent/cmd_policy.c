/*
 * `policy check` and `policy init`: the file in which a host's owner says what is allowed.
 * Invariant: init allows nothing by itself and never replaces a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/commands.h"
#include "agent/volume/inspect.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/policy.h"

static void print_list(const char *what, const struct strv *s)
{
	printf("%-12s", what);
	for (size_t i = 0; i < s->n; i++)
		printf(" %s", s->v[i]);
	puts(s->n ? "" : " none");
}

static void print_owner(const struct policy *p)
{
	char limit[UNITS_LEN];

	printf("%-12s %s\n", "hook before", p->hook_before ? p->hook_before : "none");
	printf("%-12s %s\n", "hook after", p->hook_after ? p->hook_after : "none");
	if (p->hours_from < 0)
		printf("%-12s any\n", "hours");
	else
		printf("%-12s %02d:%02d-%02d:%02d\n", "hours", p->hours_from / 60, p->hours_from % 60,
			p->hours_to / 60, p->hours_to % 60);
	printf("%-12s %s\n", "job's limit", p->job_limit_ns ? units_duration(p->job_limit_ns, limit) : "none");
}

/* A folder, and where it really is when symbolic links lead there. */
static void print_folder(const char *path)
{
	char *real = realpath(path, NULL);
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	printf(" %s", path);
	if (real && (strlen(real) != len || strncmp(real, path, len) != 0))
		printf(" (really %s)", real);
	else if (!real && errno != ENOENT)
		printf(" (where it is cannot be told: %s)", strerror(errno));
	else if (!real)
		printf(" (not there)");
	free(real);
}

static void print_policy(const struct policy *p)
{
	char limit[UNITS_LEN];

	if (p->coordinator)
		printf("%-12s %s\n", "coordinator", p->coordinator);
	print_list("tags", &p->tags);
	print_list("disks", &p->disks);
	print_list("wipe", &p->wipe);
	printf("%-12s %s\n", "scan", p->scan ? "any disk, reading only" : "no");
	print_list("controllers", &p->controllers);
	printf("%-12s", "directories");
	for (size_t i = 0; i < p->n_directories; i++) {
		print_folder(p->directories[i].path);
		printf("%s", p->directories[i].remount ? " (remount)" : "");
	}
	puts(p->n_directories ? "" : " none");
	if (p->scratch_directory) {
		printf("%-12s", "scratch");
		print_folder(p->scratch_directory);
		printf(", up to %s\n", units_size(p->scratch_limit, limit));
	} else {
		printf("%-12s none\n", "scratch");
	}
	print_list("inputs", &p->inputs);
	print_list("programs", &p->programs);
	printf("%-12s %s\n", "plans", p->plans_approved_only ? "approved here only" : "any");
	print_owner(p);
}

int command_policy_check(const struct agent_options *opt, const struct args *a)
{
	struct yaml_errors errs = {0};
	struct policy *p = NULL;
	struct err e;
	int status = policy_load(opt->config, &p, &errs, &e);

	(void)a;
	for (size_t i = 0; i < errs.list.n; i++)
		fprintf(stderr, "%s\n", errs.list.v[i]);
	if (!status) {
		printf("%s is fine. It allows:\n", opt->config);
		print_policy(p);
	}
	status = !status ? EXIT_DONE : errs.list.n ? EXIT_FAILED : command_error(&e);
	yaml_errors_free(&errs);
	policy_free(p);
	return status;
}

/* Text from a disk goes into a comment: one line, nothing that ends it. */
static void add_plain(struct buf *out, const char *s)
{
	for (; s && *s; s++)
		buf_addc(out, (unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s);
}

static void add_disk(struct buf *out, const struct inv_disk *d)
{
	char id[512], size[UNITS_LEN];

	if (!inv_disk_id(d, id, sizeof(id)))
		return;
	buf_adds(out, "  #   - ");
	add_plain(out, id);
	buf_addf(out, "   # %s, %s, ", d->name, units_size((int64_t)d->bytes, size));
	add_plain(out, d->model ? d->model : "unknown model");
	for (size_t i = 0; i < d->signatures.n; i++) {
		buf_adds(out, i ? ", " : "; holds old data: ");
		add_plain(out, d->signatures.v[i]);
	}
	buf_addc(out, '\n');
}

static void compose(const struct agent_options *opt, const struct inventory *inv, struct buf *out)
{
	char *coordinator = NULL;
	size_t used = 0;
	struct err ignored;

	buf_adds(out, "# What the owner of this host allows arraymark to do here. Nothing is allowed "
		      "that is not named.\n# Check it with `arraymark-agent policy check`.\n");
	if (host_read(opt->state, "coordinator", 512, &coordinator, &ignored) == 0)
		buf_addf(out, "coordinator: %s\n", coordinator);
	free(coordinator);
	buf_adds(out, "tags: []\nallow:\n"
		      "  # Disks that may be written to, by serial or WWN; what is listed is free now.\n"
		      "  # disks:\n");
	for (size_t i = 0; i < inv->n_disks; i++) {
		if (!inv->disks[i].in_use)
			add_disk(out, &inv->disks[i]);
		used += inv->disks[i].in_use != NULL;
	}
	if (used)
		buf_addf(out, "  # (%zu %s in use and not listed.)\n", used,
			used == 1 ? "disk is" : "disks are");
	buf_adds(out, "  # wipe: []          # of these, disks whose old data a plan may wipe by name\n"
		      "  # scratch: {directory: /var/lib/arraymark/scratch, limit: 20G}\n"
		      "  # directories: [{path: /srv/bench}]   # where `existing` may write\n"
		      "  plans: any          # or approved: only those accepted with "
		      "`arraymark-agent approve SHA256`\n"
		      "# hooks: {before: /etc/arraymark/before, after: /etc/arraymark/after}\n"
		      "# limits: {job: 12h}\n");
}

static int write_new(const char *path, const struct buf *text, struct err *e)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');
	int fd, status = 0;

	if (slash && slash != folder) {
		*slash = '\0';
		status = fs_mkdir_p(folder, 0755, e);
	}
	free(folder);
	if (status)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s is there already: it is not replaced", path);
	if (fd < 0)
		return err_sys(e, "cannot make %s", path);
	if (write(fd, text->data, text->len) != (ssize_t)text->len || fsync(fd))
		status = err_sys(e, "cannot write %s", path);
	close(fd);
	return status;
}

int command_policy_init(const struct agent_options *opt, const struct args *a)
{
	struct inventory inv = {0};
	struct buf text = {0};
	struct err e;
	int status;

	(void)a;
	if (access(opt->config, F_OK) == 0) {
		err_set(&e, ERR_EXISTS, "%s is there already: it is not replaced", opt->config);
		return command_error(&e);
	}
	status = inspect_host(NULL, &inv, &e);
	if (!status) {
		compose(opt, &inv, &text);
		status = write_new(opt->config, &text, &e);
	}
	if (!status)
		printf("Wrote %s: it allows nothing yet. Name in it what may be used.\n",
			opt->config);
	buf_free(&text);
	inventory_clear(&inv);
	return status ? command_error(&e) : EXIT_DONE;
}
