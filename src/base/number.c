/* Formats numbers in few characters. See number.h. */
#include "base/number.h"

#include <stddef.h>

#include "base/offset.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

#define DAY_S      86400
#define CELL_COLUMNS 6 /* width of a cell with a duration in the tables */
#define TWO_DIGITS   100
#define THREE_DIGITS 1000    /* one more than the largest number of three digits */
#define SEVEN_DIGITS 10000000

/* Returns VALUE / 10^SCALE with DIGITS decimals, followed by UNIT. */
static struct number
number_with_unit(uint64_t value, unsigned scale, unsigned digits, const char *unit)
{
	struct number number = { .text = "" };
	struct text text = text_start(number.text, sizeof(number.text));

	text_put_decimal(&text, value, scale, digits);
	text_put(&text, unit);
	return number;
}

static uint64_t
power_of_ten(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

/* Rounds VALUE / 10^SCALE to DIGITS decimals. Returns it times 10^DIGITS: 9.996 with 2 decimals gives 1000. */
static uint64_t
round_to_digits(uint64_t value, unsigned scale, unsigned digits)
{
	return scale_mul_div_nearest(value, power_of_ten(digits), power_of_ten(scale));
}

struct number
number_from_ps(uint64_t ps)
{
	static const struct {
		unsigned scale;
		const char *unit;
	} units[] = { { 0, " ps" }, { 3, " ns" }, { 6, " us" }, { 9, " ms" }, { 12, " s" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (unsigned digits = i ? 3 : 1; digits-- > 0;)
			if (round_to_digits(ps, units[i].scale, digits) < THREE_DIGITS)
				return number_with_unit(ps, units[i].scale, digits, units[i].unit);
	if (round_to_digits(ps, 12, 0) <= DAY_S)
		return number_with_unit(ps, 12, 0, " s");
	return (struct number){ ">1 day" };
}

struct number
number_from_ns(uint64_t ns)
{
	if (ns < THREE_DIGITS)
		return number_with_unit(ns, 0, 0, " ns");
	return number_from_ps(ns > UINT64_MAX / PS_PER_NS ? UINT64_MAX : ns * PS_PER_NS);
}

/* Removes the space in NUMBER if its text has more than CELL_COLUMNS characters. */
static struct number
fit_in_cell(struct number number)
{
	char *text = number.text;

	if (text_length(text) <= CELL_COLUMNS)
		return number;
	while (*text && *text != ' ')
		text++;
	for (; *text; text++)
		text[0] = text[1];
	return number;
}

struct number
number_in_cell_from_ns(uint64_t ns)
{
	return fit_in_cell(number_from_ns(ns));
}

struct number
number_in_cell_from_ps(uint64_t ps)
{
	return fit_in_cell(number_from_ps(ps));
}

struct number
number_from_millihz(uint64_t millihz)
{
	static const struct {
		unsigned scale;
		const char *unit;
	} units[] = { { 6, " kHz" }, { 9, " MHz" }, { 12, " GHz" } };

	if (!millihz)
		return (struct number){ "-" };
	if (millihz < SEVEN_DIGITS / 10)
		return number_with_unit(millihz, 3, 3, " Hz");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (unsigned digits = 6; digits > 3; digits--)
			if (round_to_digits(millihz, units[i].scale, digits) < SEVEN_DIGITS)
				return number_with_unit(millihz, units[i].scale, digits, units[i].unit);
	return (struct number){ ">1 THz" };
}

struct number
number_as_percent(uint64_t part, uint64_t whole, unsigned digits)
{
	if (!whole)
		return (struct number){ "-" };
	return number_with_unit(scale_mul_div_nearest(part, power_of_ten(2 + digits), whole), digits,
				digits, "");
}

struct number
number_from_tenths(uint64_t tenths)
{
	if (round_to_digits(tenths, 1, 0) >= 1000000)
		return (struct number){ ">1e6" };
	return number_with_unit(tenths, 1, tenths < 100000, "");
}

struct number_within
number_round_to_error(int64_t value, uint64_t error)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, place = 1, near;

	while (error / place >= TWO_DIGITS)
		place *= 10;
	near = scale_mul_div_nearest(size, 1, place) * place;
	error += near > size ? near - size : size - near;
	return (struct number_within){ value < 0 ? -(int64_t)near : (int64_t)near, (error + place - 1) / place * place };
}

struct number
number_ppm_from_ppb(int64_t ppb)
{
	uint64_t tenths = (offset_abs(ppb) + 50) / 100;
	struct number number = { .text = "" };
	struct text text = text_start(number.text, sizeof(number.text));

	if (tenths > 10 * UINT64_C(1000000))
		text_put(&text, ppb < 0 ? "<-1e6" : ">1e6");
	else
		text_printf(&text, "%s%lu.%lu", ppb < 0 && tenths ? "-" : "", tenths / 10, tenths % 10);
	return number;
}
