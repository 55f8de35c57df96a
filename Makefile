# baretick: see README.md. `make help` lists what there is to make.

include qemu/packages.mk

BUILD   := build
CC      := gcc
LD      := ld
OBJCOPY := objcopy
NASM    := nasm
PYTHON  := /usr/bin/python3

# make V=1 shows the whole commands.
QUIET := $(if $(V),,@)
ifeq ($(V),)
say = @echo '  $(1)  $@'
else
say = @:
endif

VERSION := 0.1.0
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
COMMON   := -std=gnu11 -O2 -g $(WARNINGS) '-ffile-prefix-map=$(CURDIR)=.'
# No SSE, no red zone: a freshly started core and an interrupt handler of the firmware can run any of it.
TARGET   := $(COMMON) -ffreestanding -fpic -fshort-wchar -fno-stack-protector -fno-strict-aliasing \
            -mno-red-zone -mgeneral-regs-only -maccumulate-outgoing-args -fvisibility=hidden \
            -fno-asynchronous-unwind-tables -fcf-protection=none -flto -fno-fat-lto-objects \
            -fno-tree-loop-distribute-patterns

# Each folder sees only itself and what its layer's rooms.mk lets it use.
ROOMS :=
include src/rooms.mk drivers/rooms.mk boot/rooms.mk

room_of  = $(patsubst %/,%,$(dir $(1)))
visible  = $(sort $(1) $(foreach room,$(USES_$(1)),$(call visible,$(room))))
includes = $(addprefix -I,$(call visible,$(1)))

SOURCES         := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
BOOT_SOURCES    := $(filter boot/%,$(SOURCES))
PORTABLE        := $(filter-out boot/%,$(SOURCES))
BOOT_ASSEMBLY   := $(sort $(foreach room,$(filter boot%,$(ROOMS)),$(wildcard $(room)/*.nasm)))

OBJECTS := $(patsubst %.c,$(BUILD)/efi/%.o,$(SOURCES)) $(patsubst %.nasm,$(BUILD)/efi/%.o,$(BOOT_ASSEMBLY))

EFI_INCLUDES := -isystem /usr/include/efi -isystem /usr/include/efi/x86_64
BOOT_FLAGS   := $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'

GNUEFI_LIB   := /usr/lib
GNUEFI_CRT0  := $(GNUEFI_LIB)/crt0-efi-x86_64.o

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/baretick.efi

$(BUILD)/efi/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(call includes,$(call room_of,$<)) $(if $(filter boot/%,$<),$(BOOT_FLAGS)) -MMD -MP -c $< -o $@

# What the compiler may call by itself, and would take for unused.
$(BUILD)/efi/boot/firmware/memory.o: TARGET += -fno-lto

$(BUILD)/efi/%.o: %.nasm Makefile
	@mkdir -p $(@D)
	$(call say,NASM  )
	$(QUIET)$(NASM) -f elf64 -I$(<D)/ -Werror -MD $(@:.o=.d) -o $@ $<

# The page of report.html: one file of all that it needs, its mark for the report left open.
PAGE := $(BUILD)/page.html

CHARTS := /usr/share/javascript/chart.js/chart.min.js

$(PAGE): $(wildcard src/page/* src/page/*/* src/report/*.json $(CHARTS)) | deps-build
	@mkdir -p $(@D)
	$(call say,PAGE  )
	$(QUIET)$(PYTHON) src/page/build $@.tmp
	$(QUIET)mv $@.tmp $@

$(BUILD)/efi/boot/page.o: $(PAGE)
$(BUILD)/efi/boot/page.o: NASM += -DPAGE='"$(PAGE)"'

$(BUILD)/efi/boot/main.o $(BUILD)/efi/boot/firmware/describe.o: $(BUILD)/commit
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
.PHONY: FORCE

$(OBJECTS): | deps-build

-include $(OBJECTS:.o=.d)

LINK := -nostdlib -shared -Wl,-Bsymbolic -Wl,-ztext -Wl,-znocombreloc -Wl,-znoexecstack -Wl,--no-undefined \
        -Wl,--build-id=none -Wl,-T,boot/efi.lds -flto=auto

$(BUILD)/baretick.so $(BUILD)/baretick-skew.so: $(OBJECTS) boot/efi.lds
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(LINK) $(GNUEFI_CRT0) $(filter %.o,$^) -L$(GNUEFI_LIB) -lgnuefi -o $@

# objcopy writes no time stamp; .dynsym and .dynstr are not needed to relocate and would share a page.
$(BUILD)/baretick.efi $(BUILD)/baretick-skew.efi: %.efi: %.so boot/nxcompat
	$(call say,IMAGE )
	$(QUIET)$(OBJCOPY) -j .text -j .rodata -j .reloc -j .data -j .dynamic -j .rela \
		--strip-debug --target efi-app-x86_64 $< $@.tmp
	$(QUIET)$(PYTHON) boot/nxcompat $@.tmp
	$(QUIET)mv $@.tmp $@

# A test image: the same objects, and started cores whose TSC can be set apart. The linker is the seam; what
# reaches across it is built without link-time optimisation.
SKEW_OBJECTS := $(patsubst %.c,$(BUILD)/efi/%.o,$(sort $(wildcard tests/skew/*.c)))

$(BUILD)/efi/tests/skew/%.o: tests/skew/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) -fno-lto $(call includes,boot) $(EFI_INCLUDES) -Itests/skew -MMD -MP -c $< -o $@

$(SKEW_OBJECTS): | deps-build

-include $(SKEW_OBJECTS:.o=.d)

$(BUILD)/baretick-skew.so: $(SKEW_OBJECTS)
$(BUILD)/baretick-skew.so: LINK += -Wl,--wrap=core_main

# Host side: the same sources, a library for each folder, with the simulated machine in place of the hardware leaves.
HOST_CC        := gcc
HOST_FLAGS     := $(COMMON) -fno-strict-aliasing -O1
SANITIZE       := -fsanitize=address,undefined -fno-sanitize-recover=all
HOST_ROOMS     := $(filter-out boot%,$(ROOMS))
HOST_LIBRARIES := $(patsubst %,$(BUILD)/host/%.a,$(HOST_ROOMS) tests/sim)
HOST_OBJECTS   := $(patsubst %.c,$(BUILD)/host/%.o,$(filter-out drivers/hw/hw.c,$(PORTABLE)) $(wildcard tests/sim/*.c))
UNIT_SOURCES   := $(sort $(wildcard tests/unit/*/test_*.c))
UNIT_TESTS     := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))
UNIT_OBJECTS   := $(patsubst tests/unit/%.c,$(BUILD)/host/tests/unit/%.o,$(UNIT_SOURCES))
TEST_INCLUDES  := $(addprefix -I,$(HOST_ROOMS) tests/sim tests/unit/lib)

