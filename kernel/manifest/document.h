/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of cells of built-in reducers: one table of members for each, from which come a struct
 * and the form (kernel/base/form.h) that reads and writes it. The headers that builtin.h names say
 * what the members mean.
 *
 * Texts and values of a struct are borrowed: those that were read from the document that the struct
 * owns, others from the function that set them, until it has written the struct.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/form.h"
#include "kernel/base/hash.h"
#include "kernel/manifest/builtin.h"

/* M(document, type, member, 0 or how it may be absent: see struct wfs_field in form.h) */
#define WFS_DOCUMENT_AGENT(M, document)               \
	M(document, INTEGER, failure_count, 0)        \
	M(document, VALUE, last_action, WFS_OPTIONAL) \
	M(document, INTEGER, runs, 0)                 \
	M(document, INTEGER, same_state_for, 0)
#define WFS_DOCUMENT_ARTIFACT(M, document)            \
	M(document, TEXT, access, 0)                  \
	M(document, TEXT, charged_to, 0)              \
	M(document, TEXT, code_author, WFS_OPTIONAL)  \
	M(document, HASH, code_hash, WFS_OPTIONAL)    \
	M(document, INTEGER, code_size, WFS_OPTIONAL) \
	M(document, HASH, content_hash, 0)            \
	M(document, INTEGER, content_size, 0)         \
	M(document, INTEGER, created_at, 0)           \
	M(document, TEXT, created_by, 0)              \
	M(document, VALUE, depends_on, 0)             \
	M(document, BOOL, executable, 0)              \
	M(document, TEXT, id, 0)                      \
	M(document, VALUE, interface, WFS_OPTIONAL)   \
	M(document, INTEGER, invoke_price, 0)         \
	M(document, VALUE, metadata, 0)               \
	M(document, TEXT, owner, 0)                   \
	M(document, INTEGER, read_price, 0)           \
	M(document, TEXT, type, 0)                    \
	M(document, INTEGER, updated_at, 0)
#define WFS_DOCUMENT_CHAT(M, document)      \
	M(document, INTEGER, created_ns, 0) \
	M(document, INTEGER, messages, 0)   \
	M(document, TEXT, principal, 0)     \
	M(document, TEXT, session_id, 0)
#define WFS_DOCUMENT_CHAT_MESSAGE(M, document)              \
	M(document, INTEGER, batch_size, WFS_OPTIONAL)      \
	M(document, TEXT, blob, WFS_OPTIONAL)               \
	M(document, VALUE, content, 0)                      \
	M(document, VALUE, error, WFS_OPTIONAL)             \
	M(document, INTEGER, max_concurrency, WFS_OPTIONAL) \
	M(document, TEXT, model, WFS_OPTIONAL)              \
	M(document, TEXT, open, WFS_OPTIONAL)               \
	M(document, TEXT, plan_id, WFS_OPTIONAL)            \
	M(document, TEXT, reply, WFS_OPTIONAL)              \
	M(document, BOOL, rerun, WFS_OPTIONAL)              \
	M(document, VALUE, resume, WFS_OPTIONAL)            \
	M(document, TEXT, role, 0)                          \
	M(document, TEXT, status, WFS_OPTIONAL)
#define WFS_DOCUMENT_DELETED(M, document)   \
	M(document, INTEGER, deleted_at, 0) \
	M(document, TEXT, deleted_by, 0)
#define WFS_DOCUMENT_ESCROW(M, document)      \
	M(document, TEXT, artifact_id, 0)     \
	M(document, INTEGER, deposited_at, 0) \
	M(document, INTEGER, price, 0)        \
	M(document, TEXT, seller, 0)
#define WFS_DOCUMENT_GRANT(M, document)                   \
	M(document, VALUE, budget, WFS_OPTIONAL)          \
	M(document, TEXT, cap, 0)                         \
	M(document, INTEGER, expires_at_ns, WFS_OPTIONAL) \
	M(document, TEXT, from, WFS_OPTIONAL)             \
	M(document, TEXT, granted_by, 0)                  \
	M(document, TEXT, name, 0)                        \
	M(document, VALUE, params, 0)                     \
	M(document, TEXT, to, 0)                          \
	M(document, VALUE, used, WFS_OPTIONAL)
