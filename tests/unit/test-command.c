/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, from argv to exit status. What needs a mount is in tests/mount/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>

#include "fs/command/command-impl.h"
#include "tests/unit/world-fixture.h"

enum { WORDS_MAX = 16 };

/* What one run printed. */
struct printed {
	int status;
	char *out;
	char *err;
};

static void printed_done(struct printed *printed)
{
	free(printed->out);
	free(printed->err);
}
#define AUTO_PRINTED WFS_CLEANUP(printed_done)

static struct printed run_words(int count, char *const *words)
{
	struct printed printed = {0};
	size_t size;
	FILE *const out = open_memstream(&printed.out, &size);
	FILE *const err = open_memstream(&printed.err, &size);

	assert_non_null(out);
	assert_non_null(err);
	printed.status = wfs_command_main(count, words, out, err);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(fclose(err), 0);
	return printed;
}

/* Runs `worldfs -w WORLD` with these words, or without -w when @directory is NULL. */
static struct printed run_in(const char *directory, const char *const *words)
{
	char *all[WORDS_MAX] = {(char *)"worldfs"};
	int count = 1;

	if (directory) {
		all[count++] = (char *)"-w";
		all[count++] = (char *)directory;
	}
	for (; *words; words++)
		all[count++] = (char *)*words;
	return run_words(count, all);
}

#define RUN(...) run_in(NULL, (const char *const[]){__VA_ARGS__, NULL})
/* In the fixture's world, which the test has let go of. */
#define RUN_IN(fixture, ...) run_in((fixture)->directory, (const char *const[]){__VA_ARGS__, NULL})

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}

static void assert_done(const struct printed *printed, const char *out)
{
	if (printed->status != WFS_EXIT_DONE)
		fail_msg("%s", printed->err);
	assert_string_equal(printed->out, out);
}

static void assert_failed(const struct printed *printed, const char *says)
{
	assert_int_equal(printed->status, WFS_EXIT_FAILED);
	assert_says(printed->err, says);
}

static void assert_misuse(const struct printed *printed, const char *says, const char *hint)
{
	assert_int_equal(printed->status, WFS_EXIT_MISUSE);
	assert_string_equal(printed->out, "");
	assert_says(printed->err, says);
	assert_says(printed->err, hint);
}

/* A world with three cells, that nobody has open. Heights: 3 to 5 after one event each. */
static struct world_fixture *filled(void **state)
{
	struct world_fixture *const fixture = *state;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b/c','op':'set','n':2}");
	tell(fixture, "{'key':'a','op':'set','n':3}");
	world_fixture_close(fixture);
	return fixture;
}

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

static void help_of_every_command_fits_80_columns_and_goes_to_stdout(void **state)
{
	(void)state;
	for (size_t i = 0; i < wfs_command_count; i++) {
		WFS_AUTO_FREE char *name = strdup(wfs_commands[i].name);
		char *const space = strchr(name, ' ');

		if (space)
			*space = '\0';
		AUTO_PRINTED struct printed printed =
			space ? RUN(name, space + 1, "--help") : RUN(name, "--help");
		print_message("%s\n", wfs_commands[i].name);
		assert_int_equal(printed.status, WFS_EXIT_DONE);
		assert_string_equal(printed.err, "");
		assert_says(printed.out, "Usage: worldfs [-w WORLD] ");
		assert_says(printed.out, wfs_commands[i].summary);
		assert_fits(wfs_commands[i].name, printed.out);
	}
}

static void help_overview_fits_and_names_every_command(void **state)
{
	AUTO_PRINTED struct printed printed = RUN("--help");

	(void)state;
	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_fits("overview", printed.out);
	for (size_t i = 0; i < wfs_command_count; i++)
		assert_says(printed.out, wfs_commands[i].name);
}

static void help_of_a_group_lists_its_commands(void **state)
{
	AUTO_PRINTED struct printed printed = RUN("fs", "-h");

	(void)state;
	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "fs grep PATTERN [PATH]");
	assert_fits("fs", printed.out);
}

