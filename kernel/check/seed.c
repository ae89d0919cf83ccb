/* SPDX-License-Identifier: Apache-2.0 */
/* Copying the state at a cut of the journal into a scratch store. */
#include "kernel/check/seed.h"

#include <inttypes.h>

#include "kernel/base/formats.h"
#include "kernel/check/baseline.h"
#include "kernel/read/blob-read.h"
#include "kernel/read/index.h"
#include "kernel/store/blob.h"

enum {
	BATCH_COUNT_MAX = 4096,     /* rows of one transaction */
	BATCH_BYTES_MAX = 16 << 20, /* bytes of them */
};

/* --- where to begin --- */

static int read_record(struct wfs_view *view, uint64_t seq, struct wfs_record_parsed *ret_parsed)
{
	struct wfs_bytes line;
	int r = wfs_view_record(view, seq, &line);

	return r ? r : wfs_record_parse(line, ret_parsed, NULL);
}

/* Did genesis say that this program's version folds the journal? Then it has no epochs. */
static int is_folded_since_genesis(struct wfs_view *view)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	int r = read_record(view, 0, &parsed);

	if (r)
		return r == -EINVAL ? 1 : r; /* folding reports what is wrong with the record */
	return parsed.record.kind != WFS_RECORD_GENESIS ||
		parsed.body.genesis.fold_version == WFS_FOLD_VERSION;
}

static int find_epoch(struct wfs_view *view, uint64_t first, uint64_t *ret_seq)
{
	static const char kind[] = "\"kind\":\"epoch\"";

	for (uint64_t seq = view->height; seq-- > first;) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
		struct wfs_bytes line;
		int r = wfs_view_record(view, seq, &line);

		if (!r && !memmem(line.data, line.size, kind, sizeof(kind) - 1))
			continue; /* most records need not be parsed */
		if (!r)
			r = wfs_record_parse(line, &parsed, NULL);
		if (r && r != -EINVAL)
			return r;
		if (!r && parsed.record.kind == WFS_RECORD_EPOCH) {
			*ret_seq = seq;
			return 0;
		}
	}
	return -ENOENT;
}

/* Goes on to the next height from @height at which no request is under way. */
static int find_rest(struct wfs_view *view, uint64_t height, uint64_t *ret_height)
{
	for (; height < view->height; height++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
		int r = read_record(view, height, &parsed);

		if (r || !parsed.record.derived) {
			*ret_height = height;
			return r;
		}
	}
	*ret_height = height;
	return 0;
}

int wfs_seed_find(struct wfs_view *view, const struct wfs_journal_cut *cut, uint64_t *ret_height,
	struct wfs_error *error)
{
	const uint64_t begin = cut->count ? cut->first_seq + 1 : 0;
	uint64_t first = 1;
	int r = begin ? 0 : is_folded_since_genesis(view);

	*ret_height = begin;
	if (r > 0)
		return 0;
	if (!r)
		r = find_epoch(view, cut->first_seq, ret_height);
	/* Records after a cut are of the store's fold version, unless an epoch says otherwise. */
	if (r == -ENOENT && begin)
		return 0;
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_FORMAT_OLDER,
			"the journal was folded by another version, so this one cannot fold it "
			"again: 'worldfs upgrade' makes a world that it can");
	if (!r)
		r = wfs_first_height_get(view->txn, &first);
	if (!r && first > *ret_height)
		r = find_rest(view, first, ret_height);
	return r ? wfs_error_from_errno(error, r, "read the journal") : 0;
}

/* --- copying --- */

struct copying {
	const struct wfs_seed *seed;
	struct wfs_error *error;
	uint64_t height;
	uint64_t next_vid;    /* number of the first version after it */
	bool kept;            /* the world keeps it, so some of its versions are older ones */
	struct wfs_txn *from; /* of the world */
	struct wfs_txn *to;   /* of the scratch store */
	size_t count;         /* rows since the last commit */
	size_t bytes;
	struct wfs_reducer *reducers; /* by number; owned */
	struct wfs_buffer *names;     /* of each; owned */
	size_t reducer_count;
	struct wfs_buffer state;
};

