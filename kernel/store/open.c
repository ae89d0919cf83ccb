/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store: its directory, its format, its pages and its tables. */
#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/base/damage.h"
#include "kernel/base/directory.h"
#include "kernel/base/formats.h"
#include "kernel/base/problems.h"
#include "kernel/base/world-file.h"
#include "kernel/store/guard.h"
#include "kernel/store/layout.h"
#include "kernel/store/pages.h"
#include "kernel/store/roots.h"
#include "kernel/store/store-impl.h"
#include "kernel/store/tables.h"

enum {
	READERS_MAX = 1024,
	LOCK_FILE_BYTES = READERS_MAX * 64 + 4096, /* at least what LMDB uses of lock.mdb */
	ROOT_LOOKS_MAX =
		100, /* attempts: commits may come between beginning and reading the root */
};

struct opening {
	MDB_txn *txn;
	const char *name;
	bool create;
	MDB_dbi *ret_table;
};

static int open_table(void *context)
{
	const struct opening *opening = context;
	unsigned int flags = 0;
	int r = mdb_dbi_open(
		opening->txn, opening->name, opening->create ? MDB_CREATE : 0, opening->ret_table);

	if (!r)
		r = mdb_dbi_flags(opening->txn, *opening->ret_table, &flags);
	/* Our tables have no flags; a damaged flag would change the order of the rows. */
	return !r && flags ? MDB_CORRUPTED : r;
}

/* Opens the tables from @first to before @end. */
static int open_tables(
	struct wfs_store *store, bool create, enum wfs_table first, enum wfs_table end)
{
	MDB_txn *txn = NULL;
	int r = mdb_txn_begin(store->env, NULL, create ? 0 : MDB_RDONLY, &txn);

	for (size_t i = first; !r && i < end; i++) {
		struct opening opening = {txn, wfs_table_name(i), create, &store->tables[i]};

		r = guard_call(open_table, &opening);
	}
	if (r) {
		mdb_txn_abort(txn);
		return wfs_store_error(r);
	}
	r = mdb_txn_commit(txn);
	return r ? store_commit_error(store, r) : 0;
}

static int newer_error(const struct wfs_store *store, struct wfs_txn *txn, struct wfs_error *error)
{
	char program[64] = "a newer worldfs";
	struct wfs_bytes since;

	if (wfs_meta_get(txn, META_SINCE, &since) == 0)
		snprintf(program, sizeof(program), "worldfs %.*s or newer", (int)since.size,
			(const char *)since.data);
	return wfs_error_set(error, WFS_E_FORMAT_NEWER,
		"the world in '%s' has store format %d and fold version %d, this program opens %d "
		"to %d and %d: use %s",
		store->directory, store->format, store->fold_version, WFS_STORE_FORMAT_MIN,
		WFS_STORE_FORMAT, WFS_FOLD_VERSION, program);
}

int wfs_store_refuse_older(const struct wfs_store *store, struct wfs_error *error)
{
	if (store->format < WFS_STORE_FORMAT_MIN)
		return wfs_error_set(error, WFS_E_FORMAT_OLDER,
			"the world in '%s' has store format %d, this program opens %d to %d: use "
			"an older worldfs",
			store->directory, store->format, WFS_STORE_FORMAT_MIN, WFS_STORE_FORMAT);
	return wfs_error_set(error, WFS_E_FORMAT_OLDER,
		"the world in '%s' has store format %d and fold version %d, so this program only "
		"reads it: 'worldfs upgrade' makes it format %d, fold version %d",
		store->directory, store->format, store->fold_version, WFS_STORE_FORMAT,
		WFS_FOLD_VERSION);
}

/* Is a wrong format number a flipped byte, because other rows have valid checksums? Another format
 * may compute checksums in another way, but then those of all rows. */
static bool is_damaged(struct wfs_txn *txn)
{
	struct wfs_bytes row;

	return wfs_meta_get(txn, "world_id", &row) == 0 &&
		wfs_meta_get(txn, "format", &row) == -EIO;
}

