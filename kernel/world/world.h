/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: one directory with its store, and the one thread that changes it.
 *
 * Changing: a request waits in the bounded queue of its principal. The kernel thread gives all principals equal shares
 * of its time (writer-queue.c has the order). It takes a batch of requests, folds one after the other, commits all
 * of them as one transaction, and hands the batch to the publisher thread. That tells the observers (mounts drop what
 * they cached), and only then answers the requests. So a client that got an answer sees the change everywhere. A request
 * that fails has changed nothing. Reading: view.h; readers never wait for either thread.
 * Source: docs/design.md §7.
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/error.h"
#include "kernel/base/permutation.h"
#include "kernel/base/problems.h"
#include "kernel/fold/change.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source.h"
#include "kernel/read/record.h"
#include "kernel/read/view.h"
#include "kernel/store/blob.h"

struct wfs_gc_step;
struct wfs_genesis;
struct writer_queue;
struct wfs_judge;
struct wfs_texts;
struct wfs_world;

enum {
	WFS_QUEUE_COUNT_MAX = 16384,               /* requests not answered yet */
	WFS_QUEUE_BYTES_MAX = 256 << 20,           /* bytes of their bodies and parsed values */
	WFS_QUEUE_PRINCIPAL_COUNT_MAX = 8192,      /* of them, those of one principal */
	WFS_QUEUE_PRINCIPAL_BYTES_MAX = 128 << 20, /* and their bytes */
	/* When the queues are full, so many more requests and bytes are taken, from principals that have fewer than
	 * WFS_QUEUE_FEW_COUNT requests, and with the new one at most WFS_QUEUE_FEW_BYTES, unanswered. */
	WFS_QUEUE_SPARE_COUNT = 1024,
	WFS_QUEUE_SPARE_BYTES = 16 << 20,
	WFS_QUEUE_FEW_COUNT = 16,
	WFS_QUEUE_FEW_BYTES = 1 << 20,
	WFS_PUT_BACK_MAX =
		8, /* how often one request gives way to urgent ones of principals that do not administer */
	WFS_REQUEST_SIZE_MAX = 16 << 20, /* bytes of one request */
	WFS_REASON_MAX = 1024,           /* bytes of the reason of a manifest */
	WFS_OPEN_WAIT_MS = 5000,         /* how long another command's lock is waited for */
};

/* Option struct: plain value. */
struct wfs_world_options {
	bool read_only; /* no lock, no threads; may run beside the owner */
	bool written_here; /* this process made it: its pages are not walked before the first row is read */
	bool walk_pages;               /* they are walked also if this user closed the world last */
	struct wfs_problems *problems; /* gets all that is wrong with the pages; may be NULL */
	uint32_t wait_ms;              /* how long to wait for the lock before `busy` */
	uint64_t map_size_bytes;       /* 0: default */
	/* Time of new records; NULL: the host's clock. Tests and replay set it. */
	int64_t (*clock_ns)(void *context);
	void *clock_context;
};

/**
 * wfs_world_create() - make a world in @directory from a loaded source
 *
 * The directory is made when it is missing and must be empty otherwise. Everything is built under
 * a temporary name first, so nothing is created when anything fails.
 * @problems: gets what is wrong with the manifest, or with artifacts. When it is not empty to begin
 *            with, this is only looked for, and nothing is created.
 * Return: 0, -EEXIST (already_exists), -EINVAL (with @problems), -ENOSPC, …
 */
int wfs_world_create(const char *directory, const struct wfs_source *source,
	const struct wfs_world_options *options, struct wfs_problems *problems,
	struct wfs_error *error);

/**
 * wfs_world_open() - open a world and own it
 * Return: 0, -ENOENT (not_found), -EBUSY (busy: names the owner's pid), -EINVAL (format_older, format_newer),
 *         -EIO (hash_mismatch: the head record does not hash), …
 */
int wfs_world_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_world **ret_world, struct wfs_error *error);

