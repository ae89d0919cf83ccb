/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/observe.h"

#include "agents/engine/engine.h"
#include "kernel/base/log.h"

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

void observe_tell(struct engine *engine)
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
