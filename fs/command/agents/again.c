/* SPDX-License-Identifier: Apache-2.0 */
/* step --again: two answers to each request of a turn, side by side. */
#include "fs/command/agents/again.h"

#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { COLUMN = 38 }; /* characters of an answer in a line; two of them fit 80 columns */

/* --- what is printed of an answer --- */

static void add_calls(const json_t *answer, struct wfs_buffer *text)
{
	const json_t *call;
	size_t i;

	json_array_foreach(json_object_get(answer, "tool_calls"), i, call) {
		wfs_buffer_printf(
			text, "%s> %s ", text->size > 0 ? "\n" : "", wfs_json_text(call, "name"));
		wfs_buffer_append_text(text, wfs_json_text(call, "arguments"));
	}
}

static void write_answer(const json_t *answer, struct wfs_buffer *text)
{
	if (json_object_get(answer, "error"))
		wfs_buffer_printf(text, "(failed: %s)", wfs_json_text(answer, "error"));
	wfs_buffer_append_text(text, wfs_json_text(answer, "content"));
	add_calls(answer, text);
	if (text->size == 0)
		wfs_buffer_append_text(text, "(nothing)");
	if (!wfs_buffer_check(text))
		wfs_terminal_clean(text->data, text->size);
}

/* --- columns --- */

/* Cuts the next line off a text: at most COLUMN characters, if possible at a space. @at: moves on
 * @ret_count: characters of the line. Return: its bytes. */
static size_t next_line(const char **at, size_t *ret_count)
{
	const char *const line = *at;
	size_t size = 0;
	size_t count = 0;
	size_t space = 0;
	size_t space_count = 0;

	while (line[size] && line[size] != '\n' && count < COLUMN) {
		if (line[size] == ' ') {
			space = size;
			space_count = count;
		}
		const size_t sequence = wfs_utf8_sequence(line + size, strlen(line + size));
		size += sequence > 0 ? sequence : 1;
		count++;
	}
	const bool cut = line[size] && line[size] != '\n' && line[size] != ' ' && space > 0;
	if (cut) {
		size = space;
		count = space_count;
	}
	*at = line + size + (line[size] == '\n' || line[size] == ' ');
	*ret_count = count;
	return size;
}

static void print_columns(struct wfs_run *run, const char *left, const char *right)
{
	while (*left || *right) {
		const char *const left_line = left;
		const char *const right_line = right;
		size_t left_count = 0;
		size_t right_count = 0;
		const size_t left_size = *left ? next_line(&left, &left_count) : 0;
		const size_t right_size = *right ? next_line(&right, &right_count) : 0;

		fprintf(run->out, "%.*s%*s%s%.*s\n", (int)left_size, left_line,
			right_size > 0 ? (int)(COLUMN - left_count) : 0, "",
			right_size > 0            ? " | "
				: *right || *left ? " |"
						  : "",
			(int)right_size, right_line);
	}
}

static int print_request(struct wfs_run *run, const json_t *request)
{
	WFS_AUTO_BUFFER struct wfs_buffer left = {0};
	WFS_AUTO_BUFFER struct wfs_buffer right = {0};

	write_answer(json_object_get(request, "recorded"), &left);
	write_answer(json_object_get(request, "again"), &right);
	if (wfs_buffer_check(&left) || wfs_buffer_check(&right))
		return -ENOMEM;
	fprintf(run->out, "--- request %lld\n", (long long)wfs_run_integer(request, "number"));
	print_columns(run, wfs_buffer_text(&left), wfs_buffer_text(&right));
	return 0;
}

static int print_result(struct wfs_run *run, const json_t *result)
{
	WFS_AUTO_BUFFER struct wfs_buffer now = {0};
	const json_t *request;
	size_t i;
	int r = 0;

	wfs_buffer_printf(&now, "again, by %s", wfs_json_text(result, "model"));
	if (wfs_buffer_check(&now))
		return -ENOMEM;
	print_columns(run, wfs_json_text(result, "turn_id"), wfs_buffer_text(&now));
	json_array_foreach(json_object_get(result, "requests"), i, request) {
		if (!r)
			r = print_request(run, request);
	}
	return r;
}

int wfs_again_run(struct wfs_run *run)
{
	json_t *const payload = json_pack("{s:s, s:s*}", "turn_id", run->arguments[0], "model",
		run->options[WFS_OPTION_MODEL]);

	return payload ? wfs_run_show(run, "step-again", payload, print_result) : -ENOMEM;
}
