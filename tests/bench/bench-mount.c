/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How close is the mount to the page cache? The same 100,000 files of 500 bytes in a world and in
 * tmpfs, the same operations on both in the same run, medians of RUNS. "Cold" is a mount made anew,
 * so that the kernel knows nothing of it.
 * Usage: bench-mount WORLD-SOURCE EMPTY-DIRECTORY TMPFS-DIRECTORY
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"
#include "fs/data/data.h"
#include "kernel/base/clock.h"
#include "kernel/base/directory.h"

enum {
	FILES = 100000,
	FILE_SIZE = 500,
	OPENS = 20000, /* files opened by name, in random order */
	RUNS = 5,
	SEED = 1,
	BATCH = 1000,
};

#define OPERATOR WFS_PRINCIPAL_OPERATOR
#define READER "reader" /* who may read the same files, by a pattern, and nothing else */

/* --- filling --- */

static void name_of(size_t i, char ret_name[static 32])
{
	snprintf(ret_name, 32, "cell-%06zu", i);
}

/* The event that makes file @i: the pad brings the cell's document to FILE_SIZE bytes. */
static char *event_line(size_t i)
{
	char name[32];
	char pad[FILE_SIZE];
	const size_t pad_size = FILE_SIZE - (sizeof("{\"n\":1,\"pad\":\"\"}\n") - 1);

	name_of(i, name);
	memset(pad, 'a' + (int)(i % 26), pad_size);
	pad[pad_size] = '\0';
	return bench_event(name, pad);
}

static void fill_world(const char *source_directory, const char *directory)
{
	char **lines = calloc(FILES, sizeof(*lines));

	bench_world_create(source_directory, directory);
	struct bench_world world = bench_world_open(directory);
	for (size_t i = 0; i < FILES; i++)
		lines[i] = event_line(i);
	bench_send(&world, lines, FILES, FILES, BATCH);
	bench_send(&world, lines, 1, 1000, BATCH); /* so that height FILES + 2 is old */
	bench_world_let(&world, READER, "reducers/counter/cell-*");
	bench_world_close(&world);
	bench_events_free(lines, FILES);
}

static void fill_tmpfs(const char *directory)
{
	char text[FILE_SIZE];
	char name[32];

	memset(text, 'x', sizeof(text));
	bench_check(mkdir(directory, 0755) ? -errno : 0, directory, NULL);
	int parent = open(directory, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < FILES; i++) {
		name_of(i, name);
		int fd = openat(parent, name, O_WRONLY | O_CREAT, 0644);
		bench_check(
			fd < 0 || write(fd, text, sizeof(text)) != (ssize_t)sizeof(text) ? -EIO : 0,
			name, NULL);
		close(fd);
	}
	close(parent);
}

/* --- mounting, in a process of its own --- */

static volatile sig_atomic_t stopped;

static void on_term(int signal_number)
{
	(void)signal_number;
	stopped = 1;
}

static void serve(
	const char *world_directory, const char *mount, const char *principal, int ready, bool last)
{
	struct wfs_data *data = NULL;
	struct wfs_error error = {0};
	sigset_t nothing;

	bench_check(signal(SIGTERM, on_term) == SIG_ERR ? -errno : 0, "signal", NULL);
	struct bench_world world = bench_world_open(world_directory);
	bench_world_act_as(&world, principal);
	const struct wfs_data_options data_options = {
		.directory = mount, .world_name = "bench", .tree = {.session = world.session}};
	bench_check(wfs_data_new(&data_options, &data, &error), "mount", &error);
	bench_check(write(ready, "1", 1) == 1 ? 0 : -EIO, "pipe", NULL);
	sigemptyset(&nothing);
	while (!stopped)
		usleep(10000);
	if (last)
		fprintf(stderr, "daemon memory beyond the map: %lu kB\n", bench_rss_anon_kib());
	wfs_data_free(data);
	bench_world_close(&world);
	_exit(0);
}

static pid_t mount_anew(
	const char *world_directory, const char *mount, const char *principal, pid_t old, bool last)
{
	int ready[2];
	char byte;

	if (old) {
		kill(old, SIGTERM);
		waitpid(old, NULL, 0);
	}
	bench_check(pipe(ready), "pipe", NULL);
	pid_t child = fork();
	if (child == 0)
		serve(world_directory, mount, principal, ready[1], last);
	close(ready[1]);
	bench_check(read(ready[0], &byte, 1) == 1 ? 0 : -EIO, "the mounting process ended", NULL);
	close(ready[0]);
	return child;
}

/* --- measuring; each gives seconds --- */

static double open_some(const char *directory)
{
	char buffer[4096];
	char name[32];
	unsigned int seed = SEED;
	int parent = open(directory, O_RDONLY | O_DIRECTORY);
	int64_t start = wfs_clock_monotonic_ns();

	for (size_t i = 0; i < OPENS; i++) {
		name_of((size_t)rand_r(&seed) % FILES, name);
		int fd = openat(parent, name, O_RDONLY);
		bench_check(fd < 0 || read(fd, buffer, sizeof(buffer)) != FILE_SIZE ? -EIO : 0,
			name, NULL);
		close(fd);
	}
	double seconds = bench_seconds_since(start);
	close(parent);
	return seconds / OPENS;
}

static double stat_some(const char *directory)
{
	struct stat st;
	char name[32];
	unsigned int seed = SEED;
	int parent = open(directory, O_RDONLY | O_DIRECTORY);
	int64_t start = wfs_clock_monotonic_ns();

	for (size_t i = 0; i < OPENS; i++) {
		name_of((size_t)rand_r(&seed) % FILES, name);
		bench_check(fstatat(parent, name, &st, 0) ? -errno : 0, name, NULL);
	}
	double seconds = bench_seconds_since(start);
	close(parent);
	return seconds / OPENS;
}

