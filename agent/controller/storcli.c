/*
 * What storcli and perccli print with J, of both generations (007: keys "/c0/v1" and "PDs for VD 1";
 * 008: lists of "VD Info" and "VD Properties"). Owns nothing. Invariant: a value of another type than
 * expected counts as not told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/controller/fields.h"
#include "agent/controller/readers.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/measure/evidence.h"

#define TEXT_MAX (8 * 1024 * 1024)
#define NAME_LEN 32

struct meaning {
	const char *word, *means;
};

static const char *meaning_of(const struct meaning *m, size_t n, const char *word)
{
	for (size_t i = 0; word && i < n; i++)
		if (strcasecmp(m[i].word, word) == 0)
			return m[i].means;
	return NULL;
}

static const struct meaning states[] = {{"Optl", "optimal"}, {"Dgrd", "degraded"},
	{"Pdgd", "partially degraded"}, {"OfLn", "offline"}, {"Rec", "recovering"}};

static void set_state(struct raid_volume *v, const char *state)
{
	const char *known = meaning_of(states, ARRAY_LEN(states), state);

	if (state && *state)
		raid_set(v, RAID_STATE, known ? known : state);
}

/* "RWBD", "NRAWBD", "RaWTC" of the first generation, "NR,WB" of the second. */
static void set_caches(struct raid_volume *v, const char *cache)
{
	static const struct meaning reads[] = {
		{"NR", "none"}, {"RA", "adaptive"}, {"R", "ahead"}};
	static const struct meaning writes[] = {
		{"AWB", WRITE_CACHE_ALWAYS}, {"WB", WRITE_CACHE_BACK}, {"WT", WRITE_CACHE_THROUGH}};
	size_t n_reads = ARRAY_LEN(reads);

	if (!cache)
		return;
	for (size_t i = 0; i < n_reads; i++) {
		size_t len = strlen(reads[i].word);

		/* "RAWB" is read-ahead with AWB; adaptive is "Ra", with a small letter. */
		if (strncasecmp(cache, reads[i].word, len) != 0 ||
			(i == 1 && cache[1] != 'a'))
			continue;
		raid_set(v, RAID_READ_AHEAD, reads[i].means);
		cache += len + (cache[len] == ',');
		break;
	}
	for (size_t i = 0; i < ARRAY_LEN(writes); i++) {
		size_t len = strlen(writes[i].word);

		if (strncmp(cache, writes[i].word, len) != 0)
			continue;
		raid_set(v, RAID_WRITE_CACHE, writes[i].means);
		cache += len;
		break;
	}
	if (*cache == 'D' || *cache == 'C')
		raid_set(v, RAID_READ_CACHE, *cache == 'D' ? "direct" : "cached");
}

static void set_configured(struct raid_volume *v, const char *text)
{
	static const struct meaning words[] = {{"WriteBack", WRITE_CACHE_BACK},
		{"WriteThrough", WRITE_CACHE_THROUGH}, {"AlwaysWriteBack", WRITE_CACHE_ALWAYS},
		{"Always WriteBack", WRITE_CACHE_ALWAYS}, {"WB", WRITE_CACHE_BACK},
		{"WT", WRITE_CACHE_THROUGH}, {"AWB", WRITE_CACHE_ALWAYS}};

	raid_set(v, RAID_WRITE_CACHE_SET, meaning_of(words, ARRAY_LEN(words), text));
}

static void set_disk_cache(struct raid_volume *v, const char *text)
{
	int on = text ? text_is_on(text) : -1;

	if (on >= 0)
		raid_set(v, RAID_DISK_CACHE, on ? "on" : "off");
	else if (text && (strstr(text, "Default") || strstr(text, "default")))
		raid_set(v, RAID_DISK_CACHE, "default");
}

static char *naa_text(const char *naa)
{
	size_t len = naa ? strlen(naa) : 0;

	return (len == 32 || len == 16) && strspn(naa, "0123456789abcdefABCDEF") == len ? lower(naa)
											: NULL;
}

