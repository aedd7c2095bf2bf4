/* SPDX-License-Identifier: MIT */
/*
 * mtld: arguments, configuration, and one event loop that owns the socket, the manager and the
 * server in this order; they go in the reverse one.
 *
 * SIGHUP: the configuration is read again (reload.c).
 *
 * Exit status: 0 asked to end (SIGTERM, SIGINT), 1 failed, 2 bad option or configuration, 4
 * sampling is impossible here. systemd is told READY only when the socket listens and the manager
 * has found its rung of the ladder.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include "cleanup.h"
#include "config.h"
#include "ladder.h"
#include "listen.h"
#include "log.h"
#include "manager.h"
#include "proc.h"
#include "reload.h"
#include "self_test.h"
#include "server.h"

enum exit_code { DONE = 0, FAILED = 1, USAGE = 2, IMPOSSIBLE = 4 };

DEFINE_CLEANUP(struct listen_socket, listen_release)
DEFINE_CLEANUP(struct manager, manager_free)
DEFINE_CLEANUP(struct server, server_free)

struct settings {
	const char *socket, *config; /* NULL: the default */
	const char *root;
	const char *rung; /* NULL: as configured */
	bool check_config, self_test, json, help, version;
};

static const struct option long_options[] = {
        {"socket", required_argument, NULL, 's'},
        {"config", required_argument, NULL, 'c'},
        {"root", required_argument, NULL, 'r'},
        {"rung", required_argument, NULL, 'R'},
        {"check-config", no_argument, NULL, 'k'},
        {"self-test", no_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
};

static const char help_text[] =
        "mtld: live miss-ratio curves of running processes, served on a Varlink socket\n"
        "\n"
        "  --socket PATH   listen at PATH (default " DEFAULT_SOCKET ", or what systemd passes)\n"
        "  --config FILE   read FILE (default " MTL_SYSCONFDIR
        "/mtld/mtld.conf, which may be missing)\n"
        "  --root DIR      look for /proc and /sys under DIR\n"
        "  --rung NAME     measure with pebs, ibs, counters or watchpoints, or not at all\n"
        "                  (auto: the best that works)\n"
        "  --check-config  say what is wrong with the configuration, if anything, and end\n"
        "  --self-test     report what this machine allows, and end\n"
        "  --json          the report of --self-test as one JSON object\n"
        "  --help          this text\n"
        "  --version       version and end\n"
        "\n"
        "SIGHUP makes it read the configuration again; one that is wrong changes nothing.\n"
        "Exit status: 0 asked to end, 1 failed, 2 bad option or configuration, 4 sampling "
        "impossible here.\n";

/* Where an option goes; a flag is set, the others point at their argument. */
static int take_option(int option, struct settings *settings)
{
	switch (option) {
	case 's':
		settings->socket = optarg;
		return 0;
	case 'c':
		settings->config = optarg;
		return 0;
	case 'r':
		settings->root = optarg;
		return 0;
	case 'R':
		settings->rung = optarg;
		return 0;
	case 'k':
		settings->check_config = true;
		return 0;
	case 't':
		settings->self_test = true;
		return 0;
	case 'j':
		settings->json = true;
		return 0;
	case 'h':
		settings->help = true;
		return 0;
	case 'V':
		settings->version = true;
		return 0;
	default: /* getopt has named the option */
		return -EINVAL;
	}
}

static int parse_arguments(int argc, char **argv, struct settings *ret_settings)
{
	struct settings settings = {.root = ""};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
		if (take_option(option, &settings) < 0)
			return -EINVAL;
	if (optind < argc) {
		log_line(SD_ERR, "unexpected argument \"%s\"; see mtld --help", argv[optind]);
		return -EINVAL;
	}
	if (settings.rung && strcmp(settings.rung, "auto") != 0 &&
	        ladder_rung_named(settings.rung) == N_RUNGS) {
		log_line(SD_ERR, "--rung: \"%s\" is none of auto, pebs, ibs, counters, watchpoints",
		        settings.rung);
		return -EINVAL;
	}
	if (settings.json && !settings.self_test) {
		log_line(SD_ERR, "--json goes with --self-test; see mtld --help");
		return -EINVAL;
	}
	*ret_settings = settings;
	return 0;
}

/* Every thread started later inherits the mask, so that only the event loop sees these signals. */
static int prepare_process(void)
{
	struct rlimit limit;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return 0;
}

static int prepare_event(sd_event **ret_event)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r = sd_event_new(&event);

	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	if (r < 0)
		return r;
	*ret_event = TAKE_PTR(event);
	return 0;
}

