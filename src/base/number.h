/*
 * Formats durations, rates and percentages with few characters, for columns of a table. Values are rounded to the
 * nearest. The comment on each function states the maximum length of its text.
 */
#ifndef BARETICK_NUMBER_H
#define BARETICK_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Functions return this by value, so that a call can be an argument of text_printf(): number_from_millihz(x).text. */
struct number {
	char text[24];
};

/* Returns the largest multiple of STEP that is at most VALUE, or if UP, the smallest that is at least VALUE. */
static inline uint64_t
number_round(uint64_t value, uint64_t step, bool up)
{
	return value / step * step + (up && value % step ? step : 0);
}

/* Rounds VALUE to three significant digits, up or down. */
static inline uint64_t
number_round_to_three_digits(uint64_t value, bool up)
{
	uint64_t step = 1;

	while (value / step >= 1000)
		step *= 10;
	return number_round(value, step, up);
}

/*
 * Returns a duration with three significant digits, in at most 7 characters: "9 ns", "123 ns", "1.23 us", "12.3 ms",
 * "1.00 s", ">1 day". There is always a space before the unit.
 */
struct number number_from_ns(uint64_t ns);
/* converts a duration in ps, as number_from_ns() does; it may also return "434 ps" or "9.84 ns" */
struct number number_from_ps(uint64_t ps);

/*
 * Return the same texts for a cell of a table, in at most 6 characters. The space before the unit is left out if the
 * text would be longer: "1.23us".
 */
struct number number_in_cell_from_ns(uint64_t ns);
struct number number_in_cell_from_ps(uint64_t ps);

/*
 * Returns a rate with seven significant digits, in at most 12 characters: "3.579545 MHz", "8.192000 kHz", "1.000 Hz".
 * Returns "-" for 0.
 */
struct number number_from_millihz(uint64_t millihz);

/* Returns PART / WHOLE in percent with DIGITS decimals, in at most 6 characters. Returns "-" if WHOLE is 0. */
struct number number_as_percent(uint64_t part, uint64_t whole, unsigned digits);

/*
 * A measured value with the digits that its error allows, as number_round_to_error() returns it. ERROR is rounded up to
 * two digits, and includes the rounding of VALUE. The last digit of both is at the same place: 39231 +-8980 becomes
 * 39200 +-9100.
 */
struct number_within {
	int64_t value;
	uint64_t error;
};
struct number_within number_round_to_error(int64_t value, uint64_t error);

/* Converts PPB to ppm with one decimal, in at most 9 characters: "-310.2", "0.0", ">1e6", "<-1e6". */
struct number number_ppm_from_ppb(int64_t ppb);

/* Returns TENTHS / 10 in at most 6 characters: "12.3", "123456", ">1e6". */
struct number number_from_tenths(uint64_t tenths);

#endif
