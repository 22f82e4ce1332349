/* Wrong plans and what is said about layouts: pools, disks, file systems. See plan_wrong.h. */
#include "tests/unit/plan_wrong.h"

static const struct wrong layouts[] = {
	{"none", TOP "layouts: {}\n" WRITE,
		"4:10: layouts: must be a map of layout names, each with pool, filesystem or "
		"existing\n"},
	{"list", TOP "layouts: [a]\n" WRITE,
		"4:10: layouts: must be a map of layout names, each with pool, filesystem or "
		"existing\n"},
	{"unknown key", LAYOUT("{exists: /x}"),
		"5:6: layouts.a: says nothing to measure on: it needs pool, filesystem or "
		"existing\n"
		"5:7: layouts.a: 'exists' is not a key of a layout (pool, filesystem, "
		"scratch, existing)\n"},
	{"nearest to a key of a later version", LAYOUT("{existing: /x, arra: 1}"),
		"5:21: layouts.a: 'arra' is not a key of a layout (pool, filesystem, scratch, "
		"existing)\n"},
	{"nothing", LAYOUT("{}"),
		"5:6: layouts.a: says nothing to measure on: it needs pool, filesystem or "
		"existing\n"},
	{"scalar", LAYOUT("x"), "5:6: layouts.a: a layout must be a map of keys and values\n"},
	{"existing relative", LAYOUT("{existing: tank}"),
		"5:17: layouts.a.existing: 'tank' must be an absolute path\n"},
	{"existing with dots", LAYOUT("{existing: /tank/../etc}"),
		"5:17: layouts.a.existing: '/tank/../etc' must not contain '..'\n"},
	{"existing root", LAYOUT("{existing: /}"),
		"5:17: layouts.a.existing: '/' is not a folder to write test files to\n"},
	{"existing double slash", LAYOUT("{existing: /tank//x}"),
		"5:17: layouts.a.existing: '/tank//x' must not contain '//'\n"},
	{"existing newline", LAYOUT("{existing: \"/tank/a\\nb\"}"),
		"5:17: layouts.a.existing: '/tank/a\\x0ab' must not contain control characters\n"},
	{"existing and pool", LAYOUT("{existing: /x, pool: {level: stripe, disks: 1}}"),
		"5:17: layouts.a: 'existing' uses what is there: nothing else can be built "
		"beside it\n"},
	{"pool and filesystem",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz1, disks: 3}, "
		       "filesystem: {type: ext4}}"),
		"5:3: layouts.a: too small: the workloads write 1 GiB, the volume holds less "
		"than 512 MiB\n"
		"5:86: layouts.a: either pool or filesystem, not both\n"},
	{"array, raw, zvol", LAYOUT("{array: {driver: md}, raw: true, zvol: {size: 1G}}"),
		"5:7: layouts.a.array: 'array' is not supported by this version\n"
		"5:28: layouts.a.raw: 'raw: true' is not supported by this version\n"
		"5:39: layouts.a.zvol: 'zvol' is not supported by this version\n"},
	{"misplaced",
		LAYOUT("{existing: /x, precondition: none, disk-cache: on, fill: 80%, age: churn}"),
		"5:21: layouts.a.precondition: is the same for all layouts: "
		"it stands at the top of the plan\n"
		"5:41: layouts.a.disk-cache: is the same for all layouts: it "
		"stands at the top of the plan\n"
		"5:57: layouts.a.fill: 'fill: 80%' is not supported by this version\n"
		"5:68: layouts.a.age: 'age: churn' is not supported by this version\n"},
	{"more disks than scratch",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz2, disks: 8, spares: "
		       "2, log: 1}}"),
		"5:16: layouts.a: 11 disks are asked for, scratch has 10\n"},
	{"scratch selectors",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz2, disks: {model: X, "
		       "count: 8}, spares: [serial:A]}}"),
		"5:70: layouts.a.pool.disks: scratch disks are all alike: a count selects "
		"them\n"
		"5:100: layouts.a.pool.spares: scratch disks are all alike: a count selects "
		"them\n"},
	{"scratch disks too small",
		LAYOUT("{scratch: {disks: 4, size: 1M}, pool: {level: raidz1, disks: 4}}"),
		"5:33: layouts.a.scratch.size: '1M' is outside of 64 MiB to 64 TiB\n"},
	{"scratch of nothing", LAYOUT("{scratch: {}, pool: {level: raidz1, disks: 4}}"),
		"5:16: layouts.a.scratch: 'disks' is missing: how many\n"
		"5:16: layouts.a.scratch: 'size' is missing: of each disk, such as 512M\n"},
	{"scratch of too many",
		LAYOUT("{scratch: {disks: 1000, size: 1G}, pool: {level: raidz1, disks: 4}}"),
		"5:24: layouts.a.scratch.disks: '1000' must be a whole number from 1 to 256\n"},
	{"xfs on small scratch",
		LAYOUT("{scratch: {disks: 1, size: 200M}, filesystem: {type: xfs}}"),
		"5:3: layouts.a: too small: the workloads write 1 GiB, the volume holds less "
		"than 200 MiB\n"
		"5:16: layouts.a: mkfs.xfs wants at least 300M, scratch disks have less\n"},
	{"volume too small",
		LAYOUT("{scratch: {disks: 3, size: 512M}, pool: {level: raidz2, disks: 3}}"),
		"5:3: layouts.a: too small: the workloads write 1 GiB, the volume holds less "
		"than 512 MiB\n"},
};
WRONG_TEST(layouts)

