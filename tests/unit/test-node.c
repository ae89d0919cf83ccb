/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of one world over a real etcd: what one records all have, and one of them owns it. */
#include "tests/fixture/etcd.h"
#include "tests/fixture/test.h"
#include "tests/fixture/world.h"

#include "caps/authority.h"
#include "fs/replica/ids.h"
#include "fs/replica/log.h"
#include "fs/replica/node.h"
#include "kernel/base/clock.h"
#include "kernel/copy/backup.h"

enum {
	LEASE_MS = 10000, /* does not end on a busy machine */
	SHORT_MS = 4000,  /* a lease that is to end */
	SOON_MS = 20000,  /* for what happens at once, on a busy machine */
	NODES = 3,
};

static struct etcd_fixture etcd;
static int prefixes;

static int group_begin(void **state)
{
	(void)state;
	etcd_start(&etcd, ETCD_PLAIN);
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	etcd_stop(&etcd);
	return 0;
}

TEST_GROUP(group_begin, group_end)

/* A node in this process, with a world of its own. */
struct peer {
	struct world_fixture world;
	struct wfs_authority *authority;
	struct wfs_node *node;
	struct etcd_proxy *proxy; /* NULL: it reaches etcd without one */
	atomic_int lost;
};

struct nodes {
	struct peer peers[NODES];
	int prefix;
};

static const char *const names[NODES] = {"a", "b", "c"};

static void on_lost(void *context, const struct wfs_error *error)
{
	struct peer *const peer = context;

	assert_int_equal(error->code, WFS_E_BUSY);
	atomic_store(&peer->lost, 1);
}

/* Begins a node on the world of a peer. @flags: `p` to reach etcd through a proxy, `n` for a node
 * that never owns, `s` for a short lease, `a` for one with a port */
static void enter(struct nodes *nodes, int index, const char *name, const char *flags)
{
	struct peer *const peer = &nodes->peers[index];
	struct wfs_error error = {0};
	char end[32];
	char url[64];

	if (strchr(flags, 'p'))
		peer->proxy = etcd_proxy_start(&etcd, end);
	snprintf(
		url, sizeof(url), "etcd://%s/node/%d", peer->proxy ? end : etcd.end, nodes->prefix);
	const struct wfs_node_options options = {
		.etcd = {.url = url},
		.name = name,
		.no_owner = strchr(flags, 'n') != NULL,
		.address = strchr(flags, 'a') ? "127.0.0.1:1" : NULL,
		.lease_ms = strchr(flags, 's') ? SHORT_MS : LEASE_MS,
		.wait_ms = 3000,
		.lost = on_lost,
		.context = peer,
	};
	assert_int_equal(wfs_node_new(peer->authority, &options, &peer->node, &error), 0);
	assert_int_equal(wfs_node_start(peer->node, &error), 0);
}

static void leave(struct peer *peer)
{
	wfs_node_free(WFS_STEAL(peer->node));
	if (peer->proxy)
		etcd_proxy_stop(WFS_STEAL(peer->proxy));
}

static void open_world(struct peer *peer)
{
	assert_int_equal(world_fixture_open(&peer->world), 0);
	assert_int_equal(wfs_authority_new(peer->world.world, &peer->authority, NULL), 0);
}

static void close_world(struct peer *peer)
{
	leave(peer);
	wfs_authority_free(WFS_STEAL(peer->authority));
	world_fixture_close(&peer->world);
}

/* A copy of the first peer's world. */
static void copy_world(struct nodes *nodes, int index)
{
	struct world_fixture *const from = &nodes->peers[0].world;
	struct world_fixture *const to = &nodes->peers[index].world;
	const struct wfs_backup_options options = {.progress = NULL};
	struct wfs_backup_figures figures;

	to->options = from->options;
	snprintf(to->directory, sizeof(to->directory), "%s/copy-%d", from->root, index);
	assert_int_equal(
		wfs_backup(from->world, to->directory, &options, &figures, &from->error), 0);
	open_world(&nodes->peers[index]);
}

