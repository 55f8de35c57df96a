/* Reads the SMBIOS table's structures, and ignores vendors' placeholders. See smbios_internal.h. */
#include "smbios/smbios_internal.h"

#include "base/text.h"

/* DSP0134 3.7, 6.1.2: a structure starts with a byte for its type, a byte for its length, and a handle. */
#define HEADER_SIZE   4u
#define HEADER_LENGTH 1u
#define TYPE_END      127u /* DSP0134 3.7, clause 7: End-of-Table, which may come before the table's last byte */

/*
 * DSP0134 3.7, 7.1 to 7.3: strings of the BIOS, the system and the baseboard. The byte at OFFSET is the string's
 * number.
 */
static const struct wanted {
	uint8_t type, offset;
	uint16_t place; /* offset in struct smbios_facts of the field for the string */
} wanted[] = {
	{ 0, 0x04, offsetof(struct smbios_facts, bios_vendor) },
	{ 0, 0x05, offsetof(struct smbios_facts, bios_version) },
	{ 0, 0x08, offsetof(struct smbios_facts, bios_date) },
	{ 1, 0x04, offsetof(struct smbios_facts, vendor) },
	{ 1, 0x05, offsetof(struct smbios_facts, product) },
	{ 1, 0x07, offsetof(struct smbios_facts, serial) },
	{ 2, 0x04, offsetof(struct smbios_facts, board_vendor) },
	{ 2, 0x05, offsetof(struct smbios_facts, board_product) },
};

/* Placeholders that vendors leave in firmware, in lower case. */
static const char *const placeholders[] = {
	"to be filled by o.e.m", "default string", "default", "system serial number", "serial number", "system manufacturer",
	"system product name", "system name", "base board manufacturer", "base board product name", "not specified",
	"not applicable", "not available", "not defined", "none", "n/a", "na", "unknown", "empty", "invalid", "oem", "o.e.m",
	"type1productconfigid", "123456789", "0123456789", "1234567890", "12345678",
};

struct structure {
	struct smbios_bytes formatted; /* fixed part of the structure, with its header */
	/* the structure's strings, each with its final 0, but without the second 0 after the last string */
	struct smbios_bytes strings;
};

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns true if WORDS equals PLACEHOLDER in upper or lower case, with or without a full stop at the end. */
static bool
equals_placeholder(const char *words, const char *placeholder)
{
	while (*words && to_lower(*words) == *placeholder)
		words++, placeholder++;
	return !*placeholder && (!*words || (*words == '.' && !words[1]));
}

/* Returns true if WORDS is a placeholder, or a single repeated character such as zeros or dots. */
static bool
is_placeholder(const char *words)
{
	size_t same = 0;

	while (words[same] && words[same] == words[0])
		same++;
	if (!words[same])
		return true;
	for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
		if (equals_placeholder(words, placeholders[i]))
			return true;
	return false;
}

/*
 * Copies string NUMBER (the first is 1) to OUT, without blanks at both ends. OUT becomes "" if NUMBER is 0 or too
 * large.
 */
static void
copy_string(struct smbios_bytes strings, unsigned number, char out[SMBIOS_STRING_SIZE])
{
	size_t at = 0, length = 0;

	for (; number > 1 && at < strings.length; at++)
		number -= strings.bytes[at] == 0;
	while (at < strings.length && strings.bytes[at] == ' ')
		at++;
	for (; number && at < strings.length && strings.bytes[at] && length < SMBIOS_STRING_SIZE - 1; at++)
		out[length++] = strings.bytes[at] >= ' ' && strings.bytes[at] <= '~' ? (char)strings.bytes[at] : '?';
	while (length && out[length - 1] == ' ')
		length--;
	out[length] = '\0';
	if (is_placeholder(out))
		out[0] = '\0';
}

/*
 * Changes mm/dd/yyyy (DSP0134 3.7, 7.1) to yyyy-mm-dd. Other formats, such as two-digit years before version 2.3, stay
 * unchanged.
 */
static void
convert_to_iso_date(char date[SMBIOS_STRING_SIZE])
{
	static const char form[] = "dd/dd/dddd";
	static const uint8_t from[] = { 6, 7, 8, 9, 2, 0, 1, 2, 3, 4 };
	char turned[sizeof(from)];

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? date[i] < '0' || date[i] > '9' : date[i] != form[i])
			return;
	for (size_t i = 0; i < sizeof(from); i++)
		turned[i] = date[from[i]] == '/' ? '-' : date[from[i]];
	__builtin_memcpy(date, turned, sizeof(turned));
}

/*
 * Reads a structure, unless a structure of its type was read before. For example, machines with blades may list several
 * baseboards.
 */
static void
read_structure(const struct structure *structure, uint32_t *seen, struct smbios_facts *facts)
{
	uint8_t type = structure->formatted.bytes[0];

	if (type >= 32 || *seen >> type & 1)
		return;
	*seen |= UINT32_C(1) << type;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		char *place = (char *)facts + wanted[i].place;

		if (wanted[i].type == type)
			copy_string(structure->strings,
				    (unsigned)smbios_read_field(structure->formatted, wanted[i].offset, 1), place);
	}
}

/*
 * Reads the structure at offset AT and advances AT to the next structure. Returns false if it does not end within
 * TABLE. A structure ends with a zero byte after its last string, or with two zeros if it has no strings (DSP0134 3.7,
 * 6.1.3).
 */
static bool
read_next_structure(struct smbios_bytes table, size_t *at, struct structure *structure)
{
	size_t length = (size_t)smbios_read_field(table, *at + HEADER_LENGTH, 1), end = *at + length;

	if (length < HEADER_SIZE || length > table.length - *at)
		return false;
	structure->formatted = (struct smbios_bytes){ table.bytes + *at, length };
	while (end + 1 < table.length && (table.bytes[end] || table.bytes[end + 1]))
		end++;
	if (end + 1 >= table.length)
		return false;
	structure->strings = (struct smbios_bytes){ table.bytes + *at + length, end - *at - length };
	*at = end + 2;
	return true;
}

void
smbios_read_table(struct smbios_bytes table, size_t count, struct smbios_facts *facts)
{
	size_t at = 0;
	uint32_t seen = 0; /* bit T is set after a structure of type T was read */

	for (; count > 0 && at < table.length && table.bytes[at] != TYPE_END; count--) {
		struct structure structure;
		size_t begin = at;

		if (!read_next_structure(table, &at, &structure)) {
			smbios_set_problem(facts, "SMBIOS: the structure at byte %zu does not end within the table's "
					   "%zu bytes; this and "
					   "all later structures are not used", begin, table.length);
			break;
		}
		read_structure(&structure, &seen, facts);
	}
	convert_to_iso_date(facts->bios_date);
}
