/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads blob files: large values, each written once and durably under its hash. */
#include "kernel/store/blob.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "kernel/base/damage.h"
#include "kernel/base/directory.h"
#include "kernel/base/file.h"
#include "kernel/base/world-file.h"
#include "kernel/store/store-impl.h"

#define TEMPORARY_PREFIX ".new-"
#define SUMS_SUFFIX ".sums"

enum {
	/* blobs/ab/cdef….sums and NUL */
	BLOB_PATH_SIZE = sizeof("blobs/") + WFS_HASH_HEX_SIZE + sizeof(SUMS_SUFFIX) + 1,
	TEMPORARY_PATH_SIZE = 64,
	CHUNK_SIZE = 64 << 10, /* bytes that share a checksum */
	SUM_SIZE = 8,
	PIECE_SIZE = 16 * CHUNK_SIZE, /* of a file that is read whole */
};

struct wfs_blob_writer {
	struct wfs_store *store;
	struct wfs_hasher *hasher;
	struct wfs_buffer small; /* the value, while it is below WFS_BLOB_FILE_MIN */
	XXH3_state_t *sum;       /* of the current chunk */
	struct wfs_buffer sums;  /* of the chunks before it */
	uint64_t size_bytes;
	int fd; /* the temporary file, or -1 */
	char temporary[TEMPORARY_PATH_SIZE];
	bool pending;
	struct wfs_hash hash;         /* when pending */
	struct wfs_blob_writer *next; /* in the list of pending writers, under its lock */
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
	writer->sum = XXH3_createState();
	if (!writer->sum)
		return -ENOMEM;
	XXH3_64bits_reset(writer->sum);
	*ret_writer = WFS_STEAL(writer);
	return 0;
}

static void end_chunk(struct wfs_blob_writer *writer)
{
	const uint64_t sum = htobe64(XXH3_64bits_digest(writer->sum));

	wfs_buffer_append(&writer->sums, &sum, SUM_SIZE);
	XXH3_64bits_reset(writer->sum);
}

