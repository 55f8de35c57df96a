# The tests, and what else is made to look at baretick: included by the Makefile.

# A test image: the same objects, started cores whose TSC can be offset, and firmware that can tick by the HPET. The linker is the seam; what
# reaches across it is built without link-time optimisation.
SKEW_OBJECTS := $(patsubst %.c,$(BUILD)/efi/%.o,$(sort $(wildcard tests/skew/*.c)))

$(BUILD)/efi/tests/skew/%.o: tests/skew/%.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) -fno-lto $(INCLUDES) $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI -Itests/skew -MMD -MP -c $< -o $@

$(SKEW_OBJECTS): | deps-build

-include $(SKEW_OBJECTS:.o=.d)

# Another: the same objects, but a clock's driver in another's place that takes exceptions.
FAULT_OBJECTS := $(BUILD)/efi/tests/fault/acpi_pm.o $(BUILD)/efi/tests/fault/guard.o $(BUILD)/efi/tests/fault/timer_lapic.o
FAULT_REPLACED := $(BUILD)/efi/boot/guard/guard.o $(BUILD)/efi/drivers/clocks/acpi_pm.o $(BUILD)/efi/drivers/timers/timer_lapic.o

# Parts of them for each boot.
FAULT_BARE := $(BUILD)/efi/tests/fault/bare/missing.o $(BUILD)/efi/tests/fault/bare/take_over.o
FAULT_BOOT := $(BUILD)/efi/tests/fault/uefi/missing.o $(FAULT_BARE)

$(FAULT_OBJECTS) $(FAULT_BOOT): $(BUILD)/efi/%.o: %.c Makefile tests/tests.mk | deps-build
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(INCLUDES) $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI -MMD -MP -c $< -o $@

-include $(FAULT_OBJECTS:.o=.d) $(FAULT_BOOT:.o=.d)

$(BUILD)/baretick-fault.so: $(filter-out $(FAULT_REPLACED),$(OBJECTS)) $(FAULT_OBJECTS) $(BUILD)/efi/tests/fault/uefi/missing.o \
	boot/uefi/efi.lds
$(BUILD)/baretick-fault.elf: $(filter-out $(FAULT_REPLACED) $(BUILD)/efi/boot/bare/firmware/take_over.o,$(BARE_OBJECTS)) $(FAULT_OBJECTS) \
	$(FAULT_BARE) boot/bare/elf.lds

$(BUILD)/baretick-skew.so: $(SKEW_OBJECTS)
$(BUILD)/baretick-skew.so: LINK += -Wl,--wrap=core_main,--wrap=_entry,--wrap=efi_main

# Host side: the same sources, a library for each folder, with the simulated machine in place of the hardware leaves.
HOST_CC        := gcc
HOST_FLAGS      = $(COMMON) -fno-strict-aliasing -O1
SANITIZE       := -fsanitize=address,undefined -fno-sanitize-recover=all
HOST_ROOMS     := $(filter-out boot%,$(ROOMS))
HOST_LIBRARIES := $(patsubst %,$(BUILD)/host/%.a,$(HOST_ROOMS) tests/sim)
HOST_OBJECTS   := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out drivers/hw/hw.c,$(PORTABLE)) $(wildcard tests/sim/*.c))
# Of boot/, what asks the firmware and no register: on the firmware of tests/firmware.
FIRMWARE_ROOMS   := boot/firmware boot/uefi/firmware boot/uefi/volume boot/console boot/uefi/console boot/uefi/network
FIRMWARE_SOURCES := $(filter-out boot/firmware/memory.c boot/firmware/processor.c,\
	$(foreach room,$(FIRMWARE_ROOMS) tests/firmware,$(wildcard $(room)/*.c))) boot/uefi/checkpoint.c boot/uefi/exit.c boot/reserve.c \
	boot/bare/firmware/ram.c boot/bare/firmware/anchor.c boot/bare/console/com.c
FIRMWARE_OBJECTS := $(FIRMWARE_SOURCES:%.c=$(BUILD)/host/%.o)
FIRMWARE_LIBRARY := $(BUILD)/host/firmware.a
UNIT_SOURCES   := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_TESTS     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))
UNIT_OBJECTS   := $(patsubst tests/unit/%.c,$(BUILD)/host/tests/unit/%.o,$(UNIT_SOURCES))
TEST_INCLUDES  := $(INCLUDES) -Itests/sim -Itests/unit/lib

# With the host's way to call a function, and the firmware's wide characters.
$(BUILD)/host/boot/%.o $(BUILD)/host/tests/firmware/%.o $(BUILD)/host/tests/unit/boot/%.o: HOST_FLAGS += \
	$(EFI_INCLUDES) -fshort-wchar -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'
$(BUILD)/host/tests/firmware/%.o $(BUILD)/host/tests/unit/boot/%.o: TEST_INCLUDES += -Itests/firmware

# The sanitizers watch the product and its tests. The simulated hardware takes most of their time and none of its faults is a user's.
$(BUILD)/host/tests/sim/%.o: SANITIZE :=
$(BUILD)/host/tests/sim/%.o: HOST_FLAGS += -O2

$(BUILD)/host/tests/%.o: tests/%.c Makefile tests/tests.mk $(ROOMS_MK)
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(HOST_FLAGS) $(SANITIZE) $(TEST_INCLUDES) -I$(<D) -MMD -MP -c $< -o $@

$(BUILD)/host/%.o: %.c Makefile tests/tests.mk $(ROOMS_MK)
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(HOST_FLAGS) $(SANITIZE) $(INCLUDES) -MMD -MP -c $< -o $@

.SECONDEXPANSION:
$(HOST_LIBRARIES): $(BUILD)/host/%.a: $$(call objects_in,$$*)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(FIRMWARE_LIBRARY): $(FIRMWARE_OBJECTS)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(filter $(BUILD)/unit/boot/%,$(UNIT_TESTS)): $(FIRMWARE_LIBRARY)

objects_in = $(filter $(patsubst %.c,$(BUILD)/host/%.o,$(wildcard $(1)/*.c)),$(HOST_OBJECTS))

$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK  )
	$(QUIET)$(HOST_CC) $(SANITIZE) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lpthread -lm -o $@

$(HOST_OBJECTS) $(FIRMWARE_OBJECTS) $(UNIT_OBJECTS): | deps-test

-include $(HOST_OBJECTS:.o=.d) $(FIRMWARE_OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d)

# Machines drawn at random whose truth is known: see tests/truth. Optimised and without sanitizers, for there are many.
TRUTH_ROOMS   := $(sort $(call visible,src/run) $(call visible,drivers/checks) $(call visible,drivers/smp) $(call visible,drivers/timers))
TRUTH_SOURCES := $(filter-out drivers/hw/hw.c,$(foreach room,$(TRUTH_ROOMS) tests/sim tests/truth,$(wildcard $(room)/*.c)))
TRUTH_OBJECTS := $(TRUTH_SOURCES:%.c=$(BUILD)/truth/%.o)

$(BUILD)/truth/%.o: %.c Makefile tests/tests.mk $(ROOMS_MK) | deps-test
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(COMMON) -fno-strict-aliasing $(INCLUDES) -Itests/sim -I$(<D) -MMD -MP -c $< -o $@

$(BUILD)/truth/truth: $(TRUTH_OBJECTS)
	$(call say,LINK  )
	$(QUIET)$(HOST_CC) $^ -lpthread -lm -o $@

-include $(TRUTH_OBJECTS:.o=.d)

TRIALS := 100
SEED   := 1
## what is said that is false of machines drawn at random (TRIALS=N of each kind, SEED=N)
.PHONY: truth
truth: $(BUILD)/truth/truth
	$(BUILD)/truth/truth $(SEED) $(TRIALS)

# Fuzz targets: built by every `make check` and run for a moment on their seeds; `make fuzz` runs them long.
FUZZ_CC      := clang
FUZZ_FLAGS   := -std=gnu11 -g -O1 -Wall -Wextra $(if $(WERROR),-Werror) -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS := 60
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_ROOMS   := $(sort $(foreach room,src/rules src/record src/network drivers/acpi drivers/smbios,$(call visible,$(room))))
FUZZ_OBJECTS := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(foreach room,$(FUZZ_ROOMS),$(wildcard $(room)/*.c)))
FUZZ_LIBRARY := $(BUILD)/fuzz/all.a

$(BUILD)/fuzz/%.o: %.c Makefile tests/tests.mk | deps-test
	@mkdir -p $(@D)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(INCLUDES) -MMD -MP -c $< -o $@

$(FUZZ_LIBRARY): $(FUZZ_OBJECTS)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(FUZZ_TARGETS): $(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZ_LIBRARY)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(INCLUDES) $< $(FUZZ_LIBRARY) -o $@

-include $(FUZZ_OBJECTS:.o=.d)

## the fuzz targets, a minute each (FUZZ_SECONDS=N)
.PHONY: fuzz
fuzz: $(FUZZ_TARGETS) seeds
	tests/fuzz/run $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# The tables of real machines, where their folder is: not part of this repository.
ACPI_CORPUS ?= ../shared/acpi-corpus
export ACPI_CORPUS
.PHONY: seeds
seeds:
	@if [ -d "$(ACPI_CORPUS)" ]; then $(PYTHON) tests/fuzz/seeds.py "$(ACPI_CORPUS)" $(BUILD)/fuzz/fuzz_acpi-corpus; \
	else echo 'seeds: no folder $(ACPI_CORPUS) (ACPI_CORPUS=...): fuzzing starts from nothing'; fi

# All tests, or one: make check TEST=test_table (a program), TEST=test_boot.py (a file), TEST=name (what pytest's -k takes).
TEST :=
PROGRAMS   := $(UNIT_TESTS) $(FUZZ_TARGETS)
CHECK_MAKE := $(or $(if $(TEST),$(filter %/$(firstword $(TEST)),$(PROGRAMS))),all image $(BUILD)/baretick-skew.efi $(BUILD)/baretick-fault.efi $(BUILD)/baretick-fault.elf $(BUILD)/truth/truth $(BUILD)/host/bench_host $(PROGRAMS) seeds)

## installs what is missing, builds, runs the tests; TEST=test_table, test_boot.py, name: one
.PHONY: check
## likewise, and those that are dear and rare
.PHONY: check-long
check check-long: deps-build deps-run deps-dist deps-sign deps-test deps-fleet
	+$(SUBMAKE) $(CHECK_MAKE)
	+@$(if $(NO_INSTALL),:,$(SUBMAKE) $(FLEET_PYTHON)) || echo 'check: there is no DuckDB to be had: tests of the fleet are skipped'
	tests/check $(if $(filter check-long,$@),--long) $(if $(TEST),'$(TEST)')

# Spark is 455 MB to fetch and needs a Java, so its tests are not part of check.
## that qemu/fleet has the same answers from Spark as from DuckDB
.PHONY: check-spark
check-spark: deps-build deps-test deps-spark $(FLEET_PYTHON) $(FLEET_SPARK)
	$(PYTHON) -m pytest -q -rs --spark $(if $(TEST),-k '$(TEST)') tests/spark

# What needs a real KVM: this machine's, where that runs firmware, or a rig's, one run after the other.
## what needs a real KVM: /dev/kvm, else the rig that KVM_RIG names (TEST=name: one); else it says so
.PHONY: kvm
kvm: deps-build deps-run deps-image deps-test
	+$(SUBMAKE) all image
	$(PYTHON) -m pytest -q -rs --kvm $(if $(TEST),-k '$(TEST)') tests/kvm

# Optimised as the application is, leaves inlined, against the real machine.
$(BUILD)/host/bench_host: tests/bench/bench_host.c $(PORTABLE) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(COMMON) -fno-strict-aliasing -flto=auto $(INCLUDES) $< $(PORTABLE) -o $@

BENCH_CORES   := 1 2 4 16 64 255
BENCH_REPORTS := 100 1000 10000
# The reports for qemu/fleet are made from a report of 4 cores, or of another number above 1: one of the made oddities is a core's offset.
BENCH_REPORT  = $(BUILD)/bench/cores$(firstword $(filter 4,$(BENCH_CORES)) $(filter-out 1,$(BENCH_CORES)))/report.json
## what measuring itself costs: ratios, instruction counts, sizes (BENCH_CORES=N, BENCH_REPORTS=N)
.PHONY: bench
bench: deps-build deps-run
	+$(SUBMAKE) all $(BUILD)/host/bench_host
	$(PYTHON) tests/bench/bench.py $(BUILD) $(BENCH_CORES)
	+$(SUBMAKE) $(FLEET_PYTHON)
	$(PYTHON) tests/bench/fleet.py $(BUILD)/bench/fleet $(BENCH_REPORT) $(BENCH_REPORTS)

# The pictures in the READMEs: of the page, from two machines of which one has no HPET, of the screen, and of MokManager's. To be
# looked at, then committed.
## the pictures of the page and the screens in the READMEs, into tests/pictures
.PHONY: pictures
pictures: deps-build deps-run deps-sign deps-test
	+$(SUBMAKE) all
	qemu/run --accel tcg --cpus 4 --out $(BUILD)/pictures/this --screenshot $(BUILD)/pictures/screen.png
	qemu/run --accel tcg --out $(BUILD)/pictures/other --qemu-arg=-machine --qemu-arg=hpet=off
	$(PYTHON) tests/page/pictures.py $(BUILD)/pictures/this/report.html $(BUILD)/pictures/other/report.json \
		$(BUILD)/pictures/screen.png tests/pictures
	$(PYTHON) tests/boot/enrol_pictures.py tests/pictures/enrol.png

# Machines that are well, half of them on a busy host, or paused and moved by it: each alarm is a false one. Minutes, so not
# part of check.
QUIET_BOOTS   := 50
QUIET_OPTIONS := profile=quick
## 50 boots of machines that are well, half of them on a busy host (QUIET_BOOTS=N)
.PHONY: quiet
## likewise, of machines that a busy host pauses, sets back to a snapshot and migrates
.PHONY: quiet-events
quiet quiet-events: deps-build deps-run
	+$(SUBMAKE) all
	$(PYTHON) tests/bench/quiet.py $(BUILD) $(QUIET_BOOTS) $(patsubst quiet-%,%,$(filter quiet-events,$@)) $(QUIET_OPTIONS)

## all that baretick can say, a sentence a line, with its file
.PHONY: sentences
sentences:
	@tests/sentences

# Style that a compiler does not see, and the layers: each compiled with its own include path already.
SHELL_FILES  = $(shell git grep -lE '^\#!.*sh$$' -- ':!*.md')
PYTHON_FILES = $(shell git grep -lE '^\#!.*python3' -- ':!*.md' ':!*.c') $(wildcard qemu/*/*.py tests/*.py tests/*/*.py)
## static checks of the C, the shell and the Python
.PHONY: lint
lint: deps-lint
	cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
		--suppress=missingIncludeSystem $(INCLUDES) src drivers
	shellcheck $(SHELL_FILES)
	$(PYTHON) -m pyflakes $(sort $(PYTHON_FILES))
	@! grep -nP '^.{121,}' -r src drivers boot tests --include='*.[ch]' --include='*.nasm' || \
		{ echo 'lint: lines of more than 120 columns'; exit 1; }
