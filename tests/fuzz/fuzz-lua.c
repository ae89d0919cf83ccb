/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options (1 byte) and a module of Lua. Bit 0: a reducer's module, otherwise code of an artifact;
 * the next two bits choose the bound of memory; under a small bound Lua collects in the middle of
 * its work.
 *
 * The module runs here, where a sanitizer and the fuzzer watch the sandbox, and in two boxes:
 * processes of worldfs-code as the program starts them. One of the boxes is new now and then, and
 * runs the module twice. Each place must give its first result again, and both boxes must give
 * equal bytes and counts of instructions. No module may end its process. (Results here may differ
 * from those in a box: the seed of Lua's hashes is this process's own.)
 */
#include "tests/fuzz/fuzz.h"

#include "kernel/base/json.h"
#include "kernel/box/box.h"
#include "kernel/lua/lua.h"

enum {
	SOURCE_MAX = 8192,
	HOST_CALLS_MAX = 100,
	INSTRUCTIONS = 200000,
	OUTPUT_BYTES = 64 << 10,
	RUNS_PER_BOX = 64, /* runs before one of the boxes is replaced */
	TRANSFER = 2,      /* index of the binding that is refused */
	REQUIRE,           /* the first argument of this binding is the source of a module */
};

#define AT_NS INT64_C(1000000007)
static const char arguments_text[] = "[7,\"text\xc3\xa9\",{\"a\":[1,2,3],\"f\":1.5,\"n\":null}]";
static const char state_text[] = "{\"count\":3,\"list\":[1,\"two\",null]}";

static const size_t memory_bounds[] = {4 << 20, 4 << 20, 400000, 100000};
static const char *const functions[] = {"run", "check", NULL};
static const struct wfs_lua_binding bindings[] = {{NULL, "invoke"},
	{"kernel_state", "query"}, [TRANSFER] = {"kernel_actions", "transfer"},
	[REQUIRE] = {NULL, "require", .gives_module = true}};

static struct wfs_box *boxes[2];
static size_t run_count;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	FUZZ_MUST(wfs_lua_arena_map() == 0);
	FUZZ_MUST(wfs_box_new(&boxes[0]) == 0);
	return 0;
}

/* Appends how a run ended. Return: true if it used up its time, which differs in each run */
static bool put_end(struct wfs_buffer *out, int r, enum wfs_lua_failure failure,
	const struct wfs_error *error, uint64_t used)
{
	wfs_buffer_printf(out, "%d %d %llu", r, (int)failure, (unsigned long long)used);
	if (r == 0)
		return false;
	fuzz_refused(error);
	FUZZ_MUST(error->code != WFS_E_CODE_CRASHED && failure != WFS_LUA_FAILURE_CRASH);
	wfs_buffer_printf(out, " %d %s", (int)error->code, error->message);
	return failure == WFS_LUA_FAILURE_BOUND && strstr(error->message, "processor time");
}

/* Is this call of the host one too many, or a call of the refused binding? */
static bool is_refused(size_t index, int *calls, struct wfs_error *error)
{
	FUZZ_MUST(index < WFS_ARRAY_COUNT(bindings));
	if (++*calls <= HOST_CALLS_MAX && index != TRANSFER)
		return false;
	wfs_error_set(error, WFS_E_RUNTIME_ERROR, "refused");
	return true;
}

static struct wfs_lua_limits limits_of(size_t memory_bytes)
{
	return (struct wfs_lua_limits){.instructions = INSTRUCTIONS,
		.memory_bytes = memory_bytes,
		.output_bytes = OUTPUT_BYTES};
}

/* --- here --- */

struct host {
	struct wfs_lua_host host;
	struct wfs_buffer given;
	int calls;
};

static int host_call(struct wfs_lua_host *base, size_t index, struct wfs_bytes arguments,
	struct wfs_bytes *ret_value, struct wfs_error *error)
{
	struct host *const host = (struct host *)base;

	FUZZ_MUST(wfs_json_is_canonical(arguments));
	if (is_refused(index, &host->calls, error))
		return 1;
	wfs_buffer_reset(&host->given);
	if (index == REQUIRE) {
		WFS_AUTO_JSON json_t *list = NULL;

		FUZZ_MUST(wfs_json_parse(arguments.data, arguments.size, &list, NULL) == 0);
		wfs_json_write(json_array_get(list, 0), &host->given);
	} else {
		wfs_buffer_append(&host->given, arguments.data, arguments.size);
	}
	*ret_value = wfs_buffer_bytes(&host->given);
	return 0;
}

