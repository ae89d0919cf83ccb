/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of outside tools at the door: what grants and policy let a principal call, what it learns
 * of other tools, and what becomes of calls whose answers are lost. */
#include "caps/session-outside.h"
#include "tests/fixture/apply.h"
#include "tests/fixture/session.h"

#include "caps/driving.h"
#include "caps/session-act.h"
#include "caps/session-blob.h"
#include "caps/session-read.h"
#include "caps/session-turn.h"
#include "kernel/base/hash-text.h"
#include "kernel/domain/outside/outside.h"
#include "kernel/value/tool.h"

#define HASH "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER_HASH "sha256:ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Policy rules before one that allows everything. */
static void apply_policy(struct at_work *work, const char *rules)
{
	WFS_AUTO_JSON json_t *document = manifest_now(work->world);
	json_t *const policy = json_pack("{s:s, s:s, s:o}", "$kind", "defpolicy", "name",
		"test/Other@1", "rules", json_of(rules));

	json_array_append_new(
		json_object_get(policy, "rules"), json_of("{'when':{},'decision':'allow'}"));
	json_array_insert_new(json_object_get(document, "policies"), 0, policy);
	json_object_set_new(document, "policy", json_string("test/Other@1"));
	assert_applied(work->world, document);
}

/* A call as the tests make it. */
struct calling {
	const char *name;
	const char *hash;        /* NULL: no server lists the tool */
	const char *annotations; /* JSON, or NULL */
	const char *arguments;   /* JSON; NULL: {} */
	const char *of;          /* JSON, or NULL */
	struct wfs_session_call *call;
};

/* @ret_id: id of the intent; caller frees; may be NULL. Return: as wfs_world_call. */
static int make_call(struct at_work *work, const struct wfs_session *session,
	const struct calling *calling, char **ret_id)
{
	WFS_AUTO_JSON json_t *annotations =
		calling->annotations ? json_of(calling->annotations) : NULL;
	WFS_AUTO_JSON json_t *arguments = json_of(calling->arguments ? calling->arguments : "{}");
	WFS_AUTO_JSON json_t *of = calling->of ? json_of(calling->of) : NULL;
	struct wfs_session_outside outside = {
		.tool = {calling->name, calling->hash, annotations},
		.arguments = arguments,
		.of = of,
	};
	BEGIN_REQUEST(request, done);
	int r = wfs_session_outside_begin(session, &outside, calling->call, &request);

	if (!r)
		while (sem_wait(&done) != 0)
			;
	r = r ? r : request.result;
	if (ret_id)
		*ret_id = r ? NULL : strdup(wfs_json_text(request.answer, "intent_id"));
	json_decref(request.answer);
	work->error = request.error;
	sem_destroy(&done);
	wfs_session_outside_done(&outside);
	return r;
}

static int call_as(struct at_work *work, const struct wfs_session *session, const char *name)
{
	return make_call(work, session, &(struct calling){.name = name, .hash = HASH}, NULL);
}

static int sees(const struct wfs_session *session, const char *name)
{
	return wfs_session_sees_tool(session, &(struct wfs_session_tool){name, HASH, NULL});
}

static bool has_open_intent(struct at_work *work)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(work->world, WFS_HEIGHT_HEAD);
	const struct wfs_session_intents all = {.state = NULL};
	uint64_t cursor = 0, left = 100;
	json_t *summary;

	assert_true(wfs_session_intent_next(
			    work->operator, & view, &all, &cursor, &left, &summary) >= 0);
	json_decref(summary);
	return summary != NULL;
}

/* The body of the last record. Caller frees the text. */
static char *last_record(struct at_work *work)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(work->world, WFS_HEIGHT_HEAD);
	struct wfs_bytes line;

	assert_int_equal(wfs_view_record(&view, view.height - 1, &line), 0);
	return strndup(line.data, line.size);
}

/* --- grants --- */

