/* SPDX-License-Identifier: Apache-2.0 */
/* The directory `steps` of a plan. What its files hold: kernel/domain/plan/plan-file.h. */
#include "fs/tree/tree-impl.h"

/* stat of a step's file, which is made from this version. */
static int step_attr(
	const struct wfs_tree *tree, struct wfs_view *view, uint64_t vid, struct wfs_attr *ret_attr)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_PLAN_STEPS, .number = vid};

	return wfs_tree_node_attr(tree, view, &node, ret_attr);
}

int wfs_tree_step_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer wanted = {0};
	struct wfs_version version;
	struct wfs_bytes plan_id;
	int64_t index;

	if (!wfs_plan_step_number(name, &index))
		return -ENOENT;
	int r = wfs_tree_entity_find(tree, view, parent, &plan_id, &version);
	if (!r)
		r = wfs_session_plan_step(
			tree->session, view, plan_id, (uint64_t)index, &wanted, &version);
	if (!r && strcmp(wfs_buffer_text(&wanted), name) != 0)
		r = -ENOENT;
	if (!r)
		r = step_attr(tree, view, version.vid, ret_attr);
	if (!r)
		ret_attr->cookie = (uint64_t)index + 1;
	return r;
}

int wfs_tree_steps_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count)
{
	struct wfs_version version;
	struct wfs_bytes plan_id;
	int r = wfs_tree_entity_find(tree, view, node, &plan_id, &version);

	return r ? r : wfs_session_plan_step_count(tree->session, view, plan_id, ret_count);
}

int wfs_tree_steps_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_version version;
	struct wfs_bytes plan_id;
	uint64_t count = 0;
	bool go_on = true;
	int r = wfs_session_lists(tree->session, WFS_ENTITY_FILE_PLAN_STEPS, tree->refusal);

	if (!r)
		r = wfs_tree_entity_find(tree, view, node, &plan_id, &version);
	if (!r)
		r = wfs_session_plan_step_count(tree->session, view, plan_id, &count);
	for (uint64_t i = cookie; !r && go_on && i < count; i++) {
		struct wfs_attr attr;

		if (wfs_tree_scan_ends(tree, i))
			break;
		wfs_buffer_reset(&name);
		r = wfs_session_plan_step(tree->session, view, plan_id, i, &name, &version);
		if (r == -ENOENT) { /* the session may not see it */
			r = 0;
			continue;
		}
		if (!r)
			r = step_attr(tree, view, version.vid, &attr);
		if (!r) {
			const struct wfs_tree_entry entry = {
				.name = wfs_buffer_text(&name), .attr = &attr, .cookie = i + 1};

			go_on = each(context, &entry);
		}
	}
	return r;
}
