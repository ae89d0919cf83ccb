/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines for systemd's journal, which is called journald here: *journal* is a world's. A line
 * goes there only if stderr is the stream that systemd has named in JOURNAL_STREAM, so a process
 * that writes its stderr to a file or a pipe logs as it does without systemd.
 * Source: systemd.exec(5), JOURNAL_STREAM; systemd's JOURNAL_NATIVE_PROTOCOL.
 */
#pragma once

#include <stdint.h>

#define WFS_JOURNALD_SOCKET "/run/systemd/journal/socket"

/** wfs_journald_setup() - send log lines to journald while stderr is its stream; called once, at
 *  start-up
 *  Where @socket takes datagrams, a line is an entry with the fields MESSAGE and PRIORITY; with
 *  PRINCIPAL, if it is one of wfs_log_for(); and with WORLD and HEIGHT after wfs_journald_world()
 *  and wfs_journald_height(). Otherwise it is written on stderr behind the prefix `<N>`, N being
 *  the priority.
 *  @stream: value of JOURNAL_STREAM, `DEVICE:INODE` in decimal; NULL: does nothing
 *  @socket: path of journald's socket
 *  Return: 0, or -EINVAL (@stream is malformed, or @socket is too long). */
int wfs_journald_setup(const char *stream, const char *socket);

/** wfs_journald_world() - name the world that later entries are about
 *  @directory: of the world. Thread: before other threads log. */
void wfs_journald_world(const char *directory);

/** wfs_journald_height() - set the height of that world, for later entries. @height: 0: not known
 *  Thread: any. */
void wfs_journald_height(uint64_t height);
