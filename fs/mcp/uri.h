/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of a world's files: worldfs:///PATH.
 *
 * PATH is a path in the tree, in the reserved expansion of RFC 6570: the template
 * worldfs:///{+path} gives the address of a path. File names that contain a `%XX` (for a slash in
 * a key) keep it; other bytes are encoded where a URI requires it.
 */
#pragma once

#include "kernel/base/buffer.h"

/** wfs_uri_append() - append the address of the file @path; a leading `/` of it is optional. */
void wfs_uri_append(struct wfs_buffer *buffer, const char *path);

/** wfs_uri_path() - append the path of the file with the address @uri, without a leading `/`.
 *  Return: 0, -EINVAL (not such an address; @buffer is unchanged), -ENOMEM. */
int wfs_uri_path(const char *uri, struct wfs_buffer *buffer);
