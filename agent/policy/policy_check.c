/*
 * The policy's answers. Holds nothing. Invariant: what no line allows is refused; a check that
 * cannot be made is a refusal.
 */
#include "agent/policy/policy_check.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_scan.h"
#include "common/plan/workload.h"

#define MINUTES_OF_DAY (24 * 60)

static int is_sha256(const char *s)
{
	if (strlen(s) != 64)
		return 0;
	for (; *s; s++)
		if (!isdigit((unsigned char)*s) && !(*s >= 'a' && *s <= 'f'))
			return 0;
	return 1;
}

int policy_is_approved(const char *state_dir, const char *sha256)
{
	char *path = xasprintf("%s/approved/%s", state_dir, sha256);
	struct err ignored;
	int ok = is_sha256(sha256) && fs_check_owned(path, &ignored) == 0;

	free(path);
	return ok;
}

int policy_approve(const char *state_dir, const char *sha256, struct err *e)
{
	char *dir, *path;
	int status;

	if (!is_sha256(sha256))
		return err_set(e, ERR_INPUT,
			"'%.80s' is not a plan's SHA-256 (64 lower-case hex digits): `arraymark plan "
			"check FILE` prints it",
			sha256);
	dir = xasprintf("%s/approved", state_dir);
	path = xasprintf("%s/%s", dir, sha256);
	status = fs_mkdir_p(dir, 0700, e);
	if (!status)
		status = fs_write_file(path, "approved\n", strlen("approved\n"), 0600, e);
	free(path);
	free(dir);
	return status;
}

/* from == to: the whole day. */
static int minute_is_in(int minute, int from, int to)
{
	if (from == to)
		return 1;
	if (from < to)
		return minute >= from && minute < to;
	return minute >= from || minute < to;
}

int policy_check_hours(const struct policy *p, time_t now, time_t *ret_until, struct err *e)
{
	struct tm local;
	int minute;

	if (ret_until)
		*ret_until = 0;
	if (p->hours_from < 0 || p->hours_from == p->hours_to)
		return 0;
	if (!localtime_r(&now, &local))
		return err_set(e, ERR_DENIED, "the policy's hours cannot be checked: no local time");
	minute = local.tm_hour * 60 + local.tm_min;
	if (!minute_is_in(minute, p->hours_from, p->hours_to))
		return err_set(e, ERR_DENIED,
			"the policy's line 'hours: %02d:%02d-%02d:%02d' lets no job run now (%02d:%02d)",
			p->hours_from / 60, p->hours_from % 60, p->hours_to / 60, p->hours_to % 60,
			local.tm_hour, local.tm_min);
	if (ret_until)
		*ret_until = now - local.tm_sec +
			     (p->hours_to - minute + MINUTES_OF_DAY) % MINUTES_OF_DAY * 60;
	return 0;
}

int64_t policy_job_limit(const struct policy *p, int64_t deadline_ns)
{
	if (!p->job_limit_ns || (deadline_ns && deadline_ns < p->job_limit_ns))
		return deadline_ns;
	return p->job_limit_ns;
}

int policy_allows(const struct strv *list, const struct inv_disk *d)
{
	const char *const names[][2] = {{"serial", d->serial}, {"wwn", d->wwn}};
	int found = 0;

	for (size_t i = 0; i < ARRAY_LEN(names) && !found; i++) {
		char *id;

		if (!names[i][1] || !*names[i][1])
			continue;
		id = xasprintf("%s:%s", names[i][0], names[i][1]);
		found = policy_names_disk(list, id);
		free(id);
	}
	return found;
}

static const char *disk_word(const struct inv_disk *d)
{
	return d->serial ? d->serial : d->wwn ? d->wwn : d->name;
}

int policy_check_disk(const struct policy *p, const struct inv_disk *d, int wipe, struct err *e)
{
	if (!policy_allows(&p->disks, d))
		return err_set(e, ERR_DENIED,
			"the policy's line 'allow.disks' does not name the disk %s (%s)", disk_word(d),
			d->name);
	if (wipe && !policy_allows(&p->wipe, d))
		return err_set(e, ERR_DENIED,
			"the policy's line 'allow.wipe' does not name the disk %s (%s)", disk_word(d),
			d->name);
	return 0;
}

