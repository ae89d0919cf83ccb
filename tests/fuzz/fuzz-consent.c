/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files about what a world may do on this host: known.json, 0xff, keys.json, 0xff, host.json, in
 * directories below SCRATCH. (XDG_STATE_HOME and XDG_CONFIG_HOME are the harness's.)
 *
 * A refusal must have a reason, and change no file. A world must be trusted only with the host.json
 * to which the user agreed; a key must go only to a host that keys.json names; and after consent
 * the answer must be yes.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/host/models.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/file.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

static const char world_id[] = "0123456789abcdef0123456789abcdef";
static char world[300];
static char host_path[320];
static char known_path[320];
static char keys_path[320];
static char key[64]; /* of the world in known.json */

static void put(const char *path, struct wfs_bytes bytes)
{
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_MUST(fd >= 0 && write(fd, bytes.data, bytes.size) == (ssize_t)bytes.size);
}

static void get(const char *path, struct wfs_buffer *text)
{
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	FUZZ_MUST(fd >= 0 && wfs_file_read(fd, 1 << 20, text) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *const scratch = fuzz_environment("SCRATCH");
	char text[1024];
	struct stat st;

	(void)argc;
	(void)argv;
	snprintf(world, sizeof(world), "%s/world", scratch);
	snprintf(host_path, sizeof(host_path), "%s/host.json", world);
	snprintf(known_path, sizeof(known_path), "%s/worldfs/known.json", scratch);
	snprintf(keys_path, sizeof(keys_path), "%s/worldfs/keys.json", scratch);
	snprintf(text, sizeof(text), "mkdir -p '%s' '%s/worldfs'", world, scratch);
	fuzz_shell(text);
	snprintf(text, sizeof(text), "%s/data.mdb", world);
	put(text, WFS_BYTES("", 0));
	FUZZ_MUST(stat(text, &st) == 0);
	snprintf(key, sizeof(key), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	/* There is one thread. */
	FUZZ_MUST(setenv("XDG_STATE_HOME", scratch, 1) == 0);  /* NOLINT(concurrency-mt-unsafe) */
	FUZZ_MUST(setenv("XDG_CONFIG_HOME", scratch, 1) == 0); /* NOLINT(concurrency-mt-unsafe) */
	return 0;
}

/* Inputs cannot know the device and the inode: `@` is replaced by both. */
static void put_known(struct wfs_bytes bytes)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {.size = 0};
	const char *const data = bytes.data;

	for (size_t i = 0; i < bytes.size; i++) {
		if (data[i] == '@')
			wfs_buffer_append_text(&text, key);
		else
			wfs_buffer_append_byte(&text, data[i]);
	}
	put(known_path, wfs_buffer_bytes(&text));
}

/* The hash in known.json for this world's host.json, or "". */
static const char *agreed(const json_t *known)
{
	return wfs_json_text(json_object_get(known, key), "host");
}

static void check_host(const json_t *known)
{
	WFS_AUTO_JSON json_t *host = NULL;
	WFS_AUTO_JSON json_t *entry = NULL;
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_hash hash;
	char text[WFS_HASH_TEXT_SIZE] = "";

	const int read = wfs_host_file_read(world, &host, &hash, &error);
	if (read < 0)
		fuzz_refused(&error);
	else
		wfs_hash_text(&hash, text);
	const int trusted = wfs_trust_check_now(world, &error);
	if (trusted < 0)
		fuzz_refused(&error);
	FUZZ_MUST((trusted == 0) == (read == 0 && known && strcmp(agreed(known), text) == 0));
	const int found = wfs_models_find(world, "m", &entry, &error);
	if (found < 0)
		fuzz_refused(&error);
	FUZZ_MUST(found < 0 || (trusted == 0 && json_is_object(entry)));
	wfs_models_guard_keys(world);
}

static void check_keys(const json_t *keys)
{
	static const char *const hosts[] = {"api.example.org", "evil.example.org", ""};
	struct wfs_error error = {.code = WFS_OK};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(hosts); i++) {
		bool named = false;
		size_t n;
		const json_t *value;

		json_array_foreach(json_object_get(keys, "A_KEY"), n, value) {
			const char *const text = json_string_value(value);

			named |= text && strncasecmp(text, hosts[i], strlen(hosts[i])) == 0 &&
				(text[strlen(hosts[i])] == '\0' ||
					strcmp(text + strlen(hosts[i]), ":443") == 0);
		}
		const int r = wfs_trust_key("A_KEY", hosts[i], "443", false, &error);
		if (r < 0)
			fuzz_refused(&error);
		FUZZ_MUST((r == 0) == named);
	}
}

/* An unreadable file must be refused, and stay. */
static void check_consent(bool readable)
{
	WFS_AUTO_BUFFER struct wfs_buffer before = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer after = {.size = 0};
	const struct wfs_store_mark mark = {.txn = 7};
	const struct wfs_store_mark other = {.txn = 8};
	const struct wfs_hash host = wfs_hash_of("{}", 2);
	struct wfs_error error = {.code = WFS_OK};

	get(known_path, &before);
	const int r = wfs_trust_give(world, world_id, &host, &error);
	wfs_trust_closed(world, world_id, &mark);
	get(known_path, &after);
	if (r < 0) {
		fuzz_refused(&error);
		FUZZ_MUST(!readable);
		FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&before), wfs_buffer_bytes(&after)));
		return;
	}
	FUZZ_MUST(readable && wfs_json_is_canonical(WFS_BYTES(after.data, after.size - 1)));
	FUZZ_MUST(wfs_trust_check(world, &host, &error) == 0);
	FUZZ_MUST(wfs_trust_has_written(world, world_id, &mark));
	FUZZ_MUST(!wfs_trust_has_written(world, world_id, &other));
	FUZZ_MUST(!wfs_trust_has_written(world, "another", &mark));
}

static json_t *read_object(const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {.size = 0};
	json_t *json = NULL;

	get(path, &text);
	if (wfs_json_parse_bounded(text.data, text.size, &json, NULL) == 0 && json_is_object(json))
		return json;
	json_decref(json);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	put_known(fuzz_part(&data, &size));
	put(keys_path, fuzz_part(&data, &size));
	put(host_path, fuzz_part(&data, &size));
	WFS_AUTO_JSON json_t *known = read_object(known_path);
	WFS_AUTO_JSON json_t *keys = read_object(keys_path);

	check_host(known);
	check_keys(keys);
	check_consent(known != NULL);
	return 0;
}
