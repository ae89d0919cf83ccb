/* SPDX-License-Identifier: Apache-2.0 */
/* invoke, mint resolve: take one action. */
#include <string.h>

#include "fs/command/write/commands.h"

#include "kernel/manifest/effect.h"

enum { NAME_WIDTH = 18 };

bool wfs_invoke_topic(FILE *file, const char *word)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const char *const name = wfs_effect_action((enum wfs_effect)i);

		if (!name || strcmp(name, word) != 0)
			continue;
		wfs_effect_action_page((enum wfs_effect)i, &page);
		fputs(wfs_buffer_text(&page), file);
		return true;
	}
	return false;
}

static void print_actions(FILE *file)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		const char *const name = wfs_effect_action(effect);

		if (name)
			fprintf(file, "%-*s %s\n", NAME_WIDTH, name, wfs_effect_help(effect));
	}
	fputs("\n'worldfs invoke --help ACTION' describes an action.\n", file);
}

int wfs_run_invoke(struct wfs_run *run)
{
	json_t *action;

	if (run->argument_count == 0) {
		print_actions(run->out);
		return 0;
	}
	int r = wfs_run_value(run, run->arguments[0], &action);
	return r ? r
		 : wfs_run_show(run, "invoke", json_pack("{s:o}", "action", action),
			   wfs_run_print_document);
}

static int print_mint(struct wfs_run *run, const json_t *result)
{
	wfs_run_notice(run, "%s", wfs_json_text(result, "message"));
	return wfs_run_print_document(run, json_object_get(result, "data"));
}

int wfs_run_mint_resolve(struct wfs_run *run)
{
	return wfs_run_show(run, "invoke",
		json_pack("{s:{s:s}}", "action", "action_type", "resolve_mint"), print_mint);
}
