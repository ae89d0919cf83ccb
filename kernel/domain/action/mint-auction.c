/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends an auction: the winner pays, the price is shared among the other principals, and a score is
 * requested.
 *
 * There may be many bids and many principals, but a fold holds a bounded number of bytes. So bids
 * are read without the fold, and what each account gets is summed before the account is changed
 * once.
 */
#include <inttypes.h>

#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/mint.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/index.h"
#include "kernel/store/row-name.h"

/* A pending bid. */
struct entry {
	uint64_t cell_id;
	bool stands; /* the artifact is still executable and the bidder's */
};

struct auction {
	struct act *act;
	struct entry *entries; /* owned; pending bids, the earliest first */
	size_t count;
	size_t capacity;
	size_t standing_count;
	int64_t escrow;                  /* sum of all bids */
	struct wfs_document_mint winner; /* the highest bid that stands; `bid` 0: none */
	uint64_t winner_cell;            /* 0: none */
	int64_t second;                  /* the second highest amount that stands; 0: none */
	int64_t price;
	size_t winner_index; /* index of its cell in the fold, once the bid has ended */
	json_t *credits;     /* {id: amount} to add to each account; owned */
	json_t *distributed; /* {id: amount}, the part that comes from the price; owned */
};

static void auction_done(struct auction *auction)
{
	free(auction->entries);
	wfs_document_done(&auction->winner);
	json_decref(auction->credits);
	json_decref(auction->distributed);
}

static int add_to(int64_t *sum, int64_t amount, struct wfs_error *error)
{
	return __builtin_add_overflow(*sum, amount, sum)
		? wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			  "the bids are more scrip than can be counted")
		: 0;
}

/* Adds to the amount of an id. @amounts: {id: amount} */
static int add_amount(json_t *amounts, const char *id, int64_t amount, struct wfs_error *error)
{
	int64_t sum = json_integer_value(json_object_get(amounts, id));
	int r = add_to(&sum, amount, error);

	if (r)
		return r;
	return json_object_set_new(amounts, id, json_integer(sum)) < 0 ? fold_no_memory(error) : 0;
}

/* --- the bids --- */

/* Reads a bid from the store: this record has changed none. @ret_cell: its key is borrowed from
 * the store */
static int read_bid(const struct auction *auction, uint64_t cell_id, struct wfs_cell *ret_cell,
	struct wfs_document_mint *ret_bid, struct wfs_error *error)
{
	const struct wfs_head *const head = auction->act->fold->head;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version version;
	json_t *document = NULL;
	int r = wfs_cell_get(head->txn, cell_id, ret_cell);

	if (!r)
		r = wfs_version_get(head->txn, ret_cell->head_vid, &version);
	if (r)
		return wfs_error_from_errno(error, wfs_row_needed(head->txn, r), "read a bid");
	r = wfs_version_read(head->store, &version, &text, error);
	if (!r)
		r = wfs_json_parse(text.data, text.size, &document, error);
	return wfs_trace(r ? r : wfs_document_read_mint(document, ret_bid, error));
}

/* Does the artifact exist, is it executable, and does it belong to the bidder? */
static int check_stands(const struct auction *auction, const struct wfs_document_mint *bid,
	bool *ret_stands, struct wfs_error *error)
{
	const struct wfs_fold *const fold = auction->act->fold;
	const size_t reducer = fold_builtin(fold, WFS_BUILTIN_ARTIFACT);
	struct wfs_index_set executables;
	uint64_t cell_id;
	uint64_t amount;

	wfs_require(bid->artifact_id != NULL && bid->principal_id != NULL);
	int r = wfs_cell_find(fold->head->txn, fold->head->reducers[reducer].reducer_id,
		wfs_bytes_text(bid->artifact_id), &cell_id);

	wfs_index_artifacts(&executables, bid->principal_id, NULL, 1);
	if (!r)
		r = wfs_index_get(fold->head->txn, &executables, cell_id, &amount);
	*ret_stands = r == 0;
	return r && r != -ENOENT ? wfs_error_from_errno(error, r, "look an artifact up") : 0;
}

