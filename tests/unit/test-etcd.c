/* SPDX-License-Identifier: Apache-2.0 */
/* The client of etcd, against a real one. */
#include "tests/fixture/etcd.h"
#include "tests/fixture/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fs/replica/etcd.h"

#define BYTES(text) wfs_bytes_text(text)

static struct etcd_fixture plain; /* for all tests that need nothing special */
static char url[64];              /* of a prefix for one test */
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

static struct wfs_etcd *client(const struct wfs_etcd_options *options)
{
	struct wfs_etcd *etcd = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_etcd_new(options, &etcd, &error), 0);
	return etcd;
}

static struct wfs_etcd *client_of(const char *end, int64_t timeout_ms)
{
	snprintf(url, sizeof(url), "etcd://%s/test/%d", end, ++prefixes);
	return client(&(struct wfs_etcd_options){.url = url, .timeout_ms = timeout_ms});
}

static int begin(void **state)
{
	*state = client_of(plain.end, 5000);
	return 0;
}

static int end(void **state)
{
	wfs_etcd_free(*state);
	return 0;
}

#define ETCD(name) TEST_WITH(name, struct wfs_etcd *etcd, begin, end)

/* Puts a value; with @lease. Return: as wfs_etcd_commit(). */
static int put(struct wfs_etcd *etcd, const char *key, struct wfs_bytes value, int64_t lease,
	struct wfs_error *error)
{
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_put(etcd, &txn, key, value, lease);
	return wfs_etcd_commit(etcd, &txn, NULL, error);
}

static void expect(struct wfs_etcd *etcd, const char *key, const char *value)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_get(etcd, &txn, key);
	assert_int_equal(wfs_etcd_commit(etcd, &txn, &answer, NULL), 0);
	assert_true(answer.succeeded);
	assert_int_equal(answer.count, value ? 1 : 0);
	if (value)
		assert_true(wfs_bytes_equal(wfs_buffer_bytes(&answer.rows[0].value), BYTES(value)));
}

ETCD(a_key_is_put_if_its_revision_is_as_expected)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer first = {.rows = NULL};
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer second = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_if_revision(etcd, &txn, "head", 0);
	wfs_etcd_put(etcd, &txn, "head", BYTES("one"), 0);
	wfs_etcd_get_else(etcd, &txn, "head");
	assert_int_equal(wfs_etcd_commit(etcd, &txn, &first, NULL), 0);
	assert_true(first.succeeded);
	assert_int_equal(first.count, 0);

	assert_int_equal(wfs_etcd_commit(etcd, &txn, &second, NULL), 0);

	assert_false(second.succeeded);
	assert_int_equal(second.count, 1);
	assert_string_equal(second.rows[0].key, "head");
	assert_int_equal(second.rows[0].revision, first.revision);
	assert_int_equal(second.rows[0].lease, 0);

	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn next = {.compare = NULL};
	wfs_etcd_if_revision(etcd, &next, "head", first.revision);
	wfs_etcd_put(etcd, &next, "head", BYTES("two"), 0);
	wfs_etcd_done(&first);
	assert_int_equal(wfs_etcd_commit(etcd, &next, &first, NULL), 0);
	assert_true(first.succeeded);
	expect(etcd, "head", "two");
}

ETCD(all_comparisons_must_hold)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	assert_int_equal(put(etcd, "epoch", BYTES("1 a"), 0, NULL), 0);
	wfs_etcd_if_value(etcd, &txn, "epoch", BYTES("1 b"));
	wfs_etcd_if_revision(etcd, &txn, "head", 0);
	wfs_etcd_put(etcd, &txn, "head", BYTES("x"), 0);
	assert_int_equal(wfs_etcd_commit(etcd, &txn, &answer, NULL), 0);

	assert_false(answer.succeeded);
	expect(etcd, "head", NULL);
}

ETCD(a_transaction_reads_several_keys_at_one_moment)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	assert_int_equal(put(etcd, "head", BYTES("h"), 0, NULL), 0);
	assert_int_equal(put(etcd, "epoch", BYTES("e"), 0, NULL), 0);
	wfs_etcd_get(etcd, &txn, "epoch");
	wfs_etcd_get(etcd, &txn, "log/7");
	wfs_etcd_get(etcd, &txn, "head");
	assert_int_equal(wfs_etcd_commit(etcd, &txn, &answer, NULL), 0);

	assert_int_equal(answer.count, 2);
	assert_true(wfs_bytes_equal(
		wfs_buffer_bytes(&wfs_etcd_row(&answer, "epoch")->value), BYTES("e")));
	assert_true(wfs_bytes_equal(
		wfs_buffer_bytes(&wfs_etcd_row(&answer, "head")->value), BYTES("h")));
	assert_null(wfs_etcd_row(&answer, "log/7"));
}

