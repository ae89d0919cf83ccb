/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open control files: opening, the operations that FUSE asks for, releasing.
 *
 * A file that is only read is rendered when it is opened, so all its reads see one moment.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fs/control/control-impl.h"

/* An open(2) that is not answered yet. */
struct wfs_control_opening {
	struct wfs_control_opening *next; /* lock: the connection's */
	struct wfs_work_task task;
	struct wfs_control_open *open;
	fuse_req_t request;
	struct fuse_file_info info;
	struct wfs_call call;
};

int wfs_control_enter(struct wfs_control *control)
{
	WFS_GUARD(&control->mutex);

	if (control->closing)
		return -ENODEV;
	control->active_count++;
	return 0;
}

void wfs_control_leave(struct wfs_control *control)
{
	WFS_GUARD(&control->mutex);

	control->active_count--;
	if (control->active_count == 0)
		pthread_cond_broadcast(&control->idle);
}

int wfs_control_open_new(struct wfs_control *control, const struct wfs_control_file *file,
	int flags, pid_t pid, struct wfs_control_open **ret_open)
{
	int access = flags & O_ACCMODE;

	if (access != O_RDONLY && !wfs_control_file_writable(file))
		return -EACCES;
	struct wfs_control_open *open = calloc(1, sizeof(*open));
	if (!open)
		return -ENOMEM;
	open->control = control;
	open->file = file;
	open->flags = flags;
	open->calls_tail = &open->calls;
	open->parser.size_max_bytes = WFS_REQUEST_SIZE_MAX;
	open->parser.empty_lines = file->empty_line;
	open->truncated =
		file->kind == WFS_CONTROL_BYTES && access != O_RDONLY && (flags & O_TRUNC);
	open->pid = pid;
	if (access != O_RDONLY)
		open->tgid = wfs_control_process(pid);
	pthread_mutex_init(&open->mutex, NULL);

	WFS_GUARD(&control->mutex);
	open->next = control->opens;
	if (open->next)
		open->next->previous = open;
	control->opens = open;
	*ret_open = open;
	return 0;
}

static void open_unlist(struct wfs_control_open *open)
{
	WFS_GUARD(&open->control->mutex);

	if (open->next)
		open->next->previous = open->previous;
	if (open->previous)
		open->previous->next = open->next;
	else
		open->control->opens = open->next;
}

void wfs_control_open_free(struct wfs_control_open *open)
{
	if (!open)
		return;
	open_unlist(open);
	wfs_control_parser_done(&open->parser);
	wfs_blob_writer_free(open->writer);
	wfs_buffer_done(&open->output);
	pthread_mutex_destroy(&open->mutex);
	free(open);
}

/* Answers an open(2); @r: 0 or -errno. Who was interrupted meanwhile sends no release. */
static void open_reply(struct wfs_control_opening *opening, int r)
{
	struct wfs_control *control = opening->open->control;

	if (r == 0) {
		opening->info.fh = (uint64_t)(uintptr_t)opening->open;
		if (fuse_reply_open(opening->request, &opening->info) == -ENOENT)
			wfs_control_open_free(opening->open);
	} else {
		fs_reply_result(opening->request, r);
		wfs_control_open_free(opening->open);
	}
	wfs_call_done(&opening->call);
	free(opening);
	wfs_control_leave(control);
}

static int open_render_text(const json_t *result, struct wfs_buffer *buffer)
{
	const json_t *text = json_object_get(result, "text");

	if (!json_is_string(text))
		return -EIO;
	wfs_buffer_append(buffer, json_string_value(text), json_string_length(text));
	return wfs_buffer_check(buffer);
}

static void open_answered(struct wfs_call *call)
{
	struct wfs_control_opening *opening = call->context;
	struct wfs_control_open *open = opening->open;
	int r = call->status;

	if (r == 0 && open->file->kind == WFS_CONTROL_TEXT) {
		r = open_render_text(call->result, &open->output);
	} else if (r == 0) {
		wfs_control_render(call, &open->output);
		r = wfs_buffer_check(&open->output);
	}
	open_reply(opening, r);
}

static void open_last(struct wfs_work_task *task)
{
	struct wfs_control_opening *opening =
		(void *)((char *)task - offsetof(struct wfs_control_opening, task));
	struct wfs_control_open *open = opening->open;

	pthread_mutex_lock(&open->control->mutex);
	wfs_buffer_append(&open->output, open->control->last.data, open->control->last.size);
	pthread_mutex_unlock(&open->control->mutex);
	open_reply(opening, wfs_buffer_check(&open->output));
}

/* `last` waits for blobs that are being completed because their file was released. */
static bool open_must_wait(struct wfs_control *control, struct wfs_control_opening *opening)
{
	WFS_GUARD(&control->mutex);

	if (control->late_count == 0)
		return false;
	opening->next = control->late_waiting;
	control->late_waiting = opening;
	return true;
}

