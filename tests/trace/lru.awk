# SPDX-License-Identifier: MIT
#
# LRU by the book, from lackey's text: awk -v line=64 -v code=0 -v sizes=64,128 -f lru.awk TRACE
# prints accesses, distinct lines and the miss ratio at each size. Every line from the first byte of
# an access to its last is touched; M is a load and a store.

function hex(text,    i, n) {
    for (i = 1; i <= length(text); i++)
        n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n
}

function touch(number,    at, i) {
    accesses++
    at = 0
    for (i = 1; i <= depth && !at; i++)
        if (stack[i] == number)
            at = i
    if (at)
        reuses[at]++
    else
        at = ++depth
    for (i = at; i > 1; i--)
        stack[i] = stack[i - 1]
    stack[1] = number
}

$1 ~ /^[ILSM]$/ && ($1 != "I" || code) {
    split($2, part, ",")
    first = hex(part[1])
    for (time = 0; time < ($1 == "M" ? 2 : 1); time++)
        for (number = int(first / line); number <= int((first + part[2] - 1) / line); number++)
            touch(number)
}

END {
    printf "%d %d", accesses, depth
    n = split(sizes, size, ",")
    for (s = 1; s <= n; s++) {
        misses = depth
        for (d = 1; d <= depth; d++)
            if (d > size[s] / line)
                misses += reuses[d]
        printf " %.6f", misses / accesses
    }
    print ""
}
