/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs: the requests that programs can make, one table for all of them.
 *
 * The control socket, the control files, and the command line without an owner all start calls
 * here, so a request means the same wherever it comes from. A call is one run of a verb: it reads
 * its payload, asks the session, and gives a result document, or an error with meta.
 * Source: worldfs-control(5), whose list of verbs is made from the table in fs/verb/verb-table.c.
 */
#pragma once

#include <jansson.h>

#include "caps/drive.h"
#include "caps/session-act.h"
#include "fs/mount/handover.h"

/* Bytes of a blob that one blob-get gives, or one put-blob takes. Larger ones go through fs-read,
 * and through the control file put-blob. */
enum { WFS_VERB_BLOB_MAX = 11 << 20 };

struct wfs_call;

/* A mount that another process made, and that the owner will serve. Option struct: plain value. */
struct wfs_mount_options {
	/* `directory` and `ctl` come from the process that mounted: absolute paths in its mount
	 * namespace. The owner neither opens nor unmounts these paths, but with `here` a child of
	 * the owner lists `directory`. */
	const char *directory;
	const char *ctl; /* mount point of the control files; the tree's link `ctl` leads there */
	const char *principal;
	bool allow_other;
	bool act;      /* other users act as the principal, too */
	bool nest_ctl; /* the control connection is mounted inside, at DIR/ctl */
	bool here;     /* the process that mounted has the owner's user and mount namespace, so
			* that a child of the owner may list `directory` */
	bool trusted;  /* the operator or the owner itself mounted, in the owner's user
			* namespace, so that the owner believes the uids in the mount's requests */
	uid_t uid;     /* user that mounted, as the mount's requests number it; owns all files */
	gid_t gid;
	struct wfs_handed handed; /* taken, also when an error is returned */
};

/* Figures of a node of a replicated world, for the verb `metrics`. Plain value. */
struct wfs_replica_figures {
	const char *role; /* static: one of `role` of the verb `replicas` */
	uint64_t epoch;
	uint64_t height;        /* of the node's world, as its mounts show it */
	uint64_t lag_records;   /* by which this is behind the log */
	uint64_t lease_ms;      /* how long the node's lease goes on; 0: it has none */
	uint64_t waiting;       /* requests that are not answered yet */
	uint64_t relayed_total; /* requests that were given to the owner, which was another node */
	uint64_t unknown_total; /* requests of which nobody knows whether they were done */
};

/* Functions of the program for verbs, beside the session (mounting, shutting down). */
struct wfs_host {
	/* Serve a mount. @mount: mount->handed is taken, also on failure; its texts are borrowed
	 * until this returns. Called on the thread that started the call of the verb. Return: 0 or
	 * -errno with @error. */
	int (*mount)(
		struct wfs_host *host, struct wfs_mount_options *mount, struct wfs_error *error);
	/* Unmount the mount that was made on @directory. Return: 0 or -errno with @error. */
	int (*umount)(struct wfs_host *host, const char *directory, struct wfs_error *error);
	/* Begin to end the owner, and return without waiting for its end. */
	void (*shutdown)(struct wfs_host *host);
	/* Add facts that only the host knows (mounts, pid) to the status document. */
	void (*status)(struct wfs_host *host, json_t *status);
	/* Of a replicated world, otherwise NULL: the answer of the verb `replicas`. Return: a new
	 * reference, or NULL without memory. */
	json_t *(*replicas)(struct wfs_host *host);
	/* Likewise: get figures for `metrics`. */
	void (*figures)(struct wfs_host *host, struct wfs_replica_figures *ret_figures);
	/* Likewise: wfs_node_handover() (fs/replica/node.h). */
	int (*handover)(struct wfs_host *host, const char *to, struct wfs_error *error);
	/* Of a replicated world, otherwise NULL: have the node that owns the world do a call that
	 * changes something. @verb: its name; the payload was checked. Return: true: the call is
	 * taken, and will be finished; false: it is to be done here. */
	bool (*relay)(struct wfs_host *host, struct wfs_call *call, const char *verb);
	/* Likewise: does this node own the world? */
	bool (*owns)(struct wfs_host *host);
	/* Likewise: have all calls that the function above has taken finished soon. */
	void (*cease)(struct wfs_host *host);
	struct wfs_relay *relayer; /* private to fs/relay */
	struct wfs_driver *driver; /* of turns and plans; NULL: none */
	bool quiet; /* nothing is logged of refusals, because users see the answers */
};

/* The process that asks. Plain value. */
struct wfs_caller {
	uid_t uid;
	gid_t gid;
	bool here;        /* it has our user and our mount namespace */
	bool shares_uids; /* it is in our user namespace; false: it is not, or this is not known */
};

