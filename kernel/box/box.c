/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that run code, the modules in them, and checks of their answers. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "kernel/base/clock.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/log.h"
#include "kernel/box/box-impl.h"

#define USED_MAX \
	(UINT64_C(1) << 53) /* bound of budgets: months of work, and sums are exact in records */

const char *const wfs_code_step_functions[] = {"step", NULL};

/* --- the box --- */

int wfs_box_new(struct wfs_box **ret_box)
{
	struct wfs_box *const box = calloc(1, sizeof(*box));

	if (!box)
		return -ENOMEM;
	box->image_fd = -1;
	pthread_mutex_init(&box->lock, NULL);
	atomic_init(&box->end_ns, INT64_MAX);
	for (size_t i = 0; i < BOX_PROCESSES_MAX; i++) {
		box->processes[i].fd = -1;
		box->processes[i].end_ns = &box->end_ns;
	}
	*ret_box = box;
	return 0;
}

void wfs_box_free(struct wfs_box *box)
{
	if (!box)
		return;
	for (size_t i = 0; i < BOX_PROCESSES_MAX; i++) {
		process_end(&box->processes[i], &box->lock);
		free(box->processes[i].author);
		wfs_buffer_done(&box->processes[i].in);
		wfs_buffer_done(&box->processes[i].out);
	}
	wfs_buffer_done(&box->ahead.sent);
	wfs_buffer_done(&box->ahead.received);
	if (box->image_fd >= 0)
		close(box->image_fd);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

void wfs_box_interrupt(struct wfs_box *box)
{
	atomic_store(&box->interrupted, true);
	pthread_mutex_lock(&box->lock);
	for (size_t i = 0; i < BOX_PROCESSES_MAX; i++)
		if (box->processes[i].pid)
			(void)kill(box->processes[i].pid, SIGKILL);
	pthread_mutex_unlock(&box->lock);
}

void wfs_box_end(struct wfs_box *box, int64_t time_ns)
{
	atomic_store(&box->end_ns, time_ns);
}

static bool is_interrupted(const struct wfs_box *box)
{
	const int64_t end_ns = atomic_load(&box->end_ns);

	return atomic_load(&box->interrupted) ||
		(end_ns != INT64_MAX && wfs_clock_monotonic_ns() >= end_ns);
}

bool wfs_box_resume(struct wfs_box *box)
{
	const bool run_interrupted = box->run_interrupted;

	box->run_interrupted = false;
	if (!atomic_load(&box->interrupted))
		return run_interrupted;
	/* A process that was killed just now may live for a moment;
	 * the next code would seem to end it. */
	for (size_t i = 0; i < BOX_PROCESSES_MAX; i++)
		process_end(&box->processes[i], &box->lock);
	atomic_store(&box->interrupted, false);
	return run_interrupted;
}

void wfs_box_quarantine(struct wfs_box *box, struct wfs_quarantine *quarantine)
{
	box->quarantine = quarantine;
}

int wfs_box_pid(const struct wfs_box *box, size_t depth)
{
	return depth < WFS_BOX_DEPTH_MAX && box->at[depth] ? box->at[depth]->pid : 0;
}

/* --- failures --- */

int wfs_box_check(struct wfs_box *box, const char *name, struct wfs_error *error)
{
	if (!is_interrupted(box))
		return 0;
	const char *const reason = atomic_load(&box->interrupted) ? "for a more urgent request"
								  : "because no code runs any more";

	box->run_interrupted = true;
	return wfs_error_set(error, WFS_E_CANCELLED, "%s: stopped %s", name, reason);
}

/* Reports how a process ended, as far as the author can do something about it. */
static int crashed(const struct wfs_code *code, int status, struct wfs_error *error)
{
	if (WIFSIGNALED(status))
		return wfs_error_set(error, WFS_E_CODE_CRASHED,
			"%s: the process that runs code ended while it ran this code (signal %d)",
			code->name, WTERMSIG(status));
	return wfs_error_set(error, WFS_E_CODE_CRASHED,
		"%s: the process that runs code ended while it ran this code (exit status %d)",
		code->name, WEXITSTATUS(status));
}

static struct wfs_hash hash_of(const struct wfs_code *code)
{
	return wfs_hash_of(code->source, code->options.source.size);
}

/* Counts a crash. Logs the first one of a code with its author,
 * and the one that makes it refused. */
static void note_crash(const struct wfs_code *code)
{
	struct wfs_quarantine *const quarantine = code->box->quarantine;
	const struct wfs_hash hash = hash_of(code);

	if (!quarantine)
		return;
	const uint32_t crashes = wfs_quarantine_crashed(quarantine, &hash, code->name);
	if (crashes == 1)
		wfs_log(WFS_LOG_KERNEL, WFS_LOG_WARNING,
			"the code of '%s' ended the process that runs code: author='%s' code=%s",
			code->name, code->author ? code->author : "", WFS_HASH_TEXT(&hash));
	if (crashes == WFS_QUARANTINE_CRASHES)
		wfs_log(WFS_LOG_KERNEL, WFS_LOG_WARNING,
			"the code of '%s' is refused from now on: it ended that process %d times: "
			"code=%s",
			code->name, WFS_QUARANTINE_CRASHES, WFS_HASH_TEXT(&hash));
}

/* Is the code refused? Looks it up only if the set
 * of refused codes has changed since the last time. */
static bool is_refused(struct wfs_code *code)
{
	struct wfs_quarantine *const quarantine = code->box->quarantine;
	const uint64_t now = quarantine ? wfs_quarantine_generation(quarantine) : 0;

	if (code->passed == now)
		return false;
	const struct wfs_hash hash = hash_of(code);
	if (wfs_quarantine_refuses(quarantine, &hash))
		return true;
	code->passed = now;
	return false;
}

static int refused(const struct wfs_code *code, struct wfs_error *error)
{
	const struct wfs_hash hash = hash_of(code);

	return wfs_error_set(error, WFS_E_CODE_QUARANTINED,
		"%s: this code ended the process that runs code %d times; "
		"an administrator may let it run again: worldfs code lift %s",
		code->name, WFS_QUARANTINE_CRASHES, WFS_HASH_TEXT(&hash));
}

int box_give_up(struct wfs_code *code, struct process *process, int reason,
	enum wfs_lua_failure *ret_failure, struct wfs_error *error)
{
	const int status = process_end(process, &code->box->lock);

	*ret_failure = WFS_LUA_FAILURE_HOST;
	int r = wfs_box_check(code->box, code->name, error);
	if (r)
		return r;
	if (reason == -ENOMEM)
		return wfs_error_from_errno(error, reason, "run '%s'", code->name);
	if (reason == -ETIMEDOUT) {
		*ret_failure = WFS_LUA_FAILURE_BOUND;
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"%s: too much processor time for its instructions (huge values?)",
			code->name);
	}
	*ret_failure = WFS_LUA_FAILURE_CRASH;
	note_crash(code);
	if (reason == -EBADMSG)
		return wfs_error_set(error, WFS_E_CODE_CRASHED,
			"%s: the process that runs code gave an answer that cannot be", code->name);
	if (reason == -EDEADLK)
		return wfs_error_set(error, WFS_E_CODE_CRASHED,
			"%s: the process that runs code waits instead of giving an answer",
			code->name);
	return crashed(code, status, error);
}

