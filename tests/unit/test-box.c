/* SPDX-License-Identifier: Apache-2.0 */
/* kernel/box: code in a process, the end of that process, and which of its answers the owner
 * believes. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fixture/program.h"

#include "kernel/base/clock.h"
#include "kernel/box/box-impl.h"

static int box_pid(void)
{
	return wfs_box_pid(lua_box(), 0);
}

static void kill_box(void)
{
	char path[64];
	char text[512] = "";
	FILE *file = NULL;

	assert_int_equal(kill(box_pid(), SIGKILL), 0);
	/* Waits until the process is dead and can be reaped. */
	snprintf(path, sizeof(path), "/proc/%d/stat", box_pid());
	do {
		file = fopen(path, "re");
		assert_non_null(file);
		assert_non_null(fgets(text, sizeof(text), file));
		(void)fclose(file);
	} while (!strstr(text, ") Z "));
}

static void what_the_process_has(const char *what, const char *contents)
{
	char path[64];
	char text[4096] = "";
	FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", box_pid(), what);
	file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	if (!strstr(text, contents))
		print_error("%s: expected '%s' in '%s'\n", what, contents, text);
	assert_non_null(strstr(text, contents));
}

TEST(the_process_has_nothing)
{
	char path[64];

	assert_value("1 + 1", "2");

	what_the_process_has("status", "Seccomp:\t2");
	what_the_process_has("status", "NoNewPrivs:\t1");
	what_the_process_has("status", "Threads:\t1");
	what_the_process_has("limits", "Max processes             0                    0");
	what_the_process_has("limits", "Max core file size        0                    0");
	snprintf(path, sizeof(path), "/proc/%d/fd/1", box_pid());
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "/proc/%d/environ", box_pid());
	FILE *file = fopen(path, "re");
	if (file) { /* root may open the file */
		assert_int_equal(fgetc(file), EOF);
		(void)fclose(file);
	}
}

/* Runs code of @author. Return: the id of the process that ran it. */
static int run_by(const char *author, const char *source)
{
	static const char *const functions[] = {"run", NULL};
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	AUTO_ANSWER struct lua_answer answer = {0};
	const struct wfs_code_options options = {
		.program = true,
		.limits = &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "program.lua",
		.author = author,
		.source = wfs_bytes_text(source),
		.functions = functions,
	};
	struct wfs_code_call call = {.function = "run"};

	assert_int_equal(wfs_code_new(lua_box(), &options, &program, NULL), 0);
	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.r, 0);
	return box_pid();
}

TEST(code_of_two_authors_is_in_two_processes)
{
	static const char one[] = "function run() return 1 end";
	static const char two[] = "function run() return 2 end";

	const int alice = run_by("alice", one);
	const int mallory = run_by("mallory", one);
	const int world = run_by(NULL, one);
	assert_int_not_equal(alice, mallory);
	assert_int_not_equal(alice, world);
	assert_int_not_equal(mallory, world);
	assert_int_equal(run_by("alice", two), alice);
	assert_int_equal(run_by("mallory", two), mallory);
	assert_int_equal(run_by(NULL, two), world);
}

TEST(the_process_that_was_idle_for_the_longest_ends_for_another_author)
{
	static const char source[] = "function run() return 1 end";
	char author[32];

	const int first = run_by("first", source);
	const int second = run_by("second", source);
	for (int i = 0; i < BOX_IDLE_MAX - 1; i++) {
		snprintf(author, sizeof(author), "author-%d", i);
		(void)run_by(author, source);
		assert_int_equal(run_by("second", source), second);
	}
	assert_int_equal(kill(first, 0), -1);
	assert_int_equal(run_by("second", source), second);
	assert_int_not_equal(run_by("first", source), first);
}

