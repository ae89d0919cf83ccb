/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that waits for the client and for the world at once.
 *
 * Writing never blocks; otherwise two programs that write to each other could wait for ever. A
 * pipe that poll(2) reports as writable takes PIPE_BUF bytes (pipe(7)), and a write to a socket is
 * asked not to wait. The descriptors stay blocking, because other processes may share them.
 */
#include "fs/mcp/stdio.h"

#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	READ_SIZE = 64 << 10, /* bytes asked for at once */
	LOOK_MS = 1000,       /* while answers are awaited: between checks for a stopped owner */
};

struct transport {
	struct wfs_mcp *mcp;
	int input_fd;
	int output_fd;
	struct wfs_buffer input;
	size_t scanned_bytes; /* of the input: known to have no line end */
	size_t sent_bytes;    /* of the output */
	bool ended;           /* the input has ended */
	bool skipping;        /* the rest of a refused line is being skipped */
};

/* --- input --- */

static void take_line(struct transport *transport, const char *line, size_t size)
{
	size_t spaces = 0;

	if (transport->skipping) {
		transport->skipping = false;
		return;
	}
	if (size > WFS_MCP_MESSAGE_MAX) {
		wfs_mcp_refuse_long(transport->mcp);
		return;
	}
	while (spaces < size && line[spaces] && strchr(" \t\r", line[spaces]))
		spaces++;
	if (spaces < size)
		wfs_mcp_take(transport->mcp, WFS_BYTES(line, size));
}

static void forget(struct transport *transport, size_t size)
{
	struct wfs_buffer *const input = &transport->input;

	if (size == 0)
		return;
	input->size -= size;
	memmove(input->data, input->data + size, input->size);
	transport->scanned_bytes -=
		size < transport->scanned_bytes ? size : transport->scanned_bytes;
}

static void take_lines(struct transport *transport)
{
	struct wfs_buffer *const input = &transport->input;
	size_t taken = 0;

	while (input->size > 0 && !wfs_mcp_is_full(transport->mcp)) {
		const size_t from = transport->scanned_bytes;
		const char *const start = input->data + taken;
		const char *const end = memchr(input->data + from, '\n', input->size - from);

		if (!end) {
			transport->scanned_bytes = input->size;
			break;
		}
		take_line(transport, start, (size_t)(end - start));
		taken = (size_t)(end + 1 - input->data);
		transport->scanned_bytes = taken;
	}
	forget(transport, taken);
}

/* Handles a rest without line end: is it too long, or the last line? */
static void take_rest(struct transport *transport)
{
	struct wfs_buffer *const input = &transport->input;

	if (input->size == 0 || transport->scanned_bytes < input->size ||
		wfs_mcp_is_full(transport->mcp))
		return;
	if (transport->ended) {
		take_line(transport, input->data, input->size);
		forget(transport, input->size);
	} else if (input->size > WFS_MCP_MESSAGE_MAX || transport->skipping) {
		if (!transport->skipping)
			wfs_mcp_refuse_long(transport->mcp);
		transport->skipping = true;
		forget(transport, input->size);
	}
}

static int read_some(struct transport *transport, struct wfs_error *error)
{
	struct wfs_buffer *const input = &transport->input;
	ssize_t size;

	if (wfs_buffer_reserve(input, READ_SIZE) < 0)
		return wfs_error_from_errno(error, -ENOMEM, "read a message");
	size = read(transport->input_fd, input->data + input->size, READ_SIZE);
	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (size < 0)
		return wfs_error_from_errno(error, -errno, "read a message");
	input->size += (size_t)size;
	transport->ended = size == 0;
	return 0;
}

/* --- output --- */

static size_t to_send(const struct transport *transport)
{
	return wfs_mcp_output(transport->mcp)->size - transport->sent_bytes;
}

static int write_some(struct transport *transport, struct wfs_error *error)
{
	struct wfs_buffer *const output = wfs_mcp_output(transport->mcp);
	const char *const data = output->data + transport->sent_bytes;
	size_t left = to_send(transport);
	ssize_t size = send(transport->output_fd, data, left, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (size < 0 && errno == ENOTSOCK)
		size = write(transport->output_fd, data, left < PIPE_BUF ? left : PIPE_BUF);
	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (size < 0)
		return wfs_error_from_errno(error, -errno, "write to the client");
	transport->sent_bytes += (size_t)size;
	left -= (size_t)size;
	/* Sent bytes are removed when the rest, which moves, is no longer than these. */
	if (transport->sent_bytes >= left) {
		memmove(output->data, output->data + transport->sent_bytes, left);
		output->size = left;
		transport->sent_bytes = 0;
	}
	return 0;
}

/* --- both --- */

/* May there be a message to take without reading more? */
static bool has_line(const struct transport *transport)
{
	const struct wfs_buffer *const input = &transport->input;

	return input->size > 0 && !wfs_mcp_is_full(transport->mcp) &&
		(transport->ended || transport->scanned_bytes < input->size);
}

static bool is_over(const struct transport *transport)
{
	return transport->ended && transport->input.size == 0 && !wfs_mcp_is_busy(transport->mcp) &&
		to_send(transport) == 0;
}

/* Handles a client that stopped reading, which is a normal end if no answer is open. */
static int client_gone(struct transport *transport, struct wfs_error *error)
{
	if (to_send(transport) > 0 || wfs_mcp_is_busy(transport->mcp))
		return wfs_error_from_errno(error, -EPIPE, "write to the client");
	transport->ended = true;
	forget(transport, transport->input.size);
	return 0;
}

/* Waits, and moves bytes. @at_once: do not wait */
static int wait_and_move(struct transport *transport, bool at_once, struct wfs_error *error)
{
	const bool wants_input = !transport->ended && !wfs_mcp_is_full(transport->mcp);
	struct pollfd ready[] = {
		{.fd = wants_input ? transport->input_fd : -1, .events = POLLIN},
		/* Even without bytes to write, it reports that the client is gone. */
		{.fd = transport->output_fd,
			.events = (short)(to_send(transport) > 0 ? POLLOUT : 0)},
		wfs_mcp_poll(transport->mcp),
	};
	int r = 0;

	if (poll(ready, WFS_ARRAY_COUNT(ready),
		    at_once                                   ? 0
			    : wfs_mcp_is_busy(transport->mcp) ? LOOK_MS
							      : -1) < 0)
		return errno == EINTR ? 0
				      : wfs_error_from_errno(error, -errno, "wait for a message");
	if (ready[1].revents & POLLNVAL)
		return wfs_error_from_errno(error, -EBADF, "write to the client");
	if (ready[1].revents & (POLLERR | POLLHUP))
		return client_gone(transport, error);
	if (ready[1].revents)
		r = write_some(transport, error);
	if (!r && ready[0].revents)
		r = read_some(transport, error);
	return r;
}

int wfs_mcp_serve(struct wfs_mcp *mcp, int input_fd, int output_fd, struct wfs_error *error)
{
	struct transport transport = {.mcp = mcp, .input_fd = input_fd, .output_fd = output_fd};
	int r = 0;

	while (!r) {
		take_lines(&transport);
		take_rest(&transport);
		const bool more = wfs_mcp_advance(mcp);

		r = wfs_buffer_check(wfs_mcp_output(mcp));
		if (r)
			wfs_error_from_errno(error, r, "write to the client");
		if (r || is_over(&transport))
			break;
		r = wait_and_move(&transport, more || has_line(&transport), error);
	}
	wfs_buffer_done(&transport.input);
	return r;
}
