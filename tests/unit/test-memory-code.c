/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores that code uses: as whom, with whose rights, and what is left of it when it is taken back. */
#include "tests/unit/market-fixture.h"

#define CREATE(args) CALL("genesis_memory", "create", args)
#define ADD(args) CALL("genesis_memory_add", "run", args)
#define SEARCH(args) CALL("genesis_memory_search", "run", args)
#define LIST(args) CALL("genesis_memory", "list", args)
#define RUN(id, args) CALL(id, "run", args)
#define DENIED WFS_E_NOT_AUTHORIZED

/* In Lua: what is added must be added; what is found, in words. */
#define LUA_ADD(store, text)                                                     \
	"local r = invoke(\\'genesis_memory_add\\', \\'" store "\\', " text ") " \
	"if not r.ok then error(r.error.message) end "
#define LUA_FOUND(store, query)                                                                \
	"local r = invoke(\\'genesis_memory_search\\', \\'" store "\\', \\'" query "\\') "     \
	"local s = \\'\\' for _, h in ipairs(r.result.results) do s = s .. h.text .. \\'|\\' " \
	"end "

/* --- helpers --- */

static void make_store(struct world_fixture *fixture, const char *principal, const char *action)
{
	json_decref(call_for(fixture, principal, action, 5));
}

static void add(struct world_fixture *fixture, const char *principal, const char *action)
{
	json_decref(call_for(fixture, principal, action, 1));
}

/* What a search gives; caller frees. */
static char *found(struct world_fixture *fixture, const char *principal, const char *search)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, search, 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(json_object_get(result, "results"), &text);
	return strdup(wfs_buffer_text(&text));
}

/* What is kept in memory finds what is found when everything is read again. */
static void assert_mirrored(
	struct world_fixture *fixture, const char *principal, const char *search)
{
	WFS_AUTO_FREE char *kept = found(fixture, principal, search);

	assert_int_equal(world_fixture_open(fixture), 0);
	WFS_AUTO_FREE char *anew = found(fixture, principal, search);
	assert_string_equal(kept, anew);
}

static int64_t count_of(struct world_fixture *fixture, const char *principal, const char *list)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, list, 0);

	return json_integer_value(json_object_get(result, "total"));
}

/* --- as whom --- */

static void code_keeps_a_store_of_its_own(void **state)
{
	struct world_fixture *const fixture = *state;

	assert_done(*state, "alice",
		CODE("diary",
			"local r = invoke(\\'genesis_memory\\', \\'create\\', \\'d\\') "
			"if not r.ok then error(r.error.message) end " LUA_ADD(
				"d", "\\'one apple\\'") LUA_FOUND("d", "apple") "return s"));
	const int64_t disk = used_disk_of(fixture, "alice");

	assert_call(*state, "bob", RUN("diary", ""), 0, "'one apple|'");
	WFS_AUTO_JSON json_t *artifact = document_of(*state, "sys.artifact", "d");
	assert_string_equal(wfs_json_text(artifact, "owner"), "diary");
	assert_string_equal(wfs_json_text(artifact, "charged_to"), "alice");
	assert_true(used_disk_of(fixture, "alice") > disk + 4096);
	assert_int_equal(scrip_of(fixture, "bob"), 43); /* who began it pays */
	assert_int_equal(scrip_of(fixture, "diary"), 0);
	assert_refused(*state, "bob", SEARCH("'d','apple'"), DENIED, "may not read 'd'");
	assert_refused(*state, "alice", ADD("'d','pear'"), DENIED, "may not write 'd'");
}

static void who_began_it_is_asked_for_the_price(void **state)
{
	struct world_fixture *const fixture = *state;

	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(*state, "alice",
		CODE("tell",
			"local r = invoke(\\'genesis_memory_add\\', \\'m\\', ...) "
			"return {r.ok, r.error and r.error.code or \\'\\', r.price_paid}"));
	assert_done(*state, "alice", ACTION("transfer", "'to':'tell','amount':10"));

	assert_call(
		*state, "poor", RUN("tell", "'one apple'"), 0, "[false,'insufficient_funds',0]");
	assert_int_equal(count_of(*state, "alice", LIST("'m'")), 0);
	assert_call(*state, "bob", RUN("tell", "'one apple'"), 0, "[true,'',1]");
	assert_int_equal(scrip_of(fixture, "tell"), 10);
	assert_int_equal(scrip_of(fixture, "bob"), 49);
}

