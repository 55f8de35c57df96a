# See src/rooms.mk.
USES_drivers/hw     := src/clock
USES_drivers/acpi   := src/base
USES_drivers/smbios := src/base
USES_drivers/smp    := drivers/hw
USES_drivers/paravirtual := drivers/hw
USES_drivers/clocks := drivers/paravirtual drivers/acpi
USES_drivers/checks := drivers/clocks
USES_drivers/timers := drivers/clocks
USES_drivers/calibrations := drivers/clocks
USES_drivers/sleep := drivers/timers
USES_drivers/watchdog := drivers/acpi drivers/hw

ROOMS += drivers/hw drivers/acpi drivers/smbios drivers/smp drivers/paravirtual drivers/clocks drivers/checks drivers/timers drivers/calibrations \
         drivers/sleep drivers/watchdog
