/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores that code uses: as which principal, with which rights, and what stays of the
 * changes when they are taken back. */
#include "tests/fixture/market.h"

#define CREATE(args) CALL("genesis_memory", "create", args)
#define ADD(args) CALL("genesis_memory_add", "run", args)
#define SEARCH(args) CALL("genesis_memory_search", "run", args)
#define LIST(args) CALL("genesis_memory", "list", args)
#define RUN(id, args) CALL(id, "run", args)
#define DENIED WFS_E_NOT_AUTHORIZED

/* In Lua: LUA_ADD fails if the entry is not added; the search gives its findings as words. */
#define LUA_ADD(store, text)                                                     \
	"local r = invoke(\\'genesis_memory_add\\', \\'" store "\\', " text ") " \
	"if not r.ok then error(r.error.message) end "
#define LUA_BOOM(text) "local inner = invoke(\\'boom\\', \\'" text "\\') "
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

/* The results of a search; caller frees. */
static char *found(struct world_fixture *fixture, const char *principal, const char *search)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, search, 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write(json_object_get(result, "results"), &text);
	return strdup(wfs_buffer_text(&text));
}

/* Stores kept in memory must give the findings that a search of the stored entries gives. */
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

IN_MARKET(code_keeps_a_store_of_its_own)
{
	assert_done(fixture, "alice",
		CODE("diary",
			"local r = invoke(\\'genesis_memory\\', \\'create\\', \\'d\\') "
			"if not r.ok then error(r.error.message) end " LUA_ADD(
				"d", "\\'one apple\\'") LUA_FOUND("d", "apple") "return s"));
	const int64_t disk = used_disk_of(fixture, "alice");

	assert_call(fixture, "bob", RUN("diary", ""), 0, "'one apple|'");
	WFS_AUTO_JSON json_t *artifact = market_document(fixture, "sys.artifact", "d");
	assert_string_equal(wfs_json_text(artifact, "owner"), "diary");
	assert_string_equal(wfs_json_text(artifact, "charged_to"), "alice");
	assert_true(used_disk_of(fixture, "alice") > disk + 4096);
	assert_int_equal(scrip_of(fixture, "bob"), 43); /* the principal that began it pays */
	assert_int_equal(scrip_of(fixture, "diary"), 0);
	assert_refused(fixture, "bob", SEARCH("'d','apple'"), DENIED, "may not read 'd'");
	assert_refused(fixture, "alice", ADD("'d','pear'"), DENIED, "may not write 'd'");
}

IN_MARKET(who_began_it_is_asked_for_the_price)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(fixture, "alice",
		CODE("tell",
			"local r = invoke(\\'genesis_memory_add\\', \\'m\\', ...) "
			"return {r.ok, r.error and r.error.code or \\'\\', r.price_paid}"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'tell','amount':10"));

	assert_call(
		fixture, "poor", RUN("tell", "'one apple'"), 0, "[false,'insufficient_funds',0]");
	assert_int_equal(count_of(fixture, "alice", LIST("'m'")), 0);
	assert_call(fixture, "bob", RUN("tell", "'one apple'"), 0, "[true,'',1]");
	assert_int_equal(scrip_of(fixture, "tell"), 10);
	assert_int_equal(scrip_of(fixture, "bob"), 49);
}

IN_MARKET(what_code_may_not_do_its_store_is_not_told)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(fixture, "dave",
		CODE("d_add",
			"local r = invoke(\\'genesis_memory_add\\', \\'m\\', \\'x\\') "
			"return r.error.code"));
	assert_done(fixture, "dave",
		CODE("d_find",
			"local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
			"return r.error.code"));
	assert_done(fixture, "dave",
		CODE("d_make",
			"local r = invoke(\\'genesis_memory\\', \\'create\\', \\'n\\') "
			"return r.error.code"));

	assert_call(fixture, "alice", RUN("d_add", ""), 0, "'not_authorized'");
	assert_call(fixture, "alice", RUN("d_find", ""), 0, "'not_authorized'");
	assert_call(fixture, "alice", RUN("d_make", ""), 0, "'not_authorized'");
}

