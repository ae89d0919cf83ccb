/* SPDX-License-Identifier: Apache-2.0 */
/* The control connection: its directories, its start and its end. See control.h. */
#include "fs/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "caps/session.h"
#include "fs/control/control-impl.h"

/*
 * Node ids: the directory is 1 (fixed by FUSE), that of artifacts 255. A look-up of a file gives
 * (n << 8 | row + 2) with a new n, so that each open file has its own inode in Linux and nothing
 * has to be remembered here. stat shows row + 2 as the inode number.
 *
 * A file of an artifact is (n << 40 | number of its cell << 8 | 254), and stat shows just that,
 * with a permuted number in the mount of a principal that sees only a part of the tree
 * (fs/data/numbers.h). By this number control-client.c finds the processes that hold the file. So
 * n begins at random, because a program may have files of several connections open. Its 24 bits
 * repeat: if a process has one artifact open twice, 2^24 look-ups apart, it seems to hold the file
 * that it has closed, and the content waits for RELEASE.
 */
enum {
	NODE_ROW_BITS = 8,
	NODE_ROW_FIRST = 2,
	NODE_ROW_ARTIFACT = 254,
	NODE_NUMBER_BITS = 32,
};

static uint64_t node_row(fuse_ino_t ino)
{
	return ino & ((1U << NODE_ROW_BITS) - 1);
}

const struct wfs_control_file *wfs_control_file_find(fuse_ino_t ino)
{
	const uint64_t row = node_row(ino) - NODE_ROW_FIRST;

	if (node_row(ino) == NODE_ROW_ARTIFACT)
		return &wfs_control_artifacts;
	return ino != FUSE_ROOT_ID && row < wfs_control_file_count ? &wfs_control_files[row] : NULL;
}

fuse_ino_t wfs_control_new_artifact_ino(struct wfs_control *control, uint64_t number)
{
	if (control->permuted)
		number = wfs_permute(&control->numbers, 0, number);
	return (++control->node_count << (NODE_ROW_BITS + NODE_NUMBER_BITS)) |
		(number << NODE_ROW_BITS) | NODE_ROW_ARTIFACT;
}

uint64_t wfs_control_artifact_number(const struct wfs_control *control, fuse_ino_t ino)
{
	const uint64_t number = ino >> NODE_ROW_BITS & ((UINT64_C(1) << NODE_NUMBER_BITS) - 1);

	return control->permuted ? wfs_unpermute(&control->numbers, 0, number) : number;
}

/* With --allow-other, opening a file checks the user's rights. */
static mode_t control_mode(const struct wfs_control *control, fuse_ino_t ino)
{
	const struct wfs_control_file *const file = wfs_control_file_find(ino);
	mode_t mode = S_IFDIR | (ino == WFS_CONTROL_ARTIFACTS_INO ? 0777 : 0555);

	if (file)
		mode = S_IFREG | (wfs_control_file_writable(file) ? 0666 : 0444);
	if (file == &wfs_control_artifacts)
		mode = S_IFREG | 0222;
	return control->allow_other ? mode : mode & ~(mode_t)0077;
}

static void control_stat(const struct wfs_control *control, fuse_ino_t ino, struct stat *ret_stat)
{
	const struct wfs_control_file *const file = wfs_control_file_find(ino);

	*ret_stat = (struct stat){
		.st_ino = file == &wfs_control_artifacts ? ino : node_row(ino),
		.st_mode = control_mode(control, ino),
		.st_nlink = file ? 1 : 2,
		.st_uid = control->uid,
		.st_gid = control->gid,
		.st_atim = control->started,
		.st_mtim = control->started,
		.st_ctim = control->started,
	};
}

void wfs_control_entry(
	const struct wfs_control *control, fuse_ino_t ino, struct fuse_entry_param *ret_entry)
{
	*ret_entry = (struct fuse_entry_param){.ino = ino};
	control_stat(control, ino, &ret_entry->attr);
}

