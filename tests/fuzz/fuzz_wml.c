/*
 * Any text as a workload file: never a crash, a leak, or a program that breaks what the struct
 * promises. The first line, when it starts with '=', is a setting: =name value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static void use_ops(const struct wml_program *p, const struct wml_op *v, size_t n,
	struct wml_random *r)
{
	for (size_t i = 0; i < n; i++) {
		MUST(v[i].name && v[i].type && v[i].set < (int)p->n_sets);
		MUST(v[i].fd >= 0 && v[i].fd < WML_MAX_FDS && v[i].srcfd >= 0);
		MUST(wml_draw(&v[i].iosize, r) >= 0 && wml_draw(&v[i].value, r) >= 0);
		MUST(v[i].type->flow == FLOW_COMPOSITE || v[i].n_body == 0);
		use_ops(p, v[i].body, v[i].n_body, r);
	}
}

static void use(const struct wml_program *p)
{
	struct wml_random r;
	double all, made;

	wml_random_seed(&r, 1, 1);
	MUST(p->threads > 0 && p->threads <= WML_MAX_THREADS && p->n_groups > 0);
	for (size_t i = 0; i < p->n_sets; i++) {
		MUST(!strchr(p->sets[i].name, '/') && p->sets[i].name[0] != '.');
		MUST(p->sets[i].entries + p->sets[i].leaf_dirs > 0);
		MUST(wml_draw(&p->sets[i].size, &r) >= 0);
	}
	for (size_t i = 0; i < p->n_groups; i++)
		use_ops(p, p->groups[i].ops, p->groups[i].n_ops, &r);
	wml_space(p, &all, &made);
	MUST(made <= all);
	(void)wml_writes(p);
	(void)wml_syncs(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *line = size && *data == '=' ? memchr(data, '\n', size) : NULL;
	struct wml_setting setting = {0};
	struct wml_program *p = NULL;
	char *copy = NULL;
	struct err e = {0};

	if (line) {
		char *value;

		copy = xstrndup(text + 1, (size_t)(line - text - 1));
		value = strchr(copy, ' ');
		if (value)
			*value++ = '\0';
		setting = (struct wml_setting){copy, value ? value : ""};
		size -= (size_t)(line + 1 - text);
		text = line + 1;
	}
	if (wml_load("fuzz.f", text, size, &setting, line ? 1 : 0, &p, &e) == 0)
		use(p);
	else
		MUST(e.code != ERR_NONE && !p && !strchr(e.text, '\n'));
	wml_free(p);
	free(copy);
	return 0;
}
