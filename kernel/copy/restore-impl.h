/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/copy/restore*.c: the copy, its journal, and the world that is made from
 * them. */
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

/* Facts about the journal, from reading it once before anything is folded. */
struct restore_journal {
	bool log;              /* the copy has journal/log.jsonl */
	uint64_t record_files; /* number of journal/<seq>.json */
	uint64_t record_last;  /* the highest seq among them */
	bool head;             /* the copy has journal/head */
	uint64_t height;       /* number of records */
	bool baseline;         /* the journal begins with a baseline */
	bool broken;           /* its lines were changed or cut, so it cannot be folded */
	struct wfs_genesis genesis;
	struct wfs_hash genesis_manifest; /* hash of the first manifest */
	struct wfs_meta meta;             /* the values that journal/head must have */
	uint64_t snapshot_height;         /* of the newest snapshot; 0: none */
	uint64_t last_change_height;      /* newest height that changed a cell */
};

/* Facts from the records of actions that were not folded. Plain value; zero at first, done at the
 * end. */
struct restore_proof {
	bool invoked;      /* code has run, which may have written any artifact */
	json_t *artifacts; /* {id: {member: value}} of artifacts written since, or NULL; owned */
	/* {id: the first principal that wrote it} of agents among these, or NULL; owned */
	json_t *agents;
};