static void version_is_printed(void **state)
{
	AUTO_PRINTED struct printed printed = RUN("--version");

	(void)state;
	assert_done(&printed, "worldfs " WFS_VERSION "\n");
}

/* --- misuse --- */

static void misuse_of_commands_is_told_with_a_hint(void **state)
{
	AUTO_PRINTED struct printed none = run_words(1, (char *[]){(char *)"worldfs", NULL});
	AUTO_PRINTED struct printed unknown = RUN("fly");
	AUTO_PRINTED struct printed group = RUN("fs");
	AUTO_PRINTED struct printed member = RUN("fs", "fly");

	(void)state;
	assert_misuse(&none, "Usage:", "--help");
	assert_misuse(&unknown, "no command 'fly'", "Try 'worldfs --help'.");
	assert_misuse(&group, "fs grep", "--help");
	assert_misuse(&member, "fs grep", "--help");
}

static void misuse_of_options_is_told_with_a_hint(void **state)
{
	AUTO_PRINTED struct printed unknown = RUN("head", "--fly");
	AUTO_PRINTED struct printed other = RUN("head", "--at", "3");
	AUTO_PRINTED struct printed letter = RUN("head", "-l");
	AUTO_PRINTED struct printed missing = RUN("fs", "ls", "--at");
	AUTO_PRINTED struct printed needless = RUN("head", "--json=yes");

	(void)state;
	assert_misuse(&unknown, "unknown option '--fly'", "--help");
	assert_misuse(&other, "'head' has no option '--at'", "Try 'worldfs head --help'.");
	assert_misuse(&letter, "'head' has no option '-l'", "--help");
	assert_misuse(&missing, "'--at' needs a value: HEIGHT", "--help");
	assert_misuse(&needless, "'--json' takes no value", "--help");
}

static void misuse_of_arguments_is_told_with_a_hint(void **state)
{
	AUTO_PRINTED struct printed missing = RUN("state");
	AUTO_PRINTED struct printed more = RUN("diff", "1", "2", "3");
	AUTO_PRINTED struct printed number = RUN("diff", "1", "two");
	AUTO_PRINTED struct printed at = RUN("fs", "ls", "--at", "then");
	AUTO_PRINTED struct printed both =
		RUN("state", "x", "--exact-height", "1", "--at-least-height", "1");
	AUTO_PRINTED struct printed negative = RUN("journal", "--from", "-1");

	(void)state;
	assert_misuse(&missing, "'state' takes: REDUCER [KEY]", "Try 'worldfs state --help'.");
	assert_misuse(&more, "'3' is one argument too many", "Try 'worldfs diff --help'.");
	assert_int_equal(number.status, WFS_EXIT_FAILED); /* the first height is looked up first */
	assert_misuse(&at, "--at: expected a height", "--help");
	assert_misuse(&both, "exclude each other", "--help");
	assert_misuse(&negative, "--from: expected a number, got '-1'", "--help");
}

/* --- finding the world --- */

static void world_is_found_by_option_environment_and_working_directory(void **state)
{
	struct world_fixture *const fixture = filled(state);
	char below[120];

	snprintf(below, sizeof(below), "%s/below", fixture->directory);
	assert_int_equal(mkdir(below, 0755), 0);
	AUTO_PRINTED struct printed option = RUN_IN(fixture, "state", "cell", "a");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is no other thread */
	assert_int_equal(setenv("WORLDFS_WORLD", fixture->directory, 1), 0);
	AUTO_PRINTED struct printed environment = RUN("state", "cell", "a");
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is no other thread */
	assert_int_equal(unsetenv("WORLDFS_WORLD"), 0);
	assert_int_equal(chdir(below), 0);
	AUTO_PRINTED struct printed here = RUN("state", "cell", "a");
	assert_int_equal(chdir("/"), 0);
	AUTO_PRINTED struct printed nowhere = RUN("state", "cell", "a");

	assert_done(&option, "{\"n\":3}\n");
	assert_done(&environment, "{\"n\":3}\n");
	assert_done(&here, "{\"n\":3}\n");
	assert_failed(&nowhere, "worldfs: not_found: no world here or above");
}

