/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/etcd.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"

#define SCHEME "etcd://"
#define KEY_FIRST "/" /* between the prefix and a key */
#define NO_MEMORY(error) wfs_error_from_errno(error, -ENOMEM, "ask etcd")

/* Numbers of gRPC's errors. Source: https://grpc.io/docs/guides/status-codes/ */
enum {
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_NOT_FOUND = 5,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_FAILED_PRECONDITION = 9,
	GRPC_UNAUTHENTICATED = 16,
};

enum { RING_MS = 1000 }; /* between two looks at a watch */

struct wfs_etcd {
	CURL *easy;
	struct curl_slist *headers; /* NULL: not made yet */
	char *ends[WFS_ETCD_ENDS_MAX];
	size_t end_count;
	size_t end; /* where the next request goes */
	char *prefix;
	char *user;
	char *password;
	char *token; /* of the user; NULL: to be asked for */
	bool tls;
	int64_t timeout_ms;
	CURLM *multi; /* of a watch, which another thread can wake */
	bool watches;
	struct wfs_buffer answer; /* scratch */
	char reason[CURL_ERROR_SIZE];
};

/* --- the URL --- */

/* @text: may have the scheme etcd. Return: 0, -EINVAL, -ENOMEM. */
static int add_end(struct wfs_etcd *etcd, const char *text, size_t size, struct wfs_error *error)
{
	CURLU *const url = curl_url();
	char *end = NULL;
	int r = url &&
			asprintf(&end, "%s://%.*s", etcd->tls ? "https" : "http", (int)size, text) >
				0
		? 0
		: -ENOMEM;

	if (!r &&
		(size == 0 || size > WFS_ETCD_NAME_MAX ||
			curl_url_set(url, CURLUPART_URL, end, CURLU_DISALLOW_USER) != CURLUE_OK ||
			strcspn(end + strlen("https://"), "?#@") <
				strlen(end + strlen("https://"))))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected HOST:PORT of etcd, got '%.*s'", (int)(size < 80 ? size : 80),
			text);
	else if (!r && etcd->end_count == WFS_ETCD_ENDS_MAX)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected at most %d end points of etcd", WFS_ETCD_ENDS_MAX);
	else if (!r)
		etcd->ends[etcd->end_count++] = WFS_STEAL(end);
	curl_url_cleanup(url);
	free(end);
	return r == -ENOMEM ? NO_MEMORY(error) : r;
}

static bool is_prefix(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-/";
	const size_t size = strlen(text);

	return size > 0 && size <= WFS_ETCD_NAME_MAX && strspn(text, allowed) == size &&
		text[0] != '/' && text[size - 1] != '/' && !strstr(text, "//");
}

static int read_url(struct wfs_etcd *etcd, const char *url, struct wfs_error *error)
{
	const bool known = strncmp(url, SCHEME, strlen(SCHEME)) == 0;
	const char *at = known ? url + strlen(SCHEME) : url;
	const char *const slash = strchr(at, '/');

	if (!known || !slash || !is_prefix(slash + 1))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected etcd://HOST:PORT,…/PREFIX, where the prefix has letters, digits, "
			"'.', '_', '-' and single '/', got '%.200s'",
			url);
	etcd->prefix = strdup(slash + 1);
	if (!etcd->prefix)
		return NO_MEMORY(error);
	for (;;) {
		const size_t size = strcspn(at, ",/");
		const int r = add_end(etcd, at, size, error);

		if (r || at[size] == '/')
			return r;
		at += size + 1;
	}
}

/* --- life --- */

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
	struct wfs_buffer *const answer = context;

	size *= count;
	if (answer->size + size > WFS_ETCD_ANSWER_MAX)
		return 0;
	wfs_buffer_append(answer, bytes, size);
	return answer->failed ? 0 : size;
}

/* A watch under way. */
struct watch {
	bool (*ring)(void *context, bool rung);
	void *context;
	bool ended; /* by `ring` */
};

