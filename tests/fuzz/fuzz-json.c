/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: a text that parses must have a canonical text, which parses to an equal value and is
 * written unchanged. The bounded parser must give an equal value, and the count before parsing must
 * not exceed the number of values.
 */
#include "tests/fuzz/fuzz.h"

#include "kernel/base/json.h"

static size_t count_values(const json_t *json)
{
	size_t count = 1;
	size_t i;
	const char *key;
	json_t *value;

	json_array_foreach(json, i, value) {
		count += count_values(value);
	}
	json_object_foreach((json_t *)(uintptr_t)json, key, value) {
		count += count_values(value);
	}
	return count;
}

static void check_bounded(const char *text, size_t size, const json_t *json)
{
	WFS_AUTO_JSON json_t *bounded = NULL;
	struct wfs_error error = {.code = WFS_OK};
	const size_t count = count_values(json);

	FUZZ_MUST(wfs_json_count(text, size) >= count);
	if (wfs_json_parse_bounded(text, size, &bounded, &error) == 0)
		FUZZ_MUST(json_equal(bounded, json));
	else
		FUZZ_MUST(error.code == WFS_E_TOO_LARGE &&
			wfs_json_count(text, size) > WFS_JSON_VALUES_MAX);
}

static void check_canonical(const char *text, size_t size, const json_t *json)
{
	WFS_AUTO_BUFFER struct wfs_buffer canonical = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer again = {.size = 0};
	WFS_AUTO_JSON json_t *parsed = NULL;

	wfs_json_write(json, &canonical);
	FUZZ_MUST(wfs_buffer_check(&canonical) == 0);
	FUZZ_MUST(wfs_json_is_canonical(wfs_buffer_bytes(&canonical)));
	FUZZ_MUST(wfs_json_is_canonical(WFS_BYTES(text, size)) ==
		wfs_bytes_equal(WFS_BYTES(text, size), wfs_buffer_bytes(&canonical)));
	FUZZ_MUST(wfs_json_parse(canonical.data, canonical.size, &parsed, NULL) == 0);
	FUZZ_MUST(json_equal(json, parsed));
	wfs_json_write(parsed, &again);
	FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&canonical), wfs_buffer_bytes(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_json_parse((const char *)data, size, &json, &error) < 0) {
		fuzz_refused(&error);
		FUZZ_MUST(!wfs_json_is_canonical(WFS_BYTES(data, size)));
		return 0;
	}
	check_bounded((const char *)data, size, json);
	check_canonical((const char *)data, size, json);
	return 0;
}
