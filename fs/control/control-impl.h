/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/control/: the table of control files, open files, and operations on them.
 *
 * Each open file does one operation (write, read, flush) at a time; others wait in line. An
 * operation may start many calls (runs of verbs), and is answered when all of these are. The last
 * answer to a user is kept as its `last`, which the file ctl/last shows. No lock is held while a
 * verb is started or a reply is sent. Nothing touches an operation after its reply, because Linux
 * may then release the file.
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
#include "kernel/base/permutation.h"
#include "kernel/manifest/grant.h"

/* Bounds. */
enum {
	WFS_CONTROL_THREADS = 4,           /* that serve FUSE requests */
	WFS_CONTROL_SLOW_THREADS = 4,      /* that run slow verbs and finish blobs */
	WFS_CONTROL_PARSE_MAX = 256 << 10, /* bytes of a value; longer: another thread parses it */
	WFS_CONTROL_IN_FLIGHT_MAX = 1024,  /* unanswered calls of one operation */
	WFS_CONTROL_UNREAD_MAX = 16 << 20, /* bytes of unread answers */
	WFS_CONTROL_USERS_MAX = 1024,      /* of one mount; one more gets ENFILE */
	WFS_CONTROL_STRANGERS_MAX = 512,   /* without a principal: a person may have 65,536 uids */
	/* Bytes of memory for open files. A guest is a user that is not the operator. If all other
	 * guests together have at most WFS_CONTROL_USER_BYTES_FEW, the bound of
	 * WFS_CONTROL_GUEST_BYTES_MAX does not hold for this one. */
	WFS_CONTROL_USER_BYTES_MAX = 128 << 20,  /* all files of one guest */
	WFS_CONTROL_USER_BYTES_FEW = 4 << 20,    /* all files of one guest: never refused */
	WFS_CONTROL_FILE_BYTES_MAX = 224 << 20,  /* one file, if the guest's other files have few */
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
	WFS_CONTROL_TEXT,     /* read: the member `text` of a verb's result */
	WFS_CONTROL_LAST,     /* read: the last answer to the user that opens it */
	WFS_CONTROL_CONTENT,  /* written: an artifact's whole content, ended by close; not read */
};

/* One control file: a row of the table, static lifetime. */
struct wfs_control_file {
	const char *name;
	const char *verb; /* NULL: no verb */
	enum wfs_control_kind kind;
	const char *member; /* the payload is {member: value}; NULL: the payload is the value */
	const char *word;   /* a written text becomes {word: text}; NULL: a text is an error */
	bool empty_line;    /* an empty line is a request without payload */
	const char *help;   /* what a read before any write gives */
};

extern const struct wfs_control_file wfs_control_files[];
extern const size_t wfs_control_file_count;

/* The file of each artifact, in the directory of this name. */
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
	bool counted;              /* in `order` of the open file; lock: the open file's */
	json_t *payload;           /* owned; kept for starting the call again */
	struct wfs_upload *upload; /* owned; its bytes must outlive the request */
	/* of a blob that another node stores: the `done` of the call before */
	void (*answered_by)(struct wfs_call *call);
	size_t parsed_bytes; /* memory for `payload` that the user is charged for */
	bool is_long;        /* takes long to parse and to free; lock: the open file's */
	bool takes_long;     /* a query, or code that runs; lock: the open file's */
	struct wfs_work_task task;
	struct wfs_call call;
};

enum wfs_control_op_kind {
	WFS_CONTROL_WRITE,
	WFS_CONTROL_READ,
	WFS_CONTROL_FLUSH,
	WFS_CONTROL_TRUNCATE, /* of a WFS_CONTROL_CONTENT */
	WFS_CONTROL_RELEASE,  /* completes what close(2) has not completed; without a reply */
};