AT_WORK(without_a_grant_no_tool_is_called)
{
	let(work, "{'to':'alice','cap':'sys/act@1'}");

	assert_int_equal(call_as(work, work->alice, "git.status"), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(sees(work->alice, "git.status"), 0);
	assert_false(has_open_intent(work));
}

AT_WORK(a_grant_without_params_covers_every_tool)
{
	let(work, "{'to':'alice','cap':'sys/tool@1'}");

	assert_int_equal(call_as(work, work->alice, "git.status"), 0);
	assert_int_equal(call_as(work, work->alice, "any.x.y-z_"), 0);
	assert_int_equal(sees(work->alice, "any.x.y-z_"), 1);
	assert_int_equal(call_as(work, work->operator, "git.status"), 0);
}

AT_WORK(a_tool_that_no_grant_covers_is_like_one_that_is_not_there)
{
	char hidden[WFS_ERROR_MESSAGE_SIZE];

	let(work, "{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.*','search.query']}}");
	assert_int_equal(call_as(work, work->alice, "git.status"), 0);
	assert_int_equal(call_as(work, work->alice, "search.query"), 0);
	assert_int_equal(call_as(work, work->alice, "search.querys"), -ENOENT);
	assert_int_equal(call_as(work, work->alice, "gitx.status"), -ENOENT);
	assert_int_equal(call_as(work, work->alice, "mail.send"), -ENOENT);
	assert_int_equal(work->error.code, WFS_E_NOT_FOUND);
	memcpy(hidden, work->error.message, sizeof(hidden));
	WFS_AUTO_FREE char *of_hidden = last_record(work);
	assert_non_null(strstr(of_hidden, "\"code\":\"not_found\""));
	assert_null(strstr(of_hidden, "mail"));

	const struct calling missing = {.name = "mail.send"};
	assert_int_equal(make_call(work, work->alice, &missing, NULL), -ENOENT);
	assert_string_equal(work->error.message, hidden);
	const struct calling covered = {.name = "git.none"};
	assert_int_equal(make_call(work, work->alice, &covered, NULL), -ENOENT);
	assert_string_equal(work->error.message, "there is no tool 'git.none'");
	assert_int_equal(sees(work->alice, "git.x"), 1);
	assert_int_equal(sees(work->alice, "mail.send"), 0);
}

AT_WORK(a_tool_that_is_not_there_is_refused_without_a_grant_like_others)
{
	char listed[WFS_ERROR_MESSAGE_SIZE];

	assert_int_equal(call_as(work, work->alice, "git.status"), -EACCES);
	memcpy(listed, work->error.message, sizeof(listed));

	assert_int_equal(
		make_call(work, work->alice, &(struct calling){.name = "git.status"}, NULL),
		-EACCES);
	assert_string_equal(work->error.message, listed);
}

#define ONLY_MAIN                                                                \
	"'arguments':{'type':'object','properties':{'branch':{'const':'main'}}," \
	"'required':['branch']}"

AT_WORK(arguments_that_a_grant_refuses_leave_no_intent)
{
	struct calling calling = {
		.name = "git.push", .hash = HASH, .arguments = "{'branch':'other'}"};

	let(work, "{'to':'alice','cap':'sys/tool@1','name':'g','params':{" ONLY_MAIN "}}");
	assert_int_equal(make_call(work, work->alice, &calling, NULL), -EACCES);
	assert_int_equal(work->error.code, WFS_E_NOT_AUTHORIZED);
	print_message("%s\n", work->error.message);
	assert_non_null(strstr(work->error.message, "the grant 'g' of 'alice' does not allow"));
	assert_non_null(strstr(work->error.message, "of 'git.push': at /branch"));
	assert_false(has_open_intent(work));
	assert_int_equal(sees(work->alice, "git.push"), 1);

	calling.arguments = "{'branch':'main'}";
	assert_int_equal(make_call(work, work->alice, &calling, NULL), 0);
}

AT_WORK(a_second_grant_may_allow_other_arguments)
{
	const struct calling calling = {
		.name = "git.push", .hash = HASH, .arguments = "{'branch':'other'}"};

	let(work, "{'to':'alice','cap':'sys/tool@1','params':{" ONLY_MAIN "}}");
	let(work, "{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.push']}}");

	assert_int_equal(make_call(work, work->alice, &calling, NULL), 0);
}

AT_WORK(grants_with_bad_schemas_or_patterns_are_refused)
{
	static const char *const params[] = {
		"{'arguments':{'type':'nothing'}}",
		"{'arguments':{'unknownKeyword':1}}",
		"{'arguments':[]}",
		"{'tools':'git.*'}",
		"{'tools':['**']}",
		"{'tools':['git/x']}",
		"{'tools':['']}",
		"{'pinned':{'git.x':'abc'}}",
		"{'more':1}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(params); i++) {
		char grant[256];

		snprintf(grant, sizeof(grant), "{'to':'alice','cap':'sys/tool@1','params':%s}",
			params[i]);
		print_message("%s\n", grant);
		assert_int_equal(give(work, work->operator, grant), -EINVAL);
	}
}

AT_WORK(a_pinned_tool_that_has_changed_needs_a_new_grant)
{
	const struct calling changed = {.name = "git.push", .hash = OTHER_HASH};
	const struct wfs_session_tool listed = {"git.push", OTHER_HASH, NULL};

	let(work,
		"{'to':'alice','cap':'sys/tool@1','name':'g','params':{'tools':['git.*'],"
		"'pinned':{'git.push':'" HASH "'}}}");
	assert_int_equal(call_as(work, work->alice, "git.push"), 0);
	assert_int_equal(call_as(work, work->alice, "git.pull"), -ENOENT);

	assert_int_equal(make_call(work, work->alice, &changed, NULL), -EACCES);
	assert_non_null(strstr(work->error.message, "has changed since the grant 'g'"));
	assert_int_equal(wfs_session_sees_tool(work->alice, &listed), 0);

	let(work, "{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.push']}}");
	assert_int_equal(make_call(work, work->alice, &changed, NULL), 0);
}

AT_WORK(a_budget_counts_calls)
{
	let(work, "{'to':'alice','cap':'sys/tool@1','name':'g','budget':{'calls':2}}");

	assert_int_equal(call_as(work, work->alice, "git.status"), 0);
	assert_int_equal(call_as(work, work->alice, "git.status"), 0);
	assert_int_equal(call_as(work, work->alice, "git.status"), -EDQUOT);
	assert_int_equal(work->error.code, WFS_E_QUOTA_EXCEEDED);
	assert_int_equal(sees(work->alice, "git.status"), 1);
}

AT_WORK(an_expired_grant_is_told)
{
	let(work, "{'to':'alice','cap':'sys/tool@1','expires_at_ns':1700000001000000000}");

	assert_int_equal(call_as(work, work->alice, "git.status"), -EACCES);
	assert_int_equal(work->error.code, WFS_E_EXPIRED);
}

AT_WORK(a_part_of_a_grant_can_be_passed_on)
{
	static const struct {
		const char *params;
		int result;
	} cases[] = {
		{"{'tools':['git.push'],'arguments':{'maxProperties':1},'pinned':{'git.push':'" HASH
		 "'}}",
			0},
		{"{'tools':['git.push'],'pinned':{'git.push':'" HASH "'}}", -EACCES},
		{"{'tools':['git.push'],'arguments':{'maxProperties':1}}", -EACCES},
		{"{'tools':['git.push'],'arguments':{'maxProperties':1},"
		 "'pinned':{'git.push':'" OTHER_HASH "'}}",
			-EACCES},
		{"{'tools':['*'],'arguments':{'maxProperties':1},'pinned':{'git.push':'" HASH "'}}",
			-EACCES},
	};

	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	let(work,
		"{'to':'alice','cap':'sys/tool@1','params':{'tools':['git.*'],"
		"'arguments':{'maxProperties':1},'pinned':{'git.push':'" HASH "','git.pull':'" HASH
		"'}}}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		char grant[512];

		snprintf(grant, sizeof(grant), "{'to':'bob','cap':'sys/tool@1','params':%s}",
			cases[i].params);
		print_message("%s\n", grant);
		assert_int_equal(give(work, work->alice, grant), cases[i].result);
	}
}

/* --- policy --- */

AT_WORK(a_policy_decides_by_tool_server_and_hint)
{
	static const struct {
		struct calling calling;
		int result;
	} cases[] = {
		{{"git.push", HASH, "{'readOnlyHint':true}"}, -EACCES},
		{{"mail.send", HASH, "{'readOnlyHint':true}"}, -EACCES},
		{{"mailbox.send", HASH, "{'readOnlyHint':true}"}, 0},
		{{"git.rm", HASH, NULL}, -EACCES}, /* destructive, by the protocol's default */
		{{"git.rm", HASH, "{'destructiveHint':'no'}"}, -EACCES},
		{{"git.rm", HASH, "{'destructiveHint':false}"}, 0},
		{{"git.rm", HASH, "{'destructiveHint':true,'readOnlyHint':true}"}, 0},
	};

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	apply_policy(work,
		"[{'when':{'tool':'git.pu*'},'decision':'deny'},"
		"{'when':{'server':'mail'},'decision':'deny'},"
		"{'when':{'annotation':'readOnlyHint'},'decision':'allow'},"
		"{'when':{'annotation':'destructiveHint'},'decision':'deny'}]");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("%s %s\n", cases[i].calling.name,
			cases[i].calling.annotations ? cases[i].calling.annotations : "");
		assert_int_equal(
			make_call(work, work->alice, &cases[i].calling, NULL), cases[i].result);
		if (cases[i].result)
			assert_int_equal(work->error.code, WFS_E_POLICY_DENIED);
	}
	assert_int_equal(sees(work->alice, "git.rm"), 0);
	assert_int_equal(sees(work->alice, "git.push"), 0);
}

