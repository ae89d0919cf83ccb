/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are sent without waiting for answers: each sees the effects of those before it. */
#include "tests/fixture/server.h"
#include "tests/fixture/test.h"

#include "fs/verb/order.h"
#include "kernel/base/encode.h"

/* --- which waits for which --- */

static void assert_waits(enum wfs_order_kind under_way, enum wfs_order_kind kind, bool expected)
{
	struct wfs_order order = {.under_way = {0}};

	wfs_order_begin(&order, under_way);
	if (wfs_order_waits(&order, kind) != expected)
		fail_msg("kind %d with kind %d under way: expected %d", kind, under_way, expected);
	wfs_order_end(&order, under_way);
	assert_false(wfs_order_waits(&order, kind));
}

TEST(read_waits_for_all_that_changes_something)
{
	assert_waits(WFS_ORDER_CHANGE, WFS_ORDER_READ, true);
	assert_waits(WFS_ORDER_RIGHTS, WFS_ORDER_READ, true);
	assert_waits(WFS_ORDER_TURN, WFS_ORDER_READ, true);
	assert_waits(WFS_ORDER_WORLD, WFS_ORDER_READ, true);
	assert_waits(WFS_ORDER_READ, WFS_ORDER_READ, false);
}

TEST(change_waits_for_rights_and_reads_only)
{
	assert_waits(WFS_ORDER_CHANGE, WFS_ORDER_CHANGE, false);
	assert_waits(WFS_ORDER_TURN, WFS_ORDER_CHANGE, false);
	assert_waits(WFS_ORDER_RIGHTS, WFS_ORDER_CHANGE, true);
	assert_waits(WFS_ORDER_READ, WFS_ORDER_CHANGE, true);
}

TEST(turn_waits_for_changes_and_not_for_turns)
{
	assert_waits(WFS_ORDER_CHANGE, WFS_ORDER_TURN, true);
	assert_waits(WFS_ORDER_TURN, WFS_ORDER_TURN, false);
	assert_waits(WFS_ORDER_TURN, WFS_ORDER_AT_ONCE, false);
	assert_waits(WFS_ORDER_CHANGE, WFS_ORDER_AT_ONCE, false);
}

TEST(kind_of_a_request_is_that_of_its_verb)
{
	WFS_AUTO_JSON json_t *query = json_of("{'action':{'action_type':'query_kernel'}}");
	WFS_AUTO_JSON json_t *write = json_of("{'action':{'action_type':'write_artifact'}}");

	assert_int_equal(wfs_order_kind("invoke", query), WFS_ORDER_READ);
	assert_int_equal(wfs_order_kind("invoke", write), WFS_ORDER_CHANGE);
	assert_int_equal(wfs_order_kind("grant", NULL), WFS_ORDER_RIGHTS);
	assert_int_equal(wfs_order_kind("cancel", NULL), WFS_ORDER_AT_ONCE);
	assert_int_equal(wfs_order_kind("no such verb", NULL), WFS_ORDER_READ);
}

/* --- one connection --- */

#define ADD \
	"{'v':1,'id':'add','cmd':'send-event','payload':{'schema':'test/Do@1',\
'value':{'key':'k','op':'add','n':1}}}\n"
#define LOOK \
	"{'v':1,'id':'look','cmd':'query-state','payload':{'reducer':'cell','key_b64':'aw=='}}\n"

/* Reads the answer to LOOK. */
static void assert_sum(struct wire *wire, int sum)
{
	WFS_AUTO_JSON json_t *answer = wire_next(wire);
	const char *const state = member(json_object_get(answer, "result"), "state_b64");
	WFS_AUTO_JSON json_t *expected = json_pack("{s:i}", "n", sum);
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_JSON json_t *found = NULL;

	assert_string_equal(member(answer, "id"), "look");
	assert_int_equal(wfs_base64_decode(state, strlen(state), &bytes, NULL), 0);
	assert_int_equal(wfs_json_parse(bytes.data, bytes.size, &found, NULL), 0);
	if (!json_equal(found, expected))
		fail_msg("%s", bytes.data);
}

SERVED(read_in_the_same_write_sees_the_change_before_it)
{
	enum { ROUNDS = 50 };
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	AUTO_WIRE struct wire wire = wire_to(served);

	for (int i = 0; i < ROUNDS; i++)
		wfs_buffer_append_text(&text, ADD ADD LOOK);
	wire_say(&wire, wfs_buffer_text(&text));

	for (int i = 1; i <= ROUNDS; i++) {
		assert_ok(&wire, "add");
		assert_ok(&wire, "add");
		assert_sum(&wire, 2 * i);
	}
}

SERVED(read_does_not_see_the_change_after_it)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, ADD LOOK ADD LOOK ADD);

	assert_ok(&wire, "add");
	assert_sum(&wire, 1);
	assert_ok(&wire, "add");
	assert_sum(&wire, 2);
	assert_ok(&wire, "add");
}

/* A line that another thread parses. */
static void say_long(struct wire *wire, const char *line)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (int i = 0; i < 300000; i++)
		wfs_buffer_append_byte(&text, ' ');
	wfs_buffer_append_text(&text, line);
	wire_say(wire, wfs_buffer_text(&text));
}

