/*
 * What RAID controllers' tools print, read into one state. Texts are handwritten in the tools' shapes.
 * With CAPTURES set, every real output in $CAPTURES/{storcli,perccli,storcli2,megacli,ssacli,arcconf} is
 * read, too, or refused with an error.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/controller/controller.h"
#include "agent/controller/readers.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "tests/unit/test.h"

static const char *setting(const struct raid_state *s, const char *volume, enum raid_setting which)
{
	for (size_t i = 0; i < s->n_volumes; i++)
		if (strcmp(s->volumes[i].name, volume) == 0)
			return s->volumes[i].settings[which];
	fail_msg("no %s among %zu volumes", volume, s->n_volumes);
	return NULL;
}

static void assert_setting(
	const struct raid_state *s, const char *volume, enum raid_setting which, const char *want)
{
	const char *is = setting(s, volume, which);

	if (!str_equal(is, want))
		fail_msg("%s of %s is '%s', should be '%s'", raid_setting_names[which], volume,
			is ? is : "(not told)", want ? want : "(not told)");
}

static void assert_running(const struct raid_state *s, const char *want)
{
	struct buf all = {0};

	for (size_t i = 0; i < s->running.n; i++)
		buf_addf(&all, "%s%s", i ? "; " : "", s->running.v[i]);
	assert_string_equal(buf_str(&all), want);
	buf_free(&all);
}

/* ---- storcli, perccli ---- */

#define STORCLI(data)                                                                              \
	"{\"Controllers\":[{\"Command Status\":{\"CLI Version\":\"007.1\",\"Controller\":0,"       \
	"\"Status\":\"Success\",\"Description\":\"None\"},\"Response Data\":" data "}]}"

static const char storcli_show[] = STORCLI(
	"{\"Basics\":{\"Model\":\"PERC H730\"},\"HwCfg\":{\"BBU\":\"Present\"},"
	"\"VD LIST\":[{\"DG/VD\":\"0/0\",\"TYPE\":\"RAID6\",\"State\":\"Optl\",\"Cache\":\"NRWBD\"},"
	"{\"DG/VD\":\"1/1\",\"TYPE\":\"RAID5\",\"State\":\"Dgrd\",\"Cache\":\"RaAWBC\"}],"
	"\"PD LIST\":[{\"EID:Slt\":\"32:3\",\"State\":\"Onln\"},{\"EID:Slt\":\"32:4\",\"State\":\"Rbld\"},"
	"{\"EID:Slt\":\" :7\",\"State\":\"Cpybck\"}],"
	"\"BBU_Info\":[{\"Model\":\"BBU\",\"State\":\"Learning\"}]}");
static const char storcli_volumes[] = STORCLI(
	"{\"/c0/v0\":[{\"DG/VD\":\"0/0\",\"TYPE\":\"RAID6\",\"State\":\"Optl\",\"Cache\":\"NRWBD\"}],"
	"\"PDs for VD 0\":[{\"EID:Slt\":\"32:4\",\"State\":\"Rbld\"}],"
	"\"VD0 Properties\":{\"Write Cache(initial setting)\":\"WriteBack\",\"Disk Cache "
	"Policy\":\"Disk's Default\",\"Active Operations\":\"Background Initialization (12%)\",\"OS "
	"Drive Name\":\"/dev/sdb\",\"SCSI NAA Id\":\"6A4BADB0FF00112233445566778899AA\"},"
	"\"/c0/v1\":[{\"DG/VD\":\"1/1\",\"State\":\"Dgrd\",\"Cache\":\"RaAWBC\"}],"
	"\"VD1 Properties\":{\"Active Operations\":\"None\",\"Disk Cache Policy\":\"Disabled\","
	"\"SCSI NAA Id\":7}}");
static const char storcli_patrol[] =
	STORCLI("{\"Controller Properties\":[{\"Ctrl_Prop\":\"PR Mode\",\"Value\":\"Auto\"},"
		"{\"Ctrl_Prop\":\"PR Current State\",\"Value\":\"Active 12\"}]}");

