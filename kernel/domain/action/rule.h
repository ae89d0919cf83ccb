/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/action/: the built-in rules that artifacts name in `access`. */
#pragma once

#include "kernel/domain/action/act.h"

/* Plain value with static lifetime. */
struct artifact_rule {
	const char *name;
	/* may @actor use the artifact in the way @use? */
	bool (*allows)(const char *actor, const struct wfs_document_artifact *artifact,
		enum artifact_use use);
	const char *reason; /* why it refuses, for messages */
};

/** artifact_rule_find() - find the built-in rule with the name @access, a member of an artifact;
 *  NULL: @access is the id of a contract, an artifact that decides. */
const struct artifact_rule *artifact_rule_find(const char *access);

bool artifact_is_owned(const struct wfs_document_artifact *artifact, const char *actor);

/** artifact_use_is_open() - does this use leave the artifact as it is, so that the rules for
 *  freeware allow it to everybody? True for reading and invoking. */
bool artifact_use_is_open(enum artifact_use use);
