/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of artifacts, principals, turns and plans, and the files in each: a table of
 * their names, of the built-in reducers from whose cells the files are made, and of the forms in
 * which they are made. kernel/domain/entity/entity.h describes the contents of the files.
 * Source: worldfs-tree(5).
 */
#pragma once

#include <stdbool.h>

#include "kernel/manifest/builtin.h"

/* X(constant, directory, reducer: each of its live cells is an entity) */
#define WFS_ENTITIES(X)                    \
	X(ARTIFACT, "artifacts", ARTIFACT) \
	X(PRINCIPAL, "principals", LEDGER) \
	X(TURN, "turns", TURN)             \
	X(PLAN, "plans", PLAN)

enum wfs_entity {
#define WFS_ENTITY_ENUM(constant, directory, reducer) WFS_ENTITY_##constant,
	WFS_ENTITIES(WFS_ENTITY_ENUM)
#undef WFS_ENTITY_ENUM
		WFS_ENTITY_COUNT
};

/*
 * In the order of listings. Inode numbers contain the position in this table.
 * X(constant, name, entity, reducer: its cell with the entity's key is the source, form)
 */
#define WFS_ENTITY_FILES(X)                                         \
	X(CONTENT, "content", ARTIFACT, CONTENT, BYTES)             \
	X(CODE, "code", ARTIFACT, CODE, BYTES)                      \
	X(META, "meta.json", ARTIFACT, ARTIFACT, META)              \
	X(TYPE, "type", ARTIFACT, ARTIFACT, MEMBER)                 \
	X(CREATED_BY, "created_by", ARTIFACT, ARTIFACT, MEMBER)     \
	X(OWNER, "owner", ARTIFACT, ARTIFACT, MEMBER)               \
	X(EXECUTABLE, "executable", ARTIFACT, ARTIFACT, MEMBER)     \
	X(INVOKE_PRICE, "invoke_price", ARTIFACT, ARTIFACT, MEMBER) \
	X(READ_PRICE, "read_price", ARTIFACT, ARTIFACT, MEMBER)     \
	X(ENTRIES, "entries", ARTIFACT, MEMORY, ENTRIES)            \
	X(WORKFLOW_STATE, "state", ARTIFACT, WORKFLOW, STATE)       \
	X(SCRIP, "scrip", PRINCIPAL, LEDGER, MEMBER)                \
	X(RESOURCES, "resources.json", PRINCIPAL, RESOURCE, STATE)  \
	X(QUOTAS, "quotas.json", PRINCIPAL, RESOURCE, QUOTAS)       \
	X(FROZEN, "frozen", PRINCIPAL, RESOURCE, FROZEN)            \
	X(GRANTS, "grants.json", PRINCIPAL, GRANT, GRANTS)          \
	X(STATUS, "status", TURN, TURN, STATUS)                     \
	X(MESSAGES, "messages.json", TURN, TURN, MESSAGES)          \
	X(EVENTS, "events.jsonl", TURN, TURN, EVENTS)               \
	X(TRANSCRIPT, "transcript.md", TURN, TURN, TRANSCRIPT)      \
	X(RESULT, "result.json", TURN, TURN, RESULT)                \
	X(PLAN, "plan.json", PLAN, PLAN, PLAN_DOCUMENT)             \
	X(PLAN_STATUS, "status", PLAN, PLAN, PLAN_STATUS)           \
	X(PLAN_GRAPH, "graph.dot", PLAN, PLAN, PLAN_GRAPH)          \
	X(PLAN_STEPS, "steps", PLAN, PLAN_STEP, STEPS)              \
	X(PLAN_BESIDE, ".json", PLAN, PLAN, BESIDE)

enum wfs_entity_file {
#define WFS_ENTITY_FILE_ENUM(constant, name, entity, reducer, form) WFS_ENTITY_FILE_##constant,
	WFS_ENTITY_FILES(WFS_ENTITY_FILE_ENUM)
#undef WFS_ENTITY_FILE_ENUM
		WFS_ENTITY_FILE_COUNT
};

/* The form in which a file is made from a cell. */
enum wfs_entity_form {
	WFS_ENTITY_BYTES,  /* the cell's bytes as they are */
	WFS_ENTITY_STATE,  /* the cell's document */
	WFS_ENTITY_MEMBER, /* the member of its name, as raw text and a newline */
	WFS_ENTITY_META,   /* wfs_artifact_document */
	WFS_ENTITY_QUOTAS, /* wfs_query_quotas */
	WFS_ENTITY_FROZEN, /* wfs_query_frozen, as raw text and a newline */
	WFS_ENTITY_GRANTS, /* an array of the documents of grants */
	WFS_ENTITY_STATUS, /* wfs_turn_write_status, and so on */
	WFS_ENTITY_MESSAGES,
	WFS_ENTITY_EVENTS,
	WFS_ENTITY_TRANSCRIPT,
	WFS_ENTITY_RESULT,        /* only once the run has ended */
	WFS_ENTITY_PLAN_DOCUMENT, /* wfs_plan_document, and so on; in parts */
	WFS_ENTITY_PLAN_STATUS,
	WFS_ENTITY_PLAN_GRAPH,
	WFS_ENTITY_STEPS,   /* a directory; a file in it is made from a version of its step */
	WFS_ENTITY_ENTRIES, /* a directory of memory stores only; a file in it is a version */
	WFS_ENTITY_BESIDE,  /* `plan.json` beside the directory, with the directory's name */
};

/* These return columns of the tables above. */
const char *wfs_entity_directory(enum wfs_entity entity);
enum wfs_builtin_reducer wfs_entity_reducer(enum wfs_entity entity);

const char *wfs_entity_file_name(enum wfs_entity_file file);
enum wfs_entity wfs_entity_file_entity(enum wfs_entity_file file);
enum wfs_builtin_reducer wfs_entity_file_reducer(enum wfs_entity_file file);
enum wfs_entity_form wfs_entity_file_form(enum wfs_entity_file file);

/** wfs_entity_file_is_directory() - is it a directory with files of its own (ENTRIES, STEPS)? */
bool wfs_entity_file_is_directory(enum wfs_entity_file file);

/** wfs_entity_file_find() - find a file of an entity of this kind by its name in the entity's
 *  directory. Return: WFS_ENTITY_FILE_COUNT for an unknown name. */
enum wfs_entity_file wfs_entity_file_find(enum wfs_entity entity, const char *name);
