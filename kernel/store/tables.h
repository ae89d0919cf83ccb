/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a store, as typed rows.
 *
 * | table        | key                     | value                                            |
 * |--------------|-------------------------|--------------------------------------------------|
 * | meta         | name                    | world id, entropy, last hash, first height, cuts    |
 * | journal      | seq                     | offset in log.jsonl, record line                 |
 * | reducer      | name                    | struct wfs_reducer                               |
 * | reducer_name | reducer id              | name                                             |
 * | cell_by_name | reducer id, key bytes   | cell id                                          |
 * | cell         | cell id                 | struct wfs_cell: the head version's facts, key   |
 * | history      | cell id, height         | vid, of every WFS_HISTORY_STRIDE-th version      |
 * | version      | vid                     | struct wfs_version: facts, then the bytes        |
 * | blob         | sha256                  | struct wfs_blob, then the bytes when they are small |
 * | blob_listed  | listing id              | sha256, height, time                             |
 * | index        | set                     | struct wfs_index_sum                             |
 * |              | set, cell id or seq     | its part of the sum                              |
 * | text         | number, from 1          | struct wfs_text                                  |
 * | text_by_hash | sha256                  | number                                           |
 * | code_crash   | sha256 of code          | struct wfs_code_crash                            |
 *
 * Numbers in keys are big-endian, so that rows are in the order of the numbers. A cell id is the
 * reducer id and the cell's ordinal in that reducer, so one range of `cell` is one directory in
 * creation order. Versions are never overwritten, and journal rows only by a cut, below. Versions
 * that were only visible at dropped heights, before the first one that is kept, may be removed: a
 * chain of `prev_vid` can be followed down to the version that is current at the first height, and
 * no further.
 *
 * Every struct wfs_bytes that a function returns is borrowed from the map (data.mdb in memory)
 * until the transaction ends (in a write transaction: until its next change). After every value a
 * checksum of table, key and value is stored (wfs_row_seal). A tombstone is the version that
 * deletes a cell; a vid is the number of a version.
 *
 * Functions that return int return 0, -EIO (a row has a wrong checksum, or does not decode),
 * -ENOSPC (a change finds no room), or -ENOENT: the row that is to be read or removed does not
 * exist, or a `next` function finds no row above @after.
 * Source: docs/design.md §3.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/hash.h"
#include "kernel/store/store.h"

enum {
	WFS_REDUCER_ID_BITS = 16,
	WFS_CELL_ORDINAL_BITS = 40,
	WFS_KEY_SIZE_MAX = 255, /* bytes of a cell's key; a file name of the key is no shorter */
	/* A row of history costs a page of its own at each commit, so not every version gets one:
	 * the others are found by at most this many steps along `prev_vid`. */
	WFS_HISTORY_STRIDE = 8,
};

/* Reducer id 0 holds the kernel's own values with history; they are in no listing or snapshot. */
enum {
	WFS_REDUCER_ID_KERNEL = 0,
	WFS_REDUCER_ID_MAX = (1 << WFS_REDUCER_ID_BITS) - 1,
};

/* Cells of reducer id 0. */
enum wfs_kernel_cell {
	WFS_KERNEL_CELL_MANIFEST = 1, /* the manifest document */
	WFS_KERNEL_CELL_SNAPSHOT = 2, /* text of the newest snapshot's hash */
};

/* The highest number of a version; inode numbers have no room for more (fs/tree/ino.h). */
#define WFS_VID_MAX ((UINT64_C(1) << 55) - 1)

static inline uint64_t wfs_cell_id(uint32_t reducer_id, uint64_t ordinal)
{
	return (uint64_t)reducer_id << WFS_CELL_ORDINAL_BITS | ordinal;
}

static inline uint64_t wfs_cell_ordinal(uint64_t cell_id)
{
	return cell_id & ((UINT64_C(1) << WFS_CELL_ORDINAL_BITS) - 1);
}

static inline uint32_t wfs_cell_reducer(uint64_t cell_id)
{
	return (uint32_t)(cell_id >> WFS_CELL_ORDINAL_BITS);
}

struct wfs_reducer {
	uint32_t reducer_id;
	bool keyed;              /* its cells have keys; false: it has one cell */
	uint64_t created_height; /* first height that lists it */
	uint64_t live_count;     /* cells that exist at head */
	uint64_t cell_count;     /* cells that ever existed; also the last ordinal */
	int64_t names_ns;        /* time of the last change to the set of live names */
};

