# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced by check.sh: a newer systemd's own Varlink client, unpacked to /check/varlinkctl, against mtld.

varlinkctl() {
    timeout 20 /check/varlinkctl/ld.so --library-path /check/varlinkctl/lib /check/varlinkctl/varlinkctl --no-pager "$@"
}

varlinkctl_info() {
    varlinkctl info $socket >info.txt || { cat info.txt; return 1; }
    grep -q 'mtld' info.txt && grep -q io.mtld info.txt && grep -q org.varlink.service info.txt || { cat info.txt; return 1; }
}

# it parses the description, and prints what it understood
varlinkctl_introspect() {
    varlinkctl introspect $socket io.mtld >introspect.txt || { cat introspect.txt; return 1; }
    for name in "interface io.mtld" "method Curve" "method Track" "error NotTracked" "type MissCurve"; do
        grep -q "^$name" introspect.txt || { echo "no $name"; head -n 20 introspect.txt; return 1; }
    done
}

varlinkctl_calls() {
    pid=$(main_pid workload.service)
    varlinkctl -j call $socket io.mtld.Curve "{\"pid\":$pid,\"sizes\":[1048576,8388608]}" >call.json || { cat call.json; return 1; }
    jq -es --argjson pid "$pid" '.[0].curve | .pid == $pid and (.points | length) == 2' call.json >/dev/null ||
        { head -c 500 call.json; return 1; }
}

varlinkctl_gets_errors() {
    varlinkctl -j call $socket io.mtld.Curve '{"pid":1}' 2>error.txt && { echo "no error"; return 1; }
    grep -q io.mtld.NotTracked error.txt || { cat error.txt; return 1; }
}

# updates, until it has had two; what it writes to a file comes in blocks, so the last may be incomplete
varlinkctl_gets_more() {
    pid=$(main_pid workload.service)
    varlinkctl -j --more call $socket io.mtld.Curve "{\"pid\":$pid}" >more.json & more=$!
    until_when=$(($(centiseconds) + 1500))
    until [ "$(jq -c .curve.pid more.json 2>/dev/null | grep -cx "$pid")" -ge 2 ]; do
        [ "$(centiseconds)" -lt $until_when ] || { kill $more; head -c 500 more.json; return 1; }
        sleep 0.3
    done
    kill $more
}
