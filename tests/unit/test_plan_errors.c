/* Wrong plans and what is said about the document, names, the top, the matrix and what is compared.
 * See plan_wrong.h. */
#include "tests/unit/plan_wrong.h"

static const struct wrong documents[] = {
	{"empty", "", "1:1: the plan is empty: `arraymark plan new` prints a plan to start from\n"},
	{"null document", "~\n",
		"1:1: the plan is empty: `arraymark plan new` prints a plan to start from\n"},
	{"list", "- a\n",
		"1:1: a plan is a map of keys and values: `arraymark plan new` prints a plan "
		"to start from\n"},
	{"everything missing", "name: p\n",
		"1:1: 'hosts' is missing: host names, tag:… or all\n"
		"1:1: 'trials' is missing: how many blocks, such as 5\n"
		"1:1: 'workloads' is missing: what to time on it\n"
		"1:1: 'layouts' is missing: what to build\n"},
	{"unknown key with a near one",
		"name: p\n"
		"hosts: all\n"
		"trails: 5\n"
		"trials: 5\n" EXISTING WRITE,
		"3:1: 'trails' is not a key of a plan; did you mean 'trials'?\n"},
	{"unknown key", TOP "elephant: 5\n" EXISTING WRITE,
		"4:1: 'elephant' is not a key of a plan (name, hosts, trials, cache, "
		"layouts, workloads, matrix, compare, builds, repeat, order, start, samples, "
		"deadline, build-deadline, trial-deadline, stall, on-host-lost, "
		"on-trial-failure, wipe, keep, "
		"precondition)\n"},
	{"a workload's key", TOP "duration: 5s\n" EXISTING WRITE,
		"4:1: duration: belongs to a workload, beside its kind: workloads: {w: {stream: {…}, "
		"duration: 30s}}\n"},
	{"duplicate key", TOP "trials: 6\n" EXISTING WRITE,
		"4:1: key 'trials' is there twice, first in line 3\n"},
	{"anchor", TOP "cache: &x cold\n" EXISTING WRITE,
		"4:8: anchors (&x) are not allowed: write the value out\n"},
	{"alias", TOP "cache: *x\n" EXISTING WRITE,
		"4:8: aliases (*x) are not allowed: write the value out\n"},
	{"not YAML",
		"name: [p\n"
		"hosts: all\n",
		"2:6: not valid YAML: did not find expected ',' or ']' while parsing a flow "
		"sequence\n"},
	{"control characters in a key", TOP "\"a\\x1b[31mb\": 1\n" EXISTING WRITE,
		"4:1: 'a\\x1b[31mb' is not a key of a plan (name, hosts, trials, cache, layouts, "
		"workloads, matrix, compare, builds, repeat, order, start, samples, "
		"deadline, build-deadline, trial-deadline, stall, on-host-lost, "
		"on-trial-failure, wipe, keep, "
		"precondition)\n"},
	{"many at once",
		TOP "cache: hot\n"
		    "samples: 1\n"
		    "layouts:\n"
		    "  a: {pool: {level: raidz3, disks: 3, ashift: 99}}\n"
		    "workloads:\n"
		    "  w: {stream: {op: write, size: 64K, engin: pread}}\n"
		    "  r: {stream: {op: read, of: x}}\n",
		"4:8: cache: 'hot' is not a cache state (cold, warm, as-is)\n"
		"5:10: samples: '1' is not a time (500ms, 30s, 5m, 2h, 3d)\n"
		"7:36: layouts.a.pool.disks: raidz3 wants at least 4 disks, has 3\n"
		"7:47: layouts.a.pool.ashift: '99' must be a whole number from 9 to 16\n"
		"9:33: workloads.w.stream.size: 64 KiB in 1 part is less than one block of 1 "
		"MiB each\n"
		"9:38: workloads.w.stream: 'engin' is not a key of stream; did you mean "
		"'engine'?\n"
		"10:30: workloads.r.stream.of: there is no workload 'x'\n"},
};
WRONG_TEST(documents)

