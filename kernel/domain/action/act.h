/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: one action while it is done, and what the handlers share.
 *
 * `actor` is asked for permission, and gives away what it owns: the principal of the record or,
 * within an invocation, the artifact whose code runs. `payer` is the principal of the record; it
 * pays prices.
 */
#pragma once

#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/account.h"
#include "kernel/fold/fold-work.h"
#include "kernel/manifest/entity-table.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/view.h"

struct artifact;
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
	struct nest *nest;                    /* that the record has; see invoke.h */
	struct invocation *within; /* the invocation whose code acts; NULL: a principal acts */
	struct wfs_params params;
	const json_t *sent; /* the JSON that `params` were decoded from */
	struct act_text content;
	struct act_text code;

	/* The outcome. */
	char message[512];
	json_t *data;       /* owned; NULL: null */
	json_t *details;    /* about a refusal; owned, may be NULL */
	int64_t price_paid; /* scrip; -1: the action has no price */
	bool unrecorded;    /* the action only read, so it gets no record */
	bool refused_again; /* refused because its record says so; nothing was computed */
};

/** action_fold() - do the action of record 0, or change nothing; sets fold->outcome. */
int action_fold(struct wfs_fold *fold, struct wfs_error *error);

/**
 * action_fold_answer() - fold the answer to what the action of record 0 has asked for
 * @cell_index: the cell that asked
 * @event: of schema sys/Receipt@1
 */
int action_fold_answer(
	struct wfs_fold *fold, size_t cell_index, const json_t *event, struct wfs_error *error);

/* What artifacts hold beside their content. A domain above implements these functions. */
struct artifact_holding {
	/** check() - is the content valid for an artifact of the domain's type? Return: 0, also
	 *  for artifacts of other types, or -errno. */
	int (*check)(
		struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error);
	/** entries() - get the entries that the content names. @ret_entries: NULL: none; caller
	 *  owns it */
	int (*entries)(struct wfs_fold *fold, const struct artifact *artifact, json_t **ret_entries,
		struct wfs_error *error);
	/** take_content() - apply to the held entries the changes that a write made to the entries
	 *  of the content
	 *  @before: entries() before the write; may be NULL */
	int (*take_content)(struct act *act, const struct artifact *artifact, json_t *before,
		struct wfs_error *error);
	/** bytes() - get the size of what the artifact holds beside its content; 0: nothing */
	int (*bytes)(struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes,
		struct wfs_error *error);
	/** delete_all() - delete what a deleted artifact holds; the caller has given back its
	 *  disk */
	int (*delete_all)(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error);
};

/** artifact_holding() - get the functions for what artifacts hold beside their content, from the
 *  domain that implements them. */
const struct artifact_holding *artifact_holding(const struct wfs_fold *fold);

/** act_run() - do @action, or change nothing except that a tried invocation is recorded. */
int act_run(struct act *act, const json_t *action, struct wfs_error *error);
void act_done(struct act *act);
#define ACT_AUTO WFS_CLEANUP(act_done)

/** act_has_crashed() - does the action's record say that code ended its process, or was refused
 *  because it did before? Such code must not run again. */
bool act_has_crashed(const struct act *act);

/** act_refuse_again() - refuse the action with the error code of its record, without doing it. */
int act_refuse_again(struct act *act, struct wfs_error *error);

/** act_add_result() - add to @result what the record tells beside the outcome: the price, nested
 *  invocations, and the bounds that ended code. Return: 0, or -ENOMEM. */
int act_add_result(const struct act *act, json_t *result);

/* --- act-hide.c: private texts of an action, for its record --- */

/* Plain value; act_hiding_done. */
struct act_hiding {
	struct act *act;
	struct wfs_privacy privacy;
	json_t *members; /* of the action as its record has them: stand-ins; owned */
};

/** act_hide() - find the private texts of @action, before it is done, and give its record
 *  stand-ins for them.
 *  The texts are added to those of the fold. */
int act_hide(struct act_hiding *hiding, const json_t *action, struct wfs_error *error);
void act_hiding_done(struct act_hiding *hiding);
#define ACT_HIDING_AUTO WFS_CLEANUP(act_hiding_done)

/** act_reveal() - copy a part of a record, with private texts in the place of their stand-ins.
 *  @ret_copy: caller owns it */
int act_reveal(struct wfs_action_recorded *recorded, const json_t *document, json_t **ret_copy,
	struct wfs_error *error);

/** act_query() - run a query (query-run.h). Code gets what its author sees, a principal what it
 *  sees itself.
 *  @ret_result: caller owns it */
int act_query(struct act *act, const char *type, const json_t *params, json_t **ret_result,
	struct wfs_error *error);

/** act_refuse_with() - set the details of a refusal. @details: new reference, taken. Return: @r. */
int act_refuse_with(struct act *act, json_t *details, int r);

/* One function for each action. When it fails, its caller takes back what it has changed. */
#define ACT_DECLARE(constant, member, ...) \
	int act_##member(struct act *act, struct wfs_error *error);
WFS_ACTIONS(ACT_DECLARE)
#undef ACT_DECLARE

/* --- artifact.c: cells of artifacts, and who may use them --- */

/* An artifact in its present state. Plain value; artifact_done. */
struct artifact {
	json_t *document; /* owned */
	size_t cell;
	const char *id; /* borrowed from the document, as are the next two */
	const char *owner;
	const char *access;
	bool executable;
};
void artifact_done(struct artifact *artifact);
#define ARTIFACT_AUTO WFS_CLEANUP(artifact_done)

/** artifact_of() - make the value from an artifact's document. @document: taken */
struct artifact artifact_of(json_t *document, size_t cell);

