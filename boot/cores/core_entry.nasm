; The code that a started core executes between its trampoline and C. It loads the boot core's page tables, descriptor
; table and control registers, finds its struct core_slot, and calls core_main(). It also contains the interrupt
; handlers.

%include "cores.inc"

MSR_GS_BASE	equ 0c0000101h		; IA32_GS_BASE: SDM vol. 3A, 3.4.4.1
MSR_APIC_BASE	equ 1bh			; IA32_APIC_BASE: SDM vol. 3A, 10.4.4, Local APIC Status and Location
APIC_EXTD	equ 1 << 10		; bit EXTD: SDM vol. 3A, 10.12.1, Detecting and Enabling x2APIC Mode
LAPIC_ID	equ 20h			; local APIC ID register, id in bits 24 to 31: SDM vol. 3A, 10.4.6, Local APIC ID
MSR_X2APIC_ID	equ 802h		; local APIC ID register: SDM vol. 3A, 10.12.1.2, x2APIC Register Address Space
MSR_X2APIC_EOI	equ 80bh		; EOI register: SDM vol. 3A, 10.12.1.2, x2APIC Register Address Space
VECTOR_NMI	equ 2			; vector of NMIs: SDM vol. 3A, 6.3.1, table 6-1
VECTORS_OF_CPU	equ 32			; vectors below this number are exceptions and NMI
VECTOR_SPURIOUS	equ 0ffh		; vector of spurious interrupts: LAPIC_SPURIOUS_VECTOR of the C code

extern core_main

section .text align=256

global core_entry:function hidden
global core_vectors:data hidden

; On entry: 64-bit mode, RBX = trampoline_parameters, no stack, interrupts masked. The temporary page
; tables are active, and map only this page of the image. This code does not return.
bits 64
	align 256			; the code is shorter than 256 bytes, so it lies within one page
core_entry:
	mov r8, [rbx + trampoline_parameters.setup]
	mov rax, [rbx + trampoline_parameters.boot_cr3]
	mov cr3, rax			; the code continues, because both sets of page tables map this page to itself
	mov rax, [r8 + core_setup.cr0]
	mov cr0, rax
	mov rax, [r8 + core_setup.cr4]
	mov cr4, rax
	lgdt [r8 + core_setup.gdtr]
	lidt [r8 + core_setup.idtr]

	mov ecx, MSR_APIC_BASE		; reads the LAPIC's current id into R9D, because CPUID has only the initial id
	rdmsr
	test eax, APIC_EXTD
	jnz .x2apic_id
	cmp qword [r8 + core_setup.x2apic], 0
	jne .to_x2apic
	and eax, 0fffff000h
	shl rdx, 32
	or rax, rdx
	mov r9d, [rax + LAPIC_ID]
	shr r9d, 24
	jmp .search
.to_x2apic: ; enters x2APIC mode like the boot core, because an xAPIC id has only eight bits
	or eax, APIC_EXTD
	wrmsr
.x2apic_id:
	mov ecx, MSR_X2APIC_ID
	rdmsr
	mov r9d, eax

.search:				; the search starts at slot 1, because slot 0 belongs to the boot core
	mov r10, [r8 + core_setup.ids]
	mov eax, 1
.next:
	cmp rax, [r8 + core_setup.count]
	jae .unknown
	cmp [r10 + rax * 4], r9d
	je .found
	inc eax
	jmp .next
.unknown:
	mov eax, 1
	lock xadd [r8 + core_setup.unlisted], eax
	cmp eax, [r8 + core_setup.unlisted_space]
	jae .park
	mov r10, [r8 + core_setup.unlisted_ids]
	mov [r10 + rax * 4], r9d
.park:
	cli
	hlt
	jmp .park

.found:
	imul rax, rax, core_slot_size
	add rax, [r8 + core_setup.slots]
	mov r11, rax
	mov ecx, [r8 + core_setup.ss]
	mov ss, ecx
	mov ds, ecx
	mov es, ecx
	xor ecx, ecx
	mov fs, ecx
	mov gs, ecx
	mov rsp, [r11 + core_slot.stack_top]
	push qword [r8 + core_setup.cs]
	lea rax, [rel .reloaded]
	push rax
	retfq
.reloaded:
	mov ecx, MSR_GS_BASE
	mov eax, r11d
	mov rdx, r11
	shr rdx, 32
	wrmsr
	mov rdi, r11
	xor ebp, ebp
	call core_main
	jmp .park
core_entry_end:

%if core_entry_end - core_entry > 256
	%error "core_entry may cross a page"
%endif

; One stub of 16 bytes for each of the 256 vectors. On entry the stack holds the CPU's interrupt frame.
	align 16
core_vectors:
%assign vector 0
%rep 256
	push strict qword vector
	jmp strict near core_vector
	align 16
%assign vector vector + 1
%endrep

; On entry: [rsp] = vector, followed by an error code (some exceptions) and the CPU's frame. An exception is stored in
; the core's slot, and the core then halts for good. After an interrupt, the handler sends an EOI and returns, and the
; core continues after its HLT. All registers are preserved on return.
core_vector:
	cmp qword [rsp], VECTOR_NMI
	je .return
	cmp qword [rsp], VECTORS_OF_CPU
	jb .exception
	cmp qword [rsp], VECTOR_SPURIOUS
	je .return
	push rax
	push rcx
	push rdx
	mov rax, [gs:core_slot.eoi_address]
	test rax, rax
	jz .x2apic
	mov dword [rax], 0
	jmp .acknowledged
.x2apic:
	mov ecx, MSR_X2APIC_EOI
	xor eax, eax
	xor edx, edx
	wrmsr
.acknowledged:
	pop rdx
	pop rcx
	pop rax
.return:
	add rsp, 8
	iretq

.exception:				; may change all registers, because this core will not continue
	mov eax, [rsp]
	xor ecx, ecx
	lea rdx, [rsp + 8]
	mov edi, ERRORS
	bt edi, eax
	jnc .frame
	mov rcx, [rdx]
	add rdx, 8
.frame:					; RCX = error code, [rdx] = RIP
	mov [gs:core_slot.fault_error], rcx
	mov rcx, [rdx]
	mov [gs:core_slot.fault_at], rcx
	mov rcx, cr2
	mov [gs:core_slot.fault_address], rcx
	or eax, FAULTED
	mov [gs:core_slot.fault], eax
.park:
	cli
	hlt
	jmp .park
