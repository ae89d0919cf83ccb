/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: the thread of a world's driver (agents/driver.h), and what it works on. A *work*
 * (work.h) is an open intent that is being done; a *wait* (wait.h) is a caller that waits for turns
 * or a plan; an *embed* (embed.c) is an action that waits for an embedding.
 *
 * Only that thread touches a struct engine, unless a member says otherwise. Other threads (the
 * publisher's, libuv's) post jobs to it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <uv.h>

#include "agents/model/client.h"
#include "caps/drive.h"
#include "caps/driving-timer.h"
#include "caps/driving.h"
#include "caps/session-act.h"
#include "kernel/value/bounds.h"

struct embed;
struct engine;
struct outside_client;
struct outside_wait;
struct wait;
struct wfs_turn_observer;
struct work_kind;

/* The struct whose member @member a pointer points to. */
#define CONTAINER_OF(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* A job for the driver's thread. Embedded in the struct on which the job works. */
struct job {
	struct job *next;      /* lock: the engine's */
	struct engine *engine; /* for engine_request() */
	void (*run)(struct engine *engine, struct job *job);
};

/* Timers of principals that fire (timers.h). */
struct timers {
	uv_timer_t due;              /* runs until the next due time */
	LIST_HEAD(, firing) firings; /* timers that are firing now, or wait to try again */
	size_t count;                /* of `firings` */
	atomic_bool started;         /* false: nothing fires; any thread reads it */
	bool looking;
	struct wfs_due_place place; /* after which the next look begins */
	bool told_damaged;          /* it was logged that timers are damaged */
	int64_t rest_ns;            /* time of the monotonic clock before which no look begins */
	int64_t since_ns;           /* due times before this time may have been missed */
	int64_t ahead_ns;           /* real-time clock minus monotonic clock, at the last look */
	atomic_bool posted;         /* `job` is in the queue of the engine's thread */
	struct job job;
};

struct engine {
	struct wfs_driver driver; /* first: callbacks cast back */
	/* What makes embeddings with a model of host.json: the one that the world uses or has used,
	 * and the one that replaces it when host.json names another model. */
	struct engine_embedder {
		struct wfs_embedder embedder; /* first: it is cast back */
		struct engine *engine;
		char model[WFS_EMBEDDER_MODEL_MAX + 1];
	} embedders[2];
	unsigned int embedder_index; /* of the newer one */
	struct wfs_authority *authority;
	struct wfs_driving driving; /* of the world */
	const struct wfs_helpers *helpers;
	const struct work_kind *work_kinds; /* what intents can ask for; the last: owner NULL */
	void (*look_at_all)(struct engine *engine); /* called after a change was missed */
	void (*over)(struct engine *engine);        /* called before the thread ends */
	uint64_t told_height; /* observers have got the events of the records below this height */
	bool paused;          /* intents that were open when the world was opened stay open */

	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	struct wfs_model_client *client;
	void *works; /* tsearch(3): struct work by intent_id */
	LIST_HEAD(, work) open_works;
	void *waits_by_id;       /* tsearch(3): struct wait by id */
	LIST_HEAD(, wait) waits; /* all of them */
	struct timers timers;
	struct outside_client *outside; /* of outside tools (outside.h); NULL: no servers */
	LIST_HEAD(, outside_wait) outside_waits;
	LIST_HEAD(, embed) embeds;
	size_t embed_count;
	/* works, waits, firings, embeds and calls of outside tools that must end before the thread
	 * does */
	size_t open_count;

	pthread_mutex_t observers_lock;      /* held while observers are called */
	struct wfs_turn_observer *observers; /* lock: observers_lock */

	pthread_mutex_t lock;
	/* lock: lock */
	struct job *jobs;
	struct job **jobs_last;
	uint64_t tickets; /* last ticket that was given */
	bool rescan;      /* a change was missed because memory was lacking: look at everything */
	bool stopping;
	bool ended; /* the thread takes no more jobs */
	struct job stop;
};

/** engine_post() - have engine->thread call @run with @job. @job: must live until @run is called,
 *  and must not be posted again before. Return: false: the thread has ended, and @run will not be
 *  called. Thread: any. */
bool engine_post(struct engine *engine, struct job *job,
	void (*run)(struct engine *engine, struct job *job));

/** engine_request() - prepare a request for the kernel; when the kernel has answered it,
 *  engine->thread calls @run with @job, unless this thread has ended. @job: must live until then
 *  Return: a request in which only `done` and `context` are set; the caller gives it to a function
 *  of caps/session-*.h. */
struct wfs_request engine_request(struct engine *engine, struct job *job,
	void (*run)(struct engine *engine, struct job *job));

/** engine_rescan() - have engine->thread look at all open intents and all waits, because memory was
 *  lacking to note which of them changed. Thread: any. */
void engine_rescan(struct engine *engine);

/** engine_stopping() - is the world being closed, so that nothing may begin any more? Thread:
 *  any. */
bool engine_stopping(struct engine *engine);

/** engine_ticket() - make a new ticket for a struct wfs_drive (caps/drive.h), at least 1. Thread:
 *  any. */
uint64_t engine_ticket(struct engine *engine);

/** engine_one_less() - note that one of the things that engine->open_count counts has ended; the
 *  thread of a stopping engine ends after the last one. */
void engine_one_less(struct engine *engine);

/** engine_trusts() - does the user of this process trust the world (kernel/base/trust.h)? Otherwise
 *  no model is asked, and no open intent is begun. @error: filled if not; may be NULL */
bool engine_trusts(const struct engine *engine, struct wfs_error *error);

/** engine_open() - prepare the locks, the loop and the client of models of a zero-initialised
 *  engine.
 *  Return: 0, or -errno: a lack of memory or descriptors; then nothing is left to close. */
int engine_open(struct engine *engine);

/** engine_close() - release what engine_open() has prepared, if the thread was never started. */
void engine_close(struct engine *engine);

/** engine_done() - release the locks and the loop; called when the thread has ended and freed
 *  engine->client. */
void engine_done(struct engine *engine);
