/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as directories: what they contain at each height, and which principals see them. */
#include "tests/fixture/tree.h"

#include <sys/stat.h>

#include "caps/session-query.h"
#include "tests/fixture/plan-tree.h"

#include "kernel/copy/gc.h"

static int plan_setup_shown(void **state)
{
	if (shown_setup(state))
		return -1;
	return action_fixture_begin(((struct shown *)*state)->world);
}

#define SHOWN_PLAN(name) TEST_WITH(name, struct shown *shown, plan_setup_shown, shown_teardown)

#define PLANS "plans/" PLANNED_ID
#define STEP_0 PLANS "/steps/0-a.json"
#define STEP_1 PLANS "/steps/1-b%2Fc.json"
#define STEP_2 PLANS "/steps/2-n.json"
#define OTHER_ID "fedcba9876543210fedcba9876543210"

static struct planned begin(struct shown *shown)
{
	return planned_begin(shown->world, PLANNED_ID, PLANNED_SMALL);
}

/* The path under a height. Valid until the next call. */
static const char *at(uint64_t height, const char *path)
{
	static char text[512];

	snprintf(text, sizeof(text), "at/%llu/%s", (unsigned long long)height, path);
	return text;
}

static uint64_t ino_of(struct shown *shown, const char *path)
{
	return attr_of(shown, path).ino;
}

static json_t *document_at(struct shown *shown, const char *path)
{
	WFS_AUTO_FREE char *text = contents(shown, path);
	json_t *document = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

/* --- what is there --- */

SHOWN_PLAN(a_plan_is_a_directory_and_a_file_beside_it)
{
	assert_lists(shown, "plans", "");
	assert_missing(shown, PLANS);
	(void)begin(shown);
	(void)planned_begin(shown->world, OTHER_ID, PLANNED_SMALL);

	assert_lists(
		shown, "plans", PLANNED_ID " " PLANNED_ID ".json " OTHER_ID " " OTHER_ID ".json ");
	assert_lists(shown, PLANS, "plan.json status graph.dot steps ");
	assert_lists(shown, PLANS "/steps", "0-a.json 1-b%2Fc.json 2-n.json ");
	assert_int_equal(attr_of(shown, PLANS "/steps").mode, S_IFDIR | 0555);
	assert_int_equal(attr_of(shown, STEP_0).mode, S_IFREG | 0444);
}

SHOWN_PLAN(the_file_beside_is_the_same_node)
{
	(void)begin(shown);

	const struct wfs_attr inside = attr_of(shown, PLANS "/plan.json");
	const struct wfs_attr beside = attr_of(shown, PLANS ".json");
	assert_true(inside.ino == beside.ino);
	assert_int_equal(inside.size_bytes, beside.size_bytes);
	WFS_AUTO_JSON json_t *document = document_at(shown, PLANS ".json");
	assert_string_equal(wfs_json_text(document, "plan_id"), PLANNED_ID);
}

SHOWN_PLAN(names_that_are_none_are_not_there)
{
	static const char *const paths[] = {PLANS "/.json", PLANS ".jso", PLANS ".json.json",
		"plans/.json", "plans/x.json", PLANS "/events.jsonl", PLANS "/steps/0-a",
		PLANS "/steps/0-b.json", PLANS "/steps/00-a.json", PLANS "/steps/3-n.json",
		PLANS "/steps/1-b/c.json", PLANS "/steps/x"};

	(void)begin(shown);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++)
		assert_missing(shown, paths[i]);
}

/* Checks that a listing can be continued after every entry. */
static void assert_lists_one_by_one(struct shown *shown, const char *path, const char *expected)
{
	struct listing listing = {0};
	const uint64_t ino = ino_of(shown, path);
	size_t before;

	do {
		before = listing.count;
		listing.most = before + 1;
		assert_int_equal(
			wfs_tree_list(&shown->tree, ino, listing.cookie, add_name, &listing), 0);
	} while (listing.count > before);
	assert_string_equal(wfs_buffer_text(&listing.names), expected);
	wfs_buffer_done(&listing.names);
}

