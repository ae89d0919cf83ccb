/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole new content of an artifact, gathered from what is written to its control file.
 *
 * It begins empty: opened to be truncated or made, or truncated to nothing before the first write.
 * Writes may go back over what was written before, but leave no gap: what was not written is not
 * known here. The bytes stay until the file is released: when the process that opened it has closed
 * it and another that inherited it goes on writing, what was there at the close is given, and all of
 * it at the end. One write that is refused spoils it all.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised is: nothing to be done. */
struct wfs_control_content {
	bool pending; /* there is something to be done when the file is closed */

	/* Private. */
	bool begun;  /* it was empty once; what is there already is not written into */
	bool given;  /* the content is `bytes`; otherwise an artifact is made, and one that is there
		      * keeps its own */
	bool spoilt; /* a write was refused: nothing more is taken */
	struct wfs_buffer bytes;
};

void wfs_control_content_done(struct wfs_control_content *content);

/** wfs_control_content_begin() - opened to be truncated, or (@given false) to be made. */
void wfs_control_content_begin(struct wfs_control_content *content, bool given);

/**
 * wfs_control_content_write() - @data stands at @offset
 * Return: 0, -EINVAL (invalid_request: it has not begun empty, bytes before it are missing, or
 *         something was refused before), -EFBIG (too_large), -ENOMEM.
 */
int wfs_control_content_write(struct wfs_control_content *content, uint64_t offset,
	struct wfs_bytes data, struct wfs_error *error);

/** wfs_control_content_truncate() - it ends at @size. Return: as above. */
int wfs_control_content_truncate(
	struct wfs_control_content *content, uint64_t size, struct wfs_error *error);

/** wfs_control_content_refuse() - spoil it, by what stands in @error. Return: -EINVAL. */
int wfs_control_content_refuse(
	struct wfs_control_content *content, const char *reason, struct wfs_error *error);

/** wfs_control_content_drop() - forget what came; nothing is pending. */
void wfs_control_content_drop(struct wfs_control_content *content);

/**
 * wfs_control_content_take() - the payload of the verb `invoke` that does what is pending
 * @ret_payload: caller owns it
 * Return: 0, -EINVAL (invalid_argument: not UTF-8), -ENOMEM. In any case nothing is pending then.
 */
int wfs_control_content_take(struct wfs_control_content *content, const char *artifact_id,
	json_t **ret_payload, struct wfs_error *error);
