/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that the owner does, for other nodes or for its own lane. */
#include "caps/session.h"
#include "fs/relay/relay-impl.h"
#include "fs/replica/ids.h"
#include "kernel/base/json.h"

/* A request of a document. */
struct inner {
	struct wfs_call call; /* first: the callback casts back */
	struct relay_in *in;
	struct wfs_session *session; /* owned by the first of the document that has it */
	bool owns_session;
	const char *id; /* borrowed from the document, as the next */
	const char *verb;
	bool again; /* it has a record already */
	/* Lock for the following: the relay's. */
	bool begun;
	bool done;
	json_t *envelope;
};

/* A document under way. */
struct relay_in {
	struct wfs_work_task task; /* first: the callback casts back */
	struct wfs_relay *relay;
	struct wfs_port_call *call; /* of another node; NULL: of this one */
	struct wfs_bytes body;      /* with `call` */
	struct wfs_driver *driver;  /* without */
	json_t *document;           /* owned */
	json_t *answer;             /* owned; of this node's own document */
	struct inner *inners;
	size_t count;
	/* Lock for the following: the relay's. */
	struct relay_in *next;
	size_t left; /* that are not done; one more while they are begun */
	bool gone;   /* nobody waits for the answer */
	bool done;
};

/* --- the list of documents under way --- */

static void add(struct relay_in *in)
{
	WFS_GUARD(&in->relay->lock);

	in->next = in->relay->ins;
	in->relay->ins = in;
}

static void in_free(struct relay_in *in)
{
	for (size_t i = 0; i < in->count; i++) {
		struct inner *const inner = &in->inners[i];

		wfs_call_done(&inner->call);
		json_decref(inner->envelope);
		if (inner->owns_session)
			wfs_session_free(inner->session);
	}
	free(in->inners);
	json_decref(in->document);
	json_decref(in->answer);
	free(in);
}

static void unlink_in(struct relay_in *in)
{
	WFS_GUARD(&in->relay->lock);
	struct relay_in **at = &in->relay->ins;

	while (*at != in)
		at = &(*at)->next;
	*at = in->next;
}

/* Answers another node, and frees the document. */
static void reply(struct relay_in *in, int status, const json_t *answer)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (answer)
		wfs_json_write(answer, &text);
	else
		wfs_buffer_append(&text, "{}", 2);
	if (wfs_buffer_check(&text)) /* the requests are done, but nobody can be told */
		wfs_buffer_reset(&text);
	unlink_in(in);
	wfs_port_answer(in->call, status, wfs_buffer_bytes(&text));
	in_free(in);
}

/* --- ends --- */

/* Makes the answer to the document. Return: new reference, or NULL without memory. */
static json_t *answer_of(struct relay_in *in)
{
	WFS_AUTO_JSON json_t *answers = json_array();

	for (size_t i = 0; answers && i < in->count; i++) {
		json_t *const envelope = in->inners[i].envelope;

		if (json_array_append_new(answers, envelope ? json_incref(envelope) : json_null()))
			json_decref(WFS_STEAL(answers));
	}
	WFS_GUARD(&in->relay->lock);
	return answers ? json_pack("{s:O, s:I}", "answers", answers, "height",
				 (json_int_t)in->relay->height)
		       : NULL;
}

/* Notes that some of the document is done. Ends it if that was all. */
static void note(struct relay_in *in, struct inner *inner)
{
	struct wfs_relay *const relay = in->relay;
	const bool own = !in->call; /* then relay_do() frees it as soon as it is done */

	pthread_mutex_lock(&relay->lock);
	if (inner)
		inner->done = true;
	const bool last = --in->left == 0;
	pthread_mutex_unlock(&relay->lock);
	if (!last)
		return;
	in->answer = answer_of(in);
	pthread_mutex_lock(&relay->lock);
	for (size_t i = 0; i < in->count; i++)
		json_object_del(relay->busy, in->inners[i].id);
	in->done = own;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	if (!own)
		reply(in, in->answer ? 200 : 500, in->answer);
}

