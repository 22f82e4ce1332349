/* Tables of the language: flowops, attributes and where they may stand. Owns nothing. */
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

const struct wml_flow_type wml_flow_types[] = {
	{"read", FLOW_READ, 1, 1, 0, NEED_SET_OR_FD | NEED_IOSIZE},
	{"write", FLOW_WRITE, 1, 0, 1, NEED_SET_OR_FD | NEED_IOSIZE},
	{"aiowrite", FLOW_AIOWRITE, 1, 0, 1, NEED_SET_OR_FD | NEED_IOSIZE},
	{"aiowait", FLOW_AIOWAIT, 1, 0, 0, 0},
	{"openfile", FLOW_OPENFILE, 1, 0, 0, NEED_SET},
	{"createfile", FLOW_CREATEFILE, 1, 0, 0, NEED_SET},
	{"closefile", FLOW_CLOSEFILE, 1, 0, 0, 0},
	{"deletefile", FLOW_DELETEFILE, 1, 0, 0, NEED_SET_OR_FD},
	{"makedir", FLOW_MAKEDIR, 1, 0, 0, NEED_SET},
	{"removedir", FLOW_REMOVEDIR, 1, 0, 0, NEED_SET},
	{"listdir", FLOW_LISTDIR, 1, 0, 0, NEED_SET},
	{"fsync", FLOW_FSYNC, 1, 0, 0, 0},
	{"fsyncset", FLOW_FSYNCSET, 1, 0, 0, NEED_SET},
	{"statfile", FLOW_STATFILE, 1, 0, 0, NEED_SET_OR_FD},
	{"readwholefile", FLOW_READWHOLEFILE, 1, 1, 0, NEED_SET_OR_FD},
	{"writewholefile", FLOW_WRITEWHOLEFILE, 1, 0, 1, NEED_SET_OR_FD},
	{"appendfile", FLOW_APPENDFILE, 1, 0, 1, NEED_SET_OR_FD | NEED_IOSIZE},
	{"appendfilerand", FLOW_APPENDFILERAND, 1, 0, 1, NEED_SET_OR_FD | NEED_IOSIZE},
	{"block", FLOW_BLOCK, 0, 0, 0, 0},
	{"wakeup", FLOW_WAKEUP, 0, 0, 0, NEED_TARGET},
	{"semblock", FLOW_SEMBLOCK, 0, 0, 0, NEED_VALUE},
	{"sempost", FLOW_SEMPOST, 0, 0, 0, NEED_TARGET | NEED_VALUE},
	{"hog", FLOW_HOG, 0, 0, 0, NEED_VALUE},
	{"delay", FLOW_DELAY, 0, 0, 0, NEED_VALUE},
	{"eventlimit", FLOW_EVENTLIMIT, 0, 0, 0, 0},
	{"bwlimit", FLOW_BWLIMIT, 0, 0, 0, 0},
	{"iopslimit", FLOW_IOPSLIMIT, 0, 0, 0, 0},
	{"opslimit", FLOW_OPSLIMIT, 0, 0, 0, 0},
	{"finishoncount", FLOW_FINISHONCOUNT, 0, 0, 0, NEED_VALUE},
	{"finishonbytes", FLOW_FINISHONBYTES, 0, 0, 0, NEED_VALUE},
	{"print", FLOW_PRINT, 0, 0, 0, NEED_VALUE},
};
const size_t wml_flow_count = ARRAY_LEN(wml_flow_types);

#define SET (1u << ITEM_FILESET)
#define PROCESS (1u << ITEM_PROCESS)
#define THREAD (1u << ITEM_THREAD)
#define FLOWOP (1u << ITEM_FLOWOP)
#define EVENTGEN (1u << ITEM_EVENTGEN)