struct wfs_cell {
	uint64_t cell_id;
	uint64_t head_vid;       /* number of the newest version, the head version */
	uint64_t head_height;    /* first height that shows it */
	uint64_t created_height; /* first height that shows the cell's first version */
	uint64_t version_count;  /* of all versions it ever had, tombstones included */
	uint64_t size_bytes;     /* of the head version */
	int64_t time_ns;         /* of the head version */
	bool live;               /* the head version is not a tombstone */
	struct wfs_bytes key;
};

struct wfs_version {
	uint64_t vid;
	uint64_t cell_id;
	uint64_t prev_vid; /* the cell's previous version, 0 for its first */
	uint64_t height;   /* first height that shows it */
	uint64_t size_bytes;
	int64_t time_ns;
	struct wfs_hash hash; /* zero for a tombstone */
	bool tombstone;
	bool in_file;           /* the bytes are the blob file of `hash` */
	struct wfs_bytes bytes; /* empty when in_file */
};

struct wfs_blob {
	struct wfs_hash hash;
	uint64_t size_bytes;
	uint64_t listed_id; /* 0: not listed under /blob */
	bool in_file;
	struct wfs_bytes bytes; /* empty when in_file */
};

struct wfs_blob_listing {
	uint64_t listed_id;
	struct wfs_hash hash;
	uint64_t height; /* first height that lists it */
	int64_t time_ns;
};

/* meta */
int wfs_meta_put(struct wfs_txn *txn, const char *name, struct wfs_bytes value);
int wfs_meta_get(struct wfs_txn *txn, const char *name, struct wfs_bytes *ret_value);
/** wfs_first_height_get() - get the first height that is kept; 1 if none was dropped. */
int wfs_first_height_get(struct wfs_txn *txn, uint64_t *ret_height);
int wfs_first_height_put(struct wfs_txn *txn, uint64_t height);

/* Names of rows in meta, for opening a store. */
#define META_FORMAT "format" /* one byte, see kernel/base/formats.h */
#define META_FOLD "fold"     /* one byte, too */
#define META_SINCE "since"   /* text: the oldest version of worldfs that can open the store */

/** wfs_meta_format() - read the store's format (see kernel/base/formats.h) without checking the
 *  row's checksum, which another format may compute in another way. */
int wfs_meta_format(struct wfs_txn *txn, uint8_t *ret_format);

/* journal */

/** wfs_journal_append() - add the line of record @seq, which must be the next one. @offset: sum of
 *  the bytes of all lines before this one */
int wfs_journal_append(struct wfs_txn *txn, uint64_t seq, uint64_t offset, struct wfs_bytes line);
/** wfs_journal_get() - get a record's line, and its offset. Return: 0, -ENOENT (no such record yet,
 *  or one before the oldest that is kept), -EIO. */
int wfs_journal_get(
	struct wfs_txn *txn, uint64_t seq, uint64_t *ret_offset, struct wfs_bytes *ret_line);
/** wfs_journal_height() - get the number of records, those that were dropped included: seq of the
 *  last one + 1. */
int wfs_journal_height(struct wfs_txn *txn, uint64_t *ret_height);
/** wfs_journal_first() - get the seq of the oldest kept record; 0 in an empty journal. */
int wfs_journal_first(struct wfs_txn *txn, uint64_t *ret_seq);
/** wfs_journal_at_offset() - find the record whose line has the byte at @offset, counted from the
 *  line of record 0 on
 *  Return: 0, -ENOENT (no kept record has this byte), -EIO (perhaps a damaged record has it). */
int wfs_journal_at_offset(struct wfs_txn *txn, uint64_t offset, uint64_t *ret_seq);

/*
 * A cut: a baseline takes the place of a record, and no reader finds the records before it any more
 * (docs/decisions/0011-gc-of-the-journal.md). Offsets of rows count from record 0 for ever; so the
 * file log.jsonl, which begins with the baseline, has byte `begin + n` at its offset n. Each cut
 * makes another file of it, and a reader that has an older one open knows only where that began.
 */

enum { WFS_JOURNAL_CUTS_MAX = 4096 }; /* newest cuts of which the store knows where they began */

