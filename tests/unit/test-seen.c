/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that were seen: an event with `dedup` is recorded once for each value of a member. */
#include "kernel/fold/seen.h"

#include <inttypes.h>
#include <semaphore.h>

#include "tests/fixture/restore.h"

#define KEYED(key) "{'key':'cell','op':'set','n':1,'id':" key "}"

enum { AT_ONCE = 64 };

/* Sends a test/Do@1 event. @ret_seq: UINT64_MAX: it was not recorded */
static int send_as(struct world_fixture *fixture, const char *principal, const char *member,
	const char *value, uint64_t *ret_seq)
{
	WFS_AUTO_FREE char *text = json_text(value);
	WFS_AUTO_JSON json_t *json = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &json, NULL), 0);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = principal,
		.event = {.schema = "test/Do@1", .value = json, .dedup = member},
	};
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	assert_null(request.answer);
	*ret_seq = request.seq;
	return r;
}

static bool is_recorded(struct world_fixture *fixture, const char *value)
{
	const uint64_t height = height_of(fixture);
	uint64_t seq;

	assert_int_equal(send_as(fixture, "tester", "id", value, &seq), 0);
	assert_int_equal(seq == UINT64_MAX, height_of(fixture) == height);
	return seq != UINT64_MAX;
}

IN_WORLD(an_event_is_recorded_once_for_a_key)
{
	assert_true(is_recorded(fixture, KEYED("'a'")));
	assert_false(is_recorded(fixture, KEYED("'a'")));
	assert_true(is_recorded(fixture, KEYED("'b'")));
	assert_false(is_recorded(fixture, "{'key':'other','op':'set','n':9,'id':'a'}"));
	assert_state(fixture, "cell", "other", NULL);
}

IN_WORLD(a_world_that_was_closed_knows_its_keys)
{
	assert_true(is_recorded(fixture, KEYED("'a'")));

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_false(is_recorded(fixture, KEYED("'a'")));
	assert_sound(fixture);
}

IN_WORLD(a_copy_of_the_world_knows_its_keys)
{
	assert_true(is_recorded(fixture, KEYED("'a'")));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	(void)restore(fixture);

	assert_false(is_recorded(fixture, KEYED("'a'")));
	assert_true(is_recorded(fixture, KEYED("'b'")));
}

IN_WORLD(a_text_is_another_key_than_a_number)
{
	assert_true(is_recorded(fixture, KEYED("'1'")));
	assert_true(is_recorded(fixture, KEYED("1")));
	assert_false(is_recorded(fixture, KEYED("1")));
}

IN_WORLD(keys_belong_to_a_principal_and_a_member)
{
	uint64_t seq;

	assert_true(is_recorded(fixture, KEYED("'a'")));
	assert_int_equal(send_as(fixture, "other", "id", KEYED("'a'"), &seq), 0);
	assert_int_not_equal(seq, UINT64_MAX);
	assert_int_equal(send_as(fixture, "tester", "op", KEYED("'a'"), &seq), 0);
	assert_int_not_equal(seq, UINT64_MAX);
	assert_int_equal(send_as(fixture, "tester", "op", KEYED("'c'"), &seq), 0);
	assert_int_equal(seq, UINT64_MAX);
}

IN_WORLD(a_member_of_a_member_can_be_the_key)
{
	uint64_t seq;

	assert_int_equal(send_as(fixture, "tester", "id.n", KEYED("{'n':1,'m':1}"), &seq), 0);
	assert_int_not_equal(seq, UINT64_MAX);
	assert_int_equal(send_as(fixture, "tester", "id.n", KEYED("{'n':1,'m':2}"), &seq), 0);
	assert_int_equal(seq, UINT64_MAX);
}

IN_WORLD(an_event_without_the_member_is_refused)
{
	static const char *const values[] = {"{'key':'cell','op':'set','n':1}", KEYED("null"),
		KEYED("1.5"), KEYED("[1]"), KEYED("{}"), KEYED("true")};
	uint64_t seq;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(values); i++) {
		const uint64_t height = height_of(fixture);

		print_message("%s\n", values[i]);
		assert_int_equal(send_as(fixture, "tester", "id", values[i], &seq), -EINVAL);
		assert_int_equal(fixture->error.code, WFS_E_INVALID_ARGUMENT);
		assert_int_equal(height_of(fixture), height);
	}
	assert_string_equal(fixture->error.message,
		"'dedup': expected the member 'id' of the event to be a text or an integer");
}

IN_WORLD(the_key_of_an_event_that_fails_is_not_remembered)
{
	uint64_t seq;

	assert_int_equal(
		send_as(fixture, "tester", "id", "{'key':'x','op':'fail','id':'a'}", &seq), -EIO);
	assert_true(is_recorded(fixture, KEYED("'a'")));
}

