/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants are kept as their documents. A principal at work has a holder, with the rights that follow
 * from the grants; its rights are made again when a commit has changed one of its grants. If the
 * grants cannot be read, nobody has any rights until they can be; if rights are lent, nobody but
 * operator has any after they have ended.
 * Locks, in the order in which they are taken: `telling` while watchers are notified, so that a
 * change by a commit and one by time come one after the other; `lock` for the tables, for moments
 * only.
 */
#include "caps/authority.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "caps/judge.h"
#include "caps/nodes-impl.h"
#include "caps/tools.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/manifest/builtin.h"
#include "kernel/rights/rights.h"
#include "kernel/world/world.h"

/* Made when its principal gets its first session, and kept:
 * there is at most one for each principal. */
struct wfs_holder {
	const char *principal;   /* owned */
	struct wfs_holder *next; /* an older one */
	/* Lock for the following: the authority's `lock`. */
	size_t references;
	struct wfs_rights *rights;
	bool stale; /* `rights` must be made again */
	/* Lock for the following: `telling`. */
	bool told; /* watchers must be notified */
	struct wfs_rights_watcher *watchers;
};

struct wfs_authority {
	struct wfs_world *world;
	struct wfs_world *owned; /* the world, if the authority closes it */
	struct wfs_observer observer;
	bool observing;
	struct wfs_authority_judge judge; /* if it observes */
	atomic_uint_fast64_t refused_total;
	atomic_bool unread; /* reading the grants has failed: read them again */
	struct wfs_nodes nodes;
	pthread_mutex_t telling;
	pthread_t timer;
	bool timer_started; /* lock: telling */

	pthread_mutex_t lock;
	pthread_cond_t timer_wanted; /* a grant or `stopping` */
	/* Lock for the following: lock. */
	struct wfs_tools *tools; /* that outside servers list; NULL: none */
	json_t *grants;          /* name: document */
	uint32_t reducer_id;     /* of sys.grant; 0: the world has no such reducer */
	uint64_t height;         /* of the grants, or a later one */
	int64_t expired_ns;      /* watchers were notified of what expired until then */
	int64_t lent_until_ns;   /* see wfs_authority_lend() */
	bool lapsed;             /* the holders' rights are those after that moment */
	json_t *no_grants;       /* {} */
	struct wfs_holder *holders;
	void *holder_tree; /* the holders by principal: tsearch(3) */
	bool stopping;
	bool listed; /* `tools` was set, and watchers were not notified of it yet */
};

/* --- reading grants --- */

static int read_document(
	struct wfs_view *view, const struct wfs_version *version, json_t **ret_document)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	int r = wfs_view_content(view, version, WFS_RANGE_ALL, &content, NULL);

	return r ? r : wfs_json_parse(content.bytes.data, content.bytes.size, ret_document, NULL);
}

/* Reads a grant from @view into @grants. One that does not exist, or is damaged, is removed there.
 * Return: 0, -EIO (it is damaged), or -ENOMEM. */
static int read_grant(
	struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes key, json_t *grants)
{
	WFS_AUTO_JSON json_t *document = NULL;
	struct wfs_version version;
	int r = wfs_view_cell(view, reducer_id, key, &version);

	if (!r)
		r = read_document(view, &version, &document);
	if (!r && json_object_setn(grants, key.data, key.size, document) < 0)
		r = -ENOMEM;
	if (r)
		(void)json_object_deln(grants, key.data, key.size);
	return r == -ENOMEM || r == -EIO ? r : 0;
}

/* Fails if any grant is damaged, because the rights that it would give are unknown. */
static int read_all(struct wfs_view *view, uint32_t *ret_reducer_id, json_t **ret_grants)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	WFS_AUTO_JSON json_t *grants = json_object();
	struct wfs_reducer reducer = {.reducer_id = 0};
	struct wfs_entry entry;
	int r = grants ? 0 : -ENOMEM;

	if (!r)
		r = wfs_view_builtin(view, WFS_BUILTIN_GRANT, &reducer);
	if (!r)
		r = wfs_entry_walk_init(&walk, view, reducer.reducer_id, 0);
	while (!r && (r = wfs_entry_walk_next(&walk, &entry)) > 0)
		r = read_grant(view, reducer.reducer_id, entry.key, grants);
	if (r && r != -ENOENT) /* a world without the reducer has no grants */
		return r;
	*ret_reducer_id = reducer.reducer_id;
	*ret_grants = WFS_STEAL(grants);
	return 0;
}

