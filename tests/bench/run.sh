#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make bench: first mtl trace, on this machine (trace.sh, which make bench-trace runs by itself), and what
# many tracked processes cost mtld (many.sh); then
# what watching costs, on a machine where watchpoints fire (see tests/machine/run.sh). An
# emulated one has a single processor whose clock counts instructions: what is measured there is how
# many instructions the target loses, whatever the host is doing meanwhile.
# BENCH_PAIRS, BENCH_WINDOW and BENCH_SETTLE (seconds) say how long; the defaults take ten minutes.
# The tables are printed; docs/BENCHMARKS.md holds some of them with the machine it was made on.

set -eu
cd "$(dirname "$0")/../.."
build=${MTL_BUILD:-build}
tests/bench/trace.sh
echo
tests/bench/many.sh
echo
exec tests/machine/run.sh --cpus 0 --seconds "${BENCH_SECONDS:-1800}" --program "$build/tests/bench/paired" \
    -- tests/bench/steps.sh "${BENCH_PAIRS:-40}" "${BENCH_WINDOW:-0.5}" "${BENCH_SETTLE:-0.5}"
