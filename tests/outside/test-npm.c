/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that we did not write: `everything` over both transports, and `filesystem`, which are
 * packages of npm. $OUTSIDE_SERVERS is the directory that they are installed in; record.cjs, which
 * node loads into them, logs what they get.
 */
#include "tests/fixture/outside.h"

#include <signal.h>
#include <sys/stat.h>

#include "kernel/base/clock.h"

#ifndef SOURCE_ROOT /* the build gives it */
#define SOURCE_ROOT "."
#endif
static const char record_path[] = SOURCE_ROOT "/tests/outside/record.cjs";

enum { NS_PER_MS = 1000000, GONE_MS = 6000 };

static const char *program_of(const char *server, struct wfs_buffer *path)
{
	const char *const directory = secure_getenv("OUTSIDE_SERVERS");

	if (!directory)
		fail_msg("$OUTSIDE_SERVERS must be the directory of the servers (test-conformance "
			 "installs them)");
	wfs_buffer_printf(path, "%s/node_modules/@modelcontextprotocol/server-%s/dist/index.js",
		directory, server);
	return wfs_buffer_text(path);
}

static void set_log(const struct outside_fixture *fixture)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	setenv("OUTSIDE_LOG", fixture->log, 1);
}

/* @argument: of the server; @more: members of its entry, with ' for " and a comma in front */
static void open_child(
	struct outside_fixture *fixture, const char *server, const char *argument, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	WFS_AUTO_BUFFER struct wfs_buffer table = {0};

	set_log(fixture);
	wfs_buffer_printf(&table,
		"{'s':{'command':['node','--require','%s','%s','%s'],"
		"'env':['PATH','OUTSIDE_LOG']%s}}",
		record_path, program_of(server, &path), argument, more);
	outside_open_table(fixture, wfs_buffer_text(&table));
}

static void open_everything(struct outside_fixture *fixture, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	WFS_AUTO_BUFFER struct wfs_buffer table = {0};

	if (!fixture->http) {
		open_child(fixture, "everything", "stdio", more);
		return;
	}
	const char *const command[] = {"node", "--require", record_path,
		program_of("everything", &path), "streamableHttp", NULL};
	set_log(fixture);
	outside_start_server(fixture, command);
	wfs_buffer_printf(&table, "{'s':{'url':'http://127.0.0.1:%d/mcp'%s}}", fixture->port, more);
	outside_open_table(fixture, wfs_buffer_text(&table));
}

/* A directory `files` with a text and a picture. */
static void open_files(struct outside_fixture *fixture)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	FILE *file = NULL;

	wfs_buffer_printf(&path, "%s/files", fixture->directory);
	assert_int_equal(mkdir(wfs_buffer_text(&path), 0700), 0);
	open_child(fixture, "filesystem", wfs_buffer_text(&path), "");
	wfs_buffer_append_text(&path, "/text");
	file = fopen(wfs_buffer_text(&path), "we");
	assert_true(file && fputs("größer\n", file) >= 0 && !fclose(file));
	wfs_buffer_append_text(&path, ".png");
	file = fopen(wfs_buffer_text(&path), "we");
	assert_true(file && fwrite("\x89PNG\0\xff", 6, 1, file) == 1 && !fclose(file));
}

/* Calls a tool of the filesystem. @name: of a file in the directory */
static struct outside_outcome ask_file(
	struct outside_fixture *fixture, const char *tool, const char *name, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};

	wfs_buffer_printf(&arguments, "{'path':'%s/%s'%s}", fixture->directory, name, more);
	return outside_ask(fixture, tool, wfs_buffer_text(&arguments));
}

static void expect_goes_on(struct outside_fixture *fixture)
{
	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "echo", "{'message':'on'}");

	outside_expect_text(&outcome, "Echo: on");
}

static void wait_for(struct outside_fixture *fixture, const char *method, size_t count)
{
	while (outside_log_count(fixture, method) < count)
		outside_run(fixture, 10);
}

static const struct wfs_outside_tool *tool_of(struct outside_fixture *fixture, const char *name)
{
	const struct wfs_outside_server server = outside_listed(fixture);
	const struct wfs_outside_tool *const tool =
		wfs_outside_tool_find(fixture->outside, "s", name);

	if (server.state != WFS_OUTSIDE_READY || !tool)
		fail_msg("'%s' is not listed: %s", name, server.reason);
	return tool;
}

