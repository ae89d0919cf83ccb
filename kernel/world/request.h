/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to change a world: what all requests have, and a union of what the kinds need.
 *
 * The caller zero-initialises it, sets `kind`, `principal`, `done` and the member of the union that
 * has the kind's name, and calls wfs_world_submit() (kernel/world/world.h). All pointers must stay
 * valid until `done` is called, which happens once.
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/record.h"
#include "kernel/store/blob.h"
#include "kernel/value/tool.h"

struct wfs_gc_step;
struct wfs_manifest;
struct wfs_texts;
struct writer_queue;

enum {
	WFS_QUEUE_COUNT_MAX = 16384,               /* unanswered requests */
	WFS_QUEUE_BYTES_MAX = 256 << 20,           /* bytes of their bodies and parsed values */
	WFS_QUEUE_PRINCIPAL_COUNT_MAX = 8192,      /* unanswered requests of one principal */
	WFS_QUEUE_PRINCIPAL_BYTES_MAX = 128 << 20, /* bytes of their bodies and parsed values */
	/* Full queues still take SPARE_COUNT requests and SPARE_BYTES bytes, from principals with
	 * fewer than FEW_COUNT unanswered requests, and, with the new one, at most FEW_BYTES
	 * bytes. */
	WFS_QUEUE_SPARE_COUNT = 1024,
	WFS_QUEUE_SPARE_BYTES = 16 << 20,
	WFS_QUEUE_FEW_COUNT = 16,
	WFS_QUEUE_FEW_BYTES = 1 << 20,
	/* how often the code of one request may be stopped for urgent requests of principals that
	 * are not administrators */
	WFS_PUT_BACK_MAX = 8,
	WFS_REQUEST_SIZE_MAX = 16 << 20, /* bytes of one request */
	WFS_REASON_MAX = 1024,           /* bytes of the reason of a manifest */
};

/* Kinds of requests, and which of `seq` and `answer` (in struct wfs_request) a success sets. */
enum wfs_request_kind {
	WFS_REQUEST_EVENT,    /* gives seq */
	WFS_REQUEST_BLOB,     /* gives seq; the blob's writer must live until the answer */
	WFS_REQUEST_SNAPSHOT, /* gives seq */
	WFS_REQUEST_ACTION,   /* gives seq and answer; see kernel/fold/fold-domain.h */
	WFS_REQUEST_RECEIPT,  /* gives seq; see kernel/domain/turn/turn.h */
	WFS_REQUEST_MANIFEST, /* gives answer, seq (not a dry run); see kernel/world/apply.h */
	WFS_REQUEST_DECISION, /* records the refusal in `error`, and gives it with seq */
	WFS_REQUEST_GC,       /* records nothing; see kernel/copy/gc.h */
	WFS_REQUEST_LIFT,     /* takes code out of kernel/box/quarantine.h; records nothing */
};

struct wfs_request_event {
	const char *schema;
	const json_t *value; /* from wfs_json_parse */
	const json_t *key;   /* the sender's own key, or NULL */
	const char *dedup;   /* member of `value` that is the event's key in sys.seen, or NULL */
	/* private to the kernel: the manifest by whose schema `value` was checked */
	struct wfs_manifest *checked_by;
};

struct wfs_request_snapshot {
	uint64_t height;
	struct wfs_hash hash;
};

struct wfs_request_action {
	const json_t *document;        /* from wfs_json_parse */
	const char *intent_id;         /* of the intent whose tool call this is, or NULL */
	const json_t *of;              /* see wfs_fold_input.of (kernel/fold/fold.h); or NULL */
	const struct wfs_texts *texts; /* private texts that it names, or NULL */

	/* Private to the kernel and the embedder: see struct wfs_embedder (embedder.h). */
	json_t *wanted;     /* {model, text} of the embedding that it waits for; owned */
	json_t *embeddings; /* those that it has got so far; owned */
};

struct wfs_request_receipt {
	const json_t *document;        /* {adapter_id, intent_id, payload, status} */
	struct wfs_body_receipt body;  /* read from it; set when the request is checked */
	const struct wfs_texts *texts; /* private texts that it names, or NULL */
	/* Bytes that are stored as blobs that are not listed; the receipt has their hashes. */
	const struct wfs_bytes *raw;
	size_t raw_count;
};

