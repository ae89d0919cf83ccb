/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about nodes that need no look-up: fixed names, views, rights, symlinks, parts of stat. */
#include <inttypes.h>
#include <sys/stat.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "caps/unjudged.h"
#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"
#include "kernel/base/formats.h"

static const struct wfs_root_name fixed_names[] = {
#define ROOT_ROW(name, kind, directory, head_only, effect) \
	{name, kind, directory, head_only, WFS_EFFECT_##effect},
	WFS_ROOT_NAMES(ROOT_ROW)
#undef ROOT_ROW
};

bool wfs_tree_root(size_t index, struct wfs_root_name *ret_name)
{
	enum { BEFORE_ENTITIES = 3 };
	const size_t entities = (size_t)wfs_entity_count();

	if (index >= BEFORE_ENTITIES && index < BEFORE_ENTITIES + entities) {
		const enum wfs_entity entity = (enum wfs_entity)(index - BEFORE_ENTITIES);

		*ret_name = (struct wfs_root_name){wfs_entity_directory(entity), WFS_NODE_DIRECTORY,
			WFS_DIRECTORY_ENTITIES, false, WFS_EFFECT_INTROSPECT_LIST_CELLS, entity};
		return true;
	}
	if (index >= BEFORE_ENTITIES)
		index -= entities;
	if (index >= WFS_ARRAY_COUNT(fixed_names))
		return false;
	*ret_name = fixed_names[index];
	return true;
}

const char *wfs_tree_root_name(size_t index)
{
	struct wfs_root_name name;

	return wfs_tree_root(index, &name) ? name.name : NULL;
}

#define README(format, fold)                                                                 \
	"This is a world, shown as files by WorldFS. The files cannot be edited in place.\n" \
	"\n"                                                                                 \
	"Look around\n"                                                                      \
	"  manifest                 what the world is made of: schemas, reducers, routing\n" \
	"  reducers/<name>/<key>    the state, one file for each cell\n"                     \
	"  artifacts/<id>/          artifacts: content, code, owner, prices\n"               \
	"  principals/<id>/         accounts: scrip, resources, grants\n"                    \
	"  turns/<id>/              turns of agents: what they were asked, said and did\n"   \
	"  plans/<id>/              plans, with their steps and results\n"                   \
	"  journal/log.jsonl        everything that ever happened, one record a line\n"      \
	"  at/<height>/             the tree as it was after that many records\n"            \
	"  blob/<sha256>            bytes stored under their hash\n"                         \
	"\n"                                                                                 \
	"Act\n"                                                                              \
	"  cat ctl/event            each control file says how to use it\n"                  \
	"  echo '{\"schema\":\"…\",\"value\":{…}}' > ctl/event || cat ctl/last\n"        \
	"\n"                                                                                 \
	"Compare and keep\n"                                                                 \
	"  diff -r at/100 at/200    what changed between two heights\n"                      \
	"  tar -C at/head -c .      a consistent copy, while agents work\n"                  \
	"  getfattr -d FILE         its hash and the height that wrote it\n"                 \
	"\n"                                                                                 \
	"Formats\n"                                                                          \
	"  store format " #format " (how rows lie on disk), fold version " #fold             \
	" (what records give)\n"
#define README_OF(format, fold) README(format, fold) /* with the values of both */

/* The numbers are those of this program, or of the world that it only reads. */
static const char readme[] = README_OF(WFS_STORE_FORMAT, WFS_FOLD_VERSION);
static const char readme_7[] = README(7, 1);

struct wfs_bytes wfs_tree_readme(const struct wfs_tree *tree)
{
	return wfs_authority_older(wfs_session_authority(tree->session))
		? WFS_BYTES(readme_7, sizeof(readme_7) - 1)
		: WFS_BYTES(readme, sizeof(readme) - 1);
}

bool wfs_tree_number(const char *text, size_t size, unsigned int bits, uint64_t *ret_number)
{
	uint64_t number;

	if (wfs_decimal_read(text, size, &number) != size || size == 0 ||
		(size > 1 && text[0] == '0') || number >> bits)
		return false;
	*ret_number = number;
	return true;
}

uint64_t wfs_tree_directory_ino(enum wfs_directory_kind kind, uint32_t reducer_id)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY, .directory = kind, .reducer_id = reducer_id};

	return wfs_ino_encode(&node);
}

