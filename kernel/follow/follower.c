/* SPDX-License-Identifier: Apache-2.0 */
/* Folding batches of another world's records. */
#include "kernel/follow/follower.h"

#include <inttypes.h>
#include <stdlib.h>

#include "kernel/base/array.h"
#include "kernel/base/hash-text.h"
#include "kernel/check/refold.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/text.h"
#include "kernel/world/apply.h"
#include "kernel/world/aside.h"
#include "kernel/world/gather.h"

struct wfs_follower {
	struct wfs_world *world;
	struct wfs_store *store;
	struct wfs_genesis genesis;
	struct wfs_manifest *manifest; /* in force where folding began */
	struct wfs_problems problems;
	struct wfs_refold_source source;
	struct wfs_refold refold;
	bool loaded;               /* `refold` is at the head of the store */
	wfs_follower_heard *heard; /* of requests; NULL: nobody */
	void *heard_context;

	/* The batch that is being folded. */
	struct wfs_batch batch;
	struct wfs_gather gather;
	struct wfs_manifest *newest; /* the last one that it brings into force, or NULL */
	/* of its blobs; their bytes, and files without rows, are kept until the transaction ends */
	struct wfs_blob_writer **writers;
	size_t writer_count;
	size_t writer_capacity;
	struct wfs_buffer blob;   /* bytes of a blob that has a row */
	struct wfs_error lacking; /* what folding needs and cannot find */
};

/* --- the source of the journal, see struct wfs_refold_source --- */

static int lacks(struct wfs_follower *follower, const char *what, const struct wfs_hash *hash,
	struct wfs_error *error)
{
	wfs_error_set(&follower->lacking, WFS_E_INVALID_ARGUMENT,
		"the batch of the records from %" PRIu64 " on lacks the %s %s",
		follower->batch.from, what, WFS_HASH_TEXT(hash));
	*error = follower->lacking;
	return -EINVAL;
}

static int append(struct wfs_buffer *buffer, struct wfs_bytes bytes, struct wfs_error *error)
{
	wfs_buffer_append(buffer, bytes.data, bytes.size);
	int r = wfs_buffer_check(buffer);
	return r ? wfs_error_from_errno(error, r, "read a batch") : 0;
}

static int give_line(
	void *context, uint64_t seq, struct wfs_bytes *ret_line, struct wfs_error *error)
{
	const struct wfs_follower *const follower = context;

	(void)error;
	if (seq >= follower->batch.to)
		return -ENOENT;
	*ret_line = wfs_batch_line(&follower->batch, seq);
	return 0;
}

static int give_module(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct wfs_follower *const follower = context;
	struct wfs_bytes bytes;

	(void)txn;
	return wfs_batch_find(&follower->batch, WFS_ATTACHED_MODULE, hash, &bytes)
		? append(buffer, bytes, error)
		: lacks(follower, "module", hash, error);
}

static int give_manifest(void *context, struct wfs_txn *txn, const struct wfs_hash *hash,
	struct wfs_manifest **ret_manifest, struct wfs_error *error)
{
	struct wfs_follower *const follower = context;
	struct wfs_manifest *manifest;
	struct wfs_bytes bytes;

	(void)txn;
	if (!wfs_batch_find(&follower->batch, WFS_ATTACHED_MANIFEST, hash, &bytes))
		return lacks(follower, "manifest", hash, error);
	int r = wfs_apply_parse(bytes, &manifest, error);
	if (r)
		return wfs_trace(r);
	wfs_manifest_unref(follower->newest);
	follower->newest = wfs_manifest_ref(manifest);
	follower->gather.commit.manifest_changed = true;
	follower->gather.commit.blobs_listed = true;
	*ret_manifest = manifest;
	return 0;
}

static int give_text(void *context, uint64_t seq, const struct wfs_action_text *text,
	struct wfs_buffer *buffer, struct wfs_error *error)
{
	struct wfs_follower *const follower = context;
	struct wfs_bytes bytes;

	(void)seq;
	return wfs_batch_find(&follower->batch,
		       text->code ? WFS_ATTACHED_CODE : WFS_ATTACHED_CONTENT, &text->hash, &bytes)
		? append(buffer, bytes, error)
		: lacks(follower, text->code ? "code" : "content", &text->hash, error);
}

