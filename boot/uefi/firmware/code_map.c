/* Searches the firmware's memory map. See code_map.h. */
#include "firmware/code_map.h"

#include "hw/paging.h"
#include "uefi/firmware/uefi.h"

/* Constant while the map is open. */
static struct {
	uint8_t *parts; /* EFI_MEMORY_DESCRIPTORs, STEP bytes apart */
	UINTN size, step;
} map;

bool
code_map_load(void)
{
	UINTN key;
	UINT32 version;

	map.size = 0;
	firmware_boot->GetMemoryMap(&map.size, NULL, &key, &map.step, &version);
	map.size += 8 * map.step; /* space for more entries, because this allocation may split entries of the map */
	map.parts = firmware_allocate(map.size);
	if (map.parts && !EFI_ERROR(firmware_boot->GetMemoryMap(&map.size, (EFI_MEMORY_DESCRIPTOR *)map.parts, &key,
								&map.step, &version)))
		return true;
	code_map_free();
	return false;
}

void
code_map_free(void)
{
	firmware_free(map.parts);
	map.parts = NULL;
}

bool
code_map_contains(uint64_t address)
{
	for (size_t i = 0; map.parts && i + sizeof(EFI_MEMORY_DESCRIPTOR) <= map.size; i += map.step) {
		const EFI_MEMORY_DESCRIPTOR *part = (const EFI_MEMORY_DESCRIPTOR *)(map.parts + i);

		if (address - part->PhysicalStart < part->NumberOfPages * PAGE_SIZE)
			return part->Type == EfiLoaderCode || part->Type == EfiBootServicesCode ||
			       part->Type == EfiRuntimeServicesCode;
	}
	return false;
}
