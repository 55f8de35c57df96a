/* Restores the settings that drivers changed on other cores. See run_internal.h. */
#include "run/run_internal.h"

#define RESTORE_NS (5 * UINT64_C(1000000000)) /* maximum wait for each core's answer */

struct restoring {
	struct run *run;
	/* number of cores whose settings were restored, and number of cores whose settings could not be restored */
	uint32_t restored, changed;
};

static void
restore_core_settings(void *argument, size_t core)
{
	struct restoring *restoring = argument;
	const struct driver *const *drivers = restoring->run->machine->drivers;
	bool restored = true;

	for (size_t d = 0; core && d < RUN_DRIVERS_MAX && drivers[d]; d++)
		if (drivers[d]->restore_core)
			restored &= drivers[d]->restore_core(&restoring->run->devices[d]);
	__atomic_add_fetch(restored ? &restoring->restored : &restoring->changed, 1, __ATOMIC_ACQ_REL);
}

/* Returns true if a driver is open that changes settings on other cores. */
static bool
may_drivers_have_changed_cores(const struct run *run)
{
	const struct driver *const *drivers = run->machine->drivers;
	bool any = false;

	for (size_t d = 0; d < RUN_DRIVERS_MAX && drivers[d]; d++)
		any |= drivers[d]->restore_core && run->devices[d].opened;
	return any;
}

void
run_restore_cores(struct run *run)
{
	const struct smp *smp = &run->smp;
	struct restoring restoring = { .run = run };
	uint32_t started = 0, silent;

	if (smp->count < 2 || !may_drivers_have_changed_cores(run))
		return;
	for (size_t core = 1; core < smp->count; core++) {
		started += run->report.facts.cores[core].started;
		if (!run->survey.tsc.is_stopped && smp->alive(smp->context, core))
			smp->run(smp->context, core, restore_core_settings, &restoring, RESTORE_NS);
	}
	silent = started - restoring.restored - restoring.changed;
	if (restoring.changed)
		notes_add(&run->report.notes, "Not restored: a hypervisor's clock on %u other core%s.", restoring.changed,
			  restoring.changed == 1 ? "" : "s");
	if (silent)
		notes_add(&run->report.notes, "Possibly not restored: a hypervisor's clock on %u other core%s that %s not asked to "
			  "restore it or did not answer. The hypervisor may still write to its page, which is in reserved "
			  "memory.", silent, silent == 1 ? "" : "s", silent == 1 ? "was" : "were");
}
