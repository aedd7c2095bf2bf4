#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The checks themselves: each must pass a small tree that is in order, and fail, naming the fault,
# once a fault is put into it.

set -u
cd "$(dirname "$0")/.." || exit 1
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

expect_good() { # WHAT COMMAND...
    what=$1
    shift
    if said=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: refused although in order:\n%s\n' "$what" "$said"
    fi
}

expect_fault() { # WHAT TEXT COMMAND...
    what=$1
    text=$2
    shift 2
    if said=$("$@" 2>&1) || ! echo "$said" | grep -qF -- "$text"; then
        failed=$((failed + 1))
        printf 'FAIL %s: wanted a refusal with "%s", got:\n%s\n' "$what" "$text" "$said"
    else
        passed=$((passed + 1))
    fi
}

# --- layers

source_file() { # PATH LINE...
    path=$1
    shift
    { echo '/* SPDX-License-Identifier: MIT OR GPL-2.0-only */'; printf '%s\n' "$@"; } >"$path"
}

layers_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/lib" "$work/tree/bpf" "$work/tree/daemon" "$work/tree/cli"
    cd "$work/tree" || exit 1
    source_file lib/a.h
    source_file lib/a.c '#include "a.h"' '#include <math.h>'
    source_file bpf/event.h
    source_file bpf/x.bpf.c '#include "event.h"'
    source_file daemon/d.h
    source_file daemon/d.c '#include "d.h"' '#include "a.h"' '#include "event.h"' '#include "x.skel.h"'
    source_file cli/c.c '#include "a.h"'
    cd "$here" || exit 1
}

layers() { # WHAT TEXT FILE LINE...: put lines into a file, see the fault named
    what=$1
    text=$2
    file=$3
    shift 3
    layers_tree
    source_file "$work/tree/$file" "$@"
    expect_fault "$what" "$text" tests/check_layers.sh "$work/tree"
}

layers_tree
expect_good "layers" tests/check_layers.sh "$work/tree"
layers "lib uses daemon" 'lib/a.c must not include "d.h"' lib/a.c '#include "d.h"'
layers "lib uses the world" 'lib/a.c is not pure' lib/a.c '#include <sys/socket.h>'
layers "cli uses daemon" 'cli/c.c must not include "d.h"' cli/c.c '#include "d.h"'
layers "cli uses daemon by path" 'must not include "../daemon/d.h"' cli/c.c '#include "../daemon/d.h"'
layers "cli uses bpf" 'cli/c.c must not include "event.h"' cli/c.c '#  include "event.h"'
layers "bpf uses lib" 'bpf/x.bpf.c must not include "a.h"' bpf/x.bpf.c '#include "a.h"'
layers "daemon uses bpf inside" 'must not include "maps.bpf.h"' daemon/d.c '#include "maps.bpf.h"'
layers "two users of skeletons" '2 files include BPF skeletons' daemon/e.c '#include "x.skel.h"'
layers "long file" '603 lines are more than 600' lib/a.c "$(seq -f '/* %g */' 602)"
layers "long function" 'a function of 91 lines' lib/a.c 'int f(void)' '{' "$(seq -f ' /* %g */' 90)" '}'
layers_tree
echo 'int f;' >"$work/tree/cli/c.c"
expect_fault "no licence" 'cli/c.c does not name its licence' tests/check_layers.sh "$work/tree"

# --- documents

docs_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/docs" "$work/tree/etc" "$work/tree/daemon" "$work/tree/bin"
    cd "$work/tree" || exit 1
    printf '%s\n' '`mtl list` takes --json; mtld takes --config. `make check`.' '' \
        '| 0 | x |' '| 1 | x |' '| 2 | x |' '| 3 | x |' '| 4 | x |' >README.md
    echo 'See docs/THEORY.md.' | tee CONTRIBUTING.md docs/ARCHITECTURE.md >docs/THEORY.md
    echo 'io.mtld.List answers pid; io.mtld.NotTracked.' >docs/PROTOCOL.md
    printf '%s\n' '| symptom | why |' '|---|---|' '| "few yet: … of ten (more)", exit code 3 | young |' >docs/TROUBLESHOOTING.md
    printf '%s\n' '	puts("few yet: {n} "' '	     "of ten (more)");' >daemon/say.c
    echo 'An event: begins 0123456789abcdef0123456789abcdef.' >docs/SYSTEMD.md
    printf '\t[LOG_BEGINS] = {"begins", "0123456789abcdef0123456789abcdef"},\n' >daemon/log.c
    printf '%s\n' 'interface io.mtld' 'method List() -> (pid: int)' 'error NotTracked (pid: int)' \
        >daemon/io.mtld.varlink
    printf '%s\n' '# how many' '#max_clients = 128' >etc/mtld.conf
    printf '%s\n' 'struct config {' '	unsigned max_clients; /* at once */' '};' >daemon/config.h
    printf '%s\n' '.PHONY: all check' >Makefile
    printf '%s\n' '#!/bin/sh' '[ "$1" = --help ] && echo "  list   show" || echo "  --json  as JSON"' >bin/mtl
    printf '%s\n' '#!/bin/sh' 'echo "  --config FILE"' >bin/mtld
    chmod +x bin/mtl bin/mtld
    cd "$here" || exit 1
}

