/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/base/clock.h"
#include "kernel/base/form.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

#define HEAD "head"
#define EPOCH "epoch"
#define WHOLE 'B'
#define PARTED 'P'
#define NO_MEMORY(error) wfs_error_from_errno(error, -ENOMEM, "use the log")
#define NOT_KNOWN "it is not known whether the batch is in the log"

enum {
	KEY_SIZE = 128,
	AGAIN_MS = 20, /* before a batch is looked for again */
};

bool wfs_log_node_valid(const char *name)
{
	const size_t size = strlen(name);

	return size > 0 && size <= WFS_LOG_NODE_MAX &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
}

int wfs_log_node_check(const char *name, struct wfs_error *error)
{
	if (wfs_log_node_valid(name))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"expected a name of a node (lower-case letters, digits, '-'; at most %d bytes), "
		"got '%.100s'",
		WFS_LOG_NODE_MAX, name);
}

/* --- head and epoch --- */

#define HEAD_MEMBERS(M)                       \
	M(wfs_log_head, NAT, epoch, 0)        \
	M(wfs_log_head, NAT, fold_version, 0) \
	M(wfs_log_head, NAT, height, 0)       \
	M(wfs_log_head, HASH, line_hash, 0)

static const struct wfs_form head_form = {.kind = WFS_FORM_RECORD,
	.fields = (const struct wfs_field[]){HEAD_MEMBERS(WFS_FIELD){NULL}}};

/* The texts are kept in arrays, so they are read into pointers first. */
struct epoch_texts {
	int64_t epoch;
	const char *owner;
	const char *process;
};

#define EPOCH_MEMBERS(M)               \
	M(epoch_texts, NAT, epoch, 0)  \
	M(epoch_texts, TEXT, owner, 0) \
	M(epoch_texts, TEXT, process, 0)

static const struct wfs_form epoch_form = {.kind = WFS_FORM_RECORD,
	.fields = (const struct wfs_field[]){EPOCH_MEMBERS(WFS_FIELD){NULL}}};

static void write_head(const struct wfs_log_head *head, struct wfs_buffer *text)
{
	wfs_form_append(&head_form, head, text);
}

static void write_epoch(const struct wfs_log_epoch *epoch, struct wfs_buffer *text)
{
	wfs_form_append(&epoch_form,
		&(struct epoch_texts){epoch->epoch, epoch->owner, epoch->process}, text);
}

/* @form: of @key. @ret_struct: borrows from *@ret_json */
static int read_value(const struct wfs_etcd_row *row, const struct wfs_form *form, const char *key,
	json_t **ret_json, void *ret_struct, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r = wfs_json_parse_bounded(row->value.data, row->value.size, ret_json, &reason);

	if (!r)
		r = wfs_form_read(form, key, *ret_json, ret_struct, &reason);
	if (r == -ENOMEM)
		return NO_MEMORY(error);
	return r ? wfs_error_set(error, WFS_E_INTERNAL_ERROR, "the log's key '%s': %.300s", key,
			   reason.message)
		 : 0;
}

static int read_epoch(
	const struct wfs_etcd_row *row, struct wfs_log_epoch *epoch, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	struct epoch_texts texts;
	const int r = read_value(row, &epoch_form, EPOCH, &json, &texts, error);

	if (r)
		return r;
	if (!wfs_log_node_valid(texts.owner) || strlen(texts.process) >= sizeof(epoch->process))
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the log's key 'epoch' names no node, or no process");
	epoch->epoch = texts.epoch;
	snprintf(epoch->owner, sizeof(epoch->owner), "%s", texts.owner);
	snprintf(epoch->process, sizeof(epoch->process), "%s", texts.process);
	return 0;
}

/* Return: 0, -ENOENT, or another -errno. */
static int read_place(const struct wfs_etcd_answer *answer, struct wfs_log_place *ret_place,
	struct wfs_error *error)
{
	const struct wfs_etcd_row *const head = wfs_etcd_row(answer, HEAD);
	const struct wfs_etcd_row *const epoch = wfs_etcd_row(answer, EPOCH);
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_log_place place = {.head_revision = head ? head->revision : 0,
		.epoch_revision = epoch ? epoch->revision : 0};

	if (!head || !epoch)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "this prefix of etcd has no world");
	int r = read_value(head, &head_form, HEAD, &json, &place.head, error);
	if (!r)
		r = read_epoch(epoch, &place.epoch, error);
	if (!r)
		*ret_place = place;
	return r;
}

