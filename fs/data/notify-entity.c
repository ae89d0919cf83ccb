/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts, principals, turns and plans after a commit: names that lead elsewhere, and content and code
 * that the mount's principal may not read any more.
 *
 * Whoever reads has the page locked until he is answered, and was judged by the commit that was
 * newest when he asked; so what is dropped here does not come back.
 */
#include "fs/data/notify-impl.h"

#include "kernel/base/encode.h"

enum { WALKED_AT_ONCE = 64 }; /* principals under one view */

static const char grants_name[] = "grants.json";

/* Looks at something in a view of its own, and again when there is no memory for it. */
typedef int look_fn(struct wfs_notify *notify, struct wfs_view *view, void *context);

static int look(struct wfs_notify *notify, uint64_t height, look_fn *each, void *context)
{
	unsigned int tries = 0;
	int r;

	do {
		WFS_AUTO_VIEW struct wfs_view view = {0};

		r = wfs_session_view(notify->tree->session, height, &view, NULL);
		if (!r)
			r = each(notify, &view, context);
	} while (notify_again(r, &tries));
	return r;
}

/* --- names --- */

/* The directory of one at the head; 0: it has none. */
struct place {
	enum wfs_entity entity;
	struct wfs_bytes id;
	uint64_t ino;
};

static int look_for_place(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct place *const place = context;
	uint64_t number;
	int r = wfs_session_entity_number(
		notify->tree->session, view, place->entity, place->id, &number);

	if (!r && !wfs_tree_entity_ino(place->entity, number, &place->ino))
		place->ino = 0;
	return notify_known(r);
}

/* Of a directory in it the name leads to the same as long as there is one. */
static bool is_dropped(enum wfs_entity_file file, enum wfs_entity entity)
{
	return wfs_entity_file_entity(file) == entity &&
		wfs_entity_file_form(file) != WFS_ENTITY_STEPS &&
		wfs_entity_file_form(file) != WFS_ENTITY_BESIDE;
}

/* All names in its directory, unless Linux does not know that: then it has none of them. */
static int drop_files(struct wfs_notify *notify, enum wfs_entity entity, struct wfs_bytes id)
{
	struct place place = {.entity = entity, .id = id};
	int r = look(notify, WFS_HEIGHT_HEAD, look_for_place, &place);

	if (r || place.ino == 0)
		return r;
	r = wfs_teller_inode(notify->teller, place.ino, WFS_TELLER_ATTRIBUTES);
	if (r)
		return notify_known(r);
	for (int i = 0; !r && i < WFS_ENTITY_FILE_COUNT; i++) {
		const char *const name = wfs_entity_file_name((enum wfs_entity_file)i);

		if (is_dropped((enum wfs_entity_file)i, entity))
			r = notify_name(notify, place.ino, name, strlen(name));
	}
	return r ? r : notify_listing(notify, place.ino);
}

static uint64_t directory_of(enum wfs_entity entity)
{
	return wfs_tree_directory_ino(wfs_tree_entities_directory(entity), 0);
}

/* @suffix: behind it */
static int drop_name(
	struct wfs_notify *notify, enum wfs_entity entity, struct wfs_bytes id, const char *suffix)
{
	wfs_buffer_reset(&notify->name);
	wfs_name_append(&notify->name, id.data, id.size);
	wfs_buffer_append_text(&notify->name, suffix);
	int r = wfs_buffer_check(&notify->name);
	return r ? r
		 : notify_name(notify, directory_of(entity), wfs_buffer_text(&notify->name),
			   notify->name.size);
}

/* --- content and code --- */

/* The next version of an artifact's text, downwards. */
struct text {
	enum wfs_entity_file file;
	struct wfs_bytes id;
	uint64_t vid;
};

static int look_for_text(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct text *const text = context;

	return wfs_session_text_before(
		notify->tree->session, view, text->file, text->id, text->vid, &text->vid);
}

/* Every version, for all of them are judged by the newest rule, below heights and in open files. */
static int drop_texts(struct wfs_notify *notify, enum wfs_entity_file file, struct wfs_bytes id)
{
	struct text text = {.file = file, .id = id, .vid = UINT64_MAX};
	int r;

	while ((r = look(notify, WFS_HEIGHT_HEAD, look_for_text, &text)) == 0) {
		const struct wfs_node live = {.kind = WFS_NODE_LIVE, .number = text.vid};
		const struct wfs_node version = {.kind = WFS_NODE_VERSION, .number = text.vid};

		r = notify_known(wfs_teller_inode(notify->teller, wfs_ino_encode(&live), 0));
		if (!r)
			r = notify_known(
				wfs_teller_inode(notify->teller, wfs_ino_encode(&version), 0));
		if (r)
			return r;
	}
	return notify_known(r);
}

static int look_for_right(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	bool *const reads = ((void **)context)[0];
	const struct wfs_bytes *const id = ((void **)context)[1];
	int r = wfs_session_reads(notify->tree->session, view, *id);

	*reads = r > 0;
	return r < 0 ? r : 0;
}

