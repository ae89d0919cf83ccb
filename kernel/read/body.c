/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes bodies of records by their tables. */
#include "kernel/read/body.h"

#include "kernel/read/record.h"

#define FIELDS(constant, name)                            \
	static const struct wfs_field name##_fields[] = { \
		WFS_BODY_##constant(WFS_FIELD, wfs_body_##name){NULL}};
WFS_RECORD_KINDS(FIELDS)

static const struct wfs_form forms[] = {
#define FORM(constant, name) {.kind = WFS_FORM_RECORD, .fields = name##_fields},
	WFS_RECORD_KINDS(FORM)
#undef FORM
};

int wfs_body_read(enum wfs_record_kind kind, const json_t *json, union wfs_body *ret_body,
	struct wfs_error *error)
{
	return wfs_form_read(&forms[kind], wfs_record_kind_name(kind), json, ret_body, error);
}

void wfs_body_write(struct wfs_buffer *buffer, enum wfs_record_kind kind, const void *body)
{
	wfs_form_append(&forms[kind], body, buffer);
}
