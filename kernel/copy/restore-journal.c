/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a copy: journal/log.jsonl and the files of the records, which must agree. The next
 * line has the hash of each line, so only the last line needs the file of its record as a proof;
 * all other files may be missing. The whole journal is read once before anything is folded, so that
 * every damaged record is reported, and not only the first.
 */
#include <fcntl.h>
#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/formats.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/copy/restore-impl.h"

enum {
	PIECE_SIZE = 256 << 10,
	HEAD_MAX = 4096, /* bytes of journal/head */
};

#define LOG_PATH "journal/log.jsonl"
#define HEAD_PATH "journal/head"

static struct restore_path record_path(uint64_t seq)
{
	return restore_path("journal/%" PRIu64 ".json", seq);
}

static int open_journal(struct restore *restore, int *ret_fd)
{
	return restore_directory(restore, restore->tree_fd, "journal", "journal", ret_fd);
}

int restore_texts(struct restore *restore, int *ret_fd)
{
	WFS_AUTO_FD int journal = -1;
	int r = open_journal(restore, &journal);

	return r > 0 ? restore_directory(restore, journal, "texts", RESTORE_TEXTS, ret_fd) : r;
}

/* Appends the line in a record's file. Return: 1, 0 (a problem was noted), -errno. */
static int read_record_file(
	struct restore *restore, int directory, uint64_t seq, struct wfs_buffer *buffer)
{
	char name[sizeof("18446744073709551615.json")];

	snprintf(name, sizeof(name), "%" PRIu64 ".json", seq);
	return restore_read(
		restore, directory, name, record_path(seq).text, WFS_RESTORE_LINE_MAX, buffer);
}

/* --- lines --- */

int restore_lines_init(struct restore_lines *lines, struct restore *restore)
{
	struct stat st;

	*lines = (struct restore_lines){.restore = restore,
		.directory = -1,
		.log = -1,
		.count = restore->journal.first_seq};
	int r = open_journal(restore, &lines->directory);

	if (r <= 0 || !restore->journal.log)
		return wfs_trace(r);
	lines->piece = malloc(PIECE_SIZE);
	if (!lines->piece)
		return wfs_error_from_errno(restore->error, -ENOMEM, "read the journal");
	r = restore_open(restore, lines->directory, "log.jsonl", LOG_PATH, UINT64_MAX, &lines->log);
	if (r > 0 && fstat(lines->log, &st) == 0)
		lines->total_bytes = (uint64_t)st.st_size;
	return wfs_trace(r);
}

/* Reads the next piece of log.jsonl. Return: 1, 0 at the end of the file, or -errno. */
static int fill_piece(struct restore_lines *lines)
{
	ssize_t size;

	do
		size = read(lines->log, lines->piece, PIECE_SIZE);
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return wfs_error_from_errno(lines->restore->error, -errno, "read " LOG_PATH);
	lines->piece_at = 0;
	lines->piece_size = (size_t)size;
	return size > 0;
}

/* Moves bytes of the piece to the line, up to its end. Return: is the line complete? */
static bool take_piece(struct restore_lines *lines)
{
	const char *const from = lines->piece + lines->piece_at;
	const size_t left = lines->piece_size - lines->piece_at;
	const char *const newline = memchr(from, '\n', left);
	const size_t size = newline ? (size_t)(newline - from) + 1 : left;

	wfs_buffer_append(&lines->line, from, size);
	lines->piece_at += size;
	return newline != NULL;
}

static int next_of_log(struct restore_lines *lines)
{
	struct restore *const restore = lines->restore;

	for (;;) {
		int r = lines->piece_at < lines->piece_size ? 1 : fill_piece(lines);

		if (r == 0 && lines->line.size > 0)
			return restore_noted(restore, LOG_PATH,
				"record %" PRIu64
				" is cut off: expected a newline after it, got the end",
				lines->count);
		if (r <= 0)
			return r;
		const bool whole = take_piece(lines);
		if (wfs_buffer_check(&lines->line))
			return wfs_error_from_errno(restore->error, -ENOMEM, "read " LOG_PATH);
		if (lines->line.size > WFS_RESTORE_LINE_MAX)
			return restore_noted(restore, LOG_PATH,
				"record %" PRIu64 " is too large: expected at most %d bytes",
				lines->count, WFS_RESTORE_LINE_MAX);
		if (whole)
			return 1;
	}
}

