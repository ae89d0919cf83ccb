/* SPDX-License-Identifier: Apache-2.0 */
/* Creating a world: in which places it is allowed, and that a failure leaves nothing. */
#include "tests/fixture/world.h"

#include <dirent.h>

#include "kernel/check/replay.h"
#include "kernel/check/verify.h"

enum {
	GENESIS_HEIGHT = 2, /* of a new world: the genesis record and its first snapshot */
	WITH_WORLD = 3,     /* names in the fixture's directory: .user, source and a new world */
};

/* --- making a world --- */

static size_t count_names(const char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(listing);
	return count;
}

WITH_SOURCE(create_makes_a_world_that_opens)
{
	assert_int_equal(world_fixture_create(fixture), 0);

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT);
	assert_int_equal(strlen(wfs_world_id(fixture->world)), 32);
	assert_string_equal(wfs_world_directory(fixture->world), fixture->directory);
	assert_int_equal(count_names(fixture->root), WITH_WORLD);
}

WITH_SOURCE(create_takes_an_empty_directory)
{
	assert_int_equal(mkdir(fixture->directory, 0755), 0);

	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
}

WITH_SOURCE(create_takes_a_trailing_slash)
{
	const size_t size = strlen(fixture->directory);

	fixture->directory[size] = '/';
	fixture->directory[size + 1] = '\0';

	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(count_names(fixture->root), WITH_WORLD);
}

WITH_SOURCE(create_takes_the_current_directory)
{
	char world[sizeof(fixture->directory)];
	char before[4096];

	snprintf(world, sizeof(world), "%s", fixture->directory);
	snprintf(fixture->directory, sizeof(fixture->directory), ".");
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(mkdir(world, 0755), 0);
	assert_int_equal(chdir(world), 0);
	int r = world_fixture_create(fixture);
	assert_int_equal(chdir(before), 0);

	assert_int_equal(r, 0);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", world);
	assert_int_equal(world_fixture_open(fixture), 0);
}

WITH_SOURCE(create_refuses_a_directory_that_is_not_empty)
{
	assert_int_equal(mkdir(fixture->directory, 0755), 0);
	put_file(fixture->directory, "file", "text");

	assert_int_equal(world_fixture_create(fixture), -EEXIST);
	assert_int_equal(fixture->error.code, WFS_E_ALREADY_EXISTS);
	assert_int_equal(count_names(fixture->directory), 1);
	assert_int_equal(count_names(fixture->root), 2);
}

WITH_SOURCE(create_refuses_a_world)
{
	assert_int_equal(world_fixture_create(fixture), 0);

	assert_int_equal(world_fixture_create(fixture), -EEXIST);
	assert_int_equal(world_fixture_open(fixture), 0);
}

WITH_SOURCE(create_refuses_a_place_below_nothing)
{
	snprintf(fixture->directory, sizeof(fixture->directory), "%s/no/world", fixture->root);

	assert_int_equal(world_fixture_create(fixture), -ENOENT);
	assert_int_equal(count_names(fixture->root), 1);
}

WITH_SOURCE(create_leaves_nothing_when_it_fails)
{
	fixture->options.map_size_bytes = UINT64_C(12) * 4096; /* too small for the tables alone */

	assert_int_equal(world_fixture_create(fixture), -ENOSPC);
	assert_int_equal(fixture->error.code, WFS_E_STORE_FULL);
	assert_int_equal(count_names(fixture->root), 1);
}

WITH_SOURCE(create_tells_every_problem_of_a_bad_manifest)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_error error = {0};

	json_object_set_new(fixture->loaded.manifest, "world_version", json_integer(7));
	json_object_set_new(fixture->loaded.manifest, "name", json_integer(7));

	assert_int_equal(wfs_world_create(fixture->directory, &fixture->loaded, &fixture->options,
				 &problems, &error),
		-EINVAL);
	assert_int_equal(problems.count, 2);
	assert_int_equal(count_names(fixture->root), 1);
}

/* --- what it begins with --- */

/* Loads a source from tests/data/worlds instead of the fixture's. */
static void load_market(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	wfs_source_done(&fixture->loaded);
	if (wfs_source_load(
		    SOURCE_ROOT "/tests/data/worlds/market", NULL, &problems, &fixture->loaded))
		fail_msg("%s", wfs_buffer_text(&problems.lines));
}

/* Loads a source with these lists beside the fixture's. JSON with ' for ". Return: the result of
 * loading. */
