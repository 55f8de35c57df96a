/*
 * Replaces boot/guard/guard.c in the fault image. The guards are the same, but the firmware seems to have a separate
 * stack for #PF, as EDK II of 2026 does. The older firmware in the tests has no such stack in its task state segments.
 * Their installation may also never end.
 */
#define guard_install_handlers guard_open_well
#include "../../boot/guard/guard.c"
#undef guard_install_handlers

#define PAGE_FAULT 14u
#define STACK_LAST 7u /* number of the last of the seven stacks in a task state segment: Intel SDM vol. 3A, 8.7 */

extern bool guard_install_handlers(void);
/* defined in acpi_pm.c; the first function reads the words of the fault */
extern bool fault_needs_separate_pf_stack(void), fault_hangs_at_start(void);

bool
guard_install_handlers(void)
{
	struct gate *found = (struct gate *)(uintptr_t)processor_read_idtr().base;

	if (fault_needs_separate_pf_stack())
		found[PAGE_FAULT].stack = STACK_LAST;
	for (volatile bool hangs = fault_hangs_at_start(); hangs;)
		; /* see cause_fault() in acpi_pm.c */
	return guard_open_well();
}
