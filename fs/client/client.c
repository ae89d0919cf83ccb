/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of a control socket. */
#include "fs/client/client.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "fs/base/socket.h"
#include "fs/client/reaction.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum {
	READ_SIZE = 64 << 10, /* bytes asked for at once */
	SILENCE_FRACTION = 4, /* part of `wait_ms` without bytes, after which the owner is asked */
};

#define MS_NS INT64_C(1000000)

#define ABANDON_ID "-" /* of `abandon` requests, whose answers are dropped */

struct wfs_client {
	int fd;
	const char *as;
	char *directory; /* of the world; owned */
	unsigned int wait_ms;
	int64_t heard_ns; /* when the owner last reacted */
	uint64_t last_id;
	uint64_t taken_id; /* of the last answer that was taken */
	struct wfs_buffer output;
	size_t sent_bytes; /* bytes of the output */
	struct wfs_buffer input;
	size_t taken_bytes;   /* bytes of the input that were taken */
	size_t scanned_bytes; /* bytes of the input known to have no further line end */
	bool cut_off;         /* not everything was sent */
	int attached[WFS_CLIENT_DESCRIPTORS_MAX]; /* borrowed; sent with the next bytes */
	size_t attached_count;
};

int wfs_client_new(const char *directory, const char *as, unsigned int wait_ms,
	struct wfs_client **ret_client, struct wfs_error *error)
{
	WFS_AUTO_CLIENT struct wfs_client *client = calloc(1, sizeof(*client));
	int fd;

	wfs_require(wait_ms >= WFS_CLIENT_WAIT_MIN_MS);
	if (!client)
		return wfs_error_from_errno(error, -ENOMEM, "connect to '%s'", directory);
	client->fd = -1;
	client->as = as;
	client->wait_ms = wait_ms;
	client->directory = strdup(directory);
	if (!client->directory)
		return wfs_error_from_errno(error, -ENOMEM, "connect to '%s'", directory);
	fd = wfs_socket_connect(directory, wait_ms, error);
	if (fd == -ETIMEDOUT)
		return wfs_reaction_missed(directory, wait_ms, error);
	if (fd < 0)
		return fd;
	client->fd = fd;
	*ret_client = WFS_STEAL(client);
	return 0;
}

void wfs_client_free(struct wfs_client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		close(client->fd);
	wfs_buffer_done(&client->output);
	wfs_buffer_done(&client->input);
	free(client->directory);
	free(client);
}

static bool is_awaited(const struct wfs_client *client)
{
	return client->taken_id != client->last_id;
}

int wfs_client_post(struct wfs_client *client, const char *verb, const json_t *payload)
{
	struct wfs_buffer *const output = &client->output;

	if (!is_awaited(client))
		client->heard_ns = wfs_clock_monotonic_ns();
	if (client->sent_bytes == output->size) {
		wfs_buffer_reset(output);
		client->sent_bytes = 0;
	}
	wfs_buffer_append_text(output, "{");
	if (client->as) {
		wfs_buffer_append_text(output, "\"as\":");
		wfs_json_write_string(output, client->as, strlen(client->as));
		wfs_buffer_append_text(output, ",");
	}
	wfs_buffer_printf(
		output, "\"cmd\":\"%s\",\"id\":\"%" PRIu64 "\",", verb, ++client->last_id);
	if (payload) {
		wfs_buffer_append_text(output, "\"payload\":");
		wfs_json_write(payload, output);
		wfs_buffer_append_text(output, ",");
	}
	wfs_buffer_append_text(output, "\"v\":1}\n");
	return wfs_buffer_check(output);
}

int wfs_client_abandon(struct wfs_client *client, size_t index)
{
	wfs_buffer_printf(&client->output,
		"{\"cmd\":\"abandon\",\"id\":\"" ABANDON_ID "\",\"payload\":{\"id\":\"%" PRIu64
		"\"},\"v\":1}\n",
		client->taken_id + 1 + index);
	return wfs_buffer_check(&client->output);
}

/* Sets the error of an owner that went away. @unread: it has not read everything */
static int gone(const struct wfs_client *client, bool unread, struct wfs_error *error)
{
	int r = wfs_error_set(error, WFS_E_CANCELLED,
		"the process that owns the world closed the connection before it answered");

	return unread && client->last_id == 1 ? -ECONNRESET : r;
}

void wfs_client_attach(struct wfs_client *client, const int *fds, size_t count)
{
	wfs_require(count <= WFS_CLIENT_DESCRIPTORS_MAX);
	memcpy(client->attached, fds, count * sizeof(*fds));
	client->attached_count = count;
}

