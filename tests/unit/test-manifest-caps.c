/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: built-in definitions, policies, principals and grants. */
#include "tests/fixture/manifest.h"

#include "kernel/manifest/grant.h"

/* --- built-in definitions --- */

TEST(a_manifest_has_the_effects_that_it_lists)
{
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_MANIFEST struct wfs_manifest *all = manifest_of(document);
	WFS_AUTO_MANIFEST struct wfs_manifest *less = NULL;

	for (int i = 0; i < WFS_EFFECT_COUNT; i++)
		assert_true(wfs_manifest_effect(all, (enum wfs_effect)i));
	assert_int_equal(
		json_array_remove(json_object_get(document, "effects"), WFS_EFFECT_BLOB_PUT), 0);
	less = manifest_of(document);
	assert_false(wfs_manifest_effect(less, WFS_EFFECT_BLOB_PUT));
	assert_true(wfs_manifest_effect(less, WFS_EFFECT_BLOB_GET));
}

TEST(a_reducer_asks_for_what_it_declares)
{
	WFS_AUTO_JSON json_t *document = good_document();
	json_t *const asks = json_object_get(
		json_array_get(json_object_get(document, "reducers"), 0), "effects");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	struct wfs_manifest *refused = NULL;

	json_array_append_new(asks, json_string("introspect.manifest"));
	manifest = manifest_of(document);
	assert_true(wfs_manifest_asks(
		wfs_manifest_reducer(manifest, 0), WFS_EFFECT_INTROSPECT_MANIFEST));
	assert_false(wfs_manifest_asks(
		wfs_manifest_reducer(manifest, 0), WFS_EFFECT_INTROSPECT_LIST_CELLS));
	assert_false(wfs_manifest_asks(
		wfs_manifest_reducer(manifest, 1), WFS_EFFECT_INTROSPECT_MANIFEST));

	WFS_AUTO_JSON json_t *less = json_deep_copy(document);
	json_array_remove(json_object_get(less, "effects"), WFS_EFFECT_INTROSPECT_MANIFEST);
	assert_int_equal(wfs_manifest_new(less, &problems, &refused), -EINVAL);
	assert_non_null(strstr(wfs_buffer_text(&problems.lines),
		"/reducers/0/effects/0: expected an effect of this manifest"));
}

TEST(a_manifest_has_the_capabilities_that_it_lists)
{
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;

	assert_int_equal(json_array_remove(json_object_get(document, "caps"), 1), 0);
	manifest = manifest_of(document);
	assert_string_equal(wfs_manifest_cap(manifest, "sys/query@1")->cap_type, "query");
	assert_string_equal(wfs_manifest_cap(manifest, "sys/query@1")->name, "sys/query@1");
	assert_string_equal(wfs_manifest_cap(manifest, "sys/admin@1")->cap_type, "admin");
	assert_null(wfs_manifest_cap(manifest, "sys/blob@1"));
	assert_null(wfs_manifest_cap(manifest, "query"));
}

/* Checks that @value fits the params of @cap, or does not. */
static void assert_params(const char *cap, const char *value, int expected)
{
	WFS_AUTO_JSON json_t *document = good_document();
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(document);
	WFS_AUTO_JSON json_t *json = json_of(value);

	print_message("%s %s\n", cap, value);
	assert_int_equal(
		wfs_schema_check(wfs_manifest_cap(manifest, cap)->params, json, NULL), expected);
}

