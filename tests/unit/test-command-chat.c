/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that wait for chats and plans: what they ask for, and what they print of the answer.
 * Nothing is driven: each test sets the answer first. */
#include "tests/fixture/command.h"

/* The answer to the next request, and what the request was. Reset before each test. */
static struct {
	enum wfs_error_code code; /* WFS_OK: the request succeeds */
	const char *message;
	const char *answer; /* JSON with ' for " */
	enum wfs_drive_what what;
	json_t *params; /* owned */
} fake;

static void fake_begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	(void)driver;
	fake.what = drive->what;
	json_decref(fake.params);
	fake.params = json_deep_copy(drive->params);
	drive->result = json_of(fake.answer);
	if (fake.code != WFS_OK)
		drive->status = wfs_error_set(&drive->error, fake.code, "%s", fake.message);
	drive->done(drive);
}

static void fake_abandon(struct wfs_driver *driver, uint64_t ticket)
{
	(void)driver;
	(void)ticket;
}

static void fake_stop(struct wfs_driver *driver)
{
	(void)driver;
}

static int start_fake(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error)
{
	static struct wfs_driver driver = {
		.begin = fake_begin, .abandon = fake_abandon, .stop = fake_stop, .free = fake_stop};

	(void)authority;
	(void)helpers;
	(void)paused;
	(void)error;
	*ret_driver = &driver;
	return 0;
}

static int setup(void **state)
{
	json_decref(fake.params);
	memset(&fake, 0, sizeof(fake));
	return filled_setup(state);
}

static int teardown(void **state)
{
	json_decref(WFS_STEAL(fake.params));
	return world_fixture_teardown(state);
}

#define CHATS(name) TEST_WITH(name, struct world_fixture *fixture, setup, teardown)

/* As RUN_IN, but with a driver. */
static struct printed run_driven(struct world_fixture *fixture, const char *const *words)
{
	char *all[WORDS_MAX] = {(char *)"worldfs", (char *)"-w", fixture->directory};
	struct printed printed = {0};
	size_t size;
	int count = 3;
	FILE *const out = open_memstream(&printed.out, &size);
	FILE *const err = open_memstream(&printed.err, &size);

	assert_non_null(out);
	assert_non_null(err);
	for (; *words; words++)
		all[count++] = (char *)*words;
	printed.status = wfs_command_main(count, all, out, err, start_fake);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(fclose(err), 0);
	return printed;
}
#define RUN_DRIVEN(fixture, ...) run_driven(fixture, (const char *const[]){__VA_ARGS__, NULL})

#define ANSWER(checkpoint, error, final, ok)                                               \
	"{'checkpoint':" checkpoint ",'details':null,'error':" error ",'final':'" final    \
	"','ok':" ok ",'plan':null,'session_id':'default','timing_ms':{'context_build':0," \
	"'llm_final':0,'llm_plan':0,'memory_add':0,'planner_tools':0,'total':1250},"       \
	"'tool_batches':1,'tool_calls_count':1,'tool_results':[]}"
#define CHECKPOINT(status) \
	"{'bytes':9,'ok':true,'path':'plan:p1','plan_id':'p1','status':'" status "'}"
#define ANSWERED ANSWER("null", "null", "hello", "true")

static void assert_asked(enum wfs_drive_what what, const char *expected)
{
	WFS_AUTO_JSON json_t *wanted = json_of(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(fake.what, what);
	wfs_json_write(fake.params, &text);
	if (!json_equal(fake.params, wanted))
		fail_msg("asked with %s", wfs_buffer_text(&text));
}

/* --- chat --- */

CHATS(an_answer_is_printed_and_nothing_else)
{
	fake.answer = ANSWERED;
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "who is there?");

	assert_prints(&printed, "hello\n");
	assert_asked(WFS_DRIVE_CHAT, "{'message':'who is there?'}");
	assert_null(strstr(printed.err, "plan"));
}

CHATS(options_of_a_chat_are_sent)
{
	fake.answer = ANSWERED;
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go", "--session", "s",
		"--plan", "p1", "--batch", "5", "--concurrency", "2");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_asked(WFS_DRIVE_CHAT,
		"{'batch_size':5,'max_concurrency':2,'message':'go','plan_id':'p1',"
		"'session_id':'s'}");
}

CHATS(a_message_may_be_a_file)
{
	char path[120];

	put_lines(fixture, "go\n", path);
	fake.answer = ANSWERED;
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", path);

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_asked(WFS_DRIVE_CHAT, "{'message':'go\\n'}");
}

CHATS(a_plan_is_told_behind_its_answer)
{
	fake.answer = ANSWER(CHECKPOINT("done"), "null", "the end", "true");
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go");

	assert_prints(&printed, "the end\n");
	assert_says(printed.err, "plan p1: done, 1 tool call, 1.2 s\n");
	assert_null(strstr(printed.err, "worldfs plan"));
}

