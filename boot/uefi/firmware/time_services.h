/* Calls the firmware's time services, and records the TSC before and after each call. */
#ifndef BARETICK_TIME_SERVICES_H
#define BARETICK_TIME_SERVICES_H

#include "acpi/acpi.h"
#include "base/scale.h"
#include "clock/firmware_time.h"
#include "record/record.h"

struct time_services {
	uint64_t (*tsc)(void);
	const struct scale *scale;  /* roughly the TSC's rate, which bounds each wait */
	struct record *record;      /* the readings are appended to this record */
	bool is_quick;              /* true if no second is waited for, and fewer calls are made */
	enum firmware_tick tick;    /* the device that interrupts for the firmware's tick */
	const struct acpi_fpdt *fpdt;
	/* Called before the first Stall(), which cannot be interrupted if it never returns. */
	void (*before_stall)(void *context);
	void *context;
};

/* Reads the time of day, until its second changes or 1.01 s have passed. In a quick run, reads it twice. */
void time_services_find_second(const struct time_services *services);

/*
 * Calls all services, and waits for another change of the second if there is time. Both functions together take at most
 * 1.5 s, or 90 ms in a quick run. If the firmware's time is too slow, they take up to 2 s and one call of Stall()
 * longer. The firmware's tick must run, and interrupts must be enabled.
 */
void time_services_measure(const struct time_services *services);

#endif
