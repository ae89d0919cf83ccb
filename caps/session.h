/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door: a session is a principal at work in a world.
 *
 * Mounts, control files, socket and command line hold a session and call nothing below it. Every
 * call names the effect kind it is (kernel/manifest/effect.h), is judged by the rights that the
 * principal has at that moment, and is forwarded to one entry of the kernel. What a principal may
 * not see is answered as if it did not exist (-ENOENT); what it may not do at all is -EACCES.
 * Refused changes are recorded; refused reads are counted.
 * Source: docs/design.md §2.
 * Thread: any.
 */
#pragma once

#include "caps/authority.h"
#include "caps/sight.h"
#include "kernel/copy/gc.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn-index.h"
#include "kernel/domain/turn/turn-read.h"
#include "kernel/manifest/effect.h"
#include "kernel/query/query.h"
#include "kernel/read/introspect.h"
#include "kernel/read/text.h"
#include "kernel/read/view.h"
#include "kernel/value/consistency.h"
#include "kernel/world/domains.h"
#include "kernel/world/world.h"

struct wfs_session;

/**
 * wfs_session_new() - begin to act as @principal; caller owns the session
 * @authority: kept; must outlive the session
 * Return: 0, -ENOENT (not_found: no such principal), -EIO, -ENOMEM.
 */
int wfs_session_new(struct wfs_authority *authority, const char *principal,
	struct wfs_session **ret_session, struct wfs_error *error);
void wfs_session_free(struct wfs_session *session);
WFS_DEFINE_AUTO(session, struct wfs_session, wfs_session_free)
#define WFS_AUTO_SESSION WFS_CLEANUP(wfs_auto_session)

const char *wfs_session_principal(const struct wfs_session *session);

enum { WFS_SESSION_QUEUE_MAX = 47 }; /* bytes */

/**
 * wfs_session_connect() - the session's requests come by a connection, and are done in their order
 * The operator may act as another principal for one request (wfs_session_connect_as()), so the
 * requests of each of the operator's connections wait in a queue of their own; those of others wait
 * in the queue of their principal.
 * @connection: any number but 0 that no other connection has
 */
void wfs_session_connect(struct wfs_session *session, uint64_t connection);

/** wfs_session_connect_as() - the session's requests come by the connection of @other, for any
 *  principal of @session. */
void wfs_session_connect_as(struct wfs_session *session, const struct wfs_session *other);
struct wfs_authority *wfs_session_authority(const struct wfs_session *session);

/** wfs_session_world() - get the world, for life-cycle calls (observe, directory, id);
 *  not for reading. */
struct wfs_world *wfs_session_world(const struct wfs_session *session);

/**
 * wfs_session_judge() - may this session do @effect to anything at all?
 * A refusal is counted.
 * Return: 0, or -EACCES (not_authorized, policy_denied, expired), -EOPNOTSUPP (not_enabled: this
 *         world does not have the effect).
 */
int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error);

/** wfs_session_may() - wfs_session_judge() as a yes or no, which is not counted. */
bool wfs_session_may(const struct wfs_session *session, enum wfs_effect effect);

/* --- rights that change --- */

/** wfs_session_watch() - notify @watcher when what the session may see has changed.
 *  Return: 0, -EAGAIN. */
int wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/** wfs_session_unwatch() - end that; after it returns, the watcher is not called any more. */
void wfs_session_unwatch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/* A request in progress, from before its first judgement until it is answered. Plain value. */
struct wfs_session_pin {
	const struct wfs_session *session; /* NULL: not pinned */
	unsigned int generation;
};
void wfs_session_pin(const struct wfs_session *session, struct wfs_session_pin *ret_pin);
void wfs_session_unpin(struct wfs_session_pin *pin);
#define WFS_AUTO_SESSION_PIN WFS_CLEANUP(wfs_session_unpin)

