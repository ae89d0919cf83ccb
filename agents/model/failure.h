/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a call of a model failed.
 *
 * Texts of servers are only handled here. Each is put on one line of valid UTF-8, the secret (the
 * API key, which some servers quote) is replaced by `***`, and then the text is cut: the result
 * contains no part of the secret.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

/* Codes of failures that no server reported. Servers have codes of their own, which are kept,
 * except that all codes for a context that is too long become the first one here. */
#define WFS_MODEL_CODE_CONTEXT "context_length_exceeded"
#define WFS_MODEL_CODE_CONNECT_TIMEOUT "connect_timeout"
#define WFS_MODEL_CODE_FIRST_BYTE_TIMEOUT "first_byte_timeout"
#define WFS_MODEL_CODE_IDLE_TIMEOUT "idle_timeout"
#define WFS_MODEL_CODE_TOTAL_TIMEOUT "total_timeout"
#define WFS_MODEL_CODE_UNREACHABLE "unreachable" /* no address, or no server at it */
#define WFS_MODEL_CODE_LOST "connection_lost"
#define WFS_MODEL_CODE_TLS "tls"
#define WFS_MODEL_CODE_TRANSPORT "transport"
#define WFS_MODEL_CODE_NO_MEMORY "out_of_memory"
#define WFS_MODEL_CODE_TOO_LARGE "too_large"
#define WFS_MODEL_CODE_INVALID "invalid_answer"
#define WFS_MODEL_CODE_INCOMPLETE "incomplete_answer" /* it breaks off */
#define WFS_MODEL_CODE_NO_CHOICES "no_choices"

enum wfs_model_failure_kind {
	WFS_MODEL_FAILURE_TRANSPORT, /* no answer came, or only a part of one */
	WFS_MODEL_FAILURE_TIMEOUT,
	WFS_MODEL_FAILURE_HTTP,   /* a status other than 2xx */
	WFS_MODEL_FAILURE_ANSWER, /* 2xx, with an error in it, or not what was requested */
	WFS_MODEL_FAILURE_TOO_LARGE,
};

enum {
	WFS_MODEL_CODE_SIZE = 64,
	WFS_MODEL_MESSAGE_SIZE = 513, /* 512 bytes and the NUL */
};

/* Plain value. All texts end with NUL, are one line of valid UTF-8, and "" where nothing came. */
struct wfs_model_failure {
	enum wfs_model_failure_kind kind;
	int status; /* HTTP; 0: none came */
	char code[WFS_MODEL_CODE_SIZE];
	char type[WFS_MODEL_CODE_SIZE]; /* from the server */
	char message[WFS_MODEL_MESSAGE_SIZE];
	struct wfs_bytes partial; /* of a stream that broke off; borrowed until `done` returns */
	const char *secret;       /* must not be in any text; borrowed, NULL: no secret */
};

/** wfs_model_mask() - append @text to @buffer, with `***` in place of @secret. @secret: NULL or
 *  "": the text is appended as it is. */
void wfs_model_mask(struct wfs_buffer *buffer, struct wfs_bytes text, const char *secret);

/** wfs_model_failure_begin() - clear all members of a failure except the secret. */
void wfs_model_failure_begin(struct wfs_model_failure *failure);

/** wfs_model_failure_text() - write a server's text into a member of @failure: cleaned, without the
 *  secret, and cut to fit; if memory is lacking, "" is written
 *  @text: from the server
 *  @target: the member, of @target_size bytes */
void wfs_model_failure_text(const struct wfs_model_failure *failure, struct wfs_bytes text,
	char *target, size_t target_size);

/** wfs_model_failure_set() - set kind, code and message of a failure
 *  @format: what was expected and what came, printf style
 *  Return: -EBADMSG, so that callers write `return wfs_model_failure_set(…);`. */
int wfs_model_failure_set(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *format, ...) __attribute__((format(printf, 4, 5)));

/** wfs_model_failure_quote() - set kind and code of a failure, and a message that consists of
 *  @expected and the beginning of @came. Return: -EBADMSG. */
int wfs_model_failure_quote(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *expected, struct wfs_bytes came);

/** wfs_model_failure_refuse() - fill a failure for an answer with a wrong part: its kind becomes
 *  WFS_MODEL_FAILURE_ANSWER, its code WFS_MODEL_CODE_INVALID. @expected: which part, and its form;
 *  @came: the part; NULL: the answer lacks it. Return: -EBADMSG. */
int wfs_model_failure_refuse(
	struct wfs_model_failure *failure, const char *expected, const json_t *came);

/** wfs_model_failure_find() - find an error that a parsed answer reports, in any known form
 *  @answer: body of a 2xx answer, or an event of a stream
 *  Return: 0 (it reports none), or -EBADMSG with @failure filled. */
int wfs_model_failure_find(struct wfs_model_failure *failure, const json_t *answer);

/** wfs_model_failure_read() - fill a failure from an answer with a status other than 2xx
 *  @failure: the caller has set its status and secret
 *  @body: of the answer; any bytes
 *  Return: -EBADMSG. */
int wfs_model_failure_read(struct wfs_model_failure *failure, struct wfs_bytes body);
