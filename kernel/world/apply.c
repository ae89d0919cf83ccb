/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing a manifest: checks, and the rows that are written. */
#include "kernel/world/apply.h"

#include <inttypes.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/box/box.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest-diff.h"
#include "kernel/read/blob-read.h"

/* --- checks --- */

/* Checks that a reducer with cells stays as it is; only its module, and the events and effects that
 * it declares, may change. */
static int check_reducer(const struct wfs_head *head, const struct wfs_reducer_definition *reducer,
	const struct wfs_manifest *to, struct wfs_error *error)
{
	const struct wfs_reducer_definition *const next =
		wfs_manifest_reducer_find(to, reducer->name);
	const uint64_t cells = head->reducers[reducer->index].live_count;

	if (cells == 0 || (next && next->keyed == reducer->keyed))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"reducer '%s' has %" PRIu64 " cell%s, so it cannot be %s: delete them first",
		reducer->name, cells, cells == 1 ? "" : "s", next ? "keyed otherwise" : "removed");
}

/* Checks that built-in definitions stay: grants, policies and reducers refer to them. An effect of
 * an earlier program, which this one does not have, may go. */
static int check_builtins(const json_t *diff, struct wfs_error *error)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(diff, "removed"), i, item) {
		const char *list = json_string_value(json_object_get(item, "list"));
		const char *name = json_string_value(json_object_get(item, "name"));

		if ((strcmp(list, "effects") == 0 && wfs_effect_find(name) < WFS_EFFECT_COUNT) ||
			strcmp(list, "caps") == 0 || strncmp(name, "sys/", strlen("sys/")) == 0)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s' of %s is built in and cannot be removed", name, list);
	}
	return 0;
}

int wfs_apply_check(const struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, json_t **ret_diff, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *diff = NULL;
	int r = wfs_manifest_diff(from, to, &diff);

	if (r)
		return wfs_error_from_errno(error, r, "compare the manifests");
	r = check_builtins(diff, error);
	/* Reducers of manifests before @from may have rows, too, but have no cells. */
	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(from); i++)
		r = check_reducer(head, wfs_manifest_reducer(from, i), to, error);
	if (r)
		return wfs_trace(r);
	*ret_diff = WFS_STEAL(diff);
	return 0;
}

bool wfs_apply_has_module(const struct wfs_manifest *manifest, const struct wfs_hash *module)
{
	for (size_t i = 0; i < wfs_manifest_reducer_count(manifest); i++)
		if (wfs_hash_equal(&wfs_manifest_reducer(manifest, i)->module, module))
			return true;
	return false;
}

static int check_module(struct wfs_box *box, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_reducer_definition *reducer, bool put_later, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	char chunk[WFS_REDUCER_NAME_MAX + sizeof(".lua")];
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	struct wfs_blob blob;
	int r = wfs_blob_get(txn, &reducer->module, &blob);

	if (r == -ENOENT || (!r && !blob.listed_id)) {
		if (put_later)
			return 0;
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"the module of reducer '%s' is not a blob of this world: store %s first",
			reducer->name, WFS_HASH_TEXT(&reducer->module));
	}
	if (r)
		return wfs_error_from_errno(error, r, "look for a module");
	r = wfs_blob_read(store, txn, &reducer->module, &source, error);
	if (r)
		return wfs_trace(r);
	snprintf(chunk, sizeof(chunk), "%s.lua", reducer->name);
	const struct wfs_code_options options = {
		.limits = &WFS_LUA_LIMITS_DEFAULT,
		.name = chunk,
		.source = wfs_buffer_bytes(&source),
		.functions = wfs_code_step_functions,
	};
	return wfs_trace(wfs_code_new(box, &options, &code, error));
}

int wfs_apply_check_modules(struct wfs_store *store, const struct wfs_manifest *from,
	const struct wfs_manifest *to, bool put_later, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	int r = wfs_store_read(store, &txn);

	if (!r)
		r = wfs_box_new(&box);
	if (r)
		return wfs_error_from_errno(error, r, "look for the modules");
	for (size_t i = 0; !r && i < wfs_manifest_reducer_count(to); i++) {
		const struct wfs_reducer_definition *const reducer = wfs_manifest_reducer(to, i);

		if (!reducer->builtin && !wfs_apply_has_module(from, &reducer->module))
			r = check_module(box, store, txn, reducer, put_later, error);
	}
	return wfs_trace(r);
}

/* --- writing --- */

int wfs_apply_write(struct wfs_head *head, const struct wfs_manifest *from,
	const struct wfs_manifest *to, int64_t at_ns)
{
	int r = wfs_head_list_bytes(head, wfs_manifest_document(from), head->height, at_ns);

	if (r >= 0) /* 1: listed already, as it was in force before, or a client put it */
		r = wfs_head_set_kernel(head, WFS_KERNEL_CELL_MANIFEST, wfs_manifest_document(to),
			head->height, at_ns);
	return wfs_trace(r ? r : wfs_head_set_manifest(head, from, to, at_ns));
}

/* --- reading one back --- */

int wfs_apply_parse(
	struct wfs_bytes text, struct wfs_manifest **ret_manifest, struct wfs_error *error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	int r = wfs_json_parse(text.data, text.size, &document, error);

	if (r)
		return wfs_trace(r);
	r = wfs_manifest_new(document, &problems, ret_manifest);
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"this program does not know the world's manifest: %.400s",
			wfs_buffer_text(&problems.lines));
	return r ? wfs_error_from_errno(error, r, "read the manifest") : 0;
}

int wfs_apply_load(struct wfs_store *store, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_blob blob;
	int r = wfs_blob_get(txn, hash, &blob);

	if (r)
		return r == -ENOENT ? r : wfs_error_from_errno(error, r, "look for a manifest");
	r = wfs_blob_read(store, txn, hash, &text, error);
	return wfs_trace(r ? r : wfs_apply_parse(wfs_buffer_bytes(&text), ret_manifest, error));
}
