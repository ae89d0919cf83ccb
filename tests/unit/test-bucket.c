/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of buckets, against a service that checks signatures and makes every mistake
 * (tests/bucket/service.py): the first name below the bucket is the mistake. tests/bucket has the
 * tests with a service that is not ours.
 */
#include "tests/fixture/bucket.h"
#include "tests/fixture/etcd.h"
#include "tests/fixture/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/clock.h"
#include "kernel/base/encode.h"

enum { NS_PER_MS = 1000000 };

#define MIB ((size_t)1 << 20)

static struct bucket_fixture service;

static int group_begin(void **state)
{
	(void)state;
	bucket_start(&service);
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	bucket_stop(&service);
	return 0;
}

TEST_GROUP(group_begin, group_end)

/* A client whose objects meet this mistake. */
static struct wfs_bucket *client(const char *mistake, const struct wfs_bucket_options *options)
{
	static int number;
	char path[64];

	snprintf(path, sizeof(path), "bucket/%s/%d", mistake, ++number);
	return bucket_client(&service, path, options);
}

#define ANY (&(struct wfs_bucket_options){.url = NULL})

static int64_t now_ms(void)
{
	return wfs_clock_monotonic_ns() / NS_PER_MS;
}

static int get(struct wfs_bucket *bucket, const struct bucket_object *object, int fd,
	struct wfs_error *error)
{
	return wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object->hash, fd, 64 * MIB, error);
}

static int has(struct wfs_bucket *bucket, const struct bucket_object *object, uint64_t *ret_size,
	struct wfs_error *error)
{
	return wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object->hash, ret_size, error);
}

/* Fails the test if the message has a byte that moves a terminal, or a part of the secret. */
static void expect_clean(const struct wfs_error *error)
{
	char copy[WFS_ERROR_MESSAGE_SIZE];

	snprintf(copy, sizeof(copy), "%s", error->message);
	wfs_line_clean(copy, strlen(copy));
	assert_string_equal(error->message, copy);
	assert_null(strstr(error->message, "secret"));
}

/* Puts an object where a mistake is made, and gets another: each has this error. */
static void expect_failure(const char *mistake, int64_t timeout_ms, int r, enum wfs_error_code code)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client(mistake, &(struct wfs_bucket_options){.timeout_ms = timeout_ms});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(100, 1);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};

	print_message("%s\n", mistake);
	assert_int_equal(bucket_put(bucket, &object, &error), r);
	assert_int_equal(error.code, code);
	expect_clean(&error);
	print_message("  %s\n", error.message);
	assert_int_equal(get(bucket, &object, fd, &error), r);
	assert_int_equal(error.code, code);
	expect_clean(&error);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
}

static void expect_refusal(const char *mistake, int r, enum wfs_error_code code)
{
	expect_failure(mistake, 20000, r, code);
}

/* --- objects --- */

static void expect_round_trip(size_t size)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(size, 1);
	WFS_AUTO_FD int fd = bucket_file(&service);
	uint64_t found = 1234;

	assert_int_equal(has(bucket, &object, &found, NULL), -ENOENT);
	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(has(bucket, &object, &found, NULL), 0);
	assert_int_equal(found, size);
	assert_int_equal(get(bucket, &object, fd, NULL), 0);
	bucket_expect_file(fd, 0, &object);
}

TEST(an_object_without_bytes_comes_back)
{
	expect_round_trip(0);
}

TEST(an_object_of_one_byte_comes_back)
{
	expect_round_trip(1);
}

TEST(an_object_of_20_mib_comes_back)
{
	expect_round_trip(20 * MIB);
}

TEST(an_object_is_put_from_a_file_and_got_at_a_position)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(3 * MIB, 2);
	WFS_AUTO_FD int from = bucket_file(&service);
	WFS_AUTO_FD int to = bucket_file(&service);

	assert_int_equal(write(from, object.bytes.data, object.bytes.size), object.bytes.size);
	assert_int_equal(
		wfs_bucket_put(bucket, WFS_BUCKET_SEGMENT, &object.hash,
			&(struct wfs_bucket_source){.fd = from, .size = object.bytes.size}, NULL),
		0);
	assert_int_equal(lseek(from, 0, SEEK_CUR), object.bytes.size);
	assert_int_equal(write(to, "before", 6), 6);
	assert_int_equal(wfs_bucket_get(bucket, WFS_BUCKET_SEGMENT, &object.hash, to,
				 object.bytes.size, NULL),
		0);

	bucket_expect_file(to, 6, &object);
}

