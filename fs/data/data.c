/* SPDX-License-Identifier: Apache-2.0 */
/* FUSE operations of the data connection. Each replies exactly once. */
#include "fs/data/data.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "caps/session-upkeep.h"
#include "caps/session.h"
#include "fs/base/work.h"
#include "fs/data/known.h"
#include "fs/data/listahead.h"
#include "fs/data/notify.h"
#include "fs/data/numbers.h"
#include "fs/data/readahead.h"
#include "fs/data/revoke.h"
#include "fs/mount/fuse.h"
#include "kernel/base/damage.h"
#include "kernel/base/encode.h"
#include "kernel/base/log.h"

enum {
	THREADS = 4, /* workers; they only read, so few are enough */
	NANOSECONDS = 1000000000,
	BLOCK_SIZE = 4096,
	STAT_BLOCK_SIZE = 512,    /* unit of st_blocks: stat(2) */
	PLAIN_LISTING_MIN = 4096, /* entries; listings of more have no attributes */
	FIRST_COOKIE = 2,         /* `.` and `..` take 0 and 1 of our offsets */
};
static_assert(FIRST_COOKIE + 1 == WFS_NUMBERS_OFFSET_FIRST, "no cookie is 0");

#define FOREVER 1e9 /* seconds that entries and attributes are cached */
#define LOG_NAME "log.jsonl"
#define EVENTS_NAME "events.jsonl"

struct wfs_data {
	struct wfs_tree tree;
	char *directory; /* of the mount */
	struct wfs_numbers numbers;
	struct wfs_fuse *fuse;
	struct wfs_teller *teller;
	struct wfs_known *known;
	struct wfs_notify notify;
	struct wfs_revoke revoke;
	struct wfs_readahead *readahead;
	struct wfs_listahead *listahead;
	uid_t uid; /* owner of every file: the user who mounted */
	gid_t gid;
	pthread_mutex_t long_lock;
	struct wfs_work *long_reads; /* lock: long_lock; NULL: its thread has ended */
	/* the mount ends: everything that Linux has cached is dropped */
	atomic_bool closed;
};

static struct wfs_data *data_of(fuse_req_t request)
{
	return fuse_req_userdata(request);
}

/* Our number of the inode that a request names. */
static uint64_t ours(fuse_req_t request, fuse_ino_t ino)
{
	return wfs_numbers_our_ino(&data_of(request)->numbers, ino);
}

/*
 * Begins a request whose answer depends on rights. New rights wait for requests that were judged by
 * the old ones: for this request until @ret_pin ends. So it is called before anything is judged.
 * Return: false if the mount ends; the request was then answered with ENOTCONN.
 */
static bool begin(fuse_req_t request, struct wfs_session_pin *ret_pin)
{
	const struct wfs_data *data = data_of(request);

	wfs_session_pin(data->tree.session, ret_pin);
	if (!atomic_load(&data->closed))
		return true;
	fs_reply_result(request, -ENOTCONN);
	return false;
}

/* Answers a request that failed. */
static void refuse(fuse_req_t request, uint64_t ino, int r)
{
	if (r == -EIO)
		wfs_log_for(wfs_session_principal(data_of(request)->tree.session), WFS_LOG_MOUNT,
			WFS_LOG_ERR, "refused to serve damaged content: %s ino=%#" PRIx64,
			*wfs_damage_noted() ? wfs_damage_noted() : "stored bytes", ino);
	fs_reply_result(request, r);
}

