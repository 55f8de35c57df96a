; The code that a started core executes first. boot/cores/cores_memory.c copies it to a page below 1 MiB and fills in
; the parameters at its end. Many cores run it at once, so it writes no memory and has no stack.
;
; On entry after a SIPI: real mode with CS = page number * 100h, IP = 0, interrupts masked, and all other registers as
; after INIT. On exit: 64-bit mode, and a jump to parameters.entry with RBX = address of the parameters and no stack.
; Clobbers EAX, ECX, EDX and the segment registers. Uses the page tables at parameters.cr3, where this page is
; executable even if the firmware's page tables forbid it.

%include "cores.inc"

CODE32		equ 8h			; this selector and the next two select descriptors of trampoline_gdt below
DATA32		equ 10h
CODE64		equ 18h

CR0_PE		equ 1h			; bit PE of CR0, protected mode: SDM vol. 3A, 2.5
CR0_NW		equ 1 << 29
CR0_CD		equ 1 << 30
CR0_PG		equ 1 << 31
MSR_EFER	equ 0c0000080h		; IA32_EFER: SDM vol. 3A, 2.2.1

section .rodata align=16

global trampoline:data hidden
global trampoline_gdt:data hidden
global trampoline_protected:data hidden
global trampoline_long:data hidden
global trampoline_fields:data hidden
global trampoline_end:data hidden

bits 16
trampoline:
	cli
	cld
	xor ebx, ebx
	mov bx, cs
	mov ds, bx
	shl ebx, 4
	add ebx, trampoline_fields - trampoline
	o32 lgdt [trampoline_fields - trampoline + trampoline_parameters.gdtr]
	mov eax, cr0
	and eax, ~(CR0_CD | CR0_NW)
	or eax, CR0_PE
	mov cr0, eax
	jmp dword far [trampoline_fields - trampoline + trampoline_parameters.to_protected]

bits 32
trampoline_protected:
	mov eax, DATA32
	mov ds, eax
	mov ss, eax
	mov eax, [ebx + trampoline_parameters.cr4]
	mov cr4, eax
	mov eax, [ebx + trampoline_parameters.cr3]
	mov cr3, eax
	mov ecx, MSR_EFER
	mov eax, [ebx + trampoline_parameters.efer]
	xor edx, edx
	wrmsr
	mov eax, cr0
	or eax, CR0_PG
	mov cr0, eax
	jmp far [ebx + trampoline_parameters.to_long]

bits 64
trampoline_long:
	mov ebx, ebx			; clears the upper half of RBX, which the mode change leaves undefined
	jmp [rbx + trampoline_parameters.entry]

	align 8
; The descriptor table (SDM vol. 3A, 3.4.5). The accessed bits are set, so that the CPU does not write to the table.
trampoline_gdt:
	dq 0
	dq 00cf9b000000ffffh		; segment of 32-bit code, from 0 to 4 GiB
	dq 00cf93000000ffffh		; segment of 32-bit data, from 0 to 4 GiB
	dq 00af9b000000ffffh		; segment of 64-bit code

	align 8
trampoline_fields:
	times trampoline_parameters_size db 0
trampoline_end:

%if trampoline_end - trampoline > 4096
	%error "the trampoline is larger than its page"
%endif
