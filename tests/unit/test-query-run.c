/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on a real world: what each type answers and refuses, and what a principal does not
 * see. */
#include "tests/fixture/cells.h"

#include "kernel/domain/action/action.h"
#include "kernel/domain/query/query-run.h"

#define CONTENT "the content that nobody is shown"
#define CODE "function run() return 'the code that nobody is shown' end"

static struct wfs_error last_error;

static int ask_as(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *type, const char *params, json_t **ret_answer)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_JSON json_t *json = json_of(params);
	struct wfs_query query;

	last_error = (struct wfs_error){0};
	int r = wfs_query_check(type, json, &query, &last_error);
	return r ? r : wfs_query_run(&view, &query, sight, NULL, ret_answer, &last_error);
}

static json_t *answer_as(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *type, const char *params)
{
	json_t *answer = NULL;

	if (ask_as(fixture, sight, type, params, &answer) != 0)
		fail_msg("%s %s: %s", type, params, last_error.message);
	return answer;
}

static json_t *answer_to(struct world_fixture *fixture, const char *type, const char *params)
{
	return answer_as(fixture, NULL, type, params);
}

/* @expected: the answer besides success and query_type */
static void assert_answer_as(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *type, const char *params, const char *expected)
{
	WFS_AUTO_JSON json_t *answer = answer_as(fixture, sight, type, params);
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer wanted_text = {0};

	json_object_set_new(wanted, "success", json_true());
	json_object_set_new(wanted, "query_type", json_string(type));
	wfs_json_write(answer, &text);
	wfs_json_write(wanted, &wanted_text);
	assert_string_equal(wfs_buffer_text(&text), wfs_buffer_text(&wanted_text));
}

static void assert_answer(
	struct world_fixture *fixture, const char *type, const char *params, const char *expected)
{
	assert_answer_as(fixture, NULL, type, params, expected);
}

static void assert_refused_as(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *type, const char *params, enum wfs_error_code code, const char *message)
{
	json_t *answer = NULL;

	assert_int_equal(
		ask_as(fixture, sight, type, params, &answer), -wfs_error_info(code)->number);
	assert_string_equal(last_error.message, message);
	assert_int_equal(last_error.code, code);
	assert_null(answer);
}

static void assert_refused(struct world_fixture *fixture, const char *type, const char *params,
	enum wfs_error_code code, const char *message)
{
	assert_refused_as(fixture, NULL, type, params, code, message);
}

/* Checks the ids of a page, with spaces between. */
static void assert_page_as(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *params, int total, const char *expected)
{
	WFS_AUTO_JSON json_t *answer = answer_as(fixture, sight, "artifacts", params);
	const json_t *const results = json_object_get(answer, "results");
	WFS_AUTO_BUFFER struct wfs_buffer ids = {0};
	const json_t *row;
	size_t index;

	json_array_foreach(results, index, row)
		wfs_buffer_printf(&ids, "%s%s", index > 0 ? " " : "",
			json_string_value(json_object_get(row, "id")));
	assert_string_equal(wfs_buffer_text(&ids), expected);
	assert_int_equal(json_integer_value(json_object_get(answer, "total")), total);
	assert_int_equal(
		json_integer_value(json_object_get(answer, "returned")), json_array_size(results));
}

static void assert_page(
	struct world_fixture *fixture, const char *params, int total, const char *expected)
{
	assert_page_as(fixture, NULL, params, total, expected);
}

/* --- the world --- */

#define HASH "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* @rest: the members that differ between tests */
static void put_artifact(
	struct cells *cells, const char *id, const char *owner, bool executable, const char *rest)
{
	char document[1024];

	snprintf(document, sizeof(document),
		"{'access':'freeware','charged_to':'alpha','content_hash':'" HASH
		"','content_size':7,'created_at':100,'created_by':'alpha','executable':%s,"
		"'id':'%s','invoke_price':3,'owner':'%s','read_price':0,'updated_at':200,%s}",
		executable ? "true" : "false", id, owner, rest);
	cells_set(cells, "sys.artifact", id, document);
}

