# See src/rooms.mk. Both boots share the folders outside of boot/uefi and boot/bare. The functions of boot/firmware and
# boot/console that differ between the boots are in the folders firmware and console of boot/uefi and boot/bare.
USES_boot/firmware := src/report drivers/clocks drivers/smbios
USES_boot/guard    := boot/firmware
USES_boot/interrupts := boot/guard
USES_boot/console  := boot/guard src/render/sections src/measure
USES_boot/cores    := boot/guard drivers/smp drivers/acpi
USES_boot          := boot/console boot/cores boot/interrupts drivers/checks drivers/timers drivers/calibrations drivers/sleep drivers/watchdog src/run src/render/text src/render/json src/render/csv

USES_boot/uefi/firmware := boot/firmware src/record
USES_boot/uefi/console  := boot/uefi/firmware boot/console src/render/screen
USES_boot/uefi/volume   := boot/uefi/firmware
USES_boot/uefi/network  := boot/uefi/firmware src/network
USES_boot/uefi/mp       := boot/uefi/firmware boot/cores
USES_boot/uefi          := boot boot/uefi/console boot/uefi/volume boot/uefi/network boot/uefi/mp

USES_boot/bare/firmware := boot/firmware
USES_boot/bare/console  := boot/console
USES_boot/bare          := boot boot/bare/firmware boot/bare/console

USES_boot/replay        := drivers/clocks src/replay src/render/text src/render/json src/render/csv

ROOMS += boot/firmware boot/guard boot/interrupts boot/console boot/cores boot \
         boot/uefi/firmware boot/uefi/console boot/uefi/volume boot/uefi/network boot/uefi/mp boot/uefi \
         boot/bare/firmware boot/bare/console boot/bare boot/replay