ETCD(any_bytes_are_a_value)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};

	for (size_t i = 0; i < WFS_ETCD_VALUE_MAX; i++) {
		const char byte = (char)(i * 7 % 256);

		wfs_buffer_append(&bytes, &byte, 1);
	}
	assert_int_equal(put(etcd, "log/1", wfs_buffer_bytes(&bytes), 0, NULL), 0);
	assert_int_equal(put(etcd, "log/2", BYTES(""), 0, NULL), 0);
	assert_int_equal(wfs_etcd_range(etcd, "log/", "log0", 0, &answer, NULL), 0);

	assert_int_equal(answer.count, 2);
	assert_true(
		wfs_bytes_equal(wfs_buffer_bytes(&answer.rows[0].value), wfs_buffer_bytes(&bytes)));
	assert_int_equal(answer.rows[1].value.size, 0);
}

ETCD(a_range_has_an_order_and_a_limit)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};

	for (int i = 9; i >= 0; i--) {
		char key[16];

		snprintf(key, sizeof(key), "log/%03d", i);
		assert_int_equal(put(etcd, key, BYTES("x"), 0, NULL), 0);
	}
	assert_int_equal(put(etcd, "node/a", BYTES("x"), 0, NULL), 0);

	assert_int_equal(wfs_etcd_range(etcd, "log/004", "log0", 3, &answer, NULL), 0);

	assert_int_equal(answer.count, 3);
	assert_true(answer.more);
	assert_string_equal(answer.rows[0].key, "log/004");
	assert_string_equal(answer.rows[2].key, "log/006");
	wfs_etcd_done(&answer);
	assert_int_equal(wfs_etcd_range(etcd, "log/007", "log0", 3, &answer, NULL), 0);
	assert_int_equal(answer.count, 3);
	assert_false(answer.more);
}

ETCD(keys_of_another_prefix_are_not_seen)
{
	WFS_AUTO_ETCD struct wfs_etcd *other = client_of(plain.end, 5000);
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};

	assert_int_equal(put(etcd, "head", BYTES("x"), 0, NULL), 0);

	expect(other, "head", NULL);
	assert_int_equal(wfs_etcd_range(other, "", "~", 0, &answer, NULL), 0);
	assert_int_equal(answer.count, 0);
}

ETCD(a_key_is_deleted)
{
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	assert_int_equal(put(etcd, "log/1", BYTES("x"), 0, NULL), 0);
	wfs_etcd_delete(etcd, &txn, "log/1");
	assert_int_equal(wfs_etcd_commit(etcd, &txn, NULL, NULL), 0);

	expect(etcd, "log/1", NULL);
}

ETCD(a_key_goes_with_its_lease)
{
	int64_t lease = 0;

	assert_int_equal(wfs_etcd_grant(etcd, 30, &lease, NULL), 0);
	assert_int_equal(put(etcd, "node/a", BYTES("x"), lease, NULL), 0);

	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	assert_int_equal(wfs_etcd_range(etcd, "node/", "node0", 0, &answer, NULL), 0);
	assert_int_equal(answer.rows[0].lease, lease);

	assert_int_equal(wfs_etcd_revoke(etcd, lease, NULL), 0);

	expect(etcd, "node/a", NULL);
	assert_int_equal(wfs_etcd_revoke(etcd, lease, NULL), 0);
}

