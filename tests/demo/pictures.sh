#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The curves that README and docs/GUIDE.md show, of three programs that run at the same time, where
# watchpoints fire; then mtl top for a minute, for whoever looks on:
#
#     tests/machine/run.sh --cpus 0 --seconds 500 --out DIR -- tests/demo/pictures.sh
#     cd DIR && gnuplot curves.gnuplot
#
# An emulated machine has no gnuplot: what it would be told is kept.

set -eu
kept=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$kept"' EXIT
if ! command -v gnuplot >/dev/null; then
    printf '%s\n' '#!/bin/sh' "cat >'$OUT/curves.gnuplot'" 'echo drawn' >"$kept/gnuplot"
    chmod 755 "$kept/gnuplot"
    PATH=$kept:$PATH
fi
export MTL_SOCKET="$kept/socket"
mtld --socket "$MTL_SOCKET" 2>"$OUT/mtld.err" &
until mtl status >/dev/null 2>&1; do sleep 0.5; done
# a process is called what it was started as
for name in zipf scan; do ln -s "$(command -v workload)" "$kept/$name"; done
"$kept/zipf" zipf --working-set 4M --skew 0.9 >/dev/null 2>&1 &
zipf=$!
"$kept/scan" scan --working-set 1M >/dev/null 2>&1 &
scan=$!
(while cat /usr/bin/*; do :; done) 2>/dev/null | bzip2 -c >/dev/null 2>&1 &
sleep 1
bzip2=$(pgrep -x bzip2)
for pid in $zipf $scan $bzip2; do mtl track "$pid"; done
sleep "${1:-120}"
cd "$OUT"
mtl curve "$bzip2" --sizes 64K,128K,256K,512K,1M,2M,4M,8M >curve.txt
mtl curve $zipf $scan "$bzip2" --plot curves.svg >curves.txt
mtl list >list.txt
COLUMNS=100 timeout 60 mtl top --interval 2 || true
