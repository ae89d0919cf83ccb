/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of queries: everything that the action query_kernel can ask.
 *
 * For each query the table has the params, the contents of the answer, and an example. The decoded
 * params, their checks with all messages, the help, and the JSON Schemas for tools are made from
 * it. Queries are answered elsewhere; these functions do not use the world.
 * Source: tests/data/seeds/0-query-kernel.
 * Thread: any; the table is immutable.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

struct wfs_pattern;

enum {
	WFS_QUERY_LIMIT_MAX = 10000,      /* rows of one answer */
	WFS_QUERY_OFFSET_MAX = INT32_MAX, /* rows that are skipped */
	WFS_QUERY_ABSENT = -1,            /* value of a flag that was not given */
};

/*
 * P(query, type, name, OPTIONAL or REQUIRED, default, help)
 * Types: TEXT, PATTERN (a text that is a regular expression), FLAG, LIMIT, OFFSET. Only LIMIT and
 * OFFSET have a default; the others have NONE.
 */
#define WFS_QUERY_PARAMS_ARTIFACTS(P, query)                                              \
	P(query, TEXT, owner, OPTIONAL, NONE, "who owns them now")                        \
	P(query, TEXT, type, OPTIONAL, NONE, "their type")                                \
	P(query, FLAG, executable, OPTIONAL, NONE, "whether they can be invoked")         \
	P(query, PATTERN, name_pattern, OPTIONAL, NONE, "matched at the start of the id") \
	P(query, LIMIT, limit, OPTIONAL, 50, "results at most")                           \
	P(query, OFFSET, offset, OPTIONAL, 0, "results to skip")
#define WFS_QUERY_PARAMS_ARTIFACT(P, query) \
	P(query, TEXT, artifact_id, REQUIRED, NONE, "the artifact; one that was deleted, too")
#define WFS_QUERY_PARAMS_PRINCIPALS(P, query) \
	P(query, LIMIT, limit, OPTIONAL, 100, "results at most")
#define WFS_QUERY_PARAMS_PRINCIPAL(P, query) \
	P(query, TEXT, principal_id, REQUIRED, NONE, "the principal")
#define WFS_QUERY_PARAMS_BALANCES(P, query) \
	P(query, TEXT, principal_id, OPTIONAL, NONE, "the principal; all of them without it")
#define WFS_QUERY_PARAMS_RESOURCES(P, query)                          \
	P(query, TEXT, principal_id, REQUIRED, NONE, "the principal") \
	P(query, TEXT, resource, OPTIONAL, NONE, "the resource; all of them without it")
#define WFS_QUERY_PARAMS_QUOTAS(P, query) WFS_QUERY_PARAMS_RESOURCES(P, query)
#define WFS_QUERY_PARAMS_MINT(P, query)                                                      \
	P(query, FLAG, status, OPTIONAL, NONE, "the auction that is open; the default")      \
	P(query, FLAG, history, OPTIONAL, NONE, "auctions that were resolved, newest first") \
	P(query, LIMIT, limit, OPTIONAL, 10, "auctions of the history at most")
#define WFS_QUERY_PARAMS_EVENTS(P, query) P(query, LIMIT, limit, OPTIONAL, 20, "events at most")
#define WFS_QUERY_PARAMS_INVOCATIONS(P, query)                                    \
	P(query, TEXT, artifact_id, OPTIONAL, NONE, "what was invoked")           \
	P(query, TEXT, invoker_id, OPTIONAL, NONE, "who invoked it, immediately") \
	P(query, LIMIT, limit, OPTIONAL, 20, "records at most")
#define WFS_QUERY_PARAMS_FROZEN(P, query) \
	P(query, TEXT, agent_id, OPTIONAL, NONE, "the principal; all that are frozen without it")
#define WFS_QUERY_PARAMS_LIBRARIES(P, query) \
	P(query, TEXT, principal_id, REQUIRED, NONE, "who has installed them")
#define WFS_QUERY_PARAMS_DEPENDENCIES(P, query) \
	P(query, TEXT, artifact_id, REQUIRED, NONE, "the artifact")