/* The newest cut. Plain value. */
struct wfs_journal_cut {
	uint64_t first_seq; /* of the baseline; 0: the journal was never cut */
	uint64_t count;     /* how often it was cut */
	uint64_t begin;     /* offset of the baseline's line */
	uint64_t next_vid;  /* number of the first version after the baseline's height */
	int64_t genesis_ns; /* time of record 0 */
	bool settled;       /* all versions that only older heights show were removed */
};

/** wfs_journal_own_first() - get the seq of the oldest kept record that is not the baseline of a
 *  cut. Return: 0, -EIO. */
int wfs_journal_own_first(struct wfs_txn *txn, uint64_t *ret_seq);
/** wfs_journal_cut_get() - get the newest cut; if the journal was never cut, zeros, and `settled`
 *  true. */
int wfs_journal_cut_get(struct wfs_txn *txn, struct wfs_journal_cut *ret_cut);
/** wfs_journal_cut() - cut the journal: put @line, a baseline, in the place of record
 *  wanted->first_seq, and hide the records before
 *  @wanted: first_seq, next_vid and genesis_ns are used; this function computes the others
 *  Return: 0, -ENOENT (no such record), -EINVAL (the journal begins with this record or a later one
 *  already, or the lines that go have fewer bytes than @line), -EIO, -ENOSPC. */
int wfs_journal_cut(
	struct wfs_txn *txn, const struct wfs_journal_cut *wanted, struct wfs_bytes line);
/* The last bytes before the first line that the newest cut has kept. When a reader of an older file
 * reads the page of Linux's cache that has the first kept byte, these bytes come before this byte.
 * Plain value. */
struct wfs_journal_tail {
	struct wfs_bytes bytes; /* at most WFS_JOURNAL_TAIL_MAX; borrowed from the map */
	/* An offset: in files that are older than the cut before the newest, the bytes from here on
	 * are equal to these. */
	uint64_t same_from;
};
enum { WFS_JOURNAL_TAIL_MAX = 4095 }; /* of a page of 4096 bytes, with one that is kept */

/** wfs_journal_tail() - get the bytes before the first line that the newest cut has kept
 *  Return: 0, -ENOENT (the journal was never cut), -EIO. */
int wfs_journal_tail(struct wfs_txn *txn, struct wfs_journal_tail *ret_tail);
/** wfs_journal_settle() - set `settled` of the newest cut if its `count` is @number: all versions
 *  that only heights before this cut show were removed; otherwise do nothing. */
int wfs_journal_settle(struct wfs_txn *txn, uint64_t number);
/** wfs_journal_begin_of() - get the offset, counted from record 0 on, at which the log.jsonl that a
 *  cut has made begins. @number: of the cut, modulo WFS_JOURNAL_CUTS_MAX; 0: before the first cut
 *  Return: 0, -ENOENT (no such cut yet), -EIO. */
int wfs_journal_begin_of(struct wfs_txn *txn, uint64_t number, uint64_t *ret_offset);
/** wfs_journal_remove() - remove up to @rows_max rows of records that the newest cut hides, oldest
 *  first
 *  @ret_rows: how many were removed; fewer than @rows_max: no hidden row is left. @ret_bytes: bytes
 *  of their lines. Both are set after a failure, too
 *  Return: 0, -EIO, -ENOSPC. */
int wfs_journal_remove(
	struct wfs_txn *txn, uint32_t rows_max, uint32_t *ret_rows, uint64_t *ret_bytes);

/* reducer */
int wfs_reducer_put(struct wfs_txn *txn, const char *name, const struct wfs_reducer *reducer);
int wfs_reducer_get(
	struct wfs_txn *txn, const char *name, size_t name_size, struct wfs_reducer *ret_reducer);
/** wfs_reducer_next() - find the reducer with the lowest id above @after (0: the first of all).
 *  @ret_name: borrowed from the map */
int wfs_reducer_next(struct wfs_txn *txn, uint32_t after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer);
/** wfs_reducer_next_name() - find the reducer with the first name above @after in byte order
 *  (empty: the first of all). @ret_name: borrowed from the map */
int wfs_reducer_next_name(struct wfs_txn *txn, struct wfs_bytes after, struct wfs_bytes *ret_name,
	struct wfs_reducer *ret_reducer);
int wfs_reducer_name(struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes *ret_name);

/* cell */
int wfs_cell_name_put(
	struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes key, uint64_t cell_id);
