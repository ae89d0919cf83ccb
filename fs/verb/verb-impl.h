/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/verb/: the handlers of verbs, and what they share.
 *
 * A handler finds its payload checked for unknown and missing members, and judged by the effect
 * in its row. It sets call->result, and call->meta by opening its view with wfs_verb_view; then
 * the result gets it as `meta`. Results of changes (seqs, hash) have no meta,
 * because tens of thousands of them are answered in a second. Errors always have meta.
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

/* What a handler returns when `done` of its request will finish the call. */
enum { WFS_VERB_PENDING = 1 };

/* A handler. Return: 0 (call->result is set), WFS_VERB_PENDING, or -errno. */
typedef int wfs_verb_handler(struct wfs_call *call);
wfs_verb_handler wfs_verb_manifest_read, wfs_verb_query_state, wfs_verb_list_cells,
	wfs_verb_journal_head, wfs_verb_journal_read, wfs_verb_turns, wfs_verb_query,
	wfs_verb_blob_get, wfs_verb_blob_stat, wfs_verb_put_blob, wfs_verb_invoke,
	wfs_verb_send_event, wfs_verb_step, wfs_verb_chat, wfs_verb_plans, wfs_verb_plan_status,
	wfs_verb_plan_resume, wfs_verb_plan_cancel, wfs_verb_plan_import, wfs_verb_cancel,
	wfs_verb_approve, wfs_verb_grant, wfs_verb_revoke, wfs_verb_principal, wfs_verb_apply,
	wfs_verb_snapshot, wfs_verb_gc, wfs_verb_code, wfs_verb_mount, wfs_verb_umount,
	wfs_verb_status, wfs_verb_metrics, wfs_verb_shutdown, wfs_verb_fs_list, wfs_verb_fs_stat,
	wfs_verb_fs_read;

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
