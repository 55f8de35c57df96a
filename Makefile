# baretick: see README.md. `make help` lists what there is to make.

include qemu/packages.mk

BUILD   := build
CC      := gcc
LD      := ld
OBJCOPY := objcopy
NASM    := nasm
PYTHON  := /usr/bin/python3

VERSION := 0.1.0
COMMIT  := $(shell git -C $(CURDIR) rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
COMMON   := -std=gnu11 -O2 -g $(WARNINGS) -ffile-prefix-map=$(CURDIR)=.
# No SSE, no red zone: a freshly started core and an interrupt handler of the firmware can run any of it.
TARGET   := $(COMMON) -ffreestanding -fpic -fshort-wchar -fno-stack-protector -fno-strict-aliasing \
            -mno-red-zone -mgeneral-regs-only -maccumulate-outgoing-args -fvisibility=hidden \
            -fno-asynchronous-unwind-tables -fcf-protection=none -flto -fno-fat-lto-objects \
            -fno-tree-loop-distribute-patterns

# Each layer sees only itself and what lies below it.
SRC_INCLUDES     := -Isrc
DRIVERS_INCLUDES := -Isrc -Idrivers
BOOT_INCLUDES    := -Isrc -Idrivers -Iboot -isystem /usr/include/efi -isystem /usr/include/efi/x86_64

SRC_SOURCES     := $(sort $(wildcard src/*.c))
DRIVERS_SOURCES := $(sort $(wildcard drivers/*.c))
BOOT_SOURCES    := $(sort $(wildcard boot/*.c))
BOOT_ASSEMBLY   := $(sort $(wildcard boot/*.nasm))

OBJECTS := $(patsubst %.c,$(BUILD)/efi/%.o,$(SRC_SOURCES) $(DRIVERS_SOURCES) $(BOOT_SOURCES)) \
           $(patsubst %.nasm,$(BUILD)/efi/%.o,$(BOOT_ASSEMBLY))

GNUEFI_LIB   := /usr/lib
GNUEFI_CRT0  := $(GNUEFI_LIB)/crt0-efi-x86_64.o

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/baretick.efi

$(BUILD)/efi/src/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(TARGET) $(SRC_INCLUDES) -MMD -MP -c $< -o $@

$(BUILD)/efi/drivers/%.o: drivers/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(TARGET) $(DRIVERS_INCLUDES) -MMD -MP -c $< -o $@

$(BUILD)/efi/boot/%.o: boot/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(TARGET) $(BOOT_INCLUDES) -DGNU_EFI_USE_MS_ABI -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"' \
		-MMD -MP -c $< -o $@

$(BUILD)/efi/boot/%.o: boot/%.nasm Makefile
	@mkdir -p $(@D)
	$(NASM) -f elf64 -Iboot/ -Wall -Werror -MD $(@:.o=.d) -o $@ $<

-include $(OBJECTS:.o=.d)

$(BUILD)/baretick.so: $(OBJECTS) boot/efi.lds
	$(CC) $(TARGET) -nostdlib -shared -Wl,-Bsymbolic -Wl,-ztext -Wl,-znocombreloc -Wl,-znoexecstack -Wl,--no-undefined \
		-Wl,--build-id=none -Wl,-T,boot/efi.lds -flto=auto $(GNUEFI_CRT0) $(OBJECTS) -L$(GNUEFI_LIB) -lgnuefi -o $@

# objcopy writes no time stamp; .dynsym and .dynstr are not needed to relocate and would share a page.
$(BUILD)/baretick.efi: $(BUILD)/baretick.so boot/nxcompat
	$(OBJCOPY) -j .text -j .rodata -j .reloc -j .data -j .dynamic -j .rela \
		--strip-debug --target efi-app-x86_64 $< $@.tmp
	$(PYTHON) boot/nxcompat $@.tmp
	mv $@.tmp $@