static int unavailable(const char *what, int reason, struct wfs_error *error)
{
	if (reason == -ENOMEM)
		return wfs_error_from_errno(error, reason, "%s", what);
	return wfs_error_set(error, WFS_E_UNAVAILABLE, "%s: %s", what, strerrordesc_np(-reason));
}

/* --- requests to a process --- */

static bool is_by(const char *author, const char *other)
{
	return author && other ? strcmp(author, other) == 0 : author == other;
}

/* Chooses a process without a run: one of the author, otherwise one that can be ended for it. */
static struct process *choose(struct wfs_box *box, const char *author)
{
	struct process *unused = NULL;
	struct process *oldest = NULL;
	size_t idle_count = 0;

	for (size_t i = 0; i < BOX_PROCESSES_MAX; i++) {
		struct process *const process = &box->processes[i];

		if (process->waits)
			continue;
		if (process->pid && is_by(process->author, author))
			return process;
		if (!process->pid)
			unused = process;
		else if (!oldest || process->chosen < oldest->chosen)
			oldest = process;
		idle_count += process->pid != 0;
	}
	/* Fewer than BOX_PROCESSES_MAX - BOX_IDLE_MAX runs can wait, so one of the two exists. */
	return idle_count < BOX_IDLE_MAX && unused ? unused : oldest;
}

