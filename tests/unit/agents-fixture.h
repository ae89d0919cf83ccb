/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world with agents whose answers come out of a script, and its driver, for the tests of agents/.
 *
 * Agents: `ada` holds what an agent needs; `dumb` may not ask models; `poor` has a grant of 15 tokens;
 * `cold` has a quota of 15; `full` may add 40,000 bytes to the journal. Artifacts that can be called: `sum` takes an object {a, b}, `list.sum` a
 * list of numbers, `bare` says nothing of itself, `called` tells which call it is and what one that it
 * invokes is told, `page` cannot be called. Helpers: `perform` is the action that it is given, `fs_echo` gives its
 * arguments, `fs_fail` fails, `fs_wait` waits for fixture_let_go().
 * JSON in the tests is written with ' for ", and with \' for \" within a text.
 */
#pragma once

#include <semaphore.h>

#include "tests/unit/world-fixture.h"

#include "agents/driver.h"
#include "kernel/base/clock.h"
#include "kernel/domain/turn/turn-read.h"

#define FIXTURE_AGENT(id, content) \
	"{'id':'" id "','type':'agent','created_by':'" id "','content':" content "}"
#define FIXTURE_CODE(id, more, body)                                                  \
	"{'id':'" id "','created_by':'ada','access':'public','executable':true," more \
	"'code':'function run(a, b) " body " end\\n'}"
#define FIXTURE_GRANTS "{'cap':'sys/act@1','params':{}},{'cap':'sys/query@1','params':{}}"
#define FIXTURE_LLM "{'cap':'sys/llm@1','params':{}}"

#define FIXTURE_CALLED                                                                      \
	"local c = {ctx.call_id or 0, ctx.tool_name or 0, ctx.run_id or 0, ctx.turn or 0} " \
	"if a then c[5] = invoke(ctx.artifact_id).result end return c"

static const char agents_world_json[] =
	"{'name':'agents','principals':["
	"{'id':'ada','grants':[" FIXTURE_GRANTS "," FIXTURE_LLM "]},"
	"{'id':'dumb','grants':[" FIXTURE_GRANTS "]},"
	"{'id':'poor','grants':[" FIXTURE_GRANTS
	",{'cap':'sys/llm@1','params':{},'budget':{'tokens':15}}]},"
	"{'id':'cold','quotas':{'llm_tokens':15},'grants':[" FIXTURE_GRANTS "," FIXTURE_LLM "]},"
	"{'id':'full','quotas':{'journal':40000},'grants':[" FIXTURE_GRANTS "," FIXTURE_LLM "]},"
	"{'id':'eve','grants':[]}],"
	"'artifacts':[" FIXTURE_AGENT("ada", "{'model':'script','prompt':'go'}") "," FIXTURE_AGENT(
		"dumb", "{'model':'script'}") "," FIXTURE_AGENT("poor",
		"{'model':'script'}") "," FIXTURE_AGENT("full",
		"{'model':'script','tools':['bare','fs_echo']}") "," FIXTURE_AGENT("cold",
		"{'model':'script'}") "," FIXTURE_CODE("sum",
		"'interface':{'description':'adds','methods':[{'name':'run','description':"
		"'adds two','input':{'type':'object','required':['a','b'],'properties':{'a':"
		"{'type':'integer'},'b':{'type':'integer'}}}}]},",
		"return a.a + a.b") "," FIXTURE_CODE("called", "",
		FIXTURE_CALLED) "," FIXTURE_CODE("list.sum",
		"'interface':{'description':'adds all','methods':[{'name':'run','input':{'type':"
		"'array','items':{'type':'integer'}}}]},",
		"return a + b") "," FIXTURE_CODE("bare", "",
		"return a") ","
			    "{'id':'page','created_by':'ada','content':'text'}]}";

/* --- helpers --- */

/* How `fs_wait` meets the test. */
static struct {
	sem_t entered;
	sem_t leave;
} gate;

static inline void fixture_let_go(void)
{
	sem_post(&gate.leave);
}

static inline void wait_sem(sem_t *sem)
{
	while (sem_wait(sem) != 0)
		;
}

static inline json_t *fixture_definitions(void)
{
	return json_of("[{'name':'perform','acts':true,'description':'acts','parameters':{'type':"
		       "'object'}},{'name':'fs_echo','description':'echoes','parameters':{'type':'"
		       "object'}},"
		       "{'name':'fs_fail','description':'fails','parameters':{'type':'object'}},"
		       "{'name':'fs_wait','description':'waits','parameters':{'type':'object'}}]");
}

