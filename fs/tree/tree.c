/* SPDX-License-Identifier: Apache-2.0 */
/* Finding nodes: attributes, look-ups, paths, symlinks. */
#include "fs/tree/tree.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "fs/tree/tree-impl.h"
#include "kernel/base/encode.h"

const struct wfs_root_name wfs_root_names[] = {
#define ROOT_ROW(name, kind, directory, head_only, effect) \
	{name, kind, directory, head_only, WFS_EFFECT_##effect},
	WFS_ROOT_NAMES(ROOT_ROW)
#undef ROOT_ROW
};
const size_t wfs_root_name_count = WFS_ARRAY_COUNT(wfs_root_names);

const char *wfs_tree_root_name(size_t index)
{
	return index < wfs_root_name_count ? wfs_root_names[index].name : NULL;
}

static const char readme[] =
	"This is a world, shown as files by WorldFS. Nothing here is edited in place.\n"
	"\n"
	"Look around\n"
	"  manifest                 what the world is made of: schemas, reducers, routing\n"
	"  reducers/<name>/<key>    its state, one file a cell\n"
	"  artifacts/<id>/          what somebody made: content, code, who owns it, prices\n"
	"  principals/<id>/         who is there: scrip, resources, grants\n"
	"  turns/<id>/              what agents were asked, said and did; how it ended\n"
	"  plans/<id>/              what was planned, step by step, and what came of it\n"
	"  journal/log.jsonl        everything that ever happened, one record a line\n"
	"  at/<height>/             all of this as it was after that many records\n"
	"  blob/<sha256>            bytes stored under their hash\n"
	"\n"
	"Act\n"
	"  cat ctl/event            each control file tells how it is used\n"
	"  echo '{\"schema\":\"…\",\"value\":{…}}' > ctl/event || cat ctl/last\n"
	"\n"
	"Compare and keep\n"
	"  diff -r at/100 at/200    what changed between two heights\n"
	"  tar -C at/head -c .      a consistent snapshot, while agents work\n"
	"  getfattr -d FILE         its hash and the height that wrote it\n";

struct wfs_bytes wfs_tree_readme(void)
{
	return WFS_BYTES(readme, sizeof(readme) - 1);
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

/* --- what the session may see --- */

/* Everything is below a height, so a principal that may see anything sees the heights. */
static int sees_heights(const struct wfs_tree *tree)
{
	if (wfs_session_may(tree->session, WFS_EFFECT_BLOB_GET))
		return 0;
	return wfs_session_judge(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, tree->refusal);
}

static int sees_root_name(const struct wfs_tree *tree, const struct wfs_root_name *name)
{
	const struct wfs_bytes names = wfs_bytes_text(name->name);

	if (name->kind == WFS_NODE_CTL_LINK)
		return 0; /* a principal that may do nothing reads so there */
	if (name->directory == WFS_DIRECTORY_AT)
		return sees_heights(tree);
	return wfs_session_sees(tree->session, name->effect, (struct wfs_path){&names, 1},
		name->kind == WFS_NODE_DIRECTORY ? WFS_COVERAGE_BELOW : WFS_COVERAGE_WHOLE,
		tree->refusal);
}

static int sees_directory(const struct wfs_tree *tree, const struct wfs_node *node)
{
	const struct wfs_bytes texts[] = {wfs_bytes_text("journal"), wfs_bytes_text("texts")};

	if (node->directory == WFS_DIRECTORY_ROOT || node->directory == WFS_DIRECTORY_REDUCER)
		return 0; /* a reducer is looked up by what is seen of it */
	if (node->directory == WFS_DIRECTORY_TEXTS)
		return wfs_session_sees(tree->session, WFS_EFFECT_INTROSPECT_JOURNAL,
			(struct wfs_path){texts, 2}, WFS_COVERAGE_BELOW, tree->refusal);
	for (size_t i = 0; i < wfs_root_name_count; i++)
		if (wfs_root_names[i].kind == WFS_NODE_DIRECTORY &&
			wfs_root_names[i].directory == node->directory)
			return sees_root_name(tree, &wfs_root_names[i]);
	return 0; /* the directory below the control files */
}

/* Of files in /journal other than records. */
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

	switch (node->kind) {
	case WFS_NODE_DIRECTORY:
		return sees_directory(tree, node);
	case WFS_NODE_README:
		return sees_root_name(tree, &readme_name);
	case WFS_NODE_HEAD:
	case WFS_NODE_LOG:
		return sees_journal_file(tree, node);
	case WFS_NODE_AT_LINK:
		return sees_heights(tree);
	default: /* is judged where it is read */
		return 0;
	}
}

/* The directory of private texts is there as soon as there is one. */
static int has_texts(const struct wfs_tree *tree, struct wfs_view *view)
{
	int r = wfs_session_has_texts(tree->session, view);

	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

static int directory_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_attr attr = {.ino = wfs_ino_encode(node), .mode = S_IFDIR | 0555};
	struct wfs_reducer reducer;
	enum wfs_entity entity;
	int64_t changed_ns;
	int r = 0;

	if (node->directory == WFS_DIRECTORY_REDUCER)
		r = wfs_session_reducer_by_id(tree->session, view, node->reducer_id, &reducer);
	else if (node->directory == WFS_DIRECTORY_TEXTS)
		r = has_texts(tree, view);
	else if (wfs_tree_entity_within(node->directory, &entity))
		r = wfs_tree_entity_mtime(tree, view, node, &changed_ns);
	if (!r)
		r = wfs_tree_directory_mtime(tree, view, node, &attr.mtime_ns);
	if (!r)
		*ret_attr = attr;
	return r;
}

static int link_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	struct wfs_attr attr = {
		.ino = wfs_ino_encode(node),
		.mode = S_IFLNK | 0777,
		.uncached = node->kind == WFS_NODE_AT_LINK,
	};
	int r = wfs_tree_link(tree, attr.ino, &target);

	if (!r)
		r = wfs_session_record_time(tree->session, view, 0, &attr.mtime_ns);
	if (r)
		return r;
	attr.size_bytes = target.size;
	*ret_attr = attr;
	return 0;
}