static void what_code_may_not_do_its_store_is_not_told(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(*state, "dave",
		CODE("d_add",
			"local r = invoke(\\'genesis_memory_add\\', \\'m\\', \\'x\\') "
			"return r.error.code"));
	assert_done(*state, "dave",
		CODE("d_find",
			"local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
			"return r.error.code"));
	assert_done(*state, "dave",
		CODE("d_make",
			"local r = invoke(\\'genesis_memory\\', \\'create\\', \\'n\\') "
			"return r.error.code"));

	assert_call(*state, "alice", RUN("d_add", ""), 0, "'not_authorized'");
	assert_call(*state, "alice", RUN("d_find", ""), 0, "'not_authorized'");
	assert_call(*state, "alice", RUN("d_make", ""), 0, "'not_authorized'");
}

static void code_of_another_does_not_search_what_its_caller_sells(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'freeware'}"));
	add(*state, "alice", ADD("'m','one apple'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'m','policy':{'read_price':20}"));
	assert_done(*state, "bob",
		CODE("b_find",
			"local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
			"return r.error and r.error.code or \\'found\\'"));
	assert_call(*state, "alice", RUN("b_find", ""), 0, "'not_authorized'");
}

static void a_contract_does_not_search(void **state)
{
	assert_done(*state, "alice",
		WRITE("'artifact_id':'rule','code':'function check() "
		      "local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
		      "return {allowed = false, reason = r.error.code} end'"));
	make_store(*state, "alice", CREATE("{'id':'m','access':'rule'}"));
	assert_refused(*state, "alice", ADD("'m','x'"), DENIED, "rule: read_only");
}

/* --- with whose rights --- */