ETCD(a_key_with_a_lease_that_has_ended_is_refused)
{
	struct wfs_error error = {0};

	assert_int_equal(put(etcd, "node/a", BYTES("x"), 12345, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
}

ETCD(a_request_beyond_etcds_bound_is_too_large)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_error error = {0};

	for (int i = 0; i < 1600; i++)
		wfs_buffer_printf(&bytes, "%01024d", i);
	assert_int_equal(put(etcd, "log/1", wfs_buffer_bytes(&bytes), 0, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_int_equal(put(etcd, "log/1", BYTES("x"), 0, &error), 0);
}

/* --- failures --- */

TEST(where_nothing_listens_nothing_was_done)
{
	char end_point[32];
	struct wfs_error error = {0};

	snprintf(end_point, sizeof(end_point), "127.0.0.1:%d", etcd_free_port());
	WFS_AUTO_ETCD struct wfs_etcd *etcd = client_of(end_point, 5000);

	assert_int_equal(put(etcd, "a", BYTES("x"), 0, &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	assert_non_null(strstr(error.message, end_point));
}

TEST(after_a_failure_the_next_end_point_is_asked)
{
	char ends[64];

	snprintf(ends, sizeof(ends), "127.0.0.1:%d,%s", etcd_free_port(), plain.end);
	WFS_AUTO_ETCD struct wfs_etcd *etcd = client_of(ends, 5000);

	assert_int_equal(put(etcd, "a", BYTES("x"), 0, NULL), -EAGAIN);
	assert_int_equal(put(etcd, "a", BYTES("x"), 0, NULL), 0);
	assert_int_equal(put(etcd, "a", BYTES("y"), 0, NULL), 0);
}

TEST(without_an_answer_nobody_knows)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct wfs_error error = {0};
	char end_point[32];

	assert_int_equal(bind(silent, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(silent, 1), 0);
	assert_int_equal(getsockname(silent, (struct sockaddr *)&address, &size), 0);
	snprintf(end_point, sizeof(end_point), "127.0.0.1:%d", ntohs(address.sin_port));
	WFS_AUTO_ETCD struct wfs_etcd *etcd = client_of(end_point, 100);

	assert_int_equal(put(etcd, "a", BYTES("x"), 0, &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
	close(silent);
}

TEST(a_full_etcd_is_said_to_be_full)
{
	struct etcd_fixture small;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_error error = {0};
	int r = 0;

	etcd_start(&small, ETCD_SMALL);
	WFS_AUTO_ETCD struct wfs_etcd *etcd = client_of(small.end, 5000);
	for (int i = 0; i < 500; i++)
		wfs_buffer_printf(&bytes, "%01024d", i);
	for (int i = 0; i < 30 && !r; i++)
		r = put(etcd, "a", wfs_buffer_bytes(&bytes), 0, &error);
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(error.code, WFS_E_STORE_FULL);
	etcd_stop(&small);
}

TEST(a_user_is_known_by_the_password)
{
	struct etcd_fixture closed;
	struct wfs_error error = {0};
	int64_t lease = 0;

	etcd_start(&closed, ETCD_PLAIN);
	etcd_shell(&closed,
		"e='etcdctl --endpoints '$ETCD; ($e user add root:secret && $e role add root; "
		"$e user grant-role root root; $e auth enable) >$DIR/said 2>&1");
	snprintf(url, sizeof(url), "etcd://%s/test", closed.end);
	struct wfs_etcd_options options = {.url = url, .timeout_ms = 5000};
	WFS_AUTO_ETCD struct wfs_etcd *stranger = client(&options);
	options.user = "root";
	options.password = "secret";
	WFS_AUTO_ETCD struct wfs_etcd *user = client(&options);
	options.password = "wrong";
	WFS_AUTO_ETCD struct wfs_etcd *liar = client(&options);

	assert_int_equal(put(stranger, "a", BYTES("x"), 0, &error), -EACCES);
	assert_int_equal(put(liar, "a", BYTES("x"), 0, &error), -EACCES);
	assert_null(strstr(error.message, "wrong"));
	assert_int_equal(put(user, "a", BYTES("x"), 0, NULL), 0);
	assert_int_equal(wfs_etcd_grant(user, 30, &lease, NULL), 0);
	/* Another generation of tokens: the old ones do not count any more. */
	etcd_shell(&closed,
		"etcdctl --user root:secret --endpoints $ETCD user passwd root "
		"--interactive=false >>$DIR/said 2>&1 <<-end\nsecret\nend\n");
	assert_int_equal(put(user, "a", BYTES("y"), 0, NULL), 0);
	etcd_stop(&closed);
}

TEST(certificates_of_another_authority_are_refused)
{
	struct etcd_fixture tls;
	struct etcd_fixture other;
	struct wfs_error error = {0};
	char ca[96];

	etcd_start(&tls, ETCD_TLS);
	etcd_start(&other, ETCD_TLS);
	snprintf(url, sizeof(url), "etcd://%s/test", tls.end);
	snprintf(ca, sizeof(ca), "%s/ca.pem", tls.directory);
	struct wfs_etcd_options options = {.url = url, .ca = ca, .timeout_ms = 5000};
	WFS_AUTO_ETCD struct wfs_etcd *ours = client(&options);
	assert_int_equal(put(ours, "a", BYTES("x"), 0, NULL), 0);

	snprintf(ca, sizeof(ca), "%s/ca.pem", other.directory);
	WFS_AUTO_ETCD struct wfs_etcd *theirs = client(&options);
	assert_int_equal(put(theirs, "a", BYTES("x"), 0, &error), -EACCES);
	options.ca = NULL;
	WFS_AUTO_ETCD struct wfs_etcd *open = client(&options);
	assert_int_not_equal(put(open, "a", BYTES("x"), 0, &error), 0);
	etcd_stop(&tls);
	etcd_stop(&other);
}

TEST(an_url_that_is_not_one_is_refused)
{
	static const char *const cases[] = {"", "etcd://", "etcd://a:1", "etcd://a:1/",
		"http://a:1/x", "etcd:///x", "etcd://a:1,/x", "etcd://a:1//x", "etcd://a:1/x/",
		"etcd://a:1/x y", "etcd://user:word@a:1/x", "etcd://a:1?q/x", "etcd://a:1/a//b",
		"etcd://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17/x"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		struct wfs_etcd *etcd = NULL;
		struct wfs_error error = {0};

		print_message("'%s'\n", cases[i]);
		assert_int_equal(wfs_etcd_new(&(struct wfs_etcd_options){.url = cases[i],
						      .timeout_ms = 1000},
					 &etcd, &error),
			-EINVAL);
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	}
}
