/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the document of a plan, its status, and the files of its steps. */
#include "kernel/domain/plan/plan-file.h"

#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

/* --- parts --- */

/* A wanted part of a file that is written piece by piece. */
struct part {
	struct wfs_range range; /* wanted */
	struct wfs_buffer *buffer;
	uint64_t offset; /* of the next piece */
};

static uint64_t end_of(struct wfs_range range)
{
	return range.size < UINT64_MAX - range.offset ? range.offset + range.size : UINT64_MAX;
}

/* Which range of the next piece is wanted? */
static struct wfs_range wanted_of(const struct part *part, uint64_t size)
{
	const uint64_t from =
		part->range.offset > part->offset ? part->range.offset - part->offset : 0;
	const uint64_t end = end_of(part->range);
	const uint64_t left = end > part->offset ? end - part->offset : 0;
	const uint64_t to = size < left ? size : left;

	return (struct wfs_range){from, from < to ? (size_t)(to - from) : 0};
}

static void add_bytes(struct part *part, const void *data, size_t size)
{
	const struct wfs_range wanted = wanted_of(part, size);

	if (wanted.size > 0)
		wfs_buffer_append(part->buffer, (const char *)data + wanted.offset, wanted.size);
	part->offset += size;
}

static void add_text(struct part *part, const char *text)
{
	add_bytes(part, text, strlen(text));
}

/* Adds a piece: @size bytes of a cell, from @skip on. */
static int add_content(struct wfs_view *view, const struct wfs_version *version, uint64_t skip,
	uint64_t size, struct part *part)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_range wanted = wanted_of(part, size);

	part->offset += size;
	if (wanted.size == 0)
		return 0;
	wanted.offset += skip;
	int r = wfs_view_content(view, version, wanted, &content, NULL);
	if (r)
		return wfs_trace(r);
	if (content.bytes.size != wanted.size)
		return wfs_trace(-EIO);
	wfs_buffer_append(part->buffer, content.bytes.data, content.bytes.size);
	return 0;
}

/* Adds the members of an object, without braces. @members: taken */
static int add_members(json_t *members, struct part *part)
{
	WFS_AUTO_JSON json_t *owned = members;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!owned)
		return -ENOMEM;
	wfs_json_write(owned, &text);
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	add_bytes(part, text.data + 1, text.size - 2);
	return 0;
}

/* --- the document --- */

/* A plan whose document is being written. */
struct reading {
	struct wfs_view *view;
	const struct wfs_document_plan *plan;
	uint32_t steps_id; /* of the reducers of steps and blocks */
	uint32_t blocks_id;
	struct part part;
};

static json_t *utc_of(int64_t time_ns)
{
	char text[WFS_UTC_SIZE];

	wfs_clock_utc(time_ns, text);
	return json_string(text);
}

/* Finds the first step of the batch that has not begun; between two batches, the number of ended
 * steps. */
static json_int_t next_ready(const struct wfs_document_plan *plan)
{
	const json_t *const next = json_array_get(json_object_get(plan->batch, "steps"),
		(size_t)json_integer_value(json_object_get(plan->batch, "next")));

	return next ? json_integer_value(next) : plan->done + plan->failed + plan->skipped;
}

static int add_head(struct reading *reading)
{
	const struct wfs_document_plan *const plan = reading->plan;
	const char *const goal = json_string_value(plan->goal);

	add_text(&reading->part, "{");
	int r = add_members(
		json_pack("{s:o, s:{s:I, s:I, s:s}, s:s}", "created_utc", utc_of(plan->created_ns),
			"cursors", "batches", (json_int_t)plan->batches, "next_ready",
			next_ready(plan), "session_id", plan->session_id, "goal", goal),
		&reading->part);
	add_text(&reading->part, ",\"plan\":{");
	if (!r)
		r = add_members(json_pack("{s:o, s:O*, s:O*, s:O*, s:s, s:O*, s:s}", "created_utc",
					utc_of(plan->created_ns), "draft", plan->draft, "error",
					plan->error, "final", plan->final, "goal", goal, "in_order",
					plan->in_order, "plan_id", plan->plan_id),
			&reading->part);
	return wfs_trace(r);
}

