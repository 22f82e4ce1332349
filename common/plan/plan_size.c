/*
 * Sizes that may depend on the host's memory. Grammar, blanks free:
 *   size | term [(+|-) size]     term: ram | ram * F | F * ram | ram / F      0 < F <= 1000
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"

#define FACTOR_MAX 1000.0

static char *without_blanks(const char *s)
{
	char *out = xmalloc(strlen(s) + 1), *w = out;

	for (; *s; s++)
		if (*s != ' ' && *s != '\t')
			*w++ = *s;
	*w = '\0';
	return out;
}

static int read_factor(const char *s, double *ret)
{
	struct err e;

	if (units_parse_double(s, ret, &e) || *ret <= 0 || *ret > FACTOR_MAX)
		return -1;
	return 0;
}

/* term without the trailing "+ size" */
static int read_term(char *s, double *ret)
{
	double f;

	if (!strcmp(s, "ram")) {
		*ret = 1;
		return 0;
	}
	if (str_starts(s, "ram*") && read_factor(s + 4, ret) == 0)
		return 0;
	if (str_starts(s, "ram/") && read_factor(s + 4, &f) == 0) {
		*ret = 1 / f;
		return 0;
	}
	if (str_ends(s, "*ram")) {
		s[strlen(s) - 4] = '\0';
		return read_factor(s, ret);
	}
	return -1;
}

static int parse_size(const char *text, struct plan_size *ret)
{
	char *s = without_blanks(text), *sign = NULL;
	struct plan_size size = {0};
	struct err e;
	int rc = -1;

	if (!strstr(s, "ram")) {
		rc = strpbrk(text, "+-*/") ? -1 : units_parse_size(text, &size.bytes, &e);
		goto out;
	}
	sign = strpbrk(s, "+-");
	if (sign) {
		char op = *sign;

		*sign = '\0';
		if (units_parse_size(sign + 1, &size.bytes, &e))
			goto out;
		if (op == '-')
			size.bytes = -size.bytes;
	}
	rc = read_term(s, &size.ram_factor);
out:
	free(s);
	if (rc == 0)
		*ret = size;
	return rc;
}

void read_plan_size(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *s = read_scalar(r, n, path);
	struct plan_size size;
	char text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	if (parse_size(s, &size))
		read_error(r, n, path,
			"'%s' is not a size (64K, 1M, 30G, 30GB, or of the host's "
			"memory: ram * 1.25, ram / 2 + 1G)",
			shown(s, text));
	else if (size.ram_factor == 0 && size.bytes == 0)
		read_error(r, n, path, "must be more than 0");
	else
		*(struct plan_size *)field = size;
}

int plan_size_bytes(const struct plan_size *s, uint64_t ram_bytes, int64_t *ret, struct err *e)
{
	double v;

	if (s->ram_factor == 0) {
		if (s->bytes < 1)
			return err_set(e, ERR_INPUT, "a size of 0 bytes");
		*ret = s->bytes;
		return 0;
	}
	if (ram_bytes == 0)
		return err_set(e, ERR_INPUT,
			"a size depends on the host's memory, which is not known: "
			"give it in bytes, or wait for the host's inventory");
	v = s->ram_factor * (double)ram_bytes + (double)s->bytes;
	if (v < 4096 || v >= 9.2e18) {
		char ram[UNITS_LEN];

		return err_set(e, ERR_INPUT,
			"ram * %g %+lld bytes is no usable size with %s of memory", s->ram_factor,
			(long long)s->bytes,
			units_size((int64_t)(ram_bytes > INT64_MAX ? INT64_MAX : ram_bytes), ram));
	}
	*ret = (int64_t)v / 4096 * 4096;
	return 0;
}
