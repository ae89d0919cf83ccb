-- SPDX-License-Identifier: Apache-2.0
-- The operator's oven: the result for a dough and a number of minutes. The caller pays the price of
-- the artifact, 1 scrip.

local minutes = {
    rye = { least = 55, most = 65 },
    spelt = { least = 40, most = 46 },
    wheat = { least = 28, most = 34 },
}

function run(order)
    local right = minutes[order.dough]
    local bread = "good"
    if order.minutes < right.least then
        bread = "raw"
    elseif order.minutes > right.most then
        bread = "burnt"
    end
    return string.format("%s, %d minutes: %s", order.dough, order.minutes, bread)
end
