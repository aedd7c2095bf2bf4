#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-trace: `mtl trace` as people call it, from files and pipes to curves, pictures and
# messages, against LRU by the book in awk. Needs neither root nor a kernel that can do anything.

cd "$(dirname "$0")/../.." || exit 1
command=trace
. tests/steps.sh
. tests/mtl_steps.sh

# --- traces

# loads, stores, both and code over 200 lines, the first ones often, some across lines
awk 'BEGIN {
    x = 12345
    print "==1== Lackey, an example Valgrind tool"
    for (i = 0; i < 20000; i++) {
        x = (x * 1103515245 + 12345) % 2147483648
        u = x / 2147483648
        x = (x * 1103515245 + 12345) % 2147483648
        address = 65536 + int(u * u * u * 12800)
        printf "%s %x,%d\n", substr("I  L S M", 1 + 2 * int(x / 536870912), 2), address, 1 + x % 16
    }
    print "==1== "
}' >"$work/sample"
gzip -c "$work/sample" >"$work/sample.gz"
valgrind --tool=lackey --trace-mem=yes --log-file="$work/real" true || die "valgrind has no lackey"
: >"$work/empty"
printf 'a\n' >"$work/one"
printf ' L 1000,4\n L 10zz,4\n' >"$work/odd"
head -c 700 "$work/sample.gz" >"$work/cut.gz"
head -c 4096 /dev/urandom >"$work/noise"
printf 'a b c a b c a b c\n' >"$work/abc"

# --- helpers

as_nobody() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid nobody --regid nogroup --clear-groups "$@"
    else
        "$@"
    fi
}

# --- curves

sizes=64,192,256,1024,1472,4096,5824,8192,16384

# the same numbers as awk, to 6 digits
by_the_book() { # TRACE LINE CODE OPTION...
    trace=$1
    line=$2
    code=$3
    shift 3
    run "$trace" --line-size "$line" --sizes $sizes --json "$@"
    [ "$status" = 0 ] || shown || return
    # shellcheck disable=SC2046
    set -- $(awk -v line="$line" -v code="$code" -v sizes=$sizes -f tests/trace/lru.awk "$trace")
    jq -er --arg book "$*" '($book | split(" ") | map(tonumber)) as $want
        | ([.accesses, .distinct] + [.points[].miss_ratio]) as $have
        | $want, $have,
          if .cold == .distinct and ($want | length) == ($have | length) and
             ([range(0; $want | length) | ($want[.] - $have[.]) | fabs] | max) <= 0.5000001e-6
          then "alike" else error("they differ") end' "$work/out"
}

step "lines of 64 bytes" by_the_book "$work/sample" 64 0
step "lines of 16 bytes" by_the_book "$work/sample" 16 0
step "accesses to code" by_the_book "$work/sample" 64 1 --instructions
step "a real program" by_the_book "$work/real" 64 0

same_from_everywhere() {
    "$mtl" trace "$work/sample" --json >"$work/plain" &&
        "$mtl" trace "$work/sample.gz" --json | cmp - "$work/plain" &&
        "$mtl" trace - --json <"$work/sample.gz" | cmp - "$work/plain" &&
        "$mtl" trace - --format lackey --method exact --json <"$work/sample" | cmp - "$work/plain" &&
        cat "$work/sample" | as_nobody "$mtl" trace - --json | cmp - "$work/plain"
}
step "file, pipe, compressed, unprivileged" same_from_everywhere

default_sizes() { # one line to the first that holds all, √2 apart or closer; null where it holds all
    answers '.points | .[0].size_bytes == 64 and all(.size_bytes % 64 == 0)
        and .[-1].fill_time_accesses == null and (.[:-2] | all(.fill_time_accesses > 0))
        and ([.[1:], .[:-1]] | transpose | all(.[0].size_bytes > .[1].size_bytes
            and .[0].miss_ratio <= .[1].miss_ratio))' "$work/sample" &&
        answers '.points[-1].size_bytes >= 64 * .distinct
            and .points[-3].size_bytes < 64 * .distinct
            and .points[-1].miss_ratio == .cold / .accesses' "$work/sample"
}
step "default sizes" default_sizes

methods() {
    sizes=64,256,1K,4K,16K,32K,64K,80K
    run "$work/real" --json --sizes $sizes
    exact=$(jq -c '[.points[].miss_ratio]' "$work/out")
    distinct=$(jq .distinct "$work/out")
    for method in footprint aet statstack shards:1 shards-size:100000; do
        answers ".method == \"$method\" and .distinct == $distinct and
            ([[.points[].miss_ratio], $exact] | transpose | map(.[0] - .[1] | fabs) | add / length)
                < 0.02" "$work/real" --method $method --sizes $sizes || return 1
    done
}
step "methods come close" methods

