/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, from argv to exit status: help, misuse, worlds, owners. What needs a mount is
 * in tests/mount/. */
#include "tests/fixture/command.h"

#include <signal.h>
#include <sys/wait.h>

#include "fs/command/table.h"

/* --- help --- */

static void assert_fits(const char *name, const char *text)
{
	while (*text) {
		const size_t size = strcspn(text, "\n");

		if (size > 80)
			fail_msg("%s: too wide: %.*s", name, (int)size, text);
		text += size + (text[size] == '\n');
	}
}

TEST(help_of_every_command_fits_80_columns_and_goes_to_stdout)
{
	for (size_t i = 0; i < wfs_commands.count; i++) {
		WFS_AUTO_FREE char *name = strdup(wfs_commands.rows[i].name);
		char *const space = strchr(name, ' ');

		if (space)
			*space = '\0';
		AUTO_PRINTED struct printed printed =
			space ? RUN(name, space + 1, "--help") : RUN(name, "--help");
		print_message("%s\n", wfs_commands.rows[i].name);
		assert_int_equal(printed.status, WFS_EXIT_DONE);
		assert_string_equal(printed.err, "");
		assert_says(printed.out, "Usage: worldfs [-w WORLD] ");
		assert_says(printed.out, wfs_commands.rows[i].summary);
		assert_fits(wfs_commands.rows[i].name, printed.out);
	}
}

TEST(help_overview_fits_and_names_every_command)
{
	AUTO_PRINTED struct printed printed = RUN("--help");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_fits("overview", printed.out);
	for (size_t i = 0; i < wfs_commands.count; i++)
		assert_says(printed.out, wfs_commands.rows[i].name);
}

TEST(each_heading_of_the_overview_is_there_once)
{
	AUTO_PRINTED struct printed printed = RUN("--help");

	for (size_t i = 0; i < wfs_commands.count; i++) {
		char heading[80];

		snprintf(heading, sizeof(heading), "\n%s:\n", wfs_commands.rows[i].group);
		const char *const first = strstr(printed.out, heading);
		assert_non_null(first);
		if (strstr(first + 1, heading))
			fail_msg("'%s' is there twice", wfs_commands.rows[i].group);
	}
}

TEST(help_prints_what_the_option_prints)
{
	AUTO_PRINTED struct printed overview = RUN("help");
	AUTO_PRINTED struct printed overview_too = RUN("--help");
	AUTO_PRINTED struct printed command = RUN("help", "plan", "show");
	AUTO_PRINTED struct printed command_too = RUN("plan", "show", "--help");
	AUTO_PRINTED struct printed topic = RUN("help", "query", "artifacts");
	AUTO_PRINTED struct printed topic_too = RUN("query", "--help", "artifacts");
	AUTO_PRINTED struct printed unknown = RUN("help", "plann");

	assert_prints(&overview, overview_too.out);
	assert_prints(&command, command_too.out);
	assert_prints(&topic, topic_too.out);
	assert_misuse(&unknown, "unknown command 'plann'; did you mean 'plan'?", "Try");
}

TEST(help_of_a_group_lists_its_commands)
{
	AUTO_PRINTED struct printed printed = RUN("fs", "-h");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "fs grep PATTERN [PATH]");
	assert_fits("fs", printed.out);
}

TEST(version_is_printed)
{
	AUTO_PRINTED struct printed printed = RUN("--version");

	assert_prints(&printed,
		"worldfs " WFS_VERSION "\nstore format 8 (opens 7 to 8), fold version 2\n");
}

TEST(version_is_printed_as_json)
{
	AUTO_PRINTED struct printed printed = RUN("--version", "--json");

	assert_prints(&printed,
		"{\"data\":{\"fold_version\":2,\"opens\":[7,8],\"store_format\":8,"
		"\"version\":\"" WFS_VERSION "\"}}\n");
}

/* --- misuse --- */

TEST(misuse_of_commands_is_told_with_a_hint)
{
	AUTO_PRINTED struct printed none = run_words(1, (char *[]){(char *)"worldfs", NULL});
	AUTO_PRINTED struct printed unknown = RUN("fly");
	AUTO_PRINTED struct printed near = RUN("staet");
	AUTO_PRINTED struct printed group = RUN("fs");
	AUTO_PRINTED struct printed member = RUN("fs", "fly");

	assert_misuse(&none, "Usage:", "--help");
	assert_misuse(&unknown, "unknown command 'fly'", "Try 'worldfs --help'.");
	assert_misuse(
		&near, "unknown command 'staet'; did you mean 'state'?", "Try 'worldfs --help'.");
	assert_misuse(&group, "fs grep", "--help");
	assert_misuse(&member, "fs grep", "--help");
}

