#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-export: `mtl export` over HTTP, before a stand-in for mtld: what is served in which form,
# what it costs mtld, what becomes of unkind requests. Prometheus and a browser look at it in
# make check-browser.

cd "$(dirname "$0")/../.." || exit 1
command=
. tests/steps.sh
. tests/mtl_steps.sh
. tests/export/served.sh

get() { # CURL-ARGUMENT...: the body
    curl -sS --max-time 10 "$@"
}

# status CODE CURL-ARGUMENT...
status() {
    wanted=$1
    shift
    got=$(curl -s --max-time 10 -o "$work/body" -w '%{http_code}' "$@")
    [ "$got" = "$wanted" ] || { echo "status $got"; head -c 500 "$work/body"; return 1; }
}

# has PATTERN CURL-ARGUMENT...: a line of the body
has() {
    pattern=$1
    shift
    get "$@" >"$work/body" && grep -qE -- "$pattern" "$work/body" || { head -c 1500 "$work/body"; return 1; }
}

has_not() { ! has "$@" >/dev/null; }

json() { # EXPRESSION
    get "$url/curves.json" >"$work/body" && is_true "$1" "$work/body" || { head -c 1500 "$work/body"; return 1; }
}

questions() { # METHOD: how many there were
    jq -s "map(select(.method == \"io.mtld.$1\")) | length" "$scenario.log"
}

openmetrics='Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5'

# --- before there is a mtld

serves --sizes 1M,8M
step "mtld away: that, and nothing of processes" has '^mtl_up 0$' "$url/metrics"
step "... no process" has_not '^mtl_(process|daemon)' "$url/metrics"
step "... its page says why" json '.up == false and (.reason | test("mtld is not running")) and .processes == []'
scene "$three"
mtld_begins
sleep 1.1
step "mtld came" has '^mtl_up 1$' "$url/metrics"
step "... which was said" grep -q 'mtld answers again' "$work/export.err"
served_no_more

# --- what is served

serves --sizes 128K,1M,8M
: >"$scenario.log"
step "a point of a curve" has '^mtl_process_misses_per_second\{pid="4711",comm="redis-server",size_bytes="8388608"\} 17[0-9.]+$' "$url/metrics"
step "its interval" has '^mtl_process_misses_high_per_second\{pid="812",comm="postgres",size_bytes="1048576"\} ' "$url/metrics"
step "no point below the resolution" has_not 'size_bytes="131072"' "$url/metrics"
step "no curve of too few observations, but the process" has '^mtl_process_observations\{pid="33",comm="ng\\"in\\\\x"\} 12$' "$url/metrics"
step "... no point of it" has_not '^mtl_process_(misses|footprint)[a-z_]*\{pid="33"' "$url/metrics"
step "a ratio where accesses are counted" has '^mtl_process_miss_ratio\{pid="812"' "$url/metrics"
step "... none where not" has_not '^mtl_process_miss_ratio\{pid="4711"' "$url/metrics"
step "text for who does not ask" sh -c "curl -sS -D - -o /dev/null $url/metrics | grep -qi '^content-type: text/plain; version=0.0.4'"
step "OpenMetrics for who does" sh -c "curl -sS -D - -o /dev/null -H '$openmetrics' $url/metrics | grep -qi '^content-type: application/openmetrics-text; version=1.0.0'"
step "... with units" has '^# UNIT mtl_process_footprint_bytes bytes$' -H "$openmetrics" "$url/metrics"
step "... with an end" sh -c "curl -sS -H '$openmetrics' $url/metrics | tail -n 1 | grep -qx '# EOF'"
step "every family once" sh -c "curl -sS $url/metrics | grep '^# TYPE' | sort | uniq -d | wc -l | grep -qx 0"
step "every series once" sh -c "curl -sS $url/metrics | grep -v '^#' | sed 's/ [^ ]*\$//' | sort | uniq -d | wc -l | grep -qx 0"
step "no value is NaN" has_not ' [+-]?(nan|inf)' "$url/metrics"
step "the page's answer" json '.up and (.processes | length == 3) and .processes[0].process.pid == 4711 and
    (.processes[0].curve.points | length > 15) and (.processes[0].sentence | test("working set")) and
    .processes[2].curve == null and (.processes[2].reason | test("12 of about 60"))'
step "the page" has '<title>mtl' "$url/"
step "... with a strict policy" sh -c "curl -sS -D - -o /dev/null $url/ | grep -i '^content-security-policy: ' |
    grep -q \"default-src 'none'; script-src 'self'; style-src 'self'\""