static void who_may_only_invoke_has_services_do_no_more(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	add(*state, "alice", ADD("'m','one apple'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'doc','content':'x'"));
	assert_done(
		*state, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'carol'"));

	assert_refused(*state, "carol", CREATE("'n'"), DENIED, "");
	assert_refused(*state, "carol", ADD("'m','x'"), DENIED, "");
	assert_refused(*state, "carol", CALL("genesis_memory", "run", "'add','m','x'"), DENIED, "");
	assert_refused(*state, "carol", SEARCH("'m','x'"), DENIED, "");
	assert_refused(*state, "carol", LIST("'m'"), DENIED, "");
	assert_refused(*state, "carol", CALL("genesis_memory", "delete", "'m','mem_00000001'"),
		DENIED, "");
	assert_refused(
		*state, "carol", CALL("genesis_ledger", "transfer", "'alice',1"), DENIED, "");
	assert_refused(*state, "carol", CALL("genesis_escrow", "deposit", "'doc',1"), DENIED, "");
	assert_call(*state, "carol", CALL("genesis_ledger", "balance", ""), 0,
		"{'id':'carol','scrip':50}");
	assert_call(*state, "carol", CALL("genesis_ledger", "balance", "'alice'"), 0,
		"{'id':'alice','scrip':0}");
}

static void who_may_use_some_artifacts_has_services_use_these(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	make_store(*state, "dave", CREATE("'d_m'"));
	add(*state, "dave", ADD("'d_m','one apple'"));
	json_decref(call_for(*state, "dave", SEARCH("'d_m','apple'"), 1));
	assert_done(*state, "dave", WRITE("'artifact_id':'d_doc','content':'x'"));
	json_decref(call_for(*state, "dave", CALL("genesis_escrow", "deposit", "'d_doc',1"), 0));

	assert_refused(*state, "dave", CREATE("'n'"), DENIED, "");
	assert_refused(*state, "dave", CREATE(""), DENIED, "");
	assert_refused(*state, "dave", ADD("'m','x'"), DENIED, "");
	assert_refused(*state, "dave", SEARCH("'m','x'"), DENIED, "");
}

/* --- what is taken back --- */

/* Adds what it is told to; then searches, and fails. */
#define BOOM                                                                              \
	CODE("boom",                                                                      \
		"for _, text in ipairs({...}) do " LUA_ADD("m", "text") "end " LUA_FOUND( \
			"m", "apple") "error(s)")

static void what_code_added_before_it_failed_is_not_found(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	add(*state, "alice", ADD("'m','two pears'"));
	WFS_AUTO_FREE char *before = found(*state, "alice", SEARCH("'m','apple'"));
	assert_done(*state, "alice", BOOM);

	assert_refused(*state, "alice", RUN("boom", "'one apple','gamma'"), WFS_E_RUNTIME_ERROR,
		"one apple|");
	WFS_AUTO_FREE char *after = found(*state, "alice", SEARCH("'m','apple'"));
	assert_string_equal(before, after);
	add(*state, "alice", ADD("'m','one apple'")); /* not there so far */
	assert_int_equal(count_of(*state, "alice", LIST("'m'")), 2);
	assert_mirrored(*state, "alice", SEARCH("'m','apple'"));
}

static void the_first_entry_is_taken_back(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(*state, "alice", BOOM);

	assert_refused(
		*state, "alice", RUN("boom", "'one apple'"), WFS_E_RUNTIME_ERROR, "one apple|");
	assert_call(*state, "alice", SEARCH("'m','apple'"), 1,
		"{'count':0,'memory_artifact_id':'m','results':[],'total_entries':0}");
	add(*state, "alice", ADD("'m','one pear'"));
	add(*state, "alice", ADD("'m','one apple'"));
	assert_mirrored(*state, "alice", SEARCH("'m','apple'"));
}

static void what_was_pruned_before_it_failed_is_found_again(void **state)
{
	make_store(
		*state, "alice", CREATE("{'id':'m','access':'public','config':{'max_entries':2}}"));
	add(*state, "alice", ADD("'m','two pears'"));
	add(*state, "alice", ADD("'m','epsilon'"));
	WFS_AUTO_FREE char *before = found(*state, "alice", SEARCH("'m','two pears'"));
	assert_done(*state, "alice", BOOM);

	assert_refused(*state, "alice", RUN("boom", "'one apple','gamma','delta'"),
		WFS_E_RUNTIME_ERROR, "delta|");
	WFS_AUTO_FREE char *after = found(*state, "alice", SEARCH("'m','two pears'"));
	assert_string_equal(before, after);
	assert_mirrored(*state, "alice", SEARCH("'m','two pears'"));
}

static void code_within_code_takes_back_its_own_alone(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	add(*state, "alice", ADD("'m','two pears'"));
	assert_done(*state, "alice", BOOM);
	assert_done(*state, "alice",
		CODE("outer",
			LUA_ADD("m",
				"\\'alpha beta gamma apple\\'") "local inner = invoke(\\'boom\\', "
								"\\'one "
								"apple\\') " LUA_ADD("m",
									"\\'an apple pie\\'") "loca"
											      "l "
											      "inne"
											      "r = "
											      "invo"
											      "ke("
											      "\\'"
											      "boom"
											      "\\',"
											      " "
											      "\\'"
											      "gree"
											      "n "
											      "appl"
											      "e\\'"
											      ")"
											      " " LUA_FOUND(
												      "m",
												      "apple") "retu"
													       "rn "
													       "s"));

	WFS_AUTO_JSON json_t *result = call_for(*state, "alice", RUN("outer", ""), 0);
	assert_string_equal(
		json_string_value(result), "an apple pie|alpha beta gamma apple|two pears|");
	assert_int_equal(count_of(*state, "alice", LIST("'m'")), 3);
	assert_mirrored(*state, "alice", SEARCH("'m','apple'"));
}

static void what_services_do_counts_as_instructions(void **state)
{
	assert_done(*state, "rich",
		CODE("much",
			"local text = string.rep(\\'word \\', 3000) for i = 1, 500 do "
			"invoke(\\'genesis_embedder\\', \\'embed\\', text) end return 1"));

	assert_refused(*state, "rich", RUN("much", ""), WFS_E_RUNTIME_ERROR, "instructions");
}

/* Adds as many as it is told to. */
#define ADD_MANY(id, end)                                       \
	CODE(id,                                                \
		"local n, from = ... for i = 1, n do " LUA_ADD( \
			"m", "(from + i) * 7919 .. \\' \\' .. (from + i) * 104729") "end " end)

static void more_than_can_be_undone_is_read_again(void **state)
{
	make_store(*state, "rich", CREATE("'m'"));
	assert_done(*state, "rich", WRITE("'artifact_id':'m','access':'public'"));
	assert_done(*state, "rich", ADD_MANY("many", "return n"));
	assert_done(*state, "rich", ADD_MANY("fail", "error(\\'enough\\')"));
	assert_call(*state, "rich", RUN("many", "10,0"), 0, "10");
	WFS_AUTO_FREE char *before = found(*state, "rich", SEARCH("'m','7919 104729',1000"));

	assert_refused(*state, "rich", RUN("fail", "70,100"), WFS_E_RUNTIME_ERROR, "enough");
	WFS_AUTO_FREE char *after = found(*state, "rich", SEARCH("'m','7919 104729',1000"));
	assert_string_equal(before, after);
	assert_call(*state, "rich", RUN("many", "70,200"), 0, "70");
	assert_int_equal(count_of(*state, "rich", LIST("'m',0")), 80);
	assert_mirrored(*state, "rich", SEARCH("'m','7919 104729',1000"));
}

static void scores_of_the_same_record_are_read_again(void **state)
{
	make_store(*state, "rich",
		CREATE("{'id':'m','access':'public','config':{'max_entries':3,"
		       "'auto_prune':'lowest_score'}}"));
	add(*state, "rich", ADD("'m','alpha'"));
	add(*state, "rich", ADD("'m','beta'"));
	add(*state, "rich", ADD("'m','gamma'"));
	assert_done(*state, "rich", ADD_MANY("fail", "error(\\'enough\\')"));
	assert_done(*state, "rich",
		CODE("outer",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'alpha\\', 1) "
			"invoke(\\'fail\\', 70, 0) " LUA_ADD("m", "\\'delta\\'")
				LUA_FOUND("m", "alpha") "return s"));

	WFS_AUTO_JSON json_t *result = call_for(*state, "rich", RUN("outer", ""), 0);
	assert_non_null(strstr(json_string_value(result), "alpha|"));
	assert_null(strstr(json_string_value(result), "beta|"));
	assert_mirrored(*state, "rich", SEARCH("'m','alpha'"));
}

