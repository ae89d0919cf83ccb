/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that were seen: an event with `dedup` names a member of its value, and is recorded only if
 * its principal has sent no event of the same schema with the same value of this member.
 *
 *   sys.seen, key PRINCIPAL/SCHEMA-BUCKET: {keys}, at most SEEN_BUCKET_KEYS digests, oldest first
 *
 * SCHEMA and BUCKET are hexadecimal digits. The digest is that of principal, schema, member and
 * key, and gives the bucket. So an event changes one small cell, and the memory for a principal and
 * a schema has at most SEEN_BUCKETS cells. A key is forgotten when SEEN_BUCKET_KEYS later keys have
 * got the same bucket. Of 1,000,000 later keys so many do with a probability below 1 in 10^10;
 * 4,000,000 keys fill all buckets.
 * Source: worldfs-journal(5).
 */
#pragma once

#include "kernel/fold/fold-work.h"

enum {
	SEEN_BUCKETS = 1 << 17,
	SEEN_BUCKET_KEYS = 32,
	SEEN_DIGEST_SIZE = 32, /* hexadecimal digits: 128 bits of SHA-256 */
};

/** seen_note() - note the key of the event that is the request's own record. If the key was seen
 *  before, set fold->outcome.unrecorded instead: the event gets no record
 *  An event that a timer sends gets the error already_exists then, because each firing of a timer
 *  has a record.
 *  Return: 0, -EINVAL (invalid_argument: the value has no such member, or it is neither a text nor
 *  an integer), -EEXIST (already_exists: a timer sends the event, and its key was seen),
 *  -EOPNOTSUPP (not_enabled: the world's manifest does not have sys.seen), -EIO, -ENOMEM. */
int seen_note(struct wfs_fold *fold, struct wfs_error *error);
