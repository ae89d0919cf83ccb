/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts, scrip, the mint and code that runs, as a domain. */
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/read/entity.h"

static int check(const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error)
{
	(void)manifest;
	return wfs_action_check_form(action, error);
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
