/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the source reader: its files. */
#pragma once

#include <stdbool.h>

#include "kernel/base/buffer.h"

/** source_file_name_valid() - relative, down only, without control characters. */
bool source_file_name_valid(const char *name);

/**
 * source_file_read() - append a file to @buffer
 * @name: valid
 * Return: 0, -EBADF (not a regular file), -ELOOP (a symbolic link), -EFBIG (more than
 *         WFS_SOURCE_FILE_MAX), -ENOMEM, or what open and read say.
 */
int source_file_read(int directory, const char *name, struct wfs_buffer *buffer);

/** source_file_reason() - what one of these results means to the user. */
const char *source_file_reason(int r);