int wfs_tree_view(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_view *ret_view)
{
	uint64_t height = WFS_HEIGHT_HEAD;

	if (node->kind == WFS_NODE_DIRECTORY || node->kind == WFS_NODE_LOG ||
		node->kind == WFS_NODE_HEAD || node->kind == WFS_NODE_GRANTS)
		height = node->number;
	return wfs_session_view(tree->session, height, ret_view, NULL);
}

/* --- attributes --- */

struct wfs_attr wfs_tree_file_attr(uint64_t ino, uint64_t size_bytes, int64_t mtime_ns)
{
	return (struct wfs_attr){
		.ino = ino, .mode = S_IFREG | 0444, .size_bytes = size_bytes, .mtime_ns = mtime_ns};
}

struct wfs_attr wfs_tree_version_attr(uint64_t vid, uint64_t size_bytes, int64_t time_ns)
{
	const struct wfs_node node = {.kind = WFS_NODE_VERSION, .number = vid};

	return wfs_tree_file_attr(wfs_ino_encode(&node), size_bytes, time_ns);
}

struct wfs_attr wfs_tree_blob_attr(
	const struct wfs_blob *blob, const struct wfs_blob_listing *listing)
{
	const struct wfs_node node = {.kind = WFS_NODE_BLOB, .number = listing->listed_id};

	return wfs_tree_file_attr(wfs_ino_encode(&node), blob->size_bytes, listing->time_ns);
}

/* --- the journal --- */

int wfs_tree_log_node(struct wfs_view *view, uint64_t height, struct wfs_node *ret_node)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(view, WFS_LOG_NOW, &log);

	if (!r)
		*ret_node = (struct wfs_node){
			.kind = WFS_NODE_LOG, .number = height, .cut = (uint32_t)log.cut};
	return r;
}

int wfs_tree_record_node(struct wfs_view *view, uint64_t seq, struct wfs_node *ret_node)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(view, WFS_LOG_NOW, &log);

	if (r)
		return r;
	*ret_node = (struct wfs_node){.kind = WFS_NODE_RECORD, .number = seq};
	if (seq == log.first_seq)
		ret_node->cut = (uint32_t)log.cut;
	return 0;
}

int wfs_tree_is_kept(struct wfs_view *view, const struct wfs_node *node)
{
	struct wfs_view_log log;
	int r = wfs_unjudged_log(view, WFS_LOG_NOW, &log);

	if (r)
		return r;
	if (node->number < log.first_seq)
		return -ENOENT;
	const bool has_cut = node->kind != WFS_NODE_RECORD || node->number == log.first_seq;
	return node->cut == (has_cut ? log.cut : 0) ? 0 : -ENOENT;
}

/* --- rights of the session --- */

/* Every node is below a height, too, so a principal that may see any node sees the heights. */
static int sees_heights(const struct wfs_tree *tree)
{
	if (wfs_session_may(tree->session, WFS_EFFECT_BLOB_GET))
		return 0;
	return wfs_session_judge(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, tree->refusal);
}

int wfs_tree_sees_name(const struct wfs_tree *tree, const struct wfs_root_name *name)
{
	const struct wfs_bytes names = wfs_bytes_text(name->name);

	if (name->kind == WFS_NODE_CTL_LINK)
		return 0; /* README tells a principal without rights why it sees nothing */
	if (name->directory == WFS_DIRECTORY_AT)
		return sees_heights(tree);
	if (name->directory == WFS_DIRECTORY_TOOLS)
		return wfs_tree_sees_tools(tree);
	return wfs_session_sees(tree->session, name->effect, (struct wfs_path){&names, 1},
		name->kind == WFS_NODE_DIRECTORY ? WFS_COVERAGE_BELOW : WFS_COVERAGE_WHOLE,
		tree->refusal);
}

