/* SPDX-License-Identifier: Apache-2.0 */
/* Rights: what grants and the policy allow together, and the messages of refusals. */
#include "tests/fixture/json.h"

#include "kernel/base/clock.h"
#include "kernel/manifest/source.h"
#include "kernel/rights/rights.h"

enum { NOW = 1000 };

/* A manifest with the built-in definitions. @rules: the policy in force; NULL: the default
 * policy */
static struct wfs_manifest *manifest_with(const char *rules)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	struct wfs_manifest *manifest = NULL;

	assert_int_equal(wfs_source_empty("test", &source, NULL), 0);
	if (rules) {
		json_t *policy = json_pack("{s:s, s:s, s:o}", "$kind", "defpolicy", "name",
			"test/Policy@1", "rules", json_of(rules));

		json_array_append_new(json_object_get(source.manifest, "policies"), policy);
		json_object_set_new(source.manifest, "policy", json_string("test/Policy@1"));
	}
	if (wfs_manifest_new(source.manifest, &problems, &manifest))
		fail_msg("%s", wfs_buffer_text(&problems.lines));
	return manifest;
}

/* The rights of alice. @grants_text: an object of grants by name, without the members that never
 * differ. */
static struct wfs_rights *rights_by(struct wfs_manifest *manifest, const char *grants_text)
{
	WFS_AUTO_JSON json_t *grants = json_of(grants_text);
	struct wfs_rights *rights = NULL;
	const char *name;
	json_t *grant;

	json_object_foreach(grants, name, grant) {
		if (!json_object_get(grant, "to"))
			json_object_set_new(grant, "to", json_string("alice"));
		if (!json_object_get(grant, "granted_by"))
			json_object_set_new(grant, "granted_by", json_string("operator"));
		json_object_set_new(grant, "name", json_string(name));
	}
	assert_int_equal(wfs_rights_new("alice", manifest, grants, &rights), 0);
	return rights;
}

static struct wfs_rights *rights_of(const char *grants_text, const char *rules)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_with(rules);

	return rights_by(manifest, grants_text);
}

static struct wfs_verdict judge(const struct wfs_rights *rights, enum wfs_effect effect)
{
	const struct wfs_question question = {.effect = effect, .now_ns = NOW, .of_any = true};

	return wfs_rights_judge(rights, &question);
}

static enum wfs_error_code code_of(const struct wfs_rights *rights, enum wfs_effect effect)
{
	return judge(rights, effect).code;
}

TEST(who_holds_nothing_may_do_nothing)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'g':{'cap':'sys/admin@1','params':{},'to':'bob'}}", NULL);

	for (int effect = 0; effect < WFS_EFFECT_COUNT; effect++)
		assert_int_equal(code_of(rights, (enum wfs_effect)effect), WFS_E_NOT_AUTHORIZED);
	assert_false(wfs_rights_see_all(rights));
}

TEST(a_grant_covers_the_effects_of_its_type)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'g':{'cap':'sys/query@1','params':{}}}", NULL);

	assert_int_equal(code_of(rights, WFS_EFFECT_INTROSPECT_MANIFEST), WFS_OK);
	assert_int_equal(code_of(rights, WFS_EFFECT_BLOB_GET), WFS_E_NOT_AUTHORIZED);
	assert_int_equal(code_of(rights, WFS_EFFECT_EVENT_EMIT), WFS_E_NOT_AUTHORIZED);
	assert_true(wfs_rights_see_all(rights));
}

TEST(a_grant_ends_at_its_time)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'g':{'cap':'sys/query@1','params':{},'expires_at_ns':1500}}", NULL);
	struct wfs_question question = {
		.effect = WFS_EFFECT_INTROSPECT_MANIFEST, .now_ns = 1499, .of_any = true};
	const struct wfs_path root = {.count = 0};
	struct wfs_error error;

	assert_int_equal(wfs_rights_judge(rights, &question).code, WFS_OK);
	assert_int_equal(wfs_rights_coverage(rights, root, 1499), WFS_COVERAGE_WHOLE);
	assert_false(wfs_rights_see_all(rights));

	question.now_ns = 1500;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	assert_int_equal(verdict.code, WFS_E_EXPIRED);
	assert_string_equal(verdict.grant, "g");
	assert_int_equal(wfs_rights_coverage(rights, root, 1500), WFS_COVERAGE_NONE);
	assert_int_equal(wfs_rights_explain(rights, &question, &verdict, &error), -EACCES);
	assert_non_null(strstr(error.message, "'g' of 'alice' expired at 1970-01-01T00:00:00Z"));
}

