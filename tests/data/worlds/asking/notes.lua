-- SPDX-License-Identifier: Apache-2.0
-- What `asker` told, in order.

function step(state, event)
    local notes = state or array{}
    table.insert(notes, event.status)
    return notes
end
