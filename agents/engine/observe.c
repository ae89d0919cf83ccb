/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/observe.h"

#include "agents/engine/engine.h"
#include "kernel/base/log.h"

static void tell(void *context, uint64_t seq, const json_t *event)
{
	struct engine *const engine = context;

	for (struct wfs_turn_observer *observer = engine->observers; observer;
		observer = observer->next) {
		const int r = seq < observer->from_height ? 0 : observer->event(observer, event);

		if (r)
			wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING,
				"an observer of turns failed, ignoring it: errno=%d", -r);
	}
}

void observe_tell(struct engine *engine)
{
	WFS_GUARD(&engine->observers_lock);

	if (engine->observers)
		engine->told_height =
			wfs_driving_events(&engine->driving, engine->told_height, tell, engine);
}

void wfs_agents_observe(struct wfs_driver *driver, struct wfs_turn_observer *observer)
{
	struct engine *const engine = (struct engine *)driver;
	WFS_GUARD(&engine->observers_lock);

	observer->from_height = wfs_driving_height(&engine->driving);
	if (!engine->observers)
		engine->told_height = observer->from_height;
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
