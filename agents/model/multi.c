/* SPDX-License-Identifier: Apache-2.0 */
/* Runs curl's multi interface on a libuv loop (sockets and curl's timer), and sets what all
 * transfers have. */
#include "agents/model/multi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agents/model/client.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/trust.h"

enum {
	/* Connections that are kept, those in use included. With fewer than simultaneous calls,
	 * curl would close one connection for each call that ends. */
	CONNECTIONS_MAX = 8192,
	READ_BUFFER_SIZE = 4096,    /* bytes; one for each running transfer */
	UPLOAD_BUFFER_SIZE = 16384, /* bytes; curl's minimum, used for longer bodies in pieces */
};

struct wfs_multi {
	uv_loop_t *loop;
	CURLM *curl;      /* NULL: freed */
	uv_timer_t timer; /* for curl */
	void (*over)(void *private, CURLcode result);
	void (*closed)(void *context);
	void *context;
	unsigned int handle_count; /* open handles of libuv; closing the last frees this */
};

/* A socket of curl that the loop watches. */
struct watch {
	uv_poll_t poll;
	struct wfs_multi *multi;
	curl_socket_t socket;
};

/* --- freeing --- */

static void handle_closed(struct wfs_multi *multi)
{
	if (--multi->handle_count > 0)
		return;
	multi->closed(multi->context);
	free(multi);
}

static void on_timer_closed(uv_handle_t *timer)
{
	handle_closed(timer->data);
}

static void on_watch_closed(uv_handle_t *poll)
{
	struct watch *const watch = poll->data;

	handle_closed(watch->multi);
	free(watch);
}

/* --- calling back --- */

/* Callbacks may add and remove transfers, and free the multi, whose memory stays until its handles
 * are closed. */
static void tell(struct wfs_multi *multi)
{
	void *private = NULL;
	CURLMsg *message = NULL;
	int left;

	while (multi->curl && (message = curl_multi_info_read(multi->curl, &left)))
		if (message->msg == CURLMSG_DONE &&
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private) ==
				CURLE_OK)
			multi->over(private, message->data.result);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	const struct watch *const watch = poll->data;
	struct wfs_multi *const multi = watch->multi;
	int running;
	int flags = 0;

	if (status < 0)
		flags |= CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	curl_multi_socket_action(multi->curl, watch->socket, flags, &running);
	tell(multi);
}

static void on_timeout(uv_timer_t *timer)
{
	struct wfs_multi *const multi = timer->data;
	int running;

	curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
	tell(multi);
}

/* --- requests of curl --- */

static int want_timeout(CURLM *curl, long timeout_ms, void *context)
{
	struct wfs_multi *const multi = context;

	(void)curl;
	if (timeout_ms < 0)
		uv_timer_stop(&multi->timer);
	else
		uv_timer_start(&multi->timer, on_timeout, (uint64_t)timeout_ms, 0);
	return 0;
}

/* Return: NULL if libuv cannot watch the socket. */
static struct watch *watch_new(struct wfs_multi *multi, curl_socket_t socket)
{
	struct watch *const watch = calloc(1, sizeof(*watch));

	if (!watch || uv_poll_init_socket(multi->loop, &watch->poll, socket) != 0) {
		free(watch);
		return NULL;
	}
	watch->poll.data = watch;
	watch->multi = multi;
	watch->socket = socket;
	multi->handle_count++;
	curl_multi_assign(multi->curl, socket, watch);
	return watch;
}

/*
 * Without a watch the transfer ends at a time limit of its user. Returning an error instead would
 * end all transfers, and make the multi unusable.
 */
static int want_socket(
	CURL *easy, curl_socket_t socket, int what, void *context, void *watch_context)
{
	struct wfs_multi *const multi = context;
	struct watch *watch = watch_context;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (watch)
			uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
		return 0;
	}
	if (!watch)
		watch = watch_new(multi, socket);
	if (watch)
		uv_poll_start(&watch->poll,
			(what & CURL_POLL_IN ? UV_READABLE : 0) |
				(what & CURL_POLL_OUT ? UV_WRITABLE : 0),
			on_ready);
	return 0;
}

/* --- new and free --- */

static int set_options(struct wfs_multi *multi)
{
	int r = 0;

	r |= (int)curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, want_socket);
	r |= (int)curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
	r |= (int)curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, want_timeout);
	r |= (int)curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
	r |= (int)curl_multi_setopt(multi->curl, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_MAX);
	return r ? -ENOMEM : 0;
}

