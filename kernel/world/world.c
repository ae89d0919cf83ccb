/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, owning and closing a world. Making one is in create.c. */
#include "kernel/world/world.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/base/lock.h"
#include "kernel/base/permutation.h"
#include "kernel/base/trust.h"
#include "kernel/fold/head.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/record.h"
#include "kernel/store/row-name.h"
#include "kernel/world/apply.h"
#include "kernel/world/crashes.h"
#include "kernel/world/writer-impl.h"

bool wfs_world_read_only(const struct wfs_world *world)
{
	return world->options.read_only;
}

bool wfs_world_older(const struct wfs_world *world)
{
	return wfs_store_older(world->store);
}

struct wfs_quarantine *wfs_world_quarantine(struct wfs_world *world)
{
	return world->quarantine;
}

struct wfs_store *wfs_world_store(struct wfs_world *world)
{
	return world->store;
}

const char *wfs_world_directory(const struct wfs_world *world)
{
	return world->directory;
}

int wfs_view_open(struct wfs_world *world, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error)
{
	return wfs_view_of(world->store, height, ret_view, error);
}

const char *wfs_world_id(const struct wfs_world *world)
{
	return world->id;
}

void wfs_world_genesis(const struct wfs_world *world, struct wfs_genesis *ret_genesis)
{
	memcpy(ret_genesis->world_id, world->id, sizeof(ret_genesis->world_id));
	memcpy(ret_genesis->entropy, world->entropy, sizeof(ret_genesis->entropy));
}

int wfs_world_permutation(const struct wfs_world *world, const char *principal, const char *purpose,
	uint64_t first, unsigned int bits, struct wfs_permutation *ret_permutation)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append(&text, purpose, strlen(purpose) + 1);
	wfs_buffer_append_text(&text, principal);
	int r = wfs_buffer_check(&text);
	return r ? r
		 : wfs_permutation_init(ret_permutation,
			   WFS_BYTES(world->entropy, sizeof(world->entropy)),
			   wfs_buffer_bytes(&text), first, bits);
}

int wfs_world_cursors(const struct wfs_world *world, const char *principal,
	struct wfs_permutation *ret_permutation)
{
	return wfs_world_permutation(world, principal, "cursors", 1, 64, ret_permutation);
}

struct wfs_manifest *wfs_world_manifest(struct wfs_world *world)
{
	WFS_GUARD(&world->manifest_lock);

	return wfs_manifest_ref(world->manifest);
}

void wfs_world_manifest_set(struct wfs_world *world, struct wfs_manifest *manifest)
{
	WFS_GUARD(&world->manifest_lock);

	wfs_manifest_unref(world->manifest);
	world->manifest = manifest;
}

/* --- opening --- */

static int read_meta(struct wfs_world *world, struct wfs_txn *txn)
{
	struct wfs_bytes id;
	struct wfs_bytes entropy;
	int r = wfs_meta_get(txn, "world_id", &id);

	if (!r)
		r = wfs_meta_get(txn, "entropy", &entropy);
	if (r)
		return r;
	if (id.size != WFS_WORLD_ID_SIZE || entropy.size != sizeof(world->entropy))
		return -EIO;
	memcpy(world->id, id.data, id.size);
	memcpy(world->entropy, entropy.data, entropy.size);
	return 0;
}

static int get_record(struct wfs_txn *txn, uint64_t seq, struct wfs_bytes *ret_line)
{
	uint64_t offset;
	int r = wfs_journal_get(txn, seq, &offset, ret_line);

	return r == -ENOENT ? wfs_row_lost(txn, WFS_TABLE_JOURNAL, seq) : r;
}

/* Finds the `prev` that the record after @seq must have. */
static int get_next_prev(
	struct wfs_txn *txn, uint64_t seq, struct wfs_hash *ret_prev, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_bytes line;
	int r = get_record(txn, seq, &line);

	if (r)
		return wfs_error_from_errno(error, r, "read the last two records");
	r = wfs_record_parse(line, &parsed, NULL);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "read the last two records");
	*ret_prev = r ? wfs_hash_of(line.data, line.size) : wfs_record_next_prev(&parsed, line);
	return 0;
}

