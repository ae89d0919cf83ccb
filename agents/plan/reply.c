/* SPDX-License-Identifier: Apache-2.0 */
/* Finds plans and answers in texts.
 * Parses only the members that are needed: a plan may be large. */
#include "agents/plan/reply.h"

#include "agents/plan/placeholder.h"
#include "kernel/base/json.h"
#include "kernel/base/span.h"
#include "kernel/base/text.h"
#include "kernel/value/bounds.h"

/* Members of the first object, as JSON text; size 0: absent. */
struct written {
	struct wfs_bytes object;
	struct wfs_bytes steps;
	struct wfs_bytes tool_calls;
	struct wfs_bytes final;
};

static bool is_text(struct wfs_bytes value, const char *text)
{
	return wfs_bytes_equal(value, wfs_bytes_text(text));
}

static bool begins(struct wfs_bytes value, char byte)
{
	return value.size > 0 && *(const char *)value.data == byte;
}

/* Return: 1, 0 (no object in the text), -EFBIG, -ENOMEM. */
static int read_text(const char *text, struct written *ret_written)
{
	struct written written = {0};
	int r = wfs_find_object(wfs_bytes_text(text), &written.object);

	if (r <= 0)
		return r;
	struct wfs_span_object object = wfs_span_object(written.object);
	/* null counts as absent. Of repeated members the last counts. */
	while (wfs_span_next(&object) > 0) {
		const bool is_null = is_text(object.value, "null");

		if (is_text(object.name, "\"steps\""))
			written.steps = is_null ? WFS_BYTES("", 0) : object.value;
		else if (is_text(object.name, "\"tool_calls\""))
			written.tool_calls = is_null ? WFS_BYTES("", 0) : object.value;
		else if (is_text(object.name, "\"final\""))
			written.final = object.value;
	}
	*ret_written = written;
	return 1;
}

static bool is_array(struct wfs_bytes value, bool empty)
{
	if (!begins(value, '['))
		return false;
	const struct wfs_bytes rest = WFS_BYTES((const char *)value.data + 1, value.size - 1);
	const size_t blank = wfs_span_blank(rest);
	return (((const char *)rest.data)[blank] == ']') == empty;
}

static bool is_plan(const struct written *written, bool has_final)
{
	if (is_array(written->tool_calls, false))
		return true;
	return written->steps.size > 0 && !(has_final && is_array(written->steps, true));
}

/* Is there a plan that breaks off? So it is if the text, or what is in its fence, begins with an
 * object that is not complete and has steps or calls. @found: the first complete object; size 0:
 * none */
static bool is_cut_plan(struct wfs_bytes text, struct wfs_bytes found, struct wfs_bytes *ret_rest)
{
	static const char fence[] = "```";
	const char *const start = memchr(text.data, '{', text.size);
	const char *const fenced = memmem(text.data, text.size, fence, strlen(fence));
	const char *before = fenced && start && fenced < start ? fenced + strlen(fence) : text.data;

	if (!start || found.data == start)
		return false;
	if (before != text.data && start - before >= 4 && strncasecmp(before, "json", 4) == 0)
		before += 4;
	if (before + strspn(before, " \t\r\n") != start)
		return false;
	*ret_rest = WFS_BYTES(start, text.size - (size_t)(start - (const char *)text.data));
	return memmem(start, ret_rest->size, "\"steps\"", 7) ||
		memmem(start, ret_rest->size, "\"tool_calls\"", 12);
}

/* @final: NULL: give the whole text */
static int give_text(const char *text, json_t *final, json_t **ret_text, struct wfs_error *error)
{
	const struct wfs_bytes all = wfs_text_trimmed(wfs_bytes_text(text));

	*ret_text = final ? json_incref(final) : json_stringn(all.data, all.size);
	return *ret_text ? 0 : wfs_error_from_errno(error, -ENOMEM, "read a reply");
}

/* @ret_final: NULL: absent. Return: 0, -ENOMEM. */
static int parse_final(const struct written *written, json_t **ret_final)
{
	int r = written->final.size > 0
		? wfs_json_parse_bounded(written->final.data, written->final.size, ret_final, NULL)
		: 0;

	return r == -ENOMEM ? r : 0;
}

static int give_plan(struct wfs_bytes object, json_t **ret_text, struct wfs_error *error)
{
	if (object.size > WFS_PLAN_SOURCE_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the plan has %zu bytes, at most %d are taken", object.size,
			WFS_PLAN_SOURCE_MAX);
	*ret_text = json_stringn(object.data, object.size);
	return *ret_text ? 0 : wfs_error_from_errno(error, -ENOMEM, "read a reply");
}

int wfs_plan_reply(const char *text, bool *ret_is_plan, json_t **ret_text, struct wfs_error *error)
{
	struct written written = {0};
	struct wfs_bytes rest;
	WFS_AUTO_JSON json_t *final = NULL;
	int r = read_text(text, &written);

	if (r >= 0 && begins(written.final, '"'))
		r = parse_final(&written, &final);
	if (r < 0)
		return wfs_error_from_errno(error, r, "read a reply");
	if (is_cut_plan(wfs_text_trimmed(wfs_bytes_text(text)), written.object, &rest)) {
		*ret_is_plan = true;
		return wfs_trace(give_plan(rest, ret_text, error));
	}
	*ret_is_plan = is_plan(&written, json_string_length(final) > 0);
	return wfs_trace(*ret_is_plan ? give_plan(written.object, ret_text, error)
				      : give_text(text, final, ret_text, error));
}

static json_t *text_of(const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!json_is_null(value))
		wfs_placeholder_append(value, &text);
	return wfs_buffer_check(&text) ? NULL : json_stringn(wfs_buffer_text(&text), text.size);
}

int wfs_plan_answer(const char *text, json_t **ret_text, struct wfs_error *error)
{
	struct written written = {0};
	WFS_AUTO_JSON json_t *final = NULL;
	int r = read_text(text, &written);

	if (r >= 0)
		r = parse_final(&written, &final);
	if (r < 0)
		return wfs_error_from_errno(error, r, "read an answer");
	if (!final)
		return wfs_trace(give_text(text, NULL, ret_text, error));
	*ret_text = text_of(final);
	return *ret_text ? 0 : wfs_error_from_errno(error, -ENOMEM, "read an answer");
}