static void storcli_tells_all(void **state)
{
	static const char *const texts[] = {storcli_show, storcli_volumes, storcli_patrol};
	struct raid_state s = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_ok(storcli_read(texts[i], strlen(texts[i]), &s, &e), e);
	raid_state_settle(&s);
	assert_int_equal(s.n_controllers, 1);
	assert_int_equal(s.n_volumes, 2);
	assert_setting(&s, "/c0/v0", RAID_STATE, "optimal");
	assert_setting(&s, "/c0/v0", RAID_WRITE_CACHE, "write back");
	assert_setting(&s, "/c0/v0", RAID_WRITE_CACHE_SET, "write back");
	assert_setting(&s, "/c0/v0", RAID_READ_AHEAD, "none");
	assert_setting(&s, "/c0/v0", RAID_READ_CACHE, "direct");
	assert_setting(&s, "/c0/v0", RAID_DISK_CACHE, "default");
	assert_setting(&s, "/c0/v0", RAID_BATTERY, "learning");
	assert_setting(&s, "/c0/v1", RAID_STATE, "degraded");
	assert_setting(&s, "/c0/v1", RAID_WRITE_CACHE, "write back always");
	assert_setting(&s, "/c0/v1", RAID_READ_AHEAD, "adaptive");
	assert_setting(&s, "/c0/v1", RAID_READ_CACHE, "cached");
	assert_setting(&s, "/c0/v1", RAID_DISK_CACHE, "off");
	assert_setting(&s, "/c0/v1", RAID_WRITE_CACHE_SET, NULL);
	assert_running(&s, "rebuild of /c0/e32/s4; copyback of /c0/s7; background initialization of "
			   "/c0/v0; patrol read of /c0; degraded array /c0/v1");
	assert_ptr_equal(raid_volume_find(&s, "6a4badb0ff00112233445566778899aa", NULL, -1),
		&s.volumes[0]);
	assert_ptr_equal(raid_volume_find(&s, NULL, "/dev/sdb", -1), &s.volumes[0]);
	assert_null(raid_volume_find(&s, NULL, "/dev/sdc", -1));
	raid_state_free(&s);
}

/* The second generation: numbers are texts, drives in lists of their own. */
static void storcli2_tells_all(void **state)
{
	static const char text[] =
		"{\"Controllers\":[{\"Command Status\":{\"CLI Version\":\"008.1\",\"Controller\":\"2\","
		"\"Status\":\"Success\"},\"Response Data\":{\"Virtual Drives\":[{\"VD Info\":{\"DG/VD\":"
		"\"0/1\",\"State\":\"Optl\",\"CurrentCache\":\"NR,WT\",\"DefaultCache\":\"NR,WB\"},"
		"\"PDs\":[{\"EID:Slt\":\"306:0\",\"State\":\"Conf\",\"Status\":\"Rebuild\"}],"
		"\"VD Properties\":{\"Drive Write Cache Policy\":\"Disabled\",\"Init State\":\"No Init\","
		"\"SCSI NAA Id\":\"600062b22066d54069faf124ced57e62\"}}],"
		"\"Energy Pack Info\":[{\"Status\":\"Optimal\"}]}}]}";
	struct raid_state s = {0};
	struct err e;

	(void)state;
	assert_ok(storcli_read(text, strlen(text), &s, &e), e);
	raid_state_settle(&s);
	assert_setting(&s, "/c2/v1", RAID_WRITE_CACHE, "write through");
	assert_setting(&s, "/c2/v1", RAID_WRITE_CACHE_SET, "write back");
	assert_setting(&s, "/c2/v1", RAID_DISK_CACHE, "off");
	assert_setting(&s, "/c2/v1", RAID_BATTERY, "optimal");
	assert_running(&s, "rebuild of /c2/e306/s0");
	raid_state_free(&s);
}