static int add_tail(struct reading *reading)
{
	const struct wfs_document_plan *const plan = reading->plan;
	json_t *const results = plan->results_count > 0
		? json_pack("{s:I, s:I}", "bytes", (json_int_t)plan->results_bytes, "count",
			  (json_int_t)plan->results_count)
		: json_null();

	add_text(&reading->part, "]},");
	int r = add_members(
		json_pack("{s:s, s:i, s:s, s:o, s:o}", "plan_id", plan->plan_id, "schema_version",
			WFS_PLAN_SCHEMA_VERSION, "status", plan->status, "tool_results_ref",
			results, "updated_utc", utc_of(plan->updated_ns)),
		&reading->part);
	add_text(&reading->part, "}\n");
	return wfs_trace(r);
}

/* Adds what the model wrote, which is in a cell {"text":…}, byte for byte. An imported plan has
 * none. */
static int add_raw(struct reading *reading)
{
	static const char before[] = "{\"text\":";
	static const char after[] = "}\n";
	const size_t around = sizeof(before) - 1 + sizeof(after) - 1;
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_view_builtin(reading->view, WFS_BUILTIN_PLAN_SOURCE, &reducer);

	if (!r)
		r = wfs_view_cell(reading->view, reducer.reducer_id,
			wfs_bytes_text(reading->plan->source_id), &version);
	if (r == -ENOENT)
		return 0;
	if (!r && version.size_bytes < around)
		r = -EIO;
	add_text(&reading->part, ",\"raw\":");
	return wfs_trace(r ? r
			   : add_content(reading->view, &version, sizeof(before) - 1,
				     version.size_bytes - around, &reading->part));
}

/* --- steps --- */

static int find_part(struct reading *reading, uint32_t reducer_id, int64_t index,
	struct wfs_version *ret_version)
{
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(reading->plan->plan_id, index, key);
	int r = wfs_view_cell(reading->view, reducer_id, wfs_bytes_text(key), ret_version);
	return wfs_trace(r == -ENOENT ? -EIO : r);
}

/* Adds the document of a step, byte for byte, with a comma in the place of the newline. */
static int add_step(struct reading *reading, int64_t index)
{
	struct wfs_version version;
	int r = find_part(reading, reading->steps_id, index, &version);

	if (!r && version.size_bytes == 0)
		r = -EIO;
	if (!r)
		r = add_content(reading->view, &version, 0, version.size_bytes - 1, &reading->part);
	if (index + 1 < reading->plan->defined)
		add_text(&reading->part, ",");
	return wfs_trace(r);
}

/* Reads the first member of a block: the size of its steps' documents. */
static int read_block_size(struct reading *reading, int64_t block, uint64_t *ret_size_bytes)
{
	static const char before[] = "{\"bytes\":";
	const size_t skip = sizeof(before) - 1;
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_version version;
	int r = find_part(reading, reading->blocks_id, block, &version);

	if (!r)
		r = wfs_view_content(reading->view, &version, WFS_RANGE_ALL, &content, NULL);
	if (r)
		return wfs_trace(r);
	const char *const text = content.bytes.data;
	if (content.bytes.size <= skip || memcmp(text, before, skip) != 0 ||
		wfs_decimal_read(text + skip, content.bytes.size - skip, ret_size_bytes) == 0)
		return wfs_trace(-EIO);
	return 0;
}

static int add_block(struct reading *reading, int64_t block)
{
	const int64_t first = block * WFS_PLAN_BLOCK;
	const int64_t count = reading->plan->defined;
	const bool is_last = count - first <= WFS_PLAN_BLOCK;
	const int64_t end = is_last ? count : first + WFS_PLAN_BLOCK;
	const uint64_t offset = reading->part.offset;
	uint64_t size_bytes = 0;
	int r = read_block_size(reading, block, &size_bytes);

	if (!r && size_bytes == 0)
		r = -EIO;
	if (r)
		return wfs_trace(r);
	size_bytes -= is_last;
	if (wanted_of(&reading->part, size_bytes).size == 0) {
		reading->part.offset += size_bytes;
		return 0;
	}
	for (int64_t i = first; !r && i < end; i++)
		r = add_step(reading, i);
	return wfs_trace(!r && reading->part.offset - offset != size_bytes ? -EIO : r);
}

