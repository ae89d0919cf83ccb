/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of cells: the value of an event gives the key of the cell that it changes.
 *
 * A key is valid UTF-8: text as it is, an integer in decimal, any other JSON value as its
 * canonical text. Its file name may have WFS_NAME_MAX bytes (kernel/base/encode.h).
 * Source: worldfs-lua(7).
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/** wfs_key_append() - append to @buffer the key that the JSON @value gives
 *  Return: 0, -EFBIG (key_too_long: the key's file name is too long; the whole key was appended),
 *  -ENOMEM. */
int wfs_key_append(const json_t *value, struct wfs_buffer *buffer, struct wfs_error *error);

/** wfs_key_member() - find a member of an event's value. @event: the value; @key_field: dotted path
 *  of the member, e.g. `order.id`. Return: borrowed from @event; NULL: no such member. */
json_t *wfs_key_member(const json_t *event, const char *key_field);

/** wfs_key_from_event() - append to @buffer the key that a member of an event's value gives
 *  @event: the event's value. @key_field: dotted path of the member, e.g. `order.id`
 *  Return: 0, -EINVAL (invalid_argument: the value has no such member), or as wfs_key_append(). */
int wfs_key_from_event(const json_t *event, const char *key_field, struct wfs_buffer *buffer,
	struct wfs_error *error);
