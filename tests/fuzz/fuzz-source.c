/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of a world from an attacker: world.json, 0xff, r.lua, 0xff, s.json, 0xff, host.json,
 * in a directory below SCRATCH; any of the last three that is empty is left out. Beside the
 * directory lies a file that the source must not read. A refused source must have a problem;
 * loading twice must give the first result again.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/source.h"

/* The contents of the file beside the directory. */
#define OUTSIDE "a secret from outside of the source"

static const char *const names[] = {"world.json", "r.lua", "s.json", "host.json"};
static char directory[300];

static void put(const char *path, struct wfs_bytes bytes)
{
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_MUST(fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *const scratch = fuzz_environment("SCRATCH");
	char path[300];

	(void)argc;
	(void)argv;
	snprintf(directory, sizeof(directory), "%s/source", scratch);
	snprintf(path, sizeof(path), "%s/outside.lua", scratch);
	FUZZ_MUST(mkdir(directory, 0700) == 0);
	put(path, wfs_bytes_text("-- " OUTSIDE "\nfunction step() return 1 end\n"));
	return 0;
}

static void check_inside(struct wfs_bytes bytes)
{
	FUZZ_MUST(bytes.size == 0 || !memmem(bytes.data, bytes.size, OUTSIDE, strlen(OUTSIDE)));
}

static int load(struct wfs_buffer *out)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	WFS_AUTO_SOURCE struct wfs_source source = {.manifest = NULL};
	const int r = wfs_source_load(directory, NULL, &problems, &source);

	FUZZ_MUST(r == 0 ? problems.count == 0 : problems.count > 0);
	FUZZ_MUST(r == 0 || r == -EINVAL || r == -ENOENT);
	FUZZ_MUST(wfs_utf8_valid(problems.lines.data, problems.lines.size));
	wfs_buffer_append(out, problems.lines.data, problems.lines.size);
	if (source.manifest)
		wfs_json_write(source.manifest, out);
	if (source.artifacts)
		wfs_json_write(source.artifacts, out);
	for (size_t i = 0; i < source.blob_count; i++)
		wfs_buffer_append(out, source.blobs[i].data, source.blobs[i].size);
	for (size_t i = 0; i < source.file_count; i++)
		wfs_buffer_append(out, source.files[i].bytes.data, source.files[i].bytes.size);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer first = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer second = {.size = 0};

	if (memmem(data, size, OUTSIDE, strlen(OUTSIDE)))
		return 0; /* the input itself has the secret */
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		const struct wfs_bytes part = fuzz_part(&data, &size);
		char path[400];

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		if (i > 0 && part.size == 0)
			(void)unlink(path);
		else
			put(path, part);
	}
	const int r = load(&first);
	check_inside(wfs_buffer_bytes(&first));
	FUZZ_MUST(load(&second) == r);
	FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&first), wfs_buffer_bytes(&second)));
	return 0;
}
