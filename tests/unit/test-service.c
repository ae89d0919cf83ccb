/* SPDX-License-Identifier: Apache-2.0 */
/* The genesis artifacts as artifacts; how services are called; genesis_ledger and the two libraries. Numbers
 * in comments are those of cases of a comparable system. */
#include "tests/unit/market-fixture.h"

#include "kernel/domain/service/service.h"

#define LEDGER(method, args) CALL("genesis_ledger", method, args)
#define PROMPTS(method, args) CALL("genesis_prompt_library", method, args)
#define WORKFLOWS(method, args) CALL("genesis_workflow_templates", method, args)
#define DENIED WFS_E_NOT_AUTHORIZED

static const char *const ids[] = {"genesis_ledger", "genesis_escrow", "genesis_embedder",
	"genesis_memory", "genesis_memory_search", "genesis_memory_add", "genesis_prompt_library",
	"genesis_workflow_templates"};

/* An action that names an artifact in the place of %s; caller frees. */
#define ABOUT(action, id)                                          \
	({                                                         \
		char *made_ = NULL;                                \
		assert_true(asprintf(&made_, (action), (id)) > 0); \
		print_message("%s\n", (id));                       \
		made_;                                             \
	})

/* --- as artifacts --- */

static void a_world_begins_with_them(void **state)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_JSON json_t *artifact = document_of(*state, "sys.artifact", ids[i]);

		print_message("%s\n", ids[i]);
		assert_non_null(service_find(ids[i]));
		assert_string_equal(wfs_json_text(artifact, "owner"), "genesis");
		assert_string_equal(wfs_json_text(artifact, "access"), "freeware");
		assert_true(json_is_true(json_object_get(artifact, "executable")));
	}
	assert_null(service_find("genesis"));
}

static void nobody_changes_them(void **state)
{
	static const char *const who[] = {"alice", "operator", "genesis_escrow"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *write =
			ABOUT(WRITE("'artifact_id':'%s','content':'x'"), ids[i]);
		WFS_AUTO_FREE char *edit =
			ABOUT(ACTION("edit_artifact",
				      "'artifact_id':'%s','old_string':'a','new_string':'b'"),
				ids[i]);
		WFS_AUTO_FREE char *delete =
			ABOUT(ACTION("delete_artifact", "'artifact_id':'%s'"), ids[i]);
		WFS_AUTO_FREE char *give = ABOUT(
			ACTION("transfer_ownership", "'artifact_id':'%s','to':'alice'"), ids[i]);

		for (size_t k = 0; k < WFS_ARRAY_COUNT(who); k++) {
			assert_refused(*state, who[k], write, DENIED, "Cannot modify system");
			assert_refused(*state, who[k], edit, DENIED, "may not edit");
			assert_refused(*state, who[k], delete, DENIED, "may not delete");
			assert_refused(*state, who[k], give, DENIED, "its owner is 'genesis'");
		}
	}
	assert_refused(*state, "alice", WRITE("'artifact_id':'genesis_new'"), DENIED, "system");
}

static void nobody_is_called_like_the_kernel(void **state)
{
	static const char *const names[] = {"genesis", "genesis_", "genesis_me", "genesis_ledger"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_FREE char *add = ABOUT("{'action_type':'principal','id':'%s'}", names[i]);

		assert_refused(*state, "tester", add, WFS_E_INVALID_ARGUMENT, "kernel's own");
	}
	assert_refused(*state, "alice", WRITE("'artifact_id':'genesis'"), WFS_E_INVALID_ARGUMENT,
		"a word of the kernel's own");
	assert_refused(*state, "alice", WRITE("'artifact_id':'genesis','type':'agent'"),
		WFS_E_INVALID_ARGUMENT, "a word of the kernel's own");
	assert_refused(*state, "alice", ACTION("transfer", "'to':'genesis','amount':1"),
		WFS_E_NOT_FOUND, "'genesis' not found");
}

/* --- describe --- */

