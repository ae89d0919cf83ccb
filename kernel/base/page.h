/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of help: wraps words into lines and columns that fit a terminal of 80 columns. */
#pragma once

#include "kernel/base/buffer.h"

enum {
	WFS_PAGE_WIDTH = 79,
	WFS_PAGE_INDENT = 28, /* column at which descriptions begin */
};

/** wfs_page_words() - append @text, wrapped between words, and a newline to @buffer
 *  @column: columns that the current line of @buffer has so far
 *  @indent: column at which further lines begin */
void wfs_page_words(struct wfs_buffer *buffer, size_t column, size_t indent, struct wfs_bytes text);

/** wfs_page_item() - append an item of a list to @buffer: @left, such as an option, and @meaning,
 *  wrapped into lines that begin at column WFS_PAGE_INDENT; the first of them is beside @left, or
 *  below it if @left is too long. */
void wfs_page_item(struct wfs_buffer *buffer, const char *left, const char *meaning);
