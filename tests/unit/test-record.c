/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of records: canonical text, reading it back, and refusals of anything else. */
#include "tests/fixture/test.h"

#include "kernel/base/json.h"
#include "kernel/read/record.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

#define BODY "{\"schema\":\"t/Do@1\",\"value\":1}"

static const char plain_line[] =
	"{\"at_ns\":-5,\"body\":" BODY ",\"cause\":null,\"changes\":null,\"kind\":\"event\","
	"\"prev\":\"sha256:" ZEROS "\",\"principal\":\"operator\",\"seq\":7,\"v\":1}\n";

static struct wfs_record plain_record(void)
{
	return (struct wfs_record){
		.seq = 7,
		.at_ns = -5,
		.kind = WFS_RECORD_EVENT,
		.principal = "operator",
		.body = wfs_bytes_text(BODY),
	};
}

TEST(a_record_is_written_as_one_line)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	const struct wfs_record record = plain_record();

	wfs_record_write(&buffer, &record);

	assert_string_equal(wfs_buffer_text(&buffer), plain_line);
}

TEST(a_line_is_its_own_canonical_text)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	WFS_AUTO_BUFFER struct wfs_buffer again = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_record record = plain_record();

	record.principal = "a \"quoted\" name\n";
	record.derived = true;
	record.cause = 3;
	record.changed = true;
	record.changes = wfs_hash_of("x", 1);
	wfs_record_write(&line, &record);
	assert_int_equal(wfs_json_parse(line.data, line.size, &json, NULL), 0);
	wfs_json_write_document(json, &again);

	assert_string_equal(wfs_buffer_text(&line), wfs_buffer_text(&again));
}

TEST(a_written_record_is_read_back)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct wfs_record record = plain_record();

	record.prev = wfs_hash_of("before", 6);
	record.derived = true;
	record.cause = 3;
	record.changed = true;
	record.changes = wfs_hash_of("x", 1);
	wfs_record_write(&line, &record);

	assert_int_equal(wfs_record_parse(wfs_buffer_bytes(&line), &parsed, NULL), 0);
	assert_int_equal(parsed.record.seq, 7);
	assert_int_equal(parsed.record.at_ns, -5);
	assert_int_equal(parsed.record.kind, WFS_RECORD_EVENT);
	assert_string_equal(parsed.record.principal, "operator");
	assert_true(parsed.record.derived);
	assert_int_equal(parsed.record.cause, 3);
	assert_true(parsed.record.changed);
	assert_true(wfs_hash_equal(&parsed.record.changes, &record.changes));
	assert_true(wfs_hash_equal(&parsed.record.prev, &record.prev));
	assert_string_equal(parsed.body.event.schema, "t/Do@1");
	assert_int_equal(json_integer_value(parsed.body.event.value), 1);
}

TEST(a_record_without_cause_and_changes_is_read_back)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};

	assert_int_equal(wfs_record_parse(wfs_bytes_text(plain_line), &parsed, NULL), 0);

	assert_false(parsed.record.derived);
	assert_false(parsed.record.changed);
}

TEST(a_record_whose_body_is_of_another_kind_is_refused_and_named)
{
	struct wfs_record_parsed parsed = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct wfs_record record = plain_record();
	struct wfs_error error = {0};

	record.kind = WFS_RECORD_BLOB;
	wfs_record_write(&line, &record);

	assert_int_equal(wfs_record_parse(wfs_buffer_bytes(&line), &parsed, &error), -EIO);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
	assert_string_equal(error.message,
		"the body of record 7, of the kind blob, is damaged: unknown member 'schema' (blob "
		"takes: grant? hash size)");
	assert_null(parsed.json);
}

/* Checks that a line is refused if @from in the plain line is replaced by @to. */
static void assert_refused(const char *from, const char *to)
{
	struct wfs_record_parsed parsed = {0};
	struct wfs_error error = {0};
	char line[sizeof(plain_line) + 100];
	const char *at = strstr(plain_line, from);

	print_message("%s instead of %s\n", to, from);
	assert_non_null(at);
	snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - plain_line), plain_line, to,
		at + strlen(from));
	assert_int_equal(wfs_record_parse(wfs_bytes_text(line), &parsed, &error), -EIO);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
	assert_null(parsed.json);
}

