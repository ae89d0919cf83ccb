/* SPDX-License-Identifier: Apache-2.0 */
/* The genesis artifacts as artifacts; how services are called; genesis_ledger and the two
 * libraries. Numbers in comments are those of test cases of a comparable system. */
#include "tests/fixture/market.h"

#include "kernel/domain/action/service.h"
#include "kernel/world/domains.h"

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

IN_MARKET(a_world_begins_with_them)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_JSON json_t *artifact = market_document(fixture, "sys.artifact", ids[i]);

		print_message("%s\n", ids[i]);
		assert_non_null(service_find(wfs_domains, ids[i]));
		assert_string_equal(wfs_json_text(artifact, "owner"), "genesis");
		assert_string_equal(wfs_json_text(artifact, "access"), "freeware");
		assert_true(json_is_true(json_object_get(artifact, "executable")));
	}
	assert_null(service_find(wfs_domains, "genesis"));
}

IN_MARKET(nobody_changes_them)
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
			assert_refused(fixture, who[k], write, DENIED, "Cannot modify system");
			assert_refused(fixture, who[k], edit, DENIED, "may not edit");
			assert_refused(fixture, who[k], delete, DENIED, "may not delete");
			assert_refused(fixture, who[k], give, DENIED, "its owner is 'genesis'");
		}
	}
	assert_refused(fixture, "alice", WRITE("'artifact_id':'genesis_new'"), DENIED, "system");
}

IN_MARKET(nobody_is_called_like_the_kernel)
{
	static const char *const names[] = {"genesis", "genesis_", "genesis_me", "genesis_ledger"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		WFS_AUTO_FREE char *add = ABOUT("{'action_type':'principal','id':'%s'}", names[i]);

		assert_refused(fixture, "tester", add, WFS_E_INVALID_ARGUMENT, "kernel's own");
	}
	assert_refused(fixture, "alice", WRITE("'artifact_id':'genesis'"), WFS_E_INVALID_ARGUMENT,
		"a word of the kernel's own");
	assert_refused(fixture, "alice", WRITE("'artifact_id':'genesis','type':'agent'"),
		WFS_E_INVALID_ARGUMENT, "a word of the kernel's own");
	assert_refused(fixture, "alice", ACTION("transfer", "'to':'genesis','amount':1"),
		WFS_E_NOT_FOUND, "'genesis' not found");
}

/* --- describe --- */

IN_MARKET(what_a_service_does_is_told)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *describe =
			ABOUT(INVOKE("'artifact_id':'%s','method':'describe'"), ids[i]);
		WFS_AUTO_JSON json_t *result = call_for(fixture, "alice", describe, 0);
		const json_t *method;
		size_t k;

		json_array_foreach(json_object_get(result, "methods"), k, method) {
			assert_true(json_is_string(json_object_get(method, "name")));
			assert_true(json_is_object(json_object_get(method, "input")));
		}
		assert_true(k >= 2); /* `run` is one of them */
	}
}

IN_MARKET(the_prices_that_are_told_are_those_that_are_paid)
{
	WFS_AUTO_JSON json_t *result = call_for(
		fixture, "alice", INVOKE("'artifact_id':'genesis_memory','method':'describe'"), 0);
	WFS_AUTO_JSON json_t *prices = json_object();
	const json_t *method;
	size_t i;

	json_array_foreach(json_object_get(result, "methods"), i, method)
		json_object_set(prices, wfs_json_text(method, "name"),
			json_object_get(method, "price") ? json_object_get(method, "price")
							 : json_null());
	assert_json_is(json_incref(prices),
		"{'add':1,'create':5,'delete':0,'import':0,'list':0,'reembed':0,'run':null,'search'"
		":1}");
}

/* --- calling --- */

