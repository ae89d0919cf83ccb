/* SPDX-License-Identifier: Apache-2.0 */
/* What one node gets from another, or from a network that fails. */
#include "tests/fixture/node.h"
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define WITH_NODE(name) TEST_WITH(name, struct node *node, node_open, node_close)
#define TEXT(text) wfs_bytes_text(text)

/* --- pins and tokens --- */

WITH_NODE(another_key_is_refused)
{
	struct wfs_peer_options options = node_peer_options(node);
	WFS_AUTO_IDENTITY struct wfs_identity *other = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_identity_new(&other, NULL), 0);
	options.pin = wfs_identity_pin(other);
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);

	assert_int_equal(node_ask(peer, TEXT("x"), &error), -EACCES);
	assert_int_equal(error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(node_look(node, &node->request_count), 0);
}

WITH_NODE(another_token_is_refused)
{
	struct wfs_peer_options options = node_peer_options(node);
	WFS_AUTO_IDENTITY struct wfs_identity *other = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_identity_new(&other, NULL), 0);
	options.token = wfs_identity_token(other);
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);

	assert_int_equal(node_ask(peer, TEXT("x"), &error), -EACCES);
	assert_int_equal(error.code, WFS_E_NOT_AUTHORIZED);
	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, STDOUT_FILENO, &error), -EACCES);
	assert_int_equal(node_look(node, &node->request_count), 0);
}

WITH_NODE(what_is_no_peer_is_refused)
{
	static const char *const addresses[] = {
		"", "a", "a:", "a:99999", "a:1/x", "a:1?x", "u@a:1", "[::1]", "a:1#x", "a b:1"};
	struct wfs_peer_options options = node_peer_options(node);
	struct wfs_peer *peer = NULL;
	struct wfs_error error = {0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(addresses); i++) {
		print_message("'%s'\n", addresses[i]);
		options.address = addresses[i];
		assert_int_equal(wfs_peer_new(&options, &peer, &error), -EINVAL);
	}
	options.address = "a:1";
	options.pin = "/etc/passwd";
	assert_int_equal(wfs_peer_new(&options, &peer, &error), -EINVAL);
	options.pin = wfs_identity_pin(node->identity);
	options.token = "x\r\nX: y";
	assert_int_equal(wfs_peer_new(&options, &peer, &error), -EINVAL);
	assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
}

/* --- bytes --- */

WITH_NODE(the_largest_request_arrives)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	struct wfs_error error = {0};
	char *const body = malloc(WFS_PORT_BODY_MAX + 1);

	assert_non_null(body);
	for (size_t i = 0; i <= WFS_PORT_BODY_MAX; i++)
		body[i] = (char)('a' + i % 23);
	assert_int_equal(node_ask(peer, WFS_BYTES(body, WFS_PORT_BODY_MAX), NULL), 200);
	assert_true(
		wfs_bytes_equal(wfs_buffer_bytes(&node->last), WFS_BYTES(body, WFS_PORT_BODY_MAX)));
	assert_int_equal(node_ask(peer, WFS_BYTES(body, WFS_PORT_BODY_MAX + 1), &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_int_equal(node_ask(peer, TEXT(""), &error), -EINVAL);
	assert_int_equal(node_look(node, &node->request_count), 1);
	free(body);
}

WITH_NODE(after_an_answer_that_is_too_large_nobody_knows)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	struct wfs_error error = {0};

	assert_int_equal(node_ask(peer, TEXT(NODE_HUGE), &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

/* --- blobs --- */

/* Gets the node's blob. @ret_size: of the file */
static int get_blob(struct node *node, uint64_t size_max, struct wfs_error *error, off_t *ret_size)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);
	const int r = wfs_peer_blob(peer, &node->blob_hash, size_max, fd, error);

	*ret_size = lseek(fd, 0, SEEK_END);
	return r;
}

WITH_NODE(a_blob_arrives)
{
	static const size_t sizes[] = {0, 1, 65536, 65537, 20000000};
	off_t size;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++) {
		print_message("%zu bytes\n", sizes[i]);
		node_show_blob(node, sizes[i], sizes[i]);
		assert_int_equal(get_blob(node, sizes[i], NULL, &size), 0);
		assert_int_equal(size, sizes[i]);
	}
}

WITH_NODE(a_blob_that_the_node_lacks_is_not_found)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	const struct wfs_hash hash = wfs_hash_of("x", 1);
	struct wfs_error error = {0};

	assert_int_equal(wfs_peer_blob(peer, &hash, 10, STDOUT_FILENO, &error), -ENOENT);
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

