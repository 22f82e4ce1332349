/* Answers of calls as JSON values. Owns nothing. */
#include "coordinator/ctl/client.h"

#define LINE_MAX_BYTES (8 * 1024 * 1024)

int client_parse_line(const char *line, size_t len, json_t **ret, struct err *e)
{
	json_t *v;

	if (json_parse("the coordinator's answer", line, len, LINE_MAX_BYTES, &v, e)) {
		e->code = ERR_PROTOCOL;
		return -1;
	}
	if (!json_is_object(v)) {
		json_decref(v);
		return err_set(e, ERR_PROTOCOL, "the coordinator's answer is no object");
	}
	*ret = v;
	return 0;
}

static int append_line(void *arg, const char *line, size_t len, struct err *e)
{
	json_t *v;

	if (client_parse_line(line, len, &v, e))
		return -1;
	json_array_append_new(arg, v);
	return 0;
}

int client_collect(struct client *c, const struct msg_call *call, json_t **ret, struct err *e)
{
	json_t *list = json_array();

	if (client_call(c, call, append_line, list, e)) {
		json_decref(list);
		return -1;
	}
	*ret = list;
	return 0;
}

int client_one(struct client *c, const struct msg_call *call, json_t **ret, struct err *e)
{
	json_t *list;

	if (client_collect(c, call, &list, e))
		return -1;
	if (json_array_size(list) == 0) {
		json_decref(list);
		return err_set(e, ERR_PROTOCOL, "the coordinator's answer is empty");
	}
	*ret = json_incref(json_array_get(list, 0));
	json_decref(list);
	return 0;
}