static const struct wrong names[] = {
	{"plan a/b",
		"name: \"a/b\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'a/b' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan ..",
		"name: \"..\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: '..' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan a'b",
		"name: \"a'b\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'a'b' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan a b",
		"name: \"a b\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'a b' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan -a",
		"name: \"-a\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: '-a' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan 123",
		"name: \"123\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: '123' is not a plan name: only digits, which would read as a "
		"number\n"},
	{"plan last",
		"name: \"last\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'last' is not a plan name: the word has a meaning of its own on "
		"the command line\n"},
	{"plan all",
		"name: \"all\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'all' is not a plan name: the word has a meaning of its own on "
		"the command line\n"},
	{"plan xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"name: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: "
		"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is 65 "
		"bytes long: a plan name has at most 64\n"},
	{"plan a newline b",
		"name: \"a\\nb\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'a\\x0ab' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"plan a.b",
		"name: \"a.b\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: 'a.b' is not a plan name: use letters, digits, '_', '+', '-', "
		"starting with a letter or digit\n"},
	{"empty",
		"name: \"\"\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: has no value\n"},
	{"map",
		"name: {a: b}\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:7: name: one value is wanted here, not a map\n"},
	{"no value",
		"name:\n"
		"hosts: all\n"
		"trials: 5\n" EXISTING WRITE,
		"1:6: name: has no value\n"},
	{"layouts",
		TOP "layouts:\n"
		    "  \"a/b\": {existing: /x}\n"
		    "  \"..\": {existing: /x}\n"
		    "  \"-a\": {existing: /x}\n"
		    "  \"a b\": {existing: /x}\n" WRITE,
		"5:3: layouts: 'a/b' is not a layout name: use letters, digits, '_', '+', "
		"'-', starting with a letter or digit\n"
		"6:3: layouts: '..' is not a layout name: use letters, digits, '_', '+', "
		"'-', starting with a letter or digit\n"
		"7:3: layouts: '-a' is not a layout name: use letters, digits, '_', '+', "
		"'-', starting with a letter or digit\n"
		"8:3: layouts: 'a b' is not a layout name: use letters, digits, '_', '+', "
		"'-', starting with a letter or digit\n"},
	{"workload",
		TOP EXISTING "workloads:\n"
			     "  \"a\\\"b\": {stream: {op: write, size: 1G}}\n",
		"7:3: workloads: 'a\"b' is not a workload name: use letters, digits, '_', "
		"'+', '-', starting with a letter or digit\n"},
	{"hosts",
		"name: p\n"
		"hosts: [knew, knew, \"a b\", tag:x/y, tag:rack:12, a..b, all]\n"
		"trials: 5\n" EXISTING WRITE,
		"2:15: hosts: 'knew' is there twice\n"
		"2:21: hosts: 'a b' is not a host name: use letters, digits, '_', '+', '-' "
		"and '.', starting with a letter or digit\n"
		"2:28: hosts: 'x/y' is not a tag: 1 to 64 letters, digits, '_', '+', '-', "
		"':' and '.', starting with a letter or digit\n"
		"2:50: hosts: 'a..b' is not a host name: a '.' stands between two parts\n"},
	{"no hosts",
		"name: p\n"
		"hosts: []\n"
		"trials: 5\n" EXISTING WRITE,
		"2:8: hosts: the list is empty: host names, tag:… or all\n"},
};
WRONG_TEST(names)

