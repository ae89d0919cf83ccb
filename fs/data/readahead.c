/* SPDX-License-Identifier: Apache-2.0 */
/* The helper that reads ahead. */
#include "fs/data/readahead.h"

#include <stdatomic.h>

#include "caps/seen.h"
#include "caps/session.h"

enum {
	WINDOW_FIRST = 4, /* siblings pushed after a read that continues nothing */
	WINDOW_MAX = 4096,
	WINDOW_GROWTH = 4, /* factor, each time a read continues the scan */
	LEAD_FIRST = 16,   /* siblings left to a reader that has overtaken us */
	LEAD_MAX = 512,
	UNKNOWN_MAX = 8, /* siblings in a row that the kernel does not know: no scan */
	CHUNK = 64,      /* siblings pushed under one view */
};

/*
 * The progress of a scan. Places are cookies of the directory's listing, which are nearly
 * consecutive. The file at `tripwire` is not pushed: its read shows that the scan has come so far,
 * in time to push the next window before the reader needs it.
 */
struct scan {
	uint64_t directory; /* inode of the directory being scanned */
	uint64_t from;      /* the read that started the last window */
	uint64_t pushed;    /* the last sibling pushed */
	uint64_t target;    /* the last sibling to push */
	uint64_t tripwire;
	unsigned int window;
	unsigned int lead; /* siblings to skip when the reader overtakes us; doubled each time */
};

struct wfs_readahead {
	const struct wfs_tree *tree;
	const struct wfs_numbers *numbers;
	struct fuse_session *fuse;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	bool stopping;                /* lock: lock */
	atomic_uint_fast64_t pending; /* inode of the newest read; 0: none; set under lock */
	atomic_uint_fast64_t listed;  /* inode of the directory listed last */
	struct scan scan;             /* helper thread only */
};

/* Pushing one chunk. */
struct push {
	struct wfs_readahead *readahead;
	struct wfs_tree_data data; /* its view serves the whole chunk */
	unsigned int left;
	unsigned int unknown; /* in a row */
	bool stopped;         /* before the listing's end */
};

static int store(struct push *push, const struct wfs_node *node, const struct wfs_attr *attr)
{
	const struct wfs_tree *tree = push->readahead->tree;

	/* Large values are left to the read-ahead of Linux. */
	if (!S_ISREG(attr->mode) || attr->size_bytes == 0 || attr->size_bytes >= WFS_BLOB_FILE_MIN)
		return 0;
	int r = wfs_tree_read_in(tree, node, 0, attr->size_bytes, &push->data);
	if (r)
		return r;
	struct fuse_bufvec vector = FUSE_BUFVEC_INIT(push->data.bytes.size);
	vector.buf[0].mem = (void *)(uintptr_t)push->data.bytes.data;
	return fuse_lowlevel_notify_store(push->readahead->fuse,
		wfs_numbers_ino(push->readahead->numbers, attr->ino), 0, &vector, 0);
}

static bool push_one(void *context, const struct wfs_tree_entry *entry)
{
	struct push *push = context;
	struct scan *scan = &push->readahead->scan;
	struct wfs_node node;

	scan->pushed = entry->cookie;
	push->left--;
	/* Pushes only files that never change; the teller stores log.jsonl, which grows. */
	if (entry->cookie != scan->tripwire && wfs_ino_decode(entry->attr->ino, &node) &&
		(node.kind == WFS_NODE_VERSION || node.kind == WFS_NODE_RECORD))
		push->unknown = store(push, &node, entry->attr) == -ENOENT ? push->unknown + 1 : 0;
	push->stopped = push->left == 0 || push->unknown >= UNKNOWN_MAX ||
		scan->pushed >= scan->target || atomic_load(&push->readahead->pending);
	return !push->stopped;
}

/* Pushes until the target, a new read, or the end of the directory. */
static void push_window(struct wfs_readahead *readahead)
{
	struct scan *scan = &readahead->scan;

	while (scan->pushed < scan->target && !atomic_load(&readahead->pending)) {
		/* Contents that are pushed are judged as those of a request: see
		 * fs/data/revoke.h. */
		WFS_AUTO_SESSION_PIN struct wfs_session_pin pin = {0};
		WFS_AUTO_TREE_DATA struct wfs_tree_data none = {0};
		struct push push = {.readahead = readahead, .left = CHUNK, .data = none};

		wfs_session_pin(readahead->tree->session, &pin);
		int r = wfs_session_view(
			readahead->tree->session, WFS_HEIGHT_HEAD, &push.data.view, NULL);

		if (!r)
			r = wfs_tree_list(
				readahead->tree, scan->directory, scan->pushed, push_one, &push);
		wfs_tree_data_done(&push.data);
		if (r || !push.stopped || push.unknown >= UNKNOWN_MAX)
			return;
	}
}

