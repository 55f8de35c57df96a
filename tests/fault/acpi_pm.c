/*
 * Replaces drivers/clocks/acpi_pm.c in a test image with a PM timer whose reads cause an exception. QEMU's fw_cfg item
 * `opt/baretick/fault` has three words: the kind of the fault, the APIC id of the faulty core, and the time of the
 * fault. The time is a number of batches of samples, `open` (when the clock is opened), or `together` (while all cores
 * read). For example, `gp 0 100` causes #GP on core 0 after 100 batches.
 *
 * These kinds cause an exception:
 * `gp`, `pf` and `ud`: the exception of this name.
 * `vo`: a call to memory that does not exist. `st`: a call to the stack. `fw`: a function of the firmware faults.
 * `ha`: an exception in a handler of the local APIC's timer. See timer_lapic.c.
 * `is`: a page fault with firmware that has a separate stack for #PF. See guard.c.
 * `ea`: an exception before the application starts, only in the boot without UEFI. See bare/take_over.c.
 *
 * These kinds cause no exception:
 * `no`: the read never ends.
 * `be`: the application never gets as far as its options. See guard.c.
 * `lo`: no memory below 1 MiB is free, which the start of cores needs.
 * `ma`: the MADT lists another core in place of the boot core.
 */
#define acpi_pm_driver acpi_pm_well
#include "../../drivers/clocks/acpi_pm.c"
#undef acpi_pm_driver

#include "base/text.h"
#include "hw/cpu.h"
#include "hw/fw_cfg.h"

#define ITEM          "opt/baretick/fault"
#define UNMAPPED      UINT64_C(0x0000123456789000)
#define NOT_CANONICAL UINT64_C(0x8000000000000000)
#define TOGETHER      128u /* samples per core while all cores read; equal to SURVEY_CONTENDED_SAMPLES */

extern const struct driver acpi_pm_driver;
/* defined in uefi/missing.c and bare/missing.c */
/* lets a function of the firmware copy a byte from FROM to TO, so that a bad address faults in the firmware's code */
extern void missing_call_firmware_to_copy_byte(void *to, const void *from);
extern void missing_refuse_low_memory(void);                          /* leaves no free memory below 1 MiB */

#define NO_CORE       77u /* an APIC id that no test machine has */

static char kind[3];
static uint32_t core;
static bool on_open, together;
static uint32_t read_elsewhere; /* 1 if any core except the faulty core has read the clock */
static uint64_t batches_left;
static void (*well)(void *device, struct sample *samples, size_t count);

static void
cause_fault(void)
{
	volatile uint8_t on_stack[] = { 0x0f, 0x0b }; /* UD2 */

	switch (kind[0]) {
	case 'v':
		((void (*)(void))(uintptr_t)UNMAPPED)();
		break;
	case 's':
		((void (*)(void))(uintptr_t)on_stack)();
		break;
	case 'f':
		missing_call_firmware_to_copy_byte(kind, (void *)(uintptr_t)UNMAPPED);
		break;
	case 'n':
		for (volatile bool hangs = true; hangs;)
			; /* without PAUSE, which QEMU executes slowly */
		break;
	case 'u':
		__asm__ volatile("ud2");
		break;
	case 'i':
	case 'p':
		(void)*(volatile const uint32_t *)(uintptr_t)UNMAPPED;
		break;
	case 'g':
		(void)*(volatile const uint32_t *)(uintptr_t)NOT_CANONICAL;
	}
}

static void
remove_memory_or_core(const struct platform *platform)
{
	const struct acpi_madt *madt = &platform->acpi.madt;

	switch (kind[0]) {
	case 'l':
		missing_refuse_low_memory();
		break;
	case 'm':
		for (size_t i = 0; i < madt->core_count; i++)
			if (madt->apic_ids[i] == core)
				madt->apic_ids[i] = NO_CORE;
	}
}

static void
sample_or_fault(void *device, struct sample *samples, size_t count)
{
	if (cpu_read_apic_id() != core)
		__atomic_store_n(&read_elsewhere, 1, __ATOMIC_RELEASE);
	else if (together ? __atomic_load_n(&read_elsewhere, __ATOMIC_ACQUIRE) && count == TOGETHER : batches_left-- == 0)
		cause_fault();
	well(device, samples, count);
}

extern bool fault_is_in_handler(void);

bool
fault_is_in_handler(void)
{
	return kind[0] == 'h';
}

static uint64_t
parse_number(const char *digits)
{
	uint64_t value = 0;

	for (; *digits >= '0' && *digits <= '9'; digits++)
		value = value * 10 + (uint64_t)(*digits - '0');
	return value;
}

static void
read_fault_words(void)
{
	char words[32];
	size_t length;

	if (!fw_cfg_read_file(ITEM, words, sizeof(words) - 1, &length) || length < 6 || length >= sizeof(words))
		return;
	words[length] = '\0';
	kind[0] = words[0];
	core = (uint32_t)parse_number(&words[3]);
	for (const char *word = &words[3]; *word; word++)
		if (word[-1] == ' ' && word > &words[3]) {
			on_open = *word == 'o';
			together = *word == 't';
			batches_left = parse_number(word);
		}
}

extern bool fault_needs_separate_pf_stack(void), fault_hangs_at_start(void);

bool
fault_hangs_at_start(void)
{
	return kind[0] == 'b';
}

/*
 * Returns true if the fault's kind is `is`. The firmware then needs a separate stack for #PF. This function is called
 * before the clock is opened, so it reads the fault's words itself.
 */
bool
fault_needs_separate_pf_stack(void)
{
	read_fault_words();
	return kind[0] == 'i';
}

extern bool must_fault_precede_memory_map(void);

/* Returns true if the fault's kind is `ea`, an exception before the memory map is read. */
bool
must_fault_precede_memory_map(void)
{
	read_fault_words();
	return kind[0] == 'e';
}

static void
open_or_fault(const struct platform *platform, struct device *device, struct clock *clocks)
{
	acpi_pm_well.open(platform, device, clocks);
	read_fault_words();
	remove_memory_or_core(platform);
	if (on_open)
		cause_fault();
	well = clocks->sample;
	clocks->sample = sample_or_fault;
}

const struct driver acpi_pm_driver = {
	.clock_count = 1,
	.rows = &acpi_pm_row,
	.open = open_or_fault,
	.close = probe_close,
};
