// SPDX-License-Identifier: MIT
/*
 * Rings of watch hits: one a CPU, so that CPUs never contend for one, put into the map in which the
 * BPF program looks for that of its CPU.
 */
#include "source.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"

struct hit_ring {
	struct ring_buffer *ring;
	int fd;
	source_hit_fn callback;
	void *userdata;
};

static int on_hit(void *context, void *data, size_t size)
{
	struct hit_ring *ring = context;

	if (size >= sizeof(struct mtl_hit))
		ring->callback(ring->userdata, data);
	return 0;
}

int source_hit_ring_new(struct source *source, unsigned cpu, source_hit_fn callback, void *userdata,
        struct hit_ring **ret_ring)
{
	uint32_t key = cpu;
	unsigned bytes;
	int rings = source_hit_rings(source, &bytes);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "hits", 0, 0, bytes, NULL);
	_cleanup_free_ struct hit_ring *ring = calloc(1, sizeof(*ring));

	if (fd < 0)
		return fd;
	if (!ring)
		return -ENOMEM;
	ring->callback = callback;
	ring->userdata = userdata;
	if (bpf_map_update_elem(rings, &key, &fd, BPF_ANY) < 0)
		return -errno;
	ring->ring = ring_buffer__new(fd, on_hit, ring, NULL);
	if (!ring->ring)
		return -errno;
	ring->fd = TAKE_FD(fd);
	*ret_ring = TAKE_PTR(ring);
	return 0;
}

int source_hit_ring_elsewhere(struct source *source, const struct hit_ring *ring)
{
	uint32_t key = MTL_CPU_ELSEWHERE;
	unsigned bytes;
	int rings = source_hit_rings(source, &bytes);

	if (bpf_map_update_elem(rings, &key, &ring->fd, BPF_ANY) < 0)
		return -errno;
	return 0;
}

struct hit_ring *hit_ring_free(struct hit_ring *ring)
{
	if (!ring)
		return NULL;
	ring_buffer__free(ring->ring);
	close(ring->fd);
	free(ring);
	return NULL;
}

int hit_ring_fd(const struct hit_ring *ring)
{
	return ring_buffer__epoll_fd(ring->ring);
}

int hit_ring_consume(struct hit_ring *ring)
{
	return ring_buffer__consume(ring->ring);
}
