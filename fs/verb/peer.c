/* SPDX-License-Identifier: Apache-2.0 */
/* The users of host.json. */
#include "fs/verb/peer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>

#include "kernel/base/encode.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/trust.h"
#include "kernel/manifest/manifest.h"

struct wfs_peers {
	json_t *uids; /* uid in decimal: principal; owned, may be NULL */
};

static bool is_uid(const char *text)
{
	uint64_t uid;

	return *text && wfs_decimal_read(text, strlen(text), &uid) == strlen(text) &&
		uid <= UINT32_MAX && (text[0] != '0' || !text[1]);
}

static int check_uids(const json_t *uids, struct wfs_error *error)
{
	const char *uid;
	json_t *principal;

	if (uids && !json_is_object(uids))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"host.json: /uids: expected an object of user ids and principals");
	json_object_foreach((json_t *)uids, uid, principal) {
		if (!is_uid(uid))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"host.json: /uids: expected a user's number, got '%.60s'", uid);
		if (!json_is_string(principal))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"host.json: /uids/%s: expected the id of a principal", uid);
	}
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
	r = check_uids(json_object_get(host, "uids"), error);
	if (r)
		return r;
	if (wfs_trust_check(directory, &hash, &reason)) {
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_WARNING,
			"other users of this host are not served, because 'uids' cannot be used: "
			"%s",
			reason.message);
		return 0;
	}
	*ret_uids = json_incref(json_object_get(host, "uids"));
	return 0;
}

int wfs_peers_new(const char *directory, struct wfs_peers **ret_peers, struct wfs_error *error)
{
	struct wfs_peers *const peers = calloc(1, sizeof(*peers));
	int r = peers ? read_uids(directory, &peers->uids, error)
		      : wfs_error_from_errno(error, -ENOMEM, "read host.json");

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
	free(peers);
}

bool wfs_peers_any(const struct wfs_peers *peers)
{
	return json_object_size(peers->uids) > 0;
}

const char *wfs_peers_principal(const struct wfs_peers *peers, uid_t uid)
{
	char text[sizeof("4294967295")];

	if (uid == 0 || uid == geteuid())
		return WFS_PRINCIPAL_OPERATOR;
	snprintf(text, sizeof(text), "%" PRIu32, (uint32_t)uid);
	return json_string_value(json_object_get(peers->uids, text));
}
