#!/bin/sh
# SPDX-License-Identifier: MIT
#
# locked.sh: on a kernel that is locked down (confidentiality), which takes from BPF the helpers that read
# kernel memory. mtld needs none of them outside a container's pid namespace.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

is_locked() {
    mount -t securityfs none /sys/kernel/security 2>/dev/null
    grep -F '[confidentiality]' /sys/kernel/security/lockdown
}
threads_are_told() { # mtld names the busiest processes, by the times of all
    printf '%s\n' '[mtld]' 'top = 1' >"$work/conf"
    start busy workload scan --working-set 2M
    start_mtld --config "$work/conf"
    within 20 top_is "$pid"
    result=$?
    stop mtld
    stop busy
    return $result
}
top_is() { mtl list --json | jq -e --argjson pid "$(cat "$work/busy.pid")" '.processes[] | select(.pid == $pid and .tracked_by == "top")'; }

step "the kernel is locked down" is_locked
step "sampling works" answers '.chosen == "watchpoints"' mtl doctor --json
step "a curve" answers '.observations > 20' mtl run --json --duration 5 -- workload scan --working-set 2M
step "the busiest process" threads_are_told
steps_total