static void directory_that_is_no_world_is_not_found(void **state)
{
	struct world_fixture *const fixture = *state;
	AUTO_PRINTED struct printed printed =
		run_in(fixture->source, (const char *const[]){"head", NULL});

	assert_failed(&printed, "is not a world");
}

/* --- init --- */

static void init_makes_a_world_that_can_be_used(void **state)
{
	struct world_fixture *const fixture = *state;
	AUTO_PRINTED struct printed init =
		RUN("init", fixture->directory, "--from", fixture->source, "--name", "mine");
	AUTO_PRINTED struct printed status = RUN_IN(fixture, "status");
	AUTO_PRINTED struct printed again = RUN("init", fixture->directory);

	assert_done(&init, "");
	assert_says(status.out, "\"name\":\"mine\"");
	assert_failed(&again, "worldfs: already_exists: ");
}

static void init_without_source_names_the_world_after_its_directory(void **state)
{
	struct world_fixture *const fixture = *state;
	AUTO_PRINTED struct printed init = RUN("init", fixture->directory);
	AUTO_PRINTED struct printed status = RUN_IN(fixture, "status");

	assert_done(&init, "");
	assert_says(status.out, "\"name\":\"world\"");
}

static void init_tells_every_problem_of_the_source_and_makes_nothing(void **state)
{
	struct world_fixture *const fixture = *state;
	struct stat status;

	put_file(fixture->source, "world.json", "{\"name\":7,\"reducers\":{},\"fly\":1}");
	AUTO_PRINTED struct printed printed =
		RUN("init", fixture->directory, "--from", fixture->source);

	assert_failed(&printed, "nothing was made");
	assert_says(printed.err, "world.json: /name: ");
	assert_says(printed.err, "world.json: /reducers: ");
	assert_int_equal(stat(fixture->directory, &status), -1);
}

/* --- reading --- */

static void state_prints_exact_bytes_and_meta_on_stderr(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "state", "cell", "a");
	AUTO_PRINTED struct printed then =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "3");
	AUTO_PRINTED struct printed b64 =
		RUN_IN(fixture, "state", "cell", "--key-b64", "Yi9j", "--raw");

	assert_done(&head, "{\"n\":3}\n");
	assert_says(head.err, "meta: {\"journal_height\":5,");
	assert_done(&then, "{\"n\":1}\n");
	assert_says(then.err, "meta: {\"journal_height\":3,");
	assert_done(&b64, "{\"n\":2}\n");
	assert_string_equal(b64.err, "");
}

static void state_of_what_is_not_there_fails(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed key = RUN_IN(fixture, "state", "cell", "x");
	AUTO_PRINTED struct printed reducer = RUN_IN(fixture, "state", "x");
	AUTO_PRINTED struct printed height =
		RUN_IN(fixture, "state", "cell", "a", "--at-least-height", "9");

	assert_failed(&key, "reducer 'cell' has no such key");
	assert_string_equal(key.out, "");
	assert_failed(
		&reducer, "worldfs: reducer_missing: no reducer 'x' (there are: cell total deep)");
	assert_failed(&height, "worldfs: height_unavailable: ");
}

static void json_puts_data_or_error_and_meta_on_stdout(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed good = RUN_IN(fixture, "--json", "state", "cell", "a");
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "state", "x", "--json");

	assert_int_equal(good.status, WFS_EXIT_DONE);
	assert_says(good.out, "{\"data\":{\"state_b64\":\"eyJuIjozfQo=\"},\"meta\":{");
	assert_string_equal(good.err, "");
	assert_int_equal(bad.status, WFS_EXIT_FAILED);
	assert_says(bad.out, "{\"error\":{\"category\":\"resource\",\"code\":\"reducer_missing\",");
	assert_says(bad.out, "\"meta\":{");
	assert_string_equal(bad.err, "");
}

