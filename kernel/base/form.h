/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: static tables of what a JSON value may be.
 *
 * From a form come the check of an object, with messages that name the member; the struct that the
 * object is read into; a JSON Schema; and parts of the manual. A field that is optional may be
 * absent; null is a value only where the field says so.
 * Thread: any; forms are immutable.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"

/* In brackets: the type of a member in C, and its value if the member is absent. Pointers that are
 * read are borrowed from the JSON. */
enum wfs_form_kind {
	WFS_FORM_TEXT,       /* without NUL characters (const char *, NULL) */
	WFS_FORM_NAT,        /* an integer that is not negative (int64_t, -1) */
	WFS_FORM_INTEGER,    /* from `min` to `max` (int64_t, -1) */
	WFS_FORM_BOOL,       /* (bool, false) */
	WFS_FORM_HASH,       /* `sha256:` and 64 digits (const char *, NULL) */
	WFS_FORM_HASH_BYTES, /* the text of a hash, too (struct wfs_hash, zeros) */
	WFS_FORM_LIST,       /* items of the form `of` (this and all kinds below: const json_t *,
			      * NULL) */
	WFS_FORM_RECORD,     /* an object with the members `fields` */
	WFS_FORM_OBJECT,     /* an object whose form is defined elsewhere, under the name `ref`; or
			      * one with members of any names, which all have the form `of` */
	WFS_FORM_VALUE,      /* any value; its form is defined under the name `ref` */
};

enum {
	WFS_OPTIONAL = 1, /* a field that may be absent */
	WFS_NULLABLE = 2, /* may be absent, and null counts as absent */
};

/* A member of a record. Plain value with static lifetime. */
struct wfs_field {
	const char *name;
	const struct wfs_form *form;
	int optional;     /* 0, WFS_OPTIONAL or WFS_NULLABLE */
	const char *help; /* what the member is; may be NULL */
	size_t offset;    /* in the struct that is read */
};

/* What one value may be. Plain value with static lifetime. */
struct wfs_form {
	enum wfs_form_kind kind;
	int64_t min, max;    /* of an integer */
	const char *ref;     /* of an object or a value: name of its form, or NULL */
	const char *comment; /* for people; may be NULL; of a record: what its members are */
	const char *words;   /* of a text: all that it may be, separated by spaces; NULL: any */
	const struct wfs_form *of;      /* of a list or object: the form of its items or members */
	const struct wfs_field *fields; /* the last has no name; they are read in this order */
	const char *members; /* of a record: see wfs_json_members(), json.h; NULL: as in `fields` */
	/* Checks what kind and bounds cannot say; may be NULL. @name: for messages: the member's
	 * name, wfs_form_read()'s `what`, or a JSON pointer (in wfs_form_check())
	 * @value: of this kind. Return: 0, -EINVAL, … with @error filled. */
	int (*then)(const char *name, const json_t *value, struct wfs_error *error);
	/* Makes the rest of the JSON Schema: what is in an object or a list, or the allowed texts;
	 * NULL: the kind says all. @strict: as for wfs_form_schema(). Return: new reference. */
	json_t *(*schema)(bool strict);
};

extern const struct wfs_form wfs_form_text;
extern const struct wfs_form wfs_form_nat;
extern const struct wfs_form wfs_form_integer; /* any of 64 bits */
extern const struct wfs_form wfs_form_bool;
extern const struct wfs_form wfs_form_hash;
extern const struct wfs_form wfs_form_hash_bytes;
extern const struct wfs_form wfs_form_value;

#define WFS_FORM(...) (&(const struct wfs_form){__VA_ARGS__})
#define WFS_FORM_FROM_TO(min_, max_) \
	WFS_FORM(.kind = WFS_FORM_INTEGER, .min = (min_), .max = (max_))

/* For tables M(name of a struct, type, member, 0 or how it may be absent), from which come the
 * members of the struct, and their fields: a type's type in C, and its form. */
