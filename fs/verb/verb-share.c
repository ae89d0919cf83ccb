/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that verbs share: members of the payload, parts of the result, views, the end of a
 * call. */
#include <string.h>

#include "caps/session-read.h"
#include "caps/session.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/permutation.h"

const char *wfs_verb_text(const struct wfs_call *call, const char *name)
{
	return json_string_value(json_object_get(call->payload, name));
}

bool wfs_verb_flag(const struct wfs_call *call, const char *name)
{
	return json_is_true(json_object_get(call->payload, name));
}

int wfs_verb_base64(struct wfs_call *call, const char *name, struct wfs_buffer *buffer)
{
	return wfs_json_get_base64(call->payload, name, buffer, &call->error);
}

int wfs_verb_limit(struct wfs_call *call, uint64_t maximum, uint64_t *ret_limit)
{
	int64_t limit = (int64_t)maximum;
	int r = wfs_json_get_integer(call->payload, "limit", 1, limit, &limit, &call->error);

	if (!r)
		*ret_limit = (uint64_t)limit;
	return r;
}

int wfs_verb_cursor(struct wfs_call *call, uint64_t *ret_cursor)
{
	struct wfs_permutation permutation;
	int r = wfs_session_cursors(call->session, &permutation);

	return r < 0 ? r
		     : wfs_json_get_cursor(
			       call->payload, r ? &permutation : NULL, ret_cursor, &call->error);
}

int wfs_verb_cursor_set(const struct wfs_call *call, uint64_t cursor)
{
	struct wfs_permutation permutation;
	int r = wfs_session_cursors(call->session, &permutation);

	return r < 0 ? r : wfs_json_set_cursor(call->result, r ? &permutation : NULL, cursor);
}

int wfs_verb_meta(struct wfs_call *call, struct wfs_view *view)
{
	struct wfs_meta meta;
	int r = wfs_session_meta(call->session, view, &meta);

	if (r)
		return wfs_error_from_errno(&call->error, r, "read the height of the world");
	json_decref(call->meta);
	call->meta = wfs_meta_document(&meta);
	return call->meta ? 0 : -ENOMEM;
}

int wfs_verb_view(struct wfs_call *call, const char *consistency, struct wfs_view *ret_view)
{
	struct wfs_consistency wanted = {.kind = WFS_CONSISTENCY_HEAD};
	struct wfs_view view;
	uint64_t height;
	int r = 0;

	if (consistency)
		r = wfs_consistency_parse(consistency, &wanted, &call->error);
	if (!r)
		r = wfs_consistency_height(&wanted, &height, &call->error);
	if (!r)
		r = wfs_session_view(call->session, height, &view, &call->error);
	if (r)
		return r;
	r = wfs_consistency_check(&wanted, view.height, &call->error);
	if (!r)
		r = wfs_verb_meta(call, &view);
	if (r) {
		wfs_session_view_close(&view);
		return r;
	}
	*ret_view = view;
	return 0;
}

/* --- the end of a call --- */

/* Gives an error the head's meta if the verb has read nothing, and the principal may query
 * anything. */
static void default_meta(struct wfs_call *call)
{
	struct wfs_error ignored;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};

	if (call->stranger || !wfs_session_queries(call->session))
		json_decref(WFS_STEAL(call->meta));
	else if (!call->meta &&
		wfs_session_view(call->session, WFS_HEIGHT_HEAD, &view, &ignored) == 0) {
		const struct wfs_error error = call->error;

		(void)wfs_verb_meta(call, &view);
		call->error = error;
	}
}

/* An answer that is not as the manual says is a defect of this program. */
static int check_answer(struct wfs_call *call)
{
	struct wfs_error reason = {.code = WFS_OK};
	const int r = call->answer ? wfs_form_check(call->answer, call->result, &reason) : 0;

	return r == -EINVAL ? wfs_error_set(&call->error, WFS_E_INTERNAL_ERROR,
				      "the answer is not as defined: %.300s", reason.message)
			    : r;
}

void wfs_verb_finish(struct wfs_call *call, int r)
{
	struct wfs_host *const host = call->host;

	if (!r && call->meta && json_object_set(call->result, "meta", call->meta) < 0)
		r = -ENOMEM;
	if (!r)
		r = check_answer(call);
	if (r) {
		json_decref(WFS_STEAL(call->result));
		wfs_read_describe(&call->error, r);
		default_meta(call);
	}
	if (r && host && !host->quiet && call->error.code == WFS_E_HASH_MISMATCH)
		wfs_log_for(wfs_session_principal(call->session), WFS_LOG_SOCKET, WFS_LOG_ERR,
			"refused to serve damaged content: %s", call->error.message);
	/* The damage may be in a cell that the principal may not see, and the message would name
	 * it. */
	if (r && call->error.code == WFS_E_HASH_MISMATCH && !wfs_session_sees_all(call->session))
		(void)wfs_error_set(
			&call->error, WFS_E_HASH_MISMATCH, "stored bytes do not have their hash");
	if (r == -EACCES && host && !host->quiet)
		wfs_log_for(wfs_session_principal(call->session), WFS_LOG_SOCKET, WFS_LOG_INFO,
			"refused: %s", call->error.message);
	call->status = r;
	call->done(call);
	/* The owner ends, because it cannot read or store any more; a new one begins from the
	 * disk. */
	if (r == -ENOTRECOVERABLE && host && host->shutdown) {
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_ERR,
			"the store must be opened again after a failed write: ending");
		host->shutdown(host);
	}
}

void wfs_call_done(struct wfs_call *call)
{
	if (call->handed_count > 0)
		wfs_handed_close(&call->handed);
	call->handed_count = 0;
	json_decref(WFS_STEAL(call->payload));
	json_decref(WFS_STEAL(call->result));
	json_decref(WFS_STEAL(call->meta));
	json_decref(WFS_STEAL(call->error_details));
}

static json_t *error_document(const struct wfs_call *call)
{
	const struct wfs_error_info *const info = wfs_error_info(call->error.code);

	return json_pack("{s:s, s:s, s:O*, s:s, s:b}", "category", info->category, "code",
		info->name, "details", call->error_details, "message", call->error.message,
		"retriable", (int)info->retriable);
}

json_t *wfs_call_envelope(const struct wfs_call *call, const char *id)
{
	WFS_AUTO_JSON json_t *envelope = json_pack("{s:b}", "ok", (int)(call->status == 0));
	int bad = envelope ? 0 : -1;

	if (id)
		bad |= json_object_set_new(envelope, "id", json_string(id));
	if (call->status == 0) {
		bad |= json_object_set(envelope, "result", call->result);
	} else {
		bad |= json_object_set_new(envelope, "error", error_document(call));
		if (call->meta)
			bad |= json_object_set(envelope, "meta", call->meta);
	}
	return bad ? NULL : WFS_STEAL(envelope);
}
