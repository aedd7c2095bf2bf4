# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced after mtl_steps.sh by scripts that try `mtl export`: a stand-in for mtld whose answers they
# make up, and the exporter before it. Both end with the script.

scenario=$work/scenario
socket=$work/io.mtld

# what mtld would answer from now on
scene() { # JSON
    printf '%s' "$1" >"$scenario.new"
    mv "$scenario.new" "$scenario"
}

three='{"processes": [
    {"pid": 4711, "comm": "redis-server", "misses": [[6e5, 2.4e7], [9e6, 3e6]], "floor": 4e4, "cpu_seconds": 38,
        "footprint_bytes": 29360128, "resident_bytes": 48234496},
    {"pid": 812, "comm": "postgres", "misses": [[1.8e6, 9e6], [2.6e7, 1.1e6]], "floor": 9e3, "wide": 0.22,
        "cpu_seconds": 21, "counted": true},
    {"pid": 33, "comm": "ng\"in\\x", "observations": 12, "cpu_seconds": 0.4}]}'

mtld_begins() {
    tests/stub_mtld.py "$socket" "$scenario" 2>"$work/stub.err" &
    stub=$!
    within 10 test -S "$socket" || die "no stand-in for mtld: $(cat "$work/stub.err")"
}

mtld_ends() {
    kill "$stub"
    wait "$stub" 2>/dev/null
    rm -f "$socket"
}

# serves OPTION...: sets $url
serves() {
    "$mtl" --socket "$socket" export --listen 127.0.0.1:0 "$@" 2>"$work/export.err" &
    exporter=$!
    within 10 grep -q 'metrics http' "$work/export.err" || die "mtl export: $(cat "$work/export.err")"
    url=$(sed -n 's|.*page \(http://[^/]*\)/.*|\1|p' "$work/export.err")
}

served_no_more() {
    kill "$exporter" 2>/dev/null
    wait "$exporter"
}

served_clean_up() {
    kill ${exporter:-} ${stub:-} ${prometheus:-} 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap served_clean_up EXIT
