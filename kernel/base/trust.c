/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes known.json and keys.json of the user. */
#include "kernel/base/trust.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "kernel/base/clock.h"
#include "kernel/base/file.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"

enum { USER_FILE_MAX = 4 << 20 }; /* bytes of known.json or keys.json */

#define UNTIL_THEN                                                                     \
	"no model is asked, no server of tools is used, no other user is served, and " \
	"unfinished turns and plans do not "                                           \
	"continue; "                                                                   \
	"'worldfs trust' shows what it would do, and asks"

/* --- the user's directories --- */

/* @ret_path: `$NAME/worldfs`, or @roots for root, or `$HOME/LATER/worldfs` */
static int user_directory(const char *name, const char *roots, const char *later,
	char ret_path[static PATH_MAX], struct wfs_error *error)
{
	const char *const named = secure_getenv(name);
	const char *const home = secure_getenv("HOME");
	int size;

	if (named && named[0] == '/')
		size = snprintf(ret_path, PATH_MAX, "%s/worldfs", named);
	else if (geteuid() == 0)
		size = snprintf(ret_path, PATH_MAX, "%s", roots);
	else if (home && home[0] == '/')
		size = snprintf(ret_path, PATH_MAX, "%s/%s/worldfs", home, later);
	else
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"neither $%s nor $HOME is set to a path, so the list of trusted worlds has "
			"no place",
			name);
	return size < PATH_MAX ? 0 : wfs_error_from_errno(error, -ENAMETOOLONG, "use $%s", name);
}

static int state_directory(char ret_path[static PATH_MAX], struct wfs_error *error)
{
	return user_directory(
		"XDG_STATE_HOME", "/var/lib/worldfs", ".local/state", ret_path, error);
}

/* Makes a directory and those that lead to it. */
static int make_directory(const char *path, struct wfs_error *error)
{
	char part[PATH_MAX];

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdir(part, 0700) && errno != EEXIST)
			return wfs_error_from_errno(error, -errno, "make '%s'", part);
	}
	return mkdir(path, 0700) && errno != EEXIST
		? wfs_error_from_errno(error, -errno, "make '%s'", path)
		: 0;
}

/* Reads a file of the user, which may be a symbolic link. @ret: {} when the file does not exist */
static int read_user_file(const char *path, json_t **ret, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error reason = {.code = WFS_OK};
	struct stat st;

	if (fd < 0 && errno == ENOENT) {
		*ret = json_object();
		return *ret ? 0 : wfs_error_from_errno(error, -ENOMEM, "read '%s'", path);
	}
	if (fd < 0 || fstat(fd, &st))
		return wfs_error_from_errno(error, -errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
		(st.st_mode & (S_IWGRP | S_IWOTH)))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' must be a regular file of user %lu or root that nobody else can "
			"write",
			path, (unsigned long)geteuid());
	int r = wfs_file_read(fd, USER_FILE_MAX, &text);
	if (r)
		return wfs_error_from_errno(error, r, "read '%s'", path);
	r = wfs_json_parse_bounded(text.data, text.size, ret, &reason);
	if (!r && !json_is_object(*ret)) {
		json_decref(WFS_STEAL(*ret));
		r = wfs_error_set(&reason, WFS_E_INVALID_ARGUMENT, "expected an object");
	}
	return r ? wfs_error_set(error, reason.code, "'%s': %s", path, reason.message) : 0;
}

/* --- known.json --- */

struct known {
	char path[PATH_MAX];
	int lock_fd; /* -1: opened for reading only */
	json_t *worlds;
};

static void known_done(struct known *known)
{
	json_decref(known->worlds);
	if (known->lock_fd >= 0)
		close(known->lock_fd);
}

static int known_read(struct known *known, struct wfs_error *error)
{
	char directory[PATH_MAX];
	int r = state_directory(directory, error);

	if (r)
		return r;
	if ((size_t)snprintf(known->path, sizeof(known->path), "%s/known.json", directory) >=
		sizeof(known->path))
		return wfs_error_from_errno(error, -ENAMETOOLONG, "open known.json");
	return read_user_file(known->path, &known->worlds, error);
}

/* Locks and reads known.json; other processes wait until known_done(). */
static int known_open(struct known *known, struct wfs_error *error)
{
	char path[PATH_MAX];
	int r = state_directory(path, error);

	if (!r)
		r = make_directory(path, error);
	if (r)
		return r;
	const size_t size = strlen(path);
	if ((size_t)snprintf(path + size, sizeof(path) - size, "/known.lock") >=
		sizeof(path) - size)
		return wfs_error_from_errno(error, -ENAMETOOLONG, "open known.lock");
	known->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (known->lock_fd < 0 || flock(known->lock_fd, LOCK_EX))
		return wfs_error_from_errno(error, -errno, "lock '%s'", path);
	return known_read(known, error);
}

