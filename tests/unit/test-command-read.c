/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that read state and files, at any height. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/command.h"

/* --- reading --- */

IN_FILLED_WORLD(state_prints_exact_bytes_and_meta_on_stderr)
{
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "state", "cell", "a");
	AUTO_PRINTED struct printed then =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "3");
	AUTO_PRINTED struct printed b64 =
		RUN_IN(fixture, "state", "cell", "--key-b64", "Yi9j", "--raw");

	assert_prints(&head, "{\"n\":3}\n");
	assert_says(head.err, "meta: {\"journal_height\":5,");
	assert_prints(&then, "{\"n\":1}\n");
	assert_says(then.err, "meta: {\"journal_height\":3,");
	assert_prints(&b64, "{\"n\":2}\n");
	assert_string_equal(b64.err, "");
}

IN_FILLED_WORLD(state_of_what_is_not_there_fails)
{
	AUTO_PRINTED struct printed key = RUN_IN(fixture, "state", "cell", "x");
	AUTO_PRINTED struct printed reducer = RUN_IN(fixture, "state", "x");
	AUTO_PRINTED struct printed height =
		RUN_IN(fixture, "state", "cell", "a", "--at-least-height", "9");

	assert_failed(&key, "reducer 'cell' does not have the key 'x'");
	assert_string_equal(key.out, "");
	assert_failed(&reducer,
		"worldfs: reducer_missing: no reducer 'x' (there are: cell total deep sys.*)");
	assert_failed(&height, "worldfs: height_unavailable: ");
}

IN_FILLED_WORLD(json_puts_data_or_error_and_meta_on_stdout)
{
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

IN_WORLD(cells_prints_a_line_a_cell)
{
	tell(fixture, "{'key':'a\\nb','op':'set'}");
	tell(fixture, "{'key':'b/c','op':'set'}");
	world_fixture_close(fixture);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "cells", "cell");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "0x610a62\t8\t3\tsha256:");
	assert_says(printed.out, "\nb/c\t8\t4\tsha256:");
}

IN_FILLED_WORLD(manifest_and_fs_cat_print_the_same_exact_bytes)
{
	AUTO_PRINTED struct printed manifest = RUN_IN(fixture, "manifest");
	AUTO_PRINTED struct printed cat = RUN_IN(fixture, "fs", "cat", "/manifest");
	struct wfs_hash hash = wfs_hash_of(manifest.out, strlen(manifest.out));
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, text);
	assert_int_equal(manifest.status, WFS_EXIT_DONE);
	assert_says(manifest.err, text);
	assert_prints(&cat, manifest.out);
}

IN_WORLD(turns_are_a_table)
{
	const unsigned long long first = with_turns(fixture);
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "turns");
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "turns", "bob");
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "turns", "alice", "--json");
	char line[256];

	assert_int_equal(all.status, WFS_EXIT_DONE);
	assert_says(all.out,
		"TURN                     AGENT            STATUS            REQUESTS  CALLS    "
		"TOKENS STARTED                 TOOK\n");
	snprintf(line, sizeof(line),
		"\nalice.%-18llu alice            running                1/3"
		"      0         0 ",
		first);
	assert_says(all.out, line);
	assert_says(all.out, " cancelled ");
	assert_prints(&none, "");
	assert_says(json.out, "{\"data\":{\"turns\":[{\"agent\":\"alice\",\"asked_by\":");
	assert_says(json.out, "\"status\":\"cancelled\"");
}

IN_WORLD(journal_prints_the_records_of_a_turn)
{
	const unsigned long long first = with_turns(fixture);
	char turn[64];

	snprintf(turn, sizeof(turn), "alice.%llu", first);
	AUTO_PRINTED struct printed lines = RUN_IN(fixture, "journal", "--turn", turn);
	AUTO_PRINTED struct printed missing = RUN_IN(fixture, "journal", "--turn", "alice.1");
	AUTO_PRINTED struct printed some =
		RUN_IN(fixture, "journal", "--turn", turn, "--limit", "1");
	AUTO_PRINTED struct printed record = RUN_IN(fixture, "fs", "cat", "journal/3.json");

	assert_int_equal(lines.status, WFS_EXIT_DONE);
	assert_says(lines.out, "\"KernelStart\"");
	assert_null(strstr(lines.out, "cancelled"));
	assert_int_equal(strncmp(lines.out, some.out, strlen(some.out)), 0);
	assert_prints(&some, record.out);
	assert_failed(&missing, "Turn 'alice.1' not found");
}

IN_FILLED_WORLD(journal_prints_the_exact_lines)
{
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "journal");
	AUTO_PRINTED struct printed log = RUN_IN(fixture, "fs", "cat", "journal/log.jsonl");
	AUTO_PRINTED struct printed one = RUN_IN(fixture, "journal", "--from", "3", "--limit", "1");
	AUTO_PRINTED struct printed record = RUN_IN(fixture, "fs", "cat", "journal/3.json");

	assert_prints(&all, log.out);
	assert_prints(&one, record.out);
}

IN_FILLED_WORLD(head_prints_where_the_world_stands)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "head");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "{\"journal_height\":5,\"manifest_hash\":\"sha256:");
}