/* "Background Initialization (12%)" of /c0/v1 -> "background initialization of /c0/v1". */
static void add_running(struct raid_state *s, const char *what, const char *where)
{
	char *text = lower(what);
	size_t len = strcspn(text, "(:");

	while (len > 0 && text[len - 1] == ' ')
		len--;
	raid_running(s, "%.*s of %s", (int)len, text, where);
	free(text);
}

static void read_properties(struct raid_state *s, struct raid_volume *v, const json_t *o)
{
	const char *active = json_get_str(o, "Active Operations", "None");
	const char *init = json_get_str(o, "Init State", "No Init");
	char *naa = naa_text(json_get_str(o, "SCSI NAA Id", NULL));

	if (naa) {
		free(v->naa);
		v->naa = naa;
	}
	if (!v->device)
		v->device = xstrdup(json_get_str(o, "OS Drive Name", NULL));
	set_configured(v, json_get_str(o, "Write Cache(initial setting)", NULL));
	set_disk_cache(v, json_get_str(o, "Disk Cache Policy", NULL));
	set_disk_cache(v, json_get_str(o, "Drive Write Cache Policy", NULL));
	if (strcasecmp(active, "None") != 0 && *active)
		add_running(s, active, v->name);
	if (strcasecmp(init, "No Init") != 0 && *init)
		add_running(s, "initialisation", v->name);
}

/* A row of a list of virtual drives; NULL where it is none. */
static struct raid_volume *read_row(struct raid_state *s, const char *controller, const json_t *row)
{
	const char *id = json_get_str(row, "DG/VD", NULL);
	const char *slash = id ? strchr(id, '/') : NULL;
	int number = slash ? number_behind(slash, "/") : -1;
	struct raid_volume *v;
	char *name;

	if (number < 0)
		return NULL;
	name = xasprintf("%s/v%d", controller, number);
	v = raid_volume(s, controller, name);
	free(name);
	set_state(v, json_get_str(row, "State", NULL));
	set_caches(v, json_get_str(row, "Cache", NULL));
	set_caches(v, json_get_str(row, "CurrentCache", NULL));
	if (json_get_str(row, "DefaultCache", NULL)) {
		const char *comma = strchr(json_get_str(row, "DefaultCache", ""), ',');

		set_configured(v, comma ? comma + 1 : NULL);
	}
	return v;
}

/* Rows of physical drives that are being rebuilt or copied. */
static void read_drives(struct raid_state *s, const char *controller, const json_t *rows)
{
	static const struct meaning work[] = {{"Rbld", "rebuild"}, {"Cpybck", "copyback"},
		{"Rebuild", "rebuild"}, {"CopyBack", "copyback"}};
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *slot = json_get_str(row, "EID:Slt", " ");
		const char *what = meaning_of(
			work, ARRAY_LEN(work), json_get_str(row, "State", NULL));
		const char *colon = strchr(slot, ':');

		if (!what)
			what = meaning_of(work, ARRAY_LEN(work), json_get_str(row, "Status", NULL));
		if (!what)
			continue;
		if (colon && colon > slot && *slot != ' ')
			raid_running(s, "%s of %s/e%.*s/s%s", what, controller,
				(int)(colon - slot), slot, colon + 1);
		else
			raid_running(s, "%s of %s/s%s", what, controller,
				colon ? colon + 1 : slot);
	}
}

static void set_battery(struct raid_controller *c, const char *text)
{
	free(c->battery);
	c->battery = lower(strcasecmp(text, "Absent") == 0 || strcasecmp(text, "No") == 0 ? "none"
											  : text);
}

static void read_battery(struct raid_state *s, const char *controller, const json_t *data)
{
	static const char *const lists[] = {"BBU_Info", "Cachevault_Info", "Energy Pack Info"};
	const json_t *hardware = json_object_get(data, "HwCfg");
	const char *there = json_get_str(hardware, "BBU", NULL);
	struct raid_controller *c = raid_controller(s, controller);

	if (there && strcasecmp(there, "Absent") == 0)
		set_battery(c, there);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const json_t *row = json_array_get(json_object_get(data, lists[i]), 0);
		const char *state = json_get_str(row, "State", json_get_str(row, "Status", NULL));

		if (state)
			set_battery(c, state);
	}
}