static void what_a_service_does_is_told(void **state)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *describe =
			ABOUT(INVOKE("'artifact_id':'%s','method':'describe'"), ids[i]);
		WFS_AUTO_JSON json_t *result = call_for(*state, "alice", describe, 0);
		const json_t *method;
		size_t k;

		json_array_foreach(json_object_get(result, "methods"), k, method)
		{
			assert_true(json_is_string(json_object_get(method, "name")));
			assert_true(json_is_object(json_object_get(method, "input")));
		}
		assert_true(k >= 2); /* run is one */
	}
}

static void the_prices_that_are_told_are_those_that_are_paid(void **state)
{
	WFS_AUTO_JSON json_t *result = call_for(
		*state, "alice", INVOKE("'artifact_id':'genesis_memory','method':'describe'"), 0);
	WFS_AUTO_JSON json_t *prices = json_object();
	const json_t *method;
	size_t i;

	json_array_foreach(json_object_get(result, "methods"), i, method) json_object_set(prices,
		wfs_json_text(method, "name"),
		json_object_get(method, "price") ? json_object_get(method, "price") : json_null());
	assert_json_is(json_incref(prices),
		"{'add':1,'create':5,'delete':0,'import':0,'list':0,'reembed':0,'run':null,'search'"
		":1}");
}

/* --- calling --- */

