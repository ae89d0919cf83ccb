/* SPDX-License-Identifier: Apache-2.0 */
/* The view of a history that is sent. (53, 54 …: cases of research, part 4) */
#include "tests/unit/json-helper.h"

#include "agents/adapter/view.h"

/*
 * A history from a word a message: `s` system, `d` developer, `u` user, `a` assistant, `c` one that
 * calls, with the ids behind it, `t` a result with the id behind it. Contents are the positions.
 */
static json_t *history_of(const char *words)
{
	static const struct {
		char letter;
		const char *role;
	} roles[] = {{'s', "system"}, {'d', "developer"}, {'u', "user"}, {'a', "assistant"},
		{'c', "assistant"}, {'t', "tool"}};
	json_t *const history = json_array();

	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		json_t *const message = json_pack(
			"{s:o}", "content", json_sprintf("%zu", json_array_size(history)));
		json_t *const calls = json_array();
		const size_t size = strcspn(words, " ");

		for (size_t i = 0; i < WFS_ARRAY_COUNT(roles); i++)
			if (roles[i].letter == *words)
				json_object_set_new(message, "role", json_string(roles[i].role));
		for (size_t i = 1; *words == 'c' && i < size; i++)
			json_array_append_new(calls,
				json_pack("{s:s%, s:s}", "id", words + i, (size_t)1, "name", "x"));
		if (*words == 'c')
			json_object_set(message, "tool_calls", calls);
		if (*words == 't')
			json_object_set_new(
				message, "tool_call_id", json_stringn(words + 1, size - 1));
		json_decref(calls);
		json_array_append_new(history, message);
		words += size;
	}
	return history;
}

/* The view as the positions in the history; `!ID` is a result that was made up. */
static void describe(const json_t *messages, struct wfs_buffer *text)
{
	size_t index;
	json_t *message;

	json_array_foreach(messages, index, message)
	{
		const char *const content = json_string_value(json_object_get(message, "content"));

		wfs_buffer_append_text(text, index > 0 ? " " : "");
		if (strcmp(content, "no result recorded") == 0)
			wfs_buffer_printf(text, "!%s",
				json_string_value(json_object_get(message, "tool_call_id")));
		else
			wfs_buffer_append_text(text, content);
	}
}

/* Every result follows its call, every call has its result. Case 63. */
static void assert_paired(const json_t *messages)
{
	WFS_AUTO_JSON json_t *waiting = json_object();
	size_t index;
	json_t *message;

	json_array_foreach(messages, index, message)
	{
		const char *const id = json_string_value(json_object_get(message, "tool_call_id"));
		size_t inner;
		json_t *call;

		if (id) {
			assert_int_equal(json_object_del(waiting, id), 0);
			continue;
		}
		assert_int_equal(json_object_size(waiting), 0);
		json_array_foreach(json_object_get(message, "tool_calls"), inner, call)
		{
			json_object_set(waiting, json_string_value(json_object_get(call, "id")),
				json_true());
		}
	}
	assert_int_equal(json_object_size(waiting), 0);
}

static struct wfs_view_report assert_view_less(
	const char *words, size_t max_count, size_t drop_count, const char *expected)
{
	WFS_AUTO_JSON json_t *history = history_of(words);
	WFS_AUTO_JSON json_t *before = json_deep_copy(history);
	const struct wfs_view_source source = wfs_view_source_array(history);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *messages = NULL;
	struct wfs_view_report report = {0};

	assert_int_equal(
		wfs_view_read(&source, max_count, drop_count, &messages, &report, NULL), 0);
	describe(messages, &text);
	assert_string_equal(wfs_buffer_text(&text), expected);
	assert_paired(messages);
	assert_true(json_equal(history, before)); /* Case 62. */
	assert_int_equal(report.too_long, max_count > 0 && json_array_size(messages) > max_count);
	return report;
}

static void assert_view(const char *words, size_t max_count, const char *expected)
{
	assert_view_less(words, max_count, 0, expected);
}

