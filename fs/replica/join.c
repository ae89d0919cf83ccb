/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/join.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "caps/authority.h"
#include "fs/replica/peer.h"
#include "fs/replica/roster.h"
#include "fs/replica/serve.h"
#include "kernel/base/clock.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

enum {
	CONNECT_MS = 5000,            /* for etcd or a node to answer a command */
	AGAIN_US = 100 * 1000,        /* before the roster is looked at again */
	PROGRESS_MS = 10 * 60 * 1000, /* for a node to check its pages before the first byte */
};

struct wfs_join {
	struct wfs_join_options options;
	int64_t wait_ms, lease_ms;
	struct wfs_identity *identity; /* NULL, like those below: it does not listen */
	struct wfs_serve *serve;
	struct wfs_port *port;
	struct wfs_node *node;
};

/* --- etcd --- */

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

/* --- joining --- */

/* Handlers of the port, which has one context for all. */

static void on_request(void *context, struct wfs_port_call *call, struct wfs_bytes body)
{
	const struct wfs_join_options *const options = &((struct wfs_join *)context)->options;

	options->request(options->request_context, call, body);
}

static void on_gone(void *context, struct wfs_port_call *call)
{
	const struct wfs_join_options *const options = &((struct wfs_join *)context)->options;

	options->gone(options->request_context, call);
}

static int on_blob(
	void *context, const struct wfs_hash *hash, int *ret_fd, uint64_t *ret_size_bytes)
{
	return wfs_serve_blob(((struct wfs_join *)context)->serve, hash, ret_fd, ret_size_bytes);
}

static int on_backup(void *context, struct wfs_port_backup *ret_backup)
{
	return wfs_serve_backup(((struct wfs_join *)context)->serve, ret_backup);
}

static bool is_whole(void *context, void *backup)
{
	return wfs_serve_backup_is_whole(((struct wfs_join *)context)->serve, backup);
}

static void on_backup_done(void *context, void *backup)
{
	wfs_serve_backup_done(((struct wfs_join *)context)->serve, backup);
}

static int open_port(struct wfs_join *join, struct wfs_authority *authority, const char *listen,
	struct wfs_error *error)
{
	int r = wfs_identity_new(&join->identity, error);

	if (!r)
		r = wfs_serve_new(authority, 0, &join->serve, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_port_options options = {
		.listen = listen,
		.identity = join->identity,
		.handlers = {on_request, on_gone, on_blob, on_backup, is_whole, on_backup_done},
		.context = join,
	};
	return wfs_trace(wfs_port_new(&options, &join->port, error));
}

/* Makes the node of a world whose host.json the user has agreed to. */
static int make_node(struct wfs_join *join, struct wfs_authority *authority, const json_t *host,
	const struct wfs_join_options *options, struct wfs_error *error)
{
	struct wfs_host_replication replication;
	struct wfs_node_options node = {.name = NULL};
	int r = wfs_host_check(host, error);

	if (r)
		return wfs_trace(r);
	wfs_require(wfs_host_replication(host, &replication));
	r = wfs_join_etcd(&replication, &node.etcd, error);
	if (!r && options->listens)
		r = open_port(join, authority, replication.listen, error);
	if (r)
		return wfs_trace(r);
	if (join->port) {
		node.address = wfs_port_address(join->port);
		node.pin = wfs_identity_pin(join->identity);
		node.token = wfs_identity_token(join->identity);
	}
	node.name = replication.node;
	node.no_owner = replication.no_owner;
	node.lease_ms = join->lease_ms = replication.lease_ms;
	node.wait_ms = join->wait_ms = replication.wait_ms;
	node.became = options->became;
	node.lost = options->lost;
	node.context = options->context;
	return wfs_node_new(authority, &node, &join->node, error);
}

/* Reads host.json. Return: 1: the world is replicated, or may be; 0: it is not. */
static int read_host(
	const char *directory, json_t **ret_host, int *ret_failure, struct wfs_error *error)
{
	struct wfs_hash hash;

	*ret_failure = wfs_host_file_read(directory, ret_host, &hash, error);
	if (!*ret_failure && !json_object_get(*ret_host, "replication"))
		return 0;
	if (!*ret_failure)
		*ret_failure = wfs_trust_check(directory, &hash, error);
	return 1;
}

int wfs_join_new(struct wfs_authority *authority, const struct wfs_join_options *options,
	struct wfs_join **ret_join, struct wfs_error *error)
{
	WFS_AUTO_JOIN struct wfs_join *join = NULL;
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_error reason = {0};
	int r;

