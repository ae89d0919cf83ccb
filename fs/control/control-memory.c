/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges users for the memory of their open control files: incomplete requests, values of
 * unanswered requests, unread answers, and the contents of files without requests.
 *
 * Each user has a share, and all guests together have one; otherwise a user that opens many files
 * could take all memory of the process that serves everybody. fs/server/server-user.c does this
 * for the control socket.
 */
#include "fs/control/control-impl.h"

/* Lock: control->mutex. */
static void add(struct wfs_control_open *open, size_t more, size_t less)
{
	open->held_bytes += more - less;
	open->user->held_bytes += more - less;
	if (!open->user->operates)
		open->control->guest_bytes += more - less;
}

/* Lock: control->mutex. */
static bool fits(const struct wfs_control_open *open, size_t bytes)
{
	const struct wfs_control_user *const user = open->user;
	const size_t wanted = user->held_bytes + bytes;

	if (user->operates || wanted <= WFS_CONTROL_USER_BYTES_FEW)
		return true;
	/* A single file gets memory for its request, which may have very many values. */
	if (wanted > WFS_CONTROL_FILE_BYTES_MAX ||
		(wanted > WFS_CONTROL_USER_BYTES_MAX &&
			user->held_bytes - open->held_bytes > WFS_CONTROL_USER_BYTES_FEW))
		return false;
	const size_t others = open->control->guest_bytes - user->held_bytes;
	return others <= WFS_CONTROL_USER_BYTES_FEW ||
		others + wanted <= WFS_CONTROL_GUEST_BYTES_MAX;
}

int wfs_control_take(struct wfs_control_open *open, size_t bytes, struct wfs_error *error)
{
	WFS_GUARD(&open->control->mutex);

	if (fits(open, bytes)) {
		add(open, bytes, 0);
		return 0;
	}
	return wfs_error_set(error, WFS_E_OVERLOADED,
		"open control files of user %u take %zu bytes of memory already, and %zu "
		"more do not fit; read the answers, close some, or try again",
		(unsigned int)open->user->uid, open->user->held_bytes, bytes);
}

void wfs_control_give(struct wfs_control_open *open, size_t bytes)
{
	if (bytes == 0)
		return;
	WFS_GUARD(&open->control->mutex);

	add(open, 0, bytes);
}

/* Lock: control->mutex. */
static void set(struct wfs_control_open *open, size_t *part, size_t bytes)
{
	add(open, bytes, *part);
	*part = bytes;
}

void wfs_control_input(struct wfs_control_open *open)
{
	const size_t bytes = sizeof(*open) + open->parser.pending.capacity_bytes +
		open->content.bytes.capacity_bytes;
	WFS_GUARD(&open->control->mutex);

	set(open, &open->input_bytes, bytes);
}

bool wfs_control_output(struct wfs_control_open *open)
{
	WFS_GUARD(&open->control->mutex);

	set(open, &open->output_bytes, open->output.capacity_bytes);
	return fits(open, 0);
}

int wfs_control_opened(struct wfs_control_open *open)
{
	WFS_GUARD(&open->control->mutex);

	if (!open->user->operates && open->user->open_count >= WFS_CONTROL_USER_OPENS_MAX)
		return -ENFILE;
	open->user->open_count++;
	set(open, &open->input_bytes, sizeof(*open));
	return 0;
}

void wfs_control_closed(struct wfs_control_open *open)
{
	WFS_GUARD(&open->control->mutex);

	open->user->open_count--;
	add(open, 0, open->held_bytes);
}
