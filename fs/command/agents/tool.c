/* SPDX-License-Identifier: Apache-2.0 */
/* tools, tool call: functions for models, and tools of servers outside of the world. */
#include <inttypes.h>
#include <string.h>

#include "fs/command/agents/commands.h"
#include "fs/command/agents/wait.h"
#include "fs/tool/tool.h"
#include "kernel/value/tool.h"

/* --- lists --- */

/* Prints the hints that are true, such as `readOnly,idempotent`; `-`: none. */
static void print_hints(FILE *out, const json_t *annotations)
{
	const unsigned int hints = wfs_tool_hints(annotations);
	char text[80] = "-";
	size_t size = 0;

	for (int i = 0; i < WFS_TOOL_HINT_COUNT; i++) {
		const char *const name = wfs_tool_hint_name(i);

		if (hints & (1U << i))
			size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s",
				size > 0 ? "," : "", (int)(strlen(name) - strlen("Hint")), name);
	}
	fprintf(out, "%-32s", text);
}

static int print_outside(struct wfs_run *run, const json_t *list)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(list, "tools"), i, row) {
		const char *const description = wfs_json_text(row, "description");

		if (i == 0)
			fprintf(run->out, "%-32s %-32s %s\n", "TOOL", "HINTS", "DESCRIPTION");
		fprintf(run->out, "%-32s ", wfs_json_text(row, "name"));
		print_hints(run->out, json_object_get(row, "annotations"));
		fprintf(run->out, " %.*s\n", (int)strcspn(description, "\r\n"), description);
	}
	(void)fflush(run->out); /* before notices */
	json_array_foreach(json_object_get(list, "servers"), i, row)
		if (*wfs_json_text(row, "reason"))
			wfs_run_notice(run, "%s: %s", wfs_json_text(row, "name"),
				wfs_json_text(row, "reason"));
	return 0;
}

int wfs_run_tools(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *definitions = NULL;

	if (run->options[WFS_OPTION_OUTSIDE])
		return wfs_run_show(run, "tools", NULL, print_outside);
	definitions = wfs_tool_definitions();
	if (!definitions)
		return -ENOMEM;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_print_document(run, definitions);
	for (size_t i = 0; i < wfs_tool_count; i++)
		fprintf(run->out, "%-40s  %s\n", wfs_tools[i].signature, wfs_tools[i].summary);
	return 0;
}

/* --- calls --- */

/* Prints the text of an answer, which may be the beginning of a longer one, or hidden. */
static int print_answer(struct wfs_run *run, const json_t *answer)
{
	const json_t *const output = json_object_get(answer, "output");
	const char *const text = json_string_value(output);
	const char *const blob = wfs_json_text(answer, "output_blob");

	if (!text)
		return wfs_run_print_document(run, output);
	(void)fwrite(text, 1, json_string_length(output), run->out);
	if (*text && text[json_string_length(output) - 1] != '\n')
		fputc('\n', run->out);
	(void)fflush(run->out); /* before the notice */
	if (*blob)
		wfs_run_notice(run,
			"the text was cut; 'worldfs blob get %s' prints all %" PRId64 " bytes",
			blob, wfs_run_integer(answer, "output_size"));
	return 0;
}

int wfs_run_tool_call(struct wfs_run *run)
{
	static const struct wfs_wait wait = {.verb = "tool", .ending = "cancelling the call"};
	WFS_AUTO_JSON json_t *arguments = NULL;
	WFS_AUTO_JSON json_t *payload = NULL;
	WFS_AUTO_JSON json_t *answer = NULL;
	int64_t took_ns;
	int r = 0;

	if (run->argument_count > 1)
		r = wfs_run_value(run, run->arguments[1], &arguments);
	if (r)
		return r;
	payload = json_pack("{s:s, s:O*}", "name", run->arguments[0], "arguments", arguments);
	r = payload ? wfs_run_open(run) : -ENOMEM;
	if (!r)
		r = wfs_wait(&wait, run, payload, &answer, &took_ns);
	if (r)
		return r;
	return run->options[WFS_OPTION_JSON] ? wfs_run_json(run, WFS_STEAL(answer))
					     : print_answer(run, answer);
}