static void compare(struct auction *auction, uint64_t cell_id, struct wfs_document_mint *bid)
{
	auction->standing_count++;
	if (bid->bid > auction->winner.bid) {
		const struct wfs_document_mint before = auction->winner;

		auction->second = before.bid;
		auction->winner = *bid;
		auction->winner_cell = cell_id;
		*bid = before;
	} else if (bid->bid > auction->second) {
		auction->second = bid->bid;
	}
}

static int take_in(struct auction *auction, uint64_t cell_id, struct wfs_error *error)
{
	struct entry *const entries = wfs_array_reserve(
		auction->entries, auction->count, &auction->capacity, sizeof(*entries));
	WFS_AUTO_DOCUMENT struct wfs_document_mint bid = {.own.json = NULL};
	struct entry entry = {.cell_id = cell_id};
	struct wfs_cell cell;

	if (!entries)
		return fold_no_memory(error);
	auction->entries = entries;
	int r = read_bid(auction, cell_id, &cell, &bid, error);
	if (!r)
		r = check_stands(auction, &bid, &entry.stands, error);
	if (!r)
		r = add_to(&auction->escrow, bid.bid, error);
	if (r)
		return wfs_trace(r);
	entries[auction->count++] = entry;
	if (entry.stands)
		compare(auction, cell_id, &bid);
	return 0;
}

static int collect(struct auction *auction, struct wfs_error *error)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk walk = {0};
	struct wfs_index_set pending;
	uint64_t cell_id;

	wfs_index_bids(&pending, true);
	int r = wfs_index_walk_init(&walk, auction->act->fold->head->txn, &pending, false);
	while (!r) {
		r = wfs_index_walk_next(&walk, &cell_id);
		if (r <= 0)
			break;
		r = take_in(auction, cell_id, error);
		if (r)
			return wfs_trace(r);
	}
	auction->price = auction->standing_count > 1 ? auction->second : 1;
	return r ? wfs_error_from_errno(error, r, "look for bids") : 0;
}

/* --- ending bids --- */

static int end_bid(struct auction *auction, const struct entry *entry, struct wfs_error *error)
{
	struct wfs_fold *const fold = auction->act->fold;
	const bool won = entry->cell_id == auction->winner_cell;
	const char *const status = won ? "won" : entry->stands ? "lost" : "void";
	WFS_AUTO_DOCUMENT struct wfs_document_mint bid = {.own.json = NULL};
	struct wfs_cell row;
	int r = read_bid(auction, entry->cell_id, &row, &bid, error);

	if (!r)
		r = fold_touch_unread(
			fold, fold_builtin(fold, WFS_BUILTIN_MINT), row.key, &bid.own.cell, error);
	if (!r && won) {
		auction->winner_index = bid.own.cell;
		bid.price_paid = auction->price;
	}
	if (!r)
		r = mint_bid_end(auction->act, &bid, status, error);
	if (!r)
		r = add_amount(auction->credits, bid.principal_id,
			won ? bid.bid - auction->price : bid.bid, error);
	return wfs_trace(r);
}

/* --- the price --- */

static int give_share(
	struct auction *auction, const char *id, int64_t amount, struct wfs_error *error)
{
	int r = add_amount(auction->distributed, id, amount, error);

	return wfs_trace(r ? r : add_amount(auction->credits, id, amount, error));
}

/* Finds the next principal, in the order of ids. Return: 1, 0 at the end, -errno. */
static int next_principal(const struct wfs_fold *fold, struct wfs_bytes *key)
{
	const uint32_t reducer_id =
		fold->head->reducers[fold_builtin(fold, WFS_BUILTIN_PRINCIPAL)].reducer_id;
	struct wfs_cell cell = {.live = false};
	int r = 0;

	while (!r && !cell.live) {
		const struct wfs_bytes after = *key;
		uint64_t cell_id;

		r = wfs_cell_find_next(
			fold->head->txn, reducer_id, after.data ? &after : NULL, key, &cell_id);
		if (r)
			return r == -ENOENT ? 0 : r;
		r = wfs_cell_get(fold->head->txn, cell_id, &cell);
	}
	return r ? wfs_row_needed(fold->head->txn, r) : 1;
}

/* Shares the price among @count other principals in equal parts; the first also gets the
 * remainder. */
