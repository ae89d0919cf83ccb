/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory stores: artifacts of type memory_store. Their content has their settings; each entry is a
 * cell, so that adding one costs the same however many entries the store has.
 *
 *   content of the artifact: {config?: {auto_prune?, max_entries?}, entries?}; a write that
 *       changes its entries changes the store, see memory_take_content()
 *   sys.memory, key artifact id/entry id: {dims, embedding, id, importance, model, place, tags,
 *       text, tick}; embedding: base64 of little-endian float32; place: how many entries were
 *       added before it; shown only as a file of the artifact
 *   sys.memory_store, key artifact id: {added, bytes, count, dims, label, model} from the first
 *       entry on; added: how many entries it has ever had; bytes: of the entries, charged to the
 *       disk that pays for the artifact; with {left, next} while its entries get other embeddings,
 *       see reembed.c; label: 16 hex digits, which differ after each change
 *   sys.memory_hit, key as of sys.memory: {score} of the newest search that found the entry while
 *       the store was pruned by score (auto_prune: lowest_score)
 *
 * All entries of a store have embeddings of one model, because those of different models cannot be
 * compared. To prune is to remove entries when the store has more than max_entries. Functions that
 * return int return 0, or -errno with @error filled. A function that fails may have made a part of
 * its changes, also in struct memory: the caller lets the action fail.
 * Source: docs/decisions/0022-minds.md.
 * Thread: the thread that folds.
 */
#pragma once

#include "kernel/domain/action/act.h"
#include "kernel/domain/memory/embedding.h"
#include "kernel/manifest/entity-name.h"
#include "kernel/vector/vectors.h"

enum {
	MEMORY_ENTRIES_DEFAULT = 1000,
	MEMORY_ENTRIES_MAX = 100000,
	MEMORY_VECTORS_MAX = 512 << 20, /* bytes of all vectors of a store */
	MEMORY_TAGS_MAX = 32,           /* tags of an entry */
	MEMORY_TAG_MAX = 64,            /* bytes */
	MEMORY_KEY_SIZE = 128 + 1 + MEMORY_ID_SIZE,
	MEMORY_PRUNED_MAX = 1000, /* entries pruned in one action that adds entries */
	MEMORY_GIVEN_MAX = 256,   /* entries added as JSON in one action */
	MEMORY_WORK_OF_BYTE = 8,  /* instructions that embedding a byte of text counts as */
	MEMORY_LIMIT_DEFAULT = 5, /* results of a search */
	MEMORY_LIMIT_MAX = WFS_VECTORS_LIMIT_MAX,
};

#define MEMORY_TICK_NOW (-1)
#define MEMORY_TICK_MAX (INT64_C(1) << 53)

#define MEMORY_SAME 0.95 /* cosine above which a text counts as already stored */

extern const struct wfs_domain wfs_memory_domain;

/* An open store. Plain value; memory_open, memory_done. */
struct memory {
	struct act *act;
	const char *id; /* of the artifact */
	int64_t entries_max;
	enum wfs_vectors_order order;           /* in which entries are pruned */
	struct wfs_document_memory_store state; /* but for label and model, which are kept here: */
	char model[EMBEDDING_MODEL_MAX + 1];
	uint64_t label; /* see memory_change_label() */
	int pruned;     /* entries pruned since memory_open() */
};
void memory_done(struct memory *memory);
#define MEMORY_AUTO WFS_CLEANUP(memory_done)

/** memory_check() - check the content of an artifact, if it is a memory store
 *  The action that changes the content calls the function, because adding entries relies on a valid
 *  content. Return: 0 (also for artifacts of other types), -EINVAL (the content is not valid), … */
int memory_check(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	struct wfs_error *error);

/** memory_open() - open a store for reading and changing it within one action
 *  @artifact: of type memory_store; must outlive @ret_memory, as must @act
 *  @ret_memory: set on success; caller ends it with memory_done()
 *  Return: 0, -EINVAL (@artifact has another type, or its content is not valid), … */
int memory_open(struct act *act, const struct wfs_document_artifact *artifact,
	struct memory *ret_memory, struct wfs_error *error);

/** memory_count() - get how many entries the store has. */
int64_t memory_count(const struct memory *memory);

/** memory_check_ready() - check that entries can be added and searched with the embedder of this
 *  host
 *  Return: 0 (also for an empty store), -EINVAL (the entries have embeddings of a model that this
 *  host lacks, or memory_reembed() is not complete; the message says what to do). */
int memory_check_ready(const struct memory *memory, struct wfs_error *error);

/** memory_model() - get the name of the model of the entries' embeddings, borrowed from @memory;
 *  NULL: the store is empty. */
const char *memory_model(const struct memory *memory);

