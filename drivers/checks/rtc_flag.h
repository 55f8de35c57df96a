/* The RTC's periodic flag. Included by the two files of the RTC's checks. */
#ifndef BARETICK_RTC_FLAG_H
#define BARETICK_RTC_FLAG_H

#include "checks/check.h"

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
