/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of help: words that are broken into lines, in columns of a width that fits everywhere. */
#pragma once

#include "kernel/base/buffer.h"

enum {
	WFS_PAGE_WIDTH = 79,
	WFS_PAGE_INDENT = 28, /* column of what an option, command or member does */
};

/**
 * wfs_page_words() - append @text word by word, and a newline
 * @column: that the line has reached
 * @indent: column at which further lines begin
 */
void wfs_page_words(struct wfs_buffer *buffer, size_t column, size_t indent, struct wfs_bytes text);

/** wfs_page_item() - append @left, and what it means in the column for that. */
void wfs_page_item(struct wfs_buffer *buffer, const char *left, const char *meaning);
