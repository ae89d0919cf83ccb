/* SPDX-License-Identifier: Apache-2.0 */
/* invoke, mint resolve: one action. */
#include <string.h>

#include "caps/session.h"
#include "fs/command/command-table.h"

#define ACTION_PREFIX "action."

enum { NAME_WIDTH = 18 };

static const char *shape_name(const struct wfs_shape *shape)
{
	static const char *const names[] = {
		[WFS_SHAPE_TEXT] = "text",
		[WFS_SHAPE_NAT] = "integer",
		[WFS_SHAPE_BOOL] = "boolean",
		[WFS_SHAPE_HASH] = "hash",
		[WFS_SHAPE_LIST] = "array",
		[WFS_SHAPE_RECORD] = "object",
		[WFS_SHAPE_OBJECT] = "object",
		[WFS_SHAPE_VALUE] = "value",
	};

	return names[shape->kind];
}

bool wfs_invoke_topic(FILE *file, const char *word)
{
	char kind[64];

	snprintf(kind, sizeof(kind), ACTION_PREFIX "%s", word);
	const enum wfs_effect effect = wfs_effect_find(kind);
	if (effect == WFS_EFFECT_COUNT)
		return false;
	fprintf(file, "%s: %s\n\nMembers, beside action_type:\n", word, wfs_effect_help(effect));
	for (const struct wfs_shape_member *member = wfs_effect_params(effect)->members;
		member->name; member++) {
		char left[64];

		snprintf(left, sizeof(left), "  %s (%s%s)", member->name, shape_name(member->shape),
			member->optional ? "" : "; required");
		wfs_help_item(file, left, member->help);
	}
	return true;
}

static void print_actions(FILE *file)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const char *const kind = wfs_effect_kind(effect);

		if (strncmp(kind, ACTION_PREFIX, sizeof(ACTION_PREFIX) - 1) == 0)
			fprintf(file, "%-*s %s\n", NAME_WIDTH, kind + sizeof(ACTION_PREFIX) - 1,
				wfs_effect_help(effect));
	}
	fputs("\n'worldfs invoke --help ACTION' tells more about an action.\n", file);
}

int wfs_run_invoke(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	json_t *action;

	if (run->argument_count == 0) {
		print_actions(run->out);
		return 0;
	}
	int r = wfs_run_value(run, run->arguments[0], &action);
	if (!r)
		r = wfs_run_call(run, "invoke", json_pack("{s:o}", "action", action), &result);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	return wfs_run_print_document(run, result);
}

int wfs_run_mint_resolve(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_run_call(run, "invoke",
		json_pack("{s:{s:s}}", "action", "action_type", "resolve_mint"), &result);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	wfs_run_notice(run, "%s", wfs_run_text(result, "message"));
	return wfs_run_print_document(run, json_object_get(result, "data"));
}