TEST(a_call_may_have_years)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("plain", &(struct wfs_bucket_options){.timeout_ms = 1000000000000});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 31);

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
}

TEST(kinds_have_names_of_their_own)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(10, 3);
	struct wfs_error error = {0};
	uint64_t size = 0;

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);

	assert_int_equal(
		wfs_bucket_has(bucket, WFS_BUCKET_SEGMENT, &object.hash, &size, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
}

TEST(putting_again_does_no_harm)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 4);
	WFS_AUTO_FD int fd = bucket_file(&service);

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(get(bucket, &object, fd, NULL), 0);

	bucket_expect_file(fd, 0, &object);
}

/* The connection that the first put has used ends under the second, and under the question. */
static void expect_repeated_put(size_t object_size)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("reused", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(object_size, 5);
	const int before = bucket_log_count(&service, "/reused/");
	uint64_t size = 0;

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(has(bucket, &object, &size, NULL), 0);
	assert_int_equal(size, object_size);
	assert_int_equal(bucket_log_count(&service, "/reused/"), before + 5);
}

TEST(a_put_is_repeated_if_its_connection_had_ended)
{
	expect_repeated_put(2 * MIB);
}

TEST(a_put_is_repeated_from_its_first_byte)
{
	expect_repeated_put(1000); /* curl does not wait for "100 Continue" */
}

TEST(bytes_without_their_hash_are_not_stored)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	static const size_t sizes[] = {0, 1, 3 * MIB};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++) {
		AUTO_OBJECT struct bucket_object object = bucket_object_make(sizes[i], 6);
		struct wfs_error error = {0};
		uint64_t size = 0;

		print_message("%zu bytes\n", sizes[i]);
		object.hash.bytes[0] ^= 1;
		assert_int_equal(bucket_put(bucket, &object, &error), -EIO);
		assert_int_equal(error.code, WFS_E_HASH_MISMATCH);
		assert_int_equal(has(bucket, &object, &size, &error), -ENOENT);
	}
}

TEST(a_file_that_is_shorter_than_its_size_is_not_stored)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 7);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};

	assert_int_equal(write(fd, object.bytes.data, 999), 999);
	assert_int_equal(wfs_bucket_put(bucket, WFS_BUCKET_BLOB, &object.hash,
				 &(struct wfs_bucket_source){.fd = fd, .size = 1000}, &error),
		-EIO);
	assert_int_equal(error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(error.message, "of 1000 bytes to put, got one of 999"));
}

TEST(a_file_that_cannot_be_read_is_named)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 8);
	WFS_AUTO_FD int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct wfs_error error = {0};

	assert_int_equal(wfs_bucket_put(bucket, WFS_BUCKET_BLOB, &object.hash,
				 &(struct wfs_bucket_source){.fd = fd, .size = 1000}, &error),
		-EISDIR);
	assert_non_null(strstr(error.message, "read the bytes to put"));
}

TEST(a_file_that_cannot_be_written_is_named)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 9);
	WFS_AUTO_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int ends[2];
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_true(get(bucket, &object, fd, &error) < 0);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(get(bucket, &object, ends[1], &error), -ESPIPE);
	close(ends[0]);
	close(ends[1]);
}

TEST(an_object_beyond_the_bound_of_s3_is_not_sent)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("too-long", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 10);
	struct wfs_error error = {0};

	assert_int_equal(wfs_bucket_put(bucket, WFS_BUCKET_BLOB, &object.hash,
				 &(struct wfs_bucket_source){.data = object.bytes.data,
					 .size = WFS_BUCKET_OBJECT_MAX + 1},
				 &error),
		-EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_int_equal(bucket_log_count(&service, "/too-long/"), 0);
}

