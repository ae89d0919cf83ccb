/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver calls besides the functions of sessions (caps/session.h): open intents, commits
 * that change turns and plans, events of turns, and embeddings. An intent names what is asked for,
 * and for which principal; everything else is read and done with a session of that principal.
 * Functions that return int return 0, or -errno with @error. wfs_document_done(), which ends a
 * struct wfs_document_…, is in kernel/manifest/document.h.
 */
#pragma once

#include "kernel/manifest/document.h"
#include "kernel/read/view.h"
#include "kernel/world/embedder.h"
#include "kernel/world/observer.h"

struct wfs_authority;
struct wfs_session;

/* The driver of a world. Zero-initialise, set the callbacks, and call wfs_driving_init(). */
struct wfs_driving {
	/* Have another thread look at the intent's cell with this key, which has changed; every
	 * mount shows the change already. @key: borrowed. Thread: the publisher's; must not
	 * block. */
	void (*intent_changed)(struct wfs_driving *driving, struct wfs_bytes key);
	/* As `intent_changed`, for the cell of a turn, chat message or plan, which can have
	 * intents. */
	void (*owner_changed)(
		struct wfs_driving *driving, struct wfs_bytes key); /* turn, chat, plan */

	/* As `intent_changed`, for timers and waits (caps/driving-timer.h): called once for each
	 * commit that changes any. */
	void (*timer_changed)(struct wfs_driving *driving);

	/* Private. */
	struct wfs_observer observer;
	struct wfs_world *world;
	uint32_t intents_id; /* of the reducer sys.intent */
	uint32_t turns_id;   /* of sys.turn */
	uint32_t chats_id;   /* of sys.chat_message */
	uint32_t plans_id;   /* of sys.plan */
	uint32_t timers_id;  /* of sys.timer; 0: the world has no timers yet */
	uint32_t waits_id;   /* of sys.wait; 0: the world has no waits yet */
};

/** wfs_driving_init() - prepare @driving for the world of @authority. @authority: must outlive
 *  @driving. Return: 0, -EAGAIN (overloaded: too many views are open), -EIO (stored bytes are
 *  damaged), -ENOMEM. */
int wfs_driving_init(
	struct wfs_driving *driving, struct wfs_authority *authority, struct wfs_error *error);

/** wfs_driving_begin() - have the callbacks of @driving called for each later commit, until
 *  wfs_driving_end() returns. wfs_driving_end() waits for calls in progress, so callbacks must not
 *  call it. */
void wfs_driving_begin(struct wfs_driving *driving);
void wfs_driving_end(struct wfs_driving *driving);

/** wfs_driving_intents() - list the ids of all open intents. @ret_ids: array, set on success;
 *  caller owns it */
int wfs_driving_intents(
	const struct wfs_driving *driving, json_t **ret_ids, struct wfs_error *error);

/** wfs_driving_intent() - read the cell of an intent. @ret_intent: caller ends it with
 *  wfs_document_done(), also on failure. If the intent is not open, ret_intent->own.json is NULL,
 *  and the function returns 0. */
int wfs_driving_intent(const struct wfs_driving *driving, const char *intent_id,
	struct wfs_document_intent *ret_intent, struct wfs_error *error);

/** wfs_driving_height() - get the height of the world. */
uint64_t wfs_driving_height(const struct wfs_driving *driving);

/** wfs_driving_events() - call @event for each event of any turn, in the order of the journal
 *  @height: number of the first record to look at
 *  @event: called on this thread with @context, the number of the record, and the event's value,
 *  which is borrowed for the call, see kernel/domain/turn/events.h
 *  Return: number of the first record that was not looked at, with which a later call can go on;
 *  @height if the world cannot be read now. A record that cannot be read is skipped. */
uint64_t wfs_driving_events(const struct wfs_driving *driving, uint64_t height,
	void (*event)(void *context, uint64_t seq, const json_t *value), void *context);

