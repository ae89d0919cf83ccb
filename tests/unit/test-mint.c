/* SPDX-License-Identifier: Apache-2.0 */
/* The mint: bids, auctions, scores. Each is tested as sent, and when it is folded again. */
#include <inttypes.h>

#include "tests/fixture/action.h"
#include "tests/fixture/asking.h"
#include "tests/fixture/cells.h"
#include "tests/fixture/tamper.h"

#include "kernel/manifest/grant.h"

#define SUBMIT(id, bid) ACTION("submit_to_mint", "'artifact_id':'" id "','bid':" bid)
#define CANCEL(id) ACTION("cancel_mint", "'submission_id':'" id "'")
#define RESOLVE "{'action_type':'resolve_mint'}"

/* The code returns its argument; a test of it has the arguments and the result that it expects. */
#define ECHO "'code':'function run(x) return x end'"
#define PASSES "{'args':[1],'result':1}"
#define FAILS "{'args':[1],'result':2}"
#define TESTS(tests) "'interface':{'tests':[" tests "]}"

#define NOBODY_WON                                                                           \
	"{'artifact_id':null,'distributed':{},'price_paid':0,'score':0,'score_reason':null," \
	"'scrip_minted':0,'winner_id':null,'winning_bid':0}"

static struct asking_judge judge; /* for the scores that auctions ask for */

static void be_judged(struct world_fixture *fixture)
{
	judge = asking_judge();
	wfs_world_judge(fixture->world, &judge.judge);
}

static int mint_setup(void **state)
{
	int r = action_fixture_setup(state);

	if (!r)
		be_judged(*state);
	return r;
}

#define MINT_TEST(name) \
	TEST_WITH(name, struct world_fixture *fixture, mint_setup, action_fixture_teardown)

static int64_t sum_of(struct world_fixture *fixture)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_version version;
	struct wfs_cell cell;
	int64_t sum = 0;

	assert_int_equal(wfs_view_builtin(&view, WFS_BUILTIN_LEDGER, &reducer), 0);
	assert_int_equal(wfs_cell_walk_init(&walk, view.txn, reducer.reducer_id, 0), 0);
	while (wfs_cell_walk_next(&walk, &cell) > 0) {
		WFS_AUTO_JSON json_t *state = NULL;

		assert_int_equal(wfs_version_get(view.txn, cell.head_vid, &version), 0);
		assert_int_equal(
			wfs_json_parse(version.bytes.data, version.bytes.size, &state, NULL), 0);
		sum += json_integer_value(json_object_get(state, "scrip"));
	}
	return sum;
}

/* The submission's id is that of the record that is written next. */
static char *submit(
	struct world_fixture *fixture, const char *principal, const char *artifact, int bid)
{
	WFS_AUTO_FREE char *action = NULL;
	WFS_AUTO_FREE char *expected = NULL;
	char *id = NULL;

	assert_true(asprintf(&id, "mint_%llu", (unsigned long long)height_of(fixture)) > 0);
	assert_true(
		asprintf(&action, "{'action_type':'submit_to_mint','artifact_id':'%s','bid':%d}",
			artifact, bid) > 0);
	assert_true(asprintf(&expected, "{'submission_id':'%s'}", id) > 0);
	assert_data(fixture, principal, action, expected);
	return id;
}

/* A bid under a name that does not matter. */
static void bid(
	struct world_fixture *fixture, const char *principal, const char *artifact, int scrip)
{
	free(submit(fixture, principal, artifact, scrip));
}

static void assert_cancelled(struct world_fixture *fixture, const char *principal, const char *id)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_true(asprintf(&action, CANCEL("%s"), id) > 0);
	assert_done(fixture, principal, action);
}

static void assert_not_cancelled(struct world_fixture *fixture, const char *principal,
	const char *id, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_FREE char *action = NULL;

	assert_true(asprintf(&action, CANCEL("%s"), id) > 0);
	assert_fails(fixture, principal, action, code, message);
}

static void assert_status(struct world_fixture *fixture, const char *id, const char *expected)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.mint", id);
	WFS_AUTO_JSON json_t *state = text ? json_of(text) : NULL;

	assert_non_null(state);
	assert_string_equal(json_string_value(json_object_get(state, "status")), expected);
	assert_string_equal(json_string_value(json_object_get(state, "submission_id")), id);
	assert_true(!json_object_get(state, "resolved_at") == (strcmp(expected, "pending") == 0));
}

