/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of host.json. */
#include "kernel/base/host-form.h"

#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

#define KNOWN "a member that worldfs-host(5) names"
#define WORDS(words_) WFS_FORM(.kind = WFS_FORM_TEXT, .words = (words_))
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define TIME WFS_FORM_FROM_TO(1, INT32_MAX)
#define MEMBER_OF(of, name, form, optional, help)                      \
	{                                                              \
#name, form, optional, help, offsetof(struct of, name) \
	}
#define MEMBER(...) MEMBER_OF(wfs_host_model, __VA_ARGS__)

static const struct wfs_field model_fields[] = {
	MEMBER(provider, WORDS("openai script"), 0,
		"what answers: openai, a server with the API of OpenAI; or script, a file of "
		"answers"),
	MEMBER(base_url, &wfs_form_text, WFS_OPTIONAL,
		"URL of the API, such as http://localhost:11434/v1; required with openai"),
	MEMBER(file, &wfs_form_text, WFS_OPTIONAL,
		"path of the file of answers, relative to the world directory; required with "
		"script"),
	MEMBER(model, &wfs_form_text, WFS_OPTIONAL,
		"name that the server has for the model; by default the name of the entry; "
		"required in the entry named embedding"),
	MEMBER(api_key_env, &wfs_form_text, WFS_OPTIONAL,
		"environment variable of the owner process that has the key for the server"),
	MEMBER(profile, WORDS("openai vllm llamacpp sglang"), WFS_OPTIONAL,
		"server program, which decides how a request asks for a constraint on the "
		"answer, such as a JSON schema; by default openai"),
	MEMBER(max_tokens_name, WORDS("max_tokens max_completion_tokens"), WFS_OPTIONAL,
		"name of the member of a request that limits the length of the answer; by "
		"default max_tokens"),
	MEMBER(extra_body, WFS_FORM(.kind = WFS_FORM_OBJECT), WFS_NULLABLE,
		"members to add to every request; each replaces a member of the same name"),
	MEMBER(stream, &wfs_form_bool, WFS_OPTIONAL,
		"whether to ask the server for answers as a stream; by default false"),
	MEMBER(dimensions, WFS_FORM_FROM_TO(1, WFS_HOST_DIMENSIONS_MAX), WFS_OPTIONAL,
		"how many numbers an embedding has; by default as many as the server gives, at "
		"most 4096"),
	MEMBER(connect_timeout_ms, TIME, WFS_OPTIONAL,
		"milliseconds that connecting may take; by default 5000"),
	MEMBER(first_byte_timeout_ms, TIME, WFS_OPTIONAL,
		"milliseconds from the start of each try of a request (one that fails may be "
		"tried again) until the body of the answer begins, at most; by default 120000"),
	MEMBER(idle_timeout_ms, TIME, WFS_OPTIONAL,
		"milliseconds between two parts of the answer, at most; by default 60000"),
	MEMBER(total_timeout_ms, TIME, WFS_OPTIONAL,
		"milliseconds that all tries of one request, and the waits between them, may take "
		"together; by default 600000"),
	{NULL},
};

#undef MEMBER
#define MEMBER(...) MEMBER_OF(wfs_host_server, __VA_ARGS__)

static int check_length(const char *name, const json_t *value, struct wfs_error *error)
{
	const size_t count =
		json_is_array(value) ? json_array_size(value) : json_object_size(value);

	return count > 0 && count <= WFS_HOST_SERVER_LIST_MAX
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "%s: expected 1 to %d items, got %zu", name, WFS_HOST_SERVER_LIST_MAX,
			  count);
}

static int check_command(const char *name, const json_t *command, struct wfs_error *error)
{
	const int r = check_length(name, command, error);

	return r || *json_string_value(json_array_get(command, 0))
		? r
		: wfs_error_set(
			  error, WFS_E_INVALID_ARGUMENT, "%s: expected a program, got ''", name);
}

/* A variable of the environment. */
static int check_variable(const char *name, const json_t *value, struct wfs_error *error)
{
	const char *const text = json_string_value(value);

	return *text && !strchr(text, '=')
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "%s: expected the name of an environment variable, got '%.60s'", name,
			  text);
}

/* Headers that the transport sets, or that change how the message is read. */
static bool is_reserved(const char *header)
{
	static const char *const reserved[] = {"Accept", "Accept-Encoding", "Connection",
		"Content-Length", "Content-Type", "Expect", "Host", "Last-Event-ID",
		"Mcp-Protocol-Version", "Mcp-Session-Id", "TE", "Trailer", "Transfer-Encoding",
		"Upgrade"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(reserved); i++)
		if (strcasecmp(header, reserved[i]) == 0)
			return true;
	return false;
}

static int check_headers(const char *name, const json_t *headers, struct wfs_error *error)
{
	const char *header;
	json_t *variable;

	json_object_foreach((json_t *)headers, header, variable) {
		/* A token of RFC 9110, 5.6.2. */
		if (!*header || header[strspn(header, LETTERS "!#$%&'*+-.^_`|~")] != '\0' ||
			is_reserved(header))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected the name of a header that the protocol does not use, "
				"got '%.60s'",
				name, header);
	}
	return check_length(name, headers, error);
}

