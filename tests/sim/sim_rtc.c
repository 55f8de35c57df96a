/*
 * The MC146818 of the simulated machine with a 32,768 Hz crystal: its date and time, the flag UIP (update in progress),
 * the periodic flag and the update-ended flag. A new second is readable when the update cycle ends and UIP falls.
 */
#include <time.h>

#include "sim_internal.h"

#define REGISTER_SECONDS 0x00u
#define REGISTER_MINUTES 0x02u
#define REGISTER_HOURS   0x04u
#define REGISTER_DAY     0x07u
#define REGISTER_MONTH   0x08u
#define REGISTER_YEAR    0x09u
#define REGISTER_A 0x0au
#define REGISTER_B 0x0bu
#define REGISTER_C 0x0cu
#define REGISTER_D 0x0du
#define INDEX_NMI  0x80u
#define A_UIP        0x80u
#define A_DIVIDER_RESET 0x60u
#define A_RATE       0x0fu
#define B_SET        0x80u
#define B_PIE        0x40u
#define B_BINARY     0x04u
#define B_24_HOURS   0x02u
#define HOUR_PM      0x80u
#define C_IRQF       0x80u
#define C_PF         0x40u
#define C_UF         0x10u
#define C_AF         0x20u
#define ALARM_ANY    0xc0u /* value of all three alarm registers for an alarm each second */
/* number of the last alarm register; registers 1, 3 and 5 hold the alarm's second, minute and hour */
#define ALARM_LAST   0x05u
#define CRYSTAL_HZ   32768u
#define MIDNIGHT     UINT64_C(1795651200) /* 2026-11-26 */
#define UPDATE_PS    (1984 * SIM_PS_PER_US)
/* duration of UIP, including 244 us of warning before the update */
#define UIP_PS       (244 * SIM_PS_PER_US + UPDATE_PS)

void
sim_rtc_reset(void)
{
	sim.rtc = (struct sim_rtc){
		.a = 0x26, .b = 0x02, .d = 0x80, /* registers after a reset: rate 1,024 Hz, 24-hour mode, BCD, good battery */
		.midnight = MIDNIGHT, .halted_at_ps = SIM_NEVER, .index = 0x0d, .uip_early_ps = UIP_PS, .second_step = 1,
	};
}

uint64_t
sim_rtc_get_time_ps(void)
{
	int64_t fast_ps = (int64_t)(sim.now_ps / 1000000) * sim.rtc.fast_ppm;

	if (sim.rtc.fast_ppb)
		fast_ps += (int64_t)((__int128)sim.now_ps * sim.rtc.fast_ppb / 1000000000);
	return sim.now_ps + (uint64_t)fast_ps + sim.rtc.ahead_ps;
}

static bool
is_rtc_halted(void)
{
	return (sim.rtc.b & B_SET) || (sim.rtc.a & A_DIVIDER_RESET) == A_DIVIDER_RESET;
}

/* Returns the number of updates until TIME_PS of the RTC's crystal. */
static uint64_t
get_second_at(uint64_t time_ps)
{
	uint64_t until_ps = time_ps < sim.rtc.halted_at_ps ? time_ps : sim.rtc.halted_at_ps;

	return is_rtc_halted() ? 0 : until_ps / SIM_PS_PER_S * sim.rtc.second_step;
}

static uint64_t
get_rtc_second(void)
{
	return get_second_at(sim_rtc_get_time_ps());
}

uint64_t
sim_rtc_get_second(void)
{
	return get_rtc_second();
}

uint64_t
sim_rtc_get_crystal_ticks(void)
{
	return sim_count_clock_cycles(0, sim_rtc_get_time_ps(), (struct rate){ CRYSTAL_HZ, 1 });
}

/* MC146818 data sheet: with this crystal, rate selections 1 and 2 mean 256 and 128 Hz, like 8 and 9. */
uint64_t
sim_rtc_get_interrupt_period(void)
{
	unsigned rate = sim.rtc.pf_select ? sim.rtc.pf_select : sim.rtc.a & A_RATE;

	if (rate == 0 || sim.rtc.pf_never || (sim.rtc.a & A_DIVIDER_RESET) == A_DIVIDER_RESET)
		return 0;
	return UINT64_C(1) << ((rate <= 2 ? rate + 7 : rate) - 1);
}