IN_MARKET(code_of_another_does_not_search_what_its_caller_sells)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'freeware'}"));
	add(fixture, "alice", ADD("'m','one apple'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','policy':{'read_price':20}"));
	assert_done(fixture, "bob",
		CODE("b_find",
			"local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
			"return r.error and r.error.code or \\'found\\'"));
	assert_call(fixture, "alice", RUN("b_find", ""), 0, "'not_authorized'");
}

IN_MARKET(a_contract_does_not_search)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'rule','code':'function check() "
		      "local r = invoke(\\'genesis_memory_search\\', \\'m\\', \\'x\\') "
		      "return {allowed = false, reason = r.error.code} end'"));
	make_store(fixture, "alice", CREATE("{'id':'m','access':'rule'}"));
	assert_refused(fixture, "alice", ADD("'m','x'"), DENIED, "rule: read_only");
}

/* --- with whose rights --- */

IN_MARKET(who_may_only_invoke_has_services_do_no_more)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	add(fixture, "alice", ADD("'m','one apple'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'x'"));
	assert_done(
		fixture, "alice", ACTION("transfer_ownership", "'artifact_id':'doc','to':'carol'"));

	assert_refused(fixture, "carol", CREATE("'n'"), DENIED, "");
	assert_refused(fixture, "carol", ADD("'m','x'"), DENIED, "");
	assert_refused(
		fixture, "carol", CALL("genesis_memory", "run", "'add','m','x'"), DENIED, "");
	assert_refused(fixture, "carol", SEARCH("'m','x'"), DENIED, "");
	assert_refused(fixture, "carol", LIST("'m'"), DENIED, "");
	assert_refused(fixture, "carol", CALL("genesis_memory", "delete", "'m','mem_00000001'"),
		DENIED, "");
	assert_refused(
		fixture, "carol", CALL("genesis_ledger", "transfer", "'alice',1"), DENIED, "");
	assert_refused(fixture, "carol", CALL("genesis_escrow", "deposit", "'doc',1"), DENIED, "");
	assert_call(fixture, "carol", CALL("genesis_ledger", "balance", ""), 0,
		"{'id':'carol','scrip':50}");
	assert_call(fixture, "carol", CALL("genesis_ledger", "balance", "'alice'"), 0,
		"{'id':'alice','scrip':0}");
}

IN_MARKET(who_may_use_some_artifacts_has_services_use_these)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	make_store(fixture, "dave", CREATE("'d_m'"));
	add(fixture, "dave", ADD("'d_m','one apple'"));
	json_decref(call_for(fixture, "dave", SEARCH("'d_m','apple'"), 1));
	assert_done(fixture, "dave", WRITE("'artifact_id':'d_doc','content':'x'"));
	json_decref(call_for(fixture, "dave", CALL("genesis_escrow", "deposit", "'d_doc',1"), 0));

	assert_refused(fixture, "dave", CREATE("'n'"), DENIED, "");
	assert_refused(fixture, "dave", CREATE(""), DENIED, "");
	assert_refused(fixture, "dave", ADD("'m','x'"), DENIED, "");
	assert_refused(fixture, "dave", SEARCH("'m','x'"), DENIED, "");
}

/* --- what is taken back --- */

/* Adds the texts in its arguments, then searches, and fails. */
#define BOOM                                                                              \
	CODE("boom",                                                                      \
		"for _, text in ipairs({...}) do " LUA_ADD("m", "text") "end " LUA_FOUND( \
			"m", "apple") "error(s)")