/* Makes a world with a log, and the copies of two other nodes; no node has begun. */
static int begin(void **state)
{
	struct nodes *const nodes = calloc(1, sizeof(*nodes));
	void *world = NULL;
	struct wfs_error error = {0};
	char url[64];

	assert_int_equal(world_fixture_setup(&world), 0);
	nodes->peers[0].world = *(struct world_fixture *)world;
	free(world);
	struct peer *const first = &nodes->peers[0];
	world_fixture_close(&first->world);
	first->world.options.clock_context = &first->world.now_ns;
	open_world(first);
	tell(&first->world, "{'key':'k0','op':'set','n':1}");
	nodes->prefix = ++prefixes;
	snprintf(url, sizeof(url), "etcd://%s/node/%d", etcd.end, nodes->prefix);
	assert_int_equal(
		wfs_node_begin(first->authority,
			&(struct wfs_etcd_options){.url = url, .timeout_ms = 5000}, "a", &error),
		0);
	for (int i = 1; i < NODES; i++)
		copy_world(nodes, i);
	*state = nodes;
	return 0;
}

static int end(void **state)
{
	struct nodes *const nodes = *state;
	void *first = calloc(1, sizeof(struct world_fixture));

	for (int i = NODES - 1; i >= 0; i--)
		close_world(&nodes->peers[i]);
	*(struct world_fixture *)first = nodes->peers[0].world;
	free(nodes);
	return world_fixture_teardown(&first);
}

#define NODE(name) TEST_WITH(name, struct nodes *nodes, begin, end)

static void expect_role(struct nodes *nodes, int index, enum wfs_node_role role)
{
	assert_true(wfs_node_wait(nodes->peers[index].node, role, SOON_MS));
}

static uint64_t height(struct nodes *nodes, int index)
{
	return height_of(&nodes->peers[index].world);
}

/* Waits until a peer has so many records. */
static void expect_height(struct nodes *nodes, int index, uint64_t wanted)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);

	while (height(nodes, index) < wanted && wfs_clock_monotonic_ns() < until_ns)
		usleep(2000);
	assert_int_equal(height(nodes, index), wanted);
}

static int send(struct nodes *nodes, int index, const char *key)
{
	char value[64];

	snprintf(value, sizeof(value), "{'key':'%s','op':'set','n':1}", key);
	return send_event(&nodes->peers[index].world, "test/Do@1", value);
}

static json_t *status(struct nodes *nodes, int index)
{
	json_t *const document = wfs_node_status(nodes->peers[index].node);

	assert_non_null(document);
	return document;
}

/* Waits until the node's problem has this code; NULL: until it has none. */
static void expect_problem(struct nodes *nodes, int index, const char *code)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	bool is_so = false;

	while (!is_so && wfs_clock_monotonic_ns() < until_ns) {
		WFS_AUTO_JSON json_t *document = status(nodes, index);
		const json_t *const problem = json_object_get(document, "problem");
		const char *const found = json_string_value(json_object_get(problem, "code"));

		is_so = code && found ? strcmp(code, found) == 0 : !code && !found;
		usleep(2000);
	}
	assert_true(is_so);
}

/* Waits until a node knows of all nodes what @expected says: name, role, height, lag. */
static void expect_nodes(struct nodes *nodes, int index, const char *expected)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	char found[256] = "";

	while (strcmp(found, expected) != 0 && wfs_clock_monotonic_ns() < until_ns) {
		WFS_AUTO_JSON json_t *document = status(nodes, index);
		size_t size = 0;
		size_t i;
		const json_t *node;

		json_array_foreach(json_object_get(document, "nodes"), i, node)
			size += (size_t)snprintf(found + size, sizeof(found) - size,
				"%s %s %lld %lld, ",
				json_string_value(json_object_get(node, "name")),
				json_string_value(json_object_get(node, "role")),
				json_integer_value(json_object_get(node, "height")),
				json_integer_value(json_object_get(node, "lag_records")));
		usleep(2000);
	}
	assert_string_equal(found, expected);
}

static void begin_all(struct nodes *nodes)
{
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	for (int i = 1; i < NODES; i++) {
		enter(nodes, i, names[i], "");
		expect_role(nodes, i, WFS_NODE_FOLLOWER);
	}
}

/* --- owning and following --- */