static void fill_stat(
	const struct wfs_data *data, const struct wfs_attr *attr, struct stat *ret_stat)
{
	const struct timespec time = {
		.tv_sec = attr->mtime_ns / NANOSECONDS, .tv_nsec = attr->mtime_ns % NANOSECONDS};

	*ret_stat = (struct stat){
		.st_ino = wfs_numbers_ino(&data->numbers, wfs_ino_shown(attr->ino)),
		.st_mode = attr->mode,
		.st_nlink = 1,
		.st_uid = data->uid,
		.st_gid = data->gid,
		.st_size = (off_t)attr->size_bytes,
		.st_blksize = BLOCK_SIZE,
		.st_blocks = (blkcnt_t)((attr->size_bytes + STAT_BLOCK_SIZE - 1) / STAT_BLOCK_SIZE),
		.st_atim = time,
		.st_mtim = time,
		.st_ctim = time,
	};
}

static struct fuse_entry_param entry_of(const struct wfs_data *data, const struct wfs_attr *attr)
{
	struct fuse_entry_param entry = {
		.attr_timeout = attr->uncached ? 0 : FOREVER,
		.entry_timeout = attr->uncached ? 0 : FOREVER,
	};

	fill_stat(data, attr, &entry.attr);
	entry.ino = wfs_numbers_ino(&data->numbers, attr->ino);
	return entry;
}

/* Notes an inode before Linux gets it. @name: NULL: by its number. Return: 0, -ENOMEM, -ENFILE. */
static int remember(struct wfs_data *data, uint64_t parent, uint64_t ino, const char *name)
{
	struct wfs_node node;

	if (wfs_ino_decode(ino, &node) && wfs_tree_is_private(&node))
		atomic_store(&data->notify.texts_seen, true);
	int r = name ? wfs_known_add(data->known, parent, ino, name)
		     : wfs_known_add_inode(data->known, ino);
	if (r == 1 || r == -ENFILE)
		wfs_revoke_make_room(&data->revoke);
	return r < 0 ? r : 0;
}

static void reply_entry(fuse_req_t request, uint64_t parent, const char *name)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	struct wfs_data *data = data_of(request);
	struct wfs_attr attr = {0};

	if (!begin(request, &pin))
		return;
	int r = wfs_tree_lookup(&data->tree, parent, name, &attr);
	if (!r)
		r = remember(data, parent, attr.ino, name);
	if (r && (r != -ENOENT || attr.uncached)) {
		refuse(request, parent, r);
		return;
	}
	struct fuse_entry_param entry = {.entry_timeout = FOREVER}; /* node 0: a cached miss */
	if (!r) {
		entry = entry_of(data, &attr);
		if (attr.cookie)
			wfs_listahead_looked_up(
				data->listahead, parent, attr.cookie + FIRST_COOKIE);
	}
	/* A notification cannot reach an inode before this reply has made it. */
	if (wfs_notify_is_log(attr.ino))
		entry.attr_timeout = 0;
	fuse_reply_entry(request, &entry);
}

/* Begins to push commits into the log's pages. Called before the view is opened, so that no commit
 * is missed. */
static void log_is_seen(struct wfs_data *data)
{
	atomic_store(&data->notify.log_seen, true);
}

static void reply_log_entry(fuse_req_t request, uint64_t ino)
{
	(void)ino;
	reply_entry(request, wfs_tree_directory_ino(WFS_DIRECTORY_JOURNAL, 0), LOG_NAME);
}

static void reply_events_entry(fuse_req_t request, uint64_t parent)
{
	reply_entry(request, parent, EVENTS_NAME);
}

/*
 * Answers a look-up of a file handle with the inode of this number, or the directory above it.
 * Linux locks no directory during this look-up, so the notification of a change may come before
 * Linux has made the inode from this reply. So the reply has no attributes that are cached: Linux
 * asks for them later.
 */
static void reply_number(fuse_req_t request, uint64_t ino, bool above)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	struct wfs_data *data = data_of(request);
	struct wfs_attr attr;

	if (!begin(request, &pin))
		return;
	int r = above ? wfs_tree_parent(&data->tree, ino, &attr)
		      : wfs_tree_by_number(&data->tree, ino, &attr);
	if (!r)
		r = remember(data, 0, attr.ino, NULL);
	if (r) {
		refuse(request, ino, r);
		return;
	}
	attr.uncached = true;
	const struct fuse_entry_param entry = entry_of(data, &attr);
	fuse_reply_entry(request, &entry);
}