TEST(an_object_has_at_most_as_many_bytes_as_are_wanted)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 11);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(
		wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object.hash, fd, 999, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(
		wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object.hash, fd, 1000, &error), 0);
}

/* --- refusals --- */

TEST(what_is_missing_is_not_found)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 12);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};
	uint64_t size = 0;

	assert_int_equal(get(bucket, &object, fd, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
	assert_non_null(strstr(error.message, "NoSuchKey: The specified key does not exist."));
	error = (struct wfs_error){0};
	assert_int_equal(has(bucket, &object, &size, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
}

TEST(a_missing_bucket_is_no_missing_object)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		bucket_client(&service, "other-bucket/plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 13);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};
	uint64_t size = 0;

	assert_int_equal(bucket_put(bucket, &object, &error), -EINVAL);
	assert_non_null(strstr(error.message, "NoSuchBucket"));
	assert_int_equal(get(bucket, &object, fd, &error), -EINVAL);
	assert_int_equal(has(bucket, &object, &size, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	assert_non_null(strstr(error.message, "/other-bucket' does not exist"));
}

TEST(keys_and_regions_that_are_wrong_are_refused)
{
	static const struct {
		struct wfs_bucket_options options;
		const char *said;
	} cases[] = {
		{{.secret = "another-secret"}, "SignatureDoesNotMatch"},
		{{.access_key = "SOMEBODY"}, "InvalidAccessKeyId"},
		{{.region = "us-east-1"}, "expecting 'eu-test-1'"},
	};
	AUTO_OBJECT struct bucket_object object = bucket_object_make(2 * MIB, 14);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", &cases[i].options);
		WFS_AUTO_FD int fd = bucket_file(&service);
		struct wfs_error error = {0};
		uint64_t size = 0;

		print_message("%s\n", cases[i].said);
		assert_int_equal(bucket_put(bucket, &object, &error), -EACCES);
		assert_int_equal(error.code, WFS_E_NOT_AUTHORIZED);
		assert_non_null(strstr(error.message, cases[i].said));
		expect_clean(&error);
		assert_int_equal(get(bucket, &object, fd, &error), -EACCES);
		/* HEAD has a status only; that of a wrong region is 400. */
		assert_int_equal(has(bucket, &object, &size, &error), i == 2 ? -EINVAL : -EACCES);
		expect_clean(&error);
	}
}

TEST(a_clock_that_is_wrong_is_named)
{
	static const char *const cases[][2] = {
		{"ahead", "s later than this one"}, {"behind", "s earlier than this one"}};
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 15);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(cases[i][0], ANY);
		struct wfs_error error = {0};
		uint64_t size = 0;

		print_message("%s\n", cases[i][0]);
		assert_int_equal(bucket_put(bucket, &object, &error), -EACCES);
		assert_non_null(strstr(error.message, "RequestTimeTooSkewed"));
		assert_non_null(strstr(error.message, cases[i][1]));
		assert_int_equal(has(bucket, &object, &size, &error), -EACCES);
		assert_non_null(strstr(error.message, cases[i][1]));
	}
}

TEST(refusals_have_the_errors_that_the_header_lists)
{
	expect_refusal("full", -ENOSPC, WFS_E_STORE_FULL);
	expect_refusal("quota", -ENOSPC, WFS_E_STORE_FULL);
	expect_refusal("too-large", -EFBIG, WFS_E_TOO_LARGE);
	expect_refusal("denied", -EACCES, WFS_E_NOT_AUTHORIZED);
	expect_refusal("echo", -EACCES, WFS_E_NOT_AUTHORIZED);
	expect_refusal("invalid", -EINVAL, WFS_E_INVALID_ARGUMENT);
	/* These are repeated until the time is over. */
	expect_failure("slow-down", 2000, -EAGAIN, WFS_E_UNAVAILABLE);
	expect_failure("busy", 2000, -EAGAIN, WFS_E_UNAVAILABLE);
	expect_failure("internal", 2000, -ETIMEDOUT, WFS_E_TIMEOUT);
	expect_failure("gateway", 2000, -ETIMEDOUT, WFS_E_TIMEOUT);
}

TEST(answers_that_are_not_of_s3_are_named)
{
	expect_refusal("html", -EIO, WFS_E_INTERNAL_ERROR);
	expect_refusal("not-http", -EIO, WFS_E_INTERNAL_ERROR);
	expect_refusal("status", -EIO, WFS_E_INTERNAL_ERROR);
	expect_refusal("long-code", -EIO, WFS_E_INTERNAL_ERROR);
	expect_refusal("broken-xml-404", -EIO, WFS_E_INTERNAL_ERROR);
	expect_refusal("broken-xml", -EACCES, WFS_E_NOT_AUTHORIZED);
	expect_refusal("endless-error", -EIO, WFS_E_INTERNAL_ERROR);
}

TEST(messages_of_a_service_do_not_reach_the_terminal_as_they_are)
{
	expect_refusal("terminal", -EINVAL, WFS_E_INVALID_ARGUMENT);
	expect_refusal("bytes", -EINVAL, WFS_E_INVALID_ARGUMENT);
	expect_refusal("long-message", -EINVAL, WFS_E_INVALID_ARGUMENT);
}

TEST(redirects_are_not_followed)
{
	expect_refusal("redirect", -EINVAL, WFS_E_INVALID_ARGUMENT);
	assert_int_equal(bucket_log_count(&service, "/redirect/"), 2);
	assert_int_equal(bucket_log_count(&service, "/elsewhere/"), 0);
}

TEST(an_object_without_a_size_is_named)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("no-length", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(10, 16);
	struct wfs_error error = {0};
	uint64_t size = 0;

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(has(bucket, &object, &size, &error), -EIO);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
}

/* --- repetitions --- */

TEST(a_service_that_asks_for_less_is_asked_again)
{
	static const char *const cases[][2] = {{"slow-down-2", "503"}, {"internal-1", "500"},
		{"gateway-1", "502"}, {"busy-1", "429"}, {"aborted-1", "409"}};
	AUTO_OBJECT struct bucket_object object = bucket_object_make(2 * MIB, 17);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(cases[i][0], ANY);
		WFS_AUTO_FD int fd = bucket_file(&service);
		char line[32];
		uint64_t size = 0;

		print_message("%s\n", cases[i][0]);
		assert_int_equal(bucket_put(bucket, &object, NULL), 0);
		assert_int_equal(get(bucket, &object, fd, NULL), 0);
		bucket_expect_file(fd, 0, &object);
		snprintf(line, sizeof(line), "/%s/", cases[i][0]);
		assert_int_equal(bucket_log_count(&service, line), i == 0 ? 6 : 4);
		if (i != 4) /* HEAD has no code */
			assert_int_equal(has(bucket, &object, &size, NULL), 0);
	}
}

TEST(repetitions_end_with_the_time_of_the_call)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("slow-down", &(struct wfs_bucket_options){.timeout_ms = 2000});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 18);
	const int before = bucket_log_count(&service, "/slow-down/");
	const int64_t begin_ms = now_ms();

	assert_int_equal(bucket_put(bucket, &object, NULL), -EAGAIN);
	assert_true(now_ms() - begin_ms < 4000);
	assert_in_range(bucket_log_count(&service, "/slow-down/") - before, 2, 8);
}

