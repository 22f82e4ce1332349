/*
 * The fields of each kind of export line, in the order in which they are written. Owns nothing.
 * Invariant: a member of a result struct that an export keeps has a row here, and the row takes
 * whatever an agent may have sent (proto/wire_record.c), so that each run of a store can be read;
 * result_set_check() is stricter with strangers.
 */
#include "common/base/mem.h"
#include "coordinator/results/export_field.h"

/* A row whose key is the member's name, and one whose key is not; then kind, flags and what else. */
#define F(member, ...) ROW(#member, member, __VA_ARGS__)
#define KEYED(key, member, ...) ROW(key, member, __VA_ARGS__)
#define ROW(key_, member, kind_, flags_, ...)                                                      \
	{                                                                                          \
		.key = (key_), .kind = (kind_), .flags = (flags_), .offset = offsetof(OF, member), \
		__VA_ARGS__                                                                        \
	}
#define COUNT FIELD_U64, 0
#define TEXT FIELD_TEXT, 0
#define NAME FIELD_TEXT, FIELD_MUST | FIELD_FULL
#define SPAN FIELD_I64, 0 /* ns, from 0 on */
/* ns since 1970, or since a trial's start: clocks may be wrong, and samples begin before a trial does */
#define MOMENT FIELD_I64, 0, .least = INT64_MIN
#define INDEX FIELD_U32, FIELD_MUST, .most = EXPORT_INDEX_MOST
#define FROM_1 FIELD_U32, FIELD_MUST, .least = 1
#define TABLE(name, rows) const struct field_table name = {rows, ARRAY_LEN(rows)}

static const char *const states[] = {
	"waiting", "running", "done", "failed", "cancelled", "imported", NULL};
static const char *const designs[] = {"random-blocks", "as-written", "once", "unknown", NULL};
static const char *const caches[] = {"cold", "warm", "as-is", NULL};
static const char *const phases[] = {"build", "cache", "workload", "teardown", NULL};

#define OF struct result_run
static const struct field run_rows[] = {
	F(name, NAME),
	F(state, TEXT, .words = states),
	F(plan_sha256, TEXT),
	F(tool_version, TEXT),
	F(user, TEXT),
	F(sets, FIELD_LIST, 0),
	F(seed, FIELD_DIGITS, 0),
	F(blocks, FIELD_U32, 0, .most = EXPORT_BLOCKS_MOST),
	F(cache, TEXT, .words = caches),
	F(started_wall_ns, MOMENT),
	F(finished_wall_ns, MOMENT),
	F(layouts, FIELD_LIST, 0),
	F(workloads, FIELD_LIST, 0),
	F(design, TEXT, .words = designs),
	F(baseline, FIELD_INT, 0, .least = -1, .most = EXPORT_INDEX_MOST),
	F(margin, FIELD_REAL, 0),
};
TABLE(export_run_table, run_rows);
#undef OF

#define OF struct export_piece
static const struct field plan_rows[] = {F(text, FIELD_REF, FIELD_MUST | FIELD_FULL)};
TABLE(export_plan_table, plan_rows);
static const struct field host_rows[] = {F(host, FIELD_REF, FIELD_MUST | FIELD_FULL)};
TABLE(export_host_table, host_rows);
/* What lines about a trial that was told before begin with. */
static const struct field of_trial_rows[] = {
	F(host, FIELD_REF, FIELD_MUST | FIELD_FULL),
	F(attempt, FIELD_U32, 0),
	F(trial, FROM_1),
};
TABLE(export_of_trial_table, of_trial_rows);
#undef OF

#define OF struct result_trial
static const struct field trial_rows[] = {
	F(host, NAME),
	F(attempt, FIELD_U32, 0),
	KEYED("trial", sum.trial, FROM_1),
	F(layout, INDEX),
	F(layout_name, TEXT),
	F(workload, INDEX),
	F(workload_name, TEXT),
	F(op, TEXT),
	F(block, FROM_1, .most = EXPORT_BLOCKS_MOST),
	F(repeat, FIELD_U32, 0, .most = EXPORT_BLOCKS_MOST),
	F(position, FIELD_U32, 0),
	F(superseded, FIELD_BOOL, 0),
	F(complete, FIELD_BOOL, 0),
	F(lost, FIELD_U32, 0),
	F(cache, TEXT),
	F(usable_bytes, COUNT),
	KEYED("ok", sum.ok, FIELD_BOOL, 0),
	KEYED("error", sum.error, FIELD_TEXT, FIELD_NULL),
	KEYED("started_wall_ns", sum.started_wall_ns, MOMENT),
	KEYED("elapsed_ns", sum.elapsed_ns, SPAN),
	KEYED("sync_ns", sum.sync_ns, SPAN),
	KEYED("bytes", sum.bytes, COUNT),
	KEYED("ops", sum.ops, COUNT),
	KEYED("errors", sum.errors, COUNT),
	KEYED("cpu_user_ns", sum.cpu_user_ns, COUNT),
	KEYED("cpu_system_ns", sum.cpu_system_ns, COUNT),
	KEYED("samples", sum.samples, FIELD_U32, 0),
};
TABLE(export_trial_table, trial_rows);
#undef OF