int wfs_cell_find(
	struct wfs_txn *txn, uint32_t reducer_id, struct wfs_bytes key, uint64_t *ret_cell_id);
int wfs_cell_put(struct wfs_txn *txn, const struct wfs_cell *cell);
int wfs_cell_get(struct wfs_txn *txn, uint64_t cell_id, struct wfs_cell *ret_cell);

/** wfs_cell_remove() - remove a cell: delete its row in cell_by_name, and empty its row in cell,
 *  which stays, because ordinals have no gaps. wfs_cell_get() then returns -ENOENT. */
int wfs_cell_remove(struct wfs_txn *txn, uint64_t cell_id);
/** wfs_cell_put_removed() - write the empty row of a removed cell, as wfs_cell_remove() leaves it,
 *  into a copy of a store. */
int wfs_cell_put_removed(struct wfs_txn *txn, uint64_t cell_id);

/** wfs_cell_find_next() - find the cell of a reducer with the lowest key above @after in byte order
 *  (NULL: the first of all). @ret_key: borrowed from the map */
int wfs_cell_find_next(struct wfs_txn *txn, uint32_t reducer_id, const struct wfs_bytes *after,
	struct wfs_bytes *ret_key, uint64_t *ret_cell_id);

/* Iterates over the cells of one reducer in creation order. Plain value: init, next …, done. */
struct wfs_cell_walk {
	void *cursor;
	struct wfs_txn *txn;
	uint32_t reducer_id;
	uint64_t next_id;
	uint64_t last_id; /* the reducer's last; 0: unknown, so missing rows are not noticed */
	bool positioned;
	bool row_damaged; /* the last step failed for one row only: the walk can go on after it */
};
/** wfs_cell_walk_init() - begin to walk over the cells of a reducer, after cell @after_id (0: at
 *  the first). @walk: set on success; the caller ends it with wfs_cell_walk_done() */
int wfs_cell_walk_init(
	struct wfs_cell_walk *walk, struct wfs_txn *txn, uint32_t reducer_id, uint64_t after_id);
/** wfs_cell_walk_next() - get the next cell of the reducer that was not removed. Return: 1 and a
 *  cell, 0 at the end, -EIO (a row is damaged or missing), or another -errno. */
int wfs_cell_walk_next(struct wfs_cell_walk *walk, struct wfs_cell *ret_cell);
void wfs_cell_walk_done(struct wfs_cell_walk *walk);
#define WFS_AUTO_CELL_WALK WFS_CLEANUP(wfs_cell_walk_done)

/* history */
int wfs_history_put(struct wfs_txn *txn, uint64_t cell_id, uint64_t height, uint64_t vid);
/** wfs_history_at() - find the version of a cell that @height shows; a tombstone if the cell is
 *  deleted at @height. Return: 0, -ENOENT (the cell is newer than @height), or -EIO. */
int wfs_history_at(
	struct wfs_txn *txn, uint64_t cell_id, uint64_t height, struct wfs_version *ret_version);

/* version */
/** wfs_version_put() - add a version, whose number must be above all others. */
int wfs_version_put(struct wfs_txn *txn, const struct wfs_version *version);
/** wfs_version_insert() - add a version; its number may be any that no other version has. */
int wfs_version_insert(struct wfs_txn *txn, const struct wfs_version *version);
int wfs_version_get(struct wfs_txn *txn, uint64_t vid, struct wfs_version *ret_version);
/** wfs_version_last() - get the highest vid; 0 in an empty store. */
int wfs_version_last(struct wfs_txn *txn, uint64_t *ret_vid);
/** wfs_version_next() - get the version with the lowest vid above @after. Return: 0, -ENOENT
 *  (@after is the highest vid, or above it), -EIO (also if that version is damaged). */
int wfs_version_next(struct wfs_txn *txn, uint64_t after, struct wfs_version *ret_version);
/** wfs_version_next_vid() - get the lowest vid above @after, even if the row of this version is
 *  damaged. Return: 0, -ENOENT (@after is the highest vid, or above it), -EIO. */
int wfs_version_next_vid(struct wfs_txn *txn, uint64_t after, uint64_t *ret_vid);
/** wfs_version_remove() - remove the rows of a version in the tables version and history. The
 *  `prev_vid` of the cell's next version still has its number. */
