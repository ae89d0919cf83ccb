/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/copy/restore*.c: the copy of a tree, its journal, and the world that is made
 * from them in a stage, a temporary directory.
 *
 * To note a problem is to add it to restore->problems, with a path in the copy; the copy is then
 * refused, but reading goes on to find others. Functions that return int return -errno, with
 * restore->error set, only if restoring must end; a noted problem alone is not such a failure.
 * Otherwise they return 0, also if they have noted problems, unless their comment says more.
 */
#pragma once

#include <sys/stat.h>

#include "kernel/check/baseline.h"
#include "kernel/copy/restore.h"
#include "kernel/store/stage.h"

#define RESTORE_TEXTS "journal/texts" /* private texts that records name */

enum { RESTORE_PATH_SIZE = 768 }; /* bytes; the longest path of a tree is plans/ID/steps/NAME */

/* A path in the copy, for messages. */
struct restore_path {
	char text[RESTORE_PATH_SIZE];
};

/* Facts about the copy's journal, from reading it once before anything is folded. */
struct restore_journal {
	bool log;              /* the copy has journal/log.jsonl */
	uint64_t record_files; /* number of journal/<seq>.json */
	uint64_t record_first; /* the lowest seq among them */
	uint64_t record_last;  /* the highest seq among them */
	uint64_t first_seq;    /* of the first line: not 0 if the journal was cut */
	bool head;             /* the copy has journal/head */
	uint64_t height;       /* number of records */
	bool baseline;         /* the journal begins with a baseline */
	bool older;            /* its first records were folded by another fold version */
	bool last_older;       /* its last records were, too */
	bool broken;           /* its lines were changed or cut, so it cannot be folded */
	struct wfs_genesis genesis;
	struct wfs_hash genesis_manifest; /* hash of the first manifest */
	struct wfs_meta meta;             /* the values that journal/head must have */
	uint64_t snapshot_height;         /* of the newest snapshot; 0: none */
	uint64_t last_change_height;      /* newest height that changed a cell */
};

/* Facts from the records of actions that were not folded, because a text is lost. Plain value;
 * zeros at first, ended by done. */
struct restore_proof {
	bool invoked; /* code has run, which may have written any artifact */
	/* {id: {member: value}} of artifacts that were written after code had last run; owned, may
	 * be NULL */
	json_t *artifacts;
	/* {id: the first principal that wrote it} of agents among these; owned, may be NULL */
	json_t *agents;
};

/* One restoring. */
struct restore {
	const struct wfs_restore_options *options;
	struct wfs_problems *problems;
	struct wfs_error *error;
	int tree_fd;                   /* root directory of the copy */
	struct wfs_stage stage;        /* where the world is made */
	struct wfs_manifest *manifest; /* of the copy; NULL until it is read */
	struct restore_journal journal;
	struct restore_proof proof;
	struct wfs_store *store; /* in the stage, until it is filled */
	size_t grave_count;      /* problems with files that do not follow from the journal */
	size_t same_size_count;  /* problems with files that differ, but have the right size */
	/* the stage has a complete world, which can be compared with the copy */
	bool filled;
	struct {
		const char *what;
		uint64_t done;
		uint64_t total;
	} told; /* by the last call of restore_progress() */
	struct wfs_restored restored;
};

/* --- kernel/copy/restore-tree.c: files of the copy --- */

/** restore_path() - format a path in the copy; one that is too long is cut. */
struct restore_path restore_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** restore_stopped() - report restore->told to the function options->progress. Return: 0, or -EINTR
 *  (that function asked to end). */
int restore_stopped(struct restore *restore);

/** restore_progress() - set restore->told, which restore_stopped() reports later: @done of @total
 *  parts of the work @what are done. @what: static. */
void restore_progress(struct restore *restore, const char *what, uint64_t done, uint64_t total);

/** restore_noted() - note a problem with the file @path of the copy, and count it in grave_count if
 *  the file does not follow from the journal. @format: printf() format of the reason. Return: 0. */
