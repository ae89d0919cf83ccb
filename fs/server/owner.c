/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the owner, and serves the requests of verbs to their host. */
#include "fs/server/owner.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "fs/relay/relay.h"
#include "fs/server/gate.h"
#include "fs/server/server.h"
#include "fs/tool/helper.h"
#include "kernel/base/clock.h"
#include "kernel/base/journald.h"
#include "kernel/base/log.h"
#include "kernel/manifest/manifest.h"

#define SECOND_NS INT64_C(1000000000)

struct owner {
	struct wfs_host host; /* first: verbs get a pointer to it */
	bool keep;
	int64_t started_ns;
	struct wfs_guardian *guardian;
	struct wfs_authority *authority;
	struct wfs_session *session;
	struct wfs_server *server;
	struct wfs_mounts *mounts;
	struct wfs_relay *relay; /* NULL: the world is not replicated */
	struct wfs_gate *gate;   /* then: of the driver; host.driver owns it */
};

static struct owner *owner_of(struct wfs_host *host)
{
	return (struct owner *)host;
}

/* --- requests of verbs to the host --- */

/* Ends the owner if it has no mounts. A process that asks for a mount later is refused, and starts
 * an owner of its own. */
static void stop_without_mounts(struct owner *owner)
{
	if (!owner->keep && wfs_mounts_close_if_none(owner->mounts))
		wfs_server_stop(owner->server);
}

static int host_mount(
	struct wfs_host *host, struct wfs_mount_options *mount, struct wfs_error *error)
{
	struct owner *const owner = owner_of(host);
	int r = wfs_mounts_add(owner->mounts, mount, error);

	if (r)
		stop_without_mounts(owner);
	return r;
}

static int host_umount(struct wfs_host *host, const char *directory, struct wfs_error *error)
{
	struct owner *const owner = owner_of(host);
	const int r = wfs_mounts_remove(owner->mounts, directory, error);

	/* Also after an error: a mount without a keeper is no longer served. */
	stop_without_mounts(owner);
	return r;
}

static void host_shutdown(struct wfs_host *host)
{
	wfs_server_stop(owner_of(host)->server);
}

static void host_status(struct wfs_host *host, json_t *status)
{
	struct owner *const owner = owner_of(host);
	const int64_t uptime_ns = wfs_clock_monotonic_ns() - owner->started_ns;

	json_t *const mounts = json_object_get(status, "mounts");

	wfs_mounts_status(owner->mounts, mounts);
	json_object_set_new(
		status, "mount_count", json_integer((json_int_t)json_array_size(mounts)));
	json_object_set_new(status, "last_mount", json_boolean(json_array_size(mounts) == 1));
	json_object_set_new(status, "pid", json_integer(getpid()));
	json_object_set_new(status, "keep", json_boolean(owner->keep));
	json_object_set_new(status, "uptime_s", json_integer(uptime_ns / SECOND_NS));
}

/* --- a replicated world --- */

static void on_became(void *context, enum wfs_node_role role)
{
	struct owner *const owner = context;

	if (!owner->gate)
		return;
	if (role == WFS_NODE_OWNER)
		wfs_gate_open(owner->gate, wfs_relay_heir_wait_ms(owner->relay));
	else
		wfs_gate_shut(owner->gate);
}

static void on_lost(void *context, const struct wfs_error *error)
{
	struct owner *const owner = context;

	wfs_log(WFS_LOG_REPLICA, WFS_LOG_ERR, "ending: %s", error->message);
	wfs_server_stop(owner->server);
}

/* --- life --- */

static void on_reaped(void *context)
{
	stop_without_mounts(context);
}

/* Undoes the start in reverse; accepts a half-built owner. */
static void owner_done(struct owner *owner)
{
	wfs_mounts_free(owner->mounts);
	wfs_relay_free(owner->relay);
	wfs_server_free(owner->server);
	if (owner->host.driver)
		owner->host.driver->free(owner->host.driver);
	wfs_session_free(owner->session);
	wfs_authority_free(owner->authority);
	wfs_guardian_free(owner->guardian);
}