/**
 * wfs_world_end_code() - have no code run any more from @delay_ms on, because the world is going to be closed
 * Requests that need code then fail with the code cancelled (-EINTR), the one under way too.
 */
void wfs_world_end_code(struct wfs_world *world, unsigned int delay_ms);

/** wfs_world_close() - answer what is queued, then stop both threads; accepts NULL. */
void wfs_world_close(struct wfs_world *world);
WFS_DEFINE_AUTO(world, struct wfs_world, wfs_world_close)
#define WFS_AUTO_WORLD WFS_CLEANUP(wfs_auto_world)

/** wfs_world_owner() - the pid that owns @directory. Return: 0 when nobody does, or -errno. */
int wfs_world_owner(const char *directory, pid_t *ret_pid);

const char *wfs_world_directory(const struct wfs_world *world);

/** wfs_world_read_only() - was it opened for reading only? */
bool wfs_world_read_only(const struct wfs_world *world);

/** wfs_world_quarantine() - code that ended its process; for the boxes of other layers, too. */
struct wfs_quarantine *wfs_world_quarantine(struct wfs_world *world);

/**
 * wfs_view_open() - open a view of a world at @height, or at WFS_HEIGHT_HEAD
 * Return: as wfs_view_of().
 */
int wfs_view_open(struct wfs_world *world, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);

/** wfs_world_store() - for the layer above to receive blobs into. */
struct wfs_store *wfs_world_store(struct wfs_world *world);

/** wfs_world_id() - text of the world's id, as its genesis record has it. */
const char *wfs_world_id(const struct wfs_world *world);

/** wfs_world_genesis() - the id and the entropy that the world's genesis record has. */
void wfs_world_genesis(const struct wfs_world *world, struct wfs_genesis *ret_genesis);

/**
 * wfs_world_permutation() - the permutation that one principal of this world has for one purpose
 * It is made from the world's entropy: so a copy of the world has it too, and no other world.
 * @first, @bits: of the numbers that are permuted, see wfs_permutation_init
 * Return: 0, -ENOMEM.
 */
