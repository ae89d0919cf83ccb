/* SPDX-License-Identifier: Apache-2.0 */
/* The table of effect kinds. */
#include "kernel/manifest/effect.h"

#include "kernel/base/error.h"

static const struct {
	const char *kind;
	const char *cap_type;
} effects[] = {
#define EFFECT_ROW(constant, kind, cap_type) {kind, cap_type},
	WFS_EFFECTS(EFFECT_ROW)
#undef EFFECT_ROW
};

const char *wfs_effect_kind(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].kind;
}

const char *wfs_effect_cap_type(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return effects[effect].cap_type;
}
