/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/control*.c: the table of control files, open files and what is under way on them.
 *
 * Each open file does one operation (write, read, flush) at a time; others wait in line. An
 * operation may start many calls; it is answered when all of them are. No lock is held while a
 * verb is started or a reply is sent; the reply is the last thing an operation touches, because
 * the kernel may release the file at once.
 * Lock order: list of open files, open file, connection.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/base/work.h"
#include "fs/control/control-content.h"
#include "fs/control/control-parser.h"
#include "fs/control/control.h"
#include "fs/mount/fuse.h"
#include "fs/verb/order.h"

/* Bounds. */
enum {
	WFS_CONTROL_THREADS = 4,           /* that serve FUSE requests */
	WFS_CONTROL_SLOW_THREADS = 4,      /* that run slow verbs and finish blobs */
	WFS_CONTROL_PARSE_MAX = 256 << 10, /* bytes of a value; longer ones give way to others */
	WFS_CONTROL_IN_FLIGHT_MAX = 1024,  /* calls of one operation that are not answered */
	WFS_CONTROL_UNREAD_MAX = 16 << 20, /* bytes of answers that nobody reads */
	WFS_CONTROL_USERS_MAX = 1024,      /* of one mount; one more gets ENFILE */
	WFS_CONTROL_STRANGERS_MAX = 512,   /* no principals: a person may have 65,536 uids */
	/* Bytes of memory for open files. A guest is a user that is not the operator. One guest may
	 * have more than all may together, when the others have few. */
	WFS_CONTROL_USER_BYTES_MAX = 128 << 20,  /* all files of one guest */
	WFS_CONTROL_USER_BYTES_FEW = 4 << 20,    /* all files of one guest: never refused */
	WFS_CONTROL_FILE_BYTES_MAX = 224 << 20,  /* one file, when the guest's others take few */
	WFS_CONTROL_GUEST_BYTES_MAX = 192 << 20, /* all files of all guests */
	WFS_CONTROL_USER_OPENS_MAX = 4096,       /* open files of one guest; one more gets ENFILE */
	WFS_CONTROL_KEEP_MAX = 16 << 10, /* bytes that an open file keeps for its next request */
	WFS_CONTROL_RETRY_MS = 5,        /* pause when the world's queue is full */
	WFS_CONTROL_RETRY_MAX = 2000,    /* pauses in a row, then `overloaded` is the answer */
};

enum wfs_control_kind {
	WFS_CONTROL_JSON,     /* written: JSON values; read: their answers */
	WFS_CONTROL_BYTES,    /* written: one blob, ended by close or read; read: its answer */
	WFS_CONTROL_DOCUMENT, /* read: the result of a verb */
	WFS_CONTROL_TEXT,     /* read: the member `text` of the result of a verb */
	WFS_CONTROL_LAST,     /* read: the last answer to the user that opens it */
	WFS_CONTROL_CONTENT,  /* written: an artifact's whole content, ended by close; not read */
};

/* One control file: a row of the table, static lifetime. */
struct wfs_control_file {
	const char *name;
	const char *verb; /* NULL: the file needs none */
	enum wfs_control_kind kind;
	const char *member; /* the payload is {member: value}; NULL: the payload is the value */
	const char *word;   /* a text that is written is {word: text}; NULL: it is an error */
	bool empty_line;    /* an empty line is a request without payload */
	const char *usage;  /* what a read before any write gives */
};

extern const struct wfs_control_file wfs_control_files[];
extern const size_t wfs_control_file_count;

/* Every file in the directory of this name. */
extern const struct wfs_control_file wfs_control_artifacts;

static inline bool wfs_control_file_writable(const struct wfs_control_file *file)
{
	return file->kind == WFS_CONTROL_JSON || file->kind == WFS_CONTROL_BYTES ||
		file->kind == WFS_CONTROL_CONTENT;
}

struct wfs_control_open;

/* One request and its answer. */
struct wfs_control_call {
	struct wfs_control_open *open;
	struct wfs_control_call *next; /* in order of the answers; lock: the open file's */
	bool answered;                 /* lock: the open file's */
	unsigned int retries;
	enum wfs_order_kind order;
	bool counted;                   /* in the order of the open file; lock: the open file's */
	json_t *payload;                /* owned; kept so that the call can be started again */
	struct wfs_blob_writer *writer; /* owned; its bytes must outlive the request */
	size_t parsed_bytes;            /* that its user is charged for */
	bool is_long;                   /* to parse and to free; lock: the open file's */
	bool takes_long;                /* a query, or code that runs; lock: the open file's */
	struct wfs_work_task task;
	struct wfs_call call;
};

