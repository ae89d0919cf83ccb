/* SPDX-License-Identifier: Apache-2.0 */
/* Dropping old heights: all at once, or page by page for clients that show the progress. */
#include "caps/session-upkeep.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

/* Begins the collection from the member `keep_heights` or `since`; `raw_before` needs neither. */
static int first_height_asked_for(struct wfs_call *call, struct wfs_gc *gc)
{
	const bool keep = json_object_get(call->payload, "keep_heights");
	const char *const name = keep ? "keep_heights" : "since";
	int64_t number = 0;
	int64_t raw = 0;
	int r = 0;

	if (json_object_get(call->payload, "raw_before"))
		r = wfs_json_get_integer(
			call->payload, "raw_before", 1, INT64_MAX, &raw, &call->error);
	if (r)
		return r;
	gc->raw_before = (uint64_t)raw;
	gc->raw_only = raw > 0 && !keep && !json_object_get(call->payload, "since");
	if (gc->raw_only && gc->journal)
		return wfs_error_set(&call->error, WFS_E_MISSING_ARGUMENT,
			"'journal' needs 'keep_heights' or 'since', got neither");
	if (gc->raw_only)
		return wfs_session_gc_begin(call->session, false, 0, gc, &call->error);
	if (keep == (json_object_get(call->payload, "since") != NULL))
		return wfs_error_set(&call->error,
			keep ? WFS_E_INVALID_ARGUMENT : WFS_E_MISSING_ARGUMENT,
			"expected either 'keep_heights' or 'since'%s, got %s",
			keep ? "" : ", or 'raw_before'", keep ? "both" : "neither");
	r = wfs_json_get_integer(call->payload, name, 1, INT64_MAX, &number, &call->error);
	if (r)
		return r;
	return wfs_session_gc_begin(call->session, keep, (uint64_t)number, gc, &call->error);
}

static int set_result(struct wfs_call *call, const struct wfs_gc *gc)
{
	call->result = json_pack("{s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "cells",
		(json_int_t)gc->figures.cell_count, "done", (json_int_t)gc->after_vid, "file_bytes",
		(json_int_t)gc->figures.file_bytes, "files", (json_int_t)gc->figures.file_count,
		"files_held", (int)gc->files_held, "first_height", (json_int_t)gc->first_height,
		"record_bytes", (json_int_t)gc->figures.record_bytes, "records",
		(json_int_t)gc->figures.record_count, "total", (json_int_t)gc->last_vid,
		"version_bytes", (json_int_t)gc->figures.version_bytes, "versions",
		(json_int_t)gc->figures.version_count);
	if (gc->raw_before > 0 &&
		(json_object_set_new(call->result, "raw",
			 json_integer((json_int_t)gc->figures.raw_count)) < 0 ||
			json_object_set_new(call->result, "raw_bytes",
				json_integer((json_int_t)gc->figures.raw_bytes)) < 0))
		return -ENOMEM;
	if (!call->result)
		return -ENOMEM;
	return gc->done ? 0 : wfs_verb_cursor_set(call, gc->after_vid);
}

int wfs_verb_gc(struct wfs_call *call)
{
	struct wfs_gc gc = {.first_height = 0};
	uint64_t limit = 0; /* until it is done */
	int r;

	gc.journal = wfs_verb_flag(call, "journal");
	r = wfs_verb_cursor(call, &gc.after_vid);
	if (!r && json_object_get(call->payload, "limit"))
		r = wfs_verb_limit(call, WFS_VERB_GC_MAX, &limit);
	if (!r)
		r = first_height_asked_for(call, &gc);
	if (!r)
		r = wfs_session_gc(call->session, &gc, limit, &call->error);
	return r ? r : set_result(call, &gc);
}
