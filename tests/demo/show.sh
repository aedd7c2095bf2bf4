#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What make demo shows; runs where watchpoints fire.

set -eu
sizes=1M,2M,3M,3.5M,4.5M,6M # around the cliff, not on it: besides its 4 MB a program touches its stack
report=$(mktemp)
trap 'rm -f "$report"' EXIT

say() { # LINE...
    echo
    printf '%s\n' "$@"
}

[ "$MTL_MACHINE" = native ] ||
    say "Traps are slow in an emulated machine, so its mtld.conf has max_overhead = 10%, max_daemon_cpu = 50%."

# Known misses per second of CPU time: what the workload says it must miss per access at each size,
# times the accesses it counted itself.
known() {
    rate=$(sed -n 's/.*"accesses_per_cpu_second":\([0-9.]*\).*/\1/p' "$report")
    workload expect scan --working-set 4M --size $sizes >"$report.expected"
    echo $sizes | tr , '\n' | paste - "$report.expected" | awk -v rate="$rate" '{ print $1, $2 * rate }'
    rm "$report.expected"
}

# the report with the known misses before each size
beside() {
    known | awk '
        function text(n) { return n >= 1e6 ? sprintf("%.3g M", n / 1e6) : n >= 1e3 ? sprintf("%.3g k", n / 1e3) : n }
        FILENAME == "-" { known[$1] = text($2); next }
        /^{"kind"/ { next }
        $1 == "SIZE" { printf "%9s | %s\n", "KNOWN", $0; next }
        $1 in known && / \.\. / { printf "%9s | %s\n", known[$1], $0; next }
        { print }' - "$report"
}

# whatever is in /usr/bin, for ever: until nobody reads it any more (SIGPIPE)
stream() {
    while cat /usr/bin/* 2>/dev/null || [ $? -lt 128 ]; do :; done
}

say "1. A program whose answer is known: it reads 4 MB from end to end, again and again." \
    "   A cache of less than 4 MB keeps none of it long enough: every line it touches is a miss." \
    "   A cache of more keeps it all: no misses. The curve is a cliff at 4 MB. In the column KNOWN:" \
    "   the lines the program itself counts as touched per second of CPU time below 4 MB, 0 above." \
    "" "   $ mtl run --duration 10 --sizes $sizes -- workload scan --working-set 4M" ""
mtl run --duration 10 --sizes $sizes -- workload scan --working-set 4M >"$report"
beside

say "2. A real program: bzip2, compressing a stream of whatever is in /usr/bin." \
    "" "   $ while cat /usr/bin/*; do :; done | mtl run --duration 10 -- sh -c 'exec bzip2 -c >/dev/null'" ""
stream | mtl run --duration 10 -- sh -c 'exec bzip2 -c >/dev/null'

say "mtl curve PID does the same for any process that runs already, while mtld runs:" \
    "make install && systemctl start mtld. See README.md."
