# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# The part "speed" of trace.sh: 1e8 accesses, zipf(0.8) over 1e6 lines, u64 in the page cache, one
# core. Each round runs every method once, and one share of the 24 sizes in cachesim.

accesses=100000000
lines=1000000
skew=0.8
seed=1
repeats=${BENCH_REPEATS:-5}
cpu=${BENCH_CPU:-$(taskset -cp $$ | sed 's/.*[ ,-]//')}
peer_accesses=${CACHESIM_ACCESSES:-10000000}
methods='footprint aet statstack exact shards:0.01'

wanted() { # METHOD: million accesses a second
    case $1 in
    footprint | aet) echo 60 ;;
    exact) echo 12 ;;
    shards:0.01) echo 150 ;;
    esac
}

# 24 sizes in lines, sqrt(2) steps up to 2^20
sizes_in_lines() { awk 'BEGIN { for (i = 17; i <= 40; i++) printf "%d\n", 2 ^ (i / 2) + 0.5 }'; }

listed() { paste -sd, -; }

trace_of() { # ACCESSES FORMAT: prints the file's name
    file=$bench/zipf-$1.$2
    [ -e "$file" ] || {
        echo "making $file" >&2
        zipf "$1" $lines $skew $seed "$2" >"$file.new"
        mv "$file.new" "$file"
    }
    echo "$file"
}

one_core() { # NAME COMMAND...: runs it, adds to the figures of that name
    name=$1
    shift
    usage "$work/$name" taskset -c "$cpu" "$@"
}

trace_once() { # NAME FILE METHOD
    one_core "$1" mtl trace "$2" --format u64 --method "$3" --json \
        --sizes "$(sizes_in_lines | awk '{ print $1 * 64 }' | listed)" >"$work/$1.json"
}

cachesim_share() { # ROUND: its share of the sizes
    sizes=$(sizes_in_lines | awk -v n="$repeats" -v r="$1" 'NR % n == r % n' | listed)
    [ -n "$sizes" ] || return 0
    (cd "$work" && one_core cachesim "$cachesim" "$peer_trace" oracleGeneral LRU "$sizes" \
        --ignore-obj-size 1 --num-thread 1 >cachesim.out 2>&1)
    cat "$work/cachesim.out" >>"$work/cachesim.all"
}

# Processor ticks of all CPUs so far: busy, idle.
ticks() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $5 + $6 }' /proc/stat; }

# Waits, at most half a minute, until hardly anybody else runs: who does shares caches and memory.
quiet() {
    for _ in $(seq 30); do
        before=$(ticks)
        sleep 1
        echo "$before $(ticks)" | awk '{ exit $3 - $1 > 0.05 * ($3 - $1 + $4 - $2) }' && return
    done
    echo "the machine is busy; figures will be low" >&2
}

# A column of the figures of a name: its median, or how many times the number it is.
median() { # NAME COLUMN
    cut -d' ' -f"$2" "$work/$1" | sort -g | awk '{ v[NR] = $1 }
        END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
least() { cut -d' ' -f"$2" "$work/$1" | sort -g | head -n 1; }
most() { cut -d' ' -f"$2" "$work/$1" | sort -g | tail -n 1; }

rate() { # ACCESSES SECONDS
    awk -v n="$1" -v s="$2" 'BEGIN { printf "%.1f", n / s / 1e6 }'
}

speed_row() { # METHOD
    memory=$(most "$1" 3)
    printf '| %s | %s | %s .. %s | %s | %s | %s | %s |\n' "$1" \
        "$(rate $accesses "$(median "$1" 1)")" "$(rate $accesses "$(most "$1" 1)")" \
        "$(rate $accesses "$(least "$1" 1)")" "$(rate $accesses "$(median "$1" 2)")" \
        "$(wanted "$1")" "$(awk -v b="$memory" 'BEGIN { printf "%.1f MB", b / 1e6 }')" \
        "$(awk -v b="$memory" -v c="$constant" -v m="$lines" 'BEGIN { printf "%.1f", (b - c) / m }')"
}

# Do the miss ratios of cachesim, printed with four digits, agree with ours?
agreement() {
    sed -nE 's/.*cache size +([0-9]+),.* miss ratio ([0-9.]+),.*/\1 \2/p' "$work/cachesim.all" |
        sort -u >"$work/theirs"
    jq -r '.points[] | "\(.size_bytes / 64) \(.miss_ratio)"' "$work/peer-exact.json" |
        awk 'NR == FNR { theirs[$1] = $2; next }
            { n++; d = $2 - theirs[$1]; same += $1 in theirs && d * d < 0.000051 ^ 2 }
            END { printf "%d of %d", same, n }' "$work/theirs" -
}

peer() {
    total=$(awk '{ s += $1 } END { print s }' "$work/cachesim")
    ours=$(median peer-exact 1)
    echo
    echo "The first $peer_accesses of these accesses, 24 sizes:"
    echo
    echo '| | CPU seconds | peak memory |'
    echo '|---|--:|--:|'
    printf '| libCacheSim cachesim, LRU, one thread | %.1f | %.1f MB |\n' "$total" \
        "$(awk -v b="$(most cachesim 3)" 'BEGIN { print b / 1e6 }')"
    printf '| mtl trace, exact, every size | %.2f | %.1f MB |\n' "$ours" \
        "$(awk -v b="$(most peer-exact 3)" 'BEGIN { print b / 1e6 }')"
    echo
    echo "That is $(awk -v a="$total" -v b="$ours" 'BEGIN { printf "%.0f", a / b }') times faster" \
        "(10 wanted). Their miss ratios and ours agree in the 4 digits they print at" \
        "$(agreement) sizes."
}

measure_rounds() {
    trace=$(trace_of $accesses u64)
    cat "$trace" >/dev/null # into the page cache
    zipf 1000 1 1 1 >"$work/nothing.u64"
    trace_once nothing "$work/nothing.u64" exact
    constant=$(most nothing 3)
    for round in $(seq "$repeats"); do
        quiet
        for method in $methods; do
            trace_once "$method" "$trace" "$method"
        done
        [ -n "$cachesim" ] || continue
        trace_once peer-exact "$peer_u64" exact
        cachesim_share "$round"
    done
}

speed() {
    cachesim=${CACHESIM:-}
    if [ -n "$cachesim" ]; then
        cachesim=$(command -v "$cachesim") && cachesim=$(realpath "$cachesim")
        peer_trace=$(realpath "$(trace_of "$peer_accesses" oracle)")
        peer_u64=$(trace_of "$peer_accesses" u64)
    fi
    measure_rounds
    echo "$accesses accesses, zipf($skew) over $lines lines, u64 in the page cache, one core;" \
        "million accesses a second, medians of $repeats interleaved runs of the whole program." \
        "Memory is what the process had resident at most, and that less what it has for a trace" \
        "of one line ($(awk -v b="$constant" 'BEGIN { printf "%.1f MB", b / 1e6 }')), per line."
    echo
    echo '| method | by CPU time | lowest .. highest | by the clock | wanted | peak memory | bytes a line |'
    echo '|---|--:|--:|--:|--:|--:|--:|'
    for method in $methods; do
        speed_row "$method"
    done
    if [ -n "$cachesim" ]; then
        peer
    else
        echo
        echo 'libCacheSim: not measured (CACHESIM=/path/to/cachesim).'
    fi
}