	*ret_join = NULL;
	if (!read_host(wfs_authority_directory(authority), &host, &r, &reason))
		return 0;
	join = calloc(1, sizeof(*join));
	if (!join)
		return wfs_error_from_errno(error, -ENOMEM, "join other nodes");
	join->options = *options;
	if (!r)
		r = make_node(join, authority, host, options, &reason);
	if (r)
		r = wfs_node_bar(authority, &reason, &join->node, error);
	if (!r)
		*ret_join = WFS_STEAL(join);
	return r;
}

void wfs_join_free(struct wfs_join *join)
{
	if (!join)
		return;
	if (join->node) /* then what the port still does is answered soon; it asks the node */
		wfs_node_end(join->node);
	wfs_port_free(join->port);
	wfs_serve_free(join->serve);
	wfs_identity_free(join->identity);
	wfs_node_free(join->node);
	free(join);
}

struct wfs_node *wfs_join_node(const struct wfs_join *join)
{
	return join->node;
}

int64_t wfs_join_wait_ms(const struct wfs_join *join)
{
	return join->wait_ms;
}

int64_t wfs_join_lease_ms(const struct wfs_join *join)
{
	return join->lease_ms;
}

/* --- fetching --- */

/* The living node that can give the world: a follower, if there is one. Return: borrowed, or
 * NULL. */
static const struct wfs_roster_node *find_giver(const struct wfs_roster *roster)
{
	const struct wfs_roster_node *best = NULL;
	size_t count;
	const struct wfs_roster_node *const nodes = wfs_roster_nodes(roster, &count);

	for (size_t i = 0; i < count; i++) {
		const struct wfs_roster_node *const node = &nodes[i];
		const bool can = node->lives && *node->entry.address && !node->entry.problem;

		if (can && (!best || strcmp(node->entry.role, "follower") == 0))
			best = node;
	}
	return best;
}

/* Another node, with the host.json of the copy. */
struct giver {
	struct wfs_serve_source serve; /* first: the callback casts back */
	const json_t *host;
};

static int give_host(struct wfs_backup_source *source, int to_fd, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FD int fd =
		openat(to_fd, "host.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	wfs_json_write(((struct giver *)source)->host, &text);
	wfs_buffer_append_byte(&text, '\n');
	if (wfs_buffer_check(&text))
		return wfs_error_from_errno(error, -ENOMEM, "write host.json");
	if (fd < 0 || write(fd, text.data, text.size) != (ssize_t)text.size || fsync(fd) < 0)
		return wfs_error_from_errno(error, -errno, "write host.json");
	return 0;
}

static int fetch_from(const struct wfs_roster_node *node, const json_t *host, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	const struct wfs_peer_options peer_options = {
		.address = node->entry.address,
		.pin = node->entry.pin,
		.token = node->entry.token,
		.connect_ms = CONNECT_MS,
		.request_ms = CONNECT_MS,
		.progress_ms = PROGRESS_MS,
	};
	WFS_AUTO_PEER struct wfs_peer *peer = NULL;
	struct giver giver = {.host = host};
	const int r = wfs_peer_new(&peer_options, &peer, error);

	if (r)
		return wfs_trace(r);
	wfs_serve_source_init(&giver.serve, peer);
	giver.serve.source.give_host = give_host;
	return wfs_trace(
		wfs_upkeep_fetch(&giver.serve.source, directory, options, ret_figures, error));
}

int wfs_join_fetch(const json_t *host, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	WFS_AUTO_ETCD struct wfs_etcd *etcd = NULL;
	WFS_AUTO_ROSTER struct wfs_roster *roster = NULL;
	struct wfs_etcd_options etcd_options;
	struct wfs_host_replication replication;
	struct wfs_log_place place;

	wfs_require(wfs_host_replication(host, &replication));
	int r = wfs_log_node_check(replication.node, error);
	if (!r)
		r = wfs_join_etcd(&replication, &etcd_options, error);
	etcd_options.timeout_ms = CONNECT_MS;
	if (!r)
		r = wfs_etcd_new(&etcd_options, &etcd, error);
	if (!r)
		r = wfs_log_look(etcd, &place, error);
	if (!r)
		r = wfs_roster_new(replication.node, "", replication.lease_ms, &roster, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_roster_node *own;
	const struct wfs_roster_node *giver;
	const int64_t until_ns = wfs_clock_monotonic_ns() + CONNECT_MS * INT64_C(1000000);
	do { /* a node that has just begun may not have entered yet */
		r = wfs_roster_look(roster, etcd, error);
		own = r ? NULL : wfs_roster_find(roster, replication.node);
		giver = r ? NULL : find_giver(roster);
	} while (!r && !giver && wfs_clock_monotonic_ns() < until_ns && !usleep(AGAIN_US));
	if (r)
		return wfs_trace(r);
	if (own && own->lives)
		return wfs_error_set(error, WFS_E_BUSY, "a node '%s' lives: a name has one node",
			replication.node);
	if (!giver)
		return wfs_error_set(error, WFS_E_UNAVAILABLE,
			"no node of the world lives that could give it: serve or mount it there");
	return fetch_from(giver, host, directory, options, ret_figures, error);
}
