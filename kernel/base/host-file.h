/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.json in a world's directory: how this host serves the world (users, models). It is no part of the
 * world.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/error.h"

enum { WFS_HOST_FILE_MAX = 1 << 20 }; /* bytes */

/**
 * wfs_host_file_read() - @ret_host: {} when there is no file; caller owns it
 * Return: 0, -EINVAL (invalid_json), -EFBIG (too_large), -ENOMEM, or another -errno.
 */
int wfs_host_file_read(const char *directory, json_t **ret_host, struct wfs_error *error);