static void a_method_that_is_none_is_refused(void **state)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *call = ABOUT(CALL("%s", "dance", ""), ids[i]);

		assert_refused(*state, "alice", call, WFS_E_INVALID_ARGUMENT,
			"has no method 'dance', it has: ");
	}
	assert_refused(*state, "alice", LEDGER("run", "'dance'"), WFS_E_INVALID_ARGUMENT,
		"it has: transfer, balance");
	assert_refused(*state, "alice", LEDGER("run", "'run','balance'"), WFS_E_INVALID_ARGUMENT,
		"has no method 'run'");
	assert_refused(*state, "alice", LEDGER("run", ""), WFS_E_MISSING_ARGUMENT,
		"requires the name of a method");
	assert_refused(*state, "alice", LEDGER("run", "5"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(*state, "alice", LEDGER("run", "null"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(
		*state, "alice", LEDGER("run", "{'method':5}"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(
		*state, "alice", LEDGER("run", "{'id':'bob'}"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(*state, "alice", LEDGER("", ""), WFS_E_INVALID_ARGUMENT, "no method ''");
}

static void a_long_name_of_a_method_is_cut_at_a_character(void **state)
{
	assert_refused(*state, "alice",
		LEDGER("run",
			"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\u00e9'"),
		WFS_E_INVALID_ARGUMENT, "has no method");
	assert_done(*state, "alice",
		CODE("tell",
			"local r = invoke(\\'genesis_ledger\\', string.rep(\\'x\\', 63) .. "
			"\\'\u00e9\\') return r.error.code"));
	assert_call(*state, "alice", CALL("tell", "run", ""), 0, "'invalid_argument'");
}

static void arguments_come_in_order_or_by_name(void **state)
{
	static const char *const calls[] = {
		LEDGER("transfer", "'bob',5"),
		LEDGER("transfer", "{'to':'bob','amount':5}"),
		LEDGER("run", "'transfer','bob',5"),
		LEDGER("run", "'transfer',{'to':'bob','amount':5}"),
		LEDGER("run", "{'method':'transfer','to':'bob','amount':5}"),
	};
	struct world_fixture *const fixture = *state;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++)
		assert_call(*state, "alice", calls[i], 0,
			"{'amount':5,'from':'alice','resource':'scrip','to':'bob'}");
	assert_int_equal(scrip_of(fixture, "alice"), 75);
	assert_int_equal(scrip_of(fixture, "bob"), 75);
}

static void arguments_that_do_not_fit_are_refused(void **state)
{
	assert_refused(*state, "alice", LEDGER("transfer", "'bob'"), WFS_E_MISSING_ARGUMENT,
		"transfer requires 'amount'");
	assert_refused(*state, "alice", LEDGER("transfer", "null,5"), WFS_E_MISSING_ARGUMENT,
		"transfer requires 'to'");
	assert_refused(*state, "alice", LEDGER("transfer", "{'to':null,'amount':5}"),
		WFS_E_MISSING_ARGUMENT, "transfer requires 'to'");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',5,6"), WFS_E_INVALID_ARGUMENT,
		"takes at most 2 arguments, got 3");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',5,null"), WFS_E_INVALID_ARGUMENT,
		"takes at most 2 arguments, got 3");
	assert_refused(*state, "alice", LEDGER("transfer", "{'to':'bob','amount':5},1"),
		WFS_E_INVALID_ARGUMENT, "/to: expected text, got object");
	assert_refused(*state, "alice", LEDGER("transfer", "{'to':'bob','amount':5,'x':1}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
	assert_refused(*state, "alice", LEDGER("transfer", "['bob',5]"), WFS_E_MISSING_ARGUMENT,
		"'amount'");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob','5'"), WFS_E_INVALID_ARGUMENT,
		"/amount: expected an integer from 0, got string");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',1.5"), WFS_E_INVALID_ARGUMENT,
		"/amount");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',9223372036854775807"),
		WFS_E_INSUFFICIENT_FUNDS, "has 100 scrip");
}

/* --- genesis_ledger --- */

static void scrip_is_given_as_by_the_action(void **state)
{
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',0"), WFS_E_INVALID_ARGUMENT,
		"1 or more");
	assert_refused(*state, "alice", LEDGER("transfer", "'none',1"), WFS_E_NOT_FOUND, "'none'");
	assert_refused(*state, "alice", LEDGER("transfer", "'mint',1"), WFS_E_NOT_FOUND, "'mint'");
	assert_refused(
		*state, "alice", LEDGER("transfer", "'genesis',1"), WFS_E_NOT_FOUND, "'genesis'");
	assert_refused(*state, "alice", LEDGER("transfer", "'bob',101"), WFS_E_INSUFFICIENT_FUNDS,
		"'alice' has 100 scrip, 101 needed");
}

static void balances_are_told(void **state)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789012345678901234567890123456789";
	WFS_AUTO_FREE char *long_call =
		ABOUT(LEDGER("balance", "'%1$s%1$s%1$s%1$s%1$s'"), long_name);

	assert_call(*state, "alice", LEDGER("balance", ""), 0, "{'id':'alice','scrip':100}");
	assert_call(*state, "alice", LEDGER("balance", "null"), 0, "{'id':'alice','scrip':100}");
	assert_call(*state, "alice", LEDGER("balance", "'bob'"), 0, "{'id':'bob','scrip':50}");
	assert_call(*state, "alice", LEDGER("balance", "'none'"), 0, "{'id':'none','scrip':0}");
	assert_call(*state, "alice", LEDGER("balance", "''"), 0, "{'id':'','scrip':0}");
	assert_call(*state, "alice", LEDGER("balance", "'a b'"), 0, "{'id':'a b','scrip':0}");
	WFS_AUTO_JSON json_t *none = call_for(*state, "alice", long_call, 0);
	assert_int_equal(json_integer_value(json_object_get(none, "scrip")), 0);
}

static void code_has_its_own_balance(void **state)
{
	assert_done(*state, "alice",
		CODE("purse",
			"local own = invoke(\\'genesis_ledger\\', \\'balance\\').result "
			"local r = invoke(\\'genesis_ledger\\', \\'transfer\\', \\'bob\\', 3) "
			"return {own.id, own.scrip, r.ok}"));
	assert_done(*state, "alice", ACTION("transfer", "'to':'purse','amount':10"));
	assert_call(*state, "bob", CALL("purse", "run", ""), 0, "['purse',10,true]");
	assert_int_equal(scrip_of(*state, "purse"), 7);
	assert_int_equal(scrip_of(*state, "bob"), 53);
}

/* --- the libraries --- */

/* 173 */
static void prompts_are_listed_by_their_tags(void **state)
{
	WFS_AUTO_JSON json_t *all = call_for(*state, "poor", PROMPTS("list", ""), 0);
	WFS_AUTO_JSON json_t *some = call_for(*state, "poor", PROMPTS("list", "'observation'"), 0);
	const json_t *const first = json_array_get(json_object_get(all, "prompts"), 0);

	assert_int_equal(json_integer_value(json_object_get(all, "count")), 12);
	assert_int_equal(json_array_size(json_object_get(all, "prompts")), 12);
	assert_string_equal(wfs_json_text(first, "id"), "observe_base");
	assert_true(json_is_array(json_object_get(first, "tags")));
	assert_null(json_object_get(first, "template"));
	assert_true(json_integer_value(json_object_get(some, "count")) >= 1);
	assert_true(json_integer_value(json_object_get(some, "count")) < 12);
	assert_call(*state, "poor", PROMPTS("list", "'none'"), 0, "{'count':0,'prompts':[]}");
	assert_refused(*state, "poor", PROMPTS("list", "5"), WFS_E_INVALID_ARGUMENT, "/tag");
}

/* 173 */
static void a_prompt_is_given_by_its_name(void **state)
{
	WFS_AUTO_JSON json_t *one = call_for(*state, "poor", PROMPTS("get", "'observe_base'"), 0);

	assert_string_equal(wfs_json_text(one, "prompt_id"), "observe_base");
	assert_non_null(strstr(wfs_json_text(one, "template"), "Gather context"));
	assert_true(json_is_string(json_object_get(one, "description")));
	assert_true(json_is_array(json_object_get(one, "tags")));
	assert_refused(*state, "poor", PROMPTS("get", "'none'"), WFS_E_NOT_FOUND,
		"has no 'none', it has: observe_base, ");
	assert_refused(*state, "poor", PROMPTS("get", ""), WFS_E_MISSING_ARGUMENT, "'id'");
	assert_refused(*state, "poor", PROMPTS("get", "''"), WFS_E_NOT_FOUND, "has no ''");
}

static void workflows_are_given_by_their_names(void **state)
{
	WFS_AUTO_JSON json_t *all = call_for(*state, "poor", WORKFLOWS("list", ""), 0);
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(all, "workflows"), i, row)
	{
		WFS_AUTO_FREE char *get = ABOUT(WORKFLOWS("get", "'%s'"), wfs_json_text(row, "id"));
		WFS_AUTO_JSON json_t *one = call_for(*state, "poor", get, 0);

		assert_string_equal(wfs_json_text(one, "workflow_id"), wfs_json_text(row, "id"));
		assert_true(json_is_array(json_object_get(one, "states")));
		assert_true(json_is_array(json_object_get(one, "steps")));
	}
	assert_int_equal(i, 3);
	assert_refused(*state, "poor", WORKFLOWS("list", "'tag'"), WFS_E_INVALID_ARGUMENT,
		"takes at most 0 arguments, got 1");
	assert_refused(*state, "poor", WORKFLOWS("get", "'none'"), WFS_E_NOT_FOUND, "it has: ");
}

