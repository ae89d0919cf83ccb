/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a turn of an agent down, for the provider `script`. */
#include "fs/command/command-step.h"

#include "fs/command/recorder.h"

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
		json_array_foreach(json_object_get(page, "records"), i, record)
		{
			r = r ? r : wfs_recorder_take(recorder, record);
		}
		more = json_object_get(page, "next_from") != NULL;
		from = (uint64_t)wfs_run_integer(page, "next_from");
	}
	return r;
}

int wfs_step_record(
	struct wfs_run *run, const char *turn_id, const char *name, struct wfs_output *output)
{
	WFS_AUTO_RECORDER struct wfs_recorder recorder = {.turn_id = turn_id};
	WFS_AUTO_BUFFER struct wfs_buffer script = {0};
	int r = read_journal(run, &recorder);

	if (r)
		return r;
	wfs_recorder_write(&recorder, &script);
	r = wfs_buffer_check(&script);
	return r ? r : wfs_output_write(output, name, wfs_buffer_bytes(&script), &run->error);
}
