/*
 * Channel 0 of the PIT, in mode 0 for one-shots and in mode 2 for periods (Intel 8254 data sheet). The reload value
 * cannot be read. A test therefore leaves the channel at 65536, the value of a channel that the firmware does not use.
 * If the firmware's tick uses the channel, the channel is tested only if the tick could be stopped. The firmware
 * programs the channel again when the tick is restarted.
 */
#include "clocks/pit_registers.h"
#include "timers/timers.h"

#define IRQ             0u
#define DATA_0          0x40u
#define CONTROL_0       0x00u
#define MODE_0_WORD     0x30u /* control word: channel 0, low byte then high byte, mode 0, binary */
#define MODE_2_WORD     0x34u
#define STATUS_OF_0     0xe2u /* read-back command: status of channel 0 only */
#define LATCH_0         0x00u
#define STATUS_OUT      0x80u
#define TICKS_MAX       65536u
#define TICKS_MIN       2u    /* mode 2 does not allow a count of 1 */
#define POLLS_MAX       1000u /* maximum number of polls while a count of TICKS_MIN ends, which takes 1.7 us */

enum { SAVED_STATUS };

uint8_t
timer_get_pit_status(void)
{
	hw_out8(PIT_CONTROL, STATUS_OF_0);
	return hw_in8(DATA_0);
}

static void
pit_timer_open(const struct platform *platform, struct timer *timer)
{
	struct ioapic_line line = ioapic_get_line(&platform->acpi.madt, IRQ);

	timer->hz = (struct rate){ 105000000, 88 };
	timer->ticks_max = TICKS_MAX - 1;
	timer->phase_ticks = 1; /* the count starts at the PIT's next tick, so an interrupt may be one tick late */
	timer->route = (struct timer_route){ .kind = timer->driver->by_pic ? "pic" : "ioapic", .pin = line.pin };
	timer->state = CLOCK_PRESENT;
	if (timer_get_pit_status() == 0xff)
		timer_set_unusable(timer, CLOCK_ABSENT, "Ports 40h and 43h read all ones: there is no PIT.");
	else if (timer_pic_is_masked(timer))
		timer_find_interrupt_line(platform, timer, line);
}

static void
pit_timer_load(uint8_t control, uint64_t ticks)
{
	hw_out8(PIT_CONTROL, control);
	hw_out8(DATA_0, (uint8_t)ticks);
	hw_out8(DATA_0, (uint8_t)(ticks >> 8));
}

/* Stops the channel: selects mode 0 without writing a count, so that the output stays low. */
static void
pit_timer_disarm(struct timer *)
{
	hw_out8(PIT_CONTROL, MODE_0_WORD);
}

/*
 * Ends the count that the firmware started. QEMU's channel finishes this count, which takes up to 55 ms, even after
 * another mode is written. Therefore this function loads a count of TICKS_MIN instead, and waits until the new count
 * ends.
 */
static void
pit_timer_end_firmware_count(struct timer *timer)
{
	pit_timer_load(MODE_0_WORD, TICKS_MIN);
	for (unsigned polls = 0; polls < POLLS_MAX && !(timer_get_pit_status() & STATUS_OUT); polls++)
		continue;
	pit_timer_disarm(timer);
}

/*
 * Waits until KVM has delivered a delayed interrupt. KVM raises the PIT's interrupts in a thread (Linux
 * arch/x86/kvm/i8254.c, create_pit_timer()), and loading a new count waits for this thread. The new count lasts 55 ms,
 * so it causes no interrupt itself.
 */
static void
pit_timer_await_delayed_interrupt(struct timer *)
{
	pit_timer_load(MODE_0_WORD, TICKS_MAX - 1);
}

static void
pit_timer_set_up(struct timer *timer, uint32_t vector)
{
	timer->saved[SAVED_STATUS] = timer_get_pit_status();
	pit_timer_end_firmware_count(timer);
	timer_route_interrupt_line(timer, vector);
}

static uint64_t
pit_timer_arm(struct timer *, uint64_t ticks, bool periodic)
{
	pit_timer_load(periodic ? MODE_2_WORD : MODE_0_WORD, ticks < TICKS_MIN ? TICKS_MIN : ticks);
	return 0;
}

static bool
pit_timer_has_expired(const struct timer *)
{
	return timer_get_pit_status() & STATUS_OUT;
}

static uint64_t
pit_timer_get_ticks_left(const struct timer *)
{
	uint32_t low, high;

	if (timer_get_pit_status() & STATUS_OUT)
		return 0;
	hw_out8(PIT_CONTROL, LATCH_0);
	low = hw_in8(DATA_0);
	high = hw_in8(DATA_0);
	return high << 8 | low;
}

static void
pit_timer_restore(struct timer *timer)
{
	uint8_t control = timer->saved[SAVED_STATUS] & STATUS_CONTROL;

	timer_restore_interrupt_line(timer);
	if (!(control & STATUS_ACCESS))
		/* QEMU reports no access mode after reset, and no control word can restore that state */
		control |= ACCESS_WORD;
	hw_out8(PIT_CONTROL, CONTROL_0 | control);
	hw_out8(DATA_0, 0);
	if ((control & STATUS_ACCESS) == ACCESS_WORD)
		hw_out8(DATA_0, 0);
}

#define PIT_DRIVER(name, text, ...)                                                                             \
	{                                                                                                       \
		.id = name, .title = text, __VA_ARGS__, .open = pit_timer_open,                                 \
		.set_up = pit_timer_set_up, .settle = pit_timer_await_delayed_interrupt, .arm = pit_timer_arm,  \
		.expired = pit_timer_has_expired, .get_ticks_left = pit_timer_get_ticks_left,                   \
		.disarm = pit_timer_disarm, .restore = pit_timer_restore,                                       \
	}

const struct timer_driver timer_pit[TIMER_PITS] = {
	PIT_DRIVER("pit0", "PIT channel 0, modes 0 and 2", .acknowledge = NULL),
	PIT_DRIVER("pit0_pic", "PIT channel 0, by the first PIC", .secondary = true, .by_pic = true,
		   .acknowledge = timer_send_eoi),
};