/* Sends bytes, with attached descriptors. Return: as send(2). */
static ssize_t send_bytes(struct wfs_client *client, char *data, size_t size)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(client->attached))] = {0};
	struct iovec vector = {.iov_base = data, .iov_len = size};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	const size_t bytes = client->attached_count * sizeof(int);

	if (bytes > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(bytes);
		struct cmsghdr *const rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_len = CMSG_LEN(bytes);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(rights), client->attached, bytes);
	}
	ssize_t sent = sendmsg(client->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0 && errno == EPERM && bytes > 0) {
		/* The owner takes no descriptors from this user; its answer explains more than
		 * this error. */
		message.msg_controllen = 0;
		sent = sendmsg(client->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	if (sent > 0)
		client->attached_count = 0;
	return sent;
}

static int send_some(struct wfs_client *client, struct wfs_error *error)
{
	while (client->sent_bytes < client->output.size) {
		const ssize_t size = send_bytes(client, client->output.data + client->sent_bytes,
			client->output.size - client->sent_bytes);

		if (size < 0 && errno == EAGAIN)
			return 0;
		/* A refused client can still read the reason. */
		if (size < 0 && errno == EPIPE) {
			client->cut_off = true;
			client->sent_bytes = client->output.size;
			return 0;
		}
		if (size < 0 && errno != EINTR)
			return wfs_error_from_errno(error, -errno, "send to the owner");
		if (size > 0)
			client->sent_bytes += (size_t)size;
	}
	return 0;
}

static void forget_taken(struct wfs_client *client)
{
	struct wfs_buffer *const input = &client->input;

	if (client->taken_bytes == 0)
		return;
	memmove(input->data, input->data + client->taken_bytes, input->size - client->taken_bytes);
	input->size -= client->taken_bytes;
	client->scanned_bytes -= client->taken_bytes;
	client->taken_bytes = 0;
}

/* Receives what has come. Return: 1: something came; 0: nothing; or -errno. */
static int receive_some(struct wfs_client *client, struct wfs_error *error)
{
	struct wfs_buffer *const input = &client->input;
	ssize_t size;

	forget_taken(client);
	if (input->size > WFS_CLIENT_ANSWER_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE, "an answer has more than 64 MiB");
	if (wfs_buffer_reserve(input, READ_SIZE) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "receive an answer");
	size = recv(client->fd, input->data + input->size, READ_SIZE, MSG_DONTWAIT);
	if (size == 0 || (size < 0 && errno == ECONNRESET))
		return gone(client, size < 0 || client->cut_off, error);
	if (size < 0)
		return errno == EAGAIN || errno == EINTR
			? 0
			: wfs_error_from_errno(error, -errno, "receive from the owner");
	input->size += (size_t)size;
	client->heard_ns = wfs_clock_monotonic_ns();
	return 1;
}

/* Takes the next answer. Return: 1; 0: it is not complete; or -errno. */
static int take_line(
	struct wfs_client *client, struct wfs_answer *ret_answer, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *envelope = NULL;
	const char *const data = client->input.data;
	const char *end = NULL;
	int r;

	if (client->scanned_bytes < client->input.size)
		end = memchr(data + client->scanned_bytes, '\n',
			client->input.size - client->scanned_bytes);
	client->scanned_bytes = client->input.size;
	if (!end)
		return 0;
	r = wfs_json_parse(data + client->taken_bytes, (size_t)(end - data) - client->taken_bytes,
		&envelope, error);
	client->taken_bytes = (size_t)(end + 1 - data);
	client->scanned_bytes = client->taken_bytes;
	if (r)
		return r;
	const char *const id = json_string_value(json_object_get(envelope, "id"));
	if (id && strcmp(id, ABANDON_ID) == 0)
		return take_line(client, ret_answer, error);
	client->taken_id++;
	wfs_answer_read(envelope, ret_answer);
	return 1;
}

int wfs_client_poll(const struct wfs_client *client, short *ret_events)
{
	*ret_events = (short)(client->sent_bytes < client->output.size ? POLLIN | POLLOUT : POLLIN);
	return client->fd;
}

/* --- an owner that does not react --- */

/* After how long without bytes is the owner asked whether it reacts? */
static unsigned int silence_ms(const struct wfs_client *client)
{
	return client->wait_ms / SILENCE_FRACTION;
}

/* Milliseconds until the owner is asked; -1: no answer is awaited. */
static int silence_left_ms(const struct wfs_client *client)
{
	const int64_t past_ms = (wfs_clock_monotonic_ns() - client->heard_ns) / MS_NS;

	if (!is_awaited(client))
		return -1;
	return past_ms < silence_ms(client) ? (int)(silence_ms(client) - past_ms) : 0;
}

/* Asks the owner, if it is time to. Return: 0 (it reacts, or was not asked), -ETIMEDOUT. */
static int check_reaction(struct wfs_client *client, struct wfs_error *error)
{
	if (silence_left_ms(client) != 0)
		return 0;
	if (!wfs_reaction(client->directory, client->wait_ms - silence_ms(client)))
		return wfs_reaction_missed(client->directory, client->wait_ms, error);
	client->heard_ns = wfs_clock_monotonic_ns();
	return 0;
}

int wfs_client_take(struct wfs_client *client, bool wait, struct wfs_answer *ret_answer,
	struct wfs_error *error)
{
	for (;;) {
		struct pollfd ready;
		int r = take_line(client, ret_answer, error);

		if (!r)
			r = send_some(client, error);
		if (r)
			return r;
		r = receive_some(client, error);
		if (r > 0)
			continue;
		if (!r)
			r = check_reaction(client, error);
		if (r || !wait)
			return r;
		ready.fd = wfs_client_poll(client, &ready.events);
		if (poll(&ready, 1, silence_left_ms(client)) < 0 && errno != EINTR)
			return wfs_error_from_errno(error, -errno, "wait for the owner");
	}
}