/* Adds all steps. They have one byte less than the plan's cell says, because the last has no
 * comma. */
static int add_steps(struct reading *reading)
{
	const int64_t count = reading->plan->defined;
	const int64_t counted = reading->plan->steps_bytes;
	const uint64_t size_bytes = counted > 0 ? (uint64_t)counted : 0;
	const uint64_t end = reading->part.offset + size_bytes - 1;
	int r = 0;

	if (size_bytes == 0 || count <= 0)
		return size_bytes == 0 && count <= 0 ? 0 : wfs_trace(-EIO);
	if (wanted_of(&reading->part, size_bytes - 1).size == 0) {
		reading->part.offset = end;
		return 0;
	}
	for (int64_t i = 0; !r && i * WFS_PLAN_BLOCK < count &&
		reading->part.offset < end_of(reading->part.range);
		i++)
		r = add_block(reading, i);
	if (!r && reading->part.offset != end && reading->part.offset < end_of(reading->part.range))
		r = -EIO;
	reading->part.offset = end;
	return wfs_trace(r);
}

static int reading_init(struct reading *reading)
{
	struct wfs_reducer steps;
	struct wfs_reducer blocks;
	int r = wfs_view_builtin(reading->view, WFS_BUILTIN_PLAN_STEP, &steps);

	if (!r)
		r = wfs_view_builtin(reading->view, WFS_BUILTIN_PLAN_BLOCK, &blocks);
	if (r)
		return wfs_trace(r);
	reading->steps_id = steps.reducer_id;
	reading->blocks_id = blocks.reducer_id;
	return 0;
}

int wfs_plan_document(struct wfs_view *view, const struct wfs_document_plan *plan,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	struct reading reading = {.view = view, .plan = plan, .part = {range, buffer, 0}};
	int r = reading_init(&reading);

	if (!r)
		r = add_head(&reading);
	if (!r && strcmp(plan->status, "failed_normalize") == 0)
		r = add_raw(&reading);
	add_text(&reading.part, ",");
	if (!r)
		r = add_members(json_pack("{s:s}", "status", plan->status), &reading.part);
	add_text(&reading.part, ",\"steps\":[");
	if (!r)
		r = add_steps(&reading);
	if (!r)
		r = add_tail(&reading);
	if (!r)
		r = buffer ? wfs_buffer_check(buffer) : 0;
	if (!r)
		*ret_size_bytes = reading.part.offset;
	return wfs_trace(r);
}

/* --- status --- */

int wfs_plan_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	int r = wfs_document_read_plan(json_incref((json_t *)state), &plan, NULL);

	(void)view;
	if (r)
		return wfs_trace(r);
	const char *const message =
		wfs_json_text(json_object_get(plan.error, "details"), "message");
	wfs_buffer_printf(buffer, "%s\n", plan.status);
	if (strcmp(plan.status, "running") == 0)
		wfs_buffer_printf(buffer, "%s\n", plan.phase);
	wfs_buffer_printf(buffer, "done %lld of %lld, failed %lld, skipped %lld\n",
		(long long)plan.done, (long long)plan.total, (long long)plan.failed,
		(long long)plan.skipped);
	wfs_buffer_printf(buffer, "batches %lld, tool calls %lld\n", (long long)plan.batches,
		(long long)plan.tool_calls);
	if (plan.error)
		wfs_buffer_printf(buffer, "error: %s%s%.*s\n", wfs_json_text(plan.error, "code"),
			*message ? ": " : "", (int)strcspn(message, "\n"), message);
	return wfs_buffer_check(buffer);
}

/* --- files of steps --- */