static int version_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_version version;
	int r = wfs_session_version(tree->session, view, node->number, &version);

	if (!r && version.tombstone)
		r = -ENOENT;
	if (!r)
		*ret_attr = wfs_tree_version_attr(version.vid, version.size_bytes, version.time_ns);
	return r;
}

static int log_size(const struct wfs_tree *tree, struct wfs_view *view, const struct wfs_node *node,
	uint64_t *ret_size_bytes)
{
	if (node->number != WFS_HEIGHT_HEAD || !tree->log_size_bytes)
		return wfs_session_journal_size(tree->session, view, ret_size_bytes);
	*ret_size_bytes = atomic_load(tree->log_size_bytes);
	return 0;
}

static int journal_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	struct wfs_attr attr = wfs_tree_file_attr(wfs_ino_encode(node), 0, 0);
	uint64_t seq = node->kind == WFS_NODE_RECORD ? node->number : view->height - 1;
	struct wfs_bytes line = {0};
	int r = wfs_session_record_time(tree->session, view, seq, &attr.mtime_ns);

	if (!r && node->kind == WFS_NODE_RECORD)
		r = wfs_session_record(tree->session, view, seq, &line);
	else if (!r && node->kind == WFS_NODE_LOG)
		r = log_size(tree, view, node, &attr.size_bytes);
	else if (!r)
		r = wfs_tree_head_document(tree, view, &document);
	if (r)
		return r;
	attr.size_bytes += line.size + document.size;
	*ret_attr = attr;
	return 0;
}

int wfs_tree_text_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_text *text, struct wfs_attr *ret_attr)
{
	const struct wfs_node node = {.kind = WFS_NODE_TEXT, .number = text->number};
	int64_t at_ns;
	int r = wfs_session_record_time(tree->session, view, text->seq, &at_ns);

	if (r)
		return r;
	*ret_attr = wfs_tree_file_attr(wfs_ino_encode(&node), text->bytes.size, at_ns);
	ret_attr->cookie = text->number;
	ret_attr->uncached = true; /* it goes when the principal may not read it any more */
	return 0;
}

static int text_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_text text;
	int r = wfs_session_text(tree->session, view, node->number, &text);

	return r ? r : wfs_tree_text_file(tree, view, &text, ret_attr);
}

