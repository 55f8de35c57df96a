; Starts and ends guards, and handles exceptions in guards. See guard.h. guard_internal.h asserts that the structs in C
; have the same layout as the structs here.

struc guard				; layout in boot/guard/guard_internal.h
	.outer		resq 1
	.stack		resq 1
	.vector		resq 1
	.at		resq 1
	.error		resq 1
	.address	resq 1
endstruc

VECTORS		equ 32			; number of exceptions: GUARD_VECTORS of guard_internal.h
ERRORS		equ 60227d00h		; vectors with an error code: FAULT_ERRORS of clock/fault.h

extern guard_call_work
extern guard_top
extern guard_firmware
extern guard_handles_exception

section .text align=16
bits 64

global guard_enter:function hidden
global guard_unwind:function hidden
global guard_stubs_boot:data hidden
global guard_stubs_core:data hidden

; bool guard_enter(struct guard *guard, struct guard **top): calls guard_call_work(GUARD). On exit AL = 1 if
; guard_call_work() returned, and 0 if guard_unwind() ended it. The flags are restored, so interrupts are masked or
; enabled as on entry.
guard_enter:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	pushfq
	push rsi
	push rdi			; aligns the stack to 16 bytes
	mov rax, [rsi]
	mov [rdi + guard.outer], rax
	mov [rdi + guard.stack], rsp
	mov [rsi], rdi
	call guard_call_work
	mov eax, 1
guard_leave:
	pop rdi
	pop rsi
	mov rcx, [rdi + guard.outer]
	mov [rsi], rcx
	popfq
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret

; void guard_unwind(struct guard *guard): ends GUARD and does not return. C code calls it, and the exception handler
; jumps to it with RDI = guard.
guard_unwind:
	mov rsp, [rdi + guard.stack]
	xor eax, eax
	jmp guard_leave

; A stub of 16 bytes for each exception. On entry the stack holds the CPU's exception frame.
%macro stubs 1
	align 16
guard_stubs_%1:
%assign vector 0
%rep VECTORS
	push strict qword vector
	jmp strict near guard_vector_%1
	align 16
%assign vector vector + 1
%endrep
%endmacro

	stubs boot
	stubs core

; On entry: [rsp] = vector, followed by an error code (some vectors) and the CPU's frame. If guard_handles_exception()
; accepts the exception, its description is stored in the innermost guard of this core, and this guard is unwound. Any
; other exception is passed to the firmware's handler, with registers and stack as the CPU left them.
guard_vector_boot:
	push rdi
	mov rdi, [rel guard_top]
	jmp guard_vector
guard_vector_core:
	push rdi
	mov rdi, [gs:0]			; loads the variable TOP of guard_run_on_current_core(); GS base is its address

; On entry: RDI = address of the innermost guard or 0, [rsp] = the interrupted code's RDI, [rsp + 8] = vector.
guard_vector:
	push rax			; saves all registers that a C function may change
	push rcx
	push rdx
	push rsi
	push r8
	push r9
	push r10
	push r11
	mov ecx, [rsp + 72]
	lea rdx, [rsp + 80]
	xor eax, eax
	mov esi, ERRORS
	bt esi, ecx
	jnc .frame
	mov rax, [rdx]
	add rdx, 8
.frame:					; RAX = error code, [rdx] = RIP, CS, RFLAGS, RSP, SS
	test rdi, rdi
	jz .firmware
	mov [rdi + guard.error], rax
	mov [rdi + guard.vector], rcx
	mov rax, [rdx]
	mov [rdi + guard.at], rax
	mov rax, cr2
	mov [rdi + guard.address], rax
	mov rsi, [rdx + 24]
	push rdi
	push rcx
	cld
	call guard_handles_exception			; needs no aligned stack, because it uses no SSE
	pop rcx
	pop rdi
	test al, al
	jnz guard_unwind
.firmware:
	lea rdx, [rel guard_firmware]
	mov rax, [rdx + rcx * 8]
	mov [rsp + 72], rax		; replaces the vector by the handler's address, which RET jumps to
	pop r11
	pop r10
	pop r9
	pop r8
	pop rsi
	pop rdx
	pop rcx
	pop rax
	pop rdi
	ret
