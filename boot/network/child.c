/* Children of services, and waits that end. See child.h. */
#include "child.h"

#define TURN_US      100
#define TURNS_PER_MS (1000 / TURN_US)
#define PER_MS_100NS 10000 /* SetTimer counts in units of 100 ns */

bool
pause_begin(struct pause *pause, unsigned ms)
{
	pause->turns = ms * TURNS_PER_MS;
	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &pause->over)))
		return false;
	if (!EFI_ERROR(firmware_boot->SetTimer(pause->over, TimerRelative, (UINT64)ms * PER_MS_100NS)))
		return true;
	pause_end(pause);
	return false;
}

bool
pause_is_over(const struct pause *pause)
{
	return !pause->turns || firmware_boot->CheckEvent(pause->over) == EFI_SUCCESS;
}

bool
pause_goes_on(struct pause *pause)
{
	if (pause_is_over(pause))
		return false;
	pause->turns--;
	firmware_boot->Stall(TURN_US);
	return true;
}

void
pause_end(struct pause *pause)
{
	firmware_boot->CloseEvent(pause->over);
}

void *
child_open(struct child *child, EFI_HANDLE handle, const EFI_GUID *service, const EFI_GUID *guid)
{
	void *interface;

	child->binding = firmware_protocol(handle, service);
	child->handle = NULL;
	if (!child->binding || EFI_ERROR(child->binding->create_child(child->binding, &child->handle)))
		return NULL;
	interface = firmware_protocol(child->handle, guid);
	if (interface && !EFI_ERROR(firmware_boot->CreateEvent(0, 0, NULL, NULL, &child->event)))
		return interface;
	child->binding->destroy_child(child->binding, child->handle);
	return NULL;
}

void
child_close(struct child *child)
{
	child->binding->destroy_child(child->binding, child->handle);
	firmware_boot->CloseEvent(child->event);
}

bool
child_wait(struct child *child, EFI_STATUS (EFIAPI *poll)(void *interface), void *interface, unsigned ms)
{
	struct pause pause;
	bool signalled;

	if (!pause_begin(&pause, ms))
		return false;
	do
		poll(interface);
	while (!(signalled = firmware_boot->CheckEvent(child->event) == EFI_SUCCESS) && pause_goes_on(&pause));
	pause_end(&pause);
	return signalled;
}
