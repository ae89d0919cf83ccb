/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: one action while it is done, and what the handlers share.
 *
 * `actor` is asked for permission, and gives away what it owns: the principal of the record or,
 * within an invocation, the artifact whose code runs. `payer` is the principal of the record; it
 * pays prices. A contract is an executable artifact that decides which principals may use others.
 * Functions that return int return 0, or -errno with @error filled, which refuses the action: what
 * the action has changed is then taken back, see act_run(). After a failure results (@ret_…)
 * are to be ignored, and need not be freed, unless the comment says otherwise.
 */
#pragma once

#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/account.h"
#include "kernel/fold/fold-work.h"
#include "kernel/manifest/entity-table.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/view.h"

struct invocation;
struct nest;

/* Content or code that came with an action. */
struct act_text {
	bool given;
	struct wfs_buffer bytes;
	struct wfs_hash hash;
};

struct act {
	struct wfs_fold *fold;
	const char *actor;
	const char *payer;
	struct wfs_action_recorded *recorded; /* of an action from a journal; otherwise NULL */
	struct nest *nest;                    /* the record's invocations; see invoke.h */
	struct invocation *within; /* the invocation whose code acts; NULL: a principal acts */
	struct wfs_params params;
	const json_t *sent; /* the JSON that `params` were decoded from; borrowed */
	const json_t *kept; /* members of the action as its record has them: `action` of a timer has
			     * stand-ins for private texts there; borrowed, may be NULL */
	struct act_text content;
	struct act_text code;

	/* The outcome. */
	char message[512];  /* for the sender */
	json_t *data;       /* for the sender; owned; NULL: null */
	json_t *details;    /* about a refusal; owned, may be NULL */
	json_t *zone;       /* time zone of a timer, as the host has described it; owned, or NULL */
	int64_t price_paid; /* scrip; -1: the action has no price */
	bool unrecorded;    /* the action only read, so it gets no record */
	bool refused_again; /* refused because its record says so; nothing was computed */
};

/** action_fold() - do the action of record 0, the request's own record, and set all members of
 *  fold->outcome but `refusal`, which the caller takes from @error; a refused action changes no
 *  cell but those of sys.invocation that tell of a failed invocation. Return: 0; -errno: the action
 *  is refused, or an error of the category "system" fails the request, as fold() says in
 *  kernel/fold/fold-domain.h. */
int action_fold(struct wfs_fold *fold, struct wfs_error *error);

/** action_fold_answer() - fold the answer to the effect (mint.score) that the action of record 0
 *  has asked for: store the score in the bid, pay the bidder, and add the score to the action's
 *  answer; an effect that was refused counts as score 0
 *  @cell_index: index of the bid's cell in fold->cells; @event: the answer, of schema
 *  sys/Receipt@1 */
int action_fold_answer(
	struct wfs_fold *fold, size_t cell_index, const json_t *event, struct wfs_error *error);

/* What artifacts of one type hold beside their content: the entries of a memory store. The domain
 * that has them implements the functions (struct wfs_domain, member `holding`). */
struct artifact_holding {
	/** check() - check that the artifact's content is valid for its type. Return: 0, also for
	 *  artifacts of types that are not the domain's; -EINVAL (not valid), … */
	int (*check)(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
		struct wfs_error *error);
	/** entries() - get the entries that the artifact's content lists
	 *  @ret_entries: JSON array, which caller owns; NULL: the content lists none */
	int (*entries)(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
		json_t **ret_entries, struct wfs_error *error);
	/** take_content() - after the content was written: add the entries that it now lists and
	 *  did not list before, and remove those that it does not list any more
	 *  @before: result of entries() before the write; borrowed; NULL: none */
	int (*take_content)(struct act *act, const struct wfs_document_artifact *artifact,
		json_t *before, struct wfs_error *error);
	/** bytes() - get the bytes that an artifact holds beside its content; 0: nothing */
	int (*bytes)(struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes,
		struct wfs_error *error);
	/** delete_all() - delete what a deleted artifact holds beside its content; the caller has
	 *  already subtracted the bytes from the disk use of the account to which they were
	 *  charged */
	int (*delete_all)(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error);
};

