/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_RESCTRL_H
#define MTL_CLI_RESCTRL_H

/*
 * Cache partitions through the kernel's resctrl, in the order a command uses it:
 *
 *     struct resctrl_place place = {.root = options->root};
 *
 *     resctrl_geometry_read()   what the caches of this machine can be divided into
 *     resctrl_plan_new()        named groups that want ways -> masks, as lines of schemata
 *     resctrl_apply()           groups mtl.NAME made and their tasks moved, or nothing at all
 *     resctrl_retune()          other masks for the same groups (a controller's step)
 *     resctrl_members()         processes of a group, and resctrl_homes_of() groups of processes
 *     resctrl_monitor()         what a group occupies and moves
 *     resctrl_revert()          everything as it was before resctrl_apply()
 *
 * Everything happens under a root: ROOT/sys/fs/resctrl, ROOT/proc, ROOT/sys/devices/system/cpu and
 * ROOT/run/mtl. Functions return 0 or a negative errno with one sentence (cause, the kernel's words
 * where it said any, fix) in ret_error. Groups that are not called mtl.* are never changed, the
 * default group neither: its tasks may still fill the whole cache, the ways of our groups included.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "pid_set.h"

#define RESCTRL_PREFIX "mtl."
#define RESCTRL_NAME_LENGTH 60 /* of a name, without the prefix */
#define RESCTRL_CACHES 2       /* L2 and L3 */
#define RESCTRL_NOTES 2048
#define RESCTRL_MODE 32
#define RESCTRL_ERROR 1024 /* is enough for any sentence in ret_error */

struct resctrl_place {
	const char *root;    /* NULL: / */
	const char *journal; /* under root; NULL: /run/mtl/partition.journal */
	double patience;     /* seconds to wait for the lock of another program; 0: 10 */
};

/* One cache of a level. */
struct resctrl_domain {
	int id;                 /* not contiguous: 0, 1, 16, 17 is a machine that exists */
	uint64_t bytes_per_bit; /* 0: the kernel does not say */
	uint32_t taken;         /* bits of groups in exclusive mode, and pseudo-locked ones */
	char *cpus;             /* "0-7,16-23"; "" when sysfs does not say */
};

/* A level of caches that can be divided. */
struct resctrl_cache {
	int level;
	bool code_and_data; /* mounted with cdp: schemata lines L3CODE and L3DATA in place of L3 */
	uint32_t cbm_mask, shareable_bits; /* shareable: I/O fills these too */
	unsigned bits, min_cbm_bits;
	bool sparse; /* masks need not be contiguous */
	struct resctrl_domain *domains;
	size_t n_domains;
};

struct resctrl_geometry {
	struct resctrl_cache caches[RESCTRL_CACHES];
	size_t n_caches;      /* at least 1 */
	unsigned num_closids; /* groups there can be, the default one included */
	unsigned groups;      /* groups there are, the default one included, ours not */
	bool monitoring;      /* L3 occupancy or bandwidth can be read */
};

/*
 * -EOPNOTSUPP: no resctrl, or no cache allocation, on this machine; -ENOTCONN: not mounted;
 * -EACCES, -EPERM: not for this user; -EPROTO: a file says what this program does not understand.
 */
int resctrl_geometry_read(const struct resctrl_place *place, struct resctrl_geometry *ret_geometry,
        char *ret_error, size_t error_size);
void resctrl_geometry_done(struct resctrl_geometry *geometry);

/* NULL when caches of that level cannot be divided. */
const struct resctrl_cache *resctrl_cache(const struct resctrl_geometry *geometry, int level);

#define RESCTRL_EVERY_DOMAIN (-1)

/*
 * What a group gets of a cache: so many ways, which are nobody else's of the plan, or exactly this
 * mask, which may overlap others. A later share of the same domain overrides. A domain without a
 * share is left to the kernel, which gives a new group all bits that are not exclusively another's.
 */
struct resctrl_share {
	int level;  /* 2 or 3 */
	int domain; /* id, or RESCTRL_EVERY_DOMAIN */
	unsigned ways;
	uint32_t mask; /* not 0: this, and ways are not looked at */
};

struct resctrl_request {
	const char *name; /* other characters than A-Za-z0-9_.- become _, cut to 60 */
	const int *pids;
	size_t n_pids; /* may be 0: a group to be filled by somebody else */
	const struct resctrl_share *shares;
	size_t n_shares;
};

/* Who gets bits that I/O fills too. Groups are placed in the order of the requests. */
enum resctrl_shareable {
	RESCTRL_SHAREABLE_LAST,  /* nobody while there are others, then the last groups */
	RESCTRL_SHAREABLE_NEVER, /* nobody; they stay for I/O and the default group */
	RESCTRL_SHAREABLE_ANY,   /* masks from the lowest bit up */
};

struct resctrl_mask {
	int level, domain;
	uint32_t mask;
};

struct resctrl_plan_group {
	char name[sizeof(RESCTRL_PREFIX) + RESCTRL_NAME_LENGTH]; /* with the prefix */
	int *pids;
	size_t n_pids;
	struct resctrl_mask *masks; /* of every domain that had a share */
	size_t n_masks;
	char *schemata; /* "L3:0=00f;1=0f0\n", what is written; "" without shares */
};

