; A loader in an ELF file, which QEMU's -kernel starts by PVH. The loader enters an image by the Linux boot protocol in
; 64-bit mode, as crosvm and libkrun do. If PVH or MULTIBOOT2 is defined, it uses this protocol instead. IMAGE is the
; file with the image, SKIP is the image's offset in this file, and ENTRY is the address at which the image is entered.
; With Linux's protocol, the memory after the image is not zero. A test may define the values below differently, to pass
; invalid data to the image.

%ifdef PVH
%define DATA_MAGIC	336ec578h	; magic number of hvm_start_info
%define FILL		0
%elifdef MULTIBOOT2
%define DATA_MAGIC	36d76289h	; value of EAX at the entry
%define FILL		0
%else
%define DATA_MAGIC	53726448h	; magic number of boot_params in Linux's protocol
%define FILL		0aah
%endif
%ifndef MAGIC
%define MAGIC		DATA_MAGIC
%endif
%ifndef RANGES
%define RANGES		2		; number of entries in the memory map that the image gets
%endif
%ifndef LOW
%define LOW		1		; type of the memory below 1 MiB; 1 is free memory
%endif
%ifndef RAM_END
%define RAM_END		10000000h	; end of the memory that the map lists: 256 MiB
%endif
%ifndef RAM_BEGIN
%define RAM_BEGIN	IMAGE_BASE	; start of the second range of the memory map
%endif
%ifndef RSDP
%define RSDP		0
%endif
%ifndef VERSION
%define VERSION		1		; version of PVH's start info
%endif
%ifndef HANDED
%ifdef MULTIBOOT2
%define HANDED		info
%else
%define HANDED		PARAMS		; address of PVH's start info, or of multiboot2's, that is passed to the image
%endif
%endif
%ifndef MORE
%define MORE				; more entries of the memory map (not for Linux's protocol)
%endif
%ifndef PATCH
%define PATCH				; an instruction that damages the start info (only for PVH)
%endif
%ifndef INFO_SIZE
%define INFO_SIZE	info_end - info	; size of multiboot2's information
%endif
%ifndef TAGS
%define TAGS				; tags of multiboot2 before the memory map
%endif
%ifndef MAP_SIZE
%define MAP_SIZE	map_end - map_tag	; size of multiboot2's tag with the memory map
%endif
%ifndef ENTRY_SIZE
%define ENTRY_SIZE	24		; size of an entry in this map
%endif

BASE		equ 1000000h
IMAGE_BASE	equ 100000h
IMAGE_END	equ 200000h
PARAMS		equ 7000h		; PARAMS, LINE and TABLES are addresses as in crosvm and libkrun
LINE		equ 20000h
TABLES		equ 9000h		; page tables: PML4, PDPT, and the page directory of the first GiB

bits 32
org BASE
	db 7fh, "ELF", 1, 1, 1		; header of a 32-bit ELF file
	times 9 db 0
	dw 2, 3				; type (executable) and machine (386)
	dd 1, start, 52, 0, 0
	dw 52, 32, 2, 0, 0, 0
	dd 1, 0, BASE, BASE, file_end - BASE, file_end - BASE, 7, 1000h			; program header PT_LOAD
	dd 4, note - BASE, note, note, note_end - note, note_end - note, 4, 4		; program header PT_NOTE
note:
	dd 4, 4, 18			; header of the note XEN_ELFNOTE_PHYS32_ENTRY: lengths of name and data, type
	db "Xen", 0
	dd start
note_end:

gdt:
	dq 0, 0
	dq 00af9b000000ffffh		; selector 10h: a segment of 64-bit code
	dq 00cf93000000ffffh		; selector 18h: a segment of data
gdt_register:
	dw gdt_register - gdt - 1
	dd gdt

%macro range 3
	dq %1, %2
	dd %3
%if DATA_MAGIC != 53726448h
	dd 0
%endif
%endmacro
%ifdef MULTIBOOT2
	align 8
info:
	dd INFO_SIZE, 0
	dd 1, 8 + line_end - line	; types of tags: Multiboot2 Specification 2.0, 3.6
line:
	db WORDS, 0
line_end:
	align 8
	TAGS
	align 8
map_tag:
	dd 6, MAP_SIZE, ENTRY_SIZE, 0
%endif
map:
	range 0, 9fc00h, LOW
	range RAM_BEGIN, RAM_END - RAM_BEGIN, 1
	MORE
map_end:
%ifdef MULTIBOOT2
	dd 0, 8
info_end:
%else
line:
	db WORDS, 0
line_end:
%endif

start:
	cld
	mov esi, image
	mov edi, IMAGE_BASE
	mov ecx, file_end - image
	rep movsb
	mov ecx, IMAGE_END
	sub ecx, edi
	mov al, FILL
	rep stosb

	xor eax, eax
	mov edi, PARAMS
	mov ecx, (TABLES + 3000h - PARAMS) / 4
	rep stosd
	mov esi, line
	mov edi, LINE
	mov ecx, line_end - line
	rep movsb
%ifdef PVH
	mov dword [PARAMS], MAGIC
	mov dword [PARAMS + 4], VERSION
	mov dword [PARAMS + 24], LINE
	mov dword [PARAMS + 32], RSDP & 0ffffffffh
	mov dword [PARAMS + 36], RSDP >> 32
	mov dword [PARAMS + 40], map
	mov dword [PARAMS + 48], RANGES
	PATCH
	mov ebx, HANDED
	mov eax, ENTRY
	jmp eax
%elifdef MULTIBOOT2
	mov ebx, HANDED
	mov eax, MAGIC
	mov edx, ENTRY
	jmp edx
%endif
	mov dword [PARAMS + 70h], RSDP & 0ffffffffh
	mov dword [PARAMS + 74h], RSDP >> 32
	mov dword [PARAMS + 202h], MAGIC
	mov byte [PARAMS + 210h], 0ffh
	mov dword [PARAMS + 228h], LINE
	mov byte [PARAMS + 1e8h], RANGES
	mov esi, map
	mov edi, PARAMS + 2d0h
	mov ecx, map_end - map
	rep movsb

	mov dword [TABLES], TABLES + 1003h
	mov dword [TABLES + 1000h], TABLES + 2003h
	mov edi, TABLES + 2000h
	mov eax, 83h
.page:
	mov [edi], eax
	add edi, 8
	add eax, 200000h
	cmp eax, 40000000h
	jb .page
	mov eax, cr4
	or eax, 20h
	mov cr4, eax
	mov eax, TABLES
	mov cr3, eax
	mov ecx, 0c0000080h
	rdmsr
	or eax, 100h
	wrmsr
	mov eax, cr0
	or eax, 80000001h
	mov cr0, eax
	lgdt [gdt_register]
	jmp 10h:.long
bits 64
.long:
	mov eax, 18h
	mov ds, eax
	mov es, eax
	mov ss, eax
	mov esi, PARAMS
	mov eax, ENTRY
	jmp rax

	align 16
image:
	incbin IMAGE, SKIP
file_end:
