/*
 * The checkpoint thread. Owns one connection that never writes rows.
 * Invariant: it only ever runs passive checkpoints, so it neither waits for nor stops the writer.
 */
#include "coordinator/store/checkpoint.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/store/db.h"
#include "coordinator/store/thread.h"

#define WAL_PAGES_WANTED 1024

struct checkpointer {
	struct db *db;
	struct log_limit limit;
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t work;
	int pages, closing;
};

static void checkpoint(struct checkpointer *c)
{
	int rc = sqlite3_wal_checkpoint_v2(
		db_handle(c->db), NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	unsigned silent;
	struct err e;

	if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY || !log_limit_pass(&c->limit, &silent))
		return;
	db_error(c->db, "checkpoint", &e);
	log_warning("store", "the journal grows until this is put right: %s", e.text);
}

static void *checkpoint_thread(void *arg)
{
	struct checkpointer *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->closing) {
		if (c->pages < WAL_PAGES_WANTED) {
			pthread_cond_wait(&c->work, &c->lock);
			continue;
		}
		c->pages = 0;
		pthread_mutex_unlock(&c->lock);
		checkpoint(c);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void checkpointer_free(struct checkpointer *c)
{
	pthread_cond_destroy(&c->work);
	pthread_mutex_destroy(&c->lock);
	db_close(c->db);
	free(c);
}

int checkpointer_start(const char *path, struct checkpointer **ret, struct err *e)
{
	struct checkpointer *c = xcalloc(1, sizeof(*c));

	c->limit = (struct log_limit){.burst = 1, .window_ms = 60 * 1000};
	pthread_mutex_init(&c->lock, NULL);
	thread_cond_init(&c->work);
	if (db_open(path, DB_WRITE, &c->db, e) != 0 ||
		thread_start(&c->thread, checkpoint_thread, c, "checkpoint", e) != 0) {
		checkpointer_free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

void checkpointer_note(void *checkpointer, int wal_pages)
{
	struct checkpointer *c = checkpointer;

	pthread_mutex_lock(&c->lock);
	c->pages = wal_pages;
	if (wal_pages >= WAL_PAGES_WANTED)
		pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
}

void checkpointer_stop(struct checkpointer *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->closing = 1;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	checkpointer_free(c);
}
