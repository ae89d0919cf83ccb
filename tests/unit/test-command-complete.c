/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: the words that the program offers to a shell for the next place on a command line. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/command.h"

static struct printed complete_in(const char *const *words)
{
	char *all[WORDS_MAX] = {(char *)"worldfs", (char *)"__complete"};
	int count = 2;

	for (; *words; words++)
		all[count++] = (char *)*words;
	return run_words(count, all);
}

#define COMPLETE(...) complete_in((const char *const[]){__VA_ARGS__, NULL})

/* Compares the words, without their meanings. */
static void assert_offers(const struct printed *printed, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	const char *line = printed->out;

	assert_int_equal(printed->status, WFS_EXIT_DONE);
	assert_string_equal(printed->err, "");
	for (; *line; line += strcspn(line, "\n") + 1) {
		wfs_buffer_append(&found, line, strcspn(line, "\t\n"));
		wfs_buffer_append_byte(&found, ' ');
	}
	assert_string_equal(wfs_buffer_text(&found), expected);
}

TEST(commands_come_with_what_they_do)
{
	AUTO_PRINTED struct printed all = COMPLETE("");
	AUTO_PRINTED struct printed some = COMPLETE("um");

	assert_string_equal(some.out, "umount\ttake the mount at MNT down\n");
	assert_says(all.out, "init\t");
	assert_says(all.out, "\nblob\t");
	assert_null(strstr(all.out, "__complete"));
	/* A word with which several commands begin is offered once. */
	assert_null(strstr(strstr(all.out, "\nfs\t") + 1, "\nfs\t"));
}

TEST(second_words_come_after_the_first)
{
	AUTO_PRINTED struct printed blob = COMPLETE("blob", "");
	AUTO_PRINTED struct printed fs = COMPLETE("fs", "s");
	AUTO_PRINTED struct printed none = COMPLETE("nonsense", "");
	AUTO_PRINTED struct printed wrong = COMPLETE("fs", "nonsense", "");

	assert_offers(&blob, "get put stat ");
	assert_offers(&fs, "stat ");
	assert_offers(&none, "");
	assert_offers(&wrong, "");
}

TEST(options_are_those_of_the_command_and_of_all)
{
	AUTO_PRINTED struct printed none = COMPLETE("-");
	AUTO_PRINTED struct printed cat = COMPLETE("fs", "cat", "--");
	AUTO_PRINTED struct printed ended = COMPLETE("fs", "--", "--");

	assert_offers(&none, "--world --as --wait --json --help --version ");
	assert_offers(&cat, "--world --as --wait --json --help --at ");
	assert_offers(&ended, "");
}

TEST(shells_complete_directories_and_files)
{
	AUTO_PRINTED struct printed mount = COMPLETE("mount", "");
	AUTO_PRINTED struct printed world = COMPLETE("-w", "");
	AUTO_PRINTED struct printed inside = COMPLETE("init", "--from=");
	AUTO_PRINTED struct printed put = COMPLETE("blob", "put", "x");
	AUTO_PRINTED struct printed number = COMPLETE("journal", "--from", "");

	assert_string_equal(mount.out, ":directories\n");
	assert_string_equal(world.out, ":directories\n");
	assert_string_equal(inside.out, ":directories\n");
	assert_string_equal(put.out, ":files\n");
	assert_string_equal(number.out, "");
}

IN_FILLED_WORLD(reducers_keys_and_schemas_come_from_the_world)
{
	const char *const world = fixture->directory;
	AUTO_PRINTED struct printed reducers = COMPLETE("-w", world, "state", "");
	AUTO_PRINTED struct printed keys = COMPLETE("-w", world, "state", "cell", "");
	AUTO_PRINTED struct printed more = COMPLETE("-w", world, "state", "cell", "a", "");
	AUTO_PRINTED struct printed schemas = COMPLETE("-w", world, "event", "test/D");

	assert_offers(&reducers, "cell total deep" BUILTIN_WORDS " ");
	assert_offers(&keys, "a b/c ");
	assert_offers(&more, "");
	assert_offers(&schemas, "test/Do@1 test/Deep@1 ");
}

