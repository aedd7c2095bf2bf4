# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced by check.sh: the configuration changed while mtld runs, restarts while clients ask, a hang.

drop_in=/run/systemd/system/mtld.service.d

says_max_processes() { timeout 20 mtl status --json | is_true ".max_processes == $1"; }

reload_counts() {
    old=$(main_pid mtld.service)
    sed -i 's/^#max_processes = 64/max_processes = 63/' $conf
    timeout 20 systemctl reload mtld.service && within 5 says_max_processes 63 || { mtl status --json; return 1; }
    [ "$(main_pid mtld.service)" = "$old" ] || { echo "it is another process"; return 1; }
}

refusal_in_journal() {
    journalctl -b --no-pager -o json -u mtld.service MTL_EVENT=configuration-refused >refused.json
    jq -es 'any(.MESSAGE_ID == "fa3b46b5bd89448ca86a46d6a59968c1" and .PRIORITY == "3" and
        (.MESSAGE | contains("mtld.conf") and contains("max_processes") and contains("lots")))' refused.json >/dev/null
}

# checked before mtld is asked; and mtld itself refuses, when it is asked without
wrong_reload_fails() {
    old=$(main_pid mtld.service)
    sed -i 's/^max_processes = 63/max_processes = lots/' $conf
    timeout 20 systemctl reload mtld.service && { echo "systemctl reload says that it is right"; return 1; }
    active mtld.service && says_max_processes 63 || { echo "it was not left alone"; return 1; }
    systemctl kill --kill-who=main -s HUP mtld.service && within 5 refusal_in_journal || { cat refused.json; return 1; }
    active mtld.service && says_max_processes 63 && [ "$(main_pid mtld.service)" = "$old" ] ||
        { echo "it did not go on as before"; return 1; }
    sed -i 's/^max_processes = lots/max_processes = 63/' $conf
    timeout 20 systemctl reload mtld.service
}

tracking_in_journal() {
    journalctl -b --no-pager -o json -u mtld.service MTL_PID="$(main_pid workload.service)" >tracked.json
    jq -es 'any(.MTL_EVENT == "tracked" and .MTL_COMM == "workload" and .MTL_CLIENT_UID == "0" and
        .SYSLOG_IDENTIFIER == "mtld")' tracked.json >/dev/null || { cat tracked.json; return 1; }
}

asks_on() { # FILE: until there is no file loading; exit statuses, one a line
    while [ -e loading ]; do
        timeout 20 mtl list --json >/dev/null 2>&1
        echo $?
    done >"$1"
}

# all clients end, with an answer or an error
restarts_under_load() {
    pid=$(main_pid workload.service)
    timeout 20 mtl track "$pid" && : >loading || return 1
    asks_on asked.1 & one=$!
    asks_on asked.2 & two=$!
    timeout 30 mtl curve "$pid" --watch --json >watched.json 2>watched.err & watch=$!
    sleep 1
    timeout 30 systemctl restart mtld.service
    restarted=$?
    sleep 1
    rm loading
    wait $one $two
    wait $watch
    status=$?
    [ $restarted = 0 ] || { echo "systemctl restart: $restarted"; journalctl -b --no-pager -u mtld | tail -n 8; return 1; }
    [ $status = 1 ] && [ -s watched.err ] || { echo "mtl curve --watch: $status"; cat watched.err; return 1; }
    grep -qvx '[01]' asked.1 asked.2 && { sort asked.? | uniq -c; return 1; }
    [ "$(tail -n 1 asked.1)" = 0 ] && active mtld.service || { tail -n 3 asked.1; return 1; }
}

# who was connected when mtld hung gets an error; who asks while it hangs gets one too, or is answered by the next mtld
watchdog_ends_a_hang() {
    mkdir -p $drop_in
    printf '[Service]\nWatchdogSec=%s\n' "$watchdog" >$drop_in/watchdog.conf
    systemctl daemon-reload && timeout 30 systemctl restart mtld.service || return 1
    pid=$(main_pid workload.service)
    old=$(main_pid mtld.service)
    timeout 20 mtl track "$pid" || return 1
    timeout 60 mtl curve "$pid" --watch --json >watched.json 2>watched.err & watch=$!
    sleep 1
    systemctl kill --kill-who=main -s STOP mtld.service
    asked=0
    until timeout 20 mtl status --json >status.json 2>status.err; do # an error, not a hang
        [ $? = 1 ] && [ $((asked += 1)) -le 12 ] || { echo "mtl status while it hangs: $(cat status.err)"; return 1; }
        sleep 1
    done
    wait $watch
    status=$?
    [ $status = 1 ] && [ -s watched.err ] || { echo "mtl curve --watch: $status"; cat watched.err; return 1; }
    [ "$(jq .pid status.json)" != "$old" ] && [ "$(main_pid mtld.service)" = "$(jq .pid status.json)" ] ||
        { cat status.json; return 1; }
    [ "$(systemctl show -P NRestarts mtld.service)" = 1 ] || { systemctl show -p NRestarts mtld.service; return 1; }
    journalctl -b --no-pager -u mtld.service | grep -q "Watchdog timeout" || return 1
    rm -r $drop_in
    systemctl daemon-reload
}

# the two examples that come with the packages; only where the kernel is our own
does_without_sys_admin() {
    mkdir -p $drop_in
    cp /check/examples/mtld-no-sys-admin.conf $drop_in/no-sys-admin.conf
    systemctl daemon-reload && sysctl -q -p /check/examples/60-mtld-sysctl.conf &&
        timeout 30 systemctl restart mtld.service || { journalctl -b --no-pager -u mtld | tail -n 8; return 1; }
    held=$(sed -n 's/^CapEff:\t//p' "/proc/$(main_pid mtld.service)/status")
    [ $((0x$held >> 21 & 1)) = 0 ] || { echo "CAP_SYS_ADMIN is held: $held"; return 1; }
    rung_is_watchpoints && rm -r $drop_in && systemctl daemon-reload
}
