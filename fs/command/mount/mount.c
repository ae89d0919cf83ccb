/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about mounts and owners: mount, umount, serve. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/client/client.h"
#include "fs/command/mount/commands.h"
#include "fs/command/world/commands.h"
#include "fs/mount/mount-table.h"
#include "fs/server/owner.h"
#include "kernel/base/clock.h"
#include "kernel/base/lock.h"
#include "kernel/manifest/manifest.h"

enum {
	RETRY_MS = 50,        /* between two checks of a process that is starting or ending */
	GONE_WAIT_MS = 10000, /* wait until a mount is gone and its owner has ended */
};

static void pause_ms(int ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000L * 1000};

	nanosleep(&pause, NULL);
}

static int64_t deadline_in(int ms)
{
	return wfs_clock_monotonic_ns() + (int64_t)ms * 1000 * 1000;
}

/* Finds the canonical path of MNT, which may be a mount without a daemon. Caller frees. */
static int mount_point(struct wfs_run *run, char **ret_path)
{
	const char *const given = run->arguments[0];
	WFS_AUTO_FREE char *here = given[0] == '/' ? NULL : getcwd(NULL, 0);
	WFS_AUTO_FREE char *path = NULL;

	if (given[0] != '/' && !here)
		return wfs_error_from_errno(&run->error, -errno, "find the working directory");
	if (asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", given) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	int r = wfs_run_check_path(run, path);

	return r ? r : wfs_mount_resolve(path, ret_path, &run->error);
}

/* Makes the owner know this user: it takes descriptors only from a user that may mount, and knows
 * the user after the first request.
 * @ret_refusal: error of the answer; an owner that does not serve the user then closes the
 * connection
 * Return: 0, or -errno: the connection is useless. */
static int greet(struct wfs_run *run, struct wfs_client *client, struct wfs_error *ret_refusal)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	int r = wfs_client_post(client, "journal-head", NULL);

	if (!r)
		r = wfs_client_take(client, true, &answer, &run->error);
	if (r < 0)
		return r;
	if (answer.status)
		*ret_refusal = answer.error;
	return 0;
}

/* Sends a request to the owner. @handed: descriptors to send; NULL: none. @ret_reached: was there
 * an owner?
 * Return: as wfs_client_new(), or the status of the answer. */
static int ask_owner(struct wfs_run *run, const char *directory, const char *verb,
	const json_t *payload, const struct wfs_handed *handed, bool *ret_reached)
{
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	struct wfs_error refusal = {.code = WFS_OK};
	int r = wfs_client_new(directory, NULL, run->wait_ms, &client, &run->error);

	*ret_reached = r == 0;
	if (r)
		return r;
	if (handed) {
		r = greet(run, client, &refusal);
		wfs_client_attach(client, handed->fds, WFS_HANDED_COUNT);
	}
	if (!r)
		r = wfs_client_post(client, verb, payload);
	if (!r)
		r = wfs_client_take(client, true, &answer, &run->error);
	if (r < 0 && refusal.code != WFS_OK && run->error.code == WFS_E_CANCELLED) {
		run->error = refusal;
		return -wfs_error_info(refusal.code)->number;
	}
	if (r < 0)
		return r;
	if (answer.status)
		run->error = answer.error;
	return answer.status;
}

/* Is there no owner, or has it just ended? */
static bool owner_is_gone(const struct wfs_run *run, int r)
{
	return r == -ECONNREFUSED || (r == -ENOENT && run->error.code == WFS_OK) ||
		run->error.code == WFS_E_CANCELLED;
}

static bool is_owned(const char *directory)
{
	pid_t pid = 0;

	return wfs_lock_owner(directory, &pid) == 0 && pid != 0;
}

/* --- mount --- */

static int tell_mounted(struct wfs_run *run, const char *path)
{
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(
			run, json_pack("{s:s, s:s}", "directory", path, "world", run->directory));
	wfs_run_notice(run, "mounted on %s", path);
	wfs_run_tell_trust(run, run->directory);
	return 0;
}

