/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/tree/: nodes of a view, and the fixed names of the root.
 *
 * An entity is an artifact, a principal, a turn, a plan, or what domains add (fs/tree/ino.h). A
 * cookie is the number of a name in a listing: a later listing that gets it begins after this name.
 * fs/tree/tree.h says what -ENOENT, -EACCES and -EIO mean.
 */
#pragma once

#include "caps/session-blob.h"
#include "caps/session-tools.h"
#include "fs/tree/tree.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/entity-table.h"

/*
 * The directories of all entities come after `reducers`.
 * X(name, node kind, directory kind, only at the head, effect by which it is read)
 */
#define WFS_ROOT_NAMES(X)                                                                       \
	X("README", WFS_NODE_README, WFS_DIRECTORY_ROOT, false, INTROSPECT_JOURNAL_HEAD)        \
	X("manifest", WFS_NODE_VERSION, WFS_DIRECTORY_ROOT, false, INTROSPECT_MANIFEST)         \
	X("reducers", WFS_NODE_DIRECTORY, WFS_DIRECTORY_REDUCERS, false, INTROSPECT_LIST_CELLS) \
	X("blob", WFS_NODE_DIRECTORY, WFS_DIRECTORY_BLOB, false, BLOB_GET)                      \
	X("journal", WFS_NODE_DIRECTORY, WFS_DIRECTORY_JOURNAL, false, INTROSPECT_JOURNAL)      \
	X("at", WFS_NODE_DIRECTORY, WFS_DIRECTORY_AT, true, INTROSPECT_JOURNAL_HEAD)            \
	X("ctl", WFS_NODE_CTL_LINK, WFS_DIRECTORY_ROOT, true, INTROSPECT_STATUS)                \
	X("tools", WFS_NODE_DIRECTORY, WFS_DIRECTORY_TOOLS, true, TOOL_OUTSIDE)                 \
	X(WFS_TREE_REPLICATION, WFS_NODE_REPLICATION, WFS_DIRECTORY_ROOT, true, INTROSPECT_STATUS)

#define WFS_TREE_REPLICATION "replication.json" /* only of a replicated world */

/* One fixed name of the root. Plain value. */
struct wfs_root_name {
	const char *name;
	enum wfs_node_kind kind;
	enum wfs_directory_kind directory;
	bool head_only;
	enum wfs_effect effect; /* by which it is read */
	enum wfs_entity entity; /* of WFS_DIRECTORY_ENTITIES */
};

/** wfs_tree_root() - get the fixed name of the root with the number @index, from 0 on. Return:
 *  false if @index is not below the number of names; then @ret_name is not set. */
bool wfs_tree_root(size_t index, struct wfs_root_name *ret_name);

/** wfs_tree_scan_ends() - count one more name that a listing looks at, and say whether the listing
 *  must end before this name, because tree->scan->left names were looked at; false without
 *  tree->scan. @cookie: of the name before this one, from which the next listing goes on */
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

/* --- tree-node.c: facts that need no look-up --- */

/** wfs_tree_view() - open the view in which @node is read: of a directory, `head`, `log.jsonl` or
 *  `grants.json`, that of its height; of other nodes, that of the head. @ret_view: set on success;
 *  caller closes it with wfs_session_view_close() (caps/session-read.h). Return: 0, -ENOENT (no
 *  such height), … */
int wfs_tree_view(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_view *ret_view);

/** wfs_tree_log_node() - make the node of log.jsonl in the directory `journal` of @view (@height:
 *  of the directory, 0: of the head); wfs_tree_record_node() - make the node of the file of record
 *  @seq, which need not exist. Return: 0, or -errno. */
int wfs_tree_log_node(struct wfs_view *view, uint64_t height, struct wfs_node *ret_node);
int wfs_tree_record_node(struct wfs_view *view, uint64_t seq, struct wfs_node *ret_node);

/** wfs_tree_is_kept() - does the file of a record, or `events.jsonl` of a turn, still exist after
 *  the newest cut of the journal? @node: of the file
 *  Return: 0 (yes), -ENOENT (the cut has dropped the file, or put another in its place), or another
 *  -errno. */
int wfs_tree_is_kept(struct wfs_view *view, const struct wfs_node *node);

/** wfs_tree_sees() - may the session see @node? Nodes that cannot be judged by their number alone
 *  are judged when they are read: for them this returns 0.
 *  Return: 0 (yes), -ENOENT (no grant of the session's principal covers its path), -EACCES (the
 *  session may read no nodes of this kind; tree->refusal gets the reason), -ENOMEM. */
int wfs_tree_sees(const struct wfs_tree *tree, const struct wfs_node *node);

/* Compute the attributes of a node that a look-up or a listing has found. */
struct wfs_attr wfs_tree_version_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns);
struct wfs_attr wfs_tree_blob_attr(
	const struct wfs_blob *blob, const struct wfs_blob_listing *listing);
struct wfs_attr wfs_tree_file_attr(uint64_t ino, uint64_t size_bytes, int64_t mtime_ns);