/* Checks the last record: its hash, its form, its seq, and that it has the hash of the one
 * before. */
static int check_head(struct wfs_txn *txn, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct wfs_hash before = {0};
	struct wfs_bytes stored;
	struct wfs_bytes line;
	uint64_t height;
	int r = wfs_journal_height(txn, &height);

	if (r)
		return wfs_error_from_errno(error, r, "read the last record");
	if (height == 0)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH, "the journal is empty");
	if (height > 1)
		r = get_next_prev(txn, height - 2, &before, error);
	if (r)
		return wfs_trace(r);
	r = get_record(txn, height - 1, &line);
	if (r)
		return wfs_error_from_errno(error, r, "read the last two records");
	const struct wfs_hash hash = wfs_hash_of(line.data, line.size);
	if (wfs_meta_get(txn, WFS_META_HEAD_HASH, &stored) ||
		!wfs_bytes_equal(stored, WFS_BYTES(hash.bytes, sizeof(hash.bytes))))
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"the stored bytes of record %llu are damaged",
			(unsigned long long)height - 1);
	r = wfs_record_parse(line, &parsed, error);
	if (r)
		return wfs_trace(r);
	if (parsed.record.seq == height - 1 && wfs_hash_equal(&parsed.record.prev, &before))
		return 0;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH,
		"record %llu does not follow the one before it", (unsigned long long)height - 1);
}

static int read_manifest(struct wfs_world *world, struct wfs_txn *txn, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version version;
	struct wfs_cell cell;
	const uint64_t cell_id = wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_MANIFEST);
	int r = wfs_cell_get(txn, cell_id, &cell);

	if (r == -ENOENT)
		r = wfs_row_lost(txn, WFS_TABLE_CELL, cell_id);
	if (!r)
		r = wfs_version_get(txn, cell.head_vid, &version);
	if (r == -ENOENT)
		r = wfs_row_lost(txn, WFS_TABLE_VERSION, cell.head_vid);
	if (r)
		return wfs_error_from_errno(error, r, "find the manifest");
	r = wfs_version_read(world->store, &version, &text, error);
	return wfs_trace(r ? r : wfs_apply_parse(wfs_buffer_bytes(&text), &world->manifest, error));
}

static int read_world(struct wfs_world *world, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(world->store, &txn);

	if (!r)
		r = read_meta(world, txn);
	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r,
			"read the world's values 'world_id' and 'entropy'");
	r = check_head(txn, error);
	if (!r)
		r = read_manifest(world, txn, error);
	if (r)
		return wfs_trace(r);
	r = wfs_quarantine_new(&world->quarantine);
	if (!r)
		r = wfs_crashes_load(txn, world->quarantine);
	return r ? wfs_error_from_errno(error, r, "read which code has crashed") : 0;
}

/* Reads the mark of the store as it is now, by which it is recognised later. */
static int read_mark(struct wfs_world *world, struct wfs_store_mark *ret_mark)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct wfs_store_mark mark = {.txn = wfs_store_last_txn(world->store)};
	struct wfs_bytes head;
	int r = wfs_store_read(world->store, &txn);

	if (!r)
		r = wfs_meta_get(txn, WFS_META_HEAD_HASH, &head);
	if (!r && head.size != WFS_HASH_SIZE)
		r = -EIO;
	if (r)
		return r;
	memcpy(mark.head.bytes, head.data, WFS_HASH_SIZE);
	*ret_mark = mark;
	return 0;
}

/* Checks all pages of the store, unless this user closed it last with the transaction that is now
 * the last one, or @walked: they were checked when the store was opened. Pages that another user
 * may have written are so checked before this process writes. */