int restore_lines_next(struct restore_lines *lines)
{
	struct restore *const restore = lines->restore;
	wfs_require(restore);
	const size_t problems = restore->problems->count;
	int r = restore_stopped(restore);

	if (r)
		return r;
	wfs_buffer_reset(&lines->line);
	if (lines->log >= 0)
		r = next_of_log(lines);
	else if (lines->count - restore->journal.first_seq < restore->journal.record_files)
		r = read_record_file(restore, lines->directory, lines->count, &lines->line);
	if (r > 0)
		lines->count++;
	/* A problem means that not all lines could be read. */
	restore->journal.broken |= restore->problems->count > problems;
	return r;
}

void restore_lines_done(struct restore_lines *lines)
{
	wfs_auto_fd(&lines->directory);
	wfs_auto_fd(&lines->log);
	free(lines->piece);
	wfs_buffer_done(&lines->line);
	*lines = (struct restore_lines){.directory = -1, .log = -1};
}

/* --- names --- */

/* Is the name `<seq>.json`, with a seq as the tree writes it? */
static bool is_record_name(const char *name, uint64_t *ret_seq)
{
	const size_t digits = wfs_decimal_read(name, strlen(name), ret_seq);

	return digits > 0 && (digits == 1 || name[0] != '0') && *ret_seq <= INT64_MAX &&
		strcmp(name + digits, ".json") == 0;
}

static int take_name(struct restore *restore, void *context, int directory, const char *name)
{
	struct restore_journal *const journal = &restore->journal;
	uint64_t seq;

	(void)context;
	(void)directory;
	if (strcmp(name, "log.jsonl") == 0)
		journal->log = true;
	else if (strcmp(name, "head") == 0)
		journal->head = true;
	else if (strcmp(name, "texts") == 0)
		return 0; /* compared later, with the restored world */
	else if (is_record_name(name, &seq)) {
		if (journal->record_files++ == 0 || seq < journal->record_first)
			journal->record_first = seq;
		if (seq > journal->record_last)
			journal->record_last = seq;
	} else
		restore_noted(
			restore, restore_path("journal/%s", name).text, "is not a file of a tree");
	return 0;
}

/* Notes files of records that the journal does not have. */
static int check_record_name(
	struct restore *restore, void *context, int directory, const char *name)
{
	uint64_t seq;

	(void)context;
	(void)directory;
	if (is_record_name(name, &seq) && seq < restore->journal.first_seq)
		restore_noted(restore, record_path(seq).text,
			"expected no record before %" PRIu64 ", the first one of the journal",
			restore->journal.first_seq);
	else if (is_record_name(name, &seq) && seq >= restore->journal.height)
		restore_noted(restore, record_path(seq).text,
			"expected no record after %" PRIu64 ", the last one of the journal",
			restore->journal.height - 1);
	return 0;
}

/* --- one record --- */

/* The record before the one at hand. */
struct chain {
	struct restore_lines *lines;
	struct wfs_hash hash;
	struct wfs_hash file_hash; /* of the record's own file, where it differs from the line */
	bool file_differs;
	int64_t at_ns;
	struct wfs_buffer file;
};

/* The place of a line, for messages. */
static struct restore_path line_path(const struct chain *chain, uint64_t seq)
{
	return chain->lines->log >= 0 ? restore_path(LOG_PATH) : record_path(seq);
}

static void note_line(
	struct restore *restore, const struct chain *chain, uint64_t seq, const char *reason)
{
	restore->journal.broken = true;
	restore_noted(restore, line_path(chain, seq).text, "record %" PRIu64 " %s", seq, reason);
}

/* Notes that the line and the file of record @seq differ.
 * @prev: hash in the next record, which shows which of both is right; NULL: this is
 *        the last record */
