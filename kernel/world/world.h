/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: one directory with its store, and the one thread that changes it.
 *
 * Changing: a request waits in the bounded queue of its principal. The kernel thread gives all
 * principals equal shares of its time (writer-queue.c has the order). It takes a batch of requests,
 * folds one after the other, commits all of them as one transaction, and gives the batch to the
 * publisher thread. The publisher calls the observers (mounts drop what they cached), and only then
 * answers the requests. So a client that got an answer sees the change everywhere. A request that
 * fails has changed nothing. Reading: kernel/read/view.h; readers never wait for either thread.
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
	WFS_QUEUE_COUNT_MAX = 16384,               /* unanswered requests */
	WFS_QUEUE_BYTES_MAX = 256 << 20,           /* bytes of their bodies and parsed values */
	WFS_QUEUE_PRINCIPAL_COUNT_MAX = 8192,      /* unanswered requests of one principal */
	WFS_QUEUE_PRINCIPAL_BYTES_MAX = 128 << 20, /* bytes of these */
	/* Full queues still take SPARE_COUNT requests and SPARE_BYTES bytes, from principals with
	 * fewer than FEW_COUNT unanswered requests, and, with the new one, at most FEW_BYTES
	 * bytes. */
	WFS_QUEUE_SPARE_COUNT = 1024,
	WFS_QUEUE_SPARE_BYTES = 16 << 20,
	WFS_QUEUE_FEW_COUNT = 16,
	WFS_QUEUE_FEW_BYTES = 1 << 20,
	/* how often a request gives way to urgent ones of principals that do not administer */
	WFS_PUT_BACK_MAX = 8,
	WFS_REQUEST_SIZE_MAX = 16 << 20, /* bytes of one request */
	WFS_REASON_MAX = 1024,           /* bytes of the reason of a manifest */
	WFS_OPEN_WAIT_MS = 5000,         /* how long a command waits for another's lock */
};

/* Option struct: plain value. */
struct wfs_world_options {
	bool read_only;    /* no lock, no threads; may run beside the owner */
	bool written_here; /* this process made the world, so its pages are not checked */
	/* check all pages, even if this user closed the world last */
	bool walk_pages;
	struct wfs_problems *problems; /* gets each damaged page; may be NULL */
	uint32_t wait_ms;              /* how long to wait for the lock before `busy` */
	uint64_t map_size_bytes;       /* 0: default */
	/* Time of new records; NULL: the host's clock. Tests and replay set it. */
	int64_t (*clock_ns)(void *context);
	void *clock_context;
};

/**
 * wfs_world_create() - make a world in @directory from a loaded source
 *
 * Makes the directory if it is missing; otherwise it must be empty. The world is built under a
 * temporary name first, so a failure leaves nothing.
 * @problems: gets each problem of the manifest and the artifacts. If the caller has put problems
 * into it before, the source is only checked, and nothing is created.
 * Return: 0, -EEXIST (already_exists), -EINVAL (with @problems), -ENOSPC, …
 */
int wfs_world_create(const char *directory, const struct wfs_source *source,
	const struct wfs_world_options *options, struct wfs_problems *problems,
	struct wfs_error *error);

/**
 * wfs_world_open() - open a world; unless options->read_only, become its owner
 * Return: 0, -ENOENT (not_found), -EBUSY (busy: names the owner's pid), -EINVAL (format_older,
 * format_newer), -EIO (hash_mismatch: the head record does not hash), …
 */
int wfs_world_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_world **ret_world, struct wfs_error *error);

/**
 * wfs_world_end_code() - stop running code in @delay_ms, before the world is closed
 * After that, requests that need code fail (cancelled, -EINTR), also the one whose code runs.
 */
void wfs_world_end_code(struct wfs_world *world, unsigned int delay_ms);

/** wfs_world_close() - answer what is queued, then stop both threads; accepts NULL. */
void wfs_world_close(struct wfs_world *world);
WFS_DEFINE_AUTO(world, struct wfs_world, wfs_world_close)
#define WFS_AUTO_WORLD WFS_CLEANUP(wfs_auto_world)

/** wfs_world_owner() - find the process that owns @directory. @ret_pid: 0: it has no owner.
 *  Return: 0 or -errno. */
int wfs_world_owner(const char *directory, pid_t *ret_pid);

const char *wfs_world_directory(const struct wfs_world *world);

/** wfs_world_read_only() - was the world opened for reading only? */
bool wfs_world_read_only(const struct wfs_world *world);

/** wfs_world_quarantine() - the list of code that crashed its process, for boxes of other layers,
 *  too; borrowed from the world. */
struct wfs_quarantine *wfs_world_quarantine(struct wfs_world *world);

/**
 * wfs_view_open() - open a view of a world at @height, or at WFS_HEIGHT_HEAD
 * Return: as wfs_view_of().
 */
int wfs_view_open(struct wfs_world *world, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error);

/** wfs_world_store() - the world's store, into which callers receive blobs; borrowed. */
struct wfs_store *wfs_world_store(struct wfs_world *world);

