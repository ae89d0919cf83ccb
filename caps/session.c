/* SPDX-License-Identifier: Apache-2.0 */
/* Judging and forwarding. */
#include "caps/session.h"

#include "kernel/snapshot.h"

struct wfs_session {
	struct wfs_world *world;
	char *principal;
	bool granted[WFS_EFFECT_COUNT]; /* resolved when the session was made */
};

int wfs_session_new(struct wfs_world *world, const char *principal,
	struct wfs_session **ret_session, struct wfs_error *error)
{
	/* One principal so far, which init makes and which holds every capability. */
	if (strcmp(principal, WFS_PRINCIPAL_OPERATOR) != 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"no principal '%s' (there are: " WFS_PRINCIPAL_OPERATOR ")", principal);
	WFS_AUTO_SESSION struct wfs_session *session = calloc(1, sizeof(*session));

	if (session)
		session->principal = strdup(principal);
	if (!session || !session->principal)
		return wfs_error_from_errno(error, -ENOMEM, "begin a session");
	session->world = world;
	for (size_t i = 0; i < WFS_EFFECT_COUNT; i++)
		session->granted[i] = true;
	*ret_session = WFS_STEAL(session);
	return 0;
}

void wfs_session_free(struct wfs_session *session)
{
	if (!session)
		return;
	free(session->principal);
	free(session);
}

const char *wfs_session_principal(const struct wfs_session *session)
{
	return session->principal;
}

struct wfs_world *wfs_session_world(const struct wfs_session *session)
{
	return session->world;
}

int wfs_session_judge(
	const struct wfs_session *session, enum wfs_effect effect, struct wfs_error *error)
{
	if (session->granted[effect])
		return 0;
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' holds no capability of type '%s', which %s needs", session->principal,
		wfs_effect_cap_type(effect), wfs_effect_kind(effect));
}

/* --- reading --- */

/* Judges, then gives the kernel's answer. */
#define FORWARD(effect, call)                                            \
	do {                                                             \
		int judged = wfs_session_judge(session, (effect), NULL); \
		return judged ? judged : (call);                         \
	} while (0)

int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, error);

	return r ? r : wfs_view_open(session->world, height, ret_view, error);
}

int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta)
{
	FORWARD(WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, wfs_view_meta(view, ret_meta));
}

int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_version *ret_version)
{
	FORWARD(WFS_EFFECT_INTROSPECT_MANIFEST, wfs_view_manifest(view, ret_version));
}

int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer)
{
	FORWARD(WFS_EFFECT_INTROSPECT_LIST_CELLS,
		wfs_view_reducer(view, name, name_size, ret_reducer));
}

int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer)
{
	FORWARD(WFS_EFFECT_INTROSPECT_LIST_CELLS,
		wfs_view_reducer_by_id(view, reducer_id, ret_reducer));
}

int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer)
{
	FORWARD(WFS_EFFECT_INTROSPECT_LIST_CELLS,
		wfs_view_reducer_next(view, after, ret_name, ret_reducer));
}

int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_version *ret_version)
{
	FORWARD(WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		wfs_view_cell(view, reducer_id, key, ret_version));
}

int wfs_session_cells(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	uint64_t after_id, struct wfs_entry_walk *ret_walk)
{
	FORWARD(WFS_EFFECT_INTROSPECT_LIST_CELLS,
		wfs_entry_walk_init(ret_walk, view, reducer_id, after_id));
}

int wfs_session_next_key(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, const struct wfs_bytes *after, struct wfs_bytes *ret_key,
	struct wfs_version *ret_version)
{
	FORWARD(WFS_EFFECT_INTROSPECT_LIST_CELLS,
		wfs_view_next_key(view, reducer_id, after, ret_key, ret_version));
}

int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_version *ret_version)
{
	FORWARD(WFS_EFFECT_INTROSPECT_REDUCER_STATE, wfs_view_version(view, vid, ret_version));
}

int wfs_session_version_name(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_bytes *ret_reducer, struct wfs_bytes *ret_key)
{
	FORWARD(WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		wfs_view_name(view, version, ret_reducer, ret_key));
}

int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_INTROSPECT_REDUCER_STATE, error);

	return r ? r : wfs_view_content(view, version, range, ret_content, error);
}

int wfs_session_blob(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_hash *hash, struct wfs_blob *ret_blob,
	struct wfs_blob_listing *ret_listing)
{
	FORWARD(WFS_EFFECT_BLOB_GET, wfs_view_blob(view, hash, ret_blob, ret_listing));
}

int wfs_session_blob_listed(const struct wfs_session *session, struct wfs_view *view,
	uint64_t listed_id, struct wfs_blob *ret_blob, struct wfs_blob_listing *ret_listing)
{
	FORWARD(WFS_EFFECT_BLOB_GET, wfs_view_blob_listed(view, listed_id, ret_blob, ret_listing));
}

