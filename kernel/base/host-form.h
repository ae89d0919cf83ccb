/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What host.json may have: its members and those of a model and of a server of tools, in the order
 * of the manual.
 * Source: worldfs-host(5), which has the help of each member from here.
 */
#pragma once

#include "kernel/base/form.h"

enum {
	WFS_HOST_DIMENSIONS_MAX = 4096,      /* numbers of an embedding */
	WFS_HOST_SERVERS_MAX = 64,           /* entries of `tools` */
	WFS_HOST_SERVER_NAME_MAX = 64,       /* bytes of the name of one */
	WFS_HOST_SERVER_LIST_MAX = 256,      /* items of its `command`, `env` or `headers_env` */
	WFS_HOST_OUTPUT_BYTES_MAX = 8 << 20, /* of its `output_max_bytes` */
	WFS_HOST_CONCURRENCY_MAX = 256,
	WFS_HOST_LEASE_MIN_MS = 2000,
	WFS_HOST_LEASE_MAX_MS = 60 * 1000,
};

/* A model, a member of `models`. Plain value; borrowed from the entry. */
struct wfs_host_model {
	const char *provider;
	const char *base_url; /* of the provider openai */
	const char *file;     /* of the provider script */
	const char *model;
	const char *api_key_env;
	const char *profile;
	const char *max_tokens_name;
	const json_t *extra_body;
	bool stream;
	int64_t dimensions;
	int64_t connect_timeout_ms;
	int64_t first_byte_timeout_ms;
	int64_t idle_timeout_ms;
	int64_t total_timeout_ms;
};

/* A server of tools, a member of `tools`. Plain value; borrowed from the entry. */
struct wfs_host_server {
	const json_t *command; /* array of texts, or NULL; either this or url is there */
	const char *url;
	const json_t *env;         /* array of texts, or NULL */
	const json_t *headers_env; /* object of texts, or NULL */
	int64_t timeout_ms;
	int64_t output_max_bytes;
	int64_t concurrency;
	const char *start;
	bool sandbox;
	bool network;
};

/* How the world is replicated: the member `replication`. Plain value; borrows from that member. A
 * number that host.json does not have is its default. */
struct wfs_host_replication {
	const char *url;
	const char *node;
	const char *listen;
	const char *ca;
	const char *certificate;
	const char *key;
	const char *user;
	const char *password_env;
	int64_t lease_ms;
	int64_t wait_ms;
	bool no_owner;
};

/** wfs_host_replication() - read the member `replication` of a host.json that wfs_host_check() has
 *  accepted. Return: false: it does not have that member. */
bool wfs_host_replication(const json_t *host, struct wfs_host_replication *ret_replication);

extern const struct wfs_form wfs_host_form;        /* of the file */
extern const struct wfs_form wfs_host_model_form;  /* of a model, read into struct wfs_host_model */
extern const struct wfs_form wfs_host_server_form; /* read into struct wfs_host_server */

/** wfs_host_check() - check the whole of host.json. @host: its value
 *  Return: 0, -EINVAL (invalid_argument: the message says at which JSON pointer what was expected
 *  and what came), -ENOMEM. */
int wfs_host_check(const json_t *host, struct wfs_error *error);