/* `show patrolread`: rows of a property and its value. */
static void read_patrol(struct raid_state *s, const char *controller, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *name = json_get_str(row, "Ctrl_Prop", "");

		if (strcasecmp(name, "PR Current State") == 0 &&
			strncasecmp(json_get_str(row, "Value", ""), "Active", 6) == 0)
			raid_running(s, "patrol read of %s", controller);
	}
}

/* Keys that hold a number: "/c0/v1", "PDs for VD 1", "VD1 Properties". */
static void read_numbered(
	struct raid_state *s, const char *controller, const char *key, const json_t *value)
{
	int vd = number_behind(key, "VD");
	char name[4 * NAME_LEN];

	if (str_starts(key, controller) && str_starts(key + strlen(controller), "/v")) {
		read_row(s, controller, json_array_get(value, 0));
	} else if (str_starts(key, "PDs for VD ")) {
		read_drives(s, controller, value);
	} else if (vd >= 0 && str_ends(key, " Properties")) {
		snprintf(name, sizeof(name), "%s/v%d", controller, vd);
		read_properties(s, raid_volume(s, controller, name), value);
	}
}

static void read_second(struct raid_state *s, const char *controller, const json_t *drives)
{
	const json_t *o;
	size_t i;

	json_array_foreach(drives, i, o)
	{
		struct raid_volume *v = read_row(s, controller, json_object_get(o, "VD Info"));

		if (v)
			read_properties(s, v, json_object_get(o, "VD Properties"));
		read_drives(s, controller, json_object_get(o, "PDs"));
	}
}

static void read_data(struct raid_state *s, const char *controller, const json_t *data)
{
	const json_t *value, *row;
	const char *key;
	size_t i;

	read_battery(s, controller, data);
	json_object_foreach((json_t *)(uintptr_t)data, key, value)
		read_numbered(s, controller, key, value);
	json_array_foreach(json_object_get(data, "VD LIST"), i, row)
		read_row(s, controller, row);
	read_drives(s, controller, json_object_get(data, "PD LIST"));
	read_second(s, controller, json_object_get(data, "Virtual Drives"));
	read_patrol(s, controller, json_object_get(data, "Controller Properties"));
}

/* The controller's number is 0 or "0"; a failure without one is of no controller. */
static int read_controller(struct raid_state *s, const json_t *o, struct err *e)
{
	const json_t *status = json_object_get(o, "Command Status");
	const json_t *data = json_object_get(o, "Response Data");
	const char *text = json_get_str(status, "Controller", NULL);
	int64_t number = json_get_int(status, "Controller", -1);
	char name[NAME_LEN];

	if (text)
		number = number_behind(text, "");
	if (!json_is_object(status))
		return err_set(e, ERR_INPUT, "no 'Command Status' in what the controller's tool said");
	if (number < 0 || number > 1000)
		return 0;
	snprintf(name, sizeof(name), "/c%lld", (long long)number);
	if (json_is_object(data))
		read_data(s, name, data);
	else if (strcmp(json_get_str(status, "Status", ""), "Success") != 0 &&
		 !strstr(json_get_str(status, "Description", ""), "No VD") &&
		 !strstr(json_get_str(status, "Description", ""), "not found"))
		return err_set(e, ERR_INPUT, "controller %s: %s", name,
			json_get_str(status, "Description", "failed without a word"));
	return 0;
}

int storcli_read(const char *text, size_t len, struct raid_state *s, struct err *e)
{
	const json_t *controllers, *o;
	json_t *root;
	int rc = 0;
	size_t i;

	if (json_parse("the controller's tool", text, len, TEXT_MAX, &root, e))
		return -1;
	controllers = json_object_get(root, "Controllers");
	if (!json_is_array(controllers))
		rc = err_set(e, ERR_INPUT, "no 'Controllers' in what the controller's tool said");
	json_array_foreach(controllers, i, o)
	{
		if (read_controller(s, o, e))
			rc = -1;
	}
	json_decref(root);
	return rc;
}