static int step(struct copying *copying, uint64_t done, size_t size)
{
	copying->bytes += size;
	if (++copying->count < BATCH_COUNT_MAX && copying->bytes < BATCH_BYTES_MAX)
		return 0;
	copying->count = copying->bytes = 0;
	int r = wfs_txn_commit(WFS_STEAL(copying->to));
	if (!r)
		r = wfs_store_write(copying->seed->scratch, &copying->to);
	return wfs_trace(r ? r : copying->seed->look(copying->seed->context, done, copying->error));
}

/* --- reducers --- */

static int copy_reducers(struct copying *copying)
{
	struct wfs_reducer reducer = {.reducer_id = WFS_REDUCER_ID_KERNEL};
	struct wfs_bytes name;
	int r;

	copying->reducers = calloc(WFS_REDUCER_ID_MAX + 1, sizeof(*copying->reducers));
	copying->names = calloc(WFS_REDUCER_ID_MAX + 1, sizeof(*copying->names));
	if (!copying->reducers || !copying->names)
		return -ENOMEM;
	copying->reducer_count = 1;
	while ((r = wfs_reducer_next(copying->from, reducer.reducer_id, &name, &reducer)) == 0 &&
		reducer.created_height <= copying->height) {
		struct wfs_buffer *const text = &copying->names[reducer.reducer_id];

		wfs_buffer_append(text, name.data, name.size);
		if (wfs_buffer_check(text))
			return -ENOMEM;
		const struct wfs_reducer_definition *const definition =
			wfs_manifest_reducer_find(copying->seed->manifest, wfs_buffer_text(text));
		copying->reducers[reducer.reducer_id] = (struct wfs_reducer){
			.reducer_id = reducer.reducer_id,
			.keyed = definition ? definition->keyed : reducer.keyed,
			.created_height = reducer.created_height,
			.names_ns = reducer.names_ns,
		};
		copying->reducer_count = (size_t)reducer.reducer_id + 1;
	}
	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* Writes the rows of reducers, and those of removed cells: numbers of cells have no gaps. */
static int put_reducers(struct copying *copying)
{
	int r = 0;

	for (size_t id = 1; !r && id < copying->reducer_count; id++) {
		struct wfs_reducer *const reducer = &copying->reducers[id];
		struct wfs_cell cell;

		if (!reducer->reducer_id)
			continue;
		for (uint64_t i = 1; !r && i <= reducer->cell_count; i++) {
			const uint64_t cell_id = wfs_cell_id(reducer->reducer_id, i);

			r = wfs_cell_get(copying->to, cell_id, &cell);
			if (r == -ENOENT)
				r = wfs_cell_put_removed(copying->to, cell_id);
			if (!r)
				r = step(copying, i, 0);
		}
		if (!r)
			r = wfs_reducer_put(
				copying->to, wfs_buffer_text(&copying->names[id]), reducer);
	}
	return wfs_trace(r);
}

/* --- cells --- */

static int put_value(struct copying *copying, struct wfs_version *version)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_blob blob;

	wfs_buffer_reset(&copying->state);
	if (version->tombstone)
		return 0;
	int r = wfs_version_read(
		copying->seed->view->store, version, &copying->state, copying->error);
	if (r || !version->in_file)
		return wfs_trace(r);
	r = wfs_blob_writer_new(copying->seed->scratch, &writer);
	if (!r)
		r = wfs_blob_writer_add(writer, copying->state.data, copying->state.size);
	return wfs_trace(r ? r : wfs_blob_writer_finish(writer, &blob));
}