/* --- bids --- */

MINT_TEST(what_is_bid_is_held_and_given_back)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'art'," ECHO));
	const int64_t sum = sum_of(fixture);
	WFS_AUTO_FREE char *id = submit(fixture, "alice", "art", 30);

	assert_int_equal(scrip_of(fixture, "alice"), 70);
	assert_int_equal(scrip_of(fixture, "mint"), 30);
	assert_int_equal(sum_of(fixture), sum);
	assert_status(fixture, id, "pending");

	assert_cancelled(fixture, "alice", id);
	assert_int_equal(scrip_of(fixture, "alice"), 100);
	assert_int_equal(scrip_of(fixture, "mint"), 0);
	assert_status(fixture, id, "cancelled");
	assert_not_cancelled(fixture, "alice", id, WFS_E_NO_CHANGE, "its status is 'cancelled'");
	assert_data(fixture, "tester", RESOLVE, NOBODY_WON);
}

MINT_TEST(only_owners_bid_for_what_is_executable)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'art'," ECHO));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"));

	assert_fails(fixture, "bob", SUBMIT("art", "5"), WFS_E_NOT_AUTHORIZED, "is not its owner");
	assert_fails(fixture, "alice", SUBMIT("doc", "5"), WFS_E_INVALID_TYPE, "not executable");
	assert_fails(fixture, "alice", SUBMIT("none", "5"), WFS_E_NOT_FOUND, "'none' not found");
	assert_fails(fixture, "alice", SUBMIT("art", "0"), WFS_E_INVALID_ARGUMENT, "1 or more");
	assert_fails(fixture, "alice", SUBMIT("art", "101"), WFS_E_INSUFFICIENT_FUNDS,
		"has 100 scrip, 101 needed");
	assert_fails(fixture, "alice", "{'action_type':'submit_to_mint','artifact_id':'art'}",
		WFS_E_MISSING_ARGUMENT, "bid");
	assert_int_equal(scrip_of(fixture, "alice"), 100);
}

MINT_TEST(nobody_else_cancels_a_bid)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'art'," ECHO));
	WFS_AUTO_FREE char *id = submit(fixture, "alice", "art", 30);

	assert_not_cancelled(fixture, "bob", id, WFS_E_NOT_AUTHORIZED, "somebody else");
	assert_not_cancelled(fixture, "bob", "mint_0", WFS_E_NOT_FOUND, "'mint_0' not found");
	assert_not_cancelled(fixture, "bob", "../x", WFS_E_NOT_FOUND, "not found");
	assert_status(fixture, id, "pending");
}

/* --- auctions --- */

/* Submits artifacts of alice and bob with a score of 85: 6 of 7 tests pass. */
static void two_artifacts(struct world_fixture *fixture)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'art_1'," ECHO));
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'art_2'," ECHO "," TESTS(
			PASSES "," PASSES "," PASSES "," FAILS "," PASSES "," PASSES "," PASSES)));
}

MINT_TEST(the_highest_bid_wins_and_pays_the_second)
{
	two_artifacts(fixture);
	const int64_t sum = sum_of(fixture);
	WFS_AUTO_FREE char *first = submit(fixture, "alice", "art_1", 30);
	WFS_AUTO_FREE char *second = submit(fixture, "bob", "art_2", 40);

	assert_data(fixture, "tester", RESOLVE,
		"{'artifact_id':'art_2','distributed':{'alice':15,'operator':15},'price_paid':30,"
		"'score':85,'score_reason':'6 of 7 tests passed; number 4 failed: another result',"
		"'scrip_minted':8,'winner_id':'bob','winning_bid':40}");
	assert_status(fixture, first, "lost");
	assert_status(fixture, second, "won");
	assert_int_equal(scrip_of(fixture, "alice"), 115);
	assert_int_equal(scrip_of(fixture, "bob"), 28);
	assert_int_equal(scrip_of(fixture, "operator"), 15);
	assert_int_equal(scrip_of(fixture, "mint"), 0);
	assert_int_equal(sum_of(fixture), sum + 8);
}

