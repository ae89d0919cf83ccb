/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of servers of tools: how far the server has come (1 byte), then messages, each up to a
 * byte 0xff. A call ends at most once, nothing that comes out has the secret or breaks a bound, and
 * nothing stays when the client is freed.
 */
#include "tests/fuzz/fuzz.h"

#include "agents/outside/outside-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

enum {
	OUTPUT_MAX = 100,
	MARK_MAX = 64, /* bytes of the line that says what was cut */
	STAGES = 5,
	RUNS = 3, /* of the loop, after each message */
};

#define SECRET "SECRETSECRETSECRET"

struct seen {
	unsigned int done_count;
};

static void check_bytes(struct wfs_bytes bytes)
{
	FUZZ_MUST(bytes.size == 0 || !memmem(bytes.data, bytes.size, SECRET, strlen(SECRET)));
}

static void check_text(const char *text)
{
	check_bytes(wfs_bytes_text(text));
	FUZZ_MUST(wfs_utf8_valid(text, strlen(text)));
}

static void check_line(const char *text)
{
	check_text(text);
	FUZZ_MUST(!strpbrk(text, "\n\r\t\x1b"));
}

static void check_json(const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(value, &text);
	check_bytes(wfs_buffer_bytes(&text));
}

static void on_progress(void *context, double progress, double total, const char *message)
{
	(void)context;
	(void)progress;
	(void)total;
	check_line(message);
}

static void on_done(void *context, const struct wfs_outside_result *result)
{
	struct seen *const seen = context;
	size_t bytes = 0;

	FUZZ_MUST(seen->done_count++ == 0);
	check_line(result->message);
	FUZZ_MUST((result->code == WFS_OK) == (result->content != NULL));
	check_bytes(result->text);
	FUZZ_MUST(wfs_utf8_valid(result->text.data, result->text.size));
	FUZZ_MUST(result->text.size <= OUTPUT_MAX + MARK_MAX + WFS_OUTSIDE_ITEMS_MAX);
	if (result->content)
		check_json(result->content);
	if (result->structured)
		check_json(result->structured);
	for (size_t i = 0; i < result->blob_count; i++) {
		check_bytes(result->blobs[i].bytes);
		check_text(result->blobs[i].mime_type);
		bytes += result->blobs[i].bytes.size;
	}
	FUZZ_MUST(bytes <= OUTPUT_MAX);
}

static void check_schema(const json_t *schema)
{
	FUZZ_MUST(json_is_object(schema));
	check_json(schema);
}

static void check_tool(const struct wfs_outside *outside, const struct wfs_outside_tool *tool)
{
	check_line(tool->name);
	FUZZ_MUST(tool->name[0] && strlen(tool->name) <= WFS_OUTSIDE_NAME_MAX);
	FUZZ_MUST(wfs_outside_tool_find(outside, "s", tool->name) == tool);
	check_text(tool->description);
	FUZZ_MUST(strlen(tool->description) <= WFS_OUTSIDE_DESCRIPTION_MAX);
	FUZZ_MUST(json_is_object(tool->annotations));
	check_schema(tool->input_schema);
	if (tool->output_schema)
		check_schema(tool->output_schema);
}

static void check_server(const struct wfs_outside *outside)
{
	struct wfs_outside_server server;

	wfs_outside_server(outside, 0, &server);
	check_line(server.reason);
	FUZZ_MUST(server.tool_count <= WFS_OUTSIDE_TOOLS_MAX);
	for (size_t i = 0; i < server.tool_count; i++)
		check_tool(outside, &server.tools[i]);
}

/* --- a transport that goes nowhere --- */

static int fake_open(struct outside_server *server, struct wfs_error *error)
{
	(void)error;
	server->link = server;
	return 0;
}

static int fake_send(struct outside_server *server, struct wfs_buffer *message,
	struct wfs_outside_call *call, bool asked)
{
	(void)server;
	(void)call;
	(void)asked;
	wfs_buffer_done(message);
	return 0;
}

static void fake_close(struct outside_server *server)
{
	server->link = NULL;
}

static const struct outside_transport fake = {
	.open = fake_open, .send = fake_send, .close = fake_close};

/* --- a run --- */

static void run_loop(uv_loop_t *loop)
{
	for (int i = 0; i < RUNS; i++)
		(void)uv_run(loop, UV_RUN_NOWAIT);
}

static void take(struct wfs_outside *outside, struct wfs_bytes text)
{
	struct outside_server *const server = &outside->servers[0];
	char *const copy = fuzz_text(text);

	if (server->link)
		outside_take(server, WFS_BYTES(copy, text.size), NULL);
	free(copy);
	run_loop(outside->loop);
	check_server(outside);
}

static void start_call(struct wfs_outside *outside, const char *tool, struct seen *seen)
{
	WFS_AUTO_JSON json_t *arguments = json_object();
	const struct wfs_outside_request request = {
		.server = "s",
		.tool = tool,
		.arguments = arguments,
		.context = seen,
		.progress = on_progress,
		.done = on_done,
	};

	FUZZ_MUST(wfs_outside_call_start(outside, &request, NULL, NULL) == 0);
	run_loop(outside->loop);
}

/* Answers as a server does that makes no mistake. Requests have the ids 1, 2, and 3 (the call). */
static void come_to(struct wfs_outside *outside, unsigned int stage, struct seen *seen)
{
	static const char *const answers[] = {
		"{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{\"capabilities\":{\"tools\":{}},"
		"\"protocolVersion\":\"2025-03-26\"}}",
		"{\"id\":2,\"jsonrpc\":\"2.0\",\"result\":{\"tools\":[{\"inputSchema\":{},"
		"\"name\":\"echo\"},{\"inputSchema\":{},\"name\":\"typed\",\"outputSchema\":"
		"{\"patternProperties\":{\"^n\":{\"type\":\"integer\"}}}}]}}",
	};

	wfs_outside_list(outside, NULL);
	run_loop(outside->loop);
	for (unsigned int i = 0; i < stage && i < WFS_ARRAY_COUNT(answers); i++)
		take(outside, wfs_bytes_text(answers[i]));
	if (stage > WFS_ARRAY_COUNT(answers))
		start_call(outside, stage < STAGES - 1 ? "echo" : "typed", seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wfs_outside_callbacks callbacks = {.context = NULL};
	WFS_AUTO_JSON json_t *table = json_pack(
		"{s:{s:[s],s:i}}", "s", "command", "none", "output_max_bytes", OUTPUT_MAX);
	struct wfs_outside *outside = NULL;
	struct seen seen = {0};
	uv_loop_t loop;

	(void)wfs_log_setup("err");
	FUZZ_MUST(uv_loop_init(&loop) == 0);
	FUZZ_MUST(wfs_outside_new(&loop, table, &callbacks, &outside, NULL) == 0);
	outside->servers[0].transport = &fake;
	outside->servers[0].secrets = json_pack("[s]", SECRET);
	come_to(outside, fuzz_byte(&data, &size) % STAGES, &seen);
	while (size > 0)
		take(outside, fuzz_part(&data, &size));
	wfs_outside_free(outside);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	FUZZ_MUST(uv_loop_close(&loop) == 0);
	return 0;
}
