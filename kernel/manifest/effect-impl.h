/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the table of effects: the shapes of receipts. */
#pragma once

#include "kernel/manifest/effect.h"

/** effect_receipt() - Return: the shape of an effect's receipt, static. */
const struct wfs_form *effect_receipt(enum wfs_effect effect);