#define OF struct telemetry
#define TELEMETRY_ROWS                                                                             \
	F(disk_read_bytes, COUNT), F(disk_write_bytes, COUNT), F(disk_read_ops, COUNT),            \
		F(disk_write_ops, COUNT), F(disk_busy_ns, COUNT), F(cpu_user_ns, COUNT),           \
		F(cpu_system_ns, COUNT), F(cpu_idle_ns, COUNT), F(cpu_iowait_ns, COUNT),           \
		F(mem_free_bytes, COUNT), F(mem_cached_bytes, COUNT), F(arc_bytes, COUNT)
static const struct field telemetry_rows[] = {F(disks, FIELD_U32, 0), TELEMETRY_ROWS};
TABLE(export_telemetry_table, telemetry_rows);
#undef OF

#define OF struct result_printed
static const struct field printed_rows[] = {
	F(metric, FIELD_METRIC, FIELD_MUST),
	F(value, FIELD_REAL, FIELD_MUST | FIELD_FULL),
	F(resolution, FIELD_REAL, 0),
	F(unit_assumed, FIELD_BOOL, 0),
};
TABLE(export_printed_table, printed_rows);
#undef OF

#define OF struct result_summary
static const struct field summary_rows[] = {
	F(host, NAME),
	F(layout, INDEX),
	F(layout_name, TEXT),
	F(workload, INDEX),
	F(workload_name, TEXT),
	F(metric, FIELD_METRIC, FIELD_MUST),
	F(n, FROM_1, .most = 1000000000),
	F(mean, FIELD_REAL, FIELD_MUST | FIELD_FULL),
	F(min, FIELD_REAL, FIELD_NULL | FIELD_FULL),
	F(max, FIELD_REAL, FIELD_NULL | FIELD_FULL),
	F(stddev, FIELD_REAL, FIELD_NULL),
	F(resolution, FIELD_REAL, 0),
	F(stddev_resolution, FIELD_REAL, 0),
	F(unit_assumed, FIELD_BOOL, 0),
};
TABLE(export_summary_table, summary_rows);
#undef OF

#define OF struct result_stop
static const struct field stop_rows[] = {
	F(host, NAME),
	F(block, FROM_1, .most = EXPORT_BLOCKS_MOST),
};
TABLE(export_stop_table, stop_rows);
#undef OF

/* The columns of a series, in this order. */
#define OF struct result_point
#define TELE(member) KEYED(#member, tele.member, COUNT)
#define HOST(member) KEYED(#member, host.member, COUNT)
static const struct field point_rows[] = {
	F(start_ns, MOMENT),
	F(end_ns, MOMENT),
	F(ops, COUNT),
	F(bytes, COUNT),
	F(p50_ns, COUNT),
	F(p99_ns, COUNT),
	F(max_ns, COUNT),
	KEYED("disks", tele.disks, FIELD_U32, 0),
	TELE(disk_read_bytes),
	TELE(disk_write_bytes),
	TELE(disk_read_ops),
	TELE(disk_write_ops),
	TELE(disk_busy_ns),
	TELE(cpu_user_ns),
	TELE(cpu_system_ns),
	TELE(cpu_idle_ns),
	TELE(cpu_iowait_ns),
	TELE(mem_free_bytes),
	TELE(mem_cached_bytes),
	TELE(arc_bytes),
	HOST(busiest_core_permille),
	HOST(cpu_steal_ns),
	HOST(dirty_bytes),
	HOST(writeback_bytes),
	HOST(arc_hits),
	HOST(arc_misses),
};
_Static_assert(sizeof(struct host_usage) == HOST_USAGE_FIELDS * sizeof(uint64_t),
	"a column for each field of the host's usage");
_Static_assert(sizeof(struct telemetry) == 13 * sizeof(uint64_t),
	"a column for each field of the telemetry");
TABLE(export_point_table, point_rows);
#undef OF

#define OF struct result_step
static const struct field step_rows[] = {
	F(host, NAME),
	F(attempt, FIELD_U32, 0),
	F(block, FIELD_U32, 0, .most = EXPORT_BLOCKS_MOST),
	F(layout, FIELD_U32, 0, .most = EXPORT_INDEX_MOST),
	F(layout_name, TEXT),
	F(phase, TEXT, .words = phases),
	F(what, TEXT),
	F(argv, FIELD_LIST, FIELD_MUST),
	F(elapsed_ns, SPAN),
	F(at_wall_ns, MOMENT),
	F(ok, FIELD_BOOL, 0),
	F(output, TEXT),
};
TABLE(export_step_table, step_rows);
#undef OF

