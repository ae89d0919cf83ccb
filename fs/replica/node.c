/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a node: its threads, its rounds, and what it says of itself. */
#include "fs/replica/node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "caps/authority.h"
#include "fs/replica/node-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

#define MS_NS INT64_C(1000000)
#define NO_MEMORY(error) wfs_error_from_errno(error, -ENOMEM, "be a node of a world")

enum {
	POLL_MS = 500,     /* between two rounds without a bell */
	TIMEOUT_MS = 1000, /* of a request to etcd */
	RENEWALS = 3,      /* of a lease before it ends */
	BELL_MS = 1000,    /* before a watch that has broken is begun again */
};

static const char *const role_names[] = {
#define ROLE_NAME(constant, name) [WFS_NODE_##constant] = name,
	WFS_NODE_ROLES(ROLE_NAME)
#undef ROLE_NAME
};

const char *wfs_node_role_name(enum wfs_node_role role)
{
	return role_names[role];
}

void node_wake(struct wfs_node *node)
{
	WFS_GUARD(&node->lock);

	node->rung = true;
	pthread_cond_signal(&node->woken);
}

/* --- what others see --- */

static json_t *problem_document(const struct node_problem *problem)
{
	if (problem->code == WFS_OK)
		return NULL;
	return json_pack("{s:s*, s:s, s:s, s:o*}", "cell", *problem->cell ? problem->cell : NULL,
		"code", wfs_error_info(problem->code)->name, "message", problem->message, "record",
		problem->code == WFS_E_DIVERGED ? json_integer((json_int_t)problem->record) : NULL);
}

/* A node that does not live has a name and a role only. */
static json_t *node_document(const struct wfs_node *node, const struct wfs_roster_node *other)
{
	const struct wfs_roster_entry *const entry = &other->entry;
	const int64_t ago_ns = wfs_clock_boottime_ns() - other->renewed_ns;
	const int64_t lag = node->looked.head.height - entry->height;

	if (!other->lives)
		return json_pack("{s:n, s:n, s:n, s:n, s:n, s:s, s:n, s:s}", "address", "bytes",
			"height", "lag_records", "last_contact_ms", "name", other->name, "problem",
			"role", role_names[WFS_NODE_NONE]);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:O?, s:s}", "address", entry->address,
		"bytes", (json_int_t)entry->bytes, "height", (json_int_t)entry->height,
		"lag_records", (json_int_t)(lag > 0 ? lag : 0), "last_contact_ms",
		(json_int_t)(ago_ns / MS_NS), "name", other->name, "problem", entry->problem,
		"role", entry->role);
}

static struct wfs_node_port port_of(const char *name, const struct wfs_roster_node *other)
{
	struct wfs_node_port port = {.lives = other && other->lives};

	snprintf(port.name, sizeof(port.name), "%s", name);
	if (port.lives) {
		snprintf(port.address, sizeof(port.address), "%s", other->entry.address);
		snprintf(port.pin, sizeof(port.pin), "%s", other->entry.pin);
		snprintf(port.token, sizeof(port.token), "%s", other->entry.token);
	}
	return port;
}

/* Return: the nodes of the roster; the caller owns them. NULL: without memory. */
static struct wfs_node_peer *copy_peers(
	const struct wfs_node *node, const struct wfs_roster_node *nodes, size_t count)
{
	struct wfs_node_peer *const peers = calloc(count + 1, sizeof(*peers));

	for (size_t i = 0; peers && i < count; i++)
		peers[i] = (struct wfs_node_peer){
			.port = port_of(nodes[i].name, &nodes[i]),
			.self = strcmp(nodes[i].name, node->options.name) == 0,
			.renewed_ns = nodes[i].renewed_ns,
		};
	return peers;
}

