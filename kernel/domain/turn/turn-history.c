/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a bounded part of a run's history, and nothing else. */
#include "kernel/domain/turn/turn-history.h"

#include "kernel/base/json.h"

/* Bytes of messages in contents and arguments. */
static size_t size_of(const json_t *messages)
{
	size_t size = 0;
	const json_t *message;
	const json_t *call;
	size_t i;
	size_t j;

	json_array_foreach(messages, i, message) {
		size += json_string_length(json_object_get(message, "content")) +
			json_string_length(json_object_get(message, "raw_content"));
		json_array_foreach(json_object_get(message, "tool_calls"), j, call)
			size += json_string_length(json_object_get(call, "arguments"));
	}
	return size;
}

/* Joins groups into one array, the oldest first. @newest: groups, the newest first. Return: new
 * reference, NULL without memory. */
static json_t *in_order(const json_t *newest)
{
	WFS_AUTO_JSON json_t *messages = json_array();
	int r = messages ? 0 : -1;

	for (size_t i = json_array_size(newest); !r && i > 0; i--)
		r = json_array_extend(messages, json_array_get(newest, i - 1));
	return r ? NULL : WFS_STEAL(messages);
}

int turn_newest_messages(struct wfs_view *view, const struct wfs_document_turn *run,
	json_t **ret_messages, size_t *ret_left_out)
{
	size_t from = json_array_size(run->groups);
	WFS_AUTO_JSON json_t *newest = json_array();
	size_t left_out = 0;
	size_t size = 0;
	int r = newest ? 0 : -ENOMEM;

	while (!r && from > 0 && size <= WFS_TURN_FILE_MAX) {
		WFS_AUTO_JSON json_t *messages = json_array();

		r = messages ? wfs_turn_group(view, run->run_id, from - 1, messages, NULL)
			     : -ENOMEM;
		size += size_of(messages);
		if (!r && (size <= WFS_TURN_FILE_MAX || json_array_size(newest) == 0)) {
			r = json_array_append(newest, messages) < 0 ? -ENOMEM : 0;
			from--;
		}
	}
	for (size_t i = 0; i < from; i++)
		left_out += (size_t)json_integer_value(json_array_get(run->groups, i));
	if (r)
		return wfs_trace(r);
	*ret_messages = in_order(newest);
	*ret_left_out = left_out;
	return *ret_messages ? 0 : -ENOMEM;
}