/* A mount that is being made. */
struct making {
	struct wfs_run *run;
	char *world; /* canonical; owned */
	char *ctl;   /* mount point of the control files; owned */
	struct wfs_mount_options options;
	struct wfs_owner_options owner;
	struct wfs_handover handover;
	int ended; /* in the foreground: result of wfs_handover_end() */
};

static void making_done(struct making *making)
{
	wfs_handover_done(&making->handover);
	wfs_handed_close(&making->options.handed);
	free(making->world);
	free(making->ctl);
}

/* Removes a mount that no owner has taken over. Return: @r. */
static int unmake(struct making *making, int r)
{
	wfs_handover_undo(&making->handover);
	wfs_handover_done(&making->handover);
	return r;
}

/* Mounts, unless it is done already. The owner takes the mount over. */
static int make(struct making *making)
{
	struct wfs_mount_options *const options = &making->options;

	if (making->handover.made)
		return 0;
	int r = wfs_handover_make(making->world, options->directory, options->allow_other,
		options->nest_ctl, &making->handover, &making->run->error);
	if (r)
		return r;
	free(making->ctl);
	making->ctl = strdup(making->handover.ctl);
	options->ctl = making->ctl;
	return making->ctl ? 0 : unmake(making, -ENOMEM);
}

static int ask_for_mount(struct making *making, bool *ret_reached)
{
	const struct wfs_mount_options *const mount = &making->options;
	struct wfs_run *const run = making->run;
	WFS_AUTO_JSON json_t *payload = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:I, s:I}", "dir",
		mount->directory, "ctl", mount->ctl, "as", mount->principal, "allow_other",
		(int)mount->allow_other, "act", (int)mount->act, "nest_ctl", (int)mount->nest_ctl,
		"uid", (json_int_t)mount->uid, "gid", (json_int_t)mount->gid);

	run->error.code = WFS_OK;
	return payload ? ask_owner(run, run->directory, "mount", payload, &making->handover.handed,
				 ret_reached)
		       : -ENOMEM;
}

/* Closes this process's descriptors of the mount; the owner has those that were handed over. */
static void on_forked(void *context)
{
	struct making *const making = context;

	making->handover.handed = (struct wfs_handed)WFS_HANDED_NONE;
	wfs_handover_done(&making->handover);
}

/* Hands the mount to the existing owner, or to a new one. */
static int hand_over(struct making *making, bool *ret_again)
{
	struct wfs_run *const run = making->run;
	bool reached = false;
	int r = ask_for_mount(making, &reached);

	*ret_again = false;
	if (!owner_is_gone(run, r)) {
		if (!r && making->owner.paused)
			wfs_run_notice(run, "--paused has no effect: the world is open already");
		return r;
	}
	if (reached) { /* It may have read FUSE_INIT, which Linux sends only once for each mount. */
		*ret_again = true;
		return unmake(making, r);
	}
	making->options.handed = making->handover.handed;
	r = wfs_owner_start(&making->owner, &run->error);
	making->options.handed = (struct wfs_handed)WFS_HANDED_NONE;
	*ret_again = r == -EBUSY;
	return r;
}

/* Mounts in the background. If two commands find no owner at once, the second asks the owner that
 * the first has started. */
static int mount_in_background(struct making *making)
{
	struct wfs_run *const run = making->run;
	const int64_t deadline_ns = deadline_in(WFS_OPEN_WAIT_MS);
	bool last = false;
	bool again;
	int r;

	for (;;) {
		r = make(making);
		if (r)
			return r;
		r = hand_over(making, &again);
		if (!again || last || wfs_clock_monotonic_ns() >= deadline_ns)
			break;
		/* Without an owner, another command has the world open, or the owner has just
		 * ended. */
		last = r == -EBUSY && !is_owned(run->directory);
		pause_ms(RETRY_MS);
	}
	if (!r)
		r = wfs_handover_end(&making->handover, &run->error);
	return r ? unmake(making, r) : 0;
}