/* Takes over what a look at the roster has found. */
static int note_roster(struct wfs_node *node, int64_t look_ns, struct wfs_error *error)
{
	size_t count;
	const struct wfs_roster_node *const nodes = wfs_roster_nodes(node->roster, &count);
	const struct wfs_roster_node *const owner =
		wfs_roster_find(node->roster, node->looked.epoch.owner);
	const bool owns = owner &&
		strcmp(owner->entry.process ? owner->entry.process : "",
			node->looked.epoch.process) == 0;
	WFS_AUTO_FREE struct wfs_node_peer *peers = copy_peers(node, nodes, count);
	WFS_AUTO_JSON json_t *list = json_array();

	for (size_t i = 0; list && i < count; i++)
		if (json_array_append_new(list, node_document(node, &nodes[i])) < 0)
			json_decref(WFS_STEAL(list));
	if (!list || !peers)
		return NO_MEMORY(error);
	if (owner && owner->lives)
		node->ahead_ms =
			(wfs_clock_realtime_ns() - wfs_clock_boottime_ns() + owner->renewed_ns) /
				MS_NS -
			owner->entry.at_ms;
	WFS_GUARD(&node->lock);
	json_decref(node->nodes);
	node->nodes = WFS_STEAL(list);
	node->epoch = node->looked.epoch.epoch;
	node->owner = port_of(node->looked.epoch.owner, owns ? owner : NULL);
	free(node->peers);
	node->peers = WFS_STEAL(peers);
	node->peer_count = count;
	node->peers_ns = look_ns;
	node->peers_wanted = false;
	return 0;
}

/* Keeps what was wrong in a round. */
static void note_problem(struct wfs_node *node, int r, const struct wfs_error *error)
{
	WFS_GUARD(&node->lock);
	const enum wfs_error_code before = node->problem.code;

	node->problem = (struct node_problem){.code = WFS_OK};
	if (r && error->code == WFS_E_DIVERGED)
		node->problem = node->diverged;
	node->problem.code = r ? error->code : WFS_OK;
	if (r)
		snprintf(
			node->problem.message, sizeof(node->problem.message), "%s", error->message);
	if (r && before != error->code)
		wfs_log(WFS_LOG_REPLICA, WFS_LOG_WARNING, "node '%s': %s", node->options.name,
			error->message);
	else if (!r && before != WFS_OK)
		wfs_log(WFS_LOG_REPLICA, WFS_LOG_NOTICE, "node '%s': all is well again",
			node->options.name);
}

/* Has principals other than operator lose their rights with the lease, as this node then hears of
 * no revocation. With a new lease they get them back when the world has all that the log had after
 * it began. @current: has it in this round? */
static void lend_rights(struct wfs_node *node, bool lives, bool current)
{
	if (!*node->options.address) /* nothing is shown to others */
		return;
	node->lent = lives && (node->lent || current);
	wfs_authority_lend(node->authority, node->lent ? wfs_roster_until_ns(node->roster) : 0);
}

/* @current: does the world have all that the log had in this round? */
static void note_role(struct wfs_node *node, bool current)
{
	const bool lives = wfs_clock_boottime_ns() < wfs_roster_until_ns(node->roster);
	const enum wfs_node_role role = !lives ? WFS_NODE_NONE
		: node->owning                 ? WFS_NODE_OWNER
					       : WFS_NODE_FOLLOWER;

	lend_rights(node, lives, current);
	pthread_mutex_lock(&node->lock);
	const bool changed = role != node->role;
	node->role = role;
	node->log_height = node->looked.head.height;
	pthread_cond_broadcast(&node->changed);
	pthread_mutex_unlock(&node->lock);
	if (!changed)
		return;
	node->renew_ns = 0; /* the others are to see it */
	if (node->options.became)
		node->options.became(node->options.context, role);
}

struct wfs_ids *wfs_node_ids(struct wfs_node *node)
{
	return node->ids;
}

bool wfs_node_inherits(const struct wfs_node *node)
{
	return node->inherits;
}

const char *wfs_node_process(const struct wfs_node *node)
{
	return node->process;
}

