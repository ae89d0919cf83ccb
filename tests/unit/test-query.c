/* SPDX-License-Identifier: Apache-2.0 */
/* The table of queries: every type, every param and every message, and the help and schemas that
 * are made of it. */
#include "tests/fixture/schema.h"

#include "kernel/query/query.h"

#define ALL_TYPES                                                                                 \
	"artifacts, artifact, principals, principal, balances, resources, quotas, mint, events, " \
	"invocations, frozen, libraries, dependencies"

static struct wfs_query check_json(const char *type, const json_t *params)
{
	struct wfs_query query = {.type = WFS_QUERY_COUNT};
	struct wfs_error error = {0};

	if (wfs_query_check(type, params, &query, &error) != 0)
		fail_msg("%s: %s", type, error.message);
	return query;
}

/* Checks a query without texts: its params are freed before it returns. */
static struct wfs_query check_plain(const char *type, const char *params)
{
	WFS_AUTO_JSON json_t *json = json_of(params);

	return check_json(type, json);
}

static void assert_refused(
	const char *type, const char *params, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *json = json_of(params);
	struct wfs_query query = {.type = WFS_QUERY_COUNT};
	struct wfs_error error = {0};

	if (wfs_query_check(type, json, &query, &error) != -EINVAL)
		fail_msg("%s %s: was not refused", type, params);
	assert_string_equal(error.message, message);
	assert_int_equal(error.code, code);
	assert_int_equal(query.type, WFS_QUERY_COUNT);
	assert_int_equal(wfs_query_check(type, json, &query, NULL), -EINVAL);
}

/* --- decoding --- */

TEST(params_of_artifacts_are_handed_out)
{
	WFS_AUTO_JSON json_t *params = json_of("{'offset':2147483647,'limit':10000,"
					       "'name_pattern':'price.*','executable':false,"
					       "'type':'data','owner':'alpha'}");

	struct wfs_query query = check_json("artifacts", params);

	assert_int_equal(query.type, WFS_QUERY_ARTIFACTS);
	assert_string_equal(query.artifacts.owner, "alpha");
	assert_string_equal(query.artifacts.type, "data");
	assert_int_equal(query.artifacts.executable, 0);
	assert_string_equal(query.artifacts.name_pattern, "price.*");
	assert_int_equal(query.artifacts.limit, 10000);
	assert_int_equal(query.artifacts.offset, INT32_MAX);
}

TEST(params_that_are_absent_or_null_have_their_defaults)
{
	struct wfs_query query;

	query = check_plain("artifacts", "{'owner':null,'executable':null,'limit':null}");
	assert_null(query.artifacts.owner);
	assert_null(query.artifacts.type);
	assert_int_equal(query.artifacts.executable, WFS_QUERY_ABSENT);
	assert_null(query.artifacts.name_pattern);
	assert_int_equal(query.artifacts.limit, 50);
	assert_int_equal(query.artifacts.offset, 0);
	assert_int_equal(check_plain("principals", "{}").principals.limit, 100);
	assert_null(check_plain("balances", "{}").balances.principal_id);
	query = check_plain("mint", "{}");
	assert_int_equal(query.mint.status, WFS_QUERY_ABSENT);
	assert_int_equal(query.mint.history, WFS_QUERY_ABSENT);
	assert_int_equal(query.mint.limit, 10);
	assert_int_equal(check_plain("events", "{}").events.limit, 20);
	query = check_plain("invocations", "{}");
	assert_null(query.invocations.artifact_id);
	assert_null(query.invocations.invoker_id);
	assert_int_equal(query.invocations.limit, 20);
	assert_null(check_plain("frozen", "{}").frozen.agent_id);
}

TEST(params_may_be_absent_or_null_as_a_whole)
{
	WFS_AUTO_JSON json_t *null = json_null();

	assert_int_equal(check_json("events", NULL).events.limit, 20);
	assert_int_equal(check_json("events", null).events.limit, 20);
}

