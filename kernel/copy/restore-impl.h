/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/restore*.c: the copy, its journal, and what is made of them. */
#pragma once

#include <sys/stat.h>

#include "kernel/check/baseline.h"
#include "kernel/copy/restore.h"
#include "kernel/store/stage.h"

#define RESTORE_TEXTS "journal/texts" /* private texts that records name */

enum { RESTORE_PATH_SIZE = 768 }; /* of a file of a tree, the longest is plans/ID/steps/NAME */

/* A path in the copy, for people. */
struct restore_path {
	char text[RESTORE_PATH_SIZE];
};

/* What the first look at the journal gave. */
struct restore_journal {
	bool log;              /* journal/log.jsonl is there */
	uint64_t record_files; /* number of journal/<seq>.json */
	uint64_t record_last;  /* the highest seq among them */
	bool head;             /* journal/head is there */
	uint64_t height;       /* records */
	bool baseline;         /* it begins with one */
	bool broken; /* its lines are not what they were, so that folding makes no sense */
	struct wfs_genesis genesis;
	struct wfs_hash genesis_manifest; /* hash of the first manifest */
	struct wfs_meta meta;             /* what its head document must say */
	uint64_t snapshot_height;         /* of the newest snapshot, 0: there is none */
	uint64_t last_change_height;      /* newest height that changed a cell */
};

/* What the lines of actions say that were not folded. Plain value; zero at first, done at the end. */
struct restore_proof {
	bool invoked;      /* code has run: it may have written anything */
	json_t *artifacts; /* {id: {member: value}} of those written since, or NULL; owned */
	json_t *agents; /* {id: the first principal that wrote it} of those among them, or NULL; owned */
};

/* One run. */
struct restore {
	const struct wfs_restore_options *options;
	struct wfs_problems *problems;
	struct wfs_error *error;
	int tree_fd;
	struct wfs_stage stage;
	struct wfs_manifest *manifest; /* of the copy, once it was read */
	struct restore_journal journal;
	struct restore_proof proof;
	struct wfs_store *store; /* in the stage, until it is filled */
	size_t grave_count;      /* of the problems: not of files that follow from the journal */
	size_t same_size_count;  /* of the problems: of files that differ and have the right size */
	bool filled;             /* the stage has a whole world, to be compared with the copy */
	struct {
		const char *what;
		uint64_t done;
		uint64_t total;
	} told; /* to restore_progress last */
	struct wfs_restored restored;
};

/* --- kernel/copy/restore-tree.c: files of the copy --- */

struct restore_path restore_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** restore_stopped() - between pieces. Return: 0, or -EINTR with the error set. */
int restore_stopped(struct restore *restore);

/** restore_progress() - how far it is; the next restore_stopped tells who waits. */
void restore_progress(struct restore *restore, const char *what, uint64_t done, uint64_t total);

