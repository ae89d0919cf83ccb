/* SPDX-License-Identifier: Apache-2.0 */
/* What a node's port does, also for Debian's curl and openssl. */
#include "tests/fixture/node.h"
#include "tests/fixture/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/base/clock.h"
#include "kernel/base/hash-text.h"

#define WITH_NODE(name) TEST_WITH(name, struct node *node, node_open, node_close)
#define TEXT(text) wfs_bytes_text(text)

enum { CLIENTS = 200 };

/* A TLS client of openssl, which sends what a test writes. */
struct raw {
	pid_t process;
	int fd;
};

static void raw_open(struct raw *raw, const struct node *node)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	raw->fd = ends[0];
	raw->process = fork();
	assert_true(raw->process >= 0);
	if (raw->process == 0) {
		dup2(ends[1], STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDERR_FILENO);
		execlp("openssl", "openssl", "s_client", "-quiet", "-connect",
			wfs_port_address(node->port), NULL);
		_exit(127);
	}
	close(ends[1]);
}

static void raw_printf(const struct raw *raw, const struct node *node, const char *head)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", head,
		wfs_identity_token(node->identity));
	assert_int_equal(send(raw->fd, text.data, text.size, MSG_NOSIGNAL), text.size);
}

static void raw_text(const struct raw *raw, const char *text)
{
	assert_int_equal(send(raw->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads until the connection ends. Return: how many bytes came. */
static size_t raw_read(const struct raw *raw, char ret_said[static 4096])
{
	size_t size = 0;
	ssize_t count;

	while (size < 4095 && (count = read(raw->fd, ret_said + size, 4095 - size)) > 0)
		size += (size_t)count;
	ret_said[size] = '\0';
	return size;
}

static void raw_close(struct raw *raw)
{
	kill(raw->process, SIGKILL);
	waitpid(raw->process, NULL, 0);
	close(raw->fd);
}

/* --- identities --- */

WITH_NODE(a_pin_is_what_openssl_computes)
{
	char said[4096];

	assert_int_equal(
		node_stranger(node,
			"openssl s_client -connect $AT </dev/null 2>/dev/null | openssl x509 "
			"-pubkey -noout | openssl pkey -pubin -outform der | openssl dgst "
			"-sha256 -binary | base64",
			said),
		0);
	said[strcspn(said, "\n")] = '\0';
	assert_string_equal(said, wfs_identity_pin(node->identity) + strlen("sha256//"));
}

WITH_NODE(identities_differ)
{
	WFS_AUTO_IDENTITY struct wfs_identity *other = NULL;

	assert_int_equal(wfs_identity_new(&other, NULL), 0);

	assert_string_not_equal(wfs_identity_pin(other), wfs_identity_pin(node->identity));
	assert_string_not_equal(wfs_identity_token(other), wfs_identity_token(node->identity));
	assert_int_equal(strlen(wfs_identity_token(other)), 64);
	wfs_identity_free(NULL);
	wfs_port_free(NULL);
	wfs_peer_free(NULL);
}

/* --- requests --- */

WITH_NODE(a_request_gets_its_answer)
{
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};
	int status = 0;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(
			wfs_peer_request(peer, TEXT("{\"a\":1}"), &status, &answer, NULL), 0);
		assert_int_equal(status, 200);
		assert_string_equal(wfs_buffer_text(&answer), "{\"a\":1}");
	}
	assert_int_equal(node_look(node, &node->request_count), 3);
}

WITH_NODE(an_answer_comes_from_another_thread)
{
	struct asking asking;

	asking_start(&asking, node_peer(node), NODE_HOLD);
	node_wait(node, &node->held_count, 1);
	node_answer(node);

	assert_int_equal(asking_end(&asking), 409);
	assert_int_equal(node_look(node, &node->gone_count), 0);
}

WITH_NODE(two_hundred_clients_wait_at_once)
{
	static struct asking askings[CLIENTS];

	for (int i = 0; i < CLIENTS; i++)
		asking_start(&askings[i], node_peer(node), NODE_HOLD);
	node_wait(node, &node->held_count, CLIENTS);
	node_answer(node);

	for (int i = 0; i < CLIENTS; i++)
		assert_int_equal(asking_end(&askings[i]), 409);
}

WITH_NODE(strangers_get_a_status)
{
	static const struct {
		const char *line;
		const char *said;
	} cases[] = {
		{"$C -H \"$A\" -d x https://$AT/v1/request", "200"},
		{"$C -H \"$A\" -d x --tls-max 1.2 https://$AT/v1/request", "200"},
		{"$C -d x https://$AT/v1/request", "401"},
		{"$C -H \"${A}0\" -d x https://$AT/v1/request", "401"},
		{"$C -H \"${A%?}\" -d x https://$AT/v1/request", "401"},
		{"$C -H \"${A%?}x\" -d x https://$AT/v1/request", "401"},
		{"$C -H \"Authorization: $TOKEN\" -d x https://$AT/v1/request", "401"},
		{"$C https://$AT/v1/other", "401"},
		{"$C -H \"$A\" https://$AT/", "404"},
		{"$C -H \"$A\" https://$AT/v1/requests", "404"},
		{"$C -H \"$A\" -d x https://$AT/v1/request?a=b", "404"},
		{"$C -H \"$A\" --path-as-is https://$AT/v1/blob/../backup", "404"},
		{"$C -H \"$A\" https://$AT/v1/blob/00", "404"},
		{"$C -H \"$A\" https://$AT/v1/request", "405"},
		{"$C -H \"$A\" -I https://$AT/v1/backup", "405"},
		{"$C -H \"$A\" -X DELETE https://$AT/v1/blob/00", "405"},
		{"$C -H \"$A\" -H Transfer-Encoding:chunked -d x https://$AT/v1/request", "411"},
		{"$C -H \"$A\" -X POST https://$AT/v1/request", "411"},
		{"$C -H \"$A\" -d '' https://$AT/v1/request", "411"},
		{"head -c 83886081 /dev/zero | $C -H \"$A\" -H Expect:100-continue "
		 "--data-binary @- https://$AT/v1/request",
			"413"},
		{"$C -H \"$A\" -H \"X: $(head -c 70000 /dev/zero | tr '\\0' a)\" -d x "
		 "https://$AT/v1/request",
			"431"},
		{"$C -H \"$A\" --http1.0 -d x https://$AT/v1/request", "505"},
		{"$C -H \"$A\" -H Host:elsewhere -d x https://$AT/v1/request", "200"},
	};
	char said[4096];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("%s\n", cases[i].line);
		(void)node_stranger(node, cases[i].line, said);
		assert_string_equal(said, cases[i].said);
	}
	assert_int_equal(node_look(node, &node->request_count), 3);
}

