/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a client fails once: it is not made, or its call ends, and nothing stays. */
#include "tests/fixture/malloc.h"
#include "tests/fixture/outside.h"

enum { RUNS_MAX = 2000 };

struct seen {
	enum wfs_error_code code;
	unsigned int done_count;
	bool whole; /* all that was asked for has come */
};

static void on_done(void *context, const struct wfs_outside_result *result)
{
	struct seen *const seen = context;

	seen->done_count++;
	seen->code = result->code;
	seen->whole = result->code == WFS_OK && result->blob_count == 1 &&
		result->text.size == strlen("a picture:\n[image, image/png, 6 bytes]");
}

/* Makes a client, and calls a tool of it. @ret_seen: how the call ended
 * Return: 0, or what one of the functions has returned. */
static int try_all(
	struct outside_fixture *fixture, json_t *table, json_t *arguments, struct seen *ret_seen)
{
	const struct wfs_outside_callbacks callbacks = {.context = NULL};
	const struct wfs_outside_request request = {
		.server = "s",
		.tool = "image",
		.arguments = arguments,
		.intent_id = "7",
		.timeout_ms = 10000,
		.context = ret_seen,
		.done = on_done,
	};
	int r = wfs_outside_new(&fixture->loop, table, &callbacks, &fixture->outside, NULL);

	if (!r)
		r = wfs_outside_call_start(fixture->outside, &request, NULL, NULL);
	while (!r && ret_seen->done_count == 0)
		(void)uv_run(&fixture->loop, UV_RUN_ONCE);
	return r;
}

WITH_BOTH(each_allocation_may_fail)
{
	WFS_AUTO_JSON json_t *table = outside_table(fixture, "one_tool", "");
	WFS_AUTO_JSON json_t *arguments = json_object();
	struct seen seen = {.done_count = 0};
	unsigned int n = 1;
	unsigned int failed_count = 0;

	for (bool reached = true; reached; n++) {
		assert_true(n < RUNS_MAX);
		seen = (struct seen){.done_count = 0};
		allocations_until_failure = n;
		const int r = try_all(fixture, table, arguments, &seen);
		reached = allocations_until_failure == 0;
		allocations_until_failure = 0;

		assert_true(r == 0 || r == -ENOMEM);
		assert_true(r == 0 ? seen.done_count == 1 : seen.done_count == 0);
		assert_true(seen.code != WFS_OK || r || seen.whole);
		failed_count += r || seen.code != WFS_OK;
		wfs_outside_free(WFS_STEAL(fixture->outside));
		(void)uv_run(&fixture->loop, UV_RUN_DEFAULT);
	}

	print_message("%u allocations, %u of which the call needs\n", n - 2, failed_count);
	assert_int_equal(seen.code, WFS_OK);
	assert_true(failed_count > 10);
}
