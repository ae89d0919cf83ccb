/* SPDX-License-Identifier: Apache-2.0 */
/* Private to caps/session*.c. */
#pragma once

#include <pthread.h>

#include "caps/session.h"

/* Requests under way; see wfs_session_settle. */
struct session_pins {
	pthread_mutex_t lock;
	pthread_cond_t unpinned;
	/* Lock for the following: lock. */
	unsigned int generation;
	size_t counts[2]; /* of this generation and the one before, by their last bit */
};

/* Private texts that were read through a session, see wfs_session_note_private(). */
struct session_notes {
	pthread_mutex_t lock;
	/* Lock for the following: lock. */
	json_t *of;   /* ids of artifacts; owned */
	bool any;     /* text was read */
	bool nobodys; /* of it some is for its principal alone */
};

struct wfs_session {
	struct wfs_authority *authority;
	struct wfs_holder *holder;
	struct session_pins *pins;   /* owned */
	struct session_notes *notes; /* owned; NULL: nothing is noted */
	uint64_t connection;         /* 0: none */
	bool approved;               /* somebody has approved of the call that it is for, */
	enum wfs_effect approves;    /* which is one of this effect */
	char queue[WFS_SESSION_QUEUE_MAX + 1]; /* that its requests wait in; "": its principal's */
};

/** session_sign() - set what a request says of its sender */
void session_sign(const struct wfs_session *session, struct wfs_request *request);

/** session_notes_free() - accepts NULL. */
void session_notes_free(struct session_notes *notes);

/** session_note() - text of these artifacts is read. @of: array; []: it is for the principal alone */
int session_note(const struct wfs_session *session, const json_t *of);

/** session_note_artifact() - text of this artifact is read; one that everybody may read is not noted. */
int session_note_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** session_rights() - those in force now, their height, and the question's time. @question: what is asked, zeros
 *  otherwise. Return: 0, or -ENOMEM. */
int session_rights(const struct wfs_session *session, struct wfs_rights **ret_rights,
	struct wfs_question *question);

/** session_refused() - count a read that is refused. Return: 0, or the verdict's -errno. */
int session_refused(const struct wfs_session *session, const struct wfs_rights *rights,
	const struct wfs_question *question, const struct wfs_verdict *verdict,
	struct wfs_error *error);

/** session_act() - @action becomes the request's action, of this type. */
int session_act(const struct wfs_session *session, const char *type, json_t *action,
	struct wfs_request *request);

/** session_admit() - wfs_session_admit() with more of the question than its effect. */
int session_admit(const struct wfs_session *session, const struct wfs_question *question,
	struct wfs_request *request);

/** session_admit_act() - session_act(), judged by @question. Return: 0 (`done` will be called), or -errno. */
int session_admit_act(const struct wfs_session *session, const struct wfs_question *question,
	const char *type, json_t *action, struct wfs_request *request);

/** session_refuse() - record the refusal in the request's error. Return: 0 (`done` will be called), or -errno. */
int session_refuse(const struct wfs_session *session, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_request *request);

/* --- session-claim.c: each sets in the question whether the run or plan is the principal's.
 * Return: 0, or -errno. --- */

/** session_claim_run() - to end a run: the principal that began it may, and an administrator. */
int session_claim_run(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct wfs_error *error);

/* Needed to judge whether a principal may approve of calls of a run. */
struct session_approval {
	struct wfs_world *world;
	json_t *run; /* owned; NULL: no such run */
};

/**
 * session_claim_approval() - the agent, its artifacts, and principals that have the right from these approve of none of
 * the agent's calls; others approve of those of the agents that their grants name
 * @ret_approval: what the question borrows from; caller ends it with session_approval_done(). Zero-initialised
 */
int session_claim_approval(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct session_approval *ret_approval,
	struct wfs_error *error);
void session_approval_done(struct session_approval *approval);

/** session_is_own_run() - is the principal the agent, or did it begin the run? */
bool session_is_own_run(const struct wfs_session *session, const json_t *run);

int session_claim_plan(const struct wfs_session *session, const char *plan_id,
	struct wfs_question *question, struct wfs_error *error);
void session_claim_chat(
	const struct wfs_session *session, const char *chat_id, struct wfs_question *question);

/** session_ask() - the call waits until somebody approves of it. @verdict: that asks for that */
int session_ask(const struct wfs_session *session, struct wfs_session_call *call,
	const struct wfs_verdict *verdict, struct wfs_request *request);

/** session_look() - the filter of this moment; caller ends it. Return: 0, or -ENOMEM. */
int session_look(const struct wfs_session *session, struct wfs_sight *ret_sight);

/** session_sees_file() - is it seen? Return: 0, -ENOENT, or -ENOMEM. */
int session_sees_file(
	const struct wfs_session *session, enum wfs_entity_file file, struct wfs_bytes id);

/** session_sees_step() - the same of a file in `steps` of a plan. @version: of the step */
int session_sees_step(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version);

/** session_sees_inner() - the same of a file in `steps` or `entries` of one. @name: of the file */
int session_sees_inner(const struct wfs_session *session, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name);

/* Content or code of an artifact, or an entry of a memory store. Plain value. */
struct session_text {
	enum wfs_entity_file file;    /* of an entry WFS_ENTITY_FILE_ENTRIES */
	struct wfs_bytes artifact_id; /* borrowed until the view is closed */
	uint32_t entry;               /* its number */
};

/** session_text_of() - whether a version is one of them. Return: 1 and which, 0, or -errno. */
int session_text_of(
	struct wfs_view *view, const struct wfs_version *version, struct session_text *ret_text);

/** session_sees_text() - is it seen? Return: 0, -ENOENT, or -ENOMEM. */
int session_sees_text(const struct wfs_session *session, const struct session_text *text);

/** session_administers() - does the principal administer the world? Return: 1, 0, or -ENOMEM. */
int session_administers(const struct wfs_session *session);

/** session_reads_artifact() - may it read contents of this artifact for nothing, by the newest rule that
 *  the artifact has, or had when it was deleted? Return: 1, 0, or -errno. */
int session_reads_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id);

/** session_reads_text() - may it be read, if the version is one of them? Return: 0, -EACCES, … */
int session_reads_text(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_error *error);
