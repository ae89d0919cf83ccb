/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First byte odd: a line of a journal; a line that parses and is canonical must be written
 * unchanged. Even: a manifest; it must compile or have problems, and its document must give a
 * manifest with that document.
 */
#include "tests/fuzz/fuzz.h"

#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"
#include "kernel/read/record.h"

static void check_line(const char *text, size_t size)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {.json = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer body = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer line = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer canonical = {.size = 0};
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_record_parse(WFS_BYTES(text, size), &parsed, &error) < 0) {
		fuzz_refused(&error);
		return;
	}
	struct wfs_record record = parsed.record;
	wfs_json_write(json_object_get(parsed.json, "body"), &body);
	record.body = wfs_buffer_bytes(&body);
	wfs_record_write(&line, &record);
	wfs_json_write_document(parsed.json, &canonical);
	FUZZ_MUST(wfs_buffer_check(&line) == 0);
	FUZZ_MUST(wfs_json_is_canonical(WFS_BYTES(line.data, line.size - 1)));
	FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&line), wfs_buffer_bytes(&canonical)));
}

static void check_manifest(const char *text, size_t size)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_MANIFEST struct wfs_manifest *again = NULL;
	WFS_AUTO_JSON json_t *document = NULL;
	WFS_AUTO_JSON json_t *parsed = NULL;

	if (wfs_json_parse_bounded(text, size, &document, NULL) < 0)
		return;
	const int r = wfs_manifest_new(document, &problems, &manifest);
	FUZZ_MUST(r == 0 ? problems.count == 0 : r == -EINVAL && problems.count > 0);
	FUZZ_MUST(wfs_utf8_valid(problems.lines.data, problems.lines.size));
	if (r < 0)
		return;
	const struct wfs_bytes bytes = wfs_manifest_document(manifest);
	FUZZ_MUST(wfs_json_parse(bytes.data, bytes.size, &parsed, NULL) == 0);
	FUZZ_MUST(wfs_manifest_new(parsed, &problems, &again) == 0);
	FUZZ_MUST(wfs_bytes_equal(bytes, wfs_manifest_document(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t kind = fuzz_byte(&data, &size);
	char *const text = fuzz_text(WFS_BYTES(data, size));

	if (kind & 1)
		check_line(text, size);
	else
		check_manifest(text, size);
	free(text);
	return 0;
}
