/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of cells. */
#include "kernel/fold/key.h"

#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

int wfs_key_append(const json_t *value, struct wfs_buffer *buffer, struct wfs_error *error)
{
	size_t start = buffer->size;

	if (json_is_string(value))
		wfs_buffer_append(buffer, json_string_value(value), json_string_length(value));
	else
		wfs_json_write(value, buffer);
	int r = wfs_buffer_check(buffer);
	if (r)
		return wfs_error_from_errno(error, r, "read a key");
	if (buffer->size == start)
		return 0; /* an empty buffer has no data */
	size_t size = wfs_name_size(buffer->data + start, buffer->size - start);
	if (size <= WFS_NAME_MAX)
		return 0;
	return wfs_error_set(error, WFS_E_KEY_TOO_LONG,
		"the key's file name would have %zu bytes, expected at most %d: '%.*s…'", size,
		WFS_NAME_MAX, 40, buffer->data + start);
}

json_t *wfs_key_member(const json_t *event, const char *key_field)
{
	const json_t *value = event;

	for (const char *part = key_field; value && *part;) {
		const char *end = strchrnul(part, '.');

		value = json_object_getn(value, part, (size_t)(end - part));
		part = *end ? end + 1 : end;
	}
	return (json_t *)(uintptr_t)value;
}

int wfs_key_from_event(const json_t *event, const char *key_field, struct wfs_buffer *buffer,
	struct wfs_error *error)
{
	const json_t *const value = wfs_key_member(event, key_field);

	if (!value)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the event has no member '%s', which routing takes the key from",
			key_field);
	return wfs_key_append(value, buffer, error);
}
