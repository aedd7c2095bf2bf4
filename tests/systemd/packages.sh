# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced by check.sh: steps about the Debian packages, of /check/debs and, with a lower version but the
# same files, of /check/debs/old.

debs=/check/debs
conf=/etc/mtld/mtld.conf

# every file and directory a package could leave; what package management and the journal keep is theirs,
# and so are users and groups
files_now() {
    find /etc /usr /opt /srv /var -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache \
        -o -path /var/log -o -path /var/tmp -o -path /etc/systemd/system \) -prune \
        -o ! -name 'passwd*' ! -name 'group*' ! -name '*shadow*' ! -name ld.so.cache ! -path '/var/lib/systemd/*' -print
    find /var/lib/systemd /etc/systemd/system /etc/ld.so.conf.d -name '*mtl*'
    ls -d /run/* | grep mtl
}

packaged() { dpkg-query -W -f='${db:Status-Abbrev}${Version}' "$1"; }

old_packages_install() {
    files_now >files.before
    dpkg -i $debs/old/*.deb || return 1
    [ "$(packaged mtld)" = "ii $old_version" ] || { packaged mtld; return 1; }
    active mtld.socket || { echo "mtld.socket is not active"; return 1; }
    systemctl --quiet is-enabled mtld.socket || { echo "mtld.socket is not enabled"; return 1; }
    ! active mtld.service || { echo "mtld runs before anybody asked"; return 1; }
    getent passwd mtld && getent group mtl
}

# what an operator has set outlives an upgrade; and mtld that runs is replaced
upgrade_keeps_configuration() {
    sed -i "s/^#max_clients = 128/max_clients = 100/; s/^#max_overhead.*/max_overhead = $overhead/; s/^#max_daemon_cpu.*/max_daemon_cpu = $daemon_cpu/" $conf
    cp $conf conf.kept
    timeout 20 systemctl start mtld.service || { journalctl -b --no-pager -u mtld | tail -n 8; return 1; }
    old=$(main_pid mtld.service)
    dpkg -i $debs/*.deb >upgrade.log 2>&1 || { tail -n 12 upgrade.log; return 1; }
    [ "$(packaged mtld)" = "ii $new_version" ] || { packaged mtld; return 1; }
    cmp $conf conf.kept && active mtld.service mtld.socket || return 1
    [ "$(main_pid mtld.service)" != "$old" ] || { echo "mtld is still the old one"; return 1; }
    timeout 20 mtl status --json >status.json && is_true ".max_overhead == ${overhead%\%} / 100" status.json &&
        timeout 20 systemctl stop mtld.service
}

says_its_version() {
    [ "$(mtld --version)" = "mtld $new_version" ] && [ "$(mtl --version)" = "mtl $new_version" ] ||
        { mtld --version; mtl --version; return 1; }
}

# removed: programs gone, mtld stopped, configuration there
removal_stops_it() {
    rm -rf $drop_in
    timeout 20 systemctl start mtld.service && dpkg -r mtld mtl libmtl0 || return 1
    ! active mtld.service mtld.socket || { echo "still active"; return 1; }
    [ ! -e /usr/sbin/mtld ] && [ ! -e /run/mtld ] && [ -e $conf ] || { ls -d /usr/sbin/mtld /run/mtld $conf; return 1; }
}

# the user stays: files may belong to it (Debian has no rule to the contrary)
purge_leaves_nothing() {
    DEBIAN_FRONTEND=noninteractive timeout 120 dpkg --purge mtld mtl libmtl0 >purge.log 2>&1 || { tail -n 12 purge.log; return 1; }
    files_now >files.after
    diff files.before files.after || return 1
    [ -z "$(systemctl list-unit-files --no-legend 'mtl*')" ] || { systemctl list-unit-files 'mtl*'; return 1; }
    getent passwd mtld
}
