/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a blob once, durably, under its own hash; opening it again. */
#include "kernel/store/blob.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kernel/base/file.h"
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
	bool pending;
	struct wfs_hash hash;         /* when pending */
	struct wfs_blob_writer *next; /* pending, too; lock: that of the list */
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

/* Makes `blobs/ab` when it is missing, and lets its own entry reach the disk first. */
static int ensure_parent(int directory_fd, const char *parent)
{
	if (mkdirat(directory_fd, parent, 0700))
		return errno == EEXIST ? 0 : -errno;
	return sync_directory(directory_fd, "blobs");
}

/* --- files whose rows may be under way --- */

static void pending_add(struct wfs_blob_writer *writer, const struct wfs_hash *hash)
{
	struct wfs_blob_pending *pending = wfs_store_blob_pending(writer->store);
	WFS_GUARD(&pending->lock);

	writer->hash = *hash;
	writer->pending = true;
	writer->next = pending->first;
	pending->first = writer;
}

static void pending_remove(struct wfs_blob_writer *writer)
{
	struct wfs_blob_pending *pending = wfs_store_blob_pending(writer->store);
	WFS_GUARD(&pending->lock);
	struct wfs_blob_writer **at = &pending->first;

	while (*at != writer)
		at = &(*at)->next;
	*at = writer->next;
}

/* Lock: that of the list is held. */
static bool is_pending(const struct wfs_blob_pending *pending, const struct wfs_hash *hash)
{
	for (const struct wfs_blob_writer *writer = pending->first; writer; writer = writer->next)
		if (wfs_hash_equal(&writer->hash, hash))
			return true;
	return false;
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
	pending_add(writer, hash);
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
	if (writer->pending)
		pending_remove(writer);
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

/* --- files of a store that others work on --- */

int wfs_blob_files_hold(struct wfs_store *store)
{
	WFS_AUTO_FD int fd =
		openat(wfs_store_directory_fd(store), "blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_SH))
		return -errno;
	return WFS_STEAL_FD(fd);
}

/* Makes `blobs` and `blobs/ab` when they are missing. */
static int make_parents(int directory_fd, const char *path)
{
	char parent[sizeof("blobs/ab")];

	snprintf(parent, sizeof(parent), "%.*s", (int)sizeof(parent) - 1, path);
	if (mkdirat(directory_fd, "blobs", 0700) && errno != EEXIST)
		return -errno;
	return mkdirat(directory_fd, parent, 0700) && errno != EEXIST ? -errno : 0;
}

int wfs_blob_file_copy(struct wfs_store *from, struct wfs_store *to, const struct wfs_blob *blob)
{
	const int directory_fd = wfs_store_directory_fd(to);
	WFS_AUTO_FD int source = wfs_blob_file_open(from, &blob->hash);
	char path[BLOB_PATH_SIZE];

	if (source < 0)
		return source;
	blob_path(&blob->hash, path);
	int r = make_parents(directory_fd, path);
	if (r)
		return wfs_trace(r);
	WFS_AUTO_FD int copy =
		openat(directory_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (copy < 0)
		return errno == EEXIST ? 0 : -errno;
	r = wfs_file_copy(source, copy);
	return wfs_trace(r ? r : wfs_blob_file_check(to, blob));
}

int wfs_blob_files_settle(struct wfs_store *store)
{
	WFS_AUTO_FD int fd =
		openat(wfs_store_directory_fd(store), "blobs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

int wfs_blob_file_remove(
	struct wfs_store *store, const struct wfs_hash *hash, uint64_t *ret_size_bytes)
{
	const int directory_fd = wfs_store_directory_fd(store);
	struct wfs_blob_pending *pending = wfs_store_blob_pending(store);
	char path[BLOB_PATH_SIZE];
	struct stat st;
	WFS_GUARD(&pending->lock);

	blob_path(hash, path);
	if (is_pending(pending, hash))
		return -EBUSY;
	if (fstatat(directory_fd, path, &st, AT_SYMLINK_NOFOLLOW) ||
		unlinkat(directory_fd, path, 0))
		return -errno;
	*ret_size_bytes = (uint64_t)st.st_size;
	return 0;
}

/* The files of one `blobs/ab`; other names are somebody else's. */
static int files_below(int directory_fd, unsigned int first_byte,
	int (*each)(void *context, const struct wfs_hash *hash), void *context)
{
	char path[sizeof("blobs/ab")];
	const struct dirent *entry;
	int r = 0;

	snprintf(path, sizeof(path), "blobs/%02x", first_byte);
	int fd = openat(directory_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	DIR *listing = fdopendir(fd);
	if (!listing) {
		close(fd);
		return -ENOMEM;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (!r && (entry = readdir(listing))) {
		char hex[WFS_HASH_HEX_SIZE + 1];
		struct wfs_hash hash;
		int size = snprintf(hex, sizeof(hex), "%02x%s", first_byte, entry->d_name);

		if (size == WFS_HASH_HEX_SIZE &&
			wfs_hash_parse(hex, WFS_HASH_HEX_SIZE, &hash, NULL) == 0)
			r = each(context, &hash);
	}
	closedir(listing);
	return r;
}

int wfs_blob_files_each(struct wfs_store *store,
	int (*each)(void *context, const struct wfs_hash *hash), void *context)
{
	int r = 0;

	for (unsigned int byte = 0; !r && byte <= UINT8_MAX; byte++)
		r = files_below(wfs_store_directory_fd(store), byte, each, context);
	return wfs_trace(r);
}
