/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a copy. Links are not followed, and only directories and regular files are opened, so
 * that no file outside of the copy can be reached, whatever the copy has in it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/xattr.h>

#include "kernel/base/array.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"
#include "kernel/domain/memory/memory-file.h"
#include "kernel/manifest/entity-table.h"

enum { PIECE_SIZE = 64 << 10 };

#define HASH_ATTRIBUTE "user.worldfs.state_hash"

struct restore_path restore_path(const char *format, ...)
{
	struct restore_path path;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path.text, sizeof(path.text), format, arguments);
	va_end(arguments);
	return path;
}

/* The path of an entry of a memory store. @name: its key, `<artifact id>/<entry id>`, as a file
 * name. An entry's id has only characters that a file name has, too. */
static struct restore_path entry_place(const char *name)
{
	const size_t entry_size = WFS_MEMORY_NAME_SIZE - 1 - strlen(".json");
	const size_t tail_size = entry_size + strlen("%2F");
	const size_t size = strlen(name);

	if (size <= tail_size) /* the key is malformed */
		return restore_path("artifacts/entries/%s", name);
	return restore_path("artifacts/%.*s/entries/%s.json", (int)(size - tail_size), name,
		name + size - entry_size);
}

struct restore_path restore_place(enum wfs_builtin_reducer builtin, const char *name)
{
	switch (builtin) {
	case WFS_BUILTIN_CONTENT:
		return restore_path("artifacts/%s/content", name);
	case WFS_BUILTIN_CODE:
		return restore_path("artifacts/%s/code", name);
	case WFS_BUILTIN_MEMORY:
		return entry_place(name);
	default:
		return restore_path("reducers/%s/%s", wfs_builtin_reducer_name(builtin), name);
	}
}

int restore_stopped(struct restore *restore)
{
	const struct wfs_restore_options *options = restore->options;

	if (!options->progress ||
		options->progress(options->context, restore->told.what, restore->told.done,
			restore->told.total))
		return 0;
	return wfs_error_set(restore->error, WFS_E_CANCELLED, "interrupted, nothing was made");
}

void restore_progress(struct restore *restore, const char *what, uint64_t done, uint64_t total)
{
	restore->told.what = what;
	restore->told.done = done;
	restore->told.total = total;
}

/* Does the file at this path follow from the journal? */
static bool is_shown(const char *path)
{
	static const char *const shown[] = {
		"artifacts/", "journal/head", "plans/", "principals/", "reducers/", "turns/"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(shown); i++)
		if (strncmp(path, shown[i], strlen(shown[i])) == 0)
			return true;
	return false;
}

void restore_same_size(struct restore *restore)
{
	restore->same_size_count++;
}