static void reply_number_itself(fuse_req_t request, uint64_t ino)
{
	reply_number(request, ino, false);
}

/* Looks up `.` or `..`, which Linux asks for if it has a file handle, but not the inode. */
static void lookup_number(fuse_req_t request, uint64_t ino, bool above)
{
	struct wfs_data *data = data_of(request);

	if (wfs_notify_is_log(ino))
		log_is_seen(data);
	if (!wfs_notify_grows(ino) ||
		!wfs_notify_defer(&data->notify, request, ino, reply_number_itself))
		reply_number(request, ino, above);
}

/* Replies: entry, negative entry, ENOENT, EACCES, ENAMETOOLONG, EIO, ENOMEM, ENFILE (Linux has too
 * many names of the mount, and is asked to forget some). */
static void do_lookup(fuse_req_t request, fuse_ino_t directory, const char *name)
{
	struct wfs_data *data = data_of(request);
	const uint64_t parent = ours(request, directory);

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		lookup_number(request, parent, name[1] == '.');
		return;
	}
	if (parent == wfs_tree_directory_ino(WFS_DIRECTORY_JOURNAL, 0) &&
		strcmp(name, LOG_NAME) == 0) {
		log_is_seen(data);
		if (wfs_notify_defer(&data->notify, request, 0, reply_log_entry))
			return;
	}
	if (strcmp(name, EVENTS_NAME) == 0 &&
		wfs_notify_defer(&data->notify, request, parent, reply_events_entry))
		return;
	reply_entry(request, parent, name);
}

/* Replies: none. */
static void do_forget(fuse_req_t request, fuse_ino_t ino, uint64_t count)
{
	wfs_known_forget(data_of(request)->known, ours(request, ino), count);
	fuse_reply_none(request);
}

static void do_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		wfs_known_forget(
			data_of(request)->known, ours(request, forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(request);
}

static void reply_attr(fuse_req_t request, uint64_t ino)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	struct wfs_data *data = data_of(request);
	struct wfs_attr attr;
	struct stat st;

	if (!begin(request, &pin))
		return;
	int r = wfs_tree_attr(&data->tree, ino, &attr);
	if (r) {
		refuse(request, ino, r);
		return;
	}
	fill_stat(data, &attr, &st);
	fuse_reply_attr(request, &st, attr.uncached ? 0 : FOREVER);
}

/* Replies: attr, ENOENT, EACCES, EIO. */
static void do_getattr(fuse_req_t request, fuse_ino_t asked, struct fuse_file_info *file)
{
	struct wfs_data *data = data_of(request);
	const uint64_t ino = ours(request, asked);

	(void)file;
	if (wfs_notify_is_log(ino))
		log_is_seen(data);
	if (!wfs_notify_grows(ino) || !wfs_notify_defer(&data->notify, request, ino, reply_attr))
		reply_attr(request, ino);
}

/* Replies: readlink, EINVAL, ENOENT, EACCES. */
static void do_readlink(fuse_req_t request, fuse_ino_t ino)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};

	if (!begin(request, &pin))
		return;
	int r = wfs_tree_link(&data_of(request)->tree, ours(request, ino), &target);
	if (r)
		fs_reply_result(request, r);
	else
		fuse_reply_readlink(request, wfs_buffer_text(&target));
}

/* The mode of files has no execute bits, but Linux asks only this for access(2). Replies: 0,
 * EACCES. */
static void do_access(fuse_req_t request, fuse_ino_t ino, int mask)
{
	struct wfs_node node;
	const bool found = wfs_ino_decode(ours(request, ino), &node);

	fs_reply_access(request, found && node.kind == WFS_NODE_DIRECTORY, mask);
}

/* Linux sends no open after this answer. Replies: ENOSYS. */
static void do_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *file)
{
	(void)ino;
	(void)file;
	fs_reply_result(request, -ENOSYS);
}

