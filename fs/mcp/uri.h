/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of files of a world: worldfs:///PATH.
 *
 * PATH is the path in the tree as reserved expansion of RFC 6570 writes it: the template
 * worldfs:///{+path} gives the address of a path. File names that have a `%XX` already (a key with
 * a slash in it) keep it; other bytes are encoded where a URI wants that.
 */
#pragma once

#include "kernel/base/buffer.h"

/** wfs_uri_append() - append the address of a path; a leading `/` may be left out. */
void wfs_uri_append(struct wfs_buffer *buffer, const char *path);

/** wfs_uri_path() - append the path that an address means, without a leading `/`.
 *  Return: 0, -EINVAL (not such an address), -ENOMEM. */
int wfs_uri_path(const char *uri, struct wfs_buffer *buffer);