/* @rest: the members about its result */
static void put_invocation(struct cells *cells, const char *key, const char *artifact_id,
	const char *invoker_id, const char *rest)
{
	char document[512];

	snprintf(document, sizeof(document),
		"{'artifact_id':'%s','at_ns':%.1s000,'invoker_id':'%s','method':'run','seq':%.1s,"
		"%s}",
		artifact_id, key, invoker_id, key, rest);
	cells_set(cells, "sys.invocation", key, document);
}

static void put_artifacts(struct cells *cells)
{
	const struct wfs_bytes content = wfs_bytes_text(CONTENT);
	const struct wfs_bytes code = wfs_bytes_text(CODE);

	put_artifact(
		cells, "report", "alpha", false, "'type':'data','depends_on':[],'metadata':{}");
	put_artifact(cells, "pricer", "alpha", true,
		"'type':'tool','depends_on':['math','gone'],'metadata':{}");
	put_artifact(cells, "math", "alpha", true,
		"'type':'library','depends_on':[],'metadata':{'name':'mathx','version':'1.2'}");
	put_artifact(
		cells, "price_list", "beta", false, "'type':'data','depends_on':[],'metadata':{}");
	put_artifact(cells, "text", "alpha", true,
		"'type':'library','depends_on':['math'],'metadata':{}");
	cells_set(cells, "sys.deleted", "old", "{'deleted_at':300,'deleted_by':'beta'}");
	cells_put(cells, "sys.content", "report", &content);
	cells_put(cells, "sys.code", "pricer", &code);
}

static void put_principals(struct cells *cells)
{
	cells_set(cells, "sys.ledger", "alpha", "{'scrip':70}");
	cells_set(cells, "sys.ledger", "beta", "{'scrip':0}");
	cells_set(cells, "sys.ledger", "mint", "{'scrip':5}");
	cells_set(cells, "sys.ledger", "pricer", "{'scrip':9}");
	cells_set(cells, "sys.resource", "alpha",
		"{'disk':{'quota':100,'used':30},'llm_tokens':{'quota':5,'used':5}}");
	cells_set(cells, "sys.resource", "beta",
		"{'disk':{'quota':10,'used':12},'llm_budget':{'used':4},"
		"'llm_tokens':{'quota':5,'used':4}}");
}

static int setup(void **state)
{
	if (world_fixture_setup(state))
		return -1;
	struct cells cells = cells_begin(*state);

	put_artifacts(&cells);
	put_principals(&cells);
	cells_set(&cells, "sys.mint", "s1",
		"{'artifact_id':'pricer','bid':4,'status':'won','principal_id':'alpha'}");
	cells_set(&cells, "sys.mint", "s2", "{'artifact_id':'text','bid':2,'status':'lost'}");
	cells_set(&cells, "sys.mint", "s3", "{'artifact_id':'pricer','bid':5,'status':'pending'}");
	cells_set(&cells, "sys.mint", "s4", "{'artifact_id':'text','bid':6,'status':'pending'}");
	put_invocation(&cells, "7.0", "pricer", "alpha",
		"'duration_ms':10,'error_code':null,'success':true");
	put_invocation(&cells, "7.1", "math", "pricer",
		"'duration_ms':3,'error_code':'timeout','success':false");
	put_invocation(&cells, "8.0", "pricer", "beta",
		"'duration_ms':20,'error_code':'runtime_error','success':false");
	put_invocation(&cells, "9.0", "pricer", "alpha",
		"'duration_ms':31,'error_code':null,'success':true");
	cells_commit(&cells);
	return 0;
}

#define IN_MARKET(name) \
	TEST_WITH(name, struct world_fixture *fixture, setup, world_fixture_teardown)

/* --- artifacts --- */

IN_MARKET(a_row_of_artifacts_is_as_the_spec_has_it)
{
	assert_answer(fixture, "artifacts", "{'owner':'beta'}",
		"{'total':1,'returned':1,'results':[{'id':'price_list','type':'data',"
		"'created_by':'alpha','owner':'beta','executable':false,'content_size':7,"
		"'created_at':100,'updated_at':200,'invoke_price':3,'read_price':0,"
		"'deleted':false}]}");
}