static const struct wrong top[] = {
	{"trials 0",
		"name: p\n"
		"hosts: all\n"
		"trials: 0\n" EXISTING WRITE,
		"3:9: trials: '0' must be a whole number from 1 to 10000\n"},
	{"trials 10001",
		"name: p\n"
		"hosts: all\n"
		"trials: 10001\n" EXISTING WRITE,
		"3:9: trials: '10001' must be a whole number from 1 to 10000\n"},
	{"trials many",
		"name: p\n"
		"hosts: all\n"
		"trials: many\n" EXISTING WRITE,
		"3:9: trials: 'many' must be a whole number from 1 to 10000\n"},
	{"trials \"5\"",
		"name: p\n"
		"hosts: all\n"
		"trials: \"5\"\n" EXISTING WRITE,
		"3:9: trials: '5' must be a whole number from 1 to 10000\n"},
	{"trials -1",
		"name: p\n"
		"hosts: all\n"
		"trials: -1\n" EXISTING WRITE,
		"3:9: trials: '-1' must be a whole number from 1 to 10000\n"},
	{"trials 5.5",
		"name: p\n"
		"hosts: all\n"
		"trials: 5.5\n" EXISTING WRITE,
		"3:9: trials: '5.5' must be a whole number from 1 to 10000\n"},
	{"trials [5]",
		"name: p\n"
		"hosts: all\n"
		"trials: [5]\n" EXISTING WRITE,
		"3:9: trials: one value is wanted here, not a list\n"},
	{"until with one layout",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 5, max: 30, until: 2%}\n" EXISTING WRITE,
		"3:34: trials.until: stops when comparisons are precise enough, and one layout has "
		"nothing to be compared with: give a number of trials\n"},
	{"until between hosts",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 5, until: 2%}\n"
		"compare: {by: host}\n" EXISTING WRITE,
		"3:25: trials.until: judges comparisons of layouts on each host: with compare.by: "
		"host give a number of trials\n"},
	{"until with layouts one after the other, and keep",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 5, until: 2%}\n"
		"builds: once\n"
		"order: as-written\n"
		"keep: true\n"
		"layouts: {a: {existing: /srv/a}, b: {existing: /srv/b}}\n" WRITE,
		"3:25: trials.until: judges after blocks of all layouts, and with builds: once and "
		"order: as-written one layout's blocks end before the next one's begin: give a "
		"number of trials\n"
		"6:7: keep: keeps what the last block built, and with trials.until no block is "
		"known to be the last one when it is built\n"},
	{"until of nothing",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 5, until: 0%}\n" EXISTING WRITE,
		"3:25: trials.until: must be more than 0%\n"},
	{"min above the default max",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 31, until: 1%}\n"
		"layouts: {a: {existing: /srv/a}, b: {existing: /srv/b}}\n" WRITE,
		"3:15: trials: max (30) is less than min (31)\n"},
	{"trials {min: 4, max: 3, until: 2%}",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 4, max: 3, until: 2%}\n" EXISTING WRITE,
		"3:15: trials: min: until needs at least 5 trials to judge from\n"
		"3:23: trials: max (3) is less than min (4)\n"
		"3:33: trials.until: stops when comparisons are precise enough, and one layout has "
		"nothing to be compared with: give a number of trials\n"},
	{"trials {min: 5}",
		"name: p\n"
		"hosts: all\n"
		"trials: {min: 5}\n" EXISTING WRITE,
		"3:9: trials: 'until' is missing: the precision that ends the run, such as 2%\n"},
	{"too many builds",
		"name: p\n"
		"hosts: all\n"
		"trials: 10000\n"
		"layouts:\n"
		"  a: {existing: /x}\n"
		"  b: {existing: /x}\n"
		"  c: {existing: /x}\n" WRITE,
		"3:9: trials: 10000 blocks of 3 layouts are more than 20000 builds\n"},
	{"cache", TOP_KEY("cache: colt"),
		"4:8: cache: 'colt' is not a cache state (cold, warm, as-is); did you mean "
		"'cold'?\n"},
	{"cache list", TOP_KEY("cache: [cold]"),
		"4:8: cache: one value is wanted here, not a list\n"},
	{"builds", TOP_KEY("builds: twice"),
		"4:9: builds: 'twice' is not a way to build (each-block, once)\n"},
	{"order", TOP_KEY("order: reverse"),
		"4:8: order: 'reverse' is not an order (random, as-written)\n"},
	{"start together", TOP_KEY("start: together"),
		"4:1: start: 'start: together' is not supported by this version\n"},
	{"samples too short", TOP_KEY("samples: 50ms"),
		"4:10: samples: '50ms' is outside of 100ms to 1m00s\n"},
	{"samples too long", TOP_KEY("samples: 2m"),
		"4:10: samples: '2m' is outside of 100ms to 1m00s\n"},
	{"samples word", TOP_KEY("samples: often"),
		"4:10: samples: 'often' is not a time (500ms, 30s, 5m, 2h, 3d)\n"},
	{"deadline", TOP_KEY("deadline: 0s"),
		"4:11: deadline: '0s' is outside of 1s to 365d00h00m\n"},
	{"build deadline", TOP_KEY("build-deadline: 3w"),
		"4:17: build-deadline: '3w' is not a time (500ms, 30s, 5m, 2h, 3d)\n"},
	{"trial deadline", TOP_KEY("trial-deadline: soon"),
		"4:17: trial-deadline: 'soon' is not a time (500ms, 30s, 5m, 2h, 3d)\n"},
	{"trial deadline before the workload's end",
		TOP "trial-deadline: 30s\n" EXISTING "workloads:\n"
		"  w: {stream: {op: write, size: 1G}, duration: 60s}\n",
		"8:48: workloads.w.duration: 1m00s is longer than trial-deadline, 30s\n"},
	{"stall", TOP_KEY("stall: 100ms"),
		"4:8: stall: '100ms' is outside of 1s to 365d00h00m\n"},
	{"host lost", TOP_KEY("on-host-lost: wait long"),
		"4:15: on-host-lost: 'long' is not a time (500ms, 30s, 5m, 2h, 3d)\n"},
	{"host lost word", TOP_KEY("on-host-lost: panic"),
		"4:15: on-host-lost: 'panic' must be wait 1h, continue or fail\n"},
	{"trial failure", TOP_KEY("on-trial-failure: retry 100"),
		"4:19: on-trial-failure: '100' must be a whole number from 1 to 10\n"},
	{"trial failure word", TOP_KEY("on-trial-failure: stop now"),
		"4:19: on-trial-failure: 'stop now' must be retry 1, continue or stop\n"},
	{"repeat", TOP_KEY("repeat: 0"),
		"4:9: repeat: '0' must be a whole number from 1 to 1000\n"},
	{"keep", TOP_KEY("keep: maybe"), "4:7: keep: 'maybe' must be true or false\n"},
	{"wipe",
		TOP_KEY("wipe: [zfs:oldtank, ext4, zfs, all, '*', \"zfs:*\", LVM2_member, \"a "
			"b\"]"),
		"4:27: wipe: 'zfs' is not one signature: name each as `arraymark host disks "
		"HOST` prints it, such as zfs:oldtank or ext4\n"
		"4:32: wipe: 'all' is not one signature: name each as `arraymark host disks "
		"HOST` prints it, such as zfs:oldtank or ext4\n"
		"4:37: wipe: '*' is not one signature: name each as `arraymark host disks "
		"HOST` prints it, such as zfs:oldtank or ext4\n"
		"4:42: wipe: 'zfs:*' is not one signature: name each as `arraymark host "
		"disks HOST` prints it, such as zfs:oldtank or ext4\n"
		"4:64: wipe: 'a b' is not one signature: name each as `arraymark host disks "
		"HOST` prints it, such as zfs:oldtank or ext4\n"},
	{"precondition", TOP_KEY("precondition: discard"),
		"4:1: precondition: 'precondition: discard' is not supported by this version\n"},
	{"precondition passes", TOP_KEY("precondition: {passes: 2}"),
		"4:1: precondition: 'precondition' is not supported by this version\n"},
	{"disk cache", TOP_KEY("disk-cache: off"),
		"4:1: disk-cache: 'disk-cache: off' is not supported by this version\n"},
	{"steady", TOP_KEY("steady: {window: 5}"),
		"4:1: steady: 'steady' is not supported by this version\n"},
	{"once in random order",
		TOP "builds: once\n"
		    "order: random\n" RAIDZ1 "  b: {pool: {level: raidz2, disks: 4}}\n" WRITE,
		"5:8: order: builds: once with layouts that may share disks needs order: "
		"as-written: only one of them can be there at a time\n"},
};
WRONG_TEST(top)

