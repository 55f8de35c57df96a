/* Finds the ACPI tables: the RSDP has the address of the root table, which lists the other tables. See acpi.h. */
#include "acpi/acpi_internal.h"
#include "base/text.h"

/* ACPI 6.5, 5.2.5.3, table 5.3: offsets of the RSDP's fields. */
#define RSDP_SIGNATURE      "RSD PTR "
#define RSDP_REVISION       15u
#define RSDP_RSDT_ADDRESS   16u
#define RSDP_SIZE_1         20u /* size of the RSDP in ACPI 1.0; the first checksum covers these bytes */
#define RSDP_LENGTH         20u
#define RSDP_XSDT_ADDRESS   24u
#define RSDP_SIZE_2         36u /* size of the RSDP from revision 2 on; a second checksum covers all bytes */

#define ROOT_ENTRIES_MAX    256u

struct root {
	const char *name;  /* "XSDT" or "RSDT": the table's name and its signature */
	uint64_t address;  /* address of the table; 0 if there is no such table */
	/* size in bytes of each address in the table: 4 in an RSDT (ACPI 6.5, 5.2.7), 8 in an XSDT (5.2.8) */
	size_t entry_size;
};

/*
 * Returns the table at ADDRESS, with the length that its header states. If fewer bytes can be read, the length is
 * ACPI_HEADER_SIZE.
 */
static struct acpi_table
fetch_table(const struct acpi_memory *memory, uint64_t address)
{
	struct acpi_table table = { memory->at(memory->context, address, ACPI_HEADER_SIZE), 0 };
	size_t length;

	if (!table.bytes)
		return table;
	table.length = ACPI_HEADER_SIZE;
	length = (size_t)acpi_read_field(&table, ACPI_HEADER_LENGTH, sizeof(uint32_t));
	if (length <= ACPI_HEADER_SIZE || length > ACPI_TABLE_LENGTH_MAX)
		return table;
	const uint8_t *whole = memory->at(memory->context, address, length);
	return whole ? (struct acpi_table){ whole, length } : table;
}

/*
 * Reads the table at ADDRESS if it is of a known type. If there are several FADTs, HPET tables, MADTs or WDATs, only
 * the first valid table of each type is used. Returns false if nothing can be read at ADDRESS.
 */
static bool
read_facts_from_table(const struct acpi_memory *memory, uint64_t address, struct acpi_facts *facts)
{
	struct acpi_table table = fetch_table(memory, address);

	if (acpi_has_signature(&table, "FACP") && !facts->fadt.found)
		acpi_read_fadt(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "HPET") && !facts->hpet.found)
		acpi_read_hpet(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "APIC") && !facts->madt.found)
		acpi_read_madt(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "SSDT"))
		acpi_read_ssdt(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "SPCR"))
		acpi_read_spcr(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "DBG2"))
		acpi_read_dbg2(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "WDAT") && !facts->watchdog.found)
		acpi_read_wdat(table.bytes, table.length, facts);
	else if (acpi_has_signature(&table, "FPDT") && !facts->fpdt.found)
		acpi_read_fpdt(memory, table.bytes, table.length, facts);
	return table.bytes != NULL;
}

static void
read_listed_tables(const struct acpi_memory *memory, const struct root *root,
		   const struct acpi_table *table, struct acpi_facts *facts)
{
	size_t count = (table->length - ACPI_HEADER_SIZE) / root->entry_size;
	size_t unreadable = 0;

	if (count > ROOT_ENTRIES_MAX) {
		acpi_add_problem(facts, "%s: it has %zu entries; only the first %u are read", root->name,
				 count, ROOT_ENTRIES_MAX);
		count = ROOT_ENTRIES_MAX;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t address = acpi_read_field(table, ACPI_HEADER_SIZE + i * root->entry_size,
						   root->entry_size);

		/* some firmware lists tables at address 0, which are ignored */
		if (address != 0 && !read_facts_from_table(memory, address, facts))
			unreadable++;
	}
	if (unreadable > 0)
		acpi_add_problem(facts, "%s: %zu of its %zu entries have an address at which nothing can be read",
				 root->name, unreadable, count);
}

/* Appends an OEM id to OUT, without the trailing blanks and zeros. */
static void
append_oem_id(struct text *out, const uint8_t *bytes, size_t length)
{
	while (length && (bytes[length - 1] == ' ' || bytes[length - 1] == 0))
		length--;
	if (length && out->length)
		text_put_char(out, ' ');
	for (size_t i = 0; i < length; i++)
		text_printf(out, "%c", bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '?');
}

static void
read_oem_ids(const struct acpi_table *table, struct acpi_facts *facts)
{
	struct text text = text_start(facts->oem, sizeof(facts->oem));

	append_oem_id(&text, table->bytes + ACPI_HEADER_OEM_ID, ACPI_HEADER_OEM_TABLE - ACPI_HEADER_OEM_ID);
	append_oem_id(&text, table->bytes + ACPI_HEADER_OEM_TABLE, ACPI_HEADER_OEM_END - ACPI_HEADER_OEM_TABLE);
}