WITH_NODE(without_tls_nothing_is_answered)
{
	static const char text[] = "GET /v1/backup HTTP/1.1\r\nHost: x\r\n\r\n";
	const int fd = node_connect(wfs_port_address(node->port));
	char said[4096];
	size_t size = 0;
	ssize_t count;

	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	while (size < sizeof(said) - 1 &&
		(count = read(fd, said + size, sizeof(said) - 1 - size)) > 0)
		size += (size_t)count;
	said[size] = '\0';

	assert_null(strstr(said, "HTTP"));
	close(fd);
}

WITH_NODE(old_tls_is_refused)
{
	char said[4096];

	assert_int_not_equal(node_stranger(node,
				     "openssl s_client -tls1_1 -cipher DEFAULT@SECLEVEL=0 -connect "
				     "$AT </dev/null 2>&1",
				     said),
		0);
}

/* --- bounds --- */

WITH_NODE(too_many_requests_are_refused)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");
	struct wfs_error error = {0};
	struct asking first;

	options.calls_max = 1;
	node_serve_again(node, &options);
	WFS_AUTO_PEER struct wfs_peer *second = node_peer(node);
	asking_start(&first, node_peer(node), NODE_HOLD);
	node_wait(node, &node->held_count, 1);

	assert_int_equal(node_ask(second, TEXT("x"), &error), -EAGAIN);
	assert_int_equal(error.code, WFS_E_UNAVAILABLE);
	node_answer(node);
	assert_int_equal(asking_end(&first), 409);
	assert_int_equal(node_look(node, &node->request_count), 1);
}

WITH_NODE(too_many_bytes_of_bodies_are_refused)
{
	struct raw raws[4];
	char said[4096];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(raws); i++) {
		raw_open(&raws[i], node);
		raw_printf(&raws[i], node, "POST /v1/request");
		raw_text(&raws[i], "Content-Length: 83886080\r\nExpect: 100-continue\r\n\r\n");
		/* The port has taken it. */
		assert_true(read(raws[i].fd, said, sizeof(said)) > 0);
		assert_memory_equal(said, "HTTP/1.1 100", strlen("HTTP/1.1 100"));
	}
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);

	assert_int_equal(node_ask(peer, TEXT("x"), NULL), -EAGAIN);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(raws); i++)
		raw_close(&raws[i]);
	/* The port hears of the last one's end some time later. */
	int r = -EAGAIN;
	for (int i = 0; i < 500 && r == -EAGAIN; i++) {
		usleep(10000);
		r = node_ask(peer, TEXT("x"), NULL);
	}
	assert_int_equal(r, 200);
}

