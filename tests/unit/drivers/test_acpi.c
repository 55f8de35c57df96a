/* ACPI tables built byte by byte: the facts that valid tables give, and the problems that invalid tables cause. */
#include <stdio.h>

#include "test.h"
#include "acpi/acpi.h"
#include "acpi/coreboot.h"
#include "acpi_checks.h"

#define REGIONS_MAX 320
#define RSDP_AT     0xe0000u
#define XSDT_AT     0x10000u
#define RSDT_AT     0x20000u
#define FADT_AT     0x30000u
#define HPET_AT     0x40000u
#define MADT_AT     0x50000u
#define DSDT_AT     0x60000u
#define FPDT_AT     0x70000u
#define FBPT_AT     0x80000u
#define COREBOOT_AT 0x500u
#define FORWARD_AT  0x90000u
#define STAMPS_AT   0xa0000u

/* The simulated machine's memory. A range can be read only if one region contains all of it. */
struct machine {
	struct region {
		uint64_t address;
		/* allocated with exactly this length, so that the sanitizer sees a read beyond its end */
		uint8_t *bytes;
		size_t length;
	} regions[REGIONS_MAX];
	size_t count;
	uint32_t apic_ids[16];
	struct acpi_facts facts;
};

static struct machine *machine;

static const uint8_t *
machine_at(void *context, uint64_t address, size_t length)
{
	assert_true(length > 0);
	for (size_t i = 0; i < machine->count; i++) {
		const struct region *region = &machine->regions[i];

		if (address >= region->address && address - region->address <= region->length &&
		    length <= region->length - (address - region->address))
			return region->bytes + (address - region->address);
	}
	return NULL;
}

static void
put(uint8_t *bytes, size_t offset, size_t size, uint64_t value)
{
	for (size_t i = 0; i < size; i++)
		bytes[offset + i] = (uint8_t)(value >> (8 * i));
}

/* Sets the checksum byte at CHECKSUM_AT so that all LENGTH bytes add up to 0. */
static void
seal(uint8_t *bytes, size_t length, size_t checksum_at)
{
	uint8_t sum = 0;

	bytes[checksum_at] = 0;
	for (size_t i = 0; i < length; i++)
		sum = (uint8_t)(sum + bytes[i]);
	bytes[checksum_at] = (uint8_t)-sum;
}

static uint8_t *
add_region(uint64_t address, size_t length)
{
	struct region *region = &machine->regions[machine->count++];

	assert_true(machine->count <= REGIONS_MAX);
	*region = (struct region){ address, calloc(1, length), length };
	assert_non_null(region->bytes);
	return region->bytes;
}

static uint8_t *
add_table(uint64_t address, const char *signature, size_t length)
{
	uint8_t *table = add_region(address, length);

	memcpy(table, signature, 4);
	put(table, 4, 4, length);
	return table;
}

static const struct region *
region_at(uint64_t address)
{
	for (size_t i = 0; i < machine->count; i++)
		if (machine->regions[i].address == address)
			return &machine->regions[i];
	fail_msg("no region at %llx", (unsigned long long)address);
	return NULL;
}

static uint8_t *
bytes_at(uint64_t address)
{
	return region_at(address)->bytes;
}

static void
seal_at(uint64_t address)
{
	seal(bytes_at(address), region_at(address)->length, 9);
}

static uint8_t *
add_rsdp(uint8_t revision, uint32_t rsdt, uint64_t xsdt)
{
	uint8_t *rsdp = add_region(RSDP_AT, revision >= 2 ? 36 : 20);

	memcpy(rsdp, "RSD PTR ", 8);
	memcpy(rsdp + 9, "BOCHS ", 6);
	rsdp[15] = revision;
	put(rsdp, 16, 4, rsdt);
	seal(rsdp, 20, 8);
	if (revision >= 2) {
		put(rsdp, 20, 4, 36);
		put(rsdp, 24, 8, xsdt);
		seal(rsdp, 36, 32);
	}
	return rsdp;
}

static void
add_root(uint64_t address, const char *signature, const uint64_t *entries,
	 size_t count)
{
	size_t size = signature[0] == 'X' ? 8 : 4;
	uint8_t *root = add_table(address, signature, 36 + count * size);

	for (size_t i = 0; i < count; i++)
		put(root, 36 + i * size, size, entries[i]);
	seal_at(address);
}

/*
 * Adds the FADT of QEMU's q35: its PM timer is at port 608h. If LENGTH is at least 220, the FADT also has the 64-bit
 * field for this address.
 */
static void
add_fadt(uint64_t address, size_t length)
{
	uint8_t *fadt = add_table(address, "FACP", length);

	fadt[8] = 3;
	put(fadt, 76, 4, 0x608);
	fadt[91] = 4;
	if (length >= 220) {
		fadt[208] = ACPI_SPACE_IO;
		put(fadt, 212, 8, 0x608);
	}
	seal_at(address);
}

static void
add_hpet(uint64_t address, uint64_t base)
{
	uint8_t *hpet = add_table(address, "HPET", 56);

	put(hpet, 36, 4, 0x8086a201);
	put(hpet, 44, 8, base);
	put(hpet, 53, 2, 0x0080);
	seal_at(address);
}

static size_t
put_lapic(uint8_t *table, size_t at, uint8_t uid, uint8_t id, uint32_t flags)
{
	table[at] = 0;
	table[at + 1] = 8;
	table[at + 2] = uid;
	table[at + 3] = id;
	put(table, at + 4, 4, flags);
	return at + 8;
}

static size_t
put_x2apic(uint8_t *table, size_t at, uint32_t uid, uint32_t id, uint32_t flags)
{
	table[at] = 9;
	table[at + 1] = 16;
	put(table, at + 4, 4, id);
	put(table, at + 8, 4, flags);
	put(table, at + 12, 4, uid);
	return at + 16;
}

