/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers from the journal to effects that reducers ask for: nothing is read again. The record of
 * an answer comes after records that are still being folded, so lines are read ahead and kept.
 */
#include "kernel/base/array.h"
#include "kernel/check/refold.h"

enum { AHEAD_BYTES_MAX = 2 * WFS_FOLD_BYTES_MAX }; /* more than the lines of one request */

/* One line in struct wfs_refold_ahead.text. */
struct line {
	size_t offset;
	size_t size;
};

static struct wfs_bytes line_at(const struct wfs_refold_ahead *ahead, uint64_t seq)
{
	const struct line *line = &((const struct line *)ahead->lines)[seq - ahead->first_seq];

	return WFS_BYTES(ahead->text.data + line->offset, line->size);
}

int wfs_refold_line(struct wfs_refold *refold, uint64_t seq, struct wfs_bytes *ret_line,
	struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	const struct wfs_refold_ahead *ahead = &refold->ahead;

	if (seq < ahead->first_seq || seq - ahead->first_seq >= ahead->count)
		return source->line(source->context, seq, ret_line, error);
	*ret_line = line_at(ahead, seq);
	return 0;
}

static int append_line(struct wfs_refold_ahead *ahead, struct wfs_bytes bytes)
{
	struct line *const lines =
		wfs_array_reserve(ahead->lines, ahead->count, &ahead->capacity, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	ahead->lines = lines;
	lines[ahead->count++] = (struct line){ahead->text.size, bytes.size};
	wfs_buffer_append(&ahead->text, bytes.data, bytes.size);
	return wfs_buffer_check(&ahead->text);
}

/* Reads lines up to @seq. Return: 0, -ENOENT (the journal ends before, or they are too many),
 * -errno. */
static int read_ahead(struct wfs_refold *refold, uint64_t seq, struct wfs_error *error)
{
	const struct wfs_refold_source *source = refold->source;
	struct wfs_refold_ahead *ahead = &refold->ahead;
	const uint64_t own = refold->head.height; /* the record that is being folded */

	/* Begins with this record, because its line is needed again after the fold. */
	if (ahead->count == 0 || ahead->first_seq + ahead->count <= own) {
		wfs_buffer_reset(&ahead->text);
		ahead->count = 0;
		ahead->first_seq = own;
	}
	while (ahead->first_seq + ahead->count <= seq) {
		struct wfs_bytes line;
		int r = source->line(
			source->context, ahead->first_seq + ahead->count, &line, error);

		if (!r && ahead->text.size + line.size > AHEAD_BYTES_MAX)
			r = -ENOENT;
		if (r)
			return r;
		r = append_line(ahead, line);
		if (r)
			return wfs_error_from_errno(error, r, "read the journal");
	}
	return 0;
}

int wfs_refold_answer(struct wfs_answerer *answerer, const struct wfs_head *head, uint64_t seq,
	const struct wfs_intent *intent, struct wfs_outcome *ret_outcome, struct wfs_error *error)
{
	struct wfs_refold *refold = (struct wfs_refold *)answerer;
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = read_ahead(refold, seq, error);

	(void)head;
	if (r)
		return r == -ENOENT ? 1 : wfs_trace(r);
	r = wfs_record_parse(line_at(&refold->ahead, seq), &parsed, NULL);
	if (!r)
		r = wfs_outcome_read(&parsed, intent, ret_outcome);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "read the journal");
	return r ? 1 : 0; /* writing the records will note the problem */
}
