/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of this node, on their way to the owner. */
#include "caps/session.h"
#include "fs/relay/relay-impl.h"
#include "fs/replica/peer.h"
#include "fs/verb/answer.h"
#include "fs/verb/order.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum { MS_NS = 1000000 };

/* --- ends --- */

static void out_free(struct relay_out *out)
{
	json_decref(out->envelope);
	free(out);
}

/* Takes the call out of the count. Return: the call. */
static struct wfs_call *out_end(struct relay_out *out)
{
	struct wfs_relay *const relay = out->relay;
	struct wfs_call *const call = out->call;

	pthread_mutex_lock(&relay->lock);
	relay->count--;
	relay->bytes -= out->bytes;
	pthread_mutex_unlock(&relay->lock);
	call->id = NULL;
	out_free(out);
	return call;
}

/* Finishes a call with what the owner has answered. */
static void finish(struct relay_out *out)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};

	wfs_answer_read(out->envelope, &answer);
	struct wfs_call *const call = out_end(out);
	call->result = WFS_STEAL(answer.result);
	call->meta = WFS_STEAL(answer.meta);
	call->error = answer.error;
	call->error_details = WFS_STEAL(answer.details);
	wfs_verb_finish(call, answer.status);
}

/* Finishes a call that has no answer. */
static void give_up(struct relay_out *out)
{
	const bool stopping = atomic_load(&out->relay->stopping);
	const bool sent = out->sent;

	pthread_mutex_lock(&out->relay->lock);
	out->relay->unknown_total += sent;
	pthread_mutex_unlock(&out->relay->lock);
	struct wfs_call *const call = out_end(out);
	const int r = sent
		? wfs_error_set(&call->error, WFS_E_UNKNOWN,
			  "the node that owns the world has given no answer: it may have done the "
			  "request")
		: wfs_error_set(&call->error, WFS_E_UNAVAILABLE,
			  stopping ? "this process ends: nothing was changed"
				   : "the node that owns the world cannot be reached: nothing was "
				     "changed, try again");

	wfs_verb_finish(call, r);
}

/* Is it time to give up? */
static bool is_over(const struct relay_out *out)
{
	return atomic_load(&out->relay->stopping) || wfs_clock_monotonic_ns() >= out->until_ns ||
		(out->sent ? out->longer : atomic_load(&out->call->gone));
}

/* Finishes those of @outs that have answers, and gives up the others. */
static void end_all(struct relay_list *outs)
{
	struct relay_out *out;

	while ((out = relay_list_take(outs)))
		out->envelope ? finish(out) : give_up(out);
}

void relay_reach(struct wfs_relay *relay, uint64_t height)
{
	struct relay_list due = {0};
	struct relay_list later = {0};
	struct relay_out *out;

	pthread_mutex_lock(&relay->lock);
	if (height > relay->height)
		relay->height = height;
	while ((out = relay_list_take(&relay->arrived)))
		relay_list_add(out->height <= relay->height ? &due : &later, out);
	relay->arrived = later;
	pthread_mutex_unlock(&relay->lock);
	end_all(&due);
}

/* Gives up answers for whose height this node has waited too long. */
static void expire(struct wfs_relay *relay)
{
	struct relay_list over = {0};
	struct relay_list later = {0};
	struct relay_out *out;

	pthread_mutex_lock(&relay->lock);
	while ((out = relay_list_take(&relay->arrived)))
		relay_list_add(is_over(out) ? &over : &later, out);
	relay->arrived = later;
	pthread_mutex_unlock(&relay->lock);
	for (out = over.first; out; out = out->next) {
		json_decref(WFS_STEAL(out->envelope));
		out->sent = true;
	}
	end_all(&over);
}

/* An answer has come. */
static void arrive(struct relay_out *out)
{
	struct wfs_relay *const relay = out->relay;

	pthread_mutex_lock(&relay->lock);
	const bool waits = out->height > relay->height;
	if (out->longer)
		out->until_ns = wfs_clock_monotonic_ns() + relay->wait_ns;
	if (waits)
		relay_list_add(&relay->arrived, out);
	pthread_mutex_unlock(&relay->lock);
	if (!waits)
		finish(out);
}

/* --- sending --- */

/* A client of the owner's port. Plain value; zeros are none. */
struct link {
	struct wfs_peer *peer;
	struct wfs_node_port owner;
};

/* A request that is on its way. Plain value; borrows. */
struct posting {
	const struct relay_out *first;
	const struct link *link;
};

/* Is the answer still waited for? Not if another node has become the owner; but the node that does
 * a long request, such as a handover, may answer it after that. */
