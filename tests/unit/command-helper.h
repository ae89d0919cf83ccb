/* SPDX-License-Identifier: Apache-2.0 */
/* Running the command line in this process, and looking at what it printed. */
#pragma once

#include "tests/unit/world-fixture.h"

#include "fs/command/frame/run.h"

enum { WORDS_MAX = 16 };

/* What one run printed. */
struct printed {
	int status;
	char *out;
	char *err;
};

static inline void printed_done(struct printed *printed)
{
	free(printed->out);
	free(printed->err);
}
#define AUTO_PRINTED WFS_CLEANUP(printed_done)

static inline struct printed run_words(int count, char *const *words)
{
	struct printed printed = {0};
	size_t size;
	FILE *const out = open_memstream(&printed.out, &size);
	FILE *const err = open_memstream(&printed.err, &size);

	assert_non_null(out);
	assert_non_null(err);
	printed.status = wfs_command_main(count, words, out, err, NULL);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(fclose(err), 0);
	return printed;
}

/* Runs `worldfs -w WORLD` with these words, or without -w when @directory is NULL. */
static inline struct printed run_in(const char *directory, const char *const *words)
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

static inline void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}

static inline void assert_done(const struct printed *printed, const char *out)
{
	if (printed->status != WFS_EXIT_DONE)
		fail_msg("%s", printed->err);
	assert_string_equal(printed->out, out);
}

static inline void assert_failed(const struct printed *printed, const char *says)
{
	assert_int_equal(printed->status, WFS_EXIT_FAILED);
	assert_says(printed->err, says);
}

static inline void assert_misuse(const struct printed *printed, const char *says, const char *hint)
{
	assert_int_equal(printed->status, WFS_EXIT_MISUSE);
	assert_string_equal(printed->out, "");
	assert_says(printed->err, says);
	assert_says(printed->err, hint);
}

/* A world with three cells, that nobody has open. Heights: 3 to 5 after one event each. */
static inline struct world_fixture *filled(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b/c','op':'set','n':2}");
	tell(fixture, "{'key':'a','op':'set','n':3}");
	world_fixture_close(fixture);
	return fixture;
}

static inline int act_in(struct world_fixture *fixture, const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "tester", .action = json};
	int r = wfs_world_call(fixture->world, &request);

	json_decref(request.answer);
	return r;
}

/* A world with two turns of alice, that nobody has open: one goes on, one was cancelled. Returns the
 * number behind `alice.` of the first. */
static inline unsigned long long with_turns(struct world_fixture *fixture)
{
	static const char *const actions[] = {
		"{'action_type':'principal','id':'alice'}",
		"{'action_type':'step','agent':'alice','max_turns':3,'messages':[],'setup':"
		"{'model':'m','offered':[],'settings':{},'tools':[]}}",
		"{'action_type':'step','agent':'alice','max_turns':3,'messages':[],'setup':"
		"{'model':'m','offered':[],'settings':{},'tools':[]}}",
	};
	const unsigned long long first = height_of(fixture) + 1;
	char cancel[128];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(actions); i++)
		assert_int_equal(act_in(fixture, actions[i]), 0);
	snprintf(cancel, sizeof(cancel), "{'action_type':'cancel','turn_id':'alice.%llu'}",
		first + 4);
	assert_int_equal(act_in(fixture, cancel), 0);
	world_fixture_close(fixture);
	return first;
}

static inline void put_lines(struct world_fixture *fixture, const char *text, char path[static 120])
{
	put_file(fixture->source, "lines", text);
	snprintf(path, 120, "@%s/lines", fixture->source);
}
