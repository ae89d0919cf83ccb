/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open intents: each has one struct work, from the time when its cell is seen to the time when its
 * answer is recorded.
 *
 * A work begins what its kind says, and ends with work_answer(), work_submit(), work_fail() or
 * work_free(); the work may be freed before these functions return, so it must not be used after
 * them. If the cell goes first, nothing of what was begun is recorded. The thread of the engine
 * (engine.h) has all works and calls all functions here. A *helper* is a function for models
 * besides actions (struct wfs_helpers in caps/drive.h).
 */
#pragma once

#include "agents/engine/engine.h"
#include "agents/engine/raw.h"
#include "agents/prepare/private.h"
#include "caps/session-turn.h"
#include "kernel/value/stand-in.h"

struct asking;
struct calling_out;
struct driving;
struct normalizing;
struct work;

/* A question for a model. Plain value; owned, see work_question_done(). */
struct work_question {
	json_t *messages;
	json_t *setup; /* {model, offered, settings, tools} */
	/* Milliseconds that the asking turn has left; INT64_MAX: it has no limit. */
	int64_t left_ms;
};
void work_question_done(struct work_question *question);

/* What an intent can ask for. Table of functions: engine->work_kinds has one for each, and the
 * first that fits an intent is its kind. */
struct work_kind {
	const char
		*owner; /* member of the intent's cell that names the run, chat or plan that asks */
	enum wfs_effect effect;
	const char *index; /* member that names a call or a step of the owner; NULL: none does */
	const char *adapter_id; /* in receipts */
	/* Begin to find the answer; the kind must end the work, now or later, with one of the
	 * functions named at the top of this file. */
	void (*begin)(struct work *work);
	/* End what `begin` has begun, without an answer. May be NULL. */
	void (*cancel)(struct work *work);
	/* The answer is not worth waiting for any more: end the work soon, with an answer that says
	 * so. @late: because no time is left. May be NULL: the work goes on. */
	void (*give_up)(struct work *work, bool late);
	/* Free what `begin` has allocated. May be NULL. */
	void (*done)(struct work *work);
	/* The answer was recorded: begin the intent's next answer, if one follows. @answer: of the
	 * request; borrowed. Return: does one follow? May be NULL. */
	bool (*next)(struct work *work, const json_t *answer);
	/* The answer was recorded; the intent's cell may have gone before. May be NULL. */
	void (*recorded)(struct work *work);
	/* Log what users should know about an answer that is about to be recorded. May be NULL. */
	void (*answers)(const struct work *work, const char *status, const json_t *payload);
	/* Make the outcome that is recorded with the failure @error; NULL without memory. May be
	 * NULL: no outcome is recorded. */
	json_t *(*outcome)(struct work *work, const struct wfs_error *error);

	/* For kinds that ask a model: make the question, and make the payload of the receipt from
	 * the answer. @question: zeroed, left_ms INT64_MAX; filled. @completion: the answer, in
	 * which tool calls were found; may be changed. @ret_payload: caller owns it. Return: 0, or
	 * -errno with @error. */
	int (*ask)(struct work *work, struct work_question *question, struct wfs_error *error);
	int (*take)(struct work *work, json_t *completion, json_t **ret_payload,
		struct wfs_error *error);
	/* For kinds that call tools: answer with the helper's output, work->calling.output. */
	void (*take_output)(struct work *work);
};

/* How far a work is. */
enum work_state {
	WORK_DOING,      /* its answer is being found */
	WORK_SUBMITTING, /* the answer is a request that the kernel has */
	WORK_WAITING,    /* the request is repeated in a while: the kernel could not take it */
};

/* A model that is asked for a work. */
struct work_asking {
	struct wfs_model_call *call; /* NULL: no server is asked now */
	struct wfs_model_endpoint endpoint;
	json_t *entry;         /* of host.json; owned */
	json_t *setup;         /* expanded; owned */
	bool settings_private; /* the record of the turn hides some of its settings */
	bool request_private;  /* the request has private texts in it: an error may quote them */
	int64_t script_turn;   /* for a script: number of the request in its turn, from 1 */
	int64_t built_ns;      /* when the context of a chat was built, monotonic; 0: not yet */
	int64_t built_ms;      /* how long building it took */
	json_t *usage;  /* of an answer, even if that cannot be used; owned; NULL: no answer */
	struct raw raw; /* what was sent and came back, for the receipt; only of turns */
	struct wfs_buffer body;
	char key[WFS_HASH_TEXT_SIZE]; /* equal in all attempts: the server knows a repeated one */
};

