/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, as a domain. Their actions are those of kernel/domain/action/act-timer.c. */
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/timer-impl.h"
#include "kernel/domain/timer/wait.h"
#include "kernel/read/entity.h"
#include "kernel/read/index.h"
#include "kernel/read/view-document.h"

static const char suffix[] = ".json";

/* --- files: principals/PRINCIPAL/timers/TIMER.json --- */

/* The number of a file is that of its cell among all cells. */
static int entry_of(struct wfs_view *view, uint64_t cell_id, struct wfs_bytes principal,
	struct wfs_entry *ret_entry)
{
	const int r = wfs_view_entry(view, cell_id, ret_entry);
	const struct wfs_bytes key = ret_entry->key;

	if (r <= 0)
		return r;
	return key.size > principal.size + 1 &&
		memcmp(key.data, principal.data, principal.size) == 0 &&
		((const char *)key.data)[principal.size] == '/';
}

/* Finds the first timer of the principal from cell @number on. The index has those of the head;
 * at an earlier height all timers are looked at. */
static int next_cell(struct wfs_view *view, struct wfs_bytes principal, uint64_t number,
	struct wfs_entry *ret_entry)
{
	WFS_AUTO_INDEX_WALK struct wfs_index_walk members = {0};
	WFS_AUTO_CELL_WALK struct wfs_cell_walk cells = {0};
	struct wfs_index_set set;
	struct wfs_reducer reducer;
	struct wfs_cell cell;
	int r = wfs_view_builtin(view, WFS_BUILTIN_TIMER, &reducer);

	if (r)
		return r;
	wfs_index_timers(&set, principal);
	r = view->head ? wfs_index_walk_init(&members, view->txn, &set, false)
		       : wfs_cell_walk_init(&cells, view->txn, reducer.reducer_id,
				 number > 0 ? number - 1 : 0);
	members.start = number;
	while (!r) {
		r = view->head ? wfs_index_walk_next(&members, &cell.cell_id)
			       : wfs_cell_walk_next(&cells, &cell);
		if (r <= 0)
			return r ? r : -ENOENT;
		r = entry_of(view, cell.cell_id, principal, ret_entry);
		if (r > 0)
			return 0;
	}
	return r;
}

static void append_name(struct wfs_bytes key, struct wfs_bytes principal, struct wfs_buffer *name)
{
	wfs_buffer_append(
		name, (const char *)key.data + principal.size + 1, key.size - principal.size - 1);
	wfs_buffer_append_text(name, suffix);
}

static int next_file(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
	struct wfs_buffer *name, struct wfs_version *ret_version)
{
	struct wfs_entry entry;
	int r = next_cell(view, id, *number, &entry);

	if (!r)
		r = wfs_view_version(view, entry.vid, ret_version);
	if (r)
		return r;
	*number = entry.cell_id;
	append_name(entry.key, id, name);
	return wfs_buffer_check(name);
}

static int find_file(struct wfs_view *view, struct wfs_bytes id, const char *name,
	uint64_t *ret_number, struct wfs_version *ret_version)
{
	const size_t size = strlen(name);
	char key[WFS_TIMER_KEY_SIZE];
	struct wfs_reducer reducer;

	if (size <= strlen(suffix) || size - strlen(suffix) > WFS_TIMER_ID_MAX ||
		strcmp(name + size - strlen(suffix), suffix) != 0 || id.size > 128)
		return -ENOENT;
	snprintf(key, sizeof(key), "%.*s/%.*s", (int)id.size, (const char *)id.data,
		(int)(size - strlen(suffix)), name);
	int r = wfs_view_builtin(view, WFS_BUILTIN_TIMER, &reducer);
	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(key), ret_version);
	if (!r)
		*ret_number = ret_version->cell_id;
	return r;
}

static int count_files(struct wfs_view *view, struct wfs_bytes id, uint64_t *ret_count)
{
	struct wfs_index_set set;
	struct wfs_index_sum sum;

	wfs_index_timers(&set, id);
	int r = wfs_index_sum_get(view->txn, &set, &sum);
	*ret_count = r ? 0 : sum.count;
	return r;
}

static int name_file(struct wfs_view *view, struct wfs_bytes key, const struct wfs_version *version,
	struct wfs_bytes *ret_id, struct wfs_buffer *name)
{
	const char *const slash = memchr(key.data, '/', key.size);

	(void)version;
	if (!slash)
		return -ENOENT;
	*ret_id = WFS_BYTES(key.data, (size_t)(slash - (const char *)key.data));
	if (!view)
		return 0;
	append_name(key, *ret_id, name);
	return wfs_buffer_check(name);
}

/* The document of the cell, and the next due time in words. */
static int write_file(struct wfs_view *then, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	char next[WFS_UTC_SIZE];
	int r = wfs_view_version_document(then, version, &state, NULL);

	if (r)
		return wfs_trace(r);
	wfs_clock_utc(json_integer_value(json_object_get(state, "next_ns")), next);
	if (json_object_set_new(state, "next_utc", json_string(next)) < 0)
		return -ENOMEM;
	wfs_json_write_document(state, &text);
	r = wfs_buffer_check(&text);
	if (r)
		return r;
	if (range.offset < text.size && range.size > 0) {
		const size_t left = text.size - (size_t)range.offset;

		wfs_buffer_append(
			buffer, text.data + range.offset, range.size < left ? range.size : left);
	}
	*ret_size_bytes = text.size;
	return buffer ? wfs_buffer_check(buffer) : 0;
}

static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_TIMERS,
		{.write_part = write_file,
			.find = find_file,
			.next = next_file,
			.count = count_files,
			.name = name_file}},
};

const struct wfs_domain wfs_timer_domain = {
	.name = "timer",
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
	.kept_size = sizeof(struct timer_kept),
	.begin = timer_begin,
	.end = timer_wait_end,
	.fold_effect = timer_effect,
};
