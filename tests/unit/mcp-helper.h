/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to a server of the Model Context Protocol, and looking at what it says. */
#pragma once

#include "tests/unit/command-helper.h"

#include <poll.h>
#include <signal.h>

#include "fs/mcp/rpc.h"
#include "fs/mcp/stdio.h"
#include "fs/tool/tool.h"

#define HELLO                                                                     \
	"{'id':0,'jsonrpc':'2.0','method':'initialize','params':{'capabilities':" \
	"{},'clientInfo':{'name':'test','version':'1'},'protocolVersion':'2025-06-18'}}"

/* A server over the fixture's world, and what it said last. */
struct talk {
	struct wfs_mcp *mcp;
	json_t *said; /* every line, parsed */
};

static inline void talk_done(struct talk *talk)
{
	wfs_mcp_free(talk->mcp);
	json_decref(talk->said);
}
#define AUTO_TALK WFS_CLEANUP(talk_done)

/* Until nothing is under way. */
static inline void let_it_work(struct talk *talk)
{
	while (wfs_mcp_is_busy(talk->mcp)) {
		if (wfs_mcp_advance(talk->mcp) || !wfs_mcp_is_busy(talk->mcp))
			continue;
		struct pollfd ready = wfs_mcp_poll(talk->mcp);
		assert_true(poll(&ready, 1, 10000) > 0);
	}
}

static inline void collect(struct talk *talk)
{
	struct wfs_buffer *const output = wfs_mcp_output(talk->mcp);
	const char *line = wfs_buffer_text(output);

	json_decref(talk->said);
	talk->said = json_array();
	for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
		json_t *said = NULL;

		assert_int_equal(wfs_json_parse(line, (size_t)(end - line), &said, NULL), 0);
		assert_string_equal(json_string_value(json_object_get(said, "jsonrpc")), "2.0");
		json_array_append_new(talk->said, said);
	}
	assert_string_equal(line, ""); /* whole lines only */
	wfs_buffer_reset(output);
}

static inline void say_raw(struct talk *talk, const char *text)
{
	wfs_mcp_take(talk->mcp, wfs_bytes_text(text));
}

static inline void say(struct talk *talk, const char *message)
{
	WFS_AUTO_FREE char *text = json_text(message);

	say_raw(talk, text);
}

/* Says it, and waits for all there is to answer. */
static inline void ask(struct talk *talk, const char *message)
{
	say(talk, message);
	let_it_work(talk);
	collect(talk);
}

static inline struct talk talk_begin(const struct world_fixture *fixture)
{
	struct talk talk = {.mcp = NULL};

	assert_int_equal(wfs_mcp_new(fixture->directory, NULL, NULL, &talk.mcp), 0);
	return talk;
}

/* After `initialize`. */
static inline struct talk talk_hello(const struct world_fixture *fixture)
{
	struct talk talk = talk_begin(fixture);

	ask(&talk, HELLO);
	say(&talk, "{'jsonrpc':'2.0','method':'notifications/initialized'}");
	return talk;
}

/* The one answer. */
static inline const json_t *answer_of(const struct talk *talk)
{
	assert_int_equal(json_array_size(talk->said), 1);
	return json_array_get(talk->said, 0);
}

static inline void assert_part(const json_t *json, const char *pointer, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);
	WFS_AUTO_FREE char *path = strdup(pointer);
	char *rest = NULL;

	for (char *name = strtok_r(path, ".", &rest); name; name = strtok_r(NULL, ".", &rest))
		json = json_is_array(json) ? json_array_get(json, (size_t)strtol(name, NULL, 10))
					   : json_object_get(json, name);
	if (!json)
		fail_msg("there is no %s", pointer);
	wfs_json_write(json, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

static inline void assert_answer(const struct talk *talk, const char *pointer, const char *expected)
{
	assert_part(answer_of(talk), pointer, expected);
}

/* @id: as JSON */
static inline void assert_error(const struct talk *talk, const char *id, int code, const char *says)
{
	const json_t *const answer = answer_of(talk);
	const json_t *const error = json_object_get(answer, "error");
	const char *const message = json_string_value(json_object_get(error, "message"));

	assert_part(answer, "id", id);
	assert_null(json_object_get(answer, "result"));
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	assert_says(message ? message : "(none)", says);
}

#define CALL(id, tool, arguments)                                                    \
	"{'id':" id ",'jsonrpc':'2.0','method':'tools/call','params':{'name':'" tool \
	"','arguments':" arguments "}}"
#define REQUEST(id, method) "{'id':" id ",'jsonrpc':'2.0','method':'" method "'}"
#define READ(id, uri) \
	"{'id':" id ",'jsonrpc':'2.0','method':'resources/read','params':{'uri':'" uri "'}}"