void wfs_control_reply_attr(fuse_req_t request, fuse_ino_t ino)
{
	struct stat stat;

	control_stat(fuse_req_userdata(request), ino, &stat);
	(void)fuse_reply_attr(request, &stat, 0);
}

static void control_init(void *userdata, struct fuse_conn_info *connection)
{
	const struct wfs_control *control = userdata;

	(void)connection;
	wfs_fuse_initialised(control->fuse);
}

/* Finds the node id of a file of the directory. Return: 0, or -ENOENT. */
static int control_find(struct wfs_control *control, const char *name, fuse_ino_t *ret_ino)
{
	if (strcmp(name, wfs_control_artifacts.name) == 0) {
		*ret_ino = WFS_CONTROL_ARTIFACTS_INO;
		return 0;
	}
	for (size_t row = 0; row < wfs_control_file_count; row++) {
		if (strcmp(name, wfs_control_files[row].name) != 0)
			continue;
		*ret_ino = (++control->node_count << NODE_ROW_BITS) | (row + NODE_ROW_FIRST);
		return 0;
	}
	return -ENOENT;
}

/* Finds the node id of an artifact's file. One that does not exist, or is not visible, gives
 * -ENOENT; a user that opens it to write may make it. */
static int control_find_artifact(
	struct wfs_control *control, uid_t uid, const char *name, fuse_ino_t *ret_ino)
{
	struct wfs_control_user *user = NULL;
	uint64_t number = 0;
	int r = wfs_control_user_find(control, uid, true, &user);

	if (!r)
		r = wfs_control_artifact_find(user->session, name, &number);

	if (!r && number >> NODE_NUMBER_BITS)
		r = -ENOENT;
	if (!r)
		*ret_ino = wfs_control_new_artifact_ino(control, number);
	return r;
}

/* Valid replies: an entry that is not cached, or ENOENT, EACCES (also for a user without a
 * principal), ENFILE (the mount has too many users), ENOMEM, EIO. */
static void control_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	struct wfs_control *control = fuse_req_userdata(request);
	struct fuse_entry_param entry;
	fuse_ino_t ino = 0;
	int r = parent == FUSE_ROOT_ID
		? control_find(control, name, &ino)
		: control_find_artifact(control, fuse_req_ctx(request)->uid, name, &ino);

	if (r) {
		fs_reply_result(request, r);
		return;
	}
	wfs_control_entry(control, ino, &entry);
	(void)fuse_reply_entry(request, &entry);
}

/* Valid replies: none. */
static void control_forget(fuse_req_t request, fuse_ino_t ino, uint64_t count)
{
	(void)ino;
	(void)count;
	fuse_reply_none(request);
}

/* Valid replies: attributes. */
static void control_getattr(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	(void)info;
	wfs_control_reply_attr(request, ino);
}

/* Valid replies: 0, EACCES. */
static void control_access(fuse_req_t request, fuse_ino_t ino, int mask)
{
	fs_reply_access(request, !wfs_control_file_find(ino), mask);
}

/*
 * Truncating and touching change nothing, with one exception: the content that is being written to
 * an artifact is cut, but only through a descriptor of it, because without one no close would
 * follow.
 * Valid replies: attributes, or EPERM, EINVAL, ENODEV, ENOMEM.
 */
static void control_setattr(fuse_req_t request, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *info)
{
	const bool cuts = (to_set & FUSE_SET_ATTR_SIZE) &&
		wfs_control_file_find(ino) == &wfs_control_artifacts;

	if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		fs_reply_result(request, -EPERM);
	else if (cuts && info)
		wfs_control_fuse_truncate(request, ino, (uint64_t)attr->st_size, info);
	else if (cuts)
		fs_reply_result(request, -EPERM);
	else
		control_getattr(request, ino, info);
}

/* Row of an offset of readdir: 0 `.`, 1 `..`, 2 the directory of artifacts, then the files. */
enum { LIST_FILES = 3 };