narrow() { # nothing that people read is wider than 80 columns, but for sentences
    for option in --help --compare "--emit footprint" "--emit fill-time" "--emit residence" ""; do
        # shellcheck disable=SC2086
        run "$work/sample" $option
        ! grep -vE '^[A-Z0-9].*\.$' "$work/out" | grep -E '.{81}' || return 1
    done
}
step "80 columns" narrow

step "caches" answers '.caches | length == 2 and .[0].sets == 16 and
    (.[0].miss_ratio - .[0].predicted_miss_ratio | fabs) < 0.02 and
    (.[0].miss_ratio - .[0].predicted_miss_ratio_distances | fabs) < 0.02 and
    .[1].line_bytes == 16 and .[1].predicted_miss_ratio_distances == null' \
    "$work/sample" --cache 4K:4:64 --cache 512:2:16

compare() {
    answers '(.methods | map(.method)) == ["exact", "footprint", "aet", "statstack", "shards:0.01",
        "shards:0.1", "shards-size:8192"] and .methods[0].max_absolute_error == 0 and
        (.methods[1:4] | all(.mean_absolute_error < 0.02 and .cpu_seconds > 0 and .memory_bytes > 0)) and
        (.sizes | length) == (.methods[3].miss_ratios | length)' "$work/real" --compare &&
        run "$work/real" --compare && grep -q '^shards-size:8192 ' "$work/out" || shown
}
step "all methods compared" compare

csv_is_json() {
    run "$work/sample" --csv --sizes 64,1K,8K,16K
    cp "$work/out" "$work/csv"
    run "$work/sample" --json --sizes 64,1K,8K,16K
    [ "$(jq '.points | length' "$work/out")" = "$(($(wc -l <"$work/csv") - 1))" ] &&
        head -n 1 "$work/csv" | grep -qx 'size_bytes,fill_time_accesses,miss_ratio' &&
        tail -n 1 "$work/csv" | grep -qE '^[0-9]+,,0\.[0-9]+$' || shown
}
step "CSV" csv_is_json

csv_of_caches() { # the same names and numbers as in JSON
    run "$work/sample" --cache 4K:4:64 --cache 512:2:16 --json
    jq -r '.caches | (.[0] | keys_unsorted | join(",")), (.[] | [.[]] | map(. // "" | tostring) | join(","))' \
        "$work/out" | cut -d , -f 1-7 >"$work/caches"
    run "$work/sample" --cache 4K:4:64 --cache 512:2:16 --csv
    [ "$(wc -l <"$work/out")" = 3 ] && cut -d , -f 1-6 "$work/out" >"$work/csv" &&
        cut -d , -f 1-6 "$work/caches" | cmp - "$work/csv" || shown
}
step "CSV of caches" csv_of_caches

for_people() {
    run "$work/sample"
    [ "$status" = 0 ] && grep -q '^sample (lackey): [0-9]* accesses to 2[0-9]* lines of 64 bytes' "$work/out" &&
        grep -q '^method exact; ' "$work/out" && grep -qE '^ +64B +1 +0\.[0-9]{6}$' "$work/out" &&
        grep -q 'miss ratio$' "$work/out" && tail -n 1 "$work/out" | grep -q 'holds its working set.*\.$' || shown
}
step "a report" for_people

# --- what else there is

emissions() {
    for what in ai rt rd pd-rt pd-rd rt-hist rd-hist footprint fill-time aet inter-miss residence \
        easton-fagin; do
        answers ".emit == \"$what\" and (.points // .values | length) > 3" \
            "$work/sample" --emit $what || return 1
        run "$work/sample" --emit $what --csv
        [ "$status" = 0 ] && [ "$(wc -l <"$work/out")" -gt 3 ] || shown || return 1
        run "$work/sample" --emit $what
        [ "$status" = 0 ] && [ "$(wc -l <"$work/out")" -gt 3 ] || shown || return 1
    done
}
step "emissions in every form" emissions

sequence() { # WHAT EXPECTED
    run "$work/abc" --emit "$1"
    [ "$(tr '\n' ' ' <"$work/out")" = "$2" ] || shown
}
step "reuse times" sequence rt "inf inf inf 3 3 3 3 3 3 "
step "reuse distances by datum" sequence pd-rd "1 1 3 3 2 2 3 3 3 3 3 3 "

histogram_of_sequence() { # of distances: counted from the sequence
    "$mtl" trace "$work/sample" --emit rd | sort -n | uniq -c |
        awk '$2 == "inf" { never = $1; next } { print $2 "," $2 "," $1 "," $2 } END { print ",," never "," }' \
            >"$work/counted"
    run "$work/sample" --emit rd-hist --csv
    tail -n +2 "$work/out" | cmp - "$work/counted"
}
step "a histogram is its sequence counted" histogram_of_sequence

