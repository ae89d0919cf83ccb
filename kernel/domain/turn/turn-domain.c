/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of agents as a domain. */
#include "kernel/base/json.h"
#include "kernel/domain/turn/raw.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/read/entity.h"

static const struct wfs_action_type actions[] = {
	{"step", .form = &turn_step_form, .fold = turn_fold_step},
	{"cancel", true, .form = &turn_cancel_form, .fold = turn_fold_cancel},
	{"ask", .form = &turn_ask_form, .fold = turn_fold_ask},
	{"approve", .form = &turn_approve_form, .fold = turn_fold_approve},
	{"wait", .form = &turn_wait_form, .fold = turn_fold_wait},
	{"wake", .form = &turn_wake_form, .fold = turn_fold_wake},
	{NULL},
};

static const struct wfs_intent_type intents[] = {
	{"run_id", turn_fold_receipt, turn_fold_called, turn_fold_begun, turn_describe_call},
	{NULL},
};

/* `result.json` exists from the end of the turn on. */
static int find_result(struct wfs_view *view, struct wfs_bytes id, const struct wfs_version *entity,
	struct wfs_version *ret_version)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run;
	int r = wfs_turn_version(view, entity, &run);

	(void)id;
	*ret_version = *entity;
	return !r && !run.reason ? -ENOENT : r;
}

static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_STATUS, {.write = wfs_turn_write_status}},
	{WFS_ENTITY_FILE_MESSAGES, {.write = wfs_turn_write_messages}},
	{WFS_ENTITY_FILE_TRANSCRIPT, {.write = wfs_turn_write_transcript}},
	{WFS_ENTITY_FILE_RESULT, {.source = find_result, .write = wfs_turn_write_result}},
	{WFS_ENTITY_FILE_RAW,
		{.write_part = turn_raw_write,
			.find = turn_raw_find,
			.next = turn_raw_next,
			.count = turn_raw_count,
			.name = turn_raw_name}},
};

static void clear(struct wfs_fold *fold)
{
	turn_kept(fold)->run_count = 0;
}

const struct wfs_domain wfs_turn_domain = {
	.name = "turn",
	.actions = actions,
	.intents = intents,
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
	.kept_size = sizeof(struct turn_kept),
	.clear = clear,
	.apply = turn_index_record,
};