/* --- the beginning --- */

static void expect_beginning(struct outside_fixture *fixture)
{
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	const json_t *const first = json_object_get(json_array_get(log, 0), "message");
	const json_t *const params = json_object_get(first, "params");

	assert_string_equal(wfs_json_text(first, "method"), "initialize");
	assert_string_equal(wfs_json_text(params, "protocolVersion"), "2025-06-18");
	assert_json_is(json_incref(json_object_get(params, "capabilities")), "{'roots':{}}");
	assert_string_equal(
		wfs_json_text(json_object_get(params, "clientInfo"), "name"), "worldfs");
	assert_string_equal(
		wfs_json_text(json_object_get(json_array_get(log, 1), "message"), "method"),
		"notifications/initialized");
}

WITH_BOTH(everything_is_initialized_before_anything_else)
{
	open_everything(fixture, "");

	expect_goes_on(fixture);

	expect_beginning(fixture);
	assert_int_equal(outside_log_count(fixture, "initialize"), 1);
}

WITH_CHILD(files_are_initialized_before_anything_else)
{
	open_files(fixture);

	tool_of(fixture, "write_file");

	expect_beginning(fixture);
}

/* --- lists --- */

WITH_BOTH(everything_lists_its_tools)
{
	open_everything(fixture, "");

	const struct wfs_outside_tool *const tool = tool_of(fixture, "echo");

	assert_string_equal(tool->description, "Echoes back the input string");
	assert_json_is(json_incref(tool->annotations),
		"{'destructiveHint':false,'idempotentHint':true,'openWorldHint':false,"
		"'readOnlyHint':true}");
	assert_json_is(json_incref(json_object_get(tool->input_schema, "required")), "['message']");
}

WITH_CHILD(files_list_their_tools)
{
	open_files(fixture);

	const struct wfs_outside_tool *const tool = tool_of(fixture, "write_file");

	assert_true(json_is_true(json_object_get(tool->annotations, "destructiveHint")));
	assert_json_is(
		json_incref(json_object_get(tool->input_schema, "required")), "['path','content']");
}

/* It lists these if a client says that it can answer them. */
WITH_BOTH(everything_offers_no_tools_that_sample_or_elicit)
{
	open_everything(fixture, "");

	tool_of(fixture, "get-roots-list");

	assert_null(wfs_outside_tool_find(fixture->outside, "s", "trigger-sampling-request"));
	assert_null(wfs_outside_tool_find(fixture->outside, "s", "trigger-elicitation-request"));
}

/* --- calls and results --- */

WITH_BOTH(everything_gets_arguments)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "get-sum", "{'a':2,'b':40}");

	outside_expect_text(&outcome, "The sum of 2 and 40 is 42.");
}

WITH_CHILD(files_are_written_and_read)
{
	open_files(fixture);

	AUTO_OUTSIDE struct outside_outcome written =
		ask_file(fixture, "write_file", "files/new", ",'content':'é\\n'");
	AUTO_OUTSIDE struct outside_outcome read =
		ask_file(fixture, "read_text_file", "files/new", "");

	assert_int_equal(written.code, WFS_OK);
	assert_false(written.is_error);
	outside_expect_text(&read, "é\n");
}

WITH_BOTH(everything_says_what_is_wrong_with_arguments)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_true(outcome.is_error);
	assert_non_null(strstr(wfs_buffer_text(&outcome.text), "Invalid arguments for tool echo"));
	expect_goes_on(fixture);
}

WITH_CHILD(files_outside_of_their_directory_are_an_error_of_the_tool)
{
	open_files(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome =
		ask_file(fixture, "read_text_file", "log", "");

	assert_int_equal(outcome.code, WFS_OK);
	assert_true(outcome.is_error);
	assert_non_null(strstr(wfs_buffer_text(&outcome.text), "Access denied"));
}

WITH_BOTH(everything_is_not_asked_for_a_tool_that_it_does_not_list)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "no-tool", "{}");

	outside_expect_error(&outcome, WFS_E_NOT_FOUND, "has no tool 'no-tool'");
	assert_int_equal(outside_log_count(fixture, "tools/call"), 0);
}

