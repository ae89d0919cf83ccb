/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on an open control file: they run one at a time, start calls, and get their reply
 * when all of these are answered. See control-impl.h.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "caps/session-blob.h"
#include "fs/control/control-impl.h"
#include "fs/verb/verb.h"

static void op_pump(struct wfs_control_open *open, bool slowly);

/* --- answers --- */

/* Ends calls that still wait for the kernel thread, without doing them, because the client does
 * not read answers. Lock: open->mutex is held. */
static void op_give_up_calls(struct wfs_control_open *open)
{
	open->failure = open->failure < 0 ? open->failure : -EFBIG;
	for (struct wfs_control_call *call = open->calls; call; call = call->next)
		if (!call->answered)
			atomic_store(&call->call.gone, true);
}

/* Are there unread answers, and more than the user may have? Lock: open->mutex is held. */
static bool op_is_crowded(struct wfs_control_open *open)
{
	const uint64_t unread = open->output.size - open->delivered;
	const uint64_t most = (open->user->operates ? 2 : 1) * (uint64_t)WFS_CONTROL_UNREAD_MAX;

	return unread > 0 && (unread > most || !wfs_control_output(open));
}

/* Lock: open->mutex is held. */
static void op_show(struct wfs_control_open *open, const struct wfs_control_call *call)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (call->call.status < 0 && open->failure == 0)
		open->failure = call->call.status;
	wfs_control_render(&call->call, &text);
	if (wfs_buffer_check(&text) < 0) {
		open->failure = open->failure < 0 ? open->failure : -ENOMEM;
		return;
	}
	/* A file opened only for writing keeps no answers: they cannot be read. */
	if ((open->flags & O_ACCMODE) != O_WRONLY && op_is_crowded(open)) {
		op_give_up_calls(open); /* which have begun */
	} else if ((open->flags & O_ACCMODE) != O_WRONLY) {
		wfs_buffer_append(&open->output, text.data, text.size);
		(void)wfs_control_output(open);
	}
	WFS_GUARD(&open->control->mutex);
	struct wfs_buffer old = open->user->last;
	open->user->last = text;
	text = old;
}

/* Moves answers to the output, in order. Lock: open->mutex is held. */
static void op_show_answered(struct wfs_control_open *open)
{
	while (open->calls && open->calls->answered) {
		struct wfs_control_call *call = open->calls;

		open->calls = call->next;
		if (!open->calls)
			open->calls_tail = &open->calls;
		open->long_count -= call->is_long;
		op_show(open, call);
		wfs_control_give(open, call->parsed_bytes);
		wfs_call_done(&call->call);
		json_decref(call->payload);
		wfs_upload_free(call->upload);
		free(call);
	}
}

/* --- the end of an operation --- */

static void op_reply(struct wfs_control_op *op, int failure, char *data, ssize_t size)
{
	if (op->kind == WFS_CONTROL_READ && size >= 0)
		(void)fuse_reply_buf(op->request, data, (size_t)size);
	else if (op->kind == WFS_CONTROL_READ)
		fs_reply_result(op->request, (int)size);
	else if (op->kind == WFS_CONTROL_WRITE && failure == 0)
		(void)fuse_reply_write(op->request, op->size);
	else if (op->kind == WFS_CONTROL_TRUNCATE && failure == 0)
		wfs_control_reply_attr(op->request, op->ino);
	else
		fs_reply_result(op->request, failure);
}

static void op_run_task(struct wfs_work_task *task);

/*
 * Ends the current operation, all of whose calls are answered: replies, and begins the next one in
 * line. The lock is held at the call and not at the return. @open is not freed before an operation
 * of it is replied to, so the reply comes last.
 */
