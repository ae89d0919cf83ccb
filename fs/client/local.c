/* SPDX-License-Identifier: Apache-2.0 */
/* Does verbs in this process, in sequence or many at once: each when it may begin
 * (fs/verb/order.h). */
#include "fs/client/local.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "caps/authority.h"
#include "caps/drive.h"
#include "caps/session.h"
#include "fs/relay/relay.h"
#include "fs/tool/helper.h"
#include "fs/verb/order.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"

enum { SETTLE_MS = 10 * 1000 }; /* until a replicated world has an owner */

/* A request whose answer was not taken. */
struct local_call {
	struct wfs_call call;
	struct wfs_local *local;
	struct local_call *next;
	char *verb; /* owned; NULL after it has begun */
	enum wfs_order_kind order;
	bool counted; /* counted in `order`; lock: the local's */
	bool done;    /* lock: the local's */
};

struct wfs_local {
	bool beside; /* the members up to the driver are borrowed from another local */
	struct wfs_authority *authority;
	struct wfs_session *session;
	struct wfs_host own_host;
	struct wfs_host *host; /* of a replicated world; NULL, like the next, of others */
	struct wfs_relay *relay;
	wfs_driver_start *drive;
	struct wfs_driver *driver; /* NULL until a request needs one */
	int ready_fd;              /* eventfd: written when `wake_count` reaches 0 */
	/* Only for the caller's thread. */
	struct local_call *first; /* under way, in order */
	struct local_call *last;
	struct local_call *idle;    /* for reuse */
	size_t count;               /* under way */
	struct local_call *waiting; /* none before it waits to begin */

	pthread_mutex_t lock;
	struct wfs_order order; /* lock; of requests that have begun */
	size_t done_count;      /* lock; answered, but not taken yet */
	size_t wake_count;      /* lock; how many more answers until `ready_fd` is written */
};

/* Prepares to be a node of a replicated world. */
static int join(struct wfs_local *local, struct wfs_error *error)
{
	const struct wfs_join_options options = {.listens = false};

	local->own_host.quiet = true;
	const int r =
		wfs_relay_new(local->authority, &local->own_host, &options, &local->relay, error);
	local->host = local->relay ? &local->own_host : NULL;
	return r;
}

int wfs_local_new(const char *directory, const char *as, const struct wfs_world_options *options,
	wfs_driver_start *drive, struct wfs_local **ret_local, struct wfs_error *error)
{
	WFS_AUTO_LOCAL struct wfs_local *local = calloc(1, sizeof(*local));
	int r;

	if (!local)
		return wfs_error_from_errno(error, -ENOMEM, "open the world");
	pthread_mutex_init(&local->lock, NULL);
	local->drive = drive;
	local->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (local->ready_fd < 0)
		return wfs_error_from_errno(error, -errno, "open the world");
	r = wfs_authority_open(directory, options, &local->authority, error);
	if (!r && !wfs_authority_read_only(local->authority))
		r = join(local, error);
	if (!r)
		r = wfs_session_new(
			local->authority, as ? as : WFS_PRINCIPAL_OPERATOR, &local->session, error);
	if (r)
		return r;
	*ret_local = WFS_STEAL(local);
	return 0;
}

int wfs_local_beside(struct wfs_local *local, struct wfs_local **ret_local)
{
	WFS_AUTO_LOCAL struct wfs_local *other = calloc(1, sizeof(*other));

	if (!other)
		return -ENOMEM;
	pthread_mutex_init(&other->lock, NULL);
	other->beside = true;
	other->authority = local->authority;
	other->session = local->session;
	other->host = local->host;
	other->relay = local->relay;
	other->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (other->ready_fd < 0)
		return -errno;
	*ret_local = WFS_STEAL(other);
	return 0;
}

static void call_done(struct wfs_call *call)
{
	struct local_call *const local_call = call->context;
	struct wfs_local *const local = local_call->local;
	WFS_GUARD(&local->lock);

	local_call->done = true;
	if (local_call->counted)
		wfs_order_end(&local->order, local_call->order);
	local->done_count++;
	if (local->wake_count > 0 && --local->wake_count == 0)
		(void)eventfd_write(local->ready_fd, 1);
}

