# Builds baretick: see README.md. `make help` lists the goals.

include qemu/packages.mk

# Environment variables of programs that the goals start. They may also be given to make.
PROGRAM_VARIABLES := OVMF SHIM_FOLDER FIND_ROOT KVM_RIG QEMU JAVA_HOME SOURCE_DATE_EPOCH FRESH_% UPDATE_GOLDENS TMPDIR PATH SHELL
# A misspelt variable, such as OPTION="profile=quick", would be ignored. All other variables are words of the makefiles.
# A make that another makefile started (MAKELEVEL above 0) also gets that makefile's variables, so they are not checked.
GIVEN_VARIABLES := $(if $(filter 0,$(MAKELEVEL)),$(filter-out $(PROGRAM_VARIABLES) -%,$(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))))
$(foreach name,$(GIVEN_VARIABLES),$(if $(shell grep -hv '^ *#[^#]' Makefile qemu/*.mk tests/*.mk | grep -w -- '$(name)'),,\
  $(error $(name)= is no variable of this Makefile; make help lists the variables)))

# Turn off make's built-in rules. For each file of dependencies make would try them all, which takes most of each call.
MAKEFLAGS += --no-builtin-rules

BUILD   := build
CC      := gcc
OBJCOPY := objcopy
NASM    := nasm
PYTHON  := /usr/bin/python3

# Builds a goal's prerequisites on all processors, unless the command line has a number of jobs.
SUBMAKE = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

##= V=1 shows the whole commands
QUIET := $(if $(V),,@)
ifeq ($(V),)
say = @echo '  $(1)  $@'
else
say = @:
endif

VERSION := 0.1.0
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

##= WERROR=1 treats warnings as errors, as the tests of a submission do
WARNINGS := $(if $(WERROR),-Werror) -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
            $(if $(findstring clang,$(CC)),-Wno-c2x-extensions) # allows parameters without names, as gcc does
##= DEBUG=1 adds variables and types to the debugging information, for a debugger
COMMON   := -std=gnu11 -O2 $(if $(DEBUG),-g,-g1) $(WARNINGS) '-ffile-prefix-map=$(CURDIR)=.'
# Flags that clang does not know. clang builds without link-time optimisation, because its linker plugin is in another package.
GCC_ONLY := -flto -fno-fat-lto-objects -fno-tree-loop-distribute-patterns -maccumulate-outgoing-args
# One partition makes the image smaller and the link faster: gcc neither inlines nor leaves out functions across partitions.
GCC_LINK := -flto-partition=one
ifneq ($(findstring clang,$(CC)),)
GCC_ONLY :=
GCC_LINK :=
endif
# No SSE and no red zone, because this code may run on a newly started core and in an interrupt handler of the firmware.
TARGET   := $(COMMON) -ffreestanding -fpic -fshort-wchar -fno-stack-protector -fno-strict-aliasing \
            -mno-red-zone -mgeneral-regs-only -fvisibility=hidden -fno-asynchronous-unwind-tables -fcf-protection=none \
            $(GCC_ONLY)

# These files list the folders of code, and which folders each may use. Headers are included with their folder, such as
# "sync/offsets.h". tests/test_rooms.py compares each #include with these lists.
ROOMS    :=
ROOMS_MK := src/rooms.mk drivers/rooms.mk boot/rooms.mk
include $(ROOMS_MK)

room_of  = $(patsubst %/,%,$(dir $(1)))
# visible FOLDER: FOLDER and all folders that it may use. VISIBLE_FOLDER keeps the result.
visible  = $(or $(VISIBLE_$(1)),$(eval VISIBLE_$(1) := $(sort $(1) $(foreach room,$(USES_$(1)),$(call visible,$(room)))))$(VISIBLE_$(1)))
INCLUDES := -Isrc -Idrivers -Iboot

SOURCES         := $(sort $(foreach room,$(ROOMS),$(wildcard $(room)/*.c)))
PORTABLE        := $(filter-out boot/%,$(SOURCES))

# objects_of FOLDER: the objects of an image that starts in FOLDER, which are all objects that FOLDER may use.
objects_of   = $(addprefix $(BUILD)/efi/,$(addsuffix .o,$(basename $(foreach room,$(call visible,$(1)),\
               $(wildcard $(room)/*.c $(room)/*.nasm)))))
OBJECTS      := $(call objects_of,boot/uefi)
BARE_OBJECTS := $(call objects_of,boot/bare)

# Paths of other packages' files are determined at their first use, because `make run` may have to install them first.
found         = $(call path_or_stop,$(shell CC='$(CC)' qemu/find $(1) 2>&1))
path_or_stop  = $(if $(filter 0,$(.SHELLSTATUS)),$(1),$(error $(1)))
remembered    = $(eval $(1) := $(call found,$(2)))$($(1))
GNUEFI_INCLUDE = $(call remembered,GNUEFI_INCLUDE,gnu-efi-include)
GNUEFI_CRT0    = $(call remembered,GNUEFI_CRT0,gnu-efi-crt0)
CHARTS         = $(call remembered,CHARTS,chart.js)

EFI_INCLUDES = -isystem $(GNUEFI_INCLUDE) -isystem $(GNUEFI_INCLUDE)/x86_64
BOOT_FLAGS   = $(EFI_INCLUDES) -DGNU_EFI_USE_MS_ABI -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'

.DEFAULT_GOAL := all
## builds baretick.efi, .elf and .bin, and baretick-replay, in build; so does make alone
.PHONY: all
all: $(BUILD)/baretick.efi $(BUILD)/baretick.elf $(BUILD)/baretick.bin $(BUILD)/baretick-replay

$(BUILD)/efi/%.o: %.c Makefile $(ROOMS_MK)
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(INCLUDES) $(if $(filter boot/%,$<),$(BOOT_FLAGS)) -MMD -MP -c $< -o $@

# The compiler may call these functions by itself, but link-time optimisation would remove them as unused.
$(BUILD)/efi/boot/firmware/memory.o: TARGET += -fno-lto
# Code that runs in or between readings is optimised for speed. All other code is optimised for size.
TIMED := $(filter-out %/claims.c %/drivers.c %/probe.c,$(wildcard drivers/clocks/*.c)) \
         $(filter-out %/as_found_timers.c,$(wildcard drivers/timers/*.c)) drivers/hw/hw.c drivers/hw/lapic.c \
         src/base/histogram.c src/base/scale.c src/clock/barrier.c src/stats/gaps.c src/stats/latency.c src/stats/monotonic.c \
         src/stats/resolution.c src/sync/pingpong.c src/sync/warp.c boot/cores/job.c boot/interrupts/interrupts.c
ifneq ($(filter-out $(SOURCES),$(TIMED)),)
$(error TIMED names a file that does not exist: $(filter-out $(SOURCES),$(TIMED)))
endif
$(patsubst %.c,$(BUILD)/efi/%.o,$(filter-out $(TIMED),$(SOURCES))): TARGET += -Os

$(BUILD)/efi/%.o: %.nasm Makefile
	@mkdir -p $(@D)
	$(call say,NASM  )
	$(QUIET)$(NASM) -f elf64 -I$(<D)/ $(if $(WERROR),-Werror) -MD $(@:.o=.d) -o $@ $<

# The page of report.html in one file. A mark in it is replaced by the report.
PAGE := $(BUILD)/page.html
# The same page in four files, which the application contains and puts together.
PAGE_PARTS := $(foreach part,0 1 2,-DPAGE_$(part)='"$(BUILD)/page.$(part)"') -DPAGE_CHARTS='"$(BUILD)/charts.gz"'

$(PAGE): $(wildcard src/page/* src/page/*/* src/report/*.json) $(shell qemu/find chart.js 2>/dev/null) | deps-build
	@mkdir -p $(@D)
	$(call say,PAGE  )
	$(QUIET)$(PYTHON) src/page/build $@.tmp $(CHARTS)
	$(QUIET)mv $@.tmp $@

$(BUILD)/efi/boot/uefi/page.o: $(PAGE)
$(BUILD)/efi/boot/uefi/page.o: NASM += $(PAGE_PARTS)
$(BUILD)/efi/boot/uefi/sbat.o: NASM += -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'

$(BUILD)/efi/boot/uefi/main.o $(BUILD)/efi/boot/uefi/sbat.o $(BUILD)/efi/boot/bare/main.o $(BUILD)/efi/boot/firmware/describe.o: $(BUILD)/commit
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
.PHONY: FORCE

$(OBJECTS) $(BARE_OBJECTS): | deps-build

-include $(sort $(OBJECTS:.o=.d) $(BARE_OBJECTS:.o=.d))

LINK := -nostdlib -shared -Wl,-Bsymbolic -Wl,-ztext -Wl,-zpack-relative-relocs -Wl,-znoexecstack -Wl,--no-undefined \
        -Wl,--build-id=none -Wl,-T,boot/uefi/efi.lds $(GCC_LINK)

$(BUILD)/baretick.so: $(OBJECTS) boot/uefi/efi.lds
$(BUILD)/baretick.so $(BUILD)/baretick-skew.so $(BUILD)/baretick-fault.so:
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) $(LINK) $(GNUEFI_CRT0) $(filter %.o,$^) -o $@

# objcopy writes no time stamp. .dynsym and .dynstr are not needed for relocation, and would share a page. Nothing may follow the
# last section, because a signature is appended there.
$(BUILD)/baretick.efi $(BUILD)/baretick-skew.efi $(BUILD)/baretick-fault.efi: %.efi: %.so boot/uefi/set_header
	$(call say,IMAGE )
	$(QUIET)$(OBJCOPY) -j .text -j .rodata -j .reloc -j .data -j .dynamic -j .relr -j .sbat \
		--strip-all -O efi-app-x86_64 $< $@.tmp
	$(QUIET)$(PYTHON) boot/uefi/set_header $@.tmp '$(VERSION)'
	$(QUIET)mv $@.tmp $@

# The image without UEFI, for loaders that start an ELF.
$(BUILD)/baretick.elf: $(BARE_OBJECTS) boot/bare/elf.lds
$(BUILD)/baretick.elf $(BUILD)/baretick-fault.elf:
	$(call say,CC    )
	$(QUIET)$(CC) $(TARGET) -nostdlib -static -Wl,-z,noexecstack -Wl,--no-undefined -Wl,--build-id=none \
		-Wl,-T,boot/bare/elf.lds $(GCC_LINK) $(filter %.o,$^) -o $@.debug
	$(QUIET)$(OBJCOPY) --strip-all $@.debug $@

# The same image for loaders of Linux, with Linux's header and real-mode code at its start. It is a separate file: QEMU and Xen look
# for this header first, and would not use the PVH entry of an ELF that has both.
$(BUILD)/baretick.bin: $(BUILD)/baretick.elf boot/bare/linux_setup.asm
	$(call say,IMAGE )
	$(QUIET)$(OBJCOPY) -O binary $< $@.image
	$(QUIET)$(NASM) -f bin $(if $(WERROR),-Werror) -DVERSION='"$(VERSION)"' -DIMAGE_SIZE=$$(stat -c %s $@.image) -o $@.setup boot/bare/linux_setup.asm
	$(QUIET)cat $@.setup $@.image > $@.tmp
	$(QUIET)rm $@.setup $@.image
	$(QUIET)mv $@.tmp $@

# The program that makes a report again from its record. It runs on Linux and has the same sources.
REPLAY_SOURCES := $(foreach room,$(call visible,boot/replay),$(wildcard $(room)/*.c))
REPLAY_OBJECTS := $(REPLAY_SOURCES:%.c=$(BUILD)/replay/%.o) $(BUILD)/replay/page.o

$(BUILD)/replay/%.o: %.c Makefile $(ROOMS_MK) | deps-build
	@mkdir -p $(@D)
	$(call say,CC    )
	$(QUIET)$(CC) $(COMMON) -fno-strict-aliasing $(INCLUDES) $(DEFINES) -MMD -MP -c $< -o $@

$(BUILD)/replay/boot/replay/main.o: DEFINES := -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"'
$(BUILD)/replay/boot/replay/main.o: $(BUILD)/commit
$(BUILD)/replay/page.o: boot/uefi/page.nasm $(PAGE)
	$(call say,NASM  )
	$(QUIET)$(NASM) -f elf64 $(if $(WERROR),-Werror) $(PAGE_PARTS) -o $@ $<

$(BUILD)/baretick-replay: $(REPLAY_OBJECTS)
	$(call say,CC    )
	$(QUIET)$(CC) -s -Wl,-z,noexecstack $^ -o $@

-include $(REPLAY_OBJECTS:.o=.d)

OPTIONS :=
## installs missing packages, builds, boots in QEMU, writes build/report (OPTIONS="profile=quick")
.PHONY: run
run: deps-build deps-run
	+$(SUBMAKE) all
	qemu/run --out $(BUILD)/report $(if $(OPTIONS),-- $(OPTIONS))

# Installs packages from PyPI in a separate Python environment: one fixed version of each, checked by its hash.
$(BUILD)/%-python/made: | deps-fleet
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes -r $^
	@touch $@

# The Python environment with DuckDB.
FLEET_PYTHON := $(BUILD)/fleet-python/made
$(FLEET_PYTHON): qemu/lab/requirements.txt

# Installs a fixed version of Spark in the same way. PyPI has only Spark's source. pip builds it with the packages of the first list,
# and downloads no others.
FLEET_SPARK := $(BUILD)/fleet-spark/made
$(FLEET_SPARK): qemu/lab/requirements-setuptools.txt qemu/lab/requirements-spark.txt | deps-spark
	rm -rf $(@D)
	$(PYTHON) -m venv $(@D)
	for list in $^; do $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-build-isolation \
		--require-hashes -r $$list || exit 1; done
	@touch $@

MATRIX := qemu/matrix
# If the page cannot be made, this goal fails even if all runs passed. Findings on the page do not make it fail, because each run
# has its own verdict.
## does the runs in qemu/matrix, and makes a table and a page of all (MATRIX=FILE)
.PHONY: matrix
matrix: deps-build deps-run deps-image $(FLEET_PYTHON)
	+$(SUBMAKE) all image
	@qemu/run --matrix $(MATRIX) --out $(BUILD)/matrix; status=$$?; [ $$status -gt 128 ] && exit $$status; \
	echo; qemu/fleet --out $(BUILD)/matrix-fleet $(BUILD)/matrix; [ $$? -lt 2 ] || [ $$status != 0 ] || exit 2; \
	exit $$status

REPORTS :=
## compares the reports of many machines and lists outliers (REPORTS="FOLDER STICK.img ...")
.PHONY: fleet
fleet: $(FLEET_PYTHON)
	$(if $(REPORTS),qemu/fleet $(REPORTS),@echo 'DuckDB is there. Now: qemu/fleet REPORT...')

RECORDS :=
## makes build/gallery/index.html, a page of many records and reports (RECORDS="FOLDER ...")
.PHONY: gallery
gallery: deps-build
	+$(SUBMAKE) $(BUILD)/baretick-replay
	$(if $(RECORDS),qemu/fleet --gallery $(RECORDS),@echo 'gallery: which? make gallery RECORDS="FOLDER ..."'; exit 2)

## installs Spark (455 MB) and a Java for qemu/fleet --engine spark
.PHONY: fleet-spark
fleet-spark: $(FLEET_PYTHON) $(FLEET_SPARK)
	@echo 'Spark is there. Now: qemu/fleet --engine spark REPORT...'

## makes build/baretick.img (USB stick) and build/baretick.iso (USB and CD)
.PHONY: image
image: $(BUILD)/baretick.img $(BUILD)/baretick.iso
	@echo 'Try it in QEMU first: qemu/run --boot usb -- profile=quick'
	@echo 'Write the stick, and lose everything on it: sudo dd if=$(BUILD)/baretick.img of=/dev/sdX bs=4M conv=fsync'

$(BUILD)/baretick.img $(BUILD)/baretick.iso &: $(BUILD)/baretick.efi qemu/image qemu/baretick.cfg qemu/stick.txt | deps-image
	qemu/image $(BUILD)/baretick.efi $(BUILD)/baretick.img $(BUILD)/baretick.iso

## makes images of the stick for clouds and hypervisors (qemu/cloud)
.PHONY: cloud
cloud: deps-cloud
	+$(SUBMAKE) image
	qemu/cloud/make-images $(BUILD)/baretick.img $(BUILD)

## signs application and images for Secure Boot (KEY=FILE CERT=FILE, SHIM=1 to start by a shim)
.PHONY: sign
sign: deps-sign
	+$(SUBMAKE) all
	@qemu/sign '$(KEY)' '$(CERT)' $(BUILD)/baretick.efi $(BUILD)/baretick-signed $(SHIM)

# The manual pages: their texts are those of the READMEs, of the options and of --help.
MAN_SOURCES := README.md src/options/README.md src/render/screen/README.md src/judge/README.md qemu/nextboot qemu/fleet \
               $(wildcard qemu/release/man qemu/runner/*.py qemu/results/*.py)
$(BUILD)/man: $(BUILD)/baretick-replay $(MAN_SOURCES)
	$(call say,MAN   )
	$(QUIET)rm -rf $@
	$(QUIET)qemu/release/man $< $@

PREFIX     := /usr/local
SYSCONFDIR := /etc
DESTDIR    :=
## installs programs, images, manual pages and an entry for GRUB's menu (PREFIX=/usr DESTDIR=FOLDER)
.PHONY: install
install: deps-image
	+$(SUBMAKE) all image $(BUILD)/man
	qemu/release/install $(BUILD) '$(PREFIX)' '$(SYSCONFDIR)' '$(DESTDIR)'

## makes a release with checksums and licences: build/dist/baretick-VERSION, and a .tar.xz of it
.PHONY: dist
dist: deps-dist
	+$(SUBMAKE) all image $(BUILD)/man
	$(PYTHON) qemu/dist $(VERSION) $(COMMIT) $(BUILD) $(CHARTS) $(GNUEFI_CRT0) $(GNUEFI_INCLUDE)

# Lists which folder may use which, for tests/test_rooms.py.
.PHONY: rooms
rooms:
	@$(foreach room,$(ROOMS),echo '$(room): $(USES_$(room))';)

include tests/tests.mk

## runs and checks on a fresh Debian 12, 13 and sid, as root, for an hour
.PHONY: fresh
fresh: deps-fresh
	qemu/fresh bookworm trixie sid

## removes build/
.PHONY: clean
clean:
	rm -rf $(BUILD)

# Prints the lines that start with ## above a goal, in all makefiles.
## prints this list
.PHONY: help
help:
	@awk '/^## / { said = substr($$0, 4); next } \
		/^\.PHONY: / && said { printf "make %-13s %s\n", $$2, said; said = "" } \
		/^##= / { word = $$2; sub(/^##= +[^ ]+ +/, ""); more = more sprintf("%-18s %s\n", word, $$0) } \
		END { printf "%s", more }' $(filter Makefile %.mk,$(MAKEFILE_LIST))