/* Replaces the grants, taking @grants, and makes everybody's rights stale. Under the lock. */
static void take_all(struct wfs_authority *authority, uint32_t reducer_id, json_t *grants)
{
	json_decref(authority->grants);
	authority->grants = grants;
	authority->reducer_id = reducer_id;
	for (struct wfs_holder *holder = authority->holders; holder; holder = holder->next)
		holder->stale = true;
}

static int reload(struct wfs_authority *authority, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *grants = NULL;
	uint32_t reducer_id = 0;
	int r = wfs_view_open(authority->world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return r;
	r = read_all(&view, &reducer_id, &grants);
	if (r)
		return wfs_error_from_errno(error, r, "read the grants");
	WFS_GUARD(&authority->lock);
	if (view.height < authority->height)
		return 0; /* a later commit is known, which may have revoked one of these grants */
	take_all(authority, reducer_id, WFS_STEAL(grants));
	authority->height = view.height;
	atomic_store(&authority->unread, false);
	return 0;
}

/* For a world that is not observed: has it grown? */
static bool is_behind(struct wfs_authority *authority, uint64_t height)
{
	WFS_GUARD(&authority->lock);

	return height > authority->height;
}

void wfs_authority_seen(struct wfs_authority *authority, uint64_t height)
{
	if (atomic_load(&authority->unread) ||
		(!authority->observing && is_behind(authority, height)))
		(void)reload(authority, NULL); /* if this fails, the old grants stay */
}

/* --- rights --- */

/* Have the rights that were lent ended? Under the lock. */
static bool is_over(const struct wfs_authority *authority)
{
	return authority->lent_until_ns != INT64_MAX &&
		wfs_clock_boottime_ns() >= authority->lent_until_ns;
}

/* The grants from which the rights of a principal follow. @over: have rights that were lent ended?
 * Under the lock. */
static json_t *grants_for(const struct wfs_authority *authority, const char *principal, bool over)
{
	return over && strcmp(principal, WFS_PRINCIPAL_OPERATOR) != 0 ? authority->no_grants
								      : authority->grants;
}

/* Makes a holder's rights. Without memory it has none, and the next caller tries again.
 * Under the lock. */
static void refresh(struct wfs_authority *authority, struct wfs_holder *holder)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(authority->world);
	struct wfs_rights *rights = NULL;

	holder->stale =
		wfs_rights_new(holder->principal, manifest,
			grants_for(authority, holder->principal, authority->lapsed), &rights) != 0;
	wfs_rights_unref(holder->rights);
	holder->rights = rights;
}

/* Makes the rights that a principal has now. Return: caller unrefs; NULL without memory. Under the
 * lock. */
static struct wfs_rights *make_rights(struct wfs_authority *authority, const char *principal)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(authority->world);
	struct wfs_rights *rights = NULL;

	return wfs_rights_new(principal, manifest,
		       grants_for(authority, principal, is_over(authority)), &rights)
		? NULL
		: rights;
}

struct wfs_rights *wfs_authority_rights(
	struct wfs_authority *authority, struct wfs_holder *holder, uint64_t *ret_height)
{
	WFS_GUARD(&authority->lock);

	*ret_height = authority->height;
	if (is_over(authority) != authority->lapsed) /* the watchers are not notified yet */
		return make_rights(authority, holder->principal);
	if (holder->stale)
		refresh(authority, holder);
	return holder->rights ? wfs_rights_ref(holder->rights) : NULL;
}

int wfs_authority_passed_on(struct wfs_authority *authority, const char *grant,
	const char *principal, struct wfs_hash *ret_mark, uint64_t *ret_height)
{
	WFS_GUARD(&authority->lock);
	const json_t *const document = json_object_get(authority->grants, grant);

	if (!json_object_get(document, "from") ||
		strcmp(wfs_json_text(document, "granted_by"), principal) != 0)
		return 0;
	int r = wfs_grant_mark(document, ret_mark);
	if (r)
		return r;
	*ret_height = authority->height;
	return 1;
}

