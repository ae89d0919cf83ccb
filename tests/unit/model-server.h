/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/agents/model_server.py as a child: started, told what to answer, asked what came.
 *
 * It ends with its standard input, so also when the test dies.
 */
#pragma once

#include "tests/fixture/test.h"
#include "tests/unit/json-helper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kernel/base/buffer.h"

#ifndef SOURCE_ROOT /* the build gives it */
#define SOURCE_ROOT "."
#endif

struct model_server {
	pid_t pid;
	int input; /* its standard input; it ends with it */
	int port;
	char base_url[64];
};

static inline void model_server_run(int input, int output, const char *certificate)
{
	static const char program[] = SOURCE_ROOT "/tests/agents/model_server.py";

	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	if (certificate)
		execl(program, program, "--certificate", certificate, (char *)NULL);
	else
		execl(program, program, (char *)NULL);
	_exit(127);
}

/* @certificate: PEM file, then it speaks TLS; NULL: it does not. Return: 0, -1. */
static inline int model_server_start(struct model_server *server, const char *certificate)
{
	int input[2];
	int output[2];
	char line[16] = "";
	size_t size = 0;

	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
		return -1;
	server->pid = fork();
	if (server->pid == 0)
		model_server_run(input[0], output[1], certificate);
	close(input[0]);
	close(output[1]);
	server->input = input[1];
	while (size < sizeof(line) - 1 && read(output[0], line + size, 1) == 1 &&
		line[size] != '\n')
		size++;
	close(output[0]);
	server->port = (int)strtol(line, NULL, 10);
	(void)snprintf(server->base_url, sizeof(server->base_url), "%s://127.0.0.1:%d/v1",
		certificate ? "https" : "http", server->port);
	return server->pid > 0 && server->port > 0 ? 0 : -1;
}

static inline void model_server_stop(struct model_server *server)
{
	close(server->input);
	while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static inline int model_server_connect(const struct model_server *server)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)server->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Asks it something outside of the plan, and waits. Return: the answer; caller owns it. */
static inline json_t *model_server_ask(
	const struct model_server *server, const char *method, const char *path, const char *body)
{
	WFS_AUTO_FD const int fd = model_server_connect(server);
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_error error = {0};
	json_t *json = NULL;
	ssize_t size = 0;

	wfs_buffer_printf(&bytes,
		"%s %s HTTP/1.1\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", method,
		path, strlen(body), body);
	assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
	wfs_buffer_reset(&bytes);
	do {
		bytes.size += (size_t)size;
		assert_int_equal(wfs_buffer_reserve(&bytes, 65536), 0);
		size = read(fd, bytes.data + bytes.size, 65536);
		assert_true(size >= 0);
	} while (size > 0);
	const char *const answer = strstr(wfs_buffer_text(&bytes), "\r\n\r\n");

	assert_non_null(answer);
	if (wfs_json_parse(answer + 4, strlen(answer + 4), &json, &error) != 0)
		fail_msg("%s %s: %s: %s", method, path, error.message, answer);
	return json;
}

/* @plan: with ' for ". Forgets what came before. */
static inline void model_server_plan(const struct model_server *server, const char *plan)
{
	WFS_AUTO_FREE char *text = json_text(plan);

	json_decref(model_server_ask(server, "DELETE", "/requests", ""));
	json_decref(model_server_ask(server, "POST", "/plan", text));
}

/* What came since the plan. Caller owns it. */
static inline json_t *model_server_requests(const struct model_server *server)
{
	return model_server_ask(server, "GET", "/requests", "");
}

/* A member of the server's statistics. */
static inline int model_server_stat(const struct model_server *server, const char *name)
{
	WFS_AUTO_JSON json_t *stats = model_server_ask(server, "GET", "/stats", "");

	return (int)json_integer_value(json_object_get(stats, name));
}
