/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas from text, and what they say of a value. */
#pragma once

#include "tests/unit/json-helper.h"

#include "kernel/schema/schema.h"

static inline struct wfs_schema *schema_of_json(json_t *definition)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	if (wfs_schema_new(definition, NULL, "", &problems, &schema) != 0)
		fail_msg("%s", wfs_buffer_text(&problems.lines));
	return schema;
}

static inline struct wfs_schema *schema_of(const char *text)
{
	WFS_AUTO_JSON json_t *definition = json_of(text);

	return schema_of_json(definition);
}

/* @lines: all problems, as they are reported. */
static inline void assert_not_loaded(const char *text, const char *lines)
{
	WFS_AUTO_JSON json_t *definition = json_of(text);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_schema *schema = NULL;

	if (wfs_schema_new(definition, NULL, "", &problems, &schema) != -EINVAL)
		fail_msg("%s: was loaded", text);
	assert_null(schema);
	assert_string_equal(wfs_buffer_text(&problems.lines), lines);
}

static inline void assert_fits(const char *schema_text, const char *value_text)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of(schema_text);
	WFS_AUTO_JSON json_t *value = json_of(value_text);
	struct wfs_error error = {0};

	if (wfs_schema_check(schema, value, &error) != 0)
		fail_msg("%s with %s: %s", value_text, schema_text, error.message);
}

static inline void assert_violates(
	const char *schema_text, const char *value_text, const char *message)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of(schema_text);
	WFS_AUTO_JSON json_t *value = json_of(value_text);
	struct wfs_error error = {0};

	if (wfs_schema_check(schema, value, &error) != -EINVAL)
		fail_msg("%s fits %s", value_text, schema_text);
	assert_int_equal(error.code, WFS_E_SCHEMA_VIOLATION);
	assert_string_equal(error.message, message);
	assert_int_equal(wfs_schema_check(schema, value, NULL), -EINVAL);
}
