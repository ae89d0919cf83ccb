-- A metatable that becomes weak, to be closed or a finaliser's after it was set.
function run()
  local n, events = 0, {}
  local t = setmetatable({}, events)
  events.__mode = "kv"
  events.__gc = function() n = n + 1 end
  events.__close = function() n = n + 1 end
  t[1] = {}
  for i = 1, 100000 do local garbage = {i} end
  local ok, message = pcall(function() local x <close> = t end)
  return {n, #t, ok, message}
end