int wfs_tree_node_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *node, struct wfs_attr *ret_attr)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	int64_t genesis_ns;
	int r = wfs_tree_sees(tree, node);

	if (r)
		return r;
	switch (node->kind) {
	case WFS_NODE_DIRECTORY:
		return directory_attr(tree, view, node, ret_attr);
	case WFS_NODE_VERSION:
		return version_attr(tree, view, node, ret_attr);
	case WFS_NODE_LIVE:
	case WFS_NODE_MADE:
	case WFS_NODE_GRANTS:
		return wfs_tree_entity_attr(tree, view, node, ret_attr);
	case WFS_NODE_BLOB:
		r = wfs_session_blob_listed(tree->session, view, node->number, &blob, &listing);
		if (!r)
			*ret_attr = wfs_tree_blob_attr(&blob, &listing);
		return r;
	case WFS_NODE_TEXT:
		return text_attr(tree, view, node, ret_attr);
	case WFS_NODE_RECORD:
	case WFS_NODE_HEAD:
	case WFS_NODE_LOG:
		return journal_attr(tree, view, node, ret_attr);
	case WFS_NODE_README:
		r = wfs_session_record_time(tree->session, view, 0, &genesis_ns);
		if (!r)
			*ret_attr = wfs_tree_file_attr(
				wfs_ino_encode(node), wfs_tree_readme().size, genesis_ns);
		return r;
	case WFS_NODE_CTL_LINK:
	case WFS_NODE_AT_LINK:
		return link_attr(tree, view, node, ret_attr);
	case WFS_NODE_INVALID:
		break;
	}
	return -ENOENT;
}

int wfs_tree_attr(const struct wfs_tree *tree, uint64_t ino, struct wfs_attr *ret_attr)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	int r = wfs_tree_view(tree, &node, &view);
	return r ? r : wfs_tree_node_attr(tree, &view, &node, ret_attr);
}

/* --- look-ups --- */

int wfs_tree_root_attr(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const struct wfs_root_name *name, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {.kind = name->kind, .directory = name->directory};
	struct wfs_version manifest;

	if (name->head_only && parent->number != WFS_HEIGHT_HEAD)
		return -ENOENT;
	if (name->kind == WFS_NODE_DIRECTORY)
		node.number = parent->number;
	if (name->kind == WFS_NODE_VERSION) {
		int r = sees_root_name(tree, name);

		if (!r)
			r = wfs_session_manifest(tree->session, view, &manifest);
		if (!r)
			*ret_attr = wfs_tree_version_attr(
				manifest.vid, manifest.size_bytes, manifest.time_ns);
		return r;
	}
	if (name->kind == WFS_NODE_CTL_LINK && tree->ctl_directory)
		node = (struct wfs_node){
			.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_CTL};
	else if (name->kind == WFS_NODE_CTL_LINK && !tree->ctl_target)
		return -ENOENT;
	return wfs_tree_node_attr(tree, view, &node, ret_attr);
}

static int lookup_root(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	for (size_t i = 0; i < wfs_root_name_count; i++)
		if (strcmp(name, wfs_root_names[i].name) == 0)
			return wfs_tree_root_attr(tree, view, parent, &wfs_root_names[i], ret_attr);
	return -ENOENT;
}

static int lookup_reducer(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_reducer reducer;
	int r = wfs_session_reducer(tree->session, view, name, strlen(name), &reducer);

	if (r)
		return r;
	const struct wfs_node node = {
		.kind = WFS_NODE_DIRECTORY,
		.directory = WFS_DIRECTORY_REDUCER,
		.reducer_id = reducer.reducer_id,
		.number = parent->number,
	};
	return wfs_tree_node_attr(tree, view, &node, ret_attr);
}

static int lookup_cell(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	struct wfs_version version;
	int r = wfs_name_decode(name, strlen(name), &key);

	if (!r)
		r = wfs_session_cell(
			tree->session, view, parent->reducer_id, wfs_buffer_bytes(&key), &version);
	if (r)
		return r;
	*ret_attr = wfs_tree_version_attr(version.vid, version.size_bytes, version.time_ns);
	ret_attr->cookie = version.cell_id;
	return 0;
}

static int lookup_blob(const struct wfs_tree *tree, struct wfs_view *view, const char *name,
	struct wfs_attr *ret_attr)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_hash hash;

	if (wfs_hash_parse(name, strlen(name), &hash, NULL))
		return -ENOENT;
	int r = wfs_session_blob(tree->session, view, &hash, &blob, &listing);
	if (r)
		return r;
	*ret_attr = wfs_tree_blob_attr(&blob, &listing);
	ret_attr->cookie = listing.listed_id;
	return 0;
}

static int lookup_journal(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	static const char suffix[] = ".json";
	const size_t suffix_size = sizeof(suffix) - 1;
	struct wfs_node node = {.kind = WFS_NODE_RECORD};
	size_t size = strlen(name);

	if (strcmp(name, "head") == 0) {
		node = (struct wfs_node){.kind = WFS_NODE_HEAD, .number = view->height};
	} else if (strcmp(name, "log.jsonl") == 0) {
		node = (struct wfs_node){.kind = WFS_NODE_LOG, .number = parent->number};
	} else if (strcmp(name, "texts") == 0) {
		node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_TEXTS,
			.number = parent->number};
	} else if (size <= suffix_size || strcmp(name + size - suffix_size, suffix) != 0 ||
		!wfs_tree_number(name, size - suffix_size, WFS_VIEW_BITS, &node.number)) {
		return -ENOENT;
	}
	int r = wfs_tree_node_attr(tree, view, &node, ret_attr);
	if (!r && node.kind == WFS_NODE_RECORD)
		ret_attr->cookie = wfs_tree_record_cookie(node.number);
	return r;
}