WITH_NODE(a_blob_that_is_too_large_is_refused)
{
	struct wfs_error error = {0};
	off_t size;

	node_show_blob(node, 100000, 100000);
	assert_int_equal(get_blob(node, 99999, &error, &size), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_true(size <= 99999);
}

WITH_NODE(a_blob_that_is_shorter_than_announced_fails)
{
	struct wfs_error error = {0};
	off_t size;

	node_show_blob(node, 100000, 100001);
	assert_int_equal(get_blob(node, 1000000, &error, &size), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
}

WITH_NODE(a_blob_of_other_bytes_is_refused)
{
	struct wfs_error error = {0};
	off_t size;

	node_show_blob(node, 1000, 1000);
	node->blob.data[500] ^= 1;
	assert_int_equal(get_blob(node, 1000, &error, &size), -EIO);
	assert_int_equal(error.code, WFS_E_HASH_MISMATCH);
}

WITH_NODE(a_full_disk_is_said_to_be_full)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct wfs_error error = {0};

	node_show_blob(node, 1000, 1000);
	assert_int_equal(wfs_peer_blob(peer, &node->blob_hash, 1000, full, &error), -ENOSPC);
	assert_int_equal(error.code, WFS_E_STORE_FULL);
}

/* --- backups --- */

/* Has the node make backups of so many bytes. */
static void make_backup(struct node *node, size_t size, bool whole)
{
	WFS_GUARD(&node->lock);

	node->backup_bytes = size;
	node->backup_is_whole = whole;
}

WITH_NODE(a_backup_arrives)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);
	char bytes[3] = "";

	make_backup(node, 5000003, true);
	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, fd, NULL), 0);

	assert_int_equal(lseek(fd, 0, SEEK_END), 5000003);
	assert_int_equal(pread(fd, bytes, 3, 5000000), 3);
	assert_memory_equal(bytes, "012", 3);
	node_wait(node, &node->backup_done_count, 1);
}

WITH_NODE(a_backup_that_is_not_whole_fails)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);
	struct wfs_error error = {0};
	char said[4096];

	make_backup(node, 100000, false);
	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, fd, &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	assert_int_equal(node_stranger(node, "$C -H \"$A\" https://$AT/v1/backup", said), 18);
	node_wait(node, &node->backup_done_count, 2);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

WITH_NODE(a_backup_that_is_larger_than_expected_is_refused)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);
	struct wfs_error error = {0};

	make_backup(node, 5000003, true);
	assert_int_equal(wfs_peer_backup(peer, 5000002, fd, &error), -EFBIG);

	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	assert_true(lseek(fd, 0, SEEK_END) <= 5000002);
	node_wait(node, &node->backup_done_count, 1);
}

/* Stops a transfer some time after its first bytes. */
static bool lose_patience(void *context, uint64_t done_bytes)
{
	int *const looks = context;

	return done_bytes == 0 || (*looks)++ < 2;
}

static bool stop_when_it_has_come(void *context, uint64_t done_bytes)
{
	struct node *const node = context;

	(void)done_bytes;
	return node_look(node, &node->request_count) == 0;
}

WITH_NODE(a_backup_is_stopped_while_no_byte_comes)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);
	int looks = 0;
	struct wfs_error error = {0};

	node->backup_is_stuck = true;
	wfs_peer_watch(peer, lose_patience, &looks);
	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, fd, &error), -EINTR);

	assert_int_equal(error.code, WFS_E_CANCELLED);
	node_wait(node, &node->backup_done_count, 1);
	wfs_peer_watch(peer, NULL, NULL);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

WITH_NODE(a_request_is_stopped_while_it_has_no_answer)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};
	int status = 0;
	struct wfs_error error = {0};

	node->answers_gone = true;
	wfs_peer_watch(peer, stop_when_it_has_come, node);
	assert_int_equal(
		wfs_peer_request(peer, TEXT(NODE_HOLD), &status, &answer, &error), -ETIMEDOUT);

	assert_int_equal(error.code, WFS_E_TIMEOUT);
	node_wait(node, &node->gone_count, 1);
}

WITH_NODE(a_node_that_makes_no_backup_says_so)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);

	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, STDOUT_FILENO, NULL), -ENOENT);
}

WITH_NODE(a_backup_ends_when_its_client_leaves)
{
	struct wfs_peer_options options = node_peer_options(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);

	node->backup_is_stuck = true;
	options.progress_ms = 1000;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);

	assert_int_equal(wfs_peer_backup(peer, UINT64_MAX, fd, NULL), -EAGAIN);
	node_wait(node, &node->backup_done_count, 1);
}

