/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash, and a Feistel network that uses it. */
#include "kernel/base/permutation.h"

#include <endian.h>
#include <string.h>

#include "kernel/base/hash.h"

enum {
	ROUNDS = 6,
	MESSAGE_SIZE = 16, /* bytes that are hashed */
};

static uint64_t rotate(uint64_t number, unsigned int bits)
{
	return number << bits | number >> (64 - bits);
}

/* The state of SipHash, and its round: section 2.2 of the paper. */
struct sip {
	uint64_t v0, v1, v2, v3;
};

static void sip_round(struct sip *sip)
{
	sip->v0 += sip->v1;
	sip->v2 += sip->v3;
	sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
	sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
	sip->v0 = rotate(sip->v0, 32) + sip->v3;
	sip->v2 += sip->v1;
	sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
	sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
	sip->v2 = rotate(sip->v2, 32);
}

static void sip_word(struct sip *sip, uint64_t word)
{
	sip->v3 ^= word;
	sip_round(sip);
	sip->v0 ^= word;
}

static struct sip sip_begin(const uint64_t key[2], uint64_t first)
{
	struct sip sip = {
		.v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = key[1] ^ UINT64_C(0x7465646279746573),
	};

	sip_word(&sip, first);
	return sip;
}

static uint64_t sip_end(struct sip sip, uint64_t second)
{
	sip_word(&sip, second);
	sip_word(&sip, (uint64_t)MESSAGE_SIZE << 56);
	sip.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&sip);
	return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

uint64_t wfs_siphash(const uint64_t key[2], uint64_t first, uint64_t second)
{
	return sip_end(sip_begin(key, first), second);
}

/* A number as two halves, and the state that each round begins with. */
struct feistel {
	struct sip begun; /* after the tweak */
	unsigned int half_bits;
	uint64_t mask;
	uint64_t left;
	uint64_t right;
};

static struct feistel feistel_of(const struct wfs_permutation *permutation, uint64_t tweak)
{
	return (struct feistel){.begun = sip_begin(permutation->key, tweak),
		.half_bits = permutation->half_bits,
		.mask = (UINT64_C(1) << permutation->half_bits) - 1};
}

static void split(struct feistel *feistel, uint64_t number)
{
	feistel->left = number >> feistel->half_bits;
	feistel->right = number & feistel->mask;
}

static uint64_t join(const struct feistel *feistel)
{
	return feistel->left << feistel->half_bits | feistel->right;
}

static uint64_t mix(const struct feistel *feistel, uint64_t round, uint64_t half)
{
	return sip_end(feistel->begun, round << 32 | half) & feistel->mask;
}

static uint64_t forward(struct feistel *feistel, uint64_t number)
{
	split(feistel, number);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		const uint64_t next = feistel->left ^ mix(feistel, round, feistel->right);

		feistel->left = feistel->right;
		feistel->right = next;
	}
	return join(feistel);
}

static uint64_t backward(struct feistel *feistel, uint64_t number)
{
	split(feistel, number);
	for (uint64_t round = ROUNDS; round-- > 0;) {
		const uint64_t before = feistel->right ^ mix(feistel, round, feistel->left);

		feistel->right = feistel->left;
		feistel->left = before;
	}
	return join(feistel);
}

static bool is_permuted(const struct wfs_permutation *permutation, uint64_t number)
{
	return number >= permutation->first &&
		number >> permutation->half_bits >> permutation->half_bits == 0;
}

uint64_t wfs_permute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number)
{
	struct feistel feistel = feistel_of(permutation, tweak);

	if (!is_permuted(permutation, number))
		return number;
	do {
		number = forward(&feistel, number);
	} while (number < permutation->first);
	return number;
}

uint64_t wfs_unpermute(const struct wfs_permutation *permutation, uint64_t tweak, uint64_t number)
{
	struct feistel feistel = feistel_of(permutation, tweak);

	if (!is_permuted(permutation, number))
		return number;
	do {
		number = backward(&feistel, number);
	} while (number < permutation->first);
	return number;
}

int wfs_permutation_init(struct wfs_permutation *permutation, struct wfs_bytes secret,
	struct wfs_bytes purpose, uint64_t first, unsigned int bits)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_require(secret.size > 0 && first <= WFS_PERMUTATION_FIRST_MAX &&
		bits >= WFS_PERMUTATION_BITS_MIN && bits <= 64 && bits % 2 == 0);
	wfs_buffer_append(&text, purpose.data, purpose.size);
	wfs_buffer_append_byte(&text, '\0');
	wfs_buffer_append(&text, secret.data, secret.size);
	int r = wfs_buffer_check(&text);
	if (r)
		return r;
	const struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	*permutation = (struct wfs_permutation){.first = first, .half_bits = bits / 2};
	memcpy(permutation->key, hash.bytes, sizeof(permutation->key));
	permutation->key[0] = le64toh(permutation->key[0]);
	permutation->key[1] = le64toh(permutation->key[1]);
	return 0;
}
