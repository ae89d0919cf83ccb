/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of each message. */
#include "kernel/box/message.h"

#include <stdio.h>

#include "kernel/base/encode.h"

static void put_seed(struct wfs_buffer *frame, const uint8_t seed[static 32])
{
	wfs_wire_put_bytes(frame, WFS_BYTES(seed, 32));
}

static void get_seed(struct wfs_wire_reader *reader, uint8_t ret_seed[static 32])
{
	const struct wfs_bytes bytes = wfs_wire_get_bytes(reader);

	if (bytes.size == 32)
		memcpy(ret_seed, bytes.data, 32);
	else
		reader->bad = true;
}

/* --- a run --- */

void message_put_run(struct wfs_buffer *frame, const struct wfs_lua_run *run)
{
	wfs_wire_put_number(frame, run->memory_bytes);
	wfs_wire_put_number(frame, run->memory_left_bytes);
	wfs_wire_put_number(frame, run->failure);
	wfs_wire_put_number(frame, run->budget != NULL);
	if (!run->budget)
		return;
	wfs_wire_put_number(frame, run->budget->instructions);
	wfs_wire_put_number(frame, run->budget->used);
	wfs_wire_put_number(frame, run->budget->step_count);
	wfs_wire_put_number(frame, run->budget->time_used_ns);
}

/* Writes the budget to what run->budget points to. */
void message_get_run(struct wfs_wire_reader *reader, struct wfs_lua_run *run)
{
	run->memory_bytes = wfs_wire_get_number(reader);
	run->memory_left_bytes = wfs_wire_get_number(reader);
	const uint64_t failure = wfs_wire_get_number(reader);
	if (failure >= WFS_LUA_FAILURE_COUNT)
		reader->bad = true;
	else
		run->failure = (enum wfs_lua_failure)failure;
	if (wfs_wire_get_number(reader) == 0) {
		run->budget = NULL;
		return;
	}
	struct wfs_lua_budget budget;
	budget.instructions = wfs_wire_get_number(reader);
	budget.used = wfs_wire_get_number(reader);
	budget.step_count = wfs_wire_get_number(reader);
	budget.time_used_ns = wfs_wire_get_number(reader);
	if (run->budget)
		*run->budget = budget;
	else
		reader->bad = true;
}

/* --- a module --- */

void message_put_load(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_options *options,
	const struct wfs_lua_run *run)
{
	wfs_wire_begin(frame, WFS_WIRE_LOAD);
	wfs_wire_put_number(frame, id);
	wfs_wire_put_number(frame, options->program);
	wfs_wire_put_number(frame, options->limits.instructions);
	wfs_wire_put_number(frame, options->limits.memory_bytes);
	wfs_wire_put_number(frame, options->limits.output_bytes);
	wfs_wire_put_text(frame, options->name);
	wfs_wire_put_bytes(frame, options->source);
	for (const char *const *name = options->functions; name && *name; name++)
		wfs_wire_put_text(frame, *name);
	wfs_wire_put_text(frame, NULL);
	for (size_t i = 0; i < options->binding_count; i++) {
		wfs_wire_put_text(frame, options->bindings[i].name);
		wfs_wire_put_text(frame, options->bindings[i].table);
		wfs_wire_put_number(frame, options->bindings[i].gives_module);
	}
	wfs_wire_put_text(frame, NULL);
	message_put_run(frame, run);
}

static void get_names(struct wfs_wire_reader *reader, struct message_load *load)
{
	size_t count = 0;
	const char *name = NULL;

	while (!reader->bad && (name = wfs_wire_get_text(reader))) {
		if (count == WFS_MESSAGE_FUNCTIONS_MAX)
			reader->bad = true;
		else
			load->functions[count++] = name;
	}
	load->options.functions = count > 0 ? load->functions : NULL;
}

static void get_bindings(struct wfs_wire_reader *reader, struct message_load *load)
{
	size_t count = 0;
	struct wfs_lua_binding binding;

	while (!reader->bad && (binding.name = wfs_wire_get_text(reader))) {
		binding.table = wfs_wire_get_text(reader);
		binding.gives_module = wfs_wire_get_number(reader) != 0;
		if (count == WFS_MESSAGE_BINDINGS_MAX)
			reader->bad = true;
		else
			load->bindings[count++] = binding;
	}
	load->options.bindings = load->bindings;
	load->options.binding_count = count;
}

bool message_get_load(struct wfs_wire_reader *reader, struct message_load *ret_load)
{
	*ret_load = (struct message_load){
		.id = wfs_wire_get_number(reader),
		.run.budget = &ret_load->budget,
	};
	struct wfs_lua_options *const options = &ret_load->options;

	options->program = wfs_wire_get_number(reader) != 0;
	options->limits.instructions = wfs_wire_get_number(reader);
	options->limits.memory_bytes = wfs_wire_get_number(reader);
	options->limits.output_bytes = wfs_wire_get_number(reader);
	options->name = wfs_wire_get_text(reader);
	options->source = wfs_wire_get_bytes(reader);
	get_names(reader, ret_load);
	get_bindings(reader, ret_load);
	message_get_run(reader, &ret_load->run);
	return wfs_wire_is_whole(reader) && options->name;
}

/* --- a step --- */

