/* SPDX-License-Identifier: Apache-2.0 */
/* The sets that a cell is in. */
#include "kernel/read/index.h"

#include "kernel/base/array.h"
#include "kernel/base/damage.h"
#include "kernel/base/json.h"
#include "kernel/manifest/builtin.h"
#include "kernel/read/blob-read.h"
#include "kernel/store/row-name.h"

/* Bits of a set's kind: the texts that are part of its name. */
enum {
	BY_OWNER = 1 << 0,
	BY_TYPE = 1 << 1,
	BY_EXECUTABLE = 1 << 2,
	BY_ANY = BY_OWNER | BY_TYPE | BY_EXECUTABLE,
	BY_ARTIFACT = 1 << 0,
	BY_INVOKER = 1 << 1,
	BY_BOTH = BY_ARTIFACT | BY_INVOKER,
};

/* These numbers are on disk. */
enum {
	KIND_ARTIFACTS = 0x10,
	KIND_DEPENDENTS = 0x20,
	KIND_INVOCATIONS = 0x30,
	KIND_FAILURES = 0x40,
	KIND_BIDS = 0x50,
	KIND_GRANTS = 0x60,
	KIND_RUN = 0x70,
	KIND_TIMERS = 0x80,
	KIND_DUE = 0x90,
	KIND_WAITING = 0xa0,
};

enum wfs_indexed wfs_indexed_find(struct wfs_bytes reducer)
{
	static const struct {
		enum wfs_builtin_reducer reducer;
		enum wfs_indexed indexed;
	} kept[] = {
		{WFS_BUILTIN_ARTIFACT, WFS_INDEXED_ARTIFACTS},
		{WFS_BUILTIN_INVOCATION, WFS_INDEXED_INVOCATIONS},
		{WFS_BUILTIN_MINT, WFS_INDEXED_BIDS},
		{WFS_BUILTIN_GRANT, WFS_INDEXED_GRANTS},
		{WFS_BUILTIN_TIMER, WFS_INDEXED_TIMERS},
		{WFS_BUILTIN_WAIT, WFS_INDEXED_WAITS},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(kept); i++)
		if (wfs_bytes_equal(
			    reducer, wfs_bytes_text(wfs_builtin_reducer_name(kept[i].reducer))))
			return kept[i].indexed;
	return WFS_INDEXED_NONE;
}

/* --- names of sets --- */

/* The members of an artifact that name its sets. */
struct artifact_facts {
	struct wfs_bytes owner;
	struct wfs_bytes type;
	bool executable;
};

static void name_artifacts(
	struct wfs_index_set *set, unsigned int by, const struct artifact_facts *facts)
{
	wfs_index_set_init(set, (uint8_t)(KIND_ARTIFACTS | by));
	if (by & BY_OWNER)
		wfs_index_set_add(set, facts->owner);
	if (by & BY_TYPE)
		wfs_index_set_add(set, facts->type);
	if (by & BY_EXECUTABLE)
		wfs_index_set_add(set, wfs_bytes_text(facts->executable ? "1" : "0"));
}

static void name_dependents(struct wfs_index_set *set, struct wfs_bytes artifact_id)
{
	wfs_index_set_init(set, KIND_DEPENDENTS);
	wfs_index_set_add(set, artifact_id);
}

/* The members of an invocation that name its sets; one without a code succeeded. */
struct invocation_facts {
	struct wfs_bytes artifact_id;
	struct wfs_bytes invoker_id;
	const char *code;
};

static void name_invocations(struct wfs_index_set *set, uint8_t kind, unsigned int by,
	const struct invocation_facts *facts)
{
	wfs_index_set_init(set, (uint8_t)(kind | by));
	if (by & BY_ARTIFACT)
		wfs_index_set_add(set, facts->artifact_id);
	if (by & BY_INVOKER)
		wfs_index_set_add(set, facts->invoker_id);
	if (kind == KIND_FAILURES)
		wfs_index_set_add(set, wfs_bytes_text(facts->code));
}

static struct wfs_bytes given(const char *text)
{
	return text ? wfs_bytes_text(text) : WFS_BYTES(NULL, 0);
}

