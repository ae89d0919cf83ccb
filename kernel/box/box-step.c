/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of reducers: one at a time, or many ahead. */
#include "kernel/box/box-impl.h"

_Static_assert(
	(int)WFS_CODE_AHEAD_MAX == (int)WFS_MESSAGE_STEPS_MAX, "a frame holds all steps ahead");

static bool get_stepped(const struct wfs_code *code, struct wfs_wire_reader *reader,
	struct wfs_lua_run *run, struct wfs_lua_result *ret)
{
	const uint64_t most = code->options.limits.output_bytes;

	if (!box_get_run(reader, run))
		return false;
	const uint64_t deleted = wfs_wire_get_number(reader);
	ret->deleted = deleted == 1;
	ret->state = wfs_wire_get_bytes(reader);
	ret->events = wfs_wire_get_bytes(reader);
	ret->effects = wfs_wire_get_bytes(reader);
	return !reader->bad && deleted <= 1 && ret->state.size <= most &&
		ret->events.size <= most && ret->effects.size <= most &&
		(ret->deleted ? ret->state.size == 0 : wfs_json_is_canonical(ret->state));
}

static int get_list(const struct wfs_code *code, struct wfs_bytes text, const char *what,
	json_t **ret_list, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *list = NULL;
	int r = text.size > 0 ? box_get_json(code, text, what, &list, error) : 0;

	if (r < 0)
		return r;
	if (list && !json_is_array(list))
		return -EBADMSG;
	*ret_list = WFS_STEAL(list);
	return 0;
}

static int keep(const struct wfs_code *code, const struct wfs_lua_result *stepped,
	struct wfs_code_result *result, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *events = NULL;
	WFS_AUTO_JSON json_t *effects = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer state = {0};
	int r = get_list(code, stepped->events, "events", &events, error);

	if (r == 0)
		r = get_list(code, stepped->effects, "effects", &effects, error);
	if (r < 0)
		return r;
	/* Reuses the old buffer; only its growth can fail from here on. */
	state = result->state;
	result->state = (struct wfs_buffer){0};
	wfs_buffer_reset(&state);
	if (!stepped->deleted) {
		wfs_buffer_append(&state, stepped->state.data, stepped->state.size);
		wfs_buffer_append_byte(&state, '\n');
	}
	r = wfs_buffer_check(&state);
	if (r < 0)
		return wfs_error_from_errno(error, r, "keep the new state");
	wfs_code_result_done(result);
	result->state = state;
	state = (struct wfs_buffer){0};
	result->deleted = stepped->deleted;
	result->events = WFS_STEAL(events);
	result->effects = WFS_STEAL(effects);
	return 0;
}

/* Drops the newline at the end of a cell's document, which a state from a step ahead does not have:
 * what code is charged for its state must not depend on where the state comes from. */
static struct wfs_bytes text_of(struct wfs_bytes document)
{
	const char *const text = document.data;

	document.size -= document.size > 0 && text[document.size - 1] == '\n';
	return document;
}

/* @event: canonical text */
static struct wfs_lua_step told_of(
	const struct wfs_code_step *step, struct wfs_bytes event, struct wfs_lua_run run)
{
	struct wfs_lua_step told = {
		.state = text_of(step->state),
		.event = event,
		.key = step->key,
		.reducer = step->reducer,
		.schema = step->schema,
		.principal = step->principal,
		.seq = step->seq,
		.at_ns = step->at_ns,
		.run = run,
	};

	box_seed_of(step->seed, told.seed);
	return told;
}

static int put_step(const struct wfs_code *code, struct process *process,
	const struct wfs_code_step *step, struct wfs_lua_run run)
{
	WFS_AUTO_BUFFER struct wfs_buffer event = {0};

	wfs_json_write(step->event, &event);
	if (wfs_buffer_check(&event))
		return -ENOMEM;
	const struct wfs_lua_step told = told_of(step, wfs_buffer_bytes(&event), run);
	message_put_step(&process->out, code->id, &told);
	return 0;
}

/* Sends the step to the process, and waits for its result. */
static int step_now(struct wfs_code *code, const struct wfs_code_step *step,
	struct wfs_lua_run *run, struct wfs_code_result *result, struct wfs_error *error)
{
	struct process *process = NULL;
	struct wfs_wire_reader reader;
	struct wfs_lua_result stepped;
	int r = box_ready(code, NULL, &process, run, error);