/* Reads a number of one byte. @number: its value if the row is missing; 0: it must be there */
static int read_number(struct wfs_txn *txn, const char *name, int *number)
{
	struct wfs_bytes row;
	int r = wfs_meta_get(txn, name, &row);

	if (r == -ENOENT && *number)
		return 0;
	if (r || row.size != 1)
		return r && r != -ENOENT ? r : -EIO;
	*number = *(const uint8_t *)row.data;
	return 0;
}

static int read_format(struct wfs_store *store, struct wfs_txn *txn)
{
	uint8_t format;
	int r = wfs_meta_format(txn, &format);

	if (r)
		return r == -ENOENT ? -EIO : r;
	const bool known = format >= WFS_STORE_FORMAT_MIN && format <= WFS_STORE_FORMAT;
	store->format = format;
	store->fold_version = format < WFS_STORE_FORMAT; /* format 7 has no row: it is 1 */
	if (known || is_damaged(txn))
		r = read_number(txn, META_FORMAT, &store->format);
	const int fold = read_number(txn, META_FOLD, &store->fold_version);
	return known && !r ? fold : r;
}

/* Reads the format and the fold version, and refuses those that cannot be opened as @options
 * say. */
static int check_format(
	struct wfs_store *store, const struct wfs_store_options *options, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(store, &txn);

	if (!r)
		r = read_format(store, txn);
	if (r)
		return wfs_error_from_errno(error, r,
			"read the values '" META_FORMAT "' and '" META_FOLD "' of '%s'",
			store->directory);
	if (store->format > WFS_STORE_FORMAT || store->fold_version > WFS_FOLD_VERSION)
		return newer_error(store, txn, error);
	if (store->format < WFS_STORE_FORMAT_MIN ||
		(wfs_store_older(store) && !options->read_only && !options->upgrade))
		return wfs_store_refuse_older(store, error);
	return 0;
}

/* Writes the format, the fold version, and the version of the program that opens these. */
static int put_format(struct wfs_store *store)
{
	const uint8_t format = WFS_STORE_FORMAT;
	const uint8_t fold = WFS_FOLD_VERSION;
	struct wfs_txn *txn;
	int r = wfs_store_write(store, &txn);

	if (r)
		return r;
	r = wfs_meta_put(txn, META_FORMAT, WFS_BYTES(&format, sizeof(format)));
	if (!r)
		r = wfs_meta_put(txn, META_FOLD, WFS_BYTES(&fold, sizeof(fold)));
	if (!r)
		r = wfs_meta_put(txn, META_SINCE, wfs_bytes_text(WFS_FORMATS_SINCE));
	if (r) {
		wfs_txn_end(txn);
		return r;
	}
	store->format = format;
	store->fold_version = fold;
	return wfs_txn_commit(txn);
}

static int open_directory(
	struct wfs_store *store, const struct wfs_store_options *options, struct wfs_error *error)
{
	struct stat st;

	store->directory_fd = open(store->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->directory_fd < 0)
		return wfs_error_from_errno(
			error, -errno, "open world directory '%s'", store->directory);
	bool present = fstatat(store->directory_fd, "data.mdb", &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (options->create && present)
		return wfs_error_set(
			error, WFS_E_ALREADY_EXISTS, "'%s' is a world already", store->directory);
	if (!options->create && !present)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "no world in '%s' (no data.mdb there)",
			store->directory);
	const int r = options->create ? wfs_directory_make(store->directory_fd, "blobs") : 0;
	return r ? wfs_error_from_errno(error, r, "make '%s/blobs'", store->directory) : 0;
}

/* LMDB maps its lock file, which it makes by ftruncate: on a full disk the first write into a hole
 * of it would raise SIGBUS. On a read-only file system LMDB works without a lock file. */
static int reserve_lock_file(const struct wfs_store *store, bool read_only, struct wfs_error *error)
{
	struct wfs_error reason = {.code = WFS_OK};
	WFS_AUTO_FD int fd = wfs_world_file_open_at(
		store->directory_fd, store->directory, "lock.mdb", O_RDWR | O_CREAT, &reason);

	if (read_only && fd == -EROFS)
		return 0;
	if (fd < 0)
		return wfs_error_set(error, reason.code, "%s", reason.message);
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, LOCK_FILE_BYTES) && errno != EOPNOTSUPP)
		return wfs_error_from_errno(error, wfs_store_error(errno),
			"make room in '%s/lock.mdb'", store->directory);
	return 0;
}

