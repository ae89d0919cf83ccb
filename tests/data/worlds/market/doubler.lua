-- Whoever asks pays for both.
function run(n)
    local added = invoke("adder", n, n)
    if not added.ok then
        error(added.error.message)
    end
    return added.result
end
