/* SPDX-License-Identifier: Apache-2.0 */
/* base64, as libcrypto writes it. The process that runs code does without both. */
#include <openssl/evp.h>
#include <string.h>

#include "kernel/base/encode.h"

/* What libcrypto is given at once: it counts in int. */
enum { PART_BYTES = 3072, PART_CHARACTERS = 4096 };

void wfs_base64_append(struct wfs_buffer *buffer, const void *data, size_t size)
{
	const uint8_t *const bytes = data;

	if (wfs_buffer_reserve(buffer, size / 3 * 4 + 4 + 1) < 0) /* libcrypto ends with NUL */
		return;
	for (size_t i = 0; i < size; i += PART_BYTES) {
		const size_t part = size - i < PART_BYTES ? size - i : PART_BYTES;

		buffer->size += (size_t)EVP_EncodeBlock(
			(uint8_t *)buffer->data + buffer->size, bytes + i, (int)part);
	}
}

/* Decodes groups of four characters; only the @last part may be padded. libcrypto also takes other
 * spellings, so the bytes are encoded again. Return: how many bytes; 0: malformed */
static size_t decode_part(const char *text, size_t size, bool last, char *ret_bytes)
{
	uint8_t again[PART_CHARACTERS + 1];
	const size_t whole = size / 4 * 3;
	const size_t padding = text[size - 1] == '=' ? 1 + (size_t)(text[size - 2] == '=') : 0;

	if (EVP_DecodeBlock((uint8_t *)ret_bytes, (const uint8_t *)text, (int)size) != (int)whole)
		return 0;
	EVP_EncodeBlock(again, (const uint8_t *)ret_bytes, (int)(whole - padding));
	return (last || padding == 0) && memcmp(again, text, size) == 0 ? whole - padding : 0;
}

int wfs_base64_decode(
	const char *text, size_t size, struct wfs_buffer *buffer, struct wfs_error *error)
{
	const size_t start = buffer->size;
	size_t part = PART_CHARACTERS;

	if (size % 4 != 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"base64: expected a multiple of 4 characters with padding, got %zu", size);
	/* Room for whole groups; the last one may use less. */
	if (wfs_buffer_reserve(buffer, size / 4 * 3) < 0)
		return -ENOMEM;

	for (size_t i = 0; i < size;) {
		const size_t next = size - i < part ? size - i : part;
		const size_t count =
			decode_part(text + i, next, i + next == size, buffer->data + buffer->size);

		if (count == 0 && part == 4) {
			buffer->size = start;
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"base64: characters %zu to %zu are no base64 group", i + 1, i + 4);
		}
		part = count > 0 ? part : 4; /* finds the group that is malformed */
		i += count > 0 ? next : 0;
		buffer->size += count;
	}
	return 0;
}