static const struct wrong matrix[] = {
	{"empty", TOP "matrix: {}\n" EXISTING WRITE,
		"4:9: matrix: must be a map of 1 to 8 paths within a layout, such as "
		"pool.properties.recordsize: [128K, 1M]\n"},
	{"no list", TOP "matrix: {existing: x}\n" EXISTING WRITE,
		"4:20: matrix.existing: must be a list of values, such as [128K, 1M]\n"},
	{"stage that is not there", TOP "matrix: {pool.level: [raidz1, raidz2]}\n" EXISTING WRITE,
		"4:10: matrix.pool.level: layout 'a' has no 'pool', and a matrix applies to "
		"all layouts\n"},
	{"value twice", TOP "matrix: {existing: [a, a]}\n" EXISTING WRITE,
		"4:24: matrix.existing: 'a' is there twice\n"},
	{"no plain word", TOP "matrix: {existing: [/a, /b]}\n" EXISTING WRITE,
		"4:21: matrix.existing: '/a' cannot become part of a layout's name: use one "
		"plain word\n"
		"4:25: matrix.existing: '/b' cannot become part of a layout's name: use one "
		"plain word\n"},
	{"map", TOP "matrix: {existing: [{a: b}]}\n" EXISTING WRITE,
		"4:21: matrix.existing: one value is wanted here, not a map\n"},
	{"bad level, said once",
		TOP RAIDZ1 WRITE
		"matrix: {pool.level: [raidz1, raidz9], pool.properties.recordsize: [128K, "
		"1M]}\n",
		"8:31: layouts.a.pool.level: 'raidz9' is not a level (raidz1, raidz2, "
		"raidz3, draid…, mirror, stripe); did you mean 'raidz1'?\n"},
	{"bad key", TOP RAIDZ1 WRITE "matrix: {pool.levell: [raidz1, raidz2]}\n",
		"8:10: layouts.a.pool: 'levell' is not a key of pool; did you mean 'level'?\n"},
	{"into a scalar", TOP RAIDZ1 WRITE "matrix: {pool.level.x: [raidz1, raidz2]}\n",
		"8:10: matrix.pool.level.x: pool.level.x: 'pool.level' is a single value, "
		"not a map: nothing can be set in it\n"},
	{"too many",
		TOP RAIDZ1 WRITE "matrix: {pool.ashift: [9,10,11,12,13,14,15,16], "
				 "pool.properties.compression: [on,off,lz4,lzjb,zle,gzip], "
				 "pool.properties.checksum: [on,off,sha256,sha512,skein,edonr]}\n",
		"8:1: matrix: makes more than 256 layouts\n"},
	{"long name",
		TOP "layouts:\n"
		    "  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: {pool: "
		    "{level: raidz1, disks: 4}}\n" WRITE "matrix: {pool.ashift: [9, 12]}\n",
		"5:3: layouts: the matrix makes "
		"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,ashift=9', "
		"longer than 64 bytes: use a shorter layout name\n"
		"5:3: layouts: the matrix makes "
		"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,ashift=12', "
		"longer than 64 bytes: use a shorter layout name\n"},
};
WRONG_TEST(matrix)

