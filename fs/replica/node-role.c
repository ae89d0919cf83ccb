/* SPDX-License-Identifier: Apache-2.0 */
/* What a node does: carries batches, follows the log, takes over, hands over. */
#include <string.h>

#include "fs/replica/node-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum {
	MS_NS = 1000 * 1000,
	RESOLVE_MS = 1000,        /* for one look at what became of a batch */
	AHEAD_MAX_MS = 60 * 1000, /* of a clock of a node that takes over */
};

/* --- the kernel thread of an owner --- */

static struct wfs_log_head head_of(const struct wfs_node *node, const struct wfs_replica_head *head)
{
	return (struct wfs_log_head){.height = (int64_t)head->height,
		.line_hash = head->line_hash,
		.epoch = node->place.epoch.epoch,
		.fold_version = head->fold_version};
}

/* Keeps a batch that may be in the log, until it is known. */
static int keep_unsure(struct wfs_node *node, const struct wfs_log_head *head,
	struct wfs_bytes batch, const struct wfs_error *reason, struct wfs_error *error)
{
	node->unsure.set = true;
	node->unsure.head = *head;
	wfs_buffer_reset(&node->unsure.batch);
	wfs_buffer_append(&node->unsure.batch, batch.data, batch.size);
	return wfs_error_set(error, WFS_E_UNKNOWN, "nobody knows yet whether this was done: %.400s",
		reason->message);
}

int node_carry(struct wfs_carrier *carrier, uint64_t from, const struct wfs_replica_head *head,
	struct wfs_bytes batch, struct wfs_error *error)
{
	struct wfs_node *const node = (struct wfs_node *)carrier;
	const struct wfs_log_head after = head_of(node, head);
	struct wfs_error reason = {0};
	int r = -ESTALE;

	if (atomic_load(&node->failed) ||
		wfs_clock_boottime_ns() >= wfs_roster_until_ns(node->roster))
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"this node does not own the world any more: nothing was changed");
	if ((int64_t)from == node->place.head.height)
		r = wfs_log_append(node->carrying, &node->place, &after, batch,
			wfs_clock_monotonic_ns() + node->options.wait_ms * MS_NS, &reason);
	if (!r)
		return 0;
	atomic_store(&node->failed, true);
	node_wake(node);
	if (r == -ETIMEDOUT)
		return keep_unsure(node, &after, batch, &reason, error);
	if (r == -ESTALE)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"another node has become the owner of the world: nothing was changed");
	if (error)
		*error = reason;
	return r;
}

void node_heard(struct wfs_carrier *carrier, const char *id, uint64_t seq)
{
	wfs_ids_add(((struct wfs_node *)carrier)->ids, id, seq);
}

/* --- a follower --- */

static int diverge(struct wfs_node *node, uint64_t record, const char *cell, const char *message,
	struct wfs_error *error)
{
	node->diverged = (struct node_problem){.record = record};
	snprintf(node->diverged.cell, sizeof(node->diverged.cell), "%s", cell);
	return wfs_error_set(error, WFS_E_DIVERGED, "record %llu%s%s: %.400s",
		(unsigned long long)record, *cell ? ", cell " : "", cell, message);
}

/* Folds one batch of the log. */
static int apply(void *context, int64_t height, struct wfs_bytes batch, struct wfs_error *error)
{
	struct wfs_node *const node = context;
	struct wfs_followed_outcome outcome;
	const int r = wfs_replica_apply(node->replica, batch, &outcome, error);

	if (r)
		return wfs_trace(r);
	if (outcome.followed == WFS_FOLLOWED_APPLIED || outcome.followed == WFS_FOLLOWED_PRESENT)
		return 0;
	return diverge(node,
		outcome.followed == WFS_FOLLOWED_AHEAD ? (uint64_t)height : outcome.seq,
		outcome.cell, outcome.message, error);
}

/* Checks that the world, which has as many records as the log or more, is the log's. */
static int check_head(struct wfs_node *node, struct wfs_error *error)
{
	const struct wfs_log_head *const head = &node->looked.head;
	int r = 0;

	if (node->head.height > (uint64_t)head->height) /* the log has grown since */
		r = wfs_log_look(node->etcd, &node->looked, error);
	if (r)
		return wfs_trace(r);
	if (node->head.height > (uint64_t)head->height)
		return diverge(node, (uint64_t)head->height, "",
			"this node has records that the log has not", error);
	if (node->head.height == (uint64_t)head->height &&
		!wfs_hash_equal(&node->head.line_hash, &head->line_hash))
		return diverge(node, node->head.height - 1, "",
			"the log has another line as this record", error);
	return 0;
}

bool node_is_current(const struct wfs_node *node)
{
	return node->head.height == (uint64_t)node->looked.head.height;
}

