/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process that runs code would do if its code had taken it over: it is confined as such a
 * process is, and tries to escape or to lie to its owner. The first argument of each call says what
 * it tries; test-box-escape makes the calls.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/base/array.h"
#include "kernel/box/inside/confine.h"
#include "kernel/box/message.h"

enum { SOCKET = 0 };

static struct wfs_buffer in;
static struct wfs_buffer out;

static int receive(struct wfs_wire_reader *ret_reader)
{
	return wfs_wire_receive(SOCKET, &in, ret_reader, NULL, NULL);
}

/* The first member of the text of an array: a word or a number. */
static const char *word_of(struct wfs_bytes arguments)
{
	static char word[64];
	const char *const text = arguments.data;

	snprintf(word, sizeof(word), "%s", text + strspn(text, "[\""));
	word[strcspn(word, "\",]")] = '\0';
	return word;
}

static void begin(uint32_t kind, const struct wfs_lua_run *run)
{
	wfs_wire_begin(&out, kind);
	message_put_run(&out, run);
}

static void finish(void)
{
	(void)wfs_wire_send(SOCKET, &out, NULL, NULL);
}

static void done(const struct wfs_lua_run *run, const char *value)
{
	begin(WFS_WIRE_DONE, run);
	wfs_wire_put_text(&out, value);
	finish();
}

static void ask(const struct wfs_lua_run *run, uint64_t binding, const char *arguments)
{
	begin(WFS_WIRE_ASK, run);
	wfs_wire_put_number(&out, binding);
	wfs_wire_put_text(&out, arguments);
	finish();
}

/* --- lies --- */

static void burn(const struct wfs_lua_run *run)
{
	(void)run;
	for (volatile uint64_t i = 0;; i++)
		continue;
}

static void wait_for_ever(const struct wfs_lua_run *run)
{
	char byte;

	(void)run;
	while (recv(SOCKET, &byte, 1, 0) >= 0)
		continue;
}

/* The host's answer is larger than the socket holds, and nobody takes it. */
static void ask_and_burn(const struct wfs_lua_run *run)
{
	ask(run, 1, "[]");
	burn(run);
}

static void ask_for_ever(const struct wfs_lua_run *run)
{
	struct wfs_wire_reader reader;

	do {
		ask(run, 0, "[]");
	} while (receive(&reader) == 0);
}

/* As ask_and_burn(), with a charge for each question. */
static void ask_beyond_the_bound(const struct wfs_lua_run *run)
{
	struct wfs_lua_budget budget = *run->budget;
	struct wfs_lua_run billed = {.budget = &budget};
	struct wfs_wire_reader reader;

	do {
		budget.used += 100;
		ask(&billed, 0, "[]");
	} while (receive(&reader) == 0);
}

static void ask_nobody(const struct wfs_lua_run *run)
{
	ask(run, 1000, "[]");
}

static void ask_without_json(const struct wfs_lua_run *run)
{
	ask(run, 0, "[1,");
}

static void ask_without_list(const struct wfs_lua_run *run)
{
	ask(run, 0, "{}");
}

static void give_no_json(const struct wfs_lua_run *run)
{
	done(run, "{\"a\":");
}

static void give_nothing(const struct wfs_lua_run *run)
{
	begin(WFS_WIRE_DONE, run);
	finish();
}

static void give_too_much(const struct wfs_lua_run *run)
{
	begin(WFS_WIRE_DONE, run);
	wfs_wire_put_text(&out, "1");
	wfs_wire_put_text(&out, "2");
	finish();
}

static void give_more_than_may_be(const struct wfs_lua_run *run)
{
	enum { SIZE = 40 << 20 };
	static char text[SIZE + 1];

	memset(text, 'x', SIZE);
	text[0] = text[SIZE - 1] = '"';
	done(run, text);
}

static void give_two_frames(const struct wfs_lua_run *run)
{
	begin(WFS_WIRE_DONE, run);
	wfs_wire_put_text(&out, "1");
	struct wfs_wire_header header = {
		.kind = WFS_WIRE_DONE, .size = (uint32_t)(out.size - sizeof(header))};
	memcpy(out.data, &header, sizeof(header));
	const size_t size = out.size;
	wfs_buffer_append(&out, out.data, size);
	(void)send(SOCKET, out.data, out.size, MSG_NOSIGNAL);
}

/* Sends a second answer after the owner has received the first. */
static void give_again(const struct wfs_lua_run *run)
{
	done(run, "1");
	for (volatile uint64_t i = 0; i < 100000000; i++)
		continue;
	done(run, "2");
}

static void give_and_burn(const struct wfs_lua_run *run)
{
	done(run, "1");
	burn(run);
}

static void send_header(uint32_t kind, uint32_t size)
{
	const struct wfs_wire_header header = {.kind = kind, .size = size};

	(void)send(SOCKET, &header, sizeof(header), MSG_NOSIGNAL);
}

static void say_a_huge_size(const struct wfs_lua_run *run)
{
	(void)run;
	send_header(WFS_WIRE_DONE, UINT32_MAX);
	burn(run);
}

/* Announces an allowed size, and then sends no bytes. */
static void say_a_size_and_wait(const struct wfs_lua_run *run)
{
	send_header(WFS_WIRE_DONE, WFS_WIRE_FRAME_MAX);
	wait_for_ever(run);
}

static void say_an_unknown_kind(const struct wfs_lua_run *run)
{
	begin(77, run);
	finish();
}

