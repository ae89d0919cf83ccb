/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open control files: opening them, the operations of FUSE on them, releasing them.
 *
 * A file without requests is rendered when it is opened, so all reads show one moment. The file of
 * an artifact can only be written.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "caps/session-blob.h"
#include "fs/control/control-impl.h"

/* An unanswered open(2). */
struct wfs_control_opening {
	struct wfs_control_opening *next; /* lock: the connection's */
	struct wfs_work_task task;
	struct wfs_control_open *open;
	fuse_req_t request;
	struct fuse_file_info info;
	struct fuse_entry_param entry; /* of a created file; otherwise zero */
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

/* Charges for a value before it is parsed. */
static int open_admit(void *context, size_t bytes, struct wfs_error *error)
{
	struct wfs_control_open *const open = context;
	int r = wfs_control_take(open, bytes, error);

	if (!r)
		open->admitted_bytes = bytes;
	return r;
}

int wfs_control_open_new(struct wfs_control *control, const struct wfs_control_file *file,
	int flags, const struct fuse_ctx *caller, struct wfs_control_open **ret_open)
{
	struct wfs_control_user *user = NULL;
	int access = flags & O_ACCMODE;

	if (access != O_RDONLY && !wfs_control_file_writable(file))
		return -EACCES;
	if (access != O_WRONLY && file->kind == WFS_CONTROL_CONTENT)
		return -EACCES;
	int r = wfs_control_user_find(control, caller->uid, file->kind != WFS_CONTROL_LAST, &user);
	if (r)
		return r;
	struct wfs_control_open *open = calloc(1, sizeof(*open));
	if (!open)
		return -ENOMEM;
	open->control = control;
	open->user = user;
	open->file = file;
	open->flags = flags;
	open->calls_tail = &open->calls;
	open->parser.size_max_bytes = WFS_REQUEST_SIZE_MAX;
	open->parser.empty_lines = file->empty_line;
	open->interruptible = file->verb && wfs_verb_interruptible(file->verb);
	open->parser.words = file->word != NULL;
	open->parser.admit = open_admit;
	open->parser.context = open;
	open->truncated =
		file->kind == WFS_CONTROL_BYTES && access != O_RDONLY && (flags & O_TRUNC);
	if (file->kind == WFS_CONTROL_CONTENT && (flags & O_TRUNC))
		wfs_control_content_begin(&open->content, true);
	open->pid = caller->pid;
	if (access != O_RDONLY)
		open->tgid = wfs_control_process(caller->pid);
	pthread_mutex_init(&open->mutex, NULL);

	r = wfs_control_opened(open);
	if (r) {
		pthread_mutex_destroy(&open->mutex);
		free(open);
		return r;
	}
	WFS_GUARD(&control->opens_mutex);
	open->next = control->opens;
	if (open->next)
		open->next->previous = open;
	control->opens = open;
	*ret_open = open;
	return 0;
}

static void open_unlist(struct wfs_control_open *open)
{
	WFS_GUARD(&open->control->opens_mutex);

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
	wfs_control_closed(open);
	wfs_control_parser_done(&open->parser);
	wfs_control_content_done(&open->content);
	wfs_upload_free(open->upload);
	wfs_buffer_done(&open->output);
	pthread_mutex_destroy(&open->mutex);
	free(open);
}

/* Answers an open(2). @r: 0 or -errno. Linux sends no RELEASE for an interrupted open. */
static void open_reply(struct wfs_control_opening *opening, int r)
{
	struct wfs_control *control = opening->open->control;

	if (r == 0) {
		opening->info.fh = (uint64_t)(uintptr_t)opening->open;
		const int sent = opening->entry.ino
			? fuse_reply_create(opening->request, &opening->entry, &opening->info)
			: fuse_reply_open(opening->request, &opening->info);
		if (sent == -ENOENT)
			wfs_control_open_free(opening->open);
	} else {
		fs_reply_result(opening->request, r);
		wfs_control_open_free(opening->open);
	}
	wfs_call_done(&opening->call);
	free(opening);
	wfs_control_leave(control);
}

/* Charges for the contents of a file without requests; a small one is shown in any case.
 * Return: 0, -ENOMEM, -EAGAIN (the user's open files take too much memory). */
static int open_charge(struct wfs_control_open *open)
{
	const int r = wfs_buffer_check(&open->output);

	if (r)
		return r;
	return wfs_control_output(open) || open->output.size <= WFS_CONTROL_KEEP_MAX ? 0 : -EAGAIN;
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

	if (r == 0 && open->file->kind == WFS_CONTROL_TEXT)
		r = open_render_text(call->result, &open->output);
	else if (r == 0)
		wfs_control_render(call, &open->output);
	open_reply(opening, r ? r : open_charge(open));
}

static void open_last(struct wfs_work_task *task)
{
	struct wfs_control_opening *opening =
		(void *)((char *)task - offsetof(struct wfs_control_opening, task));
	struct wfs_control_open *open = opening->open;

	pthread_mutex_lock(&open->control->mutex);
	wfs_buffer_append(&open->output, open->user->last.data, open->user->last.size);
	pthread_mutex_unlock(&open->control->mutex);
	open_reply(opening, open_charge(open));
}

/* Must an open of `last` wait until a release of this user has completed? */
static bool open_must_wait(struct wfs_control *control, struct wfs_control_opening *opening)
{
	struct wfs_control_user *const user = opening->open->user;
	WFS_GUARD(&control->mutex);

	if (user->late_count == 0)
		return false;
	opening->next = user->late_waiting;
	user->late_waiting = opening;
	return true;
}

void wfs_control_late_end(struct wfs_control *control, struct wfs_control_user *user)
{
	struct wfs_control_opening *opening = NULL;

	pthread_mutex_lock(&control->mutex);
	user->late_count--;
	if (user->late_count == 0)
		opening = WFS_STEAL(user->late_waiting);
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
		opening->call.session = opening->open->user->session;
		opening->call.host = control->host;
		opening->call.done = open_answered;
		opening->call.context = opening;
		wfs_call_start(&opening->call, file->verb);
	} else if (!open_must_wait(control, opening)) {
		open_last(&opening->task);
	}
}

