/* SPDX-License-Identifier: Apache-2.0 */
/* Records: their chain, the texts that they name, and the snapshots that they hold. */
#include "kernel/check/verify-impl.h"

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/check/baseline.h"
#include "kernel/read/record.h"
#include "kernel/read/snapshot.h"
#include "kernel/read/text.h"
#include "kernel/store/rows.h"

/* Reports that a record is wrong. @context: struct verify */
static void wrong(void *context, uint64_t seq, const char *reason)
{
	verify_wrong(context, WFS_TABLE_JOURNAL, seq, reason);
}

/* --- private texts that a record names --- */

struct naming {
	struct verify *verify;
	const struct wfs_record_parsed *parsed;
	const struct wfs_hash *wanted; /* NULL: all of them must be there */
	bool found;
};

static int look_for_text(void *context, const json_t *stand_in)
{
	struct naming *const naming = context;
	struct verify *const verify = naming->verify;
	struct wfs_hash hash;
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &hash);
	naming->found |= naming->wanted && wfs_hash_equal(&hash, naming->wanted);
	if (!naming->wanted &&
		verify_is_wrong(verify, wfs_text_find(verify->view.txn, &hash, &text)))
		wrong(verify, naming->parsed->record.seq,
			"names a private text that is missing or damaged");
	return 0;
}

/* --- journal --- */

/* The record before the one at hand. */
struct chain {
	struct wfs_hash hash;
	uint64_t end; /* offset of the end of its line */
	int64_t at_ns;
	uint64_t first_seq; /* of the oldest record */
	bool cut;           /* it is the baseline of a cut */
};

static void check_record(struct verify *verify, uint64_t seq, struct chain *chain, uint64_t offset,
	struct wfs_bytes line)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = wfs_record_parse(line, &parsed, NULL);

	if (offset != chain->end)
		wrong(verify, seq, "does not begin where the record before it ends");
	if (verify_is_wrong(verify, r)) {
		wrong(verify, seq, "is not a record");
	} else if (!r) {
		if (parsed.record.seq != seq)
			wrong(verify, seq, "has another seq");
		if (!wfs_hash_equal(&parsed.record.prev, &chain->hash))
			wrong(verify, seq, "`prev` is not the hash of the record before it");
		if (parsed.record.kind == WFS_RECORD_BASELINE &&
			seq != (wfs_record_is_cut(&parsed) ? chain->first_seq : WFS_BASELINE_SEQ))
			wrong(verify, seq, "is a baseline in the wrong place");
		if (chain->cut && seq == chain->first_seq && !wfs_record_is_cut(&parsed))
			wrong(verify, seq,
				"is not the baseline with which a journal begins that was cut");
		if (parsed.record.at_ns < chain->at_ns)
			wrong(verify, seq, "is older than the record before it");
		if (parsed.record.derived && parsed.record.cause >= seq)
			wrong(verify, seq, "is caused by a later record");
		struct naming naming = {.verify = verify, .parsed = &parsed};
		(void)wfs_text_each(&parsed, look_for_text, &naming);
		chain->at_ns = parsed.record.at_ns;
		(void)verify_is_wrong(verify,
			wfs_turn_check_record(verify->runs, verify->view.txn, seq, &parsed));
	}
	chain->hash = r ? wfs_hash_of(line.data, line.size) : wfs_record_next_prev(&parsed, line);
	chain->end = offset + line.size;
}

/* Begins the chain with the oldest record: again, if the journal was cut during the check. */
static int begin_chain(struct verify *verify, struct chain *chain, uint64_t *seq)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(verify->view.txn, &cut);

	if (r == -EIO) { /* verify_rows() has reported it */
		cut = (struct wfs_journal_cut){0};
		r = 0;
	}
	if (r || *seq > cut.first_seq || (cut.count > 0 && chain->first_seq == cut.first_seq))
		return r;
	*chain = (struct chain){.first_seq = cut.first_seq, .cut = cut.count > 0, .end = cut.begin};
	*seq = cut.first_seq;
	return 0;
}

