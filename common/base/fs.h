/* Small file helpers: whole-file reads with a cap, atomic durable writes, folders, locks, ids. */
#ifndef COMMON_BASE_FS_H
#define COMMON_BASE_FS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/err.h"

/* Reads a whole regular file of at most max bytes into out (appended). A larger one is an error
 * that says its size and the limit; nothing beyond max + 1 bytes is read. */
int fs_read_file(const char *path, size_t max, struct buf *out, struct err *e);
int fs_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *e);
/* Writes path via a temporary file in the same folder, fsync, rename, fsync of the folder. */
int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *e);
/* mkdir -p; folders made get the mode. Fails when a component is not a folder. */
int fs_mkdir_p(const char *path, mode_t mode, struct err *e);
/* Opens a folder by an absolute path on which every part is a folder itself, and none a symlink: what is
 * opened is what the path says, whoever changes it meanwhile. flags: O_RDONLY or O_PATH. ERR_WRONG_STATE
 * names the part that is no folder. */
int fs_open_folder(const char *path, int flags, int *ret_fd, struct err *e);
/* Removes a tree without following symlinks and without crossing into another file system. */
int fs_remove_tree(const char *path, struct err *e);
/* Takes an exclusive lock file (flock, close-on-exec, pid written); -1 with ERR_BUSY when another
 * process holds it. The returned fd holds the lock. */
int fs_lock(const char *path, int *ret_fd, struct err *e);
/* 0 when the file is regular, owned by root or by the caller's uid, and not writable by group or
 * others; every parent folder is checked the same way. ERR_DENIED says which path and the remedy. */
int fs_check_owned(const char *path, struct err *e);
/* As fs_check_owned for a folder: nobody else can put another thing in the place of what we make in
 * it. It may be writable by others if it has the sticky bit. */
int fs_check_owned_folder(const char *path, struct err *e);
/* Random bytes (getrandom). */
void fs_random(void *out, size_t len);
/* Lower-case hex of len bytes into out (2 * len + 1). */
void fs_hex(const void *data, size_t len, char *out);
/* SHA-256 of data as 64 lower-case hex digits + NUL; of what comes in pieces: sha256.h. */
void fs_sha256(const void *data, size_t len, char out[65]);
/* Absolute path without symlinks, "." and ".."; caller frees. */
int fs_realpath(const char *path, char **ret, struct err *e);
/* Finds a program in /usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin (PATH is not
 * trusted); returns a static string owned by the module or NULL. */
const char *fs_find_program(const char *name);

#endif
