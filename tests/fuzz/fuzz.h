/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all harnesses. A harness is one file that defines LLVMFuzzerTestOneInput() and, if it
 * needs it, LLVMFuzzerInitialize(): libFuzzer calls these, and so does replay.c, which runs inputs
 * from files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/buffer.h"
#include "kernel/base/encode.h"
#include "kernel/base/error.h"

/* libFuzzer's names. */
/* NOLINTBEGIN(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
/* NOLINTEND(readability-identifier-naming) */

/* A condition that does not hold ends the process, as a crash would. */
#define FUZZ_MUST(condition)                                                                    \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "FUZZ_MUST failed: %s (%s:%d)\n", #condition, __FILE__, \
				__LINE__);                                                      \
			abort();                                                                \
		}                                                                               \
	} while (0)

/** fuzz_byte() - take the first byte off the input; 0 if the input is empty */
static inline uint8_t fuzz_byte(const uint8_t **data, size_t *size)
{
	if (*size == 0)
		return 0;
	(*size)--;
	return *(*data)++;
}

/** fuzz_part() - take the input up to the next byte 0xff, or to its end; the rest begins after
 * that byte */
static inline struct wfs_bytes fuzz_part(const uint8_t **data, size_t *size)
{
	const uint8_t *const end = *size ? memchr(*data, 0xff, *size) : NULL;
	const size_t part = end ? (size_t)(end - *data) : *size;
	const struct wfs_bytes bytes = WFS_BYTES(*data, part);

	*data += part + (end ? 1 : 0);
	*size -= part + (end ? 1 : 0);
	return bytes;
}

/** fuzz_text() - copy bytes and append a NUL, in exact size, so that a sanitizer sees reads
 * beyond it  Caller frees. */
static inline char *fuzz_text(struct wfs_bytes bytes)
{
	char *const text = malloc(bytes.size + 1);

	FUZZ_MUST(text != NULL);
	if (bytes.size)
		memcpy(text, bytes.data, bytes.size);
	text[bytes.size] = '\0';
	return text;
}

/** fuzz_refused() - check that a refusal has a code, and a text that every reader can show */
static inline void fuzz_refused(const struct wfs_error *error)
{
	FUZZ_MUST(error->code > WFS_OK && error->code < WFS_ERROR_CODE_COUNT);
	FUZZ_MUST(error->message[0] && memchr(error->message, 0, sizeof(error->message)));
	FUZZ_MUST(wfs_utf8_valid(error->message, strlen(error->message)));
}

/* The threads of a harness begin after these calls. */
/* NOLINTBEGIN(concurrency-mt-unsafe) */

/** fuzz_environment() - get a variable without which the harness cannot work */
static inline const char *fuzz_environment(const char *name)
{
	const char *const value = getenv(name);

	if (!value) {
		fprintf(stderr, "the environment variable %s is missing\n", name);
		exit(2);
	}
	return value;
}

/** fuzz_shell() - run a shell command, which must succeed; names come from the script that runs
 * the harness */
static inline void fuzz_shell(const char *command)
{
	FUZZ_MUST(system(command) == 0); /* NOLINT(cert-env33-c) */
}

/** fuzz_copy_world() - copy the world WORLD to SCRATCH, instead of an earlier copy */
static inline void fuzz_copy_world(char *ret_directory, size_t size)
{
	const char *const world = fuzz_environment("WORLD");
	char command[2048];

	snprintf(ret_directory, size, "%s/world", fuzz_environment("SCRATCH"));
	snprintf(command, sizeof(command), "rm -rf '%s' && cp -a '%s' '%s' && rm -f '%s/host.json'",
		ret_directory, world, ret_directory, ret_directory);
	fuzz_shell(command);
}
/* NOLINTEND(concurrency-mt-unsafe) */
