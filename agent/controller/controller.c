/*
 * The state of RAID controllers as a list of arrays. Owns its strings. Invariant: each volume's
 * controller is in the list of controllers.
 */
#include "agent/controller/controller.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/measure/evidence.h"

#define WORD_MAX 128    /* bytes of a setting or of what runs; longer ones are cut */
#define RUNNING_MAX 256

const char *const raid_setting_names[RAID_SETTINGS] = {SETTING_ARRAY_STATE, SETTING_WRITE_CACHE,
	SETTING_WRITE_CACHE_SET, SETTING_READ_AHEAD, SETTING_READ_CACHE, SETTING_DISK_CACHE,
	SETTING_BATTERY};

static void volume_clear(struct raid_volume *v)
{
	free(v->name);
	free(v->controller);
	free(v->naa);
	free(v->device);
	for (size_t i = 0; i < RAID_SETTINGS; i++)
		free(v->settings[i]);
}

void raid_state_free(struct raid_state *s)
{
	for (size_t i = 0; i < s->n_controllers; i++) {
		free(s->controllers[i].name);
		free(s->controllers[i].battery);
	}
	for (size_t i = 0; i < s->n_volumes; i++)
		volume_clear(&s->volumes[i]);
	for (size_t i = 0; i < s->n_failures; i++) {
		free(s->failures[i].program);
		free(s->failures[i].why);
	}
	free(s->controllers);
	free(s->volumes);
	free(s->failures);
	strv_free(&s->running);
	*s = (struct raid_state){0};
}

static struct raid_controller *controller_find(const struct raid_state *s, const char *name)
{
	for (size_t i = 0; i < s->n_controllers; i++)
		if (strcmp(s->controllers[i].name, name) == 0)
			return &s->controllers[i];
	return NULL;
}

struct raid_controller *raid_controller(struct raid_state *s, const char *name)
{
	struct raid_controller *c = controller_find(s, name);

	if (c)
		return c;
	s->controllers =
		xreallocarray(s->controllers, s->n_controllers + 1, sizeof(*s->controllers));
	c = &s->controllers[s->n_controllers++];
	*c = (struct raid_controller){.name = xstrdup(name)};
	return c;
}

struct raid_volume *raid_volume(struct raid_state *s, const char *controller, const char *name)
{
	struct raid_volume *v;

	for (size_t i = 0; i < s->n_volumes; i++)
		if (strcmp(s->volumes[i].name, name) == 0)
			return &s->volumes[i];
	raid_controller(s, controller);
	s->volumes = xreallocarray(s->volumes, s->n_volumes + 1, sizeof(*s->volumes));
	v = &s->volumes[s->n_volumes++];
	*v = (struct raid_volume){
		.name = xstrdup(name), .controller = xstrdup(controller), .target = -1};
	return v;
}

void raid_set(struct raid_volume *v, enum raid_setting which, const char *value)
{
	if (!value)
		return;
	free(v->settings[which]);
	v->settings[which] = xstrndup(value, WORD_MAX);
}

void raid_running(struct raid_state *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (strlen(text) > WORD_MAX)
		text[WORD_MAX] = 0;
	if (s->running.n < RUNNING_MAX && !strv_has(&s->running, text))
		strv_add(&s->running, text);
	free(text);
}

static struct raid_failure *failure_of(struct raid_state *s, const char *program)
{
	for (size_t i = 0; i < s->n_failures; i++)
		if (strcmp(s->failures[i].program, program) == 0)
			return &s->failures[i];
	s->failures = xreallocarray(s->failures, s->n_failures + 1, sizeof(*s->failures));
	s->failures[s->n_failures] = (struct raid_failure){.program = xstrdup(program)};
	return &s->failures[s->n_failures++];
}

void raid_failed(struct raid_state *s, const char *program, const char *why, int hung)
{
	struct raid_failure *f = failure_of(s, program);

	if (f->why && (f->hung || !hung))
		return;
	free(f->why);
	f->why = xstrndup(why, WORD_MAX);
	f->hung = hung;
}

void raid_state_settle(struct raid_state *s)
{
	for (size_t i = 0; i < s->n_volumes; i++) {
		struct raid_volume *v = &s->volumes[i];
		const char *state = v->settings[RAID_STATE];

		raid_set(v, RAID_BATTERY, controller_find(s, v->controller)->battery);
		if (state && strcmp(state, "optimal") != 0)
			raid_running(s, "%s array %s", state, v->name);
	}
}

const struct raid_volume *raid_volume_find(
	const struct raid_state *s, const char *naa, const char *device, int target)
{
	const struct raid_volume *found = NULL;

	for (size_t i = 0; i < s->n_volumes; i++) {
		const struct raid_volume *v = &s->volumes[i];

		if (naa && v->naa)
			if (strcmp(naa, v->naa) == 0)
				return v;
		if (device && v->device && strcmp(device, v->device) == 0)
			return v;
	}
	for (size_t i = 0; target >= 0 && i < s->n_volumes; i++) {
		const struct raid_volume *v = &s->volumes[i];

		if (v->target != target || v->naa || v->device)
			continue;
		if (found)
			return NULL;
		found = v;
	}
	return found;
}
