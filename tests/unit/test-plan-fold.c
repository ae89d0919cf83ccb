/* SPDX-License-Identifier: Apache-2.0 */
/* How plans are folded: by recorded durations, never with more than a fold may hold, and with
 * all that an action gives. */
#include "tests/fixture/plan.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "kernel/base/clock.h"

/* If set, each look at the clock takes a millisecond. */
static atomic_bool clock_is_slow;
static atomic_int_fast64_t clock_ahead_ns;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int64_t __wrap_wfs_clock_monotonic_ns(void);
int64_t __real_wfs_clock_monotonic_ns(void);
/* NOLINTEND(readability-identifier-naming) */

int64_t __wrap_wfs_clock_monotonic_ns(void)
{
	if (atomic_load(&clock_is_slow))
		atomic_fetch_add(&clock_ahead_ns, 1000000);
	return __real_wfs_clock_monotonic_ns() + atomic_load(&clock_ahead_ns);
}

#define TOOL(after)              \
	{                        \
		"tool", after, 1 \
	}

/* Otherwise folding again would give another duration; the teardown of every test tries that. */
WITH_ACTORS(code_took_as_long_as_its_record_says)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));
	char key[48];

	assert_done(fixture, "alice", WRITE("'artifact_id':'f','code':'function run() end'"));
	const uint64_t height = height_of(fixture);
	atomic_store(&clock_is_slow, true);
	assert_int_equal(plan_act(&run, 0, INVOKE("'artifact_id':'f'")), 0);
	atomic_store(&clock_is_slow, false);

	snprintf(key, sizeof(key), "%" PRIu64 ".0", height);
	WFS_AUTO_JSON json_t *invocation = cell_of(fixture, "sys.invocation", key);
	assert_true(json_integer_value(json_object_get(invocation, "duration_ms")) > 0);
	assert_steps(&run, "d");
}

/* All of these steps at once, before and after the change, would be more than a fold may hold. */
WITH_ACTORS(large_steps_are_skipped_in_several_pieces)
{
	enum { COUNT = 13, ARGS_SIZE = 3 << 20, PART = 4 };
	struct plan_spec specs[COUNT] = {TOOL("")};
	WFS_AUTO_FREE char *text = calloc(1, ARGS_SIZE + 1);
	struct plan_run run = chat_planned(fixture, CHAT);

	memset(text, 'x', ARGS_SIZE);
	for (size_t i = 1; i < COUNT; i++)
		specs[i] = (struct plan_spec)TOOL("0");
	WFS_AUTO_JSON json_t *steps = steps_of(specs, COUNT);
	for (size_t i = 1; i < COUNT; i++) {
		json_t *const step = json_object_get(json_array_get(steps, i), "step");

		json_object_set_new(
			json_object_get(step, "tool"), "args", json_pack("{s:s}", "text", text));
	}
	for (size_t offset = 0; offset < COUNT; offset += PART)
		give_part(&run, part_of(&run, steps, offset, PART, COUNT));

	plan_answer(&run, 0, "error", BROKE);
	assert_true(plan_count(&run, "skipped") < COUNT - 1);
	for (int i = 0; i < COUNT && plan_count(&run, "skipped") < COUNT - 1; i++)
		plan_answer(&run, 0, "ok", "{}");
	plan_answer(&run, 0, "ok", "{}");

	assert_plan(&run, "{'failed':1,'skipped':12,'status':'failed'}");
	assert_waits_for(&run, "");
}

WITH_ACTORS(a_query_gives_its_step_all_of_its_answer)
{
	struct plan_run run = BEGIN(fixture, CHAT, TOOL(""));

	assert_done(fixture, "alice", WRITE("'artifact_id':'x','content':'c'"));
	assert_int_equal(plan_act(&run, 0,
				 "{'action_type':'query_kernel','query_type':'artifact','params':"
				 "{'artifact_id':'x'}}"),
		0);

	WFS_AUTO_JSON json_t *step = plan_cell(&run, "sys.plan_result", 0);
	const json_t *const given = json_object_get(step, "result");
	assert_string_equal(wfs_json_text(given, "query_type"), "artifact");
	assert_string_equal(wfs_json_text(json_object_get(given, "result"), "id"), "x");
}
