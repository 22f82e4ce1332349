/*
 * What a RAID controller says of itself: how the caches of its arrays are set, whether its battery is
 * well, and what it does in the background. Read by the vendors' own command-line tools, which never
 * change anything here. One reader a tool; values have one spelling whatever tool said them.
 */
#ifndef AGENT_CONTROLLER_CONTROLLER_H
#define AGENT_CONTROLLER_CONTROLLER_H

#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/err.h"

enum raid_setting {
	RAID_STATE,           /* "optimal", "degraded", …; of others their own word */
	RAID_WRITE_CACHE,     /* now: WRITE_CACHE_BACK and so on */
	RAID_WRITE_CACHE_SET, /* as configured, the same words */
	RAID_READ_AHEAD,      /* "none", "ahead", "adaptive" */
	RAID_READ_CACHE,      /* "direct" past the cache, or "cached" */
	RAID_DISK_CACHE,      /* the disks' own: "on", "off", "default" */
	RAID_BATTERY,         /* "optimal", "none", or the controller's own words in lower case */
	RAID_SETTINGS
};
/* As evidence calls them: SETTING_ARRAY_STATE and so on. */
extern const char *const raid_setting_names[RAID_SETTINGS];

/* One array as the host sees it: a virtual or logical drive. What was not told is NULL. */
struct raid_volume {
	char *name;       /* by its tool: "/c0/v239", "a0 VD 1", "slot 0 LD 1", "c1 LD 0" */
	char *controller; /* of raid_state.controllers, by name */
	char *naa;        /* lower-case hex digits */
	char *device;     /* "/dev/sdb" */
	int target;       /* its number on the SCSI bus of virtual drives; -1: not told */
	char *settings[RAID_SETTINGS];
};
struct raid_controller {
	char *name, *battery;
};
/* A tool that did not tell what it was asked. */
struct raid_failure {
	char *program; /* its path */
	char *why;     /* "gave no answer in 20 s", to go behind its name */
	int hung;      /* it ran into its deadline */
};
struct raid_state {
	struct raid_controller *controllers;
	size_t n_controllers;
	struct raid_volume *volumes;
	size_t n_volumes;
	struct raid_failure *failures;
	size_t n_failures;
	struct strv running; /* "rebuild of /c0/e32/s4", "degraded array /c0/v1" */
};
void raid_state_free(struct raid_state *s);

/* For the readers: the one of that name, added if need be. Valid until the next is added. */
struct raid_controller *raid_controller(struct raid_state *s, const char *name);
struct raid_volume *raid_volume(struct raid_state *s, const char *controller, const char *name);
/* Replaces. NULL is left alone. */
void raid_set(struct raid_volume *v, enum raid_setting which, const char *value);
/* One more that runs; the same twice is one. */
void raid_running(struct raid_state *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* To be called once, when all is read: batteries come to their volumes. */
void raid_state_settle(struct raid_state *s);

/* The volume behind a disk: by NAA or device name, else by target where just one volume has it. naa,
 * device may be NULL; target -1. NULL when there is none, or no telling. */
const struct raid_volume *raid_volume_find(
	const struct raid_state *s, const char *naa, const char *device, int target);

/* The same for a disk by its kernel name, whose NAA and number sysfs tells. */
const struct raid_volume *raid_volume_of(const struct raid_state *s, const char *kernel);

/* The first failure of each program counts, but that it hung counts most. why is copied. */
void raid_failed(struct raid_state *s, const char *program, const char *why, int hung);

/* Asks the tools that are installed, each vendor's once, but those that hung before (of known, whose
 * failures are told again). Where there is none, or no controller, n_controllers is 0. Tools that failed or
 * said what nobody can read are in failures; what the others said is there. Usually a second a tool; never
 * more than 42. */
void raid_ask(const struct raid_failure *known, size_t n_known, struct raid_state *ret);

#endif
