-- SPDX-License-Identifier: Apache-2.0
-- bob's service: writes an invoice for several items, as an artifact. It asks alice's `quote` for
-- each item. The caller pays for both services: 2 scrip to bob, and 1 for each line to alice.

function run(items)
    local lines = {}
    local sum = 0

    for item, count in pairs(items) do
        local quote = invoke("quote", item, count)
        -- A failed quote is a value here. An error ends this invocation; then all its changes are
        -- undone, and all scrip is returned.
        if not quote.ok then
            error("no quote for " .. item .. ": " .. quote.error.message, 0)
        end
        lines[#lines + 1] = string.format("%-8s %4d %6d", item, count, quote.result)
        sum = sum + quote.result
    end
    lines[#lines + 1] = string.format("%-8s %4s %6d", "sum", "", sum)

    -- The record's number is in no other name. What code writes belongs to its own artifact.
    local id = "invoice-" .. ctx.seq
    local written = kernel_actions.write_artifact({
        artifact_id = id,
        type = "invoice",
        content = table.concat(lines, "\n") .. "\n",
        metadata = { customer = ctx.origin },
    })
    if not written.ok then
        error(written.error.message, 0)
    end
    return { invoice = id, sum = sum }
end