int wfs_version_remove(struct wfs_txn *txn, const struct wfs_version *version);

/* blob */
int wfs_blob_put(struct wfs_txn *txn, const struct wfs_blob *blob);
int wfs_blob_get(struct wfs_txn *txn, const struct wfs_hash *hash, struct wfs_blob *ret_blob);
/** wfs_blob_remove() - remove the row of a blob that is not listed; its file, if it has one, stays.
 *  Return: 0, -ENOENT, … */
int wfs_blob_remove(struct wfs_txn *txn, const struct wfs_hash *hash);
/** wfs_blob_next() - find the blob with the lowest hash above @after (NULL: the first of all).
 *  Return: 0, -ENOENT, -EBADMSG (its row is damaged; @ret_blob has only the hash, after which the
 *  caller can go on), -EIO. */
int wfs_blob_next(struct wfs_txn *txn, const struct wfs_hash *after, struct wfs_blob *ret_blob);
int wfs_blob_listing_put(struct wfs_txn *txn, const struct wfs_blob_listing *listing);
int wfs_blob_listing_get(
	struct wfs_txn *txn, uint64_t listed_id, struct wfs_blob_listing *ret_listing);
/** wfs_blob_listing_last() - get the number (listing id) of the last listed blob; 0 if none is
 *  listed. */
int wfs_blob_listing_last(struct wfs_txn *txn, uint64_t *ret_listed_id);

/*
 * text: private texts, which records mention by their hash; see kernel/read/text.h, which also has
 * wfs_text_to(). Rows are never changed or removed. Their numbers have no gaps, and rise with the
 * records that mention the texts.
 */

/* Plain value; the bytes that a getter returns are borrowed from the map. */
struct wfs_text {
	uint64_t number;
	uint64_t seq;           /* of the first record that mentions it */
	struct wfs_hash hash;   /* of `bytes` */
	struct wfs_bytes to;    /* id of the principal that may read it, see wfs_text_to() */
	struct wfs_bytes of;    /* JSON array: ids of the artifacts that the text belongs to */
	struct wfs_bytes bytes; /* salt, then canonical JSON of the value */
};

/** wfs_text_put() - add a text; text->number must be the last number + 1. */
int wfs_text_put(struct wfs_txn *txn, const struct wfs_text *text);
/** wfs_text_get() - get the text with the number @number. Return: 0, -ENOENT, -EIO. */
int wfs_text_get(struct wfs_txn *txn, uint64_t number, struct wfs_text *ret_text);
/** wfs_text_find() - get the text with the hash @hash. Return: 0, -ENOENT, -EIO. */
int wfs_text_find(struct wfs_txn *txn, const struct wfs_hash *hash, struct wfs_text *ret_text);
/** wfs_text_last() - get the number of the last text; 0 in a world without texts. */
int wfs_text_last(struct wfs_txn *txn, uint64_t *ret_number);

/*
 * code_crash: code that ended the process it ran in; see kernel/box/quarantine.h. These rows are
 * not part of the world: no cell, record or snapshot has them.
 */
struct wfs_code_crash {
	struct wfs_hash code;
	uint32_t crashes;      /* how often it has crashed */
	int64_t at_ns;         /* of the last crash */
	struct wfs_bytes name; /* of the code at the last crash */
};

/** wfs_code_crash_put() - write the row of @crash->code; remove the row if @crash->crashes is 0.
 *  Return: 0, -EIO, -ENOSPC. */
int wfs_code_crash_put(struct wfs_txn *txn, const struct wfs_code_crash *crash);

/** wfs_code_crash_next() - get the row with the lowest hash above @after (NULL: the first). Return:
 *  0, -ENOENT, -EIO. */
int wfs_code_crash_next(
	struct wfs_txn *txn, const struct wfs_hash *after, struct wfs_code_crash *ret_crash);

/*
 * index: sets of cells or records, which answer queries; kernel/read/index.h says which sets exist.
 * For sets of records the functions take and return seqs in the place of cell ids.
 */

enum {
	WFS_INDEX_TEXTS_MAX = 3,  /* texts that name a set */
	WFS_INDEX_TEXT_MAX = 128, /* bytes of one; a longer one is replaced by its hash */
	WFS_INDEX_SET_SIZE_MAX = 2 + WFS_INDEX_TEXTS_MAX * (1 + WFS_INDEX_TEXT_MAX),
};