static int failed(const char *what, int r)
{
	log_line(SD_ERR, "%s: %s", what, strerror(-r));
	return FAILED;
}

/* Whether there is anything to serve; DONE or IMPOSSIBLE. */
static int check_rung(
        struct manager *manager, const struct config *config, struct manager_status *ret_status)
{
	bool forced = strcmp(config->rung, "auto") != 0;

	manager_status(manager, ret_status);
	if (strcmp(ret_status->rung, "none") != 0)
		return DONE;
	log_event(LOG_SAMPLING_IMPOSSIBLE, SD_ERR, NULL, "%s%s%s: %s%s%s",
	        forced ? "rung " : "sampling", forced ? config->rung : "",
	        forced ? " cannot be had here" : " is impossible here", ret_status->reason,
	        *ret_status->fix ? "; " : "", ret_status->fix);
	sd_notifyf(false, "STATUS=sampling is impossible here: %s", ret_status->reason);
	return IMPOSSIBLE;
}

static double thread_cpu_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static int loop(sd_event *event, struct manager *manager)
{
	double begin = thread_cpu_seconds(), end;
	int r = 0;

	while (r >= 0 && sd_event_get_state(event) != SD_EVENT_FINISHED) {
		r = sd_event_run(event, UINT64_MAX);
		end = thread_cpu_seconds();
		manager_turn_over(manager, end - begin);
		begin = end;
	}
	return r;
}

static int serve(const struct settings *settings, struct config *config)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(listen_releasep) struct listen_socket *socket = NULL;
	_cleanup_(manager_freep) struct manager *manager = NULL;
	_cleanup_(server_freep) struct server *server = NULL;
	struct reload reload = {settings->config, settings->rung, config, NULL};
	struct manager_status status;
	const char *source;
	char problem[512];
	double last;
	int r = prepare_event(&event);

	if (r < 0)
		return failed("no event loop", r);
	if (listen_acquire(settings->socket, &socket, problem, sizeof(problem)) < 0) {
		log_line(SD_ERR, "%s", problem);
		return FAILED;
	}
	r = manager_new(event, config, settings->root, &manager);
	if (r < 0)
		return failed("the sampler cannot start", r);
	r = check_rung(manager, config, &status);
	if (r != DONE)
		return r;
	r = server_new(event, manager, config, settings->root, listen_fd(socket), NULL, &server);
	if (r < 0)
		return failed("the server cannot start", r);
	reload.server = server;
	r = reload_at_hangup(event, &reload);
	if (r < 0)
		return failed("SIGHUP", r);
	last = proc_cache_bytes(settings->root, 0, &source);
	sd_notifyf(false, "READY=1\nSTATUS=rung %s, armed %s; last-level cache %.0f KiB, by %s",
	        status.rung, status.method, last / 1024, source);
	r = loop(event, manager);
	sd_notify(false, "STOPPING=1");
	return r < 0 ? failed("the event loop ended", r) : DONE;
}

/* The self-test asks the machine, not the configuration. */
static int configure(const struct settings *settings, struct config *config)
{
	char problem[512];

	config_defaults(config);
	if (!settings->self_test &&
	        config_load(settings->config, config, problem, sizeof(problem)) < 0) {
		log_line(SD_ERR, "%s", problem);
		return USAGE;
	}
	if (settings->rung)
		snprintf(config->rung, sizeof(config->rung), "%s", settings->rung);
	return DONE;
}

static int run(const struct settings *settings)
{
	struct config config;
	int r = configure(settings, &config);

	if (r != DONE || settings->check_config)
		return r;
	if (settings->self_test)
		return self_test_run(&config, settings->root, settings->json);
	r = prepare_process();
	return r < 0 ? failed("signals", r) : serve(settings, &config);
}

int main(int argc, char **argv)
{
	struct settings settings;

	if (parse_arguments(argc, argv, &settings) < 0)
		return USAGE;
	if (settings.help)
		return fputs(help_text, stdout) < 0 ? FAILED : DONE;
	if (settings.version)
		return puts("mtld " MTL_VERSION) < 0 ? FAILED : DONE;
	return run(&settings);
}
