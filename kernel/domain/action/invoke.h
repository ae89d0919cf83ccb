/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: running the code of artifacts, and what that code can ask for.
 *
 * All invocations of one record are a *nest*. They share the bounds for one record, and are
 * numbered in the order in which they begin. What folding cannot compute again (how long each
 * took, and which of them a bound has ended) is stored in the record's result, and taken from
 * there when the record is folded again. A contract is code that decides whether an actor may use
 * an artifact; asking it is a check. The author of code is the principal responsible for it.
 * Functions that return int return 0, or -errno with @error filled. After a failure results
 * (@ret_…) are to be ignored, and need not be freed, unless the comment says otherwise.
 */
#pragma once

#include "kernel/box/box.h"
#include "kernel/domain/action/act.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/rights/rights.h"

enum {
	INVOKE_DEPTH_MAX = 5,           /* invocations within one another */
	INVOKE_COUNT_MAX = 1024,        /* invocations of a nest */
	INVOKE_ACTION_COUNT_MAX = 1024, /* actions that a nest takes */
};

/* The invocations of one record. Plain value; nest_done. */
struct nest {
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error); /* act_run() */
	json_t *result; /* for the record: {duration_ms, stopped?} of the outermost; owned */
	json_t *nested; /* array of {duration_ms, stopped?} of the other invocations; owned */
	const json_t *recorded; /* result of the record that is folded again; NULL: a new record */
	json_t *stopped_checks; /* {number: message} of contracts that a bound has ended; owned */
	json_t *embeddings;     /* made by a server; see kernel/domain/memory/embedding.h; owned */
	bool embedder_told;     /* `embedder` goes into the record's result */
	int64_t began_ns;       /* processor time of the thread when the nest began */
	json_t *refused_contents;   /* numbers of writes of code, see act-form.c; owned */
	size_t count;               /* invocations so far */
	size_t check_count;         /* contracts that were asked */
	size_t content_count;       /* writes of content by code */
	size_t action_count;        /* actions by code */
	size_t submission_count;    /* submissions to the mint that were not taken back */
	struct wfs_rights **rights; /* of authors whose code asked for something; owned */
	size_t rights_count;
	size_t rights_capacity;
};

/** nest_init() - prepare for the invocations of one record; the caller calls nest_done(), also on
 *  failure. @run: act_run() (act.h), with which the code of an artifact does each of its actions
 *  @recorded: result of the record that is folded again, borrowed until nest_done(); NULL: the
 *  record is new. Return: 0, or -ENOMEM (no @error is filled). */
int nest_init(struct nest *nest,
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error),
	const json_t *recorded);
void nest_done(struct nest *nest);
#define NEST_AUTO WFS_CLEANUP(nest_done)

/** nest_check_time() - fail if the thread has spent more processor time on the nest than code may
 *  take
 *  The time counts what the host does for code, such as queries. The record says what this bound
 *  has ended, so the check passes when the record is folded again.
 *  @id: name for the message: the artifact whose code is ended, or other work that takes long
 *  Return: 0, or -EIO (runtime_error: more time was spent). */
int nest_check_time(const struct act *act, const char *id, struct wfs_error *error);

/** nest_forget_checks() - set nest->check_count back to @count, and remove the messages of the
 *  contracts that were asked after that from nest->stopped_checks
 *  Called when a bound ends the invocation or check within which they were asked. */
void nest_forget_checks(struct nest *nest, size_t count);

/** nest_forget_contents() - set nest->content_count back to @count, and remove the numbers of the
 *  writes of content that were counted after that from nest->refused_contents
 *  Called when a bound ends the invocation that made these writes; see act-form.c. */
void nest_forget_contents(struct nest *nest, size_t count);

/* A running invocation, on the C stack. */
struct invocation {
	struct wfs_code_host host; /* first member: host_call() casts it to the invocation */
	struct act *act;           /* the action that invoked the artifact */
	const char *id;            /* of the artifact whose code runs */
	const char *author;        /* principal responsible for the code; see author.c */
	struct wfs_code *program;
	bool is_host; /* true: no code runs, the author asks for itself (act-query.c) */
	int depth;    /* 0 for the outermost */
	bool read_only;
	bool stopped; /* a bound ended it while the host did what the code asked for */
};

/* --- author.c --- */

/** author_of() - get the principal responsible for the code of an artifact; borrowed from the
 *  artifact's document; "" if the artifact has no code. */
const char *author_of(const struct wfs_document_artifact *artifact);

/** author_now() - get the principal that becomes responsible for code that this action writes: the
 *  payer or, within an invocation, the author of the code that acts; borrowed. */
const char *author_now(const struct act *act);