static void expect_png(const struct outside_outcome *outcome)
{
	assert_int_equal(outcome->code, WFS_OK);
	assert_true(outcome->blob.size > 4);
	assert_memory_equal(outcome->blob.data, "\x89PNG", 4);
}

WITH_BOTH(everything_sends_a_picture)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "get-tiny-image", "{}");

	expect_png(&outcome);
	assert_json_is(json_incref(json_array_get(outcome.content, 1)),
		"{'blob':0,'mimeType':'image/png','type':'image'}");
}

WITH_CHILD(files_send_a_picture)
{
	open_files(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome =
		ask_file(fixture, "read_media_file", "files/text.png", "");

	expect_png(&outcome);
}

WITH_BOTH(everything_sends_links)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "get-resource-links", "{'count':2}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_int_equal(json_array_size(outcome.content), 3);
	const json_t *const link = json_array_get(outcome.content, 1);
	assert_string_equal(wfs_json_text(link, "type"), "resource_link");
	assert_non_null(strstr(wfs_json_text(link, "uri"), "demo://resource/"));
}

WITH_BOTH(everything_sends_a_resource)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome text = outside_ask(
		fixture, "get-resource-reference", "{'resourceType':'Text','resourceId':1}");
	AUTO_OUTSIDE struct outside_outcome blob = outside_ask(
		fixture, "get-resource-reference", "{'resourceType':'Blob','resourceId':2}");

	assert_int_equal(text.code, WFS_OK);
	assert_non_null(strstr(wfs_buffer_text(&text.text), "Resource 1"));
	assert_int_equal(blob.code, WFS_OK);
	assert_non_null(strstr(wfs_buffer_text(&blob.blob), "Resource 2"));
}

WITH_BOTH(everything_sends_structured_content_that_fits_its_schema)
{
	open_everything(fixture, "");
	const struct wfs_outside_tool *const tool = tool_of(fixture, "get-structured-content");
	assert_non_null(tool->output_schema);

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "get-structured-content", "{'location':'Chicago'}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_true(json_is_number(json_object_get(outcome.structured, "temperature")));
}

WITH_CHILD(files_send_structured_content_that_fits_its_schema)
{
	open_files(fixture);
	assert_non_null(tool_of(fixture, "read_text_file")->output_schema);

	AUTO_OUTSIDE struct outside_outcome outcome =
		ask_file(fixture, "read_text_file", "files/text", "");

	outside_expect_text(&outcome, "größer\n");
	assert_json_is(json_incref(outcome.structured), "{'content':'größer\\n'}");
}

WITH_BOTH(everything_annotates_its_parts)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(
		fixture, "get-annotated-message", "{'messageType':'error','includeImage':true}");

	expect_png(&outcome);
	assert_non_null(strstr(wfs_buffer_text(&outcome.text), "Error: "));
}

/* --- progress, time, cancelling --- */

WITH_BOTH(everything_reports_progress)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(
		fixture, "trigger-long-running-operation", "{'duration':0.3,'steps':3}");

	outside_expect_text(
		&outcome, "Long running operation completed. Duration: 0.3 seconds, Steps: 3.");
	assert_int_equal(outcome.progress_count, 3);
	assert_true(outcome.progress == 3 && outcome.total == 3);
}

#define LONG "trigger-long-running-operation", "{'duration':60,'steps':60}"

WITH_BOTH(everything_is_told_of_a_time_out_and_answers_a_ping)
{
	open_everything(fixture, ",'timeout_ms':8000");
	outside_listed(fixture);
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, LONG);

	outside_expect_error(&outcome, WFS_E_TIMEOUT, "has not answered within 8000 ms");
	wait_for(fixture, "notifications/cancelled", 1);
	wait_for(fixture, "ping", 1);
	expect_goes_on(fixture);
	assert_int_equal(outside_log_count(fixture, "initialize"), 1);
}

