/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the programs of a file as code in a box, and prints a line with all results of each: a test
 * compares the lines of two processes.
 *
 * run-programs FILE [--full]
 *
 * FILE has, for each program, a line with its number and its size in bytes, and the program. A
 * program with an even number is the code of an artifact: `run` is called twice, with a host. One
 * with an odd number is a reducer's module: it runs three steps, each with the state that the step
 * before gave. Without --full, a line has the hash of the text. Steps run twice, the second time
 * sent ahead: if the results differ, the program says so and exits with 1.
 *
 * The processes of the box get this program's GLIBC_TUNABLES, which the real program never passes
 * on: they choose the functions that the C library would use on another processor.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/hash.h"
#include "kernel/base/json.h"
#include "kernel/box/box.h"

enum {
	CALLS = 2,
	STEPS = 3,
	SOURCE_MAX = 256 << 10,
};

static const struct wfs_lua_limits limits = {
	.instructions = 200000, .memory_bytes = 4 << 20, .output_bytes = 64 << 10};

/* --- the host --- */

enum { INVOKE, ECHO, REFUSE };

static const struct wfs_lua_binding bindings[] = {
	[INVOKE] = {NULL, "invoke"},
	[ECHO] = {"kernel", "echo"},
	[REFUSE] = {"kernel", "refuse"},
};

static int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	(void)host;
	switch (binding_index) {
	case INVOKE:
		*ret_value = json_pack(
			"{s:b, s:I}", "ok", 1, "count", (json_int_t)json_array_size(arguments));
		return 0;
	case ECHO:
		*ret_value = json_deep_copy(arguments);
		return 0;
	default:
		wfs_json_write(arguments, &text);
		wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "refused: %s", wfs_buffer_text(&text));
		return 1;
	}
}

/* --- what comes out --- */

static void append_json(struct wfs_buffer *out, const char *name, const json_t *json)
{
	wfs_buffer_printf(out, " %s=", name);
	if (json)
		wfs_json_write(json, out);
}

static void append_error(struct wfs_buffer *out, int r, const struct wfs_error *error)
{
	wfs_buffer_printf(out, " r=%d", r);
	if (r < 0)
		wfs_buffer_printf(out, " code=%d message=%s", (int)error->code, error->message);
}

static void run_program(
	struct wfs_box *box, const char *source, size_t size, struct wfs_buffer *out)
{
	static const char *const functions[] = {"run", NULL};
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	const struct wfs_code_options options = {
		.program = true,
		.limits = &limits,
		.name = "code",
		.source = WFS_BYTES(source, size),
		.functions = functions,
		.bindings = bindings,
		.binding_count = WFS_ARRAY_COUNT(bindings),
	};
	struct wfs_error error = {0};
	struct wfs_code_host host = {.call = host_call};
	const int loaded = wfs_code_new(box, &options, &code, &error);

	append_error(out, loaded, &error);
	for (int i = 0; loaded == 0 && i < CALLS; i++) {
		WFS_AUTO_JSON json_t *arguments = json_pack("[i, {s:s}]", i, "a", "b");
		WFS_AUTO_JSON json_t *value = NULL;
		struct wfs_lua_budget budget = {.instructions = 300000};
		struct wfs_code_call call = {
			.function = "run",
			.arguments = arguments,
			.host = &host,
			.caller = "alice",
			.artifact_id = "code",
			.method = "run",
			.seq = (uint64_t)i,
			.at_ns = INT64_C(1700000000123456789),
			.seed = {(uint8_t)i, 1, 2},
			.budget = &budget,
		};
		struct wfs_error call_error = {0};

		append_error(out, wfs_code_call(code, &call, &value, &call_error), &call_error);
		wfs_buffer_printf(out, " failure=%d used=%llu", (int)call.failure,
			(unsigned long long)budget.used);
		append_json(out, "value", value);
	}
}

/* The steps of a module, one after the other. */
struct steps {
	struct wfs_code *code;
	json_t *events[STEPS];
	struct wfs_lua_budget budget;
};

static struct wfs_code_step step_of(struct steps *steps, int i, struct wfs_bytes state)
{
	steps->budget = (struct wfs_lua_budget){.instructions = 300000};
	return (struct wfs_code_step){
		.state = state,
		.event = steps->events[i],
		.key = wfs_bytes_text("the key"),
		.reducer = "code",
		.schema = "test/Event@1",
		.principal = "alice",
		.seq = (uint64_t)i,
		.at_ns = INT64_C(1700000000123456789),
		.seed = {(uint8_t)i, 3, 4},
		.budget = &steps->budget,
	};
}

