/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tools of outside servers (kernel/domain/outside/outside.h): whether a principal may make
 * one, its intent, its receipt, and calls whose answers were lost. Requests are those of
 * caps/session-act.h.
 *
 * A tool that no grant of the principal covers is answered like one that no server lists. The
 * caller calls the server after the intent was recorded, and never before.
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/document.h"
#include "kernel/value/stand-in.h"

struct wfs_error;
struct wfs_request;
struct wfs_session;
struct wfs_session_call;
struct wfs_view;

/* A tool, as its server has listed it. Plain value; borrowed. */
struct wfs_session_tool {
	const char *name;          /* its full name, see kernel/value/tool.h; may be invalid */
	const char *hash;          /* of its description and schema; NULL: no server lists it */
	const json_t *annotations; /* NULL: none */
};

/** wfs_session_sees_tool() - may the session's principal get @tool in a list, or as a tool of a
 *  model? Yes if grants and policy allow the principal to call @tool with some arguments, at least
 *  after an approval or with more budget. Return: 1, 0, -ENOMEM. */
int wfs_session_sees_tool(const struct wfs_session *session, const struct wfs_session_tool *tool);

/** wfs_session_covers_tool() - does a grant of the session's principal cover a tool with the full
 *  name @name, whatever the policy says, and whether or not a server lists the tool? Return: 1, 0,
 *  -ENOMEM. */
int wfs_session_covers_tool(const struct wfs_session *session, const char *name);

/* A call that is to be made. Zero-initialise, set the members up to `of`. */
struct wfs_session_outside {
	struct wfs_session_tool tool;
	json_t *arguments; /* an object; borrowed until wfs_session_outside_begin() returns */
	/* Ids of the private artifacts whose texts are in the arguments; []: the arguments are for
	 * the principal alone; NULL: they have no private texts. Borrowed. */
	const json_t *of;

	/* Private to the session; released by wfs_session_outside_done(). */
	json_t *action;
	struct wfs_texts texts;
};
void wfs_session_outside_done(struct wfs_session_outside *outside);

/**
 * wfs_session_outside_begin() - judge a call of an outside tool, and record its intent
 *
 * The answer is {intent_id}: then the caller may call the server. A refusal is recorded, and makes
 * no intent. Its code in the answer: not_authorized (the principal holds no grant of the type
 * `tool`; or the tool has changed since it was pinned, or the grant's schema refuses the
 * arguments), not_found (no server lists the tool, or no grant covers it), policy_denied, expired
 * (the grant has ended), quota_exceeded (the grant's budget is used up), not_enabled (the world's
 * manifest does not have outside tools).
 * @outside: must live until the answer; caller ends it with wfs_session_outside_done(). After a
 *           failure that is temporary, such as -EAGAIN (overloaded), the function can be called
 *           again with the same @outside
 * @call: the tool call, of a run or of a plan's step, that asks for this call; as for
 *        wfs_session_act_called() (caps/session-turn.h); NULL: another request of the principal
 *        asks, which cannot wait for an approval
 * Return: 0 (`done` will be called), or -errno with request->error.
 */
int wfs_session_outside_begin(const struct wfs_session *session,
	struct wfs_session_outside *outside, struct wfs_session_call *call,
	struct wfs_request *request);

/** wfs_session_outside_arguments() - read the arguments of a call whose intent is open, with
 *  private texts in the place of their stand-ins; for making the call again
 *  @session: of the intent's principal. @intent: of a call of an outside tool. @ret_arguments: set
 *  on success; caller owns it
 *  Return: 0, -ENOENT (a private text is not kept any more, or the principal may not read it any
 *  more: the call cannot be made), … */
int wfs_session_outside_arguments(const struct wfs_session *session,
	const struct wfs_document_intent *intent, json_t **ret_arguments, struct wfs_error *error);

/* How a call has ended. Zero-initialise, set the members up to `payload`. */
struct wfs_session_receipt {
	const char *intent_id; /* must live until the answer */
	const char *status;    /* ok, error, timeout or cancelled; static */
	/* If `status` is ok: what the receipt of tool.outside has
	 * (kernel/manifest/effect-receipt.c); otherwise {code, message, duration_ms?, sent?};
	 * `sent` false: the call has not reached the server. Owned; functions below change it */
	json_t *payload;

