/* SPDX-License-Identifier: Apache-2.0 */
/* Checks constraints, and what servers support of them. */
#include "agents/adapter/constraint.h"

#include <errno.h>
#include <string.h>

#include "agents/adapter/adapter.h"
#include "agents/adapter/constraint-impl.h"
#include "agents/adapter/format.h"
#include "kernel/base/json.h"

/* --- members of each kind --- */

static int check_json_schema(const json_t *constraint, struct wfs_error *error)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	const json_t *const strict = json_object_get(constraint, "strict");
	const char *name = "answer";
	int r = 0;

	if (json_object_get(constraint, "name"))
		r = wfs_json_get_string(constraint, "name", &name, error);
	if (r == 0 && !wfs_format_is_name(name))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'name': expected 1 to %d of a-z A-Z 0-9 _ -, got '%.100s'",
			WFS_FORMAT_NAME_MAX, name);
	if (r == 0 && strict && !json_is_boolean(strict))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'strict': expected a boolean");
	return r < 0 ? r : constraint_schema_new(constraint, &schema, error);
}

static int check_regex(const json_t *constraint, struct wfs_error *error)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = NULL;
	const char *text = NULL;
	const int r = wfs_json_get_string(constraint, "regex", &text, error);

	return r < 0 ? r : constraint_pattern_new(text, &pattern, error);
}

static int check_choice(const json_t *constraint, struct wfs_error *error)
{
	const json_t *const choices = json_object_get(constraint, "choices");
	size_t index;
	json_t *choice;

	json_array_foreach(choices, index, choice)
		if (!json_is_string(choice))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'choices': expected texts, item %zu is not one", index);
	if (json_array_size(choices) == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'choices': expected an array with at least one text");
	return 0;
}

static int check_grammar(const json_t *constraint, struct wfs_error *error)
{
	const char *text = NULL;
	const int r = wfs_json_get_string(constraint, "grammar", &text, error);

	if (r == 0 && !*text)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'grammar': expected a grammar, got an empty text");
	return r;
}

static const struct kind {
	const char *name;
	const char *members; /* for wfs_json_members() */
	int (*check)(const json_t *constraint, struct wfs_error *error); /* NULL: none */
} kinds[WFS_CONSTRAINT_KIND_COUNT] = {
	[WFS_CONSTRAINT_JSON_SCHEMA] = {"json_schema", "kind schema name? strict?",
		check_json_schema},
	[WFS_CONSTRAINT_REGEX] = {"regex", "kind regex", check_regex},
	[WFS_CONSTRAINT_CHOICE] = {"choice", "kind choices", check_choice},
	[WFS_CONSTRAINT_GRAMMAR] = {"grammar", "kind grammar", check_grammar},
	[WFS_CONSTRAINT_STRUCTURAL_TAG] = {"structural_tag", "kind", NULL},
};

enum wfs_constraint_kind constraint_kind(const json_t *constraint)
{
	const char *const name = json_string_value(json_object_get(constraint, "kind"));
	enum wfs_constraint_kind kind = 0;

	while (kind < WFS_CONSTRAINT_KIND_COUNT && (!name || strcmp(kinds[kind].name, name) != 0))
		kind++;
	return kind;
}

const char *constraint_kind_name(enum wfs_constraint_kind kind)
{
	return kinds[kind].name;
}

/* Appends the names of the kinds that a server supports. @config: NULL: all */
static void append_kinds(struct wfs_buffer *names, const struct wfs_grammar_config *config)
{
	for (size_t i = 0; i < WFS_CONSTRAINT_KIND_COUNT; i++)
		if (!config || config->forms[i].key)
			wfs_buffer_printf(
				names, "%s%s", names->size > 0 ? ", " : "", kinds[i].name);
}

static int check_itself(
	const json_t *constraint, enum wfs_constraint_kind kind, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	const char *name = NULL;
	int r = wfs_json_get_string(constraint, "kind", &name, error);

	if (r < 0)
		return r;
	if (kind == WFS_CONSTRAINT_KIND_COUNT) {
		append_kinds(&names, NULL);
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'kind': expected one of %s, got '%.100s'", wfs_buffer_text(&names), name);
	}
	r = wfs_json_members(constraint, name, kinds[kind].members, error);
	if (r < 0 || !kinds[kind].check)
		return r;
	return kinds[kind].check(constraint, error);
}

/* --- support of a server --- */

static bool is_choice(const json_t *tool_choice, const char *text)
{
	const char *const chosen = tool_choice ? json_string_value(tool_choice) : "auto";

	return chosen && strcmp(chosen, text) == 0;
}

/*
 * For servers where constraint and calls exclude each other (vLLM, SGLang): the constraint holds
 * for the whole answer, so that no call can be written, and a tool_choice that forces a call
 * replaces it, or is replaced. A structural tag is meant for calls, which are text then: only
 * "auto" does not disturb it.
 */
static int check_calls(const struct wfs_adapter *adapter, enum wfs_constraint_kind kind,
	const json_t *tool_choice, struct wfs_error *error)
{
	if (kind == WFS_CONSTRAINT_STRUCTURAL_TAG)
		return is_choice(tool_choice, "auto")
			? 0
			: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				  "a structural_tag with a tool_choice other than \"auto\" would "
				  "be ignored by a server of profile '%s'",
				  adapter->name);
	if (is_choice(tool_choice, "none"))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"a constraint of kind '%s' and calls cannot be combined on a server of "
		"profile '%s': expected no tools, or tool_choice \"none\"",
		kinds[kind].name, adapter->name);
}

static int check_server(const json_t *constraint, enum wfs_constraint_kind kind,
	const struct wfs_adapter *adapter, struct wfs_error *error)
{
	const struct wfs_grammar_config *const config = adapter->grammar_config;
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	if (!config->forms[kind].key) {
		append_kinds(&names, config);
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a server of profile '%s' has no constraint of kind '%s' (it has: %s)",
			adapter->name, kinds[kind].name, wfs_buffer_text(&names));
	}
	if (kind == WFS_CONSTRAINT_JSON_SCHEMA && config->xgrammar)
		return constraint_check_xgrammar(
			json_object_get(constraint, "schema"), adapter->name, error);
	return 0;
}

int wfs_constraint_check(const json_t *constraint, const struct wfs_adapter *adapter,
	const json_t *tools, const json_t *tool_choice, struct wfs_error *error)
{
	const enum wfs_constraint_kind kind = constraint_kind(constraint);
	const bool offering = json_array_size(tools) > 0;
	int r = check_itself(constraint, kind, error);

	if (r == 0 && kind == WFS_CONSTRAINT_STRUCTURAL_TAG && !offering)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a structural_tag is made of the offered tools, got no tools");
	if (r < 0 || !adapter->grammar_config)
		return r;
	r = check_server(constraint, kind, adapter, error);
	if (r == 0 && offering && adapter->grammar_config->blocks_calls)
		r = check_calls(adapter, kind, tool_choice, error);
	return r;
}