TEST(params_of_capabilities_are_typed)
{
	assert_params("sys/query@1", "{}", 0);
	assert_params("sys/query@1", "{'scope':'reducers/package/*'}", 0);
	assert_params("sys/query@1", "{'scope':['manifest','journal']}", 0);
	assert_params("sys/query@1", "{'scope':''}", 0);
	assert_params("sys/query@1", "{'scope':['']}", -EINVAL);
	assert_params("sys/query@1", "{'scope':['a//b']}", -EINVAL);
	assert_params("sys/query@1", "{'scope':['at/3/x']}", -EINVAL);
	assert_params("sys/query@1", "{'scope':['a/b**']}", -EINVAL);
	assert_params("sys/query@1", "{'scope':['a/**/*b*','**','attic']}", 0);
	assert_params("sys/query@1", "{'scope':[1]}", -EINVAL);
	assert_params("sys/query@1", "{'scopes':[]}", -EINVAL);
	assert_params("sys/query@1", "[]", -EINVAL);
	assert_params("sys/act@1", "{'actions':['noop','event.emit'],'artifacts':['a_*']}", 0);
	assert_params("sys/act@1", "{'actions':['action.noop']}", -EINVAL);
	assert_params("sys/act@1", "{'actions':['nope']}", -EINVAL);
	assert_params("sys/act@1", "{'actions':'action.noop'}", -EINVAL);
	assert_params("sys/act@1", "{'scope':'manifest'}", -EINVAL);
	assert_params("sys/blob@1", "{}", 0);
	assert_params("sys/blob@1", "{'scope':'blob'}", -EINVAL);
	assert_params("sys/drive@1", "{}", 0);
	assert_params("sys/llm@1", "{}", 0);
	assert_params("sys/admin@1", "{}", 0);
}

TEST(only_built_in_effects_and_capabilities_are_known)
{
	assert_edit_refused("effects/3", "{'name':'world.destroy'}",
		"/effects/3/name: expected the name of a built-in definition, got string "
		"\"world.destroy\"\n");
	assert_edit_refused("effects/3", "{'cap_type':'admin'}",
		"/effects/3: differs from the built-in definition of this name\n");
	assert_edit_refused("caps/3", "{'name':'my/cap@1'}",
		"/caps/3/name: expected the name of a built-in definition, got string "
		"\"my/cap@1\"\n");
	assert_edit_refused("caps/3", "{'x':1}",
		"/caps/3: differs from the built-in definition of this name\n");
	assert_edit_refused(
		"", "{'caps':[null],'grants':[]}", "/caps/0: expected object, got null\n");
}

TEST(definitions_of_earlier_programs_are_known)
{
	WFS_AUTO_JSON json_t *document = good_document();
	char path[64];

	snprintf(path, sizeof(path), "effects/%d/params/record", WFS_EFFECT_AGENT_APPROVE);
	assert_int_equal(json_object_del(value_at(document, path), "turn"), 0);

	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(document);
	assert_true(wfs_manifest_effect(manifest, WFS_EFFECT_AGENT_APPROVE));
	assert_int_equal(json_object_del(value_at(document, path), "call_id"), 0);
	snprintf(path, sizeof(path),
		"/effects/%d: differs from the built-in definition of this name\n",
		WFS_EFFECT_AGENT_APPROVE);
	assert_document_refused(document, path);
}

/* Whoever changes a built-in definition adds the hash of the old one, which this prints for the
 * unchanged program, to kernel/manifest/builtin.c: worlds keep it. Then the hash here follows. */
TEST(built_in_definitions_are_those_that_worlds_have)
{
	WFS_AUTO_JSON json_t *lists =
		json_pack("[o,o,o,o,o]", wfs_builtin_effects(), wfs_builtin_caps(),
			wfs_builtin_policies(), wfs_builtin_reducers(), wfs_builtin_schemas());
	WFS_AUTO_BUFFER struct wfs_buffer all = {0};
	size_t i, j;
	json_t *list, *item;
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_json_write(lists, &all);
	json_array_foreach(lists, i, list)
		json_array_foreach(list, j, item) {
			WFS_AUTO_BUFFER struct wfs_buffer text = {0};

			wfs_json_write(item, &text);
			struct wfs_hash hash = wfs_hash_of(text.data, text.size);
			wfs_hash_hex(&hash, hex);
			print_message(
				"%s %s\n", hex, json_string_value(json_object_get(item, "name")));
		}
	const struct wfs_hash hash = wfs_hash_of(all.data, all.size);
	wfs_hash_hex(&hash, hex);
	assert_string_equal(
		hex, "346a9c98b974c5c275f3851094a1df25e69c9a18840318ef3d60ebb71f02d37b");
}

