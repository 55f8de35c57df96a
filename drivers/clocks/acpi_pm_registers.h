/* The ACPI PM timer's register: for its driver and its checks. */
#ifndef BARETICK_ACPI_PM_REGISTERS_H
#define BARETICK_ACPI_PM_REGISTERS_H

/*
 * ACPI 6.5, 4.8.3.3 says 3.579545 MHz, which emulators take at its word. A chip set divides 14.31818 MHz by four,
 * which is 315/22 MHz rounded: 127 ppb more.
 */
#define ACPI_PM_HZ        3579545u
#define ACPI_PM_EXACT_HZ  { 39375000, 11 }
#define ACPI_PM_WITHIN_PPB 128u
#define ACPI_PM_MASK_24   0xffffffu   /* the same section; 24 bits wide, or 32 if the FADT sets TMR_VAL_EXT */

enum { ACPI_PM_MASK }; /* device.saved: the mask of a reading's valid bits, not a register */

#endif
