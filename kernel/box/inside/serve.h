/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the process that runs code: answers the messages of its owner, one after another. */
#pragma once

/** serve() - send WFS_WIRE_READY (kernel/box/wire.h) to @fd, then answer messages on it until the
 *  other end is closed
 *  Return: 0, -EBADMSG (an impossible message: the owner has a defect), or another -errno. */
int serve(int fd);
