/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_POD_H
#define MTL_CLI_POD_H

#include <stdbool.h>

/* Which pod and container of Kubernetes a process belongs to, by its control group. "": none. */
struct pod {
	char uid[37];       /* as `kubectl get pod -o jsonpath={.metadata.uid}` has it */
	char container[65]; /* 64 hexadecimal digits, as `crictl ps --no-trunc` has it */
	char qos[12];       /* "guaranteed", "burstable", "besteffort"; "": not known */
};

/* The path of one control group, as /proc/PID/cgroup has it. false: neither pod nor container. */
bool pod_from_cgroup_path(const char *path, struct pod *ret_pod);

/* A whole /proc/PID/cgroup, of v1, v2 or both: the first line that names a pod, else the first that
 * names a container. Likewise. */
bool pod_from_cgroups(const char *text, struct pod *ret_pod);

/* Of a process that runs, below root (NULL: /). false also when its file cannot be read. */
bool pod_of_process(const char *root, int pid, struct pod *ret_pod);

#endif
