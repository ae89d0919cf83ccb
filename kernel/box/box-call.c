/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of functions of code, which may ask the host while they run. */
#include "kernel/box/box-impl.h"

enum {
	CALLS_MORE = 100
}; /* code may exceed its bound a little, because the sandbox checks it only now and then */

/* A call in progress. */
struct calling {
	struct wfs_code *code;
	struct wfs_code_call *call;
	struct process *process;
	struct wfs_lua_run run;
	uint64_t asked_count; /* calls of the host's functions */
	int host_result;      /* negative: the host's failure, which ends the call */
	struct wfs_error host_error;
};

static void put_json(struct wfs_buffer *text, const json_t *json)
{
	if (json)
		wfs_json_write(json, text);
}

static int put_call(struct calling *calling)
{
	const struct wfs_code_call *const call = calling->call;
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	WFS_AUTO_BUFFER struct wfs_buffer deps = {0};
	/* The process only needs to know whether the call has a host. */
	struct wfs_lua_host host = {0};
	struct wfs_lua_call told = {
		.function = call->function,
		.host = call->host ? &host : NULL,
		.caller = call->caller,
		.origin = call->origin,
		.artifact_id = call->artifact_id,
		.method = call->method,
		.seq = call->seq,
		.at_ns = call->at_ns,
		.call_id = call->call_id,
		.tool_name = call->tool_name,
		.run_id = call->run_id,
		.turn = call->turn,
		.run = calling->run,
	};

	put_json(&arguments, call->arguments);
	if (arguments.size == 0)
		wfs_buffer_append_text(&arguments, "[]");
	put_json(&deps, call->deps);
	if (wfs_buffer_check(&arguments) || wfs_buffer_check(&deps))
		return -ENOMEM;
	told.arguments = wfs_buffer_bytes(&arguments);
	told.deps = wfs_buffer_bytes(&deps);
	box_seed_of(call->seed, told.seed);
	message_put_call(&calling->process->out, calling->code->id, &told);
	return 0;
}

/* Calls the host's function. Return: as the host; -EBADMSG: an impossible question */
static int ask_host(struct calling *calling, struct wfs_wire_reader *reader, json_t **ret_value,
	struct wfs_error *error)
{
	struct wfs_code *const code = calling->code;
	struct wfs_box *const box = code->box;
	struct wfs_code_host *const host = calling->call->host;
	WFS_AUTO_JSON json_t *arguments = NULL;
	int r = 0;

	if (!host || !box_get_run(reader, &calling->run))
		return -EBADMSG;
	/* The process may lie about its budget, but code could not pay for so many calls. */
	if (++calling->asked_count >
		code->options.limits.instructions / WFS_LUA_CHARGE_HOST + CALLS_MORE)
		return -EBADMSG;
	const uint64_t index = wfs_wire_get_number(reader);
	const struct wfs_bytes text = wfs_wire_get_bytes(reader);
	if (!wfs_wire_is_whole(reader) || index >= code->options.binding_count ||
		text.size > code->options.limits.output_bytes + BOX_SEND_OVERHEAD_BYTES)
		return -EBADMSG;
	r = wfs_json_parse_bounded(text.data, text.size, &arguments, error);
	if (r == -EFBIG)
		return 1;
	if (r < 0)
		return r == -EINVAL ? -EBADMSG : r;
	if (!json_is_array(arguments))
		return -EBADMSG;
	box->memory_left[box->depth] =
		calling->run.memory_left_bytes < code->options.limits.memory_bytes
		? calling->run.memory_left_bytes
		: code->options.limits.memory_bytes;
	box->depth++;
	calling->process->waits = true;
	r = host->call(host, (size_t)index, arguments, ret_value, error);
	calling->process->waits = false;
	box->depth--;
	return r;
}

/* Sends the host's answer to the process. @r: result of the host */
static int give(struct calling *calling, int r, const json_t *value, const struct wfs_error *error,
	struct wfs_wire_reader *ret_reader)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_buffer *const out = &calling->process->out;

	if (r == 0)
		put_json(&text, value);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	wfs_wire_begin(out, WFS_WIRE_GIVE);
	wfs_wire_put_number(out, r > 0);
	message_put_error(out, r < 0 ? r : 0, error);
	wfs_wire_put_bytes(out, wfs_buffer_bytes(&text));
	message_put_run(out, &calling->run);
	return box_exchange(calling->code, calling->process, ret_reader);
}

static int take_value(struct calling *calling, struct wfs_wire_reader *reader, json_t **ret_value,
	struct wfs_error *error)
{
	if (reader->kind != WFS_WIRE_DONE || !box_get_run(reader, &calling->run))
		return -EBADMSG;
	const struct wfs_bytes text = wfs_wire_get_bytes(reader);
	if (!wfs_wire_is_whole(reader) ||
		text.size > calling->code->options.limits.output_bytes + BOX_SEND_OVERHEAD_BYTES)
		return -EBADMSG;
	return box_get_json(calling->code, text, "the result", ret_value, error);
}

static int converse(struct calling *calling, json_t **ret_value, struct wfs_error *error)
{
	struct wfs_code *const code = calling->code;
	struct wfs_wire_reader reader;
	int r = put_call(calling);

	if (r == 0)
		r = box_exchange(code, calling->process, &reader);
	while (r == 0 && reader.kind == WFS_WIRE_ASK) {
		WFS_AUTO_JSON json_t *value = NULL;
		struct wfs_error failure = {0};
		const int asked = ask_host(calling, &reader, &value, &failure);

		if (asked == -EBADMSG) {
			r = asked;
			break;
		}
		if (asked < 0) {
			calling->host_result = asked;
			calling->host_error = failure;
		}
		r = give(calling, asked, value, &failure, &reader);
	}
	if (calling->host_result < 0) {
		if (r < 0 || reader.kind != WFS_WIRE_FAILED || !box_get_run(&reader, &calling->run))
			process_end(calling->process, &code->box->lock);
		/* The host has failed: this is why the call ends, whatever the process sends. */
		calling->run.failure = WFS_LUA_FAILURE_HOST;
		if (error)
			*error = calling->host_error;
		return calling->host_result;
	}
	if (r < 0)
		return box_give_up(code, calling->process, r, &calling->run.failure, error);
	if (reader.kind != WFS_WIRE_DONE)
		return box_take_failure(code, calling->process, &reader, &calling->run, error);
	r = take_value(calling, &reader, ret_value, error);
	return r == -EBADMSG ? box_give_up(code, calling->process, r, &calling->run.failure, error)
			     : r;
}

int wfs_code_call(struct wfs_code *code, struct wfs_code_call *call, json_t **ret_value,
	struct wfs_error *error)
{
	struct calling calling = {.code = code, .call = call, .run = {.budget = call->budget}};
	int r = box_ready(code, NULL, &calling.process, &calling.run, error);

	if (r == 0) {
		code->running++;
		r = converse(&calling, ret_value, error);
		code->running--;
		box_trim(calling.process);
	}
	call->failure = box_failure_of(&calling.run, r);
	return wfs_trace(r);
}
