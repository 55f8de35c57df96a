; The first part of build/baretick.bin: the header of the Linux boot protocol (Linux, Documentation/arch/x86/boot.rst),
; and the code that a loader starts in real mode. The image itself is the second part of the file, and is loaded at 1
; MiB.
;
; On entry: CS = DS + 20h, IP = 0, SS:SP is a usable stack, and DS is the segment that has the first byte of this file.
; A loader that stays in protected mode does not use this code. It enters the image at its start with ESI = boot_params,
; or 200h bytes later in 64-bit mode with RSI = boot_params.
;
; The real-mode code uses the first page of the segment as boot_params, because the header is already at the right place
; in it. The code is after that page. The loader has already switched A20 on, because it has loaded the image at 1 MiB.

BOOT_E820_COUNT	equ 1e8h		; offsets in boot_params: Linux, Documentation/arch/x86/zero-page.rst
BOOT_E820	equ 2d0h
E820_SIZE	equ 20
E820_MAX	equ 128
SMAP		equ 534d4150h		; "SMAP", the argument EDX of the BIOS call E820: ACPI 6.5, 15.1
SECTOR		equ 512
IMAGE		equ 100000h		; load address, as in elf.lds
IMAGE_MAX	equ 100000h		; space of the image, which ends below 2 MiB: see elf.lds
CODE		equ 10h			; selectors that the protocol requires
DATA		equ 18h
COMMAND_LINE_MAX equ 16383		; twice the bytes that baretick reads, so that a longer line is an error

bits 16
	times 1f1h - ($ - $$) db 0
	; Each comment names the field of the header in Linux, Documentation/arch/x86/boot.rst.
	db SETUP_SIZE / SECTOR - 1	; setup_sects
	dw 0				; root_flags
	dd (IMAGE_SIZE + 15) / 16	; syssize
	dw 0				; ram_size
	dw 0				; vid_mode
	dw 0				; root_dev
	dw 0aa55h			; boot_flag
real_mode_entry:
	jmp short header_end
	db "HdrS"
	dw 020ch			; version, 2.12
	dd 0				; realmode_swtch
	dw 0				; start_sys_seg
	dw name - SECTOR		; kernel_version
	db 0				; type_of_loader
	db 1				; loadflags: LOADED_HIGH
	dw 0				; setup_move_size
code32_start:
	dd IMAGE
	dd 0				; ramdisk_image
	dd 0				; ramdisk_size
	dd 0				; bootsect_kludge
	dw 0				; heap_end_ptr
	db 0				; ext_loader_ver
	db 0				; ext_loader_type
	dd 0				; cmd_line_ptr
	dd 7fffffffh			; initrd_addr_max
	dd IMAGE			; kernel_alignment
	db 0				; relocatable_kernel
	db 20				; min_alignment: 2^20
	dw 1				; xloadflags: XLF_KERNEL_64
	dd COMMAND_LINE_MAX
	dd 0				; hardware_subarch
	dq 0				; hardware_subarch_data
	dd 0				; payload_offset
	dd 0				; payload_length
	dq 0				; setup_data
	dq IMAGE			; pref_address
	dd IMAGE_MAX			; init_size
	dd 0				; handover_offset
header_end:
	jmp near real_mode

	times 1000h - ($ - $$) db 0
real_mode:
	cld
	push ds
	pop es
	xor ebx, ebx
	mov di, BOOT_E820
.range:
	mov eax, 0e820h
	mov edx, SMAP
	mov ecx, E820_SIZE
	int 15h
	jc .protected_mode
	cmp eax, SMAP
	jne .protected_mode
	add di, E820_SIZE
	inc byte [BOOT_E820_COUNT]
	cmp byte [BOOT_E820_COUNT], E820_MAX
	je .protected_mode
	test ebx, ebx
	jnz .range
.protected_mode:
	cli
	xor esi, esi
	mov si, ds
	shl esi, 4			; address of boot_params
	lea eax, [esi + gdt]
	mov [gdt_register + 2], eax
	lgdt [gdt_register]
	mov eax, [code32_start]
	mov [.target], eax
	mov eax, cr0
	or al, 1
	mov cr0, eax
	mov ax, DATA
	mov ds, ax
	mov es, ax
	mov fs, ax
	mov gs, ax
	mov ss, ax
	db 66h, 0eah			; a far jump to 32-bit code
.target:
	dd 0
	dw CODE

	align 8
gdt:
	dq 0
	dq 0
	dq 00cf9b000000ffffh		; segment of 32-bit code
	dq 00cf93000000ffffh		; segment of 32-bit data
gdt_end:
gdt_register:
	dw gdt_end - gdt - 1
	dd 0
name:
	db "baretick ", VERSION, 0

SETUP_SIZE	equ 1400h
	times SETUP_SIZE - ($ - $$) db 0