IN_MARKET(what_code_added_before_it_failed_is_not_found)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	add(fixture, "alice", ADD("'m','two pears'"));
	WFS_AUTO_FREE char *before = found(fixture, "alice", SEARCH("'m','apple'"));
	assert_done(fixture, "alice", BOOM);

	assert_refused(fixture, "alice", RUN("boom", "'one apple','gamma'"), WFS_E_RUNTIME_ERROR,
		"one apple|");
	WFS_AUTO_FREE char *after = found(fixture, "alice", SEARCH("'m','apple'"));
	assert_string_equal(before, after);
	add(fixture, "alice", ADD("'m','one apple'")); /* its entry was not there before */
	assert_int_equal(count_of(fixture, "alice", LIST("'m'")), 2);
	assert_mirrored(fixture, "alice", SEARCH("'m','apple'"));
}

IN_MARKET(the_first_entry_is_taken_back)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	assert_done(fixture, "alice", BOOM);

	assert_refused(
		fixture, "alice", RUN("boom", "'one apple'"), WFS_E_RUNTIME_ERROR, "one apple|");
	assert_call(fixture, "alice", SEARCH("'m','apple'"), 1,
		"{'count':0,'memory_artifact_id':'m','results':[],'total_entries':0}");
	add(fixture, "alice", ADD("'m','one pear'"));
	add(fixture, "alice", ADD("'m','one apple'"));
	assert_mirrored(fixture, "alice", SEARCH("'m','apple'"));
}

IN_MARKET(what_was_pruned_before_it_failed_is_found_again)
{
	make_store(fixture, "alice",
		CREATE("{'id':'m','access':'public','config':{'max_entries':2}}"));
	add(fixture, "alice", ADD("'m','two pears'"));
	add(fixture, "alice", ADD("'m','epsilon'"));
	WFS_AUTO_FREE char *before = found(fixture, "alice", SEARCH("'m','two pears'"));
	assert_done(fixture, "alice", BOOM);

	assert_refused(fixture, "alice", RUN("boom", "'one apple','gamma','delta'"),
		WFS_E_RUNTIME_ERROR, "delta|");
	WFS_AUTO_FREE char *after = found(fixture, "alice", SEARCH("'m','two pears'"));
	assert_string_equal(before, after);
	assert_mirrored(fixture, "alice", SEARCH("'m','two pears'"));
}

IN_MARKET(code_within_code_takes_back_its_own_alone)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	add(fixture, "alice", ADD("'m','two pears'"));
	assert_done(fixture, "alice", BOOM);
	assert_done(fixture, "alice",
		CODE("outer",
			LUA_ADD("m", "\\'alpha beta gamma apple\\'") LUA_BOOM("one apple")
				LUA_ADD("m", "\\'an apple pie\\'") LUA_BOOM("green apple")
					LUA_FOUND("m", "apple") "return s"));

	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", RUN("outer", ""), 0);
	assert_string_equal(
		json_string_value(result), "an apple pie|alpha beta gamma apple|two pears|");
	assert_int_equal(count_of(fixture, "alice", LIST("'m'")), 3);
	assert_mirrored(fixture, "alice", SEARCH("'m','apple'"));
}

IN_MARKET(what_services_do_counts_as_instructions)
{
	assert_done(fixture, "rich",
		CODE("much",
			"local text = string.rep(\\'word \\', 3000) for i = 1, 500 do "
			"invoke(\\'genesis_embedder\\', \\'embed\\', text) end return 1"));

	assert_refused(fixture, "rich", RUN("much", ""), WFS_E_RUNTIME_ERROR, "instructions");
}

/* Adds as many entries as its argument says. */
#define ADD_MANY(id, end)                                       \
	CODE(id,                                                \
		"local n, from = ... for i = 1, n do " LUA_ADD( \
			"m", "(from + i) * 7919 .. \\' \\' .. (from + i) * 104729") "end " end)

