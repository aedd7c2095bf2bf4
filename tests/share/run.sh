#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-share: `mtl share` and `mtl partition` as people call them, on traces of real programs:
# answers that agree with each other and with the curves, messages, exit codes.

cd "$(dirname "$0")/../.." || exit 1
command=
. tests/steps.sh
. tests/mtl_steps.sh

# --- curves

trace() { # NAME COMMAND...: its curve as $work/NAME.json
    name=$1
    shift
    valgrind --tool=lackey --trace-mem=yes --log-file="$work/$name.trace" "$@" >"$work/none" ||
        die "valgrind has no lackey"
    "$mtl" trace "$work/$name.trace" --json >"$work/$name.json" || die "no curve of $name"
}

trace a true
trace b expr 12345678901234567890 '*' 98765432109876543210
awk 'BEGIN { for (i = 0; i < 60000; i++) printf " L %x,4\n", 65536 + i % 512 * 64 }' |
    "$mtl" trace - --format lackey --json >"$work/scan.json"
printf 'a b c a b c\n' | "$mtl" trace - --format tokens --json >"$work/data.json"
head -c 300 "$work/a.json" >"$work/cut.json"
a=$work/a.json b=$work/b.json scan=$work/scan.json

# --- helpers

near='def near(a; b): ((a - b) | fabs) <= 1e-9 * ([(a | fabs), 1] | max);'

# --- cliffs

# A loop of 1000 lines misses everything in any smaller cache, so 15 of 16 ways of 4K are no use to
# it: what the curve says without --sizes must show that.
awk 'BEGIN { for (i = 0; i < 40000; i++) printf " L %x,4\n", 65536 + i % 1000 * 64 }' |
    "$mtl" trace - --format lackey --json >"$work/loop.json"
awk 'BEGIN { srand(5); for (i = 0; i < 40000; i++)
    printf " L %x,4\n", 65536 + 64 * int(3000 ^ rand()) }' |
    "$mtl" trace - --format lackey --json >"$work/skew.json"
step "a cliff between listed sizes is seen" answers \
    '.groups[0].ways == 1 and .groups[1].ways == 15 and .advised' \
    partition "$work/loop.json" "$work/skew.json" --ways 16 --size 64K
step "sizes are listed where a curve falls" jq -e \
    '[.points[] | select(.size_bytes == 63936 or .size_bytes == 64000) | .miss_ratio] == [1, 0.025]' \
    "$work/loop.json"

# --- sharing

step "occupancies fill the cache, misses rise" answers "$near"'
    .unit == "run" and .size_bytes == 65536 and .fill_time > 0 and
    near([.programs[].occupancy_bytes] | add; 65536) and
    near(.misses_together; [.programs[].misses_together] | add) and
    all(.programs[]; .misses_together >= .misses_alone and
        ([.hurt_by[].misses_without] | max) <= .misses_together and
        near(.miss_ratio_together * .misses_alone; .misses_together * .miss_ratio_alone))' \
    share "$a" "$b" "$scan" --size 64K
step "alone is the curve at that size" answers "$near"'
    near(.programs[0].miss_ratio_alone;
        '"$("$mtl" trace "$work/a.trace" --sizes 16K --json | jq '.points[0].miss_ratio')"')' \
    share "$(
        "$mtl" trace "$work/a.trace" --sizes 1K,4K,16K,64K --json >"$work/few.json"
        echo "$work/few.json"
    )" "$b" --size 16K
step "a cache for all" answers '.fill_time == null and .misses_together == .misses_alone' \
    share "$a" "$b" --size 1G
step "numbers of data" answers '.size_bytes == 2 and .programs[1].name == "copy"' \
    share "$work/data.json" "$(cp "$work/data.json" "$work/copy.json" && echo "$work/copy.json")" \
    --size 2

told() {
    run share "$a" "$scan" --size 32K
    [ "$status" = 0 ] && [ ! -s "$work/err" ] && grep -q '^scan pays most for sharing' "$work/out" &&
        ! grep -v '\.$' "$work/out" | grep -E '.{81}' || shown
}
step "a table in 80 columns" told
drawn() {
    run share "$a" "$scan" --size 32K --csv --plot "$work/both.svg"
    [ "$status" = 0 ] && [ "$(wc -l <"$work/out")" = 3 ] &&
        grep -q 'scan together' "$work/both.svg" && grep -q '>32K<' "$work/both.svg" || shown
}
colours() { # one for each program, and no steps
    mkdir -p "$work/bin" && printf '#!/bin/sh\ncat\n' >"$work/bin/gnuplot" && chmod +x "$work/bin/gnuplot" &&
        PATH=$work/bin:$PATH run share "$a" "$scan" --size 32K --plot "$work/script.svg"
    [ "$(grep -o 'using 1:2 with lines lw 2 lc [0-9]* dt [0-9]*' "$work/script.svg" | sed 's/.*lc //' | tr '\n' ' ')" = \
        '1 dt 2 1 dt 1 2 dt 2 2 dt 1 ' ] && grep -q "^set label '32K' at 32768," "$work/script.svg" || shown
}
step "a picture, and a row for each pair" drawn
step "one colour for a program, and a mark at the size" colours