IN_MARKET(artifacts_are_paged_in_order_of_creation)
{
	assert_page(fixture, "{}", 5, "report pricer math price_list text");
	assert_page(fixture, "{'limit':2}", 5, "report pricer");
	assert_page(fixture, "{'limit':2,'offset':2}", 5, "math price_list");
	assert_page(fixture, "{'limit':2,'offset':4}", 5, "text");
	assert_page(fixture, "{'offset':5}", 5, "");
	assert_page(fixture, "{'offset':2147483647}", 5, "");
	assert_page(fixture, "{'limit':0}", 5, "");
}

IN_MARKET(artifacts_are_filtered)
{
	assert_page(fixture, "{'owner':'alpha'}", 4, "report pricer math text");
	assert_page(fixture, "{'owner':'alpha','limit':2,'offset':1}", 4, "pricer math");
	assert_page(fixture, "{'owner':'alpha','limit':0}", 4, "");
	assert_page(fixture, "{'type':'library'}", 2, "math text");
	assert_page(fixture, "{'executable':true}", 3, "pricer math text");
	assert_page(fixture, "{'executable':false}", 2, "report price_list");
	assert_page(fixture, "{'owner':'alpha','type':'data','executable':false}", 1, "report");
}

IN_MARKET(a_pattern_is_held_to_the_start_of_the_id)
{
	assert_page(fixture, "{'name_pattern':'pric'}", 2, "pricer price_list");
	assert_page(fixture, "{'name_pattern':'price.$'}", 1, "pricer");
	assert_page(fixture, "{'name_pattern':'rice'}", 0, "");
	assert_page(fixture, "{'name_pattern':'.*t'}", 4, "report math price_list text");
	assert_page(fixture, "{'name_pattern':'.*t','limit':2,'offset':1}", 4, "math price_list");
	assert_page(fixture, "{'name_pattern':'.*t','owner':'alpha','limit':0}", 3, "");
	assert_page(fixture, "{'name_pattern':'p','owner':'alpha'}", 1, "pricer");
	assert_page(fixture, "{'name_pattern':''}", 5, "report pricer math price_list text");
}

static void assert_message(struct world_fixture *fixture, const char *params, const char *message)
{
	WFS_AUTO_JSON json_t *answer = answer_to(fixture, "artifacts", params);

	assert_string_equal(json_string_value(json_object_get(answer, "message")), message);
	assert_true(json_is_true(json_object_get(answer, "success")));
	assert_int_equal(json_array_size(json_object_get(answer, "results")), 0);
}

IN_MARKET(nothing_found_is_told_with_the_filters)
{
	assert_message(fixture, "{'executable':true,'owner':'beta'}",
		"No artifacts match filters {owner: 'beta', executable: true}");
	assert_message(fixture,
		"{'limit':3,'name_pattern':'zz','executable':false,'type':'tool','owner':'beta'}",
		"No artifacts match filters {owner: 'beta', type: 'tool', executable: false, "
		"name_pattern: 'zz'}");
}

IN_WORLD(a_world_without_artifacts_has_no_filters_to_tell)
{
	assert_message(fixture, "{}", "No artifacts match filters {}");
}

IN_MARKET(a_page_behind_the_end_is_no_miss)
{
	WFS_AUTO_JSON json_t *answer = answer_to(fixture, "artifacts", "{'offset':9}");

	assert_null(json_object_get(answer, "message"));
}

IN_WORLD(a_bad_pattern_is_refused_in_an_empty_world)
{
	assert_refused(fixture, "artifacts", "{'name_pattern':'['}", WFS_E_INVALID_PATTERN,
		"Invalid regex pattern: '['");
}

IN_MARKET(a_hostile_pattern_ends)
{
	struct cells cells = cells_begin(fixture);

	put_artifact(&cells, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-", "alpha", false,
		"'type':'data','depends_on':[],'metadata':{}");
	cells_commit(&cells);

	assert_refused(fixture, "artifacts", "{'name_pattern':'(a+)+$'}", WFS_E_INVALID_PATTERN,
		"Invalid regex pattern: '(a+)+$': it takes too much work");
}

