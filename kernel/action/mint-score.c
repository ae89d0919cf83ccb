/* SPDX-License-Identifier: Apache-2.0 */
/* What an artifact is worth: the part of its own tests that it passes. */
#include "kernel/action/invoke.h"
#include "kernel/action/mint.h"
#include "kernel/base/json.h"

/* As documents, in which 5 and 5.0 are the same. @result: NULL is null. Return: 1, 0, -ENOMEM. */
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

/* @ret_failure: why it did not pass; NULL: it did */
static int run_test(struct act *act, const struct artifact *artifact, const json_t *test,
	const char **ret_failure, struct wfs_error *error)
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

static int run_tests(struct act *act, const struct artifact *artifact, const json_t *tests,
	struct mint_score *ret_score, struct wfs_error *error)
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

int mint_score(struct act *act, const char *artifact_id, struct mint_score *ret_score,
	struct wfs_error *error)
{
	ARTIFACT_AUTO struct artifact artifact = {.document = NULL};
	int r = artifact_get(act->fold, artifact_id, &artifact, error);

	if (r)
		return wfs_trace(r);
	const json_t *const tests =
		json_object_get(json_object_get(artifact.document, "interface"), "tests");
	if (json_array_size(tests) > 0)
		return wfs_trace(run_tests(act, &artifact, tests, ret_score, error));
	*ret_score = (struct mint_score){.reason = "its interface declares no tests"};
	return 0;
}
