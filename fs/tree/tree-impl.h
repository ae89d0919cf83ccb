/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/tree*.c: nodes of a view, and the fixed names of the root. */
#pragma once

#include "fs/tree/tree.h"

/* X(name, node kind, directory kind, only at the head, effect by which it is read) */
#define WFS_ROOT_NAMES(X)                                                                         \
	X("README", WFS_NODE_README, WFS_DIRECTORY_ROOT, false, INTROSPECT_JOURNAL_HEAD)          \
	X("manifest", WFS_NODE_VERSION, WFS_DIRECTORY_ROOT, false, INTROSPECT_MANIFEST)           \
	X("reducers", WFS_NODE_DIRECTORY, WFS_DIRECTORY_REDUCERS, false, INTROSPECT_LIST_CELLS)   \
	X("artifacts", WFS_NODE_DIRECTORY, WFS_DIRECTORY_ARTIFACTS, false, INTROSPECT_LIST_CELLS) \
	X("principals", WFS_NODE_DIRECTORY, WFS_DIRECTORY_PRINCIPALS, false,                      \
		INTROSPECT_LIST_CELLS)                                                            \
	X("plans", WFS_NODE_DIRECTORY, WFS_DIRECTORY_PLANS, false, INTROSPECT_LIST_CELLS)         \
	X("turns", WFS_NODE_DIRECTORY, WFS_DIRECTORY_TURNS, false, INTROSPECT_LIST_CELLS)         \
	X("blob", WFS_NODE_DIRECTORY, WFS_DIRECTORY_BLOB, false, BLOB_GET)                        \
	X("journal", WFS_NODE_DIRECTORY, WFS_DIRECTORY_JOURNAL, false, INTROSPECT_JOURNAL)        \
	X("at", WFS_NODE_DIRECTORY, WFS_DIRECTORY_AT, true, INTROSPECT_JOURNAL_HEAD)              \
	X("ctl", WFS_NODE_CTL_LINK, WFS_DIRECTORY_ROOT, true, INTROSPECT_STATUS)

/* One fixed name of the root. */
struct wfs_root_name {
	const char *name;
	enum wfs_node_kind kind;
	enum wfs_directory_kind directory;
	bool head_only;
	enum wfs_effect effect; /* by which it is read */
};
extern const struct wfs_root_name wfs_root_names[];
extern const size_t wfs_root_name_count;

/** wfs_tree_scan_ends() - is one more name of a listing too much? @cookie: of the name before */
static inline bool wfs_tree_scan_ends(const struct wfs_tree *tree, uint64_t cookie)
{
	struct wfs_tree_scan *const scan = tree->scan;

	if (!scan || scan->left-- > 0)
		return false;
	scan->left = 0;
	scan->cookie = cookie;
	scan->ended = true;
	return true;
}

/* Names of /journal before the records: `head` has cookie 1, `log.jsonl` 2, `texts` 3. */
enum { WFS_TREE_JOURNAL_FIXED = 3 };

/* --- tree-node.c: what is known without a look-up --- */

/** wfs_tree_view() - the view that a node is read in. Return: 0, -ENOENT (no such height), … */
int wfs_tree_view(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_view *ret_view);

/** wfs_tree_sees() - may the session see a node that is judged by its name alone? Others are judged
 *  where they are read. Return: 0, -ENOENT (out of its scope), -EACCES. */
int wfs_tree_sees(const struct wfs_tree *tree, const struct wfs_node *node);

/* stat of what a look-up or a listing has found already */
struct wfs_attr wfs_tree_version_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns);
struct wfs_attr wfs_tree_blob_attr(
	const struct wfs_blob *blob, const struct wfs_blob_listing *listing);
struct wfs_attr wfs_tree_file_attr(uint64_t ino, uint64_t size_bytes, int64_t mtime_ns);

/** wfs_tree_sees_name() - may the session see a fixed name of the root?
 *  Return: 0, -ENOENT, -EACCES. */
int wfs_tree_sees_name(const struct wfs_tree *tree, const struct wfs_root_name *name);

/** wfs_tree_head_document() - contents of /journal/head in this view. */
int wfs_tree_head_document(
	const struct wfs_tree *tree, struct wfs_view *view, struct wfs_buffer *buffer);

/** wfs_tree_readme() - contents of /README. */
struct wfs_bytes wfs_tree_readme(void);

/** wfs_tree_slice() - up to @size bytes from @offset, as far as there are any. */
struct wfs_bytes wfs_tree_slice(struct wfs_bytes bytes, uint64_t offset, size_t size);

/** wfs_tree_number() - a decimal number in its one spelling, below 2^@bits. */
bool wfs_tree_number(const char *text, size_t size, unsigned int bits, uint64_t *ret_number);

/* --- tree-entity.c: artifacts, principals, turns and plans --- */

