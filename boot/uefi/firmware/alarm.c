/* Implements alarms with a timer event of the firmware. See alarm.h. */
#include "firmware/alarm.h"

#include "uefi/firmware/uefi.h"

#define NS_PER_100NS 100

void
alarm_set(struct alarm *alarm, uint64_t ns)
{
	if (alarm->event)
		(void)firmware_boot->CheckEvent(alarm->event); /* clears an earlier signal */
	else if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &alarm->event)))
		alarm->event = NULL;
	if (alarm->event && EFI_ERROR(firmware_boot->SetTimer(alarm->event, TimerRelative, ns / NS_PER_100NS)))
		alarm_cancel(alarm);
}

bool
alarm_has_expired(struct alarm *alarm)
{
	return alarm->event && firmware_boot->CheckEvent(alarm->event) == EFI_SUCCESS;
}

void
alarm_cancel(struct alarm *alarm)
{
	if (alarm->event)
		firmware_boot->CloseEvent(alarm->event);
	alarm->event = NULL;
}