int wfs_multi_new(uv_loop_t *loop, void (*over)(void *private, CURLcode result),
	void (*closed)(void *context), void *context, struct wfs_multi **ret_multi)
{
	WFS_AUTO_FREE struct wfs_multi *multi = calloc(1, sizeof(*multi));

	if (!multi || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	multi->loop = loop;
	multi->over = over;
	multi->closed = closed;
	multi->context = context;
	multi->curl = curl_multi_init();
	if (!multi->curl || set_options(multi) < 0) {
		curl_multi_cleanup(multi->curl);
		curl_global_cleanup();
		return -ENOMEM;
	}
	uv_timer_init(loop, &multi->timer);
	multi->timer.data = multi;
	multi->handle_count = 1;
	*ret_multi = WFS_STEAL(multi);
	return 0;
}

void wfs_multi_free(struct wfs_multi *multi)
{
	if (!multi)
		return;
	curl_multi_cleanup(WFS_STEAL(multi->curl)); /* stops using the sockets */
	curl_global_cleanup();
	uv_close((uv_handle_t *)&multi->timer, on_timer_closed);
}

int wfs_multi_add(struct wfs_multi *multi, CURL *easy)
{
	return curl_multi_add_handle(multi->curl, easy) == CURLM_OK ? 0 : -ENOMEM;
}

void wfs_multi_remove(struct wfs_multi *multi, CURL *easy)
{
	curl_multi_remove_handle(multi->curl, easy);
}

/* --- what all transfers have --- */

static int set_common(CURL *easy)
{
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* Cancelling a transfer must not wait for the thread that resolves a name. */
	r |= (int)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	r |= (int)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_USERAGENT, "worldfs");
	r |= (int)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)READ_BUFFER_SIZE);
	r |= (int)curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_SIZE);
	return r ? -ENOMEM : 0;
}

/*
 * curl caches certificates for the next connection only if all come from one file. With Debian's
 * default, a file and a directory, each connection reads all of them again (30 ms, 0.9 MB). The
 * file has all that the directory has.
 */
static int set_authorities(CURL *easy)
{
	char *file = NULL;

	if (curl_easy_getinfo(easy, CURLINFO_CAINFO, &file) != CURLE_OK || !file ||
		access(file, R_OK) != 0)
		return 0; /* use only the directory then */
	return curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK ? 0 : -ENOMEM;
}

int wfs_multi_easy_new(CURL **ret_easy)
{
	CURL *const easy = curl_easy_init();
	int r = easy ? set_common(easy) : -ENOMEM;

	if (r == 0)
		r = set_authorities(easy);
	if (r == 0)
		*ret_easy = easy;
	else
		curl_easy_cleanup(easy);
	return r;
}

/* --- URLs --- */

static void text_free(char **text)
{
	curl_free(*text);
}

static int refuse_url(const char *what, const char *reason, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"%s: expected http://… or https://… without a user's name, got: %s", what, reason);
}

int wfs_multi_parse_url(const char *what, const char *text, CURLU *url, struct wfs_error *error)
{
	WFS_CLEANUP(text_free) char *scheme = NULL;
	CURLUcode result = curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER);

	if (result == CURLUE_OK)
		result = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
	if (result == CURLUE_OUT_OF_MEMORY)
		return -ENOMEM;
	if (result != CURLUE_OK)
		return refuse_url(what, curl_url_strerror(result), error);
	if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		return refuse_url(what, scheme, error);
	return 0;
}

int wfs_multi_set_url(CURL *easy, CURLU *url)
{
	WFS_CLEANUP(text_free) char *host = NULL;
	WFS_CLEANUP(text_free) char *text = NULL;

	if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK ||
		curl_easy_setopt(easy, CURLOPT_URL, text) != CURLE_OK)
		return -ENOMEM;
	/* An empty text means no proxy, whatever the environment says. */
	if (wfs_trust_is_loopback(host) && curl_easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK)
		return -ENOMEM;
	return 0;
}

/* --- headers --- */

void wfs_multi_headers_free(struct curl_slist *headers)
{
	for (struct curl_slist *at = headers; at; at = at->next)
		explicit_bzero(at->data, strlen(at->data));
	curl_slist_free_all(headers);
}

int wfs_multi_add_header(struct curl_slist **headers, const char *name, const char *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct curl_slist *added = NULL;
	/* Reserved at once, because growing would leave a copy of the key in freed memory. */
	int r = wfs_buffer_reserve(&line, strlen(name) + strlen(value));

	if (r < 0)
		return r;
	wfs_buffer_append_text(&line, name);
	wfs_buffer_append_text(&line, value);
	added = curl_slist_append(*headers, wfs_buffer_text(&line));
	explicit_bzero(line.data, line.size);
	if (!added)
		return -ENOMEM;
	*headers = added;
	return 0;
}

int wfs_multi_check_value(const char *what, const char *value, struct wfs_error *error)
{
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected a text for a header, got control byte 0x%02x at %zu",
				what, (unsigned int)(unsigned char)*at, (size_t)(at - value));
	return 0;
}
