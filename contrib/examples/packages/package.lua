-- SPDX-License-Identifier: Apache-2.0
-- One Debian package through the lines of dpkg's log. The state that `step` returns is the file
-- reducers/package/<name>:<architecture>; at/<height> keeps every earlier one.

-- Actions that are counted, and the member of the state that counts them.
local counters = { install = "installs", upgrade = "upgrades", remove = "removes" }

local function new_package(event)
    return {
        first_seen = event.time,
        status = "not-installed",
        installs = 0, upgrades = 0, removes = 0,
    }
end

function step(state, event)
    local package = state or new_package(event)
    package.last_change = event.time

    -- dpkg announces what it is about to do ("upgrade a 1 2") ...
    local counter = counters[event.action]
    if counter then
        package[counter] = package[counter] + 1
    end

    -- ... and then reports the package's new status ("status unpacked a 2"). Only the status
    -- counts: an action can fail. A removed package has no version.
    if event.status then
        package.status = event.status
        package.version = event.version
    end
    return package
end