static int may_read(
	struct wfs_notify *notify, uint64_t height, struct wfs_bytes id, bool *ret_reads)
{
	void *context[] = {ret_reads, &id};

	return look(notify, height, look_for_right, context);
}

/* When the rule before let it be read, and the one of now does not. */
static int drop_lost_texts(
	struct wfs_notify *notify, const struct wfs_commit *commit, struct wfs_bytes id)
{
	bool before = false;
	bool now = false;
	int r = may_read(notify, WFS_HEIGHT_HEAD, id, &now);

	if (r || now)
		return r;
	r = may_read(notify, commit->from_height, id, &before);
	if (r == -ENOENT) { /* that height was dropped meanwhile */
		before = true;
		r = 0;
	}
	if (r || !before)
		return r;
	r = drop_texts(notify, WFS_ENTITY_FILE_CONTENT, id);
	return r ? r : drop_texts(notify, WFS_ENTITY_FILE_CODE, id);
}

/* --- grants --- */

struct grantee {
	struct wfs_bytes grant;
	struct wfs_buffer *id;
};

static int look_for_grantee(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	const struct grantee *const grantee = context;

	wfs_buffer_reset(grantee->id);
	return wfs_session_grantee(notify->tree->session, view, grantee->grant, grantee->id);
}

/* Who has the grant at this height, or had it. */
static int drop_grantee(struct wfs_notify *notify, uint64_t height, struct wfs_bytes grant)
{
	WFS_AUTO_BUFFER struct wfs_buffer id = {0};
	struct grantee grantee = {grant, &id};
	int r = look(notify, height, look_for_grantee, &grantee);

	return r ? notify_known(r)
		 : drop_files(notify, WFS_ENTITY_PRINCIPAL, wfs_buffer_bytes(&id));
}

/* The directories of the next few principals. */
struct walked {
	uint64_t after_id;
	uint64_t inos[WALKED_AT_ONCE];
	size_t count;
};

static int look_for_principals(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	WFS_AUTO_SESSION_WALK struct wfs_session_walk walk = {.entity = WFS_ENTITY_PRINCIPAL};
	struct walked *const walked = context;
	struct wfs_entry entry;
	int r = wfs_session_entities(
		notify->tree->session, view, WFS_ENTITY_PRINCIPAL, walked->after_id, &walk, NULL);

	walked->count = 0;
	while (!r && walked->count < WALKED_AT_ONCE &&
		(r = wfs_session_walk_next(&walk, &entry)) > 0) {
		walked->after_id = entry.cell_id;
		walked->count += wfs_tree_entity_ino(WFS_ENTITY_PRINCIPAL,
			wfs_cell_ordinal(entry.cell_id), &walked->inos[walked->count]);
		r = 0;
	}
	return r == -EACCES ? 0 : r; /* of what may not be seen nothing is cached */
}

int notify_grants(struct wfs_notify *notify)
{
	struct walked walked = {.after_id = 0};
	int r;

	do {
		r = look(notify, WFS_HEIGHT_HEAD, look_for_principals, &walked);
		for (size_t i = 0; !r && i < walked.count; i++)
			r = notify_name(
				notify, walked.inos[i], grants_name, sizeof(grants_name) - 1);
	} while (!r && walked.count > 0);
	return r;
}

/* --- steps of plans --- */

/* The directory `steps` whose changes are told. */
struct steps {
	struct wfs_bytes plan_id; /* borrowed from the commit; of size 0: there is none yet */
	struct wfs_bytes key;     /* of the step at hand */
	uint64_t ino;             /* 0: it has none, or Linux does not know it */
	bool listing;             /* names came or went in it */
};

static int look_for_steps(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	struct steps *const steps = context;
	uint64_t number;
	int r = wfs_session_entity_number(
		notify->tree->session, view, WFS_ENTITY_PLAN, steps->plan_id, &number);

	if (!r && !wfs_tree_steps_ino(number, &steps->ino))
		steps->ino = 0;
	return notify_known(r);
}

static int look_for_step(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	const struct steps *const steps = context;

	wfs_buffer_reset(&notify->name);
	return wfs_session_plan_step_name(notify->tree->session, view, steps->key, &notify->name);
}

/* Behind the last change in it. */
static int end_steps(struct wfs_notify *notify, struct steps *steps)
{
	const bool listing = steps->listing && steps->ino != 0;

	steps->listing = false;
	return listing ? notify_listing(notify, steps->ino) : 0;
}

/* A directory that Linux does not know has no names there. */
static int begin_steps(struct wfs_notify *notify, struct wfs_bytes plan_id, struct steps *steps)
{
	int r = end_steps(notify, steps);

	if (r)
		return r;
	*steps = (struct steps){.plan_id = plan_id};
	r = look(notify, WFS_HEIGHT_HEAD, look_for_steps, steps);
	if (r || steps->ino == 0)
		return r;
	r = wfs_teller_inode(notify->teller, steps->ino, WFS_TELLER_ATTRIBUTES);
	if (r)
		steps->ino = 0;
	return notify_known(r);
}