/* --- the end of a call --- */

static bool stop_after(void *context)
{
	int *const left = context;

	return --*left < 0;
}

TEST(a_pause_can_be_stopped)
{
	int left = 20;
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(
		"slow-down", &(struct wfs_bucket_options){.stop = stop_after, .context = &left});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 19);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -EINTR);
	assert_int_equal(error.code, WFS_E_CANCELLED);
}

TEST(a_transfer_can_be_stopped)
{
	int left = 1000000;
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("stall", &(struct wfs_bucket_options){.stop = stop_after, .context = &left});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(2 * MIB, 20);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	left = 10;
	assert_int_equal(get(bucket, &object, fd, &error), -EINTR);
	assert_int_equal(error.code, WFS_E_CANCELLED);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
}

TEST(a_transfer_without_progress_ends)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("stall", &(struct wfs_bucket_options){.stall_ms = 300});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(2 * MIB, 21);
	WFS_AUTO_FD int fd = bucket_file(&service);
	const int64_t begin_ms = now_ms();
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(get(bucket, &object, fd, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.message, "no byte has moved for 300 ms"));
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_true(now_ms() - begin_ms < 10000);
}

TEST(a_service_that_reads_nothing_ends_a_put)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("deaf", &(struct wfs_bucket_options){.stall_ms = 300});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(20 * MIB, 22);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
}