IN_MARKET(a_method_that_is_none_is_refused)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ids); i++) {
		WFS_AUTO_FREE char *call = ABOUT(CALL("%s", "dance", ""), ids[i]);

		assert_refused(fixture, "alice", call, WFS_E_INVALID_ARGUMENT,
			"has no method 'dance', it has: ");
	}
	assert_refused(fixture, "alice", LEDGER("run", "'dance'"), WFS_E_INVALID_ARGUMENT,
		"it has: transfer, balance");
	assert_refused(fixture, "alice", LEDGER("run", "'run','balance'"), WFS_E_INVALID_ARGUMENT,
		"has no method 'run'");
	assert_refused(fixture, "alice", LEDGER("run", ""), WFS_E_MISSING_ARGUMENT,
		"requires the name of a method");
	assert_refused(fixture, "alice", LEDGER("run", "5"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(fixture, "alice", LEDGER("run", "null"), WFS_E_MISSING_ARGUMENT, "requires");
	assert_refused(fixture, "alice", LEDGER("run", "{'method':5}"), WFS_E_MISSING_ARGUMENT,
		"requires");
	assert_refused(fixture, "alice", LEDGER("run", "{'id':'bob'}"), WFS_E_MISSING_ARGUMENT,
		"requires");
	assert_refused(fixture, "alice", LEDGER("", ""), WFS_E_INVALID_ARGUMENT, "no method ''");
}

IN_MARKET(a_long_name_of_a_method_is_cut_at_a_character)
{
	assert_refused(fixture, "alice",
		LEDGER("run",
			"'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\u00e9'"),
		WFS_E_INVALID_ARGUMENT, "has no method");
	assert_done(fixture, "alice",
		CODE("tell",
			"local r = invoke(\\'genesis_ledger\\', string.rep(\\'x\\', 63) .. "
			"\\'\u00e9\\') return r.error.code"));
	assert_call(fixture, "alice", CALL("tell", "run", ""), 0, "'invalid_argument'");
}

IN_MARKET(arguments_come_in_order_or_by_name)
{
	static const char *const calls[] = {
		LEDGER("transfer", "'bob',5"),
		LEDGER("transfer", "{'to':'bob','amount':5}"),
		LEDGER("run", "'transfer','bob',5"),
		LEDGER("run", "'transfer',{'to':'bob','amount':5}"),
		LEDGER("run", "{'method':'transfer','to':'bob','amount':5}"),
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++)
		assert_call(fixture, "alice", calls[i], 0,
			"{'amount':5,'from':'alice','resource':'scrip','to':'bob'}");
	assert_int_equal(scrip_of(fixture, "alice"), 75);
	assert_int_equal(scrip_of(fixture, "bob"), 75);
}

IN_MARKET(arguments_that_do_not_fit_are_refused)
{
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob'"), WFS_E_MISSING_ARGUMENT,
		"transfer requires 'amount'");
	assert_refused(fixture, "alice", LEDGER("transfer", "null,5"), WFS_E_MISSING_ARGUMENT,
		"transfer requires 'to'");
	assert_refused(fixture, "alice", LEDGER("transfer", "{'to':null,'amount':5}"),
		WFS_E_MISSING_ARGUMENT, "transfer requires 'to'");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',5,6"), WFS_E_INVALID_ARGUMENT,
		"takes at most 2 arguments, got 3");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',5,null"), WFS_E_INVALID_ARGUMENT,
		"takes at most 2 arguments, got 3");
	assert_refused(fixture, "alice", LEDGER("transfer", "{'to':'bob','amount':5},1"),
		WFS_E_INVALID_ARGUMENT, "/to: expected text, got object");
	assert_refused(fixture, "alice", LEDGER("transfer", "{'to':'bob','amount':5,'x':1}"),
		WFS_E_INVALID_ARGUMENT, "only the members of its definition");
	assert_refused(fixture, "alice", LEDGER("transfer", "['bob',5]"), WFS_E_MISSING_ARGUMENT,
		"'amount'");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob','5'"), WFS_E_INVALID_ARGUMENT,
		"/amount: expected an integer from 0, got string");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',1.5"), WFS_E_INVALID_ARGUMENT,
		"/amount");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',9223372036854775807"),
		WFS_E_INSUFFICIENT_FUNDS, "has 100 scrip");
}

/* --- genesis_ledger --- */

IN_MARKET(scrip_is_given_as_by_the_action)
{
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',0"), WFS_E_INVALID_ARGUMENT,
		"1 or more");
	assert_refused(fixture, "alice", LEDGER("transfer", "'none',1"), WFS_E_NOT_FOUND, "'none'");
	assert_refused(fixture, "alice", LEDGER("transfer", "'mint',1"), WFS_E_NOT_FOUND, "'mint'");
	assert_refused(
		fixture, "alice", LEDGER("transfer", "'genesis',1"), WFS_E_NOT_FOUND, "'genesis'");
	assert_refused(fixture, "alice", LEDGER("transfer", "'bob',101"), WFS_E_INSUFFICIENT_FUNDS,
		"'alice' has 100 scrip, 101 needed");
}

IN_MARKET(balances_are_told)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789012345678901234567890123456789";
	WFS_AUTO_FREE char *long_call =
		ABOUT(LEDGER("balance", "'%1$s%1$s%1$s%1$s%1$s'"), long_name);

	assert_call(fixture, "alice", LEDGER("balance", ""), 0, "{'id':'alice','scrip':100}");
	assert_call(fixture, "alice", LEDGER("balance", "null"), 0, "{'id':'alice','scrip':100}");
	assert_call(fixture, "alice", LEDGER("balance", "'bob'"), 0, "{'id':'bob','scrip':50}");
	assert_call(fixture, "alice", LEDGER("balance", "'none'"), 0, "{'id':'none','scrip':0}");
	assert_call(fixture, "alice", LEDGER("balance", "''"), 0, "{'id':'','scrip':0}");
	assert_call(fixture, "alice", LEDGER("balance", "'a b'"), 0, "{'id':'a b','scrip':0}");
	WFS_AUTO_JSON json_t *none = call_for(fixture, "alice", long_call, 0);
	assert_int_equal(json_integer_value(json_object_get(none, "scrip")), 0);
}

