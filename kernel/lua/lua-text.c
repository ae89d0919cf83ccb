/* SPDX-License-Identifier: Apache-2.0 */
/* A growing string in Lua's memory; every byte is charged. */
#include <string.h>

#include "kernel/lua/lua-impl.h"

void wfs_lua_text_start(lua_State *L, struct wfs_lua_text *text)
{
	luaL_checkstack(L, LUA_MINSTACK, NULL);
	lua_pushnil(L);
	text->L = L;
	text->data = text->small;
	text->size = 0;
	text->capacity_bytes = sizeof(text->small);
	text->slot = lua_gettop(L);
}

char *wfs_lua_text_room(struct wfs_lua_text *text, size_t size)
{
	struct wfs_lua *const lua = wfs_lua_of(text->L);
	char *room = NULL;

	/* Also keeps the sums below from overflowing. */
	if (size > lua->memory_bytes)
		wfs_lua_stop_now(text->L, WFS_LUA_STOP_MEMORY);
	wfs_lua_charge_bytes(text->L, size);
	if (size > text->capacity_bytes - text->size) {
		const size_t needed = text->size + size;
		const size_t doubled = text->capacity_bytes * 2;

		text->capacity_bytes = doubled < needed ? needed : doubled;
		room = lua_newuserdatauv(text->L, text->capacity_bytes, 0);
		memcpy(room, text->data, text->size);
		lua_replace(text->L, text->slot);
		text->data = room;
	}
	room = text->data + text->size;
	text->size += size;
	return room;
}

void wfs_lua_text_append(struct wfs_lua_text *text, const char *data, size_t size)
{
	char *const room = wfs_lua_text_room(text, size);

	if (size > 0)
		memcpy(room, data, size);
}

void wfs_lua_text_append_byte(struct wfs_lua_text *text, char byte)
{
	*wfs_lua_text_room(text, 1) = byte;
}

void wfs_lua_text_push(struct wfs_lua_text *text)
{
	lua_pushlstring(text->L, text->data, text->size);
}
