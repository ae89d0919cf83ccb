/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.json in a world's directory: how this host serves the world (users, models). It is no part of the
 * world.
 *
 * A model of the provider `script` answers from a `file`. One that is relative stands in the world's
 * directory, and comes and goes with it.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum { WFS_HOST_FILE_MAX = 1 << 20 }; /* bytes */

/**
 * wfs_host_file_read() - @ret_host: {} when there is no file; caller owns it
 * @ret_hash: of the bytes that were read, zero when there is no file; may be NULL
 * Return: 0, -EINVAL (invalid_json), -EFBIG (too_large), -ENOMEM, or another -errno.
 */
int wfs_host_file_read(const char *directory, json_t **ret_host, struct wfs_hash *ret_hash,
	struct wfs_error *error);

/** wfs_host_script() - the relative file that a model answers from; NULL: it has none. @entry: of
 *  `models` */
const char *wfs_host_script(const json_t *entry);

/** wfs_host_script_name_valid() - is it a name that no other file of a world has? */
bool wfs_host_script_name_valid(const char *name);
