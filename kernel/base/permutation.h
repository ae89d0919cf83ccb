/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed permutations of numbers: a reader without the key learns neither what
 * a number stands for nor whether it is near another one.
 *
 * A Feistel network of six rounds over two halves, with SipHash-1-3 of a tweak, the round and a half as its round
 * function. Numbers that are to stand for themselves are left out by applying it until the number is none of them.
 * Source: Aumasson, Bernstein: SipHash, a fast short-input PRF (2012); Patarin: Security of random Feistel
 * schemes with 5 or more rounds (2004); Black, Rogaway: Ciphers with arbitrary finite domains (2002).
 * Thread: any.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/buffer.h"

enum {
	WFS_PERMUTATION_BITS_MIN = 32,
	WFS_PERMUTATION_FIRST_MAX = 16,
};

/* Plain value. */
struct wfs_permutation {
	uint64_t key[2];
	uint64_t first;         /* the least number that is permuted */
	unsigned int half_bits; /* half as many as those numbers have at most */
};

/**
 * wfs_permutation_init() - the permutation of this secret and this purpose
 * The key is the first half of the SHA-256 of both.
 * @secret: not empty
 * @first: numbers below stand for themselves; at most WFS_PERMUTATION_FIRST_MAX
 * @bits: numbers of more bits stand for themselves; even, WFS_PERMUTATION_BITS_MIN to 64
 * Return: 0, -ENOMEM.
 */
int wfs_permutation_init(struct wfs_permutation *permutation, struct wfs_bytes secret,
	struct wfs_bytes purpose, uint64_t first, unsigned int bits);

/** wfs_permute() - the number that stands for @number. @tweak: each has a permutation of its own */
uint64_t wfs_permute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number);

/** wfs_unpermute() - the number that @number stands for. */
uint64_t wfs_unpermute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number);

/** wfs_siphash() - SipHash-1-3 of 16 bytes, as two numbers in little-endian order. */
uint64_t wfs_siphash(const uint64_t key[2], uint64_t first, uint64_t second);
