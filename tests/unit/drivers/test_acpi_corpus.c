/*
 * Reads the ACPI tables of real machines in the folder $ACPI_CORPUS. Every field must be as an independent decoder
 * read it (expected.json). Every table is also read cut short, and with flipped bits. Without such a folder the test
 * is skipped.
 */
#include <dirent.h>
#include <stdio.h>

#include "test.h"
#include "acpi/acpi.h"
#include "acpi_checks.h"

#define CORPUS_DEFAULT "../shared/acpi-corpus" /* default folder, relative to the repository's root */
#define FILE_MAX       65536
#define FLIPPED_BYTES  64  /* number of bytes at the start of a table in which each bit is flipped */
#define RANDOM_FLIPS   256 /* number of further flips at random positions */

typedef bool reader(const uint8_t *table, size_t length, struct acpi_facts *facts);

static const struct kind {
	const char *file;
	reader *read;
} kinds[] = {
	{ "FACP.bin", acpi_read_fadt },
	{ "HPET.bin", acpi_read_hpet },
	{ "APIC.bin", acpi_read_madt },
};

static uint32_t apic_ids[ACPI_CORES_MAX];

struct content {
	uint8_t bytes[FILE_MAX + 1]; /* the file and a final 0 */
	size_t length;
};

static const char *
corpus_folder(void)
{
	const char *folder = getenv("ACPI_CORPUS");

	return folder ? folder : CORPUS_DEFAULT;
}

/* Reads a file of the machine. Returns false if there is no such file. */
static bool
load(const char *machine, const char *file, struct content *content)
{
	char path[1024];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s/%s", corpus_folder(), machine, file);
	stream = fopen(path, "rb");
	if (!stream)
		return false;
	content->length = fread(content->bytes, 1, FILE_MAX, stream);
	content->bytes[content->length] = 0;
	fclose(stream);
	return true;
}

/* Returns the text after "KEY": in TEXT, or NULL. Each key occurs once in expected.json. */
static const char *
find(const char *text, const char *key)
{
	char quoted[64];
	const char *found;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	found = strstr(text, quoted);
	return found ? found + strlen(quoted) : NULL;
}

static uint64_t
number(const char *text, const char *key)
{
	const char *found = find(text, key);

	if (!found)
		fail_msg("expected.json has no %s", key);
	return strtoull(found, NULL, 10);
}

static void
compare_fadt(const char *json, const struct acpi_fadt *fadt)
{
	const char *extended = find(json, "x_pm_tmr");

	assert_true(fadt->found);
	assert_int_equal(fadt->pm_tmr_blk, number(json, "pm_tmr_blk"));
	assert_int_equal(fadt->pm_tmr_len, number(json, "pm_tmr_len"));
	assert_int_equal(fadt->tmr_val_ext, number(json, "tmr_val_ext"));
	assert_int_equal(fadt->hw_reduced, number(json, "hw_reduced"));
	assert_int_equal(fadt->cmos_rtc_absent, number(json, "cmos_rtc_absent"));
	assert_non_null(extended);
	assert_int_equal(fadt->has_x_pm_tmr, extended[strspn(extended, " ")] == '{');
	if (fadt->has_x_pm_tmr) {
		assert_int_equal(fadt->x_pm_tmr_space, number(extended, "space"));
		assert_int_equal(fadt->x_pm_tmr_address, number(extended, "address"));
	}
}

static void
compare_hpet(const char *json, const struct acpi_hpet *hpet)
{
	assert_true(hpet->found);
	assert_int_equal(hpet->base, number(json, "base"));
}

static int
by_apic_id(const void *a, const void *b)
{
	uint32_t id_a = *(const uint32_t *)a, id_b = *(const uint32_t *)b;

	return (id_a > id_b) - (id_a < id_b);
}

/* Compares the MADT with expected.json. The ids there are sorted, but some tables have another order. */
static void
compare_madt(const char *json, const struct acpi_madt *madt)
{
	const char *ids = find(json, "enabled_ids");
	size_t count = 0;

	assert_true(madt->found);
	assert_non_null(ids);
	qsort(madt->apic_ids, madt->core_count, sizeof(madt->apic_ids[0]), by_apic_id);
	for (ids += strspn(ids, " [\n"); *ids != ']'; ids += strspn(ids, " ,\n")) {
		char *end;
		unsigned long long id = strtoull(ids, &end, 10);

		assert_true(end > ids && count < madt->core_count);
		assert_int_equal(madt->apic_ids[count++], id);
		ids = end;
	}
	assert_int_equal(madt->core_count, count);
	assert_int_equal(madt->enabled, count);
}

