/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score of an artifact, which is the share of its own tests that pass; and the scrip that is
 * made for a score, wherever it came from.
 */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/action/mint.h"

enum { REFUSAL_SIZE = 80 };

struct score {
	int64_t score; /* 0 to MINT_SCORE_MAX */
	char reason[160];
};

/* --- the adapter --- */

/* Compares as documents, in which 5 and 5.0 are equal. @result: NULL means null. Return: 1, 0,
 * -ENOMEM. */
static int is_same(const json_t *result, const json_t *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer given = {0};
	WFS_AUTO_BUFFER struct wfs_buffer wanted = {0};

	wfs_json_write(result ? result : json_null(), &given);
	wfs_json_write(expected ? expected : json_null(), &wanted);
	if (wfs_buffer_check(&given) || wfs_buffer_check(&wanted))
		return -ENOMEM;
	return wfs_bytes_equal(wfs_buffer_bytes(&given), wfs_buffer_bytes(&wanted));
}

/* Runs one test. @ret_failure: why it did not pass; NULL: it passed */
static int run_test(struct act *act, const struct wfs_document_artifact *artifact,
	const json_t *test, const char **ret_failure, struct wfs_error *error)
{
	const char *const method = json_string_value(json_object_get(test, "method"));
	WFS_AUTO_JSON json_t *none = json_array();
	WFS_AUTO_JSON json_t *result = NULL;
	struct wfs_error failure = {0};
	json_t *const args = json_object_get(test, "args");

	if (!json_is_object(test) || (args && !json_is_array(args))) {
		*ret_failure = "not an object with an array args";
		return 0;
	}
	int r = invoke_on_trial(
		act, artifact, method ? method : "run", args ? args : none, &result, &failure);
	if (r && invoke_fails_all(&failure)) {
		*error = failure;
		return wfs_trace(r);
	}
	if (r) {
		*ret_failure = wfs_error_info(failure.code)->name;
		return 0;
	}
	r = is_same(result, json_object_get(test, "result"));
	*ret_failure = r > 0 ? NULL : "another result";
	return r < 0 ? fold_no_memory(error) : 0;
}

static int run_tests(struct act *act, const struct wfs_document_artifact *artifact,
	const json_t *tests, struct score *ret_score, struct wfs_error *error)
{
	const size_t count = json_array_size(tests);
	size_t passed_count = 0;
	char first[80] = "";

	wfs_require(count > 0);
	for (size_t i = 0; i < count; i++) {
		const char *failure = NULL;
		int r = run_test(act, artifact, json_array_get(tests, i), &failure, error);

		if (r)
			return wfs_trace(r);
		passed_count += failure == NULL;
		if (failure && !*first)
			snprintf(first, sizeof(first), "; number %zu failed: %s", i + 1, failure);
	}
	ret_score->score = (int64_t)(MINT_SCORE_MAX * passed_count / count);
	snprintf(ret_score->reason, sizeof(ret_score->reason), "%zu of %zu tests passed%s",
		passed_count, count, first);
	return 0;
}

static int score_artifact(
	struct act *act, const char *id, struct score *ret_score, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = artifact_get(act->fold, id, &artifact, error);

	if (r)
		return wfs_trace(r);
	const json_t *const tests = json_object_get(artifact.interface, "tests");
	if (json_array_size(tests) > 0)
		return wfs_trace(run_tests(act, &artifact, tests, ret_score, error));
	*ret_score = (struct score){.reason = "its interface declares no tests"};
	return 0;
}

int action_score(
	struct wfs_fold *fold, const json_t *params, json_t **ret_payload, struct wfs_error *error)
{
	NEST_AUTO struct nest nest = {.result = NULL};
	struct act act = {.fold = fold,
		.actor = WFS_PRINCIPAL_MINT,
		.payer = WFS_PRINCIPAL_MINT,
		.nest = &nest};
	struct wfs_params decoded;
	struct score score;

	wfs_require(fold != NULL);
	int r = nest_init(&nest, act_run, NULL) ? fold_no_memory(error) : 0;
	if (!r)
		r = wfs_effect_decode(WFS_EFFECT_MINT_SCORE, params, &decoded, error);
	if (!r)
		r = score_artifact(&act, decoded.mint_score.artifact_id, &score, error);
	if (r)
		return wfs_trace(r);
	WFS_AUTO_JSON json_t *payload =
		json_pack("{s:s, s:I}", "reason", score.reason, "score", (json_int_t)score.score);
	if (!payload)
		return fold_no_memory(error);
	r = wfs_effect_check_receipt(WFS_EFFECT_MINT_SCORE, payload, error);
	if (!r)
		*ret_payload = WFS_STEAL(payload);
	return wfs_trace(r);
}

/* --- folding the answer --- */

/* Reads from the answer the score, its reason and the minted scrip of a bid. Without a score they
 * are 0, and the reason is written to @refusal. */
static int read_answer(const json_t *event, struct wfs_document_mint *bid,
	char refusal[static REFUSAL_SIZE], struct wfs_error *error)
{
	const json_t *const payload = json_object_get(event, "payload");
	const char *const status = json_string_value(json_object_get(event, "status"));
	const bool ok = status && strcmp(status, "ok") == 0;
	const char *reason = "";
	int r = wfs_json_get_string(payload, ok ? "reason" : "code", &reason, error);

	bid->score = 0;
	if (!r && ok)
		r = wfs_json_get_integer(payload, "score", 0, MINT_SCORE_MAX, &bid->score, error);
	snprintf(refusal, REFUSAL_SIZE, "not scored: %s", reason);
	bid->score_reason = ok ? reason : refusal;
	bid->scrip_minted = bid->score / MINT_SCORE_OF_ONE_SCRIP;
	return wfs_trace(r);
}

int action_fold_answer(
	struct wfs_fold *fold, size_t cell_index, const json_t *event, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_mint bid = {.own.json = NULL};
	const struct wfs_bytes state = fold_bytes(fold, fold_cell_at(fold, cell_index)->state);
	char refusal[REFUSAL_SIZE];
	json_t *document = NULL;
	int r = wfs_json_parse(state.data, state.size, &document, error);

	if (!r)
		r = wfs_document_read_mint(document, &bid, error);
	bid.own.cell = cell_index;
	if (!r)
		r = read_answer(event, &bid, refusal, error);
	if (!r)
		r = fold_write_mint(fold, &bid, error);
	if (!r && bid.scrip_minted > 0)
		r = account_add(fold, bid.principal_id, bid.scrip_minted, error);
	if (r)
		return wfs_trace(r);
	/* The answer of the action gets the score. */
	json_t *const answer = fold->outcome.answer;
	WFS_AUTO_JSON json_t *longer =
		json_sprintf("%s; score %" PRId64 ", %" PRId64 " scrip minted",
			wfs_json_text(answer, "message"), bid.score, bid.scrip_minted);
	return json_object_update_new(json_object_get(answer, "data"),
		       json_pack("{s:I, s:s, s:I}", "score", (json_int_t)bid.score, "score_reason",
			       bid.score_reason, "scrip_minted", (json_int_t)bid.scrip_minted)) <
				0 ||
			json_object_set(answer, "message", longer) < 0
		? fold_no_memory(error)
		: 0;
}