IN_MARKET(more_than_can_be_undone_is_read_again)
{
	make_store(fixture, "rich", CREATE("'m'"));
	assert_done(fixture, "rich", WRITE("'artifact_id':'m','access':'public'"));
	assert_done(fixture, "rich", ADD_MANY("many", "return n"));
	assert_done(fixture, "rich", ADD_MANY("fail", "error(\\'enough\\')"));
	assert_call(fixture, "rich", RUN("many", "10,0"), 0, "10");
	WFS_AUTO_FREE char *before = found(fixture, "rich", SEARCH("'m','7919 104729',1000"));

	assert_refused(fixture, "rich", RUN("fail", "70,100"), WFS_E_RUNTIME_ERROR, "enough");
	WFS_AUTO_FREE char *after = found(fixture, "rich", SEARCH("'m','7919 104729',1000"));
	assert_string_equal(before, after);
	assert_call(fixture, "rich", RUN("many", "70,200"), 0, "70");
	assert_int_equal(count_of(fixture, "rich", LIST("'m',0")), 80);
	assert_mirrored(fixture, "rich", SEARCH("'m','7919 104729',1000"));
}

IN_MARKET(scores_of_the_same_record_are_read_again)
{
	make_store(fixture, "rich",
		CREATE("{'id':'m','access':'public','config':{'max_entries':3,"
		       "'auto_prune':'lowest_score'}}"));
	add(fixture, "rich", ADD("'m','alpha'"));
	add(fixture, "rich", ADD("'m','beta'"));
	add(fixture, "rich", ADD("'m','gamma'"));
	assert_done(fixture, "rich", ADD_MANY("fail", "error(\\'enough\\')"));
	assert_done(fixture, "rich",
		CODE("outer",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'alpha\\', 1) "
			"invoke(\\'fail\\', 70, 0) " LUA_ADD("m", "\\'delta\\'")
				LUA_FOUND("m", "alpha") "return s"));

	WFS_AUTO_JSON json_t *result = call_for(fixture, "rich", RUN("outer", ""), 0);
	assert_non_null(strstr(json_string_value(result), "alpha|"));
	assert_null(strstr(json_string_value(result), "beta|"));
	assert_mirrored(fixture, "rich", SEARCH("'m','alpha'"));
}

/* A store with 1,200 entries, of a principal that can pay for them. */
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

IN_MARKET(more_entries_than_go_at_once_go_with_the_next_one)
{
	make_large_store(fixture);
	assert_done(fixture, "tycoon",
		WRITE("'artifact_id':'m','content':{'config':{'max_entries':1}}"));
	add(fixture, "tycoon", ADD("'m','one apple'"));
	assert_int_equal(count_of(fixture, "tycoon", LIST("'m',0")), 201);
	add(fixture, "tycoon", ADD("'m','two pears'"));
	assert_int_equal(count_of(fixture, "tycoon", LIST("'m',0")), 1);
	assert_mirrored(fixture, "tycoon", SEARCH("'m','two pears'"));
}

IN_MARKET(a_large_store_is_searched_in_vain_and_deleted)
{
	make_large_store(fixture);
	assert_done(fixture, "tycoon",
		CODE("vain",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'7919\\', 1000) "
			"error(\\'in vain\\')"));
	assert_refused(fixture, "tycoon", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	assert_mirrored(fixture, "tycoon", SEARCH("'m','7919 104729',1000"));
	assert_done(fixture, "tycoon", ACTION("delete_artifact", "'artifact_id':'m'"));
	WFS_AUTO_FREE char *text = market_text(fixture);
	assert_null(strstr(text, "sys.memory"));
}

