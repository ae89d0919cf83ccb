/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the setup from which a turn is made. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "agents/adapter/adapter.h"
#include "agents/adapter/constraint.h"
#include "agents/adapter/format.h"
#include "kernel/base/json.h"
#include "kernel/mind/setting.h"

/* --- settings --- */

/* Arguments of the checks; borrowed. */
struct check {
	const struct wfs_adapter *adapter;
	const json_t *settings;
	const json_t *entry;
	const json_t *tools; /* the offered ones */
	struct wfs_error *error;
};

/* Return: a member that is present and not null, or NULL. */
static json_t *member(const json_t *object, const char *name)
{
	json_t *const value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

static int check_numbers(const struct check *check)
{
	static const char *const names[] = {"max_tokens", "max_completion_tokens"};
	const json_t *const temperature = member(check->settings, "temperature");
	const char *name = names[0];
	int64_t tokens = 1;
	int64_t history = 0;
	int r = wfs_json_get_integer(
		check->settings, "max_tokens", 1, INT32_MAX, &tokens, check->error);

	if (r == 0)
		r = wfs_json_get_integer(check->settings, "max_history_messages", INT64_MIN,
			INT64_MAX, &history, check->error);
	if (r == 0)
		r = wfs_mind_check_history_max(history, check->error);
	if (r == 0 && json_object_get(check->entry, "max_tokens_name"))
		r = wfs_json_get_string(check->entry, "max_tokens_name", &name, check->error);
	if (r == 0 && strcmp(name, names[0]) != 0 && strcmp(name, names[1]) != 0)
		r = wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"'max_tokens_name': expected %s or %s, got '%.100s'", names[0], names[1],
			name);
	if (r == 0 && temperature)
		r = wfs_mind_check_temperature(temperature, check->error);
	return r;
}

static bool offers(const json_t *tools, const char *name)
{
	size_t index;
	json_t *tool;

	json_array_foreach(tools, index, tool)
		if (strcmp(json_string_value(json_object_get(tool, "name")), name) == 0)
			return true;
	return false;
}

/* @choice: may be NULL */
static int check_tool_choice(const struct check *check, const json_t *choice)
{
	const json_t *const function = json_object_get(choice, "function");
	const char *const name = json_string_value(json_object_get(function, "name"));
	int r = choice ? wfs_mind_check_tool_choice(choice, check->error) : 0;

	if (r < 0 || !json_is_object(choice))
		return r;
	if (check->adapter->tool_choice_texts)
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"'tool_choice': a server of profile '%s' does not support a named tool, it "
			"would use \"auto\" instead",
			check->adapter->name);
	if (!offers(check->tools, name))
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"'tool_choice': '%.100s' is not an offered tool", name);
	return 0;
}

/* @where: the extra body's place, for messages */
static int check_extra(const struct check *check, const char *where, json_t *extra)
{
	const struct wfs_grammar_config *const config = check->adapter->grammar_config;
	const char *name;
	json_t *value;
	int r = extra ? wfs_mind_check_extra(where, extra, check->error) : 0;

	if (r < 0 || !config || !config->ignored)
		return r;
	json_object_foreach(extra, name, value)
		if (strncmp(name, config->ignored, strlen(config->ignored)) == 0)
			return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
				"'extra_body' of the %s: a server of profile '%s' would ignore "
				"'%.100s'; expected a constraint",
				where, check->adapter->name, name);
	return 0;
}

/* --- bodies --- */

/* A server takes only one of the members that ask for a constraint. */
static int check_keys(const struct check *check, const json_t *body)
{
	const struct wfs_grammar_config *const config = check->adapter->grammar_config;
	const char *const choice = json_string_value(json_object_get(body, "tool_choice"));
	const char *words = config->keys;
	struct wfs_bytes found = {0};

	while (*words) {
		const struct wfs_bytes word = WFS_BYTES(words, strcspn(words, " "));

		words += word.size + (words[word.size] ? 1 : 0);
		if (!json_object_getn(body, word.data, word.size))
			continue;
		if (found.size > 0)
			return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
				"'%.*s' and '%.*s' are two constraints, a server of profile '%s' "
				"takes one",
				(int)found.size, (const char *)found.data, (int)word.size,
				(const char *)word.data, check->adapter->name);
		found = word;
	}
	if (config->key_sans_tools && json_object_get(body, config->key_sans_tools) &&
		json_object_get(body, "tools") && (!choice || strcmp(choice, "none") != 0))
		return wfs_error_set(check->error, WFS_E_INVALID_ARGUMENT,
			"a server of profile '%s' refuses '%s' together with tools: expected no "
			"tools, or tool_choice \"none\"",
			check->adapter->name, config->key_sans_tools);
	return 0;
}

/* Checks the body as it will be, without its messages. */
static int check_body(const struct check *check, const json_t *setup)
{
	WFS_AUTO_JSON json_t *messages = json_array();
	WFS_AUTO_JSON json_t *body = NULL;
	int r = messages
		? wfs_format_request(setup, check->entry, messages, false, &body, check->error)
		: -ENOMEM;

	if (r == 0)
		r = check_tool_choice(check, json_object_get(body, "tool_choice"));
	if (r == 0 && check->adapter->grammar_config)
		r = check_keys(check, body);
	return r;
}

/* The tool_choice that is sent. */
static const json_t *effective_choice(const struct check *check)
{
	const json_t *const sources[] = {json_object_get(check->settings, "extra_body"),
		json_object_get(check->entry, "extra_body"), check->settings};
	const json_t *choice = NULL;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sources) && !choice; i++)
		choice = member(sources[i], "tool_choice");
	return choice;
}

static int check_setup(const json_t *setup, const json_t *entry, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *tools = NULL;
	struct check check = {
		.settings = json_object_get(setup, "settings"), .entry = entry, .error = error};
	const json_t *const constraint = member(check.settings, "constraint");
	int r = wfs_adapter_get(entry, &check.adapter, error);

	if (r == 0)
		r = wfs_format_offered(setup, &tools, error);
	check.tools = tools;
	if (r == 0)
		r = check_numbers(&check);
	if (r == 0)
		r = check_tool_choice(&check, member(check.settings, "tool_choice"));
	if (r == 0)
		r = check_extra(&check, "model", member(entry, "extra_body"));
	if (r == 0)
		r = check_extra(&check, "agent", member(check.settings, "extra_body"));
	if (r == 0)
		r = wfs_mind_check_costs(member(check.settings, "extra_body"), error);
	if (r == 0 && constraint)
		r = wfs_constraint_check(
			constraint, check.adapter, tools, effective_choice(&check), error);
	return r == 0 ? check_body(&check, setup) : r;
}

int wfs_adapter_check(const json_t *setup, const json_t *entry, struct wfs_error *error)
{
	const char *const agent = json_string_value(json_object_get(setup, "agent"));
	struct wfs_error reason = {0};
	const int r = check_setup(setup, entry, &reason);

	if (r == -EINVAL)
		return wfs_error_set(error, reason.code, "agent '%.100s': %s", agent ? agent : "",
			reason.message);
	return r;
}
