/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifying Linux of artifacts, principals, turns and plans after a commit: of names that lead to
 * other inodes now, and of content, code and entries that the mount's principal may not read any
 * more.
 *
 * A page is locked until its reader has the answer, which was judged by the newest commit at the
 * time of the request. So dropped pages do not come back.
 */
#include "caps/session-entity.h"
#include "caps/session-list.h"
#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/data/notify-impl.h"

#include "fs/data/known.h"
#include "fs/tree/ino.h"
#include "kernel/base/encode.h"

enum { WALKED_AT_ONCE = 64 }; /* principals or entries under one view */

static const char grants_name[] = "grants.json";

int notify_look(struct wfs_notify *notify, uint64_t height, notify_look_fn *each, void *context)
{
	unsigned int tries = 0;
	int r;

	do {
		WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};

		r = wfs_session_view(notify->tree->session, height, &view, NULL);
		if (!r)
			r = each(notify, &view, context);
	} while (notify_again(r, &tries));
	return r;
}

/* --- names --- */

/* The directory of one artifact, principal, turn or plan at the head; `ino` is 0 if it has none. */
struct place {
	enum wfs_entity entity;
	struct wfs_bytes id;
	uint64_t ino;
};

static int look_for_place(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct place *const place = context;
	uint64_t number;
	int r = wfs_unjudged_entity_number(view, place->entity, place->id, &number);

	(void)notify;
	if (!r && !wfs_tree_entity_ino(place->entity, number, &place->ino))
		place->ino = 0;
	return notify_known(r);
}

/* Must the name of the file be dropped? That of a directory leads to the same inode as long as the
 * directory exists: see notify_store_type(). */
static bool is_dropped(enum wfs_entity_file file, enum wfs_entity entity)
{
	return wfs_entity_file_entity(file) == entity && !wfs_entity_file_is_directory(file) &&
		wfs_entity_file_form(file) != WFS_ENTITY_BESIDE;
}

static int find_place(struct wfs_notify *notify, struct place *place)
{
	return notify_look(notify, WFS_HEIGHT_HEAD, look_for_place, place);
}

/* Drops all names in the directory of one artifact, … If Linux does not know the directory, it has
 * none of them. */
static int drop_files(struct wfs_notify *notify, enum wfs_entity entity, struct wfs_bytes id)
{
	struct place place = {.entity = entity, .id = id};
	int r = find_place(notify, &place);

	if (r || place.ino == 0)
		return r;
	r = wfs_teller_inode(notify->teller, place.ino, WFS_TELLER_ATTRIBUTES);
	if (r)
		return notify_known(r);
	for (int i = 0; !r && i < wfs_entity_file_count(); i++) {
		const char *const name = wfs_entity_file_name((enum wfs_entity_file)i);

		if (is_dropped((enum wfs_entity_file)i, entity))
			r = notify_name(notify, place.ino, name, strlen(name));
	}
	return r ? r : notify_listing(notify, place.ino);
}

/* Drops the name of one artifact, … in the directory of all. @suffix: after the id */
static int drop_name(
	struct wfs_notify *notify, enum wfs_entity entity, struct wfs_bytes id, const char *suffix)
{
	wfs_buffer_reset(&notify->name);
	wfs_name_append(&notify->name, id.data, id.size);
	wfs_buffer_append_text(&notify->name, suffix);
	int r = wfs_buffer_check(&notify->name);
	return r ? r
		 : notify_name(notify, wfs_tree_entities_ino(entity),
			   wfs_buffer_text(&notify->name), notify->name.size);
}

/* --- content, code and entries --- */

/* The next version of an artifact's text, from the newest to the oldest. */
struct text {
	enum wfs_entity_file file;
	struct wfs_bytes key; /* of its cell */
	uint64_t vid;
};

static int look_for_text(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct text *const text = context;

	(void)notify;
	return wfs_unjudged_text_before(view, text->file, text->key, text->vid, &text->vid);
}

