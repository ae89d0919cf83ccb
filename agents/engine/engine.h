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
#include "agents/prepare/private.h"

struct driving;
struct embed;
struct engine;
struct normalizing;
struct talk;
struct wait;

/* Something that another thread wants done on the driver's. Embedded in what it is about. */
struct job {
	struct job *next; /* lock: the engine's */
	void (*run)(struct engine *engine, struct job *job);
};

struct engine {
	struct wfs_driver driver;     /* first: callbacks cast back */
	struct wfs_embedder embedder; /* of texts, when the host has one */
	char embedder_model[WFS_EMBEDDER_MODEL_MAX + 1];
	struct wfs_observer observer; /* of commits */
	struct wfs_authority *authority;
	struct wfs_world *world;
	const struct wfs_helpers *helpers;
	uint32_t intents_id;  /* of the reducer sys.intent */
	uint32_t turns_id;    /* of sys.turn */
	uint32_t chats_id;    /* of sys.chat_message */
	uint32_t plans_id;    /* of sys.plan */
	uint64_t told_height; /* up to which observers were told */
	bool paused;          /* what was open when the world was opened stays so */

	pthread_t thread;
	uv_loop_t loop;
	uv_async_t wake;
	struct wfs_model_client *client;
	void *works; /* tsearch(3): struct work by intent_id */
	void *waits; /* tsearch(3): struct wait by run_id */
	struct wait *all_waits;
	struct talk *talks;
	struct embed *embeds;
	size_t embed_count;
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

/** engine_trusts() - does the user trust the world? Otherwise no model is asked, and no open
 *  intent is begun. @error: may be NULL */
bool engine_trusts(const struct engine *engine, struct wfs_error *error);

/** engine_tell() - tell observers of events up to the head. */
void engine_tell(struct engine *engine);

/* --- work.c: what intents ask for --- */

/* How far a work is. */
enum work_state {
	WORK_DOING,      /* its answer is being found */
	WORK_SUBMITTING, /* the answer is a request that the kernel has */
	WORK_WAITING,    /* the request is repeated in a while: the kernel could not take it */
};

/* What an intent asks for. */
enum work_kind {
	WORK_RUN_ASK,   /* a run, a model */
	WORK_RUN_CALL,  /* a run, that a tool be called */
	WORK_CHAT_ASK,  /* a chat, a model for a plan */
	WORK_NORMALIZE, /* a chat, that a plan be cut into steps */
	WORK_STEP_ASK,  /* a step of a plan, a model */
	WORK_STEP_CALL, /* a step of a plan, that a tool be called */
	WORK_PLAN_ASK,  /* a plan whose steps have ended, a model for the answer */
	WORK_ADVANCE,   /* a plan, to go on in another record */
	WORK_RUN_NEXT,  /* a run that ends, in which state its agent is then */
};

/* One open intent. */
struct work {
	struct job job;
	struct engine *engine;
	enum work_kind kind;
	enum work_state state;
	bool gone;     /* its run has ended: what comes of it is dropped */
	bool approved; /* the call was */
	char intent_id[WFS_HASH_TEXT_SIZE];
	char owner_id[WFS_CHAT_ID_MAX + 1]; /* the run, chat or plan that asks */
	char began[WFS_CHAT_ID_MAX +
		1];                  /* the run or chat that a call has begun already; "": none */
	int64_t turn;                /* of a run */
	int64_t index;               /* of the call, or of the step */
	struct wfs_session *session; /* of the agent; owned */
	int64_t began_ns;            /* monotonic */

	struct wfs_request request;
	json_t *receipt;        /* owned; NULL: it is an action */
	struct wfs_texts texts; /* that the receipt hides */
	json_t *action;         /* owned */
	struct wfs_session_call called;
	char charge[WFS_GRANT_NAME_MAX + 1];
	uv_timer_t *timer; /* owned until it is closed; may be NULL */

