/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: what was encoded is decoded, and nothing else is. */
#include "tests/fixture/json.h"

#include <string.h>

#include "kernel/base/hash-text.h"
#include "kernel/value/batch.h"

#define LINES "{\"seq\":7}\n{\"seq\":8}\n"

static void attach(struct wfs_batch *batch, enum wfs_attached_kind kind, const char *text)
{
	assert_int_equal(wfs_batch_attach(batch, kind, wfs_bytes_text(text), NULL), 0);
}

static struct wfs_buffer encoded_in_order(const char *const *texts)
{
	WFS_AUTO_BATCH struct wfs_batch batch = {
		.from = 7, .to = 9, .prev = wfs_hash_of("before", 6)};
	struct wfs_buffer buffer = {0};

	assert_int_equal(wfs_batch_add_line(&batch, wfs_bytes_text("{\"seq\":7}\n"), NULL), 0);
	assert_int_equal(wfs_batch_add_line(&batch, wfs_bytes_text("{\"seq\":8}\n"), NULL), 0);
	for (; *texts; texts++)
		attach(&batch, WFS_ATTACHED_TEXT, *texts);
	attach(&batch, WFS_ATTACHED_BLOB, "one");
	assert_int_equal(wfs_batch_add_request(&batch, "a-1", 7, NULL), 0);
	assert_int_equal(wfs_batch_add_request(&batch, "b-1", 8, NULL), 0);
	assert_int_equal(wfs_batch_encode(&batch, &buffer, NULL), 0);
	return buffer;
}

static struct wfs_buffer encoded(void)
{
	static const char *const texts[] = {"one", "two", "", NULL};

	return encoded_in_order(texts);
}

static int decode(struct wfs_bytes bytes, struct wfs_error *error)
{
	WFS_AUTO_BATCH struct wfs_batch batch = {0};

	return wfs_batch_decode(bytes, &batch, error);
}

TEST(a_batch_comes_back)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = encoded();
	WFS_AUTO_BATCH struct wfs_batch batch = {0};
	const struct wfs_hash prev = wfs_hash_of("before", 6);
	const struct wfs_hash two = wfs_hash_of("two", 3);
	struct wfs_bytes bytes;

	assert_int_equal(wfs_batch_decode(wfs_buffer_bytes(&buffer), &batch, NULL), 0);

	assert_int_equal(batch.from, 7);
	assert_int_equal(batch.to, 9);
	assert_true(wfs_hash_equal(&batch.prev, &prev));
	assert_true(wfs_bytes_equal(batch.lines, wfs_bytes_text(LINES)));
	assert_true(wfs_bytes_equal(wfs_batch_line(&batch, 8), wfs_bytes_text("{\"seq\":8}\n")));
	assert_int_equal(batch.attached_count, 4);
	assert_true(wfs_batch_find(&batch, WFS_ATTACHED_TEXT, &two, &bytes));
	assert_true(wfs_bytes_equal(bytes, wfs_bytes_text("two")));
	assert_false(wfs_batch_find(&batch, WFS_ATTACHED_BLOB, &two, &bytes));
	assert_int_equal(batch.request_count, 2);
	assert_string_equal(batch.requests[1].id, "b-1");
	assert_int_equal(batch.requests[1].seq, 8);
}

/* Replaces a text by one of its size, in a batch. */
static int decode_changed(const char *from, const char *to)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = encoded();
	const size_t size = strlen(from);
	char *const at = memmem(buffer.data, buffer.size, from, size);

	assert_non_null(at);
	assert_int_equal(strlen(to), size);
	memcpy(at, to, size);
	return decode(wfs_buffer_bytes(&buffer), NULL);
}

TEST(requests_have_ids_and_records_of_the_batch_in_order)
{
	assert_int_equal(decode_changed("\"a-1\"", "\"a-1\""), 0);
	assert_int_equal(decode_changed("\"a-1\"", "\"a-2\""), -EINVAL); /* its hash */
	assert_int_equal(decode_changed("\"a-1\"", "\"a/1\""), -EINVAL);
	assert_int_equal(decode_changed("\"seq\":7}", "\"seq\":6}"), -EINVAL);
	assert_int_equal(decode_changed("\"seq\":7}", "\"seq\":8}"), -EINVAL);
	assert_int_equal(decode_changed("\"seq\":8}", "\"seq\":9}"), -EINVAL);
}

TEST(ids_of_requests)
{
	char longest[WFS_BATCH_ID_MAX + 2] = "";

	memset(longest, 'x', WFS_BATCH_ID_MAX);
	assert_true(wfs_batch_id_valid(longest));
	longest[WFS_BATCH_ID_MAX] = 'x';
	assert_false(wfs_batch_id_valid(longest));
	assert_false(wfs_batch_id_valid(""));
	assert_false(wfs_batch_id_valid("a b"));
	assert_false(wfs_batch_id_valid("\""));
}

