/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door: a session is a principal at work in a world.
 *
 * Mounts, control files, socket and command line hold a session and call nothing below it. Every
 * call names the effect kind it is (kernel/manifest/effect.h), is judged by the rights that the
 * principal has at that moment, and is forwarded to one entry of the kernel. What a principal may
 * not see is answered as if it were not there (-ENOENT); what it may not do at all is -EACCES. What
 * is refused of what would change something is recorded; refused reads are counted.
 * Source: design §2; spec 3.
 * Thread: any.
 */
#pragma once

#include "caps/authority.h"
#include "caps/sight.h"
#include "kernel/copy/gc.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn-index.h"
#include "kernel/domain/turn/turn-read.h"
#include "kernel/manifest/effect.h"
#include "kernel/query/query.h"
#include "kernel/read/consistency.h"
#include "kernel/read/introspect.h"
#include "kernel/read/text.h"
#include "kernel/read/view.h"
#include "kernel/world/world.h"

struct wfs_session;

/**
 * wfs_session_new() - act as @principal
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
 * The operator may act as somebody else for one request (wfs_session_connect_as()), so the requests of each of the
 * operator's connections wait in a queue of their own; those of others wait in their principal's.
 * @connection: any number but 0 that no other connection has
 */
void wfs_session_connect(struct wfs_session *session, uint64_t connection);

/** wfs_session_connect_as() - by the connection of @other, whatever the principal of @session is */
void wfs_session_connect_as(struct wfs_session *session, const struct wfs_session *other);
struct wfs_authority *wfs_session_authority(const struct wfs_session *session);

/** wfs_session_world() - for life-cycle calls (observe, directory, id); not for reading. */
struct wfs_world *wfs_session_world(const struct wfs_session *session);

/**
 * wfs_session_judge() - may this session do @effect, at least to something?
 * A refusal is counted.
 * Return: 0, or -EACCES (not_authorized, policy_denied, expired), -EOPNOTSUPP (not_enabled: this
 *         world does not have the effect).
 */
int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error);

/** wfs_session_may() - the same as a question that is not counted. */
bool wfs_session_may(const struct wfs_session *session, enum wfs_effect effect);

/* --- rights that change --- */

/** wfs_session_watch() - be told when what the session may see has changed. Return: 0, -EAGAIN. */
int wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/** wfs_session_unwatch() - when it returns, the watcher is not being told any more. */
void wfs_session_unwatch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);

/* A request under way, from before its first judgement until it is answered. Plain value. */
struct wfs_session_pin {
	const struct wfs_session *session; /* NULL: nothing to be unpinned */
	unsigned int generation;
};
void wfs_session_pin(const struct wfs_session *session, struct wfs_session_pin *ret_pin);
void wfs_session_unpin(struct wfs_session_pin *pin);
#define WFS_AUTO_SESSION_PIN WFS_CLEANUP(wfs_session_unpin)

/**
 * wfs_session_settle() - wait until all requests that were pinned before are unpinned
 * After a change of rights nobody is then answering by the old ones. Requests that are pinned
 * meanwhile are not held up. Thread: one at a time.
 */
void wfs_session_settle(const struct wfs_session *session);

/* --- reading; see kernel/read/view.h for what each gives and when it is -ENOENT --- */

/** wfs_session_view() - everybody may look; what is seen is judged by what follows. */
int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);
/** wfs_session_meta() - without the hash of everything, unless everything is seen. */
int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta);
int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_version *ret_version);
/**
 * wfs_session_sees() - may a path of the tree be seen?
 * @effect: by which it is read
 * @path: without `at/<height>`; of a blob the scope does not matter
 * @least: WFS_COVERAGE_BELOW for a directory, WFS_COVERAGE_WHOLE for a file
 * @error: filled on -EACCES; may be NULL
 * Return: 0, -ENOENT (it is not in the scope), -EACCES (nothing that this effect reads is; counted).
 */
int wfs_session_sees(const struct wfs_session *session, enum wfs_effect effect,
	struct wfs_path path, enum wfs_coverage least, struct wfs_error *error);

/** wfs_session_sees_whole() - is nothing hidden below a directory, whose names are those of cells of @reducer?
 *  Return: 1, 0, -ENOMEM. */
int wfs_session_sees_whole(
	const struct wfs_session *session, struct wfs_path path, struct wfs_bytes reducer);

/** wfs_session_queries() - does its principal hold any grant that shows something of the tree? */
bool wfs_session_queries(const struct wfs_session *session);

