#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make bench: what watching costs, on a machine where watchpoints fire (see tests/machine/run.sh).
# BENCH_PAIRS, BENCH_WINDOW and BENCH_SETTLE (seconds) say how long; the defaults take ten minutes.
# The table is printed; docs/BENCHMARKS.md holds one of them with the machine it was made on.

set -eu
cd "$(dirname "$0")/../.."
build=${MTL_BUILD:-build}
exec tests/machine/run.sh --seconds "${BENCH_SECONDS:-1800}" --program "$build/tests/bench/paired" \
    -- tests/bench/steps.sh "${BENCH_PAIRS:-40}" "${BENCH_WINDOW:-0.5}" "${BENCH_SETTLE:-0.5}"