/* Makes an opening, which keeps the connection. Return: 0 or -errno. */
static int opening_new(fuse_req_t request, fuse_ino_t ino, const struct fuse_file_info *info,
	struct wfs_control_opening **ret_opening)
{
	struct wfs_control *control = fuse_req_userdata(request);
	const struct wfs_control_file *file = wfs_control_file_find(ino);
	WFS_AUTO_FREE struct wfs_control_opening *opening = NULL;
	int r = file ? wfs_control_enter(control) : -EISDIR;

	if (r < 0)
		return r;
	opening = calloc(1, sizeof(*opening));
	r = opening ? wfs_control_open_new(
			      control, file, info->flags, fuse_req_ctx(request), &opening->open)
		    : -ENOMEM;
	if (r < 0) {
		wfs_control_leave(control);
		return r;
	}
	wfs_require(opening->open != NULL);
	opening->open->ino = ino;
	opening->request = request;
	opening->info = *info;
	opening->info.direct_io = 1;
	*ret_opening = WFS_STEAL(opening);
	return 0;
}

/* Valid replies: open, or ENOENT, EISDIR, EACCES, EAGAIN (the user's open files take too much
 * memory), ENFILE (the user has too many of them), ENODEV (stopping), ENOMEM, an error of the
 * verb. */
void wfs_control_fuse_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	struct wfs_control *control = fuse_req_userdata(request);
	struct wfs_control_opening *opening = NULL;
	int r = opening_new(request, ino, info, &opening);

	if (r < 0) {
		fs_reply_result(request, r);
		return;
	}
	if (opening->open->file->kind == WFS_CONTROL_CONTENT)
		r = wfs_control_artifact_id(opening->open->user->session,
			wfs_control_artifact_number(control, ino), opening->open->artifact_id);
	if (r < 0)
		open_reply(opening, r);
	else
		open_start(control, opening);
}

/* Creates a file below ctl/artifacts for an artifact that does not exist, or that the user does
 * not see; closing the file makes the artifact. No other file can be created; ENOENT tells a shell
 * that the name is mistyped.
 * Valid replies: entry and open, or ENOENT, EINVAL (no id), EACCES, ENFILE (the user has too many
 * files open), ENODEV (stopping), ENOMEM. */