NODE(the_first_node_owns_and_the_others_have_what_it_records)
{
	begin_all(nodes);

	for (int i = 0; i < 20; i++) {
		char key[16];

		snprintf(key, sizeof(key), "n%d", i);
		assert_int_equal(send(nodes, 0, key), 0);
	}

	for (int i = 1; i < NODES; i++) {
		expect_height(nodes, i, height(nodes, 0));
		assert_state_at(&nodes->peers[i].world, height(nodes, 0), "cell", "n19", "{'n':1}");
	}
}

NODE(a_follower_refuses_changes)
{
	begin_all(nodes);

	assert_int_equal(send(nodes, 1, "x"), -EAGAIN);
	assert_int_equal(nodes->peers[1].world.error.code, WFS_E_UNAVAILABLE);
}

NODE(every_node_knows_all_nodes)
{
	begin_all(nodes);
	assert_int_equal(send(nodes, 0, "x"), 0);
	expect_height(nodes, 2, height(nodes, 0));

	expect_nodes(nodes, 2, "a owner 4 0, b follower 4 0, c follower 4 0, ");
	WFS_AUTO_JSON json_t *document = status(nodes, 2);
	assert_string_equal(json_string_value(json_object_get(document, "role")), "follower");
	assert_string_equal(json_string_value(json_object_get(document, "owner")), "a");
	assert_int_equal(json_integer_value(json_object_get(document, "epoch")), 1);
}

NODE(a_node_that_comes_later_gets_what_it_has_missed)
{
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	for (int i = 0; i < 50; i++)
		assert_int_equal(send(nodes, 0, i % 2 ? "x" : "y"), 0);

	enter(nodes, 1, "b", "");

	expect_height(nodes, 1, height(nodes, 0));
}

NODE(etcd_without_the_world_is_a_problem)
{
	nodes->prefix = 1000;
	enter(nodes, 0, "a", "");

	expect_problem(nodes, 0, "not_found");
}

NODE(a_log_is_begun_once)
{
	struct wfs_error error = {0};
	char url[64];

	snprintf(url, sizeof(url), "etcd://%s/node/%d", etcd.end, nodes->prefix);
	const struct wfs_etcd_options options = {.url = url, .timeout_ms = 1000};

	assert_int_equal(wfs_node_begin(nodes->peers[0].authority, &options, "a", &error), -EEXIST);
	assert_int_equal(error.code, WFS_E_ALREADY_EXISTS);
}

/* --- ids of requests --- */

static int send_with_id(struct nodes *nodes, int index, const char *id)
{
	WFS_AUTO_JSON json_t *value = json_pack("{s:s, s:s, s:i}", "key", id, "op", "set", "n", 1);
	struct wfs_request request = {
		.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.id = id,
		.event.schema = "test/Do@1",
		.event.value = value,
	};

	return wfs_world_call(nodes->peers[index].world.world, &request);
}

/* A follower shows a record before it notes the id of its request. */
static void expect_id(struct nodes *nodes, int index, const char *id, uint64_t seq)
{
	struct wfs_ids *const ids = wfs_node_ids(nodes->peers[index].node);
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	uint64_t found = 0;

	while (!wfs_ids_find(ids, id, &found) && wfs_clock_monotonic_ns() < until_ns)
		usleep(2000);
	assert_int_equal(found, seq);
}

NODE(every_node_knows_the_ids_of_requests_also_after_a_start)
{
	begin_all(nodes);
	const uint64_t before = height(nodes, 0);
	assert_int_equal(send_with_id(nodes, 0, "first"), 0);
	for (int i = 0; i < 20; i++) /* more than are read at once */
		assert_int_equal(send(nodes, 0, "x"), 0);
	assert_int_equal(send_with_id(nodes, 0, "second"), 0);
	for (int i = 0; i < NODES; i++) {
		expect_height(nodes, i, before + 22);
		expect_id(nodes, i, "first", before);
		expect_id(nodes, i, "second", before + 21);
	}

	leave(&nodes->peers[2]);
	enter(nodes, 2, "c", "");
	expect_role(nodes, 2, WFS_NODE_FOLLOWER);
	assert_int_equal(send_with_id(nodes, 0, "third"), 0);
	expect_height(nodes, 2, before + 23);
	assert_int_equal(wfs_node_handover(nodes->peers[0].node, "b", NULL), 0);
	expect_role(nodes, 1, WFS_NODE_OWNER);
	assert_int_equal(send_with_id(nodes, 1, "fourth"), 0);
	expect_height(nodes, 0, before + 24);
	expect_id(nodes, 0, "fourth", before + 23); /* it has owned before */

	expect_id(nodes, 2, "first", before);
	expect_id(nodes, 2, "second", before + 21);
	expect_id(nodes, 2, "third", before + 22);
}