/* Writes the text to the disk, so that the later rename never leaves an empty file. */
static int write_text(const char *path, const struct wfs_buffer *text)
{
	WFS_AUTO_FD int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	const ssize_t size = write(fd, text->data, text->size);
	if (size >= 0 && (size_t)size < text->size)
		return -ENOSPC;
	return size < 0 || fdatasync(fd) < 0 ? -errno : 0;
}

static int known_write(struct known *known, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char temporary[PATH_MAX + 8];

	wfs_json_write_document(known->worlds, &text);
	int r = wfs_buffer_check(&text);
	snprintf(temporary, sizeof(temporary), "%s.new", known->path);
	if (!r)
		r = write_text(temporary, &text);
	if (!r && rename(temporary, known->path))
		r = -errno;
	return r ? wfs_error_from_errno(error, r, "write '%s'", known->path) : 0;
}

/* @ret_key: the name of the world's entry: device and inode of data.mdb. @ret_owner: may be NULL */
static int find_key(const char *directory, char ret_key[static 64], uid_t *ret_owner)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s/data.mdb", directory) >= sizeof(path))
		return -ENAMETOOLONG;
	if (lstat(path, &st))
		return -errno;
	snprintf(ret_key, 64, "%" PRIu64 ":%" PRIu64, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	if (ret_owner)
		*ret_owner = st.st_uid;
	return 0;
}

static int key_of(const char *directory, char ret_key[static 64])
{
	return find_key(directory, ret_key, NULL);
}

static bool is_gone(const char *key, const json_t *entry)
{
	char there[64];

	return key_of(wfs_json_text(entry, "directory"), there) || strcmp(there, key) != 0;
}

static int64_t seen_ns(const json_t *entry)
{
	return json_integer_value(json_object_get(entry, "seen_ns"));
}

/* Makes room for one entry: drops worlds whose data.mdb is gone, or, if all exist, the one that was
 * not used for the longest time. */
static void forget_some(json_t *worlds)
{
	const char *oldest = NULL;
	const char *key;
	json_t *entry;
	void *next;

	if (json_object_size(worlds) < WFS_KNOWN_MAX)
		return;
	json_object_foreach_safe(worlds, next, key, entry)
	{
		if (is_gone(key, entry))
			json_object_del(worlds, key);
	}
	json_object_foreach(worlds, key, entry) {
		if (!oldest || seen_ns(entry) < seen_ns(json_object_get(worlds, oldest)))
			oldest = key;
	}
	if (oldest && json_object_size(worlds) >= WFS_KNOWN_MAX)
		json_object_del(worlds, oldest);
}

/* Gets or makes the world's entry; replaces one of another world that had the inode before.
 * Borrowed; NULL without memory. */
static json_t *entry_for(
	struct known *known, const char *directory, const char *key, const char *world_id)
{
	json_t *entry = json_object_get(known->worlds, key);

	if (!entry || strcmp(wfs_json_text(entry, "world_id"), world_id) != 0) {
		forget_some(known->worlds);
		entry = json_object();
		if (json_object_set_new(known->worlds, key, entry) < 0)
			return NULL;
	}
	return json_object_set_new(entry, "directory", json_string(directory)) < 0 ||
			json_object_set_new(entry, "world_id", json_string(world_id)) < 0 ||
			json_object_set_new(
				entry, "seen_ns", json_integer(wfs_clock_realtime_ns())) < 0
		? NULL
		: entry;
}

static bool has_hash(const json_t *entry, const char *member, const struct wfs_hash *hash)
{
	return strcmp(wfs_json_text(entry, member), WFS_HASH_TEXT(hash)) == 0;
}

/* --- trust --- */

int wfs_trust_check(const char *directory, const struct wfs_hash *host, struct wfs_error *error)
{
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	struct wfs_error reason = {.code = WFS_OK};
	char key[64];
	int r = key_of(directory, key);

	if (r)
		return wfs_error_from_errno(error, r, "look at '%s/data.mdb'", directory);
	if (known_read(&known, &reason))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' is not trusted, because the list of trusted worlds cannot be read: "
			"%s",
			directory, reason.message);
	const json_t *const entry = json_object_get(known.worlds, key);
	if (!json_is_string(json_object_get(entry, "host")))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"you have not trusted '%s' yet: " UNTIL_THEN, directory);
	if (!has_hash(entry, "host", host))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"host.json of '%s' is not the one that you trusted: " UNTIL_THEN,
			directory);
	return 0;
}

int wfs_trust_check_now(const char *directory, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, &host, &hash, error);

	return r ? r : wfs_trust_check(directory, &hash, error);
}

static bool is_other(const struct known *known, const char *key, const char *world_id)
{
	const json_t *const entry = json_object_get(known->worlds, key);

	return entry && strcmp(wfs_json_text(entry, "world_id"), world_id) != 0;
}