static uint8_t *
add_madt(uint64_t address, size_t length)
{
	uint8_t *madt = add_table(address, "APIC", length);

	put(madt, 36, 4, 0xfee00000);
	return madt;
}

/* Adds three valid tables with two cores, both root tables, and an RSDP of revision 2. */
static void
add_everything(void)
{
	const uint64_t entries[] = { FADT_AT, HPET_AT, MADT_AT };
	uint8_t *madt;

	add_rsdp(2, RSDT_AT, XSDT_AT);
	add_root(XSDT_AT, "XSDT", entries, 3);
	add_root(RSDT_AT, "RSDT", entries, 3);
	add_fadt(FADT_AT, 244);
	add_hpet(HPET_AT, 0xfed00000);
	madt = add_madt(MADT_AT, 44 + 16);
	put_lapic(madt, put_lapic(madt, 44, 0, 0, 1), 1, 1, 1);
	seal_at(MADT_AT);
}

static void
read_at(uint64_t rsdp)
{
	const struct acpi_memory memory = { machine_at, NULL };

	/* old contents; the reader must overwrite all of them */
	memset(&machine->facts, 0xa5, sizeof(machine->facts));
	machine->facts.madt.apic_ids = machine->apic_ids;
	machine->facts.madt.core_max = 16;
	acpi_read_facts(&memory, rsdp, &machine->facts);
	if (acpi_broken_invariant(&machine->facts))
		fail_msg("%s", acpi_broken_invariant(&machine->facts));
}

static void
read_machine(void)
{
	read_at(RSDP_AT);
}

static void
assert_problem(const struct acpi_facts *facts, size_t number, const char *sentence)
{
	assert_true(number < facts->problem_count);
	assert_string_equal(facts->problems[number], sentence);
}

static void
assert_all_found(const struct acpi_facts *facts)
{
	assert_true(facts->found);
	assert_true(facts->fadt.found);
	assert_true(facts->hpet.found);
	assert_true(facts->madt.found);
	assert_int_equal(facts->madt.core_count, 2);
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
	for (size_t i = 0; i < machine->count; i++)
		free(machine->regions[i].bytes);
	free(machine);
}

TEST_FIXTURE(set_up, tear_down);

TEST(an_rsdp_of_revision_2_leads_through_the_xsdt_to_all_tables)
{
	const struct acpi_facts *facts = &machine->facts;

	add_everything();
	/* invalidates the checksum of the RSDT, which must not be read here */
	put(bytes_at(RSDT_AT), 36, 4, 0);
	read_machine();
	assert_all_found(facts);
	assert_int_equal(facts->problem_count, 0);
	assert_int_equal(facts->fadt.pm_tmr_blk, 0x608);
	assert_int_equal(facts->fadt.pm_tmr_len, 4);
	assert_true(facts->fadt.has_x_pm_tmr);
	assert_int_equal(facts->fadt.x_pm_tmr_space, ACPI_SPACE_IO);
	assert_int_equal(facts->fadt.x_pm_tmr_address, 0x608);
	assert_int_equal(facts->hpet.space, ACPI_SPACE_MEMORY);
	assert_int_equal(facts->hpet.base, 0xfed00000);
	assert_int_equal(facts->madt.enabled, 2);
	assert_int_equal(machine->apic_ids[1], 1);
}

TEST(oem_ids_are_printed_without_padding_and_control_characters)
{
	static const struct {
		const char id[7], table_id[9], oem[16];
	} cases[] = {
		{ "BOCHS ", "BXPC    ", "BOCHS BXPC" }, { "ALASKA", "A M I \0\0", "ALASKA A M I" },
		{ "123456", "12345678", "123456 12345678" }, { "\0\0\0\0\0\0", "MODEL\x80 \n", "MODEL? ?" },
		{ "DELL  ", "\0\0\0\0\0\0\0\0", "DELL" },
	};
	uint8_t *root;

	add_rsdp(2, 0, XSDT_AT);
	add_root(XSDT_AT, "XSDT", NULL, 0);
	root = bytes_at(XSDT_AT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(root + 10, cases[i].id, 6);
		memcpy(root + 16, cases[i].table_id, 8);
		seal_at(XSDT_AT);
		read_machine();
		assert_string_equal(machine->facts.oem, cases[i].oem);
	}
	root[9]++; /* an invalid root table gives no OEM id */
	read_machine();
	assert_string_equal(machine->facts.oem, "");
}

TEST(an_rsdp_of_revision_0_has_20_bytes_and_leads_through_the_rsdt)
{
	const uint64_t entries[] = { FADT_AT, HPET_AT };

	add_rsdp(0, RSDT_AT, 0);
	add_root(RSDT_AT, "RSDT", entries, 2);
	add_fadt(FADT_AT, 116);
	add_hpet(HPET_AT, 0xfed00000);
	read_machine();
	assert_true(machine->facts.found);
	assert_true(machine->facts.fadt.found);
	assert_true(machine->facts.hpet.found);
	assert_false(machine->facts.madt.found);
	assert_int_equal(machine->facts.problem_count, 0);
}

TEST(without_an_rsdp_one_sentence_is_printed_and_nothing_is_found)
{
	add_everything();
	read_at(0);
	assert_false(machine->facts.found);
	assert_false(machine->facts.fadt.found);
	assert_int_equal(machine->facts.madt.core_count, 0);
	assert_int_equal(machine->facts.problem_count, 1);
	assert_problem(&machine->facts, 0, "RSDP: the firmware does not give its address; no ACPI table is used");
	read_at(0x1234);
	assert_false(machine->facts.found);
	assert_problem(&machine->facts, 0, "RSDP: nothing can be read at its address");
}

