/*
 * Bits of page table entries in 64-bit mode, and of the registers that select the tables: SDM vol. 3A, 4.5.4, tables
 * 4-14 to 4-20.
 */
#ifndef BARETICK_PAGING_H
#define BARETICK_PAGING_H

#include <stdint.h>

/* SDM vol. 3A, 2.5: linear addresses have 57 bits, and there are five levels of tables */
#define CR4_LA57      (UINT64_C(1) << 12)
#define PAGE_PRESENT  UINT64_C(1)
#define PAGE_WRITE    UINT64_C(2)
#define PAGE_LARGE    (UINT64_C(1) << 7)
#define PAGE_ADDRESS  UINT64_C(0x000ffffffffff000)
#define PAGE_SIZE     UINT64_C(4096)
#define PAGE_ENTRIES  512u

static inline uint64_t
read_cr3(void)
{
	uint64_t value;

	__asm__ volatile("movq %%cr3, %0" : "=r"(value));
	return value;
}

static inline uint64_t
read_cr4(void)
{
	uint64_t value;

	__asm__ volatile("movq %%cr4, %0" : "=r"(value));
	return value;
}

#endif