int wfs_plan_step_at(struct wfs_view *view, struct wfs_bytes plan_id, int64_t index,
	struct wfs_version *ret_version)
{
	char key[WFS_PLAN_KEY_SIZE];
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, WFS_BUILTIN_PLAN_STEP, &reducer);
	const int id_size = plan_id.size < WFS_PLAN_ID_SIZE ? (int)plan_id.size : WFS_PLAN_ID_SIZE;

	snprintf(key, sizeof(key), "%.*s.%lld", id_size, (const char *)plan_id.data,
		(long long)index);
	return r ? r : wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(key), ret_version);
}

/* Returns how many bytes of a name fit, without cutting a character. */
static size_t cut(const struct wfs_buffer *name, size_t room)
{
	size_t size = room;

	if (name->size <= room)
		return name->size;
	if (size >= 2 && name->data[size - 2] == '%')
		size -= 2;
	else if (size >= 1 && name->data[size - 1] == '%')
		size -= 1;
	return wfs_utf8_cut(name->data, size);
}

int wfs_plan_step_name(struct wfs_view *view, const struct wfs_version *version, int64_t index,
	struct wfs_buffer *buffer)
{
	static const char suffix[] = ".json";
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_plan_step step;
	char number[sizeof("-9223372036854775808-")];
	int r = wfs_view_read_plan_step_version(view, version, &step, NULL);

	if (r)
		return wfs_trace(r);
	wfs_name_append(&name, step.id, strlen(step.id));
	if (wfs_buffer_check(&name))
		return -ENOMEM;
	snprintf(number, sizeof(number), "%lld-", (long long)index);
	wfs_buffer_append_text(buffer, number);
	wfs_buffer_append(buffer, name.data,
		cut(&name, WFS_NAME_MAX - strlen(number) - (sizeof(suffix) - 1)));
	wfs_buffer_append_text(buffer, suffix);
	return wfs_buffer_check(buffer);
}

/* Finds the result that the file shows. Return: 0, -ENOENT (it shows none), … */
static int shown_result(
	struct wfs_view *view, const struct wfs_version *version, struct wfs_version *ret_result)
{
	struct wfs_reducer reducer;
	struct wfs_version result;
	struct wfs_bytes name;
	struct wfs_bytes key;
	int r = wfs_view_name(view, version, &name, &key);

	if (!r)
		r = wfs_view_builtin(view, WFS_BUILTIN_PLAN_RESULT, &reducer);
	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, key, &result);
	if (!r && result.size_bytes > WFS_PLAN_RESULT_SHOWN_MAX)
		r = -ENOENT;
	if (!r)
		*ret_result = result;
	return r;
}

/* Writes the file of a step. @result: NULL: none is shown */
static int write_step(struct wfs_view *view, const struct wfs_version *version,
	const struct wfs_version *result, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *step = NULL;
	json_t *shown = NULL;
	int r = wfs_view_version_document(view, version, &step, NULL);

	if (!r && result)
		r = wfs_view_version_document(view, result, &shown, NULL);
	if (!r && !json_is_object(step))
		r = -EIO;
	if (r) {
		json_decref(shown);
		return wfs_trace(r);
	}
	if (json_object_set_new(step, "result", shown ? shown : json_null()) < 0)
		return -ENOMEM;
	wfs_json_write_document(step, buffer);
	return wfs_buffer_check(buffer);
}

int wfs_plan_step_file(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_version result;
	int r = shown_result(view, version, &result);
	const bool has_result = !r;

	if (r && r != -ENOENT)
		return wfs_trace(r);
	/* In canonical JSON a member has the same bytes in every position. */
	const uint64_t more = has_result ? result.size_bytes - 1 : strlen("null");
	const uint64_t size_bytes = version->size_bytes + strlen(",\"result\":") + more;
	if (range.size > 0) {
		struct part part = {range, buffer, 0};

		r = write_step(view, version, has_result ? &result : NULL, &text);
		if (!r && text.size != size_bytes)
			r = -EIO;
		if (r)
			return wfs_trace(r);
		add_bytes(&part, text.data, text.size);
	}
	*ret_size_bytes = size_bytes;
	return buffer ? wfs_buffer_check(buffer) : 0;
}