static void op_finish(struct wfs_control_open *open)
{
	struct wfs_control *control = open->control;
	struct wfs_control_op *op = open->current;
	struct wfs_control_op *next = open->waiting;
	WFS_AUTO_FREE char *data = NULL;
	int failure = open->failure;
	ssize_t size = 0;

	if (op->kind == WFS_CONTROL_READ)
		size = wfs_control_deliver(open, op->offset, op->size, &data);
	if (size == 0)
		size = failure; /* without memory even for an answer */
	wfs_control_give(open, op->copied);
	wfs_control_parser_trim(&open->parser, WFS_CONTROL_KEEP_MAX);
	wfs_control_input(open);
	open->failure = 0;
	open->current = next;
	if (next)
		open->waiting = next->next;
	pthread_mutex_unlock(&open->mutex);
	if (next) {
		open->task.run = op_run_task;
		wfs_work_add(control->pump, &open->task, 0);
	}
	if (op->kind == WFS_CONTROL_RELEASE) {
		struct wfs_control_user *const user = open->user;

		wfs_control_open_free(open); /* and @op with it */
		wfs_control_late_end(control, user);
	} else {
		/* Waits for an op_interrupted() that is running: it uses the open file. */
		if (open->interruptible)
			fuse_req_interrupt_func(op->request, NULL, NULL);
		op_reply(op, failure, data, size);
		free(op);
	}
	wfs_control_leave(control);
}

static unsigned int op_in_flight_max(const struct wfs_control_open *open)
{
	const char *verb = open->file->verb;

	return verb && wfs_verb_slow(verb, NULL) ? 1 : WFS_CONTROL_IN_FLIGHT_MAX;
}

static void op_pump_task(struct wfs_work_task *task)
{
	op_pump((void *)((char *)task - offsetof(struct wfs_control_open, task)), false);
}

/* Counts one of `in_flight` as ended. The lock is held at the call and not at the return. */
static void op_settle(struct wfs_control_open *open)
{
	open->in_flight--;
	if (open->in_flight == 0) {
		op_finish(open);
		return;
	}
	bool resume = open->paused && open->in_flight - 1 <= op_in_flight_max(open) / 2;
	if (resume)
		open->paused = false;
	if (open->held && !wfs_order_waits(&open->order, open->held->order)) {
		open->retry = WFS_STEAL(open->held);
		resume = true;
	}
	pthread_mutex_unlock(&open->mutex);
	if (resume) {
		open->task.run = op_pump_task;
		wfs_work_add(open->control->pump, &open->task, 0);
	}
}

void wfs_control_submitted(struct wfs_control_open *open)
{
	pthread_mutex_lock(&open->mutex);
	op_settle(open);
}

static void op_end_call(struct wfs_control_call *call)
{
	struct wfs_control_open *open = call->open;

	pthread_mutex_lock(&open->mutex);
	call->answered = true;
	if (call->counted)
		wfs_order_end(&open->order, call->order);
	op_show_answered(open);
	op_settle(open);
}

static struct wfs_control_call *call_of(struct wfs_work_task *task)
{
	return (void *)((char *)task - offsetof(struct wfs_control_call, task));
}

static void op_end_long_call(struct wfs_work_task *task)
{
	op_end_call(call_of(task));
}

/* `done` of every call, on the thread that started it, or on the publisher's. */
static void op_answered(struct wfs_call *base)
{
	struct wfs_control_call *call = base->context;
	struct wfs_control_open *open = call->open;

	pthread_mutex_lock(&open->mutex);
	if (open->starting == call && base->status < 0 && base->error.code == WFS_E_OVERLOADED &&
		call->retries < WFS_CONTROL_RETRY_MAX) {
		open->retry = call;
		pthread_mutex_unlock(&open->mutex);
		return;
	}
	const bool slowly = open->long_count > 0;
	pthread_mutex_unlock(&open->mutex);
	if (!slowly) {
		op_end_call(call);
		return;
	}
	/* Freeing a long value takes long, and ending this call may free one that was answered
	 * before its turn. On the publisher's thread other clients would wait for that. */
	call->task.run = op_end_long_call;
	wfs_work_add(open->control->long_values, &call->task, 0);
}

/* --- starting calls --- */

struct wfs_control_call *wfs_control_call_new(struct wfs_control_open *open)
{
	struct wfs_control_call *call = calloc(1, sizeof(*call));
	WFS_GUARD(&open->mutex);

