/* SPDX-License-Identifier: Apache-2.0 */
/* Writes forms as definitions. */
#include "kernel/manifest/shape.h"

#include "kernel/base/json.h"

static json_t *record_document(const struct wfs_field *member)
{
	WFS_AUTO_JSON json_t *members = json_object();

	for (; members && member->name; member++) {
		json_t *document = wfs_shape_document(member->form);

		if (document && member->optional)
			document = json_pack("{s:o}", "maybe", document);
		if (json_object_set_new(members, member->name, document) < 0)
			return NULL;
	}
	return members ? json_pack("{s:O}", "record", members) : NULL;
}

static json_t *plain_document(const struct wfs_form *shape)
{
	switch (shape->kind) {
	case WFS_FORM_TEXT:
		return json_pack("{s:{}}", "text");
	case WFS_FORM_NAT:
	case WFS_FORM_INTEGER:
		return json_pack("{s:{}}", "nat");
	case WFS_FORM_BOOL:
		return json_pack("{s:{}}", "bool");
	case WFS_FORM_HASH:
	case WFS_FORM_HASH_BYTES:
		return json_pack("{s:{}}", "hash");
	case WFS_FORM_LIST:
		return json_pack("{s:o}", "list", wfs_shape_document(shape->of));
	case WFS_FORM_RECORD:
		return record_document(shape->fields);
	case WFS_FORM_OBJECT:
	case WFS_FORM_VALUE:
		return json_pack("{s:s}", "ref", shape->ref);
	}
	return NULL;
}

json_t *wfs_shape_document(const struct wfs_form *shape)
{
	WFS_AUTO_JSON json_t *document = plain_document(shape);

	if (document && shape->comment &&
		json_object_set_new(document, "$comment", json_string(shape->comment)) < 0)
		return NULL;
	return WFS_STEAL(document);
}
