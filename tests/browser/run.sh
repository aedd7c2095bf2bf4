#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-browser: `mtl export` as people and Prometheus see it. The page, and the plots of other
# commands, in headless Chromium (check_page.py); the metrics scraped by Prometheus, which answers a
# query for a point of a curve; promtool about metrics, rules and configuration. Screenshots stay
# in build/browser.

cd "$(dirname "$0")/../.." || exit 1
command=
. tests/steps.sh
. tests/mtl_steps.sh
. tests/export/served.sh

export PYTHONDONTWRITEBYTECODE=1
out=$build/browser
rm -rf "$out"
scene "$three"
mtld_begins
serves --sizes 1M,8M

# --- Prometheus

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
{
    echo 'global: {scrape_timeout: 1s}'
    echo "rule_files: [$PWD/packaging/prometheus/alerts.yml]"
    echo 'scrape_configs:'
    sed -e "s|127.0.0.1:9857|${url#http://}|; s|scrape_interval: .*|scrape_interval: 1s|" packaging/prometheus/scrape.yml
} >"$work/prometheus.yml"
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
    --web.listen-address=127.0.0.1:"$port" >"$work/prometheus.log" 2>&1 &
prometheus=$!

# query EXPRESSION: its first value
query() {
    curl -sS --max-time 5 -G "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1" | jq -er '.data.result[0].value[1]'
}

# queried PATTERN EXPRESSION
queried() {
    within 10 query "$2" || { tail -n 5 "$work/prometheus.log"; curl -s "http://127.0.0.1:$port/api/v1/targets" | head -c 800; return 1; }
    query "$2" | grep -qE "$1" || { query "$2"; return 1; }
}

step "promtool: metrics" sh -c "curl -sS $url/metrics | promtool check metrics"
step "promtool: alert rules" promtool check rules packaging/prometheus/alerts.yml
step "promtool: the scrape configuration" promtool check config "$work/prometheus.yml"
step "Prometheus scrapes" queried '^1$' 'up{job="mtl"}'
step "... a point of a curve" queried '^17[0-9.]+$' 'mtl_process_misses_per_second{comm="redis-server",size_bytes="8388608"}'
step "... its interval around it" queried '^[0-9]' \
    'mtl_process_misses_high_per_second{pid="812",size_bytes="1048576"} > mtl_process_misses_per_second > mtl_process_misses_low_per_second'
step "... joined with what the process is" queried '^[0-9]' \
    'mtl_process_footprint_bytes * on (instance, pid) group_left (container_id) mtl_process_info{comm="postgres"}'
step "... as OpenMetrics, with types and units" sh -c "curl -sS 'http://127.0.0.1:$port/api/v1/metadata?metric=mtl_process_footprint_bytes' |
    jq -e '.data.mtl_process_footprint_bytes[0] | .type == \"gauge\" and .unit == \"bytes\"'"

# every expression of the dashboard, with its variables put in
dashboard() {
    jq -r '.panels[].targets[].expr' packaging/grafana/mtl.json |
        sed 's/\$instance/.*/g; s/\$comm/.*/g; s/\$size/8388608/g; s/\$__rate_interval/1m/g' >"$work/expressions"
    [ "$(wc -l <"$work/expressions")" -gt 10 ] || return
    while read -r expression; do
        curl -sS -G "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$expression" | is_true '.status == "success"' ||
            { echo "$expression"; return 1; }
    done <"$work/expressions"
}
step "Prometheus understands the dashboard" dashboard
kill "$prometheus"
wait "$prometheus" 2>/dev/null

# --- the page and the plots

awk 'BEGIN { for (i = 0; i < 40000; i++) printf " L %x,4\n", 65536 + i % 1000 * 64 }' >"$work/loop.trace"
awk 'BEGIN { srand(5); for (i = 0; i < 40000; i++) printf " L %x,4\n", 65536 + 64 * int(3000 ^ rand()) }' >"$work/skew.trace"
"$mtl" trace "$work/loop.trace" --json --plot "$work/trace.svg" >"$work/loop.json"
"$mtl" trace "$work/skew.trace" --json >"$work/skew.json"
"$mtl" share "$work/loop.json" "$work/skew.json" --size 64K --plot "$work/share.svg" >"$work/none"
tests/browser/check_page.py "$url" "$scenario" "$out" "$work/trace.svg" "$work/share.svg" >"$work/page" 2>&1
status=$?
cat "$work/page"
step "all steps of the page" test $status = 0

served_no_more
mtld_ends
steps_total