static void cells_prints_a_line_a_cell(void **state)
{
	struct world_fixture *const fixture = *state;

	tell(fixture, "{'key':'a\\nb','op':'set'}");
	tell(fixture, "{'key':'b/c','op':'set'}");
	world_fixture_close(fixture);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "cells", "cell");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "0x610a62\t8\t3\tsha256:");
	assert_says(printed.out, "\nb/c\t8\t4\tsha256:");
}

static void manifest_and_fs_cat_print_the_same_exact_bytes(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed manifest = RUN_IN(fixture, "manifest");
	AUTO_PRINTED struct printed cat = RUN_IN(fixture, "fs", "cat", "/manifest");
	struct wfs_hash hash = wfs_hash_of(manifest.out, strlen(manifest.out));
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, text);
	assert_int_equal(manifest.status, WFS_EXIT_DONE);
	assert_says(manifest.err, text);
	assert_done(&cat, manifest.out);
}

static void journal_prints_the_exact_lines(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "journal");
	AUTO_PRINTED struct printed log = RUN_IN(fixture, "fs", "cat", "journal/log.jsonl");
	AUTO_PRINTED struct printed one = RUN_IN(fixture, "journal", "--from", "3", "--limit", "1");
	AUTO_PRINTED struct printed record = RUN_IN(fixture, "fs", "cat", "journal/3.json");

	assert_done(&all, log.out);
	assert_done(&one, record.out);
}

static void head_prints_where_the_world_stands(void **state)
{
	AUTO_PRINTED struct printed printed = RUN_IN(filled(state), "head");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "{\"journal_height\":5,\"manifest_hash\":\"sha256:");
}

static void diff_prints_sorted_paths(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed forth = RUN_IN(fixture, "diff", "3", "5");
	AUTO_PRINTED struct printed back = RUN_IN(fixture, "diff", "5", "3");
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "diff", "4", "4");

	assert_done(&forth, "M reducers/cell/a\nA reducers/cell/b%2Fc\n");
	assert_says(forth.err, "2 paths differ");
	assert_done(&back, "M reducers/cell/a\nD reducers/cell/b%2Fc\n");
	assert_done(&none, "");
}

/* --- files --- */

static void fs_ls_lists_names_as_of_a_height(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "fs", "ls", "reducers/cell");
	AUTO_PRINTED struct printed then =
		RUN_IN(fixture, "fs", "ls", "reducers/cell", "--at", "3");
	AUTO_PRINTED struct printed below = RUN_IN(fixture, "fs", "ls", "at/3/reducers/cell");
	AUTO_PRINTED struct printed twice =
		RUN_IN(fixture, "fs", "ls", "at/3/reducers/cell", "--at", "4");
	AUTO_PRINTED struct printed absent = RUN_IN(fixture, "fs", "ls", "x");

	assert_done(&head, "a\nb%2Fc\n");
	assert_done(&then, "a\n");
	assert_done(&below, "a\n");
	assert_misuse(&twice, "names a height already", "--help");
	assert_failed(&absent, "worldfs: not_found: no 'x' in the tree");
}

static void fs_ls_lists_more_names_than_a_page(void **state)
{
	struct world_fixture *const fixture = *state;
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	char event[60];

	for (int i = 0; i < 2100; i++) {
		snprintf(event, sizeof(event), "{'key':'%d','op':'set'}", i);
		tell(fixture, event);
		wfs_buffer_printf(&expected, "%d\n", i);
	}
	world_fixture_close(fixture);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "fs", "ls", "reducers/cell");

	assert_done(&printed, wfs_buffer_text(&expected));
}

static void fs_tree_shows_all_paths(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed below = RUN_IN(fixture, "fs", "tree", "reducers");
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "fs", "tree");

	assert_done(&below, "cell/\n  a\n  b%2Fc\ntotal/\ndeep/\n");
	assert_int_equal(all.status, WFS_EXIT_DONE);
	assert_says(all.out, "\nreducers/\n  cell/\n    a\n");
	assert_says(all.out, "  log.jsonl\n");
}