TEST(a_file_may_be_something_else_as_well)
{
	AUTO_PRINTED struct printed printed = COMPLETE("plan", "import", "");

	assert_offers(&printed, ":files ");
}

IN_WORLD(turns_come_from_the_world)
{
	const unsigned long long first = with_turns(fixture);
	const char *const world = fixture->directory;
	AUTO_PRINTED struct printed turns = COMPLETE("-w", world, "journal", "--turn", "");
	AUTO_PRINTED struct printed inside = COMPLETE("-w", world, "journal", "--turn=ali");
	AUTO_PRINTED struct printed paths = COMPLETE("-w", world, "fs", "cat", "turns/");
	char expected[256];

	snprintf(expected, sizeof(expected), "alice.%llu alice.%llu ", first, first + 4);
	assert_offers(&turns, expected);
	snprintf(expected, sizeof(expected), "--turn=alice.%llu --turn=alice.%llu ", first,
		first + 4);
	assert_offers(&inside, expected);
	snprintf(expected, sizeof(expected), "turns/alice.%llu/ turns/alice.%llu/ ", first,
		first + 4);
	assert_offers(&paths, expected);
}

IN_WORLD(agents_come_from_the_world)
{
	assert_int_equal(
		act_in(fixture,
			"{'action_type':'write_artifact','artifact_id':'helper','type':'agent',"
			"'content':'{}'}"),
		0);
	assert_int_equal(
		act_in(fixture,
			"{'action_type':'write_artifact','artifact_id':'note','content':'x'}"),
		0);
	world_fixture_close(fixture);
	AUTO_PRINTED struct printed agents = COMPLETE("-w", fixture->directory, "turns", "");
	AUTO_PRINTED struct printed migrated =
		COMPLETE("-w", fixture->directory, "agent", "migrate", "");

	assert_offers(&agents, "helper ");
	assert_offers(&migrated, "helper ");
}

TEST(resources_come_with_their_equals_sign)
{
	AUTO_PRINTED struct printed next = COMPLETE("principal", "add", "--quota", "");
	AUTO_PRINTED struct printed inside = COMPLETE("principal", "add", "--quota=llm");

	assert_offers(&next, "disk= journal= llm_budget= llm_tokens= ");
	assert_offers(&inside, "--quota=llm_budget= --quota=llm_tokens= ");
}

IN_FILLED_WORLD(paths_come_from_the_tree)
{
	WFS_AUTO_FREE char *option = NULL;

	assert_true(asprintf(&option, "--world=%s", fixture->directory) > 0);
	AUTO_PRINTED struct printed root = COMPLETE(option, "fs", "ls", "r");
	AUTO_PRINTED struct printed cells = COMPLETE(option, "fs", "cat", "reducers/cell/");
	AUTO_PRINTED struct printed earlier =
		COMPLETE(option, "fs", "cat", "-l", "/at/3/reducers/cell/");
	AUTO_PRINTED struct printed grep = COMPLETE(option, "fs", "grep", "x", "READ");
	AUTO_PRINTED struct printed nowhere = COMPLETE(option, "fs", "ls", "nowhere/x");

	assert_offers(&root, "reducers/ ");
	assert_offers(&cells, "reducers/cell/a reducers/cell/b%2Fc ");
	assert_offers(&earlier, "/at/3/reducers/cell/a ");
	assert_offers(&grep, "README ");
	assert_offers(&nowhere, "");
}

TEST(without_a_world_there_is_nothing_and_no_message)
{
	AUTO_PRINTED struct printed state_of = COMPLETE("-w", "/nonexistent", "state", "");
	AUTO_PRINTED struct printed empty = complete_in((const char *const[]){NULL});
	AUTO_PRINTED struct printed odd = COMPLETE("--nonsense", "-", "\xff", "--=", "");

	assert_offers(&state_of, "");
	assert_says(empty.out, "init\t");
	assert_offers(&odd, "");
}