static void *fetch_backup(void *context)
{
	struct node *const node = context;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);

	return (void *)(intptr_t)wfs_peer_backup(peer, UINT64_MAX, fd, NULL);
}

WITH_NODE(a_port_that_is_freed_ends_backups)
{
	pthread_t thread;
	void *result;

	node->backup_is_stuck = true;
	assert_int_equal(pthread_create(&thread, NULL, fetch_backup, node), 0);
	pthread_mutex_lock(&node->lock);
	while (node->stuck_fd < 0)
		pthread_cond_wait(&node->changed, &node->lock);
	pthread_mutex_unlock(&node->lock);
	wfs_port_free(WFS_STEAL(node->port));

	pthread_join(thread, &result);
	assert_int_equal((int)(intptr_t)result, -EAGAIN);
	assert_int_equal(node->backup_done_count, 1);
}

/* --- a network that fails --- */

WITH_NODE(a_node_that_has_begun_again_is_reached)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	char address[300];

	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	snprintf(address, sizeof(address), "%s", wfs_port_address(node->port));
	const struct wfs_port_options options = node_options(node, address);
	node_serve_again(node, &options);

	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

WITH_NODE(a_node_that_is_not_there_gets_nothing)
{
	struct wfs_peer_options options = node_peer_options(node);
	struct wfs_error error = {0};
	char address[32];

	close(node_listen(address));
	options.address = address;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);

	assert_int_equal(node_ask(peer, TEXT("x"), &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	assert_non_null(strstr(error.message, address));
}

WITH_NODE(a_node_that_does_not_speak_tls_gets_nothing)
{
	struct wfs_peer_options options = node_peer_options(node);
	char address[32];
	const int silent = node_listen(address);

	options.address = address;
	options.connect_ms = 200;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);

	assert_int_equal(node_ask(peer, TEXT("x"), NULL), -EAGAIN);
	close(silent);
}

/* Passes bytes between one client and a node, connection after connection. */
struct relay {
	int listener;
	char address[32];
	const char *node;
	int cut;              /* atomic: end the connection instead of passing the next answer */
	int connection_count; /* atomic */
	pthread_t thread;
};

/* Passes what @from has to @to. Return: false at the end. */
static bool pass(int from, int to)
{
	char bytes[16384];
	const ssize_t size = read(from, bytes, sizeof(bytes));

	return size > 0 && send(to, bytes, (size_t)size, MSG_NOSIGNAL) == size;
}

static void relay_connection(struct relay *relay, int client, int server)
{
	bool going = true;

	while (going) {
		fd_set ready;

		FD_ZERO(&ready);
		FD_SET(client, &ready);
		FD_SET(server, &ready);
		select((client > server ? client : server) + 1, &ready, NULL, NULL, NULL);
		if (FD_ISSET(server, &ready))
			going = !__atomic_exchange_n(&relay->cut, 0, __ATOMIC_SEQ_CST) &&
				pass(server, client);
		if (going && FD_ISSET(client, &ready))
			going = pass(client, server);
	}
}

static void *run_relay(void *context)
{
	struct relay *const relay = context;
	int client;

	while ((client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		__atomic_add_fetch(&relay->connection_count, 1, __ATOMIC_SEQ_CST);
		const int server = node_connect(relay->node);
		relay_connection(relay, client, server);
		close(client);
		close(server);
	}
	return NULL;
}

WITH_NODE(no_request_is_sent_twice)
{
	struct relay relay = {.node = wfs_port_address(node->port)};
	struct wfs_peer_options options = node_peer_options(node);
	struct wfs_error error = {0};

	relay.listener = node_listen(relay.address);
	assert_int_equal(pthread_create(&relay.thread, NULL, run_relay, &relay), 0);
	options.address = relay.address;
	struct wfs_peer *const peer = node_peer_with(&options);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	/* A connection is used again: otherwise this test shows nothing. */
	assert_int_equal(__atomic_load_n(&relay.connection_count, __ATOMIC_SEQ_CST), 1);
	__atomic_store_n(&relay.cut, 1, __ATOMIC_SEQ_CST);

	assert_int_equal(node_ask(peer, TEXT("x"), &error), -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
	assert_int_equal(node_look(node, &node->request_count), 3);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	assert_int_equal(node_look(node, &node->request_count), 4);
	wfs_peer_free(peer);
	shutdown(relay.listener, SHUT_RDWR);
	pthread_join(relay.thread, NULL);
	close(relay.listener);
}
