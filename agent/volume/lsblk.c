/* lsblk run and read. Owns the texts of what it returns. */
#include "agent/volume/lsblk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define LSBLK_MAX (8 * 1024 * 1024)
#define LSBLK_DEPTH 16
#define LSBLK_COUNT 100000
#define LSBLK_MS (120 * 1000)
#define COLUMNS "NAME,KNAME,TYPE,SIZE,SERIAL,WWN,MODEL,TRAN,ROTA,LOG-SEC,PHY-SEC,MOUNTPOINT,PKNAME"

/* Without blanks around it; NULL when nothing is left. */
static char *trimmed(const char *s)
{
	size_t len;

	if (!s)
		return NULL;
	s += strspn(s, " \t\r\n");
	len = strlen(s);
	while (len && strchr(" \t\r\n", s[len - 1]))
		len--;
	return len ? xstrndup(s, len) : NULL;
}

static char *text_of(const json_t *o, const char *key)
{
	return trimmed(json_get_str(o, key, NULL));
}

static char *kernel_of(const json_t *o, const char *key)
{
	char *text = text_of(o, key), *name;

	if (!text || strncmp(text, "/dev/", 5))
		return text;
	name = trimmed(text + 5);
	free(text);
	return name;
}

static uint64_t number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		return strtoull(json_string_value(v), NULL, 10);
	return json_is_integer(v) && json_integer_value(v) > 0 ? (uint64_t)json_integer_value(v) : 0;
}

static int flag_of(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key)) || number_of(o, key) != 0;
}

/* "naa.5000…" is how sysfs writes what others write as 0x5000…; both mean the same name. */
static char *wwn_of(const json_t *o)
{
	char *wwn = text_of(o, "wwn"), *hex;

	if (!wwn || strncmp(wwn, "naa.", 4))
		return wwn;
	hex = xasprintf("0x%s", wwn + 4);
	free(wwn);
	return hex;
}

static char *mount_of(const json_t *o)
{
	const json_t *list = json_object_get(o, "mountpoints");
	char *mount = text_of(o, "mountpoint");

	for (size_t i = 0; !mount && i < json_array_size(list); i++)
		mount = trimmed(json_string_value(json_array_get(list, i)));
	return mount;
}

static void blockdev_clear(struct blockdev *b)
{
	free(b->kernel);
	free(b->parent);
	free(b->type);
	free(b->serial);
	free(b->wwn);
	free(b->model);
	free(b->transport);
	free(b->mount);
}

void blockdevs_free(struct blockdevs *b)
{
	for (size_t i = 0; i < b->n; i++)
		blockdev_clear(&b->v[i]);
	free(b->v);
	*b = (struct blockdevs){0};
}

static int fill(const json_t *o, const char *parent, struct blockdev *b, struct err *e)
{
	*b = (struct blockdev){.kernel = kernel_of(o, "kname")};
	if (!b->kernel)
		b->kernel = kernel_of(o, "name");
	if (!b->kernel || strchr(b->kernel, '/')) {
		free(b->kernel);
		return err_set(e, ERR_INPUT, "lsblk: a device without a usable name");
	}
	b->parent = kernel_of(o, "pkname");
	if (!b->parent)
		b->parent = xstrdup(parent);
	b->type = text_of(o, "type");
	if (!b->type)
		b->type = xstrdup("");
	b->serial = text_of(o, "serial");
	b->wwn = wwn_of(o);
	b->model = text_of(o, "model");
	b->transport = text_of(o, "tran");
	b->mount = mount_of(o);
	b->bytes = number_of(o, "size");
	b->logical_sector = (uint32_t)number_of(o, "log-sec");
	b->physical_sector = (uint32_t)number_of(o, "phy-sec");
	b->rotational = flag_of(o, "rota");
	return 0;
}

static int add_list(const json_t *list, const char *parent, unsigned depth, struct blockdevs *out,
	size_t *cap, struct err *e)
{
	size_t i;
	json_t *o;

	if (depth > LSBLK_DEPTH)
		return err_set(e, ERR_INPUT, "lsblk: devices are nested too deep");
	json_array_foreach(list, i, o) {
		struct blockdev b;
		json_t *children = json_object_get(o, "children");

		if (!json_is_object(o) || out->n >= LSBLK_COUNT)
			return err_set(e, ERR_INPUT, "lsblk: not a list of block devices");
		if (fill(o, parent, &b, e))
			return -1;
		out->v = xgrow(out->v, out->n, cap, sizeof(*out->v));
		out->v[out->n++] = b;
		if (children && add_list(children, b.kernel, depth + 1, out, cap, e))
			return -1;
	}
	return 0;
}

int lsblk_parse(const char *text, size_t len, struct blockdevs *ret, struct err *e)
{
	struct blockdevs out = {0};
	json_t *document, *list;
	size_t cap = 0;
	int status;

	if (json_parse("lsblk", text, len, LSBLK_MAX, &document, e))
		return -1;
	list = json_object_get(document, "blockdevices");
	if (json_is_array(list))
		status = add_list(list, NULL, 0, &out, &cap, e);
	else
		status = err_set(e, ERR_INPUT, "lsblk: there is no list 'blockdevices' in its output");
	json_decref(document);
	if (status) {
		blockdevs_free(&out);
		return -1;
	}
	*ret = out;
	return 0;
}

int lsblk_read(const char *kernel, struct blockdevs *ret, struct err *e)
{
	struct strv argv = {0};
	struct buf out = {0};
	const char *program = fs_find_program("lsblk");
	int status;

	if (!program)
		return err_set(e, ERR_NOTFOUND, "the program 'lsblk' is not installed here (util-linux)");
	strv_add(&argv, program);
	strv_add_all(&argv, (const char *const[]){"-J", "-b", "-o", COLUMNS, NULL});
	if (kernel) {
		strv_add(&argv, "-d");
		strv_addf(&argv, "/dev/%s", kernel);
	}
	status = proc_run_ok(&argv, LSBLK_MS, &out, e);
	/* Nothing at all is what it prints, with status 0, where there is no block device. */
	if (!status && out.len)
		status = lsblk_parse(out.data, out.len, ret, e);
	else if (!status)
		*ret = (struct blockdevs){0};
	buf_free(&out);
	strv_free(&argv);
	return status;
}
