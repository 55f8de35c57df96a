/*
 * Makes a test image with a firmware whose own time is wrong. The words of QEMU's fw_cfg item
 * `opt/baretick/firmware` select the faults. Each word replaces a service in the firmware's table of services.
 *
 *   fast         the firmware's second lasts half a second, for Stall(), the timer's ticks and GetTime()
 *   short        Stall() returns after a fifth of the requested time
 *   late         Stall() returns 55 ms late
 *   back         each fourth GetTime() is 3 s too low, and each fourth GetNextMonotonicCount() repeats a value
 *   dead         timer events never come
 *   hang         Stall(0) never returns; the firmware's own drivers, which read the stick, wait for longer times
 *   stamp=N      EFI_TIMESTAMP_PROTOCOL states N Hz; its counter has a quarter of the TSC's rate
 *   coreboot=N   coreboot's table of time stamps states N MHz
 *   fpdt=N       an ACPI table FPDT states that the image started N ms after the reset
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <efi.h>

#include "hw/fw_cfg.h"
#include "hw/hw.h"
#include "skew.h"

#define ITEM       "opt/baretick/firmware"
#define WORDS_SIZE 128
#define TICK_100NS 100000 /* the stated tick, 10 ms */
#define TSC_HZ     UINT64_C(1000000000) /* with QEMU's -icount */
#define LATE_US    55000
#define BACK_S     3
#define BACK_EACH  4
#define NS_PER_MS  1000000
#define COREBOOT   UINT64_C(0x500) /* memory below 1 MiB that OVMF does not use */
#define FORWARDED  UINT64_C(0x600)
#define STAMPS     UINT64_C(0x700)

struct timer_arch {
	EFI_STATUS (EFIAPI *register_handler)(struct timer_arch *timer, VOID *handler);
	EFI_STATUS (EFIAPI *set_period)(struct timer_arch *timer, UINT64 period_100ns);
	EFI_STATUS (EFIAPI *get_period)(struct timer_arch *timer, UINT64 *period_100ns);
	EFI_STATUS (EFIAPI *interrupt)(struct timer_arch *timer);
};

struct acpi_protocol {
	EFI_STATUS (EFIAPI *install)(struct acpi_protocol *acpi, VOID *table, UINTN size, UINTN *key);
	VOID *uninstall;
};

