/* SPDX-License-Identifier: Apache-2.0 */
/* The log in a real etcd: whatever the network does to a request, each height has one batch, and
 * an owner knows which. */
#include "tests/fixture/etcd.h"
#include "tests/fixture/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/replica/log.h"
#include "kernel/base/clock.h"

#define BYTES(text) wfs_bytes_text(text)
#define SOON (wfs_clock_monotonic_ns() + 5 * INT64_C(1000000000))
#define NOW INT64_C(0)

static struct etcd_fixture plain;
static int prefixes;

static int group_begin(void **state)
{
	(void)state;
	etcd_start(&plain, ETCD_PLAIN);
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	etcd_stop(&plain);
	return 0;
}

TEST_GROUP(group_begin, group_end)

struct fixture {
	struct etcd_proxy *proxy;
	struct wfs_etcd *etcd;  /* through the proxy */
	struct wfs_etcd *other; /* another node's, without */
	struct wfs_log_place place;
};

static struct wfs_etcd *client(const char *end, int prefix)
{
	struct wfs_etcd *etcd = NULL;
	char url[64];

	snprintf(url, sizeof(url), "etcd://%s/log/%d", end, prefix);
	assert_int_equal(wfs_etcd_new(&(struct wfs_etcd_options){.url = url, .timeout_ms = 1000},
				 &etcd, NULL),
		0);
	return etcd;
}

static const struct wfs_log_epoch first_epoch = {.epoch = 1, .owner = "a", .process = "p1"};

/* A head after @records records. */
static struct wfs_log_head head_at(int64_t height, int64_t epoch)
{
	const struct wfs_hash hash = wfs_hash_of(&height, sizeof(height));

	return (struct wfs_log_head){
		.height = height, .line_hash = hash, .epoch = epoch, .fold_version = 2};
}

static int begin(void **state)
{
	struct fixture *const fixture = calloc(1, sizeof(*fixture));
	const struct wfs_log_head head = head_at(1, 1);
	char end[32];

	fixture->proxy = etcd_proxy_start(&plain, end);
	fixture->etcd = client(end, ++prefixes);
	fixture->other = client(plain.end, prefixes);
	assert_int_equal(
		wfs_log_begin(fixture->etcd, &head, &first_epoch, &fixture->place, NULL), 0);
	*state = fixture;
	return 0;
}

static int end(void **state)
{
	struct fixture *const fixture = *state;

	wfs_etcd_free(fixture->etcd);
	wfs_etcd_free(fixture->other);
	etcd_proxy_stop(fixture->proxy);
	free(fixture);
	return 0;
}

#define LOG(name) TEST_WITH(name, struct fixture *fixture, begin, end)

static int append(struct fixture *fixture, const char *batch, int64_t until_ns)
{
	const struct wfs_log_head head = head_at(fixture->place.head.height + 2, 1);

	return wfs_log_append(fixture->etcd, &fixture->place, &head, BYTES(batch), until_ns, NULL);
}

/* What another node has read. */
struct seen {
	char text[256];
	size_t largest;
};

static int see(void *context, int64_t height, struct wfs_bytes batch, struct wfs_error *error)
{
	struct seen *const seen = context;
	const size_t size = strlen(seen->text);

	(void)error;
	if (batch.size > seen->largest)
		seen->largest = batch.size;
	snprintf(seen->text + size, sizeof(seen->text) - size, "%lld:%.*s ", (long long)height,
		(int)(batch.size < 20 ? batch.size : 20), (const char *)batch.data);
	return 0;
}

static void expect_log(struct fixture *fixture, const char *expected)
{
	struct seen seen = {.text = ""};
	struct wfs_log_place place;

	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), 0);
	assert_string_equal(seen.text, expected);
	/* What the owner takes for the end is the end. */
	assert_int_equal(wfs_log_look(fixture->other, &place, NULL), 0);
	assert_int_equal(place.head.height, fixture->place.head.height);
	assert_int_equal(place.head_revision, fixture->place.head_revision);
	assert_true(wfs_hash_equal(&place.head.line_hash, &fixture->place.head.line_hash));
}

LOG(a_prefix_has_one_world)
{
	const struct wfs_log_head head = head_at(1, 1);
	struct wfs_log_place place;

	assert_int_equal(wfs_log_begin(fixture->other, &head, &first_epoch, &place, NULL), -EEXIST);
	assert_int_equal(wfs_log_look(fixture->other, &place, NULL), 0);
	assert_int_equal(place.epoch.epoch, 1);
	assert_string_equal(place.epoch.owner, "a");
	assert_string_equal(place.epoch.process, "p1");
	assert_int_equal(place.head.fold_version, 2);
}

