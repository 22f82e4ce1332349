/*
 * What `arcconf GETCONFIG n` and `arcconf GETSTATUS n` print: fields below headings between rules of
 * dashes. Owns nothing.
 */
#include <ctype.h>
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
	char controller[NAME_LEN], volume[2 * NAME_LEN];
	int in_battery, in_task;
	char *operation;  /* of the task */
	int device;       /* its logical device; -1: not told */
};

static void set_battery(struct place *p, const char *text)
{
	struct raid_controller *c = raid_controller(p->s, p->controller);
	const char *status = str_starts(text, "ZMM ") ? text + 4 : text;

	free(c->battery);
	if (strncasecmp(status, "Not ", 4) == 0)
		c->battery = xstrdup("none");
	else if (strcasecmp(status, "Ready") == 0 || strcasecmp(status, "Ok") == 0)
		c->battery = xstrdup("optimal");
	else
		c->battery = lower(status);
}

/* "Optimal", "Degraded", "Impacted ( Build/Verify with fix : 90 % )": the colon has cut the last. */
static void set_state(struct place *p, struct raid_volume *v, const char *text)
{
	const char *open = strchr(text, '('), *end;
	char *state = lower(text), *what;
	size_t len = strcspn(state, "(");

	while (len > 0 && state[len - 1] == ' ')
		len--;
	state[len] = 0;
	raid_set(v, RAID_STATE, state);
	free(state);
	if (!open)
		return;
	what = lower(open + 1 + strspn(open + 1, " "));
	end = what + strcspn(what, ":)");
	while (end > what && end[-1] == ' ')
		end--;
	if (end > what)
		raid_running(p->s, "%.*s of %s", (int)(end - what), what, v->name);
	free(what);
}

/* What counts is the status; what is set says whether a battery is wanted for it. */
static void set_write_cache(struct raid_volume *v, const struct field *f)
{
	int on = text_is_on(f->value), guarded = strstr(f->value, "when protected") != NULL;
	const char *now;

	if (field_is(f, "Write-cache status")) {
		now = v->settings[RAID_WRITE_CACHE_SET];
		raid_set(v, RAID_WRITE_CACHE,
			on < 0   ? NULL
			: !on    ? WRITE_CACHE_THROUGH
			: now && strcmp(now, WRITE_CACHE_THROUGH) != 0 ? now : WRITE_CACHE_BACK);
		return;
	}
	raid_set(v, RAID_WRITE_CACHE_SET,
		on < 0      ? NULL
		: !on       ? WRITE_CACHE_THROUGH
		: guarded   ? WRITE_CACHE_BACK
			    : WRITE_CACHE_ALWAYS);
	if (!v->settings[RAID_WRITE_CACHE] && field_is(f, "Write-cache mode"))
		raid_set(v, RAID_WRITE_CACHE, v->settings[RAID_WRITE_CACHE_SET]);
}

static void read_volume(struct place *p, const struct field *f)
{
	struct raid_volume *v = raid_volume(p->s, p->controller, p->volume);

	if (field_is(f, "Status of Logical Device") || field_is(f, "Status of logical drive")) {
		set_state(p, v, f->value);
	} else if (field_is(f, "Write-cache setting") || field_is(f, "Write-cache mode") ||
		   field_is(f, "Write-cache status")) {
		set_write_cache(v, f);
	} else if (field_is(f, "Disk Name") && str_starts(f->value, "/dev/")) {
		free(v->device);
		v->device = xstrndup(f->value, strcspn(f->value, " ("));
	}
}

static void task_end(struct place *p)
{
	if (p->operation && strcasecmp(p->operation, "None") != 0) {
		char *what = lower(p->operation);

		if (p->device >= 0)
			raid_running(p->s, "%s of %s LD %d", what, p->controller, p->device);
		else
			raid_running(p->s, "%s of %s", what, p->controller);
		free(what);
	}
	free(p->operation);
	p->operation = NULL;
	p->device = -1;
}

static void read_task(struct place *p, const struct field *f)
{
	if (field_is(f, "Current operation")) {
		free(p->operation);
		p->operation = xstrdup(f->value);
	} else if (field_is(f, "Logical Device") && isdigit((unsigned char)*f->value)) {
		p->device = number_behind(f->value, "");
	}
}

/* Lines without a colon: headings, "Logical Device number 0", rules of dashes. */
static void read_heading(struct place *p, const struct field *f)
{
	int number = number_behind(f->key, "Logical Device number ");

	if (*f->key == '-')
		return;
	*p->volume = 0;
	if (number >= 0) {
		snprintf(p->volume, sizeof(p->volume), "%s LD %d", p->controller, number);
		raid_volume(p->s, p->controller, p->volume);
	}
	p->in_battery = strstr(f->key, "Battery Information") || strstr(f->key, "Backup Unit");
}

static void read_field(struct place *p, const struct field *f)
{
	if (!f->value) {
		read_heading(p, f);
		return;
	}
	if (strcasecmp(f->key, "Logical Device Task") == 0 || str_ends(f->key, " Task")) {
		task_end(p);
		return;
	}
	if (p->in_battery &&
		(field_is(f, "Status") || field_is(f, "Overall Backup Unit Status")))
		set_battery(p, f->value);
	else if (*p->volume)
		read_volume(p, f);
	else
		read_task(p, f);
}

int arcconf_read(
	const char *text, size_t len, unsigned controller, struct raid_state *s, struct err *e)
{
	char *copy = xstrndup(text, len), *rest = copy;
	struct place p = {.s = s, .device = -1};
	struct field f;
	int found = -1, is_complete = 0;

	snprintf(p.controller, sizeof(p.controller), "c%u", controller);
	while (field_next(&rest, &f)) {
		if (field_is(&f, "Controllers found"))
			found = f.value ? number_behind(f.value, "") : -1;
		is_complete |= str_starts(f.key, "Command completed successfully");
		if (found > 0 && controller <= (unsigned)found) {
			raid_controller(s, p.controller);
			read_field(&p, &f);
		}
	}
	task_end(&p);
	free(copy);
	if (found < 0 || (found > 0 && controller <= (unsigned)found && !is_complete))
		return err_set(e, ERR_INPUT, "what arcconf said has no %s",
			found < 0 ? "'Controllers found'" : "'Command completed successfully'");
	return 0;
}
