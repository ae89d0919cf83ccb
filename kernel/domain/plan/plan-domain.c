/* SPDX-License-Identifier: Apache-2.0 */
/* Chats and plans, as a domain. */
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/plan/plan-impl.h"
#include "kernel/read/entity.h"

static const struct wfs_action_type actions[] = {
	{"chat", .form = &plan_chat_form, .fold = plan_fold_chat},
	{"import", .form = &plan_import_form, .fold = plan_fold_import},
	{"resume", .form = &plan_resume_form, .fold = plan_fold_resume},
	{"stop", true, .form = &plan_stop_form, .fold = plan_fold_cancel},
	{NULL},
};

static const struct wfs_intent_type intents[] = {
	{"chat_id", plan_fold_receipt, plan_fold_called},
	{"plan_id", plan_fold_receipt, plan_fold_called},
	{NULL},
};

/* --- files --- */

static int write_document(struct wfs_view *then, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	int r = wfs_view_read_plan_version(then, version, &plan, NULL);

	return r ? wfs_trace(r) : wfs_plan_document(then, &plan, range, buffer, ret_size_bytes);
}

/* Finds the step with this number, and appends the name of its file. */
static int find_step(struct wfs_view *view, struct wfs_bytes plan_id, uint64_t number,
	struct wfs_buffer *name, struct wfs_version *ret_version)
{
	if (number >= WFS_PLAN_STEPS_MAX)
		return -ENOENT;
	int r = wfs_plan_step_at(view, plan_id, (int64_t)number, ret_version);
	return r ? r : wfs_plan_step_name(view, ret_version, (int64_t)number, name);
}

static int find_step_file(struct wfs_view *view, struct wfs_bytes id, const char *name,
	uint64_t *ret_number, struct wfs_version *ret_version)
{
	WFS_AUTO_BUFFER struct wfs_buffer wanted = {0};
	int64_t index;

	if (!wfs_plan_step_number(name, &index))
		return -ENOENT;
	*ret_number = (uint64_t)index;
	int r = find_step(view, id, *ret_number, &wanted, ret_version);
	return !r && strcmp(wfs_buffer_text(&wanted), name) != 0 ? -ENOENT : r;
}

static int next_step_file(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
	struct wfs_buffer *name, struct wfs_version *ret_version)
{
	return find_step(view, id, *number, name, ret_version);
}

static int count_steps(struct wfs_view *view, struct wfs_bytes id, uint64_t *ret_count)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = {.own = {.json = NULL}};
	struct wfs_version version;
	int r = wfs_entity_live_cell(view, WFS_BUILTIN_PLAN, id, &version);

	if (!r)
		r = wfs_view_read_plan_version(view, &version, &plan, NULL);
	*ret_count = plan.defined > 0 ? (uint64_t)plan.defined : 0;
	return r;
}

static int name_step_file(struct wfs_view *view, struct wfs_bytes key,
	const struct wfs_version *version, struct wfs_bytes *ret_id, struct wfs_buffer *name)
{
	struct wfs_version live;
	int64_t index;

	if (!wfs_plan_step_key(key, ret_id, &index))
		return -ENOENT;
	if (view && version)
		return wfs_plan_step_name(view, version, index, name);
	return view ? find_step(view, *ret_id, (uint64_t)index, name, &live) : 0;
}

static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_PLAN, {.write_part = write_document}},
	{WFS_ENTITY_FILE_PLAN_BESIDE, {.write_part = write_document}},
	{WFS_ENTITY_FILE_PLAN_STATUS, {.write = wfs_plan_write_status}},
	{WFS_ENTITY_FILE_PLAN_GRAPH, {.write = wfs_plan_write_graph}},
	{WFS_ENTITY_FILE_PLAN_STEPS,
		{.write_part = wfs_plan_step_file,
			.find = find_step_file,
			.next = next_step_file,
			.count = count_steps,
			.name = name_step_file}},
};

const struct wfs_domain wfs_plan_domain = {
	.name = "plan",
	.actions = actions,
	.intents = intents,
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
};