void wfs_node_owner(struct wfs_node *node, struct wfs_node_port *ret_owner)
{
	WFS_GUARD(&node->lock);

	*ret_owner = node->owner;
}

enum wfs_node_role wfs_node_role(struct wfs_node *node)
{
	WFS_GUARD(&node->lock);

	return node->role;
}

static struct timespec after(int64_t wait_ms)
{
	const int64_t due_ns = wfs_clock_monotonic_ns() + wait_ms * MS_NS;

	return (struct timespec){due_ns / 1000000000, due_ns % 1000000000};
}

bool wfs_node_lives(struct wfs_node *node, const struct wfs_node_port *port)
{
	bool lives = false;
	WFS_GUARD(&node->lock);

	for (size_t i = 0; i < node->peer_count; i++)
		lives |= node->peers[i].port.lives &&
			strcmp(node->peers[i].port.name, port->name) == 0 &&
			strcmp(node->peers[i].port.token, port->token) == 0;
	return lives;
}

int wfs_node_peers(
	struct wfs_node *node, int64_t wait_ms, struct wfs_node_peer **ret_peers, size_t *ret_count)
{
	const int64_t begin_ns = wfs_clock_boottime_ns();
	const struct timespec due = after(wait_ms);
	int r = 0;
	WFS_GUARD(&node->lock);

	node->peers_wanted = node->rung = true;
	pthread_cond_signal(&node->woken);
	while (!r && node->peers_ns <= begin_ns)
		r = pthread_cond_timedwait(&node->changed, &node->lock, &due);
	if (r)
		return -EAGAIN;
	*ret_peers = calloc(node->peer_count + 1, sizeof(**ret_peers));
	if (!*ret_peers)
		return -ENOMEM;
	memcpy(*ret_peers, node->peers, node->peer_count * sizeof(**ret_peers));
	*ret_count = node->peer_count;
	return 0;
}

bool wfs_node_wait(struct wfs_node *node, enum wfs_node_role role, int64_t wait_ms)
{
	const struct timespec due = after(wait_ms);
	WFS_GUARD(&node->lock);

	while (node->role != role &&
		pthread_cond_timedwait(&node->changed, &node->lock, &due) != ETIMEDOUT)
		;
	return node->role == role;
}

void wfs_node_figures(struct wfs_node *node, struct wfs_node_figures *ret_figures)
{
	const int64_t until_ns = node->roster ? wfs_roster_until_ns(node->roster) : 0;
	const int64_t left_ns = until_ns - wfs_clock_boottime_ns();
	WFS_GUARD(&node->lock);

	*ret_figures = (struct wfs_node_figures){
		.role = node->role,
		.epoch = node->epoch,
		.log_height = node->log_height,
		.lease_ms = left_ns > 0 ? left_ns / MS_NS : 0,
	};
}

json_t *wfs_node_status(struct wfs_node *node)
{
	WFS_GUARD(&node->lock);

	/* A copy, because the node's thread replaces the list. */
	return json_pack("{s:I, s:s, s:o, s:s, s:o?, s:s}", "epoch", (json_int_t)node->epoch,
		"node", node->options.name, "nodes", json_deep_copy(node->nodes), "owner",
		node->owner.name, "problem", problem_document(&node->problem), "role",
		role_names[node->role]);
}

/* --- one round --- */

/* Does the node fold what the log has? Another problem of a round is one of its time. */
static bool can_fold(const struct node_problem *problem)
{
	switch (problem->code) {
	case WFS_OK:
	case WFS_E_UNAVAILABLE:
	case WFS_E_TIMEOUT:
	case WFS_E_BUSY:
		return true;
	default:
		return false;
	}
}

/* Renews the lease when its time has come. A node that cannot fold gives up the right that comes
 * with it, because its mounts would show the past as if it were now. */