CHATS(a_plan_with_failures_is_named_to_be_shown)
{
	fake.answer = ANSWER(CHECKPOINT("partial"), "null", "the end", "true");
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go");

	assert_prints(&printed, "the end\n");
	assert_says(printed.err, "worldfs plan show p1 ");
}

CHATS(a_plan_that_was_stopped_is_named_to_be_resumed)
{
	fake.answer = ANSWER(CHECKPOINT("cancelled"), "'CANCELLED'", "", "false");
	fake.code = WFS_E_CANCELLED;
	fake.message = "CANCELLED: it was stopped";
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go");

	assert_failed(&printed, "worldfs: cancelled: CANCELLED: it was stopped\n");
	assert_string_equal(printed.out, "");
	assert_says(printed.err, "worldfs plan resume p1 ");
}

CHATS(json_is_the_whole_answer)
{
	fake.answer = ANSWERED;
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go", "--json");
	WFS_AUTO_JSON json_t *document = json_loads(printed.out, 0, NULL);

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_string_equal(wfs_json_text(json_object_get(document, "data"), "final"), "hello");
}

CHATS(json_of_a_failure_has_the_answer_as_details)
{
	fake.answer = ANSWER("null", "'LLM_FAILED'", "", "false");
	fake.code = WFS_E_EFFECT_FAILED;
	fake.message = "LLM_FAILED: it is ill";
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go", "--json");
	WFS_AUTO_JSON json_t *document = json_loads(printed.out, 0, NULL);
	const json_t *const error = json_object_get(document, "error");

	assert_int_equal(printed.status, WFS_EXIT_FAILED);
	assert_string_equal(wfs_json_text(error, "code"), "effect_failed");
	assert_string_equal(
		wfs_json_text(json_object_get(error, "details"), "error"), "LLM_FAILED");
	assert_true(json_is_false(json_object_get(json_object_get(error, "details"), "ok")));
}

CHATS(a_number_that_is_none_is_misuse)
{
	fake.answer = ANSWERED;
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "chat", "go", "--batch", "many");

	assert_misuse(&printed, "expected a number from 0, got 'many'", "chat --help");
	assert_null(fake.params);
}

CHATS(without_a_driver_nobody_answers)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "chat", "go");

	assert_failed(&printed, "worldfs: not_enabled: ");
}

/* --- plans --- */

CHATS(resuming_names_the_plan)
{
	fake.answer = ANSWER(CHECKPOINT("done"), "null", "the end", "true");
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "plan", "resume", "p1");

	assert_prints(&printed, "the end\n");
	assert_asked(WFS_DRIVE_RESUME, "{'plan_id':'p1'}");
}

CHATS(a_plan_out_of_a_file_goes_by_its_blob)
{
	char path[120];

	put_lines(fixture, "{\"steps\":[]}\n", path);
	fake.answer = ANSWER(CHECKPOINT("cancelled"), "null", "", "true");
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "plan", "import", path + 1);
	const char *const hash = wfs_json_text(fake.params, "blob");
	AUTO_PRINTED struct printed blob = RUN_IN(fixture, "blob", "get", hash);

	assert_prints(&printed, "");
	assert_int_equal(fake.what, WFS_DRIVE_IMPORT);
	assert_true(json_is_false(json_object_get(fake.params, "resume")));
	assert_prints(&blob, "{\"steps\":[]}\n");
	assert_says(printed.err, "worldfs plan resume p1 ");
}

CHATS(a_hash_is_imported_as_it_is)
{
	fake.answer = ANSWER(CHECKPOINT("done"), "null", "the end", "true");
	AUTO_PRINTED struct printed printed =
		RUN_DRIVEN(fixture, "plan", "import", "sha256:00", "--resume", "--session", "s");

	assert_prints(&printed, "the end\n");
	assert_asked(WFS_DRIVE_IMPORT, "{'blob':'sha256:00','resume':true,'session_id':'s'}");
}

CHATS(what_is_no_plan_is_told_by_its_name)
{
	static const char *const commands[] = {"show", "watch", "cancel", "graph"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(commands); i++) {
		print_message("%s\n", commands[i]);
		AUTO_PRINTED struct printed printed =
			RUN_DRIVEN(fixture, "plan", commands[i], "nothing");

		assert_failed(&printed, "worldfs: not_found: Plan 'nothing' not found\n");
		assert_string_equal(printed.out, "");
	}
}

CHATS(where_there_are_no_plans_none_are_listed)
{
	AUTO_PRINTED struct printed printed = RUN_DRIVEN(fixture, "plan", "ls");

	assert_prints(&printed, "");
}

CHATS(a_picture_is_no_json)
{
	AUTO_PRINTED struct printed printed =
		RUN_DRIVEN(fixture, "plan", "graph", "p1", "--svg", "--json");

	assert_int_equal(printed.status, WFS_EXIT_MISUSE);
}
