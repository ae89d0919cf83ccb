/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flags (1 byte), a pattern, 0xff, a text. A match must end within its limits, and a higher limit
 * must not change an answer.
 */
#include "tests/fuzz/fuzz.h"

#include "kernel/schema/pattern.h"

enum { LIMIT = 1 << 14 };

static void match(const char *pattern, size_t pattern_size, enum wfs_pattern_flags flags,
	const char *text, size_t size)
{
	WFS_AUTO_PATTERN struct wfs_pattern *compiled = NULL;
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = NULL;
	struct wfs_error error = {.code = WFS_OK};

	if (wfs_pattern_new(pattern, pattern_size, flags, &compiled, &error) < 0) {
		FUZZ_MUST(error.code == WFS_E_INVALID_PATTERN);
		fuzz_refused(&error);
		return;
	}
	FUZZ_MUST(wfs_matcher_new(&matcher) == 0);
	const int r = wfs_pattern_match(compiled, matcher, text, size, LIMIT);
	FUZZ_MUST(r == 1 || r == 0 || r == -EAGAIN || r == -E2BIG || r == -EINVAL);
	FUZZ_MUST((r == -EINVAL) == !wfs_utf8_valid(text, size));
	if (r == 0 || r == 1)
		FUZZ_MUST(wfs_pattern_match(compiled, matcher, text, size, 8 * LIMIT) == r);
	(void)wfs_pattern_at_start(compiled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const enum wfs_pattern_flags flags =
		fuzz_byte(&data, &size) & (WFS_PATTERN_AT_START | WFS_PATTERN_ECMA);
	const struct wfs_bytes first = fuzz_part(&data, &size);
	const struct wfs_bytes second = fuzz_part(&data, &size);
	char *const pattern = fuzz_text(first);
	char *const text = fuzz_text(second);

	match(pattern, first.size, flags, text, second.size);
	free(pattern);
	free(text);
	return 0;
}
