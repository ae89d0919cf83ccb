/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/command/frame/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/encode.h"

enum { CUT_MAX = 3 }; /* bytes of a character whose end has not come */

struct terminal {
	FILE *file;
	char cut[CUT_MAX];
	size_t cut_size;
};

static ssize_t terminal_write(void *context, const char *bytes, size_t size)
{
	struct terminal *const terminal = context;
	const size_t all = terminal->cut_size + size;
	char *const text = malloc(all + 1);

	if (!text) {
		errno = ENOMEM;
		return 0;
	}
	memcpy(text, terminal->cut, terminal->cut_size);
	memcpy(text + terminal->cut_size, bytes, size);
	const size_t whole = wfs_utf8_cut(text, all);
	terminal->cut_size = all - whole;
	memcpy(terminal->cut, text + whole, terminal->cut_size);
	wfs_terminal_clean(text, whole);
	const bool written =
		fwrite(text, 1, whole, terminal->file) == whole && fflush(terminal->file) == 0;
	free(text);
	return written ? (ssize_t)size : 0;
}

static int terminal_close(void *context)
{
	struct terminal *const terminal = context;
	int r = 0;

	for (size_t i = 0; i < terminal->cut_size; i++)
		r |= fputc('?', terminal->file) == EOF;
	r |= fflush(terminal->file);
	free(terminal);
	return r ? EOF : 0;
}

FILE *wfs_terminal_open(FILE *file)
{
	const cookie_io_functions_t calls = {.write = terminal_write, .close = terminal_close};

	if (!isatty(fileno(file)))
		return file;
	struct terminal *const terminal = calloc(1, sizeof(*terminal));
	if (!terminal)
		return file;
	terminal->file = file;
	FILE *const stream = fopencookie(terminal, "w", calls);
	if (!stream) {
		free(terminal);
		return file;
	}
	(void)setvbuf(stream, NULL, _IOLBF, BUFSIZ);
	return stream;
}