MINT_TEST(the_bid_tells_what_was_minted)
{
	two_artifacts(fixture);
	WFS_AUTO_FREE char *id = submit(fixture, "bob", "art_2", 40);
	assert_message(fixture, "tester", RESOLVE,
		"'bob' won with art_2 and paid 1; score 85, 8 scrip minted");

	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.mint", id);
	assert_non_null(strstr(text, "\"price_paid\":1,"));
	assert_non_null(strstr(text, "\"score\":85,"));
	assert_non_null(strstr(text, "\"scrip_minted\":8,"));
}

/* Checks the body of a record; @back counts from the newest. */
static void assert_body(struct world_fixture *fixture, int back, const char *expected)
{
	struct wfs_record_parsed record = record_at(fixture, height_of(fixture) - (uint64_t)back);
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	json_t *const body = json_object_get(record.json, "body");

	(void)json_object_del(body, "intent_id");
	if (!json_equal(body, wanted))
		fail_msg("got %s", json_dumps(body, 0));
	wfs_record_parsed_done(&record);
}

/* The last three records are the auction, its question for a score, and the answer, which makes
 * scrip. */
MINT_TEST(the_score_is_an_effect)
{
	two_artifacts(fixture);
	WFS_AUTO_FREE char *id = submit(fixture, "bob", "art_2", 40);
	WFS_AUTO_FREE char *intent = NULL;
	WFS_AUTO_FREE char *asked = NULL;
	assert_true(asprintf(&intent,
			    "{'cap':'sys/admin@1','effect':'mint.score','origin':{'key':'%s',"
			    "'reducer':'sys.mint'},'params':{'artifact_id':'art_2',"
			    "'submission_id':'%s'}}",
			    id, id) > 0);
	assert_true(asprintf(&asked, "tester sys.mint %s mint.score", id) > 0);

	assert_done(fixture, "tester", RESOLVE);
	assert_string_equal(judge.last, asked);
	assert_int_equal(judge.released, 1);
	assert_body(fixture, 3,
		"{'action':{'action_type':'resolve_mint'},'result':{'ok':true,'price_paid':1}}");
	assert_body(fixture, 2, intent);
	assert_body(fixture, 1,
		"{'adapter_id':'kernel.mint','payload':{'reason':'6 of 7 tests passed; number 4 "
		"failed: another result','score':85},'status':'ok'}");
	WFS_AUTO_FREE char *before = state_at(fixture, height_of(fixture) - 1, "sys.ledger", "bob");
	assert_string_equal(before, "{\"scrip\":49}");
	assert_int_equal(scrip_of(fixture, "bob"), 57);
}

/* The receipt has the score: replay does not run the tests again. */
TEST_WITH(another_score_in_the_journal_is_another_world, struct world_fixture *fixture, mint_setup,
	world_fixture_teardown)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	char expected[32];

	two_artifacts(fixture);
	bid(fixture, "bob", "art_2", 40);
	assert_done(fixture, "tester", RESOLVE);
	const uint64_t seq = height_of(fixture) - 1;
	/* Opening a world checks its newest two records. */
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'bob','amount':1"));
	tamper_number(fixture, "journal", seq, "\"score\":85", "\"score\":95");
	snprintf(expected, sizeof(expected), "%" PRIu64 ": differs", seq);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), expected));
}

/* The auction stays recorded, and makes no scrip. */
MINT_TEST(a_score_that_is_denied_makes_nothing)
{
	two_artifacts(fixture);
	const int64_t sum = sum_of(fixture);
	WFS_AUTO_FREE char *id = submit(fixture, "bob", "art_2", 40);
	judge.r = wfs_error_set(&judge.judgement.error, WFS_E_POLICY_DENIED, "denied");
	judge.judgement.decision.policy = "strict";

	assert_data(fixture, "tester", RESOLVE,
		"{'artifact_id':'art_2','distributed':{'alice':1},'price_paid':1,'score':0,"
		"'score_reason':'not scored: policy_denied','scrip_minted':0,'winner_id':'bob',"
		"'winning_bid':40}");
	assert_status(fixture, id, "won");
	assert_int_equal(sum_of(fixture), sum);
	assert_body(fixture, 1,
		"{'code':'policy_denied','decision':'deny','effect':'mint.score',"
		"'policy':'strict'}");
}

