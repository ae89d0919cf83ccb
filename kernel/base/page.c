/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of help. See page.h. */
#include "kernel/base/page.h"

#include <string.h>

void wfs_page_words(struct wfs_buffer *buffer, size_t column, size_t indent, struct wfs_bytes text)
{
	const char *at = text.data;
	const char *const end = at + text.size;

	while (at < end) {
		const char *const space = memchr(at, ' ', (size_t)(end - at));
		const size_t word_size = (size_t)((space ? space : end) - at);

		if (column > indent && column + 1 + word_size > WFS_PAGE_WIDTH) {
			wfs_buffer_printf(buffer, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			wfs_buffer_append_byte(buffer, ' ');
			column++;
		}
		wfs_buffer_append(buffer, at, word_size);
		column += word_size;
		at += word_size + (space != NULL);
	}
	wfs_buffer_append_byte(buffer, '\n');
}

void wfs_page_item(struct wfs_buffer *buffer, const char *left, const char *meaning)
{
	size_t column = strlen(left);

	wfs_buffer_append_text(buffer, left);
	if (column + 2 > WFS_PAGE_INDENT) {
		wfs_buffer_append_byte(buffer, '\n');
		column = 0;
	}
	wfs_buffer_printf(buffer, "%*s", (int)(WFS_PAGE_INDENT - column), "");
	wfs_page_words(buffer, WFS_PAGE_INDENT, WFS_PAGE_INDENT, wfs_bytes_text(meaning));
}