static long resident_bytes(int pid)
{
	char path[64];
	long pages = 0;
	FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(
		fscanf(file, "%*s %ld", &pages), 1); /* NOLINT(cert-err34-c): the kernel's own */
	(void)fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A process gives memory back after it has answered: waits until it has at most @most_bytes. */
static void assert_keeps_at_most(int pid, long most_bytes)
{
	for (int i = 0; i < 1000 && resident_bytes(pid) > most_bytes; i++)
		usleep(10 * 1000);
	assert_in_range(resident_bytes(pid), 0, most_bytes);
}

TEST(a_process_without_a_run_keeps_little_memory)
{
	static const char source[] = "function run() return #string.rep('x', 24 << 20) end";

	assert_keeps_at_most(run_by("alice", source), 16 << 20);
}

/* Checks that a process that ran @source as @count modules keeps little memory. */
static void assert_modules_keep_little(const char *source, int count)
{
	int pid = 0;

	for (int i = 0; i < count; i++) {
		WFS_AUTO_BUFFER struct wfs_buffer other = {0};

		wfs_buffer_printf(&other, "%s-- %d", source, i);
		pid = run_by("mallory", wfs_buffer_text(&other));
	}
	assert_keeps_at_most(pid, 32 << 20);
}

TEST(modules_keep_no_memory_of_their_runs)
{
	static const char source[] = "function run()\n"
				     "local t = {} for i = 1, 60000 do t['k' .. i] = i end\n"
				     "return t end\n";

	assert_modules_keep_little(source, 16);
}

/* Appends functions that take much more memory than their source: a reference to a variable of
 * an outer function takes memory in each function between the two. */
static void append_large_functions(struct wfs_buffer *source, int blocks)
{
	enum { NAMES = 190, DEPTH = 90 };

	for (int block = 0; block < blocks; block++) {
		wfs_buffer_append_text(source, "do local _0");
		for (int i = 1; i < NAMES; i++)
			wfs_buffer_printf(source, ",_%x", i);
		wfs_buffer_append_text(source, "\nx=");
		for (int i = 0; i < DEPTH; i++)
			wfs_buffer_append_text(source, "function()return ");
		wfs_buffer_append_text(source, "{_0");
		for (int i = 1; i < NAMES; i++)
			wfs_buffer_printf(source, ",_%x", i);
		wfs_buffer_append_text(source, "} ");
		for (int i = 0; i < DEPTH; i++)
			wfs_buffer_append_text(source, "end ");
		wfs_buffer_append_text(source, "end\n");
	}
}

TEST(modules_that_take_much_more_than_their_source_are_not_kept)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};

	append_large_functions(&source, 50);
	wfs_buffer_append_text(&source, "function run() return 1 end\n");
	assert_modules_keep_little(wfs_buffer_text(&source), 3);
}

/* Loads a reducer that is compiled for each run, because its process does not keep it. */
static struct wfs_code *load_large_reducer(const char *author, int blocks)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	struct wfs_code *code = NULL;

	append_large_functions(&source, blocks);
	wfs_buffer_append_text(&source, "function step(s, e) return 1 end\n");
	const struct wfs_code_options options = {
		.limits = &WFS_LUA_LIMITS_DEFAULT,
		.name = "large.lua",
		.author = author,
		.source = wfs_buffer_bytes(&source),
		.functions = wfs_code_step_functions,
	};
	assert_int_equal(wfs_code_new(lua_box(), &options, &code, NULL), 0);
	return code;
}

TEST(a_module_that_found_no_memory_once_runs_when_there_is_some)
{
	WFS_AUTO_CODE struct wfs_code *code = load_large_reducer("poor", 40);
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	struct rlimit before;
	struct rlimit none;

	lua_outcome_step(code, NULL, NULL, &outcome);
	assert_int_equal(outcome.r, 0);
	const int pid = box_pid();
	assert_keeps_at_most(pid, 16 << 20); /* the process has forgotten the module */
	if (prlimit(pid, RLIMIT_DATA, NULL, &before) < 0) {
		print_message("skipped: root without CAP_SYS_RESOURCE, in a container\n");
		return; /* skip() would leave the module and its outcome */
	}
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(prlimit(pid, RLIMIT_DATA, &none, NULL), 0);
	lua_outcome_step(code, NULL, NULL, &outcome);
	assert_int_equal(outcome.r, -ENOMEM);
	assert_int_equal(prlimit(pid, RLIMIT_DATA, &before, NULL), 0);
	lua_outcome_step(code, NULL, NULL, &outcome);

	assert_string_equal(outcome.error.message, "");
	assert_int_equal(outcome.r, 0);
	assert_int_equal(box_pid(), pid);
}

