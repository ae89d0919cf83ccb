/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: one action while it is done, and what the handlers share.
 *
 * `actor` is whose permission is asked and whose things are given away: the principal, or the
 * artifact whose code runs. `payer` is the principal at the beginning of it all, who pays prices.
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

/* Bytes that came with an action: its content, or its code. */
struct act_text {
	bool given;
	struct wfs_buffer bytes;
	struct wfs_hash hash;
};

struct act {
	struct wfs_fold *fold;
	const char *actor;
	const char *payer;
	struct wfs_action_recorded *recorded; /* it comes from a journal; else NULL */
	struct nest *nest;                    /* of the record; see invoke.h */
	struct invocation *within;            /* whose code acts; NULL: none */
	struct wfs_params params;
	const json_t *sent; /* what they were decoded from */
	struct act_text content;
	struct act_text code;

	/* What it gives. */
	char message[512];
	json_t *data;       /* owned; NULL: null */
	json_t *details;    /* of a refusal; owned, may be NULL */
	int64_t price_paid; /* -1: it has none */
	bool unrecorded;    /* it only read */
	bool refused_again; /* as its record tells; nothing was computed */
};

/** action_fold() - do the action of record 0, or change nothing; sets fold->outcome. */
int action_fold(struct wfs_fold *fold, struct wfs_error *error);

/**
 * action_fold_answer() - fold the answer to what the action of record 0 has asked for
 * @cell_index: that asked
 * @event: of sys/Receipt@1
 */
int action_fold_answer(
	struct wfs_fold *fold, size_t cell_index, const json_t *event, struct wfs_error *error);

/* What artifacts hold beside their content, by a domain above. Table of functions. */
struct artifact_holding {
	/** check() - is the content in order, if the artifact is of that domain's type? */
	int (*check)(
		struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error);
	/** entries() - @ret_entries: those that the content names; NULL: none; caller owns it */
	int (*entries)(struct wfs_fold *fold, const struct artifact *artifact, json_t **ret_entries,
		struct wfs_error *error);
	/** take_content() - do to what is held what a write did to the entries of the content
	 *  @before: what entries() gave before the write; may be NULL */
	int (*take_content)(struct act *act, const struct artifact *artifact, json_t *before,
		struct wfs_error *error);
	/** bytes() - of what is held; 0: nothing */
	int (*bytes)(struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes,
		struct wfs_error *error);
	/** delete_all() - the artifact is deleted; its disk was given back by the caller */
	int (*delete_all)(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error);
};

/** artifact_holding() - the table of the domain that has one. */
const struct artifact_holding *artifact_holding(const struct wfs_fold *fold);

/** act_run() - do what @action says, or change nothing (but that it was tried to invoke something). */
int act_run(struct act *act, const json_t *action, struct wfs_error *error);
void act_done(struct act *act);
#define ACT_AUTO WFS_CLEANUP(act_done)

/** act_has_crashed() - does the record of the action say that code ended its process, or was
 *  refused for that? Such code must not run again. */
bool act_has_crashed(const struct act *act);

/** act_refuse_again() - refuse the action with the error code of its record, and do nothing */
int act_refuse_again(struct act *act, struct wfs_error *error);

/** act_add_result() - what its record tells beside the outcome: price, nested invocations, bounds that ended code.
 *  Return: 0, or -ENOMEM. */
int act_add_result(const struct act *act, json_t *result);

/* --- act-hide.c: private texts of an action, for its record --- */

/* Plain value; act_hiding_done. */
struct act_hiding {
	struct act *act;
	struct wfs_privacy privacy;
	json_t *members; /* of the action as its record has them: stand-ins; owned */
};

/** act_hide() - find the texts of @action, before it is done, and give its record stand-ins for them.
 *  The texts are added to those of the fold. */
int act_hide(struct act_hiding *hiding, const json_t *action, struct wfs_error *error);
void act_hiding_done(struct act_hiding *hiding);
#define ACT_HIDING_AUTO WFS_CLEANUP(act_hiding_done)

/** act_reveal() - a copy of a part of a record, with texts in the place of stand-ins; caller owns it. */
int act_reveal(struct wfs_action_recorded *recorded, const json_t *document, json_t **ret_copy,
	struct wfs_error *error);

/** act_query() - ask it; see query-run.h. Code gets what its author sees, a principal what it sees. */
int act_query(struct act *act, const char *type, const json_t *params, json_t **ret_result,
	struct wfs_error *error);

/** act_refuse_with() - set details, a new reference that is taken; @r: passed on. */
int act_refuse_with(struct act *act, json_t *details, int r);

/* One for each action. Each does all of it, or fails; what it changed then is taken back. */
#define ACT_DECLARE(constant, member, ...) \
	int act_##member(struct act *act, struct wfs_error *error);
WFS_ACTIONS(ACT_DECLARE)
#undef ACT_DECLARE

/* --- artifact.c: their cells, and who may --- */

/* One artifact, as it is now. Plain value; artifact_done. */
struct artifact {
	json_t *document; /* owned */
	size_t cell;
	const char *id; /* borrowed from the document, as what follows */
	const char *owner;
	const char *access;
	bool executable;
};
void artifact_done(struct artifact *artifact);
#define ARTIFACT_AUTO WFS_CLEANUP(artifact_done)

/** artifact_of() - one whose document is taken. */
struct artifact artifact_of(json_t *document, size_t cell);