/* X(constant, name and member of struct wfs_query, help, params, data of the answer, example) */
#define WFS_QUERIES(X)                                                                           \
	X(ARTIFACTS, artifacts, "artifacts that exist, in order of creation",                    \
		WFS_QUERY_PARAMS_ARTIFACTS,                                                      \
		"total, returned, results [{id, type, created_by, owner, executable,\n"          \
		"content_size, created_at, updated_at, invoke_price, read_price, deleted}]",     \
		"{\"owner\": \"alpha\", \"executable\": true, \"limit\": 20}")                   \
	X(ARTIFACT, artifact, "one artifact: its metadata, without content and code",            \
		WFS_QUERY_PARAMS_ARTIFACT,                                                       \
		"result {id, type, owner, …, deleted}; of a deleted one deleted_by and\n"      \
		"deleted_at",                                                                    \
		"{\"artifact_id\": \"report\"}")                                                 \
	X(PRINCIPALS, principals, "ids of principals, in order of creation",                     \
		WFS_QUERY_PARAMS_PRINCIPALS, "total, returned, results [id]", "{\"limit\": 10}") \
	X(PRINCIPAL, principal, "whether a principal exists, and what it is",                    \
		WFS_QUERY_PARAMS_PRINCIPAL,                                                      \
		"exists, principal_id, scrip?, type? (principal, artifact or internal)",         \
		"{\"principal_id\": \"alpha\"}")                                                 \
	X(BALANCES, balances, "scrip of one principal, or of all", WFS_QUERY_PARAMS_BALANCES,    \
		"balances {id: scrip}; of one: principal_id, scrip",                             \
		"{\"principal_id\": \"alpha\"}")                                                 \
	X(RESOURCES, resources, "what a principal uses of each resource",                        \
		WFS_QUERY_PARAMS_RESOURCES, "resources {name: {used, quota}}",                   \
		"{\"principal_id\": \"alpha\"}")                                                 \
	X(QUOTAS, quotas, "what a principal may use of each resource", WFS_QUERY_PARAMS_QUOTAS,  \
		"quotas {name: {quota, used, available}}",                                       \
		"{\"principal_id\": \"alpha\", \"resource\": \"disk\"}")                         \
	X(MINT, mint, "auctions of the mint", WFS_QUERY_PARAMS_MINT,                             \
		"current_auction {pending_submissions}, history []", "{\"history\": true}")      \
	X(EVENTS, events, "newest records of the journal, the oldest of them first",             \
		WFS_QUERY_PARAMS_EVENTS, "returned, events []", "{\"limit\": 5}")                \
	X(INVOCATIONS, invocations, "who invoked what, newest first, and how that went",         \
		WFS_QUERY_PARAMS_INVOCATIONS,                                                    \
		"returned, records [{seq, invoker_id, artifact_id, method, success,\n"           \
		"duration_ms, error_code, at_ns}], stats {total, successful, failed,\n"          \
		"success_rate, avg_duration_ms, failure_types}",                                 \
		"{\"artifact_id\": \"pricer\", \"limit\": 5}")                                   \
	X(FROZEN, frozen, "principals whose llm_tokens are used up", WFS_QUERY_PARAMS_FROZEN,    \
		"frozen_agents [id]; of one: agent_id, frozen", "{}")                            \
	X(LIBRARIES, libraries, "Lua modules that a principal has installed",                    \
		WFS_QUERY_PARAMS_LIBRARIES, "libraries [{name, version}]",                       \
		"{\"principal_id\": \"alpha\"}")                                                 \
	X(DEPENDENCIES, dependencies, "what an artifact depends on, and what on it",             \
		WFS_QUERY_PARAMS_DEPENDENCIES, "depends_on [id], dependents [id]",               \
		"{\"artifact_id\": \"pricer\"}")

enum wfs_query_type {
#define WFS_QUERY_ENUM(constant, name, help, params, data, example) WFS_QUERY_##constant,
	WFS_QUERIES(WFS_QUERY_ENUM)
#undef WFS_QUERY_ENUM
		WFS_QUERY_COUNT
};

/* The C types of params. Absent: NULL, WFS_QUERY_ABSENT, or the default. */
#define WFS_QUERY_C_TEXT const char *
#define WFS_QUERY_C_PATTERN const char *
#define WFS_QUERY_C_FLAG int
#define WFS_QUERY_C_LIMIT int64_t
#define WFS_QUERY_C_OFFSET int64_t

/* A checked query: plain value.
 * Of the union, the member that `type` names is set; texts are borrowed from the params. */
