/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of an agent. */
#include "kernel/mind/setting.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/mind/kind.h"

enum { HISTORY_MAX_LEAST = 2 }; /* messages */

const struct wfs_mind_number wfs_mind_numbers[] = {
	{"max_concurrency", INT32_MIN, WFS_MIND_CONCURRENCY_MAX, 1},
	{"max_history_messages", 0, INT32_MAX, 50},
	{"max_tokens", 1, INT32_MAX, 4096},
	{"run_timeout_ms", 1, INT64_C(1000) * 86400 * 30, 3600000},
	{"tool_timeout_ms", 1, INT64_C(1000) * 86400, 60000},
	{0},
};

/* 0: no bound. With 1 an answer would find no room. */
int wfs_mind_check_history_max(int64_t max, struct wfs_error *error)
{
	if (max == 0 || max >= HISTORY_MAX_LEAST)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'max_history_messages': expected 0 (no limit) or at least %d, got %" PRId64,
		HISTORY_MAX_LEAST, max);
}

int wfs_mind_check_temperature(const json_t *value, struct wfs_error *error)
{
	const double number = json_number_value(value);

	if (json_is_number(value) && number >= 0 && number <= 2)
		return 0;
	return wfs_error_set(
		error, WFS_E_INVALID_ARGUMENT, "'temperature': expected a number from 0 to 2");
}

static bool is_text(const json_t *value, const char *text)
{
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

int wfs_mind_check_tool_choice(const json_t *choice, struct wfs_error *error)
{
	const json_t *const function = json_object_get(choice, "function");
	const char *const text = json_string_value(choice);

	if (is_text(choice, "auto") || is_text(choice, "none") || is_text(choice, "required") ||
		(json_string_value(json_object_get(function, "name")) &&
			is_text(json_object_get(choice, "type"), "function")))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'tool_choice': expected \"auto\", \"none\", \"required\" or "
		"{\"type\":\"function\",\"function\":{\"name\":…}}, got '%.100s'",
		text ? text : "something else");
}

int wfs_mind_check_extra(const char *where, const json_t *extra, struct wfs_error *error)
{
	static const char *const protected[] = {"messages", "model", "stream", "tools"};

	if (!json_is_object(extra))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'extra_body' of the %s: expected an object", where);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(protected); i++)
		if (json_object_get(extra, protected[i]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'extra_body' of the %s: '%s' cannot be replaced", where,
				protected[i]);
	return 0;
}

int wfs_mind_check_costs(const json_t *extra, struct wfs_error *error)
{
	static const char *const costly[] = {"background", "best_of", "max_completion_tokens",
		"max_new_tokens", "max_tokens", "min_tokens", "models", "modalities", "n",
		"n_predict", "num_predict", "num_return_sequences", "plugins", "provider", "route",
		"service_tier", "store", "use_beam_search", "web_search_options"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(costly); i++)
		if (json_object_get(extra, costly[i]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'extra_body' of the agent: '%s' may cost more, expected it in "
				"the extra_body of the model in host.json",
				costly[i]);
	return 0;
}
