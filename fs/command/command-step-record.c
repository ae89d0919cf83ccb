/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a turn of an agent down, for the provider `script`. */
#include "fs/command/command-step.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/command/recorder.h"

void wfs_step_file_done(struct wfs_step_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		unlink(file->path);
	}
	free(file->path);
}

int wfs_step_file_make(struct wfs_run *run, const char *name, struct wfs_step_file *file)
{
	if (asprintf(&file->path, "%s.XXXXXX", name) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemp(file->path, O_CLOEXEC);
	return file->fd < 0 ? wfs_error_from_errno(&run->error, -errno, "write '%s'", name) : 0;
}

static int write_file(struct wfs_run *run, const char *name, struct wfs_step_file *file,
	const struct wfs_buffer *script)
{
	size_t written = 0;
	int r = wfs_buffer_check(script);

	while (!r && written < script->size) {
		const ssize_t size =
			write(file->fd, script->data + written, script->size - written);

		if (size >= 0)
			written += (size_t)size;
		else if (errno != EINTR)
			r = -errno;
	}
	if (!r && (fsync(file->fd) < 0 || rename(file->path, name) < 0))
		r = -errno;
	if (r)
		return wfs_error_from_errno(&run->error, r, "write '%s'", name);
	close(WFS_STEAL_FD(file->fd));
	return 0;
}

static int read_journal(struct wfs_run *run, struct wfs_recorder *recorder)
{
	uint64_t from = 0;
	const json_t *record;
	size_t i;
	bool more = true;
	int r = 0;

	while (!r && more) {
		WFS_AUTO_JSON json_t *page = NULL;

		r = wfs_run_call(run, "journal-read",
			json_pack(
				"{s:I, s:s}", "from", (json_int_t)from, "turn", recorder->turn_id),
			&page);
		json_array_foreach(json_object_get(page, "records"), i, record)
		{
			r = r ? r : wfs_recorder_take(recorder, record);
		}
		more = json_object_get(page, "next_from") != NULL;
		from = (uint64_t)wfs_run_integer(page, "next_from");
	}
	return r;
}

int wfs_step_file_write(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_step_file *file)
{
	WFS_AUTO_RECORDER struct wfs_recorder recorder = {.turn_id = turn_id};
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};
	int r = read_journal(run, &recorder);

	if (r)
		return r;
	wfs_recorder_write(&recorder, &script);
	return write_file(run, name, file, &script);
}