/* One restoring. */
struct restore {
	const struct wfs_restore_options *options;
	struct wfs_problems *problems;
	struct wfs_error *error;
	int tree_fd;
	struct wfs_stage stage;
	struct wfs_manifest *manifest; /* of the copy; NULL until it is read */
	struct restore_journal journal;
	struct restore_proof proof;
	struct wfs_store *store; /* in the stage, until it is filled */
	size_t grave_count;      /* problems of files that do not follow from the journal */
	size_t same_size_count;  /* problems of files that differ, but have the right size */
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

struct restore_path restore_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** restore_stopped() - report the progress, and ask whether to end. Return: 0, or -EINTR with the
 *  error set. */
int restore_stopped(struct restore *restore);

/** restore_progress() - note the progress, which the next restore_stopped() reports. */
void restore_progress(struct restore *restore, const char *what, uint64_t done, uint64_t total);

/** restore_noted() - note a problem of @path. Return: 0. */
int restore_noted(struct restore *restore, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** restore_same_size() - the last problem was of a file that has the right size, but other
 *  bytes. */
void restore_same_size(struct restore *restore);

/** restore_hash_noted() - note that the bytes of @path have the hash @came, and not @expected.
 *  @whose: says where @expected comes from. Return: 0. */
int restore_hash_noted(struct restore *restore, const char *path, const char *whose,
	const struct wfs_hash *expected, const struct wfs_hash *came);

/** restore_place() - the path of a built-in reducer's cell in the copy. @name: its key as a file
 *  name */
struct restore_path restore_place(enum wfs_builtin_reducer builtin, const char *name);

/** restore_has() - has the copy a file or directory at @path? */
bool restore_has(const struct restore *restore, const char *path);

/**
 * restore_directory() - open a directory of the copy
 * Return: 1 with a descriptor, which the caller closes, 0 if it is missing, or is another kind of
 * file (a problem was noted), or -errno.
 */
int restore_directory(
	struct restore *restore, int parent, const char *name, const char *path, int *ret_fd);

/**
 * restore_list() - call @each for the names in a directory
 * @path: the path of the directory, for messages
 * @each: Return: 0, or -errno that ends it
 */
int restore_list(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/** restore_list_sorted() - as restore_list(), in the order of names; a number at the beginning of a
 *  name is compared as a number. */
int restore_list_sorted(struct restore *restore, int directory, const char *path,
	int (*each)(struct restore *restore, void *context, int directory, const char *name),
	void *context);

/**
 * restore_open() - open a regular file
 * Return: 1 with a descriptor, which the caller closes, 0 if it is missing or has more than
 * @size_max bytes (a problem was noted), or -errno.
 */
int restore_open(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, int *ret_fd);

/** restore_read() - append a file to @buffer. Return: 1, 0 (a problem was noted), or -errno. */
int restore_read(struct restore *restore, int directory, const char *name, const char *path,
	uint64_t size_max, struct wfs_buffer *buffer);

/** restore_pieces() - call @each for a file, piece by piece. Return: as restore_read(). */
int restore_pieces(struct restore *restore, int fd, const char *path,
	int (*each)(void *context, const void *data, size_t size), void *context);

/** restore_attribute() - compare @hash with that in the file's attributes, if it is there
 *  Return: 1, or 0 if they differ (a problem was noted). */
int restore_attribute(
	struct restore *restore, int fd, const char *path, const struct wfs_hash *hash);

/** restore_root() - note names in the root of the copy that a tree does not have. */
int restore_root(struct restore *restore);

/** restore_manifest() - read restore->manifest. Return: 0; it stays NULL if a problem was noted. */
int restore_manifest(struct restore *restore);

/* --- kernel/copy/restore-journal.c --- */

/** restore_texts() - open the directory journal/texts of the copy, which has the private texts that
 *  records name by hash. Return: as restore_directory(). */
int restore_texts(struct restore *restore, int *ret_fd);

/* Reads the lines of the journal in order. Plain value; init, next …, done. */
struct restore_lines {
	struct restore *restore;
	int directory;
	int log; /* descriptor of log.jsonl, or -1: each line has a file of its own */
	char *piece;
	size_t piece_at;
	size_t piece_size;
	uint64_t count; /* lines read */
	uint64_t done_bytes;
	uint64_t total_bytes; /* of log.jsonl; 0: the copy does not have it */
	struct wfs_buffer line;
};
/** restore_lines_init() - begin to read lines. Return: 1, 0 if the copy has no journal (a problem
 *  was noted), -errno. */
int restore_lines_init(struct restore_lines *lines, struct restore *restore);
/** restore_lines_next() - read the next line into lines->line. Return: 1, 0 (after the last, or a
 *  problem was noted), -errno. */
int restore_lines_next(struct restore_lines *lines);
void restore_lines_done(struct restore_lines *lines);
#define RESTORE_AUTO_LINES WFS_CLEANUP(restore_lines_done)

/** restore_journal_check() - read the whole journal, and note problems of its chain, of the files
 *  of records, and of the head. */
int restore_journal_check(struct restore *restore);

/** restore_has_journal() - has the copy records? */
static inline bool restore_has_journal(const struct restore *restore)
{
	return restore->journal.log || restore->journal.record_files > 0;
}

/** restore_is_proven() - do records prove all cells? The caller has folded all records. */
static inline bool restore_is_proven(const struct restore *restore)
{
	return restore->restored.history && restore->restored.lost.seq == 0;
}

/* --- kernel/copy/restore-fill.c: from the copy into the store --- */

/** restore_blobs() - store all blobs of the copy, without listing them. */
int restore_blobs(struct restore *restore);

/* A transaction that is committed and begun again now and then. */
struct restore_batch {
	struct restore *restore;
	struct wfs_txn *txn;
	struct wfs_head *head; /* flushed before a commit; may be NULL */
	size_t count;
	size_t bytes;
};

int restore_batch_begin(struct restore_batch *batch);
int restore_batch_commit(struct restore_batch *batch);
/** restore_batch_step() - count a row of @size bytes, and commit if the transaction is large
 *  enough. */
int restore_batch_step(struct restore_batch *batch, size_t size);
void restore_batch_done(struct restore_batch *batch);

/** restore_write_failed() - set the error for a failed write, if @r is not 0. Return: @r. */
int restore_write_failed(struct restore *restore, int r);

/** restore_no_blob() - note that a blob is missing, unless a problem of its file was noted before.
 *  @whose: says what names the blob */
void restore_no_blob(struct restore *restore, const struct wfs_hash *hash, const char *whose);

/** restore_modules() - check that the store has all modules of @manifest. Return: 1, 0 (problems
 *  were noted), or -errno. */
int restore_modules(struct restore *restore, const struct wfs_manifest *manifest);

/** restore_put_meta() - write the rows of the meta table that opening a world reads. */
int restore_put_meta(struct restore *restore, const struct wfs_genesis *genesis);

/** restore_baseline() - fill the store from a copy without a journal. */
int restore_baseline(struct restore *restore);

/* --- kernel/copy/restore-cells.c: cells from files of the copy --- */

/* Plain value; zero but for the first members, done at the end. */
struct restore_cells {
	struct restore_batch batch; /* cells are written at its head */
	int64_t at_ns;
	bool replace;    /* take only cells of built-in reducers, and replace those of the store */
	uint64_t height; /* with `replace`: the height that shows them */

	const struct wfs_reducer_definition *reducer; /* whose directory is being read */
	enum wfs_builtin_reducer builtin; /* of `reducer`; WFS_BUILTIN_REDUCER_COUNT: none */
	const char *artifact;             /* whose directory is being read */
	struct wfs_buffer key;
	struct wfs_buffer state;
	uint64_t count; /* written */
};

/** restore_take_cells() - write the cells of the copy into the store. Return: 0, with a problem
 *  noted for each cell that was not taken, or -errno. */
int restore_take_cells(struct restore_cells *cells);
void restore_cells_done(struct restore_cells *cells);

/**
 * restore_take_builtin() - replace the cells of built-in reducers by those of the copy
 * The height of @head becomes the first height that the store keeps.
 * @head: of a store whose actions after a lost text were not folded
 */
int restore_take_builtin(struct restore *restore, struct wfs_head *head);

/* --- kernel/copy/restore-proof.c: after a lost text, what the journal says of cells of the copy
 * --- */

/** restore_proof_add() - add an action that was done, but is not folded. Return: 0, -ENOMEM. */
int restore_proof_add(struct restore_proof *proof, const struct wfs_record_parsed *parsed);
/** restore_makes_agent() - does the action make an agent, which is also a principal, or change
 *  one? */
bool restore_makes_agent(const json_t *action);
void restore_proof_done(struct restore_proof *proof);

/** restore_proof_knows() - does the journal say anything about the cells of this reducer? */
bool restore_proof_knows(enum wfs_builtin_reducer builtin);

/**
 * restore_proof_check() - compare a cell of the copy with what the journal says about it
 * @builtin: one that restore_proof_knows()
 * @folded: state of the cell without the actions that were not folded; NULL: it has none
 * @found: state in the copy, canonical
 * Return: 1, 0 if they contradict each other (a problem was noted), or -errno.
 */
int restore_proof_check(struct restore *restore, enum wfs_builtin_reducer builtin, const char *path,
	struct wfs_bytes key, const struct wfs_bytes *folded, struct wfs_bytes found);

/* --- kernel/copy/restore-fold.c --- */

/** restore_fold() - fill the store from a copy with a journal. */
int restore_fold(struct restore *restore);

/* --- kernel/copy/restore-check.c --- */

/** restore_compare() - compare the complete world in the stage with the copy, and note
 *  differences. */
int restore_compare(struct restore *restore);

/* --- kernel/copy/restore-entity.c: artifacts, principals and turns --- */

/** restore_compare_entities() - compare their files with what the view shows, but content and
 *  code. */
int restore_compare_entities(struct restore *restore, struct wfs_view *view);

/** restore_compare_texts() - compare content and code of each artifact with the hashes in its
 *  cell. */
int restore_compare_texts(struct restore *restore, struct wfs_view *view);

/** restore_text_directory() - open the copy's directory of the artifact @id, in which its content
 *  and code are. Return: as restore_directory(). */
int restore_text_directory(struct restore *restore, struct wfs_bytes id, int *ret_fd);

/* --- kernel/copy/restore-memory.c: memory stores --- */

/** restore_compare_stores() - compare the entries of memory stores with the stores' cells, if no
 *  record proves them. */
int restore_compare_stores(struct restore *restore, struct wfs_view *view);
