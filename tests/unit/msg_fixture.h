/* One message of each type with every field set, for the tests of the wire. */
#ifndef TESTS_UNIT_MSG_FIXTURE_H
#define TESTS_UNIT_MSG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "proto/arraymark.pb-c.h"
#include "proto/msg.h"

#define KEY                                                                                        \
	{                                                                                          \
		.run = 12, .job = 34, .attempt = 2                                                 \
	}
#define LIST(...)                                                                                  \
	{                                                                                          \
		.v = (char *[]){__VA_ARGS__, NULL},                                                \
		.n = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)                              \
	}
#define PLAN_TEXT "name: t\nhosts: [all]\n"
#define PEM "-----BEGIN X-----\nAAAA\n-----END X-----\n"

static struct bound_disks disks[] = {
	{.layout = 1, .role = "data", .group = 1, .ids = LIST("serial:A1", "wwn:0x5000c500")},
	{.layout = 2, .role = "spare", .group = 3, .ids = LIST("serial:\xc3\xa9")},
};
static struct unit units[] = {{1, 1}, {1000000, 9999}};
static struct preview_step steps[] = {
	{.layout = 1,
		.phase = PHASE_TEARDOWN,
		.what = "destroy",
		.argv = LIST("/sbin/zpool", "x\ny")},
};
static struct inv_disk inv_disks[] = {{
	.name = "sda",
	.path = "/dev/sda",
	.serial = "S1",
	.wwn = "0x5",
	.model = "M 1",
	.transport = "sas",
	.controller = "HBA",
	.controller_path = "/sys/x",
	.enclosure = "e0",
	.slot = "3",
	.bytes = 3000592982016,
	.logical_sector = 512,
	.physical_sector = 4096,
	.rotational = 1,
	.allowed = 1,
	.in_use = "mounted at /",
	.link_speed = "12.0 Gbit/s",
	.scheduler = "mq-deadline",
	.write_cache = "write back",
	.zoned = "host-aware",
	.signatures = LIST("gpt", "ext4"),
}};
static struct inv_pool inv_pools[] = {
	{.name = "tank", .guid = "123", .health = "ONLINE", .bytes = 7},
};
#define TELE                                                                                       \
	{                                                                                          \
		.disk_read_bytes = 1, .disk_write_bytes = 2, .disk_read_ops = 3,                   \
		.disk_write_ops = 4, .disk_busy_ns = 5, .disks = 6, .cpu_user_ns = 7,              \
		.cpu_system_ns = 8, .cpu_idle_ns = 9, .cpu_iowait_ns = 10, .mem_free_bytes = 11,   \
		.mem_cached_bytes = 12, .arc_bytes = 13                                            \
	}

