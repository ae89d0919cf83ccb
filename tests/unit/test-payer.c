/* SPDX-License-Identifier: Apache-2.0 */
/* Which principal pays for records: what its quota `journal` counts and refuses. Each test folds
 * its journal again. */
#include "tests/fixture/turn.h"

#include "kernel/domain/principal/payer.h"
#include "kernel/read/text.h"

#define JOURNAL_QUOTA 1000000

static void have(struct world_fixture *fixture, const char *id, int64_t quota)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_true(
		asprintf(&action, "{'action_type':'principal','id':'%s','quotas':{'journal':%lld}}",
			id, (long long)quota) > 0);
	assert_done(fixture, "tester", action);
}

static int fixture_begin(void **state)
{
	int r = action_fixture_setup(state);

	if (!r)
		have(*state, "carol", JOURNAL_QUOTA);
	return r;
}

#define WITH_CAROL(name) \
	TEST_WITH(name, struct world_fixture *fixture, fixture_begin, action_fixture_teardown)

static int64_t member_of(struct world_fixture *fixture, const char *id, const char *member)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.resource", id);
	WFS_AUTO_JSON json_t *document = text ? json_of(text) : NULL;

	return json_integer_value(json_object_get(json_object_get(document, "journal"), member));
}

static int64_t used_of(struct world_fixture *fixture, const char *id)
{
	return member_of(fixture, id, "used");
}

static int64_t left_of(struct world_fixture *fixture, const char *id)
{
	return member_of(fixture, id, "quota") - used_of(fixture, id);
}

static int add_text(void *context, const json_t *stand_in)
{
	WFS_AUTO_BUFFER struct wfs_buffer of = {0};

	wfs_json_write(json_object_get(stand_in, "of"), &of);
	*(int64_t *)context += json_integer_value(json_object_get(stand_in, "size")) +
		WFS_PAYER_TEXT_BYTES + (int64_t)of.size;
	return 0;
}

/* The size of a principal's records in the journal, for which its quota counts. */
static int64_t recorded_by(struct world_fixture *fixture, const char *id)
{
	const uint64_t height = height_of(fixture);
	int64_t size = 0;

	for (uint64_t seq = 0; seq < height; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);
		WFS_AUTO_BUFFER struct wfs_buffer body = {0};
		WFS_AUTO_BUFFER struct wfs_buffer line = {0};

		if (strcmp(parsed.record.principal, id) != 0)
			continue;
		wfs_body_write(&body, parsed.record.kind, &parsed.body);
		parsed.record.body = wfs_buffer_bytes(&body);
		wfs_record_write(&line, &parsed.record);
		assert_true(line.size <= body.size + WFS_PAYER_RECORD_BYTES);
		size += (int64_t)body.size + WFS_PAYER_RECORD_BYTES;
		assert_int_equal(wfs_text_each(&parsed, add_text, &size), 0);
	}
	return size;
}

static void assert_counted(struct world_fixture *fixture, const char *id)
{
	assert_true(used_of(fixture, id) > 0);
	assert_int_equal(used_of(fixture, id), recorded_by(fixture, id));
}

static int tell_as(struct world_fixture *fixture, const char *principal, const char *value)
{
	WFS_AUTO_JSON json_t *json = json_of(value);
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT,
		.principal = principal,
		.event.schema = "test/Do@1",
		.event.value = json};
	int r = wfs_world_call(fixture->world, &request);

	fixture->error = request.error;
	return r;
}

static int refuse(struct world_fixture *fixture, const char *principal, const char *effect)
{
	struct wfs_request request = {.kind = WFS_REQUEST_DECISION,
		.principal = principal,
		.decision.refusal = {.effect = effect}};

	(void)wfs_error_set(&request.error, WFS_E_NOT_AUTHORIZED, "refused");
	return wfs_world_call(fixture->world, &request);
}

/* Makes an event with this many bytes of text. */
static char *padded(size_t size)
{
	WFS_AUTO_FREE char *pad = malloc(size + 1);
	char *text = NULL;

	memset(pad, 'x', size);
	pad[size] = '\0';
	assert_true(asprintf(&text, "{'key':'k','op':'set','pad':'%s'}", pad) > 0);
	return text;
}

/* --- counting --- */

