/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of memory stores that come as JSON: in contents, and by `import`; and other embeddings
 * for entries. */
#include "kernel/world/embedder.h"
#include "tests/fixture/market.h"

#include "kernel/domain/memory/memory.h"

#define CREATE(args) CALL("genesis_memory", "create", args)
#define ADD(args) CALL("genesis_memory", "add", args)
#define SEARCH(args) CALL("genesis_memory", "search", args)
#define LIST(args) CALL("genesis_memory", "list", args)
#define IMPORT(args) CALL("genesis_memory", "import", args)
#define REEMBED(args) CALL("genesis_memory", "reembed", args)
#define STORE(id, content) WRITE("'artifact_id':'" id "','type':'memory_store','content':" content)

/* --- helpers --- */

/* `id place tick text` of each entry, each followed by |, in the order in which they were added.
 * Caller frees. */
static char *entries_of(struct world_fixture *fixture, const char *list)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", list, 0);
	const json_t *const entries = json_object_get(result, "entries");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const size_t count = json_array_size(entries);

	for (json_int_t place = 0, found = 0; found < (json_int_t)count && place < 1000; place++) {
		const json_t *entry;
		size_t i;

		json_array_foreach(entries, i, entry) {
			if (json_integer_value(json_object_get(entry, "place")) != place)
				continue;
			found++;
			wfs_buffer_printf(&text, "%s %lld %s|", wfs_json_text(entry, "id"),
				json_integer_value(json_object_get(entry, "tick")),
				wfs_json_text(entry, "text"));
		}
	}
	return strdup(wfs_buffer_text(&text));
}

static void assert_entries(struct world_fixture *fixture, const char *list, const char *expected)
{
	WFS_AUTO_FREE char *text = entries_of(fixture, list);

	assert_string_equal(text, expected);
}

static void assert_found(struct world_fixture *fixture, const char *search, const char *expected)
{
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", search, 1);
	const json_t *const first = json_array_get(json_object_get(result, "results"), 0);

	assert_string_equal(wfs_json_text(first, "text"), expected);
}

/* --- in contents --- */

/* From tests/data/seeds/2-artifact-intelligence, without the dots and the comment. */
#define ESCROW                                                                           \
	"{'id':'mem_001','tick':50,'text':'Built escrow artifact, earned 20 scrip from " \
	"usage','tags':['building','escrow','success'],'embedding':[0.12,-0.34,0.56],"   \
	"'importance':0.8}"
#define TRADING                                                                                \
	"{'id':'mem_002','tick':75,'text':'Trading with beta is profitable when "              \
	"coordinating','tags':['trading','beta','coordination'],'embedding':[0.23,0.11,'...'," \
	"-0.45],'importance':0.9}"
#define SEED \
	"{'config':{'max_entries':1000,'auto_prune':'oldest'},'entries':[" ESCROW "," TRADING "]}"

IN_MARKET(the_store_of_the_seed_can_be_written)
{
	assert_done(fixture, "alice", STORE("alice_longterm_memory", SEED));

	assert_entries(fixture, LIST("'alice_longterm_memory'"),
		"mem_00000001 50 Built escrow artifact, earned 20 scrip from usage|"
		"mem_00000002 75 Trading with beta is profitable when coordinating|");
	assert_found(fixture, SEARCH("'alice_longterm_memory','how do I trade with beta?'"),
		"Trading with beta is profitable when coordinating");
	WFS_AUTO_FREE char *text = state_at(
		fixture, WFS_HEIGHT_HEAD, "sys.memory", "alice_longterm_memory/mem_00000001");
	assert_non_null(strstr(text, "\"importance\":0.8"));
	assert_non_null(strstr(text, "\"dims\":768"));
	assert_non_null(strstr(text, "[\"building\",\"escrow\",\"success\"]"));
	assert_int_equal(scrip_of(fixture, "alice"), 100 - 2 - 1); /* for embeddings and a search */
	assert_int_equal(scrip_of(fixture, "genesis"), 3);
}