static void fs_grep_prints_path_line_and_text(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed lines = RUN_IN(fixture, "fs", "grep", "n\":[23]", "reducers");
	AUTO_PRINTED struct printed names =
		RUN_IN(fixture, "fs", "grep", "-l", "n", "reducers", "--at", "3");
	AUTO_PRINTED struct printed file =
		RUN_IN(fixture, "fs", "grep", "\"seq\":4", "journal/log.jsonl", "-l");

	assert_done(&lines, "reducers/cell/a:1:{\"n\":3}\nreducers/cell/b%2Fc:1:{\"n\":2}\n");
	assert_done(&names, "reducers/cell/a\n");
	assert_done(&file, "journal/log.jsonl\n");
}

static void fs_grep_without_a_match_or_a_pattern_fails(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "fs", "grep", "zzz", "reducers");
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "fs", "grep", "(", "reducers");

	assert_failed(&none, "nothing matches");
	assert_string_equal(none.out, "");
	assert_failed(&bad, "worldfs: invalid_pattern: ");
}

static void fs_stat_prints_attributes(void **state)
{
	AUTO_PRINTED struct printed printed =
		RUN_IN(filled(state), "fs", "stat", "reducers/cell/a");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "\"type\":\"file\"");
	assert_says(printed.out, "\"user.worldfs.state_hash\":\"sha256:");
}

/* --- changing --- */

static void blob_that_was_put_comes_back(void **state)
{
	struct world_fixture *const fixture = filled(state);
	char path[120];
	char hash[100];

	put_file(fixture->source, "data", "hello");
	snprintf(path, sizeof(path), "%s/data", fixture->source);
	AUTO_PRINTED struct printed put = RUN_IN(fixture, "blob", "put", path);
	assert_int_equal(put.status, WFS_EXIT_DONE);
	snprintf(hash, sizeof(hash), "%.*s", (int)strcspn(put.out, "\n"), put.out);
	AUTO_PRINTED struct printed get = RUN_IN(fixture, "blob", "get", hash);
	AUTO_PRINTED struct printed stat = RUN_IN(fixture, "blob", "stat", hash);
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "blob", "get", "12");

	assert_done(&get, "hello");
	assert_says(stat.out, "\"size\":5");
	assert_misuse(&bad, "12", "--help");
}

static void event_sends_a_value_from_the_line_or_a_file(void **state)
{
	struct world_fixture *const fixture = filled(state);
	char path[120];

	put_file(fixture->source, "event.json", "{\"key\":\"a\",\"op\":\"add\",\"n\":5}\n");
	snprintf(path, sizeof(path), "@%s/event.json", fixture->source);
	AUTO_PRINTED struct printed line =
		RUN_IN(fixture, "event", "test/Do@1", "{\"key\":\"a\",\"op\":\"add\",\"n\":4}");
	AUTO_PRINTED struct printed file = RUN_IN(fixture, "event", "test/Do@1", path);
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_done(&line, "{\"seqs\":[5]}\n");
	assert_done(&file, "{\"seqs\":[6]}\n");
	assert_done(&state_now, "{\"n\":12}\n");
}

static void event_that_is_refused_says_why(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "event", "test/Do@1", "{");
	AUTO_PRINTED struct printed schema = RUN_IN(fixture, "event", "test/No@1", "{}");
	AUTO_PRINTED struct printed key = RUN_IN(
		fixture, "event", "test/Do@1", "{\"key\":\"a\",\"op\":\"set\"}", "--key", "b");

	assert_failed(&json, "worldfs: invalid_json: ");
	assert_failed(&schema, "worldfs: not_found: ");
	assert_failed(&key, "worldfs: invalid_argument: ");
}

static void put_lines(struct world_fixture *fixture, const char *text, char path[static 120])
{
	put_file(fixture->source, "lines", text);
	snprintf(path, 120, "@%s/lines", fixture->source);
}

