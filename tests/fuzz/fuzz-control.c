/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options (1 byte), size of pieces (1 byte), and the bytes written to a control file. Writing in
 * pieces must give the values of a single write, unless a value is refused: the rest that is
 * dropped then depends on the pieces.
 */
#include "tests/fuzz/fuzz.h"

#include "fs/control/control-parser.h"

enum { VALUE_MAX = 4096, ROUNDS_MAX = 100000 };

static void check_refusal(int r, const struct wfs_error *error)
{
	FUZZ_MUST(r == -EINVAL || r == -EFBIG);
	fuzz_refused(error);
}

/* Takes each complete value. Return: false if one was refused. */
static bool take_all(struct wfs_control_parser *parser, bool end, struct wfs_buffer *out)
{
	bool accepted = true;
	int r = 1;

	for (int i = 0; r != 0; i++) {
		WFS_AUTO_JSON json_t *json = NULL;
		struct wfs_error error = {.code = WFS_OK};

		FUZZ_MUST(i < ROUNDS_MAX);
		r = wfs_control_parser_take(parser, end, &json, &error);
		FUZZ_MUST(r == 1 || !json);
		if (r == 1 && json)
			wfs_json_write(json, out);
		else if (r == 1)
			wfs_buffer_append_text(out, "empty");
		wfs_buffer_append_byte(out, '\n');
		if (r < 0)
			check_refusal(r, &error);
		accepted &= r >= 0;
	}
	return accepted;
}

static bool parse(
	const uint8_t *data, size_t size, uint8_t options, size_t step, struct wfs_buffer *out)
{
	struct wfs_control_parser parser = {
		.size_max_bytes = VALUE_MAX, .empty_lines = options & 1, .words = options & 2};
	bool accepted = true;
	size_t at = 0;

	do {
		const size_t part = size - at < step ? size - at : step;

		FUZZ_MUST(wfs_control_parser_add(&parser, data + at, part) == 0);
		at += part;
		/* take_all() appends a newline for "nothing more", which only the last piece may
		 * leave. */
		accepted &= take_all(&parser, at == size, out);
		if (at < size)
			out->size--;
		(void)wfs_control_parser_pending(&parser);
		(void)wfs_control_parser_whole(&parser);
	} while (at < size);
	FUZZ_MUST(!wfs_control_parser_pending(&parser));
	wfs_control_parser_done(&parser);
	return accepted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer one = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer many = {.size = 0};
	const uint8_t options = fuzz_byte(&data, &size);
	const size_t step = fuzz_byte(&data, &size) % 17 + 1;
	const bool whole = parse(data, size, options, size + 1, &one);
	const bool pieces = parse(data, size, options, step, &many);

	/* For larger values, the pieces decide which of several bounds is reached. */
	if (size < VALUE_MAX && whole && pieces)
		FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&one), wfs_buffer_bytes(&many)));
	return 0;
}
