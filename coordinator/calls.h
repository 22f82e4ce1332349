/*
 * Calls: what control clients ask of the coordinator, and the JSON they get back.
 *
 * A call is MSG_CALL with a request number of the caller's choice (unique among its open calls, not
 * 0). It is answered with chunks of whole JSON lines (MSG_CHUNK, n = 0, 1, … and `end` on the last
 * one, whose data may be empty; a line longer than MSG_CHUNK_MAX is cut over several) or, at any point,
 * with one MSG_ERROR that carries the request number; both close the request. Several calls may be open
 * on one connection (at most CALLS_PER_SESSION). Closing the connection ends its calls (a watch just stops).
 *
 * Before the first call a client sends MSG_HELLO and waits for MSG_HELLO_REPLY (name, role,
 * heartbeat_ms) or MSG_ERROR with request 0. The coordinator pings each TLS peer every
 * heartbeat_ms and expects a pong (sent_ns repeated); a peer that sends nothing for three times
 * heartbeat_ms is cut. On the local socket (STATE/control.sock, plain frames, same hello) the role
 * is admin and nobody is cut for silence. A ping's `trouble` says why the coordinator stores nothing
 * now, as on a full disk: what was asked for waits, and nothing is lost.
 *
 * In the lines below: times are RFC 3339 UTC strings ("…Z") or null, *_bytes and *_ns are integers,
 * *_s and rates are numbers (seconds, per second), names are strings. Absent values are null. Keys
 * are only ever added.
 *
 * Roles: viewer (reads), operator (plus runs, cancel, resume, pause), admin (plus hosts and tokens).
 * A call the role does not allow is ERR_DENIED. Unknown hosts and runs are ERR_NOTFOUND.
 *
 * PLAN_CHECK (viewer)  plan_text, plan_name, sets, hosts (empty: the plan's own)
 *   one line {"errors": ["plan.yaml:12:7: …" or "knew: …"], "warnings": […],
 *             "plan": {"name", "sha256", "layouts": [names], "workloads": [names], "blocks", "units"},
 *             "hosts": [{"host", "online", "paused", "lacks": [texts]}],
 *             "estimate": ESTIMATE or null}
 *   ("plan" is null when the text itself has errors; errors then hold all of them. A host's lacks
 *   are not repeated in errors.)
 *   ESTIMATE {"blocks", "builds", "trials", "written_bytes", "read_bytes", "written_ram", "read_ram",
 *             "duration_s", "smallest_difference", "cv", "least": null or the first eight
 *             for a plan's minimum
 *             of blocks}: per host, the longest of the hosts selected.
 * PREVIEW (operator)  plan_text, plan_name, sets, hosts
 *   first {"type": "plan", "name", "sha256", "seed", "blocks", "hosts": [names],
 *          "estimate": ESTIMATE}
 *   then for each host, by name, in order of execution
 *         {"type": "step", "host", "layout": index, "layout_name", "phase": "build" | "cache" |
 *          "workload" | "teardown", "what", "argv": [words]}  (argv empty: done without a program)
 *   An offline host, or one whose policy forbids a step, is an error that names host and reason.
 * RUN_CREATE (operator)  plan_text, plan_name, sets, hosts
 *   {"run", "name", "sha256", "seed", "blocks", "units", "warnings": […], "estimate": ESTIMATE,
 *    "jobs": [{"job", "host", "online"}]}   (units: blocks x layouts, per job)
 * RUNS (viewer)   a line per run, newest first: see QUERY_RUNS in coordinator/store
 * SHOW (viewer)   target run: see QUERY_SHOW in coordinator/store
 * EXPORT (viewer) target run: lines of coordinator/results/export.h
 *   (a run as a target is a number, a name (its newest run) or "last")
 * WATCH (viewer)  target run: at once the run's line and a line per job, then lines as they come, at
 *   most 4 job lines a second and job; when the run has ended its last run line, and the end.
 *   {"type": "run", "run", "name", "state": "waiting" | "running" | "done" | "failed" | "cancelled",
 *    "blocks", "layouts": [names], "workloads": [names]}
 *   {"type": "job", "run", "job", "host", "state": "waiting" | "running" | "cancelling" | "done" |
 *    "failed" | "cancelled", "why": text or null (why it waits, failed or was cancelled),
 *    "online", "attempt", "units_done", "units", "blocks", "least_blocks" (null unless the
 *    job may stop before `blocks`),
 *    "block", "layout": name, "position" (of the layout in its block, from 1), "layouts": count,
 *    "phase": "start" | "build" | "cache" | "workload" | "teardown" | null, "what": text,
 *    "workload": name, "headline": the metric that judges it, "repeat", "trial", "bytes",
 *    "planned_bytes", "rate" (B/s over the last sample), "ops_rate", "trial_s" (since the trial's
 *    start), "left_s" (of the job; null: unknown)}
 *    (from "block" on: null while nothing runs)
 *   {"type": "event", "run", "job", "host", "at": time, "event": "attempt-start" | "volume-ready" |
 *    "step-failed" | "trial-end" | "unit-end" | "attempt-end" | "job" |
 *    "precision" (not yet what `until` asks for) | "stop" (it is), "text": one line for people,
 *    "ok": bool, "block", "layout", "workload", "repeat", "elapsed_s", "bytes", "ops"}
 *    (fields that do not belong to the event are left out)
 *   A run that ended before yields its run line, its job lines (state, units) and the end.
 *   A run that was imported is ERR_WRONG_STATE, here and for CANCEL and RESUME.
 * CANCEL (operator)  target run, args[0]: reason (optional)
 *   {"run", "name", "jobs": [{"job", "host", "online", "state": "cancelled" | "cancelling",
 *    "missing": units}]}; only unfinished jobs are listed. "cancelling": the host tears its volume down
 *    first; WATCH tells when it has.
 *   ERR_WRONG_STATE when nothing is left to cancel.
 * RESUME (operator)  target run
 *   {"run", "name", "jobs": [{"job", "host", "online", "state": "waiting", "missing": units}]}: failed
 *   and cancelled jobs wait again, for the missing units only. ERR_WRONG_STATE when there is none.
 * IMPORT (operator)  target name of the run; the caller goes on with MSG_CHUNK messages of the same
 *   request number: n = 0, 1, …, whole lines of coordinator/results/export.h for exactly one run of
 *   any number, `end` on the last. At most MSG_IMPORT_MAX bytes and MSG_IMPORT_LINES lines, a chunk
 *   at least every 60 s, IMPORTS_MAX imports at once. Chunks of a call that has failed are ignored.
 *   {"run", "name", "layouts", "workloads", "trials", "summaries"} (numbers but the name). ERR_EXISTS
 *   when a run of that name holds just these results. Nothing is stored unless all of it is.
 * HOSTS (viewer)  a line per host, by name:
 *   HOST {"host", "state": "idle" | "running" | "cleaning" | "stopped" | "offline" | "new" (never
 *   connected), "paused", "last_seen": time, "version", "address", "clock_offset_s" (the host's wall
 *   clock minus ours), "rtt_s", "tags": [all], "own_tags": [from its policy], "run", "job", "note",
 *   "waiting": jobs that wait for it, "os", "kernel", "arch", "cpu", "cpus", "ram_bytes", "zfs",
 *   "privileged", "scratch_limit", "disks", "disks_allowed", "inventory_current": told by its present
 *   connection}
 * HOST_SHOW (viewer)   target host: HOST with "inventory": inventory_json() or null
 * HOST_TAG (admin)     target host, args "+tag" or "-tag": HOST
 * HOST_PAUSE (operator) target host, args[0] "on" or "off": HOST
 * HOST_REVOKE (admin)  target host or user: {"name", "revoked": certificates, "cut": connections}
 * HOST_REMOVE (admin)  target host: {"host", "removed": true}; its certificates are revoked, results
 *   stay. ERR_BUSY while a run still needs it.
 * TOKEN_CREATE (admin) role "agent" | "viewer" | "operator" | "admin", target host or user name,
 *   ttl_s (0: a day; at most 30 days): {"token", "id", "role", "name", "expires": time}
 * TOKEN_LIST (admin)   see QUERY_TOKENS in coordinator/store
 * TOKEN_REVOKE (admin) target token id: {"id", "revoked": true}
 * BACKUP (local)       target absolute path: {"file", "bytes"}
 * CHECK (local)        {"finding": text}…, then {"type": "end", "findings": count}
 * WHOAMI (viewer)      {"name", "role", "coordinator": program version, "store_epoch", "listen"}
 */
#ifndef COORDINATOR_CALLS_H
#define COORDINATOR_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "proto/msg.h"

#define CALLS_PER_SESSION 16
#define IMPORTS_MAX 1

#endif
