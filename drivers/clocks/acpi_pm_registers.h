/* The ACPI PM timer's register: for its driver and its checks. */
#ifndef BARETICK_ACPI_PM_REGISTERS_H
#define BARETICK_ACPI_PM_REGISTERS_H

#define ACPI_PM_HZ        3579545u    /* ACPI 6.5, 4.8.3.3 */
#define ACPI_PM_MASK_24   0xffffffu   /* likewise: 24 bits, 32 where the FADT sets TMR_VAL_EXT */

enum { ACPI_PM_MASK }; /* device.saved: not a register: what of a reading counts */

#endif