/** author_may() - check that the author's grants and the policy allow running code to have this
 *  effect
 *  @self: the running code; @artifact: id of the artifact that the effect is about; NULL: none
 *  Return: 0, -EACCES (not_authorized: no grant covers the effect, or the manifest lacks the
 *  effect; expired: the grant has ended; policy_denied), -EDQUOT (quota_exceeded: the grant's
 *  budget is spent), -EIO (a cell is damaged), … */
int author_may(const struct invocation *self, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);

/* What running code may see: what its author may. Plain value; author_sight_init. */
struct author_sight {
	struct wfs_query_sight sight; /* its context is the struct author_sight */
	const struct invocation *self;
	struct wfs_rights *rights; /* of the author; borrowed from the nest */
};

/** author_sight_init() - set up @sight for the running code @self; nothing has to be freed, and
 *  @sight, which points to itself, must not be copied, and is valid as long as @self
 *  Return: 0, -EIO (a cell is damaged), -ENOMEM. */
int author_sight_init(
	struct author_sight *sight, const struct invocation *self, struct wfs_error *error);

/** author_sees() - may a query of the running code show the row @name of @part (struct
 *  wfs_query_row, query-run.h), if the query names this row? Return: 1, 0, or -errno. */
int author_sees(const struct invocation *self, enum wfs_query_part part, const char *name,
	struct wfs_error *error);

/** author_knows() - may the running code know that this artifact or principal exists?
 *  Yes if the author may see a part of the directory of @id in the tree, or if @id is the running
 *  code's artifact or author. Return: 1, 0, or -errno. */
int author_knows(const struct invocation *self, enum wfs_entity entity, const char *id,
	struct wfs_error *error);

/** author_reads() - may the running code read the content of the artifact @id by the author's
 *  grants, which must let the author read the artifact's file `content`, or because @id is the
 *  running code's artifact? Return: 1, 0, or -errno. */
int author_reads(const struct invocation *self, const char *id, struct wfs_error *error);

void authors_done(struct nest *nest);

/* --- interface.c --- */

/** interface_check() - check the form of an artifact's `interface` before it is stored
 *  @interface: {description?, methods: [{name, description?, input?}], tests?}, `input` a schema;
 *  NULL is allowed. Return: 0, -EINVAL (another form), -EFBIG (too_large: more methods or tests
 *  than kernel/domain/action/action.h allows), -ENOMEM. */
int interface_check(const json_t *interface, struct wfs_error *error);

/** interface_check_call() - check that the artifact's interface has @method, and that @args match
 *  the schema of this method. If the interface has no `methods`, every method and all @args pass;
 *  if the method has no `input`, all @args pass
 *  @steps: increased by the steps that the check took (kernel/schema/schema.h)
 *  Return: 0, -EINVAL (invalid_argument: no such method, or @args do not match), -ENOMEM. */
int interface_check_call(const struct wfs_document_artifact *artifact, const char *method,
	const json_t *args, uint64_t *steps, struct wfs_error *error);

/** interface_has_secrets() - does an artifact's interface mark an argument of @method as secret?
 *  For a method that the interface does not have (a mistyped name), a mark at any method counts.
 *  @interface: member of the artifact's document; NULL: no marks */
bool interface_has_secrets(const json_t *interface, const char *method);

/** interface_describe() - make the answer to the method `describe`, which every artifact has,
 *  without running code
 *  @ret_result: {artifact_id, created_by, description, executable, methods, type}; caller owns it.
 *  `description` and `methods` are those of the interface; null and [] if it has none */
int interface_describe(
	const struct wfs_document_artifact *artifact, json_t **ret_result, struct wfs_error *error);

/* --- program.c --- */

/** action_program() - get the compiled code of an executable artifact, from the fold's cache or
 *  compiled now. The code was checked when it was written (artifact_check_code).
 *  @ret_program: a program that is not running; the cache owns it, and keeps it until the next call
 *  of action_program() or, if the caller runs the program, until it has run
 *  Return: 0, -EINVAL (invalid_type: the artifact has no code), -ENOMEM, or an -errno of
 *  wfs_code_new() (kernel/box/box.h). */
int action_program(struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_code **ret_program, struct wfs_error *error);

enum { ACTION_PROGRAMS_MAX = 32 }; /* cached programs: more than can run at once */

/* A cached program. Code that invokes itself has more than one. */
struct action_program {
	struct wfs_code *program;         /* owned */
	struct wfs_hash hash;             /* of the code */
	char id[WFS_ARTIFACT_ID_MAX + 1]; /* of the artifact, for messages */
	uint64_t used;                    /* value of `use_count` when it was last used */
};

/* The domain's memory in a fold (fold_kept): a cache of compiled code. */
struct action_programs {
	struct action_program kept[ACTION_PROGRAMS_MAX];
	size_t count;
	uint64_t use_count;
};

void action_programs_done(struct action_programs *programs);

