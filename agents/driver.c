/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the parts of agents/: starts and stops the thread, and passes commits and requests on. */
#include "agents/driver.h"

#include <signal.h>

#include "agents/engine/chat.h"
#include "agents/engine/embed.h"
#include "agents/engine/engine.h"
#include "agents/engine/outside.h"
#include "agents/engine/run.h"
#include "agents/engine/timers.h"
#include "agents/engine/tool.h"
#include "agents/engine/wait.h"
#include "agents/engine/work.h"
#include "agents/host/models.h"
#include "agents/intent/again.h"
#include "agents/intent/intent.h"
#include "caps/authority.h"
#include "kernel/base/log.h"

/* --- commits --- */

/* A cell that has changed. */
struct change {
	struct job job;
	void (*look)(struct engine *engine, const char *key);
	char key[];
};

static void look(struct engine *engine, struct job *job)
{
	struct change *const change = (struct change *)job;

	if (!engine_stopping(engine)) {
		observe_tell(engine);
		change->look(engine, change->key);
	}
	free(change);
}

static void post_change(struct engine *engine, struct wfs_bytes key,
	void (*look_at)(struct engine *engine, const char *key))
{
	struct change *const change = malloc(sizeof(*change) + key.size + 1);

	if (!change) {
		engine_rescan(engine);
		return;
	}
	change->look = look_at;
	memcpy(change->key, key.data, key.size);
	change->key[key.size] = '\0';
	if (!engine_post(engine, &change->job, look))
		free(change);
}

static struct engine *engine_of(struct wfs_driving *driving)
{
	return CONTAINER_OF(driving, struct engine, driving);
}

static void intent_changed(struct wfs_driving *driving, struct wfs_bytes key)
{
	post_change(engine_of(driving), key, work_look);
}

static void owner_changed(struct wfs_driving *driving, struct wfs_bytes key)
{
	post_change(engine_of(driving), key, wait_look);
}

static void timer_changed(struct wfs_driving *driving)
{
	timers_changed(engine_of(driving));
}

/* A work whose intent has gone gets an error as the answer to its receipt. */
static void look_at_all(struct engine *engine)
{
	observe_tell(engine);
	work_look_at_all(engine);
	wait_look_at_all(engine);
	timers_look(engine);
}

/* --- requests --- */

static void begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	static const struct wait_kind *const kinds[WFS_DRIVE_COUNT] = {
		[WFS_DRIVE_STEP] = &wait_for_runs,
		[WFS_DRIVE_AGAIN] = &wait_for_again,
		[WFS_DRIVE_CHAT] = &wait_for_plan,
		[WFS_DRIVE_IMPORT] = &wait_for_plan,
		[WFS_DRIVE_RESUME] = &wait_for_plan,
		[WFS_DRIVE_TOOL] = &wait_for_tool,
		[WFS_DRIVE_TOOLS] = &wait_for_tools,
	};
	struct engine *const engine = (struct engine *)driver;

	if (!engine_trusts(engine, &drive->error)) {
		drive->status = -wfs_error_info(drive->error.code)->number;
		drive->done(drive);
		return;
	}
	wait_begin(engine, kinds[drive->what], drive);
}

static void abandon(struct wfs_driver *driver, uint64_t ticket)
{
	wait_abandon((struct engine *)driver, ticket);
}

/* --- life --- */

static void *run(void *argument)
{
	struct engine *const engine = argument;
	sigset_t all;

	sigfillset(&all); /* the program's own threads take signals; SIGPIPE ends nothing here */
	(void)pthread_sigmask(SIG_BLOCK, &all, NULL);
	(void)pthread_setname_np(pthread_self(), "wfs-agents");
	outside_start(engine);
	if (!engine->paused)
		work_look_at_first(engine);
	timers_start(engine);
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void stop(struct engine *engine, struct job *job)
{
	(void)job;
	embed_drop_all(engine);
	timers_drop_all(engine);
	work_drop_all(engine);
	wait_drop_all(engine);
}

static void reload(struct engine *engine, struct job *job)
{
	free(job);
	wfs_models_guard_keys(wfs_authority_directory(engine->authority));
	embed_start(engine);
	outside_start(engine);
}

static void driver_stop(struct wfs_driver *driver)
{
	struct engine *const engine = (struct engine *)driver;
	bool first;

	pthread_mutex_lock(&engine->lock);
	first = !engine->stopping;
	engine->stopping = true;
	pthread_mutex_unlock(&engine->lock);
	if (!first)
		return;
	embed_stop(engine);
	(void)engine_post(engine, &engine->stop, stop);
}

static void driver_reload(struct wfs_driver *driver)
{
	struct engine *const engine = (struct engine *)driver;
	struct job *const job = calloc(1, sizeof(*job));

	if (!job)
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_ERR, "no memory to read host.json again");
	else if (!engine_post(engine, job, reload))
		free(job);
}

static bool driver_paused(struct wfs_driver *driver)
{
	return !atomic_load(&((struct engine *)driver)->timers.started);
}

static void driver_free(struct wfs_driver *driver)
{
	struct engine *const engine = (struct engine *)driver;

	driver_stop(driver);
	wfs_driving_end(&engine->driving);
	pthread_join(engine->thread, NULL);
	engine_done(engine);
	free(engine);
}

static void over(struct engine *engine)
{
	outside_stop(engine);
	timers_close(engine);
}

int wfs_agents_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error)
{
	WFS_AUTO_FREE struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return wfs_error_from_errno(error, -ENOMEM, "drive the world's agents");
	engine->driver = (struct wfs_driver){
		begin, abandon, driver_stop, driver_reload, driver_paused, driver_free};
	engine->driving = (struct wfs_driving){intent_changed, owner_changed, timer_changed};
	engine->authority = authority;
	engine->helpers = helpers;
	engine->work_kinds = intent_kinds;
	engine->look_at_all = look_at_all;
	engine->over = over;
	int r = wfs_driving_init(&engine->driving, authority, error);
	if (r)
		return r;
	engine->paused = paused || !engine_trusts(engine, NULL);
	r = engine_open(engine);
	wfs_models_guard_keys(wfs_authority_directory(engine->authority));
	if (r)
		return wfs_error_from_errno(error, r, "drive the world's agents");
	/* Before the thread: the first entry of a store decides which model it has. */
	embed_start(engine);
	wfs_driving_begin(&engine->driving);
	r = -pthread_create(&engine->thread, NULL, run, engine);
	if (r) {
		wfs_driving_end(&engine->driving);
		embed_stop(engine);
		engine_close(engine);
		return wfs_error_from_errno(error, r, "drive the world's agents");
	}
	*ret_driver = &WFS_STEAL(engine)->driver;
	return 0;
}
