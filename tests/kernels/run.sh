#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-kernels: the same programs on Debian 12's own 6.1 kernel, with one processor and with two,
# whatever kernel is running here. See tests/machine/machine.sh for how, steps.sh for what.

set -eu
cd "$(dirname "$0")/../.."
for cpus in 1 2; do
    MTL_MACHINE=emulated tests/machine/run.sh --cpus $cpus -- tests/kernels/steps.sh $cpus
done
