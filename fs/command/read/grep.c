/* SPDX-License-Identifier: Apache-2.0 */
/* fs grep: prints lines that match a Perl-compatible pattern, in all files below a path. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <inttypes.h>
#include <pcre2.h>
#include <string.h>

#include "fs/command/frame/walk.h"
#include "fs/command/read/commands.h"
#include "kernel/base/encode.h"

enum {
	BATCH_COUNT = 256,         /* files requested at once */
	BATCH_BYTES = 1 << 20,     /* bytes of these; a larger file is read alone, in parts */
	LINE_MAX_BYTES = 16 << 20, /* a longer line is searched in pieces of this size */
	MATCH_LIMIT = 1 << 24,     /* steps of PCRE2 in one line, against hostile patterns */
};

struct search {
	struct wfs_run *run;
	struct wfs_walk walk;
	pcre2_code *pattern;
	pcre2_match_data *match;
	pcre2_match_context *limits;
	json_t *found; /* for --json; otherwise NULL */
	uint64_t found_count;
	json_t *batch; /* paths of small files to be requested */
	uint64_t batch_bytes;
	bool below;                 /* a directory is searched */
	uint64_t passed_over_count; /* files in it that the principal may not read */
	struct wfs_error refusal;   /* of the first of them */

	const char *path;       /* of the current file */
	struct wfs_buffer rest; /* the beginning of an incomplete line */
	uint64_t line_number;
};

static void search_done(struct search *search)
{
	pcre2_code_free(search->pattern);
	pcre2_match_data_free(search->match);
	pcre2_match_context_free(search->limits);
	json_decref(search->found);
	json_decref(search->batch);
	wfs_buffer_done(&search->rest);
	wfs_walk_done(&search->walk);
}

static int compile(struct search *search, const char *pattern)
{
	PCRE2_SIZE offset;
	int code;
	char reason[128];

	search->pattern = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
		PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &offset, NULL);
	if (!search->pattern) {
		pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
		return wfs_error_set(&search->run->error, WFS_E_INVALID_PATTERN,
			"'%.60s', at character %zu: %s", pattern, (size_t)offset + 1, reason);
	}
	(void)pcre2_jit_compile(search->pattern, PCRE2_JIT_COMPLETE); /* slower without */
	search->match = pcre2_match_data_create_from_pattern(search->pattern, NULL);
	search->limits = pcre2_match_context_create(NULL);
	if (!search->match || !search->limits)
		return -ENOMEM;
	pcre2_set_match_limit(search->limits, MATCH_LIMIT);
	return 0;
}

/* --- one file --- */

static int tell_match(struct search *search, struct wfs_bytes line)
{
	FILE *const out = search->run->out;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	search->found_count++;
	wfs_buffer_append(&text, line.data, line.size);
	if (wfs_buffer_check(&text) < 0)
		return -ENOMEM;
	if (search->run->options[WFS_OPTION_FILES]) {
		if (search->found)
			json_array_append_new(search->found, json_string(search->path));
		else
			fprintf(out, "%s\n", search->path);
		return 1; /* no more of this file is needed */
	}
	if (search->found) {
		wfs_utf8_clean(text.data, text.size);
		json_array_append_new(search->found,
			json_pack("{s:s, s:I, s:o}", "path", search->path, "line",
				(json_int_t)search->line_number, "text",
				json_stringn(text.data, text.size)));
		return 0;
	}
	if (memchr(line.data, '\0', line.size)) {
		fprintf(out, "%s: binary file matches\n", search->path);
		return 1;
	}
	fprintf(out, "%s:%" PRIu64 ":%s\n", search->path, search->line_number,
		wfs_buffer_text(&text));
	return 0;
}

/* Searches a line. Return: 0, 1 (the rest of the file does not matter), or -errno. */
static int search_line(struct search *search, struct wfs_bytes line)
{
	const char *const subject = line.size > 0 ? line.data : "";
	const int matched = pcre2_match(search->pattern, (PCRE2_SPTR)subject, line.size, 0, 0,
		search->match, search->limits);

	search->line_number++;
	if (matched >= 0)
		return tell_match(search, line);
	if (matched == PCRE2_ERROR_NOMATCH)
		return 0;
	return wfs_error_set(&search->run->error, WFS_E_INVALID_PATTERN,
		"the pattern takes too long in %s, line %" PRIu64, search->path,
		search->line_number);
}

static int search_part(void *context, struct wfs_bytes part)
{
	struct search *const search = context;
	struct wfs_buffer *const rest = &search->rest;
	size_t begin = 0;
	int r = 0;

	wfs_buffer_append(rest, part.data, part.size);
	if (wfs_buffer_check(rest) < 0)
		return -ENOMEM;
	while (!r) {
		const char *const line = rest->data + begin;
		const size_t left = rest->size - begin;
		const char *const end = left > 0 ? memchr(line, '\n', left) : NULL;

		if (!end && left < LINE_MAX_BYTES)
			break;
		r = search_line(search, WFS_BYTES(line, end ? (size_t)(end - line) : left));
		begin += end ? (size_t)(end + 1 - line) : left;
	}
	if (begin > 0) {
		memmove(rest->data, rest->data + begin, rest->size - begin);
		rest->size -= begin;
	}
	return r;
}