docs() { # WHAT TEXT FILE LINE: append a line to a file, see the fault named
    docs_tree
    echo "$4" >>"$work/tree/$3"
    expect_fault "$1" "$2" env MTL=bin/mtl MTLD=bin/mtld tests/check_docs.sh "$work/tree"
}

docs_tree
expect_good "docs" env MTL=bin/mtl MTLD=bin/mtld tests/check_docs.sh "$work/tree"
docs "option not documented" 'does not speak of --root' bin/mtld 'echo "  --root DIR"'
docs "option that is not there" 'no program has --frobnicate' README.md '`mtl list --frobnicate`'
docs "option in another document" 'no program has --loud' docs/PROTOCOL.md 'with --loud'
docs "command not documented" 'does not speak of mtl top' bin/mtl '[ "$1" != --help ] || echo "  top   show"'
docs "unknown key" 'etc/mtld.conf has colour' etc/mtld.conf '#colour = red'
docs "method not documented" 'does not speak of Track' daemon/io.mtld.varlink 'method Track(pid: int) -> ()'
docs "field not documented" 'does not speak of weight' daemon/io.mtld.varlink 'type T (weight: float)'
docs "event not documented" 'does not speak of ends' daemon/log.c '	[LOG_ENDS] = {"ends", "0123456789abcdef0123456789abcdee"},'
docs "error that is not there" 'does not define io.mtld.Sulking' docs/PROTOCOL.md 'io.mtld.Sulking'
docs "symptom that nobody says" 'no program says "backs off"' docs/TROUBLESHOOTING.md '| it "backs off" | x |'
docs "symptom with another number" 'no program says "few yet: … of two"' docs/TROUBLESHOOTING.md '| "few yet: … of two" | x |'
docs "target that is not there" 'no target polish' README.md '`make polish`'
docs "file that is not there" 'names lib/nothing.c' docs/ARCHITECTURE.md 'see lib/nothing.c'
docs_tree
sed -i '/^| 3/d' "$work/tree/README.md"
expect_fault "exit code not documented" 'exit code 3' \
    env MTL=bin/mtl MTLD=bin/mtld tests/check_docs.sh "$work/tree"
docs_tree
sed -i 's/max_clients;/max_clients;\n	double window;/' "$work/tree/daemon/config.h"
expect_fault "key without a comment" 'etc/mtld.conf has not' \
    env MTL=bin/mtl MTLD=bin/mtld tests/check_docs.sh "$work/tree"
docs_tree
rm "$work/tree/docs/THEORY.md"
expect_fault "document missing" 'docs/THEORY.md is missing' \
    env MTL=bin/mtl MTLD=bin/mtld tests/check_docs.sh "$work/tree"

# --- the script that finds or makes a machine: what a newcomer meets

script_works() { # SCRIPT: natively, with programs that only have to be there; gives its argument back
    [ "$(cd "$work" && MTL_BUILD=$work/build MTL_MACHINE=native "$here/tests/machine/run.sh" -- "$1" word)" = word ]
}
made_by_make() { # PROGRAM: plain make makes it
    grep -qE -- "-o $1( |\$)" "$work/all"
}
mkdir -p "$work/build/machine"
cd "$work/build" && touch mtl mtld workload && chmod +x mtl mtld workload
cd "$here" || exit 1
echo 'echo "$1"' | tee "$work/outside.sh" >"$work/build/its own.sh"
expect_good "a script outside the checkout" script_works "$work/outside.sh"
expect_good "a script named from where one is" script_works "build/its own.sh"
expect_fault "no script" 'there is no script nothing.sh' env MTL_BUILD="$work/build" tests/machine/run.sh -- nothing.sh
expect_fault "no probe" 'use `make ' env MTL_BUILD="$work/build" MTL_MACHINE= tests/machine/run.sh -- "$work/outside.sh"
rm "$work/build/workload"
expect_fault "no workload" "use \`make $work/build/workload\`" env MTL_BUILD="$work/build" tests/machine/run.sh -- "$work/outside.sh"
make -n -B all >"$work/all"
for made in "${MTL_BUILD:-build}/workload" "${MTL_BUILD:-build}/tests/machine/watchpoints_fire"; do
    expect_good "plain make and $made" made_by_make "$made"
done

[ $failed -eq 0 ] && echo "checks of the checks: $passed passed"
[ $failed -eq 0 ]