MINT_TEST(the_earliest_of_equal_bids_wins)
{
	two_artifacts(fixture);
	WFS_AUTO_FREE char *lower = submit(fixture, "bob", "art_2", 20);
	WFS_AUTO_FREE char *first = submit(fixture, "alice", "art_1", 30);
	WFS_AUTO_FREE char *second = submit(fixture, "bob", "art_2", 30);

	assert_message(fixture, "tester", RESOLVE,
		"'alice' won with art_1 and paid 30; score 0, 0 scrip minted");
	assert_status(fixture, lower, "lost");
	assert_status(fixture, first, "won");
	assert_status(fixture, second, "lost");
	assert_int_equal(scrip_of(fixture, "bob"), 65);
}

MINT_TEST(a_single_bidder_pays_one)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'art'," ECHO
		      "," TESTS(PASSES "," PASSES "," PASSES "," PASSES "," FAILS)));
	bid(fixture, "alice", "art", 20);

	assert_data(fixture, "tester", RESOLVE,
		"{'artifact_id':'art','distributed':{'bob':1},'price_paid':1,'score':80,"
		"'score_reason':'4 of 5 tests passed; number 5 failed: another result',"
		"'scrip_minted':8,'winner_id':'alice','winning_bid':20}");
	assert_int_equal(scrip_of(fixture, "alice"), 107);
}

MINT_TEST(what_is_left_over_is_for_the_first_in_order_of_ids)
{
	two_artifacts(fixture);
	assert_done(fixture, "tester", "{'action_type':'principal','id':'dave'}");
	assert_done(fixture, "tester", "{'action_type':'principal','id':'aaron'}");
	bid(fixture, "alice", "art_1", 11);
	bid(fixture, "bob", "art_2", 40);

	assert_done(fixture, "tester", RESOLVE);
	assert_int_equal(scrip_of(fixture, "aaron"), 5);
	assert_int_equal(scrip_of(fixture, "alice"), 102);
	assert_int_equal(scrip_of(fixture, "dave"), 2);
	assert_int_equal(scrip_of(fixture, "operator"), 2);
}

MINT_TEST(without_bids_nothing_is_done)
{
	const uint64_t height = height_of(fixture);

	assert_data(fixture, "tester", RESOLVE, NOBODY_WON);
	assert_message(fixture, "tester", RESOLVE, "No submissions");
	assert_int_equal(height_of(fixture), height);
}

