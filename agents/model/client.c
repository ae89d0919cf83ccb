/* SPDX-License-Identifier: Apache-2.0 */
/* Runs curl's multi interface on a libuv loop: sockets, curl's timer,
 * making and freeing clients. */
#include "agents/model/client.h"

#include <errno.h>

#include "agents/model/client-impl.h"

enum {
	/* Connections that are kept, those in use included. With fewer than simultaneous calls,
	 * curl would close one connection for each call that ends. */
	CONNECTIONS_MAX = 8192,
};

/* A socket of curl that the loop watches. */
struct watch {
	uv_poll_t poll;
	struct wfs_model_client *client;
	curl_socket_t socket;
};

/* --- freeing --- */

void wfs_model_client_handle_closed(struct wfs_model_client *client)
{
	if (--client->handle_count == 0)
		free(client);
}

static void on_timer_closed(uv_handle_t *timer)
{
	wfs_model_client_handle_closed(timer->data);
}

static void on_watch_closed(uv_handle_t *poll)
{
	struct watch *const watch = poll->data;

	wfs_model_client_handle_closed(watch->client);
	free(watch);
}

/* --- calling back --- */

/* Callbacks may cancel any call, begin others, and free the client, whose memory stays until its
 * handles are closed. */
static void tell(struct wfs_model_client *client)
{
	struct wfs_model_call *call = NULL;
	CURLMsg *message = NULL;
	int left;

	while (client->multi && (message = curl_multi_info_read(client->multi, &left)))
		if (message->msg == CURLMSG_DONE &&
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call) ==
				CURLE_OK)
			wfs_model_attempt_over(call, message->data.result);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	const struct watch *const watch = poll->data;
	struct wfs_model_client *const client = watch->client;
	int running;
	int flags = 0;

	if (status < 0)
		flags |= CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	curl_multi_socket_action(client->multi, watch->socket, flags, &running);
	tell(client);
}

static void on_timeout(uv_timer_t *timer)
{
	struct wfs_model_client *const client = timer->data;
	int running;

	curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	tell(client);
}

/* --- requests of curl --- */

static int want_timeout(CURLM *multi, long timeout_ms, void *context)
{
	struct wfs_model_client *const client = context;

	(void)multi;
	if (timeout_ms < 0)
		uv_timer_stop(&client->timer);
	else
		uv_timer_start(&client->timer, on_timeout, (uint64_t)timeout_ms, 0);
	return 0;
}

/* Return: NULL if libuv cannot watch the socket. */
static struct watch *watch_new(struct wfs_model_client *client, curl_socket_t socket)
{
	struct watch *const watch = calloc(1, sizeof(*watch));

	if (!watch || uv_poll_init_socket(client->loop, &watch->poll, socket) != 0) {
		free(watch);
		return NULL;
	}
	watch->poll.data = watch;
	watch->client = client;
	watch->socket = socket;
	client->handle_count++;
	curl_multi_assign(client->multi, socket, watch);
	return watch;
}

/*
 * Without a watch the call ends at its next time limit. Returning an error instead would end all
 * calls of the client, and make it unusable.
 */
static int want_socket(
	CURL *easy, curl_socket_t socket, int what, void *context, void *watch_context)
{
	struct wfs_model_client *const client = context;
	struct watch *watch = watch_context;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch)
			uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
		return 0;
	}
	if (!watch)
		watch = watch_new(client, socket);
	if (watch)
		uv_poll_start(&watch->poll,
			(what & CURL_POLL_IN ? UV_READABLE : 0) |
				(what & CURL_POLL_OUT ? UV_WRITABLE : 0),
			on_ready);
	return 0;
}

/* --- new and free --- */

static int set_options(struct wfs_model_client *client)
{
	int r = 0;

	r |= (int)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	r |= (int)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	r |= (int)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, want_timeout);
	r |= (int)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	r |= (int)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX);
	return r ? -ENOMEM : 0;
}

int wfs_model_client_new(uv_loop_t *loop, struct wfs_model_client **ret_client)
{
	WFS_AUTO_FREE struct wfs_model_client *client = calloc(1, sizeof(*client));

	if (!client || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	client->loop = loop;
	client->multi = curl_multi_init();
	if (!client->multi || set_options(client) < 0) {
		curl_multi_cleanup(client->multi);
		curl_global_cleanup();
		return -ENOMEM;
	}
	TAILQ_INIT(&client->calls);
	TAILQ_INIT(&client->queue);
	uv_timer_init(loop, &client->timer);
	client->timer.data = client;
	client->handle_count = 1;
	*ret_client = WFS_STEAL(client);
	return 0;
}

void wfs_model_client_free(struct wfs_model_client *client)
{
	struct wfs_model_call *call = NULL;

	if (!client)
		return;
	while ((call = TAILQ_FIRST(&client->calls)))
		wfs_model_call_cancel(call);
	curl_multi_cleanup(WFS_STEAL(client->multi)); /* stops using the sockets */
	curl_global_cleanup();
	uv_close((uv_handle_t *)&client->timer, on_timer_closed);
}