	if (!call) {
		open->failure = open->failure < 0 ? open->failure : -ENOMEM;
		return NULL;
	}
	call->open = open;
	call->call.session = open->user->session;
	call->call.host = open->control->host;
	call->call.done = op_answered;
	call->call.context = call;
	*open->calls_tail = call;
	open->calls_tail = &call->next;
	open->in_flight++;
	return call;
}

void wfs_control_refuse(struct wfs_control_call *call, int r)
{
	wfs_verb_finish(&call->call, r);
}

static void op_start_slow(struct wfs_work_task *task)
{
	struct wfs_control_call *call = call_of(task);

	call->call.payload = json_incref(call->payload);
	wfs_call_start(&call->call, call->open->file->verb);
}

/* Starts a query of a guest on a thread of low priority. */
static void op_start_long(struct wfs_work_task *task)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WFS_WORK_LONG_NICE);
	op_start_slow(task);
}

/* Ends all calls of an interruptible file; of other files those that may take long, but of those
 * that have begun only queries. op_set_starting() does it for the call that is being started.
 * Lock: open->mutex is held. */
static void op_abandon_calls(struct wfs_control_open *open)
{
	for (struct wfs_control_call *call = open->calls; call; call = call->next)
		if (!call->answered && call != open->starting &&
			(open->interruptible || call->takes_long))
			wfs_call_abandon(&call->call);
}

static void op_set_takes_long(struct wfs_control_open *open, struct wfs_control_call *call)
{
	WFS_GUARD(&open->mutex);

	call->takes_long = true;
	if (open->interrupted || open->abandoned)
		atomic_store(&call->call.gone, true);
}

static void op_set_starting(struct wfs_control_open *open, struct wfs_control_call *call)
{
	WFS_GUARD(&open->mutex);

	open->starting = call;
	if (!call && (open->interrupted || open->abandoned))
		op_abandon_calls(open);
}

static struct wfs_control_call *op_take_retry(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);
	struct wfs_control_call *call = open->retry;

	open->retry = NULL;
	return call;
}

/* May this call begin? If not, an answer will run the pump again. */
static bool op_in_order(struct wfs_control_open *open, struct wfs_control_call *call)
{
	WFS_GUARD(&open->mutex);

	if (call->counted) /* started before */
		return true;
	call->order = wfs_order_kind(open->file->verb, call->payload);
	if (wfs_order_waits(&open->order, call->order)) {
		open->held = call;
		return false;
	}
	call->counted = true;
	wfs_order_begin(&open->order, call->order);
	return true;
}

/* If the queue is full, or calls before this one must end first, the pump runs again later. */
bool wfs_control_call_start(struct wfs_control_open *open, struct wfs_control_call *call)
{
	if (!op_in_order(open, call))
		return false;
	if (wfs_verb_takes_long(open->file->verb, call->payload))
		op_set_takes_long(open, call);
	if (wfs_verb_slow(open->file->verb, call->payload)) {
		const bool reads_long =
			wfs_verb_reads_long(open->file->verb, call->payload, !open->user->operates);

		call->task.run = reads_long ? op_start_long : op_start_slow;
		if (reads_long)
			wfs_work_add_in_turn(open->control->long_reads, &call->task, open->user);
		else
			wfs_work_add(open->control->slow, &call->task, 0);
		return true;
	}
	op_set_starting(open, call);
	call->call.payload = json_incref(call->payload);
	wfs_call_start(&call->call, open->file->verb);
	op_set_starting(open, NULL);

	struct wfs_control_call *refused = op_take_retry(open);
	if (!refused)
		return true;
	pthread_mutex_lock(&open->mutex); /* op_interrupted() uses the call */
	const struct wfs_call base = refused->call;
	wfs_call_done(&refused->call);
	refused->call = (struct wfs_call){
		.session = base.session,
		.host = base.host,
		.done = base.done,
		.context = base.context,
	};
	refused->retries++;
	open->retry = refused;
	pthread_mutex_unlock(&open->mutex);
	open->task.run = op_pump_task;
	wfs_work_add(open->control->pump, &open->task, WFS_CONTROL_RETRY_MS);
	return false;
}