TEST(built_in_definitions_stand_once)
{
	WFS_AUTO_JSON json_t *document = good_document();
	json_t *effects = json_object_get(document, "effects");
	char line[128];

	json_array_remove(effects, 2);
	json_array_append(effects, json_array_get(effects, 0));
	snprintf(line, sizeof(line),
		"/effects/%d/name: expected each name once, got string \"introspect.manifest\"\n",
		WFS_EFFECT_COUNT - 1);
	assert_document_refused(document, line);
}

TEST(built_in_reducers_are_those_of_the_kernel)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	const struct wfs_reducer_definition *grant =
		wfs_manifest_reducer_find(manifest, wfs_builtin_reducer_name(WFS_BUILTIN_GRANT));

	assert_true(grant->builtin);
	assert_true(grant->keyed);
	assert_int_equal(grant->index, 3);
	assert_false(wfs_manifest_reducer_find(manifest, "package")->builtin);
	assert_edit_refused("reducers/2", "{'keyed':false}",
		"/reducers/2: differs from the built-in definition of this name\n");
	assert_edit_refused("reducers/2", "{'name':'sys.other'}",
		"/reducers/2/module: missing\n"
		"/reducers/2/language: expected \"lua\", got string \"builtin\"\n"
		"/reducers/2/name: names that begin with sys. are those of built-in definitions\n"
		"/reducers: the built-in reducer sys.principal is missing\n");
	assert_edit_refused("routing/0", "{'reducer':'sys.grant','key_field':'name'}",
		"/routing/0/reducer: no events go to a built-in reducer\n");
}

TEST(names_of_the_kernel_are_reserved)
{
	assert_edit_refused("schemas/1", "{'name':'sys/Alert@2'}",
		"/schemas/1/name: names that begin with sys/ are those of built-in definitions\n"
		"/reducers/0/emits/0: expected the name of a schema of this manifest, got string "
		"\"dpkg/Alert@2\"\n"
		"/routing/1/event: expected the name of a schema of this manifest, got string "
		"\"dpkg/Alert@2\"\n");
	assert_edit_refused("policies/0", "{'name':'sys/other@1'}",
		"/policies/0/name: names that begin with sys/ are those of built-in definitions\n"
		"/policy: expected the name of a policy of this manifest, got string "
		"\"sys/default@1\"\n");
}

/* --- policies --- */

#define OWN_POLICY \
	"{'policy':'my/own@1','policies':[{'$kind':'defpolicy','name':'my/own@1','rules':["

TEST(the_default_policy_leaves_it_to_grants)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();
	const char *name;
	size_t count;
	const struct wfs_policy_rule *rules = wfs_manifest_policy(manifest, &name, &count);

	assert_string_equal(name, "sys/default@1");
	assert_int_equal(count, 1);
	assert_true(rules[0].allow);
	assert_null(rules[0].effect);
	assert_null(rules[0].principal);
}

TEST(rules_of_the_policy_in_force_are_compiled_in_order)
{
	WFS_AUTO_JSON json_t *document = edited("",
		OWN_POLICY
		"{'when':{'effect':'introspect.*','principal':'alice'},'decision':'deny'},"
		"{'when':{'cap':'sys/act@1','origin':'code','artifact':'a_*'},"
		"'decision':'allow'}]}]}");
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(document);
	const char *name;
	size_t count;
	const struct wfs_policy_rule *rules = wfs_manifest_policy(manifest, &name, &count);

	assert_string_equal(name, "my/own@1");
	assert_int_equal(count, 2);
	assert_false(rules[0].allow);
	assert_string_equal(rules[0].effect, "introspect.*");
	assert_string_equal(rules[0].principal, "alice");
	assert_null(rules[0].cap);
	assert_true(rules[1].allow);
	assert_string_equal(rules[1].cap, "sys/act@1");
	assert_string_equal(rules[1].origin, "code");
	assert_null(rules[1].reducer);
	assert_string_equal(rules[1].artifact, "a_*");
	assert_null(rules[1].effect);
}

