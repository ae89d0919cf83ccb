/* SPDX-License-Identifier: Apache-2.0 */
/* Directories within that of an entity: `steps` of a plan, `entries` of a memory store. What their
 * files are: kernel/read/entity.h. */
#include "caps/session-entity.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"

#include "caps/session-list.h"

/* stat of a file in a directory, which is made from this version. */
static int item_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *directory, const struct wfs_version *version, uint64_t number,
	struct wfs_attr *ret_attr)
{
	const struct wfs_node made = {
		.kind = WFS_NODE_MADE, .file = directory->file, .number = version->vid};
	int r = 0;

	if (wfs_entity_file_form((enum wfs_entity_file)directory->file) == WFS_ENTITY_TEXTS)
		*ret_attr = wfs_tree_text_attr(version->vid, version->size_bytes, version->time_ns,
			directory->number == WFS_HEIGHT_HEAD);
	else
		r = wfs_tree_node_attr(tree, view, &made, ret_attr);
	if (!r)
		ret_attr->cookie = number + 1;
	return r;
}

int wfs_tree_item_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_session_item item = {.directory = (enum wfs_entity_file)parent->file};
	int r = wfs_tree_entity_find(tree, view, parent, &item.id, &item.version);

	if (!r)
		r = wfs_session_item(tree->session, view, name, &item);
	return r ? r : item_attr(tree, view, parent, &item.version, item.number, ret_attr);
}

int wfs_tree_items_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count)
{
	struct wfs_version version;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, node, &id, &version);

	return r ? r
		 : wfs_unjudged_item_count(view, (enum wfs_entity_file)node->file, id, ret_count);
}

int wfs_tree_items_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	struct wfs_session_item item = {
		.directory = (enum wfs_entity_file)node->file, .number = cookie};
	struct wfs_tree_scan *const scan = tree->scan;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	uint64_t all = UINT64_MAX;
	bool go_on = true;
	int r = wfs_session_lists(tree->session, item.directory, tree->refusal);

	if (!r)
		r = wfs_tree_entity_find(tree, view, node, &item.id, &item.version);
	if (r)
		return r;
	for (; !r && go_on; item.number++) {
		struct wfs_attr attr;

		r = wfs_session_item_next(
			tree->session, view, scan ? &scan->left : &all, &item, &name);
		if (r > 0)
			(void)wfs_tree_scan_ends(tree, item.number);
		if (r)
			return r < 0 && r != -ENOENT ? r : 0;
		r = item_attr(tree, view, node, &item.version, item.number, &attr);
		if (!r) {
			const struct wfs_tree_entry entry = {.name = wfs_buffer_text(&name),
				.attr = &attr,
				.cookie = item.number + 1};

			go_on = each(context, &entry);
		}
	}
	return r;
}