static int drop_node(struct wfs_notify *notify, const struct wfs_node *node)
{
	return wfs_node_fits(node)
		? notify_known(wfs_teller_inode(notify->teller, wfs_ino_encode(node), 0))
		: 0;
}

/* Drops every version of a text: the newest rule judges all of them, also below heights and in open
 * files. */
static int drop_texts(struct wfs_notify *notify, enum wfs_entity_file file, struct wfs_bytes key)
{
	struct text text = {.file = file, .key = key, .vid = UINT64_MAX};
	int r;

	while ((r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_text, &text)) == 0) {
		const struct wfs_node live = {.kind = WFS_NODE_LIVE, .number = text.vid};
		const struct wfs_node version = {.kind = WFS_NODE_VERSION, .number = text.vid};

		r = drop_node(notify, &live);
		if (!r)
			r = drop_node(notify, &version);
		if (r)
			return r;
	}
	return notify_known(r);
}

/* Drops every `meta.json` of an artifact, which has hashes only as long as the artifact can be
 * read. */
static int drop_metas(struct wfs_notify *notify, struct wfs_bytes id)
{
	struct text text = {.file = WFS_ENTITY_FILE_META, .key = id, .vid = UINT64_MAX};
	int r;

	while ((r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_text, &text)) == 0) {
		const struct wfs_node meta = {
			.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_META, .number = text.vid};

		r = drop_node(notify, &meta);
		if (r)
			return r;
	}
	return notify_known(r);
}

/* The next few entries that a memory store has or had. */
struct walked_entries {
	struct wfs_bytes artifact_id;
	uint64_t next;
	struct wfs_buffer keys; /* one after the other, of equal sizes */
	size_t count;
};

static int look_for_entries(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct walked_entries *const walked = context;
	struct wfs_bytes key;
	uint32_t number;
	int r = 0;

	(void)notify;
	wfs_buffer_reset(&walked->keys);
	walked->count = 0;
	while (!r && walked->count < WALKED_AT_ONCE &&
		!(r = wfs_unjudged_entry_ever(
			  view, walked->artifact_id, walked->next, &number, &key))) {
		wfs_buffer_append(&walked->keys, key.data, key.size);
		r = wfs_buffer_check(&walked->keys);
		walked->next = (uint64_t)number + 1;
		walked->count++;
	}
	return notify_known(r);
}

static int drop_entries(struct wfs_notify *notify, struct wfs_bytes artifact_id)
{
	struct walked_entries walked = {.artifact_id = artifact_id};
	int r;

	do {
		r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_entries, &walked);
		for (size_t i = 0; !r && i < walked.count; i++) {
			const size_t size = walked.keys.size / walked.count;

			r = drop_texts(notify, WFS_ENTITY_FILE_ENTRIES,
				WFS_BYTES(walked.keys.data + i * size, size));
		}
	} while (!r && walked.count > 0);
	wfs_buffer_done(&walked.keys);
	return r;
}

static int look_for_right(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	bool *const reads = ((void **)context)[0];
	const struct wfs_bytes *const id = ((void **)context)[1];
	int r = wfs_session_reads(notify->tree->session, view, *id);

	*reads = r > 0;
	return r < 0 ? r : 0;
}

static int may_read(
	struct wfs_notify *notify, uint64_t height, struct wfs_bytes id, bool *ret_reads)
{
	void *context[] = {ret_reads, &id};

	return notify_look(notify, height, look_for_right, context);
}

/* Drops all files of journal/texts, and `raw` of turns with its files, that Linux knows: a text
 * names its artifacts, but an artifact does not name its texts. */