static void begin_file(struct search *search, const char *path)
{
	search->path = path;
	search->line_number = 0;
	wfs_buffer_reset(&search->rest);
}

/* Searches a last line without an end. @r: result of the last part. Return: 0, or -errno. */
static int end_file(struct search *search, int r)
{
	if (r == 0 && search->rest.size > 0)
		r = search_line(search, wfs_buffer_bytes(&search->rest));
	return r < 0 ? r : 0;
}

/* Skips a file that is listed and may not be read, as grep does; the end reports how many. @r:
 * error of reading a file
 * Return: 0, or @r if it is another error. */
static int pass_over(struct search *search, int r)
{
	struct wfs_error *const error = &search->run->error;

	if (r != -EACCES || error->code != WFS_E_NOT_AUTHORIZED || !search->below)
		return r;
	if (search->passed_over_count++ == 0)
		search->refusal = *error;
	*error = (struct wfs_error){.code = WFS_OK};
	return 0;
}

/* --- many small files --- */

static int search_answer(struct search *search, const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_run_take(search->run, &result);

	if (!r)
		r = wfs_run_decode(search->run, result, "data_b64", &bytes);
	if (r)
		return r;
	begin_file(search, path);
	return end_file(search, search_part(search, wfs_buffer_bytes(&bytes)));
}

/* Requests all files before waiting for the first. */
static int search_batch(struct search *search)
{
	const json_t *path;
	size_t i;
	int r = 0;

	json_array_foreach(search->batch, i, path) {
		r = wfs_access_post(search->run->access, "fs-read",
			wfs_walk_payload(&search->walk, json_string_value(path)));
		if (r)
			return r;
	}
	json_array_foreach(search->batch, i, path) {
		r = pass_over(search, search_answer(search, json_string_value(path)));
		if (r)
			return r;
	}
	search->batch_bytes = 0;
	return json_array_clear(search->batch) < 0 ? -ENOMEM : 0;
}

static int take_entry(void *context, const char *path, const json_t *entry)
{
	struct search *const search = context;
	const uint64_t size_bytes = (uint64_t)wfs_run_integer(entry, "size");
	int r = 0;

	if (wfs_walk_is(entry, "directory")) {
		r = search_batch(search);
		search->below = true;
		return r ? r : wfs_walk_names(&search->walk, path, take_entry, search);
	}
	if (!wfs_walk_is(entry, "file"))
		return 0;
	if (size_bytes > BATCH_BYTES) {
		begin_file(search, path);
		r = wfs_walk_read(&search->walk, path, search_part, search);
		return pass_over(search, end_file(search, r));
	}
	if (search->batch_bytes + size_bytes > BATCH_BYTES ||
		json_array_size(search->batch) == BATCH_COUNT)
		r = search_batch(search);
	if (!r && json_array_append_new(search->batch, json_string(path)) < 0)
		r = -ENOMEM;
	search->batch_bytes += size_bytes;
	return r;
}

/* Makes the document for --json. Return: new reference, NULL without memory. */
static json_t *found_document(const struct search *search)
{
	const bool files = search->run->options[WFS_OPTION_FILES];
	json_t *const passed_over = search->passed_over_count > 0
		? json_integer((json_int_t)search->passed_over_count)
		: NULL;

	return json_pack("{s:O, s:o*}", files ? "files" : "matches", search->found, "passed_over",
		passed_over);
}

int wfs_run_fs_grep(struct wfs_run *run)
{
	const bool json = run->options[WFS_OPTION_JSON];
	const char *const path = run->argument_count > 1 ? run->arguments[1] : "/";
	WFS_CLEANUP(search_done)
	struct search search = {
		.run = run,
		.batch = json_array(),
		.found = json ? json_array() : NULL,
	};
	WFS_AUTO_JSON json_t *node = NULL;
	int r = compile(&search, run->arguments[0]);

	if (!r)
		r = wfs_walk_init(&search.walk, run, path);
	if (!r)
		r = wfs_walk_call(
			&search.walk, "fs-stat", wfs_walk_payload(&search.walk, path), &node);
	if (!r)
		r = take_entry(&search, path, node);
	if (!r)
		r = search_batch(&search);
	if (!r && json)
		r = wfs_run_json(run, found_document(&search));
	if (!r && search.passed_over_count > 0)
		wfs_run_notice(run, "files passed over: %" PRIu64 ", the first because %s",
			search.passed_over_count, search.refusal.message);
	if (!r && search.found_count == 0)
		wfs_run_notice(run, "nothing matches");
	return r ? r : search.found_count == 0;
}
