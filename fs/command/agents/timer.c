/* SPDX-License-Identifier: Apache-2.0 */
/* timer ls, show, cancel. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "fs/command/agents/commands.h"
#include "fs/command/frame/walk.h"

#define SECOND_NS INT64_C(1000000000)

static void print_timer(FILE *out, const json_t *timer, bool first)
{
	const time_t seconds = (time_t)(wfs_run_integer(timer, "next_ns") / SECOND_NS);
	char next[32] = "";
	struct tm local;

	if (first)
		fprintf(out, "%-24s %-16s %-16s %-8s %9s  %s\n", "TIMER", "PRINCIPAL", "ACTION",
			"CATCH-UP", "FIRED", "NEXT");
	if (json_is_true(json_object_get(timer, "paused")))
		snprintf(next, sizeof(next), "paused");
	else if (localtime_r(&seconds, &local))
		(void)strftime(next, sizeof(next), "%Y-%m-%d %H:%M:%S", &local);
	fprintf(out, "%-24s %-16s %-16s %-8s %9" PRId64 "  %s\n", wfs_json_text(timer, "id"),
		wfs_json_text(timer, "principal"), wfs_json_text(timer, "action_type"),
		wfs_json_text(timer, "catch_up"), wfs_run_integer(timer, "fired"), next);
}

int wfs_run_timer_ls(struct wfs_run *run)
{
	return wfs_run_list(run, "timers",
		json_pack(
			"{s:s*}", "principal", run->argument_count > 0 ? run->arguments[0] : NULL),
		print_timer);
}

int wfs_run_timer_show(struct wfs_run *run)
{
	const char *const given = run->arguments[0];
	const char *const slash = strchr(given, '/');
	const char *const id = slash ? slash + 1 : given;
	const char *const own = run->options[WFS_OPTION_AS];
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	WFS_AUTO_FREE char *path = NULL;

	if (asprintf(&path, "principals/%.*s%s/timers/%s.json", slash ? (int)(slash - given) : 0,
		    given,
		    slash         ? ""
			    : own ? own
				  : "operator",
		    id) < 0)
		return -ENOMEM;
	int r = strchr(id, '/') ? -ENOENT : wfs_walk_init(&walk, run, path);
	if (!r)
		r = wfs_walk_read(&walk, path, wfs_walk_keep, &text);
	if (r == -ENOENT)
		return wfs_error_set(
			&run->error, WFS_E_NOT_FOUND, "Timer '%.200s' not found", given);
	if (!r)
		r = wfs_json_parse(text.data, text.size, &document, &run->error);
	return r ? r : wfs_run_json(run, WFS_STEAL(document));
}

int wfs_run_timer_cancel(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *data = NULL;
	int r = wfs_run_act(run,
		json_pack("{s:s, s:s}", "action_type", "unschedule", "id", run->arguments[0]),
		&data);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(data));
	wfs_run_notice(run, "cancelled %s", run->arguments[0]);
	return 0;
}
