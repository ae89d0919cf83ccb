-- SPDX-License-Identifier: Apache-2.0
-- Lua here is code that runs inside a world: it defines `step` and sees the sandbox only.
std = "none"
max_line_length = 100
globals = { "step" }
read_globals = {
    "assert", "error", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawlen",
    "select", "setmetatable", "getmetatable", "tonumber", "tostring", "type", "xpcall",
    "math", "string", "table", "utf8",
    "null", "array", "object",
}
-- `step(state, event, ctx)`: a reducer need not look at all three.
ignore = { "212/state", "212/event", "212/ctx" }