TEST(a_slow_transfer_is_progress_until_its_time_is_over)
{
	AUTO_OBJECT struct bucket_object object = bucket_object_make(60, 23);
	WFS_AUTO_BUCKET struct wfs_bucket *patient =
		client("slow", &(struct wfs_bucket_options){.stall_ms = 900});
	WFS_AUTO_BUCKET struct wfs_bucket *hasty =
		client("slow", &(struct wfs_bucket_options){.timeout_ms = 500});
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(patient, &object, NULL), 0);
	assert_int_equal(get(patient, &object, fd, NULL), 0); /* takes 1.5 s */
	bucket_expect_file(fd, 0, &object);
	assert_int_equal(bucket_put(hasty, &object, NULL), 0);
	assert_int_equal(get(hasty, &object, fd, &error), -ETIMEDOUT);
	bucket_expect_file(fd, 0, &object);
}

TEST(a_service_without_an_answer_may_have_stored_the_object)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client("silent", &(struct wfs_bucket_options){.timeout_ms = 300});
	WFS_AUTO_BUCKET struct wfs_bucket *dropped = client("drop", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 24);

	assert_int_equal(bucket_put(bucket, &object, NULL), -ETIMEDOUT);
	assert_int_equal(bucket_put(dropped, &object, NULL), -ETIMEDOUT);
}

TEST(success_before_the_last_byte_is_none)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("early", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(20 * MIB, 29);
	struct wfs_error error = {0};

	assert_true(bucket_put(bucket, &object, &error) < 0);
	print_message("%s\n", error.message);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
}

TEST(a_service_that_cannot_be_reached_has_stored_nothing)
{
	const struct bucket_fixture nothing = {.port = etcd_free_port()};
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = bucket_client(&nothing, "bucket", ANY);
	WFS_AUTO_BUCKET struct wfs_bucket *unknown = client("plain",
		&(struct wfs_bucket_options){.url = "https://no-such-host.invalid/bucket"});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 25);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	assert_non_null(strstr(error.message, "127.0.0.1"));
	assert_int_equal(bucket_put(unknown, &object, &error), -EAGAIN);
}

/* --- wrong bytes --- */

/* Gets an object behind other bytes of a file: nothing but these bytes are left in it. */
static void expect_no_object(const char *mistake, int r, enum wfs_error_code code)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(mistake, ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(MIB, 26);
	WFS_AUTO_FD int fd = bucket_file(&service);
	struct wfs_error error = {0};
	char kept[7] = "";

	print_message("%s\n", mistake);
	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(write(fd, "before", 6), 6);
	assert_int_equal(
		wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object.hash, fd, 2 * MIB, &error), r);
	print_message("  %s\n", error.message);
	assert_int_equal(error.code, code);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 6);
	assert_int_equal(lseek(fd, 0, SEEK_END), 6);
	assert_int_equal(pread(fd, kept, 6, 0), 6);
	assert_string_equal(kept, "before");
}

TEST(bytes_without_their_hash_are_not_kept)
{
	expect_no_object("wrong", -EIO, WFS_E_HASH_MISMATCH);
	expect_no_object("short", -EIO, WFS_E_HASH_MISMATCH);
	expect_no_object("more", -EIO, WFS_E_HASH_MISMATCH);
}

TEST(half_an_object_is_not_kept)
{
	expect_no_object("half", -ETIMEDOUT, WFS_E_TIMEOUT);
}

TEST(an_endless_object_is_not_kept)
{
	expect_no_object("endless", -EFBIG, WFS_E_TOO_LARGE);
}

