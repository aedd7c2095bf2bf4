/* SPDX-License-Identifier: MIT */
/*
 * Control groups of pods and containers. The paths are made by hand from what writes them, with
 * made-up ids: kubelet (pkg/kubelet/cm/cgroup_manager_linux.go, ToSystemd() and ToCgroupfs();
 * pod_container_manager_linux.go, "pod" and the uid), containerd (internal/cri/server,
 * getCgroupsPath()), CRI-O (internal/config/cgmgr, "crio" and "crio-conmon"), Docker ("docker",
 * cgroup-parent in its documentation), Podman ("libpod"); kind's own slice as its entrypoint script
 * has it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "../../cli/pod.h"
#include "fake_root.h"

#define UID "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_ "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"
#define STATIC_UID "0123456789abcdef0123456789abcdef"
#define ID "4f797c539e6c745de61a93ca3ff892358ecbcaccd8414d5db545c38428142970"
#define OTHER "9ec39b91f3d70e1beff50a308f77067065ea6be0d91a3378375056cd4422cf3d"
#define BURSTABLE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"

static const struct {
	const char *path, *uid, *container, *qos;
} paths[] = {
        /* cgroupfs driver, every runtime alike */
        {"/kubepods/burstable/pod" UID "/" ID, UID, ID, "burstable"},
        {"/kubepods/besteffort/pod" UID "/" ID, UID, ID, "besteffort"},
        {"/kubepods/pod" UID "/" ID, UID, ID, "guaranteed"},
        {"/kubepods/burstable/pod" STATIC_UID "/" ID, STATIC_UID, ID, "burstable"},
        {"/kubepods/burstable/pod" UID "/crio-" ID, UID, ID, "burstable"},
        /* systemd driver: containerd, CRI-O, Docker */
        {BURSTABLE "/cri-containerd-" ID ".scope", UID, ID, "burstable"},
        {BURSTABLE "/crio-" ID ".scope", UID, ID, "burstable"},
        {BURSTABLE "/docker-" ID ".scope", UID, ID, "burstable"},
        {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
         ".slice/cri-containerd-" ID ".scope",
                UID, ID, "besteffort"},
        {"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", UID, ID,
                "guaranteed"},
        {"/kubepods.slice/kubepods-pod" STATIC_UID ".slice/crio-" ID ".scope", STATIC_UID, ID,
                "guaranteed"},
        /* containerd by cgroupfs below a kubelet by systemd */
        {"/system.slice/containerd.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID,
                UID, ID, "burstable"},
        /* what containers make below their own group */
        {BURSTABLE "/crio-" ID ".scope/container", UID, ID, "burstable"},
        {BURSTABLE "/cri-containerd-" ID ".scope/system.slice/docker-" OTHER ".scope", UID, ID,
                "burstable"},
        /* the pod itself, its pause group, and who watches its container */
        {BURSTABLE, UID, "", "burstable"},
        {BURSTABLE "/crio-conmon-" ID ".scope", UID, "", "burstable"},
        /* kind: a node that is a container itself; seen from its host */
        {"/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
         "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope",
                UID, ID, "burstable"},
        {"/docker/" OTHER "/kubelet/kubepods/besteffort/pod" UID "/" ID, UID, ID, "besteffort"},
        /* from within a cgroup namespace of another pod */
        {"/../../kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID
         ".scope",
                UID, ID, "burstable"},
        {"/../../pod" UID "/" ID, UID, ID, ""},
        {"/../../../burstable/pod" UID "/" ID, UID, ID, "burstable"},
        {"/../" ID, "", ID, ""},
        /* containers without Kubernetes */
        {"/docker/" ID, "", ID, ""},
        {"/system.slice/docker-" ID ".scope", "", ID, ""},
        {"/machine.slice/libpod-" ID ".scope/container", "", ID, ""},
        {"/" ID, "", ID, ""},
        {"/burstable/docker/" ID, "", ID, ""},
};