AT_WORK(a_call_that_needs_an_approval_is_not_made_without_one)
{
	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	apply_policy(work, "[{'when':{'effect':'tool.outside'},'decision':'ask'}]");

	assert_int_equal(call_as(work, work->alice, "git.push"), -EACCES);
	assert_int_equal(work->error.code, WFS_E_POLICY_DENIED);
	assert_false(has_open_intent(work));
	assert_int_equal(sees(work->alice, "git.push"), 1);
}

AT_WORK(a_rule_about_tools_judges_nothing_else)
{
	let(work, "{'to':'alice','cap':'sys/query@1'}");
	assert_true(wfs_session_sees_all(work->alice));

	apply_policy(work,
		"[{'when':{'tool':'*'},'decision':'deny'},"
		"{'when':{'annotation':'destructiveHint'},'decision':'deny'}]");

	assert_true(wfs_session_sees_all(work->alice));
}

/* --- private arguments --- */

static void read_intent(
	struct at_work *work, const char *id, struct wfs_document_intent *ret_intent)
{
	struct wfs_driving driving = {.world = work->world->world};

	assert_int_equal(wfs_driving_intent(&driving, id, ret_intent, &work->error), 0);
	assert_non_null(ret_intent->own.json);
}

static int end_call(struct at_work *work, const char *id, const char *status, const char *payload)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	struct wfs_session_receipt receipt = {
		.intent_id = id, .status = status, .payload = json_of(payload)};
	BEGIN_REQUEST(request, done);

	read_intent(work, id, &intent);
	int r = wait_for(work, &request, &done,
		wfs_session_outside_end(work->alice, &intent, &receipt, &request));
	wfs_session_receipt_done(&receipt);
	return r;
}