MINT_TEST(what_is_not_as_it_was_submitted_is_void)
{
	two_artifacts(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'gone'," ECHO));
	assert_done(fixture, "alice", WRITE("'artifact_id':'given'," ECHO));
	assert_done(fixture, "alice", WRITE("'artifact_id':'idle'," ECHO));
	WFS_AUTO_FREE char *gone = submit(fixture, "alice", "gone", 25);
	WFS_AUTO_FREE char *given = submit(fixture, "alice", "given", 24);
	WFS_AUTO_FREE char *idle = submit(fixture, "alice", "idle", 23);
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'gone'"));
	assert_done(
		fixture, "alice", ACTION("transfer_ownership", "'artifact_id':'given','to':'bob'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'idle','executable':false"));

	assert_message(
		fixture, "tester", RESOLVE, "No submissions that stand: all were given back");
	assert_status(fixture, gone, "void");
	assert_status(fixture, given, "void");
	assert_status(fixture, idle, "void");
	assert_int_equal(scrip_of(fixture, "alice"), 100);
	assert_int_equal(scrip_of(fixture, "mint"), 0);
}

MINT_TEST(what_is_void_does_not_count)
{
	two_artifacts(fixture);
	assert_done(fixture, "alice", WRITE("'artifact_id':'gone'," ECHO));
	bid(fixture, "alice", "gone", 50);
	bid(fixture, "bob", "art_2", 40);
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'gone'"));

	assert_message(fixture, "tester", RESOLVE,
		"'bob' won with art_2 and paid 1; score 85, 8 scrip minted");
}

MINT_TEST(a_later_bid_is_for_the_next_auction)
{
	two_artifacts(fixture);
	WFS_AUTO_FREE char *first = submit(fixture, "alice", "art_1", 30);
	assert_done(fixture, "tester", RESOLVE);
	WFS_AUTO_FREE char *second = submit(fixture, "bob", "art_2", 10);

	assert_message(fixture, "tester", RESOLVE,
		"'bob' won with art_2 and paid 1; score 85, 8 scrip minted");
	assert_status(fixture, first, "won");
	assert_status(fixture, second, "won");
}

/* --- code that bids --- */

MINT_TEST(code_bids_from_its_own_wallet)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'shop','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'mine\\', "
		      "code=\\'function run() end\\'} "
		      "local a = kernel_actions.submit_for_mint(\\'mine\\', 3) "
		      "local b = kernel_actions.submit_to_mint{artifact_id=\\'mine\\', bid=4} "
		      "local c = kernel_actions.submit_to_mint{artifact_id=\\'mine\\', bid=5} "
		      "local d = kernel_actions.cancel_mint(b.data.submission_id) "
		      "local e = kernel_actions.submit_for_mint(\\'shop\\', 1) "
		      "return {d.ok, e.error.code} end'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'shop','amount':20"));
	const unsigned long long seq = height_of(fixture);
	WFS_AUTO_FREE char *first = NULL;
	WFS_AUTO_FREE char *second = NULL;
	WFS_AUTO_FREE char *third = NULL;
	assert_true(asprintf(&first, "mint_%llu", seq) > 0);
	assert_true(asprintf(&second, "mint_%llu.1", seq) > 0);
	assert_true(asprintf(&third, "mint_%llu.2", seq) > 0);

	assert_data(fixture, "bob", INVOKE("'artifact_id':'shop'"),
		"{'price_paid':0,'result':[true,'not_authorized']}");
	assert_status(fixture, first, "pending");
	assert_status(fixture, second, "cancelled");
	assert_status(fixture, third, "pending");
	assert_int_equal(scrip_of(fixture, "shop"), 12);
	assert_data(fixture, "tester", RESOLVE,
		"{'artifact_id':'mine','distributed':{'alice':1,'bob':1,'operator':1},"
		"'price_paid':3,'score':0,'score_reason':'its interface declares no tests',"
		"'scrip_minted':0,'winner_id':'shop','winning_bid':5}");
	assert_int_equal(scrip_of(fixture, "shop"), 17);
}

MINT_TEST(bids_that_are_taken_back_leave_their_names)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'inner','code':'function run(bad) "
		      "kernel_actions.write_artifact{artifact_id=\\'mine\\', "
		      "code=\\'function run() end\\'} "
		      "local id = kernel_actions.submit_for_mint(\\'mine\\', 1).data.submission_id "
		      "if bad then local t = {} for i = 1, 1e9 do t[i] = {i} end end "
		      "return id end'"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'inner','amount':9"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'outer','code':'function run() "
		      "local a = invoke(\\'inner\\', true) local b = invoke(\\'inner\\') "
		      "return {a.ok, b.result == \\'mint_\\' .. ctx.seq} end'"));

	assert_data(fixture, "bob", INVOKE("'artifact_id':'outer'"),
		"{'price_paid':0,'result':[false,true]}");
}

MINT_TEST(code_ends_no_auction)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'x','code':'function run() "
		      "local r = kernel_actions.resolve_mint() "
		      "return {r.ok, r.error.code} end'"));
	assert_data(fixture, "alice", INVOKE("'artifact_id':'x'"),
		"{'price_paid':0,'result':[false,'not_authorized']}");
}

/* --- scores --- */

static void assert_score(struct world_fixture *fixture, const char *expected)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	bid(fixture, "alice", "art", 1);
	char found[256];

	assert_int_equal(act_as(fixture, "tester", RESOLVE, &answer), 0);
	const json_t *const data = json_object_get(answer, "data");
	snprintf(found, sizeof(found), "%d: %s",
		(int)json_integer_value(json_object_get(data, "score")),
		json_string_value(json_object_get(data, "score_reason")));
	assert_string_equal(found, expected);
}