IN_WORLD(a_timer_that_fires_is_refused_an_event_with_a_known_key)
{
	WFS_AUTO_FREE char *text = json_text(KEYED("'a'"));
	WFS_AUTO_JSON json_t *value = NULL;

	assert_true(is_recorded(fixture, KEYED("'a'")));
	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.event = {.schema = "test/Do@1", .value = value, .dedup = "id"},
		.fired = {.timer = "hourly", .due_ns = 1},
	};

	assert_int_equal(wfs_world_call(fixture->world, &request), -EEXIST);
	assert_int_equal(request.error.code, WFS_E_ALREADY_EXISTS);
}

static void answered(struct wfs_request *request)
{
	assert_int_equal(sem_post(request->context), 0);
}

IN_WORLD(of_events_with_one_key_at_once_one_is_recorded)
{
	WFS_AUTO_FREE char *text = json_text(KEYED("'a'"));
	struct wfs_request requests[AT_ONCE];
	WFS_AUTO_JSON json_t *value = NULL;
	size_t recorded = 0;
	sem_t done;

	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	assert_int_equal(sem_init(&done, 0, 0), 0);
	for (size_t i = 0; i < AT_ONCE; i++) {
		requests[i] = (struct wfs_request){
			.kind = WFS_REQUEST_EVENT,
			.principal = "tester",
			.event = {.schema = "test/Do@1", .value = value, .dedup = "id"},
			.done = answered,
			.context = &done,
		};
		assert_int_equal(wfs_world_submit(fixture->world, &requests[i]), 0);
	}
	for (size_t i = 0; i < AT_ONCE; i++)
		assert_int_equal(sem_wait(&done), 0);

	for (size_t i = 0; i < AT_ONCE; i++) {
		assert_int_equal(requests[i].result, 0);
		recorded += requests[i].seq != UINT64_MAX;
	}
	assert_int_equal(recorded, 1);
	assert_int_equal(sem_destroy(&done), 0);
	assert_sound(fixture);
}

/* Computes which bucket the text key has, as the header says. */
static uint32_t bucket_of(const char *key)
{
	char text[128];
	const int size =
		snprintf(text, sizeof(text), "[\"tester\",\"test/Do@1\",\"id\",\"%s\"]", key);
	const struct wfs_hash hash = wfs_hash_of(text, (size_t)size);

	return ((uint32_t)hash.bytes[0] << 16 | hash.bytes[1] << 8 | hash.bytes[2]) % SEEN_BUCKETS;
}

/* Finds the next key that has the bucket. @number: where to begin; becomes that of the key */
static void find_key(uint32_t bucket, uint64_t *number, char ret_key[static 32])
{
	do {
		snprintf(ret_key, 32, "k%" PRIu64, ++*number);
	} while (bucket_of(ret_key) != bucket);
}

static size_t keys_in(struct world_fixture *fixture, uint32_t bucket)
{
	const char *const schema = "test/Do@1";
	const struct wfs_hash hash = wfs_hash_of(schema, strlen(schema));
	char hex[WFS_HASH_HEX_SIZE + 1];
	char key[64];

	wfs_hash_hex(&hash, hex);
	snprintf(key, sizeof(key), "tester/%.16s-%05" PRIx32, hex, bucket);
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.seen", key);
	WFS_AUTO_JSON json_t *state = NULL;
	assert_non_null(text);
	assert_int_equal(wfs_json_parse(text, strlen(text), &state, NULL), 0);
	return json_array_size(json_object_get(state, "keys"));
}

IN_WORLD(a_full_bucket_forgets_its_oldest_key)
{
	const uint32_t bucket = bucket_of("first");
	uint64_t number = 0;
	char value[128];
	char key[32];

	assert_true(is_recorded(fixture, KEYED("'first'")));
	for (size_t i = 1; i <= SEEN_BUCKET_KEYS; i++) {
		assert_int_equal(keys_in(fixture, bucket), i);
		assert_false(is_recorded(fixture, KEYED("'first'")));
		find_key(bucket, &number, key);
		snprintf(value, sizeof(value), KEYED("'%s'"), key);
		assert_true(is_recorded(fixture, value));
	}

	assert_int_equal(keys_in(fixture, bucket), SEEN_BUCKET_KEYS);
	assert_false(is_recorded(fixture, value));
	assert_true(is_recorded(fixture, KEYED("'first'")));
	assert_int_equal(keys_in(fixture, bucket), SEEN_BUCKET_KEYS);
	assert_sound(fixture);
}
