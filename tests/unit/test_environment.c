/* What /sys of made-up hosts tells of links, queues, governors and parameters of ZFS. */
#include "agent/volume/environment.h"
#include "common/base/json.h"
#include "tests/unit/host_kit.h"

#define PCI "/sys/devices/pci0000:00/0000:00:1f.2"
#define SAS "/sys/devices/pci0000:00/0000:03:00.0/host0/port-0:0/expander-0:0/port-0:0:3"
#define NVME "/sys/devices/pci0000:00/0000:04:00.0"

static void make_disks(const struct host *h)
{
	host_file(h, PCI "/ata3/link3/ata_link/link3/sata_spd", "6.0 Gbps\n");
	host_file(h, PCI "/ata3/host2/target2:0:0/2:0:0:0/model", "WDC\n");
	host_link(h, "/sys/class/block/sda/device",
		"../../../devices/pci0000:00/0000:00:1f.2/ata3/host2/target2:0:0/2:0:0:0");
	host_file(h, "/sys/class/block/sda/queue/scheduler", "none [mq-deadline] kyber\n");
	host_file(h, "/sys/class/block/sda/queue/write_cache", "write back\n");
	host_file(h, "/sys/class/block/sda/queue/zoned", "host-aware\n");
	host_file(h, SAS "/end_device-0:0:3/target0:0:3/0:0:3:0/model", "ST\n");
	host_file(h, SAS "/phy-0:0:3/x", "\n");
	host_file(h, "/sys/class/sas_phy/phy-0:0:3/negotiated_linkrate", "12.0 Gbit\n");
	host_link(h, "/sys/class/block/sdb/device",
		"../../../devices/pci0000:00/0000:03:00.0/host0/port-0:0/expander-0:0/port-0:0:3/"
		"end_device-0:0:3/target0:0:3/0:0:3:0");
	host_file(h, "/sys/class/block/sdb/queue/scheduler", "none\n");
	host_file(h, NVME "/current_link_speed", "8.0 GT/s PCIe\n");
	host_file(h, NVME "/current_link_width", "4\n");
	host_link(h, NVME "/nvme/nvme0/device", "../../../0000:04:00.0");
	host_link(h, "/sys/class/block/nvme0n1/device",
		"../../../devices/pci0000:00/0000:04:00.0/nvme/nvme0");
}

static void links_and_queues_are_read(void **state)
{
	static const struct {
		const char *kernel, *link, *scheduler, *cache, *zoned;
	} table[] = {
		{"sda", "6.0 Gbit/s", "mq-deadline", "write back", "host-aware"},
		{"sdb", "12.0 Gbit/s", "none", NULL, NULL},
		{"nvme0n1", "8.0 GT/s x4", NULL, NULL, NULL},
		{"sdz", NULL, NULL, NULL, NULL},
	};
	struct host h;

	(void)state;
	host_new(&h);
	make_disks(&h);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct inv_disk d = {0};

		environment_of_disk(h.root, table[i].kernel, &d);
		if (!str_equal(d.link_speed, table[i].link) ||
			!str_equal(d.scheduler, table[i].scheduler) ||
			!str_equal(d.write_cache, table[i].cache) ||
			!str_equal(d.zoned, table[i].zoned))
			fail_msg("%s: %s, %s, %s, %s", table[i].kernel, d.link_speed, d.scheduler,
				d.write_cache, d.zoned);
		inv_disk_clear(&d);
	}
	host_free(&h);
}

static void a_link_that_is_down_is_unknown(void **state)
{
	static const char *const texts[] = {"<unknown>\n", "Unknown\n", "\n", "0.0 Gbps\n"};
	struct host h;

	(void)state;
	host_new(&h);
	make_disks(&h);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct inv_disk d = {0};

		host_file(&h, PCI "/ata3/link3/ata_link/link3/sata_spd", texts[i]);
		environment_of_disk(h.root, "sda", &d);
		assert_null(d.link_speed);
		inv_disk_clear(&d);
	}
	host_free(&h);
}

static void governors_and_parameters_are_read(void **state)
{
	struct inventory inv = {0};
	struct host h;
	json_t *o;

	(void)state;
	host_new(&h);
	environment_of_host(h.root, &inv);
	assert_null(inv.governor);
	assert_int_equal(inv.zfs_parameters.n, 0);
	host_file(&h, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	host_file(&h, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	host_file(&h, "/sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "powersave\n");
	host_file(&h, "/sys/module/zfs/parameters/zfs_arc_max", "8589934592\n");
	host_file(&h, "/sys/module/zfs/parameters/zfs_txg_timeout", "5\n");
	host_file(&h, "/sys/module/zfs/parameters/zfs_flags", "0\n");
	environment_of_host(h.root, &inv);
	assert_string_equal(inv.governor, "performance, powersave");
	assert_int_equal(inv.zfs_parameters.n, 2);
	o = inventory_json(&inv);
	assert_string_equal(json_get_str(o, "governor", ""), "performance, powersave");
	assert_string_equal(json_get_str(json_object_get(o, "zfs_parameters"), "zfs_arc_max", ""),
		"8589934592");
	json_decref(o);
	inventory_clear(&inv);
	host_free(&h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_and_queues_are_read),
		cmocka_unit_test(a_link_that_is_down_is_unknown),
		cmocka_unit_test(governors_and_parameters_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