IN_MARKET(one_artifact_is_told_with_all_its_metadata)
{
	assert_answer(fixture, "artifact", "{'artifact_id':'math'}",
		"{'result':{'access':'freeware','charged_to':'alpha','content_hash':'" HASH
		"','content_size':7,"
		"'created_at':100,'created_by':'alpha','deleted':false,'depends_on':[],"
		"'executable':true,'id':'math','invoke_price':3,"
		"'metadata':{'name':'mathx','version':'1.2'},'owner':'alpha','read_price':0,"
		"'type':'library','updated_at':200}}");
}

IN_MARKET(a_deleted_artifact_is_told_with_who_deleted_it)
{
	assert_answer(fixture, "artifact", "{'artifact_id':'old'}",
		"{'result':{'deleted':true,'deleted_at':300,'deleted_by':'beta','id':'old'}}");
}

IN_MARKET(an_unknown_artifact_is_not_found)
{
	assert_refused(fixture, "artifact", "{'artifact_id':'zz'}", WFS_E_NOT_FOUND,
		"Artifact 'zz' not found");
	assert_refused(fixture, "dependencies", "{'artifact_id':'old'}", WFS_E_NOT_FOUND,
		"Artifact 'old' not found");
	assert_refused(fixture, "artifact", "{'artifact_id':''}", WFS_E_NOT_FOUND,
		"Artifact '' not found");
}

IN_MARKET(dependencies_are_told_both_ways)
{
	assert_answer(fixture, "dependencies", "{'artifact_id':'math'}",
		"{'depends_on':[],'dependents':['pricer','text']}");
	assert_answer(fixture, "dependencies", "{'artifact_id':'pricer'}",
		"{'depends_on':['math','gone'],'dependents':[]}");
}

IN_MARKET(libraries_have_the_names_of_their_metadata)
{
	assert_answer(fixture, "libraries", "{'principal_id':'alpha'}",
		"{'libraries':[{'name':'mathx','version':'1.2'},{'name':'text','version':null}]}");
	assert_answer(fixture, "libraries", "{'principal_id':'beta'}", "{'libraries':[]}");
}

/* --- principals --- */

IN_MARKET(principals_are_listed_in_order_of_creation)
{
	assert_answer(fixture, "principals", "{}",
		"{'total':5,'returned':5,'results':['operator','alpha','beta','mint','pricer']}");
	assert_answer(fixture, "principals", "{'limit':1}",
		"{'total':5,'returned':1,'results':['operator']}");
	assert_answer(
		fixture, "principals", "{'limit':0}", "{'total':5,'returned':0,'results':[]}");
}

IN_MARKET(a_principal_exists_or_not)
{
	assert_answer(fixture, "principal", "{'principal_id':'alpha'}",
		"{'exists':true,'principal_id':'alpha','scrip':70,'type':'principal'}");
	assert_answer(fixture, "principal", "{'principal_id':'pricer'}",
		"{'exists':true,'principal_id':'pricer','scrip':9,'type':'artifact'}");
	assert_answer(fixture, "principal", "{'principal_id':'mint'}",
		"{'exists':true,'principal_id':'mint','scrip':5,'type':'internal'}");
	assert_answer(fixture, "principal", "{'principal_id':'nobody'}",
		"{'exists':false,'principal_id':'nobody'}");
}

IN_MARKET(balances_are_told_of_one_or_all)
{
	assert_answer(fixture, "balances", "{}",
		"{'balances':{'alpha':70,'beta':0,'mint':5,'operator':0,'pricer':9}}");
	assert_answer(fixture, "balances", "{'principal_id':'beta'}",
		"{'principal_id':'beta','scrip':0}");
}

IN_MARKET(resources_without_a_quota_are_unlimited)
{
	assert_answer(fixture, "resources", "{'principal_id':'beta'}",
		"{'resources':{'disk':{'quota':10,'used':12},'journal':{'quota':null,'used':0},"
		"'llm_budget':{'quota':null,'used':4},"
		"'llm_tokens':{'quota':5,'used':4}}}");
	assert_answer(fixture, "resources", "{'principal_id':'mint'}",
		"{'resources':{'disk':{'quota':null,'used':0},'journal':{'quota':null,'used':0},"
		"'llm_budget':{'quota':null,'used':0},'llm_tokens':{'quota':null,'used':0}}}");
	assert_answer(fixture, "resources", "{'principal_id':'alpha','resource':'disk'}",
		"{'resources':{'disk':{'quota':100,'used':30}}}");
}