static void what_a_library_has_can_be_read(void **state)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_int_equal(
		act_as(*state, "poor",
			ACTION("read_artifact", "'artifact_id':'genesis_prompt_library'"), &answer),
		0);
	const json_t *const artifact = json_object_get(json_object_get(answer, "data"), "artifact");
	WFS_AUTO_JSON json_t *content = NULL;
	const char *const text = wfs_json_text(artifact, "content");
	assert_int_equal(wfs_json_parse(text, strlen(text), &content, NULL), 0);
	assert_int_equal(json_object_size(json_object_get(content, "prompts")), 12);
	assert_string_equal(wfs_json_text(artifact, "type"), "library");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_MARKET(a_world_begins_with_them),
		IN_MARKET(nobody_changes_them),
		IN_MARKET(nobody_is_called_like_the_kernel),
		IN_MARKET(what_a_service_does_is_told),
		IN_MARKET(the_prices_that_are_told_are_those_that_are_paid),
		IN_MARKET(a_method_that_is_none_is_refused),
		IN_MARKET(a_long_name_of_a_method_is_cut_at_a_character),
		IN_MARKET(arguments_come_in_order_or_by_name),
		IN_MARKET(arguments_that_do_not_fit_are_refused),
		IN_MARKET(scrip_is_given_as_by_the_action),
		IN_MARKET(balances_are_told),
		IN_MARKET(code_has_its_own_balance),
		IN_MARKET(prompts_are_listed_by_their_tags),
		IN_MARKET(a_prompt_is_given_by_its_name),
		IN_MARKET(workflows_are_given_by_their_names),
		IN_MARKET(what_a_library_has_can_be_read),
	};

	return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