/* --- notifying --- */

static int compare_holders(const void *a, const void *b)
{
	return strcmp(((const struct wfs_holder *)a)->principal,
		((const struct wfs_holder *)b)->principal);
}

/* Return: NULL if the principal has never had a session. Under the lock. */
static struct wfs_holder *find_holder(struct wfs_authority *authority, const char *principal)
{
	const struct wfs_holder wanted = {.principal = principal};
	void *const found = tfind(&wanted, &authority->holder_tree, compare_holders);

	return found ? *(struct wfs_holder **)found : NULL;
}

/* Makes the rights of the grant's principal stale. Under the lock. */
static void mark(struct wfs_authority *authority, const json_t *document)
{
	const char *const to = json_string_value(json_object_get(document, "to"));
	struct wfs_holder *const holder = to ? find_holder(authority, to) : NULL;

	if (holder)
		holder->stale = true;
}

struct wfs_rights *wfs_authority_rights_of(struct wfs_authority *authority, const char *principal)
{
	WFS_GUARD(&authority->lock);
	struct wfs_holder *const holder = find_holder(authority, principal);

	return holder && !holder->stale && is_over(authority) == authority->lapsed
		? wfs_rights_ref(holder->rights)
		: make_rights(authority, principal);
}

/* Makes stale rights again. Under both locks. */
static void renew(struct wfs_authority *authority)
{
	for (struct wfs_holder *holder = authority->holders; holder; holder = holder->next) {
		if (!holder->stale || !holder->watchers)
			continue;
		WFS_AUTO_RIGHTS struct wfs_rights *before =
			holder->rights ? wfs_rights_ref(holder->rights) : NULL;
		refresh(authority, holder);
		holder->told = !before || !holder->rights ||
			!wfs_rights_see_the_same(before, holder->rights);
	}
	pthread_cond_signal(&authority->timer_wanted);
}

static struct wfs_holder *first_holder(struct wfs_authority *authority)
{
	WFS_GUARD(&authority->lock);

	return authority->holders;
}

/* Notifies watchers. Under `telling`. New holders are only ever added in front. */
static void tell(struct wfs_authority *authority)
{
	struct wfs_holder *holder = first_holder(authority);

	for (; holder; holder = holder->next) {
		if (!holder->told)
			continue;
		holder->told = false;
		for (struct wfs_rights_watcher *watcher = holder->watchers; watcher;
			watcher = watcher->next)
			watcher->changed(watcher);
	}
}

/* Takes over that rights are lent again, or have ended. Under `telling`. */
static void take_lent(struct wfs_authority *authority, int64_t until_ns)
{
	WFS_GUARD(&authority->lock);

	authority->lent_until_ns = until_ns;
	if (is_over(authority) == authority->lapsed)
		return;
	authority->lapsed = !authority->lapsed;
	for (struct wfs_holder *holder = authority->holders; holder; holder = holder->next)
		holder->stale = true;
	renew(authority);
}

void wfs_authority_lend(struct wfs_authority *authority, int64_t until_ns)
{
	WFS_GUARD(&authority->telling);

	take_lent(authority, until_ns);
	tell(authority);
}

/* --- what commits change --- */

static int take_change(
	struct wfs_authority *authority, struct wfs_view *view, const struct wfs_change *change)
{
	WFS_AUTO_JSON json_t *before = json_incref(
		json_object_getn(authority->grants, change->key.data, change->key.size));
	int r = read_grant(view, authority->reducer_id, change->key, authority->grants);

	if (r == -EIO)
		r = 0; /* the other grants are unchanged */

	mark(authority, before);
	mark(authority, json_object_getn(authority->grants, change->key.data, change->key.size));
	return r;
}

static bool is_about_grants(struct wfs_authority *authority, const struct wfs_commit *commit)
{
	WFS_GUARD(&authority->lock);

	for (size_t i = 0; i < commit->change_count; i++)
		if (commit->changes[i].reducer_id == authority->reducer_id)
			return true;
	return false;
}

static int take_changes(struct wfs_authority *authority, const struct wfs_commit *commit)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_view_open(authority->world, WFS_HEIGHT_HEAD, &view, NULL);

	for (size_t i = 0; !r && i < commit->change_count; i++)
		if (commit->changes[i].reducer_id == authority->reducer_id)
			r = take_change(authority, &view, &commit->changes[i]);
	return r;
}

