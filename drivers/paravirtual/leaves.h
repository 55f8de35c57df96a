/* Hypervisors' CPUID leaves and MSRs. */
#ifndef BARETICK_LEAVES_H
#define BARETICK_LEAVES_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "hw/cpu.h"

/* Behind an interface's base. */
#define LEAF_INTERFACE 1u /* Hyper-V's signature, KVM's features, Xen's version */
#define LEAF_VERSION   2u /* Hyper-V's build and version, Xen's hypercall page */
#define LEAF_TIME      3u /* Hyper-V's privileges and features, the TSC's mode and rate in Xen */
#define LEAF_XEN_HVM   4u /* the core's vCPU number in Xen */
#define LEAF_RATES     0x10u /* VMware's and KVM's: kHz of the TSC, of the APIC's bus */

/* Linux Documentation/virt/kvm/x86/cpuid.rst: EAX of KVM's leaf 40000001h */
#define KVM_CLOCKSOURCE        (1u << 0)  /* MSRs 11h and 12h */
#define KVM_CLOCKSOURCE2       (1u << 3)  /* MSRs 4B564D00h and 4B564D01h */
#define KVM_CLOCKSOURCE_STABLE (1u << 24) /* the page's flags say whether kvm-clock may warp between cores */

/* xen/include/public/arch-x86/cpuid.h: EBX of Xen's leaf base+3, its TSC mode, and EAX of base+4 */
#define XEN_TSC_DEFAULT         0u /* emulated where the host's TSC would not do */
#define XEN_TSC_ALWAYS_EMULATED 1u
#define XEN_TSC_NEVER_EMULATED  2u
#define XEN_TSC_EMULATED        (1u << 0) /* EAX of base+3: it is so now */
#define XEN_VCPU_ID_PRESENT     (1u << 3) /* EBX has it */

/* Hyper-V Top Level Functional Specification, feature identification: EAX of leaf 40000003h, the privileges */
#define HV_ACCESS_REFERENCE_COUNTER (1u << 1)  /* MSR 40000020h */
#define HV_ACCESS_HYPERCALL_MSRS    (1u << 5)  /* MSRs 40000000h and 40000001h */
#define HV_ACCESS_REFERENCE_TSC     (1u << 9)  /* MSR 40000021h */
#define HV_ACCESS_FREQUENCY_MSRS    (1u << 11) /* MSRs 40000022h and 40000023h */
#define HV_ACCESS_TSC_INVARIANT     (1u << 15) /* MSR 40000118h: the TSC stays as it is through migrations */
#define HV_FREQUENCY_MSRS_AVAILABLE (1u << 8)  /* EDX of the same leaf */

/* Likewise, partition reference time */
#define MSR_HV_GUEST_OS_ID   0x40000000u
#define MSR_HV_REFERENCE     0x40000020u /* in 100 ns */
#define MSR_HV_REFERENCE_TSC 0x40000021u /* bit 0 enables; bits from 12 on are the page's number */
#define MSR_HV_TSC_FREQUENCY 0x40000022u /* in Hz */

/* Linux Documentation/virt/kvm/x86/msr.rst: bit 0 enables, the rest is the address of the clock's structure */
#define MSR_KVM_SYSTEM_TIME     0x00000012u
#define MSR_KVM_SYSTEM_TIME_NEW 0x4b564d01u

/* MSR's value, read under GUARDED where that is not NULL. False: it took an exception, though a leaf offers it. */
bool paravirtual_msr(uint32_t msr, fault_guard *guarded, uint64_t *value);

/*
 * Finds the interfaces of the hypervisor in FACTS: one signature in each block of 100h leaves from 40000000h on. Reads
 * one MSR, Hyper-V's TSC rate, under GUARDED and only if a leaf reports it. Finds nothing on bare metal.
 */
void paravirtual_read(const struct cpu_facts *facts, fault_guard *guarded, struct paravirtual *paravirtual);

/* The claim of the TSC's rate that is taken: the first. NULL: there is none. */
const struct paravirtual_interface *paravirtual_claim(const struct paravirtual *paravirtual);

#endif