/* Case 53. */
static void a_long_history_is_cut_to_the_limit_behind_its_system_message(void **state)
{
	(void)state;

	assert_view("s u a u a u a u a", 5, "0 5 6 7 8");
	assert_view("s u a u a", 5, "0 1 2 3 4");
	assert_view("s u a u a", 2, "0 3 4");
}

/* Cases 54 and 55. */
static void calls_and_their_results_are_kept_or_dropped_together(void **state)
{
	(void)state;

	assert_view("s u c123 t1 t2 t3 c4 t4", 8, "0 1 2 3 4 5 6 7");
	assert_view("s u c123 t1 t2 t3 c4 t4", 7, "0 1 6 7");
	assert_view("s u c123 t1 t2 t3 c4 t4", 6, "0 1 6 7");
	assert_view("s u c123 t1 t2 t3 c4 t4", 4, "0 1 6 7");
}

/* Case 56. */
static void the_latest_user_message_stays_at_its_place(void **state)
{
	(void)state;

	assert_view("s u c1 t1 c2 t2 c3 t3", 4, "0 1 6 7");
	assert_view("s u a u c2 t2 a a c3 t3", 5, "0 3 7 8 9");
	assert_view("s u c1 t1 c2 t2 u", 2, "0 6");
	assert_view("s u c1 t1 u", 4, "0 2 3 4");
}

/* Case 57: 1 is no limit that a setup may have; nothing comes twice with it, either. */
static void a_limit_of_one_duplicates_nothing(void **state)
{
	(void)state;

	assert_view("s u c1 t1", 1, "0 1 2 3");
	assert_view("s u", 1, "0 1");
}

/* Case 58. */
static void a_limit_is_zero_or_at_least_two(void **state)
{
	struct wfs_error error = {0};
	(void)state;

	assert_int_equal(wfs_view_check_max(0, &error), 0);
	assert_int_equal(wfs_view_check_max(2, &error), 0);
	assert_int_equal(wfs_view_check_max(1, &error), -EINVAL);
	assert_int_equal(wfs_view_check_max(-1, &error), -EINVAL);
	assert_string_equal(error.message,
		"'max_history_messages': expected 0 (no limit) or at least 2, got -1");
}

/* Case 58. */
static void zero_is_no_limit(void **state)
{
	(void)state;

	assert_view("s u a u a u c1 t1", 0, "0 1 2 3 4 5 6 7");
}

/* Case 59. */
static void a_first_user_message_is_pinned_only_when_it_is_the_latest(void **state)
{
	(void)state;

	assert_view("u a u a", 2, "2 3");
	assert_view("u a a a", 2, "0 3");
}

/* Case 60. */
static void all_leading_system_and_developer_messages_are_kept(void **state)
{
	(void)state;

	assert_view("s d s u a s a a", 5, "0 1 2 3 7");
	assert_view("s s", 0, "0 1");
	assert_view("", 0, "");
}

/* Case 61. */
static void a_newest_group_larger_than_the_limit_is_sent_and_told(void **state)
{
	(void)state;

	const struct wfs_view_report report =
		assert_view_less("s u a c123 t1 t2 t3", 3, 0, "0 1 3 4 5 6");

	assert_true(report.too_long);
}

/* Case 63. */
static void results_without_a_call_are_left_out(void **state)
{
	(void)state;

	assert_view("s t9 u a t9 t8 a", 0, "0 2 3 6");
	assert_view("t9", 0, "");
	assert_view("u c1 t1 t1 t2", 0, "0 1 2");
	assert_view("u c1 a t1", 0, "0 1 !1 2");
}

/* Case 63. */
static void calls_without_a_result_get_one(void **state)
{
	(void)state;

	assert_view("u c123 t2", 0, "0 1 2 !1 !3");
	assert_view("u c1 u", 0, "0 1 !1 2");
	assert_view("u c1 u", 2, "2");
}

