/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory stores: artifacts of type memory_store. Their content says how they are kept, their entries
 * are cells of their own, so that adding one costs the same however many there are.
 *
 *   content of the artifact: {config?: {auto_prune?, max_entries?}, entries?}; what a write changes in its
 *       entries it changes in the store, see memory_take_content()
 *   sys.memory, key artifact id/entry id:
 *       {dims, embedding, id, importance, model, place, tags, text, tick}; embedding: base64 of little-endian
 *       float32; place: how many entries the store was given before; shown as a file of the artifact alone
 *   sys.memory_store, key artifact id: {added, bytes, count, dims, label, model} once it has had an entry;
 *       added: how many there ever were; bytes: of the entries, which count against the disk that the
 *       artifact counts against; with {left, next} while its entries get other embeddings, see reembed.c;
 *       label: 16 hex digits, another one after every change
 *   sys.memory_hit, key as of sys.memory: {score} of the last search that found it, as long as the store
 *       is pruned by that
 *
 * All entries of a store have embeddings of one model: those of two cannot be compared.
 * Source: docs/decisions/0022-minds.md.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/domain/action/act.h"
#include "kernel/domain/memory/embedding.h"
#include "kernel/vector/vectors.h"

enum {
	MEMORY_ENTRIES_DEFAULT = 1000,
	MEMORY_ENTRIES_MAX = 100000,
	MEMORY_VECTORS_MAX = 512 << 20, /* bytes of all vectors of a store */
	MEMORY_TAGS_MAX = 32,           /* of an entry */
	MEMORY_TAG_MAX = 64,            /* bytes */
	MEMORY_ID_SIZE = 12 + 1,        /* text of an entry's id, `mem_` and 8 hex digits */
	MEMORY_KEY_SIZE = 128 + 1 + MEMORY_ID_SIZE,
	MEMORY_PRUNED_MAX = 1000, /* entries that go in one action that adds some */
	MEMORY_GIVEN_MAX = 256,   /* entries that come as JSON in one action */
	MEMORY_WORK_OF_BYTE =
		8, /* of a text that is embedded, in instructions of code that take as long */
	MEMORY_LIMIT_DEFAULT = 5, /* results of a search */
	MEMORY_LIMIT_MAX = WFS_VECTORS_LIMIT_MAX,
};

#define MEMORY_TICK_NOW (-1)
#define MEMORY_TICK_MAX (INT64_C(1) << 53)

#define MEMORY_SAME 0.95 /* cosine above which a text is there already */

extern const struct wfs_domain wfs_memory_domain;

/* A store while it is worked on. Plain value; memory_open, memory_done. */
struct memory {
	struct act *act;
	const char *id; /* of the artifact */
	int64_t entries_max;
	enum wfs_vectors_order order; /* in which entries go when there are too many */
	json_t *state;                /* of its cell of sys.memory_store; owned */
	size_t cell;
	uint64_t label; /* as there */
	int pruned;     /* entries so far */
};
void memory_done(struct memory *memory);
#define MEMORY_AUTO WFS_CLEANUP(memory_done)

/** memory_check() - is the content of an artifact what a store's may be, if it is one? What it says is used when
 *  entries are added: so it is asked whenever it changes. Return: 0, -EINVAL, … */
int memory_check(struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error);

/** memory_open() - @artifact: of the type; must outlive it. Return: 0, -EINVAL (its content is not as it should
 *  be), … */
int memory_open(struct act *act, const struct artifact *artifact, struct memory *ret_memory,
	struct wfs_error *error);

int64_t memory_count(const struct memory *memory);

/**
 * memory_check_ready() - can texts be added and sought, with the embedder of this host?
 * Return: 0, -EINVAL (its entries have embeddings of another model, says what is to be done).
 */
int memory_check_ready(const struct memory *memory, struct wfs_error *error);

/** memory_model() - of its entries; NULL: it has none. */
const char *memory_model(const struct memory *memory);

/* What is added. Plain value; borrowed. */
struct memory_entry {
	const char *text;
	const json_t *tags; /* array of texts; NULL: none */
	double importance;  /* 0 to 1 */
	int64_t tick;       /* when it was made; MEMORY_TICK_NOW */
	bool named;         /* it wants the id of this number, if no other entry has that */
	uint32_t number;
	const struct embedding *embedding;
};

/* What came of that. Plain value. */
struct memory_added {
	char id[MEMORY_ID_SIZE]; /* of the entry, or of the one that says the same already */
	double similarity;       /* to that one; 0: it is new */
	bool stored;             /* false: it was pruned at once, as the least important of all */
};

/**
 * memory_add() - @artifact: the store's; its payer's disk is charged
 * Return: 0, -EDQUOT (quota_exceeded), -EINVAL, …
 */
int memory_add(struct memory *memory, const struct artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error);

/** memory_put() - add an entry, also if the store has one that is nearly equal (MEMORY_SAME). Return: as memory_add */
int memory_put(struct memory *memory, const struct artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error);

/** memory_search() - @limit: 1 to MEMORY_LIMIT_MAX
 *  @ret_results: an array of {id, score, tags, text, tick}, the likest first; caller owns
 *  it */
int memory_search(struct memory *memory, const struct embedding *query, size_t limit,
	json_t **ret_results, struct wfs_error *error);