static EFI_GUID guid_timer_arch = { 0x26baccb3, 0x6f42, 0x11d4, { 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };
static EFI_GUID guid_timestamp = { 0xafbfde41, 0x2e6e, 0x4262, { 0xba, 0x65, 0x62, 0xb9, 0x23, 0x6e, 0x54, 0x95 } };
static EFI_GUID guid_acpi = { 0xffe06bdd, 0x6107, 0x46a6, { 0x7b, 0xb2, 0x5a, 0x9c, 0x7e, 0xc5, 0x27, 0x5c } };

static char words[WORDS_SIZE];
static EFI_BOOT_SERVICES *boot_services;
static EFI_STALL stall_as_found;
static EFI_SET_TIMER set_timer_as_found;
static EFI_GET_TIME get_time_as_found;
static uint64_t begin_tsc, stamp_hz;
static unsigned time_calls, count_calls;

/* Returns the text after WORD, or NULL if the item lacks it. */
static const char *
find_word(const char *word)
{
	for (const char *at = words; *at; at++) {
		size_t same = 0;

		while (word[same] && at[same] == word[same])
			same++;
		if (!word[same] && (at == words || at[-1] == ' '))
			return at + same;
	}
	return NULL;
}

static uint64_t
read_number(const char *digits)
{
	uint64_t number = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		number = number * 10 + (uint64_t)(*digits - '0');
	return number;
}

static EFI_STATUS EFIAPI
stall(UINTN us)
{
	while (!us && find_word("hang"))
		hw_pause();
	if (find_word("short"))
		us /= 5;
	if (find_word("fast"))
		us /= 2;
	return stall_as_found(find_word("late") ? us + LATE_US : us);
}

static EFI_STATUS EFIAPI
set_timer(EFI_EVENT event, EFI_TIMER_DELAY type, UINT64 time_100ns)
{
	if (find_word("dead") && type != TimerCancel)
		return EFI_SUCCESS;
	return set_timer_as_found(event, type, find_word("fast") ? time_100ns / 2 : time_100ns);
}

static EFI_STATUS EFIAPI
get_period(struct timer_arch *timer, UINT64 *period_100ns)
{
	*period_100ns = TICK_100NS;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_time(EFI_TIME *now, EFI_TIME_CAPABILITIES *able)
{
	EFI_STATUS status = get_time_as_found(now, able);
	static uint64_t begin_s;
	uint64_t s = now->Hour * 3600u + now->Minute * 60u + now->Second;

	begin_s = begin_s ? begin_s : s;
	if (find_word("fast"))
		s = begin_s + 2 * (hw_tsc() - begin_tsc) / TSC_HZ;
	if (find_word("back") && ++time_calls % BACK_EACH == 0)
		s -= BACK_S;
	now->Hour = (UINT8)(s / 3600);
	now->Minute = (UINT8)(s / 60 % 60);
	now->Second = (UINT8)(s % 60);
	return status;
}

static EFI_STATUS EFIAPI
get_next_monotonic_count(UINT64 *count)
{
	*count = 1000 + count_calls - (count_calls % BACK_EACH == BACK_EACH - 1);
	count_calls++;
	return EFI_SUCCESS;
}

static UINT64 EFIAPI
get_timestamp(VOID)
{
	return hw_tsc() / 4;
}

static EFI_STATUS EFIAPI
get_properties(UINT64 *properties)
{
	properties[0] = stamp_hz;
	properties[1] = UINT64_MAX;
	return EFI_SUCCESS;
}

static struct {
	UINT64 (EFIAPI *timestamp)(VOID);
	EFI_STATUS (EFIAPI *properties)(UINT64 *properties);
} stamp = { get_timestamp, get_properties };

static void
write_number(uint8_t *bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* Returns the Internet checksum of COUNT numbers of 32 bits. */
static uint32_t
calculate_checksum(const uint32_t *numbers, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (numbers[i] & 0xffff) + (numbers[i] >> 16);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* Writes a header of coreboot's tables with one record, whose tag is TAG and whose address is POINTER, at ADDRESS. */
static void
write_coreboot_table(uint64_t address, uint32_t tag, uint64_t pointer)
{
	uint32_t numbers[] = { 0x4f49424c, 24, 0, 16, 0, 1, tag, 16, (uint32_t)pointer, 0 };

	numbers[4] = calculate_checksum(numbers + 6, 4);
	numbers[2] = calculate_checksum(numbers, 6);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		hw_write32(address + 4 * i, numbers[i]);
}

/* As coreboot does it: a table in low memory forwards to another one, which names the time stamps. */
static void
write_coreboot_stamps(uint64_t mhz)
{
	write_coreboot_table(COREBOOT, 0x11, FORWARDED);
	write_coreboot_table(FORWARDED, 0x16, STAMPS);
	hw_write32(STAMPS + 8, 100 | (uint32_t)mhz << 16);
}

/* Lets the firmware install an FPDT whose boot record is in this image's memory. */
static void
install_fpdt(uint64_t ms)
{
	static uint8_t fpdt[52] = { 'F', 'P', 'D', 'T', sizeof(fpdt), [8] = 1, [10] = 'B', [36] = 0, 0, 16, 1 };
	static uint8_t boot[56] = { 'F', 'B', 'P', 'T', sizeof(boot), [8] = 2, 0, 48, 2 };
	struct acpi_protocol *acpi;
	UINTN key;

	write_number(fpdt + 44, (uint64_t)(uintptr_t)boot, 8);
	write_number(boot + 32, ms * NS_PER_MS, 8);
	if (boot_services->LocateProtocol(&guid_acpi, NULL, (VOID **)&acpi) == EFI_SUCCESS)
		acpi->install(acpi, fpdt, sizeof(fpdt), &key);
}

static void
speed_up_tick(void)
{
	struct timer_arch *timer;

	if (boot_services->LocateProtocol(&guid_timer_arch, NULL, (VOID **)&timer) != EFI_SUCCESS)
		return;
	timer->set_period(timer, TICK_100NS / 2);
	timer->get_period = get_period;
}

void
skew_break_firmware_time(EFI_SYSTEM_TABLE *system)
{
	EFI_HANDLE handle = NULL;
	size_t length = 0;

	if (!fw_cfg_read_file(ITEM, words, WORDS_SIZE - 1, &length))
		return;
	words[length < WORDS_SIZE ? length : 0] = 0;
	boot_services = system->BootServices;
	begin_tsc = hw_tsc();
	stall_as_found = boot_services->Stall;
	set_timer_as_found = boot_services->SetTimer;
	get_time_as_found = system->RuntimeServices->GetTime;
	boot_services->Stall = stall;
	boot_services->SetTimer = set_timer;
	system->RuntimeServices->GetTime = get_time;
	if (find_word("fast"))
		speed_up_tick();
	if (find_word("back"))
		boot_services->GetNextMonotonicCount = get_next_monotonic_count;
	if (find_word("stamp=")) {
		stamp_hz = read_number(find_word("stamp="));
		boot_services->InstallProtocolInterface(&handle, &guid_timestamp, EFI_NATIVE_INTERFACE, &stamp);
	}
	if (find_word("coreboot="))
		write_coreboot_stamps(read_number(find_word("coreboot=")));
	if (find_word("fpdt="))
		install_fpdt(read_number(find_word("fpdt=")));
}
