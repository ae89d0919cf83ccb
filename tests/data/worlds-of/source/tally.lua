-- SPDX-License-Identifier: Apache-2.0
-- A reducer of the golden worlds. Its state changes when a function of the Lua library gives another result.

local function numbers(n)
    local list = {}
    for i = 1, 12 do
        local x = n / i + 0.1
        list[i] = {
            math.floor(x), math.ceil(x), math.sqrt(math.abs(x)), math.fmod(x, 0.7), math.modf(x), math.tointeger(i * 2),
            math.type(x), math.max(x, i), math.min(x, i), math.ult(i, 5), math.abs(x) ^ 1.7, x // 0.3, x % 0.3,
            i << 3, i ~ 9, n // i, n % i, math.pi * x, math.maxinteger // i, tostring(x), tostring(math.huge),
        }
    end
    return list
end

local function texts(text)
    local words = {}
    for word in text:gmatch("%S+") do
        words[#words + 1] = word:upper():reverse()
            .. string.format("%5.2f|%x|%-6s|%g", #word / 3, #word, word, 1 / #word)
    end
    table.sort(words, function(a, b) return a:byte(-1) > b:byte(-1) end)
    local wide = "äpfel 😀"
    local points = {}
    for _, point in utf8.codes(wide) do
        points[#points + 1] = point
    end
    local moved = table.move(words, 1, 2, 3)
    table.insert(moved, 1, "first")
    table.remove(moved)
    local packed = table.pack(text:byte(1, -1))
    return {
        table.concat(moved, ","), (text:gsub("(%w)(%w*)", "%2%1")), (text:find("[aeiou]", 3)), text:rep(2, "-"), points,
        text:match("(%d+)"), utf8.char(228, 8364, 128512), utf8.len(wide), utf8.offset(wide, 3), utf8.codepoint(wide, 1),
        text:sub(-4, -2), text:lower(), string.char(65, 66), text:len(), tostring(1e15), tostring(2 ^ 53),
        tostring(-0.0), tostring(1 / 3), packed.n, select("#", table.unpack(packed)), tonumber("0x1p4"),
        tonumber("zz", 36), rawlen(packed), rawequal(packed, moved),
    }
end

function step(state, event, ctx)
    local tally = state or { n = 0, sums = array({}) }
    local holes = { 1, 2, nil, 4 }
    holes[7] = 7
    tally.n = tally.n + event.n
    tally.sums[#tally.sums + 1] = tally.n
    tally.numbers = numbers(event.n)
    tally.texts = texts(event.text)
    tally.random = { ctx.random(), ctx.random(6), ctx.random(10, 20) }
    tally.hole = #holes
    tally.empty = object()
    tally.keys = {}
    for key in pairs({ b = 1, a = 2, c = 3 }) do
        table.insert(tally.keys, key)
    end
    local ok, message = pcall(function() return ctx.missing + 1 end)
    tally.failure = { ok, tostring(message) }
    local caught, told = xpcall(error, function(why) return "handled " .. tostring(why) end, "why")
    tally.handled = { caught, told }
    return tally
end