SHOWN_PLAN(listings_go_on_behind_every_entry)
{
	(void)begin(shown);
	(void)planned_begin(shown->world, OTHER_ID, PLANNED_SMALL);

	assert_lists_one_by_one(
		shown, "plans", PLANNED_ID " " PLANNED_ID ".json " OTHER_ID " " OTHER_ID ".json ");
	assert_lists_one_by_one(shown, PLANS, "plan.json status graph.dot steps ");
	assert_lists_one_by_one(shown, PLANS "/steps", "0-a.json 1-b%2Fc.json 2-n.json ");
}

static bool has_cookie(void *context, const struct wfs_tree_entry *entry)
{
	const struct wfs_attr *const attr = context;

	assert_true(entry->attr->ino != attr->ino || entry->cookie == attr->cookie);
	return true;
}

SHOWN_PLAN(a_look_up_tells_the_cookie_of_the_listing)
{
	struct wfs_attr attr;

	(void)begin(shown);

	attr = attr_of(shown, PLANS);
	assert_int_equal(
		wfs_tree_list(&shown->tree, ino_of(shown, "plans"), 0, has_cookie, &attr), 0);
	attr = attr_of(shown, PLANS ".json");
	assert_int_equal(
		wfs_tree_list(&shown->tree, ino_of(shown, "plans"), 0, has_cookie, &attr), 0);
	attr = attr_of(shown, STEP_1);
	assert_int_equal(
		wfs_tree_list(&shown->tree, ino_of(shown, PLANS "/steps"), 0, has_cookie, &attr),
		0);
}

SHOWN_PLAN(steps_are_counted)
{
	uint64_t count;

	(void)begin(shown);

	assert_int_equal(wfs_tree_count(&shown->tree, ino_of(shown, PLANS "/steps"), &count), 0);
	assert_int_equal(count, 3);
}

SHOWN_PLAN(directories_have_their_paths)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	(void)begin(shown);
	const uint64_t height = height_of(shown->world);

	assert_int_equal(wfs_tree_path(&shown->tree, ino_of(shown, PLANS "/steps"), &path), 0);
	assert_string_equal(wfs_buffer_text(&path), PLANS "/steps");
	wfs_buffer_reset(&path);
	assert_int_equal(wfs_tree_path(&shown->tree, ino_of(shown, PLANS), &path), 0);
	assert_string_equal(wfs_buffer_text(&path), PLANS);
	wfs_buffer_reset(&path);
	assert_int_equal(
		wfs_tree_path(&shown->tree, ino_of(shown, at(height, PLANS "/steps")), &path), 0);
	assert_string_equal(wfs_buffer_text(&path), at(height, PLANS "/steps"));
}

static bool keep_attribute(void *context, const char *name, struct wfs_bytes value)
{
	wfs_buffer_printf(context, "%s=%.*s ", name, (int)value.size, (const char *)value.data);
	return true;
}

/* A long document is not read to get its hash. */
SHOWN_PLAN(files_tell_their_height)
{
	WFS_AUTO_BUFFER struct wfs_buffer plan = {0};
	WFS_AUTO_BUFFER struct wfs_buffer step = {0};
	char expected[64];

	(void)begin(shown);
	snprintf(expected, sizeof(expected), "user.worldfs.height=%llu ",
		(unsigned long long)height_of(shown->world) - 2);
	assert_int_equal(wfs_tree_xattrs(&shown->tree, ino_of(shown, PLANS "/plan.json"),
				 keep_attribute, &plan),
		0);
	assert_int_equal(
		wfs_tree_xattrs(&shown->tree, ino_of(shown, STEP_0), keep_attribute, &step), 0);

	assert_string_equal(wfs_buffer_text(&plan), expected);
	assert_non_null(strstr(wfs_buffer_text(&step), expected));
	WFS_AUTO_FREE char *text = contents(shown, STEP_0);
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));
	char hash_text[WFS_HASH_TEXT_SIZE];
	wfs_hash_text(&hash, hash_text);
	assert_non_null(strstr(wfs_buffer_text(&step), hash_text));
}