static bool
read_root_table(const struct acpi_memory *memory, const struct root *root, struct acpi_facts *facts)
{
	struct acpi_table available, table;

	if (root->address == 0)
		return false;
	available = fetch_table(memory, root->address);
	if (!available.bytes)
		return acpi_add_problem(facts, "%s: nothing can be read at its address, %lxh", root->name, root->address);
	if (!acpi_validate_table(&available, root->name, root->name, &table, facts))
		return false;
	read_oem_ids(&table, facts);
	read_listed_tables(memory, root, &table, facts);
	return true;
}

/*
 * Returns the address of the XSDT. Returns 0 if the RSDP has no XSDT, or if the RSDP's fields of revision 2 are
 * invalid. The RSDT can be used even then, because the RSDP's first checksum covers the RSDT's address.
 */
static uint64_t
get_xsdt_address(const struct acpi_memory *memory, uint64_t address, struct acpi_facts *facts)
{
	struct acpi_table rsdp = { memory->at(memory->context, address, RSDP_SIZE_2), RSDP_SIZE_2 };

	if (!rsdp.bytes) {
		acpi_add_problem(facts, "RSDP: only its first %u bytes can be read", RSDP_SIZE_1);
		return 0;
	}
	size_t length = (size_t)acpi_read_field(&rsdp, RSDP_LENGTH, sizeof(uint32_t));
	if (length >= RSDP_SIZE_2 && length <= ACPI_TABLE_LENGTH_MAX)
		rsdp = (struct acpi_table){ memory->at(memory->context, address, length), length };
	if (length != rsdp.length || !rsdp.bytes) {
		acpi_add_problem(facts, "RSDP: its length of %zu bytes is not valid; its XSDT is not used",
				 length);
		return 0;
	}
	uint8_t sum = acpi_sum_bytes(&rsdp);
	if (sum != 0)
		acpi_add_problem(facts, "RSDP: its second checksum is off by %xh; its XSDT is not used",
				 sum);
	return sum == 0 ? acpi_read_field(&rsdp, RSDP_XSDT_ADDRESS, sizeof(uint64_t)) : 0;
}

/* Returns true if the first part of the RSDP, which ACPI 1.0 defines, is valid. */
static bool
is_rsdp_valid(const struct acpi_table *rsdp, struct acpi_facts *facts)
{
	if (!rsdp->bytes)
		return acpi_add_problem(facts, "RSDP: nothing can be read at its address");
	if (!acpi_has_signature(rsdp, RSDP_SIGNATURE))
		return acpi_add_problem(facts, "RSDP: its signature is not RSD PTR; no ACPI table is used");
	if (acpi_sum_bytes(rsdp) != 0)
		return acpi_add_problem(facts, "RSDP: its checksum is off by %xh; no ACPI table is used",
					acpi_sum_bytes(rsdp));
	return true;
}

static void
clear_acpi_facts(struct acpi_facts *facts)
{
	uint32_t *apic_ids = facts->madt.apic_ids;
	size_t core_max = facts->madt.core_max;

	*facts = (struct acpi_facts){ 0 };
	facts->madt.apic_ids = apic_ids;
	facts->madt.core_max = core_max;
}

static bool
read_xsdt_or_rsdt(const struct acpi_memory *memory, const struct root *xsdt, const struct root *rsdt,
		  struct acpi_facts *facts)
{
	if (read_root_table(memory, xsdt, facts))
		return true;
	if (rsdt->address != 0 && facts->problem_count > 0)
		acpi_add_problem(facts, "RSDT: it is used instead of the XSDT");
	return read_root_table(memory, rsdt, facts);
}

void
acpi_read_facts(const struct acpi_memory *memory, uint64_t rsdp_address, struct acpi_facts *facts)
{
	struct acpi_table rsdp = { NULL, RSDP_SIZE_1 };
	struct root xsdt = { "XSDT", 0, sizeof(uint64_t) };
	struct root rsdt = { "RSDT", 0, sizeof(uint32_t) };

	clear_acpi_facts(facts);
	if (rsdp_address == 0) {
		acpi_add_problem(facts, "RSDP: the firmware does not give its address; no ACPI table is used");
		return;
	}
	rsdp.bytes = memory->at(memory->context, rsdp_address, RSDP_SIZE_1);
	if (!is_rsdp_valid(&rsdp, facts))
		return;
	rsdt.address = acpi_read_field(&rsdp, RSDP_RSDT_ADDRESS, sizeof(uint32_t));
	if (acpi_read_field(&rsdp, RSDP_REVISION, 1) >= 2)
		xsdt.address = get_xsdt_address(memory, rsdp_address, facts);

	facts->found = read_xsdt_or_rsdt(memory, &xsdt, &rsdt, facts);
	if (!facts->found && facts->problem_count == 0)
		acpi_add_problem(facts, "RSDP: it names neither an XSDT nor an RSDT");
	if (facts->fadt.dsdt) {
		struct acpi_table dsdt = fetch_table(memory, facts->fadt.dsdt);

		acpi_read_dsdt(dsdt.bytes, dsdt.length, facts);
	}
}
