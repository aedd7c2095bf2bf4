# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# The part "accuracy" of trace.sh: real programs recorded by record.sh, approximate methods against
# the exact curve, set-associative predictions against simulation.

programs=${BENCH_PROGRAMS:-bzip2 gzip xz sort perl python3 sqlite3}
caches='32K:8:64 48K:12:64 512K:8:64 1M:16:64'

recorded() { # the programs there is a trace of
    for program in $programs; do
        [ ! -e "$bench/$program.lackey.gz" ] || echo "$program"
    done
}

compare() { # PROGRAM
    mtl trace "$bench/$1.lackey.gz" --format lackey --compare --json >"$work/$1.compare"
    options=
    for cache in $caches; do
        options="$options --cache $cache"
    done
    # shellcheck disable=SC2086
    mtl trace "$bench/$1.lackey.gz" --format lackey $options --json >"$work/$1.caches"
}

error_row() { # PROGRAM
    jq -r --arg program "$1" '
        def digits(n): . * pow(10; n) | round | tostring
            | if length <= n then "0" * (n + 1 - length) + . else . end
            | .[:-n] + "." + .[-n:];
        def error(name): .methods[] | select(.method == name)
            | "\(.mean_absolute_error | digits(4)) (\(.max_absolute_error | digits(4)))";
        "| \($program) | \(.accesses / 1e6 | digits(1)) M | \(.distinct) | " +
        "\(error("footprint")) | \(error("aet")) | \(error("statstack")) |"' "$work/$1.compare"
}

cache_rows() { # PROGRAM
    jq -r --arg program "$1" --arg caches "$caches" '
        def digits(n): . * pow(10; n) | round | fabs | tostring
            | if length <= n then "0" * (n + 1 - length) + . else . end
            | .[:-n] + "." + .[-n:];
        def off(p): (p - .miss_ratio) as $d
            | "\(p | digits(4)) (\(if $d < 0 then "-" else "+" end)\($d | digits(4)))";
        [.caches, ($caches | split(" "))] | transpose[] | .[1] as $name | .[0] |
        "| \($program) | \($name) | \(.miss_ratio | digits(4)) | \(off(.predicted_miss_ratio)) | " +
        "\(off(.predicted_miss_ratio_measured_sets)) | \(off(.predicted_miss_ratio_patent)) | " +
        "\(off(.predicted_miss_ratio_distances)) |"' "$work/$1.caches"
}

# The greatest of the absolute differences in a file's cache predictions.
worst() { # FIELD
    jq -s --arg field "$1" '[.[].caches[] | .[$field] - .miss_ratio | fabs] | max' \
        "$work"/*.caches | awk '{ printf "%.4f", $1 }'
}

accuracy() {
    # shellcheck disable=SC2086
    tests/bench/record.sh "$bench" $programs
    for program in $(recorded); do
        compare "$program"
    done
    echo "Data accesses of real programs (tests/bench/record.sh), lines of 64 bytes. Absolute error" \
        "of the miss ratio against the exact one, over sizes from one line to all, a factor of" \
        "sqrt(2) apart: mean (greatest)."
    echo
    echo '| program | accesses | lines | footprint | AET | StatStack |'
    echo '|---|--:|--:|--:|--:|--:|'
    for program in $(recorded); do
        error_row "$program"
    done
    echo
    echo "Set-associative caches: the simulated miss ratio, and predictions with what they are off" \
        "by. From reuse times: converted to expected distances, then thinned, sets taken with" \
        "1/S or as measured; in the patent's order, thinned first. From exact distances: thinned."
    echo
    echo '| program | cache | simulated | predicted, 1/S | measured sets | patent | exact distances |'
    echo '|---|---|--:|--:|--:|--:|--:|'
    for program in $(recorded); do
        cache_rows "$program"
    done
    echo
    echo "Off by at most $(worst predicted_miss_ratio) (1/S)," \
        "$(worst predicted_miss_ratio_measured_sets) (measured sets)," \
        "$(worst predicted_miss_ratio_patent) (patent)," \
        "$(worst predicted_miss_ratio_distances) (exact distances)."
}