WITH_CAROL(an_event_counts_with_all_that_it_causes)
{
	assert_int_equal(tell_as(fixture, "carol", "{'key':'k','op':'emit','n':3}"), 0);
	assert_counted(fixture, "carol");
	assert_int_equal(tell_as(fixture, "carol", "{'key':'k','op':'tree','n':2}"), 0);
	assert_counted(fixture, "carol");
}

WITH_CAROL(the_last_record_of_a_request_changes_the_count)
{
	const uint64_t height = height_of(fixture);

	assert_int_equal(tell_as(fixture, "carol", "{'key':'k','op':'emit','n':2}"), 0);
	WFS_AUTO_FREE char *inside = state_at(fixture, height + 2, "sys.resource", "carol");
	WFS_AUTO_FREE char *behind = state_at(fixture, height + 3, "sys.resource", "carol");
	assert_string_equal(inside, "{\"journal\":{\"quota\":1000000,\"used\":0}}");
	assert_string_not_equal(inside, behind);
}

WITH_CAROL(an_action_counts_and_so_does_one_that_is_refused)
{
	assert_done(fixture, "carol", WRITE("'artifact_id':'doc','content':'12345'"));
	assert_counted(fixture, "carol");
	assert_fails(fixture, "carol", ACTION("delete_artifact", "'artifact_id':'none'"),
		WFS_E_NOT_FOUND, "none");
	assert_counted(fixture, "carol");
	assert_int_equal(used_disk_of(fixture, "carol"), 5);
}

WITH_CAROL(what_leaves_no_record_counts_nothing)
{
	assert_done(fixture, "carol", ACTION("noop", "'reasoning':'none'"));
	assert_int_equal(used_of(fixture, "carol"), 0);
}

WITH_CAROL(private_texts_count)
{
	assert_done(fixture, "carol",
		WRITE("'artifact_id':'own','access':'private',"
		      "'code':'function run(a) return 1 end'"));
	const int64_t before = used_of(fixture, "carol");
	WFS_AUTO_FREE char *pad = padded(5000);
	WFS_AUTO_FREE char *action = NULL;

	assert_true(asprintf(&action, INVOKE("'artifact_id':'own','args':[%s]"), pad) > 0);
	assert_done(fixture, "carol", action);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed =
		record_at(fixture, height_of(fixture) - 1);
	assert_true(wfs_text_has_hidden(parsed.json));
	assert_counted(fixture, "carol");
	assert_true(used_of(fixture, "carol") - before > 5000);
}

WITH_CAROL(blobs_count_with_their_records)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_request request = {.kind = WFS_REQUEST_BLOB, .principal = "carol"};

	assert_int_equal(wfs_blob_writer_new(wfs_world_store(fixture->world), &writer), 0);
	assert_int_equal(wfs_blob_writer_add(writer, "blob", 4), 0);
	assert_int_equal(wfs_blob_writer_finish(writer, &request.blob), 0);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	assert_counted(fixture, "carol");
}

WITH_CAROL(without_a_quota_nothing_is_counted)
{
	assert_int_equal(tell_as(fixture, "bob", "{'key':'k','op':'set'}"), 0);
	assert_state(fixture, "sys.resource", "bob", NULL);
	assert_int_equal(tell_as(fixture, "alice", "{'key':'k','op':'set'}"), 0);
	assert_state(fixture, "sys.resource", "alice", "{'disk':{'quota':1000,'used':0}}");
}

/* --- refusing --- */

WITH_CAROL(what_does_not_fit_leaves_nothing)
{
	WFS_AUTO_FREE char *large = padded(JOURNAL_QUOTA);
	WFS_AUTO_FREE char *action = NULL;
	const uint64_t height = height_of(fixture);

	assert_true(asprintf(&action,
			    WRITE("'artifact_id':'doc','metadata':{'m':1},"
				  "'reasoning':%s"),
			    large) > 0);
	assert_int_equal(tell_as(fixture, "carol", large), -EDQUOT);
	assert_int_equal(fixture->error.code, WFS_E_QUOTA_EXCEEDED);
	print_message("%s\n", fixture->error.message);
	assert_non_null(strstr(fixture->error.message,
		"'carol' has used 0 of its quota of 1000000 bytes of journal, and 1000"));
	assert_fails(fixture, "carol", action, WFS_E_QUOTA_EXCEEDED, "bytes of journal");
	assert_int_equal(height_of(fixture), height);
	assert_int_equal(used_of(fixture, "carol"), 0);
	assert_state(fixture, "sys.artifact", "doc", NULL);
	assert_int_equal(tell_as(fixture, "bob", large), 0);
}

