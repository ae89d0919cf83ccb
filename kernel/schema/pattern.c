/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles and matches patterns with PCRE2. */
#include "kernel/schema/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/buffer.h"
#include "kernel/schema/pattern-impl.h"

enum { MATCH_HEAP_MAX_KIB = 32 << 10 }; /* PCRE2's heap limit */

struct wfs_pattern {
	pcre2_code *code;
};

struct wfs_matcher {
	pcre2_match_data *data;
	pcre2_match_context *context;
};

/* --- patterns --- */

/* @offset_shown: the message may name PCRE2's byte offset,
 * because PCRE2 got the author's own text */
static int compile(struct wfs_bytes text, uint32_t options, bool offset_shown,
	pcre2_code **ret_code, struct wfs_error *error)
{
	/* A pattern must not change these options itself, e.g. by `(*UCP)`. */
	const uint32_t always = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
		PCRE2_NEVER_UCP | PCRE2_MATCH_UNSET_BACKREF;
	PCRE2_UCHAR reason[128] = "";
	size_t offset = 0;
	int number = 0;

	/* Not compiled to machine code: that would count the limits in another way on hosts that
	 * allow executable memory, and results must be the same on every machine. */
	*ret_code = pcre2_compile(text.data, text.size, always | options, &number, &offset, NULL);
	if (*ret_code)
		return 0;
	if (number == PCRE2_ERROR_HEAP_FAILED)
		return -ENOMEM;
	pcre2_get_error_message(number, reason, sizeof(reason));
	if (!offset_shown)
		return wfs_error_set(error, WFS_E_INVALID_PATTERN,
			"the pattern does not compile: %s", (const char *)reason);
	return wfs_error_set(error, WFS_E_INVALID_PATTERN,
		"the pattern does not compile: %s at byte %zu", (const char *)reason, offset);
}

int wfs_pattern_new(const char *text, size_t size, enum wfs_pattern_flags flags,
	struct wfs_pattern **ret_pattern, struct wfs_error *error)
{
	WFS_AUTO_PATTERN struct wfs_pattern *pattern = calloc(1, sizeof(*pattern));
	WFS_AUTO_BUFFER struct wfs_buffer translated = {0};
	const uint32_t anchored = flags & WFS_PATTERN_AT_START ? PCRE2_ANCHORED : 0;
	int r = 0;

	if (!pattern)
		return -ENOMEM;
	if (size > WFS_PATTERN_SIZE_MAX)
		return wfs_error_set(error, WFS_E_INVALID_PATTERN,
			"a pattern has at most %d bytes, this one has %zu", WFS_PATTERN_SIZE_MAX,
			size);
	if (flags & WFS_PATTERN_ECMA) {
		r = pattern_translate(text, size, &translated, error);
		if (!r)
			r = compile(wfs_bytes_text(wfs_buffer_text(&translated)), anchored, false,
				&pattern->code, error);
	} else {
		r = compile(WFS_BYTES(text, size), anchored | PCRE2_ALT_BSUX, true, &pattern->code,
			error);
	}
	if (r < 0)
		return r;
	*ret_pattern = WFS_STEAL(pattern);
	return 0;
}

void wfs_pattern_free(struct wfs_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_code_free(pattern->code);
	free(pattern);
}

bool wfs_pattern_at_start(const struct wfs_pattern *pattern)
{
	uint32_t options = 0;

	pcre2_pattern_info(pattern->code, PCRE2_INFO_ALLOPTIONS, &options);
	return (options & PCRE2_ANCHORED) != 0;
}

/* --- matching --- */

int wfs_matcher_new(struct wfs_matcher **ret_matcher)
{
	WFS_AUTO_MATCHER struct wfs_matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		return -ENOMEM;
	matcher->data = pcre2_match_data_create(1, NULL);
	matcher->context = pcre2_match_context_create(NULL);
	if (!matcher->data || !matcher->context)
		return -ENOMEM;
	pcre2_set_depth_limit(matcher->context, WFS_PATTERN_MATCH_DEPTH_MAX);
	pcre2_set_heap_limit(matcher->context, MATCH_HEAP_MAX_KIB);
	*ret_matcher = WFS_STEAL(matcher);
	return 0;
}

void wfs_matcher_free(struct wfs_matcher *matcher)
{
	if (!matcher)
		return;
	pcre2_match_data_free(matcher->data);
	pcre2_match_context_free(matcher->context);
	free(matcher);
}

/* Most texts are ASCII, and checking that is faster than checking for UTF-8. */
static bool is_ascii(const char *text, size_t size)
{
	uint64_t bits = 0;
	uint64_t word;

	for (; size >= sizeof(word); text += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		bits |= word;
	}
	for (; size > 0; text++, size--)
		bits |= (unsigned char)*text;
	return (bits & UINT64_C(0x8080808080808080)) == 0;
}

int wfs_pattern_match(const struct wfs_pattern *pattern, struct wfs_matcher *matcher,
	const char *text, size_t size, uint32_t limit)
{
	pcre2_set_match_limit(matcher->context, limit);
	const uint32_t options = is_ascii(text, size) ? PCRE2_NO_UTF_CHECK : 0;
	const int r = pcre2_match(
		pattern->code, (PCRE2_SPTR)text, size, 0, options, matcher->data, matcher->context);

	if (r >= 0)
		return 1;
	switch (r) {
	case PCRE2_ERROR_NOMATCH:
		return 0;
	case PCRE2_ERROR_MATCHLIMIT:
		return -EAGAIN;
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
		return -E2BIG;
	case PCRE2_ERROR_NOMEMORY:
		return -ENOMEM;
	default:
		return -EINVAL;
	}
}
