/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the server profiles. */
#include "agents/adapter/adapter.h"

#include <string.h>

#include "agents/adapter/constraint.h"
#include "agents/adapter/format.h"
#include "agents/adapter/parser.h"
#include "kernel/base/json.h"

static const struct wfs_grammar_config openai_grammar = {
	.forms[WFS_CONSTRAINT_JSON_SCHEMA] = {"response_format",
		.value = wfs_constraint_response_format},
	.keys = "response_format",
};

/* From 0.12 on, which accepts the older `guided_*` but ignores them. */
static const struct wfs_grammar_config vllm_grammar = {
	.forms =
		{
			[WFS_CONSTRAINT_JSON_SCHEMA] = {"structured_outputs", "json", "schema"},
			[WFS_CONSTRAINT_REGEX] = {"structured_outputs", "regex", "regex"},
			[WFS_CONSTRAINT_CHOICE] = {"structured_outputs", "choice", "choices"},
			[WFS_CONSTRAINT_GRAMMAR] = {"structured_outputs", "grammar", "grammar"},
			[WFS_CONSTRAINT_STRUCTURAL_TAG] = {"structured_outputs", "structural_tag",
				.value = wfs_constraint_tag_text},
		},
	.keys = "structured_outputs response_format",
	.ignored = "guided_",
	.xgrammar = true,
	.blocks_calls = true,
};

static const struct wfs_grammar_config llamacpp_grammar = {
	.forms =
		{
			[WFS_CONSTRAINT_JSON_SCHEMA] = {"response_format",
				.value = wfs_constraint_response_format},
			[WFS_CONSTRAINT_CHOICE] = {"grammar",
				.value = wfs_constraint_choices_grammar},
			[WFS_CONSTRAINT_GRAMMAR] = {"grammar", .member = "grammar"},
		},
	.keys = "grammar json_schema response_format",
	.key_sans_tools = "grammar",
};

static const struct wfs_grammar_config sglang_grammar = {
	.forms =
		{
			[WFS_CONSTRAINT_JSON_SCHEMA] = {"response_format",
				.value = wfs_constraint_response_format},
			[WFS_CONSTRAINT_REGEX] = {"regex", .member = "regex"},
			[WFS_CONSTRAINT_CHOICE] = {"regex", .value = wfs_constraint_choices_regex},
			[WFS_CONSTRAINT_GRAMMAR] = {"ebnf", .member = "grammar"},
			[WFS_CONSTRAINT_STRUCTURAL_TAG] = {"response_format",
				.value = wfs_constraint_tag},
		},
	.keys = "regex ebnf response_format",
	.xgrammar = true,
	.blocks_calls = true,
};

#define ADAPTER_COMMON                                                            \
	.format_messages = wfs_format_messages, .format_tools = wfs_format_tools, \
	.response_parser = wfs_parser_parse

#define ADAPTER_SERVER ADAPTER_COMMON, .grammar_builder = wfs_constraint_build

static const struct wfs_adapter adapters[] = {
	{.name = "openai", ADAPTER_SERVER, .grammar_config = &openai_grammar},
	{.name = "vllm", ADAPTER_SERVER, .grammar_config = &vllm_grammar},
	{.name = "llamacpp",
		ADAPTER_SERVER,
		.grammar_config = &llamacpp_grammar,
		.tool_choice_texts = true},
	{.name = "sglang", ADAPTER_SERVER, .grammar_config = &sglang_grammar},
};

/* The script does not read the request, so nothing in it is refused. */
static const struct wfs_adapter script_adapter = {.name = "script", ADAPTER_COMMON};

int wfs_adapter_get(
	const json_t *entry, const struct wfs_adapter **ret_adapter, struct wfs_error *error)
{
	const char *const provider = json_string_value(json_object_get(entry, "provider"));
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	const char *profile = adapters[0].name;
	int r = 0;

	if (json_object_get(entry, "profile")) {
		r = wfs_json_get_string(entry, "profile", &profile, error);
	} else if (provider && strcmp(provider, "script") == 0) {
		*ret_adapter = &script_adapter;
		return 0;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(adapters); i++) {
		if (strcmp(adapters[i].name, profile) == 0) {
			*ret_adapter = &adapters[i];
			return 0;
		}
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(adapters); i++)
		wfs_buffer_printf(&names, "%s%s", i > 0 ? ", " : "", adapters[i].name);
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'profile': expected one of %s, got '%.100s'", wfs_buffer_text(&names), profile);
}