int notify_private_texts(struct wfs_notify *notify)
{
	struct wfs_known_walk walk;
	struct wfs_node node;
	uint64_t ino;
	int r = 0;

	if (!atomic_load(&notify->texts_seen))
		return 0;
	wfs_known_walk_init(&walk, notify->known);
	while (!r && wfs_known_next(&walk, &ino))
		if (wfs_ino_decode(ino, &node) && wfs_tree_is_private(&node))
			r = notify_listing(notify, ino);
	return r;
}

/* May the mount read an artifact? Plain value. */
struct right {
	bool before; /* the commit */
	bool now;
};

static int right_of(struct wfs_notify *notify, const struct wfs_commit *commit, struct wfs_bytes id,
	struct right *ret_right)
{
	struct right right = {.before = false};
	int r = may_read(notify, WFS_HEIGHT_HEAD, id, &right.now);

	if (r)
		return r;
	right.before = right.now;
	if (!right.now || !wfs_session_sees_all(notify->tree->session) ||
		atomic_load(&notify->texts_seen))
		r = may_read(notify, commit->from_height, id, &right.before);
	if (r == -ENOENT) { /* the height was dropped since */
		right.before = !right.now;
		r = 0;
	}
	if (!r)
		*ret_right = right;
	return r;
}

static int drop_lost(struct wfs_notify *notify, struct wfs_bytes id)
{
	int r = drop_texts(notify, WFS_ENTITY_FILE_CONTENT, id);

	if (!r)
		r = drop_texts(notify, WFS_ENTITY_FILE_CODE, id);
	return r ? r : drop_entries(notify, id);
}

/* --- grants --- */

struct grantee {
	struct wfs_bytes grant;
	struct wfs_buffer *id;
};

static int look_for_grantee(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	const struct grantee *const grantee = context;

	(void)notify;
	wfs_buffer_reset(grantee->id);
	return wfs_unjudged_grantee(view, grantee->grant, grantee->id);
}

/* Drops the files of the principal that has the grant at this height, or had it. */
static int drop_grantee(struct wfs_notify *notify, uint64_t height, struct wfs_bytes grant)
{
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};
	struct grantee grantee = {grant, &id};
	int r = notify_look(notify, height, look_for_grantee, &grantee);

	return r ? notify_known(r)
		 : drop_files(notify, WFS_ENTITY_PRINCIPAL, wfs_buffer_bytes(&id));
}

/* The directories of the next few principals. */
struct walked {
	uint64_t after_id;
	uint64_t inos[WALKED_AT_ONCE];
	size_t count;
};

static int look_for_principals(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = WFS_ENTITY_PRINCIPAL};
	struct walked *const walked = context;
	struct wfs_entry entry;
	int r = wfs_session_entities(
		notify->tree->session, view, WFS_ENTITY_PRINCIPAL, walked->after_id, &walk, NULL);

	walked->count = 0;
	while (!r && walked->count < WALKED_AT_ONCE &&
		(r = wfs_session_walk_next(&walk, &entry)) > 0) {
		walked->after_id = entry.cell_id;
		walked->count += wfs_tree_entity_ino(WFS_ENTITY_PRINCIPAL,
			wfs_cell_ordinal(entry.cell_id), &walked->inos[walked->count]);
		r = 0;
	}
	return r == -EACCES ? 0 : r; /* hidden directories are not cached */
}

int notify_grants(struct wfs_notify *notify)
{
	struct walked walked = {.after_id = 0};
	int r;

	do {
		r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_principals, &walked);
		for (size_t i = 0; !r && i < walked.count; i++)
			r = notify_name(
				notify, walked.inos[i], grants_name, sizeof(grants_name) - 1);
	} while (!r && walked.count > 0);
	return r;
}

/* --- commits --- */

/* The notifications of one commit. */
struct telling {
	struct wfs_notify *notify;
	const struct wfs_commit *commit;
	struct notify_items items[WFS_ENTITY_FILES_MAX]; /* of directories within entities */
	bool names_changed[WFS_ENTITIES_MAX]; /* in the directory of all artifacts, … */
	bool right_changed; /* the mount may or may not read some artifact, unlike before */
};

