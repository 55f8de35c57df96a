/* Reads keys from the firmware's console. See keys.h. */
#include "console/keys.h"

#include "hw/hw.h"
#include "render/screen/screen.h"
#include "uefi/firmware/uefi.h"

#define POLL_US      30000
#define TICKS_PER_US 10    /* UEFI 2.10, 7.1.7: timers count units of 100 ns */
/* number of polls of the timer event between two reads of the keyboard, because a read takes some ms */
#define POLLS        10000
/*
 * Maximum number of keys that keys_discard_all() discards. EDK II stores 256 keys of a PS/2 keyboard
 * (KEYBOARD_EFI_KEY_MAX_COUNT).
 */
#define KEPT_MAX     1024

void
keys_open(struct keys *keys)
{
	*keys = (struct keys){ .tick = NULL };
	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &keys->tick)))
		keys->tick = NULL;
	else if (EFI_ERROR(firmware_boot->SetTimer(keys->tick, TimerPeriodic, POLL_US * TICKS_PER_US)))
		keys_close(keys);
}

void
keys_close(struct keys *keys)
{
	if (keys->tick)
		firmware_boot->CloseEvent(keys->tick);
	keys->tick = NULL;
}

bool
keys_read_next(unsigned *key)
{
	SIMPLE_INPUT_INTERFACE *input = firmware_system->ConIn;
	EFI_INPUT_KEY stroke;

	if (!input || EFI_ERROR(input->ReadKeyStroke(input, &stroke)))
		return false;
	*key = stroke.UnicodeChar ? stroke.UnicodeChar : SCREEN_KEY_SCAN + stroke.ScanCode;
	return true;
}

void
keys_discard_all(void)
{
	unsigned key;

	for (size_t i = 0; i < KEPT_MAX && keys_read_next(&key); i++)
		;
}

/*
 * Sleeps only if the firmware's tick was observed. Without a tick, WaitForEvent never returns, and Stall may not return
 * either.
 */
void
keys_wait_for_key(struct keys *keys)
{
	UINTN which;

	if (keys->ticks && !EFI_ERROR(firmware_boot->WaitForEvent(1, &keys->tick, &which)))
		return;
	keys->ticks = false;
	for (unsigned i = 0; i < POLLS && !keys->ticks; i++) {
		hw_pause();
		keys->ticks = keys->tick && firmware_boot->CheckEvent(keys->tick) == EFI_SUCCESS;
	}
}
