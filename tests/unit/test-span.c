/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of JSON values in texts. */
#include "tests/unit/json-helper.h"

#include "kernel/base/span.h"

static size_t span(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);

	return wfs_span_value(wfs_bytes_text(text));
}

/* The members of an object, one a line, and how the list ended. */
static void assert_members(const char *quoted, const char *lines)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_FREE char *expected = json_text(lines);
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	struct wfs_span_object object = wfs_span_object(wfs_bytes_text(text));
	int r;

	while ((r = wfs_span_next(&object)) > 0)
		wfs_buffer_printf(&found, "%.*s=%.*s\n", (int)object.name.size,
			(const char *)object.name.data, (int)object.value.size,
			(const char *)object.value.data);
	wfs_buffer_append_text(&found, r == 0 ? "end" : "broken");
	assert_string_equal(wfs_buffer_text(&found), expected);
}

static void a_value_ends_where_its_bracket_closes(void **state)
{
	(void)state;

	assert_int_equal(span("{'a':[1,{'b':2}]} x"), 17);
	assert_int_equal(span("[] x"), 2);
	assert_int_equal(span("'text' x"), 6);
	assert_int_equal(span("-1.5e+3,"), 7);
}

static void brackets_quotes_and_tags_in_a_string_do_not_count(void **state)
{
	(void)state;

	assert_int_equal(span("{'a':'}</x>'}"), 13);
	assert_int_equal(span("{'a':'\\'}'}"), 11);
	assert_int_equal(span("{'a':'\\\\'}"), 10);
}

static void a_value_that_does_not_end_has_no_size(void **state)
{
	(void)state;

	assert_int_equal(span("{'a':[1,2]"), 0);
	assert_int_equal(span("'text"), 0);
	assert_int_equal(span("'text\\"), 0);
	assert_int_equal(span("{'text"), 0);
	assert_int_equal(span(""), 0);
}

static void what_json_does_not_have_outside_of_strings_ends_the_search(void **state)
{
	(void)state;

	assert_int_equal(span("{<}"), 0);
	assert_int_equal(span("{\\'}"), 0);
	assert_int_equal(span("<"), 0);
}

static void members_are_given_as_they_stand(void **state)
{
	(void)state;

	assert_members("{ 'a' : 1.0 ,\n'b':{ 'c':[ ] } }", "'a'=1.0\n'b'={ 'c':[ ] }\nend");
	assert_members("{}", "end");
	assert_members("{ } ", "end");
}

static void members_of_what_is_no_object_are_refused(void **state)
{
	(void)state;

	assert_members("{'a':1,}", "'a'=1\nbroken");
	assert_members("{'a':1 'b':2}", "'a'=1\nbroken");
	assert_members("{'a' 1}", "broken");
	assert_members("{a:1}", "broken");
	assert_members("{'a':}", "broken");
	assert_members("{,}", "broken");
	assert_members("{'a':1", "'a'=1\nbroken");
	assert_members("{'a':1} x", "'a'=1\nbroken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_ends_where_its_bracket_closes),
		cmocka_unit_test(brackets_quotes_and_tags_in_a_string_do_not_count),
		cmocka_unit_test(a_value_that_does_not_end_has_no_size),
		cmocka_unit_test(what_json_does_not_have_outside_of_strings_ends_the_search),
		cmocka_unit_test(members_are_given_as_they_stand),
		cmocka_unit_test(members_of_what_is_no_object_are_refused),
	};

	return cmocka_run_group_tests_name("adapter-span", tests, NULL, NULL);
}
