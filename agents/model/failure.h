/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a call of a model failed.
 *
 * Texts of servers come in here and nowhere else. Each is put on one line of valid UTF-8, the secret
 * (the API key, which some servers quote) is replaced by `***`, and only then is it cut: what is left
 * holds no part of the secret.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

/* Codes of what no server said. Those of servers are theirs, but for the context length. */
#define WFS_MODEL_CODE_CONTEXT "context_length_exceeded"
#define WFS_MODEL_CODE_CONNECT_TIMEOUT "connect_timeout"
#define WFS_MODEL_CODE_FIRST_BYTE_TIMEOUT "first_byte_timeout"
#define WFS_MODEL_CODE_IDLE_TIMEOUT "idle_timeout"
#define WFS_MODEL_CODE_TOTAL_TIMEOUT "total_timeout"
#define WFS_MODEL_CODE_UNREACHABLE "unreachable" /* no address, or nobody there */
#define WFS_MODEL_CODE_LOST "connection_lost"
#define WFS_MODEL_CODE_TLS "tls"
#define WFS_MODEL_CODE_TRANSPORT "transport"
#define WFS_MODEL_CODE_NO_MEMORY "out_of_memory"
#define WFS_MODEL_CODE_TOO_LARGE "too_large"
#define WFS_MODEL_CODE_INVALID "invalid_answer"
#define WFS_MODEL_CODE_INCOMPLETE "incomplete_answer" /* it ends before its end */
#define WFS_MODEL_CODE_NO_CHOICES "no_choices"

enum wfs_model_failure_kind {
	WFS_MODEL_FAILURE_TRANSPORT, /* no answer came, or a part of one */
	WFS_MODEL_FAILURE_TIMEOUT,
	WFS_MODEL_FAILURE_HTTP,   /* a status other than 2xx */
	WFS_MODEL_FAILURE_ANSWER, /* 2xx, with an error in it or something else than asked for */
	WFS_MODEL_FAILURE_TOO_LARGE,
};

enum {
	WFS_MODEL_CODE_SIZE = 64,
	WFS_MODEL_REQUEST_ID_SIZE = 128,
	WFS_MODEL_MESSAGE_SIZE = 513, /* 512 bytes and the NUL */
};

/* Plain value. All texts end with NUL, are one line of valid UTF-8, and "" where nothing came. */
struct wfs_model_failure {
	enum wfs_model_failure_kind kind;
	int status; /* HTTP; 0: none came */
	char code[WFS_MODEL_CODE_SIZE];
	char type[WFS_MODEL_CODE_SIZE]; /* as the server says */
	char message[WFS_MODEL_MESSAGE_SIZE];
	char request_id[WFS_MODEL_REQUEST_ID_SIZE]; /* the server's */
	int64_t retry_after_ms; /* that the server asked for, when that is too long to wait; else 0 */
	struct wfs_bytes partial; /* text of a stream that broke; borrowed, see who hands it out */
	const char *secret;       /* what no text may hold; borrowed, NULL: nothing */
};

/** wfs_model_failure_begin() - forget everything but the secret. */
void wfs_model_failure_begin(struct wfs_model_failure *failure);

/**
 * wfs_model_failure_text() - put a text that a server sent into one of the members
 * @target: of @failure, @target_size bytes
 */
void wfs_model_failure_text(const struct wfs_model_failure *failure, struct wfs_bytes text,
	char *target, size_t target_size);

/**
 * wfs_model_failure_set() - kind, code and message
 * @format: what was expected and what came, printf style
 * Return: -EBADMSG, so that callers write `return wfs_model_failure_set(…);`.
 */
int wfs_model_failure_set(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *format, ...) __attribute__((format(printf, 4, 5)));

/** wfs_model_failure_quote() - the same; the message is @expected and the beginning of @came. */
int wfs_model_failure_quote(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *expected, struct wfs_bytes came);

/** wfs_model_failure_refuse() - the same for a part of an answer. @came: NULL: it is not there */
int wfs_model_failure_refuse(
	struct wfs_model_failure *failure, const char *expected, const json_t *came);

/**
 * wfs_model_failure_find() - the error that a parsed answer reports, in any shape known
 * @answer: body of a 2xx answer, or an event of a stream
 * Return: 0 (it reports none), or -EBADMSG with @failure filled.
 */
int wfs_model_failure_find(struct wfs_model_failure *failure, const json_t *answer);

/**
 * wfs_model_failure_read() - what an answer with another status than 2xx says
 * @failure: its status is set
 * @body: any bytes
 * Return: -EBADMSG.
 */
int wfs_model_failure_read(struct wfs_model_failure *failure, struct wfs_bytes body);
