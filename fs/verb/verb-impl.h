/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/: the table of verbs, and what their handlers share.
 *
 * A handler finds its payload checked for unknown and missing members, and judged by the effect
 * in its row. It sets call->result, and call->meta by opening its view with wfs_verb_view; then
 * the result gets it as `meta`. What a change gives (seqs, hash) stands alone, as spec 2 and 3 have
 * it: tens of thousands a second of them are answered. Errors always have meta.
 */
#pragma once

#include "fs/verb/verb.h"

/* Bounds of one answer. */
enum {
	WFS_VERB_PAGE_MAX = 1000,       /* items of one page of a listing, and its default */
	WFS_VERB_JOURNAL_MAX = 1 << 20, /* bytes of records after which journal-read ends a page */
	WFS_VERB_SCAN_MAX = 10000,    /* looked at for one page of records or names, seen or not */
	WFS_VERB_READ_MAX = 1 << 20,  /* bytes of one fs-read, and its default */
	WFS_VERB_BLOB_MAX = 11 << 20, /* bytes of one blob-get; larger ones go through fs-read */
	WFS_VERB_GC_MAX = 1 << 20,    /* versions that one page of gc looks at, about */
};

/* In the effect column: the session judges each part of the tree as it is read, or the action. */
enum { WFS_EFFECT_PER_READ = WFS_EFFECT_COUNT };

/* In the members column, see below. */
#define WFS_VERB_AS_EFFECT NULL

/*
 * X(handler, name, effect, slow, order, members of the payload; `?` marks an optional one)
 * WFS_VERB_AS_EFFECT: the verb takes what the effect takes and gives its receipt, both checked.
 * Slow: takes long enough to hold up others, wants a thread that may wait.
 * Order: WFS_ORDER_… of fs/verb/order.h; an `invoke` that is a query is a read.
 */
#define WFS_VERBS(X)                                                                             \
	X(manifest_read, "manifest-read", WFS_EFFECT_INTROSPECT_MANIFEST, false, READ,           \
		WFS_VERB_AS_EFFECT)                                                              \
	X(query_state, "query-state", WFS_EFFECT_INTROSPECT_REDUCER_STATE, false, READ,          \
		WFS_VERB_AS_EFFECT)                                                              \
	X(list_cells, "list-cells", WFS_EFFECT_INTROSPECT_LIST_CELLS, false, READ,               \
		WFS_VERB_AS_EFFECT)                                                              \
	X(journal_head, "journal-head", WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, false, READ,         \
		WFS_VERB_AS_EFFECT)                                                              \
	X(journal_read, "journal-read", WFS_EFFECT_INTROSPECT_JOURNAL, false, READ,              \
		WFS_VERB_AS_EFFECT)                                                              \
	X(turns, "turns", WFS_EFFECT_PER_READ, false, READ, "agent? cursor? limit?")             \
	X(query, "query", WFS_EFFECT_ACTION_QUERY_KERNEL, true, READ, "query_type params?")      \
	X(blob_get, "blob-get", WFS_EFFECT_BLOB_GET, true, READ, WFS_VERB_AS_EFFECT)             \
	X(blob_stat, "blob-stat", WFS_EFFECT_BLOB_GET, false, READ, "hash_hex")                  \
	X(put_blob, "put-blob", WFS_EFFECT_BLOB_PUT, true, CHANGE, WFS_VERB_AS_EFFECT)           \
	X(invoke, "invoke", WFS_EFFECT_PER_READ, false, CHANGE, "action")                        \
	X(send_event, "send-event", WFS_EFFECT_EVENT_EMIT, false, CHANGE, WFS_VERB_AS_EFFECT)    \
	X(step, "step", WFS_EFFECT_AGENT_STEP, false, TURN, WFS_VERB_AS_EFFECT)                  \
	X(chat, "chat", WFS_EFFECT_PLAN_RUN, false, TURN,                                        \
		"batch_size? max_concurrency? message? plan_id? session_id? wait?")              \
	X(plans, "plans", WFS_EFFECT_PER_READ, false, READ, "cursor? limit? session_id?")        \
	X(plan_status, "plan-status", WFS_EFFECT_PER_READ, false, READ, "plan_id? session_id?")  \
	X(plan_resume, "plan-resume", WFS_EFFECT_PLAN_RUN, false, TURN,                          \
		"plan_id retry_failed? wait?")                                                   \
	X(plan_cancel, "plan-cancel", WFS_EFFECT_PLAN_CANCEL, false, AT_ONCE, "plan_id")         \
	X(plan_import, "plan-import", WFS_EFFECT_PLAN_RUN, false, TURN,                          \
		"batch_size? blob max_concurrency? rerun? resume? session_id?")                  \
	X(cancel, "cancel", WFS_EFFECT_AGENT_CANCEL, false, AT_ONCE, WFS_VERB_AS_EFFECT)         \
	X(approve, "approve", WFS_EFFECT_AGENT_APPROVE, false, AT_ONCE, WFS_VERB_AS_EFFECT)      \
	X(grant, "grant", WFS_EFFECT_WORLD_GRANT, false, RIGHTS, WFS_VERB_AS_EFFECT)             \
	X(revoke, "revoke", WFS_EFFECT_WORLD_REVOKE, false, RIGHTS, WFS_VERB_AS_EFFECT)          \
	X(principal, "principal", WFS_EFFECT_WORLD_PRINCIPAL, false, RIGHTS, WFS_VERB_AS_EFFECT) \
	X(apply, "apply", WFS_EFFECT_WORLD_APPLY, true, WORLD, WFS_VERB_AS_EFFECT)               \
	X(snapshot, "snapshot", WFS_EFFECT_WORLD_SNAPSHOT, true, WORLD, WFS_VERB_AS_EFFECT)      \
	X(gc, "gc", WFS_EFFECT_WORLD_GC, true, WORLD, WFS_VERB_AS_EFFECT)                        \
	X(code, "code", WFS_EFFECT_WORLD_CODE, true, WORLD, WFS_VERB_AS_EFFECT)                  \
	X(mount, "mount", WFS_EFFECT_WORLD_MOUNT, true, WORLD, WFS_VERB_AS_EFFECT)               \
	X(umount, "umount", WFS_EFFECT_WORLD_MOUNT, true, WORLD, "dir")                          \
	X(status, "status", WFS_EFFECT_INTROSPECT_STATUS, false, READ, WFS_VERB_AS_EFFECT)       \
	X(metrics, "metrics", WFS_EFFECT_INTROSPECT_STATUS, false, READ, "")                     \
	X(shutdown, "shutdown", WFS_EFFECT_WORLD_SHUTDOWN, false, AT_ONCE, WFS_VERB_AS_EFFECT)   \
	X(fs_list, "fs-list", WFS_EFFECT_PER_READ, false, READ, "path at? cursor? limit?")       \
	X(fs_stat, "fs-stat", WFS_EFFECT_PER_READ, false, READ, "path at?")                      \
	X(fs_read, "fs-read", WFS_EFFECT_PER_READ, false, READ, "path at? offset? limit?")

