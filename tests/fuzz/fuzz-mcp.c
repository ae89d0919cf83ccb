/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a client of the Model Context Protocol, with 0xff between them, to a server with a copy
 * of the world WORLD. First byte odd: the client acts as alice, with one grant; even: as the
 * operator. Each line of output must be a message of JSON-RPC, and no call may be under way at the
 * end. No agent is driven.
 */
#include "tests/fuzz/fuzz.h"

#include "fs/mcp/mcp.h"
#include "kernel/base/json.h"

enum { ROUNDS_MAX = 100000, WAIT_MS = 1000, RUNS_PER_COPY = 512 };

static const char hello[] =
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
	"\"2025-"
	"06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"f\",\"version\":\"1\"}}}";
static const char ready[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

static char directory[300];
static size_t run_count;

/* Return: false when no call is under way any more */
static bool go_on(struct wfs_mcp *mcp)
{
	if (wfs_mcp_advance(mcp))
		return true;
	struct pollfd waited = wfs_mcp_poll(mcp);
	if (!wfs_mcp_is_busy(mcp) || waited.fd < 0)
		return false;
	(void)poll(&waited, 1, WAIT_MS);
	return true;
}

static void check_output(const struct wfs_buffer *output)
{
	const char *line = output->data;
	const char *const all = output->data + output->size;

	while (line < all) {
		const char *const end = memchr(line, '\n', (size_t)(all - line));
		WFS_AUTO_JSON json_t *message = NULL;

		FUZZ_MUST(end && wfs_json_parse(line, (size_t)(end - line), &message, NULL) == 0);
		FUZZ_MUST(
			strcmp(json_string_value(json_object_get(message, "jsonrpc")), "2.0") == 0);
		line = end + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_MCP struct wfs_mcp *mcp = NULL;
	const char *const as = fuzz_byte(&data, &size) & 1 ? "alice" : NULL;

	/* Runs let the world grow, so a new copy comes now and then. */
	if (run_count++ % RUNS_PER_COPY == 0)
		fuzz_copy_world(directory, sizeof(directory));
	FUZZ_MUST(wfs_mcp_new(directory, as, NULL, &mcp) == 0);
	wfs_mcp_take(mcp, wfs_bytes_text(hello));
	wfs_mcp_take(mcp, wfs_bytes_text(ready));
	while (size && !wfs_mcp_is_full(mcp)) {
		const struct wfs_bytes line = fuzz_part(&data, &size);
		char *const copy = fuzz_text(line);

		wfs_mcp_take(mcp, WFS_BYTES(copy, line.size));
		free(copy);
	}
	for (int i = 0; go_on(mcp); i++)
		FUZZ_MUST(i < ROUNDS_MAX);
	FUZZ_MUST(!wfs_mcp_is_busy(mcp));
	check_output(wfs_mcp_output(mcp));
	return 0;
}
