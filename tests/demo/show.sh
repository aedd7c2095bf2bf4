#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What make demo shows; runs where watchpoints fire.

set -eu
sizes=256K,512K,1M,2M,3M,4M,5M,6M,8M
report=$(mktemp)
trap 'rm -f "$report"' EXIT

# A demo in an emulated machine, whose traps take as long as ten thousands of instructions, may cost its
# program more than the usual 1 %.
[ "$MTL_MACHINE" = native ] || {
    mkdir -p /etc/mtld
    printf '%s\n' '[mtld]' 'max_overhead = 5%' 'max_daemon_cpu = 20%' >/etc/mtld/mtld.conf
}

say() { # LINE...
    echo
    printf '%s\n' "$@"
}

# whatever is in /usr/bin, for ever: until nobody reads it any more (SIGPIPE)
stream() {
    while cat /usr/bin/* 2>/dev/null || [ $? -lt 128 ]; do :; done
}

say "1. A program whose answer is known: it reads 4 MB from end to end, again and again." \
    "   A cache of less than 4 MB keeps none of it long enough: every line it touches is a miss." \
    "   A cache of 4 MB or more keeps it all: no misses. The curve is a cliff at 4 MB." \
    "" "   $ mtl run --duration 10 -- workload scan --working-set 4M"
mtl run --duration 10 --sizes $sizes -- workload scan --working-set 4M >"$report"
grep -v '^{"kind"' "$report"
touched=$(sed -n 's/.*"lines_touched_per_cpu_second":\([0-9]*\).*/\1/p' "$report")
say "   The program itself counted $touched lines touched per second of CPU time: that is the height" \
    "   of the cliff; its foot is at 4 MB."

say "2. A real program: bzip2, compressing a stream of whatever is in /usr/bin." \
    "" "   $ mtl run --duration 10 -- bzip2"
stream | mtl run --duration 10 -- sh -c 'exec bzip2 -c >/dev/null'

say "mtl curve PID does the same for any process that runs already, while mtld runs:" \
    "make install && systemctl start mtld. See README.md."
