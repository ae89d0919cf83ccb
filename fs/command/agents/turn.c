/* SPDX-License-Identifier: Apache-2.0 */
/* turns: lists what agents are doing, and have done. */
#include <inttypes.h>
#include <time.h>

#include "fs/command/agents/commands.h"

#define SECOND_NS (INT64_C(1000) * 1000 * 1000)

static void format_time(int64_t time_ns, char *text, size_t size)
{
	const time_t seconds = (time_t)(time_ns / SECOND_NS);
	struct tm local;

	*text = '\0';
	if (localtime_r(&seconds, &local))
		(void)strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

static void print_turn(FILE *out, const json_t *turn, bool first)
{
	char started[32];
	char took[32] = "-";
	char requests[48];
	const int64_t took_ns =
		wfs_run_integer(turn, "ended_ns") - wfs_run_integer(turn, "started_ns");

	if (first)
		fprintf(out, "%-24s %-16s %-16s %9s %6s %9s %-19s %8s\n", "TURN", "AGENT", "STATUS",
			"REQUESTS", "CALLS", "TOKENS", "STARTED", "TOOK");
	format_time(wfs_run_integer(turn, "started_ns"), started, sizeof(started));
	if (json_object_get(turn, "ended_ns"))
		snprintf(took, sizeof(took), "%.1fs", (double)took_ns / SECOND_NS);
	snprintf(requests, sizeof(requests), "%" PRId64 "/%" PRId64, wfs_run_integer(turn, "turn"),
		wfs_run_integer(turn, "max_turns"));
	fprintf(out, "%-24s %-16s %-16s %9s %6" PRId64 " %9" PRId64 " %-19s %8s\n",
		wfs_json_text(turn, "turn_id"), wfs_json_text(turn, "agent"),
		wfs_json_text(turn, "status"), requests, wfs_run_integer(turn, "tool_calls"),
		wfs_run_integer(turn, "total_tokens"), started, took);
}

int wfs_run_turns(struct wfs_run *run)
{
	return wfs_run_list(run, "turns",
		json_pack("{s:s*}", "agent", run->argument_count > 0 ? run->arguments[0] : NULL),
		print_turn);
}