/* Gives a private text of the batch, or one that an earlier record brought. */
static int give_hidden(void *context, const struct wfs_hash *hash, struct wfs_buffer *buffer,
	struct wfs_error *error)
{
	struct wfs_follower *const follower = context;
	struct wfs_text text;

	if (wfs_batch_find(&follower->batch, WFS_ATTACHED_TEXT, hash, &text.bytes))
		return append(buffer, text.bytes, error);
	int r = wfs_text_find(follower->refold.head.txn, hash, &text);
	if (r == -ENOENT)
		return lacks(follower, "private text", hash, error);
	return r ? wfs_error_from_errno(error, r, "read the private text %s", WFS_HASH_TEXT(hash))
		 : append(buffer, text.bytes, error);
}

/* Gives the row of a blob that the store has, but does not list. */
static int give_present(
	struct wfs_follower *follower, const struct wfs_blob *found, struct wfs_blob *blob)
{
	wfs_buffer_reset(&follower->blob); /* the row is about to be written again */
	wfs_buffer_append(&follower->blob, found->bytes.data, found->bytes.size);
	*blob = *found;
	blob->bytes = wfs_buffer_bytes(&follower->blob);
	return wfs_buffer_check(&follower->blob);
}

/* Stores attached bytes. */
static int receive(struct wfs_follower *follower, struct wfs_bytes bytes, struct wfs_blob *blob)
{
	struct wfs_blob_writer **const writers =
		wfs_array_reserve(follower->writers, follower->writer_count,
			&follower->writer_capacity, sizeof(struct wfs_blob_writer *));

	if (!writers)
		return -ENOMEM;
	follower->writers = writers;
	int r = wfs_blob_writer_new(follower->store, &writers[follower->writer_count]);
	if (r)
		return wfs_trace(r);
	struct wfs_blob_writer *const writer = writers[follower->writer_count++];
	r = wfs_blob_writer_add(writer, bytes.data, bytes.size);
	return wfs_trace(r ? r : wfs_blob_writer_finish(writer, blob));
}

/* Gives the row of a blob. The bytes of a large one come another way, before or later. */
static int give_blob(
	void *context, struct wfs_txn *txn, struct wfs_blob *blob, struct wfs_error *error)
{
	struct wfs_follower *const follower = context;
	struct wfs_blob found;
	struct wfs_bytes bytes;
	int r = wfs_blob_get(txn, &blob->hash, &found);

	follower->gather.commit.blobs_listed = true;
	if (!r) {
		r = found.size_bytes == blob->size_bytes ? give_present(follower, &found, blob)
							 : -EINVAL;
	} else if (r == -ENOENT &&
		wfs_batch_find(&follower->batch, WFS_ATTACHED_BLOB, &blob->hash, &bytes)) {
		r = bytes.size == blob->size_bytes ? receive(follower, bytes, blob) : -EINVAL;
	} else if (r == -ENOENT && blob->size_bytes <= WFS_BATCH_BLOB_MAX) {
		return lacks(follower, "blob", &blob->hash, error);
	} else if (r == -ENOENT) {
		blob->in_file = true;
		r = 0;
	}
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the blob %s does not have the size that its record says",
			WFS_HASH_TEXT(&blob->hash));
	return r ? wfs_error_from_errno(error, r, "store a blob") : 0;
}

static void note_change(void *context, const struct wfs_change *change)
{
	struct wfs_follower *const follower = context;

	wfs_gather_change(&follower->gather, change);
}

static int check_changes(void *context, struct wfs_error *error)
{
	const struct wfs_follower *const follower = context;
	int r = wfs_buffer_check(&follower->gather.keys);

	return r ? wfs_error_from_errno(error, r, "note what a batch changes") : 0;
}

/* --- one batch --- */

static void unload(struct wfs_follower *follower)
{
	wfs_refold_done(&follower->refold);
	follower->refold = (struct wfs_refold){.store = NULL};
	wfs_manifest_unref(WFS_STEAL(follower->manifest));
	follower->loaded = false;
}

/* Reads the head of the store, unless the last batch has left it in memory. */
static int load(struct wfs_follower *follower, struct wfs_error *error)
{
	if (follower->loaded)
		return 0;
	follower->manifest = wfs_world_manifest(follower->world);
	follower->source.manifest = follower->manifest;
	int r = wfs_refold_init(
		&follower->refold, follower->store, &follower->source, &follower->problems, error);
	follower->loaded = r == 0;
	if (r)
		unload(follower);
	return wfs_trace(r);
}