/* Drops the names of one artifact, … whose cell has changed. */
static int drop_one(
	struct telling *telling, enum wfs_entity entity, const struct wfs_change *change)
{
	struct wfs_notify *const notify = telling->notify;
	int r = 0;

	if (notify_names_changed(change)) {
		telling->names_changed[entity] = true;
		r = drop_name(notify, entity, change->key, "");
	}
	if (!r && entity == WFS_ENTITY_PLAN)
		r = drop_name(notify, entity, change->key,
			wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE));
	return r ? r : drop_files(notify, entity, change->key);
}

static int drop_artifact(struct telling *telling, const struct wfs_change *change)
{
	struct wfs_notify *const notify = telling->notify;
	struct place place = {.entity = WFS_ENTITY_ARTIFACT, .id = change->key};
	struct right right = {.now = true};
	int r = find_place(notify, &place);

	if (!r && place.ino != 0)
		r = notify_store_type(notify, telling->commit, change->key, place.ino);
	if (!r)
		r = drop_one(telling, WFS_ENTITY_ARTIFACT, change);
	if (!r)
		r = right_of(notify, telling->commit, change->key, &right);
	if (r || right.before == right.now)
		return r;
	telling->right_changed = true;
	r = drop_metas(notify, change->key);
	if (r || right.now)
		return r;
	return drop_lost(notify, change->key);
}

static int drop_resources(struct telling *telling, const struct wfs_change *change)
{
	return drop_files(telling->notify, WFS_ENTITY_PRINCIPAL, change->key);
}

static int drop_grant(struct telling *telling, const struct wfs_change *change)
{
	int r = drop_grantee(telling->notify, telling->commit->from_height, change->key);

	return r ? r : drop_grantee(telling->notify, WFS_HEIGHT_HEAD, change->key);
}

static int drop_store(struct telling *telling, const struct wfs_change *change)
{
	return notify_items_begin(
		telling->notify, change->key, &telling->items[WFS_ENTITY_FILE_ENTRIES]);
}

/* Drops a file of an entity whose own cell has not changed. */
static int drop_file(
	struct telling *telling, enum wfs_entity_file file, const struct wfs_change *change)
{
	struct place place = {.entity = wfs_entity_file_entity(file), .id = change->key};
	const char *const name = wfs_entity_file_name(file);
	int r = find_place(telling->notify, &place);

	if (r || place.ino == 0)
		return r;
	r = notify_name(telling->notify, place.ino, name, strlen(name));
	return r || !notify_names_changed(change) ? r : notify_listing(telling->notify, place.ino);
}

/* Reducers whose cells show in more places than those that the table of files tells. */
static const struct {
	enum wfs_builtin_reducer reducer;
	int (*drop)(struct telling *telling, const struct wfs_change *change);
} kinds[] = {
	{WFS_BUILTIN_ARTIFACT, drop_artifact},
	{WFS_BUILTIN_RESOURCE, drop_resources},
	{WFS_BUILTIN_GRANT, drop_grant},
	{WFS_BUILTIN_MEMORY_STORE, drop_store},
};

/* Drops names and contents for a changed cell of a built-in reducer; listings of the directories of
 * all are dropped later. */
static int drop_change(
	struct telling *telling, enum wfs_builtin_reducer reducer, const struct wfs_change *change)
{
	int r = 0;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(kinds); i++)
		if (kinds[i].reducer == reducer)
			return kinds[i].drop(telling, change);
	for (int i = 0; i < wfs_entity_count(); i++)
		if (wfs_entity_reducer((enum wfs_entity)i) == reducer)
			return drop_one(telling, (enum wfs_entity)i, change);
	for (int i = 0; !r && i < wfs_entity_file_count(); i++) {
		const enum wfs_entity_file file = (enum wfs_entity_file)i;

		/* a content or code changes with its artifact's cell */
		if (wfs_entity_file_reducer(file) != reducer ||
			wfs_entity_file_form(file) == WFS_ENTITY_BYTES)
			continue;
		r = wfs_entity_file_is_directory(file)
			? notify_item(telling->notify, change, &telling->items[i])
			: drop_file(telling, file, change);
	}
	return r;
}

