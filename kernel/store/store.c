/* SPDX-License-Identifier: Apache-2.0 */
/* The environment, the pool of read transactions, and the write transaction. */
#include "kernel/store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "kernel/base/damage.h"
#include "kernel/base/directory.h"
#include "kernel/base/hash.h"
#include "kernel/base/world-file.h"
#include "kernel/store/guard.h"
#include "kernel/store/layout.h"
#include "kernel/store/pages.h"
#include "kernel/store/roots.h"
#include "kernel/store/space.h"
#include "kernel/store/store-impl.h"
#include "kernel/store/tables.h"

enum {
	READERS_MAX = 1024,
	LOCK_FILE_BYTES = READERS_MAX * 64 + 4096, /* at least what LMDB uses of lock.mdb */
	ROOT_LOOKS_MAX =
		100, /* attempts: commits may come between beginning and reading the root */
	COPY_PIECE_SIZE = 1 << 20,  /* bytes of a copy between two calls of the caller's function */
	FULL_DISK_BYTES = 64 << 10, /* with less room than this, a failed write means a full disk */
};

struct wfs_store {
	MDB_env *env;
	MDB_dbi tables[WFS_TABLE_COUNT];
	char *directory;
	int directory_fd;
	bool scratch; /* its files may have been removed */
	pthread_mutex_t pool_lock;
	struct wfs_txn *pool; /* idle readers, reset; lock: pool_lock */
	bool read_only;
	struct wfs_blob_pending pending;
	struct wfs_blob_count blob_count;
	struct wfs_space space;
};

static const char *const names[] = {
#define TABLE_NAME(constant, name) name,
	WFS_TABLES(TABLE_NAME)
#undef TABLE_NAME
		NULL,
};

const char *wfs_table_name(enum wfs_table table)
{
	return names[table];
}

int wfs_store_error(int code)
{
	switch (code) {
	case MDB_SUCCESS:
		return 0;
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_KEYEXIST:
		return -EEXIST;
	case MDB_MAP_FULL:
	case EDQUOT: /* the quota of the host, which a user mends like a full disk */
		return -ENOSPC;
	case MDB_READERS_FULL:
		return -EAGAIN;
	case MDB_PANIC:
		/* A write of the root failed: LMDB does not know what is on the disk until the
		 * store is opened again. */
		return -ENOTRECOVERABLE;
	default:
		/* LMDB's own codes are negative; those not listed above mean damage or misuse. */
		return code > 0 ? -code : -EIO;
	}
}

/* LMDB reports a write that the disk had room for only in part as EIO ("short write, filesystem
 * full?" in mdb_page_flush). */
static int commit_error(const struct wfs_store *store, int code)
{
	struct statvfs disk;

	if (code == EIO && fstatvfs(store->directory_fd, &disk) == 0 &&
		(uint64_t)disk.f_bavail * disk.f_frsize < FULL_DISK_BYTES)
		return -ENOSPC;
	return wfs_store_error(code);
}

MDB_dbi wfs_store_table(const struct wfs_store *store, enum wfs_table table)
{
	return store->tables[table];
}

int wfs_store_directory_fd(const struct wfs_store *store)
{
	return store->directory_fd;
}

uint64_t wfs_store_last_txn(const struct wfs_store *store)
{
	MDB_envinfo info;

	(void)mdb_env_info(store->env, &info);
	return info.me_last_txnid;
}

uint64_t wfs_store_data_bytes(const struct wfs_store *store)
{
	MDB_envinfo info;
	MDB_stat stat;

	(void)mdb_env_info(store->env, &info);
	(void)mdb_env_stat(store->env, &stat);
	return (info.me_last_pgno + 1) * stat.ms_psize;
}

struct wfs_blob_pending *wfs_store_blob_pending(struct wfs_store *store)
{
	return &store->pending;
}

struct wfs_blob_count *wfs_store_blob_count(struct wfs_store *store)
{
	return &store->blob_count;
}

bool wfs_store_read_only(const struct wfs_store *store)
{
	return store->read_only;
}

const char *wfs_store_directory(const struct wfs_store *store)
{
	return store->directory;
}

static void txn_free(struct wfs_txn *txn)
{
	/* Before the abort: a write transaction's cursors must not outlive it. */
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		wfs_txn_cursor_drop(txn, i);
	if (txn->mdb)
		mdb_txn_abort(txn->mdb);
	free(txn);
}