	/* A model is asked. */
	struct wfs_model_call *model_call; /* NULL: it is not */
	struct wfs_model_endpoint endpoint;
	json_t *entry;         /* of host.json; owned */
	json_t *setup;         /* expanded; owned */
	bool settings_private; /* the record of the run hides some of its settings */
	int64_t built_ns;      /* when the context of a chat was built, monotonic; 0: not yet */
	int64_t built_ms;      /* that building it took */
	json_t *usage; /* what the answer has cost, also if it cannot be used; owned; NULL: no answer */
	bool request_private; /* the request has private texts in it: an error may quote them */
	struct wfs_buffer body;
	char key[WFS_HASH_TEXT_SIZE]; /* of the request, for who knows it again */

	/* A tool of a plan is called. */
	json_t *asked;               /* {args, method, name} as it is called; owned */
	struct agents_origin origin; /* of the private results that it was filled with */
	const char *
		failed; /* of a chat: which of its codes a failure has; static; NULL: the model's */

	/* Others take turns. */
	struct driving *driving; /* tells it first when it has ended; NULL: they do not */

	/* A plan is cut into steps. */
	struct normalizing *normalizing; /* owned; NULL: it is not */

	/* A helper reads. */
	uv_work_t reading;
	bool is_reading; /* a thread of libuv's has `tool_name`, `arguments`, `output` and what failed */
	bool is_late;      /* another answer was given meanwhile */
	bool is_done;      /* and there is nothing else to wait for */
	char *tool_name;   /* owned */
	json_t *arguments; /* owned */
	struct wfs_buffer output;
	struct wfs_error failure;
	json_t *failure_meta; /* where the world stood then, or when a turn failed; owned; NULL: not known */
	int read_result;
	int64_t read_ms; /* that it took; observers may have kept our thread for longer */
};

/** work_look() - begin what this intent asks for, or end it, as its cell says. */
void work_look(struct engine *engine, const char *intent_id);

/** work_of_chat() - the open work that asks a model for the plan of this chat; NULL: there is none. */
const struct work *work_of_chat(const struct engine *engine, const char *chat_id);

/** work_look_at_all() - the same for all that are open. */
void work_look_at_all(struct engine *engine);

/** work_drop_all() - the engine stops: what is under way is left for another time. */
void work_drop_all(struct engine *engine);

/** work_answer() - the answer is a receipt. @payload: taken; NULL: there was no memory for it */
void work_answer(struct work *work, const char *status, json_t *payload);

/** work_fail() - the same, of a failure. */
void work_fail(struct work *work, const struct wfs_error *error);

/** work_failure_meta() - where the world stood when its reading failed; borrowed. NULL: it did not, or that is not known. */
json_t *work_failure_meta(const struct work *work);

/** work_act() - the answer is its action. */
void work_act(struct work *work);

/**
 * work_wait_for_approval() - has the tool call to wait for one, before it is judged by @effect and @artifact?
 * @artifact: may be NULL
 * Return: 1 (it does, and is begun again when it has the approval), 0, or -errno.
 */
int work_wait_for_approval(
	struct work *work, enum wfs_effect effect, const char *artifact, struct wfs_error *error);

/** work_let_go() - without an answer: it is found again when the world is opened. */
void work_let_go(struct work *work);

/** work_read() - its reading is over. Return: does anybody want to know what it gave? */
bool work_read(struct work *work);

/** work_read_run() - its run as it is now; -EINTR (cancelled) when a tool call began it and is over. @ret_view: open also when this fails; caller closes it, and
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
void work_normalize(struct work *work);

/** work_read_with() - have a helper read. @arguments: borrowed. Return: 0, or -errno with @error. */
int work_read_with(struct work *work, const json_t *tool, const json_t *arguments, int64_t limit_ms,
	struct wfs_error *error);

/* --- call-drive.c: calls that others take turns for --- */

/** work_drive() - have the turns taken; their end answers @work. @arguments: borrowed.
 *  @left_ms: of the time of the run that calls. Return: 0, or -errno with @error. */
int work_drive(struct work *work, const char *tool_name, const json_t *arguments, int64_t left_ms,
	struct wfs_error *error);

/** work_leave_driving() - the answer is not wanted any more: what was begun for it ends, unless the world is being
 *  closed. */
void work_leave_driving(struct work *work);

/* --- advance.c: the state that comes next --- */

void work_next(struct work *work);

/** advance_make() - messages and setup of the question for it, and how much of the run's time is left */
int advance_make(struct work *work, json_t **ret_messages, json_t **ret_setup, int64_t *ret_left_ms,
	struct wfs_error *error);

/** advance_payload() - what of a model's answer is recorded. @completion: parsed. Return: 0, -ENOMEM. */
int advance_payload(
	struct work *work, const json_t *completion, json_t **ret_payload, struct wfs_error *error);

/** advance_log() - tell the log of what the answer to an intent of workflow.advance goes on without. */
void advance_log(const struct work *work, const char *status, const json_t *payload);

/* --- step.c: tools of plans --- */

void work_step_call(struct work *work);

/** step_fill() - @value of a step with the results that its placeholders stand for. Return: 0, -EINVAL
 *  (one stands for nothing), …
 *  @origin: gets the artifacts that private results belong to */
int step_fill(const struct work *work, struct wfs_view *view, const json_t *value,
	struct agents_origin *origin, json_t **ret_value, struct wfs_error *error);

/** step_read() - what a helper has read becomes the outcome. */
void step_read(struct work *work);

/** step_failure() - the outcome of a call that failed. What it hides is added to @work's texts. NULL without memory. */
json_t *step_failure(struct work *work, const struct wfs_error *error);

/* --- normalize.c --- */

/** normalize_next() - the next part of the plan is to be answered. Return: false: there is none. */
bool normalize_next(struct work *work);
void normalize_free(struct normalizing *normalizing);

/* --- prompt.c: what models are asked for plans --- */

/** prompt_make() - messages and setup of a request. @ret_setup: {model, offered, settings, tools} */
int prompt_make(
	struct work *work, json_t **ret_messages, json_t **ret_setup, struct wfs_error *error);

/** prompt_payload() - what of a completion is recorded: {attempts, duration_ms, plan?, text?, usage}.
 *  @completion: parsed. Return: 0, -EPROTO (what it says is not whole), -ENOMEM. */
int prompt_payload(
	struct work *work, const json_t *completion, json_t **ret_payload, struct wfs_error *error);

/* --- embed.c: texts that actions need embeddings of --- */

/** embed_start() - be the world's embedder, if host.json has a model for that. What is wrong with it is
 *  logged. Thread: who starts the engine. */
void embed_start(struct engine *engine);

/** embed_stop() - nothing is taken any more. Thread: any. */
void embed_stop(struct engine *engine);

/** embed_drop_all() - the engine stops: who waits is told so. */
void embed_drop_all(struct engine *engine);

/* --- drive.c: who waits for runs --- */

/** drive_look() - has this run ended? Then whoever waits for it is told. */
void drive_look(struct engine *engine, const char *run_id);

/** drive_look_at_all() - the same for all that somebody waits for. */
void drive_look_at_all(struct engine *engine);

/** drive_drop_all() - the engine stops: they are told so. */
void drive_drop_all(struct engine *engine);

void drive_step(struct wfs_driver *driver, struct wfs_drive *drive);
void drive_abandon(struct wfs_driver *driver, uint64_t ticket);

/* --- chat.c: who waits for plans --- */

/** chat_look() - has any chat or plan that somebody waits for come to its end? @id: of the chat or plan
 *  that has changed, NULL: any may have */
void chat_look(struct engine *engine, const char *id);

/** chat_built() - the work has built the context of its chat, which its times tell. */
void chat_built(const struct work *work);

/** chat_leave() - whoever asked with this ticket has gone: what he asked for is stopped. */
void chat_leave(struct engine *engine, uint64_t ticket);

void chat_drop_all(struct engine *engine);

void chat_begin(struct wfs_driver *driver, struct wfs_drive *drive);