# --- partition

# the members and types that docs/PROTOCOL.md promises
schema='(.groups | type) == "array" and ([.total, .equal_share, .unpartitioned, .regret_bound] |
    all(type == "number")) and all(.groups[]; (.name | type) == "string" and
    (.mask | test("^0x[0-9a-f]+$")) and (.miss_ratio | type) == "number")'
step "what a partition says" answers "$schema"' and ([.groups[].name] == ["a", "b"]) and
    ([.groups[].ways] | add) == 16' partition "$a" "$b" --ways 16 --size 32M
step "the best of all divisions" answers "$near"'
    .total <= .equal_share and .total <= .unpartitioned * 1.05 and .regret_bound == 0 and
    near(.total; [.groups[].misses] | add) and ([.groups[].ways] | add) == 16' \
    partition "$a" "$b" "$scan" --ways 16 --size 128K

# each division in two, asked of `mtl trace` itself at the size of each part
by_the_book() {
    sizes=$(seq -s, 8192 8192 122880)
    "$mtl" trace "$work/a.trace" --sizes "$sizes" --json >"$work/fine-a.json"
    "$mtl" trace "$work/b.trace" --sizes "$sizes" --json >"$work/fine-b.json"
    best=$(jq -es '. as [$a, $b] | [range(0; 15) | . as $i | select(($a.points | length) > $i) |
        select(($b.points | length) > 14 - $i) | $a.points[$i].miss_ratio * $a.accesses +
        $b.points[14 - $i].miss_ratio * $b.accesses] | min' "$work/fine-a.json" "$work/fine-b.json")
    answers "$near near(.total; $best)" partition "$work/fine-a.json" "$work/fine-b.json" \
        --ways 16 --size 128K
}
step "as many misses as the traces say, and no division has fewer" by_the_book
step "a guarantee" answers 'all(.groups[]; .misses <= .equal_share)' \
    partition "$a" "$b" "$scan" --ways 16 --size 128K --objective guarantee
step "fairness" answers '.worst_slowdown.total <= .worst_slowdown.equal_share' \
    partition "$a" "$b" "$scan" --ways 16 --size 128K --objective fair
step "weights" answers "$near"'near(.total; 1e6 * .groups[0].misses + .groups[1].misses) and
    .groups[0].ways > '"$("$mtl" partition "$a" "$b" --ways 16 --size 128K --weight b=1e6 --json |
    jq '.groups[0].ways')" \
    partition "$a" "$b" --ways 16 --size 128K --weight a=1e6
step "clusters" answers "([.groups[].cluster] | max) < 3 and .total <= $(
    "$mtl" partition "$a" "$b" "$scan" --ways 4 --size 64K --json | jq .total)" \
    partition "$a" "$b" "$scan" --ways 4 --size 64K --clusters

# --- the machine, from a copy of its sysfs

cache=$work/root/sys/devices/system/cpu/cpu0/cache/index3
mkdir -p "$cache"
echo Unified >"$cache/type"
echo 3 >"$cache/level"
echo 128K >"$cache/size"
echo 16 >"$cache/ways_of_associativity"
step "the size from sysfs" answers '.size_bytes == 131072' share "$a" "$b" --root "$work/root"
step "size and ways from sysfs" answers '.size_bytes == 131072 and .ways == 16' \
    partition "$a" "$b" --root "$work/root"

# --- groups of processes, below a root with the control groups of a container and a service

procs() { # GROUP PID...: a control group with these
    mkdir -p "$work/root/sys/fs/cgroup/$1"
    group=$work/root/sys/fs/cgroup/$1/cgroup.procs
    shift
    printf '%s\n' "$@" >"$group"
}
procs system.slice 1
procs system.slice/redis.service 10 11
procs system.slice/docker-4b2f0ad2ab11.scope 20
away="--size 1M --root $work/root --socket $work/nothing"
step "groups are asked of mtld" refuses 1 'mtld is not running' \
    share system.slice/redis.service /system.slice/docker-4b2f0ad2ab11.scope $away
step "a process in two groups" refuses 2 'process 10 is in redis.service and in system.slice' \
    share system.slice/redis.service cgroup:system.slice $away
step "a process that is in a group" refuses 2 'process 11 is in 11 and in redis.service' \
    partition 11 /sys/fs/cgroup/system.slice/redis.service --ways 4 $away
step "neither file nor group" refuses 1 'nor is there a control group of that name' \
    share "$a" system.slice/none $away
step "no such control group" refuses 1 'there is no control group none' share "$a" cgroup:none $away
step "no second name of a group of resctrl" refuses 2 'resctrl:./web names no group of resctrl' \
    share "$a" resctrl:./web $away
step "no part of a group of resctrl" refuses 2 'names no group' share "$a" resctrl:web/mon_data $away
step "a monitoring group may be named" refuses 1 'offers no resctrl' \
    share "$a" resctrl:a..b/mon_groups/x $away
