/* Reads the FADT, the HPET table and the MADT. A field is read only if the table is long enough to contain it. */
#include "acpi/acpi_internal.h"

/* ACPI 6.5, 5.2.9, table 5.9: offsets in the FADT. */
#define FADT_DSDT           40u
#define FADT_SCI_INT        46u
#define FADT_PM1A_EVT_BLK   56u
#define FADT_PM1A_CNT_BLK   64u
#define FADT_PM_TMR_BLK     76u
#define FADT_PM1_EVT_LEN    88u
#define FADT_PM_TMR_LEN     91u
#define FADT_IAPC_BOOT_ARCH 109u
#define FADT_FLAGS          112u
#define FADT_RESET_REG      116u
#define FADT_RESET_VALUE    128u
#define FADT_SIZE_1         116u /* size of the FADT in ACPI 1.0, which ends after the flags */
/* In a FADT of at most this size, bytes 109 and 110 (IAPC_BOOT_ARCH) are reserved. They can have any value. */
#define FADT_SIZE_2         132u
#define FADT_X_DSDT         140u
#define FADT_X_PM_TMR_BLK   208u
/* ACPI 6.5, tables 5.10 and 5.11: bits of FLAGS and IAPC_BOOT_ARCH. */
#define FADT_TMR_VAL_EXT      (1u << 8)
#define FADT_RESET_REG_SUP    (1u << 10)
#define FADT_HW_REDUCED       (1u << 20)
#define IAPC_CMOS_RTC_ABSENT  (1u << 5)
/* ACPI 6.5, 5.2.3.2, table 5.1: offsets in a generic address structure. */
#define GAS_SPACE   0u
#define GAS_ADDRESS 4u
#define GAS_SIZE    12u

/* IA-PC HPET 1.0a, 3.2.4: offset of the base address in the HPET table, and size of the table. */
#define HPET_BASE     40u
#define HPET_SIZE     56u

/* ACPI 6.5, 5.2.12, table 5.19: offsets in the MADT. */
#define MADT_FLAGS         40u /* ACPI 6.5, 5.2.12: offset of the flags */
#define MADT_PCAT_COMPAT   1u  /* ACPI 6.5, table 5.20: the machine has two 8259 PICs */
#define MADT_STRUCTURES    44u
/*
 * ACPI 6.5, 5.2.12.2, .3, .5, .8 and .12: each structure of the MADT starts with its type and its length, one byte
 * each.
 */
#define STRUCTURE_HEADER_SIZE 2u
#define TYPE_LAPIC          0u
#define TYPE_IOAPIC         1u
#define TYPE_OVERRIDE       2u
#define TYPE_LAPIC_ADDRESS  5u
#define TYPE_X2APIC         9u
#define TYPE_COUNT          10u
/* Flag of types 0 and 9: the core is enabled. A core without this flag can only be added by hot plug. */
#define LAPIC_ENABLED       1u
/*
 * SDM vol. 3A, 10.6.2.1, Physical Destination Mode, and 10.12.9, ICR Operation in x2APIC Mode: ids that address all
 * cores as a destination. No core has such an id.
 */
#define LAPIC_ID_ALL        0xffu
#define X2APIC_ID_ALL       0xffffffffu

/* Minimum length of a structure of each type; 0 if any length is valid. */
static const uint8_t structure_size[TYPE_COUNT] = {
	[TYPE_LAPIC] = 8,
	[TYPE_IOAPIC] = 12,
	[TYPE_OVERRIDE] = 10,
	[TYPE_LAPIC_ADDRESS] = 12,
	[TYPE_X2APIC] = 16,
};

/*
 * A hash set of the APIC ids that the table has listed so far, with open addressing. At most half of the slots are
 * used, so that a search takes few steps and always ends at an empty slot.
 */
#define SEEN_BITS  13
#define SEEN_SLOTS (1u << SEEN_BITS)
_Static_assert(SEEN_SLOTS >= 2 * ACPI_CORES_MAX, "half of the slots of the table of seen ids stay empty");

struct seen {
	/* an APIC id + 1, or 0 if the slot is empty; no core has the id FFFFFFFFh, so id + 1 does not overflow */
	uint32_t slots[SEEN_SLOTS];
};

struct madt_walk {
	struct acpi_table table;
	struct acpi_facts *facts;
	uint32_t invalid;  /* number of enabled entries whose id addresses all cores */
	uint32_t left_out; /* number of different enabled ids that do not fit into apic_ids */
	struct seen seen;
};

/*
 * Reads the reset register if it is one byte at an I/O port (ACPI 6.5, 4.8.3.6). The tables of 190 real machines all
 * describe such a register.
 */