/**
 * wfs_session_settle() - wait until all requests that are pinned now are unpinned
 * After a change of rights and this call, no request is answered by the old rights. Requests that
 * are pinned during the call are not waited for. Thread: one at a time.
 */
void wfs_session_settle(const struct wfs_session *session);

/* --- reading; kernel/read/view.h describes the results, and when they are -ENOENT --- */

/** wfs_session_view() - open a view.
 *  This needs no right; what is read in it is judged by later calls. */
int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);
void wfs_session_view_close(struct wfs_view *view);
#define WFS_AUTO_SESSION_VIEW WFS_CLEANUP(wfs_session_view_close)

/** wfs_session_meta() - get height and time;
 *  the hash of the whole world only if the session sees all. */
int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta);
int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_version *ret_version);
/**
 * wfs_session_sees() - may the session see a path of the tree?
 * @effect: by which the path is read
 * @path: without `at/<height>`; for a blob the scope does not matter
 * @least: WFS_COVERAGE_BELOW for a directory, WFS_COVERAGE_WHOLE for a file
 * @error: filled on -EACCES; may be NULL
 * Return: 0, -ENOENT (not in the scope), -EACCES (the session may read nothing by this effect;
 * counted).
 */
int wfs_session_sees(const struct wfs_session *session, enum wfs_effect effect,
	struct wfs_path path, enum wfs_coverage least, struct wfs_error *error);

/** wfs_session_sees_whole() - does the session see everything below a directory whose names are
 *  those of cells of @reducer?
 *  Return: 1, 0, -ENOMEM. */
int wfs_session_sees_whole(
	const struct wfs_session *session, struct wfs_path path, struct wfs_bytes reducer);

/** wfs_session_queries() - does its principal have any grant that shows something of the tree? */
bool wfs_session_queries(const struct wfs_session *session);

/** wfs_session_sees_all() - does the session see everything in the tree, blobs left aside? */
bool wfs_session_sees_all(const struct wfs_session *session);

/** wfs_session_permutation() - get its principal's permutation for a purpose; see
 *  wfs_world_permutation.
 *  Return: 0, -ENOMEM. */
int wfs_session_permutation(const struct wfs_session *session, const char *purpose, uint64_t first,
	unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_session_cursors() - get the permutation of cursors for its principal. Return: 1, 0 (it sees
 *  everything, and gets plain cursors), -ENOMEM. */
int wfs_session_cursors(const struct wfs_session *session, struct wfs_permutation *ret_permutation);

int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);
int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_version *ret_version);

/* The cells of a reducer that the session sees, in order of creation. Init, next …, done. */
struct wfs_session_walk {
	struct wfs_entry_walk entries;
	struct wfs_sight sight;
	struct wfs_bytes reducer; /* its name, borrowed until the view is closed */
	enum wfs_entity entity;   /* for a walk over entities; WFS_ENTITIES_MAX: over cells */
	bool sees_directory;      /* of the last entry; if not, only a file beside it is seen */
	bool sees_beside;         /* the session sees the file beside the directory of a plan */
	uint64_t looked_at;       /* entries so far, those that are not seen included */
	uint64_t look_max;        /* ends the walk; 0: no bound; may be set before the first step */
	uint64_t cell_id;         /* of the last entry that was looked at */
};
/** wfs_session_cells() - begin a walk over the cells of a reducer.
 *  @error: filled if listing is refused; may be NULL */
int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_session_walk *ret_walk, struct wfs_error *error);
/** wfs_session_walk_next() - get the next entry. Return: 1, 0 at the end or at look_max, or
 *  -errno. */
int wfs_session_walk_next(struct wfs_session_walk *walk, struct wfs_entry *ret_entry);
/** wfs_session_walk_cut() - has the walk ended at look_max? There may be more after
 *  walk->cell_id. */
