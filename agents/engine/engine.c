/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's thread: what comes to it, and its life. */
#include "agents/engine/engine.h"

#include <signal.h>

#include "agents/host/models.h"
#include "kernel/base/log.h"
#include "kernel/base/trust.h"

/* --- jobs --- */

bool engine_post(struct engine *engine, struct job *job, void (*run)(struct engine *, struct job *))
{
	WFS_GUARD(&engine->lock);

	if (engine->ended)
		return false;
	job->next = NULL;
	job->run = run;
	*engine->jobs_last = job;
	engine->jobs_last = &job->next;
	(void)uv_async_send(&engine->wake);
	return true;
}

bool engine_stopping(struct engine *engine)
{
	WFS_GUARD(&engine->lock);

	return engine->stopping;
}

uint64_t engine_ticket(struct engine *engine)
{
	WFS_GUARD(&engine->lock);

	return ++engine->tickets;
}

static struct job *take_jobs(struct engine *engine, bool *ret_rescan)
{
	WFS_GUARD(&engine->lock);
	struct job *const jobs = engine->jobs;

	engine->jobs = NULL;
	engine->jobs_last = &engine->jobs;
	*ret_rescan = engine->rescan;
	engine->rescan = false;
	return jobs;
}

/* Is there nothing to be waited for? Then no job is taken any more. */
static bool is_over(struct engine *engine)
{
	WFS_GUARD(&engine->lock);

	if (!engine->stopping || engine->open_count > 0 || engine->jobs || engine->ended)
		return false;
	engine->ended = true;
	return true;
}

static void close_if_over(struct engine *engine)
{
	if (!is_over(engine))
		return;
	wfs_model_client_free(WFS_STEAL(engine->client));
	uv_close((uv_handle_t *)&engine->wake, NULL);
}

void engine_one_less(struct engine *engine)
{
	engine->open_count--;
	if (engine->open_count == 0 && engine_stopping(engine))
		(void)uv_async_send(&engine->wake);
}

/* What has changed is not known. An intent that is gone is told when it is answered. */
static void look_at_all(struct engine *engine)
{
	engine_tell(engine);
	work_look_at_all(engine);
	drive_look_at_all(engine);
	chat_look(engine, NULL);
}

static void on_wake(uv_async_t *wake)
{
	struct engine *const engine = wake->data;
	bool rescan;
	struct job *job;

	while ((job = take_jobs(engine, &rescan)) != NULL || rescan) {
		while (job) {
			struct job *const next = job->next;

			job->run(engine, job);
			job = next;
		}
		if (rescan && !engine_stopping(engine))
			look_at_all(engine);
	}
	close_if_over(engine);
}

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
		engine_tell(engine);
		change->look(engine, change->key);
	}
	free(change);
}

static void post_change(struct engine *engine, struct wfs_bytes key,
	void (*look_at)(struct engine *engine, const char *key))
{
	struct change *const change = malloc(sizeof(*change) + key.size + 1);

	if (!change) {
		WFS_GUARD(&engine->lock);

		engine->rescan = true;
		if (!engine->ended)
			(void)uv_async_send(&engine->wake);
		return;
	}
	change->look = look_at;
	memcpy(change->key, key.data, key.size);
	change->key[key.size] = '\0';
	if (!engine_post(engine, &change->job, look))
		free(change);
}

/* On the publisher's thread, when every mount shows the commit. */
static void on_told(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct engine *const engine =
		(struct engine *)((char *)observer - offsetof(struct engine, observer));

	for (size_t i = 0; i < commit->change_count; i++) {
		const struct wfs_change *const change = &commit->changes[i];

		if (change->reducer_id == engine->intents_id)
			post_change(engine, change->key, work_look);
		else if (change->reducer_id == engine->turns_id)
			post_change(engine, change->key, drive_look);
		else if (change->reducer_id == engine->chats_id ||
			change->reducer_id == engine->plans_id)
			post_change(engine, change->key, chat_look);
	}
}

/* --- observers of events --- */

static void tell_all(struct engine *engine, uint64_t seq, const json_t *event)
{
	for (struct wfs_turn_observer *observer = engine->observers; observer;
		observer = observer->next) {
		const int r = seq < observer->from_height ? 0 : observer->event(observer, event);

		if (r)
			wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING,
				"an observer of turns failed, ignoring it: errno=%d", -r);
	}
}

static void tell_record(struct engine *engine, uint64_t seq, struct wfs_bytes line)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};

	if (wfs_record_parse(line, &parsed, NULL) || parsed.record.kind != WFS_RECORD_EVENT)
		return;
	const char *const schema = json_string_value(json_object_get(parsed.body_json, "schema"));
	if (schema && wfs_kernel_event_find(schema) < WFS_KERNEL_EVENT_COUNT)
		tell_all(engine, seq, json_object_get(parsed.body_json, "value"));
}

void engine_tell(struct engine *engine)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_error error;
	struct wfs_bytes line;
	WFS_GUARD(&engine->observers_lock);

	if (!engine->observers || wfs_view_open(engine->world, WFS_HEIGHT_HEAD, &view, &error))
		return;
	for (; engine->told_height < view.height; engine->told_height++)
		if (wfs_view_record(&view, engine->told_height, &line) == 0)
			tell_record(engine, engine->told_height, line);
}

