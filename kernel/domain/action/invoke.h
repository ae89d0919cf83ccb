/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: running the code of artifacts, and what it can ask for.
 *
 * All invocations of one record are a *nest*: they share the bounds of one, and a number each, in the
 * order in which they begin. What no fold can compute again (how long each took, and which of them a
 * bound has ended) stands in the record's result, and is taken from there when it is folded again.
 */
#pragma once

#include "kernel/box/box.h"
#include "kernel/domain/action/act.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/rights/rights.h"

enum {
	INVOKE_DEPTH_MAX = 5,           /* invocations within an invocation */
	INVOKE_COUNT_MAX = 1024,        /* of a nest */
	INVOKE_ACTION_COUNT_MAX = 1024, /* actions that a nest takes */
};

/* The invocations of one record. Plain value; nest_done. */
struct nest {
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error); /* act_run() */
	json_t *result; /* for the record: {duration_ms, stopped?} of the outermost; owned */
	json_t *nested; /* the same of the others, in an array; owned */
	const json_t *recorded; /* result of the record that is folded again; NULL: it is new */
	json_t *stopped_checks; /* {number: message} of contracts that a bound has ended; owned */
	json_t *embeddings; /* that a server has made; see kernel/domain/memory/embedding.h; owned */
	bool embedder_told;       /* the host's embedder was looked at */
	int64_t began_ns;         /* processor time of the thread when the nest began */
	json_t *refused_contents; /* numbers of writes of code, see act-form.c; owned */
	size_t count;
	size_t check_count;
	size_t content_count;
	size_t action_count;
	size_t submission_count;    /* to the mint, of those that stand */
	struct wfs_rights **rights; /* of authors whose code asked for something; owned */
	size_t rights_count;
	size_t rights_capacity;
};

/** nest_init() - @run: does the actions that code takes; @recorded: see struct nest. Return: 0, or -ENOMEM; nest_done in any case. */
int nest_init(struct nest *nest,
	int (*run)(struct act *act, const json_t *action, struct wfs_error *error),
	const json_t *recorded);
void nest_done(struct nest *nest);
#define NEST_AUTO WFS_CLEANUP(nest_done)

/**
 * nest_check_time() - has the host worked for the nest for as long as code may?
 * What the host does uses up none of the code's own time. The record has what this bound has ended, so nothing is
 * ended by it when the record is folded again.
 * @id: the artifact that is ended, or what else takes long
 * Return: 0, or -EIO (runtime_error).
 */
int nest_check_time(const struct act *act, const char *id, struct wfs_error *error);

/** nest_forget_checks() - those from number @count on. */
void nest_forget_checks(struct nest *nest, size_t count);

/** nest_forget_contents() - act-form.c: writes from number @count on. */
void nest_forget_contents(struct nest *nest, size_t count);

/* Code that runs. On the C stack. */
struct invocation {
	struct wfs_code_host host; /* first: the callback casts back */
	struct act *act;           /* that invoked it */
	const char *id;            /* of the artifact */
	const char *author;        /* of the code; see author.c */
	struct wfs_code *program;
	bool is_host; /* no code: its author asks for itself (act-query.c) */
	int depth;    /* 0: the outermost */
	bool read_only;
	bool stopped; /* by a bound, while the host did what the code asked for */
};

/* --- author.c --- */

/** author_of() - who answers for the code of an artifact; borrowed from its document. */
const char *author_of(const struct artifact *artifact);

/** author_now() - who answers for code that the action brings: the principal, or the author of the code
 *  that acts. */
const char *author_now(const struct act *act);

/** author_may() - may code do this? @artifact: that it is about; NULL: none
 *  Return: 0, -EACCES (not_authorized, expired, policy_denied), -EDQUOT, -EIO, … */
int author_may(const struct invocation *self, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);

/* What code sees. Plain value; author_sight. */
struct author_sight {
	struct wfs_query_sight sight; /* its context is this */
	const struct invocation *self;
	struct wfs_rights *rights; /* the nest's */
};

/** author_sight_init() - Return: 0, -EIO, -ENOMEM. */
int author_sight_init(
	struct author_sight *sight, const struct invocation *self, struct wfs_error *error);

/** author_sees() - would a query that names it show it to code? Return: 1, 0, or -errno. */
int author_sees(const struct invocation *self, enum wfs_query_part part, const char *name,
	struct wfs_error *error);

/** author_knows() - is anything of the directory of an artifact or a principal shown to it, or is it its own?
 *  Return: 1, 0, or -errno. */
int author_knows(const struct invocation *self, enum wfs_entity entity, const char *id,
	struct wfs_error *error);

