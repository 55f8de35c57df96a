/* Draws the kinds of machine with an uneven RTC, a long run, or a change of a clock at a bad time. See kinds.h. */
#include "draw.h"
#include "draw_machine.h"
#include "kinds.h"

#define MS SIM_PS_PER_MS

/* largest difference between the delays of two edges of a guest's RTC */
#define RTC_UNEVEN_PS  (10 * MS)
/*
 * Largest rate error of a clock on a machine whose core is preempted for 2 s. With a larger error, a wrong number of
 * the PIT's wraps could agree with the other clocks.
 */
#define PREEMPTED_OFF_PPM 20000
/* duration of an update cycle, in which the seconds register changes at any time */
#define RTC_EARLY_PS   (1984 * SIM_PS_PER_US)

static void
draw_uneven_rtc(void)
{
	sim.rtc.early_max_ps = draw_chance(50) ? RTC_EARLY_PS : 0;
	if (machine.is_guest && draw_chance(50))
		sim.rtc.late_max_ps = RTC_UNEVEN_PS - RTC_EARLY_PS;
}

void
draw_uneven_clocks(void)
{
	draw_clocks();
	draw_independent_sources();
	draw_uneven_rtc();
	draw_tsc_claim(draw_chance(50) ? CLAIM_RIGHT : CLAIM_ABSENT);
	for (unsigned source = 0; source < CLOCKS; source++)
		if (draw_chance(70))
			draw_wrong_source_rate(source);
	draw_rates();
}

/*
 * Draws an event within milliseconds of an edge of the RTC that starts or ends the rate window, or of an edge at the
 * end of the run.
 */
void
draw_event_at_edge(void)
{
	static const enum event events[] = { EVENT_PAUSE, EVENT_SNAPSHOT, EVENT_JUMP };

	machine.is_guest = true;
	draw_clocks();
	draw_independent_sources();
	draw_rates();
	machine.event = events[draw_below(3)];
	machine.clock = RTC;
	machine.phase = draw_chance(70) ? "rates" : "rates-again";
	/* the run waits for one edge in rates-again, and later edges would be in checks of devices */
	machine.edge = machine.phase[5] ? 1 : (unsigned)draw_between(1, 3);
	machine.delay_ps = draw_below(20 * MS);
	machine.by_ps = draw_log_uniform(100, 5000) * MS;
}

/* Draws a run that lasts up to an hour. */
void
draw_long_run(void)
{
	unsigned fault = (unsigned)draw_below(5);

	machine.is_guest = fault <= 1;
	machine.is_obvious = fault == 0;
	machine.event = fault == 1 ? EVENT_PAUSE : fault == 2 ? EVENT_JUMP : EVENT_NONE;
	machine.clock = (int)draw_below(CLOCKS);
	machine.phase = draw_chance(50) ? "latency" : "rates-again";
	machine.by_ps = draw_log_uniform(100, 5000) * MS;
	machine.idle_ps = draw_log_uniform(1, 3600) * SIM_PS_PER_S;
	draw_clocks();
	draw_independent_sources();
	if (machine.is_obvious)
		draw_very_wrong_source_rate(RTC);
	else if (fault == 3)
		draw_wrong_source_rate((unsigned)draw_below(CLOCKS));
	draw_rates();
}

void
draw_stuck_clock(void)
{
	static const char *const phases[] = { "rates", "latency", "interference" };

	draw_clocks();
	draw_rates();
	machine.event = EVENT_STUCK;
	machine.clock = (int)draw_between(HPET, RTC);
	machine.phase = phases[draw_below(3)];
	machine.delay_ps = machine.phase == phases[0] ? draw_below(1500 * MS) : 0;
}

/* Draws a machine whose core is preempted once in the rate window, for so long that wraps of counters are missed. */
void
draw_long_preemption(void)
{
	draw_clocks();
	draw_independent_sources();
	if (draw_chance(70))
		draw_source_rate((unsigned)draw_between(HPET, RTC), PREEMPTED_OFF_PPM / 4, PREEMPTED_OFF_PPM);
	machine.away_in_window = true;
	machine.away_ps = draw_log_uniform(20, 2000) * MS;
	draw_rates();
}
