/*
 * Export lines: everything about a run as JSON lines, one object each with a "type". The store
 * writes them through these functions, the control client reads them back; a file of them is the
 * `export` format.
 */
#ifndef COORDINATOR_RESULTS_EXPORT_H
#define COORDINATOR_RESULTS_EXPORT_H

#include "coordinator/results/set.h"

/*
 * The lines, keys in any order, unknown ones ignored; the fields of each and what they may hold are
 * the tables of export_tables.c. A count beyond 2^63 - 1 is the text of its digits.
 * {"type":"run","run","name","state","plan_sha256","tool_version","user","sets":[],"seed":"digits",
 *  "blocks","cache","started_wall_ns","finished_wall_ns","layouts":[],"workloads":[],"design",
 *  "baseline","margin"}
 * {"type":"plan","run","text"}                   the plan's text, in pieces, after its run
 * {"type":"environment","run","host","inventory":{…}}        inventory_json()
 * {"type":"environment-disks","run","host","disks":[…]}      the rest of inventory.disks, if many
 * {"type":"trial","run","host","attempt","trial","layout","layout_name","workload",
 *  "workload_name","op","block","repeat","position","superseded","complete","lost","cache",
 *  "usable_bytes","ok","error","started_wall_ns","elapsed_ns","sync_ns","bytes","ops","errors",
 *  "cpu_user_ns","cpu_system_ns","samples","telemetry":{…},
 *  "hist":null or {"count","sum_ns","min_ns","max_ns","buckets":[lowest ns, count, …]},
 *  "evidence":null or {a member for each number that is known, named as evidence_key_name() does,
 *   "maintenance_before_text","maintenance_after_text","cores_busy_ns":[…],
 *   "settings":[{"name","of","before","after"}, …],
 *   "sources":[{"id","name","is_written","is_shared", then the counters of a disk}, …]},
 *  "printed":[{"metric","value","resolution","unit_assumed"}, …]}           "printed" of imports only
 * {"type":"trial-disks","run","host","attempt","trial","disks":[{"id","name","backing","read_ops",
 *  "read_bytes","write_ops","write_bytes","read_wait_ns","write_wait_ns","busy_ns","queue_ns",
 *  "look_read_bytes","look_write_bytes","look_busy_ns","errors":null or a number,
 *  "cache_before","cache_after"}, …]}
 *                                                each disk of the volume, behind its trial's line,
 *                                                in pieces of at most 100
 * {"type":"part","run","host","attempt","trial","name","kind","ops","bytes","errors","elapsed_ns",
 *  "hist"}                                        what the trial was made of, after its trial
 * {"type":"fact","run","host","attempt","trial","name","value","unit"}
 * {"type":"note","run","host","attempt","trial","name","text"}
 * {"type":"summary","run","host","layout","layout_name","workload","workload_name","metric","n",
 *  "mean","min","max","stddev","resolution","stddev_resolution","unit_assumed"}
 * {"type":"stop","run","host","block"}
 * {"type":"series","run","host","attempt","trial","columns":[names],"points":[[…],…]}
 *                                                in pieces of at most 100 points
 * {"type":"series-disks","run","host","attempt","trial","disks":how many,
 *  "spans":[[start_ns,end_ns, then read_bytes,write_bytes,busy_ns of each disk],…]}
 *                                                behind the trial's series, in pieces
 * {"type":"step","run","host","attempt","block","layout","layout_name","phase","what","argv":[],
 *  "elapsed_ns","at_wall_ns","ok","output"}      a command that was executed; block 0: outside of any
 * {"type":"end","run","lines":how many lines of that run, of any type, stand before this one}
 *                                                behind all others of its run
 */
/* Each appends its lines with their newlines; every line is well under MSG_CHUNK_MAX bytes. */
void export_run(const struct result_run *r, struct buf *out);
void export_environment(const struct result_environment *v, struct buf *out);
void export_trial(const struct result_trial *t, struct buf *out);
void export_summary(const struct result_summary *m, struct buf *out);
void export_stop(const struct result_stop *s, struct buf *out);
void export_series(const struct result_series *s, struct buf *out);
/* Points with the columns of a series that tell how fast it went, without its disks. */
void export_rates(const struct result_series *s, struct buf *out);
void export_step(const struct result_step *s, struct buf *out);
/* A whole set, in an order that can be read back: how many items it has, and the lines of one, from
 * 0. Returns the host that the item is about, NULL for a run. */
size_t export_items(const struct result_set *s);
const char *export_item(const struct result_set *s, size_t i, struct buf *out);

/* The end line of a run. lines: how many of it were written before. */
void export_end(uint64_t run, uint64_t lines, struct buf *out);
/* How many lines end at or behind that byte. */
uint64_t export_count_lines(const struct buf *lines, size_t from);

/* Adds one line (with or without newline) to the set. Unknown types are skipped; a line that is no
 * JSON object, lacks what its type needs or has a field of the wrong type or out of its range is
 * ERR_INPUT with name:line, the field, what is found and what is expected. */
int export_read_line(struct result_set *s, const char *name, size_t line_no, const char *line,
	size_t len, struct err *e);
/* After the last line of a file, or of whatever brought exports: that each run has its end line, and all
 * lines that this one tells of. ERR_INPUT with name:line says what is missing. */
int export_read_whole(struct result_set *s, const char *name, struct err *e);
/* After the last file: sorts, links, checks. */
int export_read_end(struct result_set *s, struct err *e);

#endif