/* One operation on an open file. */
struct wfs_control_op {
	struct wfs_control_op *next; /* waiting in line; lock: the open file's */
	enum wfs_control_op_kind kind;
	fuse_req_t request;
	pid_t pid;       /* thread of the client */
	fuse_ino_t ino;  /* truncate */
	uint64_t offset; /* write, read; truncate: the new size */
	size_t size;     /* write: bytes that came; read: bytes wanted */
	char *data;      /* write: the bytes, in the memory of this struct, after it */
	size_t copied;   /* write: bytes of memory that the user is charged for */
};

/* A user of the connection, found by uid and principal: a user to whom host.json, when it is read
 * again, gives another principal gets another struct. */
struct wfs_control_user {
	struct wfs_control_user *next; /* lock: the connection's */
	uid_t uid;
	char principal[WFS_GRANT_NAME_MAX + 1]; /* "": none; fixed */
	const struct wfs_session *session; /* of its principal; NULL: none. Set once, then fixed */
	struct wfs_session *owned;         /* `session`, unless it is the mount's */
	struct wfs_buffer last;            /* lock: the connection's */
	bool operates; /* the user is the operator: no bounds of memory and open files; fixed */
	/* Lock for the following: the connection's. */
	size_t held_bytes; /* memory for its open files */
	size_t open_count;
	size_t late_count;                        /* releases that are still completing something */
	struct wfs_control_opening *late_waiting; /* opens of `last` that wait for them */
};

/* One open control file. */
struct wfs_control_open {
	struct wfs_control *control;
	struct wfs_control_user *user; /* that opened it; all requests on it are this user's */
	const struct wfs_control_file *file;
	bool interruptible; /* a signal to the client ends its calls */
	int flags;          /* of open(2) */
	pid_t pid;          /* thread that opened, 0: unknown */
	pid_t tgid;         /* its process, 0: unknown */
	fuse_ino_t ino;     /* content: the inode, which no other open file has */
	char artifact_id[WFS_GRANT_NAME_MAX + 1]; /* content */
	struct wfs_control_open *previous, *next; /* list of all open files; lock: opens_mutex */
	struct wfs_control_op release;            /* here, so that a release needs no memory */
	/* Bytes of memory that the user is charged for. Lock for them: the connection's. */
	size_t input_bytes;  /* this struct, and written bytes that are not a whole request yet */
	size_t output_bytes; /* answers, or what a file that is only read shows */
	size_t held_bytes;   /* both of these, and operations and values under way */

	pthread_mutex_t mutex;
	/* Lock for the following: mutex. */
	struct wfs_control_op *current;
	struct wfs_control_op *waiting;
	struct wfs_control_call *calls, **calls_tail; /* whose answers are not in `output` yet */
	unsigned int long_count;                      /* how many of these have `is_long` */
	struct wfs_control_call *starting;            /* being started */
	struct wfs_control_call *retry;               /* to be started again later */
	struct wfs_control_call *held; /* waits for earlier calls, whose effects it must see */
	struct wfs_order order;        /* of calls that have begun */
	unsigned int in_flight; /* unanswered calls, and 1 while the operation is submitting */
	bool paused;            /* the submission waits for answers */
	bool interrupted;       /* no client waits for `current` any more */
	bool abandoned;         /* the mount is ending: calls with `takes_long` are ended */
	int failure;            /* -errno of the first failed call of `current`; 0: none */
	bool used;              /* something was written, or the usage text given */
	bool overflowed;        /* answers were dropped because too many were unread */
	struct wfs_buffer output;
	uint64_t delivered; /* bytes of `output` that were read */
	uint64_t anchor;    /* file offset at which byte 0 of `output` is read */

	/* Used only by the thread that submits for `current`. */
	struct wfs_control_parser parser;
	size_t admitted_bytes; /* charged memory for the value being parsed */
	struct wfs_control_content content;
	struct wfs_upload *upload;
	bool truncated;    /* bytes: opened empty, and nothing was written since */
	int stream_failed; /* bytes: -errno of the blob that is being refused; 0: none */
	struct wfs_work_task task;
};