static void say_a_huge_text(const struct wfs_lua_run *run)
{
	begin(WFS_WIRE_DONE, run);
	wfs_wire_put_number(&out, UINT64_MAX - 1);
	finish();
}

static void lower_the_bill(const struct wfs_lua_run *run)
{
	struct wfs_lua_budget budget = *run->budget;
	const struct wfs_lua_run lower = {.budget = &budget};

	budget.used--;
	done(&lower, "1");
}

static void say_no_bill(const struct wfs_lua_run *run)
{
	const struct wfs_lua_run none = {.budget = NULL};

	(void)run;
	done(&none, "1");
}

static void fail(const struct wfs_lua_run *run, enum wfs_lua_failure failure, int r,
	enum wfs_error_code code, const char *message)
{
	struct wfs_lua_run failed = *run;
	struct wfs_error error = {.code = code};

	memcpy(error.message, message, strlen(message) + 1);
	failed.failure = failure;
	begin(WFS_WIRE_FAILED, &failed);
	message_put_error(&out, r, &error);
	finish();
}

static void fail_as_the_store(const struct wfs_lua_run *run)
{
	fail(run, WFS_LUA_FAILURE_CODE, -ENOSPC, WFS_E_STORE_FULL, "the store is full");
}

static void fail_as_a_crash(const struct wfs_lua_run *run)
{
	fail(run, WFS_LUA_FAILURE_CRASH, -EIO, WFS_E_CODE_CRASHED, "it was not me");
}

static void fail_with_nothing(const struct wfs_lua_run *run)
{
	fail(run, WFS_LUA_FAILURE_NONE, 0, WFS_OK, "");
}

static void fail_without_memory(const struct wfs_lua_run *run)
{
	fail(run, WFS_LUA_FAILURE_CODE, -ENOMEM, WFS_E_STORE_FULL, "the store is full");
}

static void fail_unknown(const struct wfs_lua_run *run)
{
	fail(run, (enum wfs_lua_failure)99, -EIO, WFS_E_RUNTIME_ERROR, "x");
}

static const struct {
	const char *name;
	void (*run)(const struct wfs_lua_run *run);
} lies[] = {
	{"ask and burn", ask_and_burn},
	{"ask beyond the bound", ask_beyond_the_bound},
	{"ask for ever", ask_for_ever},
	{"ask nobody", ask_nobody},
	{"ask without json", ask_without_json},
	{"ask without list", ask_without_list},
	{"burn", burn},
	{"fail as a crash", fail_as_a_crash},
	{"fail as the store", fail_as_the_store},
	{"fail unknown", fail_unknown},
	{"fail with nothing", fail_with_nothing},
	{"fail without memory", fail_without_memory},
	{"give again", give_again},
	{"give and burn", give_and_burn},
	{"give more than may be", give_more_than_may_be},
	{"give no json", give_no_json},
	{"give nothing", give_nothing},
	{"give too much", give_too_much},
	{"give two frames", give_two_frames},
	{"lower the bill", lower_the_bill},
	{"say a huge size", say_a_huge_size},
	{"say a huge text", say_a_huge_text},
	{"say a size and wait", say_a_size_and_wait},
	{"say an unknown kind", say_an_unknown_kind},
	{"say no bill", say_no_bill},
	{"wait for ever", wait_for_ever},
};

/* --- one call --- */

/* Takes the numbers after the first word as a system call and its arguments. Gives the errno, or
 * 0 if the call succeeded. */
static void system_call(const struct wfs_lua_run *run, const char *text)
{
	long numbers[7] = {0};
	char *at = (char *)text;
	char said[16];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers) && *at; i++) {
		at += strcspn(at, "-0123456789");
		numbers[i] = strtol(at, &at, 10);
	}
	const long r = syscall(
		numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]);
	snprintf(said, sizeof(said), "%d", r < 0 ? errno : 0);
	done(run, said);
}

static int call(struct wfs_wire_reader *reader)
{
	struct message_call message;

	if (!message_get_call(reader, &message))
		return -EBADMSG;
	const char *const word = word_of(message.call.arguments);
	const struct wfs_lua_run *const run = &message.call.run;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(lies); i++) {
		if (strcmp(word, lies[i].name) != 0)
			continue;
		lies[i].run(run);
		return 0;
	}
	if (strcmp(word, "system call") == 0)
		system_call(run, message.call.arguments.data);
	else
		done(run, "\"still here\"");
	return 0;
}

/* A module named `large` gets an answer of several MiB. */
static int load(struct wfs_wire_reader *reader)
{
	enum { SIZE = 4 << 20 };
	static char text[SIZE + 1];
	struct message_load load;

	if (!message_get_load(reader, &load))
		return -EBADMSG;
	begin(WFS_WIRE_DONE, &load.run);
	if (strcmp(load.options.name, "large") == 0) {
		memset(text, 'x', SIZE);
		wfs_wire_put_text(&out, text);
	}
	finish();
	return 0;
}

static int answer(struct wfs_wire_reader *reader)
{
	switch (reader->kind) {
	case WFS_WIRE_LOAD:
		return load(reader);
	case WFS_WIRE_CALL:
		return call(reader);
	default:
		return -EBADMSG;
	}
}

int main(void)
{
	struct wfs_wire_reader reader;
	int r = confine(SOCKET);

	wfs_wire_begin(&out, WFS_WIRE_READY);
	finish();
	while (r == 0) {
		r = receive(&reader);
		if (r == 0)
			r = answer(&reader);
	}
	return r == -EPIPE ? EXIT_SUCCESS : EXIT_FAILURE;
}