static inline bool wfs_session_walk_cut(const struct wfs_session_walk *walk)
{
	return walk->look_max > 0 && walk->looked_at == walk->look_max;
}
void wfs_session_walk_done(struct wfs_session_walk *walk);
#define WFS_AUTO_SESSION_WALK WFS_CLEANUP(wfs_session_walk_done)

/** wfs_session_version() - get a version by its number;
 *  -EACCES if the session may not see it (any more). */
int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version);
int wfs_session_version_name(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_bytes *ret_reducer,
	struct wfs_bytes *ret_key);
/** wfs_session_content() - read a version's bytes; -EACCES for content, code and entries of an
 *  artifact that its principal may not read without paying. */
int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);

/** wfs_session_may_hash() - may the principal have the hash of this version? The hash of a short
 *  text reveals the text.
 *  Return: 0, -EACCES, … */
int wfs_session_may_hash(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version);

/* Artifacts, principals, turns and plans as directories (kernel/read/entity.h), judged by
 * their paths. Below, an *entity* is one of these. */

/** wfs_session_entity() - find a live entity: its cell. Return: 0, -ENOENT, … */
int wfs_session_entity(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_at() - find a live entity by the number of its cell. @ret_id: borrowed until
 *  the view is closed */
int wfs_session_entity_at(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t number, struct wfs_bytes *ret_id,
	struct wfs_version *ret_version);

/** wfs_session_entities() - begin a walk over the entities that the session sees, or of which it
 *  sees a file beside the directory; wfs_session_walk_next returns them. */
int wfs_session_entities(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t after_id, struct wfs_session_walk *ret_walk,
	struct wfs_error *error);

/** wfs_session_entity_names() - get an upper bound of how many exist at the head, and when their
 *  set last changed. */
int wfs_session_entity_names(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t *ret_count, int64_t *ret_names_ns);

/** wfs_session_entity_file() - get the version that a file is made from; for `grants.json` the
 *  principal's ledger. Return: 0, -ENOENT (no such file, or the session does not see it), … */
int wfs_session_entity_file(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_version() - get it by the number of the version; -EACCES if the session may
 *  not see it (any more), -ENOENT if the file is never made from such a version. @file:
 *  WFS_ENTITY_FILE_PLAN_STEPS: a file in `steps` */
int wfs_session_entity_version(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, uint64_t vid, struct wfs_version *ret_version);

/* The part of a file to read. Plain value. */
struct wfs_session_part {
	struct wfs_range range;    /* size 0: only get the size */
	struct wfs_buffer *buffer; /* gets the bytes appended */
	uint64_t size_bytes;       /* result: of the whole file */
};

/** wfs_session_entity_read() - read a part of a file that is made from a version which a function
 *  above returned; see wfs_entity_write. */
int wfs_session_entity_read(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, const struct wfs_version *version,
	struct wfs_session_part *part);

/** wfs_session_lists() - may the session list `steps` or `entries` of an entity that it has found?
 *  Return: 0, -EACCES. */
int wfs_session_lists(
	const struct wfs_session *session, enum wfs_entity_file directory, struct wfs_error *error);

/*
 * Files in a directory of an entity, such as `steps` of a plan or `entries` of a memory store,
 * which a function above has found. Each file has a number, in the order of which they are listed.
 */

/** wfs_session_item() - find a file by its name. Return: 0, -ENOENT (this file does not exist, or
 *  the session does not see it), … */
int wfs_session_item(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes id, const char *name, uint64_t *ret_number,
	struct wfs_version *ret_version);

/**
 * wfs_session_item_next() - find the first file that the session sees
 * @number: in: where to begin; out: that of the file
 * @left: bound of the files to look at, those that are not seen included; decremented for each
 * @name: becomes the name of the file
 * @ret_version: of an entry only vid, size_bytes and time_ns are set
 * Return: 0, -ENOENT (no more files), 1 (@left is 0; @number: where to continue), …
 */
int wfs_session_item_next(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes id, uint64_t *number, uint64_t *left,
	struct wfs_buffer *name, struct wfs_version *ret_version);

/** wfs_session_item_count() - count the files, about. */
int wfs_session_item_count(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes id, uint64_t *ret_count);

/** wfs_session_grants() - append `grants.json` of a principal that a function above has found.
 *  @ret_time_ns: of the newest grant; 0: the principal has none */
int wfs_session_grants(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes principal, struct wfs_buffer *buffer, int64_t *ret_time_ns);

/**
 * wfs_session_turn() - summarise a turn, for a session that sees its `status`; see wfs_turn_summary
 * Return: 0, -ENOENT, -EIO, -ENOMEM.
 */
int wfs_session_turn(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, json_t **ret_summary);

/** wfs_session_gets_plan() - may the principal learn the result of a plan: did it make the plan, or
 *  does it see the plan's `status`? Return: 1, 0, or -errno. */
int wfs_session_gets_plan(const struct wfs_session *session, const char *plan_id);

/**
 * wfs_session_plan() - summarise a plan, if the session sees the file `status` of the plan
 * @ret_summary: see wfs_plan_summary(); caller owns it
 * Return: 0, -ENOENT (also if the session does not see that file), -EIO, -ENOMEM.
 */
int wfs_session_plan(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, json_t **ret_summary);

/**
 * wfs_session_chat_status() - what happened last in a chat session of the principal's own?
 * @ret_status: {chat_id, plan, status}; plan: wfs_plan_summary, or null
 * Return: 0, -ENOENT, -EIO, -ENOMEM.
 */
int wfs_session_chat_status(const struct wfs_session *session, struct wfs_view *view,
	const char *session_id, json_t **ret_status);

/** wfs_unjudged_turn_record() - find the first record of a turn from *@seq on
 *  Return: 1, 0 (none), or -errno. */
int wfs_unjudged_turn_record(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *seq);

/** wfs_session_last_event() - get the newest event of a turn that was found.
 *  Return: 0, -ENOENT, … */
int wfs_session_last_event(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, uint64_t *ret_seq);

/* The whole `events.jsonl` of a turn. Plain value. */
struct wfs_events {
	uint64_t size_bytes;
	int64_t time_ns; /* of the newest event */
};

/** wfs_session_events() - append a part of `events.jsonl`, of the turn that has the event @seq, up
 *  to this event; see wfs_turn_events. Return: 0, -EACCES (the session may not see it any more),
 *  -ENOENT, … */
int wfs_session_events(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_events *ret_events);

/** wfs_session_live_text() - get content, code or an entry of a live artifact by the version's
 *  number.
 *  Return: 0, -EACCES, -ENOENT (the artifact was deleted), … */
int wfs_session_live_text(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version);

/* For dropping cached files; not judged. */

/** wfs_session_builtin() - get the id of a built-in reducer. */
int wfs_session_builtin(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_builtin_reducer builtin, uint32_t *ret_reducer_id);

/** wfs_session_entity_number() - get the number of an entity's cell, live or not.
 *  Return: 0, -ENOENT, … */
int wfs_session_entity_number(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, uint64_t *ret_number);

/** wfs_session_item_name() - find the plan or artifact that has a file in `steps` or `entries`, and
 *  append the file's name. @view: NULL: only the id is wanted; @key: of the file's cell; @ret_id:
 *  borrowed from @key. Return: 0, -ENOENT, … */
int wfs_session_item_name(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, struct wfs_bytes key, struct wfs_bytes *ret_id,
	struct wfs_buffer *name);

/** wfs_session_is_store() - is this artifact a memory store in the view?
 *  Return: 1, 0, or -errno. */
int wfs_session_is_store(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** wfs_session_entry_ever() - find the first entry from @number on,
 *  deleted ones included; see wfs_memory_entry_ever. */
int wfs_session_entry_ever(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t number, uint32_t *ret_number,
	struct wfs_bytes *ret_key);

/** wfs_session_reads() - may the principal read content, code and entries of this artifact by its
 *  rule in the view? Return: 1, 0 (no, or it is not live), or -errno. */
int wfs_session_reads(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** wfs_session_grantee() - append the principal that has a grant in the view. Return: 0, -ENOENT
 *  (no such grant), … */
int wfs_session_grantee(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes grant, struct wfs_buffer *buffer);

/** wfs_session_text_before() - find the newest version of content, code or an entry below @vid
 *  (UINT64_MAX: the newest of all). @key: of its cell. Return: 0, -ENOENT (none, or it was
 *  dropped), … */
int wfs_session_text_before(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes key, uint64_t vid, uint64_t *ret_vid);

/* Blobs and the journal: judged, except for a record's time and the size of log.jsonl, which
 * stat(2) needs for files that were looked up. kernel/read/view.h describes the results. */

int wfs_session_blob(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing);
int wfs_session_blob_listed(const struct wfs_session *session, struct wfs_view *view,
	uint64_t listed_id, struct wfs_blob *ret_blob, struct wfs_blob_listing *ret_listing);
int wfs_session_blob_last(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_listed_id);
int wfs_session_blob_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_blob *blob, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);
int wfs_session_record(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_bytes *ret_line);
int wfs_session_record_time(
	const struct wfs_session *session, struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns);
int wfs_session_journal_size(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_size_bytes);
int wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	uint64_t offset, size_t size, struct wfs_buffer *buffer);

/** wfs_session_text() - get the private text with a number, as a file in journal/texts.
 *  Return: 0, -ENOENT (no such text in the view, or not for this principal). */
int wfs_session_text(const struct wfs_session *session, struct wfs_view *view, uint64_t number,
	struct wfs_text *ret_text);
/** wfs_session_text_find() - get the private text with this hash. Return: as above. */
int wfs_session_text_find(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_text *ret_text);
/**
 * wfs_session_text_next() - find the first text above @after that the principal may read
 * @left: bound of the texts to look at, unreadable ones included; decremented for each
 * Return: 0, -ENOENT, 1 (@left is 0; of @ret_text only the number is set, of the last text), …
 */
int wfs_session_text_next(const struct wfs_session *session, struct wfs_view *view, uint64_t after,
	uint64_t *left, struct wfs_text *ret_text);
/** wfs_session_has_texts() - does any record have a private text? Return: 1, 0, or -errno. */
int wfs_session_has_texts(const struct wfs_session *session, struct wfs_view *view);

/** wfs_session_note_private() - make the session note which private texts are read through it; call
 *  this before anything is read. Return: 0, -ENOMEM. */
int wfs_session_note_private(struct wfs_session *session);

/** wfs_session_note_hidden() - if the session notes texts, note those for which a document has
 *  stand-ins.
 *  Return: 0, -ENOMEM. */
int wfs_session_note_hidden(const struct wfs_session *session, const json_t *document);

/** wfs_session_noted() - was any private text read? @ret_of: the artifacts that the texts belong
 *  to; [] if one is for its principal alone; caller owns it. Return: 1, 0, -ENOMEM. */
int wfs_session_noted(const struct wfs_session *session, json_t **ret_of);

/** wfs_session_reveal() - copy a document, and replace stand-ins by those private texts that the
 *  principal may read (kernel/read/text.h). @ret_copy: may be @document itself; caller owns it */
int wfs_session_reveal(const struct wfs_session *session, struct wfs_view *view,
	const json_t *document, json_t **ret_copy, struct wfs_error *error);

/* Figures for `status` and `metrics`: plain value. */
struct wfs_session_figures {
	bool whole; /* the principal sees all, or administers the world; false: heights only */
	struct wfs_world_figures world;
	uint64_t effects_in_flight; /* for which runs of agents wait */
	uint64_t refused_total;     /* refused reads; the journal has the refused changes */
};
int wfs_session_figures(const struct wfs_session *session, struct wfs_session_figures *ret_figures,
	struct wfs_error *error);

/**
 * wfs_session_introspect() - ask the world about itself; see wfs_introspect
 * @effect: one for which wfs_introspects is true
 * @ret_payload: the answer; for a failure {"code","message","meta"?}, or NULL. Caller owns it.
 * Return: 0, -EACCES, or as wfs_introspect.
 */
int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);

/* A question of query_kernel; see wfs_query_check. Plain value; pointers are borrowed. */
struct wfs_session_query {
	const char *type;
	const json_t *params;
	const atomic_bool *gone; /* becomes true when the caller has gone; may be NULL */
};

/**
 * wfs_session_query() - answer a question of query_kernel
 * @view: of the head
 * @ret_result: caller owns it
 * Return: 0, -EACCES, or as wfs_query_check and wfs_query_run.
 */
int wfs_session_query(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_query *query, json_t **ret_result, struct wfs_error *error);

/* --- changing --- */

/*
 * Each sets request->principal to the session's. A refusal is recorded as a decision, and then
 * returned as the answer: `done` is called as for any other answer. When a function itself fails,
 * request->error says why, and `done` is not called.
 */

/** wfs_session_submit() - judge a request by its kind, then submit it; see wfs_world_submit. */
int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request);

