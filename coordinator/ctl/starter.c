/* The starter plan: deploy/plans/starter.yaml, taken in when this is compiled (from the top folder),
 * and what of it this machine can run. Owns nothing. */
#include "coordinator/ctl/starter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/storage.h"

__asm__(".pushsection .rodata\n"
	".global starter_plan\n"
	".type starter_plan, @object\n"
	"starter_plan:\n"
	".incbin \"deploy/plans/starter.yaml\"\n"
	".byte 0\n"
	".size starter_plan, . - starter_plan\n"
	".popsection\n");
extern const char starter_plan[];

#define FOLDER "/tank/bench" /* stands in the text for the folder */
/* Of the largest layout; `local` lets scratch disks take half of what is free. */
#define POOL_ROOM (2ULL * 8 * 256 * 1024 * 1024)
#define FILESYSTEM_ROOM (2ULL * 1024 * 1024 * 1024)

static const struct {
	enum starter_form form;
	const char *name;
} forms_list[STARTER_FORMS] = {{STARTER_POOL, "pool"}, {STARTER_XFS, "xfs"}, {STARTER_EXT4, "ext4"},
	{STARTER_EXISTING, "existing"}};

const char *starter_form_name(enum starter_form form)
{
	for (size_t i = 0; i < STARTER_FORMS; i++)
		if (forms_list[i].form == form)
			return forms_list[i].name;
	return "";
}

/* ---- this machine ---- */

/* Free bytes where the folder is, or would be made. */
static unsigned long long room_at(const char *folder)
{
	char *path = xstrdup(folder), *slash;
	struct statvfs s;
	int r;

	while ((r = statvfs(path, &s)) && (slash = strrchr(path, '/')) && slash != path)
		*slash = '\0';
	if (r)
		r = statvfs("/", &s);
	free(path);
	return r ? 0 : (unsigned long long)s.f_bavail * s.f_frsize;
}

unsigned starter_forms_here(const char *folder)
{
	unsigned long long room = room_at(folder);
	unsigned forms = 0;

	if (geteuid() == 0 && room >= POOL_ROOM && storage_has_zfs())
		return STARTER_POOL;
	if (room >= FILESYSTEM_ROOM && storage_has_loops()) {
		forms |= storage_can_make("xfs") ? STARTER_XFS : 0;
		forms |= storage_can_make("ext4") ? STARTER_EXT4 : 0;
	}
	return forms ? forms : STARTER_EXISTING;
}

/* ---- the text ---- */

/* "[pool, xfs] rest" -> the forms named; *ret_rest points behind. */
static unsigned read_forms(const char *s, const char **ret_rest)
{
	const char *end = strchr(s, ']');
	unsigned forms = 0;

	while (s < end) {
		size_t n;

		s += strspn(s, "[, ");
		n = strcspn(s, ",]");
		for (size_t i = 0; i < STARTER_FORMS; i++)
			if (strlen(forms_list[i].name) == n && !strncmp(forms_list[i].name, s, n))
				forms |= (unsigned)forms_list[i].form;
		s += n;
	}
	*ret_rest = end + 1;
	return forms;
}

/* As a YAML string in double quotes. */
static void add_quoted(const char *s, struct buf *out)
{
	buf_addc(out, '"');
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f) {
			buf_addf(out, "\\x%02x", (unsigned char)*s);
			continue;
		}
		if (*s == '"' || *s == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *s);
	}
	buf_addc(out, '"');
}

static void add_text(const char *s, size_t n, const char *folder, struct buf *out)
{
	const char *at = memmem(s, n, FOLDER, strlen(FOLDER));

	if (!at) {
		buf_add(out, s, n);
		return;
	}
	buf_add(out, s, (size_t)(at - s));
	add_quoted(folder, out);
	at += strlen(FOLDER);
	buf_add(out, at, n - (size_t)(at - s));
}

struct part {
	unsigned forms; /* 0: none */
	size_t column;  /* of its lines */
};

/* One line of the text, without its newline. */
static void add_line(
	struct part *p, const char *line, size_t n, unsigned chosen, const char *folder, struct buf *out)
{
	size_t blanks = strspn(line, " "), at;
	const char *rest;

	if (n == 0)
		p->forms = 0;
	if (blanks + 3 < n && !strncmp(line + blanks, "# [", 3)) {
		p->forms = read_forms(line + blanks + 2, &rest);
		p->column = blanks;
		if (*rest == '\n')
			return;
		buf_addf(out, "%*s#%.*s\n", (int)blanks, "", (int)(line + n - rest), rest);
		return;
	}
	at = p->forms ? p->column : n;
	if (at < n && !strncmp(line + at, "#-", 2)) {
		buf_addf(out, "%*s%s", (int)at, "", chosen & p->forms ? "" : "# ");
		at += 2;
	} else if (at < n && line[at] != '#' && !(chosen & p->forms)) {
		buf_addf(out, "%*s# ", (int)at, "");
	} else {
		at = 0;
	}
	add_text(line + at, n - at, folder, out);
	buf_addc(out, '\n');
}

void starter_write(unsigned forms, const char *folder, struct buf *out)
{
	struct part p = {0};

	for (const char *s = starter_plan; *s;) {
		size_t n = strcspn(s, "\n");

		add_line(&p, s, n, forms, folder, out);
		s += n + (s[n] == '\n');
	}
}