static const struct wrong pools[] = {
	{"raidz4", LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz4, disks: 8}}"),
		"5:55: layouts.a.pool.level: 'raidz4' is not a level (raidz1, raidz2, "
		"raidz3, draid…, mirror, stripe); did you mean 'raidz1'?\n"},
	{"raidz3 on 3",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz3, disks: 3}}"),
		"5:70: layouts.a.pool.disks: raidz3 wants at least 4 disks, has 3\n"},
	{"raidz2 on 2",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz2, disks: 2}}"),
		"5:70: layouts.a.pool.disks: raidz2 wants at least 3 disks, has 2\n"},
	{"raidz1 on 1",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: raidz1, disks: 1}}"),
		"5:70: layouts.a.pool.disks: raidz1 wants at least 2 disks, has 1\n"},
	{"mirror of 1",
		LAYOUT("{scratch: {disks: 10, size: 512M}, pool: {level: mirror, disks: 1}}"),
		"5:70: layouts.a.pool.disks: mirror wants at least 2 disks, has 1\n"},
	{"no level", LAYOUT("{pool: {disks: 3}}"),
		"5:13: layouts.a.pool: 'level' is missing: raidz1, raidz2, raidz3, draid…, "
		"mirror or stripe\n"},
	{"no disks", LAYOUT("{pool: {level: raidz1}}"),
		"5:13: layouts.a.pool: 'disks' is missing: a count, stable ids or a selector\n"},
	{"level and vdevs",
		LAYOUT("{pool: {level: raidz1, disks: 3, vdevs: [{level: raidz1, disks: 3}]}}"),
		"5:14: layouts.a.pool: either level and disks, or vdevs, not both\n"},
	{"no vdevs", LAYOUT("{pool: {vdevs: []}}"),
		"5:21: layouts.a.pool.vdevs: must be a list of 1 to 64 groups such as "
		"{level: raidz2, disks: 8}\n"},
	{"vdevs of unequal level",
		LAYOUT("{pool: {vdevs: [{level: raidz1, disks: 3}, {level: mirror, disks: 3}]}}"),
		"5:49: layouts.a.pool.vdevs: zpool refuses groups of different levels: "
		"'mirror' here, 'raidz1' in the first\n"},
	{"vdevs of unequal width",
		LAYOUT("{pool: {vdevs: [{level: raidz1, disks: 3}, {level: raidz1, disks: 4}]}}"),
		"5:49: layouts.a.pool.vdevs: zpool refuses groups of different width: 4 "
		"disks here, 3 in the first\n"},
	{"vdev without level", LAYOUT("{pool: {vdevs: [{disks: 3}, {level: raidz3, disks: 3}]}}"),
		"5:22: layouts.a.pool.vdevs: 'level' is missing: raidz2, mirror, …\n"
		"5:34: layouts.a.pool.vdevs: raidz3 wants at least 4 disks, has 3\n"},
	{"draid4", LAYOUT("{pool: {level: draid4, disks: 8}}"),
		"5:21: layouts.a.pool.level: 'draid4' is not a draid level: write "
		"draid2:8d:24c:2s, with parity 1 to 3, data disks per group, all disks, "
		"distributed spares\n"},
	{"draid part", LAYOUT("{pool: {level: 'draid2:8d:x', disks: 11}}"),
		"5:21: layouts.a.pool.level: 'draid2:8d:x' is not a draid level: write "
		"draid2:8d:24c:2s, with parity 1 to 3, data disks per group, all disks, "
		"distributed spares\n"},
	{"draid part twice", LAYOUT("{pool: {level: 'draid2:8d:4d', disks: 11}}"),
		"5:21: layouts.a.pool.level: 'draid2:8d:4d' is not a draid level: write "
		"draid2:8d:24c:2s, with parity 1 to 3, data disks per group, all disks, "
		"distributed spares\n"},
	{"draid colon", LAYOUT("{pool: {level: 'draid2:', disks: 11}}"),
		"5:21: layouts.a.pool.level: 'draid2:' is not a draid level: write "
		"draid2:8d:24c:2s, with parity 1 to 3, data disks per group, all disks, "
		"distributed spares\n"},
	{"draid children", LAYOUT("{pool: {level: 'draid2:8d:24c:2s', disks: 23}}"),
		"5:48: layouts.a.pool.disks: draid2:8d:24c:2s is made for 24 disks, has 23\n"},
	{"draid too narrow", LAYOUT("{pool: {level: 'draid2:8d:2s', disks: 11}}"),
		"5:44: layouts.a.pool.disks: draid2:8d:2s wants at least 12 disks (8 data + "
		"2 parity + 2 spare), has 11\n"},
	{"draid without data", LAYOUT("{pool: {level: 'draid3:2s', disks: 5}}"),
		"5:41: layouts.a.pool.disks: draid3:2s wants at least 6 disks (1 data + 3 "
		"parity + 2 spare), has 5\n"},
	{"log raidz", LAYOUT("{pool: {level: raidz1, disks: 3, log: {level: raidz1, disks: 3}}}"),
		"5:44: layouts.a.pool.log: 'raidz1' is not possible here: use mirror or "
		"stripe\n"},
	{"special draid",
		LAYOUT("{pool: {level: raidz1, disks: 3, special: {level: draid1, disks: 4}}}"),
		"5:48: layouts.a.pool.special: 'draid1' is not possible here: use mirror, "
		"raidz1 to raidz3, or stripe\n"},
	{"log mirror of 1",
		LAYOUT("{pool: {level: raidz1, disks: 3, log: {level: mirror, disks: 1}}}"),
		"5:44: layouts.a.pool.log: mirror wants at least 2 disks, has 1\n"},
	{"ashift", LAYOUT("{pool: {level: raidz1, disks: 3, ashift: 17}}"),
		"5:47: layouts.a.pool.ashift: '17' must be a whole number from 9 to 16\n"},
	{"properties",
		LAYOUT("{pool: {level: raidz1, disks: 3, properties: {atime: no, compresion: off, "
		       "compression: lz5, recordsize: 100K, copies: 4, mountpoint: /etc, sharenfs: "
		       "on, 'user:prop': x, ashift: 12, dedup: 'sha256,verify', recordsise: 1M}}}"),
		"5:59: layouts.a.pool.properties.atime: 'no' must be on or off, as zfs "
		"spells it\n"
		"5:63: layouts.a.pool.properties.compresion: 'compresion' is not a property "
		"that plans may set; did you mean 'compression'?\n"
		"5:93: layouts.a.pool.properties.compression: 'lz5' is not a value of "
		"'compression' (on off lz4 zstd zstd-# zstd-fast zstd-fast-# gzip gzip-# "
		"lzjb zle)\n"
		"5:110: layouts.a.pool.properties.recordsize: '100K' must be a power of two "
		"from 512 B to 16 MiB, such as 128K\n"
		"5:124: layouts.a.pool.properties.copies: '4' is not a value of 'copies' (1 "
		"2 3)\n"
		"5:127: layouts.a.pool.properties.mountpoint: 'mountpoint' is not for a plan "
		"to set: places, sharing, keys and execution stay with the agent\n"
		"5:145: layouts.a.pool.properties.sharenfs: 'sharenfs' is not for a plan to "
		"set: places, sharing, keys and execution stay with the agent\n"
		"5:159: layouts.a.pool.properties.user:prop: 'user:prop' is not for a plan "
		"to set: places, sharing, keys and execution stay with the agent\n"
		"5:175: layouts.a.pool.properties.ashift: 'ashift' stands beside properties, "
		"not in them\n"
		"5:211: layouts.a.pool.properties.recordsise: 'recordsise' is not a property "
		"that plans may set; did you mean 'recordsize'?\n"},
	{"recordsize KB",
		LAYOUT("{pool: {level: raidz1, disks: 3, properties: {recordsize: 128KB}}}"),
		"5:64: layouts.a.pool.properties.recordsize: '128KB' must be a power of two "
		"from 512 B to 16 MiB, such as 128K\n"},
	{"recordsize too big",
		LAYOUT("{pool: {level: raidz1, disks: 3, properties: {recordsize: 32M}}}"),
		"5:64: layouts.a.pool.properties.recordsize: '32M' must be a power of two "
		"from 512 B to 16 MiB, such as 128K\n"},
	{"property injection",
		LAYOUT("{pool: {level: raidz1, disks: 3, properties: {compression: 'gzip-9 -o x', "
		       "'feature@a b': enabled}}}"),
		"5:65: layouts.a.pool.properties.compression: 'gzip-9 -o x' is not a value "
		"of 'compression' (on off lz4 zstd zstd-# zstd-fast zstd-fast-# gzip gzip-# "
		"lzjb zle)\n"
		"5:80: layouts.a.pool.properties.feature@a b: 'feature@a b' is not a "
		"property that plans may set\n"},
	{"datasets",
		LAYOUT("{pool: {level: raidz1, disks: 3, datasets: {'a/b': {recordsize: 16K}, pg: "
		       "{autotrim: on, exec: off}}}}"),
		"5:50: layouts.a.pool.datasets: 'a/b' is not a dataset name: use letters, "
		"digits, '_', '+', '-', starting with a letter or digit\n"
		"5:81: layouts.a.pool.datasets.pg.autotrim: 'autotrim' is a property of the "
		"pool, not of a dataset\n"
		"5:95: layouts.a.pool.datasets.pg.exec: 'exec' is not for a plan to set: "
		"places, sharing, keys and execution stay with the agent\n"},
};
WRONG_TEST(pools)