/** artifact_holding() - get the functions for what artifacts hold beside their content, from the
 *  domain of @fold whose table has them, as one must; static, never NULL. */
const struct artifact_holding *artifact_holding(const struct wfs_fold *fold);

/** act_run() - do @action as act->actor, and fill the outcome in @act; if the action fails, take
 *  back all changes of cells that it has made, except cells of sys.invocation that tell of a failed
 *  invocation (invoke_artifact(), invoke.h)
 *  Invocations on trial (invoke_on_trial(), invoke.h) stay in act->nest, so that the record has
 *  them.
 *  @act: the caller ends it with act_done(), also on failure. @action: borrowed during the call
 *  Return: 0, or the -errno of the refusal. */
int act_run(struct act *act, const json_t *action, struct wfs_error *error);
void act_done(struct act *act);
#define ACT_AUTO WFS_CLEANUP(act_done)

/** act_has_crashed() - does the record of the action say that its code ended the process in which
 *  the code ran, or was refused because it had ended such processes before? Such code must not run
 *  again. False for an action that is not from a journal. */
bool act_has_crashed(const struct act *act);

/** act_refuse_again() - fill @error with the error code of the action's record (act->recorded, not
 *  NULL), without doing the action. Return: the -errno of this code. */
int act_refuse_again(struct act *act, struct wfs_error *error);

/** act_add_result() - add to @result, the record's `result`, what a later fold cannot compute: how
 *  long invocations took, which code a bound has ended, and embeddings by a server; and the paid
 *  price. Return: 0, or -ENOMEM. */
int act_add_result(const struct act *act, json_t *result);

/* --- act-hide.c: private texts of an action, for its record --- */

/* The private texts of an action. Plain value; act_hiding_done. */
struct act_hiding {
	struct act *act;
	struct wfs_privacy privacy;
	json_t *members; /* members of the action with stand-ins, for its record; owned */
};

/** act_hide() - before an action is done: find its private texts, and make stand-ins for its record
 *  The texts are added to act->fold->texts.
 *  @hiding: the caller has set `act`, this function fills the rest; caller ends it with
 *  act_hiding_done(), also on failure. @action: as it was sent */
int act_hide(struct act_hiding *hiding, const json_t *action, struct wfs_error *error);
void act_hiding_done(struct act_hiding *hiding);
#define ACT_HIDING_AUTO WFS_CLEANUP(act_hiding_done)

/** act_reveal() - copy @document, a part of a record, with private texts in the place of their
 *  stand-ins; @recorded: finds the texts. @ret_copy: caller owns it
 *  Return: 0, or -errno (also if a text is lost). */
int act_reveal(struct wfs_action_recorded *recorded, const json_t *document, json_t **ret_copy,
	struct wfs_error *error);

/** act_query() - answer a query (query-run.h) with what act->payer or, within an invocation, the
 *  author of the code may see
 *  The answer is about the world before the record. @type, @params: of the query
 *  (kernel/query/query.h)
 *  @ret_result: caller owns it. Return: 0, or as wfs_query_check(), author_may() (invoke.h) or
 *  wfs_query_run(), … */
int act_query(struct act *act, const char *type, const json_t *params, json_t **ret_result,
	struct wfs_error *error);

/** act_refuse_with() - set act->details, the details of a refusal. @details: reference taken;
 *  NULL (the caller had no memory): the refusal has no details. Return: @r. */
int act_refuse_with(struct act *act, json_t *details, int r);

/* One function for each action: does it, with the parameters in act->params, and fills the outcome
 * in @act. If it fails, its caller takes back what it has changed. */
#define ACT_DECLARE(constant, member, ...) \
	int act_##member(struct act *act, struct wfs_error *error);
WFS_ACTIONS(ACT_DECLARE)
#undef ACT_DECLARE