/* The directory and cookie that a file has in the listing that a scan would follow. */
static bool place_of(struct wfs_readahead *readahead, uint64_t ino, uint64_t *ret_directory,
	uint64_t *ret_cookie)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	uint64_t listed = atomic_load(&readahead->listed);
	struct wfs_seen seen;
	struct wfs_node directory;
	struct wfs_node node;

	if (!wfs_ino_decode(ino, &node) || !wfs_ino_decode(listed, &directory))
		return false;
	*ret_directory = listed;
	if (node.kind == WFS_NODE_RECORD) {
		*ret_cookie = wfs_tree_record_cookie(node.number);
		return directory.directory == WFS_DIRECTORY_JOURNAL;
	}
	if (node.kind != WFS_NODE_VERSION || directory.directory != WFS_DIRECTORY_REDUCER)
		return false;
	if (wfs_session_view(readahead->tree->session, WFS_HEIGHT_HEAD, &view, NULL) ||
		wfs_session_version(readahead->tree->session, &view, node.number, &seen))
		return false;
	*ret_cookie = seen.version.cell_id;
	return wfs_cell_reducer(seen.version.cell_id) == directory.reducer_id;
}

/* After a read of the file @ino: begins a scan, goes on with it, or gets ahead of it. */
static void serve(struct wfs_readahead *readahead, uint64_t ino)
{
	struct scan *scan = &readahead->scan;
	uint64_t directory;
	uint64_t cookie;

	if (!place_of(readahead, ino, &directory, &cookie))
		return;
	if (scan->directory == directory && cookie >= scan->from &&
		cookie <= scan->pushed + WINDOW_MAX) {
		if (scan->window < WINDOW_MAX)
			scan->window *= WINDOW_GROWTH;
		if (cookie > scan->pushed) { /* overtaken: get ahead of the reader again */
			scan->pushed = cookie + scan->lead;
			if (scan->lead < LEAD_MAX)
				scan->lead *= 2;
		} else {
			scan->lead = LEAD_FIRST;
		}
	} else {
		*scan = (struct scan){.directory = directory,
			.pushed = cookie,
			.window = WINDOW_FIRST,
			.lead = LEAD_FIRST};
	}
	scan->from = cookie;
	scan->target = cookie + scan->window;
	scan->tripwire = scan->window > LEAD_FIRST ? cookie + scan->window / 2 : 0;
	push_window(readahead);
}

static void *helper_main(void *argument)
{
	struct wfs_readahead *readahead = argument;

	pthread_setname_np(pthread_self(), "wfs-readahead");
	for (;;) {
		pthread_mutex_lock(&readahead->lock);
		while (!atomic_load(&readahead->pending) && !readahead->stopping)
			pthread_cond_wait(&readahead->wanted, &readahead->lock);
		uint64_t ino = atomic_exchange(&readahead->pending, 0);
		bool stopping = readahead->stopping;
		pthread_mutex_unlock(&readahead->lock);
		if (stopping)
			return NULL;
		serve(readahead, ino);
	}
}

int wfs_readahead_new(const struct wfs_tree *tree, const struct wfs_numbers *numbers,
	struct fuse_session *fuse, struct wfs_readahead **ret_readahead)
{
	struct wfs_readahead *readahead = calloc(1, sizeof(*readahead));

	if (!readahead)
		return -ENOMEM;
	readahead->tree = tree;
	readahead->numbers = numbers;
	readahead->fuse = fuse;
	pthread_mutex_init(&readahead->lock, NULL);
	pthread_cond_init(&readahead->wanted, NULL);
	int r = pthread_create(&readahead->thread, NULL, helper_main, readahead);
	if (r) {
		free(readahead);
		return -r;
	}
	*ret_readahead = readahead;
	return 0;
}

void wfs_readahead_stop(struct wfs_readahead *readahead)
{
	pthread_mutex_lock(&readahead->lock);
	readahead->stopping = true;
	pthread_cond_signal(&readahead->wanted);
	pthread_mutex_unlock(&readahead->lock);
	pthread_join(readahead->thread, NULL);
}

void wfs_readahead_free(struct wfs_readahead *readahead)
{
	if (!readahead)
		return;
	pthread_mutex_destroy(&readahead->lock);
	pthread_cond_destroy(&readahead->wanted);
	free(readahead);
}

void wfs_readahead_listed(struct wfs_readahead *readahead, uint64_t ino)
{
	atomic_store(&readahead->listed, ino);
}

void wfs_readahead_read(struct wfs_readahead *readahead, uint64_t ino)
{
	pthread_mutex_lock(&readahead->lock);
	if (atomic_exchange(&readahead->pending, ino) == 0)
		pthread_cond_signal(&readahead->wanted);
	pthread_mutex_unlock(&readahead->lock);
}
