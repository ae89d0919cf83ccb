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
 * Functions that return int return 0, or -errno with @error filled. After a failure results
 * (@ret_…) are to be ignored, and need not be freed, unless the comment says otherwise.
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
	int64_t price;                                                  /* scrip */
	int (*run)(struct service_call *call, struct wfs_error *error); /* sets call->result */
	const struct wfs_field *params; /* in order; the last has no name */
	const char *help;
};

/* Which method a service does when its function `run` is invoked. */
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
	struct act *act;         /* the action that invoked the service */
	struct invocation *self; /* this invocation of the service */
	json_t *result;          /* what the method returns; owned */
	int64_t price_paid;      /* in addition to the method's price */
	bool stopped;            /* a bound of the record has ended it */
};
void service_call_done(struct service_call *call);
#define SERVICE_CALL_AUTO WFS_CLEANUP(service_call_done)

/** service_find() - find the service whose artifact has the id @artifact_id, in the tables of
 *  @domains, of which the last is NULL. Return: the service, static; NULL: it is not a service. */
const struct service *service_find(
	const struct wfs_domain *const *domains, const char *artifact_id);

/** service_parse() - find out which method is called, and read its arguments
 *  @method, @args (an array): of the invocation
 *  @ret_call: zeros before; service, method and args are set; caller ends it with
 *  service_call_done(), also on failure
 *  Return: 0, -EINVAL (invalid_argument: no such method, or an argument is not valid;
 *  missing_argument), -ENOMEM. */
int service_parse(const struct service *service, const char *method, const json_t *args,
	struct service_call *ret_call, struct wfs_error *error);

/** service_run() - run the method of a call that service_parse() has filled and whose `act` the
 *  caller has set. @ret_result: caller owns it; JSON's null if the method has no result. Return: 0,
 *  or the -errno of the method. */
int service_run(struct service_call *call, json_t **ret_result, struct wfs_error *error);

/** wfs_service_artifacts() - make the actions that write the artifacts of all services into a new
 *  world: an array of {action, created_by, id}; created_by: the principal that does the action
 *  Return: new reference, or NULL without memory. Thread: any. */
json_t *wfs_service_artifacts(const struct wfs_domain *const *domains);

/* --- for the methods --- */

/** service_text() - get the text argument @name; "" if it is absent, which is possible if the
 *  method's params do not require it; borrowed from the call. */
const char *service_text(const struct service_call *call, const char *name);

/** service_number() - get the integer argument @name; @otherwise if it is absent. */
int64_t service_number(const struct service_call *call, const char *name, int64_t otherwise);

/** service_act() - do an action for the caller or for the service itself
 *  @actor: id of the principal or artifact that acts, and whose permission counts; the payer is
 *  that of call->act.
 *  @action: reference taken, also on failure; NULL: the caller had no memory
 *  @ret_data: set to the data of the action's answer, which caller owns, or to NULL if the answer
 *  has no data; @ret_data itself may be NULL, if the caller does not want the data
 *  Return: 0, -ENOMEM (also if @action is NULL), or the -errno of the refusal; all changes of the
 *  refused action are taken back. */
int service_act(struct service_call *call, const char *actor, json_t *action, json_t **ret_data,
	struct wfs_error *error);

/** service_work() - count @instructions as taken by the call, for work in C that takes as long as
 *  so many instructions of Lua. Return: 0, -EIO (runtime_error: more than all code of one record
 *  may take; call->stopped is set). */
int service_work(struct service_call *call, uint64_t instructions, struct wfs_error *error);

/** service_may() - check that the author of the calling code, or the calling principal, may have
 *  this effect. @artifact: id of the artifact that the effect is about; NULL: none. Return: as
 *  author_may() (invoke.h). */
int service_may(const struct service_call *call, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);
