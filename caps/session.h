/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door: a session is a principal at work in a world.
 *
 * Mounts, control files, socket and command line hold a session and call nothing below it. Every
 * call names the effect kind it is (kernel/manifest/effect.h), is judged once, and is forwarded to
 * one entry of the kernel. What a principal may not see is answered as if it were not there (-ENOENT).
 * Source: design §2; spec 3.
 * Thread: any; a session is immutable.
 */
#pragma once

#include "kernel/consistency.h"
#include "kernel/gc.h"
#include "kernel/introspect.h"
#include "kernel/manifest/effect.h"
#include "kernel/view.h"
#include "kernel/world.h"

struct wfs_session;

/**
 * wfs_session_new() - act as @principal in @world
 * @world: kept; must outlive the session
 * Return: 0, -ENOENT (not_found: no such principal), -ENOMEM.
 */
int wfs_session_new(struct wfs_world *world, const char *principal,
	struct wfs_session **ret_session, struct wfs_error *error);
void wfs_session_free(struct wfs_session *session);
WFS_DEFINE_AUTO(session, struct wfs_session, wfs_session_free)
#define WFS_AUTO_SESSION WFS_CLEANUP(wfs_auto_session)

const char *wfs_session_principal(const struct wfs_session *session);

/** wfs_session_world() - for life-cycle calls (observe, directory, id); not for reading. */
struct wfs_world *wfs_session_world(const struct wfs_session *session);

/**
 * wfs_session_judge() - may this session do @effect?
 * Return: 0, or -EACCES (not_authorized, policy_denied, expired).
 */
int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error);

/* --- reading; see kernel/view.h for what each gives and when it is -ENOENT --- */

int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);
int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta);
int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_version *ret_version);
int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer);
int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer);
int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_version *ret_version);
int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_entry_walk *ret_walk);
int wfs_session_next_key(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, const struct wfs_bytes *after, struct wfs_bytes *ret_key,
	struct wfs_version *ret_version);
int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version);
int wfs_session_version_name(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_bytes *ret_reducer,
	struct wfs_bytes *ret_key);
int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error);
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
int wfs_session_figures(const struct wfs_session *session, struct wfs_world_figures *ret_figures,
	struct wfs_error *error);

/**
 * wfs_session_introspect() - ask the world about itself; see wfs_introspect
 * @effect: one of those that wfs_introspects
 * @ret_payload: the answer; of a failure {"code","message","meta"?}, or NULL. Caller owns it.
 * Return: 0, -EACCES, or as wfs_introspect.
 */
int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error);

/* --- changing --- */

/**
 * wfs_session_submit() - judge a request by its kind, then wfs_world_submit
 * request->principal is set to the session's. On failure request->error says why and `done` is
 * not called.
 */
int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request);

/** wfs_session_call() - the same, waiting for the answer. */
int wfs_session_call(const struct wfs_session *session, struct wfs_request *request);

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