/* --- taking over --- */

NODE(when_the_owner_leaves_another_node_takes_over)
{
	begin_all(nodes);
	leave(&nodes->peers[0]);

	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	int owner = 0;
	while (!owner && wfs_clock_monotonic_ns() < until_ns) {
		for (int i = 1; i < NODES && !owner; i++)
			owner = wfs_node_role(nodes->peers[i].node) == WFS_NODE_OWNER ? i : 0;
		usleep(2000);
	}
	assert_true(owner > 0);
	assert_int_equal(send(nodes, owner, "after"), 0);
	expect_height(nodes, NODES - owner, height(nodes, owner));

	/* It comes back as a follower, and has what it missed. */
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_FOLLOWER);
	expect_height(nodes, 0, height(nodes, owner));
}

NODE(an_owner_that_cannot_reach_etcd_stops_owning_and_another_takes_over)
{
	enter(nodes, 0, "a", "ps");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	enter(nodes, 1, "b", "");
	expect_role(nodes, 1, WFS_NODE_FOLLOWER);

	etcd_proxy_stop(WFS_STEAL(nodes->peers[0].proxy));

	expect_role(nodes, 1, WFS_NODE_OWNER);
	expect_role(nodes, 0, WFS_NODE_NONE);
	assert_int_equal(send(nodes, 0, "lost"), -EAGAIN);
	assert_int_equal(send(nodes, 1, "kept"), 0);
}

NODE(a_node_that_never_owns_does_not_take_over)
{
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	enter(nodes, 1, "b", "n");
	expect_role(nodes, 1, WFS_NODE_FOLLOWER);

	leave(&nodes->peers[0]);

	assert_false(wfs_node_wait(nodes->peers[1].node, WFS_NODE_OWNER, INT64_C(2) * SHORT_MS));
}

NODE(a_name_has_one_node)
{
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_OWNER);

	enter(nodes, 1, "a", "");

	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	while (!atomic_load(&nodes->peers[1].lost) && wfs_clock_monotonic_ns() < until_ns)
		usleep(2000);
	assert_int_equal(atomic_load(&nodes->peers[1].lost), 1);
	assert_int_equal(send(nodes, 0, "x"), 0);
}

/* --- handing over --- */

NODE(the_world_is_handed_over)
{
	struct wfs_error error = {0};

	begin_all(nodes);
	assert_int_equal(wfs_node_handover(nodes->peers[0].node, "c", &error), 0);

	expect_role(nodes, 2, WFS_NODE_OWNER);
	expect_role(nodes, 0, WFS_NODE_FOLLOWER);
	assert_int_equal(send(nodes, 2, "x"), 0);
	expect_height(nodes, 0, height(nodes, 2));

	assert_int_equal(wfs_node_handover(nodes->peers[2].node, "a", &error), 0);
	expect_role(nodes, 0, WFS_NODE_OWNER);
	assert_int_equal(send(nodes, 0, "y"), 0);
	expect_height(nodes, 2, height(nodes, 0));
}

NODE(a_node_that_others_reach_inherits_before_one_of_a_command)
{
	enter(nodes, 0, "a", "a");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	enter(nodes, 1, "b", "");
	enter(nodes, 2, "c", "a");
	expect_role(nodes, 1, WFS_NODE_FOLLOWER);
	expect_role(nodes, 2, WFS_NODE_FOLLOWER);

	assert_int_equal(wfs_node_handover(nodes->peers[0].node, NULL, NULL), 0);
	expect_role(nodes, 2, WFS_NODE_OWNER);
}

