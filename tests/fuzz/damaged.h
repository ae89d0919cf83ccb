/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the harnesses of damaged stores: a copy of the world WORLD in SCRATCH, whose data.mdb
 * is restored before each input, and the commands that read the world, verify it and write to it.
 * FUZZ_SAY: shows the output of the commands.
 */
#pragma once

#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/command/command.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/directory.h"

/* The world before it is changed; a harness has one thread. */
struct damaged {
	char directory[256];
	char data_path[300];
	char known_path[300];
	char backup[300];
	uint8_t *image;
	size_t image_size;
	FILE *out; /* of commands */
};

static inline void damaged_init(struct damaged *damaged)
{
	struct stat st;

	/* There is one thread. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	damaged->out = getenv("FUZZ_SAY") ? stderr : fopen("/dev/null", "we");
	FUZZ_MUST(damaged->out && freopen("/dev/null", "re", stdin));
	fuzz_copy_world(damaged->directory, sizeof(damaged->directory));
	snprintf(damaged->data_path, sizeof(damaged->data_path), "%s/data.mdb", damaged->directory);
	snprintf(damaged->known_path, sizeof(damaged->known_path), "%s/worldfs/known.json",
		fuzz_environment("XDG_STATE_HOME"));
	snprintf(damaged->backup, sizeof(damaged->backup), "%s.backup", damaged->directory);
	WFS_AUTO_FD int fd = open(damaged->data_path, O_RDONLY | O_CLOEXEC);
	FUZZ_MUST(fd >= 0 && fstat(fd, &st) == 0);
	damaged->image_size = (size_t)st.st_size;
	damaged->image = malloc(damaged->image_size);
	FUZZ_MUST(damaged->image);
	FUZZ_MUST(read(fd, damaged->image, damaged->image_size) == (ssize_t)damaged->image_size);
}

/** damaged_put() - make @data the data.mdb of a store to which this user has never written */
static inline void damaged_put(const struct damaged *damaged, const uint8_t *data, size_t size)
{
	WFS_AUTO_FD int fd = open(damaged->data_path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	FUZZ_MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	FUZZ_MUST(unlink(damaged->known_path) == 0 || errno == ENOENT);
}

static inline void damaged_command(const struct damaged *damaged, const char *const *words)
{
	static char name[] = "worldfs";
	static char option[] = "-w";
	char *argv[16] = {name, option, (char *)(uintptr_t)damaged->directory};
	int argc = 3;

	while (*words)
		argv[argc++] = (char *)(uintptr_t)*words++;
	argv[argc] = NULL;
	const int r = wfs_command_main(argc, argv, damaged->out, damaged->out, NULL);
	FUZZ_MUST(r >= 0 && r <= 2);
}

/** damaged_use() - read everything, verify, write, copy. No crash, and no hang. */
static inline void damaged_use(const struct damaged *damaged)
{
	const char *const backup = damaged->backup;
	const char *const commands[][8] = {
		{"verify"},
		{"fs", "grep", "zzz"},
		{"query", "artifacts"},
		{"query", "principals"},
		{"turns"},
		{"plan", "ls"},
		{"--as", "alice", "fs", "tree", "--at", "9"},
		{"invoke",
			"{\"action_type\":\"write_artifact\",\"artifact_id\":\"zz\",\"content\":"
			"\"x\"}"},
		{"invoke", "{\"action_type\":\"transfer\",\"to\":\"alice\",\"amount\":1}"},
		{"mint", "resolve"},
		{"gc", "--keep-heights", "9"},
		{"snapshot"},
		{"backup", backup},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		damaged_command(damaged, commands[i]);
	wfs_directory_remove(backup);
}
