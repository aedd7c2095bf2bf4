#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make bench-trace: how fast mtl trace is, and how right. Runs natively, needs no privileges, and
# prints the tables of docs/BENCHMARKS.md. The traces are made once and kept in build/bench.
#
#     trace.sh [speed] [accuracy] [composition]      some or all (default)
#
# BENCH_REPEATS (5) says how often each thing is measured, BENCH_CPU (the last) where. What is
# measured is processor time, so that others on the machine cost less; caches and memory they still
# share. CACHESIM=/path/to/cachesim measures libCacheSim's LRU at 24 sizes beside it, on the first
# CACHESIM_ACCESSES (1e7) accesses of the same trace; with all 1e8 that takes a quarter of an hour.

set -eu
cd "$(dirname "$0")/../.."
build=${MTL_BUILD:-build}
bench=$build/bench
PATH=$PWD/$build:$PWD/$build/tests/bench:$PATH
case $build in /*) PATH=$build:$build/tests/bench:$PATH ;; esac
mkdir -p "$bench"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

. tests/bench/trace_speed.sh
. tests/bench/trace_accuracy.sh
. tests/bench/trace_composition.sh

processor() { sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1; }

echo "mtl $(git describe --always --dirty 2>/dev/null || mtl --version), $(processor)," \
    "$(nproc) CPUs, $(uname -r), load $(cut -d' ' -f1 /proc/loadavg)"
[ $# -gt 0 ] || set -- speed accuracy composition
for part; do
    echo
    case $part in
    speed) speed ;;
    accuracy) accuracy ;;
    composition) composition ;;
    *) echo "trace.sh: no part $part" >&2 && exit 2 ;;
    esac
done
