-- SPDX-License-Identifier: Apache-2.0
-- Reducers as they should not be. Event test/Do@1 {what}: the name of one of these functions.

local deeds = {}

function deeds.nothing()
    return { fine = true }
end

-- Errors.
function deeds.fail()
    error("this is what it says")
end

function deeds.index_nil()
    return deeds.no_such_thing.field
end

function deeds.fail_with_table()
    error({ code = 1 })
end

function deeds.overflow_stack()
    local function again()
        return 1 + again()
    end
    return again()
end

-- What does not end.
function deeds.loop()
    while true do
    end
end

function deeds.loop_in_pcall()
    while true do
        pcall(function()
            while true do
            end
        end)
    end
end

function deeds.slow_pattern()
    return string.find(("a"):rep(30), ("a?"):rep(30) .. ("a"):rep(30) .. "b")
end

-- What is too much.
function deeds.memory()
    local all = {}
    for i = 1, 1e9 do
        all[i] = ("x"):rep(500) .. i
    end
    return all
end

function deeds.one_large_string()
    return { text = ("x"):rep(1 << 40) }
end

function deeds.doubling()
    local text = "x"
    while true do
        text = text .. text
    end
end

-- What is no JSON.
function deeds.return_function()
    return { deed = deeds.nothing }
end

function deeds.return_not_a_number()
    return { value = 0 / 0 }
end

function deeds.return_infinity()
    return { value = 1 / 0 }
end

function deeds.return_cycle()
    local state = {}
    state.itself = state
    return state
end

function deeds.return_mixed_table()
    return { 1, 2, three = 3 }
end

function deeds.return_invalid_text()
    return { text = "\xff" }
end

function deeds.return_deep()
    local state = {}
    for _ = 1, 100000 do
        state = { state }
    end
    return state
end

-- Events of its own.
function deeds.emit_for_ever()
    return {}, { events = { { schema = "test/Do@1", value = { what = "emit_for_ever" } } } }
end

function deeds.emit_undeclared()
    return {}, { events = { { schema = "test/Undeclared@1", value = 1 } } }
end

function deeds.emit_invalid()
    return {}, { events = { { schema = "test/Do@1", value = { what = "" } } } }
end

function deeds.emit_what_fails()
    return {}, { events = { { schema = "test/Do@1", value = { what = "fail" } } } }
end

function deeds.emit_no_list()
    return {}, { events = "none" }
end

-- The world outside.
function deeds.clock()
    return { now = os.time() }
end

function deeds.file()
    return { text = io.open("/etc/passwd"):read("a") }
end

function deeds.load_code()
    return { value = load("return 1")() }
end

function step(_, event)
    return deeds[event.what]()
end