TEST(wrong_rules_are_refused)
{
	assert_edit_refused("",
		OWN_POLICY "{'when':{'effect':'a*b','x':1},'decision':'allow'},"
			   "{'when':{'cap':''},'decision':'maybe'},{},7]}]}",
		"/policies/0/rules/0/when/x: no such member is known\n"
		"/policies/0/rules/0/when/effect: expected text of 1 to 255 bytes, with no * but "
		"at "
		"its end, got string \"a*b\"\n"
		"/policies/0/rules/1/when/cap: expected text of 1 to 255 bytes, with no * but at "
		"its end, got string \"\"\n"
		"/policies/0/rules/1/decision: expected \"allow\", \"ask\" or \"deny\", got string "
		"\"maybe\"\n"
		"/policies/0/rules/2/when: missing\n"
		"/policies/0/rules/2/decision: missing\n"
		"/policies/0/rules/3: expected object, got integer 7\n");
	assert_edit_refused("policies/0", "{'rules':[]}",
		"/policies/0: differs from the built-in definition of this name\n");
	assert_edit_refused("", "{'policies':[{'$kind':'x','name':'a/B@1','rules':{},'more':1}]}",
		"/policies/0/more: no such member is known\n"
		"/policies/0/$kind: expected \"defpolicy\", got string \"x\"\n"
		"/policies/0/rules: expected array, got object with 0 members\n"
		"/policy: expected the name of a policy of this manifest, got string "
		"\"sys/default@1\"\n");
}

#define NEVER "never matches: no effect fits all of its conditions\n"

/* The author of a rule that matches nothing meant it to match something. */
TEST(rules_that_never_match_are_refused)
{
	static const char *const whens[] = {
		"{'effect':'action.query_kernel'}",
		"{'effect':'world.gcc'}",
		"{'cap':'my/cap@1'}",
		"{'cap':'sys/act@1','effect':'query.kernel'}",
		"{'origin':'plan'}",
		"{'origin':'reducer','effect':'action.*'}",
		"{'origin':'code','effect':'world.*'}",
		"{'reducer':'r','effect':'event.emit'}",
		"{'reducer':'r','artifact':'a'}",
		"{'artifact':'a','effect':'blob.get'}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(whens); i++) {
		char edit[256];

		snprintf(edit, sizeof(edit), OWN_POLICY "{'when':%s,'decision':'deny'}]}]}",
			whens[i]);
		print_message("%s\n", whens[i]);
		assert_edit_refused("", edit, "/policies/0/rules/0: " NEVER);
	}
	assert_edit_refused("",
		OWN_POLICY "{'when':{'effect':'introspect.*'},'decision':'allow'},"
			   "{'when':{'effect':'introspect.status','principal':'bob'},"
			   "'decision':'deny'}]}]}",
		"/policies/0/rules/1: never matches: rule 0 matches first\n");
	WFS_AUTO_JSON json_t *document = edited("",
		OWN_POLICY "{'when':{'effect':'query.kernel','cap':'sys/query@1','origin':'code'},"
			   "'decision':'deny'},"
			   "{'when':{'effect':'introspect.journal','origin':'code'},"
			   "'decision':'deny'},"
			   "{'when':{'effect':'introspect.list_cells','origin':'code'},"
			   "'decision':'deny'},"
			   "{'when':{'effect':'plan.cancel','cap':'sys/admin@1'},"
			   "'decision':'deny'},"
			   "{'when':{'effect':'agent.step','artifact':'a*'},'decision':'ask'},"
			   "{'when':{'effect':'agent.approve','artifact':'a*'},'decision':'deny'},"
			   "{'when':{'effect':'agent.*','artifact':'*'},'decision':'deny'},"
			   "{'when':{'effect':'world.grant','cap':'sys/act@1'},'decision':'deny'},"
			   "{'when':{'artifact':'*'},'decision':'deny'},"
			   "{'when':{'reducer':'*'},'decision':'deny'},"
			   "{'when':{},'decision':'allow'}]}]}");
	wfs_manifest_unref(manifest_of(document));
}

