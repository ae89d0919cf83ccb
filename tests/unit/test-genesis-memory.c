/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_memory, its methods as services of their own, and genesis_embedder: each as called,
 * and as folded again. Numbers in comments are those of test cases of a comparable system. */
#include "tests/fixture/market.h"

#include "kernel/domain/memory/memory.h"

#define CREATE(args) CALL("genesis_memory", "create", args)
#define ADD(args) CALL("genesis_memory_add", "run", args)
#define SEARCH(args) CALL("genesis_memory_search", "run", args)
#define LIST(args) CALL("genesis_memory", "list", args)
#define DELETE(args) CALL("genesis_memory", "delete", args)
#define STORE(id, config) CREATE("'" id "',{" config "}")
#define REWRITE(id, config) WRITE("'artifact_id':'" id "','content':{'config':{" config "}}")

/* --- helpers --- */

static void make_store(struct world_fixture *fixture, const char *action)
{
	json_decref(call_for(fixture, "alice", action, 5));
}

/* Return: the entry's id; caller frees. */
static char *add(struct world_fixture *fixture, const char *principal, const char *action)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, action, 1);

	assert_true(json_is_false(json_object_get(result, "deduplicated")));
	return strdup(json_string_value(json_object_get(result, "entry_id")));
}

static void add_more(struct world_fixture *fixture, const char *action)
{
	free(add(fixture, "alice", action));
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The texts of all entries, sorted, each followed by |. Caller frees. */
static char *texts_of(struct world_fixture *fixture, const char *list)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", list, 0);
	const json_t *const entries = json_object_get(result, "entries");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *texts[20];
	const json_t *entry;
	size_t count;

	json_array_foreach(entries, count, entry)
		texts[count] = wfs_json_text(entry, "text");
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++)
		wfs_buffer_printf(&text, "%s|", texts[i]);
	return strdup(wfs_buffer_text(&text));
}

static void assert_texts(struct world_fixture *fixture, const char *list, const char *expected)
{
	WFS_AUTO_FREE char *texts = texts_of(fixture, list);

	assert_string_equal(texts, expected);
}

/* The texts that a search finds, the most similar first, each followed by |. Caller frees. */
static char *found_by(struct world_fixture *fixture, const char *principal, const char *search)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, search, 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *hit;
	double last = 2;
	size_t i;

	json_array_foreach(json_object_get(result, "results"), i, hit) {
		const double score = json_number_value(json_object_get(hit, "score"));

		assert_true(score <= last && score >= -1 && score <= 1);
		last = score;
		wfs_buffer_printf(&text, "%s|", json_string_value(json_object_get(hit, "text")));
	}
	return strdup(wfs_buffer_text(&text));
}

static void assert_found(struct world_fixture *fixture, const char *principal, const char *search,
	const char *expected)
{
	WFS_AUTO_FREE char *found = found_by(fixture, principal, search);

	assert_string_equal(found, expected);
}

/* The action, with a long text in the place of @; caller frees. */
static char *with_long(const char *action, size_t size)
{
	const char *const place = strchr(action, '@');
	WFS_AUTO_FREE char *text = calloc(1, size + 1);
	char *made = NULL;

	assert_non_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i % 23);
	assert_true(
		asprintf(&made, "%.*s%s%s", (int)(place - action), action, text, place + 1) > 0);
	return made;
}

/* --- create --- */

/* 165 */
IN_MARKET(test_memory_store_artifact_creation)
{
	assert_call(fixture, "alice", CREATE("'test_memory'"), 5,
		"{'created_by':'alice','memory_artifact_id':'test_memory'}");
	WFS_AUTO_JSON json_t *artifact = market_document(fixture, "sys.artifact", "test_memory");
	assert_string_equal(wfs_json_text(artifact, "type"), "memory_store");
	assert_string_equal(wfs_json_text(artifact, "owner"), "alice");
	assert_string_equal(wfs_json_text(artifact, "access"), "private");
	assert_call(
		fixture, "alice", LIST("'test_memory'"), 0, "{'count':0,'entries':[],'total':0}");
	assert_int_equal(scrip_of(fixture, "alice"), 95);
	assert_int_equal(scrip_of(fixture, "genesis"), 5);
	assert_refused(fixture, "alice", CREATE("'test_memory'"), WFS_E_ALREADY_EXISTS,
		"Memory artifact 'test_memory' already exists");
	assert_refused(fixture, "bob", CREATE("'test_memory'"), WFS_E_ALREADY_EXISTS, "exists");
}

/* 165 */
IN_MARKET(a_store_without_a_name_is_named_after_its_maker)
{
	WFS_AUTO_JSON json_t *one = call_for(fixture, "alice", CREATE(""), 5);
	WFS_AUTO_JSON json_t *two = call_for(fixture, "alice", CREATE("null,{'max_entries':3}"), 5);
	const char *const name = wfs_json_text(one, "memory_artifact_id");

	assert_int_equal(strncmp(name, "memory_alice_", 13), 0);
	assert_string_not_equal(name, wfs_json_text(two, "memory_artifact_id"));
}

IN_MARKET(a_store_is_made_with_what_is_asked_for)
{
	make_store(fixture,
		CREATE("{'id':'m','config':{'auto_prune':'lowest_score','max_entries':7},"
		       "'access':'public'}"));
	WFS_AUTO_JSON json_t *artifact = market_document(fixture, "sys.artifact", "m");

	assert_string_equal(wfs_json_text(artifact, "access"), "public");
	assert_state(fixture, "sys.content", "m",
		"{'config':{'auto_prune':'lowest_score','max_entries':7}}");
	make_store(fixture, CREATE("{'id':null,'config':null,'access':null}"));
}