static size_t take_change(char *bytes, size_t size, size_t count, void *context)
{
	struct watch *const watch = context;

	(void)bytes;
	watch->ended = !watch->ring(watch->context, true);
	return watch->ended ? 0 : size * count;
}

static int take_time(
	void *context, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent)
{
	struct watch *const watch = context;

	(void)to_get, (void)got, (void)to_send, (void)sent;
	watch->ended = !watch->ring(watch->context, false);
	return watch->ended;
}

/* Performs the request of a watch. */
static CURLcode watch(struct wfs_etcd *etcd)
{
	CURLcode result = CURLE_OUT_OF_MEMORY;
	int running = 1;
	int left;

	if (curl_multi_add_handle(etcd->multi, etcd->easy) != CURLM_OK)
		return result;
	while (running && curl_multi_perform(etcd->multi, &running) == CURLM_OK)
		if (running)
			(void)curl_multi_poll(etcd->multi, NULL, 0, RING_MS, NULL);
	const CURLMsg *const end = curl_multi_info_read(etcd->multi, &left);
	if (end)
		result = end->data.result;
	(void)curl_multi_remove_handle(etcd->multi, etcd->easy);
	return result;
}

/* Makes the next request a watch, or, without @watch, one like the others. Return: 0, -ENOMEM. */
static int set_watch(struct wfs_etcd *etcd, struct watch *watched)
{
	CURL *const easy = etcd->easy;
	int r = 0;

	etcd->watches = watched != NULL;
	r |= (int)curl_easy_setopt(
		easy, CURLOPT_TIMEOUT_MS, (long)(watched ? 0 : etcd->timeout_ms));
	r |= (int)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, watched ? 0L : 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, take_time);
	r |= (int)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, watched);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, watched ? take_change : take);
	r |= (int)curl_easy_setopt(
		easy, CURLOPT_WRITEDATA, watched ? (void *)watched : (void *)&etcd->answer);
	return r ? -ENOMEM : 0;
}

static int set_options(struct wfs_etcd *etcd, const struct wfs_etcd_options *options)
{
	CURL *const easy = etcd->easy;
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, etcd->reason);
	r |= (int)curl_easy_setopt(easy, CURLOPT_POST, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSLCERT, options->certificate);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSLKEY, options->key);
	return r || set_watch(etcd, NULL) ? -ENOMEM : 0;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

int wfs_etcd_new(
	const struct wfs_etcd_options *options, struct wfs_etcd **ret_etcd, struct wfs_error *error)
{
	WFS_AUTO_ETCD struct wfs_etcd *etcd = calloc(1, sizeof(*etcd));

	if (!etcd)
		return NO_MEMORY(error);
	etcd->tls = options->ca != NULL;
	etcd->timeout_ms = options->timeout_ms;
	int r = read_url(etcd, options->url, error);
	if (r)
		return r;
	etcd->easy = curl_easy_init();
	etcd->multi = curl_multi_init();
	if (!etcd->easy || !etcd->multi || set_options(etcd, options))
		return NO_MEMORY(error);
	if (options->user &&
		!((etcd->user = strdup(options->user)) &&
			(etcd->password = strdup(options->password))))
		return NO_MEMORY(error);
	*ret_etcd = WFS_STEAL(etcd);
	return 0;
}

void wfs_etcd_free(struct wfs_etcd *etcd)
{
	if (!etcd)
		return;
	curl_easy_cleanup(etcd->easy);
	curl_multi_cleanup(etcd->multi);
	curl_slist_free_all(etcd->headers);
	for (size_t i = 0; i < etcd->end_count; i++)
		free(etcd->ends[i]);
	free(etcd->prefix);
	free(etcd->user);
	wipe(etcd->password);
	wipe(etcd->token);
	wfs_buffer_done(&etcd->answer);
	free(etcd);
}

/* --- one request --- */

