/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay FILE… [--dictionary FILE] [--mutate COUNT SEED] [--random COUNT SEED SIZE]: a harness
 * without libFuzzer.
 *
 * It runs the inputs in the files; then COUNT inputs from these files with changes (bits, bytes,
 * tokens of the dictionary, parts left out, doubled, or taken from another file); then COUNT inputs
 * of random bytes, of at most SIZE. SEED decides all changes and random bytes. Any compiler builds
 * it, so every test run can run the inputs that once found a fault.
 * FUZZ_INPUT: names a file to which each input is written before it runs.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"

/* A harness may have no LLVMFuzzerInitialize(). */
extern int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

enum {
	INPUT_SIZE_MAX = 1 << 16,
	SEEDS_MAX = 256,
	TOKENS_MAX = 512,
	TOKEN_SIZE_MAX = 64,
	CHANGES_MAX = 6, /* of one input */
	LIMIT_S = 60,    /* an input that takes longer hangs: SIGALRM ends the process */
};

struct text {
	uint8_t *data;
	size_t size;
};

static uint8_t input[INPUT_SIZE_MAX];
static size_t input_size;
static struct text seeds[SEEDS_MAX];
static size_t seed_count;
static uint8_t tokens[TOKENS_MAX][TOKEN_SIZE_MAX];
static size_t token_sizes[TOKENS_MAX];
static size_t token_count;
static size_t run_count;
static const char *input_path; /* NULL: inputs are not written */

static uint64_t next_random(uint64_t *state)
{
	/* splitmix64 (Steele, Lea, Flood 2014). */
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t bound)
{
	return (size_t)(next_random(state) % bound);
}

static void keep_input(void)
{
	WFS_AUTO_FD int fd = open(input_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_MUST(fd >= 0 && write(fd, input, input_size) == (ssize_t)input_size);
}

static void run(void)
{
	/* A copy of exact size, so that a sanitizer sees reads beyond it. */
	uint8_t *const data = malloc(input_size ? input_size : 1);

	FUZZ_MUST(data != NULL);
	memcpy(data, input, input_size);
	if (input_path)
		keep_input();
	(void)alarm(LIMIT_S);
	(void)LLVMFuzzerTestOneInput(data, input_size);
	(void)alarm(0);
	free(data);
	run_count++;
}

/* --- files --- */

static size_t read_file(const char *path, uint8_t *data, size_t size)
{
	FILE *const file = fopen(path, "re");

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerrordesc_np(errno));
		exit(2); /* NOLINT(concurrency-mt-unsafe): there is one thread */
	}
	const size_t got = fread(data, 1, size, file);
	FUZZ_MUST(fclose(file) == 0);
	return got;
}

