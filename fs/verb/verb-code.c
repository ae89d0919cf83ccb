/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about code that crashed the process that runs code: list it, and let it run again. */
#include "caps/session-upkeep.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static json_t *row_json(const struct wfs_quarantine_row *row)
{
	json_t *const json = json_pack("{s:I, s:I, s:s, s:b}", "at_ns", (json_int_t)row->at_ns,
		"crashes", (json_int_t)row->crashes, "name", row->name, "refused",
		row->crashes >= WFS_QUARANTINE_CRASHES);

	if (json && wfs_json_set_hash(json, "code", &row->code)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int set_result(struct wfs_call *call, const struct wfs_quarantine_row *rows, size_t count,
	const struct wfs_hash *lifted)
{
	json_t *const list = json_array();

	call->result = json_object();
	if (!list || json_object_set_new(call->result, "codes", list) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, row_json(&rows[i])) < 0)
			return -ENOMEM;
	return lifted ? wfs_json_set_hash(call->result, "lifted", lifted) : 0;
}

int wfs_verb_code(struct wfs_call *call)
{
	const char *const lift = wfs_verb_text(call, "lift");
	struct wfs_hash code;
	struct wfs_quarantine_row *rows = NULL;
	size_t count = 0;
	int r = lift ? wfs_hash_parse(lift, strlen(lift), &code, &call->error) : 0;

	if (!r)
		r = wfs_session_code(
			call->session, lift ? &code : NULL, &rows, &count, &call->error);
	if (!r)
		r = set_result(call, rows, count, lift ? &code : NULL);
	free(rows);
	return r;
}
