/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that keep a world safe and small: backup, gc. */
#include <inttypes.h>

#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"

static int backup(struct wfs_run *run, struct wfs_backup_figures *ret_figures)
{
	struct wfs_progress progress;
	const struct wfs_backup_options options = {wfs_progress_step, &progress};
	int r = wfs_run_directory(run);

	if (r)
		return r;
	wfs_progress_init(&progress, run->err);
	r = wfs_upkeep_backup(
		run->directory, run->arguments[0], &options, ret_figures, &run->error);
	wfs_progress_clear(&progress);
	return r;
}

int wfs_run_backup(struct wfs_run *run)
{
	struct wfs_backup_figures figures = {0};

	wfs_interrupt_catch();
	int r = backup(run, &figures);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:s, s:I, s:I, s:I, s:I}", "backup", run->arguments[0],
				"data_bytes", (json_int_t)figures.data_bytes, "file_bytes",
				(json_int_t)figures.file_bytes, "file_count",
				(json_int_t)figures.file_count, "height",
				(json_int_t)figures.height));
	wfs_run_notice(run,
		"height %" PRIu64 " is in %s: data.mdb with %" PRIu64 " bytes, %" PRIu64
		" blob file%s with %" PRIu64,
		figures.height, run->arguments[0], figures.data_bytes, figures.file_count,
		figures.file_count == 1 ? "" : "s", figures.file_bytes);
	return 0;
}

/* --- gc --- */

enum { GC_PAGE = 5000 }; /* versions checked between two lines of progress */

/* Members that are summed over the answers of pages. */
static const char *const sums[] = {"cells", "file_bytes", "files", "raw", "raw_bytes",
	"record_bytes", "records", "version_bytes", "versions"};

static int first_page(struct wfs_run *run, json_t **ret_payload)
{
	const char *const keep = run->options[WFS_OPTION_KEEP_HEIGHTS];
	const char *const since = run->options[WFS_OPTION_SINCE];
	WFS_AUTO_JSON json_t *payload = NULL;

	if ((keep || !run->options[WFS_OPTION_RAW_BEFORE]) && !keep == !since)
		return wfs_run_misuse(run, "expected either --keep-heights or --since");
	if (!keep && !since && run->options[WFS_OPTION_JOURNAL])
		return wfs_run_misuse(run, "--journal needs --keep-heights or --since");
	payload = json_pack("{s:b, s:i}", "journal", run->options[WFS_OPTION_JOURNAL] != NULL,
		"limit", GC_PAGE);
	int r = payload ? wfs_run_members(run, payload) : -ENOMEM;
	if (!r)
		*ret_payload = WFS_STEAL(payload);
	return r;
}

/* Adds the sums of earlier pages, so that the last answer has the totals. */
static int add_sums(const json_t *before, json_t *page)
{
	int bad = 0;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sums); i++)
		bad |= json_object_set_new(page, sums[i],
			json_integer(
				wfs_run_integer(page, sums[i]) + wfs_run_integer(before, sums[i])));
	return bad ? -ENOMEM : 0;
}

/* Shows progress. Each page is complete, so stopping between two of them loses nothing. */
static int page_shown(struct wfs_run *run, struct wfs_progress *progress, const json_t *result)
{
	if (wfs_progress_step(progress, "versions", (uint64_t)wfs_run_integer(result, "done"),
		    (uint64_t)wfs_run_integer(result, "total")))
		return 0;
	return wfs_error_set(&run->error, WFS_E_CANCELLED,
		"interrupted: the first height is now %" PRId64 ", %" PRId64
		" versions were dropped; the next gc continues",
		wfs_run_integer(result, "first_height"), wfs_run_integer(result, "versions"));
}

static int collect(struct wfs_run *run, struct wfs_progress *progress, json_t **ret_result)
{
	WFS_AUTO_JSON json_t *result = NULL;
	json_t *payload = NULL;
	int r = first_page(run, &payload);
	WFS_AUTO_JSON json_t *raw = json_incref(json_object_get(payload, "raw_before"));

	while (!r) {
		json_t *page = NULL;

		r = wfs_run_call(run, "gc", payload, &page);
		if (!r)
			r = add_sums(result, page);
		json_decref(result);
		result = page;
		if (r || !json_object_get(result, "next_cursor"))
			break;
		r = page_shown(run, progress, result);
		if (r)
			break;
		payload = json_pack("{s:O, s:b, s:i, s:I}", "cursor",
			json_object_get(result, "next_cursor"), "journal",
			run->options[WFS_OPTION_JOURNAL] != NULL, "limit", GC_PAGE, "since",
			(json_int_t)wfs_run_integer(result, "first_height"));
		r = payload ? 0 : -ENOMEM;
		if (!r && raw && json_object_set(payload, "raw_before", raw) < 0)
			r = -ENOMEM;
	}
	if (!r)
		*ret_result = WFS_STEAL(result);
	return r;
}

int wfs_run_gc(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *result = NULL;
	WFS_AUTO_JSON json_t *status = NULL;
	struct wfs_progress progress;

	wfs_interrupt_catch();
	wfs_progress_init(&progress, run->err);
	int r = collect(run, &progress, &result);
	wfs_progress_clear(&progress);
	if (!r)
		r = wfs_run_call(run, "status", NULL, &status);
	if (r)
		return r;
	json_object_del(result, "done");
	json_object_del(result, "total");
	json_object_set(result, "store", json_object_get(status, "store"));
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	wfs_run_notice(run,
		"the first height is now %" PRId64 "; dropped %" PRId64 " versions with %" PRId64
		" bytes, %" PRId64 " cells, %" PRId64 " files with %" PRId64 " bytes",
		wfs_run_integer(result, "first_height"), wfs_run_integer(result, "versions"),
		wfs_run_integer(result, "version_bytes"), wfs_run_integer(result, "cells"),
		wfs_run_integer(result, "files"), wfs_run_integer(result, "file_bytes"));
	if (run->options[WFS_OPTION_JOURNAL])
		wfs_run_notice(run, "%" PRId64 " records with %" PRId64 " bytes were dropped",
			wfs_run_integer(result, "records"),
			wfs_run_integer(result, "record_bytes"));
	if (run->options[WFS_OPTION_RAW_BEFORE])
		wfs_run_notice(run,
			"%" PRId64 " requests and answers of models with %" PRId64
			" bytes were dropped",
			wfs_run_integer(result, "raw"), wfs_run_integer(result, "raw_bytes"));
	if (json_is_true(json_object_get(result, "files_held")))
		wfs_run_notice(run,
			"a backup or verify is reading blob files, so none was removed;"
			" the next gc does it");
	wfs_run_notice(run, "data.mdb has %" PRId64 " bytes, of which %" PRId64 " are free",
		wfs_run_integer(json_object_get(status, "store"), "used_bytes"),
		wfs_run_integer(json_object_get(status, "store"), "free_bytes"));
	return 0;
}
