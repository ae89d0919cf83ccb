/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services: what the genesis artifacts do when they are invoked, written in C behind the same door as
 * the code of other artifacts. They are invoked, priced and recorded alike, and what they do counts
 * as the doing of code whose author is whoever answers for the call: nobody can have a service do
 * what his own rights forbid.
 *
 * The table of services says it all: parser, checks, prices, the interface that `describe` tells, and
 * the artifacts that `init` makes come from there. Arguments come in order, or as members of one
 * object.
 *
 *   sys.escrow, key artifact id: {artifact_id, deposited_at, price, seller}
 *
 * Source: docs/decisions/0022-minds.md.
 * Thread: the one that folds.
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
	const struct wfs_shape_member
		*params; /* in the order in which they are given without names;
						* the last has no name */
	const char *help;
};

/* What `run` calls. */
enum service_run {
	SERVICE_RUN_NAMED, /* the method that its first argument, or `method`, names */
	SERVICE_RUN_FIRST, /* the first method */
	SERVICE_RUN_EITHER, /* the first method, unless `method`, or the first of several arguments, names another */
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
	json_t *args;            /* an object, as the params of the method; owned */
	struct act *act;         /* of who calls */
	struct invocation *self; /* the service as code that runs */
	json_t *result;          /* what it gives; owned */
	int64_t price_paid;      /* beside that of the method */
	bool stopped;            /* a bound of the record has ended it */
};
void service_call_done(struct service_call *call);
#define SERVICE_CALL_AUTO WFS_CLEANUP(service_call_done)

/** service_find() - the service of one of @domains that an artifact is; NULL: it is none. */
const struct service *service_find(
	const struct wfs_domain *const *domains, const char *artifact_id);

/** service_parse() - which method is called, and with what. @ret_call: zero; service, method and args are
 *  set. Return: 0, -EINVAL (invalid_argument, missing_argument), -ENOMEM. */
int service_parse(const struct service *service, const char *method, const json_t *args,
	struct service_call *ret_call, struct wfs_error *error);

/** service_run() - @call: parsed; act is set. @ret_result: caller owns it
 *  Return: 0, or what the method fails of. */
int service_run(struct service_call *call, json_t **ret_result, struct wfs_error *error);

/** wfs_service_artifacts() - the actions that make the artifacts of all services: an array of
 *  {action, created_by, id}, or NULL without memory. Thread: any. */
json_t *wfs_service_artifacts(const struct wfs_domain *const *domains);

/* --- for the methods --- */

/** service_text() - an argument that must be there. */
const char *service_text(const struct service_call *call, const char *name);

/** service_number() - one that may be absent. */
int64_t service_number(const struct service_call *call, const char *name, int64_t otherwise);

/**
 * service_act() - take an action, for whoever calls or for the service itself
 * @actor: whose it is
 * @action: taken; NULL: there was no memory for it
 * @ret_data: what it gives; may be NULL; else caller owns it
 */
int service_act(struct service_call *call, const char *actor, json_t *action, json_t **ret_data,
	struct wfs_error *error);

/**
 * service_work() - what the call does takes as long as so many instructions of code
 * Return: 0, -EIO (runtime_error: more than all code of one record may take).
 */
int service_work(struct service_call *call, uint64_t instructions, struct wfs_error *error);

/** service_may() - may who answers for the call do this? As author_may. */
int service_may(const struct service_call *call, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error);
