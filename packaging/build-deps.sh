#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build-deps.sh GROUP...: make sure that what the named groups of packages provide is there.
#
# Each need is a line of the table below: group, Debian package, probe. A probe is a program found
# in PATH (or in sbin), a pkg-config module (pc:NAME) or a header (h:NAME). Nothing missing: silent.
# Something missing: install it with apt-get when root, else print the command that would, and fail.

set -eu
PATH=$PATH:/usr/sbin:/sbin

table() {
    cat <<'TABLE'
build    gcc                gcc
build    clang              clang
build    libc6-dev          h:stdio.h
build    pkg-config         pkg-config
build    bpftool            bpftool
build    libbpf-dev         pc:libbpf
build    libsystemd-dev     pc:libsystemd
build    libjson-c-dev      pc:json-c
build    libsmartcols-dev   pc:smartcols
build    libinih-dev        pc:inih
build    libncurses-dev     pc:ncursesw
build    libarchive-dev     pc:libarchive
build    libmicrohttpd-dev  pc:libmicrohttpd
build    zlib1g-dev         pc:zlib
build    libpfm4-dev        h:perfmon/pfmlib.h
build    libzydis-dev       h:Zydis/Zydis.h
bench    qemu-user          qemu-x86_64
bench    redis-server       redis-server
bench    sqlite3            sqlite3
bench    xz-utils           xz
check    libcmocka-dev      pc:cmocka
check    libfuse3-dev       pc:fuse3
check    valgrind           valgrind
check    libc6-dbg          libc6-dbg
check    gdb                gdb
check    strace             strace
check    procps             ps
check    bzip2              bzip2
check    util-linux         unshare
check    jq                 jq
check    tmux               tmux
check    mandoc             mandoc
check    bsdextrautils      col
check    zsh                zsh
check    fish               fish
check    python3            python3
check    gnuplot-nox        gnuplot
check    python3            python3
check    curl               curl
browser  chromium           chromium
browser  chromium-driver    chromedriver
browser  prometheus         promtool
demo     bzip2              bzip2
demo     gnuplot-nox        gnuplot
fuzz     libclang-rt-14-dev libclang-rt-14-dev
format   clang-format       clang-format
machine  qemu-system-x86    qemu-system-x86_64
machine  mmdebstrap         mmdebstrap
machine  e2fsprogs          mke2fs
machine  cpio               cpio
machine  busybox-static     busybox-static
machine  xz-utils           xz
deb      build-essential    build-essential
deb      debhelper          dh
deb      dpkg-dev           dpkg-buildpackage
deb      lintian            lintian
systemd  systemd-container  systemd-nspawn
systemd  jq                 jq
TABLE
}

installed() { # a package without a program of its own is looked up by its name
    dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'
}

have() { # PACKAGE PROBE
    case $2 in
    pc:*) command -v pkg-config >/dev/null && pkg-config --exists "${2#pc:}" ;;
    h:*) [ -e "/usr/include/${2#h:}" ] ;;
    "$1") command -v "$2" >/dev/null || installed "$1" ;;
    *) command -v "$2" >/dev/null ;;
    esac
}

missing=
for group in "$@"; do
    table | grep -q "^$group " || {
        echo "$0: no group $group" >&2
        exit 2
    }
    while read -r of package probe; do
        [ "$of" = "$group" ] || continue
        have "$package" "$probe" || missing="$missing $package"
    done <<NEEDS
$(table)
NEEDS
done
[ -n "$missing" ] || exit 0
missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
missing=${missing% }

install="apt-get install -y --no-install-recommends $missing"
if ! command -v apt-get >/dev/null; then
    echo "build dependencies missing; install what these Debian packages hold: $missing" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "build dependencies missing; run as root: apt-get update && $install" >&2
    exit 1
fi

echo "installing missing build dependencies: $missing"
exec 9>"${TMPDIR:-/tmp}/mtl-build-deps.lock" # apt-get does not wait for another one
flock 9
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
lists=$(ls /var/lib/apt/lists 2>/dev/null | grep -c _Packages || true)
{ [ "$lists" -gt 0 ] || apt-get -q update; } >"$log" 2>&1 &&
    { $install || { apt-get -q update && $install; }; } >>"$log" 2>&1 </dev/null || {
    cat "$log" >&2
    echo "could not install: $missing" >&2
    exit 1
}