bool
sim_rtc_is_alarm_each_second(void)
{
	return (sim.rtc.alarm[0] & sim.rtc.alarm[1] & sim.rtc.alarm[2] & ALARM_ANY) == ALARM_ANY;
}

bool
sim_rtc_try_raise_irq(void)
{
	bool was_up = sim.rtc.line;

	sim.rtc.line = true;
	return !was_up;
}

/* Returns a number below BELOW that depends only on SECOND. */
static uint64_t
draw_for_second(uint64_t second, uint64_t below)
{
	return below ? second * UINT64_C(0x9e3779b97f4a7c15) % below : 0;
}

/* Returns the RTC's time by its updates, which may be late. */
static uint64_t
get_updated_time_ps(void)
{
	uint64_t time_ps = sim_rtc_get_time_ps();

	return time_ps - draw_for_second(time_ps / SIM_PS_PER_S, sim.rtc.late_max_ps);
}

static uint8_t
get_uip(void)
{
	uint64_t time_ps = get_updated_time_ps();

	if (sim.rtc.uip_stuck)
		return A_UIP;
	if (is_rtc_halted() || sim_rtc_get_time_ps() >= sim.rtc.halted_at_ps || sim.rtc.uip_never)
		return 0;
	if (time_ps >= SIM_PS_PER_S && time_ps % SIM_PS_PER_S < sim.rtc.uip_late_ps)
		return A_UIP;
	return time_ps % SIM_PS_PER_S >= SIM_PS_PER_S - sim.rtc.uip_early_ps ? A_UIP : 0;
}

uint64_t
sim_rtc_count_pf_edges(void)
{
	uint64_t period = sim_rtc_get_interrupt_period();

	return period ? sim_count_clock_cycles(0, sim_rtc_get_time_ps(), (struct rate){ CRYSTAL_HZ / period, 1 }) : 0;
}

/* Returns true if the RTC has the fault that a read of register C clears no flag. */
static bool
are_flags_stuck(void)
{
	const struct sim_interrupts *all = &sim.interrupts;

	return all->rtc.sticks || all->rtc_update.sticks || all->rtc_alarm.sticks;
}

static uint8_t
read_flags(void)
{
	uint64_t edges = sim_rtc_count_pf_edges(), second = get_rtc_second();
	uint8_t flags = 0;

	if (edges > sim.rtc.pf_edges_read && (!sim.rtc.pf_needs_pie || (sim.rtc.b & B_PIE)))
		flags |= C_PF;
	if (second > sim.rtc.second_read)
		flags |= C_UF | (sim_rtc_is_alarm_each_second() ? C_AF : 0);
	if (flags & sim.rtc.b & (C_PF | C_UF | C_AF))
		flags |= C_IRQF;
	if (are_flags_stuck())
		return flags;
	sim.rtc.line = false;
	sim.rtc.pf_edges_read = edges;
	sim.rtc.second_read = second;
	sim.rtc.c_reads++;
	return flags;
}

/* Returns the time of day in seconds that the registers show. */
static uint64_t
get_shown_time(void)
{
	uint64_t early_ps = draw_for_second(sim_rtc_get_time_ps() / SIM_PS_PER_S + 1, sim.rtc.early_max_ps);

	return sim.rtc.seconds + get_second_at(get_updated_time_ps() + early_ps);
}

static bool
is_update_garbage(void)
{
	return sim.rtc.update_garbage && sim_rtc_get_time_ps() % SIM_PS_PER_S >= SIM_PS_PER_S - UPDATE_PS;
}

static uint8_t
encode_number(uint64_t number)
{
	return (uint8_t)(sim.rtc.b & B_BINARY ? number : number / 10 << 4 | number % 10);
}

static uint8_t
read_seconds(void)
{
	if (sim.rtc.seconds_invalid)
		return 0x7f;
	if (is_update_garbage())
		return 0x45;
	return encode_number(get_shown_time() % 60);
}

