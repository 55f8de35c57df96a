/* Restores the settings that drivers changed on other cores. See run_internal.h. */
#include "run/run_internal.h"

#define LEAVE_NS (5 * UINT64_C(1000000000)) /* longest wait for a core's answer */

struct leaving {
	struct run *run;
	/* number of cores with restored settings, and number of cores that still have changed settings */
	uint32_t as_found, changed;
};

static void
restore_core(void *argument, size_t core)
{
	struct leaving *leaving = argument;
	const struct driver *const *drivers = leaving->run->machine->drivers;
	bool as_found = true;

	for (size_t d = 0; core && d < RUN_DRIVERS_MAX && drivers[d]; d++)
		if (drivers[d]->leave)
			as_found &= drivers[d]->leave(&leaving->run->devices[d]);
	__atomic_add_fetch(as_found ? &leaving->as_found : &leaving->changed, 1, __ATOMIC_ACQ_REL);
}

/* Returns true if a driver was opened that changes settings of other cores. */
static bool
has_changed_cores(const struct run *run)
{
	const struct driver *const *drivers = run->machine->drivers;
	bool any = false;

	for (size_t d = 0; d < RUN_DRIVERS_MAX && drivers[d]; d++)
		any |= drivers[d]->leave && run->devices[d].opened;
	return any;
}

void
run_leave_cores(struct run *run)
{
	const struct smp *smp = &run->smp;
	struct leaving leaving = { .run = run };
	uint32_t started = 0, silent;

	if (smp->count < 2 || !has_changed_cores(run))
		return;
	for (size_t core = 1; core < smp->count; core++) {
		started += run->report.cores[core].started;
		if (!run->survey.tsc.is_stopped && smp->alive(smp->context, core))
			smp->run(smp->context, core, restore_core, &leaving, LEAVE_NS);
	}
	silent = started - leaving.as_found - leaving.changed;
	if (leaving.changed)
		report_note(&run->report, "Not put back as found: a hypervisor's clock on %u other core%s.", leaving.changed,
			    leaving.changed == 1 ? "" : "s");
	if (silent)
		report_note(&run->report, "Not known to be put back: a hypervisor's clock on %u other core%s, which %s not asked or "
			    "did not answer: its page may still be written, in reserved memory.", silent,
			    silent == 1 ? "" : "s", silent == 1 ? "was" : "were");
}
