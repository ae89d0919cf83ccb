/* SPDX-License-Identifier: Apache-2.0 */
/* Private to caps/session*.c. An *entity* is an artifact, principal, turn or plan as a directory
 * (caps/session-entity.h). Rights, questions, verdicts and claims: kernel/rights/rights.h. */
#pragma once

#include <pthread.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "caps/sight.h"
#include "kernel/manifest/document.h"
#include "kernel/world/world.h"

/* Counts requests in progress; see wfs_session_settle() (caps/session.h). */
struct session_pins {
	pthread_mutex_t lock;
	pthread_cond_t unpinned;
	/* Lock for the following: lock. */
	unsigned int generation;
	/* Numbers of requests of the present generation and of the one before it; index: the last
	 * bit of the generation. */
	size_t counts[2];
};

/* Private texts that were read through a session; see wfs_session_note_private()
 * (caps/session-text.h). */
struct session_notes {
	pthread_mutex_t lock;
	/* Lock for the following: lock. */
	json_t *of;   /* ids of the artifacts to which the texts belong; owned */
	bool any;     /* a private text was read */
	bool nobodys; /* one of the texts belongs to no artifact: it is for its principal alone */
};

struct wfs_session_call;

struct wfs_session {
	struct wfs_authority *authority;
	struct wfs_holder *holder;
	struct session_pins *pins;             /* owned */
	struct session_notes *notes;           /* owned; NULL: the session notes nothing */
	uint64_t connection;                   /* 0: none */
	bool approved;                         /* the tool call for which it was made is approved */
	enum wfs_effect approves;              /* if `approved`: the effect of this call */
	char queue[WFS_SESSION_QUEUE_MAX + 1]; /* name of its requests' queue; "": principal's */
};

/** session_world() - the world in which the session is; borrowed from the authority. */
struct wfs_world *session_world(const struct wfs_session *session);

/** session_sign() - set the members of @request that name its principal, connection and queue to
 *  those of @session; their texts are borrowed from @session, which must outlive the request. */
void session_sign(const struct wfs_session *session, struct wfs_request *request);

/** session_notes_free() - free the notes of a session; accepts NULL. */
void session_notes_free(struct session_notes *notes);

/** session_note() - if the session notes private texts, note that one is read; otherwise do
 *  nothing. @of: ids of the artifacts to which the text belongs; []: it is for the principal alone;
 *  borrowed for the call. Return: 0, or -ENOMEM. */
int session_note(const struct wfs_session *session, const json_t *of);

/** session_note_artifact() - if the session notes private texts, note that a text of the artifact
 *  @id is read, unless everybody may read it by the newest rule that the artifact has, or had when
 *  it was deleted. Return: 0, -ENOENT (the artifact never existed), -EIO (stored bytes are
 *  damaged), -ENOMEM, … */
int session_note_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** session_rights() - get the rights in force of the session's principal, and set members of
 *  @question. @ret_rights: caller releases them with wfs_rights_unref(); NULL after a failure
 *  @question: the caller has set `effect`; gets `height` (of the rights), `origin`
 *             (WFS_ORIGIN_HOST) and `now_ns`; `approved` becomes true if
 *             wfs_session_approve_call() (caps/session-turn.h) has approved this effect, and
 *             otherwise keeps its value
 *  Return: 0, or -ENOMEM. */
int session_rights(const struct wfs_session *session, struct wfs_rights **ret_rights,
	struct wfs_question *question);

/** session_refused() - if @verdict refuses a read, count the refusal and fill @error. @rights,
 *  @question: from which @verdict follows; @error: may be NULL. Return: 0 (@verdict allows the
 *  read), or the -errno of verdict->code. */
int session_refused(const struct wfs_session *session, const struct wfs_rights *rights,
	const struct wfs_question *question, const struct wfs_verdict *verdict,
	struct wfs_error *error);

/** session_charge() - note in @request by which grant and policy @verdict allows @question, and
 *  which grant's budget pays. */
