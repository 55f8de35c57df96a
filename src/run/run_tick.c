/* Decides in which phases the firmware's tick is stopped. See run_internal.h. */
#include "run/run_internal.h"

void
run_find_tick(struct run *run)
{
	const struct report *report = &run->report;

	for (size_t i = 0; i < report->clock_count; i++)
		run->tick_matters |= report->clocks[i].clock.firmware_ticks;
	survey_note_firmware_tick(&run->survey, run->tick_matters);
}

/*
 * The firmware needs its tick when it starts and stops cores. With cores=mp the firmware also runs every job on another
 * core.
 */
bool
run_needs_tick(const struct run *run, const struct run_phase *phase)
{
	return phase->with_cores && (phase->play || run->report.options.cores == CORES_MP);
}

/*
 * Marks the clocks that the firmware's tick stops for short times. Leaves out clocks with a rate that was measured
 * before.
 */
static void
mark_clocks_in_ticks(struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++)
		report->clocks[i].stands_in_ticks |= report->clocks[i].clock.firmware_ticks &&
						     !report->clocks[i].implied.known;
}

void
run_restore_tick(struct run *run, bool goes_on)
{
	const struct run_machine *machine = run->machine;

	goes_on |= run->needs_tick;
	if (!run->tick_matters || run->survey.ticking == goes_on)
		return;
	if (!machine->quiet_tick || !machine->quiet_tick(machine->context, !goes_on))
		mark_clocks_in_ticks(&run->report);
	else
		survey_note_firmware_tick(&run->survey, goes_on);
}
