/* Guards: tables and calls. The handlers are in guard_entry.nasm. See guard.h. */
#include "guard.h"

#include "firmware.h"
#include "guard_internal.h"
#include "hw.h"
#include "paging.h"
#include "processor.h"

#define MSR_GS_BASE 0xc0000101u /* SDM vol. 3A, 3.4.4.1 */

/*
 * #DE, #OF, #BR, #UD, #NM, #TS, #NP, #SS, #GP, #PF, #MF, #AC, #XM: what code can do. A debugger's, NMI, double faults
 * and machine checks are the firmware's.
 */
#define TAKEN 0x000b7cf1u

struct guard *guard_top;
uint64_t guard_firmware[GUARD_VECTORS];

extern const uint8_t image_begin[] __asm__("ImageBase") HIDDEN; /* boot/efi.lds */
extern const uint8_t image_text_begin[] HIDDEN, image_text_end[] HIDDEN;

/* Constant while guards are open. */
static struct {
	struct table_register found, boot, core; /* the firmware's, and copies of it with handlers of ours */
} tables;

/* A copy of what was found, in which TAKEN come to STUBS. */
static struct table_register
make_table(const uint8_t *stubs)
{
	size_t size = tables.found.limit + 1u;
	struct gate *gates = firmware_allocate(size);

	if (!gates)
		return (struct table_register){ 0, 0 };
	__builtin_memcpy(gates, (const void *)(uintptr_t)tables.found.base, size);
	for (unsigned vector = 0; vector < GUARD_VECTORS; vector++)
		if (TAKEN >> vector & 1)
			gate_aim(&gates[vector], (uintptr_t)stubs + vector * GUARD_STUB_SIZE);
	return (struct table_register){ tables.found.limit, (uintptr_t)gates };
}

static void
drop_table(struct table_register *table)
{
	if (table->base)
		firmware_boot->FreePool((void *)(uintptr_t)table->base);
	table->base = 0;
}

bool
guard_open(void)
{
	const struct gate *gates;

	tables.found = processor_idtr();
	gates = (const struct gate *)(uintptr_t)tables.found.base;
	/* A shadow stack would have to be unwound too, and FRED passes by the table. */
	if (tables.found.limit + 1u < GUARD_VECTORS * sizeof(*gates) || read_cr4() & (CR4_CET | CR4_FRED))
		return false;
	for (unsigned vector = 0; vector < GUARD_VECTORS; vector++)
		guard_firmware[vector] = gate_handler(&gates[vector]);
	tables.boot = make_table(guard_stubs_boot);
	tables.core = make_table(guard_stubs_core);
	if (!tables.boot.base || !tables.core.base) {
		drop_table(&tables.boot);
		drop_table(&tables.core);
		return false;
	}
	processor_set_idtr(&tables.boot);
	return true;
}

void
guard_close(void)
{
	if (!tables.boot.base)
		return;
	if (processor_idtr().base == tables.boot.base)
		processor_set_idtr(&tables.found);
	drop_table(&tables.boot);
	drop_table(&tables.core);
}

void
guard_work(struct guard *guard)
{
	guard->work(guard->argument);
}

struct fault
guard_fault(uint32_t vector, uint64_t at, uint64_t error, uint64_t address)
{
	bool in_image = at >= (uintptr_t)image_text_begin && at < (uintptr_t)image_text_end;

	return (struct fault){ vector, in_image, in_image ? at - (uintptr_t)image_begin : at, error, address };
}

static bool
run_under(struct guard **top, void (*work)(void *argument), void *argument, struct fault *fault)
{
	struct guard guard = { .work = work, .argument = argument };
	bool back = guard_enter(&guard, top);

	if (!back)
		*fault = guard_fault((uint32_t)guard.vector, guard.at, guard.error, guard.address);
	return back;
}

bool
guard_run(void (*work)(void *argument), void *argument, struct fault *fault)
{
	return run_under(&guard_top, work, argument, fault);
}

bool
guard_run_on_core(void (*work)(void *argument), void *argument, struct fault *fault)
{
	struct table_register found = processor_idtr();
	uint64_t gs_base = hw_msr_read(MSR_GS_BASE);
	struct guard *top = NULL; /* where the handlers look */
	bool back;

	if (!tables.core.base) {
		work(argument);
		return true;
	}
	hw_msr_write(MSR_GS_BASE, (uintptr_t)&top);
	processor_set_idtr(&tables.core);
	back = run_under(&top, work, argument, fault);
	processor_set_idtr(&found);
	hw_msr_write(MSR_GS_BASE, gs_base);
	return back;
}

void
guard_raise(const struct fault *fault)
{
	struct guard *guard = guard_top;

	guard->vector = fault->vector;
	guard->at = fault->in_image ? fault->at + (uintptr_t)image_begin : fault->at;
	guard->error = fault->error;
	guard->address = fault->address;
	guard_unwind(guard);
}
