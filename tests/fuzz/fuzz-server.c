/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the control socket, with descriptors: parts with 0xff between them, each sent at
 * once. The first byte of a part says how many descriptors go with it (two bits), and of which
 * kinds. WORLD names a world, which a real server serves in a thread of its own.
 *
 * Every line must get one answer, which is a line of JSON; the host must be asked for a mount with
 * three descriptors or not at all; no descriptor may stay in the process.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "fs/base/socket.h"
#include "fs/server/server.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"
#include "kernel/world/world.h"

enum {
	RUNS_PER_COPY = 512, /* runs let the world grow */
	DESCRIPTORS_MAX = 4,
	DESCRIPTORS_LEFT_MAX = 100, /* in a process that serves one client */
	WAIT_MS = 20000,
};

struct served {
	char directory[300];
	struct wfs_host host;
	struct wfs_server *server;
	pthread_t thread;
	sem_t ready;
};

static struct served served;
static size_t run_count;

/* --- the server --- */

static int take_mount(
	struct wfs_host *host, struct wfs_mount_options *mount, struct wfs_error *error)
{
	(void)host;
	FUZZ_MUST(mount->directory[0] == '/' && mount->ctl[0] == '/');
	for (size_t i = 0; i < WFS_HANDED_COUNT; i++)
		FUZZ_MUST(mount->handed.fds[i] >= 0);
	const int r = wfs_handed_check(&mount->handed, error);
	wfs_handed_close(&mount->handed);
	return r;
}

static int refuse_umount(struct wfs_host *host, const char *directory, struct wfs_error *error)
{
	(void)host;
	return wfs_error_set(error, WFS_E_NOT_FOUND, "nothing is mounted at '%.200s'", directory);
}

static void ignore_shutdown(struct wfs_host *host)
{
	(void)host;
}

static void add_nothing(struct wfs_host *host, json_t *status)
{
	(void)host;
	(void)status;
}

static void *serve(void *context)
{
	struct served *const own = context;
	const struct wfs_world_options options = {.wait_ms = 0};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = NULL;
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	WFS_AUTO_SERVER struct wfs_server *server = NULL;
	struct wfs_error error;

	FUZZ_MUST(wfs_world_open(own->directory, &options, &world, &error) == 0);
	FUZZ_MUST(wfs_authority_new(world, &authority, &error) == 0);
	FUZZ_MUST(wfs_session_new(authority, WFS_PRINCIPAL_OPERATOR, &session, &error) == 0);
	FUZZ_MUST(wfs_server_new(session, &own->host, &server, &error) == 0);
	own->server = server;
	sem_post(&own->ready);
	wfs_server_run(server);
	return NULL;
}

static void begin(void)
{
	if (served.server) {
		wfs_server_stop(served.server);
		FUZZ_MUST(pthread_join(served.thread, NULL) == 0);
	}
	fuzz_copy_world(served.directory, sizeof(served.directory));
	FUZZ_MUST(pthread_create(&served.thread, NULL, serve, &served) == 0);
	while (sem_wait(&served.ready) != 0)
		continue;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	(void)signal(SIGPIPE, SIG_IGN);
	served.host = (struct wfs_host){.mount = take_mount,
		.umount = refuse_umount,
		.shutdown = ignore_shutdown,
		.status = add_nothing};
	sem_init(&served.ready, 0, 0);
	return 0;
}

/* --- the client --- */

/* Makes descriptors that a hand-over needs, and others that it must not accept. */
static int descriptor(uint8_t kind)
{
	int pair[2] = {-1, -1};

	switch (kind % 4) {
	case 0:
		return open("/dev/fuse", O_RDWR | O_CLOEXEC);
	case 1:
		FUZZ_MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
		close(pair[1]);
		return pair[0];
	case 2:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	default:
		return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

static void send_part(int fd, struct wfs_bytes part, size_t count, uint8_t kinds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = {0};
	struct iovec vector = {.iov_base = (void *)(uintptr_t)part.data, .iov_len = part.size};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	int fds[DESCRIPTORS_MAX];
	size_t have = 0;

	for (size_t i = 0; i < count; i++) {
		fds[have] = descriptor((uint8_t)(kinds >> 2 * (i % 3)));
		have += fds[have] >= 0;
	}
	if (have > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(have * sizeof(int));
		struct cmsghdr *const rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_len = CMSG_LEN(have * sizeof(int));
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(rights), fds, have * sizeof(int));
	}
	if (part.size > 0)
		FUZZ_MUST(sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)part.size);
	while (have > 0)
		close(fds[--have]);
}