/* Ends a process, and assigns it to another author. */
static int hand_to(struct wfs_box *box, struct process *process, const char *author)
{
	char *const copy = author ? strdup(author) : NULL;

	if (author && !copy)
		return -ENOMEM;
	process_end(process, &box->lock);
	free(process->author);
	process->author = copy;
	return 0;
}

/* Chooses and starts the process for the next run. */
static int process_ready(
	struct wfs_code *code, struct process **ret_process, struct wfs_error *error)
{
	struct wfs_box *const box = code->box;
	struct process *const process = choose(box, code->author);
	int r = is_by(process->author, code->author) ? 0 : hand_to(box, process, code->author);

	if (r < 0)
		return wfs_error_from_errno(error, r, "start the process that runs code");
	process->chosen = ++box->run_count;
	box->at[box->depth] = process;
	*ret_process = process;
	if (box->image_fd < 0) {
		r = process_image();
		if (r < 0)
			return unavailable("make a file of the program that runs code", r, error);
		box->image_fd = r;
	}
	/* Between two runs the process may have ended: for lack of memory, by an administrator, or
	 * because code had taken it over. Such code may also have sent an answer in advance. The
	 * code of this run is not to blame for any of that. */
	if (process->pid && !process_is_quiet(process))
		process_end(process, &box->lock);
	if (!process->pid) {
		r = process_start(process, box->image_fd, &box->lock);
		if (r < 0 && wfs_box_check(box, code->name, error))
			return -EINTR;
		if (r < 0)
			return unavailable("start the process that runs code", r, error);
	}
	return 0;
}

int box_exchange(struct wfs_code *code, struct process *process, struct wfs_wire_reader *ret_reader)
{
	int r = 0;

	/* An interruption during the start did not kill the process, whose pid was not set yet. */
	if (is_interrupted(code->box))
		return -EINTR;
	process->time_limit_ns = wfs_lua_time_limit_ns(code->options.limits.instructions);
	r = process_send(process);
	/* If it ended during the send, receiving reports that. */
	return r < 0 && r != -ECONNRESET ? r : process_receive(process, ret_reader);
}

bool box_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run)
{
	struct wfs_lua_budget told = {0};
	struct wfs_lua_run said = {.budget = &told};
	struct wfs_lua_budget *const budget = run->budget;

	message_get_run(reader, &said);
	if (reader->bad || (said.budget != NULL) != (budget != NULL))
		return false;
	/* Only a FAILED message has a failure; ignore what the process writes into others. */
	run->failure = reader->kind == WFS_WIRE_FAILED ? said.failure : WFS_LUA_FAILURE_NONE;
	run->memory_left_bytes = said.memory_left_bytes;
	if (!budget)
		return true;
	if (told.used < budget->used || told.step_count < budget->step_count ||
		told.time_used_ns < budget->time_used_ns || told.used > USED_MAX ||
		told.step_count > USED_MAX || told.time_used_ns > INT64_MAX / 2)
		return false;
	told.instructions = budget->instructions;
	*budget = told;
	return true;
}

/* Reads a failure of the sandbox. Return: its -errno, or 0: the failure is impossible */
static int get_failure(const struct wfs_code *code, struct wfs_wire_reader *reader,
	struct wfs_lua_run *run, struct wfs_error *ret_error)
{
	int r = 0;

	if (!box_get_run(reader, run))
		return 0;
	r = message_get_error(reader, ret_error);
	if (!wfs_wire_is_whole(reader) || run->failure == WFS_LUA_FAILURE_CRASH)
		return 0;
	if (r == -ENOMEM) { /* with any code and message */
		run->failure = WFS_LUA_FAILURE_HOST;
		return wfs_error_from_errno(ret_error, r, "run '%s'", code->name);
	}
	if (run->failure == WFS_LUA_FAILURE_NONE || -wfs_error_info(ret_error->code)->number != r)
		return 0;
	/* HOST: a value for the code was not canonical. */
	if (run->failure == WFS_LUA_FAILURE_HOST)
		return ret_error->code == WFS_E_INTERNAL_ERROR ? r : 0;
	return ret_error->code == WFS_E_RUNTIME_ERROR || ret_error->code == WFS_E_SYNTAX_ERROR ? r
											       : 0;
}

int box_take_failure(struct wfs_code *code, struct process *process, struct wfs_wire_reader *reader,
	struct wfs_lua_run *run, struct wfs_error *error)
{
	struct wfs_error failure = {0};
	int r = reader->kind == WFS_WIRE_FAILED ? get_failure(code, reader, run, &failure) : 0;