int restore_noted(struct restore *restore, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** restore_same_size() - count in same_size_count that the file of the problem that was noted last
 *  has the right size, but other bytes. */
void restore_same_size(struct restore *restore);

/** restore_hash_noted() - note that the bytes of the file @path have the hash @came in place of
 *  @expected. @whose: words for the message that name what requires @expected, such as "the
 *  journal". Return: 0. */
int restore_hash_noted(struct restore *restore, const char *path, const char *whose,
	const struct wfs_hash *expected, const struct wfs_hash *came);

/** restore_place() - make the path that a cell of a built-in reducer has in the copy. @name: its
 *  key, encoded as a file name */
struct restore_path restore_place(enum wfs_builtin_reducer builtin, const char *name);

/** restore_has() - has the copy a file or directory at @path, which is relative to its root? */
bool restore_has(const struct restore *restore, const char *path);

/** restore_directory() - open the directory @name in @parent, a directory of the copy
 *  @path: its whole path, for messages
 *  Return: 1 with a descriptor in @ret_fd, which the caller closes; 0 if it is missing (no problem
 *  was noted) or cannot be opened as a directory (a problem was noted); or -errno. */
int restore_directory(
	struct restore *restore, int parent, const char *name, const char *path, int *ret_fd);

/** restore_list() - call @each with @context for each name in a directory of the copy
 *  @directory: its descriptor, which @each gets, too, and which stays open
 *  @path: the directory's path, for messages
 *  @each: its @name is borrowed during the call. Returns 0, or -errno, which ends the walk
 *  Return: 0 (also if a problem was noted: the directory cannot be read), or -errno. */
int restore_list(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/** restore_list_sorted() - do restore_list() in the order of the names; a number at the beginning
 *  of a name is compared as a number. */
int restore_list_sorted(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/** restore_open() - open the regular file @name in a directory of the copy
 *  @path: its whole path, for messages
 *  Return: 1 with a descriptor in @ret_fd, which the caller closes; 0 if it is missing, cannot be
 *  opened, is not a regular file, or is larger than @size_max bytes (a problem was noted); or
 *  -errno. */
int restore_open(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, int *ret_fd);

/** restore_read() - append the file @name in a directory of the copy to @buffer
 *  @path, @size_max: as for restore_open()
 *  Return: 1; 0 (a problem was noted) or -errno, and then @buffer may have got a part of the file.
 *  -EFBIG: with the file, @buffer would have more than @size_max bytes, those that it had before
 *  included. */
int restore_read(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, struct wfs_buffer *buffer);

/** restore_pieces() - read the file @fd of the copy, which stays open, and call @each with @context
 *  for each piece of its bytes, in order. @each: returns 0, or -errno, which ends the reading, and
 *  for which this function sets restore->error. @path: for messages
 *  Return: 1 (the whole file was read), 0 (a problem was noted), or -errno. */
int restore_pieces(struct restore *restore, int fd, const char *path,
	int (*each)(void *context, const void *data, size_t size), void *context);

/** restore_attribute() - compare @hash, that of the bytes of the file @fd, with the file's extended
 *  attribute user.worldfs.state_hash. @path: for messages. Return: 1 (they are equal, or the file
 *  has no such attribute), or 0 (a problem was noted). */
int restore_attribute(
	struct restore *restore, int fd, const char *path, const struct wfs_hash *hash);

/** restore_root() - note a problem for each name in the root directory of the copy that no tree
 *  has, for a README that no version of the program writes, and for each name in a directory that
 *  is empty in every tree
 *  Return: 0, or -errno: -EINVAL if this is a world, and not a copy of its tree. */
int restore_root(struct restore *restore);

/** restore_manifest() - read the copy's manifest into restore->manifest. Return: 0 (it stays NULL
 *  if a problem was noted), or -errno. */
int restore_manifest(struct restore *restore);

/* --- kernel/copy/restore-journal.c --- */

/** restore_texts() - open the directory journal/texts of the copy, which has the private texts that
 *  records name by hash. Return: as restore_directory(); 0 also if the copy has no journal/. */
int restore_texts(struct restore *restore, int *ret_fd);

/* Reads the lines of the journal in order. Plain value; init, next …, done. */
struct restore_lines {
	struct restore *restore;
	int directory;     /* descriptor of journal/ */
	int log;           /* descriptor of log.jsonl, or -1: each line has a file of its own */
	char *piece;       /* bytes of log.jsonl that were read; owned */
	size_t piece_at;   /* how many of them are in lines that were returned */
	size_t piece_size; /* bytes in `piece` */
	uint64_t count;    /* seq of the next record */
	/* bytes of log.jsonl that were read */
	uint64_t done_bytes;
	uint64_t total_bytes; /* of log.jsonl; 0: the copy does not have it */
	struct wfs_buffer line;
};
/** restore_lines_init() - begin to read the lines of the copy's journal; the caller calls
 *  restore_lines_done(), also on failure
 *  Return: 1; 0: journal/ is missing (no problem was noted), or journal/ or log.jsonl cannot be
 *  opened (a problem was noted); or -errno. */
int restore_lines_init(struct restore_lines *lines, struct restore *restore);
/** restore_lines_next() - read the next line, with its newline, into lines->line, where it stays
 *  until the next call. Return: 1; 0: all lines were read, or a problem was noted, and
 *  restore->journal.broken is set; or -errno. */
int restore_lines_next(struct restore_lines *lines);
void restore_lines_done(struct restore_lines *lines);
#define RESTORE_AUTO_LINES WFS_CLEANUP(restore_lines_done)

/** restore_journal_check() - read the whole journal, fill restore->journal, and note problems with
 *  the chain of hashes, the files of records, journal/head, and a manifest that is not the
 *  journal's. If the copy has no records, journal.height is read from journal/head. Return: 0, or
 *  -errno. */
int restore_journal_check(struct restore *restore);

/** restore_has_journal() - does the copy have records? */
static inline bool restore_has_journal(const struct restore *restore)
{
	return restore->journal.log || restore->journal.record_files > 0;
}

/** restore_is_proven() - do the copy's records prove all cells, because restore_fold(), which was
 *  called before, has folded all records? */
static inline bool restore_is_proven(const struct restore *restore)
{
	return restore->restored.history && restore->restored.lost.seq == 0;
}

/* --- kernel/copy/restore-fill.c: from the copy into the store --- */

/** restore_blobs() - store all blobs of the copy in restore->store; no height lists them yet.
 *  Return: 0, or -errno. */
int restore_blobs(struct restore *restore);

/** restore_raw() - store the files in the directories `raw` of the copy's turns as blobs, if
 *  restore->store has cells for them. A file may be missing, because a collection has dropped it.
 *  Return: 0 (also if problems were noted), or -errno. */
int restore_raw(struct restore *restore);

/* A transaction that is committed and begun again now and then. */
struct restore_batch {
	struct restore *restore;
	struct wfs_txn *txn;
	struct wfs_head *head; /* of `txn`, flushed before a commit; may be NULL */
	size_t count;          /* rows written since the last commit */
	size_t bytes;          /* of these rows */
};

/** restore_batch_begin() - begin a write transaction of restore->store, also for batch->head
 *  The caller has set `restore` and `head` (the other members are zeros), and later calls
 *  restore_batch_done(), which drops what is not committed. */
int restore_batch_begin(struct restore_batch *batch);
/** restore_batch_commit() - flush batch->head, and commit; on failure the rows are dropped. */
int restore_batch_commit(struct restore_batch *batch);
/** restore_batch_step() - count a row of @size bytes that was written; if the transaction is large
 *  enough, commit it, and begin the next. After a failure the batch cannot be used any more; the
 *  caller still calls restore_batch_done(). */
int restore_batch_step(struct restore_batch *batch, size_t size);

/** restore_blob() - store the file @fd of the copy as a blob, unless the store has it already
 *  @fd: stays open. @path: for messages. @hash: the one that the file must have; @named_by: as
 *  the parameter `whose` of restore_hash_noted()
 *  Return: 0 (stored, known, or a problem was noted), or -errno. */
int restore_blob(struct restore_batch *batch, int fd, const char *path, const char *named_by,
	const struct wfs_hash *hash);
void restore_batch_done(struct restore_batch *batch);

/** restore_write_failed() - if @r, the result of writing the world, is not 0, fill restore->error.
 *  Return: @r. */
int restore_write_failed(struct restore *restore, int r);

/** restore_no_blob() - note that the copy has no blob @hash; do nothing if the copy has a file of
 *  this name, whose problem restore_blobs() has noted. @whose: for the message: a sentence that
 *  says what names the blob, such as "the journal names it" */
void restore_no_blob(struct restore *restore, const struct wfs_hash *hash, const char *whose);

/** restore_modules() - check that restore->store has all modules (Lua code) of @manifest
 *  Return: 1, 0 (problems were noted), or -errno. */
int restore_modules(struct restore *restore, const struct wfs_manifest *manifest);

/** restore_put_meta() - write the rows of the meta table of restore->store that opening a world
 *  reads, in a transaction of its own. @genesis: of the world. Return: 0, or -errno. */
int restore_put_meta(struct restore *restore, const struct wfs_genesis *genesis);

/** restore_baseline() - fill restore->store from a copy without a journal, or whose journal begins
 *  with a baseline: genesis, and a baseline with the cells of the copy. Sets restore->filled if no
 *  problem was noted. Return: 0, or -errno. */
int restore_baseline(struct restore *restore);

/* --- kernel/copy/restore-cells.c: cells from files of the copy --- */

/* The reading of cells from the copy. Plain value; the caller sets the members before `reducer`,
 * the others are zeros; ended by done. */
struct restore_cells {
	struct restore_batch batch; /* cells are written at its head */
	int64_t at_ns;              /* time of their versions */
	bool replace;    /* take only cells of built-in reducers, and replace those of the store */
	uint64_t height; /* with `replace`: the height that shows them */

	const struct wfs_reducer_definition *reducer; /* whose directory is being read */
	enum wfs_builtin_reducer builtin;             /* of `reducer`, if that is built in */
	const char *artifact;                         /* whose directory is being read */
	struct wfs_buffer key;
	struct wfs_buffer state;
	uint64_t count; /* cells written */
};

/** restore_take_cells() - write the cells that the copy has as files into restore->store
 *  @cells: cells->batch has a head, and was begun; the caller commits the batch in the end
 *  Return: 0 (a problem was noted for each cell that was not written), or -errno. */
int restore_take_cells(struct restore_cells *cells);
void restore_cells_done(struct restore_cells *cells);

/** restore_take_builtin() - replace the cells of built-in reducers in restore->store, except those
 *  of turns and plans, by those of the copy, and commit
 *  The height of @head becomes the first height that the store keeps, and restored.first_height.
 *  @head: of restore->store, where actions after a lost text were not folded
 *  Return: 0, or -errno. */
int restore_take_builtin(struct restore *restore, struct wfs_head *head);

/* --- kernel/copy/restore-proof.c: what a journal with a lost text says of the copy's cells --- */

/** restore_proof_add() - add to @proof the facts from the record of an action that was done, but is
 *  not folded. Return: 0, -ENOMEM (no error is set). */
int restore_proof_add(struct restore_proof *proof, const struct wfs_record_parsed *parsed);
/** restore_makes_agent() - does @action, the document of a write_artifact, make or change an agent
 *  (an artifact that is also a principal)? */
bool restore_makes_agent(const json_t *action);
void restore_proof_done(struct restore_proof *proof);

/** restore_proof_knows() - does the journal, without texts, say anything about the cells of this
 *  reducer? */
bool restore_proof_knows(enum wfs_builtin_reducer builtin);

/** restore_proof_check() - compare the cell @key in the copy with what folded records, and the
 *  facts in restore->proof, say about it
 *  @builtin: one that restore_proof_knows(). @path: of its file, for messages
 *  @folded: the cell's state after the actions that were folded; NULL: the cell is not live then
 *  @found: the cell's state in the copy, canonical
 *  Return: 1; 0: the copy contradicts the records (a problem was noted); or -errno. */
int restore_proof_check(struct restore *restore, enum wfs_builtin_reducer builtin, const char *path,
	struct wfs_bytes key, const struct wfs_bytes *folded, struct wfs_bytes found);

/* --- kernel/copy/restore-fold.c --- */

/** restore_fold() - fill restore->store from a copy with a journal, by folding its records again
 *  Sets restored.lost and restore->filled, unless a record differs, or a module or the manifest of
 *  genesis is missing (then a problem was noted). Return: 0, or -errno. */
int restore_fold(struct restore *restore);

/* --- kernel/copy/restore-check.c --- */

/** restore_compare() - compare every file of the copy with what the world in the stage shows, and
 *  note each difference as a problem. Return: 0, also if files differ, or -errno. */
int restore_compare(struct restore *restore);

/* --- kernel/copy/restore-entity.c: artifacts, principals and turns --- */

/** restore_compare_entities() - compare the files of artifacts, principals, turns and plans in the
 *  copy, except content and code, with what @view, of the new world, shows, and note each
 *  difference as a problem. Return: 0, or -errno. */
int restore_compare_entities(struct restore *restore, struct wfs_view *view);

/** restore_compare_texts() - compare content and code of each artifact with the hashes in the
 *  artifact's cell, all as in @view, of the new world, and note each difference as a problem.
 *  Return: 0, or -errno. */
int restore_compare_texts(struct restore *restore, struct wfs_view *view);

/** restore_text_directory() - open the directory of the artifact @id in the copy, which has its
 *  content and code. Return: as restore_directory(). */
int restore_text_directory(struct restore *restore, struct wfs_bytes id, int *ret_fd);

/* --- kernel/copy/restore-memory.c: memory stores --- */

/** restore_compare_stores() - compare the entries of each memory store with the store's cell of
 *  sys.memory_store, both as in @view, of the new world, and note each difference as a problem;
 *  called if the journal does not prove the entries. Return: 0, or -errno. */
int restore_compare_stores(struct restore *restore, struct wfs_view *view);
