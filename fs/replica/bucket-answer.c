/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service's answers mean: by the code in their XML, otherwise by their status.
 *
 * The XML is not parsed. Code and message are what lies between the first tags of these names, with
 * a bound, and cleaned for terminals; no other part of an answer is shown.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html; for codes that AWS
 * does not have, Ceph's rgw_common.cc and MinIO's cmd/api-errors.go.
 */
#include "fs/replica/bucket-impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"

enum {
	CODE_MAX = 64,     /* bytes */
	MESSAGE_MAX = 160, /* bytes that are shown */
	HINT_SIZE = 112,
	SKEW_MIN_S = 300, /* from which on a clock is named; AWS refuses 900 s */
	NS_PER_S = 1000000000,
};

/* One of code and status is set. */
static const struct rule {
	const char *code;
	long status;
	enum wfs_error_code ours;
	bool again;
} rules[] = {
	{"NoSuchKey", 0, WFS_E_NOT_FOUND, false},
	{"NoSuchBucket", 0, WFS_E_INVALID_ARGUMENT, false},
	{"AuthorizationHeaderMalformed", 0, WFS_E_NOT_AUTHORIZED, false}, /* another region */
	{"InvalidAccessKeyId", 0, WFS_E_NOT_AUTHORIZED, false},
	{"ExpiredToken", 0, WFS_E_NOT_AUTHORIZED, false},
	{"InvalidToken", 0, WFS_E_NOT_AUTHORIZED, false},
	{"EntityTooLarge", 0, WFS_E_TOO_LARGE, false},
	{"QuotaExceeded", 0, WFS_E_STORE_FULL, false}, /* Ceph, with 403 */
	{"XMinioAdminBucketQuotaExceeded", 0, WFS_E_STORE_FULL, false},
	{"XMinioStorageFull", 0, WFS_E_STORE_FULL, false},
	{"XAmzContentSHA256Mismatch", 0, WFS_E_HASH_MISMATCH, false},
	{"BadDigest", 0, WFS_E_HASH_MISMATCH, false},
	{"SlowDown", 0, WFS_E_UNAVAILABLE, true},
	{"OperationAborted", 0, WFS_E_UNAVAILABLE, true}, /* another put of this object */
	{"RequestTimeout", 0, WFS_E_UNAVAILABLE, true},   /* too few bytes came, with 400 */
	{NULL, 401, WFS_E_NOT_AUTHORIZED, false},
	{NULL, 403, WFS_E_NOT_AUTHORIZED, false},
	{NULL, 413, WFS_E_TOO_LARGE, false},
	{NULL, 429, WFS_E_UNAVAILABLE, true},
	{NULL, 500, WFS_E_TIMEOUT, true},
	{NULL, 502, WFS_E_TIMEOUT, true},
	{NULL, 503, WFS_E_UNAVAILABLE, true},
	{NULL, 504, WFS_E_TIMEOUT, true},
	{NULL, 507, WFS_E_STORE_FULL, false},
};

/* Finds the text between two tags. Return: empty if one is missing. */
static struct wfs_bytes element(struct wfs_bytes body, const char *begin, const char *end)
{
	const char *const from =
		body.size > 0 ? memmem(body.data, body.size, begin, strlen(begin)) : NULL;
	const char *const stop = from ? (const char *)body.data + body.size : NULL;
	const char *const text = from ? from + strlen(begin) : NULL;
	const char *const to = text ? memmem(text, (size_t)(stop - text), end, strlen(end)) : NULL;

	return to ? WFS_BYTES(text, (size_t)(to - text)) : WFS_BYTES(NULL, 0);
}

/* @ret_code: "" if the answer has none */
static void read_code(struct wfs_bytes body, char ret_code[static CODE_MAX + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	const struct wfs_bytes code = element(body, "<Code>", "</Code>");

	*ret_code = '\0';
	if (code.size == 0 || code.size > CODE_MAX)
		return;
	memcpy(ret_code, code.data, code.size);
	ret_code[code.size] = '\0';
	if (strspn(ret_code, letters) != code.size)
		*ret_code = '\0';
}

static void read_message(struct wfs_bytes body, char ret_message[static MESSAGE_MAX + 1])
{
	const struct wfs_bytes message = element(body, "<Message>", "</Message>");
	size_t size = message.size < MESSAGE_MAX ? message.size : MESSAGE_MAX;

	if (size > 0)
		memcpy(ret_message, message.data, size);
	if (size < message.size)
		size = wfs_utf8_cut(ret_message, size);
	wfs_line_clean(ret_message, size);
	ret_message[size] = '\0';
}

static const struct rule *find_rule(const char *code, long status)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(rules); i++)
		if (rules[i].code ? strcmp(rules[i].code, code) == 0 : rules[i].status == status)
			return &rules[i];
	return NULL;
}

static enum wfs_error_code by_status(const struct wfs_bucket_answer *answer, const char *code)
{
	if (answer->head && answer->status == 404)
		return WFS_E_NOT_FOUND;
	if (answer->status >= 300 && answer->status < 400)
		return WFS_E_INVALID_ARGUMENT;
	return answer->status >= 400 && answer->status < 500 && (*code || answer->head)
		? WFS_E_INVALID_ARGUMENT
		: WFS_E_INTERNAL_ERROR;
}

/* The reason, if the answer has no code. */
static const char *reason_of(enum wfs_error_code ours, bool head)
{
	if (head)
		return "an answer to HEAD has no reason";
	return ours == WFS_E_INTERNAL_ERROR ? "expected an answer of S3, got another one"
					    : "the answer has no code of S3";
}

/* Writes what the service's message leaves out. */
static void write_hint(const struct wfs_bucket_answer *answer, enum wfs_error_code ours,
	char *ret_hint, size_t size)
{
	const int64_t skew_s = answer->clock_s - wfs_clock_realtime_ns() / NS_PER_S;

	*ret_hint = '\0';
	if (answer->status >= 300 && answer->status < 400)
		snprintf(ret_hint, size,
			" (redirects are not followed: the URL must have the host of the bucket's "
			"own region)");
	else if (ours == WFS_E_NOT_AUTHORIZED && answer->clock_s >= 0 &&
		(skew_s > SKEW_MIN_S || skew_s < -SKEW_MIN_S))
		snprintf(ret_hint, size, " (the service's clock is %" PRId64 " s %s than this one)",
			skew_s < 0 ? -skew_s : skew_s, skew_s < 0 ? "earlier" : "later");
}

int wfs_bucket_refused(const struct wfs_bucket_answer *answer, const char *what, bool *ret_again,
	struct wfs_error *error)
{
	char code[CODE_MAX + 1];
	char message[MESSAGE_MAX + 1];
	char hint[HINT_SIZE];

	read_code(answer->body, code);
	read_message(answer->body, message);
	const struct rule *const rule = find_rule(code, answer->status);
	const enum wfs_error_code ours = rule ? rule->ours : by_status(answer, code);

	*ret_again = rule && rule->again;
	write_hint(answer, ours, hint, sizeof(hint));
	if (!*code)
		return wfs_error_set(error, ours, "%s: status %ld: %s%s", what, answer->status,
			reason_of(ours, answer->head), hint);
	return wfs_error_set(
		error, ours, "%s: %s%s%s%s", what, code, *message ? ": " : "", message, hint);
}