void wfs_index_artifacts(
	struct wfs_index_set *set, const char *owner, const char *type, int executable)
{
	const struct artifact_facts facts = {given(owner), given(type), executable > 0};
	const unsigned int by = (owner ? BY_OWNER : 0) | (type ? BY_TYPE : 0) |
		(executable >= 0 ? BY_EXECUTABLE : 0);

	wfs_require(by != 0);
	name_artifacts(set, by, &facts);
}

void wfs_index_dependents(struct wfs_index_set *set, const char *artifact_id)
{
	name_dependents(set, wfs_bytes_text(artifact_id));
}

static unsigned int given_of(const char *artifact_id, const char *invoker_id)
{
	return (artifact_id ? BY_ARTIFACT : 0) | (invoker_id ? BY_INVOKER : 0);
}

void wfs_index_invocations(
	struct wfs_index_set *set, const char *artifact_id, const char *invoker_id)
{
	const struct invocation_facts facts = {given(artifact_id), given(invoker_id), NULL};

	name_invocations(set, KIND_INVOCATIONS, given_of(artifact_id, invoker_id), &facts);
}

void wfs_index_failures(struct wfs_index_set *set, const char *artifact_id, const char *invoker_id,
	enum wfs_error_code code)
{
	const struct invocation_facts facts = {
		given(artifact_id), given(invoker_id), wfs_error_info(code)->name};

	name_invocations(set, KIND_FAILURES, given_of(artifact_id, invoker_id), &facts);
}

void wfs_index_bids(struct wfs_index_set *set, bool pending)
{
	wfs_index_set_init(set, KIND_BIDS);
	wfs_index_set_add(set, wfs_bytes_text(pending ? "1" : "0"));
}

void wfs_index_grants(struct wfs_index_set *set, struct wfs_bytes principal)
{
	wfs_index_set_init(set, KIND_GRANTS);
	wfs_index_set_add(set, principal);
}

void wfs_index_timers(struct wfs_index_set *set, struct wfs_bytes principal)
{
	wfs_index_set_init(set, KIND_TIMERS);
	wfs_index_set_add(set, principal);
}

void wfs_index_waiting(struct wfs_index_set *set, struct wfs_bytes schema)
{
	wfs_index_set_init(set, KIND_WAITING);
	wfs_index_set_add(set, schema);
}