/* Adds an entry of @directory. */
static size_t control_add_entry(
	fuse_req_t request, fuse_ino_t directory, char *data, size_t room, size_t row)
{
	static const char *const names[] = {".", "..", "artifacts"};
	const fuse_ino_t inos[] = {directory, FUSE_ROOT_ID, WFS_CONTROL_ARTIFACTS_INO};
	const bool file = row >= LIST_FILES;
	struct stat stat;

	control_stat(fuse_req_userdata(request),
		file ? row - LIST_FILES + NODE_ROW_FIRST : inos[row], &stat);
	return fuse_add_direntry(request, data, room,
		file ? wfs_control_files[row - LIST_FILES].name : names[row], &stat,
		(off_t)row + 1);
}

/* Valid replies: entries, or ENOTDIR, ENOMEM. */
static void control_readdir(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info)
{
	WFS_AUTO_FREE char *data = malloc(size > 0 ? size : 1);
	/* The directory of artifacts lists nothing: it is for writing, and the tree lists them. */
	const size_t rows = ino == FUSE_ROOT_ID ? wfs_control_file_count + LIST_FILES : 2;
	size_t used = 0;

	(void)info;
	if (wfs_control_file_find(ino) || !data) {
		fs_reply_result(request, data ? -ENOTDIR : -ENOMEM);
		return;
	}
	for (size_t row = (size_t)offset; row < rows; row++) {
		size_t entry = control_add_entry(request, ino, data + used, size - used, row);

		if (entry > size - used)
			break;
		used += entry;
	}
	(void)fuse_reply_buf(request, data, used);
}

/* Valid replies: figures. */
static void control_statfs(fuse_req_t request, fuse_ino_t ino)
{
	struct statvfs figures = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255};

	(void)ino;
	(void)fuse_reply_statfs(request, &figures);
}

/* The list of files is fixed; those of artifacts are created by opening them. All of the following
 * reply EPERM. */
static void control_refuse_mknod(
	fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)device;
	fs_reply_result(request, -EPERM);
}

static void control_refuse_mkdir(
	fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode)
{
	control_refuse_mknod(request, parent, name, mode, 0);
}

static void control_refuse_remove(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	control_refuse_mknod(request, parent, name, 0, 0);
}

static void control_refuse_symlink(
	fuse_req_t request, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target;
	control_refuse_mknod(request, parent, name, 0, 0);
}

static void control_refuse_link(
	fuse_req_t request, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	control_refuse_mknod(request, parent, name, 0, 0);
}

static void control_refuse_rename(fuse_req_t request, fuse_ino_t parent, const char *name,
	fuse_ino_t new_parent, const char *new_name, unsigned int flags)
{
	(void)new_parent;
	(void)new_name;
	(void)flags;
	control_refuse_mknod(request, parent, name, 0, 0);
}

static const struct fuse_lowlevel_ops control_ops = {
	.init = control_init,
	.lookup = control_lookup,
	.forget = control_forget,
	.getattr = control_getattr,
	.setattr = control_setattr,
	.access = control_access,
	.readdir = control_readdir,
	.statfs = control_statfs,
	.open = wfs_control_fuse_open,
	.read = wfs_control_fuse_read,
	.write = wfs_control_fuse_write,
	.flush = wfs_control_fuse_flush,
	.fsync = wfs_control_fuse_fsync,
	.release = wfs_control_fuse_release,
	.mknod = control_refuse_mknod,
	.create = wfs_control_fuse_create,
	.mkdir = control_refuse_mkdir,
	.unlink = control_refuse_remove,
	.rmdir = control_refuse_remove,
	.symlink = control_refuse_symlink,
	.link = control_refuse_link,
	.rename = control_refuse_rename,
};

