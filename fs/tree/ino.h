/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inode numbers of the tree: computed from facts about the node, never stored.
 *
 * A file is an immutable version, so its number is the version's (or the blob's, the record's);
 * the same version under `/` and under `/at/<h>/` is one inode and shares its pages. A directory
 * is numbered from (kind, view, reducer), where view 0 is the head: it stays the same while its
 * contents change. Layout, from the top: 4 bits kind, then per kind
 *   directory:             4 bits directory kind, 16 bits reducer id or entity, 40 bits view
 *   of one entity:         3 bits entity, 32 bits view, 25 bits number of its cell
 *   within that:           3 bits which, 32 bits view, 25 bits number of the entity's cell
 *   made from a version:   6 bits file, 54 bits vid
 *   grants of a principal: 32 bits height, 28 bits number of its cell
 *   log, records, events:  12 bits cut, 40 bits number
 *   tools of servers:      4 bits directory kind or 15, 56 bits number of the server or tool
 *   replication.json:      4 bits 14, 56 bits number of its bytes
 *   others:                60 bits number
 * An entity is an artifact, principal, turn, plan, or what domains add; `cut` is how often the
 * journal was cut so far. FUSE fixes the root of the head at 1. A look-up of a node whose parts do
 * not fit (wfs_node_fits()) is answered like one of a missing node.
 *
 * Most files of artifacts, principals, turns and plans are made from one version of one cell, and
 * have its number, so they are as immutable as the version. The file of a plan's step has the
 * number of a version of the step's cell. `events.jsonl` of a turn is made from records, and has
 * the number of the last of them: each new event makes another file below heights. `grants.json` is
 * made from many cells, and a revoked grant leaves no cell, so no version can stand for the file:
 * the file has the number of the height at which it was looked up, like journal/head. A later
 * look-up may give another inode with equal bytes. When the grants change, and when heights are
 * dropped, mounts have Linux forget the name at the head. Content and code of an artifact, and
 * entries of a memory store, are versions below a height; at the head they have a kind of their
 * own, because they cannot be read any more when the artifact is deleted, not even by processes
 * that have them open.
 *
 * Servers and tools have numbers that are computed from what is listed (caps/session-tools.h), so a
 * tool's file is as immutable as that of a version. All tags for kinds of nodes are in use, so
 * servers and tools share the tag of directories.
 *
 * /replication.json changes at any time, so each look-up gives a file of its own, with the number
 * of its bytes (caps/nodes.h). Linux caches neither the name nor the attributes.
 *
 * A cut of the journal (docs/decisions/0011-gc-of-the-journal.md) changes the bytes of log.jsonl,
 * of the record that becomes a baseline, and of events.jsonl, so the inode numbers of these files
 * include the number of the cut. At the head, events.jsonl of a turn is one file, which grows, and
 * has the number of its first event.
 *
 * These numbers show how many cells, versions and records the world has, so mounts whose principal
 * does not see everything permute them: fs/data/numbers.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum wfs_node_kind {
	WFS_NODE_INVALID = 0,
	WFS_NODE_DIRECTORY,
	WFS_NODE_VERSION, /* number: vid */
	WFS_NODE_BLOB,    /* number: listing id */
	WFS_NODE_RECORD,  /* number: seq */
	WFS_NODE_HEAD,    /* /journal/head; number: height */
	WFS_NODE_LOG,     /* /journal/log.jsonl; number: view */
	WFS_NODE_README,
	WFS_NODE_CTL_LINK, /* /ctl, when it is a symlink */
	WFS_NODE_AT_LINK,  /* /at/head */
	WFS_NODE_LIVE, /* content, code or an entry of an artifact, while that lives; number: vid */
	WFS_NODE_MADE, /* a file that is made from a version; number: vid; of events: seq */
	WFS_NODE_GRANTS, /* grants.json; number: height */
	WFS_NODE_TEXT,   /* a private text; number: of it */
	WFS_NODE_TOOL, /* a tool of an outside server; number: of it; has the tag of a directory */
	WFS_NODE_REPLICATION, /* /replication.json; number: of its bytes; likewise */
};

/* `file` of a WFS_NODE_MADE that is `events.jsonl` of a turn at the head, and grows; number: seq of
 * its first event. */
enum { WFS_FILE_GROWING_EVENTS = 63 };

enum wfs_directory_kind {
	WFS_DIRECTORY_ROOT = 0,
	WFS_DIRECTORY_REDUCERS,
	WFS_DIRECTORY_REDUCER,
	WFS_DIRECTORY_BLOB,
	WFS_DIRECTORY_JOURNAL,
	WFS_DIRECTORY_AT,
	WFS_DIRECTORY_CTL,      /* mount point of a nested control connection */
	WFS_DIRECTORY_TEXTS,    /* in /journal: private texts that records name */
	WFS_DIRECTORY_ENTITIES, /* of all artifacts, principals, … */
	WFS_DIRECTORY_TOOLS,    /* of servers of outside tools */
	WFS_DIRECTORY_SERVER,   /* of one server; has a layout of its own, too */
	WFS_DIRECTORY_ENTITY,   /* of one entity; has a layout of its own */
	WFS_DIRECTORY_ITEMS,    /* in that: `steps`, `entries`, …; has a layout of its own */
	WFS_DIRECTORY_KIND_COUNT,
};

/* Plain value. */
struct wfs_node {
	enum wfs_node_kind kind;
	enum wfs_directory_kind directory; /* of a directory */
	uint32_t reducer_id;               /* of a WFS_DIRECTORY_REDUCER */
	uint32_t entity; /* of WFS_DIRECTORY_ENTITIES and _ENTITY: enum wfs_entity */
	uint32_t file;   /* of a WFS_NODE_MADE or WFS_DIRECTORY_ITEMS: enum wfs_entity_file */
	uint64_t cell;   /* of a WFS_NODE_GRANTS, WFS_DIRECTORY_ENTITY and _ITEMS: number of the
			  * entity's cell; of a WFS_DIRECTORY_SERVER: number of the server */
	uint32_t cut;    /* cuts so far: of log.jsonl, events.jsonl, and baselines */
	uint64_t number; /* of a directory: its view; of others: see enum wfs_node_kind */
};

#define WFS_VIEW_BITS 40
#define WFS_CUT_BITS 12 /* 2^12 is WFS_JOURNAL_CUTS_MAX */

/** wfs_node_fits() - do all members of @node fit the bits that the layout above has for them? */
bool wfs_node_fits(const struct wfs_node *node);

/** wfs_ino_encode() - compute the inode number of @node, for which wfs_node_fits() is true. */
uint64_t wfs_ino_encode(const struct wfs_node *node);

/** wfs_ino_shown() - get the number that stat(2) shows for the node with the inode number @ino,
 *  which is @ino itself; but all documents of /replication.json show one number, because programs
 *  refuse to copy a file whose number changes before they open it. */
uint64_t wfs_ino_shown(uint64_t ino);

/** wfs_ino_decode() - compute the node that has the inode number @ino; it need not exist. Return:
 *  false: no node can have this number, and @ret_node is not set. */
bool wfs_ino_decode(uint64_t ino, struct wfs_node *ret_node);
