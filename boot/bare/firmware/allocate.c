/* Allocates memory in whole pages. The functions of firmware.h that need UEFI do nothing here. See firmware.h. */
#include "bare/firmware/bare.h"

#include "hw/paging.h"

/* Stored before each allocation. It has 16 bytes, so that the allocation is aligned to 16 bytes. */
struct head {
	uint64_t pages, padding;
};

void *
firmware_allocate_pages(uint64_t address_max, size_t pages)
{
	void *memory = (void *)(uintptr_t)ram_allocate(bare_get_ram(), address_max, pages);

	if (memory)
		firmware_clear(memory, pages * PAGE_SIZE);
	return memory;
}

void
firmware_free_pages(void *memory, size_t pages)
{
	if (memory)
		ram_add_range(bare_get_ram(), (uintptr_t)memory, pages * PAGE_SIZE);
}

void *
firmware_allocate(size_t size)
{
	size_t pages = (size + sizeof(struct head) + PAGE_SIZE - 1) / PAGE_SIZE;
	struct head *head = firmware_allocate_pages(UINT64_MAX, pages);

	if (!head)
		return NULL;
	head->pages = pages;
	return head + 1;
}

void
firmware_free(void *memory)
{
	struct head *head = memory;

	if (head)
		firmware_free_pages(head - 1, head[-1].pages);
}

/*
 * Returns memory without protecting it from a later kernel. No kernel follows, because the run never returns to the
 * loader.
 */
void *
firmware_reserve_low_pages(size_t pages)
{
	return firmware_allocate_pages(UINT32_MAX, pages);
}

void
firmware_print_time(struct text *text)
{
	(void)text;
}

uint64_t
firmware_block_callbacks(void)
{
	return 0;
}

void
firmware_restore_callbacks(uint64_t saved)
{
	(void)saved;
}
