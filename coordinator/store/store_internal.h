/* What the files of the store share: the store itself and the shape of simple operations. */
#ifndef COORDINATOR_STORE_STORE_INTERNAL_H
#define COORDINATOR_STORE_STORE_INTERNAL_H

#include "coordinator/store/checkpoint.h"
#include "coordinator/store/db.h"
#include "coordinator/store/reader.h"
#include "coordinator/store/store.h"
#include "coordinator/store/writer.h"

struct store {
	char *path;
	char epoch[33];
	struct checkpointer *checkpointer;
	struct writer *writer;
	struct readers *readers;
};

/* Begins an operation that ends in a store_done; the first member of the operation's struct. */
struct done_op {
	struct op op;
	store_done done;
	void *arg;
};
void done_op_deliver(struct op *op, const struct err *e);

/* Rows of a table as states: the numbers are stored. */
enum unit_state { UNIT_RUNNING, UNIT_COMPLETE, UNIT_FAILED };
enum trial_state { TRIAL_RUNNING, TRIAL_OK, TRIAL_FAILED };

/* One line of the audit log; what: "token-create", …; part of the transaction that did it. */
int audit_add(struct write_ctx *w, const char *what, const char *subject, const char *text,
	struct err *e);

/* What append.c needs to take an attempt that this store does not know: store_append's rule. *ret: it
 * was made. In jobs.c. */
int attempt_adopt(struct write_ctx *w, const struct job_key *key, const char *host, const char *tag,
	int64_t began_ns, int *ret, struct err *e);

#endif
