/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/verb/: the handlers of verbs, and functions that they share.
 *
 * Before a handler is called, the payload was checked by its form (the verb's row in verb_table),
 * and the call was judged by the effect in this row. The handler sets call->result. If the handler
 * opens its view with wfs_verb_view(), that sets call->meta, which becomes the member `meta` of the
 * result.
 * Results of changes (seqs, hash) have no meta, because tens of thousands of them are answered in a
 * second. Errors have meta, unless the caller may query nothing.
 */
#pragma once

#include "fs/verb/order.h"
#include "fs/verb/verb.h"

struct wfs_view;

/* Bounds of one answer. */
enum {
	WFS_VERB_PAGE_MAX = 1000,       /* items of one page of a listing, and its default */
	WFS_VERB_JOURNAL_MAX = 1 << 20, /* bytes of records after which journal-read ends a page */
	/* records or names looked at for one page, with hidden ones */
	WFS_VERB_SCAN_MAX = 10000,
	WFS_VERB_READ_MAX = 1 << 20, /* bytes of one fs-read, and its default */
	WFS_VERB_GC_MAX = 1 << 20,   /* about the versions that one page of gc looks at */
};

/* A handler returns this if the call is not finished yet: the answer to a request, or the driver,
 * will finish it. */
enum { WFS_VERB_PENDING = 1 };

/* A handler. Return: 0 (call->result is set), WFS_VERB_PENDING, or -errno. */
typedef int wfs_verb_handler(struct wfs_call *call);
wfs_verb_handler wfs_verb_manifest_read, wfs_verb_query_state, wfs_verb_list_cells,
	wfs_verb_journal_head, wfs_verb_journal_read, wfs_verb_turns, wfs_verb_timers,
	wfs_verb_intents, wfs_verb_intent_resolve, wfs_verb_tool, wfs_verb_tools, wfs_verb_query,
	wfs_verb_blob_get, wfs_verb_blob_stat, wfs_verb_put_blob, wfs_verb_invoke,
	wfs_verb_send_event, wfs_verb_step, wfs_verb_step_again, wfs_verb_chat, wfs_verb_plans,
	wfs_verb_plan_status, wfs_verb_plan_resume, wfs_verb_plan_cancel, wfs_verb_plan_import,
	wfs_verb_cancel, wfs_verb_wake, wfs_verb_approve, wfs_verb_grant, wfs_verb_revoke,
	wfs_verb_principal, wfs_verb_apply, wfs_verb_snapshot, wfs_verb_gc, wfs_verb_code,
	wfs_verb_mount, wfs_verb_umount, wfs_verb_status, wfs_verb_metrics, wfs_verb_shutdown,
	wfs_verb_replicas, wfs_verb_handover, wfs_verb_fs_list, wfs_verb_fs_stat, wfs_verb_fs_read;

/* In place of an effect in a verb's row: the call is not judged as a whole; the session judges each
 * part of the tree that the handler reads, or the action that it sends. */
enum { WFS_EFFECT_PER_READ = WFS_EFFECT_COUNT };

/* One row of the table of verbs; static lifetime. */
struct verb {
	const char *name;
	wfs_verb_handler *handler;
	int effect; /* enum wfs_effect, or WFS_EFFECT_PER_READ */
	bool slow;  /* see wfs_verb_slow() (fs/verb/verb.h) */
	enum wfs_order_kind order;
	bool here; /* it is about this process, also if another node owns the world */
	/* What the verb does, its payload, and its result; NULL: those of `effect`
	 * (kernel/manifest/effect.h). */
	const char *help;
	const struct wfs_form *params;
	const struct wfs_form *answer;
};

extern const struct verb verb_table[];
extern const size_t verb_count;

/** verb_help() - get the text that says what a verb does; static. */
const char *verb_help(const struct verb *verb);

/** verb_params() - get the form (kernel/base/form.h) of a verb's payload, which is of the kind
 *  record; static. */
const struct wfs_form *verb_params(const struct verb *verb);

/** verb_answer() - get the form (kernel/base/form.h) of a verb's result; static. */
const struct wfs_form *verb_answer(const struct verb *verb);

/** wfs_verb_drive() - ask the driver for @what, with call->payload as parameters (WFS_DRIVES in
 *  caps/drive.h says which parameters each @what has)
 *  @done: called once with &call->drive, on any thread, when the driver has done @what, or has
 *  failed; must call wfs_verb_driven() last, or end the call itself
 *  Return: WFS_VERB_PENDING, or -EOPNOTSUPP with call->error (not_enabled: no driver runs), and
 *  @done is not called. */
int wfs_verb_drive(
	struct wfs_call *call, enum wfs_drive_what what, void (*done)(struct wfs_drive *drive));

/** wfs_verb_driven() - finish the call for which wfs_verb_drive() was called, with the result and
 *  the error in @drive; a failure may have a result, too, which becomes the details of the error
 *  @drive: part of the call; finishing may free the call, so the caller must use neither after
 *  this */
void wfs_verb_driven(struct wfs_drive *drive);

/** wfs_verb_order() - send call->payload as an action. @give: a function of caps/session-*.h that
 *  submits the action, for instance wfs_session_cancel() (caps/session-turn.h); the payload stays
 *  the call's
 *  Return: WFS_VERB_PENDING (the answer to the action finishes the call), or -errno with
 *  call->error. */
int wfs_verb_order(struct wfs_call *call,
	int (*give)(const struct wfs_session *, json_t *, struct wfs_request *));

/** wfs_verb_meta() - set call->meta to height and hashes of @view; on failure, call->meta is NULL
 *  or unchanged. Return: 0, or -errno. */
int wfs_verb_meta(struct wfs_call *call, struct wfs_view *view);

/** wfs_verb_text() - get the text that is the member @name of the payload; borrowed from the
 *  payload; NULL if the member is absent. */
const char *wfs_verb_text(const struct wfs_call *call, const char *name);

/** wfs_verb_flag() - is the member @name of the payload true? */
bool wfs_verb_flag(const struct wfs_call *call, const char *name);

/** wfs_verb_base64() - decode the base64 member @name of the payload, if any, and append its bytes
 *  to @buffer. Return: 0, -EINVAL with call->error (not base64), or -ENOMEM. */
int wfs_verb_base64(struct wfs_call *call, const char *name, struct wfs_buffer *buffer);

/** wfs_verb_limit() - read the member `limit` of the payload: 1 to @maximum, which is also the
 *  default. Return: 0, or -EINVAL with call->error (not such a number). */
int wfs_verb_limit(struct wfs_call *call, uint64_t maximum, uint64_t *ret_limit);

/** wfs_verb_cursor() - read the member `cursor` of the payload, which an earlier answer gave as
 *  `next_cursor`. @ret_cursor: the number that wfs_verb_cursor_set() was called with for that
 *  answer; 0 if `cursor` is absent. Return: 0, -EINVAL with call->error (not a cursor), or
 *  -ENOMEM. */
int wfs_verb_cursor(struct wfs_call *call, uint64_t *ret_cursor);

/** wfs_verb_cursor_set() - put @cursor, a number above 0 from which the next page begins, into
 *  call->result as `next_cursor`. Return: 0, or -ENOMEM. */
int wfs_verb_cursor_set(const struct wfs_call *call, uint64_t cursor);

/**
 * wfs_verb_view() - open a view at the height that @consistency asks for, and set call->meta
 * @consistency: head, exact:HEIGHT or at_least:HEIGHT (kernel/value/consistency.h); NULL: head
 * @ret_view: set on success; caller closes it with wfs_session_view_close() (caps/session-read.h)
 * Return: 0, or -errno with call->error (-EINVAL: not a consistency; -ENOENT: no such height; …).
 */
int wfs_verb_view(struct wfs_call *call, const char *consistency, struct wfs_view *ret_view);
