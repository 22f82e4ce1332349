# arraymark: build, tests, benches. Everything made lands in build/ (or BUILD=…).
VERSION  := 0.1.0
BUILD    ?= build
PREFIX   ?= /usr/local
CC       ?= gcc
PKGS     := liburing libevent libevent_openssl libevent_pthreads openssl libprotobuf-c sqlite3 yaml-0.1 jansson blkid gsl
PKGFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm -pthread
WARN     := -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes $(WERROR)
HARDEN   := -fstack-protector-strong -fPIE
OPT      ?= -O2 -D_FORTIFY_SOURCE=2
CFLAGS_  := -std=gnu11 -g $(OPT) $(WARN) $(HARDEN) -D_GNU_SOURCE -DARRAYMARK_VERSION='"$(VERSION)"' \
            -I. -I$(BUILD) $(PKGFLAGS) $(SANITIZE) $(CFLAGS)
LDFLAGS_ := -pie -Wl,-z,relro,-z,now,--as-needed $(SANITIZE) $(LDFLAGS)

# The system's copy of Chart.js, built into the HTML report; CHART_JS= builds one with tables only.
CHART_JS := $(firstword $(wildcard $(addprefix /usr/share/javascript/chart.js/,chart.umd.min.js chart.umd.js chart.min.js Chart.min.js)))

# One archive a folder; each program may link these and no others (the include rule, again).
FOLDERS     := common/base common/measure common/plan common/formats proto agent agent/link agent/policy \
               agent/volume agent/workload agent/telemetry agent/controller coordinator coordinator/sched coordinator/store \
               coordinator/results coordinator/ctl
archive      = $(BUILD)/$(subst /,-,$(1)).a
COMMON      := proto common/formats common/plan common/measure common/base
AGENT       := agent agent/link agent/policy agent/controller agent/volume agent/workload agent/telemetry $(COMMON)
COORDINATOR := coordinator coordinator/sched coordinator/store coordinator/results $(COMMON)
CONTROL     := coordinator/ctl coordinator/results $(COMMON)
PROGRAMS    := $(BUILD)/arraymark $(BUILD)/arraymark-coordinator $(BUILD)/arraymark-agent
# Files with a main() of their own stay out of the archives.
MAINS       := agent/main.c coordinator/main.c coordinator/ctl/main.c

TESTS   := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/bench_*.c))

