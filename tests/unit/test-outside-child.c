/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are child processes: what they get of this process, and how they end. */
#include "tests/fixture/outside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum { NS_PER_MS = 1000000, GONE_MS = 6000 };

static int64_t now_ms(void)
{
	return wfs_clock_monotonic_ns() / NS_PER_MS;
}

/* Has the process ended? A zombie that nobody collects has. */
static bool is_gone(pid_t pid)
{
	char path[64];
	char text[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *const file = fopen(path, "r");
	if (!file)
		return true;
	(void)fgets(text, sizeof(text), file);
	(void)fclose(file);
	const char *const state = strrchr(text, ')');
	return state && state[2] == 'Z';
}

static void expect_gone(struct outside_fixture *fixture, pid_t pid)
{
	const int64_t began = now_ms();

	while (!is_gone(pid)) {
		assert_true(now_ms() - began < GONE_MS);
		outside_run(fixture, 10);
	}
}

static json_t *answer_of(struct outside_outcome *outcome)
{
	struct wfs_error error = {.code = WFS_OK};
	json_t *value = NULL;

	if (outcome->code != WFS_OK)
		fail_msg("%s", outcome->message);
	if (wfs_json_parse(outcome->text.data, outcome->text.size, &value, &error))
		fail_msg("%s", error.message);
	return value;
}

static pid_t pid_of(struct outside_outcome *outcome)
{
	if (outcome->code != WFS_OK)
		fail_msg("%s", outcome->message);
	return (pid_t)strtol(wfs_buffer_text(&outcome->text), NULL, 10);
}

/* --- what a child gets --- */

WITH_CHILD(a_child_gets_no_environment_but_what_is_named)
{
	outside_open(fixture, "", ",'env':['OUTSIDE_OTHER','OUTSIDE_MISSING']");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "env", "{}");
	WFS_AUTO_JSON json_t *env = answer_of(&outcome);

	json_object_del(env, "LC_CTYPE"); /* python sets it itself */
	assert_json_is(json_incref(env), "{'OUTSIDE_OTHER':'must not be seen'}");
}

WITH_CHILD(a_child_gets_no_environment_by_default)
{
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "env", "{}");
	WFS_AUTO_JSON json_t *env = answer_of(&outcome);

	json_object_del(env, "LC_CTYPE");
	assert_json_is(json_incref(env), "{}");
}

WITH_CHILD(a_child_has_three_descriptors_and_a_group_of_its_own)
{
	const int left = open("/etc/passwd", O_RDONLY); /* not even without O_CLOEXEC */
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "descriptors", "{}");
	WFS_AUTO_JSON json_t *found = answer_of(&outcome);

	close(left);
	/* 3 is the log, which the server opens and closes; it is free when it looks. */
	assert_json_is(json_incref(json_object_get(found, "open")), "[0,1,2]");
	assert_string_equal(wfs_json_text(found, "directory"), "/");
	assert_true(json_is_true(json_object_get(found, "session")));
	assert_true(json_is_true(json_object_get(found, "group")));
	assert_json_is(json_incref(json_object_get(found, "core")), "[0,0]");
	assert_int_equal(json_integer_value(json_object_get(found, "files")), 1024);
	assert_int_equal(json_integer_value(json_object_get(found, "cpu")), 3600);
	assert_string_equal(wfs_json_text(found, "blocked"), "0000000000000000");
	assert_string_equal(wfs_json_text(found, "new"), "1");
}

/* Counts the lines of the log that begin with @start, and checks that no line is long. */
static size_t count_lines(const char *path, const char *start)
{
	FILE *const file = fopen(path, "r");
	char *line = NULL;
	size_t capacity = 0;
	size_t count = 0;

	assert_non_null(file);
	while (getline(&line, &capacity, file) >= 0) {
		assert_true(strlen(line) < 512);
		assert_null(strchr(line, '\x1b'));
		count += strncmp(line, start, strlen(start)) == 0;
	}
	free(line);
	(void)fclose(file);
	return count;
}

#define SAYS "info agents: server of tools: says: 's': "

