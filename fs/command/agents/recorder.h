/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script out of the journal: what a model answered in a turn, as the provider `script` takes it.
 * Source: agents/host/script.h has the form.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/* Plain value; zero-initialised but for `turn_id` has seen nothing. */
struct wfs_recorder {
	const char *turn_id;
	/* Private. */
	json_t *requests;   /* number by intent_id; owned */
	json_t *lines;      /* owned */
	json_int_t request; /* number of the newest */
};
void wfs_recorder_done(struct wfs_recorder *recorder);
#define WFS_AUTO_RECORDER WFS_CLEANUP(wfs_recorder_done)

/** wfs_recorder_take() - look at the next record of the journal. Return: 0, -ENOMEM. */
int wfs_recorder_take(struct wfs_recorder *recorder, const json_t *record);

/** wfs_recorder_write() - append the script; nothing when no model has answered. */
void wfs_recorder_write(const struct wfs_recorder *recorder, struct wfs_buffer *script);
