/* Runs a core as a guest under AMD's SVM. See svm.h. */
#include "svm.h"

#include <stddef.h>

#include "cores/cores_setup.h"
#include "hw/hw.h"

#define CPUID_SVM        0x80000001u    /* CPUID leaf whose ECX bit 2 reports SVM: AMD APM vol. 3, appendix E */
#define CPUID_SVM_ECX    (1u << 2)
#define MSR_EFER         0xc0000080u    /* 3.1.7 */
#define EFER_SVME        (UINT64_C(1) << 12)
#define MSR_VM_HSAVE_PA  0xc0010117u    /* 15.30.4 */
/* AMD APM vol. 2, table B-1, offset 00Ch; in QEMU this bit also makes RDTSCP exit */
#define INTERCEPT_RDTSC   (1u << 14)
#define INTERCEPT_CPUID   (1u << 18)
#define INTERCEPT_INTR    1u            /* physical interrupts */
#define INTERCEPT_HLT     (1u << 24)
#define EXIT_INTR         0x60u         /* appendix C */
#define EXIT_HLT          0x78u
#define EXIT_RDTSC        0x6eu
#define EXIT_CPUID        0x72u
/* AMD APM vol. 2, table B-1, offset 010h; without this bit, VMRUN refuses the guest (15.5.1) */
#define INTERCEPT_VMRUN   1u
#define INTERCEPT_VMMCALL 2u
#define ASID             1u             /* address space id of the guest; 0 is the host's: APM vol. 2, 15.5.1 */
#define DR6_RESET        0xffff0ff0u    /* table 14-1 */
#define DR7_RESET        0x400u

struct segment { /* table B-2 */
	uint16_t selector, attributes;
	uint32_t limit;
	uint64_t base;
};

struct vmcb {
	uint8_t intercepts_0[0xc];
	uint32_t intercepts_3, intercepts_4;
	uint8_t reserved_014[0x50 - 0x14];
	int64_t tsc_offset;
	uint32_t asid;
	uint8_t reserved_05c[0x70 - 0x5c];
	uint64_t exit_code;
	uint8_t control[0x400 - 0x78];
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

_Static_assert(offsetof(struct vmcb, intercepts_3) == 0xc, "table B-1");
_Static_assert(offsetof(struct vmcb, exit_code) == 0x70, "table B-1");
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
svm_is_supported(void)
{
	return hw_cpuid(0x80000000u, 0).eax >= CPUID_SVM &&
	       (hw_cpuid(CPUID_SVM, 0).ecx & CPUID_SVM_ECX) != 0;
}

/* Returns a segment register's state from its descriptor. In 64-bit mode the base has no effect: APM vol. 2, 4.8. */
static struct segment
read_segment(const struct table_register *gdtr, uint16_t selector)
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
copy_segments(struct vmcb *vmcb)
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
	vmcb->cs = read_segment(&gdtr, cs);
	vmcb->ss = read_segment(&gdtr, ss);
	vmcb->ds = read_segment(&gdtr, ds);
	vmcb->es = read_segment(&gdtr, es);
}

static void
copy_registers(struct vmcb *vmcb)
{
	__asm__ volatile("movq %%cr0, %0" : "=r"(vmcb->cr0));
	__asm__ volatile("movq %%cr3, %0" : "=r"(vmcb->cr3));
	__asm__ volatile("movq %%cr4, %0" : "=r"(vmcb->cr4));
	__asm__ volatile("pushfq; popq %0" : "=r"(vmcb->rflags));
	vmcb->efer = hw_msr_read(MSR_EFER);
	vmcb->dr6 = DR6_RESET;
	vmcb->dr7 = DR7_RESET;
}

struct registers { /* the guest's registers, in the order in which they are on the stack */
	uint64_t rbx, rcx, rdx, rsi, rdi, r8, r9, r10, r11;
};

/* Makes one TSC reading for the guest, with the offset and the fault of the core. */
static uint64_t
read_guest_tsc(struct svm_pages *pages)
{
	uint64_t ticks = hw_tsc() + (uint64_t)pages->tsc.offset_ticks;

	if (++pages->read_count % pages->tsc.reads)
		return ticks - pages->set_back_sum;
	pages->set_back_sum += pages->tsc.set_back_ticks;
	return ticks - pages->set_back_sum + pages->tsc.ahead_ticks;
}

/* Executes CPUID (0F A2) for the guest. For some leaves, the results are values that the test set. */
static void
emulate_cpuid(struct svm_pages *pages, struct vmcb *vmcb, struct registers *registers)
{
	uint32_t leaf = (uint32_t)vmcb->rax;
	struct hw_cpuid r = hw_cpuid(leaf, (uint32_t)registers->rcx);
	uint32_t *words[SVM_REGISTERS] = { &r.eax, &r.ebx, &r.ecx, &r.edx };

	for (uint32_t i = 0; i < pages->leaf_count; i++)
		for (unsigned k = 0; pages->leaves[i].leaf == leaf && k < SVM_REGISTERS; k++)
			if (pages->leaves[i].values[k] != SVM_AS_IT_IS)
				*words[k] = (uint32_t)pages->leaves[i].values[k];
	vmcb->rax = r.eax;
	registers->rbx = r.ebx;
	registers->rcx = r.ecx;
	registers->rdx = r.edx;
	vmcb->rip += 2;
}

/*
 * Lets the guest execute HLT itself, and lets the interrupt that ends the HLT exit to the host. The guest then takes
 * the interrupt. Its TSC is set back by the time that passed between both exits.
 */
