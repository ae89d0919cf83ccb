/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidations and stores after a commit. */
#include "fs/data/notify-impl.h"

#include <inttypes.h>
#include <stddef.h>
#include <time.h>

#include "caps/session.h"
#include "caps/unjudged.h"
#include "kernel/base/encode.h"
#include "kernel/manifest/manifest.h"

enum {
	PAGE_SIZE = 4096,
	STORE_SIZE = 128 << 10, /* bytes of one notify_store: as much as one read, whole pages */
};

/* Reads that fail because memory is short, or all views are in use, are tried again. */
enum {
	READ_TRIES = 9,
	READ_PAUSE_NS = 1000 * 1000, /* before the second try; it doubles */
};

/* A commit of which Linux is notified. Not used after the first -ECANCELED: see teller.h. */
struct telling {
	struct wfs_notify *notify;
	const struct wfs_commit *commit;
};

/* Linux has cached nothing of a name or inode that it does not know. */
int notify_known(int r)
{
	return r == -ENOENT ? 0 : r;
}

int notify_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size)
{
	return notify_known(wfs_teller_entry(notify->teller, directory, name, size));
}

/* Drops a directory's cached listing and attributes. */
int notify_listing(struct wfs_notify *notify, uint64_t directory)
{
	return notify_known(wfs_teller_inode(notify->teller, directory, 0));
}

/* Waits for look-ups and listings in flight, in a directory where no name needs invalidation. */
static int wait_for_listings(struct wfs_notify *notify, uint64_t directory)
{
	return notify_name(notify, directory, "_", 1);
}

/* Waits a moment, if reading should be tried again after the error @r. */
bool notify_again(int r, unsigned int *tries)
{
	const struct timespec pause = {.tv_nsec = (long)READ_PAUSE_NS << *tries};

	if ((r != -ENOMEM && r != -EAGAIN) || ++*tries == READ_TRIES)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Opens a view of the head. The caller closes it before any notification. */
int notify_view(struct wfs_notify *notify, struct wfs_view *ret_view)
{
	return wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, ret_view, NULL);
}

static int inval_cell(struct wfs_notify *notify, const struct wfs_change *change)
{
	wfs_buffer_reset(&notify->name);
	wfs_name_append(&notify->name, change->key.data, change->key.size);
	int r = wfs_buffer_check(&notify->name);
	return r ? r
		 : notify_name(notify,
			   wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, change->reducer_id),
			   wfs_buffer_text(&notify->name), notify->name.size);
}

bool notify_names_changed(const struct wfs_change *change)
{
	return change->was_live != change->is_live;
}

/* Drops listings of reducers: once for adjacent changes in the same directory. */
static int inval_reducers(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	uint32_t last = WFS_REDUCER_ID_KERNEL;
	int r = 0;

	for (size_t i = 0; !r && i < commit->change_count; i++)
		r = inval_cell(notify, &commit->changes[i]);
	for (size_t i = 0; !r && i < commit->change_count; i++) {
		const struct wfs_change *change = &commit->changes[i];

		if (!notify_names_changed(change) || change->reducer_id == last)
			continue;
		last = change->reducer_id;
		r = notify_listing(notify, wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, last));
	}
	return r;
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

static int read_lines_once(
	struct wfs_notify *notify, uint64_t offset, size_t size, struct wfs_buffer *lines)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = notify_view(notify, &view);

	if (!r)
		r = wfs_session_journal_read(notify->tree->session, &view, offset, size, lines);
	if (!r)
		r = wfs_buffer_check(lines);
	return r || lines->size == size ? r : -EIO; /* fewer bytes: the next record is damaged */
}

static int read_lines(
	struct wfs_notify *notify, uint64_t offset, size_t size, struct wfs_buffer *lines)
{
	unsigned int tries = 0;
	int r;

	do {
		wfs_buffer_done(lines);
		r = read_lines_once(notify, offset, size, lines);
	} while (notify_again(r, &tries));
	return r;
}

/* Pushes lines into the page cache of log.jsonl, from the page of @start on, which moves its
 * size. */
static int store_log(struct wfs_notify *notify, uint64_t start, uint64_t end)
{
	uint64_t offset = start - start % PAGE_SIZE;

	while (offset < end) {
		WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
		size_t size = end - offset < STORE_SIZE ? (size_t)(end - offset) : STORE_SIZE;
		int r = read_lines(notify, offset, size, &lines);

		if (!r)
			r = notify_known(wfs_teller_store(notify->teller, wfs_notify_log_ino(),
				offset, wfs_buffer_bytes(&lines)));
		if (r)
			return r;
		offset += lines.size;
	}
	return 0;
}

