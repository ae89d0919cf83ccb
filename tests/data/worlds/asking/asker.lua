-- SPDX-License-Identifier: Apache-2.0
-- A reducer that asks the world about itself, for tests of effects.
-- Event test/Ask@1 {key, effects, after?, tell?}: it asks for `effects`; when the first answer comes,
-- for those in `after`; and it tells `notes` of every answer if `tell` is true.
-- State {answers, after?, tell?}: every answer as it came.

function step(state, event, ctx)
    local asker = state or { answers = array{} }
    if ctx.schema ~= "sys/Receipt@1" then
        asker.after = event.after
        asker.tell = event.tell
        return asker, { effects = event.effects }
    end
    local effects = asker.after
    asker.after = nil
    table.insert(asker.answers, event)
    local events
    if asker.tell then
        events = { { schema = "test/Note@1", value = { status = event.status } } }
    end
    return asker, { effects = effects, events = events }
end