/** wfs_session_call() - submit a request, and wait for the answer. */
int wfs_session_call(const struct wfs_session *session, struct wfs_request *request);

enum { WFS_SESSION_REFUSED = 1 };

/**
 * wfs_session_admit() - judge an effect that is not a request to the kernel (mount, shutdown), or
 * that is judged again when its object is known
 * @request: without a kind, and with `done` set
 * Return: 0, WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno.
 */
int wfs_session_admit(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_request *request);

/**
 * wfs_session_act() - take an action; see kernel/domain/action/action.h
 * Judges the action together with the artifact that it names.
 * @action: with its `action_type`; must live until the answer, which is {data, message}, or the
 *          details of a refusal, or NULL
 * Return: 0 (`done` will be called), or -errno.
 */
int wfs_session_act(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request);

/* A tool call of a run. Plain value. */
struct wfs_session_call {
	const char *intent_id; /* must live until the answer */
	bool approved;         /* somebody has approved it */
	bool cannot_wait;      /* refuse instead of waiting for an approval */
	json_t *ask;           /* private to the session; released by wfs_session_call_done() */
};
void wfs_session_call_done(struct wfs_session_call *call);

/**
 * wfs_session_act_called() - take the action of a tool call in one of the principal's runs
 * If the policy requires an approval that the call does not have, records that the call waits, and
 * sets call->ask.
 * @call: must live until the answer
 * Return: as wfs_session_act.
 */
