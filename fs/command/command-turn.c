/* SPDX-License-Identifier: Apache-2.0 */
/* turns: what agents are doing, and have done. */
#include <inttypes.h>
#include <time.h>

#include "fs/command/command-table.h"

#define SECOND_NS (INT64_C(1000) * 1000 * 1000)

struct turns_printer {
	struct wfs_run *run;
	json_t *all;   /* for --json, else NULL */
	bool has_head; /* the line with the names of columns was printed */
};

static void format_time(int64_t time_ns, char *text, size_t size)
{
	const time_t seconds = (time_t)(time_ns / SECOND_NS);
	struct tm local;

	*text = '\0';
	if (localtime_r(&seconds, &local))
		(void)strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

/* Of one that goes on there is nothing to say. */
static void format_took(const json_t *turn, char *text, size_t size)
{
	const int64_t took_ns =
		wfs_run_integer(turn, "ended_ns") - wfs_run_integer(turn, "started_ns");

	if (json_object_get(turn, "ended_ns"))
		snprintf(text, size, "%.1fs", (double)took_ns / SECOND_NS);
	else
		snprintf(text, size, "-");
}

static void print_turn(struct turns_printer *printer, const json_t *turn)
{
	FILE *const out = printer->run->out;
	char started[32];
	char took[32];
	char turns[48];

	if (!printer->has_head)
		fprintf(out, "%-24s %-16s %-16s %9s %6s %9s %-19s %8s\n", "TURN", "AGENT", "STATUS",
			"TURNS", "CALLS", "TOKENS", "STARTED", "TOOK");
	printer->has_head = true;
	format_time(wfs_run_integer(turn, "started_ns"), started, sizeof(started));
	format_took(turn, took, sizeof(took));
	snprintf(turns, sizeof(turns), "%" PRId64 "/%" PRId64, wfs_run_integer(turn, "turn"),
		wfs_run_integer(turn, "max_turns"));
	fprintf(out, "%-24s %-16s %-16s %9s %6" PRId64 " %9" PRId64 " %-19s %8s\n",
		wfs_json_text(turn, "turn_id"), wfs_json_text(turn, "agent"),
		wfs_json_text(turn, "status"), turns, wfs_run_integer(turn, "tool_calls"),
		wfs_run_integer(turn, "total_tokens"), started, took);
}

static int take_page(struct turns_printer *printer, const json_t *page)
{
	json_t *const turns = json_object_get(page, "turns");
	const json_t *turn;
	size_t i;

	if (printer->all)
		return json_array_extend(printer->all, turns) < 0 ? -ENOMEM : 0;
	json_array_foreach(turns, i, turn)
	{
		print_turn(printer, turn);
	}
	return 0;
}

static int read_pages(struct turns_printer *printer)
{
	struct wfs_run *const run = printer->run;
	const char *const agent = run->argument_count > 0 ? run->arguments[0] : NULL;
	WFS_AUTO_JSON json_t *cursor = NULL;
	int r;

	do {
		WFS_AUTO_JSON json_t *page = NULL;

		r = wfs_run_call(run, "turns",
			json_pack("{s:s*, s:O*}", "agent", agent, "cursor", cursor), &page);
		if (!r)
			r = take_page(printer, page);
		json_decref(cursor);
		cursor = json_incref(json_object_get(page, "next_cursor"));
	} while (!r && cursor);
	return r;
}

int wfs_run_turns(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_JSON json_t *all = json ? json_array() : NULL;
	struct turns_printer printer = {run, all, false};
	int r = read_pages(&printer);

	if (!r && json)
		r = wfs_run_json(run, json_pack("{s:O}", "turns", all));
	return r;
}