WITH_BOTH(everything_is_told_of_a_cancelled_call)
{
	AUTO_OUTSIDE struct outside_outcome outcome = {.done_count = 0};
	open_everything(fixture, "");
	outside_listed(fixture);
	outside_start(fixture, LONG, &outcome);
	wait_for(fixture, "tools/call", 1);

	wfs_outside_call_cancel(outcome.call);
	outside_wait(fixture, &outcome);

	outside_expect_error(&outcome, WFS_E_CANCELLED, "cancelled");
	wait_for(fixture, "notifications/cancelled", 1);
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	const json_t *const call = json_object_get(outside_log_last(log, "tools/call"), "message");
	const json_t *const told =
		json_object_get(outside_log_last(log, "notifications/cancelled"), "message");
	assert_true(json_equal(json_object_get(call, "id"),
		json_object_get(json_object_get(told, "params"), "requestId")));
	expect_goes_on(fixture);
}

/* --- requests of the server --- */

WITH_BOTH(everything_gets_an_empty_list_of_roots)
{
	open_everything(fixture, "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "get-roots-list", "{}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_non_null(
		strstr(wfs_buffer_text(&outcome.text), "no roots are currently configured"));
}

/* The server asks for roots in place of its argument, and keeps that if there are none. */
WITH_CHILD(files_get_an_empty_list_of_roots)
{
	open_files(fixture);

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "list_allowed_directories", "{}");

	assert_int_equal(outcome.code, WFS_OK);
	assert_non_null(strstr(wfs_buffer_text(&outcome.text), "/files"));
}

/* --- one transport --- */

static json_t *sent_with(const struct outside_fixture *fixture, const char *method)
{
	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	json_t *found = NULL;
	size_t i;
	json_t *entry;

	json_array_foreach(log, i, entry)
		if (json_object_get(entry, method))
			found = json_incref(json_object_get(entry, "headers"));
	return found;
}

WITH_HTTP(everything_gets_the_id_of_its_session_and_the_version)
{
	open_everything(fixture, "");
	expect_goes_on(fixture);

	WFS_AUTO_JSON json_t *log = outside_log(fixture);
	const json_t *const headers =
		json_object_get(outside_log_last(log, "tools/call"), "headers");

	assert_int_equal(strlen(wfs_json_text(headers, "Mcp-Session-Id")), 36);
	assert_string_equal(wfs_json_text(headers, "MCP-Protocol-Version"), "2025-06-18");
	assert_string_equal(
		wfs_json_text(headers, "Accept"), "application/json, text/event-stream");
}

WITH_HTTP(everything_is_asked_for_a_stream_of_its_session)
{
	open_everything(fixture, "");
	expect_goes_on(fixture);
	WFS_AUTO_JSON json_t *headers = NULL;

	while (!(headers = sent_with(fixture, "get")))
		outside_run(fixture, 10);

	assert_string_equal(wfs_json_text(headers, "Accept"), "text/event-stream");
	assert_int_equal(strlen(wfs_json_text(headers, "Mcp-Session-Id")), 36);
}

WITH_HTTP(everything_is_told_of_the_end_of_its_session)
{
	open_everything(fixture, "");
	expect_goes_on(fixture);
	WFS_AUTO_JSON json_t *headers = NULL;

	wfs_outside_free(WFS_STEAL(fixture->outside));
	while (!(headers = sent_with(fixture, "delete")))
		outside_run(fixture, 10);

	assert_int_equal(strlen(wfs_json_text(headers, "Mcp-Session-Id")), 36);
}

static pid_t pid_of(const struct outside_fixture *fixture)
{
	WFS_AUTO_JSON json_t *log = outside_log(fixture);

	return (pid_t)json_integer_value(json_object_get(json_array_get(log, 0), "pid"));
}

static void expect_end(struct outside_fixture *fixture)
{
	const pid_t server = pid_of(fixture);
	const int64_t end_ns = wfs_clock_monotonic_ns() + (int64_t)GONE_MS * NS_PER_MS;

	assert_int_equal(kill(server, 0), 0);
	wfs_outside_free(WFS_STEAL(fixture->outside));
	while (kill(server, 0) == 0) {
		assert_true(wfs_clock_monotonic_ns() < end_ns);
		outside_run(fixture, 10);
	}
}

WITH_CHILD(everything_ends_with_the_client)
{
	open_everything(fixture, "");
	expect_goes_on(fixture);

	expect_end(fixture);
}

WITH_CHILD(files_end_with_the_client)
{
	open_files(fixture);
	tool_of(fixture, "read_file");

	expect_end(fixture);
}