static int load_with(struct world_fixture *fixture, const char *principals, const char *artifacts,
	struct wfs_problems *problems)
{
	WFS_AUTO_FREE char *json = NULL;
	WFS_AUTO_FREE char *text = NULL;

	assert_true(asprintf(&json, "{'name':'w','principals':%s,'artifacts':%s}", principals,
			    artifacts) > 0);
	text = json_text(json);
	put_file(fixture->source, "world.json", text);
	wfs_source_done(&fixture->loaded);
	return wfs_source_load(fixture->source, NULL, problems, &fixture->loaded);
}

static json_t *member_of(struct world_fixture *fixture, const char *id, const char *member)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.artifact", id);
	WFS_AUTO_JSON json_t *document = NULL;

	assert_non_null(text);
	assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return json_incref(json_object_get(document, member));
}

static void assert_member(
	struct world_fixture *fixture, const char *id, const char *member, const char *expected)
{
	WFS_AUTO_JSON json_t *found = member_of(fixture, id, member);
	WFS_AUTO_JSON json_t *wanted = json_of(expected);

	print_message("%s of %s\n", member, id);
	assert_true(json_equal(found, wanted));
}

/* Checks that record @seq made the artifact @id for @principal. */
static void assert_made_by(
	struct world_fixture *fixture, uint64_t seq, const char *principal, const char *id)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);
	const json_t *action = parsed.body.action.action;

	assert_int_equal(parsed.record.kind, WFS_RECORD_ACTION);
	assert_string_equal(parsed.record.principal, principal);
	assert_string_equal(json_string_value(json_object_get(action, "artifact_id")), id);
	assert_false(parsed.record.derived);
}

WITH_SOURCE(create_records_how_each_artifact_came)
{
	load_market(fixture);
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_made_by(fixture, 1, "alice", "adder");
	assert_made_by(fixture, 2, "bob", "doubler");
	assert_made_by(fixture, 3, "alice", "prices");
	assert_made_by(fixture, 4, "operator", "notice");
	WFS_AUTO_RECORD struct wfs_record_parsed last = record_at(fixture, 5);
	assert_int_equal(last.record.kind, WFS_RECORD_SNAPSHOT);
	assert_int_equal(height_of(fixture), 6);
	assert_member(fixture, "adder", "invoke_price", "3");
	assert_member(fixture, "adder", "executable", "true");
	assert_member(fixture, "doubler", "depends_on", "['adder']");
	assert_member(fixture, "notice", "read_price", "1");
	assert_member(fixture, "notice", "content_size", "20");
}

WITH_SOURCE(create_opens_the_accounts_of_declared_principals)
{
	load_market(fixture);
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_state_at(fixture, 1, "sys.ledger", "alice", "{'scrip':100}");
	assert_state_at(fixture, 1, "sys.ledger", "operator", "{'scrip':0}");
	assert_state_at(fixture, 1, "sys.resource", "alice", "{'disk':{'quota':10000,'used':0}}");
	assert_state(fixture, "sys.resource", "bob",
		"{'disk':{'quota':10000,'used':183},'llm_tokens':{'quota':0,'used':0}}");
	assert_state(fixture, "sys.resource", "carol", NULL);
}

WITH_SOURCE(what_a_world_begins_with_verifies_and_replays)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	load_market(fixture);
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

WITH_SOURCE(what_it_begins_with_is_invoked_and_paid)
{
	WFS_AUTO_JSON json_t *action =
		json_of("{'action_type':'invoke_artifact','artifact_id':'doubler','args':[21]}");
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "carol", .action.document = action};

	load_market(fixture);
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	if (wfs_world_call(fixture->world, &request))
		fail_msg("%s", request.error.message);
	json_decref(request.answer);

	assert_state(fixture, "sys.ledger", "alice", "{'scrip':103}");
	assert_state(fixture, "sys.ledger", "bob", "{'scrip':52}");
	assert_state(fixture, "sys.ledger", "carol", "{'scrip':2}");
}

/* Expects that nothing is made, and that all of these problems are reported: of the form, and of
 * making the artifacts. */
static void assert_refused(struct world_fixture *fixture, const char *principals,
	const char *artifacts, const char *lines)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_error error = {0};
	int loaded = load_with(fixture, principals, artifacts, &problems);

	assert_true(loaded == 0 || loaded == -EINVAL);
	assert_int_equal(wfs_world_create(fixture->directory, &fixture->loaded, &fixture->options,
				 &problems, &error),
		-EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_string_equal(wfs_buffer_text(&problems.lines), lines);
	assert_int_equal(count_names(fixture->root), 1);
}

