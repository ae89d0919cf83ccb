/* SPDX-License-Identifier: Apache-2.0 */
/* The users of host.json. */
#include "fs/verb/peer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/host-file.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/trust.h"
#include "kernel/manifest/manifest.h"

struct wfs_peers {
	pthread_mutex_t lock;
	json_t *uids; /* uid in decimal: principal; owned, may be NULL; lock */
};

/* Longer ids than that of any principal would be cut, and be those of others. */
static int check_ids(json_t *uids, struct wfs_error *error)
{
	const char *uid;
	json_t *principal;

	json_object_foreach(uids, uid, principal)
		if (json_string_length(principal) > WFS_GRANT_NAME_MAX)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"host.json: /uids/%s: expected the id of a principal", uid);
	return 0;
}

static int read_uids(const char *directory, json_t **ret_uids, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_error reason = {.code = WFS_OK};
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, &host, &hash, error);

	if (r || !json_object_get(host, "uids"))
		return r;
	if (wfs_trust_check(directory, &hash, &reason)) {
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_WARNING,
			"other users of this host are not served, because 'uids' cannot be used: "
			"%s",
			reason.message);
		return 0;
	}
	r = wfs_host_check(host, error);
	if (!r)
		r = check_ids(json_object_get(host, "uids"), error);
	if (!r)
		*ret_uids = json_incref(json_object_get(host, "uids"));
	return r;
}

int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error)
{
	struct wfs_peers *const peers = calloc(1, sizeof(*peers));

	if (!peers)
		return wfs_error_from_errno(error, -ENOMEM, "read host.json");
	pthread_mutex_init(&peers->lock, NULL);
	const int r = wfs_peers_reload(peers, directory, error);
	if (r) {
		wfs_peers_free(peers);
		return r;
	}
	*ret_peers = peers;
	return 0;
}

void wfs_peers_free(struct wfs_peers *peers)
{
	if (!peers)
		return;
	json_decref(peers->uids);
	pthread_mutex_destroy(&peers->lock);
	free(peers);
}

int wfs_peers_reload(struct wfs_peers *peers, const char *directory, struct wfs_error *error)
{
	json_t *uids = NULL;
	const int r = read_uids(directory, &uids, error);

	if (r)
		return r;
	WFS_GUARD(&peers->lock);
	json_decref(peers->uids);
	peers->uids = uids;
	return 0;
}

bool wfs_peers_any(struct wfs_peers *peers)
{
	WFS_GUARD(&peers->lock);

	return json_object_size(peers->uids) > 0;
}

bool wfs_peers_principal(
	struct wfs_peers *peers, uid_t uid, char ret_principal[static WFS_GRANT_NAME_MAX + 1])
{
	char text[sizeof("4294967295")];
	const char *principal = WFS_PRINCIPAL_OPERATOR;
	WFS_GUARD(&peers->lock);

	snprintf(text, sizeof(text), "%" PRIu32, (uint32_t)uid);
	if (uid != 0 && uid != geteuid())
		principal = json_string_value(json_object_get(peers->uids, text));
	if (principal)
		snprintf(ret_principal, WFS_GRANT_NAME_MAX + 1, "%s", principal);
	return principal != NULL;
}