/* Makes the payload of a call from @value, which is taken. Return: 0, or -ENOMEM. */
static int op_set_payload(struct wfs_control_call *call, json_t *value)
{
	const struct wfs_control_file *const file = call->open->file;
	const char *const member = json_is_string(value) && file->word ? file->word : file->member;

	if (!member || !value) {
		call->payload = value;
		return 0;
	}
	call->payload = json_object();
	return json_object_set_new(call->payload, member, value) < 0 ? -ENOMEM : 0;
}

/* Are there too many unread answers? Then the rest of the input is refused. */
static bool op_overflowed(struct wfs_control_open *open, bool *ret_first, size_t *ret_unread)
{
	WFS_GUARD(&open->mutex);

	*ret_unread = open->output.size - open->delivered;
	if (*ret_unread <= WFS_CONTROL_UNREAD_MAX && !op_is_crowded(open))
		return false;
	*ret_first = !open->overflowed;
	open->overflowed = true;
	open->failure = open->failure < 0 ? open->failure : -EFBIG;
	return true;
}

static bool op_stop_overflow(struct wfs_control_open *open)
{
	size_t unread;
	bool first;

	if (open->current->kind != WFS_CONTROL_WRITE ||
		!wfs_control_parser_pending(&open->parser) || !op_overflowed(open, &first, &unread))
		return false;
	wfs_control_parser_drop(&open->parser);
	struct wfs_control_call *call = first ? wfs_control_call_new(open) : NULL;
	if (call)
		wfs_control_refuse(call,
			wfs_error_set(&call->call.error, WFS_E_TOO_LARGE,
				"%zu bytes of answers were not read; the rest of what was written "
				"is "
				"dropped",
				unread));
	return true;
}

/* Drops the rest of the input if the writer was interrupted. */
static bool op_stop_interrupted(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	if (!open->interrupted)
		return false;
	if (wfs_control_parser_pending(&open->parser) && open->failure == 0)
		open->failure = -EINTR;
	wfs_control_parser_drop(&open->parser);
	return true;
}

/* Does the next value take long to parse, and to free? */
static bool op_next_is_long(struct wfs_control_open *open)
{
	const bool ending = open->current->kind != WFS_CONTROL_WRITE;

	return wfs_control_parser_size(&open->parser, ending) > WFS_CONTROL_PARSE_MAX;
}

static void op_set_long(struct wfs_control_open *open, struct wfs_control_call *call)
{
	WFS_GUARD(&open->mutex);

	call->is_long = true;
	open->long_count++;
}

/* Starts the next whole value. Return: 1, 0 (no whole value), -EAGAIN (queue full). */
static int op_next(struct wfs_control_open *open)
{
	struct wfs_error error = {0};
	json_t *value = NULL;

	if (op_stop_interrupted(open) || op_stop_overflow(open))
		return 0;
	const bool ending = open->current->kind != WFS_CONTROL_WRITE;
	const bool is_long = op_next_is_long(open);
	int r = wfs_control_parser_take(&open->parser, ending, &value, &error);
	if (r == 0)
		return 0;
	struct wfs_control_call *call = wfs_control_call_new(open);
	const size_t admitted_bytes = open->admitted_bytes;
	open->admitted_bytes = 0;
	if (!call) {
		json_decref(value);
		wfs_control_give(open, admitted_bytes);
		wfs_control_parser_drop(&open->parser);
		return 0;
	}
	call->parsed_bytes = admitted_bytes;
	if (r > 0 && is_long)
		op_set_long(open, call);
	if (r > 0)
		r = op_set_payload(call, value);
	if (r < 0) {
		call->call.error = error;
		wfs_control_refuse(call, r);
		return 1;
	}
	return wfs_control_call_start(open, call) ? 1 : -EAGAIN;
}

