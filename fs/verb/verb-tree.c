/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that read the tree without a mount: the same paths and bytes (fs/tree/tree.h). */
#include <sys/stat.h>

#include "fs/tree/tree.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/damage.h"
#include "kernel/base/json.h"

/* The node that the payload names. */
struct place {
	struct wfs_tree tree;
	const char *path;
	struct wfs_attr attr;
};

/* Must the path be read in the live tree? True for `at/…`, `tools/…`, `replication.json` and the
 * root: only this tree has these. */
static bool wants_live_tree(const char *path)
{
	return !*wfs_tree_path_first(path) || wfs_tree_path_is_live(path);
}

static int tree_error(struct wfs_call *call, int r, const char *path)
{
	switch (r) {
	case -ENOENT:
		return wfs_error_set(
			&call->error, WFS_E_NOT_FOUND, "no '%.300s' in the tree", path);
	case -ENOTDIR:
		return wfs_error_set(
			&call->error, WFS_E_INVALID_ARGUMENT, "'%.300s': not a directory", path);
	case -EISDIR:
		return wfs_error_set(
			&call->error, WFS_E_INVALID_ARGUMENT, "'%.300s': is a directory", path);
	case -ENAMETOOLONG:
		return wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"a name in the path has more than 255 bytes");
	case -EIO: {
		const char *const noted = wfs_damage_noted();

		return wfs_error_set(&call->error, WFS_E_HASH_MISMATCH, "'%.300s': %s", path,
			*noted ? noted : "stored bytes do not have their hash");
	}
	case -EACCES: /* the tree has set the error */
		return r;
	default: /* an error that was set is about another node */
		call->error = (struct wfs_error){.code = WFS_OK};
		return r;
	}
}

static int resolve(struct wfs_call *call, uint64_t height, struct place *place)
{
	uint64_t found_at;
	int r = wfs_tree_resolve(&place->tree, height, place->path, &place->attr, &found_at);

	if (r)
		r = tree_error(call, r, place->path);
	/* A path below `at/` sets meta to the height that it names, also if it is not found. */
	if (found_at != height) {
		const struct wfs_error error = call->error;
		WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
		int told = wfs_session_view(call->session, found_at, &view, &call->error);

		if (!told)
			told = wfs_verb_meta(call, &view);
		if (r)
			call->error = error;
		else
			r = told;
	}
	return r;
}

static int place_asked_for(struct wfs_call *call, struct place *ret_place)
{
	struct place place = {.tree = {.session = call->session, .refusal = &call->error}};
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	const char *const at = wfs_verb_text(call, "at");
	uint64_t height;
	int r = wfs_verb_view(call, at, &view);

	place.path = wfs_verb_text(call, "path");
	if (r)
		return r;
	height = !at && wants_live_tree(place.path) ? WFS_HEIGHT_HEAD : view.height;
	r = resolve(call, height, &place);
	if (!r)
		*ret_place = place;
	return r;
}

static const char *type_name(mode_t mode)
{
	if (S_ISDIR(mode))
		return "directory";
	return S_ISLNK(mode) ? "symlink" : "file";
}

/* Return: new reference, NULL without memory. */
static json_t *attr_document(const struct wfs_attr *attr)
{
	return json_pack("{s:i, s:I, s:I, s:s}", "mode", (int)(attr->mode & 07777), "mtime_ns",
		(json_int_t)attr->mtime_ns, "size", (json_int_t)attr->size_bytes, "type",
		type_name(attr->mode));
}

/* A page of names. */
struct page {
	json_t *entries;
	uint64_t limit;
	uint64_t cursor; /* of the last name taken */
	bool more;
	bool failed;
};

static bool page_add(void *context, const struct wfs_tree_entry *entry)
{
	struct page *const page = context;

	if (json_array_size(page->entries) == page->limit) {
		page->more = true;
		return false;
	}
	json_t *const document = attr_document(entry->attr);
	page->failed = json_object_set_new(document, "name", json_string(entry->name)) < 0 ||
		json_array_append(page->entries, document) < 0;
	json_decref(document);
	page->cursor = entry->cookie;
	return !page->failed;
}

int wfs_verb_fs_list(struct wfs_call *call)
{
	struct page page = {.entries = json_array()};
	struct wfs_tree_scan scan = {.left = WFS_VERB_SCAN_MAX};
	struct place place = {.path = NULL};
	uint64_t cursor;
	int r;

	call->result = json_pack("{s:o}", "entries", page.entries);
	if (!call->result)
		return -ENOMEM;
	r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &page.limit);
	if (!r)
		r = wfs_verb_cursor(call, &cursor);
	if (!r)
		r = place_asked_for(call, &place);
	if (r)
		return r;
	place.tree.scan = &scan;
	r = wfs_tree_list(&place.tree, place.attr.ino, cursor, page_add, &page);
	if (r)
		return tree_error(call, r, place.path);
	if (page.failed)
		return -ENOMEM;
	if (page.more)
		return wfs_verb_cursor_set(call, page.cursor);
	return scan.ended ? wfs_verb_cursor_set(call, scan.cookie) : 0;
}

static bool xattr_add(void *context, const char *name, struct wfs_bytes value)
{
	json_object_set_new(context, name, json_stringn(value.data, value.size));
	return true;
}

static int add_xattrs(struct wfs_call *call, const struct place *place)
{
	json_t *const xattrs = json_object();

	if (json_object_set_new(call->result, "xattrs", xattrs) < 0)
		return -ENOMEM;
	return wfs_tree_xattrs(&place->tree, place->attr.ino, xattr_add, xattrs);
}

int wfs_verb_fs_stat(struct wfs_call *call)
{
	struct place place = {.path = NULL};
	int r = place_asked_for(call, &place);

	if (r)
		return r;
	call->result = attr_document(&place.attr);
	if (json_object_set_new(call->result, "path", json_string(place.path)) < 0)
		return -ENOMEM;
	r = add_xattrs(call, &place);
	return r ? tree_error(call, r, place.path) : 0;
}

int wfs_verb_fs_read(struct wfs_call *call)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	struct place place = {.path = NULL};
	int64_t offset = 0;
	uint64_t limit;
	int r = wfs_verb_limit(call, WFS_VERB_READ_MAX, &limit);

	if (!r)
		r = wfs_json_get_integer(
			call->payload, "offset", 0, INT64_MAX, &offset, &call->error);
	if (!r)
		r = place_asked_for(call, &place);
	if (r)
		return r;
	r = wfs_tree_read(&place.tree, place.attr.ino, (uint64_t)offset, limit, &data);
	if (r)
		return tree_error(call, r, place.path);
	const uint64_t end = (uint64_t)offset + data.bytes.size;
	call->result = json_pack("{s:b, s:I}", "eof", (int)(end >= place.attr.size_bytes), "size",
		(json_int_t)place.attr.size_bytes);
	return wfs_json_set_base64(call->result, "data_b64", data.bytes.data, data.bytes.size);
}
