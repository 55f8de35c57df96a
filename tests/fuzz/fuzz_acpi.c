/*
 * libFuzzer target for the ACPI reader. The first byte of an input selects whether the other bytes are a machine's
 * memory, which starts with the RSDP or with a table of coreboot, or a single table. It also selects whether
 * checksums are corrected, so that the reader does not refuse bytes that the fuzzer changed. seeds.py makes inputs
 * from tables of real machines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/drivers/acpi_checks.h"
#include "acpi/acpi.h"
#include "acpi/coreboot.h"

#define MODE_MACHINE 0
#define MODE_FADT    1
#define MODE_HPET    2
#define MODE_MADT    3
#define MODE_MASK    3
#define MODE_SEAL    4 /* flag of the first byte: checksums are corrected */
#define MODE_COREBOOT 8 /* flag of the first byte: the memory starts with a table of coreboot */

#define BASE         UINT64_C(0x10000) /* address of the input's second byte, where the RSDP is */
#define COREBOOT     UINT64_C(0x500) /* address of the second byte of an input with MODE_COREBOOT */
#define CORES_MAX    64
#define COPIES_MAX   2048

struct image {
	uint64_t base; /* address of the first of the BYTES */
	const uint8_t *bytes;
	size_t length;
	bool seal;
	uint8_t *copies[COPIES_MAX];
	size_t copy_count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
set_checksum(uint8_t *bytes, size_t length, size_t checksum_at)
{
	uint8_t sum = 0;

	if (checksum_at >= length)
		return;
	for (size_t i = 0; i < length; i++)
		sum = (uint8_t)(sum + bytes[i]);
	bytes[checksum_at] = (uint8_t)(bytes[checksum_at] - sum);
}

/* Returns a copy of exactly LENGTH bytes, so that the sanitizer sees a read beyond its end. */
static uint8_t *
copy_to_heap(struct image *image, const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length);

	if (!copy || image->copy_count == COPIES_MAX)
		abort();
	memcpy(copy, bytes, length);
	image->copies[image->copy_count++] = copy;
	return copy;
}

static const uint8_t *
get_image_bytes(void *context, uint64_t address, size_t length)
{
	struct image *image = context;
	uint8_t *copy;

	if (length == 0)
		abort();
	if (address < image->base || address - image->base > image->length ||
	    length > image->length - (address - image->base))
		return NULL;
	copy = copy_to_heap(image, image->bytes + (address - image->base), length);
	if (image->seal && image->base == COREBOOT) {
		coreboot_seal(copy, length);
	} else if (image->seal && address == BASE) { /* an RSDP has two checksums */
		set_checksum(copy, length < 20 ? length : 20, 8);
		set_checksum(copy, length, length > 32 ? 32 : length);
	} else if (image->seal) {
		set_checksum(copy, length, 9);
	}
	return copy;
}

static void
read_facts_from_rsdp(struct image *image, struct acpi_facts *facts)
{
	const struct acpi_memory memory = { get_image_bytes, image };

	acpi_read_facts(&memory, BASE, facts);
	if (!facts->found && facts->problem_count == 0)
		abort();
}

static void
read_table(struct image *image, unsigned mode, struct acpi_facts *facts)
{
	uint8_t *copy = copy_to_heap(image, image->bytes, image->length);
	bool good;

	if (image->seal)
		set_checksum(copy, image->length, 9);
	if (mode == MODE_FADT)
		good = acpi_read_fadt(copy, image->length, facts);
	else if (mode == MODE_HPET)
		good = acpi_read_hpet(copy, image->length, facts);
	else
		good = acpi_read_madt(copy, image->length, facts);
	if (good != (facts->problem_count == 0))
		abort();
}

static void
read_coreboot(struct image *image)
{
	const struct acpi_memory memory = { get_image_bytes, image };
	uint64_t mhz = UINT64_MAX;

	if (coreboot_find_tsc_mhz(&memory, &mhz) != (mhz <= UINT16_MAX))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t apic_ids[CORES_MAX];
	struct acpi_facts facts = { .madt = { .apic_ids = apic_ids, .core_max = CORES_MAX } };
	struct image image = { .bytes = data + 1, .length = size - 1 };
	const char *broken;

	if (size < 2)
		return 0;
	image.seal = data[0] & MODE_SEAL;
	image.base = data[0] & MODE_COREBOOT ? COREBOOT : BASE;
	if (data[0] & MODE_COREBOOT)
		read_coreboot(&image);
	else if ((data[0] & MODE_MASK) == MODE_MACHINE)
		read_facts_from_rsdp(&image, &facts);
	else
		read_table(&image, data[0] & MODE_MASK, &facts);
	broken = acpi_broken_invariant(&facts);
	if (broken) {
		fprintf(stderr, "%s\n", broken);
		abort();
	}
	for (size_t i = 0; i < image.copy_count; i++)
		free(image.copies[i]);
	return 0;
}
