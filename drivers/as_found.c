/* Registers before and after. See as_found.h. */
#include "as_found.h"

#define HPET_PAGE          1024u
#define HPET_CONFIGURATION 0x10u /* IA-PC HPET 1.0a, 2.3.5 */
#define PORT_61            0x61
#define PORT_61_WRITABLE   0x0fu /* bits 4 to 7 are status */
#define PIT_CONTROL        0x43
#define PIT_CHANNEL_2      0x42
#define PIT_READ_STATUS_2  0xe8u /* Intel 8254, read-back command: status of counter 2, no count */
#define PIT_STATUS_MODE    0x3fu /* the rest, OUT and NULL COUNT, changes by itself */
#define PIT_STATUS_ACCESS  0x30u /* never 0 again once a channel was programmed, for 0 is the latch command */
#define RTC_INDEX          0x70
#define RTC_DATA           0x71
#define RTC_A              0x0au /* Motorola MC146818A, register A; its bit 7, UIP, changes by itself */
#define RTC_A_WRITABLE     0x7fu
#define RTC_B              0x0bu
#define RTC_RESTING        0x0du
#define RTC_NMI            0x80u
#define PIC_MASTER_MASK    0x21
#define PIC_SLAVE_MASK     0xa1

void
as_found_add(struct as_found *registers, const char *name, uint64_t value)
{
	if (registers->count == AS_FOUND_MAX)
		return;
	registers->registers[registers->count].name = name;
	registers->registers[registers->count++].value = value;
}

static uint8_t
rtc_register(uint8_t nmi, uint8_t index)
{
	hw_out8(RTC_INDEX, nmi | index);
	return hw_in8(RTC_DATA);
}

/* A channel that was never programmed counts as one whose bytes are read low, then high. */
static uint8_t
pit_mode(void)
{
	uint8_t status;

	hw_out8(PIT_CONTROL, PIT_READ_STATUS_2);
	status = hw_in8(PIT_CHANNEL_2) & PIT_STATUS_MODE;
	return status & PIT_STATUS_ACCESS ? status : status | PIT_STATUS_ACCESS;
}

static void
add_rtc(struct as_found *registers)
{
	uint8_t nmi = hw_in8(RTC_INDEX) & RTC_NMI;

	as_found_add(registers, "RTC register A", rtc_register(nmi, RTC_A) & RTC_A_WRITABLE);
	as_found_add(registers, "RTC register B", rtc_register(nmi, RTC_B));
	rtc_register(nmi, RTC_RESTING);
}

void
as_found_read(struct as_found *registers, const struct platform *platform)
{
	const struct acpi_hpet *hpet = &platform->acpi.hpet;
	uint64_t saved = hw_interrupts_mask();

	registers->count = 0;
	if (hpet->found && hpet->base && hw_is_mapped(hpet->base, HPET_PAGE))
		as_found_add(registers, "the HPET's configuration",
			     hw_read32(hpet->base + HPET_CONFIGURATION));
	as_found_add(registers, "port 61h", hw_in8(PORT_61) & PORT_61_WRITABLE);
	as_found_add(registers, "the mode of PIT channel 2", pit_mode());
	if (!(platform->acpi.fadt.found && platform->acpi.fadt.cmos_rtc_absent))
		add_rtc(registers);
	as_found_add(registers, "the mask of the first PIC", hw_in8(PIC_MASTER_MASK));
	as_found_add(registers, "the mask of the second PIC", hw_in8(PIC_SLAVE_MASK));
	hw_interrupts_restore(saved);
}

size_t
as_found_difference(const struct as_found *before, const struct as_found *after)
{
	size_t i = 0;

	while (i < before->count && i < after->count &&
	       before->registers[i].value == after->registers[i].value)
		i++;
	return i;
}