/** wfs_tree_sees_name() - may the session see the fixed name @name of the root?
 *  Return: as wfs_tree_sees(). */
int wfs_tree_sees_name(const struct wfs_tree *tree, const struct wfs_root_name *name);

/** wfs_tree_head_document() - append the contents that /journal/head has in @view to @buffer.
 *  Return: 0, or -errno. */
int wfs_tree_head_document(
	const struct wfs_tree *tree, struct wfs_view *view, struct wfs_buffer *buffer);

/** wfs_tree_readme() - get the contents of /README, which has the numbers of the world's store
 *  format and fold version; static. */
struct wfs_bytes wfs_tree_readme(const struct wfs_tree *tree);

/** wfs_tree_slice() - get the part of @bytes with up to @size bytes from @offset on, borrowed from
 *  @bytes; empty if @offset is after their end. */
struct wfs_bytes wfs_tree_slice(struct wfs_bytes bytes, uint64_t offset, size_t size);

/** wfs_tree_number() - read a decimal number without sign or leading zeros from the @size bytes at
 *  @text. Return: false: these are something else, or the number is not below 2^@bits. */
bool wfs_tree_number(const char *text, size_t size, unsigned int bits, uint64_t *ret_number);

/* --- tree-entity.c: artifacts, principals, turns and plans --- */

/** wfs_tree_entity_within() - is @node the own directory of an entity, such as `plans/ID`, or a
 *  directory within that, such as `steps`? @ret_entity: the kind of this entity */
bool wfs_tree_entity_within(const struct wfs_node *node, enum wfs_entity *ret_entity);

/** wfs_tree_entity_find() - find the entity to which a node belongs
 *  @node: the entity's directory, one within it, or the file `grants.json` of a principal
 *  @ret_id: id of the entity, borrowed until the view is closed
 *  @ret_version: of the entity's cell; for a directory within the entity's: the version from which
 *                that is made
 *  Return: 0, -ENOENT, … */
int wfs_tree_entity_find(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_bytes *ret_id, struct wfs_version *ret_version);

/** wfs_tree_entity_node() - make the node of an entity's directory. @parent: node of the directory
 *  that it is in, such as `plans`; @cell_id: id of the entity's cell */
struct wfs_node wfs_tree_entity_node(
	const struct wfs_node *parent, enum wfs_entity entity, uint64_t cell_id);

/** wfs_tree_items_node() - make the node of a directory such as `steps` or `entries` of an entity.
 *  @view: height, or 0 for the head; @cell: as in struct wfs_node */
struct wfs_node wfs_tree_items_node(enum wfs_entity_file directory, uint64_t view, uint64_t cell);

/** wfs_tree_entity_cookie() - compute the cookie of an entity's directory, such as `plans/ID`, in
 *  the listing of `plans`. @cell_id: id of the entity's cell; @beside: true: compute the cookie of
 *  the file `ID.json`, which is listed after the directory, instead */
uint64_t wfs_tree_entity_cookie(enum wfs_entity entity, uint64_t cell_id, bool beside);

/** wfs_tree_entity_mtime() - find the last change, in @view, of the cell of an entity or, for a
 *  directory such as `steps`, of the cell from which this directory is made. At the head, this is
 *  the modification time of the directory. @node: of the directory. @ret_mtime_ns: since 1970.
 *  Return: 0, -ENOENT, … */
int wfs_tree_entity_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns);

/** wfs_tree_entity_beside() - compute the attributes of the file `plans/ID.json` of a plan.
 *  Return: 0, -ENOENT, … */
int wfs_tree_entity_beside(const struct wfs_tree *tree, struct wfs_view *view,
	struct wfs_bytes plan_id, struct wfs_attr *ret_attr);

/** wfs_tree_entity_attr() - compute the attributes of a file of an entity. @node: of the file, of
 *  the kind WFS_NODE_MADE, WFS_NODE_GRANTS or WFS_NODE_LIVE. Return: 0, -ENOENT, … */
int wfs_tree_entity_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr);

/* A file that is made. Plain value. */
struct wfs_tree_made {
	struct wfs_version
		version;  /* from which it is made; of `grants.json`: the principal's ledger */
	int64_t mtime_ns; /* of the newest version from which it is made */
	uint64_t size_bytes;
};

/** wfs_tree_made() - make a file other than events.jsonl from an entity's cells, and append the
 *  part @range of it to @buffer, which may be NULL if the size of @range is 0. @node: of the file;
 *  @ret_made: set on success: facts about the whole file
 *  Return: 0, -ENOENT, … */
int wfs_tree_made(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_tree_made *ret_made);

/** wfs_tree_entity_path() - append the end of a directory's path to @buffer: `/` and the name of
 *  the entity's directory; if @node is a directory in that, such as `steps`, also `/` and the name
 *  of @node. Return: 0, or -errno. */
int wfs_tree_entity_path(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer);

/* Attributes of a version that is a content, a code or an entry. @live: at the head */
struct wfs_attr wfs_tree_text_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns, bool live);