static int renew(struct wfs_node *node, struct wfs_error *error)
{
	const int64_t now_ns = wfs_clock_boottime_ns();
	struct wfs_replica_head head;

	if (now_ns < node->renew_ns)
		return 0;
	node->renew_ns = now_ns + node->options.lease_ms * MS_NS / RENEWALS;
	int r = wfs_replica_head(node->replica, &head, error);
	if (r)
		return wfs_trace(r);
	pthread_mutex_lock(&node->lock);
	WFS_AUTO_JSON json_t *problem = problem_document(&node->problem);
	const bool serves = can_fold(&node->problem);
	const enum wfs_node_role role = node->role;
	pthread_mutex_unlock(&node->lock);
	const struct wfs_roster_entry entry = {
		.address = node->options.address,
		.at_ms = wfs_clock_realtime_ns() / MS_NS,
		.bytes = wfs_replica_bytes(node->replica),
		.height = (int64_t)head.height,
		.no_owner = node->options.no_owner,
		.pin = node->options.pin,
		.problem = problem,
		.process = node->process,
		.role = role_names[role],
		.serves = serves,
		.token = node->options.token,
	};
	r = wfs_roster_renew(node->roster, node->etcd, &entry, error);
	if (r == -EAGAIN)
		node->renew_ns = now_ns + POLL_MS * MS_NS;
	return wfs_trace(r);
}

static int refuse_handover(struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_UNAVAILABLE,
		"this node takes no part now, and cannot hand the world over");
}

/* Answers the handover that waits. Lock: node->lock */
static void end_handover(struct wfs_node *node, int result)
{
	struct node_handover *const handover = WFS_STEAL(node->handover);

	handover->result = result;
	handover->done = true;
	pthread_cond_broadcast(&node->changed);
}

static void do_handover(struct wfs_node *node)
{
	pthread_mutex_lock(&node->lock);
	struct node_handover *const handover = node->handover;
	pthread_mutex_unlock(&node->lock);

	if (!handover)
		return;
	const int r = node_hand_over(node, handover->to, &handover->error);
	WFS_GUARD(&node->lock);
	end_handover(node, r);
}

/* Takes handovers, or takes no more, and answers the one that waits. */
static void set_running(struct wfs_node *node, bool running)
{
	WFS_GUARD(&node->lock);

	node->running = running;
	if (!running && node->handover)
		end_handover(node, refuse_handover(&node->handover->error));
}

static int look_at_nodes(struct wfs_node *node, struct wfs_error *error)
{
	const int64_t now_ns = wfs_clock_boottime_ns();

	/* Only this thread writes the epoch. */
	pthread_mutex_lock(&node->lock);
	const bool wanted = node->peers_wanted;
	pthread_mutex_unlock(&node->lock);
	if (!wanted && now_ns < node->roster_ns && node->epoch == node->looked.epoch.epoch)
		return 0;
	const int r = wfs_roster_look(node->roster, node->etcd, error);
	if (r)
		return wfs_trace(r);
	node->roster_ns = now_ns + POLL_MS * MS_NS;
	return note_roster(node, now_ns, error);
}

static int look(struct wfs_node *node, struct wfs_error *error)
{
	int r = node_check_owning(node, error);

	if (!r)
		r = renew(node, error);
	if (!r || r == -EAGAIN)
		r = wfs_log_look(node->etcd, &node->looked, error);
	if (!r)
		r = look_at_nodes(node, error);
	if (!r)
		r = node_step(node, error);
	return wfs_trace(r);
}

static void wait_for_more(struct wfs_node *node)
{
	const struct timespec due = after(POLL_MS);
	WFS_GUARD(&node->lock);

	while (!node->rung && !atomic_load(&node->stopping) &&
		pthread_cond_timedwait(&node->woken, &node->lock, &due) != ETIMEDOUT)
		;
	node->rung = false;
}