TEST(rsdp_with_a_wrong_signature_or_checksum_is_not_used)
{
	add_everything();
	uint8_t *rsdp = bytes_at(RSDP_AT);

	rsdp[9] += 0x3a;
	read_machine();
	assert_false(machine->facts.found);
	assert_int_equal(machine->facts.problem_count, 1);
	assert_problem(&machine->facts, 0, "RSDP: its checksum is off by 3ah; no ACPI table is used");
	rsdp[9] -= 0x3a;
	rsdp[7] = '!';
	read_machine();
	assert_false(machine->facts.found);
	assert_problem(&machine->facts, 0, "RSDP: its signature is not RSD PTR; no ACPI table is used");
}

TEST(the_second_checksum_of_the_rsdp_protects_the_xsdt_only)
{
	add_everything();
	bytes_at(RSDP_AT)[24] += 1;
	read_machine();
	assert_all_found(&machine->facts);
	assert_int_equal(machine->facts.problem_count, 2);
	assert_problem(&machine->facts, 0, "RSDP: its second checksum is off by 1h; its XSDT is not used");
	assert_problem(&machine->facts, 1, "RSDT: it is used instead of the XSDT");
}

TEST(the_rsdp_needs_a_length_of_36_or_more_that_can_be_read)
{
	const uint32_t wrong[] = { 0, 35, 37, 0x100001, 0xffffffff };
	uint8_t *rsdp;
	char sentence[ACPI_PROBLEM_SIZE];

	add_everything();
	rsdp = bytes_at(RSDP_AT);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put(rsdp, 20, 4, wrong[i]);
		seal(rsdp, 36, 32);
		read_machine();
		assert_all_found(&machine->facts); /* all tables were found, through the RSDT */
		snprintf(sentence, sizeof(sentence),
			 "RSDP: its length of %u bytes is not valid; its XSDT is not used", wrong[i]);
		assert_problem(&machine->facts, 0, sentence);
	}
}

TEST(an_rsdp_of_revision_2_that_ends_after_20_bytes_leads_through_the_rsdt)
{
	uint8_t *rsdp;

	add_everything();
	free(machine->regions[0].bytes);
	machine->regions[0].bytes = rsdp = calloc(1, 20);
	machine->regions[0].length = 20;
	memcpy(rsdp, "RSD PTR ", 8);
	rsdp[15] = 2;
	put(rsdp, 16, 4, RSDT_AT);
	seal(rsdp, 20, 8);
	read_machine();
	assert_all_found(&machine->facts);
	assert_problem(&machine->facts, 0, "RSDP: only its first 20 bytes can be read");
}

TEST(an_xsdt_with_a_bad_checksum_is_reported_and_the_rsdt_is_used)
{
	add_everything();
	bytes_at(XSDT_AT)[9] -= 0x10;
	read_machine();
	assert_all_found(&machine->facts);
	assert_int_equal(machine->facts.problem_count, 2);
	assert_problem(&machine->facts, 0, "XSDT: its checksum is off by f0h; it is not used");
	assert_problem(&machine->facts, 1, "RSDT: it is used instead of the XSDT");
}

TEST(if_the_xsdt_is_invalid_or_unreadable_the_rsdt_is_used)
{
	add_everything();
	memset(bytes_at(XSDT_AT), 0xff, 60);
	read_machine();
	assert_all_found(&machine->facts);
	assert_problem(&machine->facts, 0, "XSDT: its signature is not XSDT; it is not used");
	machine->regions[1].address = 0x90000;
	read_machine();
	assert_all_found(&machine->facts);
	assert_problem(&machine->facts, 0, "XSDT: nothing can be read at its address, 10000h");
}

TEST(with_two_bad_root_tables_nothing_is_found)
{
	add_everything();
	bytes_at(XSDT_AT)[9] += 1;
	bytes_at(RSDT_AT)[9] += 2;
	read_machine();
	assert_false(machine->facts.found);
	assert_false(machine->facts.hpet.found);
	assert_int_equal(machine->facts.problem_count, 3);
	assert_problem(&machine->facts, 2, "RSDT: its checksum is off by 2h; it is not used");
}

TEST(an_rsdp_without_root_tables_is_reported)
{
	add_rsdp(2, 0, 0);
	read_machine();
	assert_false(machine->facts.found);
	assert_int_equal(machine->facts.problem_count, 1);
	assert_problem(&machine->facts, 0, "RSDP: it names neither an XSDT nor an RSDT");
}

TEST(a_root_table_without_entries_is_valid)
{
	add_rsdp(2, 0, XSDT_AT);
	add_root(XSDT_AT, "XSDT", NULL, 0);
	read_machine();
	assert_true(machine->facts.found);
	assert_int_equal(machine->facts.problem_count, 0);
}

TEST(root_entries_of_0_are_ignored_and_unreadable_entries_are_counted)
{
	const uint64_t entries[] = { 0, 0x7000, UINT64_MAX - 8, HPET_AT, 0 };

	add_rsdp(2, 0, XSDT_AT);
	add_root(XSDT_AT, "XSDT", entries, 5);
	add_hpet(HPET_AT, 0xfed00000);
	read_machine();
	assert_true(machine->facts.found);
	assert_true(machine->facts.hpet.found);
	assert_int_equal(machine->facts.problem_count, 1);
	assert_problem(&machine->facts, 0, "XSDT: 2 of its 5 entries have an address at which nothing can be read");
}

