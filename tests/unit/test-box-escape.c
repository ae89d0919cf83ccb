/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel/box with a process that code has taken over (escape-code.c): it makes every system call
 * and sends every lie, and reaches nothing. Its owner gets code_crashed within bounded time, and
 * the next run has a new process.
 */
#include <fcntl.h>
#include <linux/ptrace.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/array.h"
#include "kernel/base/clock.h"
#include "kernel/box/box-impl.h"
#include "tests/fixture/lua.h"

enum {
	SYSTEM_CALLS = 500, /* more than Linux has */
	SOON_MS = 20000,    /* on a busy machine, with the slack for processor time */
	LARGE_BYTES = 4 << 20,
	NOBODY = 65534,
};

static const struct wfs_lua_limits limits = {
	.instructions = 1000000, .memory_bytes = 64 << 20, .output_bytes = 1 << 20};

/* --- a host that is asked --- */

enum { HOST_SMALL, HOST_LARGE };

static const struct wfs_lua_binding bindings[] = {
	[HOST_SMALL] = {NULL, "small"},
	[HOST_LARGE] = {NULL, "large"},
};

static int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	(void)host;
	(void)arguments;
	(void)error;
	if (binding_index == HOST_SMALL)
		return 0;
	char *const text = malloc(LARGE_BYTES);
	assert_non_null(text);
	memset(text, 'x', LARGE_BYTES);
	*ret_value = json_stringn_nocheck(text, LARGE_BYTES);
	free(text);
	return *ret_value ? 0 : -ENOMEM;
}

/* --- one attempt --- */

static struct wfs_code *code;

struct attempt {
	int r;
	struct wfs_error error;
	enum wfs_lua_failure failure;
	struct wfs_buffer value; /* empty: it has failed */
};

static void attempt_done(struct attempt *attempt)
{
	wfs_buffer_done(&attempt->value);
}
#define AUTO_ATTEMPT __attribute__((cleanup(attempt_done)))

/* @arguments: takes a reference */
static struct attempt try(json_t *arguments)
{
	WFS_AUTO_JSON json_t *given = arguments;
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_code_host host = {.call = host_call};
	struct wfs_lua_budget budget = {.instructions = limits.instructions, .used = 10};
	struct wfs_code_call call = {
		.function = "run", .arguments = given, .host = &host, .budget = &budget};
	struct attempt attempt = {.r = 0};

	attempt.r = wfs_code_call(code, &call, &value, &attempt.error);
	attempt.failure = call.failure;
	if (value)
		wfs_json_write(value, &attempt.value);
	return attempt;
}

static struct attempt try_call(long number, const long arguments[static 6])
{
	json_t *const asked = json_pack("[s, I]", "system call", (json_int_t)number);

	for (size_t i = 0; i < 6; i++)
		json_array_append_new(asked, json_integer(arguments[i]));
	return try(asked);
}

static void it_was_killed(struct attempt *attempt, const char *what)
{
	if (!strstr(attempt->error.message, "(signal 31)"))
		fail_msg("%s: expected SIGSYS, got %s '%s'", what, wfs_buffer_text(&attempt->value),
			attempt->error.message);
	assert_int_equal(attempt->error.code, WFS_E_CODE_CRASHED);
	assert_int_equal(attempt->failure, WFS_LUA_FAILURE_CRASH);
}

static void the_next_run_has_a_process(void)
{
	AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", "nothing"));

	assert_string_equal(attempt.error.message, "");
	assert_string_equal(wfs_buffer_text(&attempt.value), "\"still here\"");
}

/* --- system calls --- */

TEST(every_other_system_call_ends_the_process)
{
	static const long allowed[] = {SYS_recvfrom, SYS_sendto, SYS_brk, SYS_exit_group};
	/* mmap fails without ending the process. Newer versions of Linux let two other calls
	 * pass every filter: they serve probes of the kernel, and do nothing elsewhere. */
	enum { URETPROBE = 335, UPROBE = 336 };

	for (long number = 0; number < SYSTEM_CALLS; number++) {
		char what[32];
		bool skipped = number == SYS_mmap || number == URETPROBE || number == UPROBE;

		for (size_t i = 0; i < WFS_ARRAY_COUNT(allowed); i++)
			skipped |= number == allowed[i];
		if (skipped)
			continue;
		snprintf(what, sizeof(what), "system call %ld", number);
		AUTO_ATTEMPT struct attempt attempt =
			try_call(number, (const long[]){-1, -1, -1, -1, -1, -1});
		it_was_killed(&attempt, what);
	}
	the_next_run_has_a_process();
}

