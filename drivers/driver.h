/*
 * What a clock's driver is: one file, one export of this type. Registers in, ticks out; it knows no UEFI
 * and judges nothing. open() leaves a row for each way of reading its clock, whatever it finds; close()
 * puts every register back that open() changed.
 */
#ifndef BARETICK_DRIVER_H
#define BARETICK_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acpi.h"
#include "behaviour.h"
#include "clock.h"
#include "cpu.h"
#include "hw.h"
#include "scale.h"

#define DRIVER_CLOCKS_MAX 4 /* ways of reading one device */
#define DRIVER_SAVED_MAX  8

struct platform {
	struct acpi_facts acpi;
	struct cpu_facts cpu;
};

/* A driver's memory between open and close. The caller owns it, zeroed before open. */
struct device {
	bool opened;              /* registers were changed or may have been: close has something to do */
	bool bracket_with_mfence; /* LFENCE alone does not serialise here */
	uint64_t address;         /* of the register that is read: I/O port or MMIO */
	uint64_t saved[DRIVER_SAVED_MAX]; /* registers as found; each driver says which is which */
	uint64_t edges;           /* rtc: periodic flags seen since open */
};

struct driver {
	const char *id;
	size_t clock_count; /* rows it leaves, at most DRIVER_CLOCKS_MAX */
	const char *ids[DRIVER_CLOCKS_MAX]; /* of those rows, in their order */
	/* Fills CLOCKS[0..clock_count) in every case; masks interrupts itself where it must. */
	void (*open)(const struct platform *platform, struct device *device, struct clock *clocks);
	/*
	 * Looks whether the device behaves as its data sheet promises and adds a row for each promise, seen or not.
	 * Between open and close, after the measuring; ROWS are those of open, in the state that they are in by then.
	 * Takes about BUDGET_NS at most, and leaves the device as open left it. NULL: nothing to look at.
	 */
	void (*check)(const struct platform *platform, struct device *device, const struct clock *rows,
		      const struct scale *scale, uint64_t budget_ns, struct behaviours *behaviours);
	/* May be called after an open that found nothing; a second call does nothing. */
	void (*close)(struct device *device);
};

/* Every driver, in the order in which people see the clocks; ends with NULL. */
extern const struct driver *const drivers[];

extern const struct driver tsc_driver, hpet_driver, acpi_pm_driver, pit_driver, rtc_driver, null_driver;

/*
 * Defines NAME##_sample, a clock's sample function, from READ, its one read: one loop for each bracket, so
 * that the choice between them is made before the first reading.
 */
#define DRIVER_SAMPLE(name, read)                                                                  \
	static void name##_sample(void *device, struct sample *samples, size_t count)              \
	{                                                                                          \
		if (((const struct device *)device)->bracket_with_mfence)                          \
			sample_chain(samples, count, hw_tsc_mfence, read, device);                 \
		else                                                                               \
			sample_chain(samples, count, hw_tsc_lfence, read, device);                 \
	}

#endif
