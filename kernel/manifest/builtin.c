/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in definitions, as data. */
#include "kernel/manifest/builtin.h"

#include <string.h>

#include "kernel/base/hash.h"
#include "kernel/base/json.h"
#include "kernel/manifest/builtin-schemas-data.h"
#include "kernel/manifest/effect.h"

/* Lists are bounded, so that the cost of judging a call is. A pattern matches paths or ids, as
 * kernel/rights/scope.h reads them: names between slashes; `**` only as a whole name. */
#define GLOB "(\\\\*\\\\*|([^/*]|\\\\*(?!\\\\*))+)"
#define PATTERN                                                                                   \
	"{\"type\":\"string\",\"maxLength\":1024,\"pattern\":\"^(?!at(/|$))" GLOB "(/" GLOB ")*$" \
	"\"}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item ",\"maxItems\":256}"
#define PARAMS(properties) \
	"{\"type\":\"object\",\"properties\":{" properties "},\"additionalProperties\":false}"
#define CAP(type, properties)                                                    \
	"{\"$kind\":\"defcap\",\"name\":\"sys/" type "@1\",\"cap_type\":\"" type \
	"\",\"schema\":" PARAMS(properties) "}"

/* An empty text is a scope, too, and means everything. */
#define SCOPE "{\"anyOf\":[{\"const\":\"\"}," PATTERN "," LIST(PATTERN) "]}"

/* A drive grant without params covers every agent that its holder may invoke,
 * and its holder's plans. */
#define DRIVE                                                              \
	"\"agents\":" LIST(PATTERN) ",\"approve\":{\"type\":\"boolean\"}," \
				    "\"plans\":{\"enum\":[\"own\",\"all\"]}"
#define ACT "\"actions\":" LIST("{}") ",\"artifacts\":" LIST(PATTERN)

/* A tool grant without params covers every tool. Names are `server.tool`; `*` in a pattern stands
 * for any characters. */
#define TOOL                                                                                    \
	"\"arguments\":{\"type\":\"object\"},\"pinned\":{\"type\":\"object\","                  \
	"\"additionalProperties\":{\"type\":\"string\",\"pattern\":\"^sha256:[0-9a-f]{64}$\"}," \
	"\"maxProperties\":1024},\"tools\":" LIST("{\"type\":\"string\",\"pattern\":"           \
						  "\"^(?!.*\\\\*\\\\*)[A-Za-z0-9_.*-]{1,193}$\"}")

static const char caps[] = "[" CAP("query", "\"scope\":" SCOPE) "," CAP("blob", "") "," CAP(
	"act", ACT) "," CAP("drive", DRIVE) "," CAP("llm", "") "," CAP("timer", "") "," CAP("tool",
	TOOL) "," CAP("admin", "") "]";

/* This policy allows everything, so only grants decide. */
static const char policies[] = "[{\"$kind\":\"defpolicy\",\"name\":\"" WFS_BUILTIN_POLICY "\","
			       "\"rules\":[{\"when\":{},\"decision\":\"allow\"}]}]";

static struct wfs_builtin_row reducers[WFS_BUILTIN_REDUCERS_MAX] = {
#define REDUCER_ROW(constant, name, hidden) {name, hidden},
	WFS_BUILTIN_REDUCERS(REDUCER_ROW)
#undef REDUCER_ROW
};
static int reducer_count = WFS_BUILTIN_REDUCER_COUNT;

void wfs_builtin_add(const struct wfs_builtin_row *reducer)
{
	wfs_require(reducer_count < WFS_BUILTIN_REDUCERS_MAX);
	reducers[reducer_count++] = *reducer;
}

int wfs_builtin_reducer_count(void)
{
	return reducer_count;
}

const char *wfs_builtin_reducer_name(enum wfs_builtin_reducer reducer)
{
	wfs_require((int)reducer < reducer_count);
	return reducers[reducer].name;
}

enum wfs_builtin_reducer wfs_builtin_reducer_find(const char *name)
{
	int i = 0;

	while (i < reducer_count && strcmp(reducers[i].name, name) != 0)
		i++;
	return (enum wfs_builtin_reducer)i;
}

bool wfs_builtin_reducer_late(enum wfs_builtin_reducer reducer)
{
	return reducer == WFS_BUILTIN_TIMER || reducer == WFS_BUILTIN_SEEN ||
		reducer == WFS_BUILTIN_WAIT || reducer == WFS_BUILTIN_RAW;
}

bool wfs_builtin_reducer_hidden(const char *name, size_t size)
{
	for (int i = 0; i < reducer_count; i++)
		if (reducers[i].hidden && strlen(reducers[i].name) == size &&
			memcmp(reducers[i].name, name, size) == 0)
			return true;
	return false;
}

