/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of entities (artifacts, principals, turns and plans, and what domains add), and
 * the files in the directory of each entity: their names, the built-in reducers from whose cells
 * the files are made, and how. A domain is a folder of kernel/domain/: the code of one subject.
 *
 * kernel/read/entity.h makes the contents of the files, with functions of the domains (struct
 * wfs_entity_contents, which that header defines).
 * Source: worldfs-tree(5).
 */
#pragma once

#include <stdbool.h>

#include "kernel/manifest/builtin.h"

struct wfs_entity_contents;

/* X(constant, directory, reducer: each of its live cells is an entity) */
#define WFS_ENTITIES(X)                    \
	X(ARTIFACT, "artifacts", ARTIFACT) \
	X(PRINCIPAL, "principals", LEDGER) \
	X(PLAN, "plans", PLAN)             \
	X(TURN, "turns", TURN)

enum wfs_entity {
#define WFS_ENTITY_ENUM(constant, directory, reducer) WFS_ENTITY_##constant,
	WFS_ENTITIES(WFS_ENTITY_ENUM)
#undef WFS_ENTITY_ENUM
		WFS_ENTITY_BUILTIN_COUNT,
	WFS_ENTITIES_MAX = 8, /* kinds, those that domains add included; no kind has this number */
};

/*
 * In the order of listings. Inode numbers contain the position in this table.
 * X(constant, name, entity, reducer: its cell with the entity's key is the source, form)
 */
#define WFS_ENTITY_FILES(X)                                         \
	X(CONTENT, "content", ARTIFACT, CONTENT, BYTES)             \
	X(CODE, "code", ARTIFACT, CODE, BYTES)                      \
	X(META, "meta.json", ARTIFACT, ARTIFACT, MADE)              \
	X(TYPE, "type", ARTIFACT, ARTIFACT, MEMBER)                 \
	X(CREATED_BY, "created_by", ARTIFACT, ARTIFACT, MEMBER)     \
	X(OWNER, "owner", ARTIFACT, ARTIFACT, MEMBER)               \
	X(EXECUTABLE, "executable", ARTIFACT, ARTIFACT, MEMBER)     \
	X(INVOKE_PRICE, "invoke_price", ARTIFACT, ARTIFACT, MEMBER) \
	X(READ_PRICE, "read_price", ARTIFACT, ARTIFACT, MEMBER)     \
	X(ENTRIES, "entries", ARTIFACT, MEMORY, TEXTS)              \
	X(WORKFLOW_STATE, "state", ARTIFACT, WORKFLOW, STATE)       \
	X(SCRIP, "scrip", PRINCIPAL, LEDGER, MEMBER)                \
	X(RESOURCES, "resources.json", PRINCIPAL, RESOURCE, STATE)  \
	X(QUOTAS, "quotas.json", PRINCIPAL, RESOURCE, MADE)         \
	X(FROZEN, "frozen", PRINCIPAL, RESOURCE, MADE)              \
	X(GRANTS, "grants.json", PRINCIPAL, GRANT, GRANTS)          \
	X(TIMERS, "timers", PRINCIPAL, TIMER, ITEMS)                \
	X(STATUS, "status", TURN, TURN, MADE)                       \
	X(MESSAGES, "messages.json", TURN, TURN, MADE)              \
	X(EVENTS, "events.jsonl", TURN, TURN, EVENTS)               \
	X(TRANSCRIPT, "transcript.md", TURN, TURN, MADE)            \
	X(RESULT, "result.json", TURN, TURN, MADE)                  \
	X(RAW, "raw", TURN, RAW, ITEMS)                             \
	X(PLAN, "plan.json", PLAN, PLAN, PARTS)                     \
	X(PLAN_STATUS, "status", PLAN, PLAN, MADE)                  \
	X(PLAN_GRAPH, "graph.dot", PLAN, PLAN, MADE)                \
	X(PLAN_STEPS, "steps", PLAN, PLAN_STEP, ITEMS)              \
	X(PLAN_BESIDE, ".json", PLAN, PLAN, BESIDE)