#if !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__) /* these sanitizers take more address space than that */
/* The process starts, and then has no room for the region in which code runs. */
TEST(a_process_that_cannot_begin_is_no_crash_of_code)
{
	struct rlimit before;
	struct rlimit little;
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	struct wfs_code_options options = {
		.program = true,
		.limits = &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "program.lua",
		.author = "nobody before",
		.source = wfs_bytes_text("function run() return 1 end"),
		.functions = host_functions,
	};
	struct wfs_error error = {0};

	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	little = before;
	little.rlim_cur = 200 << 20;
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	const int r = wfs_code_new(lua_box(), &options, &program, &error);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);

	assert_int_equal(r, -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	assert_int_equal(wfs_code_new(lua_box(), &options, &program, &error), 0);
}
#endif

/* A lack of memory or an administrator may have ended the process. */
TEST(a_process_that_ended_without_a_run_is_the_failure_of_no_code)
{
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	static const char source[] = "function step(s, e) return (s or 0) + 1 end";

	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &code, NULL),
		0);
	const int pid = box_pid();
	kill_box();
	lua_outcome_step(code, "1", NULL, &outcome);

	assert_string_equal(outcome.error.message, "");
	assert_string_equal(wfs_buffer_text(&outcome.result.state), "2\n");
	assert_int_not_equal(box_pid(), pid);
}

/* Does the owner believe a process that reports these figures for a run with @budget? */
static bool is_believed(const struct wfs_lua_budget *budget, struct wfs_lua_budget said)
{
	WFS_AUTO_BUFFER struct wfs_buffer frame = {0};
	struct wfs_lua_budget own = *budget;
	struct wfs_lua_run run = {.budget = &own};

	message_put_run(&frame, &(struct wfs_lua_run){.budget = &said});
	struct wfs_wire_reader reader = {.at = frame.data, .end = frame.data + frame.size};
	return box_get_run(&reader, &run);
}

TEST(counts_that_cannot_be_are_lies)
{
	const struct wfs_lua_budget budget = {
		.instructions = 1000, .used = 10, .step_count = 1, .time_used_ns = 5};
	struct wfs_lua_budget said = budget;

	assert_true(is_believed(&budget, said));
	said.used = 2000; /* the last charge may be a large one */
	assert_true(is_believed(&budget, said));

	said.used = 9;
	assert_false(is_believed(&budget, said));
	said.used = UINT64_C(1) << 63; /* would be negative in a record */
	assert_false(is_believed(&budget, said));
	said = budget;
	said.step_count = UINT64_MAX;
	assert_false(is_believed(&budget, said));
	said = budget;
	said.time_used_ns = UINT64_MAX - 1;
	assert_false(is_believed(&budget, said));
}

/* Code that has taken the process over may stop reading and answering. */
TEST(a_process_that_does_not_answer_is_a_crash)
{
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	WFS_AUTO_BUFFER struct wfs_buffer event = {0};
	static const char source[] = "function step(s, e) return 1 end";

	wfs_buffer_append_byte(&event, '"');
	for (int i = 0; i < (4 << 20); i++)
		wfs_buffer_append_byte(&event, 'x');
	wfs_buffer_append_byte(&event, '"');
	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &code, NULL),
		0);

	for (int large = 0; large < 2; large++) {
		lua_outcome_step(code, NULL, NULL, &outcome);
		assert_int_equal(outcome.r, 0);
		assert_int_equal(kill(box_pid(), SIGSTOP), 0);

		lua_outcome_step(code, NULL, large ? wfs_buffer_text(&event) : NULL, &outcome);
		assert_int_equal(outcome.r, -EIO);
		assert_int_equal(outcome.error.code, WFS_E_CODE_CRASHED);
		assert_string_equal(outcome.error.message,
			"a.lua: the process that runs code waits instead of giving an answer");
	}
}

TEST(a_process_that_cannot_be_looked_at_is_not_waited_for_without_end)
{
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	AUTO_OUTCOME struct lua_outcome outcome = {0};
	static const char source[] = "function step(s, e) return 1 end";
	struct rlimit before;
	struct rlimit none;

	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &code, NULL),
		0);
	assert_int_equal(kill(box_pid(), SIGSTOP), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	lua_outcome_step(code, NULL, NULL, &outcome);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

	assert_int_equal(outcome.error.code, WFS_E_CODE_CRASHED);
}