/* The events that an event causes are known only after it was folded. */
WITH_CAROL(what_is_caused_does_not_fit_either)
{
	const uint64_t height = height_of(fixture);

	have(fixture, "dave", 3000);
	assert_int_equal(tell_as(fixture, "dave", "{'key':'k','op':'emit','n':9}"), -EDQUOT);
	assert_int_equal(height_of(fixture), height + 1);
	assert_state(fixture, "cell", "k", NULL);
	assert_int_equal(tell_as(fixture, "dave", "{'key':'k','op':'emit','n':1}"), 0);
}

WITH_CAROL(the_last_byte_can_be_used)
{
	assert_int_equal(tell_as(fixture, "carol", "{'key':'k','op':'set'}"), 0);
	const int64_t size = used_of(fixture, "carol");

	have(fixture, "dave", 2 * size);
	have(fixture, "erin", 2 * size - 1);
	assert_int_equal(tell_as(fixture, "dave", "{'key':'k','op':'set'}"), 0);
	assert_int_equal(tell_as(fixture, "dave", "{'key':'k','op':'set'}"), 0);
	assert_int_equal(left_of(fixture, "dave"), 0);
	assert_int_equal(tell_as(fixture, "erin", "{'key':'k','op':'set'}"), 0);
	assert_int_equal(tell_as(fixture, "erin", "{'key':'k','op':'set'}"), -EDQUOT);
}

WITH_CAROL(refusals_count_until_there_is_no_room)
{
	const char *const effects[] = {"event.emit", "world.gc", "blob.put", "world.grant",
		"world.apply", "world.revoke", "world.code", "world.snapshot"};
	size_t count = 0;

	have(fixture, "dave", 2000);
	const uint64_t height = height_of(fixture);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(effects); i++) {
		assert_int_equal(refuse(fixture, "dave", effects[i]), -EACCES);
		count += height_of(fixture) - height > count;
	}
	assert_counted(fixture, "dave");
	assert_true(count > 0 && count < 4);
	assert_true(left_of(fixture, "dave") >= 0);
	/* Nor does a count remain of the refusals that left no record. */
	world_fixture_close(fixture);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), height + count);
}

WITH_CAROL(a_count_of_refusals_counts)
{
	have(fixture, "dave", 2000);
	for (int i = 0; i < 100; i++)
		assert_int_equal(refuse(fixture, "dave", "event.emit"), -EACCES);
	const int64_t one = used_of(fixture, "dave");

	world_fixture_close(fixture);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_true(used_of(fixture, "dave") > one);
	assert_counted(fixture, "dave");
}

/* --- what is stored all the same --- */

WITH_CAROL(what_ends_something_is_stored_without_room)
{
	have(fixture, "dave", 1400);
	assert_done(fixture, "dave",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'bob'}");
	while (tell_as(fixture, "dave", "{'key':'k','op':'set'}") == 0)
		;
	assert_fails(fixture, "dave", "{'action_type':'revoke','name':'none'}",
		WFS_E_QUOTA_EXCEEDED, "bytes of journal");
	assert_done(fixture, "dave", "{'action_type':'revoke','name':'bob.query.2'}");
	assert_true(left_of(fixture, "dave") < 0);
	assert_counted(fixture, "dave");
	assert_fails(fixture, "dave", "{'action_type':'revoke','name':'bob.query.2'}",
		WFS_E_QUOTA_EXCEEDED, "bytes of journal");
}

WITH_CAROL(a_receipt_is_stored_without_room)
{
	assert_done(
		fixture, "tester", "{'action_type':'principal','id':'zed','quotas':{'journal':1}}");
	assert_done(fixture, "zed", "{'action_type':'revoke','name':'alice.query.1'}");
	struct turn_run run = turn_begin(fixture, TURN_STEP("9", "{}", TURN_ASK));
	WFS_AUTO_FREE char *id = turn_waits_for(&run, 0);

	/* The answer belongs to zed, as if zed were the agent. */
	WFS_AUTO_JSON json_t *payload = json_of(SAYS("done"));
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:O, s:s}", "adapter_id", "test",
		"intent_id", id, "payload", payload, "status", "ok");
	struct wfs_request request = {
		.kind = WFS_REQUEST_RECEIPT, .principal = "zed", .receipt.document = receipt};
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
	assert_counted(fixture, "zed");
	assert_turn(&run, "sys.turn", "", "{'status':'ended'}");
}