/* path is dir or below it; both are absolute and without symlinks. */
static int is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (len == 1 && dir[0] == '/')
		return 0;
	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static int check_parent(const char *path, struct err *e)
{
	char *parent = xstrdup(path);
	size_t len = strlen(parent);
	int status;

	while (len > 1 && parent[len - 1] == '/')
		len--;
	while (len > 1 && parent[len - 1] != '/')
		len--;
	while (len > 1 && parent[len - 1] == '/')
		len--;
	parent[len] = '\0';
	status = fs_check_owned_folder(parent, e);
	free(parent);
	return status;
}

/* What the owner wrote leads where the owner meant: nobody else can put something in its place. An
 * ordinary user's agent may do no more than its user anyway. */
static int check_named(const char *named, const char *real, struct err *e)
{
	if (geteuid() != 0)
		return 0;
	if (!check_parent(named, e) && !check_parent(real, e))
		return 0;
	err_prefix(e, "the policy's line 'allow.directories' names %s, which others could put "
		      "something else in the place of", named);
	e->code = ERR_DENIED;
	return -1;
}

int policy_check_directory(const struct policy *p, const char *dir, char **ret_path,
	int *ret_remount, struct err *e)
{
	char *real, *allowed;
	struct err ignored;
	struct stat st;

	if (fs_realpath(dir, &real, e))
		return -1;
	if (stat(real, &st) || !S_ISDIR(st.st_mode)) {
		free(real);
		return err_set(e, ERR_INPUT, "existing: %s is not a directory", dir);
	}
	for (size_t i = 0; i < p->n_directories; i++) {
		int inside, safe;

		if (fs_realpath(p->directories[i].path, &allowed, &ignored))
			continue;
		inside = is_inside(real, allowed);
		safe = inside && !check_named(p->directories[i].path, allowed, e);
		free(allowed);
		if (!inside)
			continue;
		if (!safe) {
			free(real);
			return -1;
		}
		*ret_path = real;
		*ret_remount = p->directories[i].remount;
		return 0;
	}
	err_set(e, ERR_DENIED, "the policy's line 'allow.directories' does not name %s%s%s%s", dir,
		strcmp(dir, real) ? " (which is " : "", strcmp(dir, real) ? real : "",
		strcmp(dir, real) ? ")" : "");
	free(real);
	return -1;
}

/* By the text alone, before anything is touched: symlinks are followed when a volume is built, and
 * again before each trial. */
static int check_folder(const struct policy *p, const char *path, struct err *e)
{
	if (strstr(path, "/../") || str_ends(path, "/.."))
		return err_set(e, ERR_DENIED, "'..' is not allowed in %s", path);
	for (size_t i = 0; i < p->n_directories; i++)
		if (is_inside(path, p->directories[i].path))
			return 0;
	return err_set(e, ERR_DENIED, "the policy's line 'allow.directories' does not name %s", path);
}

static int check_existing(const struct policy *p, const struct layout *l, struct err *e)
{
	return check_folder(p, l->existing, e) ? err_prefix(e, "layout %s", l->name) : 0;
}

static int check_scratch(const struct policy *p, const struct plan *plan, struct err *e)
{
	int64_t most = 0, bytes;
	char need[UNITS_LEN], limit[UNITS_LEN];

	for (size_t i = 0; i < plan->n_layouts; i++) {
		const struct scratch_stage *s = &plan->layouts[i].scratch;

		if (!s->disks)
			continue;
		if (!p->scratch_directory)
			return err_set(e, ERR_DENIED,
				"layout %s: the policy has no line 'allow.scratch', so there are no "
				"scratch disks here",
				plan->layouts[i].name);
		if (__builtin_mul_overflow(s->size, (int64_t)s->disks, &bytes))
			bytes = INT64_MAX;
		if (plan->builds == BUILDS_ONCE)
			most = __builtin_add_overflow(most, bytes, &bytes) ? INT64_MAX : bytes;
		else
			most = bytes > most ? bytes : most;
	}
	if (most <= p->scratch_limit)
		return 0;
	return err_set(e, ERR_DENIED,
		"the plan's scratch disks take %s, the policy's line 'allow.scratch.limit' allows %s",
		units_size(most, need), units_size(p->scratch_limit, limit));
}

