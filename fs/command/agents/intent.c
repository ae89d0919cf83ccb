/* SPDX-License-Identifier: Apache-2.0 */
/* intents ls, resolve: effects that have no answer. */
#include <string.h>

#include "fs/command/agents/commands.h"

static void print_intent(FILE *out, const json_t *intent, bool first)
{
	static const char *const askers[] = {"run_id", "plan_id", "chat_id"};
	const char *asker = "-";

	if (first)
		fprintf(out, "%-71s %-8s %-16s %-16s %-24s %s\n", "INTENT", "STATE", "EFFECT",
			"PRINCIPAL", "TOOL", "WAITS");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askers); i++)
		if (*wfs_json_text(intent, askers[i]))
			asker = wfs_json_text(intent, askers[i]);
	fprintf(out, "%-71s %-8s %-16s %-16s %-24s %s\n", wfs_json_text(intent, "intent_id"),
		wfs_json_text(intent, "state"), wfs_json_text(intent, "effect"),
		wfs_json_text(intent, "principal"),
		*wfs_json_text(intent, "name") ? wfs_json_text(intent, "name") : "-", asker);
}

int wfs_run_intents_ls(struct wfs_run *run)
{
	return wfs_run_list(run, "intents",
		json_pack("{s:s*}", "state", run->argument_count > 0 ? run->arguments[0] : NULL),
		print_intent);
}

/* Reads the result: JSON, or else a text. */
static json_t *result_of(const struct wfs_run *run)
{
	const char *const text = run->arguments[2];
	struct wfs_error ignored = {0};
	json_t *value = NULL;

	return wfs_json_parse(text, strlen(text), &value, &ignored) ? json_string(text) : value;
}

int wfs_run_intents_resolve(struct wfs_run *run)
{
	const char *const outcome = run->arguments[1];

	if (strcmp(outcome, "done") != 0 && strcmp(outcome, "not-done") != 0)
		return wfs_run_misuse(run, "expected done or not-done, got '%.60s'", outcome);
	return wfs_run_order(run, "intent-resolve",
		json_pack("{s:s, s:s, s:o*}", "intent_id", run->arguments[0], "outcome", outcome,
			"result", run->argument_count > 2 ? result_of(run) : NULL),
		"resolved", run->arguments[0]);
}