/** wfs_tree_entities_of() - whose directories one has. Return: false: it is another directory. */
bool wfs_tree_entities_of(enum wfs_directory_kind kind, enum wfs_entity *ret_entity);

/** wfs_tree_entity_of() - whose directory one is. Return: false: it is another directory. */
bool wfs_tree_entity_of(enum wfs_directory_kind kind, enum wfs_entity *ret_entity);

/** wfs_tree_entity_within() - the same also of a directory within that of one. */
bool wfs_tree_entity_within(enum wfs_directory_kind kind, enum wfs_entity *ret_entity);

/** wfs_tree_entity_inner() - the name of a directory within that of one. Return: NULL: it is none. */
const char *wfs_tree_entity_inner(enum wfs_directory_kind kind);

/** wfs_tree_entity_find() - whose directory a node is (of that within one, too), or `grants.json`.
 *  @ret_id: borrowed until the view is closed. Return: 0, -ENOENT, … */
int wfs_tree_entity_find(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_bytes *ret_id, struct wfs_version *ret_version);

/** wfs_tree_entity_node() - the node of the directory of one, in the view that @parent has. */
struct wfs_node wfs_tree_entity_node(
	const struct wfs_node *parent, enum wfs_entity entity, uint64_t cell_id);

/** wfs_tree_inner_node() - the node of a directory within that of one, in the view @view. */
struct wfs_node wfs_tree_inner_node(enum wfs_entity_file directory, uint64_t view, uint64_t cell);

/** wfs_tree_entity_cookie() - of its entry in the directory of all; @beside: of the file beside, which
 *  follows it. */
uint64_t wfs_tree_entity_cookie(enum wfs_entity entity, uint64_t cell_id, bool beside);

/** wfs_tree_entity_mtime() - of such a directory at the head. Return: 0, -ENOENT, … */
int wfs_tree_entity_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns);

/** wfs_tree_entity_beside() - the same of the file that stands beside the directory of a plan. */
int wfs_tree_entity_beside(const struct wfs_tree *tree, struct wfs_view *view,
	struct wfs_bytes plan_id, struct wfs_attr *ret_attr);

/** wfs_tree_entity_attr() - the same by its own node. */
int wfs_tree_entity_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr);

/** wfs_tree_is_events() - is it the events of a turn? They are read in parts. */
bool wfs_tree_is_events(const struct wfs_node *node);

/* A file that is made. Plain value. */
struct wfs_tree_made {
	struct wfs_version
		version;  /* that it is made from; of `grants.json` the principal's ledger */
	int64_t mtime_ns; /* of the newest that it is made from */
	uint64_t size_bytes;
};

/** wfs_tree_made() - append a part of such a file that is not a version's own bytes, nor events.
 *  @range: of size 0: nothing is appended */
int wfs_tree_made(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_tree_made *ret_made);

/** wfs_tree_entity_path() - append `/` and the name of one, and of the directory within it. */
int wfs_tree_entity_path(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer);

/* stat of a version that is content, code or an entry. @live: at the head */
struct wfs_attr wfs_tree_text_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns, bool live);

/* --- tree-plan.c: the directory `steps` of a plan --- */

/** wfs_tree_step_lookup() - a name in it. */
int wfs_tree_step_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr);

/** wfs_tree_steps_count() - names in it. */
int wfs_tree_steps_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count);

/**
 * wfs_tree_steps_list() - the steps from @cookie on: their cookies are their numbers, from 1
 * @each: called with each until it returns false
 */
int wfs_tree_steps_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);

/* --- tree-memory.c: the directory `entries` of a memory store --- */

/** wfs_tree_entry_lookup() - a name in it. */
int wfs_tree_entry_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr);

/** wfs_tree_entries_count() - about how many names it has. */
int wfs_tree_entries_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count);

/**
 * wfs_tree_entries_list() - the entries behind @cookie: their cookies are their ids as numbers, and 1
 * @each: called with each until it returns false
 */
int wfs_tree_entries_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);

/* --- tree-time.c --- */

/** wfs_tree_directory_mtime() - of a directory; the world's creation when something of it may be hidden.
 *  Return: 0, -ENOENT, … */
int wfs_tree_directory_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns);

/* --- tree-attr.c --- */

/** wfs_tree_node_attr() - stat of a node, in a view of it. */
int wfs_tree_node_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr);

/** wfs_tree_text_file() - stat of a private text in journal/texts. */
int wfs_tree_text_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_text *text, struct wfs_attr *ret_attr);

/* --- tree.c --- */

/** wfs_tree_root_attr() - stat of a fixed name. Return: 0, or -ENOENT (not in this tree or view). */
int wfs_tree_root_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const struct wfs_root_name *name, struct wfs_attr *ret_attr);

/** wfs_tree_entity_file() - stat of a file in the directory of an artifact, a principal, a turn or a plan. Return: 0, -ENOENT, … */
int wfs_tree_entity_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, enum wfs_entity_file file, struct wfs_attr *ret_attr);