static void put_step(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_step *step)
{
	wfs_wire_put_number(frame, id);
	wfs_wire_put_bytes(frame, step->state);
	wfs_wire_put_bytes(frame, step->event);
	wfs_wire_put_bytes(frame, step->key);
	wfs_wire_put_text(frame, step->reducer);
	wfs_wire_put_text(frame, step->schema);
	wfs_wire_put_text(frame, step->principal);
	wfs_wire_put_number(frame, step->seq);
	wfs_wire_put_number(frame, (uint64_t)step->at_ns);
	put_seed(frame, step->seed);
	message_put_run(frame, &step->run);
}

static void get_step(struct wfs_wire_reader *reader, struct message_step *ret_step)
{
	*ret_step = (struct message_step){
		.id = wfs_wire_get_number(reader),
		.step.run.budget = &ret_step->budget,
	};
	struct wfs_lua_step *const step = &ret_step->step;

	step->state = wfs_wire_get_bytes(reader);
	step->event = wfs_wire_get_bytes(reader);
	step->key = wfs_wire_get_bytes(reader);
	step->reducer = wfs_wire_get_text(reader);
	step->schema = wfs_wire_get_text(reader);
	step->principal = wfs_wire_get_text(reader);
	step->seq = wfs_wire_get_number(reader);
	step->at_ns = (int64_t)wfs_wire_get_number(reader);
	get_seed(reader, step->seed);
	message_get_run(reader, &step->run);
}

void message_put_step(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_step *step)
{
	wfs_wire_begin(frame, WFS_WIRE_STEP);
	put_step(frame, id, step);
}

bool message_get_step(struct wfs_wire_reader *reader, struct message_step *ret_step)
{
	get_step(reader, ret_step);
	return wfs_wire_is_whole(reader);
}

void message_put_one_step(
	struct wfs_buffer *frame, uint64_t id, uint64_t state_of, const struct wfs_lua_step *step)
{
	wfs_wire_put_number(frame, state_of);
	put_step(frame, id, step);
}

bool message_get_one_step(
	struct wfs_wire_reader *reader, struct message_step *ret_step, uint64_t *ret_state_of)
{
	*ret_state_of = wfs_wire_get_number(reader);
	get_step(reader, ret_step);
	return !reader->bad;
}

/* --- a call --- */

void message_put_call(struct wfs_buffer *frame, uint64_t id, const struct wfs_lua_call *call)
{
	wfs_wire_begin(frame, WFS_WIRE_CALL);
	wfs_wire_put_number(frame, id);
	wfs_wire_put_number(frame, call->host != NULL);
	wfs_wire_put_text(frame, call->function);
	wfs_wire_put_bytes(frame, call->arguments);
	wfs_wire_put_bytes(frame, call->deps);
	wfs_wire_put_text(frame, call->caller);
	wfs_wire_put_text(frame, call->origin);
	wfs_wire_put_text(frame, call->artifact_id);
	wfs_wire_put_text(frame, call->method);
	wfs_wire_put_number(frame, call->seq);
	wfs_wire_put_number(frame, (uint64_t)call->at_ns);
	put_seed(frame, call->seed);
	wfs_wire_put_text(frame, call->call_id);
	wfs_wire_put_text(frame, call->tool_name);
	wfs_wire_put_text(frame, call->run_id);
	wfs_wire_put_number(frame, (uint64_t)call->turn);
	message_put_run(frame, &call->run);
}

bool message_get_call(struct wfs_wire_reader *reader, struct message_call *ret_call)
{
	*ret_call = (struct message_call){.call.run.budget = &ret_call->budget};
	struct wfs_lua_call *const call = &ret_call->call;

	ret_call->id = wfs_wire_get_number(reader);
	ret_call->has_host = wfs_wire_get_number(reader) != 0;
	call->function = wfs_wire_get_text(reader);
	call->arguments = wfs_wire_get_bytes(reader);
	call->deps = wfs_wire_get_bytes(reader);
	call->caller = wfs_wire_get_text(reader);
	call->origin = wfs_wire_get_text(reader);
	call->artifact_id = wfs_wire_get_text(reader);
	call->method = wfs_wire_get_text(reader);
	call->seq = wfs_wire_get_number(reader);
	call->at_ns = (int64_t)wfs_wire_get_number(reader);
	get_seed(reader, call->seed);
	call->call_id = wfs_wire_get_text(reader);
	call->tool_name = wfs_wire_get_text(reader);
	call->run_id = wfs_wire_get_text(reader);
	call->turn = (int64_t)wfs_wire_get_number(reader);
	message_get_run(reader, &call->run);
	return wfs_wire_is_whole(reader) && call->function;
}

/* --- a failure --- */

void message_put_error(struct wfs_buffer *frame, int r, const struct wfs_error *error)
{
	wfs_wire_put_number(frame, (uint64_t) - (int64_t)r);
	wfs_wire_put_number(frame, error->code);
	wfs_wire_put_text(frame, error->message);
}

int message_get_error(struct wfs_wire_reader *reader, struct wfs_error *ret_error)
{
	const uint64_t number = wfs_wire_get_number(reader);
	const uint64_t code = wfs_wire_get_number(reader);
	const char *const message = wfs_wire_get_text(reader);

	if (!message || code >= WFS_ERROR_CODE_COUNT || number > INT32_MAX) {
		reader->bad = true;
		return 0;
	}
	ret_error->code = (enum wfs_error_code)code;
	snprintf(ret_error->message, sizeof(ret_error->message), "%s", message);
	wfs_utf8_clean(ret_error->message, strlen(ret_error->message));
	return -(int)number;
}