static void blame(struct restore *restore, const struct chain *chain, uint64_t seq,
	const struct wfs_hash *prev)
{
	const bool file_is_right = prev && wfs_hash_equal(prev, &chain->file_hash);
	const bool line_is_right = prev && wfs_hash_equal(prev, &chain->hash);
	char whose[64];

	restore->journal.broken |= !line_is_right;
	snprintf(whose, sizeof(whose), "record %" PRIu64 ", as %" PRIu64 ".json has it", seq, seq);
	if (!line_is_right)
		restore_hash_noted(restore, LOG_PATH, whose, &chain->file_hash, &chain->hash);
	snprintf(whose, sizeof(whose), "record %" PRIu64 " in " LOG_PATH, seq);
	if (!file_is_right)
		restore_hash_noted(
			restore, record_path(seq).text, whose, &chain->hash, &chain->file_hash);
}

static void check_prev(struct restore *restore, const struct chain *chain,
	const struct wfs_record_parsed *parsed, uint64_t seq)
{
	const struct wfs_hash *const prev = &parsed->record.prev;

	if (chain->file_differs)
		blame(restore, chain, seq - 1, prev);
	if (wfs_hash_equal(prev, &chain->hash) ||
		(chain->file_differs && wfs_hash_equal(prev, &chain->file_hash)))
		return;
	restore->journal.broken = true;
	restore_noted(restore, line_path(chain, seq).text,
		"record %" PRIu64 " does not follow from the one before it: expected prev %s, "
		"got %s",
		seq, WFS_HASH_TEXT(&chain->hash), WFS_HASH_TEXT(prev));
}

static void take_snapshot(
	struct restore_journal *journal, const struct wfs_hash *snapshot_hash, uint64_t height)
{
	journal->meta.snapshot_hash = *snapshot_hash;
	journal->meta.has_snapshot = true;
	journal->snapshot_height = height;
}

/* Takes the baseline with which a journal begins that was cut. */
static void take_cut(
	struct restore *restore, const struct chain *chain, const struct wfs_record_parsed *parsed)
{
	const struct wfs_body_baseline *const body = &parsed->body.baseline;
	struct restore_journal *const journal = &restore->journal;

	if (parsed->record.seq != journal->first_seq || !body->from_world_id ||
		!wfs_world_id_valid(body->from_world_id)) {
		note_line(restore, chain, parsed->record.seq,
			"is not a baseline with which a journal can begin");
		return;
	}
	snprintf(journal->genesis.world_id, sizeof(journal->genesis.world_id), "%s",
		body->from_world_id);
	journal->meta.manifest_hash = body->manifest_hash;
}

static void take_record(
	struct restore *restore, const struct chain *chain, const struct wfs_record_parsed *parsed)
{
	struct restore_journal *const journal = &restore->journal;
	const union wfs_body *const body = &parsed->body;
	const uint64_t seq = parsed->record.seq;

	if (wfs_record_is_cut(parsed)) {
		take_cut(restore, chain, parsed);
	} else if (seq == 0 &&
		wfs_genesis_parse(parsed, &journal->genesis, &journal->genesis_manifest)) {
		note_line(restore, chain, seq, "is not a genesis record");
	}
	if (seq == 0) {
		journal->meta.manifest_hash = journal->genesis_manifest;
		journal->older = journal->genesis.fold_version != WFS_FOLD_VERSION;
		journal->last_older = journal->older;
	}
	if (parsed->record.kind == WFS_RECORD_MANIFEST)
		journal->meta.manifest_hash = body->manifest.manifest_hash;
	if (parsed->record.kind == WFS_RECORD_BASELINE) {
		journal->baseline = true;
		take_snapshot(journal, &body->baseline.snapshot_hash, seq + 1);
	}
	if (parsed->record.kind == WFS_RECORD_EPOCH) {
		journal->last_older = body->epoch.fold_to != WFS_FOLD_VERSION;
		take_snapshot(journal, &body->epoch.snapshot_hash, seq);
	}
	if (parsed->record.kind == WFS_RECORD_SNAPSHOT)
		take_snapshot(
			journal, &body->snapshot.snapshot_hash, (uint64_t)body->snapshot.height);
	if (parsed->record.changed)
		journal->last_change_height = seq + 1;
}