/* Counts the lines that are not empty; the last one may lack its end. */
static void count_lines(struct wfs_bytes part, bool *in_line, size_t *count)
{
	const char *const data = part.data;

	for (size_t i = 0; i < part.size; i++) {
		if (data[i] != '\n' && !*in_line)
			(*count)++;
		*in_line = data[i] != '\n';
	}
}

/* libFuzzer's alarm, every half of -timeout, ends a poll() that waits. */
static void wait_for_more(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = poll(&polled, 1, WAIT_MS);
	while (r < 0 && errno == EINTR);
	FUZZ_MUST(r == 1);
}

/* The owner accepts descriptors only after it has checked the client, so the client waits for an
 * answer first. */
static void begin_talk(int fd)
{
	static const char hello[] = "{\"v\":1,\"id\":\"0\",\"cmd\":\"journal-head\"}\n";
	char last = '\0';

	FUZZ_MUST(send(fd, hello, strlen(hello), MSG_NOSIGNAL) == (ssize_t)strlen(hello));
	while (last != '\n') {
		wait_for_more(fd);
		FUZZ_MUST(recv(fd, &last, 1, 0) == 1);
	}
}

static void receive_all(int fd, struct wfs_buffer *answers)
{
	for (;;) {
		wait_for_more(fd);
		FUZZ_MUST(wfs_buffer_reserve(answers, 1 << 16) == 0);
		const ssize_t size = recv(fd, answers->data + answers->size, 1 << 16, 0);
		if (size <= 0)
			break;
		answers->size += (size_t)size;
	}
}

static void check_answers(const struct wfs_buffer *answers, size_t count)
{
	const char *line = answers->data;
	const char *const all = answers->data + answers->size;

	for (; line < all; count--) {
		const char *const end = memchr(line, '\n', (size_t)(all - line));
		WFS_AUTO_JSON json_t *answer = NULL;

		FUZZ_MUST(end && count > 0);
		FUZZ_MUST(wfs_json_parse(line, (size_t)(end - line), &answer, NULL) == 0);
		FUZZ_MUST(json_is_boolean(json_object_get(answer, "ok")));
		FUZZ_MUST(json_is_true(json_object_get(answer, "ok")) ||
			json_is_string(json_object_get(json_object_get(answer, "error"), "code")));
		line = end + 1;
	}
	FUZZ_MUST(count == 0);
}

static size_t count_descriptors(void)
{
	DIR *const directory = opendir("/proc/self/fd");
	size_t count = 0;

	FUZZ_MUST(directory != NULL);
	/* No other thread reads this directory. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer answers = {.size = 0};
	bool in_line = false;
	size_t lines = 0;

	if (run_count++ % RUNS_PER_COPY == 0)
		begin();
	WFS_AUTO_FD int fd = wfs_socket_connect(served.directory, 0, NULL);
	FUZZ_MUST(fd >= 0);
	begin_talk(fd);
	while (size > 0) {
		const uint8_t what = fuzz_byte(&data, &size);
		const struct wfs_bytes part = fuzz_part(&data, &size);

		count_lines(part, &in_line, &lines);
		send_part(fd, part, what & 3, what >> 2);
	}
	FUZZ_MUST(shutdown(fd, SHUT_WR) == 0);
	receive_all(fd, &answers);
	check_answers(&answers, lines);
	FUZZ_MUST(count_descriptors() < DESCRIPTORS_LEFT_MAX);
	return 0;
}