static void
read_reset_register(const struct acpi_table *table, uint32_t flags, struct acpi_fadt *fadt)
{
	uint64_t address = acpi_read_field(table, FADT_RESET_REG + GAS_ADDRESS, sizeof(uint64_t));

	if (table->length <= FADT_RESET_VALUE || !(flags & FADT_RESET_REG_SUP) || address > UINT16_MAX ||
	    acpi_read_field(table, FADT_RESET_REG + GAS_SPACE, 1) != ACPI_SPACE_IO)
		return;
	fadt->reset_port = (uint16_t)address;
	fadt->reset_value = (uint8_t)acpi_read_field(table, FADT_RESET_VALUE, 1);
}

bool
acpi_read_fadt(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	struct acpi_table available = { bytes, length }, table;
	struct acpi_fadt *fadt = &facts->fadt;
	uint32_t flags;

	*fadt = (struct acpi_fadt){ 0 };
	if (!acpi_validate_table(&available, "FACP", "FADT", &table, facts))
		return false;
	if (table.length < FADT_SIZE_1)
		return acpi_add_problem(facts, "FADT: its length is %zu bytes, not %u or more; it is not used",
					table.length, FADT_SIZE_1);
	flags = (uint32_t)acpi_read_field(&table, FADT_FLAGS, sizeof(flags));
	fadt->found = true;
	fadt->pm_tmr_blk = (uint32_t)acpi_read_field(&table, FADT_PM_TMR_BLK, sizeof(uint32_t));
	fadt->pm_tmr_len = (uint8_t)acpi_read_field(&table, FADT_PM_TMR_LEN, 1);
	fadt->sci_int = (uint16_t)acpi_read_field(&table, FADT_SCI_INT, sizeof(uint16_t));
	fadt->pm1_evt_blk = (uint32_t)acpi_read_field(&table, FADT_PM1A_EVT_BLK, sizeof(uint32_t));
	fadt->pm1_evt_len = (uint8_t)acpi_read_field(&table, FADT_PM1_EVT_LEN, 1);
	fadt->pm1_cnt_blk = (uint32_t)acpi_read_field(&table, FADT_PM1A_CNT_BLK, sizeof(uint32_t));
	fadt->dsdt = acpi_read_field(&table, FADT_X_DSDT, sizeof(uint64_t));
	if (!fadt->dsdt)
		fadt->dsdt = acpi_read_field(&table, FADT_DSDT, sizeof(uint32_t));
	fadt->tmr_val_ext = flags & FADT_TMR_VAL_EXT;
	fadt->hw_reduced = flags & FADT_HW_REDUCED;
	/*
	 * IAPC_BOOT_ARCH is valid in a table longer than FADT_SIZE_2. The table's length is checked and not its
	 * revision, because some tables state a wrong revision.
	 */
	if (table.length > FADT_SIZE_2)
		fadt->cmos_rtc_absent = acpi_read_field(&table, FADT_IAPC_BOOT_ARCH, sizeof(uint16_t)) &
					IAPC_CMOS_RTC_ABSENT;
	read_reset_register(&table, flags, fadt);
	fadt->has_x_pm_tmr = table.length >= FADT_X_PM_TMR_BLK + GAS_SIZE;
	if (fadt->has_x_pm_tmr) {
		fadt->x_pm_tmr_space = (uint8_t)acpi_read_field(&table, FADT_X_PM_TMR_BLK + GAS_SPACE, 1);
		fadt->x_pm_tmr_address = acpi_read_field(&table, FADT_X_PM_TMR_BLK + GAS_ADDRESS,
							 sizeof(uint64_t));
	}
	return true;
}

bool
acpi_read_hpet(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	struct acpi_table available = { bytes, length }, table;
	struct acpi_hpet *hpet = &facts->hpet;

	*hpet = (struct acpi_hpet){ 0 };
	if (!acpi_validate_table(&available, "HPET", "HPET table", &table, facts))
		return false;
	if (table.length < HPET_SIZE)
		return acpi_add_problem(facts, "HPET table: its length is %zu bytes, not %u or more; it is not used",
					table.length, HPET_SIZE);
	hpet->found = true;
	hpet->space = (uint8_t)acpi_read_field(&table, HPET_BASE + GAS_SPACE, 1);
	hpet->base = acpi_read_field(&table, HPET_BASE + GAS_ADDRESS, sizeof(uint64_t));
	return true;
}

/* Returns the slot that contains ID, or else the empty slot in which ID must be stored. */
static uint32_t *
find_slot_of_apic_id(struct seen *seen, uint32_t id)
{
	/* Multiplicative hashing with 2^32 divided by the golden ratio (Knuth, TAOCP vol. 3, 6.4). */
	uint32_t slot = (id * 2654435769u) >> (32 - SEEN_BITS);

	while (seen->slots[slot] != 0 && seen->slots[slot] != id + 1)
		slot = (slot + 1) % SEEN_SLOTS;
	return &seen->slots[slot];
}

