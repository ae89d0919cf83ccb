/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the time of cutting a plan into steps grow with the plan's size only?
 *
 * Normalises plans of 1,000, 10,000 and 100,000 steps, in which each step depends on the one
 * before, and in which no step depends on another; and makes the payloads of all their parts.
 * Medians of RUNS.
 * Usage: bench-plan-normalize WORLD-SOURCE (which is not read)
 */
#include <errno.h>

#include "agents/plan/normalize.h"
#include "bench.h"
#include "kernel/base/clock.h"

enum { RUNS = 5 };

static void write_plan(size_t count, bool chain, struct wfs_buffer *text)
{
	wfs_buffer_append_text(text, "{\"goal\":\"count\",\"steps\":[");
	for (size_t i = 0; i < count; i++) {
		wfs_buffer_printf(text,
			"%s{\"id\":\"n%zu\",\"title\":\"Look at number %zu\",\"type\":\"tool\","
			"\"tool\":{\"name\":\"fs_read\",\"args\":{\"path\":\"/reducers/n/%zu\"}}",
			i ? "," : "", i, i, i);
		if (chain && i > 0)
			wfs_buffer_printf(text, ",\"depends_on\":[\"n%zu\"]", i - 1);
		wfs_buffer_append_byte(text, '}');
	}
	wfs_buffer_append_text(text, "]}");
	bench_check(wfs_buffer_check(text), "write a plan", NULL);
}

static double seconds(struct wfs_bytes text)
{
	const struct wfs_plan_origin origin = {.chat_id = "bench+default.0"};
	const int64_t start_ns = wfs_clock_monotonic_ns();
	WFS_AUTO_PLAN_MADE struct wfs_plan_made plan = {0};
	struct wfs_error error = {0};
	json_t *details = NULL;
	size_t count = 1;

	bench_check(wfs_plan_normalize(&origin, text.data, text.size, &plan, &error, &details),
		"normalise", &error);
	for (size_t offset = 0; offset < json_array_size(plan.parts); offset += count) {
		json_t *const payload = wfs_plan_payload(&plan, offset, &count);

		bench_check(payload && count > 0 ? 0 : -ENOMEM, "give a part", NULL);
		json_decref(payload);
	}
	return bench_seconds_since(start_ns);
}

static double median_seconds(size_t count, bool chain)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	double runs[RUNS];

	write_plan(count, chain, &text);
	for (size_t run = 0; run < RUNS; run++)
		runs[run] = seconds(wfs_buffer_bytes(&text));
	return bench_median(runs, RUNS);
}

int main(void)
{
	static const size_t counts[] = {1000, 10000, 100000};

	printf("normalising plans\n  %-10s %12s %12s\n", "steps", "chain", "wide");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(counts); i++)
		printf("  %-10zu %9.1f ms %9.1f ms%s\n", counts[i],
			median_seconds(counts[i], true) * 1e3,
			median_seconds(counts[i], false) * 1e3,
			counts[i] == 10000 ? "  (goal: below 1000)" : "");
	return 0;
}
