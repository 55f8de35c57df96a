/*
 * The driver of the RTC, an MC146818 or a successor: its time, and its periodic flag at 8,192 Hz. Registers are named
 * as in Motorola's MC146818 data sheet.
 *
 * A sample reads the seconds only, because a read of the whole date takes six times as long. The date is read between
 * the batches of samples. A guest that is stopped for whole minutes finds its seconds unchanged.
 *
 * A write to port 70h selects a register by its index. Bit 7 of this port masks NMIs, and on most chip sets the port
 * reads FFh. Intel's chip sets have the same registers at ports 74h and 75h. There the index can be read, and NMIs
 * are not affected (Intel 321088, Accessing the Real Time Clock Registers and the NMI Enable Bit). EDK II's Whitley
 * platform uses these ports in the same way. If they work, port 70h is not written. Otherwise bit 7 of port 70h is
 * written with the value that it reads, as EDK II's RTC driver does before each access, so that NMIs stay masked or
 * unmasked. An index that cannot be read cannot be restored. It is left at 0Dh, register D, as IBM's technical
 * references require.
 *
 * A read of register C clears its flags. If an alarm of another program is due during a run, that program does not
 * see it.
 */
#include "clocks/pic_registers.h"
#include "clocks/probe.h"
#include "clocks/rtc_registers.h"

#define RTC_PF_HZ          8192u
#define RTC_PF_TRIES       8
/*
 * Number of waits in a guest for the flag PF or for the end of an update, each 3 to 17 ms. An emulator sets the flag PF
 * and clears UIP in its main loop, which may be late: QEMU with 1,024 cores on two processors was 240 ms late.
 */
#define RTC_TRIES_GUEST    128
/*
 * Maximum number of polls while an update ends. UIP is set before the update, for 488 us in Intel's chip sets and 244
 * us in others, and the update takes 1,984 us. A poll reads two registers, which takes at least 223 ns.
 */
#define RTC_UPDATE_POLLS_MAX 12000u
#define RTC_SHORT_BATCH    16u
#define RTC_DATE_BITS      64u
#define RTC_DATE_READS_MAX 4 /* maximum number of readings of the date until two successive ones are equal */

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

/* Reads the registers from the minute to the year once, and returns them as a byte for each. */
static uint64_t
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
	if (b & B_24_HOURS)
		return decode_number(raw, b, 0, HOURS_PER_DAY - 1);
	uint32_t hour = decode_number(raw & (uint8_t)~AFTERNOON, b, 1, HOURS_PER_DAY / 2);
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

/*
 * Decodes DATE, registers as read by rtc_read_date_registers(), in the format that B, the value of register B, selects.
 * Returns the start of that minute in seconds since the start of the year 2000, or 0 if it is no valid date.
 */
static uint64_t
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

unsigned
rtc_decode_seconds(uint8_t seconds, uint8_t b)
{
	if (b & B_BINARY)
		return seconds;
	if ((seconds & 0x0fu) > 9)
		return RTC_SECONDS_MAX + 1;
	return (seconds >> 4) * 10u + (seconds & 0x0fu);
}

/* Returns true if SECONDS is the last second that was read, or the second after it. */
static bool
rtc_is_expected_second(const struct device *device, unsigned seconds)
{
	uint64_t last = device->saved[RTC_SECOND];

	return seconds == last || seconds == (last + 1) % (RTC_SECONDS_MAX + 1);
}

/*
 * Reads the seconds register. Returns false during an update, when its value is undefined. If UIP reads 0, the value is
 * valid for at least 244 us. The core may be preempted for longer, so UIP is read again if the second changed. Linux's
 * mc146818_avoid_UIP() does the same.
 *
 * In a guest the next second is accepted even if UIP is set. An emulator calculates the second at each access, but
 * clears UIP in its main loop. QEMU cleared it 150 us late, and on a busy host 36 ms late, which is 3.6 % of a second.
 */
static bool
rtc_read_seconds(const struct device *device, unsigned *seconds)
{
	bool updating = rtc_read_register(device, REGISTER_A) & A_UIP;

	*seconds = rtc_decode_seconds(rtc_read_register(device, REGISTER_SECONDS),
				      (uint8_t)device->saved[SAVED_B]);
	if (!updating && *seconds != device->saved[RTC_SECOND])
		updating = rtc_read_register(device, REGISTER_A) & A_UIP;
	return !updating || (device->saved[RTC_IN_GUEST] && rtc_is_expected_second(device, *seconds));
}