int wfs_session_act_called(const struct wfs_session *session, const json_t *action,
	struct wfs_session_call *call, struct wfs_request *request);

/**
 * wfs_session_wait_call() - must a tool call that makes agents or plans run wait for an approval?
 * @effect, @artifact: by which it will be judged; @artifact: may be NULL
 * @call, @request: as for wfs_session_act_called
 * Return: 1 (`done` will be called when it is recorded that it waits; call->ask is set), 0, or
 * -errno.
 */
int wfs_session_wait_call(const struct wfs_session *session, enum wfs_effect effect,
	const char *artifact, struct wfs_session_call *call, struct wfs_request *request);

/** wfs_session_approve_call() - the one tool call that the session is for, of @effect, is approved.
 *  Other calls of the session still need an approval. */
void wfs_session_approve_call(struct wfs_session *session, enum wfs_effect effect);

/** wfs_session_receipt() - submit the answer to an intent, for the principal of its run. This needs
 *  no right: the intent was judged. @charge: the grant that pays, "" for none */
int wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request);

/** wfs_session_check_journal() - does the principal's quota have room for another record? Receipts
 *  are always recorded, so effects that lead to one must not begin without room.
 *  Return: 0, -EDQUOT (quota_exceeded), … */
int wfs_session_check_journal(const struct wfs_session *session, struct wfs_error *error);

