/* SPDX-License-Identifier: Apache-2.0 */
/* Private to caps/session*.c. */
#pragma once

#include <pthread.h>

#include "caps/session.h"

/* Requests under way; see wfs_session_settle. */
struct session_pins {
	pthread_mutex_t lock;
	pthread_cond_t unpinned;
	/* Lock for the following: lock. */
	unsigned int generation;
	size_t counts[2]; /* of this generation and the one before, by their last bit */
};

struct wfs_session {
	struct wfs_authority *authority;
	struct wfs_holder *holder;
	struct session_pins *pins; /* owned */
};

/** session_rights() - those in force now, and the question's time. Return: 0, or -ENOMEM. */
int session_rights(const struct wfs_session *session, struct wfs_rights **ret_rights,
	struct wfs_question *question);

/** session_refused() - count a read that is refused. Return: 0, or the verdict's -errno. */
int session_refused(const struct wfs_session *session, const struct wfs_rights *rights,
	const struct wfs_question *question, const struct wfs_verdict *verdict,
	struct wfs_error *error);