TEST(grants_add_up)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'a':{'cap':'sys/query@1','params':{'scope':['reducers/a']}},"
			  "'b':{'cap':'sys/query@1','params':{'scope':'reducers/b/x*'}}}",
			NULL);
	struct wfs_bytes names[] = {
		wfs_bytes_text("reducers"), wfs_bytes_text("a"), wfs_bytes_text("xy")};

	assert_int_equal(
		wfs_rights_coverage(rights, (struct wfs_path){names, 2}, NOW), WFS_COVERAGE_WHOLE);
	names[1] = wfs_bytes_text("b");
	assert_int_equal(
		wfs_rights_coverage(rights, (struct wfs_path){names, 2}, NOW), WFS_COVERAGE_BELOW);
	assert_int_equal(
		wfs_rights_coverage(rights, (struct wfs_path){names, 3}, NOW), WFS_COVERAGE_WHOLE);
	names[1] = wfs_bytes_text("c");
	assert_int_equal(
		wfs_rights_coverage(rights, (struct wfs_path){names, 2}, NOW), WFS_COVERAGE_NONE);
}

TEST(what_is_no_grant_grants_nothing)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'a':{'cap':'sys/query@1','params':{'scope':['a//b']}},"
			  "'b':{'cap':'sys/none@1','params':{}},"
			  "'c':{'params':{}},"
			  "'d':{'cap':'sys/query@1','params':{},'expires_at_ns':'never'}}",
			NULL);

	assert_int_equal(code_of(rights, WFS_EFFECT_INTROSPECT_MANIFEST), WFS_E_NOT_AUTHORIZED);
}

TEST(named_actions_only_are_covered)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of("{'g':{'cap':'sys/act@1','params':{'actions':['noop']}}}", NULL);
	WFS_AUTO_RIGHTS struct wfs_rights *events =
		rights_of("{'g':{'cap':'sys/act@1','params':{'actions':['event.emit']}}}", NULL);

	assert_int_equal(code_of(rights, WFS_EFFECT_ACTION_NOOP), WFS_OK);
	assert_int_equal(code_of(rights, WFS_EFFECT_EVENT_EMIT), WFS_E_NOT_AUTHORIZED);
	assert_int_equal(code_of(events, WFS_EFFECT_ACTION_NOOP), WFS_E_NOT_AUTHORIZED);
	assert_int_equal(code_of(events, WFS_EFFECT_EVENT_EMIT), WFS_OK);
}

TEST(a_budget_is_charged_until_it_is_used_up)
{
	WFS_AUTO_RIGHTS struct wfs_rights *some =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'budget':{'calls':2},"
			  "'used':{'calls':1,'tokens':0}}}",
			NULL);
	WFS_AUTO_RIGHTS struct wfs_rights *none =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'budget':{'calls':2},"
			  "'used':{'calls':2,'tokens':0}}}",
			NULL);
	WFS_AUTO_RIGHTS struct wfs_rights *other =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'budget':{'calls':2},"
			  "'used':{'calls':2,'tokens':0}},'b':{'cap':'sys/act@1','params':{}}}",
			NULL);

	assert_true(judge(some, WFS_EFFECT_EVENT_EMIT).charged);
	assert_int_equal(code_of(some, WFS_EFFECT_EVENT_EMIT), WFS_OK);
	assert_int_equal(code_of(none, WFS_EFFECT_EVENT_EMIT), WFS_E_QUOTA_EXCEEDED);
	assert_int_equal(code_of(other, WFS_EFFECT_EVENT_EMIT), WFS_OK);
	assert_string_equal(judge(other, WFS_EFFECT_EVENT_EMIT).grant, "b");
	assert_false(judge(other, WFS_EFFECT_EVENT_EMIT).charged);
}

#define ALL_QUERIES "{'g':{'cap':'sys/query@1','params':{}}}"

