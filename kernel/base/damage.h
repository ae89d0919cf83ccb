/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the last failed read of this thread found damaged, as words for a user.
 *
 * Reads of the store fail with -EIO, and pass through many functions before one of them tells a user. This is
 * to -EIO what dlerror(3) is to dlopen(3): the store notes a name where it finds the damage, and
 * wfs_error_from_errno() puts it into the message. The store forgets it when the thread begins another
 * transaction, and when it writes a blob file. Code that may fail with -EIO for another reason, without having begun
 * a transaction, calls wfs_damage_forget() first: the note may be one of an earlier request on its thread.
 */
#pragma once

/** wfs_damage_note() - replace what is noted, printf style: "record 7 is damaged" */
void wfs_damage_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** wfs_damage_forget() - nothing is noted any more. */
void wfs_damage_forget(void);

/** wfs_damage_noted() - Return: what is noted, valid until this thread notes or forgets; "": nothing. */
const char *wfs_damage_noted(void);
