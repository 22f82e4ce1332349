/* The options of fio that may be set, and the look-up. Owns the table. */
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/fio_option.h"
#include "common/plan/read.h"

#define S 1000000000LL
#define DAY (24 * 3600 * S)
#define PERCENT 0, 100, NULL, NULL
#define COUNT 0, 1000000000, NULL, NULL
#define BYTES 0, FIO_SIZE_MAX, NULL, NULL
#define BLOCK 1, FIO_MAX_BLOCK, NULL, NULL
#define NONE 0, 0, NULL, NULL
#define DIGITS "0123456789"
#define NAME_MAX_NEAR 40 /* bytes of a name that may be a misspelt one; nearness costs their square */

const struct fio_row fio_rows[] = {
	/* what is read and written */
	{"rw", NULL, FIO_WORDS, 0, 0, " read write randread randwrite rw readwrite randrw ", DIGITS "kmKM"},
	{"readwrite", "rw", FIO_WORDS, 0, 0, " read write randread randwrite rw readwrite randrw ",
		DIGITS "kmKM"},
	{"bs", NULL, FIO_SIZES, BLOCK},
	{"blocksize", "bs", FIO_SIZES, BLOCK},
	{"ba", NULL, FIO_SIZES, BLOCK},
	{"blockalign", "ba", FIO_SIZES, BLOCK},
	{"bsrange", NULL, FIO_RANGES, BLOCK},
	{"blocksize_range", "bsrange", FIO_RANGES, BLOCK},
	{"bssplit", NULL, FIO_CHARS, 0, 0, NULL, DIGITS "kmgKMG/:,"},
	{"bs_unaligned", NULL, FIO_FLAG, NONE},
	{"blocksize_unaligned", "bs_unaligned", FIO_FLAG, NONE},
	{"bs_is_seq_rand", NULL, FIO_BOOL, NONE},
	{"size", NULL, FIO_SIZE, 1, FIO_SIZE_MAX, NULL, NULL},
	{"io_size", NULL, FIO_SIZE, 1, FIO_SIZE_MAX, NULL, NULL},
	{"filesize", NULL, FIO_RANGE, 1, FIO_SIZE_MAX, NULL, NULL},
	{"filename", NULL, FIO_NAME, NONE},
	{"nrfiles", NULL, FIO_INT, 1, 65536, NULL, NULL},
	{"nr_files", "nrfiles", FIO_INT, 1, 65536, NULL, NULL},
	{"openfiles", NULL, FIO_INT, 1, 65536, NULL, NULL},
	{"file_service_type", NULL, FIO_WORDS, 0, 0,
		" random zipf pareto normal gauss roundrobin sequential ", DIGITS ".:"},
	{"offset", NULL, FIO_SIZE, BYTES},
	{"offset_increment", NULL, FIO_SIZE, BYTES},
	{"offset_align", NULL, FIO_SIZE, BYTES},
	{"number_ios", NULL, FIO_INT, 0, INT64_MAX, NULL, NULL},
	{"loops", NULL, FIO_INT, 1, 1000000, NULL, NULL},
	{"numjobs", NULL, FIO_INT, 1, FIO_MAX_THREADS, NULL, NULL},
	{"rwmixread", NULL, FIO_INT, PERCENT},
	{"rwmixwrite", NULL, FIO_INT, PERCENT},
	{"rw_sequencer", NULL, FIO_WORD, 0, 0, " sequential identical ", NULL},
	{"randrepeat", NULL, FIO_BOOL, NONE},
	{"allrandrepeat", NULL, FIO_BOOL, NONE},
	{"randseed", NULL, FIO_INT, 0, INT64_MAX, NULL, NULL},
	{"norandommap", NULL, FIO_FLAG, NONE},
	{"softrandommap", NULL, FIO_BOOL, NONE},
	{"random_generator", NULL, FIO_WORD, 0, 0, " tausworthe lfsr tausworthe64 ", NULL},
	{"random_distribution", NULL, FIO_WORDS, 0, 0, " random zipf pareto normal zoned zoned_abs ",
		DIGITS "kmgKMG./:,"},
	{"percentage_random", NULL, FIO_INTS, PERCENT},
	/* how */
	{"ioengine", NULL, FIO_WORD, 0, 0,
		" sync psync vsync pvsync pvsync2 libaio posixaio io_uring mmap filecreate filestat "
		"filedelete ",
		NULL},
	{"iodepth", NULL, FIO_INT, 1, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_batch", NULL, FIO_INT, 1, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_batch_submit", "iodepth_batch", FIO_INT, 1, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_batch_complete", NULL, FIO_INT, 0, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_batch_complete_min", "iodepth_batch_complete", FIO_INT, 0, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_batch_complete_max", NULL, FIO_INT, 0, FIO_MAX_DEPTH, NULL, NULL},
	{"iodepth_low", NULL, FIO_INT, 0, FIO_MAX_DEPTH, NULL, NULL},
	{"io_submit_mode", NULL, FIO_WORD, 0, 0, " inline offload ", NULL},
	{"serialize_overlap", NULL, FIO_BOOL, NONE},
	{"hipri", NULL, FIO_FLAG, NONE},
	{"hipri_percentage", NULL, FIO_INT, PERCENT},
	{"fixedbufs", NULL, FIO_FLAG, NONE},
	{"registerfiles", NULL, FIO_FLAG, NONE},
	{"sqthread_poll", NULL, FIO_FLAG, NONE},
	{"sqthread_poll_cpu", NULL, FIO_INT, 0, 4096, NULL, NULL},
	{"nonvectored", NULL, FIO_INT, -1, 1, NULL, NULL},
	{"uncached", NULL, FIO_INT, 0, 1, NULL, NULL},
	{"nowait", NULL, FIO_BOOL, NONE},
	{"force_async", NULL, FIO_INT, COUNT},
	{"userspace_reap", NULL, FIO_FLAG, NONE},
	{"thp", NULL, FIO_INT, 0, 1, NULL, NULL},
	{"direct", NULL, FIO_BOOL, NONE},
	{"buffered", NULL, FIO_BOOL, NONE},
	{"atomic", NULL, FIO_BOOL, NONE},
	{"overwrite", NULL, FIO_BOOL, NONE},
	{"invalidate", NULL, FIO_BOOL, NONE},
	{"pre_read", NULL, FIO_BOOL, NONE},
	{"fallocate", NULL, FIO_WORD, 0, 0, " none native posix keep truncate 0 1 ", NULL},
	{"fadvise_hint", NULL, FIO_WORD, 0, 0, " 0 1 random sequential ", NULL},
	{"write_hint", NULL, FIO_WORD, 0, 0, " none short medium long extreme ", NULL},
	{"create_serialize", NULL, FIO_BOOL, NONE},
	{"create_fsync", NULL, FIO_BOOL, NONE},
	{"unlink", NULL, FIO_BOOL, NONE},
	{"unlink_each_loop", NULL, FIO_BOOL, NONE},
	{"fsync", NULL, FIO_INT, COUNT},
	{"fdatasync", NULL, FIO_INT, COUNT},
	{"write_barrier", NULL, FIO_INT, COUNT},
	{"sync_file_range", NULL, FIO_WORDS, 0, 0,
		" wait_before write wait_after wait_before,write write,wait_after "
		"wait_before,write,wait_after ",
		DIGITS},
	{"sync", NULL, FIO_WORD, 0, 0, " 0 1 none sync dsync ", NULL},
	{"end_fsync", NULL, FIO_BOOL, NONE},
	{"fsync_on_close", NULL, FIO_BOOL, NONE},
	/* how long, how fast */
	{"runtime", NULL, FIO_SECONDS, S / 1000, 7 * DAY, NULL, NULL},
	{"timeout", "runtime", FIO_SECONDS, S / 1000, 7 * DAY, NULL, NULL},
	{"time_based", NULL, FIO_FLAG, NONE},
	{"ramp_time", NULL, FIO_SECONDS, 0, DAY, NULL, NULL},
	{"thinktime", NULL, FIO_USEC, 0, DAY, NULL, NULL},
	{"thinktime_spin", NULL, FIO_USEC, 0, DAY, NULL, NULL},
	{"thinktime_blocks", NULL, FIO_INT, COUNT},
	{"thinktime_blocks_type", NULL, FIO_WORD, 0, 0, " complete issue ", NULL},
	{"thinktime_iotime", NULL, FIO_SECONDS, 0, DAY, NULL, NULL},
	{"rate", NULL, FIO_SIZES, BYTES},
	{"rate_min", NULL, FIO_SIZES, BYTES},
	{"ratemin", "rate_min", FIO_SIZES, BYTES},
	{"rate_iops", NULL, FIO_INTS, COUNT},
	{"rate_iops_min", NULL, FIO_INTS, COUNT},
	{"rate_process", NULL, FIO_WORD, 0, 0, " linear poisson ", NULL},
	{"rate_cycle", NULL, FIO_INT, COUNT},
	{"ratecycle", "rate_cycle", FIO_INT, COUNT},
	{"rate_ignore_thinktime", NULL, FIO_BOOL, NONE},
	{"max_latency", NULL, FIO_USEC, 0, DAY, NULL, NULL},
	{"latency_target", NULL, FIO_USEC, 0, DAY, NULL, NULL},
	{"latency_window", NULL, FIO_USEC, 0, DAY, NULL, NULL},
	{"latency_percentile", NULL, FIO_REAL, PERCENT},
	{"latency_run", NULL, FIO_BOOL, NONE},
	/* what the data are */
	{"mem", NULL, FIO_WORD, 0, 0, " malloc mmap shm ", NULL},
	{"iomem", "mem", FIO_WORD, 0, 0, " malloc mmap shm ", NULL},
	{"iomem_align", NULL, FIO_SIZE, 0, 1 << 30, NULL, NULL},
	{"mem_align", "iomem_align", FIO_SIZE, 0, 1 << 30, NULL, NULL},
	{"zero_buffers", NULL, FIO_FLAG, NONE},
	{"refill_buffers", NULL, FIO_FLAG, NONE},
	{"scramble_buffers", NULL, FIO_BOOL, NONE},
	{"buffer_pattern", NULL, FIO_PATTERN, NONE},
	{"buffer_compress_percentage", NULL, FIO_INT, PERCENT},
	{"buffer_compress_chunk", NULL, FIO_SIZE, 0, 1 << 30, NULL, NULL},
	{"dedupe_percentage", NULL, FIO_INT, PERCENT},
	{"dedupe_mode", NULL, FIO_WORD, 0, 0, " repeat working_set ", NULL},
	{"dedupe_working_set_percentage", NULL, FIO_INT, PERCENT},
	{"dedupe_global", NULL, FIO_BOOL, NONE},
	{"verify", NULL, FIO_WORD, 0, 0,
		" 0 md5 crc64 crc32 crc32c-intel crc32c crc16 crc7 sha1 sha256 sha512 sha3-224 sha3-256 "
		"sha3-384 sha3-512 xxhash meta pattern null ",
		NULL},
	{"do_verify", NULL, FIO_BOOL, NONE},
	{"verify_only", NULL, FIO_FLAG, NONE},
	{"verify_interval", NULL, FIO_SIZE, BYTES},
	{"verify_offset", NULL, FIO_SIZE, BYTES},
	{"verify_pattern", NULL, FIO_PATTERN, NONE},
	{"verify_fatal", NULL, FIO_BOOL, NONE},
	{"verify_async", NULL, FIO_INT, 0, 256, NULL, NULL},
	{"verify_backlog", NULL, FIO_INT, COUNT},
	{"verify_backlog_batch", NULL, FIO_INT, COUNT},
	/* the processes */
	{"thread", NULL, FIO_FLAG, NONE},
	{"stonewall", NULL, FIO_FLAG, NONE},
	{"wait_for_previous", "stonewall", FIO_FLAG, NONE},
	{"wait_for", NULL, FIO_JOB, NONE},
	{"startdelay", NULL, FIO_SECONDS, 0, DAY, NULL, NULL},
	{"exitall", NULL, FIO_FLAG, NONE},
	{"exit_what", NULL, FIO_WORD, 0, 0, " group stonewall all ", NULL},
	{"exitall_on_error", NULL, FIO_FLAG, NONE},
	{"nice", NULL, FIO_INT, 0, 19, NULL, NULL},
	{"prio", NULL, FIO_INT, 0, 7, NULL, NULL},
	{"prioclass", NULL, FIO_INT, 2, 3, NULL, NULL},
	{"cpumask", NULL, FIO_INT, 1, INT64_MAX, NULL, NULL},
	{"cpus_allowed", NULL, FIO_CHARS, 0, 0, NULL, DIGITS ",-"},
	{"cpus_allowed_policy", NULL, FIO_WORD, 0, 0, " shared split ", NULL},
	{"clocksource", NULL, FIO_WORD, 0, 0, " gettimeofday clock_gettime cpu ", NULL},
	{"gtod_reduce", NULL, FIO_BOOL, NONE},
	{"gtod_cpu", NULL, FIO_INT, 0, 4096, NULL, NULL},
	{"disable_lat", NULL, FIO_BOOL, NONE},
	{"disable_clat", NULL, FIO_BOOL, NONE},
	{"disable_slat", NULL, FIO_BOOL, NONE},
	{"disable_bw_measurement", NULL, FIO_BOOL, NONE},
	{"disable_bw", "disable_bw_measurement", FIO_BOOL, NONE},
	{"clat_percentiles", NULL, FIO_BOOL, NONE},
	{"lat_percentiles", NULL, FIO_BOOL, NONE},
	{"slat_percentiles", NULL, FIO_BOOL, NONE},
	/* how fio reports: arraymark does that */
	{"description", NULL, FIO_IGNORED, NONE},
	{"group_reporting", NULL, FIO_IGNORED, NONE},
	{"new_group", NULL, FIO_IGNORED, NONE},
	{"disk_util", NULL, FIO_IGNORED, NONE},
	{"percentile_list", NULL, FIO_IGNORED, NONE},
	{"significant_figures", NULL, FIO_IGNORED, NONE},
	{"per_job_logs", NULL, FIO_IGNORED, NONE},
	{"unified_rw_reporting", NULL, FIO_IGNORED, NONE},
	{"bwavgtime", NULL, FIO_IGNORED, NONE},
	{"iopsavgtime", NULL, FIO_IGNORED, NONE},
	{"log_avg_msec", NULL, FIO_IGNORED, NONE},
	{"error_dump", NULL, FIO_IGNORED, NONE},
	{NULL, NULL, FIO_IGNORED, NONE},
};

const struct fio_row *fio_option_find(const char *name)
{
	for (const struct fio_row *row = fio_rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row->of ? fio_option_find(row->of) : row;
	return NULL;
}

static const char *suggest(const char *name, char near[SHOWN_LEN + 24])
{
	const char *names[ARRAY_LEN(fio_rows)];

	near[0] = '\0';
	if (strlen(name) > NAME_MAX_NEAR)
		return near;
	for (size_t i = 0; i < ARRAY_LEN(fio_rows); i++)
		names[i] = fio_rows[i].name;
	return suggestion(name, names, near);
}

int fio_option_check(const char *name, const char *value, struct err *e)
{
	const struct fio_row *row = fio_option_find(name);
	const char *why = row ? NULL : fio_option_refused(name);
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];

	shown(name, text);
	if (why)
		return err_set(e, ERR_DENIED, "'%s' is refused: %s", text, why);
	if (!row)
		return err_set(e, ERR_DENIED, "'%s' is not an option of fio that is let through%s",
			text, suggest(name, near));
	if (row->kind == FIO_IGNORED)
		return 0;
	if (!value && row->kind != FIO_FLAG)
		return err_set(e, ERR_INPUT, "'%s' has no value", text);
	if (!value || !fio_value_check(row, value, e))
		return 0;
	return err_prefix(e, "%s", text);
}
