/*
 * Lists as JSON in text columns. Owns nothing.
 * Invariant: what the write side made, the read side gives back equal.
 */
#include "coordinator/store/codec.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define TEXT_MAX (16 * 1024 * 1024)

static char *take_line(json_t *v)
{
	struct buf b = {0};

	json_line(v, &b);
	json_decref(v);
	return buf_take(&b);
}

json_t *codec_strv_json(const struct strv *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_text(s->v[i]));
	return list;
}

char *codec_strv(const struct strv *s)
{
	return take_line(codec_strv_json(s));
}

static void strv_from_json(const json_t *list, struct strv *ret)
{
	size_t i;
	json_t *item;

	*ret = (struct strv){0};
	json_array_foreach(list, i, item)
	{
		if (json_is_string(item))
			strv_add(ret, json_string_value(item));
	}
}

static json_t *parse(const char *text)
{
	struct err e;
	json_t *v;

	return json_parse("column", text, strlen(text), TEXT_MAX, &v, &e) == 0 ? v : NULL;
}

void codec_strv_read(const char *text, struct strv *ret)
{
	json_t *v = parse(text);

	strv_from_json(v, ret);
	json_decref(v);
}

char *codec_disks(const struct bound_disks *disks, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct bound_disks *d = &disks[i];

		json_array_append_new(
			list, json_pack("{sI so sI so}", "layout", (json_int_t)d->layout, "role",
				      json_text(d->role), "group", (json_int_t)d->group, "ids",
				      codec_strv_json(&d->ids)));
	}
	return take_line(list);
}

void codec_disks_read(const char *text, struct bound_disks **ret, size_t *ret_n)
{
	json_t *list = parse(text), *item;
	size_t i, n = json_array_size(list);
	struct bound_disks *disks = n ? xcalloc(n, sizeof(*disks)) : NULL;

	json_array_foreach(list, i, item)
	{
		disks[i].layout = (uint32_t)json_get_int(item, "layout", 0);
		disks[i].role = xstrdup(json_get_str(item, "role", ""));
		disks[i].group = (uint32_t)json_get_int(item, "group", 0);
		strv_from_json(json_object_get(item, "ids"), &disks[i].ids);
	}
	json_decref(list);
	*ret = disks;
	*ret_n = n;
}

void codec_disks_free(struct bound_disks *disks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(disks[i].role);
		strv_free(&disks[i].ids);
	}
	free(disks);
}
