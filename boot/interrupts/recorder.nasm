; The interrupt handlers of a timer window. They write only to the struct timer_slot at recorder_slot, and change no
; register.

struc timer_slot			; layout in src/clock/timer.h
	.taken		resq 1
	.strays		resq 1
	.space		resq 1
	.counter_address resq 1
	.eoi_address	resq 1
	.acknowledge	resq 1
	.timer		resq 1
	.events		resq 0
endstruc

MSR_X2APIC_EOI	equ 80bh		; EOI register: SDM vol. 3A, 10.12.1.2, x2APIC Register Address Space
FLAG_IF		equ 200h

extern recorder_slot

section .text align=16
bits 64

global recorder_record:data hidden
global recorder_count_stray:data hidden
global recorder_ignore_spurious:data hidden

; Handles an interrupt of the tested timer. On entry the stack holds the CPU's interrupt frame. Reads the timer's
; counter first, then the TSC. A full slot is an interrupt storm: the interrupted code then continues with interrupts
; masked.
	align 16
recorder_record:
	push rax
	push rcx
	push rdx
	push rdi
	mov rdi, [rel recorder_slot]
	mov rax, [rdi + timer_slot.counter_address]
	test rax, rax
	jz .read
	mov eax, [rax]
.read:
	mov rcx, rax
	lfence				; RDTSC waits for the read of the counter
	rdtsc
	shl rdx, 32
	or rax, rdx
	mov rdx, [rdi + timer_slot.taken]
	inc qword [rdi + timer_slot.taken]
	cmp rdx, [rdi + timer_slot.space]
	jae .storm
	shl rdx, 4
	mov [rdi + timer_slot.events + rdx], rcx
	mov [rdi + timer_slot.events + rdx + 8], rax
	jmp .source
.storm:
	and qword [rsp + 32 + 16], ~FLAG_IF
; Clears the interrupt at its source. Otherwise a level-triggered interrupt would occur again at once, and an RTC would
; never interrupt again.
.source:
	cmp qword [rdi + timer_slot.acknowledge], 0
	je acknowledge
	push rsi			; these registers are saved, because the called C function may change them
	push r8
	push r9
	push r10
	push r11
	push rbp
	mov rbp, rsp
	and rsp, -16
	mov rax, [rdi + timer_slot.acknowledge]
	mov rdi, [rdi + timer_slot.timer]
	cld
	call rax
	mov rsp, rbp
	pop rbp
	pop r11
	pop r10
	pop r9
	pop r8
	pop rsi
	mov rdi, [rel recorder_slot]
	jmp acknowledge

; Counts any other interrupt, and sends its EOI.
	align 16
recorder_count_stray:
	push rax
	push rcx
	push rdx
	push rdi
	mov rdi, [rel recorder_slot]
	inc qword [rdi + timer_slot.strays]
acknowledge:
	mov rax, [rdi + timer_slot.eoi_address]
	test rax, rax
	jz .x2apic
	mov dword [rax], 0
	jmp .back
.x2apic:
	mov ecx, MSR_X2APIC_EOI
	xor eax, eax
	xor edx, edx
	wrmsr
.back:
	pop rdi
	pop rdx
	pop rcx
	pop rax
	iretq

; Handles a spurious interrupt, which needs no EOI.
	align 16
recorder_ignore_spurious:
	iretq
