/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to a request as its client sees it; the owner or this process has made it. */
#pragma once

#include <jansson.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/error.h"

/* Plain value; zero-initialised is empty; release with wfs_answer_done(). */
struct wfs_answer {
	int status;             /* 0 or -errno */
	json_t *result;         /* owned; when status is 0 */
	json_t *meta;           /* height, hashes; owned; may be NULL */
	struct wfs_error error; /* when status is not 0 */
	json_t *details;        /* of the error; owned, may be NULL */
};
void wfs_answer_done(struct wfs_answer *answer);
#define WFS_AUTO_ANSWER WFS_CLEANUP(wfs_answer_done)

/** wfs_answer_read() - read an answer from the JSON object that the control socket sends for it
 *  @envelope: the object, borrowed; its `result` loses `meta`. If it is malformed, the answer is
 *  the error internal_error.
 *  @ret_answer: caller releases it with wfs_answer_done() */
void wfs_answer_read(json_t *envelope, struct wfs_answer *ret_answer);