static inline int fixture_check(const char *name, const json_t *arguments, struct wfs_error *error)
{
	if (strcmp(name, "perform") == 0 && !json_object_get(arguments, "action"))
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT, "'action' is missing");
	return 0;
}

/* The action under `action`. */
static inline int fixture_action(
	const char *name, const json_t *arguments, json_t **ret_action, struct wfs_error *error)
{
	json_t *const action = json_object_get(arguments, "action");

	(void)name;
	*ret_action = json_incref(action);
	return action ? 0 : wfs_error_set(error, WFS_E_MISSING_ARGUMENT, "'action' is missing");
}

static inline int fixture_run(const struct wfs_session *session, const char *name,
	const json_t *arguments, struct wfs_buffer *output, json_t **ret_meta,
	struct wfs_error *error)
{
	(void)session;
	if (strcmp(name, "fs_fail") == 0) {
		*ret_meta = json_of("{'journal_height':7}");
		return wfs_error_set(error, WFS_E_NOT_FOUND, "nothing is there");
	}
	if (strcmp(name, "fs_wait") == 0) {
		sem_post(&gate.entered);
		wait_sem(&gate.leave);
	}
	wfs_json_write(arguments, output);
	return wfs_buffer_check(output);
}

static const struct wfs_helpers fixture_helpers = {
	fixture_definitions, fixture_check, fixture_action, fixture_run, NULL, NULL, NULL};

#ifndef FIXTURE_HELPERS /* a test may have the program's */
#define FIXTURE_HELPERS (&fixture_helpers)
#endif

/* --- the world --- */

struct agents_fixture {
	char root[64];
	char directory[80];
	struct wfs_world *world;
	struct wfs_authority *authority;
	struct wfs_session *operator;
	struct wfs_driver *driver;
	bool paused;
	struct wfs_error error; /* of the last call */
};

/* What the model answers: lines of a script. */
static inline void fixture_script(struct agents_fixture *fixture, const char *lines)
{
	WFS_AUTO_FREE char *text = json_text(lines);

	put_file(fixture->directory, "script.jsonl", text);
}

static inline int fixture_open_world(struct agents_fixture *fixture)
{
	const struct wfs_world_options options = {.wait_ms = 5000};
	int r = wfs_world_open(fixture->directory, &options, &fixture->world, &fixture->error);

	if (!r)
		r = wfs_authority_new(fixture->world, &fixture->authority, &fixture->error);
	if (!r)
		r = wfs_session_new(fixture->authority, WFS_PRINCIPAL_OPERATOR,
			&fixture->operator, & fixture->error);
	return r;
}

static inline int fixture_drive(struct agents_fixture *fixture)
{
	return wfs_agents_start(fixture->authority, FIXTURE_HELPERS, fixture->paused,
		&fixture->driver, &fixture->error);
}

static inline void fixture_stop_driving(struct agents_fixture *fixture)
{
	if (fixture->driver)
		fixture->driver->free(fixture->driver);
	fixture->driver = NULL;
}

static inline void fixture_close(struct agents_fixture *fixture)
{
	fixture_stop_driving(fixture);
	wfs_session_free(WFS_STEAL(fixture->operator));
	wfs_authority_free(WFS_STEAL(fixture->authority));
	wfs_world_close(WFS_STEAL(fixture->world));
}

/* @genesis: with the artifacts of that name */
static inline int fixture_create(struct agents_fixture *fixture, bool genesis)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_BUFFER struct wfs_buffer world = {0};
	const struct wfs_world_options options = {0};
	struct wfs_source source = {0};
	char path[80];

	snprintf(path, sizeof(path), "%s/source", fixture->root);
	assert_int_equal(mkdir(path, 0755), 0);
	wfs_buffer_printf(
		&world, "{'genesis':%s,%s", genesis ? "true" : "false", agents_world_json + 1);
	WFS_AUTO_FREE char *json = json_text(wfs_buffer_text(&world));
	put_file(path, "world.json", json);
	int r = wfs_source_load(path, NULL, &problems, &source);
	if (!r)
		r = wfs_world_create(
			fixture->directory, &source, &options, &problems, &fixture->error);
	if (r)
		print_error("%s%s\n", wfs_buffer_text(&problems.lines), fixture->error.message);
	wfs_source_done(&source);
	return r;
}