/* --- a host that ends the process under its own code --- */

static int ending_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	(void)host;
	(void)binding_index;
	(void)arguments;
	(void)ret_value;
	(void)error;
	kill_box();
	return 0;
}

TEST(a_process_that_ends_under_its_host_is_a_crash)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run() return (pcall(store.get)) end");
	struct wfs_code_host host = {.call = ending_call};
	struct wfs_code_call call = {.function = "run", .host = &host};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);

	assert_int_equal(answer.failure, WFS_LUA_FAILURE_CRASH);
	assert_int_equal(answer.error.code, WFS_E_CODE_CRASHED);
	assert_string_equal(answer.error.message,
		"market.lua: the process that runs code ended while it ran this code (signal 9)");
	assert_false(wfs_code_is_running(program));

	call.host = NULL;
	lua_answer_call(program, &call, NULL, &answer);
	assert_string_equal(answer.error.message, "");
	assert_int_equal(answer.r, 0);
}

/* --- interrupting --- */

static int interrupting_call(struct wfs_code_host *host, size_t binding_index,
	const json_t *arguments, json_t **ret_value, struct wfs_error *error)
{
	(void)host;
	(void)binding_index;
	(void)arguments;
	(void)ret_value;
	(void)error;
	wfs_box_interrupt(lua_box());
	return 0;
}

TEST(code_that_is_interrupted_runs_again_later)
{
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run(again) if again then return 7 end store.get() end");
	struct wfs_code_host host = {.call = interrupting_call};
	struct wfs_code_call call = {.function = "run", .host = &host};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.error.code, WFS_E_CANCELLED);
	assert_int_equal(answer.r, -EINTR);

	lua_answer_call(program, &call, "[true]", &answer);
	assert_int_equal(answer.error.code, WFS_E_CANCELLED);

	assert_true(wfs_box_resume(lua_box()));
	lua_answer_call(program, &call, "[true]", &answer);
	assert_string_equal(wfs_buffer_text(&answer.text), "7");
}

TEST(code_runs_after_an_interruption_that_came_when_none_ran)
{
	WFS_AUTO_CODE struct wfs_code *program = program_load("function run() return 7 end");
	struct wfs_code_call call = {.function = "run"};
	AUTO_ANSWER struct lua_answer answer = {0};

	lua_answer_call(program, &call, NULL, &answer);
	wfs_box_interrupt(lua_box());

	assert_false(wfs_box_resume(lua_box()));
	lua_answer_call(program, &call, NULL, &answer);
	assert_int_equal(answer.r, 0);
	assert_string_equal(wfs_buffer_text(&answer.text), "7");
}

TEST(code_ends_when_the_time_for_code_does)
{
	enum { SOON_NS = 100 * 1000 * 1000 };
	WFS_AUTO_CODE struct wfs_code *program =
		program_load("function run(long) local a = string.rep('x', 30 << 20) "
			     "local b = a .. '' while long do local c = a < b end return 7 end");
	struct wfs_code_call call = {.function = "run"};
	AUTO_ANSWER struct lua_answer answer = {0};

	wfs_box_end(lua_box(), wfs_clock_monotonic_ns() + SOON_NS);
	lua_answer_call(program, &call, "[true]", &answer);
	assert_int_equal(answer.error.code, WFS_E_CANCELLED);
	assert_int_equal(answer.r, -EINTR);
	lua_answer_call(program, &call, "[false]", &answer);
	assert_int_equal(answer.error.code, WFS_E_CANCELLED);

	assert_true(wfs_box_resume(lua_box()));
	wfs_box_end(lua_box(), INT64_MAX);
	lua_answer_call(program, &call, "[false]", &answer);
	assert_string_equal(wfs_buffer_text(&answer.text), "7");
}

/* --- many --- */