static void forget_batch(struct wfs_follower *follower)
{
	for (size_t i = 0; i < follower->writer_count; i++)
		wfs_blob_writer_free(follower->writers[i]);
	follower->writer_count = 0;
	wfs_manifest_unref(WFS_STEAL(follower->newest));
	wfs_gather_done(&follower->gather);
	wfs_batch_done(&follower->batch);
	wfs_problems_done(&follower->problems);
	follower->lacking = (struct wfs_error){0};
}

/* Compares the line of a record that the world has. Return: 0, or -errno. */
static int compare_line(struct wfs_follower *follower, struct wfs_txn *txn, uint64_t seq,
	struct wfs_followed_outcome *outcome, struct wfs_error *error)
{
	struct wfs_bytes line;
	uint64_t offset;
	uint64_t first;
	int r = wfs_journal_own_first(txn, &first);

	if (!r && seq < first)
		return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
			"record %" PRIu64 " is not kept any more, so it cannot be compared", seq);
	if (!r)
		r = wfs_journal_get(txn, seq, &offset, &line);
	if (r)
		return wfs_error_from_errno(error, r, "read record %" PRIu64, seq);
	if (!wfs_bytes_equal(line, wfs_batch_line(&follower->batch, seq))) {
		outcome->followed = WFS_FOLLOWED_OTHER;
		outcome->seq = seq;
		snprintf(outcome->message, sizeof(outcome->message),
			"this world has another record %" PRIu64, seq);
	}
	return 0;
}

/* Compares the records of the batch that the world has. */
static int compare_present(struct wfs_follower *follower, struct wfs_followed_outcome *outcome,
	struct wfs_error *error)
{
	const uint64_t height = follower->refold.head.height;
	const struct wfs_batch *const batch = &follower->batch;
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_read(follower->store, &txn);

	if (r)
		return wfs_error_from_errno(error, r, "read the journal");
	outcome->followed = batch->to <= height ? WFS_FOLLOWED_PRESENT : WFS_FOLLOWED_APPLIED;
	for (uint64_t seq = batch->from;
		!r && seq < height && seq < batch->to && outcome->followed != WFS_FOLLOWED_OTHER;
		seq++)
		r = compare_line(follower, txn, seq, outcome, error);
	return wfs_trace(r);
}

/* Finds the place of the batch. @outcome: gets `applied` if something is to be folded. */
static int find_place(struct wfs_follower *follower, struct wfs_followed_outcome *outcome,
	struct wfs_error *error)
{
	const struct wfs_head *const head = &follower->refold.head;
	const struct wfs_batch *const batch = &follower->batch;

	if (batch->from < head->height)
		return wfs_trace(compare_present(follower, outcome, error));
	outcome->followed = WFS_FOLLOWED_APPLIED;
	if (batch->from > head->height) {
		outcome->followed = WFS_FOLLOWED_AHEAD;
		outcome->seq = head->height;
		snprintf(outcome->message, sizeof(outcome->message),
			"the batch begins with record %" PRIu64 ", and this world has %" PRIu64
			" records",
			batch->from, head->height);
	} else if (!wfs_hash_equal(&batch->prev, &head->prev)) {
		outcome->followed = WFS_FOLLOWED_OTHER;
		outcome->seq = head->height - 1;
		snprintf(outcome->message, sizeof(outcome->message),
			"this world has another record %" PRIu64 ": expected the hash %s",
			head->height - 1, WFS_HASH_TEXT(&batch->prev));
	}
	return 0;
}

static void set_diverged(struct wfs_follower *follower, struct wfs_followed_outcome *outcome)
{
	const struct wfs_refold_difference *const difference = &follower->refold.difference;
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	const char *const message = wfs_buffer_text(&follower->problems.lines);

	outcome->followed = WFS_FOLLOWED_DIVERGED;
	outcome->seq = difference->seq;
	snprintf(outcome->message, sizeof(outcome->message), "%.*s", (int)strcspn(message, "\n"),
		message);
	wfs_utf8_clean(outcome->message, strlen(outcome->message));
	if (!*difference->reducer)
		return;
	wfs_name_append(&name, difference->key.data, difference->key.size);
	snprintf(outcome->cell, sizeof(outcome->cell), "%s/%s", difference->reducer,
		wfs_buffer_text(&name));
}

