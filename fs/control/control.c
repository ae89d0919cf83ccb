/* SPDX-License-Identifier: Apache-2.0 */
/* The control connection: its one directory, its life. See control.h. */
#include "fs/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "fs/control/control-impl.h"

/*
 * Node ids: the directory is 1 (fixed by FUSE); a look-up of a file gives (n << 8 | row + 2) with
 * a new n each time, so that each open file has its own inode in the kernel and nothing has to be
 * remembered here. What stat shows as the inode number is row + 2.
 */
enum {
	NODE_ROW_BITS = 8,
	NODE_ROW_FIRST = 2,
};

const struct wfs_control_file *wfs_control_file_find(fuse_ino_t ino)
{
	uint64_t row = (ino & ((1U << NODE_ROW_BITS) - 1)) - NODE_ROW_FIRST;

	return ino != FUSE_ROOT_ID && row < wfs_control_file_count ? &wfs_control_files[row] : NULL;
}

/* --allow-other: whoever reaches a mount acts as its principal. */
static mode_t control_mode(const struct wfs_control *control, const struct wfs_control_file *file)
{
	mode_t mode = 0555 | S_IFDIR;

	if (file)
		mode = S_IFREG | (wfs_control_file_writable(file) ? 0666 : 0444);
	return control->allow_other ? mode : mode & ~(mode_t)0077;
}

static void control_stat(const struct wfs_control *control, const struct wfs_control_file *file,
	struct stat *ret_stat)
{
	*ret_stat = (struct stat){
		.st_ino = file ? (ino_t)(file - wfs_control_files) + NODE_ROW_FIRST : FUSE_ROOT_ID,
		.st_mode = control_mode(control, file),
		.st_nlink = file ? 1 : 2,
		.st_uid = geteuid(),
		.st_gid = getegid(),
		.st_atim = control->started,
		.st_mtim = control->started,
		.st_ctim = control->started,
	};
}

static void control_init(void *userdata, struct fuse_conn_info *connection)
{
	const struct wfs_control *control = userdata;

	(void)connection;
	wfs_fuse_initialised(control->fuse);
}

/* Valid replies: an entry that is not cached, or ENOENT. */
static void control_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	struct wfs_control *control = fuse_req_userdata(request);

	for (size_t row = 0; parent == FUSE_ROOT_ID && row < wfs_control_file_count; row++) {
		if (strcmp(name, wfs_control_files[row].name) != 0)
			continue;
		struct fuse_entry_param entry = {
			.ino = (++control->node_count << NODE_ROW_BITS) | (row + NODE_ROW_FIRST),
		};
		control_stat(control, &wfs_control_files[row], &entry.attr);
		(void)fuse_reply_entry(request, &entry);
		return;
	}
	fs_reply_result(request, -ENOENT);
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
	struct stat stat;

	(void)info;
	control_stat(fuse_req_userdata(request), wfs_control_file_find(ino), &stat);
	(void)fuse_reply_attr(request, &stat, 0);
}

