/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lines of a file as they come, as `tail -n +1 -F` does: also those of a file that grows,
 * that does not exist yet, that is cut to a smaller size, or that is replaced by another file.
 *
 * A file that was replaced is read on for WFS_TAIL_OLD_MS after its last byte, because programs
 * write to it until they open the new one. A line without an end is taken when the file can have no
 * more.
 * Source: tail(1).
 */
#pragma once

#include <poll.h>

#include "fs/command/frame/input.h"

struct wfs_tail;

enum {
	WFS_TAIL_LOOK_MS = 250, /* pause between two looks at the file without an event */
	WFS_TAIL_OLD_MS = 5000, /* how long a replaced file is read on after its last byte */
};

/* Gets a text that says what has happened to the file. @text: borrowed for the call */
typedef void wfs_tail_tell(void *context, const char *text);

/** wfs_tail_new() - begin to read lines; caller frees @ret_tail with wfs_tail_free()
 *  @path: of a regular file, which may not exist yet; or `-`: standard input, in which no lines
 *  come after its last byte. Must outlive the tail
 *  @follow: false: the file must exist, and may be of any kind; no lines come after its last byte
 *  @tell: called with @context when the file is cut, replaced, and so on
 *  Return: 0, -EINVAL (invalid_argument: not a regular file), -EACCES, … with @error. */
int wfs_tail_new(const char *path, bool follow, wfs_tail_tell *tell, void *context,
	struct wfs_tail **ret_tail, struct wfs_error *error);
void wfs_tail_free(struct wfs_tail *tail);
WFS_DEFINE_AUTO(tail, struct wfs_tail, wfs_tail_free)
#define WFS_AUTO_TAIL WFS_CLEANUP(wfs_auto_tail)

/** wfs_tail_next() - take the next line that was read, without its end
 *  @ret_line: borrowed until the next wfs_tail_fill(); `data` is NULL for a line of more than
 *  WFS_LINE_MAX bytes, which are dropped
 *  @ret_number: of the line in its file, from 1
 *  Return: false: wfs_tail_fill() has to read more. */
bool wfs_tail_next(struct wfs_tail *tail, struct wfs_bytes *ret_line, uint64_t *ret_number);

/** wfs_tail_fill() - read the next bytes that the file has now. To be called when all lines were
 *  taken.
 *  Return: 1 (bytes came), 0 (none are there now), or -errno with @error. */
int wfs_tail_fill(struct wfs_tail *tail, struct wfs_error *error);

/** wfs_tail_poll() - get what to wait for with poll(2) before the next wfs_tail_fill(). The caller
 *  calls wfs_tail_fill() at least every WFS_TAIL_LOOK_MS, because poll(2) does not report
 *  everything. */
struct pollfd wfs_tail_poll(const struct wfs_tail *tail);

/** wfs_tail_ended() - can no more lines come? */
bool wfs_tail_ended(const struct wfs_tail *tail);