void session_charge(struct wfs_request *request, const struct wfs_question *question,
	const struct wfs_verdict *verdict);

/** session_act() - set the `action_type` of @action to @type, and submit @request as this action,
 *  without judging it. @action: borrowed until the answer. Return: 0 (`done` will be called), or
 *  -ENOMEM or as wfs_world_submit() (kernel/world/world.h), with request->error: `done` will not be
 *  called. */
int session_act(const struct wfs_session *session, const char *type, json_t *action,
	struct wfs_request *request);

/** session_admit() - judge a copy of @question, with what session_rights() sets; if it is refused,
 *  submit @request as the record of the refusal
 *  @request: without a kind, and with `done` set; gets the session's principal and, if @question
 *            is allowed, by which grant and policy
 *  Return: 0 (allowed; nothing was submitted, and the caller may give @request a kind and submit
 *          it), WFS_SESSION_REFUSED (`done` will be called with the refusal), or -errno with
 *          request->error. */
int session_admit(const struct wfs_session *session, const struct wfs_question *question,
	struct wfs_request *request);

/** session_admit_act() - judge @question, and call session_act() if it is allowed.
 *  @action, @request: as for session_act() and session_admit()
 *  Return: 0 (`done` will be called, maybe with the refusal), or -errno with request->error. */
int session_admit_act(const struct wfs_session *session, const struct wfs_question *question,
	const char *type, json_t *action, struct wfs_request *request);

/** session_refuse() - submit @request as a decision, which records that @verdict has refused
 *  @question. @request: the caller has set `done`, and `error` to the reason. Return: 0 (`done`
 *  will be called with that refusal), or -errno with another request->error. */
int session_refuse(const struct wfs_session *session, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_request *request);

/* --- session-claim.c: each function sets question->claim (enum wfs_claim), which says whether the
 * session's principal began or made the run, plan, chat or call with this id; one that does not
 * exist counts as another principal's. Functions that return int return 0, or -errno if the world
 * cannot be read now. --- */

/** session_claim_run() - set question->claim for ending or waking a run: WFS_CLAIM_MADE if the
 *  principal began the run, otherwise WFS_CLAIM_ADMIN. */
int session_claim_run(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct wfs_error *error);

/* Needed to judge whether a principal may approve calls of a run. */
struct session_approval {
	struct wfs_world *world;
	struct wfs_document_turn run; /* its `own.json` is NULL if no such run exists */
};

/** session_claim_approval() - set question->claim for approving calls of a run and, if the run
 *  exists, question->artifact (its agent), question->is_barred and question->barred_context
 *  The claim is WFS_CLAIM_NEVER if the session's principal is the agent or an artifact of the
 *  agent, WFS_CLAIM_ADMIN if it began the run, otherwise WFS_CLAIM_OTHERS. question->is_barred
 *  makes judging ignore grants that the agent or its artifacts have made.
 *  @ret_approval: zero-initialised by the caller; @question borrows from it; caller ends it with
 *                 session_approval_done(), after a failure, too */
int session_claim_approval(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct session_approval *ret_approval,
	struct wfs_error *error);
void session_approval_done(struct session_approval *approval);

/** session_is_own_run() - is the session's principal the agent of @run, or did it begin the run? */
bool session_is_own_run(const struct wfs_session *session, const struct wfs_document_turn *run);

/** session_claim_intent() - set question->claim for a request that says whether the outside tool's
 *  call @intent_id took place: WFS_CLAIM_MADE if the session's principal made the call, otherwise
 *  WFS_CLAIM_ADMIN. */
int session_claim_intent(const struct wfs_session *session, const char *intent_id,
	struct wfs_question *question, struct wfs_error *error);

/** session_claim_plan(), session_claim_chat() - set question->claim for a plan or chat:
 *  WFS_CLAIM_MADE if the session's principal made it, otherwise WFS_CLAIM_OTHERS. */
