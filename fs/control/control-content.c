/* SPDX-License-Identifier: Apache-2.0 */
/* The content of an artifact while it is written. See control-content.h. */
#include "fs/control/control-content.h"

#include <inttypes.h>
#include <string.h>

#include "caps/session-act.h"
#include "kernel/base/encode.h"

void wfs_control_content_done(struct wfs_control_content *content)
{
	wfs_buffer_done(&content->bytes);
}

void wfs_control_content_begin(struct wfs_control_content *content, bool given)
{
	content->pending = true;
	content->begun = true;
	content->given = given;
}

void wfs_control_content_drop(struct wfs_control_content *content)
{
	wfs_buffer_done(&content->bytes);
	content->pending = false;
}

static int spoil(struct wfs_control_content *content, int r)
{
	wfs_buffer_done(&content->bytes);
	content->pending = false;
	content->spoilt = true;
	return r;
}

int wfs_control_content_refuse(
	struct wfs_control_content *content, const char *reason, struct wfs_error *error)
{
	return spoil(content, wfs_error_set(error, WFS_E_INVALID_REQUEST, "%s", reason));
}

/* May the content be changed at @offset? */
static int check_place(
	struct wfs_control_content *content, uint64_t offset, struct wfs_error *error)
{
	if (content->spoilt)
		return wfs_error_set(error, WFS_E_INVALID_REQUEST,
			"this content was refused: close the file before writing more");
	if (!content->begun)
		return wfs_control_content_refuse(content,
			"expected the whole new content, got a change of the old one; open with "
			"O_TRUNC, or change a part with edit_artifact",
			error);
	if (offset <= content->bytes.size)
		return 0;
	return spoil(content,
		wfs_error_set(error, WFS_E_INVALID_REQUEST,
			"expected the whole content: bytes %zu to %" PRIu64 " did not come",
			content->bytes.size, offset - 1));
}

static void content_changed(struct wfs_control_content *content)
{
	content->given = true;
	content->pending = true;
}

int wfs_control_content_write(struct wfs_control_content *content, uint64_t offset,
	struct wfs_bytes data, struct wfs_error *error)
{
	struct wfs_buffer *const bytes = &content->bytes;
	int r = check_place(content, offset, error);

	if (r)
		return r;
	if (offset + data.size > WFS_REQUEST_SIZE_MAX)
		return spoil(content,
			wfs_error_set(error, WFS_E_TOO_LARGE,
				"a content has at most %d bytes; what came so far is dropped",
				WFS_REQUEST_SIZE_MAX));
	const size_t over =
		bytes->size - (size_t)offset < data.size ? bytes->size - (size_t)offset : data.size;
	if (over > 0)
		memcpy(bytes->data + offset, data.data, over);
	wfs_buffer_append(bytes, (const char *)data.data + over, data.size - over);
	r = wfs_buffer_check(bytes);
	if (r)
		return spoil(content, wfs_error_from_errno(error, r, "receive a content"));
	content_changed(content);
	return 0;
}

int wfs_control_content_truncate(
	struct wfs_control_content *content, uint64_t size, struct wfs_error *error)
{
	if (size == 0)
		content->begun = true;
	int r = check_place(content, size, error);
	if (r)
		return r;
	content->bytes.size = (size_t)size;
	content_changed(content);
	return 0;
}

/* Index of the first byte that is not UTF-8. Return: @size: all bytes are, which is found
 * faster. */
static size_t first_invalid(const char *text, size_t size)
{
	size_t at = 0;
	size_t sequence = 1;

	if (wfs_utf8_valid(text, size))
		return size;
	while (at < size && sequence > 0) {
		sequence = wfs_utf8_sequence(text + at, size - at);
		at += sequence;
	}
	return at;
}

int wfs_control_content_take(struct wfs_control_content *content, const char *artifact_id,
	json_t **ret_payload, struct wfs_error *error)
{
	const char *const text = content->bytes.data ? content->bytes.data : "";
	const size_t size = content->bytes.size;
	const size_t valid = first_invalid(text, size);
	json_t *const value =
		content->given && valid == size ? json_stringn_nocheck(text, size) : NULL;

	content->pending = false;
	if (valid < size)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'content': expected UTF-8 text, got byte 0x%02x at offset %zu",
			(unsigned char)text[valid], valid);
	if (content->given && !value)
		return wfs_error_from_errno(error, -ENOMEM, "write an artifact");
	*ret_payload = json_pack("{s:{s:s, s:s, s:o*}}", "action", "action_type", "write_artifact",
		"artifact_id", artifact_id, "content", value);
	return *ret_payload ? 0 : wfs_error_from_errno(error, -ENOMEM, "write an artifact");
}
