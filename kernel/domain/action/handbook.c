/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the handbook. See handbook.h. */
#include "kernel/domain/action/handbook.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/source.h"
#include "kernel/query/query.h"

#define FENCE "```\n"

/* --- actions --- */

void wfs_handbook_write_actions(struct wfs_buffer *buffer)
{
	wfs_buffer_append_text(buffer,
		"# Actions\n"
		"\n"
		"An action is a JSON object: its `action_type`, and the members that\n"
		"stand below. Write it to `ctl/invoke`, give it to the tool `invoke` or\n"
		"to `worldfs invoke`. It is taken by whoever's session that is; no member\n"
		"names somebody else. Without `action_type` it is `invoke_artifact`. To\n"
		"copy a file to `ctl/artifacts/ID` is a `write_artifact`, too.\n"
		"\n"
		"The result is `{ok, action_type, message, data, error, height, meta}`.\n"
		"When `ok` is false, nothing was done, and `error` is\n"
		"`{code, category, message, retriable, details?}`, see `handbook_errors`;\n"
		"in a control file `{ok, error, meta}` is all of it. Of an invocation that\n"
		"failed there is a record.\n");
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const char *const name = wfs_effect_action((enum wfs_effect)i);

		if (!name)
			continue;
		wfs_buffer_printf(buffer, "\n## %s\n\n" FENCE, name);
		wfs_effect_action_page((enum wfs_effect)i, buffer);
		wfs_buffer_append_text(buffer, FENCE);
	}
}

/* --- errors --- */

static void append_error(struct wfs_buffer *buffer, enum wfs_error_code code)
{
	const struct wfs_error_info *const info = wfs_error_info(code);

	wfs_buffer_printf(buffer, "| %s | %s | %s | %s |\n", info->name, info->category,
		info->retriable ? "yes" : "no", info->text);
}

#define ERROR_HEAD "| code | category | try again? | meaning |\n|---|---|---|---|\n"

void wfs_handbook_write_errors(struct wfs_buffer *buffer)
{
	wfs_buffer_append_text(buffer,
		"# Errors\n"
		"\n"
		"What is refused has a `code` of this table, and a `message` that says\n"
		"what was expected, what came, and where. Where it says yes, the same\n"
		"request may succeed later.\n"
		"\n" ERROR_HEAD);
	for (int code = WFS_OK + 1; code < WFS_ERROR_CODE_COUNT; code++)
		append_error(buffer, (enum wfs_error_code)code);
}

/* --- queries --- */

static void append_query(struct wfs_buffer *buffer, enum wfs_query_type type)
{
	wfs_buffer_printf(buffer, "\n## %s\n\n" FENCE, wfs_query_name(type));
	wfs_query_page(type, buffer);
	wfs_buffer_printf(buffer,
		"\nExample:\n  {\"action_type\": \"query_kernel\", \"query_type\": \"%s\",\n"
		"   \"params\": %s}\n" FENCE,
		wfs_query_name(type), wfs_query_example(type));
}

void wfs_handbook_write_queries(struct wfs_buffer *buffer)
{
	static const enum wfs_error_code codes[] = {WFS_E_INVALID_QUERY_TYPE, WFS_E_INVALID_PARAM,
		WFS_E_MISSING_PARAM, WFS_E_INVALID_PARAM_TYPE, WFS_E_INVALID_PARAM_VALUE,
		WFS_E_INVALID_PATTERN, WFS_E_NOT_FOUND};

	wfs_buffer_append_text(buffer,
		"# Queries\n"
		"\n"
		"A query tells what there is: it is free, changes nothing, and shows no\n"
		"content and no code. It is the action `query_kernel`; its two members\n"
		"are also written to `ctl/query` or given to the tool `query`; there is\n"
		"`worldfs query TYPE name=value ...`, and `kernel_state.query(type, params)`\n"
		"in code. A param that is null counts as absent. To find nothing is no\n"
		"error.\n");
	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		append_query(buffer, (enum wfs_query_type)i);
	wfs_buffer_append_text(buffer, "\n## Errors\n\n" ERROR_HEAD);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(codes); i++)
		append_error(buffer, codes[i]);
}

/* --- code --- */

static void append_function(struct wfs_buffer *buffer, const char *table, const char *name,
	const char *arguments, const char *help)
{
	wfs_buffer_printf(buffer, "- `%s%s%s(%s)`: %s\n", table ? table : "", table ? "." : "",
		name, arguments, help);
}

/* Appends the functions of a Lua table. @table: NULL: functions outside of tables */
static void append_functions(struct wfs_buffer *buffer, const char *table)
{
	for (size_t i = 0; i < host_help_count; i++) {
		const struct wfs_lua_binding *const binding = &host_bindings[i];

		if (strcmp(binding->table ? binding->table : "", table ? table : "") == 0)
			append_function(buffer, table, binding->name, host_helps[i].arguments,
				host_helps[i].help);
	}
}