TEST(a_root_table_is_read_up_to_its_256th_entry)
{
	uint64_t entries[257] = { 0 };

	entries[255] = FADT_AT;
	entries[256] = HPET_AT;
	add_rsdp(2, RSDT_AT, 0);
	add_root(RSDT_AT, "RSDT", entries, 256);
	add_root(XSDT_AT, "XSDT", entries, 257);
	add_fadt(FADT_AT, 244);
	add_hpet(HPET_AT, 0xfed00000);
	read_machine();
	assert_true(machine->facts.fadt.found);
	assert_int_equal(machine->facts.problem_count, 0);
	put(bytes_at(RSDP_AT), 24, 8, XSDT_AT);
	seal(bytes_at(RSDP_AT), 36, 32);
	read_machine();
	assert_true(machine->facts.fadt.found);
	assert_false(machine->facts.hpet.found);
	assert_int_equal(machine->facts.problem_count, 1);
	assert_problem(&machine->facts, 0, "XSDT: it has 257 entries; only the first 256 are read");
}

TEST(the_first_valid_table_of_a_kind_is_used)
{
	const uint64_t entries[] = { 0x41000, 0x42000, 0x43000 };

	add_rsdp(2, 0, XSDT_AT);
	add_root(XSDT_AT, "XSDT", entries, 3);
	add_hpet(0x41000, 0x1000);
	add_hpet(0x42000, 0x2000);
	add_hpet(0x43000, 0x3000);
	read_machine();
	assert_int_equal(machine->facts.hpet.base, 0x1000);
	assert_int_equal(machine->facts.problem_count, 0);
	bytes_at(0x41000)[9] += 1;
	read_machine();
	assert_true(machine->facts.hpet.found);
	assert_int_equal(machine->facts.hpet.base, 0x2000);
	assert_problem(&machine->facts, 0, "HPET table: its checksum is off by 1h; it is not used");
}

TEST(at_most_eight_problems_are_reported)
{
	uint64_t entries[12];

	add_rsdp(2, 0, XSDT_AT);
	for (size_t i = 0; i < 12; i++) {
		entries[i] = 0x100000 + i * 0x1000;
		add_hpet(entries[i], 0x1000);
		bytes_at(entries[i])[9] += (uint8_t)(i + 1);
	}
	add_root(XSDT_AT, "XSDT", entries, 12);
	read_machine();
	assert_false(machine->facts.hpet.found);
	assert_int_equal(machine->facts.problem_count, 8);
	assert_problem(&machine->facts, 7, "HPET table: its checksum is off by 8h; it is not used");
}

/* --- headers --- */

TEST(a_tables_length_is_checked_against_header_memory_and_one_mebibyte)
{
	struct acpi_facts *facts = &machine->facts;
	add_hpet(HPET_AT, 0xfed00000);
	uint8_t *hpet = bytes_at(HPET_AT);

	assert_false(acpi_read_hpet(hpet, 35, facts));
	assert_problem(facts, 0, "HPET table: of its 56 bytes only 35 can be read; it is not used");
	put(hpet, 4, 4, 35);
	assert_false(acpi_read_hpet(hpet, 56, facts));
	assert_problem(facts, 1, "HPET table: its length of 35 bytes is not valid; it is not used");
	put(hpet, 4, 4, 0x100001);
	assert_false(acpi_read_hpet(hpet, 56, facts));
	assert_problem(facts, 2, "HPET table: its length of 1048577 bytes is not valid; it is not used");
	put(hpet, 4, 4, 0x100000);
	assert_false(acpi_read_hpet(hpet, 56, facts));
	assert_problem(facts, 3, "HPET table: of its 1048576 bytes only 56 can be read; it is not used");
	assert_false(acpi_read_hpet(hpet, 0, facts));
	assert_problem(facts, 4, "HPET table: its signature is not HPET; it is not used");
	assert_false(acpi_read_hpet(hpet, 4, facts));
	assert_problem(facts, 5, "HPET table: its length of 0 bytes is not valid; it is not used");
	assert_false(facts->hpet.found);
	put(hpet, 4, 4, 56);
	assert_true(acpi_read_hpet(hpet, 56, facts));
	assert_true(facts->hpet.found);
}

TEST(bytes_after_the_length_in_the_header_do_not_belong_to_the_table)
{
	uint8_t *fadt = add_table(FADT_AT, "FACP", 244);

	memset(fadt + 116, 0xff, 128);
	put(fadt, 4, 4, 116);
	seal(fadt, 116, 9);
	assert_true(acpi_read_fadt(fadt, 244, &machine->facts));
	assert_false(machine->facts.fadt.has_x_pm_tmr);
	assert_int_equal(machine->facts.fadt.x_pm_tmr_address, 0);
}

TEST(a_fadt_with_a_bad_checksum_gives_no_facts)
{
	add_fadt(FADT_AT, 244);
	uint8_t *fadt = bytes_at(FADT_AT);

	assert_true(acpi_read_fadt(fadt, 244, &machine->facts));
	fadt[76] += 0x3a;
	assert_false(acpi_read_fadt(fadt, 244, &machine->facts));
	assert_false(machine->facts.fadt.found);
	assert_int_equal(machine->facts.fadt.pm_tmr_blk, 0);
	assert_problem(&machine->facts, 0, "FADT: its checksum is off by 3ah; it is not used");
}

/* --- FADT --- */

TEST(fadt_of_acpi_1_is_116_bytes_and_has_no_64_bit_field)
{
	const struct acpi_fadt *fadt = &machine->facts.fadt;
	add_fadt(FADT_AT, 116);
	uint8_t *table = bytes_at(FADT_AT);

	table[8] = 1;
	put(table, 112, 4, 0x100);
	seal(table, 116, 9);
	assert_true(acpi_read_fadt(table, 116, &machine->facts));
	assert_int_equal(fadt->pm_tmr_blk, 0x608);
	assert_true(fadt->tmr_val_ext);
	assert_false(fadt->hw_reduced);
	assert_false(fadt->has_x_pm_tmr);
}

