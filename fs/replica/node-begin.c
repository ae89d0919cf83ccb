/* SPDX-License-Identifier: Apache-2.0 */
/* Beginning the log of a world. */
#include "caps/replica.h"
#include "fs/replica/log.h"
#include "fs/replica/node.h"

static int never_carry(struct wfs_carrier *carrier, uint64_t from,
	const struct wfs_replica_head *head, struct wfs_bytes batch, struct wfs_error *error)
{
	(void)carrier, (void)from, (void)head, (void)batch;
	return wfs_error_set(error, WFS_E_UNAVAILABLE, "the world does not have a log yet");
}

int wfs_node_begin(struct wfs_authority *authority, const struct wfs_etcd_options *options,
	const char *name, struct wfs_error *error)
{
	struct wfs_carrier carrier = {.carry = never_carry};
	WFS_AUTO_REPLICA struct wfs_replica *replica = NULL;
	WFS_AUTO_ETCD struct wfs_etcd *etcd = NULL;
	/* No process has this epoch: the first one that begins as owner puts the next. */
	struct wfs_log_epoch epoch = {.epoch = 0, .process = ""};
	struct wfs_replica_head head;
	struct wfs_log_place place;

	int r = wfs_log_node_check(name, error);

	snprintf(epoch.owner, sizeof(epoch.owner), "%s", name);
	if (!r)
		r = wfs_etcd_new(options, &etcd, error);
	if (!r)
		r = wfs_replica_new(authority, &carrier, &replica, error);
	if (!r)
		r = wfs_replica_head(replica, &head, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_log_head first = {.height = (int64_t)head.height,
		.line_hash = head.line_hash,
		.fold_version = head.fold_version};
	r = wfs_log_begin(etcd, &first, &epoch, &place, error);
	return wfs_trace(r);
}
