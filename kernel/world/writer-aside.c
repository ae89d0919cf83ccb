/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel thread that stands aside, and the committer. */
#include "kernel/world/writer-impl.h"

void wfs_world_set_committer(struct wfs_world *world, struct wfs_committer *committer)
{
	wfs_require(world->writer != NULL);
	WFS_GUARD(&world->writer->committer_lock);

	world->writer->committer = committer;
}

void wfs_world_step_aside(struct wfs_world *world)
{
	struct wfs_writer *const writer = world->writer;

	wfs_require(writer != NULL);
	WFS_GUARD(&writer->lock);
	writer->aside = true;
	pthread_cond_signal(&writer->queued);
	while (!writer->parked)
		pthread_cond_wait(&writer->settled, &writer->lock);
}

void wfs_world_refuse(struct wfs_world *world, bool refuse)
{
	struct wfs_writer *const writer = world->writer;

	wfs_require(writer != NULL);
	WFS_GUARD(&writer->lock);
	wfs_require(writer->parked);
	writer->refusing = refuse;
	pthread_cond_signal(&writer->queued);
}

void wfs_world_publish(
	struct wfs_world *world, const struct wfs_commit *commit, struct wfs_manifest *manifest)
{
	struct wfs_writer *const writer = world->writer;
	bool told = false;
	/* Nothing is allocated, because the commit cannot be taken back. */
	struct writer_batch batch = {.gather.commit = *commit, .told = &told};

	wfs_require(writer != NULL);
	writer_list_init(&batch.requests);
	if (commit->manifest_changed)
		wfs_world_manifest_set(world, wfs_manifest_ref(manifest));
	WFS_GUARD(&writer->lock);
	wfs_require(writer->parked);
	writer_hand_over(writer, &batch, commit->to_height);
	while (!told)
		pthread_cond_wait(&writer->settled, &writer->lock);
}

int wfs_world_resume(struct wfs_world *world, struct wfs_error *error)
{
	struct wfs_writer *const writer = world->writer;

	wfs_require(writer != NULL);
	pthread_mutex_lock(&writer->lock);
	const bool parked = writer->parked;
	pthread_mutex_unlock(&writer->lock);
	int r = parked ? writer_load(writer, error) : 0;
	if (r || !parked)
		return wfs_trace(r);
	/* A grant by which a waiting request was judged may have ended since then. */
	writer->grant_ended_height = writer->head.height;
	WFS_GUARD(&writer->lock);
	writer->aside = false;
	writer->parked = false;
	writer->refusing = false;
	pthread_cond_signal(&writer->queued);
	return 0;
}