/* --- reads --- */

/* Was a read of log.jsonl cut short by a damaged record? The read must then fail, because Linux
 * takes an incomplete page for the end of the file. */
static bool ends_in_damage(uint64_t ino)
{
	struct wfs_node node;

	return *wfs_damage_noted() && wfs_ino_decode(ino, &node) && node.kind == WFS_NODE_LOG;
}

static void answer_read(fuse_req_t request, uint64_t ino, size_t size, off_t offset)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	struct wfs_data *data = data_of(request);
	WFS_AUTO_TREE_DATA struct wfs_tree_data found = {0};

	if (!begin(request, &pin))
		return;
	if (wfs_notify_is_log(ino))
		log_is_seen(data);
	int r = wfs_tree_read(&data->tree, ino, (uint64_t)offset, size, &found);
	if (!r && found.bytes.size < size && ends_in_damage(ino))
		r = -EIO;
	if (r) {
		refuse(request, ino, r);
		return;
	}
	fuse_reply_buf(request, found.bytes.data, found.bytes.size);
	if (offset == 0)
		wfs_readahead_read(data->readahead, ino);
}

/* A read that takes long. It has a thread of its own: Linux asks for several parts of a file at
 * once, which would keep all workers busy. */
struct long_read {
	struct wfs_work_task task; /* first */
	fuse_req_t request;
	uint64_t ino;
	size_t size;
	off_t offset;
};

/* Answers a long read, on the thread of long reads, which has a low priority. */
static void read_long(struct wfs_work_task *task)
{
	struct long_read *const read = (struct long_read *)task;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), WFS_WORK_LONG_NICE);
	answer_read(read->request, read->ino, read->size, read->offset);
	free(read);
}

/* Gives a long read to its thread. Return: false if the caller must answer it, without memory or
 * after the thread has ended. */
static bool hand_over(struct wfs_data *data, const struct long_read *wanted)
{
	struct long_read *const read = malloc(sizeof(*read));
	WFS_GUARD(&data->long_lock);

	if (!read || !data->long_reads) {
		free(read);
		return false;
	}
	*read = *wanted;
	wfs_work_add(data->long_reads, &read->task, 0);
	return true;
}

/* Replies, here or later: data, EIO, ENOENT, EACCES. */
static void do_read(fuse_req_t request, fuse_ino_t asked, size_t size, off_t offset,
	struct fuse_file_info *file)
{
	const uint64_t ino = ours(request, asked);
	const struct long_read read = {{.run = read_long}, request, ino, size, offset};

	(void)file;
	if (!wfs_tree_takes_long(ino) || !hand_over(data_of(request), &read))
		answer_read(request, ino, size, offset);
}

/* Answers long reads that wait, and ends their thread; later ones are answered by workers. */
static void end_long_reads(struct wfs_data *data)
{
	struct wfs_work *work;

	pthread_mutex_lock(&data->long_lock);
	work = WFS_STEAL(data->long_reads);
	pthread_mutex_unlock(&data->long_lock);
	wfs_work_free(work);
}

/* --- listings --- */

/* One reply to readdir or readdirplus as it fills. */
struct listing {
	fuse_req_t request;
	struct wfs_data *data;
	uint64_t ino; /* of the directory */
	char *buffer;
	size_t size;
	size_t used;
	bool plus;        /* the reply has room for attributes */
	bool plain;       /* but attributes are left out */
	bool ahead;       /* the child that lists ahead asks */
	bool window_full; /* the child must list no further */
	bool handed_out;  /* an inode of this reply was noted as given to Linux */
	bool full;
};

/* Is there room for one more name? */
static bool listing_fits(struct listing *listing, const char *name)
{
	const size_t size = listing->plus
		? fuse_add_direntry_plus(listing->request, NULL, 0, name, NULL, 0)
		: fuse_add_direntry(listing->request, NULL, 0, name, NULL, 0);

	listing->full = size > listing->size - listing->used;
	return !listing->full;
}

