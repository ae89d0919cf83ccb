/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: their form, and where in the file a reader finds them.
 *
 * The file position of a descriptor moves with writes and reads, independently of the answers. So
 * `anchor` has the file offset of the first byte of the answers. A reader that goes back within
 * what it has read (a shell's `read` reads ahead and seeks back) gets these bytes again; at any
 * other offset (a program that first seeks to 0) reading continues where it stopped.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "fs/control/control-impl.h"

/* Renders the answer of a failed turn or chat like that of a successful one: with its own `ok` and
 * `error`. */
static json_t *answer_of_driven(const struct wfs_call *call)
{
	WFS_AUTO_JSON json_t *answer = json_copy(call->error_details);

	return json_object_set(answer, "meta", call->meta ? call->meta : json_null()) < 0
		? NULL
		: WFS_STEAL(answer);
}

void wfs_control_render(const struct wfs_call *call, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *envelope = NULL;

	if (call->status == 0) {
		wfs_json_write_document(call->result, buffer);
		return;
	}
	envelope = call->drive.done && call->error_details ? answer_of_driven(call)
							   : wfs_call_envelope(call, NULL);
	if (envelope)
		wfs_json_write_document(envelope, buffer);
	else
		buffer->failed = true;
}

/* Follows a seek back over bytes that were read. Arithmetic is modulo 2^64. */
static void answer_seek(struct wfs_control_open *open, uint64_t offset)
{
	uint64_t index = offset - open->anchor;

	if (index <= open->output.size)
		open->delivered = index;
}

/* Reads from a file without requests, whose contents are those of the moment when it was opened. */
static ssize_t answer_slice(
	const struct wfs_control_open *open, uint64_t offset, size_t size, char **ret_data)
{
	if (offset >= open->output.size)
		return 0;
	if (size > open->output.size - offset)
		size = open->output.size - offset;
	char *data = malloc(size);
	if (!data)
		return -ENOMEM;
	memcpy(data, open->output.data + offset, size);
	*ret_data = data;
	return (ssize_t)size;
}

ssize_t wfs_control_deliver(
	struct wfs_control_open *open, uint64_t offset, size_t size, char **ret_data)
{
	if (!wfs_control_file_writable(open->file))
		return answer_slice(open, offset, size, ret_data);
	if (!open->used) {
		open->used = true;
		wfs_buffer_append_text(&open->output, open->file->help);
	}
	if (wfs_buffer_check(&open->output) < 0)
		return -ENOMEM;
	answer_seek(open, offset);
	ssize_t got = answer_slice(open, open->delivered, size, ret_data);
	if (got < 0)
		return got;
	open->anchor = offset - open->delivered;
	open->delivered += (size_t)got;
	return got;
}

void wfs_control_moved(struct wfs_control_open *open, uint64_t offset, size_t size)
{
	/* The offset of an appending write comes from the file size, not from the file position. */
	if (!(open->flags & O_APPEND))
		answer_seek(open, offset);
	if (open->delivered > 0) {
		open->output.size -= open->delivered;
		memmove(open->output.data, open->output.data + open->delivered, open->output.size);
		open->delivered = 0;
		open->overflowed = false;
		if (open->output.size == 0 && open->output.capacity_bytes > WFS_CONTROL_KEEP_MAX)
			wfs_buffer_done(&open->output);
		(void)wfs_control_output(open);
	}
	open->anchor = offset + size;
}