static void take_steps(struct steps *steps, struct wfs_buffer *out)
{
	WFS_AUTO_CODE_RESULT struct wfs_code_result result = {0};
	WFS_AUTO_BUFFER struct wfs_buffer state = {0};

	for (int i = 0; i < STEPS; i++) {
		struct wfs_code_step step = step_of(steps, i, wfs_buffer_bytes(&state));
		struct wfs_error error = {0};
		const int r = wfs_code_step(steps->code, &step, &result, &error);

		append_error(out, r, &error);
		wfs_buffer_printf(out, " used=%llu", (unsigned long long)steps->budget.used);
		if (r < 0)
			continue;
		wfs_buffer_printf(out, " deleted=%d state=", result.deleted);
		wfs_buffer_append(out, result.state.data, result.state.size);
		append_json(out, "events", result.events);
		append_json(out, "effects", result.effects);
		wfs_buffer_reset(&state);
		wfs_buffer_append(&state, result.state.data, result.state.size);
	}
}

/* Sends all steps ahead; each begins with the state that the one before gives. */
static void send_ahead(struct wfs_box *box, struct steps *steps)
{
	wfs_code_ahead_begin(box);
	for (int i = 0; i < STEPS; i++) {
		const struct wfs_code_step step = step_of(steps, i, WFS_BYTES(NULL, 0));
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_json_write(steps->events[i], &text);
		if (wfs_code_ahead_add(steps->code, &step, wfs_buffer_bytes(&text), i - 1) < 0)
			break;
	}
	wfs_code_ahead_run(box);
}

/* Return: are the results equal when the steps are sent ahead? */
static bool run_steps(struct wfs_box *box, const char *source, size_t size, struct wfs_buffer *out)
{
	struct steps steps = {.code = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer again = {0};
	struct wfs_error error = {0};
	const struct wfs_code_options options = {
		.limits = &limits,
		.name = "code",
		.source = WFS_BYTES(source, size),
		.functions = wfs_code_step_functions,
	};
	const int loaded = wfs_code_new(box, &options, &steps.code, &error);
	const size_t begin = out->size;
	bool equal = true;

	for (int i = 0; i < STEPS; i++)
		steps.events[i] = json_integer((json_int_t)i * 7);
	if (loaded == 0) {
		take_steps(&steps, out);
		send_ahead(box, &steps);
		take_steps(&steps, &again);
		wfs_code_ahead_begin(box);
		equal = wfs_bytes_equal(
			wfs_buffer_bytes(&again), WFS_BYTES(out->data + begin, out->size - begin));
	}
	append_error(out, loaded, &error);
	for (int i = 0; i < STEPS; i++)
		json_decref(steps.events[i]);
	wfs_code_free(steps.code);
	return equal;
}

/* --- the processor --- */

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	static char tunables[256] = "GLIBC_TUNABLES=";
	static char *environment[] = {tunables, NULL};
	const char *const given = getenv("GLIBC_TUNABLES"); /* NOLINT(concurrency-mt-unsafe) */
	long values[6];
	va_list arguments;

	va_start(arguments, number);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		values[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_execveat && given) {
		const size_t name = sizeof("GLIBC_TUNABLES=") - 1;

		snprintf(tunables + name, sizeof(tunables) - name, "%s", given);
		values[3] = (long)environment;
	}
	return __real_syscall(
		number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
/* NOLINTEND(readability-identifier-naming) */

static void print_line(unsigned long number, const struct wfs_buffer *out, bool full)
{
	const struct wfs_hash hash = wfs_hash_of(out->data, out->size);

	printf("%lu", number);
	if (full) {
		printf("%.*s", (int)out->size, out->data);
	} else {
		putchar(' ');
		for (size_t i = 0; i < sizeof(hash.bytes); i++)
			printf("%02x", hash.bytes[i]);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	FILE *const file = argc >= 2 ? fopen(argv[1], "re") : NULL;
	const bool full = argc == 3 && strcmp(argv[2], "--full") == 0;
	char *const source = malloc(SOURCE_MAX);
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	unsigned long number = 0;
	size_t size = 0;
	int status = 0;

	if (wfs_box_new(&box) < 0 || !file || !source || (argc == 3) != full || argc > 3) {
		fputs("usage: run-programs FILE [--full]\n", stderr);
		return 2;
	}
	while (fscanf(file, "%lu %zu", &number, &size) == 2) { /* NOLINT(cert-err34-c): sizes */
		WFS_AUTO_BUFFER struct wfs_buffer out = {0};

		if (size > SOURCE_MAX || fgetc(file) != '\n' ||
			fread(source, 1, size, file) != size) {
			fputs("run-programs: the file is cut short\n", stderr);
			return 1;
		}
		if (number % 2 == 0)
			run_program(box, source, size, &out);
		else if (!run_steps(box, source, size, &out)) {
			fprintf(stderr,
				"run-programs: program %lu: steps ahead give something else\n",
				number);
			status = 1;
		}
		print_line(number, &out, full);
	}
	free(source);
	(void)fclose(file);
	return status;
}
