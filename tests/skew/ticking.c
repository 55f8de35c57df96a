/*
 * Makes a test image with a firmware whose tick uses the HPET, like EDK II's HpetTimerDxe. It does so only if QEMU's
 * fw_cfg item `opt/baretick/tick` exists. Timer 0 of the HPET may interrupt, and every 10 ms the main counter is
 * stopped for 100 us. EFI_TIMER_ARCH_PROTOCOL can stop this tick. If the item has the word `absent`, this protocol
 * does not exist. If it has the word `dead`, a stopped tick cannot be restarted. When the run returns, ticking.c ends
 * the machine, and the exit value shows whether the tick was stopped and restored.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <efi.h>

#include "clocks/hpet_registers.h"
#include "hw/fw_cfg.h"
#include "hw/hw.h"
#include "skew.h"

#define ITEM         "opt/baretick/tick"
#define WORD_SIZE    16
#define HPET         UINT64_C(0xfed00000)
#define TICK_100NS   100000
/* duration of each stop of the counter, in ticks of QEMU's emulated TSC of 1 GHz */
#define STOPPED_TSC  UINT64_C(100000)
#define PORT_EXIT    0x501            /* QEMU's isa-debug-exit, as in skew.c */
#define EXIT_AS_FOUND 0x22
#define EXIT_NOT_PUT_BACK 0x23

struct timer_arch {
	EFI_STATUS (EFIAPI *register_handler)(struct timer_arch *timer, VOID *handler);
	EFI_STATUS (EFIAPI *set_period)(struct timer_arch *timer, UINT64 period_100ns);
	EFI_STATUS (EFIAPI *get_period)(struct timer_arch *timer, UINT64 *period_100ns);
	EFI_STATUS (EFIAPI *interrupt)(struct timer_arch *timer);
};

typedef EFI_STATUS entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* The first function of the image. Its name depends on the version of GNU-EFI. */
entry __wrap__entry, __real__entry, __wrap_efi_main, __real_efi_main;

static EFI_GUID guid_timer_arch = { 0x26baccb3, 0x6f42, 0x11d4, { 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };
static EFI_STATUS (EFIAPI *set_period_as_found)(struct timer_arch *timer, UINT64 period_100ns);
static unsigned stops, starts;
static bool dies;

static bool
is_timer_armed(void)
{
	return hw_read32(HPET + HPET_TIMER(0)) & HPET_TN_INT_ENB;
}

static void
set_timer_armed(bool on)
{
	uint32_t timer = hw_read32(HPET + HPET_TIMER(0)) & ~HPET_TN_INT_ENB;

	hw_write32(HPET + HPET_TIMER(0), on ? timer | HPET_TN_INT_ENB : timer);
}

static VOID EFIAPI
handle_tick(EFI_EVENT event, VOID *context)
{
	uint64_t begin = hw_tsc();

	if (!is_timer_armed())
		return;
	hw_write32(HPET + HPET_CONFIGURATION, 0);
	while (hw_tsc() - begin < STOPPED_TSC)
		hw_pause();
	hw_write32(HPET + HPET_CONFIGURATION, HPET_ENABLE_CNF);
}

static EFI_STATUS EFIAPI
set_period(struct timer_arch *timer, UINT64 period_100ns)
{
	stops += period_100ns == 0;
	starts += period_100ns != 0;
	set_timer_armed(period_100ns != 0);
	if (dies && period_100ns)
		return EFI_SUCCESS;
	return set_period_as_found(timer, period_100ns);
}

static void
remove_timer_protocol(EFI_BOOT_SERVICES *boot, struct timer_arch *timer)
{
	EFI_HANDLE *handles;
	UINTN count;

	if (boot->LocateHandleBuffer(ByProtocol, &guid_timer_arch, NULL, &count, &handles) == EFI_SUCCESS)
		boot->UninstallProtocolInterface(handles[0], &guid_timer_arch, timer);
}

static void
start_ticking(EFI_BOOT_SERVICES *boot, struct timer_arch *timer)
{
	EFI_EVENT event;

	set_period_as_found = timer->set_period;
	timer->set_period = set_period;
	hw_write32(HPET + HPET_CONFIGURATION, HPET_ENABLE_CNF);
	set_timer_armed(true);
	boot->CreateEvent(EVT_TIMER | EVT_NOTIFY_SIGNAL, TPL_CALLBACK, handle_tick, NULL, &event);
	boot->SetTimer(event, TimerPeriodic, TICK_100NS);
}

static EFI_STATUS
run_image_with_ticking(EFI_HANDLE image, EFI_SYSTEM_TABLE *system, entry *real)
{
	EFI_BOOT_SERVICES *boot = system->BootServices;
	struct timer_arch *timer = NULL;
	char word[WORD_SIZE];
	EFI_STATUS status;
	size_t length = 0;

	skew_set_cpuid_leaves();
	skew_break_firmware_time(system);
	if (!fw_cfg_read_file(ITEM, word, sizeof(word), &length))
		return real(image, system);
	boot->LocateProtocol(&guid_timer_arch, NULL, (VOID **)&timer);
	start_ticking(boot, timer);
	dies = word[0] == 'd';
	if (word[0] == 'a')
		remove_timer_protocol(boot, timer);
	status = real(image, system);
	hw_out8(PORT_EXIT, is_timer_armed() && stops && stops == starts ? EXIT_AS_FOUND : EXIT_NOT_PUT_BACK);
	return status;
}

EFI_STATUS
__wrap__entry(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	return run_image_with_ticking(image, system, __real__entry);
}

EFI_STATUS
__wrap_efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	return run_image_with_ticking(image, system, __real_efi_main);
}