struct wfs_control {
	const struct wfs_session *session;
	struct wfs_host *host;
	bool allow_other;
	bool act;
	bool trusted;
	struct wfs_peers *peers;
	uid_t uid; /* owner of every file */
	gid_t gid;
	struct timespec started; /* times of all files */
	bool permuted;           /* cell numbers in node ids are permuted; fixed from the start */
	struct wfs_permutation numbers;
	_Atomic uint64_t node_count;
	struct wfs_fuse *fuse;
	struct wfs_work *pump; /* continues submitting after a pause */
	struct wfs_work
		*long_values; /* submits values that take long to parse; low priority, one thread */
	struct wfs_work *long_reads; /* queries of guests; low priority, one thread */
	struct wfs_work *slow;

	pthread_mutex_t mutex;
	pthread_cond_t idle;
	/* Lock for the following: mutex. */
	bool closing;                   /* new operations are refused */
	size_t active_count;            /* unfinished operations and opens */
	struct wfs_control_user *users; /* kept until the connection ends */
	size_t user_count;
	size_t stranger_count;
	size_t guest_bytes; /* memory held for guests */

	pthread_mutex_t opens_mutex;
	struct wfs_control_open *opens; /* lock: opens_mutex */
};

/** wfs_control_enter() - count one more unfinished operation, for which the end of the connection
 *  waits. Return: 0, or -ENODEV (the connection is ending). */
int wfs_control_enter(struct wfs_control *control);
/** wfs_control_leave() - undo wfs_control_enter(). */
void wfs_control_leave(struct wfs_control *control);

/** wfs_control_late_end() - note that a release of a file of @user has completed what it had to
 *  send. When no other release of this user has something to complete, the user's opens of `last`
 *  that wait for releases continue. */
void wfs_control_late_end(struct wfs_control *control, struct wfs_control_user *user);

/** wfs_control_open_new() - make the struct of an open file, count it (wfs_control_opened()), and
 *  put it on the connection's list. @flags: of open(2); @caller: thread and user that open the
 *  file; @ret_open: set on success; caller frees it with wfs_control_open_free()
 *  Return: 0, -EACCES (the file cannot be opened this way, or by this user), -ENFILE (too many
 *  users, or open files of this user), -ENOMEM, … */
int wfs_control_open_new(struct wfs_control *control, const struct wfs_control_file *file,
	int flags, const struct fuse_ctx *caller, struct wfs_control_open **ret_open);

/* --- control-user.c --- */

/** wfs_control_user_find() - find or make the struct of the user @uid
 *  @acts: true: the user must be a principal, and gets a session; if that fails, the user's `last`
 *         gets the reason; false: the user need not be a principal, and gets no session
 *  @ret_user: borrowed until the connection ends; unchanged on failure
 *  Return: 0, -EACCES (@acts, and the user is not a principal), -ENFILE (the connection has
 *  WFS_CONTROL_USERS_MAX users, or WFS_CONTROL_STRANGERS_MAX that are not principals, and this is
 *  one), -ENOMEM, … */
int wfs_control_user_find(
	struct wfs_control *control, uid_t uid, bool acts, struct wfs_control_user **ret_user);

/** wfs_control_user_refuse() - put @error, of a failed request, into the user's `last`. @r: the
 *  -errno of the failure */
void wfs_control_user_refuse(struct wfs_control *control, struct wfs_control_user *user,
	const struct wfs_error *error, int r);
void wfs_control_users_free(struct wfs_control *control);

/* --- control-memory.c --- */

/** wfs_control_take() - charge the user of an open file for @bytes more of memory
 *  If the user's other open files take little memory, this file may get more than the user's share,
 *  up to WFS_CONTROL_FILE_BYTES_MAX.
 *  Return: 0; -EAGAIN (overloaded: the user, or all guests together, would have more than they
 *  may): nothing is charged. */
int wfs_control_take(struct wfs_control_open *open, size_t bytes, struct wfs_error *error);

/** wfs_control_give() - undo wfs_control_take() for @bytes of memory of an open file. */
void wfs_control_give(struct wfs_control_open *open, size_t bytes);

