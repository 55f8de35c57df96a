/*
 * The board's watchdog: the ACPI table WDAT for the TCO timer of an Intel chip set (ICH9 data sheet, 13.9), and the
 * timer's registers.
 */
#include "test.h"
#include "sim.h"
#include "watchdog/watchdog.h"

#define PORT_RELOAD  0x660 /* port of the register TCO_RLD, which restarts the countdown */
#define PORT_CONTROL 0x668 /* port of the register TCO1_CNT; its bit 11 halts the timer */
#define PORT_TIMER   0x672 /* port of the register TCO_TMR; its bits 9:0 are the time */
#define HALT         (1u << 11)
#define PERIOD_MS    600
#define COUNT_MAX    1023
#define GCS          UINT64_C(0xfed1f410)
#define NO_REBOOT    (1u << 5)
/* number of WDAT entries that the driver needs; some tests add a seventh, which lets the watchdog reset the machine */
#define ENTRIES      6
#define SIZE         (68 + 24 * ENTRIES)

static struct {
	uint16_t control, timer;
	uint32_t gcs;
	unsigned reloads, writes;
} tco;
static uint8_t wdat[SIZE + 24];
static struct acpi_facts facts;
static struct watchdog watchdog;

static uint32_t
tco_in(void *context, uint16_t port, unsigned width_bytes)
{
	assert_int_equal(width_bytes, 2);
	return port == PORT_CONTROL ? tco.control : port == PORT_TIMER ? tco.timer : 0;
}

static void
tco_out(void *context, uint16_t port, uint32_t value, unsigned width_bytes)
{
	assert_int_equal(width_bytes, 2);
	tco.writes++;
	tco.reloads += port == PORT_RELOAD && value == 1;
	if (port == PORT_CONTROL)
		tco.control = (uint16_t)value;
	else if (port == PORT_TIMER)
		tco.timer = (uint16_t)value;
}

static uint64_t
gcs_read(uint64_t address, unsigned width_bytes)
{
	assert_int_equal(address, GCS);
	assert_int_equal(width_bytes, 4);
	return tco.gcs;
}

static void
gcs_write(uint64_t address, uint64_t value, unsigned width_bytes)
{
	assert_int_equal(address, GCS);
	assert_int_equal(width_bytes, 4);
	tco.gcs = (uint32_t)value;
	tco.writes++;
}

