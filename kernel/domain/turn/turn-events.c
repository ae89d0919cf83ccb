/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the events of a run as lines, from its records. */
#include "kernel/base/json.h"
#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/domain/turn/turn-index.h"
#include "kernel/read/record.h"

/* Finds an event. @from: 0: the first; UINT64_MAX: the last */
static int find_event(
	struct wfs_view *view, struct wfs_bytes run_id, uint64_t from, uint64_t *ret_seq)
{
	WFS_AUTO_TURN_WALK struct wfs_turn_walk walk = {0};
	uint64_t event_size;
	uint64_t seq;
	int r = wfs_turn_walk_init(&walk, view, run_id, from);

	while (!r && (r = wfs_turn_walk_next(&walk, &seq, &event_size)) > 0) {
		if (event_size > 0) {
			*ret_seq = seq;
			return 0;
		}
		r = 0;
	}
	return r ? wfs_trace(r) : -ENOENT;
}

int wfs_turn_first_event(struct wfs_view *view, struct wfs_bytes run_id, uint64_t *ret_seq)
{
	return find_event(view, run_id, 0, ret_seq);
}

int wfs_turn_last_event(struct wfs_view *view, struct wfs_bytes run_id, uint64_t *ret_seq)
{
	return find_event(view, run_id, UINT64_MAX, ret_seq);
}

static int parse_event(struct wfs_view *view, uint64_t seq, struct wfs_record_parsed *parsed)
{
	struct wfs_bytes line;
	int r = wfs_view_record(view, seq, &line);

	return r ? r : wfs_trace(wfs_record_parse(line, parsed, NULL));
}

int wfs_turn_event_run(
	struct wfs_view *view, uint64_t seq, struct wfs_buffer *run_id, int64_t *ret_time_ns)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = parse_event(view, seq, &parsed);

	if (r)
		return r;
	const struct wfs_body_event *const event = &parsed.body.event;
	if (parsed.record.kind != WFS_RECORD_EVENT ||
		wfs_kernel_event_find(event->schema) == WFS_KERNEL_EVENT_COUNT)
		return -ENOENT;
	const json_t *const id = json_object_get(event->value, "run_id");
	if (!json_is_string(id))
		return -ENOENT;
	wfs_buffer_append(run_id, json_string_value(id), json_string_length(id));
	*ret_time_ns = parsed.record.at_ns;
	return wfs_buffer_check(run_id);
}

static uint64_t end_of(struct wfs_range range)
{
	return range.size < UINT64_MAX - range.offset ? range.offset + range.size : UINT64_MAX;
}

/* Appends the part of a line that is within the range. @offset: of the line */
static int append_line(struct wfs_view *view, uint64_t seq, uint64_t offset, struct wfs_range range,
	struct wfs_buffer *buffer)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	int r = parse_event(view, seq, &parsed);

	if (r)
		return wfs_trace(r == -ENOENT ? -EIO : r);
	/* The index may also have records of other kinds. */
	if (parsed.record.kind != WFS_RECORD_EVENT)
		return -EIO;
	wfs_json_write_document(parsed.body.event.value, &line);
	r = wfs_buffer_check(&line);
	if (r)
		return r;
	const size_t skip = range.offset > offset ? (size_t)(range.offset - offset) : 0;
	const uint64_t left = end_of(range) - (offset + skip);
	const size_t size = skip < line.size ? line.size - skip : 0;
	wfs_buffer_append(buffer, line.data + skip, size < left ? size : (size_t)left);
	return wfs_buffer_check(buffer);
}

int wfs_turn_events(struct wfs_view *view, struct wfs_bytes run_id, uint64_t last,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_TURN_WALK struct wfs_turn_walk walk = {0};
	struct wfs_view then = *view; /* later records are not in the file */
	uint64_t offset = 0;
	uint64_t event_size;
	uint64_t seq;

	then.height = last + 1;
	int r = wfs_turn_walk_init(&walk, &then, run_id, 0);
	while (!r && (r = wfs_turn_walk_next(&walk, &seq, &event_size)) > 0) {
		r = 0;
		if (range.size > 0 && offset + event_size > range.offset &&
			offset < end_of(range) && event_size > 0)
			r = append_line(view, seq, offset, range, buffer);
		if (event_size > (uint64_t)INT64_MAX - offset)
			r = -EIO;
		else
			offset += event_size;
	}
	if (!r)
		*ret_size_bytes = offset;
	return wfs_trace(r);
}