/**
 * wfs_session_generate() - may the principal ask a model?
 * A principal that has used up its tokens may not.
 * @ret_charge: the grant whose budget pays, "" for none
 * @request: without a kind, and with `done` set: a refusal is recorded
 * Return: 0, WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno.
 */
int wfs_session_generate(const struct wfs_session *session,
	char ret_charge[static WFS_GRANT_NAME_MAX + 1], struct wfs_request *request);

/*
 * The objects that the functions below are given become the requests' actions. They belong to the
 * caller, and must live until `done` is called; request->answer is {name}, {removed} or {id} then.
 */

/**
 * wfs_session_grant() - grant a capability, or delegate a part of what the session's principal has
 * @grant: {cap, to, params?, name?, expires_at_ns?, budget?}
 */
int wfs_session_grant(
	const struct wfs_session *session, json_t *grant, struct wfs_request *request);

/** wfs_session_revoke() - revoke the grant {name}, and all grants delegated from it. A principal
 *  that may grant may do this, and the one that delegated it. */
int wfs_session_revoke(
	const struct wfs_session *session, json_t *revocation, struct wfs_request *request);

/** wfs_session_add_principal() - make the principal {id}, without grants. */
int wfs_session_add_principal(
	const struct wfs_session *session, json_t *principal, struct wfs_request *request);

