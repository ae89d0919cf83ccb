/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the users of this host have of a server: connections, and memory of what they sent.
 *
 * Each user has a part. The user who owns the world, and root, find room whatever the others do: a part of
 * the connections is theirs alone.
 */
#include <unistd.h>

#include "fs/server/server-impl.h"

struct wfs_server_user {
	struct wfs_server_user *next; /* of the server */
	uid_t uid;
	bool owner;
	size_t connection_count;
	size_t input_bytes;  /* of memory, for lines that were not begun or are not parsed */
	size_t parsed_bytes; /* of memory, for the values of long lines. Lock: the server's */
};

struct wfs_server_user *wfs_server_user_get(struct wfs_server *server, uid_t uid)
{
	struct wfs_server_user *user = server->users;

	while (user && user->uid != uid)
		user = user->next;
	if (!user)
		user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	if (user->connection_count == 0) {
		user->uid = uid;
		user->owner = uid == 0 || uid == geteuid();
		user->next = server->users;
		server->users = user;
	}
	user->connection_count++;
	if (!user->owner)
		server->guest_count++;
	return user;
}

void wfs_server_user_put(struct wfs_server *server, struct wfs_server_user *user)
{
	struct wfs_server_user **at = &server->users;

	if (!user)
		return;
	if (!user->owner)
		server->guest_count--;
	if (--user->connection_count > 0)
		return;
	wfs_require(user->input_bytes == 0 && user->parsed_bytes == 0);
	while (*at != user)
		at = &(*at)->next;
	*at = user->next;
	free(user);
}

int wfs_server_user_check(const struct wfs_server *server, const struct wfs_server_user *user,
	struct wfs_error *error)
{
	if (server->connection_count > WFS_SERVER_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED, "%d connections are open already",
			WFS_SERVER_CONNECTIONS_MAX);
	if (!user || user->owner)
		return 0;
	if (user->connection_count > WFS_SERVER_USER_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d connections of user %u are open already",
			WFS_SERVER_USER_CONNECTIONS_MAX, (unsigned int)user->uid);
	if (server->guest_count > WFS_SERVER_GUEST_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d connections are open already; the others are kept for the world's "
			"owner",
			WFS_SERVER_GUEST_CONNECTIONS_MAX);
	return 0;
}

bool wfs_server_user_input(struct wfs_server_user *user, size_t *counted_bytes, size_t bytes)
{
	if (!user)
		return true;
	user->input_bytes += bytes - *counted_bytes;
	*counted_bytes = bytes;
	/* One connection alone has its line. */
	return user->input_bytes <= WFS_SERVER_USER_INPUT_MAX || user->input_bytes == bytes;
}

int wfs_server_user_parse(struct wfs_server *server, struct wfs_server_user *user, size_t bytes,
	struct wfs_error *error)
{
	WFS_GUARD(&server->lock);

	if (!user)
		return 0;
	if (user->parsed_bytes > 0 && user->parsed_bytes + bytes > WFS_SERVER_USER_PARSED_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"long requests of user %u take %zu bytes of memory already, and this one "
			"would "
			"take %zu; at most %d are given",
			(unsigned int)user->uid, user->parsed_bytes, bytes,
			WFS_SERVER_USER_PARSED_MAX);
	if (!user->owner && server->guest_parsed_bytes > 0 &&
		server->guest_parsed_bytes + bytes > WFS_SERVER_GUEST_PARSED_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"long requests of others take %zu bytes of memory already, try again",
			server->guest_parsed_bytes);
	user->parsed_bytes += bytes;
	if (!user->owner)
		server->guest_parsed_bytes += bytes;
	return 0;
}

void wfs_server_user_parsed(struct wfs_server *server, struct wfs_server_user *user, size_t bytes)
{
	WFS_GUARD(&server->lock);

	if (!user)
		return;
	user->parsed_bytes -= bytes;
	if (!user->owner)
		server->guest_parsed_bytes -= bytes;
}