/* LMDB opens its files by name after we have checked them: is data.mdb still the checked file? */
static int check_opened(const struct wfs_store *store, struct wfs_error *error)
{
	struct stat opened;
	struct stat there;
	mdb_filehandle_t fd;

	if (mdb_env_get_fd(store->env, &fd) || fstat(fd, &opened) ||
		fstatat(store->directory_fd, "data.mdb", &there, AT_SYMLINK_NOFOLLOW))
		return wfs_error_from_errno(error, -errno, "stat '%s/data.mdb'", store->directory);
	if (S_ISREG(there.st_mode) && opened.st_ino == there.st_ino &&
		opened.st_dev == there.st_dev)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s/data.mdb' was replaced while it was opened", store->directory);
}

static int open_environment(struct wfs_store *store, const struct wfs_store_options *options)
{
	uint64_t size =
		options->map_size_bytes ? options->map_size_bytes : WFS_STORE_MAP_SIZE_DEFAULT;
	char path[32];
	int r = mdb_env_create(&store->env);

	if (!r)
		guard_watch(store->env);
	if (!r)
		r = mdb_env_set_maxdbs(store->env, WFS_TABLE_COUNT);
	if (!r)
		r = mdb_env_set_maxreaders(store->env, READERS_MAX);
	if (!r)
		r = mdb_env_set_mapsize(store->env, size);
	/* Opens the directory that was checked, even if its path now leads to another one. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", store->directory_fd);
	/* NOTLS: a reader's slot belongs to its transaction, which may change threads. */
	unsigned int flags = MDB_NOTLS | (options->read_only ? MDB_RDONLY : 0) |
		(options->scratch ? MDB_NOSYNC : 0);
	if (!r)
		r = mdb_env_open(store->env, path, flags, 0600);
	if (!r) {
		int dead;

		r = mdb_reader_check(store->env, &dead);
	}
	return wfs_store_error(r);
}

/* Checks the pages of the last commit. */
static int check_pages(
	struct wfs_store *store, const struct pages_options *options, struct wfs_problems *problems)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct root root;
	mdb_filehandle_t fd;
	int r = -EAGAIN;

	/* While the transaction lasts, the pages of its root do not change. */
	for (int i = 0; r == -EAGAIN && i < ROOT_LOOKS_MAX; i++) {
		wfs_txn_end(WFS_STEAL(txn));
		r = wfs_store_read(store, &txn);
		wfs_require(r || txn);
		if (!r)
			r = wfs_store_error(mdb_env_get_fd(store->env, &fd));
		if (!r)
			r = roots_find(fd, mdb_txn_id(txn->mdb), &root);
	}
	if (r == -EBADMSG || r == -ENODATA) {
		wfs_problems_add(problems, "data.mdb", NULL, "its first two pages are not roots");
		return 0;
	}
	return wfs_trace(r ? r : pages_walk(fd, &root, options, problems));
}

/* LMDB would follow for ever a page that leads to itself, so it reads nothing of a store that
 * somebody else may have made until all pages are checked. The format is checked later, so the
 * tables may be those of another format. */
static int walk_pages(
	struct wfs_store *store, const struct wfs_store_options *options, struct wfs_error *error)
{
	const struct pages_options pages = {.names = wfs_table_names,
		.any_tables = true,
		.progress = options->pages_checked,
		.context = options->context};
	WFS_AUTO_PROBLEMS struct wfs_problems own = {.count = 0};
	struct wfs_problems *const problems = options->problems ? options->problems : &own;

	if (!options->walk_pages ||
		(options->believed_txn > 0 && wfs_store_last_txn(store) == options->believed_txn))
		return 0;
	const int r = check_pages(store, &pages, problems);
	if (r)
		return wfs_error_from_errno(
			error, r, "check the pages of '%s/data.mdb'", store->directory);
	if (problems->count == 0)
		return 0;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH,
		"%.*s; nothing of '%s' is read or written, 'worldfs verify' lists all damage",
		(int)strcspn(wfs_buffer_text(&problems->lines), "\n"),
		wfs_buffer_text(&problems->lines), store->directory);
}