static void inner_answered(struct wfs_call *call)
{
	struct inner *const inner = (struct inner *)call;

	/* What the world has not decided can be asked for again, perhaps of another owner. */
	if (!call->request.undecided || call->error.code == WFS_E_UNKNOWN)
		inner->envelope = wfs_call_envelope(call, NULL);
	note(inner->in, inner);
}

static void inner_done(struct wfs_call *call)
{
	struct inner *const inner = (struct inner *)call;

	if (relay_confirms(call, inner->verb, inner->again))
		relay_confirm(inner->in->relay, call, inner_answered);
	else
		inner_answered(call);
}

/* --- begin --- */

/* Finds a session of the principal among those of the document, or makes one. */
static int find_session(struct inner *inner, const char *principal)
{
	struct relay_in *const in = inner->in;

	for (const struct inner *other = in->inners; other != inner; other++)
		if (other->session &&
			strcmp(wfs_session_principal(other->session), principal) == 0) {
			inner->session = other->session;
			return 0;
		}
	const int r = wfs_session_new(
		in->relay->authority, principal, &inner->session, &inner->call.error);
	inner->owns_session = r == 0;
	return r;
}

/* Answers a request that has a record already. */
static void answer_again(struct inner *inner, uint64_t seq)
{
	struct wfs_call *const call = &inner->call;

	inner->again = true;
	if (strcmp(inner->verb, "send-event") == 0) {
		call->result = json_pack("{s:[I]}", "seqs", (json_int_t)seq);
		wfs_verb_finish(call, call->result ? 0 : -ENOMEM);
		return;
	}
	call->error_details = json_pack("{s:I}", "seq", (json_int_t)seq);
	wfs_verb_finish(call,
		wfs_error_set(&call->error, WFS_E_UNKNOWN,
			"the request was done as record %llu, but its answer is lost",
			(unsigned long long)seq));
}

static void begin_inner(struct inner *inner, const json_t *request)
{
	struct relay_in *const in = inner->in;
	struct wfs_call *const call = &inner->call;
	uint64_t seq;

	call->host = in->relay->host;
	call->driver = in->driver;
	call->id = inner->id;
	call->done = inner_done;
	inner->verb = wfs_json_text(request, "verb");
	call->payload = json_incref(json_object_get(request, "payload"));
	const int r = find_session(inner, wfs_json_text(request, "principal"));
	call->session = inner->session;
	if (r) {
		call->stranger = true; /* nothing can be looked up for it */
		wfs_verb_finish(call, r);
	} else if (wfs_ids_find(wfs_node_ids(wfs_relay_node(in->relay)), inner->id, &seq)) {
		answer_again(inner, seq);
	} else {
		wfs_call_start(call, inner->verb);
	}
}

/* Ends a request if nobody waits for it. What is not done then is asked for again. Lock: the
 * relay's. */
static void abandon(struct inner *inner)
{
	if (inner->begun && !inner->done)
		wfs_call_abandon(&inner->call);
}

/* A request has begun, so it can be abandoned. */
static void begun(struct inner *inner)
{
	WFS_GUARD(&inner->in->relay->lock);

	inner->begun = true;
	if (inner->in->gone)
		abandon(inner);
}

/* Does the document have its form? */
static bool is_valid(const json_t *document)
{
	const json_t *const requests = json_object_get(document, "requests");
	const json_t *request;
	size_t i;

	if (!json_is_integer(json_object_get(document, "height")) ||
		json_array_size(requests) == 0 || json_array_size(requests) > RELAY_BATCH_MAX)
		return false;
	json_array_foreach(requests, i, request)
		if (!wfs_batch_id_valid(wfs_json_text(request, "id")) ||
			!json_is_object(json_object_get(request, "payload")) ||
			!json_is_string(json_object_get(request, "principal")) ||
			!json_is_string(json_object_get(request, "verb")))
			return false;
	return true;
}

