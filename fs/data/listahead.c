/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, and the child that lists them. */
#include "fs/data/listahead.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "kernel/base/log.h"

enum {
	SCANS = 8,        /* directories followed at a time; `diff -r` reads two in turn */
	LOOKUPS_MIN = 16, /* look-ups that are worth a first window */
	WINDOW_FIRST = 256,
	WINDOW_GROWTH = 4, /* factor, each time a scan reaches the middle of the last window */
	WINDOW_MAX = 1 << 16,
	CHILD_BUFFER_SIZE = 1 << 16,
};

/* The progress of listing ahead in one directory. */
struct scan {
	uint64_t directory; /* inode; 0: not in use */
	uint64_t born;      /* number of the listing that it follows */
	uint64_t next;      /* offset in the directory where the next window begins */
	uint64_t tripwire;  /* offset after the entry in the middle of the last window; 0: none */
	unsigned int lookups;
	unsigned int window; /* entries of the next window */
	bool wanted;
	bool done; /* nothing is left to list, or listing has failed */
};

/* The child at work. */
struct child {
	pid_t pid;          /* 0: none */
	uint64_t directory; /* our number of the directory that it lists */
	bool plain;         /* it lists without attributes, to fill the cache of listings */
	bool at_end;        /* it has got the directory's last entry */
	uint64_t next;      /* offset that it has reached */
	unsigned int window;
	unsigned int left; /* entries of its window that it has not got yet */
	/* offset after the entry in the middle of its window; 0: not reached yet */
	uint64_t tripwire;
};

struct wfs_listahead {
	const struct wfs_tree *tree;
	const struct wfs_numbers *numbers;
	struct wfs_teller *teller;
	const char *mount; /* NULL: nothing is listed ahead */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	pthread_cond_t idle;
	/* lock: lock */
	bool stopping;
	bool paused; /* no child may run */
	bool busy;   /* the thread has a child, or is going to start one */
	uint64_t listings;
	struct scan scans[SCANS]; /* the one listed last comes first */
	struct child child;
};

/* Calls only functions that are safe in the child of a process with threads: signal-safety(7). */
_Noreturn static void child_main(const char *path, off_t offset, int go)
{
	static char buffer[CHILD_BUFFER_SIZE];
	int fd;

	/* Closes every other descriptor, above all that of /dev/fuse. */
	if (dup2(go, STDIN_FILENO) < 0 || close_range(STDIN_FILENO + 1, ~0U, 0) < 0 ||
		read(STDIN_FILENO, buffer, 1) != 0)
		_exit(1);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || lseek(fd, offset, SEEK_SET) != offset)
		_exit(1);
	while (getdents64(fd, buffer, sizeof(buffer)) > 0)
		continue;
	_exit(0);
}

static struct scan *scan_of(struct wfs_listahead *listahead, uint64_t directory)
{
	for (size_t i = 0; i < SCANS; i++)
		if (listahead->scans[i].directory == directory)
			return &listahead->scans[i];
	return NULL;
}