/* --- artifact.c: cells of artifacts, and who may use them --- */

/** artifact_get() - read the artifact @id from its cell
 *  @ret_artifact: zeros before; caller ends it with wfs_document_done()
 *  (kernel/manifest/document.h), after a failure, too
 *  Return: 0, -ENOENT (not_found: no artifact has this id; deleted: it was deleted), … */
int artifact_get(struct wfs_fold *fold, const char *id, struct wfs_document_artifact *ret_artifact,
	struct wfs_error *error);

/** artifact_exists() - does an artifact, not a deleted one, have this id? Return: 1, 0, or
 *  -errno. */
int artifact_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** artifact_text_size() - get the size in bytes of an artifact's content (@reducer:
 *  WFS_BUILTIN_CONTENT) or code (WFS_BUILTIN_CODE); 0 if the artifact never had code. */
static inline int64_t artifact_text_size(
	const struct wfs_document_artifact *artifact, enum wfs_builtin_reducer reducer)
{
	if (reducer == WFS_BUILTIN_CONTENT)
		return artifact->content_size;
	return artifact->code_size > 0 ? artifact->code_size : 0;
}

/** artifact_is_free() - may the actor invoke the artifact without paying? True if the actor or the
 *  payer owns the artifact, or if the actor is the mint, which only runs the tests of the
 *  artifact's interface. For reading use artifact_read_price(), because an owner may have to pay
 *  for reading. */
bool artifact_is_free(const struct act *act, const struct wfs_document_artifact *artifact);

/** artifact_invoke_price() - get the invoke_price that the payer has to pay for an invocation by
 *  the actor, in scrip; 0 if artifact_is_free(). */
int64_t artifact_invoke_price(const struct act *act, const struct wfs_document_artifact *artifact);

/** artifact_read_price() - get the read_price that the payer has to pay for reading by the actor,
 *  in scrip
 *  An owner who runs code of another author pays, too: otherwise such code could give away what the
 *  owner sells. */
int64_t artifact_read_price(const struct act *act, const struct wfs_document_artifact *artifact);

/** artifact_earner() - find the account that earns the artifact's prices: the owner's or, while
 *  genesis_escrow owns the artifact to sell it, the seller's. If the seller no longer exists, the
 *  account to whose disk the artifact is charged earns them.
 *  @ret_id: id of the account */
int artifact_earner(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error);

/** artifact_pay_to_read() - have act->payer pay the artifact's read_price
 *  @ret_price: paid scrip; 0: reading is free
 *  Return: 0, -EDQUOT (insufficient_funds: the payer has less scrip, or is the mint), -EACCES
 *  (not_authorized: the payer owns the artifact and runs code of another author, so it would pay
 *  itself), … */
int artifact_pay_to_read(struct act *act, const struct wfs_document_artifact *artifact,
	int64_t *ret_price, struct wfs_error *error);

/** artifact_check_payer() - check that the payer is not the mint, unless @price is 0. @artifact:
 *  the one whose price @price is, for the message. Return: 0, or -EDQUOT (insufficient_funds: it is
 *  the mint). */
int artifact_check_payer(const struct act *act, const struct wfs_document_artifact *artifact,
	int64_t price, struct wfs_error *error);

/** artifact_text() - read the content (@reducer: WFS_BUILTIN_CONTENT) or code (WFS_BUILTIN_CODE) of
 *  the artifact @id. @ret_bytes: empty if it has none; borrowed until the fold next reads or
 *  changes a cell */
int artifact_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes *ret_bytes, struct wfs_error *error);

/** artifact_set_text() - set the content (@reducer: WFS_BUILTIN_CONTENT) or the code
 *  (WFS_BUILTIN_CODE) of the artifact @id; empty code is deleted, empty content is stored.
 *  @bytes: copied */
int artifact_set_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes bytes, struct wfs_error *error);