IN_FILLED_WORLD(diff_prints_sorted_paths)
{
	AUTO_PRINTED struct printed forth = RUN_IN(fixture, "diff", "3", "5");
	AUTO_PRINTED struct printed back = RUN_IN(fixture, "diff", "5", "3");
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "diff", "4", "4");

	assert_prints(&forth, "M reducers/cell/a\nA reducers/cell/b%2Fc\n");
	assert_says(forth.err, "2 paths differ");
	assert_prints(&back, "M reducers/cell/a\nD reducers/cell/b%2Fc\n");
	assert_prints(&none, "");
}

/* --- files --- */

IN_FILLED_WORLD(fs_ls_lists_names_as_of_a_height)
{
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "fs", "ls", "reducers/cell");
	AUTO_PRINTED struct printed then =
		RUN_IN(fixture, "fs", "ls", "reducers/cell", "--at", "3");
	AUTO_PRINTED struct printed below = RUN_IN(fixture, "fs", "ls", "at/3/reducers/cell");
	AUTO_PRINTED struct printed twice =
		RUN_IN(fixture, "fs", "ls", "at/3/reducers/cell", "--at", "4");
	AUTO_PRINTED struct printed absent = RUN_IN(fixture, "fs", "ls", "x");

	assert_prints(&head, "a\nb%2Fc\n");
	assert_prints(&then, "a\n");
	assert_prints(&below, "a\n");
	assert_misuse(&twice, "names a height, and --at", "--help");
	assert_failed(&absent, "worldfs: not_found: no 'x' in the tree");
}

IN_WORLD(fs_ls_lists_more_names_than_a_page)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	char event[60];

	for (int i = 0; i < 2100; i++) {
		snprintf(event, sizeof(event), "{'key':'%d','op':'set'}", i);
		tell(fixture, event);
		wfs_buffer_printf(&expected, "%d\n", i);
	}
	world_fixture_close(fixture);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "fs", "ls", "reducers/cell");

	assert_prints(&printed, wfs_buffer_text(&expected));
}

/* The cells of a reducer in a world in which nothing was done yet. */
static const char *first_cells(const char *reducer)
{
	static const struct {
		const char *reducer;
		const char *cells;
	} first[] = {
		{"sys.principal", "  operator\n"},
		{"sys.grant",
			"  operator.act.1\n  operator.admin.1\n  operator.blob.1\n"
			"  operator.drive.1\n  operator.llm.1\n  operator.query.1\n"
			"  operator.timer.1\n  operator.tool.1\n"},
		{"sys.ledger", "  operator\n"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(first); i++)
		if (strcmp(reducer, first[i].reducer) == 0)
			return first[i].cells;
	return "";
}

IN_FILLED_WORLD(fs_tree_shows_all_paths)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	AUTO_PRINTED struct printed below = RUN_IN(fixture, "fs", "tree", "reducers");
	AUTO_PRINTED struct printed all = RUN_IN(fixture, "fs", "tree");

	wfs_buffer_printf(&expected, "cell/\n  a\n  b%%2Fc\ntotal/\ndeep/\n");
	for (int i = 0; i < WFS_BUILTIN_REDUCER_COUNT; i++) {
		const char *const name = wfs_builtin_reducer_name((enum wfs_builtin_reducer)i);

		if (!wfs_builtin_reducer_hidden(name, strlen(name)))
			wfs_buffer_printf(&expected, "%s/\n%s", name, first_cells(name));
	}
	assert_prints(&below, wfs_buffer_text(&expected));
	assert_int_equal(all.status, WFS_EXIT_DONE);
	assert_says(all.out, "\nreducers/\n  cell/\n    a\n");
	assert_says(all.out, "  log.jsonl\n");
}

IN_FILLED_WORLD(fs_grep_prints_path_line_and_text)
{
	AUTO_PRINTED struct printed lines = RUN_IN(fixture, "fs", "grep", "n\":[23]", "reducers");
	AUTO_PRINTED struct printed names =
		RUN_IN(fixture, "fs", "grep", "-l", "n\":", "reducers", "--at", "3");
	AUTO_PRINTED struct printed file =
		RUN_IN(fixture, "fs", "grep", "\"seq\":4", "journal/log.jsonl", "-l");

	assert_prints(&lines, "reducers/cell/a:1:{\"n\":3}\nreducers/cell/b%2Fc:1:{\"n\":2}\n");
	assert_prints(&names, "reducers/cell/a\n");
	assert_prints(&file, "journal/log.jsonl\n");
}

IN_FILLED_WORLD(fs_grep_without_a_match_or_a_pattern_fails)
{
	AUTO_PRINTED struct printed none = RUN_IN(fixture, "fs", "grep", "zzz", "reducers");
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "fs", "grep", "(", "reducers");

	assert_failed(&none, "nothing matches");
	assert_string_equal(none.out, "");
	assert_failed(&bad, "worldfs: invalid_pattern: ");
}

IN_FILLED_WORLD(fs_stat_prints_attributes)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "fs", "stat", "reducers/cell/a");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "\"type\":\"file\"");
	assert_says(printed.out, "\"user.worldfs.state_hash\":\"sha256:");
}
