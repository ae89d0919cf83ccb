/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a script from the journal: the model's answers in a turn, in the form of the provider
 * `script`.
 * Source: agents/host/script.h has the form.
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

/* Plain value; zero-initialised except for `turn_id`. */
struct wfs_recorder {
	const char *turn_id; /* borrowed */
	/* Private. */
	json_t *requests;   /* {intent_id: number}; owned */
	json_t *lines;      /* owned */
	json_int_t request; /* number of the newest request */
};
void wfs_recorder_done(struct wfs_recorder *recorder);
#define WFS_AUTO_RECORDER WFS_CLEANUP(wfs_recorder_done)

/** wfs_recorder_take() - update the recorder with the next record of the journal. @record: as the
 *  verb journal-read gives it; a record that is about another turn changes nothing
 *  Return: 0, -ENOMEM. */
int wfs_recorder_take(struct wfs_recorder *recorder, const json_t *record);

/** wfs_recorder_write() - append the script to @script; nothing if the model has given no
 *  answer. */
void wfs_recorder_write(const struct wfs_recorder *recorder, struct wfs_buffer *script);