IN_MARKET(quotas_tell_what_is_available)
{
	assert_answer(fixture, "quotas", "{'principal_id':'beta'}",
		"{'quotas':{'disk':{'available':0,'quota':10,'used':12},"
		"'journal':{'available':null,'quota':null,'used':0},"
		"'llm_budget':{'available':null,'quota':null,'used':4},"
		"'llm_tokens':{'available':1,'quota':5,'used':4}}}");
	assert_answer(fixture, "quotas", "{'principal_id':'alpha','resource':'disk'}",
		"{'quotas':{'disk':{'available':70,'quota':100,'used':30}}}");
}

IN_MARKET(unknown_principals_and_resources_are_not_found)
{
	static const char message[] = "Principal 'nobody' not found";

	assert_refused(fixture, "balances", "{'principal_id':'nobody'}", WFS_E_NOT_FOUND, message);
	assert_refused(fixture, "resources", "{'principal_id':'nobody','resource':'gpu'}",
		WFS_E_NOT_FOUND, message);
	assert_refused(fixture, "quotas", "{'principal_id':'nobody'}", WFS_E_NOT_FOUND, message);
	assert_refused(fixture, "libraries", "{'principal_id':'nobody'}", WFS_E_NOT_FOUND, message);
	assert_refused(fixture, "frozen", "{'agent_id':'nobody'}", WFS_E_NOT_FOUND, message);
	assert_refused(fixture, "resources", "{'principal_id':'alpha','resource':'gpu'}",
		WFS_E_NOT_FOUND,
		"Resource 'gpu' not found. Available: disk, journal, llm_budget, "
		"llm_tokens");
	assert_refused(fixture, "quotas", "{'principal_id':'alpha','resource':'gpu'}",
		WFS_E_NOT_FOUND,
		"Quota for 'gpu' not found. Available: disk, journal, llm_budget, "
		"llm_tokens");
}

IN_MARKET(who_has_used_up_its_tokens_is_frozen)
{
	assert_answer(fixture, "frozen", "{}", "{'frozen_agents':['alpha']}");
	assert_answer(
		fixture, "frozen", "{'agent_id':'alpha'}", "{'agent_id':'alpha','frozen':true}");
	assert_answer(
		fixture, "frozen", "{'agent_id':'beta'}", "{'agent_id':'beta','frozen':false}");
	assert_answer(
		fixture, "frozen", "{'agent_id':'mint'}", "{'agent_id':'mint','frozen':false}");
}

IN_MARKET(the_mint_tells_how_many_bids_there_are_and_those_that_were_resolved)
{
	static const char current[] = "{'current_auction':{'pending_submissions':2}}";

	assert_answer(fixture, "mint", "{}", current);
	assert_answer(fixture, "mint", "{'status':true}", current);
	assert_answer(fixture, "mint", "{'status':false,'history':false}", current);
	assert_answer(fixture, "mint", "{'history':true}",
		"{'history':[{'artifact_id':'text','bid':2,'status':'lost','submission_id':'s2'},"
		"{'artifact_id':'pricer','bid':4,'principal_id':'alpha','status':'won',"
		"'submission_id':'s1'}]}");
	assert_answer(fixture, "mint", "{'history':true,'status':true,'limit':1}",
		"{'current_auction':{'pending_submissions':2},"
		"'history':[{'artifact_id':'text','bid':2,'status':'lost','submission_id':'s2'}]}");
	assert_answer(fixture, "mint", "{'history':true,'limit':0}", "{'history':[]}");
}

/* --- what happened --- */

IN_MARKET(events_are_the_newest_records_the_oldest_of_them_first)
{
	WFS_AUTO_JSON json_t *all = answer_to(fixture, "events", "{}");
	WFS_AUTO_JSON json_t *two = answer_to(fixture, "events", "{'limit':2}");
	WFS_AUTO_JSON json_t *none = answer_to(fixture, "events", "{'limit':0}");
	const json_t *const events = json_object_get(two, "events");
	const uint64_t height = height_of(fixture);

	assert_int_equal(json_integer_value(json_object_get(all, "returned")), height);
	assert_int_equal(json_integer_value(json_object_get(two, "returned")), 2);
	for (size_t i = 0; i < 2; i++) {
		WFS_AUTO_RECORD struct wfs_record_parsed record =
			record_at(fixture, height - 2 + i);

		assert_true(json_equal(json_array_get(events, i), record.json));
	}
	assert_int_equal(json_array_size(json_object_get(none, "events")), 0);
}

