/*
 * The way into the store over the network: many agents at once, each with a certificate and a
 * connection of its own, speak the real protocol to a real coordinator and send samples as fast as
 * their credit and the acknowledgements let them. An acknowledged sample is a committed one.
 *
 * The agents say hello, tell their inventory and state, take the job that a run offers them, and
 * send one whole attempt: its start, one trial of many samples, its end. Batches are cut as the
 * agent's ring cuts them.
 *
 * usage: bench_ingest STATE ADDRESS PID AGENTS SAMPLE_BYTES SECONDS CMD ARG…
 *   STATE, PID   of the coordinator: its authority signs the agents, its CPU time is read
 *   CMD          files a run for all hosts, as soon as all agents are idle
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/ring.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/tls.h"
#include "common/base/units.h"
#include "proto/conn.h"
#include "proto/record.h"
#include "proto/window.h"
#include "tests/bench/bench.h"

#define CONNECT_MS 30000
#define DEADLINE_S 90          /* for all of it, beyond the seconds of measuring */
#define IN_FLIGHT (512 * 1024) /* payload bytes an agent keeps under way, if its credit lets it */
#define SHAPES 64              /* different samples */
#define WARM_NS NS_PER_S
#define TICK_NS (NS_PER_S / 2)
#define SAMPLE_NS (NS_PER_S / 10)
#define SENT_MAX 256           /* batches under way of one agent */

struct sent {
	uint64_t last, bytes;
	unsigned samples;
};
struct agent {
	struct ingest *all;
	struct conn *conn;
	SSL_CTX *ctx;
	char name[32], *epoch;
	struct window window;
	struct job_key key;
	uint64_t next;    /* number of the next record */
	uint64_t samples; /* sent */
	struct sent sent[SENT_MAX];
	unsigned sent_first, n_sent;
	int ending; /* its last batch is sent */
};
struct ingest {
	struct event_base *base;
	const char *state, *address;
	char **command;
	pid_t coordinator, filing;
	FILE *said; /* by the command that files the run */
	struct agent *agents;
	unsigned n, ready, offered, ended;
	struct sample shape[SHAPES];
	size_t record_bytes;
	int64_t begin_ns, end_ns; /* of measuring, warming up left out; 0: not yet */
	int stopping;
	uint64_t stored; /* samples acknowledged */
	/* one interval */
	uint64_t tick_stored;
	int64_t tick_ns;
	struct bench_series rate;
	uint64_t first_stored, server_ns;
	int64_t client_ns;
	double seconds;
	struct event *tick, *deadline, *child;
};

static int64_t own_cpu_ns(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * NS_PER_S +
		(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
}

/* ---- samples ---- */

static size_t record_size(const struct sample *s)
{
	struct record r = {.type = RECORD_SAMPLE, .wall_ns = clock_wall_ns(), .u.sample = *s};
	struct buf b = {0};
	size_t len;

	record_encode(&r, &b);
	len = b.len;
	buf_free(&b);
	return len;
}

/* Latencies are added until the record has the size that is asked for. */
static void make_shape(struct sample *s, size_t bytes, uint64_t *seed)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf b = {0};

	*s = (struct sample){.trial = 1,
		.start_ns = 1000 * NS_PER_S,
		.end_ns = 1000 * NS_PER_S + SAMPLE_NS,
		.bytes = 512 * 1024 * 1024,
		.tele = {.disk_write_bytes = 512 * 1024 * 1024, .disk_write_ops = 1024,
			.disk_busy_ns = SAMPLE_NS, .disks = 10, .cpu_user_ns = 20000000,
			.cpu_system_ns = 50000000, .cpu_idle_ns = 130000000,
			.mem_free_bytes = 1ull << 34, .mem_cached_bytes = 1ull << 33,
			.arc_bytes = 1ull << 32}};
	do {
		hist_add(h, 20000 + (bench_random(seed) >> (44 + bench_random(seed) % 6)));
		buf_reset(&b);
		hist_encode(h, &b);
		s->hist = b.data;
		s->hist_len = b.len;
		s->ops = h->count;
	} while (record_size(s) < bytes);
	free(h);
}

