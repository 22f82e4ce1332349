/*
 * Plan files. Owns nothing beyond what planfile_read returns.
 * Invariant: what is sent is the text that was parsed here.
 */
#include "coordinator/ctl/planfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/print.h"

static int check_sets(const struct strv *sets, struct err *e)
{
	for (size_t i = 0; i < sets->n; i++) {
		const char *eq = strchr(sets->v[i], '=');

		if (!eq || eq == sets->v[i])
			return err_set(
				e, ERR_USAGE, "--set %s: PATH=VALUE is expected", sets->v[i]);
	}
	return 0;
}

static int read_text(const char *name, struct buf *text, struct err *e)
{
	int r = strcmp(name, "-")
			? fs_read_file(name, YAML_MAX_BYTES, text, e)
			: fs_read_fd(STDIN_FILENO, "standard input", YAML_MAX_BYTES, text, e);

	if (r && e->code == ERR_DENIED)
		e->code = ERR_IO; /* a file's rights are no question of access to a coordinator */
	return r;
}

int planfile_read(const char *name, const struct args *a, struct planfile *ret, struct err *e)
{
	struct planfile p = {0};
	struct err why;

	args_all(a, "set", 0, &p.sets);
	args_all(a, "hosts", 1, &p.hosts);
	p.name = xstrdup(strcmp(name, "-") ? name : "plan");
	if (check_sets(&p.sets, e) || read_text(name, &p.text, e)) {
		planfile_clear(&p);
		return -1;
	}
	if (plan_parse(p.name, buf_str(&p.text), p.text.len, &p.sets, &p.plan, &p.errors, &why)) {
		p.plan = NULL;
		if (!p.errors.list.n)
			strv_add(&p.errors.list, why.text);
	}
	*ret = p;
	return 0;
}

int planfile_load(
	struct ctl *c, const char *name, const struct args *a, struct planfile *ret, struct err *e)
{
	struct planfile p;
	size_t n;

	if (planfile_read(name, a, &p, e))
		return -1;
	if (p.plan) {
		for (size_t i = 0; i < p.plan->warnings.n; i++)
			ctl_warn(c, "%s", p.plan->warnings.v[i]);
		*ret = p;
		return 0;
	}
	n = p.errors.list.n;
	for (size_t i = 0; i < n; i++)
		strv_add(&c->more, p.errors.list.v[i]);
	err_set(e, ERR_INPUT, "%s has %zu error%s", p.name, n, n == 1 ? "" : "s");
	planfile_clear(&p);
	return -1;
}

void planfile_clear(struct planfile *p)
{
	plan_free(p->plan);
	yaml_errors_free(&p->errors);
	strv_free(&p->sets);
	strv_free(&p->hosts);
	buf_free(&p->text);
	free(p->name);
	memset(p, 0, sizeof(*p));
}

void planfile_call(const struct planfile *p, enum call_verb verb, struct msg_call *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->verb = verb;
	ret->plan_text = p->text.data;
	ret->plan_name = p->name;
	ret->sets = p->sets;
	ret->hosts = p->hosts;
}

static const struct cost_field {
	const char *key, *unit; /* unit NULL: bytes */
	const char *before, *of_memory; /* multiples of the host's, beside bytes; or NULL */
} cost_fields[] = {
	{"blocks", " blocks", "", NULL},
	{"builds", " builds", ", ", NULL},
	{"trials", " trials", ", ", NULL},
	{"written_bytes", NULL, "; ", "written_ram"},
	{"read_bytes", NULL, ", ", "read_ram"},
};

static void cost_number(const struct cost_field *f, const json_t *v, struct buf *out)
{
	int64_t n = json_get_int(v, f->key, 0);
	double of_memory = f->of_memory ? json_get_num(v, f->of_memory, 0) : 0;
	char text[UNITS_LEN];

	if (f->unit)
		buf_addf(out, "%lld", (long long)n);
	else if (n || of_memory == 0)
		buf_adds(out, units_size(n, text));
	if (of_memory != 0)
		buf_addf(out, "%s%g times its memory", n ? " and " : "", of_memory);
}

static int cost_differs(const struct cost_field *f, const json_t *least, const json_t *most)
{
	return json_is_object(least) &&
	       (json_get_int(least, f->key, 0) != json_get_int(most, f->key, 0) ||
		       (f->of_memory && json_get_num(least, f->of_memory, 0) !=
						json_get_num(most, f->of_memory, 0)));
}

/* "5…30 blocks, …": from the least, where a run may stop early, to the most. */
static void cost_text(const json_t *least, const json_t *most, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(cost_fields); i++) {
		const struct cost_field *f = &cost_fields[i];

		buf_adds(out, f->before);
		if (cost_differs(f, least, most)) {
			cost_number(f, least, out);
			buf_adds(out, "…");
		}
		cost_number(f, most, out);
		if (f->unit)
			buf_adds(out, f->unit);
		else
			buf_adds(out, strcmp(f->key, "read_bytes") ? " written" : " read");
	}
}

static void time_text(const json_t *least, const json_t *most, struct buf *out)
{
	double to = json_get_num(most, "duration_s", 0),
	       from = json_get_num(least, "duration_s", to);
	char text[UNITS_LEN];

	if (!(to > 0 && to < 9e9))
		return;
	buf_adds(out, "time: about ");
	if (from < to)
		buf_addf(out, "%s to ", units_duration((int64_t)from * NS_PER_S, text));
	buf_addf(out, "%s on disks that stream 100 MB/s each%s\n",
		units_duration((int64_t)to * NS_PER_S, text),
		json_get_num(most, "written_ram", 0) != 0 || json_get_num(most, "read_ram", 0) != 0
			? ", and what the bytes by memory take"
			: "");
}

static void unknown_text(int64_t workloads, struct buf *out)
{
	if (workloads == 1)
		buf_adds(out, "and what 1 workload moves in its time, which is known when it runs\n");
	else if (workloads > 1)
		buf_addf(out, "and what %lld workloads move in their time, which is known when they run\n",
			(long long)workloads);
}

void planfile_estimate_text(const json_t *v, struct buf *out)
{
	double difference = json_get_num(v, "smallest_difference", NAN);
	const json_t *least = json_object_get(v, "least");

	if (!json_is_object(v))
		return;
	buf_adds(out, "per host: ");
	cost_text(least, v, out);
	buf_addc(out, '\n');
	unknown_text(json_get_int(v, "unknown", 0), out);
	time_text(least, v, out);
	if (isfinite(difference))
		buf_addf(out,
			"differences from %.1f%% on are likely to be found, "
			"if trials scatter by %.0f%%\n",
			difference * 100, json_get_num(v, "cv", 0) * 100);
	else
		buf_adds(out, "too few blocks to find any difference\n");
}
