/*
 * The 8254 of the simulated machine, by its data sheet in modes 0, 2 and 3. The other modes count like mode 0. A count
 * is loaded when its last byte is written. BCD counts are not modelled.
 */
#include "sim_internal.h"

#define CONTROL_ACCESS(control) (((control) >> 4) & 3u)
#define ACCESS_LOW   1u
#define ACCESS_HIGH  2u
#define ACCESS_WORD  3u
#define SELECT_READ_BACK 3u
#define READ_BACK_NO_COUNT  0x20u
#define READ_BACK_NO_STATUS 0x10u

void
sim_pit_reset(void)
{
	sim.pit.hz = (struct rate){ 105000000, 88 };
	for (unsigned i = 0; i < 3; i++)
		sim.pit.channels[i] = (struct sim_pit_channel){
			.control = 0x36, .gate = i != 2,
			.reload = 65536 /* the firmware's usual setting: mode 3 with the largest count */
		};
	sim.pit.gated_at_ps = sim.pit.backward_at_ps = SIM_NEVER;
	sim.pit.step = 1;
}

static unsigned
get_channel_mode(const struct sim_pit_channel *channel)
{
	unsigned mode = (channel->control >> 1) & 7u;

	if (mode == 6 && sim.pit.mode_6_as_4)
		return 4;
	if (mode == 7 && sim.pit.mode_7_as_2)
		return 2;
	return mode > 5 ? mode & 3u : mode;
}

/* Returns the number of clock cycles since the channel's count was loaded. */
static uint64_t
count_cycles_since_load(const struct sim_pit_channel *channel)
{
	uint64_t until_ps = sim.now_ps < sim.pit.gated_at_ps ? sim.now_ps : sim.pit.gated_at_ps;
	uint64_t cycles = channel->held_cycles;

	if (sim.pit.gated || channel->null_count || (channel == &sim.pit.channels[0] && sim.interrupts.pit.stands))
		return 0;
	if (channel->gate)
		cycles += sim_count_clock_cycles(channel->loaded_ps, until_ps, sim.pit.hz);
	if (sim.now_ps >= sim.pit.backward_at_ps)
		cycles -= sim.pit.backward_ticks;
	return cycles;
}

uint16_t
sim_pit_get_count(unsigned number)
{
	const struct sim_pit_channel *channel = &sim.pit.channels[number];
	uint64_t cycles = count_cycles_since_load(channel);

	cycles -= cycles % sim.pit.step;
	switch (get_channel_mode(channel)) {
	case 2:
		return (uint16_t)(channel->reload - cycles * (sim.pit.mode_2_as_3 ? 2 : 1) % channel->reload);
	case 3:
		return (uint16_t)(channel->reload - cycles * 2 % channel->reload);
	default:
		if (sim.pit.stays_at_end && cycles > channel->reload)
			return 0;
		return (uint16_t)(channel->reload - cycles);
	}
}

static bool
get_channel_output(const struct sim_pit_channel *channel)
{
	uint64_t cycles = count_cycles_since_load(channel);
	uint64_t late = sim_count_clock_cycles(0, sim.pit.out_late_ps, sim.pit.hz);

	switch (get_channel_mode(channel)) {
	case 2:
		return !channel->gate || cycles % channel->reload != channel->reload - 1;
	case 3:
		return !channel->gate || cycles % channel->reload < channel->reload / 2;
	default:
		/* OUT rises N + 1 cycles after N was loaded */
		return !channel->null_count && cycles > channel->reload + late;
	}
}

uint8_t
sim_pit_get_status(unsigned number)
{
	const struct sim_pit_channel *channel = &sim.pit.channels[number];

	bool null_count = channel->null_count && !sim.pit.null_count_never;

	return (uint8_t)((get_channel_output(channel) << 7 | null_count << 6 | (channel->control & 0x3f)) ^
			 sim.pit.status_flipped);
}

static void
latch_count(unsigned number)
{
	struct sim_pit_channel *channel = &sim.pit.channels[number];

	if (channel->count_latched && !sim.pit.latches_again)
		return;
	channel->latched_count = sim_pit_get_count(number);
	channel->count_latched = true;
	channel->read_high_next = CONTROL_ACCESS(channel->control) == ACCESS_HIGH;
}

static void
handle_read_back(uint8_t command)
{
	for (unsigned i = 0; i < 3; i++) {
		struct sim_pit_channel *channel = &sim.pit.channels[i];

		if (!(command & 2u << i))
			continue;
		if (!(command & READ_BACK_NO_COUNT))
			latch_count(i);
		if (!(command & READ_BACK_NO_STATUS) && !channel->status_latched) {
			channel->latched_status = sim_pit_get_status(i);
			channel->status_latched = true;
		}
	}
}