	if (r == 0)
		return box_give_up(code, process, -EBADMSG, &run->failure, error);
	if (error)
		*error = failure;
	return r;
}

int box_get_json(const struct wfs_code *code, struct wfs_bytes text, const char *what,
	json_t **ret_json, struct wfs_error *error)
{
	int r = wfs_json_parse_bounded(text.data, text.size, ret_json, error);

	if (r == -EFBIG)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
			"%s: more than %d values of JSON in %s", code->name, WFS_JSON_VALUES_MAX,
			what);
	return r == -EINVAL ? -EBADMSG : r;
}

void box_trim(struct process *process)
{
	wfs_buffer_trim(&process->in, BOX_MESSAGE_KEPT_BYTES);
	wfs_buffer_trim(&process->out, BOX_MESSAGE_KEPT_BYTES);
}

/* --- modules in a process --- */

static size_t module_bytes(const struct wfs_code *code)
{
	return WFS_LUA_MODULE_BYTES + code->options.source.size * WFS_LUA_MODULE_BYTES_SOURCE;
}

/* Drops the module of a process that was not used for the longest time.
 * Return: as box_exchange() */
static int drop_oldest(struct wfs_code *code, struct process *process)
{
	struct wfs_wire_reader reader;
	size_t oldest = 0;
	int r = 0;

	for (size_t i = 1; i < process->module_count; i++)
		if (process->modules[i].used < process->modules[oldest].used)
			oldest = i;
	wfs_wire_begin(&process->out, WFS_WIRE_DROP);
	wfs_wire_put_number(&process->out, process->modules[oldest].id);
	process->modules[oldest] = process->modules[--process->module_count];
	r = box_exchange(code, process, &reader);
	return r < 0 || (reader.kind == WFS_WIRE_DONE && wfs_wire_is_whole(&reader)) ? r : -EBADMSG;
}

static size_t modules_bytes(const struct process *process)
{
	size_t bytes = 0;

	for (size_t i = 0; process->pid && i < process->module_count; i++)
		bytes += process->modules[i].bytes;
	return bytes;
}

static bool is_full(const struct process *process, size_t more_bytes)
{
	return process->module_count > 0 &&
		(process->module_count == PROCESS_MODULES_MAX ||
			modules_bytes(process) + more_bytes > PROCESS_MODULES_BYTES);
}

/* Ends idle processes of other authors, the longest idle first,
 * while all modules take too much memory. */
static void end_oldest(struct wfs_box *box, const struct process *in_use)
{
	for (;;) {
		struct process *oldest = NULL;
		size_t bytes = 0;

		for (size_t i = 0; i < BOX_PROCESSES_MAX; i++) {
			struct process *const process = &box->processes[i];

			if (process == in_use || !process->pid)
				continue;
			bytes += modules_bytes(process);
			if (!process->waits && (!oldest || process->chosen < oldest->chosen))
				oldest = process;
		}
		if (bytes <= BOX_MODULES_BYTES || !oldest)
			return;
		process_end(oldest, &box->lock);
	}
}

static bool has_module(struct process *process, uint64_t id)
{
	for (size_t i = 0; i < process->module_count; i++) {
		if (process->modules[i].id != id)
			continue;
		process->modules[i].used = ++process->use_count;
		return true;
	}
	return false;
}

/* Loads a module. @functions: one of which it must define; NULL: not checked */
static int load(struct wfs_code *code, struct process *process, const char *const *functions,
	struct wfs_lua_run *run, struct wfs_error *error)
{
	struct wfs_lua_options options = code->options;
	struct wfs_wire_reader reader = {0};
	int r = 0;

	end_oldest(code->box, process);
	while (r == 0 && is_full(process, module_bytes(code)))
		r = drop_oldest(code, process);
	options.functions = functions;
	if (r == 0) {
		message_put_load(&process->out, code->id, &options, run);
		r = box_exchange(code, process, &reader);
	}
	if (r < 0)
		return box_give_up(code, process, r, &run->failure, error);
	if (reader.kind != WFS_WIRE_DONE || !box_get_run(&reader, run) ||
		!wfs_wire_is_whole(&reader))
		return box_take_failure(code, process, &reader, run, error);
	process->modules[process->module_count++] = (struct process_module){
		.id = code->id, .bytes = module_bytes(code), .used = ++process->use_count};
	return 0;
}

