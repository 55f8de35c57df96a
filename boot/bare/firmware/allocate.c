/* Allocates memory in whole pages. The functions of firmware.h that need UEFI do nothing here. See firmware.h. */
#include "bare/firmware/bare.h"

#include "hw/paging.h"

#define BLOCK_SIZE (UINT64_C(2) << 20) /* step in which the search skips memory that does not exist */

/* Stored before each allocation. It has 16 bytes, so that the allocation is aligned to 16 bytes. */
struct head {
	uint64_t pages, padding;
};

/* Returns the value that write_patterns() writes to WORD. It differs for each address, so no two pages are equal. */
static uint64_t
make_pattern(const volatile uint64_t *word)
{
	return (uintptr_t)word ^ UINT64_C(0xa5a5a5a55a5a5a5a);
}

/* Writes to the first and to the last word of PAGE, and removes both from the caches. */
static void
write_patterns(uint64_t page)
{
	volatile uint64_t *words = (volatile uint64_t *)(uintptr_t)page;

	for (size_t i = 0; i < PAGE_SIZE / sizeof(*words); i += PAGE_SIZE / sizeof(*words) - 1) {
		words[i] = make_pattern(&words[i]);
		__asm__ volatile("clflush %0" : "+m"(words[i]));
	}
}

static bool
has_patterns(uint64_t page)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(uintptr_t)page;
	size_t last = PAGE_SIZE / sizeof(*words) - 1;

	return words[0] == make_pattern(&words[0]) && words[last] == make_pattern(&words[last]);
}

/*
 * Writes to the PAGES from BEGIN on, and reads them back. Returns the highest page that has lost its patterns, or 0 if
 * all pages are good. A map may list more memory than the machine has, or memory that cannot be written.
 */
static uint64_t
find_bad_page(uint64_t begin, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		write_patterns(begin + i * PAGE_SIZE);
	__asm__ volatile("mfence" : : : "memory");
	for (size_t i = pages; i-- > 0;)
		if (!has_patterns(begin + i * PAGE_SIZE))
			return begin + i * PAGE_SIZE;
	return 0;
}

/*
 * Puts the PAGES from BEGIN on back, without the bad page BAD. The memory around it probably does not exist either, so
 * its block of 2 MiB is removed, too. Below 2 MiB, good and bad pages are near each other, so only the page is removed.
 */
static void
free_all_but_bad_page(uint64_t begin, size_t pages, uint64_t bad)
{
	uint64_t block = bad / BLOCK_SIZE * BLOCK_SIZE;

	ram_add_range(bare_get_ram(), begin, pages * PAGE_SIZE);
	ram_remove_range(bare_get_ram(), block ? block : bad, block ? BLOCK_SIZE : PAGE_SIZE);
}

void *
firmware_allocate_raw_pages(uint64_t address_max, size_t pages)
{
	uint64_t begin, bad;

	while ((begin = ram_allocate(bare_get_ram(), address_max, pages))) {
		bad = find_bad_page(begin, pages);
		if (!bad)
			break;
		free_all_but_bad_page(begin, pages, bad);
	}
	return (void *)(uintptr_t)begin;
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
	size_t pages = firmware_count_pages(size + sizeof(struct head));
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
firmware_print_time(struct text *)
{
}

uint64_t
firmware_block_callbacks(void)
{
	return 0;
}

void
firmware_restore_callbacks(uint64_t)
{
}