IN_MARKET(large_records_make_a_shorter_page)
{
	const size_t size = 1 << 20;
	WFS_AUTO_FREE char *pad = malloc(size + 1);
	WFS_AUTO_FREE char *value = NULL;

	assert_non_null(pad);
	memset(pad, 'x', size);
	pad[size] = '\0';
	assert_true(asprintf(&value, "{'key':'a','op':'set','pad':'%s'}", pad) > 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(send_event(fixture, "test/Do@1", value), 0);

	WFS_AUTO_JSON json_t *answer = answer_to(fixture, "events", "{}");
	const json_t *const events = json_object_get(answer, "events");
	const size_t count = json_array_size(events);
	assert_int_equal(count, WFS_QUERY_EVENTS_BYTES_MAX / size - 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(events, count - 1), "seq")),
		height_of(fixture) - 1);
}

IN_MARKET(invocations_are_told_newest_first_with_statistics)
{
	assert_answer(fixture, "invocations", "{'artifact_id':'pricer','limit':1}",
		"{'returned':1,'records':[{'seq':9,'invoker_id':'alpha','artifact_id':'pricer',"
		"'method':'run','success':true,'duration_ms':31,'error_code':null,'at_ns':9000}],"
		"'stats':{'total':3,'successful':2,'failed':1,'success_rate':0.6666666666666666,"
		"'avg_duration_ms':20.333333333333332,'failure_types':{'runtime_error':1}}}");
	assert_answer(fixture, "invocations", "{'invoker_id':'pricer'}",
		"{'returned':1,'records':[{'seq':7,'invoker_id':'pricer','artifact_id':'math',"
		"'method':'run','success':false,'duration_ms':3,'error_code':'timeout',"
		"'at_ns':7000}],'stats':{'total':1,'successful':0,'failed':1,'success_rate':0,"
		"'avg_duration_ms':3,'failure_types':{'timeout':1}}}");
	assert_answer(fixture, "invocations", "{'limit':0}",
		"{'returned':0,'records':[],'stats':{'total':4,'successful':2,'failed':2,"
		"'success_rate':0.5,'avg_duration_ms':16,"
		"'failure_types':{'runtime_error':1,'timeout':1}}}");
	assert_answer(fixture, "invocations",
		"{'artifact_id':'pricer','invoker_id':'alpha','limit':0}",
		"{'returned':0,'records':[],'stats':{'total':2,'successful':2,'failed':0,"
		"'success_rate':1,'avg_duration_ms':20.5,'failure_types':{}}}");
}

IN_MARKET(no_invocations_are_an_answer)
{
	assert_answer(fixture, "invocations", "{'artifact_id':'zz'}",
		"{'returned':0,'records':[],'stats':{'total':0,'successful':0,'failed':0,"
		"'success_rate':0,'avg_duration_ms':0,'failure_types':{}}}");
}

/* --- sight --- */

/* Lets the principal see the listed paths. */
static bool sees_listed(void *context, const struct wfs_query_row *row)
{
	const char *const *path = context;
	char wanted[600];

	snprintf(wanted, sizeof(wanted), "%s/%s", wfs_query_directory(row->part), row->name);
	for (; *path; path++)
		if (strcmp(*path, wanted) == 0)
			return true;
	return false;
}

static const char *const some_paths[] = {"artifacts/pricer", "artifacts/price_list",
	"artifacts/math", "principals/beta", "principals/pricer", NULL};

/* Lets the principal read what everybody may read. */
static int reads_open(void *context, const struct wfs_document_artifact *artifact)
{
	(void)context;
	return wfs_artifact_is_open(artifact);
}

static const struct wfs_query_sight some = {sees_listed, reads_open, (void *)some_paths};