/**
 * wfs_session_admit_step() - may the principal have this agent take turns?
 * Call before the agent's configuration is read, so that a refused principal learns nothing of it.
 * Return: as wfs_session_admit.
 */
int wfs_session_admit_step(
	const struct wfs_session *session, const char *agent, struct wfs_request *request);

/**
 * wfs_session_find_agent() - may the principal have the agent run, by the artifact's access?
 * The error for an agent that is hidden from the principal is that for a missing agent.
 * Return: 0, -ENOENT (not_found), -EACCES (not_authorized), -EIO, -ENOMEM.
 */
int wfs_session_find_agent(const struct wfs_session *session, struct wfs_view *view,
	const char *agent, struct wfs_error *error);

/**
 * wfs_session_offers() - may the principal get this artifact as a tool?
 * The principal's grants and policy must allow to invoke the artifact, at least after an approval,
 * and so must the artifact's access. What a contract would answer is not known yet: then the
 * principal must see the artifact in the tree.
 * @ret_state: the artifact's cell, if the answer is 1; caller owns it
 * Return: 1, 0 (not as a tool, or no such artifact), or -errno.
 */
int wfs_session_offers(const struct wfs_session *session, struct wfs_view *view, const char *id,
	json_t **ret_state);

/** wfs_session_step() - begin a run. @step: {agent, max_turns, messages, setup}, see
 *  kernel/domain/turn/turn.h. The answer is {run_id}. */
int wfs_session_step(const struct wfs_session *session, json_t *step, struct wfs_request *request);

/** wfs_session_cancel() - end the run {turn_id}.
 *  The principal that began the run may, and an administrator. */
int wfs_session_cancel(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request);

/**
 * wfs_session_approve() - decide on a tool call: {turn_id, call_id, decision}
 * An administrator may, and a principal with a drive grant that has `approve`. The principal that
 * began the run may only if it is an administrator. Never: the agent, its artifacts, and principals
 * that have the right from these.
 */
int wfs_session_approve(
	const struct wfs_session *session, json_t *approve, struct wfs_request *request);

/** wfs_session_chat() - send a message, from which a plan is made, or continue a plan; see
 *  kernel/domain/plan/plan.h. The answer is {chat_id, plan_id?}. */
int wfs_session_chat(const struct wfs_session *session, json_t *chat, struct wfs_request *request);

