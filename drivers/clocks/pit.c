/*
 * The driver of the PIT. Channel 2 of the 8254 counts freely with 16 bits. There are two read methods: the latch
 * command and the read-back command. Port 61h and the channel's mode are restored afterwards. Channel 0 is not
 * accessed, because the firmware may use it.
 */
#include "clocks/pit_registers.h"
#include "clocks/probe.h"

enum { PIT, PIT_READBACK, PIT_COUNT };
enum { SAVED_PORT_B, SAVED_STATUS };

static uint64_t
pit_read_count(uint8_t command)
{
	hw_out8(PIT_CONTROL, command);
	return pit_read_latched();
}

static uint64_t
pit_read(void *)
{
	return pit_read_count(CONTROL_LATCH);
}

static uint64_t
pit_readback_read(void *)
{
	return pit_read_count(READ_BACK_COUNT);
}

DRIVER_SAMPLE(pit, pit_read)
DRIVER_SAMPLE(pit_readback, pit_readback_read)

#define PIT_HZ { 105000000, 88 } /* rate of the PIT: 315/22 MHz (about 14.31818 MHz) divided by 12 */
/* largest difference of emulators from PIT_HZ: KVM uses 1193181 Hz (arch/x86/kvm/i8254.h), QEMU 1193182 Hz */
#define PIT_GUEST_WITHIN_PPB 686

static const struct clock pit_rows[PIT_COUNT] = {
	[PIT] = {
		.id = "pit", .title = "PIT channel 2 by counter latch", .rating = 110,
		.caveat = "it wraps every 55 ms: use it for calibration only",
		.found_by = "PC/AT ports 40h-43h", .width_bits = 16, .wrap_ticks = UINT16_MAX,
		.claimed = PIT_HZ, .one_core_only = true, .sample = pit_sample,
	},
	[PIT_READBACK] = {
		.id = "pit_rdback", .title = "PIT channel 2 by read-back",
		.found_by = "PC/AT ports 40h-43h", .width_bits = 16, .wrap_ticks = UINT16_MAX,
		.claimed = PIT_HZ, .one_core_only = true, .sample = pit_readback_sample,
	},
};

static void
pit_write_port_b(uint8_t bits)
{
	hw_out8(PORT_B, (hw_in8(PORT_B) & PORT_B_KEPT) | bits);
}

/*
 * Restores the channel's mode. An 8254's reload value cannot be read, so 65536 is written, the longest period and the
 * usual value of an unused channel. A later beep has the right pitch, because software programs the pitch before each
 * beep. If the channel had no count (NULL COUNT), no count is written.
 */
static void
pit_restore_channel(uint8_t status)
{
	uint8_t access = status & STATUS_ACCESS;

	if (access == 0) { /* QEMU reports no access mode after reset, and no control word can restore that state */
		access = ACCESS_WORD;
		status |= ACCESS_WORD;
	}
	hw_out8(PIT_CONTROL, CONTROL_CHANNEL_2 | (status & STATUS_CONTROL));
	if (status & STATUS_NULL_COUNT)
		return;
	hw_out8(PIT_DATA_2, 0);
	if (access == ACCESS_WORD)
		hw_out8(PIT_DATA_2, 0);
}

static void
pit_close(struct device *device)
{
	if (!device->opened)
		return;
	device->opened = false;
	uint64_t interrupts = hw_interrupts_mask();
	pit_restore_channel((uint8_t)device->saved[SAVED_STATUS]);
	pit_write_port_b(device->saved[SAVED_PORT_B] & (PORT_B_GATE_2 | PORT_B_SPEAKER));
	hw_interrupts_restore(interrupts);
}

static void
pit_start(struct device *device)
{
	uint64_t interrupts = hw_interrupts_mask();

	device->saved[SAVED_PORT_B] = hw_in8(PORT_B);
	device->saved[SAVED_STATUS] = pit_read_status();
	device->opened = true;
	pit_write_port_b(PORT_B_GATE_2); /* clears PORT_B_SPEAKER, so that the channel makes no sound */
	pit_start_counting();
	hw_interrupts_restore(interrupts);
}

/*
 * Returns false if all bytes read FFh, as on a bus without a PIT. The status byte of an 8254 is never FFh after a count
 * was loaded in mode 2.
 */
static bool
pit_responds(void)
{
	uint64_t interrupts = hw_interrupts_mask();
	bool answers = pit_read_status() != 0xff || pit_read(NULL) != 1;

	hw_interrupts_restore(interrupts);
	return answers;
}

static void
pit_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	if (!probe_initialize_clocks(platform, device, clocks, &pit_driver))
		return;
	if (platform->cpu.hypervisor[0])
		clocks[PIT].claimed_within_ppb = clocks[PIT_READBACK].claimed_within_ppb = PIT_GUEST_WITHIN_PPB;
	pit_start(device);
	uint64_t interrupts = hw_interrupts_mask();
	bool moves = probe_counter_moves(pit_read, device);

	hw_interrupts_restore(interrupts);
	if (moves) {
		clocks[PIT].state = CLOCK_PRESENT;
	} else if (!pit_responds()) {
		probe_set_state(&clocks[PIT], CLOCK_ABSENT, "Ports 42h and 43h read all ones: there is no PIT.");
	} else if (!platform->cpu.hypervisor[0]) {
		probe_set_state(&clocks[PIT], CLOCK_DISABLED,
				"Channel 2 does not count: likely the firmware has gated the 8254's clock, as many do.");
	} else {
		probe_set_state(&clocks[PIT], CLOCK_STUCK, "Channel 2 does not count.");
	}
	if (!moves)
		pit_close(device);
	probe_copy_state_of_first_clock(clocks, PIT_COUNT);
}

const struct driver pit_driver = {
	.clock_count = PIT_COUNT,
	.rows = pit_rows,
	.open = pit_open,
	.close = pit_close,
};