static void *node_main(void *argument)
{
	struct wfs_node *const node = argument;
	bool lost = false;

	pthread_setname_np(pthread_self(), "wfs-node");
	set_running(node, true);
	while (!atomic_load(&node->stopping) && !lost) {
		struct wfs_error error = {0};
		const int r = look(node, &error);

		note_problem(node, r, &error);
		do_handover(node);
		node_refuse(node);
		note_role(node, !r && (node->owning || node_is_current(node)));
		lost = r == -EBUSY && error.code == WFS_E_BUSY;
		if (lost && node->options.lost)
			node->options.lost(node->options.context, &error);
		if (!lost)
			wait_for_more(node);
	}
	set_running(node, false);
	return NULL;
}

/* --- the bell --- */

static bool ring(void *context, bool rung)
{
	struct wfs_node *const node = context;

	if (rung && wfs_node_role(node) != WFS_NODE_OWNER) /* it has put the head itself */
		node_wake(node);
	return !atomic_load(&node->stopping);
}

static void *bell_main(void *argument)
{
	struct wfs_node *const node = argument;

	pthread_setname_np(pthread_self(), "wfs-bell");
	while (!atomic_load(&node->stopping)) {
		(void)wfs_etcd_watch(node->watching, "head", ring, node, NULL);
		const struct timespec due = after(BELL_MS);
		WFS_GUARD(&node->lock);
		while (!atomic_load(&node->stopping) &&
			pthread_cond_timedwait(&node->changed, &node->lock, &due) != ETIMEDOUT)
			;
	}
	return NULL;
}

/* --- handing over --- */

int wfs_node_handover(struct wfs_node *node, const char *to, struct wfs_error *error)
{
	struct node_handover handover = {.done = false};
	WFS_GUARD(&node->lock);

	if (to && !wfs_log_node_valid(to))
		return wfs_error_set(error, WFS_E_NOT_FOUND, "no node has the name '%.80s'", to);
	if (!node->running)
		return refuse_handover(error);
	if (node->handover)
		return wfs_error_set(
			error, WFS_E_UNAVAILABLE, "the world is being handed over already");
	snprintf(handover.to, sizeof(handover.to), "%s", to ? to : "");
	node->handover = &handover;
	node->rung = true;
	pthread_cond_signal(&node->woken);
	while (!handover.done)
		pthread_cond_wait(&node->changed, &node->lock);
	if (handover.result && error)
		*error = handover.error;
	return handover.result;
}

/* --- life --- */

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static int copy_options(
	struct wfs_node *node, const struct wfs_node_options *options, struct wfs_error *error)
{
	unsigned char random[sizeof(node->process) / 2];
	int r = wfs_log_node_check(options->name, error);

	if (r)
		return r;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return wfs_error_from_errno(error, -errno, "read random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(node->process + 2 * i, 3, "%02x", random[i]);
	node->options = *options;
	node->options.name = copy(options->name);
	node->options.address = copy(options->address);
	node->options.pin = copy(options->pin);
	node->options.token = copy(options->token);
	return node->options.name && node->options.address && node->options.pin &&
			node->options.token
		? 0
		: NO_MEMORY(error);
}

static int make_clients(
	struct wfs_node *node, const struct wfs_node_options *options, struct wfs_error *error)
{
	struct wfs_etcd_options etcd = options->etcd;

