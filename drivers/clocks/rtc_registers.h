/* The RTC's registers. Included by its driver and its checks. Names follow Motorola's MC146818 data sheet. */
#ifndef BARETICK_RTC_REGISTERS_H
#define BARETICK_RTC_REGISTERS_H

#include "clock/driver.h"
#include "hw/hw.h"

#define RTC_INDEX          0x70u
#define RTC_INDEX_ALIAS    0x74u /* a second index port in Intel's chip sets: see rtc_find_ports() */
#define RTC_DATA           1u    /* offset of the data port from the index port */
#define RTC_INDEX_NMI      0x80u
#define RTC_UNREADABLE     0xffu

#define REGISTER_SECONDS   0x00u
#define REGISTER_MINUTES   0x02u
#define REGISTER_HOURS     0x04u
#define REGISTER_DAY       0x07u /* day of the month */
#define REGISTER_MONTH     0x08u
#define REGISTER_YEAR      0x09u
#define REGISTER_A         0x0au
#define REGISTER_B         0x0bu
#define REGISTER_C         0x0cu
#define REGISTER_D         0x0du

#define A_UIP              0x80u /* update in progress; read only */
#define A_DIVIDER          0x70u
#define A_DIVIDER_32768_HZ 0x20u /* setting of the divider for a crystal of 32,768 Hz, which every PC's RTC has */
#define A_DIVIDER_RESET    0x60u /* both upper bits set: the divider is held in reset */
/* Values of register A for the periodic rate, from the data sheet's table for a time base of 32.768 kHz. */
#define A_RATE_8192_HZ     0x03u
#define A_RATE_1024_HZ     0x06u
#define A_RATE_64_HZ       0x0au
#define A_RATE_2_HZ        0x0fu
#define B_SET              0x80u /* set while software sets the time; the RTC does not count during this time */
#define B_PIE              0x40u
#define B_BINARY           0x04u /* "DM" in the data sheet: the registers contain binary numbers, not BCD */
#define B_24_HOURS         0x02u /* the hours are from 0 to 23, not 1 to 12 with a bit for the afternoon */
#define C_PF               0x40u
#define D_VRT              0x80u /* "valid RAM and time": the battery has not failed */
#define RTC_SECONDS_MAX    59u

enum { RTC, RTC_PF, RTC_COUNT }; /* indices of the driver's clocks, and their number */
/* Indices into device.saved: registers before the run, and then the driver's own state. */
enum {
	SAVED_INDEX, SAVED_A, SAVED_B, SAVED_PIC, RTC_NMI, RTC_SECOND, RTC_NEEDS_PIE, RTC_IN_GUEST,
	RTC_MINUTE,       /* start of the current minute in seconds since 2000; 0 if the date is not used */
	RTC_DATE,         /* registers from the minute to the year as they were last read, a byte for each */
	RTC_DATE_IS_USED,
	RTC_DATE_IS_DUE,  /* 1 if the seconds have changed since the date was read */
	RTC_ROLLED_OVER,  /* 1 if the latest change of the seconds was from 59 to 0 */
	RTC_SAVED_COUNT,
};
_Static_assert(RTC_SAVED_COUNT <= DRIVER_SAVED_MAX, "the RTC's state does not fit into struct device");

/*
 * Finds the RTC's ports, and saves the index register in DEVICE. Afterwards rtc_read_register() works. The caller masks
 * interrupts until rtc_restore_index().
 */
void rtc_find_ports(struct device *device);

static inline uint8_t
rtc_read_register(const struct device *device, uint8_t number)
{
	hw_out8((uint16_t)device->address, (uint8_t)device->saved[RTC_NMI] | number);
	return hw_in8((uint16_t)device->address + RTC_DATA);
}

static inline void
rtc_write_register(const struct device *device, uint8_t number, uint8_t value)
{
	hw_out8((uint16_t)device->address, (uint8_t)device->saved[RTC_NMI] | number);
	hw_out8((uint16_t)device->address + RTC_DATA, value);
}

/*
 * Decodes SECONDS, the value of the seconds register, in the format (BCD or binary) that B, the value of register B,
 * selects. Returns a number above 59 if SECONDS is invalid.
 */
unsigned rtc_decode_seconds(uint8_t seconds, uint8_t b);

/* Returns true if the seconds rolled over, and the minutes did not change. */
static inline bool
rtc_do_minutes_stand(const struct device *device)
{
	return device->saved[RTC_MINUTE] && !device->saved[RTC_DATE_IS_USED];
}

/* Called before and after the periodic flag is polled, while interrupts are masked. */
void rtc_pf_start(struct device *device);
void rtc_pf_stop(struct device *device);

/* Restores the index register if it could be read; otherwise selects register 0Dh. */
void rtc_restore_index(const struct device *device);

#endif
