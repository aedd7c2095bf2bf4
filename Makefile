# SPDX-License-Identifier: MIT
#
# One non-recursive Makefile; `make help` lists the targets. Everything made goes under $(BUILD).
# pkg-config and the compiler are asked only when a recipe runs, after `deps` has seen to them, so
# this file needs nothing but make and a shell to be read.

VERSION := 0.1.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DOCDIR ?= $(PREFIX)/share/doc/mtl
SYSCONFDIR ?= /etc
BUILD ?= build
FUZZ_SECONDS ?= 60
COVERAGE_RUNS ?= 2000

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
# as many jobs as processors, unless told otherwise
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
CFLAGS ?= -O2 -g
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

export PATH := $(PATH):/usr/sbin:/sbin
export MTL_BUILD := $(BUILD)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)';)

# once,NAME,COMMAND: a variable whose command runs at its first use and never again
once = $(1) = $$(eval $(1) := $$(shell $(2)))$$($(1))
$(eval $(call once,PKG_CFLAGS,pkg-config --cflags libbpf libsystemd json-c smartcols inih ncursesw libarchive zlib))
$(eval $(call once,PKG_LIBS,pkg-config --libs libbpf libsystemd json-c smartcols inih ncursesw libarchive zlib))
$(eval $(call once,JSON_LIBS,pkg-config --libs json-c))
$(eval $(call once,FUSE_LIBS,pkg-config --libs fuse3))
$(eval $(call once,CMOCKA,pkg-config --cflags --libs cmocka))
$(eval $(call once,MULTIARCH,gcc -print-multiarch))
$(eval $(call once,BPF_ARCH,uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/'))

WARNINGS := -Wall -Wextra -Werror
DEFINES := -D_GNU_SOURCE= -DMTL_VERSION='"$(VERSION)"' -DMTL_SBINDIR='"$(SBINDIR)"' \
	-DMTL_SYSCONFDIR='"$(SYSCONFDIR)"'
COMPILE = -std=gnu11 $(CFLAGS) $(WARNINGS) -fPIC -pthread $(DEFINES) $(CPPFLAGS) $(PKG_CFLAGS) -MMD -MP
LIBS = -Wl,--as-needed $(PKG_LIBS) -lm -lpthread

INCLUDE_lib := -Ilib
INCLUDE_daemon := -Ilib -Idaemon -Ibpf -I$(BUILD) -I$(BUILD)/bpf
INCLUDE_cli := -Ilib -Icli -I$(BUILD)
INCLUDE_unit := $(INCLUDE_daemon) -Icli -Itests/unit

# what another program includes
HEADERS := $(wildcard lib/mtl*.h)
LIB_SRC := $(wildcard lib/*.c)
DAEMON_SRC := $(filter-out daemon/mtld.c,$(wildcard daemon/*.c))
CLI_SRC := $(filter-out cli/mtl.c,$(wildcard cli/*.c))
BPF_SRC := $(wildcard bpf/*.bpf.c)
TESTS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/fuzz_*.c))
# programs of tests/unit that are run by hand or by scripts
PLAYERS := play_trace play_intervals play_accuracy play_real
SKELETONS := $(patsubst bpf/%.bpf.c,$(BUILD)/bpf/%.skel.h,$(BPF_SRC))
# what `mtl export` serves as a page, as strings in one header
PAGE := index.html page.css page.js chart.js icon.svg
GENERATED := $(SKELETONS) $(if $(wildcard daemon/io.mtld.varlink),$(BUILD)/io.mtld.varlink.h)
# programs the live tests bring along, one a file
HELPERS := $(patsubst %.c,$(BUILD)/%,$(filter-out tests/bench/memory_trace.c, \
	$(wildcard tests/machine/*.c tests/live/*.c tests/bench/*.c)))

PROGRAMS := $(BUILD)/mtld $(BUILD)/mtl $(BUILD)/libmtl.so $(BUILD)/libmtl.a

# A test is linked with these objects of tests/unit before the archives: what they define is not
# taken from daemon/ (a test that wants the real manager simply does not name the fake one).
EXTRA_test_server := fake_manager server_fixture
EXTRA_test_bad_clients := fake_manager server_fixture
EXTRA_test_reload := fake_manager server_fixture
EXTRA_test_methods := fake_manager methods_fixture varlink_check
EXTRA_test_cache_methods := fake_manager methods_fixture varlink_check
EXTRA_test_permissions := fake_manager methods_fixture varlink_check
EXTRA_test_resctrl := fake_resctrl fake_resctrl_paths fake_resctrl_tree
EXTRA_test_resctrl_plan := $(EXTRA_test_resctrl)
EXTRA_test_partition_apply := $(EXTRA_test_resctrl)
EXTRA_test_partition_watch := $(EXTRA_test_resctrl)
EXTRA_fuzz_message := fake_manager
EXTRA_play_trace := played
EXTRA_play_intervals := programs study
EXTRA_play_accuracy := programs timed
EXTRA_play_real := programs timed traced played
EXTRA_test_deadlines := programs timed
EXTRA_test_intervals := programs study
EXTRA_test_reuse_times := played

# and with these libraries besides
LIBS_test_resctrl = $(FUSE_LIBS)
LIBS_test_resctrl_plan = $(FUSE_LIBS)
LIBS_test_partition_apply = $(FUSE_LIBS)
LIBS_test_partition_watch = $(FUSE_LIBS)

DEPS := $(addprefix deps-,browser check deb demo fuzz format systemd)

# what is run, and takes the machine for itself
RUNS := check check-export check-browser check-unit check-doctor check-simulated check-coverage \
	check-accuracy-simulated check-trace check-share check-stub check-probe check-top check-manual check-live \
	check-accuracy check-coverage-live check-big check-followed check-reuse check-phases check-kernels check-systemd bench \
	bench-trace load soak demo
.PHONY: $(RUNS) all check-library check-layers check-docs bench-real bench-real-simulated fuzz format deb install uninstall clean \
	help force deps $(DEPS)
.SECONDARY:
.DELETE_ON_ERROR:
.SUFFIXES:

# what tests/machine/run.sh takes along for everybody, and asks whether it is needed
ALONG := $(BUILD)/workload $(BUILD)/tests/machine/watchpoints_fire

all: $(PROGRAMS) $(ALONG) $(BUILD)/man/made $(BUILD)/completions/made

deps:
	@packaging/build-deps.sh build
$(DEPS): deps-%: deps
	@packaging/build-deps.sh $*

# --- generated files

$(BUILD)/io.mtld.varlink.h: daemon/io.mtld.varlink | deps
	$(call say,GEN,$@)mkdir -p $(@D)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/\t"&\\n"/' \
		-e '1i static const char io_mtld_varlink[] =' -e '$$s/$$/;/' $< >$@

# page.js becomes page_page_js
$(BUILD)/page_files.h: $(PAGE:%=cli/page/%)
	$(call say,GEN,$@)mkdir -p $(@D)
	$(Q)for f in $(PAGE); do echo "static const char page_$$f[] =" | tr . _; \
		sed -e 's/[\\"]/\\&/g' -e 's/.*/\t"&\\n"/' -e '$$s/$$/;/' cli/page/$$f; done >$@

# BPF_PROG() makes a context parameter that a program may not need
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c | deps
	$(call say,BPF,$@)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -g -O2 -mcpu=v3 $(WARNINGS) -Wno-unused-parameter \
		-D__TARGET_ARCH_$(BPF_ARCH) -Ibpf -I/usr/include/$(MULTIARCH) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)bpftool gen skeleton $< name $(notdir $*)_bpf >$@

# rebuild when the compiler or its flags change
$(BUILD)/flags: force
	@mkdir -p $(@D); f='$(subst ','\'',$(CC) $(CFLAGS) $(CPPFLAGS) $(WARNINGS) $(DEFINES))'; \
		[ -f $@ ] && [ "$$f" = "$$(cat $@)" ] || echo "$$f" >$@
force:

# --- objects and archives, once for each flavour: directory, compiler, further flags

define objects # flavour directory, compiler, flags, layer, source directory
$(1)/$(4)/%.o: $(5)/%.c $(BUILD)/flags | deps $(if $(filter lib cli,$(4)),,$(GENERATED)) \
		$(if $(filter cli,$(4)),$(BUILD)/page_files.h) \
		$(if $(filter unit,$(4)),deps-check)
	$$(call say,CC,$$@)mkdir -p $$(@D)
	$$(Q)$(2) $$(COMPILE) $(3) $(INCLUDE_$(4)) -c $$< -o $$@
endef

define archive # archive, objects
$(1): $(2)
	$$(call say,AR,$$@)mkdir -p $$(@D); rm -f $$@
	$$(Q)ar rcs $$@ $(2)
endef

define test # flavour directory, compiler, flags, name
$(1)/unit/$(4): $(1)/unit/$(4).o $(EXTRA_$(4):%=$(1)/unit/%.o) $(1)/cli.a $(1)/daemon.a $(1)/libmtl.a
	$$(call say,LINK,$$@)$(2) $(LDFLAGS) -pthread $(3) $$^ -o $$@ $$(LIBS) $$(CMOCKA) $$(LIBS_$(4))
endef

define flavour # directory, compiler, flags
$(eval $(call objects,$(1),$(2),$(3),lib,lib))
$(eval $(call objects,$(1),$(2),$(3),daemon,daemon))
$(eval $(call objects,$(1),$(2),$(3),cli,cli))
$(eval $(call objects,$(1),$(2),$(3),unit,tests/unit))
$(eval $(call archive,$(1)/libmtl.a,$(LIB_SRC:%.c=$(1)/%.o)))
$(eval $(call archive,$(1)/daemon.a,$(DAEMON_SRC:%.c=$(1)/%.o)))
$(eval $(call archive,$(1)/cli.a,$(CLI_SRC:%.c=$(1)/%.o)))
$(foreach t,$(TESTS) $(FUZZERS) $(PLAYERS),$(eval $(call test,$(1),$(2),$(3),$(t))))
endef

$(eval $(call flavour,$(BUILD),$$(CC),))
$(eval $(call flavour,$(BUILD)/sanitize,$$(CC),$(SANITIZE)))
$(eval $(call flavour,$(BUILD)/fuzz,$$(CLANG),$(SANITIZE) -fsanitize=fuzzer-no-link))
$(FUZZERS:%=$(BUILD)/fuzz/unit/%): CMOCKA = -fsanitize=fuzzer
$(FUZZERS:%=$(BUILD)/fuzz/unit/%): | deps-fuzz

# --- programs

$(BUILD)/mtld: $(BUILD)/daemon/mtld.o $(BUILD)/daemon.a $(BUILD)/libmtl.a
	$(call say,LINK,$@)$(CC) $(LDFLAGS) -pthread $^ -o $@ $(LIBS)

$(BUILD)/mtl: $(BUILD)/cli/mtl.o $(BUILD)/cli.a $(BUILD)/libmtl.a
	$(call say,LINK,$@)$(CC) $(LDFLAGS) -pthread $^ -o $@ $(LIBS)

$(BUILD)/libmtl.so: $(LIB_SRC:%.c=$(BUILD)/%.o) lib/libmtl.map
	$(call say,LINK,$@)$(CC) $(LDFLAGS) -shared -Wl,-soname,libmtl.so.0 -Wl,-z,defs \
		-Wl,--version-script,lib/libmtl.map $(filter %.o,$^) -o $@ -Wl,--as-needed $(JSON_LIBS) -lm

$(BUILD)/workload: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/workload/*.c))
	$(call say,LINK,$@)$(CC) $(LDFLAGS) -pthread $^ -o $@ -lm

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags | deps
	$(call say,CC,$@)mkdir -p $(@D)
	$(Q)$(CC) $(COMPILE) -Ilib -c $< -o $@

$(HELPERS): %: %.o $(BUILD)/libmtl.a
	$(call say,LINK,$@)$(CC) $(LDFLAGS) -pthread $^ -o $@ $(LIBS)

# --- manual pages and completions, of what the programs say of themselves

MANUALS := $(patsubst packaging/man/%.in,$(BUILD)/man/%,$(wildcard packaging/man/*.in))
SAID := $(BUILD)/mtl $(BUILD)/mtld packaging/usage.sh
$(BUILD)/man/made: $(SAID) $(wildcard packaging/man/*) etc/mtld.conf daemon/io.mtld.varlink $(HEADERS) cli/top_keys.c
	$(call say,MAN,$(@D))packaging/man/make.sh $(@D) $(VERSION) && touch $@
$(BUILD)/completions/made: $(SAID) packaging/completions/make.sh
	$(call say,GEN,$(@D))packaging/completions/make.sh $(@D) && touch $@

# --- running things

demo: $(PROGRAMS) $(ALONG) | deps-demo
	$(Q)tests/machine/run.sh --prepare
	$(Q)tests/demo.sh

UNIT := $(TESTS:%=$(BUILD)/unit/%) $(TESTS:%=$(BUILD)/sanitize/unit/%)
LIVE := $(PROGRAMS) $(BUILD)/workload $(HELPERS)

check: all $(LIVE) $(UNIT) $(PLAYERS:%=$(BUILD)/unit/%) | deps-check
	$(Q)tests/test_checks.sh
	$(Q)tests/check_layers.sh
	$(Q)tests/check_docs.sh
	$(Q)tests/library/run.sh
	$(Q)tests/run_unit.sh $(BUILD) $(TESTS)
	$(Q)tests/doctor/run.sh
	$(Q)tests/simulated/run.sh
	$(Q)tests/trace/run.sh
	$(Q)tests/share/run.sh
	$(Q)tests/stub/run.sh
	$(Q)tests/probe/run.sh
	$(Q)tests/top/run.sh
	$(Q)tests/export/run.sh
	$(Q)tests/manual/run.sh
	$(Q)tests/live/run.sh
check-layers:
	$(Q)tests/test_checks.sh
	$(Q)tests/check_layers.sh
check-docs: $(PROGRAMS)
	$(Q)tests/check_docs.sh
check-library: $(PROGRAMS)
	$(Q)tests/library/run.sh
check-unit: $(UNIT) | deps-check
	$(Q)tests/run_unit.sh $(BUILD) $(TESTS)
check-doctor: $(BUILD)/mtl $(BUILD)/mtld | deps-check
	$(Q)tests/doctor/run.sh
check-simulated: $(BUILD)/unit/play_trace | deps-check
	$(Q)tests/simulated/run.sh
check-coverage: $(BUILD)/unit/play_intervals | deps-check
	$(Q)$< $(COVERAGE_RUNS)
check-accuracy-simulated: $(BUILD)/unit/play_accuracy | deps-check
	$(Q)$< $(ACCURACY_RUNS)
check-trace: $(BUILD)/mtl | deps-check
	$(Q)tests/trace/run.sh
check-probe: $(BUILD)/mtl | deps-check
	$(Q)tests/probe/run.sh
check-top: $(BUILD)/mtl | deps-check
	$(Q)tests/top/run.sh
check-export: $(BUILD)/mtl | deps-check
	$(Q)tests/export/run.sh
check-browser: $(BUILD)/mtl | deps-check deps-browser
	$(Q)tests/browser/run.sh
check-manual: all | deps-check
	$(Q)tests/manual/run.sh
check-share: $(BUILD)/mtl | deps-check
	$(Q)tests/share/run.sh
check-stub: $(BUILD)/mtl | deps-check
	$(Q)tests/stub/run.sh
check-live: $(LIVE) | deps-check
	$(Q)tests/live/run.sh
check-accuracy: $(LIVE) | deps-check
	$(Q)tests/live/run.sh accuracy
check-reuse: $(LIVE) | deps-check
	$(Q)MTL_MACHINE=emulated tests/machine/run.sh --cpus 0 --program $(BUILD)/tests/live/refault -- tests/kernels/reuse_times.sh
check-coverage-live: $(LIVE) | deps-check
	$(Q)tests/live/run.sh coverage
check-followed: $(LIVE) | deps-check
	$(Q)tests/live/followed.sh
check-big: $(LIVE) | deps-check
	$(Q)tests/live/run.sh big
check-phases: $(LIVE) | deps-check
	$(Q)tests/live/run.sh phases
check-kernels: $(LIVE) $(addprefix $(BUILD)/unit/,test_address_source test_address_heat test_cpu_events) | \
		deps-check
	$(Q)tests/kernels/run.sh
check-systemd: $(LIVE) | deps-systemd
	$(Q)tests/systemd/run.sh
bench: $(LIVE) | deps-check
	$(Q)tests/bench/run.sh
bench-real: $(LIVE) $(BUILD)/tests/bench/memory_trace.so | deps-check
	$(Q)tests/bench/real.sh
bench-real-simulated: $(BUILD)/unit/play_real $(BUILD)/tests/bench/memory_trace.so | deps-check
	$(Q)tests/bench/real_simulated.sh
$(BUILD)/tests/bench/memory_trace.so: tests/bench/memory_trace.c
	$(Q)mkdir -p $(@D)
	@echo '  CC       $@'
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -o $@ $<
load: $(LIVE) | deps-check
	$(Q)tests/bench/load.sh
soak: $(LIVE) | deps-check
	$(Q)tests/bench/soak.sh $(SOAK_MINUTES)
bench-trace: $(BUILD)/mtl $(BUILD)/tests/bench/together $(BUILD)/tests/bench/zipf $(BUILD)/tests/bench/usage | deps-check
	$(Q)tests/bench/trace.sh

# never two of RUNS at once, whatever -j says: they would disturb each other
$(foreach run,$(RUNS),$(eval before := )$(foreach goal,$(MAKECMDGOALS),\
	$(if $(filter $(run),$(goal)),$(eval $(run): | $(before)),)$(if $(filter $(RUNS),$(goal)),$(eval before += $(goal)),)))

fuzz: $(FUZZERS:%=$(BUILD)/fuzz/unit/%) | deps-fuzz
	$(Q)for f in $(FUZZERS); do mkdir -p $(BUILD)/corpus/$$f; \
		$(BUILD)/fuzz/unit/$$f -max_total_time=$(FUZZ_SECONDS) $(BUILD)/corpus/$$f \
			$$(ls -d tests/unit/corpus/$$f 2>/dev/null) || exit 1; done

format: | deps-format
	$(Q)clang-format -i $(wildcard lib/*.[ch] daemon/*.[ch] cli/*.[ch] bpf/*.[ch] tests/*/*.[ch])