static void make_shapes(struct ingest *all, size_t bytes)
{
	uint64_t seed = 88172645463325252ULL;

	for (unsigned i = 0; i < SHAPES; i++) {
		make_shape(&all->shape[i], bytes, &seed);
		all->record_bytes += record_size(&all->shape[i]);
	}
	all->record_bytes /= SHAPES;
}

/* ---- what an agent sends ---- */

static void add_record(struct agent *a, struct buf *payload, enum record_type type,
	const struct record *r)
{
	struct record out = r ? *r : (struct record){0};

	out.type = type;
	out.wall_ns = clock_wall_ns();
	record_encode(&out, payload);
	a->next++;
}

static void send_batch(struct agent *a, uint64_t first, unsigned samples, struct buf *payload)
{
	struct msg m = {.type = MSG_RECORD_BATCH};
	struct sent *s;

	if (a->n_sent == SENT_MAX)
		bench_die("more batches under way than this bench counts", NULL);
	m.u.batch = (struct msg_batch){.epoch = a->epoch, .key = a->key, .first = first,
		.last = a->next - 1, .payload = payload->data, .payload_len = payload->len};
	conn_send(a->conn, &m);
	window_sent(&a->window, payload->len);
	s = &a->sent[(a->sent_first + a->n_sent++) % SENT_MAX];
	*s = (struct sent){.last = a->next - 1, .bytes = payload->len, .samples = samples};
	a->samples += samples;
}

static void send_start(struct agent *a)
{
	struct inventory inv = {.host = a->name};
	struct unit unit = {.block = 1};
	struct buf p = {0};
	struct record r;

	a->next = 1;
	r = (struct record){.u.attempt_start = {(char *)"bench", inv, NULL}};
	add_record(a, &p, RECORD_ATTEMPT_START, &r);
	r = (struct record){.u.unit_start = {unit, 1}};
	add_record(a, &p, RECORD_UNIT_START, &r);
	r = (struct record){.u.volume_ready = {.unit = unit, .mount = (char *)"/bench",
		.identity = (char *)"1", .filesystem = (char *)"none", .usable_bytes = 1}};
	add_record(a, &p, RECORD_VOLUME_READY, &r);
	r = (struct record){.u.trial_start = {.trial = 1, .unit = unit, .repeat = 1,
		.cache = (char *)"as-is", .planned_bytes = 1}};
	add_record(a, &p, RECORD_TRIAL_START, &r);
	send_batch(a, 1, 0, &p);
	buf_free(&p);
}

static void send_end(struct agent *a)
{
	struct trial_summary t = {.trial = 1, .block = 1, .repeat = 1, .ok = 1,
		.started_wall_ns = clock_wall_ns(), .elapsed_ns = (int64_t)a->samples * SAMPLE_NS,
		.bytes = 1, .ops = 1, .samples = (uint32_t)a->samples};
	uint64_t first = a->next;
	struct buf p = {0};
	struct record r;

	r = (struct record){.u.trial_end = t};
	add_record(a, &p, RECORD_TRIAL_END, &r);
	r = (struct record){.u.unit_end = {.unit = {.block = 1}, .ok = 1, .error = (char *)""}};
	add_record(a, &p, RECORD_UNIT_END, &r);
	r = (struct record){.u.attempt_end = {ATTEMPT_DONE, (char *)""}};
	add_record(a, &p, RECORD_ATTEMPT_END, &r);
	send_batch(a, first, 0, &p);
	buf_free(&p);
	a->ending = 1;
}

static void send_samples(struct agent *a, struct buf *payload)
{
	uint64_t first = a->next;
	struct record r = {.type = RECORD_SAMPLE};
	unsigned n = 0;

	buf_reset(payload);
	while (n < RING_BATCH_RECORDS && payload->len < RING_BATCH_BYTES) {
		r.u.sample = a->all->shape[a->next % SHAPES];
		r.u.sample.start_ns = (int64_t)(a->samples + n) * SAMPLE_NS;
		r.u.sample.end_ns = r.u.sample.start_ns + SAMPLE_NS;
		add_record(a, payload, RECORD_SAMPLE, &r);
		n++;
	}
	send_batch(a, first, n, payload);
}