TEST(reset_register_at_a_port_is_kept_if_its_flag_is_set)
{
	static const struct {
		size_t length;
		uint32_t flags;
		uint8_t space;
		uint64_t address;
		uint16_t port;
	} cases[] = {
		{ 244, 0x400, ACPI_SPACE_IO, 0xcf9, 0xcf9 },
		{ 129, 0x400, ACPI_SPACE_IO, 0xcf9, 0xcf9 },
		{ 128, 0x400, ACPI_SPACE_IO, 0xcf9, 0 },
		{ 244, 0, ACPI_SPACE_IO, 0xcf9, 0 },
		{ 244, 0x400, ACPI_SPACE_MEMORY, 0xcf9, 0 },
		{ 244, 0x400, ACPI_SPACE_IO, 0x10cf9, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *table = add_table(FADT_AT + 0x1000 * i, "FACP", cases[i].length);

		put(table, 112, 4, cases[i].flags);
		table[116] = cases[i].space;
		put(table, 120, 8, cases[i].address);
		if (cases[i].length > 128)
			table[128] = 6;
		seal(table, cases[i].length, 9);
		memset(&machine->facts, 0, sizeof(machine->facts));
		assert_true(acpi_read_fadt(table, cases[i].length, &machine->facts));
		assert_int_equal(machine->facts.fadt.reset_port, cases[i].port);
		assert_int_equal(machine->facts.fadt.reset_value, cases[i].port ? 6 : 0);
	}
}

TEST(the_sleep_type_of_s5_is_the_first_constant_of_its_package)
{
	static const struct {
		const char *aml;
		size_t length;
		bool found;
		uint8_t type;
	} cases[] = {
		{ "\x08_S5_\x12\x06\x04\x00\x00\x00\x00", 12, true, 0 }, /* the package of QEMU's q35 */
		{ "\x08\\_S5_\x12\x08\x04\x0a\x05\x0a\x05\x00\x00", 15, true, 5 },
		/* a package whose length is encoded in two bytes */
		{ "\x08_S5_\x12\x47\x00\x04\x0a\x07\x00\x00\x00", 14, true, 7 },
		{ "\x08_S5_\x12\x06\x04\x0a\x08\x00\x00\x00", 13, false, 8 }, /* a value with more than 3 bits */
		{ "\x08_S5_\x12\x06\x04\x0b\x05\x00\x00\x00", 13, false, 0x0b }, /* a value that is not a byte */
		{ "\x10_S5_\x12\x06\x04\x05\x00\x00\x00", 12, false, 0 }, /* the name _S5_ is only used here, not defined */
		{ "\x08_S4_\x12\x06\x04\x05\x00\x00\x00", 12, false, 0 },
		{ "\x08_S5_\x12\x06\x04\x0a", 9, false, 0 }, /* a table that ends too early */
		{ "\x08_S5_", 5, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t *table = add_table(DSDT_AT + 0x1000 * i, "DSDT", 36 + cases[i].length);

		memcpy(table + 36, cases[i].aml, cases[i].length);
		assert_int_equal(acpi_read_dsdt(table, 36 + cases[i].length, &machine->facts), cases[i].found);
		assert_int_equal(machine->facts.s5.found, cases[i].found);
		if (cases[i].found)
			assert_int_equal(machine->facts.s5.type, cases[i].type);
	}
}

TEST(the_fadt_gives_the_dsdt_and_the_control_register)
{
	uint8_t *fadt = add_table(FADT_AT, "FACP", 244);

	put(fadt, 40, 4, 0x1000);
	put(fadt, 64, 4, 0x604);
	seal_at(FADT_AT);
	assert_true(acpi_read_fadt(fadt, 244, &machine->facts));
	assert_int_equal(machine->facts.fadt.dsdt, 0x1000);
	assert_int_equal(machine->facts.fadt.pm1_cnt_blk, 0x604);
	put(fadt, 140, 8, DSDT_AT);
	seal_at(FADT_AT);
	assert_true(acpi_read_fadt(fadt, 244, &machine->facts));
	assert_int_equal(machine->facts.fadt.dsdt, DSDT_AT);
}

TEST(fadt_of_115_bytes_is_not_used)
{
	add_fadt(FADT_AT, 115);
	assert_false(acpi_read_fadt(bytes_at(FADT_AT), 115, &machine->facts));
	assert_false(machine->facts.fadt.found);
	assert_problem(&machine->facts, 0, "FADT: its length is 115 bytes, not 116 or more; it is not used");
}

TEST(fadt_has_its_64_bit_field_from_220_bytes_on)
{
	add_fadt(FADT_AT, 219);
	add_fadt(FADT_AT + 0x1000, 220);
	assert_true(acpi_read_fadt(bytes_at(FADT_AT), 219, &machine->facts));
	assert_false(machine->facts.fadt.has_x_pm_tmr);
	assert_true(acpi_read_fadt(bytes_at(FADT_AT + 0x1000), 220, &machine->facts));
	assert_true(machine->facts.fadt.has_x_pm_tmr);
	assert_int_equal(machine->facts.fadt.x_pm_tmr_address, 0x608);
}

TEST(fadt_flags_are_bits_8_and_20_and_boot_bit_5)
{
	const struct acpi_fadt *fadt = &machine->facts.fadt;
	add_fadt(FADT_AT, 244);
	uint8_t *table = bytes_at(FADT_AT);

	put(table, 112, 4, ~(UINT32_C(1) << 8 | UINT32_C(1) << 20));
	put(table, 109, 2, (uint16_t)~0x20);
	seal(table, 244, 9);
	assert_true(acpi_read_fadt(table, 244, &machine->facts));
	assert_false(fadt->tmr_val_ext);
	assert_false(fadt->hw_reduced);
	assert_false(fadt->cmos_rtc_absent);
	put(table, 112, 4, UINT32_C(1) << 20);
	put(table, 109, 2, 0x20);
	seal(table, 244, 9);
	assert_true(acpi_read_fadt(table, 244, &machine->facts));
	assert_false(fadt->tmr_val_ext);
	assert_true(fadt->hw_reduced);
	assert_true(fadt->cmos_rtc_absent);
}

TEST(boot_flags_are_used_in_fadts_of_at_least_133_bytes)
{
	for (size_t length = 132; length <= 133; length++) {
		uint8_t *table = add_table(FADT_AT + length, "FACP", length);

		put(table, 109, 2, 0x20);
		seal(table, length, 9);
		assert_true(acpi_read_fadt(table, length, &machine->facts));
		assert_int_equal(machine->facts.fadt.cmos_rtc_absent, length == 133);
	}
}

/* --- HPET --- */

TEST(hpet_table_of_55_bytes_is_not_used)
{
	uint8_t *table = add_table(HPET_AT, "HPET", 55);

	seal(table, 55, 9);
	assert_false(acpi_read_hpet(table, 55, &machine->facts));
	assert_false(machine->facts.hpet.found);
	assert_problem(&machine->facts, 0, "HPET table: its length is 55 bytes, not 56 or more; it is not used");
}

TEST(the_hpet_table_gives_a_64_bit_address_and_its_address_space)
{
	add_hpet(HPET_AT, UINT64_C(0x0123456789abcdef));
	uint8_t *table = bytes_at(HPET_AT);

	table[40] = 0x7f;
	put(table, 53, 2, 0x1234);
	seal(table, 56, 9);
	assert_true(acpi_read_hpet(table, 56, &machine->facts));
	assert_int_equal(machine->facts.hpet.base, UINT64_C(0x0123456789abcdef));
	assert_int_equal(machine->facts.hpet.space, 0x7f);
}

/* --- MADT --- */

static bool
read_madt(uint8_t *table, size_t length)
{
	seal(table, length, 9);
	machine->facts.madt.apic_ids = machine->apic_ids;
	if (machine->facts.madt.core_max == 0)
		machine->facts.madt.core_max = 16;
	bool good = acpi_read_madt(table, length, &machine->facts);

	if (acpi_broken_invariant(&machine->facts))
		fail_msg("%s", acpi_broken_invariant(&machine->facts));
	return good;
}

TEST(a_madt_of_43_bytes_is_not_used_and_of_44_bytes_is_empty)
{
	assert_false(read_madt(add_madt(MADT_AT, 43), 43));
	assert_false(machine->facts.madt.found);
	assert_problem(&machine->facts, 0, "MADT: its length is 43 bytes, not 44 or more; it is not used");
	assert_true(read_madt(add_madt(MADT_AT + 0x1000, 44), 44));
	assert_true(machine->facts.madt.found);
}

TEST(only_enabled_processors_become_cores_in_table_order)
{
	const struct acpi_madt *madt = &machine->facts.madt;
	size_t length = 44 + 5 * 8 + 2 * 16;
	uint8_t *table = add_madt(MADT_AT, length);
	size_t at = put_lapic(table, 44, 1, 6, 1);

	at = put_lapic(table, at, 2, 4, 0);    /* absent */
	at = put_lapic(table, at, 3, 5, 2);    /* online-capable only, so it must not be started */
	at = put_lapic(table, at, 4, 255, 0);  /* common form of an entry for a processor that does not exist */
	at = put_x2apic(table, at, 5, 300, 3); /* both enabled and online-capable, which counts as enabled */
	at = put_x2apic(table, at, 6, 0xffffffff, 0);
	at = put_lapic(table, at, 7, 0, 1);
	assert_int_equal(at, length);
	assert_true(read_madt(table, length));
	assert_int_equal(madt->enabled, 3);
	assert_int_equal(madt->core_count, 3);
	assert_int_equal(madt->apic_ids[0], 6);
	assert_int_equal(madt->apic_ids[1], 300);
	assert_int_equal(madt->apic_ids[2], 0);
	assert_int_equal(machine->facts.problem_count, 0);
}

/* The PIT's interrupt comes at pin 2, and the SCI at pin 9, level-triggered and active low. */
TEST(source_overrides_give_the_pin_of_an_isa_interrupt)
{
	const struct acpi_madt *madt = &machine->facts.madt;
	size_t length = 44 + 8 + 2 * 10, at;
	uint8_t *table = add_madt(MADT_AT, length);

	at = put_lapic(table, 44, 1, 6, 1);
	for (size_t i = 0; i < 2; i++, at += 10) {
		put(table, at, 1, 2);
		put(table, at + 1, 1, 10);
		put(table, at + 3, 1, i ? 9 : 0);
		put(table, at + 4, 4, i ? 9 : 2);
		put(table, at + 8, 2, i ? 0xf : 0);
	}
	assert_true(read_madt(table, length));
	assert_int_equal(madt->override_count, 2);
	assert_int_equal(madt->overrides[0].irq, 0);
	assert_int_equal(madt->overrides[0].pin, 2);
	assert_int_equal(madt->overrides[0].flags, 0);
	assert_int_equal(madt->overrides[1].irq, 9);
	assert_int_equal(madt->overrides[1].pin, 9);
	assert_int_equal(madt->overrides[1].flags, 0xf);
}

TEST(an_apic_id_that_occurs_twice_counts_once)
{
	size_t length = 44 + 3 * 8 + 16;
	uint8_t *table = add_madt(MADT_AT, length);
	size_t at = put_lapic(table, 44, 10, 0, 1);

	at = put_lapic(table, at, 11, 7, 1);
	at = put_x2apic(table, at, 12, 7, 1);
	put_lapic(table, at, 13, 0, 1);
	assert_true(read_madt(table, length));
	assert_int_equal(machine->facts.madt.enabled, 2);
}

TEST(an_enabled_processor_with_the_broadcast_id_is_left_out_and_reported)
{
	size_t length = 44 + 2 * 8 + 2 * 16;
	uint8_t *table = add_madt(MADT_AT, length);
	size_t at = put_lapic(table, 44, 0, 0xff, 1);

	at = put_x2apic(table, at, 1, 0xffffffff, 1);
	at = put_x2apic(table, at, 2, 0xff, 1); /* a valid id in an x2APIC structure */
	put_lapic(table, at, 3, 0, 1);
	assert_false(read_madt(table, length));
	assert_true(machine->facts.madt.found);
	assert_int_equal(machine->facts.madt.enabled, 2);
	assert_int_equal(machine->apic_ids[0], 0xff);
	assert_int_equal(machine->apic_ids[1], 0);
	assert_problem(&machine->facts, 0, "MADT: 2 enabled processors have the broadcast APIC id; "
		       "they are left out");
}

TEST(structures_of_other_types_are_ignored)
{
	size_t length = 44 + 2 * 12 + 3 * 10 + 12 + 6 + 12 + 2 + 8;
	uint8_t *table = add_madt(MADT_AT, length);
	size_t at = 44;

	for (int i = 0; i < 2; i++, at += 12)
		memcpy(table + at, (uint8_t[]){ 1, 12 }, 2);
	for (int i = 0; i < 3; i++, at += 10)
		memcpy(table + at, (uint8_t[]){ 2, 10 }, 2);
	memcpy(table + at, (uint8_t[]){ 5, 12 }, 2);
	memcpy(table + at + 12, (uint8_t[]){ 4, 6, 0xff }, 3);
	memcpy(table + at + 18, (uint8_t[]){ 10, 12 }, 2);
	memcpy(table + at + 30, (uint8_t[]){ 0x80, 2 }, 2);
	put_lapic(table, at + 32, 0, 9, 1);
	assert_true(read_madt(table, length));
	assert_int_equal(machine->facts.madt.enabled, 1);
	assert_int_equal(machine->apic_ids[0], 9);
}

/*
 * Asserts that the MADT is read only up to its second structure, between two good processors, if this structure has the
 * type TYPE and the length LENGTH.
 */
static void
assert_stops_at_the_second(uint8_t type, uint8_t length)
{
	size_t total = 44 + 3 * 8;
	uint8_t *table = add_madt(MADT_AT, total);
	char sentence[ACPI_PROBLEM_SIZE];

	put_lapic(table, put_lapic(table, put_lapic(table, 44, 0, 0, 1), 1, 1, 1), 2, 2, 1);
	table[52] = type;
	table[53] = length;
	machine->facts.problem_count = 0;
	assert_false(read_madt(table, total));
	assert_true(machine->facts.madt.found);
	assert_int_equal(machine->facts.madt.enabled, 1);
	snprintf(sentence, sizeof(sentence), "MADT: the structure at byte 52 has type %u and length "
		 "%u; this and all later structures are not used", type, length);
	assert_problem(&machine->facts, 0, sentence);
}

TEST(a_madt_is_read_up_to_the_first_structure_with_a_wrong_length)
{
	assert_stops_at_the_second(0, 0);
	assert_stops_at_the_second(0, 1);
	assert_stops_at_the_second(0x80, 0);
	assert_stops_at_the_second(0x80, 1);
	assert_stops_at_the_second(0x80, 17); /* 17 bytes, but only 16 are left */
	assert_stops_at_the_second(0, 7);
	assert_stops_at_the_second(1, 11);
	assert_stops_at_the_second(2, 9);
	assert_stops_at_the_second(5, 11);
	assert_stops_at_the_second(9, 15);
}

TEST(a_madt_with_one_additional_byte_is_read_and_reported)
{
	uint8_t *table = add_madt(MADT_AT, 44 + 8 + 1);

	table[put_lapic(table, 44, 0, 0, 1)] = 4;
	assert_false(read_madt(table, 53));
	assert_int_equal(machine->facts.madt.enabled, 1);
	assert_problem(&machine->facts, 0, "MADT: the structure at byte 52 has type 4 and length 0; "
		       "this and all later structures are not used");
}

TEST(cores_beyond_the_callers_space_are_counted_once_each)
{
	size_t length = 44 + 6 * 8, at = 44;
	uint8_t *table = add_madt(MADT_AT, length);

	for (uint8_t i = 0; i < 6; i++)
		at = put_lapic(table, at, i, i % 5, 1);
	machine->facts.madt.core_max = 3;
	assert_true(read_madt(table, length));
	assert_int_equal(machine->facts.madt.core_count, 3);
	assert_int_equal(machine->facts.madt.enabled, 5);
	assert_int_equal(machine->apic_ids[3], 0); /* untouched */
	machine->facts.madt.core_max = 0;
}

TEST(at_most_4096_processors_are_counted_and_the_rest_is_reported)
{
	size_t length = 44 + 4200 * 16, at = 44;
	uint8_t *table = add_madt(MADT_AT, length);

	/*
	 * The ids are square numbers, so that some of them share a slot of the hash table. 100 of the ids occur twice.
	 */
	for (uint32_t i = 0; i < 4100; i++)
		at = put_x2apic(table, at, i, i * i, 1);
	for (uint32_t i = 0; i < 100; i++)
		at = put_x2apic(table, at, i, i * i, 1);
	machine->facts.madt.core_max = 2;
	assert_false(read_madt(table, length));
	assert_int_equal(machine->facts.madt.enabled, 4096);
	assert_problem(&machine->facts, 0, "MADT: it lists more than 4096 enabled processors; 4 are left out");
}

/* ---- FPDT ---- */

/* Adds an FPDT of LENGTH bytes whose only record names the FBPT. */
static uint8_t *
add_fpdt(size_t length)
{
	uint8_t *fpdt = add_table(FPDT_AT, "FPDT", length);

	put(fpdt, 36 + 2, 1, 16);
	put(fpdt, 36 + 8, 8, FBPT_AT);
	seal_at(FPDT_AT);
	return fpdt;
}

/* Adds an FBPT of LENGTH bytes with a record of type 1 (S3) and the boot record, whose times are 1 to 5 ns. */
static uint8_t *
add_fbpt(size_t length)
{
	uint8_t *fbpt = add_table(FBPT_AT, "FBPT", length);

	put(fbpt, 8, 2, 1);
	put(fbpt, 10, 1, 8);
	put(fbpt, 16, 2, 2);
	put(fbpt, 18, 1, 48);
	for (size_t i = 0; i < 5; i++)
		put(fbpt, 24 + 8 * i, 8, i + 1);
	return fbpt;
}

static bool
read_fpdt(void)
{
	const struct acpi_memory memory = { machine_at, NULL };
	const struct region *fpdt = region_at(FPDT_AT);

	machine->facts = (struct acpi_facts){ 0 };
	return acpi_read_fpdt(&memory, fpdt->bytes, fpdt->length, &machine->facts);
}

TEST(the_boot_record_is_found_after_records_of_other_types)
{
	add_fpdt(52);
	add_fbpt(64);
	assert_true(read_fpdt());
	assert_true(machine->facts.fpdt.found);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(machine->facts.fpdt.times_ns[i], i + 1);
}

TEST(an_fpdt_whose_boot_record_is_cut_endless_or_unreadable_has_no_times)
{
	static const struct {
		size_t at, size;
		uint64_t value, good; /* in the FBPT, and in a valid FBPT */
		bool found;
	} cases[] = {
		{ 4, 4, 63, 64, false }, /* the table ends within the record */
		{ 4, 4, 0xffffffff, 64, false },
		{ 4, 4, 0, 64, false },  /* shorter than its header: the 0 bytes are not asked for */
		{ 10, 1, 0, 8, false },  /* a record of length 0 never ends */
		{ 18, 1, 40, 48, false }, /* shorter than its five times */
		{ 18, 1, 48, 48, true },
		{ 0, 1, 'S', 'F', false },
	};
	uint8_t *fpdt = add_fpdt(52), *fbpt;

	assert_true(read_fpdt()); /* no FBPT at the address */
	assert_false(machine->facts.fpdt.found);
	fbpt = add_fbpt(64);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(fbpt, cases[i].at, cases[i].size, cases[i].value);
		assert_true(read_fpdt());
		assert_int_equal(machine->facts.fpdt.found, cases[i].found);
		put(fbpt, cases[i].at, cases[i].size, cases[i].good);
	}
	fpdt[9]++;
	assert_false(read_fpdt());
}

/* ---- coreboot ---- */

/* Adds a table of coreboot with a record of another type, and a record TAG with an address. */
static uint8_t *
add_coreboot(uint64_t at, uint64_t tag, uint64_t address)
{
	uint8_t *table = add_region(at, 24 + 9 + 16); /* an odd number of bytes before the record */

	memcpy(table, "LBIO", 4);
	put(table, 4, 4, 24);
	put(table, 12, 4, 9 + 16);
	put(table, 20, 4, 2);
	put(table, 24, 4, 3);
	put(table, 28, 4, 9);
	put(table, 33, 4, tag);
	put(table, 37, 4, 16);
	put(table, 41, 8, address);
	coreboot_seal(table, 24 + 9 + 16);
	return table;
}

/* Returns the TSC's rate in coreboot's table in MHz, or -1 if there is no table of time stamps. */
static int64_t
find_mhz(void)
{
	const struct acpi_memory memory = { machine_at, NULL };
	uint64_t mhz = 0;

	return coreboot_find_tsc_mhz(&memory, &mhz) ? (int64_t)mhz : -1;
}

TEST(coreboots_table_gives_the_rate_of_its_time_stamps)
{
	uint8_t *first = add_coreboot(COREBOOT_AT, 0x11, FORWARD_AT);
	uint8_t *second = add_coreboot(FORWARD_AT, 0x16, STAMPS_AT), *stamps;

	assert_int_equal(find_mhz(), -1); /* no time stamps at the address */
	stamps = add_region(STAMPS_AT, 16);
	assert_int_equal(find_mhz(), 0);
	put(stamps, 10, 2, 3700);
	assert_int_equal(find_mhz(), 3700);
	put(first, 33, 4, 0x16); /* without a second table */
	put(first, 41, 8, STAMPS_AT);
	coreboot_seal(first, 49);
	put(second, 0, 4, 0);
	assert_int_equal(find_mhz(), 3700);
}

TEST(a_table_of_coreboot_with_a_wrong_checksum_or_size_is_not_used)
{
	uint8_t *table = add_coreboot(COREBOOT_AT, 0x16, STAMPS_AT);

	put(add_region(STAMPS_AT, 16), 10, 2, 3700);
	assert_int_equal(find_mhz(), 3700);
	table[20]++; /* a byte of the header */
	assert_int_equal(find_mhz(), -1);
	table[20]--;
	table[32]++; /* a byte of a record */
	assert_int_equal(find_mhz(), -1);
	table[32]--;
	put(table, 12, 4, 24); /* the last record is cut */
	coreboot_seal(table, 48);
	assert_int_equal(find_mhz(), -1);
	put(table, 12, 4, 0xffffffff);
	coreboot_seal(table, 49);
	assert_int_equal(find_mhz(), -1);
	put(table, 12, 4, 25);
	put(table, 28, 4, 0); /* a record of length 0 never ends */
	coreboot_seal(table, 49);
	assert_int_equal(find_mhz(), -1);
	put(table, 28, 4, 9);
	coreboot_seal(table, 49);
	assert_int_equal(find_mhz(), 3700);
}
