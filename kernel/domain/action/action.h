/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: what principals do to artifacts, scrip and quotas, as cells of built-in reducers.
 *
 * An action and the state before it say what it gives, so it is folded like everything else. Its
 * form is that of its effect (kernel/manifest/effect.h), from the same table. Who may take which
 * action on which artifact by its grants is decided in caps/, and for code here (author.c); who may do
 * what to an artifact by the artifact's own rules, here.
 *
 *   sys.ledger, key id:     {scrip}                     of principals, artifacts and the mint
 *   sys.resource, key id:   {disk?, journal?, llm_budget?, llm_tokens?}: {quota?, used}; `journal` only with a quota
 *   sys.artifact, key id:   {access, charged_to, code_author?, code_hash?, code_size?, content_hash,
 *                            content_size, created_at, created_by, depends_on, executable, id,
 *                            interface?, invoke_price, metadata, owner, read_price, type,
 *                            updated_at}
 *   sys.deleted, key id:    {deleted_at, deleted_by}    of an id that was an artifact's
 *   sys.content, sys.code, key id: the bytes; shown as files of the artifact alone
 *   sys.mint, key submission id: a bid; see kernel/domain/action/mint.h
 *
 * In a record, content and code stand as {hash, size}; other texts of what is private as stand-ins
 * (kernel/read/text.h).
 * Source: docs/design.md §10.
 * Thread: the one that folds; wfs_action_check_form: any.
 */
#pragma once

#include "kernel/fold/fold-domain.h"
#include "kernel/manifest/effect.h"

#define WFS_ARTIFACT_TYPE_AGENT "agent" /* of artifacts that are principals, and take turns */
#define WFS_ARTIFACT_TYPE_MEMORY "memory_store" /* of artifacts that have entries */

struct action_programs;
struct wfs_view;

enum {
	WFS_ARTIFACT_ID_MAX = 128,           /* bytes */
	WFS_ARTIFACT_DEPENDENCIES_MAX = 64,  /* that one lists */
	WFS_ARTIFACT_DEPTH_MAX = 10,         /* of dependencies, one behind the other */
	WFS_ARTIFACT_DETAILS_MAX = 64 << 10, /* bytes of interface, and of metadata */
	WFS_ARTIFACT_METHODS_MAX = 256,      /* of an interface */
	WFS_ARTIFACT_TESTS_MAX = 64,         /* the same: each may check its arguments for long */
	WFS_MINT_PENDING_MAX = 65536,        /* bids that wait for one auction */
};

/**
 * wfs_action_told() - what a tool call that was this action gives: of an invocation what the code gave, of others all
 * their data
 * @answer: {data?, message}; may be NULL
 * Return: borrowed from @answer; NULL: nothing.
 */
json_t *wfs_action_told(const json_t *action, const json_t *answer);

/** wfs_action_types() - append their names, with ", " between. */
void wfs_action_types(struct wfs_buffer *buffer);

/** wfs_action_check_form() - of what was sent. Return: 0, -EINVAL, -ENOMEM. */
int wfs_action_check_form(const json_t *action, struct wfs_error *error);

/** wfs_action_artifact() - the artifact that it names, borrowed; NULL: none. */
const char *wfs_action_artifact(const json_t *action);

extern const struct wfs_domain wfs_action_domain;

/* --- what the rules of an artifact say; @state: of its cell of sys.artifact --- */

/** wfs_artifact_reads() - may @principal read its content and code for nothing, without asking its
 *  contract? */
bool wfs_artifact_reads(const json_t *state, const char *principal);

enum wfs_artifact_answer {
	WFS_ARTIFACT_NO,
	WFS_ARTIFACT_YES,
	WFS_ARTIFACT_CONTRACT, /* its contract is asked when it is done */
};

/** wfs_artifact_invokes() - may @principal invoke it by its rules? */
enum wfs_artifact_answer wfs_artifact_invokes(const json_t *state, const char *principal);

/** wfs_artifact_is_open() - may everybody read its content and code for nothing? */
bool wfs_artifact_is_open(const json_t *state);

/* --- whose text it is: act-hide.c --- */

/* What an action says and gives, if not everybody may read that. Plain value; wfs_privacy_done. */
struct wfs_privacy {
	json_t *of; /* ids of the private artifacts that what it gives belongs to; []: none; owned */
	const char *const *members; /* of the action, that its record hides; NULL-ended; static */
	bool secret; /* an argument is marked as secret: only the sender may read them all */
	bool writes; /* it gives content or code, of which its own record has the hash */
};
void wfs_privacy_done(struct wfs_privacy *privacy);
#define WFS_AUTO_PRIVACY WFS_CLEANUP(wfs_privacy_done)

/** action_privacy() - of an action that is not done yet, by the artifacts that a view shows. Return: 0, -EIO, -ENOMEM. */
int action_privacy(const struct wfs_domain *const *domains, struct wfs_view *view,
	const json_t *action, struct wfs_privacy *ret_privacy, struct wfs_error *error);

/** wfs_privacy_hides() - does the action have private texts? */
bool wfs_privacy_hides(const struct wfs_privacy *privacy, const json_t *action);

/** wfs_privacy_said() - the private artifacts that these texts belong to; []: for the sender alone
 *  Return: an array that the caller owns; NULL without memory. */
json_t *wfs_privacy_said(const struct wfs_privacy *privacy);

/**
 * action_pay_run() - for kernel/domain/turn/: may the principal of the record have this agent take a turn? Then it
 * pays what invoking the agent costs
 * fold->outcome.result tells the price.
 * Return: 0, -EACCES (not_authorized), -EDQUOT (insufficient_funds), …
 */
int action_pay_run(struct wfs_fold *fold, const char *agent, struct wfs_error *error);

/* --- for kernel/world/answerer.c --- */

/**
 * action_score() - the adapter of mint.score: the artifact's own tests, `interface.tests`
 * An array of {args?, method?, result?}. Each is an invocation by the mint, which pays for nothing and
 * of which nothing stays; it passes when it gives `result`. The score is the part of them that pass.
 * @ret_payload: the receipt; caller owns it
 * Return: 0, or -errno, which fails the request.
 */
int action_score(
	struct wfs_fold *fold, const json_t *params, json_t **ret_payload, struct wfs_error *error);
