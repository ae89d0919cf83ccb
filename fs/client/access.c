/* SPDX-License-Identifier: Apache-2.0 */
/* Owner or no owner: the socket first, then the world itself. */
#include "fs/client/access.h"

#include <poll.h>

#include "fs/client/client.h"
#include "fs/client/local.h"
#include "kernel/base/clock.h"

enum { LOCK_WAIT_MS = 100 }; /* between two looks for the socket of whoever has the lock */

struct wfs_access {
	struct wfs_client *client; /* or */
	struct wfs_local *local;
};

static bool nobody_listens(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

/* A short-lived command may hold the lock, or an owner that is just starting or ending. */
static int open_for_change(
	const char *directory, const char *as, struct wfs_access *access, struct wfs_error *error)
{
	const struct wfs_world_options options = {.wait_ms = LOCK_WAIT_MS};
	const int64_t deadline_ns =
		wfs_clock_monotonic_ns() + (int64_t)WFS_OPEN_WAIT_MS * 1000 * 1000;

	for (;;) {
		int r = wfs_local_new(directory, as, &options, &access->local, error);

		if (r != -EBUSY)
			return r;
		if (wfs_client_new(directory, as, &access->client) == 0)
			return 0;
		if (wfs_clock_monotonic_ns() >= deadline_ns)
			return r;
	}
}

int wfs_access_new(const char *directory, const char *as, bool change,
	struct wfs_access **ret_access, struct wfs_error *error)
{
	const struct wfs_world_options read_only = {.read_only = true};
	WFS_AUTO_ACCESS struct wfs_access *access = calloc(1, sizeof(*access));
	int r = access ? wfs_client_new(directory, as, &access->client) : -ENOMEM;

	if (r && !nobody_listens(r))
		return wfs_error_from_errno(error, r, "connect to the owner of '%s'", directory);
	if (r && change)
		r = open_for_change(directory, as, access, error);
	else if (r)
		r = wfs_local_new(directory, as, &read_only, &access->local, error);
	if (r)
		return r;
	*ret_access = WFS_STEAL(access);
	return 0;
}

void wfs_access_free(struct wfs_access *access)
{
	if (!access)
		return;
	wfs_client_free(access->client);
	wfs_local_free(access->local);
	free(access);
}

bool wfs_access_has_owner(const struct wfs_access *access)
{
	return access->client != NULL;
}

int wfs_access_post(struct wfs_access *access, const char *verb, json_t *payload)
{
	int r;

	if (access->local)
		return wfs_local_post(access->local, verb, payload);
	r = wfs_client_post(access->client, verb, payload);
	json_decref(payload);
	return r;
}

int wfs_access_take(struct wfs_access *access, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error)
{
	return access->client ? wfs_client_take(access->client, wait, ret_answer, error)
			      : wfs_local_take(access->local, wait, ret_answer);
}

int wfs_access_poll(const struct wfs_access *access, short *ret_events)
{
	if (access->client)
		return wfs_client_poll(access->client, ret_events);
	*ret_events = POLLIN;
	return wfs_local_poll(access->local);
}