/** restore_noted() - note that @path differs. Return: 0. */
int restore_noted(struct restore *restore, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** restore_same_size() - what was noted last is a file that has the right size, but other bytes. */
void restore_same_size(struct restore *restore);

/** restore_hash_noted() - the same for content: which hash was expected, which came. */
int restore_hash_noted(struct restore *restore, const char *path, const char *whose,
	const struct wfs_hash *expected, const struct wfs_hash *came);

/** restore_place() - where the cell of a key is. @name: the key as a name */
struct restore_path restore_place(enum wfs_builtin_reducer builtin, const char *name);

/** restore_has() - is there anything at that path of the copy? */
bool restore_has(const struct restore *restore, const char *path);

/**
 * restore_directory() - open a directory of the copy
 * Return: 1 with a descriptor, which the caller closes, 0 when there is none or it was noted that
 * it is none, or -errno.
 */
int restore_directory(
	struct restore *restore, int parent, const char *name, const char *path, int *ret_fd);

/**
 * restore_list() - the names in a directory
 * @path: of what is in it, without the name
 * @each: Return: 0, or -errno that ends it
 */
int restore_list(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/** restore_list_sorted() - the same in the order of names, a number that begins them as a number */
int restore_list_sorted(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/**
 * restore_open() - open a regular file
 * Return: 1 with a descriptor, which the caller closes, 0 when it was noted that there is none or
 * that it has more than @size_max bytes, or -errno.
 */
int restore_open(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, int *ret_fd);

/** restore_read() - append a file to @buffer. Return: 1, 0 when a problem was noted, or -errno. */
int restore_read(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, struct wfs_buffer *buffer);

/** restore_pieces() - a file in pieces. Return: as above. */
int restore_pieces(struct restore *restore, int fd, const char *path,
	int (*each)(void *context, const void *data, size_t size), void *context);

/** restore_attribute() - is what the copy kept of the file's extended attributes its hash?
 *  Return: 1, or 0 when it was noted that it is not. */
int restore_attribute(
	struct restore *restore, int fd, const char *path, const struct wfs_hash *hash);

/** restore_root() - is every name in the copy one of a tree's? */
int restore_root(struct restore *restore);

/** restore_manifest() - read the manifest. Return: 0; without one when there are problems. */
int restore_manifest(struct restore *restore);

/* --- kernel/copy/restore-journal.c --- */

/** restore_texts() - open the directory journal/texts. Return: as restore_directory. */
int restore_texts(struct restore *restore, int *ret_fd);

/* Reads the lines of the journal in order. Plain value; init, next …, done. */
struct restore_lines {
	struct restore *restore;
	int directory;
	int log; /* descriptor of log.jsonl, or -1: the lines are files of their own */
	char *piece;
	size_t piece_at;
	size_t piece_size;
	uint64_t count; /* lines read */
	uint64_t done_bytes;
	uint64_t total_bytes; /* of log.jsonl, 0: there is none */
	struct wfs_buffer line;
};
/** restore_lines_init() - Return: 1, 0 when there is no journal (a problem was noted), -errno. */
int restore_lines_init(struct restore_lines *lines, struct restore *restore);
/** restore_lines_next() - Return: 1 and lines->line, 0 behind the last or at a noted problem. */
int restore_lines_next(struct restore_lines *lines);
void restore_lines_done(struct restore_lines *lines);
#define RESTORE_AUTO_LINES WFS_CLEANUP(restore_lines_done)

/** restore_journal_check() - read all of the journal: chain, files of records, head. */
int restore_journal_check(struct restore *restore);

/** restore_has_journal() - are there records in the copy? */
static inline bool restore_has_journal(const struct restore *restore)
{
	return restore->journal.log || restore->journal.record_files > 0;
}

/** restore_is_proven() - do records prove all cells? To be asked when all were folded. */
static inline bool restore_is_proven(const struct restore *restore)
{
	return restore->restored.history && restore->restored.lost.seq == 0;
}

/* --- kernel/copy/restore-fill.c: what is read from the copy into the store --- */

/** restore_blobs() - store all blobs, not listed yet. */
int restore_blobs(struct restore *restore);

/* A transaction that is committed and begun again now and then. */
struct restore_batch {
	struct restore *restore;
	struct wfs_txn *txn;
	struct wfs_head *head; /* to be flushed before a commit; NULL: there is none */
	size_t count;
	size_t bytes;
};

int restore_batch_begin(struct restore_batch *batch);
int restore_batch_commit(struct restore_batch *batch);
/** restore_batch_step() - another row of @size bytes was written. */
int restore_batch_step(struct restore_batch *batch, size_t size);
void restore_batch_done(struct restore_batch *batch);

/** restore_write_failed() - Return: @r, with the error set unless it is 0. */
int restore_write_failed(struct restore *restore, int r);

/** restore_no_blob() - note one that is not in the store, unless its file was refused already.
 *  @whose: who names it */
void restore_no_blob(struct restore *restore, const struct wfs_hash *hash, const char *whose);

/** restore_modules() - Return: 1 when all of them are there, 0 when not, or -errno. */
int restore_modules(struct restore *restore, const struct wfs_manifest *manifest);

/** restore_put_meta() - what every opening of the world reads. */
int restore_put_meta(struct restore *restore, const struct wfs_genesis *genesis);

/** restore_baseline() - the store of a copy without a journal. */
int restore_baseline(struct restore *restore);

/* --- kernel/copy/restore-cells.c: cells out of the copy --- */

/* Plain value; zero but for the first members, done at the end. */
struct restore_cells {
	struct restore_batch batch; /* whose head they are written to */
	int64_t at_ns;
	bool replace;    /* those of built-in reducers alone, in the place of what the store has */
	uint64_t height; /* then: that shows them */

	const struct wfs_reducer_definition *reducer; /* whose directory is being read */
	enum wfs_builtin_reducer builtin; /* the same, WFS_BUILTIN_REDUCER_COUNT: none */
	const char *artifact;             /* the same */
	struct wfs_buffer key;
	struct wfs_buffer state;
	uint64_t count; /* written */
};

/** restore_take_cells() - Return: 0, with a problem noted for each that was not taken, or -errno. */
int restore_take_cells(struct restore_cells *cells);
void restore_cells_done(struct restore_cells *cells);

/**
 * restore_take_builtin() - give built-in reducers the cells of the copy, and the store this height
 * as its first
 * @head: of a store that was folded without what actions did behind a lost text
 */
int restore_take_builtin(struct restore *restore, struct wfs_head *head);

/* --- kernel/copy/restore-proof.c: behind a lost text, what the journal says of cells of the copy --- */

/** restore_proof_add() - an action that was done and is not folded. Return: 0, -ENOMEM. */
int restore_proof_add(struct restore_proof *proof, const struct wfs_record_parsed *parsed);
/** restore_makes_agent() - does a write make an agent, which is a principal, or write one? */
bool restore_makes_agent(const json_t *action);
void restore_proof_done(struct restore_proof *proof);

/** restore_proof_knows() - does the journal say anything of the cells of this reducer? */
bool restore_proof_knows(enum wfs_builtin_reducer builtin);

/**
 * restore_proof_check() - may the cell be what the copy has? Of such a reducer
 * @folded: what it is without the actions that were not folded; NULL: it is not there
 * @found: in the copy, canonical
 * Return: 1, 0 when it was noted that it may not, or -errno.
 */
int restore_proof_check(struct restore *restore, enum wfs_builtin_reducer builtin, const char *path,
	struct wfs_bytes key, const struct wfs_bytes *folded, struct wfs_bytes found);

/* --- kernel/copy/restore-fold.c --- */

/** restore_fold() - the store of a copy with a journal. */
int restore_fold(struct restore *restore);

/* --- kernel/copy/restore-check.c --- */

/** restore_compare() - is the world in the stage, which is complete, what the copy is? */
int restore_compare(struct restore *restore);

/* --- kernel/copy/restore-entity.c: artifacts, principals and turns --- */

/** restore_compare_entities() - are their files what the view shows? Their content and code aside. */
int restore_compare_entities(struct restore *restore, struct wfs_view *view);

/** restore_compare_texts() - is the content and code of each artifact what its cell says? */
int restore_compare_texts(struct restore *restore, struct wfs_view *view);

/** restore_text_directory() - open the directory of an artifact. Return: as restore_directory. */
int restore_text_directory(struct restore *restore, struct wfs_bytes id, int *ret_fd);

/* --- kernel/copy/restore-memory.c: memory stores --- */

/** restore_compare_stores() - are their entries those that their cells tell of? For what no record proves. */
int restore_compare_stores(struct restore *restore, struct wfs_view *view);
