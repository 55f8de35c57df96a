/* Numbers of hypervisors' CPUID leaves and MSRs, and functions that read them. */
#ifndef BARETICK_LEAVES_H
#define BARETICK_LEAVES_H

#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "hw/cpu.h"

/* Leaves of an interface. The numbers are relative to the interface's first leaf. */
#define LEAF_INTERFACE 1u /* Hyper-V's signature, KVM's features, or Xen's version */
#define LEAF_VERSION   2u /* Hyper-V's build and version, or Xen's hypercall page */
#define LEAF_TIME      3u /* Hyper-V's privileges and features, or the mode and the rate of the TSC in Xen */
#define LEAF_XEN_HVM   4u /* number of the core's vCPU in Xen */
/* VMware's and KVM's leaf of the rates of the TSC and of the APIC's bus, in kHz */
#define LEAF_RATES     0x10u

/*
 * Bits of EAX of KVM's leaf 40000001h, each with the MSRs that exist if the bit is set: Linux
 * Documentation/virt/kvm/x86/cpuid.rst
 */
#define KVM_CLOCKSOURCE        (1u << 0)  /* MSRs 11h and 12h */
#define KVM_CLOCKSOURCE2       (1u << 3)  /* MSRs 4B564D00h and 4B564D01h */
#define KVM_STEAL_TIME         (1u << 5)  /* MSR 4B564D03h */
/* flags in kvm-clock's page show whether the clock may differ between cores */
#define KVM_CLOCKSOURCE_STABLE (1u << 24)

/* xen/include/public/arch-x86/cpuid.h: Xen's TSC mode in EBX of leaf 3, and flags in EAX of leaves 3 and 4. */
#define XEN_TSC_DEFAULT         0u /* Xen emulates the TSC if the host's TSC is not suitable */
#define XEN_TSC_ALWAYS_EMULATED 1u
#define XEN_TSC_NEVER_EMULATED  2u
#define XEN_TSC_EMULATED        (1u << 0) /* EAX of leaf 3: the TSC is emulated now */
#define XEN_VCPU_ID_PRESENT     (1u << 3) /* EAX of leaf 4: EBX holds the vCPU number */

/*
 * Privileges in EAX of leaf 40000003h, each with the MSRs that a guest may access if the bit is set: Hyper-V Top Level
 * Functional Specification, feature identification
 */
#define HV_ACCESS_REFERENCE_COUNTER (1u << 1)  /* MSR 40000020h */
#define HV_ACCESS_SYNIC             (1u << 2)  /* MSRs 40000080h to 40000084h and 40000090h to 4000009Fh */
#define HV_ACCESS_TIMERS            (1u << 3)  /* MSRs 400000B0h to 400000B7h */
#define HV_ACCESS_HYPERCALL_MSRS    (1u << 5)  /* MSRs 40000000h and 40000001h */
#define HV_ACCESS_REFERENCE_TSC     (1u << 9)  /* MSR 40000021h */
#define HV_ACCESS_FREQUENCY_MSRS    (1u << 11) /* MSRs 40000022h and 40000023h */
#define HV_ACCESS_TSC_INVARIANT     (1u << 15) /* MSR 40000118h: the TSC's rate survives migrations */
#define HV_FREQUENCY_MSRS_AVAILABLE (1u << 8)  /* EDX of leaf 40000003h: the frequency MSRs exist */
#define HV_DIRECT_TIMERS_AVAILABLE  (1u << 19) /* EDX of leaf 40000003h: timers may interrupt at the local APIC */

/* Hyper-V Top Level Functional Specification, partition reference time */
#define MSR_HV_GUEST_OS_ID   0x40000000u
#define MSR_HV_REFERENCE     0x40000020u /* Hyper-V's reference time in units of 100 ns */
#define MSR_HV_REFERENCE_TSC 0x40000021u /* bit 0 enables the reference TSC page; bits 63:12 are its page number */
#define MSR_HV_TSC_FREQUENCY 0x40000022u /* the TSC's rate in Hz; the next MSR has the rate of the LAPIC's timer */

/* The last of four synthetic timers: Hyper-V Top Level Functional Specification, synthetic timers */
#define MSR_HV_TIMER_CONFIG  0x400000b6u
#define MSR_HV_TIMER_COUNT   0x400000b7u
#define HV_TIMER_ENABLE      (1u << 0)   /* flag of the configuration: the timer is enabled */

/*
 * Bit 0 enables the clock. The other bits are the address of the clock's page: Linux
 * Documentation/virt/kvm/x86/msr.rst
 */
#define MSR_KVM_SYSTEM_TIME     0x00000012u
#define MSR_KVM_SYSTEM_TIME_NEW 0x4b564d01u
#define MSR_KVM_STEAL_TIME      0x4b564d03u

/* Xen's hypercall about one vCPU, and its subcommands: xen/include/public/xen.h, vcpu.h */
#define XEN_VCPU_OP            24u
#define XEN_GET_RUNSTATE       4u
#define XEN_REGISTER_TIME_AREA 13u

/* Reads MSR into VALUE. GUARDED, unless it is NULL, catches exceptions. Returns false if it caught an exception. */
bool paravirtual_read_msr(uint32_t msr, fault_guard *guarded, uint64_t *value);

/*
 * Finds the interfaces of the hypervisor that FACTS names. An interface is a block of 100h leaves from 40000000h on,
 * which starts with its signature. Also reads Hyper-V's TSC rate, and tests whether Hyper-V's last synthetic timer can
 * be accessed, if CPUID offers them. GUARDED catches exceptions. Finds nothing on bare metal.
 */
void paravirtual_read_interfaces(const struct cpu_facts *facts, fault_guard *guarded, struct paravirtual *paravirtual);

#endif
