/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the envelope of an answer. */
#include "fs/verb/answer.h"

#include "kernel/base/json.h"

void wfs_answer_done(struct wfs_answer *answer)
{
	json_decref(WFS_STEAL(answer->result));
	json_decref(WFS_STEAL(answer->meta));
	json_decref(WFS_STEAL(answer->details));
}

void wfs_answer_read(json_t *envelope, struct wfs_answer *ret_answer)
{
	json_t *const result = json_object_get(envelope, "result");
	const json_t *const problem = json_object_get(envelope, "error");
	struct wfs_answer answer = {.status = 0};

	answer.meta = json_incref(json_object_get(result ? result : envelope, "meta"));
	if (json_is_true(json_object_get(envelope, "ok")) && json_is_object(result)) {
		json_object_del(result, "meta");
		answer.result = json_incref(result);
	} else {
		/* A code that this program does not know becomes internal_error, with its
		 * message. */
		answer.status =
			wfs_error_set(&answer.error, wfs_error_find(wfs_json_text(problem, "code")),
				"%s", wfs_json_text(problem, "message"));
		answer.details = json_incref(json_object_get(problem, "details"));
	}
	*ret_answer = answer;
}
