; The entry points of an image without UEFI, the first page tables, and the handlers of exceptions outside of guards
; (boot/guard). The image is started by PVH (Xen, docs/misc/pvh.pandoc), by multiboot2 (GRUB) or by the Linux boot
; protocol (Linux, Documentation/arch/x86/boot.rst).
;
; The loader enters in 32-bit protected mode with flat segments. Paging and interrupts are off. With PVH, EBX is the
; address of hvm_start_info. With multiboot2, EBX is the address of multiboot2's information, and EAX is multiboot2's
; magic number. With the Linux boot protocol, ESI is the address of boot_params. A loader of this protocol may also
; enter in 64-bit mode, at bare_long_entry.
;
; The code then calls bare_main(address of the loader's data, magic number or 0) in 64-bit mode on its own stack. The
; first 4 GiB are mapped to themselves, the first 2 MiB in pages of 4 KiB, the rest in pages of 2 MiB. On a processor
; without 64-bit mode, the code prints a sentence on COM1 and resets the machine.

NOTE_PHYS32_ENTRY equ 18		; Xen, public/elfnote.h: XEN_ELFNOTE_PHYS32_ENTRY
PAGE		equ 4096
ENTRIES		equ 512
TABLES		equ 7			; number of page tables: PML4, PDPT, four page directories, one for pages of 4 KiB
GIBS		equ 4
ENTRY		equ 3			; flags of a page table entry: present, writable (SDM vol. 3A, 4.5.4)
LARGE		equ 80h
CR0_LONG	equ 80010033h		; bits PG, WP, NE, ET, MP and PE of CR0: SDM vol. 3A, 2.5
CR0_PG		equ 80000000h
CR4_PAE		equ 20h
MSR_EFER	equ 0c0000080h		; IA32_EFER: SDM vol. 3A, 2.2.1
EFER_LME	equ 100h
EFER_NXE	equ 800h
LEAF_EXTENDED_MAX equ 80000000h		; CPUID leaf that returns the highest extended leaf
LEAF_EXTENDED	equ 80000001h
EDX_NX		equ 1 << 20
EDX_LONG	equ 1 << 29
COM1		equ 3f8h		; a 16550: see boot/console/com.c
COM1_POLLS	equ 100000		; at least the duration of a character: 87 us
CODE64		equ 8			; this selector and the next three select descriptors of the table gdt below
DATA		equ 10h
TASK		equ 18h
CODE32		equ 28h
STACK_SIZE	equ 256 * 1024		; at least the 128 KiB that UEFI guarantees (UEFI 2.10, 2.3.4)
GUARD_SIZE	equ 64 * 1024		; larger than any stack frame, so no overflow can skip this area
FAULT_STACK_SIZE equ 8192
EXCEPTIONS	equ 32			; number of vectors for exceptions: SDM vol. 3A, 6.3.1
ERRORS		equ 60227d00h		; vectors with an error code: FAULT_ERRORS of clock/fault.h

MULTIBOOT2	equ 0e85250d6h		; magic number of the header: Multiboot2 Specification 2.0, 3.1.1
MULTIBOOT2_I386	equ 0			; architecture in the header: the loader enters in 32-bit protected mode
TAG_END		equ 0			; type of the header's last tag: Multiboot2 Specification 2.0, 3.1.3
; tag type of multiboot2's entry point, which is not the ELF file's entry point: Multiboot2 Specification 2.0, 3.1.7
TAG_ENTRY	equ 3

LINUX		equ 53726448h		; "HdrS": the magic number of boot_params
LONG_ENTRY	equ 200h		; offset of the Linux boot protocol's 64-bit entry from the start of the image

extern bare_main
extern bare_handle_exception
extern bare_bss
extern image_end

global bare_long_entry:function hidden
global bare_entry:function hidden
global bare_triple_fault:function hidden
global bare_stubs:data hidden
global bare_ignore:data hidden
global bare_low_table:data hidden
global bare_stack_guard:data hidden
global bare_stack:data hidden

section .note.pvh note alloc noexec nowrite align=4
	dd note_data - note_name
	dd 8
	dd NOTE_PHYS32_ENTRY
note_name:
	db "Xen", 0
note_data:
	dq bare_entry

section .multiboot2 alloc noexec nowrite align=8
multiboot2:
	dd MULTIBOOT2
	dd MULTIBOOT2_I386
	dd multiboot2_end - multiboot2
	dd -(MULTIBOOT2 + MULTIBOOT2_I386 + multiboot2_end - multiboot2) & 0ffffffffh
	dw TAG_ENTRY, 0
	dd 12
	dd multiboot2_entry
	align 8
	dw TAG_END, 0
	dd 8
multiboot2_end:

; The entry points of the Linux boot protocol, at the start of the image. This code sets the section .bss to 0. A
; loader does this for the ELF file, but not for baretick.bin, which has no ELF header.
section .linux alloc exec nowrite align=16
bits 32
linux_entry:
	cli
	cld
	mov ebx, esi
	mov edi, bare_bss
	mov ecx, image_end
	sub ecx, edi
	xor eax, eax
	rep stosb
	mov eax, LINUX
	jmp multiboot2_entry

	times LONG_ENTRY - ($ - $$) db 0
bits 64
bare_long_entry:			; entered with the loader's page tables, which map the image to itself
	cli
	lgdt [rel gdt_register]
	mov eax, DATA
	mov ds, eax
	mov es, eax
	mov ss, eax
	mov esp, stack_top
	push strict qword CODE32
	push strict qword .compatible
	o64 retf
bits 32
.compatible:
	mov eax, cr0
	and eax, ~CR0_PG
	mov cr0, eax
	jmp linux_entry

section .text align=16
bits 32
bare_entry:
	xor eax, eax
multiboot2_entry:
	cli
	cld
	mov esi, ebx			; saves the address of the loader's data, because CPUID changes EBX
	mov esp, stack_top
	push eax			; saves multiboot2's magic number
	mov eax, LEAF_EXTENDED_MAX
	cpuid
	cmp eax, LEAF_EXTENDED
	jb .no_long_mode
	mov eax, LEAF_EXTENDED
	cpuid
	test edx, EDX_LONG
	jz .no_long_mode
	mov ebp, edx

	mov edi, tables
	xor eax, eax
	mov ecx, TABLES * ENTRIES * 2
	rep stosd
	mov dword [tables], tables + PAGE + ENTRY
	mov edi, tables + PAGE
	mov eax, tables + 2 * PAGE + ENTRY
	mov ecx, GIBS
.gib:
	mov [edi], eax
	add edi, 8
	add eax, PAGE
	loop .gib
	mov edi, tables + 2 * PAGE
	mov eax, ENTRY + LARGE
	mov ecx, GIBS * ENTRIES
.large:
	mov [edi], eax
	add edi, 8
	add eax, ENTRIES * PAGE
	loop .large
	mov dword [tables + 2 * PAGE], bare_low_table + ENTRY
	mov edi, bare_low_table
	mov eax, ENTRY
	mov ecx, ENTRIES
.page:
	mov [edi], eax
	add edi, 8
	add eax, PAGE
	loop .page

	mov eax, CR4_PAE
	mov cr4, eax
	mov eax, tables
	mov cr3, eax
	mov ecx, MSR_EFER
	rdmsr
	or eax, EFER_LME
	test ebp, EDX_NX
	jz .efer
	or eax, EFER_NXE
.efer:
	wrmsr
	mov eax, CR0_LONG
	mov cr0, eax
	mov eax, task ; bits 0 to 31 of the address of the task state segment; bits 32 to 63 stay 0
	mov [gdt.task + 2], ax
	shr eax, 16
	mov [gdt.task + 4], al
	mov [gdt.task + 7], ah
	lgdt [gdt_register]
	jmp CODE64:.long

.no_long_mode:
	mov esi, no_long_mode_error
	mov dx, COM1 + 3		; line control register: selects the divisor
	mov al, 80h
	out dx, al
	mov dx, COM1			; divisor 1: 115,200 baud
	mov al, 1
	out dx, al
	inc edx
	mov al, 0
	out dx, al
	mov dx, COM1 + 3		; 8 bits, no parity, 1 stop bit
	mov al, 3
	out dx, al
.character:
	lodsb
	test al, al
	jz triple_fault_32
	mov dx, COM1
	out dx, al
	mov dx, COM1 + 5		; line status register: waits until the character is sent
	mov ecx, COM1_POLLS
.busy:
	in al, dx
	test al, 40h
	loopz .busy
	jmp .character

bits 64
.long:
	mov eax, DATA
	mov ds, eax
	mov es, eax
	mov ss, eax
	xor eax, eax
	mov fs, eax
	mov gs, eax
	mov eax, TASK
	ltr ax
	mov edi, esi			; loader's data; clears bits 32 to 63, which are undefined here
	mov esi, [rsp]			; loads multiboot2's magic number
	add rsp, 4
	xor ebp, ebp
	call bare_main
	jmp bare_triple_fault

; Resets the machine. An exception without an interrupt table becomes a triple fault, which resets the machine. Used if
; no other reset works.
bits 32
triple_fault_32:
	lidt [no_handlers]
	ud2
bits 64
bare_triple_fault:
	lidt [rel no_handlers]
	ud2

; A stub of 16 bytes for each exception. On entry the stack holds the CPU's exception frame.
	align 16
bare_stubs:
%assign vector 0
%rep EXCEPTIONS
	push strict qword vector
	jmp strict near exception
	align 16
%assign vector vector + 1
%endrep

; Calls bare_handle_exception(vector, RIP, error code, CR2), which does not return. On entry: [rsp] = vector, then the
; error code of some vectors, then the CPU's frame.
exception:
	mov edi, [rsp]
	xor edx, edx
	lea rax, [rsp + 8]
	mov ecx, ERRORS
	bt ecx, edi
	jnc .frame
	mov rdx, [rax]
	add rax, 8
.frame:
	mov rsi, [rax]
	mov rcx, cr2
	and rsp, -16
	cld
	call bare_handle_exception
	jmp bare_triple_fault

	align 16
bare_ignore:				; handler of unexpected interrupts; sends no EOI
	iretq

no_long_mode_error:
	db "error: this processor has no 64-bit mode", 13, 10, "Nothing was measured.", 13, 10, 0

section .data align=16
; The descriptor table (SDM vol. 3A, 3.4.5). The accessed bits are set, so that the CPU does not write to the table.
gdt:
	dq 0
	dq 00af9b000000ffffh		; segment of 64-bit code
	dq 00cf93000000ffffh		; segment of data
.task:
	dq 0000890000000067h		; the task state segment of 68h bytes: SDM vol. 3A, 7.2.3
	dq 0
	dq 00cf9b000000ffffh		; segment of 32-bit code
gdt_end:
gdt_register:
	dw gdt_end - gdt - 1
	dq gdt
no_handlers:
	dw 0
	dq 0
	align 16
task:					; the task state segment: SDM vol. 3A, 7.7
	times 36 db 0
	dq fault_stack_top		; IST 1, the stack for double faults
	times 68h - 44 db 0

section .bss align=4096
tables:
	resb (TABLES - 1) * PAGE
bare_low_table:
	resb PAGE
bare_stack_guard:			; protect_image_pages() unmaps this area: a stack overflow causes an exception
	resb GUARD_SIZE
bare_stack:
	resb STACK_SIZE
stack_top:
	resb FAULT_STACK_SIZE
fault_stack_top:
