#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What can be said of the Debian packages in build/deb without installing them: what lintian says, which
# files are where, that programs do what debian/tests ask of them.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
debs=$(realpath "${MTL_BUILD:-build}")/deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export AUTOPKGTEST_TMP=$work
libraries=$work/root/usr/lib/$(gcc -print-multiarch)

# man pages are held to be there as soon as there are any
lintian_is_content() {
    [ -e packaging/man ] || suppress="--suppress-tags no-manual-page"
    lintian --allow-root -i -I --pedantic --fail-on error,warning,info,pedantic ${suppress:-} "$debs"/*.changes
}

unpack() {
    for deb in "$debs"/*.deb; do
        dpkg-deb -x "$deb" "$work/root" || return 1
    done
}

multiarch_is_right() {
    objdump -p "$libraries/libmtl.so.0" | grep -q 'SONAME *libmtl.so.0$' &&
        dpkg-deb -e "$debs"/libmtl0_[0-9]*.deb "$work/control" || return 1
    grep -q 'mtl_stack_new@MTL_0.1 0.1' "$work/control/symbols" || { cat "$work/control/symbols"; return 1; }
}

# nothing of the build's places in what is installed
no_place_of_the_build() {
    ! grep -rlE '/usr/local|build/deb' "$work/root/lib" "$work/root/etc" "$work/root/usr/lib/sysusers.d" "$work"/root/usr/lib/*/pkgconfig
}

library_test() {
    PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root \
        LD_LIBRARY_PATH=$libraries sh packaging/debian/tests/library
}

trace_test() { PATH=$work/root/usr/bin:$PATH sh packaging/debian/tests/trace; }

step "lintian is content" lintian_is_content
step "packages unpack" unpack
step "the library is where it belongs, with versioned symbols" multiarch_is_right
step "units, configuration and libmtl.pc name no place of the build" no_place_of_the_build
step "debian/tests/library" library_test
step "debian/tests/trace" trace_test
steps_total