/* Makes the requests of the document, and marks their ids as under way. Return: 0, or a status. */
static int prepare(struct relay_in *in)
{
	struct wfs_relay *const relay = in->relay;
	const json_t *const requests = json_object_get(in->document, "requests");
	const json_int_t height = json_integer_value(json_object_get(in->document, "height"));
	const size_t count = json_array_size(requests);

	in->inners = calloc(count, sizeof(*in->inners));
	if (!in->inners)
		return 500;
	WFS_GUARD(&relay->lock);
	if (wfs_node_role(wfs_relay_node(relay)) != WFS_NODE_OWNER || height < 0 ||
		(uint64_t)height > relay->height)
		return 409;
	for (size_t i = 0; i < count; i++)
		if (json_object_get(relay->busy, wfs_json_text(json_array_get(requests, i), "id")))
			return 409;
	for (size_t i = 0; i < count; i++) {
		struct inner *const inner = &in->inners[i];

		inner->in = in;
		inner->id = wfs_json_text(json_array_get(requests, i), "id");
		const bool twice = json_object_get(relay->busy, inner->id);
		if (twice || json_object_set_new(relay->busy, inner->id, json_true()) < 0) {
			while (in->count > 0)
				json_object_del(relay->busy, in->inners[--in->count].id);
			return twice ? 422 : 500;
		}
		in->count++;
	}
	in->left = count + 1;
	return 0;
}

/* Begins the document. Return: 0: it will end by note(); or a status. */
static int begin(struct relay_in *in)
{
	const json_t *const requests = json_object_get(in->document, "requests");
	const int status = is_valid(in->document) ? prepare(in) : 422;

	if (status)
		return status;
	for (size_t i = 0; i < in->count; i++) {
		begin_inner(&in->inners[i], json_array_get(requests, i));
		begun(&in->inners[i]);
	}
	note(in, NULL);
	return 0;
}

int relay_do(struct wfs_relay *relay, const json_t *document, struct wfs_driver *driver,
	json_t **ret_answer)
{
	struct relay_in *const in = calloc(1, sizeof(*in));

	if (!in)
		return 500;
	in->relay = relay;
	in->driver = driver;
	in->document = json_incref((json_t *)document);
	int status = begin(in);
	if (!status) {
		pthread_mutex_lock(&relay->lock);
		while (!in->done)
			pthread_cond_wait(&relay->changed, &relay->lock);
		pthread_mutex_unlock(&relay->lock);
		*ret_answer = WFS_STEAL(in->answer);
		status = *ret_answer ? 200 : -ENOMEM;
	}
	in_free(in);
	return status;
}

/* --- the port --- */

/* Answers {"reach":H}. Return: a status. */
static int look(struct relay_in *in)
{
	const json_int_t wanted = json_integer_value(json_object_get(in->document, "reach"));
	WFS_GUARD(&in->relay->lock);

	return wanted > 0 && (uint64_t)wanted <= in->relay->height ? 200 : 409;
}

static void work(struct wfs_work_task *task)
{
	struct relay_in *const in = (struct relay_in *)task;

	if (wfs_json_count(in->body.data, in->body.size) > RELAY_VALUES_MAX ||
		wfs_json_parse(in->body.data, in->body.size, &in->document, NULL)) {
		reply(in, 422, NULL);
		return;
	}
	const int status = json_object_get(in->document, "reach") ? look(in) : begin(in);
	if (status)
		reply(in, status, NULL);
}

void relay_in_request(void *context, struct wfs_port_call *call, struct wfs_bytes body)
{
	struct wfs_relay *const relay = context;
	struct relay_in *const in = calloc(1, sizeof(*in));

	if (!in) {
		wfs_port_answer(call, 500, wfs_bytes_text("{}"));
		return;
	}
	in->relay = relay;
	in->call = call;
	in->body = body;
	in->task.run = work;
	add(in);
	wfs_work_add(relay->in, &in->task, 0);
}

void relay_in_gone(void *context, struct wfs_port_call *call)
{
	struct wfs_relay *const relay = context;
	WFS_GUARD(&relay->lock);
	struct relay_in *in = relay->ins;

	while (in && in->call != call)
		in = in->next;
	if (!in)
		return;
	in->gone = true;
	for (size_t i = 0; i < in->count; i++)
		abandon(&in->inners[i]);
}
