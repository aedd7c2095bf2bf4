#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make demo: the live curve of a program whose answer is known, beside the answer, then that of a real
# one. Where hardware watchpoints never fire it is shown in an emulated machine (tests/machine).

set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make demo needs root, to observe processes" >&2; exit 1; }
echo "mtl shows how many cache misses a running program would take at every cache size, live."
exec tests/machine/run.sh --cpus 0 --seconds 300 -- tests/demo/show.sh
