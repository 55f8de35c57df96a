/* Changes the CPUID values that the boot core of the test image sees, and the firmware's time. See skew.c. */
#ifndef BARETICK_TEST_SKEW_H
#define BARETICK_TEST_SKEW_H

#include <efi.h>

/* Makes the caller a guest with changed CPUID values, if QEMU's fw_cfg item `opt/baretick/leaves` exists. */
void skew_set_cpuid_leaves(void);

/* Gives the firmware wrong time services, if QEMU's fw_cfg item `opt/baretick/firmware` exists. See firmware_time.c. */
void skew_break_firmware_time(EFI_SYSTEM_TABLE *system);

#endif