static int may_send(const struct agent *a)
{
	uint64_t batch = RING_BATCH_BYTES + 4096;

	return a->n_sent < SENT_MAX && a->window.used + batch <= IN_FLIGHT &&
		window_may_send(&a->window, batch);
}

static void feed(struct agent *a)
{
	struct buf payload = {0};

	while (!a->all->stopping && may_send(a))
		send_samples(a, &payload);
	buf_free(&payload);
	if (a->all->stopping && !a->ending && a->n_sent == 0)
		send_end(a);
}

static void send_status(struct agent *a, enum agent_state state)
{
	struct msg m = {.type = MSG_AGENT_STATUS};

	m.u.agent_status.state = state;
	m.u.agent_status.note = (char *)"";
	if (state == AGENT_RUNNING)
		m.u.agent_status.key = a->key;
	conn_send(a->conn, &m);
}

/* ---- the phases, all agents together ---- */

/* What it says is of interest only if it fails. */
static void file_run(struct ingest *all)
{
	all->said = tmpfile();
	all->filing = fork();
	if (all->filing == 0) {
		if (all->said && (dup2(fileno(all->said), 1) < 0 || dup2(1, 2) < 0))
			_exit(127);
		execv(all->command[0], all->command);
		_exit(127);
	}
}

static void on_child(evutil_socket_t fd, short what, void *arg)
{
	struct ingest *all = arg;
	struct err e = {0};
	int status;
	size_t n;

	(void)fd;
	(void)what;
	if (waitpid(all->filing, &status, WNOHANG) != all->filing || !status)
		return;
	if (all->said) {
		rewind(all->said);
		n = fread(e.text, 1, sizeof(e.text) - 1, all->said);
		e.text[n] = '\0';
	}
	bench_die("the run could not be filed", &e);
}

static void begin(struct ingest *all)
{
	struct timeval tv = {.tv_usec = TICK_NS / 1000};

	for (unsigned i = 0; i < all->n; i++)
		send_start(&all->agents[i]);
	for (unsigned i = 0; i < all->n; i++)
		feed(&all->agents[i]);
	all->begin_ns = clock_mono_ns() + WARM_NS;
	all->end_ns = all->begin_ns + (int64_t)(all->seconds * NS_PER_S);
	event_add(all->tick, &tv);
}

static void end(struct ingest *all)
{
	all->seconds = (double)(clock_mono_ns() - all->begin_ns) / NS_PER_S;
	all->first_stored = all->stored - all->first_stored;
	all->client_ns = own_cpu_ns() - all->client_ns;
	all->server_ns = bench_cpu_ns(all->coordinator) - all->server_ns;
	all->stopping = 1;
	for (unsigned i = 0; i < all->n; i++)
		feed(&all->agents[i]);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct ingest *all = arg;
	int64_t now = clock_mono_ns();

	(void)fd;
	(void)what;
	if (all->stopping || now < all->begin_ns)
		return;
	if (!all->tick_ns) {
		all->begin_ns = now;
		all->client_ns = own_cpu_ns();
		all->server_ns = bench_cpu_ns(all->coordinator);
		all->first_stored = all->stored;
	} else {
		bench_add(&all->rate, (double)(all->stored - all->tick_stored) * NS_PER_S /
			(double)(now - all->tick_ns));
	}
	all->tick_ns = now;
	all->tick_stored = all->stored;
	if (now >= all->end_ns)
		end(all);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	const struct ingest *all = arg;
	struct err e;

	(void)fd;
	(void)what;
	err_set(&e, ERR_TIMEOUT, "%u agents ready, %u have jobs, %u ended", all->ready, all->offered,
		all->ended);
	bench_die("took too long", &e);
}

/* ---- what an agent is told ---- */

/* The pong that answers the first ping says that all before it was taken in. */
static void on_ready(struct agent *a)
{
	if (a->key.run == 0 && ++a->all->ready == a->all->n)
		file_run(a->all);
}

