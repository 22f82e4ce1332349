/*
 * Settings of a private PostgreSQL that a plan may make: an allow-list. What runs programs, loads
 * libraries, names files or opens sockets is not in it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/plan/plan_pg_internal.h"

#define SETTINGS_MAX 64
#define VALUE_MAX 64

static const char *const allowed[] = {"autovacuum", "autovacuum_max_workers", "autovacuum_naptime",
	"autovacuum_vacuum_cost_limit", "backend_flush_after", "bgwriter_delay",
	"bgwriter_flush_after", "bgwriter_lru_maxpages", "bgwriter_lru_multiplier",
	"checkpoint_completion_target", "checkpoint_flush_after", "checkpoint_timeout",
	"commit_delay", "commit_siblings", "default_statistics_target", "default_toast_compression",
	"effective_cache_size", "effective_io_concurrency", "fsync", "full_page_writes",
	"hash_mem_multiplier", "huge_pages", "io_combine_limit", "io_max_combine_limit",
	"io_max_concurrency", "io_method", "io_workers", "jit", "log_checkpoints",
	"log_lock_waits", "log_temp_files", "logical_decoding_work_mem",
	"maintenance_io_concurrency", "maintenance_work_mem", "max_connections",
	"max_locks_per_transaction", "max_parallel_maintenance_workers", "max_parallel_workers",
	"max_parallel_workers_per_gather", "max_wal_senders", "max_wal_size",
	"max_worker_processes", "min_wal_size", "random_page_cost", "seq_page_cost",
	"shared_buffers", "synchronous_commit", "temp_buffers", "temp_file_limit",
	"vacuum_buffer_usage_limit", "wal_buffers", "wal_compression", "wal_init_zero", "wal_level",
	"wal_log_hints", "wal_recycle", "wal_skip_threshold", "wal_sync_method",
	"wal_writer_delay", "wal_writer_flush_after", "work_mem", NULL};

static int is_allowed(const char *name)
{
	for (size_t i = 0; allowed[i]; i++)
		if (!strcmp(allowed[i], name))
			return 1;
	return 0;
}

static int value_is_plain(const char *s)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	return *s && strlen(s) <= VALUE_MAX && strspn(s, chars) == strlen(s);
}

static void read_one(struct reading *r, const struct yaml_node *n, const char *path,
	struct work_pg *p)
{
	char *child = read_child_path(path, n->key);
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	const char *s;

	if (!is_allowed(n->key)) {
		read_error_key(r, n, path,
			"'%s' is not a setting that a plan may make%s (arraymark-plan(5) lists them)",
			shown(n->key, text), suggestion(n->key, allowed, near));
	} else if ((s = read_scalar(r, n, child))) {
		if (!value_is_plain(s))
			read_error(r, n, child, "'%s' is not one plain word, such as on, 0.9 or 256MB",
				shown(s, text));
		else
			p->settings[p->n_settings++] =
				(struct pg_setting){xstrdup(n->key), xstrdup(s)};
	}
	free(child);
}

void read_pg_settings(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_pg *p = field;

	(void)arg;
	if (n->kind != YAML_MAP || n->n > SETTINGS_MAX) {
		read_error(r, n, path,
			"must be a map of at most %d settings, such as {shared_buffers: 1GB}",
			SETTINGS_MAX);
		return;
	}
	p->settings = xcalloc(n->n + 1, sizeof(*p->settings));
	for (size_t i = 0; i < n->n; i++)
		read_one(r, n->items[i], path, p);
}

const char *pg_setting_value(const struct work_pg *p, const char *name)
{
	for (size_t i = 0; i < p->n_settings; i++)
		if (!strcmp(p->settings[i].name, name))
			return p->settings[i].value;
	return NULL;
}

int pg_setting_is_off(const struct work_pg *p, const char *name)
{
	const char *v = pg_setting_value(p, name);

	return v && (!strcasecmp(v, "off") || !strcasecmp(v, "false") || !strcasecmp(v, "no") ||
			    !strcmp(v, "0"));
}
