/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to agents/: the driver's thread, and what is under way on it.
 *
 * Everything here is touched by that thread alone, unless it says otherwise. Other threads (the
 * publisher, libuv's) post jobs.
 */
#pragma once

#include <pthread.h>
#include <uv.h>

#include "agents/driver.h"
#include "agents/model/client.h"

struct engine;
struct wait;

/* Something that another thread wants done on the driver's. Embedded in what it is about. */
struct job {
	struct job *next; /* lock: the engine's */
	void (*run)(struct engine *engine, struct job *job);
};

struct engine {
	struct wfs_driver driver;     /* first: callbacks cast back */
	struct wfs_observer observer; /* of commits */
	struct wfs_authority *authority;
	struct wfs_world *world;
	const struct wfs_helpers *helpers;
	uint32_t intents_id;  /* of the reducer sys.intent */
	uint32_t turns_id;    /* of sys.turn */
	uint64_t told_height; /* up to which observers were told */

	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	struct wfs_model_client *client;
	void *works; /* tsearch(3): struct work by intent_id */
	void *waits; /* tsearch(3): struct wait by run_id */
	struct wait *all_waits;
	size_t open_count; /* works and waits that must end before the thread does */

	pthread_mutex_t observers_lock;      /* held while observers are called */
	struct wfs_turn_observer *observers; /* lock: observers_lock */

	pthread_mutex_t lock;
	/* lock: lock */
	struct job *jobs;
	struct job **jobs_last;
	uint64_t tickets; /* given so far */
	bool rescan;      /* a change was missed for want of memory: look at everything */
	bool stopping;
	bool ended; /* the thread takes no jobs any more */
	struct job stop;
};

/** engine_post() - Return: false when the thread has ended. Thread: any. */
bool engine_post(
	struct engine *engine, struct job *job, void (*run)(struct engine *, struct job *));

/** engine_stopping() - Thread: any. */
bool engine_stopping(struct engine *engine);

/** engine_ticket() - a number for a request. Thread: any. */
uint64_t engine_ticket(struct engine *engine);

/** engine_one_less() - a work or a wait is gone: the thread may have waited for that. */
void engine_one_less(struct engine *engine);

/** engine_tell() - tell observers of events up to the head. */
void engine_tell(struct engine *engine);

/* --- work.c: what intents ask for --- */

/* How far a work is. */
enum work_state {
	WORK_DOING,      /* its answer is being found */
	WORK_SUBMITTING, /* the answer is a request that the kernel has */
	WORK_WAITING,    /* the request is repeated in a while: the kernel could not take it */
};

/* One open intent. */
struct work {
	struct job job;
	struct engine *engine;
	enum work_state state;
	bool gone;     /* its run has ended: what comes of it is dropped */
	bool approved; /* the call was */
	char intent_id[WFS_HASH_TEXT_SIZE];
	char run_id[WFS_TURN_ID_MAX + 1];
	int64_t turn;
	int64_t call;                /* -1: a model is asked */
	struct wfs_session *session; /* of the agent; owned */
	int64_t began_ns;            /* monotonic */

	struct wfs_request request;
	json_t *receipt; /* owned; NULL: it is an action */
	json_t *action;  /* owned */
	struct wfs_session_call called;
	char charge[WFS_GRANT_NAME_MAX + 1];
	uv_timer_t *timer; /* owned until it is closed; may be NULL */

	/* A model is asked. */
	struct wfs_model_call *model_call; /* NULL: it is not */
	struct wfs_model_endpoint endpoint;
	json_t *entry; /* of host.json; owned */
	json_t *setup; /* expanded; owned */
	struct wfs_buffer body;

	/* A helper reads. */
	uv_work_t reading;
	bool is_reading; /* a thread of libuv's has `tool_name`, `arguments`, `output`, `failure` */
	bool is_late;    /* another answer was given meanwhile */
	bool is_done;    /* and there is nothing else to wait for */
	char *tool_name; /* owned */
	json_t *arguments; /* owned */
	struct wfs_buffer output;
	struct wfs_error failure;
	int read_result;
	int64_t read_ms; /* that it took; observers may have kept our thread for longer */
};

/** work_look() - begin what this intent asks for, or end it, as its cell says. */
void work_look(struct engine *engine, const char *intent_id);

/** work_look_at_all() - the same for all that are open. */
void work_look_at_all(struct engine *engine);

/** work_drop_all() - the engine stops: what is under way is left for another time. */
void work_drop_all(struct engine *engine);

/** work_answer() - the answer is a receipt. @payload: taken; NULL: there was no memory for it */
void work_answer(struct work *work, const char *status, json_t *payload);

/** work_fail() - the same, of a failure. */
void work_fail(struct work *work, const struct wfs_error *error);

/** work_act() - the answer is its action. */
void work_act(struct work *work);

/** work_read() - its reading is over. Return: does anybody want to know what it gave? */
bool work_read(struct work *work);

/** work_read_run() - its run as it is now. @ret_view: open also when this fails; caller closes it, and
 *  owns the documents */
int work_read_run(const struct work *work, struct wfs_view *ret_view, json_t **ret_state,
	json_t **ret_setup, struct wfs_error *error);

/** work_elapsed_ms() - since it began. */
int64_t work_elapsed_ms(const struct work *work);

/** work_left_ms() - of the time that its run has, by the host's clock; at least 0. */
int64_t work_left_ms(const json_t *state, const json_t *setup);

/** work_set_timer() - call @due in a while; one at a time. Return: 0, -ENOMEM. */
int work_set_timer(struct work *work, uint64_t in_ms, void (*due)(struct work *work));
void work_clear_timer(struct work *work);

/* --- generate.c, call.c: each begins one, and ends with work_answer() --- */

void work_generate(struct work *work);
void work_call(struct work *work);

/* --- drive.c: who waits for runs --- */

/** drive_look() - has this run ended? Then whoever waits for it is told. */
void drive_look(struct engine *engine, const char *run_id);

/** drive_look_at_all() - the same for all that somebody waits for. */
void drive_look_at_all(struct engine *engine);

/** drive_drop_all() - the engine stops: they are told so. */
void drive_drop_all(struct engine *engine);

void drive_step(struct wfs_driver *driver, struct wfs_drive *drive);
void drive_abandon(struct wfs_driver *driver, uint64_t ticket);
