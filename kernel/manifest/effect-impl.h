/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the table of effects: the shapes of receipts. */
#pragma once

#include "kernel/manifest/effect.h"

/** effect_receipt() - the shape of an effect's receipt. */
const struct wfs_shape *effect_receipt(enum wfs_effect effect);