all: $(PROGRAMS)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out $(MAINS) %.pb-c.c,$(wildcard $(1)/*.c)))
define archive_rule
$(call archive,$(1)): $(call objects,$(1)) $(if $(filter proto,$(1)),$(BUILD)/obj/proto/arraymark.pb-c.o)
	@rm -f $$@; ar rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call archive_rule,$(f))))

# One word and a name for each thing made; V=1 shows the commands.
ifndef V
say  = @printf '  %-4s %s\n' $(1) $(2);
endif
JOBS := $(shell nproc 2>/dev/null || echo 1)
SUB   = $(MAKE) --no-print-directory -j$(JOBS)

link = $(call say,LD,$@) $(CC) $(CFLAGS_) -o $@ $(filter %.o %.c,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDFLAGS_) $(LIBS)
$(BUILD)/arraymark: $(BUILD)/obj/coordinator/ctl/main.o $(foreach f,$(CONTROL),$(call archive,$(f)))
	$(link)
$(BUILD)/arraymark-coordinator: $(BUILD)/obj/coordinator/main.o $(foreach f,$(COORDINATOR),$(call archive,$(f)))
	$(link)
$(BUILD)/arraymark-agent: $(BUILD)/obj/agent/main.o $(foreach f,$(AGENT),$(call archive,$(f)))
	$(link)

$(BUILD)/proto/arraymark.pb-c.c: proto/arraymark.proto
	@mkdir -p $(@D)
	$(call say,GEN,$@) protoc-c --proto_path=. --c_out=$(BUILD) proto/arraymark.proto
$(BUILD)/proto/arraymark.pb-c.h: $(BUILD)/proto/arraymark.pb-c.c ;
$(BUILD)/obj/proto/arraymark.pb-c.o: $(BUILD)/proto/arraymark.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CFLAGS_) -w -c -o $@ $<
$(BUILD)/obj/%.o: %.c | $(BUILD)/proto/arraymark.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(CFLAGS_) -MMD -MP -c -o $@ $<
$(BUILD)/obj/coordinator/ctl/starter.o: deploy/plans/starter.yaml
$(BUILD)/obj/common/plan/wml_texts.o: $(wildcard common/plan/wml/*.f)
# What HTML reports hold. Which plotting library that is, the stamp remembers.
$(BUILD)/obj/coordinator/results/report_html_assets.o: $(wildcard coordinator/results/html/*) $(BUILD)/chart-js
$(BUILD)/obj/coordinator/results/report_html_assets.o: CFLAGS_ += $(if $(CHART_JS),-DCHART_JS='"$(CHART_JS)"')
$(BUILD)/chart-js: FORCE
	@mkdir -p $(@D)
	@echo '$(CHART_JS)' | cmp -s - $@ || echo '$(CHART_JS)' >$@
FORCE:
$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(foreach f,$(FOLDERS),$(call archive,$(f)))
	@mkdir -p $(@D)
	$(link) -lcmocka
$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(foreach f,$(FOLDERS),$(call archive,$(f)))
	@mkdir -p $(@D)
	$(link)
$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(foreach f,$(FOLDERS),$(call archive,$(f)))
	@mkdir -p $(@D)
	$(call say,LD,$@) $(CC) $(CFLAGS_) -fsanitize=fuzzer -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDFLAGS_) $(LIBS)

unit-programs: $(TESTS)
bench-programs: $(BENCHES)
fuzz-programs: $(FUZZERS)

deps:
	@deploy/install-deps
demo: deps
	@$(SUB) all
	@deploy/demo
check: deps
	@$(SUB) all unit-programs
	@tests/run unit e2e fuzz
asan: deps
	@$(SUB) BUILD=build/asan OPT=-O1 SANITIZE="-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined" all unit-programs
	@BUILD=build/asan tests/run unit e2e
tsan: deps
	@$(SUB) BUILD=build/tsan OPT=-O1 SANITIZE="-fsanitize=thread" all unit-programs
	@BUILD=build/tsan tests/run unit
fuzz: deps
	@$(SUB) BUILD=build/fuzz CC=clang OPT=-O1 SANITIZE="-fsanitize=address,undefined -fsanitize=fuzzer-no-link" fuzz-programs
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} BUILD=build tests/run fuzz
bench: deps
	@$(SUB) all bench-programs
	@tests/bench/run
lint:
	@tests/lint/run
compile_commands.json:
	@bear --output build/compile_commands.json -- $(MAKE) -B all

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 man/man5 man/man7 man/man8 bash-completion/completions)
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(wildcard deploy/man/*.1) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(wildcard deploy/man/*.5) $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 $(wildcard deploy/man/*.7) $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 $(wildcard deploy/man/*.8) $(DESTDIR)$(PREFIX)/share/man/man8
	install -d $(DESTDIR)$(PREFIX)/share/arraymark
	install -m 644 deploy/report.schema.json $(DESTDIR)$(PREFIX)/share/arraymark/
	install -d $(DESTDIR)$(PREFIX)/share/arraymark/plans
	install -m 644 $(filter-out %/starter.yaml,$(wildcard deploy/plans/*.yaml)) $(DESTDIR)$(PREFIX)/share/arraymark/plans
	for p in $(notdir $(PROGRAMS)); do \
		install -m 644 deploy/completion/arraymark.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$p || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	for u in $(notdir $(wildcard deploy/systemd/*.service)); do \
		sed 's|@BINDIR@|$(PREFIX)/bin|' deploy/systemd/$$u >$(DESTDIR)$(PREFIX)/lib/systemd/system/$$u && \
		chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/$$u || exit 1; done
clean:
	rm -rf $(BUILD)

.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: FORCE all deps demo check asan tsan fuzz bench lint install clean compile_commands.json unit-programs bench-programs fuzz-programs
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
