/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that read the world: manifest, state, cells, head, journal. */
#include <inttypes.h>
#include <string.h>

#include "fs/command/read/commands.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { FOLLOW_EVERY_MS = 100 }; /* how often --follow looks for new records */

static int print_manifest(struct wfs_run *run, const json_t *result)
{
	return wfs_run_print_document(run, json_object_get(result, "manifest"));
}

int wfs_run_manifest(struct wfs_run *run)
{
	WFS_AUTO_FREE char *consistency = NULL;
	int r = wfs_run_consistency(run, &consistency);

	return r ? r
		 : wfs_run_show(run, "manifest-read",
			   json_pack("{s:s*}", "consistency", consistency), print_manifest);
}

int wfs_run_head(struct wfs_run *run)
{
	return wfs_run_show(run, "journal-head", NULL, wfs_run_print_document);
}

/* --- state --- */

/* Gets the key in base64, from KEY or --key-b64; NULL: none given. */
static int key_given(struct wfs_run *run, struct wfs_buffer *buffer, const char **ret_key_b64)
{
	const char *const key = run->argument_count > 1 ? run->arguments[1] : NULL;

	*ret_key_b64 = run->options[WFS_OPTION_KEY_B64];
	if (key && *ret_key_b64)
		return wfs_run_misuse(run, "KEY and --key-b64 cannot be used together");
	if (!key)
		return 0;
	wfs_base64_append(buffer, key, strlen(key));
	*ret_key_b64 = wfs_buffer_text(buffer);
	return wfs_buffer_check(buffer);
}

static int print_state(struct wfs_run *run, const json_t *result)
{
	WFS_AUTO_BUFFER struct wfs_buffer state = {0};
	int r;

	if (!json_object_get(result, "state_b64")) {
		if (run->argument_count > 1)
			wfs_run_notice(run, "reducer '%s' does not have the key '%s'",
				run->arguments[0], run->arguments[1]);
		else
			wfs_run_notice(run,
				"reducer '%s' has no state without a key; 'worldfs cells %s' "
				"lists its keys",
				run->arguments[0], run->arguments[0]);
		return 1;
	}
	r = wfs_run_decode(run, result, "state_b64", &state);
	if (!r)
		(void)fwrite(state.data, 1, state.size, run->out);
	return r;
}

int wfs_run_state(struct wfs_run *run)
{
	WFS_AUTO_FREE char *consistency = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	WFS_AUTO_JSON json_t *result = NULL;
	const char *key_b64;
	bool found;
	int r = wfs_run_consistency(run, &consistency);

	if (!r)
		r = key_given(run, &key, &key_b64);
	if (!r)
		r = wfs_run_call(run, "query-state",
			json_pack("{s:s, s:s*, s:s*}", "reducer", run->arguments[0], "key_b64",
				key_b64, "consistency", consistency),
			&result);
	if (r)
		return r;
	if (!run->options[WFS_OPTION_JSON])
		return print_state(run, result);
	found = json_object_get(result, "state_b64");
	r = wfs_run_json(run, WFS_STEAL(result));
	return r ? r : !found;
}

/* --- cells --- */

/* Prints a key: text as it is, or 0x and hex if it would break the line or its tabs. */
static void print_key(FILE *file, const struct wfs_buffer *key)
{
	bool plain = wfs_utf8_valid(key->data, key->size);

	for (size_t i = 0; i < key->size && plain; i++)
		plain = (unsigned char)key->data[i] >= ' ' && key->data[i] != 0x7f;
	if (plain) {
		(void)fwrite(key->data, 1, key->size, file);
		return;
	}
	fputs("0x", file);
	for (size_t i = 0; i < key->size; i++)
		fprintf(file, "%02x", (unsigned char)key->data[i]);
}

static int print_cell(struct wfs_run *run, const json_t *cell)
{
	WFS_AUTO_BUFFER struct wfs_buffer key = {0};
	int r;

	if (run->options[WFS_OPTION_RAW_CELLS])
		return wfs_run_print_document(run, cell);
	r = wfs_run_decode(run, cell, "key_b64", &key);
	if (r)
		return r;
	print_key(run->out, &key);
	fprintf(run->out, "\t%" PRId64 "\t%" PRId64 "\t%s\n", wfs_run_integer(cell, "size"),
		wfs_run_integer(cell, "last_active_height"), wfs_json_text(cell, "state_hash"));
	return 0;
}

struct cells_printer {
	struct wfs_run *run;
	json_t *all; /* for --json; otherwise NULL */
};

static int take_cell(void *context, const json_t *cell)
{
	struct cells_printer *const printer = context;

	if (printer->all)
		return json_array_append(printer->all, (json_t *)cell) < 0 ? -ENOMEM : 0;
	return print_cell(printer->run, cell);
}

