/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-Schema-Test-Suite, 2020-12 (tests/data/json-schema-suite): each case gives the answer that
 * the suite expects, except for the cases in the file `differs`, which must give another answer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/fixture/schema.h"

#include "kernel/base/file.h"

#define DIRECTORY SOURCE_ROOT "/tests/data/json-schema-suite/"

enum { FILE_SIZE_MAX = 1 << 20 };

struct tally {
	unsigned cases;
	unsigned agreeing;
	unsigned surprises;
	json_t *known; /* lines of `differs` whose case did not come yet */
};

static void read_whole(const char *path, struct wfs_buffer *text)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || wfs_file_read(fd, FILE_SIZE_MAX, text) < 0)
		fail_msg("%s cannot be read", path);
	close(fd);
}

/* Reads the lines of `differs`; a line with `#` is a reason. */
static json_t *read_known(void)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	json_t *const known = json_object();
	char *rest;

	read_whole(DIRECTORY "differs", &text);
	wfs_buffer_append_byte(&text, '\0');
	for (char *line = strtok_r(text.data, "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] != '#')
			assert_int_equal(json_object_set_new(known, line, json_true()), 0);
	}
	return known;
}

/* Notes a case in which we do not agree with the suite. */
static void differ(struct tally *tally, struct wfs_buffer *line)
{
	while (line->size > 0 && line->data[line->size - 1] == ' ')
		line->size--;
	if (json_object_del(tally->known, wfs_buffer_text(line)) == 0)
		return;
	print_error("not in differs: %s\n", wfs_buffer_text(line));
	tally->surprises++;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void try_case(
	struct tally *tally, const struct wfs_schema *schema, const json_t *test, const char *group)
{
	const bool valid = json_is_true(json_object_get(test, "valid"));
	const int r = wfs_schema_check(schema, json_object_get(test, "data"), NULL);
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};

	if ((r == 0) == valid) {
		tally->agreeing++;
		return;
	}
	wfs_buffer_printf(&line, "%s %s: %s", r == 0 ? "fits" : "does not fit", group,
		text_of(test, "description"));
	differ(tally, &line);
}

static void try_group(struct tally *tally, const json_t *group, const char *file)
{
	const json_t *const tests = json_object_get(group, "tests");
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	const json_t *test;
	size_t index;

	tally->cases += (unsigned)json_array_size(tests);
	wfs_buffer_printf(&name, "%s: %s", file, text_of(group, "description"));
	if (wfs_schema_new(json_object_get(group, "schema"), NULL, "", &problems, &schema) != 0) {
		wfs_buffer_printf(&line, "refused %s", wfs_buffer_text(&name));
		differ(tally, &line);
		return;
	}
	json_array_foreach(tests, index, test)
		try_case(tally, schema, test, wfs_buffer_text(&name));
}

static void try_file(struct tally *tally, const char *directory, const char *file)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *groups = NULL;
	struct wfs_error error = {0};
	const json_t *group;
	size_t index;

	wfs_buffer_printf(&path, "%s%s/%s", DIRECTORY, directory, file);
	read_whole(wfs_buffer_text(&path), &text);
	if (wfs_json_parse(text.data, text.size, &groups, &error) != 0)
		fail_msg("%s: %s", file, error.message);
	wfs_buffer_reset(&path);
	wfs_buffer_printf(&path, "%s/%s", directory, file);
	json_array_foreach(groups, index, group)
		try_group(tally, group, wfs_buffer_text(&path));
}

static int is_json(const struct dirent *entry)
{
	return strstr(entry->d_name, ".json") != NULL;
}

static void try_directory(struct tally *tally, const char *directory)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	struct dirent **entries;
	int count;

	wfs_buffer_printf(&path, "%s%s", DIRECTORY, directory);
	count = scandir(wfs_buffer_text(&path), &entries, is_json, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		try_file(tally, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

TEST(cases_of_the_suite_have_the_answers_that_it_wants)
{
	WFS_AUTO_JSON json_t *known = read_known();
	struct tally required = {.known = known};
	struct tally optional = {.known = known};
	const char *line;
	json_t *unused;

	try_directory(&required, "required");
	try_directory(&optional, "optional");

	print_message("required: %u of %u, optional: %u of %u\n", required.agreeing, required.cases,
		optional.agreeing, optional.cases);
	json_object_foreach(known, line, unused)
		print_error("in differs, but agrees: %s\n", line);
	assert_int_equal(json_object_size(known), 0);
	assert_int_equal(required.surprises + optional.surprises, 0);
	assert_int_equal(required.cases, 1299);
}