static bool is_wanted(void *context, uint64_t done_bytes)
{
	const struct posting *const posting = context;
	const struct relay_out *const out = posting->first;
	struct wfs_node_port owner;

	(void)done_bytes;
	if (out->longer)
		return !atomic_load(&out->relay->stopping) && !atomic_load(&out->call->gone) &&
			wfs_node_lives(wfs_relay_node(out->relay), &posting->link->owner);
	wfs_node_owner(wfs_relay_node(out->relay), &owner);
	return !is_over(out) && memcmp(&owner, &posting->link->owner, sizeof(owner)) == 0;
}

/* Connects to the present owner. Return: 0, or -errno: nothing can be sent. */
static int look_up(struct wfs_relay *relay, struct link *link)
{
	struct wfs_node_port owner;

	wfs_node_owner(wfs_relay_node(relay), &owner);
	if (!owner.lives || !*owner.address)
		return -EAGAIN;
	if (link->peer && memcmp(&owner, &link->owner, sizeof(owner)) == 0)
		return 0;
	wfs_peer_free(WFS_STEAL(link->peer));
	link->owner = owner;
	const struct wfs_peer_options options = {
		.address = link->owner.address,
		.pin = link->owner.pin,
		.token = link->owner.token,
		.connect_ms = RELAY_CONNECT_MS,
		.request_ms = INT32_MAX, /* is_wanted() ends it */
		.progress_ms = INT32_MAX,
	};
	return wfs_peer_new(&options, &link->peer, NULL);
}

/* Return: the status of the answer, or -errno of fs/replica/peer.h. */
static int post(struct wfs_relay *relay, struct link *link, const json_t *document,
	const struct relay_out *first, json_t **ret_answer)
{
	struct posting posting = {first, link};
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};
	int status = 0;

	wfs_json_write(document, &body);
	int r = wfs_buffer_check(&body);
	if (!r)
		r = look_up(relay, link);
	if (r)
		return -EAGAIN;
	wfs_peer_watch(link->peer, is_wanted, &posting);
	r = wfs_peer_request(link->peer, wfs_buffer_bytes(&body), &status, &answer, NULL);
	wfs_peer_watch(link->peer, NULL, NULL);
	if (r || status != 200)
		return r ? r : status;
	r = wfs_json_parse(answer.data, answer.size, ret_answer, NULL);
	return r ? -ETIMEDOUT : status;
}

static json_t *document_of(struct wfs_relay *relay, const struct relay_list *outs)
{
	WFS_AUTO_JSON json_t *requests = json_array();

	for (const struct relay_out *out = outs->first; requests && out; out = out->next)
		if (json_array_append_new(requests,
			    json_pack("{s:s, s:O, s:s, s:s}", "id", out->id, "payload",
				    out->call->payload, "principal",
				    wfs_session_principal(out->call->session), "verb", out->verb)) <
			0)
			json_decref(WFS_STEAL(requests));
	WFS_GUARD(&relay->lock);
	return requests
		? json_pack("{s:I, s:O}", "height", (json_int_t)relay->height, "requests", requests)
		: NULL;
}

/* Does the envelope say that the request may have been done, so that it is to be sent again? With
 * details the answer is known, and says so to its caller. */
static bool is_unknown(const json_t *envelope)
{
	const json_t *const problem = json_object_get(envelope, "error");

	return strcmp(wfs_json_text(problem, "code"), wfs_error_info(WFS_E_UNKNOWN)->name) == 0 &&
		!json_object_get(problem, "details");
}

/* Takes over the answers that have come, and keeps in @outs what has none. @answer: taken, and
 * released before any caller gets its part, which that caller's thread alone then releases */
static void take_answers(struct relay_list *outs, json_t *answer)
{
	const json_t *const envelopes = json_object_get(answer, "answers");
	const json_int_t height = json_integer_value(json_object_get(answer, "height"));
	const bool fits = json_array_size(envelopes) == outs->count;
	struct relay_list all = *outs;
	struct relay_out *out = all.first;

	for (size_t i = 0; out; out = out->next, i++) {
		json_t *const envelope = json_array_get(envelopes, i);

		out->height = (uint64_t)height;
		if (!fits || (!out->longer && is_unknown(envelope)))
			out->sent = true;
		else if (json_is_object(envelope))
			out->envelope = json_incref(envelope);
	}
	json_decref(answer);
	*outs = (struct relay_list){0};
	while ((out = relay_list_take(&all)))
		if (out->envelope)
			arrive(out);
		else
			relay_list_add(outs, out);
}

/* Sends requests once, and takes over their answers; @outs keeps those that have none. Return: the
 * status of the answer, or -errno. */
