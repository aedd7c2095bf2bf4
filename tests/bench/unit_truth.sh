#!/bin/sh
# SPDX-License-Identifier: MIT
#
# unit_truth.sh DIR [PROGRAM...]: what one unit of each real program (units.sh) misses at every size, exactly:
# DIR/PROGRAM.steady.json = {accesses, distinct, sizes: [...], misses: [...], theory: [...]}; theory are the misses
# by mtl trace --method footprint: what a live curve would be if it knew the footprint exactly.
#
# One process does two units, another three, both in qemu's user-mode emulator with memory_trace.c; mtl trace
# makes exact curves of the data accesses of either, and the difference is a unit in the steady state. (The second
# is none yet: an allocator takes large blocks elsewhere once it has seen one given back, and memory that the kernel
# had zeroed is cleared by the program when it is used again.) The
# emulator is that of the emulated machine (tests/machine), so that libraries choose the same code in
# both. What is there already is kept.

set -eu
cd "$(dirname "$0")/../.."
. tests/bench/trace_units.sh
build=$(realpath "${MTL_BUILD:-build}")
mkdir -p "$1"
dir=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- $unit_programs
begin_tracing "$dir"

# one size every factor of sqrt(2) from 4 KiB to 64 MiB
sizes() { awk 'BEGIN { for (i = 24; i <= 52; i++) print int(2 ^ (i / 2) / 64 + 0.5) * 64 }' | paste -sd, -; }

curve_by() { # METHOD: of the trace on standard input
    "$build/mtl" trace - --format u64 --json --method "$1" --sizes "$(sizes)"
}

traced() { # PROGRAM N: the exact curve of N units, and that by their footprint
    rm -f "$work/trace" "$work/again"
    mkfifo "$work/trace" "$work/again"
    curve_by footprint <"$work/again" >"$work/$2.theory.json" &
    second=$!
    tee "$work/again" <"$work/trace" | curve_by exact >"$work/$2.json" &
    reader=$!
    trace_units "$1" "$2"
    wait $reader
    wait $second
}

truth() { # PROGRAM
    echo "tracing two and three units of $1" >&2
    traced "$1" 2
    traced "$1" 3
    jq -s 'def more($fewer; $more): [range($more.points | length) as $i |
                $more.points[$i].miss_ratio * $more.accesses - $fewer.points[$i].miss_ratio * $fewer.accesses];
            { accesses: (.[1].accesses - .[0].accesses), distinct: .[1].distinct,
            sizes: [.[1].points[] | .size_bytes], misses: more(.[0]; .[1]), theory: more(.[2]; .[3]) }' \
        "$work/2.json" "$work/3.json" "$work/2.theory.json" "$work/3.theory.json" >"$work/truth"
    mv "$work/truth" "$dir/$1.steady.json"
}

for program; do
    if [ ! -e "$dir/$program.steady.json" ] && is_there "$program"; then
        truth "$program"
    fi
done