/* One name of the listing. */
struct listed {
	struct fuse_entry_param entry;
	uint64_t ino; /* our number of the inode, if the entry has one */
};

static void listing_add(
	struct listing *listing, const char *name, struct listed *listed, uint64_t next)
{
	struct fuse_entry_param *const entry = &listed->entry;
	const off_t offset = wfs_numbers_offset(&listing->data->numbers, listing->ino, next);
	char *at = listing->buffer + listing->used;
	const size_t left = listing->size - listing->used;

	if (!listing_fits(listing, name))
		return;
	/* An entry that cannot be noted is listed without attributes. */
	if (listing->plus && entry->ino != 0) {
		if (remember(listing->data, listing->ino, listed->ino, name))
			entry->ino = 0;
		else
			listing->handed_out = true;
	}
	if (listing->plus)
		listing->used +=
			fuse_add_direntry_plus(listing->request, at, left, name, entry, offset);
	else
		listing->used +=
			fuse_add_direntry(listing->request, at, left, name, &entry->attr, offset);
}

static bool listing_entry(void *context, const struct wfs_tree_entry *tree_entry)
{
	struct listing *listing = context;
	struct listed listed = {entry_of(listing->data, tree_entry->attr), tree_entry->attr->ino};
	const uint64_t next = tree_entry->cookie + FIRST_COOKIE;

	if (listing->ahead &&
		!wfs_listahead_take(listing->data->listahead, next, &listing->plain)) {
		listing->window_full = true;
		return false;
	}
	/* "No attributes given": Linux makes no inode. The size of a file that grows would come too
	 * early. */
	if (listing->plain || wfs_notify_grows(listed.ino))
		listed.entry.ino = 0;
	listing_add(listing, tree_entry->name, &listed, next);
	return !listing->full;
}

static void listing_dots(struct listing *listing, uint64_t offset)
{
	static const char *const names[FIRST_COOKIE] = {".", ".."};

	const ino_t ino = wfs_numbers_ino(&listing->data->numbers, listing->ino);

	for (uint64_t i = offset; i < FIRST_COOKIE && !listing->full; i++) {
		struct listed listed = {.entry = {.attr = {.st_ino = ino, .st_mode = S_IFDIR}}};

		listing_add(listing, names[i], &listed, i + 1);
	}
}

/* Replies: buf, ENOTDIR, ENOENT, EACCES, EIO, ENOMEM; EAGAIN to the child that lists ahead. */
static void list(fuse_req_t request, fuse_ino_t asked, size_t size, off_t place, bool plus)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
	struct wfs_data *data = data_of(request);
	const uint64_t ino = ours(request, asked);
	const uint64_t offset = wfs_numbers_our_offset(&data->numbers, ino, place);
	WFS_AUTO_FREE char *buffer = malloc(size);
	struct listing listing = {.request = request,
		.data = data,
		.ino = ino,
		.buffer = buffer,
		.size = size,
		.plus = plus};
	uint64_t count = 0;
	int r = buffer ? 0 : -ENOMEM;

	if (!begin(request, &pin))
		return;
	listing.ahead = wfs_listahead_asks(data->listahead, fuse_req_ctx(request)->pid);
	if (!r && !listing.ahead)
		r = wfs_tree_count(&data->tree, ino, &count);
	listing.plain = count > PLAIN_LISTING_MIN;
	if (offset == 0 && !listing.ahead)
		wfs_readahead_listed(data->readahead, ino);
	if (offset == 0 && listing.plain)
		wfs_listahead_listed(data->listahead, ino);
	if (!r) {
		listing_dots(&listing, offset);
		if (!listing.full)
			r = wfs_tree_list(&data->tree, ino,
				offset > FIRST_COOKIE ? offset - FIRST_COOKIE : 0, listing_entry,
				&listing);
	}
	if (!r && listing.ahead && !listing.full && !listing.window_full)
		wfs_listahead_end(data->listahead);
	/* An empty reply means the end, and Linux would cache the listing as a complete one. */
	if (!r && listing.window_full && listing.used == 0)
		r = -EAGAIN;
	/* If the reply has entries, the reader gets the error with its next request. */
	if (r && !listing.handed_out)
		refuse(request, ino, r);
	else
		fuse_reply_buf(request, buffer, listing.used);
}