int wfs_store_open(const char *directory, const struct wfs_store_options *options,
	struct wfs_store **ret_store, struct wfs_error *error)
{
	WFS_AUTO_STORE struct wfs_store *store = calloc(1, sizeof(*store));

	if (!store)
		return wfs_error_from_errno(error, -ENOMEM, "open '%s'", directory);
	store->directory_fd = -1;
	store->name_row = wfs_row_name;
	store->scratch = options->scratch;
	store->read_only = options->read_only;
	pthread_mutex_init(&store->pool_lock, NULL);
	pthread_mutex_init(&store->pending.lock, NULL);
	pthread_mutex_init(&store->blob_count.lock, NULL);
	pthread_mutex_init(&store->space.lock, NULL);
	store->directory = strdup(directory);
	if (!store->directory)
		return wfs_error_from_errno(error, -ENOMEM, "open '%s'", directory);
	if (options->map_size_bytes % (uint64_t)sysconf(_SC_PAGESIZE))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"map size %llu is not a multiple of the page size, %ld bytes",
			(unsigned long long)options->map_size_bytes, sysconf(_SC_PAGESIZE));

	guard_init();
	int r = open_directory(store, options, error);
	if (!r && !options->create)
		r = wfs_roots_check(store->directory_fd, directory, error);
	if (r)
		return wfs_trace(r);
	r = reserve_lock_file(store, options->read_only, error);
	if (r)
		return wfs_trace(r);
	r = open_environment(store, options);
	if (r)
		return wfs_error_from_errno(error, r, "open the store in '%s'", directory);
	r = check_opened(store, error);
	if (!r)
		r = walk_pages(store, options, error);
	if (r)
		return wfs_trace(r);
	/* The format is checked first: another one may lack some of our tables. */
	r = open_tables(store, options->create, WFS_TABLE_META, WFS_TABLE_META + 1);
	if (!r && !options->create) {
		r = check_format(store, options, error);
		if (r)
			return wfs_trace(r);
	}
	const bool renews = options->create || options->upgrade;
	if (!r)
		r = open_tables(store, renews, WFS_TABLE_META + 1,
			renews || wfs_store_has(store, WFS_TABLE_COUNT_7) ? WFS_TABLE_COUNT
									  : WFS_TABLE_COUNT_7);
	if (!r && renews)
		r = put_format(store);
	if (r == -EIO && !options->create)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"'%s/data.mdb' is damaged: its tables cannot be opened", directory);
	if (r)
		return wfs_error_from_errno(error, r, "open the store in '%s'", directory);
	*ret_store = WFS_STEAL(store);
	return 0;
}

void wfs_store_close(struct wfs_store *store)
{
	if (!store)
		return;
	while (store->pool) {
		struct wfs_txn *txn = store->pool;

		store->pool = txn->next;
		store_txn_free(txn);
	}
	if (store->env)
		mdb_env_close(store->env);
	if (store->directory_fd >= 0)
		close(store->directory_fd);
	pthread_mutex_destroy(&store->pool_lock);
	pthread_mutex_destroy(&store->pending.lock);
	pthread_mutex_destroy(&store->blob_count.lock);
	pthread_mutex_destroy(&store->space.lock);
	free(store->directory);
	free(store);
}

void wfs_store_figures(struct wfs_store *store, struct wfs_store_figures *ret_figures)
{
	wfs_space_figures(&store->space, store->env, ret_figures);
}

void wfs_store_count_blobs(struct wfs_store *store, struct wfs_store_figures *figures)
{
	figures->blob_bytes = 0;
	(void)wfs_blob_files_bytes(store, &figures->blob_bytes);
}

int wfs_store_check_pages(struct wfs_store *store, struct wfs_problems *problems,
	wfs_store_pages_fn *progress, void *context)
{
	const struct pages_options options = {.names = wfs_table_names,
		.any_tables = store->format < WFS_STORE_FORMAT,
		.progress = progress,
		.context = context};

	return wfs_trace(check_pages(store, &options, problems));
}
