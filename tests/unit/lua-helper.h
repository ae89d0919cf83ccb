/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of code share; it runs in a process of its own, as in the program: one module and step, or one program and call; what came out. */
#pragma once

#include "tests/fixture/test.h"

#include <jansson.h>
#include <string.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/box/box.h"

/* The box that all code of a test program runs in; ends with the program. */
static inline struct wfs_box *lua_box(void)
{
	static struct wfs_box *box;

	if (!box)
		assert_int_equal(wfs_box_new(&box), 0);
	return box;
}

/* Loads the module of a reducer. */
static inline int load_reducer(const struct wfs_lua_limits *limits, const char *name,
	const char *source, size_t size, struct wfs_code **ret_code, struct wfs_error *error)
{
	const struct wfs_code_options options = {
		.limits = limits,
		.name = name,
		.source = WFS_BYTES(source, size),
		.functions = wfs_code_step_functions,
	};

	return wfs_code_new(lua_box(), &options, ret_code, error);
}

/* Everything that one run of a module shows. Release with lua_outcome_done. */
struct lua_outcome {
	int r;
	struct wfs_error error;
	struct wfs_code_result result;
};

static inline void lua_outcome_done(struct lua_outcome *outcome)
{
	wfs_code_result_done(&outcome->result);
}
#define AUTO_OUTCOME WFS_CLEANUP(lua_outcome_done)

/* One step of @lua; @state and @event are JSON text, NULL: none (the event is then null). */
static inline void lua_outcome_step(
	struct wfs_code *lua, const char *state, const char *event, struct lua_outcome *ret)
{
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_code_step step = {
		.state = wfs_bytes_text(state ? state : ""),
		.key = wfs_bytes_text("the key"),
		.reducer = "package",
		.schema = "dpkg/Change@1",
		.principal = "alice",
		.seq = 42,
		.at_ns = INT64_C(1700000000123456789),
	};

	for (size_t i = 0; i < sizeof(step.seed); i++)
		step.seed[i] = (uint8_t)(i * 37 + 11);
	if (event)
		assert_int_equal(wfs_json_parse(event, strlen(event), &value, NULL), 0);
	else
		value = json_null();
	step.event = value;
	ret->error = (struct wfs_error){0};
	ret->r = wfs_code_step(lua, &step, &ret->result, &ret->error);
}

/* Loads @source and runs one step of it. */
static inline void lua_outcome_run(const struct wfs_lua_limits *limits, const char *source,
	const char *state, const char *event, struct lua_outcome *ret)
{
	WFS_AUTO_CODE struct wfs_code *lua = NULL;

	*ret = (struct lua_outcome){0};
	ret->r = load_reducer(limits ? limits : &WFS_LUA_LIMITS_DEFAULT, "package.lua", source,
		strlen(source), &lua, &ret->error);
	if (ret->r == 0)
		lua_outcome_step(lua, state, event, ret);
}

/* The new state that @source gives for @state and @event is @expected (without the newline). */
static inline void assert_step(
	const char *source, const char *state, const char *event, const char *expected)
{
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(NULL, source, state, event, &outcome);

	assert_string_equal(outcome.error.message, "");
	assert_int_equal(outcome.r, 0);
	assert_int_equal(outcome.result.deleted, 0);
	assert_true(outcome.result.state.size > 0);
	assert_int_equal(outcome.result.state.data[outcome.result.state.size - 1], '\n');
	outcome.result.state.data[outcome.result.state.size - 1] = '\0';
	assert_string_equal(outcome.result.state.data, expected);
}

/* The value of a Lua expression is @expected. */
static inline void assert_value(const char *expression, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	wfs_buffer_printf(&source, "function step(state, event, ctx) return %s end", expression);
	assert_step(wfs_buffer_text(&source), NULL, NULL, expected);
}

/* Running @source fails with runtime_error and a message that contains @message. */
static inline void assert_fails_within(
	const struct wfs_lua_limits *limits, const char *source, const char *message)
{
	AUTO_OUTCOME struct lua_outcome outcome;

	lua_outcome_run(limits, source, NULL, NULL, &outcome);

	if (outcome.r != -EIO || !strstr(outcome.error.message, message))
		print_error(
			"expected '%s', got %d '%s'\n", message, outcome.r, outcome.error.message);
	assert_int_equal(outcome.r, -EIO);
	assert_int_equal(outcome.error.code, WFS_E_RUNTIME_ERROR);
	assert_non_null(strstr(outcome.error.message, message));
}

static inline void assert_fails(const char *source, const char *message)
{
	assert_fails_within(NULL, source, message);
}

/* The same for the body of `step`. */
static inline void assert_body_fails(const char *body, const char *message)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	wfs_buffer_printf(&source, "function step(state, event, ctx)\n%s\nend", body);
	assert_fails(wfs_buffer_text(&source), message);
}

/* --- programs --- */

/* Everything that one call of a program shows. Release with lua_answer_done. */
struct lua_answer {
	int r;
	struct wfs_error error;
	enum wfs_lua_failure failure;
	struct wfs_buffer text; /* of the value; empty after a failure */
};

static inline void lua_answer_done(struct lua_answer *answer)
{
	wfs_buffer_done(&answer->text);
}
#define AUTO_ANSWER WFS_CLEANUP(lua_answer_done)

/* Calls @call->function of @program; @arguments is a JSON array, NULL: none. */
static inline void lua_answer_call(struct wfs_code *program, struct wfs_code_call *call,
	const char *arguments, struct lua_answer *ret)
{
	const char *const text = arguments ? arguments : "[]";
	WFS_AUTO_JSON json_t *array = NULL;
	WFS_AUTO_JSON json_t *value = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &array, NULL), 0);
	call->arguments = array;
	ret->error = (struct wfs_error){0};
	wfs_buffer_reset(&ret->text);
	ret->r = wfs_code_call(program, call, &value, &ret->error);
	ret->failure = call->failure;
	if (ret->r == 0)
		wfs_json_write(value, &ret->text);
	call->arguments = NULL;
}

/* Loads @source, without a host, and calls its `run`. */
static inline void lua_answer_run(
	const struct wfs_lua_limits *limits, const char *source, struct lua_answer *ret)
{
	static const char *const functions[] = {"run", NULL};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	const struct wfs_code_options options = {
		.program = true,
		.limits = limits ? limits : &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "package.lua",
		.source = wfs_bytes_text(source),
		.functions = functions,
	};
	struct wfs_code_call call = {.function = "run"};

	*ret = (struct lua_answer){0};
	ret->r = wfs_code_new(lua_box(), &options, &program, &ret->error);
	if (ret->r == 0)
		lua_answer_call(program, &call, NULL, ret);
}
