/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/action/: the mint, which makes scrip.
 *
 * Owners bid for a score of what they have made. The principal `mint` holds the bids until an
 * auction ends: the highest bid wins, the others are given back. A bid is a cell of sys.mint, key
 * submission id:
 *   {artifact_id, bid, principal_id, status, submission_id, submitted_at, resolved_at?}
 * status: pending, cancelled, void (the artifact is no longer as it was submitted), lost, or won;
 * a won bid has {price_paid} and, after the answer to mint.score, {score, score_reason,
 * scrip_minted}.
 *
 * The record of resolve_mint ends the auction and asks for mint.score. A receipt makes scrip; a
 * refusal of the request makes none.
 * Source: docs/decisions/0018-mint-score.md.
 */
#pragma once

#include "kernel/domain/action/act.h"

enum {
	MINT_SCORE_MAX = 100,
	MINT_SCORE_OF_ONE_SCRIP = 10, /* score for which one scrip is made */
};

/** mint_bid_end() - set the final status of a bid, set `resolved_at` to the record's time, and
 *  store the bid in its cell. @status: cancelled, void, lost or won; static. Return: 0, or
 *  -errno. */
int mint_bid_end(struct act *act, struct wfs_document_mint *bid, const char *status,
	struct wfs_error *error);