static void
write_control_word(uint8_t value)
{
	unsigned number = value >> 6;

	if (number == SELECT_READ_BACK) {
		handle_read_back(value);
		return;
	}
	if (CONTROL_ACCESS(value) == 0) {
		latch_count(number);
		return;
	}
	struct sim_pit_channel *channel = &sim.pit.channels[number];

	channel->writes++;
	channel->control = value & 0x3f;
	channel->null_count = true;
	if (number == 0 && sim.interrupts.plugged)
		sim_interrupts_handle_pit_stop();
	channel->count_latched = channel->status_latched = false;
	channel->write_high_next = channel->read_high_next = CONTROL_ACCESS(value) == ACCESS_HIGH;
}

/*
 * Returns the time of the latest pulse of the input clock. The pulses do not depend on the times at which counts are
 * written.
 */
static uint64_t
get_last_pulse_ps(void)
{
	uint64_t pulses = sim_count_clock_cycles(0, sim.now_ps, sim.pit.hz);

	return (uint64_t)(((unsigned __int128)pulses * sim.pit.hz.den * SIM_PS_PER_S + sim.pit.hz.num - 1) / sim.pit.hz.num);
}

static void
load_count(struct sim_pit_channel *channel, uint16_t count)
{
	channel->reload = count ? count : 65536;
	channel->loaded_ps = sim.now_ps;
	channel->held_cycles = 0;
	channel->null_count = false;
	if (channel != &sim.pit.channels[0] || !sim.interrupts.plugged)
		return;
	channel->loaded_ps = get_last_pulse_ps();
	sim_interrupts_handle_pit_load(get_channel_mode(channel), channel->reload);
}

static void
write_count(struct sim_pit_channel *channel, uint8_t value)
{
	channel->writes++;
	switch (CONTROL_ACCESS(channel->control)) {
	case ACCESS_LOW:
		load_count(channel, value);
		break;
	case ACCESS_HIGH:
		load_count(channel, (uint16_t)(value << 8));
		break;
	default:
		if (channel->write_high_next)
			load_count(channel, (uint16_t)(value << 8 | channel->write_low));
		else
			channel->write_low = value;
		channel->write_high_next = !channel->write_high_next;
	}
}

static uint8_t
read_channel(unsigned number)
{
	struct sim_pit_channel *channel = &sim.pit.channels[number];
	bool live = !channel->count_latched || sim.pit.latch_ignored;
	uint16_t count = live ? sim_pit_get_count(number) : channel->latched_count;
	bool high = channel->read_high_next;

	if (channel->status_latched) {
		channel->status_latched = false;
		return channel->latched_status;
	}
	if (CONTROL_ACCESS(channel->control) == ACCESS_WORD)
		channel->read_high_next = !high;
	if (CONTROL_ACCESS(channel->control) != ACCESS_WORD || high)
		channel->count_latched = false;
	return (uint8_t)(high ? count >> 8 : count);
}

/* Sets a channel's gate input. In modes 2 and 3 counting restarts when the gate rises; in other modes it continues. */
static void
set_gate(struct sim_pit_channel *channel, bool gate)
{
	if (gate == channel->gate)
		return;
	if (gate && (get_channel_mode(channel) == 2 || get_channel_mode(channel) == 3))
		channel->held_cycles = 0;
	else if (!gate)
		channel->held_cycles = count_cycles_since_load(channel);
	channel->loaded_ps = sim.now_ps;
	channel->gate = gate;
}

static bool
get_output_at_port_61(void)
{
	return (get_channel_output(&sim.pit.channels[2]) || sim.pit.out_never_low) && !sim.pit.out_never_high;
}

uint8_t
sim_pit_in(uint16_t port)
{
	sim_advance_ps(sim.pit.extra_ps);
	if (port == 0x61)
		return sim.pit.port_61_absent ? 0xff : (uint8_t)(sim.pit.port_61 | get_output_at_port_61() << 5);
	if (sim.pit.absent || port == 0x43)
		return 0xff;
	return read_channel(port - 0x40u);
}

void
sim_pit_out(uint16_t port, uint8_t value)
{
	if (port == 0x61 && !sim.pit.port_61_absent) {
		sim.pit.port_61 = value & 0x0f;
		set_gate(&sim.pit.channels[2], value & 1);
	}
	if (sim.pit.absent || port == 0x61)
		return;
	if (port == 0x43)
		write_control_word(value);
	else
		write_count(&sim.pit.channels[port - 0x40], value);
}