AT_WORK(private_arguments_are_not_in_records)
{
	WFS_AUTO_FREE char *id = NULL;
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	WFS_AUTO_JSON json_t *arguments = NULL;
	WFS_AUTO_JSON json_t *expected = json_of("{'text':'secret'}");
	const struct calling calling = {.name = "git.push",
		.hash = HASH,
		.arguments = "{'text':'secret'}",
		.of = "['diary']"};

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
	WFS_AUTO_FREE char *of_intent = last_record(work);
	assert_null(strstr(of_intent, "secret"));
	assert_non_null(strstr(of_intent, "\"of\":[\"diary\"]"));

	read_intent(work, id, &intent);
	assert_int_equal(
		wfs_session_outside_arguments(work->alice, &intent, &arguments, &work->error), 0);
	assert_true(json_equal(arguments, expected));

	assert_int_equal(end_call(work, id, "ok",
				 "{'content':['secret'],'duration_ms':1,'output':'a secret',"
				 "'output_size':8,'structured':{'s':'secret'}}"),
		0);
	WFS_AUTO_FREE char *of_receipt = last_record(work);
	assert_null(strstr(of_receipt, "secret"));
	assert_non_null(strstr(of_receipt, "\"of\":[\"diary\"]"));
}

AT_WORK(the_reason_of_a_private_call_is_not_in_records)
{
	WFS_AUTO_FREE char *id = NULL;
	const struct calling calling = {.name = "git.push", .hash = HASH, .of = "[]"};

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
	assert_int_equal(
		end_call(work, id, "error", "{'code':'effect_failed','message':'no secret here'}"),
		0);

	WFS_AUTO_FREE char *of_receipt = last_record(work);
	assert_null(strstr(of_receipt, "secret"));
}

