/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of verbs share: members of the payload, parts of the result, views. */
#include <string.h>

#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

int wfs_verb_text(struct wfs_call *call, const char *name, const char **ret_text)
{
	if (!json_object_get(call->payload, name))
		return 0;
	return wfs_json_get_string(call->payload, name, ret_text, &call->error);
}

int wfs_verb_flag(struct wfs_call *call, const char *name, bool *ret_flag)
{
	const json_t *const value = json_object_get(call->payload, name);

	if (value && !json_is_boolean(value))
		return wfs_error_set(
			&call->error, WFS_E_INVALID_ARGUMENT, "'%s': expected true or false", name);
	*ret_flag = json_is_true(value);
	return 0;
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
		wfs_view_close(&view);
		return r;
	}
	*ret_view = view;
	return 0;
}