int wfs_txn_cursor(struct wfs_txn *txn, enum wfs_table table, MDB_cursor **ret_cursor)
{
	const MDB_dbi dbi = txn->store->tables[table];
	int r = 0;

	if (!txn->cursors[table]) {
		MDB_stat stat;

		/* Reads the table's root, so that mdb_cursor_open() allocates its memory without
		 * reading pages, which may be damaged. */
		r = mdb_stat(txn->mdb, dbi, &stat);
		if (!r)
			r = mdb_cursor_open(txn->mdb, dbi, &txn->cursors[table]);
	} else if (txn->cursor_stale[table]) {
		r = mdb_cursor_renew(txn->mdb, txn->cursors[table]);
	}
	if (r)
		return r;
	txn->cursor_stale[table] = false;
	*ret_cursor = txn->cursors[table];
	return 0;
}

void wfs_txn_cursor_drop(struct wfs_txn *txn, enum wfs_table table)
{
	if (txn->cursors[table])
		mdb_cursor_close(txn->cursors[table]);
	txn->cursors[table] = NULL;
}

static struct wfs_txn *pool_take(struct wfs_store *store)
{
	WFS_GUARD(&store->pool_lock);
	struct wfs_txn *txn = store->pool;

	if (txn)
		store->pool = txn->next;
	return txn;
}

static void pool_give(struct wfs_store *store, struct wfs_txn *txn)
{
	WFS_GUARD(&store->pool_lock);
	txn->next = store->pool;
	store->pool = txn;
}

static int txn_new(struct wfs_store *store, bool writing, struct wfs_txn **ret_txn)
{
	struct wfs_txn *txn = calloc(1, sizeof(*txn));

	if (!txn)
		return -ENOMEM;
	txn->store = store;
	txn->writing = writing;
	int r = mdb_txn_begin(store->env, NULL, writing ? 0 : MDB_RDONLY, &txn->mdb);
	if (r == MDB_READERS_FULL) {
		int dead = 0;

		/* Free the readers' slots of killed processes, and try again. */
		mdb_reader_check(store->env, &dead);
		if (dead)
			r = mdb_txn_begin(store->env, NULL, writing ? 0 : MDB_RDONLY, &txn->mdb);
	}
	if (r) {
		free(txn);
		return wfs_store_error(r);
	}
	*ret_txn = txn;
	return 0;
}

int wfs_store_read(struct wfs_store *store, struct wfs_txn **ret_txn)
{
	struct wfs_txn *txn = pool_take(store);

	wfs_damage_forget();
	if (!txn)
		return txn_new(store, false, ret_txn);
	int r = mdb_txn_renew(txn->mdb);
	if (r) {
		txn_free(txn);
		return wfs_store_error(r);
	}
	*ret_txn = txn;
	return 0;
}

int wfs_store_write(struct wfs_store *store, struct wfs_txn **ret_txn)
{
	wfs_damage_forget();
	return txn_new(store, true, ret_txn);
}

void wfs_txn_end(struct wfs_txn *txn)
{
	if (!txn)
		return;
	if (txn->writing) {
		txn_free(txn);
		return;
	}
	mdb_txn_reset(txn->mdb);
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		txn->cursor_stale[i] = true;
	pool_give(txn->store, txn);
}

static int commit(void *context)
{
	struct wfs_txn *txn = context;
	int r = mdb_txn_commit(txn->mdb);

	txn->mdb = NULL; /* LMDB has freed it, also after a failure */
	return r;
}

/* Was data.mdb removed while it is open? What is written to it now is lost with this process. */
static bool is_removed(const struct wfs_store *store)
{
	struct stat st;
	mdb_filehandle_t fd;

	return !store->scratch && mdb_env_get_fd(store->env, &fd) == 0 && fstat(fd, &st) == 0 &&
		st.st_nlink == 0;
}

int wfs_txn_commit(struct wfs_txn *txn)
{
	wfs_require(txn->writing);
	if (txn->broken || is_removed(txn->store)) {
		const int r = txn->broken ? -EIO : -ENOENT;

		wfs_txn_end(txn);
		return r;
	}
	for (size_t i = 0; i < WFS_TABLE_COUNT; i++)
		wfs_txn_cursor_drop(txn, i);
	int r = guard_call(commit, txn);

	if (r)
		r = commit_error(txn->store, r);
	txn_free(txn);
	return r;
}

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
		struct opening opening = {txn, names[i], create, &store->tables[i]};

		r = guard_call(open_table, &opening);
	}
	if (r) {
		mdb_txn_abort(txn);
		return wfs_store_error(r);
	}
	r = mdb_txn_commit(txn);
	return r ? commit_error(store, r) : 0;
}