static void on_hello(struct agent *a, const struct msg_hello_reply *h)
{
	struct msg inv = {.type = MSG_INVENTORY}, ping = {.type = MSG_PING};

	a->window = (struct window){.credit = h->credit};
	a->epoch = xstrdup(h->store_epoch);
	inv.u.inventory = (struct inventory){.host = a->name, .os = (char *)"bench",
		.kernel = (char *)"bench", .arch = (char *)"bench", .cpu = (char *)"bench",
		.agent_version = (char *)"bench", .cpus = 1, .ram_bytes = 1ull << 30};
	conn_send(a->conn, &inv);
	send_status(a, AGENT_IDLE);
	ping.u.ping.sent_ns = clock_mono_ns();
	conn_send(a->conn, &ping);
}

static void on_offer(struct agent *a, const struct msg_job_offer *o)
{
	struct msg m = {.type = MSG_JOB_ACCEPT};

	if (a->key.run)
		bench_die("a second job was offered to an agent", NULL);
	a->key = o->key;
	m.u.job_accept = o->key;
	conn_send(a->conn, &m);
	send_status(a, AGENT_RUNNING);
	if (++a->all->offered == a->all->n)
		begin(a->all);
}

static void on_ack(struct agent *a, const struct msg_batch_ack *ack)
{
	while (a->n_sent && a->sent[a->sent_first].last <= ack->last) {
		const struct sent *s = &a->sent[a->sent_first];

		window_acked(&a->window, s->bytes);
		a->all->stored += s->samples;
		a->sent_first = (a->sent_first + 1) % SENT_MAX;
		a->n_sent--;
	}
	window_grant(&a->window, ack->credit);
	if (!a->ending || a->n_sent) {
		feed(a);
		return;
	}
	memset(&a->key, 0, sizeof(a->key));
	send_status(a, AGENT_IDLE);
	if (++a->all->ended == a->all->n)
		event_base_loopbreak(a->all->base);
}

static void on_refuse(const struct agent *a, const struct msg_batch_refuse *r)
{
	struct err e;

	err_set(&e, ERR_FAILED, "%s: %s", a->name, r->text);
	bench_die("a batch was refused", &e);
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct agent *a = arg;
	struct msg pong = {.type = MSG_PONG};

	switch (m->type) {
	case MSG_HELLO_REPLY:
		on_hello(a, &m->u.hello_reply);
		break;
	case MSG_PING:
		pong.u.pong.sent_ns = m->u.ping.sent_ns;
		pong.u.pong.received_ns = clock_mono_ns();
		pong.u.pong.wall_ns = clock_wall_ns();
		conn_send(c, &pong);
		break;
	case MSG_PONG:
		on_ready(a);
		break;
	case MSG_JOB_OFFER:
		on_offer(a, &m->u.job_offer);
		break;
	case MSG_BATCH_ACK:
		on_ack(a, &m->u.batch_ack);
		break;
	case MSG_BATCH_REFUSE:
		on_refuse(a, &m->u.batch_refuse);
		break;
	case MSG_ERROR:
		bench_die(a->name, &m->u.error);
	default:
		bench_die(msg_type_name(m->type), NULL);
	}
}

static void on_open(struct conn *c, void *arg)
{
	struct msg m = {.type = MSG_HELLO};

	(void)arg;
	m.u.hello = (struct msg_hello){PROTO_VERSION_MIN, PROTO_VERSION_MAX, (char *)"bench",
		(char *)""};
	conn_send(c, &m);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct agent *a = arg;

	(void)c;
	bench_die(a->name, why);
}

static const struct conn_handler handler = {
	.on_open = on_open, .on_msg = on_msg, .on_close = on_close};

/* ---- set up ---- */

static void read_state(const struct ingest *all, const char *name, struct buf *out)
{
	char *path = xasprintf("%s/%s", all->state, name);
	struct err e;

	if (fs_read_file(path, 64 * 1024, out, &e))
		bench_die("the coordinator's authority", &e);
	free(path);
}