/* The seed's genesis_memory_add writes it so, without a config. */
IN_MARKET(a_write_changes_what_it_changes_in_the_entries)
{
	assert_done(fixture, "alice", STORE("m", SEED));
	json_decref(call_for(fixture, "alice", ADD("'m','one apple'"), 1));
	json_decref(call_for(
		fixture, "alice", CALL("genesis_memory", "delete", "'m','mem_00000002'"), 0));

	assert_done(fixture, "alice",
		STORE("m",
			"{'entries':[" ESCROW "," TRADING
			",{'id':'mem_a','tick':7,'text':'alpha'}]}"));

	WFS_AUTO_FREE char *entries = entries_of(fixture, LIST("'m'"));
	assert_non_null(strstr(entries, "mem_00000001 50 Built"));
	assert_non_null(strstr(entries, " one apple|mem_0000000a 7 alpha|"));
	assert_null(strstr(entries, "Trading")); /* the entry was deleted, and stays deleted */
	assert_done(fixture, "alice",
		STORE("m", "{'entries':[{'id':'mem_a','tick':7,'text':'omega'}]}"));
	WFS_AUTO_FREE char *after = entries_of(fixture, LIST("'m'"));
	assert_non_null(strstr(after, "mem_0000000a 7 omega|"));
	assert_null(strstr(after, "Built"));
	assert_non_null(strstr(after, "one apple"));
	assert_done(fixture, "alice", STORE("m", "{}"));
	WFS_AUTO_FREE char *last = entries_of(fixture, LIST("'m'"));
	assert_null(strstr(last, "omega"));
}

/* The second of two entries with one id got a new id when it was written. */
IN_MARKET(an_entry_with_the_id_of_one_that_goes_stays)
{
	assert_done(fixture, "alice",
		STORE("m",
			"{'entries':[{'id':'mem_1','tick':3,'text':'alpha'},"
			"{'id':'mem_1','tick':4,'text':'omega'}]}"));

	assert_done(fixture, "alice",
		STORE("m", "{'entries':[{'id':'mem_1','tick':3,'text':'alpha'}]}"));

	WFS_AUTO_FREE char *entries = entries_of(fixture, LIST("'m'"));
	assert_non_null(strstr(entries, "mem_00000001 3 alpha|"));
}