	if (r < 0)
		return wfs_trace(r);
	r = put_step(code, process, step, *run);
	if (r == 0)
		r = box_exchange(code, process, &reader);
	if (r < 0)
		r = box_give_up(code, process, r, &run->failure, error);
	else if (reader.kind != WFS_WIRE_DONE || !get_stepped(code, &reader, run, &stepped) ||
		!wfs_wire_is_whole(&reader))
		r = box_take_failure(code, process, &reader, run, error);
	else
		r = keep(code, &stepped, result, error);
	if (r == -EBADMSG)
		r = box_give_up(code, process, r, &run->failure, error);
	box_trim(process);
	return wfs_trace(r);
}

/* --- steps ahead --- */

void wfs_code_ahead_begin(struct wfs_box *box)
{
	box->ahead.count = 0;
	box->ahead.next = 0;
	box->ahead.taken = 0;
	wfs_buffer_trim(&box->ahead.sent, BOX_MESSAGE_KEPT_BYTES);
	wfs_buffer_trim(&box->ahead.received, BOX_MESSAGE_KEPT_BYTES);
}

size_t wfs_code_ahead_taken(const struct wfs_box *box)
{
	return box->ahead.taken;
}

uint64_t wfs_code_ahead_work(const struct wfs_box *box)
{
	uint64_t work = 0;

	for (size_t i = 0; i < box->ahead.count; i++)
		work += box->ahead.steps[i].done ? box->ahead.steps[i].budget.used : 0;
	return work;
}

int wfs_code_ahead_add(struct wfs_code *code, const struct wfs_code_step *step,
	struct wfs_bytes event_text, int state_of)
{
	const size_t number = sizeof(uint64_t);
	struct ahead *const ahead = &code->box->ahead;
	struct ahead_step *const own = &ahead->steps[ahead->count];
	struct wfs_lua_budget budget = *step->budget;
	struct wfs_lua_run run = {.budget = &budget};
	struct wfs_lua_step told = told_of(step, event_text, run);
	const size_t sent_bytes = ahead->count > 0 ? ahead->sent.size : 0;

	wfs_require(ahead->count < WFS_CODE_AHEAD_MAX && state_of < (int)ahead->count);
	if (state_of >= 0)
		told.state = WFS_BYTES(NULL, 0);
	if (sent_bytes + told.state.size + event_text.size > WFS_CODE_AHEAD_BYTES_MAX)
		return -EFBIG;
	if (ahead->count == 0) {
		wfs_wire_begin(&ahead->sent, WFS_WIRE_STEPS);
		wfs_wire_put_number(&ahead->sent, 0); /* the count, filled in later */
	}
	*own = (struct ahead_step){
		.code = code,
		.event = step->event,
		.seq = step->seq,
		.at_ns = step->at_ns,
		.instructions = budget.instructions,
		.state_of = state_of,
		.state_at =
			ahead->sent.size + 3 * number, /* after state_of, the id and its own size */
		.state_size = told.state.size,
		.key_size = told.key.size,
		.key_at = ahead->sent.size + 5 * number + told.state.size + 1 + event_text.size + 1,
	};
	memcpy(own->seed, step->seed, sizeof(own->seed));
	message_put_one_step(
		&ahead->sent, code->id, state_of < 0 ? 0 : (uint64_t)state_of + 1, &told);
	ahead->count++;
	return wfs_buffer_check(&ahead->sent);
}

/* Loads missing modules. Reducers are code of the world, so all modules are in one process.
 * Return: 0, or -errno: no step can be run ahead */