int wfs_log_look(struct wfs_etcd *etcd, struct wfs_log_place *ret_place, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_get(etcd, &txn, EPOCH);
	wfs_etcd_get(etcd, &txn, HEAD);
	const int r = wfs_etcd_commit(etcd, &txn, &answer, error);
	return r ? r : read_place(&answer, ret_place, error);
}

/* --- owners --- */

static void put_text(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key,
	const struct wfs_buffer *text)
{
	wfs_etcd_put(etcd, txn, key, wfs_buffer_bytes(text), 0);
}

int wfs_log_begin(struct wfs_etcd *etcd, const struct wfs_log_head *head,
	const struct wfs_log_epoch *epoch, struct wfs_log_place *ret_place, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer head_text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer epoch_text = {0};

	write_head(head, &head_text);
	write_epoch(epoch, &epoch_text);
	if (wfs_buffer_check(&head_text) || wfs_buffer_check(&epoch_text))
		return NO_MEMORY(error);
	wfs_etcd_if_revision(etcd, &txn, HEAD, 0);
	wfs_etcd_if_revision(etcd, &txn, EPOCH, 0);
	put_text(etcd, &txn, HEAD, &head_text);
	put_text(etcd, &txn, EPOCH, &epoch_text);
	const int r = wfs_etcd_commit(etcd, &txn, &answer, error);
	if (r)
		return r;
	if (!answer.succeeded)
		return wfs_error_set(
			error, WFS_E_ALREADY_EXISTS, "this prefix of etcd has a world already");
	*ret_place = (struct wfs_log_place){.head = *head,
		.epoch = *epoch,
		.head_revision = answer.revision,
		.epoch_revision = answer.revision};
	return 0;
}

static int stale(struct wfs_error *error, const char *what)
{
	(void)wfs_error_set(error, WFS_E_BUSY, "%s", what);
	return -ESTALE;
}

int wfs_log_claim(struct wfs_etcd *etcd, struct wfs_log_place *place, const char *owner,
	const char *process, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_log_epoch epoch = {.epoch = place->epoch.epoch + 1};

	snprintf(epoch.owner, sizeof(epoch.owner), "%s", owner);
	snprintf(epoch.process, sizeof(epoch.process), "%s", process);
	write_epoch(&epoch, &text);
	if (wfs_buffer_check(&text))
		return NO_MEMORY(error);
	wfs_etcd_if_revision(etcd, &txn, EPOCH, place->epoch_revision);
	put_text(etcd, &txn, EPOCH, &text);
	wfs_etcd_get(etcd, &txn, HEAD);
	wfs_etcd_get(etcd, &txn, EPOCH);
	const int r = wfs_etcd_commit(etcd, &txn, &answer, error);
	if (r)
		return r;
	return answer.succeeded ? read_place(&answer, place, error)
				: stale(error, "another process has changed the epoch");
}

/* --- parts of a batch --- */

static void log_key(int64_t height, char ret_key[static KEY_SIZE])
{
	snprintf(ret_key, KEY_SIZE, "log/%020" PRId64, height);
}

static void part_key(const struct wfs_hash *hash, char ret_key[static KEY_SIZE])
{
	snprintf(ret_key, KEY_SIZE, "part/%s", WFS_HASH_HEX(hash));
}

/* Writes a part. Its key says what it is, so it may be written any number of times. */
static int put_part(struct wfs_etcd *etcd, struct wfs_bytes part, const struct wfs_hash *hash,
	struct wfs_error *error)
{
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	char key[KEY_SIZE];

	part_key(hash, key);
	wfs_etcd_put(etcd, &txn, key, part, 0);
	const int r = wfs_etcd_commit(etcd, &txn, NULL, error);
	return r == -ETIMEDOUT ? wfs_error_set(error, WFS_E_UNAVAILABLE,
					 "etcd has not answered for a part of a batch")
			       : r;
}

/* Makes the value of a batch, and writes its parts. */
static int make_value(struct wfs_etcd *etcd, struct wfs_bytes batch, struct wfs_buffer *value,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *hashes = json_array();
	int r = 0;

	if (batch.size <= WFS_LOG_BATCH_MAX) {
		wfs_buffer_append_byte(value, WHOLE);
		wfs_buffer_append(value, batch.data, batch.size);
		return wfs_buffer_check(value) ? NO_MEMORY(error) : 0;
	}
	if (batch.size > (size_t)WFS_LOG_PARTS_MAX * WFS_LOG_BATCH_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"a batch of %zu bytes: the log takes at most %zu", batch.size,
			(size_t)WFS_LOG_PARTS_MAX * WFS_LOG_BATCH_MAX);
	for (size_t at = 0; !r && at < batch.size; at += WFS_LOG_BATCH_MAX) {
		const size_t left = batch.size - at;
		const struct wfs_bytes part = WFS_BYTES((const char *)batch.data + at,
			left < WFS_LOG_BATCH_MAX ? left : WFS_LOG_BATCH_MAX);
		const struct wfs_hash hash = wfs_hash_of(part.data, part.size);

		r = put_part(etcd, part, &hash, error);
		if (!r && json_array_append_new(hashes, json_string(WFS_HASH_TEXT(&hash))))
			r = NO_MEMORY(error);
	}
	if (r)
		return r;
	wfs_buffer_append_byte(value, PARTED);
	wfs_json_write(hashes, value);
	return wfs_buffer_check(value) ? NO_MEMORY(error) : 0;
}

