/* Starts guards, and makes their interrupt tables. The handlers are in guard_entry.nasm. See guard.h. */
#include "guard/guard.h"

#include "firmware/code_map.h"
#include "firmware/firmware.h"
#include "firmware/processor.h"
#include "guard/guard_internal.h"
#include "hw/hw.h"
#include "hw/paging.h"

#define MSR_GS_BASE 0xc0000101u /* IA32_GS_BASE: SDM vol. 3A, 3.4.4.1 */

/*
 * #DE, #OF, #BR, #UD, #NM, #TS, #NP, #SS, #GP, #PF, #MF, #AC, #XM: the exceptions that an instruction can cause. The
 * firmware keeps the handlers of debug exceptions, NMIs, double faults and machine checks.
 */
#define HANDLED_EXCEPTIONS 0x000b7cf1u

struct guard *guard_top;
uint64_t guard_firmware[GUARD_VECTORS];

extern const uint8_t image_begin[] __asm__("ImageBase") HIDDEN; /* defined by the linker script */
extern const uint8_t image_text_begin[] HIDDEN, image_text_end[] HIDDEN, image_end[] HIDDEN;

/* Constant between guard_install_handlers() and guard_restore_handlers(). */
static struct {
	/* firmware's table, and copies with our handlers for the boot core and other cores */
	struct table_register found, boot, core;
} tables;

/*
 * Copies the firmware's interrupt table, with STUBS as the handlers of HANDLED_EXCEPTIONS. If SWITCHES_STACK is true,
 * each handler uses the same separate stack (IST) as the firmware's handler; EDK II of 2026 has one for #PF. On a core
 * of the firmware's MP services it must be false: without a task state segment, a separate stack would cause a triple
 * fault.
 */
static struct table_register
make_interrupt_table(const uint8_t *stubs, bool switches_stack)
{
	size_t size = tables.found.limit + 1u;
	struct gate *gates = firmware_allocate(size);

	if (!gates)
		return (struct table_register){ 0, 0 };
	__builtin_memcpy(gates, (const void *)(uintptr_t)tables.found.base, size);
	for (unsigned vector = 0; vector < GUARD_VECTORS; vector++) {
		if (!(HANDLED_EXCEPTIONS >> vector & 1))
			continue;
		gate_set_handler(&gates[vector], (uintptr_t)stubs + vector * GUARD_STUB_SIZE);
		if (!switches_stack)
			gates[vector].stack = 0;
	}
	return (struct table_register){ tables.found.limit, (uintptr_t)gates };
}

static void
free_interrupt_tables(void)
{
	firmware_free((void *)(uintptr_t)tables.boot.base);
	firmware_free((void *)(uintptr_t)tables.core.base);
	tables.boot.base = tables.core.base = 0;
	code_map_free();
}

bool
guard_install_handlers(void)
{
	tables.found = processor_read_idtr();
	const struct gate *gates = (const struct gate *)(uintptr_t)tables.found.base;
	/*
	 * The end of a guard does not restore a shadow stack, which CET would require. With FRED, exceptions do not use
	 * the table. Therefore guards are not used with CET or FRED.
	 */
	if (tables.found.limit + 1u < GUARD_VECTORS * sizeof(*gates) || read_cr4() & (CR4_CET | CR4_FRED))
		return false;
	for (unsigned vector = 0; vector < GUARD_VECTORS; vector++)
		guard_firmware[vector] = gate_get_handler(&gates[vector]);
	tables.boot = make_interrupt_table(guard_stubs_boot, true);
	tables.core = make_interrupt_table(guard_stubs_core, false);
	if (!code_map_load() || !tables.boot.base || !tables.core.base) {
		free_interrupt_tables();
		return false;
	}
	processor_set_idtr(&tables.boot);
	return true;
}

void
guard_restore_handlers(void)
{
	if (!tables.boot.base)
		return;
	if (processor_read_idtr().base == tables.boot.base)
		processor_set_idtr(&tables.found);
	free_interrupt_tables();
}

void
guard_call_work(struct guard *guard)
{
	guard->work(guard->argument);
}

static bool
is_address_within(uint64_t address, const uint8_t *begin, const uint8_t *end)
{
	return address >= (uintptr_t)begin && address < (uintptr_t)end;
}

/*
 * Returns true if GUARD handles the exception. A guard handles all exceptions in the image. It also handles an
 * exception outside of the image if our code called a wrong address. In this case the firmware has no code at the
 * address of the exception, and the top of STACK is a return address in our code. An exception in the firmware's own
 * code has a return address in the firmware.
 */
bool
guard_handles_exception(const struct guard *guard, const uint64_t *stack)
{
	if (guard->runs_no_firmware || is_address_within(guard->at, image_begin, image_end))
		return true;
	return !code_map_contains(guard->at) && is_address_within(*stack, image_text_begin, image_text_end);
}

struct fault
guard_describe_fault(uint32_t vector, uint64_t at, uint64_t error, uint64_t address)
{
	bool in_image = is_address_within(at, image_begin, image_end);

	return (struct fault){ vector, in_image, in_image ? at - (uintptr_t)image_begin : at, error, address };
}

static bool
run_guarded(struct guard **top, void (*work)(void *argument), void *argument, struct fault *fault)
{
	struct guard guard = { .work = work, .argument = argument, .runs_no_firmware = top != &guard_top };
	bool back = guard_enter(&guard, top);

	if (!back)
		*fault = guard_describe_fault((uint32_t)guard.vector, guard.at, guard.error, guard.address);
	return back;
}

bool
guard_run(void (*work)(void *argument), void *argument, struct fault *fault)
{
	return run_guarded(&guard_top, work, argument, fault);
}

bool
guard_run_on_current_core(void (*work)(void *argument), void *argument, struct fault *fault)
{
	struct table_register found = processor_read_idtr();
	uint64_t gs_base = hw_msr_read(MSR_GS_BASE);
	struct guard *top = NULL; /* the handlers find this pointer through GS base */
	bool back;

	if (!tables.core.base) {
		work(argument);
		return true;
	}
	hw_msr_write(MSR_GS_BASE, (uintptr_t)&top);
	processor_set_idtr(&tables.core);
	back = run_guarded(&top, work, argument, fault);
	processor_set_idtr(&found);
	hw_msr_write(MSR_GS_BASE, gs_base);
	return back;
}

void
guard_end_with_fault(const struct fault *fault)
{
	struct guard *guard = guard_top;

	guard->vector = fault->vector;
	guard->at = fault->in_image ? fault->at + (uintptr_t)image_begin : fault->at;
	guard->error = fault->error;
	guard->address = fault->address;
	guard_unwind(guard);
}
