/* SPDX-License-Identifier: Apache-2.0 */
/* Invalidations and stores after a commit. */
#include "fs/data/notify-impl.h"

#include <inttypes.h>
#include <stddef.h>
#include <time.h>

#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/data/known.h"
#include "kernel/base/array.h"
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
	uint64_t ino;
	wfs_notify_answer_fn *answer;
};

/* A file of the log. */
struct wfs_notify_log {
	uint32_t cut;
	uint64_t begin; /* offset of its first byte, counted from record 0 */
};

uint64_t wfs_notify_log_ino(uint32_t cut)
{
	const struct wfs_node node = {.kind = WFS_NODE_LOG, .cut = cut};

	return wfs_ino_encode(&node);
}

bool wfs_notify_is_log(uint64_t ino)
{
	struct wfs_node node;

	return wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_LOG &&
		node.number == WFS_HEIGHT_HEAD;
}

bool wfs_notify_grows(uint64_t ino)
{
	struct wfs_node node;

	return wfs_notify_is_log(ino) ||
		(wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_MADE &&
			node.file == WFS_FILE_GROWING_EVENTS);
}

bool wfs_notify_defer(
	struct wfs_notify *notify, fuse_req_t request, uint64_t ino, wfs_notify_answer_fn *answer)
{
	struct wfs_notify_deferred *deferred = NULL;

	pthread_mutex_lock(&notify->lock);
	if (notify->log_growing)
		deferred = malloc(sizeof(*deferred));
	if (deferred) {
		*deferred = (struct wfs_notify_deferred){notify->deferred, request, ino, answer};
		notify->deferred = deferred;
	}
	pthread_mutex_unlock(&notify->lock);
	return deferred != NULL;
}

/* Sets the number, if it is less. */
static void raise_to(atomic_uint_fast64_t *number, uint64_t value)
{
	uint_fast64_t before = atomic_load(number);

	while (before < value && !atomic_compare_exchange_weak(number, &before, value))
		;
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
		first->answer(first->request, first->ino);
	}
}

static int read_lines_once(struct wfs_notify *notify, uint32_t cut, uint64_t offset, size_t size,
	struct wfs_buffer *lines)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_view_log log;
	int r = notify_view(notify, &view);

	if (!r)
		r = wfs_unjudged_log(&view, cut, &log);
	if (!r)
		r = wfs_session_journal_read(
			notify->tree->session, &view, &log, offset, size, lines);
	if (!r)
		r = wfs_buffer_check(lines);
	return r || lines->size == size ? r : -EIO; /* fewer bytes: the next record is damaged */
}

static int read_lines(struct wfs_notify *notify, uint32_t cut, uint64_t offset, size_t size,
	struct wfs_buffer *lines)
{
	unsigned int tries = 0;
	int r;

	do {
		wfs_buffer_done(lines);
		r = read_lines_once(notify, cut, offset, size, lines);
	} while (notify_again(r, &tries));
	return r;
}

/* Pushes lines into the page cache of a file of the log, from the page of @start on, which moves
 * its size. */
static int store_log(struct wfs_notify *notify, uint32_t cut, uint64_t start, uint64_t end)
{
	uint64_t offset = start - start % PAGE_SIZE;

	while (offset < end) {
		WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
		size_t size = end - offset < STORE_SIZE ? (size_t)(end - offset) : STORE_SIZE;
		int r = read_lines(notify, cut, offset, size, &lines);

		if (!r)
			r = notify_known(wfs_teller_store(notify->teller, wfs_notify_log_ino(cut),
				offset, wfs_buffer_bytes(&lines)));
		if (r)
			return r;
		offset += lines.size;
	}
	return 0;
}

static int look_at_log_once(struct wfs_notify *notify, struct wfs_view_log *ret_log)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = notify_view(notify, &view);

	return r ? r : wfs_unjudged_log(&view, WFS_LOG_NOW, ret_log);
}

static int look_at_log(struct wfs_notify *notify, struct wfs_view_log *ret_log)
{
	unsigned int tries = 0;
	int r;

	do {
		r = look_at_log_once(notify, ret_log);
	} while (notify_again(r, &tries));
	return r;
}

