/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: running the code of artifacts, and what that code can ask for.
 *
 * All invocations of one record are a *nest*. They share the bounds for one record, and are
 * numbered in the order in which they begin. What folding cannot compute again (how long each
 * took, and which of them a bound has ended) is stored in the record's result, and taken from
 * there when the record is folded again.
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
	const json_t *recorded; /* result of the record that is folded again; NULL: new */
	json_t *stopped_checks; /* {number: message} of contracts that a bound has ended; owned */
	json_t *embeddings;     /* made by a server; see kernel/domain/memory/embedding.h; owned */
	bool embedder_told;     /* the host's embedder was looked at */
	int64_t began_ns;       /* processor time of the thread when the nest began */
	json_t *refused_contents; /* numbers of writes of code, see act-form.c; owned */
	size_t count;
	size_t check_count;
	size_t content_count;
	size_t action_count;
	size_t submission_count;    /* submissions to the mint that were not taken back */
	struct wfs_rights **rights; /* of authors whose code asked for something; owned */
	size_t rights_count;
	size_t rights_capacity;
};

/** nest_init() - prepare for the invocations of one record; nest_done() is needed also on failure
 *  @run: called for each action that the code of an artifact takes
 *  @recorded: result of the record that is folded again; NULL: the record is new
 *  Return: 0, or -ENOMEM. */
int nest_init(struct nest *nest,
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error),
	const json_t *recorded);
void nest_done(struct nest *nest);
#define NEST_AUTO WFS_CLEANUP(nest_done)

/**
 * nest_check_time() - has the host worked for the nest for longer than code may?
 * The work of the host is not counted in the time of the code itself. The record has what this
 * bound has ended, so it ends nothing when the record is folded again.
 * @id: the artifact to be ended, or another name for the work that takes long
 * Return: 0, or -EIO (runtime_error).
 */
int nest_check_time(const struct act *act, const char *id, struct wfs_error *error);

/** nest_forget_checks() - forget the contracts' checks from number @count on. */
void nest_forget_checks(struct nest *nest, size_t count);

/** nest_forget_contents() - undo the counting of content writes from number @count on
 *  Removes their numbers from nest->refused_contents, too. Needed when a bound ends the invocation
 *  that made these writes; see act-form.c. */
void nest_forget_contents(struct nest *nest, size_t count);

/* A running invocation, on the C stack. */
struct invocation {
	struct wfs_code_host host; /* first: the callback casts back */
	struct act *act;           /* the action that invoked it */
	const char *id;            /* of the artifact */
	const char *author;        /* of the code; see author.c */
	struct wfs_code *program;
	bool is_host; /* true: no code runs, the author asks for itself (act-query.c) */
	int depth;    /* 0 for the outermost */
	bool read_only;
	bool stopped; /* a bound ended it while the host did what the code asked for */
};

/* --- author.c --- */

/** author_of() - the principal responsible for the code of an artifact; borrowed from its
 *  document. */
const char *author_of(const struct artifact *artifact);

/** author_now() - the principal responsible for code that this action brings: the payer, or the
 *  author of the code that acts. */
const char *author_now(const struct act *act);

/** author_may() - may code have this effect? @artifact: that the effect is about; NULL: none
 *  Return: 0, -EACCES (not_authorized, expired, policy_denied), -EDQUOT, -EIO, … */
int author_may(const struct invocation *self, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);

/* What code sees. Plain value; author_sight. */
struct author_sight {
	struct wfs_query_sight sight; /* its context is the struct author_sight */
	const struct invocation *self;
	struct wfs_rights *rights; /* the nest's */
};

/** author_sight_init() - make the sight of running code. Return: 0, -EIO, -ENOMEM. */
int author_sight_init(
	struct author_sight *sight, const struct invocation *self, struct wfs_error *error);

/** author_sees() - would a query that names @name show it to the code? Return: 1, 0, or -errno. */
int author_sees(const struct invocation *self, enum wfs_query_part part, const char *name,
	struct wfs_error *error);

/** author_knows() - may the code know that an artifact or a principal exists?
 *  Yes if a part of its directory is shown to the code, or if it is the code's own artifact or
 *  author.
 *  Return: 1, 0, or -errno. */
int author_knows(const struct invocation *self, enum wfs_entity entity, const char *id,
	struct wfs_error *error);

/** author_reads() - may code read the content of an artifact as a file? Return: 1, 0, or -errno. */
int author_reads(const struct invocation *self, const char *id, struct wfs_error *error);

void authors_done(struct nest *nest);

/* --- interface.c --- */

/** interface_check() - check the form of an interface when it is written. Return: 0, -EINVAL,
 *  -ENOMEM. */
int interface_check(const json_t *interface, struct wfs_error *error);

