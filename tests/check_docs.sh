#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_docs.sh [TREE]: what the programs say of themselves and what the documents say agree.
#
#   options    every --option in a --help stands in README.md, every one there exists
#   commands   every command in `mtl --help` stands in README.md
#   exit codes those of `mtl --help` and README.md
#   config     every key of etc/mtld.conf is a field of struct config and the other way round
#   protocol   every method, error, type and field of io.mtld.varlink stands in docs/PROTOCOL.md,
#              every io.mtld name there exists
#   journal    every event of daemon/log.c and its id stand in docs/SYSTEMD.md
#   targets    every target in README.md and CONTRIBUTING.md exists in the Makefile
#   symptoms   what docs/TROUBLESHOOTING.md quotes in its tables is said by a program; … stands for anything
#   links      every file of the tree that a document names is there
#
# MTL and MTLD name the programs (default: those under $MTL_BUILD).

set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
mtl=${MTL:-${MTL_BUILD:-build}/mtl}
mtld=${MTLD:-${MTL_BUILD:-build}/mtld}
varlink=daemon/io.mtld.varlink
bad=0

say() {
    echo "docs: $*"
    bad=1
}

for file in README.md CONTRIBUTING.md docs/ARCHITECTURE.md docs/THEORY.md docs/PROTOCOL.md docs/SYSTEMD.md \
    etc/mtld.conf $varlink; do
    [ -s $file ] || say "$file is missing"
done
[ $bad -eq 0 ] || exit 1

options() { # options in a text; foreign ones (of systemctl, varlinkctl, valgrind, tests/machine/run.sh, play_trace) are not ours to check
    grep -oE -- '--[a-z][a-z-]+' | grep -vxE -- '--(now|more|help-all|cpus|tool|trace-mem|log-file|cflags|libs|parents|delay)' | sort -u
}

# --- programs against README.md

commands=$("$mtl" --help | sed -nE 's/^  (mtl )?([a-z]+)( .*)?$/\2/p' | sort -u)
[ -n "$commands" ] || say "mtl --help lists no commands"
for command in $commands; do
    grep -qE "\`?mtl $command\b" README.md || say "README.md does not speak of mtl $command"
done

helps=$("$mtl" --help && for command in $commands; do "$mtl" $command --help; done && "$mtld" --help) ||
    say "a --help fails"
for option in $(echo "$helps" | options); do
    grep -qE -- "$option\b" README.md || say "README.md does not speak of $option"
done
for option in $(cat README.md docs/*.md | options); do
    echo "$helps" | grep -qE -- "$option\b" || say "no program has $option, which a document names"
done

# README.md has them as a table: | 3 | not enough observations |
for code in 0 1 2 3 4; do
    grep -qE "^\| $code \|" README.md || say "README.md does not explain exit code $code"
done

# --- configuration

keys=$(sed -nE 's/^#? ?([a-z_]+) *= .*/\1/p' etc/mtld.conf | sort -u)
fields=$(sed -n '/^struct config {/,/^}/p' daemon/config.h |
    sed -nE 's/^[[:space:]]+[a-z_]+ ([a-z_]+)(\[[0-9]+\])?;.*/\1/p' | sort -u)
[ -n "$fields" ] || say "daemon/config.h has no struct config"
for key in $keys; do
    echo "$fields" | grep -qx "$key" || say "etc/mtld.conf has $key, daemon/config.h has not"
done
for field in $fields; do
    echo "$keys" | grep -qx "$field" || say "daemon/config.h has $field, etc/mtld.conf has not"
done

# --- protocol

names=$(sed -nE 's/^(method|error|type) ([A-Za-z]+).*/\2/p' $varlink)
fields=$(sed 's/#.*//' $varlink | grep -oE '\b[a-z_]+ *:' | tr -d ' :' | sort -u)
for name in $names $fields; do
    grep -qE "\b$name\b" docs/PROTOCOL.md || say "docs/PROTOCOL.md does not speak of $name"
done
for name in $(grep -ohE 'io\.mtld\.[A-Z][A-Za-z]+' README.md docs/*.md | sort -u); do
    echo "$names" | grep -qx "${name#io.mtld.}" || say "$varlink does not define $name"
done

# --- the journal

for name in $(sed -nE 's/.*\] = \{"([a-z-]+)", "([0-9a-f]{32})"\}.*/\1 \2/p' daemon/log.c); do
    grep -qwE -- "$name" docs/SYSTEMD.md || say "docs/SYSTEMD.md does not speak of $name, which daemon/log.c logs"
done

# --- symptoms

# the sources in one line, with literals of several lines joined
said=$(mktemp)
trap 'rm -f "$said"' EXIT
cat cli/*.c daemon/*.c lib/*.c 2>/dev/null | tr '\n\t' '  ' | sed -E 's/" *"//g' >"$said"
symptoms=$(sed -nE 's/^\| ([^|]*) \|.*/\1/p' docs/TROUBLESHOOTING.md 2>/dev/null | grep -oE '"[^"]*"' | tr -d '"')
while read -r symptom; do
    grep -qE -- "$(printf %s "$symptom" | sed -e 's/[][\.*^$+?(){}|]/\\&/g' -e 's/…/[^"]*/g')" "$said" ||
        say "no program says \"$symptom\", which docs/TROUBLESHOOTING.md quotes"
done <<END
$symptoms
END

# --- targets and files

targets=$(sed -nE '/^(\.PHONY|RUNS :=)/,/[^\\]$/p' Makefile | tr -d '\\')
for target in $(grep -ohE '`(sudo )?make [a-z-]+' README.md CONTRIBUTING.md docs/*.md | sed 's/.* //' | sort -u); do
    echo "$targets" | grep -qwE -- "$target" || say "the Makefile has no target $target"
done
for file in $(grep -ohP '(?<![\w/.])(lib|daemon|cli|bpf|tests|docs|etc|packaging)/[\w./-]*[\w/]' \
    README.md CONTRIBUTING.md docs/*.md | grep -v NAME | sort -u); do
    [ -e "$file" ] || say "a document names $file, which is not there"
done

[ $bad -eq 0 ] && echo "docs: in order"
exit $bad