/* Truncating and touching change nothing; valid replies: attributes, or EPERM. */
static void control_setattr(fuse_req_t request, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *info)
{
	(void)attr;
	if (to_set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		fs_reply_result(request, -EPERM);
	else
		control_getattr(request, ino, info);
}

/* Row of an offset of readdir: 0 `.`, 1 `..`, then the files. */
static size_t control_add_entry(fuse_req_t request, char *data, size_t room, size_t row)
{
	struct stat stat;
	const char *name = row == 0 ? "." : "..";
	const struct wfs_control_file *file = NULL;

	if (row >= 2) {
		file = &wfs_control_files[row - 2];
		name = file->name;
	}
	control_stat(fuse_req_userdata(request), file, &stat);
	return fuse_add_direntry(request, data, room, name, &stat, (off_t)row + 1);
}

/* Valid replies: entries, or ENOTDIR, ENOMEM. */
static void control_readdir(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info)
{
	WFS_AUTO_FREE char *data = malloc(size > 0 ? size : 1);
	size_t used = 0;

	(void)info;
	if (ino != FUSE_ROOT_ID || !data) {
		fs_reply_result(request, data ? -ENOTDIR : -ENOMEM);
		return;
	}
	for (size_t row = (size_t)offset; row < wfs_control_file_count + 2; row++) {
		size_t entry = control_add_entry(request, data + used, size - used, row);

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

/* The list of files is fixed. Valid replies of all of the following: EPERM. */
static void control_refuse_mknod(
	fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)device;
	fs_reply_result(request, -EPERM);
}

static void control_refuse_create(fuse_req_t request, fuse_ino_t parent, const char *name,
	mode_t mode, struct fuse_file_info *info)
{
	(void)info;
	control_refuse_mknod(request, parent, name, mode, 0);
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
	.readdir = control_readdir,
	.statfs = control_statfs,
	.open = wfs_control_fuse_open,
	.read = wfs_control_fuse_read,
	.write = wfs_control_fuse_write,
	.flush = wfs_control_fuse_flush,
	.fsync = wfs_control_fuse_fsync,
	.release = wfs_control_fuse_release,
	.mknod = control_refuse_mknod,
	.create = control_refuse_create,
	.mkdir = control_refuse_mkdir,
	.unlink = control_refuse_remove,
	.rmdir = control_refuse_remove,
	.symlink = control_refuse_symlink,
	.link = control_refuse_link,
	.rename = control_refuse_rename,
};

static int control_mount(struct wfs_control *control, const struct wfs_control_options *options,
	struct wfs_error *error)
{
	const struct wfs_fuse_options fuse = {
		.ops = &control_ops,
		.ops_size = sizeof(control_ops),
		.userdata = control,
		.directory = options->directory,
		.source = options->world_name,
		.allow_other = options->allow_other,
		.threads = WFS_CONTROL_THREADS,
		.ended = options->ended,
		.context = options->context,
	};
	int r = wfs_fuse_new(&fuse, &control->fuse, error);

	return r < 0 ? r : wfs_fuse_start(control->fuse, error);
}

int wfs_control_new(const struct wfs_control_options *options, struct wfs_control **ret_control,
	struct wfs_error *error)
{
	wfs_require(wfs_control_file_count + NODE_ROW_FIRST < 1U << NODE_ROW_BITS);
	WFS_AUTO_CONTROL struct wfs_control *control = calloc(1, sizeof(*control));

	if (!control)
		return wfs_error_from_errno(error, -ENOMEM, "make a control connection");
	pthread_mutex_init(&control->mutex, NULL);
	pthread_cond_init(&control->idle, NULL);
	control->session = options->session;
	control->host = options->host;
	control->allow_other = options->allow_other;
	clock_gettime(CLOCK_REALTIME, &control->started);
	int r = wfs_work_new(1, &control->pump);
	if (r == 0)
		r = wfs_work_new(WFS_CONTROL_SLOW_THREADS, &control->slow);
	if (r < 0)
		return wfs_error_from_errno(error, r, "start the threads of a control connection");
	r = control_mount(control, options, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_control = WFS_STEAL(control);
	return 0;
}

static void control_drain(struct wfs_control *control)
{
	WFS_GUARD(&control->mutex);

	control->closing = true;
	while (control->active_count > 0)
		pthread_cond_wait(&control->idle, &control->mutex);
}

void wfs_control_free(struct wfs_control *control)
{
	if (!control)
		return;
	control_drain(control);
	wfs_fuse_free(control->fuse);
	wfs_work_free(control->pump);
	wfs_work_free(control->slow);
	/* What clients still had open: there is nobody left who would release it. */
	while (control->opens)
		wfs_control_open_free(control->opens);
	wfs_buffer_done(&control->last);
	pthread_cond_destroy(&control->idle);
	pthread_mutex_destroy(&control->mutex);
	free(control);
}