static int lookup_text(const struct wfs_tree *tree, struct wfs_view *view, const char *name,
	struct wfs_attr *ret_attr)
{
	struct wfs_hash hash;
	struct wfs_text text;

	if (strlen(name) != WFS_HASH_HEX_SIZE || wfs_hash_parse(name, strlen(name), &hash, NULL))
		return -ENOENT;
	int r = wfs_session_text_find(tree->session, view, &hash, &text);
	return r ? r : wfs_tree_text_file(tree, view, &text, ret_attr);
}

static int lookup_height(const struct wfs_tree *tree, const char *name, struct wfs_attr *ret_attr)
{
	struct wfs_node node = {.kind = WFS_NODE_AT_LINK};
	WFS_AUTO_VIEW struct wfs_view view = {0};

	if (strcmp(name, "head") != 0) {
		node = (struct wfs_node){.kind = WFS_NODE_DIRECTORY};
		if (!wfs_tree_number(name, strlen(name), WFS_VIEW_BITS, &node.number) ||
			node.number == WFS_HEIGHT_HEAD)
			return -ENOENT;
	}
	int r = wfs_tree_view(tree, &node, &view);
	return r ? r : wfs_tree_node_attr(tree, &view, &node, ret_attr);
}

static int lookup_file(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, enum wfs_entity entity, const char *name,
	struct wfs_attr *ret_attr)
{
	const enum wfs_entity_file file = wfs_entity_file_find(entity, name);

	return file == WFS_ENTITY_FILE_COUNT
		? -ENOENT
		: wfs_tree_entity_file(tree, view, parent, file, ret_attr);
}

