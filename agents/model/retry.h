/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a request is sent again, and how much later, by its outcome alone.
 *
 * Repeating is safe because no tool has run yet. It is done for the statuses 408, 409, 429 and
 * those from 500 on (but not 501, which will not change), and for failures of the transport.
 * The header `x-should-retry` overrides these rules; but after the error insufficient_quota a
 * request is never repeated. Servers say how long to wait; if a server asks for a longer wait than
 * the bound, the request is not sent again. Source: the policy of OpenAI's own clients.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct wfs_model_failure;

/* The outcome of an attempt. Plain value; texts are borrowed, NULL: absent. */
struct wfs_retry_input {
	unsigned int attempt; /* 1: the first has failed */
	unsigned int attempt_max;
	bool lost;                  /* the transport failed, in a way that may not happen again */
	int status;                 /* HTTP; 0: none came */
	const char *code;           /* in the error body */
	const char *type;           /* in the error body */
	const char *should_retry;   /* value of a header, as the next two */
	const char *retry_after_ms; /* a number of milliseconds */
	const char *retry_after;    /* a number of seconds, or a date */
	int64_t now_s;              /* since 1970, for dates */
	int64_t wait_max_ms;        /* longest wait that a server may ask for */
	double random;              /* 0 up to, not including, 1 */
};

/* Plain value. */
struct wfs_retry {
	bool again;
	int64_t wait_ms;  /* before the next attempt */
	int64_t asked_ms; /* the wait that the server asked for, if it is too long; otherwise 0 */
};

/** wfs_retry_decide() - decide whether a failed request is sent again, and after which wait. */
struct wfs_retry wfs_retry_decide(const struct wfs_retry_input *input);

/** wfs_retry_may_pass() - may a request that failed in this way succeed when it is sent again? */
bool wfs_retry_may_pass(const struct wfs_model_failure *failure);