int wfs_session_blob_last(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_listed_id)
{
	FORWARD(WFS_EFFECT_BLOB_GET, wfs_view_blob_last(view, ret_listed_id));
}

int wfs_session_blob_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_blob *blob, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_GET, error);

	return r ? r : wfs_view_blob_content(view, blob, range, ret_content, error);
}

int wfs_session_record(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_bytes *ret_line)
{
	FORWARD(WFS_EFFECT_INTROSPECT_JOURNAL, wfs_view_record(view, seq, ret_line));
}

int wfs_session_record_time(
	const struct wfs_session *session, struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns)
{
	FORWARD(WFS_EFFECT_INTROSPECT_JOURNAL, wfs_view_record_time(view, seq, ret_at_ns));
}

int wfs_session_journal_size(
	const struct wfs_session *session, struct wfs_view *view, uint64_t *ret_size_bytes)
{
	FORWARD(WFS_EFFECT_INTROSPECT_JOURNAL, wfs_view_journal_size(view, ret_size_bytes));
}

int wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	uint64_t offset, size_t size, struct wfs_buffer *buffer)
{
	FORWARD(WFS_EFFECT_INTROSPECT_JOURNAL, wfs_view_journal_read(view, offset, size, buffer));
}

int wfs_session_figures(const struct wfs_session *session, struct wfs_world_figures *ret_figures,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_INTROSPECT_STATUS, error);

	if (!r)
		wfs_world_figures(session->world, ret_figures);
	return r;
}

struct session_introspector {
	struct wfs_introspector introspector; /* first: open_for_session casts back */
	const struct wfs_session *session;
};

static int open_for_session(const struct wfs_introspector *introspector, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error)
{
	const struct session_introspector *self = (const struct session_introspector *)introspector;

	return wfs_session_view(self->session, height, ret_view, error);
}

int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error)
{
	const struct session_introspector self = {{.open = open_for_session}, session};
	int r = wfs_session_judge(session, effect, error);

	*ret_payload = NULL;
	return r ? r : wfs_introspect(&self.introspector, effect, params, ret_payload, error);
}

/* --- changing --- */

static enum wfs_effect effect_of(enum wfs_request_kind kind)
{
	switch (kind) {
	case WFS_REQUEST_EVENT:
		return WFS_EFFECT_EVENT_EMIT;
	case WFS_REQUEST_BLOB:
		return WFS_EFFECT_BLOB_PUT;
	case WFS_REQUEST_SNAPSHOT:
		return WFS_EFFECT_WORLD_SNAPSHOT;
	case WFS_REQUEST_GC:
		return WFS_EFFECT_WORLD_GC;
	case WFS_REQUEST_ACTION:
		return WFS_EFFECT_WORLD_GRANT;
	case WFS_REQUEST_DECISION:
		break; /* nobody asks for one */
	}
	wfs_require(false && "a request of no kind");
	return WFS_EFFECT_COUNT;
}

static int admit(const struct wfs_session *session, struct wfs_request *request)
{
	request->principal = session->principal;
	return wfs_session_judge(session, effect_of(request->kind), &request->error);
}

int wfs_session_submit(const struct wfs_session *session, struct wfs_request *request)
{
	int r = admit(session, request);

	return r ? r : wfs_world_submit(session->world, request);
}

int wfs_session_call(const struct wfs_session *session, struct wfs_request *request)
{
	int r = admit(session, request);

	return r ? r : wfs_world_call(session->world, request);
}

int wfs_session_blob_writer(const struct wfs_session *session, struct wfs_blob_writer **ret_writer,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_BLOB_PUT, error);

	if (r)
		return r;
	r = wfs_blob_writer_new(wfs_world_store(session->world), ret_writer);
	return r ? wfs_error_from_errno(error, r, "receive a blob") : 0;
}

int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT};
	struct wfs_view view = {0};
	int r = wfs_session_judge(session, WFS_EFFECT_WORLD_SNAPSHOT, &request.error);

	if (!r)
		r = wfs_view_open(session->world, WFS_HEIGHT_HEAD, &view, &request.error);
	request.snapshot_height = view.height;
	wfs_view_close(&view);
	if (!r)
		r = wfs_snapshot_hash(session->world, request.snapshot_height, progress, context,
			&request.snapshot_hash, &request.error);
	if (!r)
		r = wfs_session_call(session, &request);
	*ret_request = request;
	return wfs_trace(r);
}

int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error)
{
	int r = wfs_session_judge(session, WFS_EFFECT_WORLD_GC, error);

	return r ? r : wfs_gc_advance(session->world, gc, session->principal, rows_max, error);
}