IN_MARKET(a_store_that_is_deleted_in_vain_is_there)
{
	make_store(fixture, "alice", CREATE("{'id':'m','access':'public'}"));
	add(fixture, "alice", ADD("'m','two pears'"));
	assert_done(fixture, "alice",
		CODE("vain",
			LUA_ADD("m", "\\'one apple\\'") "kernel_actions.delete_artifact(\\'m\\') "
							"error(\\'in vain\\')"));
	assert_done(fixture, "alice",
		CODE("gone",
			LUA_ADD("m",
				"\\'one apple\\'") "return "
						   "kernel_actions.delete_artifact(\\'m\\').ok"));

	assert_refused(fixture, "alice", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	assert_mirrored(fixture, "alice", SEARCH("'m','two pears'"));
	assert_call(fixture, "alice", RUN("gone", ""), 0, "true");
	WFS_AUTO_FREE char *text = market_text(fixture);
	assert_null(strstr(text, "sys.memory"));
}

IN_MARKET(scores_of_a_search_in_vain_do_not_count)
{
	make_store(fixture, "alice",
		CREATE("{'id':'m','access':'public','config':{'max_entries':2,"
		       "'auto_prune':'lowest_score'}}"));
	add(fixture, "alice", ADD("'m','two pears'"));
	add(fixture, "alice", ADD("'m','epsilon'"));
	json_decref(call_for(fixture, "alice", SEARCH("'m','epsilon',1"), 1));
	assert_done(fixture, "alice",
		CODE("vain",
			"invoke(\\'genesis_memory_search\\', \\'m\\', \\'two pears\\') "
			"error(\\'in vain\\')"));

	assert_refused(fixture, "alice", RUN("vain", ""), WFS_E_RUNTIME_ERROR, "in vain");
	add(fixture, "alice", ADD("'m','one apple'")); /* no search found two pears */
	WFS_AUTO_FREE char *after = found(fixture, "alice", SEARCH("'m','two pears'"));
	assert_null(strstr(after, "two pears"));
	assert_mirrored(fixture, "alice", SEARCH("'m','epsilon'"));
}

/* --- many --- */

enum { STORES = 70 }; /* more stores than are kept in memory at once */

IN_MARKET(more_stores_than_are_kept_are_searched_in_turn)
{
	static const char *const words[] = {"apple", "pear", "plum", "cherry", "grape"};
	char action[256];

	for (int i = 0; i < STORES; i++) {
		snprintf(action, sizeof(action), WRITE("'artifact_id':'s%d','type':'memory_store'"),
			i);
		assert_done(fixture, "rich", action);
		snprintf(action, sizeof(action), ADD("'s%d','%s %d'"), i, words[i % 5], i);
		add(fixture, "rich", action);
		snprintf(action, sizeof(action), ADD("'s%d','epsilon'"), i);
		add(fixture, "rich", action);
	}
	for (int i = 0; i < STORES; i++) {
		char first[64];

		snprintf(action, sizeof(action), SEARCH("'s%d','%s %d',1"), i, words[i % 5], i);
		WFS_AUTO_FREE char *hit = found(fixture, "rich", action);
		snprintf(first, sizeof(first), "\"text\":\"%s %d\"", words[i % 5], i);
		assert_non_null(strstr(hit, first));
	}
}

enum { RECORDS = 60, RECORDS_KEPT = 6 };

/* Takes random steps in one record: adds, removes, searches, and may fail at any depth. The test
 * gives the number to begin with, so that each run does the same steps. */
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

/* Return: false if the steps failed by chance. */
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

IN_MARKET(random_steps_leave_what_is_read_again)
{
	size_t done = 0;

	make_store(fixture, "rich", CREATE("{'id':'m','access':'public'}"));
	assert_done(fixture, "rich", CODE("steps", RANDOM_CODE));
	for (int i = 0; i < RECORDS; i++) {
		done += take_steps(fixture, i);
		if (i % RECORDS_KEPT == 0)
			assert_mirrored(fixture, "rich", SEARCH("'m','7919 1',1000"));
	}
	print_message("%zu of %d records done\n", done, RECORDS);
	assert_in_range(done, RECORDS / 5, RECORDS * 4 / 5);
	assert_true(count_of(fixture, "rich", LIST("'m'")) > 0);
}
