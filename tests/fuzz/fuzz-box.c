/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code in a box whose process is an enemy: the input has the process's answers. (This file has the
 * functions of kernel/box/process.h in the place of those that start worldfs-code.)
 *
 * First byte: what the owner does (steps, steps ahead, calls, and calls within calls). Then one
 * answer after another: its kind, and texts that each end at 0xff; then places and bytes that are
 * changed in the frame. An impossible answer must give code_crashed and end the process; a failed
 * run must change nothing; budgets must only grow; results that the owner believes must be JSON.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/base/json.h"
#include "kernel/box/box-impl.h"

enum {
	INSTRUCTIONS = 1000000,
	OUTPUT_BYTES = 4096,
	HOST_CALLS_MAX = 20,
	STEPS_AHEAD = 5,
	RUNS = 4,
};

/* The rest of the input: the enemy's answers. The harness has one thread. */
static const uint8_t *plan;
static size_t plan_size;
static struct wfs_buffer asked;

/* --- the process --- */

/* For each pid that process_start() gave, the other end of the process's socket; -1: closed; 0:
 * free. */
static int ends[BOX_PROCESSES_MAX + 1];

int process_image(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int process_start(struct process *process, int image_fd, pthread_mutex_t *lock)
{
	int pair[2];
	pid_t pid = 1;

	FUZZ_MUST(image_fd >= 0);
	while (ends[pid])
		pid++;
	FUZZ_MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	process->fd = pair[0];
	process->module_count = 0;
	ends[pid] = pair[1];
	pthread_mutex_lock(lock);
	process->pid = pid;
	pthread_mutex_unlock(lock);
	return 0;
}

bool process_is_quiet(const struct process *process)
{
	char byte;

	return recv(process->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
}

int process_end(struct process *process, pthread_mutex_t *lock)
{
	if (process->pid == 0)
		return 0;
	if (ends[process->pid] > 0)
		close(ends[process->pid]);
	ends[process->pid] = 0;
	pthread_mutex_lock(lock);
	process->pid = 0;
	pthread_mutex_unlock(lock);
	close(process->fd);
	process->fd = -1;
	return 0;
}

/* --- what an honest process would say, with the plan's texts in it --- */

static uint64_t next_number(void)
{
	const uint8_t kind = fuzz_byte(&plan, &plan_size);

	switch (kind % 8) {
	case 0:
		return UINT64_MAX;
	case 1:
		return UINT64_C(1) << (kind / 8 + 31);
	default:
		return kind / 8;
	}
}

static struct wfs_lua_run *next_run(const struct wfs_lua_run *run)
{
	static struct wfs_lua_budget budget;
	static struct wfs_lua_run next;

	budget = run->budget ? *run->budget : (struct wfs_lua_budget){.instructions = 0};
	budget.used += next_number();
	budget.step_count++;
	next = (struct wfs_lua_run){
		.budget = run->budget ? &budget : NULL, .memory_left_bytes = next_number()};
	return &next;
}

static void put_failure(struct wfs_buffer *frame, const struct wfs_lua_run *run)
{
	struct wfs_error error = {.code = WFS_E_RUNTIME_ERROR};
	struct wfs_lua_run failed = *next_run(run);
	const uint8_t kind = fuzz_byte(&plan, &plan_size);
	const struct wfs_bytes text = fuzz_part(&plan, &plan_size);

	failed.failure = (enum wfs_lua_failure)(1 + kind % (WFS_LUA_FAILURE_COUNT - 1));
	error.code = kind & 64 ? (enum wfs_error_code)(kind % WFS_ERROR_CODE_COUNT)
		: failed.failure == WFS_LUA_FAILURE_HOST ? WFS_E_INTERNAL_ERROR
							 : WFS_E_RUNTIME_ERROR;
	snprintf(error.message, sizeof(error.message), "%.*s", (int)text.size,
		(const char *)text.data);
	wfs_wire_begin(frame, WFS_WIRE_FAILED);
	message_put_run(frame, &failed);
	message_put_error(frame, -wfs_error_info(error.code)->number, &error);
}

static void put_stepped(struct wfs_buffer *frame, const struct wfs_lua_run *run)
{
	message_put_run(frame, next_run(run));
	const struct wfs_bytes state = fuzz_part(&plan, &plan_size);
	wfs_wire_put_number(frame, state.size == 0);
	wfs_wire_put_bytes(frame, state);
	wfs_wire_put_bytes(frame, fuzz_part(&plan, &plan_size));
	wfs_wire_put_bytes(frame, fuzz_part(&plan, &plan_size));
}

static void put_steps(struct wfs_buffer *frame, struct wfs_wire_reader *reader)
{
	const uint64_t count = wfs_wire_get_number(reader);

	FUZZ_MUST(count > 1 && count <= WFS_MESSAGE_STEPS_MAX);
	for (uint64_t i = 0; i < count; i++) {
		struct message_step message;
		uint64_t state_of = 0;

		FUZZ_MUST(message_get_one_step(reader, &message, &state_of) && state_of <= i);
		const bool done = !(fuzz_byte(&plan, &plan_size) & 1);
		wfs_wire_put_number(frame, done);
		if (done)
			put_stepped(frame, &message.step.run);
	}
}

static void put_ask(struct wfs_buffer *frame, const struct wfs_lua_run *run)
{
	wfs_wire_begin(frame, WFS_WIRE_ASK);
	message_put_run(frame, next_run(run));
	wfs_wire_put_number(frame, fuzz_byte(&plan, &plan_size));
	wfs_wire_put_bytes(frame, fuzz_part(&plan, &plan_size));
}

/* Answers in a call, also after an answer of the host. */
static void put_called(struct wfs_buffer *frame, const struct wfs_lua_run *run, bool asks)
{
	if (asks) {
		put_ask(frame, run);
		return;
	}
	message_put_run(frame, next_run(run));
	wfs_wire_put_bytes(frame, fuzz_part(&plan, &plan_size));
}

static void put_done(struct wfs_buffer *frame, struct wfs_wire_reader *reader, bool asks)
{
	struct message_load load;
	struct message_step step;
	struct message_call call;
	struct wfs_lua_budget budget = {.instructions = 0};
	struct wfs_lua_run run = {.budget = &budget};
	struct wfs_error error;

	switch (reader->kind) {
	case WFS_WIRE_LOAD:
		FUZZ_MUST(message_get_load(reader, &load));
		message_put_run(frame, next_run(&load.run));
		break;
	case WFS_WIRE_DROP:
		break;
	case WFS_WIRE_STEP:
		FUZZ_MUST(message_get_step(reader, &step));
		put_stepped(frame, &step.step.run);
		break;
	case WFS_WIRE_STEPS:
		put_steps(frame, reader);
		FUZZ_MUST(wfs_wire_is_whole(reader));
		break;
	case WFS_WIRE_CALL:
		FUZZ_MUST(message_get_call(reader, &call));
		put_called(frame, &call.call.run, asks);
		break;
	case WFS_WIRE_GIVE:
		(void)wfs_wire_get_number(reader);
		(void)message_get_error(reader, &error);
		FUZZ_MUST(!reader->bad);
		(void)wfs_wire_get_bytes(reader);
		message_get_run(reader, &run);
		FUZZ_MUST(wfs_wire_is_whole(reader));
		put_called(frame, &run, asks);
		break;
	default:
		FUZZ_MUST(!"the owner sends what is known");
	}
}

/* --- what this one says --- */

enum { LIE_FRAME = 1, LIE_END = 2, LIE_SIZE = 4, LIE_KIND = 8 };

/* Changes bytes of the frame: place (2 bytes), new byte. */
static void change(struct wfs_buffer *frame, size_t count)
{
	for (size_t i = 0; i < count && frame->size > 0; i++) {
		const size_t place =
			(size_t)fuzz_byte(&plan, &plan_size) << 8 | fuzz_byte(&plan, &plan_size);
		const uint8_t byte = fuzz_byte(&plan, &plan_size);

		if (byte == 0)
			frame->size = place % frame->size;
		else
			frame->data[place % frame->size] = (char)(byte - 1);
	}
}

static void answer(struct process *process, struct wfs_wire_reader *reader)
{
	WFS_AUTO_BUFFER struct wfs_buffer frame = {.size = 0};
	const uint8_t kind = fuzz_byte(&plan, &plan_size);
	const uint8_t lies = fuzz_byte(&plan, &plan_size);
	struct wfs_lua_budget budget = {.used = INSTRUCTIONS};
	const struct wfs_lua_run run = {.budget = kind & 4 ? &budget : NULL};
	const int end = ends[process->pid];

	wfs_wire_begin(&frame, WFS_WIRE_DONE);
	if (kind % 4 == 1)
		put_failure(&frame, &run);
	else
		put_done(&frame, reader, kind % 4 == 2);
	FUZZ_MUST(wfs_buffer_check(&frame) == 0);
	struct wfs_wire_header header;
	memcpy(&header, frame.data, sizeof(header));
	header.size = (uint32_t)(frame.size - sizeof(header));
	if (lies & LIE_KIND)
		header.kind = 100 + (uint32_t)lies / 32;
	memcpy(frame.data, &header, sizeof(header));
	if (lies & LIE_FRAME)
		change(&frame, 1 + lies / 16 % 8);
	if ((lies & (LIE_FRAME | LIE_SIZE)) == LIE_FRAME && frame.size >= sizeof(header)) {
		/* Corrects the size: the owner must find what was cut or changed by looking at
		 * the contents. */
		memcpy(&header, frame.data, sizeof(header));
		header.size = (uint32_t)(frame.size - sizeof(header));
		memcpy(frame.data, &header, sizeof(header));
	}
	if (frame.size > 0)
		FUZZ_MUST(write(end, frame.data, frame.size) == (ssize_t)frame.size);
	if (lies & (LIE_FRAME | LIE_END)) {
		close(end);
		ends[process->pid] = -1;
	}
}

int process_send(struct process *process)
{
	return wfs_wire_send(process->fd, &process->out, NULL, NULL);
}

int process_receive(struct process *process, struct wfs_wire_reader *ret_reader)
{
	struct wfs_wire_reader reader;

	/* The owner must have sent a whole frame. */
	if (ends[process->pid] > 0) {
		FUZZ_MUST(wfs_wire_receive(ends[process->pid], &asked, &reader, NULL, NULL) == 0);
		answer(process, &reader);
	}
	return wfs_wire_receive(process->fd, &process->in, ret_reader, NULL, NULL);
}

/* --- the owner --- */

static const struct wfs_lua_limits limits = {
	.instructions = INSTRUCTIONS, .memory_bytes = 4 << 20, .output_bytes = OUTPUT_BYTES};
static const char *const functions[] = {"run", NULL};
static const struct wfs_lua_binding bindings[] = {{NULL, "invoke"}, {"store", "get"}};

struct owner {
	struct wfs_code_host host; /* first: functions cast back */
	struct wfs_box *box;
	struct wfs_code *program;
	struct wfs_lua_budget *budget;
	size_t depth;
	int calls;
};

/* A crash ends the process at the depth where it happened; the box itself must not fail
 * otherwise. */
static void check_failure(const struct owner *owner, int r, enum wfs_lua_failure failure,
	const struct wfs_error *error)
{
	if (r == 0) {
		FUZZ_MUST(failure == WFS_LUA_FAILURE_NONE);
		return;
	}
	FUZZ_MUST(r < 0 && failure != WFS_LUA_FAILURE_NONE);
	FUZZ_MUST(wfs_utf8_valid(error->message, strlen(error->message)));
	if (failure == WFS_LUA_FAILURE_CRASH)
		FUZZ_MUST(error->code == WFS_E_CODE_CRASHED &&
			wfs_box_pid(owner->box, owner->depth) == 0);
}

static void check_budget(const struct wfs_lua_budget *before, const struct wfs_lua_budget *after)
{
	FUZZ_MUST(after->instructions == before->instructions && after->used >= before->used &&
		after->step_count >= before->step_count &&
		after->time_used_ns >= before->time_used_ns);
}

static void check_size(const json_t *json)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {.size = 0};

	wfs_json_write(json, &text);
	FUZZ_MUST(wfs_json_is_canonical(wfs_buffer_bytes(&text)));
}

static int call(struct owner *owner, json_t **ret_value, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *arguments = json_pack("[i,s]", 1, "a");
	struct wfs_lua_budget before = {.instructions = INSTRUCTIONS};
	struct wfs_code_call call = {
		.function = "run",
		.arguments = arguments,
		.host = &owner->host,
		.caller = "alice",
		.budget = owner->budget,
	};

	if (owner->budget)
		before = *owner->budget;
	const int r = wfs_code_call(owner->program, &call, ret_value, error);
	check_failure(owner, r, call.failure, error);
	if (owner->budget)
		check_budget(&before, owner->budget);
	if (r == 0)
		check_size(*ret_value);
	return r;
}

/* An invocation calls the program again, at the next depth. */
static int host_call(struct wfs_code_host *host, size_t index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	struct owner *const owner = (struct owner *)host;

	FUZZ_MUST(index < WFS_ARRAY_COUNT(bindings) && json_is_array(arguments));
	check_size(arguments);
	if (++owner->calls > HOST_CALLS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED, "too many");
	if (index == 0) {
		owner->depth++;
		const int r = call(owner, ret_value, error);
		owner->depth--;
		return r < 0 && owner->calls % 2 ? 1 : r;
	}
	*ret_value = owner->calls % 3 ? json_incref((json_t *)(uintptr_t)arguments) : NULL;
	return 0;
}

static struct wfs_code *load(struct wfs_box *box, bool program, bool checked)
{
	struct wfs_code *code = NULL;
	struct wfs_error error = {.code = WFS_OK};
	enum wfs_lua_failure failure = WFS_LUA_FAILURE_NONE;
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	const struct owner owner = {.box = box};
	const struct wfs_code_options options = {
		.program = program,
		.limits = &limits,
		.name = "f.lua",
		.source = wfs_bytes_text("function run() end"),
		.functions = !checked ? NULL
			: program     ? functions
				      : wfs_code_step_functions,
		.bindings = bindings,
		.binding_count = program ? WFS_ARRAY_COUNT(bindings) : 0,
		.budget = &budget,
		.ret_failure = &failure,
	};
	const int r = wfs_code_new(box, &options, &code, &error);

	check_failure(&owner, r, failure, &error);
	return r < 0 ? NULL : code;
}

static struct wfs_code_step step_of(
	const json_t *event, uint64_t seq, struct wfs_lua_budget *budget)
{
	return (struct wfs_code_step){
		.event = event,
		.key = wfs_bytes_text("k"),
		.reducer = "r",
		.schema = "s/T@1",
		.principal = "alice",
		.seq = seq,
		.budget = budget,
	};
}

static void step(struct wfs_box *box, struct wfs_code *code, const json_t *event, uint64_t seq,
	struct wfs_code_result *result)
{
	const struct owner owner = {.box = box};
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_code_step step = step_of(event, seq, &budget);
	WFS_AUTO_BUFFER struct wfs_buffer state = {.size = 0};

	wfs_buffer_append(&state, result->state.data, result->state.size);
	step.state = wfs_buffer_bytes(&state);
	const int r = wfs_code_step(code, &step, result, &error);
	check_failure(&owner, r, step.failure, &error);
	FUZZ_MUST(budget.instructions == INSTRUCTIONS);
	if (r < 0) {
		/* The state must be unchanged. */
		FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&result->state), step.state));
		return;
	}
	FUZZ_MUST(result->deleted == (result->state.size == 0));
	FUZZ_MUST(result->deleted ||
		wfs_json_is_canonical(WFS_BYTES(result->state.data, result->state.size - 1)));
	FUZZ_MUST(!result->events || json_is_array(result->events));
	FUZZ_MUST(!result->effects || json_is_array(result->effects));
}

