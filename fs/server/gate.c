/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/server/gate.h"

#include <pthread.h>
#include <stdlib.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/clock.h"
#include "kernel/base/log.h"

enum {
	MS_NS = 1000000,
	S_NS = 1000 * MS_NS,
	HELD_MAX = 1024, /* requests that wait for the driver */
};

/* A request that waits for the driver. */
struct held {
	struct held *next;
	struct wfs_drive *drive;
};

struct wfs_gate {
	struct wfs_driver driver; /* first: its functions cast back */
	wfs_driver_start *drive;
	struct wfs_authority *authority;
	const struct wfs_helpers *helpers;
	bool paused;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Lock for the following: lock. */
	struct wfs_driver *real; /* NULL: shut */
	size_t users;            /* calls of functions of `real` */
	struct held *held;       /* the newest first */
	size_t held_count;
	bool open;        /* as it is wanted */
	int64_t begin_ns; /* when it opens, by the monotonic clock */
	bool stopping;    /* nothing begins any more */
	bool ending;      /* the gate is being freed */
};

static struct wfs_gate *gate_of(struct wfs_driver *driver)
{
	return (struct wfs_gate *)driver;
}

/* Takes the real driver for one call. Return: NULL: the gate is shut. */
static struct wfs_driver *take(struct wfs_gate *gate)
{
	WFS_GUARD(&gate->lock);

	gate->users += gate->real != NULL;
	return gate->real;
}

static void give_back(struct wfs_gate *gate)
{
	WFS_GUARD(&gate->lock);

	if (--gate->users == 0)
		pthread_cond_broadcast(&gate->changed);
}

/* --- the driver of the gate --- */

static void refuse(struct wfs_drive *drive)
{
	drive->status = wfs_error_set(&drive->error, WFS_E_UNAVAILABLE,
		"this node does not own the world: agents, plans and outside tools run at the "
		"owner");
	drive->done(drive);
}

/* Keeps the request for the driver, if one is to start. Return: false: none is, or there are too
 * many. */
static bool hold(struct wfs_gate *gate, struct wfs_drive *drive)
{
	WFS_GUARD(&gate->lock);
	struct held *const held = gate->open && !gate->stopping && gate->held_count < HELD_MAX
		? malloc(sizeof(*held))
		: NULL;

	if (!held)
		return false;
	*held = (struct held){.next = gate->held, .drive = drive};
	gate->held = held;
	gate->held_count++;
	pthread_cond_broadcast(&gate->changed);
	return true;
}

static void gate_begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	struct wfs_gate *const gate = gate_of(driver);
	struct wfs_driver *const real = take(gate);

	if (real) {
		real->begin(real, drive);
		give_back(gate);
	} else if (!hold(gate, drive)) {
		refuse(drive);
	}
}

static void gate_abandon(struct wfs_driver *driver, uint64_t ticket)
{
	struct wfs_gate *const gate = gate_of(driver);
	struct wfs_driver *const real = take(gate);

	if (!real) /* all requests were answered when the gate was shut */
		return;
	real->abandon(real, ticket);
	give_back(gate);
}

static void gate_stop(struct wfs_driver *driver)
{
	struct wfs_gate *const gate = gate_of(driver);
	struct wfs_driver *const real = take(gate);

	pthread_mutex_lock(&gate->lock);
	gate->stopping = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
	if (!real)
		return;
	real->stop(real);
	give_back(gate);
}

static void gate_reload(struct wfs_driver *driver)
{
	struct wfs_gate *const gate = gate_of(driver);
	struct wfs_driver *const real = take(gate);

	if (!real)
		return;
	if (real->reload)
		real->reload(real);
	give_back(gate);
}

static bool gate_paused(struct wfs_driver *driver)
{
	struct wfs_gate *const gate = gate_of(driver);
	struct wfs_driver *const real = take(gate);

	if (!real)
		return gate->paused;
	const bool paused = real->paused(real);
	give_back(gate);
	return paused;
}

static void gate_free(struct wfs_driver *driver)
{
	struct wfs_gate *const gate = gate_of(driver);

	pthread_mutex_lock(&gate->lock);
	gate->ending = true;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
	pthread_join(gate->thread, NULL);
	pthread_mutex_destroy(&gate->lock);
	pthread_cond_destroy(&gate->changed);
	free(gate);
}

/* --- the thread that opens and shuts it --- */

