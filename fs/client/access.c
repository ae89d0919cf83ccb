/* SPDX-License-Identifier: Apache-2.0 */
/* Reaches a world with or without an owner: first by the socket, then by opening it. */
#include "fs/client/access.h"

#include <poll.h>
#include <string.h>

#include "caps/authority.h"
#include "fs/client/client.h"
#include "fs/client/local.h"
#include "kernel/base/clock.h"
#include "kernel/base/lock.h"

enum {
	LOCK_WAIT_MS = 100, /* between two attempts at the socket of the process with the lock */
	OWNERS_MAX = 8,     /* owners that may end, in sequence, before one reads a request */
};

struct wfs_access {
	struct wfs_access_options options;
	struct wfs_client *client; /* or */
	struct wfs_local *local;
	/* The first request, if it is the only one, to repeat if the owner ends before reading
	 * it. */
	bool posted;
	char *verb;
	json_t *payload;
	unsigned int owners; /* owners that did */
};

static bool nobody_listens(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

/* Opens the world for changes. A short-lived command may hold the lock, or an owner that is
 * starting or ending. */
static int open_for_change(struct wfs_access *access, struct wfs_error *error)
{
	const struct wfs_world_options world_options = {.wait_ms = LOCK_WAIT_MS};
	const struct wfs_access_options *const options = &access->options;
	const int64_t deadline_ns =
		wfs_clock_monotonic_ns() + (int64_t)WFS_OPEN_WAIT_MS * 1000 * 1000;

	for (;;) {
		int r = wfs_local_new(options->directory, options->as, &world_options,
			options->drive, &access->local, error);

		if (r != -EBUSY)
			return r;
		if (wfs_client_new(options->directory, options->as, options->wait_ms,
			    &access->client, NULL) == 0)
			return 0;
		if (wfs_clock_monotonic_ns() >= deadline_ns)
			return r;
	}
}

static int find_way(struct wfs_access *access, struct wfs_error *error)
{
	const struct wfs_world_options read_only = {.read_only = true};
	const struct wfs_access_options *const options = &access->options;
	int r = wfs_client_new(
		options->directory, options->as, options->wait_ms, &access->client, error);

	if (!nobody_listens(r))
		return r;
	if (options->change)
		return open_for_change(access, error);
	return wfs_local_new(
		options->directory, options->as, &read_only, NULL, &access->local, error);
}

int wfs_access_new(const struct wfs_access_options *options, struct wfs_access **ret_access,
	struct wfs_error *error)
{
	WFS_AUTO_ACCESS struct wfs_access *access = calloc(1, sizeof(*access));

	if (!access)
		return wfs_error_from_errno(error, -ENOMEM, "open '%s'", options->directory);
	access->options = *options;
	if (access->options.wait_ms == 0)
		access->options.wait_ms = WFS_CLIENT_WAIT_MS;
	int r = find_way(access, error);
	if (r)
		return r;
	*ret_access = WFS_STEAL(access);
	return 0;
}

static void forget_first(struct wfs_access *access)
{
	free(WFS_STEAL(access->verb));
	json_decref(WFS_STEAL(access->payload));
}

void wfs_access_free(struct wfs_access *access)
{
	if (!access)
		return;
	forget_first(access);
	wfs_client_free(access->client);
	wfs_local_free(access->local);
	free(access);
}

bool wfs_access_has_owner(const struct wfs_access *access)
{
	return access->client != NULL;
}

static int post(struct wfs_access *access, const char *verb, json_t *payload)
{
	int r;

	if (access->local)
		return wfs_local_post(access->local, verb, payload);
	r = wfs_client_post(access->client, verb, payload);
	json_decref(payload);
	return r;
}

int wfs_access_post(struct wfs_access *access, const char *verb, json_t *payload)
{
	forget_first(access);
	if (!access->posted) {
		access->verb = strdup(verb);
		access->payload = json_incref(payload);
	}
	access->posted = true;
	return post(access, verb, payload);
}

int wfs_access_take(struct wfs_access *access, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error)
{
	for (;;) {
		int r = access->client ? wfs_client_take(access->client, wait, ret_answer, error)
				       : wfs_local_take(access->local, wait, ret_answer);

		if (r != -ECONNRESET || !access->verb || access->owners == OWNERS_MAX)
			return r;
		/* Repeats the first request, which no owner has read. */
		wfs_client_free(WFS_STEAL(access->client));
		access->owners++;
		r = find_way(access, error);
		if (!r)
			r = post(access, access->verb, json_incref(access->payload));
		if (r)
			return r;
	}
}

int wfs_access_abandon(struct wfs_access *access, size_t index)
{
	if (access->client)
		return wfs_client_abandon(access->client, index);
	wfs_local_abandon(access->local, index);
	return 0;
}

int wfs_access_beside(struct wfs_access *access, struct wfs_access **ret_access)
{
	const struct wfs_access_options *const options = &access->options;
	WFS_AUTO_ACCESS struct wfs_access *other = calloc(1, sizeof(*other));

	if (!other)
		return -ENOMEM;
	other->options = *options;
	other->posted = true; /* its requests are never repeated elsewhere */
	int r = access->client ? wfs_client_new(options->directory, options->as, options->wait_ms,
					 &other->client, NULL)
			       : wfs_local_beside(access->local, &other->local);
	if (!r)
		*ret_access = WFS_STEAL(other);
	return r;
}

int wfs_access_poll(const struct wfs_access *access, short *ret_events)
{
	if (access->client)
		return wfs_client_poll(access->client, ret_events);
	*ret_events = POLLIN;
	return wfs_local_poll(access->local);
}
