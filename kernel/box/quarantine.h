/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that ended the process it ran in, by the hash of its source. Code that did it three times is refused until an
 * administrator lifts that, or it is written anew.
 *
 * It is kept in memory; wfs_quarantine_changed() gives what is to be stored. Replay has no quarantine: it believes what
 * records say of code that crashed.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/hash.h"

enum {
	WFS_QUARANTINE_CRASHES = 3,     /* of one code, before it is refused */
	WFS_QUARANTINE_ROWS_MAX = 4096, /* codes that are known at once */
	WFS_QUARANTINE_NAME_MAX = 255,  /* bytes */
};

/* One code. Plain value. */
struct wfs_quarantine_row {
	struct wfs_hash code;
	uint32_t crashes;                       /* 0: it was lifted or forgotten */
	int64_t at_ns;                          /* of the last crash, by the wall clock */
	char name[WFS_QUARANTINE_NAME_MAX + 1]; /* what it was called then */
};

struct wfs_quarantine;

int wfs_quarantine_new(struct wfs_quarantine **ret_quarantine);
void wfs_quarantine_free(struct wfs_quarantine *quarantine);

/** wfs_quarantine_load() - take a row of the store. Return: 0, or -ENOMEM. */
int wfs_quarantine_load(struct wfs_quarantine *quarantine, const struct wfs_quarantine_row *row);

/**
 * wfs_quarantine_crashed() - note one more crash
 * @name: of the code, in messages
 * Of more than WFS_QUARANTINE_ROWS_MAX codes the one is forgotten that crashed least often; when all are refused, the
 * new one is not noted.
 * Return: its crashes so far; 0: it was not noted.
 */
uint32_t wfs_quarantine_crashed(
	struct wfs_quarantine *quarantine, const struct wfs_hash *code, const char *name);

/** wfs_quarantine_refuses() - is this code refused? */
bool wfs_quarantine_refuses(struct wfs_quarantine *quarantine, const struct wfs_hash *code);

/** wfs_quarantine_generation() - another number after each change of what is refused; 0: nothing ever was. */
uint64_t wfs_quarantine_generation(const struct wfs_quarantine *quarantine);

/** wfs_quarantine_lift() - forget the crashes of a code. Return: false: neither memory nor the store has any. */
bool wfs_quarantine_lift(struct wfs_quarantine *quarantine, const struct wfs_hash *code);

/**
 * wfs_quarantine_rows() - copy what is known, by hash
 * @ret_rows: caller frees; NULL when there are none
 * Return: 0, or -ENOMEM.
 */
int wfs_quarantine_rows(
	struct wfs_quarantine *quarantine, struct wfs_quarantine_row **ret_rows, size_t *ret_count);

/**
 * wfs_quarantine_changed() - the next row that is to be stored, if there is one
 * The row counts as stored from now on; wfs_quarantine_settle() says whether it was.
 */
bool wfs_quarantine_changed(struct wfs_quarantine *quarantine, struct wfs_quarantine_row *ret_row);

/** wfs_quarantine_settle() - the transaction of the changed rows has ended
 *  @committed: false: the next transaction stores them. */
void wfs_quarantine_settle(struct wfs_quarantine *quarantine, bool committed);
