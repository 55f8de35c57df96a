/* See svm.h. */
#include "svm.h"

#include <stddef.h>

#include "cores_setup.h"
#include "hw.h"

#define CPUID_SVM        0x80000001u    /* ECX[2]; APM vol. 3, appendix E */
#define CPUID_SVM_ECX    (1u << 2)
#define MSR_EFER         0xc0000080u    /* 3.1.7 */
#define EFER_SVME        (UINT64_C(1) << 12)
#define MSR_VM_HSAVE_PA  0xc0010117u    /* 15.30.4 */
#define INTERCEPT_VMRUN   1u            /* table B-1, 010h: VMRUN refuses a guest without it (15.5.1) */
#define INTERCEPT_VMMCALL 2u
#define ASID             1u             /* 0 is the host's: 15.5.1 */
#define DR6_RESET        0xffff0ff0u    /* table 14-1 */
#define DR7_RESET        0x400u

struct segment { /* table B-2 */
	uint16_t selector, attributes;
	uint32_t limit;
	uint64_t base;
};

struct vmcb {
	uint8_t intercepts_0[0x10];
	uint32_t intercepts_4;
	uint8_t reserved_014[0x50 - 0x14];
	int64_t tsc_offset;
	uint32_t asid;
	uint8_t control[0x400 - 0x5c];
	struct segment es, cs, ss, ds, fs, gs, gdtr, ldtr, idtr, tr;
	uint8_t reserved_4a0[0x4cb - 0x4a0];
	uint8_t cpl;
	uint8_t reserved_4cc[4];
	uint64_t efer;
	uint8_t reserved_4d8[0x548 - 0x4d8];
	uint64_t cr4, cr3, cr0, dr7, dr6, rflags, rip;
	uint8_t reserved_580[0x5d8 - 0x580];
	uint64_t rsp;
	uint8_t reserved_5e0[0x5f8 - 0x5e0];
	uint64_t rax;
};

_Static_assert(offsetof(struct vmcb, tsc_offset) == 0x50, "table B-1");
_Static_assert(offsetof(struct vmcb, asid) == 0x58, "table B-1");
_Static_assert(offsetof(struct vmcb, es) == 0x400, "table B-2, and so all below");
_Static_assert(offsetof(struct vmcb, cpl) == 0x4cb, "CPL");
_Static_assert(offsetof(struct vmcb, efer) == 0x4d0, "EFER");
_Static_assert(offsetof(struct vmcb, cr4) == 0x548, "CR4");
_Static_assert(offsetof(struct vmcb, rip) == 0x578, "RIP");
_Static_assert(offsetof(struct vmcb, rsp) == 0x5d8, "RSP");
_Static_assert(offsetof(struct vmcb, rax) == 0x5f8, "RAX");
_Static_assert(sizeof(struct vmcb) <= SVM_PAGE_SIZE, "15.5");

bool
svm_is_there(void)
{
	return hw_cpuid(0x80000000u, 0).eax >= CPUID_SVM &&
	       (hw_cpuid(CPUID_SVM, 0).ecx & CPUID_SVM_ECX) != 0;
}

/* A segment of 64-bit mode from its descriptor: the base counts for none of them (4.8). */
static struct segment
segment_of(const struct table_register *gdtr, uint16_t selector)
{
	uint64_t descriptor = ((const uint64_t *)(uintptr_t)gdtr->base)[selector >> 3];
	bool pages = descriptor >> 55 & 1;
	uint32_t limit = (uint32_t)((descriptor & 0xffff) | (descriptor >> 32 & 0xf0000));

	return (struct segment){
		.selector = selector,
		.attributes = (uint16_t)((descriptor >> 40 & 0xff) | (descriptor >> 44 & 0xf00)), /* 15.5.1 */
		.limit = pages ? limit << 12 | 0xfff : limit,
	};
}

static void
take_segments(struct vmcb *vmcb)
{
	struct table_register gdtr, idtr;
	uint16_t cs, ss, ds, es;

	__asm__ volatile("sgdt %0" : "=m"(gdtr));
	__asm__ volatile("sidt %0" : "=m"(idtr));
	__asm__ volatile("movw %%cs, %0" : "=r"(cs));
	__asm__ volatile("movw %%ss, %0" : "=r"(ss));
	__asm__ volatile("movw %%ds, %0" : "=r"(ds));
	__asm__ volatile("movw %%es, %0" : "=r"(es));
	vmcb->gdtr = (struct segment){ .limit = gdtr.limit, .base = gdtr.base };
	vmcb->idtr = (struct segment){ .limit = idtr.limit, .base = idtr.base };
	vmcb->cs = segment_of(&gdtr, cs);
	vmcb->ss = segment_of(&gdtr, ss);
	vmcb->ds = segment_of(&gdtr, ds);
	vmcb->es = segment_of(&gdtr, es);
}

static void
take_registers(struct vmcb *vmcb)
{
	__asm__ volatile("movq %%cr0, %0" : "=r"(vmcb->cr0));
	__asm__ volatile("movq %%cr3, %0" : "=r"(vmcb->cr3));
	__asm__ volatile("movq %%cr4, %0" : "=r"(vmcb->cr4));
	__asm__ volatile("pushfq; popq %0" : "=r"(vmcb->rflags));
	vmcb->efer = hw_msr_read(MSR_EFER);
	vmcb->dr6 = DR6_RESET;
	vmcb->dr7 = DR7_RESET;
}

/*
 * VMRUN loads what the VMCB's state has up to RAX, and leaves all other registers, FS, GS and their bases
 * among them, as they are (15.5.1). So the guest begins where VMRUN ends, on the same stack; RAX alone tells
 * it from the host, which gets there at an exit.
 */
static bool
vmrun(struct vmcb *vmcb)
{
	struct vmcb *rax = vmcb;

	vmcb->rax = 0;
	__asm__ volatile("leaq 1f(%%rip), %%rcx\n\t"
			 "movq %%rcx, %c[rip](%%rax)\n\t"
			 "movq %%rsp, %c[rsp](%%rax)\n\t"
			 "vmrun %%rax\n"
			 "1:"
			 : "+a"(rax)
			 : [rip] "i"(offsetof(struct vmcb, rip)), [rsp] "i"(offsetof(struct vmcb, rsp))
			 : "rcx", "memory", "cc");
	return rax == NULL;
}

bool
svm_become_guest(struct svm_pages *pages, int64_t tsc_offset)
{
	struct vmcb *vmcb = (struct vmcb *)(void *)pages->vmcb;

	hw_msr_write(MSR_EFER, hw_msr_read(MSR_EFER) | EFER_SVME);
	hw_msr_write(MSR_VM_HSAVE_PA, (uintptr_t)pages->host_save);
	take_segments(vmcb);
	take_registers(vmcb);
	vmcb->intercepts_4 = INTERCEPT_VMRUN | INTERCEPT_VMMCALL;
	vmcb->asid = ASID;
	vmcb->tsc_offset = tsc_offset;
	return vmrun(vmcb);
}