static int put_cell(
	struct copying *copying, const struct wfs_version *version, const struct wfs_cell *row)
{
	WFS_AUTO_INDEX_PLACES struct wfs_index_places places = {0};
	const struct wfs_index_places none = {0};
	const uint32_t id = wfs_cell_reducer(version->cell_id);
	struct wfs_reducer *const reducer = &copying->reducers[id];
	const uint64_t ordinal = wfs_cell_ordinal(version->cell_id);
	const struct wfs_cell cell = {
		.cell_id = version->cell_id,
		.head_vid = version->vid,
		.head_height = version->height,
		.created_height = row->created_height,
		.version_count = 1,
		.size_bytes = version->size_bytes,
		.time_ns = version->time_ns,
		.live = !version->tombstone,
		.key = row->key,
	};
	int r = wfs_cell_put(copying->to, &cell);

	if (r || id == WFS_REDUCER_ID_KERNEL)
		return wfs_trace(r);
	if (!reducer->reducer_id)
		return -EIO;
	reducer->live_count += cell.live;
	if (ordinal > reducer->cell_count)
		reducer->cell_count = ordinal;
	r = wfs_cell_name_put(copying->to, id, cell.key, cell.cell_id);
	if (!r && cell.live)
		r = wfs_index_places_of(wfs_indexed_find(wfs_buffer_bytes(&copying->names[id])),
			wfs_buffer_bytes(&copying->state), &places);
	return wfs_trace(r ? r : wfs_index_move(copying->to, cell.cell_id, &none, &places));
}

/* Does the baseline's height show the version? After versions before it were removed, it shows all
 * that are left, and later ones may be missing. */
static int is_shown(struct copying *copying, const struct wfs_version *version)
{
	struct wfs_version shown;

	if (!copying->kept)
		return 1;
	int r = wfs_history_at(copying->from, version->cell_id, copying->height, &shown);
	return r ? wfs_trace(r) : shown.vid == version->vid;
}

static int copy_cells(struct copying *copying)
{
	struct wfs_version version = {.vid = 0};
	struct wfs_cell cell;
	int r = 0;

	while (!r && (r = wfs_version_next(copying->from, version.vid, &version)) == 0 &&
		version.height <= copying->height) {
		copying->next_vid = version.vid + 1;
		r = is_shown(copying, &version);
		if (r <= 0)
			continue;
		r = wfs_cell_get(copying->from, version.cell_id, &cell);
		if (!r)
			r = put_value(copying, &version);
		struct wfs_version row = version;
		row.prev_vid = 0;
		if (!r)
			r = wfs_version_put(copying->to, &row);
		if (!r)
			r = put_cell(copying, &version, &cell);
		if (!r)
			r = step(copying, version.vid, copying->state.size);
	}
	if (!r) /* versions between may have been removed */
		copying->next_vid = version.vid;
	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* --- the rest --- */

static int copy_module(struct copying *copying, const struct wfs_hash *hash, struct wfs_blob *blob)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	int r = wfs_blob_read(
		copying->seed->view->store, copying->from, hash, &copying->state, copying->error);

	if (!r)
		r = wfs_blob_writer_new(copying->seed->scratch, &writer);
	if (!r)
		r = wfs_blob_writer_add(writer, copying->state.data, copying->state.size);
	if (r)
		return wfs_trace(r);
	const uint64_t listed_id = blob->listed_id;
	r = wfs_blob_writer_finish(writer, blob);
	blob->listed_id = listed_id;
	return wfs_trace(r ? r : wfs_blob_put(copying->to, blob));
}

static bool is_module(const struct wfs_manifest *manifest, const struct wfs_hash *hash)
{
	for (size_t i = 0; i < wfs_manifest_reducer_count(manifest); i++) {
		const struct wfs_reducer_definition *const reducer =
			wfs_manifest_reducer(manifest, i);

		if (!reducer->builtin && wfs_hash_equal(&reducer->module, hash))
			return true;
	}
	return false;
}

