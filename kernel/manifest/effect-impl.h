/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the table of effects: the forms of receipts. */
#pragma once

#include "kernel/manifest/effect.h"

/** effect_receipt() - Return: the form that the payload of an effect's receipt has; static. */
const struct wfs_form *effect_receipt(enum wfs_effect effect);
