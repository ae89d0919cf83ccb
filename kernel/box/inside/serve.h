/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the process that runs code: messages of its owner, one after another. */
#pragma once

/**
 * serve() - answer messages on @fd until its other end is closed
 * Return: 0, or -EBADMSG (a message that cannot be: the owner is broken), or another -errno.
 */
int serve(int fd);