/* The steps that a driver takes next in a turn or plan are not judged, so no rule can be about
 * them. */
TEST(rules_about_what_only_follows_are_refused)
{
	static const char *const effects[] = {"tool.call", "tool.c*", "workflow.advance",
		"workflow*", "plan.normalize", "plan.advance"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(effects); i++) {
		char problem[256];
		char edit[256];

		snprintf(edit, sizeof(edit),
			OWN_POLICY
			"{'when':{'effect':'%s','principal':'bob'},'decision':'ask'}]}]}",
			effects[i]);
		snprintf(problem, sizeof(problem),
			"/policies/0/rules/0: never matches: '%s' follows from agent.step or "
			"plan.run, and is not judged; what tools do is judged as action.*, "
			"introspect.*, blob.get or tool.outside\n",
			effects[i]);
		print_message("%s\n", effects[i]);
		assert_edit_refused("", edit, problem);
	}
	WFS_AUTO_JSON json_t *document = edited("",
		OWN_POLICY "{'when':{'effect':'plan.*'},'decision':'ask'},"
			   "{'when':{'effect':'tool.*'},'decision':'ask'},"
			   "{'when':{},'decision':'allow'}]}]}");
	wfs_manifest_unref(manifest_of(document));
}

TEST(the_policy_in_force_is_one_of_the_manifest)
{
	assert_edit_refused("", "{'policy':'my/own@1'}",
		"/policy: expected the name of a policy of this manifest, got string "
		"\"my/own@1\"\n");
	assert_edit_refused("", "{'policy':5}",
		"/policy: expected the name of a policy of this manifest, got integer 5\n");
	assert_edit_refused("", "{'policies':[]}",
		"/policy: expected the name of a policy of this manifest, got string "
		"\"sys/default@1\"\n");
}

static json_t *rules_of(size_t count)
{
	json_t *rules = json_array();

	while (count--)
		json_array_append_new(rules,
			json_pack("{s:{s:o}, s:s}", "when", "principal",
				json_sprintf("p%zu", count), "decision", "allow"));
	return rules;
}

TEST(policies_and_rules_are_bounded)
{
	WFS_AUTO_JSON json_t *document = edited("", OWN_POLICY "]}]}");
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	json_t *policies = json_object_get(document, "policies");
	const char *name;
	size_t count;

	json_object_set_new(json_array_get(policies, 0), "rules", rules_of(WFS_MANIFEST_RULES_MAX));
	manifest = manifest_of(document);
	wfs_manifest_policy(manifest, &name, &count);
	assert_int_equal(count, WFS_MANIFEST_RULES_MAX);
	json_object_set_new(
		json_array_get(policies, 0), "rules", rules_of(WFS_MANIFEST_RULES_MAX + 1));
	assert_document_refused(
		document, "/policies/0/rules: at most 1024 are allowed, got 1025\n");
	while (json_array_size(policies) <= WFS_MANIFEST_POLICIES_MAX + 1)
		json_array_append_new(policies, json_object());
	assert_document_refused(document, "/policies: at most 256 are allowed, got 257\n");
}

/* --- principals and grants --- */

TEST(declared_principals_and_grants_are_handed_out)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_good();

	assert_int_equal(json_array_size(wfs_manifest_principals(manifest)), 1);
	assert_int_equal(json_array_size(wfs_manifest_grants(manifest)), 1);
}