/* A tool that is called for a work, and a helper that reads for it on a thread of libuv; only that
 * thread uses `tool_name` to `read_ms` then. */
struct work_calling {
	json_t *asked;               /* for a plan: {args, method, name} as it is called; owned */
	struct agents_origin origin; /* of the private results that it was filled with */
	uv_work_t reading;
	bool is_reading;
	bool is_late;      /* another answer was given in the meantime */
	bool is_done;      /* the work is freed when the reading is over */
	char *tool_name;   /* owned */
	json_t *arguments; /* owned */
	struct wfs_buffer output;
	struct wfs_error failure;
	int read_result;
	int64_t read_ms; /* how long reading took */
};

/* One open intent. */
struct work {
	struct job job;
	struct engine *engine;
	LIST_ENTRY(work) all; /* the open ones, unless the cell has gone */
	const struct work_kind *kind;
	enum work_state state;
	bool gone;     /* the cell has gone: the answer is dropped */
	bool approved; /* the intent was approved */
	bool earlier;  /* a process before this one began it, or opened its intent */
	char intent_id[WFS_HASH_TEXT_SIZE];
	char owner_id[WFS_CHAT_ID_MAX + 1];
	char began[WFS_CHAT_ID_MAX + 1]; /* turn or chat that a call has begun already; "": none */
	int64_t turn;                    /* of a turn */
	int64_t index;                   /* of the call, or of the step */
	struct wfs_session *session;     /* of the intent's principal; owned */
	int64_t began_ns;                /* monotonic */
	uv_timer_t *timer;               /* owned until it is closed; may be NULL */

	/* The answer. */
	struct wfs_request request;
	json_t *receipt;        /* owned; NULL: it is an action */
	struct wfs_texts texts; /* private texts that the receipt hides */
	json_t *action;         /* owned */
	/* Sends an answer that is neither `receipt` nor `action`; set by the kind. NULL: the answer
	 * is one of these two. If the work fails, its receipt is sent instead. */
	int (*send)(struct work *work);
	struct wfs_session_call called;
	char charge[WFS_GRANT_NAME_MAX + 1]; /* grant whose budget pays for the model; "": none */
	const char *failed;   /* code of a chat's failure; static; NULL: that of the model */
	json_t *failure_meta; /* the height of the world when it failed; owned; NULL: not known */

	/* For its kind: */
	struct work_asking asking;
	struct work_calling calling;
	struct driving *driving; /* a tool has other agents take turns; NULL: not begun, or ended */
	struct normalizing *normalizing; /* a plan is cut into steps; owned; NULL: it is not */
	struct asking *asking_tool;      /* an outside tool is to be called; owned; NULL: none is */
	struct calling_out *calling_out; /* a call of an outside tool; owned; NULL: none */
};

/* --- for the engine --- */

/** work_look() - read the cell of an intent, which may have changed: begin the intent's work if it
 *  is open and has none, and end its work if the cell has gone. An intent that waits for an
 *  approval, a time or an event is not begun, nor one whose outcome is unknown, nor one in a world
 *  that the user does not trust, which is logged. */
void work_look(struct engine *engine, const char *intent_id);

/** work_look_due() - begin the work of an intent, if it has none; the time or the event for which
 *  the intent has waited has come. */
void work_look_due(struct engine *engine, const char *intent_id);

/** work_look_begun() - begin the work of a call of an outside tool, whose intent this process has
 *  just opened. Only this function and work_look_at_first() begin such a work. */
void work_look_begun(struct engine *engine, const char *intent_id);

/** work_give_up() - call `give_up` of the work of an intent, if it has one. @late: as for `give_up`
 *  of struct work_kind. Return: had the intent a work? The work then goes on until its answer is
 *  recorded. */