/* The name of a set: a kind and texts. Plain value: init, add … */
struct wfs_index_set {
	uint8_t bytes[WFS_INDEX_SET_SIZE_MAX];
	size_t size;
};
void wfs_index_set_init(struct wfs_index_set *set, uint8_t kind);
void wfs_index_set_add(struct wfs_index_set *set, struct wfs_bytes text);

/* The sum over all items of a set. */
struct wfs_index_sum {
	uint64_t count;
	uint64_t amount; /* the sum of the items' amounts, modulo 2^64 */
};

/** wfs_index_add() - add a cell to a set. @amount: what the cell adds to the set's sum
 *  Return: 0, -EEXIST (the cell is in the set already), -EIO, -ENOSPC. */
int wfs_index_add(
	struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id, uint64_t amount);
/** wfs_index_remove() - remove a cell from a set. Return: 0, -ENOENT (the cell is not in the set),
 *  -EIO, -ENOSPC. */
int wfs_index_remove(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id);
/** wfs_index_remove_below() - remove from the sets of one kind, one set after the other, all items
 *  whose id is below @end; a caller repeats the call until it returns 0
 *  @set: in the first call, only a kind (wfs_index_set_init()); moves on to the set with which the
 *  next call begins
 *  @items_max: how many rows to look at; at least 3, because a call that looks at fewer might not
 *  get to the next set
 *  Return: 1 (@items_max rows were looked at), 0 (all sets were looked at), -EIO, -ENOSPC. */
int wfs_index_remove_below(
	struct wfs_txn *txn, struct wfs_index_set *set, uint64_t end, uint32_t items_max);
/** wfs_index_next() - find the next item in the sets of one kind, one set after the other
 *  @set: where to begin; moves on to the set of the item
 *  @cell_id: the cell of @set after which to begin, or 0: before the first; moves on to the cell of
 *  the item
 *  Return: 0, -ENOENT (no more items), -EIO. */
int wfs_index_next(struct wfs_txn *txn, struct wfs_index_set *set, uint64_t *cell_id);
/** wfs_index_get() - get the amount that a cell adds to the sum of a set. Return: 0, or -ENOENT
 *  (not in the set). */
int wfs_index_get(struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id,
	uint64_t *ret_amount);
/** wfs_index_sum_get() - get how many cells a set has, and the sum of their amounts; both are 0 for
 *  an empty set. */
int wfs_index_sum_get(
	struct wfs_txn *txn, const struct wfs_index_set *set, struct wfs_index_sum *ret_sum);

/* Iterates over the cells of a set, oldest or newest first. Plain value: init, next …, done. */
struct wfs_index_walk {
	void *cursor;
	struct wfs_txn *txn;
	struct wfs_index_set set;
	bool newest_first;
	bool positioned;
	/* Set by a caller before the first step: the lowest id to return; with `newest_first`: all
	 * returned ids are below it. */
	uint64_t start;
	uint64_t cell_id; /* of the last step */
	uint64_t amount;  /* of the last step: the cell's amount */
};
int wfs_index_walk_init(struct wfs_index_walk *walk, struct wfs_txn *txn,
	const struct wfs_index_set *set, bool newest_first);
/** wfs_index_walk_next() - get the id of the next cell of the set. Return: 1 and an id, 0 at the
 *  end, or -errno. */
int wfs_index_walk_next(struct wfs_index_walk *walk, uint64_t *ret_cell_id);
void wfs_index_walk_done(struct wfs_index_walk *walk);
#define WFS_AUTO_INDEX_WALK WFS_CLEANUP(wfs_index_walk_done)

/* A decoded row of the index. Plain value. */
struct wfs_index_row {
	struct wfs_index_set set;
	bool is_sum;
	uint64_t cell_id;         /* of an item: a cell's id or a record's seq */
	struct wfs_index_sum sum; /* of an item: 1 and its amount */
};
/* A caller's function for each row. Return: 0, or a value that ends the walk. */
typedef int wfs_index_each_fn(void *context, const struct wfs_index_row *row);

/** wfs_index_each() - call @each with @context for all rows of the index, set by set, the sum of
 *  each set first; end at the first damaged row
 *  @each: must not change the index. Return: 0, the result of @each, -EIO (a row is damaged). */
int wfs_index_each(struct wfs_txn *txn, wfs_index_each_fn *each, void *context);