struct resctrl_plan {
	struct resctrl_plan_group *groups;
	size_t n_groups;
};

/*
 * -ENOSPC: no such masks exist; -EINVAL: an impossible request (a level, domain, mask or name;
 * a process in two groups). The sentence says which group and why. That a plan was made means that
 * the kernel will take its masks unless others change resctrl in between.
 */
int resctrl_plan_new(const struct resctrl_geometry *geometry,
        const struct resctrl_request *requests, size_t n_requests, enum resctrl_shareable shareable,
        struct resctrl_plan **ret_plan, char *ret_error, size_t error_size);
void resctrl_plan_free(struct resctrl_plan *plan);
DEFINE_CLEANUP(struct resctrl_plan, resctrl_plan_free)

/* What was done, beside what was asked. */
struct resctrl_report {
	size_t moved; /* tasks (threads) put into another group */
	size_t ended; /* tasks that ended before they could be */
	/* one sentence a line: masks that became others, processes that are gone, tasks whose
	 * former group is; "" for none */
	char notes[RESCTRL_NOTES];
};

/*
 * Makes the groups, gives them their masks, moves all threads of their processes into them, until
 * no thread is outside. Under the lock that resctrl programs share; on any error all is undone.
 * Before the first change a journal of what there is to undo is written and synced, which remains
 * for resctrl_revert(). -EALREADY: a partition is in force or was broken off (there is a journal);
 * -EEXIST: a group mtl.NAME is there and no journal; else what the kernel refused with.
 */
int resctrl_apply(const struct resctrl_place *place, const struct resctrl_plan *plan,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size);

/*
 * The partition in force gets other masks and moves threads that are not in their groups yet;
 * groups stay, and so do their monitoring ids. On an error the former masks are back. -ENOENT: no
 * partition is in force, or one with groups of other names.
 */
int resctrl_retune(const struct resctrl_place *place, const struct resctrl_plan *plan,
        struct resctrl_report *ret_report, char *ret_error, size_t error_size);

/*
 * Tasks of our groups back to where they were (default group when that is gone or not known), our
 * groups and the journal removed: after resctrl_apply(), and after one that was cut off anywhere.
 * Without a journal it removes groups mtl.* whose making nobody remembers. 0 also when there is
 * nothing to do; may be repeated.
 */
int resctrl_revert(const struct resctrl_place *place, struct resctrl_report *ret_report,
        char *ret_error, size_t error_size);

/* The schemata file of a group as the kernel prints it, to be freed. -ENOENT: no such group. */
int resctrl_schemata(const struct resctrl_place *place, const char *group, char **ret_schemata,
        char *ret_error, size_t error_size);

/* 1: a partition is in force, or one was broken off (there is a journal); 0: none. */
int resctrl_applied(const struct resctrl_place *place, char *ret_error, size_t error_size);

/*
 * Processes that have a thread in the group ("" for the default one, "a/mon_groups/x" for a
 * monitoring group), and those of them that have threads in other groups too, as far as the kernel
 * says which. -ENOENT: no such group; else like resctrl_geometry_read().
 */
int resctrl_members(const struct resctrl_place *place, const char *group, struct pid_set *ret_set,
        struct pid_set *ret_partly, char *ret_error, size_t error_size);

/*
 * The mode of a group, of a monitoring group that of its control group: "shareable"; "exclusive" or
 * "pseudo-locked", where its ways are nobody else's. Errors likewise.
 */
int resctrl_mode(const struct resctrl_place *place, const char *group,
        char ret_mode[RESCTRL_MODE], char *ret_error, size_t error_size);

/* A group that threads of some processes are in. */
struct resctrl_home {
	char *group;
	size_t others; /* processes in it that were not asked about */
};

struct resctrl_homes {
	struct resctrl_home *homes; /* none within another */
	size_t n;
};

/* Of a sorted set; those that have ended are in none. Errors as above, -EPROTO. */
int resctrl_homes_of(const struct resctrl_place *place, const struct pid_set *set,
        struct resctrl_homes *ret_homes, char *ret_error, size_t error_size);
void resctrl_homes_done(struct resctrl_homes *homes);

/* A counter, or that it cannot be read: not 0 then. */
struct resctrl_count {
	bool known;
	uint64_t bytes;
	char words[24]; /* what it says in place of a number, "Unavailable"; "": it is not there */
};

struct resctrl_reading {
	int domain;                                   /* id of the L3 */
	struct resctrl_count occupancy, total, local; /* total, local: bytes since some moment */
};

/*
 * Of a group, "" for the default one, a path like "mtl.a/mon_groups/x" for a monitoring group.
 * free() the readings. -ENOENT: no such group; -EOPNOTSUPP: nothing is monitored on this machine.
 */
int resctrl_monitor(const struct resctrl_place *place, const char *group,
        struct resctrl_reading **ret_readings, size_t *ret_n, char *ret_error, size_t error_size);

#endif