bool work_give_up(struct engine *engine, const char *intent_id, bool late);

/** work_is_open() - has the intent a work? */
bool work_is_open(const struct engine *engine, const char *intent_id);

/** work_look_at_all() - call work_look() for every open intent. */
void work_look_at_all(struct engine *engine);

/** work_look_at_first() - do work_look_at_all() when the engine starts, and begin also those open
 *  intents that call an outside tool. All were opened by a process before this one. */
void work_look_at_first(struct engine *engine);

/** work_drop_all() - end all work because the engine stops. The intents stay open; they are looked
 *  at again when the world is opened again. */
void work_drop_all(struct engine *engine);

/** work_of_chat() - find the open work that asks a model for the plan of this chat.
 *  Return: borrowed until the work ends; NULL: none asks. */
const struct work *work_of_chat(const struct engine *engine, const char *chat_id);

/* --- for kinds --- */

/** work_answer() - send the work's receipt to the kernel; the work ends when it is recorded.
 *  @status: of the receipt: "ok", "error", "timeout" or "cancelled"; @payload: taken; NULL: memory
 *  for it was lacking: the work ends without an answer, see work_free() */
void work_answer(struct work *work, const char *status, json_t *payload);

/** work_fail() - do work_answer() with a receipt that has the code and the message of @error, and
 *  the status that follows from the code: "timeout", "cancelled" (only of a turn) or "error". Texts
 *  that were added to work->texts before are dropped. */
void work_fail(struct work *work, const struct wfs_error *error);

/** work_failure_meta() - get the height of the world when the work's helper failed to read, as
 *  `meta` of a receipt. Return: borrowed from @work; NULL: the helper has not failed, or the height
 *  is not known. */
json_t *work_failure_meta(const struct work *work);

/** work_submit() - send the work's receipt to the kernel, or, if it has none, its other answer
 *  (`send` or `action` of struct work); the work ends when the answer is recorded. If memory or
 *  disk are lacking, or the kernel is overloaded, the answer is sent again a second later; after
 *  any other failure the work ends as by work_fail(). */
void work_submit(struct work *work);

/** work_free() - end a work without an answer, and free it, at once or when the thread that reads
 *  for it is done. If its intent is open, it is begun again when the world is opened again. */
void work_free(struct work *work);

/** work_wait_for_approval() - have the work wait for an approval, if the policy requires one
 *  @effect, @artifact: by which the policy will judge the tool call; @artifact: NULL: none
 *  Return: 1 (the caller does nothing more: the work ends when it is recorded that the call waits,
 *          and a new one begins after the approval), 0 (no approval is needed), or -errno with
 *          @error, which the caller reports with work_fail(). */
int work_wait_for_approval(
	struct work *work, enum wfs_effect effect, const char *artifact, struct wfs_error *error);

/** work_suspend() - have the work's tool call wait for a time or an event; the work ends when this
 *  is recorded, and a new one begins when the time or event has come
 *  @wait: {after_ms?, at?, intent_id, until_event?}; taken; NULL: -ENOMEM. Return: 0, or -errno
 *  with @error, which the caller reports with work_fail(). */
int work_suspend(struct work *work, json_t *wait, struct wfs_error *error);

/** work_read() - note that the work's helper has ended on its thread of libuv.
 *  Return: is its output still wanted? If not, @work may have been freed. */
bool work_read(struct work *work);

/** work_elapsed_ms() - get the milliseconds since the work began. */
int64_t work_elapsed_ms(const struct work *work);

/** work_left_ms() - get the milliseconds that a turn has left, by the host's clock; at least 0.
 *  @started_ns: of the turn's document in sys.turn; @setup: its document in sys.turn_setup
 *  Return: INT64_MAX: the turn has no limit. */
int64_t work_left_ms(int64_t started_ns, const json_t *setup);

/** work_set_timer() - call @due after @in_ms milliseconds, unless work_clear_timer() is called
 *  before. A work has one timer: an earlier one is cleared, also on failure. Return: 0, -ENOMEM. */
int work_set_timer(struct work *work, uint64_t in_ms, void (*due)(struct work *work));
void work_clear_timer(struct work *work);