static void
clear(struct acpi_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	facts->madt.apic_ids = apic_ids;
	facts->madt.core_max = ACPI_CORES_MAX;
}

static void
check_machine(const char *machine, void *state)
{
	static struct content table, json;
	struct acpi_facts facts;
	size_t *tables = state;
	bool has_hpet;

	clear(&facts);
	assert_true(load(machine, "expected.json", &json));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (load(machine, kinds[i].file, &table)) {
			assert_true(kinds[i].read(table.bytes, table.length, &facts));
			(*tables)++;
		}
	has_hpet = find((const char *)json.bytes, "hpet") != NULL;
	compare_fadt((const char *)json.bytes, &facts.fadt);
	compare_madt((const char *)json.bytes, &facts.madt);
	assert_int_equal(facts.hpet.found, has_hpet);
	if (has_hpet)
		compare_hpet((const char *)json.bytes, &facts.hpet);
	assert_int_equal(facts.problem_count, 0);
}

/*
 * Reads a copy of TABLE that is exactly LENGTH bytes long, and checks the conditions for any input. If SEAL is true,
 * the copy gets a valid length and checksum.
 */
static void
survive(const struct kind *kind, const uint8_t *table, size_t length, bool seal)
{
	uint8_t *copy = malloc(length ? length : 1);
	struct acpi_facts facts;
	const char *broken;
	uint8_t sum = 0;
	bool good;

	assert_non_null(copy);
	memcpy(copy, table, length);
	if (seal && length > 9) {
		for (size_t i = 0; i < 4; i++)
			copy[4 + i] = (uint8_t)(length >> (8 * i));
		for (size_t i = 0; i < length; i++)
			sum = (uint8_t)(sum + copy[i]);
		copy[9] = (uint8_t)(copy[9] - sum);
	}
	clear(&facts);
	good = kind->read(length ? copy : copy + 1, length, &facts);
	broken = acpi_broken_invariant(&facts);
	if (broken)
		fail_msg("%s, %zu bytes: %s", kind->file, length, broken);
	assert_int_equal(good, facts.problem_count == 0);
	free(copy);
}

/* xorshift32 (Marsaglia, Xorshift RNGs, 2003). The flips are the same in every run. */
static uint32_t
next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void
flip(const struct kind *kind, struct content *table, size_t bit)
{
	table->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	survive(kind, table->bytes, table->length, false);
	survive(kind, table->bytes, table->length, true);
	table->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void
damage_machine(const char *machine, void *state)
{
	static struct content table;
	size_t *tables = state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		uint32_t random = 0x2545f491;

		if (!load(machine, kind->file, &table))
			continue;
		for (size_t length = 0; length <= table.length; length++) {
			survive(kind, table.bytes, length, false);
			survive(kind, table.bytes, length, true);
		}
		for (size_t bit = 0; bit < FLIPPED_BYTES * 8 && bit < table.length * 8; bit++)
			flip(kind, &table, bit);
		for (size_t n = 0; n < RANDOM_FLIPS; n++)
			flip(kind, &table, next_random(&random) % (table.length * 8));
		(*tables)++;
	}
}

static int
is_machine(const struct dirent *entry)
{
	static struct content json;

	return entry->d_name[0] != '.' && load(entry->d_name, "expected.json", &json);
}

/* name of the machine that is being tested, for a message on failure; "" between tests */
static char current[256];

static void
name_the_machine(void)
{
	if (current[0])
		print_error("this was machine %s\n", current);
	current[0] = 0;
}

TEST_FIXTURE(NULL, name_the_machine);

static void
run(void (*each)(const char *machine, void *state), const char *done)
{
	struct dirent **machines;
	size_t tables = 0;
	int count = scandir(corpus_folder(), &machines, is_machine, alphasort);

	if (count < 0) {
		print_message("no corpus of ACPI tables at %s: skipped\n", corpus_folder());
		skip();
	}
	for (int i = 0; i < count; i++) {
		snprintf(current, sizeof(current), "%s", machines[i]->d_name);
		each(current, &tables);
		free(machines[i]);
	}
	free(machines);
	current[0] = 0;
	assert_true(count > 0);
	assert_true(tables >= 2 * (size_t)count);
	print_message("%zu tables of %d machines %s\n", tables, count, done);
}

TEST(every_field_of_real_tables_agrees_with_an_independent_decoder)
{
	run(check_machine, "read");
}

TEST(real_tables_cut_short_or_with_flipped_bits_cause_no_bad_access)
{
	run(damage_machine, "damaged");
}
