/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/engine.h"

#include "caps/authority.h"
#include "caps/session-act.h"
#include "kernel/base/trust.h"

/* --- jobs --- */

bool engine_post(
	struct engine *engine, struct job *job, void (*run)(struct engine *engine, struct job *job))
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

static void on_answer(struct wfs_request *request)
{
	struct job *const job = request->context;

	(void)engine_post(job->engine, job, job->run);
}

struct wfs_request engine_request(
	struct engine *engine, struct job *job, void (*run)(struct engine *engine, struct job *job))
{
	job->engine = engine;
	job->run = run;
	return (struct wfs_request){.done = on_answer, .context = job};
}

void engine_rescan(struct engine *engine)
{
	WFS_GUARD(&engine->lock);

	engine->rescan = true;
	if (!engine->ended)
		(void)uv_async_send(&engine->wake);
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

/* Does the thread wait for nothing any more? If so, it takes no more jobs. */
static bool is_over(struct engine *engine)
{
	WFS_GUARD(&engine->lock);

	if (!engine->stopping || engine->open_count > 0 || engine->jobs || engine->ended)
		return false;
	engine->ended = true;
	return true;
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
			engine->look_at_all(engine);
	}
	if (is_over(engine)) {
		engine->over(engine);
		wfs_model_client_free(WFS_STEAL(engine->client));
		uv_close((uv_handle_t *)&engine->wake, NULL);
	}
}

void engine_one_less(struct engine *engine)
{
	engine->open_count--;
	if (engine->open_count == 0 && engine_stopping(engine))
		(void)uv_async_send(&engine->wake);
}

bool engine_trusts(const struct engine *engine, struct wfs_error *error)
{
	return wfs_trust_check_now(wfs_authority_directory(engine->authority), error) == 0;
}

/* --- life --- */

void engine_done(struct engine *engine)
{
	wfs_require(uv_loop_close(&engine->loop) == 0);
	pthread_mutex_destroy(&engine->lock);
	pthread_mutex_destroy(&engine->observers_lock);
}

void engine_close(struct engine *engine)
{
	wfs_model_client_free(engine->client);
	if (engine->wake.data)
		uv_close((uv_handle_t *)&engine->wake, NULL);
	(void)uv_run(&engine->loop, UV_RUN_DEFAULT);
	engine_done(engine);
}

int engine_open(struct engine *engine)
{
	int r = uv_loop_init(&engine->loop);

	if (r)
		return r;
	engine->jobs_last = &engine->jobs;
	pthread_mutex_init(&engine->lock, NULL);
	pthread_mutex_init(&engine->observers_lock, NULL);
	r = uv_async_init(&engine->loop, &engine->wake, on_wake);
	if (!r) {
		engine->wake.data = engine;
		r = wfs_model_client_new(&engine->loop, &engine->client);
	}
	if (r)
		engine_close(engine);
	return r;
}