#define WFS_DOCUMENT_INTENT(M, document)          \
	M(document, TEXT, effect, 0)              \
	M(document, TEXT, principal, 0)           \
	M(document, TEXT, state, 0)               \
	M(document, TEXT, began, WFS_OPTIONAL)    \
	M(document, TEXT, run_id, WFS_OPTIONAL)   \
	M(document, INTEGER, turn, WFS_OPTIONAL)  \
	M(document, INTEGER, call, WFS_OPTIONAL)  \
	M(document, TEXT, chat_id, WFS_OPTIONAL)  \
	M(document, TEXT, plan_id, WFS_OPTIONAL)  \
	M(document, INTEGER, step, WFS_OPTIONAL)  \
	M(document, VALUE, origin, WFS_OPTIONAL)  \
	M(document, VALUE, outside, WFS_OPTIONAL) \
	M(document, INTEGER, not_before_ns, WFS_OPTIONAL)
#define WFS_DOCUMENT_LEDGER(M, document) M(document, INTEGER, scrip, 0)
#define WFS_DOCUMENT_MEMORY_STORE(M, document)   \
	M(document, INTEGER, added, 0)           \
	M(document, INTEGER, bytes, 0)           \
	M(document, INTEGER, count, 0)           \
	M(document, INTEGER, dims, 0)            \
	M(document, TEXT, label, 0)              \
	M(document, INTEGER, left, WFS_OPTIONAL) \
	M(document, TEXT, model, 0)              \
	M(document, INTEGER, next, WFS_OPTIONAL)
#define WFS_DOCUMENT_MINT(M, document)                   \
	M(document, TEXT, artifact_id, 0)                \
	M(document, INTEGER, bid, 0)                     \
	M(document, INTEGER, price_paid, WFS_OPTIONAL)   \
	M(document, TEXT, principal_id, 0)               \
	M(document, INTEGER, resolved_at, WFS_OPTIONAL)  \
	M(document, INTEGER, score, WFS_OPTIONAL)        \
	M(document, TEXT, score_reason, WFS_OPTIONAL)    \
	M(document, INTEGER, scrip_minted, WFS_OPTIONAL) \
	M(document, TEXT, status, 0)                     \
	M(document, TEXT, submission_id, 0)              \
	M(document, INTEGER, submitted_at, 0)
#define WFS_DOCUMENT_PLAN(M, document)             \
	M(document, VALUE, batch, 0)               \
	M(document, INTEGER, batch_size, 0)        \
	M(document, INTEGER, batches, 0)           \
	M(document, TEXT, chat_id, 0)              \
	M(document, INTEGER, created_ns, 0)        \
	M(document, INTEGER, defined, 0)           \
	M(document, INTEGER, done, 0)              \
	M(document, VALUE, draft, WFS_OPTIONAL)    \
	M(document, VALUE, error, WFS_OPTIONAL)    \
	M(document, INTEGER, failed, 0)            \
	M(document, VALUE, final, WFS_OPTIONAL)    \
	M(document, VALUE, goal, 0)                \
	M(document, VALUE, in_order, WFS_OPTIONAL) \
	M(document, INTEGER, max_concurrency, 0)   \
	M(document, TEXT, model, 0)                \
	M(document, VALUE, open, 0)                \
	M(document, TEXT, phase, 0)                \
	M(document, TEXT, plan_id, 0)              \
	M(document, TEXT, principal, 0)            \
	M(document, TEXT, ready, WFS_OPTIONAL)     \
	M(document, INTEGER, results_bytes, 0)     \
	M(document, INTEGER, results_count, 0)     \
	M(document, INTEGER, retry, WFS_OPTIONAL)  \
	M(document, TEXT, session_id, 0)           \
	M(document, INTEGER, skipped, 0)           \
	M(document, TEXT, source_id, 0)            \
	M(document, TEXT, status, 0)               \
	M(document, INTEGER, steps_bytes, 0)       \
	M(document, INTEGER, tool_batches, 0)      \
	M(document, INTEGER, tool_calls, 0)        \
	M(document, INTEGER, total, 0)             \
	M(document, INTEGER, updated_ns, 0)
#define WFS_DOCUMENT_PLAN_BLOCK(M, document) \
	M(document, INTEGER, bytes, 0)       \
	M(document, VALUE, doomed, 0)        \
	M(document, VALUE, waiting, 0)
#define WFS_DOCUMENT_PLAN_EDGE(M, document)    \
	M(document, VALUE, next, WFS_OPTIONAL) \
	M(document, VALUE, refs, WFS_OPTIONAL)