/** artifact_get() - load an artifact. Return: 0, -ENOENT (not_found, deleted), … */
int artifact_get(struct wfs_fold *fold, const char *id, struct artifact *ret_artifact,
	struct wfs_error *error);

/** artifact_exists() - does an artifact have this id? Return: 1, 0, or -errno. */
int artifact_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** artifact_put() - store the artifact's document as the new state of its cell. */
int artifact_put(struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error);

/** artifact_take_writer_out() - remove `authorized_writer` from the metadata of its document; the
 *  caller stores it. */
int artifact_take_writer_out(struct artifact *artifact, struct wfs_error *error);

/** artifact_number() - get an integer member of its document; 0 if it is absent. */
int64_t artifact_number(const struct artifact *artifact, const char *member);

/** artifact_is_free() - does the actor get the artifact without paying? True for its owner, and
 *  for the mint, which only tries it. */
bool artifact_is_free(const struct act *act, const struct artifact *artifact);

/** artifact_price() - the price that the actor has to pay, in scrip. @member: read_price or
 *  invoke_price */
int64_t artifact_price(const struct act *act, const struct artifact *artifact, const char *member);

/** artifact_read_price() - the read_price that the actor has to pay, in scrip
 *  It is not 0 for code of another author that the owner of the artifact runs: such code could
 *  give away what the owner sells. */
int64_t artifact_read_price(const struct act *act, const struct artifact *artifact);

/** artifact_earner() - find the account that earns the artifact's prices
 *  It is the owner's or, while the artifact is for sale, the seller's. If the seller is gone, it
 *  is the account whose disk the artifact takes. */
int artifact_earner(struct wfs_fold *fold, const struct artifact *artifact,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error);

/** artifact_pay_to_read() - have act->payer pay the artifact's read_price
 *  @ret_price: paid scrip; 0: reading is free
 *  Return: 0, -EDQUOT (insufficient_funds), -EACCES (not_authorized: the payer owns the artifact
 *  and runs code of another author, so it would pay itself), … */
int artifact_pay_to_read(struct act *act, const struct artifact *artifact, int64_t *ret_price,
	struct wfs_error *error);

/** artifact_check_payer() - may the payer pay @price? The mint may not. Return: 0, or -EDQUOT
 *  (insufficient_funds). */
int artifact_check_payer(const struct act *act, const struct artifact *artifact, int64_t price,
	struct wfs_error *error);

/** artifact_text() - read the content or code (@reducer) of an artifact; empty if it has none.
 *  @ret_bytes: borrowed until the fold changes something */
int artifact_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes *ret_bytes, struct wfs_error *error);

/** artifact_set_text() - set the content (@reducer: WFS_BUILTIN_CONTENT) or the code
 *  (WFS_BUILTIN_CODE) of the artifact @id; empty code is deleted. */
int artifact_set_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes bytes, struct wfs_error *error);

/**
 * artifact_change_text() - artifact_set_text(), which also charges the disk and updates size, hash
 * and time in the document
 */
int artifact_change_text(struct act *act, struct artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes, struct wfs_error *error);

/** artifact_size() - bytes of its content, its code and, of a memory store, its entries. */
int artifact_size(struct wfs_fold *fold, const struct artifact *artifact, int64_t *ret_size,
	struct wfs_error *error);

/** artifact_charged_to() - the account to whose disk its bytes are charged. */
const char *artifact_charged_to(const struct artifact *artifact);

/**
 * artifact_disk_payer() - find the account to whose disk the artifacts of @id are charged
 * If @id is itself an artifact, it is the account to which that one is charged.
 * @ret_payer: borrowed from @id or from @ret_keep, which caller owns
 * Return: 0, -ENOENT (deleted, not_found), …
 */
int artifact_disk_payer(struct wfs_fold *fold, const char *id, const char **ret_payer,
	json_t **ret_keep, struct wfs_error *error);

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

/** artifact_permit() - may the actor use the artifact so?
 *  Return: 0; -EACCES (not_authorized); -ENOENT (not_found: refused, and the artifact is not shown
 *  to the actor; for WRITE act_refuse_id() words the refusal); … */
int artifact_permit(struct act *act, const struct artifact *artifact, enum artifact_use use,
	struct wfs_error *error);

/* --- act-refuse.c --- */

/*
 * Refusals that do not tell the actor more than it may see: an artifact that is not shown is
 * refused as one that does not exist.
 */

/** act_knows() - author_knows() for the principal or the code that acts. */
int act_knows(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** act_artifact() - artifact_get(), but only an actor that sees the artifact learns that it was
 *  deleted. */
int act_artifact(const struct act *act, const char *id, struct artifact *ret_artifact,
	struct wfs_error *error);

/**
 * act_refuse_artifact() - refuse the use of an existing artifact
 * @error: already filled for -EACCES
 * Return: -EACCES; or -ENOENT with the error of act_artifact() if the artifact is not shown to the
 * actor; or -errno.
 */
int act_refuse_artifact(
	const struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** act_refuse_id() - refuse to make something with an id that is taken
 *  @error: has the reason. If the actor may not see what has the id, the reason is replaced by one
 *  that says only that the id is taken.
 *  Return: a negative errno. */
int act_refuse_id(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** artifact_check_code() - does the code compile, and define one of the functions that are called?
 *  Return: 0, -EINVAL (syntax_error), -EIO (runtime_error), … */
int artifact_check_code(struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** artifact_check_content() - has the content the form that the artifact's type requires
 *  (act-form.c)? Called when content or type changes. Return: 0, -EINVAL, -EFBIG (too_large), … */
int artifact_check_content(
	struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** artifact_is_rule() - is this value of `access` the name of a built-in rule, and not of a
 *  contract? */
bool artifact_is_rule(const char *access);
