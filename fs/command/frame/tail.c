/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lines of a file as they come. */
#include "fs/command/frame/tail.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/clock.h"

#define MS_NS INT64_C(1000000)

/* An open file; fd -1: none. */
struct source {
	int fd;
	dev_t device;
	ino_t inode;
	int watch; /* of inotify; -1: none */
	bool last; /* all bytes were read, and no more are waited for */
	struct wfs_lines lines;
};

struct wfs_tail {
	const char *path;
	wfs_tail_tell *tell;
	void *context;
	bool is_input;         /* the file is not followed: it ends */
	bool missing;          /* it was told that the file does not exist */
	struct source current; /* the file that the path names, or that it named last */
	struct source old;     /* the file before it */
	int64_t old_until_ns;  /* when the old file is given up, if no byte comes before */
	int inotify_fd;        /* -1: it cannot be had */
};

static void source_done(struct wfs_tail *tail, struct source *source)
{
	if (source->watch >= 0)
		(void)inotify_rm_watch(tail->inotify_fd, source->watch);
	if (source->fd >= 0)
		close(source->fd);
	wfs_lines_done(&source->lines);
	*source = (struct source){.fd = -1, .watch = -1};
}

static void lines_begin(struct wfs_lines *lines, int fd)
{
	wfs_lines_done(lines);
	wfs_lines_init(lines, fd);
	lines->drops_long = true;
}

static void report(const struct wfs_tail *tail, const char *what)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "'%s' %s", tail->path, what);
	tail->tell(tail->context, wfs_buffer_text(&text));
}

/* Has Linux report when the file grows. It cannot for all files; then only the time-out of poll(2)
 * has the file looked at. Return: the watch, -1: none. */
static int watch(const struct wfs_tail *tail, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tail->inotify_fd < 0
		? -1
		: inotify_add_watch(tail->inotify_fd, path, IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF);
}

/* Opens the file that the path names. Return: 1; 0: it does not exist; or -errno. */
static int open_current(struct wfs_tail *tail, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = open(tail->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &status) < 0)
		return wfs_error_from_errno(error, -errno, "open '%s'", tail->path);
	if (!S_ISREG(status.st_mode))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s': expected a regular file, or - for standard input", tail->path);
	const int watched = watch(tail, fd);
	tail->current = (struct source){
		.fd = WFS_STEAL_FD(fd),
		.device = status.st_dev,
		.inode = status.st_ino,
		.watch = watched,
	};
	lines_begin(&tail->current.lines, tail->current.fd);
	return 1;
}

static int open_first(struct wfs_tail *tail, struct wfs_error *error)
{
	tail->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const int r = open_current(tail, error);

	tail->missing = r == 0;
	if (tail->missing)
		report(tail, "does not exist yet: waiting for it");
	return r;
}

int wfs_tail_new(const char *path, bool follow, wfs_tail_tell *tell, void *context,
	struct wfs_tail **ret_tail, struct wfs_error *error)
{
	WFS_AUTO_TAIL struct wfs_tail *tail = calloc(1, sizeof(*tail));

	if (!tail)
		return wfs_error_from_errno(error, -ENOMEM, "read '%s'", path);
	tail->path = path;
	tail->tell = tell;
	tail->context = context;
	tail->current = tail->old = (struct source){.fd = -1, .watch = -1};
	tail->inotify_fd = -1;
	tail->is_input = !follow || strcmp(path, "-") == 0;
	if (tail->is_input) {
		tail->current.fd = wfs_input_open(path, error);
		lines_begin(&tail->current.lines, tail->current.fd);
	}
	const int r = tail->is_input ? tail->current.fd : open_first(tail, error);
	if (r < 0)
		return r;
	*ret_tail = WFS_STEAL(tail);
	return 0;
}

void wfs_tail_free(struct wfs_tail *tail)
{
	if (!tail)
		return;
	source_done(tail, &tail->current);
	source_done(tail, &tail->old);
	if (tail->inotify_fd >= 0)
		close(tail->inotify_fd);
	free(tail);
}

static bool take(struct source *source, struct wfs_bytes *ret_line, uint64_t *ret_number)
{
	if (source->fd < 0 || !wfs_lines_next(&source->lines, ret_line))
		return false;
	*ret_number = source->lines.number;
	return true;
}

bool wfs_tail_next(struct wfs_tail *tail, struct wfs_bytes *ret_line, uint64_t *ret_number)
{
	return take(&tail->old, ret_line, ret_number) || take(&tail->current, ret_line, ret_number);
}