/** action_limits() - get the limits of one invocation's code. When a journal is folded again, code
 *  gets twice the instructions, because only the first fold decides what a bound ends. */
struct wfs_lua_limits action_limits(const struct wfs_fold *fold);

/** action_instructions() - get how many instructions all code of one record together may take: as
 *  many as one invocation may (action_limits()). */
uint64_t action_instructions(const struct wfs_fold *fold);

/* --- contract.c --- */

enum { CONTRACT_REASON_SIZE = 256 };

/** contract_permit() - ask the contract that the artifact's `access` names whether the actor may
 *  use the artifact. If the contract does not exist, only the owner may; if the contract has no
 *  code or fails, nobody may.
 *  @use: name of the use, such as `read`
 *  @reason: buffer of CONTRACT_REASON_SIZE bytes; gets the reason if @ret_allowed is false
 *  Return: 0, or -errno that ends the whole nest. */
int contract_permit(struct act *act, const struct wfs_document_artifact *artifact, const char *use,
	bool *ret_allowed, char *reason, struct wfs_error *error);

/* --- host.c --- */

/* The functions that code of artifacts can call. */
extern const struct wfs_lua_binding host_bindings[];
extern const size_t host_binding_count;

/* Help for a function that code can call. Plain value with static lifetime. */
struct host_help {
	const char *arguments;
	const char *help;
};

/* Help for the first host_help_count of host_bindings, in their order. Those after them are the
 * actions, which have help of their own. */
extern const struct host_help host_helps[];
extern const size_t host_help_count;

/** host_call() - do what running code asks for by calling host_bindings[@binding_index]
 *  Called by the box, as wfs_code_host.call (kernel/box/box.h), on the thread that folds.
 *  @host: member `host` of a struct invocation. @arguments: JSON array of the call's arguments,
 *  borrowed. @ret_value: caller owns it; NULL: nil
 *  Return: 0, 1 (an error that the code may catch), or -errno, which ends the code; @error is
 *  filled if it is not 0. */
int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error);

/* --- invoke.c --- */

/* The outcome of one invocation. Plain value; the caller owns `result`. */
struct invoked {
	json_t *result;     /* what the code returned */
	int64_t price_paid; /* scrip */
};

/** invoke_artifact() - check that the actor may invoke the artifact @id, have act->payer pay its
 *  price, and run its code; a cell of sys.invocation tells how the invocation went. The method
 *  `describe` is answered without running code, without a price and without such a cell.
 *  If the payment or the code fails, the payer gets the price back, and all changes that the code
 *  made are taken back; the cell tells of the failure, unless the failure ends the whole nest.
 *  @act: the action that invokes the artifact. @method, @args (an array): passed to the code;
 *  borrowed
 *  @ret_invoked: set only on success
 *  Return: 0; -ENOENT (not_found, deleted), -EACCES (as artifact_permit(), act.h), -EINVAL
 *  (invalid_type: no code; depth_exceeded: nested too deeply, or too many invocations), -EDQUOT
 *  (insufficient_funds), or the -errno with which the code failed. invoke_fails_all() says whether
 *  the failure ends the whole nest. */
int invoke_artifact(struct act *act, const char *id, const char *method, const json_t *args,
	struct invoked *ret_invoked, struct wfs_error *error);

/** invoke_on_trial() - run the code of @artifact, which is executable, with the mint as actor and
 *  payer; needs no permission, and costs nothing
 *  All changes are taken back, also on success; the record's result has the invocation.
 *  @act: gives only the fold and the nest. @method, @args (an array): passed to the code; borrowed
 *  @ret_result: what the code returned; caller owns it; set only on success
 *  Return: 0, or the -errno of the failure; invoke_fails_all() says whether the failure ends the
 *  whole nest. */
int invoke_on_trial(struct act *act, const struct wfs_document_artifact *artifact,
	const char *method, const json_t *args, json_t **ret_result, struct wfs_error *error);

/** action_seed() - make the seed of ctx.random() from the world's entropy and the record
 *  @place: a number that is different for each invocation and check within the record */
void action_seed(const struct wfs_fold *fold, uint64_t place, uint8_t ret_seed[static 32]);

/** action_shown() - get the size in bytes of the longest prefix of @text that has at most @size
 *  bytes and does not end inside a UTF-8 character. */
int action_shown(struct wfs_bytes text, size_t size);

/** invoke_fails_all() - does this error end the whole nest, so that no code can catch it? True for
 *  errors of the category "system" (kernel/base/error.h), and if invoke_crashed(). */
bool invoke_fails_all(const struct wfs_error *error);

/** invoke_crashed() - does @error say that the code has ended the process that ran this code, now
 *  (code_crashed) or too often before (code_quarantined)?
 *  Then the action that ran the code changes nothing, and folding the action again takes its
 *  outcome from the record. */
bool invoke_crashed(const struct wfs_error *error);
