/*
 * What MegaCli prints, of the years of the PERC H700 and H800: text, told by its headings. Owns nothing.
 * Invariant: what stands before the first heading of an adapter belongs to none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/controller/fields.h"
#include "agent/controller/readers.h"
#include "common/base/mem.h"
#include "common/measure/evidence.h"

#define NAME_LEN 64

/* Where we are in the text. */
struct place {
	struct raid_state *s;
	char adapter[NAME_LEN];     /* "a0"; "" before the first */
	const char *volume;          /* of s; NULL outside of one */
	int is_ongoing;              /* in the list of what a virtual drive does */
	int enclosure, slot;         /* of a physical drive; -1: not told */
	int battery_section, learning, missing, replace, low;
	char *battery;
};

static struct raid_volume *volume_of(struct place *p)
{
	return p->volume ? raid_volume(p->s, p->adapter, p->volume) : NULL;
}

static void battery_end(struct place *p)
{
	struct raid_controller *c;
	const char *text = p->battery;

	if (!p->battery_section)
		return;
	if (p->missing)
		text = "missing";
	else if (p->replace)
		text = "replacement required";
	else if (p->learning)
		text = "learning";
	else if (p->low)
		text = "low";
	else if (!text || strcmp(text, "operational") == 0)
		text = "optimal";
	c = raid_controller(p->s, p->adapter);
	free(c->battery);
	c->battery = xstrdup(text);
	free(p->battery);
	p->battery = NULL;
	p->battery_section = 0;
}

static void adapter_begin(struct place *p, int number, int is_battery)
{
	battery_end(p);
	snprintf(p->adapter, sizeof(p->adapter), "a%d", number);
	raid_controller(p->s, p->adapter);
	p->volume = NULL;
	p->is_ongoing = 0;
	p->enclosure = p->slot = -1;
	p->battery_section = is_battery;
	p->learning = p->missing = p->replace = p->low = 0;
}

/* "Adapter 0 -- Virtual Drive Information:", "Adapter #0", "Adapter 0: Patrol Read Information:",
 * "BBU status for Adapter: 0". */
static int read_heading(struct place *p, const struct field *f)
{
	int number = number_behind(f->key, "Adapter #");

	if (number < 0)
		number = number_behind(f->key, "Adapter ");
	if (number >= 0) {
		adapter_begin(p, number, 0);
		/* Also where it says why there is no battery. */
		if (f->value && strstr(f->value, "Get BBU Status Failed")) {
			struct raid_controller *c = raid_controller(p->s, p->adapter);

			free(c->battery);
			c->battery = xstrdup("none");
		}
		return 1;
	}
	number = f->value && field_is(f, "BBU status for Adapter") ? number_behind(f->value, "") : -1;
	if (number >= 0)
		adapter_begin(p, number, 1);
	return number >= 0;
}

/* "Virtual Drive: 1 (Target Id: 1)", cut at its first colon. */
static int read_volume_heading(struct place *p, const struct field *f)
{
	const char *target;
	struct raid_volume *v;
	char name[2 * NAME_LEN];
	int number = f->value ? number_behind(f->value, "") : -1;

	if (number < 0 || !*p->adapter ||
		(!field_is(f, "Virtual Drive") && !field_is(f, "Virtual Disk") &&
			!field_is(f, "CacheCade Virtual Drive")))
		return 0;
	snprintf(name, sizeof(name), "%s VD %d", p->adapter, number);
	v = raid_volume(p->s, p->adapter, name);
	target = strcasestr(f->value, "target id: ");
	v->target = target ? number_behind(target, "target id: ") : -1;
	p->volume = v->name;
	p->is_ongoing = 0;
	return 1;
}

/* "WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU" */
static void set_caches(struct raid_volume *v, const char *text, enum raid_setting write)
{
	const char *writes = str_starts(text, "WriteThrough")              ? WRITE_CACHE_THROUGH
			     : !str_starts(text, "WriteBack")              ? NULL
			     : strstr(text, "Write Cache OK if Bad BBU")   ? WRITE_CACHE_ALWAYS
									   : WRITE_CACHE_BACK;

	raid_set(v, write, writes);
	if (write != RAID_WRITE_CACHE)
		return;
	raid_set(v, RAID_READ_AHEAD,
		strstr(text, "ReadAheadNone")  ? "none"
		: strstr(text, "ReadAdaptive") ? "adaptive"
		: strstr(text, "ReadAhead")    ? "ahead"
					       : NULL);
	raid_set(v, RAID_READ_CACHE,
		strstr(text, ", Direct")   ? "direct"
		: strstr(text, ", Cached") ? "cached"
					   : NULL);
}