/* One of each, all fields set. */
static struct trial_part parts[] = {{"append1", "flowop", 1, 2, 3, 4, (char *)"\0\0", 2}};
static struct trial_fact facts[] = {{"latency_rw_mean", "ns", 1.5}};
static struct trial_note notes[] = {{"settings", "fsync = on\n"}};
#define DETAIL {parts, 1, facts, 1, notes, 1}
static struct msg messages[] = {
	{MSG_HELLO, 0, {.hello = {1, 3, "0.1.0", "e-1"}}},
	{MSG_HELLO_REPLY, 0,
		{.hello_reply = {1, "0.1.0", "e-1", 1 << 20, 10000, "knew.example", "agent"}}},
	{MSG_PING, 0, {.ping = {-5, "the disk is full"}}},
	{MSG_PONG, 0, {.pong = {-5, 6, INT64_MAX}}},
	{MSG_ERROR, 77, {.error = {ERR_DENIED, "the policy says no"}}},
	{MSG_ENROL_REQUEST, 0, {.enrol_request = {"am1-abc", PEM, "knew"}}},
	{MSG_ENROL_REPLY, 0, {.enrol_reply = {PEM, PEM, "knew", "agent"}}},
	{MSG_JOB_OFFER, 0,
		{.job_offer = {.key = KEY,
			 .plan_text = PLAN_TEXT,
			 .sets = LIST("trials=3", "a=b"),
			 .seed = UINT64_MAX,
			 .units = units,
			 .n_units = 2,
			 .disks = disks,
			 .n_disks = 2,
			 .job_tag = "0a1b2c",
			 .deadline_s = 3600,
			 .blocks = 4,
			 .wait_continue = 1,
			 .run_name = "night-12"}}},
	{MSG_CONTINUE, 0,
		{.continue_ = {.key = KEY,
			 .unit = {2, 1},
			 .workload = 3,
			 .repeat = 4,
			 .start_ns = 5}}},
	{MSG_FINISH, 0, {.finish = KEY}},
	{MSG_CANCEL, 0, {.cancel = {KEY, "by operator"}}},
	{MSG_PREVIEW, 9,
		{.preview = {.plan_text = PLAN_TEXT,
			 .sets = LIST("a=b"),
			 .seed = 5,
			 .disks = disks,
			 .n_disks = 2}}},
	{MSG_BATCH_ACK, 0, {.batch_ack = {KEY, 99, 65536, "e-1"}}},
	{MSG_BATCH_REFUSE, 0, {.batch_refuse = {KEY, 98, "a gap"}}},
	{MSG_INVENTORY, 0,
		{.inventory = {.host = "knew",
			 .os = "Debian",
			 .kernel = "6.1",
			 .arch = "x86_64",
			 .cpu = "Xeon",
			 .zfs = "OpenZFS 2.2.2",
			 .agent_version = "0.1.0",
			 .cpus = 8,
			 .ram_bytes = 1ULL << 36,
			 .privileged = 1,
			 .scratch_loop = 1,
			 .scratch_limit = 5,
			 .policy_error = "agent.yaml: writable by others",
			 .governor = "performance",
			 .boot_id = "5d5f8a4e",
			 .zfs_parameters = LIST("zfs_arc_max=0"),
			 .tags = LIST("pool-node", "rack:12"),
			 .capabilities = LIST("zfs.syncfs"),
			 .disks = inv_disks,
			 .n_disks = 1,
			 .pools = inv_pools,
			 .n_pools = 1}}},
	{MSG_AGENT_STATUS, 0, {.agent_status = {KEY, AGENT_STOPPED, 3, "stopped by the owner"}}},
	{MSG_JOB_ACCEPT, 0, {.job_accept = KEY}},
	{MSG_JOB_REJECT, 0, {.job_reject = {KEY, {ERR_BUSY, "one job at a time"}}}},
	{MSG_PREVIEW_REPLY, 9,
		{.preview_reply = {.steps = steps, .n_steps = 1, .error = {ERR_FAILED, "half"}}}},
	{MSG_RECORD_BATCH, 0,
		{.batch = {.epoch = "e-1",
			 .key = KEY,
			 .first = 5,
			 .last = 6,
			 .payload = "\0\1x",
			 .payload_len = 3}}},
	{MSG_CALL, 4,
		{.call = {.verb = CALL_PLAN_CHECK,
			 .plan_text = PLAN_TEXT,
			 .plan_name = "a/plan.yaml",
			 .sets = LIST("a=b"),
			 .hosts = LIST("tag:x", "all"),
			 .args = LIST("+tag"),
			 .target = "last",
			 .role = "operator",
			 .ttl_s = 3600}}},
	{MSG_CHUNK, 4, {.chunk = {.n = 3, .data = "{}\n", .len = 3, .end = 1}}},
	{MSG_LINK_SETUP, 0, {.link_setup = {"[::1]:7420", PEM, PEM, PEM, "/var/lib/x", 1 << 30}}},
	{MSG_BATCH_STORED, 0, {.batch_stored = {KEY, 12}}},
	{MSG_WORKER_SPEC, 0,
		{.worker_spec = {.kind = "stream",
			 .directory = "/m/d",
			 .op = OP_REWRITE,
			 .size = 1ULL << 40,
			 .block_size = 1 << 20,
			 .data = DATA_COMPRESSIBLE,
			 .compressible_percent = 50,
			 .sync = SYNC_ALL,
			 .direct = 1,
			 .threads = 4,
			 .files = 2,
			 .rate = 100,
			 .names = LIST("a-1", "d/b-1"),
			 .sample_ns = 1000000000,
			 .seed = 7,
			 .dev = 2049,
			 .syncfs_works = 1,
			 .verify = 1,
			 .keep_old = 1,
			 .plan_text = PLAN_TEXT,
			 .sets = LIST("a=b"),
			 .workload = 2,
			 .block = 3,
			 .repeat = 1,
			 .ram_bytes = 1ULL << 34,
			 .disks = LIST("/dev/sdb"),
			 .rehearse = REHEARSE_TRIAL,
			 .layout = 1}}},
	{MSG_WORKER_READY, 0, {.worker_ready_pid = 4711}},
	{MSG_WORKER_GO, 0, {.worker_go_start_ns = 123456789012}},
	{MSG_WORKER_SAMPLE, 0,
		{.worker_sample = {.trial = 3,
			 .start_ns = 5,
			 .end_ns = 1000000005,
			 .ops = 7,
			 .bytes = 8,
			 .errors = 9,
			 .hist = "\1\2\0\3",
			 .hist_len = 4,
			 .tele = TELE,
			 .usage = "\0\0",
			 .usage_len = 2}}},
	{MSG_WORKER_DONE, 0,
		{.worker_done = {.ok = 1,
			 .error = {ERR_FULL, "no space"},
			 .elapsed_ns = 5,
			 .sync_ns = 4,
			 .started_wall_ns = 3,
			 .bytes = 2,
			 .ops = 1,
			 .errors = 6,
			 .cpu_user_ns = 7,
			 .cpu_system_ns = 8,
			 .hist = "\0\0",
			 .hist_len = 2,
			 .detail = DETAIL}}},
	{MSG_LINK_STATE, 0, {.link_state = {1, "e-1", 5, "no route"}}},
};

static inline struct msg *message(enum msg_type type)
{
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		if (messages[i].type == type)
			return &messages[i];
	fail_msg("no message of type %d in the table", (int)type);
	return NULL;
}

static inline struct buf encode(const struct msg *m)
{
	struct buf out = {0};
	struct err e;

	if (msg_encode(m, &out, &e) < 0)
		fail_msg("%s: %s", msg_type_name(m->type), e.text);
	return out;
}

static inline Arraymark__Wire__Envelope *unpack(const struct buf *frame)
{
	Arraymark__Wire__Envelope *env = arraymark__wire__envelope__unpack(
		NULL, frame->len - 4, (const uint8_t *)frame->data + 4);

	assert_non_null(env);
	return env;
}

#endif
