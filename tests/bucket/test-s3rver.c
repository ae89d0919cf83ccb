/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client of buckets with s3rver, a service that we did not write. It checks keys and times, but
 * neither signatures of version 4 nor hashes; tests/bucket/service.py checks these. $S3RVER is its
 * program, which the script test-s3rver installs.
 */
#include "tests/fixture/bucket.h"
#include "tests/fixture/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fixture/etcd.h"

#ifndef SOURCE_ROOT /* the build gives it */
#define SOURCE_ROOT "."
#endif

enum { COMMAND_MAX = 24 };

#define MIB ((size_t)1 << 20)

static const char *program(void)
{
	const char *const path = secure_getenv("S3RVER");

	if (!path)
		fail_msg("$S3RVER must be the program of s3rver (test-s3rver installs it)");
	return path;
}

/* @before: a script that node loads first, or NULL; @key, @certificate: of TLS, or NULL */
static void run(struct bucket_fixture *fixture, const char *before, const char *key,
	const char *certificate)
{
	char data[96];
	const char *command[COMMAND_MAX] = {"node"};
	size_t count = 1;

	snprintf(data, sizeof(data), "%s/data", fixture->directory);
	if (before) {
		command[count++] = "--require";
		command[count++] = before;
	}
	const char *const rest[] = {program(), "-d", data, "-a", "127.0.0.1", "-p", "0", "-s",
		"--no-vhost-buckets", "--configure-bucket", "bucket"};
	memcpy(&command[count], rest, sizeof(rest));
	count += WFS_ARRAY_COUNT(rest);
	if (key) {
		command[count++] = "--key";
		command[count++] = key;
		command[count++] = "--cert";
		command[count++] = certificate;
	}
	bucket_run(fixture, command);
}

static int begin(void **state)
{
	struct bucket_fixture *const fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	bucket_open(fixture);
	run(fixture, NULL, NULL, NULL);
	*state = fixture;
	return 0;
}

static int end(void **state)
{
	bucket_stop(*state);
	free(*state);
	return 0;
}

#define S3RVER(name) TEST_WITH(name, struct bucket_fixture *fixture, begin, end)

static struct wfs_bucket *client(
	const struct bucket_fixture *fixture, const char *path, struct wfs_bucket_options options)
{
	if (!options.access_key)
		options.access_key = "S3RVER";
	options.secret = "S3RVER";
	return bucket_client(fixture, path, &options);
}

#define ANY ((struct wfs_bucket_options){.url = NULL})

static int get(struct wfs_bucket *bucket, const struct bucket_object *object, int fd,
	struct wfs_error *error)
{
	return wfs_bucket_get(bucket, WFS_BUCKET_BLOB, &object->hash, fd, 256 * MIB, error);
}

static void expect_round_trip(
	const struct bucket_fixture *fixture, struct wfs_bucket *bucket, size_t object_size)
{
	AUTO_OBJECT struct bucket_object object = bucket_object_make(object_size, 1);
	WFS_AUTO_FD int fd = bucket_file(fixture);
	uint64_t size = 1234;

	print_message("%zu bytes\n", object_size);
	assert_int_equal(
		wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object.hash, &size, NULL), -ENOENT);
	assert_int_equal(get(bucket, &object, fd, NULL), -ENOENT);
	for (int i = 0; i < 2; i++) /* again, too */
		assert_int_equal(bucket_put(bucket, &object, NULL), 0);
	assert_int_equal(wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object.hash, &size, NULL), 0);
	assert_int_equal(size, object_size);
	assert_int_equal(get(bucket, &object, fd, NULL), 0);
	bucket_expect_file(fd, 0, &object);
}

S3RVER(objects_come_back)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(fixture, "bucket/a/prefix", ANY);

	expect_round_trip(fixture, bucket, 0);
	expect_round_trip(fixture, bucket, 1);
	expect_round_trip(fixture, bucket, 20 * MIB);
}

S3RVER(a_missing_bucket_is_named)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(fixture, "no-bucket", ANY);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 1);
	WFS_AUTO_FD int fd = bucket_file(fixture);
	struct wfs_error error = {0};
	uint64_t size = 0;

	assert_int_equal(bucket_put(bucket, &object, &error), -EINVAL);
	assert_non_null(strstr(error.message, "NoSuchBucket"));
	assert_int_equal(get(bucket, &object, fd, &error), -EINVAL);
	assert_int_equal(
		wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object.hash, &size, &error), -EINVAL);
}

S3RVER(an_unknown_key_is_refused)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket =
		client(fixture, "bucket", (struct wfs_bucket_options){.access_key = "NOBODY"});
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 1);
	struct wfs_error error = {0};

	assert_int_equal(bucket_put(bucket, &object, &error), -EACCES);
	assert_non_null(strstr(error.message, "InvalidAccessKeyId"));
}

