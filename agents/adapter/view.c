/* SPDX-License-Identifier: Apache-2.0 */
/* The view of a history that is sent. */
#include "agents/adapter/view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"

enum { VIEW_MAX_LEAST = 2 };

/* What the model reads where a run lost a result. */
static const char no_result[] = "no result recorded";

/* A view in the making. */
struct view {
	const struct wfs_view_source *source;
	struct wfs_error *error;
	size_t max_count; /* 0: no limit */
	size_t sent_count;
	json_t *leading;   /* messages */
	json_t *groups;    /* arrays of messages, newest first */
	size_t user_group; /* index of the pinned user message in the groups, or WFS_VIEW_NO_USER */
};

static int read_message(const struct view *view, size_t index, json_t **ret_message)
{
	return view->source->read(view->source->context, index, ret_message, view->error);
}

static bool has_role(const json_t *message, const char *role)
{
	const char *const text = json_string_value(json_object_get(message, "role"));

	return text && strcmp(text, role) == 0;
}

static int read_leading(struct view *view)
{
	const size_t count = view->source->count;

	while (json_array_size(view->leading) < count) {
		WFS_AUTO_JSON json_t *message = NULL;
		const int r = read_message(view, json_array_size(view->leading), &message);

		if (r < 0)
			return r;
		if (!has_role(message, "system") && !has_role(message, "developer"))
			break;
		if (json_array_append(view->leading, message) < 0)
			return -ENOMEM;
	}
	view->sent_count = json_array_size(view->leading);
	return 0;
}

/* --- groups --- */

/* The ids of an assistant message's calls, as members of an object. */
static json_t *waiting_ids(const json_t *calls)
{
	WFS_AUTO_JSON json_t *waiting = json_object();
	size_t index;
	json_t *call;

	json_array_foreach(calls, index, call)
	{
		const char *const id = json_string_value(json_object_get(call, "id"));

		if (id && json_object_set_new(waiting, id, json_true()) < 0)
			return NULL;
	}
	return WFS_STEAL(waiting);
}