IN_MARKET(a_store_that_cannot_be_made_costs_nothing)
{
	assert_refused(fixture, "alice", STORE("m", "'max_entries':0"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(fixture, "alice", STORE("m", "'max_entries':100001"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(fixture, "alice", STORE("m", "'max_entries':'5'"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(fixture, "alice", STORE("m", "'auto_prune':'newest'"),
		WFS_E_INVALID_ARGUMENT, "expected oldest, lowest_score or lowest_importance");
	assert_refused(fixture, "alice", STORE("m", "'auto_prune':5"), WFS_E_INVALID_ARGUMENT,
		"auto_prune");
	assert_refused(fixture, "alice", STORE("m", "'size':5"), WFS_E_INVALID_ARGUMENT, "size");
	assert_refused(fixture, "alice", CREATE("'m','config'"), WFS_E_INVALID_ARGUMENT, "config");
	assert_refused(fixture, "alice", CREATE("'m',{},'a b'"), WFS_E_INVALID_ARGUMENT, "access");
	assert_refused(fixture, "alice", CREATE("'a b'"), WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(fixture, "alice", CREATE("''"), WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(fixture, "alice", CREATE("'bob'"), WFS_E_ALREADY_EXISTS, "principal");
	assert_refused(fixture, "alice", CREATE("'genesis_m'"), WFS_E_NOT_AUTHORIZED, "system");
	assert_refused(fixture, "poor", CREATE("'m'"), WFS_E_INSUFFICIENT_FUNDS, "5 needed");
}

IN_MARKET(a_name_that_is_too_long_for_a_key_is_refused)
{
	WFS_AUTO_FREE char *create = with_long(CREATE("'@'"), 5000);
	WFS_AUTO_FREE char *add = with_long(ADD("'@','text'"), 5000);

	assert_refused(fixture, "alice", create, WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(fixture, "alice", add, WFS_E_NOT_FOUND, "not found");
}

IN_MARKET(a_name_that_was_deleted_is_not_taken_again)
{
	make_store(fixture, CREATE("'m'"));
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));
	assert_refused(fixture, "alice", CREATE("'m'"), WFS_E_DELETED, "was deleted by 'alice'");
}

/* --- stores as artifacts --- */

#define WRITE_STORE(content) WRITE("'artifact_id':'w','type':'memory_store','content':" content)

IN_MARKET(a_store_is_written_like_any_artifact)
{
	assert_done(fixture, "alice", WRITE_STORE("{'config':{'max_entries':2}}"));
	add_more(fixture, ADD("'w','one apple'"));
	add_more(fixture, ADD("'w','two pears'"));
	add_more(fixture, ADD("'w','epsilon'"));
	assert_texts(fixture, LIST("'w'"), "epsilon|two pears|");
	assert_done(fixture, "alice", WRITE("'artifact_id':'bare','type':'memory_store'"));
	add_more(fixture, ADD("'bare','one apple'"));
}

IN_MARKET(what_is_no_content_of_a_store_is_refused)
{
	assert_done(fixture, "alice", WRITE_STORE("{}"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'hello'"));

	assert_refused(fixture, "alice", WRITE_STORE("'hello'"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(fixture, "alice", WRITE_STORE("[]"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(fixture, "alice", WRITE_STORE("null"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(fixture, "alice", WRITE_STORE("{'config':5}"), WFS_E_INVALID_ARGUMENT,
		"expected an object");
	assert_refused(fixture, "alice", WRITE_STORE("{'entries':[{'words':'x'}]}"),
		WFS_E_INVALID_ARGUMENT, "entries");
	assert_refused(fixture, "alice", WRITE_STORE("{'config':{'max_entries':1.5}}"),
		WFS_E_INVALID_ARGUMENT, "max_entries");
	assert_refused(fixture, "alice", WRITE("'artifact_id':'doc','type':'memory_store'"),
		WFS_E_INVALID_ARGUMENT, "content");
}

IN_MARKET(what_is_edited_stays_the_content_of_a_store)
{
	make_store(fixture, STORE("m", "'max_entries':20"));

	assert_refused(fixture, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'x'"),
		WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(fixture, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'0'"),
		WFS_E_INVALID_ARGUMENT, "max_entries");
	assert_done(fixture, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'1'"));
	add_more(fixture, ADD("'m','one apple'"));
	add_more(fixture, ADD("'m','two pears'"));
	assert_texts(fixture, LIST("'m'"), "two pears|");
}

IN_MARKET(a_store_with_entries_stays_one)
{
	make_store(fixture, CREATE("'m'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','type':'data'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','type':'memory_store'"));
	WFS_AUTO_FREE char *id = add(fixture, "alice", ADD("'m','one apple'"));
	WFS_AUTO_FREE char *delete = NULL;

	assert_refused(fixture, "alice", WRITE("'artifact_id':'m','type':'data'"),
		WFS_E_INVALID_ARGUMENT, "'m' has entries, so it stays a memory_store");
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);
	json_decref(call_for(fixture, "alice", delete, 0));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','type':'data'"));
}

/* --- add --- */

/* 166 */
IN_MARKET(test_memory_entry_add_with_embedding)
{
	WFS_AUTO_JSON json_t *made = json_object();
	char key[64];

	make_store(fixture, CREATE("'m'"));
	WFS_AUTO_FREE char *id =
		add(fixture, "alice", ADD("'m','This is a test entry',['one','two'],0.75"));
	WFS_AUTO_JSON json_t *embedded = call_for(
		fixture, "alice", CALL("genesis_embedder", "embed", "'This is a test entry'"), 1);

	snprintf(key, sizeof(key), "m/%s", id);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.memory", key);
	WFS_AUTO_JSON json_t *entry = json_of(text);
	assert_int_equal(strncmp(id, "mem_", 4), 0);
	assert_int_equal(strlen(id), 12);
	json_object_update(made, embedded);
	json_object_set_new(made, "id", json_string(id));
	json_object_set_new(made, "text", json_string("This is a test entry"));
	json_object_set_new(made, "tags", json_pack("[s, s]", "one", "two"));
	json_object_set_new(made, "importance", json_real(0.75));
	json_object_set_new(made, "place", json_integer(0));
	json_object_set_new(made, "tick", json_integer((json_int_t)height_of(fixture) - 2));
	assert_true(json_equal(entry, made));
	assert_int_equal(json_integer_value(json_object_get(entry, "dims")), 768);
	assert_int_equal(scrip_of(fixture, "alice"), 93);
	assert_int_equal(scrip_of(fixture, "genesis"), 7);
	assert_int_equal(used_disk_of(fixture, "alice"),
		(int64_t)strlen("{'config':{}}\n") + (int64_t)strlen(text) + 1);
}

IN_MARKET(an_entry_is_added_in_any_form_of_the_call)
{
	make_store(fixture, CREATE("'m'"));
	add_more(fixture, ADD("'m','alpha'"));
	add_more(fixture, ADD("{'memory':'m','text':'beta','importance':1}"));
	add_more(fixture, CALL("genesis_memory_add", "add", "'m','gamma',null,null"));
	add_more(fixture, CALL("genesis_memory", "add", "'m','delta',[],0"));
	add_more(fixture, CALL("genesis_memory", "run", "'add','m','epsilon'"));
	add_more(fixture,
		CALL("genesis_memory", "run", "{'method':'add','memory':'m','text':'one apple'}"));
	add_more(fixture, CALL("genesis_memory", "run", "'add',{'memory':'m','text':'two pears'}"));
	add_more(fixture, ADD("{'memory':'m','text':'no tags','tags':null,'importance':null}"));
	assert_texts(fixture, LIST("'m'"),
		"alpha|beta|delta|epsilon|gamma|no tags|one apple|two pears|");
}

/* Source: tests/data/seeds/2-artifact-intelligence. */
IN_MARKET(a_store_may_be_named_as_memory_artifact_id)
{
	make_store(fixture, CREATE("'m'"));
	add_more(fixture,
		ADD("{'memory_artifact_id':'m','text':'one apple','tags':null,'importance':0.5}"));
	add_more(
		fixture, CALL("genesis_memory", "add", "{'memory_artifact_id':'m','text':'beta'}"));
	assert_found(fixture, "alice",
		SEARCH("{'memory_artifact_id':'m','query':'apple','limit':1}"), "one apple|");
	assert_texts(fixture, LIST("{'memory_artifact_id':'m'}"), "beta|one apple|");
	assert_refused(fixture, "alice", ADD("{'memory_artifact_id':'m','memory':'m','text':'x'}"),
		WFS_E_INVALID_ARGUMENT, "'memory' is given twice");
	assert_refused(fixture, "alice", ADD("{'memory_artifact_id':null,'text':'x'}"),
		WFS_E_MISSING_ARGUMENT, "add requires 'memory'");
	assert_refused(fixture, "alice", CREATE("{'memory_artifact_id':'m'}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
}

IN_MARKET(an_entry_that_is_added_tells_success)
{
	make_store(fixture, CREATE("'m'"));
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", ADD("'m','one apple'"), 1);
	WFS_AUTO_FREE char *id = strdup(wfs_json_text(result, "entry_id"));

	json_object_del(result, "entry_id");
	assert_int_equal(strncmp(id, "mem_", 4), 0);
	assert_json_is(WFS_STEAL(result),
		"{'deduplicated':false,'memory_artifact_id':'m','stored':true,'success':true}");
}

/* 164, 166 */
IN_MARKET(what_is_no_text_is_not_added)
{
	WFS_AUTO_FREE char *too_long = with_long(ADD("'m','@'"), (16 << 10) + 1);

	make_store(fixture, CREATE("'m'"));
	assert_refused(fixture, "alice", ADD(""), WFS_E_MISSING_ARGUMENT, "requires 'memory'");
	assert_refused(fixture, "alice", ADD("'m'"), WFS_E_MISSING_ARGUMENT, "requires 'text'");
	assert_refused(fixture, "alice", ADD("'m',null"), WFS_E_MISSING_ARGUMENT, "'text'");
	assert_refused(fixture, "alice", ADD("'m',''"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(fixture, "alice", ADD("'m',' \\t\\n '"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(
		fixture, "alice", ADD("'m','\u00a0\u2003'"), WFS_E_INVALID_ARGUMENT, "empty");
	assert_refused(fixture, "alice", ADD("'m',5"), WFS_E_INVALID_ARGUMENT, "/text");
	assert_refused(fixture, "alice", ADD("'m','a\\u0000b'"), WFS_E_INVALID_ARGUMENT, "/text");
	assert_refused(fixture, "alice", too_long, WFS_E_TOO_LARGE, "at most 16384");
	assert_texts(fixture, LIST("'m'"), "");
}

IN_MARKET(a_text_of_the_greatest_size_is_added)
{
	WFS_AUTO_FREE char *longest = with_long(ADD("'m','@'"), 16 << 10);

	make_store(fixture, CREATE("'m'"));
	add_more(fixture, longest);
}

#define TAGS_8 "'a','b','c','d','e','f','g','h'"
#define TAG_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

IN_MARKET(tags_and_importance_have_bounds)
{
	make_store(fixture, CREATE("'m'"));
	add_more(fixture, ADD("'m','alpha',[" TAGS_8 "," TAGS_8 "," TAGS_8 "," TAGS_8 "]"));
	add_more(fixture, ADD("'m','beta',['" TAG_64 "'],1.0"));

	assert_refused(fixture, "alice",
		ADD("'m','x',[" TAGS_8 "," TAGS_8 "," TAGS_8 "," TAGS_8 ",'z']"), WFS_E_TOO_LARGE,
		"'tags' has 33");
	assert_refused(fixture, "alice", ADD("'m','x',['y','" TAG_64 "z']"), WFS_E_TOO_LARGE,
		"number 2 has 65 bytes");
	assert_refused(fixture, "alice", ADD("'m','x','tag'"), WFS_E_INVALID_ARGUMENT, "/tags");
	assert_refused(fixture, "alice", ADD("'m','x',[5]"), WFS_E_INVALID_ARGUMENT, "/tags/0");
	assert_refused(fixture, "alice", ADD("'m','x',[],1.01"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(fixture, "alice", ADD("'m','x',[],-0.01"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(fixture, "alice", ADD("'m','x',[],'1'"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(
		fixture, "alice", ADD("'m','x',[],1,1"), WFS_E_INVALID_ARGUMENT, "at most 4");
	assert_refused(fixture, "alice", ADD("{'memory':'m','text':'x','size':1}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
}

/* 167 */
IN_MARKET(what_says_the_same_is_stored_once)
{
	make_store(fixture, STORE("m", "'max_entries':3"));
	WFS_AUTO_FREE char *id =
		add(fixture, "alice", ADD("'m','prices of wheat rise in winter',['first']"));
	add_more(fixture, ADD("'m','This is a test entry'"));
	add_more(fixture, ADD("'m','This is a test entry 2'")); /* 0.86 */
	WFS_AUTO_JSON json_t *exact = call_for(
		fixture, "alice", ADD("'m','prices of wheat rise in winter',['second'],1"), 1);
	WFS_AUTO_JSON json_t *alike =
		call_for(fixture, "alice", ADD("'m','wheat prices rise every winter'"), 1);

	assert_string_equal(wfs_json_text(exact, "entry_id"), id);
	assert_string_equal(wfs_json_text(alike, "entry_id"), id);
	assert_true(json_is_true(json_object_get(exact, "deduplicated")));
	assert_true(json_is_true(json_object_get(alike, "deduplicated")));
	assert_true(json_number_value(json_object_get(exact, "similarity")) <= 1);
	assert_true(json_number_value(json_object_get(alike, "similarity")) > 0.95);
	assert_texts(fixture, LIST("'m'"),
		"This is a test entry|This is a test entry 2|prices of wheat rise in winter|");
}

/* 166 */
IN_MARKET(a_store_that_is_none_is_told)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'doc','content':'hello'"));
	assert_refused(fixture, "alice", ADD("'none','x'"), WFS_E_NOT_FOUND, "'none' not found");
	assert_refused(fixture, "alice", SEARCH("'none','x'"), WFS_E_NOT_FOUND, "'none' not found");
	assert_refused(
		fixture, "alice", ADD("'doc','x'"), WFS_E_INVALID_TYPE, "not a memory_store");
	assert_refused(
		fixture, "alice", SEARCH("'doc','x'"), WFS_E_INVALID_TYPE, "not a memory_store");
	assert_refused(fixture, "alice", LIST("'doc'"), WFS_E_INVALID_TYPE, "type: data");
	assert_refused(
		fixture, "alice", DELETE("'doc','mem_00000001'"), WFS_E_INVALID_TYPE, "data");
}

/* 166, 168, 170 */
IN_MARKET(a_private_store_is_for_its_owner)
{
	WFS_AUTO_FREE char *delete = NULL;

	make_store(fixture, CREATE("'m'"));
	WFS_AUTO_FREE char *id = add(fixture, "alice", ADD("'m','one apple'"));
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);

	assert_refused(fixture, "bob", ADD("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not write 'm'");
	assert_refused(fixture, "bob", SEARCH("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not read 'm'");
	assert_refused(fixture, "bob", LIST("'m'"), WFS_E_NOT_AUTHORIZED, "may not read 'm'");
	assert_refused(fixture, "bob", delete, WFS_E_NOT_AUTHORIZED, "may not write 'm'");
}

IN_MARKET(whoever_may_write_a_store_adds_to_it_at_its_owners_disk)
{
	make_store(fixture, CREATE("{'id':'m','access':'public'}"));
	const int64_t before = used_disk_of(fixture, "alice");
	free(add(fixture, "bob", ADD("'m','one apple'")));
	assert_found(fixture, "bob", SEARCH("'m','apple'"), "one apple|");
	assert_true(used_disk_of(fixture, "alice") > before + 4096);
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
	assert_int_equal(scrip_of(fixture, "bob"), 48);
}

IN_MARKET(a_contract_says_who_may_add)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'rule','code':'function check(who, use) return {allowed = "
		      "who == \\'bob\\' and use == \\'write\\', reason = \\'no\\'} end'"));
	make_store(fixture, CREATE("{'id':'m','access':'rule'}"));

	free(add(fixture, "bob", ADD("'m','one apple'")));
	assert_refused(fixture, "bob", SEARCH("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not read");
	assert_refused(fixture, "alice", ADD("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not write");
}

/* --- search --- */

static void add_some(struct world_fixture *fixture)
{
	make_store(fixture, CREATE("'m'"));
	add_more(fixture, ADD("'m','prices of wheat rise in winter',['wheat','winter']"));
	add_more(fixture, ADD("'m','the cat sleeps on the sofa'"));
	add_more(fixture, ADD("'m','trading with beta'"));
	add_more(fixture, ADD("'m','profitable trading'"));
	add_more(fixture, ADD("'m','This is a test entry'"));
	add_more(fixture, ADD("'m','one apple'"));
}

/* 170 */
IN_MARKET(test_memory_search_semantic)
{
	add_some(fixture);
	WFS_AUTO_JSON json_t *result =
		call_for(fixture, "alice", SEARCH("'m','how do wheat prices change',1"), 1);
	const json_t *const hit = json_array_get(json_object_get(result, "results"), 0);
	WFS_AUTO_JSON json_t *tags = json_of("['wheat','winter']");

	assert_string_equal(wfs_json_text(hit, "text"), "prices of wheat rise in winter");
	assert_true(json_number_value(json_object_get(hit, "score")) > 0.5);
	assert_true(json_equal(json_object_get(hit, "tags"), tags));
	assert_true(json_is_integer(json_object_get(hit, "tick")));
	assert_null(json_object_get(hit, "embedding"));
	assert_int_equal(json_integer_value(json_object_get(result, "count")), 1);
	assert_int_equal(json_integer_value(json_object_get(result, "total_entries")), 6);
	assert_found(fixture, "alice", SEARCH("'m','beta trading',2"),
		"trading with beta|profitable trading|");
}

/* 170 */
IN_MARKET(a_search_gives_five_unless_it_is_told)
{
	static const char *const limits[] = {"0", "1001", "-1", "2.5", "'2'"};

	add_some(fixture);
	WFS_AUTO_JSON json_t *five = call_for(fixture, "alice", SEARCH("'m','cat'"), 1);
	WFS_AUTO_JSON json_t *all =
		call_for(fixture, "alice", CALL("genesis_memory", "search", "'m','cat',1000"), 1);
	WFS_AUTO_JSON json_t *same = call_for(fixture, "alice",
		CALL("genesis_memory", "run", "{'method':'search','memory':'m','query':'cat'}"), 1);

	assert_int_equal(json_integer_value(json_object_get(five, "count")), 5);
	assert_int_equal(json_integer_value(json_object_get(all, "count")), 6);
	assert_true(json_equal(five, same));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++) {
		WFS_AUTO_FREE char *search = NULL;

		assert_true(asprintf(&search, SEARCH("'m','cat',%s"), limits[i]) > 0);
		assert_refused(fixture, "alice", search, WFS_E_INVALID_ARGUMENT, "limit");
	}
}

IN_MARKET(equal_scores_are_in_order_of_ids)
{
	const json_t *hit;
	const char *last = "";
	size_t i;

	make_store(fixture, CREATE("'m'"));
	add_more(fixture, ADD("'m','one apple'"));
	add_more(fixture, ADD("'m','two pears'"));
	add_more(fixture, ADD("'m','alpha'"));
	add_more(fixture, ADD("'m','beta'"));
	WFS_AUTO_JSON json_t *result =
		call_for(fixture, "alice", SEARCH("'m','This is a test entry'"), 1);

	json_array_foreach(json_object_get(result, "results"), i, hit) {
		assert_true(json_number_value(json_object_get(hit, "score")) == 0);
		assert_true(strcmp(last, wfs_json_text(hit, "id")) < 0);
		last = wfs_json_text(hit, "id");
	}
	assert_int_equal(i, 4);
}

/* 169 */
IN_MARKET(what_finds_nothing_is_paid_all_the_same)
{
	make_store(fixture, CREATE("'m'"));
	assert_call(fixture, "alice", SEARCH("'m','anything'"), 1,
		"{'count':0,'memory_artifact_id':'m','results':[],'total_entries':0}");
	assert_refused(fixture, "alice", SEARCH("'m'"), WFS_E_MISSING_ARGUMENT, "'query'");
	assert_refused(fixture, "alice", SEARCH("'m',' '"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(fixture, "poor", SEARCH("'m','x'"), WFS_E_INSUFFICIENT_FUNDS, "1 needed");
}

IN_MARKET(who_searches_what_costs_to_read_pays_its_owner)
{
	make_store(fixture, CREATE("{'id':'m','access':'freeware'}"));
	add_more(fixture, ADD("'m','one apple'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','policy':{'read_price':20}"));

	json_decref(call_for(fixture, "bob", SEARCH("'m','apple'"), 21));
	assert_int_equal(scrip_of(fixture, "bob"), 29);
	assert_int_equal(scrip_of(fixture, "alice"), 114);
	json_decref(call_for(fixture, "bob", LIST("'m'"), 20));
	assert_int_equal(scrip_of(fixture, "bob"), 9);
	assert_refused(
		fixture, "bob", SEARCH("'m','apple'"), WFS_E_INSUFFICIENT_FUNDS, "20 needed");
	assert_found(fixture, "alice", SEARCH("'m','apple'"), "one apple|");
	assert_int_equal(scrip_of(fixture, "alice"), 133);
}

/* --- list, delete --- */

/* 168 */
IN_MARKET(entries_are_listed_in_order_of_their_ids)
{
	const json_t *entry;
	const char *last = "";
	size_t i;

	add_some(fixture);
	WFS_AUTO_JSON json_t *all = call_for(fixture, "alice", LIST("'m'"), 0);
	WFS_AUTO_JSON json_t *part = call_for(fixture, "alice", LIST("'m',2,3"), 0);
	const json_t *const entries = json_object_get(all, "entries");

	json_array_foreach(entries, i, entry) {
		assert_true(strcmp(last, wfs_json_text(entry, "id")) < 0);
		assert_null(json_object_get(entry, "embedding"));
		assert_int_equal(json_integer_value(json_object_get(entry, "dims")), 768);
		last = wfs_json_text(entry, "id");
	}
	assert_int_equal(i, 6);
	assert_int_equal(json_integer_value(json_object_get(part, "count")), 2);
	assert_int_equal(json_integer_value(json_object_get(part, "total")), 6);
	assert_true(json_equal(
		json_array_get(json_object_get(part, "entries"), 1), json_array_get(entries, 4)));
	assert_call(fixture, "alice", LIST("'m',5,6"), 0, "{'count':0,'entries':[],'total':6}");
	assert_call(fixture, "alice", LIST("'m',0"), 0, "{'count':0,'entries':[],'total':6}");
	assert_refused(fixture, "alice", LIST("'m',1001"), WFS_E_INVALID_ARGUMENT, "0 to 1000");
	assert_refused(fixture, "alice", LIST("'m',1,-1"), WFS_E_INVALID_ARGUMENT, "/offset");
}

IN_MARKET(entries_of_a_store_whose_name_begins_alike_are_another_ones)
{
	make_store(fixture, CREATE("'m'"));
	make_store(fixture, CREATE("'m.1'"));
	make_store(fixture, CREATE("'m1'"));
	add_more(fixture, ADD("'m','one apple'"));
	add_more(fixture, ADD("'m.1','two pears'"));
	add_more(fixture, ADD("'m1','epsilon'"));
	assert_texts(fixture, LIST("'m'"), "one apple|");
	assert_found(fixture, "alice", SEARCH("'m','pears'"), "one apple|");
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));
	assert_found(fixture, "alice", SEARCH("'m1','pears'"), "epsilon|");
	assert_found(fixture, "alice", SEARCH("'m.1','pears'"), "two pears|");
}

/* 168 */
IN_MARKET(an_entry_that_is_deleted_is_gone)
{
	WFS_AUTO_FREE char *delete = NULL;
	WFS_AUTO_FREE char *expected = NULL;

	make_store(fixture, CREATE("'m'"));
	const int64_t before = used_disk_of(fixture, "alice");
	WFS_AUTO_FREE char *id = add(fixture, "alice", ADD("'m','one apple'"));
	add_more(fixture, ADD("'m','two pears'"));
	const int64_t with_both = used_disk_of(fixture, "alice");
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);
	assert_true(asprintf(&expected, "{'deleted_entry_id':'%s','remaining_entries':1}", id) > 0);

	assert_call(fixture, "alice", delete, 0, expected);
	assert_int_equal(used_disk_of(fixture, "alice") - before, (with_both - before) / 2);
	assert_found(fixture, "alice", SEARCH("'m','apple'"), "two pears|");
	assert_refused(fixture, "alice", delete, WFS_E_NOT_FOUND, "not found in 'm'");
	add_more(fixture, ADD("'m','one apple'"));
	assert_found(fixture, "alice", SEARCH("'m','apple'"), "one apple|two pears|");
}

IN_MARKET(what_is_no_id_of_an_entry_is_not_found)
{
	static const char *const ids[] = {"", "mem_", "mem_1", "mem_0000000g", "mem_000000001",
		"mem_-0000001", "MEM_00000001", "mem_ABCDEF00", "mem_00000001/x", "../m"};

	make_store(fixture, CREATE("'m'"));
	add_more(fixture, ADD("'m','one apple'"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *delete = NULL;

		assert_true(asprintf(&delete, DELETE("'m','%s'"), ids[i]) > 0);
		assert_refused(fixture, "alice", delete, WFS_E_NOT_FOUND, "not found in 'm'");
	}
}

/* --- genesis_embedder --- */

/* 164 */
IN_MARKET(a_text_becomes_a_vector)
{
	static const char *const others[] = {
		CALL("genesis_embedder", "run", "'one apple'"),
		CALL("genesis_embedder", "run", "{'text':'one apple'}"),
		CALL("genesis_embedder", "run", "{'method':'embed','text':'one apple'}"),
		INVOKE("'artifact_id':'genesis_embedder','args':['one apple']"),
	};
	WFS_AUTO_JSON json_t *one =
		call_for(fixture, "alice", CALL("genesis_embedder", "embed", "'one apple'"), 1);
	WFS_AUTO_JSON json_t *same =
		call_for(fixture, "bob", CALL("genesis_embedder", "run", "'embed','one apple'"), 1);

	assert_true(json_equal(one, same));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++) {
		WFS_AUTO_JSON json_t *other = call_for(fixture, "alice", others[i], 1);

		print_message("%s\n", others[i]);
		assert_true(json_equal(one, other));
	}
	assert_int_equal(json_string_length(json_object_get(one, "embedding")), 768 * 4 / 3 * 4);
	assert_string_equal(wfs_json_text(one, "model"), "local-1");
	assert_call(fixture, "alice", CALL("genesis_embedder", "get_config", ""), 0,
		"{'cost_per_embedding':1,'dims':768,'model':'local-1'}");
	assert_refused(fixture, "alice", CALL("genesis_embedder", "embed", ""),
		WFS_E_MISSING_ARGUMENT, "'text'");
	assert_refused(fixture, "alice", CALL("genesis_embedder", "embed", "' '"),
		WFS_E_INVALID_ARGUMENT, "empty");
	assert_refused(fixture, "poor", CALL("genesis_embedder", "embed", "'x'"),
		WFS_E_INSUFFICIENT_FUNDS, "1 needed");
}

/* A text as the only argument is a text, even if it is also the name of a method. */
IN_MARKET(a_text_that_is_called_like_a_method_is_embedded)
{
	WFS_AUTO_JSON json_t *text =
		call_for(fixture, "alice", CALL("genesis_embedder", "run", "'get_config'"), 1);

	assert_int_equal(json_integer_value(json_object_get(text, "dims")), 768);
	json_decref(call_for(
		fixture, "alice", CALL("genesis_embedder", "run", "{'method':'get_config'}"), 0));
	assert_refused(fixture, "alice", CALL("genesis_embedder", "run", ""),
		WFS_E_MISSING_ARGUMENT, "embed requires 'text'");
	assert_refused(fixture, "alice", CALL("genesis_embedder", "run", "'one','apple'"),
		WFS_E_INVALID_ARGUMENT, "embed takes at most 1 arguments, got 2");
}

/* --- pruning --- */

/* 171 */
IN_MARKET(test_memory_pruning)
{
	make_store(fixture, STORE("m", "'max_entries':3,'auto_prune':'lowest_importance'"));
	add_more(fixture, ADD("'m','alpha',[],0.5"));
	add_more(fixture, ADD("'m','beta',[],0.25"));
	add_more(fixture, ADD("'m','gamma',[],0.25"));

	add_more(fixture, ADD("'m','delta',[],1")); /* of two equal entries the older one goes */
	assert_texts(fixture, LIST("'m'"), "alpha|delta|gamma|");
	WFS_AUTO_JSON json_t *least =
		call_for(fixture, "alice", ADD("'m','epsilon',[],0.1"), 1); /* goes itself */
	assert_true(json_is_false(json_object_get(least, "stored")));
	assert_true(json_is_true(json_object_get(least, "success")));
	assert_int_equal(strlen(wfs_json_text(least, "entry_id")), 12);
	assert_texts(fixture, LIST("'m'"), "alpha|delta|gamma|");
	add_more(fixture,
		ADD("'m','one apple',[],0.25")); /* as important as the least: the older goes */
	assert_texts(fixture, LIST("'m'"), "alpha|delta|one apple|");
	assert_found(fixture, "alice", SEARCH("'m','alpha',1"), "alpha|");
}

/* As `entries.sort(key=importance); entries = entries[-max_entries:]` after each new entry. */
IN_MARKET(of_three_the_two_most_important_stay)
{
	make_store(fixture, STORE("m", "'max_entries':2,'auto_prune':'lowest_importance'"));
	add_more(fixture, ADD("'m','alpha',[],0.9"));
	add_more(fixture, ADD("'m','beta',[],0.8"));
	add_more(fixture, ADD("'m','gamma',[],0.1"));
	assert_texts(fixture, LIST("'m'"), "alpha|beta|");
	add_more(fixture, ADD("'m','delta',[],0.85"));
	assert_texts(fixture, LIST("'m'"), "alpha|delta|");
}

/* Their ids are in no order, and they have one tick. */
IN_MARKET(of_entries_that_one_record_adds_the_first_goes_first)
{
	static const char *const rules[] = {"oldest", "lowest_score", "lowest_importance"};

	assert_done(fixture, "alice",
		CODE("all",
			"local store = ... for _, text in ipairs({\\'alpha\\', \\'beta\\', "
			"\\'gamma\\', \\'delta\\', \\'epsilon\\'}) do "
			"local r = invoke(\\'genesis_memory_add\\', store, text) "
			"if not r.ok then error(r.error.message) end end"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(rules); i++) {
		WFS_AUTO_FREE char *create = NULL;
		WFS_AUTO_FREE char *all = NULL;
		WFS_AUTO_FREE char *list = NULL;

		print_message("%s\n", rules[i]);
		assert_true(asprintf(&create,
				    CREATE("{'id':'m%zu','access':'public','config':"
					   "{'max_entries':2,'auto_prune':'%s'}}"),
				    i, rules[i]) > 0);
		assert_true(asprintf(&all, CALL("all", "run", "'m%zu'"), i) > 0);
		assert_true(asprintf(&list, LIST("'m%zu'"), i) > 0);
		make_store(fixture, create);
		assert_done(fixture, "alice", ACTION("transfer", "'to':'all','amount':5"));
		assert_done(fixture, "alice", all);
		assert_texts(fixture, list, "delta|epsilon|");
	}
}

IN_MARKET(the_oldest_goes_first)
{
	make_store(fixture, STORE("m", "'max_entries':2"));
	add_more(fixture, ADD("'m','alpha',[],1"));
	add_more(fixture, ADD("'m','beta',[],0"));
	/* Text that is stored already: its entry stays as old. */
	json_decref(call_for(fixture, "alice", ADD("'m','alpha'"), 1));
	add_more(fixture, ADD("'m','gamma'"));
	assert_texts(fixture, LIST("'m'"), "beta|gamma|");
	add_more(fixture, ADD("'m','alpha'"));
	assert_texts(fixture, LIST("'m'"), "alpha|gamma|");
}

IN_MARKET(what_was_found_last_by_the_worst_score_goes_first)
{
	make_store(fixture, STORE("m", "'max_entries':3,'auto_prune':'lowest_score'"));
	add_more(fixture, ADD("'m','alpha'"));
	add_more(fixture, ADD("'m','beta'"));
	add_more(fixture, ADD("'m','gamma'"));
	json_decref(call_for(fixture, "alice", SEARCH("'m','alpha',1"), 1));
	json_decref(call_for(fixture, "alice", SEARCH("'m','trading with beta',1"), 1));

	add_more(fixture, ADD("'m','delta'")); /* no search found gamma */
	assert_texts(fixture, LIST("'m'"), "alpha|beta|delta|");
	json_decref(call_for(fixture, "alice", SEARCH("'m','delta',1"), 1));
	add_more(fixture, ADD("'m','epsilon'")); /* beta: 0.71 */
	assert_texts(fixture, LIST("'m'"), "alpha|delta|epsilon|");
	assert_int_equal(world_fixture_open(fixture), 0); /* the scores are computed again */
	add_more(fixture, ADD("'m','one apple'"));        /* no search found epsilon */
	assert_texts(fixture, LIST("'m'"), "alpha|delta|one apple|");
	json_decref(call_for(fixture, "alice", SEARCH("'m','one apple',1"), 1));
	add_more(fixture, ADD("'m','two pears'")); /* each has 1: the oldest goes */
	assert_texts(fixture, LIST("'m'"), "delta|one apple|two pears|");
}

IN_MARKET(a_store_whose_bound_is_lowered_is_cut_when_it_is_added_to)
{
	make_store(fixture, CREATE("'m'"));
	const int64_t empty = used_disk_of(fixture, "alice") - (int64_t)strlen("{'config':{}}\n");
	add_more(fixture, ADD("'m','alpha',[],0.9"));
	const int64_t one = used_disk_of(fixture, "alice") - (int64_t)strlen("{'config':{}}\n");
	add_more(fixture, ADD("'m','gamma',[],0.1"));
	add_more(fixture, ADD("'m','delta',[],0.5"));
	add_more(fixture, ADD("'m','omega',[],0.6"));
	assert_done(
		fixture, "alice", REWRITE("m", "'auto_prune':'lowest_importance','max_entries':1"));
	assert_call(fixture, "alice", LIST("'m',0"), 0, "{'count':0,'entries':[],'total':4}");

	add_more(fixture, ADD("'m','zulus',[],0.9"));
	assert_texts(fixture, LIST("'m'"), "zulus|");
	assert_int_equal(used_disk_of(fixture, "alice") - empty,
		one - empty +
			(int64_t)strlen("{'config':{'auto_prune':'lowest_importance','max_entries':"
					"1}}\n"));
}

IN_MARKET(a_store_that_is_deleted_gives_its_disk_back)
{
	const int64_t before = used_disk_of(fixture, "alice");

	make_store(fixture, STORE("m", "'auto_prune':'lowest_score'"));
	add_more(fixture, ADD("'m','alpha'"));
	add_more(fixture, ADD("'m','beta'"));
	json_decref(call_for(fixture, "alice", SEARCH("'m','alpha'"), 1));
	assert_done(fixture, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));

	assert_int_equal(used_disk_of(fixture, "alice"), before);
	WFS_AUTO_FREE char *text = market_text(fixture);
	assert_null(strstr(text, "sys.memory"));
	assert_refused(
		fixture, "alice", SEARCH("'m','x'"), WFS_E_DELETED, "was deleted by 'alice'");
}

IN_MARKET(what_has_no_room_is_not_added)
{
	make_store(fixture, CREATE("{'id':'m','access':'public'}"));
	assert_done(fixture, "alice",
		ACTION("transfer_ownership", "'artifact_id':'m','to':'bob'")); /* of 30,000 bytes */
	add_more(fixture, ADD("'m','alpha'"));
	add_more(fixture, ADD("'m','beta'"));
	add_more(fixture, ADD("'m','gamma'"));
	add_more(fixture, ADD("'m','delta'"));
	add_more(fixture, ADD("'m','epsilon'"));
	add_more(fixture, ADD("'m','one apple'"));
	add_more(fixture, ADD("'m','two pears'"));
	assert_refused(fixture, "alice", ADD("'m','trains'"), WFS_E_QUOTA_EXCEEDED, "of its disk");
	assert_refused(fixture, "bob", ADD("'m','trains'"), WFS_E_QUOTA_EXCEEDED, "of its disk");
	assert_done(fixture, "bob", REWRITE("m", "'max_entries':7"));
	add_more(fixture, ADD("'m','trains'"));
	assert_texts(fixture, LIST("'m'"), "beta|delta|epsilon|gamma|one apple|trains|two pears|");
}