enum wfs_control_op_kind {
	WFS_CONTROL_WRITE,
	WFS_CONTROL_READ,
	WFS_CONTROL_FLUSH,
	WFS_CONTROL_TRUNCATE, /* of a WFS_CONTROL_CONTENT */
	WFS_CONTROL_RELEASE,  /* completes what nobody closed in order; not replied to */
};

/* One operation on an open file. */
struct wfs_control_op {
	struct wfs_control_op *next; /* waiting in line; lock: the open file's */
	enum wfs_control_op_kind kind;
	fuse_req_t request;
	pid_t pid;       /* thread that asked */
	fuse_ino_t ino;  /* truncate */
	uint64_t offset; /* write, read; truncate: the new size */
	size_t size;     /* write: bytes that came; read: bytes wanted */
	char *data;      /* write: behind the operation, in the same memory */
	size_t copied;   /* write: bytes that its user is charged for */
};

/* A user of the connection, by uid. */
struct wfs_control_user {
	struct wfs_control_user *next; /* lock: the connection's */
	uid_t uid;
	const struct wfs_session *session; /* who the user is; NULL: nobody. Set once, then fixed */
	struct wfs_session *owned;         /* that, unless it is the mount's */
	struct wfs_buffer last;            /* lock: the connection's */
	bool operates; /* it is the operator: no bound of memory or open files applies; fixed */
	/* Lock for the following: the connection's. */
	size_t held_bytes; /* of memory, for its open files */
	size_t open_count;
	size_t late_count;                        /* releases under way that complete something */
	struct wfs_control_opening *late_waiting; /* opens of `last` that wait for them */
};

/* One open control file. */
struct wfs_control_open {
	struct wfs_control *control;
	struct wfs_control_user *user; /* that opened it: every request on it is theirs */
	const struct wfs_control_file *file;
	bool interruptible;                       /* calls end when the caller gives up waiting */
	int flags;                                /* of open(2) */
	pid_t pid;                                /* thread that opened, 0: unknown */
	pid_t tgid;                               /* its process, 0: unknown */
	fuse_ino_t ino;                           /* content: the inode, which nothing else has */
	char artifact_id[WFS_GRANT_NAME_MAX + 1]; /* content */
	struct wfs_control_open *previous, *next; /* all of them; lock: opens_mutex */
	struct wfs_control_op release;            /* here, so that it needs no memory to be done */
	/* Bytes of memory that the user is charged for. Lock for them: the connection's. */
	size_t input_bytes;  /* this struct, and what was written and is not a whole request yet */
	size_t output_bytes; /* answers, or what a file that is only read shows */
	size_t held_bytes;   /* both of these, and operations and values under way */

	pthread_mutex_t mutex;
	/* Lock for the following: mutex. */
	struct wfs_control_op *current;
	struct wfs_control_op *waiting;
	struct wfs_control_call *calls, **calls_tail; /* not put into `output` yet */
	unsigned int long_count;                      /* of these, calls that are long */
	struct wfs_control_call *starting;            /* is being started */
	struct wfs_control_call *retry;               /* to be started again, or in its turn */
	struct wfs_control_call *held; /* must see those before it, and waits for them */
	struct wfs_order order;        /* of calls that were begun */
	unsigned int in_flight;        /* calls not answered, and one for the submission itself */
	bool paused;                   /* the submission waits for answers */
	bool interrupted;              /* nobody waits for `current` any more */
	bool abandoned;                /* the mount goes: nobody waits for what takes long */
	int failure;                   /* of the first call of `current` that failed; 0: none */
	bool used;                     /* something was written, or the usage text given */
	bool overflowed;               /* answers were lost because nobody reads */
	struct wfs_buffer output;
	uint64_t delivered; /* bytes of `output` read already */
	uint64_t anchor;    /* file offset at which byte 0 of `output` is read */

	/* Used only by the thread that submits for `current`. */
	struct wfs_control_parser parser;
	size_t admitted_bytes; /* of memory, that its user is charged for: of the value being parsed */
	struct wfs_control_content content;
	struct wfs_blob_writer *writer;
	bool truncated;    /* bytes: opened empty, and nothing was written since */
	int stream_failed; /* bytes: -errno of the value that goes on being refused; 0: none */
	struct wfs_work_task task;
};

struct wfs_control {
	const struct wfs_session *session;
	struct wfs_host *host;
	bool allow_other;
	bool act;
	bool trusted;
	const struct wfs_peers *peers;
	uid_t uid; /* owner of every file */
	gid_t gid;
	struct timespec started; /* times of all files */
	bool permuted;           /* numbers of cells in node ids; settled when it begins */
	struct wfs_permutation numbers;
	_Atomic uint64_t node_count;
	struct wfs_fuse *fuse;
	struct wfs_work *pump; /* goes on submitting after a pause */
	struct wfs_work
		*long_values; /* submits what takes long to parse; of low priority: one thread */
	struct wfs_work *long_reads; /* queries of guests, of low priority: one thread */
	struct wfs_work *slow;

