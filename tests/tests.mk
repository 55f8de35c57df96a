# Tests, measurements and pictures of baretick. The Makefile includes this file.

# Functions that the product or the firmware calls in a test have fixed parameters, and need not use all of them.
TEST_FLAGS := -Wno-unused-parameter

# The application's objects in src and drivers after link-time optimisation, in one file. The test images share it, because
# link-time optimisation takes most of the time to make an image. It leaves out the two drivers that the fault images replace.
FAULT_DRIVERS := $(BUILD)/efi/drivers/clocks/acpi_pm.o $(BUILD)/efi/drivers/timers/timer_lapic.o
TEST_OPTIMISED := $(filter-out $(FAULT_DRIVERS),$(filter $(BUILD)/efi/src/% $(BUILD)/efi/drivers/%,$(OBJECTS)))
TEST_COMMON := $(BUILD)/efi/tests/common.o

$(TEST_COMMON): $(TEST_OPTIMISED)
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) -nostdlib -r $(if $(GCC_LINK),$(GCC_LINK) -flinker-output=nolto-rel) $^ -o $@

# A test image from the application's objects and tests/skew. Its started cores can have an offset in their TSC, and its
# firmware's tick can use the HPET. The linker replaces functions, so objects that call such a function are built
# without link-time optimisation.
SKEW_OBJECTS := $(patsubst %.c,$(BUILD)/efi/%.o,$(sort $(wildcard tests/skew/*.c)))

$(BUILD)/efi/tests/skew/%.o: tests/skew/%.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) -fno-lto $(INCLUDES) $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI -Itests/skew $(TEST_FLAGS) -MMD -MP -c $< -o $@

$(SKEW_OBJECTS): | deps-build

-include $(SKEW_OBJECTS:.o=.d)

# Another test image from the application's objects, in which the driver of the PM timer causes exceptions
# (tests/fault).
FAULT_OBJECTS := $(BUILD)/efi/tests/fault/acpi_pm.o $(BUILD)/efi/tests/fault/guard.o $(BUILD)/efi/tests/fault/timer_lapic.o
FAULT_REPLACED := $(BUILD)/efi/boot/guard/guard.o $(FAULT_DRIVERS)

# The objects of the test images that differ between the boots with and without UEFI.
FAULT_BARE := $(BUILD)/efi/tests/fault/bare/missing.o $(BUILD)/efi/tests/fault/bare/take_over.o
FAULT_BOOT := $(BUILD)/efi/tests/fault/uefi/missing.o $(FAULT_BARE)

$(FAULT_OBJECTS) $(FAULT_BOOT): $(BUILD)/efi/%.o: %.c Makefile tests/tests.mk | deps-build
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(INCLUDES) $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI $(TEST_FLAGS) -MMD -MP -c $< -o $@

-include $(FAULT_OBJECTS:.o=.d) $(FAULT_BOOT:.o=.d)

$(BUILD)/baretick-fault.so: $(filter-out $(FAULT_REPLACED) $(TEST_OPTIMISED),$(OBJECTS)) $(TEST_COMMON) $(FAULT_OBJECTS) $(BUILD)/efi/tests/fault/uefi/missing.o \
	boot/uefi/efi.lds
$(BUILD)/baretick-fault.elf: $(filter-out $(FAULT_REPLACED) $(TEST_OPTIMISED) $(BUILD)/efi/boot/bare/firmware/take_over.o,$(BARE_OBJECTS)) \
	$(TEST_COMMON) $(FAULT_OBJECTS) $(FAULT_BARE) boot/bare/elf.lds

$(BUILD)/baretick-skew.so: $(filter-out $(TEST_OPTIMISED),$(OBJECTS)) $(TEST_COMMON) $(SKEW_OBJECTS) boot/uefi/efi.lds
$(BUILD)/baretick-skew.so: LINK += -Wl,--wrap=core_main,--wrap=_entry,--wrap=efi_main

# The application's portable sources, compiled for the host as one library per folder. The simulated machine replaces
# drivers/hw/hw.c.
HOST_CC        := gcc
HOST_FLAGS      = $(COMMON) -fno-strict-aliasing -O1
SANITIZE       := -fsanitize=address,undefined -fno-sanitize-recover=all
HOST_ROOMS     := $(filter-out boot%,$(ROOMS))
HOST_LIBRARIES := $(patsubst %,$(BUILD)/host/%.a,$(HOST_ROOMS) tests/sim)
HOST_OBJECTS   := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out drivers/hw/hw.c,$(PORTABLE)) $(wildcard tests/sim/*.c))
# The parts of boot/ that use the firmware but no hardware registers. They run on the simulated firmware in
# tests/firmware.
FIRMWARE_ROOMS   := boot/firmware boot/uefi/firmware boot/uefi/volume boot/console boot/uefi/console boot/uefi/network
FIRMWARE_SOURCES := $(filter-out boot/firmware/memory.c boot/firmware/processor.c,\
	$(foreach room,$(FIRMWARE_ROOMS) tests/firmware,$(wildcard $(room)/*.c))) boot/uefi/checkpoint.c boot/uefi/exit.c boot/reserve.c \
	boot/bare/firmware/ram.c boot/bare/firmware/anchor.c boot/bare/firmware/multiboot2.c boot/bare/firmware/linux_params.c \
	boot/bare/console/xen_console.c
FIRMWARE_OBJECTS := $(FIRMWARE_SOURCES:%.c=$(BUILD)/host/%.o)
FIRMWARE_LIBRARY := $(BUILD)/host/firmware.a
UNIT_SOURCES   := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_TESTS     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))
UNIT_OBJECTS   := $(patsubst tests/unit/%.c,$(BUILD)/host/tests/unit/%.o,$(UNIT_SOURCES))
TEST_INCLUDES  := $(INCLUDES) -Itests/sim -Itests/unit/lib

# These files use the host's calling convention and the firmware's wide characters.
$(BUILD)/host/boot/%.o $(BUILD)/host/tests/firmware/%.o $(BUILD)/host/tests/unit/boot/%.o: HOST_FLAGS += \
	$(EFI_INCLUDES) -fshort-wchar -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'
$(BUILD)/host/tests/firmware/%.o $(BUILD)/host/tests/unit/boot/%.o: TEST_INCLUDES += -Itests/firmware

# The unit tests' own sources are not optimised, because their compilation would take longer than that saves. Three of them have
# functions that run at each access to the simulated machine.
OPTIMISED_TESTS := $(addprefix $(BUILD)/host/tests/unit/measure/test_survey,.o _rates.o _interference.o)
$(filter-out $(OPTIMISED_TESTS),$(UNIT_OBJECTS)): HOST_FLAGS += -O0

# These four checks of pointers take nearly half of the time to compile a unit test. A wrong pointer of a test crashes it or is found by
# the address sanitizer. The product is built with these checks.
$(UNIT_OBJECTS): SANITIZE += -fno-sanitize=null,alignment,object-size,pointer-overflow

# The product and its tests are built with sanitizers. The simulated hardware is not, because it would take most of the
# time.
$(BUILD)/host/tests/sim/%.o: SANITIZE :=
$(BUILD)/host/tests/sim/%.o: HOST_FLAGS += -O2

$(BUILD)/host/tests/%.o: tests/%.c Makefile tests/tests.mk $(ROOMS_MK)
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(HOST_FLAGS) $(SANITIZE) $(TEST_INCLUDES) -I$(<D) $(TEST_FLAGS) -MMD -MP -c $< -o $@

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
	$(QUIET)$(HOST_CC) $(SANITIZE) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka -lz -lpthread -lm -o $@

$(HOST_OBJECTS) $(FIRMWARE_OBJECTS) $(UNIT_OBJECTS): | deps-test

-include $(HOST_OBJECTS:.o=.d) $(FIRMWARE_OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d)

# Programs that judge random machines with known properties: see tests/truth. They are optimised and built without
# sanitizers, because they judge many machines.
TRUTH_ROOMS   := $(sort $(call visible,src/run) $(call visible,src/render/json) $(call visible,drivers/checks) $(call visible,drivers/smp) $(call visible,drivers/timers))
TRUTH_SOURCES := $(filter-out drivers/hw/hw.c,$(foreach room,$(TRUTH_ROOMS) tests/sim tests/truth,$(wildcard $(room)/*.c)))
# The product's objects have the same flags as in baretick-replay, and the simulated machine's as in the unit tests. They are
# shared.
TRUTH_OBJECTS := $(patsubst %.c,$(BUILD)/replay/%.o,$(filter-out tests/%,$(TRUTH_SOURCES))) \
	$(patsubst %.c,$(BUILD)/host/%.o,$(filter tests/sim/%,$(TRUTH_SOURCES))) \
	$(patsubst %.c,$(BUILD)/truth/%.o,$(filter tests/truth/%,$(TRUTH_SOURCES)))

$(BUILD)/truth/tests/truth/%.o: tests/truth/%.c Makefile tests/tests.mk $(ROOMS_MK) | deps-test
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(COMMON) -fno-strict-aliasing $(INCLUDES) -Itests/sim -I$(<D) $(TEST_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/truth/truth: $(TRUTH_OBJECTS)
	$(call say,LINK  )
	$(QUIET)$(HOST_CC) $^ -lpthread -lm -o $@

-include $(TRUTH_OBJECTS:.o=.d)

TRIALS := 100
SEED   := 1
## counts false findings on machines that are drawn at random (TRIALS=N of each kind, SEED=N)
.PHONY: truth
truth: $(BUILD)/truth/truth
	@$< 2>&1 | sed -n 's/^  \([a-z-]*\) .*/\1/p' | xargs -P $(shell nproc) -I{} \
		sh -c 'table=$$($< $(SEED) $(TRIALS) --kind {}); wrong=$$?; printf "%s\n\n" "$$table"; exit $$wrong'

# Fuzz targets. `make check` builds them and runs them shortly on their seeds, and `make fuzz` runs them for long.
FUZZ_CC      := clang
FUZZ_FLAGS   := -std=gnu11 -gline-tables-only -O2 -Wall -Wextra -Wno-c2x-extensions $(if $(WERROR),-Werror) -fsanitize=address,undefined -fno-sanitize-recover=all
# Code whose comparisons libFuzzer traces, to find the bytes that it looks for. In the other code, this would take half of the time.
FUZZ_PARSERS  := drivers/% src/options/% src/network/%
FUZZ_COVERAGE := -fsanitize-coverage=inline-8bit-counters,pc-table
FUZZ_SECONDS := 3600
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_ROOMS   := $(sort $(foreach room,$(USES_boot/replay) src/render/screen src/network drivers/acpi drivers/smbios,$(call visible,$(room))))
FUZZ_OBJECTS := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(foreach room,$(FUZZ_ROOMS),$(wildcard $(room)/*.c)))
FUZZ_LIBRARY := $(BUILD)/fuzz/all.a

$(BUILD)/fuzz/%.o: %.c Makefile tests/tests.mk | deps-test
	@mkdir -p $(@D)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) $(if $(filter $(FUZZ_PARSERS),$<),-fsanitize=fuzzer-no-link,$(FUZZ_COVERAGE)) $(INCLUDES) -MMD -MP -c $< -o $@

$(FUZZ_LIBRARY): $(FUZZ_OBJECTS)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(FUZZ_TARGETS): $(BUILD)/fuzz/%: tests/fuzz/%.c $(wildcard tests/fuzz/*.h) $(FUZZ_LIBRARY)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) $(TEST_FLAGS) -fsanitize=fuzzer -fno-sanitize-coverage=trace-cmp $(INCLUDES) -Itests/fuzz $< $(FUZZ_LIBRARY) -o $@

-include $(FUZZ_OBJECTS:.o=.d)

## runs the fuzz targets: an hour for records, else a minute (FUZZ_SECONDS=N)
.PHONY: fuzz
fuzz: $(FUZZ_TARGETS) seeds
	tests/fuzz/run $(PYTHON) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# The folder with ACPI tables of real machines, if it is there. It is not part of this repository.
ACPI_CORPUS ?= ../shared/acpi-corpus
export ACPI_CORPUS
.PHONY: seeds
seeds:
	@if [ -d "$(ACPI_CORPUS)" ]; then $(PYTHON) tests/fuzz/seeds.py "$(ACPI_CORPUS)" $(BUILD)/fuzz/fuzz_acpi-corpus; \
	else echo 'seeds: no folder $(ACPI_CORPUS) (ACPI_CORPUS=...): fuzzing starts from nothing'; fi
	@$(PYTHON) tests/fuzz/record_seeds.py $(BUILD)/fuzz/fuzz_replay-corpus tests/records/*.xz
	@tar -xJf tests/fuzz/corpus.tar.xz -C $(BUILD)/fuzz/fuzz_replay-corpus

# Runs all tests, or one: make check TEST=test_table (a program), TEST=test_boot.py (a file), TEST=name (for pytest's -k).
TEST :=
PROGRAMS   := $(UNIT_TESTS) $(FUZZ_TARGETS)
CHECK_MAKE := $(or $(if $(TEST),$(filter %/$(firstword $(TEST)),$(PROGRAMS))),all image $(BUILD)/baretick-skew.efi $(BUILD)/baretick-fault.efi $(BUILD)/baretick-fault.elf $(BUILD)/truth/truth $(BUILD)/host/bench_host $(PROGRAMS) seeds)

REPEAT    := 8
CONDITION :=
CHECK_OPTIONS_check-long   := --long
CHECK_OPTIONS_check-repeat  = --repeat $(REPEAT) $(addprefix --condition ,$(CONDITION))

# A Python environment with the published schemas of GitHub's and GitLab's CI files.
SCHEMA_PYTHON := $(BUILD)/schema-python/made
$(SCHEMA_PYTHON): tests/requirements.txt

## installs missing packages, builds, runs the tests (TEST=test_table, test_boot.py or a name for one)
.PHONY: check
## runs the tests of check and the long ones
.PHONY: check-long
## runs check REPEAT times: idle, busy, on one CPU, two at once (REPEAT=N, CONDITION=busy, TEST=name)
.PHONY: check-repeat
check-long: deps-lint
# The compilers run while the two Python environments are downloaded.
check check-long check-repeat: deps-build deps-run deps-dist deps-sign deps-test deps-fleet
	+@$(if $(NO_INSTALL),:,$(SUBMAKE) $(FLEET_PYTHON)) || echo 'check: there is no DuckDB to be had: tests of the fleet are skipped' & \
	$(if $(NO_INSTALL),:,$(SUBMAKE) $(SCHEMA_PYTHON)) || echo 'check: PyPI was not reached: the action is not compared with its schema' & \
	$(SUBMAKE) $(CHECK_MAKE); status=$$?; wait; exit $$status
	tests/check $(CHECK_OPTIONS_$@) $(if $(TEST),'$(TEST)')

# Spark needs 455 MB and Java, so its tests are not part of check.
## tests that qemu/fleet gets the same answers from Spark as from DuckDB
.PHONY: check-spark
check-spark: deps-build deps-test deps-spark $(FLEET_PYTHON) $(FLEET_SPARK)
	$(PYTHON) -m pytest -q -rs --spark $(if $(TEST),-k '$(TEST)') tests/spark

# Tests with a real KVM, one after another. They run on this machine if its KVM can run firmware, otherwise on a rig.
## runs the tests that need KVM on /dev/kvm or on the rig in KVM_RIG (TEST=name for one)
.PHONY: kvm
kvm: deps-build deps-run deps-image deps-test
	+$(SUBMAKE) all image
	$(PYTHON) -m pytest -q -rs --kvm $(if $(TEST),-k '$(TEST)') tests/kvm

# The bench program is optimised like the application, with inlined hardware access, and runs on the real machine.
BENCH_SOURCES := $(foreach room,$(sort $(call visible,drivers/clocks) $(call visible,drivers/paravirtual)),$(wildcard $(room)/*.c))
$(BUILD)/host/bench_host: tests/bench/bench_host.c $(BENCH_SOURCES) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(COMMON) -fno-strict-aliasing -flto=auto $(INCLUDES) $< $(BENCH_SOURCES) -o $@

BENCH_CORES   := 1 2 4 16 64 255
BENCH_REPORTS := 100 1000 10000
# The reports for qemu/fleet are made from the report of the boot with 4 cores, or else with another number in
# BENCH_CORES. The number must be above 1, because one of the outliers is an offset between cores.
BENCH_REPORT  = $(BUILD)/bench/cores$(firstword $(filter 4,$(BENCH_CORES)) $(filter-out 1,$(BENCH_CORES)))/report.json
## measures the cost of measuring: ratios, instruction counts, sizes (BENCH_CORES=N, BENCH_REPORTS=N)
.PHONY: bench
bench: deps-build deps-run
	+$(SUBMAKE) all $(BUILD)/host/bench_host
	$(PYTHON) tests/bench/bench.py $(BUILD) $(BENCH_CORES)
	+$(SUBMAKE) $(FLEET_PYTHON)
	$(PYTHON) tests/bench/fleet.py $(BUILD)/bench/fleet $(BENCH_REPORT) $(BENCH_REPORTS)

# Makes the pictures in the READMEs: the page (from two machines, one without HPET), the screen, and MokManager's screens. Check
# them before you commit them.
## makes the pictures in the READMEs, in tests/pictures
.PHONY: pictures
pictures: deps-build deps-run deps-sign deps-test
	+$(SUBMAKE) all
	qemu/run --accel tcg --cpus 4 --out $(BUILD)/pictures/this --screenshot $(BUILD)/pictures/screen.png
	qemu/run --accel tcg --out $(BUILD)/pictures/other --qemu-arg=-machine --qemu-arg=hpet=off
	$(PYTHON) tests/page/pictures.py $(BUILD)/pictures/this/report.html $(BUILD)/pictures/other/report.json \
		$(BUILD)/pictures/screen.png tests/pictures
	$(PYTHON) tests/boot/enrol_pictures.py tests/pictures/enrol.png

# Boots healthy machines, so each finding is false. In `quiet` half of them run on a busy host. In `quiet-events` the
# host also pauses and migrates them. This takes minutes, so it is not part of check.
QUIET_BOOTS   := 50
QUIET_OPTIONS := profile=quick
## boots healthy machines 50 times, half of them on a busy host (QUIET_BOOTS=N)
.PHONY: quiet
## boots healthy machines that a busy host pauses, returns to a snapshot and migrates
.PHONY: quiet-events
quiet quiet-events: deps-build deps-run
	+$(SUBMAKE) all
	$(PYTHON) tests/bench/quiet.py $(BUILD) $(QUIET_BOOTS) $(patsubst quiet-%,%,$(filter quiet-events,$@)) $(QUIET_OPTIONS)

MACHINES :=
## boots Debian's kernels and baretick on 19 machines, compares their clocks, an hour (MACHINES=q35-1)
.PHONY: systems
systems: deps-build deps-run deps-test
	+$(SUBMAKE) all
	$(PYTHON) tests/systems/systems.py $(BUILD) $(MACHINES)

## prints all sentences of baretick with their files
.PHONY: sentences
sentences:
	@tests/sentences

## writes the JSON schema of the report and the table of its metrics from report.def
.PHONY: schema
schema:
	$(PYTHON) tests/report/make_schema.py src

# Checks that a compiler does not do.
SHELL_FILES  = $(shell git grep -lE '^\#!.*sh$$' -- ':!*.md')
PYTHON_FILES = $(shell git grep -lE '^\#!.*python3' -- ':!*.md' ':!*.c') $(wildcard qemu/*/*.py tests/*.py tests/*/*.py)
## runs static checks of the C, the shell and the Python code, and of the language
.PHONY: lint
lint: deps-lint
	cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
		--suppress=missingIncludeSystem --suppress=nullPointer:src/analysis/facts.def $(INCLUDES) src drivers
	shellcheck $(SHELL_FILES)
	$(PYTHON) -m pyflakes $(sort $(PYTHON_FILES))
	$(PYTHON) tests/report/make_schema.py --check src
	$(PYTHON) tests/plain
	@! grep -nP '^.{121,}' -r src drivers boot tests --include='*.[ch]' --include='*.nasm' --include='*.asm' || \
		{ echo 'lint: lines of more than 120 columns'; exit 1; }
