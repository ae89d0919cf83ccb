/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidations and stores after a commit. */
#include "fs/data/notify.h"

#include <inttypes.h>

#include "kernel/base/encode.h"

enum {
	PAGE_SIZE = 4096,
	STORE_SIZE = 128 << 10, /* bytes of one notify_store: as much as one read, whole pages */
};

static void inval_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size)
{
	/* -ENOENT: nobody looked the name up. Any other failure: the mount is going away. */
	fuse_lowlevel_notify_inval_entry(notify->fuse, directory, name, size);
}

/* Drops a directory's cached listing and attributes. */
static void inval_listing(struct wfs_notify *notify, uint64_t directory)
{
	fuse_lowlevel_notify_inval_inode(notify->fuse, directory, 0, 0);
}

/* The barrier of the header comment, for a directory where no name needs invalidation. */
static void wait_for_listings(struct wfs_notify *notify, uint64_t directory)
{
	inval_name(notify, directory, "_", 1);
}

static void inval_cell(struct wfs_notify *notify, const struct wfs_change *change)
{
	wfs_buffer_reset(&notify->name);
	wfs_name_append(&notify->name, change->key.data, change->key.size);
	inval_name(notify, wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, change->reducer_id),
		wfs_buffer_text(&notify->name), notify->name.size);
}

static bool names_changed(const struct wfs_change *change)
{
	return change->was_live != change->is_live;
}

/* One invalidation for each run of changes in the same directory is enough. */
static void inval_reducers(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	uint32_t last = WFS_REDUCER_ID_KERNEL;

	for (size_t i = 0; i < commit->change_count; i++)
		inval_cell(notify, &commit->changes[i]);
	for (size_t i = 0; i < commit->change_count; i++) {
		const struct wfs_change *change = &commit->changes[i];

		if (!names_changed(change) || change->reducer_id == last)
			continue;
		last = change->reducer_id;
		inval_listing(notify, wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, last));
	}
}

/* --- the log --- */

struct wfs_notify_deferred {
	struct wfs_notify_deferred *next;
	fuse_req_t request;
	void (*answer)(fuse_req_t request);
};

uint64_t wfs_notify_log_ino(void)
{
	const struct wfs_node node = {.kind = WFS_NODE_LOG};

	return wfs_ino_encode(&node);
}

bool wfs_notify_defer(
	struct wfs_notify *notify, fuse_req_t request, void (*answer)(fuse_req_t request))
{
	struct wfs_notify_deferred *deferred = NULL;

	pthread_mutex_lock(&notify->lock);
	if (notify->log_growing)
		deferred = malloc(sizeof(*deferred));
	if (deferred) {
		*deferred = (struct wfs_notify_deferred){notify->deferred, request, answer};
		notify->deferred = deferred;
	}
	pthread_mutex_unlock(&notify->lock);
	return deferred != NULL;
}

static void begin_growing(struct wfs_notify *notify)
{
	pthread_mutex_lock(&notify->lock);
	notify->log_growing = true;
	pthread_mutex_unlock(&notify->lock);
}

static void end_growing(struct wfs_notify *notify)
{
	pthread_mutex_lock(&notify->lock);
	struct wfs_notify_deferred *deferred = notify->deferred;
	notify->deferred = NULL;
	notify->log_growing = false;
	pthread_mutex_unlock(&notify->lock);
	while (deferred) {
		WFS_AUTO_FREE struct wfs_notify_deferred *first = deferred;

		deferred = first->next;
		first->answer(first->request);
	}
}

/* Pushes lines into the page cache of log.jsonl, from the page of @start; that moves its size. */
static void store_log(
	struct wfs_notify *notify, struct wfs_view *view, uint64_t start, uint64_t end)
{
	uint64_t offset = start - start % PAGE_SIZE;

	while (offset < end) {
		WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
		size_t size = end - offset < STORE_SIZE ? (size_t)(end - offset) : STORE_SIZE;

		if (wfs_session_journal_read(notify->tree->session, view, offset, size, &lines) ||
			lines.size == 0)
			return;
		struct fuse_bufvec vector = FUSE_BUFVEC_INIT(lines.size);
		vector.buf[0].mem = lines.data;
		fuse_lowlevel_notify_store(
			notify->fuse, wfs_notify_log_ino(), (off_t)offset, &vector, 0);
		offset += lines.size;
	}
}

