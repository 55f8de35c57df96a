/*
 * In place of boot/guard/guard.c in that image: the same guards, on firmware that gives #PF a stack of its own, as
 * EDK II of 2026 does. The task state segments of the older firmware in the tests have no such stack.
 */
#define guard_open guard_open_well
#include "../../boot/guard/guard.c"
#undef guard_open

#define PAGE_FAULT 14u
#define STACK_LAST 7u /* a task state segment has seven: SDM vol. 3A, 8.7 */

extern bool guard_open(void);
extern bool fault_has_own_stack(void); /* acpi_pm.c */

bool
guard_open(void)
{
	struct gate *found = (struct gate *)(uintptr_t)processor_idtr().base;

	if (fault_has_own_stack())
		found[PAGE_FAULT].stack = STACK_LAST;
	return guard_open_well();
}
