/* SPDX-License-Identifier: Apache-2.0 */
/* Finds calls in an answer. */
#include "agents/adapter/parser.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/base/span.h"

static struct wfs_bytes slice(struct wfs_bytes text, size_t from, size_t to)
{
	return WFS_BYTES((const char *)text.data + from, to - from);
}

static struct wfs_bytes trimmed(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	const size_t from = wfs_span_blank(text);

	while (text.size > from && strchr(" \n\r\t", bytes[text.size - 1]) && bytes[text.size - 1])
		text.size--;
	return slice(text, from, text.size);
}

static bool begins(struct wfs_bytes text, const char *with)
{
	return text.size >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

static json_t *json_of_text(struct wfs_bytes text)
{
	return json_stringn(text.data, text.size);
}

/* --- calls --- */

/* @name, @arguments: NULL if the model wrote none. */
static int call_add(json_t *calls, json_t *name, json_t *arguments)
{
	WFS_AUTO_JSON json_t *call = json_object();

	if ((name && json_object_set(call, "name", name) < 0) ||
		(arguments && json_object_set(call, "arguments", arguments) < 0) ||
		json_array_append(calls, call) < 0)
		return -ENOMEM;
	return 0;
}

/* Decodes a JSON string. Return: 0, -EINVAL (not a string), -ENOMEM. */
static int decode(struct wfs_bytes value, json_t **ret_text)
{
	if (!begins(value, "\""))
		return -EINVAL;
	return wfs_json_parse(value.data, value.size, ret_text, NULL);
}

/* Members of a call, as JSON text. */
struct written {
	struct wfs_bytes name;
	struct wfs_bytes arguments;
};

static int read_written(struct wfs_bytes body, struct written *ret_written)
{
	struct written written = {0};
	int r;

	if (!begins(body, "{"))
		return -EINVAL;
	struct wfs_span_object object = wfs_span_object(body);

	while ((r = wfs_span_next(&object)) > 0) {
		if (wfs_bytes_equal(object.name, wfs_bytes_text("\"name\"")))
			written.name = object.value;
		else if (wfs_bytes_equal(object.name, wfs_bytes_text("\"arguments\"")))
			written.arguments = object.value;
	}
	/* null means no arguments, as in native calls. */
	if (wfs_bytes_equal(written.arguments, wfs_bytes_text("null")))
		written.arguments.size = 0;
	*ret_written = written;
	return r;
}

/* Adds `{"name":…,"arguments":…}`. Arguments may also be written as a string, as servers do. */
static int add_tool_call(json_t *calls, struct wfs_bytes name, struct wfs_bytes body)
{
	WFS_AUTO_JSON json_t *decoded = NULL;
	WFS_AUTO_JSON json_t *arguments = NULL;
	struct written written;
	int r = read_written(body, &written);

	(void)name;
	if (r == 0)
		r = decode(written.name, &decoded);
	if (r == 0 && json_string_length(decoded) == 0)
		r = -EINVAL;
	if (r == 0 && begins(written.arguments, "\""))
		r = decode(written.arguments, &arguments);
	else if (r == 0 && written.arguments.size > 0 &&
		!(arguments = json_of_text(written.arguments)))
		r = -ENOMEM;
	if (r != -EINVAL)
		return r < 0 ? r : call_add(calls, decoded, arguments);
	/* A call that cannot be made, for which the model will get an error. */
	WFS_AUTO_JSON json_t *text = json_of_text(body);
	return text ? call_add(calls, NULL, text) : -ENOMEM;
}

static int add_function(json_t *calls, struct wfs_bytes name, struct wfs_bytes body)
{
	WFS_AUTO_JSON json_t *text = json_of_text(name);
	WFS_AUTO_JSON json_t *arguments = json_of_text(body);

	return text && arguments ? call_add(calls, text, arguments) : -ENOMEM;
}

/* --- tags --- */

static const struct form {
	const char *open;
	bool named; /* a name and `>` follow the opening */
	const char *close;
	/* Adds the call between the tags. Return: 0, or -ENOMEM. */
	int (*add)(json_t *calls, struct wfs_bytes name, struct wfs_bytes body);
} forms[] = {
	{"<tool_call>", false, "</tool_call>", add_tool_call},
	{"<function=", true, "</function>", add_function},
};

/* State of a search for tags. */
struct search {
	struct wfs_bytes text;
	size_t at;
	json_t *calls;
	struct wfs_buffer rest; /* text outside of calls */
};

/* A tag with its contents. Offsets into the text. */
struct tag {
	struct wfs_bytes name;
	size_t body;
	size_t body_end;
	size_t end;
};

static bool read_name(struct wfs_bytes text, struct tag *tag)
{
	const char *const bytes = text.data;
	size_t end = tag->body;

	while (end < text.size && !strchr("<> \n\r\t", bytes[end]))
		end++;
	if (end == text.size || bytes[end] != '>' || end == tag->body)
		return false;
	tag->name = slice(text, tag->body, end);
	tag->body = end + 1;
	return true;
}

/* Return: where @what begins in the text from @from on; the text's end if it does not occur. */
static size_t find(struct wfs_bytes text, size_t from, const char *what)
{
	const struct wfs_bytes ahead = slice(text, from, text.size);
	const char *const found = memmem(ahead.data, ahead.size, what, strlen(what));

	return found ? (size_t)(found - (const char *)text.data) : text.size;
}

/*
 * Finds where the tag closes: after the JSON value in it, whose strings may contain any tag. If
 * another tag opens before that, this one is not closed; not searching on keeps a text of opening
 * tags linear.
 */
static bool read_body(struct wfs_bytes text, const struct form *form, struct tag *tag)
{
	const size_t begin = tag->body + wfs_span_blank(slice(text, tag->body, text.size));
	const size_t behind = begin + wfs_span_value(slice(text, begin, text.size));
	const size_t another = find(text, behind, form->open);

	tag->body_end = find(slice(text, 0, another), behind, form->close);
	tag->end = tag->body_end + strlen(form->close);
	return tag->body_end < another;
}

/* Reads the tag at the search's position. Return: 1, 0 (no whole tag), or -ENOMEM. */
static int take_tag(struct search *search)
{
	const struct wfs_bytes ahead = slice(search->text, search->at, search->text.size);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(forms); i++) {
		struct tag tag = {.body = search->at + strlen(forms[i].open)};

		if (!begins(ahead, forms[i].open))
			continue;
		if (forms[i].named && !read_name(search->text, &tag))
			continue;
		if (!read_body(search->text, &forms[i], &tag))
			continue;
		search->at = tag.end;
		const struct wfs_bytes body = slice(search->text, tag.body, tag.body_end);
		const int r = forms[i].add(search->calls, tag.name, trimmed(body));

		return r < 0 ? r : 1;
	}
	return 0;
}

