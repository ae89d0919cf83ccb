/* SPDX-License-Identifier: Apache-2.0 */
/* The directory `entries` of a memory store. What its files are:
 * kernel/domain/memory/memory-file.h. */
#include "fs/tree/tree-impl.h"

static bool is_live(const struct wfs_node *directory)
{
	return directory->number == WFS_HEIGHT_HEAD;
}

int wfs_tree_entry_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_version version;
	struct wfs_bytes id;
	uint32_t number;

	if (!wfs_memory_entry_number(name, &number))
		return -ENOENT;
	int r = wfs_tree_entity_find(tree, view, parent, &id, &version);
	if (!r)
		r = wfs_session_entry(tree->session, view, id, number, &version);
	if (r)
		return r;
	*ret_attr = wfs_tree_text_attr(
		version.vid, version.size_bytes, version.time_ns, is_live(parent));
	ret_attr->cookie = (uint64_t)number + 1;
	return 0;
}

int wfs_tree_entries_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count)
{
	struct wfs_version version;
	struct wfs_bytes id;
	int r = wfs_tree_entity_find(tree, view, node, &id, &version);

	return r ? r : wfs_session_entry_count(tree->session, view, id, ret_count);
}

int wfs_tree_entries_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context)
{
	struct wfs_tree_scan *const scan = tree->scan;
	uint64_t all = UINT64_MAX;
	struct wfs_version version;
	struct wfs_entry found;
	struct wfs_bytes id;
	bool go_on = true;
	int r = wfs_session_lists(tree->session, WFS_ENTITY_FILE_ENTRIES, tree->refusal);

	if (!r)
		r = wfs_tree_entity_find(tree, view, node, &id, &version);
	if (r)
		return r;
	while (!r && go_on) {
		char name[WFS_MEMORY_NAME_SIZE];

		r = wfs_session_entry_next(
			tree->session, view, id, &cookie, scan ? &scan->left : &all, &found);
		if (r > 0)
			(void)wfs_tree_scan_ends(tree, cookie);
		if (r)
			break;
		wfs_memory_entry_name((uint32_t)cookie++, name);
		const struct wfs_attr attr = wfs_tree_text_attr(
			found.vid, found.size_bytes, found.time_ns, is_live(node));
		const struct wfs_tree_entry entry = {.name = name, .attr = &attr, .cookie = cookie};
		go_on = each(context, &entry);
	}
	return r == -ENOENT || r > 0 ? 0 : r;
}