TEST(wrong_principals_are_refused)
{
	static const char form[] = "expected a name of letters, digits and ._#@:-, a letter or "
				   "digit first, at most 128 bytes, got";
	char lines[1024];

	snprintf(lines, sizeof(lines),
		"/principals/1/id: %s string \"a b\"\n"
		"/principals/2/id: %s string \"\"\n"
		"/principals/3/id: %s integer 3\n"
		"/principals/4/id: missing\n"
		"/principals/5: expected object, got string \"bob\"\n"
		"/principals/6/more: no such member is known\n"
		"/principals/7/id: the name is taken already\n"
		"/principals/8/id: 'mint' is a word of the kernel's own\n"
		"/principals/9/id: 'noop' is a word of the kernel's own\n"
		"/principals/10/id: 'genesis_x' is a word of the kernel's own\n",
		form, form, form);
	assert_edit_refused("",
		"{'principals':[{'id':'alice'},{'id':'a b'},{'id':''},{'id':3},{},'bob',"
		"{'id':'b','more':1},{'id':'alice'},{'id':'mint'},{'id':'noop'},{'id':'genesis_x'}]"
		"}",
		lines);
}

TEST(accounts_begin_with_scrip_and_quotas)
{
	WFS_AUTO_JSON json_t *document = edited("principals/0",
		"{'scrip':9007199254740992,"
		"'quotas':{'disk':0,'journal':7,'llm_budget':1,'llm_tokens':9007199254740992}}");
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(document);

	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(wfs_manifest_principals(manifest), 0), "scrip")),
		WFS_ACCOUNT_START_MAX);
}

TEST(wrong_accounts_are_refused)
{
	assert_edit_refused("",
		"{'principals':[{'id':'alice','scrip':-1,'quotas':5},"
		"{'id':'b','scrip':9007199254740993,'quotas':{'gpu':1}},"
		"{'id':'c','scrip':1.5,'quotas':{'disk':-1,'llm_budget':'x',"
		"'llm_tokens':9007199254740993}}]}",
		"/principals/0/scrip: expected an integer from 0 to 9007199254740992, got integer "
		"-1\n"
		"/principals/0/quotas: expected an object, got an integer\n"
		"/principals/1/scrip: expected an integer from 0 to 9007199254740992, got integer "
		"9007199254740993\n"
		"/principals/1/quotas: unknown member 'gpu', expected only: disk, journal, "
		"llm_budget, llm_tokens\n"
		"/principals/2/scrip: expected an integer from 0 to 9007199254740992, got number "
		"1.5\n"
		"/principals/2/quotas/disk: expected an integer from 0 to 9007199254740992, got "
		"integer -1\n"
		"/principals/2/quotas/llm_budget: expected an integer from 0 to 9007199254740992, "
		"got string \"x\"\n"
		"/principals/2/quotas/llm_tokens: expected an integer from 0 to 9007199254740992, "
		"got integer 9007199254740993\n");
}

static void assert_principal_name(const char *name, bool good_name)
{
	print_message("'%s'\n", name);
	assert_int_equal(wfs_grant_name_valid(name), good_name);
}

TEST(names_of_principals_and_grants_have_one_form)
{
	char longest[WFS_GRANT_NAME_MAX + 2] = "";

	assert_principal_name("a", true);
	assert_principal_name("9.x", true);
	assert_principal_name("Alice.query#1@host:2_b-c", true);
	assert_principal_name("", false);
	assert_principal_name(".a", false);
	assert_principal_name("-a", false);
	assert_principal_name("a/b", false);
	assert_principal_name("a b", false);
	assert_principal_name("\xc3\xa4", false);
	memset(longest, 'x', WFS_GRANT_NAME_MAX);
	assert_principal_name(longest, true);
	longest[WFS_GRANT_NAME_MAX] = 'x';
	assert_principal_name(longest, false);
}