/** wfs_world_id() - the world's id, as its genesis record has it; borrowed. */
const char *wfs_world_id(const struct wfs_world *world);

/** wfs_world_genesis() - the id and the entropy that the world's genesis record has. */
void wfs_world_genesis(const struct wfs_world *world, struct wfs_genesis *ret_genesis);

/**
 * wfs_world_permutation() - make the permutation of numbers that one principal sees for one purpose
 * It follows from the world's entropy, so copies of the world have equal permutations, and other
 * worlds different ones.
 * @first, @bits: range of the numbers, see wfs_permutation_init()
 * Return: 0, -ENOMEM.
 */
int wfs_world_permutation(const struct wfs_world *world, const char *principal, const char *purpose,
	uint64_t first, unsigned int bits, struct wfs_permutation *ret_permutation);

/** wfs_world_cursors() - make the permutation of cursors of listings, for a principal with a
 *  limited scope. Return: 0, -ENOMEM. */
int wfs_world_cursors(const struct wfs_world *world, const char *principal,
	struct wfs_permutation *ret_permutation);

/** wfs_world_manifest() - the manifest in force now; caller unrefs. */
struct wfs_manifest *wfs_world_manifest(struct wfs_world *world);

/* Figures for `status` and `metrics`: plain value. */
struct wfs_world_figures {
	uint64_t height;
	uint64_t first_height; /* the oldest that is kept */
	uint64_t queue_count;
	uint64_t queue_bytes;
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	struct wfs_store_figures store;
};
/** wfs_world_figures() - read all figures but the bytes of blob files. */
void wfs_world_figures(struct wfs_world *world, struct wfs_world_figures *ret_figures);
/** wfs_world_count_blobs() - read the bytes of blob files into @figures
 *  (wfs_store_count_blobs()). */
void wfs_world_count_blobs(struct wfs_world *world, struct wfs_world_figures *figures);

/* --- changing --- */

enum wfs_request_kind {
	WFS_REQUEST_EVENT,    /* needs schema and value; gives seq */
	WFS_REQUEST_BLOB,     /* needs blob, and its writer until the answer; gives seq */
	WFS_REQUEST_SNAPSHOT, /* needs snapshot_height and hash; gives seq */
	WFS_REQUEST_ACTION,   /* needs action; gives seq and answer; see fold-domain.h */
	WFS_REQUEST_RECEIPT,  /* needs receipt; gives seq; see kernel/domain/turn/turn.h */
	/* needs document; gives answer and, unless dry_run, seq; see apply.h */
	WFS_REQUEST_MANIFEST,
	/* needs decision, and `error`: the refusal, which it gives with seq */
	WFS_REQUEST_DECISION,
	WFS_REQUEST_GC,   /* needs gc, and records nothing; see gc.h */
	WFS_REQUEST_LIFT, /* needs code, and records nothing; see kernel/box/quarantine.h */
};

/* The question that was put to the policy when a request was judged. If another policy is in force
 * when the request is begun, it is asked again. Plain value. */
struct wfs_policed {
	bool asked; /* false: the request does not depend on the policy */
	enum wfs_effect effect;
	bool of_any;                           /* see struct wfs_question */
	bool approved;                         /* see struct wfs_question */
	char artifact[WFS_GRANT_NAME_MAX + 1]; /* the one that the request is about; "": none */
};

/*
 * One request. The caller zero-initialises it, sets the members of its kind, and calls
 * wfs_world_submit(). All pointers must stay valid until the publisher thread calls `done`, which
 * it does once.
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
	json_t *document;              /* manifest: from wfs_json_parse; must not be changed */
	bool based;                    /* manifest: refuse it unless `base` is in force */
	struct wfs_hash base;          /* manifest: hash of the manifest that it replaces */
	const char *reason;            /* manifest: for its record, or NULL */
	const struct wfs_texts *texts; /* action or receipt: private texts that it names, or NULL */
	const atomic_bool *gone;       /* any: true: the client has gone away; may be NULL */
	bool urgent;                   /* action: goes ahead of requests that are not urgent */
	/* urgent: its principal administers the world, so code always gives way */
	bool administers;
	const char *queued_as; /* name of the queue that it waits in; NULL: its principal's */
	/* The connection that sent it; 0: none. Requests of one connection keep their order, but an
	 * urgent one overtakes an earlier one whose code was stopped. */
	uint64_t connection;
	bool dry_run;                 /* manifest: only check it, change nothing */
	struct wfs_decision decision; /* decision */
	struct wfs_gc_step *gc;       /* gc; filled in */
	struct wfs_hash code;         /* lift: hash of its source */
	/* Any that is recorded, but a decision: the grant whose budget pays; "": none. */
	char charge[WFS_GRANT_NAME_MAX + 1];
	/* The grant that allows the request, and must still exist when the request is begun; "":
	 * none. */
	char granted[WFS_GRANT_NAME_MAX + 1];
	int64_t granted_until_ns;     /* when that grant ends, by the host's clock */
	struct wfs_hash granted_mark; /* of that grant, see wfs_grant_mark() */
	uint64_t granted_height;      /* the grant existed at this height, or at a later one */
	struct wfs_policed policed;   /* what the policy allowed by the grant */

	/* Private to the kernel and the embedder: see struct wfs_embedder. */
	json_t *wanted;     /* {model, text} of the embedding that it waits for; owned */
	json_t *embeddings; /* those that it has got so far; owned */

	/* Set when `done` is called. */
	int result; /* 0 or -errno; `error` says more */
	struct wfs_error error;
	json_t *answer;  /* action or manifest, if it was done; the submitter owns it */
	uint64_t seq;    /* of the request's own record; UINT64_MAX when nothing was recorded */
	uint64_t height; /* first height that shows everything it caused */

	/* Private to the kernel. */
	struct wfs_request *next;
	struct wfs_manifest *checked_by; /* event: the manifest that has the schema of its value */
	struct wfs_manifest *manifest;   /* manifest: compiled */
	struct wfs_buffer body;
	size_t queued_bytes;
	struct writer_queue *queue; /* set until the request is answered */
	int64_t guess_ns;           /* time of the kernel thread that its queue was charged */
	unsigned int put_back_count;
	bool put_back; /* its code was stopped, and it waits to be taken again */
	bool alone;    /* has a transaction of its own */
	bool counted;  /* decision: it is counted, perhaps by a transaction that was given up */
};

