; A loader in an ELF for QEMU's -kernel (PVH): enters an image at ENTRY in 64-bit mode by the Linux boot protocol, as
; crosvm and libkrun do. IMAGE is the file with the image, from its byte SKIP on, and ENTRY its entry. The memory after
; the image is not zero.

BASE		equ 1000000h
IMAGE_BASE	equ 100000h
IMAGE_END	equ 200000h
PARAMS		equ 7000h		; where crosvm and libkrun have them
LINE		equ 20000h
TABLES		equ 9000h		; PML4, PDPT, page directory of the first GiB
RAM_END		equ 10000000h		; 256 MiB

bits 32
org BASE
	db 7fh, "ELF", 1, 1, 1		; ELF, for 32 bits
	times 9 db 0
	dw 2, 3				; executable, 386
	dd 1, start, 52, 0, 0
	dw 52, 32, 2, 0, 0, 0
	dd 1, 0, BASE, BASE, file_end - BASE, file_end - BASE, 7, 1000h			; PT_LOAD
	dd 4, note - BASE, note, note, note_end - note, note_end - note, 4, 4		; PT_NOTE
note:
	dd 4, 4, 18			; XEN_ELFNOTE_PHYS32_ENTRY
	db "Xen", 0
	dd start
note_end:

gdt:
	dq 0, 0
	dq 00af9b000000ffffh		; 10h: code, 64 bits
	dq 00cf93000000ffffh		; 18h: data
gdt_register:
	dw gdt_register - gdt - 1
	dd gdt

map:
	dq 0, 9fc00h
	dd 1
	dq IMAGE_BASE, RAM_END - IMAGE_BASE
	dd 1
map_end:
line:
	db WORDS, 0
line_end:

start:
	cld
	mov esi, image
	mov edi, IMAGE_BASE
	mov ecx, file_end - image
	rep movsb
	mov ecx, IMAGE_END
	sub ecx, edi
	mov al, 0aah
	rep stosb

	xor eax, eax
	mov edi, PARAMS
	mov ecx, (TABLES + 3000h - PARAMS) / 4
	rep stosd
	mov dword [PARAMS + 202h], 53726448h
	mov byte [PARAMS + 210h], 0ffh
	mov dword [PARAMS + 228h], LINE
	mov byte [PARAMS + 1e8h], 2
	mov esi, map
	mov edi, PARAMS + 2d0h
	mov ecx, map_end - map
	rep movsb
	mov esi, line
	mov edi, LINE
	mov ecx, line_end - line
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