TEST(a_prefix_without_a_world_has_none)
{
	WFS_AUTO_ETCD struct wfs_etcd *etcd = client(plain.end, ++prefixes);
	struct wfs_log_place place;

	assert_int_equal(wfs_log_look(etcd, &place, NULL), -ENOENT);
}

LOG(batches_come_in_their_order)
{
	assert_int_equal(append(fixture, "one", SOON), 0);
	assert_int_equal(append(fixture, "two", SOON), 0);

	expect_log(fixture, "1:one 3:two ");
}

LOG(a_large_batch_has_parts)
{
	struct seen seen = {.text = ""};
	WFS_AUTO_BUFFER struct wfs_buffer large = {0};
	const struct wfs_log_head head = head_at(7, 1);

	for (int i = 0; i < 3500; i++)
		wfs_buffer_printf(&large, "%01023d\n", i);
	assert_int_equal(wfs_log_append(fixture->etcd, &fixture->place, &head,
				 wfs_buffer_bytes(&large), SOON, NULL),
		0);
	assert_int_equal(append(fixture, "next", SOON), 0);

	expect_log(fixture, "1:00000000000000000000 7:next ");
	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), 0);
	assert_int_equal(seen.largest, large.size);
}

/* --- the network --- */

LOG(whatever_happens_to_one_request_the_batch_is_there_once)
{
	static const enum etcd_fate fates[] = {
		ETCD_LOSE_REQUEST, ETCD_LOSE_ANSWER, ETCD_TWICE, ETCD_LATE};
	char expected[256] = "";

	for (size_t i = 0; i < WFS_ARRAY_COUNT(fates); i++) {
		const size_t size = strlen(expected);

		snprintf(expected + size, sizeof(expected) - size, "%zu:b%zu ", 1 + 2 * i, i);
		print_message("fate %d\n", (int)fates[i]);
		etcd_fate(fixture->proxy, 0, fates[i]);
		assert_int_equal(append(fixture, expected + size + 2, SOON), 0);
		if (fates[i] == ETCD_LATE)
			etcd_release(fixture->proxy);
	}
	expect_log(fixture, "1:b0  3:b1  5:b2  7:b3  ");
}

LOG(a_batch_whose_answer_was_lost_is_found)
{
	etcd_fate(fixture->proxy, 0, ETCD_LOSE_ANSWER);
	assert_int_equal(append(fixture, "one", NOW), 0);

	expect_log(fixture, "1:one ");
}

LOG(a_batch_that_nobody_knows_of_is_resolved)
{
	const struct wfs_log_head head = head_at(3, 1);

	etcd_fate(fixture->proxy, 0, ETCD_LATE);
	assert_int_equal(append(fixture, "one", NOW), -ETIMEDOUT);
	expect_log(fixture, "");
	struct wfs_log_place second = fixture->place;

	/* The request comes after all: it is found. */
	etcd_release(fixture->proxy);
	assert_int_equal(
		wfs_log_resolve(fixture->etcd, &fixture->place, &head, BYTES("one"), NOW, NULL), 0);
	expect_log(fixture, "1:one ");

	/* So it is by a process that has only the bytes. */
	assert_int_equal(
		wfs_log_resolve(fixture->etcd, &second, &head, BYTES("one"), NOW, NULL), 0);
	assert_int_equal(second.head_revision, fixture->place.head_revision);
}

LOG(a_batch_that_never_came_is_sent_again)
{
	const struct wfs_log_head head = head_at(3, 1);

	etcd_fate(fixture->proxy, 0, ETCD_LATE);
	assert_int_equal(append(fixture, "one", NOW), -ETIMEDOUT);
	assert_int_equal(
		wfs_log_resolve(fixture->etcd, &fixture->place, &head, BYTES("one"), SOON, NULL),
		0);
	etcd_release(fixture->proxy);

	expect_log(fixture, "1:one ");
}

LOG(nobody_knows_while_nothing_can_be_read)
{
	char end_point[32];

	etcd_fate(fixture->proxy, 0, ETCD_LATE);
	assert_int_equal(append(fixture, "one", NOW), -ETIMEDOUT);
	etcd_proxy_stop(fixture->proxy);
	const struct wfs_log_head head = head_at(3, 1);

	assert_int_equal(
		wfs_log_resolve(fixture->etcd, &fixture->place, &head, BYTES("one"), NOW, NULL),
		-ETIMEDOUT);
	fixture->proxy = etcd_proxy_start(&plain, end_point);
}

LOG(a_batch_that_was_never_sent_is_not_in_the_log)
{
	char end_point[32];

	etcd_proxy_stop(fixture->proxy);
	assert_int_equal(append(fixture, "one", NOW), -EAGAIN);
	fixture->proxy = etcd_proxy_start(&plain, end_point);

	expect_log(fixture, "");
}