/* May another call be started? If not, an answer will run the pump again. */
static bool op_may_start(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	if (open->in_flight - 1 < op_in_flight_max(open))
		return true;
	open->paused = true;
	return false;
}

/* Runs the pump on the thread of low priority for long values. */
static void op_pump_slowly(struct wfs_work_task *task)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WFS_WORK_LONG_NICE);
	op_pump((void *)((char *)task - offsetof(struct wfs_control_open, task)), true);
}

/* Hands the pump to the thread for long values, if the next value is one: it would keep a worker
 * from other users. Return: false: it is not. */
static bool op_hand_over(struct wfs_control_open *open)
{
	if (!op_next_is_long(open))
		return false;
	open->task.run = op_pump_slowly;
	wfs_work_add(open->control->long_values, &open->task, 0);
	return true;
}

/* Starts all whole values, with @slowly also long ones. Only one thread at a time does this for an
 * open file. */
static void op_pump(struct wfs_control_open *open, bool slowly)
{
	struct wfs_control_call *next = op_take_retry(open);
	int r = 1;

	if (next && !wfs_control_call_start(open, next))
		return;
	while (r > 0) {
		if (!op_may_start(open) || (!slowly && op_hand_over(open)))
			return;
		r = op_next(open);
	}
	if (r == 0)
		wfs_control_submitted(open);
}

/* --- running operations --- */

static void op_fail(struct wfs_control_open *open, int r)
{
	pthread_mutex_lock(&open->mutex);
	open->failure = r;
	op_settle(open);
}

static void op_write(struct wfs_control_open *open, const struct wfs_control_op *op)
{
	pthread_mutex_lock(&open->mutex);
	wfs_control_moved(open, op->offset, op->size);
	open->used = true;
	pthread_mutex_unlock(&open->mutex);
	if (open->file->kind == WFS_CONTROL_BYTES) {
		wfs_control_blob_write(open, op->data, op->size);
		return;
	}
	if (open->file->kind == WFS_CONTROL_CONTENT) {
		wfs_control_artifact_change(open, op);
		return;
	}
	int r = wfs_control_parser_add(&open->parser, op->data, op->size);
	wfs_control_input(open);
	if (r < 0)
		op_fail(open, r);
	else
		op_pump(open, false);
}

static void op_read(struct wfs_control_open *open)
{
	if (open->file->kind == WFS_CONTROL_JSON) {
		op_pump(open, false);
		return;
	}
	open->stream_failed = 0;
	if (!open->upload && !open->truncated) {
		wfs_control_submitted(open);
		return;
	}
	pthread_mutex_lock(&open->mutex);
	open->used = true;
	pthread_mutex_unlock(&open->mutex);
	wfs_control_blob_end(open);
}

static bool op_pending(const struct wfs_control_open *open)
{
	switch (open->file->kind) {
	case WFS_CONTROL_BYTES:
		return open->upload != NULL;
	case WFS_CONTROL_CONTENT:
		return open->content.pending;
	default:
		return wfs_control_parser_pending(&open->parser);
	}
}

/* Does a close by this thread complete what is pending? See control-client.c. */
static bool op_closed_by_opener(const struct wfs_control_open *open, pid_t pid)
{
	if (pid == open->pid || pid == 0 || open->tgid == 0)
		return true;
	pid_t process = wfs_control_process(pid);
	return process == 0 || process == open->tgid;
}

static void op_drop(struct wfs_control_open *open)
{
	wfs_control_parser_drop(&open->parser);
	wfs_control_content_drop(&open->content);
	wfs_upload_free(WFS_STEAL(open->upload));
	open->truncated = false;
	wfs_control_submitted(open);
}

/* Completes what is pending, if its opener closes it (@closed) and it is complete. */
static void op_end(struct wfs_control_open *open, pid_t pid, bool closed)
{
	switch (open->file->kind) {
	case WFS_CONTROL_BYTES:
		if (closed)
			wfs_control_blob_end(open);
		else
			wfs_control_submitted(open);
		break;
	case WFS_CONTROL_CONTENT:
		if (closed && wfs_control_artifact_may_take(open, pid))
			wfs_control_artifact_end(open);
		else
			wfs_control_submitted(open);
		break;
	default:
		if (closed || wfs_control_parser_whole(&open->parser))
			op_pump(open, false);
		else
			wfs_control_submitted(open);
		break;
	}
}