AT_WORK(arguments_that_look_like_a_stand_in_are_hidden)
{
	WFS_AUTO_FREE char *id = NULL;
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	WFS_AUTO_JSON json_t *arguments = NULL;
	const char *const text = "{'a':{'hash':'" HASH "','of':['diary'],'size':3}}";
	WFS_AUTO_JSON json_t *expected = json_of(text);
	const struct calling calling = {.name = "git.push", .hash = HASH, .arguments = text};

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);

	read_intent(work, id, &intent);
	assert_int_equal(
		wfs_session_outside_arguments(work->alice, &intent, &arguments, &work->error), 0);
	assert_true(json_equal(arguments, expected));
}

/* --- calls whose caller has died --- */

static enum wfs_outside_fate fate_of(struct at_work *work, const char *id)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;

	read_intent(work, id, &intent);
	return wfs_session_outside_fate(&intent);
}

static int lose(struct at_work *work, const char *id)
{
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent;
	struct wfs_session_receipt receipt = {.intent_id = id};
	BEGIN_REQUEST(request, done);

	read_intent(work, id, &intent);
	int r = wait_for(work, &request, &done,
		wfs_session_outside_lost(work->alice, &intent, &receipt, &request));
	wfs_session_receipt_done(&receipt);
	return r;
}

static int resolve_as(struct at_work *work, const struct wfs_session *session, const char *id)
{
	WFS_AUTO_JSON json_t *resolve = json_pack("{s:s, s:s}", "intent_id", id, "outcome", "done");
	BEGIN_REQUEST(request, done);

	return wait_for(work, &request, &done, wfs_session_resolve(session, resolve, &request));
}

AT_WORK(a_call_is_made_again_if_its_tool_is_idempotent_or_only_reads)
{
	static const struct {
		const char *annotations;
		enum wfs_outside_fate fate;
	} cases[] = {
		{NULL, WFS_OUTSIDE_LOST},
		{"{'idempotentHint':true}", WFS_OUTSIDE_AGAIN},
		{"{'idempotentHint':false,'readOnlyHint':true}", WFS_OUTSIDE_AGAIN},
		{"{'idempotentHint':1}", WFS_OUTSIDE_LOST},
		{"{'destructiveHint':false}", WFS_OUTSIDE_LOST},
	};

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_FREE char *id = NULL;
		const struct calling calling = {
			.name = "git.push", .hash = HASH, .annotations = cases[i].annotations};

		print_message("%s\n", cases[i].annotations ? cases[i].annotations : "none");
		assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
		assert_int_equal(fate_of(work, id), cases[i].fate);
	}
}

