/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about chats and plans: what they pass to the driver, where a checkpoint is found, and
 * lists. */
#include "tests/fixture/verb.h"

#include "tests/fixture/plan.h"

/* A driver that answers at once, with a response whose checkpoint is that of the plan p1. */
struct fake_driver {
	struct wfs_driver driver; /* first: functions cast back */
	enum wfs_error_code code; /* the error that it fails with; WFS_OK: it succeeds */
	enum wfs_drive_what what;
	json_t *params; /* owned */
};

static void fake_begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	struct fake_driver *const fake = (struct fake_driver *)driver;

	json_decref(fake->params);
	fake->what = drive->what;
	fake->params = json_deep_copy(drive->params);
	drive->result =
		json_of("{'checkpoint':{'bytes':0,'ok':true,'path':'plan:p1','plan_id':'p1',"
			"'status':'done'},'ok':true}");
	if (fake->code != WFS_OK)
		drive->status = wfs_error_set(&drive->error, fake->code, "it failed");
	drive->done(drive);
}

static void fake_done(struct fake_driver *fake)
{
	json_decref(fake->params);
}
#define AUTO_FAKE WFS_CLEANUP(fake_done)

static void two_mounts(struct wfs_host *host, json_t *status)
{
	(void)host;
	json_array_append_new(json_object_get(status, "mounts"),
		json_pack("{s:s, s:s}", "directory", "/mnt/bob", "principal", "bob"));
	json_array_append_new(json_object_get(status, "mounts"),
		json_pack("{s:s, s:s}", "directory", "/mnt/all", "principal",
			WFS_PRINCIPAL_OPERATOR));
}

static void no_mounts(struct wfs_host *host, json_t *status)
{
	(void)host;
	(void)status;
}

static struct fake_driver new_fake(enum wfs_error_code code)
{
	return (struct fake_driver){.driver = {.begin = fake_begin}, .code = code};
}

/* --- the driver --- */

static void assert_driven(struct world_fixture *fixture, const char *verb, const char *payload,
	enum wfs_drive_what what)
{
	AUTO_FAKE struct fake_driver fake = new_fake(WFS_OK);
	struct wfs_host host = {.status = no_mounts, .driver = &fake.driver};
	WFS_AUTO_JSON json_t *wanted = json_of(payload);
	AUTO_ASKED struct asked asked;

	ask_host(fixture, &host, verb, payload, &asked);

	assert_int_equal(asked.call.status, 0);
	assert_int_equal(fake.what, what);
	assert_true(json_equal(fake.params, wanted));
	assert_meta(&asked, height_of(fixture));
}

WITH_ACTORS(a_chat_is_handed_to_the_driver)
{
	assert_driven(
		fixture, "chat", "{'message':'m','session_id':'s','batch_size':0}", WFS_DRIVE_CHAT);
}

WITH_ACTORS(an_import_is_handed_to_the_driver)
{
	assert_driven(
		fixture, "plan-import", "{'blob':'sha256:00','resume':true}", WFS_DRIVE_IMPORT);
}

WITH_ACTORS(resuming_is_handed_to_the_driver)
{
	assert_driven(fixture, "plan-resume", "{'plan_id':'p1'}", WFS_DRIVE_RESUME);
}

WITH_ACTORS(what_is_unknown_is_refused)
{
	assert_verb_refused(
		fixture, "chat", "{'message':'m','more':1}", WFS_E_INVALID_ARGUMENT, "'more'");
	assert_verb_refused(fixture, "plan-resume", "{}", WFS_E_MISSING_ARGUMENT, "'plan_id'");
	assert_verb_refused(fixture, "plan-cancel", "{}", WFS_E_MISSING_ARGUMENT, "'plan_id'");
}

WITH_ACTORS(without_a_driver_it_is_not_enabled)
{
	static const char *const verbs[][2] = {{"chat", "{'message':'m'}"},
		{"plan-resume", "{'plan_id':'p1'}"}, {"plan-import", "{'blob':'sha256:00'}"}};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(verbs); i++) {
		print_message("%s\n", verbs[i][0]);
		assert_verb_refused(
			fixture, verbs[i][0], verbs[i][1], WFS_E_NOT_ENABLED, "no process runs");
	}
}

/* --- resuming a plan that the principal does not see --- */

/* Makes a principal that may drive what it made itself, and sees nothing. */
static void make_stranger(struct world_fixture *fixture)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'stranger'}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/drive@1','params':{},'to':'stranger'}");
}

static void assert_resuming_says(
	struct world_fixture *fixture, enum wfs_error_code code, const char *says)
{
	AUTO_FAKE struct fake_driver fake = new_fake(code);
	struct wfs_host host = {.status = no_mounts, .driver = &fake.driver};
	AUTO_ASKED struct asked asked;

	print_message("%s\n", wfs_error_info(code)->name);
	ask_verb_for(fixture, &host, "stranger", "plan-resume", "{'plan_id':'p1'}", &asked);