static void
put(uint8_t *bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

static void
put_entry(size_t index, uint8_t action, uint8_t instruction, uint16_t port, uint8_t shift, uint32_t value,
	  uint32_t mask)
{
	uint8_t *entry = wdat + 68 + 24 * index;

	entry[0] = action;
	entry[1] = instruction;
	entry[4] = ACPI_SPACE_IO;
	entry[5] = 16;
	entry[6] = shift;
	entry[7] = 2;
	put(entry + 8, port, 8);
	put(entry + 16, value, 4);
	put(entry + 20, mask, 4);
}

static bool
read_table(size_t length)
{
	uint8_t sum = 0;

	memcpy(wdat, "WDAT", 4);
	put(wdat + 4, length, 4);
	wdat[9] = 0;
	for (size_t i = 0; i < length; i++)
		sum = (uint8_t)(sum + wdat[i]);
	wdat[9] = (uint8_t)-sum;
	memset(&facts, 0, sizeof(facts));
	return acpi_read_wdat(wdat, length, &facts);
}

static void
set_up(void)
{
	sim_reset();
	sim_hook_ports((struct sim_port_hook){ PORT_RELOAD, PORT_TIMER + 1, tco_in, tco_out, NULL });
	sim_map_region((struct sim_region){ GCS, 4, gcs_read, gcs_write });
	memset(&tco, 0, sizeof(tco));
	tco.gcs = 0x80 | NO_REBOOT;
	tco.control = HALT | 1u << 8;
	tco.timer = 4;
	memset(wdat, 0, sizeof(wdat));
	put(wdat + 48, PERIOD_MS, 4);
	put(wdat + 52, COUNT_MAX, 4);
	put(wdat + 60, 1, 1);
	put(wdat + 64, ENTRIES, 4);
	put_entry(0, 1, 2, PORT_RELOAD, 0, 1, 0xffff);
	put_entry(1, 5, 1, PORT_TIMER, 0, 0, 0x3ff);
	put_entry(2, 6, 0x83, PORT_TIMER, 0, 0, 0x3ff);
	put_entry(3, 8, 0, PORT_CONTROL, 11, 0, 1);
	put_entry(4, 9, 0x82, PORT_CONTROL, 11, 0, 1);
	put_entry(5, 11, 0x82, PORT_CONTROL, 11, 1, 1);
	put_entry(6, 17, 0x82, 0, 5, 0, 1);
	memcpy(wdat + 68 + 24 * 6 + 4, (const uint8_t[]){ ACPI_SPACE_MEMORY, 32, 5, 3 }, 4);
	put(wdat + 68 + 24 * 6 + 8, GCS, 8);
}

#define FIXTURE set_up, NULL

TEST(the_watchdog_is_armed_for_300_s_restarted_and_restored, FIXTURE)
{
	assert_true(read_table(SIZE));
	assert_null(watchdog_arm(&watchdog, &facts.watchdog));
	assert_int_equal(watchdog.seconds, 300);
	assert_int_equal(tco.timer, 500);
	assert_int_equal(tco.control, 1u << 8); /* the timer runs (bit 11 is 0), and all other bits are unchanged */
	assert_int_equal(tco.reloads, 1);
	watchdog_feed(&watchdog);
	assert_int_equal(tco.reloads, 2);
	watchdog_disarm(&watchdog);
	assert_int_equal(tco.control, HALT | 1u << 8);
	assert_int_equal(tco.timer, 4);
	watchdog_feed(&watchdog);
	watchdog_disarm(&watchdog);
	assert_int_equal(tco.reloads, 2);
}

TEST(the_watchdog_may_reset_the_machine_while_it_is_armed, FIXTURE)
{
	put(wdat + 64, ENTRIES + 1, 4);
	assert_true(read_table(SIZE + 24));
	assert_null(watchdog_arm(&watchdog, &facts.watchdog));
	assert_int_equal(tco.gcs, 0x80);
	watchdog_disarm(&watchdog);
	assert_int_equal(tco.gcs, 0x80 | NO_REBOOT);
}

TEST(a_countdown_shorter_than_300_s_is_used_if_it_is_at_least_30_s, FIXTURE)
{
	put(wdat + 52, 50, 4);
	assert_true(read_table(SIZE));
	assert_null(watchdog_arm(&watchdog, &facts.watchdog));
	assert_int_equal(watchdog.seconds, 30);
	watchdog_disarm(&watchdog);
	put(wdat + 52, 49, 4);
	assert_true(read_table(SIZE));
	tco.writes = 0;
	assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), "the watchdog can't count to 30 s");
	assert_int_equal(tco.writes, 0);
}

TEST(a_watchdog_that_runs_or_is_disabled_or_unsupported_is_not_changed, FIXTURE)
{
	const char *reason = "the WDAT lacks an action that arming needs, or has registers that are not supported";

	assert_true(read_table(SIZE));
	tco.control = 0;
	assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), "it runs already");
	tco.control = HALT;
	put(wdat + 60, 0, 1);
	assert_true(read_table(SIZE));
	assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), "the WDAT marks the watchdog as disabled");
	put(wdat + 60, 1, 1);
	for (size_t i = 0; i < ENTRIES; i++) {
		uint8_t *entry = wdat + 68 + 24 * i, action = entry[0];

		entry[0] = 32; /* an action that the driver does not use */
		assert_true(read_table(SIZE));
		assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), reason);
		entry[0] = action;
		entry[4] = 3; /* address space of the embedded controller, which the driver does not use */
		assert_true(read_table(SIZE));
		assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), reason);
		entry[4] = ACPI_SPACE_IO;
	}
	put(wdat + 48, 0, 4); /* the timer's period is 0 ms */
	assert_true(read_table(SIZE));
	assert_string_equal(watchdog_arm(&watchdog, &facts.watchdog), "the watchdog can't count to 30 s");
	assert_int_equal(tco.writes, 0);
}

TEST(a_table_that_is_too_short_for_its_entries_is_a_problem, FIXTURE)
{
	assert_false(read_table(SIZE - 1));
	assert_false(facts.watchdog.found);
	assert_int_equal(facts.problem_count, 1);
	assert_string_equal(facts.problems[0], "WDAT: its 211 bytes are too few for its 6 entries, or it has more "
						 "than 32 entries");
	assert_false(read_table(67));
	put(wdat + 64, UINT32_MAX, 4);
	assert_false(read_table(SIZE));
}