static int load_all(struct wfs_box *box, struct process **ret_process)
{
	const struct ahead_step *const steps = box->ahead.steps;

	for (size_t i = 0; i < box->ahead.count; i++) {
		struct wfs_lua_run run = {.budget = NULL};

		/* Skip what was just loaded: box_ready() takes a system call. */
		if (i > 0 && steps[i].code == steps[i - 1].code)
			continue;
		const int r = box_ready(steps[i].code, NULL, ret_process, &run, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Reads the results of all steps. Return: false: the frame is impossible */
static bool get_ahead(struct wfs_box *box, struct wfs_wire_reader *reader)
{
	struct ahead *const ahead = &box->ahead;

	for (size_t i = 0; i < ahead->count && !reader->bad; i++) {
		struct ahead_step *const step = &ahead->steps[i];
		const uint64_t done = wfs_wire_get_number(reader);

		if (done > 1)
			return false;
		if (!done)
			continue;
		step->budget = (struct wfs_lua_budget){.instructions = step->instructions};
		struct wfs_lua_run run = {.budget = &step->budget};
		if (!get_stepped(step->code, reader, &run, &step->result))
			return false;
		step->done = true;
	}
	return reader->kind == WFS_WIRE_DONE && wfs_wire_is_whole(reader);
}

void wfs_code_ahead_run(struct wfs_box *box)
{
	struct ahead *const ahead = &box->ahead;
	struct process *process = NULL;
	const uint64_t count = ahead->count;
	struct wfs_wire_reader reader;
	struct wfs_buffer spare;
	int r = count > 1 ? load_all(box, &process) : -ENODATA;

	if (r < 0) {
		wfs_code_ahead_begin(box);
		return;
	}
	memcpy(ahead->sent.data + sizeof(struct wfs_wire_header), &count, sizeof(count));
	spare = process->out;
	process->out = ahead->sent;
	r = box_exchange(ahead->steps[0].code, process, &reader);
	ahead->sent = process->out;
	process->out = spare;
	if (r == 0 && !get_ahead(box, &reader))
		r = -EBADMSG;
	/* The results stay in this buffer until they are taken. */
	spare = ahead->received;
	ahead->received = process->in;
	process->in = spare;
	if (r < 0) {
		/* Whichever step it was fails again, by itself, when it is asked for. */
		process_end(process, &box->lock);
		for (size_t i = 0; i < ahead->count; i++)
			ahead->steps[i].done = false;
	}
}

static bool is_same(const struct ahead *ahead, const struct ahead_step *step,
	const struct wfs_code *code, const struct wfs_code_step *asked)
{
	struct wfs_bytes state = WFS_BYTES(ahead->sent.data + step->state_at, step->state_size);

	if (!step->done || step->code != code || step->event != asked->event ||
		step->seq != asked->seq || step->at_ns != asked->at_ns || !asked->budget ||
		asked->budget->instructions != step->instructions || asked->budget->used != 0 ||
		asked->budget->step_count != 0 || asked->budget->time_used_ns != 0 ||
		memcmp(step->seed, asked->seed, sizeof(step->seed)) != 0)
		return false;
	if (step->state_of >= 0)
		state = ahead->steps[step->state_of].result.state;
	return wfs_bytes_equal(state, text_of(asked->state)) &&
		wfs_bytes_equal(
			WFS_BYTES(ahead->sent.data + step->key_at, step->key_size), asked->key);
}

/* Takes the result of a step ahead. Return: 1 without one, otherwise as keep() */
static int take_ahead(struct wfs_code *code, const struct wfs_code_step *step,
	struct wfs_code_result *result, struct wfs_error *error)
{
	struct ahead *const ahead = &code->box->ahead;

	/* Steps during a host's work are other ones. */
	for (size_t i = ahead->next; code->box->depth == 0 && i < ahead->count; i++) {
		if (!is_same(ahead, &ahead->steps[i], code, step))
			continue;
		ahead->next = i + 1;
		ahead->taken++;
		*step->budget = ahead->steps[i].budget;
		return keep(code, &ahead->steps[i].result, result, error);
	}
	return 1;
}

int wfs_code_step(struct wfs_code *code, struct wfs_code_step *step, struct wfs_code_result *result,
	struct wfs_error *error)
{
	struct wfs_lua_run run = {.budget = step->budget};
	int r = take_ahead(code, step, result, error);

	/* A list that is not JSON is a lie; asking for the step alone will end the process. */
	if (r == 1 || r == -EBADMSG)
		r = step_now(code, step, &run, result, error);
	step->failure = box_failure_of(&run, r);
	return wfs_trace(r);
}

void wfs_code_result_done(struct wfs_code_result *result)
{
	wfs_buffer_done(&result->state);
	json_decref(result->events);
	json_decref(result->effects);
	*result = (struct wfs_code_result){0};
}