static const char *const others[] = {
        "",
        "/",
        "/init.scope",
        "/user.slice/user-1000.slice/session-2.scope",
        "/system.slice/redis.service",
        "/kubepods.slice",
        "/kubepods/burstable",
        "/system.slice/kubelet.service",
        "/machine.slice/libpod-conmon-" ID ".scope",
        /* one digit short, one too many, letters, dashes elsewhere */
        "/kubepods/pod0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f",
        "/kubepods/pod0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f90",
        "/kubepods/podX" UID,
        "/kubepods/tripod" UID,
        "/kubepods/pod0a1b2c3d4-e5f-6071-8293-a4b5c6d7e8f9",
        "/kubepods/podg123456789abcdef0123456789abcdef",
        "/docker/0" ID,
        "/docker/4f797c539e6c",
        "/docker/4F797C539E6C745DE61A93CA3FF892358ECBCACCD8414D5DB545C38428142970",
        /* no kubepods above it */
        "/pod" UID,
        "/kubepods",
};

static void paths_are_taken_apart(void **state)
{
	struct pod pod;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!pod_from_cgroup_path(paths[i].path, &pod))
			fail_msg("nothing found in %s", paths[i].path);
		if (strcmp(pod.uid, paths[i].uid) != 0 ||
		        strcmp(pod.container, paths[i].container) != 0 ||
		        strcmp(pod.qos, paths[i].qos) != 0)
			fail_msg("%s: %s %s %s", paths[i].path, pod.uid, pod.container, pod.qos);
	}
}

static void others_are_none(void **state)
{
	struct pod pod = {.uid = "untouched"};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (pod_from_cgroup_path(others[i], &pod))
			fail_msg("%s: %s %s", others[i], pod.uid, pod.container);
		assert_string_equal(pod.uid, "untouched");
	}
}

static void every_line_is_looked_at(void **state)
{
	struct pod pod;

	(void)state;
	assert_true(pod_from_cgroups("0::" BURSTABLE "/cri-containerd-" ID ".scope\n", &pod));
	assert_string_equal(pod.uid, UID);
	/* v1, and beside it the empty v2 of a hybrid host */
	assert_true(pod_from_cgroups("12:rdma:/\n11:cpu,cpuacct:/kubepods/pod" UID "/" ID
	                             "\n1:name=systemd:/kubepods/pod" UID "/" ID "\n0::/\n",
	        &pod));
	assert_string_equal(pod.container, ID);
	assert_string_equal(pod.qos, "guaranteed");
	/* a pod counts before a container, which it hangs below in another hierarchy */
	assert_true(pod_from_cgroups(
	        "2:cpu:/docker/" OTHER "\n1:name=systemd:/kubepods/pod" UID "/" ID, &pod));
	assert_string_equal(pod.container, ID);
	assert_true(pod_from_cgroups("2:cpu:/docker/" OTHER "\n1:memory:/docker/" ID "\n", &pod));
	assert_string_equal(pod.container, OTHER);
	assert_false(pod_from_cgroups("0::/init.scope\n", &pod));
	assert_false(pod_from_cgroups("garbage\n\n:\n::\n/docker/" ID "\n", &pod));
}

static void a_process_is_looked_up_below_the_root(void **state)
{
	struct pod pod;

	(void)state;
	assert_int_equal(fake_file("proc/7/cgroup", "0::/docker/" ID "\n"), 0);
	assert_true(pod_of_process(fake_root, 7, &pod));
	assert_string_equal(pod.container, ID);
	assert_false(pod_of_process(fake_root, 8, &pod));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(paths_are_taken_apart),
	        cmocka_unit_test(others_are_none),
	        cmocka_unit_test(every_line_is_looked_at),
	        cmocka_unit_test_setup_teardown(
	                a_process_is_looked_up_below_the_root, fake_root_new, fake_root_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
