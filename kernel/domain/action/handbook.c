/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the pages of the handbook. See handbook.h. */
#include "kernel/domain/action/handbook.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/handbook-pages.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/source.h"
#include "kernel/query/query.h"

#define FENCE "```\n"

/* --- the parts that tables of this program give --- */

static void append_actions(struct wfs_buffer *buffer)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const char *const name = wfs_effect_action((enum wfs_effect)i);

		if (!name)
			continue;
		wfs_buffer_printf(buffer, "\n## %s\n\n" FENCE, name);
		wfs_effect_action_page((enum wfs_effect)i, buffer);
		wfs_buffer_append_text(buffer, FENCE);
	}
}

static void append_error(struct wfs_buffer *buffer, enum wfs_error_code code)
{
	const struct wfs_error_info *const info = wfs_error_info(code);

	wfs_buffer_printf(buffer, "| %s | %s | %s | %s |\n", info->name, info->category,
		info->retriable ? "yes" : "no", info->text);
}

static void append_errors(struct wfs_buffer *buffer)
{
	for (int code = WFS_OK + 1; code < WFS_ERROR_CODE_COUNT; code++)
		append_error(buffer, (enum wfs_error_code)code);
}

static void append_query_errors(struct wfs_buffer *buffer)
{
	static const enum wfs_error_code codes[] = {WFS_E_INVALID_QUERY_TYPE, WFS_E_INVALID_PARAM,
		WFS_E_MISSING_PARAM, WFS_E_INVALID_PARAM_TYPE, WFS_E_INVALID_PARAM_VALUE,
		WFS_E_INVALID_PATTERN, WFS_E_NOT_FOUND};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(codes); i++)
		append_error(buffer, codes[i]);
}

static void append_queries(struct wfs_buffer *buffer)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const enum wfs_query_type type = (enum wfs_query_type)i;

		wfs_buffer_printf(buffer, "\n## %s\n\n" FENCE, wfs_query_name(type));
		wfs_query_page(type, buffer);
		wfs_buffer_printf(buffer,
			"\nExample:\n  {\"action_type\": \"query_kernel\", \"query_type\": "
			"\"%s\",\n"
			"   \"params\": %s}\n" FENCE,
			wfs_query_name(type), wfs_query_example(type));
	}
}

static void append_function(struct wfs_buffer *buffer, const char *table, const char *name,
	const char *arguments, const char *help)
{
	wfs_buffer_printf(buffer, "- `%s%s%s(%s)`: %s\n", table ? table : "", table ? "." : "",
		name, arguments, help);
}

/* Appends the functions of a Lua table. @table: NULL: functions outside of tables */
static void append_table(struct wfs_buffer *buffer, const char *table)
{
	for (size_t i = 0; i < host_help_count; i++) {
		const struct wfs_lua_binding *const binding = &host_bindings[i];

		if (strcmp(binding->table ? binding->table : "", table ? table : "") == 0)
			append_function(buffer, table, binding->name, host_helps[i].arguments,
				host_helps[i].help);
	}
}

static void append_functions(struct wfs_buffer *buffer)
{
	append_table(buffer, NULL);
}

static void append_kernel_state(struct wfs_buffer *buffer)
{
	append_table(buffer, "kernel_state");
}

/* The actions, with their members in the order of unnamed arguments. */
static void append_kernel_actions(struct wfs_buffer *buffer)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const struct wfs_field *member = wfs_effect_params(effect)->fields;
		WFS_AUTO_BUFFER struct wfs_buffer members = {0};

		if (!wfs_effect_action(effect) || effect == WFS_EFFECT_ACTION_RESOLVE_MINT)
			continue; /* only administrators ask for it, not code */
		for (; member->name; member++)
			wfs_buffer_printf(&members, "%s%s", members.size ? ", " : "", member->name);
		append_function(buffer, "kernel_actions", wfs_effect_action(effect),
			wfs_buffer_text(&members), wfs_effect_help(effect));
	}
	append_table(buffer, "kernel_actions");
}

static void append_bounds(struct wfs_buffer *buffer)
{
	const struct wfs_lua_limits limits = WFS_LUA_PROGRAM_LIMITS_DEFAULT;

	wfs_buffer_printf(buffer,
		"- %" PRIu64 " instructions for an invocation and all that are nested in it\n"
		"- %zu MiB of memory, %zu KiB for a result\n"
		"- %d invocations within each other, %d in all, %d actions\n",
		(uint64_t)limits.instructions, limits.memory_bytes >> 20, limits.output_bytes >> 10,
		INVOKE_DEPTH_MAX, INVOKE_COUNT_MAX, INVOKE_ACTION_COUNT_MAX);
}

/* --- pages --- */

/* Appends one line of a page. A line that consists of the name of a part stands for that part. */
static void append_line(struct wfs_buffer *buffer, struct wfs_bytes line)
{
	static const struct {
		const char *line;
		void (*append)(struct wfs_buffer *buffer);
	} parts[] = {
		{"@actions\n", append_actions},
		{"@bounds\n", append_bounds},
		{"@errors\n", append_errors},
		{"@functions\n", append_functions},
		{"@kernel_actions\n", append_kernel_actions},
		{"@kernel_state\n", append_kernel_state},
		{"@queries\n", append_queries},
		{"@query_errors\n", append_query_errors},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++)
		if (wfs_bytes_equal(line, wfs_bytes_text(parts[i].line))) {
			parts[i].append(buffer);
			return;
		}
	wfs_buffer_append(buffer, line.data, line.size);
}

static int append_artifact(json_t *artifacts, const char *name, const char *page)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char id[WFS_GRANT_NAME_MAX + 1];

	snprintf(id, sizeof(id), WFS_HANDBOOK_PREFIX "%s", name);
	for (const char *end; *page; page = end) {
		end = strchrnul(page, '\n');
		end += *end == '\n';
		append_line(&text, WFS_BYTES(page, (size_t)(end - page)));
	}
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	return json_array_append_new(artifacts,
		json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:s#}}", "id", id, "created_by",
			WFS_PRINCIPAL_OPERATOR, "action", "action_type", "write_artifact",
			"artifact_id", id, "type", "handbook", "content", text.data,
			(int)text.size));
}

json_t *wfs_handbook_artifacts(void)
{
	static const struct {
		const char *name;
		const char *page;
	} rows[] = {
		{"actions", handbook_actions},
		{"queries", handbook_queries},
		{"code", handbook_code},
		{"errors", handbook_errors},
		{"agents", handbook_agents},
		{"memory", handbook_memory},
		{"trade", handbook_trade},
	};
	WFS_AUTO_JSON json_t *artifacts = json_array();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(rows); i++)
		if (!artifacts || append_artifact(artifacts, rows[i].name, rows[i].page) < 0)
			return NULL;
	return WFS_STEAL(artifacts);
}
