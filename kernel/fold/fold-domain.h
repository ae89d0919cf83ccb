/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains: what worlds are about, each plugged into folding by one table of functions.
 *
 * A domain (kernel/domain/NAME) owns cells of built-in reducers. It folds the actions that change them, and
 * what follows from the answers to its intents. Folding calls the domains in the order of their list
 * (kernel/world/domains.c), and names none of them.
 * Thread: the one that folds, except for `check` of an action: any.
 */
#pragma once

#include "kernel/fold/fold.h"

struct artifact_holding;
struct service;

/* An action that principals send. Plain value with static lifetime. */
struct wfs_action_type {
	const char *name; /* its `action_type` */
	bool ends;        /* it ends a grant, a run, a chat or a plan, which happens once */
	/** check() - the form of the action, as far as the manifest tells. Return: 0, -EINVAL, … */
	int (*check)(
		const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
	/** fold() - @ret_answer: an object, which the record's result has, too; caller owns it
	 *  Return: 0, or the -errno of the refusal. */
	int (*fold)(struct wfs_fold *fold, const json_t *action, json_t **ret_answer,
		struct wfs_error *error);
	/** fold_whole() - instead of fold(): sets all members of fold->outcome itself */
	int (*fold_whole)(struct wfs_fold *fold, struct wfs_error *error);
};

/* Intents of a domain: cells of sys.intent. Plain value with static lifetime. */
struct wfs_intent_type {
	const char *member; /* that their documents have: the id of what waits for the answer */
	/** fold_receipt() - @document: of the intent's cell; @receipt: body of its record */
	int (*fold_receipt)(struct wfs_fold *fold, const json_t *document, const json_t *receipt,
		struct wfs_error *error);
	/** fold_called() - the action of record 0 has answered the intent; what that gave is in
	 *  fold->outcome */
	int (*fold_called)(struct wfs_fold *fold, const char *intent_id, const json_t *document,
		struct wfs_error *error);
	/** fold_begun() - what the intent asks for has begun; NULL: such an intent begins nothing */
	int (*fold_begun)(struct wfs_fold *fold, const char *intent_id, const json_t *document,
		struct wfs_error *error);
	/** describe() - @ret_call: the tool call that the intent asks for; caller owns it; NULL: it asks
	 *  for none */
	int (*describe)(struct wfs_fold *fold, const json_t *document, json_t **ret_call,
		struct wfs_error *error);
};

/* Static lifetime. What is not set is not needed by the domain. */
struct wfs_domain {
	const char *name;
	const struct wfs_action_type *actions; /* the last has no name */
	const struct wfs_intent_type *intents; /* the last has no member */
	const struct service *services; /* see kernel/domain/action/service.h; the last has no id */
	const struct artifact_holding *holding; /* see kernel/domain/action/act.h */
	size_t kept_size; /* bytes of what the domain keeps in a fold; zero at first */

	/** done() - release what @kept owns */
	void (*done)(void *kept);
	/** clear() - the fold drops what its last run gave */
	void (*clear)(struct wfs_fold *fold);
	/** begin() - a request is going to be folded. Return: 0, or -errno that fails it. */
	int (*begin)(struct wfs_fold *fold, struct wfs_error *error);
	/** end() - all records of the request are there. Return: 0, or -errno that fails it. */
	int (*end)(struct wfs_fold *fold, struct wfs_error *error);
	/** fold_manifest() - @to comes into force; NULL: that of the fold does, at genesis */
	int (*fold_manifest)(
		struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);
	/** fold_answer() - the answer to what a cell of the reducer `asker` asked for in an action
	 *  @event: of sys/Receipt@1 */
	int (*fold_answer)(struct wfs_fold *fold, size_t cell_index, const json_t *event,
		struct wfs_error *error);
	enum wfs_builtin_reducer asker;
	/** applying() - a record is going to be written behind @head */
	void (*applying)(struct wfs_fold *fold, const struct wfs_head *head);
	/** changed() - the record that is written gives a cell of the built-in @reducer this state */
	void (*changed)(struct wfs_fold *fold, const char *reducer, struct wfs_bytes key,
		const struct wfs_state *state);
	/** apply() - record @index of the fold was written before @head. Return: 0, -ENOSPC, -EIO. */
	int (*apply)(struct wfs_fold *fold, struct wfs_head *head, size_t index);
};

/** wfs_domain_action() - the row of an `action_type` in one of @domains; NULL: none has it. */
const struct wfs_action_type *wfs_domain_action(
	const struct wfs_domain *const *domains, const char *type);

/**
 * wfs_domain_check() - the form of an action, as far as the manifest tells
 * Return: 0, -EINVAL, -ENOENT (not_found: the capability), -EFBIG, -ENOMEM.
 */
int wfs_domain_check(const struct wfs_domain *const *domains, const struct wfs_manifest *manifest,
	const json_t *action, struct wfs_error *error);

/** wfs_domain_intent() - the row of an intent's document in one of @domains; NULL: none has it. */
const struct wfs_intent_type *wfs_domain_intent(
	const struct wfs_domain *const *domains, const json_t *document);

/** fold_kept() - what the domain of this name, one of the fold's, keeps in it. */
void *fold_kept(const struct wfs_fold *fold, const char *name);
