/*
 * Messages as plain structs: what the rest of arraymark sees of the wire.
 *
 * Strings are never NULL after decoding unless the comment says so ("" when absent). Every limit of
 * this file is enforced when decoding; a message that breaks one is ERR_PROTOCOL. Texts are UTF-8
 * without control characters (PEM, program output and argv words may have newlines and tabs; a NUL
 * on the wire ends a text). When encoding, free texts are made so: wrong bytes become U+FFFD,
 * control characters spaces, and what is too long is cut; a wrong name is ERR_INPUT. A struct msg
 * owns everything in it (msg_clear frees); when encoding, borrowed strings are fine as long as
 * msg_clear is not called on it.
 */
#ifndef PROTO_MSG_H
#define PROTO_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/inventory.h"
#include "common/measure/limits.h"
#include "common/measure/sample.h"

#define PROTO_VERSION_MIN 1
#define PROTO_VERSION_MAX 1
#define MSG_FRAME_MAX (1024 * 1024)         /* payload bytes of one frame */
#define MSG_DECODE_BUDGET (4 * 1024 * 1024) /* memory one frame may unpack to */
#define MSG_NAME_MAX 64
#define MSG_PLAN_MAX (256 * 1024)
#define MSG_MAX_BLOCK 1000000
#define MSG_MAX_UNITS 20000
#define MSG_CHUNK_MAX (256 * 1024) /* data bytes of one chunk */
/* What a CALL_IMPORT may send after it, over all its chunks. */
#define MSG_IMPORT_MAX (256 * 1024 * 1024)
#define MSG_IMPORT_LINES RESULTS_MAX
#define MSG_BATCH_MAX (512 * 1024) /* payload bytes of one batch */
/* First characters of a store epoch: drawn when a store is made, the same in those restored from it. */
#define MSG_EPOCH_KIN 16

enum msg_type {
	MSG_NONE,
	MSG_HELLO,
	MSG_HELLO_REPLY,
	MSG_PING,
	MSG_PONG,
	MSG_ERROR,
	MSG_ENROL_REQUEST,
	MSG_ENROL_REPLY,
	MSG_JOB_OFFER,
	MSG_CONTINUE,
	MSG_FINISH,
	MSG_CANCEL,
	MSG_PREVIEW,
	MSG_BATCH_ACK,
	MSG_BATCH_REFUSE,
	MSG_INVENTORY,
	MSG_AGENT_STATUS,
	MSG_JOB_ACCEPT,
	MSG_JOB_REJECT,
	MSG_PREVIEW_REPLY,
	MSG_RECORD_BATCH,
	MSG_CALL,
	MSG_CHUNK,
	MSG_LINK_SETUP,
	MSG_BATCH_STORED,
	MSG_WORKER_SPEC,
	MSG_WORKER_READY,
	MSG_WORKER_GO,
	MSG_WORKER_SAMPLE,
	MSG_WORKER_DONE,
	MSG_LINK_STATE,
	MSG_TYPE_COUNT
};

struct msg_hello {
	uint32_t min_version, max_version;
	char *program_version;
	char *store_epoch;
};
struct msg_hello_reply {
	uint32_t version;
	char *program_version, *store_epoch;
	uint64_t credit;
	uint32_t heartbeat_ms;
	char *name, *role;
};
struct msg_ping {
	int64_t sent_ns;
	char *trouble; /* of the coordinator, for people; "" or NULL: none */
};
struct msg_pong {
	int64_t sent_ns, received_ns, wall_ns;
};
struct msg_enrol_request {
	char *token, *csr_pem, *host;
};
struct msg_enrol_reply {
	char *cert_pem, *ca_pem, *name, *role;
};

