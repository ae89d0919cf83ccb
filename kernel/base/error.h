/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The closed table of errors.
 *
 * Every failure that a user or a program can see carries one code of WFS_ERRORS. The table gives
 * each code its name on the wire, its errno, its category and whether trying again can help;
 * socket, command line, control files and documentation are all generated from it. A code that is
 * not in the table cannot be expressed.
 * Source: docs/design.md §3.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* X(constant, wire name, errno, category, retriable, default text) */
#define WFS_ERRORS(X)                                                                             \
	X(INVALID_JSON, "invalid_json", EINVAL, "validation", false, "not valid JSON")            \
	X(INVALID_REQUEST, "invalid_request", EINVAL, "validation", false, "malformed request")   \
	X(INVALID_ARGUMENT, "invalid_argument", EINVAL, "validation", false, "invalid argument")  \
	X(MISSING_ARGUMENT, "missing_argument", EINVAL, "validation", false, "argument missing")  \
	X(INVALID_CONSISTENCY, "invalid_consistency", EINVAL, "validation", false,                \
		"expected head, exact:<height> or at_least:<height>")                             \
	X(UNKNOWN_METHOD, "unknown_method", EINVAL, "validation", false, "unknown method")        \
	X(SYNTAX_ERROR, "syntax_error", EINVAL, "validation", false, "code does not compile")     \
	X(SCHEMA_VIOLATION, "schema_violation", EINVAL, "validation", false,                      \
		"value does not fit its schema")                                                  \
	X(INVALID_QUERY_TYPE, "invalid_query_type", EINVAL, "validation", false,                  \
		"unknown query type")                                                             \
	X(INVALID_PARAM, "invalid_param", EINVAL, "validation", false, "unknown parameter")       \
	X(MISSING_PARAM, "missing_param", EINVAL, "validation", false, "parameter missing")       \
	X(INVALID_PARAM_TYPE, "invalid_param_type", EINVAL, "validation", false,                  \
		"parameter of the wrong type")                                                    \
	X(INVALID_PARAM_VALUE, "invalid_param_value", EINVAL, "validation", false,                \
		"parameter out of range")                                                         \
	X(INVALID_PATTERN, "invalid_pattern", EINVAL, "validation", false,                        \
		"pattern does not compile")                                                       \
	X(INVALID_TYPE, "invalid_type", EINVAL, "validation", false, "not executable")            \
	X(NOT_FOUND_IN_CONTENT, "not_found_in_content", EINVAL, "validation", false,              \
		"text does not occur in the content")                                             \
	X(NOT_UNIQUE, "not_unique", EINVAL, "validation", false, "text occurs more than once")    \
	X(NO_CHANGE, "no_change", EINVAL, "validation", false, "nothing would change")            \
	X(DEPTH_EXCEEDED, "depth_exceeded", EINVAL, "validation", false, "nested too deeply")     \
	X(CYCLE, "cycle", EINVAL, "validation", false, "dependency cycle")                        \
	X(NOT_FOUND, "not_found", ENOENT, "resource", false, "does not exist")                    \
	X(REDUCER_MISSING, "reducer_missing", ENOENT, "resource", false, "no such reducer")       \
	X(HEIGHT_UNAVAILABLE, "height_unavailable", ENOENT, "resource", false,                    \
		"that height is not retained or not reached yet")                                 \
	X(DELETED, "deleted", ENOENT, "resource", false, "was deleted")                           \
	X(ALREADY_EXISTS, "already_exists", EEXIST, "resource", false, "exists already")          \
	X(BUSY, "busy", EBUSY, "system", true, "in use by another process")                       \
	X(CONFLICT, "conflict", ESTALE, "resource", true, "the base is stale")                    \
	X(READ_ONLY, "read_only", EROFS, "permission", false, "read-only")                        \
	X(NOT_AUTHORIZED, "not_authorized", EACCES, "permission", false, "no grant covers this")  \
	X(POLICY_DENIED, "policy_denied", EACCES, "permission", false, "denied by policy")        \
	X(EXPIRED, "expired", EACCES, "permission", false, "the grant has expired")               \
	X(INSUFFICIENT_FUNDS, "insufficient_funds", EDQUOT, "resource", true, "not enough scrip") \
	X(QUOTA_EXCEEDED, "quota_exceeded", EDQUOT, "resource", true, "quota exceeded")           \
	X(TOO_LARGE, "too_large", EFBIG, "validation", false, "too large")                        \
	X(KEY_TOO_LONG, "key_too_long", EFBIG, "validation", false,                               \
		"the key's file name would exceed 255 bytes")                                     \
	X(TIMEOUT, "timeout", ETIMEDOUT, "execution", true, "timed out")                          \
	X(CANCELLED, "cancelled", EINTR, "execution", true, "cancelled")                          \
	X(RUNTIME_ERROR, "runtime_error", EIO, "execution", false, "code failed")                 \
	X(HASH_MISMATCH, "hash_mismatch", EIO, "system", false,                                   \
		"stored bytes do not have their hash")                                            \
	X(EFFECT_FAILED, "effect_failed", EIO, "execution", true, "effect failed")                \
	X(EFFECT_REFUSED, "effect_refused", EIO, "execution", false,                              \
		"the effect was refused, and would be again")                                     \
	X(INTERNAL_ERROR, "internal_error", EIO, "system", false, "internal error")               \
	X(STORE_FULL, "store_full", ENOSPC, "system", true, "no space left in the store")         \
	X(OVERLOADED, "overloaded", EAGAIN, "system", true, "too many requests in the queue")     \
	X(UNAVAILABLE, "unavailable", EAGAIN, "system", true,                                     \
		"something that the request needs cannot be had now")                             \
	X(NOT_ENABLED, "not_enabled", EOPNOTSUPP, "system", false, "not enabled in this world")   \
	X(CODE_CRASHED, "code_crashed", EIO, "system", false,                                     \
		"the process that runs code ended while it ran this code")                        \
	X(CODE_QUARANTINED, "code_quarantined", EACCES, "permission", false,                      \
		"this code ended the process that runs code too often")                           \
	X(UNKNOWN, "unknown", ETIMEDOUT, "system", false, "nobody knows yet whether it was done") \
	X(DIVERGED, "diverged", EIO, "system", false, "this node's world differs from the log")   \
	X(FOLD_VERSION, "fold_version", EINVAL, "system", false,                                  \
		"the owner of the world folds with another version")                              \
	X(FORMAT_OLDER, "format_older", EINVAL, "system", false,                                  \
		"the world was made by an older version")                                         \
	X(FORMAT_NEWER, "format_newer", EINVAL, "system", false,                                  \
		"the world was made by a newer version")