SERVED(long_line_is_begun_in_its_turn)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	for (int i = 0; i < 3; i++) {
		wire_say(&wire, ADD);
		say_long(&wire, LOOK);
		say_long(&wire, ADD);
	}

	for (int i = 0; i < 3; i++) {
		assert_ok(&wire, "add");
		assert_sum(&wire, 2 * i + 1);
		assert_ok(&wire, "add");
	}
}

SERVED(principal_may_be_acted_as_and_has_its_grants_at_once)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire,
		"{'v':1,'id':'a','cmd':'principal','payload':{'id':'ada'}}\n"
		"{'v':1,'id':'b','cmd':'grant','payload':{'cap':'sys/act@1','to':'ada'}}\n"
		"{'v':1,'id':'c','as':'ada','cmd':'send-event','payload':{'schema':'test/Do@1',"
		"'value':{'key':'k','op':'add','n':1}}}\n" LOOK);

	assert_ok(&wire, "a");
	assert_ok(&wire, "b");
	assert_ok(&wire, "c");
	assert_sum(&wire, 1);
}

SERVED(grant_that_was_passed_on_can_be_revoked_at_once)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire,
		"{'v':1,'id':'a','cmd':'principal','payload':{'id':'ada'}}\n"
		"{'v':1,'id':'b','cmd':'principal','payload':{'id':'bob'}}\n"
		"{'v':1,'id':'c','cmd':'grant','payload':{'cap':'sys/query@1','to':'ada'}}\n"
		"{'v':1,'id':'d','as':'ada','cmd':'grant','payload':{'cap':'sys/"
		"query@1','to':'bob',"
		"'name':'given'}}\n"
		"{'v':1,'id':'e','as':'ada','cmd':'revoke','payload':{'name':'given'}}\n");

	assert_ok(&wire, "a");
	assert_ok(&wire, "b");
	assert_ok(&wire, "c");
	assert_ok(&wire, "d");
	assert_ok(&wire, "e");
}

/* --- behind a turn of an agent --- */

#define ABANDON(of) "{'v':1,'id':'drop','cmd':'abandon','payload':{'id':'" of "'}}\n"

SERVED(read_waits_for_the_turn_before_it_and_changes_do_not)
{
	AUTO_WIRE struct wire wire = wire_to(served);
	AUTO_WIRE struct wire other = wire_to(served);

	wire_say(&wire, STEP_1 ADD);
	wait_for_event(&served->driver.asked);
	do { /* the change is visible although the turn has not ended */
		wire_say(&other, LOOK);
		WFS_AUTO_JSON json_t *answer = wire_next(&other);
		if (json_is_string(json_object_get(json_object_get(answer, "result"), "state_b64")))
			break;
	} while (true);
	wire_say(&wire, LOOK);
	wire_say(&other, ADD);
	assert_ok(&other, "add");
	fake_end(&served->driver, 0);

	assert_ok(&wire, "1");
	assert_ok(&wire, "add");
	assert_sum(&wire, 2);
}

SERVED(request_that_waits_can_be_abandoned)
{
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, STEP_1 LOOK ABANDON("look") ABANDON("1"));

	assert_error(&wire, "1", "cancelled");
	assert_error(&wire, "look", "cancelled");
	assert_ok(&wire, "drop");
	assert_ok(&wire, "drop");
}

/* Sends a line of @count values that are parsed at once. */
static void say_values(struct wire *wire, int count)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, "{'v':1,'id':'large','cmd':'query-state','payload':{'x':[0");
	for (int i = 1; i < count; i++)
		wfs_buffer_append_text(&text, ",0");
	wfs_buffer_append_text(&text, "]}}\n");
	wire_say(wire, wfs_buffer_text(&text));
}

SERVED(values_that_wait_are_bounded)
{
	enum { VALUES = 120000, FIT = WFS_SERVER_USER_PARSED_MAX / (VALUES * 128) };
	AUTO_WIRE struct wire wire = wire_to(served);

	wire_say(&wire, STEP_1);
	for (int i = 0; i < FIT + 1; i++)
		say_values(&wire, VALUES);
	wait_for_event(&served->driver.asked);
	wire_say(&wire, ABANDON("1"));

	assert_error(&wire, "1", "cancelled");
	for (int i = 0; i < FIT - 1; i++)
		assert_error(&wire, "large", "invalid_argument");
	WFS_AUTO_JSON json_t *nearly = wire_next(&wire);
	assert_non_null(nearly);
	assert_error(&wire, "large", "overloaded");
	assert_ok(&wire, "drop");
}

SERVED(client_that_goes_away_ends_what_waits)
{
	AUTO_WIRE struct wire other = wire_to(served);
	struct wire wire = wire_to(served);

	wire_say(&wire, STEP_1 LOOK ADD);
	wait_for_event(&served->driver.asked);
	wire_done(&wire);

	wait_for_event(&served->driver.abandoned);
	wire_say(&other, HEAD_1);
	assert_ok(&other, "1");
}