static void op_flush(struct wfs_control_open *open, pid_t pid)
{
	const bool pending = op_pending(open);

	if (!pending && !open->truncated) {
		wfs_control_submitted(open);
		return;
	}
	const bool closed = op_closed_by_opener(open, pid);
	const bool killed = wfs_control_killed(pid);
	if (closed && killed)
		op_drop(open);
	else if (!pending || killed)
		/* Empty so far: a shell that redirects closes its first descriptor at once. Or
		 * another process than the opener was killed, which ends nothing. */
		wfs_control_submitted(open);
	else
		op_end(open, pid, closed);
}

/* The thread that waits for this request got a signal; it continues to wait for the reply. */
static void op_interrupted(fuse_req_t request, void *data)
{
	struct wfs_control_open *const open = data;
	WFS_GUARD(&open->mutex);

	if (!open->current || open->current->request != request)
		return;
	open->interrupted = true;
	op_abandon_calls(open);
}

void wfs_control_abandon(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	open->abandoned = true;
	open->interrupted = open->interruptible;
	op_abandon_calls(open);
}

static void op_listen(struct wfs_control_open *open, const struct wfs_control_op *op)
{
	if (!open->interruptible)
		return;
	pthread_mutex_lock(&open->mutex);
	open->interrupted = open->abandoned;
	pthread_mutex_unlock(&open->mutex);
	fuse_req_interrupt_func(op->request, op_interrupted, open);
}

static void op_run(struct wfs_control_open *open)
{
	struct wfs_control_op *op = open->current;

	open->in_flight = 1;
	op_listen(open, op);
	switch (op->kind) {
	case WFS_CONTROL_WRITE:
		op_write(open, op);
		break;
	case WFS_CONTROL_READ:
		op_read(open);
		break;
	case WFS_CONTROL_FLUSH:
		op_flush(open, op->pid);
		break;
	case WFS_CONTROL_TRUNCATE:
		wfs_control_artifact_change(open, op);
		break;
	case WFS_CONTROL_RELEASE:
		if (open->file->kind == WFS_CONTROL_CONTENT)
			wfs_control_artifact_end(open);
		else
			wfs_control_blob_end(open);
		break;
	}
}

static void op_run_task(struct wfs_work_task *task)
{
	op_run((void *)((char *)task - offsetof(struct wfs_control_open, task)));
}

/* Puts @op in line. Return: true: it may run now. */
static bool op_line_up(struct wfs_control_open *open, struct wfs_control_op *op)
{
	WFS_GUARD(&open->mutex);
	struct wfs_control_op **at = &open->waiting;

	if (!open->current) {
		open->current = op;
		return true;
	}
	while (*at)
		at = &(*at)->next;
	*at = op;
	return false;
}

/* Is there nothing that a close could complete? */
static bool op_is_settled(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	return !open->current && !op_pending(open);
}

/* Refuses an operation, because the connection is ending. */
static void op_turn_away(struct wfs_control_open *open, struct wfs_control_op *op, int r)
{
	struct wfs_control *control = open->control;
	struct wfs_control_user *const user = open->user;

	if (op->kind == WFS_CONTROL_RELEASE) {
		wfs_control_open_free(open); /* and @op with it */
		wfs_control_late_end(control, user);
		return;
	}
	wfs_control_give(open, op->copied);
	fs_reply_result(op->request, op->kind == WFS_CONTROL_FLUSH && op_is_settled(open) ? 0 : r);
	free(op);
}

void wfs_control_begin(struct wfs_control_open *open, struct wfs_control_op *op)
{
	int r = wfs_control_enter(open->control);

	if (r < 0) {
		op_turn_away(open, op, r);
		return;
	}
	if (op_line_up(open, op))
		op_run(open);
}
