/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrading a world, and removing what it was before. */
#include "kernel/copy/upgrade.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "kernel/base/clock.h"
#include "kernel/base/directory.h"
#include "kernel/base/formats.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/lock.h"
#include "kernel/base/trust.h"
#include "kernel/base/world-file.h"
#include "kernel/fold/head.h"
#include "kernel/manifest/source.h"
#include "kernel/store/blob.h"
#include "kernel/world/apply.h"
#include "kernel/world/domains.h"
#include "kernel/world/genesis.h"

#define STAGE "upgrade"
#define OLD STAGE "/before" /* in the stage, until it is complete */
#define BEFORE "before-"
#define KEEP_FILE "keep" /* in the directory of an old store */

enum { SPARE_BYTES = 16 << 20 }; /* for records, and for what LMDB and the file system add */

struct upgrade {
	const char *directory;
	const struct wfs_upgrade_options *options;
	struct wfs_problems *problems;
	struct wfs_upgraded result;
	struct wfs_world *old; /* opened for reading */
	int fd;                /* of the world's directory */
	int lock_fd;
	int stage_fd; /* of STAGE; -1: none */
	bool trusted; /* the user has trusted the world, with the host.json of this hash */
	struct wfs_hash host;
	struct wfs_error *error;
};

static int failed(const struct upgrade *upgrade, int r, const char *what)
{
	return wfs_error_from_errno(
		upgrade->error, r, "upgrade '%s': %s", upgrade->directory, what);
}

static bool look(const struct upgrade *upgrade, const char *what, uint64_t done, uint64_t total)
{
	const struct wfs_upgrade_options *const options = upgrade->options;

	return !options->progress ||
		options->progress(options->context, what, done, total > done ? total : 0);
}

static int cancelled(const struct upgrade *upgrade)
{
	return wfs_error_set(upgrade->error, WFS_E_CANCELLED, "interrupted: '%s' was not upgraded",
		upgrade->directory);
}

/* --- the stage --- */