/* May the mount's principal not see the log? Then nothing of it is cached, or will be dropped
 * soon. */
static bool not_seen(int r)
{
	return r == -EACCES || r == -ENOENT;
}

/* Adds the file that the log is now, if it is another one since a cut. */
static int note_log(struct wfs_notify *notify, const struct wfs_view_log *log)
{
	const uint32_t cut = (uint32_t)log->cut;

	for (size_t i = 0; i < notify->log_count; i++)
		if (notify->logs[i].cut == cut) {
			notify->logs[i].begin = log->begin;
			return 0;
		}
	struct wfs_notify_log *const logs = wfs_array_reserve(
		notify->logs, notify->log_count, &notify->log_capacity, sizeof(*logs));
	if (!logs)
		return -ENOMEM;
	notify->logs = logs;
	notify->logs[notify->log_count++] = (struct wfs_notify_log){cut, log->begin};
	wfs_teller_set_log(notify->teller, wfs_notify_log_ino(cut));
	return 0;
}

/* Drops the last page of a file of the log, and stores new lines. @start, @end: counted from
 * record 0. Return: 0, -ENOENT (Linux does not know the file), … */
static int push_log(
	struct wfs_notify *notify, const struct wfs_notify_log *log, uint64_t start, uint64_t end)
{
	const bool present = log == &notify->logs[notify->log_count - 1];
	const uint64_t from = start > log->begin ? start - log->begin : 0;
	int r = wfs_teller_inode(
		notify->teller, wfs_notify_log_ino(log->cut), from - from % PAGE_SIZE);

	if (present)
		r = notify_known(r);
	if (r)
		return r;
	r = store_log(notify, log->cut, from, end - log->begin);
	/* The page begins with lines that were dropped: a reader gets the new ones by itself. */
	return r == -ENOENT
		? notify_known(wfs_teller_inode(notify->teller, wfs_notify_log_ino(log->cut), 0))
		: r;
}

/* Pushes lines to each file of the log, of which the last one is the present one, and forgets older
 * ones that Linux does not know any more. */
static int push_logs(struct wfs_notify *notify, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < notify->log_count; i++) {
		int r = push_log(notify, &notify->logs[i], start, end);

		if (r && r != -ENOENT)
			return r;
		if (!r)
			notify->logs[kept++] = notify->logs[i];
	}
	notify->log_count = kept;
	return 0;
}

/* Pushes all lines that a commit has appended. The header has the reason for the order. */
static int grow_log(struct wfs_notify *notify)
{
	const uint64_t start = atomic_load(&notify->log_end_bytes);
	struct wfs_view_log log;
	int r = look_at_log(notify, &log);

	if (!r)
		r = note_log(notify, &log);
	if (r)
		return not_seen(r) ? 0 : r;
	if (!atomic_load(&notify->log_seen)) {
		atomic_store(&notify->log_end_bytes, log.end);
		/* A look-up since the commit may have been answered with the old size. */
		if (!atomic_load(&notify->log_seen))
			return 0;
	}
	begin_growing(notify);
	r = push_logs(notify, start, log.end);
	/* of a damaged record in these pages: Linux asks for pages and size when somebody reads */
	if (r == -EIO)
		r = wfs_notify_log_anew(notify);
	if (r && !not_seen(r)) /* the caller ends the mount */
		return r;
	if (!r)
		atomic_store(&notify->log_end_bytes, log.end);
	end_growing(notify);
	return 0;
}

