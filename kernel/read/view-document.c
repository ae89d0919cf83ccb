/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of built-in reducers as JSON, and as structs. */
#include "kernel/read/view-document.h"

#include "kernel/base/json.h"

int wfs_view_version_document(struct wfs_view *view, const struct wfs_version *version,
	json_t **ret_document, struct wfs_error *error)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	int r = wfs_view_content(view, version, WFS_RANGE_ALL, &content, error);

	if (!r)
		r = wfs_json_parse(content.bytes.data, content.bytes.size, ret_document, error);
	/* A restored world may have cells that are not JSON: the caller is not to blame for
	 * these. */
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"a cell of a built-in reducer is not a document");
	return wfs_trace(r);
}

int wfs_view_document(struct wfs_view *view, enum wfs_builtin_reducer builtin, const char *key,
	json_t **ret_document, struct wfs_error *error)
{
	struct wfs_reducer found;
	struct wfs_version version;
	int r = wfs_view_builtin(view, builtin, &found);

	if (r)
		return wfs_trace(r == -ENOENT ? -EIO : r);
	r = wfs_view_cell(view, found.reducer_id, wfs_bytes_text(key), &version);
	return r ? r : wfs_view_version_document(view, &version, ret_document, error);
}

int wfs_view_state(struct wfs_view *view, const struct wfs_version *version, json_t **ret_state)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	int r = wfs_view_content(view, version, WFS_RANGE_ALL, &content, NULL);

	if (r)
		return wfs_trace(r);
	r = wfs_json_parse(content.bytes.data, content.bytes.size, ret_state, NULL);
	if (r == -EINVAL) {
		*ret_state = json_object();
		r = *ret_state ? 0 : -ENOMEM;
	}
	return wfs_trace(r);
}

int wfs_view_read(struct wfs_view *view, enum wfs_builtin_reducer builtin, const char *key,
	void *ret_document, struct wfs_error *error)
{
	json_t *json = NULL;
	int r = wfs_view_document(view, builtin, key, &json, error);
	const int read = wfs_document_read(builtin, json, ret_document, r ? NULL : error);

	return r ? r : wfs_trace(read);
}

int wfs_view_read_version(struct wfs_view *view, enum wfs_builtin_reducer builtin,
	const struct wfs_version *version, void *ret_document, struct wfs_error *error)
{
	json_t *json = NULL;
	int r = wfs_view_version_document(view, version, &json, error);
	const int read = wfs_document_read(builtin, json, ret_document, r ? NULL : error);

	return r ? r : wfs_trace(read);
}