/** artifact_get() - Return: 0, -ENOENT (not_found, deleted), … */
int artifact_get(struct wfs_fold *fold, const char *id, struct artifact *ret_artifact,
	struct wfs_error *error);

/** artifact_exists() - Return: 1, 0, or -errno. */
int artifact_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** artifact_put() - its document is its new state. */
int artifact_put(struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error);

/** artifact_take_writer_out() - its document names no `authorized_writer` any more; the caller puts it. */
int artifact_take_writer_out(struct artifact *artifact, struct wfs_error *error);

/** artifact_number() - an integer member of its document; 0 when it is absent. */
int64_t artifact_number(const struct artifact *artifact, const char *member);

/** artifact_is_free() - for who acts, whatever it costs others: for its owner, and for the mint, which only
 *  tries it. */
bool artifact_is_free(const struct act *act, const struct artifact *artifact);

/** artifact_price() - what a price of its document is for who acts. @member: read_price or
 *  invoke_price */
int64_t artifact_price(const struct act *act, const struct artifact *artifact, const char *member);

/** artifact_read_price() - the read_price for the actor. It is not 0 for code that the owner of the artifact
 *  runs and has not written: such code could give away what the owner sells. */
int64_t artifact_read_price(const struct act *act, const struct artifact *artifact);

/** artifact_earner() - who gets what is paid for it: its owner, or while it is for sale the seller; of one
 *  who is gone, whose disk it takes. */
int artifact_earner(struct wfs_fold *fold, const struct artifact *artifact,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error);

/** artifact_pay_to_read() - everybody but the owner pays; code of another author that the owner runs is refused.
 *  @ret_price: that was paid. Return: 0, -EDQUOT (insufficient_funds), -EACCES (not_authorized), … */
int artifact_pay_to_read(struct act *act, const struct artifact *artifact, int64_t *ret_price,
	struct wfs_error *error);

/** artifact_check_payer() - may a price be paid? Return: 0, or -EDQUOT (insufficient_funds). */
int artifact_check_payer(const struct act *act, const struct artifact *artifact, int64_t price,
	struct wfs_error *error);

/** artifact_text() - its content or code (@reducer); empty when there is none. Borrowed until the
 *  fold changes something. */
int artifact_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes *ret_bytes, struct wfs_error *error);

/** artifact_set_text() - its new content or code; size 0 of code: there is none. */
int artifact_set_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes bytes, struct wfs_error *error);

/**
 * artifact_change_text() - the same, with what its document tells of it, and the disk it takes
 * Return: 0, -EDQUOT (quota_exceeded), …
 */
int artifact_change_text(struct act *act, struct artifact *artifact,
	enum wfs_builtin_reducer reducer, struct wfs_bytes bytes, struct wfs_error *error);

/** artifact_size() - the disk that it takes, with entries of a memory store. */
int artifact_size(struct wfs_fold *fold, const struct artifact *artifact, int64_t *ret_size,
	struct wfs_error *error);

/** artifact_charged_to() - the account whose disk its bytes take. */
const char *artifact_charged_to(const struct artifact *artifact);

/**
 * artifact_disk_payer() - the account whose disk is taken by what @id owns
 * Of an artifact it is the one that its own bytes are charged to.
 * @ret_payer: borrowed from @id or from @ret_keep, which caller owns
 * Return: 0, -ENOENT (deleted, not_found), …
 */
int artifact_disk_payer(struct wfs_fold *fold, const char *id, const char **ret_payer,
	json_t **ret_keep, struct wfs_error *error);

/* What may be done to an artifact. X(constant, name) */
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

/** artifact_permit() - may the actor do that? Return: 0, -EACCES (not_authorized), -ENOENT (not_found: not, and it
 *  is not shown to the actor; but of WRITE act_refuse_id() says that), … */
int artifact_permit(struct act *act, const struct artifact *artifact, enum artifact_use use,
	struct wfs_error *error);

/* --- act-refuse.c --- */

/*
 * What an action that fails tells of what the one that acts is not shown: one refusal for what is not there, and
 * for what is there and may not be used.
 */

/** act_knows() - author_knows() of the principal that acts, or of the code that does. */
int act_knows(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** act_artifact() - artifact_get(); only an actor that sees the artifact learns that it was deleted. */
int act_artifact(const struct act *act, const char *id, struct artifact *ret_artifact,
	struct wfs_error *error);

/**
 * act_refuse_artifact() - an artifact that is there may not be used so
 * @error: filled, of -EACCES
 * Return: -EACCES, or -ENOENT with the error of act_artifact() when it is not shown, or -errno.
 */
int act_refuse_artifact(
	const struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** act_refuse_id() - refuse to make something with an id that is taken
 *  @error: has the reason. If the actor may not see what has the id, the reason is replaced by one
 *  that says no more than that the id is taken.
 *  Return: a negative errno. */
int act_refuse_id(
	const struct act *act, enum wfs_entity entity, const char *id, struct wfs_error *error);

/** artifact_check_code() - does it compile, and define what is called? Return: 0, -EINVAL
 *  (syntax_error), -EIO (runtime_error), … */
int artifact_check_code(struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** artifact_check_content() - act-form.c: has its content the form that its type asks for? To be asked when one
 *  of them changes. Return: 0, -EINVAL, -EFBIG (too_large), … */
int artifact_check_content(
	struct act *act, const struct artifact *artifact, struct wfs_error *error);

/** artifact_is_rule() - is it the name of a rule that needs no contract? */
bool artifact_is_rule(const char *access);