IN_MARKET(a_write_that_names_no_entries_leaves_them)
{
	assert_done(fixture, "alice", STORE("m", "{}"));
	json_decref(call_for(
		fixture, "alice", IMPORT("'m',[{'id':'mem_1','tick':3,'text':'alpha'}]"), 1));

	assert_done(fixture, "alice", STORE("m", "{'config':{'max_entries':5}}"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','access':'public'"));

	assert_entries(fixture, LIST("'m'"), "mem_00000001 3 alpha|");
}

IN_MARKET(an_edit_does_not_change_entries)
{
	assert_done(fixture, "alice", STORE("m", SEED));

	assert_refused(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'m','old_string':'Built','new_string':'Made'"),
		WFS_E_INVALID_ARGUMENT, "are changed by write_artifact");
	assert_done(fixture, "alice",
		ACTION("edit_artifact",
			"'artifact_id':'m','old_string':'1000','new_string':'999'"));
}

IN_MARKET(a_store_without_entries_may_become_something_else)
{
	assert_done(fixture, "alice", STORE("m", "{'entries':[{'id':'mem_1','text':'alpha'}]}"));
	assert_refused(fixture, "alice", WRITE("'artifact_id':'m','type':'data'"),
		WFS_E_INVALID_ARGUMENT, "has entries");
	json_decref(call_for(
		fixture, "alice", CALL("genesis_memory", "delete", "'m','mem_00000001'"), 0));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','type':'data'"));
	assert_done(fixture, "alice", WRITE("'artifact_id':'m','content':'hello'"));
}

IN_MARKET(who_cannot_pay_for_embeddings_writes_none)
{
	assert_refused(fixture, "poor", STORE("p", SEED), WFS_E_INSUFFICIENT_FUNDS, "2 needed");
	assert_done(fixture, "poor", STORE("p", "{'entries':[]}"));
}

IN_MARKET(what_is_no_entry_is_refused_by_its_number)
{
	static const struct {
		const char *entries;
		const char *message;
	} cases[] = {
		{"5", "'entries': number 2: expected an object, got an integer"},
		{"{'text':''}", "number 2: Text cannot be empty"},
		{"{'text':5}", "number 2: 'text': expected a text"},
		{"{'text':'x','size':1}", "number 2: "},
		{"{'text':'x','id':5}", "number 2: 'id': expected a text"},
		{"{'text':'x','tags':'a'}", "number 2: 'tags': expected a list of texts"},
		{"{'text':'x','tags':[5]}", "number 2: 'tags': number 1: expected a text"},
		{"{'text':'x','importance':2}", "number 2: 'importance': expected a number"},
		{"{'text':'x','tick':-1}", "number 2: "},
		{"{'text':'x','model':'m','embedding':[]}",
			"number 2: 'embedding': expected a list of 1 to"},
		{"{'text':'x','model':'m','embedding':[0,0]}", "numbers that are not all 0"},
		{"{'text':'x','model':'m','embedding':['1']}", "number 2: 'embedding'"},
		{"{'text':'x','model':'m','embedding':'AACAPw=='}", "number 2: 'embedding'"},
		{"{'text':'x','model':'m','dims':2,'embedding':'AACAPw=='}", "'embedding'"},
		{"{'text':'x','model':'m','dims':1,'embedding':'AADAfw=='}", "'embedding'"},
	};

	assert_done(fixture, "alice", STORE("m", "{}"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_FREE char *write = NULL;
		WFS_AUTO_FREE char *import = NULL;

		assert_true(asprintf(&write, STORE("m", "{'entries':[{'text':'alpha'},%s]}"),
				    cases[i].entries) > 0);
		assert_true(asprintf(&import, IMPORT("'m',[{'text':'alpha'},%s]"),
				    cases[i].entries) > 0);
		assert_refused(fixture, "alice", write, WFS_E_INVALID_ARGUMENT, cases[i].message);
		if (i > 0)
			assert_refused(
				fixture, "alice", import, WFS_E_INVALID_ARGUMENT, cases[i].message);
	}
	assert_refused(fixture, "alice", IMPORT("'m',[{}]"), WFS_E_MISSING_ARGUMENT,
		"'entries': number 1: 'text' is missing");
	assert_refused(fixture, "alice", STORE("m", "{'entries':{}}"), WFS_E_INVALID_ARGUMENT,
		"'entries': expected a list of entries");
}

IN_MARKET(too_many_at_once_are_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer write = {0};
	WFS_AUTO_BUFFER struct wfs_buffer import = {0};

	assert_done(fixture, "rich", STORE("m", "{}"));
	wfs_buffer_append_text(&write,
		"{'action_type':'write_artifact','artifact_id':'m',"
		"'content':{'entries':[");
	wfs_buffer_append_text(&import,
		"{'action_type':'invoke_artifact','artifact_id':"
		"'genesis_memory','method':'import','args':['m',[");
	for (int i = 0; i < MEMORY_GIVEN_MAX + 1; i++) {
		wfs_buffer_printf(&write, "%s{'text':'text %d'}", i ? "," : "", i);
		wfs_buffer_printf(&import, "%s{'text':'text %d'}", i ? "," : "", i);
	}
	wfs_buffer_append_text(&write, "]}}");
	wfs_buffer_append_text(&import, "]]}");

	assert_refused(fixture, "rich", wfs_buffer_text(&write), WFS_E_TOO_LARGE,
		"257 are new, at most 256 are taken at once");
	assert_refused(fixture, "rich", wfs_buffer_text(&import), WFS_E_TOO_LARGE,
		"'entries' has 257 of them, at most 256");
}

/* --- import --- */

IN_MARKET(what_is_imported_is_as_it_was)
{
	assert_done(fixture, "rich", STORE("m", "{}"));
	json_decref(call_for(fixture, "rich",
		ADD("{'memory':'m','text':'one apple','tags':['fruit'],'importance':0.75}"), 1));
	WFS_AUTO_JSON json_t *list = call_for(fixture, "rich", LIST("'m'"), 0);
	const char *const id =
		wfs_json_text(json_array_get(json_object_get(list, "entries"), 0), "id");
	WFS_AUTO_FREE char *key = NULL;
	WFS_AUTO_FREE char *key_of_copy = NULL;
	assert_true(asprintf(&key, "m/%s", id) > 0);
	assert_true(asprintf(&key_of_copy, "copy/%s", id) > 0);
	WFS_AUTO_FREE char *entry = state_at(fixture, WFS_HEIGHT_HEAD, "sys.memory", key);
	WFS_AUTO_FREE char *import = NULL;
	assert_true(asprintf(&import, IMPORT("'copy',[%s]"), entry) > 0);
	assert_done(fixture, "rich", STORE("copy", "{}"));

	/* The entry has its vector already. */
	WFS_AUTO_JSON json_t *first = call_for(fixture, "rich", import, 0);
	WFS_AUTO_JSON json_t *again = call_for(fixture, "rich", import, 0);

	assert_int_equal(json_integer_value(json_object_get(first, "added")), 1);
	assert_int_equal(json_integer_value(json_object_get(first, "present")), 0);
	assert_int_equal(json_integer_value(json_object_get(again, "added")), 0);
	assert_int_equal(json_integer_value(json_object_get(again, "present")), 1);
	WFS_AUTO_FREE char *copy = state_at(fixture, WFS_HEIGHT_HEAD, "sys.memory", key_of_copy);
	assert_string_equal(copy, entry);
}

IN_MARKET(an_id_that_is_taken_becomes_another_one)
{
	assert_done(fixture, "alice", STORE("m", "{}"));
	assert_call(fixture, "alice", IMPORT("'m',[{'id':'mem_1','text':'alpha'}]"), 1,
		"{'added':1,'entry_ids':['mem_00000001'],'memory_artifact_id':'m','present':0,"
		"'success':true,'total_entries':1}");
	WFS_AUTO_JSON json_t *other = call_for(fixture, "alice",
		IMPORT("'m',[{'id':'mem_1','text':'omega'},{'id':'notes/1','text':'beta'}]"), 2);
	const json_t *const ids = json_object_get(other, "entry_ids");

	assert_string_not_equal(json_string_value(json_array_get(ids, 0)), "mem_00000001");
	assert_int_equal(strlen(json_string_value(json_array_get(ids, 1))), 12);
	assert_int_equal(json_integer_value(json_object_get(other, "total_entries")), 3);
}

IN_MARKET(what_is_imported_is_pruned_as_what_is_added)
{
	assert_done(
		fixture, "alice", STORE("m", "{'config':{'max_entries':2,'auto_prune':'oldest'}}"));
	WFS_AUTO_JSON json_t *result = call_for(fixture, "alice",
		IMPORT("'m',[{'id':'mem_1','tick':9,'text':'alpha'},{'id':'mem_2','tick':3,'text':'"
		       "beta'},"
		       "{'id':'mem_3','tick':5,'text':'gamma'}]"),
		3);

	assert_non_null(result);
	assert_entries(fixture, LIST("'m'"), "mem_00000001 9 alpha|mem_00000003 5 gamma|");
}

IN_MARKET(only_a_writer_imports_and_embeds_anew)
{
	assert_done(fixture, "alice",
		WRITE("'artifact_id':'m','type':'memory_store','access':'private'"));
	assert_refused(fixture, "bob", IMPORT("'m',[{'text':'x'}]"), WFS_E_NOT_AUTHORIZED,
		"may not write");
	assert_refused(fixture, "bob", REEMBED("'m'"), WFS_E_NOT_AUTHORIZED, "may not write");
	assert_refused(fixture, "alice", REEMBED("'m',0"), WFS_E_INVALID_ARGUMENT,
		"'limit': expected 1 to");
}

/* --- other embeddings --- */

/* A host whose embedder gives one of a few vectors, chosen by the first byte of the text. */
struct host {
	struct wfs_embedder embedder; /* first: the callback casts back */
	struct wfs_world *world;
};

static void give_vector(struct wfs_embedder *embedder, struct wfs_request *request)
{
	struct host *const host = (struct host *)embedder;
	const char first = *wfs_json_text(request->action.wanted, "text");

	wfs_world_embedded(host->world, request,
		json_pack("{s:i, s:s, s:s}", "dims", 2, "embedding",
			first < 'h' ? "AACAPwAAAAA=" : "AAAAAAAAgD8=", "model", embedder->model));
}

static struct host host_of(struct world_fixture *fixture, const char *model)
{
	return (struct host){{model, give_vector}, fixture->world};
}

static void use(struct world_fixture *fixture, struct host *host)
{
	wfs_world_set_embedder(fixture->world, host ? &host->embedder : NULL);
}

IN_MARKET(entries_get_embeddings_of_another_model)
{
	struct host far = host_of(fixture, "far");
	struct host near = host_of(fixture, "near");

	use(fixture, &far);
	assert_done(fixture, "alice", STORE("m", "{}"));
	json_decref(call_for(fixture, "alice", ADD("'m','apple'"), 1));
	json_decref(call_for(fixture, "alice", ADD("'m','zebra'"), 1));
	use(fixture, &near);

	assert_refused(fixture, "alice", ADD("'m','x'"), WFS_E_INVALID_ARGUMENT,
		"the entries of 'm' have embeddings of 'far', and this host has the model 'near': "
		"'worldfs memory reembed m'");
	assert_refused(fixture, "alice", SEARCH("'m','x'"), WFS_E_INVALID_ARGUMENT, "'far'");
	assert_call(fixture, "alice", REEMBED("'m',1"), 0,
		"{'left':1,'memory_artifact_id':'m','model':'near','reembedded':1,'total_entries':"
		"2}");
	assert_refused(fixture, "alice", SEARCH("'m','x'"), WFS_E_INVALID_ARGUMENT,
		"1 of the 2 entries of 'm' have no embedding of 'near' yet");
	assert_refused(fixture, "alice", ADD("'m','x'"), WFS_E_INVALID_ARGUMENT, "yet");
	assert_refused(
		fixture, "alice", IMPORT("'m',[{'text':'x'}]"), WFS_E_INVALID_ARGUMENT, "yet");
	assert_call(fixture, "alice", REEMBED("{'memory':'m'}"), 0,
		"{'left':0,'memory_artifact_id':'m','model':'near','reembedded':1,'total_entries':"
		"2}");
	assert_call(fixture, "alice", REEMBED("'m'"), 0,
		"{'left':0,'memory_artifact_id':'m','model':'near','reembedded':0,'total_entries':"
		"2}");

	assert_found(fixture, SEARCH("'m','avocado',1"), "apple");
	assert_found(fixture, SEARCH("'m','zoo',1"), "zebra");
	use(fixture, NULL);
}

IN_MARKET(a_world_without_its_embedder_embeds_anew_by_itself)
{
	struct host far = host_of(fixture, "far");

	use(fixture, &far);
	assert_done(fixture, "alice", STORE("m", "{}"));
	json_decref(call_for(fixture, "alice", ADD("'m','one apple'"), 1));
	const int64_t before = used_disk_of(fixture, "alice");
	use(fixture, NULL);

	assert_refused(fixture, "alice", SEARCH("'m','x'"), WFS_E_INVALID_ARGUMENT,
		"has the model 'local-1'");
	json_decref(call_for(fixture, "alice", REEMBED("'m'"), 0));

	assert_found(fixture, SEARCH("'m','apple'"), "one apple");
	assert_true(used_disk_of(fixture, "alice") > before + 4000);
}

IN_MARKET(an_entry_may_go_while_others_are_embedded_anew)
{
	struct host far = host_of(fixture, "far");
	struct host near = host_of(fixture, "near");

	use(fixture, &far);
	assert_done(fixture, "alice", STORE("m", "{}"));
	json_decref(call_for(fixture, "alice",
		IMPORT("'m',[{'id':'mem_1','text':'apple'},{'id':'mem_2','text':'berry'},"
		       "{'id':'mem_3','text':'zebra'},{'id':'mem_4','text':'zoo'}]"),
		4));
	use(fixture, &near);
	json_decref(call_for(fixture, "alice", REEMBED("'m',2"), 0));

	json_decref(call_for(
		fixture, "alice", CALL("genesis_memory", "delete", "'m','mem_00000001'"), 0));
	json_decref(call_for(
		fixture, "alice", CALL("genesis_memory", "delete", "'m','mem_00000003'"), 0));
	assert_call(fixture, "alice", REEMBED("'m'"), 0,
		"{'left':0,'memory_artifact_id':'m','model':'near','reembedded':1,'total_entries':"
		"2}");

	assert_found(fixture, SEARCH("'m','zero',1"), "zoo");
	use(fixture, NULL);
}

IN_MARKET(the_model_may_change_again_half_way)
{
	struct host far = host_of(fixture, "far");
	struct host near = host_of(fixture, "near");

	use(fixture, &far);
	assert_done(fixture, "alice", STORE("m", "{}"));
	json_decref(call_for(fixture, "alice",
		IMPORT("'m',[{'id':'mem_1','text':'apple'},{'id':'mem_2','text':'zebra'}]"), 2));
	use(fixture, &near);
	json_decref(call_for(fixture, "alice", REEMBED("'m',1"), 0));
	use(fixture, &far);

	assert_call(fixture, "alice", REEMBED("'m'"), 0,
		"{'left':0,'memory_artifact_id':'m','model':'far','reembedded':1,'total_entries':"
		"2}");

	assert_found(fixture, SEARCH("'m','zero',1"), "zebra");
	use(fixture, NULL);
}