WITH_SOURCE(create_tells_every_artifact_that_cannot_be_made)
{
	put_file(fixture->source, "bad.lua", "x = = 1");
	assert_refused(fixture, "[{'id':'alice','quotas':{'disk':3}}]",
		"[{'id':'long','created_by':'alice','content':'long'},"
		"{'id':'alice'},{'id':'genesis_x'},{'id':'bad','code_file':'bad.lua'},"
		"{'id':'none','code':'x = 1'},{'id':'raises','code':'error(\\'no\\')'},"
		"{'id':'empty','executable':true},"
		"{'id':'fits','created_by':'alice','content':'abc'}]",
		"world.json: /artifacts/0: 'alice' has 3 of its disk left, 4 needed\n"
		"world.json: /artifacts/1/id: 'alice' is a principal\n"
		"world.json: /artifacts/2: Cannot modify system artifact 'genesis_x'\n"
		"world.json: /artifacts/3/code_file: bad:1: unexpected symbol near '='\n"
		"world.json: /artifacts/4/code: none: expected a global function 'run' or 'check', "
		"found none\n"
		"world.json: /artifacts/5/code: raises:1: no\n"
		"world.json: /artifacts/6: an executable artifact requires 'code' that defines "
		"run(...) or check(...)\n");
}

/* A control character takes six bytes in JSON. */
WITH_SOURCE(create_bounds_the_action_that_makes_an_artifact)
{
	enum { FITS = WFS_REQUEST_SIZE_MAX / 6 - 100, TOO_MANY = WFS_REQUEST_SIZE_MAX / 6 };
	WFS_AUTO_FREE char *text = malloc(TOO_MANY + 1);

	assert_non_null(text);
	memset(text, 1, TOO_MANY);
	text[TOO_MANY] = '\0';
	put_file(fixture->source, "large", text);
	text[FITS] = '\0';
	put_file(fixture->source, "fits", text);

	assert_refused(fixture, "[]",
		"[{'id':'large','content_file':'large'},{'id':'fits','content_file':'fits'}]",
		"world.json: /artifacts/0: the action that makes it has 16777279 bytes, at most "
		"16777216 are taken\n");
}

WITH_SOURCE(problems_of_form_and_of_making_are_told_at_once)
{
	assert_refused(fixture, "[]", "[{'id':'a','price':'x'},{'id':'b','code':'x = '}]",
		"world.json: /artifacts/0/price: expected an integer from 0, got string \"x\"\n"
		"world.json: /artifacts/1/code: b:1: unexpected symbol near <eof>\n");
}

WITH_SOURCE(contents_have_the_form_of_their_type)
{
	assert_refused(fixture, "[]",
		"[{'id':'a','type':'agent','content':{'max_turns':-1}},"
		"{'id':'w','type':'workflow','content':{'states':['a'],'steps':[{'state':'b'}]}}]",
		"world.json: /artifacts/0/content: 'max_turns': expected an integer from 0 to "
		"10000, got -1\n"
		"world.json: /artifacts/1/content: workflow.steps[0].state: 'b' is none of the "
		"states: a\n");
}

WITH_SOURCE(what_needs_a_refused_artifact_is_not_told)
{
	assert_refused(fixture, "[]",
		"[{'id':'a','price':'x'},{'id':'b','depends_on':['a']},"
		"{'id':'c','depends_on':['b']}]",
		"world.json: /artifacts/0/price: expected an integer from 0, got string \"x\"\n");
}

static void assert_has_file(
	const struct world_fixture *fixture, const char *name, const char *expected)
{
	char path[128];
	char text[64] = "";

	snprintf(path, sizeof(path), "%s/%s", fixture->directory, name);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, expected);
}

WITH_SOURCE(create_copies_the_host_configuration)
{
	struct wfs_source *const source = &fixture->loaded;

	wfs_buffer_append_text(&source->host, "{\"models\":{}}\n");
	source->files = calloc(1, sizeof(*source->files));
	assert_non_null(source->files);
	source->file_count = 1;
	source->files[0].name = strdup("a.jsonl");
	wfs_buffer_append_text(&source->files[0].bytes, "{\"content\":\"hi\"}\n");
	assert_int_equal(world_fixture_create(fixture), 0);

	assert_has_file(fixture, "host.json", "{\"models\":{}}\n");
	assert_has_file(fixture, "a.jsonl", "{\"content\":\"hi\"}\n");
}