static const struct wrong compare[] = {
	{"baseline", TOP EXISTING WRITE "compare: {baseline: b}\n",
		"8:21: compare.baseline: there is no layout 'b' (a)\n"},
	{"near baseline",
		TOP "layouts:\n"
		    "  raidz2-8: {existing: /x}\n" WRITE "compare: {baseline: raidz2-9}\n",
		"8:21: compare.baseline: there is no layout 'raidz2-9'; did you mean "
		"'raidz2-8'?\n"},
	{"baseline and pairs", TOP TWO WRITE "compare: {baseline: a, pairs: all}\n",
		"9:24: compare: either baseline or pairs, not both\n"},
	{"pairs", TOP TWO WRITE "compare: {pairs: [[a, b], [a, a], [a, c], [a], x]}\n",
		"9:27: compare.pairs: a pair is two different layouts\n"
		"9:39: compare.pairs: there is no layout 'c' (a, b)\n"
		"9:43: compare.pairs: a pair is two layouts: [A, B]\n"
		"9:48: compare.pairs: a pair is two layouts: [A, B]\n"},
	{"pairs of one", TOP EXISTING WRITE "compare: {pairs: all}\n",
		"8:11: compare: pairs need two layouts, the plan has one\n"},
	{"metrics, by, margin",
		TOP EXISTING WRITE
		"compare: {metrics: [elapsed, elapsed, latency, time_to_redundant], by: "
		"disk, margin: 2}\n",
		"8:30: compare.metrics: 'elapsed' is there twice\n"
		"8:39: compare.metrics: 'latency' is not a metric (elapsed, throughput, "
		"ops_per_s, latency_mean, latency_p50, latency_p99, latency_p999, "
		"latency_max, cpu_per_op, physical_read_bytes, physical_write_bytes)\n"
		"8:48: compare.metrics: 'time_to_redundant' is not supported by this version\n"
		"8:72: compare.by: 'disk' is not what is compared (layout, host)\n"
		"8:86: compare.margin: '2' must be a percentage from 0% to 100%, such as 2%\n"},
	{"list", TOP EXISTING WRITE "compare: [a, b]\n",
		"8:10: compare: compare must be a map of keys and values\n"},
};
WRONG_TEST(compare)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