/* The headers are made again when the token changes. Return: 0, -ENOMEM. */
static int set_headers(struct wfs_etcd *etcd)
{
	WFS_AUTO_BUFFER struct wfs_buffer token = {0};
	struct curl_slist *headers = NULL;

	if (etcd->headers)
		return 0;
	headers = curl_slist_append(NULL, "Content-Type: application/json");
	struct curl_slist *last = headers ? curl_slist_append(headers, "Expect:") : NULL;
	if (last && etcd->token) {
		wfs_buffer_printf(&token, "Authorization: %s", etcd->token);
		last = wfs_buffer_check(&token)
			? NULL
			: curl_slist_append(headers, wfs_buffer_text(&token));
	}
	if (!last || curl_easy_setopt(etcd->easy, CURLOPT_HTTPHEADER, headers) != CURLE_OK) {
		curl_slist_free_all(headers);
		return -ENOMEM;
	}
	etcd->headers = headers;
	return 0;
}

static void next_end(struct wfs_etcd *etcd)
{
	etcd->end = (etcd->end + 1) % etcd->end_count;
}

/* @result: of curl, not CURLE_OK */
static int failed(struct wfs_etcd *etcd, CURLcode result, struct wfs_error *error)
{
	const char *const reason = *etcd->reason ? etcd->reason : curl_easy_strerror(result);
	const char *const end = etcd->ends[etcd->end];
	long sent_bytes = 0;

	next_end(etcd);
	if (result == CURLE_OUT_OF_MEMORY || etcd->answer.failed)
		return NO_MEMORY(error);
	if (result == CURLE_WRITE_ERROR)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"etcd at %s answers with more than %d bytes", end, WFS_ETCD_ANSWER_MAX);
	if (result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CERTPROBLEM ||
		result == CURLE_SSL_CACERT_BADFILE)
		return wfs_error_set(
			error, WFS_E_NOT_AUTHORIZED, "etcd at %s: %.300s", end, reason);
	(void)curl_easy_getinfo(etcd->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
	return wfs_error_set(error, sent_bytes == 0 ? WFS_E_UNAVAILABLE : WFS_E_TIMEOUT,
		"etcd at %s: %.300s", end, reason);
}

/* @answer: of etcd, with another status than 200 */
static int refused(
	struct wfs_etcd *etcd, long status, const json_t *answer, struct wfs_error *error)
{
	const int code = (int)json_number_value(json_object_get(answer, "code"));
	const char *const reason = wfs_json_text(answer, "message");
	const char *const end = etcd->ends[etcd->end];
	enum wfs_error_code ours = WFS_E_TIMEOUT;

	if (code == GRPC_UNAUTHENTICATED || code == GRPC_PERMISSION_DENIED ||
		strstr(reason, "authentication failed") || strstr(reason, "user name is empty"))
		ours = WFS_E_NOT_AUTHORIZED;
	else if (strstr(reason, "database space exceeded"))
		ours = WFS_E_STORE_FULL;
	else if (strstr(reason, "too large") || strstr(reason, "larger than max"))
		ours = WFS_E_TOO_LARGE;
	else if (code == GRPC_NOT_FOUND)
		ours = WFS_E_NOT_FOUND;
	else if (code == GRPC_RESOURCE_EXHAUSTED) /* too many requests */
		ours = WFS_E_UNAVAILABLE;
	else if (code == GRPC_INVALID_ARGUMENT || code == GRPC_FAILED_PRECONDITION)
		ours = WFS_E_INVALID_ARGUMENT;
	else
		next_end(etcd);
	return wfs_error_set(error, ours, "etcd at %s: %.300s", end,
		*reason                 ? reason
			: status == 404 ? "it has no JSON gateway"
					: "an unknown error");
}