struct job_key {
	uint64_t run, job;
	uint32_t attempt; /* from 1 */
};
struct unit {
	uint32_t block;  /* from 1 */
	uint32_t layout; /* from 0, after matrix expansion */
};
/* Which disks a layout's stage stands on, for the whole run: equal on every build. */
struct bound_disks {
	uint32_t layout;
	char *role;     /* "data", "spare", "log", "cache", "special", "array" */
	uint32_t group; /* vdev group within the role, from 0 */
	struct strv ids;
};
struct msg_job_offer {
	struct job_key key;
	char *plan_text;
	struct strv sets;
	uint64_t seed;
	struct unit *units;
	size_t n_units;
	struct bound_disks *disks;
	size_t n_disks;
	char *job_tag; /* 6 hex digits */
	uint64_t deadline_s;
	uint32_t blocks;
	int wait_continue;
	char *run_name;
};
struct msg_continue {
	struct job_key key;
	struct unit unit;
	uint32_t workload, repeat;
	int64_t start_ns;
};
struct msg_cancel {
	struct job_key key;
	char *reason;
};
struct msg_preview {
	char *plan_text;
	struct strv sets;
	uint64_t seed;
	struct bound_disks *disks;
	size_t n_disks;
};
enum step_phase { PHASE_BUILD, PHASE_CACHE, PHASE_WORKLOAD, PHASE_TEARDOWN, PHASE_COUNT };
struct preview_step {
	uint32_t layout;
	enum step_phase phase;
	char *what;
	struct strv argv;
};
struct msg_preview_reply {
	struct preview_step *steps;
	size_t n_steps;
	struct err error; /* code ERR_NONE: fine */
};
struct msg_job_reject {
	struct job_key key;
	struct err error;
};
enum agent_state { AGENT_IDLE, AGENT_RUNNING, AGENT_CLEANING, AGENT_STOPPED, AGENT_STATE_COUNT };
struct msg_agent_status {
	struct job_key key; /* run 0: no job */
	enum agent_state state;
	uint32_t unsent;
	char *note;
};
struct msg_batch {
	char *epoch;
	struct job_key key;
	uint64_t first, last;
	int lost;
	char *payload; /* serialized Records: see proto/record.h */
	size_t payload_len;
};
struct msg_batch_ack {
	struct job_key key;
	uint64_t last, credit;
	char *epoch;
};
struct msg_batch_refuse {
	struct job_key key;
	uint64_t expected;
	char *text;
};

enum call_verb {
	CALL_NONE,
	CALL_PLAN_CHECK, /* plan, sets, hosts -> one line
			    {"errors":[…],"warnings":[…],"hosts":[…],…} */
	CALL_PREVIEW,    /* plan, sets, hosts -> a line per host and step */
	CALL_RUN_CREATE, /* plan, sets, hosts -> {"run":12,"name":…,"jobs":[{"job","host"}]} */
	CALL_RUNS,       /* a line per run */
	CALL_SHOW,       /* target run -> export-like detail lines with steps */
	CALL_EXPORT,     /* target run -> everything as JSON lines (coordinator/results/export.h) */
	CALL_WATCH,      /* target run -> progress lines until the run ends */
	CALL_CANCEL,     /* target run */
	CALL_RESUME,     /* target run */
	CALL_HOSTS,      /* a line per host */
	CALL_HOST_SHOW,  /* target host -> {host, inventory, …} */
	CALL_HOST_TAG,   /* target host, args: +tag/-tag */
	CALL_HOST_PAUSE, /* target host, args[0] "on"/"off" */
	CALL_HOST_REVOKE,  /* target host or user */
	CALL_TOKEN_CREATE, /* role, target name, ttl_s -> {"token":…,"expires":…} */
	CALL_TOKEN_LIST,
	CALL_TOKEN_REVOKE, /* target token id */
	CALL_BACKUP,       /* target file: on the local socket only */
	CALL_CHECK,        /* on the local socket only */
	CALL_WHOAMI,       /* -> {"name","role","coordinator"} */
	CALL_HOST_REMOVE,
	CALL_IMPORT, /* target name; then chunks from the caller: lines of
			coordinator/results/export.h -> {"run":12,…} */
	CALL_VERB_COUNT
};
struct msg_call {
	enum call_verb verb;
	char *plan_text; /* NULL when absent */
	char *plan_name;
	struct strv sets, hosts, args;
	char *target, *role;
	uint64_t ttl_s;
};
struct msg_chunk {
	uint64_t n;
	char *data; /* whole JSON lines; NUL-terminated for convenience, no NUL inside */
	size_t len;
	int end;
};

struct msg_link_setup {
	char *coordinator, *cert_pem, *key_pem, *ca_pem, *spool;
	uint64_t spool_limit;
};
struct msg_batch_stored {
	struct job_key key;
	uint64_t last;
};
struct msg_link_state {
	int connected;
	char *store_epoch;
	uint32_t unsent;
	char *error;
};