/* Calls that would reach something outside, with arguments that would work. */
TEST(what_would_reach_something_ends_the_process)
{
	const long self = getpid();
	static char path[] = "/etc/passwd";
	const struct {
		const char *what;
		long number;
		long arguments[6]; /* the last two arguments are 0 */
	} calls[] = {
		{"open", SYS_open, {(long)path, O_RDONLY, 0, 0}},
		{"openat", SYS_openat, {AT_FDCWD, (long)path, O_RDWR | O_CREAT, 0600}},
		{"socket", SYS_socket, {AF_INET, SOCK_STREAM, 0, 0}},
		{"socket, unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0, 0}},
		{"ptrace its owner", SYS_ptrace, {PTRACE_ATTACH, self, 0, 0}},
		{"ptrace, seize", SYS_ptrace, {0x4206, self, 0, 0}},
		{"kill its owner", SYS_kill, {self, SIGKILL, 0, 0}},
		{"kill all", SYS_kill, {-1, SIGKILL, 0, 0}},
		{"tgkill", SYS_tgkill, {self, self, SIGKILL, 0}},
		{"fork", SYS_fork, {0, 0, 0, 0}},
		{"clone", SYS_clone, {SIGCHLD, 0, 0, 0}},
		{"write to its socket", SYS_write, {0, (long)path, 1, 0}},
		{"read from its socket", SYS_read, {0, (long)path, 1, 0}},
		{"receive descriptors", SYS_recvmsg, {0, 0, 0, 0}},
		{"send descriptors", SYS_sendmsg, {0, 0, 0, 0}},
		{"make memory executable", SYS_mprotect,
			{0x400000, 4096, PROT_READ | PROT_EXEC, 0}},
		{"another process's memory", SYS_process_vm_writev, {self, 0, 0, 0}},
		{"memory as a file", SYS_memfd_create, {(long)path, 0, 0, 0}},
		{"its dumpable flag", SYS_prctl, {4, 1, 0, 0}},
		{"its limits", SYS_prlimit64, {0, 7, (long)path, 0}},
		{"the time", SYS_clock_gettime, {CLOCK_REALTIME, (long)path, 0, 0}},
		{"another clock", SYS_clock_gettime, {CLOCK_MONOTONIC, (long)path, 0, 0}},
		{"free memory otherwise", SYS_madvise, {0, 4096, MADV_HUGEPAGE, 0}},
		{"receive from another descriptor", SYS_recvfrom, {1, (long)path, 1, 0}},
		{"send to another descriptor", SYS_sendto, {2, (long)path, 1, 0}},
		{"32 bit numbers", 0x40000000 | SYS_getpid, {0, 0, 0, 0}},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++) {
		AUTO_ATTEMPT struct attempt attempt = try_call(calls[i].number, calls[i].arguments);

		it_was_killed(&attempt, calls[i].what);
	}
	the_next_run_has_a_process();
}

TEST(no_memory_can_be_mapped)
{
	AUTO_ATTEMPT struct attempt attempt = try_call(SYS_mmap,
		(const long[]){0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0});

	assert_string_equal(wfs_buffer_text(&attempt.value), "12"); /* the error is ENOMEM */
}

/* --- lies --- */

static void a_lie_is_a_crash_soon(const char *const lie, const char *message)
{
	const int64_t start = wfs_clock_monotonic_ns();
	AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", lie));
	const int64_t took_ms = (wfs_clock_monotonic_ns() - start) / 1000000;

	print_message("%s: %s (%d ms)\n", lie, attempt.error.message, (int)took_ms);
	assert_int_equal(attempt.value.size, 0);
	if (!strstr(attempt.error.message, message))
		fail_msg("%s: expected '%s' in '%s'", lie, message, attempt.error.message);
	assert_int_equal(attempt.error.code, WFS_E_CODE_CRASHED);
	assert_int_equal(attempt.failure, WFS_LUA_FAILURE_CRASH);
	assert_true(took_ms < SOON_MS);
	the_next_run_has_a_process();
}

TEST(a_lie_is_a_crash)
{
	static const char *const lies[] = {"ask beyond the bound", "ask for ever", "ask nobody",
		"ask without json", "ask without list", "fail as a crash", "fail as the store",
		"fail unknown", "fail with nothing", "give more than may be", "give no json",
		"give nothing", "give too much", "give two frames", "lower the bill",
		"say a huge size", "say a huge text", "say an unknown kind", "say no bill"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lies); i++)
		a_lie_is_a_crash_soon(lies[i], "gave an answer that cannot be");
}

TEST(a_process_that_waits_is_a_crash)
{
	a_lie_is_a_crash_soon("wait for ever", "waits instead of giving an answer");
	a_lie_is_a_crash_soon("say a size and wait", "waits instead of giving an answer");
}