step "... and no script or style in it" has_not '<script>|<style|style=|onclick|onload|https?://' "$url/"
for file in page.js chart.js page.css icon.svg; do
    step "$file" status 200 "$url/$file"
done
step "HEAD" status 200 -I "$url/metrics"

# --- what it costs mtld

# scrapes for 1.5 s, 15 at least: a round a second, and curves no more than were saved up (3) and one a second
: >"$scenario.log"
scrape_often() {
    end=$(($(centiseconds) + 150))
    n=0
    while [ "$(centiseconds)" -lt $end ] || [ $n -lt 15 ]; do
        get -o /dev/null "$url/metrics" || return
        n=$((n + 1))
    done
    lasted=$(($(centiseconds) - end + 150))
    rounds=$(questions List) curves=$(questions Curve)
    echo "$n scrapes in $lasted cs, $rounds rounds, $curves curves"
    [ "$rounds" -le $((lasted / 100 + 1)) ] && [ "$curves" -le $((lasted / 100 + 4)) ]
}
step "scrapes are answered from what was asked a second ago" scrape_often
step "every curve is asked for aside" jq -es 'map(select(.method == "io.mtld.Curve")) | all(.parameters.aside)' "$scenario.log"
idle=$(wc -l <"$scenario.log")
sleep 1.2
step "nothing is asked while nobody looks" test "$(wc -l <"$scenario.log")" = "$idle"

# --- bounds

served_no_more
step "it ends by SIGTERM, well" test $? = 0
serves --top 1
step "no more than --top" has '^mtl_export_left_out_processes 2$' "$url/metrics"
step "... of the busiest" sh -c "curl -sS $url/metrics | grep -c '^mtl_process_info' | grep -qx 1"
served_no_more

# --- unkind requests

serves --allow-host mtl.example
step "no such page" status 404 "$url/etc/passwd"
step "no way up" status 404 --path-as-is "$url/../../etc/passwd"
step "no POST" status 405 -X POST "$url/metrics"
step "no DELETE" status 405 -X DELETE "$url/"
step "no body" status 413 -X GET --data-binary @README.md "$url/metrics"
step "no other site's name (DNS rebinding)" status 421 -H 'Host: evil.example' "$url/curves.json"
step "... with a port" status 421 -H 'Host: evil.example:80' "$url/"
step "a name that was allowed" status 200 -H 'Host: mtl.example' "$url/metrics"
step "localhost" status 200 -H 'Host: localhost:1' "$url/metrics"
step "headers without end" sh -c "head -c 100000 /dev/zero | tr '\0' a |
    { printf 'X: '; cat; } >$work/long; curl -s --max-time 10 -o /dev/null -w '%{http_code}' -H @$work/long $url/metrics | grep -qE '^(431|000)$'"
step "a name without end" sh -c "curl -s --max-time 10 -o /dev/null -w '%{http_code}' '$url/$(head -c 60000 /dev/zero | tr '\0' a)' | grep -qE '^(414|431|000)$'"
step "garbage and floods of connections" tests/export/unkind.py "$url"
step "... after which it serves" has '^mtl_up 1$' "$url/metrics"
step "... with few descriptors" sh -c "[ \$(ls /proc/$exporter/fd | wc -l) -lt 90 ]"

# --- mtld misbehaves

scene '{"processes": [], "error": {"List": {"error": "io.mtld.Failed", "parameters": {"reason": "a test"}}}}'
sleep 1.1
step "mtld refuses" json '.up == false and (.reason | test("a test"))'
scene '{"processes": [], "error": {"Status": null}}'
sleep 1.1
begun=$(centiseconds)
step "mtld is silent: the scrape ends in time" has '^mtl_up 0$' "$url/metrics"
step "... in 5 s" test $(($(centiseconds) - begun)) -lt 700
scene "$three"
mtld_ends
mtld_begins
sleep 1.1
step "another mtld" has '^mtl_up 1$' "$url/metrics"
mtld_ends

# --- options

step "an address that is taken" refuses 1 'cannot listen at .*something else does' export --listen "${url#http://}"
served_no_more
step "an address that is none" refuses 2 "'nowhere' is no ADDRESS:PORT" export --listen nowhere
step "too many sizes" refuses 2 'more than 64 sizes' export --sizes "$(seq -s, 1024 1100)"
step "--top 0" refuses 2 'give 1 to 256' export --top 0

steps_total