static void run_file(const char *path)
{
	input_size = read_file(path, input, sizeof(input));
	fprintf(stderr, "%s\n", path);
	run();
	if (seed_count == SEEDS_MAX)
		return;
	struct text *const seed = &seeds[seed_count++];
	seed->size = input_size;
	seed->data = malloc(input_size + 1);
	FUZZ_MUST(seed->data != NULL);
	memcpy(seed->data, input, input_size);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads one line of libFuzzer's dictionaries: "text", in which \xNN is a byte, and \\ and \" are
 * escapes. */
static void read_token(const char *line)
{
	const char *at = strchr(line, '"');
	size_t size = 0;

	if (!at || line[0] == '#' || token_count == TOKENS_MAX)
		return;
	for (at++; *at && *at != '"' && size < TOKEN_SIZE_MAX; at++) {
		uint8_t byte = (uint8_t)*at;

		if (*at == '\\' && at[1] == 'x' && digit(at[2]) >= 0 && digit(at[3]) >= 0) {
			byte = (uint8_t)(digit(at[2]) << 4 | digit(at[3]));
			at += 3;
		} else if (*at == '\\' && at[1]) {
			byte = (uint8_t) * ++at;
		}
		tokens[token_count][size++] = byte;
	}
	token_sizes[token_count++] = size;
}

static void read_dictionary(const char *path)
{
	char *line = (char *)input;

	input_size = read_file(path, input, sizeof(input) - 1);
	input[input_size] = '\0';
	while (line) {
		char *const end = strchr(line, '\n');

		if (end)
			*end = '\0';
		read_token(line);
		line = end ? end + 1 : NULL;
	}
}

/* --- changes --- */

/* Puts @size bytes of @data in the place of @cut bytes at @at. */
static void replace(size_t at, size_t cut, const uint8_t *data, size_t size)
{
	if (input_size - cut + size > INPUT_SIZE_MAX)
		return;
	memmove(input + at + size, input + at + cut, input_size - at - cut);
	if (size)
		memcpy(input + at, data, size);
	input_size = input_size - cut + size;
}

static void splice_token(uint64_t *state, size_t at, size_t cut_max)
{
	static const uint8_t numbers[][9] = {"0", "-1", "1e308", "65536", "00000000"};
	const size_t cut = below(state, cut_max + 1);

	if (token_count > 0) {
		const size_t token = below(state, token_count);

		replace(at, cut, tokens[token], token_sizes[token]);
	} else {
		const uint8_t *const number = numbers[below(state, 5)];

		replace(at, cut, number, strlen((const char *)number));
	}
}

static void splice_other(uint64_t *state, size_t at)
{
	static uint8_t part[INPUT_SIZE_MAX];
	const struct text *const other = &seeds[below(state, seed_count)];
	const size_t begin = below(state, other->size + 1);
	const size_t size = below(state, other->size - begin + 1);

	memcpy(part, other->data + begin, size);
	replace(at, 0, part, size);
}

static void change(uint64_t *state)
{
	const size_t at = below(state, input_size + 1);
	const size_t rest = input_size - at < 32 ? input_size - at : 32;

	switch (below(state, 8)) {
	case 0:
		if (at < input_size)
			input[at] ^= (uint8_t)(1U << below(state, 8));
		break;
	case 1:
		if (at < input_size)
			input[at] = (uint8_t)next_random(state);
		break;
	case 2:
		replace(at, below(state, rest + 1), NULL, 0);
		break;
	case 3: {
		uint8_t part[32];
		const size_t size = below(state, rest + 1);

		memcpy(part, input + at, size);
		replace(at, 0, part, size);
		break;
	}
	case 4:
		splice_other(state, at);
		break;
	case 5:
		splice_token(state, at, rest < 8 ? rest : 8);
		break;
	default:
		splice_token(state, at, 0);
		break;
	}
}

static void run_mutated(uint64_t count, uint64_t seed)
{
	FUZZ_MUST(seed_count > 0);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t state = seed + i * UINT64_C(0x100000001);
		const struct text *const begin = &seeds[below(&state, seed_count)];
		const size_t changes = 1 + below(&state, CHANGES_MAX);

		memcpy(input, begin->data, begin->size);
		input_size = begin->size;
		for (size_t n = 0; n < changes; n++)
			change(&state);
		fprintf(stderr, "mutated %llu %llu\n", (unsigned long long)i,
			(unsigned long long)seed);
		run();
	}
}

static void run_random(uint64_t count, uint64_t seed, uint64_t size_max)
{
	FUZZ_MUST(size_max > 0 && size_max <= INPUT_SIZE_MAX);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t state = seed + i * UINT64_C(0x100000001);

		input_size = 1 + below(&state, (size_t)size_max);
		for (size_t at = 0; at < input_size; at++)
			input[at] = (uint8_t)next_random(&state);
		fprintf(stderr, "random %llu %llu\n", (unsigned long long)i,
			(unsigned long long)seed);
		run();
	}
}

/* --- the command line --- */

static uint64_t number(const char *text)
{
	uint64_t value = 0;

	FUZZ_MUST(wfs_decimal_read(text, strlen(text), &value) == strlen(text));
	return value;
}

static void misuse(void)
{
	fputs("usage: replay FILE… [--dictionary FILE] [--mutate COUNT SEED] [--random COUNT SEED "
	      "SIZE]\n",
		stderr);
	exit(2); /* NOLINT(concurrency-mt-unsafe): there is one thread */
}

int main(int argc, char **argv)
{
	input_path = getenv("FUZZ_INPUT"); /* NOLINT(concurrency-mt-unsafe): as above */
	if (LLVMFuzzerInitialize)
		(void)LLVMFuzzerInitialize(&argc, &argv);
	for (int at = 1; at < argc; at++) {
		const int left = argc - at - 1;

		if (strcmp(argv[at], "--dictionary") == 0 && left >= 1) {
			read_dictionary(argv[at + 1]);
			at++;
		} else if (strcmp(argv[at], "--mutate") == 0 && left >= 2) {
			run_mutated(number(argv[at + 1]), number(argv[at + 2]));
			at += 2;
		} else if (strcmp(argv[at], "--random") == 0 && left >= 3) {
			run_random(
				number(argv[at + 1]), number(argv[at + 2]), number(argv[at + 3]));
			at += 3;
		} else if (argv[at][0] == '-') {
			misuse();
		} else {
			run_file(argv[at]);
		}
	}
	for (size_t i = 0; i < seed_count; i++)
		free(seeds[i].data);
	printf("%zu inputs, all survived\n", run_count);
	return 0;
}
