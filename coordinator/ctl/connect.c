/* Connections as verbs need them. Owns nothing beyond what connection_open returns. */
#include "coordinator/ctl/connect.h"

#include <string.h>

#include "coordinator/ctl/print.h"

/* The private coordinator must be stopped by us, whatever the signal. */
static void on_signal(void *arg, int signo)
{
	(void)signo;
	client_stop(arg);
}

static void on_trouble(void *arg, const char *trouble)
{
	struct buf text = {0};

	connection_trouble_text(trouble, &text);
	ctl_note(arg, "%s", text.data);
	buf_free(&text);
}

void connection_trouble_text(const char *trouble, struct buf *out)
{
	if (!trouble) {
		buf_adds(out, "the coordinator stores again");
		return;
	}
	buf_adds(out, "the coordinator can store nothing now: ");
	print_safe(trouble, out);
	buf_adds(out, " (on its host; what runs goes on, what is asked for waits, and nothing is lost)");
}

/* The private coordinator, or the guess that it is meant, may be no answer to the verb. */
static int check_private(struct ctl *ctl, const struct target *t, struct err *e)
{
	int may = ctl->verb ? (int)ctl->verb->of_fleet : PRIVATE_TOO;
	const char *name = ctl->verb ? ctl->verb->name : "";

	if (!t->is_private)
		return 0;
	if (may == PRIVATE_NEVER && !t->is_guess)
		return err_set(e, ERR_DENIED, "`%s` is for a fleet: the private coordinator of `local` enrols "
			"its one agent itself, and ends with each command", name);
	if (may != PRIVATE_TOO && t->is_guess)
		return err_set(e, ERR_DENIED, "no coordinator known: `arraymark login HOST:PORT` first%s",
			may == PRIVATE_NEVER ? "" : strcmp(name, "run")
				? " (or say -c local for the private one of `local`)"
				: ", or run the plan on this machine with `arraymark local`");
	if (t->is_guess)
		ctl_note(ctl, "(of the private coordinator of `local`, since nobody is logged in)");
	return 0;
}

int connection_open(struct ctl *ctl, struct connection *ret, struct err *e)
{
	struct connection c = {0};
	struct target t;

	if (target_resolve(ctl->coordinator, &t, e))
		return -1;
	if (check_private(ctl, &t, e) || (t.is_private && private_open(&c.private, e))) {
		target_clear(&t);
		return -1;
	}
	if (client_new(&t, &c.client, e)) {
		connection_close(&c);
		return -1;
	}
	client_on_trouble(c.client, (struct client_trouble){on_trouble, ctl});
	if (c.private)
		client_on_signal(c.client, on_signal, c.client);
	if (c.private && private_interrupted())
		client_stop(c.client);
	if (client_connect(c.client, e)) {
		connection_close(&c);
		return -1;
	}
	*ret = c;
	return 0;
}

void connection_close(struct connection *c)
{
	client_free(c->client);
	private_close(c->private);
	memset(c, 0, sizeof(*c));
}

int connection_collect(struct ctl *ctl, const struct msg_call *call, json_t **ret, struct err *e)
{
	struct connection c;
	int r;

	if (connection_open(ctl, &c, e))
		return -1;
	r = client_collect(c.client, call, ret, e);
	connection_close(&c);
	return r;
}

int connection_one(struct ctl *ctl, const struct msg_call *call, json_t **ret, struct err *e)
{
	struct connection c;
	int r;

	if (connection_open(ctl, &c, e))
		return -1;
	r = client_one(c.client, call, ret, e);
	connection_close(&c);
	return r;
}