TEST(more_modules_than_a_process_keeps_all_run)
{
	enum { COUNT = 150 };
	struct wfs_code *codes[COUNT];

	for (int i = 0; i < COUNT; i++) {
		char source[64];

		snprintf(source, sizeof(source), "function step() return %d end", i);
		assert_int_equal(load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source,
					 strlen(source), &codes[i], NULL),
			0);
	}
	for (int i = 0; i < COUNT; i++) {
		AUTO_OUTCOME struct lua_outcome outcome = {0};
		char expected[16];

		lua_outcome_step(codes[i], NULL, NULL, &outcome);
		snprintf(expected, sizeof(expected), "%d\n", i);
		assert_string_equal(wfs_buffer_text(&outcome.result.state), expected);
		wfs_code_free(codes[i]);
	}
}

TEST(large_values_pass_both_ways)
{
	WFS_AUTO_BUFFER struct wfs_buffer event = {0};
	AUTO_OUTCOME struct lua_outcome outcome;

	wfs_buffer_append_byte(&event, '"');
	for (int i = 0; i < (8 << 20); i++)
		wfs_buffer_append_byte(&event, 'x');
	wfs_buffer_append_byte(&event, '"');
	lua_outcome_run(
		NULL, "function step(s, e) return e end", NULL, wfs_buffer_text(&event), &outcome);

	assert_string_equal(outcome.error.message, "");
	assert_int_equal(outcome.result.state.size, event.size + 1);
}

/* The run must not notice what an earlier run left in memory: it would change the order in which
 * Lua finds free places. */
TEST(a_run_begins_as_the_first_one_did)
{
	static const char source[] = "function step(s, e)\n"
				     "local t = {} for i = 1, 50 do t[i] = {} t[t[i]] = i end\n"
				     "for i = 10, 50, 7 do t[i] = nil end\n"
				     "for i = 1, (e or 0) do t['k' .. i] = {} end\n"
				     "return #t end";
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	AUTO_OUTCOME struct lua_outcome first = {0};

	assert_int_equal(
		load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source), &code, NULL),
		0);
	lua_outcome_step(code, NULL, "0", &first);
	for (int i = 0; i < 20; i++) {
		AUTO_OUTCOME struct lua_outcome other = {0};
		AUTO_OUTCOME struct lua_outcome again = {0};
		char event[16];

		snprintf(event, sizeof(event), "%d", i * 1000);
		lua_outcome_step(code, NULL, event, &other);
		assert_int_equal(other.r, 0);
		lua_outcome_step(code, NULL, "0", &again);
		assert_string_equal(
			wfs_buffer_text(&again.result.state), wfs_buffer_text(&first.result.state));
	}
}

/* --- steps ahead --- */

/* Steps that add an event to a number, on one cell or on cells of their own. */
struct chain {
	struct wfs_code *code;
	json_t *events[WFS_CODE_AHEAD_MAX];
	struct wfs_lua_budget budget;
	struct wfs_code_step step;
};

static void chain_begin(struct chain *chain, const char *source, const char *const *events)
{
	*chain = (struct chain){.code = NULL};
	assert_int_equal(load_reducer(&WFS_LUA_LIMITS_DEFAULT, "a.lua", source, strlen(source),
				 &chain->code, NULL),
		0);
	for (size_t i = 0; events[i]; i++)
		chain->events[i] = json_loads(events[i], JSON_DECODE_ANY, NULL);
	wfs_code_ahead_begin(lua_box());
}

static void chain_end(struct chain *chain)
{
	for (size_t i = 0; i < WFS_CODE_AHEAD_MAX; i++)
		json_decref(chain->events[i]);
	wfs_code_free(chain->code);
}

/* The step for event @i; @state: NULL if the cell has no state yet. */
static struct wfs_code_step *chain_step(struct chain *chain, size_t i, const char *state)
{
	static const uint8_t seed[32] = {7};

	chain->budget = (struct wfs_lua_budget){.instructions = 10000000};
	chain->step = (struct wfs_code_step){
		.state = state ? WFS_BYTES(state, strlen(state)) : WFS_BYTES(NULL, 0),
		.event = chain->events[i],
		.key = WFS_BYTES("k", 1),
		.reducer = "r",
		.schema = "s",
		.principal = "p",
		.seq = 10 + i,
		.at_ns = 5,
		.budget = &chain->budget,
	};
	memcpy(chain->step.seed, seed, sizeof(seed));
	return &chain->step;
}

