/*
 * Reads the ACPI tables that describe clocks, cores, the sleep state S5 and the console's port. The tables are not
 * trusted: each length is checked before a field is read, and each fault is added to a list of sentences.
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
#define ACPI_WATCHDOG_MAX 32 /* maximum number of the WDAT's entries; a longer table is listed as a problem */
#define ACPI_OVERRIDES_MAX 16 /* maximum number of the MADT's overrides: one for each of the 16 ISA interrupts */

/* address space of a register: ACPI 6.5, table 5.1, Address Space ID */
enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1 };

struct acpi_fadt {
	bool found;
	uint32_t pm_tmr_blk; /* I/O port of the PM timer, or 0 */
	uint8_t pm_tmr_len;
	bool tmr_val_ext;      /* true if the PM timer has 32 bits, false if it has 24 */
	uint32_t pm1_evt_blk;  /* I/O port of PM1a's status register, or 0; the enable register follows it */
	uint8_t pm1_evt_len;
	/* SCI: number of its ISA interrupt if there are PICs, otherwise global number (GSI) of its I/O APIC pin */
	uint16_t sci_int;
	bool hw_reduced;
	bool cmos_rtc_absent;  /* IAPC_BOOT_ARCH bit 5: there is no RTC */
	uint16_t reset_port;   /* I/O port of RESET_REG; 0 if this register is missing or not an I/O port */
	uint8_t reset_value;   /* value that resets the machine if it is written to reset_port */
	uint32_t pm1_cnt_blk;  /* I/O port of PM1a's control register, or 0 */
	uint64_t dsdt;         /* physical address of the DSDT, or 0 */
	bool has_x_pm_tmr;     /* the table is long enough to hold X_PM_TMR_BLK */
	uint8_t x_pm_tmr_space;
	uint64_t x_pm_tmr_address; /* address in X_PM_TMR_BLK; if it is 0, the timer's address is pm_tmr_blk */
};

struct acpi_hpet {
	bool found;
	uint8_t space;
	uint64_t base;
};

struct acpi_madt {
	bool found;
	bool has_pics;       /* flag PCAT_COMPAT: there are two 8259 PICs */
	/* number of different enabled APIC ids in the table; core_count is smaller if they do not fit into apic_ids */
	uint32_t enabled;
	size_t core_count;
	/* enabled APIC ids in the table's order, each once; the caller provides space for core_max ids */
	uint32_t *apic_ids;
	size_t core_max;
	size_t ioapic_count; /* number of valid entries of IOAPICS; further I/O APICs are ignored */
	struct acpi_ioapic {
		/* the I/O APIC's physical address, and the global number (GSI) of its first pin */
		uint32_t address, first_pin;
	} ioapics[ACPI_IOAPICS_MAX];
	size_t override_count; /* number of valid entries of OVERRIDES; further overrides are ignored */
	struct acpi_override {
		uint8_t irq;    /* number of the ISA interrupt that the override concerns */
		uint16_t flags; /* polarity and trigger mode: ACPI 6.5, table 5.26 */
		uint32_t pin;   /* global number (GSI) of the I/O APIC pin that the interrupt uses */
	} overrides[ACPI_OVERRIDES_MAX];
};

/* Sleep state S5, "soft off", from the DSDT: ACPI 6.5, 7.4.2. */
struct acpi_s5 {
	bool found;
	uint8_t type; /* SLP_TYPa, the value for the register at pm1_cnt_blk */
};

/* The board's watchdog, as the WDAT describes it. Each action is a list of register accesses: see drivers/watchdog. */
struct acpi_watchdog {
	bool found;
	bool enabled;        /* WDAT flag "enabled": the board has the watchdog, and software may use it */
	uint32_t period_ms;  /* duration of one count of the watchdog's countdown */
	uint32_t count_max;
	size_t entry_count;
	struct acpi_watchdog_entry {
		uint8_t action, instruction;
		uint8_t space; /* address space of the register: enum acpi_space */
		uint8_t bits;  /* width of the access in bits: 8, 16 or 32, or an invalid number from the table */
		uint8_t shift;
		uint64_t address;
		uint32_t value, mask;
	} entries[ACPI_WATCHDOG_MAX];
};