static int walk_journal(struct verify *verify)
{
	struct chain chain = {0};

	for (uint64_t seq = 0; seq < verify->height; seq++) {
		struct wfs_bytes line;
		uint64_t offset;
		int r = begin_chain(verify, &chain, &seq);

		if (!r)
			r = wfs_journal_get(verify->view.txn, seq, &offset, &line);
		if (r == -EIO)
			verify_damaged(verify, WFS_TABLE_JOURNAL, seq);
		else if (r == -ENOENT)
			wrong(verify, seq, "is missing");
		else if (r)
			return verify_failed(verify, r, "the journal");
		else
			check_record(verify, seq, &chain, offset, line);
		r = verify_step(verify, "records", seq + 1, verify->height);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}

/* Checks the journal, and that the index has the records of turns. */
int verify_journal(struct verify *verify)
{
	int r = wfs_turn_check_new(wrong, verify, &verify->runs);

	if (!r)
		r = walk_journal(verify);
	if (!r)
		r = wfs_turn_check_end(verify->runs, verify->view.txn, &verify->runs_records);
	wfs_turn_check_free(verify->runs);
	verify->runs = NULL;
	return r == -EINTR ? r : r ? verify_failed(verify, r, "the journal") : 0;
}

/* --- private texts --- */

/* Checks that a text has its hash, and that its record names it. */
static void check_text(struct verify *verify, const struct wfs_text *text, uint64_t seq_before)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct naming naming = {.verify = verify, .parsed = &parsed, .wanted = &text->hash};
	struct wfs_text found;
	struct wfs_bytes line;
	uint64_t first = 0;

	if (!wfs_hash_fits(&text->hash, text->bytes))
		verify_wrong(
			verify, WFS_TABLE_TEXT, text->number, "its bytes do not have its hash");
	if (text->seq < seq_before)
		verify_wrong(verify, WFS_TABLE_TEXT, text->number,
			"is of a record before that of another");
	if (verify_is_wrong(verify, wfs_text_find(verify->view.txn, &text->hash, &found)))
		verify_wrong(verify, WFS_TABLE_TEXT, text->number, "does not lead to it");
	(void)wfs_journal_own_first(verify->view.txn, &first);
	if (text->seq < first || text->seq >= verify->height ||
		wfs_view_record(&verify->view, text->seq, &line) ||
		wfs_record_parse(line, &parsed, NULL))
		/* a cut has dropped its record, the text came during the check, or verify_journal()
		 * has reported its record */
		return;
	(void)wfs_text_each(&parsed, look_for_text, &naming);
	if (!naming.found)
		verify_wrong(verify, WFS_TABLE_TEXT, text->number, "is not named by its record");
}

int verify_texts(struct verify *verify)
{
	struct wfs_text text = {.seq = 0};
	uint64_t last;
	int r = wfs_text_last(verify->view.txn, &last);

	/* verify_rows() has reported the last row, whose key cannot be read. */
	if (r == -EIO)
		r = wfs_rows_count(verify->view.txn, WFS_TABLE_TEXT, &last);
	for (uint64_t number = 1; !r && number <= last; number++) {
		const uint64_t seq_before = text.seq;

		const int got = wfs_text_get(verify->view.txn, number, &text);
		if (got == -EIO)
			verify_damaged(verify, WFS_TABLE_TEXT, number);
		else if (verify_is_wrong(verify, got))
			verify_wrong(verify, WFS_TABLE_TEXT, number, "is missing");
		else
			check_text(verify, &text, seq_before);
		r = verify_step(verify, "private texts", number, last);
	}
	return r && r != -EINTR ? verify_failed(verify, r, "the private texts") : r;
}

/* --- snapshots --- */

/* Gets the snapshot hash that a record has. @ret_height: the height whose hash it is. Return: NULL
 * if it is of a kind without one. */
