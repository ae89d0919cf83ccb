/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: what principals do to artifacts, scrip and quotas, as cells of built-in reducers.
 *
 * Folding an action depends only on the action and the state before it. The form of an action is
 * that of its effect (kernel/manifest/effect.h), from one table. Whether grants allow an action is
 * decided in caps/ for principals, and in author.c for code; whether the rules of an artifact
 * allow it is decided here: built-in rules, or a contract, which is an executable artifact.
 *
 *   sys.ledger, key id: {scrip} of principals, artifacts and the mint
 *   sys.resource, key id: {disk?, journal?, llm_budget?, llm_tokens?}: {quota?, used}; `journal`
 *       only with a quota
 *   sys.artifact, key id: {access, charged_to, code_author?, code_hash?, code_size?, content_hash,
 *       content_size, created_at, created_by, depends_on, executable, id, interface?,
 *       invoke_price, metadata, owner, read_price, type, updated_at}
 *   sys.deleted, key id: {deleted_at, deleted_by} of a deleted artifact
 *   sys.content, sys.code, key id: the bytes; shown only as files of the artifact
 *   sys.mint, key submission id: a bid; see kernel/domain/action/mint.h
 *
 * A record has {hash, size} instead of content and code, and stand-ins for other private texts
 * (kernel/read/text.h).
 * Source: docs/design.md §10.
 * Thread: the thread that folds; wfs_action_check_form: any.
 */
#pragma once

#include "kernel/fold/fold-domain.h"
#include "kernel/manifest/document.h"
#include "kernel/manifest/effect.h"
#include "kernel/value/bounds.h"

struct action_programs;
struct wfs_view;

enum {
	WFS_ARTIFACT_DEPENDENCIES_MAX = 64,  /* dependencies that one artifact lists */
	WFS_ARTIFACT_DEPTH_MAX = 10,         /* length of a chain of dependencies */
	WFS_ARTIFACT_DETAILS_MAX = 64 << 10, /* bytes of interface, and of metadata */
	WFS_ARTIFACT_METHODS_MAX = 256,      /* methods of an interface */
	WFS_ARTIFACT_TESTS_MAX = 64,         /* tests of an interface; each may take long */
	WFS_MINT_PENDING_MAX = 65536,        /* bids that wait for one auction */
};

/** wfs_action_told() - get the result that a tool call has, if the call was this action: the return
 *  value of the code that was invoked, or the data of another action
 *  @action: as it was sent. @answer: to the sender of the action, {data?, message}; may be NULL
 *  Return: the result, borrowed from @answer; NULL: @answer has no such value. */
json_t *wfs_action_told(const json_t *action, const json_t *answer);

/** wfs_action_types() - append the names of all actions to @buffer, separated by ", ". */
void wfs_action_types(struct wfs_buffer *buffer);

/** wfs_action_artifact() - get the id of the artifact that an action names, borrowed from the
 *  action; NULL: it names none. */
const char *wfs_action_artifact(const json_t *action);

extern const struct wfs_domain wfs_action_domain;

/* --- what the rules of an artifact say --- */

/** wfs_artifact_reads() - may @principal read the artifact's content and code without paying, by
 *  built-in rules alone? True for the owner; for others false if the artifact has a contract or
 *  a read_price. */
bool wfs_artifact_reads(const struct wfs_document_artifact *artifact, const char *principal);

enum wfs_artifact_answer {
	WFS_ARTIFACT_NO,
	WFS_ARTIFACT_YES,
	WFS_ARTIFACT_CONTRACT, /* its contract decides, and is asked at each invocation */
};

/** wfs_artifact_invokes() - may @principal invoke the artifact by its rules? WFS_ARTIFACT_YES for
 *  the owner, also if the artifact has a contract. */
enum wfs_artifact_answer wfs_artifact_invokes(
	const struct wfs_document_artifact *artifact, const char *principal);

/** wfs_artifact_is_open() - may everybody read the artifact's content and code without paying? */
bool wfs_artifact_is_open(const struct wfs_document_artifact *artifact);

/* --- whose text it is: act-hide.c --- */

/* Which texts of an action and of its output are private (not for everybody). Plain value;
 * wfs_privacy_done. */
struct wfs_privacy {
	json_t *of; /* ids of the private artifacts whose readers may read the output; owned */
	/* names of the action's members that its record hides; the last is NULL; static */
	const char *const *members;
	bool secret; /* an argument is marked as secret, so only the sender may read the texts */
	bool writes; /* the action sends content or code, of which its record has only the hash */
};
void wfs_privacy_done(struct wfs_privacy *privacy);
#define WFS_AUTO_PRIVACY WFS_CLEANUP(wfs_privacy_done)

/** action_privacy() - find which texts of an action are private, by the artifacts in @view, before
 *  the action is done. @action: as it was sent; borrowed during the call
 *  @ret_privacy: set on success; caller ends it with wfs_privacy_done()
 *  Return: 0, -EIO (a cell is damaged), -ENOMEM. */
int action_privacy(const struct wfs_domain *const *domains, struct wfs_view *view,
	const json_t *action, struct wfs_privacy *ret_privacy, struct wfs_error *error);

/** wfs_privacy_hides() - does @action have a member that its record hides, by a stand-in or as the
 *  hash of content or code? @privacy: of this action */
bool wfs_privacy_hides(const struct wfs_privacy *privacy, const json_t *action);

/** wfs_privacy_said() - list the private artifacts whose readers may read the private texts of the
 *  action; an empty list: only the sender may
 *  Return: a JSON array of ids that the caller owns; NULL without memory. */
json_t *wfs_privacy_said(const struct wfs_privacy *privacy);

/** action_pay_run() - for kernel/domain/turn/: have the principal of the record pay @agent's
 *  invoke_price for a turn, after a check that it may invoke the agent's artifact
 *  @agent: id of the agent; if no artifact has this id (a principal alone), nothing is checked or
 *  paid. Otherwise the function sets fold->outcome.result to an object, with the price if one was
 *  paid.
 *  Return: 0, -EACCES or -ENOENT (as artifact_permit(), act.h), -EDQUOT (insufficient_funds: the
 *  principal has less scrip than the price), … */
int action_pay_run(struct wfs_fold *fold, const char *agent, struct wfs_error *error);

/* --- for kernel/world/answerer.c --- */

/** action_score() - answer a request for the effect mint.score by running the artifact's own tests
 *  The tests, `interface.tests`, are an array of {args?, method?, result?}. Each is an invocation
 *  by the mint, without a price, whose changes are taken back; it passes if it gives `result`. The
 *  score is the percentage of tests that pass, 0 without tests.
 *  @params: of the effect, which name the artifact. @ret_payload: of the receipt, {reason, score};
 *  set on success; caller owns it
 *  Return: 0, or -errno, which fails the request. */
int action_score(
	struct wfs_fold *fold, const json_t *params, json_t **ret_payload, struct wfs_error *error);