static void groups_are_dropped_besides_oldest_first_but_never_the_newest(void **state)
{
	(void)state;

	assert_int_equal(assert_view_less("s u a c1 t1 a", 0, 1, "0 1 3 4 5").dropped_count, 1);
	assert_int_equal(assert_view_less("s u a c1 t1 a", 0, 2, "0 1 5").dropped_count, 2);
	assert_int_equal(assert_view_less("s u a c1 t1 a", 0, 3, "0 1 5").dropped_count, 2);
	assert_int_equal(assert_view_less("s a a u a", 0, 2, "0 3 4").dropped_count, 2);
	assert_int_equal(assert_view_less("s a u a a", 0, 2, "0 2 4").dropped_count, 2);
	assert_int_equal(assert_view_less("s u", 0, 1, "0 1").dropped_count, 0);
}

/* --- reading --- */

struct counted {
	json_t *messages;
	size_t read_count;
	size_t fail_index;
};

static int read_counted(void *context, size_t index, json_t **ret_message, struct wfs_error *error)
{
	struct counted *const counted = context;

	counted->read_count++;
	if (index == counted->fail_index)
		return wfs_error_set(error, WFS_E_RUNTIME_ERROR, "message %zu is gone", index);
	*ret_message = json_incref(json_array_get(counted->messages, index));
	return 0;
}

static void only_what_is_sent_of_a_long_history_is_read(void **state)
{
	WFS_AUTO_BUFFER struct wfs_buffer words = {0};
	WFS_AUTO_JSON json_t *messages = NULL;
	struct wfs_view_report report;
	(void)state;
	wfs_buffer_append_text(&words, "s u");
	for (size_t i = 0; i < 10000; i++)
		wfs_buffer_append_text(&words, " c12 t1 t2");
	struct counted counted = {
		.messages = history_of(wfs_buffer_text(&words)), .fail_index = SIZE_MAX};
	const struct wfs_view_source source = {.count = json_array_size(counted.messages),
		.user_index = 1,
		.read = read_counted,
		.context = &counted};

	assert_int_equal(wfs_view_read(&source, 50, 0, &messages, &report, NULL), 0);

	assert_int_equal(json_array_size(messages), 50);
	assert_in_range(counted.read_count, 50, 56);
	json_decref(counted.messages);
}

static void a_message_that_cannot_be_read_ends_it(void **state)
{
	struct counted counted = {.messages = history_of("s u a a"), .fail_index = 2};
	const struct wfs_view_source source = {
		.count = 4, .user_index = 1, .read = read_counted, .context = &counted};
	struct wfs_view_report report;
	struct wfs_error error = {0};
	json_t *messages = NULL;
	(void)state;

	assert_int_equal(wfs_view_read(&source, 0, 0, &messages, &report, &error), -EIO);

	assert_null(messages);
	assert_string_equal(error.message, "message 2 is gone");
	json_decref(counted.messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_history_is_cut_to_the_limit_behind_its_system_message),
		cmocka_unit_test(calls_and_their_results_are_kept_or_dropped_together),
		cmocka_unit_test(the_latest_user_message_stays_at_its_place),
		cmocka_unit_test(a_limit_of_one_duplicates_nothing),
		cmocka_unit_test(a_limit_is_zero_or_at_least_two),
		cmocka_unit_test(zero_is_no_limit),
		cmocka_unit_test(a_first_user_message_is_pinned_only_when_it_is_the_latest),
		cmocka_unit_test(all_leading_system_and_developer_messages_are_kept),
		cmocka_unit_test(a_newest_group_larger_than_the_limit_is_sent_and_told),
		cmocka_unit_test(results_without_a_call_are_left_out),
		cmocka_unit_test(calls_without_a_result_get_one),
		cmocka_unit_test(groups_are_dropped_besides_oldest_first_but_never_the_newest),
		cmocka_unit_test(only_what_is_sent_of_a_long_history_is_read),
		cmocka_unit_test(a_message_that_cannot_be_read_ends_it),
	};

	return cmocka_run_group_tests_name("adapter-view", tests, NULL, NULL);
}