TEST(texts_of_the_other_types_are_handed_out)
{
	WFS_AUTO_JSON json_t *artifact = json_of("{'artifact_id':'a','invoker_id':'b'}");
	WFS_AUTO_JSON json_t *principal = json_of("{'principal_id':'p','resource':'disk'}");
	WFS_AUTO_JSON json_t *one = json_of("{'artifact_id':'a'}");
	WFS_AUTO_JSON json_t *who = json_of("{'principal_id':'p'}");
	WFS_AUTO_JSON json_t *agent = json_of("{'agent_id':'g'}");

	assert_string_equal(check_json("artifact", one).artifact.artifact_id, "a");
	assert_string_equal(check_json("dependencies", one).dependencies.artifact_id, "a");
	assert_string_equal(check_json("invocations", artifact).invocations.artifact_id, "a");
	assert_string_equal(check_json("invocations", artifact).invocations.invoker_id, "b");
	assert_string_equal(check_json("principal", who).principal.principal_id, "p");
	assert_string_equal(check_json("balances", who).balances.principal_id, "p");
	assert_string_equal(check_json("libraries", who).libraries.principal_id, "p");
	assert_string_equal(check_json("resources", principal).resources.principal_id, "p");
	assert_string_equal(check_json("resources", principal).resources.resource, "disk");
	assert_string_equal(check_json("quotas", principal).quotas.principal_id, "p");
	assert_string_equal(check_json("quotas", principal).quotas.resource, "disk");
	assert_string_equal(check_json("frozen", agent).frozen.agent_id, "g");
}

TEST(flags_of_mint_are_handed_out)
{
	struct wfs_query query;

	query = check_plain("mint", "{'status':true,'history':false,'limit':0}");

	assert_int_equal(query.mint.status, 1);
	assert_int_equal(query.mint.history, 0);
	assert_int_equal(query.mint.limit, 0);
}

/* --- refusing --- */

TEST(an_unknown_type_is_refused_with_all_that_there_are)
{
	assert_refused("artefacts", "{'limit':-1}", WFS_E_INVALID_QUERY_TYPE,
		"Unknown query_type 'artefacts'. Valid types: " ALL_TYPES
		". Did you mean 'artifacts'?");
	assert_refused("", "{}", WFS_E_INVALID_QUERY_TYPE,
		"Unknown query_type ''. Valid types: " ALL_TYPES);
	assert_refused("Artifacts", "{}", WFS_E_INVALID_QUERY_TYPE,
		"Unknown query_type 'Artifacts'. Valid types: " ALL_TYPES
		". Did you mean 'artifacts'?");
}