/* An entry to add. Plain value; borrowed. */
struct memory_entry {
	const char *text;
	const json_t *tags; /* array of texts; NULL: none */
	double importance;  /* 0 to 1 */
	int64_t tick;       /* height at which it was made, or MEMORY_TICK_NOW */
	bool named;         /* its id shall be that of `number`, if no other entry has it */
	uint32_t number;
	const struct embedding *embedding;
};

/* The outcome of adding an entry. Plain value. */
struct memory_added {
	char id[MEMORY_ID_SIZE]; /* of the entry, or of an existing one with the same meaning */
	double similarity;       /* to the existing one; 0: the entry is new */
	bool stored;             /* false: it was pruned at once, as the least important entry */
};

/** memory_add() - add an entry, unless the store has an entry whose cosine to @entry is above
 *  MEMORY_SAME
 *  @artifact: the store; the entry's bytes are charged to the account artifact->charged_to
 *  @ret_added: the entry, or the existing one because of which nothing was added
 *  Return: 0 (also if nothing was added), -EDQUOT (quota_exceeded: the disk quota, or
 *  MEMORY_VECTORS_MAX, has no room), -EINVAL (the embedding is of another model than the store's),
 *  … */
int memory_add(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error);

/** memory_put() - add an entry as memory_add() does, but also if the store has a nearly equal one;
 *  ret_added->similarity is 0. Return: as memory_add(). */
int memory_put(struct memory *memory, const struct wfs_document_artifact *artifact,
	const struct memory_entry *entry, struct memory_added *ret_added, struct wfs_error *error);

/** memory_search() - find the @limit entries (1 to MEMORY_LIMIT_MAX) whose embeddings are nearest
 *  to @query
 *  If the store is pruned by score, the scores of the found entries are stored (sys.memory_hit).
 *  @query: of the model of the store's entries, otherwise the function returns -EINVAL
 *  @ret_results: an array of {id, score, tags, text, tick}, the most similar first; [] if the store
 *  is empty; caller owns it */
int memory_search(struct memory *memory, const struct embedding *query, size_t limit,
	json_t **ret_results, struct wfs_error *error);

/** memory_remove() - remove an entry, and subtract its bytes from the disk of the account that pays
 *  for @artifact, the store. Return: 0, -ENOENT (not_found: no such entry), … */
int memory_remove(struct memory *memory, const struct wfs_document_artifact *artifact,
	const char *entry_id, struct wfs_error *error);

/** memory_list() - list at most @limit entries in the order of their ids, as they were before the
 *  record that is being folded. @offset: how many entries to skip first. @ret_entries: an array of
 *  the documents of their cells, without `embedding`; caller owns it */
int memory_list(struct memory *memory, size_t limit, size_t offset, json_t **ret_entries,
	struct wfs_error *error);

/** memory_bytes() - add up the bytes of all entries of an artifact; 0 if it is not a memory
 *  store. */
int memory_bytes(struct wfs_fold *fold, const char *artifact_id, int64_t *ret_bytes,
	struct wfs_error *error);

/** memory_delete_all() - delete the cells of a deleted artifact: its store (sys.memory_store) with
 *  all entries and hits (sys.memory_hit); does nothing if the artifact was not a memory store. The
 *  caller has subtracted the bytes of the entries from the disk of the account that paid. */
int memory_delete_all(struct wfs_fold *fold, const char *artifact_id, struct wfs_error *error);

/** memory_reembed() - replace embeddings that are not of the model of the host's embedder by new
 *  ones. @artifact: the store. @limit: how many to make at most in this record; if a server makes
 *  them, the function makes at most WFS_EMBEDDINGS_MAX (kernel/fold/fold.h), even for a higher
 *  @limit
 *  @ret_done: how many were made, also on failure; memory_left() says whether entries are left
 *  Return: 0 (also if no entry needed another embedding), -EBUSY and -EIO (as embedding_make()),
 *  -EDQUOT (quota_exceeded: the disk quota, or MEMORY_VECTORS_MAX, has no room), … */
int memory_reembed(struct memory *memory, const struct wfs_document_artifact *artifact,
	size_t limit, size_t *ret_done, struct wfs_error *error);

/** memory_left() - get how many entries memory_reembed() has still to look at; 0: no reembedding is
 *  under way. */
int64_t memory_left(const struct memory *memory);

/* --- given.c: entries as JSON --- */

/** memory_check_tags() - check the tags of an entry: an array of texts; NULL: none. Return: 0,
 *  -EINVAL (another form), -EFBIG (too_large: more than MEMORY_TAGS_MAX tags, or one with more than
 *  MEMORY_TAG_MAX bytes). */
int memory_check_tags(const json_t *tags, struct wfs_error *error);