static int append_missing(const json_t *calls, json_t *waiting, json_t *group)
{
	size_t index;
	json_t *call;

	json_array_foreach(calls, index, call)
	{
		const char *const id = json_string_value(json_object_get(call, "id"));
		json_t *result;

		if (!id || json_object_del(waiting, id) < 0)
			continue;
		result = json_pack("{s:s, s:s, s:s}", "role", "tool", "tool_call_id", id, "content",
			no_result);
		if (json_array_append_new(group, result) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* @results: tool messages behind the assistant message, the last first. */
static int pair(json_t *assistant, const json_t *results, json_t *group)
{
	const json_t *const calls = json_object_get(assistant, "tool_calls");
	WFS_AUTO_JSON json_t *waiting = waiting_ids(calls);

	if (!waiting || json_array_append(group, assistant) < 0)
		return -ENOMEM;
	for (size_t i = json_array_size(results); i > 0; i--) {
		json_t *const result = json_array_get(results, i - 1);
		const char *const id = json_string_value(json_object_get(result, "tool_call_id"));

		if (id && json_object_del(waiting, id) == 0 && json_array_append(group, result) < 0)
			return -ENOMEM;
	}
	return append_missing(calls, waiting, group);
}

/*
 * The group that ends before @end and does not begin before @first.
 * @ret_group: empty when it is results without their calls
 */
static int read_group(
	const struct view *view, size_t first, size_t end, size_t *ret_begin, json_t **ret_group)
{
	WFS_AUTO_JSON json_t *results = json_array();
	WFS_AUTO_JSON json_t *group = json_array();
	size_t begin = end;

	if (!results || !group)
		return -ENOMEM;
	while (begin > first) {
		WFS_AUTO_JSON json_t *message = NULL;
		int r = read_message(view, begin - 1, &message);

		if (r < 0)
			return r;
		if (has_role(message, "tool")) {
			begin--;
			if (json_array_append(results, message) < 0)
				return -ENOMEM;
			continue;
		}
		if (json_array_size(json_object_get(message, "tool_calls")) > 0)
			r = pair(message, results, group);
		else if (json_array_size(results) > 0)
			break; /* results of nothing; the message is a group of its own */
		else
			r = json_array_append(group, message) < 0 ? -ENOMEM : 0;
		begin--;
		if (r < 0)
			return r;
		break;
	}
	*ret_begin = begin;
	*ret_group = WFS_STEAL(group);
	return 0;
}

/* --- trimming --- */

static bool fits(const struct view *view, size_t begin, size_t count)
{
	/* Room that the pinned user message takes when it is farther back. */
	const size_t pinned =
		view->user_group == WFS_VIEW_NO_USER && view->source->user_index < begin ? 1 : 0;

	return view->max_count == 0 || json_array_size(view->groups) == 0 ||
		view->sent_count + count + pinned <= view->max_count;
}

static int keep_group(struct view *view, json_t *group, bool is_user)
{
	if (is_user)
		view->user_group = json_array_size(view->groups);
	view->sent_count += json_array_size(group);
	return json_array_append(view->groups, group) < 0 ? -ENOMEM : 0;
}

/* From the newest group back, until one does not fit; then only the pinned message is read. */
static int read_groups(struct view *view)
{
	const size_t first = json_array_size(view->leading);
	const size_t user = view->source->user_index;
	size_t end = view->source->count;
	bool full = false;

	while (end > first) {
		WFS_AUTO_JSON json_t *group = NULL;
		size_t begin = 0;
		int r = read_group(view, first, end, &begin, &group);

		if (r < 0)
			return r;
		if (begin != user && (full || !fits(view, begin, json_array_size(group)))) {
			end = !full && user >= first && user < begin ? user + 1 : first;
			full = true;
			continue;
		}
		if (json_array_size(group) > 0)
			r = keep_group(view, group, begin == user);
		if (r < 0)
			return r;
		end = full ? first : begin;
	}
	return 0;
}

static size_t drop_groups(struct view *view, size_t drop_count)
{
	size_t dropped = 0;

	for (size_t i = json_array_size(view->groups); i > 1 && dropped < drop_count; i--) {
		if (i - 1 == view->user_group)
			continue;
		if (view->user_group != WFS_VIEW_NO_USER && i - 1 < view->user_group)
			view->user_group--;
		view->sent_count -= json_array_size(json_array_get(view->groups, i - 1));
		json_array_remove(view->groups, i - 1);
		dropped++;
	}
	return dropped;
}

static int build(struct view *view, size_t drop_count, json_t **ret_messages,
	struct wfs_view_report *ret_report)
{
	struct wfs_view_report report = {0};
	int r = read_leading(view);

	if (r == 0)
		r = read_groups(view);
	if (r < 0)
		return r;
	report.dropped_count = drop_groups(view, drop_count);
	report.too_long = view->max_count > 0 && view->sent_count > view->max_count;
	for (size_t i = json_array_size(view->groups); i > 0; i--)
		if (json_array_extend(view->leading, json_array_get(view->groups, i - 1)) < 0)
			return -ENOMEM;
	*ret_messages = json_incref(view->leading);
	*ret_report = report;
	return 0;
}

int wfs_view_read(const struct wfs_view_source *source, size_t max_count, size_t drop_count,
	json_t **ret_messages, struct wfs_view_report *ret_report, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *leading = json_array();
	WFS_AUTO_JSON json_t *groups = json_array();
	struct view view = {
		.source = source,
		.error = error,
		.max_count = max_count,
		.leading = leading,
		.groups = groups,
		.user_group = WFS_VIEW_NO_USER,
	};

	if (!leading || !groups)
		return -ENOMEM;
	return build(&view, drop_count, ret_messages, ret_report);
}

int wfs_view_check_max(int64_t max, struct wfs_error *error)
{
	if (max == 0 || max >= VIEW_MAX_LEAST)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'max_history_messages': expected 0 (no limit) or at least %d, got %" PRId64,
		VIEW_MAX_LEAST, max);
}

/* --- arrays --- */

static int read_array(void *context, size_t index, json_t **ret_message, struct wfs_error *error)
{
	(void)error;
	*ret_message = json_incref(json_array_get(context, index));
	return 0;
}

struct wfs_view_source wfs_view_source_array(json_t *messages)
{
	size_t user = json_array_size(messages);

	while (user > 0 && !has_role(json_array_get(messages, user - 1), "user"))
		user--;
	return (struct wfs_view_source){
		.count = json_array_size(messages),
		.user_index = user > 0 ? user - 1 : WFS_VIEW_NO_USER,
		.read = read_array,
		.context = messages,
	};
}
