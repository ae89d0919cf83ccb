/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a client of a bucket fails once: it is not made, or its call fails. */
#include "tests/fixture/bucket.h"
#include "tests/fixture/malloc.h"
#include "tests/fixture/test.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUNS_MAX = 2000 };

/* Functions of curl that need memory fail like allocations of ours. */
static bool is_short(void)
{
	void *const block = malloc(1);

	free(block);
	return !block;
}

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
CURL *__real_curl_easy_init(void);
CURL *__wrap_curl_easy_init(void);
CURLU *__real_curl_url(void);
CURLU *__wrap_curl_url(void);
struct curl_slist *__real_curl_slist_append(struct curl_slist *list, const char *text);
struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *text);

CURL *__wrap_curl_easy_init(void)
{
	return is_short() ? NULL : __real_curl_easy_init();
}

CURLU *__wrap_curl_url(void)
{
	return is_short() ? NULL : __real_curl_url();
}

struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *text)
{
	return is_short() ? NULL : __real_curl_slist_append(list, text);
}
/* NOLINTEND(readability-identifier-naming) */

/* Makes a client, and makes each of its calls. Return: of the first that fails. */
static int try_all(const struct wfs_bucket_options *options, const struct bucket_object *object,
	const struct bucket_object *missing, int fd)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = NULL;
	uint64_t size = 0;
	int r = wfs_bucket_new(options, &bucket, NULL);

	if (!r) {
		r = wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &missing->hash, &size, NULL);
		r = r == -ENOENT ? 0 : r;
	}
	if (!r)
		r = bucket_put(bucket, object, NULL);
	if (!r)
		r = wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object->hash, &size, NULL);
	if (!r) {
		r = wfs_bucket_get(bucket, WFS_BUCKET_SEGMENT, &object->hash, fd, 1000, NULL);
		r = r == -ENOENT ? 0 : r;
	}
	return r ? r : wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object->hash, fd, 1000, NULL);
}

TEST(each_allocation_may_fail)
{
	struct bucket_fixture service;
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1000, 1);
	AUTO_OBJECT struct bucket_object missing = bucket_object_make(1000, 2);
	char url[64];
	unsigned int n = 1;
	unsigned int failed_count = 0;

	bucket_start(&service);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/bucket/plain", service.port);
	const struct wfs_bucket_options options = {.url = url,
		.region = "eu-test-1",
		.access_key = "AKIDOFTHETESTS",
		.secret = "a/secret+of=the:tests",
		.timeout_ms = 10000};
	for (bool reached = true; reached; n++) {
		WFS_AUTO_FD int fd = bucket_file(&service);

		assert_true(n < RUNS_MAX);
		allocations_until_failure = n;
		const int r = try_all(&options, &object, &missing, fd);
		reached = allocations_until_failure == 0;
		allocations_until_failure = 0;

		assert_true(r == 0 || r == -ENOMEM);
		failed_count += r != 0;
		if (!r)
			bucket_expect_file(fd, 0, &object);
		else
			assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	}

	print_message("%u allocations, %u of which the calls need\n", n - 2, failed_count);
	assert_int_equal(failed_count, n - 2);
	assert_true(failed_count > 15);
	bucket_stop(&service);
}