/* Stores SECONDS as the last known second. If it is lower than before, the next minute is assumed to have started. */
static void
rtc_store_second(struct device *device, unsigned seconds)
{
	if (seconds == device->saved[RTC_SECOND])
		return;
	if (device->saved[RTC_MINUTE] && seconds < device->saved[RTC_SECOND])
		device->saved[RTC_MINUTE] += RTC_SECONDS_MAX + 1;
	device->saved[RTC_ROLLED_OVER] = device->saved[RTC_SECOND] == RTC_SECONDS_MAX && seconds == 0;
	device->saved[RTC_SECOND] = seconds;
	device->saved[RTC_DATE_IS_DUE] = device->saved[RTC_DATE_IS_USED];
}

/*
 * Returns the time in seconds. During an update it returns the last second, and does not wait. The reading thus changes
 * at the end of the update, whose time the crystal determines, and not at an arbitrary time in the update.
 */
static uint64_t
rtc_read(void *context)
{
	struct device *device = context;
	unsigned seconds;

	if (rtc_read_seconds(device, &seconds) && seconds <= RTC_SECONDS_MAX)
		rtc_store_second(device, seconds);
	return device->saved[RTC_MINUTE] + device->saved[RTC_SECOND];
}

/*
 * Updates the last known second before samples are taken. Does nothing if the register holds the last known second or
 * the next second, because the samples then show the change to the next second. Otherwise an update may be in progress,
 * so the function waits for the update's end, and then stores the register's value as the last known second.
 */
static void
rtc_update_last_second(struct device *device)
{
	bool counts;
	unsigned seconds, polls = 0;

	do
		counts = rtc_read_seconds(device, &seconds);
	while (!counts && !rtc_is_expected_second(device, seconds) && ++polls < RTC_UPDATE_POLLS_MAX);
	if (seconds <= RTC_SECONDS_MAX && (counts || !rtc_is_expected_second(device, seconds)))
		rtc_store_second(device, seconds);
}

/*
 * Reads the date until two successive readings are equal, so that none was taken from two dates. Returns false if the
 * date may be undefined because UIP is set, or if it may not belong to the last known second. In a guest UIP is
 * ignored: see rtc_read_seconds().
 */
static bool
rtc_read_date(const struct device *device, uint64_t *date)
{
	uint64_t before;
	unsigned seconds, reads = 0;

	if (!device->saved[RTC_IN_GUEST] && rtc_read_register(device, REGISTER_A) & A_UIP)
		return false;
	*date = rtc_read_date_registers(device);
	do {
		before = *date;
		*date = rtc_read_date_registers(device);
	} while (*date != before && ++reads < RTC_DATE_READS_MAX);
	return *date == before && rtc_read_seconds(device, &seconds) && seconds == device->saved[RTC_SECOND];
}

/*
 * Stores the start of the current minute according to the date. Returns the seconds from the assumed start of this
 * minute to the stored one. Does nothing if neither the seconds nor the date have changed since the last call.
 *
 * If the seconds rolled over from 59 to 0 and the date did not change, the RTC does not count minutes. Its date is no
 * longer used then.
 */
static int64_t
rtc_update_date(struct device *device)
{
	uint64_t *saved = device->saved, date, before = saved[RTC_MINUTE];

	if (!saved[RTC_DATE_IS_USED] ||
	    (!saved[RTC_DATE_IS_DUE] && rtc_read_date_registers(device) == saved[RTC_DATE]) || !rtc_read_date(device, &date))
		return 0;
	saved[RTC_DATE_IS_DUE] = false;
	saved[RTC_DATE_IS_USED] = !saved[RTC_ROLLED_OVER] || date != saved[RTC_DATE];
	saved[RTC_ROLLED_OVER] = false;
	if (!saved[RTC_DATE_IS_USED] || !rtc_decode_date(date, (uint8_t)saved[SAVED_B]))
		return 0;
	saved[RTC_DATE] = date;
	saved[RTC_MINUTE] = rtc_decode_date(date, (uint8_t)saved[SAVED_B]);
	return (int64_t)(saved[RTC_MINUTE] - before);
}