/* --- at each height --- */

SHOWN_PLAN(files_are_those_of_their_version)
{
	static const char *const paths[] = {
		PLANS "/plan.json", PLANS ".json", PLANS "/status", PLANS "/graph.dot", STEP_0};
	const struct planned planned = begin(shown);
	const uint64_t height = height_of(shown->world);
	char *before[WFS_ARRAY_COUNT(paths)];
	uint64_t inos[WFS_ARRAY_COUNT(paths)];
	const uint64_t other = ino_of(shown, STEP_1);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		before[i] = contents(shown, paths[i]);
		inos[i] = ino_of(shown, paths[i]);
	}
	planned_gives(&planned, 0, "one");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
		WFS_AUTO_FREE char *now = contents(shown, paths[i]);

		print_message("%s\n", paths[i]);
		assert_string_not_equal(now, before[i]);
		assert_true(ino_of(shown, paths[i]) != inos[i]);
		assert_contents(shown, at(height, paths[i]), before[i]);
		assert_true(ino_of(shown, at(height, paths[i])) == inos[i]);
		/* A reader that opened the older file reads its old bytes. */
		assert_int_equal(wfs_tree_read(&shown->tree, inos[i], 0, 100000, &data), 0);
		assert_int_equal(data.bytes.size, strlen(before[i]));
		assert_memory_equal(data.bytes.data, before[i], data.bytes.size);
		free(before[i]);
	}
	assert_true(ino_of(shown, STEP_1) == other); /* nothing changed this step */
}

SHOWN_PLAN(a_height_before_the_plan_has_none)
{
	const uint64_t height = height_of(shown->world);

	(void)begin(shown);

	assert_lists(shown, at(height, "plans"), "");
	assert_missing(shown, at(height, PLANS));
	assert_missing(shown, at(height, PLANS ".json"));
}

/* The plan comes in two parts: between them only the first steps exist. */
SHOWN_PLAN(a_plan_that_is_being_defined_has_the_steps_so_far)
{
	const struct planned planned = planned_chat(shown->world, PLANNED_ID, "a plan");
	json_t *const first = json_array();
	json_t *const second = json_array();

	json_array_append_new(first, planned_one_of_many(0));
	json_array_append_new(second, planned_one_of_many(1));
	planned_answer_with(&planned, -1, "ok",
		json_pack("{s:s, s:i, s:s, s:o, s:i}", "goal", "g", "offset", 0, "plan_id",
			PLANNED_ID, "steps", first, "total", 2));
	const uint64_t height = height_of(shown->world);
	assert_lists(shown, PLANS "/steps", "0-step0.json ");
	assert_contents(shown, PLANS "/status",
		"running\ndefining\ndone 0 of 2, failed 0, skipped 0\nbatches 0, tool calls 0\n");
	planned_answer_with(&planned, -1, "ok",
		json_pack("{s:s, s:i, s:s, s:o, s:i}", "goal", "g", "offset", 1, "plan_id",
			PLANNED_ID, "steps", second, "total", 2));

	assert_lists(shown, PLANS "/steps", "0-step0.json 1-step1.json ");
	assert_lists(shown, at(height, PLANS "/steps"), "0-step0.json ");
	assert_missing(shown, at(height, PLANS "/steps/1-step1.json"));
	WFS_AUTO_JSON json_t *document = document_at(shown, at(height, PLANS ".json"));
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(document, "plan"), "steps")), 1);
}

