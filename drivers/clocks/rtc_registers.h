/* The RTC's registers, for its driver and its checks. Names follow Motorola's MC146818 data sheet. */
#ifndef BARETICK_RTC_REGISTERS_H
#define BARETICK_RTC_REGISTERS_H

#include "clock/driver.h"
#include "hw/hw.h"

#define RTC_INDEX          0x70u
#define RTC_INDEX_ALIAS    0x74u /* Intel's chip sets: see rtc_find() */
#define RTC_DATA           1u    /* offset from the index port */
#define RTC_INDEX_NMI      0x80u
#define RTC_UNREADABLE     0xffu

#define REGISTER_SECONDS   0x00u
#define REGISTER_A         0x0au
#define REGISTER_B         0x0bu
#define REGISTER_C         0x0cu
#define REGISTER_D         0x0du

#define A_UIP              0x80u /* update in progress; read only */
#define A_DIVIDER          0x70u
#define A_DIVIDER_32768_HZ 0x20u /* the time base of every PC's RTC */
#define A_DIVIDER_RESET    0x60u /* both set: the divider is held in reset */
/* Periodic rate table, time base 32.768 kHz. */
#define A_RATE_8192_HZ     0x03u
#define A_RATE_1024_HZ     0x06u
#define A_RATE_64_HZ       0x0au
#define A_RATE_2_HZ        0x0fu
#define B_SET              0x80u /* updates are halted */
#define B_PIE              0x40u
#define B_BINARY           0x04u /* DM */
#define C_PF               0x40u
#define D_VRT              0x80u /* valid RAM and time */
#define RTC_SECONDS_MAX    59u

enum { RTC, RTC_PF, RTC_COUNT }; /* rows */
/* device.saved: registers as found, and the driver's own memory. */
enum { SAVED_INDEX, SAVED_A, SAVED_B, SAVED_PIC, RTC_NMI, RTC_SECOND, RTC_NEEDS_PIE, RTC_IN_GUEST };

/*
 * Finds the ports of the RTC and saves the index in DEVICE, which rtc_read_register() then can use. The caller masks
 * interrupts until rtc_leave().
 */
void rtc_find(struct device *device);

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

/* Decodes the seconds register. Returns a number above 59 if its value is invalid. */
unsigned rtc_decode(uint8_t seconds, uint8_t b);

/* Called at the start and at the end of each section with masked interrupts that reads the periodic flag. */
void rtc_pf_arm(struct device *device);
void rtc_pf_disarm(struct device *device);

/* Puts the index back where it can be read, and to 0Dh elsewhere. */
void rtc_leave(const struct device *device);

#endif
