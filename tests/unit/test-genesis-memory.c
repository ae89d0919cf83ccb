/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_memory, its methods that stand alone, and genesis_embedder: each as called, and folded again.
 * Numbers in comments are those of cases of a comparable system. */
#include "tests/unit/market-fixture.h"

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

/* The texts of all entries, in order of text, with | behind each. Caller frees. */
static char *texts_of(struct world_fixture *fixture, const char *list)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", list, 0);
	const json_t *const entries = json_object_get(result, "entries");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *texts[20];
	const json_t *entry;
	size_t count;

	json_array_foreach(entries, count, entry) texts[count] = wfs_json_text(entry, "text");
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

/* Texts of what is found, the likest first, with | behind each. Caller frees. */
static char *found_by(struct world_fixture *fixture, const char *principal, const char *search)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, principal, search, 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *hit;
	double last = 2;
	size_t i;

	json_array_foreach(json_object_get(result, "results"), i, hit)
	{
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

/* An action with a long text in the place of @; caller frees. */
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
static void test_memory_store_artifact_creation(void **state)
{
	struct world_fixture *const fixture = *state;

	assert_call(*state, "alice", CREATE("'test_memory'"), 5,
		"{'created_by':'alice','memory_artifact_id':'test_memory'}");
	WFS_AUTO_JSON json_t *artifact = document_of(*state, "sys.artifact", "test_memory");
	assert_string_equal(wfs_json_text(artifact, "type"), "memory_store");
	assert_string_equal(wfs_json_text(artifact, "owner"), "alice");
	assert_string_equal(wfs_json_text(artifact, "access"), "private");
	assert_call(
		*state, "alice", LIST("'test_memory'"), 0, "{'count':0,'entries':[],'total':0}");
	assert_int_equal(scrip_of(fixture, "alice"), 95);
	assert_int_equal(scrip_of(fixture, "genesis"), 5);
	assert_refused(*state, "alice", CREATE("'test_memory'"), WFS_E_ALREADY_EXISTS,
		"Memory artifact 'test_memory' already exists");
	assert_refused(*state, "bob", CREATE("'test_memory'"), WFS_E_ALREADY_EXISTS, "exists");
}

/* 165 */
static void a_store_without_a_name_is_named_after_its_maker(void **state)
{
	WFS_AUTO_JSON json_t *one = call_for(*state, "alice", CREATE(""), 5);
	WFS_AUTO_JSON json_t *two = call_for(*state, "alice", CREATE("null,{'max_entries':3}"), 5);
	const char *const name = wfs_json_text(one, "memory_artifact_id");

	assert_int_equal(strncmp(name, "memory_alice_", 13), 0);
	assert_string_not_equal(name, wfs_json_text(two, "memory_artifact_id"));
}

static void a_store_is_made_with_what_is_asked_for(void **state)
{
	make_store(*state,
		CREATE("{'id':'m','config':{'auto_prune':'lowest_score','max_entries':7},"
		       "'access':'public'}"));
	WFS_AUTO_JSON json_t *artifact = document_of(*state, "sys.artifact", "m");

	assert_string_equal(wfs_json_text(artifact, "access"), "public");
	assert_state(*state, "sys.content", "m",
		"{'config':{'auto_prune':'lowest_score','max_entries':7}}");
	make_store(*state, CREATE("{'id':null,'config':null,'access':null}"));
}

static void a_store_that_cannot_be_made_costs_nothing(void **state)
{
	assert_refused(*state, "alice", STORE("m", "'max_entries':0"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(*state, "alice", STORE("m", "'max_entries':100001"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(*state, "alice", STORE("m", "'max_entries':'5'"), WFS_E_INVALID_ARGUMENT,
		"max_entries");
	assert_refused(*state, "alice", STORE("m", "'auto_prune':'newest'"), WFS_E_INVALID_ARGUMENT,
		"expected oldest, lowest_score or lowest_importance");
	assert_refused(*state, "alice", STORE("m", "'auto_prune':5"), WFS_E_INVALID_ARGUMENT,
		"auto_prune");
	assert_refused(*state, "alice", STORE("m", "'size':5"), WFS_E_INVALID_ARGUMENT, "size");
	assert_refused(*state, "alice", CREATE("'m','config'"), WFS_E_INVALID_ARGUMENT, "config");
	assert_refused(*state, "alice", CREATE("'m',{},'a b'"), WFS_E_INVALID_ARGUMENT, "access");
	assert_refused(*state, "alice", CREATE("'a b'"), WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(*state, "alice", CREATE("''"), WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(*state, "alice", CREATE("'bob'"), WFS_E_ALREADY_EXISTS, "principal");
	assert_refused(*state, "alice", CREATE("'genesis_m'"), WFS_E_NOT_AUTHORIZED, "system");
	assert_refused(*state, "poor", CREATE("'m'"), WFS_E_INSUFFICIENT_FUNDS, "5 needed");
}

static void a_name_that_is_too_long_for_a_key_is_refused(void **state)
{
	WFS_AUTO_FREE char *create = with_long(CREATE("'@'"), 5000);
	WFS_AUTO_FREE char *add = with_long(ADD("'@','text'"), 5000);

	assert_refused(*state, "alice", create, WFS_E_INVALID_ARGUMENT, "artifact_id");
	assert_refused(*state, "alice", add, WFS_E_NOT_FOUND, "not found");
}

static void a_name_that_was_deleted_is_not_taken_again(void **state)
{
	make_store(*state, CREATE("'m'"));
	assert_done(*state, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));
	assert_refused(*state, "alice", CREATE("'m'"), WFS_E_DELETED, "was deleted by 'alice'");
}

/* --- stores as artifacts --- */

#define WRITE_STORE(content) WRITE("'artifact_id':'w','type':'memory_store','content':" content)

static void a_store_is_written_like_any_artifact(void **state)
{
	assert_done(*state, "alice", WRITE_STORE("{'config':{'max_entries':2}}"));
	add_more(*state, ADD("'w','one apple'"));
	add_more(*state, ADD("'w','two pears'"));
	add_more(*state, ADD("'w','epsilon'"));
	assert_texts(*state, LIST("'w'"), "epsilon|two pears|");
	assert_done(*state, "alice", WRITE("'artifact_id':'bare','type':'memory_store'"));
	add_more(*state, ADD("'bare','one apple'"));
}

static void what_is_no_content_of_a_store_is_refused(void **state)
{
	assert_done(*state, "alice", WRITE_STORE("{}"));
	assert_done(*state, "alice", WRITE("'artifact_id':'doc','content':'hello'"));

	assert_refused(*state, "alice", WRITE_STORE("'hello'"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(*state, "alice", WRITE_STORE("[]"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(*state, "alice", WRITE_STORE("null"), WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(*state, "alice", WRITE_STORE("{'config':5}"), WFS_E_INVALID_ARGUMENT,
		"expected an object");
	assert_refused(*state, "alice", WRITE_STORE("{'entries':[{'words':'x'}]}"),
		WFS_E_INVALID_ARGUMENT, "entries");
	assert_refused(*state, "alice", WRITE_STORE("{'config':{'max_entries':1.5}}"),
		WFS_E_INVALID_ARGUMENT, "max_entries");
	assert_refused(*state, "alice", WRITE("'artifact_id':'doc','type':'memory_store'"),
		WFS_E_INVALID_ARGUMENT, "content");
}

static void what_is_edited_stays_the_content_of_a_store(void **state)
{
	make_store(*state, STORE("m", "'max_entries':20"));

	assert_refused(*state, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'x'"),
		WFS_E_INVALID_ARGUMENT, "content");
	assert_refused(*state, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'0'"),
		WFS_E_INVALID_ARGUMENT, "max_entries");
	assert_done(*state, "alice",
		ACTION("edit_artifact", "'artifact_id':'m','old_string':'20','new_string':'1'"));
	add_more(*state, ADD("'m','one apple'"));
	add_more(*state, ADD("'m','two pears'"));
	assert_texts(*state, LIST("'m'"), "two pears|");
}

static void a_store_with_entries_stays_one(void **state)
{
	make_store(*state, CREATE("'m'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'m','type':'data'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'m','type':'memory_store'"));
	WFS_AUTO_FREE char *id = add(*state, "alice", ADD("'m','one apple'"));
	WFS_AUTO_FREE char *delete = NULL;

	assert_refused(*state, "alice", WRITE("'artifact_id':'m','type':'data'"),
		WFS_E_INVALID_ARGUMENT, "'m' has entries, so it stays a memory_store");
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);
	json_decref(call_for(*state, "alice", delete, 0));
	assert_done(*state, "alice", WRITE("'artifact_id':'m','type':'data'"));
}

/* --- add --- */

/* 166 */
static void test_memory_entry_add_with_embedding(void **state)
{
	WFS_AUTO_JSON json_t *made = json_object();
	struct world_fixture *const fixture = *state;
	char key[64];

	make_store(*state, CREATE("'m'"));
	WFS_AUTO_FREE char *id =
		add(*state, "alice", ADD("'m','This is a test entry',['one','two'],0.75"));
	WFS_AUTO_JSON json_t *embedded = call_for(
		*state, "alice", CALL("genesis_embedder", "embed", "'This is a test entry'"), 1);

	snprintf(key, sizeof(key), "m/%s", id);
	WFS_AUTO_FREE char *text = state_at(*state, WFS_HEIGHT_HEAD, "sys.memory", key);
	WFS_AUTO_JSON json_t *entry = json_of(text);
	assert_int_equal(strncmp(id, "mem_", 4), 0);
	assert_int_equal(strlen(id), 12);
	json_object_update(made, embedded);
	json_object_set_new(made, "id", json_string(id));
	json_object_set_new(made, "text", json_string("This is a test entry"));
	json_object_set_new(made, "tags", json_pack("[s, s]", "one", "two"));
	json_object_set_new(made, "importance", json_real(0.75));
	json_object_set_new(made, "place", json_integer(0));
	json_object_set_new(made, "tick", json_integer((json_int_t)height_of(*state) - 2));
	assert_true(json_equal(entry, made));
	assert_int_equal(json_integer_value(json_object_get(entry, "dims")), 768);
	assert_int_equal(scrip_of(fixture, "alice"), 93);
	assert_int_equal(scrip_of(fixture, "genesis"), 7);
	assert_int_equal(used_disk_of(fixture, "alice"),
		(int64_t)strlen("{'config':{}}\n") + (int64_t)strlen(text) + 1);
}

static void an_entry_is_added_in_any_form_of_the_call(void **state)
{
	make_store(*state, CREATE("'m'"));
	add_more(*state, ADD("'m','alpha'"));
	add_more(*state, ADD("{'memory':'m','text':'beta','importance':1}"));
	add_more(*state, CALL("genesis_memory_add", "add", "'m','gamma',null,null"));
	add_more(*state, CALL("genesis_memory", "add", "'m','delta',[],0"));
	add_more(*state, CALL("genesis_memory", "run", "'add','m','epsilon'"));
	add_more(*state,
		CALL("genesis_memory", "run", "{'method':'add','memory':'m','text':'one apple'}"));
	add_more(*state, CALL("genesis_memory", "run", "'add',{'memory':'m','text':'two pears'}"));
	add_more(*state, ADD("{'memory':'m','text':'no tags','tags':null,'importance':null}"));
	assert_texts(
		*state, LIST("'m'"), "alpha|beta|delta|epsilon|gamma|no tags|one apple|two pears|");
}

/* The names and the order of seed 2. */
static void a_store_may_be_named_as_memory_artifact_id(void **state)
{
	make_store(*state, CREATE("'m'"));
	add_more(*state,
		ADD("{'memory_artifact_id':'m','text':'one apple','tags':null,'importance':0.5}"));
	add_more(*state, CALL("genesis_memory", "add", "{'memory_artifact_id':'m','text':'beta'}"));
	assert_found(*state, "alice",
		SEARCH("{'memory_artifact_id':'m','query':'apple','limit':1}"), "one apple|");
	assert_texts(*state, LIST("{'memory_artifact_id':'m'}"), "beta|one apple|");
	assert_refused(*state, "alice", ADD("{'memory_artifact_id':'m','memory':'m','text':'x'}"),
		WFS_E_INVALID_ARGUMENT, "'memory' is given twice");
	assert_refused(*state, "alice", ADD("{'memory_artifact_id':null,'text':'x'}"),
		WFS_E_MISSING_ARGUMENT, "add requires 'memory'");
	assert_refused(*state, "alice", CREATE("{'memory_artifact_id':'m'}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
}

static void an_entry_that_is_added_tells_success(void **state)
{
	make_store(*state, CREATE("'m'"));
	WFS_AUTO_JSON json_t *result = call_for(*state, "alice", ADD("'m','one apple'"), 1);
	WFS_AUTO_FREE char *id = strdup(wfs_json_text(result, "entry_id"));

	json_object_del(result, "entry_id");
	assert_int_equal(strncmp(id, "mem_", 4), 0);
	assert_json_is(WFS_STEAL(result),
		"{'deduplicated':false,'memory_artifact_id':'m','stored':true,'success':true}");
}

/* 164, 166 */
static void what_is_no_text_is_not_added(void **state)
{
	WFS_AUTO_FREE char *too_long = with_long(ADD("'m','@'"), (16 << 10) + 1);

	make_store(*state, CREATE("'m'"));
	assert_refused(*state, "alice", ADD(""), WFS_E_MISSING_ARGUMENT, "requires 'memory'");
	assert_refused(*state, "alice", ADD("'m'"), WFS_E_MISSING_ARGUMENT, "requires 'text'");
	assert_refused(*state, "alice", ADD("'m',null"), WFS_E_MISSING_ARGUMENT, "'text'");
	assert_refused(*state, "alice", ADD("'m',''"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(*state, "alice", ADD("'m',' \\t\\n '"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(*state, "alice", ADD("'m','\u00a0\u2003'"), WFS_E_INVALID_ARGUMENT, "empty");
	assert_refused(*state, "alice", ADD("'m',5"), WFS_E_INVALID_ARGUMENT, "/text");
	assert_refused(*state, "alice", ADD("'m','a\\u0000b'"), WFS_E_INVALID_ARGUMENT, "/text");
	assert_refused(*state, "alice", too_long, WFS_E_TOO_LARGE, "at most 16384");
	assert_texts(*state, LIST("'m'"), "");
}

static void a_text_of_the_greatest_size_is_added(void **state)
{
	WFS_AUTO_FREE char *longest = with_long(ADD("'m','@'"), 16 << 10);

	make_store(*state, CREATE("'m'"));
	add_more(*state, longest);
}

#define TAGS_8 "'a','b','c','d','e','f','g','h'"
#define TAG_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void tags_and_importance_have_bounds(void **state)
{
	make_store(*state, CREATE("'m'"));
	add_more(*state, ADD("'m','alpha',[" TAGS_8 "," TAGS_8 "," TAGS_8 "," TAGS_8 "]"));
	add_more(*state, ADD("'m','beta',['" TAG_64 "'],1.0"));

	assert_refused(*state, "alice",
		ADD("'m','x',[" TAGS_8 "," TAGS_8 "," TAGS_8 "," TAGS_8 ",'z']"), WFS_E_TOO_LARGE,
		"'tags' has 33");
	assert_refused(*state, "alice", ADD("'m','x',['y','" TAG_64 "z']"), WFS_E_TOO_LARGE,
		"number 2 has 65 bytes");
	assert_refused(*state, "alice", ADD("'m','x','tag'"), WFS_E_INVALID_ARGUMENT, "/tags");
	assert_refused(*state, "alice", ADD("'m','x',[5]"), WFS_E_INVALID_ARGUMENT, "/tags/0");
	assert_refused(*state, "alice", ADD("'m','x',[],1.01"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(*state, "alice", ADD("'m','x',[],-0.01"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(*state, "alice", ADD("'m','x',[],'1'"), WFS_E_INVALID_ARGUMENT, "0 to 1");
	assert_refused(*state, "alice", ADD("'m','x',[],1,1"), WFS_E_INVALID_ARGUMENT, "at most 4");
	assert_refused(*state, "alice", ADD("{'memory':'m','text':'x','size':1}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
}

/* 167 */
static void what_says_the_same_is_stored_once(void **state)
{
	make_store(*state, STORE("m", "'max_entries':3"));
	WFS_AUTO_FREE char *id =
		add(*state, "alice", ADD("'m','prices of wheat rise in winter',['first']"));
	add_more(*state, ADD("'m','This is a test entry'"));
	add_more(*state, ADD("'m','This is a test entry 2'")); /* 0.86 */
	WFS_AUTO_JSON json_t *exact = call_for(
		*state, "alice", ADD("'m','prices of wheat rise in winter',['second'],1"), 1);
	WFS_AUTO_JSON json_t *alike =
		call_for(*state, "alice", ADD("'m','wheat prices rise every winter'"), 1);

	assert_string_equal(wfs_json_text(exact, "entry_id"), id);
	assert_string_equal(wfs_json_text(alike, "entry_id"), id);
	assert_true(json_is_true(json_object_get(exact, "deduplicated")));
	assert_true(json_is_true(json_object_get(alike, "deduplicated")));
	assert_true(json_number_value(json_object_get(exact, "similarity")) <= 1);
	assert_true(json_number_value(json_object_get(alike, "similarity")) > 0.95);
	assert_texts(*state, LIST("'m'"),
		"This is a test entry|This is a test entry 2|prices of wheat rise in winter|");
}

/* 166 */
static void a_store_that_is_none_is_told(void **state)
{
	assert_done(*state, "alice", WRITE("'artifact_id':'doc','content':'hello'"));
	assert_refused(*state, "alice", ADD("'none','x'"), WFS_E_NOT_FOUND, "'none' not found");
	assert_refused(*state, "alice", SEARCH("'none','x'"), WFS_E_NOT_FOUND, "'none' not found");
	assert_refused(*state, "alice", ADD("'doc','x'"), WFS_E_INVALID_TYPE, "not a memory_store");
	assert_refused(
		*state, "alice", SEARCH("'doc','x'"), WFS_E_INVALID_TYPE, "not a memory_store");
	assert_refused(*state, "alice", LIST("'doc'"), WFS_E_INVALID_TYPE, "type: data");
	assert_refused(*state, "alice", DELETE("'doc','mem_00000001'"), WFS_E_INVALID_TYPE, "data");
}

/* 166, 168, 170 */
static void a_private_store_is_for_its_owner(void **state)
{
	WFS_AUTO_FREE char *delete = NULL;

	make_store(*state, CREATE("'m'"));
	WFS_AUTO_FREE char *id = add(*state, "alice", ADD("'m','one apple'"));
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);

	assert_refused(*state, "bob", ADD("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not write 'm'");
	assert_refused(*state, "bob", SEARCH("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not read 'm'");
	assert_refused(*state, "bob", LIST("'m'"), WFS_E_NOT_AUTHORIZED, "may not read 'm'");
	assert_refused(*state, "bob", delete, WFS_E_NOT_AUTHORIZED, "may not write 'm'");
}

static void whoever_may_write_a_store_adds_to_it_at_its_owners_disk(void **state)
{
	struct world_fixture *const fixture = *state;

	make_store(*state, CREATE("{'id':'m','access':'public'}"));
	const int64_t before = used_disk_of(fixture, "alice");
	free(add(*state, "bob", ADD("'m','one apple'")));
	assert_found(*state, "bob", SEARCH("'m','apple'"), "one apple|");
	assert_true(used_disk_of(fixture, "alice") > before + 4096);
	assert_int_equal(used_disk_of(fixture, "bob"), 0);
	assert_int_equal(scrip_of(fixture, "bob"), 48);
}

static void a_contract_says_who_may_add(void **state)
{
	assert_done(*state, "alice",
		WRITE("'artifact_id':'rule','code':'function check(who, use) return {allowed = "
		      "who == \\'bob\\' and use == \\'write\\', reason = \\'no\\'} end'"));
	make_store(*state, CREATE("{'id':'m','access':'rule'}"));

	free(add(*state, "bob", ADD("'m','one apple'")));
	assert_refused(*state, "bob", SEARCH("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not read");
	assert_refused(*state, "alice", ADD("'m','x'"), WFS_E_NOT_AUTHORIZED, "may not write");
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
static void test_memory_search_semantic(void **state)
{
	add_some(*state);
	WFS_AUTO_JSON json_t *result =
		call_for(*state, "alice", SEARCH("'m','how do wheat prices change',1"), 1);
	const json_t *const hit = json_array_get(json_object_get(result, "results"), 0);
	WFS_AUTO_JSON json_t *tags = json_of("['wheat','winter']");

	assert_string_equal(wfs_json_text(hit, "text"), "prices of wheat rise in winter");
	assert_true(json_number_value(json_object_get(hit, "score")) > 0.5);
	assert_true(json_equal(json_object_get(hit, "tags"), tags));
	assert_true(json_is_integer(json_object_get(hit, "tick")));
	assert_null(json_object_get(hit, "embedding"));
	assert_int_equal(json_integer_value(json_object_get(result, "count")), 1);
	assert_int_equal(json_integer_value(json_object_get(result, "total_entries")), 6);
	assert_found(*state, "alice", SEARCH("'m','beta trading',2"),
		"trading with beta|profitable trading|");
}

/* 170 */
static void a_search_gives_five_unless_it_is_told(void **state)
{
	static const char *const limits[] = {"0", "1001", "-1", "2.5", "'2'"};

	add_some(*state);
	WFS_AUTO_JSON json_t *five = call_for(*state, "alice", SEARCH("'m','cat'"), 1);
	WFS_AUTO_JSON json_t *all =
		call_for(*state, "alice", CALL("genesis_memory", "search", "'m','cat',1000"), 1);
	WFS_AUTO_JSON json_t *same = call_for(*state, "alice",
		CALL("genesis_memory", "run", "{'method':'search','memory':'m','query':'cat'}"), 1);

	assert_int_equal(json_integer_value(json_object_get(five, "count")), 5);
	assert_int_equal(json_integer_value(json_object_get(all, "count")), 6);
	assert_true(json_equal(five, same));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++) {
		WFS_AUTO_FREE char *search = NULL;

		assert_true(asprintf(&search, SEARCH("'m','cat',%s"), limits[i]) > 0);
		assert_refused(*state, "alice", search, WFS_E_INVALID_ARGUMENT, "limit");
	}
}

static void equal_scores_are_in_order_of_ids(void **state)
{
	const json_t *hit;
	const char *last = "";
	size_t i;

	make_store(*state, CREATE("'m'"));
	add_more(*state, ADD("'m','one apple'"));
	add_more(*state, ADD("'m','two pears'"));
	add_more(*state, ADD("'m','alpha'"));
	add_more(*state, ADD("'m','beta'"));
	WFS_AUTO_JSON json_t *result =
		call_for(*state, "alice", SEARCH("'m','This is a test entry'"), 1);

	json_array_foreach(json_object_get(result, "results"), i, hit)
	{
		assert_true(json_number_value(json_object_get(hit, "score")) == 0);
		assert_true(strcmp(last, wfs_json_text(hit, "id")) < 0);
		last = wfs_json_text(hit, "id");
	}
	assert_int_equal(i, 4);
}

/* 169 */
static void what_finds_nothing_is_paid_all_the_same(void **state)
{
	make_store(*state, CREATE("'m'"));
	assert_call(*state, "alice", SEARCH("'m','anything'"), 1,
		"{'count':0,'memory_artifact_id':'m','results':[],'total_entries':0}");
	assert_refused(*state, "alice", SEARCH("'m'"), WFS_E_MISSING_ARGUMENT, "'query'");
	assert_refused(*state, "alice", SEARCH("'m',' '"), WFS_E_INVALID_ARGUMENT, "be empty");
	assert_refused(*state, "poor", SEARCH("'m','x'"), WFS_E_INSUFFICIENT_FUNDS, "1 needed");
}

static void who_searches_what_costs_to_read_pays_its_owner(void **state)
{
	struct world_fixture *const fixture = *state;

	make_store(*state, CREATE("{'id':'m','access':'freeware'}"));
	add_more(*state, ADD("'m','one apple'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'m','policy':{'read_price':20}"));

	json_decref(call_for(*state, "bob", SEARCH("'m','apple'"), 21));
	assert_int_equal(scrip_of(fixture, "bob"), 29);
	assert_int_equal(scrip_of(fixture, "alice"), 114);
	json_decref(call_for(*state, "bob", LIST("'m'"), 20));
	assert_int_equal(scrip_of(fixture, "bob"), 9);
	assert_refused(*state, "bob", SEARCH("'m','apple'"), WFS_E_INSUFFICIENT_FUNDS, "20 needed");
	assert_found(*state, "alice", SEARCH("'m','apple'"), "one apple|");
	assert_int_equal(scrip_of(fixture, "alice"), 133);
}

/* --- list, delete --- */

/* 168 */
static void entries_are_listed_in_order_of_their_ids(void **state)
{
	const json_t *entry;
	const char *last = "";
	size_t i;

	add_some(*state);
	WFS_AUTO_JSON json_t *all = call_for(*state, "alice", LIST("'m'"), 0);
	WFS_AUTO_JSON json_t *part = call_for(*state, "alice", LIST("'m',2,3"), 0);
	const json_t *const entries = json_object_get(all, "entries");

	json_array_foreach(entries, i, entry)
	{
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
	assert_call(*state, "alice", LIST("'m',5,6"), 0, "{'count':0,'entries':[],'total':6}");
	assert_call(*state, "alice", LIST("'m',0"), 0, "{'count':0,'entries':[],'total':6}");
	assert_refused(*state, "alice", LIST("'m',1001"), WFS_E_INVALID_ARGUMENT, "0 to 1000");
	assert_refused(*state, "alice", LIST("'m',1,-1"), WFS_E_INVALID_ARGUMENT, "/offset");
}

static void entries_of_a_store_whose_name_begins_alike_are_another_ones(void **state)
{
	make_store(*state, CREATE("'m'"));
	make_store(*state, CREATE("'m.1'"));
	make_store(*state, CREATE("'m1'"));
	add_more(*state, ADD("'m','one apple'"));
	add_more(*state, ADD("'m.1','two pears'"));
	add_more(*state, ADD("'m1','epsilon'"));
	assert_texts(*state, LIST("'m'"), "one apple|");
	assert_found(*state, "alice", SEARCH("'m','pears'"), "one apple|");
	assert_done(*state, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));
	assert_found(*state, "alice", SEARCH("'m1','pears'"), "epsilon|");
	assert_found(*state, "alice", SEARCH("'m.1','pears'"), "two pears|");
}

/* 168 */
static void an_entry_that_is_deleted_is_gone(void **state)
{
	struct world_fixture *const fixture = *state;
	WFS_AUTO_FREE char *delete = NULL;
	WFS_AUTO_FREE char *expected = NULL;

	make_store(*state, CREATE("'m'"));
	const int64_t before = used_disk_of(fixture, "alice");
	WFS_AUTO_FREE char *id = add(*state, "alice", ADD("'m','one apple'"));
	add_more(*state, ADD("'m','two pears'"));
	const int64_t with_both = used_disk_of(fixture, "alice");
	assert_true(asprintf(&delete, DELETE("'m','%s'"), id) > 0);
	assert_true(asprintf(&expected, "{'deleted_entry_id':'%s','remaining_entries':1}", id) > 0);

	assert_call(*state, "alice", delete, 0, expected);
	assert_int_equal(used_disk_of(fixture, "alice") - before, (with_both - before) / 2);
	assert_found(*state, "alice", SEARCH("'m','apple'"), "two pears|");
	assert_refused(*state, "alice", delete, WFS_E_NOT_FOUND, "not found in 'm'");
	add_more(*state, ADD("'m','one apple'"));
	assert_found(*state, "alice", SEARCH("'m','apple'"), "one apple|two pears|");
}

static void what_is_no_id_of_an_entry_is_not_found(void **state)
{
	static const char *const ids[] = {"", "mem_", "mem_1", "mem_0000000g", "mem_000000001",
		"mem_-0000001", "MEM_00000001", "mem_ABCDEF00", "mem_00000001/x", "../m"};

	make_store(*state, CREATE("'m'"));
	add_more(*state, ADD("'m','one apple'"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *delete = NULL;

		assert_true(asprintf(&delete, DELETE("'m','%s'"), ids[i]) > 0);
		assert_refused(*state, "alice", delete, WFS_E_NOT_FOUND, "not found in 'm'");
	}
}

/* --- genesis_embedder --- */

/* 164 */
static void a_text_becomes_a_vector(void **state)
{
	static const char *const others[] = {
		CALL("genesis_embedder", "run", "'one apple'"),
		CALL("genesis_embedder", "run", "{'text':'one apple'}"),
		CALL("genesis_embedder", "run", "{'method':'embed','text':'one apple'}"),
		INVOKE("'artifact_id':'genesis_embedder','args':['one apple']"),
	};
	WFS_AUTO_JSON json_t *one =
		call_for(*state, "alice", CALL("genesis_embedder", "embed", "'one apple'"), 1);
	WFS_AUTO_JSON json_t *same =
		call_for(*state, "bob", CALL("genesis_embedder", "run", "'embed','one apple'"), 1);

	assert_true(json_equal(one, same));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++) {
		WFS_AUTO_JSON json_t *other = call_for(*state, "alice", others[i], 1);

		print_message("%s\n", others[i]);
		assert_true(json_equal(one, other));
	}
	assert_int_equal(json_string_length(json_object_get(one, "embedding")), 768 * 4 / 3 * 4);
	assert_string_equal(wfs_json_text(one, "model"), "local-1");
	assert_call(*state, "alice", CALL("genesis_embedder", "get_config", ""), 0,
		"{'cost_per_embedding':1,'dims':768,'model':'local-1'}");
	assert_refused(*state, "alice", CALL("genesis_embedder", "embed", ""),
		WFS_E_MISSING_ARGUMENT, "'text'");
	assert_refused(*state, "alice", CALL("genesis_embedder", "embed", "' '"),
		WFS_E_INVALID_ARGUMENT, "empty");
	assert_refused(*state, "poor", CALL("genesis_embedder", "embed", "'x'"),
		WFS_E_INSUFFICIENT_FUNDS, "1 needed");
}

/* A text alone is a text, and no name of a method. */
static void a_text_that_is_called_like_a_method_is_embedded(void **state)
{
	WFS_AUTO_JSON json_t *text =
		call_for(*state, "alice", CALL("genesis_embedder", "run", "'get_config'"), 1);

	assert_int_equal(json_integer_value(json_object_get(text, "dims")), 768);
	json_decref(call_for(
		*state, "alice", CALL("genesis_embedder", "run", "{'method':'get_config'}"), 0));
	assert_refused(*state, "alice", CALL("genesis_embedder", "run", ""), WFS_E_MISSING_ARGUMENT,
		"embed requires 'text'");
	assert_refused(*state, "alice", CALL("genesis_embedder", "run", "'one','apple'"),
		WFS_E_INVALID_ARGUMENT, "embed takes at most 1 arguments, got 2");
}

/* --- pruning --- */

/* 171 */
static void test_memory_pruning(void **state)
{
	make_store(*state, STORE("m", "'max_entries':3,'auto_prune':'lowest_importance'"));
	add_more(*state, ADD("'m','alpha',[],0.5"));
	add_more(*state, ADD("'m','beta',[],0.25"));
	add_more(*state, ADD("'m','gamma',[],0.25"));

	add_more(*state, ADD("'m','delta',[],1")); /* of two alike the older goes */
	assert_texts(*state, LIST("'m'"), "alpha|delta|gamma|");
	WFS_AUTO_JSON json_t *least =
		call_for(*state, "alice", ADD("'m','epsilon',[],0.1"), 1); /* goes itself */
	assert_true(json_is_false(json_object_get(least, "stored")));
	assert_true(json_is_true(json_object_get(least, "success")));
	assert_int_equal(strlen(wfs_json_text(least, "entry_id")), 12);
	assert_texts(*state, LIST("'m'"), "alpha|delta|gamma|");
	add_more(*state,
		ADD("'m','one apple',[],0.25")); /* as important as the least: the older goes */
	assert_texts(*state, LIST("'m'"), "alpha|delta|one apple|");
	assert_found(*state, "alice", SEARCH("'m','alpha',1"), "alpha|");
}

/* As `entries.sort(key=importance); entries = entries[-max_entries:]` of seed 2, after each of them. */
static void of_three_the_two_most_important_stay(void **state)
{
	make_store(*state, STORE("m", "'max_entries':2,'auto_prune':'lowest_importance'"));
	add_more(*state, ADD("'m','alpha',[],0.9"));
	add_more(*state, ADD("'m','beta',[],0.8"));
	add_more(*state, ADD("'m','gamma',[],0.1"));
	assert_texts(*state, LIST("'m'"), "alpha|beta|");
	add_more(*state, ADD("'m','delta',[],0.85"));
	assert_texts(*state, LIST("'m'"), "alpha|delta|");
}

/* Their ids are in no order, and their ticks are one. */
static void of_entries_that_one_record_adds_the_first_goes_first(void **state)
{
	static const char *const rules[] = {"oldest", "lowest_score", "lowest_importance"};

	assert_done(*state, "alice",
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
		make_store(*state, create);
		assert_done(*state, "alice", ACTION("transfer", "'to':'all','amount':5"));
		assert_done(*state, "alice", all);
		assert_texts(*state, list, "delta|epsilon|");
	}
}

static void the_oldest_goes_first(void **state)
{
	make_store(*state, STORE("m", "'max_entries':2"));
	add_more(*state, ADD("'m','alpha',[],1"));
	add_more(*state, ADD("'m','beta',[],0"));
	json_decref(call_for(*state, "alice", ADD("'m','alpha'"), 1)); /* said twice: as old */
	add_more(*state, ADD("'m','gamma'"));
	assert_texts(*state, LIST("'m'"), "beta|gamma|");
	add_more(*state, ADD("'m','alpha'"));
	assert_texts(*state, LIST("'m'"), "alpha|gamma|");
}

static void what_was_found_last_by_the_worst_score_goes_first(void **state)
{
	make_store(*state, STORE("m", "'max_entries':3,'auto_prune':'lowest_score'"));
	add_more(*state, ADD("'m','alpha'"));
	add_more(*state, ADD("'m','beta'"));
	add_more(*state, ADD("'m','gamma'"));
	json_decref(call_for(*state, "alice", SEARCH("'m','alpha',1"), 1));
	json_decref(call_for(*state, "alice", SEARCH("'m','trading with beta',1"), 1));

	add_more(*state, ADD("'m','delta'")); /* gamma was never found */
	assert_texts(*state, LIST("'m'"), "alpha|beta|delta|");
	json_decref(call_for(*state, "alice", SEARCH("'m','delta',1"), 1));
	add_more(*state, ADD("'m','epsilon'")); /* beta: 0.71 */
	assert_texts(*state, LIST("'m'"), "alpha|delta|epsilon|");
	assert_int_equal(world_fixture_open(*state), 0); /* scores are read again */
	add_more(*state, ADD("'m','one apple'"));        /* epsilon was never found */
	assert_texts(*state, LIST("'m'"), "alpha|delta|one apple|");
	json_decref(call_for(*state, "alice", SEARCH("'m','one apple',1"), 1));
	add_more(*state, ADD("'m','two pears'")); /* 1 each: the oldest */
	assert_texts(*state, LIST("'m'"), "delta|one apple|two pears|");
}

static void a_store_whose_bound_is_lowered_is_cut_when_it_is_added_to(void **state)
{
	struct world_fixture *const fixture = *state;

	make_store(*state, CREATE("'m'"));
	const int64_t empty = used_disk_of(fixture, "alice") - (int64_t)strlen("{'config':{}}\n");
	add_more(*state, ADD("'m','alpha',[],0.9"));
	const int64_t one = used_disk_of(fixture, "alice") - (int64_t)strlen("{'config':{}}\n");
	add_more(*state, ADD("'m','gamma',[],0.1"));
	add_more(*state, ADD("'m','delta',[],0.5"));
	add_more(*state, ADD("'m','omega',[],0.6"));
	assert_done(
		*state, "alice", REWRITE("m", "'auto_prune':'lowest_importance','max_entries':1"));
	assert_call(*state, "alice", LIST("'m',0"), 0, "{'count':0,'entries':[],'total':4}");

	add_more(*state, ADD("'m','zulus',[],0.9"));
	assert_texts(*state, LIST("'m'"), "zulus|");
	assert_int_equal(used_disk_of(fixture, "alice") - empty,
		one - empty +
			(int64_t)strlen("{'config':{'auto_prune':'lowest_importance','max_entries':"
					"1}}\n"));
}

static void a_store_that_is_deleted_gives_its_disk_back(void **state)
{
	struct world_fixture *const fixture = *state;
	const int64_t before = used_disk_of(fixture, "alice");

	make_store(*state, STORE("m", "'auto_prune':'lowest_score'"));
	add_more(*state, ADD("'m','alpha'"));
	add_more(*state, ADD("'m','beta'"));
	json_decref(call_for(*state, "alice", SEARCH("'m','alpha'"), 1));
	assert_done(*state, "alice", ACTION("delete_artifact", "'artifact_id':'m'"));

	assert_int_equal(used_disk_of(fixture, "alice"), before);
	WFS_AUTO_FREE char *text = market_text(*state);
	assert_null(strstr(text, "sys.memory"));
	assert_refused(*state, "alice", SEARCH("'m','x'"), WFS_E_DELETED, "was deleted by 'alice'");
}

static void what_has_no_room_is_not_added(void **state)
{
	make_store(*state, CREATE("{'id':'m','access':'public'}"));
	assert_done(*state, "alice",
		ACTION("transfer_ownership", "'artifact_id':'m','to':'bob'")); /* of 30,000 bytes */
	add_more(*state, ADD("'m','alpha'"));
	add_more(*state, ADD("'m','beta'"));
	add_more(*state, ADD("'m','gamma'"));
	add_more(*state, ADD("'m','delta'"));
	add_more(*state, ADD("'m','epsilon'"));
	add_more(*state, ADD("'m','one apple'"));
	add_more(*state, ADD("'m','two pears'"));
	assert_refused(*state, "alice", ADD("'m','trains'"), WFS_E_QUOTA_EXCEEDED, "of its disk");
	assert_refused(*state, "bob", ADD("'m','trains'"), WFS_E_QUOTA_EXCEEDED, "of its disk");
	assert_done(*state, "bob", REWRITE("m", "'max_entries':7"));
	add_more(*state, ADD("'m','trains'"));
	assert_texts(*state, LIST("'m'"), "beta|delta|epsilon|gamma|one apple|trains|two pears|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_MARKET(test_memory_store_artifact_creation),
		IN_MARKET(a_store_without_a_name_is_named_after_its_maker),
		IN_MARKET(a_store_is_made_with_what_is_asked_for),
		IN_MARKET(a_store_that_cannot_be_made_costs_nothing),
		IN_MARKET(a_name_that_is_too_long_for_a_key_is_refused),
		IN_MARKET(a_name_that_was_deleted_is_not_taken_again),
		IN_MARKET(a_store_is_written_like_any_artifact),
		IN_MARKET(what_is_no_content_of_a_store_is_refused),
		IN_MARKET(what_is_edited_stays_the_content_of_a_store),
		IN_MARKET(a_store_with_entries_stays_one),
		IN_MARKET(test_memory_entry_add_with_embedding),
		IN_MARKET(an_entry_is_added_in_any_form_of_the_call),
		IN_MARKET(a_store_may_be_named_as_memory_artifact_id),
		IN_MARKET(an_entry_that_is_added_tells_success),
		IN_MARKET(what_is_no_text_is_not_added),
		IN_MARKET(a_text_of_the_greatest_size_is_added),
		IN_MARKET(tags_and_importance_have_bounds),
		IN_MARKET(what_says_the_same_is_stored_once),
		IN_MARKET(a_store_that_is_none_is_told),
		IN_MARKET(a_private_store_is_for_its_owner),
		IN_MARKET(whoever_may_write_a_store_adds_to_it_at_its_owners_disk),
		IN_MARKET(a_contract_says_who_may_add),
		IN_MARKET(test_memory_search_semantic),
		IN_MARKET(a_search_gives_five_unless_it_is_told),
		IN_MARKET(equal_scores_are_in_order_of_ids),
		IN_MARKET(what_finds_nothing_is_paid_all_the_same),
		IN_MARKET(who_searches_what_costs_to_read_pays_its_owner),
		IN_MARKET(entries_are_listed_in_order_of_their_ids),
		IN_MARKET(entries_of_a_store_whose_name_begins_alike_are_another_ones),
		IN_MARKET(an_entry_that_is_deleted_is_gone),
		IN_MARKET(what_is_no_id_of_an_entry_is_not_found),
		IN_MARKET(a_text_becomes_a_vector),
		IN_MARKET(a_text_that_is_called_like_a_method_is_embedded),
		IN_MARKET(test_memory_pruning),
		IN_MARKET(of_three_the_two_most_important_stay),
		IN_MARKET(of_entries_that_one_record_adds_the_first_goes_first),
		IN_MARKET(the_oldest_goes_first),
		IN_MARKET(what_was_found_last_by_the_worst_score_goes_first),
		IN_MARKET(a_store_whose_bound_is_lowered_is_cut_when_it_is_added_to),
		IN_MARKET(a_store_that_is_deleted_gives_its_disk_back),
		IN_MARKET(what_has_no_room_is_not_added),
	};

	return cmocka_run_group_tests_name("genesis-memory", tests, NULL, NULL);
}
