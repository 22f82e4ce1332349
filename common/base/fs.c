/*
 * Files: whole reads with a cap, atomic durable writes, locks, random bytes, hashes.
 * Owns nothing that outlives a call. Invariant: a written file is either the old or the new one,
 * also after a power cut; a failed call leaves no temporary file.
 */
#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"

#define READ_STEP 65536

/* Descriptor of a regular file; O_NONBLOCK so that a FIFO put there cannot hold us. */
static int open_regular(const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "cannot read %s", path);
	if (fstat(fd, &st)) {
		err_sys(e, "cannot read %s", path);
		close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ERR_INPUT, "cannot read %s: it is not a regular file", path);
	}
	*ret_fd = fd;
	return 0;
}

static int too_large(int fd, const char *name, size_t max, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		return err_set(e, ERR_INPUT, "%s is too large: %" PRId64 " bytes, the limit is %zu",
			name, (int64_t)st.st_size, max);
	return err_set(e, ERR_INPUT, "%s is too large: the limit is %zu bytes", name, max);
}

int fs_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *e)
{
	size_t start = out->len, got = 0;
	char step[READ_STEP];

	while (got <= max) {
		size_t want = max + 1 - got < sizeof(step) ? max + 1 - got : sizeof(step);
		ssize_t n = read(fd, step, want);

		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_sys(e, "cannot read %s", name);
			goto fail;
		}
		buf_add(out, step, (size_t)n);
		got += (size_t)n;
	}
	too_large(fd, name, max, e);
fail:
	out->len = start;
	if (out->data)
		out->data[start] = '\0';
	return -1;
}

int fs_read_file(const char *path, size_t max, struct buf *out, struct err *e)
{
	struct stat st;
	int fd, status;

	if (open_regular(path, &fd, e))
		return -1;
	/* What is known to be too large is not read first. */
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size > max)
		status = too_large(fd, path, max, e);
	else
		status = fs_read_fd(fd, path, max, out, e);
	close(fd);
	return status;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The folder that holds path; caller frees. */
static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

static int sync_folder_of(const char *path, struct err *e)
{
	char *folder = parent_of(path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = 0;

	/* Some file systems cannot sync a folder (EINVAL); there is nothing more to do on them. */
	if (fd < 0 || (fsync(fd) && errno != EINVAL))
		status = err_sys(e, "cannot sync folder %s", folder);
	if (fd >= 0)
		close(fd);
	free(folder);
	return status;
}

int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *e)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);
	int status;

	if (fd < 0) {
		status = err_sys(e, "cannot write %s", path);
		free(temp);
		return status;
	}
	status = fchmod(fd, mode) || write_all(fd, data, len) || fsync(fd);
	if (status)
		err_sys(e, "cannot write %s", path);
	if (close(fd) && !status)
		status = err_sys(e, "cannot write %s", path);
	if (!status && rename(temp, path))
		status = err_sys(e, "cannot replace %s", path);
	if (status)
		unlink(temp);
	free(temp);
	return status ? -1 : sync_folder_of(path, e);
}

/* Who holds the lock, from the file's text: only for the message. */
static long lock_holder(int fd)
{
	char text[24] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	return n > 0 ? strtol(text, NULL, 10) : 0;
}

int fs_lock(const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	char text[24];
	int len;

	if (fd < 0)
		return err_sys(e, "cannot open lock %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == EWOULDBLOCK)
			err_set(e, ERR_BUSY, "%s is locked by process %ld: stop that one first",
				path, lock_holder(fd));
		else
			err_sys(e, "cannot lock %s", path);
		close(fd);
		return -1;
	}
	len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)len, 0) != len) {
		err_sys(e, "cannot write lock %s", path);
		close(fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

void fs_random(void *out, size_t len)
{
	unsigned char *p = out;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0)
			continue; /* EINTR is the only error of a valid call */
		p += n;
		len -= (size_t)n;
	}
}

void fs_hex(const void *data, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[p[i] >> 4];
		*out++ = digits[p[i] & 15];
	}
	*out = '\0';
}

void fs_sha256(const void *data, size_t len, char out[65])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	if (!EVP_Digest(len ? data : "", len, digest, NULL, EVP_sha256(), NULL))
		abort(); /* the library has no SHA-256: no identity would mean anything */
	fs_hex(digest, 32, out);
}

int fs_realpath(const char *path, char **ret, struct err *e)
{
	char *real = realpath(path, NULL);

	if (!real)
		return err_sys(e, "cannot resolve %s", path);
	*ret = real;
	return 0;
}
