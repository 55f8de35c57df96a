/* SMBIOS tables built byte by byte: the facts that valid tables give, and the problems that invalid tables cause. */
#include <stdio.h>

#include "test.h"
#include "smbios/smbios.h"
#include "smbios_checks.h"

#define ENTRY_3_AT 0xe0000u
#define ENTRY_2_AT 0xf0000u
#define TABLE_AT   0x20000u
#define ENTRY_3    24u
#define ENTRY_2    31u

/*
 * The simulated machine's memory. Each region is allocated with exactly its length, so that the sanitizer sees a read
 * beyond its end.
 */
struct machine {
	uint8_t *entry_3, *entry_2, *table;
	size_t entry_3_length, entry_2_length, table_length;
	struct smbios_facts facts;
};

static struct machine *machine;

static const uint8_t *
machine_at(void *context, uint64_t address, size_t length)
{
	if (address == ENTRY_3_AT && length <= machine->entry_3_length)
		return machine->entry_3;
	if (address == ENTRY_2_AT && length <= machine->entry_2_length)
		return machine->entry_2;
	return address == TABLE_AT && length <= machine->table_length ? machine->table : NULL;
}

static void
seal(uint8_t *bytes, size_t length, size_t at)
{
	bytes[at] = 0;
	for (size_t i = 0; i < length; i++)
		if (i != at)
			bytes[at] -= bytes[i];
}