/* Everything that the commit appended. The header tells why in this order. */
static void grow_log(struct wfs_notify *notify)
{
	const uint64_t start = atomic_load(&notify->log_size_bytes);
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t end;

	if (wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL) ||
		wfs_session_journal_size(notify->tree->session, &view, &end))
		return;
	if (!atomic_load(&notify->log_seen)) {
		atomic_store(&notify->log_size_bytes, end);
		return;
	}
	begin_growing(notify);
	fuse_lowlevel_notify_inval_inode(
		notify->fuse, wfs_notify_log_ino(), (off_t)(start - start % PAGE_SIZE), 0);
	store_log(notify, &view, start, end);
	atomic_store(&notify->log_size_bytes, end);
	end_growing(notify);
}

static void inval_journal(struct wfs_notify *notify)
{
	const uint64_t journal = wfs_tree_directory_ino(WFS_DIRECTORY_JOURNAL, 0);

	grow_log(notify);
	inval_name(notify, journal, "head", strlen("head"));
	inval_listing(notify, journal);
}

/* --- dropped heights --- */

static void inval_view_directory(struct wfs_notify *notify, uint64_t height,
	enum wfs_directory_kind kind, uint32_t reducer_id)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY,
		.directory = kind,
		.reducer_id = reducer_id,
		.number = height,
	};

	inval_listing(notify, wfs_ino_encode(&node));
}

/* Cached listings of a height that somebody may sit in. */
static void inval_view(struct wfs_notify *notify, uint64_t height)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer reducer = {.reducer_id = WFS_REDUCER_ID_KERNEL};
	struct wfs_bytes name;

	for (int kind = 0; kind < WFS_DIRECTORY_KIND_COUNT; kind++)
		if (kind != WFS_DIRECTORY_REDUCER)
			inval_view_directory(notify, height, (enum wfs_directory_kind)kind, 0);
	if (wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL))
		return;
	while (wfs_session_reducer_next(
		       notify->tree->session, &view, reducer.reducer_id, &name, &reducer) == 0)
		inval_view_directory(notify, height, WFS_DIRECTORY_REDUCER, reducer.reducer_id);
}

/* Whoever asks for their names from now on is told that they are not there. */
static void inval_heights(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	const uint64_t at = wfs_tree_directory_ino(WFS_DIRECTORY_AT, 0);

	for (uint64_t height = commit->dropped_from; height < commit->dropped_to; height++) {
		char name[sizeof("18446744073709551615")];
		int size = snprintf(name, sizeof(name), "%" PRIu64, height);

		if (fuse_lowlevel_notify_inval_entry(notify->fuse, at, name, (size_t)size) == 0)
			inval_view(notify, height);
	}
}

/* --- commits --- */

static void committed(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_notify *notify = (struct wfs_notify *)observer; /* its first member */

	inval_heights(notify, commit);
	if (commit->to_height == commit->from_height)
		return;
	inval_reducers(notify, commit);
	if (commit->blobs_listed) {
		const uint64_t blobs = wfs_tree_directory_ino(WFS_DIRECTORY_BLOB, 0);

		wait_for_listings(notify, blobs);
		inval_listing(notify, blobs);
	}
	inval_journal(notify);
}

/* What a commit just before observing began has added; the mount does not serve yet. */
static int set_log_size(struct wfs_notify *notify)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t size_bytes;
	int r = wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL);

	if (!r)
		r = wfs_session_journal_size(notify->tree->session, &view, &size_bytes);
	if (r)
		return wfs_trace(r);
	uint_fast64_t told = atomic_load(&notify->log_size_bytes);
	while (told < size_bytes &&
		!atomic_compare_exchange_weak(&notify->log_size_bytes, &told, size_bytes))
		;
	return 0;
}

int wfs_notify_init(
	struct wfs_notify *notify, const struct wfs_tree *tree, struct fuse_session *fuse)
{
	*notify = (struct wfs_notify){.observer.committed = committed, .tree = tree, .fuse = fuse};
	pthread_mutex_init(&notify->lock, NULL);
	/* So that no name has to be left in the cache because there is no memory for it. */
	int r = wfs_buffer_reserve(&notify->name, WFS_NAME_MAX + 1);
	if (r)
		return wfs_trace(r);
	wfs_world_observe(wfs_session_world(tree->session), &notify->observer);
	return set_log_size(notify);
}

void wfs_notify_stop(struct wfs_notify *notify)
{
	if (notify->fuse)
		wfs_world_unobserve(wfs_session_world(notify->tree->session), &notify->observer);
	notify->fuse = NULL;
}

void wfs_notify_done(struct wfs_notify *notify)
{
	pthread_mutex_destroy(&notify->lock);
	wfs_buffer_done(&notify->name);
}