/* Sends one request, and gets the answer. @path: below /v3/ */
static int send_once(struct wfs_etcd *etcd, const char *path, const struct wfs_buffer *body,
	json_t **ret_answer, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};
	WFS_AUTO_JSON json_t *answer = NULL;
	long status = 0;

	wfs_buffer_printf(&url, "%s/v3/%s", etcd->ends[etcd->end], path);
	if (wfs_buffer_check(&url) || set_headers(etcd) ||
		curl_easy_setopt(etcd->easy, CURLOPT_URL, wfs_buffer_text(&url)) != CURLE_OK ||
		curl_easy_setopt(etcd->easy, CURLOPT_POSTFIELDS, body->data) != CURLE_OK ||
		curl_easy_setopt(etcd->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size) !=
			CURLE_OK)
		return NO_MEMORY(error);
	wfs_buffer_reset(&etcd->answer);
	*etcd->reason = '\0';
	const CURLcode result = etcd->watches ? watch(etcd) : curl_easy_perform(etcd->easy);
	if (result != CURLE_OK)
		return failed(etcd, result, error);
	(void)curl_easy_getinfo(etcd->easy, CURLINFO_RESPONSE_CODE, &status);
	int r = wfs_json_look(etcd->answer.data, etcd->answer.size, &answer);
	if (r == -ENOMEM)
		return NO_MEMORY(error);
	if (status != 200)
		return refused(etcd, status, answer, error);
	if (r || !json_is_object(answer))
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"'%s' does not answer as etcd does", etcd->ends[etcd->end]);
	*ret_answer = WFS_STEAL(answer);
	return 0;
}

static int write_body(const json_t *body, struct wfs_buffer *buffer)
{
	if (body)
		wfs_json_write(body, buffer);
	return body ? wfs_buffer_check(buffer) : -ENOMEM;
}

static int authenticate(struct wfs_etcd *etcd, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *body =
		json_pack("{s:s, s:s}", "name", etcd->user, "password", etcd->password);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *answer = NULL;

	wipe(WFS_STEAL(etcd->token));
	curl_slist_free_all(WFS_STEAL(etcd->headers));
	int r = write_body(body, &text);
	r = r ? NO_MEMORY(error) : send_once(etcd, "auth/authenticate", &text, &answer, error);
	if (text.data)
		explicit_bzero(text.data, text.capacity_bytes);
	if (r)
		return r == -ETIMEDOUT
			? wfs_error_set(error, WFS_E_UNAVAILABLE,
				  "etcd does not answer for the user '%s'", etcd->user)
			: r;
	etcd->token = strdup(wfs_json_text(answer, "token"));
	curl_slist_free_all(WFS_STEAL(etcd->headers));
	return etcd->token ? 0 : NO_MEMORY(error);
}

/* @body: taken. @ret_answer: an object; caller owns it */
static int ask(struct wfs_etcd *etcd, const char *path, json_t *body, json_t **ret_answer,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *owned = body;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error refusal = {0};
	int r = write_body(owned, &text);

	if (r)
		return NO_MEMORY(error);
	if (etcd->user && !etcd->token)
		r = authenticate(etcd, error);
	if (r)
		return r;
	r = send_once(etcd, path, &text, ret_answer, &refusal);
	/* Tokens end by themselves. etcd has not done what it refuses for that. */
	if (r == -EACCES && etcd->user) {
		r = authenticate(etcd, &refusal);
		if (!r)
			r = send_once(etcd, path, &text, ret_answer, &refusal);
	}
	if (r && error)
		*error = refusal;
	return r;
}

/* --- values of the gateway --- */

/* 64-bit numbers are texts there, and 0 is left out. */
static int64_t number_of(const json_t *object, const char *member)
{
	return strtoll(wfs_json_text(object, member), NULL, 10);
}

static json_t *base64_of(struct wfs_bytes bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_base64_append(&text, bytes.data, bytes.size);
	return wfs_buffer_check(&text) ? NULL : json_stringn(text.data, text.size);
}

static json_t *key_of(const struct wfs_etcd *etcd, const char *key)
{
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};

	wfs_buffer_printf(&whole, "%s" KEY_FIRST "%s", etcd->prefix, key);
	return wfs_buffer_check(&whole) ? NULL : base64_of(wfs_buffer_bytes(&whole));
}

void wfs_etcd_done(struct wfs_etcd_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++) {
		free(answer->rows[i].key);
		wfs_buffer_done(&answer->rows[i].value);
	}
	free(answer->rows);
	*answer = (struct wfs_etcd_answer){.rows = NULL};
}

