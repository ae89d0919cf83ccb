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

/** wfs_journald_setup() - send each later log line to journald, if stderr is journald's stream when
 *  the line is logged; called once, at start-up
 *  If @socket takes datagrams, the line becomes an entry with the fields MESSAGE and PRIORITY; with
 *  PRINCIPAL, if wfs_log_for() (log.h) got one; and with WORLD and HEIGHT after calls of
 *  wfs_journald_world() and wfs_journald_height(). Otherwise the line is written on stderr after
 *  the prefix `<N>`, where N is the priority.
 *  @stream: value of JOURNAL_STREAM, `DEVICE:INODE` in decimal; NULL: does nothing
 *  @socket: path of journald's socket
 *  Return: 0, or -EINVAL (@stream is malformed, or @socket is too long). */
int wfs_journald_setup(const char *stream, const char *socket);

/** wfs_journald_world() - set the field WORLD of later entries. @directory: of the world; copied
 *  Thread: called before other threads log. */
void wfs_journald_world(const char *directory);

/** wfs_journald_height() - set the field HEIGHT of later entries. @height: of the world; 0: none
 *  Thread: any. */
void wfs_journald_height(uint64_t height);