/* Copies the rows of listed blobs. Folding reads the bytes of modules only. */
static int copy_blobs(struct copying *copying)
{
	struct wfs_blob_listing listing;
	uint64_t last = 0;
	int r = wfs_blob_listing_last(copying->from, &last);

	for (uint64_t id = 1; !r && id <= last; id++) {
		struct wfs_blob blob;

		r = wfs_blob_listing_get(copying->from, id, &listing);
		if (r || listing.height > copying->height)
			break;
		r = wfs_blob_get(copying->from, &listing.hash, &blob);
		if (r)
			break;
		wfs_buffer_reset(&copying->state);
		blob.in_file = true;
		blob.bytes = WFS_BYTES(NULL, 0);
		r = is_module(copying->seed->manifest, &listing.hash)
			? copy_module(copying, &listing.hash, &blob)
			: wfs_blob_put(copying->to, &blob);
		if (!r)
			r = wfs_blob_listing_put(copying->to, &listing);
		if (!r)
			r = step(copying, id, copying->state.size);
	}
	return wfs_trace(r);
}

static int copy_texts(struct copying *copying)
{
	uint64_t last = 0;
	int r = wfs_text_last(copying->from, &last);

	for (uint64_t number = 1; !r && number <= last; number++) {
		struct wfs_text text;

		r = wfs_text_get(copying->from, number, &text);
		if (r || text.seq >= copying->height)
			break;
		r = wfs_text_put(copying->to, &text);
		if (!r)
			r = step(copying, number, text.bytes.size);
	}
	return wfs_trace(r);
}

static int copy_line(struct copying *copying)
{
	struct wfs_bytes line;
	uint64_t offset;
	int r = wfs_journal_get(copying->from, copying->height - 1, &offset, &line);

	return wfs_trace(
		r ? r : wfs_journal_append(copying->to, copying->height - 1, offset, line));
}

static void copying_done(struct copying *copying)
{
	wfs_txn_end(copying->to);
	for (size_t i = 0; copying->names && i < copying->reducer_count; i++)
		wfs_buffer_done(&copying->names[i]);
	free(copying->names);
	free(copying->reducers);
	wfs_buffer_done(&copying->state);
}

int wfs_seed(const struct wfs_seed *seed, uint64_t *ret_next_vid, struct wfs_error *error)
{
	static int (*const parts[])(struct copying * copying) = {
		copy_reducers, copy_cells, put_reducers, copy_blobs, copy_texts, copy_line};
	WFS_CLEANUP(copying_done)
	struct copying copying = {
		.seed = seed, .error = error, .height = seed->height, .from = seed->view->txn};
	uint64_t first = 0;
	int r = wfs_first_height_get(seed->view->txn, &first);

	copying.kept = first <= copying.height;
	copying.next_vid = 1;
	if (!r)
		r = wfs_store_write(seed->scratch, &copying.to);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(parts); i++)
		r = parts[i](&copying);
	if (!r)
		r = wfs_txn_commit(WFS_STEAL(copying.to));
	*ret_next_vid = copying.next_vid;
	if (r && error->code == WFS_OK)
		wfs_error_from_errno(error, r == -ENOENT ? -EIO : r,
			"copy the state at height %" PRIu64 ", from which the journal is folded",
			copying.height);
	return wfs_trace(r);
}

int wfs_seed_check(struct wfs_store *scratch, const struct wfs_journal_cut *cut,
	struct wfs_problems *problems, struct wfs_hash *ret_snapshot_hash, struct wfs_error *error)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_baseline_facts facts;
	struct wfs_bytes line;
	char pointer[sizeof("18446744073709551615")];
	int r = wfs_view_of(scratch, WFS_HEIGHT_HEAD, &view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_view_record(&view, cut->first_seq, &line);
	if (!r)
		r = wfs_record_parse(line, &parsed, NULL);
	if (r)
		return wfs_error_from_errno(error, r, "read the scratch store");
	r = wfs_baseline_facts(&view, &facts, error);
	if (r)
		return wfs_trace(r);
	const char *const how = wfs_record_is_cut(&parsed)
		? wfs_baseline_differs(&parsed, &facts)
		: "is not the baseline with which a journal begins that was cut";
	snprintf(pointer, sizeof(pointer), "%" PRIu64, cut->first_seq);
	if (how)
		wfs_problems_add(problems, "journal", pointer, "%s", how);
	*ret_snapshot_hash = facts.snapshot;
	return 0;
}