struct wfs_query {
	enum wfs_query_type type;
	union {
#define WFS_QUERY_MEMBER(query, type, name, need, absent, help) WFS_QUERY_C_##type name;
#define WFS_QUERY_STRUCT(constant, name, help, params, data, example) \
	struct {                                                      \
		params(WFS_QUERY_MEMBER, name)                        \
	} name;
		WFS_QUERIES(WFS_QUERY_STRUCT)
#undef WFS_QUERY_STRUCT
#undef WFS_QUERY_MEMBER
	};
};

enum wfs_query_kind {
	WFS_QUERY_KIND_TEXT,
	WFS_QUERY_KIND_PATTERN,
	WFS_QUERY_KIND_FLAG,
	WFS_QUERY_KIND_LIMIT,
	WFS_QUERY_KIND_OFFSET,
};

/* One param of a query. Plain value with static lifetime. */
struct wfs_query_param {
	const char *name;
	enum wfs_query_kind kind;
	bool required;
	int64_t value_absent; /* of a limit or an offset: the default */
	int64_t maximum;      /* of a limit or an offset; the minimum is 0 */
	size_t offset;        /* in struct wfs_query */
	const char *help;
};

/** wfs_query_name() - Return: the name of a query, e.g. "artifacts"; static. */
const char *wfs_query_name(enum wfs_query_type type);

/** wfs_query_find() - Return: the query with this name, or WFS_QUERY_COUNT for an unknown name. */
enum wfs_query_type wfs_query_find(const char *name);

/** wfs_query_line() - Return: one line that says what the query answers; static. */
const char *wfs_query_line(enum wfs_query_type type);

/** wfs_query_example() - Return: example params of the query, as JSON text; static. */
const char *wfs_query_example(enum wfs_query_type type);

/** wfs_query_params() - Return: the params of a query in the order of the table; the last of the
 *  array has no name; static. */
const struct wfs_query_param *wfs_query_params(enum wfs_query_type type);

/** wfs_query_param_find() - Return: the param @name of a query, static, or NULL if the query does
 *  not take a param of this name. */
const struct wfs_query_param *wfs_query_param_find(enum wfs_query_type type, struct wfs_bytes name);

/** wfs_query_type_schema() - make the JSON Schema (2020-12) for the name of a query: its enum has
 *  all names, and its description says what each query answers and takes. Return: new reference,
 *  NULL without memory. */
json_t *wfs_query_type_schema(void);

/** wfs_query_params_schema() - make the JSON Schema of an object with the params of all queries
 *  One schema serves all queries, because few servers of models take a schema that chooses
 *  between objects. The description of each param names the queries that take the param.
 *  @strict: true: for servers that require every member: each is required, and may be null; false:
 *  no member is required
 *  Return: new reference, NULL without memory. */
json_t *wfs_query_params_schema(bool strict);

/** wfs_query_names_append() - append the names of all queries to @buffer, separated by `, `. */
void wfs_query_names_append(struct wfs_buffer *buffer);

/** wfs_query_page() - append to @buffer the help for a query, its params and its answer, in lines
 *  of at most 80 columns. */
void wfs_query_page(enum wfs_query_type type, struct wfs_buffer *buffer);

/** wfs_query_help() - append to @buffer the text of wfs_query_page(), and how to write the query on
 *  the command line. */
void wfs_query_help(enum wfs_query_type type, struct wfs_buffer *buffer);

/**
 * wfs_query_check() - check a query and decode its params
 *
 * The error is that of the first check that fails, in this order: the name, unknown params (in the
 * order of @params), missing params, type and range of each param in the order of the table, the
 * pattern. A param that is null counts as absent.
 * @query_type: name of the query. @params: an object, from which @ret_query borrows; NULL or JSON's
 * null: no params. @ret_query: set on success
 * Return: 0, -EINVAL (invalid_query_type: no query has this name; invalid_param: the query does not
 *         take it; missing_param, invalid_param_type, invalid_param_value: out of range;
 *         invalid_pattern: does not compile; invalid_argument: @params is not an object), -ENOMEM.
 */
int wfs_query_check(const char *query_type, const json_t *params, struct wfs_query *ret_query,
	struct wfs_error *error);

/** wfs_query_pattern() - compile @text, a value of the param name_pattern, which matches at the
 *  start of an id. @ret_pattern: set on success; caller frees it with wfs_pattern_free()
 *  (kernel/schema/pattern.h). Return: 0, -EINVAL (invalid_pattern: @text does not compile),
 *  -ENOMEM. */
int wfs_query_pattern(const char *text, struct wfs_pattern **ret_pattern, struct wfs_error *error);