	assert_int_equal(asked.call.error.code, code);
	if (!strstr(asked.call.error.message, says))
		fail_msg("'%s' does not say '%s'", asked.call.error.message, says);
}

WITH_ACTORS(a_refused_resumption_says_what_right_is_missing)
{
	make_stranger(fixture);
	assert_resuming_says(fixture, WFS_E_NOT_AUTHORIZED, "it failed");
	assert_resuming_says(fixture, WFS_E_POLICY_DENIED, "it failed");
	assert_resuming_says(fixture, WFS_E_EXPIRED, "it failed");
}

WITH_ACTORS(a_resumed_plan_that_fails_says_nothing_of_itself)
{
	make_stranger(fixture);
	assert_resuming_says(fixture, WFS_E_EFFECT_FAILED, "only a principal that sees the plan");
	assert_resuming_says(fixture, WFS_E_CONFLICT, "only a principal that sees the plan");
}

/* --- where a checkpoint is --- */

static const char *path_in(const json_t *response)
{
	return wfs_json_text(json_object_get(response, "checkpoint"), "path");
}

WITH_ACTORS(a_checkpoint_is_under_the_mount_of_who_asks)
{
	AUTO_FAKE struct fake_driver fake = new_fake(WFS_OK);
	struct wfs_host host = {.status = two_mounts, .driver = &fake.driver};
	AUTO_ASKED struct asked asked;

	ask_host(fixture, &host, "chat", "{'message':'m'}", &asked);

	assert_string_equal(path_in(asked.call.result), "/mnt/all/plans/p1.json");
}

static void one_mount_of_bob(struct wfs_host *host, json_t *status)
{
	(void)host;
	json_array_append_new(json_object_get(status, "mounts"),
		json_pack("{s:s, s:s}", "directory", "/mnt/bob", "principal", "bob"));
}

static void assert_path_for(
	struct world_fixture *fixture, const char *principal, const char *expected)
{
	AUTO_FAKE struct fake_driver fake = new_fake(WFS_OK);
	struct wfs_host host = {.status = one_mount_of_bob, .driver = &fake.driver};
	AUTO_ASKED struct asked asked;

	ask_verb_for(fixture, &host, principal, "chat", "{'message':'m'}", &asked);

	assert_string_equal(path_in(asked.call.result), expected);
}

WITH_ACTORS(an_administrator_is_told_a_mount_of_another_principal)
{
	assert_path_for(fixture, WFS_PRINCIPAL_OPERATOR, "/mnt/bob/plans/p1.json");
}

WITH_ACTORS(another_principal_is_not_told_where_others_have_mounted)
{
	make_stranger(fixture);

	assert_path_for(fixture, "stranger", "plan:p1");
}

WITH_ACTORS(a_checkpoint_of_what_failed_is_there_too)
{
	AUTO_FAKE struct fake_driver fake = new_fake(WFS_E_EFFECT_FAILED);
	struct wfs_host host = {.status = two_mounts, .driver = &fake.driver};
	AUTO_ASKED struct asked asked;

	ask_host(fixture, &host, "chat", "{'message':'m'}", &asked);

	assert_int_equal(asked.call.status, -EIO);
	assert_null(asked.call.result);
	assert_string_equal(path_in(asked.call.error_details), "/mnt/all/plans/p1.json");
}

WITH_ACTORS(without_a_mount_it_is_named_by_its_plan)
{
	AUTO_FAKE struct fake_driver fake = new_fake(WFS_OK);
	struct wfs_host host = {.status = no_mounts, .driver = &fake.driver};
	AUTO_ASKED struct asked asked;

	ask_host(fixture, &host, "chat", "{'message':'m'}", &asked);

	assert_string_equal(path_in(asked.call.result), "plan:p1");
}

/* --- what there is --- */

#define STEPS                  \
	{"tool", "", 1},       \
	{                      \
		"tool", "0", 1 \
	}

static const json_t *plan_of(const struct asked *asked, size_t index)
{
	return json_array_get(result_of(asked, "plans"), index);
}

static const char *id_of(const json_t *plan)
{
	return wfs_json_text(plan, "plan_id");
}