/** interface_check_call() - has the interface this method, and do the arguments match its schema?
 *  @steps: increased by the steps that the check took
 *  Return: 0, -EINVAL (invalid_argument), -ENOMEM. */
int interface_check_call(const struct artifact *artifact, const char *method, const json_t *args,
	uint64_t *steps, struct wfs_error *error);

/** interface_has_secrets() - does an artifact's interface mark an argument of the method as
 *  secret?
 *  The name of a method may be mistyped: for an unknown method, any mark of the interface
 *  counts. */
bool interface_has_secrets(const json_t *interface, const char *method);

/** interface_describe() - the answer to `describe`, without running code. @ret_result: caller owns
 *  it */
int interface_describe(
	const struct artifact *artifact, json_t **ret_result, struct wfs_error *error);

/* --- program.c --- */

/**
 * action_program() - get the compiled code of an executable artifact
 * The code was checked when it was written (artifact_check_code).
 * @ret_program: not running; borrowed until it is called; stays in the cache afterwards
 * Return: 0, -EINVAL (invalid_type), -ENOMEM.
 */
int action_program(struct act *act, const struct artifact *artifact, struct wfs_code **ret_program,
	struct wfs_error *error);

enum { ACTION_PROGRAMS_MAX = 32 }; /* cached programs: more than can run at once */

/* A cached program. Code that invokes itself has more than one. */
struct action_program {
	struct wfs_code *program;         /* owned */
	struct wfs_hash hash;             /* of the code */
	char id[WFS_ARTIFACT_ID_MAX + 1]; /* of the artifact, for messages */
	uint64_t used;                    /* value of `use_count` when it was last used */
};

/* What the domain keeps in a fold. */
struct action_programs {
	struct action_program kept[ACTION_PROGRAMS_MAX];
	size_t count;
	uint64_t use_count;
};

void action_programs_done(struct action_programs *programs);

/** action_limits() - limits of code. An action from a journal gets twice the instructions. */
struct wfs_lua_limits action_limits(const struct wfs_fold *fold);

/** action_instructions() - how many instructions all code of one record may take. */
uint64_t action_instructions(const struct wfs_fold *fold);

/* --- contract.c --- */

enum { CONTRACT_REASON_SIZE = 256 };

/**
 * contract_permit() - may the actor use the artifact, by the contract that its `access` names?
 * If the contract does not exist, only the owner may.
 * @reason: buffer of CONTRACT_REASON_SIZE bytes; gets the reason of a refusal
 * Return: 0, or -errno that ends the whole nest.
 */
int contract_permit(struct act *act, const struct artifact *artifact, const char *use,
	bool *ret_allowed, char *reason, struct wfs_error *error);

/* --- host.c --- */

extern const struct wfs_lua_binding host_bindings[];
extern const size_t host_binding_count;

/* Help for a function. Plain value with static lifetime. */
struct host_help {
	const char *arguments;
	const char *help;
};

/* Help for the first bindings, in their order. The actions come after them, and have help of their
 * own. */
extern const struct host_help host_helps[];
extern const size_t host_help_count;

/** host_call() - answer a call of running code to the function @binding_index
 *  @ret_value: caller owns it; NULL: nil
 *  Return: 0, 1 (an error that code may catch), or -errno, which ends the code. */
int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error);

/* --- invoke.c --- */

/* The outcome of one invocation. Plain value; JSON is owned. */
struct invoked {
	json_t *result;
	int64_t price_paid;
};

/**
 * invoke_artifact() - run an artifact's code for @act; its changes are taken back if it fails
 * Return: 0, or -errno of the failure; an error of the category "system" ends the whole nest.
 */
int invoke_artifact(struct act *act, const char *id, const char *method, const json_t *args,
	struct invoked *ret_invoked, struct wfs_error *error);

/** invoke_on_trial() - invoke an artifact for the mint, without permission or price
 *  All changes are taken back; only the record's result tells of it. @artifact: executable
 *  Return: as invoke_artifact(). */
int invoke_on_trial(struct act *act, const struct artifact *artifact, const char *method,
	const json_t *args, json_t **ret_result, struct wfs_error *error);

/** action_seed() - the seed of ctx.random(). @place: differs for each call within a record */
void action_seed(const struct wfs_fold *fold, uint64_t place, uint8_t ret_seed[static 32]);

/** action_shown() - how many bytes of a text to show: at most @size, without cutting a
 *  character. */
int action_shown(struct wfs_bytes text, size_t size);

/** invoke_fails_all() - must this error end the whole nest, so that no code can catch it? */
bool invoke_fails_all(const struct wfs_error *error);

/** invoke_crashed() - is it the error of code that ended its process, now or before?
 *  Then the action that ran the code changes nothing, and folding takes its outcome from the
 *  record. */
bool invoke_crashed(const struct wfs_error *error);