#define OF struct trial_part
static const struct field part_rows[] = {
	F(name, NAME),
	F(kind, TEXT),
	F(ops, COUNT),
	F(bytes, COUNT),
	F(errors, COUNT),
	F(elapsed_ns, SPAN),
};
TABLE(export_part_table, part_rows);
#undef OF
#define OF struct trial_fact
static const struct field fact_rows[] = {
	F(name, NAME),
	F(value, FIELD_REAL, FIELD_MUST | FIELD_SIGNED),
	F(unit, TEXT),
};
TABLE(export_fact_table, fact_rows);
#undef OF
#define OF struct trial_note
static const struct field note_rows[] = {
	F(name, NAME),
	F(text, TEXT, .most = DETAIL_NOTE_MAX),
};
TABLE(export_note_table, note_rows);
#undef OF

#define OF struct disk_evidence
#define DURING(member) KEYED(#member, during.member, COUNT)
#define COUNTERS                                                                                   \
	DURING(read_ops), DURING(read_bytes), DURING(write_ops), DURING(write_bytes),              \
		DURING(read_wait_ns), DURING(write_wait_ns), DURING(busy_ns), DURING(queue_ns)
static const struct field disk_rows[] = {
	F(id, FIELD_TEXT, FIELD_NULL),
	F(name, TEXT),
	F(backing, FIELD_TEXT, FIELD_NULL),
	COUNTERS,
	F(look_read_bytes, COUNT),
	F(look_write_bytes, COUNT),
	F(look_busy_ns, COUNT),
	F(cache_before, FIELD_TEXT, FIELD_NULL),
	F(cache_after, FIELD_TEXT, FIELD_NULL),
};
_Static_assert(sizeof(struct disk_counters) == DISK_COUNTERS * sizeof(uint64_t) && DISK_COUNTERS == 8,
	"a row for each counter of a disk");
TABLE(export_disk_table, disk_rows);
#undef OF
#define OF struct setting_evidence
static const struct field setting_rows[] = {
	F(name, TEXT),
	F(of, FIELD_TEXT, FIELD_NULL),
	F(before, FIELD_TEXT, FIELD_NULL),
	F(after, FIELD_TEXT, FIELD_NULL),
};
TABLE(export_setting_table, setting_rows);
#undef OF
#define OF struct source_evidence
static const struct field source_rows[] = {
	F(id, FIELD_TEXT, FIELD_NULL),
	F(name, TEXT),
	F(is_written, FIELD_BOOL, 0),
	F(is_shared, FIELD_BOOL, 0),
	COUNTERS,
};
TABLE(export_source_table, source_rows);
#undef OF

/* ---- an inventory, which has no struct here: its rows only check ---- */
#define CHECK(key, ...) CHECKED(key, __VA_ARGS__)
#define CHECKED(key_, kind_, flags_, ...)                                                          \
	{                                                                                          \
		.key = (key_), .kind = (kind_), .flags = (flags_), __VA_ARGS__                     \
	}
#define CHECK_TEXT(key) CHECK(key, FIELD_TEXT, FIELD_NULL)
static const struct field inventory_rows[] = {
	CHECK_TEXT("host"),
	CHECK_TEXT("os"),
	CHECK_TEXT("kernel"),
	CHECK_TEXT("arch"),
	CHECK_TEXT("cpu"),
	CHECK("cpus", FIELD_U32, 0),
	CHECK("ram_bytes", COUNT),
	CHECK_TEXT("zfs"),
	CHECK_TEXT("agent_version"),
	CHECK("privileged", FIELD_BOOL, 0),
	CHECK("scratch_loop", FIELD_BOOL, 0),
	CHECK("scratch_limit_bytes", COUNT),
	CHECK_TEXT("policy_error"),
	CHECK_TEXT("governor"),
	CHECK_TEXT("boot_id"),
	CHECK("tags", FIELD_LIST, 0),
	CHECK("capabilities", FIELD_LIST, 0),
};
TABLE(export_inventory_table, inventory_rows);
static const struct field inventory_disk_rows[] = {
	CHECK_TEXT("id"),
	CHECK_TEXT("name"),
	CHECK_TEXT("path"),
	CHECK_TEXT("serial"),
	CHECK_TEXT("wwn"),
	CHECK_TEXT("model"),
	CHECK_TEXT("transport"),
	CHECK_TEXT("controller"),
	CHECK_TEXT("controller_path"),
	CHECK_TEXT("enclosure"),
	CHECK_TEXT("slot"),
	CHECK("bytes", COUNT),
	CHECK("logical_sector_bytes", FIELD_U32, 0),
	CHECK("physical_sector_bytes", FIELD_U32, 0),
	CHECK("rotational", FIELD_BOOL, 0),
	CHECK("allowed", FIELD_BOOL, 0),
	CHECK_TEXT("in_use"),
	CHECK_TEXT("link_speed"),
	CHECK_TEXT("scheduler"),
	CHECK_TEXT("write_cache"),
	CHECK_TEXT("zoned"),
	CHECK("signatures", FIELD_LIST, 0),
};
TABLE(export_inventory_disk_table, inventory_disk_rows);
static const struct field inventory_pool_rows[] = {
	CHECK_TEXT("name"),
	CHECK_TEXT("guid"),
	CHECK_TEXT("health"),
	CHECK("bytes", COUNT),
};
TABLE(export_inventory_pool_table, inventory_pool_rows);