const struct wfs_etcd_row *wfs_etcd_row(const struct wfs_etcd_answer *answer, const char *key)
{
	for (size_t i = 0; i < answer->count; i++)
		if (strcmp(answer->rows[i].key, key) == 0)
			return &answer->rows[i];
	return NULL;
}

/* Return: 0, -EINVAL (the row is not one of ours), -ENOMEM. */
static int read_row(const struct wfs_etcd *etcd, const json_t *row, struct wfs_etcd_row *ret_row)
{
	const struct wfs_bytes key = wfs_text_of(json_object_get(row, "key"));
	const struct wfs_bytes value = wfs_text_of(json_object_get(row, "value"));
	const size_t skip = strlen(etcd->prefix) + strlen(KEY_FIRST);
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};

	*ret_row = (struct wfs_etcd_row){
		.revision = number_of(row, "mod_revision"), .lease = number_of(row, "lease")};
	int r = wfs_base64_decode(key.data, key.size, &name, NULL);
	if (!r)
		r = wfs_base64_decode(value.data, value.size, &ret_row->value, NULL);
	wfs_buffer_append(&name, "", 1);
	if (!r)
		r = wfs_buffer_check(&name);
	if (!r && name.size <= skip)
		r = -EINVAL;
	if (!r && !(ret_row->key = strdup(name.data + skip)))
		r = -ENOMEM;
	return r;
}

static int add_rows(
	const struct wfs_etcd *etcd, const json_t *range, struct wfs_etcd_answer *answer)
{
	const json_t *const rows = json_object_get(range, "kvs");
	const size_t count = answer->count + json_array_size(rows);
	struct wfs_etcd_row *grown;
	size_t i;
	const json_t *row;
	int r = 0;

	answer->more = json_is_true(json_object_get(range, "more"));
	if (count == answer->count)
		return 0;
	grown = reallocarray(answer->rows, count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	answer->rows = grown;
	json_array_foreach(rows, i, row) {
		r = read_row(etcd, row, &grown[answer->count++]);
		if (r)
			break;
	}
	return r;
}

static int no_answer(int r, struct wfs_error *error)
{
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"etcd answers with a row whose "
			"key or value is not base64");
	return r ? NO_MEMORY(error) : 0;
}

/* --- transactions --- */

void wfs_etcd_txn_done(struct wfs_etcd_txn *txn)
{
	json_decref(txn->compare);
	json_decref(txn->success);
	json_decref(txn->failure);
	*txn = (struct wfs_etcd_txn){.compare = NULL};
}

/* @item: taken; NULL: memory was short */
static void add(struct wfs_etcd_txn *txn, json_t **list, json_t *item)
{
	if (!*list)
		*list = json_array();
	if (json_array_append_new(*list, item) < 0)
		txn->failed = true;
}

void wfs_etcd_if_revision(
	const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key, int64_t revision)
{
	add(txn, &txn->compare,
		json_pack("{s:o, s:s, s:s, s:o}", "key", key_of(etcd, key), "target", "MOD",
			"result", "EQUAL", "mod_revision", json_sprintf("%" PRId64, revision)));
}

void wfs_etcd_if_value(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key,
	struct wfs_bytes value)
{
	add(txn, &txn->compare,
		json_pack("{s:o, s:s, s:s, s:o}", "key", key_of(etcd, key), "target", "VALUE",
			"result", "EQUAL", "value", base64_of(value)));
}

void wfs_etcd_put(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key,
	struct wfs_bytes value, int64_t lease)
{
	add(txn, &txn->success,
		json_pack("{s:{s:o, s:o, s:o}}", "request_put", "key", key_of(etcd, key), "value",
			base64_of(value), "lease", json_sprintf("%" PRId64, lease)));
}

void wfs_etcd_delete(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key)
{
	add(txn, &txn->success,
		json_pack("{s:{s:o}}", "request_delete_range", "key", key_of(etcd, key)));
}

static json_t *get_of(const struct wfs_etcd *etcd, const char *key)
{
	return json_pack("{s:{s:o}}", "request_range", "key", key_of(etcd, key));
}

void wfs_etcd_get(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key)
{
	add(txn, &txn->success, get_of(etcd, key));
}

