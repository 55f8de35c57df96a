/* Finds an SMBIOS entry point, and reads the table that it points to. See smbios.h. */
#include "smbios/smbios_internal.h"

#include "base/text.h"

#define TABLE_LENGTH_MAX (256u * 1024) /* our limit in bytes: the rest of a longer table is not read */
/* No limit on the number of structures. The table's length or a structure of type 127 ends the table. */
#define COUNT_ANY        SIZE_MAX

/* Offsets of the fields in both kinds of entry points: DSP0134 3.7, 5.2.1 and 5.2.2. */
static const struct entry {
	const char *anchor;
	uint8_t size;      /* minimum size of the entry point in bytes */
	uint8_t length; /* offset of the length byte; the checksum covers as many bytes as this byte states */
	uint8_t table_length, table_length_size;
	uint8_t address, address_size;
	uint8_t count;     /* offset of the number of structures (2 bytes); 0 if the entry point has no such field */
} entry_3 = { "_SM3_", 0x18, 0x06, 0x0c, 4, 0x10, 8, 0 }, entry_2 = { "_SM_", 0x1f, 0x05, 0x16, 2, 0x18, 4, 0x1c };

uint64_t
smbios_read_field(struct smbios_bytes from, size_t offset, size_t size)
{
	uint64_t value = 0;

	if (offset > from.length || size > from.length - offset)
		return 0;
	for (size_t i = size; i > 0; i--)
		value = value << 8 | from.bytes[offset + i - 1];
	return value;
}

bool
smbios_set_problem(struct smbios_facts *facts, const char *format, ...)
{
	va_list arguments;

	if (facts->problem[0])
		return false;
	struct text text = text_start(facts->problem, sizeof(facts->problem));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	return false;
}

/* Returns true if the entry point is complete and valid, otherwise sets the problem. */
static bool
is_entry_point_valid(const struct entry *entry, struct smbios_bytes found, struct smbios_facts *facts)
{
	size_t length = (size_t)smbios_read_field(found, entry->length, 1);
	uint8_t sum = 0;

	for (size_t i = 0; i < length && i < found.length; i++)
		sum = (uint8_t)(sum + found.bytes[i]);
	for (size_t i = 0; entry->anchor[i]; i++)
		if (found.bytes[i] != (uint8_t)entry->anchor[i])
			return smbios_set_problem(facts, "SMBIOS: the entry point does not start with %s", entry->anchor);
	if (length < entry->size || length > found.length)
		return smbios_set_problem(facts, "SMBIOS: the entry point %s has the wrong length %zu", entry->anchor, length);
	if (sum != 0)
		return smbios_set_problem(facts, "SMBIOS: the checksum of the entry point %s is off by %xh", entry->anchor, sum);
	return true;
}

/*
 * Returns the entry point at ADDRESS, with the length that the entry point states. If fewer bytes can be read, returns
 * the minimum size as the length.
 */
static struct smbios_bytes
fetch_entry_point(const struct smbios_memory *memory, const struct entry *entry, uint64_t address)
{
	struct smbios_bytes found = { memory->at(memory->context, address, entry->size), entry->size };
	size_t length = found.bytes ? found.bytes[entry->length] : 0;
	const uint8_t *whole = length > entry->size ? memory->at(memory->context, address, length) : NULL;

	return whole ? (struct smbios_bytes){ whole, length } : found;
}

/* Reads the table of the entry point at ADDRESS. Returns false if the entry point cannot be used. */
static bool
read_entry_point(const struct smbios_memory *memory, const struct entry *entry, uint64_t address,
		 struct smbios_facts *facts)
{
	struct smbios_bytes found, table;
	uint64_t at;

	if (address == 0)
		return false;
	found = fetch_entry_point(memory, entry, address);
	if (!found.bytes)
		return smbios_set_problem(facts, "SMBIOS: nothing can be read at the entry point's address, %lxh", address);
	if (!is_entry_point_valid(entry, found, facts))
		return false;
	at = smbios_read_field(found, entry->address, entry->address_size);
	table.length = (size_t)smbios_read_field(found, entry->table_length, entry->table_length_size);
	if (table.length > TABLE_LENGTH_MAX)
		table.length = TABLE_LENGTH_MAX;
	table.bytes = at && table.length ? memory->at(memory->context, at, table.length) : NULL;
	if (!table.bytes)
		return smbios_set_problem(facts, "SMBIOS: the table, %zu bytes at %lxh, can't be read", table.length, at);
	smbios_read_table(table, entry->count ? (size_t)smbios_read_field(found, entry->count, 2) : COUNT_ANY, facts);
	return true;
}

void
smbios_read_facts(const struct smbios_memory *memory, uint64_t at_3, uint64_t at_2, struct smbios_facts *facts)
{
	*facts = (struct smbios_facts){ 0 };
	facts->found = read_entry_point(memory, &entry_3, at_3, facts) ||
		       read_entry_point(memory, &entry_2, at_2, facts);
}