/* 1,200 entries of somebody who can pay for them. */
static void make_large_store(struct world_fixture *fixture)
{
	static const char *const first[] = {
		"{'action_type':'principal','id':'tycoon','scrip':5000}", GRANT_ALL("tycoon")};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(first); i++)
		assert_done(fixture, "tester", first[i]);
	make_store(fixture, "tycoon",
		CREATE("{'id':'m','access':'public','config':{'max_entries':2000,"
		       "'auto_prune':'lowest_score'}}"));
	assert_done(fixture, "tycoon", ADD_MANY("many", "return n"));
	assert_call(fixture, "tycoon", RUN("many", "600,0"), 0, "600");
	assert_call(fixture, "tycoon", RUN("many", "600,600"), 0, "600");
}

static void more_entries_than_go_at_once_go_with_the_next_one(void **state)
{
	make_large_store(*state);
	assert_done(*state, "tycoon",
		WRITE("'artifact_id':'m','content':{'config':{'max_entries':1}}"));
	add(*state, "tycoon", ADD("'m','one apple'"));
	assert_int_equal(count_of(*state, "tycoon", LIST("'m',0")), 201);
	add(*state, "tycoon", ADD("'m','two pears'"));
	assert_int_equal(count_of(*state, "tycoon", LIST("'m',0")), 1);
	assert_mirrored(*state, "tycoon", SEARCH("'m','two pears'"));
}

