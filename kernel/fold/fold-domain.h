/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains (kernel/domain/NAME): each plugs one subject of worlds, such as actions or turns, into
 * folding by a table of functions.
 *
 * A domain owns cells of built-in reducers. It folds the actions that change them, and the answers
 * to its intents. Folding calls the domains in the order of their list (kernel/world/domains.c),
 * and names none of them. The functions take the fold of one request, whose own record is record 0;
 * fold-work.h explains its parts, such as fold->outcome and fold->cells, and has the functions
 * fold_…() that domains call.
 * If its comment does not say otherwise, each function of the tables returns 0, or -errno with
 * @error filled, which fails the request.
 * Thread: the functions of the tables are called on the thread that folds, except for `check` of an
 * action: on any.
 */
#pragma once

#include "kernel/fold/fold.h"

struct artifact_holding;
struct service;
struct wfs_document_intent;
struct wfs_entity_provider;
struct wfs_entity_row;

/* An action that principals send. Plain value with static lifetime. */
struct wfs_action_type {
	const char *name;            /* its `action_type` */
	bool ends;                   /* the action ends a grant, a turn, a chat or a plan */
	const struct wfs_form *form; /* which members the action has; NULL: check() checks them */
	/** check() - check what `form` does not check, by @action and @manifest alone
	 *  The pointer is NULL if there is nothing more to check. Return: 0, -EINVAL, … */
	int (*check)(
		const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);
	/** fold() - do the action: change cells in @fold
	 *  @ret_answer: JSON object for the sender, whose members become members of the record's
	 *  result, too; caller owns it
	 *  Return: 0, or -errno: the action is refused, and its record says why; fold() must then
	 *  leave all cells as they were (fold_take_back()). An error of the category "system"
	 *  (kernel/base/error.h), except code_crashed, fails the request instead. */
	int (*fold)(struct wfs_fold *fold, const json_t *action, json_t **ret_answer,
		struct wfs_error *error);
	/** fold_whole() - do the action of record 0, fold->input.action, and fill fold->outcome,
	 *  also with the action and the result as the record will have them (the caller of fold()
	 *  fills fold->outcome itself)
	 *  A row has either fold() or fold_whole(); the other is NULL. Return: as fold(). */
	int (*fold_whole)(struct wfs_fold *fold, struct wfs_error *error);
};

/* Intents of a domain: cells of sys.intent. Plain value with static lifetime. */
struct wfs_intent_type {
	/* name of a member of struct wfs_document_intent: intents with this member are of this
	 * type; its value is what waits for the answer, such as the id of a turn, chat or plan */
	const char *member;
	/** fold_receipt() - close @intent, an open one of this type, and fold the receipt that
	 *  answers it. @receipt: body of the receipt's record */
	int (*fold_receipt)(struct wfs_fold *fold, const struct wfs_document_intent *intent,
		const struct wfs_body_receipt *receipt, struct wfs_error *error);
	/** fold_called() - fold the answer to @intent, which asks for a tool call, and close it
	 *  The action of record 0 is this tool call; its outcome, fold->outcome, is the answer. */
	int (*fold_called)(struct wfs_fold *fold, const char *intent_id,
		const struct wfs_document_intent *intent, struct wfs_error *error);
	/** fold_begun() - note in a cell of the domain that the tool call of @intent has begun a
	 *  turn or a chat, whose id is intent->began
	 *  The pointer is NULL if no intent of this type can begin a turn or chat. */
	int (*fold_begun)(struct wfs_fold *fold, const char *intent_id,
		const struct wfs_document_intent *intent, struct wfs_error *error);
	/** describe() - get the tool call of a turn that @intent asks for
	 *  The pointer is NULL if intents of this type are not of turns.
	 *  @intent: has the member `call`, the index of the tool call
	 *  @ret_call: {call_id, run_id, tool_name, turn}; caller owns it */
	int (*describe)(struct wfs_fold *fold, const struct wfs_document_intent *intent,
		json_t **ret_call, struct wfs_error *error);
	bool takes_unknown; /* its answer may be lost: a receipt may have the status `unknown` */
};