static int share_price(struct auction *auction, uint64_t count, struct wfs_error *error)
{
	const int64_t share = auction->price / (int64_t)count;
	int64_t rest = auction->price % (int64_t)count;
	struct wfs_bytes key = {0};
	int r = 0;

	while (!r && share + rest > 0 && (r = next_principal(auction->act->fold, &key)) > 0) {
		WFS_AUTO_FREE char *id = strndup(key.data, key.size);

		if (!id)
			return fold_no_memory(error);
		r = 0;
		if (strcmp(id, auction->winner.principal_id) == 0)
			continue;
		r = give_share(auction, id, share + rest, error);
		if (r)
			return wfs_trace(r);
		rest = 0;
	}
	return r ? wfs_error_from_errno(error, r, "look for principals") : 0;
}

/* Gives the price to all other principals, or to the winner if there is no other. */
static int distribute(struct auction *auction, struct wfs_error *error)
{
	struct wfs_fold *const fold = auction->act->fold;
	const char *const winner = auction->winner.principal_id;
	int r = fold_is_live(fold, WFS_BUILTIN_PRINCIPAL, winner, error);

	if (r < 0)
		return wfs_trace(r);
	const uint64_t count = fold_live_count(fold, WFS_BUILTIN_PRINCIPAL) - (r > 0);
	return wfs_trace(count > 0 ? share_price(auction, count, error)
				   : give_share(auction, winner, auction->price, error));
}

/* --- paying --- */

static int pay(struct auction *auction, struct wfs_error *error)
{
	struct wfs_fold *const fold = auction->act->fold;
	const char *id;
	json_t *amount;
	int r = account_add(fold, WFS_PRINCIPAL_MINT, -auction->escrow, error);

	if (r)
		return wfs_trace(r);
	json_object_foreach(auction->credits, id, amount) {
		r = account_add(fold, id, json_integer_value(amount), error);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

static int answer(const struct auction *auction, struct wfs_error *error)
{
	const bool won = auction->winner.bid > 0;
	struct act *const act = auction->act;

	if (won)
		snprintf(act->message, sizeof(act->message), "'%s' won with %s and paid %" PRId64,
			auction->winner.principal_id, auction->winner.artifact_id, auction->price);
	else
		snprintf(act->message, sizeof(act->message), "No submissions%s",
			auction->count > 0 ? " that stand: all were given back" : "");
	act->price_paid = won ? auction->price : 0;
	act->unrecorded = auction->count == 0;
	act->data = json_pack("{s:s?, s:O, s:I, s:i, s:n, s:i, s:s?, s:I}", "artifact_id",
		auction->winner.artifact_id, "distributed", auction->distributed, "price_paid",
		(json_int_t)act->price_paid, "score", 0, "score_reason", "scrip_minted", 0,
		"winner_id", auction->winner.principal_id, "winning_bid",
		(json_int_t)auction->winner.bid);
	return act->data ? 0 : fold_no_memory(error);
}

int act_action_resolve_mint(struct act *act, struct wfs_error *error)
{
	WFS_CLEANUP(auction_done)
	struct auction auction = {
		.act = act, .credits = json_object(), .distributed = json_object()};
	int r;

	/* Bids are looked up in the store, which does not have changes of this record. */
	if (act->within)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"resolve_mint is for administrators: code cannot end an auction");
	if (!auction.credits || !auction.distributed)
		return fold_no_memory(error);
	r = collect(&auction, error);
	if (!r && auction.winner.bid > 0)
		r = distribute(&auction, error);
	for (size_t i = 0; !r && i < auction.count; i++)
		r = end_bid(&auction, &auction.entries[i], error);
	if (!r && auction.count > 0)
		r = pay(&auction, error);
	if (r || auction.winner.bid <= 0)
		return wfs_trace(r ? r : answer(&auction, error));
	/* Folding the score makes the scrip. */
	const struct wfs_bytes key =
		fold_bytes(act->fold, fold_cell_at(act->fold, auction.winner_index)->key);
	WFS_AUTO_JSON json_t *params = json_pack("{s:s, s:s%}", "artifact_id",
		auction.winner.artifact_id, "submission_id", key.data, key.size);
	r = params ? fold_ask(act->fold, WFS_EFFECT_MINT_SCORE, params, auction.winner_index, error)
		   : fold_no_memory(error);
	return wfs_trace(r ? r : answer(&auction, error));
}