static void set_disk_cache(struct raid_volume *v, const char *text)
{
	int on = text_is_on(text);

	raid_set(v, RAID_DISK_CACHE, on >= 0 ? (on ? "on" : "off")
				     : strstr(text, "Default") ? "default" : NULL);
}

static void read_volume(struct place *p, const struct field *f)
{
	struct raid_volume *v = volume_of(p);
	char *text;

	if (!v || !f->value)
		return;
	text = lower(f->value);
	if (field_is(f, "State"))
		raid_set(v, RAID_STATE, text);
	else if (field_is(f, "Current Cache Policy"))
		set_caches(v, f->value, RAID_WRITE_CACHE);
	else if (field_is(f, "Default Cache Policy"))
		set_caches(v, f->value, RAID_WRITE_CACHE_SET);
	else if (field_is(f, "Disk Cache Policy"))
		set_disk_cache(v, f->value);
	else if (field_is(f, "Ongoing Progresses"))
		p->is_ongoing = 1;
	else if (p->is_ongoing && str_starts(text, "completed")) {
		char *what = lower(f->key);

		raid_running(p->s, "%s of %s", what, v->name);
		free(what);
	}
	free(text);
}

static void read_drive(struct place *p, const struct field *f)
{
	if (!f->value)
		return;
	if (field_is(f, "Enclosure Device ID"))
		p->enclosure = number_behind(f->value, "");
	else if (field_is(f, "Slot Number"))
		p->slot = number_behind(f->value, "");
	else if (field_is(f, "Firmware state") &&
		 (str_starts(f->value, "Rebuild") || str_starts(f->value, "Copyback")))
		raid_running(p->s, "%s of %s e%d s%d",
			str_starts(f->value, "Rebuild") ? "rebuild" : "copyback", p->adapter,
			p->enclosure, p->slot);
	else if (field_is(f, "Patrol Read State") && strncasecmp(f->value, "Active", 6) == 0)
		raid_running(p->s, "patrol read of %s", p->adapter);
}

static void read_battery(struct place *p, const struct field *f)
{
	if (!p->battery_section || !f->value)
		return;
	if (field_is(f, "Battery State") && *f->value) {
		free(p->battery);
		p->battery = lower(f->value);
	} else if (field_is(f, "Learn Cycle Active"))
		p->learning = text_is_on(f->value) == 1;
	else if (field_is(f, "Battery Pack Missing"))
		p->missing = text_is_on(f->value) == 1;
	else if (field_is(f, "Battery Replacement required"))
		p->replace = text_is_on(f->value) == 1;
	else if (field_is(f, "Remaining Capacity Low"))
		p->low = text_is_on(f->value) == 1;
}

/* "Exit Code: 0x00" is the last line; what failed says another number. A battery that is missing is
 * no failure. */
static int check_end(const struct field *f, const struct place *p, struct err *e)
{
	if (!field_is(f, "Exit Code") || !f->value || strtoul(f->value, NULL, 16) == 0 || *p->adapter)
		return 0;
	return err_set(e, ERR_INPUT, "MegaCli failed with exit code %s", f->value);
}

int megacli_read(const char *text, size_t len, struct raid_state *s, struct err *e)
{
	char *copy = xstrndup(text, len), *rest = copy;
	struct place p = {.s = s, .enclosure = -1, .slot = -1};
	struct field f;
	int rc = 0, is_complete = 0;

	while (field_next(&rest, &f)) {
		is_complete |= field_is(&f, "Exit Code");
		rc |= check_end(&f, &p, e);
		if (read_heading(&p, &f) || read_volume_heading(&p, &f))
			continue;
		read_volume(&p, &f);
		read_drive(&p, &f);
		read_battery(&p, &f);
	}
	battery_end(&p);
	free(copy);
	if (!rc && !is_complete)
		rc = err_set(e, ERR_INPUT, "what MegaCli said has no end ('Exit Code')");
	return rc;
}