MINT_TEST(tests_are_run_by_method_and_arguments)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'art','code':'function run(a, b) "
		      "if ctx.method == \\'add\\' then return a + b end "
		      "if ctx.method == \\'who\\' then return {ctx.caller, ctx.origin} end end',"
		      "'interface':{'methods':[{'name':'run'},{'name':'who'},"
		      "{'name':'add','input':{'type':'array','items':{'type':'integer'}}}],"
		      "'tests':[{'method':'add','args':[2,3],'result':5.0},{},"
		      "{'method':'who','result':['mint','mint']},"
		      "{'method':'add','args':['x','y']},{'method':'sub'},5]}"));
	assert_score(fixture, "50: 3 of 6 tests passed; number 4 failed: invalid_argument");
}

MINT_TEST(tests_cost_nothing_and_leave_nothing)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'dear','price':50,'code':'function run() return 7 end'"));
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'art','price':90,'access':'private','code':'function run() "
		      "kernel_actions.write_artifact{artifact_id=\\'left\\', content=\\'x\\'} "
		      "pay(\\'bob\\', 5) local r = invoke(\\'dear\\') "
		      "return {r.ok, r.error.code, get_balance()} end',"
		      "'interface':{'tests':[{'result':[false,'insufficient_funds',4]},"
		      "{'result':[false,'insufficient_funds',4]}]}"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'art','amount':9"));
	const int64_t sum = sum_of(fixture);
	const unsigned long long seq = height_of(fixture) + 1;
	char key[32];

	assert_score(fixture, "100: 2 of 2 tests passed");
	assert_state(fixture, "sys.artifact", "left", NULL);
	assert_state(fixture, "sys.ledger", "art", "{'scrip':9}");
	snprintf(key, sizeof(key), "%llu.0", seq);
	assert_state(fixture, "sys.invocation", key, NULL);
	assert_int_equal(scrip_of(fixture, "bob"), 50 + 1); /* all of the price */
	assert_int_equal(sum_of(fixture), sum + 10);
}

/* The place where the bound ends a test differs between machines; the record has it. */
MINT_TEST(a_test_that_a_bound_ends_has_failed)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'art','code':'function run(n) local t = {} "
		      "for i = 1, n do t[i] = {i} end return n end',"
		      "'interface':{'tests':[{'args':[1000000000],'result':1},"
		      "{'args':[3],'result':3}]}"));
	assert_score(fixture, "50: 1 of 2 tests passed; number 1 failed: runtime_error");
}

MINT_TEST(tests_that_never_end_are_ended)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'art','code':'function run() while true do end end',"
		      "'interface':{'tests':[{},{},{}]}"));
	assert_score(fixture, "0: 0 of 3 tests passed; number 1 failed: runtime_error");
}

/* Each of 20 writes 4.5 MB, which together is more than a fold holds. */
MINT_TEST(tests_cannot_stop_an_auction)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'carol','scrip':5}");
	assert_done(fixture, "carol",
		WRITE("'artifact_id':'art','code':'function run() "
		      "local s = string.rep(\\'x\\', 500000) for i = 1, 9 do "
		      "kernel_actions.write_artifact{artifact_id=\\'l\\' .. i, content=s} end end',"
		      "'interface':{'tests':[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},"
		      "{},{}]}"));
	assert_done(fixture, "carol", SUBMIT("art", "2"));

	assert_message(fixture, "tester", RESOLVE,
		"'carol' won with art and paid 1; score 100, 10 scrip minted");
}

/* --- worlds that were made from anything --- */

/* The operator is in every world, and gets scrip only from another principal. */
IN_WORLD(a_price_that_nobody_else_can_have_goes_back)
{
	struct cells cells = cells_begin(fixture);

	cells_set(&cells, "sys.ledger", "operator", "{'scrip':100}");
	cells_commit(&cells);
	be_judged(fixture);
	assert_done(fixture, "operator", WRITE("'artifact_id':'art'," ECHO));
	assert_done(fixture, "operator", SUBMIT("art", "5"));

	assert_data(fixture, "operator", RESOLVE,
		"{'artifact_id':'art','distributed':{'operator':1},'price_paid':1,'score':0,"
		"'score_reason':'its interface declares no tests','scrip_minted':0,"
		"'winner_id':'operator','winning_bid':5}");
	assert_int_equal(scrip_of(fixture, "operator"), 100);
}

