/* Wrong plans and what is said about workloads. See plan_wrong.h. */
#include "tests/unit/plan_wrong.h"

static const struct wrong workloads[] = {
	{"none", TOP EXISTING "workloads: {}\n",
		"6:12: workloads: must be a map of 1 to 64 workloads, such as write: "
		"{stream: {op: write, size: 30G}}\n"},
	{"nothing to do",
		TOP EXISTING "workloads:\n"
			     "  w: {}\n",
		"7:6: workloads.w: says nothing to do: it needs a kind, such as stream\n"},
	{"two kinds",
		TOP EXISTING "workloads:\n"
			     "  w: {stream: {op: write, size: 1G}, random: {op: read}}\n",
		"7:38: workloads.w: one workload does one thing: 'stream' is there already\n"},
	{"unknown kind",
		TOP EXISTING "workloads:\n"
			     "  w: {streem: {op: write}}\n",
		"7:7: workloads.w: 'streem' is not a key of a workload; did you mean "
		"'stream'?\n"},
	{"kinds of later versions",
		TOP EXISTING "workloads:\n"
			     "  w: {rebuild: {}}\n",
		"7:7: workloads.w.rebuild: 'rebuild' is not supported by this version\n"},
};
WRONG_TEST(workloads)

static const struct wrong streams[] = {
	{"no op", STREAM("{size: 1G}"),
		"7:15: workloads.w.stream: 'op' is missing: write, read or rewrite\n"},
	{"op", STREAM("{op: wirte, size: 1G}"),
		"7:20: workloads.w.stream.op: 'wirte' is not an op (read, write, rewrite); "
		"did you mean 'write'?\n"},
	{"no size", STREAM("{op: write}"),
		"7:15: workloads.w.stream: 'size' is missing: how much to write, such as 30G "
		"or ram * 2\n"},
	{"a duration within", STREAM("{op: write, size: 1G, duration: 5s}"),
		"7:37: workloads.w.stream.duration: stands beside 'stream', not within it: {stream: {…}, "
		"duration: 30s}; of a member of a parallel workload beside 'parallel'\n"},
	{"an unknown key", STREAM("{op: write, size: 1G, xyzzy: 5s}"),
		"7:37: workloads.w.stream: 'xyzzy' is not a key of stream (op, size, block-size, data, "
		"sync, direct, engine, depth, threads, files, rate, file-rate, verify, file, of)\n"},
	{"size", STREAM("{op: write, size: lots}"),
		"7:33: workloads.w.stream.size: 'lots' is not a size (64K, 1M, 30G, 30GB, or "
		"of the host's memory: ram * 1.25, ram / 2 + 1G)\n"},
	{"size 0", STREAM("{op: write, size: 0}"),
		"7:33: workloads.w.stream.size: must be more than 0\n"},
	{"ram times a word", STREAM("{op: write, size: ram * x}"),
		"7:33: workloads.w.stream.size: 'ram * x' is not a size (64K, 1M, 30G, 30GB, "
		"or of the host's memory: ram * 1.25, ram / 2 + 1G)\n"},
	{"ram times too much", STREAM("{op: write, size: ram * 100000}"),
		"7:33: workloads.w.stream.size: 'ram * 100000' is not a size (64K, 1M, 30G, "
		"30GB, or of the host's memory: ram * 1.25, ram / 2 + 1G)\n"},
	{"sum of sizes", STREAM("{op: write, size: 1G + 1G}"),
		"7:33: workloads.w.stream.size: '1G + 1G' is not a size (64K, 1M, 30G, 30GB, "
		"or of the host's memory: ram * 1.25, ram / 2 + 1G)\n"},
	{"size too large", STREAM("{op: write, size: 9999999P}"),
		"7:33: workloads.w.stream.size: '9999999P' is not a size (64K, 1M, 30G, "
		"30GB, or of the host's memory: ram * 1.25, ram / 2 + 1G)\n"},
	{"size under a block", STREAM("{op: write, size: 64K}"),
		"7:33: workloads.w.stream.size: 64 KiB in 1 part is less than one block of 1 "
		"MiB each\n"},
	{"size under a block a thread", STREAM("{op: write, size: 4M, threads: 8}"),
		"7:33: workloads.w.stream.size: 4 MiB in 8 parts is less than one block of 1 "
		"MiB each\n"},
	{"block too small", STREAM("{op: write, size: 1G, block-size: 100}"),
		"7:49: workloads.w.stream.block-size: '100' is outside of 512 B to 64 MiB\n"},
	{"block too big", STREAM("{op: write, size: 1G, block-size: 128M}"),
		"7:49: workloads.w.stream.block-size: '128M' is outside of 512 B to 64 MiB\n"},
	{"negative block", STREAM("{op: write, size: 1G, block-size: -1M}"),
		"7:49: workloads.w.stream.block-size: '-1M' is not a size (64K, 1M, 30G, or "
		"8KB, 30GB for powers of 1000)\n"},
	{"data", STREAM("{op: write, size: 1G, data: zeros}"),
		"7:43: workloads.w.stream.data: 'zeros' is not a kind of data (random, "
		"zero); did you mean 'zero'?\n"},
	{"data map", STREAM("{op: write, size: 1G, data: {compressible: 50%, x: y}}"),
		"7:43: workloads.w.stream.data: must be random, zero or {compressible: 50%}\n"},
	{"data 0%", STREAM("{op: write, size: 1G, data: {compressible: 0%}}"),
		"7:58: workloads.w.stream.data: compressible takes 1% to 99%\n"},
	{"data 200%", STREAM("{op: write, size: 1G, data: {compressible: 200%}}"),
		"7:58: workloads.w.stream.data: '200%' must be a percentage from 0% to 100%, "
		"such as 2%\n"},
	{"sync", STREAM("{op: write, size: 1G, sync: fsync}"),
		"7:43: workloads.w.stream.sync: 'fsync' is not a kind of sync (all, file, "
		"filesystem, none)\n"},
	{"depth", STREAM("{op: write, size: 1G, depth: 4}"),
		"7:44: workloads.w.stream.depth: of more than 1 needs engine: io_uring; with "
		"pread, use threads\n"},
	{"deep buffers", STREAM("{op: write, size: 1G, engine: io_uring, depth: 2000}"),
		"7:62: workloads.w.stream.depth: 2000 blocks of 1 MiB need more than 1 GiB of "
		"buffers\n"},
	{"engine", STREAM("{op: write, size: 1G, engine: aio}"),
		"7:45: workloads.w.stream.engine: 'aio' is not an engine (pread, io_uring)\n"},
	{"direct block", STREAM("{op: write, size: 1G, direct: true, block-size: 6000}"),
		"7:63: workloads.w.stream.block-size: direct needs a block-size that is a "
		"multiple of 4096 bytes\n"},
	{"direct size", STREAM("{op: write, size: 1000000000, direct: true}"),
		"7:33: workloads.w.stream.size: direct needs a size that is a multiple of "
		"4096 bytes\n"},
	{"direct word", STREAM("{op: write, size: 1G, direct: 1}"),
		"7:45: workloads.w.stream.direct: '1' must be true or false\n"},
	{"threads over files", STREAM("{op: write, size: 1G, threads: 3, files: 2}"),
		"7:46: workloads.w.stream.threads: 3 threads cannot share 2 files evenly: "
		"use a multiple of 2\n"},
	{"too many threads", STREAM("{op: write, size: 1G, threads: 1000}"),
		"7:46: workloads.w.stream.threads: '1000' must be a whole number from 1 to "
		"256\n"},
	{"buffers", STREAM("{op: write, size: 100G, threads: 256, block-size: 64M}"),
		"7:48: workloads.w.stream.threads: 256 blocks of 64 MiB need more than 1 GiB "
		"of buffers\n"},
	{"no files", STREAM("{op: write, size: 1G, files: 0}"),
		"7:44: workloads.w.stream.files: '0' must be a whole number from 1 to 4096\n"},
	{"rate", STREAM("{op: write, size: 1G, rate: 1K}"),
		"7:43: workloads.w.stream.rate: '1K' is outside of 4 KiB to 8 EiB\n"},
	{"of in a write", STREAM("{op: write, size: 1G, of: w}"),
		"7:41: workloads.w.stream.of: a write makes its own files; use op: rewrite "
		"to write over others\n"},
	{"read of nothing", STREAM("{op: read}"),
		"7:15: workloads.w.stream: 'of' is missing: a read needs to know the "
		"workload whose files it takes\n"},
	{"read of itself", STREAM("{op: read, of: w}"),
		"7:30: workloads.w.stream.of: 'w' is this workload itself, and workloads run "
		"in the order of the plan\n"},
	{"verify in a write", STREAM("{op: write, size: 1G, verify: true}"),
		"7:45: workloads.w.stream.verify: belongs to a read of what an earlier "
		"workload writes\n"},
	{"read of a file without size", STREAM("{op: read, file: old}"),
		"7:15: workloads.w.stream: 'size' is missing: how much of 'old' to read\n"},
};
WRONG_TEST(streams)

