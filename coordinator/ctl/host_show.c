/* host show|disks: what a host is made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/utf8.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"

static void line(struct buf *out, const char *key, const char *value)
{
	buf_addf(out, "%-14s ", key);
	print_safe(value && *value ? value : NULL, out);
	buf_addc(out, '\n');
}

static void linef(struct buf *out, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void linef(struct buf *out, const char *key, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	line(out, key, text);
	free(text);
}

static void list_line(struct buf *out, const char *key, const json_t *list)
{
	struct buf text = {0};
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) buf_addf(
		&text, "%s%s", i ? ", " : "", json_is_string(v) ? json_string_value(v) : "?");
	line(out, key, buf_str(&text));
	buf_free(&text);
}

static void show_state(struct buf *out, const json_t *v)
{
	double offset = json_get_num(v, "clock_offset_s", NAN), rtt = json_get_num(v, "rtt_s", NAN);
	struct buf seen = {0};

	line(out, "host", json_get_str(v, "host", NULL));
	linef(out, "state", "%s%s", json_get_str(v, "state", "-"),
		json_get_bool(v, "paused", 0) ? ", paused" : "");
	if (json_get_int(v, "run", 0) > 0)
		linef(out, "run", "%lld (job %lld)", (long long)json_get_int(v, "run", 0),
			(long long)json_get_int(v, "job", 0));
	if (json_get_int(v, "waiting", 0) > 0)
		linef(out, "waiting", "%lld jobs", (long long)json_get_int(v, "waiting", 0));
	if (json_get_str(v, "note", NULL) && *json_get_str(v, "note", ""))
		line(out, "note", json_get_str(v, "note", NULL));
	print_time(json_get_str(v, "last_seen", NULL), &seen);
	line(out, "last seen", buf_str(&seen));
	line(out, "address", json_get_str(v, "address", NULL));
	line(out, "agent", json_get_str(v, "version", NULL));
	if (isfinite(offset))
		linef(out, "clock", "%+.6f s against the coordinator's, round trip %.1f ms",
			units_rounded(offset, 6),
			rtt * 1000);
	list_line(out, "tags", json_object_get(v, "tags"));
	buf_free(&seen);
}

static void show_machine(struct buf *out, const json_t *v)
{
	char ram[UNITS_LEN], scratch[UNITS_LEN];
	int64_t limit = json_get_int(v, "scratch_limit", 0);

	line(out, "system", json_get_str(v, "os", NULL));
	linef(out, "kernel", "%s %s", json_get_str(v, "kernel", "-"), json_get_str(v, "arch", ""));
	linef(out, "cpu", "%s, %lld CPUs", json_get_str(v, "cpu", "-"),
		(long long)json_get_int(v, "cpus", 0));
	line(out, "memory", units_size(json_get_int(v, "ram_bytes", 0), ram));
	line(out, "zfs", json_get_str(v, "zfs", NULL));
	line(out, "runs as",
		json_get_bool(v, "privileged", 0) ? "root, with accounts of its own"
						  : "an ordinary user, all in one account");
	line(out, "scratch disks", limit > 0 ? units_size(limit, scratch) : "not allowed");
	if (json_get_str(json_object_get(v, "inventory"), "policy_error", NULL))
		line(out, "policy", json_get_str(json_object_get(v, "inventory"), "policy_error", NULL));
}

static const char *disk_use(const json_t *d)
{
	const char *in_use = json_get_str(d, "in_use", NULL);

	if (in_use)
		return in_use;
	return json_get_bool(d, "allowed", 0) ? "free" : "not in the policy";
}

static void add_disk(struct grid *t, const json_t *d)
{
	char size[UNITS_LEN];
	int64_t logical = json_get_int(d, "logical_sector_bytes", 0);
	int64_t physical = json_get_int(d, "physical_sector_bytes", 0);

	grid_add(t, json_get_str(d, "id", NULL));
	grid_add(t, json_get_str(d, "name", NULL));
	grid_add(t, units_size(json_get_int(d, "bytes", 0), size));
	grid_addf(t, "%lld/%lld", (long long)logical, (long long)physical);
	grid_add(t, json_get_bool(d, "rotational", 0) ? "disk" : "ssd");
	grid_add(t, json_get_str(d, "transport", NULL));
	grid_add(t, json_get_str(d, "model", NULL));
	grid_add(t, json_get_str(d, "controller", NULL));
	grid_add_color(t, disk_use(d),
		json_get_str(d, "in_use", NULL)  ? COLOR_YELLOW
		: json_get_bool(d, "allowed", 0) ? COLOR_GREEN
						 : COLOR_DIM);
}

static void show_disks(struct buf *out, const json_t *inventory, const struct ctl *c)
{
	static const char *const heads[] = {"DISK", "NAME", "SIZE", "SECTORS", "KIND", "BUS",
		"MODEL", "CONTROLLER", "USE", NULL};
	static const unsigned char order[] = {7, 3, 5, 6, 4, 255};
	struct grid t;
	const json_t *d;
	size_t i;

	grid_init(&t, heads, 1 << 2);
	json_array_foreach(json_object_get(inventory, "disks"), i, d) add_disk(&t, d);
	for (unsigned column = 5; column <= 7 && c->width_out; column++)
		grid_hide(&t, column, "-");
	grid_fit(&t, c->width_out, order);
	if (t.n)
		buf_addc(out, '\n');
	grid_print(&t, c->color_out, out);
	grid_clear(&t);
}

static void show_pools(struct buf *out, const json_t *inventory, int color)
{
	static const char *const heads[] = {"POOL", "GUID", "SIZE", "HEALTH", NULL};
	char size[UNITS_LEN];
	struct grid t;
	const json_t *p;
	size_t i;

	grid_init(&t, heads, 1 << 2);
	json_array_foreach(json_object_get(inventory, "pools"), i, p)
	{
		grid_add(&t, json_get_str(p, "name", NULL));
		grid_add(&t, json_get_str(p, "guid", NULL));
		grid_add(&t, units_size(json_get_int(p, "bytes", 0), size));
		grid_add(&t, json_get_str(p, "health", NULL));
	}
	if (t.n)
		buf_addc(out, '\n');
	grid_print(&t, color, out);
	grid_clear(&t);
}

static int get(struct ctl *c, const char *host, json_t **ret, struct err *e)
{
	struct msg_call call = {.verb = CALL_HOST_SHOW, .target = (char *)host};

	return connection_one(c, &call, ret, e);
}

static int show(struct ctl *c, const struct args *a, struct err *e)
{
	struct buf text = {0};
	const json_t *inventory;
	json_t *v;
	int r;

	if (get(c, a->v[0], &v, e))
		return -1;
	if (c->json)
		return ctl_out_json(v, e);
	inventory = json_object_get(v, "inventory");
	show_state(&text, v);
	if (json_is_object(inventory)) {
		show_machine(&text, v);
		list_line(&text, "capabilities", json_object_get(inventory, "capabilities"));
		show_disks(&text, inventory, c);
		show_pools(&text, inventory, c->color_out);
	}
	r = ctl_out_lines(c, &text, e);
	buf_free(&text);
	json_decref(v);
	return r;
}

/* "- serial:9XG4K7Q1   # 2.7 TiB  TOSHIBA DT01ACA300, sata, SAS2008, sdc: free" */
static void yaml_disk(const json_t *d, unsigned width, struct buf *out)
{
	static const char *const keys[] = {
		"model", "transport", "controller", "enclosure", "slot", "name"};
	const char *id = json_get_str(d, "id", NULL), *value, *between = " ";
	char *safe = print_safe_dup(id);
	char size[UNITS_LEN];
	const json_t *sig;
	size_t i;

	buf_addf(out, id ? "- %s" : "# %s", id ? safe : "no serial, no WWN");
	for (unsigned w = id ? utf8_width(safe) : 17; w < width; w++)
		buf_addc(out, ' ');
	buf_addf(out, "  # %9s ", units_size(json_get_int(d, "bytes", 0), size));
	for (i = 0; i < ARRAY_LEN(keys); i++) {
		value = json_get_str(d, keys[i], NULL);
		if (!value || !*value)
			continue;
		buf_adds(out, between);
		print_safe(value, out);
		between = ", ";
	}
	buf_adds(out, ": ");
	print_safe(disk_use(d), out);
	json_array_foreach(json_object_get(d, "signatures"), i, sig)
	{
		buf_adds(out, i ? ", " : "; holds ");
		print_safe(json_string_value(sig), out);
	}
	buf_addc(out, '\n');
	free(safe);
}

