#!/bin/sh
# SPDX-License-Identifier: MIT
#
# record.sh DIR PROGRAM...: traces of real programs by valgrind's lackey, as DIR/PROGRAM.lackey.gz.
#
# Data accesses only, some 20 to 40 million each. What is there already is kept. lackey asks the
# kernel to write every line by itself, which takes several minutes a program. A program that this
# machine does not have is left out. The text they work on is that of the licences in base-files.

set -eu
dir=$1
shift
mkdir -p "$dir"
work=$(mktemp -d "$dir/record.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C PERL_HASH_SEED=0 PYTHONHASHSEED=0

find /usr/share/common-licenses -type f | sort | xargs cat >"$work/text"
head -c 100000 "$work/text" >"$work/part"
tr -cs 'A-Za-z' '\n' <"$work/text" >"$work/words"
head -n 10000 "$work/words" >"$work/some"

command_of() { # PROGRAM: what it is to do with text and words in its directory
    case $1 in
    bzip2) echo 'bzip2 -9c text' ;;
    gzip) echo 'gzip -9c text text' ;;
    xz) echo 'xz -6c part' ;;
    sort) echo 'sort --parallel=1 words words' ;;
    perl) echo 'perl pairs.pl some' ;;
    python3) echo '/usr/bin/python3 -IS pairs.py some' ;;
    sqlite3) echo 'sqlite3 -init pairs.sql :memory: .quit' ;;
    *) echo "record.sh: no program $1" >&2 && exit 2 ;;
    esac
}

# How often each pair of words in succession occurs, in three languages.
cat >"$work/pairs.pl" <<'PERL'
while (<>) { chomp; $n{"$last $_"}++ if defined $last; $last = $_ }
print "$n{$_} $_\n" for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
PERL
cat >"$work/pairs.py" <<'PYTHON'
import sys
words = open(sys.argv[1]).read().split()
n = {}
for pair in zip(words, words[1:]):
    n[pair] = n.get(pair, 0) + 1
for pair in sorted(n, key=lambda pair: (-n[pair], pair)):
    print(n[pair], *pair)
PYTHON
cat >"$work/pairs.sql" <<'SQL'
create table words (word text);
.import some words
create table pairs as select a.word as first, b.word as second, count(*) as n
    from words a join words b on b.rowid = a.rowid + 1 group by 1, 2;
create index by_count on pairs (n, first, second);
select * from pairs order by n, first, second;
SQL

record() { # PROGRAM
    trace=$dir/$1.lackey.gz
    [ ! -e "$trace" ] || return 0
    command -v "$1" >/dev/null || return 0
    command=$(command_of "$1")
    echo "recording $1" >&2
    # shellcheck disable=SC2086
    (cd "$work" && valgrind --tool=lackey --trace-mem=yes --log-file=log $command >/dev/null)
    grep '^ [LSM] ' "$work/log" | gzip -1 >"$work/trace.gz"
    rm "$work/log"
    mv "$work/trace.gz" "$trace"
}

for program; do
    record "$program"
done
