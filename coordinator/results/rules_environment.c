/*
 * Rules V13 and V29: what is compared was measured in different environments; hosts that are none of
 * their own. Owns nothing beyond a call.
 * Invariant: only what changes a result is looked at: programs, machine, settings; not names.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

static const struct {
	const char *key, *name;
} fields[] = {
	{"os", "operating system"},
	{"kernel", "kernel"},
	{"zfs", "ZFS"},
	{"arch", "architecture"},
	{"cpu", "CPU"},
	{"cpus", "number of CPUs"},
	{"governor", "CPU governor"},
	{"zfs_parameters", "ZFS parameters"},
	{"agent_version", "arraymark"},
};

const char *rule_environment_name(size_t field)
{
	return field < ARRAY_LEN(fields) ? fields[field].name : NULL;
}

char *rule_environment_text(const json_t *inventory, size_t field)
{
	const json_t *v = json_object_get(inventory, fields[field].key);

	if (!v || json_is_null(v))
		return NULL;
	if (json_is_string(v))
		return xstrdup(json_string_value(v));
	return json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

static void differs(const struct rule_input *in, enum severity severity, const char *name,
	const char *a_host, const char *a, const char *b_host, const char *b)
{
	finding_add(in, severity, NULL, NULL, NULL,
		json_pack("{ss ss ss ss ss}", "what", name, "host", a_host, "value", a, "other_host",
			b_host, "other_value", b),
		"%s: %s on %s, %s on %s", name, a, a_host, b, b_host);
}

/* The first host that differs from the first that tells. What none tells, none has: a CPU governor, ZFS. */
static void check_field(const struct rule_input *in, enum severity severity, size_t field)
{
	char *first = NULL;
	const char *first_host = NULL;
	int found = 0, silent = 0;

	for (size_t i = 0; i < in->run->n_hosts; i++) {
		const char *host = in->run->hosts[i];
		char *v = rule_environment_text(rule_inventory(in, host), field);
		int now = v && first && strcmp(v, first) != 0;

		silent |= !v;
		if (now && !found++)
			differs(in, severity, fields[field].name, first_host, first, host, v);
		if (v && !first) {
			first = v;
			first_host = host;
		} else {
			free(v);
		}
	}
	if (first && silent)
		finding_unknown(in, "not told by every host: %s", fields[field].name);
	free(first);
}

static void check_memory(const struct rule_input *in, enum severity severity)
{
	const char *least_host = NULL, *most_host = NULL;
	double least = 0, most = 0;
	int silent = 0;

	for (size_t i = 0; i < in->run->n_hosts; i++) {
		double ram = json_get_num(rule_inventory(in, in->run->hosts[i]), "ram_bytes", 0);

		if (!(ram > 0)) {
			silent = 1;
			continue;
		}
		if (!least_host || ram < least) {
			least = ram;
			least_host = in->run->hosts[i];
		}
		if (!most_host || ram > most) {
			most = ram;
			most_host = in->run->hosts[i];
		}
	}
	if (least_host && silent)
		finding_unknown(in, "not told by every host: memory");
	if (least_host && most - least > RULE_RAM_DIFFERS * most)
		finding_add(in, severity, NULL, NULL, NULL,
			json_pack("{ss sf ss sf}", "host", least_host, "ram_bytes", least,
				"other_host", most_host, "other_ram_bytes", most),
			"memory: %.0f GiB on %s, %.0f GiB on %s", least / (1 << 30), least_host,
			most / (1 << 30), most_host);
}

int rule_compares_hosts(const struct rule_input *in)
{
	const struct result_wish *w = in->run->wish;

	if (w && w->by != BY_PLAN)
		return w->by == BY_HOST;
	return in->run->plan && in->run->plan->by && strcmp(in->run->plan->by, "host") == 0;
}

void rule_environments(const struct rule_input *in)
{
	enum severity severity = rule_compares_hosts(in) ? SEVERITY_WARNING : SEVERITY_NOTE;
	size_t told = 0;

	rule_inputs_differ(in);
	rule_disks_unlike(in);
	if (in->run->run->n_sources)
		rule_sources_differ(in);
	for (size_t i = 0; i < in->run->n_hosts; i++)
		told += rule_inventory(in, in->run->hosts[i]) != NULL;
	if (told < in->run->n_hosts || in->run->n_hosts == 0)
		finding_unknown(in, "no description of every host");
	if (told < 2)
		return;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		check_field(in, severity, i);
	check_memory(in, severity);
}

/* Agents under one kernel share its disks, memory and CPUs: they are no replicates of each other. */
void rule_one_machine(const struct rule_input *in)
{
	const char *const *hosts = in->run->hosts;
	size_t told = 0, n = in->run->n_hosts;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		const char *id = json_get_str(rule_inventory(in, hosts[i]), "boot_id", "");

		told += *id != '\0';
		for (size_t k = 0; k < i && *id; k++) {
			if (strcmp(json_get_str(rule_inventory(in, hosts[k]), "boot_id", ""), id) != 0)
				continue;
			finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
				json_pack("{ss ss}", "host", hosts[i], "other_host", hosts[k]),
				"%s is on the same machine as %s: not a host of its own", hosts[i],
				hosts[k]);
			break;
		}
	}
	if (told < n)
		finding_unknown(in, "no description of every host");
}