/* Starts a child that waits until @ret_go is closed. Return: 0 or -errno. */
static int child_start(const char *path, off_t offset, pid_t *ret_child, int *ret_go)
{
	int go[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return -errno;
	WFS_AUTO_FD int closed = go[1];
	WFS_AUTO_FD int waits = go[0];
	pid_t child = fork();
	if (child == 0)
		child_main(path, offset, waits);
	if (child < 0)
		return -errno;
	*ret_child = child;
	*ret_go = WFS_STEAL_FD(closed);
	return 0;
}

static void set_child(struct wfs_listahead *listahead, const struct child *child)
{
	WFS_GUARD(&listahead->lock);

	listahead->child = *child;
	if (listahead->paused && child->pid)
		kill(child->pid, SIGKILL);
}

static struct child end_child(struct wfs_listahead *listahead)
{
	WFS_GUARD(&listahead->lock);
	const struct child child = listahead->child;

	listahead->child = (struct child){0};
	return child;
}

/* Has a child list @path from plan.next on: plan.window entries, or without attributes to the
 * end. */
static int run_child(struct wfs_listahead *listahead, const char *path, struct child plan,
	struct child *ret_done)
{
	siginfo_t info;
	int go = -1;
	int r = child_start(path, wfs_numbers_offset(listahead->numbers, plan.directory, plan.next),
		&plan.pid, &go);

	if (r)
		return r;
	set_child(listahead, &plan);
	close(go);
	/* Waits without reaping: as long as the child may be killed, no other process may get its
	 * pid. */
	while (waitid(P_PID, (id_t)plan.pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
	*ret_done = end_child(listahead);
	while (waitpid(plan.pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

/* Notes the result of a window, unless a process has begun to list the directory again since. */
static void scan_advance(
	struct wfs_listahead *listahead, const struct scan *before, const struct child *done)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scan = scan_of(listahead, before->directory);

	if (!scan || scan->born != before->born)
		return;
	if (done->next > scan->next)
		scan->next = done->next;
	scan->tripwire = done->tripwire;
	/* A window whose child was killed, or could not list, is not tried again. */
	scan->done = done->at_end || (done->left > 0 && !listahead->paused);
}

static int list_window(struct wfs_listahead *listahead, const struct scan *scan)
{
	const struct child window = {.directory = scan->directory,
		.next = scan->next,
		.window = scan->window,
		.left = scan->window};
	const struct child whole = {.directory = scan->directory, .plain = true};
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	struct child done;

	wfs_buffer_append_text(&path, listahead->mount);
	wfs_buffer_append_byte(&path, '/');
	int r = wfs_tree_path(listahead->tree, scan->directory, &path);
	if (r)
		return r;
	/* Otherwise Linux would serve the child from the cached listing, which has no
	 * attributes. */
	(void)wfs_teller_listing(listahead->teller, scan->directory);
	r = run_child(listahead, wfs_buffer_text(&path), window, &done);
	if (r)
		return r;
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_DEBUG, "listed ahead: '%s' entries=%u",
		wfs_buffer_text(&path), done.window - done.left);
	scan_advance(listahead, scan, &done);
	return done.at_end ? run_child(listahead, wfs_buffer_text(&path), whole, &done) : 0;
}

static void scan_failed(struct wfs_listahead *listahead, uint64_t directory, int r)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scan = scan_of(listahead, directory);

	if (scan)
		scan->done = true;
	if (r != -ENOENT && r != -EACCES) /* these two: the directory is gone, or hidden now */
		wfs_log(WFS_LOG_MOUNT, WFS_LOG_WARNING,
			"cannot list ahead, scans go on more slowly: %s", strerrordesc_np(-r));
}

/* Waits for a scan that wants a window. Return: false if the thread must stop. */
static bool take_wanted(struct wfs_listahead *listahead, struct scan *ret_scan)
{
	WFS_GUARD(&listahead->lock);

	listahead->busy = false;
	pthread_cond_broadcast(&listahead->idle);
	while (!listahead->stopping) {
		for (size_t i = 0; i < SCANS; i++) {
			if (!listahead->scans[i].wanted)
				continue;
			listahead->scans[i].wanted = false;
			listahead->busy = true;
			*ret_scan = listahead->scans[i];
			return true;
		}
		pthread_cond_wait(&listahead->wanted, &listahead->lock);
	}
	return false;
}

static void *listahead_main(void *argument)
{
	struct wfs_listahead *listahead = argument;
	struct scan scan;
	sigset_t all;

	pthread_setname_np(pthread_self(), "wfs-listahead");
	sigfillset(&all); /* for the children, which must not run our handlers */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (take_wanted(listahead, &scan)) {
		int r = list_window(listahead, &scan);

		if (r)
			scan_failed(listahead, scan.directory, r);
	}
	return NULL;
}

int wfs_listahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct wfs_teller *teller, const char *mount, struct wfs_listahead **ret_listahead)
{
	struct wfs_listahead *listahead = calloc(1, sizeof(*listahead));

	if (!listahead)
		return -ENOMEM;
	listahead->tree = tree;
	listahead->numbers = numbers;
	listahead->teller = teller;
	listahead->mount = mount;
	pthread_mutex_init(&listahead->lock, NULL);
	pthread_cond_init(&listahead->wanted, NULL);
	pthread_cond_init(&listahead->idle, NULL);
	int r = pthread_create(&listahead->thread, NULL, listahead_main, listahead);
	if (r) {
		free(listahead);
		return -r;
	}
	*ret_listahead = listahead;
	return 0;
}

void wfs_listahead_pause(struct wfs_listahead *listahead)
{
	WFS_GUARD(&listahead->lock);

	for (size_t i = 0; i < SCANS; i++)
		listahead->scans[i].wanted = false;
	listahead->paused = true;
	if (listahead->child.pid)
		kill(listahead->child.pid, SIGKILL);
	while (listahead->busy)
		pthread_cond_wait(&listahead->idle, &listahead->lock);
}

void wfs_listahead_resume(struct wfs_listahead *listahead)
{
	WFS_GUARD(&listahead->lock);

	listahead->paused = false;
}

void wfs_listahead_stop(struct wfs_listahead *listahead)
{
	pthread_mutex_lock(&listahead->lock);
	listahead->stopping = true;
	pthread_cond_signal(&listahead->wanted);
	pthread_mutex_unlock(&listahead->lock);
	wfs_listahead_pause(listahead);
	pthread_join(listahead->thread, NULL);
}

void wfs_listahead_free(struct wfs_listahead *listahead)
{
	if (!listahead)
		return;
	pthread_mutex_destroy(&listahead->lock);
	pthread_cond_destroy(&listahead->wanted);
	pthread_cond_destroy(&listahead->idle);
	free(listahead);
}

void wfs_listahead_listed(struct wfs_listahead *listahead, uint64_t directory)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scans = listahead->scans;
	struct scan *scan = scan_of(listahead, directory);
	size_t older = scan ? (size_t)(scan - scans) : SCANS - 1;

	memmove(&scans[1], &scans[0], older * sizeof(*scans));
	scans[0] = (struct scan){
		.directory = directory, .born = ++listahead->listings, .window = WINDOW_FIRST};
}

void wfs_listahead_looked_up(struct wfs_listahead *listahead, uint64_t directory, uint64_t next)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scan = scan_of(listahead, directory);

	if (!scan || scan->done || listahead->paused || !listahead->mount)
		return;
	if (next == scan->tripwire) {
		if (scan->window < WINDOW_MAX)
			scan->window *= WINDOW_GROWTH;
	} else if (++scan->lookups < LOOKUPS_MIN) {
		return;
	} else if (next > scan->next && next - scan->next < WINDOW_FIRST) {
		scan->next = next; /* the scan has overtaken us */
	}
	scan->lookups = 0;
	scan->wanted = true;
	pthread_cond_signal(&listahead->wanted);
}

bool wfs_listahead_asks(struct wfs_listahead *listahead, pid_t pid)
{
	WFS_GUARD(&listahead->lock);

	return listahead->child.pid > 0 && listahead->child.pid == pid;
}

bool wfs_listahead_take(struct wfs_listahead *listahead, uint64_t next, bool *ret_plain)
{
	WFS_GUARD(&listahead->lock);
	struct child *child = &listahead->child;

	*ret_plain = child->plain;
	if (child->plain)
		return true;
	if (child->left == 0)
		return false;
	child->next = next;
	if (--child->left == child->window / 2)
		child->tripwire = next;
	/* An entry that did not fit into a reply is asked for again. */
	*ret_plain = next == child->tripwire;
	return true;
}

void wfs_listahead_end(struct wfs_listahead *listahead)
{
	WFS_GUARD(&listahead->lock);

	listahead->child.at_end = !listahead->child.plain;
}
