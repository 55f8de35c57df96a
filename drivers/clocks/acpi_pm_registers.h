/* The register of the ACPI PM timer. Included by its driver and its checks. */
#ifndef BARETICK_ACPI_PM_REGISTERS_H
#define BARETICK_ACPI_PM_REGISTERS_H

#include <stdint.h>

struct device;

/*
 * ACPI 6.5, 4.8.3.3 specifies 3.579545 MHz, and emulators count at exactly this rate. Real chip sets count at 315/88
 * MHz, which is 127 ppb more: they divide the clock of 315/22 MHz by four. ACPI_PM_EXACT_HZ is the chip sets' rate, and
 * ACPI_PM_WITHIN_PPB, as a tolerance of this rate, covers both.
 */
#define ACPI_PM_HZ        3579545u
#define ACPI_PM_EXACT_HZ  { 39375000, 11 }
#define ACPI_PM_WITHIN_PPB 128u
/* Mask of a 24-bit timer. The FADT's flag TMR_VAL_EXT marks a 32-bit timer (ACPI 6.5, 4.8.3.3). */
#define ACPI_PM_MASK_24   0xffffffu

/* Indices into device.saved: the mask of the timer's valid bits, and 1 if the register is in memory. */
enum { ACPI_PM_MASK, ACPI_PM_IN_MEMORY };

/* Reads the timer once, and returns the lower 24 bits, which kernels use in their calibrations. */
uint32_t acpi_pm_read_24_bits(const struct device *device);

#endif