void wfs_control_late_end(struct wfs_control *control)
{
	struct wfs_control_opening *opening = NULL;

	pthread_mutex_lock(&control->mutex);
	control->late_count--;
	if (control->late_count == 0)
		opening = WFS_STEAL(control->late_waiting);
	pthread_mutex_unlock(&control->mutex);
	while (opening) {
		struct wfs_control_opening *next = opening->next;

		open_last(&opening->task);
		opening = next;
	}
}

static void open_start(struct wfs_control *control, struct wfs_control_opening *opening)
{
	const struct wfs_control_file *file = opening->open->file;

	if (wfs_control_file_writable(file)) {
		open_reply(opening, 0);
	} else if (file->kind != WFS_CONTROL_LAST) {
		opening->call.session = control->session;
		opening->call.host = control->host;
		opening->call.done = open_answered;
		opening->call.context = opening;
		wfs_call_start(&opening->call, file->verb);
	} else if (!open_must_wait(control, opening)) {
		open_last(&opening->task);
	}
}

/* Valid replies: open, or ENOENT, EISDIR, EACCES, ENODEV (stopping), ENOMEM, an error of the verb. */
void wfs_control_fuse_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	struct wfs_control *control = fuse_req_userdata(request);
	const struct wfs_control_file *file = wfs_control_file_find(ino);
	struct wfs_control_opening *opening = NULL;
	int r = file ? wfs_control_enter(control) : -EISDIR;

	if (r < 0) {
		fs_reply_result(request, r);
		return;
	}
	opening = calloc(1, sizeof(*opening));
	r = opening ? wfs_control_open_new(control, file, info->flags, fuse_req_ctx(request)->pid,
			      &opening->open)
		    : -ENOMEM;
	if (r < 0) {
		free(opening);
		fs_reply_result(request, r);
		wfs_control_leave(control);
		return;
	}
	opening->request = request;
	opening->info = *info;
	opening->info.direct_io = 1;
	open_start(control, opening);
}

static struct wfs_control_open *open_of(const struct fuse_file_info *info)
{
	return (void *)(uintptr_t)info->fh;
}

/* Begins an operation with a copy of @size bytes of @data (NULL: none). */
static void open_begin(fuse_req_t request, const struct fuse_file_info *info,
	enum wfs_control_op_kind kind, uint64_t offset, struct wfs_bytes data)
{
	size_t copied = data.data ? data.size : 0;
	struct wfs_control_op *op = calloc(1, sizeof(*op) + copied);

	if (!op) {
		fs_reply_result(request, -ENOMEM);
		return;
	}
	op->kind = kind;
	op->request = request;
	op->pid = fuse_req_ctx(request)->pid;
	op->offset = offset;
	op->size = data.size;
	if (copied > 0)
		memcpy(op->data, data.data, copied);
	wfs_control_begin(open_of(info), op);
}

/* Valid replies: bytes, or ENODEV, ENOMEM. */
void wfs_control_fuse_read(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info)
{
	(void)ino;
	open_begin(request, info, WFS_CONTROL_READ, (uint64_t)offset, WFS_BYTES(NULL, size));
}

/* Valid replies: the size, or the errno of the first request that failed. */
void wfs_control_fuse_write(fuse_req_t request, fuse_ino_t ino, const char *data, size_t size,
	off_t offset, struct fuse_file_info *info)
{
	(void)ino;
	open_begin(request, info, WFS_CONTROL_WRITE, (uint64_t)offset, WFS_BYTES(data, size));
}

/* Valid replies: 0, or the errno of the request that ends here. */
void wfs_control_fuse_flush(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	(void)ino;
	if (wfs_control_file_writable(open_of(info)->file))
		open_begin(request, info, WFS_CONTROL_FLUSH, 0, WFS_BYTES(NULL, 0));
	else
		fs_reply_result(request, 0);
}

/* Whatever was answered is durable already. Valid replies: 0. */
void wfs_control_fuse_fsync(
	fuse_req_t request, fuse_ino_t ino, int datasync, struct fuse_file_info *info)
{
	(void)ino;
	(void)datasync;
	(void)info;
	fs_reply_result(request, 0);
}

/* A blob whose file nobody closed in order, or an empty one, of which no flush can tell. */
static bool open_completes_at_release(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	return open->stream_failed == 0 && (open->writer || open->truncated);
}

/* Valid replies: 0. Nobody sees what becomes of the rest, but `last` waits for it. */
void wfs_control_fuse_release(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	struct wfs_control_open *open = open_of(info);
	struct wfs_control *control = open->control;

	(void)ino;
	struct wfs_control_op *op = NULL;
	if (open_completes_at_release(open))
		op = calloc(1, sizeof(*op));
	if (op) {
		op->kind = WFS_CONTROL_RELEASE;
		pthread_mutex_lock(&control->mutex);
		control->late_count++;
		pthread_mutex_unlock(&control->mutex);
		wfs_control_begin(open, op);
	} else {
		wfs_control_open_free(open);
	}
	fs_reply_result(request, 0);
}
