/* Resets the simulated machine, and sets its CPUID leaves that contain text. Include it after cmocka.h. */
#ifndef BARETICK_CPUID_LEAVES_H
#define BARETICK_CPUID_LEAVES_H

#include "sim.h"

/* Resets the simulated machine to a healthy one before each test. */
static inline void
reset_machine(void)
{
	sim_reset();
}

/* Returns four characters as they are in a register. */
static inline uint32_t
four(const char *text)
{
	uint32_t value;

	memcpy(&value, text, sizeof(value));
	return value;
}

static inline void
set_vendor(const char *vendor, uint32_t basic_max)
{
	sim_cpuid_set(0, 0, (struct hw_cpuid){ basic_max, four(vendor), four(vendor + 8), four(vendor + 4) });
}

/* Sets a hypervisor's name of twelve characters in EBX, ECX and EDX, and the maximum leaf in EAX. */
static inline void
set_hypervisor_leaf(const char *name, uint32_t max)
{
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ max, four(name), four(name + 4), four(name + 8) });
}

#endif