void wfs_control_fuse_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *info)
{
	struct wfs_control *control = fuse_req_userdata(request);
	struct wfs_control_opening *opening = NULL;
	int r = parent != WFS_CONTROL_ARTIFACTS_INO ? -ENOENT
		: !wfs_grant_name_valid(name)       ? -EINVAL
						    : 0;

	(void)mode;
	if (r == 0)
		r = opening_new(request, wfs_control_new_artifact_ino(control, 0), info, &opening);
	if (r < 0) {
		fs_reply_result(request, r);
		return;
	}
	struct wfs_control_open *const open = opening->open;
	snprintf(open->artifact_id, sizeof(open->artifact_id), "%s", name);
	if (!open->content.pending)
		wfs_control_content_begin(&open->content, false);
	wfs_control_entry(control, open->ino, &opening->entry);
	open_start(control, opening);
}

static struct wfs_control_open *open_of(const struct fuse_file_info *info)
{
	return (void *)(uintptr_t)info->fh;
}

/* Makes an operation with a copy of @data (its pointer may be NULL). Without memory it replies
 * ENOMEM. */
static struct wfs_control_op *open_op(
	fuse_req_t request, enum wfs_control_op_kind kind, struct wfs_bytes data)
{
	size_t copied = data.data ? data.size : 0;
	struct wfs_control_op *op = calloc(1, sizeof(*op) + copied);

	if (!op) {
		fs_reply_result(request, -ENOMEM);
		return NULL;
	}
	op->kind = kind;
	op->request = request;
	op->pid = fuse_req_ctx(request)->pid;
	op->size = data.size;
	op->data = (char *)(op + 1);
	if (copied > 0)
		memcpy(op->data, data.data, copied);
	return op;
}

static void open_begin(fuse_req_t request, const struct fuse_file_info *info,
	enum wfs_control_op_kind kind, uint64_t offset, struct wfs_bytes data)
{
	struct wfs_control_open *const open = open_of(info);
	const size_t copied = data.data ? data.size : 0;
	struct wfs_error error = {.code = WFS_OK};
	int r = copied > 0 ? wfs_control_take(open, copied, &error) : 0;

	if (r) {
		wfs_control_user_refuse(open->control, open->user, &error, r);
		fs_reply_result(request, r);
		return;
	}
	struct wfs_control_op *const op = open_op(request, kind, data);
	if (!op) {
		wfs_control_give(open, copied);
		return;
	}
	op->copied = copied;
	op->offset = offset;
	wfs_control_begin(open, op);
}

/* Valid replies: bytes, or ENODEV, ENOMEM. */
void wfs_control_fuse_read(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info)
{
	(void)ino;
	open_begin(request, info, WFS_CONTROL_READ, (uint64_t)offset, WFS_BYTES(NULL, size));
}

/* Valid replies: the size, EAGAIN (the user's open files take too much memory: nothing was
 * written), or the errno of the first request that failed. */
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

/* Valid replies: the attributes, or EINVAL, ENODEV, ENOMEM. */
void wfs_control_fuse_truncate(
	fuse_req_t request, fuse_ino_t ino, uint64_t size, const struct fuse_file_info *info)
{
	struct wfs_control_op *op = open_op(request, WFS_CONTROL_TRUNCATE, WFS_BYTES(NULL, 0));

	if (!op)
		return;
	op->ino = ino;
	op->offset = size;
	wfs_control_begin(open_of(info), op);
}

/* Answered requests are durable already; what only a close completes is not begun here.
 * Valid replies: 0. */
void wfs_control_fuse_fsync(
	fuse_req_t request, fuse_ino_t ino, int datasync, struct fuse_file_info *info)
{
	(void)ino;
	(void)datasync;
	(void)info;
	fs_reply_result(request, 0);
}

/* Is there content or a blob that no close(2) has completed, or an empty blob, which FLUSH cannot
 * tell from no blob? */
static bool open_completes_at_release(struct wfs_control_open *open)
{
	WFS_GUARD(&open->mutex);

	return open->content.pending ||
		(open->stream_failed == 0 && (open->upload || open->truncated));
}

/* Valid replies: 0. The reply says nothing about what the release completes, but an open of `last`
 * waits for it. */
void wfs_control_fuse_release(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
	struct wfs_control_open *open = open_of(info);
	struct wfs_control *control = open->control;

	(void)ino;
	if (open_completes_at_release(open)) {
		open->release.kind = WFS_CONTROL_RELEASE;
		pthread_mutex_lock(&control->mutex);
		open->user->late_count++;
		pthread_mutex_unlock(&control->mutex);
		wfs_control_begin(open, &open->release);
	} else {
		wfs_control_open_free(open);
	}
	fs_reply_result(request, 0);
}