static bool call_here(struct wfs_lua *lua, struct wfs_buffer *out)
{
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct host host = {.host = {.call = host_call}};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_bytes value = {.size = 0};
	struct wfs_lua_call call = {
		.function = "run",
		.arguments = wfs_bytes_text(arguments_text),
		.host = &host.host,
		.caller = "alice",
		.origin = "bob",
		.artifact_id = "f",
		.method = "run",
		.seq = 5,
		.at_ns = AT_NS,
		.run = {.budget = &budget},
	};
	const int r = wfs_lua_call(lua, &call, &value, &error);
	const bool late = put_end(out, r, call.run.failure, &error, budget.used);

	if (r == 0) {
		FUZZ_MUST(wfs_json_is_canonical(value) && value.size <= OUTPUT_BYTES);
		wfs_buffer_append(out, value.data, value.size);
	}
	wfs_buffer_done(&host.given);
	return late;
}

static bool step_here(struct wfs_lua *lua, struct wfs_buffer *out)
{
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_lua_result result = {.deleted = false};
	struct wfs_lua_step step = {
		.state = wfs_bytes_text(state_text),
		.event = wfs_bytes_text(arguments_text),
		.key = wfs_bytes_text("key"),
		.reducer = "r",
		.schema = "s/T@1",
		.principal = "alice",
		.seq = 5,
		.at_ns = AT_NS,
		.run = {.budget = &budget},
	};
	const int r = wfs_lua_step(lua, &step, &result, &error);
	const bool late = put_end(out, r, step.run.failure, &error, budget.used);

	if (r < 0)
		return late;
	FUZZ_MUST(result.deleted ? result.state.size == 0 : wfs_json_is_canonical(result.state));
	FUZZ_MUST(result.events.size == 0 || wfs_json_is_canonical(result.events));
	FUZZ_MUST(result.effects.size == 0 || wfs_json_is_canonical(result.effects));
	wfs_buffer_append(out, result.state.data, result.state.size);
	wfs_buffer_append(out, result.events.data, result.events.size);
	wfs_buffer_append(out, result.effects.data, result.effects.size);
	return late;
}

static void run_here(struct wfs_bytes source, bool program, size_t memory_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer first = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer second = {.size = 0};
	WFS_AUTO_LUA struct wfs_lua *lua = NULL;
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_lua_run run = {.budget = NULL};
	const struct wfs_lua_options options = {
		.program = program,
		.limits = limits_of(memory_bytes),
		.name = "f.lua",
		.source = source,
		.functions = program ? functions : wfs_code_step_functions,
		.bindings = bindings,
		.binding_count = program ? WFS_ARRAY_COUNT(bindings) : 0,
	};
	bool (*const once)(struct wfs_lua *, struct wfs_buffer *) = program ? call_here : step_here;

	if (wfs_lua_new(&options, &run, &lua, &error) < 0) {
		fuzz_refused(&error);
		return;
	}
	const bool late = once(lua, &first);
	if (!once(lua, &second) && !late)
		FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&first), wfs_buffer_bytes(&second)));
}

/* --- in a box --- */

struct code_host {
	struct wfs_code_host host;
	int calls;
};

static int code_host_call(struct wfs_code_host *base, size_t index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	struct code_host *const host = (struct code_host *)base;

	FUZZ_MUST(json_is_array(arguments));
	if (is_refused(index, &host->calls, error))
		return 1;
	*ret_value = index == REQUIRE ? json_incref(json_array_get(arguments, 0))
				      : json_deep_copy(arguments);
	return *ret_value ? 0 : -ENOMEM;
}

