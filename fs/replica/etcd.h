/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of etcd: transactions, ranges and leases, through its JSON gateway.
 *
 * A request goes to one end point, and the caller waits for the answer, at most timeout_ms. A
 * request without an answer may have been done, may be done later, and may be done twice; so nobody
 * repeats one here, and after it the next request goes to the next end point. Keys are below the
 * prefix of the URL, and are given without it.
 *
 * Functions that return int return 0, or with @error filled:
 *  -EAGAIN (unavailable): it was not sent, or etcd has not done it, and never will
 *  -ETIMEDOUT (timeout): it may have been done
 *  -EACCES (not_authorized): etcd refuses user or password, or one side the other's certificate
 *  -ENOSPC (store_full): etcd's quota is used up
 *  -EFBIG (too_large): etcd takes no request of this size
 *  -EINVAL (invalid_argument): etcd refuses it for another reason
 *  -EIO (internal_error): the answer is not one of etcd
 *  -ENOMEM
 * Thread: one at a time; a thread that must not wait for another's request has a client of its own.
 * Source: https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/, and rpc.proto of etcd.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

enum {
	WFS_ETCD_ENDS_MAX = 16,         /* end points of an URL */
	WFS_ETCD_NAME_MAX = 255,        /* bytes of an end point, and of the prefix */
	WFS_ETCD_VALUE_MAX = 1 << 20,   /* bytes of a value; etcd takes requests of 1.5 MiB */
	WFS_ETCD_ANSWER_MAX = 64 << 20, /* bytes of an answer */
};

struct wfs_etcd;

/* Plain value; borrowed until wfs_etcd_new() returns. */
struct wfs_etcd_options {
	const char *url; /* etcd://HOST:PORT,…/PREFIX */
	/* Paths of PEM files. With `ca`, TLS is spoken, and the end points must have certificates
	 * of this authority. NULL: none */
	const char *ca;
	const char *certificate; /* with which this client shows who it is, and its key */
	const char *key;
	const char *user; /* NULL: etcd asks for none */
	const char *password;
	int64_t timeout_ms; /* of a request */
};

/** wfs_etcd_new() - make a client, which connects with its first request
 *  @ret_etcd: caller frees it with wfs_etcd_free()
 *  Return: 0, -EINVAL (invalid_argument: the URL), -ENOMEM. */
int wfs_etcd_new(const struct wfs_etcd_options *options, struct wfs_etcd **ret_etcd,
	struct wfs_error *error);
void wfs_etcd_free(struct wfs_etcd *etcd);
WFS_DEFINE_AUTO(etcd, struct wfs_etcd, wfs_etcd_free)
#define WFS_AUTO_ETCD WFS_CLEANUP(wfs_auto_etcd)

/* A key and its value. Plain value; owned by its answer. */
struct wfs_etcd_row {
	char *key; /* without the prefix */
	struct wfs_buffer value;
	int64_t revision; /* of the change that put it */
	int64_t lease;    /* 0: none */
};

/* Rows in the order of the operations that got them, and of their keys. Plain value;
 * wfs_etcd_done() frees what it has; zero-initialised is empty. */
struct wfs_etcd_answer {
	bool succeeded;   /* all comparisons of the transaction held */
	bool more;        /* of a range: there are rows after the last */
	int64_t revision; /* of the whole of etcd */
	struct wfs_etcd_row *rows;
	size_t count;
};

void wfs_etcd_done(struct wfs_etcd_answer *answer);
#define WFS_AUTO_ETCD_ANSWER WFS_CLEANUP(wfs_etcd_done)

/** wfs_etcd_row() - find a row by its key. Return: borrowed, or NULL. */
const struct wfs_etcd_row *wfs_etcd_row(const struct wfs_etcd_answer *answer, const char *key);

/* A transaction that is being written. Plain value; zero-initialised is empty; wfs_etcd_txn_done()
 * frees it. What is added after memory was short is lost, and wfs_etcd_commit() says so. */
struct wfs_etcd_txn {
	json_t *compare;
	json_t *success;
	json_t *failure;
	bool failed;
};

void wfs_etcd_txn_done(struct wfs_etcd_txn *txn);
#define WFS_AUTO_ETCD_TXN WFS_CLEANUP(wfs_etcd_txn_done)

/* Compare: the key was last put at this revision; 0: it is absent. */
void wfs_etcd_if_revision(
	const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key, int64_t revision);
/* Compare: the key has this value. */
void wfs_etcd_if_value(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key,
	struct wfs_bytes value);

/* Operations if all comparisons hold. @lease: the key goes with it; 0: it stays */
void wfs_etcd_put(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key,
	struct wfs_bytes value, int64_t lease);
void wfs_etcd_delete(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key);
void wfs_etcd_get(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key);
/* An operation if one does not hold. */
void wfs_etcd_get_else(const struct wfs_etcd *etcd, struct wfs_etcd_txn *txn, const char *key);

/** wfs_etcd_commit() - send a transaction. @ret_answer: may be NULL; caller ends it with
 *  wfs_etcd_done() */
int wfs_etcd_commit(struct wfs_etcd *etcd, const struct wfs_etcd_txn *txn,
	struct wfs_etcd_answer *ret_answer, struct wfs_error *error);

/** wfs_etcd_range() - get the rows of keys from @from up to and without @to, in their order
 *  @limit: at most so many; 0: all. @ret_answer: caller ends it with wfs_etcd_done() */
int wfs_etcd_range(struct wfs_etcd *etcd, const char *from, const char *to, int64_t limit,
	struct wfs_etcd_answer *ret_answer, struct wfs_error *error);

/** wfs_etcd_watch() - watch a key until the connection breaks, or @ring ends it
 *  A bell only: changes can be missed, so the watcher reads the key.
 *  @ring: called for each piece of the answer (@rung: a change may be in it), and about once a
 *  second; returns false to end the watch
 *  Return: 0 (@ring has ended it, or etcd has), or as above. */
int wfs_etcd_watch(struct wfs_etcd *etcd, const char *key, bool (*ring)(void *context, bool rung),
	void *context, struct wfs_error *error);

/** wfs_etcd_wake() - have a watch call `ring` at once. Thread: any. */
void wfs_etcd_wake(struct wfs_etcd *etcd);

/** wfs_etcd_grant() - begin a lease of @seconds. @ret_lease: its number */
int wfs_etcd_grant(
	struct wfs_etcd *etcd, int64_t seconds, int64_t *ret_lease, struct wfs_error *error);

/** wfs_etcd_revoke() - end a lease, and delete its keys. Return: 0 also if it had ended. */
int wfs_etcd_revoke(struct wfs_etcd *etcd, int64_t lease, struct wfs_error *error);