static int check_pages(struct wfs_world *world, bool walked, struct wfs_error *error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	int r = read_mark(world, &world->mark);

	if (!r && !walked && wfs_trust_has_written(world->directory, world->id, &world->mark))
		return 0;
	if (!r && !walked)
		r = wfs_store_check_pages(world->store, &problems, NULL, NULL);
	if (r)
		return wfs_error_from_errno(
			error, r, "check the pages of '%s/data.mdb'", world->directory);
	world->mark.txn = 0; /* closing the world sets it */
	if (problems.count == 0)
		return 0;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH,
		"%.*s; nothing is written to '%s', 'worldfs verify' lists all damage",
		(int)strcspn(wfs_buffer_text(&problems.lines), "\n"),
		wfs_buffer_text(&problems.lines), world->directory);
}

static int open_parts(struct wfs_world *world, struct wfs_error *error)
{
	struct wfs_store_options store_options = {
		.read_only = world->options.read_only,
		.walk_pages = !world->options.written_here,
		.problems = world->options.problems,
		.pages_checked = world->options.pages_checked,
		.context = world->options.pages_context,
		.map_size_bytes = world->options.map_size_bytes,
	};
	int r = 0;

	/* Looks first, so that no lock file appears in a directory without a world. */
	char path[4096];
	snprintf(path, sizeof(path), "%s/data.mdb", world->directory);
	if (access(path, F_OK))
		return wfs_error_set(error,
			errno == ENOENT ? WFS_E_NOT_FOUND : WFS_E_INTERNAL_ERROR,
			"'%s' is not a world: %s", world->directory,
			errno == ENOENT ? "it has no data.mdb (make one with: worldfs init)"
					: "its data.mdb cannot be reached");
	if (!world->options.read_only) {
		world->lock_fd = wfs_lock_take(world->directory, world->options.wait_ms, error);
		if (world->lock_fd < 0)
			return wfs_trace(world->lock_fd);
	}
	if (store_options.walk_pages && !world->options.walk_pages)
		store_options.believed_txn = wfs_trust_last_txn(world->directory);
	r = wfs_store_open(world->directory, &store_options, &world->store, error);
	if (!r)
		r = read_world(world, error);
	if (!r)
		r = wfs_trust_forget_other(world->directory, world->id, error);
	if (!r && !world->options.read_only)
		r = check_pages(world,
			wfs_store_last_txn(world->store) != store_options.believed_txn, error);
	if (!r && !world->options.read_only)
		(void)wfs_blob_files_clean(world->store); /* files that stay do no harm */
	if (!r && !world->options.read_only)
		r = wfs_writer_new(world, &world->writer, error);
	return wfs_trace(r);
}

int wfs_world_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_world **ret_world, struct wfs_error *error)
{
	WFS_AUTO_WORLD struct wfs_world *world = calloc(1, sizeof(*world));

	if (!world)
		return wfs_error_from_errno(error, -ENOMEM, "open '%s'", directory);
	world->lock_fd = -1;
	world->options = *options;
	pthread_mutex_init(&world->manifest_lock, NULL);
	world->directory = realpath(directory, NULL);
	if (!world->directory)
		return wfs_error_from_errno(error, -errno, "open '%s'", directory);
	int r = open_parts(world, error);
	if (r)
		return wfs_trace(r);
	*ret_world = WFS_STEAL(world);
	return 0;
}

void wfs_world_close(struct wfs_world *world)
{
	if (!world)
		return;
	const bool written = world->writer != NULL;
	struct wfs_store_mark mark;

	wfs_writer_free(world->writer);
	wfs_quarantine_free(world->quarantine);
	wfs_manifest_unref(world->manifest);
	if (written && read_mark(world, &mark) == 0 && mark.txn != world->mark.txn)
		wfs_trust_closed(world->directory, world->id, &mark);
	wfs_store_close(world->store);
	wfs_auto_fd(&world->lock_fd);
	pthread_mutex_destroy(&world->manifest_lock);
	free(world->directory);
	free(world);
}

void wfs_world_count_blobs(struct wfs_world *world, struct wfs_world_figures *figures)
{
	wfs_store_count_blobs(world->store, &figures->store);
}
