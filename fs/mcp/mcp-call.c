/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open calls.
 *
 * All share one way into the world, on which verbs are answered in the order of posting. It is
 * opened for the first call and closed after the last: so it keeps nobody from the world while the
 * client is silent, and the next call finds an owner that has come or gone since.
 */
#include "fs/mcp/mcp-impl.h"

#include "kernel/base/json.h"

enum { ANSWERS_AT_ONCE = 64 }; /* answers taken before new messages are checked */

static void call_free(struct wfs_mcp_call *call)
{
	json_decref(call->id);
	json_decref(call->payload);
	wfs_task_done(&call->task);
	free(call);
}

static void queue_put(struct wfs_mcp_queue *queue, struct wfs_mcp_call *call)
{
	call->next = NULL;
	if (queue->last)
		queue->last->next = call;
	else
		queue->first = call;
	queue->last = call;
}

static struct wfs_mcp_call *queue_take(struct wfs_mcp_queue *queue)
{
	struct wfs_mcp_call *const call = queue->first;

	queue->first = call->next;
	if (!queue->first)
		queue->last = NULL;
	return call;
}

static void close_access(struct wfs_mcp *mcp)
{
	wfs_access_free(WFS_STEAL(mcp->access));
}

/* Continues with a call's next verb, or ends the call. */
static void go_on(struct wfs_mcp *mcp, struct wfs_mcp_call *call)
{
	if (!call->cancelled && wfs_task_next(&call->task, &call->verb, &call->payload)) {
		queue_put(&mcp->waiting, call);
		return;
	}
	if (!call->cancelled)
		call->finish(mcp, call);
	mcp->count--;
	call_free(call);
}

static void fail(
	struct wfs_mcp *mcp, struct wfs_mcp_call *call, int r, const struct wfs_error *error)
{
	wfs_task_fail(&call->task, r, error);
	go_on(mcp, call);
}

void wfs_mcp_call_begin(struct wfs_mcp *mcp, const json_t *id, const struct wfs_task_kind *kind,
	json_t *arguments, void (*finish)(struct wfs_mcp *mcp, const struct wfs_mcp_call *call))
{
	struct wfs_mcp_call *const call = calloc(1, sizeof(*call));

	if (!call) {
		json_decref(arguments);
		wfs_rpc_error(&mcp->output, id, WFS_RPC_INTERNAL_ERROR, NULL, "out of memory");
		return;
	}
	call->id = json_incref((json_t *)id);
	call->finish = finish;
	wfs_task_init(&call->task, kind, arguments);
	mcp->count++;
	go_on(mcp, call);
}

struct wfs_mcp_call *wfs_mcp_call_find(const struct wfs_mcp *mcp, const json_t *id)
{
	const struct wfs_mcp_queue *const queues[] = {&mcp->waiting, &mcp->asked};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(queues); i++)
		for (struct wfs_mcp_call *call = queues[i]->first; call; call = call->next)
			if (!call->cancelled && json_equal(call->id, id))
				return call;
	return NULL;
}

void wfs_mcp_call_cancel(struct wfs_mcp *mcp, struct wfs_mcp_call *call)
{
	const struct wfs_mcp_call *at = mcp->asked.first;
	size_t index = 0;

	call->cancelled = true;
	for (; at && at != call; at = at->next)
		index++;
	if (at) /* without memory the answer has to be awaited */
		(void)wfs_access_abandon(mcp->access, index);
}

/* --- posting verbs --- */

/* Can the open way do this call? Without an owner it may be open only for reading. */
static bool serves(const struct wfs_mcp *mcp, const struct wfs_mcp_call *call)
{
	return wfs_access_has_owner(mcp->access) || mcp->options.change ||
		!call->task.kind->changes;
}

static int post(struct wfs_mcp *mcp, struct wfs_mcp_call *call, struct wfs_error *error)
{
	int r = 0;

	if (!mcp->access) {
		mcp->options.change = call->task.kind->changes;
		r = wfs_access_new(&mcp->options, &mcp->access, error);
	}
	if (r)
		return r;
	r = wfs_access_post(mcp->access, call->verb, WFS_STEAL(call->payload));
	return r ? wfs_error_from_errno(error, r, "send '%s'", call->verb) : 0;
}

/* Posts verbs in order: a call that must change something, and waits until those before it are
 * done, is not overtaken. */
static void post_waiting(struct wfs_mcp *mcp)
{
	while (mcp->waiting.first) {
		struct wfs_mcp_call *const call = mcp->waiting.first;
		struct wfs_error error = {.code = WFS_OK};

		if (!call->cancelled && mcp->access && !serves(mcp, call)) {
			if (mcp->asked.first)
				return;
			close_access(mcp);
		}
		(void)queue_take(&mcp->waiting);
		const int r = call->cancelled ? 0 : post(mcp, call, &error);
		if (r)
			fail(mcp, call, r, &error);
		else if (call->cancelled)
			go_on(mcp, call);
		else
			queue_put(&mcp->asked, call);
	}
}

/* Fails all posted calls after the way into the world was lost. */
static void fail_asked(struct wfs_mcp *mcp, int r, const struct wfs_error *error)
{
	struct wfs_mcp_queue lost = mcp->asked;

	mcp->asked = (struct wfs_mcp_queue){.first = NULL};
	close_access(mcp);
	while (lost.first)
		fail(mcp, queue_take(&lost), r, error);
}

/* Takes an answer. Return: false: none has come. */
static bool take_answer(struct wfs_mcp *mcp)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error error = {.code = WFS_OK};
	int r = wfs_access_take(mcp->access, false, &answer, &error);

	if (r == 0)
		return false;
	if (r < 0) {
		if (error.code == WFS_OK)
			wfs_error_from_errno(&error, r, "wait for an answer");
		fail_asked(mcp, r, &error);
		return true;
	}
	struct wfs_mcp_call *const call = queue_take(&mcp->asked);
	if (!call->cancelled)
		wfs_task_answer(&call->task, &answer);
	go_on(mcp, call);
	return true;
}

bool wfs_mcp_advance(struct wfs_mcp *mcp)
{
	for (int i = 0; i < ANSWERS_AT_ONCE; i++) {
		post_waiting(mcp);
		if (!mcp->asked.first) {
			close_access(mcp);
			return false;
		}
		if (!take_answer(mcp))
			return false;
	}
	return true;
}

struct pollfd wfs_mcp_poll(const struct wfs_mcp *mcp)
{
	struct pollfd wanted = {.fd = -1};

	if (mcp->access)
		wanted.fd = wfs_access_poll(mcp->access, &wanted.events);
	return wanted;
}

void wfs_mcp_calls_free(struct wfs_mcp *mcp)
{
	close_access(mcp);
	while (mcp->waiting.first)
		call_free(queue_take(&mcp->waiting));
	while (mcp->asked.first)
		call_free(queue_take(&mcp->asked));
}

json_t *wfs_mcp_error_data(const struct wfs_error *error, json_t *meta, const char *uri)
{
	const struct wfs_error_info *const info = wfs_error_info(error->code);

	return json_pack("{s:s, s:s, s:O*, s:b, s:s*}", "category", info->category, "code",
		info->name, "meta", meta, "retriable", (int)info->retriable, "uri", uri);
}

json_t *wfs_mcp_error_document(const struct wfs_task *task)
{
	const struct wfs_error_info *const info = wfs_error_info(task->error.code);

	return json_pack("{s:{s:s, s:s, s:O*, s:s, s:b}, s:O*}", "error", "category",
		info->category, "code", info->name, "details", task->error_details, "message",
		task->error.message, "retriable", (int)info->retriable, "meta", task->meta);
}