/* --- who pays --- */

#define AGENT(id) WRITE("'artifact_id':'" id "','type':'agent','content':{'model':'m'}")

WITH_CAROL(an_agent_spends_what_its_maker_has)
{
	assert_done(fixture, "carol", AGENT("tool"));
	const int64_t before = used_of(fixture, "carol");

	assert_int_equal(tell_as(fixture, "tool", "{'key':'k','op':'set'}"), 0);
	assert_state(fixture, "sys.resource", "tool", NULL);
	assert_int_equal(used_of(fixture, "carol") - before, recorded_by(fixture, "tool"));
}

/* An agent that the agent makes, or that is given away, has none either. */
WITH_CAROL(agents_of_agents_have_no_journal_of_their_own)
{
	assert_done(fixture, "carol", AGENT("tool"));
	assert_done(
		fixture, "carol", ACTION("transfer_ownership", "'artifact_id':'tool','to':'bob'"));
	assert_done(fixture, "tool", AGENT("tool2"));
	const int64_t before = used_of(fixture, "carol");

	assert_int_equal(tell_as(fixture, "tool", "{'key':'k','op':'set'}"), 0);
	assert_int_equal(tell_as(fixture, "tool2", "{'key':'k','op':'set'}"), 0);
	assert_done(fixture, "tool2", AGENT("tool3"));
	assert_int_equal(tell_as(fixture, "tool3", "{'key':'k','op':'set'}"), 0);
	assert_true(used_of(fixture, "carol") - before > (int64_t)4 * WFS_PAYER_RECORD_BYTES);
	assert_int_equal(used_of(fixture, "carol"),
		recorded_by(fixture, "carol") + recorded_by(fixture, "tool") +
			recorded_by(fixture, "tool2") + recorded_by(fixture, "tool3"));
}

WITH_CAROL(code_of_others_makes_no_agent_at_their_cost)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'maker','code':'function run() return "
		      "kernel_actions.write_artifact({artifact_id=\\'made\\', type=\\'agent\\', "
		      "content={model=\\'m\\'}}) end'"));
	assert_done(fixture, "carol", INVOKE("'artifact_id':'maker'"));
	WFS_AUTO_FREE char *made = state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", "made");
	assert_non_null(made);
	assert_non_null(strstr(made, "\"requested_by\":\"carol\""));
	const int64_t before = used_of(fixture, "carol");

	assert_int_equal(tell_as(fixture, "made", "{'key':'k','op':'set'}"), 0);
	assert_int_equal(used_of(fixture, "carol") - before, recorded_by(fixture, "made"));
}

/* --- giving it away --- */

WITH_CAROL(a_quota_of_the_journal_can_be_given_away)
{
	have(fixture, "dave", 0);
	assert_fails(fixture, "dave",
		ACTION("transfer", "'to':'carol','amount':1,'resource':'journal'"),
		WFS_E_QUOTA_EXCEEDED, "bytes of journal");
	assert_done(fixture, "carol",
		ACTION("transfer", "'to':'dave','amount':400000,'resource':'journal'"));
	assert_int_equal(member_of(fixture, "carol", "quota"), 600000);
	assert_int_equal(member_of(fixture, "dave", "quota"), 400000);
	assert_counted(fixture, "carol");
	/* The journal has no room for the record of this event. */
	WFS_AUTO_FREE char *all = NULL;
	assert_true(
		asprintf(&all, ACTION("transfer", "'to':'dave','amount':%lld,'resource':'journal'"),
			(long long)left_of(fixture, "carol")) > 0);
	assert_fails(fixture, "carol", all, WFS_E_QUOTA_EXCEEDED, "bytes of journal");
	assert_int_equal(member_of(fixture, "dave", "quota"), 400000);
	assert_fails(fixture, "carol",
		ACTION("transfer", "'to':'bob','amount':1,'resource':'journal'"),
		WFS_E_INVALID_ARGUMENT, "'bob' has no quota of journal");
}

WITH_CAROL(code_can_ask_for_it)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'ask','code':'function run() return {"
		      "kernel_state.get_quota(\\'carol\\', \\'journal\\'), "
		      "kernel_state.get_resource(\\'carol\\', \\'journal\\'), "
		      "kernel_state.get_quota(\\'bob\\', \\'journal\\') == nil} end'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'ask'"),
		"{'price_paid':0,'result':[1000000,0,true]}");
}
