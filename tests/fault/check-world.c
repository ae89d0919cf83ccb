/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the worlds that a fault has left, as the next owner would, and reports their contents.
 *
 * Reads directories from standard input, one a line. Answers each with the records that were found,
 * one a line; then with each problem as `problem: …`; then with `height N`, or with `refused: …` if
 * the directory does not open. Before it verifies a world, it appends one event of the world
 * `counter`: a world that can only be read has not survived. One process checks thousands of
 * directories.
 */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/read/view.h"
#include "kernel/store/tables.h"
#include "kernel/world/world.h"

enum { PATH_SIZE = 4096 };

static const char event_json[] = "{\"by\":1,\"key\":\"after the fault\"}";

static int print_records(struct wfs_world *world, uint64_t *ret_height, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	uint64_t first = 0;
	int r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, error);

	if (!r && wfs_journal_first(view.txn, &first))
		r = wfs_error_from_errno(error, -EIO, "find the first record");
	for (uint64_t seq = first; !r && seq < view.height; seq++) {
		struct wfs_bytes line;

		r = wfs_view_record(&view, seq, &line);
		if (r)
			return wfs_error_from_errno(error, r, "read record %" PRIu64, seq);
		(void)fwrite(line.data, 1, line.size, stdout);
	}
	*ret_height = view.height;
	return r;
}

static int append_event(struct wfs_world *world, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *value = NULL;
	int r = wfs_json_parse(event_json, sizeof(event_json) - 1, &value, error);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "operator",
		.event.schema = "test/Add@1",
		.event.value = value,
	};

	if (!r)
		r = wfs_world_call(world, &request);
	if (r)
		*error = request.error;
	return r;
}

static int check_world(const char *directory, uint64_t *ret_height, struct wfs_error *error)
{
	const struct wfs_world_options options = {.wait_ms = 0};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	int r = wfs_world_open(directory, &options, &world, error);

	if (!r)
		r = print_records(world, ret_height, error);
	if (!r)
		r = append_event(world, error);
	if (!r)
		r = wfs_verify(world, &problems, NULL, NULL, error);
	if (!r)
		r = wfs_replay(world, &problems, NULL, NULL, error);
	if (!r && problems.count > 0)
		printf("problem: %s", wfs_buffer_text(&problems.lines));
	return r;
}

int main(void)
{
	char directory[PATH_SIZE];

	while (fgets(directory, sizeof(directory), stdin)) {
		struct wfs_error error = {.code = WFS_OK};
		uint64_t height = 0;

		directory[strcspn(directory, "\n")] = '\0';
		if (check_world(directory, &height, &error))
			printf("refused: %s: %s\n", wfs_error_info(error.code)->name,
				error.message);
		else
			printf("height %" PRIu64 "\n", height);
		(void)fflush(stdout);
	}
	return 0;
}