static int log_end_once(struct wfs_notify *notify, uint64_t *ret_end)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = notify_view(notify, &view);

	return r ? r : wfs_unjudged_journal_size(&view, ret_end);
}

static int log_end(struct wfs_notify *notify, uint64_t *ret_end)
{
	unsigned int tries = 0;
	int r;

	do {
		r = log_end_once(notify, ret_end);
	} while (notify_again(r, &tries));
	return r;
}

/* May the mount's principal not see the log? Then nothing of it is cached, or will be dropped
 * soon. */
static bool not_seen(int r)
{
	return r == -EACCES || r == -ENOENT;
}

/* Drops the last page of the log, and stores new lines. */
static int push_log(struct wfs_notify *notify, uint64_t start, uint64_t end)
{
	int r = notify_known(
		wfs_teller_inode(notify->teller, wfs_notify_log_ino(), start - start % PAGE_SIZE));

	return r ? r : store_log(notify, start, end);
}

/* Pushes all lines that a commit has appended. The header has the reason for the order. */
static int grow_log(struct wfs_notify *notify)
{
	const uint64_t start = atomic_load(&notify->log_size_bytes);
	uint64_t end;
	int r = log_end(notify, &end);

	if (r)
		return not_seen(r) ? 0 : r;
	if (!atomic_load(&notify->log_seen)) {
		atomic_store(&notify->log_size_bytes, end);
		/* A look-up since the commit may have been answered with the old size. */
		if (!atomic_load(&notify->log_seen))
			return 0;
	}
	begin_growing(notify);
	r = push_log(notify, start, end);
	/* of a damaged record in these pages: Linux asks for pages and size when somebody reads */
	if (r == -EIO)
		r = wfs_notify_log_anew(notify);
	if (r && !not_seen(r)) /* the caller ends the mount */
		return r;
	if (!r)
		atomic_store(&notify->log_size_bytes, end);
	end_growing(notify);
	return 0;
}

int wfs_notify_log_anew(struct wfs_notify *notify)
{
	uint64_t end;
	int r = log_end(notify, &end);

	if (r)
		return not_seen(r) ? 0 : r;
	atomic_store(&notify->log_size_bytes, end);
	return notify_known(wfs_teller_inode(notify->teller, wfs_notify_log_ino(), 0));
}

/* Drops the listing of private texts: new ones came, or the principal's right to read some
 * changed. */
static int inval_texts(struct wfs_notify *notify)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL);

	if (!r)
		r = wfs_unjudged_has_texts(&view);
	return r <= 0 ? r : notify_listing(notify, wfs_tree_directory_ino(WFS_DIRECTORY_TEXTS, 0));
}

static int inval_journal(struct wfs_notify *notify)
{
	const uint64_t journal = wfs_tree_directory_ino(WFS_DIRECTORY_JOURNAL, 0);
	int r = grow_log(notify);

	if (!r)
		r = notify_name(notify, journal, "head", strlen("head"));
	if (!r)
		r = notify_listing(notify, journal);
	return r ? r : inval_texts(notify);
}

/* --- a manifest --- */

/* Drops names of new reducers, which may be cached as missing. */
static int inval_reducer_names(struct wfs_notify *notify)
{
	const uint64_t reducers = wfs_tree_directory_ino(WFS_DIRECTORY_REDUCERS, 0);
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest =
		wfs_authority_manifest(wfs_session_authority(notify->tree->session));
	int r = 0;

	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(manifest); i++) {
		const char *name = wfs_manifest_reducer(manifest, i)->name;

		r = notify_name(notify, reducers, name, strlen(name));
	}
	return r ? r : notify_listing(notify, reducers);
}

static int inval_manifest(struct wfs_notify *notify)
{
	int r = notify_name(notify, wfs_tree_directory_ino(WFS_DIRECTORY_ROOT, 0), "manifest",
		strlen("manifest"));

	return r ? r : inval_reducer_names(notify);
}

/* --- dropped heights --- */

static int inval_view_directory(struct wfs_notify *notify, uint64_t height,
	enum wfs_directory_kind kind, uint32_t reducer_id, uint32_t entity)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY,
		.directory = kind,
		.reducer_id = reducer_id,
		.entity = entity,
		.number = height,
	};

	return notify_listing(notify, wfs_ino_encode(&node));
}

/* Finds the next reducer. Return: 0, -ENOENT (after the last), or another -errno. */
static int next_reducer(struct wfs_notify *notify, uint32_t *reducer_id)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r = notify_view(notify, &view);

	if (r == -ENOENT)
		return -EIO; /* the head always exists, so the store is damaged */
	if (!r)
		r = wfs_session_reducer_next(
			notify->tree->session, &view, *reducer_id, &name, &reducer);
	if (!r)
		*reducer_id = reducer.reducer_id;
	return r == -EACCES ? -ENOENT : r; /* hidden reducers are not cached */
}

