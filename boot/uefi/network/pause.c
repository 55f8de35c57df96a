/* Waits for a limited time. See network_internal.h. */
#include "uefi/network/network_internal.h"

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
pause_wait_briefly(struct pause *pause)
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
