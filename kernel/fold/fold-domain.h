/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains (kernel/domain/NAME): each plugs one subject of worlds, such as actions or turns, into
 * folding by a table of functions.
 *
 * A domain owns cells of built-in reducers. It folds the actions that change them, and the answers
 * to its intents. Folding calls the domains in the order of their list (kernel/world/domains.c),
 * and names none of them.
 * Thread: the one that folds, except for `check` of an action: any.
 */
#pragma once

#include "kernel/fold/fold.h"

struct artifact_holding;
struct service;

/* An action that principals send. Plain value with static lifetime. */
struct wfs_action_type {
	const char *name; /* its `action_type` */
	bool ends;        /* it ends a grant, a turn, a chat or a plan, which happens once */
	/** check() - check the form of the action by @manifest alone. Return: 0, -EINVAL, … */
	int (*check)(
		const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
	/** fold() - do the action
	 *  @ret_answer: an object, whose members the record's result has, too; caller owns it
	 *  Return: 0, or the -errno of the refusal. */
	int (*fold)(struct wfs_fold *fold, const json_t *action, json_t **ret_answer,
		struct wfs_error *error);
	/** fold_whole() - set in place of fold(): do the action, and set fold->outcome, too */
	int (*fold_whole)(struct wfs_fold *fold, struct wfs_error *error);
};

/* Intents of a domain: cells of sys.intent. Plain value with static lifetime. */
struct wfs_intent_type {
	const char *member; /* of their documents: it has the id of what waits for the answer */
	/** fold_receipt() - fold a receipt that answers the intent
	 *  @document: of the intent's cell
	 *  @receipt: body of the receipt's record */
	int (*fold_receipt)(struct wfs_fold *fold, const json_t *document, const json_t *receipt,
		struct wfs_error *error);
	/** fold_called() - fold the answer to the intent that the action of record 0 has given: it
	 *  is in fold->outcome */
	int (*fold_called)(struct wfs_fold *fold, const char *intent_id, const json_t *document,
		struct wfs_error *error);
	/** fold_begun() - note that the turn or chat that the intent asks for has begun
	 *  NULL: intents of this type begin nothing */
	int (*fold_begun)(struct wfs_fold *fold, const char *intent_id, const json_t *document,
		struct wfs_error *error);
	/** describe() - the tool call that the intent asks for
	 *  @ret_call: caller owns it; NULL: the intent asks for another thing */
	int (*describe)(struct wfs_fold *fold, const json_t *document, json_t **ret_call,
		struct wfs_error *error);
};

/* A domain. Static lifetime. It may leave out functions that it does not need. */
struct wfs_domain {
	const char *name;
	const struct wfs_action_type *actions; /* the last has no name */
	const struct wfs_intent_type *intents; /* the last has no member */
	const struct service *services; /* see kernel/domain/action/service.h; the last has no id */
	const struct artifact_holding *holding; /* see kernel/domain/action/act.h */
	/* bytes of the domain's memory in a fold (fold_kept()); zeroed at first */
	size_t kept_size;

	/** done() - release what the domain's memory @kept owns */
	void (*done)(void *kept);
	/** clear() - drop what the last run left in the domain's memory */
	void (*clear)(struct wfs_fold *fold);
	/** begin() - called before a request is folded. Return: 0, or -errno that fails it. */
	int (*begin)(struct wfs_fold *fold, struct wfs_error *error);
	/** end() - called after all records of a request were folded. Return: 0, or -errno that
	 *  fails it. */
	int (*end)(struct wfs_fold *fold, struct wfs_error *error);
	/** fold_manifest() - the manifest @to comes into force; NULL: that of the fold, at
	 *  genesis */
	int (*fold_manifest)(
		struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);
	/** fold_answer() - fold the answer to an effect that a cell of the reducer `asker` asked
	 *  for in an action. @event: of sys/Receipt@1 */
	int (*fold_answer)(struct wfs_fold *fold, size_t cell_index, const json_t *event,
		struct wfs_error *error);
	enum wfs_builtin_reducer asker;
	/** applying() - called before a record is written at @head */
	void (*applying)(struct wfs_fold *fold, const struct wfs_head *head);
	/** changed() - the record that is being written gives a cell of the built-in @reducer
	 *  @state */
	void (*changed)(struct wfs_fold *fold, const char *reducer, struct wfs_bytes key,
		const struct wfs_state *state);
	/** apply() - write what the domain stores outside of cells, such as an index, for record
	 *  @index of the fold, which was just written at @head. Return: 0, -ENOSPC, -EIO. */
	int (*apply)(struct wfs_fold *fold, struct wfs_head *head, size_t index);
};

/** wfs_domain_action() - find the row of an `action_type`. Return: NULL if no domain has it. */
const struct wfs_action_type *wfs_domain_action(
	const struct wfs_domain *const *domains, const char *type);

/**
 * wfs_domain_check() - check the form of an action by @manifest alone
 * Return: 0, -EINVAL, -ENOENT (not_found: the capability), -EFBIG, -ENOMEM.
 */
int wfs_domain_check(const struct wfs_domain *const *domains, const struct wfs_manifest *manifest,
	const json_t *action, struct wfs_error *error);

/** wfs_domain_intent() - find the row that fits an intent's document. Return: NULL if no domain has
 *  it. */
const struct wfs_intent_type *wfs_domain_intent(
	const struct wfs_domain *const *domains, const json_t *document);

/** fold_kept() - the memory in @fold of the domain @name, one of the fold's; borrowed. */
void *fold_kept(const struct wfs_fold *fold, const char *name);
