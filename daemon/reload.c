/* SPDX-License-Identifier: MIT */
/*
 * The configuration, read again while everything runs. It is read into a copy that started from the
 * defaults, as at start: a key that is gone from the file has its default again. Whatever can fail
 * comes before the first thing that changes.
 *
 * systemd is told RELOADING=1 before and READY=1 after, whatever came of it: the service is then as
 * ready as it was. MONOTONIC_USEC= is for Type=notify-reload of systemd 253 and later; 252 ignores
 * it.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "log.h"
#include "reload.h"

int reload_now(const struct reload *reload)
{
	struct config next;
	char text[512];
	bool is_there;
	int r;

	config_defaults(&next);
	r = config_load(reload->path, &next, text, sizeof(text));
	if (r < 0) {
		log_event(LOG_CONFIGURATION_REFUSED, SD_ERR, NULL,
		        "configuration not read again, the one before stays: %s", text);
		return r;
	}
	is_there = r > 0;
	if (reload->rung)
		snprintf(next.rung, sizeof(next.rung), "%s", reload->rung);
	r = server_prepare(reload->server, &next);
	if (r < 0) {
		log_event(LOG_CONFIGURATION_REFUSED, SD_ERR, NULL,
		        "configuration not read again, the one before stays: %s", strerror(-r));
		return r;
	}
	config_adopt(reload->config, &next, text, sizeof(text));
	log_event(LOG_CONFIGURATION_READ, *text || !is_there ? SD_WARNING : SD_NOTICE, NULL, "%s%s%s",
	        is_there ? "configuration read again" : "there is no configuration file: the defaults count",
	        *text ? "; changes that wait for a restart: " : "", text);
	return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *user)
{
	struct timespec now;

	(void)source, (void)info;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
	        (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	reload_now(user);
	sd_notify(false, "READY=1");
	return 0;
}

int reload_at_hangup(sd_event *event, struct reload *reload)
{
	return sd_event_add_signal(event, NULL, SIGHUP, on_hangup, reload);
}