/* What a handler returns when `done` of its request will finish the call. */
enum { WFS_VERB_PENDING = 1 };

/* Return: 0 (call->result is set), WFS_VERB_PENDING, or -errno. */
#define WFS_VERB_DECLARE(handler, name, effect, slow, order, members) \
	int wfs_verb_##handler(struct wfs_call *call);
WFS_VERBS(WFS_VERB_DECLARE)
#undef WFS_VERB_DECLARE

/**
 * wfs_verb_drive() - ask the driver of the world's agents for @what, with the payload as parameters
 * @done: ends with wfs_verb_driven()
 * Return: WFS_VERB_PENDING, or -errno.
 */
int wfs_verb_drive(
	struct wfs_call *call, enum wfs_drive_what what, void (*done)(struct wfs_drive *drive));

/** wfs_verb_driven() - finish the call; after a failure it has the result beside the error. */
void wfs_verb_driven(struct wfs_drive *drive);

/** wfs_verb_order() - give the payload as an action. Return: WFS_VERB_PENDING, or -errno. */
int wfs_verb_order(struct wfs_call *call,
	int (*give)(const struct wfs_session *, json_t *, struct wfs_request *));

/** wfs_verb_meta() - set call->meta to where @view stands. */
int wfs_verb_meta(struct wfs_call *call, struct wfs_view *view);

/** wfs_verb_text() - an optional string member; @ret_text keeps its value when it is absent. */
int wfs_verb_text(struct wfs_call *call, const char *name, const char **ret_text);

/** wfs_verb_flag() - an optional boolean member; false when it is absent. */
int wfs_verb_flag(struct wfs_call *call, const char *name, bool *ret_flag);

/** wfs_verb_base64() - decode an optional string member behind @buffer. */
int wfs_verb_base64(struct wfs_call *call, const char *name, struct wfs_buffer *buffer);

/** wfs_verb_limit() - the member `limit`, at most @maximum, which is also the default. */
int wfs_verb_limit(struct wfs_call *call, uint64_t maximum, uint64_t *ret_limit);

/** wfs_verb_cursor() - the member `cursor` as a listing gave it; 0 when it is absent. */
int wfs_verb_cursor(struct wfs_call *call, uint64_t *ret_cursor);

/** wfs_verb_cursor_set() - put `next_cursor` into the result. Return: 0, or -ENOMEM. */
int wfs_verb_cursor_set(const struct wfs_call *call, uint64_t cursor);

/**
 * wfs_verb_view() - open the view that a text form of consistency asks for, and set call->meta
 * @consistency: NULL: head
 */
int wfs_verb_view(struct wfs_call *call, const char *consistency, struct wfs_view *ret_view);
