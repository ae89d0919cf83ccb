/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a tree from an attacker. TREE names a copy of a small tree, SCRATCH a directory on a
 * tmpfs. The first byte of an input says whether the journal's lines are chained again; edits
 * follow: file, kind, place (2 bytes), length, data. No crash; a restored world must verify without
 * a problem.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/hash.h"
#include "kernel/check/verify.h"
#include "kernel/copy/restore.h"

enum {
	FILES_MAX = 512,
	FILE_SIZE_MAX = 1 << 20,
	EDITS_MAX = 8,
	EDIT_HEAD_SIZE = 5,
	MAP_SIZE = 64 << 20,
};

struct file {
	char path[256];
	char *data;
	size_t size;
};

/* The copy before it is changed; the harness has one thread. */
static struct file files[FILES_MAX];
static size_t file_count;
static char base[512];
static char tree[300];
static char out[300];

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type != FTW_F || file_count == FILES_MAX || st->st_size >= FILE_SIZE_MAX)
		return 0;
	struct file *const file = &files[file_count++];
	FILE *const stream = fopen(path, "re");

	snprintf(file->path, sizeof(file->path), "%s", path + strlen(base) + 1);
	file->data = malloc((size_t)st->st_size + 1);
	FUZZ_MUST(stream && file->data);
	file->size = fread(file->data, 1, (size_t)st->st_size, stream);
	FUZZ_MUST(fclose(stream) == 0);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *const scratch = fuzz_environment("SCRATCH");
	char text[1600];

	(void)argc;
	(void)argv;
	snprintf(base, sizeof(base), "%s", fuzz_environment("TREE"));
	/* Before all threads. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	FUZZ_MUST(nftw(base, visit, 16, FTW_PHYS) == 0 && file_count > 0);
	snprintf(tree, sizeof(tree), "%s/tree.%d", scratch, (int)getpid());
	snprintf(out, sizeof(out), "%s/out.%d", scratch, (int)getpid());
	snprintf(text, sizeof(text), "rm -rf '%s'; cp -a '%s' '%s'; chmod -R u+w '%s'", tree, base,
		tree, tree);
	fuzz_shell(text);
	return 0;
}

static void put(const struct file *file, const char *data, size_t size)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", tree, file->path);
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* Gives each line the hash of the line before it. */
static void chain(char *text, size_t size)
{
	static const char member[] = "\"prev\":\"sha256:";
	char hex[WFS_HASH_HEX_SIZE + 1] = "";
	char *line = text;
	char *end;

	while (line < text + size && (end = memchr(line, '\n', size - (size_t)(line - text)))) {
		char *const prev = memmem(line, (size_t)(end - line), member, sizeof(member) - 1);

		if (prev && hex[0] && prev + sizeof(member) - 1 + WFS_HASH_HEX_SIZE <= end)
			memcpy(prev + sizeof(member) - 1, hex, WFS_HASH_HEX_SIZE);
		const struct wfs_hash hash = wfs_hash_of(line, (size_t)(end - line) + 1);
		wfs_hash_hex(&hash, hex);
		line = end + 1;
	}
}

/* Puts the bytes at @place: instead of as many, between others, or (no bytes) instead of
 * @length. Return: the new size. */
static size_t edit(const struct file *file, uint8_t kind, size_t place, size_t length,
	struct wfs_bytes bytes, char *edited)
{
	const size_t cut = kind % 3 == 0 ? bytes.size : kind % 3 == 1 ? 0 : length;
	const size_t rest = file->size - place > cut ? file->size - place - cut : 0;
	const size_t have = kind % 3 == 2 ? 0 : bytes.size;

	memcpy(edited, file->data, place);
	if (have)
		memcpy(edited + place, bytes.data, have);
	memcpy(edited + place + have, file->data + file->size - rest, rest);
	return place + have + rest;
}

static void damage(const uint8_t *data, size_t size, bool *touched)
{
	const bool again = data[0] & 1;

	for (size_t at = 1, n = 0; at + EDIT_HEAD_SIZE <= size && n < EDITS_MAX; n++) {
		const size_t index = data[at] % file_count;
		const size_t length = data[at + 4] % 32;
		const size_t left = size - at - EDIT_HEAD_SIZE;
		const struct wfs_bytes bytes =
			WFS_BYTES(data + at + EDIT_HEAD_SIZE, left < length ? left : length);
		const struct file *const file = &files[index];
		const size_t place = (size_t)(data[at + 2] << 8 | data[at + 3]) % (file->size + 1);
		char *const edited = malloc(file->size + bytes.size + 1);

		FUZZ_MUST(edited != NULL);
		const size_t edited_size = edit(file, data[at + 1], place, length, bytes, edited);
		if (again && strcmp(file->path, "journal/log.jsonl") == 0)
			chain(edited, edited_size);
		put(file, edited, edited_size);
		touched[index] = true;
		free(edited);
		at += EDIT_HEAD_SIZE + bytes.size;
	}
}

static void check_restored(void)
{
	const struct wfs_world_options options = {.read_only = true, .map_size_bytes = MAP_SIZE};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_world *world = NULL;
	char text[700];

	FUZZ_MUST(wfs_world_open(out, &options, &world, &error) == 0);
	FUZZ_MUST(wfs_verify(world, &problems, NULL, NULL, &error) == 0);
	if (problems.count)
		fprintf(stderr, "%s\n", wfs_buffer_text(&problems.lines));
	FUZZ_MUST(problems.count == 0);
	wfs_world_close(world);
	snprintf(text, sizeof(text), "rm -rf '%s'", out);
	fuzz_shell(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wfs_restore_options options = {.map_size_bytes = MAP_SIZE};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {.count = 0};
	bool touched[FILES_MAX] = {false};
	struct wfs_restored restored;
	struct wfs_error error = {.code = WFS_OK};

	if (size < 1 + EDIT_HEAD_SIZE)
		return 0;
	damage(data, size, touched);
	const int r = wfs_restore(tree, out, &options, &problems, &restored, &error);
	FUZZ_MUST(r == 0 || error.code != WFS_OK);
	if (r == 0)
		check_restored();
	for (size_t i = 0; i < file_count; i++)
		if (touched[i])
			put(&files[i], files[i].data, files[i].size);
	return 0;
}