/*
 * The basic boot record of the table that the FPDT names, in ns since the reset: ACPI 6.5, 5.2.24. 0 stands for a time
 * that the firmware did not store.
 */
struct acpi_fpdt {
	bool found;
	/* end of the reset, start of loading and of the image of the loader, start and end of ExitBootServices */
	uint64_t times_ns[5];
};

struct acpi_facts {
	bool found; /* true if there is an RSDP with a valid checksum, and a root table */
	char oem[16]; /* OEM id and OEM table id of the root table in printable ASCII, for example "BOCHS BXPC" */
	struct acpi_fadt fadt;
	struct acpi_hpet hpet;
	struct acpi_madt madt;
	struct acpi_s5 s5;
	/*
	 * Physical addresses of the VM Generation ID and of vmclock's page; 0 if there is none. A hypervisor changes
	 * their contents to announce a disruption, for example a restored snapshot.
	 */
	uint64_t vmgenid, vmclock;
	uint16_t serial_port; /* I/O port of a 16550 from the SPCR, otherwise from the DBG2; 0 if there is none */
	struct acpi_watchdog watchdog;
	struct acpi_fpdt fpdt;
	size_t problem_count;
	/* sentences about faults of tables; each starts with the table's name */
	char problems[ACPI_PROBLEMS_MAX][ACPI_PROBLEM_SIZE];
};

/* Access to physical memory. Returns LENGTH bytes at ADDRESS, or NULL if they cannot be read. */
struct acpi_memory {
	const uint8_t *(*at)(void *context, uint64_t address, size_t length);
	void *context;
};

/*
 * Reads the tables that the root table of the RSDP at RSDP_ADDRESS lists, and stores their facts in FACTS. RSDP_ADDRESS
 * is 0 if there is no RSDP. The caller sets facts->madt.apic_ids and core_max, and all other fields are overwritten.
 * Never fails: FOUND is false for a missing table, and an invalid table is listed in PROBLEMS. At most 256 entries of
 * the root table are read.
 */
void acpi_read_facts(const struct acpi_memory *memory, uint64_t rsdp_address, struct acpi_facts *facts);

/* Returns true if APIC_ID is in madt->apic_ids. */
bool acpi_madt_lists_core(const struct acpi_madt *madt, uint32_t apic_id);

/*
 * Each function below reads one table of LENGTH bytes, including the table's header. The functions return false, and
 * add a problem to FACTS, if the table is invalid.
 */
bool acpi_read_fadt(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_hpet(const uint8_t *table, size_t length, struct acpi_facts *facts);
/* returns false if the table is invalid or does not define S5 */
bool acpi_read_dsdt(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_madt(const uint8_t *table, size_t length, struct acpi_facts *facts);

/*
 * Reads the address of the VM Generation ID or of vmclock from an SSDT that describes one of them. Returns false if the
 * table is invalid.
 */
bool acpi_read_ssdt(const uint8_t *table, size_t length, struct acpi_facts *facts);

/* Both functions return true if the table is valid, even if it names no 16550 at an I/O port. */
bool acpi_read_spcr(const uint8_t *table, size_t length, struct acpi_facts *facts);
bool acpi_read_dbg2(const uint8_t *table, size_t length, struct acpi_facts *facts);

/* Returns false, and adds a problem, if the table is invalid or has more than ACPI_WATCHDOG_MAX entries. */
bool acpi_read_wdat(const uint8_t *table, size_t length, struct acpi_facts *facts);

/*
 * Reads the boot record that the FPDT names, from MEMORY. Returns true if the table is valid, even if it names no
 * record.
 */
bool acpi_read_fpdt(const struct acpi_memory *memory, const uint8_t *table, size_t length, struct acpi_facts *facts);

#endif