static int format_error(const char *directory, int format, struct wfs_error *error)
{
	const bool newer = format > WFS_STORE_FORMAT;

	return wfs_error_set(error, newer ? WFS_E_FORMAT_NEWER : WFS_E_FORMAT_OLDER,
		"the world in '%s' has store format %d, this program opens %d: use %s worldfs",
		directory, format, WFS_STORE_FORMAT, newer ? "a newer" : "an older");
}

/* Is a wrong format number a flipped byte, because other rows have valid checksums? Another format
 * may compute checksums in another way, but then those of all rows. */
static bool is_damaged(struct wfs_txn *txn)
{
	struct wfs_bytes row;

	return wfs_meta_get(txn, "world_id", &row) == 0 &&
		wfs_meta_get(txn, "format", &row) == -EIO;
}

static int check_format(struct wfs_store *store, struct wfs_error *error)
{
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	struct wfs_bytes row;
	uint8_t format;
	int r = wfs_store_read(store, &txn);

	if (!r)
		r = wfs_meta_format(txn, &format);
	if (!r && format != WFS_STORE_FORMAT && !is_damaged(txn))
		return format_error(store->directory, format, error);
	if (!r)
		r = wfs_meta_get(txn, "format", &row);
	if (r)
		return wfs_error_from_errno(error, r == -ENOENT ? -EIO : r,
			"read the world's value 'format' of '%s'", store->directory);
	return 0;
}

static int put_format(struct wfs_store *store)
{
	const uint8_t format = WFS_STORE_FORMAT;
	struct wfs_txn *txn;
	int r = wfs_store_write(store, &txn);

	if (r)
		return r;
	r = wfs_meta_put(txn, "format", WFS_BYTES(&format, sizeof(format)));
	if (r) {
		wfs_txn_end(txn);
		return r;
	}
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
	const struct pages_options pages = {.names = names, .any_tables = true};
	WFS_AUTO_PROBLEMS struct wfs_problems own = {.count = 0};
	struct wfs_problems *const problems = options->problems ? options->problems : &own;

	if (!options->walk_pages || wfs_store_last_txn(store) == options->believed_txn)
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
		r = check_format(store, error);
		if (r)
			return wfs_trace(r);
	}
	if (!r)
		r = open_tables(store, options->create, WFS_TABLE_META + 1, WFS_TABLE_COUNT);
	if (!r && options->create)
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
		txn_free(txn);
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
	const struct pages_options options = {
		.names = names, .progress = progress, .context = context};

	return wfs_trace(check_pages(store, &options, problems));
}

/* --- copying --- */

/* LMDB writes to a pipe on a thread of its own; this thread counts what comes, and can stop it. */
struct copy {
	struct wfs_store *store;
	pthread_t thread;
	int in; /* the pipe's ends */
	int out;
	int result; /* of LMDB; valid when the thread has ended */
};

static void *copy_main(void *argument)
{
	struct copy *copy = argument;

	copy->result = mdb_env_copyfd2(copy->store->env, copy->in, MDB_CP_COMPACT);
	close(copy->in);
	return NULL;
}

static int copy_begin(struct wfs_store *store, struct copy *copy)
{
	int ends[2];

	copy->store = store;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	copy->out = ends[0];
	copy->in = ends[1];
	(void)fcntl(copy->out, F_SETPIPE_SZ, COPY_PIECE_SIZE); /* for speed only */
	int r = -pthread_create(&copy->thread, NULL, copy_main, copy);
	if (r) {
		close(copy->in);
		close(copy->out);
	}
	return r;
}

static int copy_pieces(struct copy *copy, int fd, wfs_store_copy_fn *each, void *context)
{
	uint64_t done_bytes = 0;

	for (;;) {
		const ssize_t size = splice(copy->out, NULL, fd, NULL, COPY_PIECE_SIZE, 0);

		if (size == 0)
			return 0;
		if (size < 0 && errno != EINTR)
			return -errno;
		done_bytes += size > 0 ? (uint64_t)size : 0;
		if (each && !each(context, done_bytes))
			return -EINTR;
	}
}

int wfs_store_copy(struct wfs_store *store, int fd, wfs_store_copy_fn *each, void *context)
{
	struct copy copy = {0};
	int r = copy_begin(store, &copy);

	if (r)
		return wfs_trace(r);
	r = copy_pieces(&copy, fd, each, context);
	close(copy.out); /* a writer still at work gets EPIPE; LMDB blocks the signal */
	pthread_join(copy.thread, NULL);
	return wfs_trace(r ? r : wfs_store_error(copy.result));
}