static void chain_add(struct chain *chain, size_t i, const char *text, int state_of)
{
	assert_int_equal(wfs_code_ahead_add(chain->code, chain_step(chain, i, NULL),
				 WFS_BYTES(text, strlen(text)), state_of),
		0);
}

/* Asks for step @i of the cell with @state. @expected: its new state, or part of its message */
static void chain_expect(struct chain *chain, size_t i, const char *state, const char *expected)
{
	struct wfs_code_result result = {0};
	struct wfs_error error = {0};
	int r = wfs_code_step(chain->code, chain_step(chain, i, state), &result, &error);

	if (r == 0)
		assert_string_equal(wfs_buffer_text(&result.state), expected);
	else if (!strstr(error.message, expected))
		fail_msg("expected '%s' in '%s'", expected, error.message);
	assert_true(chain->budget.used > 0 || r < 0);
	wfs_code_result_done(&result);
}

static const char adds[] = "function step(s, e) return (s or 0) + e end";

TEST(steps_ahead_are_taken_in_order)
{
	struct chain chain;

	chain_begin(&chain, adds, (const char *const[]){"1", "2", "4", NULL});
	chain_add(&chain, 0, "1", -1);
	chain_add(&chain, 1, "2", 0);
	chain_add(&chain, 2, "4", 1);
	wfs_code_ahead_run(lua_box());
	kill_box(); /* the process gets no more requests */

	chain_expect(&chain, 0, NULL, "1\n");
	chain_expect(&chain, 1, "1\n", "3\n");
	chain_expect(&chain, 2, "3\n", "7\n");

	/* A new process answers: a result is taken only once. */
	chain_expect(&chain, 2, "3\n", "7\n");
	assert_int_equal(wfs_code_ahead_taken(lua_box()), 3);
	chain_end(&chain);
}

/* For some sizes, the newline of a cell's document would cost one instruction more than the
 * result without it. */
TEST(a_step_costs_the_same_when_it_is_sent_ahead)
{
	enum { SIZES = 8 };
	static const char source[] =
		"function step(s, e) return s and s .. 'y' or ('x'):rep(e) end";

	for (int size = 0; size < SIZES; size++) {
		char first[16];
		char text[32];
		char longer[32];
		struct chain chain;

		snprintf(first, sizeof(first), "%d", size);
		snprintf(text, sizeof(text), "\"%.*s\"\n", size, "xxxxxxxx");
		snprintf(longer, sizeof(longer), "\"%.*sy\"\n", size, "xxxxxxxx");
		chain_begin(&chain, source, (const char *const[]){first, "2", NULL});
		chain_expect(&chain, 1, text, longer);
		const uint64_t alone = chain.budget.used;
		chain_add(&chain, 0, first, -1);
		chain_add(&chain, 1, "2", 0);
		wfs_code_ahead_run(lua_box());
		chain_expect(&chain, 0, NULL, text);
		chain_expect(&chain, 1, text, longer);

		print_message("a state of %zu bytes\n", strlen(text));
		assert_int_equal(wfs_code_ahead_taken(lua_box()), 2);
		assert_int_equal(chain.budget.used, alone);
		chain_end(&chain);
	}
}

TEST(a_step_that_is_asked_for_with_another_state_runs_again)
{
	struct chain chain;

	chain_begin(&chain, adds, (const char *const[]){"1", "2", "4", NULL});
	chain_add(&chain, 0, "1", -1);
	chain_add(&chain, 1, "2", 0);
	chain_add(&chain, 2, "4", 1);
	wfs_code_ahead_run(lua_box());

	chain_expect(&chain, 0, NULL, "1\n");
	chain_expect(&chain, 1, "100\n", "102\n");
	chain_expect(&chain, 2, "102\n", "106\n");

	assert_int_equal(wfs_code_ahead_taken(lua_box()), 1);
	chain_end(&chain);
}

TEST(a_step_ahead_that_fails_fails_when_it_is_asked_for)
{
	struct chain chain;

	chain_begin(&chain, adds, (const char *const[]){"1", "\"x\"", "4", NULL});
	chain_add(&chain, 0, "1", -1);
	chain_add(&chain, 1, "\"x\"", 0);
	chain_add(&chain, 2, "4", 1);
	wfs_code_ahead_run(lua_box());

	chain_expect(&chain, 0, NULL, "1\n");
	chain_expect(&chain, 1, "1\n", "attempt to add");
	chain_expect(&chain, 2, "1\n", "5\n");

	chain_end(&chain);
}

