# As src/rooms.mk.
USES_boot/firmware := src/report drivers/clocks drivers/smbios
USES_boot/console  := boot/firmware src/render/screen src/measure
USES_boot/volume   := boot/firmware src/report drivers/hw
USES_boot/cores    := boot/firmware drivers/smp drivers/acpi
USES_boot          := boot/console boot/volume boot/cores drivers/checks src/run src/render/text src/render/json \
                      src/render/csv

ROOMS += boot/firmware boot/console boot/volume boot/cores boot
