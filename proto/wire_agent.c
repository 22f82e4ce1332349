/* Tables of the messages inside one agent: monitor <-> link, monitor <-> worker. */
#include <string.h>

#include "proto/wire.h"

static const struct map_field link_setup_fields[] = {
	TEXT(LinkSetup, struct msg_link_setup, coordinator, TEXT_LINE, 320, 0),
	TEXT(LinkSetup, struct msg_link_setup, cert_pem, TEXT_LINES, WIRE_PEM_MAX, 0),
	TEXT(LinkSetup, struct msg_link_setup, key_pem, TEXT_LINES, WIRE_PEM_MAX, 0),
	TEXT(LinkSetup, struct msg_link_setup, ca_pem, TEXT_LINES, WIRE_PEM_MAX, 0),
	TEXT(LinkSetup, struct msg_link_setup, spool, TEXT_LINE, WIRE_PATH_MAX, 0),
	U64(LinkSetup, struct msg_link_setup, spool_limit, 0, WIRE_MAX63),
};
const struct map wire_link_setup =
	MAP("link_setup", link_setup, struct msg_link_setup, link_setup_fields, NULL);

static const struct map_field link_state_fields[] = {
	FLAG(LinkState, struct msg_link_state, connected),
	TEXT(LinkState, struct msg_link_state, store_epoch, TEXT_ID, MSG_NAME_MAX, 0),
	U32(LinkState, struct msg_link_state, unsent, 0, UINT32_MAX),
	TEXT(LinkState, struct msg_link_state, error, TEXT_LINE, WIRE_LINE_MAX, 0),
};
const struct map wire_link_state =
	MAP("link_state", link_state, struct msg_link_state, link_state_fields, NULL);

/* Relative, and no component leads out of the directory. */
static int stays_inside(const char *name)
{
	size_t n;

	if (!*name || *name == '/')
		return 0;
	for (; *name; name += n + (name[n] == '/')) {
		n = strcspn(name, "/");
		if (n == 2 && name[0] == '.' && name[1] == '.')
			return 0;
	}
	return 1;
}

static int worker_spec_check(const void *plain, struct err *e)
{
	const struct msg_worker_spec *s = plain;

	if (strcmp(s->kind, "stream") == 0 && (!s->threads || !s->files || !s->block_size))
		return err_set(e, ERR_PROTOCOL,
			"a stream without threads, files or block_size: the least is 1");
	if (*s->directory != '/')
		return err_set(e, ERR_PROTOCOL, "directory is not absolute");
	if (s->names.n != s->files)
		return err_set(e, ERR_PROTOCOL, "%zu names for %u files", s->names.n, s->files);
	for (size_t i = 0; i < s->names.n; i++)
		if (!stays_inside(s->names.v[i]))
			return err_set(e, ERR_PROTOCOL, "name '%s' leads out of the directory",
				s->names.v[i]);
	return 0;
}