static uint64_t
rtc_pf_read(void *context)
{
	struct device *device = context;

	device->edges += (rtc_read_register(device, REGISTER_C) & C_PF) != 0;
	return device->edges;
}

DRIVER_SAMPLE(rtc_chain, rtc_read)
DRIVER_SAMPLE(rtc_pf_chain, rtc_pf_read)

/*
 * Takes samples of the seconds. If a second changed in the batch, the guest may have been stopped for whole minutes at
 * this time. Therefore the date is read, and corrects the samples since this change. Before a short batch the date is
 * read, too. Long batches wait for an edge, and other clocks that wrap early are read between them.
 */
static void
rtc_sample(void *context, struct sample *samples, size_t count)
{
	struct device *device = context;
	size_t first = count - 1; /* first sample since the latest change */
	int64_t by;

	rtc_update_last_second(device);
	if (count <= RTC_SHORT_BATCH || device->saved[RTC_DATE_IS_DUE])
		rtc_update_date(device);
	rtc_chain_sample(device, samples, count);
	if (!device->saved[RTC_DATE_IS_DUE])
		return;
	by = rtc_update_date(device);
	while (first && samples[first].ticks == samples[first - 1].ticks)
		first--;
	for (size_t i = first; i < count; i++)
		samples[i].ticks += (uint64_t)by;
}

/*
 * Prepares the periodic flag for polling. A pending flag is cleared, because the time at which it was set is unknown.
 * Some RTCs set the flag only if PIE is set. For these, PIE is set until rtc_pf_stop(), while the caller masks
 * interrupts. During this time IRQ 8 is masked at the PIC, so that no interrupt is pending afterwards.
 */
void
rtc_pf_start(struct device *device)
{
	if (device->saved[RTC_NEEDS_PIE]) {
		hw_out8(PIC_SLAVE_MASK, (uint8_t)device->saved[SAVED_PIC] | PIC_IRQ_8);
		rtc_write_register(device, REGISTER_B, (uint8_t)device->saved[SAVED_B] | B_PIE);
	}
	(void)rtc_read_register(device, REGISTER_C);
}

void
rtc_pf_stop(struct device *device)
{
	if (!device->saved[RTC_NEEDS_PIE])
		return;
	rtc_write_register(device, REGISTER_B, (uint8_t)device->saved[SAVED_B]);
	(void)rtc_read_register(device, REGISTER_C);
	hw_out8(PIC_SLAVE_MASK, (uint8_t)device->saved[SAVED_PIC]);
}

static void
rtc_pf_sample(void *device, struct sample *samples, size_t count)
{
	rtc_pf_start(device);
	rtc_pf_chain_sample(device, samples, count);
	rtc_pf_stop(device);
}

static const struct clock rtc_rows[RTC_COUNT] = {
	[RTC] = {
		.id = "rtc", .title = "RTC seconds register, with its update flag", .rating = 1,
		.caveat = "it ticks once a second: use it for the date only",
		.found_by = "PC/AT ports 70h-71h", .width_bits = 6, .wrap_ticks = RTC_SECONDS_MAX,
		.claimed = { 1, 1 }, .edges_only = true, .one_core_only = true, .sample = rtc_sample,
	},
	[RTC_PF] = {
		.id = "rtc_pf", .title = "RTC periodic flag in register C, 8192 Hz",
		.found_by = "PC/AT ports 70h-71h", .width_bits = 64, .wrap_ticks = UINT64_MAX,
		.claimed = { RTC_PF_HZ, 1 }, .edges_only = true, .one_core_only = true,
		.sample = rtc_pf_sample,
	},
};

/* Returns true if there is an RTC whose divider runs. Saves its registers A and B. */
static bool
rtc_check_presence(struct device *device, struct clock *clock)
{
	uint8_t a = rtc_read_register(device, REGISTER_A), b = rtc_read_register(device,
										 REGISTER_B);

	device->saved[SAVED_A] = a & (uint8_t)~A_UIP;
	device->saved[SAVED_B] = b;
	if ((a & b & rtc_read_register(device, REGISTER_D) &
	     rtc_read_register(device, REGISTER_SECONDS)) == RTC_UNREADABLE)
		return probe_set_state(clock, CLOCK_ABSENT, "All registers read FFh: there is no RTC at port 70h.");
	if ((a & A_DIVIDER_RESET) == A_DIVIDER_RESET)
		return probe_set_state(clock, CLOCK_STUCK, "The RTC's divider is held in reset (register A reads %02xh).", a);
	return true;
}

