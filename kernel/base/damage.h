/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the last failed read of this thread found damaged, in words for a user.
 *
 * A read of the store fails with -EIO, which passes through many functions until one reports it to
 * a user. The store therefore notes the name of what is damaged, and wfs_error_from_errno() puts
 * that note into the message, as dlerror(3) explains a failure of dlopen(3). The store forgets the
 * note when the thread begins another transaction, and when the thread writes a blob file. Code
 * that may fail with -EIO for another reason, without having begun a transaction, calls
 * wfs_damage_forget() first: the note may be left from an earlier request on this thread.
 */
#pragma once

/** wfs_damage_note() - set this thread's note to a formatted text (printf style), such as "record 7
 *  is damaged" */
void wfs_damage_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** wfs_damage_forget() - clear this thread's note. */
void wfs_damage_forget(void);

/** wfs_damage_noted() - get this thread's note; "" if it has none
 *  Return: borrowed until this thread changes or clears its note. */
const char *wfs_damage_noted(void);