/* Takes over what a commit has changed. Under `telling`. */
static void take_commit(struct wfs_authority *authority, const struct wfs_commit *commit)
{
	int r = commit->manifest_changed ? reload(authority, NULL) : 0;
	WFS_GUARD(&authority->lock);

	if (!commit->manifest_changed)
		r = take_changes(authority, commit);
	if (r) { /* no rights for anybody are safer than too many for somebody */
		take_all(authority, authority->reducer_id, json_object());
		atomic_store(&authority->unread, true);
	}
	if (authority->height < commit->to_height)
		authority->height = commit->to_height;
	renew(authority);
}

static void committed(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_authority *const authority =
		(void *)((char *)observer - offsetof(struct wfs_authority, observer));

	if (!commit->manifest_changed && !is_about_grants(authority, commit))
		return;
	WFS_GUARD(&authority->telling);
	take_commit(authority, commit);
	tell(authority);
}

/* --- grants that end by time --- */

/* Return: when the next grant ends, INT64_MAX: never. Under the lock. */
static int64_t next_expiry(const struct wfs_authority *authority)
{
	int64_t next_ns = INT64_MAX;
	const char *name;
	json_t *document;

	json_object_foreach(authority->grants, name, document) {
		const json_t *const expires = json_object_get(document, "expires_at_ns");
		const int64_t at_ns = json_integer_value(expires);

		if (expires && at_ns > authority->expired_ns && at_ns < next_ns)
			next_ns = at_ns;
	}
	return next_ns;
}

/* Marks the holders of grants that have expired for notification. Under `telling`. */
static void note_expired(struct wfs_authority *authority)
{
	const int64_t now_ns = wfs_clock_realtime_ns();
	const char *name;
	json_t *document;
	WFS_GUARD(&authority->lock);

	json_object_foreach(authority->grants, name, document) {
		const char *const to = json_string_value(json_object_get(document, "to"));
		const int64_t at_ns =
			json_integer_value(json_object_get(document, "expires_at_ns"));
		struct wfs_holder *const holder = to ? find_holder(authority, to) : NULL;

		if (holder && at_ns > authority->expired_ns && at_ns <= now_ns &&
			(!holder->rights || wfs_rights_grant_shows(holder->rights, document)))
			holder->told = true;
	}
	authority->expired_ns = now_ns;
}

/* Return: false when the thread must end. */
static bool wait_for_expiry(struct wfs_authority *authority)
{
	WFS_GUARD(&authority->lock);

	while (!authority->stopping) {
		const int64_t next_ns = next_expiry(authority);
		const struct timespec until = {
			.tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};

		if (authority->listed || next_ns <= wfs_clock_realtime_ns())
			return true;
		pthread_cond_clockwait(
			&authority->timer_wanted, &authority->lock, CLOCK_REALTIME, &until);
	}
	return false;
}

/* Notifies watchers of a new list of outside tools, if there is one. Under `telling`. */
static void tell_of_tools(struct wfs_authority *authority)
{
	struct wfs_holder *holder = first_holder(authority);

	pthread_mutex_lock(&authority->lock);
	const bool listed = authority->listed;
	authority->listed = false;
	pthread_mutex_unlock(&authority->lock);
	for (; listed && holder; holder = holder->next)
		for (struct wfs_rights_watcher *watcher = holder->watchers; watcher;
			watcher = watcher->next)
			if (watcher->listed)
				watcher->listed(watcher);
}

static void *timer_main(void *argument)
{
	struct wfs_authority *const authority = argument;

	pthread_setname_np(pthread_self(), "wfs-expiry");
	while (wait_for_expiry(authority)) {
		WFS_GUARD(&authority->telling);

		note_expired(authority);
		tell(authority);
		tell_of_tools(authority);
	}
	return NULL;
}

int wfs_authority_watch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher)
{
	WFS_GUARD(&authority->telling);

	if (!authority->timer_started) {
		int r = pthread_create(&authority->timer, NULL, timer_main, authority);

		if (r)
			return -r;
		authority->timer_started = true;
	}
	watcher->next = holder->watchers;
	holder->watchers = watcher;
	/* Later rights are compared with these. */
	WFS_GUARD(&authority->lock);
	if (holder->stale)
		refresh(authority, holder);
	return 0;
}