TEST(the_first_rule_that_fits_decides)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = rights_of(ALL_QUERIES,
		"[{'when':{'effect':'introspect.manifest','principal':'bob'},'decision':'deny'},"
		"{'when':{'effect':'introspect.list*'},'decision':'deny'},"
		"{'when':{'effect':'introspect.*'},'decision':'allow'}]");
	const struct wfs_question question = {
		.effect = WFS_EFFECT_INTROSPECT_LIST_CELLS, .now_ns = NOW, .of_any = true};
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	struct wfs_error error;

	assert_int_equal(code_of(rights, WFS_EFFECT_INTROSPECT_MANIFEST), WFS_OK);
	assert_int_equal(verdict.code, WFS_E_POLICY_DENIED);
	assert_int_equal(verdict.rule_index, 1);
	assert_int_equal(wfs_rights_explain(rights, &question, &verdict, &error), -EACCES);
	assert_string_equal(error.message,
		"rule 1 of the policy 'test/Policy@1' denies introspect.list_cells to 'alice'");
	assert_false(wfs_rights_see_all(rights));
}

TEST(a_rule_about_a_reducer_is_about_no_other_effect)
{
	WFS_AUTO_RIGHTS struct wfs_rights *some =
		rights_of(ALL_QUERIES, "[{'when':{'reducer':'lib*'},'decision':'allow'}]");
	WFS_AUTO_RIGHTS struct wfs_rights *others = rights_of(ALL_QUERIES,
		"[{'when':{'reducer':'lib*'},'decision':'deny'},{'when':{},'decision':'allow'}]");
	WFS_AUTO_RIGHTS struct wfs_rights *artifacts =
		rights_of(ALL_QUERIES, "[{'when':{'artifact':'*'},'decision':'allow'}]");

	assert_int_equal(code_of(some, WFS_EFFECT_INTROSPECT_LIST_CELLS), WFS_OK);
	assert_int_equal(code_of(some, WFS_EFFECT_INTROSPECT_REDUCER_STATE), WFS_OK);
	assert_int_equal(code_of(some, WFS_EFFECT_INTROSPECT_MANIFEST), WFS_E_POLICY_DENIED);
	assert_int_equal(code_of(some, WFS_EFFECT_INTROSPECT_JOURNAL), WFS_E_POLICY_DENIED);
	assert_int_equal(code_of(others, WFS_EFFECT_INTROSPECT_LIST_CELLS), WFS_OK);
	assert_int_equal(code_of(others, WFS_EFFECT_INTROSPECT_MANIFEST), WFS_OK);
	assert_int_equal(code_of(artifacts, WFS_EFFECT_INTROSPECT_LIST_CELLS), WFS_E_POLICY_DENIED);
}

TEST(what_no_rule_fits_is_denied)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights =
		rights_of(ALL_QUERIES, "[{'when':{'principal':'bob'},'decision':'allow'}]");
	const struct wfs_question question = {
		.effect = WFS_EFFECT_INTROSPECT_MANIFEST, .now_ns = NOW};
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	struct wfs_error error;

	assert_int_equal(verdict.code, WFS_E_POLICY_DENIED);
	assert_true(verdict.rule_index == SIZE_MAX);
	assert_int_equal(wfs_rights_explain(rights, &question, &verdict, &error), -EACCES);
	assert_non_null(strstr(error.message, "no rule of the policy 'test/Policy@1' allows"));
}

TEST(a_rule_about_a_reducer_is_about_that_one)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = rights_of(ALL_QUERIES,
		"[{'when':{'reducer':'secret*'},'decision':'deny'},{'when':{},'decision':'allow'}"
		"]");
	struct wfs_question question = {
		.effect = WFS_EFFECT_INTROSPECT_REDUCER_STATE, .now_ns = NOW, .reducer = "secrets"};

	assert_int_equal(code_of(rights, WFS_EFFECT_INTROSPECT_REDUCER_STATE), WFS_OK);
	assert_int_equal(wfs_rights_judge(rights, &question).code, WFS_E_POLICY_DENIED);
	question.reducer = "public";
	assert_int_equal(wfs_rights_judge(rights, &question).code, WFS_OK);
	assert_false(wfs_rights_see_all(rights));
}