#define WFS_DOCUMENT_PLAN_SOURCE(M, document) M(document, VALUE, text, 0)
#define WFS_DOCUMENT_PLAN_STEP(M, document)      \
	M(document, INTEGER, attempts, 0)        \
	M(document, VALUE, depends_on, 0)        \
	M(document, TEXT, id, 0)                 \
	M(document, INTEGER, max_attempts, 0)    \
	M(document, VALUE, prompt, 0)            \
	M(document, VALUE, reason, WFS_OPTIONAL) \
	M(document, VALUE, result_ref, 0)        \
	M(document, TEXT, status, 0)             \
	M(document, VALUE, title, 0)             \
	M(document, VALUE, tool, 0)              \
	M(document, TEXT, type, 0)
#define WFS_DOCUMENT_PRINCIPAL(M, document)           \
	M(document, TEXT, agent_of, WFS_OPTIONAL)     \
	M(document, INTEGER, agents, WFS_OPTIONAL)    \
	M(document, TEXT, created_by, 0)              \
	M(document, TEXT, id, 0)                      \
	M(document, INTEGER, outside, WFS_OPTIONAL)   \
	M(document, INTEGER, passed_on, WFS_OPTIONAL) \
	M(document, TEXT, requested_by, WFS_OPTIONAL)
#define WFS_DOCUMENT_RAW(M, document) M(document, VALUE, hash, 0)
#define WFS_DOCUMENT_SEEN(M, document) M(document, VALUE, keys, 0)
#define WFS_DOCUMENT_TIMER(M, document)              \
	M(document, VALUE, action, 0)                \
	M(document, INTEGER, at_ns, WFS_OPTIONAL)    \
	M(document, TEXT, by, WFS_OPTIONAL)          \
	M(document, TEXT, catch_up, 0)               \
	M(document, INTEGER, created_ns, 0)          \
	M(document, TEXT, cron, WFS_OPTIONAL)        \
	M(document, INTEGER, every_ms, WFS_OPTIONAL) \
	M(document, INTEGER, fired, 0)               \
	M(document, TEXT, id, 0)                     \
	M(document, INTEGER, max, WFS_OPTIONAL)      \
	M(document, INTEGER, next_ns, 0)             \
	M(document, TEXT, principal, 0)              \
	M(document, TEXT, tz, WFS_OPTIONAL)          \
	M(document, INTEGER, until_ns, WFS_OPTIONAL) \
	M(document, VALUE, zone, WFS_OPTIONAL)
#define WFS_DOCUMENT_TOOL_CALL(M, document)             \
	M(document, VALUE, arguments, 0)                \
	M(document, TEXT, id, 0)                        \
	M(document, TEXT, name, 0)                      \
	M(document, TEXT, status, 0)                    \
	M(document, TEXT, problem, WFS_OPTIONAL)        \
	M(document, INTEGER, duration_ms, WFS_OPTIONAL) \
	M(document, VALUE, is_error, WFS_OPTIONAL)      \
	M(document, VALUE, output, WFS_OPTIONAL)        \
	M(document, INTEGER, output_size, WFS_OPTIONAL)
#define WFS_DOCUMENT_TURN(M, document)                     \
	M(document, BOOL, advanced, WFS_OPTIONAL)          \
	M(document, TEXT, agent, 0)                        \
	M(document, TEXT, asked_by, 0)                     \
	M(document, INTEGER, below, WFS_OPTIONAL)          \
	M(document, TEXT, called_by, WFS_OPTIONAL)         \
	M(document, VALUE, calls, 0)                       \
	M(document, INTEGER, depth, WFS_OPTIONAL)          \
	M(document, INTEGER, ended_ns, WFS_OPTIONAL)       \
	M(document, TEXT, ending, WFS_OPTIONAL)            \
	M(document, VALUE, error, WFS_OPTIONAL)            \
	M(document, INTEGER, event_seq, 0)                 \
	M(document, VALUE, final, WFS_OPTIONAL)            \
	M(document, INTEGER, from, 0)                      \
	M(document, VALUE, groups, 0)                      \
	M(document, VALUE, last_action, WFS_OPTIONAL)      \
	M(document, INTEGER, last_assistant, WFS_OPTIONAL) \
	M(document, INTEGER, max_turns, 0)                 \
	M(document, TEXT, model, 0)                        \
	M(document, VALUE, open, 0)                        \
	M(document, VALUE, pins, 0)                        \
	M(document, INTEGER, raw, WFS_OPTIONAL)            \
	M(document, TEXT, reason, WFS_OPTIONAL)            \
	M(document, BOOL, reflex, WFS_OPTIONAL)            \
	M(document, BOOL, retried, 0)                      \
	M(document, TEXT, run_id, 0)                       \
	M(document, INTEGER, started_ns, 0)                \
	M(document, TEXT, status, 0)                       \
	M(document, INTEGER, tool_calls, WFS_OPTIONAL)     \
	M(document, TEXT, top, WFS_OPTIONAL)               \
	M(document, INTEGER, turn, 0)                      \
	M(document, VALUE, usage, 0)                       \
	M(document, BOOL, usage_incomplete, 0)
