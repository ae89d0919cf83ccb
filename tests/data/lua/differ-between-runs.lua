-- Messages and orders that code can see of addresses, seeds and hash order: each must be one in each process.
local tried = {}
local function try(f)
  local ok, value = pcall(f)
  tried[#tried + 1] = {ok, tostring(value)}
end
function run()
  tried = {}
  try(function() local ok,e=pcall(string.rep) return e end) -- argerr
  try(function() local ok,e=pcall(("x").rep,"x",{}) return e end) -- argerr2
  try(function() local ok,e=pcall(function() return foo.bar end) return e end) -- global
  try(function() return tostring({})..tostring(print)..tostring(string.rep)..tostring(function() end) end) -- tostr
  try(function() return string.format("%s %s",{},string.rep) end) -- fmt
  try(function() local ok,e=pcall(string.format,"%p",{}) return tostring(e) end) -- fmtp
  try(function() local t=setmetatable({},{__index=function(t,k) return k.x.y end}) local ok,e=pcall(function() return t.a end) return e end) -- callnil
  try(function() local t={} for i=1,50 do t[i]={i%5} end local ok,e=pcall(table.sort,t,function(a,b) return true end) local s="" for i=1,50 do s=s..t[i][1] end return tostring(e)..s end) -- sort
  try(function() local t={} for i=1,20 do t[i]=i end for i=3,19,2 do t[i]=nil end local r={} r[1]=#t t={n=1,[1]=1,[2]=2,[4]=4} r[2]=#t t={} t[1]=1 t[2]=2 t[4]=4 t[8]=8 t[16]=1 r[3]=#t return table.concat(r, ' ') end) -- hole
  try(function() local t={1,nil,3,nil,nil,6} return table.concat({tostring(select("#",table.unpack(t))),#t}," ") end) -- unpack
  try(function() local r={} local t={"a","B","\xe4","z","A","ä"} table.sort(t) return "a"<"B" and "1" or "0" end) -- strcmp
  try(function() return string.upper("äöü\xe4"):len()..string.format("%5.2f",1.5)..tostring(1e15)..tostring(2^53)..tostring(0.1) end) -- upper
  try(function() local t={} for i=1,30 do t["k"..i]=i end local s="" for k in pairs(t) do t[k]=nil s=s..k end return s end) -- nextdel
  try(function() return tostring(0/0)..tostring(-(0/0))..tostring(math.huge-math.huge) end) -- nan
  try(function() local ok,e=pcall(table.concat,{1,{},3}) return e end) -- concat
  try(function() local t={} for i=1,9 do t["a"..i]=function() end end local ok,e=pcall(invoke,"x",t) return e end) -- mixret
  try(function() local t={} for i=1,9 do t["a"..i]={["b"..i]=0/0} end local ok,e=pcall(invoke,"x",t) return e end) -- mixret2
  try(function() local t={} for i=1,9 do t[function() end]=i t[{}]=1 end local ok,e=pcall(pairs,t) return tostring(e) end) -- pairskeys
  try(function() local t={} for i=1,9 do t[{}]=i end local ok,e=pcall(next,t) return tostring(e) end) -- nextkeys
  try(function() local ok,e=pcall(string.gsub,"abc","%w",{a={},b=true}) return tostring(e) end) -- gsubt
  try(function() local t={} for i=1,200 do t={t} end local ok,e=pcall(invoke,"x",t) return tostring(e) end) -- deep
  try(function() local ok,e=pcall(function() local function f(a) return pcall(f) end return f() end) return tostring(ok)..tostring(e):sub(1,200) end) -- overflow2
  try(function() local t=setmetatable({},{}) getmetatable(t).__index=t local ok,e=pcall(function() return t.x end) return tostring(e) end) -- overflow3
  try(function() local function f() return (("x"):gsub(".",f)) end local ok,e=pcall(f) return tostring(e):sub(1,300) end) -- gsubrec
  try(function() local function f() table.sort({1,2,3},f) return true end local ok,e=pcall(f) return tostring(e):sub(1,300) end) -- sortrec
  try(function() local n=0 local function h(e) n=n+1 error(e) end local ok,e=xpcall(error,h,"x") return tostring(ok)..tostring(e)..n end) -- xp
  return tried
end