/* Drops cached listings of a height: a process may have one of its directories open. */
static int inval_view(struct wfs_notify *notify, uint64_t height)
{
	uint32_t reducer_id = WFS_REDUCER_ID_KERNEL;
	int r = 0;

	for (int kind = 0; !r && kind < WFS_DIRECTORY_ENTITIES; kind++)
		if (kind != WFS_DIRECTORY_REDUCER)
			r = inval_view_directory(
				notify, height, (enum wfs_directory_kind)kind, 0, 0);
	for (int i = 0; !r && i < wfs_entity_count(); i++)
		r = inval_view_directory(notify, height, WFS_DIRECTORY_ENTITIES, 0, (uint32_t)i);
	while (!r) {
		unsigned int tries = 0;

		do {
			r = next_reducer(notify, &reducer_id);
		} while (notify_again(r, &tries));
		if (!r)
			r = inval_view_directory(
				notify, height, WFS_DIRECTORY_REDUCER, reducer_id, 0);
	}
	return notify_known(r);
}

/* Drops the names of dropped heights; later look-ups of them get -ENOENT. */
static int inval_heights(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	const uint64_t at = wfs_tree_directory_ino(WFS_DIRECTORY_AT, 0);
	const uint64_t to = commit->dropped_to;

	for (uint64_t height = commit->dropped_from; height < to; height++) {
		char name[sizeof("18446744073709551615")];
		int size = snprintf(name, sizeof(name), "%" PRIu64, height);
		int r = wfs_teller_entry(notify->teller, at, name, (size_t)size);

		if (!r)
			r = inval_view(notify, height);
		if (notify_known(r))
			return r;
	}
	return commit->dropped_from < to ? notify_grants(notify) : 0;
}

/* --- commits --- */

/* Notifies Linux of a commit, on the teller's thread. */
static int tell(void *context)
{
	const struct telling *telling = context;
	struct wfs_notify *const notify = telling->notify;
	const struct wfs_commit *const commit = telling->commit;
	int r = inval_heights(notify, commit);

	if (r || commit->to_height == commit->from_height)
		return r;
	r = inval_reducers(notify, commit);
	if (!r)
		r = notify_entities(notify, commit);
	if (!r && commit->manifest_changed)
		r = inval_manifest(notify);
	if (!r && commit->blobs_listed) {
		const uint64_t blobs = wfs_tree_directory_ino(WFS_DIRECTORY_BLOB, 0);

		r = wait_for_listings(notify, blobs);
		if (!r)
			r = notify_listing(notify, blobs);
	}
	return r ? r : inval_journal(notify);
}

static void committed(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_notify *const notify =
		(void *)((char *)observer - offsetof(struct wfs_notify, observer));
	struct telling telling = {notify, commit};
	int r = wfs_teller_run(notify->teller, tell, &telling);

	if (!r)
		return;
	if (r != -ECANCELED)
		wfs_teller_end(notify->teller, strerrordesc_np(-r));
	end_growing(notify);
}

/* Sets the size of the log, with commits from before observing began. The mount does not serve
 * yet. */
static int set_log_size(struct wfs_notify *notify)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	uint64_t size_bytes;
	int r = wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL);

	if (!r)
		r = wfs_unjudged_journal_size(&view, &size_bytes);
	if (r)
		return not_seen(r) ? 0 : wfs_trace(r);
	uint_fast64_t told = atomic_load(&notify->log_size_bytes);
	while (told < size_bytes &&
		!atomic_compare_exchange_weak(&notify->log_size_bytes, &told, size_bytes))
		;
	return 0;
}

int wfs_notify_init(struct wfs_notify *notify, const struct wfs_tree *tree,
	struct wfs_teller *teller, struct wfs_known *known)
{
	*notify = (struct wfs_notify){
		.observer.committed = committed, .tree = tree, .teller = teller, .known = known};
	pthread_mutex_init(&notify->lock, NULL);
	/* Reserves memory now, so that no name stays in the cache because memory is short. */
	int r = wfs_buffer_reserve(&notify->name, WFS_NAME_MAX + 1);
	if (r)
		return wfs_trace(r);
	wfs_authority_observe(wfs_session_authority(tree->session), &notify->observer);
	return set_log_size(notify);
}

void wfs_notify_stop(struct wfs_notify *notify)
{
	if (!notify->teller)
		return;
	wfs_teller_stop(notify->teller);
	wfs_authority_unobserve(wfs_session_authority(notify->tree->session), &notify->observer);
	notify->teller = NULL;
}

void wfs_notify_done(struct wfs_notify *notify)
{
	pthread_mutex_destroy(&notify->lock);
	wfs_buffer_done(&notify->name);
}