/* Opens two connections that stay. Return: does the port serve a third? */
static bool serves_a_third(struct node *node, const struct wfs_port_options *options)
{
	struct asking askings[2];

	node_serve_again(node, options);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askings); i++) {
		asking_start(&askings[i], node_peer(node), NODE_HOLD);
		node_wait(node, &node->held_count, i + 1);
	}
	struct wfs_peer_options third = node_peer_options(node);
	third.connect_ms = 500;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&third);
	const int r = node_ask(peer, TEXT("x"), NULL);
	node_answer(node);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askings); i++)
		assert_int_equal(asking_end(&askings[i]), 409);
	return r == 200;
}

WITH_NODE(too_many_connections_are_refused)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");

	assert_true(serves_a_third(node, &options));
	options.connections_max = 2;
	assert_false(serves_a_third(node, &options));
	options.connections_max = 3;
	assert_true(serves_a_third(node, &options));
	options.address_connections_max = 2;
	assert_false(serves_a_third(node, &options));
}

WITH_NODE(a_client_that_says_nothing_is_sent_away)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");
	char byte;

	options.idle_ms = 300;
	node_serve_again(node, &options);
	const int64_t before_ns = wfs_clock_monotonic_ns();
	const int fd = node_connect(wfs_port_address(node->port));

	assert_int_equal(read(fd, &byte, 1), 0);
	assert_true(wfs_clock_monotonic_ns() - before_ns >= 250 * INT64_C(1000000));
	close(fd);
}

WITH_NODE(a_client_that_drips_bytes_without_a_token_is_sent_away)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");
	struct raw raw;
	char said[4096];

	options.idle_ms = 1500;
	node_serve_again(node, &options);
	raw_open(&raw, node);
	raw_text(&raw, "POST /v1/request HTTP/1.1\r\nX: ");
	for (int i = 0; i < 600; i++) {
		if (send(raw.fd, "x", 1, MSG_NOSIGNAL) < 0)
			break;
		usleep(50000);
	}

	/* openssl ends when the connection does. */
	assert_true(send(raw.fd, "x", 1, MSG_NOSIGNAL) < 0);
	(void)raw_read(&raw, said);
	raw_close(&raw);
}

WITH_NODE(a_client_that_reads_nothing_is_sent_away)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");
	WFS_AUTO_BUFFER struct wfs_buffer head = {0};
	struct raw raw;
	char byte;

	options.idle_ms = 1000;
	options.connections_max = 1;
	node_serve_again(node, &options);
	node_show_blob(node, 50000000, 50000000);
	wfs_buffer_printf(&head, "GET /v1/blob/%s", WFS_HASH_HEX(&node->blob_hash));
	raw_open(&raw, node);
	raw_printf(&raw, node, wfs_buffer_text(&head));
	raw_text(&raw, "\r\n");
	assert_int_equal(recv(raw.fd, &byte, 1, MSG_PEEK), 1);
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);

	/* Another client is served only after the first has gone. */
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	raw_close(&raw);
}

WITH_NODE(half_a_request_is_not_done)
{
	struct wfs_port_options options = node_options(node, "127.0.0.1:0");
	struct raw raw;
	char said[4096];

	options.idle_ms = 1000;
	node_serve_again(node, &options);
	raw_open(&raw, node);
	raw_printf(&raw, node, "POST /v1/request");
	raw_text(&raw, "Content-Length: 10\r\n\r\nhalf");

	assert_null(strstr((raw_read(&raw, said), said), " 200 "));
	assert_int_equal(node_look(node, &node->request_count), 0);
	raw_close(&raw);
}

/* --- clients that leave --- */

WITH_NODE(the_handler_hears_that_a_client_has_left)
{
	struct wfs_peer_options options = node_peer_options(node);
	struct wfs_error error = {0};

	options.request_ms = 500;
	WFS_AUTO_PEER struct wfs_peer *peer = node_peer_with(&options);
	const int r = node_ask(peer, TEXT(NODE_HOLD), &error);

	assert_int_equal(r, -ETIMEDOUT);
	assert_int_equal(error.code, WFS_E_TIMEOUT);
	node_wait(node, &node->gone_count, 1);
	node_answer(node);
	assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
}

WITH_NODE(a_port_that_is_freed_answers_what_is_under_way)
{
	struct asking askings[8];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(askings); i++)
		asking_start(&askings[i], node_peer(node), NODE_HOLD);
	node_wait(node, &node->held_count, WFS_ARRAY_COUNT(askings));
	pthread_mutex_lock(&node->lock);
	node->answers_gone = true;
	pthread_mutex_unlock(&node->lock);
	wfs_port_free(WFS_STEAL(node->port));

	assert_true(node->gone_count >= 1);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askings); i++)
		assert_int_equal(asking_end(&askings[i]), 409);
}

static void *answer_some_time(void *context)
{
	struct node *const node = context;

	node_wait(node, &node->gone_count, 1);
	usleep(50000);
	node_answer(node);
	return NULL;
}