/** author_reads() - may code read the content of an artifact as a file? Return: 1, 0, or -errno. */
int author_reads(const struct invocation *self, const char *id, struct wfs_error *error);

void authors_done(struct nest *nest);

/* --- interface.c --- */

/** interface_check() - its form, when it is written. Return: 0, -EINVAL, -ENOMEM. */
int interface_check(const json_t *interface, struct wfs_error *error);

/** interface_check_call() - is the method there, and do the arguments fit?
 *  @steps: the steps that the check of the schema took are added
 *  Return: 0, -EINVAL (invalid_argument), -ENOMEM. */
int interface_check_call(const struct artifact *artifact, const char *method, const json_t *args,
	uint64_t *steps, struct wfs_error *error);

/** interface_has_secrets() - does an artifact's interface mark an argument of the method as secret?
 *  The name of a method may be mistyped: of a method that is not there, any mark of the interface counts. */
bool interface_has_secrets(const json_t *interface, const char *method);

/** interface_describe() - what `describe` is answered; no code runs. */
int interface_describe(
	const struct artifact *artifact, json_t **ret_result, struct wfs_error *error);

/* --- program.c --- */

/**
 * action_program() - the code of an executable artifact, compiled
 * It was checked when it was written (artifact_check_code).
 * @ret_program: not running; kept until it is called, and a while longer
 * Return: 0, -EINVAL (invalid_type), -ENOMEM.
 */
int action_program(struct act *act, const struct artifact *artifact, struct wfs_code **ret_program,
	struct wfs_error *error);

enum { ACTION_PROGRAMS_MAX = 32 }; /* that are kept: more than can be running at once */

/* A program that is kept. The same code may be there twice, when it invokes itself. */
struct action_program {
	struct wfs_code *program;         /* owned */
	struct wfs_hash hash;             /* of the code */
	char id[WFS_ARTIFACT_ID_MAX + 1]; /* of the artifact, for messages */
	uint64_t used;                    /* when, in uses */
};

/* What the domain keeps in a fold. */
struct action_programs {
	struct action_program kept[ACTION_PROGRAMS_MAX];
	size_t count;
	uint64_t use_count;
};

void action_programs_done(struct action_programs *programs);

/** action_limits() - of code: twice the instructions for an action out of a journal. */
struct wfs_lua_limits action_limits(const struct wfs_fold *fold);

/** action_instructions() - that all code of one record may take. */
uint64_t action_instructions(const struct wfs_fold *fold);

/* --- contract.c --- */

enum { CONTRACT_REASON_SIZE = 256 };

/**
 * contract_permit() - may the actor do that, by the contract that the artifact names?
 * Of a missing contract only the owner may.
 * @reason: CONTRACT_REASON_SIZE bytes; why not
 * Return: 0, or -errno that ends everything.
 */
int contract_permit(struct act *act, const struct artifact *artifact, const char *use,
	bool *ret_allowed, char *reason, struct wfs_error *error);

/* --- host.c --- */

extern const struct wfs_lua_binding host_bindings[];
extern const size_t host_binding_count;

/* What to say of a function. Plain value with static lifetime. */
struct host_help {
	const char *arguments;
	const char *help;
};

/* Of the bindings, in their order; the actions, which stand behind, have their own. */
extern const struct host_help host_helps[];
extern const size_t host_help_count;

int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error);

/* --- invoke.c --- */

/* What one invocation gives. Plain value; JSON is owned. */
struct invoked {
	json_t *result;
	int64_t price_paid;
};

/**
 * invoke_artifact() - run an artifact's code for @act; what it changed is taken back when it fails
 * Return: 0, or -errno of what it failed of; an error of the category "system" ends all of the nest.
 */
int invoke_artifact(struct act *act, const char *id, const char *method, const json_t *args,
	struct invoked *ret_invoked, struct wfs_error *error);

/** invoke_on_trial() - the same by the mint: whoever it is for, at no price, and all of it is taken
 *  back, so that only the record's result tells of it. @artifact: executable */
int invoke_on_trial(struct act *act, const struct artifact *artifact, const char *method,
	const json_t *args, json_t **ret_result, struct wfs_error *error);

/** action_seed() - of ctx.random(): @place differs from call to call of one record. */
void action_seed(const struct wfs_fold *fold, uint64_t place, uint8_t ret_seed[static 32]);

/** action_shown() - at most @size bytes of a text, cut at a character. */
int action_shown(struct wfs_bytes text, size_t size);

/** invoke_fails_all() - is it an error that no code may catch? */
bool invoke_fails_all(const struct wfs_error *error);

/** invoke_crashed() - is it one of code that ended its process, now or before? Then the action that ran the
 *  code changes nothing, and its record is believed when it is folded again. */
bool invoke_crashed(const struct wfs_error *error);