/* Return: how many bytes came, or -errno. */
static int64_t fill(struct source *source)
{
	const uint64_t before = source->lines.read_bytes;
	const int r = wfs_lines_fill(&source->lines);

	return r ? r : (int64_t)(source->lines.read_bytes - before);
}

/* Reads the file that was replaced, and gives it up after some time without bytes. */
static int fill_old(struct wfs_tail *tail)
{
	const int64_t now_ns = wfs_clock_monotonic_ns();
	struct source *const old = &tail->old;
	int64_t came;

	if (old->fd < 0)
		return 0;
	if (old->last) { /* its last line was taken */
		source_done(tail, old);
		return 0;
	}
	came = fill(old);
	if (came < 0)
		return (int)came;
	old->last = came == 0 && now_ns >= tail->old_until_ns;
	old->lines.ended = old->last;
	if (came > 0)
		tail->old_until_ns = now_ns + WFS_TAIL_OLD_MS * MS_NS;
	return came > 0 || old->last;
}

/* Begins again with a file that became smaller. */
static void check_size(struct wfs_tail *tail)
{
	struct source *const current = &tail->current;
	struct stat status;

	if (fstat(current->fd, &status) < 0 ||
		(uint64_t)status.st_size >= current->lines.read_bytes)
		return;
	report(tail, "became smaller: it is read from its beginning");
	(void)lseek(current->fd, 0, SEEK_SET);
	lines_begin(&current->lines, current->fd);
}

/* Tells once why no file can be read. */
static void tell_missing(struct wfs_tail *tail, const char *what)
{
	if (!tail->missing)
		report(tail, what);
	tail->missing = true;
}

/* Does the path name another file than the open one? */
static bool is_replaced(struct wfs_tail *tail)
{
	const struct source *const current = &tail->current;
	struct stat status;

	if (stat(tail->path, &status) < 0) {
		tell_missing(tail, "is gone: waiting for another file of this name");
		return false;
	}
	if (current->fd >= 0 && status.st_dev == current->device &&
		status.st_ino == current->inode) {
		tail->missing = false;
		return false;
	}
	return true;
}

/* Opens the file that the path names now, if it is another one than before.
 * Return: 1 (something has changed, so look again), or 0. */
static int check_name(struct wfs_tail *tail)
{
	const struct source before = tail->current;

	if (!is_replaced(tail))
		return 0;
	if (tail->old.fd >= 0) { /* it is given up before the next one */
		tail->old_until_ns = 0;
		return 1;
	}
	const int r = open_current(tail, NULL);
	if (r <= 0) {
		tell_missing(tail, "cannot be opened: waiting until it can be");
		return 0;
	}
	tail->missing = false;
	report(tail, before.fd >= 0 ? "was replaced: lines are counted from 1 again" : "is there");
	tail->old = before;
	tail->old_until_ns = wfs_clock_monotonic_ns() + WFS_TAIL_OLD_MS * MS_NS;
	return 1;
}

/* Forgets what inotify has reported: it only had to end poll(2). */
static void drain(const struct wfs_tail *tail)
{
	char events[4096];

	if (tail->inotify_fd >= 0)
		while (read(tail->inotify_fd, events, sizeof(events)) > 0)
			;
}

static int fill_current(struct wfs_tail *tail, struct wfs_error *error)
{
	struct pollfd ready = {.fd = tail->current.fd, .events = POLLIN};
	int64_t came = 0;

	if (tail->is_input && poll(&ready, 1, 0) <= 0)
		return 0;
	if (tail->current.fd >= 0) {
		if (!tail->is_input)
			check_size(tail);
		came = fill(&tail->current);
		if (came < 0)
			return wfs_error_from_errno(error, (int)came, "read '%s'", tail->path);
		if (!tail->is_input)
			tail->current.lines.ended = false; /* it may grow */
	}
	if (came > 0 || tail->is_input)
		return came > 0;
	return check_name(tail);
}

int wfs_tail_fill(struct wfs_tail *tail, struct wfs_error *error)
{
	drain(tail);
	const int old = fill_old(tail);

	if (old < 0)
		return wfs_error_from_errno(error, old, "read '%s'", tail->path);
	const int current = fill_current(tail, error);
	return current < 0 ? current : old || current;
}

struct pollfd wfs_tail_poll(const struct wfs_tail *tail)
{
	return (struct pollfd){
		.fd = tail->is_input ? tail->current.fd : tail->inotify_fd, .events = POLLIN};
}

bool wfs_tail_ended(const struct wfs_tail *tail)
{
	const struct wfs_lines *const lines = &tail->current.lines;

	return tail->is_input && lines->ended && lines->taken_bytes == lines->buffer.size;
}