/** memory_remove() - one entry, whose disk is free again. Return: 0, -ENOENT (not_found), … */
int memory_remove(struct memory *memory, const struct artifact *artifact, const char *entry_id,
	struct wfs_error *error);

/** memory_list() - entries in the order of their ids from @offset on, without their embeddings; as of before
 *  the record. */
int memory_list(struct memory *memory, size_t limit, size_t offset, json_t **ret_entries,
	struct wfs_error *error);

/** memory_bytes() - what the entries of an artifact take; 0 when it is no store. */
int memory_bytes(struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes,
	struct wfs_error *error);

/** memory_delete_all() - the artifact is deleted, whoever paid for it is told elsewhere. */
int memory_delete_all(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error);

/**
 * memory_reembed() - embeddings of the host's model for entries that have others
 * @limit: of embeddings in this record
 * @ret_done: that were made; the store is ready when memory_check_ready() says so
 * Return: 0, -EIO (effect_failed), -EDQUOT (quota_exceeded), …
 */
int memory_reembed(struct memory *memory, const struct artifact *artifact, size_t limit,
	size_t *ret_done, struct wfs_error *error);

/** memory_left() - entries that have not been looked at; 0: the store is not being embedded anew. */
int64_t memory_left(const struct memory *memory);

/* --- given.c: entries as JSON --- */

/** memory_check_tags() - @tags: NULL: none. Return: 0, -EINVAL, -EFBIG (too_large). */
int memory_check_tags(const json_t *tags, struct wfs_error *error);

/** memory_read_importance() - @value: NULL: 0.5. Return: 0, -EINVAL. */
int memory_read_importance(const json_t *value, double *ret_importance, struct wfs_error *error);

/* What came of a list. Plain value; memory_given_done. */
struct memory_given {
	json_t *ids;        /* of each, in the order of the list; owned */
	size_t added;       /* without those that were pruned at once */
	int64_t price_paid; /* scrip, for embeddings that the host made */
};
void memory_given_done(struct memory_given *given);

/**
 * memory_give() - add entries, also such as are nearly equal to others
 * A vector counts if it is of the store's model, or of the host's when the store is empty; other texts are embedded
 * by the host, which costs as much as genesis_embedder does.
 * @entries: a list of at most MEMORY_GIVEN_MAX of {text, dims?, embedding?, id?, importance?, model?, place?, tags?,
 *  tick?}; embedding: numbers, or as in a cell; `mem_` and 1 to 8 hex digits as id are kept if no entry has them
 * Return: 0, -EINVAL, -EFBIG (too_large), -EDQUOT (insufficient_funds, quota_exceeded), …
 */
int memory_give(struct memory *memory, const struct artifact *artifact, const json_t *entries,
	struct memory_given *ret_given, struct wfs_error *error);

/** memory_has() - has the store an entry with the id and the text of @item? Return: 1, 0, or -errno. */
int memory_has(struct memory *memory, const json_t *item, struct wfs_error *error);

/** memory_content_entries() - @ret_entries: those that the content names; NULL: none; caller owns it */
int memory_content_entries(struct wfs_fold *fold, const struct artifact *artifact,
	json_t **ret_entries, struct wfs_error *error);

/**
 * memory_take_content() - do to the store what a write did to the entries of its content
 * Entries that the content did not have before are added. Those that it does not have any more are removed if the
 * store has an entry with their id and text; those without an id stay. An entry that the content has before and after
 * the write is left alone, even if it was deleted from the store or pruned.
 * @before: what memory_content_entries() gave before the write; may be NULL
 */
int memory_take_content(
	struct act *act, const struct artifact *artifact, json_t *before, struct wfs_error *error);

/* --- mirror.c: vectors in memory --- */

struct memory_mirror;
struct memory_mirrors;

void memory_mirrors_free(struct memory_mirrors *mirrors);

/**
 * memory_mirror() - the vectors of a store as the fold has left it
 * They are kept from record to record. What is done to them is told by the next three together with
 * the store's new label; so a fold that is dropped, or a part of it that is taken back, is found out
 * by the label, and undone.
 * @dims: of the store, more than 0
 */
int memory_mirror(
	struct memory *memory, struct memory_mirror **ret_mirror, struct wfs_error *error);
struct wfs_vectors *memory_mirror_vectors(const struct memory_mirror *mirror);
int memory_mirror_add(struct memory_mirror *mirror, const struct wfs_vectors_row *row,
	uint64_t label, struct wfs_error *error);
void memory_mirror_remove(struct memory_mirror *mirror, uint32_t id, uint64_t label);
void memory_mirror_score(struct memory_mirror *mirror, uint32_t id, double score, uint64_t label);

/* --- entries as bytes --- */

/** memory_key() - of an entry's cell. */
void memory_key(
	const char *artifact_id, const char *entry_id, char ret_key[static MEMORY_KEY_SIZE]);

/** memory_is_of() - is it the key of an entry of this store? */
bool memory_is_of(struct wfs_bytes key, const char *artifact_id);

/** memory_id_number() - of `mem_0000002a` 42. Return: false: it is no entry's id. */
bool memory_id_number(const char *entry_id, uint32_t *ret_number);
void memory_id_text(uint32_t number, char ret_id[static MEMORY_ID_SIZE]);
