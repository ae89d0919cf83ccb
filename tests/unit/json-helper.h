/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in tests is written with ' for ". */
#pragma once

#include "tests/fixture/test.h"

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"

/* The same with ". Caller frees. */
static inline char *json_text(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

/* Its value. Caller owns it. */
static inline json_t *json_of(const char *text)
{
	WFS_AUTO_FREE char *copy = json_text(text);
	struct wfs_error error = {0};
	json_t *json = NULL;

	if (wfs_json_parse(copy, strlen(copy), &json, &error) != 0)
		fail_msg("%s: %s", text, error.message);
	return json;
}

/* @value: taken. @expected: with ' for ", in any order of members */
static inline void assert_json_is(json_t *value, const char *expected)
{
	WFS_AUTO_JSON json_t *owned = value;
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer wanted_text = {0};

	assert_non_null(owned);
	wfs_json_write(owned, &text);
	wfs_json_write(wanted, &wanted_text);
	assert_string_equal(wfs_buffer_text(&text), wfs_buffer_text(&wanted_text));
}