AT_WORK(a_lost_call_is_listed_until_it_is_resolved)
{
	WFS_AUTO_FREE char *id = NULL;
	const struct calling calling = {.name = "git.push", .hash = HASH};

	let(work, "{'to':'alice','cap':'sys/tool@1','name':'g'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
	assert_int_equal(resolve_as(work, work->operator, id), -ESTALE);
	assert_int_equal(lose(work, id), 0);
	assert_int_equal(fate_of(work, id), WFS_OUTSIDE_ENDED);
	WFS_AUTO_FREE char *of_receipt = last_record(work);
	assert_non_null(strstr(of_receipt, "\"status\":\"unknown\""));
	assert_non_null(strstr(of_receipt, "the call of 'git.push' may have taken place"));

	assert_true(has_open_intent(work));
	assert_int_equal(resolve_as(work, work->alice, id), 0);
	assert_false(has_open_intent(work));
	assert_int_equal(resolve_as(work, work->operator, id), -ESTALE);
	assert_int_equal(work->error.code, WFS_E_CONFLICT);
}

AT_WORK(only_its_principal_and_administrators_resolve_a_call)
{
	WFS_AUTO_FREE char *id = NULL;
	struct wfs_session *bob = NULL;
	const struct calling calling = {.name = "git.push", .hash = HASH};

	assert_int_equal(add_principal(work, work->operator, "bob"), 0);
	assert_int_equal(wfs_session_new(work->authority, "bob", &bob, &work->error), 0);
	let(work, "{'to':'alice','cap':'sys/tool@1','name':'g'}");
	let(work, "{'to':'bob','cap':'sys/tool@1'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
	assert_int_equal(lose(work, id), 0);

	assert_int_equal(resolve_as(work, bob, id), -EACCES);
	assert_int_equal(take_back(work, work->operator, "g"), 0);
	assert_int_equal(resolve_as(work, work->alice, id), -EACCES);
	assert_int_equal(resolve_as(work, work->operator, id), 0);
	wfs_session_free(bob);
}

/* --- lists --- */

/* Counts the intents that a session may know. */
static int count_known(struct at_work *work, const struct wfs_session *session,
	const struct wfs_session_intents *wanted)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(work->world, WFS_HEIGHT_HEAD);
	uint64_t cursor = 0, left = 1000;
	json_t *summary = NULL;
	int count = 0;

	while (wfs_session_intent_next(session, &view, wanted, &cursor, &left, &summary) > 0) {
		count += summary != NULL;
		json_decref(summary);
	}
	return count;
}

AT_WORK(a_principal_knows_its_own_intents_and_those_that_it_sees)
{
	const struct wfs_session_intents all = {.state = NULL};
	const struct wfs_session_intents unknown = {.state = "unknown"};
	const struct wfs_session_intents others = {.effect = "llm.generate"};
	const struct wfs_session_intents of_alice = {.principal = "alice"};
	const struct calling calling = {.name = "git.push", .hash = HASH};
	WFS_AUTO_FREE char *id = NULL;

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	assert_int_equal(make_call(work, work->alice, &calling, &id), 0);
	assert_int_equal(call_as(work, work->operator, "git.push"), 0);
	assert_int_equal(lose(work, id), 0);

	assert_int_equal(count_known(work, work->alice, &all), 1);
	assert_int_equal(count_known(work, work->operator, & all), 2);
	assert_int_equal(count_known(work, work->operator, & unknown), 1);
	assert_int_equal(count_known(work, work->operator, & others), 0);
	assert_int_equal(count_known(work, work->operator, & of_alice), 1);
	let(work, "{'to':'alice','cap':'sys/query@1'}");
	assert_int_equal(count_known(work, work->alice, &all), 2);
}

TEST(names_of_tools_have_a_form)
{
	char longest[WFS_TOOL_NAME_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	longest[WFS_TOOL_SERVER_MAX] = '.';
	longest[WFS_TOOL_NAME_MAX] = '\0';

	assert_true(wfs_tool_name_valid("git.status"));
	assert_true(wfs_tool_name_valid("g_-9.a.b..C"));
	assert_true(wfs_tool_name_valid(longest));
	longest[WFS_TOOL_NAME_MAX] = 'a';
	longest[WFS_TOOL_NAME_MAX + 1] = '\0';
	assert_false(wfs_tool_name_valid(longest));
	assert_false(wfs_tool_name_valid(""));
	assert_false(wfs_tool_name_valid("git"));
	assert_false(wfs_tool_name_valid("git."));
	assert_false(wfs_tool_name_valid(".status"));
	assert_false(wfs_tool_name_valid("git status.x"));
	assert_false(wfs_tool_name_valid("git.\xc3\xa4"));
}

/* --- long results --- */

AT_WORK(what_a_receipt_names_is_stored_without_a_right)
{
	struct wfs_upload *upload = NULL;
	char text[WFS_HASH_TEXT_SIZE];
	struct wfs_hash hash = wfs_hash_of("long", 4);
	BEGIN_REQUEST(request, done);

	assert_int_equal(wfs_session_upload(work->alice, &upload, &work->error), -EACCES);
	assert_int_equal(wfs_session_upload_answer(work->alice, &upload, &work->error), 0);
	assert_int_equal(wfs_upload_hash(upload, text), -ENOENT);
	assert_int_equal(wfs_upload_add(upload, "long", 4), 0);
	assert_int_equal(
		wait_for(work, &request, &done, wfs_upload_submit(work->alice, upload, &request)),
		0);
	assert_int_equal(wfs_upload_hash(upload, text), 0);
	assert_string_equal(text, WFS_HASH_TEXT(&hash));
	wfs_upload_free(upload);
}

AT_WORK(a_principal_that_may_have_no_intents_lists_none)
{
	assert_int_equal(wfs_session_lists_intents(work->alice, &work->error), -EACCES);

	let(work, "{'to':'alice','cap':'sys/tool@1'}");
	assert_int_equal(wfs_session_lists_intents(work->alice, &work->error), 0);
	assert_int_equal(take_back(work, work->operator, "alice.tool.1"), 0);
	let(work, "{'to':'alice','cap':'sys/query@1'}");
	assert_int_equal(wfs_session_lists_intents(work->alice, &work->error), 0);
}
