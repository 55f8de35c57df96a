/*
 * Converts the RTC's date to seconds, so that its readings do not wrap after a minute. Register formats are from
 * Motorola's MC146818 data sheet, table "Time, Calendar, and Alarm Data Modes".
 */
#include "clocks/rtc_registers.h"

#define INVALID         UINT32_MAX
#define AFTERNOON       0x80u /* bit of the hours register in 12-hour mode */
#define BYTE_BITS       8u
#define DAYS_PER_YEAR   365u
#define HOURS_PER_DAY   24u
#define MINUTES_PER_HOUR 60u
#define SECONDS_PER_MINUTE 60u

static const uint8_t date_registers[] = {
	REGISTER_MINUTES, REGISTER_HOURS, REGISTER_DAY, REGISTER_MONTH, REGISTER_YEAR,
};
enum { MINUTE, HOUR, DAY, MONTH, YEAR, DATE_REGISTERS }; /* indices into date_registers[] */

uint64_t
rtc_read_date_registers(const struct device *device)
{
	uint64_t date = 0;

	for (unsigned i = 0; i < DATE_REGISTERS; i++)
		date |= (uint64_t)rtc_read_register(device, date_registers[i]) << (BYTE_BITS * i);
	return date;
}

/* Returns the number in a register, which is BCD or binary as B selects, or INVALID if it is not in LOW to HIGH. */
static uint32_t
decode_number(uint8_t raw, uint8_t b, uint32_t low, uint32_t high)
{
	uint32_t number = b & B_BINARY ? raw : (raw >> 4) * 10u + (raw & 0x0fu);

	if (!(b & B_BINARY) && (raw & 0x0fu) > 9)
		return INVALID;
	return number >= low && number <= high ? number : INVALID;
}

static uint32_t
decode_hour(uint8_t raw, uint8_t b)
{
	uint32_t hour;

	if (b & B_24_HOURS)
		return decode_number(raw, b, 0, HOURS_PER_DAY - 1);
	hour = decode_number(raw & (uint8_t)~AFTERNOON, b, 1, HOURS_PER_DAY / 2);
	if (hour == INVALID)
		return INVALID;
	return hour % (HOURS_PER_DAY / 2) + (raw & AFTERNOON ? HOURS_PER_DAY / 2 : 0);
}

/* Returns true if the year 2000 + YEAR is a leap year, for YEAR from 0 to 99. */
static bool
is_leap_year(uint32_t year)
{
	return year % 4 == 0;
}

static uint32_t
days_in_month(uint32_t month, uint32_t year)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap_year(year));
}

/* Returns the days from the start of the year 2000 to the start of MONTH (1 to 12) in the year 2000 + YEAR. */
static uint32_t
days_before_month(uint32_t month, uint32_t year)
{
	uint32_t days = year * DAYS_PER_YEAR + (year + 3) / 4; /* and a leap day for each leap year before YEAR */

	for (uint32_t before = 1; before < month; before++)
		days += days_in_month(before, year);
	return days;
}

uint64_t
rtc_decode_date(uint64_t date, uint8_t b)
{
	uint8_t raw[DATE_REGISTERS];
	uint32_t minute, hour, day, month, year;

	for (unsigned i = 0; i < DATE_REGISTERS; i++)
		raw[i] = (uint8_t)(date >> (BYTE_BITS * i));
	minute = decode_number(raw[MINUTE], b, 0, MINUTES_PER_HOUR - 1);
	hour = decode_hour(raw[HOUR], b);
	month = decode_number(raw[MONTH], b, 1, 12);
	year = decode_number(raw[YEAR], b, 0, 99);
	if (minute == INVALID || hour == INVALID || month == INVALID || year == INVALID)
		return 0;
	day = decode_number(raw[DAY], b, 1, days_in_month(month, year));
	if (day == INVALID)
		return 0;
	return (((uint64_t)(days_before_month(month, year) + day - 1) * HOURS_PER_DAY + hour) * MINUTES_PER_HOUR + minute) *
	       SECONDS_PER_MINUTE;
}
