/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed permutations of numbers: a reader without the key learns neither which number
 * another stands for nor whether two numbers are near each other.
 *
 * A Feistel network of six rounds over two halves, whose round function is SipHash-1-3 of a tweak,
 * the round and a half. To keep the numbers below `first` as they are, the network is applied until
 * its result is not one of them.
 * Source: Aumasson, Bernstein: SipHash, a fast short-input PRF (2012); Patarin: Security of random
 * Feistel schemes with 5 or more rounds (2004); Black, Rogaway: Ciphers with arbitrary finite
 * domains (2002).
 * Thread: any.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/buffer.h"

enum {
	WFS_PERMUTATION_BITS_MIN = 32,
	WFS_PERMUTATION_FIRST_MAX = 16,
};

/* A permutation with its key. Plain value. */
struct wfs_permutation {
	uint64_t key[2];
	uint64_t first;         /* the least number that is permuted */
	unsigned int half_bits; /* half of the bits of the largest permuted number */
};

/** wfs_permutation_init() - derive a permutation from a secret and a purpose
 *  The key is the first half of the SHA-256 of both.
 *  @secret: not empty. @purpose: each gives another permutation
 *  @first: smaller numbers are not permuted; at most WFS_PERMUTATION_FIRST_MAX
 *  @bits: numbers with more bits are not permuted; even, WFS_PERMUTATION_BITS_MIN to 64
 *  Return: 0, -ENOMEM. */
int wfs_permutation_init(struct wfs_permutation *permutation, struct wfs_bytes secret,
	struct wfs_bytes purpose, uint64_t first, unsigned int bits);

/** wfs_permute() - Return: the number that replaces @number; @number, if it is not permuted.
 *  @tweak: each value of it gives another permutation */
uint64_t wfs_permute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number);

/** wfs_unpermute() - Return: the number that wfs_permute(), with this @tweak, replaces by
 *  @number. */
uint64_t wfs_unpermute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number);

/** wfs_siphash() - compute SipHash-1-3 of 16 bytes, given as two numbers in little-endian order. */
uint64_t wfs_siphash(const uint64_t key[2], uint64_t first, uint64_t second);