static bool
handle_halt(struct svm_pages *pages, struct vmcb *vmcb)
{
	if (vmcb->exit_code == EXIT_HLT) {
		pages->halted_tsc = hw_tsc();
		vmcb->intercepts_3 = (vmcb->intercepts_3 & ~INTERCEPT_HLT) | INTERCEPT_INTR;
		return true;
	}
	if (vmcb->exit_code != EXIT_INTR)
		return false;
	vmcb->tsc_offset -= (int64_t)(hw_tsc() - pages->halted_tsc);
	vmcb->intercepts_3 = (vmcb->intercepts_3 & ~INTERCEPT_INTR) | INTERCEPT_HLT;
	return true;
}

/* Executes RDTSC (0F 31), RDTSCP (0F 01 F9) or CPUID for the guest, and moves the guest to its next instruction. */
void svm_handle_exit(struct svm_pages *pages, struct registers *registers) __attribute__((used));

void
svm_handle_exit(struct svm_pages *pages, struct registers *registers)
{
	struct vmcb *vmcb = (struct vmcb *)(void *)pages->vmcb;
	const uint8_t *instruction = (const uint8_t *)(uintptr_t)vmcb->rip;
	uint32_t aux;
	uint64_t ticks;

	if (vmcb->exit_code == EXIT_CPUID && instruction[0] == 0x0f && instruction[1] == 0xa2) {
		emulate_cpuid(pages, vmcb, registers);
		return;
	}
	if (handle_halt(pages, vmcb))
		return;
	if (vmcb->exit_code != EXIT_RDTSC || instruction[0] != 0x0f)
		pages->wrong();
	ticks = read_guest_tsc(pages);
	vmcb->rax = (uint32_t)ticks;
	registers->rdx = ticks >> 32;
	if (instruction[1] == 0x01) {
		__asm__ volatile("rdtscp" : "=c"(aux) : : "rax", "rdx");
		registers->rcx = aux;
	}
	vmcb->rip += instruction[1] == 0x01 ? 3 : 2;
}

/*
 * Runs the rest of the caller as the guest, from this function's end and on the caller's stack. VMRUN loads only RAX,
 * RSP and a few other registers from the VMCB (AMD APM vol. 2, 15.5.1), so the guest keeps the host's other registers.
 * After each exit the host continues after VMRUN, on its own stack. Except for RAX and RSP, the registers then have the
 * guest's values.
 */
static void
run_guest(struct svm_pages *pages)
{
	void *rax = pages->vmcb, *stack = pages->stack + sizeof(pages->stack);

	_Static_assert(offsetof(struct svm_pages, vmcb) == 0, "the VMCB's address is that of the pages");
	_Static_assert(sizeof(pages->stack) % 16 == 0, "the stack's end is aligned for a call");
	((struct vmcb *)rax)->rax = 0;
	__asm__ volatile("leaq 1f(%%rip), %%rcx\n\t"
			 "movq %%rcx, %c[rip](%%rax)\n\t"
			 "movq %%rsp, %c[rsp](%%rax)\n\t"
			 "movq %[stack], %%rsp\n"
			 "0:\n\t"
			 "vmrun %%rax\n\t"
			 "pushq %%rax\n\t"
			 "pushq %%r11\n\t"
			 "pushq %%r10\n\t"
			 "pushq %%r9\n\t"
			 "pushq %%r8\n\t"
			 "pushq %%rdi\n\t"
			 "pushq %%rsi\n\t"
			 "pushq %%rdx\n\t"
			 "pushq %%rcx\n\t"
			 "pushq %%rbx\n\t"
			 "movq %%rax, %%rdi\n\t"
			 "movq %%rsp, %%rsi\n\t"
			 "call svm_handle_exit\n\t"
			 "popq %%rbx\n\t"
			 "popq %%rcx\n\t"
			 "popq %%rdx\n\t"
			 "popq %%rsi\n\t"
			 "popq %%rdi\n\t"
			 "popq %%r8\n\t"
			 "popq %%r9\n\t"
			 "popq %%r10\n\t"
			 "popq %%r11\n\t"
			 "popq %%rax\n\t"
			 "jmp 0b\n"
			 "1:"
			 : "+a"(rax)
			 : [stack] "r"(stack), [rip] "i"(offsetof(struct vmcb, rip)), [rsp] "i"(offsetof(struct vmcb, rsp))
			 : "rcx", "memory", "cc");
}

void
svm_become_guest(struct svm_pages *pages, struct svm_tsc tsc, void (*wrong)(void))
{
	struct vmcb *vmcb = (struct vmcb *)(void *)pages->vmcb;

	hw_msr_write(MSR_EFER, hw_msr_read(MSR_EFER) | EFER_SVME);
	hw_msr_write(MSR_VM_HSAVE_PA, (uintptr_t)pages->host_save);
	copy_segments(vmcb);
	copy_registers(vmcb);
	vmcb->intercepts_3 = (tsc.reads ? INTERCEPT_RDTSC : 0) | (pages->leaf_count ? INTERCEPT_CPUID : 0) |
			     (tsc.stops_in_halt ? INTERCEPT_HLT : 0);
	vmcb->intercepts_4 = INTERCEPT_VMRUN | INTERCEPT_VMMCALL;
	vmcb->asid = ASID;
	vmcb->tsc_offset = tsc.offset_ticks;
	pages->tsc = tsc;
	pages->wrong = wrong;
	run_guest(pages);
}
