/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.json in a world's directory: how this host serves the world (users, models). The file is not
 * part of the world, but backups copy it.
 *
 * A model of the provider `script` answers from a `file`. A relative path means a file in the
 * world's directory; backups copy that file, too.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum { WFS_HOST_FILE_MAX = 1 << 20 }; /* bytes */

/** wfs_host_file_read() - read and parse host.json in a world's directory
 *  @ret_host: its value, which may be of any type; an empty object when the file does not exist;
 *  caller owns it
 *  @ret_hash: the hash of the file's bytes, zero when it does not exist; may be NULL
 *  Return: 0, -EINVAL (invalid_json: the text is not JSON; invalid_argument: host.json is not a
 *  regular file), -EACCES (not_authorized: the file or the directory is another user's), -EFBIG
 *  (too_large: more than WFS_HOST_FILE_MAX bytes, or too many values), -ENOMEM, or another -errno;
 *  after a failure @ret_host is not set. */
int wfs_host_file_read(const char *directory, json_t **ret_host, struct wfs_hash *ret_hash,
	struct wfs_error *error);

/** wfs_host_script() - get the relative path of the file from which a model of the provider
 *  `script` answers. @entry: the model's value in `models` of host.json
 *  Return: borrowed from @entry; NULL: another provider, or `file` is absolute or missing. */
const char *wfs_host_script(const json_t *entry);

/** wfs_host_script_name_valid() - is @name a file name, without `/`, that ends in `.jsonl`? So a
 *  script can have the name of no other file of a world's directory. */
bool wfs_host_script_name_valid(const char *name);
