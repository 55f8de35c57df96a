/*
 * Programs the board's watchdog. See watchdog.h. The numbers of actions and instructions are from Microsoft's "Hardware
 * Watchdog Timers Design Specification" (2006), section 4. Linux 6.1 has the same numbers in
 * drivers/watchdog/wdat_wdt.c.
 */
#include "watchdog/watchdog.h"

#include "hw/hw.h"

/* time from the last feed to the reset in s; UEFI's own watchdog uses the same time (UEFI 2.10, 3.1.2) */
#define SECONDS_WANTED 300u
#define SECONDS_MIN    30u  /* our minimum of the time to the reset in s, because seconds may pass between two feeds */

enum action {
	RESET = 1,
	GET_COUNTDOWN = 5,
	SET_COUNTDOWN = 6,
	GET_RUNNING = 8,
	SET_RUNNING = 9,
	SET_STOPPED = 11,
	SET_REBOOT = 17,
};

enum instruction {
	READ_VALUE = 0,
	READ_COUNTDOWN = 1,
	WRITE_VALUE = 2,
	WRITE_COUNTDOWN = 3,
	PRESERVE = 0x80, /* flag of both write instructions: bits outside the mask keep their value */
};

static bool
is_entry_supported(const struct acpi_watchdog_entry *entry)
{
	bool io = entry->space == ACPI_SPACE_IO && entry->address <= UINT16_MAX && (entry->bits == 8 || entry->bits == 16);
	bool memory = entry->space == ACPI_SPACE_MEMORY && entry->address && entry->address % sizeof(uint32_t) == 0 &&
		      entry->bits == 32 && hw_is_mapped(entry->address, sizeof(uint32_t));

	return (io || memory) && entry->shift < entry->bits && (entry->instruction & ~PRESERVE) <= WRITE_COUNTDOWN;
}

static uint32_t
read_register(const struct acpi_watchdog_entry *entry)
{
	if (entry->space == ACPI_SPACE_MEMORY)
		return hw_read32(entry->address);
	return entry->bits == 8 ? hw_in8((uint16_t)entry->address) : hw_in16((uint16_t)entry->address);
}

static void
write_register(const struct acpi_watchdog_entry *entry, uint32_t value)
{
	if (entry->space == ACPI_SPACE_MEMORY)
		hw_write32(entry->address, value);
	else if (entry->bits == 8)
		hw_out8((uint16_t)entry->address, (uint8_t)value);
	else
		hw_out16((uint16_t)entry->address, (uint16_t)value);
}

/* Writes FIELD to the bits of the entry's register that the entry's mask selects. */
static void
write_field(const struct acpi_watchdog_entry *entry, uint32_t field)
{
	uint32_t value = (field & entry->mask) << entry->shift;

	if (entry->instruction & PRESERVE)
		value |= read_register(entry) & ~(entry->mask << entry->shift);
	write_register(entry, value);
}

/*
 * Executes one entry. An entry that writes the countdown writes COUNT. Returns the result if the entry reads a
 * register, otherwise 0.
 */
static uint32_t
execute_entry(const struct acpi_watchdog_entry *entry, uint32_t count)
{
	switch (entry->instruction & ~PRESERVE) {
	case READ_VALUE:
		return (read_register(entry) >> entry->shift & entry->mask) == entry->value;
	case READ_COUNTDOWN:
		return read_register(entry) >> entry->shift & entry->mask;
	case WRITE_VALUE:
		write_field(entry, entry->value);
		return 0;
	default:
		write_field(entry, count);
		return 0;
	}
}

/* Executes all entries of ACTION in their order. Returns the result of the last entry. */
static uint32_t
run_action(const struct acpi_watchdog *table, enum action action, uint32_t count)
{
	uint32_t result = 0;

	for (size_t i = 0; i < table->entry_count; i++)
		if (table->entries[i].action == action)
			result = execute_entry(&table->entries[i], count);
	return result;
}

/* Returns the first entry of ACTION, or NULL. */
static const struct acpi_watchdog_entry *
find_action_entry(const struct acpi_watchdog *table, enum action action)
{
	for (size_t i = 0; i < table->entry_count; i++)
		if (table->entries[i].action == action)
			return &table->entries[i];
	return NULL;
}

/* Returns true if the table has entries for ACTION and all of them are supported. */
static bool
supports_action(const struct acpi_watchdog *table, enum action action)
{
	size_t found = 0;

	for (size_t i = 0; i < table->entry_count; i++) {
		if (table->entries[i].action != action)
			continue;
		if (!is_entry_supported(&table->entries[i]))
			return false;
		found++;
	}
	return found > 0;
}

const char *
watchdog_arm(struct watchdog *watchdog, const struct acpi_watchdog *table)
{
	static const enum action needed[] = { RESET, GET_COUNTDOWN, SET_COUNTDOWN, GET_RUNNING, SET_RUNNING, SET_STOPPED };
	uint64_t count = table->period_ms ? UINT64_C(1000) * SECONDS_WANTED / table->period_ms : 0;

	*watchdog = (struct watchdog){ .table = NULL };
	if (!table->enabled)
		return "the WDAT marks the watchdog as disabled";
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!supports_action(table, needed[i]))
			return "the WDAT lacks an action that arming needs, or has registers that are not supported";
	count = count < table->count_max ? count : table->count_max;
	watchdog->seconds = (uint32_t)(count * table->period_ms / 1000);
	if (watchdog->seconds < SECONDS_MIN)
		return "the watchdog can't count to 30 s";
	if (run_action(table, GET_RUNNING, 0))
		return "it runs already";
	watchdog->table = table;
	watchdog->count_found = run_action(table, GET_COUNTDOWN, 0);
	run_action(table, SET_COUNTDOWN, (uint32_t)count);
	if (supports_action(table, SET_REBOOT)) {
		watchdog->reboot = find_action_entry(table, SET_REBOOT);
		watchdog->reboot_found = read_register(watchdog->reboot);
		run_action(table, SET_REBOOT, 0);
	}
	run_action(table, SET_RUNNING, 0);
	watchdog_feed(watchdog);
	return NULL;
}

void
watchdog_feed(const struct watchdog *watchdog)
{
	if (watchdog->table)
		run_action(watchdog->table, RESET, 0);
}

void
watchdog_disarm(struct watchdog *watchdog)
{
	if (!watchdog->table)
		return;
	run_action(watchdog->table, SET_STOPPED, 0);
	run_action(watchdog->table, SET_COUNTDOWN, watchdog->count_found);
	if (watchdog->reboot)
		write_register(watchdog->reboot, watchdog->reboot_found);
	watchdog->table = NULL;
}
