/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts, scrip, the mint and code that runs, as a domain. */
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/domain/timer/timer.h"
#include "kernel/read/entity.h"

static int check(const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *params = NULL;
	struct wfs_params decoded;
	int r = wfs_action_check_form(action, error);

	(void)manifest;
	if (r || wfs_action_effect(action) != WFS_EFFECT_ACTION_SCHEDULE)
		return r;
	params = wfs_action_params(action);
	r = params ? wfs_effect_decode(WFS_EFFECT_ACTION_SCHEDULE, params, &decoded, error)
		   : fold_no_memory(error);
	return r ? r : wfs_timer_check(&decoded, error);
}

static const struct wfs_action_type actions[] = {
#define ACTION_ROW(constant, member, ...) \
	{&(#member)[sizeof("action_") - 1], .check = check, .fold_whole = action_fold},
	WFS_ACTIONS(ACTION_ROW)
#undef ACTION_ROW
		{NULL},
};

static void done(void *kept)
{
	action_programs_done(kept);
}

static int write_meta(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer)
{
	(void)then;
	return wfs_entity_write_document(wfs_artifact_document(state, true), buffer);
}

static int write_bare_meta(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer)
{
	(void)then;
	return wfs_entity_write_document(wfs_artifact_document(state, false), buffer);
}

static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_META, {.write = write_meta, .write_bare = write_bare_meta}},
};

const struct wfs_domain wfs_action_domain = {
	.name = "action",
	.actions = actions,
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
	.kept_size = sizeof(struct action_programs),
	.done = done,
	.fold_answer = action_fold_answer,
	.asker = WFS_BUILTIN_MINT,
};