static uint8_t
encode_hour(uint64_t hour)
{
	if (sim.rtc.b & B_24_HOURS)
		return encode_number(hour);
	return (uint8_t)(encode_number(hour % 12 ? hour % 12 : 12) | (hour >= 12 ? HOUR_PM : 0));
}

/* Returns a register of the date: minutes, hours, day, month or year. */
static uint8_t
read_date(uint8_t index)
{
	time_t time = (time_t)(sim.rtc.midnight + get_shown_time());
	struct tm date;

	if (sim.rtc.date_invalid || is_update_garbage())
		return 0xff;
	if (sim.rtc.minutes_stuck)
		time = (time_t)sim.rtc.midnight;
	gmtime_r(&time, &date);
	switch (index) {
	case REGISTER_MINUTES:
		return encode_number((uint64_t)date.tm_min);
	case REGISTER_HOURS:
		return encode_hour((uint64_t)date.tm_hour);
	case REGISTER_DAY:
		return encode_number((uint64_t)date.tm_mday);
	case REGISTER_MONTH:
		return encode_number((uint64_t)date.tm_mon + 1);
	default:
		return encode_number((uint64_t)date.tm_year % 100);
	}
}

uint8_t
sim_rtc_in(uint16_t port)
{
	sim_advance_ps(sim.rtc.extra_ps);
	if (port == 0x70)
		return sim.rtc.index_readable ? sim.rtc.index : 0xff;
	if ((port == 0x74 || port == 0x75) && !sim.rtc.has_alias)
		return 0xff;
	if (port == 0x74)
		return sim.rtc.index & (uint8_t)~INDEX_NMI;
	if (sim.rtc.absent)
		return 0xff;
	switch (sim.rtc.index & 0x7fu) {
	case REGISTER_SECONDS:
		return read_seconds();
	case REGISTER_MINUTES:
	case REGISTER_HOURS:
	case REGISTER_DAY:
	case REGISTER_MONTH:
	case REGISTER_YEAR:
		return read_date(sim.rtc.index & 0x7fu);
	case 1:
	case 3:
	case ALARM_LAST:
		return sim.rtc.alarm[(sim.rtc.index & 0x7fu) / 2];
	case REGISTER_A:
		return sim.rtc.a | get_uip();
	case REGISTER_B:
		return sim.rtc.b;
	case REGISTER_C:
		return read_flags();
	case REGISTER_D:
		return sim.rtc.d;
	default:
		return 0;
	}
}

static void
write_register_b(uint8_t value)
{
	uint8_t before = sim.rtc.b;

	sim.rtc.b = value;
	if (!(value & (C_PF | C_UF | C_AF)))
		sim.rtc.line = false;
	if (sim.interrupts.plugged)
		sim_interrupts_handle_rtc_enable(before, value);
}

void
sim_rtc_out(uint16_t port, uint8_t value)
{
	if ((port == 0x74 || port == 0x75) && !sim.rtc.has_alias)
		return;
	if (port == 0x70) {
		sim.rtc.index = value;
		return;
	}
	if (port == 0x74) {
		sim.rtc.index = (sim.rtc.index & INDEX_NMI) | (value & (uint8_t)~INDEX_NMI);
		return;
	}
	if ((sim.rtc.index & 0x7fu) == REGISTER_A) {
		sim.rtc.a_writes++;
		sim.rtc.a = value & (uint8_t)~A_UIP;
		sim.rtc.pf_edges_read = sim_rtc_count_pf_edges();
	} else if ((sim.rtc.index & 0x7fu) == REGISTER_B) {
		sim.rtc.b_writes++;
		/* In a machine with pf_needs_pie, edges before PIE was set do not set the flag. */
		if (sim.rtc.pf_needs_pie && (value & ~sim.rtc.b & B_PIE))
			sim.rtc.pf_edges_read = sim_rtc_count_pf_edges();
		write_register_b(value);
	} else if ((sim.rtc.index & 0x7fu) <= ALARM_LAST && sim.rtc.index % 2) {
		sim.rtc.alarm[(sim.rtc.index & 0x7fu) / 2] = value;
	}
}
