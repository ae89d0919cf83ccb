/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/relay/relay.h"

#include "caps/session-read.h"
#include "caps/session.h"
#include "fs/relay/relay-impl.h"
#include "kernel/base/clock.h"

enum { MS_NS = 1000000, SETTLE_MS = 20 };

void relay_list_add(struct relay_list *list, struct relay_out *out)
{
	out->next = NULL;
	if (list->last)
		list->last->next = out;
	else
		list->first = out;
	list->last = out;
	list->count++;
}

struct relay_out *relay_list_take(struct relay_list *list)
{
	struct relay_out *const out = list->first;

	if (!out)
		return NULL;
	list->first = out->next;
	if (!list->first)
		list->last = NULL;
	list->count--;
	out->next = NULL;
	return out;
}

void relay_pause(struct wfs_relay *relay, int64_t pause_ms)
{
	const int64_t due_ns = wfs_clock_monotonic_ns() + pause_ms * MS_NS;
	const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
	WFS_GUARD(&relay->lock);

	while (!atomic_load(&relay->stopping) &&
		pthread_cond_timedwait(&relay->changed, &relay->lock, &due) != ETIMEDOUT)
		;
}

/* --- functions of the host --- */

static json_t *replicas(struct wfs_host *host)
{
	return wfs_node_status(wfs_relay_node(host->relayer));
}

static json_t *nodes_status(struct wfs_nodes_source *source)
{
	const struct wfs_relay *const relay =
		(void *)((char *)source - offsetof(struct wfs_relay, nodes));

	return wfs_node_status(wfs_relay_node(relay));
}

static void figures(struct wfs_host *host, struct wfs_replica_figures *ret_figures)
{
	struct wfs_relay *const relay = host->relayer;
	struct wfs_node_figures node;
	wfs_node_figures(wfs_relay_node(relay), &node);
	const uint64_t log_height = (uint64_t)node.log_height;
	WFS_GUARD(&relay->lock);

	*ret_figures = (struct wfs_replica_figures){
		.role = wfs_node_role_name(node.role),
		.epoch = (uint64_t)node.epoch,
		.height = relay->height,
		.lag_records = log_height > relay->height ? log_height - relay->height : 0,
		.lease_ms = (uint64_t)node.lease_ms,
		.waiting = relay->count,
		.relayed_total = relay->relayed_total,
		.unknown_total = relay->unknown_total,
	};
}

static int handover(struct wfs_host *host, const char *to, struct wfs_error *error)
{
	return wfs_node_handover(wfs_relay_node(host->relayer), to, error);
}

static bool owns(struct wfs_host *host)
{
	return wfs_node_role(wfs_relay_node(host->relayer)) == WFS_NODE_OWNER;
}

static void cease(struct wfs_host *host)
{
	wfs_relay_cease(host->relayer);
}

static void told(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	relay_reach((void *)((char *)observer - offsetof(struct wfs_relay, observer)),
		commit->to_height);
}

/* --- life --- */

static void init_locks(struct wfs_relay *relay)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&relay->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&relay->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* Has the height followed from now on. */
static int watch_height(struct wfs_relay *relay, struct wfs_error *error)
{
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = wfs_session_new(relay->authority, WFS_PRINCIPAL_OPERATOR, &session, error);

	if (r)
		return wfs_trace(r);
	relay->observer.told = told;
	wfs_authority_observe(relay->authority, &relay->observer);
	r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		relay_reach(relay, view.height);
	return wfs_trace(r);
}

static int start_threads(struct wfs_relay *relay, struct wfs_error *error)
{
	int r = wfs_work_new(RELAY_IN_THREADS, &relay->in);

	if (!r)
		r = -pthread_create(&relay->lane, NULL, relay_lane, relay);
	relay->lane_started = r == 0;
	if (!r)
		r = -pthread_create(&relay->confirmer, NULL, relay_confirm_main, relay);
	relay->confirmer_started = r == 0;
	return r ? wfs_error_from_errno(error, r, "start threads for requests to other nodes") : 0;
}

static int begin(
	struct wfs_relay *relay, const struct wfs_join_options *options, struct wfs_error *error)
{
	struct wfs_join_options own = *options;

	own.request = relay_in_request;
	own.gone = relay_in_gone;
	own.request_context = relay;
	int r = wfs_join_new(relay->authority, &own, &relay->join, error);
	if (r || !relay->join)
		return wfs_trace(r);
	relay->wait_ns = wfs_join_wait_ms(relay->join) * MS_NS;
	relay->lease_ns = wfs_join_lease_ms(relay->join) * MS_NS;
	r = watch_height(relay, error);
	return wfs_trace(r ? r : start_threads(relay, error));
}

int wfs_relay_new(struct wfs_authority *authority, struct wfs_host *host,
	const struct wfs_join_options *options, struct wfs_relay **ret_relay,
	struct wfs_error *error)
{
	WFS_AUTO_RELAY struct wfs_relay *relay = calloc(1, sizeof(*relay));

	*ret_relay = NULL;
	if (!relay)
		return wfs_error_from_errno(error, -ENOMEM, "join other nodes");
	relay->authority = authority;
	relay->host = host;
	init_locks(relay);
	relay->busy = json_object();
	const int r = relay->busy ? begin(relay, options, error)
				  : wfs_error_from_errno(error, -ENOMEM, "join other nodes");
	if (r || !relay->join)
		return wfs_trace(r);
	host->relayer = relay;
	host->relay = relay_take;
	host->replicas = replicas;
	host->figures = figures;
	host->handover = handover;
	host->owns = owns;
	host->cease = cease;
	relay->nodes.status = nodes_status;
	wfs_authority_set_nodes(authority, &relay->nodes);
	*ret_relay = WFS_STEAL(relay);
	return 0;
}

void wfs_relay_cease(struct wfs_relay *relay)
{
	WFS_GUARD(&relay->lock);

	atomic_store(&relay->stopping, true);
	pthread_cond_broadcast(&relay->changed);
}

void wfs_relay_free(struct wfs_relay *relay)
{
	if (!relay)
		return;
	wfs_relay_cease(relay);
	if (relay->nodes.status)
		wfs_authority_set_nodes(relay->authority, NULL);
	pthread_mutex_lock(&relay->lock);
	while (relay->long_count > 0)
		pthread_cond_wait(&relay->changed, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
	if (relay->lane_started)
		pthread_join(relay->lane, NULL);
	if (relay->confirmer_started)
		pthread_join(relay->confirmer, NULL);
	wfs_join_free(relay->join);
	wfs_work_free(relay->in);
	if (relay->observer.told)
		wfs_authority_unobserve(relay->authority, &relay->observer);
	json_decref(relay->busy);
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->changed);
	free(relay);
}

struct wfs_node *wfs_relay_node(const struct wfs_relay *relay)
{
	return wfs_join_node(relay->join);
}

int64_t wfs_relay_heir_wait_ms(const struct wfs_relay *relay)
{
	return wfs_node_inherits(wfs_relay_node(relay)) ? relay->lease_ns / MS_NS : 0;
}

bool wfs_relay_settle(struct wfs_relay *relay, int64_t wait_ms)
{
	struct wfs_node *const node = wfs_relay_node(relay);
	const int64_t until_ns = wfs_clock_monotonic_ns() + wait_ms * MS_NS;
	struct wfs_node_port owner = {.lives = false};

	while (!wfs_node_wait(node, WFS_NODE_OWNER, SETTLE_MS) && !owner.lives &&
		wfs_clock_monotonic_ns() < until_ns)
		wfs_node_owner(node, &owner);
	return wfs_node_role(node) == WFS_NODE_OWNER;
}