int wfs_trust_forget_other(const char *directory, const char *world_id, struct wfs_error *error)
{
	WFS_CLEANUP(known_done) struct known looked_at = {.lock_fd = -1};
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	struct wfs_error ignored;
	char key[64];

	/* Without a readable known.json no other world is trusted. */
	if (key_of(directory, key) || known_read(&looked_at, &ignored) ||
		!is_other(&looked_at, key, world_id))
		return 0;
	int r = known_open(&known, error);
	if (r || !is_other(&known, key, world_id))
		return r;
	json_object_del(known.worlds, key);
	return known_write(&known, error);
}

int wfs_trust_give(const char *directory, const char *world_id, const struct wfs_hash *host,
	struct wfs_error *error)
{
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	char key[64];
	int r = key_of(directory, key);

	if (r)
		return wfs_error_from_errno(error, r, "look at '%s/data.mdb'", directory);
	r = known_open(&known, error);
	if (r)
		return r;
	json_t *const entry = entry_for(&known, directory, key, world_id);
	if (!entry || wfs_json_set_hash(entry, "host", host))
		return wfs_error_from_errno(error, -ENOMEM, "trust '%s'", directory);
	return known_write(&known, error);
}

void wfs_trust_made(const char *directory, const char *world_id)
{
	const struct wfs_hash none = {{0}};
	WFS_AUTO_FREE char *path = realpath(directory, NULL);
	struct wfs_error ignored;

	if (path)
		(void)wfs_trust_give(path, world_id, &none, &ignored);
}

/* The entry of a store that this user owns: another owner could write anything to the file at any
 * time. Borrowed; NULL if known.json has no entry. */
static const json_t *own_entry(struct known *known, const char *directory)
{
	struct wfs_error ignored;
	char key[64];
	uid_t owner = 0;

	return find_key(directory, key, &owner) || owner != geteuid() || known_read(known, &ignored)
		? NULL
		: json_object_get(known->worlds, key);
}

uint64_t wfs_trust_last_txn(const char *directory)
{
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	const json_t *const txn = json_object_get(own_entry(&known, directory), "txn");

	return json_is_integer(txn) && json_integer_value(txn) > 0
		? (uint64_t)json_integer_value(txn)
		: 0;
}

bool wfs_trust_has_written(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark)
{
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	const json_t *const entry = own_entry(&known, directory);
	const json_t *const txn = json_object_get(entry, "txn");
	return strcmp(wfs_json_text(entry, "world_id"), world_id) == 0 && json_is_integer(txn) &&
		(uint64_t)json_integer_value(txn) == mark->txn &&
		has_hash(entry, "head", &mark->head);
}

void wfs_trust_closed(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark)
{
	WFS_CLEANUP(known_done) struct known known = {.lock_fd = -1};
	struct wfs_error ignored;
	char key[64];

	if (key_of(directory, key) || known_open(&known, &ignored))
		return;
	json_t *const entry = entry_for(&known, directory, key, world_id);
	if (entry && json_object_set_new(entry, "txn", json_integer((json_int_t)mark->txn)) == 0 &&
		wfs_json_set_hash(entry, "head", &mark->head) == 0)
		(void)known_write(&known, &ignored);
}

/* --- keys --- */

/* Is @wanted one of @hosts, ignoring case? */
static bool is_named(const json_t *hosts, const char *wanted)
{
	size_t i;
	const json_t *named;

	json_array_foreach(hosts, i, named) {
		const char *const text = json_string_value(named);

		if (text && strcasecmp(text, wanted) == 0)
			return true;
	}
	return false;
}

int wfs_trust_key(const char *variable, const char *host, const char *port, bool plain,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer with_port = {0};
	WFS_AUTO_JSON json_t *keys = NULL;
	char directory[PATH_MAX];
	char path[PATH_MAX + 16];
	int r = user_directory("XDG_CONFIG_HOME", "/etc/worldfs", ".config", directory, error);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/keys.json", directory);
	r = read_user_file(path, &keys, error);
	if (r)
		return r;
	wfs_buffer_printf(&with_port, "%s:%s", host, port);
	if (wfs_buffer_check(&with_port))
		return wfs_error_from_errno(error, -ENOMEM, "read '%s'", path);
	const json_t *const hosts = json_object_get(keys, variable);
	if (is_named(hosts, wfs_buffer_text(&with_port)) || (!plain && is_named(hosts, host)))
		return 0;
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"the environment variable '%.80s' may not be sent to '%.200s'%s: to allow it, put "
		"{\"%.80s\": [\"%.200s\"]} into '%s'",
		variable, host, plain ? " without encryption (http)" : "", variable,
		plain ? wfs_buffer_text(&with_port) : host, path);
}

bool wfs_trust_is_loopback(const char *host)
{
	const char *const suffix = ".localhost"; /* RFC 6761, 6.3 */
	const size_t size = strlen(host);

	/* Four numbers are an address, but 127.example.org is a name. */
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
		(strncmp(host, "127.", strlen("127.")) == 0 &&
			strspn(host, "0123456789.") == size) ||
		(size > strlen(suffix) && strcasecmp(host + size - strlen(suffix), suffix) == 0);
}