static void on_mounted(void *context)
{
	struct making *const making = context;
	struct wfs_run *const run = making->run;

	making->ended = wfs_handover_end(&making->handover, &run->error);
	if (making->ended) {
		(void)unmake(making, 0); /* an owner ends with its last mount */
		return;
	}
	wfs_handover_done(&making->handover);
	wfs_run_notice(run, "mounted on %s", run->arguments[0]);
	wfs_run_tell_trust(run, run->directory);
}

static int mount_in_foreground(struct making *making)
{
	int r = make(making);

	if (r)
		return r;
	making->options.handed = making->handover.handed;
	making->handover.handed = (struct wfs_handed)WFS_HANDED_NONE;
	making->owner.wait_ms = WFS_OPEN_WAIT_MS;
	r = wfs_owner_run(&making->owner, &making->run->error);
	return r ? unmake(making, r) : making->ended;
}

static int find_world(struct making *making)
{
	struct wfs_run *const run = making->run;
	int r = wfs_run_directory(run);

	if (r)
		return r;
	making->world = realpath(run->directory, NULL);
	return making->world
		? 0
		: wfs_error_from_errno(&run->error, -errno, "resolve '%s'", run->directory);
}

int wfs_run_mount(struct wfs_run *run)
{
	const char *const principal = run->options[WFS_OPTION_AS];
	const char *const others = run->options[WFS_OPTION_ALLOW_OTHER];
	WFS_AUTO_FREE char *path = NULL;
	WFS_CLEANUP(making_done)
	struct making making = {
		.run = run,
		.options =
			{
				.principal = principal ? principal : WFS_PRINCIPAL_OPERATOR,
				.allow_other = others,
				.act = others && strcmp(others, "act") == 0,
				.nest_ctl = run->options[WFS_OPTION_NEST_CTL],
				.here = true,
				.trusted = true,
				.uid = getuid(),
				.gid = getgid(),
				.handed = WFS_HANDED_NONE,
			},
		.owner =
			{
				.drive = run->drive,
				.paused = run->options[WFS_OPTION_PAUSED],
				.mount = &making.options,
				.ready = on_mounted,
				.forked = on_forked,
				.context = &making,
			},
	};
	if (others && *others && !making.options.act)
		return wfs_run_misuse(run,
			"option '--allow-other': expected nothing or 'act', got '%.60s'", others);
	int r = find_world(&making);

	if (!r)
		r = mount_point(run, &path);
	if (r)
		return r;
	making.options.directory = path;
	making.owner.directory = run->directory;
	if (run->options[WFS_OPTION_FOREGROUND])
		return mount_in_foreground(&making);
	r = mount_in_background(&making);
	return r ? r : tell_mounted(run, path);
}

/* --- serve --- */

static void on_serving(void *context)
{
	struct wfs_run *const run = context;

	wfs_run_notice(run, "serving %s", run->directory);
	wfs_run_tell_trust(run, run->directory);
}

int wfs_run_serve(struct wfs_run *run)
{
	struct wfs_owner_options options = {
		.drive = run->drive,
		.paused = run->options[WFS_OPTION_PAUSED],
		.keep = true,
		.wait_ms = WFS_OPEN_WAIT_MS,
		.ready = on_serving,
		.context = run,
	};
	int r = wfs_run_directory(run);

	options.directory = run->directory;
	return r ? r : wfs_owner_run(&options, &run->error);
}

/* --- umount --- */

/* The owner to wait for after a mount is gone. */
struct behind {
	char *directory; /* of the world; owned; NULL: the mount does not tell */
	bool ends;       /* the owner ends with this mount */
};

static void behind_done(struct behind *behind)
{
	free(behind->directory);
}