/* A run of the principal of a session, at the head. Only wfs_driving_run() makes one. */
struct wfs_driving_run {
	struct wfs_view view;
	const char *run_id; /* borrowed from the caller of wfs_driving_run() */
	struct wfs_document_turn state;
	json_t *setup; /* of sys.turn_setup; owned */
};
void wfs_driving_run_done(struct wfs_driving_run *run);
#define WFS_AUTO_DRIVING_RUN WFS_CLEANUP(wfs_driving_run_done)

/**
 * wfs_driving_run() - open a run in which the principal of the session is the agent
 * A run that a tool call has begun is cancelled with the call. If the owner process died before it
 * cancelled the run, this function later fails with -EINTR, and the caller then ends the run.
 * @run_id: borrowed until wfs_driving_run_done()
 * @ret_run: zero-initialised; caller calls wfs_driving_run_done(), after a failure, too
 * Return: 0, -EACCES (the run's agent is another principal), -EINTR (cancelled: the tool call is
 * over), -ENOENT (not_found: no such run), …
 */
int wfs_driving_run(const struct wfs_session *session, const char *run_id,
	struct wfs_driving_run *ret_run, struct wfs_error *error);

/** wfs_driving_call() - read a tool call of the run. @turn: number of the request to the model,
 *  from 1; @index: of the call in the model's answer, from 0; @ret_call: caller ends it
 *  with wfs_document_done(), also on failure. Return: 0, -EIO (stored bytes are damaged, or no such
 *  call exists), … */
int wfs_driving_call(struct wfs_driving_run *run, int64_t turn, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error);

/** wfs_driving_sent() - get the messages for the run's next request to its model, with stand-ins
 *  for private texts. @ret_messages: an array, as from wfs_turn_sent()
 *  (kernel/domain/turn/turn-read.h); set on success; caller owns it. Return: 0, or -errno. */
int wfs_driving_sent(struct wfs_driving_run *run, json_t **ret_messages, struct wfs_error *error);

/** wfs_driving_result() - make the result of a run that has ended, with the private texts that the
 *  session's principal may read. The caller makes sure that the principal may have the result.
 *  @tells: true: the result without its `history` will be the output of a tool call, so @session
 *          notes the private texts in this part, see wfs_session_note_private()
 *          (caps/session-text.h); false: it notes none
 *  @ret_result: see wfs_turn_result() (kernel/domain/turn/turn-read.h); shares no JSON value with
 *               anything else; caller owns it
 *  Return: 0, -ENOENT (not_found: no such run), -EBUSY (the run has not ended), … */
int wfs_driving_result(const struct wfs_session *session, const char *run_id, bool tells,
	json_t **ret_result, struct wfs_error *error);

/** wfs_driving_own() - read the cell of @reducer, such as sys.workflow, whose key is the id of the
 *  session's principal. @ret_document: set on success; caller owns it. Return: 0, -ENOENT (no such
 *  cell), -EIO (its bytes are damaged), -ENOMEM. */
int wfs_driving_own(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_builtin_reducer reducer, json_t **ret_document, struct wfs_error *error);

/** wfs_driving_agent() - read the artifact with the id @agent, if the session's principal may have
 *  it take turns
 *  @ret_artifact: zero-initialised by the caller, which ends it with wfs_document_done(), after a
 *                 failure, too
 *  @ret_content: zero-initialised by the caller; gets the artifact's content; stays zeros if the
 *                artifact's type is not agent, and after a failure; caller ends it with
 *                wfs_content_done() (kernel/read/view.h)
 *  Return: as wfs_session_find_agent() (caps/session-turn.h), so it may be 0 for an artifact that
 *          is not an agent; -EIO also if the agent has no content */
int wfs_driving_agent(const struct wfs_session *session, struct wfs_view *view, const char *agent,
	struct wfs_document_artifact *ret_artifact, struct wfs_content *ret_content,
	struct wfs_error *error);

/** wfs_driving_privacy() - find which private texts an action that is not done yet would record;
 *  both results are set on success, and the caller owns them
 *  @ret_said: ids of the private artifacts to which texts in the action belong, [] for texts of
 *             the sender alone; for wfs_text_hide() (kernel/value/stand-in.h); NULL: the action has
 *             nothing to hide
 *  @ret_gives: ids of the private artifacts to which the action's answer would belong; NULL: none
 *  Return: 0, -EIO (stored bytes are damaged), -ENOMEM. */