/** memory_read_importance() - read the importance of an entry, a number from 0 to 1. @value: NULL
 *  gives 0.5. Return: 0, -EINVAL (@value is not such a number). */
int memory_read_importance(const json_t *value, double *ret_importance, struct wfs_error *error);

/* The outcome of adding a list of entries. Plain value; memory_given_done. */
struct memory_given {
	json_t *ids;        /* ids of all entries, in the order of the list; owned */
	size_t added;       /* entries that were added and not pruned at once */
	int64_t price_paid; /* scrip, for embeddings that the host made */
};
void memory_given_done(struct memory_given *given);

/** memory_give() - add a list of entries, also those that are nearly equal to others
 *  The member `embedding` of an entry is used if its `model` is the store's or, if the store is
 *  empty, the host's. Otherwise the host embeds the entry's text, at the price of
 *  genesis_embedder, which act->payer pays.
 *  @entries: at most MEMORY_GIVEN_MAX of {text, dims?, embedding?, id?, importance?, model?,
 *  place?, tags?, tick?}; embedding: numbers, or base64 as in a cell; an id of `mem_` and 1 to 8
 *  hex digits is kept if no entry has it; place is ignored
 *  @ret_given: set on success; caller ends it with memory_given_done()
 *  Return: 0, -EINVAL (an entry is invalid, or as memory_check_ready()), -EFBIG (too_large),
 *  -EDQUOT (insufficient_funds: the payer lacks the price; quota_exceeded: as memory_add()), -EBUSY
 *  and -EIO (as embedding_make(); runtime_error: more work than one record may take), … */
int memory_give(struct memory *memory, const struct wfs_document_artifact *artifact,
	const json_t *entries, struct memory_given *ret_given, struct wfs_error *error);

/** memory_has() - has the store an entry with the id and the text of @item, an element of `entries`
 *  in an artifact's content? Return: 1, 0 (also if @item has no id), or -errno. */
int memory_has(struct memory *memory, const json_t *item, struct wfs_error *error);

/** memory_content_entries() - get the member `entries` of an artifact's content
 *  @ret_entries: caller owns it; NULL: the content has no such member, or the artifact is not a
 *  memory store, or the function has failed */
int memory_content_entries(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	json_t **ret_entries, struct wfs_error *error);

/** memory_take_content() - after a write of a store's content: add and remove the entries by which
 *  its list `entries` changed
 *  Entries that are new in the content are added. Those that were removed from it are removed from
 *  the store, if the store has an entry with their id and text; those without an id stay. Entries
 *  that the content had before and after the write are not touched, even if they were deleted from
 *  the store or pruned. What embeddings cost is added to act->price_paid.
 *  @before: result of memory_content_entries() before the write; borrowed; NULL: no entries
 *  Return: 0 (also if the artifact is not a memory store), or as memory_give(), … */
int memory_take_content(struct act *act, const struct wfs_document_artifact *artifact,
	json_t *before, struct wfs_error *error);

/* --- mirror.c: vectors in memory --- */

struct memory_mirror;  /* the vectors of one store */
struct memory_mirrors; /* the mirrors that a fold keeps, one for each store */

void memory_mirrors_free(struct memory_mirrors *mirrors);

/** memory_mirror() - get the vectors of a store, which is not empty and has memory_left() 0, with
 *  all changes that the fold has made so far
 *  The fold keeps a store's vectors, the mirror, from record to record. If changes of the store
 *  were taken back, the labels of store and mirror differ; this function then undoes the changes in
 *  the mirror or, if they are too many to undo, reads all vectors again.
 *  @ret_mirror: owned by the fold; borrowed until the next call of memory_mirror() for any store */
int memory_mirror(
	struct memory *memory, struct memory_mirror **ret_mirror, struct wfs_error *error);
/* Returns the vectors, borrowed from the mirror. */
struct wfs_vectors *memory_mirror_vectors(const struct memory_mirror *mirror);

/* The next three change a mirror: add or remove the vector of an entry, or set its score. @id: the
 * entry's number. @label: the label that the store has after the change */
int memory_mirror_add(struct memory_mirror *mirror, const struct wfs_vectors_row *row,
	uint64_t label, struct wfs_error *error);
void memory_mirror_remove(struct memory_mirror *mirror, uint32_t id, uint64_t label);
void memory_mirror_score(struct memory_mirror *mirror, uint32_t id, double score, uint64_t label);

/* --- entries as bytes --- */

/** memory_key() - write the key of an entry's cell of sys.memory: artifact id, `/`, entry id. */
void memory_key(
	const char *artifact_id, const char *entry_id, char ret_key[static MEMORY_KEY_SIZE]);

/** memory_is_of() - is @key the key of an entry of the store @artifact_id? */
bool memory_is_of(struct wfs_bytes key, const char *artifact_id);