int wfs_notify_log_anew(struct wfs_notify *notify)
{
	struct wfs_view_log log;
	int r = look_at_log(notify, &log);

	if (!r)
		r = note_log(notify, &log);
	if (r)
		return not_seen(r) ? 0 : r;
	atomic_store(&notify->log_end_bytes, log.end);
	for (size_t i = 0; !r && i < notify->log_count; i++)
		r = notify_known(wfs_teller_inode(
			notify->teller, wfs_notify_log_ino(notify->logs[i].cut), 0));
	return r;
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

/* --- a cut of the journal --- */

/* Is the file not there any more, because a cut has dropped it or made another file of it?
 * @context: the log since then */
static bool is_outdated(const void *context, uint64_t ino)
{
	const struct wfs_view_log *const log = context;
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return false;
	if (node.kind == WFS_NODE_RECORD)
		return node.number < log->first_seq ||
			(node.number == log->first_seq && node.cut != log->cut);
	return (node.kind == WFS_NODE_LOG || wfs_tree_is_events(&node)) && node.cut != log->cut;
}

static int inval_record_names(struct wfs_notify *notify, const struct wfs_view_log *log)
{
	WFS_AUTO_KNOWN_WALK struct wfs_known_walk walk;
	struct wfs_known_name name;
	int r = 0;

	wfs_known_walk_init(&walk, notify->known);
	walk.wanted = is_outdated;
	walk.context = log;
	while (!r && wfs_known_take_name(&walk, &name))
		r = notify_name(notify, name.parent, name.text, name.size);
	return r;
}

/* Has the directory files that a cut drops? */
static bool has_records(uint64_t ino)
{
	struct wfs_node node;

	return wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_DIRECTORY &&
		(node.directory == WFS_DIRECTORY_JOURNAL ||
			(node.directory == WFS_DIRECTORY_ENTITY && node.entity == WFS_ENTITY_TURN));
}

/* Calls @each for every directory with records, or that of a turn, of the head or a height. */
static int each_directory(
	struct wfs_notify *notify, int (*each)(struct wfs_notify *notify, uint64_t directory))
{
	WFS_AUTO_KNOWN_WALK struct wfs_known_walk walk;
	uint64_t ino;
	int r = 0;

	wfs_known_walk_init(&walk, notify->known);
	while (!r && wfs_known_next(&walk, &ino))
		if (has_records(ino))
			r = each(notify, ino);
	return r;
}

/* Drops names of records, logs and events that are not what they were, wherever Linux knows them,
 * after look-ups in flight, which may still give an old one. */
static int inval_records(struct wfs_notify *notify)
{
	struct wfs_view_log log;
	int r = look_at_log(notify, &log);

	if (r)
		return not_seen(r) ? 0 : r;
	r = each_directory(notify, wait_for_listings);
	if (!r)
		r = inval_record_names(notify, &log);
	return r ? r : each_directory(notify, notify_listing);
}

/* --- commits --- */

/* Files of events may be longer from now on. Names were dropped before, because look-ups that wait
 * hold the lock of their directory. */
static int grow_events(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	begin_growing(notify);
	int r = notify_events(notify, commit);
	if (r) /* the caller ends the mount, and answers what waits */
		return r;
	raise_to(&notify->events_height, commit->to_height);
	end_growing(notify);
	return 0;
}

/* Notifies Linux of a commit, on the teller's thread. */
static int tell(void *context)
{
	const struct telling *telling = context;
	struct wfs_notify *const notify = telling->notify;
	const struct wfs_commit *const commit = telling->commit;
	int r = inval_heights(notify, commit);

	if (!r && commit->journal_cut)
		r = inval_records(notify);
	if (!r && commit->raw_dropped)
		r = notify_private_texts(notify);
	if (r || commit->to_height == commit->from_height)
		return r;
	r = inval_reducers(notify, commit);
	if (!r)
		r = notify_entities(notify, commit);
	if (!r)
		r = grow_events(notify, commit);
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

/* The file that the log is when observing begins. */
struct first {
	struct wfs_notify *notify;
	const struct wfs_view_log *log;
};

static int note_first(void *context)
{
	const struct first *const first = context;

	return first->notify->log_count > 0 ? 0 : note_log(first->notify, first->log);
}

/* Sets the size of the log, with commits from before observing began. The mount does not serve
 * yet. */
static int set_log_size(struct wfs_notify *notify)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_view_log log;
	int r = wfs_session_view(notify->tree->session, WFS_HEIGHT_HEAD, &view, NULL);

	if (!r)
		r = wfs_unjudged_log(&view, WFS_LOG_NOW, &log);
	if (r)
		return not_seen(r) ? 0 : wfs_trace(r);
	raise_to(&notify->log_end_bytes, log.end);
	raise_to(&notify->events_height, view.height);
	r = wfs_teller_run(notify->teller, note_first, &(struct first){notify, &log});
	return wfs_trace(r);
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
	free(notify->logs);
	notify->logs = NULL;
}
