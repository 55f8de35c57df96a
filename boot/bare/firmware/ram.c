/* Adds, removes and allocates ranges of free memory. See ram.h. */
#include "bare/firmware/ram.h"

#include "hw/paging.h"

static uint64_t
round_down_to_page(uint64_t address)
{
	return address & ~(PAGE_SIZE - 1);
}

static uint64_t
round_up_to_page(uint64_t address)
{
	return address > UINT64_MAX - (PAGE_SIZE - 1) ? round_down_to_page(UINT64_MAX) :
	       round_down_to_page(address + PAGE_SIZE - 1);
}

static uint64_t
get_range_end(uint64_t begin, uint64_t size)
{
	return size > UINT64_MAX - begin ? UINT64_MAX : begin + size;
}

static void
append_range(struct ram *ram, uint64_t begin, uint64_t end)
{
	if (begin < end && ram->count < RAM_RANGES_MAX)
		ram->ranges[ram->count++] = (struct ram_range){ begin, end };
}

void
ram_add_range(struct ram *ram, uint64_t begin, uint64_t size)
{
	struct ram_range new = { round_up_to_page(begin), round_down_to_page(get_range_end(begin, size)) };

	if (new.begin >= new.end)
		return;
	/* Ranges of the loader's map may overlap, so the part of NEW that is already in RAM is removed first. */
	ram_remove_range(ram, new.begin, new.end - new.begin);
	for (size_t i = 0; i < ram->count;) {
		const struct ram_range *range = &ram->ranges[i];

		if (range->end != new.begin && range->begin != new.end) {
			i++;
			continue;
		}
		new.begin = range->begin < new.begin ? range->begin : new.begin;
		new.end = range->end > new.end ? range->end : new.end;
		ram->ranges[i] = ram->ranges[--ram->count];
	}
	append_range(ram, new.begin, new.end);
}

void
ram_remove_range(struct ram *ram, uint64_t begin, uint64_t size)
{
	uint64_t first = round_down_to_page(begin), end = round_up_to_page(get_range_end(begin, size));

	for (size_t i = 0; i < ram->count;) {
		struct ram_range range = ram->ranges[i];

		if (range.end <= first || range.begin >= end) {
			i++;
			continue;
		}
		ram->ranges[i] = ram->ranges[--ram->count];
		append_range(ram, range.begin, first);
		append_range(ram, end, range.end);
		i = 0; /* starts again, because removing this range has moved another range to this index */
	}
}

uint64_t
ram_allocate(struct ram *ram, uint64_t address_max, size_t pages)
{
	uint64_t size = pages * PAGE_SIZE, best = 0;

	for (size_t i = 0; pages && i < ram->count; i++) {
		const struct ram_range *range = &ram->ranges[i];
		uint64_t end = range->end - 1 > address_max ? round_down_to_page(address_max + 1) : range->end;

		if (end > range->begin && end - range->begin >= size && end - size > best)
			best = end - size;
	}
	if (best)
		ram_remove_range(ram, best, size);
	return best;
}
