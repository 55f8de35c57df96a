/*
 * Runs a core as its own guest under AMD's SVM, with the same code, memory, registers and page tables. Only its
 * TSC is read with an offset, and with a fault if one is given. Leaves of CPUID may have other values, too.
 * Sections and offsets refer to AMD's Architecture Programmer's Manual, volume 2, chapter 15 and appendix B.
 */
#ifndef BARETICK_TEST_SVM_H
#define BARETICK_TEST_SVM_H

#include <stdbool.h>
#include <stdint.h>

#define SVM_PAGE_SIZE 4096

struct svm_tsc {
	int64_t offset_ticks;
	/* Each READS'th reading is AHEAD_TICKS too high, and finds the TSC set back by SET_BACK_TICKS. READS 0: none. */
	uint64_t reads, set_back_ticks, ahead_ticks;
};

#define SVM_LEAVES_MAX  8
#define SVM_REGISTERS   4
#define SVM_AS_IT_IS    INT64_C(-1)

struct svm_leaf {
	uint32_t leaf;
	int64_t values[SVM_REGISTERS]; /* EAX, EBX, ECX and EDX; SVM_AS_IT_IS keeps the register */
};

struct svm_pages { /* the pages of one core while it is a guest; physical address = virtual address */
	uint8_t vmcb[SVM_PAGE_SIZE];
	uint8_t host_save[SVM_PAGE_SIZE];
	uint8_t stack[SVM_PAGE_SIZE - 128]; /* stack of the host, which reads TSC and CPUID for the guest */
	struct svm_tsc tsc;
	uint64_t read_count, set_back_sum;
	uint32_t leaf_count;
	struct svm_leaf leaves[SVM_LEAVES_MAX]; /* filled in before the core becomes a guest */
	void (*wrong)(void);
} __attribute__((aligned(SVM_PAGE_SIZE)));

/* Whether CPUID says that the core that asks has SVM. */
bool svm_is_there(void);

/*
 * The caller goes on as a guest, which reads its TSC as TSC says. WRONG, which must not return, is called if the core
 * refuses, or if the guest ends for another reason than a reading. PAGES are zeroed but for LEAVES, and interrupts
 * are masked.
 */
void svm_become_guest(struct svm_pages *pages, struct svm_tsc tsc, void (*wrong)(void));

#endif
