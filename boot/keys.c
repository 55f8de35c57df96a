/* Keys by the firmware's console. See keys.h. */
#include "keys.h"

#define SCAN         0x100u
#define POLL_US      30000
#define TICKS_PER_US 10     /* UEFI 2.10, 7.1.7: timers count 100 ns */
#define PROOF_US     (10 * POLL_US)

/* A firmware whose own tick is dead would wait for ever: then nobody waits for it. */
void
keys_open(struct keys *keys)
{
	keys->tick = NULL;
	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &keys->tick))) {
		keys->tick = NULL;
		return;
	}
	if (EFI_ERROR(firmware_boot->SetTimer(keys->tick, TimerPeriodic, POLL_US * TICKS_PER_US))) {
		keys_close(keys);
		return;
	}
	firmware_boot->Stall(PROOF_US);
	if (firmware_boot->CheckEvent(keys->tick) != EFI_SUCCESS)
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
keys_next(unsigned *key)
{
	SIMPLE_INPUT_INTERFACE *input = firmware_system->ConIn;
	EFI_INPUT_KEY stroke;

	if (!input || EFI_ERROR(input->ReadKeyStroke(input, &stroke)))
		return false;
	*key = stroke.UnicodeChar ? stroke.UnicodeChar : SCAN + stroke.ScanCode;
	return true;
}

void
keys_wait(struct keys *keys)
{
	UINTN which;

	if (!keys->tick || EFI_ERROR(firmware_boot->WaitForEvent(1, &keys->tick, &which)))
		firmware_boot->Stall(POLL_US);
}
