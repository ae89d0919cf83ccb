/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/join.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "caps/authority.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

/* May the password be sent to each end point? @url: as etcd://HOST:PORT,…/PREFIX */
static int check_ends(const struct wfs_host_replication *replication, struct wfs_error *error)
{
	const char *at = strstr(replication->url, "://");
	int r = 0;

	for (at = at ? at + strlen("://") : ""; !r && *at && *at != '/';) {
		const size_t size = strcspn(at, ",/");
		char end[WFS_ETCD_NAME_MAX + 1];

		snprintf(end, sizeof(end), "%.*s", (int)size, at);
		char *const port = strrchr(end, ':');
		if (port)
			*port = '\0';
		r = wfs_trust_key(replication->password_env, end, port ? port + 1 : "",
			!replication->ca, error);
		at += size + (at[size] == ',');
	}
	return r;
}

int wfs_join_etcd(const struct wfs_host_replication *replication, struct wfs_etcd_options *ret_etcd,
	struct wfs_error *error)
{
	*ret_etcd = (struct wfs_etcd_options){
		.url = replication->url,
		.ca = replication->ca,
		.certificate = replication->certificate,
		.key = replication->key,
		.user = replication->user,
	};
	if (!replication->password_env)
		return 0;
	const int r = check_ends(replication, error);
	if (r)
		return r;
	ret_etcd->password = secure_getenv(replication->password_env);
	if (!ret_etcd->password)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"host.json names '%s' for the password of etcd, which is not in the "
			"environment",
			replication->password_env);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* cannot fail with PR_SET_DUMPABLE */
	return 0;
}

/* Makes the node of a world that is replicated. */
static int join(struct wfs_authority *authority, const json_t *host,
	const struct wfs_join_handlers *handlers, struct wfs_node **ret_node,
	struct wfs_error *error)
{
	struct wfs_host_replication replication;
	struct wfs_node_options node = {.name = NULL};
	int r = wfs_host_check(host, error);

	if (r || !wfs_host_replication(host, &replication))
		return r;
	r = wfs_join_etcd(&replication, &node.etcd, error);
	if (r)
		return r;
	node.name = replication.node;
	node.no_owner = replication.no_owner;
	node.lease_ms = replication.lease_ms;
	node.wait_ms = replication.wait_ms;
	node.became = handlers->became;
	node.lost = handlers->lost;
	node.context = handlers->context;
	return wfs_node_new(authority, &node, ret_node, error);
}

int wfs_join(struct wfs_authority *authority, const struct wfs_join_handlers *handlers,
	struct wfs_node **ret_node, struct wfs_error *error)
{
	const char *const directory = wfs_authority_directory(authority);
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_error reason = {0};
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, &host, &hash, &reason);

	*ret_node = NULL;
	if (!r && !json_object_get(host, "replication"))
		return 0;
	if (!r)
		r = wfs_trust_check(directory, &hash, &reason);
	if (!r)
		r = join(authority, host, handlers, ret_node, &reason);
	return r ? wfs_node_bar(authority, &reason, ret_node, error) : 0;
}
