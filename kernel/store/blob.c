/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a blob once, durably, under its own hash; opening it again. */
#include "kernel/store/blob.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "kernel/store/store-impl.h"

enum {
	BLOB_PATH_SIZE = sizeof("blobs/") + WFS_HASH_HEX_SIZE + 2, /* blobs/ab/cdef… and NUL */
	TEMPORARY_PATH_SIZE = 64,
	READ_SIZE = 64 << 10,
};

struct wfs_blob_writer {
	struct wfs_store *store;
	struct wfs_hasher *hasher;
	struct wfs_buffer small; /* the value, while it is below WFS_BLOB_FILE_MIN */
	uint64_t size_bytes;
	int fd; /* the temporary file, or -1 */
	char temporary[TEMPORARY_PATH_SIZE];
};

int wfs_blob_writer_new(struct wfs_store *store, struct wfs_blob_writer **ret_writer)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->store = store;
	writer->fd = -1;
	int r = wfs_hasher_new(&writer->hasher);
	if (r)
		return wfs_trace(r);
	*ret_writer = WFS_STEAL(writer);
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* The value has become large: what was kept in memory moves into a temporary file. */
static int spill(struct wfs_blob_writer *writer)
{
	static atomic_uint counter;

	/* A process that was killed may have had our pid and left this name behind. */
	do {
		snprintf(writer->temporary, sizeof(writer->temporary), "blobs/.new-%ld-%u",
			(long)getpid(), atomic_fetch_add(&counter, 1));
		writer->fd = openat(wfs_store_directory_fd(writer->store), writer->temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (writer->fd < 0 && errno == EEXIST);
	if (writer->fd < 0) {
		writer->temporary[0] = '\0';
		return -errno;
	}
	int r = write_all(writer->fd, writer->small.data, writer->small.size);
	wfs_buffer_reset(&writer->small);
	return r;
}

int wfs_blob_writer_add(struct wfs_blob_writer *writer, const void *data, size_t size)
{
	wfs_hasher_add(writer->hasher, data, size);
	writer->size_bytes += size;
	if (writer->fd < 0 && writer->size_bytes >= WFS_BLOB_FILE_MIN) {
		int r = spill(writer);

		if (r)
			return wfs_trace(r);
	}
	if (writer->fd >= 0)
		return wfs_trace(write_all(writer->fd, data, size));
	wfs_buffer_append(&writer->small, data, size);
	return wfs_buffer_check(&writer->small);
}

uint64_t wfs_blob_writer_size(const struct wfs_blob_writer *writer)
{
	return writer->size_bytes;
}

static void blob_path(const struct wfs_hash *hash, char ret_path[static BLOB_PATH_SIZE])
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	snprintf(ret_path, BLOB_PATH_SIZE, "blobs/%.2s/%s", hex, hex + 2);
}

static int sync_directory(int directory_fd, const char *path)
{
	WFS_AUTO_FD int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		return -errno;
	return 0;
}

/* Makes `blobs/ab` when it is missing, and lets its own entry reach the disk first: also when it is
 * there, for whoever made it may have failed to, or not be done. */
static int ensure_parent(int directory_fd, const char *parent)
{
	if (mkdirat(directory_fd, parent, 0700) && errno != EEXIST)
		return -errno;
	return sync_directory(directory_fd, "blobs");
}

static int publish(struct wfs_blob_writer *writer, const struct wfs_hash *hash)
{
	int directory_fd = wfs_store_directory_fd(writer->store);
	char path[BLOB_PATH_SIZE];
	char parent[sizeof("blobs/ab")];

	blob_path(hash, path);
	snprintf(parent, sizeof(parent), "%.*s", (int)sizeof(parent) - 1, path);
	if (fsync(writer->fd))
		return -errno;
	int r = ensure_parent(directory_fd, parent);
	if (r)
		return r;
	if (renameat(directory_fd, writer->temporary, directory_fd, path))
		return -errno;
	close(WFS_STEAL_FD(writer->fd));
	writer->temporary[0] = '\0';
	return sync_directory(directory_fd, parent);
}

int wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob)
{
	struct wfs_blob blob = {
		.hash = wfs_hasher_end(writer->hasher),
		.size_bytes = writer->size_bytes,
		.in_file = writer->fd >= 0,
	};

	if (blob.in_file) {
		int r = publish(writer, &blob.hash);

		if (r)
			return wfs_trace(r);
	} else {
		blob.bytes = wfs_buffer_bytes(&writer->small);
	}
	*ret_blob = blob;
	return 0;
}

void wfs_blob_writer_free(struct wfs_blob_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->temporary[0])
		unlinkat(wfs_store_directory_fd(writer->store), writer->temporary, 0);
	wfs_buffer_done(&writer->small);
	wfs_hasher_free(writer->hasher);
	free(writer);
}

int wfs_blob_file_open(struct wfs_store *store, const struct wfs_hash *hash)
{
	char path[BLOB_PATH_SIZE];

	blob_path(hash, path);
	int fd = openat(wfs_store_directory_fd(store), path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int wfs_blob_file_check(struct wfs_store *store, const struct wfs_blob *blob)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_FREE char *piece = malloc(READ_SIZE);
	WFS_AUTO_FD int fd = wfs_blob_file_open(store, &blob->hash);

	if (fd < 0)
		return fd;
	if (!piece)
		return -ENOMEM;
	int r = wfs_hasher_new(&hasher);
	if (r)
		return wfs_trace(r);
	uint64_t size = 0;
	for (;;) {
		ssize_t n = read(fd, piece, READ_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		wfs_hasher_add(hasher, piece, (size_t)n);
		size += (uint64_t)n;
	}
	struct wfs_hash hash = wfs_hasher_end(hasher);
	return size == blob->size_bytes && wfs_hash_equal(&hash, &blob->hash) ? 0 : -EIO;
}
