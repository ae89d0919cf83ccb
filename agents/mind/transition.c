/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a model answered when it was asked for the next state. */
#include "agents/mind/transition.h"

#include "agents/mind/mind-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/span.h"
#include "kernel/base/text.h"

enum { TEXT_SHOWN_BYTES = 80 }; /* of the answer, in messages */

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "read a transition")

/* @object: accepted by the grammar */
static bool has_next_state(struct wfs_bytes object)
{
	struct wfs_span_object members = wfs_span_object(object);

	while (wfs_span_next(&members) > 0)
		if (wfs_bytes_equal(members.name, wfs_bytes_text("\"next_state\"")))
			return true;
	return false;
}

/* Finds the first object with a next_state. @ret_count: examined objects. Return: 1, 0, -errno. */
static int find_reply(struct wfs_bytes text, struct wfs_bytes *ret_object, size_t *ret_count)
{
	struct wfs_bytes rest = text;
	int r;

	for (*ret_count = 0; *ret_count < WFS_MIND_REPLY_OBJECTS_MAX; ++*ret_count) {
		r = wfs_find_object(rest, ret_object);
		if (r <= 0 || has_next_state(*ret_object))
			return r;
		/* Continue with the contents of the object. */
		const char *const inside = (const char *)ret_object->data + 1;

		rest.size -= (size_t)(inside - (const char *)rest.data);
		rest.data = inside;
	}
	return 0;
}

static int refuse_text(struct wfs_bytes text, size_t object_count, struct wfs_error *error)
{
	const int shown = (int)(text.size < TEXT_SHOWN_BYTES ? text.size : TEXT_SHOWN_BYTES);

	if (object_count > 0)
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"expected {\"next_state\": …, \"reason\": …}, got no object with "
			"'next_state': '%.*s'",
			shown, (const char *)text.data);
	return wfs_error_set(error, WFS_E_INVALID_JSON,
		"expected {\"next_state\": …, \"reason\": …}, got no complete JSON object: '%.*s'",
		shown, text.size > 0 ? (const char *)text.data : "");
}

static int find_next(
	const json_t *next, const json_t *states, const char **ret_next, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	size_t i;
	const json_t *state;

	if (!json_is_string(next))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"next_state: expected the name of a state, got %s", wfs_mind_kind(next));
	json_array_foreach(states, i, state) {
		if (!json_equal(state, next))
			continue;
		*ret_next = json_string_value(state);
		return 0;
	}
	wfs_mind_list(states, &names);
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"next_state: '%.64s' is none of the states: %s", json_string_value(next),
		wfs_buffer_text(&names));
}

static int check_reason(const json_t *reason, struct wfs_error *error)
{
	if (wfs_mind_is_absent(reason) || json_is_string(reason))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "reason: expected a text, got %s",
		wfs_mind_kind(reason));
}

static int parse_reply(struct wfs_bytes text, json_t **ret_reply, struct wfs_error *error)
{
	struct wfs_bytes object;
	size_t count = 0;
	int r;

	if (text.size > WFS_MIND_REPLY_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the answer has %zu bytes, at most %d are looked at", text.size,
			WFS_MIND_REPLY_MAX);
	r = find_reply(text, &object, &count);
	if (r < 0)
		return no_memory(error);
	if (r == 0)
		return refuse_text(text, count, error);
	return wfs_json_parse_bounded(object.data, object.size, ret_reply, error);
}

int wfs_mind_transition_reply(struct wfs_bytes text, const json_t *states, const char **ret_next,
	struct wfs_buffer *ret_reason, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *reply = NULL;
	const size_t before = ret_reason->size;
	const char *next = NULL;
	int r = parse_reply(text, &reply, error);

	if (!r)
		r = find_next(json_object_get(reply, "next_state"), states, &next, error);
	if (!r)
		r = check_reason(json_object_get(reply, "reason"), error);
	if (r)
		return wfs_trace(r);
	const struct wfs_bytes reason =
		wfs_text_fit(wfs_text_of(json_object_get(reply, "reason")), WFS_MIND_REASON_MAX);
	wfs_buffer_append(ret_reason, reason.data, reason.size);
	if (wfs_buffer_check(ret_reason)) {
		ret_reason->size = before;
		return no_memory(error);
	}
	*ret_next = next;
	return 0;
}