static void do_readdir(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file)
{
	(void)file;
	list(request, ino, size, offset, false);
}

static void do_readdirplus(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *file)
{
	(void)file;
	list(request, ino, size, offset, true);
}

/* --- extended attributes --- */

/* A search for one value, or the list of all names. */
struct xattr_search {
	const char *name; /* NULL: list */
	bool found;
	struct wfs_buffer bytes;
};

static bool xattr_visit(void *context, const char *name, struct wfs_bytes value)
{
	struct xattr_search *search = context;

	if (!search->name) {
		wfs_buffer_append(&search->bytes, name, strlen(name) + 1);
	} else if (strcmp(name, search->name) == 0) {
		wfs_buffer_append(&search->bytes, value.data, value.size);
		search->found = true;
		return false;
	}
	return true;
}

/* Replies: xattr (size 0 asks for the size), buf, ENODATA, ERANGE, ENOENT, EACCES, EIO. */
static void reply_xattr(
	fuse_req_t request, fuse_ino_t asked, struct xattr_search *search, size_t size)
{
	WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};

	if (!begin(request, &pin))
		return;
	const uint64_t ino = ours(request, asked);
	int r = wfs_tree_xattrs(&data_of(request)->tree, ino, xattr_visit, search);
	if (!r)
		r = wfs_buffer_check(&search->bytes);
	if (!r && search->name && !search->found)
		r = -ENODATA;
	if (!r && size > 0 && search->bytes.size > size)
		r = -ERANGE;
	if (r)
		refuse(request, ino, r);
	else if (size == 0)
		fuse_reply_xattr(request, search->bytes.size);
	else
		fuse_reply_buf(request, search->bytes.data, search->bytes.size);
	wfs_buffer_done(&search->bytes);
}

static void do_getxattr(fuse_req_t request, fuse_ino_t ino, const char *name, size_t size)
{
	struct xattr_search search = {.name = name};

	reply_xattr(request, ino, &search, size);
}

static void do_listxattr(fuse_req_t request, fuse_ino_t ino, size_t size)
{
	struct xattr_search search = {0};

	reply_xattr(request, ino, &search, size);
}

/* --- the rest --- */

/* The bytes of the store and of blob files, and how much the store can still grow, in data.mdb and
 * on the disk. */
static int fill_statfs(const struct wfs_session *session, const struct wfs_session_figures *figures,
	struct statvfs *answer)
{
	struct statvfs disk;

	if (statvfs(wfs_authority_directory(wfs_session_authority(session)), &disk))
		return -errno;
	uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
	uint64_t map_room = figures->world.store.map_size_bytes - figures->world.store.used_bytes;
	const uint64_t growth = room < map_room ? room : map_room;
	const uint64_t free_blocks = (figures->world.store.free_bytes + growth) / BLOCK_SIZE;
	const uint64_t taken = figures->world.store.used_bytes - figures->world.store.free_bytes +
		figures->world.store.blob_bytes;
	answer->f_blocks = taken / BLOCK_SIZE + free_blocks;
	answer->f_bfree = free_blocks;
	answer->f_bavail = free_blocks;
	return 0;
}

/* Answers df(1). A principal that may not learn what others write gets no blocks, as for /proc.
 * Replies: statfs, EACCES. */
