/* SPDX-License-Identifier: Apache-2.0 */
/* Records a turn of an agent for the provider `script`. */
#include "fs/command/agents/step.h"

#include "fs/command/agents/recorder.h"
#include "fs/command/frame/walk.h"
#include "kernel/value/stand-in.h"

static int read_journal(struct wfs_run *run, struct wfs_recorder *recorder)
{
	uint64_t from = 0;
	const json_t *record;
	size_t i;
	bool more = true;
	int r = 0;

	while (!r && more) {
		WFS_AUTO_JSON json_t *page = NULL;

		r = wfs_run_call(run, "journal-read",
			json_pack(
				"{s:I, s:s}", "from", (json_int_t)from, "turn", recorder->turn_id),
			&page);
		json_array_foreach(json_object_get(page, "records"), i, record) {
			r = r ? r : wfs_recorder_take(recorder, record);
		}
		more = json_object_get(page, "next_from") != NULL;
		from = (uint64_t)wfs_run_integer(page, "next_from");
	}
	return r;
}

/* --- private texts --- */

/* Reveals a private text; the turn cannot be recorded if the principal of the command may not read
 * it. */
static int reveal(void *context, const json_t *stand_in, json_t **ret_value)
{
	struct wfs_run *const run = context;
	WFS_AUTO_WALK struct wfs_walk walk = {.run = run};
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	char path[sizeof("journal/texts/") + WFS_HASH_HEX_SIZE] = "journal/texts/";
	struct wfs_hash hash;

	(void)wfs_text_is_hidden(stand_in, &hash);
	wfs_hash_hex(&hash, path + strlen(path));
	int r = wfs_walk_read(&walk, path, wfs_walk_keep, &bytes);
	if (r)
		return r;
	r = wfs_text_value(wfs_buffer_bytes(&bytes), ret_value);
	return r ? wfs_error_from_errno(&run->error, r, "read %s", path) : 1;
}

static int reveal_lines(struct wfs_run *run, struct wfs_recorder *recorder)
{
	json_t *lines = NULL;
	int r = recorder->lines ? wfs_text_reveal(recorder->lines, reveal, run, &lines) : 0;

	if (r || !lines)
		return r;
	json_decref(recorder->lines);
	recorder->lines = lines;
	return 0;
}

int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output)
{
	WFS_AUTO_RECORDER struct wfs_recorder recorder = {.turn_id = turn_id};
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};
	int r = read_journal(run, &recorder);

	if (!r)
		r = reveal_lines(run, &recorder);
	if (r)
		return r;
	wfs_recorder_write(&recorder, &script);
	r = wfs_buffer_check(&script);
	return r ? r : wfs_output_write(output, name, wfs_buffer_bytes(&script), &run->error);
}