TEST(lines_that_are_no_records_are_refused)
{
	assert_refused("\"v\":1", "\"v\":2");
	assert_refused("\"v\":1", "\"w\":1");
	assert_refused("\"v\":1", "\"v\":1,\"w\":1");
	assert_refused("\"event\"", "\"evil\"");
	assert_refused("\"event\"", "5");
	assert_refused("\"seq\":7", "\"seq\":-7");
	assert_refused("\"seq\":7", "\"seq\":\"7\"");
	assert_refused("\"at_ns\":-5", "\"at_ns\":null");
	assert_refused("\"cause\":null", "\"cause\":\"3\"");
	assert_refused("\"cause\":null", "\"cause\":-3");
	assert_refused("\"changes\":null", "\"changes\":\"abc\"");
	assert_refused("\"changes\":null", "\"chances\":null");
	assert_refused("\"prev\"", "\"pref\"");
	assert_refused("sha256:0", "sha256:");
	assert_refused("sha256:0", "0");
	assert_refused("\"changes\":null", "\"changes\":\"" ZEROS "\"");
	assert_refused("\"operator\"", "7");
	assert_refused("\"operator\"", "\"operator\\u0000x\"");
	assert_refused("\"event\"", "\"event\\u0000x\"");
	assert_refused(BODY, "[1]");
	assert_refused("\"value\":1", "\"valid\":1");
	assert_refused("\"t/Do@1\"", "5");
	assert_refused("}\n", "");
}

TEST(bytes_that_are_no_json_are_refused)
{
	struct wfs_record_parsed parsed = {0};
	struct wfs_error error = {0};
	char junk[1000];

	memset(junk, 0xfe, sizeof(junk));

	assert_int_equal(wfs_record_parse(WFS_BYTES(junk, sizeof(junk)), &parsed, &error), -EIO);
	assert_int_equal(wfs_record_parse(WFS_BYTES(NULL, 0), &parsed, NULL), -EIO);
}

TEST(changes_are_ordered_by_reducer_and_then_by_the_bytes_of_the_key)
{
	static const struct {
		const char *reducer;
		const char *key;
	} ordered[] = {{"a", ""}, {"a", "A"}, {"a", "AB"}, {"a", "B"}, {"a", "\xc3\xa4"},
		{"a.b", ""}, {"ab", ""}};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(ordered); i++) {
		for (size_t j = 0; j < WFS_ARRAY_COUNT(ordered); j++) {
			const int r = wfs_changes_compare(ordered[i].reducer,
				wfs_bytes_text(ordered[i].key), ordered[j].reducer,
				wfs_bytes_text(ordered[j].key));

			print_message("%s %s, %s %s\n", ordered[i].reducer, ordered[i].key,
				ordered[j].reducer, ordered[j].key);
			assert_int_equal((r > 0) - (r < 0), (i > j) - (i < j));
		}
	}
	assert_int_equal(wfs_changes_compare("a", WFS_BYTES(NULL, 0), "a", WFS_BYTES(NULL, 0)), 0);
}

TEST(changes_are_one_canonical_document)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	WFS_AUTO_BUFFER struct wfs_buffer again = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	const struct wfs_hash hash = {0};

	wfs_changes_add(&document, "alpha", WFS_BYTES("", 0), NULL);
	wfs_changes_add(&document, "beta", WFS_BYTES("key", 3), &hash);
	wfs_changes_end(&document);

	assert_string_equal(wfs_buffer_text(&document),
		"[[\"alpha\",\"\",null],[\"beta\",\"a2V5\",\"sha256:" ZEROS "\"]]\n");
	assert_int_equal(wfs_json_parse(document.data, document.size, &json, NULL), 0);
	wfs_json_write_document(json, &again);
	assert_string_equal(wfs_buffer_text(&document), wfs_buffer_text(&again));
}