static const struct wfs_hash *snapshot_of(
	const struct wfs_record_parsed *parsed, uint64_t *ret_height)
{
	const union wfs_body *const body = &parsed->body;

	switch (parsed->record.kind) {
	case WFS_RECORD_BASELINE:
		*ret_height = parsed->record.seq + 1;
		return &body->baseline.snapshot_hash;
	case WFS_RECORD_EPOCH:
		*ret_height = parsed->record.seq;
		return &body->epoch.snapshot_hash;
	case WFS_RECORD_SNAPSHOT:
		*ret_height = (uint64_t)body->snapshot.height;
		return &body->snapshot.snapshot_hash;
	default:
		return NULL;
	}
}

static int check_snapshot(struct verify *verify, const struct wfs_record_parsed *parsed)
{
	uint64_t height = 0;
	const struct wfs_hash *const recorded = snapshot_of(parsed, &height);
	struct wfs_hash hash;

	if (!recorded)
		return 0;
	if (height < 1 ||
		height > parsed->record.seq + (parsed->record.kind == WFS_RECORD_BASELINE)) {
		wrong(verify, parsed->record.seq, "is not a snapshot record");
		return 0;
	}
	const uint64_t newest = wfs_cell_id(WFS_REDUCER_ID_KERNEL, WFS_KERNEL_CELL_SNAPSHOT);
	struct wfs_cell cell;
	if (wfs_cell_get(verify->view.txn, newest, &cell) == -ENOENT)
		verify_wrong(verify, WFS_TABLE_CELL, newest, "is missing");
	if (height < verify->first)
		return 0;
	int r = wfs_snapshot_hash(
		wfs_world_store(verify->world), height, NULL, NULL, &hash, verify->error);
	if (r == -EIO) {
		wrong(verify, parsed->record.seq, "the cells of its snapshot cannot be read");
		return 0;
	}
	if (r)
		return wfs_trace(r);
	if (!wfs_hash_equal(&hash, recorded))
		wrong(verify, parsed->record.seq, "its snapshot hash is not that of its height");
	return 0;
}

/* Compares the baseline of a cut with the state at its height, unless that was dropped since; then
 * only replay can. */
static int check_baseline(struct verify *verify, uint64_t seq)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_baseline_facts facts;
	struct wfs_bytes line;
	int r = wfs_view_record(&verify->view, seq, &line);

	if (r || wfs_record_parse(line, &parsed, NULL) || !wfs_record_is_cut(&parsed))
		return 0; /* verify_journal() has reported it */
	if (seq + 1 < verify->first)
		return 0;
	r = wfs_view_open(verify->world, seq + 1, &view, verify->error);
	if (!r)
		r = wfs_baseline_facts(&view, &facts, verify->error);
	if (r == -ENOENT) /* dropped in this moment */
		return 0;
	const char *const how = r == -EIO ? "the cells of its height cannot be read"
		: r                       ? NULL
					  : wfs_baseline_differs(&parsed, &facts);
	if (how)
		wrong(verify, seq, how);
	return r == -EIO ? 0 : wfs_trace(r);
}

static int check_baselines(struct verify *verify)
{
	struct wfs_journal_cut cut;
	int r = wfs_journal_cut_get(verify->view.txn, &cut);

	return r || cut.count == 0 ? 0 : wfs_trace(check_baseline(verify, cut.first_seq));
}

int verify_snapshots(struct verify *verify)
{
	static const char member[] = "\"snapshot_hash\":";
	uint64_t first = 0;
	int stop = check_baselines(verify);

	if (stop)
		return wfs_trace(stop);
	(void)wfs_journal_first(verify->view.txn, &first);
	for (uint64_t seq = first; seq < verify->height; seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
		struct wfs_bytes line;
		int r = wfs_view_record(&verify->view, seq, &line);

		/* Most records are sorted out without parsing them. */
		if (r == -ENOENT) /* the journal was cut meanwhile */
			r = 0;
		else if (!r && memmem(line.data, line.size, member, sizeof(member) - 1) &&
			!verify_is_wrong(verify, wfs_record_parse(line, &parsed, NULL)))
			r = check_snapshot(verify, &parsed);
		if (r && r != -EIO) /* verify_journal() has reported missing records */
			return wfs_trace(r);
		r = verify_step(verify, "snapshots", seq + 1, verify->height);
		if (r)
			return wfs_trace(r);
	}
	return 0;
}
