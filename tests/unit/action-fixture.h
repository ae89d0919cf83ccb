/* SPDX-License-Identifier: Apache-2.0 */
/* A world with principals who act in it, for the tests of kernel/domain/action/. */
#pragma once

#include "tests/unit/world-fixture.h"

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"
#include "kernel/domain/action/action.h"

/* Takes an action. @ret_answer: {data, message}, details of a refusal, or NULL; caller owns it */
static inline int act_as(struct world_fixture *fixture, const char *principal, const char *action,
	json_t **ret_answer)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = principal, .action = json};
	int r = wfs_world_call(fixture->world, &request);

	fixture->error = request.error;
	*ret_answer = request.answer;
	return r;
}

/* Does what must be done; its data. */
static inline void assert_data(struct world_fixture *fixture, const char *principal,
	const char *action, const char *expected)
{
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_JSON json_t *answer = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	wfs_json_write(json_object_get(answer, "data"), &text);
	if (!json_equal(json_object_get(answer, "data"), wanted))
		fail_msg("%s: got %s", action, wfs_buffer_text(&text));
}

static inline void assert_done(
	struct world_fixture *fixture, const char *principal, const char *action)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
}

static inline void assert_message(struct world_fixture *fixture, const char *principal,
	const char *action, const char *expected)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	assert_string_equal(json_string_value(json_object_get(answer, "message")), expected);
}

/* It fails, and says so in these words. */
static inline void assert_fails(struct world_fixture *fixture, const char *principal,
	const char *action, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	int r = act_as(fixture, principal, action, &answer);

	print_message("%.90s: %s\n", action, fixture->error.message);
	assert_int_equal(r, -wfs_error_info(code)->number);
	assert_int_equal(fixture->error.code, code);
	assert_non_null(strstr(fixture->error.message, message));
}

static inline int64_t scrip_of(struct world_fixture *fixture, const char *id)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.ledger", id);
	WFS_AUTO_JSON json_t *document = text ? json_of(text) : NULL;

	return json_integer_value(json_object_get(document, "scrip"));
}

static inline int64_t used_disk_of(struct world_fixture *fixture, const char *id)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.resource", id);
	WFS_AUTO_JSON json_t *document = text ? json_of(text) : NULL;

	return json_integer_value(json_object_get(json_object_get(document, "disk"), "used"));
}

#define ACTION(type, members) "{'action_type':'" type "'," members "}"
#define WRITE(members) ACTION("write_artifact", members)
#define INVOKE(members) ACTION("invoke_artifact", members)

/* alice with 100 scrip and 1,000 bytes, bob with 50; both may see everything and do every action. */
static inline int action_fixture_begin(struct world_fixture *fixture)
{
	static const char *const first[] = {
		"{'action_type':'principal','id':'alice','scrip':100,'quotas':{'disk':1000}}",
		"{'action_type':'principal','id':'bob','scrip':50}",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'alice'}",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'alice'}",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'bob'}",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bob'}",
	};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(first); i++) {
		json_t *answer = NULL;

		r = act_as(fixture, "tester", first[i], &answer);
		json_decref(answer);
	}
	return r;
}

static inline int action_fixture_setup(void **state)
{
	return world_fixture_setup(state) || action_fixture_begin(*state);
}

/* Everything that a test did is folded again, and the store is in order. */
static inline int action_fixture_teardown(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_PROBLEMS struct wfs_problems replayed = {0};
	WFS_AUTO_PROBLEMS struct wfs_problems verified = {0};

	assert_int_equal(wfs_replay(fixture->world, &replayed, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&replayed.lines), "");
	assert_int_equal(wfs_verify(fixture->world, &verified, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&verified.lines), "");
	return world_fixture_teardown(state);
}

#define WITH_ACTORS(name)                                                    \
	TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, \
		action_fixture_teardown)

/* The test damages the world, so nothing is folded again. */
#define WITH_ACTORS_DAMAGED(name) \
	TEST_WITH(name, struct world_fixture *fixture, action_fixture_setup, world_fixture_teardown)
#define WITH_SOURCE_REPLAYED(name)                                           \
	TEST_WITH(name, struct world_fixture *fixture, world_fixture_source, \
		action_fixture_teardown)
