/* Functions that several files of checks use: the HPET's pace, and the RTC's periodic flag. */
#ifndef BARETICK_CHECK_INTERNAL_H
#define BARETICK_CHECK_INTERNAL_H

#include "checks/check.h"

/* Reads the low half of the main counter, in one access. */
uint32_t hpet_read_low(const struct checking *checking);

struct hpet_pace { /* HPET ticks, and TSC ticks in the same time */
	uint64_t ticks, tsc_ticks;
};

/* Returns an upper bound on the ticks that the HPET makes in TSC_TICKS. */
uint64_t hpet_allowed_ticks(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* Measures the rate over a few microseconds. */
struct hpet_pace hpet_measure_pace(const struct checking *checking);

/* A check (see check.h): 64-bit readings around the rollover of the low half must not be torn. */
check_function hpet_check_torn_readings;

/* Observations of the periodic flag by polling. The functions are in check_rtc_pf.c. */
struct rtc_flag {
	uint64_t hz; /* selected rate */
	uint64_t begin, polled, end; /* TSC before the first poll, and TSC before and after the latest poll */
	uint64_t longest_ticks; /* longest time in TSC ticks from the start of a poll to the end of the next poll */
	uint64_t edges;
	uint64_t first_low, first_high, last_low, last_high; /* TSC before and after the first edge and the last edge */
};

/* Selects a rate (SELECT: the bits of register A) and clears a pending flag. The caller masks interrupts. */
struct rtc_flag rtc_flag_start(const struct checking *checking, uint64_t hz, uint8_t select);

/* Polls the flag once. This also clears register C's other flags. */
void rtc_flag_poll(const struct checking *checking, struct rtc_flag *flag);

/* Fills ROW for a slow rate, which is polled with interrupts enabled between polls. */
void rtc_flag_report(const struct checking *checking, const struct rtc_flag *flag, struct behaviour *row);

/* Adds rows for the rates that take less than a tenth of a second. The last of these rates stays selected. */
void rtc_check_fast_rates(const struct checking *checking, struct behaviours *behaviours);

/* Selects 8,192 Hz, as open() does. */
void rtc_select_8192_hz(const struct checking *checking);

#endif