a_reader_that_leaves() {
    "$mtl" trace "$work/real" --emit rt --instructions | head -n 1 | grep -qx inf
}
step "a reader that leaves early" a_reader_that_leaves

# --- pictures

picture() { # ENDING MAGIC
    mkdir -p "$work/pictures"
    run "$work/sample" --plot "$work/pictures/a b'c.$1" --json
    [ "$status" = 0 ] && [ ! -s "$work/err" ] && [ -s "$work/out" ] &&
        head -c 200 "$work/pictures/a b'c.$1" | grep -qaF -- "$2" &&
        [ "$(ls "$work/pictures")" = "a b'c.$1" ] || shown
    code=$?
    rm -rf "$work/pictures"
    return $code
}
step "SVG" picture svg '<svg'
step "PNG" picture png PNG
step "PDF" picture pdf '%PDF'

axis_in_sizes() {
    run "$work/sample" --plot "$work/x.svg" --compare
    for text in '>4K<' '>miss ratio<' '>cache size<' '>shards:0.1<' '>sample: ' 'lines of 64 bytes<'; do
        grep -qF -- "$text" "$work/x.svg" || { echo "no $text"; return 1; }
    done
}
step "what a picture says" axis_in_sizes

caches_in_picture() {
    run "$work/sample" --plot "$work/x.svg" --cache 4K:4:64 --cache 1K:1:64
    for text in '>4K:4:64<' '>1K:1:64<' '>set-associative<'; do
        grep -qF -- "$text" "$work/x.svg" || { echo "no $text"; return 1; }
    done
    run tests/unit/data/traces/perf.events --plot "$work/x.svg"
    grep -q 'samples, not all accesses' "$work/x.svg" || { echo "no samples"; return 1; }
}
step "caches and samples in a picture" caches_in_picture

no_gnuplot() {
    echo old >"$work/old.svg"
    mkdir "$work/bin"
    PATH=$work/bin run "$work/sample" --plot "$work/old.svg"
    [ "$status" = 1 ] && grep -q 'install the package gnuplot-nox' "$work/err" &&
        [ "$(cat "$work/old.svg")" = old ] && [ "$(ls "$work"/old* | wc -l)" = 1 ] || shown
}
step "no gnuplot" no_gnuplot

# --- progress

cat >"$work/slow.sh" <<SLOW
{ cat "$work/real"; sleep 1.3; cat "$work/real"; } | "$mtl" trace - --csv >/dev/null
SLOW
progress_seen() { # after a second, and gone at the end
    script -qec "sh '$work/slow.sh'" "$work/seen" >/dev/null
    grep -q 'accesses, .*/s' "$work/seen" &&
        grep -v '^Script ' "$work/seen" | tail -n 1 | grep -q "$(printf '\r\033\\[K')\$" ||
        { cat -v "$work/seen"; return 1; }
}
step "progress on a terminal" progress_seen
no_progress() { sh "$work/slow.sh" 2>&1 | cmp - /dev/null; }
step "no progress elsewhere" no_progress

# --- what is not quite right

a_sample() { # of accesses is said to be one, beside the output or in it
    cp tests/unit/data/traces/perf.events "$work/perf"
    for option in --json --csv "--emit rt" "--compare --csv" "--emit rt-hist --json"; do
        # shellcheck disable=SC2086
        run "$work/perf" $option
        [ "$status" = 0 ] && grep -q '^mtl: note: these are samples' "$work/err" || shown || return 1
    done
    run "$work/perf"
    [ "$status" = 0 ] && [ ! -s "$work/err" ] && grep -q '^note: these are samples' "$work/out" || shown
}
step "samples are not a trace" a_sample

altered() { # blanks and line ends of a file that has been elsewhere
    "$mtl" trace "$work/sample" --json >"$work/plain"
    for change in 's/$/\r/' 's/^ *//' 's/^ */\t/' 's/ */&  /'; do
        sed "$change" "$work/sample" | "$mtl" trace - --json | cmp - "$work/plain" || return 1
    done
}
step "lackey with other blanks and line ends" altered