/* The heights at which it got its versions were removed. */
SHOWN_PLAN(a_plan_outlives_the_heights_that_made_it)
{
	const struct planned planned = begin(shown);
	struct wfs_gc gc = {0};

	planned_gives(&planned, 0, "one");
	WFS_AUTO_FREE char *document = contents(shown, PLANS "/plan.json");
	WFS_AUTO_FREE char *graph = contents(shown, PLANS "/graph.dot");
	WFS_AUTO_FREE char *step = contents(shown, STEP_0);
	tell(shown->world, "{'key':'a','op':'set','n':1}");
	tell(shown->world, "{'key':'a','op':'set','n':2}");
	assert_int_equal(
		wfs_gc_begin(shown->world->world, false, height_of(shown->world), &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);

	assert_contents(shown, PLANS "/plan.json", document);
	assert_contents(shown, PLANS "/graph.dot", graph);
	assert_contents(shown, STEP_0, step);
}

SHOWN_PLAN(what_is_made_of_all_steps_takes_long)
{
	static const char *const paths[] = {PLANS "/plan.json", PLANS ".json", PLANS "/graph.dot"};
	static const char *const others[] = {PLANS, PLANS "/status", STEP_0, "manifest"};

	(void)begin(shown);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		assert_true(wfs_tree_takes_long(ino_of(shown, paths[i])));
		assert_true(wfs_tree_path_takes_long(paths[i]));
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(others); i++) {
		assert_false(wfs_tree_takes_long(ino_of(shown, others[i])));
		assert_false(wfs_tree_path_takes_long(others[i]));
	}
}

TEST(a_path_takes_long_wherever_it_begins)
{
	assert_true(wfs_tree_path_takes_long("/at/7/plans//x.json"));
	assert_true(wfs_tree_path_takes_long("turns/r/events.jsonl"));
	assert_false(wfs_tree_path_takes_long("plans/.json"));
	assert_false(wfs_tree_path_takes_long("x.json"));
	assert_false(wfs_tree_path_takes_long("lans/x.json"));
	assert_false(wfs_tree_path_takes_long("plans/x/status"));
	assert_false(wfs_tree_path_takes_long(""));
}

SHOWN_PLAN(a_document_is_read_in_parts)
{
	(void)planned_many(shown->world, PLANNED_ID, 200);
	WFS_AUTO_FREE char *whole = contents(shown, PLANS "/plan.json");
	const uint64_t ino = ino_of(shown, PLANS "/plan.json");

	for (size_t offset = 0; offset <= strlen(whole); offset += 977) {
		WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
		const size_t left = strlen(whole) - offset;

		assert_int_equal(wfs_tree_read(&shown->tree, ino, offset, 1500, &data), 0);
		assert_int_equal(data.bytes.size, left < 1500 ? left : 1500);
		assert_memory_equal(data.bytes.data, whole + offset, data.bytes.size);
	}
}

/* --- who sees it --- */

static struct shown as(struct shown *shown, const char *principal)
{
	struct shown other = *shown;

	assert_int_equal(wfs_session_new(shown->authority, principal, &other.session, NULL), 0);
	other.tree.session = other.session;
	return other;
}

static int try_read(struct shown *shown, uint64_t ino)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

	return wfs_tree_read(&shown->tree, ino, 0, 4096, &data);
}

/* A reader that sees these paths. */
static struct shown looker(struct shown *shown, const char *paths)
{
	char action[512];

	assert_done(shown->world, "tester", "{'action_type':'principal','id':'looker'}");
	snprintf(action, sizeof(action),
		"{'action_type':'grant','cap':'sys/query@1','params':{'scope':[%s]},"
		"'to':'looker'}",
		paths);
	assert_done(shown->world, "tester", action);
	return as(shown, "looker");
}

SHOWN_PLAN(a_scope_of_all_plans_shows_both_names)
{
	(void)begin(shown);
	struct shown other = looker(shown, "'plans'");

	assert_lists(&other, "plans", PLANNED_ID " " PLANNED_ID ".json ");
	assert_lists(&other, PLANS, "plan.json status graph.dot steps ");
	assert_lists(&other, PLANS "/steps", "0-a.json 1-b%2Fc.json 2-n.json ");
	wfs_session_free(other.session);
}

SHOWN_PLAN(a_scope_may_show_the_status_alone)
{
	(void)begin(shown);
	const uint64_t document = ino_of(shown, PLANS "/plan.json");
	const uint64_t step = ino_of(shown, STEP_0);
	const uint64_t steps = ino_of(shown, PLANS "/steps");
	struct shown other = looker(shown, "'plans/*/status'");
	struct wfs_attr attr;

	assert_lists(&other, "plans", PLANNED_ID " ");
	assert_lists(&other, PLANS, "status ");
	assert_missing(&other, PLANS ".json");
	assert_missing(&other, PLANS "/steps");
	assert_int_equal(try_read(&other, document), -EACCES);
	assert_int_equal(try_read(&other, step), -EACCES);
	assert_int_equal(wfs_tree_attr(&other.tree, steps, &attr), -ENOENT);
	wfs_session_free(other.session);
}

