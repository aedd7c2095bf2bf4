/* SPDX-License-Identifier: MIT */
/*
 * What kubelet and the container runtimes write into names of control groups, read backwards
 * (docs/KUBERNETES.md has the forms and where they come from).
 *
 * A path is taken apart at its slashes, and at colons, which containerd leaves in a part where
 * kubelet and it disagree about the driver. Of each part only the end counts, without ".slice" and
 * ".scope": "pod" and a uid behind a part that says kubepods, or 64 digits that name a container.
 * So it does not matter what the whole hierarchy hangs below (kind, a node's own slice, a container
 * that sees only the outer part of it), nor what the container makes below its own group. systemd
 * wants "_" for "-" in uids; the uids of static pods are 32 digits.
 *
 * From within a container's own cgroup namespace paths begin with "/..": what is above the common
 * part is then not told, and a class that is not named is not known.
 *
 * Whoever may make control groups may call them so: it is a name, not a proof.
 */

#include "pod.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "regular_file.h"

#define UID_LENGTH 36
#define STATIC_UID_LENGTH 32
#define CONTAINER_LENGTH 64
#define CGROUPS_MAX 16384 /* v1 has some 13 lines */

struct part {
	const char *text;
	size_t length;
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
}

static bool all_digits(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!is_digit(text[i]))
			return false;
	return true;
}

/* 8-4-4-4-12 digits */
static bool is_dashed(const char *text)
{
	for (size_t i = 0; i < UID_LENGTH; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' && text[i] != '_' : !is_digit(text[i]))
			return false;
	}
	return true;
}

static bool contains(struct part part, const char *word)
{
	return memmem(part.text, part.length, word, strlen(word)) != NULL;
}

static struct part without(struct part part, const char *end)
{
	size_t length = strlen(end);

	if (part.length > length && memcmp(part.text + part.length - length, end, length) == 0)
		part.length -= length;
	return part;
}

/* What comes before the last `length` bytes ends in word, which begins the part or follows a "-".
 */
static bool follows(struct part part, size_t length, const char *word)
{
	size_t before = part.length - length, of = strlen(word);

	return before >= of && memcmp(part.text + before - of, word, of) == 0 &&
	       (before == of || part.text[before - of - 1] == '-');
}

static bool take_uid(struct part part, struct pod *pod)
{
	size_t length = 0;

	if (part.length > UID_LENGTH && is_dashed(part.text + part.length - UID_LENGTH))
		length = UID_LENGTH;
	else if (part.length > STATIC_UID_LENGTH &&
	         all_digits(part.text + part.length - STATIC_UID_LENGTH, STATIC_UID_LENGTH))
		length = STATIC_UID_LENGTH;
	if (!length || !follows(part, length, "pod"))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = part.text[part.length - length + i];

		pod->uid[i] = c == '_' ? '-' : c;
	}
	pod->uid[length] = '\0';
	return true;
}

/* "cri-containerd-ID", "crio-ID", "ID"; conmon watches a container and is not in it. */
static bool take_container(struct part part, struct pod *pod)
{
	size_t before = part.length - CONTAINER_LENGTH;

	if (part.length < CONTAINER_LENGTH || contains(part, "conmon") ||
	        !all_digits(part.text + before, CONTAINER_LENGTH) ||
	        (before > 0 && part.text[before - 1] != '-'))
		return false;
	memcpy(pod->container, part.text + before, CONTAINER_LENGTH);
	pod->container[CONTAINER_LENGTH] = '\0';
	return true;
}

static void take_qos(struct part part, struct pod *pod)
{
	static const char *const classes[] = {"burstable", "besteffort"};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (contains(part, classes[i]))
			strcpy(pod->qos, classes[i]);
}

/* Parts from the root down; the first container below the pod is the pod's. */
static void take_part(struct part part, bool is_relative, bool *below_kubepods, struct pod *pod)
{
	part = without(without(part, ".slice"), ".scope");
	if (contains(part, "kubepods"))
		*below_kubepods = true;
	if ((*below_kubepods || is_relative) && !*pod->uid) {
		take_qos(part, pod);
		if (take_uid(part, pod)) {
			*pod->container = '\0';
			return;
		}
	}
	if (!*pod->container)
		take_container(part, pod);
}

bool pod_from_cgroup_path(const char *path, struct pod *ret_pod)
{
	struct pod pod = {0};
	bool is_relative = strncmp(path, "/../", 4) == 0, below_kubepods = false;

	while (*path) {
		size_t length = strcspn(path, "/:");

		take_part((struct part){path, length}, is_relative, &below_kubepods, &pod);
		path += length + (path[length] != '\0');
	}
	if (!*pod.uid)
		*pod.qos = '\0';
	else if (!*pod.qos && below_kubepods)
		strcpy(pod.qos, "guaranteed");
	if (!*pod.uid && !*pod.container)
		return false;
	*ret_pod = pod;
	return true;
}

/* "ID:CONTROLLERS:PATH" */
static bool pod_from_line(const char *line, size_t length, struct pod *ret_pod)
{
	char copy[PATH_MAX];
	char *path;

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, line, length);
	copy[length] = '\0';
	path = strchr(copy, ':');
	path = path ? strchr(path + 1, ':') : NULL;
	return path && pod_from_cgroup_path(path + 1, ret_pod);
}

bool pod_from_cgroups(const char *text, struct pod *ret_pod)
{
	struct pod pod;
	bool found = false;

	while (*text) {
		size_t length = strcspn(text, "\n");

		if (pod_from_line(text, length, &pod) && (!found || *pod.uid)) {
			*ret_pod = pod;
			found = true;
			if (*pod.uid)
				break;
		}
		text += length + (text[length] != '\0');
	}
	return found;
}

bool pod_of_process(const char *root, int pid, struct pod *ret_pod)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[PATH_MAX], text[CGROUPS_MAX];

	if (snprintf(path, sizeof(path), "%s/proc/%d/cgroup", root ?: "", pid) >= (int)sizeof(path))
		return false;
	file = regular_file_open(path);
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	return pod_from_cgroups(text, ret_pod);
}
