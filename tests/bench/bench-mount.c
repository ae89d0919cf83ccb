/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How close is the mount to the page cache? 100,000 files of 500 bytes are in a world and in tmpfs;
 * both get the same operations in the same run, medians of RUNS. "Cold" is a new mount, of which
 * the kernel knows nothing.
 * Then the whole mount and a restricted mount of the same owner are compared, in turn.
 * Usage: bench-mount WORLD-SOURCE EMPTY-DIRECTORY EMPTY-DIRECTORY TMPFS-DIRECTORY
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
#include "kernel/manifest/manifest.h"
#include "mounted.h"

enum {
	FILES = 100000,
	FILE_SIZE = 500,
	OPENS = 20000, /* files opened by name, in random order */
	RUNS = 5,
	MAX_TURNS = 9,
	SEED = 1,
	BATCH = 1000,
};

#define OPERATOR WFS_PRINCIPAL_OPERATOR
#define READER "reader" /* a principal that may read these files, by a pattern, and nothing else */

/* --- filling --- */

static void name_of(size_t i, char ret_name[static 32])
{
	snprintf(ret_name, 32, "cell-%06zu", i);
}

/* The event that makes file @i: its padding brings the cell's document to FILE_SIZE bytes. */
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

/* The directories that are compared. */
struct places {
	const char *world;
	const char *whole;      /* mount of the operator */
	const char *restricted; /* mount of READER; NULL: not mounted */
	bool report;            /* print the daemon's memory when it ends */
};

static void serve(const struct places *places, int ready)
{
	struct wfs_session *reader = NULL;
	struct wfs_data *restricted = NULL;
	struct wfs_error error = {0};

	bench_check(signal(SIGTERM, on_term) == SIG_ERR ? -errno : 0, "signal", NULL);
	struct bench_world world = bench_world_open(places->world);
	bench_check(wfs_session_new(world.authority, READER, &reader, &error), "session", &error);
	struct wfs_data *const whole = bench_mount(world.session, places->whole);
	if (places->restricted)
		restricted = bench_mount(reader, places->restricted);
	bench_check(write(ready, "1", 1) == 1 ? 0 : -EIO, "pipe", NULL);
	while (!stopped)
		usleep(10000);
	if (places->report)
		fprintf(stderr, "daemon memory beyond the map: %lu kB\n", bench_rss_anon_kib());
	wfs_data_free(restricted);
	wfs_data_free(whole);
	wfs_session_free(reader);
	bench_world_close(&world);
	_exit(0);
}

static pid_t mount_anew(const struct places *places, pid_t old)
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
		serve(places, ready[1]);
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

enum row {
	OPEN_WARM,
	STAT_WARM,
	TAR_WARM,
	TAR_COLD,
	OPEN_AT,
	LIST_COLD,
	RESTRICTED_OPEN,
	RESTRICTED_STAT,
	RESTRICTED_TAR,
	RESTRICTED_COLD,
	ROW_COUNT
};

static double ours[ROW_COUNT][RUNS];
static double theirs[ROW_COUNT][RUNS];

static void measure_against_tmpfs(const char *head, const char *at, const char *tmpfs, size_t run)
{
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
}

/* The medians of @turns measurements each; the two take turns at being the first. */
static void measure_turn_about(const char *restricted, const char *whole, enum row row, size_t run,
	double (*measure)(const char *), size_t turns)
{
	double of_restricted[MAX_TURNS];
	double of_whole[MAX_TURNS];

	for (size_t turn = 0; turn < turns; turn++) {
		bool whole_first = (run + turn) % 2;
		if (whole_first)
			of_whole[turn] = measure(whole);
		of_restricted[turn] = measure(restricted);
		if (!whole_first)
			of_whole[turn] = measure(whole);
	}
	ours[row][run] = bench_median(of_restricted, turns);
	theirs[row][run] = bench_median(of_whole, turns);
}

