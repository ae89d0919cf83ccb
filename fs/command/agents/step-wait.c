/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a turn of an agent, and reads from the journal what it does. */
#include "fs/command/agents/follow.h"
#include "fs/command/agents/step.h"
#include "fs/command/agents/wait.h"

enum { FOLLOW_EVERY_MS = 100 }; /* between two reads of the journal */

struct following {
	struct wfs_follow follow;
	uint64_t next_seq;
};

static int begin(void *context, struct wfs_run *run)
{
	struct following *const following = context;
	WFS_AUTO_JSON json_t *head = NULL;
	int r = wfs_run_call(run, "journal-head", NULL, &head);

	following->next_seq = (uint64_t)wfs_run_integer(head, "journal_height");
	return r;
}

static json_t *ask_for_records(void *context)
{
	const struct following *const following = context;

	return json_pack("{s:I}", "from", (json_int_t)following->next_seq);
}

static bool take_records(void *context, const struct wfs_answer *answer)
{
	struct following *const following = context;
	const json_t *const next = json_object_get(answer->result, "next_from");
	const json_t *record;
	size_t i;

	json_array_foreach(json_object_get(answer->result, "records"), i, record) {
		wfs_follow_take(&following->follow, record);
	}
	if (answer->status)
		return false;
	following->next_seq = (uint64_t)(next ? json_integer_value(next)
					      : wfs_run_integer(answer->meta, "journal_height"));
	return next != NULL;
}

static void write_line(void *context, int64_t seconds, struct wfs_buffer *line)
{
	const struct following *const following = context;

	wfs_follow_line(&following->follow, seconds, line);
}

int wfs_step_wait(struct wfs_run *run, json_t *payload, json_t **ret_result, int64_t *ret_took_ns)
{
	struct following following = {.follow = {.agent = run->arguments[0]}};
	const struct wfs_wait wait = {
		.verb = "step",
		.ending = "ending the turn",
		.beside = "journal-read",
		.every_ms = FOLLOW_EVERY_MS,
		.context = &following,
		.ask = ask_for_records,
		.take = take_records,
		.line = write_line,
		.begin = begin,
	};

	return wfs_wait(&wait, run, payload, ret_result, ret_took_ns);
}