/* SHA-256 of each definition that has another form today, or is none any more. Whoever changes a
 * definition adds the hash of the old one here: tests/unit/test-manifest-caps.c prints it. */
static const char *const old_definitions[] = {
	/* Of 0.1: effects. */
	"ecddc35c6140fbbc2308b9d2cc4f23abaf875bc7ecdf65f3785de6e604bd0f6f", /* introspect.status */
	"c714de6145be1254d2d1481bc71a762a91d72ba997c8cc9cac70ce1c6226b810", /* query.kernel */
	/* action.query_kernel, which is none any more */
	"7d2e88030a7dd1e9012849334784d18a89a9909e7723756c4a31b2476537bdae",
	"3fcd2d8bbba165570f322d82e7e09fdef7c9612a6041f89b9b731e0028063663", /* agent.step */
	"1437b9a9bd35ac82d4637a3419c8d4af92ab5328d656d86dc85d12ad76f44a04", /* agent.approve */
	"da274896b459840d5e4c059b0c1ec754a3cfde95b1a3d87fc48bafd7c7832598", /* world.mount */
	"31101f7dfa6d3fd000ce1057a2138cdef66a88b6eb2c95a140aca23e329f828c", /* world.grant */
	"35082d3f3a665b3a830015aaa7d27cd10471935d3230f936a702f7e8ada2166f", /* world.gc */
	/* Of 0.1: capabilities. */
	"59b30c494dad02609baef7ddf520d32ffc0da625a9185f7dde2e82090295ca0b", /* sys/act@1 */
	"8e6fee572fedb5ace5cff0caeb40abaabcad75efa5b0b6c53cb299b0d077e775", /* sys/drive@1 */
	/* Of 0.2: effects. */
	"73af881730840470c5d613d3400821de7cb58134decd470d9847e09128555ce9", /* event.emit */
	"1a6c74174216bd4acb95d5694c93ced336c3a3cd8bf6c532e71aeb2a84da6e51", /* world.gc */
};

bool wfs_builtin_was(struct wfs_bytes definition)
{
	const struct wfs_hash hash = wfs_hash_of(definition.data, definition.size);
	char hex[WFS_HASH_HEX_SIZE + 1];
	size_t i = 0;

	wfs_hash_hex(&hash, hex);
	while (i < WFS_ARRAY_COUNT(old_definitions) && strcmp(hex, old_definitions[i]) != 0)
		i++;
	return i < WFS_ARRAY_COUNT(old_definitions);
}

static json_t *list_of(const char *text)
{
	json_t *list = NULL;
	int r = wfs_json_parse(text, strlen(text), &list, NULL);

	wfs_require(r == 0 || r == -ENOMEM);
	return list;
}

json_t *wfs_builtin_schemas(void)
{
	return list_of(builtin_schemas);
}

json_t *wfs_builtin_effects(void)
{
	WFS_AUTO_JSON json_t *list = json_array();

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		if (json_array_append_new(list, wfs_effect_definition((enum wfs_effect)i)) < 0)
			return NULL;
	}
	return WFS_STEAL(list);
}

/* The actions that a grant of `act` can name. */
static json_t *action_names(void)
{
	WFS_AUTO_JSON json_t *names = json_array();

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;

		if (strcmp(wfs_effect_cap_type(effect), "act") == 0 &&
			json_array_append_new(names, json_string(wfs_effect_granted_as(effect))) <
				0)
			return NULL;
	}
	return WFS_STEAL(names);
}

json_t *wfs_builtin_caps(void)
{
	WFS_AUTO_JSON json_t *list = list_of(caps);
	json_t *cap;
	size_t i;

	json_array_foreach(list, i, cap) {
		json_t *const actions = json_object_get(
			json_object_get(json_object_get(cap, "schema"), "properties"), "actions");

		if (actions &&
			json_object_set_new(
				json_object_get(actions, "items"), "enum", action_names()) < 0)
			return NULL;
	}
	return WFS_STEAL(list);
}

json_t *wfs_builtin_policies(void)
{
	return list_of(policies);
}

json_t *wfs_builtin_reducers(void)
{
	WFS_AUTO_JSON json_t *list = json_array();

	for (int i = 0; i < reducer_count; i++) {
		json_t *definition = json_pack("{s:s, s:s, s:s, s:b, s:[], s:[]}", "$kind",
			"defreducer", "name", reducers[i].name, "language", "builtin", "keyed", 1,
			"emits", "effects");

		if (json_array_append_new(list, definition) < 0)
			return NULL;
	}
	return WFS_STEAL(list);
}