NODE(a_handover_that_cannot_be_changes_nothing)
{
	struct wfs_error error = {0};

	begin_all(nodes);

	assert_int_equal(wfs_node_handover(nodes->peers[0].node, "d", &error), -ENOENT);
	assert_int_equal(wfs_node_handover(nodes->peers[1].node, "c", &error), -EAGAIN);
	assert_int_equal(wfs_node_handover(nodes->peers[0].node, "a", &error), 0);
	assert_int_equal(wfs_node_role(nodes->peers[0].node), WFS_NODE_OWNER);
	assert_int_equal(send(nodes, 0, "x"), 0);
}

NODE(a_node_that_ends_or_has_not_begun_hands_nothing_over)
{
	const struct wfs_error reason = {.code = WFS_E_NOT_AUTHORIZED, .message = "reason"};
	struct wfs_node *barred = NULL;

	begin_all(nodes);
	wfs_node_end(nodes->peers[0].node);
	assert_int_equal(wfs_node_role(nodes->peers[0].node), WFS_NODE_NONE);
	assert_int_equal(wfs_node_handover(nodes->peers[0].node, "b", NULL), -EAGAIN);

	leave(&nodes->peers[2]);
	assert_int_equal(wfs_node_bar(nodes->peers[2].authority, &reason, &barred, NULL), 0);
	assert_int_equal(wfs_node_handover(barred, "b", NULL), -EAGAIN);
	wfs_node_free(barred);
}

/* --- answers that do not come --- */

/* Loses the answer to a request that is one of the next few; whatever it was, the world goes on,
 * and every change that was answered is there once. */
static void lose(struct nodes *nodes, enum etcd_fate fate)
{
	enter(nodes, 0, "a", "p");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	enter(nodes, 1, "b", "");
	expect_role(nodes, 1, WFS_NODE_FOLLOWER);

	for (int i = 0; i < 12; i++) {
		const uint64_t before = height(nodes, 0);
		char key[16];

		snprintf(key, sizeof(key), "n%d", i);
		etcd_fate(nodes->peers[0].proxy, i % 3, fate);
		const int r = send(nodes, 0, key);
		expect_role(nodes, 0, WFS_NODE_OWNER);
		assert_true(r == 0 || r == -EAGAIN || r == -ETIMEDOUT);
		assert_true(r != 0 || height(nodes, 0) == before + 1);
		assert_true(r != -EAGAIN || height(nodes, 0) == before);
		if (fate == ETCD_LATE)
			etcd_release(nodes->peers[0].proxy);
	}
	assert_int_equal(send(nodes, 0, "last"), 0);
	expect_height(nodes, 1, height(nodes, 0));
}

NODE(a_lost_request_loses_nothing)
{
	lose(nodes, ETCD_LOSE_REQUEST);
}

NODE(a_lost_answer_loses_nothing)
{
	lose(nodes, ETCD_LOSE_ANSWER);
}

NODE(a_request_that_comes_twice_is_done_once)
{
	lose(nodes, ETCD_TWICE);
}

/* --- damage --- */

NODE(a_changed_log_is_named_and_a_repaired_one_goes_on)
{
	enter(nodes, 0, "a", "");
	expect_role(nodes, 0, WFS_NODE_OWNER);
	const uint64_t before = height(nodes, 0);
	assert_int_equal(send(nodes, 0, "x"), 0);

	char line[400];
	snprintf(line, sizeof(line),
		"K=node/%d/log/$(printf %%020d %llu); "
		"etcdctl --endpoints $ETCD get --print-value-only $K | head -c -1 >$DIR/batch; "
		"sed 's/\"n\":/\"m\":/; s/to/tp/' $DIR/batch | "
		"etcdctl --endpoints $ETCD put $K >/dev/null",
		nodes->prefix, (unsigned long long)before);
	etcd_shell(&etcd, line);
	enter(nodes, 1, "b", "");

	expect_problem(nodes, 1, "invalid_argument");
	assert_int_equal(height(nodes, 1), before);

	snprintf(line, sizeof(line),
		"etcdctl --endpoints $ETCD put node/%d/log/$(printf %%020d %llu) <$DIR/batch "
		">/dev/null",
		nodes->prefix, (unsigned long long)before);
	etcd_shell(&etcd, line);

	expect_problem(nodes, 1, NULL);
	expect_height(nodes, 1, height(nodes, 0));
}