/* A domain. Static lifetime. It may leave out functions that it does not need. */
struct wfs_domain {
	const char *name;
	const struct wfs_action_type *actions; /* the last has no name */
	const struct wfs_intent_type *intents; /* the last has no member */
	const struct service *services; /* see kernel/domain/action/service.h; the last has no id */
	const struct artifact_holding *holding; /* see kernel/domain/action/act.h */
	/* Functions that make files of the world's tree (kernel/read/entity.h). */
	const struct wfs_entity_provider *files;
	size_t file_count;
	/* What the domain adds to the built-in reducers and to the root of the tree. */
	const struct wfs_builtin_row *reducers;   /* the last has no name */
	const struct wfs_entity_row *directories; /* the last has no directory */
	/* bytes of memory that each fold has for the domain (fold_kept()); zeroed at first */
	size_t kept_size;

	/** done() - release what the domain's memory @kept owns; called when the fold is freed */
	void (*done)(void *kept);
	/** clear() - drop from the domain's memory what folding a request has left there; called
	 *  before each request, and when its result is dropped */
	void (*clear)(struct wfs_fold *fold);
	/** begin() - before a request is folded: do what the domain does for each request, such as
	 *  charging a grant's budget */
	int (*begin)(struct wfs_fold *fold, struct wfs_error *error);
	/** end() - after all records of a request were folded: do what needs all of them, such as
	 *  charging the principal for their bytes */
	int (*end)(struct wfs_fold *fold, struct wfs_error *error);
	/** fold_manifest() - change the domain's cells as the manifest @to, which comes into force,
	 *  declares. @to: NULL at genesis, when fold->manifest comes into force */
	int (*fold_manifest)(
		struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error);
	/** fold_answer() - fold the answer to an effect that an action asked for with fold_ask()
	 *  @cell_index: the cell that fold_ask() was given, in fold->cells; its reducer is `asker`
	 *  @event: the answer, an event of the schema sys/Receipt@1 */
	int (*fold_answer)(struct wfs_fold *fold, size_t cell_index, const json_t *event,
		struct wfs_error *error);
	enum wfs_builtin_reducer asker; /* reducer of the cells whose answers fold_answer() folds */
	/** fold_effect() - change the domain's cells for an effect that a step has asked for, and
	 *  that was answered with the status ok
	 *  @params: of the effect, as the step gave them; @payload: of the answer */
	int (*fold_effect)(struct wfs_fold *fold, enum wfs_effect effect, const json_t *params,
		const json_t *payload, struct wfs_error *error);
	/** applying() - prepare the domain's memory before each record is written at @head */
	void (*applying)(struct wfs_fold *fold, const struct wfs_head *head);
	/** changed() - note in the domain's memory that the record that is being written changes a
	 *  cell. @reducer: name of its built-in reducer; @state: the cell's new state */
	void (*changed)(struct wfs_fold *fold, const char *reducer, struct wfs_bytes key,
		const struct wfs_state *state);
	/** apply() - write to the store what the domain keeps outside of cells, such as an index
	 *  Called after record @index of the fold was written; @head is the journal's end after it.
	 *  Return: 0, -ENOSPC, -EIO. */
	int (*apply)(struct wfs_fold *fold, struct wfs_head *head, size_t index);
};

/** wfs_domains_add() - add to the tables of this process what each domain brings: built-in
 *  reducers, directories of the tree, and functions that make files. Called once, before a world is
 *  opened or made. Ends the process if a file lacks functions that its form needs.
 *  @domains: static; the last is NULL */
void wfs_domains_add(const struct wfs_domain *const *domains);

/** wfs_domain_action() - find the row of the action whose `action_type` is @type
 *  @domains: a list that ends with NULL. Return: the row, static; NULL: no domain has it. */
const struct wfs_action_type *wfs_domain_action(
	const struct wfs_domain *const *domains, const char *type);

/** wfs_domain_check() - check the form of an action by @manifest alone, without the state of the
 *  world. Return: 0, -EINVAL (also for an unknown action_type), -ENOENT (not_found: the action is
 *  a grant of a capability that @manifest does not have), -EFBIG (too_large: a member is too long),
 *  -ENOMEM. */
int wfs_domain_check(const struct wfs_domain *const *domains, const struct wfs_manifest *manifest,
	const json_t *action, struct wfs_error *error);

/** wfs_domain_intent() - find the type of the open intent @intent, which was read from its cell
 *  Return: the type, static; NULL: no domain has a type for it. */
const struct wfs_intent_type *wfs_domain_intent(
	const struct wfs_domain *const *domains, const struct wfs_document_intent *intent);

/** fold_kept() - get the memory that @fold has for the domain with the name @name, which must be
 *  one of its domains. Return: memory of wfs_domain.kept_size bytes, zeros until the domain
 *  writes to them; borrowed from @fold; not NULL. */
void *fold_kept(const struct wfs_fold *fold, const char *name);