/* Folds what the log has more than the world. */
static int catch_up(struct wfs_node *node, struct wfs_error *error)
{
	const struct wfs_log_head *const head = &node->looked.head;
	int r = wfs_replica_head(node->replica, &node->head, error);

	if (!r && node->head.fold_version != head->fold_version)
		return wfs_error_set(error, WFS_E_FOLD_VERSION,
			"the owner folds with version %lld, and this program with %d: nothing "
			"more is taken from the log",
			(long long)head->fold_version, node->head.fold_version);
	while (!r && node->head.height < (uint64_t)head->height && !atomic_load(&node->stopping)) {
		const uint64_t before = node->head.height;

		r = wfs_log_read(node->etcd, (int64_t)before, apply, node, error);
		if (!r)
			r = wfs_replica_head(node->replica, &node->head, error);
		if (!r && node->head.height == before)
			r = wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
				"the log does not have record %llu any more: follow into a new "
				"directory",
				(unsigned long long)before);
	}
	return r ? wfs_trace(r) : check_head(node, error);
}

/* Finds out what became of the last batch of an owner. Return: 0: it is known. */
static int resolve(struct wfs_node *node, struct wfs_error *error)
{
	struct node_unsure *const unsure = &node->unsure;
	int r = 0;

	if (unsure->set)
		r = wfs_log_resolve(node->etcd, &node->place, &unsure->head,
			wfs_buffer_bytes(&unsure->batch),
			wfs_clock_monotonic_ns() + RESOLVE_MS * (int64_t)MS_NS, error);
	if (r == -ETIMEDOUT)
		return r;
	if (unsure->set && r == 0)
		node->looked = node->place;
	unsure->set = false;
	wfs_buffer_reset(&unsure->batch);
	atomic_store(&node->failed, false);
	return 0;
}

/* --- owning --- */

static bool is_mine(const struct wfs_node *node)
{
	return strcmp(node->looked.epoch.process, node->process) == 0;
}

static bool has_lease(const struct wfs_node *node)
{
	return wfs_clock_boottime_ns() < wfs_roster_until_ns(node->roster);
}

static int stop_owning(struct wfs_node *node, struct wfs_error *error)
{
	const int r = wfs_replica_follow(node->replica, error);

	if (r)
		return wfs_trace(r);
	node->owning = false;
	node->refusing = false;
	node->aside_ns = wfs_clock_boottime_ns();
	return 0;
}

int node_check_owning(struct wfs_node *node, struct wfs_error *error)
{
	if (node->owning && (atomic_load(&node->failed) || !has_lease(node)))
		return wfs_trace(stop_owning(node, error));
	return 0;
}

static int own(struct wfs_node *node, struct wfs_error *error)
{
	node->place = node->looked;
	const int r = wfs_replica_own(node->replica, error);
	if (r)
		return wfs_trace(r);
	node->owning = true;
	node->inherits = node->other_owned;
	node->other_owned = false;
	wfs_log(WFS_LOG_REPLICA, WFS_LOG_NOTICE, "node '%s' owns the world: epoch=%lld height=%llu",
		node->options.name, (long long)node->looked.epoch.epoch,
		(unsigned long long)node->head.height);
	return 0;
}

/* Has the owner left the roster, or has its process ended? */
static bool owner_is_gone(const struct wfs_node *node)
{
	const struct wfs_log_epoch *const epoch = &node->looked.epoch;
	const struct wfs_roster_node *const owner = wfs_roster_find(node->roster, epoch->owner);

	return !owner || !owner->lives || strcmp(owner->entry.process, epoch->process) != 0;
}

/* Puts an epoch of its own, if the owner is gone from the roster as it is after the epoch was read:
 * an earlier one need not have a new owner. A node whose clock is far ahead does not take over,
 * because time never goes back in a world. */
static int take_over(struct wfs_node *node, struct wfs_error *error)
{
	if (node->ahead_ms > AHEAD_MAX_MS)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"the clock of this node is %lld s ahead of the owner's: it does not take "
			"over",
			(long long)node->ahead_ms / 1000);
	int r = wfs_roster_look(node->roster, node->etcd, error);
	if (r || !owner_is_gone(node))
		return wfs_trace(r);
	r = wfs_log_claim(node->etcd, &node->looked, node->options.name, node->process, error);
	if (r == -ESTALE || r == -ETIMEDOUT)
		return 0; /* the next round looks again */
	/* Until the claim, the owner before may have appended more. */
	return wfs_trace(r ? r : catch_up(node, error));
}

