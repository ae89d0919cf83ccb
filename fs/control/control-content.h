/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole new content of an artifact, collected from writes to its control file.
 *
 * The content begins empty: the file was opened with O_TRUNC or created, or truncated to 0 bytes
 * before the first write. Writes may overwrite earlier bytes, but may leave no gap. The bytes are
 * kept until the file is released: if the process that opened the file has closed it, and another
 * process that inherited the descriptor goes on writing, the content is sent as it is at the close,
 * and once more, as a whole, at the release. One refused change spoils the whole content: its bytes
 * are dropped, later changes are refused, too, and closing the file sends nothing.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised: nothing is pending. */
struct wfs_control_content {
	bool pending; /* closing the file has something to do */

	/* Private. */
	bool begun;  /* the content began empty; otherwise writes are refused */
	bool given;  /* send `bytes` as the content; false: only make an artifact that is missing */
	bool spoilt; /* a change was refused, so later ones are refused, too */
	struct wfs_buffer bytes;
};

void wfs_control_content_done(struct wfs_control_content *content);

/** wfs_control_content_begin() - begin with empty content; from now on, closing the file must send
 *  a request (content->pending)
 *  @given: true: the file was opened with O_TRUNC, and the content is empty if nothing is written;
 *          false: the file was created, and if nothing is written, the request only makes the
 *          artifact, if it is missing */
void wfs_control_content_begin(struct wfs_control_content *content, bool given);

/** wfs_control_content_write() - put @data at @offset of the content; a failure spoils the content
 *  Return: 0, -EINVAL (invalid_request: the content has not begun empty, bytes before @offset are
 *  missing, or the content is spoilt), -EFBIG (too_large: the content would have more than
 *  WFS_REQUEST_SIZE_MAX bytes), -ENOMEM. */
int wfs_control_content_write(struct wfs_control_content *content, uint64_t offset,
	struct wfs_bytes data, struct wfs_error *error);

/** wfs_control_content_truncate() - cut the content to @size bytes, or begin with empty content if
 *  @size is 0; a failure spoils the content. Return: 0, -EINVAL (invalid_request: the content has
 *  not begun empty, has fewer bytes than @size, or is spoilt). */
int wfs_control_content_truncate(
	struct wfs_control_content *content, uint64_t size, struct wfs_error *error);

/** wfs_control_content_refuse() - refuse a change, and so spoil the content, as the top of this
 *  header says. @reason: becomes the message of @error. Return: -EINVAL (invalid_request). */
int wfs_control_content_refuse(
	struct wfs_control_content *content, const char *reason, struct wfs_error *error);

/** wfs_control_content_drop() - drop the bytes that were written; nothing is pending any more until
 *  the next change. Spoilt content stays spoilt. */
void wfs_control_content_drop(struct wfs_control_content *content);

/**
 * wfs_control_content_take() - make the payload of the verb `invoke` that writes the content to the
 * artifact @artifact_id or, if a file was created and nothing written, only makes the artifact
 * To be called if content->pending; afterwards nothing is pending, also on failure.
 * @ret_payload: set on success; caller owns it
 * Return: 0, -EINVAL (invalid_argument: not UTF-8), -ENOMEM.
 */
int wfs_control_content_take(struct wfs_control_content *content, const char *artifact_id,
	json_t **ret_payload, struct wfs_error *error);