static const struct wrong files[] = {
	{"../x", STREAM("{op: write, size: 1G, file: '../x'}"),
		"7:43: workloads.w.stream.file: '../x' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"a/b", STREAM("{op: write, size: 1G, file: 'a/b'}"),
		"7:43: workloads.w.stream.file: 'a/b' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"-x", STREAM("{op: write, size: 1G, file: '-x'}"),
		"7:43: workloads.w.stream.file: '-x' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{".x", STREAM("{op: write, size: 1G, file: '.x'}"),
		"7:43: workloads.w.stream.file: '.x' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"a b", STREAM("{op: write, size: 1G, file: 'a b'}"),
		"7:43: workloads.w.stream.file: 'a b' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"x{trial", STREAM("{op: write, size: 1G, file: 'x{trial'}"),
		"7:43: workloads.w.stream.file: 'x{trial': {trial} is the only placeholder\n"},
	{"x{n}", STREAM("{op: write, size: 1G, file: 'x{n}'}"),
		"7:43: workloads.w.stream.file: 'x{n}': {trial} is the only placeholder\n"},
	{"{trial}{", STREAM("{op: write, size: 1G, file: '{trial}{'}"),
		"7:43: workloads.w.stream.file: '{trial}{': {trial} is the only placeholder\n"},
	{"empty", STREAM("{op: write, size: 1G, file: ''}"),
		"7:43: workloads.w.stream.file: has no value\n"},
	{"a'b", STREAM("{op: write, size: 1G, file: 'a''b'}"),
		"7:43: workloads.w.stream.file: 'a'b' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"\"a newline b\"", STREAM("{op: write, size: 1G, file: \"a\\nb\"}"),
		"7:43: workloads.w.stream.file: 'a\\x0ab' is not a file name: use letters, "
		"digits, '.', '_', '+', '-' and {trial}, not starting with '.' or '-', at "
		"most 128 bytes\n"},
	{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		STREAM("{op: write, size: 1G, file: "
		       "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}"),
		"7:43: workloads.w.stream.file: "
		"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is not "
		"a file name: use letters, digits, '.', '_', '+', '-' and {trial}, not "
		"starting with '.' or '-', at most 128 bytes\n"},
};
WRONG_TEST(files)

static const struct wrong ties[] = {
	{"of unknown", TOP EXISTING WRITE "  r: {stream: {op: read, of: ww}}\n",
		"8:30: workloads.r.stream.of: there is no workload 'ww'\n"},
	{"of a later one",
		TOP EXISTING WRITE "  r: {stream: {op: read, of: x}}\n"
				   "  x: {stream: {op: write, size: 1G}}\n",
		"8:30: workloads.r.stream.of: 'x' comes later, and workloads run in the "
		"order of the plan\n"},
	{"of a read",
		TOP EXISTING WRITE "  r: {stream: {op: read, of: w}}\n"
				   "  q: {stream: {op: read, of: r}}\n",
		"9:30: workloads.q.stream.of: 'r' is not a write: name the workload that "
		"makes the files\n"},
	{"what comes from the write",
		TOP EXISTING WRITE
		"  r: {stream: {op: read, of: w, files: 2, file: other, size: 2G, sync: all, "
		"data: zero}}\n",
		"8:40: workloads.r.stream.files: 'w' makes 1, and they are what is used here\n"
		"8:49: workloads.r.stream.file: comes from 'w', leave it out\n"
		"8:62: workloads.r.stream.size: larger than what 'w' writes\n"
		"8:72: workloads.r.stream.sync: a read has nothing to sync\n"
		"8:83: workloads.r.stream.data: a read takes what is in the files\n"},
	{"same file", TOP EXISTING WRITE "  x: {stream: {op: write, size: 1G, file: w}}\n",
		"8:43: workloads.x.stream.file: writes the same file as 'w': use another "
		"file, or {op: rewrite, of: w}\n"},
	{"rewrite of nothing", TOP EXISTING WRITE "  x: {stream: {op: rewrite}}\n",
		"8:15: workloads.x.stream: 'of' is missing: a rewrite needs to know the "
		"workload whose files it takes\n"},
	{"direct read of an odd size",
		TOP EXISTING WRITE "  x: {stream: {op: write, size: 1000000001}}\n"
				   "  r: {stream: {op: read, of: x, direct: true}}\n",
		"9:15: workloads.r.stream: direct needs a size that is a multiple of 4096 "
		"bytes\n"},
	{"file that nobody writes",
		TOP RAIDZ1 "workloads:\n"
			   "  r: {stream: {op: read, file: old, size: 1G}}\n",
		"7:32: workloads.r.stream.file: no earlier workload writes 'old', and "
		"volumes start empty\n"},
	{"read of another kind",
		TOP EXISTING "workloads:\n"
			     "  w: {random: {op: write, size: 1G}}\n"
			     "  r: {stream: {op: read, of: w}}\n",
		"8:30: workloads.r.stream.of: 'w' is not a write: name the workload that makes "
		"the files\n"},
};
WRONG_TEST(ties)

#define PARALLEL(body) TOP EXISTING WRITE "  p: {parallel: " body "}\n"

static const struct wrong parallel[] = {
	{"no list", PARALLEL("{stream: {op: write, size: 1G}}"),
		"8:17: workloads.p.parallel: must be a list of 1 to 32 workloads, such as [{stream: "
		"{op: write, size: 30G}}, {stream: {op: read, of: load}}]\n"},
	{"empty", PARALLEL("[]"),
		"8:17: workloads.p.parallel: must be a list of 1 to 32 workloads, such as [{stream: "
		"{op: write, size: 30G}}, {stream: {op: read, of: load}}]\n"},
	{"a member that says nothing", PARALLEL("[{stream: {op: read, of: w}}, {}]"),
		"8:47: workloads.p.parallel.2: says nothing to do: it needs a kind, such as stream\n"},
	{"a member that cannot be one", PARALLEL("[{parallel: [{stream: {op: read, of: w}}]}]"),
		"8:19: workloads.p.parallel.1: 'parallel' cannot run beside others\n"},
	{"a member's own duration", PARALLEL("[{stream: {op: read, of: w}, duration: 5s}]"),
		"8:56: workloads.p.parallel.1: duration: stands beside parallel, for all of them\n"},
	{"a duration within a member",
		PARALLEL("[{random: {op: read, size: 1G, duration: 5s}}]"),
		"8:58: workloads.p.parallel.1: duration: stands beside parallel, for all of them\n"},
	{"a member's files without a size", PARALLEL("[{stream: {op: read, files: 20}}]"),
		"8:27: workloads.p.parallel.1.stream: 'size' is missing: how much to read, such as "
		"30G, or 'of', the workload whose files it takes\n"},
	{"a member that verifies", PARALLEL("[{stream: {op: read, of: w, verify: true}}]"),
		"8:53: workloads.p.parallel.1.stream.verify: does not go with parallel: read alone to "
		"verify\n"},
	{"a member's file", PARALLEL("[{stream: {op: write, size: 1G, file: x}}]"),
		"8:55: workloads.p.parallel.1.stream.file: leave it out: what members write has names "
		"of its own\n"},
	{"a member that rewrites what is verified later",
		PARALLEL("[{stream: {op: rewrite, of: w}}]")
		"  v: {stream: {op: read, of: w, verify: true}}\n",
		"8:45: workloads.p.parallel.1.stream.of: 'v' verifies what 'w' wrote: rewrite other "
		"files\n"},
	{"an error within a member", PARALLEL("[{stream: {op: read, of: w, thread: 2}}]"),
		"8:45: workloads.p.parallel.1.stream: 'thread' is not a key of stream; did you mean "
		"'threads'?\n"},
};
WRONG_TEST(parallel)

#define TIMED(body) TOP EXISTING "workloads:\n  w: {stream: {op: write, size: 1G}, duration: 5s}\n" body

static const struct wrong timed[] = {
	{"of a timed write", TIMED("  r: {stream: {op: read, of: w}}\n"),
		"8:30: workloads.r.stream.of: 'w' is timed, and may be over before its files are "
		"whole: name a write without a duration\n"},
	{"verify after a timed rewrite",
		TOP EXISTING WRITE "  t: {stream: {op: rewrite, of: w}, duration: 5s}\n"
				   "  r: {stream: {op: read, of: w, verify: true}}\n",
		"9:41: workloads.r.stream.verify: 't' rewrites a part that its duration decides\n"},
	{"two rates", STREAM("{op: write, size: 1G, rate: 1M, file-rate: 1M}"),
		"7:58: workloads.w.stream.file-rate: either 'rate', of all files, or 'file-rate', of "
		"each\n"},
	{"duration", TOP EXISTING "workloads:\n  w: {stream: {op: write, size: 1G}, duration: 0s}\n",
		"7:48: workloads.w.duration: '0s' is outside of 1s to 7d00h00m\n"},
};
WRONG_TEST(timed)
#define RANDOM(body) TOP EXISTING "workloads:\n  w: {random: " body "}\n"
static const struct wrong randoms[] = {
	{"no op", RANDOM("{size: 1G}"),
		"7:15: workloads.w.random: 'op' is missing: read, write or mixed\n"},
	{"op", RANDOM("{op: raed, size: 1G}"),
		"7:20: workloads.w.random.op: 'raed' is not an op (read, write, mixed); did "
		"you mean 'read'?\n"},
	{"no size", RANDOM("{op: read}"),
		"7:15: workloads.w.random: 'size' is missing: over how much to spread, such as "
		"30G or ram * 2\n"},
	{"unknown key", RANDOM("{op: read, size: 1G, thraeds: 2}"),
		"7:36: workloads.w.random: 'thraeds' is not a key of random; did you mean "
		"'threads'?\n"},
	{"mixed without a share", RANDOM("{op: mixed, size: 1G}"),
		"7:20: workloads.w.random.op: a mixed one needs the share of reads, such as "
		"reads: 70%\n"},
	{"a share of what is not mixed", RANDOM("{op: read, size: 1G, reads: 70%}"),
		"7:43: workloads.w.random.reads: belongs to op: mixed\n"},
	{"a share of all", RANDOM("{op: mixed, size: 1G, reads: 100%}"),
		"7:44: workloads.w.random.reads: takes 1% to 99%: what is left are writes\n"},
	{"depth of pread", RANDOM("{op: read, size: 1G, depth: 8}"),
		"7:43: workloads.w.random.depth: of more than 1 needs engine: io_uring; with "
		"pread, use threads\n"},
	{"buffers", RANDOM("{op: read, size: 90G, threads: 64, depth: 64, block-size: 1M, "
			   "engine: io_uring}"),
		"7:57: workloads.w.random.depth: 4096 blocks of 1 MiB need more than 1 GiB of "
		"buffers\n"},
	{"direct", RANDOM("{op: read, size: 1G, block-size: 1000, direct: true}"),
		"7:48: workloads.w.random.block-size: direct needs a multiple of 512 bytes\n"},
	{"verify of odd blocks", RANDOM("{op: write, size: 1G, block-size: 1001, verify: true}"),
		"7:49: workloads.w.random.block-size: verify needs a multiple of 8 bytes\n"},
	{"verify of too many", RANDOM("{op: write, size: 1T, verify: true}"),
		"7:45: workloads.w.random.verify: 1 TiB are more than 67108864 blocks of 4 KiB "
		"to keep in mind: use larger ones\n"},
	{"distribution", RANDOM("{op: read, size: 1G, duration: 9s, distribution: pareto:1}"),
		"7:64: workloads.w.random.distribution: 'pareto:1' is not a distribution: "
		"uniform, or zipf:1.1\n"},
	{"exponent", RANDOM("{op: read, size: 1G, duration: 9s, distribution: 'zipf:0'}"),
		"7:64: workloads.w.random.distribution: zipf takes an exponent of 0.05 to 5\n"},
	{"zipf without an end", RANDOM("{op: read, size: 1G, distribution: 'zipf:1.1'}"),
		"7:50: workloads.w.random.distribution: zipf comes back to the same blocks: say "
		"when to end with a duration or ops\n"},
	{"two ends", RANDOM("{op: read, size: 1G, duration: 9s, ops: 5}"),
		"7:55: workloads.w.random.ops: and a duration: give one of them\n"},
	{"a duration longer than a trial may take",
		TOP "trial-deadline: 5s\n" EXISTING "workloads:\n"
		    "  w: {random: {op: read, size: 1G, duration: 9s}}\n",
		"8:46: workloads.w.random.duration: 9s is longer than trial-deadline, 5s\n"},
	{"two durations",
		TOP EXISTING "workloads:\n  w: {random: {op: read, size: 1G, duration: 9s}, "
			     "duration: 8s}\n",
		"7:61: workloads.w.duration: is given twice: workloads.w.random.duration says one "
		"already, in line 7\n"},
	{"sync of a read", RANDOM("{op: read, size: 1G, sync: {every: 5}}"),
		"7:42: workloads.w.random.sync: a read has nothing to sync\n"},
	{"sync", RANDOM("{op: write, size: 1G, sync: {evry: 5}}"),
		"7:43: workloads.w.random.sync: must be all, file, filesystem, none or {every: "
		"100}\n"},
	{"less than a block a thread", RANDOM("{op: read, size: 64K, threads: 32}"),
		"7:32: workloads.w.random.size: 64 KiB in 32 parts is less than one block of 4 "
		"KiB each\n"},
	{"of unknown", TOP EXISTING WRITE "  r: {random: {op: read, of: ww}}\n",
		"8:30: workloads.r.random.of: there is no workload 'ww'\n"},
	{"of one that makes no files",
		TOP EXISTING WRITE "  r: {random: {op: read, size: 1G}}\n"
				   "  x: {random: {op: read, of: r}}\n",
		"9:30: workloads.x.random.of: 'r' is not a stream that writes: name the one that "
		"makes the files\n"},
	{"files and data of another",
		TOP EXISTING WRITE "  r: {random: {op: read, of: w, files: 2, size: 2G, data: zero}}\n",
		"8:40: workloads.r.random.files: come from 'w', leave it out\n"
		"8:49: workloads.r.random.size: larger than what 'w' writes\n"
		"8:59: workloads.r.random.data: a read takes what is in the files of 'w'\n"},
	{"verified writes to another's",
		TOP EXISTING WRITE "  r: {random: {op: write, of: w, verify: true}}\n",
		"8:42: workloads.r.random.verify: needs files of its own where it writes: leave "
		"out 'of', give a size\n"},
	{"writes over what is verified later",
		TOP EXISTING WRITE "  r: {random: {op: write, of: w}}\n"
				   "  s: {stream: {op: read, of: w, verify: true}}\n",
		"8:31: workloads.r.random.of: 's' verifies what 'w' wrote, and this writes over "
		"it\n"},
};
WRONG_TEST(randoms)

#define SCAN(body) TOP "workloads:\n  s: {disk-scan: " body "}\n"

static const struct wrong scans[] = {
	{"no map", SCAN("all"),
		"5:18: workloads.s.disk-scan: disk-scan must be a map of keys and values\n"},
	{"disks", SCAN("{disks: every}"),
		"5:26: workloads.s.disk-scan.disks: 'every' is not a disk: write a count, serial:…, "
		"wwn:…, or a selector such as {model: X, count: 8}\n"},
	{"a name that may change", SCAN("{disks: [sda]}"),
		"5:27: workloads.s.disk-scan.disks: 'sda' is a name that may change at the next start: "
		"use serial:… or wwn:…, which `arraymark host disks HOST` prints\n"},
	{"span", SCAN("{span: 4K}"),
		"5:25: workloads.s.disk-scan.span: '4K' is outside of 1 MiB to 1 TiB\n"},
	{"block", SCAN("{block-size: 5000}"),
		"5:31: workloads.s.disk-scan.block-size: must be a multiple of 4096 bytes\n"},
	{"block over span", SCAN("{span: 1M, block-size: 2M}"),
		"5:25: workloads.s.disk-scan.span: less than one block\n"},
	{"duration", TOP "workloads:\n  s: {disk-scan: {}, duration: 5s}\n",
		"5:18: workloads.s.disk-scan: a scan takes as long as its spans: leave duration out\n"},
	{"duration within", TOP "workloads:\n  s: {disk-scan: {duration: 5s}}\n",
		"5:19: workloads.s.disk-scan.duration: a scan takes as long as its spans: leave duration "
		"out\n"},
	{"beside other work without layouts",
		TOP "workloads:\n  s: {disk-scan: {}}\n  w: {stream: {op: write, size: 1G}}\n",
		"1:1: 'layouts' is missing: what to build\n"},
	{"in parallel", PARALLEL("[{disk-scan: {}}]"),
		"8:19: workloads.p.parallel.1: 'disk-scan' cannot run beside others\n"},
};
WRONG_TEST(scans)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workloads),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_timed),
		cmocka_unit_test(test_randoms),
		cmocka_unit_test(test_scans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