static int check_named_file(const struct strv *list, const char *path, const char *line,
	struct err *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (fnmatch(list->v[i], path, FNM_PATHNAME | FNM_PERIOD) == 0)
			return 0;
	return err_set(e, ERR_DENIED, "the policy's line 'allow.%s' does not name %s", line, path);
}

int policy_check_input(const struct policy *p, const char *path, struct err *e)
{
	return check_named_file(&p->inputs, path, "inputs", e);
}

int policy_check_program(const struct policy *p, const char *path, struct err *e)
{
	return check_named_file(&p->programs, path, "programs", e);
}

static int check_workload(const struct policy *p, const struct workload *w, struct err *e)
{
	struct strv inputs = {0}, programs = {0}, folders = {0};
	int status = 0;

	workload_access(w, &inputs, &programs);
	workload_folders(w, &folders);
	for (size_t i = 0; i < inputs.n && !status; i++)
		status = policy_check_input(p, inputs.v[i], e);
	for (size_t i = 0; i < programs.n && !status; i++)
		status = policy_check_program(p, programs.v[i], e);
	for (size_t i = 0; i < folders.n && !status; i++)
		status = check_folder(p, folders.v[i], e);
	strv_free(&inputs);
	strv_free(&programs);
	strv_free(&folders);
	return status ? err_prefix(e, "workload %s", w->name) : 0;
}

/* Disks that are nobody's layout, in use or not. */
static int check_scan(const struct policy *p, const struct workload *w, struct err *e)
{
	if (w->kind != WORKLOAD_DISK_SCAN || !scan_is_of_host(w->scan) || p->scan)
		return 0;
	return err_set(e, ERR_DENIED,
		"workload %s: the policy has no line 'allow.scan: true', so that only a layout's own "
		"disks may be read",
		w->name);
}

static int check_workloads(const struct policy *p, const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->n_workloads; i++)
		if (check_workload(p, &plan->workloads[i], e) ||
			check_scan(p, &plan->workloads[i], e))
			return -1;
	return 0;
}

static int check_layouts(const struct policy *p, const struct plan *plan, struct err *e)
{
	for (size_t i = 0; i < plan->n_layouts; i++)
		if (plan->layouts[i].existing && check_existing(p, &plan->layouts[i], e))
			return -1;
	return check_scratch(p, plan, e);
}

static int check_bound(const struct policy *p, const struct policy_request *r, const char *id,
	struct err *e)
{
	const struct inv_disk *d = r->inv ? inventory_find(r->inv, id) : NULL;

	if (!d)
		return err_set(e, ERR_NOTFOUND, "the disk %s, which the run is bound to, is not in this "
						"host",
			id);
	return policy_check_disk(p, d, 0, e);
}

static int check_disks(const struct policy *p, const struct policy_request *r, struct err *e)
{
	for (size_t i = 0; i < r->n_disks; i++) {
		const struct bound_disks *b = &r->disks[i];

		for (size_t k = 0; k < b->ids.n; k++) {
			if (!check_bound(p, r, b->ids.v[k], e))
				continue;
			return b->layout < r->plan->n_layouts
				       ? err_prefix(e, "layout %s", r->plan->layouts[b->layout].name)
				       : -1;
		}
	}
	return 0;
}

static int check_limit(const struct policy *p, const struct policy_request *r, struct err *e)
{
	char asked[UNITS_LEN], limit[UNITS_LEN];

	if (!p->job_limit_ns || r->deadline_ns <= p->job_limit_ns)
		return 0;
	return err_set(e, ERR_DENIED,
		"the plan's deadline is %s, the policy's line 'limits.job' allows %s",
		units_duration(r->deadline_ns, asked), units_duration(p->job_limit_ns, limit));
}

int policy_check_job(const struct policy *p, const struct policy_request *r, struct err *e)
{
	int status = -1;

	if (p->plans_approved_only && !policy_is_approved(r->state_dir, r->plan->sha256))
		err_set(e, ERR_DENIED,
			"the policy's line 'allow.plans: approved' wants this plan accepted here: "
			"arraymark-agent approve %s",
			r->plan->sha256);
	else if ((!r->now || !policy_check_hours(p, r->now, NULL, e)) && !check_limit(p, r, e) &&
		 !check_layouts(p, r->plan, e) && !check_workloads(p, r->plan, e))
		status = check_disks(p, r, e);
	if (status && r->policy_path)
		err_prefix(e, "%s", r->policy_path);
	return status;
}
