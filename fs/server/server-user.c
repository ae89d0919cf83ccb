/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares connections and memory for requests among the users of this host.
 *
 * Each user has a share. The user that owns the world, and root, always find room: some
 * connections are reserved for them.
 */
#include <unistd.h>

#include "fs/server/server-impl.h"
#include "kernel/base/clock.h"

enum {
	SLICE_NS = 1 * 1000 * 1000,  /* of turns, before the loop reads and writes again */
	TURN_NS = 1000 * 1000,       /* for one connection */
	CREDIT_NS = 5 * 1000 * 1000, /* credit for a turn */
};

struct wfs_server_user {
	struct wfs_server_user *next; /* of the server */
	uid_t uid;
	bool owner;
	bool in_turn;
	struct wfs_server_user *next_turn;   /* NULL: the last one, or not in turn */
	struct wfs_server_connection *ready; /* connections with lines to begin, in order */
	struct wfs_server_connection *ready_last;
	int64_t credit_ns;       /* of the loop's time */
	size_t answer_bytes;     /* unread, of all its connections */
	bool reads_nothing;      /* too many are unread: requests that have not begun were ended */
	size_t connection_count; /* including refused ones */
	size_t admitted_count;
	size_t input_bytes;  /* memory for lines that have not begun or are not parsed */
	size_t parsed_bytes; /* memory for the values of long lines. Lock: the server's */
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
		user->credit_ns = CREDIT_NS;
		user->next = server->users;
		server->users = user;
	}
	user->connection_count++;
	return user;
}

/* --- turns --- */

/*
 * The time of a user's requests is taken from the user's credit. A user without credit gets new
 * credit, and goes after the others. A user without recent requests is served first.
 */
static void turn_add(struct wfs_server_turn *turn, struct wfs_server_user *user)
{
	user->next_turn = NULL;
	user->in_turn = true;
	if (turn->first)
		turn->last->next_turn = user;
	else
		turn->first = user;
	turn->last = user;
}

static void turn_take(struct wfs_server_turn *turn)
{
	struct wfs_server_user *const user = turn->first;

	turn->first = user->next_turn;
	user->next_turn = NULL;
	user->in_turn = false;
}

static void turn_remove(struct wfs_server_turn *turn, struct wfs_server_user *user)
{
	struct wfs_server_turn rest = {.first = NULL};

	while (turn->first) {
		struct wfs_server_user *const at = turn->first;

		turn_take(turn);
		if (at != user)
			turn_add(&rest, at);
	}
	*turn = rest;
}

/* Has the user requests that may begin? None may while it does not read its answers. */
static bool may_begin(const struct wfs_server_user *user)
{
	return user->ready && (user->owner || user->answer_bytes < WFS_SERVER_USER_ANSWERS_MAX);
}

static void on_more(uv_idle_t *more)
{
	(void)more;
}

static void wait_in_turn(struct wfs_server *server, struct wfs_server_user *user)
{
	if (!user->in_turn && may_begin(user))
		turn_add(&server->fresh, user);
	if (server->fresh.first || server->others.first)
		(void)uv_idle_start(&server->more, on_more);
}

void wfs_server_user_ready(struct wfs_server_connection *connection)
{
	struct wfs_server_user *const user = connection->user;

	if (connection->ready)
		return;
	connection->ready = true;
	connection->next_ready = NULL;
	if (user->ready)
		user->ready_last->next_ready = connection;
	else
		user->ready = connection;
	user->ready_last = connection;
	wait_in_turn(connection->server, user);
}

void wfs_server_user_unready(struct wfs_server_connection *connection)
{
	struct wfs_server_user *const user = connection->user;
	struct wfs_server_connection *before = NULL;

	if (!connection->ready)
		return;
	connection->ready = false;
	for (struct wfs_server_connection *at = user->ready; at != connection; at = at->next_ready)
		before = at;
	if (before)
		before->next_ready = connection->next_ready;
	else
		user->ready = connection->next_ready;
	if (user->ready_last == connection)
		user->ready_last = before;
}

/* Takes the connection whose turn it is off its list. Return: NULL: no connection waits */
static struct wfs_server_connection *next_connection(struct wfs_server *server)
{
	for (;;) {
		struct wfs_server_turn *const turn =
			server->fresh.first ? &server->fresh : &server->others;
		struct wfs_server_user *const user = turn->first;

		if (!user)
			return NULL;
		if (user->credit_ns > 0 && may_begin(user)) {
			struct wfs_server_connection *const connection = user->ready;

			wfs_server_user_unready(connection);
			return connection;
		}
		/* A user without requests is not fresh again as soon as its next line comes. */
		turn_take(turn);
		if (user->credit_ns <= 0 || (turn == &server->fresh && server->others.first)) {
			user->credit_ns += user->credit_ns <= 0 ? CREDIT_NS : 0;
			turn_add(&server->others, user);
			continue;
		}
		user->credit_ns = CREDIT_NS;
	}
}

/* Ends a user's requests that wait for the kernel thread, without doing them. */
static void give_up_requests(struct wfs_server *server, const struct wfs_server_user *user)
{
	for (struct wfs_server_connection *at = server->connections; at; at = at->next)
		for (struct wfs_server_request *request = at->user == user ? at->first : NULL;
			request; request = request->next)
			if (!request->answered && !request->slow)
				atomic_store(&request->call.gone, true);
}