static int lookup_in(const struct wfs_tree *tree, struct wfs_view *view,
	const struct wfs_node *parent, const char *name, struct wfs_attr *ret_attr)
{
	enum wfs_entity entity;

	if (wfs_tree_entities_of(parent->directory, &entity))
		return wfs_tree_entity_lookup(tree, view, parent, name, ret_attr);
	if (wfs_tree_entity_of(parent->directory, &entity))
		return lookup_file(tree, view, parent, entity, name, ret_attr);
	switch (parent->directory) {
	case WFS_DIRECTORY_STEPS:
		return wfs_tree_step_lookup(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_ENTRIES:
		return wfs_tree_entry_lookup(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_ROOT:
		return lookup_root(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_REDUCERS:
		return lookup_reducer(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_REDUCER:
		return lookup_cell(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_BLOB:
		return lookup_blob(tree, view, name, ret_attr);
	case WFS_DIRECTORY_JOURNAL:
		return lookup_journal(tree, view, parent, name, ret_attr);
	case WFS_DIRECTORY_TEXTS:
		return lookup_text(tree, view, name, ret_attr);
	case WFS_DIRECTORY_AT:
		return lookup_height(tree, name, ret_attr);
	default:
		return -ENOENT;
	}
}

int wfs_tree_lookup(
	const struct wfs_tree *tree, uint64_t parent, const char *name, struct wfs_attr *ret_attr)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_node node;

	if (!wfs_ino_decode(parent, &node))
		return -ENOENT;
	if (node.kind != WFS_NODE_DIRECTORY)
		return -ENOTDIR;
	if (strlen(name) > WFS_NAME_MAX)
		return -ENAMETOOLONG;
	int r = wfs_tree_sees(tree, &node);
	if (!r)
		r = wfs_tree_view(tree, &node, &view);
	if (!r)
		r = lookup_in(tree, &view, &node, name, ret_attr);
	if (r == -ENOENT)
		*ret_attr = (struct wfs_attr){
			/* Of these, new names appear without their own notification; and a
			 * grant makes names appear that were there before. */
			.uncached = !wfs_session_sees_all(tree->session) ||
				node.directory == WFS_DIRECTORY_JOURNAL ||
				node.directory == WFS_DIRECTORY_TEXTS ||
				node.directory == WFS_DIRECTORY_AT ||
				node.directory == WFS_DIRECTORY_BLOB,
		};
	return r;
}

/* One step of a path; `at/head` leads to the directory of the height it names. */
static int resolve_name(const struct wfs_tree *tree, const char *name, struct wfs_attr *attr)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	uint64_t parent = attr->ino;
	struct wfs_node node;
	int r = wfs_tree_lookup(tree, parent, name, attr);

	if (r || !wfs_ino_decode(attr->ino, &node) || node.kind != WFS_NODE_AT_LINK)
		return r;
	r = wfs_tree_link(tree, attr->ino, &target);
	return r ? r : wfs_tree_lookup(tree, parent, wfs_buffer_text(&target), attr);
}

/* Of the root of a height; other nodes leave @height as it is. */
static void note_height(uint64_t ino, uint64_t *height)
{
	struct wfs_node node;

	if (wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_DIRECTORY &&
		node.directory == WFS_DIRECTORY_ROOT)
		*height = node.number;
}

/* `.` as a whole name */
static bool is_dot(const char *path)
{
	return path[0] == '.' && (path[1] == '/' || !path[1]);
}

const char *wfs_tree_path_first(const char *path)
{
	while (*path == '/' || is_dot(path))
		path++;
	return path;
}

bool wfs_tree_path_names_height(const char *path)
{
	path = wfs_tree_path_first(path);
	return strncmp(path, "at", 2) == 0 && (path[2] == '/' || !path[2]);
}

int wfs_tree_resolve(const struct wfs_tree *tree, uint64_t height, const char *path,
	struct wfs_attr *ret_attr, uint64_t *ret_height)
{
	const struct wfs_node root = {.kind = WFS_NODE_DIRECTORY, .number = height};
	char name[WFS_NAME_MAX + 1];
	struct wfs_attr attr;
	int r = wfs_tree_attr(tree, wfs_ino_encode(&root), &attr);

	if (ret_height)
		*ret_height = height;
	while (!r && *path) {
		size_t size = strcspn(path, "/");

		if (size > WFS_NAME_MAX)
			return -ENAMETOOLONG;
		if (size > 0 && !is_dot(path)) {
			memcpy(name, path, size);
			name[size] = '\0';
			r = resolve_name(tree, name, &attr);
			if (!r && ret_height)
				note_height(attr.ino, ret_height);
		}
		if (!r && path[size] == '/' && !S_ISDIR(attr.mode))
			r = -ENOTDIR;
		path += size + (path[size] == '/');
	}
	if (!r)
		*ret_attr = attr;
	return r;
}

int wfs_tree_link(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
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

/* Its name is found as the first one behind the number before. */
static int append_reducer(
	const struct wfs_tree *tree, const struct wfs_node *node, struct wfs_buffer *buffer)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r = wfs_tree_view(tree, node, &view);

	if (!r)
		r = wfs_session_reducer_next(
			tree->session, &view, node->reducer_id - 1, &name, &reducer);
	if (r)
		return r;
	if (reducer.reducer_id != node->reducer_id)
		return -ENOENT;
	wfs_buffer_append_byte(buffer, '/');
	wfs_buffer_append(buffer, name.data, name.size);
	return 0;
}

int wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *buffer)
{
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node))
		return -ENOENT;
	if (node.kind != WFS_NODE_DIRECTORY)
		return -ENOTDIR;
	if (node.number != WFS_HEIGHT_HEAD)
		wfs_buffer_printf(buffer, "at/%" PRIu64 "/", node.number);
	enum wfs_directory_kind kind = node.directory;
	const bool in_reducers = kind == WFS_DIRECTORY_REDUCER;
	const bool in_journal = kind == WFS_DIRECTORY_TEXTS;
	enum wfs_entity entity;
	const bool is_entity = wfs_tree_entity_within(kind, &entity);
	if (in_reducers)
		kind = WFS_DIRECTORY_REDUCERS;
	else if (in_journal)
		kind = WFS_DIRECTORY_JOURNAL;
	else if (is_entity)
		kind = wfs_tree_entities_directory(entity);
	for (size_t i = 0; i < wfs_root_name_count; i++)
		if (wfs_root_names[i].kind == WFS_NODE_DIRECTORY &&
			wfs_root_names[i].directory == kind)
			wfs_buffer_append_text(buffer, wfs_root_names[i].name);
	int r = 0;
	if (in_reducers)
		r = append_reducer(tree, &node, buffer);
	else if (in_journal)
		wfs_buffer_append_text(buffer, "/texts");
	else if (is_entity)
		r = wfs_tree_entity_path(tree, &node, buffer);
	return r ? r : wfs_buffer_check(buffer);
}