/* Adds @data, which follows the first writer->size_bytes bytes of the value, to the checksums. */
static void add_to_sums(struct wfs_blob_writer *writer, const char *data, size_t size)
{
	uint64_t at = writer->size_bytes;

	while (size > 0) {
		size_t room = CHUNK_SIZE - at % CHUNK_SIZE;
		size_t part = size < room ? size : room;

		XXH3_64bits_update(writer->sum, data, part);
		if (part == room)
			end_chunk(writer);
		data += part;
		size -= part;
		at += part;
	}
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

/* The value has become large: moves its beginning from memory into a temporary file. */
static int spill(struct wfs_blob_writer *writer)
{
	static atomic_uint counter;
	int r;

	/* A process that was killed may have had our pid and left this name behind. */
	do {
		snprintf(writer->temporary, sizeof(writer->temporary),
			"blobs/" TEMPORARY_PREFIX "%ld-%u", (long)getpid(),
			atomic_fetch_add(&counter, 1));
		r = wfs_beneath_open(wfs_store_directory_fd(writer->store), writer->temporary,
			O_RDWR | O_CREAT | O_EXCL);
	} while (r == -EEXIST);
	if (r < 0) {
		writer->temporary[0] = '\0';
		return r;
	}
	writer->fd = r;
	r = write_all(writer->fd, writer->small.data, writer->small.size);
	wfs_buffer_reset(&writer->small);
	return r;
}

int wfs_blob_writer_add(struct wfs_blob_writer *writer, const void *data, size_t size)
{
	wfs_damage_forget(); /* a failure here is not one of reading a row */
	wfs_hasher_add(writer->hasher, data, size);
	add_to_sums(writer, data, size);
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

int wfs_blob_writer_copy(const struct wfs_blob_writer *writer, struct wfs_buffer *buffer)
{
	if (writer->fd < 0) {
		wfs_buffer_append(buffer, writer->small.data, writer->small.size);
		return wfs_buffer_check(buffer);
	}
	const int r = wfs_buffer_reserve(buffer, writer->size_bytes);
	if (r)
		return wfs_trace(r);
	const ssize_t size = pread(writer->fd, buffer->data + buffer->size, writer->size_bytes, 0);
	if (size < 0 || (uint64_t)size != writer->size_bytes)
		return -EIO;
	buffer->size += writer->size_bytes;
	return 0;
}

static void blob_path(
	const struct wfs_hash *hash, const char *suffix, char ret_path[static BLOB_PATH_SIZE])
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	snprintf(ret_path, BLOB_PATH_SIZE, "blobs/%.2s/%s%s", hex, hex + 2, suffix);
}

static int sync_directory(int directory_fd, const char *path)
{
	WFS_AUTO_FD int fd = wfs_beneath_open(directory_fd, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	if (fsync(fd))
		return -errno;
	return 0;
}

/* Writes the checksums under their name.
 * This comes before the file, so each file has its checksums. */
static int publish_sums(struct wfs_blob_writer *writer, const struct wfs_hash *hash)
{
	int directory_fd = wfs_store_directory_fd(writer->store);
	char path[BLOB_PATH_SIZE];
	char temporary[TEMPORARY_PATH_SIZE + sizeof(SUMS_SUFFIX)];

	if (writer->size_bytes % CHUNK_SIZE)
		end_chunk(writer);
	if (wfs_buffer_check(&writer->sums))
		return -ENOMEM;
	blob_path(hash, SUMS_SUFFIX, path);
	snprintf(temporary, sizeof(temporary), "%s" SUMS_SUFFIX, writer->temporary);
	WFS_AUTO_FD int fd = wfs_beneath_open(directory_fd, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	int r = write_all(fd, writer->sums.data, writer->sums.size);
	if (!r && fsync(fd))
		r = -errno;
	if (!r && renameat(directory_fd, temporary, directory_fd, path))
		r = -errno;
	if (r)
		unlinkat(directory_fd, temporary, 0);
	return r;
}

/* --- files whose rows may not be written yet --- */

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

/* Lock: the caller holds the list's. */
static bool is_pending(const struct wfs_blob_pending *pending, const struct wfs_hash *hash)
{
	for (const struct wfs_blob_writer *writer = pending->first; writer; writer = writer->next)
		if (wfs_hash_equal(&writer->hash, hash))
			return true;
	return false;
}

/* Renames the temporary file, and adds its size to the count, unless the file exists already. */
static int put_in_place(struct wfs_blob_writer *writer, const char *path)
{
	const int directory_fd = wfs_store_directory_fd(writer->store);
	struct wfs_blob_count *const count = wfs_store_blob_count(writer->store);
	struct stat st;
	WFS_GUARD(&count->lock);

	const bool present = fstatat(directory_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (renameat(directory_fd, writer->temporary, directory_fd, path))
		return -errno;
	if (!present && count->known[writer->hash.bytes[0]])
		count->bytes += writer->size_bytes;
	return 0;
}

static int publish(struct wfs_blob_writer *writer, const struct wfs_hash *hash)
{
	int directory_fd = wfs_store_directory_fd(writer->store);
	char path[BLOB_PATH_SIZE];
	char parent[sizeof("blobs/ab")];

	blob_path(hash, "", path);
	snprintf(parent, sizeof(parent), "%.*s", (int)sizeof(parent) - 1, path);
	if (fsync(writer->fd))
		return -errno;
	/* `blobs` is synced also if `blobs/ab` exists, because the writer that made it may not have
	 * synced it yet, or may have failed to. */
	int r = wfs_directory_make(directory_fd, parent);
	if (!r)
		r = sync_directory(directory_fd, "blobs");
	if (r)
		return r;
	pending_add(writer, hash);
	r = publish_sums(writer, hash);
	if (r)
		return r;
	r = put_in_place(writer, path);
	if (r)
		return r;
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

	wfs_damage_forget(); /* as in wfs_blob_writer_add() */
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
	wfs_buffer_done(&writer->sums);
	XXH3_freeState(writer->sum);
	wfs_hasher_free(writer->hasher);
	free(writer);
}

static int open_file(struct wfs_store *store, const struct wfs_hash *hash, const char *suffix)
{
	char path[BLOB_PATH_SIZE];

	blob_path(hash, suffix, path);
	const int fd = wfs_beneath_open(wfs_store_directory_fd(store), path, O_RDONLY);
	/* Links, directories and devices in the place of a blob file are damage. */
	return fd == -EINVAL || fd == -ELOOP || fd == -ENOTDIR || fd == -ENXIO ? -EIO : fd;
}

/* Appends exactly @size bytes. Return: 0, -EIO (the file is shorter), … */
static int read_all(int fd, uint64_t offset, size_t size, struct wfs_buffer *buffer)
{
	int r = wfs_buffer_reserve(buffer, size);

	while (!r && size > 0) {
		ssize_t n = pread(fd, buffer->data + buffer->size, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		buffer->size += (size_t)n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return r;
}

/* Do the chunks @chunks, the first of which has number @first, have their checksums? */
static int check_sums(struct wfs_store *store, const struct wfs_hash *hash, uint64_t first,
	struct wfs_bytes chunks)
{
	WFS_AUTO_BUFFER struct wfs_buffer sums = {0};
	WFS_AUTO_FD int fd = open_file(store, hash, SUMS_SUFFIX);
	const size_t count = (chunks.size + CHUNK_SIZE - 1) / CHUNK_SIZE;

	if (fd < 0)
		return fd;
	int r = read_all(fd, first * SUM_SIZE, count * SUM_SIZE, &sums);
	for (size_t i = 0; !r && i < count; i++) {
		const size_t start = i * CHUNK_SIZE;
		const size_t left = chunks.size - start;
		const uint64_t sum = htobe64(XXH3_64bits(
			(const char *)chunks.data + start, left < CHUNK_SIZE ? left : CHUNK_SIZE));

		if (memcmp(sums.data + i * SUM_SIZE, &sum, SUM_SIZE) != 0)
			r = -EIO;
	}
	return r;
}

int wfs_blob_file_read(struct wfs_store *store, const struct wfs_blob *blob, uint64_t offset,
	size_t size, struct wfs_buffer *buffer)
{
	WFS_AUTO_FD int fd = open_file(store, &blob->hash, "");
	const size_t start = buffer->size;
	const uint64_t first = offset / CHUNK_SIZE;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size != blob->size_bytes || offset > blob->size_bytes ||
		size > blob->size_bytes - offset)
		return -EIO;
	/* Read whole chunks first; the requested range is cut out afterwards. */
	const uint64_t from = first * CHUNK_SIZE;
	uint64_t end = (offset + size + CHUNK_SIZE - 1) / CHUNK_SIZE * CHUNK_SIZE;
	if (end > blob->size_bytes)
		end = blob->size_bytes;
	int r = size > 0 ? read_all(fd, from, end - from, buffer) : 0;
	if (!r && size > 0)
		r = check_sums(store, &blob->hash, first,
			WFS_BYTES(buffer->data + start, buffer->size - start));
	if (!r && offset > from)
		memmove(buffer->data + start, buffer->data + start + (offset - from), size);
	buffer->size = r ? start : start + size;
	return r;
}

int wfs_blob_file_check(struct wfs_store *store, const struct wfs_blob *blob)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer piece = {0};
	uint64_t offset = 0;
	int r = wfs_hasher_new(&hasher);

	do {
		const uint64_t left = blob->size_bytes - offset;

		wfs_buffer_reset(&piece);
		if (!r)
			r = wfs_blob_file_read(
				store, blob, offset, left < PIECE_SIZE ? left : PIECE_SIZE, &piece);
		if (r)
			return wfs_trace(r);
		wfs_hasher_add(hasher, piece.data, piece.size);
		offset += piece.size;
	} while (offset < blob->size_bytes);
	const struct wfs_hash hash = wfs_hasher_end(hasher);
	return wfs_hash_equal(&hash, &blob->hash) ? 0 : -EIO;
}

int wfs_blob_files_clean(struct wfs_store *store)
{
	int fd = wfs_beneath_open(wfs_store_directory_fd(store), "blobs", O_RDONLY | O_DIRECTORY);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (fd < 0)
		return fd;
	if (!directory) {
		const int r = -errno;

		close(fd);
		return r;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(directory)))
		if (strncmp(entry->d_name, TEMPORARY_PREFIX, sizeof(TEMPORARY_PREFIX) - 1) == 0)
			unlinkat(fd, entry->d_name, 0);
	closedir(directory);
	return 0;
}

/* --- files of a store that other processes use --- */

int wfs_blob_files_hold(struct wfs_store *store)
{
	WFS_AUTO_FD int fd =
		wfs_beneath_open(wfs_store_directory_fd(store), "blobs", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_SH))
		return -errno;
	return WFS_STEAL_FD(fd);
}

static int copy_file(
	struct wfs_store *from, int to_fd, const struct wfs_hash *hash, const char *suffix)
{
	WFS_AUTO_FD int source = open_file(from, hash, suffix);
	char path[BLOB_PATH_SIZE];

	if (source < 0)
		return source;
	blob_path(hash, suffix, path);
	WFS_AUTO_FD int copy = wfs_beneath_open(to_fd, path, O_WRONLY | O_CREAT | O_EXCL);
	if (copy < 0)
		return copy;
	return wfs_file_copy(source, copy);
}

/* Makes the directories of a blob's file. */
static int make_parents(int directory_fd, const struct wfs_hash *hash)
{
	char path[BLOB_PATH_SIZE];
	char parent[sizeof("blobs/ab")];

	blob_path(hash, "", path);
	snprintf(parent, sizeof(parent), "%.*s", (int)sizeof(parent) - 1, path);
	int r = wfs_directory_make(directory_fd, "blobs");
	return r ? r : wfs_directory_make(directory_fd, parent);
}

/* Gives a file another name; on a file system without hard links, copies it. */
static int link_file(
	struct wfs_store *from, int to_fd, const struct wfs_hash *hash, const char *suffix)
{
	char path[BLOB_PATH_SIZE];

	blob_path(hash, suffix, path);
	if (linkat(wfs_store_directory_fd(from), path, to_fd, path, 0) == 0)
		return 0;
	return errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP
		? copy_file(from, to_fd, hash, suffix)
		: -errno;
}

int wfs_blob_file_link(struct wfs_store *from, int to_fd, const struct wfs_hash *hash)
{
	int r = make_parents(to_fd, hash);

	if (!r)
		r = link_file(from, to_fd, hash, SUMS_SUFFIX);
	if (!r || r == -EEXIST ||
		r == -ENOENT) /* a file without checksums is damage, found later */
		r = link_file(from, to_fd, hash, "");
	return r == -EEXIST || r == -ENOENT ? 0 : r;
}

int wfs_blob_file_open(
	struct wfs_store *store, const struct wfs_hash *hash, int *ret_fd, uint64_t *ret_size_bytes)
{
	WFS_AUTO_FD int fd = open_file(store, hash, "");
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	*ret_fd = WFS_STEAL_FD(fd);
	*ret_size_bytes = (uint64_t)st.st_size;
	return 0;
}

int wfs_blob_file_make(struct wfs_store *store, const struct wfs_hash *hash)
{
	const int directory_fd = wfs_store_directory_fd(store);
	char path[BLOB_PATH_SIZE];
	const int r = make_parents(directory_fd, hash);

	if (r)
		return wfs_trace(r);
	blob_path(hash, "", path);
	return wfs_beneath_open(directory_fd, path, O_WRONLY | O_CREAT | O_EXCL);
}

/* Reads @size bytes of a file in pieces, for their hash and the checksums of all chunks. */
static int sum_file(int fd, uint64_t size, struct wfs_hasher *hasher, struct wfs_buffer *sums)
{
	WFS_AUTO_BUFFER struct wfs_buffer piece = {0};
	uint64_t offset = 0;
	int r = 0;

	while (!r && offset < size) {
		const uint64_t left = size - offset;

		wfs_buffer_reset(&piece);
		r = read_all(fd, offset, left < PIECE_SIZE ? left : PIECE_SIZE, &piece);
		if (r)
			break;
		wfs_hasher_add(hasher, piece.data, piece.size);
		for (size_t i = 0; i < piece.size; i += CHUNK_SIZE) {
			const size_t rest = piece.size - i;
			const uint64_t sum = htobe64(
				XXH3_64bits(piece.data + i, rest < CHUNK_SIZE ? rest : CHUNK_SIZE));

			wfs_buffer_append(sums, &sum, SUM_SIZE);
		}
		offset += piece.size;
	}
	return r ? r : wfs_buffer_check(sums);
}

int wfs_blob_file_seal(struct wfs_store *store, const struct wfs_blob *blob)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer sums = {0};
	WFS_AUTO_FD int fd = -1;
	uint64_t size_bytes = 0;
	char path[BLOB_PATH_SIZE];
	int r = wfs_blob_file_open(store, &blob->hash, &fd, &size_bytes);

	if (!r && size_bytes != blob->size_bytes)
		r = -EIO;
	if (!r)
		r = wfs_hasher_new(&hasher);
	if (!r)
		r = sum_file(fd, size_bytes, hasher, &sums);
	if (r)
		return wfs_trace(r);
	const struct wfs_hash hash = wfs_hasher_end(hasher);
	if (!wfs_hash_equal(&hash, &blob->hash))
		return -EIO;
	blob_path(&blob->hash, SUMS_SUFFIX, path);
	WFS_AUTO_FD int sums_fd =
		wfs_beneath_open(wfs_store_directory_fd(store), path, O_WRONLY | O_CREAT | O_EXCL);
	if (sums_fd < 0)
		return wfs_trace(sums_fd);
	return wfs_trace(write_all(sums_fd, sums.data, sums.size));
}

int wfs_blob_files_settle(struct wfs_store *store)
{
	WFS_AUTO_FD int fd =
		wfs_beneath_open(wfs_store_directory_fd(store), "blobs", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	return flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
}

static int remove_file(
	struct wfs_store *store, const struct wfs_hash *hash, const char *path, uint64_t size_bytes)
{
	struct wfs_blob_count *const count = wfs_store_blob_count(store);
	WFS_GUARD(&count->lock);

	if (unlinkat(wfs_store_directory_fd(store), path, 0))
		return -errno;
	if (count->known[hash->bytes[0]])
		count->bytes -= size_bytes;
	return 0;
}

int wfs_blob_file_remove(
	struct wfs_store *store, const struct wfs_hash *hash, uint64_t *ret_size_bytes)
{
	const int directory_fd = wfs_store_directory_fd(store);
	struct wfs_blob_pending *pending = wfs_store_blob_pending(store);
	char sums[BLOB_PATH_SIZE];
	char path[BLOB_PATH_SIZE];
	bool alone = false; /* are only the checksums left? */
	struct stat st;
	int r;
	WFS_GUARD(&pending->lock);

	blob_path(hash, "", path);
	blob_path(hash, SUMS_SUFFIX, sums);
	if (is_pending(pending, hash))
		return -EBUSY;
	if (fstatat(directory_fd, path, &st, AT_SYMLINK_NOFOLLOW)) {
		alone = errno == ENOENT;
		if (!alone || fstatat(directory_fd, sums, &st, AT_SYMLINK_NOFOLLOW))
			return -errno;
	}
	/* Checksums go first: after a crash the file is left, whose name later calls find. */
	if (unlinkat(directory_fd, sums, 0) && errno != ENOENT)
		return -errno;
	if (!alone) {
		r = remove_file(store, hash, path, (uint64_t)st.st_size);
		if (r)
			return r;
	}
	*ret_size_bytes = (uint64_t)st.st_size;
	return 0;
}

/* If @name is that of a file of checksums, cuts it to the name of the blob's file.
 * Return: was it one, and does the blob's file not exist? */
static bool are_sums_alone(int parent_fd, char *name)
{
	const size_t size = strlen(name);
	const size_t suffix_size = sizeof(SUMS_SUFFIX) - 1;

	if (size <= suffix_size || strcmp(name + size - suffix_size, SUMS_SUFFIX) != 0)
		return false;
	name[size - suffix_size] = '\0';
	return faccessat(parent_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

/* Calls @each for the files in one `blobs/ab`, also for those of which a crash has left the
 * checksums only. Ignores other names. */
static int files_below(int directory_fd, uint8_t first_byte,
	int (*each)(void *context, const struct wfs_hash *hash), void *context)
{
	char path[sizeof("blobs/ab")];
	struct dirent *entry;
	int r = 0;

	snprintf(path, sizeof(path), "blobs/%02x", first_byte);
	int fd = wfs_beneath_open(directory_fd, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	DIR *listing = fdopendir(fd);
	if (!listing) {
		close(fd);
		return -ENOMEM;
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (!r && (entry = readdir(listing))) {
		char hex[WFS_HASH_HEX_SIZE + 1];
		struct wfs_hash hash;

		if (strchr(entry->d_name, '.') && !are_sums_alone(fd, entry->d_name))
			continue;
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
		r = files_below(wfs_store_directory_fd(store), (uint8_t)byte, each, context);
	return wfs_trace(r);
}

/* --- the size of all files --- */

struct sizes {
	int directory_fd;
	uint64_t bytes;
};

/* Adds nothing for a file that was just removed, or of which only the checksums are left. */
static int add_size(void *context, const struct wfs_hash *hash)
{
	struct sizes *const sizes = context;
	char path[BLOB_PATH_SIZE];
	struct stat st;

	blob_path(hash, "", path);
	if (fstatat(sizes->directory_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(st.st_mode))
		sizes->bytes += (uint64_t)st.st_size;
	return 0;
}

/* Counts one directory, unless it is known. @ret_bytes: of all directories that are known then */
static int count_below(struct wfs_store *store, uint8_t first_byte, uint64_t *ret_bytes)
{
	struct wfs_blob_count *const count = wfs_store_blob_count(store);
	struct sizes sizes = {.directory_fd = wfs_store_directory_fd(store)};
	WFS_GUARD(&count->lock);

	if (!count->known[first_byte]) {
		int r = files_below(sizes.directory_fd, first_byte, add_size, &sizes);

		if (r)
			return r;
		count->bytes += sizes.bytes;
		count->known[first_byte] = true;
	}
	*ret_bytes = count->bytes;
	return 0;
}

/* Forgets the count if there was a commit since. */
static void forget_count(struct wfs_store *store)
{
	struct wfs_blob_count *const count = wfs_store_blob_count(store);
	const uint64_t last_txn = wfs_store_last_txn(store);
	WFS_GUARD(&count->lock);

	if (count->last_txn != last_txn) {
		memset(count->known, 0, sizeof(count->known));
		count->bytes = 0;
		count->last_txn = last_txn;
	}
}

int wfs_blob_files_bytes(struct wfs_store *store, uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	int r = 0;

	if (wfs_store_read_only(store))
		forget_count(store);
	for (unsigned int byte = 0; !r && byte <= UINT8_MAX; byte++)
		r = count_below(store, (uint8_t)byte, &bytes);
	if (!r)
		*ret_bytes = bytes;
	return wfs_trace(r);
}
