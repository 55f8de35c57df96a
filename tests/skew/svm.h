/*
 * A core as its own guest under AMD's SVM: the same code on the same memory, registers and page tables, but
 * its TSC is read with an offset. Sections and offsets are those of AMD's Architecture Programmer's Manual,
 * volume 2, chapter 15 and appendix B.
 */
#ifndef BARETICK_TEST_SVM_H
#define BARETICK_TEST_SVM_H

#include <stdbool.h>
#include <stdint.h>

#define SVM_PAGE_SIZE 4096

struct svm_pages { /* one core's, for as long as it is a guest; physical address = virtual address */
	uint8_t vmcb[SVM_PAGE_SIZE];
	uint8_t host_save[SVM_PAGE_SIZE];
} __attribute__((aligned(SVM_PAGE_SIZE)));

/* Whether CPUID says that the core that asks has SVM. */
bool svm_is_there(void);

/*
 * True: the caller goes on as a guest, and TSC_OFFSET ticks are on top of every TSC that it reads. False: the
 * core refused, or came back from being a guest, which then is at no known place: only halting is left.
 * PAGES are zeroed, and interrupts masked.
 */
bool svm_become_guest(struct svm_pages *pages, int64_t tsc_offset);

#endif