int restore_noted(struct restore *restore, const char *path, const char *format, ...)
{
	char reason[WFS_ERROR_MESSAGE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	wfs_problems_add(restore->problems, path, NULL, "%s", reason);
	restore->grave_count += !is_shown(path);
	return 0;
}

int restore_hash_noted(struct restore *restore, const char *path, const char *whose,
	const struct wfs_hash *expected, const struct wfs_hash *came)
{
	return restore_noted(restore, path, "expected %s (%s), got %s", WFS_HASH_TEXT(expected),
		whose, WFS_HASH_TEXT(came));
}

/* --- opening --- */

static const char *type_name(mode_t mode)
{
	static const char *const names[] = {
		[S_IFREG >> 12] = "a regular file",
		[S_IFDIR >> 12] = "a directory",
		[S_IFLNK >> 12] = "a symbolic link",
		[S_IFIFO >> 12] = "a pipe",
		[S_IFSOCK >> 12] = "a socket",
	};
	const size_t type = (mode & S_IFMT) >> 12;

	return type < WFS_ARRAY_COUNT(names) && names[type] ? names[type] : "a device";
}

/* Notes that a file cannot be read. Return: 0, or -errno if this process has failed. */
static int cannot(struct restore *restore, const char *path, const char *what, int r)
{
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
		return wfs_error_from_errno(restore->error, r, "%s '%s'", what, path);
	return restore_noted(restore, path, "cannot be read: %s",
		strerrordesc_np(-r) ? strerrordesc_np(-r) : "unknown error");
}

/* Opens a file of one kind. Return: 1 with a descriptor, 0 (a problem was noted), or -errno. */
static int open_kind(struct restore *restore, int directory, const char *name, const char *path,
	mode_t kind, int *ret_fd)
{
	const int flags = kind == S_IFDIR ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY;
	WFS_AUTO_FD int fd = -1;
	struct stat st;

	/* Looks before opening: opening a device may have effects. */
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return cannot(restore, path, "look at", -errno);
	if ((st.st_mode & S_IFMT) == kind) {
		fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
		if (fd < 0 || fstat(fd, &st))
			return cannot(restore, path, "open", -errno);
	}
	if ((st.st_mode & S_IFMT) != kind)
		return restore_noted(restore, path, "expected %s, got %s", type_name(kind),
			type_name(st.st_mode));
	*ret_fd = WFS_STEAL_FD(fd);
	return 1;
}

static bool is_missing(int directory, const char *name)
{
	struct stat st;

	return fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

bool restore_has(const struct restore *restore, const char *path)
{
	return faccessat(restore->tree_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int restore_directory(
	struct restore *restore, int parent, const char *name, const char *path, int *ret_fd)
{
	if (is_missing(parent, name))
		return 0;
	return open_kind(restore, parent, name, path, S_IFDIR, ret_fd);
}

int restore_open(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, int *ret_fd)
{
	WFS_AUTO_FD int fd = -1;
	struct stat st;

	if (is_missing(directory, name))
		return restore_noted(restore, path, "is missing");
	int r = open_kind(restore, directory, name, path, S_IFREG, &fd);
	if (r <= 0)
		return r;
	if (fstat(fd, &st))
		return cannot(restore, path, "look at", -errno);
	if ((uint64_t)st.st_size > size_max)
		return restore_noted(restore, path, "expected at most %llu bytes, got %llu",
			(unsigned long long)size_max, (unsigned long long)st.st_size);
	*ret_fd = WFS_STEAL_FD(fd);
	return 1;
}

/* --- reading --- */

int restore_pieces(struct restore *restore, int fd, const char *path,
	int (*each)(void *context, const void *data, size_t size), void *context)
{
	WFS_AUTO_FREE char *piece = malloc(PIECE_SIZE);

	if (!piece)
		return wfs_error_from_errno(restore->error, -ENOMEM, "read '%s'", path);
	for (;;) {
		const ssize_t size = read(fd, piece, PIECE_SIZE);
		int r = restore_stopped(restore);

		if (r)
			return r;
		if (size == 0)
			return 1;
		if (size < 0 && errno != EINTR)
			return cannot(restore, path, "read", -errno);
		r = size > 0 ? each(context, piece, (size_t)size) : 0;
		if (r)
			return wfs_error_from_errno(restore->error, r, "take '%s' in", path);
	}
}

struct reading {
	struct wfs_buffer *buffer;
	uint64_t size_max;
};

static int append(void *context, const void *data, size_t size)
{
	struct reading *reading = context;

	if (reading->buffer->size + size > reading->size_max)
		return -EFBIG; /* it has grown since it was opened */
	wfs_buffer_append(reading->buffer, data, size);
	return wfs_buffer_check(reading->buffer);
}

int restore_read(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, struct wfs_buffer *buffer)
{
	struct reading reading = {buffer, size_max};
	WFS_AUTO_FD int fd = -1;
	int r = restore_open(restore, directory, name, path, size_max, &fd);

	return r <= 0 ? r : restore_pieces(restore, fd, path, append, &reading);
}

int restore_attribute(
	struct restore *restore, int fd, const char *path, const struct wfs_hash *hash)
{
	char kept[WFS_HASH_TEXT_SIZE];
	const ssize_t size = fgetxattr(fd, HASH_ATTRIBUTE, kept, sizeof(kept));
	struct wfs_hash expected;

	/* Most copies have no attributes, and many file systems cannot keep them. */
	if (size < 0)
		return 1;
	if (wfs_hash_parse(kept, (size_t)size, &expected, NULL))
		return restore_noted(restore, path, "its attribute " HASH_ATTRIBUTE " is no hash");
	if (wfs_hash_equal(&expected, hash))
		return 1;
	return restore_hash_noted(restore, path, "its attribute " HASH_ATTRIBUTE, &expected, hash);
}

int restore_list(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context)
{
	/* A descriptor of its own, because closedir closes it. */
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!listing) {
		r = -errno;
		wfs_auto_fd(&fd);
		return cannot(restore, path, "list", r);
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while (!r && (errno = 0, entry = readdir(listing))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		r = restore_stopped(restore);
		if (!r)
			r = each(restore, context, directory, entry->d_name);
	}
	if (!r && errno)
		r = cannot(restore, path, "list", -errno);
	closedir(listing);
	return wfs_trace(r);
}

enum { NAMES_MAX = 1 << 24 }; /* of one directory whose order matters */

struct names {
	const char *path; /* of the directory */
	char **items;
	size_t count;
	size_t capacity;
};

static void names_done(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static int collect(struct restore *restore, void *context, int directory, const char *name)
{
	struct names *const names = context;

	if (names->count == NAMES_MAX)
		return wfs_error_set(restore->error, WFS_E_TOO_LARGE,
			"'%s' has more names than the limit of %d", names->path, NAMES_MAX);
	char **const items =
		wfs_array_reserve(names->items, names->count, &names->capacity, sizeof(*items));
	char *const copy = items ? strdup(name) : NULL;

	(void)directory;
	if (items)
		names->items = items;
	if (!copy)
		return wfs_error_from_errno(restore->error, -ENOMEM, "list '%s'", name);
	names->items[names->count++] = copy;
	return 0;
}

/* Compares a number at the beginning as a number, and the rest as bytes: invocations and bids of
 * one record are made in the order of the bytes of their keys. */
static int compare_names(const void *a, const void *b)
{
	const char *const name_a = *(char *const *)a;
	const char *const name_b = *(char *const *)b;
	const char *const number_a = name_a + strspn(name_a, "0");
	const char *const number_b = name_b + strspn(name_b, "0");
	const size_t digits_a = strspn(number_a, "0123456789");
	const size_t digits_b = strspn(number_b, "0123456789");

	if (digits_a != digits_b)
		return digits_a < digits_b ? -1 : 1;
	const int order = strcmp(number_a, number_b);
	return order ? order : strcmp(name_a, name_b);
}

int restore_list_sorted(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context)
{
	WFS_CLEANUP(names_done) struct names names = {.path = path};
	int r = restore_list(restore, directory, path, collect, &names);

	if (!r && names.count > 0)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	for (size_t i = 0; !r && i < names.count; i++) {
		r = restore_stopped(restore);
		if (!r)
			r = each(restore, context, directory, names.items[i]);
	}
	return wfs_trace(r);
}

/* --- the root --- */

/* README is not part of a world, and may be missing. If the copy has it, it must be that of some
 * version, so that no byte of a copy can change unnoticed. New hashes are added in front. */
static const char *const readme_hashes[] = {
	"00b46321fb32ee31a5f2906bc225b6e1dd250adbc3f40afb18a348a70b001350", /* of format 8 */
	"a635a93f281203a004afb7f484118b050df39aa4b78326ba59d84ff66bf18c3c", /* of format 7 */
	"4d7f9519f2a6948c0d2620c19b7f467ec653d7f13b80bec06b2b2a8af41b6639",
	"1726b4c12c709a5da5d82b5afe2247a8cf548412fbd5efe7b817b54a67519fd8",
	"3790d37da94400bf900f14c49a3ae1c869b90fd21934c559f8858349d7a4aa83",
	"b5dde7dbe3bfa9c44a2a062ded4fd3d2936eed8fd69c0d7f0f6ff700fb83da50",
	"a39005f26cdf63dd0b5dd2a69986662926e12636b45be7eb77a92209563aeecf",
};
#define README_MAX 65536 /* bytes */

bool wfs_restore_knows_readme(struct wfs_bytes text)
{
	const struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	struct wfs_hash known;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(readme_hashes); i++)
		if (wfs_hash_parse(readme_hashes[i], WFS_HASH_HEX_SIZE, &known, NULL) == 0 &&
			wfs_hash_equal(&hash, &known))
			return true;
	return false;
}

static int check_readme(struct restore *restore, int directory, const char *name)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_hash expected;
	int r = restore_read(restore, directory, name, name, README_MAX, &text);

	if (r <= 0 || wfs_restore_knows_readme(wfs_buffer_bytes(&text)))
		return r < 0 ? r : 0;
	const struct wfs_hash came = wfs_hash_of(text.data, text.size);
	r = wfs_hash_parse(readme_hashes[0], WFS_HASH_HEX_SIZE, &expected, NULL);
	return r ? r
		 : restore_hash_noted(restore, name,
			   "the text of this version; it may also be left out", &expected, &came);
}

static int note_unknown(struct restore *restore, void *context, int directory, const char *name)
{
	const char *const parent = context;

	(void)directory;
	return restore_noted(restore, restore_path("%s/%s", parent, name).text,
		"is not a file of a tree: expected an empty directory");
}

/* Checks a directory that is always empty in this version. */
static int check_empty(struct restore *restore, int directory, const char *name)
{
	WFS_AUTO_FD int fd = -1;
	int r = restore_directory(restore, directory, name, name, &fd);

	return r <= 0 ? r
		      : restore_list(restore, fd, restore_path("%s/", name).text, note_unknown,
				(void *)(uintptr_t)name);
}

static int check_root_name(struct restore *restore, void *context, int directory, const char *name)
{
	/* Names in the root, and how they are checked: 'f' README, 'd' directory that is read
	 * later, 'e' empty directory, 'l' empty directory or a link, 'x' not checked. */
	static const struct {
		const char *name;
		char kind;
	} known[] = {
		{"README", 'f'}, {"manifest", 'd'}, {"reducers", 'd'}, {"blob", 'd'},
		{"journal", 'd'}, {"at", 'e'}, {"ctl", 'l'}, {".git", 'x'},
		{"tools", 'x'}, /* of outside servers: not of the world */
	};
	char kind = '\0';
	struct stat st;

	(void)context;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(known); i++)
		if (strcmp(known[i].name, name) == 0)
			kind = known[i].kind;
	for (int i = 0; i < wfs_entity_count(); i++)
		if (strcmp(wfs_entity_directory((enum wfs_entity)i), name) == 0)
			kind = 'd';
	if (!kind)
		return restore_noted(restore, name, "is not a file of a tree");
	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return cannot(restore, name, "look at", -errno);
	if (kind == 'f')
		return check_readme(restore, directory, name);
	if (kind == 'e' || (kind == 'l' && !S_ISLNK(st.st_mode)))
		return check_empty(restore, directory, name);
	return 0; /* missing directories and a missing manifest are noted where they are opened */
}

int restore_root(struct restore *restore)
{
	const bool manifest = faccessat(restore->tree_fd, "manifest", F_OK, 0) == 0;

	if (!manifest && faccessat(restore->tree_fd, "data.mdb", F_OK, 0) == 0)
		return wfs_error_set(restore->error, WFS_E_INVALID_ARGUMENT,
			"this is a world, not a copy of its tree: expected manifest, reducers/ …");
	return restore_list(restore, restore->tree_fd, "", check_root_name, NULL);
}

/* --- the manifest --- */

static int note_manifest(struct restore *restore, const struct wfs_problems *found)
{
	const char *line = found->lines.data;
	const char *const end = line ? line + found->lines.size : NULL;

	while (line < end) {
		const char *const newline = memchr(line, '\n', (size_t)(end - line));
		const size_t size = (size_t)((newline ? newline : end) - line);

		restore_noted(restore, "manifest", "%.*s", (int)size, line);
		line += size + 1;
	}
	return 0;
}

int restore_manifest(struct restore *restore)
{
	static const char path[] = "manifest";
	WFS_AUTO_PROBLEMS struct wfs_problems found = {0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_error reason = {0};
	int r = restore_read(
		restore, restore->tree_fd, path, path, WFS_RESTORE_MANIFEST_MAX, &text);

	if (r <= 0)
		return wfs_trace(r);
	r = wfs_json_parse(wfs_buffer_text(&text), text.size, &document, &reason);
	if (r == -EINVAL)
		return restore_noted(restore, path, "%s", reason.message);
	if (!r)
		r = wfs_manifest_new(document, &found, &manifest);
	if (r == -EINVAL)
		return note_manifest(restore, &found);
	if (r)
		return wfs_error_from_errno(restore->error, r, "read the manifest");
	if (!wfs_bytes_equal(wfs_buffer_bytes(&text), wfs_manifest_document(manifest))) {
		const struct wfs_hash came = wfs_hash_of(text.data, text.size);

		return restore_hash_noted(
			restore, path, "its canonical form", wfs_manifest_hash(manifest), &came);
	}
	restore->manifest = WFS_STEAL(manifest);
	return 0;
}
