/*
 * Replaces boot/bare/firmware/take_over.c in the fault image. It can cause an exception before the application starts.
 * See ../acpi_pm.c.
 */
#define bare_read_loader_data bare_take_over_well
#include "../../../boot/bare/firmware/take_over.c"
#undef bare_read_loader_data

extern const char *bare_read_loader_data(const void *loader_data, uint32_t magic);
extern bool must_fault_precede_memory_map(void); /* defined in ../acpi_pm.c */

const char *
bare_read_loader_data(const void *loader_data, uint32_t magic)
{
	const char *refusal = bare_take_over_well(loader_data, magic);

	if (must_fault_precede_memory_map())
		__asm__ volatile("ud2");
	return refusal;
}