static const struct map_field worker_spec_fields[] = {
	TEXT(WorkerSpec, struct msg_worker_spec, kind, TEXT_ID, MSG_NAME_MAX, MAP_REQUIRED),
	TEXT(WorkerSpec, struct msg_worker_spec, directory, TEXT_LINE, WIRE_PATH_MAX, MAP_REQUIRED),
	ENUM(WorkerSpec, struct msg_worker_spec, op, 0, OP_REWRITE + 1),
	U64(WorkerSpec, struct msg_worker_spec, size, 0, WIRE_MAX63),
	U64(WorkerSpec, struct msg_worker_spec, block_size, 0, 1 << 30),
	ENUM(WorkerSpec, struct msg_worker_spec, data, 0, DATA_KIND_COUNT),
	U32(WorkerSpec, struct msg_worker_spec, compressible_percent, 0, 100),
	ENUM(WorkerSpec, struct msg_worker_spec, sync, 0, SYNC_KIND_COUNT),
	FLAG(WorkerSpec, struct msg_worker_spec, direct),
	U32(WorkerSpec, struct msg_worker_spec, threads, 0, 4096),
	U32(WorkerSpec, struct msg_worker_spec, files, 0, WIRE_FILES_MAX),
	U64(WorkerSpec, struct msg_worker_spec, rate, 0, WIRE_MAX63),
	TEXTS(WorkerSpec, struct msg_worker_spec, names, TEXT_LINE, WIRE_PATH_MAX, WIRE_FILES_MAX,
		0),
	S64(WorkerSpec, struct msg_worker_spec, sample_ns, 1000000, 3600LL * 1000000000),
	U64(WorkerSpec, struct msg_worker_spec, seed, 0, UINT64_MAX),
	U64(WorkerSpec, struct msg_worker_spec, dev, 0, UINT64_MAX),
	FLAG(WorkerSpec, struct msg_worker_spec, syncfs_works),
	FLAG(WorkerSpec, struct msg_worker_spec, verify),
	FLAG(WorkerSpec, struct msg_worker_spec, keep_old),
	PLAN(WorkerSpec, struct msg_worker_spec, plan_text, 0),
	TEXTS(WorkerSpec, struct msg_worker_spec, sets, TEXT_LINE, WIRE_PATH_MAX, WIRE_SETS_MAX, 0),
	U32(WorkerSpec, struct msg_worker_spec, workload, 0, WIRE_WORKLOAD_COUNT - 1),
	U32(WorkerSpec, struct msg_worker_spec, block, 0, MSG_MAX_BLOCK),
	U32(WorkerSpec, struct msg_worker_spec, repeat, 0, WIRE_REPEAT_MAX),
	U64(WorkerSpec, struct msg_worker_spec, ram_bytes, 0, WIRE_MAX63),
	TEXTS(WorkerSpec, struct msg_worker_spec, disks, TEXT_LINE, WIRE_PATH_MAX, WIRE_FILES_MAX,
		0),
	ENUM(WorkerSpec, struct msg_worker_spec, rehearse, 0, REHEARSE_COUNT),
	U32(WorkerSpec, struct msg_worker_spec, layout, 0, WIRE_LAYOUT_COUNT - 1),
};
const struct map wire_worker_spec = MAP(
	"worker_spec", worker_spec, struct msg_worker_spec, worker_spec_fields, worker_spec_check);

static const struct map_field worker_ready_fields[] = {
	U64_AS(WorkerReady, pid, struct wire_u64, v, 1, INT32_MAX),
};
const struct map wire_worker_ready =
	MAP("worker_ready", worker_ready, struct wire_u64, worker_ready_fields, NULL);

static const struct map_field worker_go_fields[] = {
	S64_AS(WorkerGo, start_ns, struct wire_s64, v, 0, WIRE_MAX63),
};
const struct map wire_worker_go =
	MAP("worker_go", worker_go, struct wire_s64, worker_go_fields, NULL);

static const struct map_field worker_done_fields[] = {
	FLAG(WorkerDone, struct msg_worker_done, ok),
	PART(WorkerDone, error, offsetof(struct msg_worker_done, error), &wire_error,
		MAP_OMIT_ZERO),
	S64(WorkerDone, struct msg_worker_done, elapsed_ns, 0, WIRE_MAX63),
	S64(WorkerDone, struct msg_worker_done, sync_ns, 0, WIRE_MAX63),
	S64(WorkerDone, struct msg_worker_done, started_wall_ns, INT64_MIN, WIRE_MAX63),
	U64(WorkerDone, struct msg_worker_done, bytes, 0, WIRE_MAX63),
	U64(WorkerDone, struct msg_worker_done, ops, 0, WIRE_MAX63),
	U64(WorkerDone, struct msg_worker_done, errors, 0, WIRE_MAX63),
	U64(WorkerDone, struct msg_worker_done, cpu_user_ns, 0, WIRE_MAX63),
	U64(WorkerDone, struct msg_worker_done, cpu_system_ns, 0, WIRE_MAX63),
	BYTES(WorkerDone, hist, struct msg_worker_done, hist, hist_len, WIRE_HIST_MAX, 0),
	PART(WorkerDone, detail, offsetof(struct msg_worker_done, detail), &wire_trial_detail,
		MAP_OMIT_ZERO),
};
const struct map wire_worker_done =
	MAP("worker_done", worker_done, struct msg_worker_done, worker_done_fields, NULL);