/* Processor time is bounded from outside as well, even while the process reads no request. */
TEST(a_process_that_burns_time_is_ended)
{
	static const char *const lies[] = {"burn", "ask and burn"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lies); i++) {
		const int64_t start = wfs_clock_monotonic_ns();
		AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", lies[i]));
		const int64_t took_ms = (wfs_clock_monotonic_ns() - start) / 1000000;

		print_message("%s: %s (%d ms)\n", lies[i], attempt.error.message, (int)took_ms);
		assert_int_equal(attempt.failure, WFS_LUA_FAILURE_BOUND);
		assert_non_null(strstr(attempt.error.message, "too much processor time"));
		assert_true(took_ms < SOON_MS);
		the_next_run_has_a_process();
	}
}

/* Bytes that a process sends between two runs are not taken as the answer to the second run. */
TEST(a_process_that_speaks_without_a_run_is_ended)
{
	AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", "give again"));
	assert_string_equal(wfs_buffer_text(&attempt.value), "1");
	struct pollfd more = {.fd = lua_box()->at[0]->fd, .events = POLLIN};
	assert_int_equal(poll(&more, 1, SOON_MS), 1);

	the_next_run_has_a_process();
}

/* In a container root may not limit other users' processes. */
static int become_ordinary(void **state)
{
	(void)state;
	process_end(lua_box()->at[0], &lua_box()->lock);
	return getuid() == 0 ? setresuid(NOBODY, NOBODY, 0) : 0;
}

static int become_root_again(void **state)
{
	uid_t uids[3];

	(void)state;
	if (getresuid(&uids[0], &uids[1], &uids[2]) < 0)
		return -errno;
	return uids[2] == 0 ? setresuid(0, 0, 0) : 0;
}

#define AS_ORDINARY_USER(name) TEST_WITH(name, void *state, become_ordinary, become_root_again)

/* The usual bound is far away; a nearer one shows that the process ends at it, and that the next
 * code is not blamed. */
AS_ORDINARY_USER(a_process_that_burns_time_without_a_run_is_ended)
{
	enum { FAR_S = 70 };
	struct rlimit limit;

	AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", "give and burn"));
	assert_string_equal(wfs_buffer_text(&attempt.value), "1");
	const struct process *const process = lua_box()->at[0];
	assert_int_equal(prlimit(process->pid, RLIMIT_CPU, NULL, &limit), 0);
	assert_in_range(limit.rlim_cur, 1, FAR_S);
	limit.rlim_cur = 1;
	assert_int_equal(prlimit(process->pid, RLIMIT_CPU, &limit, NULL), 0);
	struct pollfd end = {.fd = process->fd, .events = POLLIN};
	assert_int_equal(poll(&end, 1, SOON_MS), 1);

	the_next_run_has_a_process();
}

/* A process may report a lack of memory; the owner words the error for that. */
TEST(a_lack_of_memory_is_told_in_the_words_of_the_owner)
{
	AUTO_ATTEMPT struct attempt attempt = try(json_pack("[s]", "fail without memory"));

	assert_int_equal(attempt.r, -ENOMEM);
	assert_int_equal(attempt.failure, WFS_LUA_FAILURE_HOST);
	assert_int_equal(attempt.error.code, WFS_E_INTERNAL_ERROR);
	assert_string_equal(attempt.error.message, "run 'code': Cannot allocate memory");
}

static int load_as(const char *name, struct wfs_code **ret_code, struct wfs_error *error)
{
	static const char *const functions[] = {"run", NULL};
	const struct wfs_code_options options = {
		.program = true,
		.limits = &limits,
		.name = name,
		.source = wfs_bytes_text("function run() end"),
		.functions = functions,
		.bindings = bindings,
		.binding_count = WFS_ARRAY_COUNT(bindings),
	};

	return wfs_code_new(lua_box(), &options, ret_code, error);
}

TEST(the_answer_to_a_module_keeps_no_memory)
{
	WFS_AUTO_CODE struct wfs_code *large = NULL;
	struct wfs_error error = {0};

	assert_int_equal(load_as("large", &large, &error), -EIO);
	assert_int_equal(error.code, WFS_E_CODE_CRASHED);
	assert_in_range(lua_box()->at[0]->in.capacity_bytes, 0, LARGE_BYTES / 2);
}

static int load(void **state)
{
	struct wfs_error error = {0};

	(void)state;
	return load_as("code", &code, &error);
}

static int unload(void **state)
{
	(void)state;
	wfs_code_free(code);
	wfs_box_free(lua_box());
	return 0;
}

TEST_GROUP(load, unload)