step "an empty operand" refuses 2 'an operand is empty' share "$a" "" $away
step "no group of resctrl" refuses 1 'offers no resctrl' share "$a" resctrl:web $away
step "groups of others stay" refuses 2 '--apply never touches groups of others, and resctrl:web' \
    partition 1 resctrl:web --apply --root "$work/root"
step "no caches to choose from" refuses 1 'cannot choose a --domain: .*offers no resctrl' \
    partition "$a" "$b" --domain 0 --root "$work/root"
step "not ids of caches" refuses 2 '--domain: .0,. is not a list of caches' partition "$a" "$b" --domain 0,
step "saved curves are not measured" refuses 2 'a saved curve cannot be measured' \
    share "$a" "$b" --size 1M --measure 1

# --- following curves: files that are replaced between rounds

# N lines of $work/lines have PATTERN, within a minute
said() {
    for _ in $(seq 600); do
        [ "$(grep -cE -- "$2" "$work/lines")" -lt "$1" ] || return 0
        sleep 0.1
    done
    return 1
}
curve() { # NAME FROM: whole or not at all
    cp "$work/$2.json" "$work/$1.new" && mv "$work/$1.new" "$work/$1.json"
}
followed() {
    : >"$work/lines"
    curve one scan
    curve two a
    "$mtl" partition "$work/one.json" "$work/two.json" --ways 16 --size 32K --watch --interval 0.05 \
        --gain 0 --pause 0 --rounds 1 --json >"$work/lines" 2>"$work/err" &
    watcher=$!
    said 1 '"decision":"change","dry_run":true,"applied":false' &&
        head -c 300 "$work/a.json" >"$work/two.new" && mv "$work/two.new" "$work/two.json" &&
        said 1 '"event":"skipped".*breaks off' &&
        curve one a && curve two scan && said 2 '"decision":"change"'
    good=$?
    kill $watcher
    wait $watcher && [ $good = 0 ] && tail -n 1 "$work/lines" | is_true '.event == "ended"' ||
        { cat "$work/lines" "$work/err"; return 1; }
}
step "a division follows files that change, and ends when told to" followed
mkfifo "$work/pipe"
step "no pipe that keeps it waiting" refuses 2 'pipe is none that can be read again' \
    partition "$a" "$work/pipe" --ways 4 --size 64K --watch
# The signals that it waits for are the first file it opens.
closed_output() {
    status=0
    timeout 20 "$mtl" partition "$a" "$b" --ways 4 --size 64K --watch >&- 2>"$work/err" || status=$?
    [ "$status" = 1 ] && [ "$(cat "$work/err")" = \
        "mtl: cannot write to standard output: Bad file descriptor" ] || { cat "$work/err"; return 1; }
}
step "a closed output is no other file" closed_output
step "what goes with --watch only" refuses 2 '--pause goes with --watch' partition "$a" "$b" --pause 3
step "no patience beside rounds" refuses 2 '--wait and --watch' partition "$a" "$b" --watch --wait 3

# --- what is wrong

step "one program" refuses 2 'name two or more' share "$a"
step "no program" refuses 2 'PID.FILE.GROUP... is missing' share
step "the same name twice" refuses 2 'two operands are called a' partition "$a" "$a" --ways 2 --size 2K
step "no such file" refuses 1 'nowhere.json: No such file' share "$a" "$work/nowhere.json" --size 1M
step "a curve cut off" refuses 1 'breaks off after byte 300' share "$a" "$work/cut.json" --size 1M
step "another program's JSON" refuses 1 'neither a curve of mtld nor one of mtl trace' \
    share "$a" "$(echo '{}' >"$work/empty.json" && echo "$work/empty.json")" --size 1M
step "bytes and data" refuses 2 'numbers of data in data and bytes in a' \
    share "$a" "$work/data.json" --size 1M
step "more groups than ways" refuses 2 '2 groups are more than 1 way:' \
    partition "$a" "$b" --ways 1 --size 1M
step "not a multiple" refuses 2 'do not make 15 equal ways' partition "$a" "$b" --ways 15 --size 1M
step "curves of large sizes only" refuses 3 'say nothing of parts so small' partition "$(
    "$mtl" trace "$work/a.trace" --sizes 64K,128K --json >"$work/large.json"
    echo "$work/large.json"
)" "$b" --ways 4 --size 16K
step "no mtld to ask" refuses 1 'mtld is not running' share 1 2 --size 1M --socket "$work/nothing"
step "files cannot be moved" refuses 2 'a.json is a file' partition "$a" "$b" --apply
full_disk() {
    for command in "share --size 64K" "partition --ways 4 --size 64K"; do
        for option in --json --csv ""; do
            # shellcheck disable=SC2086
            ! "$mtl" $command "$a" "$b" $option >/dev/full 2>"$work/err" || return 1
            [ "$(cat "$work/err")" = \
                "mtl: cannot write to standard output: No space left on device" ] ||
                { cat "$work/err"; return 1; }
        done
    done
}
step "a full disk is said once" full_disk

steps_total