/** wfs_session_sees_all() - is there nothing in the tree, blobs left aside, that it may not see? */
bool wfs_session_sees_all(const struct wfs_session *session);

/** wfs_session_permutation() - that of its principal; see wfs_world_permutation. Return: 0, -ENOMEM. */
int wfs_session_permutation(const struct wfs_session *session, const char *purpose, uint64_t first,
	unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_session_cursors() - the permutation of cursors that its principal is given. Return: 1, 0 (it sees
 *  everything, and has plain ones), -ENOMEM. */
int wfs_session_cursors(const struct wfs_session *session, struct wfs_permutation *ret_permutation);

int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);
int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_version *ret_version);

/* The cells of a reducer that are seen, in order of creation. Init, next …, done. */
struct wfs_session_walk {
	struct wfs_entry_walk entries;
	struct wfs_sight sight;
	struct wfs_bytes reducer; /* its name, borrowed until the view is closed */
	enum wfs_entity entity;   /* of directories; WFS_ENTITY_COUNT: of cells */
	bool sees_directory;      /* of the last entry; else only what stands beside is seen */
	bool sees_beside;         /* the same of the file beside the directory of a plan */
	uint64_t looked_at;       /* entries, also those that are not seen */
	uint64_t
		look_max; /* after so many it gives none; 0: no bound; may be set before the first */
	uint64_t cell_id; /* of the last that was looked at */
};
/** wfs_session_cells() - @error: filled when listing is refused; may be NULL. */
int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_session_walk *ret_walk, struct wfs_error *error);
/** wfs_session_walk_next() - Return: 1 and an entry, 0 at the end or at look_max, or -errno. */
int wfs_session_walk_next(struct wfs_session_walk *walk, struct wfs_entry *ret_entry);
/** wfs_session_walk_cut() - has the walk ended at look_max, perhaps with more behind walk->cell_id? */
static inline bool wfs_session_walk_cut(const struct wfs_session_walk *walk)
{
	return walk->look_max > 0 && walk->looked_at == walk->look_max;
}
void wfs_session_walk_done(struct wfs_session_walk *walk);
#define WFS_AUTO_SESSION_WALK WFS_CLEANUP(wfs_session_walk_done)

/** wfs_session_version() - by number; -EACCES when it may not be seen (any more). */
int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version);
int wfs_session_version_name(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_bytes *ret_reducer,
	struct wfs_bytes *ret_key);
/** wfs_session_content() - -EACCES of content, code and entries of an artifact that its principal may not
 *  read for nothing. */
int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);

/** wfs_session_may_hash() - may the principal have the hash of this version? The hash of a short text tells the text.
 *  Return: 0, -EACCES, … */
int wfs_session_may_hash(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version);

/* Artifacts, principals, turns and plans as directories (kernel/domain/entity/entity.h), judged by their paths there. */

