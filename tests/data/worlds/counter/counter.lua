-- SPDX-License-Identifier: Apache-2.0
-- The world of the mount tests: counters that are easy to fold a second time in a test.
-- Event test/Add@1 {key, by, pad?} adds `by` to the counter of its key, null deletes the counter.
-- State {n, pad?}: the sum since the counter was made, and the pad of the last event that had one.
-- A sum below zero is an error, so that a test can make a reducer fail.

function step(state, event)
    if event.by == null then
        return nil
    end
    local counter = state or { n = 0 }
    counter.n = counter.n + event.by
    counter.pad = event.pad or counter.pad
    if counter.n < 0 then
        error("counter '" .. event.key .. "' would be " .. counter.n)
    end
    return counter
end