static void check_line(struct restore *restore, struct chain *chain, uint64_t seq)
{
	const struct wfs_bytes line = wfs_buffer_bytes(&chain->lines->line);
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};

	if (wfs_record_parse(line, &parsed, NULL)) {
		if (chain->file_differs)
			blame(restore, chain, seq - 1, NULL);
		note_line(restore, chain, seq, "is not a record");
	} else {
		check_prev(restore, chain, &parsed, seq);
		if (parsed.record.seq != seq)
			note_line(restore, chain, seq, "has another seq");
		else if (parsed.record.at_ns < chain->at_ns)
			note_line(restore, chain, seq, "is older than the record before it");
		else
			take_record(restore, chain, &parsed);
		chain->at_ns = parsed.record.at_ns;
	}
	chain->hash = parsed.json ? wfs_record_next_prev(&parsed, line)
				  : wfs_hash_of(line.data, line.size);
}

/* Must the copy have all files of records? It may have only one, that of the last record. */
static bool has_all_files(const struct restore_journal *journal)
{
	return journal->record_files > 1;
}

/* Compares a line of the log with the record's own file, if the copy has files of records. */
static int check_file(struct restore *restore, struct chain *chain, uint64_t seq)
{
	const struct restore_journal *const journal = &restore->journal;

	chain->file_differs = false;
	if (chain->lines->log < 0 || journal->record_files == 0 ||
		(!has_all_files(journal) && seq != journal->record_last))
		return 0;
	wfs_buffer_reset(&chain->file);
	int r = read_record_file(restore, chain->lines->directory, seq, &chain->file);
	if (r <= 0)
		return r;
	chain->file_differs = !wfs_bytes_equal(
		wfs_buffer_bytes(&chain->file), wfs_buffer_bytes(&chain->lines->line));
	if (chain->file_differs)
		chain->file_hash = wfs_hash_of(chain->file.data, chain->file.size);
	return 0;
}

/* --- all records --- */

static int check_lines(struct restore *restore, struct restore_lines *lines)
{
	struct chain chain = {.lines = lines, .at_ns = INT64_MIN};
	uint64_t seq = restore->journal.first_seq;
	int r;

	while ((r = restore_lines_next(lines)) > 0) {
		check_line(restore, &chain, seq);
		r = check_file(restore, &chain, seq);
		if (r < 0)
			break;
		seq++;
		lines->done_bytes += lines->line.size;
		restore_progress(
			restore, "bytes of the journal", lines->done_bytes, lines->total_bytes);
	}
	if (!r && chain.file_differs)
		blame(restore, &chain, seq - 1, NULL);
	wfs_buffer_done(&chain.file);
	restore->journal.height = seq;
	restore->journal.meta.journal_height = seq;
	if (!r && seq == restore->journal.first_seq) {
		restore->journal.broken = true;
		restore_noted(restore, restore->journal.log ? LOG_PATH : "journal",
			"expected a genesis record, got nothing");
	}
	return wfs_trace(r);
}

static int check_head(struct restore *restore, int directory)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	int r = restore_read(restore, directory, "head", HEAD_PATH, HEAD_MAX, &came);

	if (r <= 0)
		return r;
	wfs_meta_write(&restore->journal.meta, &expected);
	if (wfs_buffer_check(&expected))
		return wfs_error_from_errno(restore->error, -ENOMEM, "read " HEAD_PATH);
	if (wfs_bytes_equal(wfs_buffer_bytes(&expected), wfs_buffer_bytes(&came)))
		return 0;
	if (expected.size == came.size)
		restore_same_size(restore);
	expected.size--; /* the newline */
	return restore_noted(restore, HEAD_PATH, "expected %s, got %.220s",
		wfs_buffer_text(&expected), wfs_buffer_text(&came));
}

/* Finds the number of the first record: that of the first line if this is the baseline of a cut,
 * otherwise 0. */