TEST(only_what_shows_something_makes_rights_differ)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_with(NULL);
	static const char *const texts[] = {
		"{'g':{'cap':'sys/query@1','params':{}}}",
		"{'g':{'cap':'sys/query@1','params':{},'used':{}}}",
		"{'f':{'cap':'sys/act@1','params':{}},"
		"'g':{'cap':'sys/query@1','params':{}},"
		"'h':{'cap':'sys/query@1','params':{'scope':['a']}}}",
		"{'g':{'cap':'sys/query@1','params':{'scope':['a']}}}",
		"{'g':{'cap':'sys/query@1','params':{'scope':['a']}},"
		"'h':{'cap':'sys/query@1','params':{'scope':['b']}}}",
		"{'b':{'cap':'sys/blob@1','params':{}},"
		"'g':{'cap':'sys/query@1','params':{}}}",
		"{}",
	};
	struct wfs_rights *rights[WFS_ARRAY_COUNT(texts)];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++)
		rights[i] = rights_by(manifest, texts[i]);
	assert_true(wfs_rights_see_the_same(rights[0], rights[1]));
	assert_true(wfs_rights_see_the_same(rights[0], rights[2]));
	assert_true(wfs_rights_see_the_same(rights[2], rights[1]));
	for (size_t i = 3; i < WFS_ARRAY_COUNT(texts); i++)
		for (size_t j = 0; j < i; j++)
			assert_false(wfs_rights_see_the_same(rights[i], rights[j]));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(texts); i++)
		wfs_rights_unref(rights[i]);
}

/* Each row: a grant that a holder of `held` wants to delegate, and whether it can. */
static const struct {
	const char *part;
	int result;
} parts[] = {
	{"{'cap':'sys/query@1','params':{'scope':['reducers/a/x']},'expires_at_ns':1500}", 0},
	{"{'cap':'sys/query@1','params':{'scope':['reducers/a']},'expires_at_ns':2000}", 0},
	{"{'cap':'sys/query@1','params':{'scope':['reducers/a']}}", -EACCES},
	{"{'cap':'sys/query@1','params':{'scope':['reducers/a']},'expires_at_ns':2001}", -EACCES},
	{"{'cap':'sys/query@1','params':{'scope':['reducers/*']},'expires_at_ns':1500}", -EACCES},
	{"{'cap':'sys/query@1','params':{},'expires_at_ns':1500}", -EACCES},
	{"{'cap':'sys/query@1','expires_at_ns':1500}", -EACCES},
	{"{'cap':'sys/query@1','params':{'scope':['a//b']},'expires_at_ns':1500}", -EINVAL},
	{"{'cap':'sys/blob@1','params':{}}", -EACCES},
	{"{'cap':'sys/act@1','params':{'actions':['noop']}}", 0},
	{"{'cap':'sys/act@1','params':{'actions':['noop','transfer']}}", -EACCES},
	{"{'cap':'sys/act@1','params':{}}", -EACCES},
};

TEST(a_part_of_what_is_held_can_be_passed_on)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = rights_of(
		"{'q':{'cap':'sys/query@1','params':{'scope':['reducers/a']},'expires_at_ns':2000},"
		"'b':{'cap':'sys/blob@1','params':{},'expires_at_ns':999},"
		"'a':{'cap':'sys/act@1','params':{'actions':['noop','event.emit']}}}",
		NULL);
	const struct wfs_question question = {.effect = WFS_EFFECT_WORLD_GRANT, .now_ns = NOW};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++) {
		WFS_AUTO_JSON json_t *part = json_of(parts[i].part);
		struct wfs_verdict verdict = {.code = WFS_OK};
		struct wfs_error error = {.code = WFS_OK};
		const char *from = NULL;

		print_message("%s\n", parts[i].part);
		assert_int_equal(wfs_rights_cover(rights, &question, part, &verdict, &from, &error),
			parts[i].result);
		assert_int_equal(from != NULL, parts[i].result == 0);
		if (parts[i].result == -EACCES)
			assert_int_equal(verdict.code, WFS_E_NOT_AUTHORIZED);
	}
}

TEST(the_policy_is_asked_before_something_is_passed_on)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = rights_of(ALL_QUERIES,
		"[{'when':{'effect':'world.grant'},'decision':'deny'},{'when':{},'decision':'allow'"
		"}]");
	const struct wfs_question question = {.effect = WFS_EFFECT_WORLD_GRANT, .now_ns = NOW};
	WFS_AUTO_JSON json_t *part = json_of("{'cap':'sys/query@1','params':{'scope':['a']}}");
	struct wfs_verdict verdict;
	struct wfs_error error;
	const char *from = NULL;

	assert_int_equal(
		wfs_rights_cover(rights, &question, part, &verdict, &from, &error), -EACCES);
	assert_int_equal(verdict.code, WFS_E_POLICY_DENIED);
	assert_int_equal(verdict.rule_index, 0);
	assert_null(from);
}