SHOWN_PLAN(a_scope_may_show_the_files_beside_alone)
{
	(void)begin(shown);
	const uint64_t status = ino_of(shown, PLANS "/status");
	struct shown other = looker(shown, "'plans/*.json'");

	assert_lists(&other, "plans", PLANNED_ID ".json ");
	assert_lists_one_by_one(&other, "plans", PLANNED_ID ".json ");
	WFS_AUTO_JSON json_t *document = document_at(&other, PLANS ".json");
	assert_string_equal(wfs_json_text(document, "goal"), "the goal");
	assert_missing(&other, PLANS);
	assert_int_equal(try_read(&other, status), -EACCES);
	wfs_session_free(other.session);
}

SHOWN_PLAN(a_scope_may_show_one_step)
{
	(void)begin(shown);
	const uint64_t first = ino_of(shown, STEP_0);
	struct shown other = looker(shown, "'plans/*/steps/1-*'");

	assert_lists(&other, PLANS, "steps ");
	assert_lists(&other, PLANS "/steps", "1-b%2Fc.json ");
	WFS_AUTO_JSON json_t *document = document_at(&other, STEP_1);
	assert_string_equal(wfs_json_text(document, "id"), "b/c");
	assert_missing(&other, STEP_0);
	assert_int_equal(try_read(&other, first), -EACCES);
	wfs_session_free(other.session);
}

SHOWN_PLAN(who_may_not_see_a_plan_sees_nothing_of_it)
{
	static const char *const paths[] = {
		PLANS "/plan.json", PLANS "/status", PLANS "/graph.dot", STEP_0, STEP_2};

	(void)begin(shown);
	struct shown other = looker(shown, "'plans/" OTHER_ID "','reducers/**'");

	assert_lists(&other, "plans", "");
	assert_missing(&other, PLANS);
	assert_missing(&other, PLANS ".json");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		print_message("%s\n", paths[i]);
		assert_int_equal(try_read(&other, ino_of(shown, paths[i])), -EACCES);
	}
	wfs_session_free(other.session);
}

SHOWN_PLAN(a_summary_is_for_whoever_sees_the_status)
{
	const struct wfs_bytes id = wfs_bytes_text(PLANNED_ID);
	WFS_AUTO_JSON json_t *summary = NULL;

	(void)begin(shown);
	struct shown other = looker(shown, "'plans/*/graph.dot'");
	WFS_AUTO_VIEW struct wfs_view view = view_at(shown->world, WFS_HEIGHT_HEAD);

	assert_int_equal(wfs_session_plan(other.session, &view, id, &summary), -ENOENT);
	assert_int_equal(wfs_session_plan(shown->session, &view, id, &summary), 0);
	assert_string_equal(wfs_json_text(summary, "plan_id"), PLANNED_ID);
	wfs_session_free(other.session);
}

SHOWN_PLAN(numbers_that_are_no_file_of_a_plan_are_not_there)
{
	struct wfs_node node;
	struct wfs_attr attr;

	(void)begin(shown);

	assert_true(wfs_ino_decode(ino_of(shown, PLANS "/plan.json"), &node));
	node.file = WFS_ENTITY_FILE_PLAN_BESIDE;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	node.file = WFS_ENTITY_FILE_PLAN_STEPS;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	assert_true(wfs_ino_decode(ino_of(shown, STEP_0), &node));
	node.file = WFS_ENTITY_FILE_PLAN;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	node.file = WFS_ENTITY_FILE_PLAN_STEPS;
	node.number = 1 << 20;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	assert_true(wfs_ino_decode(ino_of(shown, PLANS "/steps"), &node));
	node.cell++;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
}