/** wfs_session_plan_import() - make a plan from a blob. The answer is {chat_id}. */
int wfs_session_plan_import(
	const struct wfs_session *session, json_t *import, struct wfs_request *request);

/** wfs_session_plan_resume() - continue {plan_id}. The principal that made the plan may, one with
 *  a drive grant for all plans, and an administrator; these may also stop it.
 *  The answer is {chat_id, plan_id}. */
int wfs_session_plan_resume(
	const struct wfs_session *session, json_t *resume, struct wfs_request *request);

/** wfs_session_leave_run() - end the run {turn_id}, which the principal has begun and does not wait
 *  for any more. For drivers: needs no right, because the principal may have lost it since then. */
int wfs_session_leave_run(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request);

/** wfs_session_leave_plan() - stop {plan_id}, or the chat {chat_id}, for drivers:
 *  needs no right. */
int wfs_session_leave_plan(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);

/** wfs_session_plan_stop() - stop {plan_id}, or the chat {chat_id}. */
int wfs_session_plan_stop(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);

/**
 * wfs_session_apply() - bring a manifest into force, or report what that would change
 * @params: of WFS_EFFECT_WORLD_APPLY; must live until the answer
 * Return: as wfs_session_submit.
 */
int wfs_session_apply(const struct wfs_session *session, const struct wfs_params *params,
	struct wfs_request *request);

struct wfs_upload; /* a blob that is received in pieces */

/** wfs_session_upload() - begin to receive a blob. A refusal is recorded. @ret_upload: caller owns
 *  it. Return: 0, -EACCES, -ENOMEM. */
int wfs_session_upload(
	const struct wfs_session *session, struct wfs_upload **ret_upload, struct wfs_error *error);

/** wfs_upload_add() - append a piece. Return: 0, -EFBIG (a blob has at most WFS_BLOB_MAX bytes),
 *  -ENOSPC, -EIO, -ENOMEM. */
int wfs_upload_add(struct wfs_upload *upload, const void *data, size_t size);

/**
 * wfs_upload_submit() - make the blob durable, and submit its request, of which it sets kind and
 * blob
 * After -EAGAIN (overloaded) it can be called again.
 * @upload: must live until the answer
 * Return: as wfs_session_submit, -ENOSPC, -EIO.
 */
int wfs_upload_submit(
	const struct wfs_session *session, struct wfs_upload *upload, struct wfs_request *request);

/** wfs_upload_free() - free it, and remove the file of an unfinished blob; accepts NULL. */
void wfs_upload_free(struct wfs_upload *upload);
WFS_DEFINE_AUTO(upload, struct wfs_upload, wfs_upload_free)
#define WFS_AUTO_UPLOAD WFS_CLEANUP(wfs_auto_upload)

/**
 * wfs_session_snapshot() - compute the snapshot hash of the head and record it; waits
 * Thread: not the publisher's or a FUSE worker's, because it reads every cell.
 * @progress: called now and then with the cells done and the total; may be NULL
 */
int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request);

/**
 * wfs_session_gc_begin() - prepare a collection, which wfs_session_gc() judges
 * @number: @keep: of the newest heights to keep; otherwise the first height to keep
 * Return: as wfs_gc_begin().
 */
int wfs_session_gc_begin(const struct wfs_session *session, bool keep, uint64_t number,
	struct wfs_gc *gc, struct wfs_error *error);

/**
 * wfs_session_gc() - continue a collection; waits
 * Thread: not the publisher's or a FUSE worker's. See wfs_gc_advance.
 */
int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error);

/**
 * wfs_session_code() - list the code that ended its process; waits
 * @lift: a hash: first allow this code to run again; or NULL
 * @ret_rows: a row for each code that has crashed, after @lift; caller frees
 */
int wfs_session_code(const struct wfs_session *session, const struct wfs_hash *lift,
	struct wfs_quarantine_row **ret_rows, size_t *ret_count, struct wfs_error *error);