WITH_NODE(a_port_is_not_freed_before_its_calls_are_answered)
{
	struct asking asking;
	pthread_t thread;

	asking_start(&asking, node_peer(node), NODE_HOLD);
	node_wait(node, &node->held_count, 1);
	assert_int_equal(pthread_create(&thread, NULL, answer_some_time, node), 0);
	wfs_port_free(WFS_STEAL(node->port));

	assert_int_equal(node_look(node, &node->held_count), 0);
	assert_int_equal(asking_end(&asking), 409);
	pthread_join(thread, NULL);
}

WITH_NODE(a_port_that_is_freed_does_not_wait_for_half_a_request)
{
	struct raw raw;
	char said[4096];

	raw_open(&raw, node);
	raw_printf(&raw, node, "POST /v1/request");
	raw_text(&raw, "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n");
	assert_true(read(raw.fd, said, sizeof(said)) > 0);
	raw_text(&raw, "half");
	const int64_t before_ns = wfs_clock_monotonic_ns();
	wfs_port_free(WFS_STEAL(node->port));

	assert_true(wfs_clock_monotonic_ns() - before_ns <
		(WFS_PORT_FAREWELL_MS - 1000) * INT64_C(1000000));
	raw_close(&raw);
}

/* A thread that answers what is held. */
struct answering {
	struct node *node;
	int ends; /* atomic */
};

static void *answer_always(void *context)
{
	struct answering *const answering = context;

	while (!__atomic_load_n(&answering->ends, __ATOMIC_SEQ_CST)) {
		usleep(500);
		node_answer(answering->node);
	}
	return NULL;
}

/* Asks with so little time that some answers come too late. Return: NULL: no other result came. */
static void *ask_in_a_hurry(void *context)
{
	struct node *const node = context;
	struct wfs_peer_options options = node_peer_options(node);

	for (int i = 0; i < 40; i++) {
		options.request_ms = 10 + i;
		struct wfs_peer *const peer = node_peer_with(&options);
		for (int j = 0; j < 5; j++) {
			const int r = node_ask(peer, TEXT(NODE_HOLD), NULL);
			if (r != 409 && r != -ETIMEDOUT && r != -EAGAIN)
				return context;
		}
		wfs_peer_free(peer);
	}
	return NULL;
}

WITH_NODE(clients_leave_while_their_answers_come)
{
	pthread_t askers[8];
	struct answering answering = {.node = node};
	pthread_t answerer;
	void *other;

	assert_int_equal(pthread_create(&answerer, NULL, answer_always, &answering), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askers); i++)
		assert_int_equal(pthread_create(&askers[i], NULL, ask_in_a_hurry, node), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(askers); i++) {
		pthread_join(askers[i], &other);
		assert_null(other);
	}
	wfs_port_free(WFS_STEAL(node->port));

	assert_int_equal(node_look(node, &node->held_count), 0);
	__atomic_store_n(&answering.ends, 1, __ATOMIC_SEQ_CST);
	pthread_join(answerer, NULL);
	print_message("%zu requests, %zu gone\n", node->request_count, node->gone_count);
}

/* --- addresses --- */

WITH_NODE(ipv6_and_names_are_addresses)
{
	static const char *const listens[] = {"[::1]:0", "localhost:0", "[::]:0", "0.0.0.0:0"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(listens); i++) {
		const struct wfs_port_options options = node_options(node, listens[i]);

		print_message("%s\n", listens[i]);
		node_serve_again(node, &options);
		assert_memory_equal(
			wfs_port_address(node->port), listens[i], strlen(listens[i]) - 1);
		WFS_AUTO_PEER struct wfs_peer *peer = node_peer(node);
		assert_int_equal(node_ask(peer, TEXT("x"), NULL), 200);
	}
}

WITH_NODE(what_is_no_address_is_refused)
{
	static const char *const listens[] = {"", ":1", "a", "a:", "::1:80", "[::1]", "[::1]80",
		"[]:1", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1x", "192.0.2.1:0"};
	struct wfs_port *port = NULL;
	struct wfs_error error = {0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(listens); i++) {
		const struct wfs_port_options options = node_options(node, listens[i]);

		print_message("'%s'\n", listens[i]);
		assert_int_equal(wfs_port_new(&options, &port, &error), -EINVAL);
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	}
}

WITH_NODE(two_ports_do_not_share_an_address)
{
	const struct wfs_port_options options = node_options(node, wfs_port_address(node->port));
	struct wfs_port *port = NULL;
	struct wfs_error error = {0};

	assert_int_equal(wfs_port_new(&options, &port, &error), -EBUSY);
	assert_int_equal(error.code, WFS_E_BUSY);
}