static int get_part(struct wfs_etcd *etcd, const struct wfs_hash *hash, struct wfs_buffer *batch,
	struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};
	char key[KEY_SIZE];

	part_key(hash, key);
	wfs_etcd_get(etcd, &txn, key);
	const int r = wfs_etcd_commit(etcd, &txn, &answer, error);
	if (r)
		return r;
	if (answer.count == 0)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "the log lacks '%s'", key);
	if (!wfs_hash_fits(hash, wfs_buffer_bytes(&answer.rows[0].value)))
		return wfs_error_set(
			error, WFS_E_HASH_MISMATCH, "the log's '%s' does not have its hash", key);
	wfs_buffer_append(batch, answer.rows[0].value.data, answer.rows[0].value.size);
	return wfs_buffer_check(batch) ? NO_MEMORY(error) : 0;
}

/* @text: a list of hashes */
static int get_parts(struct wfs_etcd *etcd, struct wfs_bytes text, struct wfs_buffer *batch,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *hashes = NULL;
	size_t i;
	const json_t *item;
	int r = wfs_json_parse_bounded(text.data, text.size, &hashes, NULL);

	if (r == -ENOMEM)
		return NO_MEMORY(error);
	if (r || !json_is_array(hashes) || json_array_size(hashes) > WFS_LOG_PARTS_MAX)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"a batch of the log does not say what its parts are");
	json_array_foreach(hashes, i, item) {
		struct wfs_hash hash;

		if (!json_is_string(item) ||
			wfs_hash_parse(
				json_string_value(item), json_string_length(item), &hash, NULL))
			return wfs_error_set(error, WFS_E_HASH_MISMATCH,
				"a batch of the log has a part without a hash");
		r = get_part(etcd, &hash, batch, error);
		if (r)
			return r;
	}
	return 0;
}

/* --- appending --- */

/* A batch that is appended. Plain value; borrows. */
struct appending {
	struct wfs_etcd *etcd;
	struct wfs_log_place *place;
	const struct wfs_log_head *head;
	char key[KEY_SIZE];
	struct wfs_buffer value;     /* owned */
	struct wfs_buffer head_text; /* owned */
	bool unsure;                 /* a request may have been done, or may be done later */
};

static void appending_done(struct appending *appending)
{
	wfs_buffer_done(&appending->value);
	wfs_buffer_done(&appending->head_text);
}

static void is_appended(const struct appending *appending, int64_t revision)
{
	appending->place->head = *appending->head;
	appending->place->head_revision = revision;
}

/* Return: 0 (it is appended), -EAGAIN (it is not known: look), or another -errno: it is not, and
 * never will be. */
static int send(struct appending *appending, struct wfs_error *error)
{
	const struct wfs_log_place *const place = appending->place;
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_if_revision(appending->etcd, &txn, HEAD, place->head_revision);
	wfs_etcd_if_revision(appending->etcd, &txn, EPOCH, place->epoch_revision);
	put_text(appending->etcd, &txn, HEAD, &appending->head_text);
	put_text(appending->etcd, &txn, appending->key, &appending->value);
	const int r = wfs_etcd_commit(appending->etcd, &txn, &answer, error);
	if (!r && answer.succeeded) {
		is_appended(appending, answer.revision);
		return 0;
	}
	if (!r || r == -ETIMEDOUT || r == -EIO)
		appending->unsure = true;
	return appending->unsure ? -EAGAIN : r;
}

/* Return: 0 (it is appended), -ESTALE (it never will be), -EAGAIN (it is not, so far), or another
 * -errno: nobody knows. */
