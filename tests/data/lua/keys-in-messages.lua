-- Every message that names a key of a table. Lua's own order of the keys differs between states.
local function table_of(...)
  local t = {}
  for i, part in ipairs({...}) do
    for k = 1, 30 do
      if part == "names" then t["k" .. k] = k
      elseif part == "indices" then t[k] = k
      elseif part == "holes" then t[k * 3] = k
      elseif part == "reals" then t[k + 0.5] = k
      elseif part == "functions" then t[function() return i end] = k
      elseif part == "tables" then t[{}] = k end
    end
    if part == "booleans" then t[true] = 1 t[false] = 1 end
  end
  return t
end
function run()
  local messages = {}
  local function try(f, ...) messages[#messages + 1] = select(2, pcall(f, ...)) end
  try(invoke, table_of("names", "booleans"))
  try(invoke, table_of("names", "indices"))
  try(invoke, table_of("names", "reals", "booleans"))
  try(invoke, table_of("names", "functions", "tables"))
  try(invoke, table_of("indices", "booleans", "tables"))
  try(invoke, table_of("indices", "reals"))
  try(invoke, table_of("holes"))
  try(invoke, array(table_of("names")))
  try(invoke, object(table_of("indices", "names")))
  try(invoke, {b = table_of("names", "booleans"), a = table_of("holes")})
  try(pairs, table_of("names", "functions", "tables"))
  try(next, table_of("names", "functions", "tables"))
  try(next, {}, {})
  return messages
end