int wfs_world_permutation(const struct wfs_world *world, const char *principal, const char *purpose,
	uint64_t first, unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_world_cursors() - the permutation that a principal with a limited scope has for cursors of listings. */
int wfs_world_cursors(const struct wfs_world *world, const char *principal,
	struct wfs_permutation *ret_permutation);

/** wfs_world_manifest() - the manifest in force now; caller unrefs. */
struct wfs_manifest *wfs_world_manifest(struct wfs_world *world);

/* Figures for `status` and `metrics`: plain value. */
struct wfs_world_figures {
	uint64_t height;
	uint64_t first_height; /* that is kept */
	uint64_t queue_count;
	uint64_t queue_bytes;
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	struct wfs_store_figures store;
};
/** wfs_world_figures() - all but the bytes of blob files */
void wfs_world_figures(struct wfs_world *world, struct wfs_world_figures *ret_figures);
/** wfs_world_count_blobs() - those bytes, too (wfs_store_count_blobs()) */
void wfs_world_count_blobs(struct wfs_world *world, struct wfs_world_figures *figures);

/* --- changing --- */

enum wfs_request_kind {
	WFS_REQUEST_EVENT,    /* needs schema and value; gives seq */
	WFS_REQUEST_BLOB,     /* needs blob, and its writer until the answer; gives seq */
	WFS_REQUEST_SNAPSHOT, /* needs snapshot_height and hash; gives seq */
	WFS_REQUEST_ACTION,   /* needs action; gives seq and answer; see grants.h */
	WFS_REQUEST_RECEIPT,  /* needs receipt; gives seq; see kernel/domain/turn/turn.h */
	WFS_REQUEST_MANIFEST, /* needs document; gives answer and, unless dry_run, seq; see apply.h */
	WFS_REQUEST_DECISION, /* needs decision, and `error`: the refusal, which it gives with seq */
	WFS_REQUEST_GC,       /* needs gc, and records nothing; see gc.h */
	WFS_REQUEST_LIFT,     /* needs code, and records nothing; see kernel/box/quarantine.h */
};

/* What the policy was asked for a request when it was judged, so that another policy can be asked the same when the
 * request is begun. Plain value. */
struct wfs_policed {
	bool asked; /* false: the request does not depend on the policy */
	enum wfs_effect effect;
	bool of_any;                           /* see struct wfs_question */
	bool approved;                         /* the same */
	char artifact[WFS_GRANT_NAME_MAX + 1]; /* that it is about; "": none */
};

/*
 * One request. Zero-initialise, set the members of its kind and call wfs_world_submit. Everything
 * a pointer leads to stays valid until `done` is called, on the publisher thread, exactly once.
 */
struct wfs_request {
	enum wfs_request_kind kind;
	const char *principal;
	void (*done)(struct wfs_request *request); /* must not block */
	void *context;

	const char *schema;            /* event */
	const json_t *value;           /* event: from wfs_json_parse */
	const json_t *key;             /* event: the sender's own key, or NULL */
	struct wfs_blob blob;          /* blob */
	uint64_t snapshot_height;      /* snapshot */
	struct wfs_hash snapshot_hash; /* snapshot */
	const json_t *action;          /* action: from wfs_json_parse */
	const char *intent_id;         /* action: the tool call that it is, or NULL */
	const json_t *of;              /* action: see struct wfs_fold_input; may be NULL */
	const json_t *receipt;         /* receipt: {adapter_id, intent_id, payload, status} */
	json_t *document;              /* manifest: from wfs_json_parse; nobody changes it */
	bool based;                    /* manifest: only on `base` … */
	struct wfs_hash base;          /* … the hash of the one before */
	const char *reason;            /* manifest: why, or NULL */
	const struct wfs_texts *texts; /* action or receipt: private texts that it names, or NULL */
	const atomic_bool *gone;       /* any: nobody waits for the answer any more; may be NULL */
	bool urgent;                   /* action: goes ahead of those that are not */
	bool administers; /* urgent: its principal administers the world, so code always gives way */
	const char *queued_as; /* name of the queue that it waits in; NULL: its principal's */
	/* The connection that it came by; 0: none. Requests of one connection keep their order, but an urgent one
	 * overtakes an earlier one whose code was stopped. */
	uint64_t connection;
	bool dry_run;                 /* manifest: everything but the change itself */
	struct wfs_decision decision; /* decision */
	struct wfs_gc_step *gc;       /* gc; filled in */
	struct wfs_hash code;         /* lift: hash of its source */
	/* All that are recorded but a decision: the grant whose budget pays; "": none. */
	char charge[WFS_GRANT_NAME_MAX + 1];
	/* The grant that allows the request, which must be there when the request is begun; "": none. */
	char granted[WFS_GRANT_NAME_MAX + 1];
	int64_t granted_until_ns;     /* when that grant ends, by the host's clock */
	struct wfs_hash granted_mark; /* of that grant, see wfs_grant_mark() */
	uint64_t granted_height;      /* the grant was there at this height, or at a later one */
	struct wfs_policed policed;   /* what the policy allowed by that grant */

	/* Private to the kernel and the embedder: see struct wfs_embedder. */
	json_t *wanted;     /* {model, text} that it waits for; owned */
	json_t *embeddings; /* what was given so far; owned */

	/* Set when `done` is called. */
	int result; /* 0 or -errno; `error` says more */
	struct wfs_error error;
	json_t *answer;  /* action or manifest: what it gives when it was done; submitter's */
	uint64_t seq;    /* of the request's own record; UINT64_MAX when nothing was recorded */
	uint64_t height; /* first height that shows everything it caused */

	/* Private to the kernel. */
	struct wfs_request *next;
	struct wfs_manifest *checked_by; /* event: manifest that the value was checked against */
	struct wfs_manifest *manifest;   /* manifest: compiled */
	struct wfs_buffer body;
	size_t queued_bytes;
	struct writer_queue *queue; /* from when it is queued until it is answered */
	int64_t guess_ns;           /* of the kernel thread's time, which its queue was charged */
	unsigned int put_back_count;
	bool put_back; /* its code was stopped, and it has not been taken again */
	bool alone;    /* has a transaction of its own */
	bool counted; /* decision: among those of its second, perhaps by a transaction that was given up */
};

/**
 * wfs_world_submit() - check a request, then queue it
 *
 * What can be judged from the request alone (unknown schema, schema violation) is judged here, on
 * the caller's thread.
 * Return: 0 (done will be called), or -errno with request->error set (done will not be called):
 *         -ENOENT (not_found: schema, module), -EINVAL, -EFBIG, -EAGAIN (overloaded), -EROFS.
 */
int wfs_world_submit(struct wfs_world *world, struct wfs_request *request);

/** wfs_world_call() - submit and wait for the answer; `done` and `context` are taken over. */
int wfs_world_call(struct wfs_world *world, struct wfs_request *request);

/**
 * wfs_world_judge() - who says what reducers may have; see kernel/fold/effects.h
 * Without one everything that they ask for is refused. When it returns, the judge before is not
 * being called any more.
 * @judge: kept until the next call; may be NULL
 */
void wfs_world_judge(struct wfs_world *world, struct wfs_judge *judge);

/*
 * Who makes embeddings of texts that the world cannot make itself. An action that needs one is not done:
 * the embedder is handed the request, and gives it back when it has the vector, or knows that there is
 * none. Then it is done again from its beginning. Callback table.
 */
struct wfs_embedder {
	const char *model; /* name of what it asks; as long as it is the world's */
	/* Take what request->wanted is; wfs_world_embedded() or wfs_world_unembedded() follows, once. On
	 * the publisher thread; must not block. */
	void (*embed)(struct wfs_embedder *embedder, struct wfs_request *request);
};

/** wfs_world_set_embedder() - @embedder: kept until the next call; NULL: the world has its own only. When
 *  it returns, the one before is not being called any more. */
void wfs_world_set_embedder(struct wfs_world *world, struct wfs_embedder *embedder);

/**
 * wfs_world_embedded() - what was wanted is here
 * @embedding: {dims, embedding, model}, or {code, message} of why not; taken; NULL: there was no memory
 * Thread: any.
 */
void wfs_world_embedded(struct wfs_world *world, struct wfs_request *request, json_t *embedding);

/** wfs_world_unembedded() - nobody will make it any more: the request is answered with @error, and nothing of
 *  it is recorded. Thread: any. */
void wfs_world_unembedded(struct wfs_request *request, const struct wfs_error *error);

/* --- observing --- */

/* What one commit did. Borrowed during the call. */
struct wfs_commit {
	uint64_t from_height; /* before */
	uint64_t to_height;   /* after */
	const struct wfs_change *changes;
	size_t change_count;
	bool manifest_changed;
	bool blobs_listed;
	uint64_t dropped_from; /* heights that are not available any more, up to … */
	uint64_t dropped_to;   /* … the one before this */
};

/* Callback table of somebody who keeps copies of the head (a mount), or acts on it; each may be NULL. */
struct wfs_observer {
	/* On the publisher thread, after the commit is durable and before anybody is answered. */
	void (*committed)(struct wfs_observer *observer, const struct wfs_commit *commit);
	/* The same, when all observers have been told that. */
	void (*told)(struct wfs_observer *observer, const struct wfs_commit *commit);
	struct wfs_observer *next; /* private; lock: the world's */
};

/** wfs_world_observe() - call @observer for each commit, after the observers that were added before it. Does nothing
 *  for a world that was opened for reading: such a world commits nothing. */
void wfs_world_observe(struct wfs_world *world, struct wfs_observer *observer);
/** wfs_world_unobserve() - when it returns, the observer is not being called any more. */
void wfs_world_unobserve(struct wfs_world *world, struct wfs_observer *observer);
