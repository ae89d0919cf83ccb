-- SPDX-License-Identifier: Apache-2.0
-- Lua here is code that runs inside a world and sees the sandbox only: a reducer defines `step`, an
-- artifact `run` or `check`.
std = "none"
max_line_length = 100
globals = { "step", "run", "check" }
read_globals = {
    "assert", "error", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawlen",
    "select", "setmetatable", "getmetatable", "tonumber", "tostring", "type", "xpcall",
    "math", "string", "table", "utf8",
    "null", "array", "object",
    "ctx", "deps", "invoke", "pay", "get_balance", "kernel_state", "kernel_actions",
}
-- `step(state, event, ctx)`: a reducer need not look at all three.
ignore = { "212/state", "212/event", "212/ctx" }
