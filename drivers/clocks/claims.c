/* Reads the rates that CPUID, MSRs and hypervisors state for the machine's clocks. See claims.h in src/clock. */
#include "clocks/platform.h"

#include "base/text.h"
#include "base/units.h"
#include "hw/cpuid.h"
#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "paravirtual/pages.h"

#define HZ_PER_GHZ UINT64_C(1000000000)
#define NAME_VALUE_MAX 100000 /* largest number, and largest power of ten behind its point, in a CPU's name */

/*
 * SDM vol. 2A: leaf 16h states the base frequency "in accordance with the processor's specification". The stated
 * frequency may differ from the true frequency by several MHz: 2300 MHz was stated for 2303.998 MHz, and 2000 MHz for
 * 1992 MHz. The stated frequency is therefore treated as rounded to 100 MHz.
 */
#define BASE_WITHIN_HZ (50 * HZ_PER_MHZ)

/*
 * Tolerance, as 1/BUS_WITHIN_SHARE, of a rate that is calculated from the nominal bus clock. The true bus clock differs
 * from board to board. Linux, too, accepts a difference of up to 1 % when it refines the TSC's rate:
 * tsc_refine_calibration_work() in arch/x86/kernel/tsc.c.
 */
#define BUS_WITHIN_SHARE 100

/*
 * Frequency of the crystal of Atom C3000, whose CPUID 15h does not state it. Linux has the same constant:
 * arch/x86/kernel/tsc.c, native_calibrate_tsc().
 */
#define MODEL_ATOM_C3000 0x5fu
#define ATOM_C3000_HZ    (25 * HZ_PER_MHZ)

#define FAMILY_ZEN           0x17u
#define FAMILY_ZEN_5         0x1au
/* SDM vol. 4, table 2-20: bits 15:8 are the TSC's rate divided by the rate of the bus clock */
#define MSR_PLATFORM_INFO    0x000000ceu
#define PLATFORM_INFO_RATIO(value) ((value) >> 8 & 0xff)
/* SDM vol. 4, MSR_PLATFORM_INFO: nominal bus clock from Sandy Bridge on. Such CPUs are recognized by AVX. */
#define BUS_HZ               (100 * HZ_PER_MHZ)
#define MSR_AMD_P0           0xc0010064u
#define P0_ENABLED           (UINT64_C(1) << 63)
#define MSR_SEV_STATUS       0xc0010131u
#define SEV_SECURE_TSC       (UINT64_C(1) << 11) /* Secure TSC is active: APM vol. 2, 15.34.10, SEV_STATUS */
#define MSR_GUEST_TSC_FREQ   0xc0010134u
/* bits 17:0 are the rate in MHz: Linux arch/x86/coco/sev/core.c, snp_secure_tsc_init() */
#define GUEST_TSC_MHZ        0x3ffffu

struct reading {
	const struct cpu_facts *cpu;
	fault_guard *guarded;
	struct claims *claims;
	struct hw_cpuid features; /* the registers of CPUID 1h; all 0 if this leaf does not exist */
};

static void
set_rate_in_hz(struct claim *claim, uint64_t hz, uint64_t within_hz)
{
	claim_set_rate(claim, (struct rate){ hz, 1 }, within_hz);
}

/* Stores a rate that is calculated from the nominal bus clock, with its tolerance. */
static void
set_nominal_rate(struct claim *claim, uint64_t hz)
{
	set_rate_in_hz(claim, hz, hz / BUS_WITHIN_SHARE);
}

/* Reads a CPUID leaf, and stores it for the record. */
static struct hw_cpuid
read_cpuid_leaf(const struct reading *reading, uint32_t leaf)
{
	struct hw_cpuid r = hw_cpuid(leaf, 0);

	claims_add_raw(reading->claims, &(struct claim_raw){ .number = leaf, .eax = r.eax, .ebx = r.ebx, .ecx = r.ecx,
							     .edx = r.edx });
	return r;
}

/* Reads an MSR, and stores it for the record. Returns false if the read caused an exception. */
static bool
read_msr(const struct reading *reading, uint32_t msr, uint64_t *value)
{
	*value = 0;
	bool is_read = paravirtual_read_msr(msr, reading->guarded, value);
	claims_add_raw(reading->claims, &(struct claim_raw){ .is_msr = true, .faulted = !is_read, .number = msr,
							     .eax = (uint32_t)*value, .edx = (uint32_t)(*value >> 32) });
	return is_read;
}