void wfs_agents_observe(struct wfs_driver *driver, struct wfs_turn_observer *observer)
{
	struct engine *const engine = (struct engine *)driver;
	struct wfs_world_figures figures;
	WFS_GUARD(&engine->observers_lock);

	wfs_world_figures(engine->world, &figures);
	if (!engine->observers)
		engine->told_height = figures.height;
	observer->from_height = figures.height;
	observer->next = engine->observers;
	engine->observers = observer;
}

void wfs_agents_unobserve(struct wfs_driver *driver, struct wfs_turn_observer *observer)
{
	struct engine *const engine = (struct engine *)driver;
	WFS_GUARD(&engine->observers_lock);

	for (struct wfs_turn_observer **at = &engine->observers; *at; at = &(*at)->next) {
		if (*at == observer) {
			*at = observer->next;
			return;
		}
	}
}

/* --- life --- */

static void *run(void *argument)
{
	struct engine *const engine = argument;
	sigset_t all;

	sigfillset(
		&all); /* signals are for the program's own threads; nobody dies of a lost connection */
	(void)pthread_sigmask(SIG_BLOCK, &all, NULL);
	(void)pthread_setname_np(pthread_self(), "wfs-agents");
	if (!engine->paused)
		work_look_at_all(engine);
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void stop(struct engine *engine, struct job *job)
{
	(void)job;
	embed_drop_all(engine);
	work_drop_all(engine);
	drive_drop_all(engine);
	chat_drop_all(engine);
}

bool engine_trusts(const struct engine *engine, struct wfs_error *error)
{
	return wfs_trust_check_now(wfs_world_directory(engine->world), error) == 0;
}

static void begin(struct wfs_driver *driver, struct wfs_drive *drive)
{
	const struct engine *const engine = (const struct engine *)driver;

	if (!engine_trusts(engine, &drive->error)) {
		drive->status = -wfs_error_info(drive->error.code)->number;
		drive->done(drive);
		return;
	}
	if (drive->what == WFS_DRIVE_STEP)
		drive_step(driver, drive);
	else
		chat_begin(driver, drive);
}

static void engine_stop(struct wfs_driver *driver)
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

static void engine_free(struct wfs_driver *driver)
{
	struct engine *const engine = (struct engine *)driver;

	engine_stop(driver);
	wfs_world_unobserve(engine->world, &engine->observer);
	pthread_join(engine->thread, NULL);
	wfs_require(uv_loop_close(&engine->loop) == 0);
	pthread_mutex_destroy(&engine->lock);
	pthread_mutex_destroy(&engine->observers_lock);
	free(engine);
}

static int find_reducers(struct engine *engine, struct wfs_error *error)
{
	const struct {
		enum wfs_builtin_reducer reducer;
		uint32_t *id;
	} watched[] = {
		{WFS_BUILTIN_INTENT, &engine->intents_id},
		{WFS_BUILTIN_TURN, &engine->turns_id},
		{WFS_BUILTIN_CHAT_MESSAGE, &engine->chats_id},
		{WFS_BUILTIN_PLAN, &engine->plans_id},
	};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_view_open(engine->world, WFS_HEIGHT_HEAD, &view, error);

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(watched); i++) {
		struct wfs_reducer reducer;

		r = wfs_view_builtin(&view, watched[i].reducer, &reducer);
		if (!r)
			*watched[i].id = reducer.reducer_id;
	}
	return r;
}

static void close_loop(struct engine *engine)
{
	wfs_model_client_free(engine->client);
	if (engine->wake.data)
		uv_close((uv_handle_t *)&engine->wake, NULL);
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&engine->loop);
}

/* None of these fails for another reason than memory or descriptors. */
static int make_loop(struct engine *engine)
{
	int r = uv_loop_init(&engine->loop);

	if (r)
		return r;
	r = uv_async_init(&engine->loop, &engine->wake, on_wake);
	if (!r) {
		engine->wake.data = engine;
		r = wfs_model_client_new(&engine->loop, &engine->client);
	}
	if (r)
		close_loop(engine);
	return r;
}

static int make_thread(struct engine *engine)
{
	wfs_world_observe(engine->world, &engine->observer);
	const int r = -pthread_create(&engine->thread, NULL, run, engine);
	if (r) {
		wfs_world_unobserve(engine->world, &engine->observer);
		close_loop(engine);
	}
	return r;
}

int wfs_agents_start(struct wfs_authority *authority, const struct wfs_helpers *helpers,
	bool paused, struct wfs_driver **ret_driver, struct wfs_error *error)
{
	WFS_AUTO_FREE struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return wfs_error_from_errno(error, -ENOMEM, "drive the world's agents");
	engine->driver = (struct wfs_driver){begin, drive_abandon, engine_stop, engine_free};
	engine->observer = (struct wfs_observer){.told = on_told};
	engine->authority = authority;
	engine->world = wfs_authority_world(authority);
	engine->helpers = helpers;
	engine->paused = paused || !engine_trusts(engine, NULL);
	engine->jobs_last = &engine->jobs;
	pthread_mutex_init(&engine->lock, NULL);
	pthread_mutex_init(&engine->observers_lock, NULL);
	int r = find_reducers(engine, error);
	if (r)
		return r;
	r = make_loop(engine);
	wfs_models_guard_keys(wfs_world_directory(engine->world));
	if (!r) {
		/* Before anything is done: what a store's first entry has is the store's model. */
		embed_start(engine);
		r = make_thread(engine);
	}
	if (r) {
		embed_stop(engine);
		return wfs_error_from_errno(error, r, "drive the world's agents");
	}
	*ret_driver = &WFS_STEAL(engine)->driver;
	return 0;
}