/* Raises the limit of descriptors: each turn that waits for a model has a connection, and shells
 * give a process 1024 descriptors but allow more. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_mounts(
	struct owner *owner, const struct wfs_owner_options *options, struct wfs_error *error)
{
	const struct wfs_mounts_options mounts = {
		.authority = owner->authority,
		.guardian = owner->guardian,
		.host = &owner->host,
		.peers = wfs_server_peers(owner->server),
		.reaped = on_reaped,
		.context = owner,
	};
	int r = wfs_mounts_new(&mounts, &owner->mounts, error);

	return !r && options->mount ? wfs_mounts_add(owner->mounts, options->mount, error) : r;
}

/* Is the world on a read-only medium? Then this process can neither lock it nor make its control
 * socket, and the mount does without both. Another process may be able to write there (through
 * another bind mount): its changes are seen late or as damage, because LMDB has no lock file,
 * either. */
static bool is_read_only(const char *directory)
{
	struct statvfs found;

	return statvfs(directory, &found) == 0 && (found.f_flag & ST_RDONLY);
}

/* Opens the world; for a mount also one of an older format, for reading only. */
static int open_world(
	struct owner *owner, const struct wfs_owner_options *options, struct wfs_error *error)
{
	struct wfs_world_options world = {
		.wait_ms = options->wait_ms, .read_only = is_read_only(options->directory)};

	if (world.read_only && options->keep)
		return wfs_error_set(error, WFS_E_READ_ONLY,
			"'%s' is on a read-only medium, where no control socket can be made",
			options->directory);
	int r = wfs_authority_open(options->directory, &world, &owner->authority, error);
	if (r && error->code == WFS_E_FORMAT_OLDER && !options->keep) {
		world.read_only = true;
		r = wfs_authority_open(options->directory, &world, &owner->authority, error);
	}
	return r;
}

/* Starts what drives the agents: at once, or, if the world is replicated, whenever this node owns
 * it. */
static int start_driver(
	struct owner *owner, const struct wfs_owner_options *options, struct wfs_error *error)
{
	if (!options->drive || wfs_authority_read_only(owner->authority))
		return 0;
	if (!owner->relay)
		return options->drive(owner->authority, &wfs_tool_helpers, options->paused,
			&owner->host.driver, error);
	const int r = wfs_gate_new(options->drive, owner->authority, &wfs_tool_helpers,
		options->paused, &owner->gate, error);
	if (!r)
		owner->host.driver = wfs_gate_driver(owner->gate);
	return r;
}

static int join(struct owner *owner, struct wfs_error *error)
{
	const struct wfs_join_options options = {
		.listens = true, .became = on_became, .lost = on_lost, .context = owner};

	return wfs_authority_read_only(owner->authority)
		? 0
		: wfs_relay_new(owner->authority, &owner->host, &options, &owner->relay, error);
}

static int come_up(
	struct owner *owner, const struct wfs_owner_options *options, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = wfs_guardian_new(&owner->guardian, error);

	if (!r)
		r = open_world(owner, options, error);
	if (!r)
		r = wfs_session_new(
			owner->authority, WFS_PRINCIPAL_OPERATOR, &owner->session, error);
	if (!r)
		r = join(owner, error);
	if (!r)
		r = start_driver(owner, options, error);
	if (!r)
		r = wfs_server_new(owner->session, &owner->host, &owner->server, error);
	if (!r)
		r = make_mounts(owner, options, error);
	if (!r && owner->relay && wfs_node_start(wfs_relay_node(owner->relay), &reason))
		wfs_log(WFS_LOG_REPLICA, WFS_LOG_WARNING, "changes are refused: %s",
			reason.message);
	return r;
}

int wfs_owner_run(const struct wfs_owner_options *options, struct wfs_error *error)
{
	WFS_CLEANUP(owner_done)
	struct owner owner = {
		.host = {.mount = host_mount,
			.umount = host_umount,
			.shutdown = host_shutdown,
			.status = host_status},
		.keep = options->keep,
		.started_ns = wfs_clock_monotonic_ns(),
	};
	int r;

	(void)signal(SIGPIPE, SIG_IGN); /* clients may go away at any time */
	(void)signal(SIGCHLD, SIG_DFL); /* this process waits for its children */
	wfs_server_hold_signals();
	raise_descriptor_limit();
	wfs_journald_world(options->directory);
	r = come_up(&owner, options, error);
	if (r)
		return r;
	wfs_log(WFS_LOG_SOCKET, WFS_LOG_NOTICE, "serving '%s' pid=%d", options->directory,
		(int)getpid());
	if (options->ready)
		options->ready(options->context);
	wfs_server_run(owner.server);
	wfs_log(WFS_LOG_SOCKET, WFS_LOG_NOTICE, "ending: '%s' pid=%d", options->directory,
		(int)getpid());
	return 0;
}
