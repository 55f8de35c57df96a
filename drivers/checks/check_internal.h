/* Functions that several checks share: the HPET's rate, and the RTC's periodic flag. */
#ifndef BARETICK_CHECK_INTERNAL_H
#define BARETICK_CHECK_INTERNAL_H

#include "checks/check.h"

/* Reads the low half of the main counter, in one access. */
uint32_t hpet_read_low_half(const struct checking *checking);

struct hpet_pace { /* a rate: HPET ticks, and TSC ticks in the same time */
	uint64_t ticks, tsc_ticks;
};

/* Returns the maximum number of HPET ticks in TSC_TICKS, with a margin for the error of PACE. */
uint64_t hpet_get_ticks_max_during(const struct hpet_pace *pace, uint64_t tsc_ticks);

/* Measures the HPET's rate for 20 us. */
struct hpet_pace hpet_measure_rate_by_tsc(const struct checking *checking);

/* A check (see check.h) that 64-bit readings around a rollover of the low half are not torn. */
check_function hpet_check_torn_readings;

/* Results of polling the RTC's periodic flag. The functions are in check_rtc_pf.c. */
struct periodic_flag {
	uint64_t hz; /* selected rate of the periodic flag */
	uint64_t begin, polled, end; /* TSC before the first poll, and TSC before and after the latest poll */
	uint64_t longest_ticks; /* longest time in TSC ticks from the start of a poll to the end of the next poll */
	uint64_t edges;
	/* TSC before and after the polls that saw the first edge and the last edge */
	uint64_t first_low, first_high, last_low, last_high;
};

/* Selects the rate HZ, whose bits in register A are SELECT, and clears a pending flag. The caller masks interrupts. */
struct periodic_flag periodic_flag_start_polling(const struct checking *checking, uint64_t hz, uint8_t select);

/* Reads the flag in register C once. The read also clears the register's other flags. */
void periodic_flag_poll(const struct checking *checking, struct periodic_flag *flag);

/* Fills ROW with the result of FLAG, for a slow rate that was polled with interrupts enabled between the polls. */
void periodic_flag_report_rate(const struct checking *checking, const struct periodic_flag *flag,
			       struct behaviour *row);

/* Adds rows for the rates whose checks take less than 0.1 s. The last of these rates stays selected. */
void rtc_check_fast_rates(const struct checking *checking, struct behaviours *behaviours);

/* Selects 8,192 Hz, the rate that open() selects. */
void rtc_select_8192_hz(const struct checking *checking);

#endif
