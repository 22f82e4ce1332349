/* Options of fio that are refused, each with its reason. Owns the table. */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/plan/fio_option.h"

static const char where[] = "the files lie in the volume's folder: leave it out";
static const char names_file[] = "it names files outside of the volume";
static const char runs[] = "it runs a command";
static const char logs[] = "it writes log files: samples and histograms are kept anyway";
static const char replays[] = "it replays a trace from a file";
static const char device[] = "it changes a disk or the system beside the volume";
static const char unknown_size[] = "how much it takes is not known before it runs: use size";
static const char rights[] = "it changes whose rights it runs with";
static const char hides[] = "an error ends the trial";
static const char flows[] = "jobs start together, after a startdelay, or behind others (stonewall, "
			    "wait_for)";
static const char beside[] = "the workload's duration stands beside 'fio': {fio: {…}, duration: 30s}; "
			     "fio's own word is runtime";
static const char reports[] = "arraymark says how fio reports";
static const char network[] = "it talks to other hosts or devices";
static const char trims[] = "it trims, which fio does to block devices alone, and a workload's files "
			    "are files";
static const char units[] = "sizes are powers of 1024";

static const struct refused {
	const char *reason, *names; /* names: " a b " */
} refused[] = {
	{where, " directory filename_format unique_filename "},
	{"a job file is one file, so that what is checked is what runs", " include "},
	{names_file, " opendir aux-path aux_path verify_state_load verify_dump hostname "
		     "cmdprio_file filetype mmap file "},
	{runs, " exec_prerun exec_postrun program arguments grace_time std_redirect trigger "
	       "trigger_remote trigger-file trigger_timeout "},
	{"it chooses a program's ready-made jobs", " profile "},
	{logs, " write_bw_log write_lat_log write_iops_log write_hist_log write_iolog "
	       "log_hist_msec log_hist_coarseness log_max_value log_offset log_prio log_entries "
	       "log_compression log_compression_cpus log_store_compressed log_unix_epoch "
	       "log_alternate_epoch log_alternate_epoch_clock_id log_issue_time "
	       "log_window_value "},
	{replays, " read_iolog read_iolog_chunked merge_blktrace_file merge_blktrace_scalars "
		  "merge_blktrace_iters replay_no_stall replay_redirect replay_scale replay_align "
		  "replay_time_scale replay_skip "},
	{device, " ioscheduler allow_mounted_write zonemode zonesize zonecapacity zonerange zoneskip "
		 "read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits "
		 "zone_reset_threshold zone_reset_frequency zone_split lockmem hugepage-size "
		 "numa_cpu_nodes numa_mem_policy "},
	{unknown_size, " fill_device fill_fs file_append "},
	{rights, " uid gid cgroup cgroup_weight cgroup_nodelete "},
	{hides, " continue_on_error ignore_error "},
	{flows, " flow flow_id flow_sleep flow_watermark "},
	{beside, " duration "},
	{reports, " name output output-format status-interval eta eta-newline minimal append-terse "
		  "terse-version json_plus write_stats block_error_percentiles stats log "
		  "steadystate ss steadystate_duration ss_dur steadystate_ramp_time ss_ramp "
		  "steadystate_check_interval ss_interval create_only create_on_open "
		  "allow_file_create lockfile "},
	{network, " client server remote-config port listen nodelay net mss interface ttl pingpong "
		  "protocol proto window_size clustername rbdname pool clientname namenode brick "
		  "volume http_host http_user http_pass uri cpuload cpuchunks cpumode exit_on_io_done "
		  "cmd_type "},
	{trims, " trim_percentage trim_verify_zero trim_backlog trim_backlog_batch "
		"num_range "},
	{units, " kb_base unit_base "},
	{"it saves state in files of its own", " verify_state_save "},
};

const char *fio_option_refused(const char *name)
{
	char *word = xasprintf(" %s ", name);
	const char *why = NULL;

	for (size_t i = 0; i < ARRAY_LEN(refused) && !why; i++)
		if (!strchr(name, ' ') && strstr(refused[i].names, word))
			why = refused[i].reason;
	free(word);
	return why;
}
