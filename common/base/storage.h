/*
 * What this system's kernel and programs can make volumes of: file systems, loop devices, ZFS pools.
 * Each call looks anew; nothing is changed or kept.
 */
#ifndef COMMON_BASE_STORAGE_H
#define COMMON_BASE_STORAGE_H

/* 1: we are root, mkfs.TYPE is installed, and the kernel knows the type or has a module of it. */
int storage_can_make(const char *type);
/* 1: we are root and losetup and the kernel give devices for files. */
int storage_has_loops(void);
/* 1: there is a zpool program, and a ZFS answers it. May take as long as a hung one needs to time
 * out (10 s). */
int storage_has_zfs(void);

#endif