static void run_steps(struct wfs_box *box, bool ahead)
{
	WFS_AUTO_CODE struct wfs_code *code = load(box, false, !ahead);
	WFS_AUTO_CODE_RESULT struct wfs_code_result result = {.deleted = false};
	WFS_AUTO_JSON json_t *event = json_pack("{s:i}", "n", 1);

	wfs_code_ahead_begin(box);
	for (uint64_t seq = 0; code && ahead && seq < STEPS_AHEAD; seq++) {
		struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
		const struct wfs_code_step told = step_of(event, seq, &budget);

		FUZZ_MUST(wfs_code_ahead_add(code, &told, wfs_bytes_text("{\"n\":1}"),
				  seq ? (int)seq - 1 : -1) == 0);
	}
	if (code && ahead)
		wfs_code_ahead_run(box);
	for (uint64_t seq = 0; code && seq < STEPS_AHEAD; seq++)
		step(box, code, event, seq, &result);
	wfs_code_ahead_begin(box);
}

static void run_calls(struct wfs_box *box, bool with_budget)
{
	struct wfs_lua_budget budget = {.instructions = INSTRUCTIONS};
	struct owner owner = {.host.call = host_call,
		.box = box,
		.budget = with_budget ? &budget : NULL,
		.program = load(box, true, true)};

	for (int i = 0; owner.program && i < RUNS; i++) {
		WFS_AUTO_JSON json_t *value = NULL;
		struct wfs_error error = {.code = WFS_OK};

		(void)call(&owner, &value, &error);
	}
	FUZZ_MUST(owner.depth == 0);
	wfs_code_free(owner.program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_BOX struct wfs_box *box = NULL;

	plan = data;
	plan_size = size;
	const uint8_t what = fuzz_byte(&plan, &plan_size);
	FUZZ_MUST(wfs_box_new(&box) == 0);
	if (what & 1)
		run_steps(box, what & 4);
	if (what & 2 || !(what & 1))
		run_calls(box, what & 8);
	return 0;
}