static const struct wfs_form variable_form = {.kind = WFS_FORM_TEXT, .then = check_variable};

static const struct wfs_field server_fields[] = {
	MEMBER(command,
		WFS_FORM(.kind = WFS_FORM_LIST, .of = &wfs_form_text, .then = check_command),
		WFS_OPTIONAL,
		"program that is started as the server, and its arguments; either this or url"),
	MEMBER(url, &wfs_form_text, WFS_OPTIONAL,
		"URL of a server that speaks Streamable HTTP, such as https://example.org/mcp"),
	MEMBER(env, WFS_FORM(.kind = WFS_FORM_LIST, .of = &variable_form, .then = check_length),
		WFS_OPTIONAL,
		"names of those environment variables of the owner process that the program in "
		"command gets; it gets no others"),
	MEMBER(headers_env,
		WFS_FORM(.kind = WFS_FORM_OBJECT, .of = &variable_form, .then = check_headers),
		WFS_OPTIONAL,
		"for each header to send with requests to url: its name, and as value the name "
		"of the environment variable of the owner process that has the header's value"),
	MEMBER(timeout_ms, TIME, WFS_OPTIONAL,
		"milliseconds that each of these may take: starting the server, listing its "
		"tools, one call; by default 60000"),
	MEMBER(output_max_bytes, WFS_FORM_FROM_TO(1, WFS_HOST_OUTPUT_BYTES_MAX), WFS_OPTIONAL,
		"bytes that the texts, images, sounds and links of a result may have together, "
		"and bytes that its structured content may have; by default 1048576"),
	MEMBER(concurrency, WFS_FORM_FROM_TO(1, WFS_HOST_CONCURRENCY_MAX), WFS_OPTIONAL,
		"calls that the server gets at the same time, at most; further calls wait; by "
		"default 4"),
	MEMBER(start, WORDS("lazy always"), WFS_OPTIONAL,
		"when the server is started: lazy, when it is first needed; always, with the "
		"owner process; by default lazy"),
	MEMBER(sandbox, &wfs_form_bool, WFS_OPTIONAL,
		"whether to run the command under bwrap(1), with a read-only system and a "
		"private /tmp; by default false"),
	MEMBER(network, &wfs_form_bool, WFS_OPTIONAL,
		"whether a command in the sandbox may use the network; by default false"),
	{NULL},
};

static int check_server(const char *name, const json_t *server, struct wfs_error *error)
{
	static const struct {
		const char *member, *needed;
	} needs[] = {
		{"env", "command"},
		{"sandbox", "command"},
		{"network", "sandbox"},
		{"headers_env", "url"},
	};

	if (!json_object_get(server, "command") == !json_object_get(server, "url"))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected either 'command' or 'url', got %s", name,
			json_object_get(server, "url") ? "both" : "neither");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(needs); i++)
		if (json_object_get(server, needs[i].member) &&
			!json_object_get(server, needs[i].needed))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected '%s', which '%s' needs, got no such member", name,
				needs[i].needed, needs[i].member);
	return 0;
}

const struct wfs_form wfs_host_server_form = {
	.kind = WFS_FORM_RECORD, .fields = server_fields, .comment = KNOWN, .then = check_server};

static int check_servers(const char *name, const json_t *servers, struct wfs_error *error)
{
	const char *server;
	json_t *entry;

	if (json_object_size(servers) > WFS_HOST_SERVERS_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected at most %d servers, got %zu", name, WFS_HOST_SERVERS_MAX,
			json_object_size(servers));
	json_object_foreach((json_t *)servers, server, entry) {
		const size_t size = strspn(server, LETTERS "_-");

		if (size == 0 || server[size] || size > WFS_HOST_SERVER_NAME_MAX)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected a server's name of at most %d letters of ASCII, "
				"digits, '_' and '-', got '%.80s'",
				name, WFS_HOST_SERVER_NAME_MAX, server);
	}
	return 0;
}

/* What each provider needs. */
static int check_model(const char *name, const json_t *model, struct wfs_error *error)
{
	const char *const provider = wfs_json_text(model, "provider");
	const char *const needed = strcmp(provider, "script") == 0 ? "file" : "base_url";

	return json_object_get(model, needed)
		? 0
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			  "%s: expected '%s', which the provider '%s' needs, got no such member",
			  name, needed, provider);
}

