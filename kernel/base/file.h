/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files. */
#pragma once

#include "kernel/base/buffer.h"

/**
 * wfs_file_copy() - append all bytes of @from, from its position on, to @to
 * File systems that can share the bytes between both files do so; they are copies all the same.
 * Return: 0, -ENOSPC, -EIO, …
 */
int wfs_file_copy(int from, int to);

/**
 * wfs_file_read() - append all bytes of a file from its position on
 * Return: 0, -EFBIG (there are more than @size_max), or another -errno.
 */
int wfs_file_read(int fd, size_t size_max, struct wfs_buffer *buffer);
