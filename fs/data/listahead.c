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
	LOOKUPS_MIN = 16, /* look-ups after a listing that make a scan */
	WINDOW_FIRST = 256,
	WINDOW_GROWTH = 4, /* factor from one window to the next */
	WINDOW_MAX = 1 << 16,
	CHILD_BUFFER_SIZE = 1 << 16,
};

/* Where listing ahead stands in one directory. */
struct scan {
	uint64_t directory; /* inode; 0: not in use */
	uint64_t next;      /* offset in the directory where the next window begins */
	unsigned int lookups;
	unsigned int window; /* entries of the next window */
	bool wanted;
	bool done; /* the directory's end was reached */
};

struct wfs_listahead {
	const struct wfs_tree *tree;
	struct fuse_session *fuse;
	const char *mount;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	pthread_cond_t idle;
	/* lock: lock */
	bool stopping;
	bool settling;            /* no child may live */
	bool busy;                /* the thread has a child, or is about to */
	struct scan scans[SCANS]; /* the one listed last comes first */
	pid_t child;              /* 0: none */
	bool child_plain;         /* it lists for the cache of listings, without attributes */
	uint64_t child_next;      /* offset that it has come to */
	unsigned int child_left;  /* entries of its window that it has not been given */
	unsigned int child_half;  /* of its window */
	uint64_t child_tripwire;  /* offset behind the entry at half of it; 0: not there yet */
};

/* Only what is safe in the child of a process with threads: signal-safety(7). */
_Noreturn static void child_main(const char *path, off_t offset, int go)
{
	static char buffer[CHILD_BUFFER_SIZE];
	int fd;

	/* Every other descriptor goes: that of /dev/fuse above all. */
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
	pid_t child = fork();
	if (child == 0)
		child_main(path, offset, go[0]);
	int r = child < 0 ? -errno : 0;
	close(go[0]);
	if (r) {
		close(go[1]);
		return r;
	}
	*ret_child = child;
	*ret_go = go[1];
	return 0;
}

/* Waits for the child; until it is said to be gone, its number is not given to another. */
static void child_end(struct wfs_listahead *listahead, pid_t child)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
	pthread_mutex_lock(&listahead->lock);
	listahead->child = 0;
	pthread_mutex_unlock(&listahead->lock);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Has a child list @path from @scan->next on: one window, or plainly to the end. */
static int run_child(
	struct wfs_listahead *listahead, const char *path, const struct scan *scan, bool plain)
{
	pid_t child = 0;
	int go = -1;
	int r = child_start(path, (off_t)scan->next, &child, &go);

	if (r)
		return r;
	pthread_mutex_lock(&listahead->lock);
	listahead->child = child;
	listahead->child_plain = plain;
	listahead->child_next = scan->next;
	listahead->child_left = scan->window;
	listahead->child_half = scan->window / 2;
	listahead->child_tripwire = 0;
	if (listahead->settling)
		kill(child, SIGKILL);
	pthread_mutex_unlock(&listahead->lock);
	close(go);
	child_end(listahead, child);
	return 0;
}

/* Notes what the child of a window has done. Return: was the end of the directory reached? */
static bool scan_advance(struct wfs_listahead *listahead, uint64_t directory)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scan = scan_of(listahead, directory);

	if (!scan || listahead->settling)
		return false;
	wfs_log(WFS_LOG_MOUNT, WFS_LOG_DEBUG, "listed ahead: ino=%#" PRIx64 " entries=%u",
		directory, scan->window - listahead->child_left);
	scan->next = listahead->child_next;
	scan->done = listahead->child_left > 0;
	if (scan->window < WINDOW_MAX)
		scan->window *= WINDOW_GROWTH;
	return scan->done;
}

static void list_window(struct wfs_listahead *listahead, const struct scan *scan)
{
	const struct scan whole = {.directory = scan->directory};
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	wfs_buffer_append_text(&path, listahead->mount);
	wfs_buffer_append_byte(&path, '/');
	if (wfs_tree_path(listahead->tree, scan->directory, &path))
		return;
	/* Else the child would be served from the listing without attributes, which is cached. */
	(void)fuse_lowlevel_notify_inval_inode(listahead->fuse, scan->directory, 0, 0);
	if (run_child(listahead, wfs_buffer_text(&path), scan, false) == 0 &&
		scan_advance(listahead, scan->directory))
		(void)run_child(listahead, wfs_buffer_text(&path), &whole, true);
}

/* Return: false when it is time to stop. */
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
	sigfillset(&all); /* for the children: our handlers are not theirs */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (take_wanted(listahead, &scan))
		list_window(listahead, &scan);
	return NULL;
}

int wfs_listahead_new(const struct wfs_tree *tree, struct fuse_session *fuse, const char *mount,
	struct wfs_listahead **ret_listahead)
{
	struct wfs_listahead *listahead = calloc(1, sizeof(*listahead));

	if (!listahead)
		return -ENOMEM;
	listahead->tree = tree;
	listahead->fuse = fuse;
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

void wfs_listahead_settle(struct wfs_listahead *listahead)
{
	WFS_GUARD(&listahead->lock);

	for (size_t i = 0; i < SCANS; i++)
		listahead->scans[i].wanted = false;
	listahead->settling = true;
	if (listahead->child)
		kill(listahead->child, SIGKILL);
	while (listahead->busy)
		pthread_cond_wait(&listahead->idle, &listahead->lock);
	listahead->settling = false;
}

void wfs_listahead_stop(struct wfs_listahead *listahead)
{
	pthread_mutex_lock(&listahead->lock);
	listahead->stopping = true;
	pthread_cond_signal(&listahead->wanted);
	pthread_mutex_unlock(&listahead->lock);
	wfs_listahead_settle(listahead);
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
	scans[0] = (struct scan){.directory = directory, .window = WINDOW_FIRST};
}

void wfs_listahead_looked_up(struct wfs_listahead *listahead, uint64_t directory)
{
	WFS_GUARD(&listahead->lock);
	struct scan *scan = scan_of(listahead, directory);

	if (!scan || scan->done || ++scan->lookups < LOOKUPS_MIN)
		return;
	scan->wanted = true;
	pthread_cond_signal(&listahead->wanted);
}

bool wfs_listahead_asks(struct wfs_listahead *listahead, pid_t pid)
{
	WFS_GUARD(&listahead->lock);

	return listahead->child > 0 && listahead->child == pid;
}

bool wfs_listahead_take(struct wfs_listahead *listahead, uint64_t next, bool *ret_plain)
{
	WFS_GUARD(&listahead->lock);

	*ret_plain = listahead->child_plain;
	if (listahead->child_plain)
		return true;
	if (listahead->child_left == 0)
		return false;
	listahead->child_next = next;
	if (--listahead->child_left == listahead->child_half)
		listahead->child_tripwire = next;
	/* An entry that did not fit into a reply comes again. */
	*ret_plain = next == listahead->child_tripwire;
	return true;
}