$(BUILD)/host/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(HOST_FLAGS) $(SANITIZE) $(TEST_INCLUDES) -I$(<D) -MMD -MP -c $< -o $@

$(BUILD)/host/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(HOST_FLAGS) $(SANITIZE) $(call includes,$(call room_of,$<)) -MMD -MP -c $< -o $@

.SECONDEXPANSION:
$(HOST_LIBRARIES): $(BUILD)/host/%.a: $$(call objects_in,$$*)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

objects_in = $(filter $(patsubst %.c,$(BUILD)/host/%.o,$(wildcard $(1)/*.c)),$(HOST_OBJECTS))

$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/host/tests/unit/%.o $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK  )
	$(QUIET)$(HOST_CC) $(SANITIZE) $< -Wl,--start-group $(HOST_LIBRARIES) -Wl,--end-group -lcmocka -lpthread -o $@

$(HOST_OBJECTS) $(UNIT_OBJECTS): | deps-test

-include $(HOST_OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d)

# Fuzz targets: built by every `make check` and run for a moment on their seeds; `make fuzz` runs them long.
FUZZ_CC      := clang
FUZZ_FLAGS   := -std=gnu11 -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS := 60
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/*.c)))
FUZZ_ROOMS   := $(sort $(call visible,src/rules) $(call visible,drivers/acpi))
FUZZ_OBJECTS := $(patsubst %.c,$(BUILD)/fuzz/%.o,$(foreach room,$(FUZZ_ROOMS),$(wildcard $(room)/*.c)))
FUZZ_LIBRARY := $(BUILD)/fuzz/all.a

$(BUILD)/fuzz/%.o: %.c Makefile | deps-test
	@mkdir -p $(@D)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(call includes,$(call room_of,$<)) -MMD -MP -c $< -o $@

$(FUZZ_LIBRARY): $(FUZZ_OBJECTS)
	$(call say,AR    )
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $^

$(FUZZ_TARGETS): $(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZ_LIBRARY)
	$(call say,CLANG )
	$(QUIET)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(addprefix -I,$(FUZZ_ROOMS)) $< $(FUZZ_LIBRARY) -o $@

-include $(FUZZ_OBJECTS:.o=.d)

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

.PHONY: check
check: deps-build deps-run deps-image deps-test
	$(MAKE) --no-print-directory all image $(BUILD)/baretick-skew.efi $(UNIT_TESTS) $(FUZZ_TARGETS) seeds
	tests/check $(BUILD) $(PYTHON) $(UNIT_TESTS)

.PHONY: run
run: deps-build deps-run
	$(MAKE) --no-print-directory all
	qemu/run --out $(BUILD)/report

MATRIX := qemu/matrix
.PHONY: matrix
matrix: deps-build deps-run deps-image
	$(MAKE) --no-print-directory all image
	qemu/run --matrix $(MATRIX) --out $(BUILD)/matrix

.PHONY: image
image: $(BUILD)/baretick.img $(BUILD)/baretick.iso

$(BUILD)/baretick.img $(BUILD)/baretick.iso &: $(BUILD)/baretick.efi qemu/image | deps-image
	qemu/image $(BUILD)/baretick.efi $(BUILD)/baretick.img $(BUILD)/baretick.iso

# Optimised as the application is, leaves inlined, against the real machine.
$(BUILD)/host/bench_host: tests/bench_host.c $(PORTABLE) Makefile
	@mkdir -p $(@D)
	$(call say,HOSTCC)
	$(QUIET)$(HOST_CC) $(COMMON) -fno-strict-aliasing -flto=auto $(addprefix -I,$(HOST_ROOMS)) $< $(PORTABLE) -o $@

.PHONY: bench
bench: deps-build deps-run
	$(MAKE) --no-print-directory all $(BUILD)/host/bench_host
	$(PYTHON) tests/bench.py $(BUILD)

# The pictures in README.md: of the page, from two machines of which one has no HPET, and of the screen. To be looked at,
# then committed.
.PHONY: pictures
pictures: deps-build deps-run deps-test
	$(MAKE) --no-print-directory all
	qemu/run --accel tcg --cpus 4 --out $(BUILD)/pictures/this --screenshot $(BUILD)/pictures/screen.png
	qemu/run --accel tcg --out $(BUILD)/pictures/other --qemu-arg=-machine --qemu-arg=hpet=off
	$(PYTHON) tests/page/pictures.py $(BUILD)/pictures/this/report.html $(BUILD)/pictures/other/report.json \
		$(BUILD)/pictures/screen.png tests/pictures

# Machines that are well, half of them on a busy host: each alarm is a false one. Minutes, so not part of check.
QUIET_BOOTS := 50
.PHONY: quiet
quiet: deps-build deps-run
	$(MAKE) --no-print-directory all
	$(PYTHON) tests/quiet.py $(BUILD) $(QUIET_BOOTS)

# Style that a compiler does not see, and the layers: each compiled with its own include path already.
SHELL_FILES  := .ci/run qemu/packages tests/fuzz/run $(shell grep -l '^\#!/.*sh$$' qemu/* | sort)
PYTHON_FILES := $(sort $(shell grep -l '^\#!.*python3' qemu/* boot/* src/page/* tests/* 2>/dev/null) $(wildcard qemu/*/*.py tests/*.py tests/*/*.py))
.PHONY: lint
lint: deps-lint
	cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
		--suppress=missingIncludeSystem $(addprefix -I,$(HOST_ROOMS)) src drivers
	shellcheck $(sort $(SHELL_FILES))
	pyflakes3 $(PYTHON_FILES)
	@! grep -nP '^.{121,}' -r src drivers boot tests --include='*.[ch]' --include='*.nasm' || \
		{ echo 'lint: lines of more than 120 columns'; exit 1; }

# Which folder may use which, for tests/test_rooms.py.
.PHONY: rooms
rooms:
	@$(foreach room,$(ROOMS),echo '$(room): $(USES_$(room))';)

.PHONY: fresh
fresh: deps-fresh
	qemu/fresh bookworm trixie

.PHONY: clean
clean:
	rm -rf $(BUILD)

.PHONY: help
help:
	@echo 'make          build $(BUILD)/baretick.efi'
	@echo 'make run      install what is missing, build, boot in QEMU, show the table'
	@echo 'make check    likewise, then run every test'
	@echo 'make matrix   the runs that qemu/matrix describes, with a table (MATRIX=FILE)'
	@echo 'make image    $(BUILD)/baretick.img (USB stick) and $(BUILD)/baretick.iso (USB and CD)'
	@echo 'make bench    what measuring itself costs: ratios, instruction counts, sizes'
	@echo 'make fuzz     the fuzz targets, $(FUZZ_SECONDS) seconds each (FUZZ_SECONDS=N)'
	@echo 'make quiet    $(QUIET_BOOTS) boots of machines that are well, half of them on a busy host (QUIET_BOOTS=N)'
	@echo 'make pictures the pictures of the page and the screen in README.md, into tests/pictures'
	@echo 'make lint     static checks of the C, the shell and the Python'
	@echo 'make fresh    as root: run and check on a fresh Debian 12 and 13; minutes'
	@echo 'make clean    remove $(BUILD)/'
	@echo 'NO_INSTALL=1  install nothing: name what is missing and go on; V=1 shows whole commands'
