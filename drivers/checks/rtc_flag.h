/* The RTC's periodic flag: for the two files of its checks. */
#ifndef BARETICK_RTC_FLAG_H
#define BARETICK_RTC_FLAG_H

#include "checks/check.h"

/* The periodic flag as it is seen by looking at it again and again; check_rtc_pf.c. */
struct rtc_flag {
	uint64_t hz; /* asked for */
	uint64_t begin, looked, end; /* TSC: before the first look, before the latest, after it */
	uint64_t longest_ticks; /* from before one look to after the next */
	uint64_t edges;
	uint64_t first_low, first_high, last_low, last_high; /* TSC around the first and the last edge */
};

/* Selects a rate (SELECT as in register A), and forgets the flag that is pending. Interrupts are masked. */
struct rtc_flag rtc_flag_begin(const struct checking *checking, uint64_t hz, uint8_t select);

/* One look; takes register C's other flags too. */
void rtc_flag_look(const struct checking *checking, struct rtc_flag *flag);

/* The row of a slow rate, which is looked at with interrupts on between the looks. */
void rtc_flag_say(const struct checking *checking, const struct rtc_flag *flag, struct behaviour *row);

/* Rows for the rates that take less than a tenth of a second. The last one stays selected. */
void rtc_check_fast_rates(const struct checking *checking, struct behaviours *behaviours);

/* Back to 8,192 Hz, as open leaves it. */
void rtc_select_8192_hz(const struct checking *checking);

#endif
