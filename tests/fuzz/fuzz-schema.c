/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON Schema, 0xff, a value. A schema must compile or have problems; a value must fit or be
 * refused, and a second check must give the answer of the first.
 */
#include "tests/fuzz/fuzz.h"

#include "kernel/base/json.h"
#include "kernel/schema/schema.h"

static void check(const struct wfs_schema *schema, const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {.size = 0};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_error again = {.code = WFS_OK};
	const int r = wfs_schema_check(schema, value, &error);

	FUZZ_MUST(r == 0 || (r == -EINVAL && error.code == WFS_E_SCHEMA_VIOLATION));
	if (r < 0)
		fuzz_refused(&error);
	FUZZ_MUST(wfs_schema_check(schema, value, &again) == r);
	FUZZ_MUST(r == 0 || strcmp(error.message, again.message) == 0);
	wfs_json_describe(value, &text);
	FUZZ_MUST(wfs_utf8_valid(text.data, text.size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_JSON json_t *definition = NULL;
	WFS_AUTO_JSON json_t *value = NULL;
	const struct wfs_bytes first = fuzz_part(&data, &size);
	const struct wfs_bytes second = fuzz_part(&data, &size);
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_json_parse_bounded(first.data, first.size, &definition, &error) < 0)
		return 0;
	const int r = wfs_schema_new(definition, "f", "", &problems, &schema);
	FUZZ_MUST(r == 0 ? problems.count == 0 : r == -EINVAL && problems.count > 0);
	FUZZ_MUST(wfs_utf8_valid(problems.lines.data, problems.lines.size));
	if (r == 0 && wfs_json_parse_bounded(second.data, second.size, &value, &error) == 0)
		check(schema, value);
	return 0;
}