void node_refuse(struct wfs_node *node)
{
	const bool waited =
		wfs_clock_boottime_ns() - node->aside_ns > node->options.wait_ms * MS_NS;
	const bool refuse = waited || (!is_mine(node) && !owner_is_gone(node));

	if (node->owning)
		return;
	if (refuse != node->refusing)
		wfs_replica_refuse(node->replica, refuse);
	node->refusing = refuse;
}

/* Learns the ids of one batch. */
static int learn(void *context, int64_t height, struct wfs_bytes encoded, struct wfs_error *error)
{
	struct wfs_node *const node = context;
	WFS_AUTO_BATCH struct wfs_batch batch = {0};
	const int r = wfs_batch_decode(encoded, &batch, error);

	(void)height;
	for (size_t i = 0; !r && i < batch.request_count; i++)
		wfs_ids_add(node->ids, batch.requests[i].id, batch.requests[i].seq);
	if (!r)
		node->learned = (int64_t)batch.to;
	return r;
}

/* Learns the ids of records that the world has from before this process. The newest WFS_IDS_MAX
 * records can have no more of them than are kept. */
static int learn_ids(struct wfs_node *node, struct wfs_error *error)
{
	int64_t before = -1;
	int r = wfs_replica_head(node->replica, &node->head, error);
	const int64_t height = r ? 0 : (int64_t)node->head.height;

	if (!r && node->learned < height - WFS_IDS_MAX)
		node->learned = height - WFS_IDS_MAX;
	while (!r && node->learned < height && node->learned != before) {
		before = node->learned;
		r = wfs_log_read(node->etcd, before, learn, node, error);
	}
	if (!r)
		node->learned = INT64_MAX;
	return wfs_trace(r);
}

int node_step(struct wfs_node *node, struct wfs_error *error)
{
	int r;

	if (node->owning && is_mine(node) && node->looked.epoch.epoch == node->place.epoch.epoch)
		return 0;
	if (node->owning) {
		node_wake(node); /* the log may have more than was looked at */
		return wfs_trace(stop_owning(node, error));
	}
	node->other_owned |= strcmp(node->looked.epoch.owner, node->options.name) != 0;
	r = resolve(node, error);
	if (!r && node->learned < INT64_MAX)
		r = learn_ids(node, error);
	if (!r)
		r = catch_up(node, error);
	if (!r && node_is_current(node) && !is_mine(node) && !node->options.no_owner &&
		has_lease(node) && owner_is_gone(node))
		r = take_over(node, error);
	if (!r && node_is_current(node) && is_mine(node) && has_lease(node))
		r = own(node, error);
	return wfs_trace(r);
}

/* --- handing over --- */

/* Is it a better heir? A node without a port is that of a command, and ends soon. */
static bool is_better(const struct wfs_roster_entry *entry, const struct wfs_roster_entry *best)
{
	const bool has_port = *entry->address;

	if (has_port != (bool)*best->address)
		return has_port;
	return entry->height > best->height;
}

/* The living node that can own, preferably with a port, and has most records. Return: borrowed, or
 * NULL. */
static const struct wfs_roster_node *find_heir(const struct wfs_node *node, const char *to)
{
	const struct wfs_roster_node *best = NULL;
	size_t count;
	const struct wfs_roster_node *const nodes = wfs_roster_nodes(node->roster, &count);

	for (size_t i = 0; i < count; i++) {
		const struct wfs_roster_node *const other = &nodes[i];
		const bool wanted = *to ? strcmp(other->name, to) == 0
					: strcmp(other->name, node->options.name) != 0;

		if (wanted && other->lives && !other->entry.no_owner && !other->entry.problem &&
			(!best || is_better(&other->entry, &best->entry)))
			best = other;
	}
	return best;
}

int node_hand_over(struct wfs_node *node, const char *to, struct wfs_error *error)
{
	int r = wfs_roster_look(node->roster, node->etcd, error);
	const struct wfs_roster_node *const heir = r ? NULL : find_heir(node, to);

	if (r)
		return wfs_trace(r);
	if (!heir)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			*to ? "no node '%s' lives that can own the world"
			    : "no other node lives that can own the world",
			to);
	if (strcmp(heir->name, node->options.name) == 0 && node->owning)
		return 0;
	if (!node->owning)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"node '%s' does not own the world, and cannot hand it over",
			node->options.name);
	r = stop_owning(node, error);
	if (r)
		return wfs_trace(r);
	if (atomic_load(&node->failed))
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"the world cannot be handed over: etcd did not answer for its last change");
	r = wfs_log_claim(node->etcd, &node->place, heir->name, heir->entry.process, error);
	if (!r)
		node->looked = node->place;
	return r == -ESTALE ? wfs_error_set(error, WFS_E_UNAVAILABLE,
				      "another node has become the owner before")
			    : r;
}
