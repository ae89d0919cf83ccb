/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a Lua state, small ones kept for reuse.
 *
 * A step makes a few dozen small objects, and a collection frees those of many steps at once, more
 * than the C library keeps at hand. So small blocks come in size classes and go back to a list of
 * their class, up to a bound.
 */
#include <assert.h>
#include <stdlib.h>

#include "kernel/lua/lua-impl.h"

enum {
	CLASS_BYTES = 16,
	KEPT_BYTES_MAX = 1 << 20, /* of unused blocks */
};

/* An unused block: its own first bytes link it to the next one. */
struct unused {
	struct unused *next;
};

static_assert(CLASS_BYTES >= sizeof(struct unused), "a block holds its link");

static size_t class_of(size_t size)
{
	return (size - 1) / CLASS_BYTES;
}

static void *take(struct wfs_lua *lua, size_t size)
{
	const size_t class = class_of(size);

	if (class >= WFS_LUA_POOL_CLASSES)
		return malloc(size);
	struct unused *block = lua->pool[class];
	if (!block)
		return malloc((class + 1) * CLASS_BYTES);
	lua->pool[class] = block->next;
	lua->pool_bytes -= (class + 1) * CLASS_BYTES;
	return block;
}

static void give(struct wfs_lua *lua, void *data, size_t size)
{
	const size_t class = class_of(size);

	if (class >= WFS_LUA_POOL_CLASSES || lua->pool_bytes >= KEPT_BYTES_MAX) {
		free(data);
		return;
	}
	struct unused *block = data;
	block->next = lua->pool[class];
	lua->pool[class] = block;
	lua->pool_bytes += (class + 1) * CLASS_BYTES;
}

void *wfs_lua_pool_resize(struct wfs_lua *lua, void *block, size_t old_size, size_t new_size)
{
	if (old_size == 0)
		return take(lua, new_size);
	if (new_size == 0) {
		give(lua, block, old_size);
		return NULL;
	}
	const size_t old_class = class_of(old_size);
	const size_t new_class = class_of(new_size);
	if (old_class >= WFS_LUA_POOL_CLASSES && new_class >= WFS_LUA_POOL_CLASSES)
		return realloc(block, new_size);
	if (old_class == new_class)
		return block;
	void *moved = take(lua, new_size);
	if (!moved)
		return NULL;
	memcpy(moved, block, old_size < new_size ? old_size : new_size);
	give(lua, block, old_size);
	return moved;
}

void wfs_lua_pool_done(struct wfs_lua *lua)
{
	for (size_t i = 0; i < WFS_LUA_POOL_CLASSES; i++) {
		while (lua->pool[i]) {
			struct unused *block = lua->pool[i];

			lua->pool[i] = block->next;
			free(block);
		}
	}
	lua->pool_bytes = 0;
}