static void event_lines_sends_each_line_and_lists_those_refused(void **state)
{
	struct world_fixture *const fixture = filled(state);
	char path[120];

	put_lines(fixture,
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1}\n"
		"{nonsense\n"
		"\n"
		"{\"key\":\"a\",\"op\":\"fail\"}\n"
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1},\"key\":\"b\"\n"
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1}",
		path);
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", path, "--lines");
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_failed(&printed, "line 2: invalid_json: ");
	assert_says(printed.err, "line 4: runtime_error: ");
	assert_says(printed.err, "line 5: invalid_json: ");
	assert_says(printed.err, "2 events accepted, 3 refused");
	assert_string_equal(printed.out, "");
	assert_done(&state_now, "{\"n\":5}\n");
}

static void event_lines_of_a_large_file_are_all_sent(void **state)
{
	struct world_fixture *const fixture = filled(state);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char path[120];

	for (int i = 0; i < 20000; i++)
		wfs_buffer_append_text(&text, "{\"key\":\"a\",\"op\":\"add\",\"n\":1}\n");
	put_lines(fixture, wfs_buffer_text(&text), path);
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", path, "--lines", "--json");
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "\"accepted\":20000,\"refused\":[]");
	assert_done(&state_now, "{\"n\":20003}\n");
}

static void event_lines_needs_a_file(void **state)
{
	AUTO_PRINTED struct printed printed =
		RUN_IN(filled(state), "event", "test/Do@1", "{}", "--lines");

	assert_misuse(&printed, "--lines needs @FILE or @-", "Try 'worldfs event --help'.");
}

static void snapshot_prints_the_hash_that_head_then_has(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed snapshot = RUN_IN(fixture, "snapshot");
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "head");

	assert_int_equal(snapshot.status, WFS_EXIT_DONE);
	snapshot.out[strcspn(snapshot.out, "\n")] = '\0';
	assert_says(head.out, snapshot.out);
}

static void backup_makes_a_world_that_has_the_same_head(void **state)
{
	struct world_fixture *const fixture = filled(state);
	char directory[120];

	snprintf(directory, sizeof(directory), "%s/backup", fixture->root);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "backup", directory);
	AUTO_PRINTED struct printed again = RUN_IN(fixture, "backup", directory);
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed copied = RUN("-w", directory, "head");

	assert_done(&printed, "");
	assert_says(printed.err, "height 5 is in ");
	assert_failed(&again, "already_exists: ");
	assert_done(&copied, head.out);
}

static void gc_drops_old_heights(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "gc", "--keep-heights", "1");
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "gc", "--since", "2", "--json");
	AUTO_PRINTED struct printed dropped =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "4");
	AUTO_PRINTED struct printed kept =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "5");

	assert_done(&printed, "");
	assert_says(printed.err, "height 5 is the first now; dropped 1 versions with 8 bytes");
	assert_says(json.out, "\"first_height\":5,");
	assert_failed(&dropped, "height_unavailable: height 4 was dropped");
	assert_done(&kept, "{\"n\":3}\n");
}

static void gc_refuses_what_it_does_not_understand(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed neither = RUN_IN(fixture, "gc");
	AUTO_PRINTED struct printed both =
		RUN_IN(fixture, "gc", "--since", "1", "--keep-heights", "1");
	AUTO_PRINTED struct printed word = RUN_IN(fixture, "gc", "--since", "now");
	AUTO_PRINTED struct printed journal = RUN_IN(fixture, "gc", "--since", "4", "--journal");

	assert_misuse(&neither, "either --keep-heights or --since", "Try 'worldfs gc --help'.");
	assert_misuse(&both, "either --keep-heights or --since", "Try 'worldfs gc --help'.");
	assert_misuse(&word, "--since: expected a number", "Try 'worldfs gc --help'.");
	assert_failed(&journal, "not_enabled: --journal");
}

