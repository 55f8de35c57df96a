/* Stops, restarts and observes the firmware's timer tick. See tick.h. */
#include "firmware/tick.h"

#include "uefi/firmware/uefi.h"

/* Declares EFI_TIMER_ARCH_PROTOCOL (PI 1.7, volume 2, 12.13), which GNU-EFI lacks. */
struct timer_arch {
	EFI_STATUS (EFIAPI *register_handler)(struct timer_arch *timer, VOID *handler);
	EFI_STATUS (EFIAPI *set_period)(struct timer_arch *timer, UINT64 period_100ns);
	EFI_STATUS (EFIAPI *get_period)(struct timer_arch *timer, UINT64 *period_100ns);
	EFI_STATUS (EFIAPI *interrupt)(struct timer_arch *timer);
};

static const EFI_GUID guid_timer_arch = { 0x26baccb3, 0x6f42, 0x11d4,
	{ 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };

#define POLLS_MAX 100000000u /* maximum number of polls; ends the wait if the TSC has stopped */

static bool
stop_tick(struct tick *tick, struct timer_arch *timer)
{
	UINT64 period_100ns = 0;

	if (EFI_ERROR(timer->get_period(timer, &period_100ns)) || period_100ns == 0 ||
	    EFI_ERROR(timer->set_period(timer, 0)))
		return false;
	tick->period_100ns = period_100ns;
	return true;
}

bool
tick_pause(struct tick *tick)
{
	struct timer_arch *timer = firmware_find_protocol(NULL, &guid_timer_arch);
	UINT64 period_100ns = 0;

	tick->period_100ns = 0;
	if (!timer || EFI_ERROR(timer->get_period(timer, &period_100ns)))
		return false;
	return period_100ns == 0 || stop_tick(tick, timer);
}

bool
tick_set_stopped(struct tick *tick, bool stopped)
{
	struct timer_arch *timer = firmware_find_protocol(NULL, &guid_timer_arch);

	if (!timer || stopped == (tick->period_100ns != 0))
		return false;
	if (stopped)
		return stop_tick(tick, timer);
	if (EFI_ERROR(timer->set_period(timer, tick->period_100ns)))
		return false;
	tick->period_100ns = 0;
	return true;
}

uint64_t
tick_get_period_ns(void)
{
	struct timer_arch *timer = firmware_find_protocol(NULL, &guid_timer_arch);
	UINT64 period_100ns = 0;

	return timer && !EFI_ERROR(timer->get_period(timer, &period_100ns)) ? period_100ns * 100 : 0;
}

static VOID EFIAPI
increment_callback_count(EFI_EVENT, VOID *context)
{
	volatile unsigned *callbacks = context;

	(*callbacks)++;
}

bool
tick_is_alive(uint64_t (*tsc)(void), uint64_t bound)
{
	volatile unsigned callbacks = 0;
	uint64_t begin = tsc();
	EFI_EVENT event;

	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER | EVT_NOTIFY_SIGNAL, TPL_CALLBACK, increment_callback_count,
						 (VOID *)&callbacks, &event)))
		return false;
	/* A time of 1 means the next tick. With 0, EDK II would signal the event even without a tick. */
	firmware_boot->SetTimer(event, TimerRelative, 1);
	for (unsigned polls = 0; polls < POLLS_MAX && !callbacks && tsc() - begin < bound; polls++)
		continue;
	firmware_boot->CloseEvent(event);
	return callbacks != 0;
}