/** wfs_control_input() - charge the user of an open file for the memory that the file's input takes
 *  now, in place of the earlier charge for input, even if the user then has more than it may.
 *  Thread: the one that submits for open->current. */
void wfs_control_input(struct wfs_control_open *open);

/** wfs_control_output() - charge the user of an open file for the memory of the answers that the
 *  file has now, in place of the earlier charge for answers
 *  Lock: open->mutex is held, or the open(2) that made @open is not answered yet.
 *  Return: false: the user has more than it may; it is charged all the same. */
bool wfs_control_output(struct wfs_control_open *open);

/** wfs_control_opened() - count @open as one more open file of its user.
 *  Return: 0, -ENFILE (the user, a guest, has WFS_CONTROL_USER_OPENS_MAX open files). */
int wfs_control_opened(struct wfs_control_open *open);

/** wfs_control_closed() - undo wfs_control_opened(), and take back all charges for memory of
 *  @open. */
void wfs_control_closed(struct wfs_control_open *open);

/** wfs_control_open_free() - free an open file, take it off the connection's list, and undo its
 *  counts and charges (wfs_control_closed()); accepts NULL. */
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

/** wfs_control_file_find() - find the row of the control file with the node id @ino. Return: NULL:
 *  this is the node id of a directory. */
const struct wfs_control_file *wfs_control_file_find(fuse_ino_t ino);

/** wfs_control_new_artifact_ino() - make a new node id for the file of an artifact. @number: of the
 *  artifact's cell, by which the artifact is found; 0: no artifact has the file's name yet */
fuse_ino_t wfs_control_new_artifact_ino(struct wfs_control *control, uint64_t number);

/** wfs_control_artifact_number() - get the number from which wfs_control_new_artifact_ino() made
 *  the node id @ino. */
uint64_t wfs_control_artifact_number(const struct wfs_control *control, fuse_ino_t ino);

/** wfs_control_entry() - make the reply to a look-up of the node @ino, which Linux must not
 *  cache. */
void wfs_control_entry(
	const struct wfs_control *control, fuse_ino_t ino, struct fuse_entry_param *ret_entry);

/** wfs_control_reply_attr() - reply to @request with the attributes of the node @ino. */
void wfs_control_reply_attr(fuse_req_t request, fuse_ino_t ino);

/* --- control-op.c --- */

/** wfs_control_begin() - do @op, now or after the operations of @open that came earlier, and reply
 *  to op->request. @op: allocated by the caller with malloc(3), and taken; but a release is
 *  &open->release, has no reply, and frees @open at its end */
void wfs_control_begin(struct wfs_control_open *open, struct wfs_control_op *op);

/** wfs_control_call_new() - append an empty call, which counts as in flight, to those of @open.
 *  Return: the call, owned by @open; NULL without memory (the current operation then fails). */
struct wfs_control_call *wfs_control_call_new(struct wfs_control_open *open);

/** wfs_control_refuse() - end @call, which was not started, with the status @r, a negative errno,
 *  and call->call.error or, if that is not set, the error for @r. */
void wfs_control_refuse(struct wfs_control_call *call, int r);

/** wfs_control_call_start() - start the verb of the file with call->payload
 *  Return: false: the world's queue is full, or earlier calls must end before this one begins. This
 *  module then starts @call later, and the caller must start no other call. */
bool wfs_control_call_start(struct wfs_control_open *open, struct wfs_control_call *call);

/** wfs_control_abandon() - end calls of an open file, because the mount is ending: all calls if
 *  open->interruptible; otherwise queries, and those that take long (wfs_verb_takes_long() in
 *  fs/verb/verb.h) and have not begun. */
void wfs_control_abandon(struct wfs_control_open *open);

/** wfs_control_submitted() - note that the operation open->current starts no more calls: the reply
 *  to the operation is sent when all of its calls are answered, maybe before this returns. @open
 *  must not be used afterwards. */
void wfs_control_submitted(struct wfs_control_open *open);

/* --- control-answer.c --- */

