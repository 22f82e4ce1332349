/*
 * The engine of `pgbench`: a database at the plan's scale is made in a worker of its own, before the
 * caches are brought into the plan's state; then pgbench runs its script for the plan's duration, and
 * each transaction is counted with its latency.
 * Owns everything between prepare and clear.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/engines.h"
#include "agent/workload/pg_cluster.h"
#include "agent/workload/pgbench_feed.h"
#include "agent/workload/pgbench_report.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define BENCH_LANES 1
#define SPARE_CONNECTIONS 5
#define OVERTIME_MS (10 * 60 * 1000) /* for what is under way when the time is over */

struct benching {
	const struct work_pg *w;
	struct pg_cluster cluster;
	struct meter meter;
	struct pgbench_feed feed;
	struct pg_log *output;
	char *database;
	struct strv argv;
	pid_t pid; /* of pgbench; 0: none */
	int gate;  /* a byte into it lets it begin */
};

static void bench_clear(void *state)
{
	struct benching *s = state;
	int status;

	if (!s)
		return;
	if (s->gate >= 0)
		close(s->gate);
	if (s->pid) {
		kill(s->pid, SIGKILL);
		pg_wait(s->pid, OVERTIME_MS, &status);
	}
	pgbench_feed_close(&s->feed);
	pg_log_free(s->output);
	pg_cluster_close(&s->cluster);
	meter_clear(&s->meter);
	strv_free(&s->argv);
	free(s->database);
	free(s);
}

static int fill(struct benching *s, struct err *e)
{
	struct strv argv = {0};

	if (pg_cluster_new_database(&s->cluster, s->database, NULL, NULL, e) ||
		pg_cluster_vector(&s->cluster, "pgbench", &argv, e))
		return -1;
	strv_add_all(&argv, (const char *const[]){"-i", "-q", "-s", NULL});
	strv_addf(&argv, "%u", s->w->scale);
	strv_add(&argv, s->database);
	if (pg_cluster_run(&s->cluster, &argv, NULL, e, "fill it at scale %u", s->w->scale))
		return err_prefix(e, "cannot fill a database at scale %u", s->w->scale);
	return pg_cluster_settle(&s->cluster, e) || pg_cluster_stop(&s->cluster, e) ? -1 : 0;
}

static int bench_vector(struct benching *s, struct err *e)
{
	const struct work_pg *w = s->w;

	if (pg_cluster_vector(&s->cluster, "pgbench", &s->argv, e))
		return -1;
	strv_add(&s->argv, "-n"); /* it was vacuumed when it was made */
	strv_add(&s->argv, "-c");
	strv_addf(&s->argv, "%u", w->clients);
	strv_add(&s->argv, "-j");
	strv_addf(&s->argv, "%u", w->jobs);
	strv_add(&s->argv, "-T");
	strv_addf(&s->argv, "%lld", (long long)(w->duration_ns / NS_PER_S));
	strv_add_all(&s->argv, (const char *const[]){"-M", pg_mode_name(w->mode), "-b",
		pg_script_name(w->script), NULL});
	if (w->rate) {
		strv_add(&s->argv, "-R");
		strv_addf(&s->argv, "%u", w->rate);
	}
	if (pg_cluster_is_preview(&s->cluster))
		strv_add(&s->argv, "--random-seed=<seed>");
	else
		strv_addf(&s->argv, "--random-seed=%u", (unsigned)(s->cluster.order->spec->seed >> 33));
	strv_addf(&s->argv, "--log-prefix=%s/transactions", s->cluster.data);
	strv_add_all(&s->argv, (const char *const[]){"-l", s->database, NULL});
	return 0;
}

/* pgbench stands before its gate: its number is known, and with it the names of its logs. */
static int stand_by(struct benching *s, struct err *e)
{
	int ends[2], out, status;

	if (pg_cluster_tells(&s->cluster, &s->argv, "run the transactions (timed)"))
		return 0;
	if (pipe(ends))
		return err_sys(e, "cannot make a pipe");
	s->gate = ends[1];
	if (pg_log_open(NULL, &s->output, &out, e)) {
		close(ends[0]);
		return -1;
	}
	status = pg_spawn(&s->argv, out, ends[0], &s->pid, e);
	close(ends[0]);
	close(out);
	if (status)
		return -1;
	return pgbench_feed_open(&s->feed, s->cluster.data, s->pid, s->w->jobs, s->meter.lanes, e);
}

static struct benching *bench_new(const struct workload_order *o)
{
	struct benching *s = xcalloc(1, sizeof(*s));

	s->w = o->w->pg;
	s->gate = s->meter.done_fd = s->feed.wake_fd = -1;
	s->database = pg_database_name(o, o->spec->workload, o->w->name);
	return s;
}

static int open_cluster(struct benching *s, const struct workload_order *o, struct err *e)
{
	return pg_cluster_open(&s->cluster, o, s->w->clients + SPARE_CONNECTIONS, e) ||
		       pg_cluster_start(&s->cluster, e) ? -1 : 0;
}