/** artifact_change_text() - do artifact_set_text(), charge the disk of the account
 *  artifact->charged_to for the difference in size, and update size, hash, time and, for code, the
 *  author in @artifact, which the caller stores. Return: 0, -EDQUOT (quota_exceeded: the disk quota
 *  has no room), … */
int artifact_change_text(struct act *act, struct wfs_document_artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes, struct wfs_error *error);

/** artifact_size() - add up the bytes of an artifact's content, code and, if it is a memory store,
 *  entries. */
int artifact_size(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	int64_t *ret_size, struct wfs_error *error);

/** artifact_disk_payer() - find the account to whose disk the artifacts that @id owns are charged:
 *  the account to which @id is charged, if @id is an artifact; otherwise @id itself
 *  @ret_id: id of the account. Return: 0, -ENOENT (deleted: @id is a deleted artifact), … */
int artifact_disk_payer(struct wfs_fold *fold, const char *id,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error);

/* Uses of an artifact. X(constant, name) */
#define ARTIFACT_USES(X)    \
	X(READ, "read")     \
	X(WRITE, "write")   \
	X(EDIT, "edit")     \
	X(DELETE, "delete") \
	X(INVOKE, "invoke")

enum artifact_use {
#define ARTIFACT_USE_ENUM(constant, name) ARTIFACT_USE_##constant,
	ARTIFACT_USES(ARTIFACT_USE_ENUM)
#undef ARTIFACT_USE_ENUM
};

/** artifact_permit() - check that the actor may use the artifact in the way @use, by its rules or
 *  its contract
 *  Return: 0; -EACCES (not_authorized: the actor may not); -ENOENT (not_found: the actor may not,
 *  and may not even know that the artifact exists; for ARTIFACT_USE_WRITE this is -EACCES, with the
 *  error of act_refuse_id()); … */
int artifact_permit(struct act *act, const struct wfs_document_artifact *artifact,
	enum artifact_use use, struct wfs_error *error);

/* --- act-refuse.c --- */

/*
 * Refusals that do not tell the actor more than it may see, by the rights of the payer or, within
 * an invocation, of the author of the code: an artifact that is not shown is refused as one that
 * does not exist.
 */

/** act_knows() - may the actor know that this artifact or principal exists? Return: 1, 0, or
 *  -errno. */
int act_knows(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** act_artifact() - read an artifact as artifact_get() does; but if the artifact was deleted, and
 *  the actor may not know it, the error is not_found, not deleted. @ret_artifact, Return: as for
 *  artifact_get(). */
int act_artifact(const struct act *act, const char *id, struct wfs_document_artifact *ret_artifact,
	struct wfs_error *error);

/** act_refuse_artifact() - refuse the use of an existing artifact
 *  @error: the caller has filled it with the reason (not_authorized). Return: -EACCES, with @error
 *  unchanged; -ENOENT (not_found: the actor may not know the artifact; @error then is as for an id
 *  that does not exist); or another -errno. */
int act_refuse_artifact(const struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_error *error);

/** act_refuse_id() - refuse to make something whose id is taken
 *  @entity: kind of what has the id now
 *  @error: the caller has filled it with the reason; if the actor may not know what has the id, the
 *  function replaces it by an error that says only that the id is taken
 *  Return: the -errno of @error. */
int act_refuse_id(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** artifact_check_code() - check that the artifact's code compiles, and defines a function `run` or
 *  `check`. Return: 0, -EINVAL (syntax_error: the code does not compile, or defines neither
 *  function), -EIO (runtime_error: the code outside of its functions fails, or hits a bound), … */
int artifact_check_code(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error);

/** artifact_check_content() - check that the content has the form that the artifact's type requires
 *  (act-form.c); called when content or type has changed. Return: 0, -EINVAL (another form),
 *  -EFBIG (too_large: more bytes or items than the form allows), … */
int artifact_check_content(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error);

/** artifact_is_rule() - is @access, the member of an artifact, the name of a built-in rule?
 *  Otherwise it is the id of a contract. */
bool artifact_is_rule(const char *access);