int session_claim_plan(const struct wfs_session *session, const char *plan_id,
	struct wfs_question *question, struct wfs_error *error);
void session_claim_chat(
	const struct wfs_session *session, const char *chat_id, struct wfs_question *question);

/** session_ask() - submit @request as the action `ask`, which records that the tool call @call
 *  waits for an approval, and set call->ask, which the caller releases with wfs_session_call_done()
 *  (caps/session-turn.h), after a failure, too. @verdict: the refusal, with `asks` set
 *  Return: 0 (`done` will be called), or -errno with request->error: it will not be called. */
int session_ask(const struct wfs_session *session, struct wfs_session_call *call,
	const struct wfs_verdict *verdict, struct wfs_request *request);

/** session_reducer_name() - find the name of the reducer with the number @reducer_id, if its cells
 *  are in the tree. @ret_name: borrowed until the view is closed. Return: 0, -ENOENT (no such
 *  reducer), … */
int session_reducer_name(struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes *ret_name);

/** session_look() - make a sight (caps/sight.h) from the rights in force of the session's
 *  principal. @ret_sight: caller ends it with wfs_sight_done(). Return: 0, or -ENOMEM. */
int session_look(const struct wfs_session *session, struct wfs_sight *ret_sight);

/** session_sees_file() - may the session see this file of the entity with the id @id?
 *  Return: 0 (yes), -ENOENT (no), or -ENOMEM. */
int session_sees_file(
	const struct wfs_session *session, enum wfs_entity_file file, struct wfs_bytes id);

/** session_sees_item() - may the session see a file in `steps` or `entries` of an entity, by the
 *  name that the file has if it is made from @version? Return: 0 (yes), -ENOENT (no), -EIO (stored
 *  bytes are damaged), -ENOMEM. */
int session_sees_item(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file directory, const struct wfs_version *version);

/** session_sees_inner() - may the session see the file @name in `steps` or `entries` of the entity
 *  with the id @id? Return: 0 (yes), -ENOENT (no), or -ENOMEM. */
int session_sees_inner(const struct wfs_session *session, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name);

/** session_reads_hidden() - may the principal read a private text (kernel/read/text.h)?
 *  Return: 1, 0, or -errno. */
int session_reads_hidden(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_text *text);

/** session_note_hidden() - if the session notes private texts, note that @text is read. Return: 0,
 *  or -errno. */
int session_note_hidden(const struct wfs_session *session, const struct wfs_text *text);

/* Content or code of an artifact, or an entry of a memory store. Plain value. */
struct session_text {
	enum wfs_entity_file file;    /* WFS_ENTITY_FILE_ENTRIES for an entry */
	struct wfs_bytes artifact_id; /* borrowed until the view is closed */
	uint32_t entry;               /* the entry's number */
};

/** session_text_of() - is a version content, code or an entry of an artifact? @ret_text: says
 *  which; set only if the answer is 1. Return: 1, 0, or -errno. */
int session_text_of(
	struct wfs_view *view, const struct wfs_version *version, struct session_text *ret_text);

/** session_sees_text() - may the session see the file of this content, code or entry?
 *  Return: 0 (yes), -ENOENT (no), or -ENOMEM. */
int session_sees_text(const struct wfs_session *session, const struct session_text *text);

/** session_administers() - is the session's principal an administrator, see
 *  wfs_rights_administer() (kernel/rights/rights.h)? Return: 1, 0, or -ENOMEM. */
int session_administers(const struct wfs_session *session);

/** session_reads_artifact() - may the principal read contents of this artifact without paying, by
 *  the newest rule that the artifact has, or had when it was deleted? An administrator may. Return:
 *  1, 0 (no, or no such artifact), or -errno. */
int session_reads_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** session_reads_text() - if the version is content, code or an entry, may the principal read it?
 *  If so, session_note_artifact() is called for its artifact. @error: may be NULL
 *  Return: 0 (yes, or the version is none of these), -EACCES (no), … */
int session_reads_text(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_error *error);