/** wfs_control_render() - append the answer of a call to @buffer, as one line: the result; after a
 *  failure, what wfs_call_envelope() (fs/verb/verb.h) makes; but after a failure of a turn or chat
 *  that has details, these details, which have an `error` of their own, with `meta` added. Without
 *  memory, @buffer becomes failed. */
void wfs_control_render(const struct wfs_call *call, struct wfs_buffer *buffer);

/** wfs_control_deliver() - read up to @size bytes of answers at the file offset @offset; of a file
 *  that can be written, but was not yet, of the help text. @ret_data: caller frees it with free();
 *  set only if the answer is above 0
 *  Lock: open->mutex is held. Return: number of bytes in @ret_data, 0 (no more answers), or
 *  -ENOMEM. */
ssize_t wfs_control_deliver(
	struct wfs_control_open *open, uint64_t offset, size_t size, char **ret_data);

/** wfs_control_moved() - note that a write of @size bytes at the file offset @offset has moved the
 *  file position, and drop answers that were read. Lock: open->mutex is held. */
void wfs_control_moved(struct wfs_control_open *open, uint64_t offset, size_t size);

/* --- control-blob.c --- */

/** wfs_control_blob_write() - append the @size bytes at @data, which are copied, to the blob that
 *  is being written to @open, and call wfs_control_submitted(). A failure becomes an answer of
 *  @open. */
void wfs_control_blob_write(struct wfs_control_open *open, const void *data, size_t size);

/** wfs_control_blob_end() - have another thread store the blob that was written to @open (an empty
 *  one if nothing was), and then call wfs_control_submitted(). A failure becomes an answer of
 *  @open. */
void wfs_control_blob_end(struct wfs_control_open *open);

/* --- control-artifact.c --- */

/** wfs_control_artifact_find() - find the number of the cell of an artifact that the session sees.
 *  @name: file name of the artifact. Return: 0, -ENOENT (no such artifact, or the session does not
 *  see it), … */
int wfs_control_artifact_find(
	const struct wfs_session *session, const char *name, uint64_t *ret_number);

/** wfs_control_artifact_id() - find the id of the artifact whose cell has this number, if the
 *  session sees it. @ret_id: buffer of WFS_GRANT_NAME_MAX bytes and a NUL
 *  Return: 0, -ENOENT (no such artifact, or the session does not see it), … */
int wfs_control_artifact_id(const struct wfs_session *session, uint64_t number, char *ret_id);

/** wfs_control_artifact_change() - apply @op, a write or a truncation, to the content that @open
 *  collects, and call wfs_control_submitted(). A failure becomes an answer of @open. */
void wfs_control_artifact_change(struct wfs_control_open *open, const struct wfs_control_op *op);

/** wfs_control_artifact_may_take() - is the content complete, now that @pid, a thread of the
 *  process that opened the file, has closed a descriptor of it? If not, the content is sent at a
 *  later close, or at the release. */
bool wfs_control_artifact_may_take(const struct wfs_control_open *open, pid_t pid);

/** wfs_control_artifact_end() - send the content that @open has collected as an action, and call
 *  wfs_control_submitted(); if the world's queue is full, both happen later, on another thread. A
 *  failure becomes an answer of @open. */
void wfs_control_artifact_end(struct wfs_control_open *open);

/* --- control-client.c --- */

/** wfs_control_process() - find the id of the process to which the thread with the id @thread
 *  belongs; 0: unknown. */
pid_t wfs_control_process(pid_t thread);

/** wfs_control_holds() - has the process of @thread a descriptor of the control file with this
 *  inode number?
 *  Return: 1, 0, or -errno if that cannot be found out: -EMFILE, -ENFILE or -ENOMEM because this
 *  process lacks descriptors or memory, another one because the process of @thread cannot be
 *  examined. */
int wfs_control_holds(pid_t thread, uint64_t ino);

/** wfs_control_killed() - is Linux ending @thread because of a signal? */
bool wfs_control_killed(pid_t thread);