/* Begins the requests that were held, in their order, or refuses them. Lock: held, but not during
 * that. */
static void let_go(struct wfs_gate *gate)
{
	struct wfs_driver *const real = gate->real;
	struct held *first = NULL;

	while (gate->held) {
		struct held *const held = gate->held;

		gate->held = held->next;
		held->next = first;
		first = held;
	}
	gate->held_count = 0;
	pthread_mutex_unlock(&gate->lock);
	while (first) {
		struct held *const held = first;

		first = held->next;
		if (real)
			real->begin(real, held->drive);
		else
			refuse(held->drive);
		free(held);
	}
	pthread_mutex_lock(&gate->lock);
}

/* Lock: held, but not while the driver starts. */
static void start_real(struct wfs_gate *gate)
{
	struct wfs_error error = {0};
	struct wfs_driver *real = NULL;

	pthread_mutex_unlock(&gate->lock);
	if (gate->drive(gate->authority, gate->helpers, gate->paused, &real, &error))
		wfs_log(WFS_LOG_REPLICA, WFS_LOG_ERR, "agents are not driven: %s", error.message);
	pthread_mutex_lock(&gate->lock);
	gate->real = real;
	if (!real)
		gate->open = false; /* until the node owns the world again */
}

/* Lock: held, but not while the driver is freed. */
static void end_real(struct wfs_gate *gate)
{
	struct wfs_driver *const real = gate->real;

	gate->real = NULL;
	while (gate->users > 0)
		pthread_cond_wait(&gate->changed, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
	real->free(real);
	pthread_mutex_lock(&gate->lock);
}

/* Lock: held. */
static void wait_for_change(struct wfs_gate *gate, bool opens)
{
	const struct timespec due = {gate->begin_ns / S_NS, gate->begin_ns % S_NS};

	if (opens)
		(void)pthread_cond_timedwait(&gate->changed, &gate->lock, &due);
	else
		pthread_cond_wait(&gate->changed, &gate->lock);
}

static void *gate_main(void *argument)
{
	struct wfs_gate *const gate = argument;

	pthread_setname_np(pthread_self(), "wfs-gate");
	WFS_GUARD(&gate->lock);
	for (;;) {
		const bool wanted = gate->open && !gate->stopping && !gate->ending;

		if (wanted && !gate->real && wfs_clock_monotonic_ns() >= gate->begin_ns)
			start_real(gate);
		else if (gate->real && (gate->ending || !gate->open))
			end_real(gate);
		else if (gate->held && (gate->real || !wanted))
			let_go(gate);
		else if (gate->ending)
			return NULL;
		else
			wait_for_change(gate, wanted && !gate->real);
	}
}

/* --- life --- */

int wfs_gate_new(wfs_driver_start *drive, struct wfs_authority *authority,
	const struct wfs_helpers *helpers, bool paused, struct wfs_gate **ret_gate,
	struct wfs_error *error)
{
	struct wfs_gate *const gate = calloc(1, sizeof(*gate));
	pthread_condattr_t monotonic;

	if (!gate)
		return wfs_error_from_errno(error, -ENOMEM, "drive agents");
	gate->driver = (struct wfs_driver){
		gate_begin, gate_abandon, gate_stop, gate_reload, gate_paused, gate_free};
	gate->drive = drive;
	gate->authority = authority;
	gate->helpers = helpers;
	gate->paused = paused;
	pthread_mutex_init(&gate->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&gate->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&gate->thread, NULL, gate_main, gate)) {
		pthread_mutex_destroy(&gate->lock);
		pthread_cond_destroy(&gate->changed);
		free(gate);
		return wfs_error_set(
			error, WFS_E_OVERLOADED, "a thread for agents cannot be started");
	}
	*ret_gate = gate;
	return 0;
}

struct wfs_driver *wfs_gate_driver(struct wfs_gate *gate)
{
	return &gate->driver;
}

void wfs_gate_open(struct wfs_gate *gate, int64_t delay_ms)
{
	WFS_GUARD(&gate->lock);

	gate->open = true;
	gate->begin_ns = wfs_clock_monotonic_ns() + delay_ms * MS_NS;
	pthread_cond_broadcast(&gate->changed);
}

void wfs_gate_shut(struct wfs_gate *gate)
{
	WFS_GUARD(&gate->lock);

	gate->open = false;
	pthread_cond_broadcast(&gate->changed);
}