WITH_ACTORS(plans_are_listed_with_how_far_they_are)
{
	const struct plan_run first = BEGIN(fixture, CHAT, STEPS);
	const struct plan_run second = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked asked;

	plan_do(&first, 1);
	ask_verb(fixture, "plans", "{}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "plans")), 2);
	assert_string_equal(id_of(plan_of(&asked, 0)), first.id);
	assert_string_equal(id_of(plan_of(&asked, 1)), second.id);
	assert_members(json_incref((json_t *)plan_of(&asked, 0)),
		"{'done':1,'failed':0,'goal':'do it','phase':'running','principal':'alice',"
		"'session_id':'s','skipped':0,'status':'running','total':2,'waits':true}");
	assert_meta(&asked, height_of(fixture));
}

WITH_ACTORS(plans_may_be_those_of_a_session)
{
	const struct plan_run run =
		BEGIN(fixture, CHAT_OF("other", CHAT_SETTINGS("25", "8")), STEPS);
	AUTO_ASKED struct asked other;
	AUTO_ASKED struct asked nothing;

	ask_verb(fixture, "plans", "{'session_id':'other'}", &other);
	ask_verb(fixture, "plans", "{'session_id':'s'}", &nothing);

	assert_int_equal(json_array_size(result_of(&other, "plans")), 1);
	assert_string_equal(id_of(plan_of(&other, 0)), run.id);
	assert_int_equal(json_array_size(result_of(&nothing, "plans")), 0);
}

WITH_ACTORS(plans_come_in_pages)
{
	const struct plan_run first = BEGIN(fixture, CHAT, STEPS);
	const struct plan_run second = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked page;
	AUTO_ASKED struct asked rest;
	char payload[128];

	ask_verb(fixture, "plans", "{'limit':1}", &page);
	snprintf(payload, sizeof(payload), "{'limit':1,'cursor':'%s'}",
		text_of(&page, "next_cursor"));
	ask_verb(fixture, "plans", payload, &rest);

	assert_string_equal(id_of(plan_of(&page, 0)), first.id);
	assert_string_equal(id_of(plan_of(&rest, 0)), second.id);
	assert_null(result_of(&rest, "next_cursor"));
}

WITH_ACTORS(plans_that_are_not_seen_are_not_listed)
{
	const struct plan_run run = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked listed;
	AUTO_ASKED struct asked named;
	char payload[128];

	assert_done(fixture, "tester", "{'action_type':'principal','id':'looker'}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/query@1','to':'looker',"
		"'params':{'scope':['plans/p']}}");
	snprintf(payload, sizeof(payload), "{'plan_id':'%s'}", run.id);
	ask_as(fixture, "looker", "plans", "{}", &listed);
	ask_as(fixture, "looker", "plan-status", payload, &named);

	assert_int_equal(json_array_size(result_of(&listed, "plans")), 0);
	assert_int_equal(named.call.status, -ENOENT);
}

WITH_ACTORS(the_status_is_that_of_a_plan)
{
	const struct plan_run run = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked asked;
	char payload[128];

	plan_do(&run, 2);
	snprintf(payload, sizeof(payload), "{'plan_id':'%s'}", run.id);
	ask_verb(fixture, "plan-status", payload, &asked);

	assert_string_equal(text_of(&asked, "phase"), "answering");
	assert_int_equal(integer_of(&asked, "done"), 2);
}

WITH_ACTORS(the_status_of_a_session_is_that_of_its_newest_message)
{
	const struct plan_run run = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked refused;
	AUTO_ASKED struct asked planned;
	AUTO_ASKED struct asked asked;

	ask_as(fixture, "alice", "plan-status", "{'session_id':'s'}", &refused);
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/drive@1','params':{},'to':'alice'}");
	ask_as(fixture, "alice", "plan-status", "{'session_id':'s'}", &planned);
	(void)chat_as(fixture, "alice", CHAT);
	ask_as(fixture, "alice", "plan-status", "{'session_id':'s'}", &asked);

	assert_int_equal(refused.call.status, -EACCES);
	assert_string_equal(id_of(result_of(&planned, "plan")), run.id);
	assert_string_equal(text_of(&asked, "status"), "planning");
	assert_true(json_is_null(result_of(&asked, "plan")));
}

WITH_ACTORS(a_session_is_that_of_who_asks)
{
	(void)BEGIN(fixture, CHAT, STEPS);

	assert_verb_refused(
		fixture, "plan-status", "{'session_id':'s'}", WFS_E_NOT_FOUND, "Session 's'");
}

WITH_ACTORS(a_status_is_of_one_thing)
{
	assert_verb_refused(fixture, "plan-status", "{}", WFS_E_INVALID_ARGUMENT, "one of");
	assert_verb_refused(fixture, "plan-status", "{'plan_id':'p','session_id':'s'}",
		WFS_E_INVALID_ARGUMENT, "one of");
	assert_verb_refused(
		fixture, "plan-status", "{'plan_id':'p'}", WFS_E_NOT_FOUND, "Plan 'p' not found");
}

/* --- stopping --- */

WITH_ACTORS(cancelling_stops_a_plan)
{
	const struct plan_run run = BEGIN(fixture, CHAT, STEPS);
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked again;
	char payload[128];

	snprintf(payload, sizeof(payload), "{'plan_id':'%s'}", run.id);
	ask_verb(fixture, "plan-cancel", payload, &asked);
	ask_verb(fixture, "plan-cancel", payload, &again);

	assert_int_equal(asked.call.status, 0);
	assert_plan(&run, "{'status':'cancelled','open':[]}");
	assert_int_equal(again.call.error.code, WFS_E_CONFLICT);
}

WITH_ACTORS(what_is_no_plan_is_not_cancelled)
{
	AUTO_ASKED struct asked asked;

	ask_verb(fixture, "plan-cancel", "{'plan_id':'p'}", &asked);

	assert_int_equal(asked.call.status, -ENOENT);
}
