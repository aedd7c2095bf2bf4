#!/bin/sh
# SPDX-License-Identifier: MIT
#
# unpack.sh MACHINE DIR: writes out MACHINE.tree, which lies beside this script, so that
# `mtl doctor --root DIR` speaks of that machine. A tree has a line a file: its path, a tab, and the
# content with \n and \t escaped; # begins a comment.

set -eu
tree=$(dirname "$0")/${1:-}.tree
[ $# = 2 ] && [ -f "$tree" ] || {
    echo "unpack.sh MACHINE DIR, with one of" $(cd "$(dirname "$0")" && ls *.tree | sed 's/\.tree$//') >&2
    exit 2
}
while IFS='	' read -r path content; do
    case $path in
    '#'* | '') continue ;;
    esac
    mkdir -p "$2/${path%/*}"
    printf '%b\n' "$content" >"$2/$path"
done <"$tree"