static void make_identity(struct agent *a, const struct buf *ca, const struct buf *ca_key)
{
	struct buf key = {0}, csr = {0}, cert = {0};
	struct err e;

	if (tls_key_new(&key, &e) || tls_csr_new(buf_str(&key), &csr, &e) ||
		tls_sign(buf_str(ca), buf_str(ca_key), buf_str(&csr), TLS_ROLE_AGENT, a->name, NULL,
			1, &cert, NULL, &e) ||
		tls_client_ctx(buf_str(&cert), buf_str(&key), buf_str(ca), &a->ctx, &e))
		bench_die("an agent's certificate", &e);
	buf_free(&key);
	buf_free(&csr);
	buf_free(&cert);
}

static void connect_all(struct ingest *all)
{
	struct buf ca = {0}, ca_key = {0};
	struct err e;

	read_state(all, "ca.pem", &ca);
	read_state(all, "ca.key", &ca_key);
	all->agents = xcalloc(all->n, sizeof(*all->agents));
	for (unsigned i = 0; i < all->n; i++) {
		struct agent *a = &all->agents[i];

		a->all = all;
		snprintf(a->name, sizeof(a->name), "bench-%u", i);
		make_identity(a, &ca, &ca_key);
		a->conn = conn_connect(all->base, all->address, a->ctx, TLS_ALPN_MAIN, CONNECT_MS,
			&handler, a, &e);
		if (!a->conn)
			bench_die(a->name, &e);
	}
	explicit_bzero(ca_key.data, ca_key.len);
	buf_free(&ca_key);
	buf_free(&ca);
}

static void close_all(struct ingest *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		conn_close(all->agents[i].conn);
		SSL_CTX_free(all->agents[i].ctx);
		free(all->agents[i].epoch);
	}
	event_free(all->tick);
	event_free(all->deadline);
	event_free(all->child);
	event_base_dispatch(all->base);
	event_base_free(all->base);
	for (unsigned i = 0; i < SHAPES; i++)
		free(all->shape[i].hist);
	if (all->said)
		fclose(all->said);
	free(all->agents);
}

static void print(struct ingest *all)
{
	double share = 1 / (all->seconds * NS_PER_S);
	char *what = xasprintf("%zu-byte samples stored, %u connections", all->record_bytes, all->n);
	int is_target = all->record_bytes <= 256;

	bench_row(what, &all->rate, "/s", is_target ? BENCH_AT_LEAST : BENCH_SHOWN, 100000);
	bench_one("    over the whole time", (double)all->first_stored / all->seconds, "/s",
		BENCH_SHOWN, 0);
	bench_one("    CPU of the coordinator", (double)all->server_ns * share, "cores",
		BENCH_SHOWN, 0);
	bench_one("    CPU of all agents", (double)all->client_ns * share, "cores", BENCH_SHOWN, 0);
	free(what);
}

int main(int argc, char **argv)
{
	struct ingest all = {0};
	struct timeval limit = {.tv_sec = DEADLINE_S};
	int64_t pid, n, bytes, seconds;
	struct err e;

	if (argc < 8)
		bench_die("usage: bench_ingest STATE ADDRESS PID AGENTS SAMPLE_BYTES SECONDS CMD ARG…",
			NULL);
	if (units_parse_int(argv[3], 2, 1 << 30, &pid, &e) ||
		units_parse_int(argv[4], 1, 10000, &n, &e) ||
		units_parse_int(argv[5], 1, 16384, &bytes, &e) ||
		units_parse_int(argv[6], 1, 60, &seconds, &e))
		bench_die("usage", &e);
	all = (struct ingest){.state = argv[1], .address = argv[2], .coordinator = (pid_t)pid,
		.n = (unsigned)n, .seconds = (double)seconds, .command = argv + 7,
		.base = event_base_new()};
	make_shapes(&all, (size_t)bytes);
	all.tick = event_new(all.base, -1, EV_PERSIST, on_tick, &all);
	all.deadline = evtimer_new(all.base, on_deadline, &all);
	limit.tv_sec += seconds;
	event_add(all.deadline, &limit);
	all.child = evsignal_new(all.base, SIGCHLD, on_child, &all);
	event_add(all.child, NULL);
	connect_all(&all);
	event_base_dispatch(all.base);
	print(&all);
	close_all(&all);
	return 0;
}