static void storclis_failures_are_told(void **state)
{
	static const char none[] = "{\"Controllers\":[{\"Command Status\":{\"Status\":\"Failure\","
				   "\"Description\":\"No Controller found\"}}]}";
	static const char fails[] =
		"{\"Controllers\":[{\"Command Status\":{\"Controller\":3,\"Status\":\"Failure\","
		"\"Description\":\"Controller is not responding\"}}]}";
	static const char text[] = "Controller = 0\nStatus = Success\n";
	struct raid_state s = {0};
	struct err e;

	(void)state;
	assert_ok(storcli_read(none, strlen(none), &s, &e), e);
	assert_int_equal(s.n_controllers, 0);
	assert_int_equal(storcli_read(fails, strlen(fails), &s, &e), -1);
	assert_has(e.text, "Controller is not responding");
	assert_int_equal(storcli_read(text, strlen(text), &s, &e), -1);
	for (size_t len = 0; len + 1 < strlen(storcli_show); len += 7)
		assert_int_equal(storcli_read(storcli_show, len, &s, &e), -1);
	raid_state_free(&s);
}

/* ---- MegaCli ---- */

static const char megacli_volumes[] =
	"                                     \n\n"
	"Adapter 0 -- Virtual Drive Information:\n"
	"Virtual Drive: 0 (Target Id: 0)\n"
	"Name                :pool\n"
	"RAID Level          : Primary-6, Secondary-0, RAID Level Qualifier-3\n"
	"State               : Optimal\n"
	"Default Cache Policy: WriteBack, ReadAheadNone, Direct, No Write Cache if Bad BBU\n"
	"Current Cache Policy: WriteThrough, ReadAheadNone, Direct, No Write Cache if Bad BBU\n"
	"Disk Cache Policy   : Disk's Default\n"
	"Ongoing Progresses:\n"
	"  Check Consistency        : Completed 12%, Taken 3 min.\n"
	"Encryption Type     : None\n"
	"Virtual Drive: 1 (Target Id: 1)\n"
	"State               : Partially Degraded\n"
	"Current Cache Policy: WriteBack, ReadAdaptive, Cached, Write Cache OK if Bad BBU\n"
	"Disk Cache Policy   : Enabled\n\n"
	"Adapter 1 -- Virtual Drive Information:\n"
	"Virtual Drive: 0 (Target Id: 0)\n"
	"State               : Optimal\n"
	"Current Cache Policy: WriteBack, ReadAhead, Direct, No Write Cache if Bad BBU\n\n"
	"Exit Code: 0x00\n";
static const char megacli_drives[] = "Adapter #0\n\nEnclosure Device ID: 32\nSlot Number: 3\n"
				     "Firmware state: Online, Spun Up\nEnclosure Device ID: 32\n"
				     "Slot Number: 4\nFirmware state: Rebuild\n\nExit Code: 0x00\n";
static const char megacli_patrol[] =
	"Adapter 0: Patrol Read Information:\n\nPatrol Read Mode: Auto\nPatrol Read State: Stopped\n\n"
	"Adapter 1: Patrol Read Information:\n\nPatrol Read State: Active\n\nExit Code: 0x00\n";
static const char megacli_battery[] =
	"BBU status for Adapter: 0\n\nBatteryType: iBBU\nBBU Firmware Status:\n"
	"  Learn Cycle Active           : No\n  Battery Replacement required : Yes\n"
	"Battery State     : Operational\nAdapter 1: Get BBU Status Failed.\n"
	"FW error description: \n  The required hardware component is not present.\nExit Code: 0x22\n";