TEST(endless_headers_end_the_call)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("endless-headers", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 27);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.message, "Too large response headers"));
}

TEST(bytes_that_are_damaged_on_their_way_are_refused)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("damage", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 28);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -EIO);
	assert_int_equal(error.code, WFS_E_HASH_MISMATCH);
	assert_non_null(strstr(error.message, "XAmzContentSHA256Mismatch"));
}

/* --- options --- */

static int make(const struct wfs_bucket_options *options)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = NULL;
	struct wfs_error error = {0};
	const int r = wfs_bucket_new(options, &bucket, &error);

	if (r)
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	return r;
}

static int make_url(const char *url, bool plain)
{
	print_message("'%s'\n", url);
	return make(&(struct wfs_bucket_options){.url = url,
		.region = "eu-test-1",
		.access_key = "key",
		.secret = "word",
		.plain = plain,
		.timeout_ms = 1000});
}

TEST(an_url_that_is_not_one_is_refused)
{
	static const char *const refused[] = {"", "https://", "https://host", "https://host/",
		"https:///bucket", "https://host/ab", "https://host/Bucket", "https://host/b_cket",
		"https://host/bucket/", "https://host/bucket//a", "https://host/bucket/../a",
		"https://host/bucket/.", "https://host/bucket/a b", "https://host/bucket/a%20b",
		"https://user:word@host/bucket", "https://host/bucket?a", "https://host?a/bucket",
		"https://host:99999/bucket", "ftp://host/bucket", "s3://bucket", "host/bucket",
		"https://host/abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd"};
	static const char *const taken[] = {"https://host/bucket", "https://host:9000/bucket",
		"https://[::1]:9000/bucket/a", "https://host/my.bucket-1/A_b.c-/d"};
	char longest[300] = "https://host/bucket/";

	for (size_t i = 0; i < WFS_ARRAY_COUNT(refused); i++)
		assert_int_equal(make_url(refused[i], true), -EINVAL);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(taken); i++)
		assert_int_equal(make_url(taken[i], false), 0);
	memset(longest + strlen(longest), 'a', WFS_BUCKET_URL_MAX - strlen(longest));
	assert_int_equal(make_url(longest, false), 0);
	longest[WFS_BUCKET_URL_MAX] = 'a';
	assert_int_equal(make_url(longest, false), -EINVAL);
}

TEST(objects_go_unencrypted_only_where_that_is_wanted)
{
	assert_int_equal(make_url("http://example.org/bucket", false), -EINVAL);
	assert_int_equal(make_url("http://127.example.org/bucket", false), -EINVAL);
	assert_int_equal(make_url("http://example.org/bucket", true), 0);
	assert_int_equal(make_url("http://127.0.0.1:9000/bucket", false), 0);
	assert_int_equal(make_url("http://localhost/bucket", false), 0);
}

TEST(other_options_are_checked)
{
	static const struct wfs_bucket_options good = {.url = "https://host/bucket",
		.region = "r",
		.access_key = "k",
		.secret = "s",
		.timeout_ms = 1};
	struct wfs_bucket_options cases[10];
	char long_text[200] = "";

	memset(long_text, 'a', sizeof(long_text) - 1);
	assert_int_equal(make(&good), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++)
		cases[i] = good;
	cases[0].region = "a:b";
	cases[1].region = "";
	cases[2].region = long_text;
	cases[3].access_key = "a/b";
	cases[4].access_key = NULL;
	cases[5].secret = "a\nb";
	cases[6].secret = long_text;
	cases[7].timeout_ms = 0;
	cases[8].timeout_ms = INT64_MAX;
	cases[9].stall_ms = -1;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("case %zu\n", i);
		assert_int_equal(make(&cases[i]), -EINVAL);
	}
}

TEST(a_proxy_is_not_asked_for_loopback)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads the environment */
	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client("plain", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 30);

	assert_int_equal(bucket_put(bucket, &object, NULL), 0);
}

TEST(no_client_is_freed)
{
	wfs_bucket_free(NULL);
}