TEST(wrong_grants_are_refused)
{
	assert_edit_refused(
		"grants/0", "{'from':'x'}", "/grants/0/from: no such member is known\n");
	assert_edit_refused("grants/0", "{'cap':'sys/none@1'}",
		"/grants/0/cap: expected the name of a capability of this world, got string "
		"\"sys/none@1\"\n");
	assert_edit_refused("grants/0", "{'to':'bob'}",
		"/grants/0/to: expected the id of a principal of this manifest, got string "
		"\"bob\"\n");
	assert_edit_refused("grants/0", "{'params':{'scope':5}}",
		"/grants/0/params: at /scope: expected a value that fits one of 3 schemas (anyOf), "
		"got integer 5\n");
	assert_edit_refused("grants/0", "{'expires_at_ns':-1}",
		"/grants/0/expires_at_ns: expected a time in nanoseconds since 1970, an integer, "
		"got integer -1\n");
	assert_edit_refused("", "{'grants':[{}]}",
		"/grants/0/name: missing\n/grants/0/cap: missing\n/grants/0/to: missing\n"
		"/grants/0/params: missing\n");
}

TEST(budgets_are_checked)
{
	assert_edit_refused("grants/0", "{'budget':{'calls':1}}",
		"/grants/0/budget: a query capability has no budget: reading is not recorded\n");
	assert_edit_refused("grants/0", "{'cap':'sys/act@1','params':{},'budget':{}}",
		"/grants/0/budget: expected calls, tokens or both, got neither\n");
	assert_edit_refused("grants/0", "{'cap':'sys/act@1','params':{},'budget':{'calls':-1}}",
		"/grants/0/budget: 'calls': expected an integer from 0 to 9223372036854775807, got "
		"-1\n");
	assert_edit_refused("grants/0", "{'cap':'sys/act@1','params':{},'budget':{'money':1}}",
		"/grants/0/budget: unknown member 'money', expected only: calls, tokens\n");
	WFS_AUTO_JSON json_t *good_one = edited("grants/0",
		"{'cap':'sys/llm@1','params':{},'budget':{'calls':0,'tokens':5},"
		"'expires_at_ns':0}");
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_of(good_one);
	assert_non_null(manifest);
}

TEST(params_of_a_grant_are_bounded)
{
	WFS_AUTO_JSON json_t *document = good_document();
	json_t *scope = json_array();
	char pattern[1001];

	memset(pattern, 'x', sizeof(pattern) - 1);
	pattern[sizeof(pattern) - 1] = '\0';
	for (int i = 0; i < 17; i++)
		json_array_append_new(scope, json_string(pattern));
	json_object_set_new(
		json_object_get(value_at(document, "grants/0"), "params"), "scope", scope);

	assert_document_refused(document,
		"/grants/0/params: the params of a grant have at most 16384 bytes, got 17062\n");
}

TEST(rules_about_outside_tools_are_checked)
{
	static const struct {
		const char *when, *problem;
	} cases[] = {
		{"{'annotation':'readOnly'}",
			"/policies/0/rules/0/when/annotation: expected readOnlyHint, "
			"destructiveHint, idempotentHint or openWorldHint, got string "
			"\"readOnly\"\n"},
		{"{'tool':'*.push'}",
			"/policies/0/rules/0/when/tool: expected text of 1 to 255 bytes, with no * "
			"but at its end, got string \"*.push\"\n"},
		{"{'server':'git','effect':'agent.step'}",
			"/policies/0/rules/0: never matches: no effect fits all of its "
			"conditions\n"},
		{"{'tool':'git.*','artifact':'x'}",
			"/policies/0/rules/0: never matches: no effect fits all of its "
			"conditions\n"},
		{"{'tool':'git.*','cap':'sys/act@1'}",
			"/policies/0/rules/0: never matches: no effect fits all of its "
			"conditions\n"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		char edit[256];

		snprintf(edit, sizeof(edit), OWN_POLICY "{'when':%s,'decision':'ask'}]}]}",
			cases[i].when);
		print_message("%s\n", cases[i].when);
		assert_edit_refused("", edit, cases[i].problem);
	}
	WFS_AUTO_JSON json_t *document = edited("",
		OWN_POLICY "{'when':{'tool':'git.*','server':'git','annotation':'destructiveHint'},"
			   "'decision':'ask'},{'when':{},'decision':'allow'}]}]}");
	wfs_manifest_unref(manifest_of(document));
}