void wfs_server_user_answers(struct wfs_server_connection *connection, size_t more, size_t less)
{
	struct wfs_server_user *const user = connection->user;

	connection->answer_bytes += more - less;
	if (!user)
		return;
	user->answer_bytes += more - less;
	if (!user->owner && !user->reads_nothing &&
		user->answer_bytes > WFS_SERVER_USER_UNREAD_MAX) {
		user->reads_nothing = true;
		give_up_requests(connection->server, user);
	}
	user->reads_nothing &= user->answer_bytes >= WFS_SERVER_USER_ANSWERS_MAX;
	wait_in_turn(connection->server, user);
}

void wfs_server_turns(struct wfs_server *server)
{
	int64_t now = wfs_clock_monotonic_ns();
	const int64_t end = now + SLICE_NS;
	struct wfs_server_connection *connection;

	while (now < end && (connection = next_connection(server))) {
		struct wfs_server_user *const user = connection->user;
		const int64_t before = now;

		wfs_server_turn(connection, before + TURN_NS);
		now = wfs_clock_monotonic_ns();
		user->credit_ns -= now - before;
	}
	if (!server->fresh.first && !server->others.first)
		(void)uv_idle_stop(&server->more);
}

/* --- life, and bounds --- */

void wfs_server_user_put(struct wfs_server_connection *connection)
{
	struct wfs_server *const server = connection->server;
	struct wfs_server_user *const user = connection->user;
	struct wfs_server_user **at = &server->users;

	server->admitted_count -= connection->admitted;
	if (!user)
		return;
	user->admitted_count -= connection->admitted;
	if (!user->owner)
		server->guest_count -= connection->admitted;
	if (--user->connection_count > 0)
		return;
	wfs_require(user->input_bytes == 0 && user->parsed_bytes == 0 && !user->ready);
	turn_remove(&server->fresh, user);
	turn_remove(&server->others, user);
	while (*at != user)
		at = &(*at)->next;
	*at = user->next;
	free(user);
}

/* Is there room for another connection? */
static int check_room(const struct wfs_server *server, const struct wfs_server_user *user,
	struct wfs_error *error)
{
	if (server->admitted_count >= WFS_SERVER_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED, "%d connections are open already",
			WFS_SERVER_CONNECTIONS_MAX);
	if (!user || user->owner)
		return 0;
	if (user->admitted_count >= WFS_SERVER_USER_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d connections of user %u are open already",
			WFS_SERVER_USER_CONNECTIONS_MAX, (unsigned int)user->uid);
	/* Otherwise three users could take all connections of guests. */
	if (user->admitted_count >= WFS_SERVER_USER_CONNECTIONS_FEW &&
		server->guest_count >= WFS_SERVER_GUEST_CONNECTIONS_MAX / 2)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%zu connections of user %u are open already, and other users have many, "
			"too",
			user->admitted_count, (unsigned int)user->uid);
	if (server->guest_count >= WFS_SERVER_GUEST_CONNECTIONS_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%d connections are open already; the rest are reserved for the user who "
			"owns the world",
			WFS_SERVER_GUEST_CONNECTIONS_MAX);
	return 0;
}

int wfs_server_user_admit(struct wfs_server_connection *connection, struct wfs_error *error)
{
	struct wfs_server *const server = connection->server;
	struct wfs_server_user *const user = connection->user;
	int r = check_room(server, user, error);

	if (r)
		return r;
	connection->admitted = true;
	server->admitted_count++;
	if (user)
		user->admitted_count++;
	if (user && !user->owner)
		server->guest_count++;
	return 0;
}

bool wfs_server_user_input(struct wfs_server_connection *connection, size_t bytes)
{
	struct wfs_server *const server = connection->server;
	struct wfs_server_user *const user = connection->user;
	const size_t more = bytes - connection->counted_bytes; /* wraps around if there are fewer */

	if (!user)
		return true;
	connection->counted_bytes = bytes;
	user->input_bytes += more;
	if (!user->owner)
		server->guest_input_bytes += more;
	/* A single connection always gets memory for its line. */
	if (user->input_bytes == bytes)
		return true;
	return user->input_bytes <= WFS_SERVER_USER_INPUT_MAX &&
		(user->owner || server->guest_input_bytes <= WFS_SERVER_GUEST_INPUT_MAX ||
			user->input_bytes <= WFS_SERVER_USER_INPUT_FEW);
}

int wfs_server_user_parse(struct wfs_server *server, struct wfs_server_user *user, size_t bytes,
	struct wfs_error *error)
{
	WFS_GUARD(&server->lock);

	if (!user)
		return 0;
	if (user->parsed_bytes > 0 && user->parsed_bytes + bytes > WFS_SERVER_USER_PARSED_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"requests of user %u take %zu bytes of memory already, and this one would "
			"take %zu; at most %d are allowed",
			(unsigned int)user->uid, user->parsed_bytes, bytes,
			WFS_SERVER_USER_PARSED_MAX);
	if (!user->owner && server->guest_parsed_bytes > 0 &&
		server->guest_parsed_bytes + bytes > WFS_SERVER_GUEST_PARSED_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"requests of other users take too much memory already, try again");
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
