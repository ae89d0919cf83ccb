/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files of commands, under temporary names until they are complete. */
#pragma once

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* Plain value; {.fd = -1} has nothing to release. */
struct wfs_output {
	char *path; /* owned */
	int fd;
};

/** wfs_output_make() - make a temporary file beside the file @name; wfs_output_write() later puts
 *  it in the place of @name. @output: {.fd = -1}; caller calls wfs_output_done(), also on failure.
 *  Return: 0, or -errno with @error. */
int wfs_output_make(const char *name, struct wfs_output *output, struct wfs_error *error);

/** wfs_output_done() - close the file, and remove it if it was not written. */
void wfs_output_done(struct wfs_output *output);
#define WFS_AUTO_OUTPUT WFS_CLEANUP(wfs_output_done)

/** wfs_output_write() - write @bytes to the temporary file, sync it, and rename it to @name, in
 *  place of a file that exists. Return: 0, or -errno with @error: @name is unchanged, unless only
 *  the last step has failed, the sync of its directory. */
int wfs_output_write(struct wfs_output *output, const char *name, struct wfs_bytes bytes,
	struct wfs_error *error);
