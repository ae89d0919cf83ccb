/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's part of the door: open intents, commits that change turns and plans, events of turns,
 * and embeddings. An intent names what is asked for, and for which principal; everything else is read
 * and done with a session of that principal.
 */
#pragma once

#include "caps/authority.h"

/* The driver of a world. Zero-initialise, set the callbacks, and call wfs_driving_init(). */
struct wfs_driving {
	/* A cell has changed, and every mount shows that. @key: borrowed. Thread: the publisher's. */
	void (*intent_changed)(struct wfs_driving *driving, struct wfs_bytes key);
	void (*owner_changed)(
		struct wfs_driving *driving, struct wfs_bytes key); /* turn, chat, plan */

	/* Private. */
	struct wfs_observer observer;
	struct wfs_world *world;
	uint32_t intents_id; /* of the reducer sys.intent */
	uint32_t turns_id;   /* of sys.turn */
	uint32_t chats_id;   /* of sys.chat_message */
	uint32_t plans_id;   /* of sys.plan */
};

/** wfs_driving_init() - @authority: kept. Return: 0, -EIO, -ENOMEM. */
int wfs_driving_init(
	struct wfs_driving *driving, struct wfs_authority *authority, struct wfs_error *error);

/** wfs_driving_begin() - call the callbacks from the next commit on, until wfs_driving_end() returns. */
void wfs_driving_begin(struct wfs_driving *driving);
void wfs_driving_end(struct wfs_driving *driving);

/** wfs_driving_intents() - the ids of all open intents. @ret_ids: array; caller owns it */
int wfs_driving_intents(
	const struct wfs_driving *driving, json_t **ret_ids, struct wfs_error *error);

/** wfs_driving_intent() - the cell of an intent; caller owns it. @ret_intent: NULL: it is not open */
int wfs_driving_intent(const struct wfs_driving *driving, const char *intent_id,
	json_t **ret_intent, struct wfs_error *error);

/** wfs_driving_height() - of the head. */
uint64_t wfs_driving_height(const struct wfs_driving *driving);

/**
 * wfs_driving_events() - call @event for each event of a turn, in the order of the journal
 * @height: of the first record that is looked at
 * @event: gets the number of the record, and the event's value, borrowed
 * Return: the height up to which records were looked at.
 */
uint64_t wfs_driving_events(const struct wfs_driving *driving, uint64_t height,
	void (*event)(void *context, uint64_t seq, const json_t *value), void *context);

/** wfs_driving_set_embedder() - see wfs_world_set_embedder(), as for the next two. */
void wfs_driving_set_embedder(const struct wfs_driving *driving, struct wfs_embedder *embedder);
void wfs_driving_embedded(
	const struct wfs_driving *driving, struct wfs_request *request, json_t *embedding);
void wfs_driving_unembedded(struct wfs_request *request, const struct wfs_error *error);