static int drop_step(
	struct wfs_notify *notify, const struct wfs_change *change, struct steps *steps)
{
	struct wfs_bytes plan_id;
	int64_t index;
	int r = 0;

	if (!wfs_plan_step_key(change->key, &plan_id, &index))
		return 0;
	if (!wfs_bytes_equal(plan_id, steps->plan_id))
		r = begin_steps(notify, plan_id, steps);
	if (r || steps->ino == 0)
		return r;
	steps->key = change->key;
	steps->listing |= notify_names_changed(change);
	r = look(notify, WFS_HEIGHT_HEAD, look_for_step, steps);
	return notify_known(r ? r
			      : notify_name(notify, steps->ino, wfs_buffer_text(&notify->name),
					notify->name.size));
}

/* --- commits --- */

enum { ARTIFACTS, LEDGERS, RESOURCES, GRANTS, TURNS, PLANS, STEPS, KIND_COUNT };

static int look_for_reducers(struct wfs_notify *notify, struct wfs_view *view, void *context)
{
	static const enum wfs_builtin_reducer builtins[] = {
		[ARTIFACTS] = WFS_BUILTIN_ARTIFACT,
		[LEDGERS] = WFS_BUILTIN_LEDGER,
		[RESOURCES] = WFS_BUILTIN_RESOURCE,
		[GRANTS] = WFS_BUILTIN_GRANT,
		[TURNS] = WFS_BUILTIN_TURN,
		[PLANS] = WFS_BUILTIN_PLAN,
		[STEPS] = WFS_BUILTIN_PLAN_STEP,
	};
	uint32_t *const ids = context;
	int r = 0;

	for (size_t i = 0; !r && i < KIND_COUNT; i++)
		r = wfs_session_builtin(notify->tree->session, view, builtins[i], &ids[i]);
	return r;
}

/* Names and what is read; listings of all come behind. */
static int drop_change(struct wfs_notify *notify, const struct wfs_commit *commit,
	const struct wfs_change *change, const uint32_t *ids)
{
	const enum wfs_entity entity = change->reducer_id == ids[ARTIFACTS] ? WFS_ENTITY_ARTIFACT
		: change->reducer_id == ids[TURNS]                          ? WFS_ENTITY_TURN
		: change->reducer_id == ids[PLANS]                          ? WFS_ENTITY_PLAN
									    : WFS_ENTITY_PRINCIPAL;
	const bool is_new = change->reducer_id != ids[RESOURCES] && notify_names_changed(change);
	int r = 0;

	if (change->reducer_id == ids[GRANTS]) {
		r = drop_grantee(notify, commit->from_height, change->key);
		return r ? r : drop_grantee(notify, WFS_HEIGHT_HEAD, change->key);
	}
	if (is_new)
		r = drop_name(notify, entity, change->key, "");
	if (!r && entity == WFS_ENTITY_PLAN)
		r = drop_name(notify, entity, change->key,
			wfs_entity_file_name(WFS_ENTITY_FILE_PLAN_BESIDE));
	if (!r)
		r = drop_files(notify, entity, change->key);
	if (!r && entity == WFS_ENTITY_ARTIFACT)
		r = drop_lost_texts(notify, commit, change->key);
	return r;
}

static bool is_one_of(uint32_t reducer_id, const uint32_t *ids)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (ids[i] == reducer_id)
			return true;
	return false;
}

int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit)
{
	bool names_changed[WFS_ENTITY_COUNT] = {false};
	struct steps steps = {.ino = 0};
	uint32_t ids[KIND_COUNT] = {0};
	int r = look(notify, WFS_HEIGHT_HEAD, look_for_reducers, ids);

	for (size_t i = 0; !r && i < commit->change_count; i++) {
		const struct wfs_change *const change = &commit->changes[i];

		if (!is_one_of(change->reducer_id, ids))
			continue;
		r = change->reducer_id == ids[STEPS] ? drop_step(notify, change, &steps)
						     : drop_change(notify, commit, change, ids);
		if (change->reducer_id == ids[ARTIFACTS])
			names_changed[WFS_ENTITY_ARTIFACT] |= notify_names_changed(change);
		if (change->reducer_id == ids[LEDGERS])
			names_changed[WFS_ENTITY_PRINCIPAL] |= notify_names_changed(change);
		if (change->reducer_id == ids[TURNS])
			names_changed[WFS_ENTITY_TURN] |= notify_names_changed(change);
		if (change->reducer_id == ids[PLANS])
			names_changed[WFS_ENTITY_PLAN] |= notify_names_changed(change);
	}
	if (!r)
		r = end_steps(notify, &steps);
	for (int i = 0; !r && i < WFS_ENTITY_COUNT; i++)
		if (names_changed[i])
			r = notify_listing(notify, directory_of((enum wfs_entity)i));
	return r;
}