/* Does a file show cells of this reducer? */
static bool is_shown(enum wfs_builtin_reducer reducer)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(kinds); i++)
		if (kinds[i].reducer == reducer)
			return true;
	for (int i = 0; i < wfs_entity_file_count(); i++) {
		const enum wfs_entity_file file = (enum wfs_entity_file)i;

		if (wfs_entity_reducer(wfs_entity_file_entity(file)) == reducer ||
			(wfs_entity_file_reducer(file) == reducer &&
				wfs_entity_file_form(file) != WFS_ENTITY_BYTES))
			return true;
	}
	return false;
}

/* A world that an older program has made may lack reducers. */
static int known_builtin(struct wfs_view *view, enum wfs_builtin_reducer reducer, uint32_t *ret_id)
{
	int r = wfs_unjudged_builtin(view, reducer, ret_id);

	return r == -ENOENT ? 0 : r;
}

static int look_for_reducers(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	uint32_t *const ids = context;
	int r = 0;

	(void)notify;
	for (int i = 0; !r && i < wfs_builtin_reducer_count(); i++)
		if (is_shown((enum wfs_builtin_reducer)i))
			r = known_builtin(view, (enum wfs_builtin_reducer)i, &ids[i]);
	return r;
}

int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	struct telling telling = {.notify = notify, .commit = commit};
	uint32_t ids[WFS_BUILTIN_REDUCERS_MAX] = {0};
	int r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_reducers, ids);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(telling.items); i++)
		telling.items[i].directory = (enum wfs_entity_file)i;
	for (size_t i = 0; !r && i < commit->change_count; i++)
		for (int j = 0; !r && j < wfs_builtin_reducer_count(); j++)
			if (ids[j] != 0 && ids[j] == commit->changes[i].reducer_id)
				r = drop_change(
					&telling, (enum wfs_builtin_reducer)j, &commit->changes[i]);
	/* only once, because this walks all names that Linux knows */
	if (!r && telling.right_changed)
		r = notify_private_texts(notify);
	for (int i = 0; !r && i < wfs_entity_file_count(); i++)
		r = notify_items_end(notify, &telling.items[i]);
	for (int i = 0; !r && i < wfs_entity_count(); i++)
		if (telling.names_changed[i])
			r = notify_listing(notify, wfs_tree_entities_ino((enum wfs_entity)i));
	return r;
}

/* --- events of turns --- */

static int look_for_events(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct place *const place = context;
	struct wfs_node node;
	int r = wfs_tree_growing_events(view, place->id, &node);

	(void)notify;
	if (!r && wfs_node_fits(&node))
		place->ino = wfs_ino_encode(&node);
	return notify_known(r);
}

/* Drops the pages of the events of a turn, which have grown: see notify.h. */
static int drop_events(struct wfs_notify *notify, struct wfs_bytes id)
{
	struct place place = {.entity = WFS_ENTITY_TURN, .id = id};
	int r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_events, &place);

	if (r || place.ino == 0)
		return r;
	return notify_known(wfs_teller_inode(notify->teller, place.ino, 0));
}

static int look_for_turns(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	(void)notify;
	return wfs_unjudged_builtin(view, WFS_BUILTIN_TURN, context);
}

int notify_events(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	uint32_t turns = 0;
	int r = notify_look(notify, WFS_HEIGHT_HEAD, look_for_turns, &turns);

	for (size_t i = 0; !r && i < commit->change_count; i++)
		if (commit->changes[i].reducer_id == turns)
			r = drop_events(notify, commit->changes[i].key);
	return r;
}