static void
add_core(struct madt_walk *walk, uint32_t apic_id)
{
	struct acpi_madt *madt = &walk->facts->madt;
	uint32_t *slot = find_slot_of_apic_id(&walk->seen, apic_id);

	if (*slot != 0)
		return;
	if (madt->enabled == ACPI_CORES_MAX) {
		walk->left_out++;
		return;
	}
	*slot = apic_id + 1;
	madt->enabled++;
	if (madt->core_count < madt->core_max)
		madt->apic_ids[madt->core_count++] = apic_id;
}

static void
read_processor_entry(struct madt_walk *walk, uint32_t apic_id, uint32_t broadcast_id, uint32_t flags)
{
	if (!(flags & LAPIC_ENABLED))
		return;
	if (apic_id == broadcast_id)
		walk->invalid++;
	else
		add_core(walk, apic_id);
}

static void
read_madt_structure(struct madt_walk *walk, unsigned type, size_t at)
{
	const struct acpi_table *table = &walk->table;

	if (type == TYPE_LAPIC)
		read_processor_entry(walk, (uint32_t)acpi_read_field(table, at + 3, 1), LAPIC_ID_ALL,
				     (uint32_t)acpi_read_field(table, at + 4, 4));
	else if (type == TYPE_IOAPIC && walk->facts->madt.ioapic_count < ACPI_IOAPICS_MAX)
		walk->facts->madt.ioapics[walk->facts->madt.ioapic_count++] = (struct acpi_ioapic){
			(uint32_t)acpi_read_field(table, at + 4, 4), (uint32_t)acpi_read_field(table, at + 8, 4),
		};
	else if (type == TYPE_OVERRIDE && walk->facts->madt.override_count < ACPI_OVERRIDES_MAX)
		walk->facts->madt.overrides[walk->facts->madt.override_count++] = (struct acpi_override){
			(uint8_t)acpi_read_field(table, at + 3, 1), (uint16_t)acpi_read_field(table, at + 8, 2),
			(uint32_t)acpi_read_field(table, at + 4, 4),
		};
	else if (type == TYPE_X2APIC)
		read_processor_entry(walk, (uint32_t)acpi_read_field(table, at + 4, 4), X2APIC_ID_ALL,
				     (uint32_t)acpi_read_field(table, at + 8, 4));
}

/*
 * Reads the MADT's structures. Returns false if a structure has an invalid length; the structures after it are then not
 * read.
 */
static bool
read_madt_structures(struct madt_walk *walk)
{
	const struct acpi_table *table = &walk->table;
	size_t at = MADT_STRUCTURES;

	while (at < table->length) {
		unsigned type = (unsigned)acpi_read_field(table, at, 1);
		size_t size = (size_t)acpi_read_field(table, at + 1, 1);
		size_t least = type < TYPE_COUNT ? structure_size[type] : 0;

		if (size < STRUCTURE_HEADER_SIZE || size < least || size > table->length - at)
			return acpi_add_problem(walk->facts, "MADT: the structure at byte %zu has type %u and length %zu; this and "
					 "all later structures are not used", at, type, size);
		read_madt_structure(walk, type, at);
		at += size;
	}
	return true;
}

bool
acpi_read_madt(const uint8_t *bytes, size_t length, struct acpi_facts *facts)
{
	struct acpi_table available = { bytes, length };
	struct madt_walk walk = { .facts = facts };
	struct acpi_madt *madt = &facts->madt;

	*madt = (struct acpi_madt){ .apic_ids = madt->apic_ids, .core_max = madt->core_max };
	if (!acpi_validate_table(&available, "APIC", "MADT", &walk.table, facts))
		return false;
	if (walk.table.length < MADT_STRUCTURES)
		return acpi_add_problem(facts, "MADT: its length is %zu bytes, not %u or more; it is not used",
					walk.table.length, MADT_STRUCTURES);
	madt->found = true;
	madt->has_pics = acpi_read_field(&walk.table, MADT_FLAGS, 4) & MADT_PCAT_COMPAT;
	bool whole = read_madt_structures(&walk);
	if (walk.invalid > 0)
		acpi_add_problem(facts, "MADT: %u enabled processors have the broadcast APIC id; "
				 "they are left out", walk.invalid);
	if (walk.left_out > 0)
		acpi_add_problem(facts, "MADT: it lists more than %u enabled processors; %u are left out",
				 ACPI_CORES_MAX, walk.left_out);
	return whole && walk.invalid == 0 && walk.left_out == 0;
}

bool
acpi_madt_lists_core(const struct acpi_madt *madt, uint32_t apic_id)
{
	for (size_t i = 0; i < madt->core_count; i++)
		if (madt->apic_ids[i] == apic_id)
			return true;
	return false;
}