/* Each time: what an earlier trial left has grown. */
static int bench_make(const struct workload_order *order, struct err *e)
{
	struct benching *s = bench_new(order);
	int status = open_cluster(s, order, e) || fill(s, e) ? -1 : 0;

	if (status)
		pg_cluster_leave_log(&s->cluster);
	bench_clear(s);
	return status;
}

static int prepare(struct benching *s, const struct workload_order *order, struct err *e)
{
	return open_cluster(s, order, e) || bench_vector(s, e) ||
		       pg_cluster_settle(&s->cluster, e) || stand_by(s, e) ? -1 : 0;
}

static int bench_preview(const struct workload_order *order, struct err *e)
{
	struct benching *s = bench_new(order);
	int status = bench_make(order, e) || prepare(s, order, e) || pg_cluster_stop(&s->cluster, e);

	bench_clear(s);
	return status ? -1 : 0;
}

static int bench_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct benching *s = bench_new(order);

	if (meter_init(&s->meter, BENCH_LANES, order->spec->sample_ns, e) || prepare(s, order, e)) {
		pg_cluster_leave_log(&s->cluster);
		bench_clear(s);
		return -1;
	}
	*ret_state = s;
	return 0;
}

/* The last line that pgbench wrote before its report, or at all. Caller frees. */
static char *last_words(const char *text)
{
	const char *last = "", *error = NULL;

	for (const char *line = text; line && *line;) {
		const char *next = strchr(line, '\n');

		last = line;
		if (!error && str_starts(line, "pgbench: error"))
			error = line;
		line = next ? next + 1 : NULL;
	}
	last = error ? error : last;
	return xstrndup(last, strcspn(last, "\n"));
}

static int judge(struct benching *s, int status, const struct pgbench_report *r, struct err *e)
{
	char *words = last_words(pg_log_end(s->output));
	int rc = 0;

	if (!WIFEXITED(status) || WEXITSTATUS(status) || r->aborted)
		rc = err_set(e, ERR_FAILED, "pgbench failed: %s", words);
	else if (r->transactions < 0)
		rc = err_set(e, ERR_FAILED, "pgbench ended without a report: %s", words);
	else if (s->feed.odd || (uint64_t)r->transactions != s->feed.counted)
		rc = err_set(e, ERR_FAILED,
			"pgbench reports %lld transactions, its log has %llu (%llu lines could not be "
			"read)",
			(long long)r->transactions, (unsigned long long)s->feed.counted,
			(unsigned long long)s->feed.odd);
	free(words);
	return rc;
}

/* The timed part, in a thread of its own while samples are cut. */
static int work(void *arg, struct err *e)
{
	struct benching *s = arg;
	struct pgbench_report report;
	int status, ms = (int)(s->w->duration_ns / NS_PER_MS) + OVERTIME_MS;

	if (pgbench_feed_start(&s->feed, e))
		return -1;
	if (write(s->gate, "g", 1) != 1)
		return err_sys(e, "cannot start pgbench");
	if (!pg_wait(s->pid, ms, &status)) {
		kill(s->pid, SIGKILL);
		return err_set(e, ERR_TIMEOUT, "pgbench went on for minutes after its time");
	}
	s->pid = 0;
	pgbench_feed_end(&s->feed);
	pgbench_report_read(pg_log_end(s->output), &report);
	return judge(s, status, &report, e);
}

static void tell(struct benching *s, int failed, struct workload_result *ret)
{
	struct trial_detail *d = &ret->detail;
	const char *text = s->pid ? "" : pg_log_end(s->output);
	struct pgbench_report r;
	struct buf words = {0};

	strv_quote(&s->argv, &words);
	detail_note(d, "command", buf_str(&words));
	buf_free(&words);
	detail_note(d, "pgbench", text);
	pgbench_report_read(text, &r);
	if (failed)
		return;
	detail_fact(d, "tps", r.tps, "ops/s");
	detail_fact(d, "tps_with_connecting",
		r.tps_with_connecting >= 0 ? r.tps_with_connecting
					   : (double)ret->ops * NS_PER_S / (double)ret->elapsed_ns,
		"ops/s");
	if (r.connecting_ms >= 0)
		detail_fact(d, "connecting_time", r.connecting_ms / 1000, "s");
	detail_fact(d, "failed_transactions", (double)s->feed.failed, "");
	detail_fact(d, "skipped_transactions", (double)s->feed.skipped, "");
	detail_fact(d, "clients", s->w->clients, "");
	detail_fact(d, "scale", s->w->scale, "");
	pg_cluster_tell(&s->cluster, d);
}

static int bench_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct benching *s = state;
	int status;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	status = meter_watch_call(&s->meter, work, s, e);
	meter_stop(&s->meter);
	status = pg_cluster_explain(&s->cluster, status, e);
	tell(s, status, ret);
	if (!status)
		status = pg_cluster_stop(&s->cluster, e);
	if (status)
		pg_cluster_tell_log(&s->cluster, &ret->detail);
	return status;
}

const struct workload_engine pgbench_engine = {
	.kind = WORKLOAD_PGBENCH,
	.make = bench_make,
	.prepare = bench_prepare,
	.run = bench_run,
	.preview = bench_preview,
	.clear = bench_clear,
};