static int sees_directory(const struct wfs_tree *tree, const struct wfs_node *node)
{
	const struct wfs_bytes texts[] = {wfs_bytes_text("journal"), wfs_bytes_text("texts")};
	struct wfs_root_name name;

	if (node->directory == WFS_DIRECTORY_ROOT || node->directory == WFS_DIRECTORY_REDUCER)
		return 0; /* the look-up of a reducer judges it by its visible cells */
	if (node->directory == WFS_DIRECTORY_TEXTS)
		return wfs_session_sees(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL,
			(struct wfs_path){texts, 2}, WFS_COVERAGE_BELOW, tree->refusal);
	for (size_t i = 0; wfs_tree_root(i, &name); i++)
		if (name.kind == WFS_NODE_DIRECTORY && name.directory == node->directory &&
			(name.directory != WFS_DIRECTORY_ENTITIES || name.entity == node->entity))
			return wfs_tree_sees_name(tree, &name);
	return 0; /* the mount point of the control files */
}

/* Judges files in /journal that are not records. */
static int sees_journal_file(const struct wfs_tree *tree, const struct wfs_node *node)
{
	const struct wfs_bytes names[] = {wfs_bytes_text("journal"),
		wfs_bytes_text(node->kind == WFS_NODE_LOG ? "log.jsonl" : "head")};

	return wfs_session_sees(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL,
		(struct wfs_path){names, 2}, WFS_COVERAGE_WHOLE, tree->refusal);
}

int wfs_tree_sees(const struct wfs_tree *tree, const struct wfs_node *node)
{
	static const struct wfs_root_name readme_name = {
		.name = "README",
		.kind = WFS_NODE_README,
		.effect = WFS_EFFECT_INTROSPECT_JOURNAL_HEAD,
	};
	static const struct wfs_root_name replication_name = {
		.name = WFS_TREE_REPLICATION,
		.kind = WFS_NODE_REPLICATION,
		.effect = WFS_EFFECT_INTROSPECT_STATUS,
	};

	switch (node->kind) {
	case WFS_NODE_DIRECTORY:
		return sees_directory(tree, node);
	case WFS_NODE_REPLICATION:
		return wfs_tree_sees_name(tree, &replication_name);
	case WFS_NODE_README:
		return wfs_tree_sees_name(tree, &readme_name);
	case WFS_NODE_HEAD:
	case WFS_NODE_LOG:
		return sees_journal_file(tree, node);
	case WFS_NODE_AT_LINK:
		return sees_heights(tree);
	default: /* judged when it is read */
		return 0;
	}
}

/* --- contents --- */

int wfs_tree_head_document(
	const struct wfs_tree *tree, struct wfs_view *view, struct wfs_buffer *buffer)
{
	struct wfs_meta meta;
	int r = wfs_session_meta(tree->session, view, &meta);

	if (r)
		return r;
	wfs_meta_write(&meta, buffer);
	return wfs_buffer_check(buffer);
}

struct wfs_bytes wfs_tree_slice(struct wfs_bytes bytes, uint64_t offset, size_t size)
{
	if (offset >= bytes.size)
		return WFS_BYTES(NULL, 0);
	size_t left = bytes.size - (size_t)offset;
	return WFS_BYTES((const char *)bytes.data + offset, left < size ? left : size);
}

int wfs_tree_link(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	if (node.kind == WFS_NODE_CTL_LINK && tree->ctl_target) {
		wfs_buffer_append_text(buffer, tree->ctl_target);
	} else if (node.kind == WFS_NODE_AT_LINK) {
		int r = wfs_tree_view(tree, &node, &view);

		if (r)
			return r;
		wfs_buffer_append_int(buffer, (int64_t)view.height);
	} else {
		return -EINVAL;
	}
	return wfs_buffer_check(buffer);
}

uint64_t wfs_tree_record_cookie(uint64_t seq)
{
	return WFS_TREE_JOURNAL_FIXED + seq + 1;
}
