function run(a, b)
    return a + b
end