int wfs_driving_privacy(struct wfs_view *view, const json_t *action, json_t **ret_said,
	json_t **ret_gives, struct wfs_error *error);

/* Cells of plans and chats (kernel/domain/plan/plan.h). Functions return 0, -ENOENT (not_found: the
 * view has no such cell), -EIO (stored bytes are damaged) or -ENOMEM. */

/** wfs_driving_plan() - read the cell of sys.plan of a plan in the view. @ret_plan: all zeros after
 *  a failure; caller ends it with wfs_document_done() in any case */
int wfs_driving_plan(struct wfs_view *view, const char *plan_id, struct wfs_document_plan *ret_plan,
	struct wfs_error *error);

/** wfs_driving_step() - read the cell of sys.plan_step of the step with the number @index, from 0,
 *  in the view. @ret_step: as @ret_plan of wfs_driving_plan() */
int wfs_driving_step(struct wfs_view *view, const char *plan_id, int64_t index,
	struct wfs_document_plan_step *ret_step, struct wfs_error *error);

/** wfs_driving_step_result() - read the result of the step with the number @index, from 0: its cell
 *  of sys.plan_result in the view. @ret_result: set on success; caller owns it */
int wfs_driving_step_result(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_result, struct wfs_error *error);

/** wfs_driving_step_refs() - find the steps whose results the step with the number @index, from 0,
 *  uses by placeholders. @ret_refs: {id of a step: its number}; caller owns it; NULL, and 0 is
 *  returned: the step uses none, or no such step exists */
int wfs_driving_step_refs(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_refs, struct wfs_error *error);

/** wfs_driving_source() - read the text of a plan as the model wrote it in answer to the message
 *  @message_id: the cell of sys.plan_source in the view. @ret_source: as @ret_plan of
 *  wfs_driving_plan() */
int wfs_driving_source(struct wfs_view *view, const char *message_id,
	struct wfs_document_plan_source *ret_source, struct wfs_error *error);

/** wfs_driving_message() - read the cell of sys.chat_message of a message in the view.
 *  @message_id: `chat.n`, see kernel/domain/plan/plan.h; @ret_message: as @ret_plan of
 *  wfs_driving_plan() */
int wfs_driving_message(struct wfs_view *view, const char *message_id,
	struct wfs_document_chat_message *ret_message, struct wfs_error *error);

/** wfs_driving_plan_file() - make the document of the file `plans/ID.json`. @plan: from
 *  wfs_driving_plan(), in the same view; @ret_document: set on success; caller owns the document;
 *  the pointer may be NULL if only the size is wanted; @ret_size_bytes: of the file */
int wfs_driving_plan_file(struct wfs_view *view, const struct wfs_document_plan *plan,
	json_t **ret_document, uint64_t *ret_size_bytes, struct wfs_error *error);

/** wfs_driving_set_embedder() - set what makes embeddings for the world; the embedder that was set
 *  earlier is not called any more when this function has returned. @embedder: borrowed until the
 *  next call of this function; NULL: embeddings are only computed locally, by wfs_embed_local()
 *  (kernel/vector/embed.h) */
void wfs_driving_set_embedder(const struct wfs_driving *driving, struct wfs_embedder *embedder);

/** wfs_driving_embedded() - give a request back to the world with the embedding that it waits for.
 *  @embedding: {dims, embedding, model}, or {code, message} of a failure; taken; NULL: memory was
 *  lacking. See wfs_world_embedded() (kernel/world/world.h), which says what becomes of the
 *  request. Thread: any. */
void wfs_driving_embedded(
	const struct wfs_driving *driving, struct wfs_request *request, json_t *embedding);

/** wfs_driving_unembedded() - answer a request that waits for an embedding with @error, because the
 *  embedding will not be made; its `done` is called on this thread, and nothing is recorded.
 *  Thread: any. */
void wfs_driving_unembedded(struct wfs_request *request, const struct wfs_error *error);
