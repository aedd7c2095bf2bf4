# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# The part "composition" of trace.sh: what `mtl share` says of real programs that share a cache, from
# the curve of each alone, against an exact simulation of their interleaved traces (together.c).


# sizes in lines: sqrt(2) steps from 1 KiB to 32 MiB
composition_sizes() { awk 'BEGIN { for (i = 8; i <= 38; i++) printf "%d\n", 2 ^ (i / 2) + 0.5 }' | paste -sd, -; }

pack() { # PROGRAM
    [ -e "$bench/$1.data" ] || {
        echo "reading $1" >&2
        mtl trace "$bench/$1.lackey.gz" --format lackey --emit ai | together pack >"$bench/$1.data.new"
        mv "$bench/$1.data.new" "$bench/$1.data"
    }
    [ -e "$work/$1.json" ] ||
        mtl trace "$bench/$1.lackey.gz" --format lackey --json >"$work/$1.json"
}

predicted() { # SIZE-IN-LINES PROGRAM...: the miss ratio of each, a row
    size=$(($1 * 64))
    shift
    (cd "$work" && mtl share "$@" --size $size --json) |
        jq -r '[.programs[].miss_ratio_together] | map(tostring) | join(" ")'
}

# One row: which programs, the mean error over sizes and programs, the greatest one and where it is.
composition_row() { # PROGRAM...
    files= curves=
    for program; do
        files="$files $bench/$program.data"
        curves="$curves $program.json"
    done
    # shellcheck disable=SC2086
    together "$(composition_sizes)" $files >"$work/exact"
    composition_sizes | tr , '\n' | while read -r lines; do
        # shellcheck disable=SC2086
        echo "$lines $(predicted "$lines" $curves)"
    done >"$work/predicted"
    # shellcheck disable=SC2086
    lines=$(cd "$work" && jq -s 'map(.distinct) | add' $curves)
    awk -v names="$*" -v lines="$lines" '
        NR == FNR { for (s = 1; s <= NF; s++) exact[s, FNR] = $s; n = FNR; next }
        $1 >= lines { next }
        { for (p = 1; p <= n; p++) {
            e = $(p + 1) - exact[FNR, p]; e = e < 0 ? -e : e; sum += e; count++
            if (e > most) { most = e; where = $1 / 16; who = p } } }
        END { split(names, name, " "); all = names; gsub(" ", " + ", all)
            printf "| %s | %.4f | %.4f | %s, %d KiB |\n", all, sum / count, most, name[who], where }
    ' "$work/exact" "$work/predicted"
}

# Every subset of so many of the programs.
subsets() { # SIZE PROGRAM...
    awk -v k="$1" -v list="$(shift && echo "$*")" '
        function choose(from, left, chosen) {
            if (left == 0) { print substr(chosen, 2); return }
            for (; from + left <= n + 1; from++) choose(from + 1, left - 1, chosen " " name[from])
        }
        BEGIN { n = split(list, name, " "); choose(1, k, "") }'
}

composition() {
    # shellcheck disable=SC2086
    tests/bench/record.sh "$bench" $programs
    for program in $(recorded); do
        pack "$program"
    done
    echo "Programs that share a cache and start and end together: miss ratio of each as \`mtl share\`" \
        "predicts it from the curves of each alone, against an exact simulation of their interleaved" \
        "traces; absolute error over all programs and sizes from 1 KiB to all their lines, a factor of" \
        "sqrt(2) apart."
    for k in 2 3; do
        echo
        echo '| programs | mean error | greatest | where |'
        echo '|---|--:|--:|---|'
        # shellcheck disable=SC2046
        subsets $k $(recorded) | while read -r subset; do
            # shellcheck disable=SC2086
            composition_row $subset
        done
    done
}