enum wfs_error_code {
	WFS_OK = 0,
#define WFS_ERROR_ENUM(constant, name, number, category, retriable, text) WFS_E_##constant,
	WFS_ERRORS(WFS_ERROR_ENUM)
#undef WFS_ERROR_ENUM
		WFS_ERROR_CODE_COUNT
};

enum { WFS_ERROR_MESSAGE_SIZE = 512 };

/* A failure, for a user: plain value, no ownership. `message` is UTF-8, cut between characters. */
struct wfs_error {
	enum wfs_error_code code;
	char message[WFS_ERROR_MESSAGE_SIZE];
};

/* One row of the table: plain value with static lifetime. */
struct wfs_error_info {
	const char *name;     /* wire name, e.g. "not_found" */
	int number;           /* positive errno */
	const char *category; /* validation | permission | resource | execution | system */
	bool retriable;
	const char *text; /* what the code means, for messages without a better text */
};

/** wfs_error_info() - find the row of an error code in the table
 *  @code: any value; a value outside the table gives the row of internal_error
 *  Return: static storage, never NULL. */
const struct wfs_error_info *wfs_error_info(enum wfs_error_code code);

/** wfs_error_find() - Return: the code with this wire name, or WFS_OK for an unknown name. */
enum wfs_error_code wfs_error_find(const char *name);

/** wfs_error_set() - fill @error with a code and a message, and return the code's errno
 *  @error: may be NULL when the caller does not want the text
 *  @format: what was expected, what came and where; printf style
 *  Return: the negative errno of @code, so that callers write `return wfs_error_set(…);`. */
int wfs_error_set(struct wfs_error *error, enum wfs_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** wfs_error_from_errno() - fill @error, which may be NULL, for a failed system call
 *  @number: negative errno. Some have a code of their own (EBUSY: busy; ENOSPC: store_full; …), EIO
 *  with a note (damage.h) is hash_mismatch, and all others are internal_error.
 *  @format: what was being done, e.g. "open 'data.mdb'"; the note or the system's reason is
 *  appended. Return: @number unchanged. */
int wfs_error_from_errno(struct wfs_error *error, int number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** wfs_trace() - write file and line to the debug log if @r is negative. Return: @r. */
#define wfs_trace(r)                                               \
	({                                                         \
		int traced_ = (r);                                 \
		if (traced_ < 0)                                   \
			wfs_trace_at(traced_, __FILE__, __LINE__); \
		traced_;                                           \
	})
int wfs_trace_at(int r, const char *file, int line);

/** wfs_require() - end the process if @condition is false, also in release builds
 *  For conditions that the program itself guarantees; wrong input is refused with an error. */
#define wfs_require(condition) \
	((condition) ? (void)0 : wfs_require_failed(#condition, __FILE__, __LINE__))
_Noreturn void wfs_require_failed(const char *condition, const char *file, int line);

/** wfs_read_describe() - fill @error for a read that failed with @r, a negative errno
 *  @error: not NULL; zeroed by the caller before the read. If the read has filled it, this function
 *  leaves it unchanged. Otherwise -EIO becomes hash_mismatch, with this thread's note (damage.h) or
 *  that code's default text, and another @r the code that wfs_error_from_errno() gives it.
 *  Return: @r. */
int wfs_read_describe(struct wfs_error *error, int r);
