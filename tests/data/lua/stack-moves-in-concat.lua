-- Lua 5.4.4 as Debian 12 has patched it goes on in the old stack when a metamethod of '..' makes the stack grow.
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
function run()
  local t = setmetatable({}, {__concat = function() deep(5000) return "x" end})
  return "a" .. "b" .. t .. "c"
end