#define WFS_DOCUMENT_TURN_SETUP(M, document)          \
	M(document, VALUE, asked_model, WFS_OPTIONAL) \
	M(document, VALUE, mind, WFS_OPTIONAL)        \
	M(document, TEXT, model, 0)                   \
	M(document, VALUE, offered, 0)                \
	M(document, VALUE, settings, 0)               \
	M(document, VALUE, tools, 0)
#define WFS_DOCUMENT_WAIT(M, document)               \
	M(document, TEXT, intent_id, 0)              \
	M(document, INTEGER, next_ns, 0)             \
	M(document, TEXT, principal, 0)              \
	M(document, TEXT, run_id, 0)                 \
	M(document, INTEGER, seq, WFS_OPTIONAL)      \
	M(document, TEXT, until_event, WFS_OPTIONAL) \
	M(document, TEXT, woken, WFS_OPTIONAL)
#define WFS_DOCUMENT_WORKFLOW(M, document)      \
	M(document, TEXT, current_state, 0)     \
	M(document, INTEGER, entered_at_seq, 0) \
	M(document, VALUE, history, 0)

/* X(constant, name) of each reducer with such a table */
#define WFS_DOCUMENTS(X)              \
	X(AGENT, agent)               \
	X(ARTIFACT, artifact)         \
	X(CHAT, chat)                 \
	X(CHAT_MESSAGE, chat_message) \
	X(DELETED, deleted)           \
	X(ESCROW, escrow)             \
	X(GRANT, grant)               \
	X(INTENT, intent)             \
	X(LEDGER, ledger)             \
	X(MEMORY_STORE, memory_store) \
	X(MINT, mint)                 \
	X(PLAN, plan)                 \
	X(PLAN_BLOCK, plan_block)     \
	X(PLAN_EDGE, plan_edge)       \
	X(PLAN_SOURCE, plan_source)   \
	X(PLAN_STEP, plan_step)       \
	X(PRINCIPAL, principal)       \
	X(RAW, raw)                   \
	X(SEEN, seen)                 \
	X(TIMER, timer)               \
	X(TOOL_CALL, tool_call)       \
	X(TURN, turn)                 \
	X(TURN_SETUP, turn_setup)     \
	X(WAIT, wait)                 \
	X(WORKFLOW, workflow)

/* The first member of each of the structs below. */
struct wfs_document {
	json_t *json; /* owned; NULL: the cell is not live, or the struct is a new one */
	size_t cell;  /* index in the fold that has read it */
};

#define WFS_DOCUMENT_STRUCT(constant, name)               \
	struct wfs_document_##name {                      \
		struct wfs_document own;                  \
		WFS_DOCUMENT_##constant(WFS_MEMBER, name) \
	};
WFS_DOCUMENTS(WFS_DOCUMENT_STRUCT)

/** wfs_document_done() - release the JSON of a document, which may be zeros
 *  @document: any struct wfs_document_<name>; the caller owns the struct itself */
void wfs_document_done(void *document);
#define WFS_AUTO_DOCUMENT WFS_CLEANUP(wfs_document_done)

/** wfs_document_read() - read @json into the struct of a reducer's document
 *  @json: taken, also on failure; NULL: the struct becomes zeros, as it does on failure
 *  @ret_document: must be the reducer's struct, so callers use wfs_document_read_<name>(). Its
 *  `own.cell` becomes 0; fold_read() (kernel/fold/fold-work.h) sets it
 *  Return: 0, -EIO (internal_error: the document has another form, so the store is damaged),
 *  -ENOMEM. */
int wfs_document_read(enum wfs_builtin_reducer reducer, json_t *json, void *ret_document,
	struct wfs_error *error);

/** wfs_document_write() - make the JSON of a document. @document: as for wfs_document_read(); only
 *  read. Return: new reference; NULL without memory, or if a required text or value is NULL. */
json_t *wfs_document_write(enum wfs_builtin_reducer reducer, const void *document);

#define WFS_DOCUMENT_FUNCTIONS(constant, name)                                          \
	static inline int wfs_document_read_##name(                                     \
		json_t *json, struct wfs_document_##name *ret, struct wfs_error *error) \
	{                                                                               \
		return wfs_document_read(WFS_BUILTIN_##constant, json, ret, error);     \
	}
WFS_DOCUMENTS(WFS_DOCUMENT_FUNCTIONS)
