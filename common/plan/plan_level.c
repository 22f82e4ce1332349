/* Redundancy levels: their words, the draid arithmetic, and how many disks each wants. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"

#define VDEV_MAX_CHILDREN 255
#define DRAID_MAX_SPARES 100
#define DRAID_DEFAULT_DATA 8

static const struct word level_words[] = {
	{"raidz1", LEVEL_RAIDZ1, NULL},
	{"raidz2", LEVEL_RAIDZ2, NULL},
	{"raidz3", LEVEL_RAIDZ3, NULL},
	{"draid…", LEVEL_DRAID, NULL},
	{"mirror", LEVEL_MIRROR, NULL},
	{"stripe", LEVEL_STRIPE, NULL},
};

/* "8d" -> the field for 'd'. Each at most once. */
static int draid_part(struct vdev_group *g, const char *s, size_t len)
{
	char number[8];
	struct err e;
	int64_t v;
	unsigned *field = NULL;

	if (len < 2 || len > sizeof(number))
		return -1;
	if (s[len - 1] == 'd')
		field = &g->draid_data;
	else if (s[len - 1] == 'c')
		field = &g->draid_children;
	else if (s[len - 1] == 's')
		field = &g->draid_spares;
	memcpy(number, s, len - 1);
	number[len - 1] = '\0';
	if (!field || *field || strspn(number, "0123456789") != len - 1 ||
		units_parse_int(number, s[len - 1] == 's' ? 0 : 1, VDEV_MAX_CHILDREN, &v, &e))
		return -1;
	*field = (unsigned)v;
	return 0;
}

/* draid[1-3][:<n>d][:<n>c][:<n>s] */
static int draid_parse(struct vdev_group *g, const char *s)
{
	const char *p = s + strlen("draid");

	g->draid_parity = 1;
	if (*p >= '1' && *p <= '3')
		g->draid_parity = (unsigned)(*p++ - '0');
	while (*p == ':') {
		size_t len = strcspn(++p, ":");

		if (draid_part(g, p, len))
			return -1;
		p += len;
	}
	return *p ? -1 : 0;
}

void read_level(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	static const struct word_list list = WORD_LIST("a level", level_words);
	struct vdev_group *g = field;
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	int level;

	(void)arg;
	if (!s)
		return;
	free(g->level_text);
	g->level_text = xstrdup(s);
	if (str_starts(s, "draid")) {
		g->level = LEVEL_DRAID;
		if (draid_parse(g, s))
			read_error(r, n, path,
				"'%s' is not a draid level: write draid2:8d:24c:2s, with parity 1 "
				"to "
				"3, data disks per group, all disks, distributed spares",
				shown(s, text));
		return;
	}
	level = !strcmp(s, "raidz") ? LEVEL_RAIDZ1 : -1; /* zpool's other name for it */
	if (level < 0)
		read_word(r, n, path, &level, &list);
	if (level < 0)
		return;
	g->level = (enum pool_level)level;
	free(g->level_text);
	g->level_text = xstrdup(level == LEVEL_STRIPE ? "" : pool_level_name(g->level));
}

unsigned draid_data_disks(const struct vdev_group *g, unsigned n)
{
	unsigned others = g->draid_spares + g->draid_parity;
	unsigned rest = n > others ? n - others : 0;

	if (g->draid_data)
		return g->draid_data;
	return rest < DRAID_DEFAULT_DATA ? rest : DRAID_DEFAULT_DATA;
}

static int draid_check(const struct vdev_group *g, unsigned n, struct err *e)
{
	unsigned data = draid_data_disks(g, n);
	unsigned need = data + g->draid_parity + g->draid_spares;

	if (g->draid_children && g->draid_children != n)
		return err_set(e, ERR_INPUT, "%s is made for %u disks, has %u", g->level_text,
			g->draid_children, n);
	if (g->draid_spares > DRAID_MAX_SPARES)
		return err_set(e, ERR_INPUT, "%s: at most %d distributed spares", g->level_text,
			DRAID_MAX_SPARES);
	if (data == 0 || need > n)
		return err_set(e, ERR_INPUT,
			"%s wants at least %u disks (%u data + %u parity + %u spare), has %u",
			g->level_text, data ? need : need + 1, data ? data : 1, g->draid_parity,
			g->draid_spares, n);
	return 0;
}

int vdev_group_check(const struct vdev_group *g, unsigned n, struct err *e)
{
	static const unsigned least[] = {[LEVEL_STRIPE] = 1,
		[LEVEL_MIRROR] = 2,
		[LEVEL_RAIDZ1] = 2,
		[LEVEL_RAIDZ2] = 3,
		[LEVEL_RAIDZ3] = 4,
		[LEVEL_DRAID] = 2};

	if (n < least[g->level])
		return err_set(e, ERR_INPUT, "%s wants at least %u disks, has %u",
			pool_level_name(g->level), least[g->level], n);
	if (g->level != LEVEL_STRIPE && n > VDEV_MAX_CHILDREN)
		return err_set(e, ERR_INPUT, "%s takes at most %d disks, has %u: use several vdevs",
			pool_level_name(g->level), VDEV_MAX_CHILDREN, n);
	return g->level == LEVEL_DRAID ? draid_check(g, n, e) : 0;
}