void wfs_index_due(struct wfs_index_set *set, int64_t due_ns)
{
	uint8_t bytes[sizeof(uint64_t)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((uint64_t)due_ns >> (8 * (sizeof(bytes) - 1 - i)));
	wfs_index_set_init(set, KIND_DUE);
	wfs_index_set_add(set, WFS_BYTES(bytes, sizeof(bytes)));
}

int64_t wfs_index_due_time(const struct wfs_index_set *set)
{
	enum { NUMBER_AT = 3 }; /* after the kind, the count of texts, and the size of the first */
	uint64_t due_ns = 0;

	if (set->bytes[0] != KIND_DUE || set->size != NUMBER_AT + sizeof(due_ns))
		return -1;
	for (size_t i = 0; i < sizeof(due_ns); i++)
		due_ns = due_ns << 8 | set->bytes[NUMBER_AT + i];
	return (int64_t)due_ns;
}

void wfs_index_run(struct wfs_index_set *set, struct wfs_bytes run_id)
{
	wfs_index_set_init(set, KIND_RUN);
	wfs_index_set_add(set, run_id);
}

void wfs_index_runs(struct wfs_index_set *set)
{
	wfs_index_set_init(set, KIND_RUN);
}

bool wfs_index_is_run(const struct wfs_index_set *set)
{
	return set->size > 0 && set->bytes[0] == KIND_RUN;
}

/* --- of a state --- */

void wfs_index_places_done(struct wfs_index_places *places)
{
	free(places->items);
	*places = (struct wfs_index_places){0};
}

static struct wfs_index_place *place_new(struct wfs_index_places *places, uint64_t amount)
{
	struct wfs_index_place *const items =
		wfs_array_reserve(places->items, places->count, &places->capacity, sizeof(*items));

	if (!items)
		return NULL;
	places->items = items;
	items[places->count].amount = amount;
	return &items[places->count++];
}

static struct wfs_bytes member_text(const json_t *object, const char *name)
{
	const json_t *const text = json_object_get(object, name);

	return WFS_BYTES(json_string_value(text), json_string_length(text));
}

static bool is_listed_before(const json_t *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (json_equal(json_array_get(list, i), json_array_get(list, index)))
			return true;
	return false;
}

static int places_of_dependencies(const json_t *list, struct wfs_index_places *places)
{
	size_t count = json_array_size(list);

	if (count > WFS_INDEX_DEPENDENCIES_MAX)
		count = WFS_INDEX_DEPENDENCIES_MAX;
	for (size_t i = 0; i < count; i++) {
		const json_t *const id = json_array_get(list, i);

		if (!json_is_string(id) || is_listed_before(list, i))
			continue;
		struct wfs_index_place *const place = place_new(places, 0);
		if (!place)
			return -ENOMEM;
		name_dependents(
			&place->set, WFS_BYTES(json_string_value(id), json_string_length(id)));
	}
	return 0;
}

static int places_of_artifact(const json_t *state, struct wfs_index_places *places)
{
	const struct artifact_facts facts = {
		.owner = member_text(state, "owner"),
		.type = member_text(state, "type"),
		.executable = json_is_true(json_object_get(state, "executable")),
	};

	for (unsigned int by = 1; by <= BY_ANY; by++) {
		struct wfs_index_place *const place = place_new(places, 0);

		if (!place)
			return -ENOMEM;
		name_artifacts(&place->set, by, &facts);
	}
	return places_of_dependencies(json_object_get(state, "depends_on"), places);
}

/* Codes that are not in our table count as one code that is, so that there are few sets. */
static const char *code_of(const json_t *state)
{
	const char *const text = json_string_value(json_object_get(state, "error_code"));

	if (json_is_true(json_object_get(state, "success")))
		return NULL;
	return wfs_error_info(text ? wfs_error_find(text) : WFS_E_INTERNAL_ERROR)->name;
}

static int places_of_invocation(const json_t *state, struct wfs_index_places *places)
{
	const struct invocation_facts facts = {
		.artifact_id = member_text(state, "artifact_id"),
		.invoker_id = member_text(state, "invoker_id"),
		.code = code_of(state),
	};
	const json_int_t duration = json_integer_value(json_object_get(state, "duration_ms"));
	const uint64_t amount = duration > 0 ? (uint64_t)duration : 0;

	for (unsigned int by = 0; by <= BY_BOTH; by++) {
		struct wfs_index_place *place = place_new(places, amount);

		if (!place)
			return -ENOMEM;
		name_invocations(&place->set, KIND_INVOCATIONS, by, &facts);
		place = facts.code ? place_new(places, amount) : NULL;
		if (facts.code && !place)
			return -ENOMEM;
		if (place)
			name_invocations(&place->set, KIND_FAILURES, by, &facts);
	}
	return 0;
}

static int places_of_bid(const json_t *state, struct wfs_index_places *places)
{
	struct wfs_index_place *const place = place_new(places, 0);

	if (!place)
		return -ENOMEM;
	wfs_index_bids(&place->set,
		wfs_bytes_equal(member_text(state, "status"), wfs_bytes_text("pending")));
	return 0;
}

static int places_of_grant(const json_t *state, struct wfs_index_places *places)
{
	struct wfs_index_place *const place = place_new(places, 0);

	if (!place)
		return -ENOMEM;
	wfs_index_grants(&place->set, member_text(state, "to"));
	return 0;
}

static int place_of_due(const json_t *state, struct wfs_index_places *places)
{
	const json_int_t due_ns = json_integer_value(json_object_get(state, "next_ns"));
	struct wfs_index_place *const place = place_new(places, 0);

	if (!place)
		return -ENOMEM;
	wfs_index_due(&place->set, due_ns > 0 ? due_ns : 0);
	return 0;
}

static int places_of_timer(const json_t *state, struct wfs_index_places *places)
{
	struct wfs_index_place *const place = place_new(places, 0);

	if (!place)
		return -ENOMEM;
	wfs_index_timers(&place->set, member_text(state, "principal"));
	return wfs_trace(place_of_due(state, places));
}

static int places_of_wait(const json_t *state, struct wfs_index_places *places)
{
	struct wfs_index_place *place;

	if (json_is_string(json_object_get(state, "until_event")) &&
		!json_object_get(state, "woken")) {
		place = place_new(places, 0);
		if (!place)
			return -ENOMEM;
		wfs_index_waiting(&place->set, member_text(state, "until_event"));
	}
	return wfs_trace(place_of_due(state, places));
}

int wfs_index_places_of(
	enum wfs_indexed indexed, struct wfs_bytes state, struct wfs_index_places *places)
{
	static int (*const kinds[])(const json_t *state, struct wfs_index_places *places) = {
		[WFS_INDEXED_ARTIFACTS] = places_of_artifact,
		[WFS_INDEXED_INVOCATIONS] = places_of_invocation,
		[WFS_INDEXED_BIDS] = places_of_bid,
		[WFS_INDEXED_GRANTS] = places_of_grant,
		[WFS_INDEXED_TIMERS] = places_of_timer,
		[WFS_INDEXED_WAITS] = places_of_wait,
	};
	WFS_AUTO_JSON json_t *json = NULL;
	int r;

	if (indexed == WFS_INDEXED_NONE)
		return 0;
	r = wfs_json_parse(state.data, state.size, &json, NULL);
	if (r && r != -EINVAL)
		return wfs_trace(r);
	return wfs_trace(kinds[indexed](json, places));
}

/* --- of a cell --- */

int wfs_index_places_now(struct wfs_store *store, struct wfs_txn *txn, enum wfs_indexed indexed,
	const struct wfs_cell *cell, struct wfs_index_places *places)
{
	WFS_AUTO_BUFFER struct wfs_buffer read = {0};
	struct wfs_version version;
	int r;

	if (indexed == WFS_INDEXED_NONE || !cell->cell_id || !cell->live)
		return 0;
	r = wfs_version_get(txn, cell->head_vid, &version);
	if (!r && version.in_file)
		r = wfs_version_read(store, &version, &read, NULL);
	if (r)
		return wfs_trace(wfs_row_needed(txn, r));
	return wfs_trace(wfs_index_places_of(
		indexed, version.in_file ? wfs_buffer_bytes(&read) : version.bytes, places));
}

/* Most changes leave most places as they are. Both lists are made in one order, and mostly have
 * equal lengths, so the place is probably at @index. */
static bool has_place(
	const struct wfs_index_places *places, size_t index, const struct wfs_index_place *wanted)
{
	const struct wfs_bytes name = WFS_BYTES(wanted->set.bytes, wanted->set.size);

	for (size_t i = 0; i < places->count; i++) {
		const struct wfs_index_place *const place =
			&places->items[(index + i) % places->count];

		if (place->amount == wanted->amount &&
			wfs_bytes_equal(WFS_BYTES(place->set.bytes, place->set.size), name))
			return true;
	}
	return false;
}

static int wrong_place(
	struct wfs_txn *txn, const struct wfs_index_set *set, uint64_t cell_id, const char *how)
{
	struct wfs_row_name name;

	wfs_row_name_index(txn, set, cell_id, &name);
	wfs_damage_note("%s %s", name.text, how);
	return -EIO;
}

int wfs_index_move(struct wfs_txn *txn, uint64_t cell_id, const struct wfs_index_places *from,
	const struct wfs_index_places *to)
{
	int r = 0;

	for (size_t i = 0; !r && i < from->count; i++) {
		if (!has_place(to, i, &from->items[i]))
			r = wfs_index_remove(txn, &from->items[i].set, cell_id);
		if (r == -ENOENT)
			r = wrong_place(txn, &from->items[i].set, cell_id, "is missing");
	}
	for (size_t i = 0; !r && i < to->count; i++) {
		if (!has_place(from, i, &to->items[i]))
			r = wfs_index_add(txn, &to->items[i].set, cell_id, to->items[i].amount);
		if (r == -EEXIST)
			r = wrong_place(txn, &to->items[i].set, cell_id, "is there already");
	}
	return wfs_trace(r);
}