TEST(an_unknown_param_is_refused_with_those_of_the_type)
{
	assert_refused("artifacts", "{'ownerr':'alpha'}", WFS_E_INVALID_PARAM,
		"Unknown param 'ownerr' for artifacts query. Valid params: owner, type, "
		"executable, name_pattern, limit, offset. Did you mean 'owner'?");
	assert_refused("artifact", "{'id':'a'}", WFS_E_INVALID_PARAM,
		"Unknown param 'id' for artifact query. Valid params: artifact_id. Did you mean "
		"'artifact_id'?");
	assert_refused("principals", "{'offset':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'offset' for principals query. Valid params: limit");
	assert_refused("principal", "{'id':'a'}", WFS_E_INVALID_PARAM,
		"Unknown param 'id' for principal query. Valid params: principal_id. Did you mean "
		"'principal_id'?");
	assert_refused("balances", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for balances query. Valid params: principal_id");
	assert_refused("resources", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for resources query. Valid params: principal_id, resource");
	assert_refused("quotas", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for quotas query. Valid params: principal_id, resource");
	assert_refused("mint", "{'offset':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'offset' for mint query. Valid params: status, history, limit");
	assert_refused("events", "{'since':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'since' for events query. Valid params: limit");
	assert_refused("invocations", "{'method':'run'}", WFS_E_INVALID_PARAM,
		"Unknown param 'method' for invocations query. Valid params: artifact_id, "
		"invoker_id, limit");
	assert_refused("frozen", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for frozen query. Valid params: agent_id");
	assert_refused("libraries", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for libraries query. Valid params: principal_id");
	assert_refused("dependencies", "{'limit':1}", WFS_E_INVALID_PARAM,
		"Unknown param 'limit' for dependencies query. Valid params: artifact_id");
}

TEST(a_missing_param_is_refused_by_name)
{
	assert_refused("artifact", "{}", WFS_E_MISSING_PARAM,
		"Query 'artifact' requires 'artifact_id' param");
	assert_refused("artifact", "{'artifact_id':null}", WFS_E_MISSING_PARAM,
		"Query 'artifact' requires 'artifact_id' param");
	assert_refused("principal", "{}", WFS_E_MISSING_PARAM,
		"Query 'principal' requires 'principal_id' param");
	assert_refused("resources", "{'resource':'disk'}", WFS_E_MISSING_PARAM,
		"Query 'resources' requires 'principal_id' param");
	assert_refused("quotas", "null", WFS_E_MISSING_PARAM,
		"Query 'quotas' requires 'principal_id' param");
	assert_refused("libraries", "{}", WFS_E_MISSING_PARAM,
		"Query 'libraries' requires 'principal_id' param");
	assert_refused("dependencies", "{}", WFS_E_MISSING_PARAM,
		"Query 'dependencies' requires 'artifact_id' param");
}

TEST(a_param_of_another_type_is_refused_with_what_came)
{
	assert_refused("artifacts", "{'limit':'fifty'}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'limit' must be an integer, got 'fifty'");
	assert_refused("artifacts", "{'offset':1.5}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'offset' must be an integer, got 1.5");
	assert_refused("events", "{'limit':true}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'limit' must be an integer, got true");
	assert_refused("artifacts", "{'executable':'yes'}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'executable' must be a boolean, got 'yes'");
	assert_refused("mint", "{'status':1}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'status' must be a boolean, got 1");
	assert_refused("mint", "{'history':[]}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'history' must be a boolean, got []");
	assert_refused("artifacts", "{'owner':5}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'owner' must be a string, got 5");
	assert_refused("artifacts", "{'type':{'a':['b']}}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'type' must be a string, got {\"a\":[\"b\"]}");
	assert_refused("artifacts", "{'name_pattern':false}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'name_pattern' must be a string, got false");
	assert_refused("invocations", "{'invoker_id':7}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'invoker_id' must be a string, got 7");
	assert_refused("frozen", "{'agent_id':7}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'agent_id' must be a string, got 7");
	assert_refused("events", "[]", WFS_E_INVALID_ARGUMENT, "'params': expected an object");
}

TEST(a_text_with_nul_is_no_text)
{
	assert_refused("artifact", "{'artifact_id':'a\\u0000b'}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'artifact_id' must be a string, got \"a\\u0000b\"");
}

TEST(an_integer_out_of_range_is_refused_with_the_range)
{
	assert_refused("artifacts", "{'limit':-1}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'limit' must be between 0 and 10000, got -1");
	assert_refused("artifacts", "{'limit':10001}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'limit' must be between 0 and 10000, got 10001");
	assert_refused("artifacts", "{'offset':-1}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'offset' must be between 0 and 2147483647, got -1");
	assert_refused("artifacts", "{'offset':2147483648}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'offset' must be between 0 and 2147483647, got 2147483648");
	assert_refused("mint", "{'limit':9223372036854775807}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'limit' must be between 0 and 10000, got 9223372036854775807");
}

TEST(a_pattern_that_does_not_compile_is_refused_as_written)
{
	assert_refused("artifacts", "{'name_pattern':'['}", WFS_E_INVALID_PATTERN,
		"Invalid regex pattern: '['");
}

TEST(checks_come_in_their_order)
{
	assert_refused("artifacts", "{'limit':'x','zz':1,'aa':2}", WFS_E_INVALID_PARAM,
		"Unknown param 'zz' for artifacts query. Valid params: owner, type, executable, "
		"name_pattern, limit, offset");
	assert_refused("resources", "{'resource':5}", WFS_E_MISSING_PARAM,
		"Query 'resources' requires 'principal_id' param");
	assert_refused("artifacts", "{'offset':-1,'limit':'x','owner':5}", WFS_E_INVALID_PARAM_TYPE,
		"Param 'owner' must be a string, got 5");
	assert_refused("artifacts", "{'offset':'x','limit':-1}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'limit' must be between 0 and 10000, got -1");
	assert_refused("artifacts", "{'name_pattern':'[','offset':-1}", WFS_E_INVALID_PARAM_VALUE,
		"Param 'offset' must be between 0 and 2147483647, got -1");
}

TEST(a_long_name_leaves_room_for_what_was_expected)
{
	WFS_AUTO_JSON json_t *params = json_object();
	char name[2000];
	struct wfs_query query;
	struct wfs_error error = {0};
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_object_set_new(params, name, json_true());

	assert_int_equal(wfs_query_check("events", params, &query, &error), -EINVAL);
	assert_non_null(strstr(error.message, "' for events query. Valid params: limit"));
	assert_int_equal(wfs_query_check(name, NULL, &query, &error), -EINVAL);
	assert_non_null(strstr(error.message, "Valid types: " ALL_TYPES));
}

/* --- what comes from the table besides --- */

TEST(every_type_is_found_by_its_name)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	wfs_query_names_append(&names);

	assert_string_equal(wfs_buffer_text(&names), ALL_TYPES);
	assert_int_equal(WFS_QUERY_COUNT, 13);
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const enum wfs_query_type type = (enum wfs_query_type)i;

		if (wfs_query_find(wfs_query_name(type)) != type)
			fail_msg("%s", wfs_query_name(type));
	}
	assert_int_equal(wfs_query_find("queries"), WFS_QUERY_COUNT);
}

TEST(every_example_is_a_query_and_fits_its_schema)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const enum wfs_query_type type = (enum wfs_query_type)i;
		WFS_AUTO_JSON json_t *definition = wfs_query_params_schema(false);
		WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of_json(definition);
		WFS_AUTO_JSON json_t *params = json_of(wfs_query_example(type));
		struct wfs_error error = {0};

		if (wfs_schema_check(schema, params, &error) != 0)
			fail_msg("%s: %s", wfs_query_name(type), error.message);
		assert_int_equal(check_json(wfs_query_name(type), params).type, type);
	}
}

TEST(the_schema_of_params_tells_which_type_takes_them)
{
	WFS_AUTO_JSON json_t *schema = wfs_query_params_schema(false);
	const json_t *const properties = json_object_get(schema, "properties");
	WFS_AUTO_JSON json_t *pattern =
		json_of("{'type':'string','format':'regex',"
			"'description':'artifacts: matched at the start of the id'}");
	WFS_AUTO_JSON json_t *resource =
		json_of("{'type':'string','description':'resources, quotas: the resource; all of "
			"them without it'}");
	WFS_AUTO_JSON json_t *limit =
		json_of("{'type':'integer','minimum':0,'maximum':10000,'description':'artifacts "
			"(50), principals (100): results at most\\nmint (10): auctions of the "
			"history at most\\nevents (20): events at most\\ninvocations (20): records "
			"at most'}");

	assert_int_equal(json_object_size(properties), 13);
	assert_int_equal(json_array_size(json_object_get(schema, "required")), 0);
	assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
	assert_true(json_equal(json_object_get(properties, "name_pattern"), pattern));
	assert_true(json_equal(json_object_get(properties, "resource"), resource));
	assert_true(json_equal(json_object_get(properties, "limit"), limit));
}

TEST(a_strict_schema_takes_null_for_what_is_not_given)
{
	WFS_AUTO_JSON json_t *definition = wfs_query_params_schema(true);
	WFS_AUTO_SCHEMA struct wfs_schema *schema = schema_of_json(definition);
	WFS_AUTO_JSON json_t *params = json_of(wfs_query_example(WFS_QUERY_QUOTAS));
	struct wfs_error error = {0};
	const char *name;
	json_t *property;

	assert_int_equal(wfs_schema_check(schema, params, &error), -EINVAL);
	json_object_foreach(json_object_get(definition, "properties"), name, property) {
		if (!json_object_get(params, name))
			json_object_set_new(params, name, json_null());
	}
	assert_int_equal(wfs_schema_check(schema, params, &error), 0);
}

TEST(the_schema_of_types_tells_their_params)
{
	WFS_AUTO_JSON json_t *schema = wfs_query_type_schema();
	const char *const help = json_string_value(json_object_get(schema, "description"));
	const json_t *const names = json_object_get(schema, "enum");

	assert_int_equal(json_array_size(names), WFS_QUERY_COUNT);
	assert_string_equal(json_string_value(json_array_get(names, 0)), "artifacts");
	assert_non_null(
		strstr(help, "\nresources(principal_id, resource?): what a principal uses"));
	assert_non_null(strstr(help, "\ndependencies(artifact_id): what an artifact depends on"));
}

TEST(a_page_of_help_has_everything)
{
	WFS_AUTO_BUFFER struct wfs_buffer page = {0};

	wfs_query_help(WFS_QUERY_RESOURCES, &page);

	assert_string_equal(wfs_buffer_text(&page),
		"resources: what a principal uses of each resource\n"
		"\n"
		"Params:\n"
		"  principal_id  string, required: the principal\n"
		"  resource      string: the resource; all of them without it\n"
		"\n"
		"Answer, besides success and query_type:\n"
		"  resources {name: {used, quota}}\n"
		"\n"
		"Example:\n"
		"  worldfs query resources principal_id=alpha\n");
}

static size_t columns_of(const char *line, size_t size)
{
	size_t columns = 0;

	for (size_t i = 0; i < size; i++)
		columns += ((unsigned char)line[i] & 0xc0) != 0x80;
	return columns;
}

TEST(every_page_of_help_fits_80_columns_and_names_every_param)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++) {
		const enum wfs_query_type type = (enum wfs_query_type)i;
		WFS_AUTO_BUFFER struct wfs_buffer page = {0};

		wfs_query_help(type, &page);
		for (const char *line = wfs_buffer_text(&page); *line;
			line += strcspn(line, "\n") + 1)
			if (columns_of(line, strcspn(line, "\n")) > 80)
				fail_msg("%s: %s", wfs_query_name(type), line);
		for (const struct wfs_query_param *param = wfs_query_params(type); param->name;
			param++) {
			char start[64];

			snprintf(start, sizeof(start), "\n  %-13s ", param->name);
			if (!strstr(wfs_buffer_text(&page), start))
				fail_msg("%s: %s", wfs_query_name(type), param->name);
		}
	}
}
