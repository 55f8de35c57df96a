/* Gives a machine the functions for the firmware's cores and for checkpoints. See uefi_machine.h. */
#include "uefi/uefi_machine.h"

#include "uefi/mp/mp.h"

static bool
start_phase(void *context, const struct run *run, const struct run_phase *phase)
{
	return checkpoint_start_phase(context, run, phase);
}

static void
set_cores(void *context, enum options_cores cores)
{
	checkpoint_set_cores(context, cores);
}

static bool
is_due(const void *context)
{
	return checkpoint_is_due(context);
}

static void
save_due(void *context)
{
	checkpoint_save_due(context);
}

struct machine_boot
uefi_machine(struct checkpoint *checkpoint)
{
	return (struct machine_boot){
		.needs_acpi = true,
		.lent_count = mp_listed,
		.lend = mp_start,
		.take_back = mp_stop,
		.context = checkpoint,
		.start_phase = start_phase,
		.set_cores = set_cores,
		.is_due = is_due,
		.save_due = save_due,
	};
}
