/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes documents of cells by their tables. */
#include "kernel/manifest/document.h"

#include <string.h>

#include "kernel/base/json.h"

#define FIELDS(constant, name)                            \
	static const struct wfs_field name##_fields[] = { \
		WFS_DOCUMENT_##constant(WFS_FIELD, wfs_document_##name){NULL}};
WFS_DOCUMENTS(FIELDS)

static const struct {
	size_t size;
	struct wfs_form form;
} types[WFS_BUILTIN_REDUCER_COUNT] = {
#define TYPE(constant, name)                                            \
	[WFS_BUILTIN_##constant] = {sizeof(struct wfs_document_##name), \
		{.kind = WFS_FORM_RECORD, .fields = name##_fields}},
	WFS_DOCUMENTS(TYPE)
#undef TYPE
};

void wfs_document_done(void *document)
{
	json_decref(((struct wfs_document *)document)->json);
}

int wfs_document_read(
	enum wfs_builtin_reducer reducer, json_t *json, void *ret_document, struct wfs_error *error)
{
	const char *const name = wfs_builtin_reducer_name(reducer);
	struct wfs_error reason = {0};
	int r = json ? wfs_form_read(&types[reducer].form, name, json, ret_document, &reason) : 0;

	if (!json || r)
		memset(ret_document, 0, types[reducer].size);
	if (!r) {
		((struct wfs_document *)ret_document)->json = json;
		return 0;
	}
	json_decref(json);
	return r == -ENOMEM ? wfs_error_from_errno(error, r, "read a document")
			    : wfs_error_set(error, WFS_E_INTERNAL_ERROR,
				      "a document of %s is damaged: %.300s", name, reason.message);
}

json_t *wfs_document_write(enum wfs_builtin_reducer reducer, const void *document)
{
	return wfs_form_write(&types[reducer].form, document);
}