static const struct attr_row {
	const char *word;
	enum wml_attr attr;
	unsigned where;
} attr_rows[] = {
	{"name", ATTR_NAME, SET | PROCESS | THREAD | FLOWOP},
	{"path", ATTR_PATH, SET},
	{"size", ATTR_SIZE, SET},
	{"filesize", ATTR_SIZE, SET},
	{"entries", ATTR_ENTRIES, SET},
	{"dirwidth", ATTR_DIRWIDTH, SET},
	{"dirdepthrv", ATTR_DIRDEPTHRV, SET},
	{"dirgamma", ATTR_DIRGAMMA, SET},
	{"leafdirs", ATTR_LEAFDIRS, SET},
	{"prealloc", ATTR_PREALLOC, SET},
	{"paralloc", ATTR_PARALLOC, SET},
	{"reuse", ATTR_REUSE, SET},
	{"trusttree", ATTR_TRUSTTREE, SET},
	{"readonly", ATTR_READONLY, SET},
	{"writeonly", ATTR_WRITEONLY, SET},
	{"cached", ATTR_CACHED, SET},
	{"instances", ATTR_INSTANCES, PROCESS | THREAD},
	{"nice", ATTR_NICE, PROCESS},
	{"memsize", ATTR_MEMSIZE, THREAD},
	{"useism", ATTR_USEISM, THREAD},
	{"ioprio", ATTR_IOPRIO, THREAD},
	{"filename", ATTR_FILE, FLOWOP},
	{"filesetname", ATTR_FILE, FLOWOP},
	{"fd", ATTR_FD, FLOWOP},
	{"srcfd", ATTR_SRCFD, FLOWOP},
	{"opennext", ATTR_OPENNEXT, FLOWOP},
	{"random", ATTR_RANDOM, FLOWOP},
	{"dsync", ATTR_DSYNC, FLOWOP},
	{"directio", ATTR_DIRECTIO, FLOWOP},
	{"indexed", ATTR_INDEXED, FLOWOP},
	{"target", ATTR_TARGET, FLOWOP},
	{"iters", ATTR_ITERS, FLOWOP},
	{"value", ATTR_VALUE, FLOWOP},
	{"blocking", ATTR_BLOCKING, FLOWOP},
	{"highwater", ATTR_HIGHWATER, FLOWOP},
	{"iosize", ATTR_IOSIZE, FLOWOP},
	{"workingset", ATTR_WORKINGSET, FLOWOP},
	{"noreadahead", ATTR_NOREADAHEAD, FLOWOP},
	{"rate", ATTR_RATE, EVENTGEN},
};

const char *wml_attr_word(enum wml_attr a)
{
	for (size_t i = 0; i < ARRAY_LEN(attr_rows); i++)
		if (attr_rows[i].attr == a)
			return attr_rows[i].word;
	return "?";
}

const char *wml_near(const struct wml_token *t, const char *const *words, char out[WML_SHOWN])
{
	char word[WML_SHOWN];
	const char *near;

	out[0] = '\0';
	if (t->len >= sizeof(word))
		return out;
	memcpy(word, t->s, t->len);
	word[t->len] = '\0';
	near = str_nearest(word, words);
	if (near)
		snprintf(out, WML_SHOWN, "; did you mean '%s'?", near);
	return out;
}

int wml_attr_find(const struct wml_lexer *l, const struct wml_item *item, struct err *e)
{
	static const char *const of[ITEM_KIND_COUNT] = {
		"a fileset", "a process", "a thread", "a flowop", "eventgen"};
	const char *words[ARRAY_LEN(attr_rows) + 1] = {0};
	char text[WML_SHOWN], near[WML_SHOWN];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(attr_rows); i++)
		if (attr_rows[i].where & (1u << item->kind)) {
			if (wml_token_is(&l->now, attr_rows[i].word))
				return (int)attr_rows[i].attr;
			words[n++] = attr_rows[i].word;
		}
	return wml_fail(l->file, l->now.at, e, "%s is not an attribute of %s%s",
		wml_token_shown(&l->now, text), of[item->kind], wml_near(&l->now, words, near));
}