/* What a worker does before a trial, not counted: makes the files it reads, or that and a whole
 * trial, so that the caches are warm. */
enum rehearsal { REHEARSE_NONE, REHEARSE_FILES, REHEARSE_TRIAL, REHEARSE_COUNT };
/* One trial's order to a worker. */
struct msg_worker_spec {
	char *kind;
	char *directory;
	enum op_kind op;
	uint64_t size, block_size; /* bytes; size over all files */
	enum data_kind data;
	uint32_t compressible_percent;
	enum sync_kind sync;
	int direct;
	uint32_t threads, files;
	uint64_t rate; /* bytes/s, 0: unlimited */
	struct strv names;
	int64_t sample_ns;
	uint64_t seed;
	uint64_t dev; /* st_dev of the volume's mount */
	int syncfs_works;
	int verify, keep_old;
	/* the plan, for all that the fields above don't say; NULL: only a stream by those fields */
	char *plan_text;
	struct strv sets;
	uint32_t workload, block, repeat; /* index from 0; block and repeat from 1 */
	uint64_t ram_bytes;
	struct strv disks; /* for scans: kernel names, or "name why" for one that could not be opened */
	enum rehearsal rehearse;
	uint32_t layout;   /* index from 0 */
};
struct msg_worker_done {
	int ok;
	struct err error;
	int64_t elapsed_ns, sync_ns, started_wall_ns;
	uint64_t bytes, ops, errors, cpu_user_ns, cpu_system_ns;
	char *hist;
	size_t hist_len;
	struct trial_detail detail;
};

struct msg {
	enum msg_type type;
	uint64_t request;
	union {
		struct msg_hello hello;
		struct msg_hello_reply hello_reply;
		struct msg_ping ping;
		struct msg_pong pong;
		struct err error;
		struct msg_enrol_request enrol_request;
		struct msg_enrol_reply enrol_reply;
		struct msg_job_offer job_offer;
		struct msg_continue continue_;
		struct job_key finish;
		struct msg_cancel cancel;
		struct msg_preview preview;
		struct msg_batch_ack batch_ack;
		struct msg_batch_refuse batch_refuse;
		struct inventory inventory;
		struct msg_agent_status agent_status;
		struct job_key job_accept;
		struct msg_job_reject job_reject;
		struct msg_preview_reply preview_reply;
		struct msg_batch batch;
		struct msg_call call;
		struct msg_chunk chunk;
		struct msg_link_setup link_setup;
		struct msg_batch_stored batch_stored;
		struct msg_worker_spec worker_spec;
		uint64_t worker_ready_pid;
		int64_t worker_go_start_ns;
		struct sample worker_sample;
		struct msg_worker_done worker_done;
		struct msg_link_state link_state;
	} u;
};

const char *msg_type_name(enum msg_type type);
/* Frees what the message owns and zeroes it. */
void msg_clear(struct msg *m);
/* Appends the 4-byte length and the envelope. ERR_FULL when it would exceed MSG_FRAME_MAX. */
int msg_encode(const struct msg *m, struct buf *out, struct err *e);
/* Decodes one frame's payload (without the length) within MSG_DECODE_BUDGET; an envelope with no
 * known message or with two is ERR_PROTOCOL. */
int msg_decode(const void *data, size_t len, struct msg *ret, struct err *e);
int job_key_equal(const struct job_key *a, const struct job_key *b);

/* The protobuf of an inventory or of a trial's evidence as bytes (the store keeps them so); decoding
 * checks every field. */
void inventory_encode(const struct inventory *inv, struct buf *out);
int inventory_decode(const void *data, size_t len, struct inventory *ret, struct err *e);
void evidence_encode(const struct trial_evidence *v, struct buf *out);
int evidence_decode(const void *data, size_t len, struct trial_evidence *ret, struct err *e);
/* The same for what a trial tells beside its counters; detail_clear frees. */
void detail_encode(const struct trial_detail *d, struct buf *out);
int detail_decode(const void *data, size_t len, struct trial_detail *ret, struct err *e);
/* The most common version of both ranges; ERR_PROTOCOL names both ranges and programs. */
int hello_agree(const struct msg_hello *h, uint32_t *ret_version, struct err *e);

#endif