static void measure_restricted(const char *restricted, const char *whole, size_t run)
{
	measure_turn_about(restricted, whole, RESTRICTED_COLD, run, run_tar, 1);
	measure_turn_about(restricted, whole, RESTRICTED_TAR, run, run_tar, 3);
	measure_turn_about(restricted, whole, RESTRICTED_OPEN, run, open_some, MAX_TURNS);
	measure_turn_about(restricted, whole, RESTRICTED_STAT, run, stat_some, MAX_TURNS);
}

static void print_row(enum row row, const char *what, double scale, const char *unit, double goal)
{
	double a = bench_median(ours[row], RUNS);
	double b = bench_median(theirs[row], RUNS);

	printf("%-34s %9.2f %-3s %9.2f %-3s %6.2f   <= %.2f %s\n", what, a * scale, unit, b * scale,
		unit, a / b, goal, a / b <= goal ? "" : "MISSED");
}

static void print_table(void)
{
	printf("%-34s %13s %13s %6s\n", "100,000 files of 500 bytes", "worldfs", "tmpfs", "ratio");
	print_row(OPEN_WARM, "open+read+close, warm", 1e6, "us", 1.7);
	print_row(STAT_WARM, "stat, warm", 1e6, "us", 1.3);
	print_row(TAR_WARM, "tar, warm", 1, "s", 1.3);
	print_row(TAR_COLD, "tar, cold", 1, "s", 2.0);
	print_row(OPEN_AT, "open under an old at/ (second: head)", 1e6, "us", 1.2);
	print_row(LIST_COLD, "list 100,000 names, cold", 1, "s", 3.0);
	printf("%-34s %13s %13s\n", "two mounts of one owner", "restricted", "whole");
	print_row(RESTRICTED_OPEN, "open+read+close, warm", 1e6, "us", 1.05);
	print_row(RESTRICTED_STAT, "stat, warm", 1e6, "us", 1.05);
	print_row(RESTRICTED_TAR, "tar, warm", 1, "s", 1.05);
	print_row(RESTRICTED_COLD, "tar, cold", 1, "s", 1.15);
}

int main(int argc, char **argv)
{
	char world[] = "bench-mount-XXXXXX";
	char world_directory[64];
	char head[4096];
	char at[4096];
	char restricted[4096];
	char tmpfs[4096];
	pid_t child = 0;

	if (argc != 5) {
		fprintf(stderr,
			"usage: bench-mount WORLD-SOURCE EMPTY-DIRECTORY EMPTY-DIRECTORY "
			"TMPFS-DIRECTORY\n");
		return 2;
	}
	bench_check(mkdtemp(world) ? 0 : -errno, "mkdtemp", NULL);
	snprintf(world_directory, sizeof(world_directory), "%s/world", world);
	snprintf(head, sizeof(head), "%s/reducers/counter", argv[2]);
	snprintf(at, sizeof(at), "%s/at/%d/reducers/counter", argv[2], FILES + 2);
	snprintf(restricted, sizeof(restricted), "%s/reducers/counter", argv[3]);
	snprintf(tmpfs, sizeof(tmpfs), "%s/worldfs-bench-%ld", argv[4], (long)getpid());
	bench_fill_apart(fill_world, argv[1], world_directory);
	fill_tmpfs(tmpfs);
	struct places one = {.world = world_directory, .whole = argv[2]};
	const struct places two = {
		.world = world_directory, .whole = argv[2], .restricted = argv[3]};
	for (size_t run = 0; run < RUNS; run++) {
		child = mount_anew(&one, child);
		ours[LIST_COLD][run] = list_names(head);
		theirs[LIST_COLD][run] = list_names(tmpfs);
		one.report = run == RUNS - 1;
		child = mount_anew(&one, child);
		measure_against_tmpfs(head, at, tmpfs, run);
		child = mount_anew(&two, child);
		measure_restricted(restricted, head, run);
	}
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	wfs_directory_remove(world);
	wfs_directory_remove(tmpfs);
	print_table();
	return 0;
}
