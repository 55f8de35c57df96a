/* The time services of UEFI's firmware that a run calls. The numbers of the services are in the record. */
#ifndef BARETICK_FIRMWARE_TIME_H
#define BARETICK_FIRMWARE_TIME_H

#define FIRMWARE_ENTRIES   20u /* maximum number of entries in the record */
#define FIRMWARE_PPB_MAX   INT64_C(1000000000000000) /* bound of a second's excess in ppb that stands for none */
#define FIRMWARE_ITEMS_MAX 64u /* maximum number of calls or events in an entry */

/* Services of UEFI's firmware that tell or take time, and a table with times. */
enum firmware_service {
	FIRMWARE_STALL = 1,    /* Stall(); an item is a call */
	FIRMWARE_RELATIVE = 2, /* SetTimer(TimerRelative); an item is an event */
	FIRMWARE_PERIODIC = 3, /* SetTimer(TimerPeriodic); an item is an event */
	FIRMWARE_TIME = 4,     /* GetTime(); an item is a reading in ns since 1970 */
	FIRMWARE_STAMP = 5,    /* EFI_TIMESTAMP_PROTOCOL; an item is a reading */
	FIRMWARE_COUNTER = 6,  /* GetNextMonotonicCount(); an item is a reading */
	FIRMWARE_CPU = 7,      /* EFI_CPU_ARCH_PROTOCOL.GetTimerValue(); an item is a reading */
	/* ACPI's FPDT; the items are the times of its basic boot record in ns, BEGIN is the TSC at baretick's start */
	FIRMWARE_FPDT = 8,
	FIRMWARE_SERVICES,
};

/* The device that interrupts for the firmware's timer tick. */
enum firmware_tick {
	FIRMWARE_TICK_UNKNOWN, FIRMWARE_TICK_HPET, FIRMWARE_TICK_LAPIC, FIRMWARE_TICK_PIT, FIRMWARE_TICKS,
};

#endif