/* --- tree-item.c: directories within that of an entity, such as `steps` of a plan --- */

/** wfs_tree_item_lookup() - look the file @name up in a directory such as `steps`, which is within
 *  that of an entity. @parent: node of the directory; @ret_attr: of the file
 *  Return: 0, -ENOENT, … */
int wfs_tree_item_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr);

/** wfs_tree_items_count() - estimate the number of names in a directory such as `steps`, including
 *  those that the session does not see. @node: of the directory. Return: 0, -ENOENT, … */
int wfs_tree_items_count(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t *ret_count);

/**
 * wfs_tree_items_list() - list the names in a directory such as `steps`
 * @node: of the directory
 * @cookie: 0, or the cookie of the file after which the listing begins: 1 + this file's number
 * @each: called on this thread with @context and each file until it returns false, or tree->scan
 *        ends the listing
 * Return: 0, -ENOENT, -EACCES (the session may list no such directory), …
 */
int wfs_tree_items_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);

/* --- tree-time.c --- */

/** wfs_tree_directory_mtime() - find the modification time of a directory: the time of the world's
 *  creation if the session may not see everything in the directory; otherwise, at the head, that of
 *  the directory's last change, and below a height, that of the height's last record. @node: of the
 *  directory
 *  Return: 0, -ENOENT, … */
int wfs_tree_directory_mtime(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, int64_t *ret_mtime_ns);

/* --- tree-replication.c: replication.json --- */

/** wfs_tree_replication_find() - make the node of replication.json as it is now. Return: 0, -ENOENT
 *  (the world is not replicated), -ENOMEM. */
int wfs_tree_replication_find(const struct wfs_tree *tree, struct wfs_node *ret_node);

/** wfs_tree_replication_attr() - compute the attributes of replication.json. @node: from
 *  wfs_tree_replication_find(). Return: 0, -ENOENT (its bytes are not kept any more). */
int wfs_tree_replication_attr(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_attr *ret_attr);

/** wfs_tree_replication_document() - append the contents of replication.json to @buffer. @node: as
 *  for wfs_tree_replication_attr(). Return: 0, -ENOENT, -ENOMEM. */
int wfs_tree_replication_document(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer);

/* --- tree-attr.c --- */

/** wfs_tree_node_attr() - compute the attributes of a node, if the session may see it. @view: from
 *  wfs_tree_view()
 *  Return: 0, -ENOENT, … */
int wfs_tree_node_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr);

/** wfs_tree_text_file() - compute the attributes of the file of a private text in journal/texts.
 *  @text: from a function of caps/session-text.h, which has checked that the session may read it.
 *  Return: 0, or -errno. */
int wfs_tree_text_file(
	struct wfs_view *view, const struct wfs_text *text, struct wfs_attr *ret_attr);

/* --- tree.c --- */

/** wfs_tree_root_attr() - compute the attributes of the file or directory with a fixed name of a
 *  root. @parent: node of this root, which is that of the head or of a height
 *  Return: 0, -ENOENT (not in this tree or view, or the session does not see it), -EACCES, … */
int wfs_tree_root_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const struct wfs_root_name *name, struct wfs_attr *ret_attr);

/** wfs_tree_entity_file() - compute the attributes of a file, or of a directory such as `steps`, in
 *  an entity's directory. @parent: node of this directory. Return: 0, -ENOENT, … */
int wfs_tree_entity_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, enum wfs_entity_file file, struct wfs_attr *ret_attr);

/* --- tree-tool.c: tools of outside servers, which are at the head only --- */

/** wfs_tree_sees_tools() - does the session see any tool that an outside server has listed?
 *  Return: 0 (yes), -ENOENT (no), -ENOMEM. */
int wfs_tree_sees_tools(const struct wfs_tree *tree);

/** wfs_tree_tool_lookup() - look a name up in `tools`, or in the directory of a server. @parent:
 *  node of this directory. Return: 0, -ENOENT, … */
int wfs_tree_tool_lookup(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr);

/** wfs_tree_server_find() - find the server whose directory in `tools` is @node. Return: 0,
 *  -ENOENT, … */
int wfs_tree_server_find(const struct wfs_tree *tree, const struct wfs_node *node,
	struct wfs_listed_server *ret_server);

/** wfs_tree_tool_attr() - compute the attributes of a tool's file. @node: of the file. Return: 0,
 *  -ENOENT, … */
int wfs_tree_tool_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr);

/** wfs_tree_tool_document() - append the contents of a tool's file to @buffer. @node: of the file.
 *  Return: 0, -ENOENT, … */
int wfs_tree_tool_document(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer);

/** wfs_tree_tools_list() - list `tools`, or the directory of a server
 *  @node: of the directory; @cookie: 0, or the number of the server or tool after which the listing
 *  begins; @each: as for wfs_tree_list() (fs/tree/tree.h). Return: 0, -ENOENT, … */
int wfs_tree_tools_list(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, uint64_t cookie,
	bool (*each)(void *context, const struct wfs_tree_entry *entry), void *context);
