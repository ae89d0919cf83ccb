/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services: what the genesis artifacts do when they are invoked, implemented in C.
 *
 * They are invoked, priced and recorded as the code of other artifacts is. Their author is the
 * author of the calling code, or the calling principal: so a caller cannot use a service for what
 * its own rights forbid.
 *
 * Parser, checks, prices, the interface that `describe` gives, and the artifacts that `init` makes
 * all come from the table of services. Arguments come in order, or as members of one object.
 *
 *   sys.escrow, key artifact id: {artifact_id, deposited_at, price, seller}
 *
 * Source: docs/decisions/0022-minds.md.
 * Thread: the thread that folds.
 */
#pragma once

#include "kernel/domain/action/invoke.h"
#include "kernel/manifest/shape.h"

struct service_call;

/* One method. Plain value with static lifetime. */
struct service_method {
	const char *name;
	int64_t price; /* scrip */
	int (*run)(struct service_call *call, struct wfs_error *error);
	const struct wfs_shape_member *params; /* in order; the last has no name */
	const char *help;
};

/* Which method `run` calls. */
enum service_run {
	SERVICE_RUN_NAMED,  /* the method named by its first argument or by `method` */
	SERVICE_RUN_FIRST,  /* the first method */
	SERVICE_RUN_EITHER, /* the first method, unless the arguments name one */
};

/* One service. Plain value with static lifetime. */
struct service {
	const char *id;
	const char *type; /* of the artifact */
	const char *help;
	const char *(*content)(void);         /* of the artifact; NULL: none */
	const struct service_method *methods; /* the last has no name */
	enum service_run run;
};

/* One call. Plain value; service_call_done. */
struct service_call {
	const struct service *service;
	const struct service_method *method;
	json_t *args;            /* an object with the method's params; owned */
	struct act *act;         /* the caller's */
	struct invocation *self; /* the service as code that runs */
	json_t *result;          /* what it gives; owned */
	int64_t price_paid;      /* in addition to the method's price */
	bool stopped;            /* a bound of the record has ended it */
};
void service_call_done(struct service_call *call);
#define SERVICE_CALL_AUTO WFS_CLEANUP(service_call_done)

/** service_find() - find the service that an artifact id names, in @domains; NULL: it is not a
 *  service. */
const struct service *service_find(
	const struct wfs_domain *const *domains, const char *artifact_id);

/** service_parse() - find the called method, and its arguments
 *  @ret_call: zero before; service, method and args are set
 *  Return: 0, -EINVAL (invalid_argument, missing_argument), -ENOMEM. */
int service_parse(const struct service *service, const char *method, const json_t *args,
	struct service_call *ret_call, struct wfs_error *error);

/** service_run() - run a parsed call whose `act` is set. @ret_result: caller owns it
 *  Return: 0, or the error of the method. */
int service_run(struct service_call *call, json_t **ret_result, struct wfs_error *error);

/** wfs_service_artifacts() - the actions that make the artifacts of all services: an array of
 *  {action, created_by, id}.
 *  Return: new reference, or NULL without memory. Thread: any. */
json_t *wfs_service_artifacts(const struct wfs_domain *const *domains);

/* --- for the methods --- */

/** service_text() - a text argument that the parser requires; borrowed. */
const char *service_text(const struct service_call *call, const char *name);

/** service_number() - an integer argument; @otherwise if it is absent. */
int64_t service_number(const struct service_call *call, const char *name, int64_t otherwise);

/**
 * service_act() - take an action for the caller or for the service itself
 * @actor: acts
 * @action: taken; NULL: its caller had no memory
 * @ret_data: of the action; may be NULL; otherwise caller owns it
 */
int service_act(struct service_call *call, const char *actor, json_t *action, json_t **ret_data,
	struct wfs_error *error);

/**
 * service_work() - charge the call for work that takes as long as @instructions of code
 * Return: 0, -EIO (runtime_error: more than all code of one record may take).
 */
int service_work(struct service_call *call, uint64_t instructions, struct wfs_error *error);

/** service_may() - may the author of the call have this effect? See author_may(). */
int service_may(const struct service_call *call, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);