/* One call. The caller zero-initialises it, sets the first members, starts it, and reads the rest
 * in `done`. */
struct wfs_call {
	const struct wfs_session *session;
	struct wfs_host *host;     /* NULL: verbs that need one are not_enabled */
	struct wfs_driver *driver; /* of turns and plans; NULL: that of `host` */
	json_t *payload;           /* an object, or NULL for {}; owned, released by wfs_call_done */
	const struct wfs_caller
		*caller;          /* at the other end of the control socket; NULL elsewhere */
	struct wfs_handed handed; /* sent with the request; owned if `handed_count` is not 0 */
	unsigned int handed_count;
	struct wfs_called_by
		called_by; /* the tool call of a turn that this request is made for; zero: none */
	void (*done)(struct wfs_call
			*call); /* exactly once; on the starting, publisher or driver's thread */
	void *context;
	/* Of a replicated world: what the record of the request has as its id; such a call is done
	 * here. Borrowed; NULL: none */
	const char *id;

	int status;     /* 0 or -errno */
	json_t *result; /* owned; when status is 0 */
	struct wfs_error error;
	json_t *error_details; /* of an error; owned, may be NULL */
	json_t *meta; /* {journal_height, snapshot_hash?, manifest_hash}; owned, may be NULL */

	/* the caller has no principal: errors say nothing about the world */
	bool stranger;
	const struct wfs_form *answer; /* private: of the result; NULL: not known */
	enum wfs_effect effect;        /* private */
	atomic_bool gone;           /* private; the caller has gone: what is not begun is dropped */
	struct wfs_request request; /* private to verbs that change something */
	struct wfs_drive drive;     /* private to verbs that ask the driver */
};

/** wfs_call_start() - begin to run the verb with the name @verb for @call, whose `done` reports the
 *  end, also of a call that fails at once, such as one of an unknown verb (unknown_method).
 *  @call: must live until `done` is called, which may be before this function returns */
void wfs_call_start(struct wfs_call *call, const char *verb);

/** wfs_call_abandon() - end a call as early as possible, because its caller has gone
 *  `done` is still called. The function may be called until `done` has returned. */
void wfs_call_abandon(struct wfs_call *call);

/** wfs_verb_drives() - does the verb with this name make agents or plans run, or ask outside
 *  servers, so that it needs a driver? */
bool wfs_verb_drives(const char *verb);

/** wfs_verb_interruptible() - does wfs_call_abandon() also end a call of this verb that has
 *  begun? */
bool wfs_verb_interruptible(const char *verb);

/** wfs_call_done() - release what the call owns, but not the struct itself. */
void wfs_call_done(struct wfs_call *call);

/** wfs_call_envelope() - make the answer as the control socket sends it: {"ok":true,"result":…} or
 *  {"error":{category,code,details?,message,retriable},"meta"?:…,"ok":false}
 *  @id: of the request; becomes the member `id`; NULL: none
 *  Return: new reference, or NULL without memory. */
json_t *wfs_call_envelope(const struct wfs_call *call, const char *id);

/** wfs_verb_takes_long() - would a call of @verb with this payload be a query, or run code, so that
 *  it may take seconds? @payload: NULL: {} */
bool wfs_verb_takes_long(const char *verb, const json_t *payload);

/** wfs_verb_slow() - may a call of @verb with this payload work or wait so long (a query, a blob, a
 *  mount, or a change of the whole world such as a snapshot) that it must be started on a thread
 *  that may wait? False for an unknown verb. @payload: NULL: {} */
bool wfs_verb_slow(const char *verb, const json_t *payload);

/**
 * wfs_verb_reads_long() - may a call of @verb with this payload read for so long that it must not
 * keep other calls waiting? True for some files (wfs_tree_takes_long() in fs/tree/tree.h), and for
 * queries of a guest, which may look at any number of cells
 * @payload: NULL: {}
 * @guest: the client is not the operator
 */
bool wfs_verb_reads_long(const char *verb, const json_t *payload, bool guest);

/*
 * For code that ends a call without a verb (a blob that was streamed, a server that stops).
 */

/** wfs_verb_finish() - end a call: set call->status, and call call->done, which may free @call
 *  @r: 0: call->result is set, and gets call->meta, if any, as its member `meta`; or -errno: the
 *  result is dropped, call->error is filled if it is not, and call->meta, if it is NULL, with that
 *  of the head; but it becomes NULL if the caller may query nothing */
void wfs_verb_finish(struct wfs_call *call, int r);