TEST(misuse_of_options_is_told_with_a_hint)
{
	AUTO_PRINTED struct printed unknown = RUN("head", "--fly");
	AUTO_PRINTED struct printed near = RUN("head", "--jsno");
	AUTO_PRINTED struct printed other = RUN("head", "--at", "3");
	AUTO_PRINTED struct printed letter = RUN("head", "-l");
	AUTO_PRINTED struct printed missing = RUN("fs", "ls", "--at");
	AUTO_PRINTED struct printed needless = RUN("head", "--json=yes");

	assert_misuse(&unknown, "unknown option '--fly'", "--help");
	assert_misuse(&near, "unknown option '--jsno'; did you mean '--json'?", "--help");
	assert_misuse(&other, "'head' has no option '--at'", "Try 'worldfs head --help'.");
	assert_misuse(&letter, "'head' has no option '-l'", "--help");
	assert_misuse(&missing, "'--at' needs a value: HEIGHT", "--help");
	assert_misuse(&needless, "'--json' takes no value", "--help");
}

TEST(a_path_may_have_any_bytes_and_a_word_may_not)
{
	AUTO_PRINTED struct printed path = RUN("-w", "/no\xff", "head");
	AUTO_PRINTED struct printed word = RUN("state", "caf\xe9");

	assert_int_equal(path.status, 1);
	assert_misuse(&word, "expected an argument in valid UTF-8", "--help");
}

TEST(misuse_of_arguments_is_told_with_a_hint)
{
	AUTO_PRINTED struct printed missing = RUN("state");
	AUTO_PRINTED struct printed more = RUN("diff", "1", "2", "3");
	AUTO_PRINTED struct printed number = RUN("diff", "1", "two");
	AUTO_PRINTED struct printed at = RUN("fs", "ls", "--at", "then");
	AUTO_PRINTED struct printed both =
		RUN("state", "x", "--exact-height", "1", "--at-least-height", "1");
	AUTO_PRINTED struct printed negative = RUN("journal", "--from", "-1");

	assert_misuse(&missing, "'state' takes: REDUCER [KEY]", "Try 'worldfs state --help'.");
	assert_misuse(&more, "'3' is one argument too many", "Try 'worldfs diff --help'.");
	/* The command looks up the first height first. */
	assert_int_equal(number.status, WFS_EXIT_FAILED);
	assert_misuse(&at, "--at: expected a height", "--help");
	assert_misuse(&both, "cannot be used together", "--help");
	assert_misuse(&negative, "--from: expected a number from 0, got '-1'", "--help");
}

/* --- finding the world --- */

IN_FILLED_WORLD(world_is_found_by_option_environment_and_working_directory)
{
	char below[120];

	snprintf(below, sizeof(below), "%s/below", fixture->directory);
	assert_int_equal(mkdir(below, 0755), 0);
	AUTO_PRINTED struct printed option = RUN_IN(fixture, "state", "cell", "a");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(setenv("WORLDFS_WORLD", fixture->directory, 1), 0);
	AUTO_PRINTED struct printed environment = RUN("state", "cell", "a");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(unsetenv("WORLDFS_WORLD"), 0);
	assert_int_equal(chdir(below), 0);
	AUTO_PRINTED struct printed here = RUN("state", "cell", "a");
	assert_int_equal(chdir("/"), 0);
	AUTO_PRINTED struct printed nowhere = RUN("state", "cell", "a");

	assert_prints(&option, "{\"n\":3}\n");
	assert_prints(&environment, "{\"n\":3}\n");
	assert_prints(&here, "{\"n\":3}\n");
	assert_failed(&nowhere, "worldfs: not_found: no world here or above");
}

WITH_SOURCE(directory_that_is_no_world_is_not_found)
{
	AUTO_PRINTED struct printed printed =
		run_in(fixture->source, (const char *const[]){"head", NULL});

	assert_failed(&printed, "is not a world");
}

/* --- init --- */

WITH_SOURCE(init_makes_a_world_that_can_be_used)
{
	AUTO_PRINTED struct printed init =
		RUN("init", fixture->directory, "--from", fixture->source, "--name", "mine");
	AUTO_PRINTED struct printed status = RUN_IN(fixture, "status");
	AUTO_PRINTED struct printed again = RUN("init", fixture->directory);

	assert_prints(&init, "");
	assert_says(status.out, "\"name\":\"mine\"");
	assert_failed(&again, "worldfs: already_exists: ");
}

WITH_SOURCE(init_without_source_names_the_world_after_its_directory)
{
	AUTO_PRINTED struct printed init = RUN("init", fixture->directory);
	AUTO_PRINTED struct printed status = RUN_IN(fixture, "status");

	assert_prints(&init, "");
	assert_says(status.out, "\"name\":\"world\"");
}

WITH_SOURCE(init_without_source_gives_what_agents_are_made_of)
{
	AUTO_PRINTED struct printed init = RUN("init", fixture->directory);
	AUTO_PRINTED struct printed listed = RUN_IN(fixture, "fs", "ls", "artifacts");

	assert_prints(&init, "");
	assert_int_equal(listed.status, WFS_EXIT_DONE);
	assert_says(listed.out, "genesis_ledger\n");
	assert_says(listed.out, "genesis_workflow_templates\n");
	assert_says(listed.out, "handbook_actions\n");
	assert_says(listed.out, "handbook_trade\n");
}