void wfs_authority_unwatch(struct wfs_authority *authority, struct wfs_holder *holder,
	struct wfs_rights_watcher *watcher)
{
	WFS_GUARD(&authority->telling);

	for (struct wfs_rights_watcher **at = &holder->watchers; *at; at = &(*at)->next) {
		if (*at == watcher) {
			*at = watcher->next;
			break;
		}
	}
}

/* --- principals at work --- */

static struct wfs_holder *add_holder(struct wfs_authority *authority, const char *principal)
{
	struct wfs_holder *const holder = calloc(1, sizeof(*holder));

	if (holder)
		holder->principal = strdup(principal);
	if (!holder || !holder->principal ||
		!tsearch(holder, &authority->holder_tree, compare_holders)) {
		free(holder ? (char *)holder->principal : NULL);
		free(holder);
		return NULL;
	}
	holder->stale = true;
	holder->next = authority->holders;
	authority->holders = holder;
	return holder;
}

static int check_principal(
	struct wfs_authority *authority, const char *principal, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_version version;
	struct wfs_reducer reducer;
	int r = wfs_view_open(authority->world, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return r;
	wfs_authority_seen(authority, view.height);
	r = wfs_view_builtin(&view, WFS_BUILTIN_PRINCIPAL, &reducer);
	if (!r)
		r = wfs_view_cell(&view, reducer.reducer_id, wfs_bytes_text(principal), &version);
	if (r == -ENOENT)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "unknown principal '%.128s'", principal);
	return r ? wfs_error_from_errno(error, r, "look for the principal '%s'", principal) : 0;
}

/* Return: NULL if the principal has never had a session. */
static struct wfs_holder *hold_again(struct wfs_authority *authority, const char *principal)
{
	WFS_GUARD(&authority->lock);
	struct wfs_holder *const holder = find_holder(authority, principal);

	if (holder)
		holder->references++;
	return holder;
}

int wfs_authority_hold(struct wfs_authority *authority, const char *principal,
	struct wfs_holder **ret_holder, struct wfs_error *error)
{
	/* Principals are never removed, so one that had a session needs no read of the store. */
	struct wfs_holder *holder = hold_again(authority, principal);
	if (holder) {
		*ret_holder = holder;
		return 0;
	}
	int r = check_principal(authority, principal, error);
	if (r)
		return r;
	WFS_GUARD(&authority->lock);
	holder = find_holder(authority, principal); /* another thread may have added it */
	if (!holder)
		holder = add_holder(authority, principal);
	if (!holder)
		return wfs_error_from_errno(error, -ENOMEM, "begin a session");
	holder->references++;
	*ret_holder = holder;
	return 0;
}

void wfs_authority_release(struct wfs_authority *authority, struct wfs_holder *holder)
{
	if (!holder)
		return;
	WFS_GUARD(&authority->lock);
	if (--holder->references > 0)
		return;
	wfs_rights_unref(WFS_STEAL(holder->rights));
	holder->stale = true;
}

const char *wfs_holder_principal(const struct wfs_holder *holder)
{
	return holder->principal;
}

void wfs_authority_refused(struct wfs_authority *authority)
{
	atomic_fetch_add_explicit(&authority->refused_total, 1, memory_order_relaxed);
}

uint64_t wfs_authority_refused_total(const struct wfs_authority *authority)
{
	return atomic_load_explicit(&authority->refused_total, memory_order_relaxed);
}

/* --- outside tools --- */

struct wfs_tools *wfs_authority_tools(struct wfs_authority *authority)
{
	WFS_GUARD(&authority->lock);

	return wfs_tools_ref(authority->tools);
}

struct wfs_tools *wfs_authority_swap_tools(struct wfs_authority *authority, struct wfs_tools *tools)
{
	WFS_GUARD(&authority->lock);
	struct wfs_tools *const before = authority->tools;

	authority->tools = tools;
	authority->listed |= tools || before;
	pthread_cond_signal(&authority->timer_wanted);
	return before;
}

/* --- nodes --- */