/* Waits for the end of an update. Returns true if UIP stays 1. */
static bool
rtc_update_flag_stays_set(const struct device *device)
{
	struct probe_wait wait = { 0 };
	bool updating, last;

	/* polls once more at the end, because the core may have been preempted during the wait */
	do {
		last = !probe_wait_has_time_left(&wait);
		updating = rtc_read_register(device, REGISTER_A) & A_UIP;
	} while (updating && !last);
	return updating;
}

/* Extends the seconds by the date, so that they do not wrap. An invalid date is not used. */
static void
rtc_open_date(struct device *device, struct clock *clock)
{
	device->saved[RTC_DATE] = rtc_read_date_registers(device);
	device->saved[RTC_MINUTE] = rtc_decode_date(device->saved[RTC_DATE], (uint8_t)device->saved[SAVED_B]);
	device->saved[RTC_DATE_IS_USED] = device->saved[RTC_DATE_IS_DUE] = device->saved[RTC_MINUTE] != 0;
	if (!device->saved[RTC_MINUTE])
		return;
	clock->width_bits = RTC_DATE_BITS;
	clock->wrap_ticks = UINT64_MAX;
}

static void
rtc_open_seconds_clock(struct device *device, struct clock *clock)
{
	unsigned tries = device->saved[RTC_IN_GUEST] ? RTC_TRIES_GUEST : 1;
	bool updating;

	do
		updating = rtc_update_flag_stays_set(device);
	while (updating && --tries);
	uint8_t seconds = rtc_read_register(device, REGISTER_SECONDS);

	if (device->saved[SAVED_B] & B_SET)
		probe_set_state(clock, CLOCK_STUCK, "The RTC is halted: SET in register B was 1 at the start.");
	else if (updating)
		probe_set_state(clock, CLOCK_BROKEN, "The update flag (UIP) stays 1; an update takes 2,472 us at most.");
	else if (rtc_decode_seconds(seconds, (uint8_t)device->saved[SAVED_B]) > RTC_SECONDS_MAX)
		probe_set_state(clock, CLOCK_BROKEN,
				"The seconds register reads %02xh, which is not a second in %s.",
				seconds, device->saved[SAVED_B] & B_BINARY ? "binary" : "BCD");
	else
		clock->state = CLOCK_PRESENT;
	device->saved[RTC_SECOND] = rtc_decode_seconds(seconds, (uint8_t)device->saved[SAVED_B]);
	rtc_open_date(device, clock);
	if (!(rtc_read_register(device, REGISTER_D) & D_VRT))
		probe_append_note(clock, "The RTC's battery failed (VRT is 0).");
}

/* Returns true if the periodic flag is set before a wait of struct probe_wait ends. The wait is many periods long. */
static bool
rtc_pf_is_set_in_time(struct device *device)
{
	struct probe_wait wait = { 0 };
	uint64_t before = device->edges;

	rtc_pf_start(device);
	while (rtc_pf_read(device) == before && probe_wait_has_time_left(&wait))
		;
	rtc_pf_stop(device);
	return device->edges != before;
}

static void
rtc_open_periodic_flag_clock(struct device *device, struct clock *clock)
{
	unsigned tries_max = device->saved[RTC_IN_GUEST] ? RTC_TRIES_GUEST : RTC_PF_TRIES;
	bool comes = false;

	if (device->saved[SAVED_B] & B_PIE) {
		probe_set_state(clock, CLOCK_DISABLED,
				"PIE is set: the firmware uses the periodic flag, so baretick does not read that "
				"flag.");
		return;
	}
	device->opened = true;
	device->saved[SAVED_PIC] = hw_in8(PIC_SLAVE_MASK);
	rtc_write_register(device, REGISTER_A,
			   (device->saved[SAVED_A] & A_DIVIDER) | A_RATE_8192_HZ);
	clock->state = CLOCK_PRESENT;
	if (rtc_pf_is_set_in_time(device))
		return;
	device->saved[RTC_NEEDS_PIE] = true;
	for (unsigned tries = 0; tries < tries_max && !comes; tries++)
		comes = rtc_pf_is_set_in_time(device);
	if (comes)
		probe_append_note(clock, "The periodic flag is set only if PIE is, so PIE is set while the clock is "
				  "read, with IRQ 8 masked.");
	else
		probe_set_state(clock, CLOCK_STUCK, "The periodic flag is never set, with PIE or without.");
}