static uint64_t
read_base_mhz(const struct reading *reading)
{
	return reading->cpu->basic_leaf_max >= LEAF_FREQUENCY ?
		read_cpuid_leaf(reading, LEAF_FREQUENCY).eax & FREQUENCY_EAX_MHZ : 0;
}

/*
 * Calculates rates if CPUID 15h does not state the crystal's frequency. For Atom C3000, Linux assumes 25 MHz. For other
 * CPUs Linux calculates the frequency from leaf 16h, and uses it as the rate of the LAPIC's timer
 * (arch/x86/kernel/tsc.c, native_calibrate_tsc()).
 */
static void
add_rate_claims_without_crystal(const struct reading *reading, const struct hw_cpuid *r)
{
	struct hw_cpuid features = reading->features;
	uint64_t mhz = read_base_mhz(reading);

	if (FEATURES_EAX_FAMILY(features) == FAMILY_6 && FEATURES_EAX_WHOLE_MODEL(features) == MODEL_ATOM_C3000 &&
	    text_equal(reading->cpu->vendor, "GenuineIntel")) {
		claim_set_rate(claims_add(reading->claims, CLAIM_LEAF_15_FIXED, CLAIM_OF_TSC, "CPUID 15h, Atom C3000"),
			       (struct rate){ ATOM_C3000_HZ * r->ebx, r->eax }, 0);
		set_rate_in_hz(claims_add(reading->claims, CLAIM_LEAF_15_FIXED, CLAIM_OF_LAPIC, "CPUID 15h, Atom C3000"),
			       ATOM_C3000_HZ, 0);
		return;
	}
	claim_set_refusal(claims_add(reading->claims, CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h"),
			  "The leaf has a ratio, %u/%u, but no crystal frequency.", r->ebx, r->eax);
	if (mhz)
		claim_set_rate(claims_add(reading->claims, CLAIM_LEAF_15_16, CLAIM_OF_LAPIC, "CPUID 15h with 16h"),
			       (struct rate){ mhz * HZ_PER_MHZ * r->eax, r->ebx },
			       scale_mul_div_up(BASE_WITHIN_HZ, r->eax, r->ebx));
}

/*
 * Reads CPUID 15h. If the leaf exists, the crystal is also the clock of the LAPIC's timer (SDM vol. 3B, 19.7.3,
 * Determining the Processor Base Frequency, and vol. 3A, 10.5.4, APIC Timer).
 */
static void
add_leaf_15_rate_claims(const struct reading *reading)
{
	if (reading->cpu->basic_leaf_max < LEAF_TSC_CRYSTAL)
		return;
	struct hw_cpuid r = read_cpuid_leaf(reading, LEAF_TSC_CRYSTAL);
	if (!r.eax || !r.ebx) {
		claim_set_refusal(claims_add(reading->claims, CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h"),
				  r.eax | r.ebx | r.ecx ? "The leaf's ratio is %u/%u." : "It is 0.", r.ebx, r.eax);
		return;
	}
	if (!r.ecx) {
		add_rate_claims_without_crystal(reading, &r);
		return;
	}
	claim_set_rate(claims_add(reading->claims, CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h"),
		       (struct rate){ (uint64_t)r.ecx * r.ebx, r.eax }, 0);
	struct claim *claim = claims_add(reading->claims, CLAIM_LEAF_15, CLAIM_OF_CRYSTAL, "CPUID 15h ECX");
	claim->per_tsc = (struct rate){ r.eax, r.ebx };
	set_rate_in_hz(claim, r.ecx, 0);
	set_rate_in_hz(claims_add(reading->claims, CLAIM_LEAF_15, CLAIM_OF_LAPIC, "CPUID 15h ECX"), r.ecx, 0);
}

static void
add_leaf_16_rate_claim(const struct reading *reading)
{
	if (reading->cpu->basic_leaf_max >= LEAF_FREQUENCY)
		set_rate_in_hz(claims_add(reading->claims, CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h"),
			       read_base_mhz(reading) * HZ_PER_MHZ, BASE_WITHIN_HZ);
}

/*
 * Adds a claim (a stated rate) from a leaf or an MSR of the hypervisor's INTERFACE. NUMBER is the number of the leaf or
 * MSR. FORMAT is the source's name, into which NUMBER is printed.
 */
static struct claim *
add_interface_rate_claim(const struct reading *reading, const struct paravirtual_interface *interface,
			 enum claim_source source, enum claim_clock clock, const char *format, uint32_t number)
{
	char by[CLAIM_SOURCE_SIZE];

	text_format(by, sizeof(by), format, number);
	struct claim *claim = claims_add(reading->claims, source, clock, by);
	claim->base = interface->base;
	return claim;
}

/*
 * Reads the hypervisor's leaf with the rates of the TSC and the LAPIC's timer in kHz. The hypervisor may round the
 * rates up or down, by an unknown amount below 1 kHz.
 */
static void
add_khz_leaf_rate_claims(const struct reading *reading, const struct paravirtual_interface *interface)
{
	if (interface->leaf_max < interface->base + LEAF_RATES)
		return;
	struct hw_cpuid r = read_cpuid_leaf(reading, interface->base + LEAF_RATES);
	set_rate_in_hz(add_interface_rate_claim(reading, interface, CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID %xh EAX",
						interface->base + LEAF_RATES),
		       r.eax * HZ_PER_KHZ, HZ_PER_KHZ);
	if (interface->kind != PARAVIRTUAL_ACRN) /* ACRN reserves this leaf's EBX: Linux arch/x86/include/asm/acrn.h */
		set_rate_in_hz(add_interface_rate_claim(reading, interface, CLAIM_KHZ_LEAF, CLAIM_OF_LAPIC, "CPUID %xh EBX",
							interface->base + LEAF_RATES), r.ebx * HZ_PER_KHZ, HZ_PER_KHZ);
}

/* Reads MSR into *VALUE. If the read causes an exception, marks CLAIM as refused and sets *VALUE to 0. */
static void
read_claim_msr(const struct reading *reading, struct claim *claim, uint32_t msr, uint64_t *value)
{
	if (!read_msr(reading, msr, value))
		claim_set_refusal(claim, "Reading the MSR caused an exception.");
}

static void
add_hyperv_rate_claims(const struct reading *reading, const struct paravirtual_interface *interface)
{
	static const enum claim_clock clocks[] = { CLAIM_OF_TSC, CLAIM_OF_LAPIC };

	if (!(interface->features & HV_ACCESS_FREQUENCY_MSRS))
		return;
	for (uint32_t i = 0; i < 2; i++) {
		struct claim *claim = add_interface_rate_claim(reading, interface, CLAIM_HYPERV, clocks[i], "MSR %xh",
							       MSR_HV_TSC_FREQUENCY + i);
		uint64_t hz;

		read_claim_msr(reading, claim, MSR_HV_TSC_FREQUENCY + i, &hz);
		if (!claim->reason[0])
			set_rate_in_hz(claim, hz, HZ_PER_KHZ);
	}
}

static void
add_rate_claims_of_interface(const struct reading *reading, const struct paravirtual_interface *interface)
{
	switch (interface->kind) {
	case PARAVIRTUAL_HYPERV:
		add_hyperv_rate_claims(reading, interface);
		break;
	case PARAVIRTUAL_XEN:
		if (interface->leaf_max >= interface->base + LEAF_TIME)
			set_rate_in_hz(add_interface_rate_claim(reading, interface, CLAIM_XEN, CLAIM_OF_TSC, "Xen's CPUID %xh",
								interface->base + LEAF_TIME),
				    read_cpuid_leaf(reading, interface->base + LEAF_TIME).ecx * HZ_PER_KHZ, HZ_PER_KHZ);
		break;
	default:
		add_khz_leaf_rate_claims(reading, interface);
	}
}

static void
add_platform_info_rate_claim(const struct reading *reading)
{
	uint64_t value;

	if (!text_equal(reading->cpu->vendor, "GenuineIntel") || !IS_INTEL_CORE_FAMILY(reading->features) ||
	    !(reading->features.ecx & FEATURES_ECX_AVX))
		return;
	struct claim *claim = claims_add(reading->claims, CLAIM_PLATFORM_INFO, CLAIM_OF_TSC, "MSR CEh");
	read_claim_msr(reading, claim, MSR_PLATFORM_INFO, &value);
	if (!claim->reason[0])
		set_nominal_rate(claim, PLATFORM_INFO_RATIO(value) * BUS_HZ);
}

/*
 * Calculates the frequency of P-state P0 as Linux does: tools/power/cpupower/utils/helpers/amd.c, get_cof(). VALUE is
 * the MSR that describes P0. Before family 1Ah the frequency is 200 MHz times bits 7:0 divided by bits 13:8. From
 * family 1Ah on it is 5 MHz times bits 11:0.
 */
static uint64_t
decode_amd_p0_hz(uint32_t family, uint64_t value)
{
	uint64_t divisor = value >> 8 & 0x3f;

	if (!(value & P0_ENABLED))
		return 0;
	if (family >= FAMILY_ZEN_5)
		return (value & 0xfff) * 5 * HZ_PER_MHZ;
	return divisor ? (value & 0xff) * 200 * HZ_PER_MHZ / divisor : 0;
}

static void
add_amd_rate_claim(const struct reading *reading)
{
	uint32_t family = FEATURES_EAX_WHOLE_FAMILY(reading->features);
	uint64_t value;

	if (!text_equal(reading->cpu->vendor, "AuthenticAMD") || family < FAMILY_ZEN)
		return;
	struct claim *claim = claims_add(reading->claims, CLAIM_AMD_P0, CLAIM_OF_TSC, "MSR C0010064h");
	read_claim_msr(reading, claim, MSR_AMD_P0, &value);
	if (!claim->reason[0])
		set_nominal_rate(claim, decode_amd_p0_hz(family, value));
	if (!reading->cpu->memory_encrypted || !read_msr(reading, MSR_SEV_STATUS, &value) ||
	    !(value & SEV_SECURE_TSC))
		return;
	claim = claims_add(reading->claims, CLAIM_SECURE_TSC, CLAIM_OF_TSC, "MSR C0010134h");
	read_claim_msr(reading, claim, MSR_GUEST_TSC_FREQ, &value);
	if (!claim->reason[0])
		set_nominal_rate(claim, (value & GUEST_TSC_MHZ) * HZ_PER_MHZ);
}

#define COUNTER_TSC     1u
#define COUNTER_NONE    0xffu
#define MAX_ERROR_VALID (1u << 4)
/* vmclock's period is converted to units of 2^-RATE_BITS s, so that the rate is a fraction of two 64-bit numbers. */
#define RATE_BITS       62

struct vmclock_time {
	uint32_t counter, shift;
	uint64_t flags, period, max_error;
};

/* Copies the time from vmclock's page. Returns false if the page was being updated in all tries. */
static bool
copy_vmclock_time(uint64_t address, struct vmclock_time *time)
{
	for (unsigned i = 0; i < PAGES_TRIES; i++) {
		uint32_t sequence = hw_read32(address + VMCLOCK_SEQUENCE);

		time->counter = hw_read32(address + VMCLOCK_COUNTER) >> 16 & 0xff;
		time->shift = hw_read32(address + VMCLOCK_SHIFT) >> 24;
		time->flags = hw_read64(address + VMCLOCK_FLAGS);
		time->period = hw_read64(address + VMCLOCK_PERIOD);
		time->max_error = hw_read64(address + VMCLOCK_MAX_ERROR);
		if (!(sequence & 1) && sequence == hw_read32(address + VMCLOCK_SEQUENCE))
			return true;
	}
	return false;
}

/*
 * Adds vmclock's rate. The page's maximum error is used as the rate's tolerance. If the measured rate is outside this
 * tolerance, the page states a wrong rate or a wrong maximum error.
 */
static void
add_vmclock_rate_claim(const struct reading *reading, uint64_t address)
{
	struct vmclock_time time;
	uint64_t units, hz;

	if (!address || !hw_is_mapped(address, VMCLOCK_SIZE) || hw_read32(address) != VMCLOCK_MAGIC)
		return;
	struct claim *claim = claims_add(reading->claims, CLAIM_VMCLOCK, CLAIM_OF_TSC, "vmclock's page");
	if (!copy_vmclock_time(address, &time)) {
		claim_set_refusal(claim, "The page was being updated in each of %u reads.", PAGES_TRIES);
		return;
	}
	units = time.shift < RATE_BITS ? time.period >> (64 - RATE_BITS + time.shift) : 0;
	if (time.counter == COUNTER_NONE)
		claim_set_refusal(claim, "The page has no time: its counter id is FFh, invalid.");
	else if (time.counter != COUNTER_TSC)
		claim_set_refusal(claim, "The page describes another counter than the TSC: its counter id is %u.", time.counter);
	else if (!units)
		claim_set_refusal(claim, "The page states 0 s, or nearly 0 s, as the duration of a TSC tick.");
	if (claim->reason[0])
		return;
	hz = (UINT64_C(1) << RATE_BITS) / units;
	claim_set_rate(claim, (struct rate){ UINT64_C(1) << RATE_BITS, units },
		       hz / units + 1 + (time.flags & MAX_ERROR_VALID ? scale_mul_div_up(hz, time.max_error, time.period) : 0));
}

static bool
is_part_of_number(char letter)
{
	return letter == '.' || (letter >= '0' && letter <= '9');
}

/* Returns the power of ten of the unit before which a CPU's name states a rate, or 0. */
static uint64_t
get_unit_hz(const char *unit)
{
	return text_begins_with(unit, "GHz") ? HZ_PER_GHZ : text_begins_with(unit, "MHz") ? HZ_PER_MHZ : 0;
}

/*
 * Reads a decimal number from TEXT, in units of UNIT_HZ. Sets STEP_HZ to one unit of its last digit. Returns 0 if the
 * number is not followed by a unit.
 */
static uint64_t
read_decimal_rate_hz(const char *text, uint64_t *step_hz)
{
	uint64_t value = 0, divisor = 0, unit_hz;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !divisor); text++) {
		if (*text == '.') {
			divisor = 1;
			continue;
		}
		value = value * 10 + (uint64_t)(*text - '0');
		divisor *= 10;
		if (value > NAME_VALUE_MAX || divisor > NAME_VALUE_MAX)
			return 0;
	}
	while (*text == ' ')
		text++;
	unit_hz = get_unit_hz(text);
	divisor = divisor ? divisor : 1;
	*step_hz = unit_hz / divisor;
	return value * unit_hz / divisor;
}

/*
 * Adds the rate in the CPU's name, such as "Intel(R) Core(TM) i5-4440S CPU @ 3.10GHz". It is the base frequency,
 * rounded to its last digit. The TSC may have another rate, but some programs take the TSC's rate from the name.
 */
static void
add_cpu_name_rate_claim(const struct reading *reading)
{
	const char *name = reading->cpu->brand;
	uint64_t step_hz = 0, hz = 0;

	for (size_t i = 0; name[i] && !hz; i++)
		if (name[i] >= '0' && name[i] <= '9' && (!i || !is_part_of_number(name[i - 1])))
			hz = read_decimal_rate_hz(name + i, &step_hz);
	if (hz)
		set_rate_in_hz(claims_add(reading->claims, CLAIM_CPU_NAME, CLAIM_OF_TSC, "the CPU's name"), hz, step_hz / 2);
}

void
platform_read_rate_claims(struct platform *platform, fault_guard *guarded)
{
	struct reading reading = { .cpu = &platform->cpu, .guarded = guarded, .claims = &platform->claims };

	platform->claims.count = platform->claims.raw_count = 0;
	/* records the CPU's vendor, because operating systems use some claims only on Intel's CPUs */
	(void)read_cpuid_leaf(&reading, 0);
	if (platform->cpu.basic_leaf_max >= LEAF_FEATURES)
		reading.features = read_cpuid_leaf(&reading, LEAF_FEATURES);
	add_leaf_15_rate_claims(&reading);
	add_leaf_16_rate_claim(&reading);
	for (size_t i = 0; i < platform->paravirtual.count; i++) {
		(void)read_cpuid_leaf(&reading, platform->paravirtual.interfaces[i].base);
		add_rate_claims_of_interface(&reading, &platform->paravirtual.interfaces[i]);
	}
	add_vmclock_rate_claim(&reading, platform->acpi.vmclock);
	add_cpu_name_rate_claim(&reading);
	if (!guarded || platform->cpu.basic_leaf_max < LEAF_FEATURES)
		return;
	add_platform_info_rate_claim(&reading);
	add_amd_rate_claim(&reading);
}
