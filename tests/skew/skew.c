/*
 * Makes a test image in which started cores really have an offset in their TSC. QEMU's fw_cfg item `opt/baretick/skew`
 * holds words NUMBER:TICKS, such as `1:1000000 3:-2000`: core NUMBER runs as a guest whose TSC is TICKS ahead.
 * `1:0/1000:5000:70` adds a fault: each 1,000th TSC reading of core 1 is 70 ticks too high, and sets the TSC back by
 * 5,000 ticks. `1:0h` is a core whose TSC does not count while it executes HLT. The linker replaces core_main by
 * __wrap_core_main.
 *
 * The item `opt/baretick/leaves` holds words LEAF:EAX:EBX:ECX:EDX, such as `21:1000:1002:1000000000:0`: the boot core
 * runs as a guest whose CPUID leaf 15h has these values. The value -1 leaves a register unchanged. All numbers are
 * decimal.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cores/cores_setup.h"
#include "hw/fw_cfg.h"
#include "hw/hw.h"
#include "skew.h"
#include "svm.h"

#define ITEM        "opt/baretick/skew"
#define ITEM_LEAVES "opt/baretick/leaves"
#define WORDS_SIZE  256
#define CORES_MAX   8          /* small, because each core has three pages in the image file */
#define PAUSES_MAX  1000000000u

/* QEMU's isa-debug-exit, as qemu/run sets it up. QEMU ends with twice the written value plus 1. */
#define PORT_EXIT    0x501
#define EXIT_NO_SVM  0x20
#define EXIT_WRONG   0x21

void __wrap_core_main(struct core_slot *slot) __attribute__((noreturn));
void __real_core_main(struct core_slot *slot) __attribute__((noreturn));

static struct svm_pages pages[CORES_MAX];
static uint32_t reading; /* 1 while a core uses fw_cfg, whose ports only one core may use at a time */

static __attribute__((noreturn)) void
end_machine(uint8_t value)
{
	hw_out8(PORT_EXIT, value);
	for (;;)
		__asm__ volatile("cli; hlt");
}

static void
read_fw_cfg_words(const char *item, char words[WORDS_SIZE])
{
	uint32_t pauses = 0;
	size_t length;

	while (__atomic_exchange_n(&reading, 1, __ATOMIC_ACQUIRE) != 0) {
		if (pauses++ == PAUSES_MAX)
			end_machine(EXIT_WRONG);
		hw_pause();
	}
	bool there = fw_cfg_read_file(item, words, WORDS_SIZE - 1, &length);

	__atomic_store_n(&reading, 0, __ATOMIC_RELEASE);
	if (length >= WORDS_SIZE)
		end_machine(EXIT_WRONG);
	words[there ? length : 0] = 0;
}

/* Reads the integer at *NEXT, and moves *NEXT to its end. Ends the machine if there is no integer. */
static int64_t
read_number(const char **next)
{
	bool negative = **next == '-';
	int64_t value = 0;
	const char *digit = *next + negative;

	if (*digit < '0' || *digit > '9')
		end_machine(EXIT_WRONG);
	for (; *digit >= '0' && *digit <= '9'; digit++)
		value = value * 10 + (*digit - '0');
	*next = digit;
	return negative ? -value : value;
}

/* Reads the character MARK and the integer after it. Ends the machine if they are not there. */
static int64_t
read_marked_number(const char **next, char mark)
{
	if (*(*next)++ != mark)
		end_machine(EXIT_WRONG);
	return read_number(next);
}

/* Reads the settings of CORE's TSC from WORDS. Returns false if no word is for CORE. */
static bool
find_core_settings(const char *words, int64_t core, struct svm_tsc *tsc)
{
	while (*words) {
		int64_t number = read_number(&words);

		*tsc = (struct svm_tsc){ .offset_ticks = read_marked_number(&words, ':') };
		tsc->stops_in_halt = *words == 'h';
		words += tsc->stops_in_halt;
		if (*words == '/') {
			tsc->reads = (uint64_t)read_marked_number(&words, '/');
			tsc->set_back_ticks = (uint64_t)read_marked_number(&words, ':');
			tsc->ahead_ticks = (uint64_t)read_marked_number(&words, ':');
		}
		if (number == core)
			return true;
		while (*words == ' ')
			words++;
	}
	return false;
}

static void
end_machine_for_wrong_settings(void)
{
	end_machine(EXIT_WRONG);
}

void
__wrap_core_main(struct core_slot *slot)
{
	char words[WORDS_SIZE];
	struct svm_tsc tsc;

	read_fw_cfg_words(ITEM, words);
	if (find_core_settings(words, slot->number, &tsc)) {
		if (slot->number >= CORES_MAX)
			end_machine(EXIT_WRONG);
		if (!svm_is_supported())
			end_machine(EXIT_NO_SVM);
		svm_become_guest(&pages[slot->number], tsc, end_machine_for_wrong_settings);
	}
	__real_core_main(slot);
}

/* Reads the next word LEAF:EAX:EBX:ECX:EDX of WORDS, and moves WORDS past it. */
static struct svm_leaf
parse_cpuid_leaf(const char **words)
{
	struct svm_leaf leaf = { .leaf = (uint32_t)read_number(words) };

	for (unsigned i = 0; i < SVM_REGISTERS; i++)
		leaf.values[i] = read_marked_number(words, ':');
	while (**words == ' ')
		++*words;
	return leaf;
}

void
skew_set_cpuid_leaves(void)
{
	char words[WORDS_SIZE];
	const char *next = words;
	uint64_t interrupts;

	read_fw_cfg_words(ITEM_LEAVES, words);
	while (*next) {
		if (pages[0].leaf_count == SVM_LEAVES_MAX)
			end_machine(EXIT_WRONG);
		pages[0].leaves[pages[0].leaf_count++] = parse_cpuid_leaf(&next);
	}
	if (!pages[0].leaf_count)
		return;
	if (!svm_is_supported())
		end_machine(EXIT_NO_SVM);
	interrupts = hw_interrupts_mask();
	svm_become_guest(&pages[0], (struct svm_tsc){ .offset_ticks = 0 }, end_machine_for_wrong_settings);
	hw_interrupts_restore(interrupts);
}
