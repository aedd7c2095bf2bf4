#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh [VERSION]: the Debian packages, under build/deb (and nowhere else).
#
#     *.deb       the packages of this checkout; with a VERSION, VERSION/*.deb
#     source/     the tree they are made of: this checkout's files with packaging/debian on top
#     build.log   what dpkg-buildpackage said
#
# A VERSION other than that of packaging/debian/changelog makes the same programs under another number,
# for tests of upgrades; objects are kept, so it costs little. The build dependencies of the packages and
# those of packaging/build-deps.sh have to agree.

set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${MTL_BUILD:-build}")
debs=$build/deb
source=$debs/source

fail() {
    echo "deb.sh: $*" >&2
    exit 1
}

changelog=packaging/debian/changelog
packaged=$(sed -n '1s/^mtl (\(.*\)) .*/\1/p' $changelog)
upstream=$(sed -n 's/^VERSION := //p' Makefile)
[ "${packaged%%[-+~]*}" = "$upstream" ] || fail "$changelog is about $packaged, Makefile about $upstream"

# build-essential has gcc and libc6-dev
for package in $(sed -n 's/^build  *\([^ ]*\) .*/\1/p' packaging/build-deps.sh); do
    case $package in gcc | libc6-dev) continue ;; esac
    sed -n '/^Build-Depends/,/^[^ ]*-Version/p' packaging/debian/control | grep -qw -- "$package" ||
        fail "$package of packaging/build-deps.sh is not in Build-Depends of packaging/debian/control"
done

# only what was built is kept from the last time
mkdir -p "$source"
find "$source" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
cp -a CONTRIBUTING.md LICENSE Makefile README.md bpf cli daemon docs etc lib packaging tests "$source"
cp -a packaging/debian "$source/debian"
out=$debs
if [ -n "${1:-}" ]; then
    out=$debs/$1
    sed -i "1s/($packaged)/($1)/" "$source/debian/changelog"
    export DEB_BUILD_OPTIONS=noautodbgsym
fi

# -nc: packages are cleaned by hand, for clean would take the objects with it
rm -rf "$source/debian/tmp" "$source/debian/.debhelper"
rm -f "$debs"/*.deb "$debs"/*.buildinfo "$debs"/*.changes
(cd "$source" && env -u MAKEFLAGS -u MFLAGS -u MTL_BUILD -u BUILD dpkg-buildpackage -us -uc -b -nc) \
    >"$debs/build.log" 2>&1 </dev/null || {
    tail -n 15 "$debs/build.log" >&2
    fail "dpkg-buildpackage failed; its log is $debs/build.log"
}
if [ "$out" != "$debs" ]; then
    rm -rf "$out"
    mkdir "$out"
    mv "$debs"/*.deb "$debs"/*.buildinfo "$debs"/*.changes "$out"
fi