IN_MARKET(code_has_its_own_balance)
{
	assert_done(fixture, "alice",
		CODE("purse",
			"local own = invoke(\\'genesis_ledger\\', \\'balance\\').result "
			"local r = invoke(\\'genesis_ledger\\', \\'transfer\\', \\'bob\\', 3) "
			"return {own.id, own.scrip, r.ok}"));
	assert_done(fixture, "alice", ACTION("transfer", "'to':'purse','amount':10"));
	assert_call(fixture, "bob", CALL("purse", "run", ""), 0, "['purse',10,true]");
	assert_int_equal(scrip_of(fixture, "purse"), 7);
	assert_int_equal(scrip_of(fixture, "bob"), 53);
}

/* --- the libraries --- */

/* 173 */
IN_MARKET(prompts_are_listed_by_their_tags)
{
	WFS_AUTO_JSON json_t *all = call_for(fixture, "poor", PROMPTS("list", ""), 0);
	WFS_AUTO_JSON json_t *some = call_for(fixture, "poor", PROMPTS("list", "'observation'"), 0);
	const json_t *const first = json_array_get(json_object_get(all, "prompts"), 0);

	assert_int_equal(json_integer_value(json_object_get(all, "count")), 12);
	assert_int_equal(json_array_size(json_object_get(all, "prompts")), 12);
	assert_string_equal(wfs_json_text(first, "id"), "observe_base");
	assert_true(json_is_array(json_object_get(first, "tags")));
	assert_null(json_object_get(first, "template"));
	assert_true(json_integer_value(json_object_get(some, "count")) >= 1);
	assert_true(json_integer_value(json_object_get(some, "count")) < 12);
	assert_call(fixture, "poor", PROMPTS("list", "'none'"), 0, "{'count':0,'prompts':[]}");
	assert_refused(fixture, "poor", PROMPTS("list", "5"), WFS_E_INVALID_ARGUMENT, "/tag");
}

/* 173 */
IN_MARKET(a_prompt_is_given_by_its_name)
{
	WFS_AUTO_JSON json_t *one = call_for(fixture, "poor", PROMPTS("get", "'observe_base'"), 0);

	assert_string_equal(wfs_json_text(one, "prompt_id"), "observe_base");
	assert_non_null(strstr(wfs_json_text(one, "template"), "Gather context"));
	assert_true(json_is_string(json_object_get(one, "description")));
	assert_true(json_is_array(json_object_get(one, "tags")));
	assert_refused(fixture, "poor", PROMPTS("get", "'none'"), WFS_E_NOT_FOUND,
		"has no 'none', it has: observe_base, ");
	assert_refused(fixture, "poor", PROMPTS("get", ""), WFS_E_MISSING_ARGUMENT, "'id'");
	assert_refused(fixture, "poor", PROMPTS("get", "''"), WFS_E_NOT_FOUND, "has no ''");
}

IN_MARKET(workflows_are_given_by_their_names)
{
	WFS_AUTO_JSON json_t *all = call_for(fixture, "poor", WORKFLOWS("list", ""), 0);
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(all, "workflows"), i, row) {
		WFS_AUTO_FREE char *get = ABOUT(WORKFLOWS("get", "'%s'"), wfs_json_text(row, "id"));
		WFS_AUTO_JSON json_t *one = call_for(fixture, "poor", get, 0);

		assert_string_equal(wfs_json_text(one, "workflow_id"), wfs_json_text(row, "id"));
		assert_true(json_is_array(json_object_get(one, "states")));
		assert_true(json_is_array(json_object_get(one, "steps")));
	}
	assert_int_equal(i, 3);
	assert_refused(fixture, "poor", WORKFLOWS("list", "'tag'"), WFS_E_INVALID_ARGUMENT,
		"takes at most 0 arguments, got 1");
	assert_refused(fixture, "poor", WORKFLOWS("get", "'none'"), WFS_E_NOT_FOUND, "it has: ");
}

IN_MARKET(what_a_library_has_can_be_read)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_int_equal(
		act_as(fixture, "poor",
			ACTION("read_artifact", "'artifact_id':'genesis_prompt_library'"), &answer),
		0);
	const json_t *const artifact = json_object_get(json_object_get(answer, "data"), "artifact");
	WFS_AUTO_JSON json_t *content = NULL;
	const char *const text = wfs_json_text(artifact, "content");
	assert_int_equal(wfs_json_parse(text, strlen(text), &content, NULL), 0);
	assert_int_equal(json_object_size(json_object_get(content, "prompts")), 12);
	assert_string_equal(wfs_json_text(artifact, "type"), "library");
}