IN_MARKET(artifacts_out_of_sight_are_in_no_page_and_no_total)
{
	assert_page_as(fixture, &some, "{}", 3, "pricer math price_list");
	assert_page_as(fixture, &some, "{'limit':1,'offset':1}", 3, "math");
	assert_page_as(fixture, &some, "{'offset':3}", 3, "");
	assert_page_as(fixture, &some, "{'offset':100}", 3, "");
	assert_page_as(fixture, &some, "{'owner':'alpha'}", 2, "pricer math");
	assert_page_as(fixture, &some, "{'owner':'alpha','limit':0}", 2, "");
	assert_page_as(fixture, &some, "{'name_pattern':'p'}", 2, "pricer price_list");
	assert_page_as(fixture, &some, "{'type':'data','executable':false}", 1, "price_list");
	assert_answer_as(fixture, &some, "dependencies", "{'artifact_id':'math'}",
		"{'depends_on':[],'dependents':['pricer']}");
}

static bool tells_hash(struct world_fixture *fixture, const struct wfs_query_sight *sight,
	const char *params, const char *member)
{
	WFS_AUTO_JSON json_t *answer = answer_as(fixture, sight, "artifact", params);

	return json_object_get(json_object_get(answer, "result"), member) != NULL;
}

/* The hash of a short text would reveal the text. */
IN_MARKET(hashes_of_an_artifact_are_for_those_who_may_read_it)
{
	static const char *const members[] = {"content_hash", "code_hash"};
	struct cells cells = cells_begin(fixture);

	put_artifact(&cells, "math", "a", true,
		"'code_hash':'" HASH "','type':'tool','depends_on':[],'metadata':{}");
	cells_set(&cells, "sys.artifact", "price_list",
		"{'access':'private','charged_to':'a','code_hash':'" HASH "','content_hash':'" HASH
		"','content_size':7,'created_at':1,'created_by':'a','depends_on':[],"
		"'executable':true,'id':'price_list','invoke_price':0,'metadata':{},'owner':'a',"
		"'read_price':0,'type':'tool','updated_at':1}");
	cells_commit(&cells);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		print_message("%s\n", members[i]);
		assert_true(tells_hash(fixture, NULL, "{'artifact_id':'price_list'}", members[i]));
		assert_false(
			tells_hash(fixture, &some, "{'artifact_id':'price_list'}", members[i]));
		assert_true(tells_hash(fixture, &some, "{'artifact_id':'math'}", members[i]));
	}
}

IN_MARKET(who_sees_nothing_is_told_as_if_there_were_nothing)
{
	static const char *const none[] = {NULL};
	const struct wfs_query_sight blind = {sees_listed, reads_open, (void *)none};

	assert_page_as(fixture, &blind, "{}", 0, "");
	assert_refused_as(fixture, &blind, "artifact", "{'artifact_id':'math'}", WFS_E_NOT_FOUND,
		"Artifact 'math' not found");
	assert_refused_as(fixture, &blind, "artifact", "{'artifact_id':'old'}", WFS_E_NOT_FOUND,
		"Artifact 'old' not found");
	assert_answer_as(
		fixture, &blind, "principals", "{}", "{'total':0,'returned':0,'results':[]}");
	assert_answer_as(fixture, &blind, "principal", "{'principal_id':'alpha'}",
		"{'exists':false,'principal_id':'alpha'}");
	assert_answer_as(fixture, &blind, "balances", "{}", "{'balances':{}}");
	assert_answer_as(fixture, &blind, "frozen", "{}", "{'frozen_agents':[]}");
	assert_answer_as(fixture, &blind, "events", "{}", "{'returned':0,'events':[]}");
	assert_answer_as(fixture, &blind, "mint", "{'status':true,'history':true}",
		"{'current_auction':{'pending_submissions':0},'history':[]}");
	assert_answer_as(fixture, &blind, "invocations", "{'artifact_id':'pricer'}",
		"{'returned':0,'records':[],'stats':{'total':0,'successful':0,'failed':0,"
		"'success_rate':0,'avg_duration_ms':0,'failure_types':{}}}");
	assert_refused_as(fixture, &blind, "resources", "{'principal_id':'alpha'}", WFS_E_NOT_FOUND,
		"Principal 'alpha' not found");
}

