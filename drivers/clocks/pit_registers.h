/* The PIT's registers. Included by its driver and its checks. */
#ifndef BARETICK_PIT_REGISTERS_H
#define BARETICK_PIT_REGISTERS_H

#include <stdint.h>

#include "hw/hw.h"

#define PIT_DATA_2        0x42u
#define PIT_CONTROL       0x43u
#define PORT_B            0x61u
#define PORT_B_GATE_2     0x01u /* TIM_CNT2_EN of NMI_SC in Intel's PCH data sheets: channel 2 counts */
#define PORT_B_SPEAKER    0x02u /* SPKR_DAT_EN of NMI_SC: channel 2 makes a sound */
#define PORT_B_KEPT       0x0cu /* PCI_SERR_EN and IOCHK_NMI_EN, which are not changed; bits 4 to 7 are written as 0 */
#define PORT_B_WRITABLE   0x0fu /* bits 0 to 3; the other bits are status */
#define PORT_B_OUT_2      0x20u /* TMR2_OUT_STS of NMI_SC: state of OUT */

/* From the Intel 8254 data sheet: control word format, counter latch command, read-back command, status byte. */
#define CONTROL_CHANNEL_2 0x80u
#define CONTROL_MODE_0    0xb0u /* channel 2, low byte then high byte, mode 0 (interrupt on terminal count), binary */
#define CONTROL_MODE_2    0xb4u /* channel 2, low byte then high byte, mode 2 (rate generator), binary */
#define CONTROL_MODE_3    0xb6u /* mode 3 (square wave): the count falls by two at each clock */
#define CONTROL_MODE_4    0xb8u /* mode 4 (software triggered strobe) */
#define CONTROL_MODE_6    0xbcu /* modes 6 and 7 differ from modes 2 and 3 in a bit that the 8254 ignores */
#define CONTROL_MODE_7    0xbeu
#define CONTROL_LATCH     0x80u /* counter latch command for channel 2 */
#define READ_BACK_COUNT   0xd8u /* read-back command for channel 2: latches only the count */
#define READ_BACK_STATUS  0xe8u /* read-back command for channel 2: latches only the status */
#define STATUS_NULL_COUNT 0x40u
#define STATUS_CONTROL    0x3fu /* the bits of the status byte for access, mode and BCD, as in the control word */
#define STATUS_ACCESS     0x30u
#define CONTROL_MODE_BIT_1 0x04u /* bit 1 of the mode's three bits: set in modes 2, 3, 6 and 7 */
#define CONTROL_MODE_BIT_2 0x08u /* bit 2 of the mode's three bits; the 8254 ignores it in modes 2, 3, 6 and 7 */
#define ACCESS_WORD       0x30u

static inline uint8_t
pit_read_status(void)
{
	hw_out8(PIT_CONTROL, READ_BACK_STATUS);
	return hw_in8(PIT_DATA_2);
}

/*
 * Returns the counting mode and access mode in a channel's STATUS. Modes 6 and 7 are returned as modes 2 and 3, which
 * have the same meaning. The 8254 ignores the top bit of these modes (data sheet, control word format), but Xen reports
 * the bit as it was written. QEMU's channel has no access mode after reset, which counts as "low byte then high byte".
 */
static inline uint8_t
pit_get_mode(uint8_t status)
{
	uint8_t mode = status & STATUS_CONTROL;

	if (mode & CONTROL_MODE_BIT_1)
		mode &= (uint8_t)~CONTROL_MODE_BIT_2;
	return mode & STATUS_ACCESS ? mode : mode | ACCESS_WORD;
}

/* Reads a latched count of two bytes. The PIT counts down, and a count of 0 means 65536. The result counts up. */
static inline uint64_t
pit_read_latched(void)
{
	uint32_t low = hw_in8(PIT_DATA_2);
	uint32_t high = hw_in8(PIT_DATA_2);

	return (0u - (high << 8 | low)) & 0xffffu;
}

/* Starts channel 2 in mode 2 from 65536, the state in which open() leaves the channel. */
static inline void
pit_start_counting(void)
{
	hw_out8(PIT_CONTROL, CONTROL_MODE_2);
	hw_out8(PIT_DATA_2, 0);
	hw_out8(PIT_DATA_2, 0);
}

#endif