TEST(a_clock_that_is_wrong_is_named)
{
	struct bucket_fixture fixture;
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 1);
	struct wfs_error error = {0};
	uint64_t size = 0;

	bucket_open(&fixture);
	run(&fixture, SOURCE_ROOT "/tests/bucket/clock.cjs", NULL, NULL);
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(&fixture, "bucket", ANY);

	assert_int_equal(bucket_put(bucket, &object, &error), -EACCES);
	print_message("%s\n", error.message);
	assert_non_null(strstr(error.message, "RequestTimeTooSkewed"));
	assert_int_equal(
		wfs_bucket_has(bucket, WFS_BUCKET_BLOB, &object.hash, &size, &error), -EACCES);
	bucket_stop(&fixture);
}

/* --- kills --- */

/* Kills the service when a file of some bytes is there. */
struct killer {
	struct bucket_fixture *fixture;
	char path[256]; /* "": never; of the object in the service's directory */
	int fd;         /* or of the file that is written */
};

static bool kill_in_the_middle(void *context)
{
	struct killer *const killer = context;
	struct stat status;

	if (killer->fd >= 0 ? fstat(killer->fd, &status) == 0
			    : *killer->path && stat(killer->path, &status) == 0)
		if (status.st_size > (off_t)MIB)
			bucket_kill(killer->fixture);
	return false;
}

S3RVER(a_service_that_is_killed_keeps_no_wrong_object)
{
	struct killer killer = {.fixture = fixture, .fd = -1};
	const struct wfs_bucket_options options = {.stop = kill_in_the_middle, .context = &killer};
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = client(fixture, "bucket", options);
	AUTO_OBJECT struct bucket_object object = bucket_object_make(64 * MIB, 1);
	WFS_AUTO_FD int fd = bucket_file(fixture);
	char digits[WFS_HASH_HEX_SIZE + 1];
	struct wfs_error error = {0};

	wfs_hash_hex(&object.hash, digits);
	snprintf(killer.path, sizeof(killer.path), "%s/data/bucket/blob/%s._S3rver_object",
		fixture->directory, digits);
	assert_int_equal(bucket_put(bucket, &object, &error), -ETIMEDOUT);
	print_message("put: %s\n", error.message);
	assert_int_equal(fixture->process, 0);
	assert_int_equal(bucket_put(bucket, &object, &error), -EAGAIN);
	print_message("put again: %s\n", error.message);
	killer.path[0] = '\0';

	run(fixture, NULL, NULL, NULL);
	WFS_AUTO_BUCKET struct wfs_bucket *next = client(fixture, "bucket", options);
	assert_true(get(next, &object, fd, &error) < 0);
	print_message("get: %s\n", error.message);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(bucket_put(next, &object, NULL), 0);

	killer.fd = fd;
	assert_int_equal(get(next, &object, fd, &error), -ETIMEDOUT);
	print_message("get: %s\n", error.message);
	assert_int_equal(fixture->process, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	killer.fd = -1;

	run(fixture, NULL, NULL, NULL);
	WFS_AUTO_BUCKET struct wfs_bucket *last = client(fixture, "bucket", options);
	assert_int_equal(get(last, &object, fd, NULL), 0);
	bucket_expect_file(fd, 0, &object);
}

/* --- TLS --- */

TEST(certificates_of_another_authority_are_refused)
{
	struct bucket_fixture fixture;
	struct etcd_fixture tls;
	char ca[96];
	char key[96];
	char certificate[96];
	char url[96];
	AUTO_OBJECT struct bucket_object object = bucket_object_make(1, 1);
	struct wfs_error error = {0};

	etcd_start(&tls, ETCD_TLS); /* for its certificates */
	snprintf(ca, sizeof(ca), "%s/ca.pem", tls.directory);
	snprintf(key, sizeof(key), "%s/node.key", tls.directory);
	snprintf(certificate, sizeof(certificate), "%s/node.pem", tls.directory);
	bucket_open(&fixture);
	run(&fixture, NULL, key, certificate);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/bucket", fixture.port);
	WFS_AUTO_BUCKET struct wfs_bucket *ours =
		client(&fixture, "", (struct wfs_bucket_options){.url = url, .ca = ca});
	WFS_AUTO_BUCKET struct wfs_bucket *systems =
		client(&fixture, "", (struct wfs_bucket_options){.url = url});

	expect_round_trip(&fixture, ours, 2 * MIB);
	assert_int_equal(bucket_put(systems, &object, &error), -EACCES);
	print_message("%s\n", error.message);
	bucket_stop(&fixture);
	etcd_stop(&tls);
}
