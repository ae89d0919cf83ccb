/* SPDX-License-Identifier: Apache-2.0 */
/* Checks answers against their constraints. */
#include <errno.h>
#include <string.h>

#include "agents/adapter/constraint-impl.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"

enum { QUOTE_BYTES_MAX = 60 }; /* of an answer that a message repeats */

static void append_quote(struct wfs_buffer *buffer, struct wfs_bytes text)
{
	const size_t size =
		text.size > QUOTE_BYTES_MAX ? wfs_utf8_cut(text.data, QUOTE_BYTES_MAX) : text.size;

	wfs_json_write_string(buffer, text.data, size);
	if (size < text.size)
		wfs_buffer_append_text(buffer, "…");
}

/* The quote comes first, because a message is cut at its end. */
static int violation(const json_t *constraint, struct wfs_bytes text, const char *reason,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer quote = {0};

	append_quote(&quote, text);
	return wfs_error_set(error, WFS_E_SCHEMA_VIOLATION,
		"constraint violation: the answer %s does not fit the %s that was asked for: %s",
		wfs_buffer_text(&quote), constraint_kind_name(constraint_kind(constraint)), reason);
}

static int check_json(const json_t *constraint, struct wfs_bytes text, struct wfs_error *error)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_error reason = {0};
	int r = constraint_schema_new(constraint, &schema, error);

	if (r < 0)
		return r;
	r = wfs_json_parse_bounded(text.data, text.size, &value, &reason);
	if (r == 0)
		r = wfs_schema_check(schema, value, &reason);
	return r == 0 || r == -ENOMEM ? r : violation(constraint, text, reason.message, error);
}

static int check_regex(const json_t *constraint, struct wfs_bytes text, struct wfs_error *error)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = NULL;
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = NULL;
	const char *const regex = json_string_value(json_object_get(constraint, "regex"));
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	int r = constraint_pattern_new(regex, &pattern, error);

	if (r == 0)
		r = wfs_matcher_new(&matcher);
	if (r < 0)
		return r;
	r = wfs_pattern_match(pattern, matcher, text.data, text.size, WFS_PATTERN_MATCH_MAX);
	if (r == 1 || r == -ENOMEM)
		return r == 1 ? 0 : r;
	wfs_buffer_append_text(&reason, "expected ");
	append_quote(&reason, wfs_bytes_text(regex));
	if (r < 0)
		wfs_buffer_append_text(&reason, ", which takes too much work on it");
	return violation(constraint, text, wfs_buffer_text(&reason), error);
}

static int check_choice(const json_t *constraint, struct wfs_bytes text, struct wfs_error *error)
{
	const json_t *const choices = json_object_get(constraint, "choices");
	WFS_AUTO_BUFFER struct wfs_buffer reason = {0};
	size_t index;
	json_t *choice;

	json_array_foreach(choices, index, choice)
		if (wfs_bytes_equal(wfs_text_of(choice), text))
			return 0;
	json_array_foreach(choices, index, choice) {
		wfs_buffer_append_text(&reason, index > 0 ? ", " : "expected one of ");
		append_quote(&reason, wfs_text_of(choice));
	}
	return violation(constraint, text, wfs_buffer_text(&reason), error);
}

/* A tag in the text that was not taken for a call is one that is not closed. */
static int check_tag(const json_t *constraint, struct wfs_bytes text, struct wfs_error *error)
{
	static const char trigger[] = CONSTRAINT_TAG_TRIGGER;

	if (!memmem(text.data, text.size, trigger, sizeof(trigger) - 1))
		return 0;
	return violation(constraint, text,
		"expected <function=NAME>{…}</function> after each trigger", error);
}

int wfs_constraint_check_answer(
	const json_t *constraint, const json_t *completion, struct wfs_error *error)
{
	const struct wfs_bytes text = wfs_text_of(json_object_get(completion, "content"));

	if (!json_is_object(constraint) ||
		json_array_size(json_object_get(completion, "tool_calls")) > 0)
		return 0;
	switch (constraint_kind(constraint)) {
	case WFS_CONSTRAINT_JSON_SCHEMA:
		return check_json(constraint, text, error);
	case WFS_CONSTRAINT_REGEX:
		return check_regex(constraint, text, error);
	case WFS_CONSTRAINT_CHOICE:
		return check_choice(constraint, text, error);
	case WFS_CONSTRAINT_STRUCTURAL_TAG:
		return check_tag(constraint, text, error);
	case WFS_CONSTRAINT_GRAMMAR:
	case WFS_CONSTRAINT_KIND_COUNT:
		break;
	}
	return 0;
}