static double list_names(const char *directory)
{
	size_t count = 0;
	int64_t start = wfs_clock_monotonic_ns();
	DIR *listing = opendir(directory);

	while (listing && readdir(listing))
		count++;
	if (listing)
		closedir(listing);
	bench_check(count == FILES + 2 ? 0 : -EIO, "listing", NULL);
	return bench_seconds_since(start);
}

static double run_tar(const char *directory)
{
	char command[8192];

	snprintf(command, sizeof(command), "tar -C '%s' -cf - . | cat > /dev/null", directory);
	int64_t start = wfs_clock_monotonic_ns();
	bench_check(system(command) ? -EIO : 0, "tar", NULL);
	return bench_seconds_since(start);
}

static void print_row(
	const char *what, double *ours, double *theirs, double scale, const char *unit, double goal)
{
	double a = bench_median(ours, RUNS);
	double b = bench_median(theirs, RUNS);

	printf("%-34s %9.2f %-3s %9.2f %-3s %6.2f   <= %.2f %s\n", what, a * scale, unit, b * scale,
		unit, a / b, goal, a / b <= goal ? "" : "MISSED");
}

enum row {
	OPEN_WARM,
	STAT_WARM,
	TAR_WARM,
	TAR_COLD,
	OPEN_AT,
	LIST_COLD,
	JUDGED_OPEN,
	JUDGED_TAR,
	JUDGED_COLD,
	ROW_COUNT
};

int main(int argc, char **argv)
{
	static double ours[ROW_COUNT][RUNS];
	static double theirs[ROW_COUNT][RUNS];
	char world[] = "bench-mount-XXXXXX";
	char world_directory[64];
	char head[4096];
	char at[4096];
	char tmpfs[4096];
	pid_t child = 0;

	if (argc != 4) {
		fprintf(stderr,
			"usage: bench-mount WORLD-SOURCE EMPTY-DIRECTORY TMPFS-DIRECTORY\n");
		return 2;
	}
	bench_check(mkdtemp(world) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(world_directory, sizeof(world_directory), "%s/world", world);
	snprintf(head, sizeof(head), "%s/reducers/counter", argv[2]);
	snprintf(at, sizeof(at), "%s/at/%d/reducers/counter", argv[2], FILES + 2);
	snprintf(tmpfs, sizeof(tmpfs), "%s/worldfs-bench-%ld", argv[3], (long)getpid());
	bench_fill_apart(fill_world, argv[1], world_directory);
	fill_tmpfs(tmpfs);
	for (size_t run = 0; run < RUNS; run++) {
		child = mount_anew(world_directory, argv[2], OPERATOR, child, false);
		ours[LIST_COLD][run] = list_names(head);
		theirs[LIST_COLD][run] = list_names(tmpfs);
		child = mount_anew(world_directory, argv[2], OPERATOR, child, run == RUNS - 1);
		ours[TAR_COLD][run] = run_tar(head);
		theirs[TAR_COLD][run] = run_tar(tmpfs);
		ours[TAR_WARM][run] = run_tar(head);
		theirs[TAR_WARM][run] = run_tar(tmpfs);
		ours[OPEN_WARM][run] = open_some(head);
		theirs[OPEN_WARM][run] = open_some(tmpfs);
		ours[STAT_WARM][run] = stat_some(head);
		theirs[STAT_WARM][run] = stat_some(tmpfs);
		run_tar(at);
		ours[OPEN_AT][run] = open_some(at);
		theirs[OPEN_AT][run] = open_some(head);
		child = mount_anew(world_directory, argv[2], READER, child, false);
		/* In the same order as above: what a daemon still does behind the first tar counts. */
		ours[JUDGED_COLD][run] = run_tar(head);
		theirs[JUDGED_COLD][run] = ours[TAR_COLD][run];
		(void)run_tar(tmpfs);
		ours[JUDGED_TAR][run] = run_tar(head);
		theirs[JUDGED_TAR][run] = ours[TAR_WARM][run];
		(void)run_tar(tmpfs);
		ours[JUDGED_OPEN][run] = open_some(head);
		theirs[JUDGED_OPEN][run] = ours[OPEN_WARM][run];
	}
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	wfs_directory_remove(world);
	wfs_directory_remove(tmpfs);
	printf("%-34s %13s %13s %6s\n", "100,000 files of 500 bytes", "worldfs", "tmpfs", "ratio");
	print_row("open+read+close, warm", ours[OPEN_WARM], theirs[OPEN_WARM], 1e6, "us", 1.7);
	print_row("stat, warm", ours[STAT_WARM], theirs[STAT_WARM], 1e6, "us", 1.3);
	print_row("tar, warm", ours[TAR_WARM], theirs[TAR_WARM], 1, "s", 1.3);
	print_row("tar, cold", ours[TAR_COLD], theirs[TAR_COLD], 1, "s", 2.0);
	print_row("open under an old at/ (second: head)", ours[OPEN_AT], theirs[OPEN_AT], 1e6, "us",
		1.2);
	print_row("list 100,000 names, cold", ours[LIST_COLD], theirs[LIST_COLD], 1, "s", 3.0);
	printf("%-34s %13s %13s\n", "through a restricted mount", "restricted", "whole");
	print_row("open+read+close, warm", ours[JUDGED_OPEN], theirs[JUDGED_OPEN], 1e6, "us", 1.05);
	print_row("tar, warm", ours[JUDGED_TAR], theirs[JUDGED_TAR], 1, "s", 1.05);
	print_row("tar, cold", ours[JUDGED_COLD], theirs[JUDGED_COLD], 1, "s", 1.15);
	return 0;
}