WITH_SOURCE(init_tells_every_problem_of_the_source_and_makes_nothing)
{
	struct stat status;
	char directory[sizeof(fixture->directory)];

	memcpy(directory, fixture->directory, sizeof(directory));
	put_file(fixture->source, "world.json", "{\"name\":7,\"reducers\":{},\"fly\":1}");
	AUTO_PRINTED struct printed printed = RUN("init", directory, "--from", fixture->source);

	assert_failed(&printed, "nothing was made");
	assert_says(printed.err, "world.json: /name: ");
	assert_says(printed.err, "world.json: /reducers: ");
	assert_int_equal(stat(directory, &status), -1);
}

WITH_SOURCE(init_tells_what_is_wrong_with_artifacts_at_once)
{
	struct stat status;
	char directory[sizeof(fixture->directory)];

	memcpy(directory, fixture->directory, sizeof(directory));
	put_file(fixture->source, "world.json",
		"{\"name\":\"w\",\"artifacts\":[{\"id\":\"a\",\"fly\":1},"
		"{\"id\":\"b\",\"code\":\"x = \"}]}");
	AUTO_PRINTED struct printed printed = RUN("init", directory, "--from", fixture->source);

	assert_failed(&printed, "has 2 problems, nothing was made");
	assert_says(printed.err, "world.json: /artifacts/0/fly: no such member is known\n");
	assert_says(printed.err, "world.json: /artifacts/1/code: b:1: ");
	assert_int_equal(stat(directory, &status), -1);
}

/* --- with an owner --- */

/* `worldfs serve` in a process of its own. */
static pid_t start_owner(struct world_fixture *fixture)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct wfs_access *access = NULL;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		char *words[] = {
			(char *)"worldfs", (char *)"-w", fixture->directory, (char *)"serve", NULL};
		FILE *const null = fopen("/dev/null", "w");

		_exit(wfs_command_main(4, words, null, null, NULL));
	}
	for (;;) {
		assert_int_equal(
			wfs_access_new(&(struct wfs_access_options){.directory = fixture->directory,
					       .change = false},
				&access, NULL),
			0);
		const bool owned = wfs_access_has_owner(access);

		wfs_access_free(access);
		if (owned)
			return pid;
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		nanosleep(&pause, NULL); /* between two looks */
	}
}

static void stop_owner(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

IN_FILLED_WORLD(commands_print_the_same_with_and_without_an_owner)
{
	static const char *const commands[][WORDS_MAX] = {
		{"head"},
		{"manifest"},
		{"cells", "cell"},
		{"state", "cell", "a"},
		{"state", "nope"},
		{"state", "cell", "nope"},
		{"journal"},
		{"diff", "2", "5"},
		{"fs", "ls", "-l"},
		{"fs", "tree"},
		{"fs", "stat", "manifest"},
		{"fs", "grep", "fixture", "manifest"},
		{"fs", "cat", "journal/log.jsonl"},
		{"--json", "fs", "ls", "reducers/cell", "--at", "4"},
		{"blob", "get", "12"},
		{"verify"},
	};
	enum { COUNT = WFS_ARRAY_COUNT(commands) };
	struct printed direct[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		direct[i] = run_in(fixture->directory, commands[i]);
	const pid_t owner = start_owner(fixture);
	for (size_t i = 0; i < COUNT; i++) {
		AUTO_PRINTED struct printed served = run_in(fixture->directory, commands[i]);

		print_message("%s %s\n", commands[i][0], commands[i][1] ? commands[i][1] : "");
		assert_int_equal(served.status, direct[i].status);
		assert_string_equal(served.out, direct[i].out);
		assert_string_equal(served.err, direct[i].err);
		printed_done(&direct[i]);
	}
	stop_owner(owner);
}

IN_FILLED_WORLD(event_lines_go_through_the_owner)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char path[120];

	for (int i = 0; i < 20000; i++)
		wfs_buffer_append_text(&text, "{\"key\":\"a\",\"op\":\"add\",\"n\":1}\n");
	wfs_buffer_append_text(&text, "{\"key\":\"a\",\"op\":\"fail\"}\n");
	put_lines(fixture, wfs_buffer_text(&text), path);
	const pid_t owner = start_owner(fixture);
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", path, "--lines");
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");
	stop_owner(owner);

	assert_failed(&printed, "line 20001: runtime_error: ");
	assert_says(printed.err, "20000 events accepted, 1 refused");
	assert_prints(&state_now, "{\"n\":20003}\n");
}

IN_FILLED_WORLD(second_owner_is_told_who_is_first)
{
	const pid_t owner = start_owner(fixture);
	char text[40];

	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "serve");
	stop_owner(owner);
	snprintf(text, sizeof(text), "process %d", (int)owner);
	assert_failed(&printed, "worldfs: busy: ");
	assert_says(printed.err, text);
}