	pthread_mutex_t mutex;
	pthread_cond_t idle;
	/* Lock for the following: mutex. */
	bool closing;                   /* new operations are refused */
	size_t active_count;            /* operations and opens under way */
	struct wfs_control_user *users; /* the records stay until the connection ends */
	size_t user_count;
	size_t stranger_count;
	size_t guest_bytes; /* held for users who are not the operator */

	pthread_mutex_t opens_mutex;
	struct wfs_control_open *opens; /* lock: opens_mutex */
};

/** wfs_control_enter() - something is under way now. Return: 0, or -ENODEV when closing. */
int wfs_control_enter(struct wfs_control *control);
void wfs_control_leave(struct wfs_control *control);

/** wfs_control_late_end() - what was completed at release is answered: its user may read `last`. */
void wfs_control_late_end(struct wfs_control *control, struct wfs_control_user *user);

/** wfs_control_open_new() - @caller: thread and user that open
 *  Return: 0, -EACCES (the file cannot be opened this way, or by this user), -ENFILE, -ENOMEM. */
int wfs_control_open_new(struct wfs_control *control, const struct wfs_control_file *file,
	int flags, const struct fuse_ctx *caller, struct wfs_control_open **ret_open);

/* --- control-user.c --- */

/**
 * wfs_control_user_find() - the record of a user
 * @acts: it must be a principal; else its `last` says why it is none
 * Return: 0, -EACCES (it is none), -ENFILE (WFS_CONTROL_USERS_MAX), -ENOMEM, …
 */
int wfs_control_user_find(
	struct wfs_control *control, uid_t uid, bool acts, struct wfs_control_user **ret_user);

/** wfs_control_user_refuse() - put the answer to a request that failed with @error and @r into the
 *  user's `last`. */
void wfs_control_user_refuse(struct wfs_control *control, struct wfs_control_user *user,
	const struct wfs_error *error, int r);
void wfs_control_users_free(struct wfs_control *control);

/* --- control-memory.c --- */

/**
 * wfs_control_take() - charge the user of an open file for memory
 * One file alone has what it needs, up to the bounds of a request.
 * Return: 0, -EAGAIN (overloaded): nothing is charged.
 */
int wfs_control_take(struct wfs_control_open *open, size_t bytes, struct wfs_error *error);

/** wfs_control_give() - charge the user of an open file for @bytes less. */
void wfs_control_give(struct wfs_control_open *open, size_t bytes);

/** wfs_control_input() - charge for the input of an open file as it is now, whatever there is.
 *  Thread: the one that submits for `current`. */
void wfs_control_input(struct wfs_control_open *open);

/** wfs_control_output() - charge the user for the answers of an open file. Lock: open->mutex is
 *  held, or the open(2) that made @open is not answered yet.
 *  Return: false: its user has more than it may. */
bool wfs_control_output(struct wfs_control_open *open);

/** wfs_control_opened() - one more file of a user. Return: 0, -ENFILE (WFS_CONTROL_USER_OPENS_MAX). */
int wfs_control_opened(struct wfs_control_open *open);

/** wfs_control_closed() - an open file ends: its user is charged for nothing of it any more. */
void wfs_control_closed(struct wfs_control_open *open);

/** wfs_control_open_free() - also takes it off the connection's list; accepts NULL. */
void wfs_control_open_free(struct wfs_control_open *open);

/* --- control-open.c: the operations of FUSE on open files --- */

void wfs_control_fuse_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info);
void wfs_control_fuse_read(
	fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *info);
void wfs_control_fuse_write(fuse_req_t request, fuse_ino_t ino, const char *data, size_t size,
	off_t offset, struct fuse_file_info *info);
void wfs_control_fuse_flush(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info);
void wfs_control_fuse_fsync(
	fuse_req_t request, fuse_ino_t ino, int datasync, struct fuse_file_info *info);
void wfs_control_fuse_release(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info);

void wfs_control_fuse_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *info);
void wfs_control_fuse_truncate(
	fuse_req_t request, fuse_ino_t ino, uint64_t size, const struct fuse_file_info *info);

/* --- control.c --- */

/* Node id of the directory of artifacts. */
enum { WFS_CONTROL_ARTIFACTS_INO = 255 };

/** wfs_control_file_find() - the file that a node id stands for; NULL for a directory. */
const struct wfs_control_file *wfs_control_file_find(fuse_ino_t ino);