	etcd.timeout_ms = TIMEOUT_MS;
	int r = wfs_etcd_new(&etcd, &node->etcd, error);
	if (!r)
		r = wfs_etcd_new(&etcd, &node->carrying, error);
	if (!r)
		r = wfs_etcd_new(&etcd, &node->watching, error);
	return r;
}

static void init_locks(struct wfs_node *node)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&node->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&node->woken, &monotonic);
	pthread_cond_init(&node->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int wfs_node_start(struct wfs_node *node, struct wfs_error *error)
{
	if (node->barred.code != WFS_OK) {
		if (error)
			*error = node->barred;
		return -wfs_error_info(node->barred.code)->number;
	}
	if (node->thread_started)
		return 0;
	node->thread_started = pthread_create(&node->thread, NULL, node_main, node) == 0;
	node->bell_started =
		node->thread_started && pthread_create(&node->bell, NULL, bell_main, node) == 0;
	return node->bell_started
		? 0
		: wfs_error_set(error, WFS_E_OVERLOADED, "the threads of a node cannot be started");
}

/* Makes a node that has no clients yet. */
static int make(struct wfs_authority *authority, const struct wfs_node_options *options,
	struct wfs_node **ret_node, struct wfs_error *error)
{
	WFS_AUTO_NODE struct wfs_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NO_MEMORY(error);
	init_locks(node);
	node->authority = authority;
	node->carrier.carry = node_carry;
	node->carrier.heard = node_heard;
	node->ids = wfs_ids_new();
	node->aside_ns = wfs_clock_boottime_ns();
	node->nodes = json_array();
	int r = node->nodes && node->ids ? copy_options(node, options, error) : NO_MEMORY(error);
	if (!r)
		r = wfs_replica_new(authority, &node->carrier, &node->replica, error);
	if (!r)
		*ret_node = WFS_STEAL(node);
	return r;
}

int wfs_node_bar(struct wfs_authority *authority, const struct wfs_error *reason,
	struct wfs_node **ret_node, struct wfs_error *error)
{
	const struct wfs_node_options none = {.name = "none"};
	const int r = make(authority, &none, ret_node, error);

	if (r)
		return wfs_trace(r);
	struct wfs_node *const node = *ret_node;
	node->barred = *reason;
	wfs_authority_lend(authority, 0);
	node->problem.code = reason->code;
	snprintf(node->problem.message, sizeof(node->problem.message), "%s", reason->message);
	wfs_replica_refuse(node->replica, true);
	return 0;
}

int wfs_node_new(struct wfs_authority *authority, const struct wfs_node_options *options,
	struct wfs_node **ret_node, struct wfs_error *error)
{
	WFS_AUTO_NODE struct wfs_node *node = NULL;
	int r = make(authority, options, &node, error);

	if (!node)
		return wfs_trace(r);
	r = make_clients(node, options, error);
	if (!r)
		r = wfs_roster_new(
			node->options.name, node->process, options->lease_ms, &node->roster, error);
	if (!r && *node->options.address)
		wfs_authority_lend(authority, 0);
	if (!r)
		*ret_node = WFS_STEAL(node);
	return wfs_trace(r);
}

static void stop(struct wfs_node *node)
{
	atomic_store(&node->stopping, true);
	pthread_mutex_lock(&node->lock);
	pthread_cond_broadcast(&node->woken);
	pthread_cond_broadcast(&node->changed);
	pthread_mutex_unlock(&node->lock);
	if (node->thread_started)
		pthread_join(node->thread, NULL);
	node->thread_started = false;
	if (node->watching)
		wfs_etcd_wake(node->watching);
	if (node->bell_started)
		pthread_join(node->bell, NULL);
	node->bell_started = false;
}

void wfs_node_end(struct wfs_node *node)
{
	stop(node);
	wfs_replica_free(WFS_STEAL(node->replica));
	if (node->roster)
		(void)wfs_roster_leave(node->roster, node->etcd, NULL);
	wfs_roster_free(WFS_STEAL(node->roster));
	WFS_GUARD(&node->lock);
	node->role = WFS_NODE_NONE;
}

void wfs_node_free(struct wfs_node *node)
{
	if (!node)
		return;
	wfs_node_end(node);
	wfs_ids_free(node->ids);
	wfs_etcd_free(node->etcd);
	wfs_etcd_free(node->carrying);
	wfs_etcd_free(node->watching);
	wfs_buffer_done(&node->unsure.batch);
	json_decref(node->nodes);
	free(node->peers);
	free((char *)node->options.name);
	free((char *)node->options.address);
	free((char *)node->options.pin);
	free((char *)node->options.token);
	pthread_mutex_destroy(&node->lock);
	pthread_cond_destroy(&node->woken);
	pthread_cond_destroy(&node->changed);
	free(node);
}
