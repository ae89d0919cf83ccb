/* SPDX-License-Identifier: Apache-2.0 */
/* Bids for the mint: submitting them, and taking them back. */
#include "kernel/domain/action/mint.h"

#include <inttypes.h>

#include "kernel/domain/action/invoke.h"
#include "kernel/read/index.h"

#define PENDING "pending"

int mint_bid_end(
	struct act *act, struct wfs_document_mint *bid, const char *status, struct wfs_error *error)
{
	bid->status = status;
	bid->resolved_at = act->fold->input.at_ns;
	return wfs_trace(fold_write_mint(act->fold, bid, error));
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
	const struct wfs_document_mint made = {
		.artifact_id = id,
		.bid = bid,
		.price_paid = -1,
		.principal_id = act->actor,
		.resolved_at = -1,
		.score = -1,
		.scrip_minted = -1,
		.status = PENDING,
		.submission_id = submission_id,
		.submitted_at = act->fold->input.at_ns,
	};
	r = fold_put_mint(act->fold, submission_id, &made, error);
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

static int load_bid(struct act *act, const char *submission_id, struct wfs_document_mint *ret_bid,
	struct wfs_error *error)
{
	int r = wfs_grant_name_valid(submission_id)
		? fold_read_mint(act->fold, submission_id, ret_bid, error)
		: 0;

	if (r)
		return wfs_trace(r);
	return ret_bid->own.json ? 0 : no_submission(submission_id, error);
}

static int refuse_others(const struct act *act, const struct wfs_document_mint *bid,
	const char *submission_id, struct wfs_error *error)
{
	const int knows = act_knows(act, WFS_ENTITY_PRINCIPAL, bid->principal_id, error);

	if (knows < 0)
		return wfs_trace(knows);
	if (knows == 0)
		return no_submission(submission_id, error);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' may not cancel '%s': somebody else has submitted it", act->actor,
		submission_id);
}

static int check_cancel(const struct act *act, const struct wfs_document_mint *bid,
	const char *submission_id, struct wfs_error *error)
{
	wfs_require(bid->principal_id != NULL);
	if (strcmp(act->actor, bid->principal_id) != 0)
		return refuse_others(act, bid, submission_id, error);
	if (strcmp(bid->status, PENDING) != 0)
		return wfs_error_set(error, WFS_E_NO_CHANGE,
			"'%s' does not wait any more: its status is '%.20s'", submission_id,
			bid->status);
	return 0;
}

int act_action_cancel_mint(struct act *act, struct wfs_error *error)
{
	const char *const submission_id = act->params.action_cancel_mint.submission_id;
	WFS_AUTO_DOCUMENT struct wfs_document_mint bid = {.own.json = NULL};
	int r = load_bid(act, submission_id, &bid, error);

	if (!r)
		r = check_cancel(act, &bid, submission_id, error);
	if (!r)
		r = account_move(act->fold, WFS_PRINCIPAL_MINT, bid.principal_id, bid.bid, error);
	if (!r)
		r = mint_bid_end(act, &bid, "cancelled", error);
	if (r)
		return wfs_trace(r);
	snprintf(act->message, sizeof(act->message), "Cancelled %s: %" PRId64 " scrip are back",
		submission_id, bid.bid);
	act->data = json_pack(
		"{s:I, s:s}", "refunded", (json_int_t)bid.bid, "submission_id", submission_id);
	return act->data ? 0 : fold_no_memory(error);
}