TEST(a_process_that_does_not_answer_ahead_is_the_failure_of_no_step)
{
	struct chain chain;

	chain_begin(&chain, adds, (const char *const[]){"1", "2", NULL});
	chain_expect(&chain, 0, NULL, "1\n"); /* the process has the module already */
	wfs_code_ahead_begin(lua_box());
	chain_add(&chain, 0, "1", -1);
	chain_add(&chain, 1, "2", 0);
	assert_int_equal(kill(box_pid(), SIGSTOP), 0);
	wfs_code_ahead_run(lua_box());

	chain_expect(&chain, 0, NULL, "1\n");
	chain_expect(&chain, 1, "1\n", "3\n");

	assert_int_equal(wfs_code_ahead_taken(lua_box()), 0);
	chain_end(&chain);
}

TEST(steps_ahead_do_not_run_for_long)
{
	enum { COUNT = 40 };
	static const char slow[] =
		"function step(s, e) for i = 1, 400000 do end return (s or 0) + 1 end";
	const char *events[COUNT + 1] = {NULL};
	struct chain chain;

	for (size_t i = 0; i < COUNT; i++)
		events[i] = "0";
	chain_begin(&chain, slow, events);
	for (size_t i = 0; i < COUNT; i++)
		chain_add(&chain, i, "0", -1);
	wfs_code_ahead_run(lua_box());
	for (size_t i = 0; i < COUNT; i++)
		chain_expect(&chain, i, NULL, "1\n");

	assert_in_range(wfs_code_ahead_taken(lua_box()), 1, COUNT - 1);
	chain_end(&chain);
}

TEST(steps_ahead_take_little_memory)
{
	static const char length[] = "function step(s, e) return #s + e end";
	static const char *const events[] = {"0", "0", "0", "0", "0", "0", "0", "0", NULL};
	enum { COUNT = WFS_ARRAY_COUNT(events) - 1, LARGE = 2 << 20 };
	WFS_AUTO_BUFFER struct wfs_buffer large = {0};
	struct chain chain;
	int r = 0;

	wfs_buffer_append_byte(&large, '"');
	for (int i = 0; i < LARGE; i++)
		wfs_buffer_append_byte(&large, 'x');
	wfs_buffer_append_byte(&large, '"');
	chain_begin(&chain, length, events);
	for (size_t i = 0; !r && i < COUNT; i++)
		r = wfs_code_ahead_add(chain.code, chain_step(&chain, i, wfs_buffer_text(&large)),
			wfs_bytes_text("0"), -1);
	const size_t sent_bytes = lua_box()->ahead.sent.capacity_bytes;
	wfs_code_ahead_run(lua_box());
	for (size_t i = 0; i < COUNT; i++)
		chain_expect(&chain, i, wfs_buffer_text(&large), "2097152\n");
	wfs_code_ahead_begin(lua_box());

	assert_int_equal(r, -EFBIG);
	assert_in_range(sent_bytes, 0, 2 * WFS_CODE_AHEAD_BYTES_MAX);
	assert_in_range(lua_box()->ahead.sent.capacity_bytes, 0, LARGE / 2);
	chain_end(&chain);
}

/* The second step compiles its module, after the first one has used memory. */
TEST(steps_ahead_keep_little_memory_in_the_process)
{
	static const char large[] = "function step(s, e) return #string.rep('x', 24 << 20) end";
	WFS_AUTO_CODE struct wfs_code *other = load_large_reducer(NULL, 5);
	struct chain chain;

	chain_begin(&chain, large, (const char *const[]){"1", "2", NULL});
	chain_add(&chain, 0, "1", -1);
	assert_int_equal(
		wfs_code_ahead_add(other, chain_step(&chain, 1, NULL), wfs_bytes_text("2"), -1), 0);
	wfs_code_ahead_run(lua_box());
	const int pid = box_pid();
	chain_expect(&chain, 0, NULL, "25165824\n");

	assert_int_equal(wfs_code_ahead_taken(lua_box()), 1);
	assert_keeps_at_most(pid, 16 << 20);
	chain_end(&chain);
}