guessed() { # to be tokens, because everything is, is said
    run "$work/abc" --json
    grep -q '^mtl: note: taken as tokens' "$work/err" || shown || return 1
    run "$work/abc" --json --format tokens
    [ ! -s "$work/err" ] || shown || return 1
    sed -n 's/^ [LSM] \(.*\),.*/0x\1/p' "$work/sample" >"$work/hex"
    run "$work/hex"
    grep -q 'are not grouped into lines' "$work/out" || shown || return 1
    "$mtl" trace "$work/hex" --format perf-script --csv >"$work/by-perf" 2>/dev/null &&
        perl -ne 'print pack "Q<", hex' "$work/hex" | "$mtl" trace - --format u64 --csv |
        cmp - "$work/by-perf"
}
step "words that look like something else" guessed

# --- what is wrong

step "an empty trace" refuses 1 'empty is empty' "$work/empty"
step "an empty pipe" refuses 1 'standard input is empty' - </dev/null
step "no such file" refuses 1 'No such file' "$work/nowhere"
step "a directory" refuses 1 '[Dd]irectory' "$work"
step "an address that does not parse" refuses 1 '\b2\b' "$work/odd" --format lackey
step "a compressed file cut off" refuses 1 'cut.gz' "$work/cut.gz"
step "binary where text is expected" refuses 1 'noise' "$work/noise" --format lackey
step "size 0" refuses 2 "size '0' is out of range" "$work/abc" --sizes 0
step "an unknown format" refuses 2 'lackey, perf-script, tokens, u64' "$work/abc" --format elf
step "an unknown method" refuses 2 'exact, footprint, aet, statstack' "$work/abc" --method best
step "an unknown emission" refuses 2 'rt-hist, rd-hist, footprint' "$work/abc" --emit best
step "a cache that cannot be" refuses 2 'sets x WAYS x LINE' "$work/abc" --cache 1000:8:64
step "no file" refuses 2 'FILE . - is missing'
step "too many data for the memory" refuses 1 'more than the 80K of memory.*--memory SIZE' \
    "$work/real" --memory 80K --instructions
out_of_machine() { # FILE PATTERN METHOD: what the machine does not give is not blamed on --memory
    ! (ulimit -v 60000 && exec "$mtl" trace "$1" --method "$3" --memory 10G >"$work/out" 2>"$work/err") &&
        grep -q "the machine has no more memory, after $2" "$work/err" || { status=-; shown; }
}
head -c 16000000 /dev/urandom >"$work/large"
seq 1 1500000 >"$work/many"
step "too many data for the machine" out_of_machine "$work/large" '.* distinct lines' exact
step "too many names for the machine" out_of_machine "$work/many" 'the names of' shards:0.001
step "too many names for the memory" refuses 1 \
    'more than the 15M of memory that names of tokens may use.*--memory SIZE' "$work/many" --memory 30M
long=$work/$(printf '%0200d' 0)
mkdir -p "$long/$(printf '%0200d' 1)"
step "a long name" refuses 1 '0001: Is a directory$' "$long/$(printf '%0200d' 1)"
raw_name() { # no control character of it
    printf ' L 1000,4\nx\n' >"$work/$(printf 'a\033]0;b')"
    refuses 1 'a\?\]0;b, line 2: no record' "$work/$(printf 'a\033]0;b')" && ! grep -q "$(printf '\033')" "$work/err"
}
step "a name that would move the cursor" raw_name
step "a second value" refuses 2 'method is given twice' "$work/abc" --method aet --method exact
printf 'abc abc ab\nabc\0\n' >"$work/damaged"
step "a damaged byte in text" refuses 1 'line 2: byte 0x00 is binary, not tokens' "$work/damaged"
step "not enough to begin" refuses 1 'even to begin' "$work/abc" --memory 1
step "the full trace in little memory" answers '.accesses > 10000' "$work/real" --memory 400K \
    --method shards-size:50
step "one access" \
    answers '.accesses == 1 and .points == [{"size_bytes": 1, "fill_time_accesses": null,
    "miss_ratio": 1}]' "$work/one" --format tokens
full_disk() {
    for option in --json --csv --emit=rt --compare --cache=4K:4:64; do
        ! "$mtl" trace "$work/sample" $option >/dev/full 2>"$work/err" || return 1
        grep -qE 'No space left|cannot' "$work/err" || return 1
    done
}
step "a full disk" full_disk
one_message() { # about the output, not about the trace
    for option in --json --csv "--emit rt" "--emit rt --json" "--emit footprint" --compare ""; do
        # shellcheck disable=SC2086
        ! "$mtl" trace "$work/sample" $option >/dev/full 2>"$work/err" || return 1
        [ "$(cat "$work/err")" = "mtl: cannot write to standard output: No space left on device" ] ||
            { cat "$work/err"; return 1; }
    done
}
step "a full disk is said once" one_message
mkfifo "$work/fifo"
step "comparing what can be read once" refuses 2 'fifo cannot give: name a regular file' \
    "$work/fifo" --compare

steps_total