	/* Private to the session; released by wfs_session_receipt_done(), as is the payload. */
	json_t *document;
	struct wfs_texts texts;
};
void wfs_session_receipt_done(struct wfs_session_receipt *receipt);

/** wfs_session_outside_end() - record how a call has ended; needs no right, because the call was
 *  judged
 *  If the arguments are private, what the server has sent is private, too: the record has a
 *  stand-in for the output, and has neither other parts of the answer nor the message of a failure.
 *  @session: of the intent's principal; @intent: as for wfs_session_outside_arguments()
 *  @receipt: must live until the answer; caller ends it with wfs_session_receipt_done(). After a
 *            failure that is temporary, such as -EAGAIN (overloaded), the function can be called
 *            again with the same @receipt
 *  Return: 0 (`done` will be called), or -errno with request->error. */
int wfs_session_outside_end(const struct wfs_session *session,
	const struct wfs_document_intent *intent, struct wfs_session_receipt *receipt,
	struct wfs_request *request);

/* What becomes of an intent that a process finds open although it did not begin it. */
enum wfs_outside_fate {
	WFS_OUTSIDE_AGAIN, /* the call is made again with the intent's id */
	WFS_OUTSIDE_LOST,  /* its outcome is unknown: wfs_session_outside_lost() records that */
	WFS_OUTSIDE_ENDED, /* nothing: the intent says already that the outcome is unknown */
};

/** wfs_session_outside_fate() - decide what becomes of a call whose intent is open, but whose
 *  caller has died. @intent: as for wfs_session_outside_arguments() */
enum wfs_outside_fate wfs_session_outside_fate(const struct wfs_document_intent *intent);

/** wfs_session_outside_lost() - record that the outcome of a call is unknown: what asked for the
 *  call gets an error, and the intent stays open until wfs_session_resolve()
 *  @receipt: the caller has set only intent_id; otherwise as for wfs_session_outside_end()
 *  Return: as wfs_session_outside_end(). */
int wfs_session_outside_lost(const struct wfs_session *session,
	const struct wfs_document_intent *intent, struct wfs_session_receipt *receipt,
	struct wfs_request *request);

/** wfs_session_resolve() - say how a call ended whose outcome is unknown, which closes its intent
 *  Allowed to the principal of the call, if it has a grant of the type `tool`, and to
 *  administrators.
 *  @resolve: {intent_id, outcome, result?}, see worldfs-journal(5); becomes the action; must live
 *  until the answer, which is {intent_id, outcome}
 *  Return: 0 (`done` will be called), or -errno with request->error. */
int wfs_session_resolve(
	const struct wfs_session *session, json_t *resolve, struct wfs_request *request);

/* Which intents are listed: those that have these values; a member that is NULL excludes none.
 * Plain value; borrowed. */
struct wfs_session_intents {
	const char *effect;
	const char *principal;
	const char *state;
};

/** wfs_session_lists_intents() - may the session list intents? A principal that may neither list
 *  cells nor call outside tools may not; the refusal is counted. Return: 0 (yes), or as
 *  wfs_session_judge() (caps/session.h). */
int wfs_session_lists_intents(const struct wfs_session *session, struct wfs_error *error);

/** wfs_session_intent_next() - look at one cell of an open intent, oldest first, and summarise the
 *  intent if @wanted includes it and the session may know it: if it is the session's principal's,
 *  or the session sees its cell
 *  @cursor: number of a cell: the next cell is looked at; 0: the oldest; becomes the number of the
 *           cell that was looked at
 *  @left: how many cells may be looked at; decremented; if it is 0, the function looks at none
 *  @ret_summary: {changed_ns, effect, intent_id, name?, origin?, principal, state, …}; caller owns
 *  it; NULL: no such intent, or no cell was looked at
 *  Return: 1 (there may be more), 0 (no more cells), or -errno. */
int wfs_session_intent_next(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_intents *wanted, uint64_t *cursor, uint64_t *left,
	json_t **ret_summary);