static inline int fixture_setup_of(void **state, bool genesis)
{
	struct agents_fixture *const fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	sem_init(&gate.entered, 0, 0);
	sem_init(&gate.leave, 0, 0);
	snprintf(fixture->root, sizeof(fixture->root), "/tmp/wfs-agents-XXXXXX");
	assert_non_null(mkdtemp(fixture->root));
	know_no_worlds(fixture->root);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/world", fixture->root);
	int r = fixture_create(fixture, genesis);
	if (!r)
		r = fixture_open_world(fixture);
	put_file(fixture->directory, "host.json",
		"{\"models\":{\"script\":{\"provider\":\"script\",\"file\":\"script.jsonl\"}}}");
	assert_int_equal(trust_host(fixture->directory, wfs_world_id(fixture->world)), 0);
	return r;
}

/* A world that nobody drives. */
static inline int fixture_setup_world(void **state)
{
	return fixture_setup_of(state, false);
}

static inline int fixture_setup_genesis(void **state)
{
	return fixture_setup_of(state, true);
}

static inline int fixture_setup(void **state)
{
	return fixture_setup_world(state) || fixture_drive(*state);
}

static inline int fixture_teardown(void **state)
{
	struct agents_fixture *const fixture = *state;

	fixture_close(fixture);
	wfs_directory_remove(fixture->root);
	sem_destroy(&gate.entered);
	sem_destroy(&gate.leave);
	free(fixture);
	return 0;
}

/* The operator does this action, or the agent itself. */
static inline void fixture_act(
	struct agents_fixture *fixture, const char *principal, json_t *action)
{
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = principal, .action = action};

	if (wfs_world_call(fixture->world, &request))
		fail_msg("%s", request.error.message);
	json_decref(request.answer);
	json_decref(action);
}

/* The agent's content is this from now on. */
static inline void fixture_configure(
	struct agents_fixture *fixture, const char *agent, const char *content)
{
	WFS_AUTO_FREE char *text = json_text(content);

	fixture_act(fixture, agent,
		json_pack("{s:s, s:s, s:s}", "action_type", "write_artifact", "artifact_id", agent,
			"content", text));
}

/* --- turns --- */

/* One request for turns, and its answer. */
struct asked {
	struct wfs_drive drive;
	json_t *params;
	sem_t done;
};

static inline void fixture_asked_done(struct wfs_drive *drive)
{
	sem_post(&((struct asked *)drive->context)->done);
}

static inline void fixture_ask(struct agents_fixture *fixture, const struct wfs_session *session,
	const char *params, struct asked *ret_asked)
{
	*ret_asked = (struct asked){.params = json_of(params)};
	sem_init(&ret_asked->done, 0, 0);
	ret_asked->drive = (struct wfs_drive){.session = session,
		.params = ret_asked->params,
		.done = fixture_asked_done,
		.context = ret_asked};
	fixture->driver->begin(fixture->driver, &ret_asked->drive);
}

/* Return: status; the result is the caller's. */
static inline int fixture_wait(
	struct agents_fixture *fixture, struct asked *asked, json_t **ret_result)
{
	wait_sem(&asked->done);
	sem_destroy(&asked->done);
	json_decref(asked->params);
	fixture->error = asked->drive.error;
	*ret_result = asked->drive.result;
	return asked->drive.status;
}

/* Asks and waits. */
static inline int fixture_step(
	struct agents_fixture *fixture, const char *params, json_t **ret_result)
{
	struct asked asked;

	fixture_ask(fixture, fixture->operator, params, &asked);
	return fixture_wait(fixture, &asked, ret_result);
}

static inline const char *fixture_text(const json_t *object, const char *member)
{
	const char *const text = json_string_value(json_object_get(object, member));

	return text ? text : "(none)";
}

/* The run ended like this; its result is the caller's. */
static inline json_t *fixture_ends(
	struct agents_fixture *fixture, const char *params, const char *reason)
{
	json_t *result = NULL;
	const int r = fixture_step(fixture, params, &result);

	if (!result)
		fail_msg("%s: %d: %s", params, r, fixture->error.message);
	assert_string_equal(fixture_text(result, "termination_reason"), reason);
	return result;
}

/* The content of message @index of the history. */
static inline const char *fixture_message(const json_t *result, size_t index)
{
	return fixture_text(json_array_get(json_object_get(result, "history"), index), "content");
}

#define DRIVEN(name) \
	TEST_WITH(name, struct agents_fixture *fixture, fixture_setup, fixture_teardown)
#define GENESIS(name) \
	TEST_WITH(name, struct agents_fixture *fixture, fixture_setup_genesis, fixture_teardown)
#define UNDRIVEN(name) \
	TEST_WITH(name, struct agents_fixture *fixture, fixture_setup_world, fixture_teardown)