/*
 * Returns true if the RTC is also at ports 74h and 75h. The index must read the value that was written, and the
 * registers must be plausible for an RTC. Nothing is written if the index reads FFh, because then there is no device.
 */
static bool
rtc_is_at_alias_ports(uint8_t index_found)
{
	struct device device = { .address = RTC_INDEX_ALIAS, .saved = { [RTC_NMI] = index_found & RTC_INDEX_NMI } };
	uint8_t d, a;

	if (index_found == RTC_UNREADABLE)
		return false;
	d = rtc_read_register(&device, REGISTER_D);
	bool keeps = (hw_in8(RTC_INDEX_ALIAS) & (uint8_t)~RTC_INDEX_NMI) == REGISTER_D;
	a = rtc_read_register(&device, REGISTER_A);
	keeps &= (hw_in8(RTC_INDEX_ALIAS) & (uint8_t)~RTC_INDEX_NMI) == REGISTER_A;
	keeps &= (a & d) != RTC_UNREADABLE && (a & A_DIVIDER) == A_DIVIDER_32768_HZ;
	if (!keeps)
		hw_out8(RTC_INDEX_ALIAS, index_found);
	return keeps;
}

void
rtc_find_ports(struct device *device)
{
	uint8_t index = hw_in8(RTC_INDEX), alias = index == RTC_UNREADABLE ? hw_in8(RTC_INDEX_ALIAS) : RTC_UNREADABLE;

	device->address = RTC_INDEX;
	if (rtc_is_at_alias_ports(alias)) {
		device->address = RTC_INDEX_ALIAS;
		index = alias;
	}
	device->saved[RTC_NMI] = index & RTC_INDEX_NMI;
	device->saved[SAVED_INDEX] = index == RTC_UNREADABLE ? RTC_INDEX_NMI | REGISTER_D : index;
}

void
rtc_restore_index(const struct device *device)
{
	hw_out8((uint16_t)device->address, (uint8_t)device->saved[SAVED_INDEX]);
	/*
	 * IBM's technical references require an access to port 71h after each write to port 70h. Register C is not
	 * read, because the read would clear its flags.
	 */
	if ((device->saved[SAVED_INDEX] & (uint8_t)~RTC_INDEX_NMI) != REGISTER_C)
		(void)hw_in8((uint16_t)device->address + RTC_DATA);
}

static void
rtc_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	if (!probe_initialize_clocks(platform, device, clocks, &rtc_driver))
		return;
	if (platform->acpi.fadt.found && platform->acpi.fadt.cmos_rtc_absent) {
		probe_set_state(&clocks[RTC], CLOCK_ABSENT, "The FADT lists no RTC (CMOS RTC not present).");
		probe_copy_state_of_first_clock(clocks, RTC_COUNT);
		return;
	}
	device->saved[RTC_IN_GUEST] = platform->cpu.hypervisor[0] != 0;
	uint64_t interrupts = hw_interrupts_mask();
	rtc_find_ports(device);
	if (device->address == RTC_INDEX_ALIAS)
		clocks[RTC].found_by = clocks[RTC_PF].found_by = "ports 74h-75h, Intel chip sets' alias of 70h-71h";
	if (rtc_check_presence(device, &clocks[RTC])) {
		rtc_open_seconds_clock(device, &clocks[RTC]);
		rtc_open_periodic_flag_clock(device, &clocks[RTC_PF]);
	} else {
		probe_copy_state_of_first_clock(clocks, RTC_COUNT);
	}
	rtc_restore_index(device);
	hw_interrupts_restore(interrupts);
}

static void
rtc_close(struct device *device)
{
	if (!device->opened)
		return;
	device->opened = false;
	uint64_t interrupts = hw_interrupts_mask();
	rtc_pf_stop(device); /* needed if a core was stopped before it called rtc_pf_stop() */
	rtc_write_register(device, REGISTER_A, (uint8_t)device->saved[SAVED_A]);
	rtc_restore_index(device);
	hw_interrupts_restore(interrupts);
}

const struct driver rtc_driver = {
	.clock_count = RTC_COUNT,
	.rows = rtc_rows,
	.open = rtc_open,
	.close = rtc_close,
};
