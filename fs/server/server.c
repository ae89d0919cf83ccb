/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket itself: listening, signals, ending. */
#include "fs/server/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "fs/base/socket.h"
#include "fs/base/supervisor.h"
#include "fs/server/server-impl.h"
#include "kernel/base/log.h"

enum {
	WORK_THREADS = 4, /* for verbs that take long */
	LINE_THREADS = 2, /* for long lines */
	ACCEPTS_MAX = 64, /* clients accepted before the loop checks its other handles */
};

/* Has the parent process chosen that this one ignores the signal, as nohup does with SIGHUP? */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void own_signals(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	sigaddset(ret_set, SIGTERM);
	sigaddset(ret_set, SIGHUP);
	if (!is_ignored(SIGINT))
		sigaddset(ret_set, SIGINT);
}

/* Can this process reach the terminal from which it was started? Not after that was closed. */
static bool has_terminal(void)
{
	WFS_AUTO_FD int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

static void close_handle(void *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void wfs_server_maybe_end(struct wfs_server *server)
{
	if (!server->stopping || server->connections)
		return;
	close_handle(&server->wake);
	close_handle(&server->stop_timer);
	close_handle(&server->gone_timer);
	close_handle(&server->turns);
	close_handle(&server->more);
}

static void on_stop_timeout(uv_timer_t *timer)
{
	struct wfs_server *const server = timer->data;

	wfs_log(WFS_LOG_SOCKET, WFS_LOG_WARNING,
		"stop: a client does not read its answers, dropping them");
	wfs_server_end_connections(server, true);
}

static void begin_stop(struct wfs_server *server)
{
	if (server->stopping)
		return;
	server->stopping = true;
	wfs_supervisor_tell("STOPPING=1");
	close_handle(&server->listener);
	close_handle(&server->signals);           /* further signals change nothing */
	if (server->host && server->host->driver) /* no client waits for turns any more */
		server->host->driver->stop(server->host->driver);
	if (server->host && server->host->cease)
		server->host->cease(server->host);
	wfs_authority_end_code(wfs_session_authority(server->session), WFS_SERVER_STOP_CODE_MS);
	uv_timer_start(&server->stop_timer, on_stop_timeout, WFS_SERVER_STOP_MS, 0);
	wfs_server_end_connections(server, false);
	wfs_server_maybe_end(server);
}

static void on_signal(uv_poll_t *handle, int status, int events)
{
	struct wfs_server *const server = handle->data;
	struct signalfd_siginfo info;

	(void)events;
	if (status < 0 || read(server->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	/* A closed terminal sends SIGHUP, too. */
	if (info.ssi_signo == SIGHUP && (!server->had_terminal || has_terminal())) {
		wfs_server_reload(server);
		return;
	}
	wfs_log(WFS_LOG_SOCKET, WFS_LOG_NOTICE, "stopping: got signal %u", info.ssi_signo);
	begin_stop(server);
}

static void on_wake(uv_async_t *wake)
{
	struct wfs_server *const server = wake->data;
	bool stop;

	pthread_mutex_lock(&server->lock);
	stop = server->stop_wanted;
	pthread_mutex_unlock(&server->lock);
	wfs_server_collect(server);
	if (stop)
		begin_stop(server);
}

static void on_gone_timer(uv_timer_t *timer)
{
	wfs_server_look_for_gone(timer->data);
}

static void on_turns(uv_check_t *turns)
{
	struct wfs_server *const server = turns->data;

	server->accepted_count = 0;
	wfs_server_accept_waiting(server);
	wfs_server_turns(server);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct wfs_server *const server = listener->data;

	if (status != 0)
		return;
	/* libuv goes on while clients come, unless one is not accepted. */
	if (++server->accepted_count > ACCEPTS_MAX)
		server->another_waits = true;
	else
		wfs_server_accept(server);
	if (!server->stopping && !uv_is_active((uv_handle_t *)&server->gone_timer))
		uv_timer_start(
			&server->gone_timer, on_gone_timer, WFS_SERVER_GONE_MS, WFS_SERVER_GONE_MS);
}

static int watch_signals(struct wfs_server *server)
{
	sigset_t watched;

	own_signals(&watched);
	server->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (server->signal_fd < 0)
		return -errno;
	int r = uv_poll_init(&server->loop, &server->signals, server->signal_fd);
	server->signals.data = server;
	return r ? r : uv_poll_start(&server->signals, UV_READABLE, on_signal);
}

static int add_handles(struct wfs_server *server, int *listener_fd)
{
	int r = uv_pipe_init(&server->loop, &server->listener, 0);

	server->listener.data = server;
	if (!r)
		r = uv_async_init(&server->loop, &server->wake, on_wake);
	server->wake.data = server;
	if (!r)
		r = uv_timer_init(&server->loop, &server->stop_timer);
	server->stop_timer.data = server;
	if (!r)
		r = uv_timer_init(&server->loop, &server->gone_timer);
	server->gone_timer.data = server;
	if (!r)
		r = uv_timer_init(&server->loop, &server->supervised_timer);
	server->supervised_timer.data = server;
	if (!r)
		r = uv_idle_init(&server->loop, &server->more);
	if (!r)
		r = uv_check_init(&server->loop, &server->turns);
	server->turns.data = server;
	if (!r)
		r = uv_check_start(&server->turns, on_turns);
	if (!r)
		r = watch_signals(server);
	if (r || *listener_fd < 0)
		return r;
	r = uv_pipe_open(&server->listener, *listener_fd);
	if (!r)
		*listener_fd = -1; /* the handle closes it */
	if (!r)
		r = uv_listen((uv_stream_t *)&server->listener, SOMAXCONN, on_connection);
	return r; /* libuv's codes are negative errno on Linux */
}

/* Binds and listens. Return: 0 and the listening socket, or -errno. */
static int listen_in(
	struct wfs_server *server, const char *directory, int *ret_fd, struct wfs_error *error)
{
	if (asprintf(&server->socket_path, "%s/%s", directory, WFS_SOCKET_NAME) < 0) {
		server->socket_path = NULL;
		return wfs_error_from_errno(error, -ENOMEM, "open the control socket");
	}
	const int fd = wfs_socket_listen(directory, wfs_peers_any(server->peers), error);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

int wfs_server_new(const struct wfs_session *session, struct wfs_host *host,
	struct wfs_server **ret_server, struct wfs_error *error)
{
	const char *const directory = wfs_authority_directory(wfs_session_authority(session));
	WFS_AUTO_SERVER struct wfs_server *server = calloc(1, sizeof(*server));
	WFS_AUTO_FD int fd = -1;
	int r;

	if (!server)
		return wfs_error_from_errno(error, -ENOMEM, "open the control socket");
	pthread_mutex_init(&server->lock, NULL);
	server->signal_fd = -1;
	server->session = session;
	server->host = host;
	server->thread = pthread_self();
	server->had_terminal = !is_ignored(SIGHUP) && has_terminal();
	/* Linux does not queue an ignored signal, and this one is also for host.json. */
	(void)signal(SIGHUP, SIG_DFL);
	r = uv_loop_init(&server->loop);
	if (r) {
		pthread_mutex_destroy(&server->lock);
		free(WFS_STEAL(server));
		return wfs_error_from_errno(error, r, "open the control socket");
	}
	r = wfs_work_new(WORK_THREADS, &server->work);
	if (!r)
		r = wfs_work_new(1, &server->urgent);
	if (!r)
		r = wfs_work_new(1, &server->long_reads);
	if (!r)
		r = wfs_work_new(LINE_THREADS, &server->long_lines);
	if (r)
		return wfs_error_from_errno(error, r, "start the threads of the control socket");
	r = wfs_peers_new(directory, &server->peers, error);
	if (!r && !wfs_authority_read_only(wfs_session_authority(session)))
		r = listen_in(server, directory, &fd, error);
	if (r)
		return r;
	r = add_handles(server, &fd);
	if (r)
		return wfs_error_from_errno(error, r, "open the control socket");
	wfs_server_observe(server);
	*ret_server = WFS_STEAL(server);
	return 0;
}

void wfs_server_hold_signals(void)
{
	sigset_t held;

	own_signals(&held);
	pthread_sigmask(SIG_BLOCK, &held, NULL);
}

void wfs_server_run(struct wfs_server *server)
{
	wfs_server_supervise(server);
	uv_run(&server->loop, UV_RUN_DEFAULT);
}

struct wfs_peers *wfs_server_peers(struct wfs_server *server)
{
	return server->peers;
}

void wfs_server_stop(struct wfs_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->stop_wanted = true;
	pthread_mutex_unlock(&server->lock);
	uv_async_send(&server->wake);
}

static void close_walked(uv_handle_t *handle, void *context)
{
	(void)context;
	close_handle(handle);
}

void wfs_server_free(struct wfs_server *server)
{
	if (!server)
		return;
	wfs_server_unobserve(server);
	/* Their threads may be returning from waking the loop. */
	wfs_work_free(server->work);
	wfs_work_free(server->urgent);
	wfs_work_free(server->long_reads);
	wfs_work_free(server->long_lines);
	uv_walk(&server->loop, close_walked, NULL);
	uv_run(&server->loop, UV_RUN_DEFAULT);
	uv_loop_close(&server->loop);
	if (server->signal_fd >= 0)
		close(server->signal_fd);
	while (server->idle) {
		struct wfs_server_request *const request = server->idle;

		server->idle = request->next;
		free(request);
	}
	if (server->socket_path)
		unlink(server->socket_path);
	free(server->socket_path);
	wfs_peers_free(server->peers);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
