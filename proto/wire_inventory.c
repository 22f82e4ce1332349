/* Tables of what an agent knows about its host, and the inventory as bytes for the store. */
#include "common/base/log.h"
#include "proto/wire.h"

static const struct map_field disk_fields[] = {
	TEXT(Disk, struct inv_disk, name, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Disk, struct inv_disk, path, TEXT_LINE, WIRE_PATH_MAX, 0),
	TEXT(Disk, struct inv_disk, serial, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, wwn, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, model, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Disk, struct inv_disk, transport, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, controller, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, controller_path, TEXT_LINE, WIRE_PATH_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, enclosure, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, slot, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	U64(Disk, struct inv_disk, bytes, 0, WIRE_MAX63),
	U32(Disk, struct inv_disk, logical_sector, 0, INT32_MAX),
	U32(Disk, struct inv_disk, physical_sector, 0, INT32_MAX),
	FLAG(Disk, struct inv_disk, rotational),
	FLAG(Disk, struct inv_disk, allowed),
	TEXT(Disk, struct inv_disk, in_use, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
	TEXTS(Disk, struct inv_disk, signatures, TEXT_LINE, WIRE_WORD_MAX, 64, MAP_CUT),
	TEXT(Disk, struct inv_disk, link_speed, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, scheduler, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, write_cache, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Disk, struct inv_disk, zoned, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
};
static const struct map disk = MAP("disks", disk, struct inv_disk, disk_fields, NULL);

static const struct map_field pool_fields[] = {
	TEXT(Pool, struct inv_pool, name, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Pool, struct inv_pool, guid, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Pool, struct inv_pool, health, TEXT_LINE, WIRE_WORD_MAX, 0),
	U64(Pool, struct inv_pool, bytes, 0, WIRE_MAX63),
};
static const struct map pool = MAP("pools", pool, struct inv_pool, pool_fields, NULL);

static const struct map_field inventory_fields[] = {
	TEXT(Inventory, struct inventory, host, TEXT_NAME, MSG_NAME_MAX, 0),
	TEXT(Inventory, struct inventory, os, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Inventory, struct inventory, kernel, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Inventory, struct inventory, arch, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Inventory, struct inventory, cpu, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(Inventory, struct inventory, zfs, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Inventory, struct inventory, agent_version, TEXT_LINE, MSG_NAME_MAX, 0),
	U32(Inventory, struct inventory, cpus, 0, INT32_MAX),
	U64(Inventory, struct inventory, ram_bytes, 0, WIRE_MAX63),
	FLAG(Inventory, struct inventory, privileged),
	FLAG(Inventory, struct inventory, scratch_loop),
	U64(Inventory, struct inventory, scratch_limit, 0, WIRE_MAX63),
	TEXTS(Inventory, struct inventory, tags, TEXT_TAG, MSG_NAME_MAX, 64, MAP_CUT),
	TEXTS(Inventory, struct inventory, capabilities, TEXT_LINE, WIRE_WORD_MAX, 256, MAP_CUT),
	PARTS(Inventory, disks, struct inventory, &disk, INVENTORY_MAX_DISKS, MAP_CUT),
	PARTS(Inventory, pools, struct inventory, &pool, INVENTORY_MAX_POOLS, MAP_CUT),
	TEXT(Inventory, struct inventory, policy_error, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
	TEXT(Inventory, struct inventory, governor, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(Inventory, struct inventory, boot_id, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXTS(Inventory, struct inventory, zfs_parameters, TEXT_LINE, WIRE_WORD_MAX, 256, MAP_CUT),
};
const struct map wire_inventory =
	MAP("inventory", inventory, struct inventory, inventory_fields, NULL);

void inventory_encode(const struct inventory *inv, struct buf *out)
{
	struct arena a;
	ProtobufCMessage *wire;
	struct err e;

	arena_init(&a, ARENA_NO_LIMIT);
	if (map_encode(&wire_inventory, inv, &a, &wire, &e) < 0)
		log_error("inventory", "%s", e.text);
	else
		map_pack(wire, out);
	arena_free(&a);
}

int inventory_decode(const void *data, size_t len, struct inventory *ret, struct err *e)
{
	size_t budget = MSG_DECODE_BUDGET;
	struct inventory inv;
	struct arena a;
	int rc;

	if (len > MSG_FRAME_MAX)
		return err_set(e, ERR_PROTOCOL, "inventory: %zu bytes are more than %d", len,
			MSG_FRAME_MAX);
	arena_init(&a, MSG_DECODE_BUDGET);
	rc = map_unpack(&wire_inventory, data, len, &a, &inv, &budget, e);
	arena_free(&a);
	if (rc == 0)
		*ret = inv;
	return rc;
}