/**
 * wfs_world_submit() - check a request, then queue it
 *
 * Checks that need only the request (unknown schema, schema violation) are made on the caller's
 * thread.
 * Return: 0 (done will be called), or -errno with request->error set (done will not be called):
 *         -ENOENT (not_found: schema, module), -EINVAL, -EFBIG, -EAGAIN (overloaded), -EROFS.
 */
int wfs_world_submit(struct wfs_world *world, struct wfs_request *request);

/** wfs_world_call() - submit a request and wait for the answer; sets `done` and `context` itself.
 *  Return: request->result. */
int wfs_world_call(struct wfs_world *world, struct wfs_request *request);

/**
 * wfs_world_judge() - set the judge of effects that reducers ask for; see kernel/fold/effects.h
 * After it has returned, the judge before is not called any more.
 * @judge: borrowed until the next call; NULL: every effect is refused
 */
void wfs_world_judge(struct wfs_world *world, struct wfs_judge *judge);

/*
 * Makes embeddings that the world cannot make itself. If an action needs one, the embedder gets the
 * request, and gives it back with the vector or with an error. Then the action is done again from
 * its beginning. Callback table.
 */
struct wfs_embedder {
	const char *model; /* name of its model; must live as long as the world has the embedder */
	/* Make the embedding of request->wanted, and then call wfs_world_embedded() or
	 * wfs_world_unembedded(), once. On the publisher thread; must not block. */
	void (*embed)(struct wfs_embedder *embedder, struct wfs_request *request);
};

/** wfs_world_set_embedder() - set the embedder. After it has returned, the embedder before is not
 *  called any more. @embedder: borrowed until the next call; NULL: the world makes only its own
 *  embeddings */
void wfs_world_set_embedder(struct wfs_world *world, struct wfs_embedder *embedder);

/**
 * wfs_world_embedded() - give a request back to the world, with the embedding that it wants
 * @embedding: {dims, embedding, model}, or {code, message} of a failure; taken; NULL: out of memory
 * Thread: any.
 */
void wfs_world_embedded(struct wfs_world *world, struct wfs_request *request, json_t *embedding);

/** wfs_world_unembedded() - answer a request with @error, because its embedding will not be made;
 *  nothing is recorded. Thread: any. */
void wfs_world_unembedded(struct wfs_request *request, const struct wfs_error *error);

/* --- observing --- */

/* The changes of one commit. Borrowed during the call. */
struct wfs_commit {
	uint64_t from_height; /* before the commit */
	uint64_t to_height;   /* after the commit */
	const struct wfs_change *changes;
	size_t change_count;
	bool manifest_changed;
	bool blobs_listed;
	uint64_t dropped_from; /* the first height that was dropped */
	uint64_t dropped_to;   /* one more than the last height that was dropped */
};

/* Callback table of a mount, or of others that keep copies of the head or act on it. Each may be
 * NULL. */
struct wfs_observer {
	/* On the publisher thread, after the commit is durable, before its requests are
	 * answered. */
	void (*committed)(struct wfs_observer *observer, const struct wfs_commit *commit);
	/* On the publisher thread, after all observers were called with `committed`. */
	void (*told)(struct wfs_observer *observer, const struct wfs_commit *commit);
	struct wfs_observer *next; /* private; lock: the world's */
};

/** wfs_world_observe() - call @observer for each commit, after observers that were added before it.
 *  Does nothing for a world that was opened for reading only, which commits nothing. */
void wfs_world_observe(struct wfs_world *world, struct wfs_observer *observer);
/** wfs_world_unobserve() - remove an observer. After it has returned, the observer is not
 *  called. */
void wfs_world_unobserve(struct wfs_world *world, struct wfs_observer *observer);