static const struct wrong disks[] = {
	{"kernel names", LAYOUT("{pool: {level: raidz1, disks: [sda, /dev/sdb, nvme0n1]}}"),
		"5:37: layouts.a.pool.disks: 'sda' is a name that may change at the next "
		"start: use serial:… or wwn:…, which `arraymark host disks HOST` prints\n"
		"5:42: layouts.a.pool.disks: '/dev/sdb' is a name that may change at the "
		"next start: use serial:… or wwn:…, which `arraymark host disks HOST` prints\n"
		"5:52: layouts.a.pool.disks: 'nvme0n1' is a name that may change at the next "
		"start: use serial:… or wwn:…, which `arraymark host disks HOST` prints\n"},
	{"id twice", LAYOUT("{pool: {level: mirror, disks: [serial:A, serial:A]}}"),
		"5:47: layouts.a.pool.disks: 'serial:A' is there twice\n"},
	{"id with pattern", LAYOUT("{pool: {level: mirror, disks: ['serial:A*', serial:B]}}"),
		"5:37: layouts.a.pool.disks: 'serial:A*': no patterns in a list of ids; "
		"write {serial: \"A*\"}\n"},
	{"ids and selectors", LAYOUT("{pool: {level: mirror, disks: [serial:A, {model: X}]}}"),
		"5:36: layouts.a.pool.disks: a list is either of ids or of selectors\n"},
	{"word", LAYOUT("{pool: {level: mirror, disks: some}}"),
		"5:36: layouts.a.pool.disks: 'some' is not a disk: write a count, serial:…, "
		"wwn:…, or a selector such as {model: X, count: 8}\n"},
	{"zero", LAYOUT("{pool: {level: mirror, disks: 0}}"),
		"5:36: layouts.a.pool.disks: '0' must be a whole number from 1 to 4096\n"},
	{"empty id", LAYOUT("{pool: {level: stripe, disks: ['serial:']}}"),
		"5:37: layouts.a.pool.disks: 'serial:' is not a disk: write a count, "
		"serial:…, wwn:…, or a selector such as {model: X, count: 8}\n"},
	{"selector key", LAYOUT("{pool: {level: mirror, disks: {modell: X, count: 2}}}"),
		"5:37: layouts.a.pool.disks: 'modell' is not a key of a disk selector; did "
		"you mean 'model'?\n"},
	{"selector of nothing", LAYOUT("{pool: {level: mirror, disks: {}}}"),
		"5:36: layouts.a.pool.disks: an empty selector would take every disk: name "
		"what the disks have in common, or a count\n"},
	{"use", LAYOUT("{pool: {level: mirror, disks: {count: 2, use: 10%}}}"),
		"5:47: layouts.a.pool.disks.use: 'use: 10%' is not supported by this version\n"},
	{"exclude", LAYOUT("{pool: {level: mirror, disks: {count: 2, exclude: [sda]}}}"),
		"5:56: layouts.a.pool.disks.exclude: 'sda' is a name that may change at the "
		"next start: use serial:… or wwn:…, which `arraymark host disks HOST` prints\n"},
	{"empty list", LAYOUT("{pool: {level: mirror, disks: []}}"),
		"5:36: layouts.a.pool.disks: the list is empty\n"},
};
WRONG_TEST(disks)