static int is_wanted(const json_t *d, const struct args *a)
{
	if (args_get(a, "allowed") && !json_get_bool(d, "allowed", 0))
		return 0;
	return !args_get(a, "free") || !json_get_str(d, "in_use", NULL);
}

static int disks(struct ctl *c, const struct args *a, struct err *e)
{
	struct buf out = {0};
	json_t *v, *all, *wanted = json_array(), *d;
	unsigned width = 17, w;
	char *safe;
	size_t i;
	int r = 0;

	if (get(c, a->v[0], &v, e)) {
		json_decref(wanted);
		return -1;
	}
	all = json_object_get(json_object_get(v, "inventory"), "disks");
	json_array_foreach(all, i, d) if (is_wanted(d, a)) json_array_append(wanted, d);
	if (c->json) {
		json_decref(v);
		return ctl_out_json(
			json_pack("{s:o,s:o}", "host", json_text(a->v[0]), "disks", wanted), e);
	}
	json_array_foreach(wanted, i, d)
	{
		safe = print_safe_dup(json_get_str(d, "id", ""));
		w = utf8_width(safe);
		width = w > width ? w : width;
		free(safe);
	}
	json_array_foreach(wanted, i, d) yaml_disk(d, width, &out);
	r = ctl_out(&out, e);
	if (!json_array_size(wanted))
		ctl_note(c, "%s: no such disks", a->v[0]);
	buf_free(&out);
	json_decref(wanted);
	json_decref(v);
	return r;
}

static const struct option_spec disks_options[] = {
	{"free", 'f', NULL, "only disks that nothing uses"},
	{"allowed", 'a', NULL, "only disks that the host's policy names"},
	{0},
};

const struct verb verb_host_show = {
	.name = "host show",
	.args = "HOST",
	.summary = "one host: state, machine, disks, pools",
	.help = "",
	.examples = "arraymark host show knew\n",
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = show,
};
const struct verb verb_host_disks = {
	.name = "host disks",
	.args = "HOST",
	.summary = "its disks' ids, ready to paste into a plan or policy",
	.help = "Each line is an item of a YAML list; what is known of the disk follows as a "
		"comment.\n",
	.examples = "arraymark host disks knew --free\n",
	.options = disks_options,
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = disks,
};
