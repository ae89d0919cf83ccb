/* SPDX-License-Identifier: Apache-2.0 */
/* The owner process as a service: what systemd and its journal learn about the world, and reading
 * host.json again. */
#include <inttypes.h>

#include "caps/session-upkeep.h"
#include "caps/session.h"
#include "fs/base/socket.h"
#include "fs/base/supervisor.h"
#include "fs/server/server-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/journald.h"
#include "kernel/base/log.h"

enum { NSEC_PER_USEC = 1000 };

/* Sends @assignments, lines or "", with the status. */
static void tell(const struct wfs_server *server, const char *assignments)
{
	struct wfs_session_figures figures = {0};
	char text[256];

	if (wfs_session_figures(server->session, &figures, NULL))
		return;
	(void)snprintf(text, sizeof(text),
		"%sSTATUS=height %" PRIu64 ", %" PRIu64 " requests in the queue", assignments,
		figures.world.height, figures.world.queue_count);
	wfs_supervisor_tell(text);
}

/* Only the loop's thread says that the service lives: if it hangs, systemd ends the process. */
static void on_supervised(uv_timer_t *timer)
{
	tell(timer->data, "WATCHDOG=1\n");
}

void wfs_server_supervise(struct wfs_server *server)
{
	const uint64_t pause_ms = wfs_supervisor_pause_ms();

	if (!pause_ms)
		return;
	tell(server, "READY=1\n");
	uv_timer_start(&server->supervised_timer, on_supervised, pause_ms, pause_ms);
	uv_unref((uv_handle_t *)&server->supervised_timer);
}

/* --- host.json --- */

static int read_host(struct wfs_server *server, struct wfs_error *error)
{
	const struct wfs_authority *const authority = wfs_session_authority(server->session);
	const char *const directory = wfs_authority_directory(authority);
	int r = wfs_peers_reload(server->peers, directory, error);

	if (!r && !wfs_authority_read_only(authority))
		r = wfs_socket_admit(directory, wfs_peers_any(server->peers), error);
	if (r)
		return r;
	wfs_server_end_changed(server);
	if (server->host && server->host->driver && server->host->driver->reload)
		server->host->driver->reload(server->host->driver);
	return 0;
}

void wfs_server_reload(struct wfs_server *server)
{
	struct wfs_error error = {.code = WFS_OK};
	char begun[64];

	(void)snprintf(begun, sizeof(begun), "RELOADING=1\nMONOTONIC_USEC=%" PRId64,
		wfs_clock_monotonic_ns() / NSEC_PER_USEC);
	wfs_supervisor_tell(begun);
	if (read_host(server, &error))
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_ERR,
			"host.json cannot be read again, keeping what was read before: %s",
			error.message);
	else
		wfs_log(WFS_LOG_SOCKET, WFS_LOG_NOTICE, "host.json was read again");
	tell(server, "READY=1\n");
}

/* --- the height --- */

static void on_committed(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	(void)observer;
	wfs_journald_height(commit->to_height);
}

void wfs_server_observe(struct wfs_server *server)
{
	const struct wfs_authority *const authority = wfs_session_authority(server->session);
	struct wfs_session_figures figures = {0};

	if (wfs_authority_read_only(authority)) /* another process changes it */
		return;
	server->observer.committed = on_committed;
	wfs_authority_observe(authority, &server->observer);
	server->observing = true;
	if (!wfs_session_figures(server->session, &figures, NULL))
		wfs_journald_height(figures.world.height);
}

void wfs_server_unobserve(struct wfs_server *server)
{
	if (server->observing)
		wfs_authority_unobserve(wfs_session_authority(server->session), &server->observer);
}