/* Appends the actions, with their members in the order of unnamed arguments. */
static void append_actions(struct wfs_buffer *buffer)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const struct wfs_shape_member *member = wfs_effect_params(effect)->members;
		WFS_AUTO_BUFFER struct wfs_buffer members = {0};

		if (!wfs_effect_action(effect) || effect == WFS_EFFECT_ACTION_RESOLVE_MINT)
			continue; /* only administrators ask for it, not code */
		for (; member->name; member++)
			wfs_buffer_printf(&members, "%s%s", members.size ? ", " : "", member->name);
		append_function(buffer, "kernel_actions", wfs_effect_action(effect),
			wfs_buffer_text(&members), wfs_effect_help(effect));
	}
}

static void append_bounds(struct wfs_buffer *buffer)
{
	const struct wfs_lua_limits limits = WFS_LUA_PROGRAM_LIMITS_DEFAULT;

	wfs_buffer_printf(buffer,
		"\n"
		"## Bounds\n"
		"\n"
		"- %" PRIu64 " instructions for an invocation and all that are nested in it\n"
		"- %zu MiB of memory, %zu KiB for a result\n"
		"- %d invocations within each other, %d in all, %d actions\n",
		(uint64_t)limits.instructions, limits.memory_bytes >> 20, limits.output_bytes >> 10,
		INVOKE_DEPTH_MAX, INVOKE_COUNT_MAX, INVOKE_ACTION_COUNT_MAX);
}

void wfs_handbook_write_code(struct wfs_buffer *buffer)
{
	wfs_buffer_append_text(buffer,
		"# Code\n"
		"\n"
		"The code of an artifact is Lua 5.4, without files, clock, `load` and\n"
		"coroutines. It defines `run(...)`, which an invocation calls with its\n"
		"arguments and which returns one value, or `check(...)`, or both. It runs\n"
		"anew for every call. What an invocation does happens whole, or not at\n"
		"all when it raises an error; then nothing is paid, either.\n"
		"\n"
		"    function run(a, b)\n"
		"        return a + b\n"
		"    end\n"
		"\n"
		"It acts as the artifact, never as its caller: what it gives away must be\n"
		"its own. It may do and see what the grants of its author allow, who\n"
		"wrote the code last: the rest fails with `not_authorized` or\n"
		"`policy_denied`, or is not there. Its own artifact and scrip it always\n"
		"sees.\n"
		"\n"
		"## ctx, deps\n"
		"\n"
		"- `ctx.caller`: who invokes it, a principal or an artifact\n"
		"- `ctx.origin`: the principal who began it all, and pays\n"
		"- `ctx.artifact_id`: the artifact itself\n"
		"- `ctx.method`: the name that it was invoked by; `run` when none was given\n"
		"- `ctx.call_id`, `ctx.tool_name`, `ctx.run_id`, `ctx.turn`: the tool call\n"
		"  of an agent, when it was called by one\n"
		"- `ctx.seq`, `ctx.at_ns`: the record, and its time in ns since 1970\n"
		"- `ctx.random(n)`: an integer from 1 to n; without n, a number from 0 to 1\n"
		"- `deps`: rows of what it depends on, by id; only the id of what its author does "
		"not see\n"
		"\n"
		"## Functions\n"
		"\n");
	append_functions(buffer, NULL);
	wfs_buffer_append_text(buffer,
		"\n"
		"## kernel_state\n"
		"\n");
	append_functions(buffer, "kernel_state");
	wfs_buffer_append_text(buffer,
		"\n"
		"## kernel_actions\n"
		"\n"
		"Each takes one table with members of the action, or their values in\n"
		"order, and gives `{ok, action_type, message, data, error}`, where `data`\n"
		"or `error` is nil. An action that fails raises no error.\n"
		"`handbook_actions` tells of the members.\n"
		"\n");
	append_actions(buffer);
	append_functions(buffer, "kernel_actions");
	wfs_buffer_append_text(buffer,
		"\n"
		"## Contracts\n"
		"\n"
		"An artifact whose `access` is the id of another one is used by whom that\n"
		"allows: its `check(caller, action, artifact)` is given who asks, what for\n"
		"(`read`, `write`, `edit`, `delete`, `invoke`) and the artifact's row, and\n"
		"returns a table of `allowed` and `reason`. It only looks; an error, or\n"
		"anything but true, is a no.\n"
		"\n"
		"    function check(caller, action, artifact)\n"
		"        return {allowed = action == \"read\", reason = \"only to be read\"}\n"
		"    end\n");
	append_bounds(buffer);
}

/* --- the artifacts --- */

static int append_artifact(
	json_t *artifacts, const char *name, void (*write)(struct wfs_buffer *buffer))
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char id[WFS_GRANT_NAME_MAX + 1];

	snprintf(id, sizeof(id), WFS_HANDBOOK_PREFIX "%s", name);
	write(&text);
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
		void (*write)(struct wfs_buffer *buffer);
	} rows[] = {
#define HANDBOOK_ROW(name, function) {#name, (function)},
		WFS_HANDBOOK(HANDBOOK_ROW)
#undef HANDBOOK_ROW
	};
	WFS_AUTO_JSON json_t *artifacts = json_array();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(rows); i++)
		if (!artifacts || append_artifact(artifacts, rows[i].name, rows[i].write) < 0)
			return NULL;
	return WFS_STEAL(artifacts);
}