struct wfs_request_manifest {
	json_t *document;     /* from wfs_json_parse; must not be changed */
	bool based;           /* refuse it unless `base` is in force */
	struct wfs_hash base; /* hash of the manifest that it replaces */
	const char *reason;   /* for its record, or NULL */
	bool dry_run;         /* only check it, change nothing */

	struct wfs_manifest *compiled; /* private to the kernel */
};

struct wfs_request_decision {
	struct wfs_decision refusal;
	/* private to the kernel: it was counted, perhaps by a transaction that was given up */
	bool counted;
};

/* The question that was put to the policy when a request was judged. If another policy is in force
 * when the request is begun, it is asked again. Plain value. */
struct wfs_policed {
	bool asked; /* false: the request does not depend on the policy */
	enum wfs_effect effect;
	bool of_any;   /* see struct wfs_question (kernel/rights/rights.h) */
	bool approved; /* see struct wfs_question, too */
	char artifact[WFS_GRANT_NAME_MAX +
		1]; /* id of the artifact that the request is about; "": none */
	/* name of the outside tool that the request calls; "": none. See struct wfs_tool_asked
	 * (kernel/rights/rights.h) */
	char tool[WFS_TOOL_NAME_MAX + 1];
	unsigned int hints;
};

struct wfs_request {
	enum wfs_request_kind kind;
	const char *principal;
	/* Called once, when the request is answered: by the publisher thread or, if an embedding
	 * was not made, by that of the embedder; must not block. */
	void (*done)(struct wfs_request *request);
	void *context; /* for `done` */
	const char
		*id; /* so that a replicated world does it once (kernel/value/batch.h); or NULL */
	const atomic_bool *gone; /* true: the client has gone away; may be NULL */

	union {
		/* first, because no other is larger: so zero-initialising it zeroes all */
		struct wfs_request_manifest manifest;
		struct wfs_request_event event;
		struct wfs_blob blob;
		struct wfs_request_snapshot snapshot;
		struct wfs_request_action action;
		struct wfs_request_receipt receipt;
		struct wfs_request_decision decision;
		struct wfs_gc_step *gc; /* gets the results of the step */
		struct wfs_hash lift;   /* hash of the code's source */
	};

	struct wfs_fired fired; /* action, event, decision: the timer that sends it; or zeros */

	bool urgent; /* goes ahead of requests that are not urgent */
	/* urgent: its principal administers the world, so running code is always stopped for it */
	bool administers;
	const char *queued_as; /* name of the queue that it waits in; NULL: its principal's */
	/* The connection that sent it; 0: none. Requests of one connection keep their order, but an
	 * urgent one overtakes an earlier one whose code was stopped. */
	uint64_t connection;

	char charge[WFS_GRANT_NAME_MAX + 1]; /* the grant whose budget pays; "": none */
	/* The grant that allows the request, and must still exist when the request is begun; "":
	 * none. */
	char granted[WFS_GRANT_NAME_MAX + 1];
	int64_t granted_until_ns;     /* when that grant ends, by the host's clock */
	struct wfs_hash granted_mark; /* wfs_grant_mark() of that grant, kernel/manifest/grant.h */
	uint64_t granted_height;      /* the grant existed at this height, or at a later one */
	struct wfs_policed policed;   /* the question that the policy has allowed */

	/* Set when `done` is called. */
	int result; /* 0 or -errno; `error` says more */
	/* It has failed because its world stands aside, or because the committer has not accepted
	 * the transaction (kernel/world/aside.h). */
	bool undecided;
	struct wfs_error error;
	json_t *answer;  /* NULL: the request was not done, or has none; the submitter owns it */
	uint64_t seq;    /* of the request's own record; UINT64_MAX when nothing was recorded */
	uint64_t height; /* first height that shows everything that the request caused */

	/* Private to the kernel. */
	struct wfs_request *next;
	struct wfs_buffer body;
	size_t queued_bytes;
	struct writer_queue *queue;  /* set until the request is answered */
	int64_t guess_ns;            /* time that its queue was charged in advance, a guess */
	unsigned int put_back_count; /* how often its code was stopped for an urgent request */
	bool put_back;               /* it was stopped, and waits to be taken again */
	bool alone;                  /* has a transaction of its own */
};
