/*
 * Formats durations, rates and percentages in few characters, for columns. Values are rounded to the nearest. The
 * comment at each function gives the largest length of its text.
 */
#ifndef BARETICK_NUMBER_H
#define BARETICK_NUMBER_H

#include <stdint.h>

/* Returned by value, so that a call can be used where its text is printed: number_rate(x).text. */
struct number {
	char text[24];
};

/*
 * Returns a duration with three significant digits, in at most 6 characters: "9 ns", "123 ns", "1.23us", "12.3ms",
 * "1.00 s", ">1 day".
 */
struct number number_ns(uint64_t ns);
struct number number_ps(uint64_t ps); /* as number_ns(), but for picoseconds; may also return "434 ps" or "9.84ns" */

/*
 * Returns a rate with seven significant digits, in at most 12 characters: "3.579545 MHz", "8.192000 kHz", "1.000 Hz".
 * Returns "-" for 0.
 */
struct number number_rate(uint64_t millihz);

/* Returns PART of WHOLE in percent with DIGITS decimals, in at most 6 characters; "-" if WHOLE is 0. */
struct number number_percent(uint64_t part, uint64_t whole, unsigned digits);

/*
 * Rounds a measured value to as many digits as its error allows. ERROR gets two digits, and is rounded up so that it
 * also covers the rounding of VALUE. VALUE ends at the same digit: 39231 +-8980 becomes 39200 +-9100.
 */
struct number_within {
	int64_t value;
	uint64_t error;
};
struct number_within number_within(int64_t value, uint64_t error);

/*
 * Returns PPB in ppm with one decimal, rounded to nearest, in at most 9 characters: "-310.2", "0.0", ">1e6", "<-1e6".
 */
struct number number_ppm(int64_t ppb);

/* Returns TENTHS / 10 in at most 6 characters: "12.3", "123456", ">1e6". */
struct number number_times(uint64_t tenths);

#endif