static int control_serve(struct wfs_control *control, const struct wfs_control_options *options,
	int *fd, struct wfs_error *error)
{
	const struct wfs_fuse_options fuse = {
		.ops = &control_ops,
		.ops_size = sizeof(control_ops),
		.userdata = control,
		.fd = WFS_STEAL_FD(*fd),
		.directory = options->directory,
		.keeper = options->keeper,
		.part = WFS_MOUNT_CONTROL,
		.threads = WFS_CONTROL_THREADS,
		.ended = options->ended,
		.context = options->context,
	};
	int r = wfs_fuse_new(&fuse, &control->fuse, error);

	return r < 0 ? r : wfs_fuse_start(control->fuse, error);
}

static int control_count_from_random(struct wfs_control *control)
{
	uint32_t first = 0;

	if (getrandom(&first, sizeof(first), 0) != (ssize_t)sizeof(first))
		return -errno;
	control->node_count = first;
	return 0;
}

int wfs_control_new(const struct wfs_control_options *options, struct wfs_control **ret_control,
	struct wfs_error *error)
{
	wfs_require(wfs_control_file_count + NODE_ROW_FIRST < NODE_ROW_ARTIFACT);
	WFS_AUTO_FD int fd = options->fd;
	WFS_AUTO_CONTROL struct wfs_control *control = calloc(1, sizeof(*control));

	if (!control)
		return wfs_error_from_errno(error, -ENOMEM, "make a control connection");
	pthread_mutex_init(&control->mutex, NULL);
	pthread_mutex_init(&control->opens_mutex, NULL);
	pthread_cond_init(&control->idle, NULL);
	control->session = options->session;
	control->host = options->host;
	control->allow_other = options->allow_other;
	control->act = options->act;
	control->trusted = options->trusted;
	control->peers = options->peers;
	control->uid = options->uid;
	control->gid = options->gid;
	clock_gettime(CLOCK_REALTIME, &control->started);
	control->permuted = !wfs_session_sees_all(control->session);
	int r = wfs_session_permutation(
		control->session, "control", 1, NODE_NUMBER_BITS, &control->numbers);
	if (!r)
		r = control_count_from_random(control);
	if (r < 0)
		return wfs_error_from_errno(error, r, "number the files of a control connection");
	r = wfs_work_new(1, &control->pump);
	if (r == 0)
		r = wfs_work_new(1, &control->long_values);
	if (r == 0)
		r = wfs_work_new(1, &control->long_reads);
	if (r == 0)
		r = wfs_work_new(WFS_CONTROL_SLOW_THREADS, &control->slow);
	if (r < 0)
		return wfs_error_from_errno(error, r, "start the threads of a control connection");
	r = control_serve(control, options, &fd, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_control = WFS_STEAL(control);
	return 0;
}

static void control_close(struct wfs_control *control)
{
	WFS_GUARD(&control->mutex);

	control->closing = true;
}

/* Ends turns, plans, queries, and code that has not begun: they may take long. */
static void control_abandon(struct wfs_control *control)
{
	WFS_GUARD(&control->opens_mutex);

	for (struct wfs_control_open *open = control->opens; open; open = open->next)
		wfs_control_abandon(open);
}

static void control_drain(struct wfs_control *control)
{
	WFS_GUARD(&control->mutex);

	while (control->active_count > 0)
		pthread_cond_wait(&control->idle, &control->mutex);
}

void wfs_control_free(struct wfs_control *control)
{
	if (!control)
		return;
	control_close(control);
	control_abandon(control);
	control_drain(control);
	wfs_fuse_free(control->fuse);
	wfs_work_free(control->pump);
	wfs_work_free(control->long_values);
	wfs_work_free(control->long_reads);
	wfs_work_free(control->slow);
	/* Frees files that clients still have open: no RELEASE will come. */
	while (control->opens)
		wfs_control_open_free(control->opens);
	wfs_control_users_free(control);
	pthread_cond_destroy(&control->idle);
	pthread_mutex_destroy(&control->opens_mutex);
	pthread_mutex_destroy(&control->mutex);
	free(control);
}