/** wfs_control_new_artifact_ino() - a node id for a file of an artifact. @number: of its cell, or 0 */
fuse_ino_t wfs_control_new_artifact_ino(struct wfs_control *control, uint64_t number);

/** wfs_control_artifact_number() - the number that it was made with. */
uint64_t wfs_control_artifact_number(const struct wfs_control *control, fuse_ino_t ino);

/** wfs_control_entry() - an entry that is not cached. */
void wfs_control_entry(
	const struct wfs_control *control, fuse_ino_t ino, struct fuse_entry_param *ret_entry);

/** wfs_control_reply_attr() - answer with the attributes of a node. */
void wfs_control_reply_attr(fuse_req_t request, fuse_ino_t ino);

/* --- control-op.c --- */

/** wfs_control_begin() - do @op now or when it is its turn; takes it, replies to it. That of a
 *  release is a part of @open, which ends with it. */
void wfs_control_begin(struct wfs_control_open *open, struct wfs_control_op *op);

/** wfs_control_call_new() - an empty call at the end of the answers of @open; counts as in
 *  flight. Return: NULL without memory (the operation under way fails with it). */
struct wfs_control_call *wfs_control_call_new(struct wfs_control_open *open);

/** wfs_control_refuse() - answer @call with an error that was found here. */
void wfs_control_refuse(struct wfs_control_call *call, int r);

/**
 * wfs_control_call_start() - start the verb of the file with call->payload
 * Return: false when the world's queue was full, or when calls before this one must end first: it is started
 *         later, and nothing else before it.
 */
bool wfs_control_call_start(struct wfs_control_open *open, struct wfs_control_call *call);

/** wfs_control_abandon() - nobody waits for what is under way, or comes: what can be ended is. */
void wfs_control_abandon(struct wfs_control_open *open);

/** wfs_control_submitted() - nothing more is started for the operation under way. */
void wfs_control_submitted(struct wfs_control_open *open);

/* --- control-answer.c --- */

/** wfs_control_render() - append the answer of a call as a control file shows it. */
void wfs_control_render(const struct wfs_call *call, struct wfs_buffer *buffer);

/** wfs_control_deliver() - what a read at @offset gets; caller frees. Lock: open->mutex is held.
 *  Return: bytes in @ret_data, or -ENOMEM. */
ssize_t wfs_control_deliver(
	struct wfs_control_open *open, uint64_t offset, size_t size, char **ret_data);

/** wfs_control_moved() - a write of @size bytes at @offset moves the file position and drops
 *  what was read. Lock: open->mutex is held. */
void wfs_control_moved(struct wfs_control_open *open, uint64_t offset, size_t size);

/* --- control-blob.c --- */

/** wfs_control_blob_write() - bytes of the blob under way; ends with wfs_control_submitted. */
void wfs_control_blob_write(struct wfs_control_open *open, const void *data, size_t size);

/** wfs_control_blob_end() - complete it on another thread; ends with wfs_control_submitted. */
void wfs_control_blob_end(struct wfs_control_open *open);

/* --- control-artifact.c --- */

/** wfs_control_artifact_find() - the number of one that is seen. Return: 0, -ENOENT, … */
int wfs_control_artifact_find(
	const struct wfs_session *session, const char *name, uint64_t *ret_number);

/** wfs_control_artifact_id() - the id of the one of this number, if it is seen. @ret_id: of
 *  WFS_GRANT_NAME_MAX bytes and a NUL. Return: as above. */
int wfs_control_artifact_id(const struct wfs_session *session, uint64_t number, char *ret_id);

/** wfs_control_artifact_change() - a write or a truncation; ends with wfs_control_submitted. */
void wfs_control_artifact_change(struct wfs_control_open *open, const struct wfs_control_op *op);

/** wfs_control_artifact_may_take() - may the content be taken now that the thread @pid, of the
 *  opener, has closed a descriptor? Otherwise it waits for the next close, or the release. */
bool wfs_control_artifact_may_take(const struct wfs_control_open *open, pid_t pid);

/** wfs_control_artifact_end() - write the artifact; ends with wfs_control_submitted. */
void wfs_control_artifact_end(struct wfs_control_open *open);

/* --- control-client.c --- */

/** wfs_control_process() - the process of a thread; 0 when it cannot be told. */
pid_t wfs_control_process(pid_t thread);

/** wfs_control_holds() - has the process of a thread a descriptor of a file with this inode number?
 *  Return: 1, 0, or -errno when it cannot be told: -EMFILE, -ENFILE and -ENOMEM for a reason of
 *  ours, others for one of its. */
int wfs_control_holds(pid_t thread, uint64_t ino);

/** wfs_control_killed() - is this thread being ended by a signal? */
bool wfs_control_killed(pid_t thread);