static void do_statfs(fuse_req_t request, fuse_ino_t ino)
{
	const struct wfs_session *session = data_of(request)->tree.session;
	struct statvfs answer = {
		.f_bsize = BLOCK_SIZE, .f_frsize = BLOCK_SIZE, .f_namemax = WFS_NAME_MAX};
	struct wfs_session_figures figures;
	int r = wfs_session_figures(session, &figures, NULL);

	(void)ino;
	if (!r && figures.whole)
		r = fill_statfs(session, &figures, &answer);
	if (r)
		fs_reply_result(request, r);
	else
		fuse_reply_statfs(request, &answer);
}

static void do_init(void *userdata, struct fuse_conn_info *connection)
{
	const unsigned int wanted = FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT |
		FUSE_CAP_READDIRPLUS | FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS |
		FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_EXPORT_SUPPORT;
	const struct wfs_data *data = userdata;

	connection->want = wanted & connection->capable;
	connection->time_gran = 1;
	wfs_fuse_initialised(data->fuse);
}

/* Requests that write. The mount is `ro`, so Linux refuses them itself; if one comes nevertheless,
 * each of these functions replies EROFS. */
static void refuse_setattr(fuse_req_t request, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *file)
{
	(void)ino, (void)attr, (void)to_set, (void)file;
	fs_reply_result(request, -EROFS);
}

static void refuse_mknod(
	fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	(void)parent, (void)name, (void)mode, (void)device;
	fs_reply_result(request, -EROFS);
}

static void refuse_mkdir(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent, (void)name, (void)mode;
	fs_reply_result(request, -EROFS);
}

static void refuse_name(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	(void)parent, (void)name;
	fs_reply_result(request, -EROFS);
}

static void refuse_symlink(
	fuse_req_t request, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target, (void)parent, (void)name;
	fs_reply_result(request, -EROFS);
}

static void refuse_rename(fuse_req_t request, fuse_ino_t parent, const char *name,
	fuse_ino_t new_parent, const char *new_name, unsigned int flags)
{
	(void)parent, (void)name, (void)new_parent, (void)new_name, (void)flags;
	fs_reply_result(request, -EROFS);
}

static void refuse_link(
	fuse_req_t request, fuse_ino_t ino, fuse_ino_t new_parent, const char *new_name)
{
	(void)ino, (void)new_parent, (void)new_name;
	fs_reply_result(request, -EROFS);
}

static void refuse_write(fuse_req_t request, fuse_ino_t ino, const char *bytes, size_t size,
	off_t offset, struct fuse_file_info *file)
{
	(void)ino, (void)bytes, (void)size, (void)offset, (void)file;
	fs_reply_result(request, -EROFS);
}

static void refuse_setxattr(fuse_req_t request, fuse_ino_t ino, const char *name, const char *value,
	size_t size, int flags)
{
	(void)ino, (void)name, (void)value, (void)size, (void)flags;
	fs_reply_result(request, -EROFS);
}

static void refuse_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *file)
{
	(void)parent, (void)name, (void)mode, (void)file;
	fs_reply_result(request, -EROFS);
}

static const struct fuse_lowlevel_ops operations = {
	.init = do_init,
	.lookup = do_lookup,
	.forget = do_forget,
	.forget_multi = do_forget_multi,
	.getattr = do_getattr,
	.readlink = do_readlink,
	.access = do_access,
	.open = do_open,
	.read = do_read,
	.opendir = do_open,
	.readdir = do_readdir,
	.readdirplus = do_readdirplus,
	.getxattr = do_getxattr,
	.listxattr = do_listxattr,
	.statfs = do_statfs,
	.setattr = refuse_setattr,
	.mknod = refuse_mknod,
	.mkdir = refuse_mkdir,
	.unlink = refuse_name,
	.rmdir = refuse_name,
	.symlink = refuse_symlink,
	.rename = refuse_rename,
	.link = refuse_link,
	.write = refuse_write,
	.setxattr = refuse_setxattr,
	.removexattr = refuse_name,
	.create = refuse_create,
};