static void remove_in(int directory_fd, const char *name)
{
	WFS_AUTO_FD int fd = wfs_beneath_open(directory_fd, name, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return;
	wfs_directory_clear(fd);
	(void)unlinkat(directory_fd, name, AT_REMOVEDIR);
}

static int make_stage(struct upgrade *upgrade)
{
	if (mkdirat(upgrade->fd, STAGE, 0700) || mkdirat(upgrade->fd, OLD, 0700))
		return failed(upgrade, -errno, "make '" STAGE "'");
	upgrade->stage_fd = wfs_beneath_open(upgrade->fd, STAGE, O_RDONLY | O_DIRECTORY);
	return upgrade->stage_fd < 0 ? failed(upgrade, upgrade->stage_fd, "open '" STAGE "'") : 0;
}

static bool pages_checked(void *context, uint64_t done, uint64_t total)
{
	return look(context, "pages", done, total);
}

static bool data_copied(void *context, uint64_t done_bytes)
{
	const struct upgrade *const upgrade = context;

	return look(upgrade, "bytes of data.mdb", done_bytes, upgrade->result.needs_bytes);
}

/* Checks all pages first, as a backup does: LMDB copies them without the store's guard. */
static int copy_data(struct upgrade *upgrade)
{
	struct wfs_store *const store = wfs_world_store(upgrade->old);
	int r = wfs_store_check_pages(store, upgrade->problems, pages_checked, upgrade);

	if (!r && upgrade->problems->count > 0)
		return wfs_error_set(upgrade->error, WFS_E_HASH_MISMATCH,
			"'%s' is damaged, so it was not upgraded", upgrade->directory);
	WFS_AUTO_FD int fd = r ? r
			       : openat(upgrade->stage_fd, "data.mdb",
					 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (!r && fd < 0)
		r = -errno;
	if (!r)
		r = wfs_store_copy(store, fd, data_copied, upgrade);
	if (r == -EINTR)
		return cancelled(upgrade);
	return r ? failed(upgrade, r, "copy data.mdb") : 0;
}

/* Files of one store that get a second name in a directory. */
struct linking {
	struct wfs_store *store;
	int to_fd;
};

static int link_file(void *context, const struct wfs_hash *hash)
{
	const struct linking *const linking = context;

	return wfs_blob_file_link(linking->store, linking->to_fd, hash);
}

static int link_files(struct upgrade *upgrade, struct wfs_store *store, int to_fd)
{
	struct linking linking = {store, to_fd};
	int r = wfs_directory_make(to_fd, "blobs");

	if (!r)
		r = wfs_blob_files_each(store, link_file, &linking);
	return r ? failed(upgrade, r, "link the blob files") : 0;
}

/* --- records --- */

/* What appending the records needs. Plain value. */
struct appending {
	struct wfs_head head;
	struct wfs_txn *txn;
	struct wfs_fold *fold;
	struct wfs_runtime *runtime;
	struct wfs_manifest *to;
	int64_t at_ns;
};

static void appending_done(struct appending *appending)
{
	wfs_fold_free(appending->fold);
	wfs_runtime_free(appending->runtime);
	wfs_manifest_unref(appending->to);
	wfs_head_done(&appending->head);
	wfs_txn_end(appending->txn);
}

/* Makes the manifest with the built-in definitions of this program. */
static int renew_manifest(
	const struct wfs_manifest *from, struct wfs_manifest **ret_to, struct wfs_error *error)
{
	const struct wfs_bytes document = wfs_manifest_document(from);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	int r = wfs_json_parse(document.data, document.size, &json, error);

	if (!r)
		r = wfs_source_renew(json);
	if (r)
		return wfs_trace(r);
	wfs_json_write(json, &text);
	r = wfs_buffer_check(&text);
	return wfs_trace(r ? r : wfs_apply_parse(wfs_buffer_bytes(&text), ret_to, error));
}

static int append_manifest(
	struct appending *appending, struct wfs_manifest *from, struct wfs_error *error)
{
	const struct wfs_body_manifest body = {
		.base_manifest_hash = *wfs_manifest_hash(from),
		.manifest_hash = *wfs_manifest_hash(appending->to),
		.reason = "worldfs upgrade: the built-in definitions of this version",
	};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *diff = NULL;
	int r = wfs_apply_check(&appending->head, from, appending->to, &diff, error);

	if (r)
		return wfs_trace(r);
	wfs_body_write_manifest(&text, &body);
	const struct wfs_fold_input input = {
		.kind = WFS_RECORD_MANIFEST,
		.body = wfs_buffer_bytes(&text),
		.principal = "kernel",
		.at_ns = appending->at_ns,
		.manifest = appending->to,
	};
	r = wfs_buffer_check(&text);
	if (!r)
		r = wfs_fold_run(
			appending->fold, &appending->head, appending->runtime, &input, error);
	if (!r)
		r = wfs_fold_apply(appending->fold, &appending->head);
	return wfs_trace(
		r ? r : wfs_apply_write(&appending->head, from, appending->to, appending->at_ns));
}

static int append(struct appending *appending, const struct wfs_upgraded *result,
	struct wfs_manifest *from, struct wfs_error *error)
{
	const struct wfs_manifest *in_force = from;
	int r = 0;

	if (result->from_fold_version < WFS_FOLD_VERSION)
		r = wfs_head_append_epoch(&appending->head, result->from_fold_version,
			appending->at_ns, wfs_manifest_hash(from));
	if (!r)
		r = renew_manifest(from, &appending->to, error);
	if (!r && !wfs_hash_equal(wfs_manifest_hash(from), wfs_manifest_hash(appending->to))) {
		in_force = appending->to;
		r = append_manifest(appending, from, error);
	}
	return wfs_trace(r ? r : wfs_head_flush(&appending->head, in_force));
}

/* Appends the records that an upgrade adds to the new store, in one transaction. */
static int append_records(struct upgrade *upgrade, struct wfs_store *store)
{
	WFS_CLEANUP(appending_done) struct appending appending = {.txn = NULL};
	WFS_AUTO_MANIFEST struct wfs_manifest *from = wfs_world_manifest(upgrade->old);
	struct wfs_genesis genesis;
	int r = wfs_store_write(store, &appending.txn);

	wfs_world_genesis(upgrade->old, &genesis);
	if (!r)
		r = wfs_head_load(&appending.head, store, appending.txn, from);
	if (!r)
		r = wfs_runtime_new(from, &WFS_LUA_LIMITS_DEFAULT, &appending.runtime);
	if (!r)
		r = wfs_fold_new(genesis.entropy, wfs_domains, &appending.fold);
	if (!r) {
		const int64_t now_ns = wfs_clock_realtime_ns();

		appending.at_ns = now_ns > appending.head.at_ns ? now_ns : appending.head.at_ns;
		r = append(&appending, &upgrade->result, from, upgrade->error);
	}
	upgrade->result.height = appending.head.height;
	if (!r)
		r = wfs_txn_commit(WFS_STEAL(appending.txn));
	if (r && upgrade->error->code != WFS_OK)
		return wfs_trace(r);
	return r ? failed(upgrade, r, "append records") : 0;
}

/* --- the new store --- */

static int fill(struct upgrade *upgrade, const char *path)
{
	const struct wfs_store_options options = {.upgrade = true};
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	int r = copy_data(upgrade);

	if (!r)
		r = link_files(upgrade, wfs_world_store(upgrade->old), upgrade->stage_fd);
	if (!r)
		r = wfs_store_open(path, &options, &store, upgrade->error);
	return wfs_trace(r ? r : append_records(upgrade, store));
}

static int check(struct upgrade *upgrade, const char *path)
{
	const struct wfs_world_options options = {.read_only = true, .written_here = true};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	int r = wfs_world_open(path, &options, &world, upgrade->error);

	if (!r)
		r = wfs_verify(world, upgrade->problems, upgrade->options->progress,
			upgrade->options->context, upgrade->error);
	if (r == -EINTR)
		return cancelled(upgrade);
	if (!r && upgrade->problems->count > 0)
		return wfs_error_set(upgrade->error, WFS_E_HASH_MISMATCH,
			"'%s' is damaged, so it was not upgraded", upgrade->directory);
	/* The manifest that was in force may have become a blob file. */
	return wfs_trace(r ? r : link_files(upgrade, wfs_world_store(world), upgrade->fd));
}

/* Is the old store kept already, by an upgrade that was killed after it? Return: 1, 0, -EEXIST. */
static int is_kept(const struct upgrade *upgrade)
{
	char data[sizeof(upgrade->result.before) + sizeof("/data.mdb")];
	struct stat now;
	struct stat kept;

	snprintf(data, sizeof(data), "%s/data.mdb", upgrade->result.before);
	if (fstatat(upgrade->fd, data, &kept, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (fstatat(upgrade->fd, "data.mdb", &now, AT_SYMLINK_NOFOLLOW) == 0 &&
		now.st_ino == kept.st_ino)
		return 1;
	return wfs_error_set(upgrade->error, WFS_E_ALREADY_EXISTS,
		"'%s/%s' is the old store of another upgrade: move it away, or remove it with "
		"'worldfs upgrade --drop-old'",
		upgrade->directory, upgrade->result.before);
}

static int mark_as_kept(const struct upgrade *upgrade, int directory_fd)
{
	WFS_AUTO_FD int fd = openat(directory_fd, KEEP_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd < 0 ? failed(upgrade, -errno, "make '" KEEP_FILE "'") : 0;
}

/* Gives the old store second names in OLD, then moves that to its place. */
static int keep_old(struct upgrade *upgrade)
{
	int r = is_kept(upgrade);

	if (r)
		return r < 0 ? wfs_trace(r) : 0;
	WFS_AUTO_FD int fd = wfs_beneath_open(upgrade->fd, OLD, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return failed(upgrade, fd, "open '" OLD "'");
	r = link_files(upgrade, wfs_world_store(upgrade->old), fd);
	if (!r && upgrade->options->keep)
		r = mark_as_kept(upgrade, fd);
	if (r)
		return wfs_trace(r);
	if (linkat(upgrade->fd, "data.mdb", fd, "data.mdb", 0) || syncfs(fd) ||
		renameat(upgrade->fd, OLD, upgrade->fd, upgrade->result.before))
		return failed(upgrade, -errno, "keep the old store");
	return 0;
}

/* Notes whether the user trusts the world, which known.json knows by the inode of data.mdb. */
static void look_at_trust(struct upgrade *upgrade)
{
	WFS_AUTO_JSON json_t *json = NULL;

	upgrade->trusted =
		wfs_host_file_read(upgrade->directory, &json, &upgrade->host, NULL) == 0 &&
		wfs_trust_check(upgrade->directory, &upgrade->host, NULL) == 0;
}

/* Puts the new store into the place of the old one. */
static int replace(struct upgrade *upgrade)
{
	look_at_trust(upgrade);
	if (syncfs(upgrade->fd))
		return failed(upgrade, -errno, "sync the new store");
	if (unlinkat(upgrade->fd, "lock.mdb", 0) && errno != ENOENT)
		return failed(upgrade, -errno, "remove lock.mdb");
	if (renameat(upgrade->stage_fd, "data.mdb", upgrade->fd, "data.mdb"))
		return failed(upgrade, -errno, "replace data.mdb");
	if (upgrade->trusted) /* if this fails, the user is asked again */
		(void)wfs_trust_give(wfs_world_directory(upgrade->old), wfs_world_id(upgrade->old),
			&upgrade->host, NULL);
	return fsync(upgrade->fd) ? failed(upgrade, -errno, "sync the directory") : 0;
}

static int check_room(const struct upgrade *upgrade)
{
	struct statvfs disk;

	if (fstatvfs(upgrade->fd, &disk))
		return failed(upgrade, -errno, "look for room");
	const uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (room >= upgrade->result.needs_bytes)
		return 0;
	return wfs_error_set(upgrade->error, WFS_E_STORE_FULL,
		"the upgrade needs about %llu bytes on the disk of '%s', which has %llu",
		(unsigned long long)upgrade->result.needs_bytes, upgrade->directory,
		(unsigned long long)room);
}

/* --- the whole --- */

static int open_old(struct upgrade *upgrade)
{
	const struct wfs_world_options options = {.read_only = true, .problems = upgrade->problems};
	struct wfs_world_figures figures;
	int r = wfs_world_open(upgrade->directory, &options, &upgrade->old, upgrade->error);

	if (r)
		return wfs_trace(r);
	wfs_world_figures(upgrade->old, &figures);
	upgrade->result.from_format = wfs_store_format(wfs_world_store(upgrade->old));
	upgrade->result.from_fold_version = wfs_store_fold_version(wfs_world_store(upgrade->old));
	upgrade->result.needed = wfs_store_older(wfs_world_store(upgrade->old));
	upgrade->result.height = figures.height;
	upgrade->result.needs_bytes =
		figures.store.used_bytes - figures.store.free_bytes + SPARE_BYTES;
	snprintf(upgrade->result.before, sizeof(upgrade->result.before), BEFORE "%d",
		upgrade->result.from_format);
	return 0;
}

static int make_new(struct upgrade *upgrade)
{
	char path[PATH_MAX];
	int r = check_room(upgrade);

	snprintf(path, sizeof(path), "%s/" STAGE, upgrade->directory);
	if (!r)
		r = make_stage(upgrade);
	if (!r)
		r = fill(upgrade, path);
	if (!r)
		r = check(upgrade, path);
	if (!r && !look(upgrade, "bytes of data.mdb", 0, 0)) /* the last chance to cancel */
		r = cancelled(upgrade);
	if (!r)
		r = keep_old(upgrade);
	return wfs_trace(r ? r : replace(upgrade));
}

static void upgrade_done(struct upgrade *upgrade)
{
	wfs_world_close(upgrade->old);
	wfs_auto_fd(&upgrade->stage_fd);
	if (upgrade->lock_fd >= 0 && !upgrade->options->dry_run)
		remove_in(upgrade->fd, STAGE);
	wfs_auto_fd(&upgrade->lock_fd);
	wfs_auto_fd(&upgrade->fd);
}

int wfs_upgrade(const char *directory, const struct wfs_upgrade_options *options,
	struct wfs_problems *problems, struct wfs_upgraded *ret_upgraded, struct wfs_error *error)
{
	WFS_CLEANUP(upgrade_done)
	struct upgrade upgrade = {.directory = directory,
		.options = options,
		.problems = problems,
		.fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.lock_fd = -1,
		.stage_fd = -1,
		.error = error};

	if (upgrade.fd < 0)
		return failed(&upgrade, -errno, "open it");
	upgrade.lock_fd = wfs_lock_take(directory, WFS_OPEN_WAIT_MS, error);
	if (upgrade.lock_fd < 0)
		return wfs_trace(upgrade.lock_fd);
	if (!options->dry_run)
		remove_in(upgrade.fd, STAGE);
	int r = open_old(&upgrade);
	if (!r && upgrade.result.needed && options->dry_run)
		r = check_room(&upgrade);
	else if (!r && upgrade.result.needed)
		r = make_new(&upgrade);
	if (!r)
		*ret_upgraded = upgrade.result;
	return wfs_trace(r);
}

/* --- old stores --- */

/* Is it the directory of an old store that may be removed? */
static bool is_due(int directory_fd, const char *name, int64_t age_ns)
{
	char keep[NAME_MAX + sizeof("/" KEEP_FILE)];
	struct stat st;

	if (strncmp(name, BEFORE, sizeof(BEFORE) - 1) != 0)
		return false;
	if (age_ns < 0)
		return true;
	snprintf(keep, sizeof(keep), "%s/" KEEP_FILE, name);
	if (faccessat(directory_fd, keep, F_OK, 0) == 0 || fstatat(directory_fd, name, &st, 0))
		return false;
	const int64_t made_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return wfs_clock_realtime_ns() - made_ns > age_ns;
}

int wfs_upgrade_drop(const char *directory, int64_t age_ns, struct wfs_error *error)
{
	DIR *const listing = opendir(directory);
	const struct dirent *entry;
	int count = 0;

	if (!listing)
		return wfs_error_from_errno(error, -errno, "open '%s'", directory);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours, see readdir(3) */
	while ((entry = readdir(listing))) {
		if (!is_due(dirfd(listing), entry->d_name, age_ns))
			continue;
		remove_in(dirfd(listing), entry->d_name);
		count++;
	}
	closedir(listing);
	return count;
}
