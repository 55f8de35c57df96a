# As src/rooms.mk.
USES_boot/firmware := src/report drivers/clocks drivers/smbios
USES_boot/guard    := boot/firmware
USES_boot/interrupts := boot/guard
USES_boot/console  := boot/guard src/render/screen src/measure
USES_boot/volume   := boot/firmware src/report drivers/hw
USES_boot/network  := boot/firmware src/network
USES_boot/cores    := boot/guard drivers/smp drivers/acpi
USES_boot          := boot/console boot/volume boot/network boot/cores boot/interrupts drivers/checks drivers/timers src/run src/render/text src/render/json \
                      src/render/csv

ROOMS += boot/firmware boot/guard boot/interrupts boot/console boot/volume boot/network boot/cores boot
