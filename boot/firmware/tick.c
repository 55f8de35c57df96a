/* The firmware's timer tick. See tick.h. */
#include "tick.h"

#include "firmware.h"

/* PI 1.7, volume 2, 12.13; GNU-EFI does not have it. */
struct timer_arch {
	EFI_STATUS (EFIAPI *register_handler)(struct timer_arch *timer, VOID *handler);
	EFI_STATUS (EFIAPI *set_period)(struct timer_arch *timer, UINT64 period_100ns);
	EFI_STATUS (EFIAPI *get_period)(struct timer_arch *timer, UINT64 *period_100ns);
	EFI_STATUS (EFIAPI *interrupt)(struct timer_arch *timer);
};

static const EFI_GUID guid_timer_arch = { 0x26baccb3, 0x6f42, 0x11d4,
	{ 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };

static bool
stop(struct tick *tick, struct timer_arch *timer)
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
	struct timer_arch *timer = firmware_protocol(NULL, &guid_timer_arch);
	UINT64 period_100ns = 0;

	tick->period_100ns = 0;
	if (!timer || EFI_ERROR(timer->get_period(timer, &period_100ns)))
		return false;
	return period_100ns == 0 || stop(tick, timer);
}

bool
tick_quiet(struct tick *tick, bool quiet)
{
	struct timer_arch *timer = firmware_protocol(NULL, &guid_timer_arch);

	if (!timer || quiet == (tick->period_100ns != 0))
		return false;
	if (quiet)
		return stop(tick, timer);
	if (EFI_ERROR(timer->set_period(timer, tick->period_100ns)))
		return false;
	tick->period_100ns = 0;
	return true;
}
