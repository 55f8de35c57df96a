/* Decides in which phases the firmware's timer tick is stopped. See run_internal.h. */
#include "run/run_internal.h"

void
run_find_firmware_tick(struct run *run)
{
	const struct report *report = &run->report;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		run->tick_from_clock |= report->facts.clocks[i].clock.firmware_ticks;
	survey_note_firmware_tick(&run->survey, run->tick_from_clock);
}

/*
 * Returns true if the firmware needs its tick in PHASE. The firmware needs the tick for its timer events, and to start
 * or stop cores. With cores=mp it also needs the tick to run a job on another core. While the rates are
 * measured again, no job runs.
 */
bool
run_does_phase_need_firmware_tick(const struct run *run, const struct run_phase *phase)
{
	bool runs_jobs = phase->measure && phase->part != SURVEY_RATES_AGAIN &&
			 run->report.facts.options.cores.method == CORES_MP;

	return phase->with_firmware || (phase->with_cores && (phase->execute || runs_jobs));
}

/*
 * Marks the clocks that stop for a short time at each tick of the firmware. Called if the tick cannot be stopped.
 * Clocks whose rate was already measured are not marked.
 */
static void
mark_clocks_stopped_by_ticks(struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		report->facts.clocks[i].stops_in_ticks |= report->facts.clocks[i].clock.firmware_ticks &&
						     !report->figures.clocks[i].implied.known;
}

void
run_start_or_stop_firmware_tick(struct run *run, bool needed)
{
	const struct run_machine *machine = run->machine;

	needed |= run->needs_tick;
	if (!run->tick_from_clock || run->survey.ticking == needed)
		return;
	if (!machine->set_tick_stopped || !machine->set_tick_stopped(machine->context, !needed))
		mark_clocks_stopped_by_ticks(&run->report);
	else
		survey_note_firmware_tick(&run->survey, needed);
}
