/*
 * The ACPI tables that list clocks, cores, the sleep state S5 and the console's port. No table is trusted: each length
 * is checked before a field is read, and a table that is wrong becomes a sentence.
 */
#ifndef BARETICK_ACPI_H
#define BARETICK_ACPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACPI_PROBLEMS_MAX 8
#define ACPI_PROBLEM_SIZE 128
#define ACPI_CORES_MAX    4096
#define ACPI_IOAPICS_MAX  8
#define ACPI_OVERRIDES_MAX 16 /* an ISA interrupt each */

enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1 }; /* ACPI 6.5, table 5.1 */

struct acpi_fadt {
	bool found;
	uint32_t pm_tmr_blk; /* I/O port; 0 where there is none */
	uint8_t pm_tmr_len;
	bool tmr_val_ext;      /* flag: the PM timer is 32 bits wide, else 24 */
	uint32_t pm1_evt_blk;  /* I/O port of PM1a's status register, followed by its enable register; 0 if absent */
	uint8_t pm1_evt_len;
	uint16_t sci_int;      /* an ISA interrupt, or a global number of an I/O APIC's pin */
	bool hw_reduced;
	bool cmos_rtc_absent;  /* IAPC_BOOT_ARCH bit 5 */
	uint16_t reset_port;   /* RESET_REG, or 0 if it is absent or at no I/O port */
	uint8_t reset_value;   /* resets the machine if written to that port */
	uint32_t pm1_cnt_blk;  /* I/O port of PM1a's control register, 0 if there is none */
	uint64_t dsdt;         /* physical address, 0 if there is none */
	bool has_x_pm_tmr;     /* the table is long enough to hold X_PM_TMR_BLK */
	uint8_t x_pm_tmr_space;
	uint64_t x_pm_tmr_address; /* 0: the old field counts */
};

struct acpi_hpet {
	bool found;
	uint8_t space;
	uint64_t base;
};

struct acpi_madt {
	bool found;
	bool has_pics;       /* flag PCAT_COMPAT: two 8259s as in a PC-AT */
	uint32_t enabled;    /* distinct enabled APIC ids in the table; core_count is less where they did not fit */
	size_t core_count;
	uint32_t *apic_ids;  /* the caller's, space for core_max; enabled ones, in table order, each id once */
	size_t core_max;
	size_t ioapic_count; /* at most as many as fit into the array */
	struct acpi_ioapic {
		uint32_t address, first_pin; /* the global number of its first one */
	} ioapics[ACPI_IOAPICS_MAX];
	size_t override_count; /* at most as many as fit into the array */
	struct acpi_override {
		uint8_t irq;    /* this ISA interrupt */
		uint16_t flags; /* ACPI 6.5, table 5.26: polarity, trigger mode */
		uint32_t pin;   /* comes by the pin of this global number */
	} overrides[ACPI_OVERRIDES_MAX];
};

/* Sleep state S5, "soft off", of the DSDT: ACPI 6.5, 7.4.2. */
struct acpi_s5 {
	bool found;
	uint8_t type; /* SLP_TYPa: for the register at pm1_cnt_blk */
};

struct acpi_facts {
	bool found; /* an RSDP with a good checksum, and a root table behind it */
	char oem[16]; /* the OEM id and the OEM table id of that table, as "BOCHS BXPC", in printable ASCII */
	struct acpi_fadt fadt;
	struct acpi_hpet hpet;
	struct acpi_madt madt;
	struct acpi_s5 s5;
	uint16_t serial_port; /* I/O port of a 16550 by SPCR, else by DBG2, 0 if they name none */
	size_t problem_count;
	char problems[ACPI_PROBLEMS_MAX][ACPI_PROBLEM_SIZE]; /* sentences, each naming its table */
};

/* Physical memory as the reader may see it: LENGTH bytes at ADDRESS, or NULL where they can't be read. */
struct acpi_memory {
	const uint8_t *(*at)(void *context, uint64_t address, size_t length);
	void *context;
};

/*
 * Reads the tables that the RSDP at RSDP_ADDRESS (0: no RSDP) leads to into FACTS. The caller sets
 * facts->madt.apic_ids and core_max; all other fields are overwritten. Never fails: a missing table stays
 * not found, and an invalid one is listed as a problem. At most 256 root entries are read.
 */
void acpi_read_facts(const struct acpi_memory *memory, uint64_t rsdp_address, struct acpi_facts *facts);

/* Returns true if APIC_ID is one of the enabled ids that were kept, false otherwise. */
bool acpi_madt_lists(const struct acpi_madt *madt, uint32_t apic_id);

/* One table each, LENGTH bytes at TABLE with its header; false, and a problem in FACTS, where it is wrong. */
bool acpi_read_fadt(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_hpet(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_dsdt(const uint8_t *table, size_t length, struct acpi_facts *facts); /* false: it has no S5 */
bool acpi_read_madt(const uint8_t *table, size_t length, struct acpi_facts *facts);

/* Likewise. They return true if the table is right, also if it names no 16550 at an I/O port. */
bool acpi_read_spcr(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_dbg2(const uint8_t *table, size_t length, struct acpi_facts *facts);

#endif