IN_WORLD(a_bid_without_its_members_ends_no_auction)
{
	struct cells cells = cells_begin(fixture);

	cells_set(&cells, "sys.mint", "mint_1", "{'artifact_id':'art','status':'pending'}");
	cells_commit(&cells);

	assert_fails(fixture, "operator", RESOLVE, WFS_E_INTERNAL_ERROR, "principal_id");
	assert_fails(fixture, "operator", CANCEL("mint_1"), WFS_E_INTERNAL_ERROR, "principal_id");
}

IN_WORLD(bids_of_more_than_the_mint_has_are_not_paid)
{
	struct cells cells = cells_begin(fixture);

	cells_set(&cells, "sys.mint", "mint_1",
		"{'artifact_id':'art','bid':9,'principal_id':'operator','status':'pending',"
		"'submission_id':'mint_1','submitted_at':1}");
	cells_commit(&cells);

	assert_fails(fixture, "operator", RESOLVE, WFS_E_INSUFFICIENT_FUNDS, "'mint' has 0 scrip");
	assert_int_equal(scrip_of(fixture, "operator"), 0);
}

IN_WORLD(what_cannot_be_read_is_not_scored)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_version version;

	assert_int_equal(action_fixture_begin(fixture), 0);
	assert_done(fixture, "alice", WRITE("'artifact_id':'art'," ECHO "," TESTS(PASSES)));
	assert_done(fixture, "alice", SUBMIT("art", "5"));
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

		assert_int_equal(
			wfs_view_newest(&view, WFS_BUILTIN_CODE, wfs_bytes_text("art"), &version),
			0);
	}
	tamper_number(fixture, "version", version.vid, "return x", "return y");
	assert_int_equal(world_fixture_open(fixture), 0);
	be_judged(fixture);

	assert_int_equal(act_as(fixture, "tester", RESOLVE, &answer), 0);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(answer, "data"), "score_reason")),
		"not scored: hash_mismatch");
	assert_int_equal(scrip_of(fixture, "alice"), 99);
}

/* --- bounds --- */

#if !defined(__SANITIZE_ADDRESS__) /* under these, the test takes a minute */
/* Makes as many principals as a world may have; the last one is rich. */
static void fill_with_principals(struct world_fixture *fixture)
{
	json_t *const principals = json_object_get(fixture->loaded.manifest, "principals");

	while (json_array_size(principals) < WFS_PRINCIPALS_MAX - 1)
		json_array_append_new(principals,
			json_pack(
				"{s:o}", "id", json_sprintf("p%zu", json_array_size(principals))));
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_done(fixture, "tester", "{'action_type':'principal','id':'rich','scrip':1000000}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'rich'}");
}

WITH_SOURCE_REPLAYED(as_many_bids_as_may_wait_are_shared_among_as_many_principals)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	fill_with_principals(fixture);
	be_judged(fixture);
	assert_done(fixture, "rich",
		WRITE("'artifact_id':'shop','code':'function run(n, bid) "
		      "kernel_actions.write_artifact{artifact_id=\\'mine\\', "
		      "code=\\'function run() end\\'} "
		      "for i = 1, n do local r = kernel_actions.submit_for_mint(\\'mine\\', bid) "
		      "if not r.ok then return r.error.code end end end'"));
	assert_done(fixture, "rich", ACTION("transfer", "'to':'shop','amount':900000"));
	assert_done(fixture, "rich", INVOKE("'artifact_id':'shop','args':[2,200000]"));
	for (int count = 2; count < WFS_MINT_PENDING_MAX - 1022; count += 1022)
		assert_data(fixture, "rich", INVOKE("'artifact_id':'shop','args':[1022,1]"),
			"{'price_paid':0,'result':null}");
	assert_data(fixture, "rich", INVOKE("'artifact_id':'shop','args':[1022,1]"),
		"{'price_paid':0,'result':'quota_exceeded'}");
	const int64_t sum = sum_of(fixture);

	assert_int_equal(act_as(fixture, "rich", RESOLVE, &answer), 0);
	assert_int_equal(
		json_object_size(json_object_get(json_object_get(answer, "data"), "distributed")),
		WFS_PRINCIPALS_MAX);
	assert_int_equal(scrip_of(fixture, "shop"), 700000);
	assert_int_equal(scrip_of(fixture, "p65534"), 3);
	assert_int_equal(sum_of(fixture), sum);
	assert_data(fixture, "rich", RESOLVE, NOBODY_WON);
}
#endif
