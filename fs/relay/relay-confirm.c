/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Revocations: their answers wait until every other node has dropped what its mounts kept, or does
 * not live, and has then had a whole lease to see that itself.
 *
 * The nodes are those that have ever entered the roster, read after the revocation is in the log: a
 * node that enters later, or lives again, folds what the log has before it shows anything.
 */
#include "fs/relay/relay-impl.h"
#include "fs/replica/peer.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

enum { MS_NS = 1000000, PAUSE_MS = 50 };

bool relay_confirms(const struct wfs_call *call, const char *verb, bool again)
{
	const bool done = call->status == 0 || again;

	if (strcmp(verb, "revoke") == 0) /* a second try finds no grant, and waits like the first */
		return done || call->error.code == WFS_E_NOT_FOUND;
	return strcmp(verb, "apply") == 0 && done;
}

/* Another node. Plain value. */
struct other {
	struct wfs_node_peer peer;
	int64_t gone_ns; /* since when it does not live, as far as is known; 0: it lives */
	bool settled;
	bool confirmed;
};

/* The nodes that a revocation waits for. Plain value. */
struct others {
	struct other *all;
	size_t count;
};

/* Has the node's process told its mounts of @height? */
static bool has_reached(const struct wfs_node_port *port, uint64_t height)
{
	const struct wfs_peer_options options = {
		.address = port->address,
		.pin = port->pin,
		.token = port->token,
		.connect_ms = RELAY_CONNECT_MS,
		.request_ms = RELAY_REACH_MS,
		.progress_ms = RELAY_REACH_MS,
	};
	WFS_AUTO_PEER struct wfs_peer *peer = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};
	int status = 0;

	wfs_buffer_printf(&body, "{\"reach\":%llu}", (unsigned long long)height);
	return !wfs_buffer_check(&body) && !wfs_peer_new(&options, &peer, NULL) &&
		!wfs_peer_request(peer, wfs_buffer_bytes(&body), &status, &answer, NULL) &&
		status == 200;
}

/* Looks at one node. */
static void settle(struct wfs_relay *relay, struct other *other, uint64_t height)
{
	const struct wfs_node_port *const port = &other->peer.port;
	const int64_t now_ns = wfs_clock_boottime_ns();

	if (port->lives) {
		other->gone_ns = 0;
		other->confirmed = !*port->address || has_reached(port, height);
		other->settled = other->confirmed;
		return;
	}
	if (other->gone_ns == 0)
		other->gone_ns = other->peer.renewed_ns > 0
			? other->peer.renewed_ns + relay->lease_ns
			: now_ns;
	if (other->gone_ns > now_ns)
		other->gone_ns = now_ns;
	other->settled =
		now_ns - other->gone_ns >= relay->lease_ns + RELAY_ROUND_MS * (int64_t)MS_NS;
}

/* Takes over how the nodes are reached now. Return: 0, or -errno: that is not known. */
static int look(struct wfs_relay *relay, struct others *others)
{
	WFS_AUTO_FREE struct wfs_node_peer *peers = NULL;
	size_t count = 0;
	const int r = wfs_node_peers(wfs_relay_node(relay), RELAY_REACH_MS, &peers, &count);

	if (!r && !others->all) { /* the first look finds the nodes */
		others->all = calloc(count + 1, sizeof(*others->all));
		for (size_t i = 0; others->all && i < count; i++)
			if (!peers[i].self)
				others->all[others->count++].peer = peers[i];
	}
	if (r || !others->all)
		return r ? r : -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < others->count; k++)
			if (strcmp(peers[i].port.name, others->all[k].peer.port.name) == 0)
				others->all[k].peer = peers[i];
	return 0;
}

static bool are_settled(struct wfs_relay *relay, struct others *others, uint64_t height)
{
	bool all = true;

	for (size_t i = 0; i < others->count; i++) {
		if (!others->all[i].settled)
			settle(relay, &others->all[i], height);
		all &= others->all[i].settled;
	}
	return all;
}

/* Waits for the other nodes. Return: names of those that have not confirmed; new reference. NULL:
 * memory is short, or the nodes are not known. */
static json_t *wait_for_others(struct wfs_relay *relay, uint64_t height)
{
	struct others others = {.all = NULL};
	WFS_AUTO_JSON json_t *names = NULL;

	while ((look(relay, &others) || !are_settled(relay, &others, height)) &&
		!atomic_load(&relay->stopping))
		relay_pause(relay, PAUSE_MS);
	names = others.all ? json_array() : NULL;
	for (size_t i = 0; names && i < others.count; i++) {
		const char *const name = others.all[i].peer.port.name;

		if (others.all[i].confirmed)
			continue;
		wfs_log(WFS_LOG_REPLICA, WFS_LOG_WARNING,
			"node '%s' has not confirmed a revocation", name);
		if (json_array_append_new(names, json_string(name)) < 0)
			json_decref(WFS_STEAL(names));
	}
	free(others.all);
	return WFS_STEAL(names);
}

/* Gives the call its answer. @names: of nodes that have not confirmed; NULL: that is not known */
static void answer(struct wfs_call *call, json_t *names)
{
	const bool is_revoke = call->effect == WFS_EFFECT_WORLD_REVOKE;

	if (!names) {
		json_decref(WFS_STEAL(call->result));
		call->status = wfs_error_set(&call->error, WFS_E_UNKNOWN,
			"the change was made, but this node cannot find out whether other nodes "
			"still show what it has taken away");
	} else if (json_array_size(names) > 0 && is_revoke && call->result) {
		(void)json_object_set(call->result, "unconfirmed", names);
	}
}

/* Return: the calls that wait; NULL: the relay ends. */
static struct relay_waiter *take(struct wfs_relay *relay)
{
	WFS_GUARD(&relay->lock);

	while (!relay->waiters && !atomic_load(&relay->stopping))
		pthread_cond_wait(&relay->changed, &relay->lock);
	return WFS_STEAL(relay->waiters);
}

static void confirm(struct wfs_relay *relay, struct relay_waiter *waiters)
{
	pthread_mutex_lock(&relay->lock);
	const uint64_t height = relay->height; /* what the waiters have changed is below it */
	pthread_mutex_unlock(&relay->lock);
	WFS_AUTO_JSON json_t *names = wait_for_others(relay, height);

	while (waiters) {
		struct relay_waiter *const waiter = waiters;

		waiters = waiter->next;
		answer(waiter->call, names);
		waiter->done(waiter->call);
		free(waiter);
	}
}

void *relay_confirm_main(void *argument)
{
	struct wfs_relay *const relay = argument;
	struct relay_waiter *waiters;

	pthread_setname_np(pthread_self(), "wfs-confirm");
	while ((waiters = take(relay)))
		confirm(relay, waiters);
	return NULL;
}

void relay_confirm(
	struct wfs_relay *relay, struct wfs_call *call, void (*done)(struct wfs_call *call))
{
	struct relay_waiter *const waiter = calloc(1, sizeof(*waiter));

	if (waiter)
		*waiter = (struct relay_waiter){.call = call, .done = done};
	pthread_mutex_lock(&relay->lock);
	const bool ends = atomic_load(&relay->stopping) || !waiter;
	if (!ends) {
		waiter->next = relay->waiters;
		relay->waiters = waiter;
		pthread_cond_broadcast(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	if (!ends)
		return;
	free(waiter);
	answer(call, NULL);
	done(call);
}