static void
put(uint8_t *bytes, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint8_t *
block_of(const void *bytes, size_t length)
{
	uint8_t *block = malloc(length ? length : 1);

	assert_non_null(block);
	memcpy(block, bytes, length);
	return block;
}

static void
add_entry_3(uint32_t table_length)
{
	uint8_t entry[ENTRY_3] = "_SM3_\0\x18\3\7";

	put(entry + 0x0c, 4, table_length);
	put(entry + 0x10, 8, TABLE_AT);
	seal(entry, sizeof(entry), 5);
	machine->entry_3 = block_of(entry, sizeof(entry));
	machine->entry_3_length = sizeof(entry);
}

static void
add_entry_2(uint16_t table_length, uint16_t count)
{
	uint8_t entry[ENTRY_2] = "_SM_\0\x1f\2\x08";

	memcpy(entry + 0x10, "_DMI_", 5);
	put(entry + 0x16, 2, table_length);
	put(entry + 0x18, 4, TABLE_AT);
	put(entry + 0x1c, 2, count);
	seal(entry, sizeof(entry), 4);
	machine->entry_2 = block_of(entry, sizeof(entry));
	machine->entry_2_length = sizeof(entry);
}

#define SET_TABLE(bytes) set_table(bytes, sizeof(bytes) - 1)

static void
set_table(const char *bytes, size_t length)
{
	free(machine->table);
	machine->table = block_of(bytes, length);
	machine->table_length = length;
}

static const struct smbios_facts *
read_facts(void)
{
	const struct smbios_memory memory = { machine_at, NULL };

	/* old contents; the reader must overwrite all of them */
	memset(&machine->facts, 0xa5, sizeof(machine->facts));
	smbios_read_facts(&memory, machine->entry_3 ? ENTRY_3_AT : 0, machine->entry_2 ? ENTRY_2_AT : 0, &machine->facts);
	assert_ptr_equal(smbios_broken_invariant(&machine->facts), NULL);
	return &machine->facts;
}

/* Replaces the table, adds a valid 64-bit entry point for it, and reads both. */
#define READ(bytes) (SET_TABLE(bytes), read_table())

static const struct smbios_facts *
read_table(void)
{
	free(machine->entry_3);
	add_entry_3((uint32_t)machine->table_length);
	read_facts();
	assert_true(machine->facts.found);
	return &machine->facts;
}

static void
set_up(void)
{
	machine = calloc(1, sizeof(*machine));
	assert_non_null(machine);
}

static void
tear_down(void)
{
	free(machine->entry_3);
	free(machine->entry_2);
	free(machine->table);
	free(machine);
}

TEST_FIXTURE(set_up, tear_down);

/*
 * Each structure has a type, a length, a handle and a formatted area. Then its strings follow, each ended by 0.
 * Literals are split after hex digits, so that the next character is not read as a digit.
 */
#define BIOS   "\0\x12\0\0" "\1\2\0\xe8\3\0\0\0\0\0\0\0\0\0" "Example BIOS\0" "2.10.0\0" "11/30/2020\0" "\0"
#define SYSTEM "\1\x1b\1\0" "\1\2\3\4" "uuid: 16 bytes..\6\0\0" "Example Inc.\0" "Server 9\0" "rev A\0" "SN-0042\0" "\0"
#define BOARD  "\2\x08\2\0" "\1\2\0\3" "Example Boards\0" "X99-B\0" "BSN-7\0" "\0"
#define END    "\x7f\4\3\0" "\0\0"

static void
assert_is_example(const struct smbios_facts *facts)
{
	assert_true(facts->found);
	assert_string_equal(facts->problem, "");
	assert_string_equal(facts->bios_vendor, "Example BIOS");
	assert_string_equal(facts->bios_version, "2.10.0");
	assert_string_equal(facts->bios_date, "2020-11-30");
	assert_string_equal(facts->vendor, "Example Inc.");
	assert_string_equal(facts->product, "Server 9");
	assert_string_equal(facts->serial, "SN-0042");
	assert_string_equal(facts->board_vendor, "Example Boards");
	assert_string_equal(facts->board_product, "X99-B");
}

TEST(the_64_bit_entry_point_leads_to_bios_system_and_board)
{
	assert_is_example(READ(BIOS SYSTEM BOARD END));
}

TEST(the_32_bit_entry_point_leads_to_bios_system_and_board)
{
	SET_TABLE(BIOS SYSTEM BOARD END);
	add_entry_2((uint16_t)machine->table_length, 4);
	assert_is_example(read_facts());
}

TEST(if_the_64_bit_entry_point_has_a_wrong_checksum_the_32_bit_one_is_used)
{
	SET_TABLE(BIOS SYSTEM BOARD END);
	add_entry_3((uint32_t)machine->table_length);
	/* the entry point says that the table has 6 bytes, which is less than one structure */
	add_entry_2(6, 1);
	assert_is_example(read_facts());
	machine->entry_3[5]++;
	free(machine->entry_2);
	add_entry_2((uint16_t)machine->table_length, 4);
	assert_string_equal(read_facts()->product, "Server 9");
	assert_string_equal(machine->facts.problem, "SMBIOS: the checksum of the entry point _SM3_ is off by 1h");
}

TEST(a_machine_without_entry_points_has_no_facts_and_no_problem)
{
	const struct smbios_facts *facts = read_facts();

	assert_false(facts->found);
	assert_string_equal(facts->problem, "");
}

TEST(problems_of_an_entry_point_are_reported)
{
	static const struct {
		uint8_t at, value;
		bool sealed;
		const char *problem;
	} cases[] = {
		{ 0, '-', true, "SMBIOS: the entry point does not start with _SM_" },
		{ 5, 0x1e, true, "SMBIOS: the entry point _SM_ has the wrong length 30" },
		/* the entry point states a length that is larger than the readable memory */
		{ 5, 0xff, true, "SMBIOS: the entry point _SM_ has the wrong length 255" },
		{ 7, 0x09, false, "SMBIOS: the checksum of the entry point _SM_ is off by 1h" },
		{ 0x1b, 0x80, true, "SMBIOS: the table, 84 bytes at 80020000h, can't be read" },
		/* the entry point states a table length that is larger than the readable memory */
		{ 0x17, 0x80, true, "SMBIOS: the table, 32852 bytes at 20000h, can't be read" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {

		SET_TABLE(SYSTEM BOARD "\0");
		free(machine->entry_2);
		add_entry_2(84, 2);
		machine->entry_2[cases[i].at] = cases[i].value;
		if (cases[i].sealed)
			seal(machine->entry_2, ENTRY_2, 4);
		assert_false(read_facts()->found);
		assert_string_equal(machine->facts.problem, cases[i].problem);
	}
}

TEST(an_entry_point_of_a_later_version_is_read_to_its_length)
{
	SET_TABLE(SYSTEM END);
	add_entry_3((uint32_t)machine->table_length);
	machine->entry_3 = realloc(machine->entry_3, 32);
	memset(machine->entry_3 + ENTRY_3, 0x11, 8);
	machine->entry_3[6] = 32;
	seal(machine->entry_3, 32, 5);
	machine->entry_3_length = 32;
	assert_string_equal(read_facts()->serial, "SN-0042");
}

TEST(the_32_bit_entry_point_limits_the_number_of_structures)
{
	SET_TABLE(SYSTEM BOARD END);
	add_entry_2((uint16_t)machine->table_length, 1);
	assert_string_equal(read_facts()->product, "Server 9");
	assert_string_equal(machine->facts.board_product, "");
	assert_string_equal(machine->facts.problem, "");
}

TEST(nothing_is_read_after_the_end_of_table_structure)
{
	const struct smbios_facts *facts = READ(SYSTEM END BOARD);

	assert_string_equal(facts->product, "Server 9");
	assert_string_equal(facts->board_product, "");
	assert_string_equal(facts->problem, "");
}

TEST(an_end_of_table_structure_without_final_zeros_is_accepted)
{
	assert_string_equal(READ(SYSTEM "\x7f\4\3\0")->problem, "");
}

TEST(a_structure_that_does_not_end_in_the_table_is_reported)
{
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
#define CASE(bytes) { bytes, sizeof(bytes) - 1 }
		CASE("\2\0\0\0"),                      /* length 0, so that the next structure cannot be found */
		CASE("\2\3\0\0\0\0"),                  /* a length that is less than the structure's header */
		CASE("\2"),                            /* no length */
		CASE("\2\x08\2\0" "\1\2\0"),           /* a structure that is cut off by the table's end */
		CASE("\2\x08\2\0" "\1\2\0\3"),         /* no strings and no final zeros */
		CASE("\2\x08\2\0" "\1\2\0\3" "A board\0" "X99"),
		CASE("\2\x08\2\0" "\1\2\0\3" "A board\0" "X99\0"), /* strings that end with one zero instead of two */
		CASE("\2\x08\2\0" "\0\0\0\0" "\0"),
#undef CASE
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char system[] = SYSTEM;
		size_t begin = sizeof(system) - 1;
		char bytes[128], problem[SMBIOS_PROBLEM_SIZE];

		memcpy(bytes, system, begin);
		memcpy(bytes + begin, cases[i].bytes, cases[i].length);
		set_table(bytes, begin + cases[i].length);
		snprintf(problem, sizeof(problem), "SMBIOS: the structure at byte %zu does not end within the table's "
			 "%zu bytes; this and all later structures are not used", begin, begin + cases[i].length);
		assert_string_equal(read_table()->product, "Server 9");
		assert_string_equal(machine->facts.board_product, "");
		assert_string_equal(machine->facts.problem, problem);
	}
}

TEST(a_string_number_that_its_structure_does_not_have_is_ignored)
{
	const struct smbios_facts *facts = READ("\1\x08\1\0" "\1\7\0\xff" "Example Inc.\0" "\0" END);

	assert_string_equal(facts->vendor, "Example Inc.");
	assert_string_equal(facts->product, "");
	assert_string_equal(facts->serial, "");
	assert_string_equal(READ("\1\x08\1\0" "\1\2\0\3" "\0\0" BOARD END)->vendor, "");
	assert_string_equal(machine->facts.board_product, "X99-B");
}

/*
 * An older version of this structure ends before the field for the product. The byte at the field's position is already
 * part of a string.
 */
TEST(a_field_beyond_its_structure_is_ignored)
{
	const struct smbios_facts *facts = READ("\1\5\1\0" "\1" "\1 Inc.\0" "Server 9\0" "\0" END);

	assert_string_equal(facts->vendor, "? Inc.");
	assert_string_equal(facts->product, "");
}

TEST(the_first_structure_of_a_type_is_used)
{
	assert_string_equal(READ(BOARD "\2\x08\2\0" "\1\2\0\0" "Other\0" "Riser\0" "\0" END)->board_product, "X99-B");
	/* Fields of two structures must not be combined, even if the first one is incomplete. */
	assert_string_equal(READ("\2\x08\2\0" "\1\0\0\0" "Example Boards\0" "\0"
				 "\2\x08\2\0" "\1\2\0\0" "Other\0" "Riser\0" "\0" END)->board_product, "");
}

TEST(strings_are_trimmed_cut_at_64_characters_and_printable)
{
	const struct smbios_facts *facts = READ("\1\x08\1\0" "\1\2\0\3" "  Exa\tmple\x80  \0"
		"0123456789012345678901234567890123456789012345678901234567890123456789\0" "   \0" "\0" END);

	assert_string_equal(facts->vendor, "Exa?mple?");
	assert_string_equal(facts->product, "0123456789012345678901234567890123456789012345678901234567890123");
	assert_string_equal(facts->serial, "");
}

TEST(placeholder_words_of_firmware_are_ignored)
{
	static const char *const none[] = {
		"To be filled by O.E.M.", "To Be Filled By O.E.M", "TO BE FILLED BY O.E.M.", "Default string",
		"System Serial Number", "System Product Name", "System manufacturer", "Not Specified", "None", "N/A", "Unknown",
		"0", "00000000", "............", "xxxxxxxxx", "123456789", "Serial Number.",
	};
	static const char *const some[] = { "None of these", "0000-1", "Default strings", "N/A 7", "System Serial",
					    "O.E.M.." };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]) + sizeof(some) / sizeof(some[0]); i++) {
		bool is_none = i < sizeof(none) / sizeof(none[0]);
		const char *words = is_none ? none[i] : some[i - sizeof(none) / sizeof(none[0])];
		char bytes[80] = "\1\x08\1\0" "\0\0\0\1";
		size_t length = strlen(words);

		memcpy(bytes + 8, words, length);
		set_table(bytes, 8 + length + 2);
		assert_string_equal(read_table()->serial, is_none ? "" : words);
	}
}

TEST(a_date_in_another_format_is_not_changed)
{
	static const char *const dates[][2] = {
		{ "02/06/2015", "2015-02-06" }, { "02/06/15", "02/06/15" }, { "2015-02-06", "2015-02-06" },
		{ "02/06/2015 x", "02/06/2015 x" }, { "2/6/2015", "2/6/2015" },
	};

	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		char bytes[40] = "\0\x09\0\0" "\0\0\0\0\1";

		strcpy(bytes + 9, dates[i][0]);
		set_table(bytes, 9 + strlen(dates[i][0]) + 2);
		assert_string_equal(read_table()->bios_date, dates[i][1]);
	}
}

TEST(a_cut_table_is_read_up_to_its_end)
{
	const char whole[] = BIOS SYSTEM BOARD END;
	const char board[] = BOARD END, end[] = END;
	size_t board_at = sizeof(whole) - sizeof(board), end_at = sizeof(whole) - sizeof(end);

	for (size_t length = 1; length < sizeof(whole); length++) {

		set_table(whole, length);
		read_table();
		assert_string_equal(machine->facts.product, length >= board_at ? "Server 9" : "");
		assert_string_equal(machine->facts.board_product, length >= end_at ? "X99-B" : "");
	}
}