static void verify_and_replay_of_a_good_world_find_nothing(void **state)
{
	struct world_fixture *const fixture = filled(state);
	AUTO_PRINTED struct printed verify = RUN_IN(fixture, "verify");
	AUTO_PRINTED struct printed replay = RUN_IN(fixture, "replay", "--json");

	assert_done(&verify, "");
	assert_says(verify.err, "0 problems found");
	assert_done(&replay, "{\"data\":{\"count\":0,\"problems\":[]}}\n");
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

		_exit(wfs_command_main(4, words, null, null));
	}
	for (;;) {
		assert_int_equal(wfs_access_new(fixture->directory, NULL, false, &access, NULL), 0);
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

static void commands_print_the_same_with_and_without_an_owner(void **state)
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
	struct world_fixture *const fixture = filled(state);
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

static void event_lines_go_through_the_owner(void **state)
{
	struct world_fixture *const fixture = filled(state);
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
	assert_done(&state_now, "{\"n\":20003}\n");
}

static void second_owner_is_told_who_is_first(void **state)
{
	struct world_fixture *const fixture = filled(state);
	const pid_t owner = start_owner(fixture);
	char text[40];

	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "serve");
	stop_owner(owner);
	snprintf(text, sizeof(text), "process %d", (int)owner);
	assert_failed(&printed, "worldfs: busy: ");
	assert_says(printed.err, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_of_every_command_fits_80_columns_and_goes_to_stdout),
		cmocka_unit_test(help_overview_fits_and_names_every_command),
		cmocka_unit_test(help_of_a_group_lists_its_commands),
		cmocka_unit_test(version_is_printed),
		cmocka_unit_test(misuse_of_commands_is_told_with_a_hint),
		cmocka_unit_test(misuse_of_options_is_told_with_a_hint),
		cmocka_unit_test(misuse_of_arguments_is_told_with_a_hint),
		IN_WORLD(world_is_found_by_option_environment_and_working_directory),
		WITH_SOURCE(directory_that_is_no_world_is_not_found),
		WITH_SOURCE(init_makes_a_world_that_can_be_used),
		WITH_SOURCE(init_without_source_names_the_world_after_its_directory),
		WITH_SOURCE(init_tells_every_problem_of_the_source_and_makes_nothing),
		IN_WORLD(state_prints_exact_bytes_and_meta_on_stderr),
		IN_WORLD(state_of_what_is_not_there_fails),
		IN_WORLD(json_puts_data_or_error_and_meta_on_stdout),
		IN_WORLD(cells_prints_a_line_a_cell),
		IN_WORLD(manifest_and_fs_cat_print_the_same_exact_bytes),
		IN_WORLD(journal_prints_the_exact_lines),
		IN_WORLD(head_prints_where_the_world_stands),
		IN_WORLD(diff_prints_sorted_paths),
		IN_WORLD(fs_ls_lists_names_as_of_a_height),
		IN_WORLD(fs_ls_lists_more_names_than_a_page),
		IN_WORLD(fs_tree_shows_all_paths),
		IN_WORLD(fs_grep_prints_path_line_and_text),
		IN_WORLD(fs_grep_without_a_match_or_a_pattern_fails),
		IN_WORLD(fs_stat_prints_attributes),
		IN_WORLD(blob_that_was_put_comes_back),
		IN_WORLD(event_sends_a_value_from_the_line_or_a_file),
		IN_WORLD(event_that_is_refused_says_why),
		IN_WORLD(event_lines_sends_each_line_and_lists_those_refused),
		IN_WORLD(event_lines_of_a_large_file_are_all_sent),
		IN_WORLD(event_lines_needs_a_file),
		IN_WORLD(snapshot_prints_the_hash_that_head_then_has),
		IN_WORLD(backup_makes_a_world_that_has_the_same_head),
		IN_WORLD(gc_drops_old_heights),
		IN_WORLD(gc_refuses_what_it_does_not_understand),
		IN_WORLD(verify_and_replay_of_a_good_world_find_nothing),
		IN_WORLD(commands_print_the_same_with_and_without_an_owner),
		IN_WORLD(event_lines_go_through_the_owner),
		IN_WORLD(second_owner_is_told_who_is_first),
	};

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): there is no other thread */
	unsetenv("WORLDFS_WORLD");
	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
