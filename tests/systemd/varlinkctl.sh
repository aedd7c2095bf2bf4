# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced: systemd's varlinkctl, which Debian 12 has not, from a newer Debian: its package and the
# libraries it needs, unpacked to build/varlinkctl/{varlinkctl,ld.so,lib/}, made once. Nothing of it is
# installed; it runs by its own ld.so. The caller has sourced tests/steps.sh and tests/machine/machine.sh.

newer=trixie
newer_packages="systemd libsystemd-shared libacl1 libaudit1 libblkid1 libc6 libcap-ng0 libcap2 libcrypt1
    libmount1 libpam0g libpcre2-8-0 libseccomp2 libselinux1 libssl3t64 libzstd1 zlib1g"

# apt with lists, sources and everything else of its own
newer_apt() {
    APT_CONFIG=$newer_work/apt.conf apt-get -q "$@"
}

newer_download() {
    newer_apt update && (cd "$newer_work/debs" && newer_apt download $newer_packages)
}

# varlinkctl DIRECTORY: make it there unless it is
varlinkctl_unpacked() {
    [ ! -x "$1/varlinkctl" ] || return 0
    echo "getting varlinkctl of Debian $newer (once)" >&2
    newer_work=$1.new
    rm -rf "$newer_work" "$1"
    mkdir -p "$newer_work/debs" "$newer_work/root" "$newer_work/state/lists/partial" "$newer_work/cache/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $newer main" >"$newer_work/sources.list"
    : >"$newer_work/status"
    cat >"$newer_work/apt.conf" <<APT
Dir::Etc::sourcelist "$newer_work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$newer_work/state";
Dir::State::status "$newer_work/status";
Dir::Cache "$newer_work/cache";
APT::Sandbox::User "root";
APT
    newer_download >"$newer_work/log" 2>&1 || {
        tail -n 5 "$newer_work/log" >&2
        die "the download of varlinkctl of Debian $newer failed; its log is $newer_work/log"
    }
    for deb in "$newer_work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$newer_work/root"
    done
    mkdir -p "$newer_work/made/lib"
    cp "$newer_work/root/usr/bin/varlinkctl" "$newer_work/made"
    cp -L "$newer_work/root/usr/lib64/ld-linux-x86-64.so.2" "$newer_work/made/ld.so"
    lib=$newer_work/root/usr/lib/x86_64-linux-gnu
    "$newer_work/made/ld.so" --library-path "$lib:$lib/systemd" --list "$newer_work/made/varlinkctl" |
        sed -n "s|.* => \($newer_work/[^ ]*\) .*|\1|p" >"$newer_work/needed"
    cp -L $(cat "$newer_work/needed") "$newer_work/made/lib"
    "$newer_work/made/ld.so" --library-path "$newer_work/made/lib" "$newer_work/made/varlinkctl" --version >/dev/null ||
        die "varlinkctl of Debian $newer does not run"
    mv "$newer_work/made" "$1"
    rm -rf "$newer_work"
}
