/* Accesses the real hardware. See hw.h. */
#include "hw/hw.h"

#include "hw/cpuid.h"
#include "hw/paging.h"

uint8_t
hw_in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

uint16_t
hw_in16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

uint32_t
hw_in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

void
hw_out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

void
hw_out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

uint32_t
hw_read32(uint64_t address)
{
	uint32_t value;

	__asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(address) : "memory");
	return value;
}

uint64_t
hw_read64(uint64_t address)
{
	uint64_t value;

	__asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(address) : "memory");
	return value;
}

void
hw_write32(uint64_t address, uint32_t value)
{
	__asm__ volatile("movl %0, (%1)" : : "r"(value), "r"(address) : "memory");
}

/* level of the entries that can map a page of 1 GiB; entries at higher levels always have the address of a table */
#define LARGEST_LEAF 3u

/*
 * Returns the mask of the address bits of a page table entry. In an SEV guest one bit marks an encrypted page, and is
 * not part of the address (APM vol. 2, 15.34.6).
 */
static uint64_t
get_page_address_mask(void)
{
	struct hw_cpuid r = { 0, 0, 0, 0 };

	if (hw_cpuid(LEAF_EXTENDED_MAX, 0).eax >= LEAF_ENCRYPTION)
		r = hw_cpuid(LEAF_ENCRYPTION, 0);
	return r.eax & ENCRYPTION_EAX_SEV ? PAGE_ADDRESS & ~(UINT64_C(1) << (r.ebx & ENCRYPTION_EBX_BIT)) : PAGE_ADDRESS;
}

static bool
is_page_mapped(uint64_t address, uint64_t cr3, unsigned levels, uint64_t mask)
{
	uint64_t table = cr3 & mask;

	for (unsigned level = levels; level > 0; level--) {
		uint64_t index = (address >> (12 + 9 * (level - 1))) & (PAGE_ENTRIES - 1);
		uint64_t entry = hw_read64(table + index * sizeof(uint64_t));

		if (!(entry & PAGE_PRESENT))
			return false;
		if (level == 1 || (level <= LARGEST_LEAF && (entry & PAGE_LARGE)))
			return true;
		table = entry & mask;
	}
	return false;
}

bool
hw_is_mapped(uint64_t address, size_t length)
{
	uint64_t cr3 = read_cr3();
	uint64_t last = address + (length ? length - 1 : 0);

	uint64_t mask = get_page_address_mask();
	unsigned levels = (read_cr4() & CR4_LA57) ? 5 : 4;

	if (last < address || last >> (12 + 9 * levels - 1))
		return false;
	for (uint64_t page = address & ~(PAGE_SIZE - 1); page <= last; page += PAGE_SIZE)
		if (!is_page_mapped(page, cr3, levels, mask))
			return false;
	return true;
}

uint64_t
hw_msr_read(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return (uint64_t)high << 32 | low;
}

void
hw_msr_write(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "a"((uint32_t)value), "d"((uint32_t)(value >> 32)), "c"(msr)
			 : "memory");
}

struct hw_cpuid
hw_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct hw_cpuid r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf)
			 : "memory");
	return r;
}

#define AUTH 0x68747541u /* CPUID 0h EBX of AMD's CPUs, "AuthenticAMD" */
#define HYGO 0x6f677948u /* CPUID 0h EBX of Hygon's CPUs, "HygonGenuine" */

/*
 * Executes the hypercall instruction directly, as Linux does since 6.13 (arch/x86/xen/xen-head.S). Xen's hypercall page
 * is not used, because firmware may forbid execution in our data. The argument registers are marked as changed, because
 * some releases of Xen overwrite them.
 */
int64_t
hw_xen_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	uint32_t vendor = hw_cpuid(LEAF_BASIC_MAX, 0).ebx;

	if (vendor == AUTH || vendor == HYGO)
		__asm__ volatile("vmmcall" : "+a"(number), "+D"(first), "+S"(second), "+d"(third)
				 : : "rcx", "r8", "r9", "r10", "r11", "memory");
	else
		__asm__ volatile("vmcall" : "+a"(number), "+D"(first), "+S"(second), "+d"(third)
				 : : "rcx", "r8", "r9", "r10", "r11", "memory");
	return (int64_t)number;
}

uint64_t
hw_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

uint64_t
hw_tsc_lfence(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

uint64_t
hw_tsc_mfence(void)
{
	uint32_t low, high;

	__asm__ volatile("mfence; lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

uint64_t
hw_tscp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high) : : "ecx", "memory");
	return (uint64_t)high << 32 | low;
}

uint64_t
hw_tsc_cpuid(void)
{
	uint32_t low, high;

	__asm__ volatile("xorl %%eax, %%eax; xorl %%ecx, %%ecx; cpuid; rdtsc"
			 : "=a"(low), "=d"(high) : : "ebx", "ecx", "memory");
	return (uint64_t)high << 32 | low;
}

void
hw_pause(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/*
 * STI enables interrupts after the next instruction, so a pending interrupt still wakes the core. The boot core has
 * interrupts enabled before, and keeps them enabled.
 */
void
hw_halt(void)
{
	__asm__ volatile("pushfq; sti; hlt; popfq" : : : "memory", "cc");
}

void
hw_monitor_and_mwait(const void *line, uint32_t hint)
{
	__asm__ volatile("monitor" : : "a"(line), "c"(0), "d"(0) : "memory");
	__asm__ volatile("sti; mwait; cli" : : "a"(hint), "c"(0) : "memory");
}

void
hw_sleep_by_port(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("sti; inb %1, %0; cli" : "=a"(value) : "d"(port) : "memory");
}

uint64_t
hw_interrupts_mask(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	return flags;
}

void
hw_interrupts_restore(uint64_t saved)
{
	if (saved & (1u << 9)) /* bit IF of RFLAGS, interrupts are enabled: SDM vol. 1, 3.4.3 */
		__asm__ volatile("sti" : : : "memory");
}