static int ask_status(struct wfs_run *run, const char *directory, json_t **ret_status)
{
	WFS_AUTO_CLIENT struct wfs_client *client = NULL;
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	int r = wfs_client_new(directory, NULL, run->wait_ms, &client, &run->error);

	if (!r)
		r = wfs_client_post(client, "status", NULL);
	if (!r)
		r = wfs_client_take(client, true, &answer, &run->error);
	if (r < 0)
		return r;
	*ret_status = WFS_STEAL(answer.result);
	return answer.status;
}

/* Finds the owner of a mount. The mount table names the world, and the owner tells the rest. The
 * mount of an ended owner tells nothing. The control files are not read, because a read of them
 * could hang.
 * Return: 0, or -ETIMEDOUT: the owner does not react. */
static int find_behind(struct wfs_run *run, const char *path, struct behind *behind)
{
	WFS_AUTO_FREE char *world = NULL;
	WFS_AUTO_JSON json_t *status = NULL;
	unsigned long device;
	int r = wfs_mount_device(path, &device, &world, NULL);

	if (!r)
		r = ask_status(run, world, &status);
	if (r == -ETIMEDOUT)
		return r;
	run->error.code = WFS_OK;
	if (r && r != -EACCES)
		return 0;
	behind->directory = WFS_STEAL(world);
	behind->ends = !json_is_true(json_object_get(status, "keep")) &&
		json_is_true(json_object_get(status, "last_mount"));
	return 0;
}

static int take_down(struct wfs_run *run, const char *path, const struct behind *behind)
{
	WFS_AUTO_JSON json_t *payload = json_pack("{s:s}", "dir", path);
	unsigned long device = 0;
	bool reached;
	int r;

	/* If the owner cannot be reached, knows no mount by this path, or refuses, Linux decides
	 * whether this process may unmount it. */
	if (behind->directory && payload) {
		r = ask_owner(run, behind->directory, "umount", payload, NULL, &reached);
		if (reached && !owner_is_gone(run, r) && r != -ENOENT && r != -EACCES)
			return r;
		run->error.code = WFS_OK;
	}
	if (wfs_mount_clear_dead(path, NULL) == 0) {
		wfs_mount_run_clear();
		return 0;
	}
	r = wfs_mount_device(path, &device, NULL, &run->error);
	return r ? r : wfs_mount_unmount(path, device, false, &run->error);
}

static int wait_until_gone(struct wfs_run *run, const char *path, const struct behind *behind)
{
	const int64_t deadline_ns = deadline_in(GONE_WAIT_MS);
	int r;

	for (;;) {
		r = wfs_mount_is_ours(path, &run->error);
		if (r < 0)
			return r;
		if (r == 0 && !(behind->ends && is_owned(behind->directory)))
			return 0;
		if (wfs_clock_monotonic_ns() >= deadline_ns)
			return wfs_error_set(&run->error, WFS_E_TIMEOUT,
				"'%s' was unmounted, but its owner process does not end", path);
		pause_ms(RETRY_MS / 10);
	}
}

int wfs_run_umount(struct wfs_run *run)
{
	WFS_AUTO_FREE char *path = NULL;
	WFS_CLEANUP(behind_done) struct behind behind = {.directory = NULL};
	int r = mount_point(run, &path);

	if (!r)
		r = wfs_mount_is_ours(path, &run->error);
	if (r == 0)
		return wfs_error_set(
			&run->error, WFS_E_NOT_FOUND, "no world is mounted on '%s'", path);
	if (r < 0)
		return r;
	r = find_behind(run, path, &behind);
	if (!r)
		r = take_down(run, path, &behind);
	if (!r)
		r = wait_until_gone(run, path, &behind);
	if (!r && run->options[WFS_OPTION_JSON])
		r = wfs_run_json(run, json_pack("{s:s}", "directory", path));
	return r;
}