# --- installing

DEST := $(DESTDIR)
# disabled and stopped in this order
UNITS := mtl-export.service mtl-partition.service mtld.socket mtld.service
CONFIGURATION := mtld.conf partition.conf
# true when what is installed does not become part of this running system
ELSEWHERE := [ -n '$(DEST)' ] || [ "$$(id -u)" != 0 ]
# pages and completions: file, directory
EXTRAS := $(foreach m,$(MANUALS),$(m):$(MANDIR)/man$(lastword $(subst ., ,$(m)))) \
	$(addsuffix :$(BASHDIR),$(addprefix $(BUILD)/completions/bash/,mtl mtld)) \
	$(BUILD)/completions/zsh/_mtl:$(ZSHDIR) \
	$(addsuffix :$(FISHDIR),$(addprefix $(BUILD)/completions/fish/,mtl.fish mtld.fish)) \
	$(addsuffix :$(DOCDIR)/examples,$(wildcard packaging/examples/* packaging/prometheus/* \
		packaging/grafana/* packaging/kubernetes/*) tests/library/example.c)
# documents are installed side by side, and name what is installed where it then is
FLAT := -e 's,docs/\([A-Z]*\.md\|[a-z]*\.svg\),\1,g' -e 's,\.\./README,README,g' -e 's,(lib/\(mtl[a-z_]*\.h\)),($(INCLUDEDIR)/\1),g' \
	-e 's,tests/library/example,examples/example,g' -e 's,packaging/\(examples\|prometheus\|grafana\|kubernetes\)\b,examples,g'
RELOAD := ldconfig; ! [ -d /run/systemd/system ] || systemctl daemon-reload

deb: | deps deps-deb
	$(call say,DEB,$(BUILD)/deb)packaging/deb.sh

install: all
	$(call say,INSTALL,$(DEST)$(PREFIX))install -d $(DEST)$(BINDIR) $(DEST)$(SBINDIR) \
		$(DEST)$(LIBDIR)/pkgconfig $(DEST)$(INCLUDEDIR) $(DEST)$(UNITDIR) $(DEST)$(SYSUSERSDIR) \
		$(DEST)$(DOCDIR) $(DEST)$(SYSCONFDIR)/mtld
	$(Q)install -m 755 $(BUILD)/mtl $(DEST)$(BINDIR)/mtl
	$(Q)install -m 755 $(BUILD)/mtld $(DEST)$(SBINDIR)/mtld
	$(Q)install -m 644 $(BUILD)/libmtl.a $(DEST)$(LIBDIR)/libmtl.a
	$(Q)install -m 755 $(BUILD)/libmtl.so $(DEST)$(LIBDIR)/libmtl.so.0
	$(Q)ln -sf libmtl.so.0 $(DEST)$(LIBDIR)/libmtl.so
	$(Q)install -m 644 $(HEADERS) $(DEST)$(INCLUDEDIR)
	$(Q)printf '%s\n' 'Name: libmtl' 'Description: miss-ratio curves from watched cache lines and from traces' \
		'Version: $(VERSION)' 'Requires.private: json-c' 'Libs: -L$(LIBDIR) -lmtl' \
		'Libs.private: -lm' 'Cflags: -I$(INCLUDEDIR)' >$(DEST)$(LIBDIR)/pkgconfig/libmtl.pc
	$(Q)for u in $(UNITS); do sed -e 's|/usr/local/sbin|$(SBINDIR)|g' \
		-e 's|/usr/local/bin|$(BINDIR)|g' -e 's|/etc/mtld|$(SYSCONFDIR)/mtld|g' \
		-e 's|/usr/local/share/doc/mtl|$(DOCDIR)|g' packaging/systemd/$$u \
		>$(DEST)$(UNITDIR)/$$u && chmod 644 $(DEST)$(UNITDIR)/$$u || exit 1; done
	$(Q)install -m 644 packaging/systemd/mtl.sysusers $(DEST)$(SYSUSERSDIR)/mtl.conf
	$(Q)install -m 644 LICENSE daemon/io.mtld.varlink $(wildcard docs/*.svg) $(DEST)$(DOCDIR)
	$(Q)for d in README.md docs/*.md; do f=$(DEST)$(DOCDIR)/$${d##*/}; \
		sed $(FLAT) $$d >$$f && chmod 644 $$f || exit 1; done
	$(Q)for e in $(EXTRAS); do install -D -m 644 "$${e%:*}" "$(DEST)$${e#*:}/$$(basename "$${e%:*}")" || exit 1; done
	$(Q)for c in $(CONFIGURATION); do [ -e $(DEST)$(SYSCONFDIR)/mtld/$$c ] || \
		install -m 644 etc/$$c $(DEST)$(SYSCONFDIR)/mtld/$$c || exit 1; done
	$(Q)$(ELSEWHERE) || { if command -v systemd-sysusers >/dev/null; then systemd-sysusers $(SYSUSERSDIR)/mtl.conf; \
		else getent group mtl >/dev/null || groupadd --system mtl; fi; $(RELOAD); }

uninstall:
	$(Q)$(ELSEWHERE) || ! [ -d /run/systemd/system ] || \
		systemctl --quiet disable --now $(UNITS)
	$(Q)rm -f $(addprefix $(DEST)$(LIBDIR)/,libmtl.a libmtl.so libmtl.so.0 pkgconfig/libmtl.pc) \
		$(DEST)$(BINDIR)/mtl $(DEST)$(SBINDIR)/mtld $(HEADERS:lib/%=$(DEST)$(INCLUDEDIR)/%) \
		$(addprefix $(DEST)$(UNITDIR)/,$(UNITS)) $(DEST)$(SYSUSERSDIR)/mtl.conf \
		$(foreach e,$(EXTRAS),$(DEST)$(lastword $(subst :, ,$(e)))/$(notdir $(firstword $(subst :, ,$(e)))))
	$(Q)rm -rf $(DEST)$(DOCDIR)
	$(Q)for c in $(CONFIGURATION); do ! cmp -s etc/$$c $(DEST)$(SYSCONFDIR)/mtld/$$c || \
		rm $(DEST)$(SYSCONFDIR)/mtld/$$c; done
	$(Q)rmdir $(DEST)$(SYSCONFDIR)/mtld 2>/dev/null || true
	$(Q)$(ELSEWHERE) || { $(RELOAD); }

clean:
	$(Q)rm -rf $(BUILD)

help:
	@printf '%s\n' 'make [TARGET] [V=1] [CC=gcc|clang] [BUILD=dir] [PREFIX=/usr/local] [DESTDIR=]' '' \
		'all            build/mtld, build/mtl, build/libmtl.so, build/libmtl.a (default), and' \
		'               build/workload and what else tests/machine/run.sh takes along' \
		'demo           the live curve of a known workload, then of bzip2' \
		'check          everything that is quick: layers, docs, unit and live tests' \
		'check-unit     unit tests: plain, ASan+UBSan, valgrind' \
		'check-library  libmtl.so as another program uses it' \
		'check-doctor   mtl doctor of machines that are not here' \
		'check-simulated  the estimators on real programs and a simulated PMU' \
		'check-coverage how often intervals hold the truth, in 2000 runs each (COVERAGE_RUNS=n)' \
		'check-coverage-live the same of 40 live runs of programs that are known (root)' \
		'check-accuracy-simulated how good a curve is after 5 to 60 s of known programs (ACCURACY_RUNS=n)' \
		'check-trace    mtl trace from files and pipes to curves, pictures and messages' \
		'check-probe    mtl probe on this machine' \
		'check-manual   manual pages and completions against the programs' \
		'check-top      mtl top on a terminal, driven by keys' \
		'check-share    mtl share and mtl partition on traces of real programs' \
		'check-stub     mtl stub, verified; what it refuses; its curve beside mtl trace' \
		'check-live     tests through the real kernel (root)' \
		'check-accuracy known curves, medians of five runs (root)' \
		'check-reuse    reuse times at misses, page faults in their place (root)' \
		'check-followed control groups and the busiest, as they come and go (root)' \
		'check-big      a small hot part of 4 GiB, medians of five runs (root, 6 GiB)' \
		'check-phases   programs that change are seen to, in time (root)' \
		'check-kernels  the same objects on the Debian 12 kernel, in qemu' \
		'check-export   mtl export over HTTP, kind and unkind requests' \
		'check-browser  the page and plots in Chromium, the metrics in Prometheus' \
		'check-systemd  installed, in a container booted with systemd' \
		'bench          bench-trace, then slowdown of watched programs, cost of mtld' \
		'bench-real     live curves of real programs beside exact ones' \
		'bench-real-simulated the same programs recorded, and mtld simulated: minutes, not hours' \
		'bench-trace    speed and accuracy of mtl trace' \
		'load           200 clients ask for a minute, 20 never read: times, memory, tracking (root)' \
		'soak           everything comes and goes for 20 minutes: memory and descriptors (SOAK_MINUTES=n, root)' \
		'fuzz           each fuzzer for FUZZ_SECONDS=60' \
		'format         clang-format every source' \
		'deb            Debian packages, into build/deb' \
		'install        under DESTDIR and PREFIX' 'uninstall      what install put there' \
		'clean          remove build/' '' \
		'Missing build dependencies are installed with apt-get (as root), in one line said so.'

# --- header dependencies of everything made so far
-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(BUILD)/*/*/*/*.d)