int wfs_run_cells(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_FREE char *consistency = NULL;
	WFS_AUTO_JSON json_t *all = json ? json_array() : NULL;
	struct cells_printer printer = {run, all};
	int r = wfs_run_consistency(run, &consistency);

	if (!r)
		r = wfs_run_each_cell(run, run->arguments[0], consistency, take_cell, &printer);
	if (!r && json)
		r = wfs_run_json(run, json_pack("{s:O}", "cells", all));
	return r;
}

/* --- journal --- */

struct journal_reader {
	struct wfs_run *run;
	uint64_t next_seq;
	uint64_t left; /* records still to be printed */
	json_t *all;   /* for --json; otherwise NULL */
	uint64_t damaged_count;
	struct wfs_error damage; /* the first error */
};

/* Skips a damaged record, which is reported at the end. Return: 1, or @r if it is another error. */
static int pass_over(struct journal_reader *reader, int r)
{
	struct wfs_run *const run = reader->run;
	const json_t *const seq = json_object_get(run->error_details, "seq");

	if (r != -EIO || run->error.code != WFS_E_HASH_MISMATCH || !json_is_integer(seq))
		return r;
	if (run->options[WFS_OPTION_FOLLOW]) /* which has no end to report it at */
		wfs_run_notice(run, "worldfs: %s: %s", wfs_error_info(run->error.code)->name,
			run->error.message);
	if (reader->damaged_count++ == 0)
		reader->damage = run->error;
	reader->next_seq = (uint64_t)json_integer_value(seq) + 1;
	return 1;
}

static int tell_damage(struct journal_reader *reader)
{
	struct wfs_error *const error = &reader->run->error;
	const struct wfs_error *const first = &reader->damage;

	if (reader->damaged_count == 0)
		return 0;
	if (reader->damaged_count == 1)
		return wfs_error_set(error, first->code, "%s", first->message);
	return wfs_error_set(error, first->code, "%.400s, and %" PRIu64 " more records",
		first->message, reader->damaged_count - 1);
}

/* Finds the first record after a page. Skipped invisible records count as well. */
static uint64_t next_seq(const struct journal_reader *reader, const json_t *page)
{
	const json_t *const next = json_object_get(page, "next_from");
	const uint64_t height = (uint64_t)wfs_run_integer(reader->run->meta, "journal_height");

	if (next)
		return (uint64_t)json_integer_value(next);
	return height > reader->next_seq ? height : reader->next_seq;
}

/* Prints a page. Return: 1: more follow; 0 at the end; or -errno. */
static int read_page(struct journal_reader *reader)
{
	WFS_AUTO_JSON json_t *result = NULL;
	const json_t *record;
	size_t i;
	int r = wfs_run_call(reader->run, "journal-read",
		json_pack("{s:I, s:s*}", "from", (json_int_t)reader->next_seq, "turn",
			reader->run->options[WFS_OPTION_TURN]),
		&result);

	if (r)
		return pass_over(reader, r);
	json_array_foreach(json_object_get(result, "records"), i, record) {
		if (reader->left == 0)
			return 0;
		if (!reader->all)
			r = wfs_run_print_document(reader->run, record);
		else
			r = json_array_append(reader->all, (json_t *)record) < 0 ? -ENOMEM : 0;
		if (r)
			return r;
		reader->left--;
	}
	reader->next_seq = next_seq(reader, result);
	return json_object_get(result, "next_from") && reader->left > 0;
}

static int follow(struct journal_reader *reader)
{
	const struct timespec pause = {.tv_nsec = FOLLOW_EVERY_MS * 1000L * 1000};
	int r = 0;

	while (r >= 0 && reader->left > 0) {
		if (fflush(reader->run->out) != 0)
			return 0; /* run_command() reports it */
		if (r == 0)
			nanosleep(&pause, NULL);
		r = read_page(reader);
	}
	return r;
}

int wfs_run_journal(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	WFS_AUTO_JSON json_t *all = json ? json_array() : NULL;
	struct journal_reader reader = {.run = run, .left = UINT64_MAX, .all = all};
	int r;

	if (json && run->options[WFS_OPTION_FOLLOW])
		return wfs_run_misuse(run,
			"--json and --follow cannot be used together; the records are JSON lines "
			"anyway");
	r = wfs_run_count(run, WFS_OPTION_FROM_SEQ, &reader.next_seq);
	if (!r)
		r = wfs_run_count(run, WFS_OPTION_LIMIT, &reader.left);
	if (r)
		return r;
	do {
		r = read_page(&reader);
	} while (r > 0);
	if (!r && run->options[WFS_OPTION_FOLLOW])
		r = follow(&reader);
	if (r || !json)
		return r ? r : tell_damage(&reader);
	/* One document has both: the whole records, and the damage. */
	r = wfs_run_json(run,
		json_pack("{s:s*, s:O}", "damaged",
			tell_damage(&reader) ? run->error.message : NULL, "records", all));
	return r ? r : reader.damaged_count > 0;
}