static const struct wrong filesystems[] = {
	{"type", LAYOUT("{filesystem: {type: zfs, disks: [serial:A]}}"),
		"5:26: layouts.a.filesystem.type: 'zfs' is not a file system (xfs, ext4); did you mean 'xfs'?\n"},
	{"btrfs", LAYOUT("{filesystem: {type: btrfs, disks: [serial:A]}}"),
		"5:20: layouts.a.filesystem.type: 'type: btrfs' is not supported by this "
		"version: use xfs or ext4\n"},
	{"no type", LAYOUT("{filesystem: {disks: [serial:A]}}"),
		"5:19: layouts.a.filesystem: 'type' is missing: xfs or ext4\n"},
	{"no disks", LAYOUT("{filesystem: {type: xfs}}"),
		"5:19: layouts.a: filesystem: 'disks' is missing: one id, or a selector with "
		"count: 1\n"},
	{"two disks", LAYOUT("{filesystem: {type: xfs, disks: 2}}"),
		"5:38: layouts.a.filesystem: a file system stands on exactly one disk in "
		"this version: disks: 1, one id, or a selector with count: 1\n"},
	{"any number of disks", LAYOUT("{filesystem: {type: xfs, disks: {model: X}}}"),
		"5:38: layouts.a.filesystem: a file system stands on exactly one disk in "
		"this version: disks: 1, one id, or a selector with count: 1\n"},
	{"mkfs force", LAYOUT("{filesystem: {type: xfs, disks: [serial:A], options: [-f]}}"),
		"5:59: layouts.a.filesystem.options: '-f' is not an option of mkfs.xfs that "
		"plans may give, as in [\"-i size=512\"]\n"},
	{"mkfs log device",
		LAYOUT("{filesystem: {type: xfs, disks: [serial:A], options: '-l "
		       "logdev=/dev/sdb,size=64m'}}"),
		"5:59: layouts.a.filesystem.options: mkfs -l logdev=/dev/sdb is not an "
		"option that plans may give (size su sunit lazy-count version)\n"},
	{"mkfs without value",
		LAYOUT("{filesystem: {type: ext4, disks: [serial:A], options: [-m]}}"),
		"5:60: layouts.a.filesystem.options: mkfs -m wants a value\n"},
	{"mkfs path",
		LAYOUT("{filesystem: {type: ext4, disks: [serial:A], options: [-T, /etc/passwd]}}"),
		"5:60: layouts.a.filesystem.options: mkfs -T '/etc/passwd': not a plain value\n"},
	{"mkfs journal device",
		LAYOUT("{filesystem: {type: ext4, disks: [serial:A], options: [-J, "
		       "'device=/dev/sdb']}}"),
		"5:60: layouts.a.filesystem.options: mkfs -J device=/dev/sdb is not an "
		"option that plans may give (size fast_commit_size)\n"},
	{"mkfs value",
		LAYOUT("{filesystem: {type: xfs, disks: [serial:A], options: [-i, 'size=$(id)']}}"),
		"5:59: layouts.a.filesystem.options: mkfs -i size=$(id): not a plain value\n"},
	{"mount",
		LAYOUT("{filesystem: {type: xfs, disks: [serial:A], mount: [noatime, noatime, "
		       "suid, "
		       "data=writeback, 'logbsize=/x']}}"),
		"5:57: layouts.a.filesystem.mount: 'noatime' is there twice\n"
		"5:57: layouts.a.filesystem.mount: 'suid' is not a mount option that plans "
		"may give\n"
		"5:57: layouts.a.filesystem.mount: 'data=writeback' is not a mount option of "
		"xfs\n"
		"5:57: layouts.a.filesystem.mount: 'logbsize=/x': not a plain value\n"},
};
WRONG_TEST(filesystems)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_disks),
		cmocka_unit_test(test_filesystems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