/* Takes a used request, or makes a new one. */
static struct local_call *take_idle(struct wfs_local *local)
{
	struct local_call *const call = local->idle;

	if (!call)
		return calloc(1, sizeof(*call));
	local->idle = call->next;
	*call = (struct local_call){.next = NULL};
	return call;
}

/* Becomes a node of a replicated world, for requests that change it: another node that owns the
 * world does them, or this one. Also for a list of the nodes, which a node knows. */
static int join_for(struct wfs_local *local, const struct local_call *call, const char *verb,
	struct wfs_error *error)
{
	const bool lists = strcmp(verb, "replicas") == 0;

	if (!local->relay || (call->order == WFS_ORDER_READ && !wfs_verb_drives(verb) && !lists))
		return 0;
	const int r = wfs_node_start(wfs_relay_node(local->relay), error);
	if (!r && lists)
		(void)wfs_relay_settle(local->relay, SETTLE_MS);
	return r;
}

/* Of a replicated world only the node that owns it drives agents. */
static int start_driver(struct wfs_local *local, bool paused, struct wfs_error *error)
{
	if (local->driver || !local->drive)
		return 0;
	if (local->relay && !wfs_relay_settle(local->relay, SETTLE_MS))
		return 0;
	return local->drive(local->authority, &wfs_tool_helpers, paused, &local->driver, error);
}

/* Has the host a server that makes embeddings? A request that needs it reports an unreadable
 * host.json. */
static bool has_embedder(const struct wfs_local *local)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_error error;

	return !wfs_host_file_read(
		       wfs_authority_directory(local->authority), &host, NULL, &error) &&
		json_object_get(json_object_get(host, "models"), WFS_EMBEDDING_MODEL);
}

/* Starts the driver if a verb needs it: turns and plans do. Actions do if the driver makes their
 * embeddings; then it does not continue what was open. */
static int drive_for(struct wfs_local *local, const char *verb, struct wfs_error *error)
{
	if (wfs_verb_drives(verb))
		return start_driver(local, false, error);
	return strcmp(verb, "invoke") == 0 && !local->driver && has_embedder(local)
		? start_driver(local, true, error)
		: 0;
}

static void begin(struct local_call *call)
{
	struct wfs_local *const local = call->local;
	WFS_AUTO_FREE char *verb = WFS_STEAL(call->verb);
	int r = join_for(local, call, verb, &call->call.error);

	if (!r)
		r = drive_for(local, verb, &call->call.error);

	pthread_mutex_lock(&local->lock);
	call->counted = true;
	wfs_order_begin(&local->order, call->order);
	pthread_mutex_unlock(&local->lock);
	call->call.host = local->host;
	call->call.driver = local->driver;
	if (r)
		wfs_verb_finish(&call->call, r);
	else
		wfs_call_start(&call->call, verb);
}

/* Finds the first request that has not begun. */
static struct local_call *first_waiting(struct wfs_local *local)
{
	while (local->waiting && !local->waiting->verb)
		local->waiting = local->waiting->next;
	return local->waiting;
}

/* Lock: the local's. */
static bool may_begin(struct wfs_local *local)
{
	const struct local_call *const call = first_waiting(local);

	return call && !wfs_order_waits(&local->order, call->order);
}

static void begin_waiting(struct wfs_local *local)
{
	pthread_mutex_lock(&local->lock);
	while (may_begin(local)) {
		pthread_mutex_unlock(&local->lock);
		begin(local->waiting);
		pthread_mutex_lock(&local->lock);
	}
	pthread_mutex_unlock(&local->lock);
}

int wfs_local_post(struct wfs_local *local, const char *verb, json_t *payload)
{
	struct local_call *const call = take_idle(local);

	if (call)
		call->verb = strdup(verb);
	if (!call || !call->verb) {
		free(call);
		json_decref(payload);
		return -ENOMEM;
	}
	call->local = local;
	call->order = wfs_order_kind(verb, payload);
	call->call.session = local->session;
	call->call.payload = payload;
	call->call.done = call_done;
	call->call.context = call;
	if (local->last)
		local->last->next = call;
	else
		local->first = call;
	local->last = call;
	if (!local->waiting)
		local->waiting = call;
	local->count++;
	if (call->order == WFS_ORDER_AT_ONCE)
		begin(call);
	begin_waiting(local);
	return 0;
}

