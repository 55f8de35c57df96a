/*
 * Relocation of the loaded image. GNU-EFI's own function knows entries of 24 bytes each. The linker packs them into a
 * bitmap (DT_RELR of the generic ELF specification, gabi 4.3, "Relocation Table"), which makes the image 5 % smaller.
 */
#include <elf.h>
#include <efi.h>
#include <stddef.h>

/* The tag's value is the same in all versions of elf.h, but versions of glibc before 2.36 do not define it. */
#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR   36
#endif

#define WORD_BITS 63 /* number of words that a bitmap describes; its lowest bit marks it as a bitmap */

EFI_STATUS _relocate(long base, Elf64_Dyn *dynamic, EFI_HANDLE image, EFI_SYSTEM_TABLE *table);

/*
 * Adds the address of the image to the words that need it. ENTRIES are COUNT entries: the offset of a word, or a bitmap
 * of the words that follow the last described one.
 */
static void
add_base_to_words(uintptr_t base, const uint64_t *entries, size_t count)
{
	uint64_t *next = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!(entries[i] & 1)) {
			next = (uint64_t *)(base + entries[i]);
			*next++ += base;
			continue;
		}
		for (size_t bit = 0; bit < WORD_BITS; bit++)
			if (entries[i] >> (bit + 1) & 1)
				next[bit] += base;
		next += WORD_BITS;
	}
}

/* Relocates the image to its address BASE. GNU-EFI's crt0 calls this function before anything else. */
EFI_STATUS
_relocate(long base, Elf64_Dyn *dynamic, EFI_HANDLE, EFI_SYSTEM_TABLE *)
{
	const uint64_t *entries = NULL;
	size_t bytes = 0;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_RELR)
			entries = (const uint64_t *)((uintptr_t)base + dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_RELRSZ)
			bytes = dynamic->d_un.d_val;
	}
	add_base_to_words((uintptr_t)base, entries, bytes / sizeof(*entries));
	return EFI_SUCCESS;
}
