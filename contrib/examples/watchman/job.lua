-- SPDX-License-Identifier: Apache-2.0
-- One job of the queue: its last state, and how often the queue has tried it.
function step(state, event)
    local job = state or { tries = 0 }
    job.state = event.state
    if event.state == "tried" then
        job.tries = job.tries + 1
    end
    return job
end
