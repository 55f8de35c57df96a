/* Other systems' calibration loops, one file for each system. README.md names the source of each loop. */
#ifndef BARETICK_CALIBRATIONS_H
#define BARETICK_CALIBRATIONS_H

#include "clock/calibration.h"

extern const struct calibration_loop calibration_linux_pit, calibration_linux_reference, calibration_linux_lapic,
	calibration_edk2, calibration_valkey, calibration_postgresql;
/* all calibration loops, the shortest loop first; ends with NULL */
extern const struct calibration_loop *const calibrations[];

/* Adds a reading to RESULT, which is stored in the record. */
static inline void
calibration_add_reading(struct calibration_result *result, uint64_t reading)
{
	if (result->reading_count < CALIBRATION_READINGS)
		result->readings[result->reading_count++] = reading;
}

/* Marks RESULT as failed. I is the index of the reason in the array REFUSALS of struct calibration_loop. */
static inline void
calibration_set_failure(struct calibration_result *result, uint32_t i)
{
	result->hz = 0;
	result->refusal = i;
}

/* Stores a rate in RESULT. KHZ is in kHz, the unit that Linux uses. */
static inline void
calibration_set_rate_khz(struct calibration_result *result, uint64_t khz)
{
	result->hz = khz * 1000;
	result->refusal = CALIBRATION_NONE;
}

#endif