static int exchange(struct wfs_relay *relay, struct link *link, struct relay_list *outs)
{
	WFS_AUTO_JSON json_t *document = document_of(relay, outs);
	WFS_AUTO_JSON json_t *answer = NULL;
	int status;

	if (!document)
		return -ENOMEM;
	if (wfs_node_role(wfs_relay_node(relay)) == WFS_NODE_OWNER)
		status = relay_do(relay, document, outs->first->call->driver, &answer);
	else
		status = post(relay, link, document, outs->first, &answer);
	/* From the answer on, the callers' threads alone release the payloads. */
	json_decref(WFS_STEAL(document));
	if (status == 200)
		take_answers(outs, WFS_STEAL(answer));
	else if (status == -ETIMEDOUT || status == -ENOMEM)
		for (struct relay_out *out = outs->first; out; out = out->next)
			out->sent = true;
	return status;
}

/* Does the status say that a document is too large, has too many values, or is nested too deeply? A
 * node takes a little less than what its clients may send, which the document is wrapped around. */
static bool is_too_large(int status)
{
	return status == 422 || status == -EFBIG;
}

static void refuse_large(struct relay_out *out)
{
	struct wfs_call *const call = out_end(out);

	wfs_verb_finish(call,
		wfs_error_set(&call->error, WFS_E_TOO_LARGE,
			"the request is too large, or nested too deeply, to be sent to the node "
			"that owns the world"));
}

/* Sends each request in a document of its own, in order, and refuses those that are too large, so
 * that they do not keep others. Ends with the first that has no answer. */
static void exchange_each(struct wfs_relay *relay, struct link *link, struct relay_list *outs)
{
	struct relay_list all = *outs;
	struct relay_out *out;

	*outs = (struct relay_list){0};
	while (outs->count == 0 && (out = relay_list_take(&all))) {
		relay_list_add(outs, out);
		if (is_too_large(exchange(relay, link, outs)))
			refuse_large(relay_list_take(outs));
	}
	while ((out = relay_list_take(&all)))
		relay_list_add(outs, out);
}

/* Takes those out of @outs that are to be given up. */
static void drop_over(struct relay_list *outs)
{
	struct relay_list all = *outs;
	struct relay_list over = {0};
	struct relay_out *out;

	*outs = (struct relay_list){0};
	while ((out = relay_list_take(&all)))
		relay_list_add(is_over(out) ? &over : outs, out);
	end_all(&over);
}

/* Sends requests until each is answered or given up. */
static void deliver(struct wfs_relay *relay, struct link *link, struct relay_list *outs)
{
	for (;;) {
		drop_over(outs);
		if (outs->count == 0)
			return;
		if (is_too_large(exchange(relay, link, outs)))
			exchange_each(relay, link, outs);
		if (outs->count > 0)
			relay_pause(relay, RELAY_AGAIN_MS);
	}
}

/* --- the lane --- */

/* Takes the next requests of the lane; waits for one, or until answers may be too late. Lock:
 * relay->lock */
static void wait_for_more(struct wfs_relay *relay)
{
	const int64_t due_ns = wfs_clock_monotonic_ns() + relay->wait_ns / 4;
	const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};

	while (!relay->waiting.first && !atomic_load(&relay->stopping) &&
		pthread_cond_timedwait(&relay->changed, &relay->lock, &due) != ETIMEDOUT)
		;
}

static void take_batch(struct wfs_relay *relay, struct relay_list *outs)
{
	size_t bytes = 0;
	WFS_GUARD(&relay->lock);

	wait_for_more(relay);
	while (relay->waiting.first && outs->count < RELAY_BATCH_MAX &&
		(outs->count == 0 ||
			bytes + relay->waiting.first->bytes <= RELAY_BATCH_BYTES_MAX)) {
		bytes += relay->waiting.first->bytes;
		relay_list_add(outs, relay_list_take(&relay->waiting));
	}
}

void *relay_lane(void *argument)
{
	struct wfs_relay *const relay = argument;
	struct relay_list outs = {0};
	struct link link = {.peer = NULL};

	pthread_setname_np(pthread_self(), "wfs-relay");
	do {
		take_batch(relay, &outs);
		deliver(relay, &link, &outs);
		expire(relay);
	} while (!atomic_load(&relay->stopping));
	take_batch(relay, &outs);
	while (outs.count > 0) { /* those that came before `stopping` */
		deliver(relay, &link, &outs);
		take_batch(relay, &outs);
	}
	/* Nothing is sent any more, and nothing arrives. */
	expire(relay);
	wfs_peer_free(link.peer);
	return NULL;
}

/* --- requests that may take long --- */

static void *long_main(void *argument)
{
	struct relay_out *const out = argument;
	struct wfs_relay *const relay = out->relay;
	struct relay_list outs = {0};
	struct link link = {.peer = NULL};

	pthread_setname_np(pthread_self(), "wfs-relay-long");
	relay_list_add(&outs, out);
	deliver(relay, &link, &outs);
	wfs_peer_free(link.peer);
	WFS_GUARD(&relay->lock);
	relay->long_count--;
	pthread_cond_broadcast(&relay->changed);
	return NULL;
}