int wfs_local_poll(const struct wfs_local *local)
{
	return local->ready_fd;
}

enum look { FIRST_IS_DONE, NOT_YET, ANOTHER_MAY_BEGIN };

/*
 * Is the first request answered? If not, arranges that `ready_fd` is written: at the next answer,
 * if the caller waits or a request waits to begin; otherwise when half of the open requests are
 * answered, so that many are taken at once.
 */
static enum look look_at_first(struct wfs_local *local, bool wait)
{
	eventfd_t count;
	WFS_GUARD(&local->lock);

	local->wake_count = 0;
	if (!local->first)
		return NOT_YET;
	if (local->first->done) {
		local->done_count--;
		return FIRST_IS_DONE;
	}
	if (may_begin(local))
		return ANOTHER_MAY_BEGIN;
	(void)eventfd_read(local->ready_fd, &count); /* from an earlier wake-up */
	local->wake_count = wait || local->waiting ? 1 : (local->count - local->done_count + 1) / 2;
	return NOT_YET;
}

/* Begins requests that may begin. Return: is the first request answered? */
static bool first_is_done(struct wfs_local *local, bool wait)
{
	enum look look;

	do {
		begin_waiting(local);
		look = look_at_first(local, wait);
	} while (look == ANOTHER_MAY_BEGIN);
	return look == FIRST_IS_DONE;
}

int wfs_local_take(struct wfs_local *local, bool wait, struct wfs_answer *ret_answer)
{
	struct local_call *call;

	while (!first_is_done(local, wait)) {
		struct pollfd ready = {.fd = local->ready_fd, .events = POLLIN};

		if (!wait || !local->first)
			return 0;
		(void)poll(&ready, 1, -1);
	}
	call = local->first;
	(void)first_waiting(local); /* updates `waiting`, which comes after it */
	local->first = call->next;
	if (!local->first)
		local->last = NULL;
	local->count--;
	*ret_answer = (struct wfs_answer){
		.status = call->call.status,
		.result = WFS_STEAL(call->call.result),
		.meta = WFS_STEAL(call->call.meta),
		.error = call->call.error,
		.details = WFS_STEAL(call->call.error_details),
	};
	json_object_del(ret_answer->result, "meta"); /* the answer has it as a member of its own */
	wfs_call_done(&call->call);
	call->next = local->idle;
	local->idle = call;
	return 1;
}

/* Ends a request; one that has not begun is answered at once. */
static void abandon(struct wfs_local *local, struct local_call *call)
{
	if (call->verb) {
		free(WFS_STEAL(call->verb));
		wfs_verb_finish(&call->call,
			wfs_error_set(&call->call.error, WFS_E_CANCELLED,
				"the client is gone, so the request was not begun"));
		return;
	}
	WFS_GUARD(&local->lock);
	if (!call->done)
		wfs_call_abandon(&call->call);
}

void wfs_local_abandon(struct wfs_local *local, size_t index)
{
	struct local_call *call = local->first;

	for (; call && index > 0; index--)
		call = call->next;
	if (call)
		abandon(local, call);
}

/* Waits for answers that were not taken. */
static void drain(struct wfs_local *local)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};

	while (wfs_local_take(local, true, &answer) > 0)
		wfs_answer_done(&answer);
}

void wfs_local_free(struct wfs_local *local)
{
	if (!local)
		return;
	for (struct local_call *call = local->first; call; call = call->next)
		abandon(local, call);
	if (local->relay)
		wfs_relay_cease(local->relay);
	drain(local);
	while (local->idle) {
		struct local_call *const call = local->idle;

		local->idle = call->next;
		wfs_call_done(&call->call);
		free(call->verb);
		free(call);
	}
	if (!local->beside) {
		wfs_relay_free(local->relay);
		if (local->driver)
			local->driver->free(local->driver);
		wfs_session_free(local->session);
		wfs_authority_free(local->authority);
	}
	if (local->ready_fd >= 0)
		close(local->ready_fd);
	pthread_mutex_destroy(&local->lock);
	free(local);
}