TEST(what_was_passed_on_shares_budgets)
{
	WFS_AUTO_RIGHTS struct wfs_rights *some =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'budget':{'calls':2}},"
			  "'b':{'cap':'sys/act@1','params':{},'from':'a'},"
			  "'c':{'cap':'sys/act@1','params':{},'from':'b'}}",
			NULL);
	WFS_AUTO_RIGHTS struct wfs_rights *none =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'budget':{'calls':2},"
			  "'used':{'calls':2,'tokens':0},'to':'bob'},"
			  "'b':{'cap':'sys/act@1','params':{},'from':'a','to':'bob'},"
			  "'c':{'cap':'sys/act@1','params':{},'from':'b'}}",
			NULL);

	assert_true(judge(some, WFS_EFFECT_EVENT_EMIT).charged);
	assert_int_equal(code_of(none, WFS_EFFECT_EVENT_EMIT), WFS_E_QUOTA_EXCEEDED);
	assert_string_equal(judge(none, WFS_EFFECT_EVENT_EMIT).grant, "c");
}

TEST(an_own_grant_is_taken_before_one_that_was_passed_on)
{
	WFS_AUTO_RIGHTS struct wfs_rights *both =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'to':'bob'},"
			  "'b':{'cap':'sys/act@1','params':{},'from':'a'},"
			  "'c':{'cap':'sys/act@1','params':{},'budget':{'calls':2}}}",
			NULL);
	WFS_AUTO_RIGHTS struct wfs_rights *spent =
		rights_of("{'a':{'cap':'sys/act@1','params':{},'to':'bob'},"
			  "'b':{'cap':'sys/act@1','params':{},'from':'a'},"
			  "'c':{'cap':'sys/act@1','params':{},'budget':{'calls':2},"
			  "'used':{'calls':2,'tokens':0}}}",
			NULL);

	assert_string_equal(judge(both, WFS_EFFECT_EVENT_EMIT).grant, "c");
	assert_string_equal(judge(spent, WFS_EFFECT_EVENT_EMIT).grant, "b");
}

/* A name can be given again, to a grant that does not cover the delegated grants of the earlier
 * one. */
TEST(what_was_passed_on_is_never_more)
{
	static const char *const above[] = {"'params':{'scope':['reducers/a']}",
		"'params':{},'expires_at_ns':1500", "'params':{},'from':'gone'",
		"'params':{},'from':'b'"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(above); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer grants = {0};

		wfs_buffer_printf(&grants,
			"{'a':{'cap':'sys/query@1',%s,'to':'bob'},"
			"'b':{'cap':'sys/query@1','params':{},'from':'a','to':'carol'},"
			"'c':{'cap':'sys/query@1','params':{'scope':['reducers/a']},'from':'b'}}",
			above[i]);
		WFS_AUTO_RIGHTS struct wfs_rights *rights =
			rights_of(wfs_buffer_text(&grants), NULL);
		assert_int_equal(
			code_of(rights, WFS_EFFECT_INTROSPECT_REDUCER_STATE), WFS_E_NOT_AUTHORIZED);
	}
}

/* A principal that may delegate a grant can make as many grants as a world may have. */
TEST(very_many_grants_are_compared_in_a_moment)
{
	enum { MANY = 50000 };
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = manifest_with(NULL);
	WFS_AUTO_JSON json_t *grants = json_object();
	WFS_AUTO_RIGHTS struct wfs_rights *before = NULL;
	WFS_AUTO_RIGHTS struct wfs_rights *after = NULL;
	char name[sizeof("g50000")];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		json_object_set_new(grants, name,
			json_pack("{s:s, s:s, s:s, s:{}, s:s}", "cap", "sys/act@1", "granted_by",
				"operator", "name", name, "params", "to", "alice"));
	}
	assert_int_equal(wfs_rights_new("alice", manifest, grants, &before), 0);
	assert_int_equal(wfs_rights_new("alice", manifest, grants, &after), 0);
	const int64_t begin_ns = wfs_clock_monotonic_ns();
	assert_true(wfs_rights_see_the_same(before, after));
	assert_in_range(wfs_clock_monotonic_ns() - begin_ns, 0, INT64_C(2000000000));
}