struct wfs_nodes *wfs_authority_kept_nodes(struct wfs_authority *authority)
{
	return &authority->nodes;
}

/* --- life --- */

struct wfs_world *wfs_authority_world(const struct wfs_authority *authority)
{
	return authority->world;
}

const char *wfs_authority_directory(const struct wfs_authority *authority)
{
	return wfs_world_directory(authority->world);
}

bool wfs_authority_older(const struct wfs_authority *authority)
{
	return wfs_world_older(authority->world);
}

bool wfs_authority_read_only(const struct wfs_authority *authority)
{
	return wfs_world_read_only(authority->world);
}

struct wfs_manifest *wfs_authority_manifest(const struct wfs_authority *authority)
{
	return wfs_world_manifest(authority->world);
}

void wfs_authority_end_code(const struct wfs_authority *authority, unsigned int delay_ms)
{
	wfs_world_end_code(authority->world, delay_ms);
}

void wfs_authority_observe(const struct wfs_authority *authority, struct wfs_observer *observer)
{
	wfs_world_observe(authority->world, observer);
}

void wfs_authority_unobserve(const struct wfs_authority *authority, struct wfs_observer *observer)
{
	wfs_world_unobserve(authority->world, observer);
}

int wfs_authority_new(
	struct wfs_world *world, struct wfs_authority **ret_authority, struct wfs_error *error)
{
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = calloc(1, sizeof(*authority));

	if (!authority)
		return wfs_error_from_errno(error, -ENOMEM, "read the grants");
	authority->world = world;
	authority->expired_ns = wfs_clock_realtime_ns();
	authority->lent_until_ns = INT64_MAX;
	authority->no_grants = json_object();
	authority->observer.committed = committed;
	wfs_nodes_init(&authority->nodes);
	pthread_mutex_init(&authority->telling, NULL);
	pthread_mutex_init(&authority->lock, NULL);
	pthread_cond_init(&authority->timer_wanted, NULL);
	int r = authority->no_grants ? reload(authority, error)
				     : wfs_error_from_errno(error, -ENOMEM, "read the grants");
	if (r)
		return r;
	if (!wfs_world_read_only(world)) {
		wfs_world_observe(world, &authority->observer);
		authority->observing = true;
		wfs_authority_judge_init(&authority->judge, authority);
		r = reload(authority, error); /* a commit may have come just before observing */
		if (r)
			return r;
	}
	*ret_authority = WFS_STEAL(authority);
	return 0;
}

int wfs_authority_open(const char *directory, const struct wfs_world_options *options,
	struct wfs_authority **ret_authority, struct wfs_error *error)
{
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	int r = wfs_world_open(directory, options, &world, error);

	if (!r)
		r = wfs_authority_new(world, ret_authority, error);
	if (r)
		return r;
	(*ret_authority)->owned = WFS_STEAL(world);
	return 0;
}

static void stop_timer(struct wfs_authority *authority)
{
	pthread_mutex_lock(&authority->lock);
	authority->stopping = true;
	pthread_cond_signal(&authority->timer_wanted);
	pthread_mutex_unlock(&authority->lock);
	if (authority->timer_started)
		pthread_join(authority->timer, NULL);
}

static void free_holders(struct wfs_authority *authority)
{
	while (authority->holders) {
		struct wfs_holder *const holder = authority->holders;

		wfs_require(holder->references == 0 && !holder->watchers);
		authority->holders = holder->next;
		tdelete(holder, &authority->holder_tree, compare_holders);
		free((char *)holder->principal);
		free(holder);
	}
}

void wfs_authority_free(struct wfs_authority *authority)
{
	if (!authority)
		return;
	wfs_authority_judge_done(&authority->judge);
	if (authority->observing)
		wfs_world_unobserve(authority->world, &authority->observer);
	stop_timer(authority);
	free_holders(authority);
	json_decref(authority->grants);
	json_decref(authority->no_grants);
	wfs_tools_unref(authority->tools);
	pthread_cond_destroy(&authority->timer_wanted);
	pthread_mutex_destroy(&authority->lock);
	wfs_nodes_done(&authority->nodes);
	pthread_mutex_destroy(&authority->telling);
	wfs_world_close(authority->owned);
	free(authority);
}