WITH_CHILD(its_errors_are_logged_with_a_prefix_and_a_bound)
{
	char path[128];
	const int kept = dup(STDERR_FILENO);
	snprintf(path, sizeof(path), "%s/errors", fixture->directory);
	const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
	assert_int_equal(wfs_log_setup("info"), 0);
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "stderr", "{}");
	AUTO_OUTSIDE struct outside_outcome flood = outside_ask(fixture, "stderr_flood", "{}");
	outside_run(fixture, 200);
	assert_int_equal(wfs_log_setup(NULL), 0);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	close(kept);
	close(file);

	outside_expect_text(&outcome, "written");
	outside_expect_text(&flood, "written"); /* 2,000 lines of 5,000 bytes do not stop it */
	assert_int_equal(count_lines(path, SAYS "first line\n"), 1);
	assert_int_equal(count_lines(path, SAYS "second ?[31mline\n"), 1);
	assert_in_range(count_lines(path, SAYS "xxxxx"), 50, 200); /* of one or two periods */
}

/* --- ends --- */

WITH_CHILD(a_program_that_is_not_there_is_unavailable)
{
	outside_open_table(fixture, "{'s':{'command':['/no/such/program']}}");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(
		&outcome, WFS_E_UNAVAILABLE, "it cannot be started: No such file or directory");
	assert_false(outcome.sent);
}

WITH_CHILD(a_program_that_exits_is_unavailable)
{
	outside_open(fixture, "exits", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it has exited with status 3");
}

WITH_CHILD(a_call_under_way_is_unavailable_when_the_server_dies)
{
	AUTO_OUTSIDE struct outside_outcome waiting = {.done_count = 0};
	outside_open(fixture, "", "");
	outside_listed(fixture);
	outside_start(fixture, "hang", "{}", &waiting);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "die", "{}");
	outside_wait(fixture, &waiting);

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it has exited with status 7");
	assert_true(outcome.sent);
	outside_expect_error(&waiting, WFS_E_UNAVAILABLE, "it has exited with status 7");
}

WITH_CHILD(a_server_that_dies_in_the_middle_of_an_answer_is_unavailable)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome =
		outside_ask(fixture, "die", "{'partly':true}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it has exited with status 7");
}

WITH_CHILD(a_server_that_died_is_started_again_after_a_pause_that_grows)
{
	int64_t pauses[2];
	outside_open(fixture, "", "");

	for (size_t i = 0; i < 2; i++) {
		AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "die", "{}");
		const int64_t began = now_ms();
		AUTO_OUTSIDE struct outside_outcome refused = outside_ask(fixture, "echo", "{}");
		outside_expect_error(&refused, WFS_E_UNAVAILABLE, "exited with status 7");
		outside_until(fixture, WFS_OUTSIDE_DOWN);
		pauses[i] = now_ms() - began;
	}
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "echo", "{'text':'on'}");

	outside_expect_text(&outcome, "on");
	assert_in_range(pauses[0], 1900, 3900);
	assert_in_range(pauses[1], 3900, 7900);
}

WITH_CHILD(a_server_that_starts_always_comes_back_by_itself)
{
	outside_open(fixture, "", ",'start':'always'");
	outside_until(fixture, WFS_OUTSIDE_READY);

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "die", "{}");
	outside_until(fixture, WFS_OUTSIDE_READY);

	assert_int_equal(outside_log_count(fixture, "initialize"), 2);
}

WITH_CHILD(a_server_that_closes_its_output_is_ended)
{
	outside_open(fixture, "", "");

	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "close_output", "{}");

	outside_expect_error(&outcome, WFS_E_UNAVAILABLE, "it has closed its output");
}

WITH_CHILD(a_server_that_does_not_read_is_unavailable)
{
	WFS_AUTO_FREE char *text = calloc(1, 200001);
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};
	AUTO_OUTSIDE struct outside_outcome first = {.done_count = 0};
	AUTO_OUTSIDE struct outside_outcome second = {.done_count = 0};
	outside_open(fixture, "deaf", ",'timeout_ms':1500");
	memset(text, 'x', 200000);
	wfs_buffer_printf(&arguments, "{'text':'%s'}", text);

	outside_start(fixture, "echo", wfs_buffer_text(&arguments), &first);
	outside_start(fixture, "echo", wfs_buffer_text(&arguments), &second);
	outside_wait(fixture, &first);
	outside_wait(fixture, &second);

	assert_true(first.code == WFS_E_TIMEOUT || first.code == WFS_E_UNAVAILABLE);
	assert_true(second.code == WFS_E_TIMEOUT || second.code == WFS_E_UNAVAILABLE);
}