enum wfs_entity_file {
#define WFS_ENTITY_FILE_ENUM(constant, name, entity, reducer, form) WFS_ENTITY_FILE_##constant,
	WFS_ENTITY_FILES(WFS_ENTITY_FILE_ENUM)
#undef WFS_ENTITY_FILE_ENUM
		WFS_ENTITY_FILE_BUILTIN_COUNT,
	/* with those that domains add; no file has this number (fs/tree/ino.h uses it) */
	WFS_ENTITY_FILES_MAX = 63,
};

/* How a file is made from a cell. */
enum wfs_entity_form {
	WFS_ENTITY_BYTES,  /* the cell's bytes as they are; the cells of its reducer are hidden */
	WFS_ENTITY_STATE,  /* the cell's document */
	WFS_ENTITY_MEMBER, /* the document's member of the file's name, as text and a newline */
	WFS_ENTITY_MADE,   /* by a domain, as a whole */
	WFS_ENTITY_PARTS,  /* by a domain, in parts, because the file may be long */
	WFS_ENTITY_GRANTS, /* from all grants of a principal at one height */
	WFS_ENTITY_EVENTS, /* from the records of a turn */
	WFS_ENTITY_ITEMS,  /* a directory: each file in it is made from a cell, as PARTS */
	WFS_ENTITY_TEXTS,  /* a directory: each file in it is a cell, as BYTES */
	WFS_ENTITY_BESIDE, /* as `plan.json`, but beside the directory: ID.json beside ID */
};

/* A file that a domain adds. Plain value with static lifetime. */
struct wfs_entity_file_row {
	const char *name;
	const char *reducer;                        /* "sys.…"; see WFS_ENTITY_FILES */
	enum wfs_entity_form form;                  /* STATE, MEMBER, MADE, PARTS or ITEMS */
	const struct wfs_entity_contents *contents; /* NULL only of STATE and MEMBER */
};

/* A directory of the root that a domain adds. Plain value with static lifetime. */
struct wfs_entity_row {
	const char *directory;
	const char *reducer; /* "sys.…"; each of its live cells is an entity */
	const struct wfs_entity_file_row *files; /* the last has no name */
};

/** wfs_entity_add() - add a kind of entity to the tables of this process, before a world is opened
 *  or made; the trees of all worlds then have its directory
 *  @entity: borrowed for ever. Ends the process if one of its reducers is not built in, a file has
 *  a form that struct wfs_entity_file_row does not list, or a table is full. */
void wfs_entity_add(const struct wfs_entity_row *entity);

/** wfs_entity_count() - Return: how many kinds of entities there are, with those that were
 *  added. */
int wfs_entity_count(void);

const char *wfs_entity_directory(enum wfs_entity entity);
enum wfs_builtin_reducer wfs_entity_reducer(enum wfs_entity entity);

/** wfs_entity_file_count() - Return: how many files the tables have, of all kinds of entities. */
int wfs_entity_file_count(void);

const char *wfs_entity_file_name(enum wfs_entity_file file);
enum wfs_entity wfs_entity_file_entity(enum wfs_entity_file file);
enum wfs_builtin_reducer wfs_entity_file_reducer(enum wfs_entity_file file);
enum wfs_entity_form wfs_entity_file_form(enum wfs_entity_file file);

/** wfs_entity_file_is_directory() - is @file a directory of files (form WFS_ENTITY_ITEMS or
 *  WFS_ENTITY_TEXTS)? */
bool wfs_entity_file_is_directory(enum wfs_entity_file file);

/** wfs_entity_file_find() - find a file by its name in the directory of an entity of the kind
 *  @entity. Return: the file, or WFS_ENTITY_FILES_MAX for an unknown name. */
enum wfs_entity_file wfs_entity_file_find(enum wfs_entity entity, const char *name);

/** wfs_entity_provide() - set the functions that make a file of the table, before a world is opened
 *  or made. @contents: borrowed for ever */
void wfs_entity_provide(enum wfs_entity_file file, const struct wfs_entity_contents *contents);

/** wfs_entity_file_contents() - Return: the functions that make a file, static; NULL: files of its
 *  form are made without them. */
const struct wfs_entity_contents *wfs_entity_file_contents(enum wfs_entity_file file);