/* --- owners --- */

LOG(an_owner_whose_epoch_is_over_appends_nothing)
{
	struct wfs_log_place theirs;
	const struct wfs_log_head head = head_at(3, 2);

	assert_int_equal(wfs_log_look(fixture->other, &theirs, NULL), 0);
	assert_int_equal(wfs_log_claim(fixture->other, &theirs, "b", "p2", NULL), 0);
	assert_int_equal(theirs.epoch.epoch, 2);
	assert_string_equal(theirs.epoch.owner, "b");

	assert_int_equal(append(fixture, "old", SOON), -ESTALE);
	assert_int_equal(
		wfs_log_append(fixture->other, &theirs, &head, BYTES("new"), SOON, NULL), 0);

	fixture->place = theirs;
	expect_log(fixture, "1:new ");
}

LOG(a_late_batch_of_an_epoch_that_is_over_never_comes)
{
	struct wfs_log_place theirs;

	assert_int_equal(wfs_log_look(fixture->other, &theirs, NULL), 0);
	etcd_fate(fixture->proxy, 0, ETCD_LATE);
	assert_int_equal(wfs_log_claim(fixture->other, &theirs, "b", "p2", NULL), 0);
	assert_int_equal(append(fixture, "old", SOON), -ESTALE);
	etcd_release(fixture->proxy);

	fixture->place = theirs;
	expect_log(fixture, "");
}

LOG(of_two_that_claim_one_owns)
{
	struct wfs_log_place ours = fixture->place;
	struct wfs_log_place theirs = fixture->place;

	assert_int_equal(wfs_log_claim(fixture->etcd, &ours, "b", "p2", NULL), 0);
	assert_int_equal(wfs_log_claim(fixture->other, &theirs, "c", "p3", NULL), -ESTALE);
	assert_int_equal(wfs_log_look(fixture->other, &theirs, NULL), 0);
	assert_string_equal(theirs.epoch.owner, "b");
}

LOG(a_second_batch_at_one_height_is_refused)
{
	struct wfs_log_place before = fixture->place;
	const struct wfs_log_head head = head_at(3, 1);

	assert_int_equal(append(fixture, "one", SOON), 0);
	assert_int_equal(
		wfs_log_append(fixture->etcd, &before, &head, BYTES("other"), SOON, NULL), -ESTALE);

	expect_log(fixture, "1:one ");
}

/* --- damage --- */

LOG(keys_of_another_form_are_found)
{
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	struct wfs_log_place place;
	struct seen seen = {.text = ""};

	wfs_etcd_put(fixture->other, &txn, "log/00000000000000000001", BYTES("X"), 0);
	assert_int_equal(wfs_etcd_commit(fixture->other, &txn, NULL, NULL), 0);
	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), -EIO);
	wfs_etcd_txn_done(&txn);
	wfs_etcd_put(fixture->other, &txn, "head", BYTES("{}"), 0);
	assert_int_equal(wfs_etcd_commit(fixture->other, &txn, NULL, NULL), 0);
	assert_int_equal(wfs_log_look(fixture->other, &place, NULL), -EIO);
}

LOG(a_part_that_is_damaged_or_missing_is_found)
{
	static const char hex[] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; /* of abc */
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn list = {.compare = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn part = {.compare = NULL};
	struct seen seen = {.text = ""};
	char key[80];
	char value[80];

	snprintf(key, sizeof(key), "part/%s", hex);
	snprintf(value, sizeof(value), "P[\"sha256:%s\"]", hex);
	wfs_etcd_put(fixture->other, &list, "log/00000000000000000001", BYTES(value), 0);
	assert_int_equal(wfs_etcd_commit(fixture->other, &list, NULL, NULL), 0);
	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), -ENOENT);
	wfs_etcd_put(fixture->other, &part, key, BYTES("abd"), 0);
	assert_int_equal(wfs_etcd_commit(fixture->other, &part, NULL, NULL), 0);
	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), -EIO);
	wfs_etcd_txn_done(&part);
	wfs_etcd_put(fixture->other, &part, key, BYTES("abc"), 0);
	assert_int_equal(wfs_etcd_commit(fixture->other, &part, NULL, NULL), 0);
	assert_int_equal(wfs_log_read(fixture->other, 0, see, &seen, NULL), 0);
	assert_string_equal(seen.text, "1:abc ");
}

TEST(names_of_nodes)
{
	assert_true(wfs_log_node_valid("a-1"));
	assert_false(wfs_log_node_valid(""));
	assert_false(wfs_log_node_valid("A"));
	assert_false(wfs_log_node_valid("a/b"));
	assert_false(
		wfs_log_node_valid("a23456789012345678901234567890123456789012345678901234567890123"
				   "4"));
}