/* Frees the client, and reads the log when the server is gone. */
static json_t *log_of_the_end(struct outside_fixture *fixture)
{
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "descriptors", "{}");
	WFS_AUTO_JSON json_t *found = answer_of(&outcome);

	wfs_outside_free(WFS_STEAL(fixture->outside));
	expect_gone(fixture, (pid_t)json_integer_value(json_object_get(found, "pid")));
	return outside_log(fixture);
}

WITH_CHILD(a_server_that_ends_with_its_input_gets_no_signal)
{
	outside_open(fixture, "tells_its_end", "");

	WFS_AUTO_JSON json_t *log = log_of_the_end(fixture);

	const json_t *const last = json_array_get(log, json_array_size(log) - 1);
	assert_true(json_is_true(json_object_get(last, "input_ended")));
}

WITH_CHILD(a_server_that_does_not_end_with_its_input_is_asked_by_a_signal)
{
	outside_open(fixture, "tells_its_end,lingers", "");

	WFS_AUTO_JSON json_t *log = log_of_the_end(fixture);

	const size_t count = json_array_size(log);
	assert_true(json_is_true(json_object_get(json_array_get(log, count - 2), "input_ended")));
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(log, count - 1), "signal")),
		SIGTERM);
}

/* --- processes that are left --- */

WITH_CHILD(a_grandchild_in_a_session_of_its_own_ends_with_the_client)
{
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "fork", "{}");
	const pid_t grandchild = pid_of(&outcome);
	assert_false(is_gone(grandchild));

	wfs_outside_free(WFS_STEAL(fixture->outside));

	expect_gone(fixture, grandchild);
}

WITH_CHILD(a_grandchild_ends_with_the_server)
{
	outside_open(fixture, "", "");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "fork", "{}");
	const pid_t grandchild = pid_of(&outcome);

	AUTO_OUTSIDE struct outside_outcome dead = outside_ask(fixture, "die", "{}");

	expect_gone(fixture, grandchild);
}

WITH_CHILD(a_server_that_ignores_signals_ends_with_the_client)
{
	outside_open(fixture, "ignores_term", "");
	AUTO_OUTSIDE struct outside_outcome outcome = outside_ask(fixture, "descriptors", "{}");
	WFS_AUTO_JSON json_t *found = answer_of(&outcome);
	const pid_t server = (pid_t)json_integer_value(json_object_get(found, "pid"));

	wfs_outside_free(WFS_STEAL(fixture->outside));

	expect_gone(fixture, server);
}

/* Everything that the killed process had started is gone soon. */
WITH_CHILD(all_processes_end_when_this_process_is_killed)
{
	int ends[2];
	pid_t pids[2] = {0, 0};
	assert_int_equal(pipe(ends), 0);
	const pid_t daemon = fork();

	if (daemon == 0) { /* has a loop of its own */
		struct outside_fixture *mine = NULL;

		if (outside_child_setup((void **)&mine))
			_exit(1);
		outside_open(mine, "ignores_term", "");
		AUTO_OUTSIDE struct outside_outcome forked = outside_ask(mine, "fork", "{}");
		AUTO_OUTSIDE struct outside_outcome self = outside_ask(mine, "descriptors", "{}");
		pids[0] = pid_of(&forked);
		WFS_AUTO_JSON json_t *found = answer_of(&self);
		pids[1] = (pid_t)json_integer_value(json_object_get(found, "pid"));
		(void)write(ends[1], pids, sizeof(pids));
		(void)uv_run(&mine->loop, UV_RUN_DEFAULT);
		_exit(1);
	}
	assert_int_equal(read(ends[0], pids, sizeof(pids)), sizeof(pids));
	assert_false(is_gone(pids[0]));
	assert_false(is_gone(pids[1]));

	assert_int_equal(kill(daemon, SIGKILL), 0);

	assert_int_equal(waitpid(daemon, NULL, 0), daemon);
	expect_gone(fixture, pids[0]);
	expect_gone(fixture, pids[1]);
	close(ends[0]);
	close(ends[1]);
}
