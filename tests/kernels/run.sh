#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-kernels: the same programs on Debian 12's own 6.1 kernel, with one processor and with two,
# whatever kernel is running here; and on it locked down (locked.sh). See tests/machine/machine.sh for how, steps.sh for what.

set -eu
cd "$(dirname "$0")/../.."
build=${MTL_BUILD:-build}
# unit tests that need the kernel go along, with the library they are linked with besides
library=$build/tests/libcmocka.so.0
install -m 755 "$(ldd "$build/unit/test_address_source" | sed -n 's/.*libcmocka.so.0 => \([^ ]*\) .*/\1/p')" "$library"
set -- --program "$library"
for test in test_address_source test_address_heat test_cpu_events; do
    set -- "$@" --program "$build/unit/$test"
done
for cpus in 1 2; do
    MTL_MACHINE=emulated tests/machine/run.sh --cpus $cpus "$@" -- tests/kernels/steps.sh $cpus
done
MTL_KERNEL_OPTIONS=lockdown=confidentiality MTL_MACHINE=emulated tests/machine/run.sh --cpus 0 -- tests/kernels/locked.sh
