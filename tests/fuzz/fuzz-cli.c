/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line for a copy of the world WORLD, with 0xff between its words. Commands that wait, or
 * that write outside of the world, are left out. The exit status must be one of those in the
 * manual; output must be UTF-8 without control characters, and a command that fails must print a
 * reason.
 */
#include "tests/fuzz/fuzz.h"

#include <unistd.h>

#include "fs/command/command.h"

enum { WORDS_MAX = 30, WORDS_BEFORE = 3, RUNS_PER_COPY = 512 };

static char directory[300];
static size_t run_count;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	FUZZ_MUST(chdir(fuzz_environment("SCRATCH")) == 0);
	FUZZ_MUST(freopen("/dev/null", "re", stdin) != NULL);
	return 0;
}

/* Would a command with this word wait, or write somewhere else? The parser may cut words short. */
static bool is_left_out(const char *word)
{
	static const char *const words[] = {"mount", "umount", "serve", "init", "backup", "restore",
		"mcp", "step", "chat", "apply", "-o", "-f", "-"};
	static const char *const parts[] = {"..", "wait", "follow", "foll", "watch", "out"};
	static const char *const begins[] = {"@", "/", "-w", "--w", "-o", "--o", "-f", "--f"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++)
		if (strstr(word, parts[i]))
			return true;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(begins); i++)
		if (strncmp(word, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static void run(int argc, char *const *argv)
{
	char *out_text = NULL;
	char *err_text = NULL;
	size_t out_size = 0;
	size_t err_size = 0;
	FILE *const out = open_memstream(&out_text, &out_size);
	FILE *const err = open_memstream(&err_text, &err_size);

	FUZZ_MUST(out && err);
	const int status = wfs_command_main(argc, argv, out, err, NULL);
	FUZZ_MUST(fclose(out) == 0 && fclose(err) == 0);
	FUZZ_MUST(
		status == WFS_EXIT_DONE || status == WFS_EXIT_FAILED || status == WFS_EXIT_MISUSE);
	FUZZ_MUST(status != WFS_EXIT_MISUSE || err_size > 0);
	FUZZ_MUST(wfs_utf8_valid(err_text, err_size));
	FUZZ_MUST(!memchr(err_text, '\033', err_size));
	free(out_text);
	free(err_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "worldfs";
	static char option[] = "-w";
	char *argv[WORDS_BEFORE + WORDS_MAX + 1] = {name, option, directory};
	int argc = WORDS_BEFORE;
	bool left_out = false;

	/* Runs let the world grow, so a new copy comes now and then. */
	if (run_count++ % RUNS_PER_COPY == 0)
		fuzz_copy_world(directory, sizeof(directory));
	while (size && argc < WORDS_BEFORE + WORDS_MAX) {
		argv[argc] = fuzz_text(fuzz_part(&data, &size));
		left_out |= is_left_out(argv[argc]);
		argc++;
	}
	if (!left_out)
		run(argc, argv);
	while (argc > WORDS_BEFORE)
		free(argv[--argc]);
	return 0;
}