static int look(const struct appending *appending, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	WFS_AUTO_ETCD_TXN struct wfs_etcd_txn txn = {.compare = NULL};

	wfs_etcd_get(appending->etcd, &txn, EPOCH);
	wfs_etcd_get(appending->etcd, &txn, HEAD);
	wfs_etcd_get(appending->etcd, &txn, appending->key);
	const int r = wfs_etcd_commit(appending->etcd, &txn, &answer, error);
	if (r)
		return r == -EAGAIN ? -ETIMEDOUT : r;
	const struct wfs_etcd_row *const epoch = wfs_etcd_row(&answer, EPOCH);
	const struct wfs_etcd_row *const found = wfs_etcd_row(&answer, appending->key);
	if (found &&
		wfs_bytes_equal(
			wfs_buffer_bytes(&found->value), wfs_buffer_bytes(&appending->value))) {
		is_appended(appending, found->revision);
		return 0;
	}
	if (found)
		return stale(error, "another batch is at this height of the log");
	if (!epoch || epoch->revision != appending->place->epoch_revision)
		return stale(error, "another epoch has begun");
	return -EAGAIN;
}

/* Sends the batch, and looks for it until it is known what became of it. */
static int settle(struct appending *appending, int64_t until_ns, struct wfs_error *error)
{
	const struct timespec pause = {.tv_nsec = AGAIN_MS * 1000000L};
	int r = appending->unsure ? -EAGAIN : send(appending, error);

	if (r == 0 || !appending->unsure)
		return r;
	for (;;) {
		r = look(appending, error);
		if (r == 0 || r == -ESTALE)
			return r;
		if (wfs_clock_monotonic_ns() >= until_ns)
			return wfs_error_set(error, WFS_E_TIMEOUT, NOT_KNOWN);
		if (r == -EAGAIN && send(appending, error) == 0)
			return 0;
		nanosleep(&pause, NULL);
	}
}

static int append(struct appending *appending, struct wfs_bytes batch, int64_t until_ns,
	struct wfs_error *error)
{
	log_key(appending->place->head.height, appending->key);
	write_head(appending->head, &appending->head_text);
	if (wfs_buffer_check(&appending->head_text))
		return NO_MEMORY(error);
	const int r = make_value(appending->etcd, batch, &appending->value, error);
	if (r)
		return appending->unsure ? wfs_error_set(error, WFS_E_TIMEOUT, NOT_KNOWN) : r;
	return settle(appending, until_ns, error);
}

int wfs_log_append(struct wfs_etcd *etcd, struct wfs_log_place *place,
	const struct wfs_log_head *head, struct wfs_bytes batch, int64_t until_ns,
	struct wfs_error *error)
{
	WFS_CLEANUP(appending_done)
	struct appending appending = {.etcd = etcd, .place = place, .head = head};

	return append(&appending, batch, until_ns, error);
}

int wfs_log_resolve(struct wfs_etcd *etcd, struct wfs_log_place *place,
	const struct wfs_log_head *head, struct wfs_bytes batch, int64_t until_ns,
	struct wfs_error *error)
{
	WFS_CLEANUP(appending_done)
	struct appending appending = {.etcd = etcd, .place = place, .head = head, .unsure = true};

	return append(&appending, batch, until_ns, error);
}

/* --- reading --- */

static int give(struct wfs_etcd *etcd, const struct wfs_etcd_row *row,
	int (*each)(void *context, int64_t height, struct wfs_bytes batch, struct wfs_error *error),
	void *context, struct wfs_error *error)
{
	const int64_t height = strtoll(row->key + strlen("log/"), NULL, 10);
	const struct wfs_bytes rest = row->value.size > 0
		? WFS_BYTES(row->value.data + 1, row->value.size - 1)
		: WFS_BYTES(NULL, 0);
	WFS_AUTO_BUFFER struct wfs_buffer batch = {0};

	if (row->value.size > 0 && row->value.data[0] == WHOLE)
		return each(context, height, rest, error);
	if (row->value.size == 0 || row->value.data[0] != PARTED)
		return wfs_error_set(error, WFS_E_HASH_MISMATCH,
			"the log's '%s' is neither a batch nor a list of parts", row->key);
	const int r = get_parts(etcd, rest, &batch, error);
	return r ? r : each(context, height, wfs_buffer_bytes(&batch), error);
}

int wfs_log_read(struct wfs_etcd *etcd, int64_t height,
	int (*each)(void *context, int64_t height, struct wfs_bytes batch, struct wfs_error *error),
	void *context, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer answer = {.rows = NULL};
	char from[KEY_SIZE];

	log_key(height, from);
	int r = wfs_etcd_range(etcd, from, "log0", WFS_LOG_READ_COUNT, &answer, error);
	for (size_t i = 0; !r && i < answer.count; i++)
		r = give(etcd, &answer.rows[i], each, context, error);
	return r;
}