/** wfs_session_entity() - a live one: its cell. Return: 0, -ENOENT, … */
int wfs_session_entity(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_at() - the same by the number of its cell. @ret_id: borrowed until the view is
 *  closed */
int wfs_session_entity_at(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t number, struct wfs_bytes *ret_id,
	struct wfs_version *ret_version);

/** wfs_session_entities() - those that are seen, or that a file beside is seen of; wfs_session_walk_next
 *  gives them. */
int wfs_session_entities(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t after_id, struct wfs_session_walk *ret_walk,
	struct wfs_error *error);

/** wfs_session_entity_names() - how many there are at the head, at most; when that changed last. */
int wfs_session_entity_names(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t *ret_count, int64_t *ret_names_ns);

/** wfs_session_entity_file() - the version that a file is made from; of `grants.json` the
 *  principal's ledger. Return: 0, -ENOENT (it has no such file, or it is not seen), … */
int wfs_session_entity_file(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id, struct wfs_version *ret_version);

/** wfs_session_entity_version() - the same by the number of the version; -EACCES when it may not be
 *  seen (any more), -ENOENT when the file is made from no such version. @file:
 *  WFS_ENTITY_FILE_PLAN_STEPS: a file in `steps` */
int wfs_session_entity_version(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, uint64_t vid, struct wfs_version *ret_version);

/* A part of a file. Plain value. */
struct wfs_session_part {
	struct wfs_range range;    /* of size 0: only the size is wanted */
	struct wfs_buffer *buffer; /* it is appended to this */
	uint64_t size_bytes;       /* of the whole; set */
};

/** wfs_session_entity_read() - a part of a file that is made from a version that was found above; see
 *  wfs_entity_write. */
int wfs_session_entity_read(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, const struct wfs_version *version,
	struct wfs_session_part *part);

/** wfs_session_lists() - may the directory `steps` or `entries` of one that was found above be listed?
 *  Return: 0, -EACCES. */
int wfs_session_lists(
	const struct wfs_session *session, enum wfs_entity_file directory, struct wfs_error *error);

/** wfs_session_plan_step_count() - how many steps a plan that was found above has so far. */
int wfs_session_plan_step_count(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, uint64_t *ret_count);

/**
 * wfs_session_plan_step() - a step of a plan, as a file in `steps`
 * @name: the name of the file is appended
 * @ret_version: that it is made from
 * Return: 0, -ENOENT (there is none, or it is not seen), …
 */
int wfs_session_plan_step(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, uint64_t index, struct wfs_buffer *name,
	struct wfs_version *ret_version);

/** wfs_session_entry_count() - how many entries a memory store that was found above has. */
int wfs_session_entry_count(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t *ret_count);

/** wfs_session_entry() - an entry of a memory store. Return: 0, -ENOENT (there is none, or it is not seen), … */
int wfs_session_entry(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint32_t number, struct wfs_version *ret_version);

/**
 * wfs_session_entry_next() - the first one that is seen from a number on; see wfs_memory_entry_next
 * @number: that number; gets that of the entry
 * @left: entries that may be looked at, those that are not seen too; less each of them
 * Return: as there, or 1 (@left is 0; @number: the next that would be looked at).
 */
int wfs_session_entry_next(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t *number, uint64_t *left,
	struct wfs_entry *ret_entry);

/** wfs_session_grants() - append `grants.json` of a principal that was found above.
 *  @ret_time_ns: of the newest of the grants; 0: there are none */
int wfs_session_grants(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes principal, struct wfs_buffer *buffer, int64_t *ret_time_ns);

/**
 * wfs_session_turn() - what a turn is doing, for whoever sees its `status`; see wfs_turn_summary
 * Return: 0, -ENOENT, -EIO, -ENOMEM.
 */
int wfs_session_turn(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, json_t **ret_summary);

/** wfs_session_gets_plan() - may the principal learn what a plan gave? Yes, if it made the plan or sees the plan's
 *  `status`. Return: 1, 0, or -errno. */
int wfs_session_gets_plan(const struct wfs_session *session, const char *plan_id);

/** wfs_session_plan() - the same of a plan; see wfs_plan_summary */
int wfs_session_plan(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes plan_id, json_t **ret_summary);

/**
 * wfs_session_chat_status() - what was said last in a session of the principal's own
 * @ret_status: {chat_id, plan, status}; plan: wfs_plan_summary, or null
 * Return: 0, -ENOENT, -EIO, -ENOMEM.
 */
int wfs_session_chat_status(const struct wfs_session *session, struct wfs_view *view,
	const char *session_id, json_t **ret_status);

/** wfs_session_turn_records() - the records of a turn from a seq on; see wfs_turn_walk_init. Each is
 *  judged where it is read. */
int wfs_session_turn_records(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, uint64_t from, struct wfs_turn_walk *ret_walk);

/** wfs_session_last_event() - the newest event of a turn that was found above. Return: 0, -ENOENT, … */
int wfs_session_last_event(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, uint64_t *ret_seq);

/* All of `events.jsonl` of a turn. Plain value. */
struct wfs_events {
	uint64_t size_bytes;
	int64_t time_ns; /* of the newest */
};

/** wfs_session_events() - append a part of `events.jsonl` of the turn whose event @seq is, up to that;
 *  see wfs_turn_events. Return: 0, -EACCES (it may not be seen any more), -ENOENT, … */
int wfs_session_events(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_events *ret_events);

/** wfs_session_live_text() - content, code or an entry of an artifact by its number, as long as the artifact
 *  lives. Return: 0, -EACCES, -ENOENT (it was deleted), … */
int wfs_session_live_text(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version);

/*
 * For whoever drops what is cached of them; not judged.
 */

/** wfs_session_builtin() - the number of a built-in reducer. */
int wfs_session_builtin(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_builtin_reducer builtin, uint32_t *ret_reducer_id);

/** wfs_session_entity_number() - of a cell, live or not. Return: 0, -ENOENT, … */
int wfs_session_entity_number(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, uint64_t *ret_number);

/** wfs_session_plan_step_name() - append the name of a step's file. @key: of its cell. Return: 0, -ENOENT, … */
int wfs_session_plan_step_name(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes key, struct wfs_buffer *buffer);

/** wfs_session_is_store() - is this artifact a memory store in the view? Return: 1, 0, or -errno. */
int wfs_session_is_store(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** wfs_session_entry_ever() - the first entry from @number on that there ever was; see
 *  wfs_memory_entry_ever. */
int wfs_session_entry_ever(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t number, uint32_t *ret_number,
	struct wfs_bytes *ret_key);

/** wfs_session_reads() - may content, code and entries of this artifact be read, as its rule is in the view?
 *  Return: 1, 0 (or it does not live), or -errno. */
int wfs_session_reads(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** wfs_session_grantee() - append who has a grant in the view. Return: 0, -ENOENT (nobody), … */
int wfs_session_grantee(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes grant, struct wfs_buffer *buffer);

/** wfs_session_text_before() - the newest version of content, code or an entry below @vid (UINT64_MAX: of
 *  all). @key: of its cell. Return: 0, -ENOENT (there is none, or it was dropped), … */
int wfs_session_text_before(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes key, uint64_t vid, uint64_t *ret_vid);

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

/** wfs_session_text() - the private text of a number, as a file in journal/texts.
 *  Return: 0, -ENOENT (not there, not yet, or not for this principal). */
int wfs_session_text(const struct wfs_session *session, struct wfs_view *view, uint64_t number,
	struct wfs_text *ret_text);
/** wfs_session_text_find() - the private text that has this hash. Return: as above. */
int wfs_session_text_find(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_text *ret_text);
/**
 * wfs_session_text_next() - the first one with a number above @after that the principal may read
 * @left: texts that may be looked at, those that it may not read too; less each of them
 * Return: 0, -ENOENT, 1 (@left is 0: only the number of @ret_text is set, which is the last looked at), …
 */
int wfs_session_text_next(const struct wfs_session *session, struct wfs_view *view, uint64_t after,
	uint64_t *left, struct wfs_text *ret_text);
/** wfs_session_has_texts() - has any record a private text? Return: 1, 0, or -errno. */
int wfs_session_has_texts(const struct wfs_session *session, struct wfs_view *view);

/** wfs_session_note_private() - have the session note which private texts are read through it; call
 *  this before anything is read. Return: 0, -ENOMEM. */
int wfs_session_note_private(struct wfs_session *session);

/** wfs_session_note_hidden() - note those that a document has stand-ins for, if the session notes any. Return: 0, -ENOMEM. */
int wfs_session_note_hidden(const struct wfs_session *session, const json_t *document);

/** wfs_session_noted() - have any been read? @ret_of: the artifacts that they belong to, [] when one of
 *  them is for its principal alone; caller owns it. Return: 1, 0, -ENOMEM. */
int wfs_session_noted(const struct wfs_session *session, json_t **ret_of);

/** wfs_session_reveal() - a copy of a document, with the private texts that the principal may read in the
 *  place of their stand-ins (kernel/read/text.h). @ret_copy: may be @document itself; caller owns it */
int wfs_session_reveal(const struct wfs_session *session, struct wfs_view *view,
	const json_t *document, json_t **ret_copy, struct wfs_error *error);

/* Figures for `status` and `metrics`: plain value. */
struct wfs_session_figures {
	bool whole; /* the principal sees everything, or administers the world; else there are heights only */
	struct wfs_world_figures world;
	uint64_t effects_in_flight; /* that runs of agents wait for */
	uint64_t refused_total;     /* reads that were refused; the rest is in the journal */
};
int wfs_session_figures(const struct wfs_session *session, struct wfs_session_figures *ret_figures,
	struct wfs_error *error);

/**
 * wfs_session_introspect() - ask the world about itself; see wfs_introspect
 * @effect: one of those that wfs_introspects
 * @ret_payload: the answer; of a failure {"code","message","meta"?}, or NULL. Caller owns it.
 * Return: 0, -EACCES, or as wfs_introspect.
 */
int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);

/* What the kernel is asked; see wfs_query_check. Plain value; pointers are borrowed. */
struct wfs_session_query {
	const char *type;
	const json_t *params;
	const atomic_bool *gone; /* set when nobody waits for the answer any more; may be NULL */
};

/**
 * wfs_session_query() - ask the kernel
 * @view: of the head
 * Return: 0, -EACCES, or as wfs_query_check and wfs_query_run.
 */
int wfs_session_query(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_query *query, json_t **ret_result, struct wfs_error *error);

/* --- changing --- */

/*
 * Each sets request->principal to the session's. What is refused is recorded as a decision, and
 * then answered with the refusal: `done` is called as for any other answer. On failure
 * request->error says why, and `done` is not called.
 */

/** wfs_session_submit() - judge a request by its kind, then wfs_world_submit. */
int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request);

/** wfs_session_call() - the same, waiting for the answer. */
int wfs_session_call(const struct wfs_session *session, struct wfs_request *request);

enum { WFS_SESSION_REFUSED = 1 };

/**
 * wfs_session_admit() - judge what becomes no request of the kernel's (mount, shutdown), or is judged again
 * when it is known what it is about
 * @request: of no kind yet, its `done` set
 * Return: 0, WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno.
 */
int wfs_session_admit(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_request *request);

/**
 * wfs_session_act() - take an action; see kernel/domain/action/action.h
 * Judged is the action, and the artifact that it names.
 * @action: with its `action_type`; kept until the answer, which is {data, message} then, or the
 *          details of a refusal, or NULL
 * Return: 0 (`done` will be called), or -errno.
 */
int wfs_session_act(
	const struct wfs_session *session, const json_t *action, struct wfs_request *request);

/* A tool call of a run. Plain value. */
struct wfs_session_call {
	const char *intent_id; /* kept until the answer */
	bool approved;         /* somebody has approved of it */
	bool cannot_wait;      /* what would wait for an approval is refused */
	json_t *ask;           /* the session's own; released by wfs_session_call_done() */
};
void wfs_session_call_done(struct wfs_session_call *call);

/**
 * wfs_session_act_called() - take the action that is a tool call of one of the principal's runs
 * When the policy asks for an approval that it has not, what is taken is that it waits: then
 * call->ask is set.
 * @call: kept until the answer
 * Return: as wfs_session_act.
 */
int wfs_session_act_called(const struct wfs_session *session, const json_t *action,
	struct wfs_session_call *call, struct wfs_request *request);

/**
 * wfs_session_wait_call() - has a tool call that has others take turns to wait for an approval?
 * @effect, @artifact: that it will be judged by; @artifact: may be NULL
 * @call, @request: as of wfs_session_act_called
 * Return: 1 (`done` will be called when it is recorded that it waits; call->ask is set), 0, or -errno.
 */
int wfs_session_wait_call(const struct wfs_session *session, enum wfs_effect effect,
	const char *artifact, struct wfs_session_call *call, struct wfs_request *request);

/** wfs_session_approve_call() - somebody has approved of the one tool call that the session is for, of @effect.
 *  What else the session is asked for still needs an approval. */
void wfs_session_approve_call(struct wfs_session *session, enum wfs_effect effect);

/** wfs_session_receipt() - tell what the world's driver was asked for, for the principal of a run. No
 *  right is needed for what was asked already. @charge: the grant that pays, "" for none */
int wfs_session_receipt(const struct wfs_session *session, const json_t *receipt,
	const char *charge, struct wfs_request *request);

/** wfs_session_check_journal() - is there room for a record of the principal? A receipt is always recorded, so what
 *  gives one must not begin without. Return: 0, -EDQUOT (quota_exceeded), … */
int wfs_session_check_journal(const struct wfs_session *session, struct wfs_error *error);

/**
 * wfs_session_generate() - may the principal have a model answer?
 * Who has used up its tokens may not.
 * @ret_charge: the grant whose budget pays, "" for none
 * @request: of no kind yet, its `done` set: a refusal is recorded
 * Return: 0, WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno.
 */
int wfs_session_generate(const struct wfs_session *session,
	char ret_charge[static WFS_GRANT_NAME_MAX + 1], struct wfs_request *request);

/*
 * The objects that these are given become the requests' actions. They stay the caller's, and must
 * live until `done` is called; request->answer then is {name}, {removed} or {id}.
 */

/**
 * wfs_session_grant() - grant, or pass on a part of what the session's principal holds
 * @grant: {cap, to, params?, name?, expires_at_ns?, budget?}
 */
int wfs_session_grant(
	const struct wfs_session *session, json_t *grant, struct wfs_request *request);

/** wfs_session_revoke() - take the grant {name} back, and all that was passed on from it: for who
 *  may grant, and who passed it on. */
int wfs_session_revoke(
	const struct wfs_session *session, json_t *revocation, struct wfs_request *request);

/** wfs_session_add_principal() - make the principal {id}, who holds nothing. */
int wfs_session_add_principal(
	const struct wfs_session *session, json_t *principal, struct wfs_request *request);

/**
 * wfs_session_admit_step() - may the principal have this agent take turns?
 * Asked before the agent's configuration is read, so that a refused principal learns nothing of it.
 * Return: as wfs_session_admit.
 */
int wfs_session_admit_step(
	const struct wfs_session *session, const char *agent, struct wfs_request *request);

/**
 * wfs_session_find_agent() - may the principal have the agent run, by the artifact's access?
 * The error for an agent that is hidden from the principal is the one for a missing agent.
 * Return: 0, -ENOENT (not_found), -EACCES (not_authorized), -EIO, -ENOMEM.
 */
int wfs_session_find_agent(const struct wfs_session *session, struct wfs_view *view,
	const char *agent, struct wfs_error *error);

/**
 * wfs_session_offers() - may the principal get this artifact as a tool?
 * Grants and policy must let the principal invoke the artifact, at least once somebody has
 * approved, and so must the artifact's access. What a contract would answer is not known yet; the
 * principal must then see the artifact in the tree.
 * @ret_state: the artifact's cell, when the answer is 1; caller owns it
 * Return: 1, 0 (not as a tool, or no such artifact), or -errno.
 */
int wfs_session_offers(const struct wfs_session *session, struct wfs_view *view, const char *id,
	json_t **ret_state);

/** wfs_session_step() - begin a run. @step: {agent, max_turns, messages, setup}, see kernel/domain/turn/turn.h.
 *  The answer is {run_id}. */
int wfs_session_step(const struct wfs_session *session, json_t *step, struct wfs_request *request);

/** wfs_session_cancel() - end the run {turn_id}. The principal that began the run may, and an
 *  administrator. */
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

/** wfs_session_chat() - say something, and have a plan made of it, or go on with one; see
 *  kernel/domain/plan/plan.h. The answer is {chat_id, plan_id?}. */
int wfs_session_chat(const struct wfs_session *session, json_t *chat, struct wfs_request *request);

/** wfs_session_plan_import() - a plan out of a blob. The answer is {chat_id}. */
int wfs_session_plan_import(
	const struct wfs_session *session, json_t *import, struct wfs_request *request);

/** wfs_session_plan_resume() - go on with {plan_id}. The principal that made the plan may, one with
 *  a drive grant for all plans, and an administrator; these may also stop it.
 *  The answer is {chat_id, plan_id}. */
int wfs_session_plan_resume(
	const struct wfs_session *session, json_t *resume, struct wfs_request *request);

/** wfs_session_leave_run() - end the run {turn_id}, which the principal has begun and does not wait for any more.
 *  For drivers: no right is needed, because the principal may have lost it since the run began. */
int wfs_session_leave_run(
	const struct wfs_session *session, json_t *cancel, struct wfs_request *request);

/** wfs_session_leave_plan() - likewise stop {plan_id}, or the chat {chat_id}. */
int wfs_session_leave_plan(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);

/** wfs_session_plan_stop() - stop {plan_id}, or the chat {chat_id}. */
int wfs_session_plan_stop(
	const struct wfs_session *session, json_t *stop, struct wfs_request *request);

/**
 * wfs_session_apply() - bring a manifest into force, or tell what that would change
 * @params: of WFS_EFFECT_WORLD_APPLY; kept until the answer
 * Return: as wfs_session_submit.
 */
int wfs_session_apply(const struct wfs_session *session, const struct wfs_params *params,
	struct wfs_request *request);

/** wfs_session_blob_writer() - begin to receive a blob that WFS_REQUEST_BLOB will name. */
int wfs_session_blob_writer(const struct wfs_session *session, struct wfs_blob_writer **ret_writer,
	struct wfs_error *error);

/**
 * wfs_session_snapshot() - compute the snapshot hash of the head and record it; waits
 * Thread: not the publisher's or a FUSE worker's, it reads every cell.
 * @progress: called now and then with cells done and in all; may be NULL
 */
int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request);

/**
 * wfs_session_gc() - go on with a collection; waits
 * Thread: not the publisher's or a FUSE worker's. See wfs_gc_advance.
 */
int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error);

/**
 * wfs_session_code() - code that ended the process that runs code; waits
 * @lift: a hash: this code may run again from now on; or NULL
 * @ret_rows: a row for each code that has crashed, after @lift; caller frees
 */
int wfs_session_code(const struct wfs_session *session, const struct wfs_hash *lift,
	struct wfs_quarantine_row **ret_rows, size_t *ret_count, struct wfs_error *error);