/* Folds the records that the world lacks, and commits them. */
static int fold(struct wfs_follower *follower, struct wfs_followed_outcome *outcome,
	struct wfs_error *error)
{
	follower->source.height = follower->batch.to;
	follower->gather.commit.from_height = follower->refold.head.height;
	follower->gather.commit.to_height = follower->batch.to;
	int r = wfs_refold_batch(&follower->refold, error);
	if (!r && !follower->refold.differs)
		return 0;
	if (!r && follower->lacking.code == WFS_OK)
		set_diverged(follower, outcome);
	unload(follower);
	if (follower->lacking.code == WFS_OK)
		return wfs_trace(r);
	*error = follower->lacking;
	return -EINVAL;
}

/* The batch says twice with which record it begins, and what comes before it. */
static int check_first(const struct wfs_batch *batch, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = wfs_record_parse(wfs_batch_line(batch, batch->from), &parsed, NULL);

	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "read a batch");
	if (!r && parsed.record.seq == batch->from &&
		wfs_hash_equal(&parsed.record.prev, &batch->prev))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"not a batch of records: its first line does not fit its first record");
}

static int apply(struct wfs_follower *follower, struct wfs_bytes encoded,
	struct wfs_followed_outcome *outcome, struct wfs_error *error)
{
	int r = wfs_batch_decode(encoded, &follower->batch, error);

	if (!r)
		r = check_first(&follower->batch, error);
	if (!r)
		r = load(follower, error);
	if (!r)
		r = find_place(follower, outcome, error);
	if (r || outcome->followed != WFS_FOLLOWED_APPLIED)
		return wfs_trace(r);
	r = fold(follower, outcome, error);
	if (r || outcome->followed != WFS_FOLLOWED_APPLIED)
		return wfs_trace(r);
	wfs_gather_finish(&follower->gather);
	wfs_world_publish(follower->world, &follower->gather.commit, follower->newest);
	return 0;
}

void wfs_follower_listen(struct wfs_follower *follower, wfs_follower_heard *heard, void *context)
{
	follower->heard = heard;
	follower->heard_context = context;
}

static void tell_requests(struct wfs_follower *follower, enum wfs_followed followed)
{
	const struct wfs_batch *const batch = &follower->batch;

	if (!follower->heard ||
		(followed != WFS_FOLLOWED_APPLIED && followed != WFS_FOLLOWED_PRESENT))
		return;
	for (size_t i = 0; i < batch->request_count; i++)
		follower->heard(
			follower->heard_context, batch->requests[i].id, batch->requests[i].seq);
}

int wfs_follower_apply(struct wfs_follower *follower, struct wfs_bytes encoded,
	struct wfs_followed_outcome *ret_outcome, struct wfs_error *error)
{
	struct wfs_followed_outcome outcome = {.seq = 0};
	int r = apply(follower, encoded, &outcome, error);

	if (!r)
		tell_requests(follower, outcome.followed);
	forget_batch(follower);
	if (!r)
		*ret_outcome = outcome;
	return wfs_trace(r);
}

/* --- life --- */

int wfs_follower_new(
	struct wfs_world *world, struct wfs_follower **ret_follower, struct wfs_error *error)
{
	struct wfs_follower *const follower = calloc(1, sizeof(*follower));

	if (!follower)
		return wfs_error_from_errno(error, -ENOMEM, "follow a world");
	follower->world = world;
	follower->store = wfs_world_store(world);
	wfs_world_genesis(world, &follower->genesis);
	follower->source = (struct wfs_refold_source){
		.name = "journal",
		.genesis = &follower->genesis,
		.whole = true,
		.context = follower,
		.line = give_line,
		.module = give_module,
		.manifest_of = give_manifest,
		.text = give_text,
		.hidden = give_hidden,
		.blob = give_blob,
		.changed = note_change,
		.ending = check_changes,
	};
	wfs_world_step_aside(world);
	*ret_follower = follower;
	return 0;
}

void wfs_follower_free(struct wfs_follower *follower)
{
	if (!follower)
		return;
	unload(follower);
	forget_batch(follower);
	free(follower->writers);
	wfs_buffer_done(&follower->blob);
	free(follower);
}
