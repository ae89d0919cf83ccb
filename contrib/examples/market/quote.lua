-- SPDX-License-Identifier: Apache-2.0
-- alice's service: the price of a number of items. The caller pays her the price of the artifact, 1
-- scrip.

local cents = { apple = 30, pear = 45, plum = 12 }

function run(item, count)
    local sum = cents[item] * count
    -- Ten and more are cheaper by a tenth.
    if count >= 10 then
        sum = sum - sum // 10
    end
    return sum
end