IN_MARKET(the_rest_is_counted_by_what_is_seen)
{
	assert_answer_as(fixture, &some, "principals", "{'limit':1}",
		"{'total':2,'returned':1,'results':['beta']}");
	assert_answer_as(fixture, &some, "balances", "{}", "{'balances':{'beta':0,'pricer':9}}");
	assert_answer_as(fixture, &some, "mint", "{'status':true,'history':true}",
		"{'current_auction':{'pending_submissions':1},'history':[{'artifact_id':'pricer',"
		"'bid':4,'principal_id':'alpha','status':'won','submission_id':'s1'}]}");
	assert_answer_as(fixture, &some, "invocations", "{'artifact_id':'pricer','limit':0}",
		"{'returned':0,'records':[],'stats':{'total':3,'successful':2,'failed':1,"
		"'success_rate':0.6666666666666666,'avg_duration_ms':20.333333333333332,"
		"'failure_types':{'runtime_error':1}}}");
	assert_answer_as(fixture, &some, "invocations", "{'invoker_id':'pricer','limit':0}",
		"{'returned':0,'records':[],'stats':{'total':1,'successful':0,'failed':1,"
		"'success_rate':0,'avg_duration_ms':3,'failure_types':{'timeout':1}}}");
}

/* --- all of them --- */

IN_MARKET(no_answer_has_content_or_code_or_changes_anything)
{
	static const struct {
		const char *type;
		const char *params;
	} queries[] = {
		{"artifacts", "{}"},
		{"artifact", "{'artifact_id':'report'}"},
		{"artifact", "{'artifact_id':'pricer'}"},
		{"principals", "{}"},
		{"principal", "{'principal_id':'pricer'}"},
		{"balances", "{}"},
		{"resources", "{'principal_id':'alpha'}"},
		{"quotas", "{'principal_id':'alpha'}"},
		{"mint", "{'status':true,'history':true}"},
		{"events", "{'limit':10000}"},
		{"invocations", "{}"},
		{"frozen", "{}"},
		{"libraries", "{'principal_id':'alpha'}"},
		{"dependencies", "{'artifact_id':'pricer'}"},
	};
	const uint64_t height = height_of(fixture);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(queries); i++) {
		WFS_AUTO_JSON json_t *answer =
			answer_to(fixture, queries[i].type, queries[i].params);
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_json_write(answer, &text);
		if (strstr(wfs_buffer_text(&text), "nobody is shown"))
			fail_msg("%s: %s", queries[i].type, wfs_buffer_text(&text));
	}
	assert_int_equal(height_of(fixture), height);
}

IN_MARKET(a_cell_that_is_no_document_is_our_error)
{
	const struct wfs_bytes bytes = wfs_bytes_text("no JSON");
	struct cells cells = cells_begin(fixture);
	json_t *answer = NULL;

	cells_put(&cells, "sys.artifact", "broken", &bytes);
	cells_commit(&cells);

	assert_int_equal(
		ask_as(fixture, NULL, "artifact", "{'artifact_id':'broken'}", &answer), -EIO);
	assert_int_equal(last_error.code, WFS_E_INTERNAL_ERROR);
	assert_null(answer);
}

static int ask_with(struct world_fixture *fixture, const char *type, struct wfs_query_work *work)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_query query;

	last_error = (struct wfs_error){0};
	assert_int_equal(wfs_query_check(type, NULL, &query, &last_error), 0);
	return wfs_query_run(&view, &query, NULL, work, &answer, &last_error);
}

IN_MARKET(a_query_ends_where_its_work_does)
{
	static const char *const types[] = {
		"artifacts", "principals", "balances", "frozen", "invocations"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(types); i++) {
		struct wfs_query_work work = {.most = 1000000};

		print_message("%s\n", types[i]);
		assert_int_equal(ask_with(fixture, types[i], &work), 0);
		assert_in_range(work.done, 200, 100000);
		work = (struct wfs_query_work){.most = work.done};
		assert_int_equal(ask_with(fixture, types[i], &work), 0);
		work = (struct wfs_query_work){.most = work.done - 1};
		assert_int_equal(ask_with(fixture, types[i], &work), -EIO);
		assert_int_equal(last_error.code, WFS_E_RUNTIME_ERROR);
		assert_true(work.done > work.most);
	}
}
