/* SPDX-License-Identifier: Apache-2.0 */
/* The Model Context Protocol over descriptors, and the commands that serve it. */
#include "tests/fixture/mcp.h"

/* --- the transport --- */

/* Serves @input. Gives what was written, and the result. */
static int serve(struct world_fixture *fixture, struct wfs_bytes input, struct wfs_buffer *written)
{
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	WFS_AUTO_FILE FILE *in = tmpfile();
	WFS_AUTO_FILE FILE *out = tmpfile();
	struct wfs_error error = {.code = WFS_OK};
	char part[4096];
	size_t size;

	assert_int_equal(fwrite(input.data, 1, input.size, in), input.size);
	rewind(in);
	assert_int_equal(wfs_mcp_new(fixture->directory, NULL, NULL, &mcp), 0);
	const int r = wfs_mcp_serve(mcp, fileno(in), fileno(out), &error);
	rewind(out);
	while ((size = fread(part, 1, sizeof(part), out)) > 0)
		wfs_buffer_append(written, part, size);
	return r;
}

IN_FILLED_WORLD(what_was_asked_is_answered_when_the_input_ends)
{
	WFS_AUTO_FREE char *input = json_text("\n \r\n" HELLO "\r\n" CALL(
		"1", "fs_read", "{'path':'README'}") "\n" REQUEST("2", "ping"));
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};

	assert_int_equal(serve(fixture, wfs_bytes_text(input), &written), 0);

	assert_says(wfs_buffer_text(&written), "\"id\":0");
	assert_says(wfs_buffer_text(&written), "\"id\":1");
	assert_says(wfs_buffer_text(&written), "\"id\":2");
}

IN_FILLED_WORLD(an_empty_input_gives_nothing)
{
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};

	assert_int_equal(serve(fixture, WFS_BYTES("", 0), &written), 0);
	assert_int_equal(written.size, 0);
}

/* Appends a line of @size bytes: @text and spaces. */
static void put_line(struct wfs_buffer *input, const char *text, size_t size)
{
	assert_int_equal(wfs_buffer_reserve(input, size + 1), 0);
	memset(input->data + input->size, ' ', size);
	memcpy(input->data + input->size, text, strlen(text));
	input->size += size;
	wfs_buffer_append_byte(input, '\n');
}

#define TOO_LONG                                                                              \
	"{\"error\":{\"code\":-32600,\"message\":\"a message has more than 16777216 bytes\"}" \
	",\"id\":null,\"jsonrpc\":\"2.0\"}\n"

IN_FILLED_WORLD(a_line_that_is_too_long_is_refused_and_the_next_is_read)
{
	static const char ping[] = "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"ping\"}";
	WFS_AUTO_BUFFER struct wfs_buffer input = {0};
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};

	put_line(&input, ping, WFS_MCP_MESSAGE_MAX + (200 << 10));
	put_line(&input, ping, WFS_MCP_MESSAGE_MAX + 1);
	put_line(&input, ping, WFS_MCP_MESSAGE_MAX);
	assert_int_equal(serve(fixture, wfs_buffer_bytes(&input), &written), 0);

	assert_string_equal(wfs_buffer_text(&written),
		TOO_LONG TOO_LONG "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{}}\n");
}

IN_FILLED_WORLD(many_calls_at_once_are_all_answered)
{
	WFS_AUTO_FREE char *hello = json_text(HELLO);
	WFS_AUTO_BUFFER struct wfs_buffer input = {0};
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};
	size_t lines = 0;

	wfs_buffer_printf(&input, "%s\n", hello);
	for (int i = 1; i <= 1000; i++)
		wfs_buffer_printf(&input,
			"{\"id\":%d,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":"
			"{\"arguments\":{\"path\":\"README\"},\"name\":\"fs_read\"}}\n",
			i);
	assert_int_equal(serve(fixture, wfs_buffer_bytes(&input), &written), 0);

	for (size_t i = 0; i < written.size; i++)
		lines += written.data[i] == '\n';
	assert_int_equal(lines, 1001);
}

/* Serves a client that reads nothing; @asked: the client has sent a request */
static int serve_deaf(struct world_fixture *fixture, bool asked, struct wfs_error *error)
{
	static const char ping[] = "{\"id\":1,\"jsonrpc\":\"2.0\",\"method\":\"ping\"}";
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	WFS_AUTO_FILE FILE *in = tmpfile();
	int ends[2];

	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	assert_int_equal(wfs_mcp_new(fixture->directory, NULL, NULL, &mcp), 0);
	if (asked)
		wfs_mcp_take(mcp, wfs_bytes_text(ping));
	const int r = wfs_mcp_serve(mcp, fileno(in), ends[1], error);
	close(ends[1]);
	return r;
}

IN_FILLED_WORLD(a_client_that_reads_no_more_ends_it)
{
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(serve_deaf(fixture, false, &error), 0);
	assert_int_equal(serve_deaf(fixture, true, &error), -EPIPE);
	assert_says(error.message, "write to the client");
}

IN_FILLED_WORLD(an_output_that_cannot_be_written_is_told)
{
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	WFS_AUTO_FD int nothing = open("/dev/null", O_PATH | O_CLOEXEC);
	WFS_AUTO_FILE FILE *in = tmpfile();
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(wfs_mcp_new(fixture->directory, NULL, NULL, &mcp), 0);
	assert_int_equal(wfs_mcp_serve(mcp, fileno(in), nothing, &error), -EBADF);
	assert_says(error.message, "write to the client");
}

IN_FILLED_WORLD(an_input_that_cannot_be_read_is_told)
{
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	WFS_AUTO_FD int directory = open(fixture->directory, O_RDONLY | O_CLOEXEC);
	WFS_AUTO_FILE FILE *out = tmpfile();
	struct wfs_error error = {.code = WFS_OK};

	assert_int_equal(wfs_mcp_new(fixture->directory, NULL, NULL, &mcp), 0);
	assert_int_equal(wfs_mcp_serve(mcp, directory, fileno(out), &error), -EISDIR);
	assert_says(error.message, "read a message");
}

/* --- the commands --- */

IN_WORLD(tools_lists_them_and_as_definitions_with_json)
{
	AUTO_PRINTED struct printed plain = RUN("tools");
	AUTO_PRINTED struct printed json = RUN("tools", "--json");
	WFS_AUTO_JSON json_t *definitions = NULL;

	assert_int_equal(plain.status, WFS_EXIT_DONE);
	assert_says(plain.out, "fs_read(path, offset?, limit?)");
	assert_int_equal(json.status, WFS_EXIT_DONE);
	assert_int_equal(wfs_json_parse(json.out, strlen(json.out), &definitions, NULL), 0);
	assert_int_equal(json_array_size(definitions), wfs_tool_count);
}

IN_WORLD(mcp_needs_a_world)
{
	AUTO_PRINTED struct printed nowhere =
		run_in(fixture->root, (const char *const[]){"mcp", NULL});

	assert_failed(&nowhere, "is not a world");
	assert_string_equal(nowhere.out, "");
}