static void megacli_tells_all(void **state)
{
	static const char *const texts[] = {
		megacli_volumes, megacli_drives, megacli_patrol, megacli_battery};
	struct raid_state s = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		assert_ok(megacli_read(texts[i], strlen(texts[i]), &s, &e), e);
	raid_state_settle(&s);
	assert_int_equal(s.n_controllers, 2);
	assert_int_equal(s.n_volumes, 3);
	assert_setting(&s, "a0 VD 0", RAID_STATE, "optimal");
	assert_setting(&s, "a0 VD 0", RAID_WRITE_CACHE, "write through");
	assert_setting(&s, "a0 VD 0", RAID_WRITE_CACHE_SET, "write back");
	assert_setting(&s, "a0 VD 0", RAID_READ_AHEAD, "none");
	assert_setting(&s, "a0 VD 0", RAID_DISK_CACHE, "default");
	assert_setting(&s, "a0 VD 0", RAID_BATTERY, "replacement required");
	assert_setting(&s, "a0 VD 1", RAID_WRITE_CACHE, "write back always");
	assert_setting(&s, "a0 VD 1", RAID_READ_AHEAD, "adaptive");
	assert_setting(&s, "a0 VD 1", RAID_READ_CACHE, "cached");
	assert_setting(&s, "a0 VD 1", RAID_DISK_CACHE, "on");
	assert_setting(&s, "a1 VD 0", RAID_READ_AHEAD, "ahead");
	assert_setting(&s, "a1 VD 0", RAID_BATTERY, "none");
	assert_running(&s, "check consistency of a0 VD 0; rebuild of a0 e32 s4; patrol read of a1; "
			   "partially degraded array a0 VD 1");
	/* Two arrays have target 0, one has target 1. */
	assert_null(raid_volume_find(&s, NULL, "/dev/sda", 0));
	assert_ptr_equal(raid_volume_find(&s, NULL, "/dev/sdb", 1), &s.volumes[1]);
	raid_state_free(&s);
}

static void what_megacli_cuts_off_is_refused(void **state)
{
	static const char failed[] = "Invalid input at or near token -LDInfo\n\nExit Code: 0x01\n";
	struct raid_state s = {0};
	struct err e;

	(void)state;
	for (size_t len = 0; len + 16 < strlen(megacli_volumes); len += 5)
		assert_int_equal(megacli_read(megacli_volumes, len, &s, &e), -1);
	assert_int_equal(megacli_read(failed, strlen(failed), &s, &e), -1);
	assert_has(e.text, "0x01");
	raid_state_free(&s);
}

/* ---- ssacli ---- */

static const char ssacli_text[] =
	"\nSmart Array P410i in Slot 0 (Embedded)\n"
	"   Bus Interface: PCI\n"
	"   Slot: 0\n"
	"   Controller Status: OK\n"
	"   Rebuild Priority: Medium\n"
	"   Surface Scan Mode: Idle\n"
	"   Cache Status: OK\n"
	"   Drive Write Cache: Disabled\n"
	"   No-Battery Write Cache: Enabled\n"
	"   Battery/Capacitor Count: 1\n"
	"   Battery/Capacitor Status: Recharging\n"
	"   Array: A\n"
	"      Status: OK\n"
	"      Logical Drive: 1\n"
	"         Size: 1.8 TB\n"
	"         Status: Recovering, 12% complete\n"
	"         Caching:  Enabled\n"
	"         Parity Initialization Status: In Progress\n"
	"         Unique Identifier: 600508B1001C0011223344556677889A\n"
	"         Disk Name: /dev/sda \n"
	"      physicaldrive 1I:1:1\n"
	"         Status: Failed\n"
	"      Logical Drive: 2\n"
	"         Status: Interim Recovery Mode\n"
	"         Caching:  Disabled\n"
	"         Disk Name: /dev/sdb\n"
	"\nSmart Array P440 in Slot 3\n"
	"   Cache Status: Temporarily Disabled\n"
	"   Battery/Capacitor Status: OK\n"
	"   Array: A\n"
	"      Logical Drive: 1\n"
	"         Status: OK\n"
	"         Caching:  Enabled\n";

