/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay FILE… [--random COUNT SEED SIZE]: a harness without libFuzzer. It runs the inputs of files, then
 * COUNT inputs of at most SIZE bytes that follow from SEED. Any compiler builds it, so that inputs
 * that once found something are run by every test run.
 */
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include "kernel/base/encode.h"

enum {
	INPUT_SIZE_MAX = 1 << 16,
	LIMIT_S = 60, /* an input that takes longer hangs: SIGALRM ends the process */
};

static uint8_t input[INPUT_SIZE_MAX];

static uint64_t next_random(uint64_t *state)
{
	/* splitmix64 (Steele, Lea, Flood 2014). */
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void run(const char *name, size_t size)
{
	/* A copy of exact size, so that a sanitizer sees what reads beyond. */
	uint8_t *const data = malloc(size ? size : 1);

	FUZZ_MUST(data != NULL);
	memcpy(data, input, size);
	fprintf(stderr, "%s\n", name);
	(void)alarm(LIMIT_S);
	(void)LLVMFuzzerTestOneInput(data, size);
	(void)alarm(0);
	free(data);
}

static void run_file(const char *path)
{
	FILE *const file = fopen(path, "re");

	FUZZ_MUST(file != NULL);
	const size_t size = fread(input, 1, sizeof(input), file);
	FUZZ_MUST(fclose(file) == 0);
	run(path, size);
}

static uint64_t number(const char *text)
{
	uint64_t value = 0;

	FUZZ_MUST(wfs_decimal_read(text, strlen(text), &value) == strlen(text));
	return value;
}

static void run_random(uint64_t count, uint64_t seed, uint64_t size_max)
{
	char name[64];

	FUZZ_MUST(size_max > 0 && size_max <= INPUT_SIZE_MAX);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t state = seed + i * UINT64_C(0x100000001);
		const size_t size = 1 + (size_t)(next_random(&state) % size_max);

		for (size_t at = 0; at < size; at++)
			input[at] = (uint8_t)next_random(&state);
		snprintf(name, sizeof(name), "random %llu %llu", (unsigned long long)i,
			(unsigned long long)seed);
		run(name, size);
	}
}

int main(int argc, char **argv)
{
	int at = 1;

	(void)LLVMFuzzerInitialize(&argc, &argv);
	for (; at < argc && strcmp(argv[at], "--random") != 0; at++)
		run_file(argv[at]);
	if (at + 3 < argc)
		run_random(number(argv[at + 1]), number(argv[at + 2]), number(argv[at + 3]));
	printf("%d inputs, all survived\n", at - 1);
	return 0;
}