static int search_tags(struct search *search)
{
	while (search->at < search->text.size) {
		const struct wfs_bytes ahead = slice(search->text, search->at, search->text.size);
		const int r = begins(ahead, "<") ? take_tag(search) : 0;

		if (r < 0)
			return r;
		if (r > 0)
			continue;
		const char *const next = memchr((const char *)ahead.data + 1, '<', ahead.size - 1);
		const size_t size = next ? (size_t)(next - (const char *)ahead.data) : ahead.size;

		wfs_buffer_append(&search->rest, ahead.data, size);
		search->at += size;
	}
	return wfs_buffer_check(&search->rest);
}

static int find_tags(struct wfs_bytes text, json_t *calls, json_t *completion)
{
	struct search search = {.text = text, .calls = calls};
	int r = search_tags(&search);
	const struct wfs_bytes rest = wfs_buffer_bytes(&search.rest);

	/* The content is the text without its calls, or null if only blanks are left. */
	if (r == 0 && json_array_size(calls) > 0 &&
		json_object_set_new(completion, "content",
			wfs_span_blank(rest) == rest.size ? json_null() : json_of_text(rest)) < 0)
		r = -ENOMEM;
	wfs_buffer_done(&search.rest);
	return r;
}

/* --- an action as the whole answer --- */

/* Reads the action's type, and the other members as an object, byte for byte. */
static int read_action(struct wfs_bytes body, json_t **ret_type, struct wfs_buffer *arguments)
{
	WFS_AUTO_JSON json_t *type = NULL;
	struct wfs_span_object object = wfs_span_object(body);
	int r = 0;

	wfs_buffer_append_byte(arguments, '{');
	while ((r = wfs_span_next(&object)) > 0) {
		if (wfs_bytes_equal(object.name, wfs_bytes_text("\"action_type\""))) {
			if (type || (r = decode(object.value, &type)) < 0)
				return type ? -EINVAL : r;
			continue;
		}
		if (arguments->size > 1)
			wfs_buffer_append_byte(arguments, ',');
		wfs_buffer_append(arguments, object.name.data, object.name.size);
		wfs_buffer_append_byte(arguments, ':');
		wfs_buffer_append(arguments, object.value.data, object.value.size);
	}
	wfs_buffer_append_byte(arguments, '}');
	if (r == 0 && !type)
		r = -EINVAL;
	if (r < 0)
		return r;
	*ret_type = WFS_STEAL(type);
	return wfs_buffer_check(arguments);
}

static int find_action(
	struct wfs_bytes text, const json_t *offered, json_t *calls, json_t *completion)
{
	WFS_AUTO_JSON json_t *type = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	const struct wfs_bytes body = trimmed(text);
	int r = begins(body, "{") ? read_action(body, &type, &arguments) : -EINVAL;

	if (r == -EINVAL || (r == 0 && !wfs_json_has(offered, type)))
		return 0;
	if (r == 0)
		r = add_function(calls,
			WFS_BYTES(json_string_value(type), json_string_length(type)),
			wfs_buffer_bytes(&arguments));
	if (r == 0 && json_object_set_new(completion, "content", json_null()) < 0)
		r = -ENOMEM;
	return r;
}

/* --- completions --- */

static int find_calls(const json_t *offered, json_t *calls, json_t *completion)
{
	const json_t *const content = json_object_get(completion, "content");
	const struct wfs_bytes text =
		WFS_BYTES(json_string_value(content), json_string_length(content));
	int r;

	if (json_array_size(offered) == 0 || text.size == 0)
		return 0;
	r = find_action(text, offered, calls, completion);
	if (r == 0 && json_array_size(calls) == 0)
		r = find_tags(text, calls, completion);
	return r;
}

int wfs_parser_parse(const json_t *completion, const json_t *offered, json_t **ret_completion)
{
	WFS_AUTO_JSON json_t *parsed = wfs_json_copy(completion);
	WFS_AUTO_JSON json_t *calls = json_array();
	const size_t native = json_array_size(json_object_get(completion, "tool_calls"));

	if (json_object_set_new(parsed, "native_calls_count", json_integer((json_int_t)native)) < 0)
		return -ENOMEM;
	if (native == 0 &&
		(json_object_set(parsed, "tool_calls", calls) < 0 ||
			find_calls(offered, calls, parsed) < 0))
		return -ENOMEM;
	if (json_array_size(calls) > 0 &&
		json_object_set(parsed, "raw_content", json_object_get(completion, "content")) < 0)
		return -ENOMEM;
	*ret_completion = WFS_STEAL(parsed);
	return 0;
}
