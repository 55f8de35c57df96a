# The distribution's packages that baretick needs, by purpose, and the targets that install them. `make run` and
# `make check` announce and install missing packages, but a plain `make` only names them. A rule that needs a list
# has the list's target as an order-only prerequisite, as in  $(OBJECTS): | deps-build
##= NO_INSTALL=1 installs nothing, but names missing packages and goes on

PACKAGES_build := gcc binutils libc6-dev gnu-efi nasm python3 libjs-chart.js esbuild
PACKAGES_run   := python3 qemu-system-x86 ovmf
PACKAGES_image := mtools dosfstools fdisk xorriso
# rEFInd is not in these lists, because its package may install it as the machine's boot loader. Install it by hand for
# its test.
PACKAGES_loaders := grub-efi-amd64-bin? grub-common? ipxe?
PACKAGES_firmware := u-boot-qemu?
PACKAGES_cloud := $(PACKAGES_image) qemu-utils
PACKAGES_bios := grub-pc-bin? grub-common? isolinux? pxelinux? syslinux-common? bochs? bochsbios? vgabios?
PACKAGES_fresh := debootstrap
PACKAGES_test  := $(PACKAGES_firmware) $(PACKAGES_bios) $(PACKAGES_cloud) libcmocka-dev zlib1g-dev pkg-config clang libclang-rt-dev? faketime python3-jsonschema \
                  python3-pytest python3-pytest-xdist python3-pil python3-yaml chromium? dnsmasq-base? systemd-boot-efi? \
                  efi-shell-x64? busybox efibootmgr groff-base \
                  $(if $(filter check-long,$(MAKECMDGOALS)),$(PACKAGES_loaders) $(PACKAGES_fresh))
PACKAGES_lint  := cppcheck shellcheck pyflakes3
PACKAGES_sign  := $(PACKAGES_image) sbsigntool openssl \
                  $(if $(filter-out 0,$(SHIM))$(filter check check-long pictures,$(MAKECMDGOALS)),shim-signed)
PACKAGES_fleet := mtools python3-venv
PACKAGES_spark := $(PACKAGES_fleet) default-jre-headless
PACKAGES_dist  := $(PACKAGES_image) git xz-utils python3-debian

# The packages for all purposes of a goal of make, so that a single call installs them before the first compiler runs.
packages_of_goal = $(sort $(foreach purpose,$(1),$(PACKAGES_$(purpose))))
PACKAGES_GOAL := $(PACKAGES_build) \
    $(if $(filter run bench kvm matrix quiet quiet-events pictures systems,$(MAKECMDGOALS)),$(PACKAGES_run)) \
    $(if $(filter image kvm matrix,$(MAKECMDGOALS)),$(PACKAGES_image)) \
    $(if $(filter cloud,$(MAKECMDGOALS)),$(PACKAGES_cloud)) \
    $(if $(filter matrix,$(MAKECMDGOALS)),$(PACKAGES_firmware)) \
    $(if $(filter sign pictures,$(MAKECMDGOALS)),$(PACKAGES_sign)) \
    $(if $(filter dist,$(MAKECMDGOALS)),$(PACKAGES_dist)) \
    $(if $(filter fleet bench matrix check check-long,$(MAKECMDGOALS)),$(PACKAGES_fleet)) \
    $(if $(filter fleet-spark check-spark,$(MAKECMDGOALS)),$(PACKAGES_spark)) \
    $(if $(filter fuzz kvm pictures check-spark systems,$(MAKECMDGOALS)),$(PACKAGES_test)) \
    $(if $(filter lint,$(MAKECMDGOALS)),$(PACKAGES_lint)) \
    $(if $(filter fresh,$(MAKECMDGOALS)),$(PACKAGES_fresh)) \
    $(if $(filter check check-long,$(MAKECMDGOALS)),$(PACKAGES_run) $(PACKAGES_dist) $(PACKAGES_sign) $(PACKAGES_test))

PACKAGES_MODE := $(if $(NO_INSTALL),skip,$(if $(MAKECMDGOALS),install,name))

.PHONY: deps-build deps-run deps-image deps-test deps-lint deps-fresh deps-sign deps-dist deps-fleet deps-spark deps-cloud
deps-build:
	@qemu/packages $(PACKAGES_MODE) $(sort $(PACKAGES_GOAL))
## installs the packages that qemu/run needs
.PHONY: deps-run
deps-run deps-image deps-test deps-sign deps-dist deps-fleet deps-spark deps-cloud: deps-build
deps-run deps-image deps-test deps-lint deps-fresh deps-sign deps-dist deps-fleet deps-spark deps-cloud: deps-%:
	@qemu/packages $(PACKAGES_MODE) $(PACKAGES_$*)
