/*
 * Reads the WDAT, which describes the board's watchdog: a list of register accesses for each action. The layout is from
 * Microsoft's "Hardware Watchdog Timers Design Specification" (2006), sections 3 and 4. Linux 6.1 has the same layout
 * in include/acpi/actbl3.h, struct acpi_table_wdat.
 */
#include "acpi/acpi_internal.h"

#define WDAT_PERIOD    48u /* offset of the duration in ms of one count of the countdown */
#define WDAT_COUNT_MAX 52u
#define WDAT_FLAGS     60u
#define WDAT_ENTRIES   64u /* offset of the number of entries */
#define WDAT_SIZE      68u /* offset of the first entry */
#define FLAG_ENABLED   1u

/* Offsets of the fields in an entry. */
#define ENTRY_ACTION       0u
#define ENTRY_INSTRUCTION  1u
#define ENTRY_SPACE        4u
#define ENTRY_WIDTH        5u
#define ENTRY_SHIFT        6u
/* offset of the access size: 1, 2 or 3 for 8, 16 or 32 bits, or 0 for the register's width */
#define ENTRY_ACCESS       7u
#define ENTRY_ADDRESS      8u
#define ENTRY_VALUE       16u
#define ENTRY_MASK        20u
#define ENTRY_SIZE        24u

static uint8_t
get_access_bits(const struct acpi_table *table, size_t entry)
{
	uint64_t access = acpi_read_field(table, entry + ENTRY_ACCESS, 1);

	if (!access)
		return (uint8_t)acpi_read_field(table, entry + ENTRY_WIDTH, 1);
	return access <= 3 ? (uint8_t)(8u << (access - 1)) : 0;
}

static struct acpi_watchdog_entry
read_watchdog_entry(const struct acpi_table *table, size_t at)
{
	return (struct acpi_watchdog_entry){
		.action = (uint8_t)acpi_read_field(table, at + ENTRY_ACTION, 1),
		.instruction = (uint8_t)acpi_read_field(table, at + ENTRY_INSTRUCTION, 1),
		.space = (uint8_t)acpi_read_field(table, at + ENTRY_SPACE, 1),
		.bits = get_access_bits(table, at),
		.shift = (uint8_t)acpi_read_field(table, at + ENTRY_SHIFT, 1),
		.address = acpi_read_field(table, at + ENTRY_ADDRESS, sizeof(uint64_t)),
		.value = (uint32_t)acpi_read_field(table, at + ENTRY_VALUE, sizeof(uint32_t)),
		.mask = (uint32_t)acpi_read_field(table, at + ENTRY_MASK, sizeof(uint32_t)),
	};
}

bool
acpi_read_wdat(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	const struct acpi_table available = { bytes, length };
	struct acpi_watchdog *watchdog = &facts->watchdog;
	struct acpi_table table;

	if (!acpi_validate_table(&available, "WDAT", "WDAT", &table, facts))
		return false;
	uint64_t count = acpi_read_field(&table, WDAT_ENTRIES, sizeof(uint32_t));

	if (table.length < WDAT_SIZE || count > (table.length - WDAT_SIZE) / ENTRY_SIZE || count > ACPI_WATCHDOG_MAX)
		return acpi_add_problem(facts, "WDAT: its %zu bytes are too few for its %lu entries, or it has more than %u entries",
					table.length, (unsigned long)count, ACPI_WATCHDOG_MAX);
	watchdog->found = true;
	watchdog->enabled = acpi_read_field(&table, WDAT_FLAGS, 1) & FLAG_ENABLED;
	watchdog->period_ms = (uint32_t)acpi_read_field(&table, WDAT_PERIOD, sizeof(uint32_t));
	watchdog->count_max = (uint32_t)acpi_read_field(&table, WDAT_COUNT_MAX, sizeof(uint32_t));
	watchdog->entry_count = (size_t)count;
	for (size_t i = 0; i < watchdog->entry_count; i++)
		watchdog->entries[i] = read_watchdog_entry(&table, WDAT_SIZE + i * ENTRY_SIZE);
	return true;
}