int box_ready(struct wfs_code *code, const char *const *functions, struct process **ret_process,
	struct wfs_lua_run *run, struct wfs_error *error)
{
	struct wfs_box *const box = code->box;
	int r = wfs_box_check(box, code->name, error);

	run->failure = WFS_LUA_FAILURE_HOST;
	if (r)
		return r;
	if (is_refused(code)) {
		run->failure = WFS_LUA_FAILURE_CRASH;
		return refused(code, error);
	}
	if (box->depth == WFS_BOX_DEPTH_MAX)
		return wfs_error_set(error, WFS_E_DEPTH_EXCEEDED,
			"%s: more than %d calls within calls", code->name, WFS_BOX_DEPTH_MAX);
	r = process_ready(code, ret_process, error);
	if (r < 0)
		return wfs_trace(r);
	if (box->depth > 0) {
		const size_t left = box->memory_left[box->depth - 1];

		run->memory_bytes = left > 0 ? left : 1; /* 0 would mean unbounded */
	}
	run->failure = WFS_LUA_FAILURE_NONE;
	if (has_module(*ret_process, code->id))
		return 0;
	r = load(code, *ret_process, functions, run, error);
	box_trim(*ret_process);
	return r;
}

/* --- code --- */

static int copy(struct wfs_code *code, const struct wfs_code_options *options)
{
	code->name = strndup(options->name, strlen(options->name));
	code->source = malloc(options->source.size + 1);
	code->author = options->author ? strndup(options->author, strlen(options->author)) : NULL;
	if (!code->name || !code->source || (options->author && !code->author))
		return -ENOMEM;
	if (options->source.size > 0)
		memcpy(code->source, options->source.data, options->source.size);
	code->options = (struct wfs_lua_options){
		.program = options->program,
		.limits = *options->limits,
		.name = code->name,
		.source = WFS_BYTES(code->source, options->source.size),
		.bindings = options->bindings,
		.binding_count = options->binding_count,
	};
	return 0;
}

int wfs_code_new(struct wfs_box *box, const struct wfs_code_options *options,
	struct wfs_code **ret_code, struct wfs_error *error)
{
	WFS_AUTO_CODE struct wfs_code *code = calloc(1, sizeof(*code));
	struct wfs_lua_run run = {.budget = options->budget};
	struct process *process = NULL;
	int r = 0;

	if (options->source.size > WFS_LUA_SOURCE_MAX) {
		if (options->ret_failure)
			*options->ret_failure = WFS_LUA_FAILURE_CODE;
		return wfs_error_set(error, WFS_E_SYNTAX_ERROR,
			"%s: %zu bytes, the greatest size of a module is %d", options->name,
			options->source.size, (int)WFS_LUA_SOURCE_MAX);
	}
	if (!code || copy(code, options) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "load '%s'", options->name);
	code->box = box;
	code->id = ++box->last_id;
	if (options->functions)
		r = box_ready(code, options->functions, &process, &run, error);
	if (options->ret_failure)
		*options->ret_failure = run.failure;
	if (r < 0)
		return wfs_trace(r);
	*ret_code = WFS_STEAL(code);
	return 0;
}

void wfs_code_free(struct wfs_code *code)
{
	if (!code)
		return;
	wfs_require(code->running == 0);
	/* Processes that have the module drop it when they need the room. */
	free(code->source);
	free(code->author);
	free(code->name);
	free(code);
}

bool wfs_code_is_by(const struct wfs_code *code, const char *author)
{
	return is_by(code->author, author);
}

bool wfs_code_is_running(const struct wfs_code *code)
{
	return code->running > 0;
}

void box_seed_of(const uint8_t seed[static 32], uint8_t ret_seed[static 32])
{
	const struct wfs_hash hash = wfs_hash_of(seed, WFS_HASH_SIZE);

	memcpy(ret_seed, hash.bytes, WFS_HASH_SIZE);
}

enum wfs_lua_failure box_failure_of(const struct wfs_lua_run *run, int r)
{
	if (r == 0 || run->failure != WFS_LUA_FAILURE_NONE)
		return r == 0 ? WFS_LUA_FAILURE_NONE : run->failure;
	return r == -ENOMEM ? WFS_LUA_FAILURE_HOST : WFS_LUA_FAILURE_CODE;
}