#define WFS_MEMBER_TEXT const char *
#define WFS_MEMBER_NAT int64_t
#define WFS_MEMBER_INTEGER int64_t
#define WFS_MEMBER_BOOL bool
#define WFS_MEMBER_HASH struct wfs_hash
#define WFS_MEMBER_VALUE json_t *
#define WFS_MEMBER(of, type, name, absent) WFS_MEMBER_##type name;
#define WFS_FIELD_TEXT &wfs_form_text
#define WFS_FIELD_NAT &wfs_form_nat
#define WFS_FIELD_INTEGER &wfs_form_integer
#define WFS_FIELD_BOOL &wfs_form_bool
#define WFS_FIELD_HASH &wfs_form_hash_bytes
#define WFS_FIELD_VALUE &wfs_form_value
#define WFS_FIELD(of, type, name, absent) \
	{#name, WFS_FIELD_##type, absent, NULL, offsetof(struct of, name)},

/** wfs_form_usage() - append the names of a record's fields to @buffer, as `name key?
 *  consistency?`; `?`: optional. @form: of a record */
void wfs_form_usage(const struct wfs_form *form, struct wfs_buffer *buffer);

/** wfs_form_has_word() - is @text one of form->words? True if `words` is NULL. @form: of the kind
 *  text */
bool wfs_form_has_word(const struct wfs_form *form, const char *text);

/** wfs_form_read() - check an object, and read its members into a struct
 *  Checks first for unknown and missing members, then each field in the order of the form. What is
 *  inside of a list of records or of an object is checked only by `then`.
 *  @form: of a record. @what: words for what has the members, for messages, such as "a model"
 *  @ret_struct: borrows from @object; after a failure some of its members may be written; NULL: the
 *  object is only checked
 *  Return: 0, -EINVAL (missing_argument or invalid_argument, naming the member; also if @object is
 *  NULL or not an object), -ENOMEM, or what `then` returns. */
int wfs_form_read(const struct wfs_form *form, const char *what, const json_t *object,
	void *ret_struct, struct wfs_error *error);

/** wfs_form_check() - check that @value has the form @form, and each value inside of it the form
 *  that @form gives to that place
 *  Return: 0, -EINVAL (schema_violation; the message says at which JSON pointer what was expected
 *  and what came), -ENOMEM, or what `then` returns. */
int wfs_form_check(const struct wfs_form *form, const json_t *value, struct wfs_error *error);

/** wfs_form_write() - make the object from which wfs_form_read() reads a struct equal to *@value
 *  A member with the value of an absent one (enum wfs_form_kind) is left out if it is
 *  WFS_OPTIONAL, and null if it is WFS_NULLABLE. @form: of a record
 *  Return: new reference; NULL without memory, or if a required text or value is NULL. */
json_t *wfs_form_write(const struct wfs_form *form, const void *value);

/** wfs_form_append() - append to @buffer the canonical text of the object that wfs_form_write()
 *  makes, without making it; without memory, or if a required text or value is NULL, @buffer is
 *  marked as failed (buffer.h)
 *  @form: of a record whose fields are sorted by name, as canonical JSON is */
void wfs_form_append(const struct wfs_form *form, const void *value, struct wfs_buffer *buffer);

/** wfs_form_drop_nulls() - remove from @object the optional members that are null; not those whose
 *  field allows any value, null included. @form: of a record */
void wfs_form_drop_nulls(const struct wfs_form *form, json_t *object);

/** wfs_form_schema() - make a JSON Schema (2020-12) for a form, with additionalProperties false
 *  The schema has nothing of a form that is defined elsewhere: it allows any object for
 *  WFS_FORM_OBJECT, and any value for WFS_FORM_VALUE. It also allows any text in place of `words`.
 *  @strict: for interfaces that need every member: optional ones are required, and may be null
 *  Return: new reference, NULL without memory. */
json_t *wfs_form_schema(const struct wfs_form *form, bool strict);