TEST(equal_batches_are_equal_bytes)
{
	static const char *const texts[] = {"", "two", "one", "two", "one", NULL};
	WFS_AUTO_BUFFER struct wfs_buffer one = encoded();
	WFS_AUTO_BUFFER struct wfs_buffer other = encoded_in_order(texts);

	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&one), wfs_buffer_bytes(&other)));
}

/* The hash of the line before the first is compared with the first record (test-follower.c). */
static bool is_in_prev(const struct wfs_buffer *buffer, size_t at)
{
	const char *const prev = memmem(buffer->data, buffer->size, "\"prev\":\"sha256:", 15);
	const size_t begin = (size_t)(prev - buffer->data) + 15;

	return at >= begin && at < begin + WFS_HASH_HEX_SIZE;
}

TEST(each_flipped_bit_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = encoded();

	for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
		struct wfs_error error = {0};

		if (is_in_prev(&buffer, bit / 8))
			continue;
		buffer.data[bit / 8] = (char)(buffer.data[bit / 8] ^ 1 << bit % 8);
		if (decode(wfs_buffer_bytes(&buffer), &error) != -EINVAL)
			fail_msg("bit %zu of byte %zu is not noticed", bit % 8, bit / 8);
		assert_true(error.message[0]);
		buffer.data[bit / 8] = (char)(buffer.data[bit / 8] ^ 1 << bit % 8);
	}
}

TEST(each_shorter_or_longer_batch_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = encoded();

	for (size_t size = 0; size < buffer.size; size++)
		assert_int_equal(decode(WFS_BYTES(buffer.data, size), NULL), -EINVAL);
	wfs_buffer_append_byte(&buffer, 'x');

	assert_int_equal(decode(wfs_buffer_bytes(&buffer), NULL), -EINVAL);
}

#define ZEROS "sha256:0000000000000000000000000000000000000000000000000000000000000000"
#define TAIL ",'lines_hash':'" ZEROS "','lines_size':0,'prev':'" ZEROS "',"

static void assert_refused(const char *header, const char *message)
{
	WFS_AUTO_FREE char *text = json_text(header);
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	struct wfs_error error = {0};

	wfs_buffer_append_text(&buffer, text);
	wfs_buffer_append_byte(&buffer, '\n');

	assert_int_equal(decode(wfs_buffer_bytes(&buffer), &error), -EINVAL);
	if (!strstr(error.message, message))
		fail_msg("expected '%s' in '%s'", message, error.message);
}

TEST(a_first_line_of_another_form_is_refused_with_a_reason)
{
	assert_refused("[]", "no version");
	assert_refused("{'attached':[],'from':1" TAIL "'to':2,'version':2}", "of version 2");
	assert_refused("{'attached':[],'from':2" TAIL "'to':2,'version':1}", "which records");
	assert_refused("{'attached':[],'from':-1" TAIL "'to':2,'version':1}", "which records");
	assert_refused("{'attached':[],'from':1" TAIL "'to':9000000000000000000,'version':1}",
		"fewer lines");
	assert_refused("{'attached':[{'hash':'" ZEROS "','kind':'other','size':0}],'from':1" TAIL
		       "'to':2,'version':1}",
		"unknown kind");
	assert_refused("{'attached':[{'hash':'" ZEROS "','kind':'blob','size':-1}],'from':1" TAIL
		       "'to':2,'version':1}",
		"without hash or size");
	assert_refused("{'attached':[{'hash':'" ZEROS "','kind':'blob','size':1},{'hash':'" ZEROS
		       "','kind':'blob','size':1}],'from':1" TAIL "'to':2,'version':1}",
		"not sorted");
}

TEST(a_batch_has_bounds)
{
	WFS_AUTO_BATCH struct wfs_batch batch = {.from = 1, .to = 2};
	struct wfs_error error = {0};
	const struct wfs_bytes huge = {"", (size_t)WFS_BATCH_SIZE_MAX + 1};

	assert_int_equal(wfs_batch_add_line(&batch, huge, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_int_equal(wfs_batch_attach(&batch, WFS_ATTACHED_BLOB, huge, NULL), -EFBIG);
	assert_int_equal(decode(huge, NULL), -EFBIG);
	for (int i = 0; i < WFS_BATCH_ATTACHED_MAX; i++)
		attach(&batch, WFS_ATTACHED_TEXT, "");
	assert_int_equal(
		wfs_batch_attach(&batch, WFS_ATTACHED_TEXT, wfs_bytes_text(""), &error), -EFBIG);
}

TEST(an_empty_batch_is_freed)
{
	struct wfs_batch batch = {0};

	wfs_batch_done(&batch);
}
