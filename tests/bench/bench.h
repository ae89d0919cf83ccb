/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks share: worlds full of events, medians. Any failure ends the program. */
#pragma once

#include "caps/session.h"

/** bench_check() - print @what and why, and exit, when @r is negative; @error may be NULL. */
void bench_check(int r, const char *what, const struct wfs_error *error);

double bench_seconds_since(int64_t start_ns);

/** bench_median() - the median of @count values; sorts them. */
double bench_median(double *values, size_t count);

/** bench_rss_anon_kib() - the anonymous memory of this process: memory that belongs to no file. */
unsigned long bench_rss_anon_kib(void);

/* A world and the operator's session in it. */
struct bench_world {
	struct wfs_world *world;
	struct wfs_authority *authority;
	struct wfs_session *session;
};

void bench_world_create(const char *source_directory, const char *directory);

/** bench_fill_apart() - call @fill in a process of its own, whose memory is not measured. */
void bench_fill_apart(void (*fill)(const char *source_directory, const char *directory),
	const char *source_directory, const char *directory);

struct bench_world bench_world_open(const char *directory);

/** bench_world_let() - make the principal @id, which may read what @scope covers and nothing
 * else. */
void bench_world_let(const struct bench_world *world, const char *id, const char *scope);

/** bench_world_close() - close the world after all requests are answered. */
void bench_world_close(struct bench_world *world);

/**
 * bench_send() - send @count events of schema test/Add@1 and wait for their answers
 * @lines: @line_count payloads, taken in turn; parsed when they are sent, as a client's are
 * @batch: twice as many wait for their answers, so that one batch gathers while another is folded
 */
void bench_send(const struct bench_world *world, char *const *lines, size_t line_count,
	size_t count, size_t batch);

/** bench_event() - the payload that adds 1 to the cell @key; caller frees. */
char *bench_event(const char *key, const char *pad);

/** bench_events() - @count payloads of about 200 bytes, for @keys keys in turn. */
char **bench_events(size_t count, size_t keys);
void bench_events_free(char **lines, size_t count);
