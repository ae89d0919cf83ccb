/* SPDX-License-Identifier: Apache-2.0 */
/* Bids for the mint: submitting them, and taking them back. */
#include "kernel/domain/action/mint.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/read/index.h"

#define PENDING "pending"

void mint_bid_done(struct mint_bid *bid)
{
	json_decref(bid->document);
}

int mint_bid_of(json_t *document, struct mint_bid *ret_bid, struct wfs_error *error)
{
	const char *const status = json_string_value(json_object_get(document, "status"));
	const struct mint_bid bid = {
		.document = document,
		.bidder = json_string_value(json_object_get(document, "principal_id")),
		.artifact_id = json_string_value(json_object_get(document, "artifact_id")),
		.amount = json_integer_value(json_object_get(document, "bid")),
		.pending = status && strcmp(status, PENDING) == 0,
	};

	if (bid.bidder && bid.artifact_id && bid.amount > 0) {
		*ret_bid = bid;
		return 0;
	}
	json_decref(document);
	(void)wfs_error_set(error, WFS_E_INTERNAL_ERROR,
		"a cell of sys.mint has no principal_id, artifact_id and bid");
	return -EIO;
}

int mint_bid_end(struct act *act, const struct mint_bid *bid, const char *status, size_t cell,
	struct wfs_error *error)
{
	if (json_object_set_new(bid->document, "status", json_string(status)) < 0 ||
		json_object_set_new(
			bid->document, "resolved_at", json_integer(act->fold->input.at_ns)) < 0)
		return fold_no_memory(error);
	return wfs_trace(fold_set_document(act->fold, cell, bid->document, error));
}

/* --- submitting --- */

static int check_artifact(const struct act *act, const struct wfs_document_artifact *artifact,
	struct wfs_error *error)
{
	if (strcmp(act->actor, artifact->owner) != 0) {
		wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"'%s' may not submit '%s': it is not its owner, '%s' is", act->actor,
			artifact->id, artifact->owner);
		return act_refuse_artifact(act, artifact, error);
	}
	if (!artifact->executable)
		return wfs_error_set(error, WFS_E_INVALID_TYPE,
			"Artifact '%s' is not executable: only code is scored", artifact->id);
	return 0;
}

/* Checks the number of pending bids. Those of this record are not in the store yet, and count even
 * if it cancels them. */
static int check_room(const struct act *act, struct wfs_error *error)
{
	struct wfs_index_set set;
	struct wfs_index_sum sum;

	wfs_index_bids(&set, true);
	int r = wfs_index_sum_get(act->fold->head->txn, &set, &sum);
	if (r)
		return wfs_error_from_errno(error, r, "count the bids");
	if (sum.count + act->nest->submission_count < WFS_MINT_PENDING_MAX)
		return 0;
	return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
		"%d submissions wait already, which is as many as an auction takes",
		WFS_MINT_PENDING_MAX);
}

static int keep_bid(struct act *act, const char *submission_id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = json_pack("{s:s, s:I, s:s, s:s, s:s, s:I}", "artifact_id",
		act->params.action_submit_to_mint.artifact_id, "bid",
		(json_int_t)act->params.action_submit_to_mint.bid, "principal_id", act->actor,
		"status", PENDING, "submission_id", submission_id, "submitted_at",
		(json_int_t)act->fold->input.at_ns);
	size_t cell;

	if (!document)
		return fold_no_memory(error);
	int r = fold_touch(act->fold, fold_builtin(act->fold, WFS_BUILTIN_MINT),
		wfs_bytes_text(submission_id), &cell, error);
	return wfs_trace(r ? r : fold_set_document(act->fold, cell, document, error));
}

int act_action_submit_to_mint(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_submit_to_mint.artifact_id;
	const int64_t bid = act->params.action_submit_to_mint.bid;
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	char submission_id[64];

	if (bid < 1)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'bid': expected 1 or more, got %" PRId64, bid);
	int r = act_artifact(act, id, &artifact, error);
	if (!r)
		r = check_artifact(act, &artifact, error);
	if (!r)
		r = check_room(act, error);
	if (!r)
		r = account_move(act->fold, act->actor, WFS_PRINCIPAL_MINT, bid, error);
	if (r)
		return wfs_trace(r);
	/* `mint_<seq>`, or `mint_<seq>.<n>` after the first of the record */
	const size_t number = act->nest->submission_count++;
	const int size = snprintf(
		submission_id, sizeof(submission_id), "mint_%" PRIu64, act->fold->head->height);
	if (number > 0 && size > 0)
		snprintf(
			submission_id + size, sizeof(submission_id) - (size_t)size, ".%zu", number);
	r = keep_bid(act, submission_id, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Submitted %s with a bid of %" PRId64 ": %s",
		id, bid, submission_id);
	act->data = json_pack("{s:s}", "submission_id", submission_id);
	return act->data ? 0 : fold_no_memory(error);
}

/* --- taking back --- */

static int no_submission(const char *submission_id, struct wfs_error *error)
{
	return wfs_error_set(
		error, WFS_E_NOT_FOUND, "Submission '%.140s' not found", submission_id);
}

static int load_bid(struct act *act, const char *submission_id, size_t *ret_cell,
	struct mint_bid *ret_bid, struct wfs_error *error)
{
	json_t *document = NULL;
	int r = wfs_grant_name_valid(submission_id)
		? fold_load(act->fold, WFS_BUILTIN_MINT, submission_id, ret_cell, &document, error)
		: 0;

	if (r)
		return wfs_trace(r);
	if (!document)
		return no_submission(submission_id, error);
	return wfs_trace(mint_bid_of(document, ret_bid, error));
}

static int refuse_others(const struct act *act, const struct mint_bid *bid,
	const char *submission_id, struct wfs_error *error)
{
	const int knows = act_knows(act, WFS_ENTITY_PRINCIPAL, bid->bidder, error);

	if (knows < 0)
		return wfs_trace(knows);
	if (knows == 0)
		return no_submission(submission_id, error);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' may not cancel '%s': somebody else has submitted it", act->actor,
		submission_id);
}

static int check_cancel(const struct act *act, const struct mint_bid *bid,
	const char *submission_id, struct wfs_error *error)
{
	wfs_require(bid->bidder != NULL);
	if (strcmp(act->actor, bid->bidder) != 0)
		return refuse_others(act, bid, submission_id, error);
	if (!bid->pending)
		return wfs_error_set(error, WFS_E_NO_CHANGE,
			"'%s' does not wait any more: its status is '%.20s'", submission_id,
			json_string_value(json_object_get(bid->document, "status")));
	return 0;
}

int act_action_cancel_mint(struct act *act, struct wfs_error *error)
{
	const char *const submission_id = act->params.action_cancel_mint.submission_id;
	MINT_BID_AUTO struct mint_bid bid = {.document = NULL};
	size_t cell = 0;
	int r = load_bid(act, submission_id, &cell, &bid, error);

	if (!r)
		r = check_cancel(act, &bid, submission_id, error);
	if (!r)
		r = account_move(act->fold, WFS_PRINCIPAL_MINT, bid.bidder, bid.amount, error);
	if (!r)
		r = mint_bid_end(act, &bid, "cancelled", cell, error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Cancelled %s: %" PRId64 " scrip are back",
		submission_id, bid.amount);
	act->data = json_pack(
		"{s:I, s:s}", "refunded", (json_int_t)bid.amount, "submission_id", submission_id);
	return act->data ? 0 : fold_no_memory(error);
}