static bool call_in_box(struct wfs_code *code, struct wfs_buffer *out)
{
	WFS_AUTO_JSON json_t *arguments = NULL;
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct code_host host = {.host = {.call = code_host_call}};
	struct wfs_error error = {.code = WFS_OK};

	FUZZ_MUST(wfs_json_parse(arguments_text, strlen(arguments_text), &arguments, NULL) == 0);
	struct wfs_code_call call = {
		.function = "run",
		.arguments = arguments,
		.host = &host.host,
		.caller = "alice",
		.origin = "bob",
		.artifact_id = "f",
		.method = "run",
		.seq = 5,
		.at_ns = AT_NS,
		.budget = &budget,
	};
	const int r = wfs_code_call(code, &call, &value, &error);
	const bool late = put_end(out, r, call.failure, &error, budget.used);

	if (r == 0)
		wfs_json_write(value, out);
	return late;
}

static void put_list(struct wfs_buffer *out, const json_t *list)
{
	if (list)
		wfs_json_write(list, out);
}

static bool step_in_box(struct wfs_code *code, struct wfs_buffer *out)
{
	WFS_AUTO_CODE_RESULT struct wfs_code_result result = {.deleted = false};
	WFS_AUTO_JSON json_t *event = NULL;
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct wfs_error error = {.code = WFS_OK};

	FUZZ_MUST(wfs_json_parse(arguments_text, strlen(arguments_text), &event, NULL) == 0);
	struct wfs_code_step step = {
		.state = wfs_bytes_text(state_text),
		.event = event,
		.key = wfs_bytes_text("key"),
		.reducer = "r",
		.schema = "s/T@1",
		.principal = "alice",
		.seq = 5,
		.at_ns = AT_NS,
		.budget = &budget,
	};
	const int r = wfs_code_step(code, &step, &result, &error);
	const bool late = put_end(out, r, step.failure, &error, budget.used);

	if (r < 0)
		return late;
	wfs_buffer_printf(out, " %d ", result.deleted);
	wfs_buffer_append(out, result.state.data, result.state.size);
	put_list(out, result.events);
	put_list(out, result.effects);
	return late;
}

/* @times: number of runs; the last one counts. Return: true if a run used up its time */
static bool run_in_box(struct wfs_box *box, struct wfs_bytes source, bool program,
	size_t memory_bytes, int times, struct wfs_buffer *out)
{
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	struct wfs_error error = {.code = WFS_OK};
	enum wfs_lua_failure failure = WFS_LUA_FAILURE_NONE;
	const struct wfs_lua_limits limits = limits_of(memory_bytes);
	const struct wfs_code_options options = {
		.program = program,
		.limits = &limits,
		.name = "f.lua",
		.source = source,
		.functions = program ? functions : wfs_code_step_functions,
		.bindings = bindings,
		.binding_count = program ? WFS_ARRAY_COUNT(bindings) : 0,
		.ret_failure = &failure,
	};
	const int r = wfs_code_new(box, &options, &code, &error);
	bool late = put_end(out, r, failure, &error, 0);

	for (int i = 0; r == 0 && i < times; i++) {
		wfs_buffer_reset(out);
		late |= program ? call_in_box(code, out) : step_in_box(code, out);
	}
	return late;
}

static void run_in_boxes(struct wfs_bytes source, bool program, size_t memory_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer first = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer second = {.size = 0};

	if (run_count++ % RUNS_PER_BOX == 0) {
		wfs_box_free(boxes[1]);
		FUZZ_MUST(wfs_box_new(&boxes[1]) == 0);
	}
	bool late = run_in_box(boxes[0], source, program, memory_bytes, 1, &first);
	late |= run_in_box(boxes[1], source, program, memory_bytes, 2, &second);
	if (late || wfs_bytes_equal(wfs_buffer_bytes(&first), wfs_buffer_bytes(&second)))
		return;
	fprintf(stderr, "one box: %s\n", wfs_buffer_text(&first));
	fprintf(stderr, "another: %s\n", wfs_buffer_text(&second));
	FUZZ_MUST(!"two boxes give the same");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t options = fuzz_byte(&data, &size);
	const bool program = !(options & 1);
	const size_t memory_bytes = memory_bounds[options >> 1 & 3];

	if (size > SOURCE_MAX)
		return 0;
	char *const source = fuzz_text(WFS_BYTES(data, size));
	run_here(WFS_BYTES(source, size), program, memory_bytes);
	run_in_boxes(WFS_BYTES(source, size), program, memory_bytes);
	free(source);
	return 0;
}
