/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and copying whole files. */
#pragma once

#include "kernel/base/buffer.h"

/** wfs_file_copy() - write all bytes of the file @from, beginning at its position, to the file @to,
 *  at its position
 *  File systems that can share blocks between files do so; both files are independent all the same.
 *  @from, @to: descriptors, which stay open. Return: 0, or an -errno of copy_file_range(2) or
 *  sendfile(2), such as -ENOSPC; after a failure a part may be written. */
int wfs_file_copy(int from, int to);

/** wfs_file_read() - append all bytes of the file @fd, which stays open, beginning at its position,
 *  to @buffer
 *  Return: 0, -EFBIG (these are more than @size_max bytes), or another -errno; after a failure the
 *  bytes that were read so far stay in @buffer. */
int wfs_file_read(int fd, size_t size_max, struct wfs_buffer *buffer);
