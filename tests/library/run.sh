#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libmtl as other programs see it: what the header declares is what the library exports, documented
# in docs/THEORY.md; an installed library compiles and runs example.c, by gcc and clang, as C and C++.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
build=${MTL_BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# names of functions the headers declare: comments away, then what stands before a parenthesis
declared() {
    cat lib/mtl*.h | tr '\n' ' ' | sed 's|/\*|\n&|g; s|\*/|&\n|g' | grep -v '^/\*' | tr -d '\n' |
        grep -oE '\bmtl_[a-z_]+ *\(' | tr -d ' (' | sort -u
}

mapped() { sed -n '/global:/,/local:/s/^\t\(mtl_[a-z_]*\);$/\1/p' lib/libmtl.map | sort -u; }

exported() { nm -D --defined-only "$build/libmtl.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort -u; }

in_theory() { # every public function has its place in the theory, or in the protocol
    missing=0
    for name in $(cat "$work/declared"); do
        grep -qwF "$name" docs/THEORY.md docs/PROTOCOL.md || { echo "no document names $name"; missing=1; }
    done
    return $missing
}

# a prototype stands below a comment, its own or that of its group, which has no blank line in it
documented() {
    awk '/^(int|double|void|size_t|uint64_t|struct) .*\(/ && before ~ /^$/ { print FILENAME ": " $0; bad = 1 }
        { before = $0 } END { exit bad }' lib/mtl*.h
}

compiled() { # COMPILER...
    PKG_CONFIG_PATH=$work/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work \
        pkg-config --cflags --libs libmtl >"$work/flags" &&
        "$@" -Wall -Wextra -Werror tests/library/example.c -o "$work/example" $(cat "$work/flags")
}

runs() {
    said=$(echo 1 2 3 1 2 3 1 2 3 | LD_LIBRARY_PATH=$work/usr/local/lib "$work/example") &&
        echo "$said" && echo "$said" | grep -qx '2 lines: 1.0000 exact, 1.0000 by eviction time' &&
        echo "$said" | grep -qx '3 lines: 0.3333 exact, 0.3333 by eviction time'
}

# every link of an installed document leads to an installed file, and files are named where they are
links_are_true() {
    cd "$work/usr/local/share/doc/mtl" || return 1
    grep -oP '\]\(\K[^)#]+' *.md | grep -v '://' | sort -u >"$work/links"
    [ "$(wc -l <"$work/links")" -gt 10 ] || { echo "few links"; cat "$work/links"; return 1; }
    bad=0
    while IFS=: read -r document link; do
        case $link in /*) link=$work$link ;; esac
        [ -e "$link" ] || { echo "$document links to $link"; bad=1; }
    done <"$work/links"
    ! grep -nE '(^|[^/[:alnum:]])(docs/[A-Z]|packaging/(examples|prometheus|grafana|kubernetes))' *.md && [ $bad = 0 ]
}

declared >"$work/declared"
mapped >"$work/mapped"
exported >"$work/exported"
step "the headers declare functions" test "$(wc -l <"$work/declared")" -gt 80
step "the symbol map has what the headers declare" diff "$work/declared" "$work/mapped"
step "the library exports that and no more" diff "$work/declared" "$work/exported"
step "symbols carry a version" sh -c "nm -D $build/libmtl.so | grep -q 'mtl_stack_new@@MTL_'"
step "every function has its place in a document" in_theory
step "every prototype stands below a comment" documented
step "make install to another root" make -s install DESTDIR="$work" BUILD="$build"
step "links of the installed documents" links_are_true
step "example, gcc" compiled gcc -std=c11
step "it runs" runs
step "example, clang" compiled clang -std=c11
step "it runs" runs
step "each header alone, as C++" clang -x c++ -fsyntax-only -Wall -Wextra -Werror lib/mtl.h lib/mtl_trace.h lib/mtl_share.h
steps_total