static void ssacli_tells_all(void **state)
{
	struct raid_state s = {0};
	struct err e;

	(void)state;
	assert_ok(ssacli_read(ssacli_text, strlen(ssacli_text), &s, &e), e);
	raid_state_settle(&s);
	assert_int_equal(s.n_controllers, 2);
	assert_int_equal(s.n_volumes, 3);
	assert_setting(&s, "slot 0 LD 1", RAID_STATE, "recovering");
	assert_setting(&s, "slot 0 LD 1", RAID_WRITE_CACHE, "write back always");
	assert_setting(&s, "slot 0 LD 1", RAID_DISK_CACHE, "off");
	assert_setting(&s, "slot 0 LD 1", RAID_BATTERY, "recharging");
	assert_setting(&s, "slot 0 LD 2", RAID_STATE, "degraded");
	assert_setting(&s, "slot 0 LD 2", RAID_WRITE_CACHE, "write through");
	assert_setting(&s, "slot 3 LD 1", RAID_STATE, "optimal");
	assert_setting(&s, "slot 3 LD 1", RAID_WRITE_CACHE, "write through");
	assert_setting(&s, "slot 3 LD 1", RAID_WRITE_CACHE_SET, "write back");
	assert_setting(&s, "slot 3 LD 1", RAID_BATTERY, "optimal");
	assert_running(&s, "rebuild of slot 0 LD 1; parity initialization of slot 0 LD 1; recovering "
			   "array slot 0 LD 1; degraded array slot 0 LD 2");
	assert_ptr_equal(raid_volume_find(&s, "600508b1001c0011223344556677889a", NULL, -1),
		&s.volumes[0]);
	assert_ptr_equal(raid_volume_find(&s, NULL, "/dev/sdb", -1), &s.volumes[1]);
	raid_state_free(&s);
}

static void ssaclis_errors_are_told(void **state)
{
	static const char none[] = "\nError: No controllers detected.\n";
	static const char wrong[] = "\nError: The specified option is not valid.\n";
	struct raid_state s = {0};
	struct err e;

	(void)state;
	assert_ok(ssacli_read(none, strlen(none), &s, &e), e);
	assert_int_equal(s.n_controllers, 0);
	assert_int_equal(ssacli_read(wrong, strlen(wrong), &s, &e), -1);
	assert_has(e.text, "not valid");
	assert_int_equal(ssacli_read("", 0, &s, &e), -1);
	assert_int_equal(ssacli_read("Segmentation fault\n", 19, &s, &e), -1);
	raid_state_free(&s);
}

/* ---- arcconf ---- */

static const char arcconf_config[] =
	"Controllers found: 1\n"
	"----------------------------------------------------------------------\n"
	"Controller information\n"
	"----------------------------------------------------------------------\n"
	"   Controller Status                        : Optimal\n"
	"   --------------------------------------------------------\n"
	"   Controller Cache Backup Unit Information\n"
	"   --------------------------------------------------------\n"
	"    Overall Backup Unit Status              : Not Present\n"
	"----------------------------------------------------------------------\n"
	"Logical device information\n"
	"----------------------------------------------------------------------\n"
	"Logical Device number 0\n"
	"   Status of Logical Device                 : Impacted ( Build/Verify with fix : 90 % )\n"
	"   Read-cache setting                       : Enabled\n"
	"   Write-cache setting                      : On when protected by battery/ZMM\n"
	"   Write-cache status                       : Off\n"
	"   Disk Name                                : /dev/sdb (Disk0)\n"
	"Logical Device number 1\n"
	"   Status of logical device                 : Degraded\n"
	"   Write-cache mode                         : Enabled (write-back)\n"
	"----------------------------------------------------------------------\n"
	"Physical Device information\n"
	"----------------------------------------------------------------------\n"
	"      Device #0\n"
	"         State                              : Online\n\n\n"
	"Command completed successfully.\n";
static const char arcconf_tasks[] =
	"Controllers found: 1\n"
	"Logical Device Task:\n"
	"   Logical Device                 : 1\n"
	"   Task ID                        : 100\n"
	"   Current operation              : Rebuild\n"
	"   Status                         : In Progress\n"
	"   Percentage complete            : 3\n\n"
	"Command completed successfully.\n";

