/*
 * What `ssacli ctrl all show config detail` prints, and hpssacli and hpacucli before it: blocks of
 * fields, told by how far they are indented. Owns nothing.
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

struct place {
	struct raid_state *s;
	char slot[NAME_LEN];    /* "slot 0"; "" before the first controller */
	char volume[2 * NAME_LEN];  /* "" outside of a logical drive */
	size_t indent;          /* of the logical drive's heading: its fields stand further in */
	int always, cache_off;  /* writes are cached without a battery; the cache is out of order */
	const char *disk_cache;
	size_t first;           /* of the controller's volumes */
};

/* "Smart Array P410i in Slot 0 (Embedded)" */
static int slot_of(const struct field *f)
{
	const char *in = f->indent == 0 && !f->value ? strstr(f->key, " in Slot ") : NULL;

	return in ? number_behind(in, " in Slot ") : -1;
}

/* What the controller says of its cache counts for all of its arrays. */
static void controller_end(struct place *p)
{
	for (size_t i = p->first; i < p->s->n_volumes; i++) {
		struct raid_volume *v = &p->s->volumes[i];
		const char *set = v->settings[RAID_WRITE_CACHE_SET];

		if (set && strcmp(set, WRITE_CACHE_BACK) == 0 && p->always)
			raid_set(v, RAID_WRITE_CACHE_SET, WRITE_CACHE_ALWAYS);
		raid_set(v, RAID_WRITE_CACHE,
			p->cache_off ? WRITE_CACHE_THROUGH : v->settings[RAID_WRITE_CACHE_SET]);
		raid_set(v, RAID_DISK_CACHE, p->disk_cache);
	}
}

static void controller_begin(struct place *p, int slot)
{
	struct raid_state *s = p->s;

	controller_end(p);
	*p = (struct place){.s = s, .first = s->n_volumes};
	snprintf(p->slot, sizeof(p->slot), "slot %d", slot);
	raid_controller(s, p->slot);
}

static void read_controller(struct place *p, const struct field *f)
{
	if (field_is(f, "Battery/Capacitor Status")) {
		struct raid_controller *c = raid_controller(p->s, p->slot);

		free(c->battery);
		c->battery = strcasecmp(f->value, "OK") == 0 ? xstrdup("optimal") : lower(f->value);
	} else if (field_is(f, "Battery/Capacitor Count") && strcmp(f->value, "0") == 0) {
		struct raid_controller *c = raid_controller(p->s, p->slot);

		free(c->battery);
		c->battery = xstrdup("none");
	} else if (field_is(f, "No-Battery Write Cache")) {
		p->always = text_is_on(f->value) == 1;
	} else if (field_is(f, "Cache Status")) {
		p->cache_off = strcasecmp(f->value, "OK") != 0;
	} else if (field_is(f, "Drive Write Cache") ||
		   field_is(f, "Configured Drive Write Cache Policy")) {
		int on = text_is_on(f->value);

		p->disk_cache = on < 0 ? "default" : on ? "on" : "off";
	}
}

/* "OK", "Recovering, 12% complete", "Interim Recovery Mode", … */
static void set_state(struct place *p, struct raid_volume *v, const char *text)
{
	char *state;
	size_t len = strcspn(text, ",(");

	if (strcasecmp(text, "OK") == 0) {
		raid_set(v, RAID_STATE, "optimal");
		return;
	}
	if (strncasecmp(text, "Interim Recovery", 16) == 0) {
		raid_set(v, RAID_STATE, "degraded");
		return;
	}
	state = lower(text);
	state[len] = 0;
	while (len > 0 && state[len - 1] == ' ')
		state[--len] = 0;
	raid_set(v, RAID_STATE, state);
	if (strcmp(state, "recovering") == 0)
		raid_running(p->s, "rebuild of %s", v->name);
	free(state);
}

static void read_volume(struct place *p, const struct field *f)
{
	struct raid_volume *v = raid_volume(p->s, p->slot, p->volume);

	if (field_is(f, "Status")) {
		set_state(p, v, f->value);
	} else if (field_is(f, "Caching") || field_is(f, "Array Accelerator")) {
		raid_set(v, RAID_WRITE_CACHE_SET,
			text_is_on(f->value) == 1 ? WRITE_CACHE_BACK : WRITE_CACHE_THROUGH);
	} else if (field_is(f, "Unique Identifier")) {
		free(v->naa);
		v->naa = lower(f->value);
	} else if (field_is(f, "Disk Name")) {
		free(v->device);
		v->device = str_starts(f->value, "/dev/") ? xstrdup(f->value) : NULL;
	} else if (field_is(f, "Parity Initialization Status") &&
		   strncasecmp(f->value, "In Progress", 11) == 0) {
		raid_running(p->s, "parity initialization of %s", v->name);
	}
}

static void read_field(struct place *p, const struct field *f)
{
	int number = f->value && field_is(f, "Logical Drive") ? number_behind(f->value, "") : -1;

	if (number >= 0) {
		snprintf(p->volume, sizeof(p->volume), "%s LD %d", p->slot, number);
		raid_volume(p->s, p->slot, p->volume);
		p->indent = f->indent;
		return;
	}
	if (f->indent <= p->indent)
		*p->volume = 0;
	if (!f->value)
		return;
	if (*p->volume)
		read_volume(p, f);
	else if (f->indent <= 3)
		read_controller(p, f);
}

int ssacli_read(const char *text, size_t len, struct raid_state *s, struct err *e)
{
	char *copy = xstrndup(text, len), *rest = copy;
	struct place p = {.s = s, .first = s->n_volumes};
	struct field f;
	int rc = 0, is_none = 0;

	while (!rc && field_next(&rest, &f)) {
		int slot = slot_of(&f);

		if (slot >= 0)
			controller_begin(&p, slot);
		else if (*p.slot)
			read_field(&p, &f);
		else if (field_is(&f, "Error") && strstr(f.value ? f.value : "", "No controllers"))
			is_none = 1;
		else if (field_is(&f, "Error"))
			rc = err_set(e, ERR_INPUT, "ssacli: %s", f.value ? f.value : "an error");
	}
	if (!rc && !*p.slot && !is_none)
		rc = err_set(e, ERR_INPUT, "ssacli names no controller, and does not say that there is none");
	controller_end(&p);
	free(copy);
	return rc;
}