void wfs_etcd_get_else(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key)
{
	add(txn, &txn->failure, get_of(etcd, key));
}

static int read_answer(
	const struct wfs_etcd *etcd, const json_t *from, struct wfs_etcd_answer *answer)
{
	size_t i;
	const json_t *response;
	int r = 0;

	answer->succeeded = json_is_true(json_object_get(from, "succeeded"));
	answer->revision = number_of(json_object_get(from, "header"), "revision");
	json_array_foreach(json_object_get(from, "responses"), i, response) {
		r = add_rows(etcd, json_object_get(response, "response_range"), answer);
		if (r)
			break;
	}
	return r;
}

int wfs_etcd_commit(struct wfs_etcd *etcd, const struct wfs_etcd_txn *txn,
	struct wfs_etcd_answer *ret_answer, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer read = {.rows = NULL};
	WFS_AUTO_JSON json_t *answer = NULL;
	json_t *const body = txn->failed
		? NULL
		: json_pack("{s:O*, s:O*, s:O*}", "compare", txn->compare, "success", txn->success,
			  "failure", txn->failure);
	int r = ask(etcd, "kv/txn", body, &answer, error);

	if (r)
		return r;
	r = read_answer(etcd, answer, &read);
	if (!r && ret_answer) {
		*ret_answer = read;
		read = (struct wfs_etcd_answer){.rows = NULL};
	}
	return no_answer(r, error);
}

int wfs_etcd_range(struct wfs_etcd *etcd, const char *from, const char *to, int64_t limit,
	struct wfs_etcd_answer *ret_answer, struct wfs_error *error)
{
	WFS_AUTO_ETCD_ANSWER struct wfs_etcd_answer read = {.rows = NULL};
	WFS_AUTO_JSON json_t *answer = NULL;
	int r = ask(etcd, "kv/range",
		json_pack("{s:o, s:o, s:o}", "key", key_of(etcd, from), "range_end",
			key_of(etcd, to), "limit", json_sprintf("%" PRId64, limit)),
		&answer, error);

	if (r)
		return r;
	read.succeeded = true;
	read.revision = number_of(json_object_get(answer, "header"), "revision");
	r = add_rows(etcd, answer, &read);
	if (r)
		return no_answer(r, error);
	*ret_answer = read;
	read = (struct wfs_etcd_answer){.rows = NULL};
	return 0;
}

/* --- watches --- */

int wfs_etcd_watch(struct wfs_etcd *etcd, const char *key, bool (*ring)(void *context, bool rung),
	void *context, struct wfs_error *error)
{
	struct watch watch = {.ring = ring, .context = context};
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_error broken = {0};
	int r = set_watch(etcd, &watch);

	if (!r)
		r = ask(etcd, "watch",
			json_pack("{s:{s:o}}", "create_request", "key", key_of(etcd, key)), &answer,
			&broken);
	if (set_watch(etcd, NULL) || r == -ENOMEM)
		return NO_MEMORY(error);
	if (watch.ended)
		return 0;
	if (error)
		*error = broken;
	return r;
}

void wfs_etcd_wake(struct wfs_etcd *etcd)
{
	(void)curl_multi_wakeup(etcd->multi);
}

/* --- leases --- */

static json_t *lease_of(int64_t lease)
{
	return json_pack("{s:o}", "ID", json_sprintf("%" PRId64, lease));
}

int wfs_etcd_grant(
	struct wfs_etcd *etcd, int64_t seconds, int64_t *ret_lease, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	const int r = ask(etcd, "lease/grant",
		json_pack("{s:o}", "TTL", json_sprintf("%" PRId64, seconds)), &answer, error);

	if (r)
		return r;
	*ret_lease = number_of(answer, "ID");
	return 0;
}

int wfs_etcd_revoke(struct wfs_etcd *etcd, int64_t lease, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	struct wfs_error refusal = {0};
	const int r = ask(etcd, "lease/revoke", lease_of(lease), &answer, &refusal);

	if (r == -ENOENT)
		return 0;
	if (r && error)
		*error = refusal;
	return r;
}