/* --- life --- */

int wfs_data_new(
	const struct wfs_data_options *options, struct wfs_data **ret_data, struct wfs_error *error)
{
	WFS_AUTO_FD int fd = options->fd;
	WFS_AUTO_DATA struct wfs_data *data = calloc(1, sizeof(*data));

	if (!data)
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", options->directory);
	pthread_mutex_init(&data->long_lock, NULL);
	data->tree = options->tree;
	data->tree.log_end_bytes = &data->notify.log_end_bytes;
	data->tree.events_height = &data->notify.events_height;
	data->directory = strdup(options->directory);
	if (!data->directory)
		return wfs_error_from_errno(error, -ENOMEM, "mount '%s'", options->directory);
	data->uid = options->uid;
	data->gid = options->gid;
	const struct wfs_fuse_options fuse_options = {
		.ops = &operations,
		.ops_size = sizeof(operations),
		.userdata = data,
		.fd = WFS_STEAL_FD(fd),
		.directory = options->directory,
		.keeper = options->keeper,
		.part = WFS_MOUNT_DATA,
		.threads = THREADS,
		.ended = options->ended,
		.context = options->context,
	};
	int r = wfs_fuse_new(&fuse_options, &data->fuse, error);
	if (r)
		return wfs_trace(r);
	struct fuse_session *session = wfs_fuse_session(data->fuse);
	r = wfs_known_new(wfs_known_limit(), &data->known);
	if (!r)
		r = wfs_numbers_init(&data->numbers, data->tree.session);
	if (!r)
		r = wfs_teller_new(
			data->fuse, &data->numbers, wfs_teller_limit_ms(), &data->teller);
	if (!r)
		r = wfs_readahead_new(&data->tree, &data->numbers, session, &data->readahead);
	if (!r)
		r = wfs_listahead_new(&data->tree, &data->numbers, data->teller,
			options->here ? data->directory : NULL, &data->listahead);
	if (!r)
		r = wfs_work_new(1, &data->long_reads);
	if (!r)
		r = wfs_notify_init(&data->notify, &data->tree, data->teller, data->known);
	if (!r)
		r = wfs_revoke_init(
			&data->revoke, &data->tree, data->teller, data->known, &data->notify);
	if (r)
		return wfs_error_from_errno(error, r, "serve '%s'", options->directory);
	r = wfs_fuse_start(data->fuse, error);
	if (r)
		return wfs_trace(r);
	*ret_data = WFS_STEAL(data);
	return 0;
}

void wfs_data_pause(struct wfs_data *data)
{
	wfs_listahead_pause(data->listahead);
}

void wfs_data_resume(struct wfs_data *data)
{
	wfs_listahead_resume(data->listahead);
}

/* Drops what Linux has cached for open files, before the mount is gone and this becomes impossible.
 * Called while workers still serve, because Linux may wait for them. */
static void close_for_good(struct wfs_data *data)
{
	atomic_store(&data->closed, true);
	wfs_session_settle(data->tree.session);
	wfs_revoke_contents(data->teller, data->known);
}

void wfs_data_free(struct wfs_data *data)
{
	if (!data)
		return;
	/* While workers serve, so that a notification or a child that waits for one of them can
	 * end; what they use goes after them. */
	wfs_notify_stop(&data->notify);
	wfs_revoke_stop(&data->revoke);
	if (data->readahead)
		wfs_readahead_stop(data->readahead);
	if (data->listahead)
		wfs_listahead_stop(data->listahead);
	if (data->teller)
		close_for_good(data);
	wfs_teller_free(data->teller);
	end_long_reads(data);
	wfs_fuse_free(data->fuse);
	wfs_notify_done(&data->notify);
	wfs_readahead_free(data->readahead);
	wfs_listahead_free(data->listahead);
	wfs_known_free(data->known);
	pthread_mutex_destroy(&data->long_lock);
	free(data->directory);
	free(data);
}