static void refuse_long(struct relay_out *out)
{
	struct wfs_call *const call = out_end(out);

	wfs_verb_finish(call,
		wfs_error_set(&call->error, WFS_E_OVERLOADED,
			"too many turns and plans that this node has asked for are under way at "
			"the owner: at most %d",
			RELAY_LONG_MAX));
}

/* Return: 0, or -EAGAIN. */
static int start_long(struct relay_out *out)
{
	struct wfs_relay *const relay = out->relay;
	pthread_attr_t detached;
	pthread_t thread;
	WFS_GUARD(&relay->lock);

	if (relay->long_count >= RELAY_LONG_MAX)
		return -EAGAIN;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	const int r = -pthread_create(&thread, &detached, long_main, out);
	pthread_attr_destroy(&detached);
	relay->long_count += r == 0;
	relay->relayed_total += r == 0;
	return r;
}

/* --- taking --- */

/* Counts a call that is taken. */
static int out_new(struct wfs_relay *relay, struct wfs_call *call, const char *verb,
	struct relay_out **ret_out)
{
	const size_t bytes = json_dumpb(call->payload, NULL, 0, JSON_COMPACT);
	struct relay_out *const out = calloc(1, sizeof(*out));

	if (!out)
		return -ENOMEM;
	*out = (struct relay_out){
		.relay = relay,
		.call = call,
		.bytes = bytes,
		.until_ns = wfs_clock_monotonic_ns() + relay->wait_ns,
	};
	snprintf(out->verb, sizeof(out->verb), "%s", verb);
	snprintf(out->id, sizeof(out->id), "%s-%llx", wfs_node_process(wfs_relay_node(relay)),
		(unsigned long long)atomic_fetch_add(&relay->id_count, 1));
	WFS_GUARD(&relay->lock);
	if (relay->count >= RELAY_COUNT_MAX || relay->bytes + bytes > RELAY_BYTES_MAX) {
		free(out);
		return wfs_error_set(&call->error, WFS_E_OVERLOADED,
			"too many requests wait for the node that owns the world");
	}
	relay->count++;
	relay->bytes += bytes;
	*ret_out = out;
	return 0;
}

static void enqueue(struct relay_out *out)
{
	struct wfs_relay *const relay = out->relay;

	pthread_mutex_lock(&relay->lock);
	const bool stopping = atomic_load(&relay->stopping); /* then the lane may have ended */
	if (!stopping) {
		relay->relayed_total++;
		relay_list_add(&relay->waiting, out);
		pthread_cond_broadcast(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	if (stopping)
		give_up(out);
}

static void end_here(struct relay_out *out)
{
	struct wfs_relay *const relay = out->relay;
	const bool confirms = relay_confirms(out->call, out->verb, false);
	struct wfs_call *const call = out_end(out);

	if (confirms)
		relay_confirm(relay, call, call->done);
	else
		call->done(call);
}

/* The world of this node has answered a call. If it has done so because another node is to decide,
 * the call goes on its way. */
static void done_here(struct wfs_call *call)
{
	struct relay_out *const out = call->context;

	call->done = out->done;
	call->context = out->context;
	if (!call->request.undecided || atomic_load(&out->relay->stopping)) {
		end_here(out);
		return;
	}
	out->sent = call->error.code == WFS_E_UNKNOWN;
	call->status = 0;
	call->error = (struct wfs_error){0};
	json_decref(WFS_STEAL(call->error_details));
	json_decref(WFS_STEAL(call->meta));
	call->request = (struct wfs_request){.seq = 0};
	enqueue(out);
}

/* Does the request take turns, or work on the whole world? */
static bool takes_long(const struct wfs_call *call, const char *verb)
{
	return wfs_verb_drives(verb) ||
		(wfs_verb_slow(verb, call->payload) &&
			wfs_order_kind(verb, call->payload) != WFS_ORDER_CHANGE);
}

bool relay_take(struct wfs_host *host, struct wfs_call *call, const char *verb)
{
	struct wfs_relay *const relay = host->relayer;
	const bool owns = wfs_node_role(wfs_relay_node(relay)) == WFS_NODE_OWNER;
	const bool longer = takes_long(call, verb);
	struct relay_out *out = NULL;

	if (owns && (wfs_verb_drives(verb) || atomic_load(&relay->stopping)))
		return false;
	const int r = out_new(relay, call, verb, &out);
	if (!out) {
		wfs_verb_finish(call, r);
		return true;
	}
	if (owns) {
		out->done = call->done;
		out->context = call->context;
		call->done = done_here;
		call->context = out;
		call->id = out->id;
		return false;
	}
	out->longer = longer;
	if (!longer)
		enqueue(out);
	else if (start_long(out))
		refuse_long(out);
	return true;
}