static int find_first(struct restore *restore)
{
	RESTORE_AUTO_LINES struct restore_lines lines = {0};
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	struct restore_journal *const journal = &restore->journal;

	if (!journal->log)
		journal->first_seq = journal->record_first;
	WFS_AUTO_PROBLEMS struct wfs_problems ignored = {.count = 0}; /* they will be noted later */
	struct wfs_problems *const problems = restore->problems;
	const size_t grave_count = restore->grave_count;
	restore->problems = &ignored;
	int r = restore_lines_init(&lines, restore);
	if (r > 0)
		r = restore_lines_next(&lines);
	restore->problems = problems;
	restore->grave_count = grave_count;
	journal->broken = false;
	if (r <= 0 || ignored.count > 0) {
		journal->first_seq = 0;
		return wfs_trace(r < 0 ? r : 0);
	}
	r = wfs_record_parse(wfs_buffer_bytes(&lines.line), &parsed, NULL);
	if (r == -ENOMEM)
		return wfs_error_from_errno(restore->error, r, "read the journal");
	journal->first_seq = !r && wfs_record_is_cut(&parsed) ? parsed.record.seq : 0;
	return 0;
}

static int check_records(struct restore *restore, int directory)
{
	const struct restore_journal *const journal = &restore->journal;
	RESTORE_AUTO_LINES struct restore_lines lines = {0};
	int r = find_first(restore);

	if (!r)
		r = restore_lines_init(&lines, restore);
	if (r > 0 && lines.log < 0)
		restore_noted(restore, LOG_PATH, "is missing: nothing else proves the last record");
	if (r > 0)
		r = check_lines(restore, &lines);
	if (r)
		return wfs_trace(r);
	if (journal->record_files > 0 && journal->record_first < journal->first_seq)
		r = restore_list(restore, directory, "journal/", check_record_name, NULL);
	if (!r && journal->record_last >= journal->height && lines.log >= 0) {
		restore_noted(restore, LOG_PATH,
			"ends with record %" PRIu64 ", expected %" PRIu64
			" to be the last, which has a file",
			journal->height - 1, journal->record_last);
		r = restore_list(restore, directory, "journal/", check_record_name, NULL);
	}
	/* If lines are damaged, the values that the head must have are not known. */
	if (r || journal->broken)
		return wfs_trace(r);
	if (journal->record_files == 0 ||
		(!has_all_files(journal) && journal->record_last != journal->height - 1))
		restore_noted(restore, record_path(journal->height - 1).text,
			"is missing: nothing else proves the last record");
	if (restore->manifest &&
		!wfs_hash_equal(
			wfs_manifest_hash(restore->manifest), &journal->meta.manifest_hash)) {
		restore->journal.broken = true;
		restore_hash_noted(restore, "manifest", "the journal", &journal->meta.manifest_hash,
			wfs_manifest_hash(restore->manifest));
	}
	return wfs_trace(check_head(restore, directory));
}

/* Reads journal/head, which says where the cells come from, if the copy has no other part of the
 * journal. */
static int read_head(struct restore *restore, int directory)
{
	struct restore_journal *const journal = &restore->journal;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *head = NULL;
	struct wfs_hash manifest_hash;
	int r = restore_read(restore, directory, "head", HEAD_PATH, HEAD_MAX, &text);

	if (r <= 0)
		return r;
	r = wfs_json_parse(wfs_buffer_text(&text), text.size, &head, NULL);
	if (r == -ENOMEM)
		return wfs_error_from_errno(restore->error, r, "read " HEAD_PATH);
	const json_t *height = json_object_get(head, "journal_height");
	if (!json_is_integer(height) || json_integer_value(height) < 1 ||
		wfs_hash_member(head, "manifest_hash", &manifest_hash))
		return restore_noted(restore, HEAD_PATH,
			"expected journal_height and manifest_hash, got %.200s",
			wfs_buffer_text(&text));
	journal->height = (uint64_t)json_integer_value(height);
	if (restore->manifest &&
		!wfs_hash_equal(wfs_manifest_hash(restore->manifest), &manifest_hash))
		restore_hash_noted(restore, "manifest", HEAD_PATH, &manifest_hash,
			wfs_manifest_hash(restore->manifest));
	return 0;
}

int restore_journal_check(struct restore *restore)
{
	WFS_AUTO_FD int directory = -1;
	int r = open_journal(restore, &directory);

	if (r <= 0)
		return wfs_trace(r);
	r = restore_list(restore, directory, "journal/", take_name, NULL);
	if (r)
		return wfs_trace(r);
	if (restore_has_journal(restore))
		return wfs_trace(check_records(restore, directory));
	return restore->journal.head ? wfs_trace(read_head(restore, directory)) : 0;
}
