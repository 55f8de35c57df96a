/*
 * Runs a core as its own guest under AMD's SVM, with the same code, memory, registers and page tables. Only its TSC
 * readings differ: they have an offset and, on request, a fault. CPUID leaves may also have other values. Sections and
 * offsets refer to AMD's Architecture Programmer's Manual, volume 2, chapter 15 and appendix B.
 */
#ifndef BARETICK_TEST_SVM_H
#define BARETICK_TEST_SVM_H

#include <stdbool.h>
#include <stdint.h>

#define SVM_PAGE_SIZE 4096

struct svm_tsc {
	int64_t offset_ticks;
	/*
	 * A fault: one in READS readings is AHEAD_TICKS too high, and sets the TSC back by SET_BACK_TICKS. READS is 0
	 * without a fault.
	 */
	uint64_t reads, set_back_ticks, ahead_ticks;
	bool stops_in_halt; /* a fault: the TSC does not count while the core executes HLT */
};

#define SVM_LEAVES_MAX  8
#define SVM_REGISTERS   4
#define SVM_AS_IT_IS    INT64_C(-1)

struct svm_leaf {
	uint32_t leaf;
	int64_t values[SVM_REGISTERS]; /* EAX, EBX, ECX and EDX; SVM_AS_IT_IS leaves the register unchanged */
};

struct svm_pages { /* memory of a core that is a guest, in whole pages; physical and virtual addresses are the same */
	uint8_t vmcb[SVM_PAGE_SIZE];
	uint8_t host_save[SVM_PAGE_SIZE];
	uint8_t stack[SVM_PAGE_SIZE - 128]; /* stack of the host, which executes RDTSC and CPUID for the guest */
	struct svm_tsc tsc;
	uint64_t read_count, set_back_sum;
	uint64_t halted_tsc; /* the host's TSC when the guest executed HLT */
	uint32_t leaf_count;
	struct svm_leaf leaves[SVM_LEAVES_MAX]; /* must be set before the core becomes a guest */
	void (*wrong)(void);
} __attribute__((aligned(SVM_PAGE_SIZE)));

/* Returns true if CPUID reports SVM on the calling core. */
bool svm_is_supported(void);

/*
 * Makes the calling core a guest whose TSC has the offset and the fault in TSC. WRONG is called if the core refuses,
 * or if the guest exits for any reason except a TSC reading, CPUID, HLT, or the interrupt that ends HLT. WRONG must not
 * return. PAGES must be zero except for the leaves, and interrupts must be masked.
 */
void svm_become_guest(struct svm_pages *pages, struct svm_tsc tsc, void (*wrong)(void));

#endif