static void a_large_store_is_searched_in_vain_and_deleted(void **state)
{
	make_large_store(*state);
	assert_done(*state, "tycoon",
		CODE("vain",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'7919\\', 1000) "
			"error(\\'in vain\\')"));
	assert_refused(*state, "tycoon", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	assert_mirrored(*state, "tycoon", SEARCH("'m','7919 104729',1000"));
	assert_done(*state, "tycoon", ACTION("delete_artifact", "'artifact_id':'m'"));
	WFS_AUTO_FREE char *text = market_text(*state);
	assert_null(strstr(text, "sys.memory"));
}

static void a_store_that_is_deleted_in_vain_is_there(void **state)
{
	make_store(*state, "alice", CREATE("{'id':'m','access':'public'}"));
	add(*state, "alice", ADD("'m','two pears'"));
	assert_done(*state, "alice",
		CODE("vain",
			LUA_ADD("m", "\\'one apple\\'") "kernel_actions.delete_artifact(\\'m\\') "
							"error(\\'in vain\\')"));
	assert_done(*state, "alice",
		CODE("gone",
			LUA_ADD("m",
				"\\'one apple\\'") "return "
						   "kernel_actions.delete_artifact(\\'m\\').ok"));

	assert_refused(*state, "alice", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	assert_mirrored(*state, "alice", SEARCH("'m','two pears'"));
	assert_call(*state, "alice", RUN("gone", ""), 0, "true");
	WFS_AUTO_FREE char *text = market_text(*state);
	assert_null(strstr(text, "sys.memory"));
}

static void scores_of_a_search_in_vain_do_not_count(void **state)
{
	make_store(*state, "alice",
		CREATE("{'id':'m','access':'public','config':{'max_entries':2,"
		       "'auto_prune':'lowest_score'}}"));
	add(*state, "alice", ADD("'m','two pears'"));
	add(*state, "alice", ADD("'m','epsilon'"));
	json_decref(call_for(*state, "alice", SEARCH("'m','epsilon',1"), 1));
	assert_done(*state, "alice",
		CODE("vain",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'two pears\\') "
			"error(\\'in vain\\')"));

	assert_refused(*state, "alice", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	add(*state, "alice", ADD("'m','one apple'")); /* two pears was never found */
	WFS_AUTO_FREE char *after = found(*state, "alice", SEARCH("'m','two pears'"));
	assert_null(strstr(after, "two pears"));
	assert_mirrored(*state, "alice", SEARCH("'m','epsilon'"));
}

/* --- many --- */

enum { STORES = 70 }; /* more than are kept in memory at once */

static void more_stores_than_are_kept_are_searched_in_turn(void **state)
{
	static const char *const words[] = {"apple", "pear", "plum", "cherry", "grape"};
	char action[256];

	for (int i = 0; i < STORES; i++) {
		snprintf(action, sizeof(action), WRITE("'artifact_id':'s%d','type':'memory_store'"),
			i);
		assert_done(*state, "rich", action);
		snprintf(action, sizeof(action), ADD("'s%d','%s %d'"), i, words[i % 5], i);
		add(*state, "rich", action);
		snprintf(action, sizeof(action), ADD("'s%d','epsilon'"), i);
		add(*state, "rich", action);
	}
	for (int i = 0; i < STORES; i++) {
		char first[64];

		snprintf(action, sizeof(action), SEARCH("'s%d','%s %d',1"), i, words[i % 5], i);
		WFS_AUTO_FREE char *hit = found(*state, "rich", action);
		snprintf(first, sizeof(first), "\"text\":\"%s %d\"", words[i % 5], i);
		assert_non_null(strstr(hit, first));
	}
}

enum { RECORDS = 60, RECORDS_KEPT = 6 };

/* Random steps in one record: adds, takes out, searches, and may fail at any depth. It begins with a number of
 * the test's, so that each run of the test does the same. */
#define RANDOM_CODE                                                                       \
	"local n, deep, seed = ... "                                                      \
	"local function chance(m) seed = (seed * 1103515245 + 12345) % 2147483648 "       \
	"return seed // 65536 % m + 1 end "                                               \
	"for i = 1, n do local c = chance(10) "                                           \
	"if c <= 4 then invoke(\\'genesis_memory_add\\', \\'m\\', "                       \
	"chance(40) * 7919 .. \\' \\' .. chance(3)) "                                     \
	"elseif c <= 6 then local r = invoke(\\'genesis_memory_search\\', \\'m\\', "      \
	"chance(40) * 7919 .. \\' \\', 3) "                                               \
	"local hits = r.ok and r.result.results or {} "                                   \
	"if hits[1] and c == 6 then invoke(\\'genesis_memory\\', \\'delete\\', \\'m\\', " \
	"hits[#hits].id) end "                                                            \
	"elseif c <= 8 and deep > 0 then invoke(\\'steps\\', 4, deep - 1, seed) "         \
	"elseif c == 9 and chance(2) == 1 then error(\\'chance\\') end end return n"

/* Return: was it done, and not failed by chance? */
static bool take_steps(struct world_fixture *fixture, int number)
{
	static const char *const orders[] = {"oldest", "lowest_score", "lowest_importance"};
	WFS_AUTO_JSON json_t *answer = NULL;
	char action[256];

	snprintf(action, sizeof(action),
		WRITE("'artifact_id':'m','content':{'config':{'auto_prune':'%s',"
		      "'max_entries':%d}}"),
		orders[number % 3], 5 + number % 7);
	assert_done(fixture, "rich", action);
	snprintf(action, sizeof(action), RUN("steps", "10,3,%d"), number);
	if (act_as(fixture, "rich", action, &answer) == 0)
		return true;
	assert_non_null(strstr(fixture->error.message, "chance"));
	return false;
}

static void random_steps_leave_what_is_read_again(void **state)
{
	size_t done = 0;

	make_store(*state, "rich", CREATE("{'id':'m','access':'public'}"));
	assert_done(*state, "rich", CODE("steps", RANDOM_CODE));
	for (int i = 0; i < RECORDS; i++) {
		done += take_steps(*state, i);
		if (i % RECORDS_KEPT == 0)
			assert_mirrored(*state, "rich", SEARCH("'m','7919 1',1000"));
	}
	print_message("%zu of %d records done\n", done, RECORDS);
	assert_in_range(done, RECORDS / 5, RECORDS * 4 / 5);
	assert_true(count_of(*state, "rich", LIST("'m'")) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_MARKET(code_keeps_a_store_of_its_own),
		IN_MARKET(who_began_it_is_asked_for_the_price),
		IN_MARKET(what_code_may_not_do_its_store_is_not_told),
		IN_MARKET(code_of_another_does_not_search_what_its_caller_sells),
		IN_MARKET(a_contract_does_not_search),
		IN_MARKET(who_may_only_invoke_has_services_do_no_more),
		IN_MARKET(who_may_use_some_artifacts_has_services_use_these),
		IN_MARKET(what_code_added_before_it_failed_is_not_found),
		IN_MARKET(the_first_entry_is_taken_back),
		IN_MARKET(what_was_pruned_before_it_failed_is_found_again),
		IN_MARKET(code_within_code_takes_back_its_own_alone),
		IN_MARKET(more_than_can_be_undone_is_read_again),
		IN_MARKET(scores_of_the_same_record_are_read_again),
		IN_MARKET(more_entries_than_go_at_once_go_with_the_next_one),
		IN_MARKET(a_large_store_is_searched_in_vain_and_deleted),
		IN_MARKET(a_store_that_is_deleted_in_vain_is_there),
		IN_MARKET(scores_of_a_search_in_vain_do_not_count),
		IN_MARKET(what_services_do_counts_as_instructions),
		IN_MARKET(more_stores_than_are_kept_are_searched_in_turn),
		IN_MARKET(random_steps_leave_what_is_read_again),
	};

	return cmocka_run_group_tests_name("memory-code", tests, NULL, NULL);
}
