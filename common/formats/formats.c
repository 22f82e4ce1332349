/*
 * The table of formats; from bytes to a decoded text to records. Owns nothing.
 * Invariant: a reader only sees text without NUL bytes, and what it found is checked before it
 * leaves.
 */
#include "common/formats/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/formats/reader.h"

#define HEAD_BYTES ((size_t)64 << 10)
#define TEN_YEARS_S (3653.0 * 86400)

const struct format *const format_table[] = {&format_arraymark, &format_fio, &format_elbencho,
	&format_iozone, &format_bonnie, &format_filebench, &format_dd, &format_time,
	&format_summary, &format_list, NULL};

const struct format *format_find(const char *name)
{
	for (size_t i = 0; format_table[i]; i++)
		if (!strcmp(format_table[i]->name, name))
			return format_table[i];
	return NULL;
}

void format_names(struct buf *out)
{
	for (size_t i = 0; format_table[i]; i++)
		buf_addf(out, "%s%s", i ? ", " : "", format_table[i]->name);
}

int format_load(const char *path, struct buf *out, struct err *e)
{
	if (!strcmp(path, "-"))
		return fs_read_fd(STDIN_FILENO, "-", FORMAT_MAX_BYTES, out, e);
	return fs_read_file(path, FORMAT_MAX_BYTES, out, e);
}

static void add_utf8(struct buf *out, unsigned c)
{
	char s[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(lead[n] | c);
	buf_add(out, s, n);
}

static unsigned unit_at(const struct buf *t, size_t at, int big)
{
	unsigned char a = (unsigned char)t->data[at], b = (unsigned char)t->data[at + 1];

	return big ? (unsigned)a << 8 | b : (unsigned)b << 8 | a;
}

static int from_utf16(const char *name, struct buf *text, int big, struct err *e)
{
	struct buf out = {0};
	size_t i = 2;

	for (; i + 1 < text->len; i += 2) {
		unsigned c = unit_at(text, i, big), low;

		if (c >= 0xd800 && c < 0xe000) {
			low = c < 0xdc00 && i + 3 < text->len ? unit_at(text, i + 2, big) : 0;
			if (low < 0xdc00 || low > 0xdfff)
				break;
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		}
		add_utf8(&out, c);
	}
	if (i != text->len) {
		buf_free(&out);
		return err_set(e, ERR_INPUT, "%s: UTF-16 that is damaged at byte %zu", name, i);
	}
	buf_free(text);
	*text = out;
	return 0;
}

static size_t line_of(const char *s, size_t at)
{
	size_t line = 1;

	for (const char *p = s; (p = memchr(p, '\n', at - (size_t)(p - s))); p++)
		line++;
	return line;
}

int format_decode(const char *name, struct buf *text, struct err *e)
{
	const char *nul;

	if (text->len > FORMAT_MAX_BYTES)
		return err_set(e, ERR_INPUT, "%s: %zu bytes: the limit is %zu", name, text->len,
			FORMAT_MAX_BYTES);
	if (text->len >= 2 && !memcmp(text->data, "\xff\xfe", 2)) {
		if (from_utf16(name, text, 0, e))
			return -1;
	} else if (text->len >= 2 && !memcmp(text->data, "\xfe\xff", 2)) {
		if (from_utf16(name, text, 1, e))
			return -1;
	} else if (text->len >= 3 && !memcmp(text->data, "\xef\xbb\xbf", 3)) {
		memmove(text->data, text->data + 3, text->len - 3);
		text->len -= 3;
		text->data[text->len] = '\0';
	}
	if (text->len == 0 || strspn(text->data, " \t\r\n") == text->len)
		return err_set(e, ERR_INPUT, "%s: it is empty", name);
	nul = memchr(text->data, '\0', text->len);
	if (nul)
		return err_set(e, ERR_INPUT,
			"%s:%zu: a NUL byte: this is a binary file (or UTF-16 without its mark), "
			"not a result",
			name, line_of(text->data, (size_t)(nul - text->data)));
	return 0;
}

/* Whole lines, unless the first one is longer than the head may be. */
static struct format_text head_of(const char *name, const struct buf *text)
{
	struct format_text t = {name, text->data, text->len, NULL};
	const char *end;

	if (t.len > HEAD_BYTES) {
		end = memrchr(t.data, '\n', HEAD_BYTES);
		t.len = end ? (size_t)(end + 1 - t.data) : HEAD_BYTES;
	}
	return t;
}

int format_detect(
	const char *name, const struct buf *text, const struct format **ret, struct err *e)
{
	struct format_text head = head_of(name, text);
	const struct format *best = NULL;
	struct buf names = {0};
	int most = 0;

	for (size_t i = 0; format_table[i]; i++) {
		int score = format_table[i]->score(&head);

		if (score > most) {
			most = score;
			best = format_table[i];
		}
	}
	if (best) {
		*ret = best;
		return 0;
	}
	format_names(&names);
	err_set(e, ERR_INPUT,
		"%s: not a result that is known here (read are %s); the shortest one is a line "
		"'layout: NAME' and below it a time a line, such as 10.2s: see arraymark-results(5)",
		name, buf_str(&names));
	buf_free(&names);
	return -1;
}

static int value_is_sound(const struct format_value *v)
{
	double most = strcmp(v->metric, "elapsed") ? 1e300 : TEN_YEARS_S;

	return v->value > 0 && v->value <= most && v->resolution >= 0 && isfinite(v->resolution);
}

/* Readers check what they read; what they computed from it is checked here. */
static int check_records(const struct format_text *t, const struct format_found *f, struct err *e)
{
	const struct format_record *failed = NULL;
	size_t good = 0;

	for (size_t i = 0; i < f->n_records; i++) {
		const struct format_record *r = &f->records[i];

		if (r->error) {
			failed = failed ? failed : r;
			continue;
		}
		for (size_t k = 0; k < r->n_v; k++)
			if (!value_is_sound(&r->v[k]))
				return err_set(e, ERR_INPUT, "%s:%zu: %s is %g: not a measurement",
					t->name, r->line, r->v[k].metric, r->v[k].value);
		good += r->n_v > 0;
	}
	if (good > 0)
		return 0;
	if (failed)
		return err_set(e, ERR_INPUT, "%s:%zu: no result: %s", t->name, failed->line,
			failed->error);
	return err_set(
		e, ERR_INPUT, "%s: read as %s, but there is no result in it", t->name, f->format);
}

/* What was found stops short of the text's end: so might what the reader says. */
static int too_many(const struct format_text *t, struct err *e)
{
	int notes = t->found->n_notes == FORMAT_NOTES_MAX;

	return err_set(e, ERR_INPUT,
		"%s:%zu: the text has more than %d %s, which is the limit: split it, or give a summary "
		"of each layout, such as n=10 mean=56s min=52s max=59s",
		t->name, t->found->over, notes ? FORMAT_NOTES_MAX : FORMAT_RECORDS_MAX,
		notes ? "lines that say something" : "results");
}

int format_read(const char *name, const struct buf *text, const struct format *format,
	struct format_found *ret, struct err *e)
{
	struct format_found found = {0};
	struct format_text t = {name, text->data, text->len, &found};
	int bad;

	if (!format && format_detect(name, text, &format, e))
		return -1;
	if (!format->read)
		return err_set(e, ERR_USAGE, "%s: an export of arraymark is not read here", name);
	found.format = format->name;
	bad = format->read(&t, &found, e);
	if (found.over)
		bad = too_many(&t, e);
	if (bad || check_records(&t, &found, e)) {
		format_found_clear(&found);
		return -1;
	}
	*ret = found;
	return 0;
}