static int check_uids(const char *name, const json_t *uids, struct wfs_error *error)
{
	const char *uid;
	const json_t *principal;

	json_object_foreach((json_t *)uids, uid, principal) {
		uint64_t number;

		if (!*uid || wfs_decimal_read(uid, strlen(uid), &number) != strlen(uid) ||
			number > UINT32_MAX || (uid[0] == '0' && uid[1]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected a user's number, got '%.60s'", name, uid);
	}
	return 0;
}

#undef MEMBER
#define MEMBER(...) MEMBER_OF(wfs_host_replication, __VA_ARGS__)

static const struct wfs_field replication_fields[] = {
	MEMBER(url, &wfs_form_text, 0,
		"where etcd has the log of the world: etcd://HOST:PORT,HOST:PORT/PREFIX"),
	MEMBER(node, &wfs_form_text, 0,
		"name of this node, which no other node of the world has: lower-case letters, "
		"digits and -"),
	MEMBER(listen, &wfs_form_text, WFS_OPTIONAL,
		"HOST:PORT of this host at which other nodes reach this node; by default a free "
		"port of 127.0.0.1"),
	MEMBER(ca, &wfs_form_text, WFS_OPTIONAL,
		"path of a PEM file with the authority that signs etcd's certificates; with this "
		"member, etcd is reached by TLS"),
	MEMBER(certificate, &wfs_form_text, WFS_OPTIONAL,
		"path of a PEM file with the certificate by which etcd knows this host; needs ca "
		"and key"),
	MEMBER(key, &wfs_form_text, WFS_OPTIONAL, "path of a PEM file with the key of certificate"),
	MEMBER(user, &wfs_form_text, WFS_OPTIONAL, "name of the user of etcd; needs password_env"),
	MEMBER(password_env, &wfs_form_text, WFS_OPTIONAL,
		"environment variable of the owner process that has the password of user"),
	MEMBER(lease_ms, WFS_FORM_FROM_TO(WFS_HOST_LEASE_MIN_MS, WFS_HOST_LEASE_MAX_MS),
		WFS_OPTIONAL,
		"milliseconds, rounded up to seconds, after which another node takes the world "
		"over from an owner that does not answer; by default 5000"),
	MEMBER(wait_ms, TIME, WFS_OPTIONAL,
		"milliseconds that a request may wait for etcd, or for a node that owns the "
		"world; by default 10000"),
	MEMBER(no_owner, &wfs_form_bool, WFS_OPTIONAL,
		"whether this node never becomes the owner; by default false"),
	{NULL},
};

static int check_replication(const char *name, const json_t *replication, struct wfs_error *error)
{
	static const struct {
		const char *member, *needed;
	} needs[] = {
		{"certificate", "ca"},
		{"certificate", "key"},
		{"key", "certificate"},
		{"user", "password_env"},
		{"password_env", "user"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(needs); i++)
		if (json_object_get(replication, needs[i].member) &&
			!json_object_get(replication, needs[i].needed))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected '%s', which '%s' needs, got no such member", name,
				needs[i].needed, needs[i].member);
	return 0;
}

static const struct wfs_form replication_form = {.kind = WFS_FORM_RECORD,
	.fields = replication_fields,
	.comment = KNOWN,
	.then = check_replication};

bool wfs_host_replication(const json_t *host, struct wfs_host_replication *ret_replication)
{
	const json_t *const replication = json_object_get(host, "replication");

	if (wfs_form_read(&replication_form, "replication", replication, ret_replication, NULL))
		return false;
	if (!ret_replication->listen)
		ret_replication->listen = "127.0.0.1:0";
	if (ret_replication->lease_ms < 0)
		ret_replication->lease_ms = 5000;
	if (ret_replication->wait_ms < 0)
		ret_replication->wait_ms = 10000;
	return true;
}

const struct wfs_form wfs_host_model_form = {
	.kind = WFS_FORM_RECORD, .fields = model_fields, .comment = KNOWN, .then = check_model};

static const struct wfs_field host_fields[] = {
	{"keep_raw", &wfs_form_bool, WFS_OPTIONAL,
		"whether to keep the requests of turns to models, and the answers, in "
		"turns/TURN/raw; by default true"},
	{"models", WFS_FORM(.kind = WFS_FORM_OBJECT, .of = &wfs_host_model_form), WFS_OPTIONAL,
		"the models that agents, chats and the memory can ask, by their names"},
	{"replication", &replication_form, WFS_OPTIONAL,
		"how the world is shared with other nodes; worldfs replicate and worldfs follow "
		"write url, node, listen and no_owner; you can add the other members"},
	{"tools",
		WFS_FORM(.kind = WFS_FORM_OBJECT, .of = &wfs_host_server_form,
			.then = check_servers),
		WFS_OPTIONAL,
		"servers of the Model Context Protocol, which offer tools, by their names"},
	{"uids", WFS_FORM(.kind = WFS_FORM_OBJECT, .of = &wfs_form_text, .then = check_uids),
		WFS_OPTIONAL,
		"the principal that each user of this host acts as, by the user's number"},
	{NULL},
};
const struct wfs_form wfs_host_form = {
	.kind = WFS_FORM_RECORD, .fields = host_fields, .comment = KNOWN};

int wfs_host_check(const json_t *host, struct wfs_error *error)
{
	struct wfs_error reason = {.code = WFS_OK};
	const int r = wfs_form_check(&wfs_host_form, host, &reason);

	return r == -EINVAL
		? wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "host.json: %s", reason.message)
		: r ? wfs_error_from_errno(error, r, "check host.json")
		    : 0;
}
