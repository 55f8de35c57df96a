; The section .sbat. shim reads it to refuse revoked versions. Each line has six fields, as in shim's SBAT.md:
; component, generation, vendor, package, version, address. No field may be empty, and baretick has no address. A
; release that repairs a Secure Boot vulnerability must raise the generation by one. VERSION comes from the Makefile.
section .sbat progbits alloc noexec nowrite align=1

	db "sbat,1,SBAT Version,sbat,1,https://github.com/rhboot/shim/blob/main/SBAT.md", 10
	db "baretick,1,the baretick authors,baretick,", VERSION, ",none", 10

; bootctl(1) finds the version of a file on the system partition by these marks: get_file_version() in systemd's
; src/boot/bootctl.c. COMMIT comes from the Makefile.
section .rodata
	db "#### LoaderInfo: baretick ", VERSION, " (", COMMIT, ") ####", 0