static void arcconf_tells_all(void **state)
{
	struct raid_state s = {0};
	struct err e;

	(void)state;
	assert_ok(arcconf_read(arcconf_config, strlen(arcconf_config), 1, &s, &e), e);
	assert_ok(arcconf_read(arcconf_tasks, strlen(arcconf_tasks), 1, &s, &e), e);
	raid_state_settle(&s);
	assert_int_equal(s.n_controllers, 1);
	assert_int_equal(s.n_volumes, 2);
	assert_setting(&s, "c1 LD 0", RAID_STATE, "impacted");
	assert_setting(&s, "c1 LD 0", RAID_WRITE_CACHE_SET, "write back");
	assert_setting(&s, "c1 LD 0", RAID_WRITE_CACHE, "write through");
	assert_setting(&s, "c1 LD 0", RAID_BATTERY, "none");
	assert_setting(&s, "c1 LD 1", RAID_STATE, "degraded");
	assert_setting(&s, "c1 LD 1", RAID_WRITE_CACHE, "write back always");
	assert_running(&s, "build/verify with fix of c1 LD 0; rebuild of c1 LD 1; impacted array c1 LD "
			   "0; degraded array c1 LD 1");
	assert_ptr_equal(raid_volume_find(&s, NULL, "/dev/sdb", -1), &s.volumes[0]);
	raid_state_free(&s);
}

static void what_arcconf_cuts_off_is_refused(void **state)
{
	static const char beyond[] = "Controllers found: 1\nInvalid controller number.\n";
	static const char none[] = "Controllers found: 0\n\nCommand completed successfully.\n";
	struct raid_state s = {0};
	struct err e;

	(void)state;
	for (size_t len = 0; len + 40 < strlen(arcconf_config); len += 9)
		assert_int_equal(arcconf_read(arcconf_config, len, 1, &s, &e), -1);
	raid_state_free(&s);
	assert_ok(arcconf_read(none, strlen(none), 1, &s, &e), e);
	assert_ok(arcconf_read(beyond, strlen(beyond), 2, &s, &e), e);
	assert_int_equal(s.n_controllers, 0);
	raid_state_free(&s);
}

/* ---- real outputs ---- */

static int read_capture(const char *kind, const char *text, size_t len, struct raid_state *s,
	struct err *e)
{
	if (strcmp(kind, "megacli") == 0)
		return megacli_read(text, len, s, e);
	if (strcmp(kind, "ssacli") == 0)
		return ssacli_read(text, len, s, e);
	if (strcmp(kind, "arcconf") == 0)
		return arcconf_read(text, len, 1, s, e);
	return storcli_read(text, len, s, e);
}

static void check_capture(const char *captures, const char *kind, const char *file)
{
	char *path = xasprintf("%s/%s/%s", captures, kind, file);
	struct raid_state s = {0};
	struct buf text = {0};
	struct err e = {0}, ignored;
	int rc;

	if (fs_read_file(path, 16 << 20, &text, &ignored) == 0) {
		rc = read_capture(kind, buf_str(&text), text.len, &s, &e);
		raid_state_settle(&s);
		if (rc && !*e.text)
			fail_msg("%s: an error without a text", path);
		for (size_t i = 0; i < s.n_volumes; i++)
			assert_true(*s.volumes[i].name);
	}
	raid_state_free(&s);
	buf_free(&text);
	free(path);
}

static void captures_are_read(void **state)
{
	static const char *const kinds[] = {
		"storcli", "perccli", "storcli2", "megacli", "ssacli", "arcconf"};
	const char *captures = getenv("CAPTURES");

	(void)state;
	if (!captures)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char *dir = xasprintf("%s/%s", captures, kinds[i]);
		DIR *folder = opendir(dir);
		struct dirent *d;

		assert_non_null(folder);
		while ((d = readdir(folder)))
			if (d->d_name[0] != '.')
				check_capture(captures, kinds[i], d->d_name);
		closedir(folder);
		free(dir);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(storcli_tells_all),
		cmocka_unit_test(storcli2_tells_all),
		cmocka_unit_test(storclis_failures_are_told),
		cmocka_unit_test(megacli_tells_all),
		cmocka_unit_test(what_megacli_cuts_off_is_refused),
		cmocka_unit_test(ssacli_tells_all),
		cmocka_unit_test(ssaclis_errors_are_told),
		cmocka_unit_test(arcconf_tells_all),
		cmocka_unit_test(what_arcconf_cuts_off_is_refused),
		cmocka_unit_test(captures_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
